/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery gen`: small traces to start from, one subcommand a pattern. */
#include "cli/cli.h"

#include <inttypes.h>
#include <string.h>

enum { KEY_TYPE = 256, KEY_BYTES, KEY_COMPUTE, KEY_NPUS };

struct gen_options {
    struct cli_input input;
    struct orr_gen_options gen;
};

static const struct argp_option collective_options[] = {
    {"type", KEY_TYPE, "NAME", 0,
     "all-reduce (default), all-gather, reduce-scatter, reduce-scatter-block, all-to-all, broadcast, reduce, gather, "
     "scatter or barrier",
     0},
    {"bytes", KEY_BYTES, "SIZE", 0, "Size of the collective: 1MiB, 64KB, bytes. Default: 1MiB", 0},
    {"npus", KEY_NPUS, "N", 0, "Ranks to write. Default: 8", 0},
    {"output", 'o', "PREFIX", 0, "Files are PREFIX.RANK.et; missing folders are made. Required", 0},
    CLI_HELP_OPTION,
    {0},
};

static const struct argp_option three_node_options[] = {
    {"bytes", KEY_BYTES, "SIZE", 0, "Size of the all-reduce; the all-gather has twice as much. Default: 1MiB", 0},
    {"compute", KEY_COMPUTE, "TIME", 0, "Length of the compute node: 50us, 2ms; bare: us. Default: 50us", 0},
    {"npus", KEY_NPUS, "N", 0, "Ranks to write. Default: 8", 0},
    {"output", 'o', "PREFIX", 0, "Files are PREFIX.RANK.et; missing folders are made. Required", 0},
    CLI_HELP_OPTION,
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct gen_options *options = state->input;
    struct orr_error *err = &options->input.error;
    uint64_t count = 0;
    enum orr_status status = ORR_OK;
    switch (key) {
    case KEY_TYPE:
        options->gen.type = arg;
        return 0;
    case 'o':
        options->gen.prefix = arg;
        return 0;
    case KEY_BYTES:
        return cli_options_status(param_parse_size("--bytes", arg, &options->gen.bytes, err));
    case KEY_COMPUTE:
        return cli_options_status(cli_parse_trace_time("--compute", arg, &options->gen.compute_us, err));
    case KEY_NPUS:
        status = param_parse_count("--npus", arg, 1, 1u << 20, &count, err);
        options->gen.npus = (uint32_t)count;
        return cli_options_status(status);
    default:
        return cli_options_default(key, arg, state);
    }
}

static void print_written(const struct orr_gen_options *gen)
{
    if (gen->npus == 1) {
        (void)printf("Wrote %s.0.et.\n", gen->prefix);
    } else {
        (void)printf("Wrote %" PRIu32 " traces, %s.0.et to %s.%" PRIu32 ".et.\n", gen->npus, gen->prefix, gen->prefix,
                     gen->npus - 1);
    }
    (void)printf("Look at one:     orrery trace show %s.0.et\n"
                 "Simulate them:   orrery run --workload %s --system system.json --network network.yml\n"
                 "                 (a network file with %" PRIu32 " ranks; orrery config describes both files)\n",
                 gen->prefix, gen->prefix, gen->npus);
}

static int generate(const struct cli_command *self, int argc, char **argv, enum orr_pattern pattern)
{
    struct gen_options options = {
        .gen = {.pattern = pattern, .type = "all-reduce", .bytes = 1u << 20, .compute_us = 50, .npus = 8}};
    struct orr_error err = {0};
    enum orr_status status = cli_options_parse(self, argc, argv, &options.input, &err);
    if (status == ORR_OK && options.input.help) {
        cli_print_help(self, argv[0], stdout);
        return 0;
    }
    if (status == ORR_OK && (options.gen.prefix == NULL || options.gen.prefix[0] == '\0')) {
        status = error_set(&err, ORR_EINVAL, "missing -o PREFIX (where to write; files are PREFIX.RANK.et)");
    }
    if (status == ORR_OK) {
        status = orr_gen(&options.gen, &err);
    }
    if (status != ORR_OK) {
        return cli_fail(&err);
    }
    print_written(&options.gen);
    return 0;
}

static int run_collective(const struct cli_command *self, int argc, char **argv)
{
    return generate(self, argc, argv, ORR_PATTERN_COLLECTIVE);
}

static int run_three_node(const struct cli_command *self, int argc, char **argv)
{
    return generate(self, argc, argv, ORR_PATTERN_THREE_NODE);
}

static const struct argp collective_argp = {
    .options = collective_options,
    .parser = parse,
    .doc = "Write traces in which every rank takes part in one collective.\v"
           "Examples:\n"
           "  orrery gen collective --type all-reduce --bytes 1MiB --npus 8 -o traces/ar\n"
           "  orrery gen collective --type all-to-all --npus 64 -o traces/alltoall\n",
};

static const struct argp three_node_argp = {
    .options = three_node_options,
    .parser = parse,
    .doc = "Write traces of three nodes: an all-reduce, and after it an all-gather of twice the size beside a compute "
           "node (demo 1 of the ASTRA-sim tutorial at Hot Interconnects 2024).\v"
           "Examples:\n"
           "  orrery gen three-node -o traces/three\n"
           "  orrery gen three-node --bytes 4MiB --compute 200us --npus 16 -o traces/three\n",
};

static const struct cli_command gen_collective = {
    .name = "collective", .summary = "one collective on every rank", .argp = &collective_argp, .run = run_collective};

static const struct cli_command gen_three_node = {.name = "three-node",
                                                  .summary = "an all-reduce, then an all-gather beside compute",
                                                  .argp = &three_node_argp,
                                                  .run = run_three_node};

static const struct cli_command *const patterns[] = {&gen_collective, &gen_three_node, &cli_gen_ddp,
                                                     &cli_gen_aicb,   &cli_gen_stg,    NULL};

const struct cli_command cli_gen = {
    .name = "gen",
    .summary = "write traces and workloads",
    .subcommands = patterns,
    .about = "Examples:\n"
             "  orrery gen collective --type all-reduce --bytes 1MiB --npus 8 -o traces/ar\n"
             "  orrery gen aicb training --model llama-7b --world_size 4 -o llama7b.txt\n"
             "  orrery gen stg -o traces/gpt --model_type gpt --batch 16 \\\n"
             "      --num_stacks 2 --dmodel 1024 --dff 4096 --head 16 --dp 2 --tp 2\n",
    .run = cli_dispatch,
};
