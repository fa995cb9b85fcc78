/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that name tensors, written byte by byte: "inputs" and "outputs" as texts split at spaces, "w 100 x 20". */
#ifndef ORR_TESTS_TRACE_TENSOR_LISTS_H
#define ORR_TESTS_TRACE_TENSOR_LISTS_H

#include "tests/trace/bytes.h"

/* A text list of the words; NULL: no attribute. Words beyond the node's room are a test's mistake (bytes.h). */
static inline void tensor_list(struct bytes *node, const char *name, const char *words)
{
    struct bytes list = {.size = 0};
    struct bytes value = {.size = 0};
    if (words == NULL) {
        return;
    }
    for (const char *at = words; *at != '\0';) {
        size_t length = strcspn(at, " ");
        bytes_span(&list, 1, at, length);
        at += length + (at[length] == ' ' ? 1 : 0);
    }
    if (list.size > 0) {
        bytes_span(&value, 30, list.at, list.size);
    }
    bytes_attribute(node, name, &value);
}

static inline void tensor_node(struct bytes *file, uint64_t id, const char *inputs, const char *outputs)
{
    struct bytes node = {.size = 0};
    bytes_number(&node, 1, id);
    bytes_number(&node, 3, 4);
    tensor_list(&node, "inputs", inputs);
    tensor_list(&node, "outputs", outputs);
    bytes_record(file, &node);
}

#endif
