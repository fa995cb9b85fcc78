/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts kept once each and named by a 32-bit number: a trace repeats a few hundred names millions of times. Number 0 is
 * the empty text. Numbers count up in the order of first appearance, so they do not depend on the hash. Grows; nothing
 * is removed before the whole is freed. Texts are terminated and may hold any byte but NUL (a NUL cuts the text).
 */
#ifndef ORR_BASE_INTERN_H
#define ORR_BASE_INTERN_H

#include "base/map.h"

struct intern_entry;
MAP_STRUCT(intern_table, uint32_t); /* of numbers; 0, the empty text, is never in it */

struct intern {
    struct mem *mem;
    char *bytes; /* all texts, one after the other */
    struct intern_entry *entries;
    struct intern_table table;
    uint32_t byte_count, byte_capacity;
    uint32_t entry_count, entry_capacity;
};

/* Takes no memory yet and cannot fail. */
void intern_init(struct intern *intern, struct mem *mem);
void intern_free(struct intern *intern);

/* False when memory is refused (mem_error says why). */
ORR_MUST_CHECK bool intern_add(struct intern *intern, const char *text, size_t length, uint32_t *number);

/* The number of a text that is there already, or UINT32_MAX. */
uint32_t intern_find(const struct intern *intern, const char *text, size_t length);

/* Valid until the next intern_add. */
const char *intern_text(const struct intern *intern, uint32_t number);
uint32_t intern_length(const struct intern *intern, uint32_t number);
uint32_t intern_count(const struct intern *intern); /* numbers below it exist; at least 1 */

#endif
