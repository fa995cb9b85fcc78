/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery machine list|show`: what --machine takes. */
#include "cli/cli.h"

#include <string.h>

struct machine_options {
    const char *name;
    uint32_t ranks;
    struct cli_forms forms;
};

static const struct param list_rows[] = {
    CLI_ROW_JSON(struct machine_options, forms.json), CLI_ROW_CSV(struct machine_options, forms.csv), {0}};
static const struct param_table list_tables[] = {{list_rows, 0, 0}, {0}};

static const struct param show_rows[] = {
    {"ranks", .letter = 'n', .kind = PARAM_COUNT32, .group = PARAM_WHAT, .value = "N",
     .place = offsetof(struct machine_options, ranks), .least = 2, .most = INT32_MAX,
     .help = "How many ranks, of a machine whose name leaves it open", .unwritten = "8, or a server's"},
    CLI_ROW_JSON(struct machine_options, forms.json),
    {0},
};
static const struct param_table show_tables[] = {{show_rows, 0, 0}, {0}};

static enum orr_status cli_machine_take_name(void *into, const char *word, struct orr_error *err)
{
    struct machine_options *options = into;
    if (options->name != NULL) {
        return error_set(err, ORR_EINVAL, "\"%.80s\": only one machine can be shown; put a line in quotes", word);
    }
    options->name = word;
    return ORR_OK;
}

static enum orr_status cli_machine_put_list(void *context, enum orr_form form, FILE *stream, struct orr_error *err)
{
    (void)context;
    return orr_machine_list(form, stream, err);
}

static enum orr_status cli_machine_put_one(void *context, enum orr_form form, FILE *stream, struct orr_error *err)
{
    const struct machine_options *options = context;
    return orr_machine_show(options->name, options->ranks, form, stream, err);
}

static int cli_machine_run(const struct cli_command *self, int argc, char **argv)
{
    struct machine_options options = {0};
    struct orr_error err = {0};
    int code = 0;
    bool list = strcmp(self->name, "list") == 0;
    if (!cli_begin(self, argc, argv, &options, &code)) {
        return code;
    }
    enum orr_status status = options.name == NULL && !list
                                 ? error_set(&err, ORR_EINVAL, "no machine given; orrery machine list has the names")
                                 : cli_forms_check(&options.forms, (struct cli_inputs){NULL, 0}, &err);
    status = status == ORR_OK
                 ? cli_forms_put(&options.forms, list ? cli_machine_put_list : cli_machine_put_one, &options, &err)
                 : status;
    return cli_end(status, &err);
}

static const struct cli_usage list_usage = {.tables = list_tables,
                                            .about = "List the machines that --machine takes by name.",
                                            .examples = "  orrery machine list\n  orrery machine list --json -\n"};
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
    .name = "list", .summary = "the machines there are", .usage = &list_usage, .run = cli_machine_run};
static const struct cli_command machine_show = {
    .name = "show", .summary = "what a machine is", .usage = &show_usage, .run = cli_machine_run};
static const struct cli_command *const commands[] = {&machine_list, &machine_show, NULL};

const struct cli_command cli_machine = {
    .name = "machine",
    .summary = "list and describe machines by name",
    .subcommands = commands,
    .about = "Examples:\n  orrery machine list\n  orrery machine show dgx-h100:16\n",
    .run = cli_dispatch,
};
