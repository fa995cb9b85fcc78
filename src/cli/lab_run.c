/* `orrery lab run`: a workload on a machine that is made of a name, kept with everything that went into it. The library
 * does it and writes the summary; here are the options, the progress line and the exit code. */
#include "base/text_stream.h"
#include "cli/lab.h"
#include "cli/watch.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEY_PREFIX = 256,
    KEY_MODEL_TAG,
    KEY_TOPOLOGY,
    KEY_BANDWIDTH,
    KEY_LATENCY,
    KEY_SCALE,
    KEY_WORLD,
    KEY_PARALLEL,
    KEY_ROLE,
    KEY_STRONG,
    KEY_COMM_SCALE,
    KEY_BACKEND,
    KEY_POLICY,
    KEY_JITTER,
    KEY_SEED,
    KEY_LIMIT,
    KEY_STRICT,
    KEY_STORE,
    KEY_TAG,
    KEY_TIMELINE,
    KEY_CALIBRATION,
    KEY_AUTO_CALIBRATE,
    KEY_TRACE_DIR,
    KEY_HOST_FACTOR,
    KEY_COMP_SOURCE,
    KEY_FORCED_NS,
    KEY_GPU_MHZ,
    KEY_DEVICES,
    KEY_NO_PROGRESS,
};

