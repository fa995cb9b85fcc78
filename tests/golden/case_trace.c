/* SPDX-License-Identifier: Apache-2.0 */
/* One pass a node: the fields in the order of their numbers, as the generated protobuf code of ASTRA-sim's tools
 * writes them, then the attributes in the order of the line. */
#include "tests/golden/case_trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tests/golden/case_text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { NODE_ID = 1, NODE_NAME = 2, NODE_TYPE = 3, NODE_CTRL = 4, NODE_DATA = 5, NODE_MICROS = 7 };

/* word in the text, how its name begins, value on the wire */
static const struct {
    const char *word;
    const char *name;
    uint64_t type;
} kinds[] = {
    {"invalid", "n", 0}, {"metadata", "n", 1}, {"load", "mem", 2},  {"store", "mem", 3},
    {"comp", "comp", 4}, {"send", "send", 5},  {"recv", "recv", 6}, {"coll", "coll", 7},
};

static const struct {
    const char *word;
    int64_t type;
} collectives[] = {
    {"AR", 0}, {"REDUCE", 1}, {"AG", 2}, {"BROADCAST", 5}, {"A2A", 6}, {"RS", 7},
};

static const struct {
    const char *key;
    const char *attribute;
    enum et_field field;
} attributes[] = {
#define CASE_X(key, attribute, field) {key, attribute, field},
    CASE_ATTRIBUTES(CASE_X)
#undef CASE_X
};

/* Who asks: a rank, its place in the block, and the case whose groups it may belong to. */
struct asker {
    const struct case_file *file;
    const struct golden_case *one;
    uint32_t rank;
    uint32_t position;
};

static size_t kind_of(struct case_slice word)
{
    size_t kind = 0;
    while (kind < COUNT(kinds) && !slice_is(word, kinds[kind].word))
        kind++;
    return kind;
}

bool case_line_is_node(const struct case_file *file, size_t index)
{
    return kind_of(file->lines[index].keyword) < COUNT(kinds);
}

/* The id of the group that lists the rank. */
static bool own_group(const struct asker *asker, struct case_slice *id)
{
    for (size_t i = asker->one->first; i < asker->one->end; i++) {
        struct case_slice rest = asker->file->lines[i].rest;
        struct rank_list list;
        if (!slice_is(asker->file->lines[i].keyword, "group") || !slice_word(&rest, id) || !rank_list_read(rest, &list))
            continue;
        bool found = false;
        for (uint32_t k = 0; k < list.count; k++)
            found = found || list.ranks[k] == asker->rank;
        free(list.ranks);
        if (found)
            return true;
    }
    return false;
}

static bool put_group(const struct asker *asker, struct case_slice value, struct et_bytes *node)
{
    struct case_slice id = {NULL, 0};
    char text[24];
    int64_t number = 0;
    if (slice_is(value, "own")) {
        if (!own_group(asker, &id))
            return false;
    } else {
        if (!rank_value(value, asker->rank, asker->position, &number))
            return false;
        id = (struct case_slice){text, (size_t)snprintf(text, sizeof text, "%lld", (long long)number)};
    }
    et_put_string_attribute(node, "pg_name", id.at, id.length);
    return true;
}

static bool put_attribute(const struct asker *asker, struct case_slice key, struct case_slice value,
                          struct et_bytes *node)
{
    size_t which = 0;
    int64_t number = 0;
    while (which < COUNT(attributes) && !slice_is(key, attributes[which].key))
        which++;
    if (which == COUNT(attributes))
        return false;
    if (attributes[which].field == ET_STRING)
        return put_group(asker, value, node);
    if (attributes[which].field == ET_BOOL_LIST) {
        et_put_flags_attribute(node, attributes[which].attribute, value.at, value.length);
        return true;
    }
    for (size_t i = 0; i < COUNT(collectives); i++) {
        if (slice_is(key, "type") && slice_is(value, collectives[i].word)) {
            et_put_number_attribute(node, "comm_type", ET_INT64, (uint64_t)collectives[i].type);
            return true;
        }
    }
    if (!rank_value(value, asker->rank, asker->position, &number))
        return false;
    et_put_number_attribute(node, attributes[which].attribute, attributes[which].field, (uint64_t)number);
    return true;
}

