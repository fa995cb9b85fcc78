/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace diff`: how two traces differ. The exit code is diff's: 0 the same, 1 different, 2 trouble. */
#include <stdlib.h>
#include <string.h>

#include "cli/trace.h"

enum { KEY_BY = 256, KEY_TOLERANCE, KEY_LIMIT, KEY_JSON, KEY_MEMORY };

struct diff_options {
    struct cli_input input;
    struct orr_diff_options diff;
    const char *json; /* a path, "-", or NULL */
    int file_count;
    char **files;
};

static const struct argp_option table[] = {
    {"by", KEY_BY, "id|name", 0, "Which nodes are the same: those of one id (default), or the k-th of one name", 0},
    {"tolerance", KEY_TOLERANCE, "SHARE", 0,
     "Durations may differ by this share of the first trace's: 0.05 or 5%. Default: 0", 0},
    {"limit", KEY_LIMIT, "N", 0, "Show only the first N differences; all are counted. Default: 100; 0 shows all", 0},
    {"json", KEY_JSON, "OUT", 0, "Write JSON to the file OUT instead, or to standard output when OUT is -", 0},
    {"memory-limit", KEY_MEMORY, "SIZE", 0, CLI_LIMIT_HELP, 0},
    CLI_HELP_OPTION,
    {0},
};

static const char *const by_words[] = {"id", "name", NULL};

static enum orr_status parse_share(const char *text, double *share, struct orr_error *err)
{
    size_t length = strlen(text);
    bool percent = length > 1 && text[length - 1] == '%';
    char *number = strndup(text, percent ? length - 1 : length);
    if (number == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory");
    }
    enum orr_status status = param_parse_real("--tolerance", number, share, err);
    *share = percent ? *share / 100 : *share;
    free(number);
    return status;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct diff_options *options = state->input;
    struct orr_error *err = &options->input.error;
    unsigned index = 0;
    enum orr_status status = ORR_OK;
    switch (key) {
    case KEY_BY:
        status = param_parse_word("--by", arg, by_words, &index, err);
        options->diff.by_name = index == 1;
        return cli_options_status(status);
    case KEY_TOLERANCE:
        return cli_options_status(parse_share(arg, &options->diff.tolerance, err));
    case KEY_LIMIT:
        return cli_options_status(param_parse_count("--limit", arg, 0, UINT64_MAX, &options->diff.limit, err));
    case KEY_JSON:
        options->diff.json = true;
        options->json = arg;
        return 0;
    case KEY_MEMORY:
        return cli_options_status(cli_parse_limit("--memory-limit", arg, &options->diff.memory_limit, err));
    case ARGP_KEY_ARGS:
        options->files = state->argv + state->next;
        options->file_count = state->argc - state->next;
        return 0;
    case ARGP_KEY_ARG:
        return ARGP_ERR_UNKNOWN; /* makes argp ask with ARGP_KEY_ARGS */
    default:
        return cli_options_default(key, arg, state);
    }
}

static enum orr_status check(const struct diff_options *options, struct orr_error *err)
{
    bool to_file = options->json != NULL && strcmp(options->json, "-") != 0;
    if (options->file_count != 2) {
        return error_set(err, ORR_EINVAL, "two .et files are compared, and %d %s given", options->file_count,
                         options->file_count == 1 ? "was" : "were");
    }
    for (int i = 0; to_file && i < 2; i++) {
        if (cli_same_file(options->json, options->files[i])) {
            return error_set(err, ORR_EINVAL, "--json would replace the trace %s", options->files[i]);
        }
    }
    return to_file ? cli_check_writable("--json", options->json, err) : ORR_OK;
}

/* Made whole before any of it is written to a file. */
static enum orr_status compare(const struct diff_options *options, bool *same, struct orr_error *err)
{
    const char *before = options->files[0];
    const char *after = options->files[1];
    if (options->json == NULL || strcmp(options->json, "-") == 0) {
        return orr_trace_diff(before, after, &options->diff, stdout, same, err);
    }
    struct cli_text made;
    enum orr_status status = cli_text_open(&made, err);
    if (status == ORR_OK) {
        status = orr_trace_diff(before, after, &options->diff, made.stream, same, err);
        status = cli_text_close(&made, status, options->json, err);
    }
    return status;
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct diff_options options = {.diff = {.limit = 100}};
    struct orr_error err = {0};
    bool same = false;
    enum orr_status status = cli_options_parse(self, argc, argv, &options.input, &err);
    if (status == ORR_OK && options.input.help) {
        cli_print_help(self, argv[0], stdout);
        return 0;
    }
    status = status != ORR_OK ? status : check(&options, &err);
    status = status != ORR_OK ? status : cli_limit_default(&options.diff.memory_limit, &err);
    status = status != ORR_OK ? status : compare(&options, &same, &err);
    return status != ORR_OK ? cli_end(status, &err) : same ? 0 : 1;
}

static const struct argp argp = {
    .options = table,
    .parser = parse,
    .args_doc = "BEFORE AFTER",
    .doc = "Compare two Chakra ET files: nodes added and removed, and for the others their type, durations (us), "
           "sizes, dependencies and every other attribute. The order of attributes and of dependencies does not "
           "count.\v"
           "Exit code: 0 when they are the same, 1 when they differ, 2 when one cannot be read.\n\n"
           "Examples:\n  orrery trace diff before.0.et after.0.et\n"
           "  orrery trace diff --by name --tolerance 5% --json - before.0.et after.0.et\n",
};

const struct cli_command cli_trace_diff = {.name = "diff", .summary = "compare two traces", .argp = &argp, .run = run};
