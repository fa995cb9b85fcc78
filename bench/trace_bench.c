/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each run is a child process, so that its CPU time (user and system: reading a file is the kernel's work too) and its
 * peak memory are the kernel's account of that run alone. Memory is told as a share of the input, which is what must
 * not grow with it; the program itself, a few MB, is part of it.
 */
#include "bench/trace_bench.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/child.h"
#include "bench/folder.h"
#include "bench/trace_inputs.h"
#include "io/json_stream.h"
#include "orrery.h"

static const struct {
    const char *name, *title;
    double must_rate, must_share; /* MB/s; peak memory in % of the input */
} cases[BENCH_TRACE_CASES] = {
    [BENCH_TRACE_JSON] = {"json", "reading a Kineto trace's JSON event by event", 400, 40},
    [BENCH_TRACE_IMPORT] = {"import", "linking and converting a Kineto trace and its host trace", 150, 40},
};

const char *bench_trace_name(enum bench_trace_case which)
{
    return cases[which].name;
}

const char *bench_trace_title(enum bench_trace_case which)
{
    return cases[which].title;
}

struct measured {
    double cpu_s, peak_bytes;
};

/* The kernels seen, or UINT64_MAX. */
static uint64_t read_json(const char *folder, struct orr_error *err)
{
    static const char *const arrays[] = {"traceEvents", NULL};
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/device_0.json", folder);
    struct mem mem = {0};
    struct json_stream *stream = NULL;
    uint64_t kernels = 0;
    bool more = true;
    enum orr_status status = json_stream_open(path, arrays, 0, &mem, &stream, err);
    while (status == ORR_OK && more) {
        struct json_part part = {0};
        status = json_stream_next(stream, &part, &more, err);
        if (status == ORR_OK && more && part.is_element) {
            const struct json_item *cat = json_item_member(part.item, "cat");
            kernels += cat != NULL && json_item_is(cat, "kernel") ? 1 : 0;
        }
    }
    json_stream_close(stream);
    return status == ORR_OK ? kernels : UINT64_MAX;
}

static enum orr_status import(const char *folder, struct orr_error *err)
{
    char prefix[4096];
    (void)snprintf(prefix, sizeof prefix, "%s/trace", folder);
    struct orr_import_options options;
    orr_import_options_init(&options);
    options.folder = folder;
    options.prefix = prefix;
    options.jobs = 1;
    return orr_trace_import(&options, NULL, NULL, err);
}

struct what {
    enum bench_trace_case which;
    const char *folder;
    const struct bench_recording *recording;
};

static bool work(const void *context, void *result)
{
    (void)result;
    const struct what *what = context;
    struct orr_error err = {0};
    bool good = true;
    if (what->which == BENCH_TRACE_JSON) {
        uint64_t kernels = read_json(what->folder, &err);
        good = kernels == what->recording->kernels;
        if (!good && kernels != UINT64_MAX) {
            (void)snprintf(err.text, sizeof err.text, "%" PRIu64 " kernels were read, not %" PRIu64, kernels,
                           what->recording->kernels);
        }
    } else {
        good = import(what->folder, &err) == ORR_OK;
    }
    if (!good) {
        printf("%-15s FAILED: %s\n", cases[what->which].name, err.text);
        (void)fflush(stdout);
    }
    return good;
}

static bool measure(enum bench_trace_case which, const char *folder, const struct bench_recording *recording,
                    struct measured *out)
{
    const struct what what = {which, folder, recording};
    struct bench_usage usage;
    if (!bench_child(work, &what, NULL, 0, &usage)) {
        perror("fork");
        return false;
    }
    out->cpu_s = usage.user_s + usage.system_s;
    out->peak_bytes = usage.peak_bytes;
    return usage.complete;
}

static void print_figures(enum bench_trace_case which, const struct bench_recording *recording,
                          const struct measured *best)
{
    bool both = which == BENCH_TRACE_IMPORT;
    double input = (double)(recording->device_bytes + (both ? recording->host_bytes : 0));
    double rate = input / 1e6 / fmax(best->cpu_s, 1e-6);
    double share = 100 * best->peak_bytes / input;
    char parts[64] = "";
    if (both) {
        (void)snprintf(parts, sizeof parts, " (Kineto %.0f, host %.0f)", (double)recording->device_bytes / 1e6,
                       (double)recording->host_bytes / 1e6);
    }
    printf("%-15s %.0f MB%s, %" PRIu64 " kernels in %.2f s of CPU: %.0f MB/s (target %.0f: %s); "
           "peak %.0f MB, %.1f %% of the input (target %.0f %%: %s)\n",
           cases[which].name, input / 1e6, parts, recording->kernels, best->cpu_s, rate, cases[which].must_rate,
           rate >= cases[which].must_rate ? "MET" : "MISSED", best->peak_bytes / 1e6, share, cases[which].must_share,
           share <= cases[which].must_share ? "MET" : "MISSED");
}

bool bench_trace_run(enum bench_trace_case which, const char *data, uint64_t megabytes, unsigned repeat)
{
    char folder[BENCH_FOLDER_ROOM];
    if (!bench_folder_make(folder)) {
        return false;
    }
    struct orr_error err = {0};
    struct bench_recording recording = {0};
    bool good = bench_write_recording(data, folder, megabytes, &recording, &err);
    if (!good) {
        printf("%-15s FAILED: %s\n", cases[which].name, err.text);
    }
    struct measured best = {0};
    for (unsigned i = 0; good && i < repeat; i++) {
        struct measured run = {0};
        good = measure(which, folder, &recording, &run);
        if (i == 0 || run.cpu_s < best.cpu_s) {
            best = run;
        }
    }
    if (good) {
        print_figures(which, &recording, &best);
    }
    bench_remove_recording(folder);
    return good;
}
