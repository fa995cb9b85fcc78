/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command line read by rows (param/param.h): every option that exists is a row, and its value is what the row reads.
 * Options and arguments may be mixed; "--" ends the options. Names are not cut short unless the command says so: an
 * option added later must not change what a script means.
 */
#include "cli/cli.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    const struct cli_command *command;
    int argc;
    char **argv;
    int at;
    void *options;
    struct orr_error *err;
};

/* A key of a configuration file, where the command lets one replace those. */
static bool is_file_key(const struct param_table *tables, const char *name)
{
    struct orr_error unsaid = {0};
    const struct orr_sweep_key said = {name, "", 1};
    const char *file = NULL;
    const char *key = NULL;
    return param_find(tables, "set", 3).row != NULL &&
           (orr_config_key(&said, false, NULL, &file, &key, &unsaid) == ORR_OK ||
            orr_config_key(&said, true, NULL, &file, &key, &unsaid) == ORR_OK);
}

static enum orr_status cli_unknown_option(const struct cli_command *command, const char *path, const char *name,
                                          size_t length, struct orr_error *err)
{
    const char *known[PARAM_NAMES_MOST + 1];
    const char *nearest = NULL;
    char word[80];
    (void)snprintf(word, sizeof word, "%.*s", (int)(length < 79 ? length : 79), name);
    size_t count = param_names(command->usage->tables, known);
    for (size_t i = 0; i < count && length >= 3; i++) {
        if (strncmp(known[i], name, length) == 0) {
            nearest = known[i]; /* an abbreviation */
        }
    }
    if (nearest == NULL && is_file_key(command->usage->tables, word)) {
        return error_set(err, ORR_EINVAL, "unknown option --%s; it is a key of a configuration file: --set %s=VALUE",
                         word, word);
    }
    nearest = nearest != NULL ? nearest : error_nearest(word, known);
    return nearest != NULL ? error_set(err, ORR_EINVAL, "unknown option --%s; did you mean --%s?", word, nearest)
                           : error_set(err, ORR_EINVAL, "unknown option --%s; %s --help lists the options", word, path);
}

/* The only option that begins so. */
static struct param_found find_prefix(const struct param_table *tables, const char *name, size_t length)
{
    const char *known[PARAM_NAMES_MOST + 1];
    struct param_found found = {0};
    size_t count = param_names(tables, known);
    for (size_t i = 0; i < count; i++) {
        if (strncmp(known[i], name, length) == 0) {
            if (found.row != NULL) {
                return (struct param_found){0};
            }
            found = param_find(tables, known[i], strlen(known[i]));
        }
    }
    return found;
}

/* Whether a word is an option, of this command or another: as the value of one it is a slip. */
static bool looks_like_option(const struct param_table *tables, const char *word)
{
    if (word[0] != '-' || word[1] == '\0') {
        return false;
    }
    if (word[1] != '-') {
        return word[2] == '\0' && param_find_letter(tables, word[1]).row != NULL;
    }
    return isalpha((unsigned char)word[2]);
}

static bool takes_value(const struct param *row)
{
    return row->value != NULL && (row->flags & PARAM_OPTIONAL) == 0;
}

/* The next word as the value of an option that is spelled `option`. */
static enum orr_status cli_read_next_value(struct reading *r, const char *option, const struct param *row,
                                           const char **value)
{
    const struct param_table *tables = r->command->usage->tables;
    if (r->at + 1 >= r->argc) {
        return error_set(r->err, ORR_EINVAL, "%s needs a value (%s)", option, row->value);
    }
    if (looks_like_option(tables, r->argv[r->at + 1])) {
        return error_set(r->err, ORR_EINVAL,
                         "%s needs a value (%s), and \"%s\" is an option; where it is meant write "
                         "--%s=%s",
                         option, row->value, r->argv[r->at + 1], row->name, r->argv[r->at + 1]);
    }
    *value = r->argv[++r->at];
    return ORR_OK;
}

static enum orr_status read_row(struct reading *r, struct param_found found, const char *option, const char *value)
{
    const struct param *row = found.row;
    if (row->letter == 'o' && (row->flags & PARAM_DASH) == 0 && value != NULL && strcmp(value, "-") == 0) {
        return error_set(r->err, ORR_EINVAL,
                         "%s: \"-\" (standard output) is not for this; give %s, or ./- where a file is called so",
                         option, row->value);
    }
    return param_read(row, option, value, (char *)r->options + found.at, r->err);
}

static enum cli_help asked_help(const char *name)
{
    static const char *const names[] = {[CLI_HELP_SHORT] = "help",
                                        [CLI_HELP_ALL] = "help-all",
                                        [CLI_HELP_MAN] = "help-man",
                                        [CLI_HELP_MARKDOWN] = "help-markdown",
                                        [CLI_HELP_SCHEMA] = "help-schema"};
    for (int i = CLI_HELP_SHORT; i <= CLI_HELP_SCHEMA; i++) {
        if (strcmp(name, names[i]) == 0) {
            return (enum cli_help)i;
        }
    }
    return CLI_HELP_NONE;
}

