/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of a few nodes written, put through a tool, and looked at again: what the tests of the tools on traces share.
 */
#ifndef ORR_TESTS_TRACE_EDITED_H
#define ORR_TESTS_TRACE_EDITED_H

#include <stdlib.h>

#include "base/notes.h"
#include "tests/check.h"
#include "tests/trace/bytes.h"
#include "trace/check.h"
#include "trace/document.h"
#include "trace/record.h"

/* A node with what most tests need; `more` is put behind the rest. */
struct edited_node {
    uint64_t id;
    uint32_t type;
    const char *name;
    uint64_t data[4], ctrl[4]; /* 0 ends a list: ids of tests are above 0 */
    uint64_t start_us, duration_us;
    int cpu; /* is_cpu_op; -1 = not there */
};

static inline void edited_add(struct bytes *file, const struct edited_node *from, const struct bytes *more)
{
    struct bytes node = {.size = 0};
    size_t data = 0;
    size_t ctrl = 0;
    while (data < 4 && from->data[data] != 0) {
        data++;
    }
    while (ctrl < 4 && from->ctrl[ctrl] != 0) {
        ctrl++;
    }
    bytes_number(&node, 1, from->id);
    if (from->name != NULL) {
        bytes_text(&node, 2, from->name);
    }
    bytes_number(&node, 3, from->type);
    if (ctrl > 0) {
        bytes_numbers(&node, 4, from->ctrl, ctrl);
    }
    if (data > 0) {
        bytes_numbers(&node, 5, from->data, data);
    }
    if (from->start_us > 0) {
        bytes_number(&node, 6, from->start_us);
    }
    if (from->duration_us > 0) {
        bytes_number(&node, 7, from->duration_us);
    }
    if (from->cpu >= 0) {
        bytes_integer(&node, "is_cpu_op", 27, (uint64_t)from->cpu);
    }
    if (more != NULL) {
        bytes_add(&node, more->at, more->size);
    }
    bytes_record(file, &node);
}

/* A tool at work on one file: input, output as a document. */
struct edited {
    struct mem mem;
    struct notes notes;
    struct record_reader reader;
    char *bytes; /* written */
    size_t size;
    FILE *stream;
    struct trace_document *document;
};

static inline void edited_begin(struct edited *edited, const struct bytes *file)
{
    struct orr_error err = {0};
    memset(edited, 0, sizeof *edited);
    notes_init(&edited->notes, &edited->mem, false);
    edited->stream = open_memstream(&edited->bytes, &edited->size);
    CHECK(edited->stream != NULL, "memory");
    CHECK_OK(record_reader_open_bytes(&edited->reader, file->at, file->size, "f.et", &edited->mem, &err), &err);
}

/* The tool is done: its output is read. */
static inline void edited_read(struct edited *edited)
{
    struct orr_error err = {0};
    (void)fclose(edited->stream);
    edited->stream = NULL;
    CHECK_OK(trace_document_parse((const uint8_t *)edited->bytes, edited->size, "out.et", &edited->mem,
                                  &edited->document, &err),
             &err);
}

static inline void edited_end(struct edited *edited)
{
    if (edited->stream != NULL) {
        (void)fclose(edited->stream);
    }
    trace_document_free(edited->document);
    record_reader_close(&edited->reader);
    notes_free(&edited->notes);
    free(edited->bytes);
    CHECK_U64(edited->mem.used, 0, "all memory is given back");
}

static inline const Chakra__Node *edited_node(const struct edited *edited, uint64_t id)
{
    for (uint32_t i = 0; i < edited->document->node_count; i++) {
        if (edited->document->nodes[i]->id == id) {
            return edited->document->nodes[i];
        }
    }
    CHECK(false, "there is no node %" PRIu64, id);
    return NULL;
}

static inline const Chakra__Attribute *edited_attribute(const Chakra__Node *node, const char *name)
{
    for (size_t i = 0; i < node->n_attr; i++) {
        if (strcmp(node->attr[i]->name, name) == 0) {
            return node->attr[i];
        }
    }
    return NULL;
}

static inline void edited_is_sound(struct edited *edited)
{
    struct trace_findings findings;
    struct orr_error err = {0};
    CHECK_OK(trace_check(edited->document, &edited->mem, &findings, &err), &err);
    CHECK(findings.count == 0 || edited->document->node_count == 0, "%s", findings.items[0].text);
    trace_findings_free(&findings);
}

#endif
