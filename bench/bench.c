/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast, and in how much memory: the plain event engine on the cases ASTRA-sim was timed with, the shortcuts that
 * give the same integers, and the trace reader; the packet network's cases are in bench/packet_bench.c, the trace
 * toolchain's in bench/trace_bench.c.
 *
 * Each case runs in a child process of its own, so that user time and peak memory are the kernel's account of that case
 * alone, reading the files included. The figures of ASTRA-sim in the table were taken on a 2-core machine (user
 * seconds); what to compare is the ratio. Cycle counts are checked and a wrong one fails the program; a slow one is
 * only marked, since another machine is another speed.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/child.h"
#include "bench/folder.h"
#include "bench/forward_bench.h"
#include "bench/inputs.h"
#include "bench/lab_bench.h"
#include "bench/large_bench.h"
#include "bench/op_bench.h"
#include "bench/packet_bench.h"
#include "bench/scale_bench.h"
#include "bench/simai_bench.h"
#include "bench/sweep_bench.h"
#include "bench/trace_bench.h"
#include "orrery.h"

struct bench_case {
    const char *name;
    const char *title;
    struct bench_machine machine;
    enum bench_workload workload;
    enum orr_backend backend;
    uint64_t cycles;          /* expected; 0 = no reference */
    double astra_s, astra_mb; /* 0 = not measured */
    double must_s, aim_s;     /* 0 = no target */
    double must_mb;           /* 0 = no target */
    bool quick;               /* part of --quick */
    bool one_trace;           /* for all ranks: the job is grown to the machine */
    bool shortcuts;      /* one rank for all, and phases of rings at once, where they can be; else the plain engine */
    bool every_rank;     /* of these, the second alone */
    const char *devices; /* or NULL */
};

#define SLOWER_RANKS "5=x1.1,700=x1.07"
enum { JITTER_CYCLES = 232334082, JITTER_AWARE_CYCLES = 233321522 };

