/* SPDX-License-Identifier: Apache-2.0 */
/* Finding a subcommand, and the help of any of them: one walk over the table of commands serves both. */
#include "cli/chakra_names.h"
#include "cli/trace.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 80, NAMES_MAX = 64 };

/* The first command whose summary has the word: people ask for what a command does before they know its name. */
static const char *name_by_meaning(const struct cli_command *parent, const char *word)
{
    enum { WORD_LEAST = 4 }; /* shorter ones join others */
    size_t length = strlen(word);
    for (size_t i = 0; length >= WORD_LEAST && parent->subcommands[i] != NULL; i++) {
        const char *summary = parent->subcommands[i]->summary;
        for (const char *at = strstr(summary, word); at != NULL; at = strstr(at + 1, word)) {
            if ((at == summary || at[-1] == ' ') && !isalpha((unsigned char)at[length])) {
                return parent->subcommands[i]->name;
            }
        }
    }
    return NULL;
}

static const struct cli_command *cli_help_find(const struct cli_command *parent, const char *word,
                                               struct orr_error *err, const char *path)
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
    nearest = nearest != NULL ? nearest : name_by_meaning(parent, word);
    if (nearest != NULL) {
        (void)error_set(err, ORR_EINVAL, "unknown command \"%s %s\"; did you mean \"%s %s\"?", path, word, path,
                        nearest);
    } else {
        (void)error_set(err, ORR_EINVAL, "unknown command \"%s %s\"; %s --help lists the commands", path, word, path);
    }
    return NULL;
}

/* Prints the list of a command's subcommands; `path` is its full name. */
static void cli_print_list(const struct cli_command *command, const char *path, FILE *stream)
{
    (void)fprintf(stream, "Usage: %s COMMAND [OPTION...]\n%s: %s.\n\n", path, path, command->summary);
    for (size_t i = 0; command->subcommands[i] != NULL; i++) {
        (void)fprintf(stream, "  %-12s %s\n", command->subcommands[i]->name, command->subcommands[i]->summary);
    }
    (void)fprintf(stream, "\n%s COMMAND --help shows the options of one command.\n", path);
    if (command->about != NULL) {
        (void)fprintf(stream, "\n%s", command->about);
    }
}

/* A command that says what has to follow its name has nothing to do without it. */
static bool needs_words(const struct cli_command *command)
{
    const char *forms = command->usage != NULL ? command->usage->forms : NULL;
    return forms != NULL && forms[0] != '[';
}

int cli_dispatch(const struct cli_command *parent, int argc, char **argv)
{
    const char *path = parent == &cli_orrery ? parent->name : argv[0];
    if (argc < 2) {
        cli_print_list(parent, path, stderr);
        return orr_status_exit_code(ORR_EINVAL);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        cli_print_list(parent, path, stdout);
        return 0;
    }
    struct orr_error err = {0};
    if (argv[1][0] == '-') {
        (void)error_set(&err, ORR_EINVAL, "expected a command before \"%s\"; %s --help lists the commands", argv[1],
                        path);
        return cli_fail(&err);
    }
    const struct cli_command *child = cli_help_find(parent, argv[1], &err, path);
    if (child == NULL) {
        return cli_fail(&err);
    }
    char name[PATH_BYTES];
    (void)snprintf(name, sizeof name, "%s %s", path, child->name);
    argv[1] = name;
    return argc == 2 && needs_words(child) ? cli_print_brief(child, name) : child->run(child, argc - 1, argv + 1);
}

/* The command whose help is wanted, so far, and in which form. */
struct help_options {
    const struct cli_command *command;
    cli_chakra_run *chakra;
    char path[PATH_BYTES];
    bool man, markdown, schema;
};

static enum orr_status cli_help_take_name(void *options, const char *word, struct orr_error *err)
{
    struct help_options *help = options;
    if (help->command == &cli_orrery && cli_chakra_find(word) != NULL) {
        help->chakra = cli_chakra_find(word);
        (void)snprintf(help->path, sizeof help->path, "%s", word);
        return ORR_OK;
    }
    if (help->chakra != NULL || help->command->subcommands == NULL) {
        return error_set(err, ORR_EINVAL, "%s has no subcommand \"%s\"", help->path, word);
    }
    const struct cli_command *found = cli_help_find(help->command, word, err, help->path);
    if (found == NULL) {
        return err->status;
    }
    size_t used = strlen(help->path);
    (void)snprintf(help->path + used, sizeof help->path - used, " %s", found->name);
    help->command = found;
    return ORR_OK;
}

/* What a command prints of itself when it is asked: only it knows all its options. */
static int run_asked(const struct cli_command *command, const char *path, const char *option)
{
    char name[PATH_BYTES];
    char word[PATH_BYTES];
    (void)snprintf(name, sizeof name, "%s", path);
    (void)snprintf(word, sizeof word, "%s", option);
    return command->run(command, 2, (char *[]){name, word, NULL});
}

