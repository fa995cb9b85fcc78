/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a run, one row each: what `orrery run`, `lab run`, `sweep` and `simai` take, what orr_run_set takes
 * and what orr_run_open checks. To add one: a row here, its field in struct orr_run_options, and whoever uses it. */
#include "param/param.h"

#include "param/run.h"

#define AT(field)    .place = offsetof(struct orr_run_options, field)
#define GIVEN(field) .given = offsetof(struct orr_run_options, field)
#define RUN_LAB      (PARAM_OF_RUN | PARAM_OF_LAB)

enum { MOST_NS_BITS = 40 }; /* 18 minutes */

const char *const param_backends[] = {"unaware", "aware", "packet", "flow", "auto", NULL};
static const char *const policies[] = {"astra", "safe", "streams", NULL};
static const char *const broadcasts[] = {"replay", "simulate", NULL};
static const char *const collective_times[] = {"simulated", "model", NULL};
static const char *const compats[] = {"none", "astra", NULL};
static const char *const placements[] = {"packed", "spread", "random", NULL};
static const char *const routings[] = {"ecmp", "spray", "adaptive", NULL};
#define NAME(id, name) name,
static const char *const controls[] = {ORR_CONGESTIONS(NAME) NULL};
#undef NAME
static const char *const places[] = {"gpu", "cpu", NULL};
static const char *const sources[] = {"auto", "duration", "cycles", "roofline", "forced", NULL};

#define FACTOR_BOUNDS .real_least = 1e-9, .real_most = 1e9, .bounds = "must be more than 0, and between 1e-9 and 1e9"
#define TIME_BOUNDS                                                                                                    \
    .unit = "us", .least = 1, .most = UINT64_C(1) << MOST_NS_BITS,                                                     \
    .bounds = "must be more than 0 and at most 18 minutes"