static const struct bench_case cases[] = {
    {.name = "ring1024",
     .title = "all-reduce 1 GB, Ring 1024, unaware",
     .machine = {{1024}, "50"},
     .workload = BENCH_ALL_REDUCE,
     .backend = ORR_BACKEND_UNAWARE,
     .cycles = 46129156,
     .astra_s = 17.2,
     .astra_mb = 365,
     .must_s = 1.0,
     .aim_s = 0.4,
     .must_mb = 80,
     .quick = true},
    {.name = "ring1024-aware",
     .title = "all-reduce 1 GB, Ring 1024, aware",
     .machine = {{1024}, "50"},
     .workload = BENCH_ALL_REDUCE,
     .backend = ORR_BACKEND_AWARE,
     .cycles = 46129156,
     .astra_s = 26.3,
     .astra_mb = 365,
     .must_s = 1.5,
     .aim_s = 0.6,
     .must_mb = 80,
     .quick = true},
    {.name = "cube16",
     .title = "all-reduce 1 GB, 3-D ring 16x16x16, unaware",
     .machine = {{16, 16, 16}, "80"},
     .workload = BENCH_ALL_REDUCE,
     .backend = ORR_BACKEND_UNAWARE,
     .cycles = 25386020,
     .astra_s = 10.0,
     .astra_mb = 196,
     .must_s = 0.6,
     .aim_s = 0.25,
     .must_mb = 60,
     .quick = true},
    {.name = "chain512",
     .title = "36 chained collectives, Ring 512, unaware",
     .machine = {{512}, "50"},
     .workload = BENCH_CHAIN,
     .backend = ORR_BACKEND_UNAWARE,
     .must_s = 2.5,
     .aim_s = 1.0},
    {.name = "mlp512",
     .title = "text MLP (11 collectives), Ring 512, unaware",
     .machine = {{512}, "50"},
     .workload = BENCH_MLP,
     .backend = ORR_BACKEND_UNAWARE,
     .cycles = 205714444,
     .astra_s = 44.5,
     .astra_mb = 123,
     .must_s = 2.5,
     .aim_s = 1.0},
    {.name = "one-ring1024",
     .title = "all-reduce 1 GB, Ring 1024, one rank for all",
     .machine = {{1024}, "50"},
     .workload = BENCH_ALL_REDUCE,
     .backend = ORR_BACKEND_UNAWARE,
     .cycles = 46129156,
     .astra_s = 17.2,
     .astra_mb = 365,
     .must_s = 0.005,
     .one_trace = true,
     .shortcuts = true,
     .quick = true},
    {.name = "one-16384",
     .title = "all-reduce 1 GB, 3-D ring 16x32x32, one rank for all",
     .machine = {{16, 32, 32}, "50"},
     .workload = BENCH_ALL_REDUCE,
     .backend = ORR_BACKEND_UNAWARE,
     .cycles = 39448580,
     .astra_s = 92,
     .must_s = 0.01,
     .one_trace = true,
     .shortcuts = true,
     .quick = true},
    {.name = "one-98304",
     .title = "all-reduce 1 GB, 3-D ring 64x64x24, one rank for all",
     .machine = {{64, 64, 24}, "50"},
     .workload = BENCH_ALL_REDUCE,
     .backend = ORR_BACKEND_UNAWARE,
     .cycles = 41613596,
     .must_s = 0.05,
     .must_mb = 100,
     .one_trace = true,
     .shortcuts = true,
     .quick = true},
    {.name = "one-98304-aware",
     .title = "all-reduce 1 GB, 3-D ring 64x64x24, aware, one rank for all",
     .machine = {{64, 64, 24}, "50"},
     .workload = BENCH_ALL_REDUCE,
     .backend = ORR_BACKEND_AWARE,
     .cycles = 41613596,
     .must_s = 0.05,
     .must_mb = 100,
     .one_trace = true,
     .shortcuts = true,
     .quick = true},
    {.name = "all-98304",
     .title = "all-reduce 1 GB, 3-D ring 64x64x24, every rank, phases at once",
     .machine = {{64, 64, 24}, "50"},
     .workload = BENCH_ALL_REDUCE,
     .backend = ORR_BACKEND_UNAWARE,
     .cycles = 41613596,
     .must_s = 25,
     .one_trace = true,
     .shortcuts = true,
     .every_rank = true},
    {.name = "jitter1024",
     .title = "text MLP, Ring 1024, two slower ranks, phases at once",
     .machine = {{1024}, "50"},
     .workload = BENCH_MLP,
     .backend = ORR_BACKEND_UNAWARE,
     .cycles = JITTER_CYCLES,
     .must_s = 0.2,
     .shortcuts = true,
     .devices = SLOWER_RANKS},
    {.name = "jitter1024-plain",
     .title = "the same, message by message",
     .machine = {{1024}, "50"},
     .workload = BENCH_MLP,
     .backend = ORR_BACKEND_UNAWARE,
     .cycles = JITTER_CYCLES,
     .devices = SLOWER_RANKS},
    {.name = "jitter1024-aware",
     .title = "text MLP, Ring 1024, two slower ranks, aware, phases at once",
     .machine = {{1024}, "50"},
     .workload = BENCH_MLP,
     .backend = ORR_BACKEND_AWARE,
     .cycles = JITTER_AWARE_CYCLES,
     .must_s = 0.7,
     .shortcuts = true,
     .devices = SLOWER_RANKS},
    {.name = "jitter1024-aware-plain",
     .title = "the same, message by message",
     .machine = {{1024}, "50"},
     .workload = BENCH_MLP,
     .backend = ORR_BACKEND_AWARE,
     .cycles = JITTER_AWARE_CYCLES,
     .devices = SLOWER_RANKS},
    {.name = "load",
     .title = "reading ET files (8 different ranks)",
     .machine = {{8}, "50"},
     .workload = BENCH_OPERATORS,
     .backend = ORR_BACKEND_UNAWARE,
     .quick = true},
};
enum { CASES = sizeof cases / sizeof cases[0] };

/* What a child tells its parent. */
struct measured {
    bool good;
    uint64_t cycles, messages, events;
    double open_cpu_s; /* reading and checking the files */
    double cpu_s;      /* that and the run, the kernel's part included */
    char error[1024];
};

struct outcome {
    struct measured run;
    double user_s, peak_mb;
    uint64_t trace_bytes;
};

struct options {
    const char *only; /* NULL = all */
    bool quick;
    uint64_t load_mb;
    uint64_t kineto_mb;
    const char *svg; /* where `scale` draws, or NULL */
    unsigned repeat; /* each case so many times; the quickest counts, since other work on the machine only adds */
};

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct what {
    const struct bench_case *item;
    const char *folder;
};

