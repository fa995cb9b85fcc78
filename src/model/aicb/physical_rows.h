/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a physical workload and how they are printed (spec simai §5.1). A generator runs twice over the same rows:
 * without a stream, to see that all sizes fit and the rows are not too many, then with one; so that a file is never
 * half written. Problems stick; the generator looks once, at the end.
 */
#ifndef ORR_MODEL_AICB_PHYSICAL_ROWS_H
#define ORR_MODEL_AICB_PHYSICAL_ROWS_H

#include "model/aicb/physical.h"

enum physical_group {
    PHYSICAL_DP,
    PHYSICAL_PP,
    PHYSICAL_TP,
    PHYSICAL_EP,
    PHYSICAL_EP_DP,
    PHYSICAL_ALL,
    PHYSICAL_GROUPS
};

enum {
    PHYSICAL_UNKNOWN = -1, /* a group size or rank that prints as None */
    PHYSICAL_ROWS_MAX = 1 << 25
};

struct physical {
    const struct aicb_options *o;
    struct aicb_shape shape;
    struct aicb_physical_fixes fix;
    struct mem *mem;
    FILE *stream; /* NULL: only counted */
    uint64_t rows;
    uint64_t left_out; /* rows of groups of one rank */
    bool overflow, too_many, no_memory;
};

struct physical_row {
    const char *op; /* "all_reduce" … */
    enum physical_group group;
    int64_t ranks; /* of the group */
    int64_t bytes;
    const char *stage;
    int64_t dst, src;       /* PHYSICAL_UNKNOWN: None */
    const char *additional; /* NULL: nothing */
    bool in_64ths;          /* `bytes` counts 64ths of a byte, printed as Python prints a float */
};

/* The usual row: nobody in particular sends or receives. Left out where lone groups are and the group has one rank. */
void physical_collective(struct physical *p, const char *op, enum physical_group group, int64_t ranks, int64_t bytes,
                         const char *stage);
void physical_broadcast(struct physical *p, enum physical_group group, int64_t ranks, int64_t bytes, const char *stage);
void physical_put(struct physical *p, struct physical_row row);

/* A product of a three- or two-dimensional operand (`a` 0: two) with a two-dimensional one. `stage` and `name` are
 * printed one after the other. */
struct physical_product {
    int64_t a, b, c;
    int64_t d, e;
};
void physical_compute(struct physical *p, struct physical_product product, const char *stage, const char *name);
void physical_epoch_end(struct physical *p);

int64_t physical_mul(struct physical *p, int64_t a, int64_t b);
int64_t physical_sum(struct physical *p, int64_t a, int64_t b);

/* Whether a generator should go on. */
bool physical_good(const struct physical *p);

/* ---- the families ---- */

struct physical_parts;

/* What a family does in the four places of §5.2. `state` is its own. */
struct physical_family {
    void (*init)(struct physical *p, void *state);
    void (*forward)(struct physical *p, void *state);
    void (*backward)(struct physical *p, void *state);
    void (*step)(struct physical *p, void *state);
    void (*pipeline)(struct physical *p, void *state); /* NULL: there is none */
};

extern const struct physical_family physical_megatron, physical_zero_12, physical_zero_3, physical_test;

#endif
