/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace link`, and Chakra's linker under its own name: two sets of options for one function. */
#include <inttypes.h>

#include "cli/chakra_names.h"
#include "cli/trace.h"

struct link_options {
    struct orr_link_options link;
    bool strict;
    int log_level; /* the index of one of log_levels; the last two hide warnings */
};

static const char *const compats[] = {"none", "chakra", NULL};
static const char *const log_levels[] = {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL", NULL};
enum { LOG_LEVEL_ERROR = 3 };

#define AT(field)   .place = offsetof(struct link_options, field)
#define FILE_OF(at) .kind = PARAM_PATH, .value = "FILE", AT(link.at)
#define RANK        .kind = PARAM_COUNT, .value = "R", AT(link.rank), .most = INT32_MAX

static const struct param rows[] = {
    {"host", FILE_OF(host), .help = "Execution trace of the rank (ExecutionTraceObserver's JSON)"},
    {"device", FILE_OF(device), .help = "Kineto trace of the rank (the profiler's Chrome trace JSON)"},
    {"rank", RANK, .help = "Rank of the recording", .unwritten = "as the device trace says"},
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "OUT", AT(link.output),
     .help = "Required: linked trace to write, JSON; packed when OUT ends in .gz or .zst"},
    {"compat", .kind = PARAM_CHOICE, .group = PARAM_OUTPUT, .value = "NAME", AT(link.compat_chakra), .words = compats,
     .initial = "none", .help = "none, or chakra: the bytes that Chakra's own linker writes, with its mistakes"},
    CLI_ROW_STRICT(struct link_options, strict),
    CLI_ROW_LIMIT(struct link_options, link.memory_limit),
    {0},
};

static const struct param chakra_rows[] = {
    {"rank", RANK, .help = "Rank of the recording; Chakra's linker makes no use of it"},
    {"chakra-host-trace", FILE_OF(host), .help = "Execution trace of the rank"},
    {"chakra-device-trace", FILE_OF(device), .help = "Kineto trace of the rank"},
    {"output-file", .letter = 'o', .kind = PARAM_PATH, .value = "OUT", AT(link.output),
     .help = "Linked trace to write"},
    {"log-level", .kind = PARAM_WORD, .value = "LEVEL", AT(log_level), .words = log_levels,
     .help = "DEBUG, INFO, WARNING, ERROR or CRITICAL: the last two hide warnings"},
    {0},
};

static const struct param_table tables[] = {{rows, 0, 0}, {0}};
static const struct param_table chakra_tables[] = {{chakra_rows, 0, 0}, {0}};

/* ---- shared by both sets of options ---- */

static enum orr_status cli_trace_link_check(const struct orr_link_options *link, const char *host_option,
                                            const char *device_option, const char *output_option, struct orr_error *err)
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
    struct cli_warnings warnings = {.quiet = options->log_level >= LOG_LEVEL_ERROR};
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
    int exit_code = 0;
    if (!cli_begin(self, argc, argv, &options, &exit_code)) {
        return exit_code;
    }
    enum orr_status status = cli_trace_link_check(&options.link, "--host", "--device", "-o", &err);
    if (status == ORR_OK) {
        status = cli_limit_default(&options.link.memory_limit, &err);
    }
    return status == ORR_OK ? link_files(&options) : cli_fail(&err);
}

static const struct cli_usage usage = {
    .tables = tables,
    .forms = "--host FILE --device FILE -o OUT",
    .about = "Make one trace of a rank's host execution trace and its Kineto device trace: kernels are attached to the "
             "operators that launched them, and get the dependencies that threads, streams and synchronisations give "
             "them. Inputs may be packed with gzip or zstd. The result is for orrery trace convert; orrery trace "
             "import does both for all ranks of a folder.",
    .examples = "  orrery trace link --host host_0.json --device device_0.json -o hdt_0.json\n"
                "  orrery trace link --host host_0.json.gz --device device_0.json.gz \\\n"
                "      -o hdt_0.json.zst\n"
                "  orrery trace link --compat chakra --host host_0.json \\\n"
                "      --device device_0.json -o hdt_0.json\n",
};

const struct cli_command cli_trace_link = {
    .name = "link",
    .summary = "make one trace of a host and a device trace of PyTorch",
    .usage = &usage,
    .run = run_link,
};

/* ---- chakra_trace_link ---- */

static const struct cli_usage chakra_usage = {
    .tables = chakra_tables,
    .forms = "[--rank R] --chakra-host-trace FILE --chakra-device-trace FILE --output-file OUT",
    .about = "Link a PyTorch host trace and a Kineto device trace, byte for byte as Chakra's linker does; orrery trace "
             "link is the right one to use otherwise.",
    .examples = "  chakra_trace_link --rank 0 --chakra-host-trace host_0.json \\\n"
                "      --chakra-device-trace device_0.json --output-file hdt_0.json\n",
};

static const struct cli_command chakra_command = {
    .name = "chakra_trace_link", .usage = &chakra_usage, .takes_prefixes = true};

int cli_chakra_trace_link(int argc, char **argv)
{
    struct link_options options = {0};
    orr_link_options_init(&options.link);
    struct orr_error err = {0};
    int exit_code = 0;
    if (!cli_chakra_options(&chakra_command, argc, argv, &options, &exit_code)) {
        return exit_code;
    }
    options.link.compat_chakra = true;
    enum orr_status status =
        cli_trace_link_check(&options.link, "--chakra-host-trace", "--chakra-device-trace", "--output-file", &err);
    return status == ORR_OK ? link_files(&options) : cli_fail(&err);
}