static enum orr_status read_long(struct reading *r, enum cli_help *help)
{
    const struct param_table *tables = r->command->usage->tables;
    const char *name = r->argv[r->at] + 2;
    const char *equals = strchr(name, '=');
    size_t length = equals != NULL ? (size_t)(equals - name) : strlen(name);
    const char *value = equals != NULL ? equals + 1 : NULL;
    *help = equals == NULL ? asked_help(name) : CLI_HELP_NONE;
    if (*help != CLI_HELP_NONE) {
        return ORR_OK;
    }
    struct param_found found = param_find(tables, name, length);
    if (found.row == NULL && r->command->takes_prefixes && length > 0) {
        found = find_prefix(tables, name, length);
    }
    if (found.row == NULL) {
        return cli_unknown_option(r->command, r->argv[0], name, length, r->err);
    }
    char option[80];
    (void)snprintf(option, sizeof option, "--%s", found.row->name);
    if (found.row->value == NULL && value != NULL) {
        return error_set(r->err, ORR_EINVAL, "%s takes no value", option);
    }
    enum orr_status status =
        takes_value(found.row) && value == NULL ? cli_read_next_value(r, option, found.row, &value) : ORR_OK;
    return status == ORR_OK ? read_row(r, found, option, value) : status;
}

static enum orr_status read_letters(struct reading *r, enum cli_help *help)
{
    const char *word = r->argv[r->at];
    for (const char *letter = word + 1; *letter != '\0'; letter++) {
        const char option[] = {'-', *letter, '\0'};
        char name[80];
        struct param_found found = param_find_letter(r->command->usage->tables, *letter);
        if (found.row == NULL && *letter == 'h') {
            *help = CLI_HELP_SHORT;
            return ORR_OK;
        }
        if (found.row == NULL) {
            return error_set(r->err, ORR_EINVAL, "unknown option %s; %s --help lists the options", option, r->argv[0]);
        }
        bool rest = found.row->value != NULL && letter[1] != '\0';
        const char *value = rest ? letter + 1 : NULL;
        (void)snprintf(name, sizeof name, "--%s", found.row->name);
        enum orr_status status =
            takes_value(found.row) && value == NULL ? cli_read_next_value(r, option, found.row, &value) : ORR_OK;
        status = status == ORR_OK ? read_row(r, found, name, value) : status;
        if (status != ORR_OK || rest) {
            return status;
        }
    }
    return ORR_OK;
}

static enum orr_status read_argument(struct reading *r)
{
    const struct cli_usage *usage = r->command->usage;
    char *word = r->argv[r->at];
    if (usage->words != 0) {
        struct cli_words *words = (void *)((char *)r->options + usage->words);
        words->list = r->argv + 1;
        words->list[words->count++] = word; /* what was there has been read */
        return ORR_OK;
    }
    enum orr_status status = usage->argument != NULL ? usage->argument(r->options, word, r->err) : ORR_EINVAL;
    if (status == ORR_EINVAL && r->err->text[0] == '\0') {
        return error_set(r->err, ORR_EINVAL, "unexpected argument \"%s\"; %s --help shows what is taken", word,
                         r->argv[0]);
    }
    return status;
}

enum orr_status cli_read(const struct cli_command *command, int argc, char **argv, void *options, enum cli_help *help,
                         struct orr_error *err)
{
    struct reading r = {.command = command, .argc = argc, .argv = argv, .at = 1, .options = options, .err = err};
    bool arguments = false;
    enum orr_status status = ORR_OK;
    *help = CLI_HELP_NONE;
    for (; r.at < argc && status == ORR_OK && *help == CLI_HELP_NONE; r.at++) {
        const char *word = argv[r.at];
        if (!arguments && strcmp(word, "--") == 0) {
            arguments = true;
        } else if (!arguments && strncmp(word, "--", 2) == 0) {
            status = read_long(&r, help);
        } else if (!arguments && word[0] == '-' && word[1] != '\0') {
            status = read_letters(&r, help);
        } else {
            status = read_argument(&r);
        }
    }
    return status;
}

bool cli_begin(const struct cli_command *command, int argc, char **argv, void *options, int *exit_code)
{
    struct orr_error err = {0};
    enum cli_help help = CLI_HELP_NONE;
    if (cli_read(command, argc, argv, options, &help, &err) != ORR_OK) {
        *exit_code = cli_fail(&err);
        return false;
    }
    if (help != CLI_HELP_NONE) {
        cli_print_options(command, argv[0], help, stdout);
        *exit_code = 0;
        return false;
    }
    return true;
}

enum orr_status cli_limit_default(uint64_t *limit, struct orr_error *err)
{
    struct limited {
        uint64_t bytes;
    };
    static const struct param row = CLI_ROW_LIMIT(struct limited, bytes);
    static const char variable[] = "ASTRA_SIM_MEMORY_LIMIT";
    const char *text = getenv(variable);
    bool unset = *limit != 0 || text == NULL || text[0] == '\0';
    return unset ? ORR_OK : param_read(&row, variable, text, limit, err);
}