/* In the child. */
static bool simulate(const void *context, void *result)
{
    const struct what *what = context;
    const struct bench_case *item = what->item;
    const char *folder = what->folder;
    struct measured *out = result;
    char workload[4096], system[4096], network[4096], memory[4096];
    snprintf(workload, sizeof workload, "%s/trace", folder);
    snprintf(system, sizeof system, "%s/system.json", folder);
    snprintf(network, sizeof network, "%s/network.yml", folder);
    snprintf(memory, sizeof memory, "%s/memory.json", folder);
    struct orr_run_options options;
    orr_run_options_init(&options);
    options.workload = workload;
    options.system = system;
    options.network = network;
    options.memory = memory;
    options.backend = item->backend;
    options.grow = item->one_trace;
    options.devices = item->devices;
    options.no_symmetry = !item->shortcuts || item->every_rank;
    options.no_memo = !item->shortcuts;

    struct orr_error err = {0};
    struct orr_run *run = NULL;
    double before = cpu_seconds();
    enum orr_status status = orr_run_open(&options, &run, &err);
    out->open_cpu_s = cpu_seconds() - before;
    if (status == ORR_OK && item->workload != BENCH_OPERATORS)
        status = orr_run_execute(run, &err);
    out->good = status == ORR_OK;
    if (!out->good) {
        snprintf(out->error, sizeof out->error, "%s", err.text);
    } else if (item->workload != BENCH_OPERATORS) {
        out->cycles = orr_run_time_ns(run);
        out->messages = orr_run_message_count(run);
        out->events = orr_run_event_count(run);
    }
    orr_run_close(run);
    out->cpu_s = cpu_seconds() - before;
    return true;
}

/* Runs the case in a child and collects what the kernel says about it. False when there was no child to ask. */
static bool measure(const struct bench_case *item, const char *folder, struct outcome *out)
{
    const struct what what = {item, folder};
    struct bench_usage usage;
    if (!bench_child(simulate, &what, &out->run, sizeof out->run, &usage))
        return false;
    out->user_s = item->shortcuts ? out->run.cpu_s : usage.user_s; /* the kernel counts the short ones too coarsely */
    out->peak_mb = usage.peak_bytes / 1e6;
    if (!usage.complete) {
        out->run.good = false;
        snprintf(out->run.error, sizeof out->run.error, "the process ended with status %d", usage.status);
    }
    return true;
}

static void print_header(void)
{
    printf("%-15s %9s %9s %10s %7s %7s %7s %7s  %-21s %s\n", "case", "cycles", "messages", "events", "user s", "Mmsg/s",
           "Mevt/s", "peak MB", "target (aim) s, MB", "ASTRA-sim s, MB: ratio");
}

/* "1.0 (0.4), 80: aim MET": what was to be reached in time and memory, and whether it was. */
static void print_target(const struct bench_case *item, const struct outcome *out)
{
    char text[64];
    bool memory_met = item->must_mb <= 0 || out->peak_mb <= item->must_mb;
    const char *word = out->user_s > item->must_s || !memory_met ? "MISSED"
                       : out->user_s <= item->aim_s              ? "AIM"
                                                                 : "MET";
    if (item->must_s <= 0)
        snprintf(text, sizeof text, "none");
    else if (item->aim_s <= 0 && item->must_mb > 0)
        snprintf(text, sizeof text, "%g, %g: %s", item->must_s, item->must_mb, word);
    else if (item->aim_s <= 0)
        snprintf(text, sizeof text, "%g: %s", item->must_s, word);
    else if (item->must_mb > 0)
        snprintf(text, sizeof text, "%g (%g), %g: %s", item->must_s, item->aim_s, item->must_mb, word);
    else
        snprintf(text, sizeof text, "%g (%g): %s", item->must_s, item->aim_s, word);
    printf("  %-21s", text);
    if (item->astra_s > 0 && item->astra_mb <= 0)
        printf(" %.1f: %.1fx", item->astra_s, item->astra_s / fmax(out->user_s, 1e-6));
    else if (item->astra_s > 0)
        printf(" %.1f, %.0f: %.1fx, %.1fx", item->astra_s, item->astra_mb, item->astra_s / fmax(out->user_s, 1e-6),
               item->astra_mb / fmax(out->peak_mb, 1e-6));
    printf("\n");
}

