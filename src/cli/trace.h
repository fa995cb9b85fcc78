/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands of `orrery trace`, one file each. */
#ifndef ORR_CLI_TRACE_H
#define ORR_CLI_TRACE_H

#include "cli/cli.h"

extern const struct cli_command cli_trace_import;
extern const struct cli_command cli_trace_recipe;
extern const struct cli_command cli_trace_ready;
extern const struct cli_command cli_trace_view;
extern const struct cli_command cli_trace_timeline;

/* Options that choose nodes, the same for every command that shows some; keys from CLI_FILTER_KEY on are theirs. */
enum { CLI_FILTER_KEY = 512, CLI_FILTER_NAME = CLI_FILTER_KEY, CLI_FILTER_TYPE, CLI_FILTER_FROM, CLI_FILTER_TO };
#define CLI_FILTER_OPTIONS                                                                                             \
    {"name",                                                                                                           \
     CLI_FILTER_NAME,                                                                                                  \
     "PATTERN",                                                                                                        \
     0,                                                                                                                \
     "Only nodes of this name: a shell pattern (nccl*), or a regular expression between slashes (/all_?reduce/)",      \
     0},                                                                                                               \
        {"type",                                                                                                       \
         CLI_FILTER_TYPE,                                                                                              \
         "LIST",                                                                                                       \
         0,                                                                                                            \
         "Only these: compute, cpu, gpu, memory, communication, collective, send, receive, other, or a collective "    \
         "such as all-reduce",                                                                                         \
         0},                                                                                                           \
        {"from",                                                                                                       \
         CLI_FILTER_FROM,                                                                                              \
         "TIME",                                                                                                       \
         0,                                                                                                            \
         "Only nodes that started no earlier, counted from the first start: 5ms; a bare number is in us",              \
         0},                                                                                                           \
    {                                                                                                                  \
        "to", CLI_FILTER_TO, "TIME", 0, "Only nodes that started before this", 0                                       \
    }

/* Takes a key of CLI_FILTER_OPTIONS; false: it is none. `*failed` is argp's. */
bool cli_filter_parse(int key, const char *arg, struct orr_trace_filter *filter, struct orr_error *err,
                      error_t *failed);
/* Whether anything was asked for. */
bool cli_filter_given(const struct orr_trace_filter *filter);

/* A list of ranks, such as 0,2-5. Replaces `*ranks`, which is the caller's to free, also after a failure. */
ORR_MUST_CHECK enum orr_status cli_parse_ranks(const char *option, const char *text, uint32_t **ranks, uint32_t *count,
                                               struct orr_error *err);

extern const struct cli_command cli_trace_convert;

/* Chakra's converter by its own options; argv[0] is the name it was called by. */
int cli_chakra_converter(int argc, char **argv);

/* An input, an output, and the one does not replace the other; `option` is the output's name for messages. */
ORR_MUST_CHECK enum orr_status cli_convert_check_paths(const struct orr_convert_options *convert, const char *option,
                                                       struct orr_error *err);

extern const struct cli_command cli_trace_link;

/* Chakra's linker by its own options; argv[0] is the name it was called by. */
int cli_chakra_trace_link(int argc, char **argv);

/* The tools that edit, compare and export traces. */
extern const struct cli_command cli_trace_fix;
extern const struct cli_command cli_trace_simplify;
extern const struct cli_command cli_trace_scale;
extern const struct cli_command cli_trace_rewrite;
extern const struct cli_command cli_trace_cut;
extern const struct cli_command cli_trace_merge;
extern const struct cli_command cli_trace_compose;
extern const struct cli_command cli_trace_diff;
extern const struct cli_command cli_trace_export;

#endif
