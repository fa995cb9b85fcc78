/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which column of a user's table means what, and in which unit: from the names in the header, or from a map such as
 * "id=op,duration_ns=time,deps=7" whose right sides are names of columns or their numbers from 1. One table of meanings
 * serves the header, the map and the messages.
 */
#ifndef ORR_CONVERT_CSV_COLUMNS_H
#define ORR_CONVERT_CSV_COLUMNS_H

#include "base/notes.h"
#include "io/csv.h"

/* identifier, kind of unit it is given in, bare unit, names it goes by in a header. Where the name itself ends in a
 * unit (duration_ms, "start (ns)"), that is the unit. */
#define CSV_COLUMNS(X)                                                                                                 \
    X(ID, NONE, "", "id", "node", "node_id")                                                                           \
    X(NAME, NONE, "", "name", "op", "operation")                                                                       \
    X(RANK, NONE, "", "rank", "npu", "device")                                                                         \
    X(TYPE, NONE, "", "type", "node_type", "kind")                                                                     \
    X(DURATION, TIME, "us", "duration", "dur", "runtime")                                                              \
    X(START, TIME, "us", "start", "ts", "start_time")                                                                  \
    X(DEPS, NONE, "", "deps", "depends_on", "dependencies")                                                            \
    X(BYTES, SIZE, "B", "bytes", "size", "comm_size")                                                                  \
    X(COMM, NONE, "", "comm", "collective", "comm_type")                                                               \
    X(GROUP, NONE, "", "group", "pg_name", "process_group")                                                            \
    X(STREAM, NONE, "", "stream", "queue", "thread")                                                                   \
    X(PEER, NONE, "", "peer", "remote", "partner")                                                                     \
    X(TAG, NONE, "", "tag", "comm_tag", "message_tag")                                                                 \
    X(ROOT, NONE, "", "root", "root_rank", "comm_root")                                                                \
    X(STEP, NONE, "", "step", "iteration", "iter")                                                                     \
    X(OPS, NONE, "", "num_ops", "ops", "flops")

enum csv_column {
#define CSV_X(id, kind, bare, ...) CSV_COLUMN_##id,
    CSV_COLUMNS(CSV_X)
#undef CSV_X
        CSV_COLUMN_COUNT
};

enum { CSV_ABSENT = UINT32_MAX };

struct csv_columns {
    uint32_t at[CSV_COLUMN_COUNT];      /* field of a row, from 0; CSV_ABSENT */
    uint64_t unit[CSV_COLUMN_COUNT];    /* of a bare number, in ns or bytes; 1 where there is no unit */
    const char *name[CSV_COLUMN_COUNT]; /* for messages: "duration" */
};

/* `map` may be NULL. ORR_EINVAL for a map that names no column or no meaning, or a header without any known name;
 * columns with a name almost known are noted. */
ORR_MUST_CHECK enum orr_status csv_columns_find(const struct csv_row *header, const char *map, const char *path,
                                                struct notes *notes, struct csv_columns *columns,
                                                struct orr_error *err);

#endif
