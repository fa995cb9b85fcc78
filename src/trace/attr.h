/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attributes of a Chakra node that mean something to a simulation, and the kinds of value an attribute can carry:
 * one table each, shared by the fast reader, the lossless reader's checks and the texts shown to people.
 *
 * An attribute is found by name, the first of that name wins, and wherever an integer is meant every integer kind is
 * accepted (spec analytical §4).
 */
#ifndef ORR_TRACE_ATTR_H
#define ORR_TRACE_ATTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* identifier, name in the file, what its value must be. The three spellings of a root are one attribute. */
#define TRACE_ATTRS(X)                                                                                                 \
    X(IS_CPU_OP, "is_cpu_op", INTEGER)                                                                                 \
    X(COMM_TYPE, "comm_type", INTEGER)                                                                                 \
    X(COMM_SIZE, "comm_size", SIZE)                                                                                    \
    X(COMM_SRC, "comm_src", INTEGER)                                                                                   \
    X(COMM_DST, "comm_dst", INTEGER)                                                                                   \
    X(COMM_TAG, "comm_tag", INTEGER)                                                                                   \
    X(COMM_PRIORITY, "comm_priority", INTEGER)                                                                         \
    X(TENSOR_SIZE, "tensor_size", SIZE)                                                                                \
    X(NUM_OPS, "num_ops", SIZE)                                                                                        \
    X(INVOLVED_DIM, "involved_dim", FLAGS)                                                                             \
    X(PG_NAME, "pg_name", TEXT)                                                                                        \
    X(ROOT, "root_rank", INTEGER)

enum trace_attr {
#define TRACE_X(id, name, shape) TRACE_ATTR_##id,
    TRACE_ATTRS(TRACE_X)
#undef TRACE_X
        TRACE_ATTR_COUNT /* also: none of them */
};

enum trace_attr_shape {
    TRACE_SHAPE_INTEGER, /* any integer kind, or bool */
    TRACE_SHAPE_SIZE,    /* the same, not negative */
    TRACE_SHAPE_FLAGS,   /* a list of bools or of integers, at most 64 */
    TRACE_SHAPE_TEXT,    /* a string, or an integer standing for its decimal text */
};

/* TRACE_ATTR_COUNT when the name means nothing to us. */
enum trace_attr trace_attr_find(const char *name, size_t length);
const char *trace_attr_name(enum trace_attr attr);
enum trace_attr_shape trace_attr_shape(enum trace_attr attr);
const char *trace_attr_shape_text(enum trace_attr_shape shape); /* "an integer", … */

/* The value kinds: field number of the single value in the attribute message (its list has the next number), name,
 * wire type, whether it is an integer (spec analytical §4.1). */
#define TRACE_VALUES(X)                                                                                                \
    X(DOUBLE, 3, "double", 1, false)                                                                                   \
    X(FLOAT, 5, "float", 5, false)                                                                                     \
    X(INT32, 7, "int32", 0, true)                                                                                      \
    X(INT64, 9, "int64", 0, true)                                                                                      \
    X(UINT32, 11, "uint32", 0, true)                                                                                   \
    X(UINT64, 13, "uint64", 0, true)                                                                                   \
    X(SINT32, 15, "sint32", 0, true)                                                                                   \
    X(SINT64, 17, "sint64", 0, true)                                                                                   \
    X(FIXED32, 19, "fixed32", 5, true)                                                                                 \
    X(FIXED64, 21, "fixed64", 1, true)                                                                                 \
    X(SFIXED32, 23, "sfixed32", 5, true)                                                                               \
    X(SFIXED64, 25, "sfixed64", 1, true)                                                                               \
    X(BOOL, 27, "bool", 0, true)                                                                                       \
    X(STRING, 29, "string", 2, false)                                                                                  \
    X(BYTES, 31, "bytes", 2, false)

enum trace_value {
    TRACE_VALUE_NONE = 0, /* the attribute has no value */
#define TRACE_X(id, number, name, wire, integer) TRACE_VALUE_##id = (number), TRACE_VALUE_##id##_LIST = (number) + 1,
    TRACE_VALUES(TRACE_X)
#undef TRACE_X
        TRACE_VALUE_END
};

/* "int64", "int64 list", "no value". `value` is a field number below TRACE_VALUE_END. */
const char *trace_value_name(uint32_t value);
bool trace_value_is_integer(uint32_t value);
bool trace_value_is_integer_list(uint32_t value);

#endif
