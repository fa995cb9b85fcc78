/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery gen`: small traces to start from, one subcommand a pattern. */
#include "cli/cli.h"

#include <string.h>

#define AT(field) .place = offsetof(struct orr_gen_options, field)
#define ROW_NPUS                                                                                                       \
    {                                                                                                                  \
        "ranks", "npus", .kind = PARAM_COUNT32, .value = "N", AT(npus), .least = 1, .most = 1u << 20, .initial = "8",  \
                         .help = "Ranks to write"                                                                      \
    }
#define ROW_OUTPUT                                                                                                     \
    {                                                                                                                  \
        "output", .letter = 'o', .kind = PARAM_PATH, .value = "PREFIX", AT(prefix),                                    \
                  .help = "Required: files are PREFIX.RANK.et, or one archive where it is NAME.etz; missing folders "  \
                          "are made"                                                                                   \
    }

static const struct param collective_rows[] = {
    {"type", .kind = PARAM_TEXT, .value = "NAME", AT(type), .initial = "all-reduce",
     .help = "all-reduce, all-gather, reduce-scatter, reduce-scatter-block, all-to-all, broadcast, reduce, gather, "
             "scatter or barrier"},
    {"bytes", .kind = PARAM_SIZE, .value = "SIZE", AT(bytes), .initial = "1MiB",
     .help = "Size of the collective: 1MiB, 64KB, bytes"},
    ROW_NPUS,
    ROW_OUTPUT,
    {0},
};

static const struct param three_node_rows[] = {
    {"bytes", .kind = PARAM_SIZE, .value = "SIZE", AT(bytes), .initial = "1MiB",
     .help = "Size of the all-reduce; the all-gather has twice as much"},
    {"compute", .kind = PARAM_MICROSECONDS, .value = "TIME", AT(compute_us), .initial = "50us",
     .help = "Length of the compute node: 50us, 2ms; bare: us"},
    ROW_NPUS,
    ROW_OUTPUT,
    {0},
};

struct gen_command {
    struct orr_gen_options gen; /* first: the rows' places are its own */
    bool typed;                 /* the type was a word */
};

/* Collectives that a run only sends over the network where it is told to. */
static bool cli_gen_is_rooted(const char *type)
{
    static const char *const names[] = {"broadcast", "reduce", "gather", "scatter", "barrier"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(type, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void cli_gen_print_written(const struct orr_gen_options *gen)
{
    cli_print_traces(gen->prefix, gen->npus);
    (void)puts(".");
    if (gen->pattern == ORR_PATTERN_COLLECTIVE && cli_gen_is_rooted(gen->type) && gen->npus > 1) {
        cli_print_next((char *[]){"orrery run", "--workload", (char *)(uintptr_t)gen->prefix, "--machine", "ring",
                                  "--broadcast", "simulate", NULL});
    } else {
        cli_print_next_run(gen->prefix, gen->npus);
    }
}

static int cli_gen_generate(const struct cli_command *self, int argc, char **argv, enum orr_pattern pattern)
{
    struct gen_command command = {.gen.pattern = pattern};
    const struct orr_gen_options *gen = &command.gen;
    struct orr_error err = {0};
    int code = 0;
    param_defaults(self->usage->tables, &command);
    if (!cli_begin(self, argc, argv, &command, &code)) {
        return code;
    }
    enum orr_status status =
        gen->prefix == NULL || gen->prefix[0] == '\0'
            ? error_set(&err, ORR_EINVAL, "missing -o PREFIX (where to write; files are PREFIX.RANK.et)")
            : orr_gen(gen, &err);
    if (status != ORR_OK) {
        return cli_fail(&err);
    }
    cli_gen_print_written(gen);
    return 0;
}

static int run_collective(const struct cli_command *self, int argc, char **argv)
{
    return cli_gen_generate(self, argc, argv, ORR_PATTERN_COLLECTIVE);
}

static int run_three_node(const struct cli_command *self, int argc, char **argv)
{
    return cli_gen_generate(self, argc, argv, ORR_PATTERN_THREE_NODE);
}

/* The type, without --type before it. */
static enum orr_status gen_collective_word(void *options, const char *word, struct orr_error *err)
{
    struct gen_command *command = options;
    (void)err;
    if (command->typed) {
        return ORR_EINVAL;
    }
    command->typed = true;
    command->gen.type = word;
    return ORR_OK;
}

static const struct cli_usage collective_usage = {
    .argument = gen_collective_word,
    .forms = "[TYPE]",
    .tables = (const struct param_table[]){{collective_rows, 0, 0}, {0}},
    .about = "Write traces in which every rank takes part in one collective.",
    .examples = "  orrery gen collective --type all-reduce --bytes 1MiB --ranks 8 -o traces/ar\n"
                "  orrery gen collective all-to-all --ranks 64 -o alltoall.etz\n",
};

static const struct cli_usage three_node_usage = {
    .tables = (const struct param_table[]){{three_node_rows, 0, 0}, {0}},
    .about = "Write traces of three nodes: an all-reduce, and after it an all-gather of twice the size beside a "
             "compute node (demo 1 of the ASTRA-sim tutorial at Hot Interconnects 2024).",
    .examples = "  orrery gen three-node -o traces/three\n"
                "  orrery gen three-node --bytes 4MiB --compute 200us --ranks 16 -o traces/three\n",
};

static const struct cli_command gen_collective = {
    .name = "collective", .summary = "one collective on every rank", .usage = &collective_usage, .run = run_collective};

static const struct cli_command gen_three_node = {.name = "three-node",
                                                  .summary = "an all-reduce, then an all-gather beside compute",
                                                  .usage = &three_node_usage,
                                                  .run = run_three_node};

static const struct cli_command *const patterns[] = {&gen_collective, &gen_three_node, &cli_gen_ddp,
                                                     &cli_gen_aicb,   &cli_gen_stg,    NULL};

const struct cli_command cli_gen = {
    .name = "gen",
    .summary = "write traces and workloads",
    .subcommands = patterns,
    .about = "Examples:\n"
             "  orrery gen collective --type all-reduce --bytes 1MiB --ranks 8 -o traces/ar\n"
             "  orrery gen aicb training --model llama-7b --world_size 4 -o llama7b.txt\n"
             "  orrery gen stg -o traces/gpt --model_type gpt --batch 16 \\\n"
             "      --num_stacks 2 --dmodel 1024 --dff 4096 --head 16 --dp 2 --tp 2\n",
    .run = cli_dispatch,
};
