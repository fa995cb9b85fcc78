/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Chakra ET file whole: every attribute, both kinds of dependency, inputs and outputs, doc strings, and fields this
 * program has never heard of, so that a file can be shown, checked and written back without loss. The messages are
 * protobuf-c's structs, generated from chakra.proto, in one arena.
 *
 * What a simulation needs is in trace/graph.h, read ten times faster. The two readers agree on what a well-formed file
 * is, but for three things: this one looks into every list and refuses a NUL byte in a text (protobuf-c could not write
 * it back), where the fast one skips lists it does not need and cuts the text; and this one keeps faults of content
 * (an id used twice, a dependency that is not there, an unknown node type, an attribute of the wrong kind), which are
 * for trace/check.h to report, where the fast one fails.
 */
#ifndef ORR_TRACE_DOCUMENT_H
#define ORR_TRACE_DOCUMENT_H

#include "base/arena.h"
#include "trace/attr.h"
#include "trace/chakra.pb-c.h"

struct trace_document {
    const char *name; /* of the file; for messages */
    Chakra__GlobalMetadata *metadata;
    Chakra__Node **nodes; /* in file order */
    uint32_t node_count;
    struct arena arena; /* owns all of the above and the document itself */
};

/* Reads a file that is already in memory; keeps nothing of `bytes`. Fails with ORR_EINVAL or ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status trace_document_parse(const uint8_t *bytes, size_t size, const char *name,
                                                    struct mem *mem, struct trace_document **document,
                                                    struct orr_error *err);
/* The same from a file; fails with ORR_EIO too. */
ORR_MUST_CHECK enum orr_status trace_document_read(const char *path, struct mem *mem, struct trace_document **document,
                                                   struct orr_error *err);
void trace_document_free(struct trace_document *document); /* NULL is fine */

/*
 * The file's bytes: fields in ascending order of their numbers, unknown ones last, lists packed. A file that was
 * written so comes back unchanged. `*bytes` is the caller's, to mem_free with `*size`.
 */
ORR_MUST_CHECK enum orr_status trace_document_encode(const Chakra__GlobalMetadata *metadata, Chakra__Node *const *nodes,
                                                     uint32_t node_count, struct mem *mem, uint8_t **bytes,
                                                     size_t *size, struct orr_error *err);
/* The same into a file, complete or not at all. */
ORR_MUST_CHECK enum orr_status trace_document_write(const struct trace_document *document, const char *path,
                                                    struct orr_error *err);

/* The first attribute of this meaning, or NULL. */
const Chakra__Attribute *trace_document_attribute(const Chakra__Node *node, enum trace_attr which);

/* Whether the node says that it runs on the host. */
bool trace_document_is_host(const Chakra__Node *node);

/* An attribute's value if it is of any integer kind; a negative one as its two's complement. */
bool trace_document_integer(const Chakra__Attribute *attr, uint64_t *bits, bool *negative);

#endif
