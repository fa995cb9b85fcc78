/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each case in a child process, as in bench.c, so that memory is the case's own. SimAI's figures are user seconds and
 * resident memory of an optimised build on a 2-core machine (spec packet, speed of the peers); the ratio is what to
 * look at. The simulated time must be SimAI's within half a percent.
 */
#include "bench/simai_bench.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/child.h"
#include "bench/folder.h"
#include "orrery.h"

struct simai_case {
    const char *name, *title, *tp, *rows;
    double simai_s, simai_mb, simai_ms; /* CPU, memory, simulated */
    double target_s, target_mb;         /* 0 = none */
};

static const struct simai_case cases[] = {
    {"simai-ar128", "SimAI, 128 GPUs: one 128-rank all-reduce of 16 MB in 8 channels", "128",
     "layer -1 1000 ALLREDUCE 16777216 1 NONE 0 1 NONE 0 1\n", 33.3, 3586, 0.966, 1, 100},
    {"simai-tp8dp16", "SimAI, 128 GPUs, TP 8, DP 16: all-reduce of 64 MB in each DP group", "8",
     "layer -1 1000 NONE 0 1 NONE 0 1 ALLREDUCE 67108864 1\n", 16.1, 3061, 2.702, 1, 0},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static const char config_text[] =
    "PACKET_PAYLOAD_SIZE 9000\nCC_MODE 1\nALPHA_RESUME_INTERVAL 1\nRATE_DECREASE_INTERVAL 4\nRP_TIMER 900\n"
    "EWMA_GAIN 0.00390625\nFAST_RECOVERY_TIMES 1\nRATE_AI 50Mb/s\nRATE_HAI 100Mb/s\nMIN_RATE 100Mb/s\n"
    "L2_CHUNK_SIZE 4000\nL2_ACK_INTERVAL 1\nHAS_WIN 1\nVAR_WIN 1\nKMAX_MAP 1 400000000000 3200\n"
    "KMIN_MAP 1 400000000000 800\nPMAX_MAP 1 400000000000 0.2\nBUFFER_SIZE 32\n";

struct measured {
    bool good;
    uint64_t time_ns, flows, events;
    char error[512];
};

const char *bench_simai_name(int index)
{
    return index < CASES ? cases[index].name : NULL;
}

const char *bench_simai_title(int index)
{
    return index < CASES ? cases[index].title : NULL;
}

static bool write_text(const char *path, const char *text)
{
    FILE *stream = fopen(path, "w");
    bool good = stream != NULL && fputs(text, stream) >= 0;
    return stream != NULL && fclose(stream) == 0 && good;
}

static enum orr_status write_inputs(const struct simai_case *item, char paths[3][4096], struct orr_error *err)
{
    const struct orr_topo_setting settings[] = {{"hosts", "128"}};
    struct orr_topo *topo = NULL;
    char text[1024];
    snprintf(text, sizeof text,
             "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: %s ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 128 "
             "checkpoints: 0 checkpoint_initiates: 0\n1\n%s",
             item->tp, item->rows);
    if (!write_text(paths[0], text) || !write_text(paths[2], config_text))
        return ORR_EIO;
    enum orr_status status = orr_topo_make("Spectrum-X", settings, 1, NULL, &topo, err);
    if (status == ORR_OK)
        status = orr_topo_write(topo, paths[1], &(struct orr_topo_write_options){.form = ORR_TOPO_SIMAI}, err);
    orr_topo_close(topo);
    return status;
}

struct what {
    const struct simai_case *item;
    const char *folder;
};

static bool simulate(const void *context, void *result)
{
    const struct what *what = context;
    struct measured *out = result;
    char paths[3][4096];
    static const char *const names[] = {"workload.txt", "topology", "SimAI.conf"};
    for (int i = 0; i < 3; i++)
        snprintf(paths[i], sizeof paths[i], "%s/%s", what->folder, names[i]);
    struct orr_simai_simulation options;
    orr_simai_simulation_init(&options);
    options.run.workload = paths[0];
    options.topology = paths[1];
    options.config = paths[2];
    options.has_send_latency = true;
    options.send_latency_ns = 3000;
    struct orr_run *run = NULL;
    struct orr_error err = {0};
    enum orr_status status = write_inputs(what->item, paths, &err);
    if (status == ORR_OK)
        status = orr_simai_open(&options, &run, &err);
    if (status == ORR_OK)
        status = orr_run_execute(run, &err);
    out->good = status == ORR_OK;
    snprintf(out->error, sizeof out->error, "%.500s", err.text);
    if (out->good) {
        out->time_ns = orr_run_time_ns(run);
        out->flows = orr_run_message_count(run);
        out->events = orr_run_event_count(run);
    }
    orr_run_close(run);
    return true;
}

static bool print_row(const struct simai_case *item, const struct measured *run, double user_s, double peak_mb)
{
    bool met = user_s <= item->target_s && (item->target_mb == 0 || peak_mb <= item->target_mb);
    double off = ((double)run->time_ns / 1e6 - item->simai_ms) / item->simai_ms;
    printf("%-15s %9" PRIu64 " ns (SimAI %.3f ms: %+.2f %%), %" PRIu64 " messages, %.2f M events in %.2f s, peak %.0f "
           "MB (target %.0f s",
           item->name, run->time_ns, item->simai_ms, off * 100, run->flows, (double)run->events / 1e6, user_s, peak_mb,
           item->target_s);
    if (item->target_mb > 0)
        printf(", %.0f MB", item->target_mb);
    printf(": %s); SimAI %.1f s, %.0f MB: %.0fx\n", met ? "MET" : "MISSED", item->simai_s, item->simai_mb,
           item->simai_s / fmax(user_s, 1e-6));
    return fabs(off) <= 0.005;
}

bool bench_simai_run(int index, unsigned repeat)
{
    const struct simai_case *item = &cases[index];
    char folder[BENCH_FOLDER_ROOM];
    char command[4096];
    if (!bench_folder_make(folder)) {
        return false;
    }
    struct measured best = {0};
    double best_s = INFINITY;
    double best_mb = 0;
    bool good = true;
    for (unsigned i = 0; good && i < repeat; i++) {
        struct measured run = {0};
        const struct what what = {item, folder};
        struct bench_usage usage = {0};
        good = bench_child(simulate, &what, &run, sizeof run, &usage) && usage.complete && run.good;
        if (!good)
            printf("%-15s failed: %s\n", item->name, run.error);
        if (good && usage.user_s < best_s) {
            best = run;
            best_s = usage.user_s;
            best_mb = usage.peak_bytes / 1e6;
        }
    }
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    good = system(command) == 0 && good; // NOLINT(cert-env33-c): the folder's name is our own
    return good && print_row(item, &best, best_s, best_mb);
}
