/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stdio stream that packs what is written to it into a file descriptor: gzip or zstd. Writers do not know whether
 * they are packed. stdio remembers that a write failed, but not why when the failure came from below a cookie: the
 * reason is kept in an int of the caller's. Used by io/outfile.c.
 */
#ifndef ORR_IO_PACK_H
#define ORR_IO_PACK_H

#include <stdio.h>

/* Takes over `descriptor`, also on failure (NULL). `*reason` becomes the first errno of a failed write or close; it
 * must live as long as the stream. */
FILE *io_pack_gzip(int descriptor, int *reason);
FILE *io_pack_zstd(int descriptor, int *reason);

#endif
