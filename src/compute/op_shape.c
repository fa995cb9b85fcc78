/* SPDX-License-Identifier: Apache-2.0 */
/* "4096x14336x4096", "B32 C256 K64 H14 W14 R3 stride1". */
#include "compute/op_shape.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "io/value.h"

void op_shape_place(const uint64_t values[ORR_OP_DIMS], struct orr_op *op)
{
    memcpy(op->dims, values, sizeof op->dims);
    if (op_family_of(op->kind) == OP_FAMILY_ATTENTION) {
        op->dims[1] = values[2];
        op->dims[2] = op->dims[3] = values[1];
        op->dims[4] = values[3];
    }
    for (uint32_t i = op_dim_count(op->kind); i < ORR_OP_DIMS; i++) {
        op->dims[i] = 0;
    }
}

static enum orr_status read_picture(const char *text, struct orr_op *op, struct orr_error *err)
{
    unsigned v[7];
    int used = 0;
    bool is_conv = op->kind == ORR_OP_CONV2D || op->kind == ORR_OP_CONV2D_BACKWARD;
    if (!is_conv ||
        sscanf(text, "B%9u C%9u K%9u H%9u W%9u R%9u stride%9u%n", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6],
               &used) != 7 ||
        text[used] != '\0' || v[3] != v[4]) {
        char shown[64];
        return error_set(err, ORR_EINVAL,
                         "shape \"%s\": accepted for a convolution is B32 C256 K64 H14 W14 R3 stride1, H as W",
                         io_text_printable(text, shown, sizeof shown));
    }
    const uint64_t dims[ORR_OP_DIMS] = {v[0], v[1], v[2], v[3], v[5], v[6]};
    memcpy(op->dims, dims, sizeof dims);
    return ORR_OK;
}

/* Numbers with an x between them; 0: it is something else. */
static uint32_t read_numbers(const char *text, uint64_t values[ORR_OP_DIMS])
{
    for (uint32_t count = 0; count < ORR_OP_DIMS;) {
        char *end = NULL;
        values[count++] = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
        if (end == NULL || values[count - 1] > 10000000000000U || (*end != 'x' && *end != '\0')) {
            return 0;
        }
        if (*end == '\0') {
            return count;
        }
        text = end + 1;
    }
    return 0;
}

enum orr_status orr_op_shape(const char *text, struct orr_op *op, struct orr_error *err)
{
    if (text[0] == 'B') {
        return read_picture(text, op, err);
    }
    uint64_t values[ORR_OP_DIMS] = {0};
    uint32_t count = read_numbers(text, values);
    uint32_t wanted = op_dim_count(op->kind);
    bool is_attention = op_family_of(op->kind) == OP_FAMILY_ATTENTION;
    if (count == wanted && (is_attention || count > 0)) {
        memcpy(op->dims, values, sizeof op->dims);
    } else if (is_attention && count + 1 == wanted) {
        op_shape_place(values, op);
    } else {
        char shown[64];
        return error_set(err, ORR_EINVAL, "shape \"%s\": %s takes %" PRIu32 " numbers such as 16x128x2560%s",
                         io_text_printable(text, shown, sizeof shown), op_kind_name(op->kind), wanted,
                         is_attention ? ", or BATCHxHEADSxSEQxHEAD_DIM" : "");
    }
    for (uint32_t i = 0; i < wanted; i++) {
        if (op->dims[i] == 0) {
            return error_set(err, ORR_EINVAL, "shape \"%.60s\": a dimension is 0; from 1 on are accepted", text);
        }
    }
    return ORR_OK;
}

size_t orr_op_shape_text(const struct orr_op *op, char *text, size_t room)
{
    size_t size = 0;
    for (uint32_t i = 0; i < op_dim_count(op->kind); i++) {
        int added = snprintf(size < room ? text + size : NULL, size < room ? room - size : 0, "%s%" PRIu64,
                             i > 0 ? "x" : "", op->dims[i]);
        size += added > 0 ? (size_t)added : 0;
    }
    return size;
}
