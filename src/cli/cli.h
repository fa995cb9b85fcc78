/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the subcommands share: how a command is described, how its options are read, how it speaks and how it ends.
 *
 * A command is a row: name, one-line summary, what it takes (struct cli_usage), function. The functions return the
 * program's exit code (orr_status_exit_code). Standard output carries results only, standard error carries messages,
 * one line each, that start with "orrery: ". Nothing here may know more of the library than orrery.h shows.
 */
#ifndef ORR_CLI_CLI_H
#define ORR_CLI_CLI_H

#include "base/error.h"
#include "orrery.h"
#include "param/param.h"

struct cli_command;

/* What a command takes, in rows; all texts for its help. */
struct cli_usage {
    const struct param_table *tables; /* places in the command's own struct; ends with rows NULL */
    const char *forms;                /* behind "[OPTION...]", one a line: "FILE... -o OUT"; NULL: nothing. In brackets
                                       * where it may be left out; else the name alone prints the usage */
    const char *about;                /* a paragraph above the options */
    const char *notes;                /* and below them; or NULL */
    const char *examples;             /* two blanks before each line; or NULL */
    const char *ending;               /* below the examples; or NULL */
    const char *const *headings;      /* by enum param_group; NULL, or NULL inside: the common ones */
    size_t words; /* place of a struct cli_words that takes the words that are no options; 0: none */
    /* Instead: such a word; NULL: there are none. ORR_EINVAL without a text: there is no place for it. */
    enum orr_status (*argument)(void *options, const char *word, struct orr_error *err);
    /* For a command whose rows are made when it runs: hands the command with all of them to `use`. NULL: these are all.
     */
    void (*whole)(const struct cli_command *command, void (*use)(const struct cli_command *whole, void *context),
                  void *context);
};

/* Words that are no options, in the order given: the beginning of `argv`, where the reader gathers them. */
struct cli_words {
    char **list;
    size_t count;
    bool unfolded; /* by cli_words_unfold: the list and its texts are to be freed */
};

struct cli_command {
    const char *name;
    const char *summary;                          /* for the list of commands; no full stop */
    const struct cli_usage *usage;                /* NULL for a command that only has subcommands */
    const struct cli_command *const *subcommands; /* NULL-terminated, or NULL */
    const char *about;                            /* of a command with subcommands: printed below the list of them */
    bool takes_prefixes; /* a long option may be cut short where only one begins so, as Python's argparse has it */
    /* `argv[0]` is the command's full name, such as "orrery run". */
    int (*run)(const struct cli_command *self, int argc, char **argv);
};

extern const struct cli_command cli_orrery; /* the root of all */
extern const struct cli_command cli_run;
extern const struct cli_command cli_gen;
extern const struct cli_command cli_gen_aicb;
extern const struct cli_command cli_gen_ddp;
extern const struct cli_command cli_gen_stg;
extern const struct cli_command cli_trace;
extern const struct cli_command cli_topo;
extern const struct cli_command cli_coll;
extern const struct cli_command cli_op;
extern const struct cli_command cli_machine;
extern const struct cli_command cli_advise;
extern const struct cli_command cli_goodput;
extern const struct cli_command cli_tune;
extern const struct cli_command cli_plan;
extern const struct cli_command cli_report;
extern const struct cli_command cli_follow;
extern const struct cli_command cli_serve;
extern const struct cli_command cli_train;
extern const char *const cli_train_headings[PARAM_GROUPS]; /* of the rows that train and plan share */
/* Their word that is no option: the model, once. */
ORR_MUST_CHECK enum orr_status cli_take_model(const char **model, const char *word);
extern const struct cli_command cli_validate;
extern const struct cli_command cli_completion;
extern const struct cli_command cli_config;
extern const struct cli_command cli_simai;
extern const struct cli_command cli_calc;
extern const struct cli_command cli_lab;
extern const struct cli_command cli_sweep;
extern const struct cli_command cli_calib;
extern const struct cli_command cli_doctor;
extern const struct cli_command cli_cost;
extern const struct cli_command cli_help;
extern const struct cli_command cli_version;

/* Runs the subcommand argv[1] names, or prints the help that was asked for. */
int cli_dispatch(const struct cli_command *parent, int argc, char **argv);

/* ---- options ---------------------------------------------------------------------------------------------------- */

/* What is asked for instead of doing anything: --help, --help-all; and the same rows as a section of the manual page,
 * as one of the reference page, as a JSON schema (--help-man, --help-markdown, --help-schema, which `orrery help`
 * gives).
 */
enum cli_help { CLI_HELP_NONE, CLI_HELP_SHORT, CLI_HELP_ALL, CLI_HELP_MAN, CLI_HELP_MARKDOWN, CLI_HELP_SCHEMA };

/* Reads argv into `options`, whose defaults the caller has set, until help is asked for. ORR_EINVAL or ORR_ERANGE with
 * the reason in `err`. */