static const struct argp_option table[] = {
    {NULL, 0, NULL, 0, "What to run:", 1},
    {"workload", 'w', "DIR", 0,
     "Required: a folder with the traces of a job (PREFIX.R.et), their prefix, or a folder with recordings of PyTorch, "
     "which are imported first",
     1},
    {"prefix", KEY_PREFIX, "NAME", 0, "Which traces of the folder, where it has those of several jobs", 1},
    {"model-tag", KEY_MODEL_TAG, "TAG", 0, "Which recordings of the folder: host_R_TAG.json", 1},
    {NULL, 0, NULL, 0, "On what:", 2},
    {"topology", KEY_TOPOLOGY, "NAME", 0,
     "The machine: 8gpu_ring2d_4, 128gpu_torus3d_16, auto:1d (default up to 64 ranks), auto:2d, auto:3d (default "
     "above), dims:4x4x8, a kind such as "
     "torus3d, or a file (network.yml, or a physical topology). Kinds: ring, ring2d, mesh2d, torus2d, torus3d, "
     "ttorus3d, fattree, switch, fc",
     2},
    {"topo", KEY_TOPOLOGY, "NAME", OPTION_HIDDEN, NULL, 2},
    {"bandwidth", KEY_BANDWIDTH, "RATE", 0,
     "Of a link, one way: 25Gbps, 50GB/s; a bare number is in Gbps. One for all, or a list with one for each "
     "dimension. Default: 25Gbps",
     2},
    {"latency", KEY_LATENCY, "TIME", 0,
     "Of a link: 500ns, 1us; a bare number is in us. One for all, or a list. Default: 1us", 2},
    {"system", 's', "FILE", 0, "System file (JSON). Default: one that fits the topology", 2},
    {NULL, 0, NULL, 0, "More ranks than there are traces:", 3},
    {"virtual-scale", KEY_SCALE, "K", 0, "K ranks for every trace", 3},
    {"world-size", KEY_WORLD, "N", 0, "N ranks in all. A topology that names its size has the last word", 3},
    {"virtual-world", KEY_WORLD, "N", OPTION_HIDDEN, NULL, 3},
    {"parallel", KEY_PARALLEL, "ROLES", 0,
     "How the traced job is split, fastest role first: tp:2,pp:2,dp:4. Default: as the process groups of one recorded "
     "rank tell, else all of it is data parallel (dp)",
     3},
    {"grow-role", KEY_ROLE, "NAME", 0, "The role that becomes larger. Default: dp", 3},
    {"strong", KEY_STRONG, NULL, 0, "The whole job's batch stays. Default: each rank's batch stays", 3},
    {"comm-scale", KEY_COMM_SCALE, "FACTOR", 0,
     "Multiply the bytes of every collective, exactly: 2, 127/64. Default: 1", 3},
    {NULL, 0, NULL, 0, "How to simulate:", 4},
    {"backend", KEY_BACKEND, "NAME", 0,
     "Network model: unaware (of congestion), aware, packet, flow or auto. Default: unaware, and flow where only the "
     "wires tell what the topology is (mesh2d, ttorus3d, fattree, a physical topology)",
     4},
    {"policy", KEY_POLICY, "NAME", 0,
     "safe, astra (which can deadlock in three dimensions) or streams (each thread and stream beside the others). "
     "Default: streams for traces that ask for it (imported recordings), else safe",
     4},
    {"jitter", KEY_JITTER, "J", 0, "Multiply each message's delay by 1 + J*u, u random in [0,1). Default: 0", 4},
    {"seed", KEY_SEED, "N", 0, "Seed of the jitter. Default: 0", 4},
    {"memory-limit", KEY_LIMIT, "SIZE", 0, CLI_LIMIT_HELP, 4},
    {"strict", KEY_STRICT, NULL, 0, CLI_STRICT_HELP, 4},
    {"calibration", KEY_CALIBRATION, "FILE", 0,
     "Use what orrery calib fit found: the scale of compute, the overhead of launching a collective, and bandwidth and "
     "latency where no option says them. The summary ends with the calibrated step time",
     4},
    {"auto-calibrate", KEY_AUTO_CALIBRATE, NULL, 0,
     "Make the calibration first: simulate the traced world, hold it against the steps measured beside the traces "
     "(device_R.json, training_R.json), and use what comes of it",
     4},
    {"host-factor", KEY_HOST_FACTOR, "X", 0,
     "Multiply the time of CPU nodes, whatever a calibration says: 1 is as recorded, with the profiler. Default: 1", 4},
    {"trace-dir", KEY_TRACE_DIR, "DIR", 0,
     "--auto-calibrate: the folder of the recording. Default: that of the traces, or pytorch_traces or recording "
     "beside "
     "it",
     4},
    {"comp-source", KEY_COMP_SOURCE, "NAME", 0,
     "Where the time of GPU compute comes from: auto (default), duration, cycles, roofline or forced, as for orrery "
     "run",
     4},
    {"force-avg-kernel-ns", KEY_FORCED_NS, "NS", 0, "Let every GPU compute node take NS ns: --comp-source forced", 4},
    {"default-gpu-freq", KEY_GPU_MHZ, "MHZ", 0,
     "Clock for --comp-source cycles, which this implies unless another source is named. Default: 2400", 4},
    {"devices", KEY_DEVICES, "LIST", 0,
     "What ranks compute on, where they differ: 0-3=h100,4-7=mi300x:x1.1, as for orrery run", 4},
    {NULL, 0, NULL, 0, "What to keep:", 5},
    {"output-dir", 'o', "DIR", 0, "The run gets a folder of its own in DIR. Default: runs", 5},
    {"store", KEY_STORE, "FILE", 0, "Result store (SQLite). Default: orrery.db in the output folder", 5},
    {"tag", KEY_TAG, "NAME", 0, "A name for the run, also part of its folder's", 5},
    {"timeline", KEY_TIMELINE, NULL, 0, "Also timeline.json.gz, for Perfetto", 5},
    {"no-progress", KEY_NO_PROGRESS, NULL, 0, "No progress line on a terminal", 5},
    {"quiet", 'q', NULL, 0, "Neither warnings nor progress", 5},
    CLI_HELP_OPTION,
    {0},
};

