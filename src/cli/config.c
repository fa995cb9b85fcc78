/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery config`: what the configuration files may say, from the tables the readers use. */
#include "cli/cli.h"

enum { KEY_SCHEMA = 256 };

struct config_options {
    struct cli_input input;
    bool schema;
};

static const struct argp_option table[] = {
    {"schema", KEY_SCHEMA, NULL, 0, "Print a JSON schema instead of Markdown", 0},
    CLI_HELP_OPTION,
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct config_options *config = state->input;
    if (key == KEY_SCHEMA) {
        config->schema = true;
        return 0;
    }
    return cli_options_default(key, arg, state);
}

static const struct argp config_argp = {
    .options = table,
    .parser = parse,
    .doc = "Print the reference of the configuration files: every key, its type, unit, default and range.\v"
           "Examples:\n  orrery config\n  orrery config --schema > orrery.schema.json\n",
};

static int run_config(const struct cli_command *self, int argc, char **argv)
{
    struct config_options config = {0};
    struct orr_error err = {0};
    if (cli_options_parse(self, argc, argv, &config.input, &err) != ORR_OK) {
        return cli_fail(&err);
    }
    if (config.input.help) {
        cli_print_help(self, argv[0], stdout);
        return 0;
    }
    if (orr_config_reference(config.schema, stdout, &err) != ORR_OK) {
        return ferror(stdout) == 0 ? cli_fail(&err) : cli_stdout_failed(err.text);
    }
    return 0;
}

const struct cli_command cli_config = {.name = "config",
                                       .summary = "print the reference of the configuration files",
                                       .argp = &config_argp,
                                       .run = run_config};
