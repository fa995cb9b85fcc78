/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bounds an operator, as physics: how many tiles fall on how many units in how many waves, how many bytes cross
 * the memory's pins, under which time no launch goes. A dozen constants a set of measurements, each with a meaning;
 * what they leave over is the business of compute/op_set.h. Pure functions; allocates nothing, knows no data.
 */
#ifndef ORR_COMPUTE_OP_BASE_H
#define ORR_COMPUTE_OP_BASE_H

#include "compute/device.h"
#include "orrery/op.h"

/* The last is no kind's: it is what a call adds to its kernel. */
enum op_family { OP_FAMILY_GEMM, OP_FAMILY_ATTENTION, OP_FAMILY_STREAM, OP_FAMILY_CALL, OP_FAMILIES };

enum { OP_CONSTANTS = 14, OP_AXES = 5 };

/* One row a constant: name, where the fit starts, bounds, meaning. The fit, the data file and `op list` use the rows.
 */
struct op_constant {
    const char *name;
    double initial, least, most;
    const char *text;
};

struct op_family_row {
    const char *name;
    uint32_t count;
    struct op_constant constants[OP_CONSTANTS];
};

extern const struct op_family_row op_families[OP_FAMILIES];

enum op_family op_family_of(enum orr_op_kind kind);
/* The kind whose measurements hold for the operator: attention over all keys has its own. */
enum orr_op_kind op_kind_of(const struct orr_op *op);
const char *op_kind_name(enum orr_op_kind kind);
const char *op_dtype_name(enum orr_op_dtype dtype);
const char *op_stack_name(enum orr_op_stack stack);
uint32_t op_dim_count(enum orr_op_kind kind);
/* The name of dimension `index`, as a word of `length` bytes. */
const char *op_dim_name(enum orr_op_kind kind, uint32_t index, size_t *length);

/* What the operator has to do, whoever does it. */
struct op_work {
    double flops; /* on the matrix units */
    double bytes; /* that must be read or written at least once */
};
struct op_work op_work_of(const struct orr_op *op);

/* A device as this sees it: rates a microsecond. */
struct op_machine {
    double flops;  /* of the type of number */
    double memory; /* bytes */
    double units;
    double l2;     /* bytes */
    double slower; /* a unit's time for the same work against one of those that the constants were fitted on */
    double matrix; /* side of the array that a unit multiplies with: narrower products leave a part of it idle */
};
struct op_machine op_machine_of(const struct device *device, enum orr_op_dtype dtype);
/* Whether the device's data sheet has a rate for the type; else that of a wider one is taken. */
bool op_has_type(const struct device *device, enum orr_op_dtype dtype);

struct op_base {
    double us;     /* on the device */
    double launch; /* of it, whatever the shape */
    enum orr_op_bound bound;
};
struct op_base op_base_of(const struct orr_op *op, const struct op_machine *machine,
                          const double constants[OP_CONSTANTS]);

/* The time of one lone call from that of its kernel, by the constants of OP_FAMILY_CALL. */
double op_call_of(double kernel_us, const double constants[OP_CONSTANTS]);

/* Where the shape lies among others of its kind: OP_AXES coordinates, logarithms to base 2 but for the share of key
 * heads; and how many of them the kind has. */
uint32_t op_coordinates(const struct orr_op *op, double at[OP_AXES]);

/* The operator that lies at levels of the axes, of the kind, dtype and form of `like`. */
struct orr_op op_at(const struct orr_op *like, const double levels[OP_AXES]);

/* Level of an axis as a dimension's value: what op_coordinates takes the logarithm of. `OP_KV_AXIS` is linear. */
enum { OP_KV_AXIS = 3, OP_KV_OWN = 4 }; /* of attention: 0 to 3: 1, 2, 4, 8 key heads; 4: as many as heads */

#endif
