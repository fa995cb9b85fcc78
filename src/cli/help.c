/* SPDX-License-Identifier: Apache-2.0 */
/* Finding a subcommand, and the help of any of them: one walk over the table of commands serves both. */
#include "cli/chakra_names.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 80, NAMES_MAX = 64 };

static const struct cli_command *find(const struct cli_command *parent, const char *word, struct orr_error *err,
                                      const char *path)
{
    const char *names[NAMES_MAX + 1];
    size_t count = 0;
    for (; count < NAMES_MAX && parent->subcommands[count] != NULL; count++) {
        names[count] = parent->subcommands[count]->name;
        if (strcmp(names[count], word) == 0) {
            return parent->subcommands[count];
        }
    }
    for (size_t i = 0; parent == &cli_orrery && count < NAMES_MAX && cli_chakra_name(i) != NULL; i++) {
        names[count++] = cli_chakra_name(i); /* found before this; here to be proposed */
    }
    names[count] = NULL;
    const char *nearest = error_nearest(word, names);
    if (nearest != NULL) {
        (void)error_set(err, ORR_EINVAL, "unknown command \"%s %s\"; did you mean \"%s %s\"?", path, word, path,
                        nearest);
    } else {
        (void)error_set(err, ORR_EINVAL, "unknown command \"%s %s\"; %s --help lists the commands", path, word, path);
    }
    return NULL;
}

void cli_print_help(const struct cli_command *command, const char *path, FILE *stream)
{
    if (command->print_help != NULL) {
        command->print_help(command, path, stream);
        return;
    }
    if (command->usage != NULL) {
        cli_print_options(command, path, false, stream);
        return;
    }
    if (command->subcommands == NULL) {
        char name[PATH_BYTES];
        (void)snprintf(name, sizeof name, "%s", path);
        argp_help(command->argp, stream, ARGP_HELP_STD_HELP, name);
        return;
    }
    (void)fprintf(stream, "Usage: %s COMMAND [OPTION...]\n%s: %s.\n\n", path, path, command->summary);
    for (size_t i = 0; command->subcommands[i] != NULL; i++) {
        (void)fprintf(stream, "  %-12s %s\n", command->subcommands[i]->name, command->subcommands[i]->summary);
    }
    (void)fprintf(stream, "\n%s COMMAND --help shows the options of one command.\n", path);
    if (command->about != NULL) {
        (void)fprintf(stream, "\n%s", command->about);
    }
}

int cli_print_usage(const struct cli_command *command, const char *path)
{
    if (command->usage != NULL) {
        return cli_print_brief(command, path);
    }
    const char *form = command->argp->args_doc;
    const char *examples = strchr(command->argp->doc, '\v');
    for (const char *lead = "Usage:"; form != NULL && *form != '\0'; lead = "  or: ") {
        size_t length = strcspn(form, "\n");
        (void)fprintf(stderr, "%s %s [OPTION...] %.*s\n", lead, path, (int)length, form);
        form += length + (form[length] == '\n');
    }
    examples = examples == NULL ? NULL : strstr(examples, "Example");
    (void)fprintf(stderr, "\n%s\n%s --help shows all options with their units.\n", examples == NULL ? "" : examples,
                  path);
    return orr_status_exit_code(ORR_EINVAL);
}

/* A command that says what has to follow its name has nothing to do without it. */
static bool needs_words(const struct cli_command *command)
{
    const char *forms = command->usage != NULL  ? command->usage->forms
                        : command->argp != NULL ? command->argp->args_doc
                                                : NULL;
    return forms != NULL && forms[0] != '[';
}

int cli_dispatch(const struct cli_command *parent, int argc, char **argv)
{
    const char *path = parent == &cli_orrery ? parent->name : argv[0];
    if (argc < 2) {
        cli_print_help(parent, path, stderr);
        return orr_status_exit_code(ORR_EINVAL);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        cli_print_help(parent, path, stdout);
        return 0;
    }
    struct orr_error err = {0};
    if (argv[1][0] == '-') {
        (void)error_set(&err, ORR_EINVAL, "expected a command before \"%s\"; %s --help lists the commands", argv[1],
                        path);
        return cli_fail(&err);
    }
    const struct cli_command *child = find(parent, argv[1], &err, path);
    if (child == NULL) {
        return cli_fail(&err);
    }
    char name[PATH_BYTES];
    (void)snprintf(name, sizeof name, "%s %s", path, child->name);
    argv[1] = name;
    return argc == 2 && needs_words(child) ? cli_print_usage(child, name) : child->run(child, argc - 1, argv + 1);
}

static int run_help(const struct cli_command *self, int argc, char **argv)
{
    (void)self;
    cli_chakra_run *chakra = argc == 2 ? cli_chakra_find(argv[1]) : NULL;
    if (chakra != NULL) {
        char help[] = "--help";
        return chakra(2, (char *[]){argv[1], help, NULL});
    }
    const struct cli_command *command = &cli_orrery;
    char path[PATH_BYTES] = "orrery";
    for (int i = 1; i < argc; i++) {
        struct orr_error err = {0};
        if (argv[i][0] == '-') {
            continue; /* `orrery help --help` */
        }
        if (command->subcommands == NULL) {
            (void)error_set(&err, ORR_EINVAL, "%s has no subcommand \"%s\"", path, argv[i]);
            return cli_fail(&err);
        }
        command = find(command, argv[i], &err, path);
        if (command == NULL) {
            return cli_fail(&err);
        }
        size_t used = strlen(path);
        (void)snprintf(path + used, sizeof path - used, " %s", command->name);
    }
    cli_print_help(command, path, stdout);
    return 0;
}

static int run_version(const struct cli_command *self, int argc, char **argv)
{
    struct cli_input input = {0};
    struct orr_error err = {0};
    if (cli_options_parse(self, argc, argv, &input, &err) != ORR_OK) {
        return cli_fail(&err);
    }
    if (input.help) {
        cli_print_help(self, "orrery version", stdout);
        return 0;
    }
    (void)printf("orrery %s\n", orr_version());
    return 0;
}

static const struct argp_option only_help[] = {CLI_HELP_OPTION, {0}};

static const struct argp help_argp = {
    .options = only_help,
    .args_doc = "[COMMAND...]",
    .doc = "Show what there is to run, or the options of one command.\v"
           "Examples:\n  orrery help\n  orrery help run\n  orrery help trace show\n",
};

static const struct argp version_argp = {
    .options = only_help, .parser = cli_options_default, .doc = "Print the version of this program."};

const struct cli_command cli_help = {
    .name = "help", .summary = "show the help of a command", .argp = &help_argp, .run = run_help};

const struct cli_command cli_version = {
    .name = "version", .summary = "print the version", .argp = &version_argp, .run = run_version};
