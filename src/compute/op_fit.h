/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measurements turned into a set (compute/op_set.h): the constants of the base by Nelder and Mead's search, then the
 * grid of what they leave over. The same rows give the same set, whatever their order in the file was.
 */
#ifndef ORR_COMPUTE_OP_FIT_H
#define ORR_COMPUTE_OP_FIT_H

#include "compute/op_set.h"

/* One measurement. */
struct op_row {
    struct orr_op op;
    uint32_t device;
    enum orr_op_stack stack;
    double us;
    double kernel_us; /* on the device alone, where the table tells both; else 0 */
    uint64_t tensors; /* optimizers: that the elements are spread over; 0: not said, taken for one */
    uint32_t table;   /* which of several it was read from */
};

struct op_rows {
    struct mem *mem;
    struct op_row *list;
    uint32_t count, capacity;
};

void op_rows_free(struct op_rows *rows);
ORR_MUST_CHECK enum orr_status op_rows_add(struct op_rows *rows, const struct op_row *row, struct orr_error *err);
/* By device, stack, operator, dtype, then shape and time: rows of one set are together. */
void op_rows_sort(struct op_rows *rows);
/* How many rows from `first` on are of one set. */
uint32_t op_rows_of_set(const struct op_rows *rows, uint32_t first);
/* A shape's place among `folds`, the same on every machine and device. */
uint32_t op_fold_of(const struct orr_op *op, uint32_t folds);

/* Fits `count` rows of one set and adds it to `sets`; those already there of the same family, stack and device are
 * where the search starts. `known` tells the kernels of calls (stack torch) and may be NULL for others. With `over`,
 * a set of the same operator, the rows correct that set instead of making one from nothing. Fails with
 * ORR_ENOMEM, or ORR_EINVAL when a time is not above 0. */
ORR_MUST_CHECK enum orr_status op_fit_set(const struct op_row *rows, uint32_t count, const char *source,
                                          const struct orr_op_data *known, const struct op_set *over,
                                          struct op_sets *sets, struct orr_error *err);

#endif