static void print_load(const struct bench_case *item, const struct outcome *out)
{
    double rate = (double)out->trace_bytes / 1e6 / fmax(out->run.open_cpu_s, 1e-6);
    printf("%-15s %.0f MB of ET files in %.2f s of CPU: %.0f MB/s (target 500: %s); peak %.0f MB\n", item->name,
           (double)out->trace_bytes / 1e6, out->run.open_cpu_s, rate, rate >= 500 ? "MET" : "MISSED", out->peak_mb);
}

/* True when the case ran and its cycle count is right. */
static bool print_outcome(const struct bench_case *item, const struct outcome *out)
{
    if (!out->run.good) {
        printf("%-15s FAILED: %s\n", item->name, out->run.error);
        return false;
    }
    if (item->workload == BENCH_OPERATORS) {
        print_load(item, out);
        return true;
    }
    double per_s = 1e-6 / fmax(out->user_s, 1e-6);
    printf("%-15s %9" PRIu64 " %9" PRIu64 " %10" PRIu64 " %7.*f %7.1f %7.1f %7.0f", item->name, out->run.cycles,
           out->run.messages, out->run.events, out->user_s < 0.1 ? 4 : 2, out->user_s,
           (double)out->run.messages * per_s, (double)out->run.events * per_s, out->peak_mb);
    print_target(item, out);
    if (item->cycles != 0 && item->cycles != out->run.cycles) {
        printf("%-15s WRONG: expected %" PRIu64 " cycles\n", item->name, item->cycles);
        return false;
    }
    return true;
}

static double seconds_that_count(const struct bench_case *item, const struct outcome *out)
{
    return item->workload == BENCH_OPERATORS ? out->run.open_cpu_s : out->user_s;
}

static bool measure_best(const struct bench_case *item, const char *folder, unsigned repeat, struct outcome *best)
{
    for (unsigned i = 0; i < repeat; i++) {
        struct outcome out = {.trace_bytes = best->trace_bytes};
        if (!measure(item, folder, &out))
            return false;
        if (i == 0 || !out.run.good || seconds_that_count(item, &out) < seconds_that_count(item, best))
            *best = out;
        if (!out.run.good)
            return true;
    }
    return true;
}

static bool run_case(const struct bench_case *item, const struct options *options)
{
    char folder[BENCH_FOLDER_ROOM];
    if (!bench_folder_make(folder)) {
        return false;
    }
    struct outcome out = {0};
    bool good = false;
    if (!bench_write_inputs(folder, &item->machine, item->one_trace ? 1 : 0, item->workload, options->load_mb,
                            &out.trace_bytes))
        perror(folder);
    else if (!measure_best(item, folder, options->repeat, &out))
        perror("fork");
    else
        good = print_outcome(item, &out);
    bench_remove_inputs(folder, &item->machine);
    return good;
}

/* ---- the suites ---- */

static const char *own_name(int index)
{
    return index < CASES ? cases[index].name : NULL;
}

static const char *own_title(int index)
{
    return cases[index].title;
}

static bool own_is_quick(int index)
{
    return cases[index].quick;
}

static bool own_run(int index, const struct options *options)
{
    return run_case(&cases[index], options);
}

static bool packet_run(int index, const struct options *options)
{
    return bench_packet_run(index, options->repeat);
}

static bool forward_run(int index, const struct options *options)
{
    return bench_forward_run(index, options->repeat);
}

static bool large_run(int index, const struct options *options)
{
    return bench_large_run(index, options->repeat);
}

static bool scale_run(int index, const struct options *options)
{
    (void)index;
    return bench_scale_run(options->repeat, options->svg);
}

static bool simai_run(int index, const struct options *options)
{
    return bench_simai_run(index, options->repeat);
}

static bool lab_run(int index, const struct options *options)
{
    return bench_lab_run(index, BENCH_RECORDING, options->repeat);
}

static bool op_run(int index, const struct options *options)
{
    return bench_op_run(index, options->repeat);
}

static bool sweep_run(int index, const struct options *options)
{
    return bench_sweep_run(index, options->repeat);
}

static const char *trace_name(int index)
{
    return index < BENCH_TRACE_CASES ? bench_trace_name((enum bench_trace_case)index) : NULL;
}

static const char *trace_title(int index)
{
    return bench_trace_title((enum bench_trace_case)index);
}

