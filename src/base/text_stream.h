/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream into memory, like POSIX's open_memstream, whose lack of memory can be seen: the C library's own lets writes
 * fall away without marking the stream as failed, so that a text cut short would pass for a whole one. Knows nothing of
 * what is written.
 */
#ifndef ORR_BASE_TEXT_STREAM_H
#define ORR_BASE_TEXT_STREAM_H

#include <stdio.h>

/*
 * NULL when there is no memory. `*text` and `*size` are set by fclose, which also tells (EOF, as ferror does before)
 * whether memory ran out: then `*text` is NULL. Otherwise it ends with a NUL byte that `*size` does not count, and the
 * caller frees it.
 */
FILE *text_stream_open(char **text, size_t *size);

#endif
