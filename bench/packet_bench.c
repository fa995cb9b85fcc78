/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each case in a child process, as in bench.c, so that memory is the case's own. The figures of ns-3 are user seconds
 * of an optimised build on a 2-core machine (spec packet, speed of the peers); the ratio is what to look at. The first
 * three cases have a known simulated time, which is checked.
 */
#include "bench/packet_bench.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/folder.h"
#include "bench/packet_inputs.h"
#include "bench/packet_run.h"

struct packet_case {
    const char *name, *title;
    bool quick;
    double ns3_s;    /* 0 = not measured */
    uint64_t cycles; /* expected; 0 = no reference */
    struct packet_inputs inputs;
};

static const struct packet_case cases[] = {
    {"pkt-ar8",
     "16 MB all-reduce, 8 hosts, one switch",
     true,
     1.3,
     784628,
     {.shape = ONE_SWITCH, .hosts = 8, .dims = {8}, .type = "all-reduce", .bytes = 16 << 20, .algorithm = "ring"}},
    {"pkt-ar64",
     "16 MB all-reduce, 64 hosts, one switch",
     true,
     19.1,
     0,
     {.shape = ONE_SWITCH, .hosts = 64, .dims = {64}, .type = "all-reduce", .bytes = 16 << 20, .algorithm = "ring"}},
    {"pkt-ar256",
     "16 MB all-reduce, 256 hosts, one switch",
     false,
     146.6,
     0,
     {.shape = ONE_SWITCH, .hosts = 256, .dims = {256}, .type = "all-reduce", .bytes = 16 << 20, .algorithm = "ring"}},
    {"pkt-a2a64",
     "16 MB direct all-to-all, 64 hosts, leaf-spine 4x4",
     true,
     33.2,
     0,
     {.shape = LEAF_SPINE,
      .hosts = 64,
      .dims = {64},
      .leaves = 4,
      .spines = 4,
      .type = "all-to-all",
      .bytes = 16 << 20,
      .algorithm = "direct"}},
    {"pkt-torus",
     "89.7 MiB all-reduce, torus 4x4x8",
     false,
     0,
     0,
     {.shape = TORUS, .hosts = 128, .dims = {4, 4, 8}, .type = "all-reduce", .bytes = 94083368, .algorithm = "ring"}},
};
enum { CASES = sizeof cases / sizeof cases[0] };

/* A last case, of memory: all that crosses from one leaf to the other waits for one link, so that what is in flight
 * grows with the bytes; and the same among switches of 64 ports that have nothing to do. */
static const char *const memory_name = "pkt-memory";
static const char *const memory_title = "bytes a packet in flight, bytes a 64-port switch";
enum { MEMORY_SPARE = 65, MEMORY_RUNS = 3 };
static const struct packet_inputs memory_inputs = {
    .shape = LEAF_SPINE,
    .hosts = 16,
    .dims = {16},
    .leaves = 2,
    .spines = 1,
    .type = "all-to-all",
    .bytes = 1 << 20,
    .algorithm = "direct",
    .unbounded = true,
};

/* And one of the flow network beside this one, where the work goes with the messages and not with their bytes. */
static const char *const flow_name = "flow-ar64";
static const char *const flow_title = "256 MB all-reduce, 64 hosts, flow beside packet";
static const struct packet_inputs flow_inputs = {
    .shape = ONE_SWITCH, .hosts = 64, .dims = {64}, .type = "all-reduce", .bytes = 256 << 20, .algorithm = "ring"};

const char *bench_packet_name(int index)
{
    return index < CASES ? cases[index].name : index == CASES ? memory_name : index == CASES + 1 ? flow_name : NULL;
}

const char *bench_packet_title(int index)
{
    return index < CASES ? cases[index].title : index == CASES ? memory_title : index == CASES + 1 ? flow_title : NULL;
}

bool bench_packet_is_quick(int index)
{
    return index == CASES || (index < CASES && cases[index].quick);
}

static void print_row(const struct packet_case *item, const struct packet_run *run, double user_s, double peak_mb)
{
    double rate = (double)run->transmissions / fmax(user_s, 1e-6) / 1e6;
    printf("%-15s %9" PRIu64
           " ns, %.2f M transmissions, %.2f M events in %.2f s: %.1f M transmissions/s (target 8 (15): "
           "%s), %.1f M events/s; peak %.0f MB",
           item->name, run->cycles, (double)run->transmissions / 1e6, (double)run->events / 1e6, user_s, rate,
           rate >= 15  ? "AIM"
           : rate >= 8 ? "MET"
                       : "MISSED",
           (double)run->events / fmax(user_s, 1e-6) / 1e6, peak_mb);
    if (item->ns3_s > 0)
        printf("; ns-3 %.1f s: %.0fx", item->ns3_s, item->ns3_s / fmax(user_s, 1e-6));
    printf("\n");
}

