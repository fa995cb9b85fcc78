/* SPDX-License-Identifier: Apache-2.0 */
/* One series an operation and number of ranks, of all sizes and of those the run had, each as `coll time` writes it. */
#include "api/report_times.h"

#include <string.h>

#include "coll/timing/timing.h"
#include "io/json_write.h"
#include "run/session.h"

enum { TIMES_FIRST = 1024, TIMES_DOUBLINGS = 24 };

struct times_writer {
    const struct orr_run *run;
    const struct topo_server *server;
    char machine[80];
    FILE *stream;
    uint32_t series;
};

static bool times_op(const char *type, enum orr_coll_op *op)
{
    for (int i = 0; i < ORR_COLL_OP_COUNT; i++) {
        if (strcmp(orr_coll_op_name((enum orr_coll_op)i), type) == 0) {
            *op = (enum orr_coll_op)i;
            return true;
        }
    }
    return false;
}

/* Traces tell one rank's part of an all-gather, nccl-tests the whole. */
static uint64_t times_bytes(const struct orr_collective_result *row, enum orr_coll_op op)
{
    return op == ORR_COLL_OP_ALL_GATHER ? row->bytes * row->group_size : row->bytes;
}

static bool times_same(const struct orr_collective_result *a, const struct orr_collective_result *b)
{
    return a->group_size == b->group_size && strcmp(a->type, b->type) == 0;
}

/* The rows from `first` on that are of its type and group size. */
static enum orr_status times_write_series(struct times_writer *times, uint32_t first, struct orr_coll_sweep *sweep,
                                          struct orr_error *err)
{
    struct orr_collective_result head;
    struct orr_collective_result row;
    (void)orr_run_collective(times->run, first, &head);
    if (times->series++ == 0) {
        (void)fprintf(times->stream, "{\"kind\": \"times\", \"schema_version\": 1, \"machine\": \"%s\", \"series\": [",
                      times->machine);
    } else {
        (void)fputs(",\n", times->stream);
    }
    (void)fprintf(times->stream, "{\"ranks\": %u, \"all\": ", head.group_size);
    enum orr_status status = orr_coll_sweep(sweep, times->stream, err);
    (void)fputs(", \"own\": [", times->stream);
    sweep->last_bytes = 0;
    for (uint32_t i = first; status == ORR_OK && orr_run_collective(times->run, i, &row); i++) {
        if (times_same(&row, &head) && row.bytes > 0) {
            (void)fputs(i == first ? "" : ",\n", times->stream);
            sweep->question.bytes = times_bytes(&row, sweep->question.op);
            status = orr_coll_sweep(sweep, times->stream, err);
        }
    }
    (void)fputs("]}", times->stream);
    return status;
}

static bool times_is_first(const struct orr_run *run, uint32_t index, const struct orr_collective_result *row)
{
    struct orr_collective_result before;
    for (uint32_t i = 0; i < index && orr_run_collective(run, i, &before); i++) {
        if (times_same(&before, row) && before.bytes > 0) {
            return false;
        }
    }
    return true;
}

enum orr_status api_report_times(const struct orr_run *run, FILE *stream, struct orr_error *err)
{
    const struct run_machine *named = &run->machine.machine;
    struct times_writer times = {.run = run, .server = named->server, .stream = stream};
    struct orr_collective_result row;
    struct orr_coll_timer *timer = NULL;
    if (times.server == NULL || *times.server->device == '\0' || named->line != NULL) {
        return ORR_OK;
    }
    uint32_t each = times.server->gpus;
    (void)snprintf(times.machine, sizeof times.machine, "%s:%u", times.server->name,
                   (run->config.dims.ranks + each - 1) / each);
    struct orr_coll_machine machine = {.machine = times.machine};
    if (orr_coll_timer_open(&machine, &timer, NULL) != ORR_OK) {
        return ORR_OK; /* a GPU of which no collectives are known */
    }
    orr_coll_timer_close(timer);
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; status == ORR_OK && orr_run_collective(run, i, &row); i++) {
        struct orr_coll_sweep sweep = {
            .machine = machine, .last_bytes = (uint64_t)TIMES_FIRST << TIMES_DOUBLINGS, .json = true};
        sweep.question.bytes = TIMES_FIRST;
        if (row.bytes > 0 && times_op(row.type, &sweep.question.op) &&
            timing_place_whole(row.group_size, run->config.dims.ranks, each, &sweep.question) &&
            times_is_first(run, i, &row)) {
            status = times_write_series(&times, i, &sweep, err);
        }
    }
    (void)fputs(times.series > 0 ? "]}\n" : "", stream);
    return status;
}