const struct param param_run[] = {
    /* ---- what to run ---- */
    {"workload", .letter = 'w', .kind = PARAM_PATH, .group = PARAM_WHAT, .commands = PARAM_OF_RUN, .value = "PREFIX",
     AT(workload), .help = "Traces: rank R's is PREFIX.R.et"},
    {"system", .letter = 's', .kind = PARAM_PATH, .group = PARAM_WHAT, .commands = RUN_LAB | PARAM_OF_TRACE,
     .value = "FILE", AT(system), .help = "System file (JSON)"},
    {"network", .letter = 'n', .kind = PARAM_PATH, .group = PARAM_WHAT, .commands = PARAM_OF_RUN | PARAM_OF_TRACE,
     .value = "FILE", AT(network), .help = "Network file (YAML); on wires, the network configuration (KEY value)"},
    {"logical", .kind = PARAM_PATH, .group = PARAM_WHAT, .flags = PARAM_WIRED,
     .commands = PARAM_OF_RUN | PARAM_OF_TRACE, .value = "FILE", AT(logical),
     .help = "On wires: logical topology (JSON)", .unwritten = "one dimension of all hosts"},
    {"memory", .kind = PARAM_PATH, .group = PARAM_WHAT, .flags = PARAM_RARE, .commands = PARAM_OF_RUN | PARAM_OF_TRACE,
     .value = "FILE", AT(memory), .help = "Remote memory file (JSON)", .unwritten = "none"},
    {"groups", .kind = PARAM_PATH, .group = PARAM_WHAT, .commands = PARAM_OF_RUN | PARAM_OF_TRACE, .value = "FILE",
     AT(groups), .help = "Communicator groups file (JSON)", .unwritten = "the one next to the traces, if any"},
    {"set", .kind = PARAM_READ, .group = PARAM_WHAT, .flags = PARAM_MANY, .commands = PARAM_OF_RUN,
     .value = "KEY=VALUE", .read = param_run_read_set, .write = param_run_write_set,
     .help = "Override a key of a configuration file: network.bandwidth=100. The files are system, network, memory and "
             "logical; network.latency[1]=2us is one entry of a list. May be given several times"},

    {"job", .kind = PARAM_READ, .group = PARAM_WHAT, .flags = PARAM_RARE | PARAM_MANY, .commands = PARAM_OF_RUN,
     .value = "NAME=PREFIX[:RANKS]", .read = param_run_read_job, .write = param_run_write_job,
     .help =
         "One of several jobs on the machine, instead of parameter 'workload': its traces and, in the order of its "
         "ranks, those of the machine it has (0-7+16-23). Tells each job's time with the others there and alone. May "
         "be given up to 64 times"},
    {"placement", .kind = PARAM_WORD, .group = PARAM_WHAT, .flags = PARAM_RARE, .commands = PARAM_OF_RUN,
     .value = "NAME", AT(placement), .words = placements, .first = ORR_PLACEMENT_PACKED, .initial = "packed",
     .help =
         "Which free ranks jobs get that name none. packed: the next ones; spread: each job in turn one; random: by "
         "parameter 'seed'"},

    /* ---- on what ---- */
    {"machine", "topology topo", .letter = 'm', .kind = PARAM_TEXT, .group = PARAM_MACHINE, .commands = PARAM_OF_ALL,
     .value = "NAME", AT(machine),
     .help =
         "The machine: dgx-h100:16, 128gpu_torus3d_16, a line, or a file. orrery machine list has the names; a line "
         "is 'dgx-h100:16 > rail:400Gbps > spine:8'; a kind such as torus3d or dims:4x4x8 has rates of its own "
         "choice; a file is a network.yml or a physical topology",
     .unwritten = "lab run: auto:1d up to 64 ranks, auto:3d above"},
    {"bandwidth", .kind = PARAM_TEXT, .group = PARAM_MACHINE, .commands = PARAM_OF_ALL, .value = "RATE", AT(bandwidth),
     .help = "Of a link, one way: 25Gbps, 50GB/s; a bare number is in Gbps. One for all, or a list with one for each "
             "dimension",
     .unwritten = "25Gbps"},
    {"latency", .kind = PARAM_TEXT, .group = PARAM_MACHINE, .commands = PARAM_OF_ALL, .value = "TIME", AT(latency),
     .help = "Of a link: 500ns, 1us; a bare number is in us. One for all, or a list", .unwritten = "1us"},

    /* ---- more ranks than there are traces ---- */
    {"grow", .kind = PARAM_READ, .group = PARAM_GROWTH, .flags = PARAM_OPTIONAL, .commands = PARAM_OF_RUN,
     .value = "ROLES", .read = param_run_read_grow, .write = param_run_write_grow,
     .help = "Fill the machine by adding ranks of one role. Each new rank does what the rank in its position of the "
             "traced job did. ROLES: as with parameter 'parallel'"},
    {"parallel", .kind = PARAM_TEXT, .group = PARAM_GROWTH, .commands = RUN_LAB, .value = "ROLES", AT(growth.parallel),
     .help = "How the traced job is split, fastest role first: tp:2,pp:2,dp:4",
     .unwritten = "from the process groups, else dp"},
    {"grow-role", .kind = PARAM_TEXT, .group = PARAM_GROWTH, .flags = PARAM_RARE, .commands = RUN_LAB, .value = "NAME",
     AT(growth.role), .help = "The role that grows", .unwritten = "dp"},
    {"comm-scale", "grow-comm", .kind = PARAM_TEXT, .group = PARAM_GROWTH, .flags = PARAM_RARE, .commands = RUN_LAB,
     .value = "FACTOR", AT(growth.comm_scale),
     .help = "Multiply the bytes of every collective of a grown job, exactly: 2, 127/64",
     .unwritten = "1, since the algorithms themselves send more when there are more ranks"},
    {"strong", .kind = PARAM_FLAG, .group = PARAM_GROWTH, .flags = PARAM_RARE, .commands = RUN_LAB, AT(growth.strong),
     .help = "Strong scaling: the global batch stays the same, so compute and the traffic inside a replica shrink",
     .unwritten = "the batch of each rank stays the same"},

    /* ---- the network ---- */
    {"backend", .kind = PARAM_WORD, .group = PARAM_NETWORK, .flags = PARAM_CLEARS, .commands = RUN_LAB | PARAM_OF_TRACE,
     .value = "NAME", AT(backend), GIVEN(backend_open), .words = param_backends, .first = ORR_BACKEND_UNAWARE,
     .help = "Network model. unaware of congestion, aware of it; packet: every packet, on wires; flow: fair shares of "
             "the links where that is accurate, else up to 16 million packets; auto: shares where that is accurate, "
             "else packets",
     .unwritten = "unaware; aware with NCCL's algorithms; flow for machines that dimensions do not describe"},
    {"no-pfc", .kind = PARAM_FLAG, .group = PARAM_NETWORK, .flags = PARAM_RARE | PARAM_WIRED, .commands = RUN_LAB,
     AT(no_pfc), .help = "On wires: ignore pause frames, so that full buffers drop packets"},
    {"cc", .kind = PARAM_WORD, .group = PARAM_NETWORK, .flags = PARAM_WIRED, .commands = RUN_LAB, .value = "NAME",
     AT(congestion), .words = controls, .first = ORR_CONGESTION_NONE,
     .help = "On wires: congestion control instead of the file's CC_MODE. With credit, receivers hand out the right to "
             "send"},
    {"routing", .kind = PARAM_WORD, .group = PARAM_NETWORK, .flags = PARAM_WIRED, .commands = RUN_LAB, .value = "NAME",
     AT(routing), .words = routings, .first = ORR_ROUTING_ECMP, .initial = "ecmp",
     .help = "On wires: which of several equal-cost paths packets take. ecmp: by a hash of the message; spray: round "
             "robin; adaptive: shortest queue"},
    {"spray", .kind = PARAM_READ, .group = PARAM_NETWORK, .flags = PARAM_HIDDEN | PARAM_WIRED, .commands = RUN_LAB,
     .read = param_run_read_spray, .help = "The same as parameter 'routing' spray"},
    {"parallel-links", .kind = PARAM_FLAG, .group = PARAM_NETWORK, .flags = PARAM_RARE | PARAM_WIRED,
     .commands = RUN_LAB, AT(parallel_links), .help = "On wires: use all links between two nodes",
     .unwritten = "the last of them, as ns-3 does"},
    {"link-down", .kind = PARAM_READ, .group = PARAM_NETWORK, .flags = PARAM_RARE | PARAM_WIRED | PARAM_MANY,
     .commands = RUN_LAB, .value = "A-B@T[..T]", .read = param_run_read_link_down, .write = param_run_write_link_down,
     .help = "On wires: the links between nodes A and B are down from time T on (2us, 1ms; a bare number is in us), "
             "for good or until a second time. May be given up to 64 times"},
    {"faults", .kind = PARAM_PATH, .group = PARAM_NETWORK, .flags = PARAM_RARE, .commands = RUN_LAB, .value = "FILE",
     AT(faults),
     .help = "Links that are down or slow for a while: a table (CSV or JSON) with a, b, from, until and rate. Not on "
             "the congestion-unaware network",
     .unwritten = "none"},
    {"rto", .kind = PARAM_TIME, .group = PARAM_NETWORK, .flags = PARAM_RARE | PARAM_WIRED, .commands = RUN_LAB,
     .value = "TIME", AT(rto_ns), TIME_BOUNDS,
     .help = "On wires: retransmission timeout (500us, 4ms; a bare number is in us)",
     .unwritten = "four round trips and 1 ms; with parameter 'compat' astra never"},
    {"no-fast-forward", .kind = PARAM_FLAG, .group = PARAM_NETWORK, .flags = PARAM_RARE | PARAM_WIRED,
     .commands = PARAM_OF_ALL, AT(no_fast_forward),
     .help = "On wires: simulate every packet, even where traffic is periodic; the results are the same"},
    {"no-packets", .kind = PARAM_FLAG, .group = PARAM_NETWORK, .flags = PARAM_RARE | PARAM_WIRED,
     .commands = PARAM_OF_ALL, AT(no_packets),
     .help = "On flow: fair shares of the links for jobs of any size, even where packets would be more accurate"},
    {"no-symmetry", .kind = PARAM_FLAG, .group = PARAM_SIMULATION, .flags = PARAM_RARE, .commands = RUN_LAB,
     AT(no_symmetry), .help = "Simulate every rank, even where one can stand for all; the results are the same"},
    {"no-memo", .kind = PARAM_FLAG, .group = PARAM_SIMULATION, .flags = PARAM_RARE, .commands = RUN_LAB, AT(no_memo),
     .help = "Simulate every message of a ring, even where its phases can be computed at once; the times are the same"},
    {"explain-symmetry", .kind = PARAM_FLAG, .group = PARAM_SIMULATION, .flags = PARAM_RARE, .commands = RUN_LAB,
     AT(explain_symmetry), .help = "Say in the report which ranks were simulated, and why not fewer"},
    {"compat", .kind = PARAM_WORD, .group = PARAM_NETWORK, .flags = PARAM_RARE, .commands = PARAM_OF_RUN,
     .value = "NAME", AT(compat), .words = compats, .first = ORR_COMPAT_NONE, .initial = "none",
     .help =
         "On wires: none, or astra, which leaves out what ASTRA-sim's ns-3 network lacks (the retransmission timeout, "
         "messages of 2 GiB and more), and writes fct, pfc and qlen files where the network configuration names "
         "them"},
    {"queues-per-dim", .kind = PARAM_COUNT32, .group = PARAM_NETWORK, .flags = PARAM_RARE, .commands = RUN_LAB,
     .value = "N", AT(queues_per_dim), .least = 1, .most = UINT32_MAX, .initial = "1",
     .help = "Queues of each dimension"},
    {"injection-scale", .kind = PARAM_REAL, .group = PARAM_NETWORK, .flags = PARAM_RARE, .commands = RUN_LAB,
     .value = "X", AT(injection_scale), .initial = "1", .help = "Multiplies the system file's endpoint-delay"},
    {"rendezvous", .kind = PARAM_FLAG, .group = PARAM_NETWORK, .flags = PARAM_RARE | PARAM_OPTIONAL,
     .commands = RUN_LAB, .value = "BOOL", AT(rendezvous),
     .help = "Send data only after the receiver has asked for it"},
    {"jitter", .kind = PARAM_READ, .group = PARAM_SIMULATION, .flags = PARAM_RARE | PARAM_MANY, .commands = RUN_LAB,
     .value = "HOW", .read = param_run_read_jitter, .write = param_run_write_jitter,
     .help = "Random variation. normal:5%, lognormal:5%, uniform:5% or exponential:5% varies the GPU compute time of "
             "each node; with :rank or :step appended, of each rank or of all ranks together. A number J multiplies "
             "each message's "
             "delay by 1 + J*u, u random in [0,1)",
     .unwritten = "none"},
    {"stragglers", .kind = PARAM_TEXT, .group = PARAM_SIMULATION, .flags = PARAM_RARE, .commands = RUN_LAB,
     .value = "LIST", AT(stragglers),
     .help = "Ranks whose GPU compute is slower: 2:1.3x, two ranks chosen by the seed; ranks=3+17-19:2x, these ranks; "
             "separated by commas",
     .unwritten = "none"},
    {"seed", .kind = PARAM_COUNT, .group = PARAM_SIMULATION, .flags = PARAM_RARE, .commands = RUN_LAB, .value = "N",
     AT(seed), .initial = "0", .help = "Seed of jitter, stragglers and losses on links"},

    /* ---- what runs at once, and how long compute takes ---- */
    {"policy", .kind = PARAM_WORD, .group = PARAM_COMPUTE, .commands = RUN_LAB, .value = "NAME", AT(policy),
     .words = policies, .first = ORR_POLICY_ASTRA,
     .help = "What runs at once. astra: one CPU and one GPU operation and one communication, chunks admitted as "
             "ASTRA-sim does, which can deadlock in three dimensions. safe: chunks admitted so that they cannot. "
             "streams: each thread and stream of the trace runs concurrently",
     .unwritten = "streams for imported recordings, else astra (lab run: safe)"},
    {"replay", .kind = PARAM_FLAG, .group = PARAM_COMPUTE, .commands = PARAM_OF_RUN, AT(replay),
     .help = "Replay a recording: every node takes its recorded time, communication included. One rank is enough, and "
             "parameter 'system' and parameter 'network' may be left out"},
    {"contention", .kind = PARAM_REAL, .group = PARAM_COMPUTE, .flags = PARAM_RARE, .commands = RUN_LAB, .value = "F",
     AT(contention), .initial = "0", .real_most = 1,
     .bounds = "must be from 0 (none) to 1 (kernels in flight share one device)",
     .help = "With k kernels in flight on a rank, each runs at 1/(1 + F*(k-1)) of its speed; communications count but "
             "are not slowed down. 0: no effect, 1: they share one device. Recorded times of overlapping kernels "
             "already include it"},
    {"broadcast", .kind = PARAM_WORD, .group = PARAM_COMPUTE, .flags = PARAM_RARE, .commands = RUN_LAB, .value = "NAME",
     AT(broadcast), .words = broadcasts, .first = ORR_BROADCAST_REPLAY, .initial = "replay",
     .help = "replay: a broadcast takes its recorded time; reduce, gather, scatter and barrier are refused. simulate: "
             "all of them are simulated on the network"},
    {"collective-times", .kind = PARAM_WORD, .group = PARAM_NETWORK, .flags = PARAM_RARE, .commands = PARAM_OF_ALL,
     .value = "NAME", AT(collective_times), .words = collective_times, .first = ORR_COLLECTIVES_SIMULATED,
     .initial = "simulated",
     .help = "simulated: every message of a collective on the network. model: the members wait for each other, then "
             "take the time that orrery coll time gives for NCCL or RCCL"},
    {"collective-gpu", .kind = PARAM_TEXT, .group = PARAM_NETWORK, .flags = PARAM_RARE, .commands = PARAM_OF_ALL,
     .value = "NAME", AT(collective_gpu), .unwritten = "the machine's",
     .help = "The GPU whose collectives parameter 'collective-times' model uses: h100, mi300x"},
    {"missing-cpu-op", .kind = PARAM_CHOICE, .group = PARAM_COMPUTE, .flags = PARAM_RARE, .commands = PARAM_OF_RUN,
     .value = "WHERE", AT(missing_is_cpu), .words = places, .initial = "gpu",
     .help = "gpu or cpu: where nodes without is_cpu_op run. cpu is the reading of ASTRA-sim's release for "
             "HOTI 2024, which did not simulate their communication: it takes the node's own time, usually none"},
    {"comp-source", .kind = PARAM_WORD, .group = PARAM_COMPUTE, .commands = RUN_LAB, .value = "NAME", AT(tuning.source),
     GIVEN(source_given), .words = sources, .first = ORR_COMPUTE_AUTO, .initial = "auto",
     .help = "Where the time of GPU compute comes from. auto: as the system file says; duration: as recorded; cycles: "
             "compute_cycles at parameter 'default-gpu-freq'; roofline: the system file's peak-perf and local-mem-bw; "
             "forced: parameter 'force-avg-kernel-ns' for every node"},
    {"force-avg-kernel-ns", .kind = PARAM_COUNT, .group = PARAM_COMPUTE, .flags = PARAM_RARE, .commands = RUN_LAB,
     .value = "NS", AT(tuning.forced_ns), .least = 1, .most = UINT64_C(1) << 50,
     .help = "Every GPU compute node takes NS ns: parameter 'comp-source' forced"},
    {"default-gpu-freq", .kind = PARAM_REAL, .group = PARAM_COMPUTE, .flags = PARAM_RARE, .commands = RUN_LAB,
     .value = "MHZ", AT(tuning.gpu_mhz), FACTOR_BOUNDS,
     .help = "Clock for parameter 'comp-source' cycles, which this implies unless another source is named",
     .unwritten = "2400"},
    {"compute-factor", .kind = PARAM_REAL, .group = PARAM_COMPUTE, .commands = RUN_LAB, .value = "X",
     AT(tuning.compute_scale), FACTOR_BOUNDS, .help = "Multiply the time of GPU compute, whatever its source",
     .unwritten = "1"},
    {"host-factor", .kind = PARAM_REAL, .group = PARAM_COMPUTE, .flags = PARAM_RARE, .commands = RUN_LAB, .value = "X",
     AT(tuning.host_scale), FACTOR_BOUNDS,
     .help = "Multiply the time of CPU nodes: below 1 for traces that a profiler slowed down", .unwritten = "1"},
    {"launch-overhead", .kind = PARAM_TIME, .group = PARAM_COMPUTE, .flags = PARAM_RARE, .commands = RUN_LAB,
     .value = "TIME", AT(tuning.launch_ns), TIME_BOUNDS,
     .help = "Delay before a collective, send or receive that could start does start (20us, 800ns; a bare "
             "number is in us)",
     .unwritten = "0"},
    {"devices", .kind = PARAM_TEXT, .group = PARAM_COMPUTE, .flags = PARAM_RARE, .commands = RUN_LAB, .value = "LIST",
     AT(devices),
     .help = "Devices of the ranks, where they differ: 0-3=h100,4-7=mi300x. A device is a name or TFLOPS@GB/s "
             "(1307@5300), for the roofline, x and a factor on compute times, for any source, linkx and a factor on "
             "the bandwidth of its links; or several: 4-7=mi300x:x1.1:linkx0.5. Other ranks are as the system file "
             "says. Without '=': a file, CSV or JSON"},

    /* ---- the program around it ---- */
    {"memory-limit", .kind = PARAM_SIZE, .group = PARAM_OTHER, .flags = PARAM_RARE, .commands = PARAM_OF_ALL,
     .value = "SIZE", AT(memory_limit), .least = 1, .bounds = "leaves no memory; leave it out for 80 % of the machine",
     .help = "Stop with exit code 3 rather than use more memory: 512M, 8GiB, bytes",
     .unwritten = "the environment variable ASTRA_SIM_MEMORY_LIMIT, else 80 % of the machine"},
    {"strict", .kind = PARAM_FLAG, .group = PARAM_OTHER, .commands = PARAM_OF_ALL, AT(strict),
     .help = "Make every warning an error"},
    {0},
};