static int run_named(cli_chakra_run *run, const char *name, const char *option)
{
    char words[3][PATH_BYTES];
    size_t length = strcspn(name, " "); /* "chakra_converter Text" */
    (void)snprintf(words[0], sizeof words[0], "%.*s", (int)length, name);
    (void)snprintf(words[1], sizeof words[1], "%s", name[length] != '\0' ? name + length + 1 : option);
    (void)snprintf(words[2], sizeof words[2], "%s", option);
    return run(name[length] != '\0' ? 3 : 2,
               (char *[]){words[0], words[1], name[length] != '\0' ? words[2] : NULL, NULL});
}

/* The commands below one, in the order of the help; below all of them Chakra's programs too. */
static int print_all(const struct cli_command *command, const char *path, const char *option)
{
    int code = 0;
    for (size_t i = 0; command->subcommands[i] != NULL && code == 0; i++) {
        const struct cli_command *child = command->subcommands[i];
        char below[PATH_BYTES];
        (void)snprintf(below, sizeof below, "%s %s", path, child->name);
        code = child->usage != NULL ? run_asked(child, below, option) : print_all(child, below, option);
    }
    for (size_t i = 0; command == &cli_orrery && cli_chakra_name(i) != NULL && code == 0; i++) {
        cli_chakra_run *run = cli_chakra_find(cli_chakra_name(i));
        if (run == cli_chakra_converter) {
            code = run_named(run, "chakra_converter PyTorch", option);
            code = code != 0 ? code : run_named(run, "chakra_converter Text", option);
        } else {
            code = run_named(run, cli_chakra_name(i), option);
        }
    }
    return code;
}

static int run_help(const struct cli_command *self, int argc, char **argv)
{
    struct help_options help = {.command = &cli_orrery, .path = "orrery"};
    int code = 0;
    if (!cli_begin(self, argc, argv, &help, &code)) {
        return code;
    }
    if (help.man + help.markdown + help.schema > 1) {
        cli_error("--man, --markdown and --schema are three forms; give one of them");
        return orr_status_exit_code(ORR_EINVAL);
    }
    const char *option = help.man        ? "--help-man"
                         : help.markdown ? "--help-markdown"
                         : help.schema   ? "--help-schema"
                                         : "--help";
    if (help.chakra != NULL) {
        return run_named(help.chakra, help.path, option);
    }
    if (help.command->usage != NULL) {
        return run_asked(help.command, help.path, option);
    }
    if (help.schema) { /* what all this is about */
        return run_asked(&cli_run, "orrery run", option);
    }
    if (help.markdown && help.command == &cli_orrery) {
        (void)fputs(
            "# Options\n\nEvery command and what it takes, as `orrery help --markdown` prints it. Rates, times and "
            "sizes take units (400Gbps,\n50GB/s, 1us, 25MiB); GB/s is 10^9 bytes a second, GiB/s 2^30.\n\n",
            stdout);
    }
    if (help.man || help.markdown) {
        return print_all(help.command, help.path, option);
    }
    cli_print_list(help.command, help.path, stdout);
    return 0;
}

static int run_version(const struct cli_command *self, int argc, char **argv)
{
    int code = 0;
    if (!cli_begin(self, argc, argv, NULL, &code)) {
        return code;
    }
    (void)printf("orrery %s\n", orr_version());
    return 0;
}

static const struct param_table no_options[] = {{0}};

static const struct param help_rows[] = {
    {"man", .kind = PARAM_FLAG, .place = offsetof(struct help_options, man),
     .help = "Print sections of the manual page (mdoc)"},
    {"markdown", .kind = PARAM_FLAG, .place = offsetof(struct help_options, markdown),
     .help = "Print sections of the reference of options (Markdown)"},
    {"schema", .kind = PARAM_FLAG, .place = offsetof(struct help_options, schema),
     .help = "Print a JSON schema of the options, those of orrery run where no command is named"},
    {0},
};

static const struct cli_usage help_usage = {
    .tables = (const struct param_table[]){{help_rows, 0, 0}, {0}},
    .forms = "[COMMAND...]",
    .about =
        "Show what there is to run, or the options of one command; in another form, those of all commands below it.",
    .examples =
        "  orrery help\n  orrery help run\n  orrery help trace show\n  orrery help --schema > run.schema.json\n",
    .argument = cli_help_take_name,
};

static const struct cli_usage version_usage = {
    .tables = no_options, .about = "Print the version of this program; orrery -V and orrery --version do the same."};

const struct cli_command cli_help = {
    .name = "help", .summary = "show the help of a command", .usage = &help_usage, .run = run_help};

const struct cli_command cli_version = {
    .name = "version", .summary = "print the version", .usage = &version_usage, .run = run_version};
