/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery calib fit`: measured steps from files or as bare numbers, the simulated side from a store or as bare numbers.
 * The library does the rest and writes the report. */
#include "cli/calib.h"
#include "cli/lab.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEY_BENCH = 256,
    KEY_REAL_STEP,
    KEY_REAL_COMM,
    KEY_REAL_KERNEL,
    KEY_RANK,
    KEY_UNTRACED,
    KEY_PROFILER,
    KEY_RUN,
    KEY_STORE,
    KEY_SIM_WALL,
    KEY_SIM_COMM,
    KEY_SIM_GPU,
    KEY_SIM_STEPS,
    KEY_STEPS,
    KEY_BYTES,
    KEY_COLLECTIVES,
    KEY_RANKS,
    KEY_BANDWIDTH,
    KEY_LAUNCH,
    KEY_HOPS,
    KEY_FORM,
    KEY_COLLECTIVE,
    KEY_PLACE,
    KEY_LATENCY_STEPS,
    KEY_RANGES,
    KEY_SPLIT,
    KEY_TAG,
    KEY_LIMIT,
    KEY_STRICT,
};

struct fit_options {
    struct cli_input input;
    struct orr_calib_options calib;
    const char **measured; /* room for every word of the command line */
    const char **bench;
    const char *store;
    bool strict, quiet;
};

static const struct argp_option table[] = {
    {NULL, 0, NULL, 0, "What was measured:", 1},
    {"measured", 'm', "FILE...", 0,
     "Step times: a device trace (ProfilerStep, .json or .json.gz), training_R.json, gpu_metrics_*.json, or a list of "
     "milliseconds. May be given often; words without an option are such files too",
     1},
    {"real-step-ms", KEY_REAL_STEP, "MS", 0, "A measured step took so long, in milliseconds, whatever files say", 1},
    {"real-comm-ms", KEY_REAL_COMM, "MS", 0, "Of it, communication took so long", 1},
    {"real-kernel-ms", KEY_REAL_KERNEL, "MS", 0, "Of it, compute on the device took so long", 1},
    {"rank", KEY_RANK, "R", 0, "Fit on rank R's files alone, and say how well the others are predicted", 1},
    {"untraced", KEY_UNTRACED, NULL, 0,
     "Alpha against the steps without a profiler (training_R.json). Default: against those of the device traces where "
     "there are some",
     1},
    {"profiler-overhead", KEY_PROFILER, "TIME", 0,
     "What the profiler costs for each event it notes, as another recording gave it: 13us. Default: fitted where a "
     "rank "
     "has steps with and without it",
     1},
    {NULL, 0, NULL, 0, "What was simulated:", 2},
    {"run", KEY_RUN, "N", 0, "This run of the store; 0 is the newest", 2},
    {"store", KEY_STORE, "FILE", 0,
     "Result store (SQLite): has the run, and keeps the calibration. Default: " CLI_STORE_DEFAULT
     " with --run, else none",
     2},
    {"sim-wall", KEY_SIM_WALL, "NS", 0, "Without a store: the simulated time of all steps together, in ns (cycles)", 2},
    {"sim-comm", KEY_SIM_COMM, "NS", 0, "Of it, communication, in ns", 2},
    {"sim-gpu", KEY_SIM_GPU, "NS", 0, "Of it, compute, in ns", 2},
    {"sim-steps", KEY_SIM_STEPS, "N", 0, "Training steps that the simulated traces hold", 2},
    {"steps", KEY_STEPS, "N", 0,
     "As --sim-steps, and goes before all: where recordings and simulated traces hold different numbers of steps they "
     "are refused without it",
     2},
    {"comm-bytes", KEY_BYTES, "SIZE", 0, "Bytes that are all-reduced in a step. Default: as the run says", 2},
    {"collectives", KEY_COLLECTIVES, "N", 0, "Collectives in a step. Default: as the run or the recording says", 2},
    {"ranks", KEY_RANKS, "N", 0, "Ranks that share the bytes, or took part in the --bench. Default: as the run says",
     2},
    {"bandwidth", KEY_BANDWIDTH, "RATE", 0,
     "Configured in the simulation, of a link, one way: 65Gbps; a bare number is in Gbps. Default: as the run says", 2},
    {NULL, 0, NULL, 0, "What the network can do:", 3},
    {"bench", KEY_BENCH, "FILE", 0,
     "Measured collectives or copies: output of nccl-tests, rccl-tests or rocm-bandwidth-test, or a table "
     "(docs/calibration-network.md). May be given often",
     3},
    {"hops", KEY_HOPS, "N", 0, "Links between two ranks in them: 1 direct (default), 2 switch, 4 leaf and spine", 3},
    {"launch-overhead", KEY_LAUNCH, "TIME", 0,
     "What launching a collective costs: 25us; a bare number is in us. Default: fitted where it can be", 3},
    {"form", KEY_FORM, "FORM", 0, "What the files are: tests, bandwidth, csv, yaml, trace. Default: by content", 3},
    {"collective", KEY_COLLECTIVE, "TYPE", 0, "What was measured: all-reduce, ... Default: as the files say", 3},
    {"place", KEY_PLACE, "WHERE", 0, "Fit what was measured in place (in), out of place (out), or both (any, default)",
     3},
    {"ranges", KEY_RANGES, "N", 0, "Ranges of sizes with a line of their own, at most: 1 to 3 (default)", 3},
    {"split", KEY_SPLIT, "SIZE", 0, "The last size of a range: 64KiB. Twice for three ranges. Default: found", 3},
    {"latency-steps", KEY_LATENCY_STEPS, "WORD", 0,
     "Messages one after the other that a small collective is taken for: ring (default), tree, one", 3},
    {NULL, 0, NULL, 0, "Results:", 4},
    {"output", 'o', "FILE", 0, "Calibration file (JSON), for orrery run --calibration and orrery calib apply", 4},
    {"tag", KEY_TAG, "NAME", 0, "A name for the calibration. Default: that of the run", 4},
    {"memory-limit", KEY_LIMIT, "SIZE", 0, CLI_LIMIT_HELP, 4},
    {"strict", KEY_STRICT, NULL, 0, CLI_STRICT_HELP, 4},
    {"quiet", 'q', NULL, 0, "No warnings", 4},
    CLI_HELP_OPTION,
    {0},
};

static enum orr_status parse_ms(const char *option, const char *arg, double *value, struct orr_error *err)
{
    enum orr_status status = param_parse_real(option, arg, value, err);
    if (status == ORR_OK && !(*value > 0)) {
        status = error_set(err, ORR_ERANGE, "%s: %s is no time of a step: milliseconds above 0 are", option, arg);
    }
    return status;
}

/* Counts: option, least, most, where it goes. */
static enum orr_status parse_count(int key, const char *arg, struct fit_options *options)
{
    struct orr_calib_options *calib = &options->calib;
    uint64_t number = 0;
    const struct {
        int key;
        const char *option;
        uint64_t least, most;
        uint64_t *into;
    } counts[] = {{KEY_SIM_WALL, "--sim-wall", 1, INT64_MAX, &calib->sim_wall_ns},
                  {KEY_SIM_COMM, "--sim-comm", 1, INT64_MAX, &calib->sim_comm_ns},
                  {KEY_SIM_GPU, "--sim-gpu", 1, INT64_MAX, &calib->sim_gpu_ns},
                  {KEY_SIM_STEPS, "--sim-steps", 1, INT32_MAX, &calib->sim_steps},
                  {KEY_STEPS, "--steps", 1, INT32_MAX, &calib->steps},
                  {KEY_COLLECTIVES, "--collectives", 1, INT32_MAX, &calib->collectives},
                  {KEY_RANK, "--rank", 0, INT32_MAX, &number},
                  {KEY_RUN, "--run", 0, INT64_MAX, &number},
                  {KEY_RANKS, "--ranks", 2, INT32_MAX, &number},
                  {KEY_RANGES, "--ranges", 1, 3, &number},
                  {KEY_HOPS, "--hops", 1, 64, &number}};
    enum orr_status status = ORR_OK;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        if (counts[i].key == key) {
            status = param_parse_count(counts[i].option, arg, counts[i].least, counts[i].most, counts[i].into,
                                       &options->input.error);
        }
    }
    calib->rank = key == KEY_RANK ? (int64_t)number : calib->rank;
    calib->run = key == KEY_RUN ? (int64_t)number : calib->run;
    calib->has_run = calib->has_run || key == KEY_RUN;
    calib->ranks = key == KEY_RANKS ? (uint32_t)number : calib->ranks;
    calib->hops = key == KEY_HOPS ? (uint32_t)number : calib->hops;
    calib->bench_ranges = key == KEY_RANGES ? (uint32_t)number : calib->bench_ranges;
    return status;
}

static enum orr_status parse_split(const char *arg, struct orr_calib_options *calib, struct orr_error *err)
{
    if (calib->bench_split_count == sizeof calib->bench_splits / sizeof calib->bench_splits[0]) {
        return error_set(err, ORR_EINVAL, "--split %s: three ranges have two ends", arg);
    }
    return param_parse_size("--split", arg, &calib->bench_splits[calib->bench_split_count++], err);
}

static error_t parse_quantity(int key, char *arg, struct fit_options *options)
{
    struct orr_calib_options *calib = &options->calib;
    struct orr_error *err = &options->input.error;
    switch (key) {
    case KEY_REAL_STEP:
        return cli_options_status(parse_ms("--real-step-ms", arg, &calib->real_step_ms, err));
    case KEY_REAL_COMM:
        return cli_options_status(parse_ms("--real-comm-ms", arg, &calib->real_comm_ms, err));
    case KEY_REAL_KERNEL:
        return cli_options_status(parse_ms("--real-kernel-ms", arg, &calib->real_kernel_ms, err));
    case KEY_BYTES:
        return cli_options_status(param_parse_size("--comm-bytes", arg, &calib->comm_bytes, err));
    case KEY_SPLIT:
        return cli_options_status(parse_split(arg, calib, err));
    case KEY_LIMIT:
        return cli_options_status(cli_parse_limit("--memory-limit", arg, &calib->memory_limit, err));
    default:
        return cli_options_status(parse_count(key, arg, options));
    }
}

static const char **text_of(int key, struct fit_options *options)
{
    switch (key) {
    case KEY_PROFILER:
        return &options->calib.profiler;
    case KEY_STORE:
        return &options->store;
    case KEY_BANDWIDTH:
        return &options->calib.bandwidth;
    case KEY_LAUNCH:
        return &options->calib.launch;
    case KEY_FORM:
        return &options->calib.bench_form;
    case KEY_COLLECTIVE:
        return &options->calib.bench_collective;
    case KEY_PLACE:
        return &options->calib.bench_place;
    case KEY_LATENCY_STEPS:
        return &options->calib.bench_steps;
    case KEY_TAG:
        return &options->calib.tag;
    case 'o':
        return &options->calib.output;
    default:
        return NULL;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct fit_options *options = state->input;
    const char **text = text_of(key, options);
    if (text != NULL) {
        *text = arg;
        return 0;
    }
    switch (key) {
    case 'm':
    case ARGP_KEY_ARG:
        options->measured[options->calib.measured_count++] = arg;
        return 0;
    case KEY_BENCH:
        options->bench[options->calib.bench_count++] = arg;
        return 0;
    case KEY_UNTRACED:
        options->calib.untraced = true;
        return 0;
    case KEY_STRICT:
        options->strict = true;
        return 0;
    case 'q':
        options->quiet = true;
        return 0;
    default:
        return key >= KEY_REAL_STEP && key <= KEY_LIMIT ? parse_quantity(key, arg, options)
                                                        : cli_options_default(key, arg, state);
    }
}

static enum orr_status check_output(const struct fit_options *options, struct orr_error *err)
{
    const struct orr_calib_options *calib = &options->calib;
    const char *output = calib->output;
    if (output == NULL) {
        return ORR_OK;
    }
    for (size_t i = 0; i < calib->measured_count + calib->bench_count; i++) {
        const char *input =
            i < calib->measured_count ? options->measured[i] : options->bench[i - calib->measured_count];
        if (cli_same_file(output, input)) {
            return error_set(err, ORR_EINVAL, "--output would replace %s, which is read", input);
        }
    }
    if (cli_same_file(output, calib->store)) {
        return error_set(err, ORR_EINVAL, "--output would replace the store %s", calib->store);
    }
    return cli_check_name("--output", output, err);
}

static enum orr_status fit(struct fit_options *options, struct orr_error *err)
{
    struct cli_warnings warnings = {.quiet = options->quiet};
    const struct orr_notices notices = cli_notices(&warnings, options->strict);
    struct orr_calib_options *calib = &options->calib;
    struct orr_calib_result result;
    calib->measured = options->measured;
    calib->bench = options->bench;
    calib->store = options->store != NULL ? options->store : calib->has_run ? CLI_STORE_DEFAULT : NULL;
    enum orr_status status = cli_limit_default(&calib->memory_limit, err);
    status = status != ORR_OK ? status : check_output(options, err);
    status = status != ORR_OK ? status : orr_calib_fit(calib, &notices, stdout, &result, err);
    cli_warnings_end(&warnings);
    return status;
}

static int run_fit(const struct cli_command *self, int argc, char **argv)
{
    struct fit_options options = {0};
    orr_calib_options_init(&options.calib);
    struct orr_error err = {0};
    if (argc == 1) {
        return cli_print_usage(self, argv[0]);
    }
    options.measured = calloc(2 * (size_t)argc, sizeof *options.measured);
    options.bench = options.measured == NULL ? NULL : options.measured + argc;
    enum orr_status status = options.measured == NULL ? error_set(&err, ORR_ENOMEM, "out of memory")
                                                      : cli_options_parse(self, argc, argv, &options.input, &err);
    if (status == ORR_OK && options.input.help) {
        cli_print_help(self, argv[0], stdout);
    } else if (status == ORR_OK) {
        status = fit(&options, &err);
    }
    free(options.measured);
    return cli_end(status, &err);
}

static const struct argp fit_argp = {
    .options = table,
    .parser = parse,
    .args_doc = "[MEASURED...]",
    .doc = "Hold measured training steps against a simulated one: alpha = real / simulated, of one step on both sides, "
           "with its spread, the analytic lower bound, why they differ in numbers, and the rules by which it is "
           "accepted or refused. Measured collectives give the bandwidth and latency of a link and the overhead of "
           "launching one. docs/calibration.md has the rules.\v"
           "Examples:\n"
           "  orrery calib fit --run 0 recording/device_*.json.gz \\\n"
           "      recording/training_*.json --rank 0 -o calib.json\n"
           "  orrery calib fit --real-step-ms 662.92 --real-comm-ms 7.54 \\\n"
           "      --sim-wall 274982000 --sim-steps 2 --comm-bytes 94083368 \\\n"
           "      --ranks 2 --bandwidth 65Gbps\n"
           "  orrery calib fit --bench all_reduce_perf.txt --ranks 2 \\\n"
           "      -o network.json\n",
};

const struct cli_command cli_calib_fit = {
    .name = "fit", .summary = "find what the simulation is off by, and why", .argp = &fit_argp, .run = run_fit};