static bool put_parents(struct case_slice ids, unsigned field, struct et_bytes *node)
{
    struct et_bytes packed = {0};
    struct case_slice id;
    uint64_t number = 0;
    bool good = true;
    while (good && slice_part(&ids, ',', &id)) {
        good = slice_number(id, &number);
        et_put_varint(&packed, number);
    }
    et_put_block(node, field, packed.data, packed.length);
    et_bytes_free(&packed);
    return good;
}

static bool take_key(struct case_slice rest, const char *wanted, struct case_slice *value)
{
    struct case_slice word;
    struct case_slice key;
    while (slice_word(&rest, &word)) {
        if (slice_split(word, '=', &key, value) && slice_is(key, wanted))
            return true;
    }
    return false;
}

/* The fields that are not attributes, by number. */
static bool put_fields(const struct asker *asker, size_t kind, struct case_slice id, struct case_slice rest,
                       struct et_bytes *node)
{
    struct case_slice value;
    uint64_t number = 0;
    int64_t micros = 0;
    char name[64];
    if (!slice_number(id, &number))
        return false;
    int length = snprintf(name, sizeof name, "%s%llu", kinds[kind].name, (unsigned long long)number);
    et_put_number(node, NODE_ID, number);
    et_put_block(node, NODE_NAME, name, (size_t)length);
    et_put_number(node, NODE_TYPE, kinds[kind].type);
    if (take_key(rest, "ctrl", &value) && !put_parents(value, NODE_CTRL, node))
        return false;
    if (take_key(rest, "data", &value) && !put_parents(value, NODE_DATA, node))
        return false;
    if (take_key(rest, "us", &value)) {
        if (!rank_value(value, asker->rank, asker->position, &micros))
            return false;
        et_put_number(node, NODE_MICROS, (uint64_t)micros);
    }
    if (!take_key(rest, "cpu", &value))
        et_put_number_attribute(node, "is_cpu_op", ET_BOOL, 0);
    return true;
}

static bool put_node(const struct asker *asker, const struct case_line *line, struct et_bytes *node)
{
    struct case_slice rest = line->rest;
    struct case_slice word;
    struct case_slice key;
    struct case_slice value;
    if (!slice_word(&rest, &word) || !put_fields(asker, kind_of(line->keyword), word, rest, node))
        return false;
    while (slice_word(&rest, &word)) {
        if (!slice_split(word, '=', &key, &value))
            return false;
        if (slice_is(key, "ctrl") || slice_is(key, "data") || slice_is(key, "us") ||
            (slice_is(key, "cpu") && slice_is(value, "-")))
            continue;
        if (!put_attribute(asker, key, value, node))
            return false;
    }
    return true;
}

static void put_message(struct et_bytes *out, const struct et_bytes *message)
{
    et_put_varint(out, message->length);
    et_bytes_append(out, message->data, message->length);
}

enum orr_status case_trace_encode(const struct case_file *file, const struct golden_case *one, struct case_block block,
                                  uint32_t rank, uint32_t position, struct et_bytes *out, struct orr_error *err)
{
    const struct asker asker = {file, one, rank, position};
    struct et_bytes message = {0};
    enum orr_status status = ORR_OK;
    et_bytes_clear(out);
    et_put_block(&message, 1, "0.0.4", 5); /* the metadata's version */
    put_message(out, &message);
    for (size_t i = block.first; i < block.end && status == ORR_OK; i++) {
        et_bytes_clear(&message);
        if (put_node(&asker, &file->lines[i], &message))
            put_message(out, &message);
        else
            status =
                error_set(err, ORR_EINVAL, "%s:%u: not a node of rank %u", file->path, file->lines[i].number, rank);
    }
    et_bytes_free(&message);
    return status;
}