ORR_MUST_CHECK enum orr_status cli_read(const struct cli_command *command, int argc, char **argv, void *options,
                                        enum cli_help *help, struct orr_error *err);
/* The same, and says what is wrong or prints the help; false: the command is over, with this exit code. */
ORR_MUST_CHECK bool cli_begin(const struct cli_command *command, int argc, char **argv, void *options, int *exit_code);

/* The help from the rows, in the form asked for; and usage and examples alone, on standard error, for who typed the
 * name and nothing else, which gives the exit code. */
void cli_print_options(const struct cli_command *command, const char *path, enum cli_help help, FILE *stream);
int cli_print_brief(const struct cli_command *command, const char *path);
/* A row's help as printed: options spelled, the default behind it; the first sentence, or all of it. */
void cli_row_text(const struct param *row, bool all, char *text, size_t room);

/* For who prints the rows in another form: whether a row is told below a group's heading, in the long help or in the
 * short one; the heading; whether groups have some. */
bool cli_is_told(const struct param_table *table, const struct param *row, enum param_group group, bool all);
const char *cli_heading(const struct cli_usage *usage, enum param_group group);
bool cli_has_headings(const struct cli_usage *usage, bool all);
/* CLI_HELP_MAN and CLI_HELP_MARKDOWN; CLI_HELP_SCHEMA. */
void cli_print_reference(const struct cli_command *command, const char *path, enum cli_help help, FILE *stream);
void cli_print_schema(const struct cli_command *command, const char *path, FILE *stream);

/* Rows that several commands have: one name, one wording. `type` is the struct of the table, `field` the place. */
#define CLI_ROW_STRICT(type, field)                                                                                    \
    {                                                                                                                  \
        "strict", .kind = PARAM_FLAG, .group = PARAM_OTHER, .place = offsetof(type, field),                            \
                  .help = "Make every warning an error: whatever is inferred, repaired or dropped"                     \
    }
#define CLI_ROW_QUIET(type, field)                                                                                     \
    {                                                                                                                  \
        "quiet", .letter = 'q', .kind = PARAM_FLAG, .group = PARAM_OTHER, .place = offsetof(type, field),              \
                 .help = "Neither warnings nor progress"                                                               \
    }
#define CLI_ROW_LIMIT(type, field)                                                                                     \
    {                                                                                                                  \
        "memory-limit", .kind = PARAM_SIZE, .group = PARAM_OTHER, .flags = PARAM_RARE, .value = "SIZE",                \
                        .place = offsetof(type, field), .least = 1,                                                    \
                        .bounds = "leaves no memory; leave it out for 80 % of the machine",                            \
                        .help = "Stop with exit code 3 rather than use more memory: 512M, 8GiB, bytes",                \
                        .unwritten = "the environment variable ASTRA_SIM_MEMORY_LIMIT, else 80 % of the machine"       \
    }
#define CLI_ROW_JSON(type, field)                                                                                      \
    {                                                                                                                  \
        "json", .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "OUT", .place = offsetof(type, field),             \
                .help = "Also write JSON to the file OUT; - is standard output, in place of the text"                  \
    }
#define CLI_ROW_REPORT(type, field)                                                                                    \
    {                                                                                                                  \
        "report", .kind = PARAM_PATH, .group = PARAM_OUTPUT, .flags = PARAM_SINGLE, .value = "FILE",                   \
                  .place = offsetof(type, field),                                                                      \
                  .help = "Also write a page to open in a browser (HTML, docs/report.md)"                              \
    }
#define CLI_ROW_CHART(type, field)                                                                                     \
    {                                                                                                                  \
        "chart", .kind = PARAM_PATH, .group = PARAM_OUTPUT, .flags = PARAM_SINGLE, .value = "FILE.svg",                \
                 .place = offsetof(type, field), .help = "Also draw it (SVG)"                                          \
    }
#define CLI_ROW_CSV(type, field)                                                                                       \
    {                                                                                                                  \
        "csv", .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "OUT", .place = offsetof(type, field),              \
               .help = "Also write a table (CSV) to the file OUT; - is standard output, in place of the text"          \
    }

/* Where --memory-limit was not given (`*limit` is 0) the environment may say it. */
ORR_MUST_CHECK enum orr_status cli_limit_default(uint64_t *limit, struct orr_error *err);

/* ---- messages --------------------------------------------------------------------------------------------------- */

/* One line on standard error, "orrery: " before it. Line breaks and control characters in it are shown as '?'. */
void cli_error(const char *fmt, ...) ORR_PRINTF(1, 2);
int cli_fail(const struct orr_error *err); /* the same; returns the exit code */

/* How a command ends whose report the library writes to standard output: 0, or one line that says what failed. */
int cli_end(enum orr_status status, const struct orr_error *err);

/* The vector as a shell would take it again, argv[0] as it is; the caller frees it. NULL when there is no memory. */
char *cli_quote_command(int argc, char **argv);

/* On standard output, the command that one would give next: its words, NULL-terminated, quoted where a shell needs it.
 */
