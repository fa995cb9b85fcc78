/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file read from front to back, whatever it is packed in: plain, gzip (also several members one after the other) or
 * zstd, told by its first bytes and not by its name. What comes out are the unpacked bytes. Everything that can be
 * wrong with the path or the packing is said here once, in one line that starts with the path. Knows no format.
 */
#ifndef ORR_IO_STREAM_H
#define ORR_IO_STREAM_H

#include "base/mem.h"

struct io_stream;

enum io_packing { IO_PACKING_NONE, IO_PACKING_GZIP, IO_PACKING_ZSTD };

/* Fails with ORR_EIO (missing, unreadable, a folder, a device) or ORR_ENOMEM. `path` is copied. */
ORR_MUST_CHECK enum orr_status io_stream_open(const char *path, struct mem *mem, struct io_stream **stream,
                                              struct orr_error *err);
void io_stream_close(struct io_stream *stream); /* NULL is fine */

/* Up to `room` bytes; `*size` 0 means the end. ORR_EIO when reading fails, ORR_EINVAL when the packing is damaged or
 * cut off, ORR_ENOMEM when it grows out of all proportion (over 1 GiB and 250 times what was read). */
ORR_MUST_CHECK enum orr_status io_stream_read(struct io_stream *stream, void *into, size_t room, size_t *size,
                                              struct orr_error *err);

/* The same at any place, without moving the reading position; only for a file that is not packed. */
ORR_MUST_CHECK enum orr_status io_stream_read_at(struct io_stream *stream, uint64_t offset, void *into, size_t room,
                                                 size_t *size, struct orr_error *err);

/* A packed file whose end is missing ends where its bytes do, instead of being an error: for recordings of a program
 * that was killed. What comes before the cut is handed out as far as it unpacks. */
void io_stream_allow_cut(struct io_stream *stream);
bool io_stream_was_cut(const struct io_stream *stream); /* so far */

/* Back to the first byte. */
ORR_MUST_CHECK enum orr_status io_stream_rewind(struct io_stream *stream, struct orr_error *err);

const char *io_stream_path(const struct io_stream *stream);
enum io_packing io_stream_packing(const struct io_stream *stream);
uint64_t io_stream_file_size(const struct io_stream *stream);   /* as it lies on the disk */
uint64_t io_stream_file_offset(const struct io_stream *stream); /* how far into it reading is: for progress */

#endif
