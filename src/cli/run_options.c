/*
 * The options of `orrery run`: our table for argp, and ASTRA-sim's names as a table of translations into it (spec
 * analytical §15.1). tests/cli holds the manual page against `run_argp`. What stands behind an option is read in
 * run_values.c; what all of them mean together is settled in run_check.c.
 */
#include "cli/run_keys.h"

static const struct argp_option table[] = {
    {NULL, 0, NULL, 0, "What to run (workload, system and network are required):", 1},
    {"workload", 'w', "PREFIX", 0, "Traces: rank R's is PREFIX.R.et (Chakra ET)", 1},
    {"system", 's', "FILE", 0, "System file (JSON): collectives, chunks, memory bandwidth", 1},
    {"network", 'n', "FILE", 0,
     "Network file (YAML): dimensions, bandwidth (GiB/s: 2^30 bytes a second, unless the file says otherwise, as in "
     "50GB/s), latency (ns). With --backend packet, flow or auto: the network configuration of ASTRA-sim's ns-3 "
     "network (KEY value), which names the topology file",
     1},
    {"logical", KEY_LOGICAL, "FILE", 0,
     "With the same backends: logical topology (JSON), the dimensions collectives see. Default: one dimension of all "
     "hosts",
     1},
    {NULL, 0, NULL, 0, "What else the machine has:", 2},
    {"memory", KEY_MEMORY, "FILE", 0, "Remote memory file (JSON). Default: no remote memory", 2},
    {"groups", KEY_GROUPS, "FILE", 0, "Communicator groups file (JSON). Default: none", 2},
    {"set", KEY_SET, "KEY=VALUE", 0,
     "Another value for a key of the system, network, memory or logical file: network.bandwidth=100, "
     "system.endpoint-delay=20, network.latency[1]=2us. May be given several times",
     2},
    {NULL, 0, NULL, 0, "More ranks than there are traces:", 3},
    {"grow", KEY_GROW, "ROLES", OPTION_ARG_OPTIONAL,
     "Fill the machine: the ranks of one role become more, and do what the ranks in their place of the traced job did. "
     "ROLES says how that job is split, fastest first, as in tp:2,pp:2,dp:4. Default: as the process groups of one "
     "recorded rank tell, else all of it is data parallel (dp)",
     3},
    {"grow-role", KEY_GROW_ROLE, "NAME", 0, "--grow: the role that becomes larger. Default: dp", 3},
    {"grow-comm", KEY_GROW_COMM, "FACTOR", 0,
     "--grow: multiply the bytes of every collective, exactly: 2, 127/64. Default: 1, since the algorithms themselves "
     "send more as ranks become more",
     3},
    {"strong", KEY_STRONG, NULL, 0,
     "--grow: the whole job's batch stays, so that compute and the traffic inside a replica shrink. Default: each "
     "rank's batch stays",
     3},
    {NULL, 0, NULL, 0, "How to simulate:", 4},
    {"backend", KEY_BACKEND, "NAME", 0,
     "Network model: unaware (of congestion), aware, packet (every packet, on a wired topology), flow (fair shares of "
     "the same topology's links where they are right, else packets up to 16 million of them), or auto (shares where "
     "they are right, else packets). Default: unaware; aware where the system file names NCCL's algorithms, with a "
     "warning that says so",
     4},
    {"no-pfc", KEY_NO_PFC, NULL, 0, "--backend packet: ignore pause frames, so that full buffers drop packets", 4},
    {"cc", KEY_CC, "NAME", 0,
     "--backend packet: congestion control instead of the file's CC_MODE: none, dcqcn, hpcc, timely, dctcp, pint, "
     "swift, or credit (given out by receivers)",
     4},
    {"routing", KEY_ROUTING, "NAME", 0,
     "--backend packet: which of several equal ways packets take: ecmp (default; that of their message's hash), spray "
     "(in turn) or adaptive (shortest queue)",
     4},
    {"spray", KEY_SPRAY, NULL, 0, "--backend packet: the same as --routing spray", 4},
    {"parallel-links", KEY_PARALLEL, NULL, 0,
     "--backend packet: use all links between two nodes. Default: the last of them, as ns-3 does", 4},
    {"link-down", KEY_LINK_DOWN, "A-B@T[..T]", 0,
     "--backend packet: the links between nodes A and B are out of service from time T on (2us, 1ms; a bare number is "
     "in us), for good or until another. May be given up to 64 times",
     4},
    {"rto", KEY_RTO, "TIME", 0,
     "--backend packet: when what was lost is sent again (500us, 4ms; a bare number is in us). Default: four round "
     "trips and 1 ms; with --compat astra never",
     4},
    {"no-fast-forward", KEY_NO_FORWARD, NULL, 0,
     "--backend packet: send every packet, even where traffic repeats itself; the results are the same", 4},
    {"compat", KEY_COMPAT, "NAME", 0,
     "--backend packet: none (default), or astra: does without what ASTRA-sim's ns-3 network lacks (the retransmission "
     "timeout, messages of 2 GiB and more), and writes fct, pfc and qlen files where the network configuration names "
     "them",
     4},
    {"policy", KEY_POLICY, "NAME", 0,
     "What runs at once. astra: one CPU and one GPU operation and one communication, chunks admitted as ASTRA-sim "
     "does, "
     "which can deadlock in three dimensions. safe: chunks admitted so that they cannot. streams: each thread and "
     "stream "
     "that the trace names beside the others. Default: streams for traces that ask for it (imported recordings), else "
     "astra",
     4},
    {"replay", KEY_REPLAY, NULL, 0,
     "Every node takes the time it carries, communications too: a recording played again. --system and --network may "
     "be "
     "left out, and there may be one rank",
     4},
    {"contention", KEY_CONTENTION, "F", 0,
     "Of k kernels in flight on a rank each goes on at 1/(1 + F*(k-1)) of its speed; communications count, and keep "
     "their own. 0 (default): they do not notice each other, 1: they share one device. Recorded times of kernels that "
     "overlapped hold it already",
     4},
    {"broadcast", KEY_BROADCAST, "NAME", 0,
     "replay (default): a broadcast takes the time its node carries; reduce, gather, scatter and barrier are refused. "
     "simulate: all of them are carried out on the network",
     4},
    {"missing-cpu-op", KEY_MISSING_CPU_OP, "WHERE", 0,
     "gpu (default) or cpu: where nodes run that do not say (is_cpu_op). cpu is the reading of ASTRA-sim's release for "
     "HOTI 2024, which did not simulate their communication: it takes the time the node carries, mostly none",
     4},
    {"comp-source", KEY_COMP_SOURCE, "NAME", 0,
     "Where the time of GPU compute comes from: auto (default; as the system file says), duration (as recorded), "
     "cycles "
     "(compute_cycles at --default-gpu-freq), roofline (the system file's peak-perf and local-mem-bw), or forced "
     "(--force-avg-kernel-ns for every node)",
     4},
    {"force-avg-kernel-ns", KEY_FORCED_NS, "NS", 0, "Let every GPU compute node take NS ns: --comp-source forced", 4},
    {"default-gpu-freq", KEY_GPU_MHZ, "MHZ", 0,
     "Clock for --comp-source cycles, which this implies unless another source is named. Default: 2400", 4},
    {"compute-factor", KEY_COMPUTE_FACTOR, "X", 0, "Multiply the time of GPU compute, whatever its source. Default: 1",
     4},
    {"devices", KEY_DEVICES, "LIST", 0,
     "What ranks compute on, where they differ: 0-3=h100,4-7=mi300x. A device is a name or TFLOPS@GB/s (1307@5300), "
     "for "
     "the roofline, and x with a factor of its compute times, for any source; or both: 4-7=mi300x:x1.1. Ranks that are "
     "not named are as the system file says",
     4},
    {"host-factor", KEY_HOST_FACTOR, "X", 0,
     "Multiply the time of CPU nodes: below 1 for traces that a profiler slowed down. Default: 1", 4},
    {"launch-overhead", KEY_LAUNCH, "TIME", 0,
     "Time between the moment a collective, send or receive could start and its start (20us, 800ns; a bare number is "
     "in "
     "us). Default: 0",
     4},
    {"calibration", KEY_CALIBRATION, "FILE", 0,
     "Calibration file (orrery calib fit): gives --compute-factor, --host-factor and --launch-overhead where they are "
     "not given",
     4},
    {"queues-per-dim", KEY_QUEUES, "N", 0, "Queues of each dimension. Default: 1", 4},
    {"injection-scale", KEY_INJECTION, "X", 0, "Multiplies the system file's endpoint-delay. Default: 1", 4},
    {"rendezvous", KEY_RENDEZVOUS, "BOOL", OPTION_ARG_OPTIONAL, "Send data only after the receiver asked for it", 4},
    {"jitter", KEY_JITTER, "J", 0, "Multiply each message's delay by 1 + J*u, u random in [0,1). Default: 0", 4},
    {"seed", KEY_SEED, "N", 0, "Seed of the jitter, and of what lossy links lose. Default: 0", 4},
    {"memory-limit", KEY_MEMORY_LIMIT, "SIZE", 0, CLI_LIMIT_HELP, 4},
    {"strict", KEY_STRICT, NULL, 0, "Make every warning an error", 4},
    {NULL, 0, NULL, 0, "What to write:", 5},
    {"format", KEY_FORMAT, "NAME", 0, "Standard output: text (default), astra (ASTRA-sim's lines) or json", 5},
    {"json", KEY_JSON, "FILE", 0,
     "Also write everything known as one JSON document; - stands for standard output, as with --format json", 5},
    {"csv", KEY_CSV, "DIR", 0,
     "Also write ranks.csv, collectives.csv, dimensions.csv and, with --backend packet, links.csv into a folder", 5},
    {"timeline", KEY_TIMELINE, "FILE", 0,
     "Also write a timeline for Perfetto or chrome://tracing; compressed when the name ends in .gz", 5},
    {"dump-comm-intervals", KEY_COMM_INTERVALS, "FILE", 0,
     "Also write, as CSV, when each communication of each rank was in flight", 5},
    {"fct", KEY_FCT, "FILE", 0, "--backend packet: also write one line a message, as ns-3's fct.txt", 5},
    {"pfc", KEY_PFC, "FILE", 0, "--backend packet: also write one line a pause or resume, as ns-3's pfc.txt", 5},
    {"qlen", KEY_QLEN, "FILE", 0,
     "--backend packet: also write every 100 ns the switch queues of 1000 B and more, as ns-3's qlen.txt; ends after "
     "4 million queues",
     5},
    {"status-file", KEY_STATUS_FILE, "FILE", 0, "Keep a small JSON of the progress current while running", 5},
    {"quiet", 'q', NULL, 0, "No progress and no warnings on standard error", 5},
    {"no-progress", KEY_NO_PROGRESS, NULL, 0, "No progress on standard error", 5},
    {"qbb-enabled", KEY_QBB, "BOOL", OPTION_HIDDEN, NULL, 5}, /* what ns-3's attribute of that name becomes */
    CLI_HELP_OPTION,
    {0},
};

