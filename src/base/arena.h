/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An arena: allocations that live and die together (a loaded trace, a configuration, a report). Freed as a whole.
 * Memory comes from, and is accounted in, a `struct mem` that must outlive it.
 */
#ifndef ORR_BASE_ARENA_H
#define ORR_BASE_ARENA_H

#include <stddef.h>

#include "base/mem.h"

struct arena_block;

struct arena {
    struct mem *mem;
    struct arena_block *newest;
};

void arena_init(struct arena *arena, struct mem *mem);
void arena_free(struct arena *arena); /* leaves it empty and usable */

/* NULL when memory is refused (mem_error says why). Aligned for any type. Not zeroed. */
void *arena_alloc(struct arena *arena, size_t bytes);
void *arena_zalloc(struct arena *arena, size_t bytes);
/* A NUL-terminated copy of the `length` bytes at `text`. */
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_printf(struct arena *arena, const char *fmt, ...) ORR_PRINTF(2, 3);

#endif
