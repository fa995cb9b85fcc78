/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery topo`: machines as they are wired; listed, checked, measured, drawn. Making one is in topo_make.c. */
#include "cli/topo.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One file, or one name, and what is done with it. */
struct topo_command {
    struct cli_warnings warnings;
    const char *file;
    const char *output;
    const char *dims;
    struct cli_forms forms;
    bool text;
};

#define AT(field) .place = offsetof(struct topo_command, field)

static const struct param_table no_options[] = {{0}};

static enum orr_status cli_topo_take_file(void *into, const char *word, struct orr_error *err)
{
    struct topo_command *command = into;
    if (command->file != NULL) {
        return error_set(err, ORR_EINVAL, "\"%s\": only one is taken, and %s was named already", word, command->file);
    }
    command->file = word;
    return ORR_OK;
}

/* Options read and help printed; false when the command has ended with `*exit_code`. */
static bool cli_topo_begin(const struct cli_command *self, int argc, char **argv, struct topo_command *command,
                           int *exit_code)
{
    struct orr_error err = {0};
    if (!cli_begin(self, argc, argv, command, exit_code)) {
        return false;
    }
    if (command->file == NULL) {
        (void)error_set(&err, ORR_EINVAL, "no machine given; %s needs a physical topology", argv[0]);
        *exit_code = cli_fail(&err);
        return false;
    }
    return true;
}

/* ---- list ---- */

static int cli_topo_run_list(const struct cli_command *self, int argc, char **argv)
{
    struct topo_command command = {0};
    struct orr_error err = {0};
    int exit_code = 0;
    if (!cli_begin(self, argc, argv, &command, &exit_code)) {
        return exit_code;
    }
    return cli_end(orr_topo_list(command.file, stdout, &err), &err);
}

static const struct cli_usage list_usage = {
    .tables = no_options,
    .forms = "[NAME]",
    .about = "List the machines that orrery topo make knows by name, or say what one of them takes and where its "
             "figures come from.",
    .examples = "  orrery topo list\n  orrery topo list dgx-h100\n",
    .argument = cli_topo_take_file,
};

static const struct cli_command topo_list = {.name = "list",
                                             .summary = "list the machines that can be made by name",
                                             .usage = &list_usage,
                                             .run = cli_topo_run_list};

/* ---- check ---- */

static int cli_topo_run_check(const struct cli_command *self, int argc, char **argv)
{
    struct topo_command command = {0};
    struct orr_error err = {0};
    uint64_t findings = 0;
    int exit_code = 0;
    if (!cli_topo_begin(self, argc, argv, &command, &exit_code)) {
        return exit_code;
    }
    enum orr_status status = orr_topo_check(command.file, stdout, &findings, &err);
    if (status != ORR_OK) {
        return cli_end(status, &err);
    }
    (void)printf("%s: %" PRIu64 " finding%s\n", command.file, findings, findings == 1 ? "" : "s");
    return findings == 0 ? 0 : orr_status_exit_code(ORR_EINVAL);
}

static const struct cli_usage check_usage = {
    .tables = no_options,
    .forms = "FILE",
    .about = "Find what is wrong with a physical topology (ASTRA-sim's or SimAI's form): counts of the header, numbers "
             "out of range, links to oneself or written twice, hosts that cannot reach each other, hosts and switches "
             "with less than others like them. Exit code 2 when there is something.",
    .examples = "  orrery topo check topology.txt\n",
    .argument = cli_topo_take_file,
};

static const struct cli_command topo_check = {.name = "check",
                                              .summary = "find what is wrong with a topology file",
                                              .usage = &check_usage,
                                              .run = cli_topo_run_check};

/* ---- stat and show ---- */

static enum orr_status open_file(struct topo_command *command, struct orr_topo **topo, struct orr_error *err)
{
    struct orr_notices notices = cli_notices(&command->warnings, false);
    enum orr_status status = orr_topo_open(command->file, &notices, topo, err);
    cli_warnings_end(&command->warnings);
    return status;
}

static const struct param stat_rows[] = {CLI_ROW_JSON(struct topo_command, forms.json), {0}};

static enum orr_status put_stat(void *context, enum orr_form form, FILE *stream, struct orr_error *err)
{
    return orr_topo_stat(context, form == ORR_FORM_JSON, stream, err);
}

static int cli_topo_run_stat(const struct cli_command *self, int argc, char **argv)
{
    struct topo_command command = {0};
    struct orr_error err = {0};
    struct orr_topo *topo = NULL;
    int exit_code = 0;
    if (!cli_topo_begin(self, argc, argv, &command, &exit_code)) {
        return exit_code;
    }
    enum orr_status status = cli_forms_check(&command.forms, (struct cli_inputs){&command.file, 1}, &err);
    if (status == ORR_OK) {
        status = open_file(&command, &topo, &err);
    }
    if (status == ORR_OK) {
        status = cli_forms_put(&command.forms, put_stat, topo, &err);
    }
    orr_topo_close(topo);
    return cli_end(status, &err);
}

static const struct cli_usage stat_usage = {
    .tables = (const struct param_table[]){{stat_rows, 0, 0}, {0}},
    .forms = "MACHINE",
    .about = "Measure a machine (a physical topology's file, a name or a line of orrery machine list): nodes, links, "
             "degrees, diameter and average distance between GPUs, numbers of shortest paths, bandwidth of a GPU, "
             "bisection (maximum flow between the lower and the upper half of "
             "the GPUs). On large machines distances are sampled, and the output says so.",
    .examples = "  orrery topo stat topology.txt\n  orrery topo stat dgx-h100:16 --json -\n",
    .argument = cli_topo_take_file,
};

static const struct cli_command topo_stat = {
    .name = "stat", .summary = "measure a topology", .usage = &stat_usage, .run = cli_topo_run_stat};

static const struct param show_rows[] = {
    {"output", .letter = 'o', .kind = PARAM_PATH, .value = "FILE.svg", AT(output), .help = "The picture"},
    {"text", .kind = PARAM_FLAG, AT(text), .help = "Say it in words, level by level"},
    {"dims", .kind = PARAM_TEXT, .value = "AxBxC", AT(dims), .unwritten = "found from the links",
     .help = "Draw as a grid of these dimensions"},
    {0},
};

static enum orr_status check_show(const struct topo_command *command, struct orr_error *err)
{
    if (command->output == NULL && !command->text) {
        return error_set(err, ORR_EINVAL, "missing -o FILE.svg, or --text");
    }
    if (command->output == NULL) {
        return ORR_OK;
    }
    if (cli_same_file(command->file, command->output)) {
        return error_set(err, ORR_EINVAL, "-o would replace the input %s", command->file);
    }
    return cli_check_writable("-o", command->output, err);
}

static int cli_topo_run_show(const struct cli_command *self, int argc, char **argv)
{
    struct topo_command command = {0};
    struct orr_error err = {0};
    struct orr_topo *topo = NULL;
    int exit_code = 0;
    if (!cli_topo_begin(self, argc, argv, &command, &exit_code)) {
        return exit_code;
    }
    enum orr_status status = check_show(&command, &err);
    if (status == ORR_OK) {
        status = open_file(&command, &topo, &err);
    }
    if (status == ORR_OK && command.text) {
        status = orr_topo_show(topo, command.dims, NULL, stdout, &err);
    }
    if (status == ORR_OK && command.output != NULL) {
        status = orr_topo_show(topo, command.dims, command.output, NULL, &err);
        if (status == ORR_OK) {
            (void)printf("Wrote %s.\n", command.output);
        }
    }
    orr_topo_close(topo);
    return cli_end(status, &err);
}

static const struct cli_usage show_usage = {
    .tables = (const struct param_table[]){{show_rows, 0, 0}, {0}},
    .forms = "MACHINE -o FILE.svg\nMACHINE --text",
    .about = "Draw a machine (a physical topology's file, a name or a line of orrery machine list): rings as circles, "
             "grids as grids, dragonflies as groups on a circle, everything else as servers, blocks and pods, switches "
             "above. Repeated parts are drawn a few times and counted, so that a hundred thousand GPUs fit on a page.",
    .examples = "  orrery topo show dgx-h100:16 -o h100.svg\n  orrery topo show torus3d:4x4x8 --text\n",
    .argument = cli_topo_take_file,
};

static const struct cli_command topo_show = {
    .name = "show", .summary = "draw a topology", .usage = &show_usage, .run = cli_topo_run_show};

static const struct cli_command *const commands[] = {&cli_topo_make, &topo_list, &topo_check,
                                                     &topo_stat,     &topo_show, NULL};

const struct cli_command cli_topo = {
    .name = "topo",
    .summary = "make, check, measure and draw wired machines",
    .subcommands = commands,
    .about = "Example:\n  orrery topo make torus --dims 4x4x8 --bandwidth 100Gbps -o torus.topo\n",
    .run = cli_dispatch,
};
