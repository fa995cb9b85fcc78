/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery machine list|show`: what --machine takes. */
#include "cli/cli.h"

struct machine_options {
    const char *name;
    uint32_t ranks;
};

static const struct param_table no_options[] = {{0}};

static const struct param show_rows[] = {
    {"ranks", .letter = 'n', .kind = PARAM_COUNT32, .group = PARAM_WHAT, .value = "N",
     .place = offsetof(struct machine_options, ranks), .least = 2, .most = INT32_MAX,
     .help = "How many ranks, of a machine whose name leaves it open", .unwritten = "8, or a server's"},
    {0},
};
static const struct param_table show_tables[] = {{show_rows, 0, 0}, {0}};

static enum orr_status cli_machine_take_name(void *into, const char *word, struct orr_error *err)
{
    struct machine_options *options = into;
    if (options->name != NULL) {
        return error_set(err, ORR_EINVAL, "\"%.80s\": one machine is shown at a time; put a line in quotes", word);
    }
    options->name = word;
    return ORR_OK;
}

static int cli_machine_run_list(const struct cli_command *self, int argc, char **argv)
{
    struct machine_options options = {0};
    struct orr_error err = {0};
    int code = 0;
    return cli_begin(self, argc, argv, &options, &code) ? cli_end(orr_machine_list(stdout, &err), &err) : code;
}

static int cli_machine_run_show(const struct cli_command *self, int argc, char **argv)
{
    struct machine_options options = {0};
    struct orr_error err = {0};
    int code = 0;
    if (!cli_begin(self, argc, argv, &options, &code)) {
        return code;
    }
    enum orr_status status = options.name == NULL
                                 ? error_set(&err, ORR_EINVAL, "no machine given; orrery machine list has the names")
                                 : orr_machine_show(options.name, options.ranks, stdout, &err);
    return cli_end(status, &err);
}

static const struct cli_usage list_usage = {.tables = no_options,
                                            .about = "List the machines that --machine takes by name.",
                                            .examples = "  orrery machine list\n"};
static const struct cli_usage show_usage = {
    .tables = show_tables,
    .forms = "NAME|LINE",
    .about =
        "Show what a machine is: its devices, the dimensions that the analytical networks see, the wires that flow "
        "and packet see, and where the figures come from.",
    .examples = "  orrery machine show dgx-h100:16\n"
                "  orrery machine show 'dgx-h100:16 > rail:400Gbps > spine:8'\n"
                "  orrery machine show torus3d --ranks 128\n",
    .argument = cli_machine_take_name,
};

static const struct cli_command machine_list = {
    .name = "list", .summary = "the machines there are", .usage = &list_usage, .run = cli_machine_run_list};
static const struct cli_command machine_show = {
    .name = "show", .summary = "what a machine is", .usage = &show_usage, .run = cli_machine_run_show};
static const struct cli_command *const commands[] = {&machine_list, &machine_show, NULL};

const struct cli_command cli_machine = {
    .name = "machine",
    .summary = "machines by name: what there is, and what it means",
    .subcommands = commands,
    .about = "Examples:\n  orrery machine list\n  orrery machine show dgx-h100:16\n",
    .run = cli_dispatch,
};
