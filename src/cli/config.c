/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery config`: what the configuration files may say, from the tables the readers use. */
#include "cli/cli.h"

struct config_options {
    bool schema;
};

static const struct param rows[] = {
    {"schema", .kind = PARAM_FLAG, .place = offsetof(struct config_options, schema),
     .help = "Print a JSON schema instead of Markdown"},
    {0},
};

static const struct cli_usage usage = {
    .tables = (const struct param_table[]){{rows, 0, 0}, {0}},
    .about = "Print the reference of the configuration files: every key, its type, unit, default and range.",
    .examples = "  orrery config\n  orrery config --schema > orrery.schema.json\n",
};

static int run_config(const struct cli_command *self, int argc, char **argv)
{
    struct config_options config = {0};
    struct orr_error err = {0};
    int code = 0;
    if (!cli_begin(self, argc, argv, &config, &code)) {
        return code;
    }
    if (orr_config_reference(config.schema, stdout, &err) != ORR_OK) {
        return ferror(stdout) == 0 ? cli_fail(&err) : cli_stdout_failed(err.text);
    }
    return 0;
}

const struct cli_command cli_config = {
    .name = "config", .summary = "print the reference of the configuration files", .usage = &usage, .run = run_config};
