/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the tokens of a text to json_item structs: grammar, numbers and escapes. Texts of items point into the text
 * where nothing is escaped, else into a buffer of the flattener's; both are valid until its next use. Knows no files.
 */
#ifndef ORR_IO_JSON_FLATTEN_H
#define ORR_IO_JSON_FLATTEN_H

#include "io/json_stream.h"
#include "io/json_text.h"

enum { JSON_DEPTH_LIMIT = 512 };

struct json_flattener {
    struct mem *mem;
    struct json_item *items; /* of the value last flattened */
    uint32_t item_count, item_capacity;
    char *unescaped;
    size_t unescaped_size, unescaped_capacity;
    uint32_t open[JSON_DEPTH_LIMIT]; /* items of the containers around the current one */
};

enum json_flatten_result {
    JSON_FLATTEN_OK,
    JSON_FLATTEN_MORE, /* the tokens end before the value does */
    JSON_FLATTEN_BAD,  /* `fault` says what and where */
    JSON_FLATTEN_NO_MEMORY,
};

void json_flattener_init(struct json_flattener *flattener, struct mem *mem);
void json_flattener_free(struct json_flattener *flattener); /* leaves it empty and usable */

/*
 * Flattens the value that begins at token `*token`; on success `*token` is the one behind it and `*end` the offset of
 * the first byte behind it. `depth_limit` containers may lie in each other, at most JSON_DEPTH_LIMIT.
 */
enum json_flatten_result json_flatten(struct json_flattener *flattener, struct json_text *text, uint32_t depth_limit,
                                      uint32_t *token, uint32_t *end, struct json_fault *fault);

/*
 * Reads the number or word at `text`, which a NUL ends at the latest, into `item`. Gives the length taken, or 0 with
 * `*what` set. Numbers are JSON's, with NaN, Infinity and -Infinity as Python writes them; what follows is not looked
 * at.
 */
uint32_t json_scalar_read(const char *text, struct json_item *item, const char **what);

#endif
