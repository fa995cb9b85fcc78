/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of operators, one a row: which operator on which device in which type of number, its shape, and its time where
 * it was measured. The shape comes in the columns that the operator's dimensions are called (m, n, k; batch, seq,
 * heads, kv_heads, head_dim; rows, cols ...), in p0 to p3, or in one column "shape" (16x128x2560x1536, or B32 C256 K64
 * H14 W14 R3 stride1 for a convolution). docs/operators.md has all columns.
 */
#ifndef ORR_COMPUTE_OP_TABLE_H
#define ORR_COMPUTE_OP_TABLE_H

#include "compute/op_fit.h"
#include "io/csv.h"

enum { OP_COLUMNS = 40 };

struct op_table {
    struct csv_reader *reader;
    const char *path;
    struct orr_op_table_options defaults;
    bool is_positional;
    int32_t columns[OP_COLUMNS]; /* by what they are; -1: not there */
};

/* Opens the table and looks its columns up. Fails as csv_reader_open, and with ORR_EINVAL where neither a column nor
 * `options` says operator or device. `options` lives as long as the table. */
ORR_MUST_CHECK enum orr_status op_table_open(const struct orr_op_table_options *options, struct mem *mem,
                                             struct op_table *table, struct orr_error *err);
void op_table_close(struct op_table *table);

/* The next row; `row->us` is 0 where it has no time. `csv` are its fields as they stand. */
ORR_MUST_CHECK enum orr_status op_table_next(struct op_table *table, struct op_row *row, struct csv_row *csv,
                                             bool *more, struct orr_error *err);
/* The same of fields that were read already: fails with ORR_EINVAL where they cannot be understood. */
ORR_MUST_CHECK enum orr_status op_table_row(const struct op_table *table, const struct csv_row *csv, struct op_row *row,
                                            struct orr_error *err);

#endif
