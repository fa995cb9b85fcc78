/*
 * chakra_converter: Chakra's converter by its own name and options, `[--log-filename F] PyTorch|Text …`. It writes what
 * the original writes; exit codes and messages are ours. The original always leaves a log of every decision in the
 * working folder; ours writes one, of what it printed, where --log-filename asks for it.
 */
#include "cli/trace.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_INPUT = 256, KEY_OUTPUT, KEY_SIMULATE, KEY_NPUS, KEY_PASSES };

struct converter_options {
    struct cli_input input;
    struct orr_convert_options convert;
    bool simulate;
};

static const struct argp_option pytorch_options[] = {
    {"input", KEY_INPUT, "FILE", 0, "A linked trace (chakra_trace_link's output) or a host trace", 0},
    {"output", KEY_OUTPUT, "FILE", 0, "The ET file to write", 0},
    {"simulate", KEY_SIMULATE, NULL, 0, "Print the order in which the nodes would be issued", 0},
    CLI_HELP_OPTION,
    {0},
};

static const struct argp_option text_options[] = {
    {"input", KEY_INPUT, "FILE", 0, "ASTRA-sim 1.0 workload text", 0},
    {"output", KEY_OUTPUT, "PREFIX", 0, "Files are PREFIX.0.et, PREFIX.1.et …", 0},
    {"num-npus", KEY_NPUS, "N", 0, "Ranks to write", 0},
    {"num-passes", KEY_PASSES, "N", 0, "Times the workload is repeated", 0},
    CLI_HELP_OPTION,
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct converter_options *options = state->input;
    struct orr_convert_options *convert = &options->convert;
    uint64_t count = 0;
    enum orr_status status = ORR_OK;
    switch (key) {
    case KEY_INPUT:
        convert->input = arg;
        return 0;
    case KEY_OUTPUT:
        convert->output = arg;
        return 0;
    case KEY_SIMULATE:
        options->simulate = true;
        return 0;
    case KEY_NPUS:
        status = cli_parse_count("--num-npus", arg, 1, 1u << 20, &count, &options->input.error);
        convert->ranks = (uint32_t)count;
        return cli_options_status(status);
    case KEY_PASSES:
        status = cli_parse_count("--num-passes", arg, 1, 1u << 20, &count, &options->input.error);
        convert->passes = (uint32_t)count;
        return cli_options_status(status);
    default:
        return cli_options_default(key, arg, state);
    }
}

static const struct argp pytorch_argp = {
    .options = pytorch_options,
    .parser = parse,
    .doc = "Convert a PyTorch trace as Chakra does.\v"
           "Example:\n  chakra_converter PyTorch --input hdt_0.json --output chakra.0.et\n",
};

static const struct argp text_argp = {
    .options = text_options,
    .parser = parse,
    .doc = "Convert an ASTRA-sim 1.0 workload as Chakra does.\v"
           "Example:\n  chakra_converter Text --input dlrm.txt --output dlrm --num-npus 8 \\\n"
           "      --num-passes 1\n",
};

static const struct cli_command pytorch_command = {.name = "PyTorch", .argp = &pytorch_argp, .takes_prefixes = true};
static const struct cli_command text_command = {.name = "Text", .argp = &text_argp, .takes_prefixes = true};

static void print_usage(FILE *stream)
{
    (void)fputs("Usage: chakra_converter [--log-filename FILE] PyTorch --input FILE --output FILE [--simulate]\n"
                "       chakra_converter [--log-filename FILE] Text --input FILE --output PREFIX --num-npus N "
                "--num-passes N\n\n"
                "Writes Chakra ET files, byte for byte as Chakra's converter does; orrery trace convert is the right\n"
                "one to use otherwise. --log-filename keeps what was printed in FILE.\n\n"
                "Example:\n"
                "  chakra_converter PyTorch --input hdt_0.json --output chakra.0.et\n",
                stream);
}

static enum orr_status check(const struct converter_options *options, const struct cli_command *command,
                             struct orr_error *err)
{
    const struct orr_convert_options *convert = &options->convert;
    const char *missing = convert->input == NULL                             ? "--input FILE"
                          : convert->output == NULL                          ? "--output OUT"
                          : command == &text_command && convert->ranks == 0  ? "--num-npus N"
                          : command == &text_command && convert->passes == 0 ? "--num-passes N"
                                                                             : NULL;
    if (missing != NULL) {
        return error_set(err, ORR_EINVAL, "chakra_converter %s: missing %s", command->name, missing);
    }
    return cli_convert_check_paths(convert, "--output", err);
}

/* With a log, what is printed is gathered first and then written to both. */
static enum orr_status convert(struct converter_options *options, const struct cli_command *command, FILE *out,
                               struct orr_error *err)
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
    FILE *out = status == ORR_OK ? open_memstream(&text, &size) : NULL;
    if (status == ORR_OK && out == NULL) {
        status = error_set(err, ORR_ENOMEM, "out of memory");
    }
    if (status != ORR_OK) {
        return status;
    }
    status = convert(options, command, out, err);
    if (fclose(out) != 0 && status == ORR_OK) {
        status = error_set(err, ORR_ENOMEM, "out of memory writing the log");
    }
    if (status == ORR_OK) {
        (void)fwrite(text, 1, size, stdout);
        status = cli_write_file(log, text, size, err);
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

int cli_chakra_converter(int argc, char **argv)
{
    struct converter_options options = {.convert = {0}};
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
        cli_error("chakra_converter: unknown converter \"%.80s\"; PyTorch or Text is needed", argv[next]);
        return orr_status_exit_code(ORR_EINVAL);
    }
    (void)snprintf(name, sizeof name, "chakra_converter %s", command->name);
    argv[next] = name;
    enum orr_status status = cli_options_parse(command, argc - next, argv + next, &options.input, &err);
    if (status == ORR_OK && options.input.help) {
        cli_print_help(command, name, stdout);
        return 0;
    }
    if (status == ORR_OK) {
        status = check(&options, command, &err);
    }
    if (status == ORR_OK) {
        status = log != NULL ? convert_logged(&options, command, log, &err) : convert(&options, command, stdout, &err);
    }
    return status == ORR_OK ? 0 : cli_fail(&err);
}
