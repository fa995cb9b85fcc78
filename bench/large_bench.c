/* SPDX-License-Identifier: Apache-2.0 */
/* The machine is written and read as a user's would be. With GLOBAL_T 1 every window is that of the longest way between
 * any two hosts, which has to be found first. */
#include "bench/large_bench.h"

#include <math.h>
#include <stdio.h>

#include "bench/child.h"
#include "bench/folder.h"
#include "orrery.h"

struct large_case {
    const char *name, *title;
    enum orr_backend backend;
    int global_t;
};

static const struct large_case cases[] = {
    {"large-packet", "65,536 hosts, packets", ORR_BACKEND_PACKET, 0},
    {"large-packet-all", "65,536 hosts, packets, windows of the longest way", ORR_BACKEND_PACKET, 1},
    {"large-flow", "65,536 hosts, fluid", ORR_BACKEND_FLOW, 0},
    {"large-flow-all", "65,536 hosts, fluid, windows of the longest way", ORR_BACKEND_FLOW, 1},
};
enum { CASES = sizeof cases / sizeof cases[0], PATHS = 5, PATH_ROOM = 4096 };

/* The bars. */
static const double most_s = 5;
static const double most_mb = 1000;

const char *bench_large_name(int index)
{
    return index < CASES ? cases[index].name : NULL;
}

const char *bench_large_title(int index)
{
    return index < CASES ? cases[index].title : NULL;
}

struct what {
    const struct large_case *item;
    char paths[PATHS][PATH_ROOM]; /* traces, system, configuration, logical, topology */
};

struct measured {
    bool good;
    char error[512];
};

static bool write_text(const char *path, const char *text)
{
    FILE *stream = fopen(path, "w");
    bool good = stream != NULL && fputs(text, stream) >= 0;
    return stream != NULL && fclose(stream) == 0 && good;
}

static bool write_inputs(const struct what *what)
{
    const struct orr_topo_setting settings[] = {
        {"arity", "64"}, {"levels", "3"}, {"bandwidth", "400Gbps"}, {"latency", "500ns"}};
    struct orr_error err = {0};
    struct orr_topo *topo = NULL;
    char text[PATH_ROOM + 512];
    enum orr_status status =
        orr_topo_make("fat-tree", settings, sizeof settings / sizeof settings[0], NULL, &topo, &err);
    if (status == ORR_OK)
        status = orr_topo_write(topo, what->paths[4], &(struct orr_topo_write_options){.form = ORR_TOPO_ASTRA}, &err);
    orr_topo_close(topo);
    if (status == ORR_OK)
        status = orr_gen(&(struct orr_gen_options){.pattern = ORR_PATTERN_COLLECTIVE,
                                                   .type = "all-reduce",
                                                   .bytes = 1 << 20,
                                                   .npus = 64,
                                                   .prefix = what->paths[0]},
                         &err);
    (void)snprintf(text, sizeof text,
                   "TOPOLOGY_FILE %s PACKET_PAYLOAD_SIZE 4096 CC_MODE 12 L2_ACK_INTERVAL 1 L2_CHUNK_SIZE 4000 "
                   "ENABLE_QCN 0 BUFFER_SIZE 32 GLOBAL_T %d\n",
                   what->paths[4], what->item->global_t);
    return status == ORR_OK && write_text(what->paths[2], text) &&
           write_text(what->paths[3], "{\"logical-dims\": [\"64\"]}\n") &&
           write_text(what->paths[1],
                      "{\"scheduling-policy\": \"LIFO\", \"endpoint-delay\": 10, \"active-chunks-per-dimension\": 1, "
                      "\"preferred-dataset-splits\": 1, \"all-reduce-implementation\": [\"ring\"], "
                      "\"all-gather-implementation\": [\"ring\"], \"reduce-scatter-implementation\": [\"ring\"], "
                      "\"all-to-all-implementation\": [\"ring\"], \"collective-optimization\": \"localBWAware\"}\n");
}

static bool simulate(const void *context, void *result)
{
    const struct what *what = context;
    struct measured *out = result;
    struct orr_run_options options;
    orr_run_options_init(&options);
    struct orr_error err = {0};
    struct orr_run *run = NULL;
    options.workload = what->paths[0];
    options.system = what->paths[1];
    options.network = what->paths[2];
    options.logical = what->paths[3];
    options.backend = what->item->backend;
    enum orr_status status = orr_run_open(&options, &run, &err);
    if (status == ORR_OK)
        status = orr_run_execute(run, &err);
    out->good = status == ORR_OK;
    (void)snprintf(out->error, sizeof out->error, "%.500s", err.text);
    orr_run_close(run);
    return true;
}

static bool print_row(const struct large_case *item, double seconds, double peak_mb)
{
    bool met = seconds <= most_s && peak_mb <= most_mb;
    printf("%-17s %.2f s, peak %.0f MB (target %.0f s, %.0f MB: %s)\n", item->name, seconds, peak_mb, most_s, most_mb,
           met ? "MET" : "MISSED");
    return true;
}

bool bench_large_run(int index, unsigned repeat)
{
    static const char *const names[PATHS] = {"w", "system.json", "config.txt", "logical.json", "topology.txt"};
    struct what what = {.item = &cases[index]};
    char folder[BENCH_FOLDER_ROOM];
    if (!bench_folder_make(folder))
        return false;
    for (int i = 0; i < PATHS; i++)
        (void)snprintf(what.paths[i], sizeof what.paths[i], "%s/%s", folder, names[i]);
    bool good = write_inputs(&what);
    double best_s = INFINITY;
    double best_mb = 0;
    for (unsigned i = 0; good && i < repeat; i++) {
        struct measured run = {0};
        struct bench_usage usage = {0};
        good = bench_child(simulate, &what, &run, sizeof run, &usage) && usage.complete && run.good;
        if (!good)
            printf("%-17s failed: %s\n", what.item->name, run.error);
        if (good && usage.user_s + usage.system_s < best_s) {
            best_s = usage.user_s + usage.system_s;
            best_mb = usage.peak_bytes / 1e6;
        }
    }
    good = bench_folder_remove(folder) && good;
    return good && print_row(what.item, best_s, best_mb);
}
