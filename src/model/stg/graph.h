/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbolic tensors and the graph they form: a row of a sheet in memory. A tensor says what operation makes it, from
 * which one or two tensors, in which shape it wants them (`shape`, and as `hidden` what it takes as partial sums), and,
 * once solved, the shape it has itself. Everything is a number: tensors index an array, names are interned, shapes are
 * lists of expressions kept once each, so that two shapes are equal when their numbers are.
 *
 * A space owns what graphs share (names, expressions, shapes); graphs own their tensors. Knows no file, no model and no
 * rank.
 */
#ifndef ORR_MODEL_STG_GRAPH_H
#define ORR_MODEL_STG_GRAPH_H

#include "base/intern.h"
#include "model/stg/expr.h"

enum { STG_NONE = UINT32_MAX };

/* One row an operation: its word in a sheet, and whether it counts multiply-adds. */
#define STG_OPS(X)                                                                                                     \
    X(PLACEHOLDER, "T")                                                                                                \
    X(IDENTITY, "I")                                                                                                   \
    X(ADD, "A")                                                                                                        \
    X(EINSUM, "M")                                                                                                     \
    X(ELEMENT, "E")                                                                                                    \
    X(ELEMENT2, "E2")                                                                                                  \
    X(RESHAPE, "R")                                                                                                    \
    X(BROADCAST, "B")                                                                                                  \
    X(SLICE, "SLICE")                                                                                                  \
    X(CONCAT, "C")                                                                                                     \
    X(CUSTOM, "CUSTOM")                                                                                                \
    X(SHADOW, "S")

enum stg_op {
#define STG_OP(id, word) STG_OP_##id,
    STG_OPS(STG_OP)
#undef STG_OP
        STG_OP_COUNT
};

const char *stg_op_word(enum stg_op op);

struct stg_shape {
    uint32_t first, count; /* in `dims` of the space */
};

struct stg_space {
    struct mem *mem;
    struct stg_exprs exprs;
    struct intern texts;
    struct intern shape_keys; /* a shape's number is that of its key */
    struct stg_shape *shapes;
    uint32_t *dims;
    uint32_t shape_capacity, dim_count, dim_capacity;
};

struct stg_tensor {
    uint32_t name; /* in the texts, without its revision */
    uint32_t revision;
    uint32_t place;    /* in the texts: "file:line" that made it, for messages */
    uint32_t letters;  /* EINSUM: "ab,bc->ac" in the texts */
    uint32_t amount;   /* an expression: ELEMENT's factor, SLICE's size, BROADCAST's factor, CUSTOM's operations */
    uint32_t axis;     /* BROADCAST, SLICE, CONCAT */
    uint32_t x[2];     /* tensors it is made from, or STG_NONE */
    uint32_t shape[2]; /* as it wants them; STG_NONE where there is none */
    uint32_t hidden[2];
    uint32_t grad_of; /* the tensor this is the gradient of, or STG_NONE */
    uint32_t first_dep, dep_count;
    uint32_t y_shape, y_hidden, ops; /* once solved */
    enum stg_op op;
    bool require_grads, is_input, is_output;
};

struct stg_graph {
    struct stg_space *space;
    struct stg_tensor *tensors;
    uint32_t *deps;    /* further tensors that must be there first */
    uint32_t *by_name; /* by text: the tensor of revision 0, or STG_NONE */
    uint32_t count, capacity, dep_count, dep_capacity, by_name_capacity;
};

void stg_space_init(struct stg_space *space, struct mem *mem);
void stg_space_free(struct stg_space *space);
enum orr_status stg_space_error(const struct stg_space *space, struct orr_error *err); /* memory was refused */

/* The number of a text; STG_NONE when memory is refused. */
uint32_t stg_space_text(struct stg_space *space, const char *text, size_t length);
const char *stg_space_name(const struct stg_space *space, uint32_t text);

enum { STG_DIMS_MAX = 16 };

/* The number of a shape; STG_NONE when memory is refused or a dimension is STG_NO_EXPR. */
uint32_t stg_space_shape(struct stg_space *space, const uint32_t *dims, uint32_t count);
static inline const uint32_t *stg_shape_dims(const struct stg_space *space, uint32_t shape, uint32_t *count)
{
    *count = space->shapes[shape].count;
    return space->dims + space->shapes[shape].first;
}
/* All dimensions multiplied; STG_NO_EXPR as the expressions say. */
uint32_t stg_shape_size(struct stg_space *space, uint32_t shape);
uint32_t stg_shape_substitute(struct stg_space *space, uint32_t shape, const uint32_t to[STG_SYMBOL_COUNT]);

void stg_graph_init(struct stg_graph *graph, struct stg_space *space);
void stg_graph_free(struct stg_graph *graph);

/* A tensor of no operation and no shape, at the end; NULL when memory is refused. Valid until the next one is made. */
struct stg_tensor *stg_graph_add(struct stg_graph *graph, uint32_t name, uint32_t *index);
uint32_t stg_graph_find(const struct stg_graph *graph, const char *name, size_t length);
/* Appends to the dependencies of the tensor made last. */
ORR_MUST_CHECK bool stg_graph_add_dep(struct stg_graph *graph, uint32_t tensor, uint32_t dep);

/* Copies all of `part`, every name with `prefix` before it and every symbol replaced as `to` says. The first copy's
 * index is the count before. */
ORR_MUST_CHECK enum orr_status stg_graph_append(struct stg_graph *graph, const struct stg_graph *part,
                                                const char *prefix, const uint32_t to[STG_SYMBOL_COUNT],
                                                struct orr_error *err);

/* Makes the placeholder `to`, an input, the identity of the output `from`. Names are "a.b"; ORR_EINVAL when one is not
 * there or is no such port. An output may be joined many times when `shared`. */
ORR_MUST_CHECK enum orr_status stg_graph_join(struct stg_graph *graph, const char *from, const char *to, bool shared,
                                              struct orr_error *err);

/* Works out y_shape, y_hidden and ops of one tensor from its own row (ops.c). ORR_EINVAL when the row makes no sense,
 * ORR_ERANGE, ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status stg_tensor_solve(struct stg_space *space, struct stg_tensor *tensor,
                                                struct orr_error *err);

/* The part of the name behind its last dot begins with "d": by convention a gradient, or something made for one. */
bool stg_tensor_is_backward(const struct stg_space *space, const struct stg_tensor *tensor);

#endif
