/* SPDX-License-Identifier: Apache-2.0 */
/*
 * argp reads options well and explains errors badly: two lines, no nearest name, and it takes any unambiguous prefix,
 * so that an option added later can change what a script means. So the vector is walked once before argp sees it, with
 * argp's own table as the only list of what exists.
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 128 };

static bool option_ends(const struct argp_option *option)
{
    return option->name == NULL && option->key == 0 && option->doc == NULL && option->group == 0;
}

const struct argp_option *cli_options_find(const struct argp_option *table, const char *name, size_t length)
{
    for (; !option_ends(table); table++) {
        if (table->name != NULL && strlen(table->name) == length && memcmp(table->name, name, length) == 0) {
            return table;
        }
    }
    return NULL;
}

static const struct argp_option *find_short(const struct argp_option *table, char letter)
{
    for (; !option_ends(table); table++) {
        if (table->key == (unsigned char)letter && letter != '\0') {
            return table;
        }
    }
    return NULL;
}

static enum orr_status unknown_option(const struct argp_option *table, const char *path, const char *name,
                                      size_t length, struct orr_error *err)
{
    const char *known[OPTIONS_MAX + 1];
    size_t count = 0;
    const char *nearest = NULL;
    for (; !option_ends(table) && count < OPTIONS_MAX; table++) {
        if (table->name != NULL) {
            known[count++] = table->name;
            if (length >= 3 && strncmp(table->name, name, length) == 0) {
                nearest = table->name; /* an abbreviation */
            }
        }
    }
    known[count] = NULL;
    char word[80];
    (void)snprintf(word, sizeof word, "%.*s", (int)(length < 79 ? length : 79), name);
    if (nearest == NULL) {
        nearest = error_nearest(word, known);
    }
    if (nearest != NULL) {
        return error_set(err, ORR_EINVAL, "unknown option --%s; did you mean --%s?", word, nearest);
    }
    return error_set(err, ORR_EINVAL, "unknown option --%s; %s --help lists the options", word, path);
}

/* The only option that begins so; argp then finds it too. */
static const struct argp_option *find_prefix(const struct argp_option *table, const char *name, size_t length)
{
    const struct argp_option *found = NULL;
    for (; !option_ends(table); table++) {
        if (table->name != NULL && strncmp(table->name, name, length) == 0) {
            if (found != NULL) {
                return NULL;
            }
            found = table;
        }
    }
    return found;
}

static enum orr_status check_long(const struct cli_command *command, char **argv, int argc, int *at,
                                  struct orr_error *err)
{
    const struct argp_option *table = command->argp->options;
    const char *name = argv[*at] + 2;
    const char *equals = strchr(name, '=');
    size_t length = equals != NULL ? (size_t)(equals - name) : strlen(name);
    const struct argp_option *option = cli_options_find(table, name, length);
    if (option == NULL && command->takes_prefixes && length > 0) {
        option = find_prefix(table, name, length);
    }
    if (option == NULL) {
        return unknown_option(table, argv[0], name, length, err);
    }
    if (option->arg == NULL && equals != NULL) {
        return error_set(err, ORR_EINVAL, "--%s takes no value", option->name);
    }
    if (option->arg != NULL && equals == NULL && (option->flags & OPTION_ARG_OPTIONAL) == 0 && ++*at >= argc) {
        return error_set(err, ORR_EINVAL, "--%s needs a value (%s)", option->name, option->arg);
    }
    return ORR_OK;
}

static enum orr_status check_short(const struct argp_option *table, char **argv, int argc, int *at,
                                   struct orr_error *err)
{
    for (const char *letter = argv[*at] + 1; *letter != '\0'; letter++) {
        const struct argp_option *option = find_short(table, *letter);
        if (option == NULL) {
            return error_set(err, ORR_EINVAL, "unknown option -%c; %s --help lists the options", *letter, argv[0]);
        }
        if (option->arg != NULL) {
            if (letter[1] == '\0' && ++*at >= argc) {
                return error_set(err, ORR_EINVAL, "-%c needs a value (%s)", *letter, option->arg);
            }
            return ORR_OK;
        }
    }
    return ORR_OK;
}

static enum orr_status check_vector(const struct cli_command *command, int argc, char **argv, struct orr_error *err)
{
    for (int at = 1; at < argc && strcmp(argv[at], "--") != 0; at++) {
        enum orr_status status = ORR_OK;
        if (strncmp(argv[at], "--", 2) == 0) {
            status = check_long(command, argv, argc, &at, err);
        } else if (argv[at][0] == '-' && argv[at][1] != '\0') {
            status = check_short(command->argp->options, argv, argc, &at, err);
        }
        if (status != ORR_OK) {
            return status;
        }
    }
    return ORR_OK;
}

enum orr_status cli_options_parse(const struct cli_command *command, int argc, char **argv, struct cli_input *input,
                                  struct orr_error *err)
{
    enum orr_status status = check_vector(command, argc, argv, err);
    if (status != ORR_OK) {
        return status;
    }
    error_t failed = argp_parse(command->argp, argc, argv, ARGP_NO_EXIT | ARGP_NO_ERRS | ARGP_NO_HELP, NULL, input);
    if (failed == 0 || input->help) {
        return ORR_OK;
    }
    if (input->error.status == ORR_OK) {
        return error_set(err, failed == ENOMEM ? ORR_ENOMEM : ORR_EINVAL, "options: %s", strerror(failed));
    }
    *err = input->error;
    return err->status;
}

error_t cli_options_default(int key, char *arg, struct argp_state *state)
{
    struct cli_input *input = state->input;
    switch (key) {
    case 'h':
        input->help = true;
        return 0;
    case ARGP_KEY_ARG:
        return cli_options_status(error_set(
            &input->error, ORR_EINVAL, "unexpected argument \"%s\"; %s --help shows what is taken", arg, state->name));
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

enum orr_status cli_parse_trace_time(const char *option, const char *text, uint64_t *us, struct orr_error *err)
{
    uint64_t ns = 0;
    enum orr_status status = param_parse_time(option, text, "us", &ns, err);
    if (status == ORR_OK && ns % 1000 != 0) {
        return error_set(err, ORR_EINVAL, "%s: %s is not a whole number of microseconds, which traces count in", option,
                         text);
    }
    *us = ns / 1000;
    return status;
}

enum orr_status cli_parse_limit(const char *option, const char *text, uint64_t *limit, struct orr_error *err)
{
    enum orr_status status = param_parse_size(option, text, limit, err);
    if (status == ORR_OK && *limit == 0) {
        status = error_set(err, ORR_ERANGE, "%s: 0 leaves no memory; leave it out for 80 %% of the machine", option);
    }
    return status;
}

enum orr_status cli_limit_default(uint64_t *limit, struct orr_error *err)
{
    static const char variable[] = "ASTRA_SIM_MEMORY_LIMIT";
    const char *text = getenv(variable);
    bool unset = *limit != 0 || text == NULL || text[0] == '\0';
    return unset ? ORR_OK : cli_parse_limit(variable, text, limit, err);
}
