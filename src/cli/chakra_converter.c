/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chakra_converter: Chakra's converter by its own name and options, `[--log-filename F] PyTorch|Text …`. It writes what
 * the original writes; exit codes and messages are ours. The original always leaves a log of every decision in the
 * working folder; ours writes one, of what it printed, where --log-filename asks for it.
 *
 * Before it had subcommands the converter was told by --input_type=PyTorch, with underscores in its options, one pass
 * and no ranks for PyTorch; tutorials show that. Such a command line is put into today's spelling, and messages about
 * it use the spelling it was written in.
 */
#include "cli/trace.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text_stream.h"

struct converter_options {
    struct orr_convert_options convert;
    bool simulate;
    bool is_old; /* written in the old spelling */
};

#define AT(field) .place = offsetof(struct converter_options, field)

enum { REPEATS_MAX = 1 << 20 };

static const struct param pytorch_rows[] = {
    {"input", .kind = PARAM_PATH, .value = "FILE", AT(convert.input),
     .help = "A linked trace (chakra_trace_link's output) or a host trace"},
    {"output", .kind = PARAM_PATH, .value = "FILE", AT(convert.output), .help = "The ET file to write"},
    {"simulate", .kind = PARAM_FLAG, AT(simulate), .help = "Print the order in which the nodes would be issued"},
    {0},
};

static const struct param text_rows[] = {
    {"input", .kind = PARAM_PATH, .value = "FILE", AT(convert.input), .help = "ASTRA-sim 1.0 workload text"},
    {"output", .kind = PARAM_PATH, .value = "PREFIX", AT(convert.output),
     .help = "Files are PREFIX.0.et, PREFIX.1.et …"},
    {"num-npus", .kind = PARAM_COUNT32, .value = "N", AT(convert.ranks), .least = 1, .most = REPEATS_MAX,
     .help = "Ranks to write"},
    {"num-passes", .kind = PARAM_COUNT32, .value = "N", AT(convert.passes), .least = 1, .most = REPEATS_MAX,
     .help = "Times the workload is repeated"},
    {0},
};

static const struct param_table pytorch_tables[] = {{pytorch_rows, 0, 0}, {0}};
static const struct param_table text_tables[] = {{text_rows, 0, 0}, {0}};

static const struct cli_usage pytorch_usage = {
    .tables = pytorch_tables,
    .about = "Convert a PyTorch trace as Chakra does.",
    .examples = "  chakra_converter PyTorch --input hdt_0.json --output chakra.0.et\n",
};

static const struct cli_usage text_usage = {
    .tables = text_tables,
    .about = "Convert an ASTRA-sim 1.0 workload as Chakra does.",
    .examples = "  chakra_converter Text --input dlrm.txt --output dlrm --num-npus 8 \\\n"
                "      --num-passes 1\n",
};

static const struct cli_command pytorch_command = {.name = "PyTorch", .usage = &pytorch_usage, .takes_prefixes = true};
static const struct cli_command text_command = {.name = "Text", .usage = &text_usage, .takes_prefixes = true};

static void print_usage(FILE *stream)
{
    (void)fputs(
        "Usage: chakra_converter [--log-filename FILE] PyTorch --input FILE --output FILE [--simulate]\n"
        "       chakra_converter [--log-filename FILE] Text --input FILE --output PREFIX --num-npus N "
        "--num-passes N\n\n"
        "Writes Chakra ET files, byte for byte as Chakra's converter does; orrery trace convert is the right\n"
        "one to use otherwise. --log-filename keeps what was printed in FILE. The older spelling is accepted too:\n"
        "chakra_converter --input_type=PyTorch --input_filename=FILE --output_filename=FILE.\n\n"
        "Example:\n"
        "  chakra_converter PyTorch --input hdt_0.json --output chakra.0.et\n",
        stream);
}

static enum orr_status cli_chakra_converter_check(const struct converter_options *options,
                                                  const struct cli_command *command, struct orr_error *err)
{
    const struct orr_convert_options *convert = &options->convert;
    bool is_old = options->is_old;
    bool is_text = command == &text_command;
    const char *missing = convert->input == NULL           ? is_old ? "--input_filename FILE" : "--input FILE"
                          : convert->output == NULL        ? is_old ? "--output_filename OUT" : "--output OUT"
                          : is_text && convert->ranks == 0 ? is_old ? "--num_npus N" : "--num-npus N"
                          : is_text && !is_old && convert->passes == 0 ? "--num-passes N"
                                                                       : NULL;
    if (missing != NULL) {
        return error_set(err, ORR_EINVAL, "chakra_converter %s: missing %s", command->name, missing);
    }
    return cli_convert_check_paths(convert, is_old ? "--output_filename" : "--output", err);
}

