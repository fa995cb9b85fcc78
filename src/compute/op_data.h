/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All sets that are at hand, and who answers for whom: for each device, stack, operator and dtype the set that is
 * nearest to it, worked out once when the data is opened. Behind struct orr_op_data of orrery/op.h, which owns
 * everything here; nothing changes after opening.
 */
#ifndef ORR_COMPUTE_OP_DATA_H
#define ORR_COMPUTE_OP_DATA_H

#include "compute/op_set.h"

enum { OP_HELPERS = 2, OP_DEVICES_MOST = 256 };

struct op_answer {
    const struct op_set *set;                 /* NULL: constants of the family alone */
    const struct op_set *helpers[OP_HELPERS]; /* other relatives' sets, whose noise is not the set's; or NULL */
    struct op_machine machine;
    enum orr_op_method method; /* at best */
    bool has_field;            /* the set is of the operator asked for: its grid holds */
    const struct op_set *call; /* stack torch: what a call adds to its kernel; or NULL */
    bool has_call_field;       /* its grid holds too */
};

struct orr_op_data {
    struct op_sets sets;
    struct op_answer *answers; /* by device, stack, operator, dtype */
};

/* With the sets that the caller has read into `sets`, which the data takes over, also on failure (ORR_ENOMEM).
 * `hidden`: devices that are taken for never measured, or NULL: for judging how well they are known from others. */
ORR_MUST_CHECK enum orr_status op_data_make(struct op_sets *sets, const bool *hidden, struct orr_op_data **data,
                                            struct orr_error *err);

/* Ends the data and gives its sets back. */
struct op_sets op_data_release(struct orr_op_data *data);

const struct op_answer *op_data_answer(const struct orr_op_data *data, uint32_t device, enum orr_op_stack stack,
                                       enum orr_op_kind kind, enum orr_op_dtype dtype);

/* The stack that is meant where nobody says: docs/operators.md has the rule. `name` is the device as it was written. */
enum orr_op_stack op_stack_meant(enum orr_op_kind kind, const char *name, bool is_positional);

/* What the library carries: one packed file a device. */
struct op_shipped {
    const char *name;
    const unsigned char *bytes, *end;
};
extern const struct op_shipped op_shipped[];
extern const uint32_t op_shipped_count;

/* Reads all of that. */
ORR_MUST_CHECK enum orr_status op_sets_shipped(struct op_sets *sets, struct orr_error *err);

#endif