const struct cli_foreign_option run_astra_options[] = {
    {"workload-configuration", "workload", CLI_FOREIGN_VALUE, NULL},
    {"system-configuration", "system", CLI_FOREIGN_VALUE, NULL},
    {"network-configuration", "network", CLI_FOREIGN_VALUE, NULL},
    {"remote-memory-configuration", "memory", CLI_FOREIGN_VALUE, NULL},
    {"comm-group-configuration", "groups", CLI_FOREIGN_VALUE, NULL},
    {"logical-topology-configuration", "logical", CLI_FOREIGN_VALUE, NULL},
    {"ns3::QbbNetDevice::QbbEnabled", "qbb-enabled", CLI_FOREIGN_VALUE, NULL},
    {"num-queues-per-dim", "queues-per-dim", CLI_FOREIGN_VALUE, NULL},
    {"injection-scale", "injection-scale", CLI_FOREIGN_VALUE, NULL},
    {"rendezvous-protocol", "rendezvous", CLI_FOREIGN_BOOL, NULL},
    {"compute-scale", NULL, CLI_FOREIGN_NO_EFFECT, "ASTRA-sim accepts it and never uses it"},
    {"comm-scale", NULL, CLI_FOREIGN_NO_EFFECT, "ASTRA-sim accepts it and never uses it"},
    {"logging-configuration", NULL, CLI_FOREIGN_NO_EFFECT, "there are no loggers to configure"},
    {"logging-folder", NULL, CLI_FOREIGN_NO_EFFECT, "no log files are written"},
    {NULL, NULL, CLI_FOREIGN_VALUE, NULL},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct run_options *run = state->input;
    const struct {
        int key;
        const char **target;
    } paths[] = {
        {'w', &run->run.workload},
        {'s', &run->run.system},
        {'n', &run->run.network},
        {KEY_MEMORY, &run->run.memory},
        {KEY_GROUPS, &run->run.groups},
        {KEY_JSON, &run->json},
        {KEY_CSV, &run->csv},
        {KEY_TIMELINE, &run->timeline},
        {KEY_STATUS_FILE, &run->status_file},
        {KEY_LOGICAL, &run->run.logical},
        {KEY_FCT, &run->fct},
        {KEY_COMM_INTERVALS, &run->comm_intervals},
        {KEY_PFC, &run->pfc},
        {KEY_QLEN, &run->qlen},
        {KEY_CALIBRATION, &run->calibration},
        {KEY_DEVICES, &run->run.devices},
        {KEY_GROW_ROLE, &run->growth.role},
        {KEY_GROW_COMM, &run->growth.comm_scale},
    };
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        if (paths[i].key == key) {
            *paths[i].target = arg;
            return 0;
        }
    }
    switch (key) {
    case KEY_BACKEND:
    case KEY_POLICY:
    case KEY_BROADCAST:
    case KEY_COMPAT:
    case KEY_ROUTING:
    case KEY_CC:
    case KEY_FORMAT:
    case KEY_MISSING_CPU_OP:
    case KEY_COMP_SOURCE:
        return run_choice_parse(key, arg, run);
    case KEY_FORCED_NS:
    case KEY_GPU_MHZ:
    case KEY_COMPUTE_FACTOR:
    case KEY_HOST_FACTOR:
    case KEY_LAUNCH:
        return run_tuning_parse(key, arg, run);
    case KEY_QUEUES:
    case KEY_SEED:
    case KEY_JITTER:
    case KEY_CONTENTION:
    case KEY_INJECTION:
    case KEY_MEMORY_LIMIT:
    case KEY_RTO:
        return run_number_parse(key, arg, run);
    case KEY_SPRAY:
        run->run.routing = ORR_ROUTING_SPRAY;
        return 0;
    case KEY_LINK_DOWN:
        return cli_options_status(run_link_down_parse(arg, run));
    case KEY_SET:
        return cli_options_status(run_set_add(run, arg));
    case KEY_GROW:
        run->growth.parallel = arg;
        run->run.growth = &run->growth;
        return 0;
    case KEY_QBB: {
        bool enabled = true;
        enum orr_status status = param_parse_bool("--ns3::QbbNetDevice::QbbEnabled", arg, &enabled, &run->input.error);
        run->run.no_pfc = status == ORR_OK ? !enabled : run->run.no_pfc;
        return cli_options_status(status);
    }
    case KEY_RENDEZVOUS:
        run->run.rendezvous = true;
        return arg == NULL ? 0
                           : cli_options_status(param_parse_bool("--rendezvous (--rendezvous-protocol)", arg,
                                                                 &run->run.rendezvous, &run->input.error));
    case KEY_STRICT:
    case KEY_REPLAY:
    case KEY_NO_PFC:
    case KEY_PARALLEL:
    case KEY_NO_FORWARD:
    case KEY_STRONG:
    case KEY_NO_PROGRESS:
    case 'q':
        return run_flag_parse(key, run);
    default:
        return cli_options_default(key, arg, state);
    }
}