/* With a log, what is printed is gathered first and then written to both. */
static enum orr_status cli_chakra_converter_convert(struct converter_options *options,
                                                    const struct cli_command *command, FILE *out, struct orr_error *err)
{
    struct cli_warnings warnings = {0};
    struct orr_convert_summary summary = {0};
    struct orr_notices notices = cli_notices(&warnings, false);
    options->convert.format = command == &text_command ? ORR_FORMAT_TEXT : ORR_FORMAT_PYTORCH;
    options->convert.passes = options->convert.passes == 0 ? 1 : options->convert.passes;
    options->convert.compat_chakra = true;
    options->convert.replay = options->simulate ? out : NULL;
    enum orr_status status = orr_trace_convert(&options->convert, &notices, &summary, err);
    cli_warnings_end(&warnings);
    if (status == ORR_OK) {
        (void)fprintf(out, "Conversion successful. Output file is available at %s.\n", options->convert.output);
    }
    return status;
}

static enum orr_status convert_logged(struct converter_options *options, const struct cli_command *command,
                                      const char *log, struct orr_error *err)
{
    char *text = NULL;
    size_t size = 0;
    enum orr_status status = cli_check_writable("--log-filename", log, err);
    if (status == ORR_OK && (cli_same_file(log, options->convert.input) || strcmp(log, options->convert.output) == 0 ||
                             cli_is_rank_file(log, options->convert.output))) {
        status = error_set(err, ORR_EINVAL, "--log-filename would replace a trace: %s", log);
    }
    FILE *out = status == ORR_OK ? text_stream_open(&text, &size) : NULL;
    if (status == ORR_OK && out == NULL) {
        status = error_set(err, ORR_ENOMEM, "out of memory");
    }
    if (status != ORR_OK) {
        return status;
    }
    status = cli_chakra_converter_convert(options, command, out, err);
    if (fclose(out) != 0 && status == ORR_OK) {
        status = error_set(err, ORR_ENOMEM, "out of memory writing the log");
    }
    if (status == ORR_OK) {
        (void)fwrite(text, 1, size, stdout);
        status = orr_file_write(log, text, size, err);
    }
    free(text);
    return status;
}

/* The words before the subcommand: --log-filename F, --log-filename=F, --help. False when the command is over. */
static bool read_front(int argc, char **argv, int *next, const char **log, int *exit_code)
{
    static const char option[] = "--log-filename";
    for (*next = 1; *next < argc && argv[*next][0] == '-'; (*next)++) {
        const char *word = argv[*next];
        if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
            print_usage(stdout);
            *exit_code = 0;
            return false;
        }
        bool is_log = strncmp(word, option, sizeof option - 1) == 0;
        if (is_log && word[sizeof option - 1] == '=') {
            *log = word + sizeof option;
        } else if (is_log && word[sizeof option - 1] == '\0' && *next + 1 < argc) {
            *log = argv[++*next];
        } else {
            cli_error("chakra_converter: unknown or unfinished option \"%.80s\" before PyTorch or Text; accepted: "
                      "--log-filename FILE",
                      word);
            *exit_code = orr_status_exit_code(ORR_EINVAL);
            return false;
        }
    }
    return true;
}

/* ---- the old spelling ---- */

static const struct {
    const char *old, *today; /* without their dashes; today NULL: said to have no effect */
} spellings[] = {
    {"input_filename", "input"}, {"output_filename", "output"}, {"num_npus", "num-npus"}, {"num_passes", "num-passes"},
    {"num_dims", NULL},          {"npu_frequency", NULL},
};

/* Whether a word is this option, and where its value begins if it is in the same word. */
static bool cli_chakra_converter_is_option(const char *word, const char *name, const char **value)
{
    size_t length = strlen(name);
    if (strncmp(word, "--", 2) != 0 || strncmp(word + 2, name, length) != 0 ||
        (word[2 + length] != '\0' && word[2 + length] != '=')) {
        return false;
    }
    *value = word[2 + length] == '=' ? word + 3 + length : NULL;
    return true;
}

static bool is_old_spelling(int argc, char **argv)
{
    const char *value = NULL;
    for (int i = 1; i < argc; i++) {
        if (cli_chakra_converter_is_option(argv[i], "input_type", &value)) {
            return true;
        }
    }
    return false;
}

/* One word into today's, in memory of the list; `*skip` when it and its value go. NULL without memory. */
static char *respell(const char *word, bool *skip)
{
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        const char *value = NULL;
        if (!cli_chakra_converter_is_option(word, spellings[i].old, &value)) {
            continue;
        }
        *skip = spellings[i].today == NULL;
        char *made = NULL;
        int length = *skip           ? asprintf(&made, "--%s", spellings[i].old)
                     : value == NULL ? asprintf(&made, "--%s", spellings[i].today)
                                     : asprintf(&made, "--%s=%s", spellings[i].today, value);
        return length < 0 ? NULL : made;
    }
    return strdup(word);
}

