/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A configuration format as a table: one row a key, with its type, default, range, meaning and the place of its value
 * in a struct. The readers, the reference page and the JSON schema are made from the same rows, so that none of them
 * can promise what another does not do. Knows trees of values (io/value.h) but opens no file; only config/ includes it.
 */
#ifndef ORR_CONFIG_TABLE_H
#define ORR_CONFIG_TABLE_H

#include "base/notes.h"
#include "config/override.h"
#include "io/value.h"

enum { CONFIG_MAX_ROWS = 40 };

/* name, C type of the value at the row's offset, JSON schema of one value, what the reference page calls it */
#define CONFIG_TYPES(X)                                                                                                \
    X(CHOICE, enum, "string", "name")                                                                                  \
    X(SWITCH, bool, "switch", "0 or 1")                                                                                \
    X(COUNT, uint32_t, "number", "whole number")                                                                       \
    X(COUNT64, uint64_t, "number", "whole number")                                                                     \
    X(TIME, uint64_t, "quantity", "time, whole ns")                                                                    \
    X(TIME_SINGLE, uint64_t, "quantity", "time, whole ns")                                                             \
    X(TIME_REAL, double, "quantity", "time, ns")                                                                       \
    X(RATE_GB, double, "quantity", "rate, GB/s")                                                                       \
    X(RATE_GB_WHOLE, uint64_t, "quantity", "rate, whole GB/s")                                                         \
    X(RATE_GIB, double, "quantity", "rate, GiB/s")                                                                     \
    X(SIZE, uint64_t, "quantity", "size, bytes")                                                                       \
    X(REAL, double, "number", "number")                                                                                \
    X(REAL_SINGLE, double, "number", "number")                                                                         \
    X(ALGORITHMS, struct sim_implementation, "names", "list of algorithms")                                            \
    X(CUSTOM, const char *, "paths", "list of one path prefix")                                                        \
    X(PATH, const char *, "string", "path")                                                                            \
    X(RANKS, none, "ranks", "list of ranks")                                                                           \
    X(IGNORED, none, "any", "anything")

enum config_type {
#define CONFIG_X(name, storage, schema, words) CONFIG_##name,
    CONFIG_TYPES(CONFIG_X)
#undef CONFIG_X
};

enum config_flag {
    CONFIG_REQUIRED = 1 << 0,     /* absence is an error */
    CONFIG_NOTE_DEFAULT = 1 << 1, /* absence is noted, because the result depends on it and the original is unclear */
    CONFIG_ANY_KEY = 1 << 2,      /* `key` describes the keys instead of being one; read by the format's own code */
};

struct config_row {
    const char *key;
    enum config_type type;
    uint32_t flags;
    const char *fallback;       /* the value when the key is absent, as the file would spell it; NULL = nothing */
    double min, max;            /* of numbers, before a fraction is cut */
    size_t offset;              /* into the struct the format fills */
    const char *const *choices; /* CHOICE: accepted names, NULL-terminated; the value is the index */
    const char *help;
};

struct config_format {
    const char *id;      /* in the JSON schema */
    const char *title;   /* on the reference page */
    const char *option;  /* of `orrery run` */
    const char *syntax;  /* "json", "yaml" */
    const char *summary; /* Markdown */
    const char *example; /* a whole file that is accepted without a note */
    const struct config_row *rows;
    uint32_t row_count;
    size_t item_bytes; /* 0: a key has one value. Else a list, item i at offset + i * item_bytes */
    uint32_t max_items;
};

extern const struct config_format config_format_system;
extern const struct config_format config_format_network;
extern const struct config_format config_format_memory;
extern const struct config_format config_format_groups;
extern const struct config_format config_format_custom_nodes;

/* The file being read and where what is said about it goes. */
struct config_reader {
    const char *name;    /* of the file, for messages */
    struct arena *arena; /* of strings that outlive the reading; may be NULL where a format has none */
    struct notes *notes;
    struct orr_error *err;
    const struct config_override *overrides; /* go before what the file says */
    uint32_t override_count;
};

/* Which rows the file had, and where. */
struct config_seen {
    uint32_t line[CONFIG_MAX_ROWS];  /* of the key; 0 = absent */
    uint32_t count[CONFIG_MAX_ROWS]; /* values read, in a format of lists */
};

/* Fills `target` with every row's value or default. Unknown keys are notes. */
ORR_MUST_CHECK enum orr_status config_table_read(const struct config_reader *reader, const struct config_format *format,
                                                 const struct io_value *root, void *target, struct config_seen *seen);

/* A key of the file, or what stands in its place. */
ORR_MUST_CHECK enum orr_status config_key_read(const struct config_reader *reader, const struct config_format *format,
                                               uint32_t index, const struct io_value *value, void *target,
                                               struct config_seen *seen);

/* override.c: which rows the file's own values do not count for, and the values that do. A key that the format does not
 * have is an error with the nearest one. */
ORR_MUST_CHECK enum orr_status config_overrides_rows(const struct config_reader *reader,
                                                     const struct config_format *format,
                                                     bool replaced[CONFIG_MAX_ROWS]);
ORR_MUST_CHECK enum orr_status config_overrides_read(const struct config_reader *reader,
                                                     const struct config_format *format, void *target,
                                                     struct config_seen *seen);

/* One value of a row into `place`; `entry` is its number in a list from 1, or 0. */
ORR_MUST_CHECK enum orr_status config_value_read(const struct config_reader *reader, const struct config_row *row,
                                                 const struct io_value *value, uint32_t entry, void *place);
/* The types that are whole lists: ALGORITHMS, CUSTOM, PATH. */
ORR_MUST_CHECK enum orr_status config_algorithms_read(const struct config_reader *reader, const struct config_row *row,
                                                      const struct io_value *value, void *place);
ORR_MUST_CHECK enum orr_status config_path_read(const struct config_reader *reader, const struct config_row *row,
                                                const struct io_value *value, void *place);

/* What a row accepts, in words: type, names, range. */
const char *config_row_accepts(const struct config_row *row, char *buffer, size_t size);

#endif
