/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks double from 4 KiB to 1 MiB, so that a run with thousands of small arenas stays small and a large trace needs
 * few blocks; a request larger than a block gets a block of its own. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/plain.h"

enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };

struct arena_block {
    struct arena_block *older;
    size_t bytes; /* of the whole block, header included */
    size_t next;  /* offset of the first free byte */
};

static const size_t alignment = _Alignof(max_align_t);

static size_t align_up(size_t n)
{
    return (n + alignment - 1) & ~(alignment - 1);
}

void arena_init(struct arena *arena, struct mem *mem)
{
    arena->mem = mem;
    arena->newest = NULL;
}

void arena_free(struct arena *arena)
{
    while (arena->newest != NULL) {
        struct arena_block *block = arena->newest;
        arena->newest = block->older;
        mem_free(arena->mem, block, block->bytes);
    }
}

static struct arena_block *arena_grow(struct arena *arena, size_t bytes)
{
    size_t header = align_up(sizeof(struct arena_block));
    size_t size = FIRST_BLOCK;
    if (arena->newest != NULL && arena->newest->bytes >= FIRST_BLOCK) {
        size = arena->newest->bytes * 2 < LARGEST_BLOCK ? arena->newest->bytes * 2 : LARGEST_BLOCK;
    }
    if (bytes > SIZE_MAX - header) {
        arena->mem->refused = bytes;
        return NULL;
    }
    if (size < header + bytes) {
        size = header + bytes;
    }
    struct arena_block *block = mem_alloc(arena->mem, size);
    if (block == NULL) {
        return NULL;
    }
    block->older = arena->newest;
    block->bytes = size;
    block->next = header;
    arena->newest = block;
    return block;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX - alignment) {
        arena->mem->refused = bytes;
        return NULL;
    }
    bytes = align_up(bytes);
    struct arena_block *block = arena->newest;
    if (block == NULL || block->bytes - block->next < bytes) {
        block = arena_grow(arena, bytes);
        if (block == NULL) {
            return NULL;
        }
    }
    void *at = (char *)block + block->next;
    block->next += bytes;
    return at;
}

void *arena_zalloc(struct arena *arena, size_t bytes)
{
    void *at = arena_alloc(arena, bytes);
    if (at != NULL) {
        memset(at, 0, bytes);
    }
    return at;
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc(arena, length + 1);
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

char *arena_printf(struct arena *arena, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    va_list again;
    va_copy(again, args);
    int length = plain_vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *text = length < 0 ? NULL : arena_alloc(arena, (size_t)length + 1);
    if (text != NULL) {
        (void)plain_vsnprintf(text, (size_t)length + 1, fmt, again);
    }
    va_end(again);
    return text;
}
