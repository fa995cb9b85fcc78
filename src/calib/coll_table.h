/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of measured collectives, a row each: columns gpu, nodes, gpus_per_node, op, bytes, and where there are source,
 * nccl, us_median, us_best; others are carried along. What a row means (which GPU, which network, which question) is
 * settled here, for the table of predictions, the comparison and the fit alike.
 */
#ifndef ORR_CALIB_COLL_TABLE_H
#define ORR_CALIB_COLL_TABLE_H

#include "base/mem.h"
#include "coll/timing/fit.h"
#include "io/csv.h"

/* Columns by name: field, heading, whether it must be there. */
#define COLL_COLUMNS(X)                                                                                                \
    X(SOURCE, "source", false)                                                                                         \
    X(GPU, "gpu", true)                                                                                                \
    X(NCCL, "nccl", false)                                                                                             \
    X(NODES, "nodes", true)                                                                                            \
    X(GPUS, "gpus_per_node", true)                                                                                     \
    X(OP, "op", true)                                                                                                  \
    X(BYTES, "bytes", true)                                                                                            \
    X(MEDIAN, "us_median", false)                                                                                      \
    X(BEST, "us_best", false)

#define COLL_X(name, word, needed) COLL_COLUMN_##name,
enum coll_column { COLL_COLUMNS(COLL_X) COLL_COLUMN_COUNT };
#undef COLL_X

struct coll_table {
    const char *path;
    struct csv_reader *reader;
    uint32_t places[COLL_COLUMN_COUNT]; /* UINT32_MAX: not there */
};

/* ORR_EINVAL names the column that is missing (gpu may be where `has_gpu`: the caller says it) or there twice. */
ORR_MUST_CHECK enum orr_status coll_table_open(const char *path, bool has_gpu, struct mem *mem,
                                               struct coll_table *table, struct orr_error *err);
void coll_table_close(struct coll_table *table);

/* The text of a field, "" where the table has no such column. */
const char *coll_table_field(const struct coll_table *table, const struct csv_row *row, enum coll_column column);

/*
 * What a row asks, on which machine; `machine` is what the caller says of it (struct timing_machine with zeros:
 * nothing), which goes before the row. `us` is what was measured, 0 where the row does not say: the median, or the best
 * where the source is of many settings with a wide spread. ORR_EINVAL says what of the row is not known, without its
 * place.
 */
ORR_MUST_CHECK enum orr_status coll_row_settle(const struct coll_table *table, const struct csv_row *row,
                                               const struct timing_machine *machine, struct timing_row *settled,
                                               struct orr_error *err);

#endif
