/* SPDX-License-Identifier: Apache-2.0 */
/* Repeated lines are dropped here rather than at each caller: a thousand ranks that share a fault are one fault. */
#include "base/notes.h"

#include <stdarg.h>
#include <string.h>

#include "base/plain.h"

void notes_init(struct notes *notes, struct mem *mem, bool strict)
{
    *notes = (struct notes){.strict = strict};
    arena_init(&notes->arena, mem);
}

void notes_free(struct notes *notes)
{
    mem_free(notes->arena.mem, (void *)notes->lines, (size_t)notes->capacity * sizeof *notes->lines);
    notes->lines = NULL;
    notes->count = 0;
    notes->capacity = 0;
    arena_free(&notes->arena);
}

enum orr_status notes_add(struct notes *notes, struct orr_error *err, const char *fmt, ...)
{
    char line[sizeof err->text];
    va_list args;
    va_start(args, fmt);
    (void)plain_vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    if (notes->strict) {
        return error_set(err, ORR_EINVAL, "%s (an error because of parameter 'strict')", line);
    }
    for (uint32_t i = 0; i < notes->count; i++) {
        if (strcmp(notes->lines[i], line) == 0) {
            return ORR_OK;
        }
    }
    char *copy = arena_strndup(&notes->arena, line, strlen(line));
    if (copy == NULL || !MEM_GROW(notes->arena.mem, notes->lines, notes->capacity, notes->count)) {
        return mem_error(notes->arena.mem, "the list of warnings", err);
    }
    notes->lines[notes->count++] = copy;
    return ORR_OK;
}