static void free_words(char **words)
{
    for (char **at = words; at != NULL && *at != NULL; at++) {
        free(*at);
    }
    free((void *)words);
}

/*
 * Today's command line for an old one: [--log-filename F] TYPE, then the options. The caller frees the words. NULL with
 * the reason in `err`.
 */
static char **cli_chakra_converter_translate(int argc, char **argv, int *count, struct orr_error *err)
{
    char **words = calloc((size_t)argc + 4, sizeof *words);
    const char *type = "";
    const char *log = NULL;
    bool refused = words == NULL;
    struct cli_warnings warnings = {0};
    *count = 4; /* the name, the log and its file, the type; filled at the end */
    for (int i = 1; i < argc && !refused; i++) {
        const char *value = NULL;
        bool skip = false;
        bool is_type = cli_chakra_converter_is_option(argv[i], "input_type", &value);
        if (is_type || cli_chakra_converter_is_option(argv[i], "log_filename", &value) ||
            cli_chakra_converter_is_option(argv[i], "log-filename", &value)) {
            value = value != NULL ? value : i + 1 < argc ? argv[++i] : "";
            type = is_type ? value : type;
            log = is_type ? log : value;
            continue;
        }
        char *word = respell(argv[i], &skip);
        refused = word == NULL;
        if (skip && !refused) {
            char text[96];
            (void)snprintf(text, sizeof text, "%s has no effect: nothing in a trace depends on it", word);
            cli_warn(&warnings, text);
            i += strchr(argv[i], '=') == NULL;
            free(word);
        } else if (!refused) {
            words[(*count)++] = word;
        }
    }
    if (!refused) { /* the front is moved together where there is no log */
        int at = log == NULL ? 2 : 0;
        words[at] = strdup("chakra_converter");
        words[3] = strdup(strcasecmp(type, "pytorch") == 0 ? "PyTorch" : strcasecmp(type, "text") == 0 ? "Text" : type);
        if (log != NULL) {
            words[1] = strdup("--log-filename");
            words[2] = strdup(log);
        }
        refused = words[at] == NULL || words[3] == NULL || (log != NULL && (words[1] == NULL || words[2] == NULL));
        memmove((void *)words, (void *)(words + at), (size_t)(*count - at + 1) * sizeof *words);
        *count -= at;
    }
    if (refused) {
        (void)error_set(err, ORR_ENOMEM, "out of memory");
        free_words(words);
        return NULL;
    }
    return words;
}

static int run_converter(int argc, char **argv, bool is_old);

int cli_chakra_converter(int argc, char **argv)
{
    struct orr_error err = {0};
    int count = 0;
    if (!is_old_spelling(argc, argv)) {
        return run_converter(argc, argv, false);
    }
    char **words = cli_chakra_converter_translate(argc, argv, &count, &err);
    if (words == NULL) {
        return cli_fail(&err);
    }
    char **given = calloc((size_t)count + 1, sizeof *given); /* whose type becomes the name of a command */
    int exit_code = 0;
    if (given == NULL) {
        (void)error_set(&err, ORR_ENOMEM, "out of memory");
        exit_code = cli_fail(&err);
    } else {
        memcpy((void *)given, (void *)words, (size_t)count * sizeof *given);
        exit_code = run_converter(count, given, true);
    }
    free((void *)given);
    free_words(words);
    return exit_code;
}

static int run_converter(int argc, char **argv, bool is_old)
{
    struct converter_options options = {.is_old = is_old};
    struct orr_error err = {0};
    const char *log = NULL;
    char name[64];
    int next = 1;
    int exit_code = 0;
    if (!read_front(argc, argv, &next, &log, &exit_code)) {
        return exit_code;
    }
    const struct cli_command *command = next < argc && strcmp(argv[next], "PyTorch") == 0 ? &pytorch_command
                                        : next < argc && strcmp(argv[next], "Text") == 0  ? &text_command
                                                                                          : NULL;
    if (command == NULL && next >= argc) {
        print_usage(stderr);
        return orr_status_exit_code(ORR_EINVAL);
    }
    if (command == NULL) {
        cli_error("chakra_converter: unknown %s \"%.80s\"; PyTorch or Text is needed",
                  is_old ? "--input_type" : "converter", argv[next]);
        return orr_status_exit_code(ORR_EINVAL);
    }
    (void)snprintf(name, sizeof name, "chakra_converter %s", command->name);
    argv[next] = name;
    if (!cli_begin(command, argc - next, argv + next, &options, &exit_code)) {
        return exit_code;
    }
    enum orr_status status = cli_chakra_converter_check(&options, command, &err);
    if (status == ORR_OK) {
        status = log != NULL ? convert_logged(&options, command, log, &err)
                             : cli_chakra_converter_convert(&options, command, stdout, &err);
    }
    return status == ORR_OK ? 0 : cli_fail(&err);
}
