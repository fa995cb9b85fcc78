/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A nameless temporary file that grows at its end and is read at any place: for unpacked bytes that will be needed
 * again but not kept in memory. Lies in TMPDIR, else /tmp, and is gone when closed or when the program ends, however it
 * ends.
 */
#ifndef ORR_IO_SPOOL_H
#define ORR_IO_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct io_spool {
    int fd;        /* -1 = none */
    uint64_t size; /* bytes in it */
};

#define IO_SPOOL_NONE ((struct io_spool){.fd = -1})

/* Fail with ORR_EIO, naming the folder and the reason. */
ORR_MUST_CHECK enum orr_status io_spool_open(struct io_spool *spool, struct orr_error *err);
ORR_MUST_CHECK enum orr_status io_spool_append(struct io_spool *spool, const void *bytes, size_t size,
                                               struct orr_error *err);
/* `*got` is less than `size` only where the spool ends. */
ORR_MUST_CHECK enum orr_status io_spool_read_at(const struct io_spool *spool, uint64_t offset, void *into, size_t size,
                                                size_t *got, struct orr_error *err);
void io_spool_close(struct io_spool *spool); /* one that is not open is fine */

#endif
