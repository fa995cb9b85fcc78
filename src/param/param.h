/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters as rows: name, type with unit, bounds, default, group, one line of help, place in a struct. What reads a
 * parameter (an option of the program, orr_run_set, a sweep's point), checks it (orr_run_open), prints it (help, manual
 * page, completion, the command that repeats a run) or keeps it (the store) does so from its row and from nothing else.
 *
 * The rows of a run are in param/run.c; every command of the program adds its own beside its struct. Messages name a
 * parameter as "parameter 'NAME'"; a front end spells that in its own way (param_spell).
 *
 * Owns nothing: texts that are read are borrowed from the caller. Knows no file and no command.
 */
#ifndef ORR_PARAM_PARAM_H
#define ORR_PARAM_PARAM_H

#include <stdint.h>

#include "base/error.h"
#include "orrery/colltime.h"
#include "orrery/gen.h"
#include "orrery/machine.h"
#include "orrery/plan.h"
#include "orrery/run.h"
#include "orrery/simai.h"
#include "orrery/tools.h"
#include "orrery/trace.h"
#include "orrery/train.h"

enum param_kind {
    PARAM_FLAG,         /* bool: true once it is given; with a value name, true or false may follow */
    PARAM_TEXT,         /* const char * */
    PARAM_PATH,         /* the same, and names a file or folder */
    PARAM_WORD,         /* an enumeration: `first` plus the index in `words` */
    PARAM_CHOICE,       /* bool: one of two words, the second is true */
    PARAM_COUNT32,      /* uint32_t from least to most */
    PARAM_COUNT,        /* uint64_t from least to most */
    PARAM_REAL,         /* double from real_least to real_most; with a `unit` a rate: 400Gbps, a bare number is in it */
    PARAM_TIME,         /* uint64_t, ns; from least to most; a bare number is in `unit` */
    PARAM_MICROSECONDS, /* uint64_t, whole us, as traces count them; from least to most; a bare number is in us */
    PARAM_SIZE,         /* uint64_t, bytes; at least `least` */
    PARAM_READ,         /* whatever `read` makes of it */
};

/* Which commands' options a row of a run is. */
enum {
    PARAM_OF_RUN = 1 << 0,
    PARAM_OF_LAB = 1 << 1,
    PARAM_OF_SIMAI = 1 << 2,
    PARAM_OF_TRACE = 1 << 3, /* trace timeline and trace simplify, which simulate on the side */
    PARAM_OF_ALL = PARAM_OF_RUN | PARAM_OF_LAB | PARAM_OF_SIMAI,
};

enum {
    PARAM_RARE = 1 << 0,     /* told in the long help alone */
    PARAM_HIDDEN = 1 << 1,   /* told nowhere: an old spelling, or another program's */
    PARAM_WIRED = 1 << 2,    /* of a network on a wired topology: packet, flow or auto */
    PARAM_OPTIONAL = 1 << 3, /* its value may be left out */
    PARAM_MANY = 1 << 4,     /* may be given several times */
    PARAM_SINGLE = 1 << 5,   /* of one run: not for the points of a sweep */
    PARAM_CLEARS = 1 << 6,   /* `given` becomes false with it, not true */
    PARAM_DASH = 1 << 7,     /* a file to write that may be "-", standard output */
};

/* Headings of the help, in the order they are printed. */
enum param_group {
    PARAM_WHAT,
    PARAM_MACHINE,
    PARAM_GROWTH,
    PARAM_NETWORK,
    PARAM_COMPUTE,
    PARAM_SIMULATION,
    PARAM_ENVIRONMENT,
    PARAM_OUTPUT,
    PARAM_OTHER,
    PARAM_GROUPS
};

/* ORR_ERANGE or ORR_EINVAL: what a program wrote into the struct is no noise. */
ORR_MUST_CHECK enum orr_status param_noise_check(const struct orr_noise *noise, struct orr_error *err);

