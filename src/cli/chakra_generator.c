/* SPDX-License-Identifier: Apache-2.0 */
/* chakra_generator: Chakra's example traces, into the working folder. */
#include "cli/chakra_names.h"

enum { RANKS_MAX = 1 << 20 };

#define AT(field) .place = offsetof(struct orr_chakra_generator, field)

static const struct param rows[] = {
    {"num_npus", .kind = PARAM_COUNT32, .value = "N", AT(npus), .least = 1, .most = RANKS_MAX, .help = "Ranks to write",
     .initial = "64"},
    {"default_runtime", .kind = PARAM_COUNT, .value = "US", AT(runtime_us), .help = "Duration of compute nodes, us",
     .initial = "5"},
    {"default_tensor_size", .kind = PARAM_COUNT, .value = "BYTES", AT(tensor_bytes),
     .help = "Size of memory, send and receive nodes", .initial = "1024"},
    {"default_comm_size", .kind = PARAM_COUNT, .value = "BYTES", AT(comm_bytes), .most = INT64_MAX,
     .help = "Size of collectives", .initial = "65536"},
    {0},
};
static const struct param_table tables[] = {{rows, 0, 0}, {0}};

static const struct cli_usage usage = {
    .tables = tables,
    .about = "Write Chakra's fourteen families of example traces into the working folder, FAMILY.RANK.et. To make "
             "traces that simulate, use orrery gen.",
    .examples = "  chakra_generator --num_npus 4 --default_comm_size 1048576\n",
};

static const struct cli_command command = {.name = "chakra_generator", .usage = &usage, .takes_prefixes = true};

int cli_chakra_generator(int argc, char **argv)
{
    struct orr_chakra_generator options;
    struct orr_error err = {0};
    int exit_code = 0;
    orr_chakra_generator_init(&options);
    if (!cli_chakra_options(&command, argc, argv, &options, &exit_code)) {
        return exit_code;
    }
    return orr_chakra_generate(&options, &err) == ORR_OK ? 0 : cli_fail(&err);
}