static error_t parse_number(int key, const char *arg, struct lab_command *command)
{
    struct orr_lab_options *lab = &command->lab;
    struct orr_error *err = &command->input.error;
    uint64_t count = 0;
    enum orr_status status = ORR_OK;
    switch (key) {
    case KEY_SCALE:
        status = param_parse_count("--virtual-scale", arg, 1, INT32_MAX, &count, err);
        lab->virtual_scale = (uint32_t)count;
        break;
    case KEY_WORLD:
        status = param_parse_count("--world-size", arg, 1, INT32_MAX, &count, err);
        lab->world_size = (uint32_t)count;
        break;
    case KEY_JITTER:
        status = param_parse_real("--jitter", arg, &lab->jitter, err);
        break;
    case KEY_HOST_FACTOR:
        status = param_parse_real("--host-factor", arg, &lab->tuning.host_scale, err);
        if (status == ORR_OK && !(lab->tuning.host_scale > 0)) {
            status = error_set(err, ORR_ERANGE, "--host-factor: %s is not above 0", arg);
        }
        break;
    case KEY_SEED:
        status = param_parse_count("--seed", arg, 0, UINT64_MAX, &lab->seed, err);
        break;
    case KEY_FORCED_NS:
        status = param_parse_count("--force-avg-kernel-ns", arg, 1, UINT64_C(1) << 50, &lab->tuning.forced_ns, err);
        break;
    case KEY_GPU_MHZ:
        status = param_parse_real("--default-gpu-freq", arg, &lab->tuning.gpu_mhz, err);
        if (status == ORR_OK && !(lab->tuning.gpu_mhz >= 1)) {
            status = error_set(err, ORR_ERANGE, "--default-gpu-freq: %s is below 1 (MHz)", arg);
        }
        break;
    default:
        status = cli_parse_limit("--memory-limit", arg, &lab->memory_limit, err);
        break;
    }
    return cli_options_status(status);
}

static error_t parse_word(int key, const char *arg, struct lab_command *command)
{
    static const char *const backends[] = {"unaware", "aware", "packet", "flow", "auto", NULL};
    static const char *const policies[] = {"astra", "safe", "streams", NULL};
    const struct {
        int key;
        const char *option;
        const char *const *words;
    } lists[] = {{KEY_BACKEND, "--backend", backends},
                 {KEY_POLICY, "--policy", policies},
                 {KEY_COMP_SOURCE, "--comp-source", cli_compute_sources}};
    unsigned index = 0;
    enum orr_status status = ORR_OK;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (lists[i].key == key) {
            status = param_parse_word(lists[i].option, arg, lists[i].words, &index, &command->input.error);
        }
    }
    if (key == KEY_BACKEND) {
        command->lab.backend = (enum orr_backend)index;
        command->lab.has_backend = true;
    } else if (key == KEY_POLICY) {
        command->lab.policy = (enum orr_policy)index;
    } else {
        command->lab.tuning.source = (enum orr_compute_source)index;
        command->source_given = true;
    }
    return cli_options_status(status);
}

/* Where an option's text goes as it is; NULL for all others. */
static const char **text_of(int key, struct orr_lab_options *lab)
{
    const struct {
        int key;
        const char **text;
    } texts[] = {{'w', &lab->workload},
                 {'s', &lab->system},
                 {'o', &lab->output_folder},
                 {KEY_PREFIX, &lab->prefix},
                 {KEY_MODEL_TAG, &lab->recording_tag},
                 {KEY_TOPOLOGY, &lab->topology},
                 {KEY_BANDWIDTH, &lab->bandwidth},
                 {KEY_LATENCY, &lab->latency},
                 {KEY_PARALLEL, &lab->growth.parallel},
                 {KEY_ROLE, &lab->growth.role},
                 {KEY_COMM_SCALE, &lab->growth.comm_scale},
                 {KEY_STORE, &lab->store},
                 {KEY_TAG, &lab->tag},
                 {KEY_CALIBRATION, &lab->calibration},
                 {KEY_DEVICES, &lab->devices},
                 {KEY_TRACE_DIR, &lab->trace_folder}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i].key == key) {
            return texts[i].text;
        }
    }
    return NULL;
}

