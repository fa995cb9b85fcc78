/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the configuration readers share: an account, notes and an arena for one reading, and a check that
 * nothing of it leaks.
 */
#ifndef ORR_TESTS_CONFIG_READING_H
#define ORR_TESTS_CONFIG_READING_H

#include "config/config.h"
#include "tests/check.h"

struct reading {
    struct mem mem;
    struct notes notes;
    struct arena arena;
    struct orr_error err;
};

/* A text that must be refused: with which words, and on which line. */
struct bad_text {
    const char *text;
    const char *part;
};

static inline void reading_begin(struct reading *reading, bool strict)
{
    *reading = (struct reading){.mem = {0}};
    notes_init(&reading->notes, &reading->mem, strict);
    arena_init(&reading->arena, &reading->mem);
}

static inline void reading_end(struct reading *reading)
{
    notes_free(&reading->notes);
    arena_free(&reading->arena);
    CHECK_U64(reading->mem.used, 0, "bytes are left in the account");
}

static inline void check_noted(const struct reading *reading, const char *line)
{
    for (uint32_t i = 0; i < reading->notes.count; i++) {
        if (strcmp(reading->notes.lines[i], line) == 0) {
            return;
        }
    }
    for (uint32_t i = 0; i < reading->notes.count; i++) {
        print_error("noted: %s\n", reading->notes.lines[i]);
    }
    CHECK(false, "not noted: %s", line);
}

static inline void check_nothing_noted(const struct reading *reading)
{
    CHECK(reading->notes.count == 0, "noted: %s", reading->notes.lines[0]);
}

/* An error is one printable line. */
static inline void check_refusal(const struct reading *reading, enum orr_status status, const struct bad_text *bad)
{
    CHECK(status == ORR_EINVAL || status == ORR_ERANGE, "accepted: %s", bad->text);
    CHECK_CONTAINS(reading->err.text, bad->part);
    for (const char *c = reading->err.text; *c != '\0'; c++) {
        CHECK((unsigned char)*c >= 0x20, "a control character in: %s", reading->err.text);
    }
}

#endif