const struct argp run_argp = {
    .options = table,
    .parser = parse,
    .doc = "Simulate a training job: the traces of all ranks on a machine described by configuration files.\v"
           "ASTRA-sim's own options are accepted unchanged (--workload-configuration, --system-configuration, "
           "--network-configuration, --logical-topology-configuration, --remote-memory-configuration, "
           "--comm-group-configuration, --num-queues-per-dim, "
           "--injection-scale, --rendezvous-protocol; --compute-scale, --comm-scale, --logging-configuration and "
           "--logging-folder have no effect). Other unknown options with a value are ignored with a warning.\n"
           "\n"
           "Examples:\n"
           "  orrery run -w traces/allreduce -s system.json -n network.yml\n"
           "  orrery run -w traces/x -s sys.json -n net.yml --backend aware --json x.json\n"
           "  orrery run -w traces/x -s sys.json -n net.yml --timeline x.json.gz\n"
           "  orrery run -w traces/x -s sys.json -n config.txt --backend packet\n"
           "\n"
           "Exit codes: 0 done, 1 failed or interrupted, 2 bad usage or input, 3 resource limit, 4 the job stalls.\n",
};

enum orr_status run_options_read(const struct cli_command *command, bool lenient, int argc, char **argv,
                                 struct run_options *options, struct cli_vector *vector, struct orr_error *err)
{
    enum orr_status status =
        cli_foreign_translate(run_astra_options, command->argp->options, lenient, argc, argv, vector, err);
    if (status != ORR_OK) {
        return status;
    }
    status = cli_options_parse(command, vector->argc, vector->argv, &options->input, err);
    if (status != ORR_OK || options->input.help) {
        return status;
    }
    if (options->run.strict && vector->warning_count > 0) {
        return error_set(err, ORR_EINVAL, "%s (an error because of --strict)", vector->warnings[0]);
    }
    return run_options_settle(options, lenient, err);
}
