/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A point is a data-parallel step of ResNet-50: five all-reduces behind each other and beside compute, so that
 * simulating it takes far longer than keeping it, as in the sweeps people run.
 *
 * Busy is the share of all processors' time that the sweep used, by the kernel's count: on a machine that does other
 * work too it says less. Memory is the peak with one point at once beside that with eight: what the seven more took.
 */
#include "bench/sweep_bench.h"

#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/child.h"
#include "bench/folder.h"
#include "orrery.h"

enum { POINTS = 1000, RANKS = 64, MANY = 8 };

const char *bench_sweep_name(int index)
{
    return index == 0 ? "sweep" : NULL;
}

const char *bench_sweep_title(int index)
{
    return index == 0 ? "1,000 training steps of 64 ranks on the analytical network, kept in a store" : NULL;
}

struct what {
    const char *folder;
    uint32_t threads;
};

struct result {
    double wall_s;
    uint64_t sum_ns; /* over all points: the same whatever the threads */
};

static double clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    return file != NULL && fputs(text, file) >= 0 && fclose(file) == 0;
}

static bool make_inputs(void)
{
    struct orr_error err = {0};
    struct orr_ddp_summary made;
    const struct orr_ddp_options ddp = {.model = "resnet50",
                                        .element_bytes = 4,
                                        .first_bucket_bytes = 1 << 20,
                                        .bucket_bytes = 25 << 20,
                                        .forward_us = 5000,
                                        .backward_us = 10000,
                                        .steps = 1,
                                        .npus = RANKS,
                                        .prefix = "step"};
    return orr_gen_ddp(&ddp, &made, &err) == ORR_OK &&
           write_text("network.yml", "topology: [ Ring, Switch ]\nnpus_count: [ 8, 8 ]\nbandwidth: [ 50, 25 ]\n"
                                     "latency: [ 500, 1000 ]\n") &&
           write_text("system.json",
                      "{\"scheduling-policy\": \"LIFO\", \"endpoint-delay\": 10, \"active-chunks-per-dimension\": 1,"
                      " \"preferred-dataset-splits\": 16, \"collective-optimization\": \"localBWAware\","
                      " \"all-reduce-implementation\": [\"ring\", \"halvingDoubling\"],"
                      " \"all-gather-implementation\": [\"ring\", \"halvingDoubling\"],"
                      " \"reduce-scatter-implementation\": [\"ring\", \"halvingDoubling\"],"
                      " \"all-to-all-implementation\": [\"direct\", \"direct\"], \"local-mem-bw\": 1600}");
}

static bool sweep(const struct orr_sweep_plan *plan, const char *store, uint32_t threads, struct result *result)
{
    static struct orr_override overrides[POINTS];
    static struct orr_sweep_job jobs[POINTS];
    struct orr_run_options run;
    orr_run_options_init(&run);
    struct orr_error err = {0};
    run.workload = "step";
    run.system = "system.json";
    run.network = "network.yml";
    for (uint64_t i = 0; i < POINTS; i++) {
        overrides[i] = (struct orr_override){"network", "bandwidth[1]", orr_sweep_plan_value(plan, i, 0), "bench", 1};
        jobs[i] = (struct orr_sweep_job){.run = &run, .overrides = &overrides[i], .override_count = 1};
    }
    const struct orr_sweep_options options = {
        .plan = plan, .jobs = jobs, .base = "bench", .store = store, .threads = threads};
    struct orr_sweep *done = NULL;
    double begun = clock_s();
    enum orr_status status = orr_sweep_run(&options, NULL, &done, &err);
    result->wall_s = clock_s() - begun;
    for (uint64_t i = 0; status == ORR_OK && i < POINTS; i++) {
        struct orr_sweep_result point;
        orr_sweep_result(done, i, &point);
        result->sum_ns += point.state == ORR_SWEEP_DONE ? point.time_ns : UINT32_MAX;
    }
    orr_sweep_close(done);
    if (status != ORR_OK) {
        fprintf(stderr, "sweep: %s\n", err.text);
    }
    return status == ORR_OK;
}

static bool run_once(const void *context, void *result)
{
    const struct what *what = context;
    const char *vary = "network.bandwidth[1]=25..1024";
    const struct orr_sweep_plan_options options = {.vary = &vary, .vary_count = 1};
    struct orr_sweep_plan *plan = NULL;
    struct orr_error err = {0};
    if (chdir(what->folder) != 0 || !make_inputs() || orr_sweep_plan_open(&options, &plan, &err) != ORR_OK) {
        fprintf(stderr, "sweep: the inputs cannot be made: %s\n", err.text);
        return false;
    }
    char store[32];
    snprintf(store, sizeof store, "s%d.db", (int)getpid());
    bool good = sweep(plan, store, what->threads, result);
    orr_sweep_plan_close(plan);
    return good;
}

static uint32_t processors(void)
{
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? (uint32_t)CPU_COUNT(&allowed) : 1;
}

bool bench_sweep_run(int index, unsigned repeat)
{
    char folder[BENCH_FOLDER_ROOM];
    if (!bench_folder_make(folder)) {
        return false;
    }
    const uint32_t cores = processors();
    const uint32_t threads[] = {cores, 1, MANY};
    double wall_s = INFINITY;
    double busy = 0;
    double peak_bytes[3] = {0};
    uint64_t sum_ns[3] = {0};
    bool good = true;
    for (unsigned i = 0; i < (repeat > 0 ? repeat : 1) && good; i++) {
        for (int k = 0; k < (i == 0 ? 3 : 1) && good; k++) { /* memory does not change from one time to the next */
            const struct what what = {folder, threads[k]};
            struct result result = {0};
            struct bench_usage usage = {0};
            good = bench_child(run_once, &what, &result, sizeof result, &usage) && usage.complete;
            peak_bytes[k] = usage.peak_bytes;
            sum_ns[k] = result.sum_ns;
            double share = (usage.user_s + usage.system_s) / result.wall_s / cores;
            if (k == 0 && result.wall_s < wall_s) {
                wall_s = result.wall_s;
                busy = share;
            }
        }
    }
    good = good && sum_ns[0] == sum_ns[1] && sum_ns[1] == sum_ns[2];
    if (good)
        printf("%-15s %d points in %.2f s on %" PRIu32 " processors, %.0f %% busy (target 90: %s), %.0f KB for each "
               "point that runs (target 1000: %s)\n",
               bench_sweep_name(index), POINTS, wall_s, cores, 100 * busy, busy >= 0.9 ? "met" : "missed",
               (peak_bytes[2] - peak_bytes[1]) / (MANY - 1) / 1e3,
               peak_bytes[2] - peak_bytes[1] < (MANY - 1) * 1e6 ? "met" : "missed");
    return bench_folder_remove(folder) && good;
}
