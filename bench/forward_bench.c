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
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/packet_inputs.h"
#include "orrery.h"

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

struct measured {
    bool good;
    uint64_t cycles, transmissions, skipped;
    char error[512];
};

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

static void simulate(const char *folder, bool forward, struct measured *out)
{
    char paths[4][4096];
    static const char *const names[] = {"trace", "system.json", "config.txt", "logical.json"};
    for (int i = 0; i < 4; i++)
        snprintf(paths[i], sizeof paths[i], "%s/%s", folder, names[i]);
    struct orr_run_options options = ORR_RUN_OPTIONS_DEFAULT;
    options.workload = paths[0];
    options.system = paths[1];
    options.network = paths[2];
    options.logical = paths[3];
    options.backend = ORR_BACKEND_PACKET;
    options.no_fast_forward = !forward;
    struct orr_run *run = NULL;
    struct orr_error err = {0};
    enum orr_status status = orr_run_open(&options, &run, &err);
    if (status == ORR_OK)
        status = orr_run_execute(run, &err);
    out->good = status == ORR_OK;
    snprintf(out->error, sizeof out->error, "%.500s", err.text);
    if (out->good) {
        out->cycles = orr_run_time_ns(run);
        out->transmissions = orr_run_transmission_count(run);
        out->skipped = orr_run_skipped_count(run);
    }
    orr_run_close(run);
}

static bool measure(const char *folder, bool forward, struct measured *out, double *user_s)
{
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct measured result = {0};
        close(ends[0]);
        simulate(folder, forward, &result);
        _exit(write(ends[1], &result, sizeof result) == (ssize_t)sizeof result ? 0 : 1);
    }
    close(ends[1]);
    bool told = child > 0 && read(ends[0], out, sizeof *out) == (ssize_t)sizeof *out;
    close(ends[0]);
    struct rusage usage;
    int status = 0;
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return false;
    double took = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
    *user_s = fmin(*user_s, fmax(took, 1e-6));
    return told && status == 0 && out->good;
}

bool bench_forward_run(int index, unsigned repeat)
{
    const struct forward_case *item = &cases[index];
    const char *base = getenv("TMPDIR");
    char folder[2048];
    snprintf(folder, sizeof folder, "%s/orrery-bench-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        return false;
    }
    struct measured quick = {0}, plain = {0};
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
