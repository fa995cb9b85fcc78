/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unpacked bytes of a document for json_stream: a file, packed or not, or memory; read in order between two places,
 * and read again at any place when that was asked for. Knows nothing of JSON.
 */
#ifndef ORR_IO_JSON_SOURCE_H
#define ORR_IO_JSON_SOURCE_H

#include "io/spool.h"
#include "io/stream.h"

struct json_source {
    struct mem *mem;
    const uint8_t *memory; /* borrowed; NULL with a stream */
    size_t memory_size;
    struct io_stream *stream; /* NULL with memory */
    struct io_spool spool;    /* everything unpacked so far, where it may be needed again */
    uint64_t unpacked;        /* bytes that came out of a packed stream */
    uint64_t position;        /* of the next byte to hand out */
    uint64_t end;             /* as if the document ended before this */
};

/* With `again` json_source_read_at works. Fails as io_stream_open and io_spool_open do. */
ORR_MUST_CHECK enum orr_status json_source_open(struct json_source *source, const char *path, bool again,
                                                struct mem *mem, struct orr_error *err);
void json_source_open_memory(struct json_source *source, const void *bytes, size_t size, struct mem *mem);
void json_source_close(struct json_source *source);

/* Fills `into`; `*got` is less than `room` only at the end. */
ORR_MUST_CHECK enum orr_status json_source_read(struct json_source *source, void *into, size_t room, size_t *got,
                                                struct orr_error *err);
/* The same at any place that was read before, without moving. */
ORR_MUST_CHECK enum orr_status json_source_read_at(struct json_source *source, uint64_t offset, void *into, size_t room,
                                                   size_t *got, struct orr_error *err);
/* Goes on at `offset` as if the document ended before `end`. */
ORR_MUST_CHECK enum orr_status json_source_seek(struct json_source *source, uint64_t offset, uint64_t end,
                                                struct orr_error *err);

/* Bytes the document is known to have, for the first size of a buffer; UINT64_MAX when packed. */
uint64_t json_source_size(const struct json_source *source);

/* Newlines before `offset`, or UINT64_MAX when the file cannot be read again. */
uint64_t json_source_newlines(const struct json_source *source, uint64_t offset);

#endif
