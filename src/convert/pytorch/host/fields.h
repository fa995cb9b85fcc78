/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of one node of a host trace, found once and then named by number: whether they stand in the node itself
 * (the flat form of schema 1.0.1, a linker's keys) or in its list "attrs" (all later schemas). Shared by the readers
 * that look into nodes; points into the JSON it was given and owns nothing.
 */
#ifndef ORR_CONVERT_PYTORCH_HOST_FIELDS_H
#define ORR_CONVERT_PYTORCH_HOST_FIELDS_H

#include "io/json_stream.h"

enum { HOST_IN_NODE = 1, HOST_IN_ATTRS = 2, HOST_IN_BOTH = HOST_IN_NODE | HOST_IN_ATTRS };

/* field, key, where it may stand. A key that stands twice counts as its last, and attrs come after the node's own. */
#define HOST_FIELDS(X)                                                                                                 \
    X(ID, "id", HOST_IN_NODE)                                                                                          \
    X(NAME, "name", HOST_IN_NODE)                                                                                      \
    X(CTRL_DEPS, "ctrl_deps", HOST_IN_NODE)                                                                            \
    X(PARENT, "parent", HOST_IN_NODE)                                                                                  \
    X(INPUTS, "inputs", HOST_IN_NODE)                                                                                  \
    X(OUTPUTS, "outputs", HOST_IN_NODE)                                                                                \
    X(INPUT_SHAPES, "input_shapes", HOST_IN_NODE)                                                                      \
    X(INPUT_TYPES, "input_types", HOST_IN_NODE)                                                                        \
    X(OUTPUT_SHAPES, "output_shapes", HOST_IN_NODE)                                                                    \
    X(OUTPUT_TYPES, "output_types", HOST_IN_NODE)                                                                      \
    X(ATTRS, "attrs", HOST_IN_NODE)                                                                                    \
    X(INCLUSIVE_DUR, "inclusive_dur", HOST_IN_NODE)                                                                    \
    X(EXCLUSIVE_DUR, "exclusive_dur", HOST_IN_NODE)                                                                    \
    X(TS, "ts", HOST_IN_NODE)                                                                                          \
    X(INTER_THREAD_DEP, "inter_thread_dep", HOST_IN_NODE)                                                              \
    X(SYNC_DEP, "sync_dep", HOST_IN_NODE)                                                                              \
    X(CAT, "cat", HOST_IN_NODE)                                                                                        \
    X(STREAM, "stream", HOST_IN_BOTH)                                                                                  \
    X(LINK_PG_NAME, "pg_name", HOST_IN_NODE)                                                                           \
    X(RF_ID, "rf_id", HOST_IN_BOTH)                                                                                    \
    X(FW_PARENT, "fw_parent", HOST_IN_BOTH)                                                                            \
    X(SEQ_ID, "seq_id", HOST_IN_BOTH)                                                                                  \
    X(SCOPE, "scope", HOST_IN_BOTH)                                                                                    \
    X(TID, "tid", HOST_IN_BOTH)                                                                                        \
    X(FW_TID, "fw_tid", HOST_IN_BOTH)                                                                                  \
    X(OP_SCHEMA, "op_schema", HOST_IN_BOTH)                                                                            \
    X(COLLECTIVE_NAME, "collective_name", HOST_IN_ATTRS)                                                               \
    X(DTYPE, "dtype", HOST_IN_ATTRS)                                                                                   \
    X(IN_MSG_NELEMS, "in_msg_nelems", HOST_IN_ATTRS)                                                                   \
    X(OUT_MSG_NELEMS, "out_msg_nelems", HOST_IN_ATTRS)                                                                 \
    X(IN_SPLIT_SIZE, "in_split_size", HOST_IN_ATTRS)                                                                   \
    X(OUT_SPLIT_SIZE, "out_split_size", HOST_IN_ATTRS)                                                                 \
    X(GLOBAL_RANK_START, "global_rank_start", HOST_IN_ATTRS)                                                           \
    X(GLOBAL_RANK_STRIDE, "global_rank_stride", HOST_IN_ATTRS)                                                         \
    X(PG_NAME, "pg_name", HOST_IN_ATTRS)                                                                               \
    X(PG_DESC, "pg_desc", HOST_IN_ATTRS)                                                                               \
    X(PG_SIZE, "pg_size", HOST_IN_ATTRS)

enum host_field {
#define HOST_X(field, key, where) HOST_FIELD_##field,
    HOST_FIELDS(HOST_X)
#undef HOST_X
        HOST_FIELD_COUNT
};

struct host_fields {
    const struct json_item *at[HOST_FIELD_COUNT]; /* NULL = not there */
};

/* `node` is an object. Unknown keys and attributes are skipped. */
void host_fields_find(const struct json_item *node, struct host_fields *fields);

const char *host_field_key(enum host_field field);

/* The field's value, or NULL when it is not there or null. */
static inline const struct json_item *host_field(const struct host_fields *fields, enum host_field field)
{
    const struct json_item *item = fields->at[field];
    return item == NULL || item->kind == JSON_ITEM_NULL ? NULL : item;
}

/* Whole numbers; false when the item (which may be NULL) is none or does not fit. An unsigned number beyond INT64_MAX
 * is read as the signed one of the same bits: recorders write -1 so. */
bool host_item_u64(const struct json_item *item, uint64_t *value);
bool host_item_i64(const struct json_item *item, int64_t *value);
bool host_item_real(const struct json_item *item, double *value);

static inline bool host_item_is_text(const struct json_item *item)
{
    return item != NULL && item->kind == JSON_ITEM_STRING;
}

/* Values, shapes and types of a node's inputs or outputs, in either form; NULL where they are missing. */
struct host_io {
    const struct json_item *values, *shapes, *types;
};

struct host_io host_fields_inputs(const struct host_fields *fields);
struct host_io host_fields_outputs(const struct host_fields *fields);

/* Makes a text from a file fit for a message of one line: control characters become '?'. */
static inline void host_text_clean(char *text)
{
    for (; *text != '\0'; text++) {
        *text = (unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text;
    }
}

/* What a person calls the kind of a value: "a text", "a list" … */
const char *host_item_kind(const struct json_item *item);

#endif
