/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host file that does not parse as one document: where the documents in it begin, and which of them to take (spec
 * rocm §1.1). Knows of a document only how many nodes and which start_ts it has.
 */
#ifndef ORR_CONVERT_PYTORCH_HOST_REPAIR_H
#define ORR_CONVERT_PYTORCH_HOST_REPAIR_H

#include "base/notes.h"
#include "io/json_stream.h"

struct host_piece {
    uint64_t offset, end; /* of its bytes in the unpacked file */
};

/*
 * Finds the document with the most nodes, of equals the one with the largest start_ts. `stream` is open on the file
 * with JSON_STREAM_MAY_BE_CUT. Says in `notes` what is dropped. ORR_EINVAL, with `err` left as it was, when no document
 * can be read: the caller's first error then stands.
 */
ORR_MUST_CHECK enum orr_status host_repair_find(struct json_stream *stream, struct mem *mem, struct notes *notes,
                                                struct host_piece *piece, struct orr_error *err);

#endif
