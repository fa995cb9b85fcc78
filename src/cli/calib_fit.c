/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery calib fit`: measured steps from files or as bare numbers, the simulated side from a store or as bare numbers.
 * The library does the rest and writes the report. */
#include "cli/calib.h"
#include "cli/lab.h"

#include <stdlib.h>
#include <string.h>

struct fit_options {
    struct orr_calib_options calib;
    const char **measured; /* room for every word of the command line */
    const char **bench;
    const char *store;
    bool strict, quiet;
};

static enum orr_status take_measured(void *into, const char *word, struct orr_error *err)
{
    struct fit_options *options = into;
    (void)err;
    options->measured[options->calib.measured_count++] = word;
    return ORR_OK;
}

static enum orr_status cli_calib_fit_read_measured(const struct param *row, const char *text, void *into,
                                                   struct orr_error *err)
{
    (void)row;
    return take_measured(into, text, err);
}

static enum orr_status read_bench(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct fit_options *options = into;
    (void)row;
    (void)err;
    options->bench[options->calib.bench_count++] = text;
    return ORR_OK;
}

static enum orr_status read_split(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct orr_calib_options *calib = &((struct fit_options *)into)->calib;
    (void)row;
    if (calib->bench_split_count == sizeof calib->bench_splits / sizeof calib->bench_splits[0]) {
        return error_set(err, ORR_EINVAL, "parameter 'split' %s: three ranges have two ends", text);
    }
    return param_parse_size("parameter 'split'", text, &calib->bench_splits[calib->bench_split_count++], err);
}

#define AT(field) .place = offsetof(struct fit_options, field)
#define REAL      PARAM_WHAT
#define SIMULATED PARAM_MACHINE
#define NETWORK   PARAM_NETWORK
#define MILLISECONDS                                                                                                   \
    .kind = PARAM_REAL, .value = "MS", .real_least = 1e-9, .bounds = "is no time of a step: milliseconds above 0 are"
#define COUNT(min, max)  .kind = PARAM_COUNT, .value = "N", .least = (min), .most = (max)
#define COUNT_NS         .kind = PARAM_COUNT, .value = "NS", .least = 1, .most = INT64_MAX
#define NARROW(min, max) .kind = PARAM_COUNT32, .value = "N", .least = (min), .most = (max)

static const struct param rows[] = {
    {"measured", .letter = 'm', .kind = PARAM_READ, .group = REAL, .flags = PARAM_MANY, .value = "FILE...",
     .read = cli_calib_fit_read_measured,
     .help = "Step times: a device trace (ProfilerStep, .json or .json.gz), training_R.json, gpu_metrics_*.json, or a "
             "list of milliseconds. May be given often; words without an option are such files too"},
    {"real-step-ms", MILLISECONDS, .group = REAL, AT(calib.real_step_ms),
     .help = "A measured step took so long, in milliseconds, whatever files say"},
    {"real-comm-ms", MILLISECONDS, .group = REAL, AT(calib.real_comm_ms), .help = "Of it, communication took so long"},
    {"real-kernel-ms", MILLISECONDS, .group = REAL, .flags = PARAM_RARE, AT(calib.real_kernel_ms),
     .help = "Of it, compute on the device took so long"},
    {"rank", .kind = PARAM_COUNT, .group = REAL, .value = "R", AT(calib.rank), .most = INT32_MAX,
     .help = "Fit on rank R's files alone, and say how well the others are predicted"},
    {"untraced", .kind = PARAM_FLAG, .group = REAL, .flags = PARAM_RARE, AT(calib.untraced),
     .unwritten = "against those of the device traces where there are some",
     .help = "Alpha against the steps without a profiler (training_R.json)"},
    {"profiler-overhead", .kind = PARAM_TEXT, .group = REAL, .flags = PARAM_RARE, .value = "TIME", AT(calib.profiler),
     .unwritten = "fitted where a rank has steps with and without it",
     .help = "What the profiler costs for each event it notes, as another recording gave it: 13us"},

    {"run", COUNT(0, INT64_MAX), .group = SIMULATED, AT(calib.run),
     .given = offsetof(struct fit_options, calib.has_run), .help = "This run of the store; 0 is the newest"},
    {"store", .kind = PARAM_PATH, .group = SIMULATED, .value = "FILE", AT(store),
     .unwritten = CLI_STORE_DEFAULT " with --run, else none",
     .help = "Result store (SQLite): has the run, and keeps the calibration"},
    {"sim-wall", COUNT_NS, .group = SIMULATED, AT(calib.sim_wall_ns),
     .help = "Without a store: the simulated time of all steps together, in ns (cycles)"},
    {"sim-comm", COUNT_NS, .group = SIMULATED, .flags = PARAM_RARE, AT(calib.sim_comm_ns),
     .help = "Of it, communication, in ns"},
    {"sim-gpu", COUNT_NS, .group = SIMULATED, .flags = PARAM_RARE, AT(calib.sim_gpu_ns),
     .help = "Of it, compute, in ns"},
    {"sim-steps", COUNT(1, INT32_MAX), .group = SIMULATED, AT(calib.sim_steps),
     .help = "Training steps that the simulated traces hold"},
    {"steps", COUNT(1, INT32_MAX), .group = SIMULATED, .flags = PARAM_RARE, AT(calib.steps),
     .help = "As --sim-steps, and goes before all: where recordings and simulated traces hold different numbers of "
             "steps they are refused without it"},
    {"comm-bytes", .kind = PARAM_SIZE, .group = SIMULATED, .value = "SIZE", AT(calib.comm_bytes),
     .unwritten = "as the run says", .help = "Bytes that are all-reduced in a step"},
    {"collectives", COUNT(1, INT32_MAX), .group = SIMULATED, .flags = PARAM_RARE, AT(calib.collectives),
     .unwritten = "as the run or the recording says", .help = "Collectives in a step"},
    {"machine", "topology topo", .kind = PARAM_TEXT, .group = SIMULATED, .value = "NAME", AT(calib.machine),
     .help = "The machine that was simulated (docs/machines.md): says --ranks and --bandwidth where it has them"},
    {"ranks", NARROW(2, INT32_MAX), .group = SIMULATED, AT(calib.ranks), .unwritten = "as the run says",
     .help = "Ranks that share the bytes, or took part in the --bench"},
    {"bandwidth", .kind = PARAM_TEXT, .group = SIMULATED, .value = "RATE", AT(calib.bandwidth),
     .unwritten = "as the run says",
     .help = "Configured in the simulation, of a link, one way: 65Gbps; a bare number is in Gbps"},

    {"bench", .kind = PARAM_READ, .group = NETWORK, .flags = PARAM_MANY, .value = "FILE", .read = read_bench,
     .help = "Measured collectives or copies: output of nccl-tests, rccl-tests or rocm-bandwidth-test, or a table. "
             "docs/calibration-network.md has the table. May be given often"},
    {"hops", NARROW(1, 64), .group = NETWORK, AT(calib.hops), .unwritten = "1",
     .help = "Links between two ranks in them: 1 direct, 2 switch, 4 leaf and spine"},
    {"launch-overhead", .kind = PARAM_TEXT, .group = NETWORK, .value = "TIME", AT(calib.launch),
     .unwritten = "fitted where it can be", .help = "What launching a collective costs: 25us; a bare number is in us"},
    {"form", .kind = PARAM_TEXT, .group = NETWORK, .flags = PARAM_RARE, .value = "FORM", AT(calib.bench_form),
     .unwritten = "by content", .help = "What the files are: tests, bandwidth, csv, yaml, trace"},
    {"collective", .kind = PARAM_TEXT, .group = NETWORK, .flags = PARAM_RARE, .value = "TYPE",
     AT(calib.bench_collective), .unwritten = "as the files say",
     .help = "What was measured: all-reduce, all-gather and so on"},
    {"place", .kind = PARAM_TEXT, .group = NETWORK, .flags = PARAM_RARE, .value = "WHERE", AT(calib.bench_place),
     .unwritten = "any", .help = "Fit what was measured in place (in), out of place (out), or both (any)"},
    {"ranges", NARROW(1, 3), .group = NETWORK, .flags = PARAM_RARE, AT(calib.bench_ranges), .unwritten = "3",
     .help = "Ranges of sizes with a line of their own, at most: 1 to 3"},
    {"split", .kind = PARAM_READ, .group = NETWORK, .flags = PARAM_MANY | PARAM_RARE, .value = "SIZE",
     .read = read_split, .unwritten = "found", .help = "The last size of a range: 64KiB. Twice for three ranges"},
    {"latency-steps", .kind = PARAM_TEXT, .group = NETWORK, .flags = PARAM_RARE, .value = "WORD", AT(calib.bench_steps),
     .unwritten = "ring", .help = "Messages one after the other that a small collective is taken for: ring, tree, one"},

    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "FILE", AT(calib.output),
     .help = "Calibration file (JSON), for orrery run --calibration and orrery calib apply"},
    {"tag", .kind = PARAM_TEXT, .group = PARAM_OUTPUT, .value = "NAME", AT(calib.tag), .unwritten = "that of the run",
     .help = "A name for the calibration"},
    CLI_ROW_LIMIT(struct fit_options, calib.memory_limit),
    CLI_ROW_STRICT(struct fit_options, strict),
    CLI_ROW_QUIET(struct fit_options, quiet),
    {0},
};

static const char *const headings[PARAM_GROUPS] = {
    [REAL] = "What was measured:", [SIMULATED] = "What was simulated:", [NETWORK] = "What the network can do:"};

static enum orr_status cli_calib_fit_check_output(const struct fit_options *options, struct orr_error *err)
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

static enum orr_status cli_calib_fit_fit(struct fit_options *options, struct orr_error *err)
{
    struct cli_warnings warnings = {.quiet = options->quiet};
    const struct orr_notices notices = cli_notices(&warnings, options->strict);
    struct orr_calib_options *calib = &options->calib;
    struct orr_calib_result result;
    calib->measured = options->measured;
    calib->bench = options->bench;
    calib->store = options->store != NULL ? options->store : calib->has_run ? CLI_STORE_DEFAULT : NULL;
    enum orr_status status = cli_limit_default(&calib->memory_limit, err);
    status = status != ORR_OK ? status : cli_calib_fit_check_output(options, err);
    status = status != ORR_OK ? status : orr_calib_fit(calib, &notices, stdout, &result, err);
    cli_warnings_end(&warnings);
    return status;
}

static int cli_calib_fit_run_fit(const struct cli_command *self, int argc, char **argv)
{
    struct fit_options options = {.store = NULL};
    struct orr_error err = {0};
    int code = 0;
    orr_calib_options_init(&options.calib);
    if (argc == 1) {
        return cli_print_brief(self, argv[0]);
    }
    options.measured = calloc(2 * (size_t)argc, sizeof *options.measured);
    if (options.measured == NULL) {
        (void)error_set(&err, ORR_ENOMEM, "out of memory");
        return cli_fail(&err);
    }
    options.bench = options.measured + argc;
    if (cli_begin(self, argc, argv, &options, &code)) {
        code = cli_end(cli_calib_fit_fit(&options, &err), &err);
    }
    free(options.measured);
    return code;
}

static const struct cli_usage usage = {
    .tables = (const struct param_table[]){{rows, 0, 0}, {0}},
    .headings = headings,
    .forms = "[MEASURED...]",
    .about = "Compare measured training steps with a simulated one: alpha = real / simulated, per step, with its "
             "spread, the analytic lower bound, the reasons for the difference, and the rules by which it is accepted "
             "or refused. Measured collectives give the bandwidth and latency of a link and the overhead "
             "of launching one. docs/calibration.md has the rules.",
    .examples = "  orrery calib fit --run 0 recording/device_*.json.gz \\\n"
                "      recording/training_*.json --rank 0 -o calib.json\n"
                "  orrery calib fit --real-step-ms 662.92 --real-comm-ms 7.54 \\\n"
                "      --sim-wall 274982000 --sim-steps 2 --comm-bytes 94083368 \\\n"
                "      --ranks 2 --bandwidth 65Gbps\n"
                "  orrery calib fit --bench all_reduce_perf.txt --ranks 2 \\\n"
                "      -o network.json\n",
    .argument = take_measured,
};

const struct cli_command cli_calib_fit = {.name = "fit",
                                          .summary = "find what the simulation is off by, and why",
                                          .usage = &usage,
                                          .run = cli_calib_fit_run_fit};
