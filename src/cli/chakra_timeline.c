/* SPDX-License-Identifier: Apache-2.0 */
/* chakra_timeline_visualizer: an issue and callback log as a trace for Chrome's viewer. */
#include "cli/chakra_names.h"

enum { KEY_INPUT = 256, KEY_OUTPUT, KEY_NPUS, KEY_FREQUENCY, KEY_LOG };

struct timeline_options {
    struct cli_input input;
    struct orr_chakra_timeline timeline;
    const char *log;
};

static const struct argp_option options_table[] = {
    {"input_filename", KEY_INPUT, "FILE", 0, "Lines \"issue,…\" and \"callback,…\"", 0},
    {"output_filename", KEY_OUTPUT, "FILE", 0, "JSON for chrome://tracing", 0},
    {"num_npus", KEY_NPUS, "N", 0, "Ranks of the system", 0},
    {"npu_frequency", KEY_FREQUENCY, "MHZ", 0, "Clock the cycles are counted in, MHz", 0},
    {"log_filename", KEY_LOG, "FILE", 0, "Has no effect: nothing is logged", 0},
    CLI_HELP_OPTION,
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct timeline_options *options = state->input;
    struct orr_chakra_timeline *timeline = &options->timeline;
    struct orr_error *err = &options->input.error;
    uint64_t count = 0;
    enum orr_status status;
    switch (key) {
    case KEY_INPUT:
        timeline->input = arg;
        return 0;
    case KEY_OUTPUT:
        timeline->output = arg;
        return 0;
    case KEY_NPUS:
        status = param_parse_count("--num_npus", arg, 1, UINT32_MAX, &count, err);
        timeline->npus = (uint32_t)count;
        return cli_options_status(status);
    case KEY_FREQUENCY:
        return cli_options_status(
            param_parse_count("--npu_frequency", arg, 1, INT64_MAX, &timeline->frequency_mhz, err));
    case KEY_LOG:
        options->log = arg;
        return 0;
    default:
        return cli_options_default(key, arg, state);
    }
}

static const struct argp argp = {
    .options = options_table,
    .parser = parse,
    .args_doc = "--input_filename FILE --output_filename FILE --num_npus N --npu_frequency MHZ",
    .doc = "Turn a log of issued and finished nodes into a trace for Chrome's viewer, as Chakra's timeline_visualizer "
           "does: the numbers are milliseconds in fields the viewer takes for microseconds.\v"
           "Example:\n  chakra_timeline_visualizer --input_filename log.csv --output_filename log.json \\\n"
           "      --num_npus 4 --npu_frequency 1500\n",
};

static const struct cli_command command = {.name = "chakra_timeline_visualizer", .argp = &argp, .takes_prefixes = true};

static enum orr_status check(const struct orr_chakra_timeline *timeline, struct orr_error *err)
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
    if (!cli_chakra_options(&command, argc, argv, &options.input, &exit_code)) {
        return exit_code;
    }
    if (options.log != NULL) {
        cli_error("warning: --log_filename has no effect: nothing is logged");
    }
    enum orr_status status = check(&options.timeline, &err);
    if (status == ORR_OK) {
        status = orr_chakra_timeline(&options.timeline, &err);
    }
    return status == ORR_OK ? 0 : cli_fail(&err);
}
