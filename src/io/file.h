/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files read into accounted memory, whole or through a window. Everything that can be wrong with a path (missing,
 * unreadable, a directory, a device, too large for the memory limit) is said here once, in one line that starts with
 * the path; readers above only see bytes. Traces in an archive
 * are files to whoever reads (io/etz.h). Knows no format itself. What is written piece by piece goes through
 * io/outfile.h.
 */
#ifndef ORR_IO_FILE_H
#define ORR_IO_FILE_H

#include "base/mem.h"

/* A buffer that can be read into many times; it grows to the largest file and keeps its memory between reads. */
struct file_buffer {
    struct mem *mem;
    uint8_t *bytes; /* NULL until the first read */
    size_t size;    /* of the file last read */
    size_t capacity;
};

void file_buffer_init(struct file_buffer *buffer, struct mem *mem);
void file_buffer_free(struct file_buffer *buffer); /* leaves it empty and usable */

/*
 * Reads the regular file at `path`, as long as it was when opened. A NUL byte follows the last byte (not counted in
 * `size`), so that text can be handed to C functions.
 *
 * Fails with ORR_EIO (missing, unreadable, a directory, a device, a pipe, a socket) or ORR_ENOMEM (the memory limit).
 * The buffer's former content is lost either way.
 */
ORR_MUST_CHECK enum orr_status file_buffer_read(struct file_buffer *buffer, const char *path, struct orr_error *err);

/*
 * A window that moves over a file, for formats read from front to back: the bytes at hand are contiguous, stay in the
 * processor's cache, and a file of any size needs no more memory than its largest record. The same errors as above.
 */
struct file_window {
    struct mem *mem;
    const char *path;   /* borrowed while open */
    int fd;             /* -1 when closed */
    uint64_t file_size; /* when it was opened */
    uint64_t offset;    /* in the file, of bytes[0] */
    uint8_t *bytes;
    size_t size; /* bytes at hand */
    size_t capacity;
    bool at_end; /* nothing follows them */
    /* Told of all bytes in order as they come; may be NULL. */
    void (*seen)(void *context, const uint8_t *bytes, size_t size);
    void *seen_context;
};

enum { FILE_WINDOW_BYTES = 256 << 10 }; /* at first; a smaller file is at hand whole once it is open */

void file_window_init(struct file_window *window, struct mem *mem);
void file_window_free(struct file_window *window); /* closes too; leaves it empty and usable */

/* Opens `path`, closing what was open, and reads the first bytes. */
ORR_MUST_CHECK enum orr_status file_window_open(struct file_window *window, const char *path, struct orr_error *err);

/* Forgets the first `used` bytes and reads on behind the rest, which moves to the front. When there is nothing to
 * forget the window grows, so that bytes come as long as the file has some. */
ORR_MUST_CHECK enum orr_status file_window_move(struct file_window *window, size_t used, struct orr_error *err);

/* Back to the file's first bytes. */
ORR_MUST_CHECK enum orr_status file_window_rewind(struct file_window *window, struct orr_error *err);

/* Opens a regular file for reading and tells its size, or says what is wrong with it. The caller closes `*fd`. */
ORR_MUST_CHECK enum orr_status file_open_regular(const char *path, int *fd, uint64_t *size, struct orr_error *err);

/* The same without opening it: closing a file takes away the locks that other parts of the program hold on it. */
ORR_MUST_CHECK enum orr_status file_check_regular(const char *path, struct orr_error *err);

/* How many bytes a regular file has, of a trace in an archive those that it unpacks to; false where it cannot be read.
 */
bool file_size(const char *path, uint64_t *size);

/* Whether anything is there under this name; a dangling link is not. */
bool file_exists(const char *path);
/* Whether both names lead to one file that is there. */
bool file_is_same(const char *a, const char *b);

/* Writes a whole file, through io/outfile.h, after making the folders above it where they are missing. Fails with
 * ORR_EIO or ORR_ENOMEM; a file that had the name before is then untouched. */
ORR_MUST_CHECK enum orr_status file_write(const char *path, const void *bytes, size_t size, struct orr_error *err);

#endif
