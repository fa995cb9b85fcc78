/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which plans there are for a job: every combination of degrees that divides the GPUs, the heads, the layers and the
 * batch. What each takes is not known here.
 */
#ifndef ORR_PLANNER_SPACE_H
#define ORR_PLANNER_SPACE_H

#include "base/mem.h"
#include "orrery/train.h"

struct space {
    struct orr_train_plan *plans;
    uint32_t count, capacity;
};

/* What is not searched. */
struct space_fixed {
    uint32_t bits; /* of enum space_degree */
    struct orr_train_plan plan;
};

/* degree, name of its parameter, field of struct orr_train_plan */
#define SPACE_DEGREES(X)                                                                                               \
    X(TP, "tp", tp)                                                                                                    \
    X(PP, "pp", pp)                                                                                                    \
    X(CP, "cp", cp)                                                                                                    \
    X(EP, "ep", ep)                                                                                                    \
    X(VPP, "vpp", vpp)                                                                                                 \
    X(ZERO, "zero", zero)                                                                                              \
    X(MICRO_BATCH, "micro-batch", micro_batch)                                                                         \
    X(RECOMPUTE, "recompute", recompute)                                                                               \
    X(ORDER, "order", order)

enum space_degree {
#define SPACE_X(symbol, name, field) SPACE_##symbol,
    SPACE_DEGREES(SPACE_X)
#undef SPACE_X
        SPACE_DEGREE_COUNT
};

/* Reads "tp=8,recompute=none". ORR_EINVAL names what can be fixed. */
ORR_MUST_CHECK enum orr_status space_fix(const char *text, struct space_fixed *fixed, struct orr_error *err);

/* `base` has gpus, global_batch, seq, dtype, schedule, overlap and so on; the plans are copies of it with degrees. Of
 * those with the same degrees, fewer GPUs to a model come first. */
ORR_MUST_CHECK enum orr_status space_list(const struct orr_train_model *model, const struct orr_train_plan *base,
                                          const struct space_fixed *fixed, struct mem *mem, struct space *space,
                                          struct orr_error *err);
void space_free(struct space *space, struct mem *mem);

#endif
