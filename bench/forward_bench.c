/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long messages, so that most of the run is steady: rings of 8 and 64 hosts on one switch. The target is 500 times what
 * ns-3 does on as many hosts (0.72 and 0.45 M transmissions a second; spec packet, speed of the peers).
 */
#include "bench/forward_bench.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/folder.h"
#include "bench/packet_inputs.h"
#include "bench/packet_run.h"

struct forward_case {
    const char *name, *title;
    bool quick;
    double target; /* M transmissions a second */
    struct packet_inputs inputs;
};

static const struct forward_case cases[] = {
    {"pkt-forward8",
     "1 GB all-reduce, 8 hosts, one switch, with and without fast-forward",
     true,
     360,
     {.shape = ONE_SWITCH,
      .hosts = 8,
      .dims = {8},
      .type = "all-reduce",
      .bytes = UINT64_C(1000000000),
      .algorithm = "ring"}},
    {"pkt-forward64",
     "1 GB all-reduce, 64 hosts, one switch, with and without fast-forward",
     false,
     225,
     {.shape = ONE_SWITCH,
      .hosts = 64,
      .dims = {64},
      .type = "all-reduce",
      .bytes = UINT64_C(1000000000),
      .algorithm = "ring"}},
};
enum { CASES = sizeof cases / sizeof cases[0] };

const char *bench_forward_name(int index)
{
    return index < CASES ? cases[index].name : NULL;
}

const char *bench_forward_title(int index)
{
    return index < CASES ? cases[index].title : NULL;
}

bool bench_forward_is_quick(int index)
{
    return cases[index].quick;
}

static bool measure(const char *folder, bool forward, struct packet_run *out, double *user_s)
{
    struct bench_usage usage;
    if (!bench_packet_run_once(folder, ORR_BACKEND_PACKET, forward, out, &usage))
        return false;
    *user_s = fmin(*user_s, fmax(usage.user_s, 1e-6));
    return out->good;
}

bool bench_forward_run(int index, unsigned repeat)
{
    const struct forward_case *item = &cases[index];
    char folder[BENCH_FOLDER_ROOM];
    if (!bench_folder_make(folder)) {
        return false;
    }
    struct packet_run quick = {0}, plain = {0};
    double quick_s = INFINITY, plain_s = INFINITY;
    bool good = bench_packet_inputs_write(&item->inputs, folder);
    for (unsigned i = 0; good && i < repeat; i++)
        good = measure(folder, true, &quick, &quick_s);
    good = good && measure(folder, false, &plain, &plain_s);
    bench_packet_inputs_remove(&item->inputs, folder);
    if (!good || quick.cycles != plain.cycles || quick.transmissions != plain.transmissions) {
        printf("%-15s FAILED: %s\n", item->name, good ? "the two runs differ" : quick.error);
        return false;
    }
    double millions = (double)quick.transmissions / 1e6;
    printf("%-15s %9" PRIu64 " ns, %.1f M transmissions, %.1f %% of them skipped, in %.3f s: %.0f M transmissions/s "
           "(target %.0f: %s); without in %.2f s: %.1f M/s, %.0fx\n",
           item->name, quick.cycles, millions, 100 * (double)quick.skipped / (double)quick.transmissions, quick_s,
           millions / quick_s, item->target, millions / quick_s >= item->target ? "MET" : "MISSED", plain_s,
           millions / plain_s, plain_s / quick_s);
    return true;
}