struct param {
    const char *name;     /* NULL ends a list of rows */
    const char *synonyms; /* older names, a blank between two; or NULL */
    char letter;          /* of the short option; '\0': none */
    enum param_kind kind;
    enum param_group group;
    unsigned flags;
    unsigned commands;        /* rows of a run: whose options it is */
    int first;                /* PARAM_WORD: the value of the first word */
    const char *value;        /* what the help calls the value: "FILE" */
    const char *help;         /* without a full stop at the end */
    const char *initial;      /* the default as one would write it; NULL: all bits 0 */
    const char *unwritten;    /* the default in words, where it is no value: "four round trips and 1 ms" */
    size_t place;             /* offset in its table's struct */
    size_t given;             /* offset of a bool that becomes true with it; 0: none */
    const char *const *words; /* NULL-terminated */
    const char *unit;
    uint64_t least, most; /* most 0: no bound */
    double real_least, real_most;
    const char *bounds; /* how a value outside them is refused: "must be more than 0"; NULL: by the numbers */
    /* PARAM_READ: `text` (NULL where it was left out) into the table's struct. The error names the parameter. */
    enum orr_status (*read)(const struct param *row, const char *text, void *into, struct orr_error *err);
    /* PARAM_READ: value number `index` as `read` would take it; false where there is none. NULL: there never is. */
    bool (*write)(const struct param *row, const void *from, size_t index, FILE *stream);
};

/* Rows and where their struct lies in the whole of a command's options. */
struct param_table {
    const struct param *rows;
    unsigned commands; /* only rows of these; 0: all */
    size_t at;
};

/* A row found in one of a command's tables, which end with rows NULL. */
struct param_found {
    const struct param *row;
    size_t at;
};

/* By name or synonym; row NULL where there is none. `length` may cut `name`. */
struct param_found param_find(const struct param_table *tables, const char *name, size_t length);
struct param_found param_find_letter(const struct param_table *tables, char letter);
bool param_belongs(const struct param_table *table, const struct param *row);

/* Fills names with those of all rows that are told, NULL-terminated; returns how many there are. */
enum { PARAM_NAMES_MOST = 160 };
size_t param_names(const struct param_table *tables, const char *names[PARAM_NAMES_MOST + 1]);

/* Reads `text` into the row's place of `into`, the struct of its table. `where` begins the error, NULL: "parameter
 * 'NAME'". `text` may be NULL for a flag and where the value may be left out. */
ORR_MUST_CHECK enum orr_status param_read(const struct param *row, const char *where, const char *text, void *into,
                                          struct orr_error *err);
/* Reads `text` into the parameter of that name, wherever its table's struct lies in `options`. An unknown name is
 * refused with the nearest: "WHOSE has no parameter ...". */
ORR_MUST_CHECK enum orr_status param_set(const struct param_table *tables, const char *whose, const char *name,
                                         const char *text, void *options, struct orr_error *err);
/* The defaults of all rows that have one; what has none is left as it is. */
void param_defaults(const struct param_table *tables, void *options);
/* Whether a value that is in the struct already could have been read: a word that exists, a number in its bounds. */
ORR_MUST_CHECK enum orr_status param_check(const struct param *row, const void *from, struct orr_error *err);
/* Whether both structs have the same there. PARAM_READ rows cannot be compared and are the same. */
bool param_same(const struct param *row, const void *a, const void *b);
/* Value number `index` as param_read would take it again; false where there is none: a flag that is off, a text that is
 * NULL, and beyond the first where one value is all there is. A flag that is on writes nothing. */
bool param_write(const struct param *row, const void *from, size_t index, FILE *stream);

/* A word that a shell gives back as it was. */
void param_write_word(const char *word, FILE *stream);
/* " --NAME VALUE" of every row of `commands` (0: any) whose value is another than that of `initial`; PARAM_READ rows
 * wherever they have something to write. A word of `initial` that is none (-1) has its row written always. */
ORR_MUST_CHECK enum orr_status param_write_command(const struct param *rows, unsigned commands, const void *from,
                                                   const void *initial, FILE *stream, struct orr_error *err);

