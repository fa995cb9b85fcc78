/* SPDX-License-Identifier: Apache-2.0 */
/* A trace made node by node, as Chakra's Python API does: a compute node, then an all-reduce that waits for it, for two
 * ranks; and the step it makes.
 *
 *     cc make_trace.c $(pkg-config --cflags --libs orrery) -o make_trace && ./make_trace
 */
#include <inttypes.h>
#include <orrery.h>

static enum orr_status write_rank(const char *prefix, uint32_t rank, struct orr_error *err)
{
    static const uint64_t first = 1;
    const struct orr_node nodes[] = {
        {.id = 1, .name = "forward and backward", .kind = ORR_NODE_COMPUTE, .duration_us = 1000},
        {.id = 2,
         .name = "gradients",
         .kind = ORR_NODE_COLLECTIVE,
         .after = &first,
         .after_count = 1,
         .type = "all-reduce",
         .bytes = 1 << 20},
    };
    char path[512];
    struct orr_trace_maker *maker = NULL;
    (void)snprintf(path, sizeof path, "%s.%" PRIu32 ".et", prefix, rank);
    enum orr_status status = orr_trace_make(path, rank, &maker, err);
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0] && status == ORR_OK; i++) {
        status = orr_trace_add(maker, &nodes[i], err);
    }
    struct orr_error ending;
    enum orr_status ended = orr_trace_end(maker, status == ORR_OK, &ending);
    if (status == ORR_OK && ended != ORR_OK) {
        *err = ending;
        return ended;
    }
    return status;
}

int main(int argc, char **argv)
{
    const char *prefix = argc > 1 ? argv[1] : "made";
    struct orr_error err;
    struct orr_run_options options;
    struct orr_run *run = NULL;
    orr_run_options_init(&options);
    options.workload = prefix;
    options.machine = "ring";
    enum orr_status status = write_rank(prefix, 0, &err);
    status = status == ORR_OK ? write_rank(prefix, 1, &err) : status;
    status = status == ORR_OK ? orr_run_open(&options, &run, &err) : status;
    status = status == ORR_OK ? orr_run_execute(run, &err) : status;
    if (status != ORR_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
    } else {
        (void)printf("a step of %" PRIu64 " ns\n", orr_run_time_ns(run));
    }
    orr_run_close(run);
    return orr_status_exit_code(status);
}
