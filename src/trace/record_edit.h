/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node's record written again with some of its fields changed and everything else as it was, byte for byte: fields
 * nobody knows, texts, the order of attributes. An attribute that is set keeps the kind of integer it had, because the
 * programs that read traces differ in which kind they look for (spec rocm §0, F8); one that was not there is added
 * behind the others. Changes are a list, so that a tool says only what it changes.
 */
#ifndef ORR_TRACE_RECORD_EDIT_H
#define ORR_TRACE_RECORD_EDIT_H

#include <stdio.h>

#include "trace/record.h"

/* Bytes being put together; keeps its memory. A refused allocation is remembered and asked for once. */
struct record_buffer {
    struct mem *mem;
    uint8_t *bytes;
    size_t size, capacity;
    bool refused;
};

void record_buffer_init(struct record_buffer *buffer, struct mem *mem);
void record_buffer_free(struct record_buffer *buffer);
void record_buffer_clear(struct record_buffer *buffer); /* empty, and not refused */

void record_put_number(struct record_buffer *buffer, uint32_t field, uint64_t value); /* nothing for 0 */
void record_put_ids(struct record_buffer *buffer, uint32_t field, const uint64_t *ids, size_t count); /* packed */
void record_put_text(struct record_buffer *buffer, uint32_t field, const char *text); /* nothing for "" */
/* Attributes of a node. `kind` is an integer kind of enum trace_value. */
void record_put_integer(struct record_buffer *buffer, const char *name, uint32_t kind, uint64_t value);
void record_put_string(struct record_buffer *buffer, const char *name, struct record_text value);

enum record_action { RECORD_SET_INTEGER, RECORD_SET_TEXT, RECORD_REMOVE };

struct record_attr_change {
    const char *name;
    enum record_action action;
    uint32_t kind;           /* SET_INTEGER: when it is not there, or is there without an integer */
    uint64_t value;          /* SET_INTEGER: not negative */
    struct record_text text; /* SET_TEXT; a text of digits stays an integer where it was one */
    bool done;               /* scratch of the writer */
};

enum { RECORD_ATTR_CHANGES = 24 };

struct record_change {
    uint32_t fields; /* bit enum record_field: ID, NAME, TYPE, CTRL, DATA, START, DURATION are replaced */
    uint64_t id, start_us, duration_us;
    uint32_t type;
    struct record_text name;
    const uint64_t *ctrl, *data;
    size_t ctrl_count, data_count;
    struct record_attr_change attr[RECORD_ATTR_CHANGES];
    uint32_t attr_count;
};

/* Both note an attribute to change; a second change of the same name replaces the first. */
void record_change_integer(struct record_change *change, const char *name, uint32_t kind, uint64_t value);
void record_change_text(struct record_change *change, const char *name, struct record_text text);
void record_change_remove(struct record_change *change, const char *name);

/* Empties it; cheaper than zeroing the room for attributes for every node. */
static inline void record_change_clear(struct record_change *change)
{
    change->fields = 0;
    change->attr_count = 0;
}

static inline bool record_change_any(const struct record_change *change)
{
    return change->fields != 0 || change->attr_count > 0;
}

/* Adds the changed record to `buffer`, without a length before it. The record has been scanned: it is well-formed. */
void record_rewrite(struct record_buffer *buffer, const struct record *record, struct record_change *change);

/*
 * A walk over all nodes in which each may be changed: for tools that look at one node at a time. After open and after
 * each next, while `more`, `facts` are the node's and `change` is empty; what is put there is done when the walk moves
 * on. Writes to `stream` unless it is NULL; write errors stay with it.
 */
struct record_pass {
    struct record_reader *reader;
    FILE *stream;
    struct mem *mem;
    struct record record;
    struct record_facts facts;
    struct record_change change;
    struct record_buffer buffer;
    bool more;
};

ORR_MUST_CHECK enum orr_status record_pass_open(struct record_pass *pass, struct record_reader *reader, FILE *stream,
                                                struct mem *mem, struct orr_error *err);
ORR_MUST_CHECK enum orr_status record_pass_next(struct record_pass *pass, struct orr_error *err);
void record_pass_close(struct record_pass *pass); /* also after a failed open */

/* Writes a length and the message behind it. */
void record_write(FILE *stream, const void *bytes, size_t size);

#endif
