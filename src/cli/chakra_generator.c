/* SPDX-License-Identifier: Apache-2.0 */
/* chakra_generator: Chakra's example traces, into the working folder. */
#include "cli/chakra_names.h"

enum { KEY_NPUS = 256, KEY_RUNTIME, KEY_TENSOR, KEY_COMM, RANKS_MAX = 1 << 20 };

struct generator_options {
    struct cli_input input;
    struct orr_chakra_generator generator;
};

static const struct argp_option options_table[] = {
    {"num_npus", KEY_NPUS, "N", 0, "Ranks to write. Default: 64", 0},
    {"default_runtime", KEY_RUNTIME, "US", 0, "Duration of compute nodes, us. Default: 5", 0},
    {"default_tensor_size", KEY_TENSOR, "BYTES", 0, "Size of memory, send and receive nodes. Default: 1024", 0},
    {"default_comm_size", KEY_COMM, "BYTES", 0, "Size of collectives. Default: 65536", 0},
    CLI_HELP_OPTION,
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct generator_options *options = state->input;
    struct orr_chakra_generator *generator = &options->generator;
    struct orr_error *err = &options->input.error;
    uint64_t count = 0;
    enum orr_status status;
    switch (key) {
    case KEY_NPUS:
        status = param_parse_count("--num_npus", arg, 1, RANKS_MAX, &count, err);
        generator->npus = (uint32_t)count;
        return cli_options_status(status);
    case KEY_RUNTIME:
        return cli_options_status(
            param_parse_count("--default_runtime", arg, 0, UINT64_MAX, &generator->runtime_us, err));
    case KEY_TENSOR:
        return cli_options_status(
            param_parse_count("--default_tensor_size", arg, 0, UINT64_MAX, &generator->tensor_bytes, err));
    case KEY_COMM:
        return cli_options_status(
            param_parse_count("--default_comm_size", arg, 0, INT64_MAX, &generator->comm_bytes, err));
    default:
        return cli_options_default(key, arg, state);
    }
}

static const struct argp argp = {
    .options = options_table,
    .parser = parse,
    .doc = "Write Chakra's fourteen families of example traces into the working folder, FAMILY.RANK.et. To make traces "
           "that simulate, use orrery gen.\v"
           "Example:\n  chakra_generator --num_npus 4 --default_comm_size 1048576\n",
};

static const struct cli_command command = {.name = "chakra_generator", .argp = &argp, .takes_prefixes = true};

int cli_chakra_generator(int argc, char **argv)
{
    struct generator_options options = {0};
    orr_chakra_generator_init(&options.generator);
    struct orr_error err = {0};
    int exit_code = 0;
    if (!cli_chakra_options(&command, argc, argv, &options.input, &exit_code)) {
        return exit_code;
    }
    return orr_chakra_generate(&options.generator, &err) == ORR_OK ? 0 : cli_fail(&err);
}
