/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the fuzz targets of the configuration readers share: an account, notes and an arena for one input, and what must
 * hold whatever the input was.
 */
#ifndef ORR_FUZZ_READING_H
#define ORR_FUZZ_READING_H

#include <stdlib.h>

#include "base/notes.h"

struct fuzz_reading {
    struct mem mem;
    struct notes notes;
    struct arena arena;
    struct orr_error err;
};

static inline void fuzz_reading_begin(struct fuzz_reading *reading)
{
    *reading = (struct fuzz_reading){.mem = {.limit = 64u << 20}};
    notes_init(&reading->notes, &reading->mem, false);
    arena_init(&reading->arena, &reading->mem);
}

static inline void fuzz_check_line(const char *line)
{
    if (*line == '\0') {
        abort();
    }
    for (; *line != '\0'; line++) {
        if ((unsigned char)*line < 0x20) {
            abort();
        }
    }
}

static inline void fuzz_check_status(const struct fuzz_reading *reading, enum orr_status status)
{
    if (status != ORR_OK) {
        fuzz_check_line(reading->err.text);
    }
    for (uint32_t i = 0; i < reading->notes.count; i++) {
        fuzz_check_line(reading->notes.lines[i]);
    }
}

static inline void fuzz_reading_end(struct fuzz_reading *reading)
{
    notes_free(&reading->notes);
    arena_free(&reading->arena);
    if (reading->mem.used != 0) {
        abort();
    }
}

#endif
