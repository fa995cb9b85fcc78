/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index of an archive of traces in bytes, for io/etz_read.c and io/etz_write.c: rows of fixed size, so that one is
 * read without the others, each ending with a check of itself. All numbers are little-endian.
 *
 *   contents   offset 8, bytes packed 8, unpacked 8, XXH3 of them 8, like 4 (another content + 1, or 0), form 4, 0 4
 *   runs       first rank 4, content 4, base of its ids 8, what each rank adds to it 8, names 4 (a content + 1, or 0)
 *   sides      ending of the name 48, content 4, 0 8
 *   trailer    offset of the index 8, counts of contents, runs, sides, ranks 4 each, 0 28; then the magic
 */
#ifndef ORR_IO_ETZ_INDEX_H
#define ORR_IO_ETZ_INDEX_H

#include <endian.h>
#include <string.h>

#include "io/etz.h"

enum { ETZ_CONTENT_BYTES = 48, ETZ_RUN_BYTES = 32, ETZ_SIDE_BYTES = 64, ETZ_TRAILER_BYTES = 64, ETZ_CHECK_BYTES = 4 };

/* A content as its bytes are, as io/etz_form.h has them, and the same with partners. */
enum etz_content_form { ETZ_PLAIN, ETZ_FORM, ETZ_FORM_BY_RANK, ETZ_CONTENT_FORMS };

struct etz_content {
    uint64_t offset, packed, unpacked, hash;
    uint32_t like; /* another content + 1, which this one was packed against and which stands alone; 0: none */
    uint32_t form;
};

struct etz_run {
    uint32_t first, content;
    uint64_t base, step;
    uint32_t names; /* of groups: another content + 1; 0: none */
};

/* Traces unpack to a fiftieth or a thousandth; what claims much more, and to be large, was made to fill a machine. */
enum { ETZ_LARGE_BYTES = 1 << 30, ETZ_MOST_TIMES = 4000 };

static inline void etz_put32(uint8_t *at, uint32_t value)
{
    value = htole32(value);
    memcpy(at, &value, sizeof value);
}

static inline void etz_put64(uint8_t *at, uint64_t value)
{
    value = htole64(value);
    memcpy(at, &value, sizeof value);
}

/* Of a row of `size` bytes, its last four left out. */
uint32_t etz_check_of(const uint8_t *row, size_t size);

#endif
