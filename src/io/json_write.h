/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON written as it comes, without a tree: documents as large as the disk in constant memory, keys in the order the
 * caller gives them, the same bytes for the same calls. Numbers never depend on the locale. Strings may hold any bytes:
 * what is not UTF-8 becomes U+FFFD, so that the document always parses.
 *
 * The caller owns the stream and looks for write errors there. Misnesting is a programming error (asserted).
 */
#ifndef ORR_IO_JSON_WRITE_H
#define ORR_IO_JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_WRITE_DEPTH = 16 };

struct json_writer {
    FILE *stream;
    unsigned int depth;
    bool filled[JSON_WRITE_DEPTH]; /* the container at this depth has an element already */
    bool flat[JSON_WRITE_DEPTH];   /* the container at this depth stays on one line */
    bool after_key;
};

void json_write_begin(struct json_writer *writer, FILE *stream);
void json_write_end(struct json_writer *writer); /* a final newline */

/* The same with the object that nearly every document is: its members come between the two. */
void json_write_document(struct json_writer *writer, FILE *stream);
void json_write_document_end(struct json_writer *writer);

/* Containers put each element on a line of its own; a flat one, and everything in it, stays on one line. */
void json_write_object(struct json_writer *writer, bool flat);
void json_write_object_end(struct json_writer *writer);
void json_write_array(struct json_writer *writer, bool flat);
void json_write_array_end(struct json_writer *writer);

void json_write_key(struct json_writer *writer, const char *key); /* `key` needs no escapes */
void json_write_string(struct json_writer *writer, const char *text);
void json_write_u64(struct json_writer *writer, uint64_t value);
void json_write_i64(struct json_writer *writer, int64_t value);
void json_write_bool(struct json_writer *writer, bool value);
void json_write_null(struct json_writer *writer);
/* Nanoseconds as microseconds, exactly: three decimals. */
void json_write_ns_as_us(struct json_writer *writer, uint64_t ns);
/* Rounded to `decimals`; null where the value is no finite number. */
void json_write_fixed(struct json_writer *writer, double value, int decimals);

/* As short as a reader gets the same number back; null likewise. */
void json_write_real(struct json_writer *writer, double value);

/* A key with its value; a text that is NULL is null. */
void json_write_member_u64(struct json_writer *writer, const char *key, uint64_t value);
void json_write_member_i64(struct json_writer *writer, const char *key, int64_t value);
void json_write_member_bool(struct json_writer *writer, const char *key, bool value);
void json_write_member_fixed(struct json_writer *writer, const char *key, double value, int decimals);
void json_write_member_string(struct json_writer *writer, const char *key, const char *text);
void json_write_member_object(struct json_writer *writer, const char *key, bool flat); /* to be ended as any other */
void json_write_member_array(struct json_writer *writer, const char *key, bool flat);

#endif