static bool *flag_of(int key, struct lab_command *command)
{
    switch (key) {
    case KEY_STRONG:
        return &command->lab.growth.strong;
    case KEY_TIMELINE:
        return &command->lab.timeline;
    case KEY_AUTO_CALIBRATE:
        return &command->lab.auto_calibrate;
    case KEY_STRICT:
        return &command->strict;
    case KEY_NO_PROGRESS:
        return &command->no_progress;
    case 'q':
        return &command->quiet;
    default:
        return NULL;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct lab_command *command = state->input;
    const char **text = text_of(key, &command->lab);
    bool *flag = flag_of(key, command);
    if (text != NULL) {
        *text = arg;
        return 0;
    }
    if (flag != NULL) {
        *flag = true;
        return 0;
    }
    switch (key) {
    case KEY_BACKEND:
    case KEY_POLICY:
    case KEY_COMP_SOURCE:
        return parse_word(key, arg, command);
    case KEY_SCALE:
    case KEY_WORLD:
    case KEY_JITTER:
    case KEY_HOST_FACTOR:
    case KEY_FORCED_NS:
    case KEY_GPU_MHZ:
    case KEY_SEED:
    case KEY_LIMIT:
        return parse_number(key, arg, command);
    default:
        return cli_options_default(key, arg, state);
    }
}

static enum watch_state state_of(enum orr_status status)
{
    switch (status) {
    case ORR_OK:
        return WATCH_DONE;
    case ORR_ESTALL:
        return WATCH_STALLED;
    case ORR_EINTR:
        return WATCH_INTERRUPTED;
    default:
        return WATCH_FAILED;
    }
}

/* The summary waits until the progress line is gone: both may be on one terminal. */
static enum orr_status simulate(struct lab_command *command, FILE *summary, struct orr_error *err)
{
    struct cli_warnings warnings = {.quiet = command->quiet};
    const struct orr_notices notices = cli_notices(&warnings, command->strict);
    struct orr_lab_result result;
    struct watch watch;
    enum orr_status status = cli_limit_default(&command->lab.memory_limit, err);
    if (status == ORR_OK) {
        status = watch_init(&watch, NULL, !command->quiet && !command->no_progress, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    command->lab.progress = watch_progress;
    command->lab.progress_context = &watch;
    watch_begin(&watch);
    status = orr_lab_run(&command->lab, &notices, summary, &result, err);
    watch_end(&watch);
    cli_warnings_end(&warnings);
    watch_finish(&watch, state_of(status));
    return status;
}

static enum orr_status run_and_print(struct lab_command *command, struct orr_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *summary = text_stream_open(&text, &size);
    if (summary == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory");
    }
    enum orr_status status = simulate(command, summary, err);
    if (fclose(summary) != 0 && status == ORR_OK) {
        status = error_set(err, ORR_ENOMEM, "out of memory making the output");
    }
    (void)fputs(text != NULL ? text : "", stdout);
    free(text);
    return status;
}

static int run_lab_run(const struct cli_command *self, int argc, char **argv)
{
    struct lab_command command = {.lab = ORR_LAB_OPTIONS_DEFAULT};
    struct orr_error err = {0};
    if (argc == 1) {
        return cli_print_usage(self, argv[0]);
    }
    char *typed = cli_quote_command(argc, argv);
    enum orr_status status = typed == NULL ? error_set(&err, ORR_ENOMEM, "out of memory")
                                           : cli_options_parse(self, argc, argv, &command.input, &err);
    if (status == ORR_OK && command.input.help) {
        cli_print_help(self, argv[0], stdout);
    } else if (status == ORR_OK) {
        command.lab.command = typed;
        status = cli_tuning_settle(&command.lab.tuning, command.source_given, &err);
        status = status == ORR_OK ? run_and_print(&command, &err) : status;
    }
    free(typed);
    return cli_end(status, &err);
}

static const struct argp lab_run_argp = {
    .options = table,
    .parser = parse,
    .args_doc = "--workload DIR",
    .doc =
        "Simulate a workload on a machine that a name describes, grown to its size where there are fewer traces than "
        "ranks, and keep it: the machine as files, results and a manifest in a folder of its own, an entry in the "
        "result store. docs/lab.md has the grammar of names.\v"
        "Examples:\n"
        "  orrery lab run --workload recording --topology 2gpu_auto1d_2 \\\n"
        "      --bandwidth 25 --latency 1 --output-dir runs/\n"
        "  orrery lab run --workload traces --prefix resnet50 \\\n"
        "      --topology 128gpu_torus3d_16 --virtual-scale 64 --tag grown\n"
        "  orrery lab run -w traces/resnet50 --topology fattree --world-size 32\n"
        "  orrery lab run --workload recording --topology 128gpu_torus3d_16 \\\n"
        "      --virtual-scale 64 --auto-calibrate\n",
};

const struct cli_command cli_lab_run = {.name = "run",
                                        .summary = "simulate on a machine by name, and keep the result",
                                        .argp = &lab_run_argp,
                                        .run = run_lab_run};