static bool trace_run(int index, const struct options *options)
{
    return bench_trace_run((enum bench_trace_case)index, BENCH_RECORDING, options->kineto_mb, options->repeat);
}

/* In the order they run. Names end with NULL; without is_quick all of them are. */
static const struct suite {
    const char *(*name)(int index);
    const char *(*title)(int index);
    bool (*is_quick)(int index);
    bool (*run)(int index, const struct options *options);
    void (*header)(void);
} suites[] = {
    {own_name, own_title, own_is_quick, own_run, print_header},
    {bench_packet_name, bench_packet_title, bench_packet_is_quick, packet_run, NULL},
    {bench_forward_name, bench_forward_title, bench_forward_is_quick, forward_run, NULL},
    {bench_large_name, bench_large_title, NULL, large_run, NULL},
    {bench_scale_name, bench_scale_title, NULL, scale_run, NULL},
    {bench_simai_name, bench_simai_title, NULL, simai_run, NULL},
    {bench_lab_name, bench_lab_title, NULL, lab_run, NULL},
    {bench_op_name, bench_op_title, NULL, op_run, NULL},
    {bench_sweep_name, bench_sweep_title, NULL, sweep_run, NULL},
    {trace_name, trace_title, NULL, trace_run, NULL},
};

enum { SUITES = sizeof suites / sizeof suites[0] };

static bool is_wanted(const struct suite *suite, int index, const struct options *options)
{
    if (options->only != NULL) {
        return strcmp(options->only, suite->name(index)) == 0;
    }
    return !options->quick || suite->is_quick == NULL || suite->is_quick(index);
}

/* Gives how many ran; clears *good when one fails. */
static int run_suite(const struct suite *suite, const struct options *options, bool *good)
{
    int ran = 0;
    for (int i = 0; suite->name(i) != NULL; i++) {
        if (!is_wanted(suite, i, options)) {
            continue;
        }
        if (ran++ == 0 && suite->header != NULL) {
            suite->header();
        }
        *good = suite->run(i, options) && *good;
    }
    return ran;
}

static int usage(FILE *stream, int status)
{
    fprintf(stream,
            "usage: orrery-bench [--case NAME] [--quick] [--repeat N] [--svg FILE] [--load-mb N] [--kineto-mb N]\n"
            "Runs the benchmark cases; exits 1 when a cycle count is wrong, never for being slow.\n"
            "  --quick       leave out the two long cases and read 64 MB\n"
            "  --repeat N    run each case N times and print the quickest (3)\n"
            "  --svg FILE    where the case `scale` draws its lines\n"
            "  --load-mb N   how many MB of traces the reading case writes and reads (256)\n"
            "  --kineto-mb N how many MB of Kineto trace the last two cases read, with its host trace (300)\n"
            "  --case NAME   only this one:\n");
    for (int s = 0; s < SUITES; s++)
        for (int i = 0; suites[s].name(i) != NULL; i++)
            fprintf(stream, "    %-15s %s\n", suites[s].name(i), suites[s].title(i));
    return status;
}

int main(int argc, char **argv)
{
    struct options options = {.load_mb = 256, .kineto_mb = 300, .repeat = 3};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return usage(stdout, 0);
        if (strcmp(argv[i], "--quick") == 0)
            options.quick = true;
        else if (strcmp(argv[i], "--case") == 0 && i + 1 < argc)
            options.only = argv[++i];
        else if (strcmp(argv[i], "--repeat") == 0 && i + 1 < argc && atoi(argv[i + 1]) > 0)
            options.repeat = (unsigned)atoi(argv[++i]);
        else if (strcmp(argv[i], "--svg") == 0 && i + 1 < argc)
            options.svg = argv[++i];
        else if (strcmp(argv[i], "--load-mb") == 0 && i + 1 < argc)
            options.load_mb = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--kineto-mb") == 0 && i + 1 < argc)
            options.kineto_mb = strtoull(argv[++i], NULL, 10);
        else
            return usage(stderr, 2);
    }
    if (options.quick) {
        options.load_mb = 64;
        options.kineto_mb = 64;
    }

    int ran = 0;
    bool good = true;
    for (int i = 0; i < SUITES; i++)
        ran += run_suite(&suites[i], &options, &good);
    if (ran == 0)
        return usage(stderr, 2);
    return good ? 0 : 1;
}
