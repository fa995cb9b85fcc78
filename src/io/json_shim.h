/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only place where C++ is spoken: simdjson's first stage (where in a text the brackets, commas, colons, strings and
 * scalars begin, with the widest vector instructions the machine has) and the C++ library's shortest and exact
 * conversions of reals. Knows no files and no structs of ours; no exception can leave it.
 *
 * The second stage is ours (json_flatten.h): simdjson's keeps no number as it was written, has no NaN and no integer
 * beyond 64 bits.
 */
#ifndef ORR_IO_JSON_SHIM_H
#define ORR_IO_JSON_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct json_indexer;

enum json_shim_result {
    JSON_SHIM_OK,
    JSON_SHIM_EMPTY,    /* nothing but blanks */
    JSON_SHIM_UNCLOSED, /* ends inside a string */
    JSON_SHIM_REFUSED,  /* invalid UTF-8, a raw control character in a string, or beyond the capacity */
};

/* NULL when there is no memory. `capacity` is the longest text in bytes, below 4 GiB. */
struct json_indexer *json_indexer_make(size_t capacity);
void json_indexer_free(struct json_indexer *indexer); /* NULL is fine */
size_t json_indexer_bytes(size_t capacity);           /* about what one takes in memory */

/* Offsets of all that begins, rising; `*at` belongs to the indexer and is valid until its next use. Only with OK. */
enum json_shim_result json_indexer_run(struct json_indexer *indexer, const char *text, size_t size, const uint32_t **at,
                                       uint32_t *count);

/* The double nearest to a number in JSON's grammar, infinite when it is too large. */
double json_shim_real(const char *text, size_t length);

/* The shortest digits that read back as `value` (finite), as d.ddde±xx. Returns the length; `room` of 32 is enough. */
unsigned json_shim_digits(double value, char *text, size_t room);

#ifdef __cplusplus
}
#endif

#endif
