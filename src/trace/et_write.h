/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Chakra ET file written record by record, in constant memory: for converters, whose output is larger than what they
 * keep. The bytes are those protobuf itself would write: fields in ascending order, zero scalars and empty texts left
 * out, an attribute's value always there, dependency lists packed (spec chakra §1.1).
 *
 * The caller makes one record after the other: first et_metadata_begin, then et_node_begin for each node, each followed
 * by its parts in the order declared here, and closed by et_record_end. Calls out of order are programming errors
 * (asserted). Whoever opens a writer ends it with exactly one commit or abort; both free it, and without a commit no
 * file appears. Texts need not be terminated; what is not UTF-8 in them is replaced by U+FFFD.
 */
#ifndef ORR_TRACE_ET_WRITE_H
#define ORR_TRACE_ET_WRITE_H

#include <stdio.h>

#include "base/mem.h"
#include "trace/graph.h"

struct et_writer;

/* Folders above `path` are made where missing. Fails with ORR_EIO or ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status et_writer_open(const char *path, struct mem *mem, struct et_writer **writer,
                                              struct orr_error *err);
/* The same without a file: everything is made as it would be written, and forgotten. */
ORR_MUST_CHECK enum orr_status et_writer_open_nowhere(struct mem *mem, struct et_writer **writer,
                                                      struct orr_error *err);
/* The same into a stream that stays the caller's, who looks at its errors. */
ORR_MUST_CHECK enum orr_status et_writer_open_stream(FILE *stream, struct mem *mem, struct et_writer **writer,
                                                     struct orr_error *err);
/* Brings everything out, so that a commit can then fail only in the rename: for files that should appear together. */
ORR_MUST_CHECK enum orr_status et_writer_finish(struct et_writer *writer, struct orr_error *err);
ORR_MUST_CHECK enum orr_status et_writer_commit(struct et_writer *writer, struct orr_error *err);
void et_writer_abort(struct et_writer *writer); /* NULL is fine */

struct et_text {
    const char *text;
    size_t length;
};

static inline struct et_text et_text(const char *terminated)
{
    return (struct et_text){terminated, __builtin_strlen(terminated)};
}

void et_metadata_begin(struct et_writer *writer, struct et_text version);

void et_node_begin(struct et_writer *writer, uint64_t id, struct et_text name, enum trace_node_type type);
void et_node_ctrl_deps(struct et_writer *writer, const uint64_t *ids, size_t count); /* nothing when count is 0 */
void et_node_data_deps(struct et_writer *writer, const uint64_t *ids, size_t count);
void et_node_times(struct et_writer *writer, uint64_t start_us, uint64_t duration_us);
void et_node_inputs(struct et_writer *writer, struct et_text values, struct et_text shapes, struct et_text types);
void et_node_outputs(struct et_writer *writer, struct et_text values, struct et_text shapes, struct et_text types);

/* Attributes, of the metadata or of a node; `name` is terminated. */
void et_attr_double(struct et_writer *writer, const char *name, double value);
void et_attr_int32(struct et_writer *writer, const char *name, int32_t value);
void et_attr_int64(struct et_writer *writer, const char *name, int64_t value);
void et_attr_uint32(struct et_writer *writer, const char *name, uint32_t value);
void et_attr_uint64(struct et_writer *writer, const char *name, uint64_t value);
void et_attr_bool(struct et_writer *writer, const char *name, bool value);
void et_attr_string(struct et_writer *writer, const char *name, struct et_text value);
void et_attr_bool_list(struct et_writer *writer, const char *name, const bool *values, size_t count);
void et_attr_int64_list(struct et_writer *writer, const char *name, const int64_t *values, size_t count);

/* Writes the record. ORR_ENOMEM when it could not be built; write errors may come here or from finish and commit. */
ORR_MUST_CHECK enum orr_status et_record_end(struct et_writer *writer, struct orr_error *err);

#endif
