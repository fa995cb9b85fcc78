/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stretch of JSON text in memory and the places where its tokens begin: brackets, commas, colons, strings, scalars.
 * The stretch may be cut anywhere when more is to come (`final` false); its last token is then not counted, since it
 * may go on. Owns the bytes. Knows nothing of grammar.
 */
#ifndef ORR_IO_JSON_TEXT_H
#define ORR_IO_JSON_TEXT_H

#include "base/mem.h"
#include "io/json_shim.h"

/* What is wrong, at which byte of the stretch; `wanted`: `what` names what was expected instead of what is there. */
struct json_fault {
    const char *what; /* NULL = nothing */
    uint32_t at;
    bool wanted;
};

struct json_text {
    struct mem *mem;
    char *bytes; /* a NUL follows the last; room for one more beyond it */
    size_t size;
    size_t capacity;
    const uint32_t *at;      /* where tokens begin; at[count] is there too and no less than the last token's end */
    uint32_t count;          /* tokens that are complete */
    size_t rest;             /* where a token that is not complete begins, else `indexed` */
    size_t indexed;          /* bytes looked at: size, less a character or escape that is cut */
    uint32_t backslash;      /* the first one that was not passed; UINT32_MAX when there is none */
    struct json_fault fault; /* behind the last token */
    struct json_indexer *indexer;
    size_t indexer_capacity;
    uint32_t *own; /* places found without simdjson, in texts that it refuses */
    uint32_t own_capacity;
};

void json_text_init(struct json_text *text, struct mem *mem);
void json_text_free(struct json_text *text); /* leaves it empty and usable */

/* Makes room for `capacity` bytes, keeping those there. False when refused. Ends what `at` points to. */
ORR_MUST_CHECK bool json_text_reserve(struct json_text *text, size_t capacity);

/* Finds the tokens of bytes[0..size). With `trim` a character or escape cut off at the end is left out. False when
 * memory is refused. */
ORR_MUST_CHECK bool json_text_index(struct json_text *text, bool final, bool trim);

/* The end of the string that begins at token `i`: the offset of its closing quote. */
static inline uint32_t json_text_string_end(const struct json_text *text, uint32_t i)
{
    uint32_t end = text->at[i + 1] - 1;
    while (text->bytes[end] != '"') { /* only blanks can lie between a string's end and the next token */
        end--;
    }
    return end;
}

/* Whether there is a backslash from `begin` to `end`. Asked from front to back: what was passed is forgotten. */
bool json_text_has_backslash(struct json_text *text, uint32_t begin, uint32_t end);

#endif