void cli_print_next(char **words);
/* The same for traces at `prefix`: a run on a ring of as many ranks. */
void cli_print_next_run(const char *prefix, uint32_t ranks);
/* "Wrote 4 traces into NAME.etz" or, of files, "Wrote 4 traces, NAME.0.et to NAME.3.et": no end of a line. */
void cli_print_traces(const char *prefix, uint32_t ranks);
/* Whether traces written to `prefix` become one archive. */
bool cli_is_archive(const char *prefix);

enum { CLI_WARNINGS_SHOWN = 20 };

/* Warnings up to a number that a person reads; the rest is counted. */
struct cli_warnings {
    bool quiet;
    uint64_t count;
};

void cli_warn(struct cli_warnings *warnings, const char *text);
void cli_warnings_end(const struct cli_warnings *warnings);                 /* says how many were not shown */
struct orr_notices cli_notices(struct cli_warnings *warnings, bool strict); /* that warn in this way */

/* ---- results ---------------------------------------------------------------------------------------------------- */

/* Flushes standard output and returns `exit_code`, or 1 with a message when what was written did not arrive. */
int cli_finish(int exit_code);

/* Says that standard output could not be written and gives up what it still holds; returns the exit code. */
int cli_stdout_failed(const char *reason);

/* Fails when a file could not be put at `path` once the work is done: no such folder, one that may not be written to,
 * or a folder of that name. */
ORR_MUST_CHECK enum orr_status cli_check_writable(const char *option, const char *path, struct orr_error *err);

/* Fails when `path` cannot name a file to write: empty, "-", or a folder. Folders above it may still be missing. */
ORR_MUST_CHECK enum orr_status cli_check_name(const char *option, const char *path, struct orr_error *err);

/* Whether both name one regular file; NULL names none. */
bool cli_same_file(const char *a, const char *b);

/* Whether `path` is PREFIX.R.et of the prefix, by its spelling or as a file. */
bool cli_is_rank_file(const char *path, const char *prefix);

/* As cli_check_writable for a folder that is made where missing. */
ORR_MUST_CHECK enum orr_status cli_check_folder(const char *option, const char *path, struct orr_error *err);
/* Of a timeline: a folder where the name ends in '/', else a file. */
ORR_MUST_CHECK enum orr_status cli_check_timeline(const char *option, const char *path, struct orr_error *err);

/* An output that is made whole before any of it is written: one cut short would be worse than none. */
struct cli_text {
    FILE *stream; /* to write to */
    char *text;
    size_t size;
};
ORR_MUST_CHECK enum orr_status cli_text_open(struct cli_text *made, struct orr_error *err);
/* Ends it, whatever came of making it (`status`, which is given back unless this fails), and where that went well
 * writes it: to the file `path`, or to standard output where that is NULL or "-". */
ORR_MUST_CHECK enum orr_status cli_text_close(struct cli_text *made, enum orr_status status, const char *path,
                                              struct orr_error *err);

/* What an answer is written to besides standard output: a file each, or "-", where it goes there in place of the text;
 * or NULL. */
struct cli_forms {
    const char *json, *csv;
    const char *chart;  /* the file of a picture; the command draws it (cli_chart_put); or NULL */
    const char *report; /* the file of a page with the JSON in it; or NULL */
    int argc;           /* what was typed, which the page shows: of a command with --report */
    char **argv;
};
ORR_MUST_CHECK enum orr_status cli_chart_check(const char *path, struct orr_error *err);
/* Writes what `draw` draws to the file that --chart named; does nothing where it named none. */
ORR_MUST_CHECK enum orr_status
cli_chart_put(const char *path, enum orr_status (*draw)(void *context, FILE *stream, struct orr_error *err),
              void *context, struct orr_error *err);
/* Makes a page of one document and writes it; argc 0: how to repeat it is not told. */
ORR_MUST_CHECK enum orr_status cli_report_text(const char *path, int argc, char **argv, const char *name,
                                               const char *json, size_t size, struct orr_error *err);
/* The files that an answer is made of. */
struct cli_inputs {
    const char *const *list;
    size_t count;
};
/* Fails where one cannot be written or is an input, or both want standard output. */
ORR_MUST_CHECK enum orr_status cli_forms_check(const struct cli_forms *forms, struct cli_inputs inputs,
                                               struct orr_error *err);
/* Asks for the answer in each form that is wanted, and writes it where it goes, each whole or not at all. */
/* The answer as JSON in memory, which the caller frees whatever came of it. */
ORR_MUST_CHECK enum orr_status cli_json_text(enum orr_status (*answer)(void *context, enum orr_form form, FILE *stream,
                                                                       struct orr_error *err),
                                             void *context, char **text, size_t *size, struct orr_error *err);
ORR_MUST_CHECK enum orr_status cli_forms_put(const struct cli_forms *forms,
                                             enum orr_status (*answer)(void *context, enum orr_form form, FILE *stream,
                                                                       struct orr_error *err),
                                             void *context, struct orr_error *err);

#endif
