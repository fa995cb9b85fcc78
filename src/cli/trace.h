/* The subcommands of `orrery trace`, one file each. */
#ifndef ORR_CLI_TRACE_H
#define ORR_CLI_TRACE_H

#include "cli/cli.h"

extern const struct cli_command cli_trace_import;
extern const struct cli_command cli_trace_recipe;
extern const struct cli_command cli_trace_ready;
extern const struct cli_command cli_trace_view;
extern const struct cli_command cli_trace_timeline;

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
