/* SPDX-License-Identifier: Apache-2.0 */
/* Names are told apart by length first: of the dozen names, no more than four share one, and most attributes of a
 * converted trace (rf_id, fw_parent, tid, …) are dismissed without comparing a byte. */
#include "trace/attr.h"

#include <string.h>

static bool trace_attr_same(const char *name, const char *known, size_t length)
{
    return memcmp(name, known, length) == 0;
}

static enum trace_attr find_of_nine(const char *name)
{
    if (trace_attr_same(name, "is_cpu_op", 9)) {
        return TRACE_ATTR_IS_CPU_OP;
    }
    if (trace_attr_same(name, "comm_type", 9)) {
        return TRACE_ATTR_COMM_TYPE;
    }
    if (trace_attr_same(name, "comm_size", 9)) {
        return TRACE_ATTR_COMM_SIZE;
    }
    return trace_attr_same(name, "root_rank", 9) || trace_attr_same(name, "comm_root", 9) ? TRACE_ATTR_ROOT
                                                                                          : TRACE_ATTR_COUNT;
}

static enum trace_attr find_of_eight(const char *name)
{
    if (trace_attr_same(name, "comm_src", 8)) {
        return TRACE_ATTR_COMM_SRC;
    }
    if (trace_attr_same(name, "comm_dst", 8)) {
        return TRACE_ATTR_COMM_DST;
    }
    return trace_attr_same(name, "comm_tag", 8) ? TRACE_ATTR_COMM_TAG : TRACE_ATTR_COUNT;
}

enum trace_attr trace_attr_find(const char *name, size_t length)
{
    switch (length) {
    case 4:
        return trace_attr_same(name, "root", 4) ? TRACE_ATTR_ROOT : TRACE_ATTR_COUNT;
    case 7:
        if (trace_attr_same(name, "pg_name", 7)) {
            return TRACE_ATTR_PG_NAME;
        }
        return trace_attr_same(name, "num_ops", 7) ? TRACE_ATTR_NUM_OPS : TRACE_ATTR_COUNT;
    case 8:
        return find_of_eight(name);
    case 9:
        return find_of_nine(name);
    case 11:
        return trace_attr_same(name, "tensor_size", 11) ? TRACE_ATTR_TENSOR_SIZE : TRACE_ATTR_COUNT;
    case 12:
        return trace_attr_same(name, "involved_dim", 12) ? TRACE_ATTR_INVOLVED_DIM : TRACE_ATTR_COUNT;
    case 13:
        return trace_attr_same(name, "comm_priority", 13) ? TRACE_ATTR_COMM_PRIORITY : TRACE_ATTR_COUNT;
    default:
        return TRACE_ATTR_COUNT;
    }
}

const char *trace_attr_name(enum trace_attr attr)
{
    static const char *const names[] = {
#define TRACE_X(id, name, shape) name,
        TRACE_ATTRS(TRACE_X)
#undef TRACE_X
    };
    return attr < TRACE_ATTR_COUNT ? names[attr] : "unknown attribute";
}

enum trace_attr_shape trace_attr_shape(enum trace_attr attr)
{
    static const enum trace_attr_shape shapes[] = {
#define TRACE_X(id, name, shape) TRACE_SHAPE_##shape,
        TRACE_ATTRS(TRACE_X)
#undef TRACE_X
    };
    return shapes[attr];
}

const char *trace_attr_shape_text(enum trace_attr_shape shape)
{
    switch (shape) {
    case TRACE_SHAPE_INTEGER:
        return "an integer";
    case TRACE_SHAPE_SIZE:
        return "an integer that is not negative";
    case TRACE_SHAPE_FLAGS:
        return "a list of at most 64 bools";
    case TRACE_SHAPE_TEXT:
        return "a string";
    }
    return "something else";
}

const char *trace_value_name(uint32_t value)
{
    switch (value) {
#define TRACE_X(id, number, name, wire, integer)                                                                       \
    case (number):                                                                                                     \
        return name;                                                                                                   \
    case (number) + 1:                                                                                                 \
        return name " list";
        TRACE_VALUES(TRACE_X)
#undef TRACE_X
    default:
        return "no value";
    }
}

bool trace_value_is_integer(uint32_t value)
{
    switch (value) {
#define TRACE_X(id, number, name, wire, integer)                                                                       \
    case (number):                                                                                                     \
        return integer;
        TRACE_VALUES(TRACE_X)
#undef TRACE_X
    default:
        return false;
    }
}

bool trace_value_is_integer_list(uint32_t value)
{
    return value > TRACE_VALUE_DOUBLE && trace_value_is_integer(value - 1);
}
