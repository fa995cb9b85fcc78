/* SPDX-License-Identifier: Apache-2.0 */
/* chakra_timeline_visualizer: an issue and callback log as a trace for Chrome's viewer. */
#include "cli/chakra_names.h"

struct timeline_options {
    struct orr_chakra_timeline timeline;
    const char *log;
};

#define AT(field) .place = offsetof(struct timeline_options, field)

static const struct param rows[] = {
    {"input_filename", .kind = PARAM_PATH, .value = "FILE", AT(timeline.input),
     .help = "Lines \"issue,…\" and \"callback,…\""},
    {"output_filename", .kind = PARAM_PATH, .value = "FILE", AT(timeline.output), .help = "JSON for chrome://tracing"},
    {"num_npus", .kind = PARAM_COUNT32, .value = "N", AT(timeline.npus), .least = 1, .most = UINT32_MAX,
     .help = "Ranks of the system"},
    {"npu_frequency", .kind = PARAM_COUNT, .value = "MHZ", AT(timeline.frequency_mhz), .least = 1, .most = INT64_MAX,
     .help = "Clock the cycles are counted in, MHz"},
    {"log_filename", .kind = PARAM_PATH, .value = "FILE", AT(log), .help = "Has no effect: nothing is logged"},
    {0},
};
static const struct param_table tables[] = {{rows, 0, 0}, {0}};

static const struct cli_usage usage = {
    .tables = tables,
    .forms = "--input_filename FILE --output_filename FILE --num_npus N --npu_frequency MHZ",
    .about = "Turn a log of issued and finished nodes into a trace for Chrome's viewer, as Chakra's "
             "timeline_visualizer does: the numbers are milliseconds in fields the viewer takes for microseconds.",
    .examples = "  chakra_timeline_visualizer --input_filename log.csv --output_filename log.json \\\n"
                "      --num_npus 4 --npu_frequency 1500\n",
};

static const struct cli_command command = {
    .name = "chakra_timeline_visualizer", .usage = &usage, .takes_prefixes = true};

static enum orr_status cli_chakra_timeline_check(const struct orr_chakra_timeline *timeline, struct orr_error *err)
{
    if (timeline->npus == 0 || timeline->frequency_mhz == 0) {
        return error_set(err, ORR_EINVAL, "missing --%s", timeline->npus == 0 ? "num_npus N" : "npu_frequency MHZ");
    }
    return cli_chakra_check_paths(timeline->input, timeline->output, err);
}

int cli_chakra_timeline_visualizer(int argc, char **argv)
{
    struct timeline_options options = {0};
    struct orr_error err = {0};
    int exit_code = 0;
    if (!cli_chakra_options(&command, argc, argv, &options, &exit_code)) {
        return exit_code;
    }
    if (options.log != NULL) {
        cli_error("warning: --log_filename has no effect: nothing is logged");
    }
    enum orr_status status = cli_chakra_timeline_check(&options.timeline, &err);
    if (status == ORR_OK) {
        status = orr_chakra_timeline(&options.timeline, &err);
    }
    return status == ORR_OK ? 0 : cli_fail(&err);
}
