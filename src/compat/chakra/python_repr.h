/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON values as Python prints them: [1, 'a', True, None, 1e-07, {'k': 1}]. Chakra stores a node's values, shapes and
 * types as such texts (spec chakra §8.4), and its readers parse them, so they must be the same to the byte: quotes,
 * escapes and which characters of Unicode count as printable.
 *
 * Texts gather in a buffer that is used again for the next node; its memory is accounted in a struct mem.
 */
#ifndef ORR_COMPAT_CHAKRA_PYTHON_REPR_H
#define ORR_COMPAT_CHAKRA_PYTHON_REPR_H

#include "io/json_stream.h"

struct python_text {
    struct mem *mem;
    char *bytes; /* not terminated */
    size_t size, capacity;
    const struct json_item **open; /* stack of a walk */
    uint32_t open_capacity;
};

void python_text_init(struct python_text *text, struct mem *mem);
void python_text_free(struct python_text *text);

/* Appends str(item): a text bare, everything else as repr. False when memory is refused. */
ORR_MUST_CHECK bool python_text_add(struct python_text *text, const struct json_item *item);

/* str.isprintable of Python 3.11 (Unicode 14) for one code point. */
bool python_is_printable(uint32_t code);

#endif
