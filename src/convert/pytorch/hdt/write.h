/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A linked host trace ("HDT", spec chakra §6.9) written node by node: the bytes of Python's json.dump(…, indent=4),
 * which is what Chakra writes, without a tree of the document. A node is a host node's JSON with some of its members
 * replaced and others appended, as a Python dict keeps the place of a key that is set again. Knows nothing of linking.
 *
 * The caller owns the stream and looks for write errors there.
 */
#ifndef ORR_CONVERT_PYTORCH_HDT_WRITE_H
#define ORR_CONVERT_PYTORCH_HDT_WRITE_H

#include <stdio.h>

#include "io/json_stream.h"

enum hdt_kind { HDT_NULL, HDT_INTEGER, HDT_REAL, HDT_TEXT, HDT_LIST };

/* A member that is set. */
struct hdt_edit {
    const char *key;
    enum hdt_kind kind;
    bool only_if_there; /* replaced, never appended */
    union {
        int64_t integer;
        double real;
        struct {
            const char *bytes;
            uint32_t length;
        } text;
        struct {
            const uint32_t *ids;
            uint32_t count;
        } list;
    } to;
};

enum { HDT_BUFFER = 1 << 16, HDT_DEPTH = 1024 };

struct hdt_writer {
    FILE *stream;
    size_t used;
    bool filled;       /* the document has a member already */
    bool nodes_filled; /* the list of nodes has one */
    bool too_deep;     /* a value was nested deeper than HDT_DEPTH and is not written whole */
    char buffer[HDT_BUFFER];
};

void hdt_write_begin(struct hdt_writer *writer, FILE *stream);
/* False when a value was nested too deep. The buffer is out afterwards. */
ORR_MUST_CHECK bool hdt_write_end(struct hdt_writer *writer);

void hdt_write_member(struct hdt_writer *writer, const char *key, const struct json_item *value);

void hdt_write_nodes_begin(struct hdt_writer *writer);
void hdt_write_nodes_end(struct hdt_writer *writer);
/* `node` is an object; the edits that replace nothing are appended in their order. */
void hdt_write_node(struct hdt_writer *writer, const struct json_item *node, const struct hdt_edit *edits,
                    unsigned edit_count);

#endif
