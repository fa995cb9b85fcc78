/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace link`, and Chakra's linker under its own name: two sets of options for one function. */
#include <inttypes.h>

#include "cli/chakra_names.h"
#include "cli/trace.h"

enum { KEY_HOST = 256, KEY_DEVICE, KEY_RANK, KEY_COMPAT, KEY_STRICT, KEY_LIMIT, KEY_LOG_LEVEL };

struct link_options {
    struct cli_input input;
    struct orr_link_options link;
    bool strict, quiet;
};

static const char *const compat_words[] = {"chakra", NULL};
static const char *const log_levels[] = {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL", NULL};

static const struct argp_option table[] = {
    {"host", KEY_HOST, "FILE", 0, "Execution trace of the rank (ExecutionTraceObserver's JSON)", 0},
    {"device", KEY_DEVICE, "FILE", 0, "Kineto trace of the rank (the profiler's Chrome trace JSON)", 0},
    {"rank", KEY_RANK, "R", 0, "Rank of the recording. Default: as the device trace says", 0},
    {"output", 'o', "OUT", 0, "Linked trace to write, JSON; packed when OUT ends in .gz or .zst", 0},
    {"compat", KEY_COMPAT, "chakra", 0, "Write the bytes that Chakra's own linker writes, with its mistakes", 0},
    {"strict", KEY_STRICT, NULL, 0, CLI_STRICT_HELP, 0},
    {"memory-limit", KEY_LIMIT, "SIZE", 0, CLI_LIMIT_HELP, 0},
    CLI_HELP_OPTION,
    {0},
};

static const struct argp_option chakra_table[] = {
    {"rank", KEY_RANK, "R", 0, "Rank of the recording; Chakra's linker makes no use of it", 0},
    {"chakra-host-trace", KEY_HOST, "FILE", 0, "Execution trace of the rank", 0},
    {"chakra-device-trace", KEY_DEVICE, "FILE", 0, "Kineto trace of the rank", 0},
    {"output-file", 'o', "OUT", 0, "Linked trace to write", 0},
    {"log-level", KEY_LOG_LEVEL, "LEVEL", 0, "DEBUG, INFO, WARNING, ERROR or CRITICAL: the last two hide warnings", 0},
    CLI_HELP_OPTION,
    {0},
};

static error_t parse_rank(const char *arg, struct link_options *options)
{
    uint64_t rank = 0;
    enum orr_status status = param_parse_count("--rank", arg, 0, INT32_MAX, &rank, &options->input.error);
    options->link.rank = (int64_t)rank;
    return cli_options_status(status);
}

static error_t parse_log_level(const char *arg, struct link_options *options)
{
    unsigned index = 0;
    enum orr_status status = param_parse_word("--log-level", arg, log_levels, &index, &options->input.error);
    options->quiet = index >= 3;
    return cli_options_status(status);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct link_options *options = state->input;
    struct orr_error *err = &options->input.error;
    unsigned index = 0;
    switch (key) {
    case KEY_HOST:
        options->link.host = arg;
        return 0;
    case KEY_DEVICE:
        options->link.device = arg;
        return 0;
    case 'o':
        options->link.output = arg;
        return 0;
    case KEY_RANK:
        return parse_rank(arg, options);
    case KEY_COMPAT:
        options->link.compat_chakra = true;
        return cli_options_status(param_parse_word("--compat", arg, compat_words, &index, err));
    case KEY_STRICT:
        options->strict = true;
        return 0;
    case KEY_LIMIT:
        return cli_options_status(cli_parse_limit("--memory-limit", arg, &options->link.memory_limit, err));
    case KEY_LOG_LEVEL:
        return parse_log_level(arg, options);
    default:
        return cli_options_default(key, arg, state);
    }
}

/* ---- shared by both sets of options ---- */

static enum orr_status check(const struct orr_link_options *link, const char *host_option, const char *device_option,
                             const char *output_option, struct orr_error *err)
{
    bool both = link->compat_chakra;
    if (link->output == NULL || link->output[0] == '\0') {
        return error_set(err, ORR_EINVAL, "missing %s OUT (the linked trace to write)", output_option);
    }
    if (link->host == NULL && (both || link->device == NULL)) {
        return error_set(err, ORR_EINVAL, "missing %s FILE (the execution trace)", host_option);
    }
    if (link->device == NULL && both) {
        return error_set(err, ORR_EINVAL, "missing %s FILE (the Kineto trace)", device_option);
    }
    if (cli_same_file(link->host, link->output) || cli_same_file(link->device, link->output)) {
        return error_set(err, ORR_EINVAL, "%s would replace the input %s", output_option,
                         cli_same_file(link->host, link->output) ? link->host : link->device);
    }
    enum orr_status status = cli_check_name(output_option, link->output, err);
    return status == ORR_OK ? cli_check_writable(output_option, link->output, err) : status;
}

static int link_files(const struct link_options *options)
{
    struct cli_warnings warnings = {.quiet = options->quiet};
    struct orr_notices notices = cli_notices(&warnings, options->strict);
    struct orr_link_summary summary = {0};
    struct orr_error err = {0};
    enum orr_status status = orr_trace_link(&options->link, &notices, &summary, &err);
    cli_warnings_end(&warnings);
    if (status != ORR_OK) {
        return cli_fail(&err);
    }
    (void)printf("Wrote %s: %" PRIu64 " of %" PRIu64 " host nodes matched, %" PRIu64 " device nodes, %" PRIu64
                 " not linked, %" PRIu64 " sync dependencies.\n",
                 options->link.output, summary.matched, summary.host_nodes, summary.device_nodes, summary.unlinked,
                 summary.sync_dependencies);
    return 0;
}

/* ---- orrery trace link ---- */

static int run_link(const struct cli_command *self, int argc, char **argv)
{
    struct link_options options = {0};
    orr_link_options_init(&options.link);
    struct orr_error err = {0};
    enum orr_status status = cli_options_parse(self, argc, argv, &options.input, &err);
    if (status == ORR_OK && options.input.help) {
        cli_print_help(self, argv[0], stdout);
        return 0;
    }
    if (status == ORR_OK) {
        status = check(&options.link, "--host", "--device", "-o", &err);
    }
    if (status == ORR_OK) {
        status = cli_limit_default(&options.link.memory_limit, &err);
    }
    return status == ORR_OK ? link_files(&options) : cli_fail(&err);
}

static const struct argp link_argp = {
    .options = table,
    .parser = parse,
    .args_doc = "--host FILE --device FILE -o OUT",
    .doc = "Make one trace of a rank's host execution trace and its Kineto device trace: kernels are attached to the "
           "operators that launched them, and get the dependencies that threads, streams and synchronisations give "
           "them. Inputs may be packed with gzip or zstd. The result is for orrery trace convert; orrery trace import "
           "does both for all ranks of a folder.\v"
           "Examples:\n"
           "  orrery trace link --host host_0.json --device device_0.json -o hdt_0.json\n"
           "  orrery trace link --host host_0.json.gz --device device_0.json.gz \\\n"
           "      -o hdt_0.json.zst\n"
           "  orrery trace link --compat chakra --host host_0.json \\\n"
           "      --device device_0.json -o hdt_0.json\n",
};

const struct cli_command cli_trace_link = {
    .name = "link",
    .summary = "make one trace of a host and a device trace of PyTorch",
    .argp = &link_argp,
    .run = run_link,
};

/* ---- chakra_trace_link ---- */

static const struct argp chakra_argp = {
    .options = chakra_table,
    .parser = parse,
    .args_doc = "[--rank R] --chakra-host-trace FILE --chakra-device-trace FILE --output-file OUT",
    .doc = "Link a PyTorch host trace and a Kineto device trace, byte for byte as Chakra's linker does; orrery trace "
           "link is the right one to use otherwise.\v"
           "Example:\n"
           "  chakra_trace_link --rank 0 --chakra-host-trace host_0.json \\\n"
           "      --chakra-device-trace device_0.json --output-file hdt_0.json\n",
};

static const struct cli_command chakra_command = {
    .name = "chakra_trace_link", .argp = &chakra_argp, .takes_prefixes = true};

int cli_chakra_trace_link(int argc, char **argv)
{
    struct link_options options = {0};
    orr_link_options_init(&options.link);
    struct orr_error err = {0};
    int exit_code = 0;
    if (!cli_chakra_options(&chakra_command, argc, argv, &options.input, &exit_code)) {
        return exit_code;
    }
    options.link.compat_chakra = true;
    enum orr_status status =
        check(&options.link, "--chakra-host-trace", "--chakra-device-trace", "--output-file", &err);
    return status == ORR_OK ? link_files(&options) : cli_fail(&err);
}
