/*
 * Files read whole into accounted memory. Everything that can be wrong with a path (missing, unreadable, a directory, a
 * device, too large for the memory limit) is said here once, in one line that starts with the path; readers above only
 * see bytes. Knows no format. What is written piece by piece goes through io/outfile.h.
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

/* Whether anything is there under this name; a dangling link is not. */
bool file_exists(const char *path);

/* Writes a whole file, through io/outfile.h, after making the folders above it where they are missing. Fails with
 * ORR_EIO or ORR_ENOMEM; a file that had the name before is then untouched. */
ORR_MUST_CHECK enum orr_status file_write(const char *path, const void *bytes, size_t size, struct orr_error *err);

#endif