/* What "parameter 'NAME'" is on a command line: "--NAME". Everything else of `text` stays. Returns what snprintf
 * would. */
size_t param_spell(const char *text, char *spelled, size_t room);
/* A text of at most 4 KB for who reads it on a terminal, its parameters spelled so. */
void param_print(FILE *stream, const char *format, ...) ORR_PRINTF(2, 3);

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* Each reads the whole of `text` or fails with a line that begins with `where` and says what is accepted. */
ORR_MUST_CHECK enum orr_status param_parse_count(const char *where, const char *text, uint64_t least, uint64_t most,
                                                 uint64_t *value, struct orr_error *err);
ORR_MUST_CHECK enum orr_status param_parse_real(const char *where, const char *text, double *value,
                                                struct orr_error *err);
/* In units of `unit`, which is one of rates, as is a bare number. */
ORR_MUST_CHECK enum orr_status param_parse_rate(const char *where, const char *text, const char *unit, double *value,
                                                struct orr_error *err);
ORR_MUST_CHECK enum orr_status param_parse_bool(const char *where, const char *text, bool *value,
                                                struct orr_error *err);
/* A bare number is in bytes; K, M and G alone are powers of 1024. */
ORR_MUST_CHECK enum orr_status param_parse_size(const char *where, const char *text, uint64_t *bytes,
                                                struct orr_error *err);
ORR_MUST_CHECK enum orr_status param_parse_time(const char *where, const char *text, const char *bare, uint64_t *ns,
                                                struct orr_error *err);
ORR_MUST_CHECK enum orr_status param_parse_word(const char *where, const char *text, const char *const *words,
                                                unsigned *index, struct orr_error *err);

/* ---- the parameters of a run ------------------------------------------------------------------------------------- */

extern const struct param param_run[];     /* places in struct orr_run_options */
extern const char *const param_backends[]; /* in the order of enum orr_backend */

/* What only a network of wires can do, asked of another, is a mistake. param_run_settle looks, unless the machine is
 * still to say which network it is. */
ORR_MUST_CHECK enum orr_status param_wired_check(const struct orr_run_options *options, struct orr_error *err);

ORR_MUST_CHECK enum orr_status param_tuning_settle(struct orr_tuning *tuning, bool source_given, struct orr_error *err);

/* The overrides that param_read made and that a caller may change; NULL: there are none. */
struct orr_override *param_run_sets(struct orr_run_options *options);

/* What the library refuses of a run's options by themselves, whoever filled them: rows out of bounds, what the network
 * cannot have, what contradicts. Files are not looked at. Fills in what follows from what was said. */
ORR_MUST_CHECK enum orr_status param_run_settle(struct orr_run_options *options, struct orr_error *err);

/* ---- the parameters of a training step --------------------------------------------------------------------------- */

extern const struct param param_train[]; /* places in struct orr_train_options */
extern const struct param param_plan[];  /* in struct orr_plan_options, beside those of its job */

/* ---- the parameters of SimAI's modes ------------------------------------------------------------------------------
 */

extern const struct param param_simai_analytical[]; /* places in struct orr_simai_analytical */
extern const struct param param_simai_simulation[]; /* in struct orr_simai_simulation, beside those of its run */

/* What the library refuses of the options by themselves. */
ORR_MUST_CHECK enum orr_status param_simai_analytical_check(const struct orr_simai_analytical *options,
                                                            struct orr_error *err);
ORR_MUST_CHECK enum orr_status param_simai_simulation_check(const struct orr_simai_simulation *options,
                                                            struct orr_error *err);

/* ---- those of other commands whose options begin from other values than 0: their init functions read the rows ---- */

extern const struct param param_coll[];             /* places in struct orr_coll_options */
extern const struct param param_coll_sweep[];       /* in struct orr_coll_sweep */
extern const struct param param_stg[];              /* in struct orr_stg_options */
extern const struct param param_convert[];          /* in struct orr_convert_options */
extern const struct param param_view[];             /* in struct orr_view_options */
extern const struct param param_chakra_generator[]; /* in struct orr_chakra_generator */

#endif
