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

/* Options that choose nodes, the same for every command that shows some; places in struct orr_trace_filter. */
extern const struct param cli_filter_rows[];
bool cli_filter_given(const struct orr_trace_filter *filter); /* whether anything was asked for */

#define CLI_UNKNOWN_SIZE_HELP                                                                                          \
    "Size of a communication whose size the input does not tell: 64KiB, 1MB, bytes. Without this it is an error"
/* `of` has unknown_size and has_unknown_size. */
#define CLI_ROW_UNKNOWN_SIZE(type, of, text)                                                                           \
    {                                                                                                                  \
        "unknown-size", .kind = PARAM_SIZE, .value = "BYTES", .place = offsetof(type, of.unknown_size),                \
                        .given = offsetof(type, of.has_unknown_size), .help = text                                     \
    }

/* Ranks read from a list, such as 0,2-5; count 0: all of them. The caller frees `list`. */
struct cli_ranks {
    uint32_t *list;
    uint32_t count;
};

enum orr_status cli_read_ranks(const struct param *row, const char *text, void *into, struct orr_error *err);
#define CLI_ROW_RANKS(type, field)                                                                                     \
    {                                                                                                                  \
        "rank", "ranks", .kind = PARAM_READ, .value = "LIST", .place = offsetof(type, field), .read = cli_read_ranks,  \
                         .help = "Only these ranks, such as 0,2-5, or auto: all that are there", .unwritten = "auto"   \
    }

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
extern const struct cli_command cli_trace_pack;
extern const struct cli_command cli_trace_unpack;

/* Puts the traces that are in it in the place of each archive (NAME.etz). */
ORR_MUST_CHECK enum orr_status cli_words_unfold(struct cli_words *words, struct orr_error *err);
void cli_words_free(struct cli_words *words);

extern const struct cli_command cli_trace_compose;
extern const struct cli_command cli_trace_diff;
extern const struct cli_command cli_trace_export;

#endif
