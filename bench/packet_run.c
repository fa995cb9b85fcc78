/* SPDX-License-Identifier: Apache-2.0 */
/* The same files for every packet case, so that a case is its inputs and nothing else. */
#include "bench/packet_run.h"

#include <stdio.h>

struct what {
    const char *folder;
    enum orr_backend backend;
    bool forward;
};

static bool simulate(const void *context, void *result)
{
    const struct what *what = context;
    struct packet_run *out = result;
    char paths[4][4096];
    static const char *const names[] = {"trace", "system.json", "config.txt", "logical.json"};
    for (int i = 0; i < 4; i++)
        snprintf(paths[i], sizeof paths[i], "%s/%s", what->folder, names[i]);
    struct orr_run_options options;
    orr_run_options_init(&options);
    options.workload = paths[0];
    options.system = paths[1];
    options.network = paths[2];
    options.logical = paths[3];
    options.backend = what->backend;
    options.no_fast_forward = !what->forward;
    struct orr_run *run = NULL;
    struct orr_error err = {0};
    enum orr_status status = orr_run_open(&options, &run, &err);
    if (status == ORR_OK)
        status = orr_run_execute(run, &err);
    out->good = status == ORR_OK;
    snprintf(out->error, sizeof out->error, "%.500s", err.text);
    if (out->good) {
        struct orr_network_result network;
        (void)orr_run_network(run, &network);
        out->cycles = orr_run_time_ns(run);
        out->transmissions = network.transmissions;
        out->skipped = network.skipped;
        out->events = orr_run_event_count(run);
        out->in_flight = network.in_flight_most;
    }
    orr_run_close(run);
    return true;
}

bool bench_packet_run_once(const char *folder, enum orr_backend backend, bool forward, struct packet_run *out,
                           struct bench_usage *usage)
{
    const struct what what = {folder, backend, forward};
    return bench_child(simulate, &what, out, sizeof *out, usage) && usage->complete;
}