/* The quickest of several runs. */
static bool measure_inputs(const struct packet_inputs *inputs, enum orr_backend backend, unsigned repeat,
                           struct packet_run *best, double *best_s, double *peak_mb)
{
    char folder[BENCH_FOLDER_ROOM];
    if (!bench_folder_make(folder))
        return false;
    *best_s = INFINITY;
    bool good = bench_packet_inputs_write(inputs, folder);
    for (unsigned i = 0; good && i < repeat; i++) {
        struct packet_run run = {0};
        struct bench_usage usage = {0};
        good = bench_packet_run_once(folder, backend, false, &run, &usage) && run.good;
        *peak_mb = usage.peak_bytes / 1e6;
        if (!good || usage.user_s < *best_s) {
            *best = run;
            *best_s = usage.user_s;
        }
    }
    bench_packet_inputs_remove(inputs, folder);
    return good;
}

static bool run_memory(void)
{
    struct packet_inputs inputs[MEMORY_RUNS] = {memory_inputs, memory_inputs, memory_inputs};
    inputs[1].bytes = 64 << 20;
    inputs[2].spare = MEMORY_SPARE;
    struct packet_run runs[MEMORY_RUNS] = {0};
    double mb[MEMORY_RUNS] = {0};
    for (int i = 0; i < MEMORY_RUNS; i++) {
        double seconds = 0;
        if (!measure_inputs(&inputs[i], ORR_BACKEND_PACKET, 1, &runs[i], &seconds, &mb[i])) {
            printf("%-15s FAILED: %s\n", memory_name, runs[i].error);
            return false;
        }
    }
    double more = (double)runs[1].in_flight - (double)runs[0].in_flight;
    double a_packet = (mb[1] - mb[0]) * 1e6 / fmax(more, 1);
    double a_switch = (mb[2] - mb[0]) * 1e6 / MEMORY_SPARE;
    printf("%-15s %.0f B a packet in flight (target 200: %s; %" PRIu64 " in flight), %.0f kB a switch of 64 ports "
           "(target 1000: %s)\n",
           memory_name, a_packet, a_packet < 200 ? "MET" : "MISSED", runs[1].in_flight, a_switch / 1e3,
           a_switch < 1e6 ? "MET" : "MISSED");
    return true;
}

static bool run_flow(unsigned repeat)
{
    struct packet_run flow = {0}, packet = {0};
    double flow_s = 0, packet_s = 0, mb = 0;
    if (!measure_inputs(&flow_inputs, ORR_BACKEND_FLOW, repeat, &flow, &flow_s, &mb) ||
        !measure_inputs(&flow_inputs, ORR_BACKEND_PACKET, 1, &packet, &packet_s, &mb)) {
        printf("%-15s FAILED: %s%s\n", flow_name, flow.error, packet.error);
        return false;
    }
    double ratio = packet_s / fmax(flow_s, 1e-3);
    printf("%-15s %9" PRIu64 " ns in %.3f s; packet %" PRIu64 " ns (%+.2f %%) in %.2f s: %.0fx (target 100: %s)\n",
           flow_name, flow.cycles, flow_s, packet.cycles, 100 * ((double)flow.cycles / (double)packet.cycles - 1),
           packet_s, ratio, ratio >= 100 ? "MET" : "MISSED");
    return true;
}

bool bench_packet_run(int index, unsigned repeat)
{
    if (index == CASES)
        return run_memory();
    if (index == CASES + 1)
        return run_flow(repeat);
    const struct packet_case *item = &cases[index];
    struct packet_run best = {0};
    double best_s = INFINITY, peak = 0;
    if (!measure_inputs(&item->inputs, ORR_BACKEND_PACKET, repeat, &best, &best_s, &peak)) {
        printf("%-15s FAILED: %s\n", item->name, best.error);
        return false;
    }
    print_row(item, &best, best_s, peak);
    if (item->cycles != 0 && item->cycles != best.cycles) {
        printf("%-15s WRONG: expected %" PRIu64 " ns\n", item->name, item->cycles);
        return false;
    }
    return true;
}
