/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace convert`, and Chakra's converter under its own name: two sets of options for one function. */
#include "cli/trace.h"

#include <inttypes.h>
#include <string.h>

enum {
    KEY_FROM = 256,
    KEY_RANKS,
    KEY_PASSES,
    KEY_MAP,
    KEY_UNKNOWN_SIZE,
    KEY_COMPAT,
    KEY_SIMULATE,
    KEY_STRICT,
    KEY_LIMIT
};

struct convert_options {
    struct cli_input input;
    struct orr_convert_options convert;
    bool strict, simulate;
};

static const char *const formats[] = {
    "auto",
#define ORR_X(name, word, text) word,
    ORR_FORMATS(ORR_X)
#undef ORR_X
        NULL,
};

static const char *const compat_words[] = {"chakra", NULL};

static const struct argp_option table[] = {
    {"from", KEY_FROM, "FORMAT", 0, "What the input is: " ORR_FORMAT_LIST ". Default: auto, which its content tells",
     0},
    {"output", 'o', "OUT", 0,
     "The ET file to write (pytorch), or PREFIX of PREFIX.0.et, PREFIX.1.et … (the others; a single rank may be named "
     "itself, FILE.et). Missing folders are made",
     0},
    {"ranks", KEY_RANKS, "N", 0, "Ranks to write. Needed for text; other formats know how many they hold", 0},
    {"passes", KEY_PASSES, "N", 0, "Times the workload is repeated (text, simai). Default: 1", 0},
    {"map", KEY_MAP, "LIST", 0,
     "Columns of a csv, such as id=node,name=op,duration_us=time,deps=after,bytes=size,comm=kind", 0},
    {"unknown-size", KEY_UNKNOWN_SIZE, "BYTES", 0,
     "Size of a communication whose size the input does not tell: 64KiB, 1MB, bytes. Without this it is an error", 0},
    {"compat", KEY_COMPAT, "chakra", 0, "Write the bytes that Chakra's own converter writes (pytorch, text)", 0},
    {"simulate", KEY_SIMULATE, NULL, 0, "With --compat chakra: also print the order of issue that its --simulate logs",
     0},
    {"strict", KEY_STRICT, NULL, 0, CLI_STRICT_HELP, 0},
    {"memory-limit", KEY_LIMIT, "SIZE", 0, CLI_LIMIT_HELP, 0},
    CLI_HELP_OPTION,
    {0},
};

static error_t parse_compat(const char *arg, struct convert_options *options)
{
    unsigned index = 0;
    options->convert.compat_chakra = true;
    return cli_options_status(param_parse_word("--compat", arg, compat_words, &index, &options->input.error));
}

static error_t parse_count(const char *option, const char *arg, uint32_t *value, struct orr_error *err)
{
    uint64_t count = 0;
    enum orr_status status = param_parse_count(option, arg, 1, 1u << 20, &count, err);
    *value = (uint32_t)count;
    return cli_options_status(status);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct convert_options *options = state->input;
    struct orr_convert_options *convert = &options->convert;
    struct orr_error *err = &options->input.error;
    unsigned index = 0;
    enum orr_status status = ORR_OK;
    switch (key) {
    case KEY_FROM:
        status = param_parse_word("--from", arg, formats, &index, err);
        convert->format = (enum orr_format)index;
        return cli_options_status(status);
    case 'o':
        convert->output = arg;
        return 0;
    case KEY_RANKS:
        return parse_count("--ranks", arg, &convert->ranks, err);
    case KEY_PASSES:
        return parse_count("--passes", arg, &convert->passes, err);
    case KEY_MAP:
        convert->map = arg;
        return 0;
    case KEY_UNKNOWN_SIZE:
        convert->has_unknown_size = true;
        return cli_options_status(param_parse_size("--unknown-size", arg, &convert->unknown_size, err));
    case KEY_COMPAT:
        return parse_compat(arg, options);
    case KEY_SIMULATE:
        options->simulate = true;
        return 0;
    case KEY_STRICT:
        options->strict = true;
        return 0;
    case KEY_LIMIT:
        return cli_options_status(cli_parse_limit("--memory-limit", arg, &convert->memory_limit, err));
    case ARGP_KEY_ARG:
        if (convert->input != NULL) {
            return cli_options_status(
                error_set(err, ORR_EINVAL, "a second input \"%.200s\"; one is converted at a time", arg));
        }
        convert->input = arg;
        return 0;
    default:
        return cli_options_default(key, arg, state);
    }
}

/* ---- shared by both sets of options ---- */

enum orr_status cli_convert_check_paths(const struct orr_convert_options *convert, const char *option,
                                        struct orr_error *err)
{
    if (convert->input == NULL) {
        return error_set(err, ORR_EINVAL, "no input given; name the file to convert");
    }
    if (convert->output == NULL || convert->output[0] == '\0') {
        return error_set(err, ORR_EINVAL, "missing %s OUT (the ET file to write, or the prefix of several)", option);
    }
    if (cli_same_file(convert->input, convert->output) || cli_is_rank_file(convert->input, convert->output)) {
        return error_set(err, ORR_EINVAL, "%s would replace the input %s", option, convert->input);
    }
    const char *slash = strrchr(convert->output, '/');
    if (strcmp(convert->output, "-") == 0 || (slash != NULL && slash[1] == '\0')) {
        return cli_check_name(option, convert->output, err);
    }
    return ORR_OK;
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void print_summary(const struct orr_convert_options *convert, const struct orr_convert_summary *summary)
{
    char first[4096];
    char last[4096];
    orr_convert_path(convert, summary, 0, first, sizeof first);
    orr_convert_path(convert, summary, summary->files == 0 ? 0 : summary->files - 1, last, sizeof last);
    if (summary->files == 1) {
        (void)printf("Wrote %s", first);
    } else {
        (void)printf("Wrote %" PRIu32 " traces, %s to %s", summary->files, first, last);
    }
    (void)printf(" from %s: %" PRIu64 " node%s (%" PRIu64 " compute, %" PRIu64 " collective%s, %" PRIu64
                 " send%s, %" PRIu64 " receive%s), %" PRIu64 " bytes of communication.\n",
                 orr_format_name(summary->format), summary->nodes, plural(summary->nodes), summary->compute,
                 summary->collectives, plural(summary->collectives), summary->sends, plural(summary->sends),
                 summary->recvs, plural(summary->recvs), summary->comm_bytes);
}

/* ---- orrery trace convert ---- */

static int run_convert(const struct cli_command *self, int argc, char **argv)
{
    struct convert_options options = {0};
    orr_convert_options_init(&options.convert);
    struct orr_convert_summary summary = {0};
    struct cli_warnings warnings = {0};
    struct orr_error err = {0};
    enum orr_status status = cli_options_parse(self, argc, argv, &options.input, &err);
    if (status == ORR_OK && options.input.help) {
        cli_print_help(self, argv[0], stdout);
        return 0;
    }
    if (status == ORR_OK) {
        status = cli_convert_check_paths(&options.convert, "-o", &err);
    }
    if (status == ORR_OK) {
        status = cli_limit_default(&options.convert.memory_limit, &err);
    }
    if (status == ORR_OK) {
        struct orr_notices notices = cli_notices(&warnings, options.strict);
        options.convert.replay = options.simulate ? stdout : NULL;
        status = orr_trace_convert(&options.convert, &notices, &summary, &err);
        cli_warnings_end(&warnings);
    }
    if (status != ORR_OK) {
        return cli_end(status, &err);
    }
    print_summary(&options.convert, &summary);
    return 0;
}

static const struct argp convert_argp = {
    .options = table,
    .parser = parse,
    .args_doc = "INPUT -o OUT",
    .doc =
        "Turn another tool's trace or workload into Chakra ET files. INPUT may be packed with gzip or zstd. What had "
        "to be inferred, repaired or dropped is said on standard error. A PyTorch recording is best imported whole, "
        "with orrery trace import.\v"
        "Examples:\n"
        "  orrery trace convert hdt_0.json -o traces/resnet50.0.et\n"
        "  orrery trace convert --ranks 8 --passes 2 dlrm.txt -o traces/dlrm\n"
        "  orrery trace convert --map name=op,duration_us=time table.csv -o traces/my\n"
        "  orrery trace convert --compat chakra hdt_0.json -o chakra.0.et\n",
};

const struct cli_command cli_trace_convert = {
    .name = "convert",
    .summary = "turn other tools' traces and workloads into Chakra ET",
    .argp = &convert_argp,
    .run = run_convert,
};
