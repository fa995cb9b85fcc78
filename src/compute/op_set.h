/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was measured of one operator in one type of number on one device by one stack, as a model: the constants of
 * compute/op_base.h, and on a grid of shapes how far the measurement (or, between measurements, what its neighbours
 * make likely) lies from them. The grid is filled when the data is fitted (compute/op_fit.h), so that asking is a few
 * multiplications.
 *
 * A file of sets is text that people can read, then the cells of all grids, packed with zstd:
 *
 *     orrery-ops 1
 *     set gemm bf16 serving h100
 *     source ai-dynamo/aiconfigurator 095f58a, Apache-2.0
 *     rows 8484 median 0.021 p90 0.072
 *     constants launch=2.55 peak=0.84 ...
 *     axis 16 17 32 ...
 *     ...
 *     end
 */
#ifndef ORR_COMPUTE_OP_SET_H
#define ORR_COMPUTE_OP_SET_H

#include "base/mem.h"
#include "compute/op_base.h"

enum { OP_LEVELS = 64, OP_CELLS_MOST = 1 << 18, OP_SOURCE_MOST = 200 };

struct op_axis {
    uint32_t count;
    double levels[OP_LEVELS]; /* values of the dimension, ascending */
    double at[OP_LEVELS];     /* their coordinates */
};

/* A cell: log(measured / base) in steps of 1/1024, times two, plus one where it was measured itself. */
#define OP_CELL_STEP 1024.0

struct op_set {
    enum orr_op_kind kind;
    enum orr_op_dtype dtype;
    enum orr_op_stack stack;
    uint32_t device;
    double constants[OP_CONSTANTS];
    uint32_t axis_count;
    struct op_axis axes[OP_AXES];
    uint32_t cell_count;
    int16_t *cells; /* the last axis runs fastest */
    uint32_t rows;
    double median, p90; /* of |predicted / measured - 1|, each row predicted from the others */
    char source[OP_SOURCE_MOST];
};

/* Whose constants it has. */
enum op_family op_set_family(enum orr_op_stack stack, enum orr_op_kind kind);

/* Where the shape lies in the set's grid. */
struct op_place {
    double residual; /* to add to log(base) */
    bool is_measured, is_inside;
    uint32_t cell; /* the nearest one */
};
struct op_place op_set_place(const struct op_set *set, const double at[OP_AXES]);

/* The measured cell nearest to `cell` among those a few levels away along one axis, as an operator; false: none is. */
bool op_set_nearest(const struct op_set *set, uint32_t cell, struct orr_op *op);

/* The levels of a cell. */
void op_set_levels(const struct op_set *set, uint32_t cell, double levels[OP_AXES]);
/* Fills `at` from `levels` and counts the cells; false: more than OP_CELLS_MOST. */
bool op_set_lay(struct op_set *set);

struct op_sets {
    struct mem mem;
    struct op_set **list;
    uint32_t count, capacity;
};

void op_sets_free(struct op_sets *sets);
/* A set of its own, cells zeroed, from the head of `like`. NULL: no memory. */
struct op_set *op_sets_add(struct op_sets *sets, const struct op_set *like);

/* `bytes` are those of a file, unpacked. ORR_EINVAL names `name` and the line. */
ORR_MUST_CHECK enum orr_status op_sets_parse(struct op_sets *sets, const char *name, const char *bytes, size_t size,
                                             struct orr_error *err);
ORR_MUST_CHECK enum orr_status op_sets_read(struct op_sets *sets, const char *path, struct orr_error *err);
/* Those of one device, or of all (device_count), from number `first` on. */
ORR_MUST_CHECK enum orr_status op_sets_write(const struct op_sets *sets, uint32_t first, uint32_t device,
                                             const char *path, struct orr_error *err);

#endif
