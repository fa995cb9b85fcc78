/* SPDX-License-Identifier: Apache-2.0 */
/* Each run is a child process with a folder of its own, as a user would start it; the target is a second. */
#include "bench/lab_bench.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/child.h"
#include "bench/folder.h"
#include "orrery.h"

static const struct lab_case {
    const char *name, *title;
    uint32_t ranks;
} cases[] = {
    {"lab-8", "a recorded step of 2 ranks on a torus of 8", 8},
    {"lab-128", "a recorded step of 2 ranks on a torus of 128", 128},
    {"lab-1024", "a recorded step of 2 ranks on a torus of 1024", 1024},
};
enum { CASES = sizeof cases / sizeof cases[0] };

const char *bench_lab_name(int index)
{
    return index < CASES ? cases[index].name : NULL;
}

const char *bench_lab_title(int index)
{
    return index < CASES ? cases[index].title : NULL;
}

struct what {
    const struct lab_case *item;
    const char *recording, *folder;
};

static bool run_once(const void *context, void *result)
{
    const struct what *what = context;
    struct orr_lab_options options;
    orr_lab_options_init(&options);
    struct orr_error err = {0};
    options.run.workload = what->recording;
    options.run.machine = "auto:3d";
    options.output_folder = what->folder;
    options.world_size = what->item->ranks;
    if (orr_lab_run(&options, NULL, NULL, result, &err) != ORR_OK) {
        fprintf(stderr, "%s: %s\n", what->item->name, err.text);
        return false;
    }
    return true;
}

bool bench_lab_run(int index, const char *recording, unsigned repeat)
{
    const struct lab_case *item = &cases[index];
    char folder[BENCH_FOLDER_ROOM];
    if (!bench_folder_make(folder)) {
        return false;
    }
    struct orr_lab_result result = {0};
    double cpu_s = INFINITY;
    double peak_mb = 0;
    bool good = true;
    const struct what what = {item, recording, folder};
    for (unsigned i = 0; i < repeat && good; i++) {
        struct bench_usage usage = {0};
        good = bench_child(run_once, &what, &result, sizeof result, &usage) && usage.complete;
        cpu_s = fmin(cpu_s, usage.user_s + usage.system_s);
        peak_mb = usage.peak_bytes / 1e6;
    }
    if (good)
        printf("%-15s %9" PRIu64 " ns, %" PRIu32 " -> %" PRIu32 " ranks, recording to kept result in %.2f s of CPU, "
               "peak %.0f MB (target 1 s: %s)\n",
               item->name, result.time_ns, result.source_world, result.world, cpu_s, peak_mb,
               cpu_s <= 1 ? "met" : "missed");
    return bench_folder_remove(folder) && good;
}
