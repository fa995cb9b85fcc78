/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace convert`, and Chakra's converter under its own name: two sets of options for one function. */
#include "cli/trace.h"

#include <inttypes.h>
#include <string.h>

struct convert_options {
    struct orr_convert_options convert;
    bool strict, simulate;
};

static const char *const compats[] = {"none", "chakra", NULL};

#define AT(field) .place = offsetof(struct convert_options, convert.field)

static const struct param rows[] = {
    CLI_ROW_UNKNOWN_SIZE(struct convert_options, convert, CLI_UNKNOWN_SIZE_HELP),
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "OUT", AT(output),
     .help = "Required: the ET file to write (pytorch), or PREFIX of PREFIX.0.et, PREFIX.1.et … (the others; a single "
             "rank may be named itself, FILE.et). Missing folders are made"},
    {"compat", .kind = PARAM_CHOICE, .group = PARAM_OUTPUT, .value = "NAME", AT(compat_chakra), .words = compats,
     .initial = "none", .help = "none, or chakra: the bytes that Chakra's own converter writes (pytorch, text)"},
    {"simulate", .kind = PARAM_FLAG, .group = PARAM_OUTPUT, .place = offsetof(struct convert_options, simulate),
     .help = "With parameter 'compat' chakra: also print the order of issue that its --simulate logs"},
    CLI_ROW_STRICT(struct convert_options, strict),
    CLI_ROW_LIMIT(struct convert_options, convert.memory_limit),
    {0},
};

static const struct param_table tables[] = {
    {param_convert, 0, offsetof(struct convert_options, convert)}, {rows, 0, 0}, {0}};

static enum orr_status cli_trace_convert_take_input(void *into, const char *word, struct orr_error *err)
{
    struct convert_options *options = into;
    if (options->convert.input != NULL) {
        return error_set(err, ORR_EINVAL, "a second input \"%.200s\"; one is converted at a time", word);
    }
    options->convert.input = word;
    return ORR_OK;
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

static const char *cli_trace_convert_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void print_summary(const struct orr_convert_options *convert, const struct orr_convert_summary *summary)
{
    char first[4096];
    char last[4096];
    orr_convert_path(convert, summary, 0, first, sizeof first);
    orr_convert_path(convert, summary, summary->files == 0 ? 0 : summary->files - 1, last, sizeof last);
    if (cli_is_archive(convert->output)) {
        cli_print_traces(convert->output, summary->files);
    } else if (summary->files == 1) {
        (void)printf("Wrote %s", first);
    } else {
        (void)printf("Wrote %" PRIu32 " traces, %s to %s", summary->files, first, last);
    }
    (void)printf(" from %s: %" PRIu64 " node%s (%" PRIu64 " compute, %" PRIu64 " collective%s, %" PRIu64
                 " send%s, %" PRIu64 " receive%s), %" PRIu64 " bytes of communication.\n",
                 orr_format_name(summary->format), summary->nodes, cli_trace_convert_plural(summary->nodes),
                 summary->compute, summary->collectives, cli_trace_convert_plural(summary->collectives), summary->sends,
                 cli_trace_convert_plural(summary->sends), summary->recvs, cli_trace_convert_plural(summary->recvs),
                 summary->comm_bytes);
}

/* ---- orrery trace convert ---- */

static int run_convert(const struct cli_command *self, int argc, char **argv)
{
    struct convert_options options = {0};
    orr_convert_options_init(&options.convert);
    struct orr_convert_summary summary = {0};
    struct cli_warnings warnings = {0};
    struct orr_error err = {0};
    int exit_code = 0;
    if (!cli_begin(self, argc, argv, &options, &exit_code)) {
        return exit_code;
    }
    enum orr_status status = cli_convert_check_paths(&options.convert, "-o", &err);
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

static const char *const headings[PARAM_GROUPS] = {[PARAM_WHAT] = "What to read:"};

static const struct cli_usage usage = {
    .tables = tables,
    .forms = "INPUT -o OUT",
    .about = "Turn another tool's trace or workload into Chakra ET files. INPUT may be compressed with gzip or zstd. "
             "Anything inferred, repaired or dropped is reported on standard error. For a PyTorch recording, orrery "
             "trace import is the better choice.",
    .examples = "  orrery trace convert hdt_0.json -o traces/resnet50.0.et\n"
                "  orrery trace convert --ranks 8 --passes 2 dlrm.txt -o traces/dlrm\n"
                "  orrery trace convert --map name=op,duration_us=time table.csv -o traces/my\n"
                "  orrery trace convert --compat chakra hdt_0.json -o chakra.0.et\n",
    .headings = headings,
    .argument = cli_trace_convert_take_input,
};

const struct cli_command cli_trace_convert = {
    .name = "convert",
    .summary = "turn other tools' traces and workloads into Chakra ET",
    .usage = &usage,
    .run = run_convert,
};
