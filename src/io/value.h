/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a configuration file says, whatever its syntax: a tree of scalars, lists and maps in which every value knows
 * its line. io/json.h and io/yaml.h build it; whoever reads a tree checks types and reports lines, and needs to know
 * neither format. A tree lives in the arena it was built in and is never changed.
 */
#ifndef ORR_IO_VALUE_H
#define ORR_IO_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum io_kind { IO_NULL, IO_BOOL, IO_INTEGER, IO_REAL, IO_TEXT, IO_LIST, IO_MAP };

/* Levels of lists and maps that a reader accepts: configuration is flat, deeper input is an attack or an accident. */
enum { IO_MAX_DEPTH = 32 };

struct io_value {
    enum io_kind kind;
    uint32_t line;         /* where the value starts, from 1 */
    uint32_t key_line;     /* where its key starts; 0 outside a map */
    uint32_t count;        /* values in a list or map */
    const char *key;       /* NULL outside a map */
    const char *text;      /* IO_TEXT; a YAML scalar of any kind as written; else NULL */
    struct io_value *next; /* in the same list or map, in the order of the file */
    union {
        bool boolean;
        int64_t integer;
        double real; /* finite */
        struct {
            struct io_value *first;
            struct io_value *last;
        };
    };
};

/* A zeroed value of `kind`, appended to `parent` unless that is NULL. NULL when memory is refused. */
struct io_value *io_value_add(struct arena *arena, struct io_value *parent, enum io_kind kind, uint32_t line);

/* The value of a key; NULL where the map has none, and of what is no map, NULL included. */
const struct io_value *io_value_member(const struct io_value *map, const char *key);

/* Reads all of `text` as a decimal number: kind IO_INTEGER when it is whole and fits, else IO_REAL. False when it is no
 * number, not finite, or begins with a superfluous 0, which some readers take for octal. Independent of the locale. */
bool io_number_parse(const char *text, struct io_value *number);

/* What was found, for a message: `"abc"`, `12`, `a list of 3`. Always one printable line; long texts are cut. */
const char *io_value_describe(const struct io_value *value, char *buffer, size_t size);

/* `text` cut and made printable, without quotes. */
const char *io_text_printable(const char *text, char *buffer, size_t size);

#endif
