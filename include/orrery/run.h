/* SPDX-License-Identifier: Apache-2.0 */
/* Running a simulation from files to results, and the reference of the configuration files. Included by orrery.h. */
#ifndef ORRERY_RUN_H
#define ORRERY_RUN_H

#include "orrery/base.h"

ORR_BEGIN

/* ---- running a simulation ------------------------------------------------------------------------------------- */

/* PACKET and FLOW run on a wired topology; what is said of PACKET below holds for FLOW too where it names no packets.
 */
enum orr_backend { ORR_BACKEND_UNAWARE, ORR_BACKEND_AWARE, ORR_BACKEND_PACKET, ORR_BACKEND_FLOW, ORR_BACKEND_AUTO };
/* What runs at once on a rank. ASTRA: one operation on the CPU, one on the GPU and one communication, chunks admitted
 * as ASTRA-sim does. SAFE: the same, chunks admitted so that they cannot deadlock. STREAMS: a slot for each thread and
 * stream that the trace names, a collective's kernel on its stream; chunks as with SAFE. AUTO: STREAMS where the traces
 * ask for it, as imported recordings do, else ASTRA; AUTO_SAFE: else SAFE. */
enum orr_policy { ORR_POLICY_ASTRA, ORR_POLICY_SAFE, ORR_POLICY_STREAMS, ORR_POLICY_AUTO, ORR_POLICY_AUTO_SAFE };
enum orr_broadcast { ORR_BROADCAST_REPLAY, ORR_BROADCAST_SIMULATE };
/* How long collectives take: their messages on the network, or what NCCL or RCCL takes (orrery/colltime.h). */
enum orr_collective_times { ORR_COLLECTIVES_SIMULATED, ORR_COLLECTIVES_MODEL };
enum orr_compat { ORR_COMPAT_NONE, ORR_COMPAT_ASTRA };
/* Which of several equal ways packets take: that of their message's hash, in turn, the one with the shortest queue. */
enum orr_routing { ORR_ROUTING_ECMP, ORR_ROUTING_SPRAY, ORR_ROUTING_ADAPTIVE };
/* Congestion controls and their names. */
#define ORR_CONGESTIONS(X)                                                                                             \
    X(NONE, "none")                                                                                                    \
    X(DCQCN, "dcqcn")                                                                                                  \
    X(HPCC, "hpcc")                                                                                                    \
    X(TIMELY, "timely")                                                                                                \
    X(DCTCP, "dctcp")                                                                                                  \
    X(PINT, "pint")                                                                                                    \
    X(SWIFT, "swift")                                                                                                  \
    X(CREDIT, "credit")

/* FILE: as the network configuration's CC_MODE says. */
enum orr_congestion {
    ORR_CONGESTION_FILE,
#define ORR_X(id, name) ORR_CONGESTION_##id,
    ORR_CONGESTIONS(ORR_X)
#undef ORR_X
};

/* All links between two nodes are out of service from `down_ns` until `up_ns` (UINT64_MAX: for good). */
struct orr_link_down {
    uint32_t a, b;
    uint64_t down_ns, up_ns;
};

struct orr_progress {
    uint64_t time_ns;        /* simulated */
    uint64_t events;         /* handled so far */
    uint64_t messages;       /* sent so far */
    uint32_t ranks_finished; /* of ranks */
    uint32_t ranks;
    uint64_t nodes_done; /* over all ranks, of nodes */
    uint64_t nodes;
    double done; /* share of the work, 0 to 1: nodes, and the chunks of collectives in flight */
};

/* A machine with more ranks than there are traces: the ranks of one role become more until the machine is full, and do
 * what the ranks in their place of the traced job did (docs/scaling.md). Nothing is copied on disk. */
struct orr_growth {
    const char *parallel;   /* how the traced job is split, fastest role first: "tp:2,pp:2,dp:4"; NULL: as the
                             * groups of one recorded rank tell, else all of it is dp */
    const char *role;       /* the one that grows; NULL: "dp" */
    const char *comm_scale; /* exact factor of every collective's bytes, "127/64"; NULL: 1 */
    bool strong;            /* the batch of the whole job stays: compute and what belongs to it shrink */
};

/* Where the time of a compute node comes from. Nodes that are replayed keep what they carry, those of the CPU too but
 * for host_scale. */
enum orr_compute_source {
    ORR_COMPUTE_AUTO,     /* as the system file says: the node's duration, or its operations under roofline-enabled */
    ORR_COMPUTE_DURATION, /* duration_micros */
    ORR_COMPUTE_CYCLES,   /* compute_cycles, exec_cycles or cycles, at gpu_mhz */
    ORR_COMPUTE_ROOFLINE, /* num_ops and tensor_size, by the system file's peak-perf and local-mem-bw */
    ORR_COMPUTE_FORCED,   /* forced_ns, whatever the node says */
};

/* What a calibration changes in a run. All zero: nothing. */
struct orr_tuning {
    enum orr_compute_source source;
    double gpu_mhz;       /* CYCLES: at least 1 */
    uint64_t forced_ns;   /* FORCED: at least 1 */
    double compute_scale; /* factor of every GPU compute node's time, above 0; 0 means 1 */
    double host_scale;    /* the same for those of the CPU: a profiler makes the host slower, and not the device */
    uint64_t launch_ns;   /* from the moment a collective, send or receive could start until it does */
};

/* Times of GPU compute that vary by chance (docs/faults.md): each is multiplied by a factor drawn from the seed and
 * from what it belongs to, and from nothing else. `spread` S: NORMAL, LOGNORMAL: mean 1, standard deviation S; UNIFORM:
 * from 1-S to 1+S; EXPONENTIAL: 1 and S times a number of mean 1. */
enum orr_noise_kind { ORR_NOISE_NONE, ORR_NOISE_NORMAL, ORR_NOISE_LOGNORMAL, ORR_NOISE_UNIFORM, ORR_NOISE_EXPONENTIAL };
/* What has a factor of its own: every node of every rank, every rank, or the whole run. */
enum orr_noise_per { ORR_NOISE_PER_NODE, ORR_NOISE_PER_RANK, ORR_NOISE_PER_STEP };
struct orr_noise {
    enum orr_noise_kind kind;
    enum orr_noise_per per;
    double spread; /* 0 to 10; UNIFORM to 1 */
};

/* A job among several on one machine. */
struct orr_job {
    const char *name;
    const char *workload; /* prefix P: its rank R's trace is P.R.et; groups as beside a workload */
    const char *ranks;    /* of the machine, in the order of the job's: "0-7+16-23"; NULL: by the placement */
};

/* Which free ranks of the machine jobs get that name none: the next ones; each in turn one; by the seed. */
enum orr_placement { ORR_PLACEMENT_PACKED, ORR_PLACEMENT_SPREAD, ORR_PLACEMENT_RANDOM };

/* A key of a configuration file and the value it has in this run, whatever the file says (docs/sweeps.md). */
struct orr_override {
    const char *file;   /* the option that names the file: "system", "network", "memory", "logical" */
    const char *key;    /* as in the file; "bandwidth[1]": one entry of a list */
    const char *value;  /* as YAML spells it: 50, 400Gbps, [50, 25], ring */
    const char *origin; /* where it was said, for messages: "--set", "sweep.yml" */
    uint32_t line;      /* there, from 1 */
};

/* A configuration file that is not on disk: where an option or another file names `path`, this is what it says. */
struct orr_text {
    const char *path;
    const char *text;
    size_t size;
};

/* Traces read once, for any number of runs at once; nothing of them changes. */
struct orr_workload;

/* All of PREFIX.0.et, PREFIX.1.et … that are there. A run that reads nodes without is_cpu_op otherwise (missing_is_cpu)
 * needs a workload of its own. */
ORR_MUST_CHECK enum orr_status orr_workload_open(const char *prefix, bool missing_is_cpu, uint64_t memory_limit,
                                                 struct orr_workload **workload, struct orr_error *err);
/* When no run that used it is open any more. NULL is fine. */
void orr_workload_close(struct orr_workload *workload);
uint32_t orr_workload_ranks(const struct orr_workload *workload);
uint64_t orr_workload_bytes(const struct orr_workload *workload); /* of memory */

/* What to run: one field for each parameter (docs/reference.md). Start from orr_run_options_init; fill fields, or name
 * parameters with orr_run_set. Texts are borrowed until orr_run_open returns. */
struct orr_run_options {  /* NOLINT(clang-analyzer-optin.performance.Padding): in the order one reads them */
    size_t size;          /* of this struct, as orr_run_options_init writes it */
    const char *workload; /* prefix P: rank R's trace is P.R.et */
    /* Instead of `workload`: several jobs on one machine, whose other ranks do nothing. Borrowed until orr_run_open
     * returns. */
    const struct orr_job *jobs;
    size_t job_count;
    enum orr_placement placement;
    uint32_t only_job; /* 1 + the job that runs while the others' ranks do nothing; 0: all run */
    /* The machine in a few words: "dgx-h100:16", "128gpu_torus3d_16", a line, a file (docs/machines.md). Instead of
     * network and logical; without `system` one is made that fits it. NULL: the files say it. */
    const char *machine;
    const char *bandwidth; /* of a machine that leaves it open: one for all dimensions or a list, bare: Gbps */
    const char *latency;   /* the same, bare: us */
    const char *system;    /* system JSON */
    const char *network;   /* network YAML; PACKET: network configuration (KEY value) */
    const char *logical;   /* PACKET: logical topology JSON, or NULL: one dimension of all hosts */
    const char *memory;    /* remote memory JSON, or NULL: no remote memory */
    const char *groups;    /* communicator groups JSON, or NULL */
    enum orr_backend backend;
    /* Nobody asked for `backend`, which is UNAWARE: FLOW is used where only wires tell what `machine` is, and AWARE,
     * with a warning that says why, where the system file names NCCL's algorithms (orr_run_backend tells which). True
     * at first; another backend, or orr_run_set with one, ends it; for UNAWARE on any machine set it to false. */
    bool backend_open;
    enum orr_policy policy;
    /* Every node takes the time it carries, communications too, as with the system file's replay-only: what was
     * recorded is played again. `system` and `network` may be NULL then, and there may be one rank. */
    bool replay;
    double contention; /* F: of k kernels in flight on a rank each goes on at 1/(1 + F*(k-1)) of its speed; 0 to 1 */
    enum orr_broadcast broadcast;
    enum orr_collective_times collective_times;
    const char *collective_gpu; /* MODEL: whose, where the machine does not say; NULL: the machine's */
    bool missing_is_cpu;        /* nodes without is_cpu_op belong to the CPU, as to ASTRA-sim of HOTI 2024 */
    uint32_t queues_per_dim;    /* at least 1 */
    double injection_scale;     /* multiplies the endpoint delay */
    bool rendezvous;
    double jitter;          /* J: each message's delay is multiplied by 1 + J*u, u in [0,1) */
    struct orr_noise noise; /* of the time of GPU compute */
    /* Ranks whose GPU compute is slower: "2:1.3x", two ranks by the seed; "ranks=3+17-19:2x", these; commas between
     * several. NULL: none. Borrowed until orr_run_open returns. */
    const char *stragglers;
    uint64_t seed;         /* of jitter, noise and stragglers, and of what lossy links lose */
    uint64_t memory_limit; /* bytes; 0 = 80 % of the machine */
    bool strict;           /* warnings become errors */
    bool keep_intervals;   /* needed for ORR_OUTPUT_TIMELINE and ORR_OUTPUT_COMM_INTERVALS */
    bool keep_issue_order; /* needed for ORR_OUTPUT_ASTRA */
    bool no_pfc;           /* PACKET: pause frames are ignored, so that full buffers drop */
    bool keep_flows;       /* PACKET: needed for ORR_OUTPUT_FCT and ORR_OUTPUT_PFC */
    bool keep_queues;      /* PACKET: needed for ORR_OUTPUT_QLEN; looks at all queues every 100 ns */
    /* PACKET: ASTRA does without what ASTRA-sim's network lacks: what is lost is not sent again (unless rto_ns says
     * when), and messages of 2 GiB and more never arrive. */
    enum orr_compat compat;
    enum orr_routing routing;               /* PACKET */
    enum orr_congestion congestion;         /* PACKET */
    bool parallel_links;                    /* PACKET: all links between two nodes carry traffic, not the last alone */
    const struct orr_link_down *link_downs; /* PACKET; borrowed until orr_run_open returns */
    size_t link_down_count;
    const char *faults; /* AWARE, PACKET: a file of links that are down or slow for a while (docs/faults.md); or NULL */
    bool grow;          /* fill the machine, as `growth` says; else one trace a rank */
    struct orr_growth growth;
    const struct orr_override *overrides; /* borrowed until orr_run_open returns */
    size_t override_count;
    const struct orr_text *texts; /* borrowed until orr_run_open returns */
    size_t text_count;
    /* The traces of `workload`, opened with the same missing_is_cpu; must stay open until orr_run_close. NULL: the run
     * reads its own. */
    const struct orr_workload *loaded;
    struct orr_tuning tuning;
    bool source_given; /* tuning.source is meant as it is; else forced_ns and gpu_mhz imply one */
    /* What ranks compute on, where they differ: "0-3=h100,4-7=mi300x:x1.1:linkx0.5", or a file that says it
     * (docs/faults.md); NULL: all as the system file says. Borrowed until orr_run_open returns. */
    const char *devices;
    uint64_t rto_ns;      /* PACKET: after how long what was lost is sent again; 0 = four round trips and 1 ms */
    bool no_fast_forward; /* PACKET: send every packet, even where traffic repeats itself; the results are the same */
    bool no_packets; /* FLOW: fair shares whatever the size of the job, even where packets would be more accurate */
    /* UNAWARE, AWARE: carry out every rank, even where one stands for all; the results are the same. */
    bool no_symmetry;
    bool explain_symmetry; /* reports say which ranks were carried out, and why not fewer */
    /* UNAWARE, AWARE: send every message of a ring, even where its phases can be worked out at once; the results are
     * the same, but for the events it took. */
    bool no_memo;
    /* Called every so many events, several times a second; a false return ends the run with ORR_EINTR. Called once more
     * at the end, whatever it was, with the final figures; the answer then does not matter. May be NULL. */
    bool (*progress)(void *context, const struct orr_progress *now);
    void *progress_context;
    struct orr_run_lists *lists; /* what orr_run_set made; orr_run_options_free */
};

void orr_run_options_init(struct orr_run_options *options); /* the defaults */
void orr_run_options_free(struct orr_run_options *options); /* what orr_run_set made; NULL is fine */

/* For programs that do not know the struct (other languages): options on the heap with the defaults, or NULL; set by
 * name and by the two functions below; given back with orr_run_options_delete, for which NULL is fine. */
struct orr_run_options *orr_run_options_new(void);
void orr_run_options_delete(struct orr_run_options *options);

/* What to keep beyond totals, or-ed: the fields keep_intervals, keep_issue_order, keep_flows, keep_queues. */
enum orr_keep { ORR_KEEP_INTERVALS = 1, ORR_KEEP_ISSUE_ORDER = 2, ORR_KEEP_FLOWS = 4, ORR_KEEP_QUEUES = 8 };
void orr_run_keep(struct orr_run_options *options, unsigned what);
/* The fields progress and progress_context. */
void orr_run_watch(struct orr_run_options *options, bool (*progress)(void *context, const struct orr_progress *now),
                   void *context);

/* Sets a parameter by its name, as the option of `orrery run` of that name does: orr_run_set(&options, "rto", "500us",
 * &err). A flag takes "true" and "false"; NULL for a value that may be left out. What may be given several times is
 * added to. `value` is borrowed until orr_run_open returns. An unknown name is refused with the nearest one. */
ORR_MUST_CHECK enum orr_status orr_run_set(struct orr_run_options *options, const char *name, const char *value,
                                           struct orr_error *err);

/* What orr_run_open refuses of the options by themselves, before any file is read; it checks them too. Fills in what
 * follows from what was said: the source of compute times, the file a bare key of an override belongs to. Errors name
 * parameters, as in "parameter 'rto' needs parameter 'backend' packet, flow or auto". */
ORR_MUST_CHECK enum orr_status orr_run_settle(struct orr_run_options *options, struct orr_error *err);

struct orr_run;

/* Reads and checks all files. The run holds copies; nothing of the options is kept but the progress callback. */
ORR_MUST_CHECK enum orr_status orr_run_open(const struct orr_run_options *options, struct orr_run **run,
                                            struct orr_error *err);

/* Simulates to the end, once. ORR_ESTALL: the run cannot go on; orr_run_write still works and explains, and `err`
 * has the one-line summary. ORR_EINTR: the callback asked to stop; what is known so far can be written. */
ORR_MUST_CHECK enum orr_status orr_run_execute(struct orr_run *run, struct orr_error *err);

void orr_run_close(struct orr_run *run); /* NULL is fine */

/* Warnings collected so far, each one line; valid until orr_run_close. */
size_t orr_run_warning_count(const struct orr_run *run);
const char *orr_run_warning(const struct orr_run *run, size_t index);

/* Rows of results are filled whole and change with the library's soversion alone. Functions that fill one return
 * whether it is there; where it is not, it is all zero. Texts and lists in them are valid until orr_run_close. */

struct orr_rank_result {
    uint32_t rank;
    uint32_t nodes_done;
    const char *device; /* what it computes on, where ranks differ; else NULL */
    bool finished;
    uint64_t finish_ns;
    uint64_t exposed_ns; /* finish_ns minus the sum of GPU compute, modulo 2^64: ASTRA-sim's "exposed communication" */
    /* A rank's whole time up to the end of the run, each nanosecond counted once, first that applies. */
    uint64_t compute_ns;       /* GPU compute in flight */
    uint64_t exposed_comm_ns;  /* else communication */
    uint64_t exposed_other_ns; /* else remote memory or CPU operators */
    uint64_t idle_ns;          /* else nothing, including after the rank's end */
    /* Time with at least one such operation in flight, whatever else was. */
    uint64_t busy_comm_ns, busy_gpu_ns;
    uint64_t sum_gpu_ns; /* of GPU compute, overlaps counted twice as ASTRA-sim does */
};

/* All operations of one kind: a collective of one type and size in groups of one size, or sends or receives. */
struct orr_collective_result {
    const char *type; /* "all-reduce", …, "send", "receive" */
    uint32_t group_size;
    uint64_t bytes;    /* of one operation, as the trace says */
    uint64_t count;    /* each rank's participation counted */
    double operations; /* count by group_size; not whole where the run ended in the middle of one */
    uint64_t total_ns, min_ns, max_ns;
    double mean_ns;
    uint64_t first_start_ns, last_end_ns;
    double algorithm_gbytes_per_s, bus_gbytes_per_s; /* as nccl-tests has them; 0: none */
};

/* A dimension of the machine's logical topology. */
struct orr_dimension_result {
    const char *kind; /* "Ring", "Switch", "FullyConnected" */
    uint32_t dimension, size;
    double bandwidth_gibytes_per_s, latency_ns; /* of a link */
    uint64_t links;                             /* of one direction */
    uint64_t messages, bytes;                   /* that crossed it; bytes on each link */
    uint64_t busy_ns;                           /* sum over links */
    double utilisation;                         /* busy_ns by the time all links had */
    uint64_t queued_messages;                   /* aware: that found their link busy */
};

/* One direction of a link of a wired machine. */
struct orr_link_result {
    uint32_t from, to; /* nodes */
    bool from_switch;
    uint64_t rate_bps;
    uint64_t bytes, busy_ns; /* headers and acknowledgements included */
    double utilisation;      /* busy_ns by the time of the run */
    uint64_t ecn_marks, pauses, drops, losses;
    uint64_t queue_p50_bytes, queue_p95_bytes, queue_p99_bytes, queue_max_bytes; /* that a packet found before it */
};

struct orr_spread {
    uint64_t p50, p95, p99, max;
};

/* What a wired machine's network counted. */
struct orr_network_result {
    uint64_t transmissions; /* one packet over one link; 0: shares of links, no packets */
    uint64_t data_packets;
    uint64_t in_flight_most; /* packets in the network at one time */
    uint64_t forward_jumps;  /* of fast-forward */
    uint64_t skipped;        /* of the transmissions, what it did not make one by one */
    uint64_t ecn_marks, pauses, drops, losses, timeouts;
    uint64_t messages; /* that arrived */
    struct orr_spread message_time_ns;
    struct orr_spread message_slowdown_permille; /* of the time on an empty network */
};

/* When an operation was in flight; of a run with keep_intervals, in order of their ends. */
struct orr_interval_result {
    uint32_t rank;
    uint64_t node;    /* its id in the rank's trace */
    const char *name; /* of the node, may be empty */
    const char *type; /* "compute", "send", "all-reduce", … */
    bool is_cpu, is_communication;
    uint64_t bytes; /* of a communication */
    uint64_t start_ns, end_ns;
};

/* Why a run cannot go on (ORR_ESTALL). */
struct orr_finding {
    const char *kind; /* "unmatched receive", "chunks wait for each other's slots", … */
    const char *text; /* one sentence */
    const char *fix;  /* what to change, or NULL */
    const uint32_t *ranks;
    size_t rank_count;
    const uint64_t *nodes; /* ids; of a cycle in its order */
    size_t node_count;
};

/* Who waits for whom in a run that stalled. */
struct orr_wait {
    uint32_t rank;
    uint64_t node;     /* its id in the rank's trace */
    const char *what;  /* "message" of a collective, "slot" of a dimension, "receive", "send", "collective" */
    uint32_t peer;     /* the rank waited for; its own for a slot; UINT32_MAX: not one alone */
    uint64_t bytes;    /* of what is waited for; 0: not told */
    uint64_t since_ns; /* when the node began */
    const char *text;  /* one sentence */
};

enum orr_backend orr_run_backend(const struct orr_run *run); /* the network it runs on */
uint32_t orr_run_rank_count(const struct orr_run *run);
uint32_t orr_run_source_count(const struct orr_run *run); /* traces read; fewer than ranks where the job was grown */
uint64_t orr_run_time_ns(const struct orr_run *run);      /* the last rank's finish */
uint64_t orr_run_event_count(const struct orr_run *run);  /* events the engine handled */
uint64_t orr_run_message_count(const struct orr_run *run);
uint64_t orr_run_peak_bytes(const struct orr_run *run); /* most memory the run had at once */

/* How short the run could be at best: lower bounds of the job on the machine, whatever the schedule (docs/run.md). */
struct orr_optimum {
    uint64_t all_ns;       /* at least the largest of the others; 0: not known */
    uint64_t compute_ns;   /* the longest chain with communication for nothing */
    uint64_t bandwidth_ns; /* the busiest rank's bytes over the rate of its links */
    uint64_t latency_ns;   /* the longest chain of communications, each one link's latency */
};
/* Of a run that ended; all 0 otherwise. */
void orr_run_optimum(const struct orr_run *run, struct orr_optimum *optimum);

/* Whether ranks that do the same were carried out once. */
struct orr_symmetry {
    uint32_t classes;     /* of ranks that do the same, as far as that was used: one rank of each was carried out */
    uint32_t carried_out; /* ranks; the others' results follow from theirs */
    bool rings_at_once;   /* phases of rings were worked out, not played message by message */
    const char *because;  /* why it was every rank, as half a sentence; NULL: it was not */
};

void orr_run_symmetry(const struct orr_run *run, struct orr_symmetry *symmetry);
bool orr_run_rank(const struct orr_run *run, uint32_t rank, struct orr_rank_result *result);
uint32_t orr_run_collective_count(const struct orr_run *run);
bool orr_run_collective(const struct orr_run *run, uint32_t index, struct orr_collective_result *result);
uint32_t orr_run_dimension_count(const struct orr_run *run);
bool orr_run_dimension(const struct orr_run *run, uint32_t index, struct orr_dimension_result *result);
bool orr_run_network(const struct orr_run *run, struct orr_network_result *result); /* false: it is not wired */
uint32_t orr_run_link_count(const struct orr_run *run);
bool orr_run_link(const struct orr_run *run, uint32_t index, struct orr_link_result *result);
uint32_t orr_run_interval_count(const struct orr_run *run);
bool orr_run_interval(const struct orr_run *run, uint32_t index, struct orr_interval_result *result);
uint32_t orr_run_finding_count(const struct orr_run *run); /* 0: it did not stall */
bool orr_run_finding(const struct orr_run *run, uint32_t index, struct orr_finding *finding);
uint32_t orr_run_wait_count(const struct orr_run *run); /* that are told; a few hundred at most */
bool orr_run_wait(const struct orr_run *run, uint32_t index, struct orr_wait *wait);

/* What a rank held in memory over time, where the system file asks for it (track-local-mem, or a capacity) and the
 * traces name tensors: docs/memory.md. */
struct orr_memory_result {
    uint64_t capacity_bytes; /* 0: not told */
    uint64_t peak_bytes;
    uint64_t peak_ns;       /* when it was first reached */
    uint64_t initial_bytes; /* of the peak: tensors that were there from the beginning */
    uint64_t over_bytes;    /* the peak less the capacity; 0: it fits */
    uint64_t over_since_ns; /* when it first did not fit */
    uint64_t over_ns;       /* how long it did not, in all */
    uint32_t tensors;       /* that nodes named */
    uint32_t held;          /* of them at the peak */
    uint32_t largest;       /* of these, how many orr_run_memory_tensor has: the largest */
    uint32_t steps;         /* times at which anything came or went */
};
/* A tensor held at the peak. */
struct orr_memory_tensor {
    const char *name; /* valid until orr_run_close */
    uint64_t bytes;
    uint64_t since_ns;
    bool from_beginning; /* no node wrote it */
    uint64_t node;       /* else the id of the one that did */
};
/* What does not fit in the ranks' own memory and where it would go, each figure at its largest. Times do not change. */
struct orr_memory_spill {
    uint32_t ranks;         /* that do not fit; 0: the rest is 0 too */
    uint32_t worst_rank;    /* that is over by most */
    uint64_t since_ns;      /* when the first byte is over */
    uint64_t bytes;         /* of all ranks together */
    uint64_t host_bytes;    /* in the host of one server, host-mem-capacity at most */
    uint64_t pool_bytes;    /* in the pool, pool-mem-capacity at most */
    uint64_t nowhere_bytes; /* in neither */
    uint64_t nowhere_since_ns;
};
/* False, and `result` all 0, where nothing is known. */
bool orr_run_memory(const struct orr_run *run, uint32_t rank, struct orr_memory_result *result);
bool orr_run_memory_tensor(const struct orr_run *run, uint32_t rank, uint32_t index, struct orr_memory_tensor *tensor);
/* From `time_ns` on the rank holds `bytes`. */
bool orr_run_memory_step(const struct orr_run *run, uint32_t rank, uint32_t index, uint64_t *time_ns, uint64_t *bytes);
bool orr_run_memory_spill(const struct orr_run *run, struct orr_memory_spill *spill);

enum orr_output {
    ORR_OUTPUT_TEXT,           /* for people */
    ORR_OUTPUT_ASTRA,          /* ASTRA-sim's lines, without dates */
    ORR_OUTPUT_JSON,           /* one document */
    ORR_OUTPUT_CSV,            /* `path` is a folder: ranks.csv, collectives.csv, dimensions.csv; PACKET: links.csv;
                                * where memory is tracked: memory.csv */
    ORR_OUTPUT_TIMELINE,       /* Chrome's JSON; .pftrace: Perfetto's; DIR/: a file a rank; .gz: packed */
    ORR_OUTPUT_FCT,            /* PACKET: one line a message, as ns-3's fct.txt */
    ORR_OUTPUT_PFC,            /* PACKET: one line a pause or resume received, as ns-3's pfc.txt */
    ORR_OUTPUT_QLEN,           /* PACKET: queues of 1000 B and more, every 100 ns, as ns-3's qlen.txt */
    ORR_OUTPUT_STALL,          /* the diagnosis of a stalled run, for people; nothing when it did not stall */
    ORR_OUTPUT_COMM_INTERVALS, /* CSV: when each communication of each rank was in flight */
    ORR_OUTPUT_LOCAL_MEM,      /* `path` is a prefix: PATH.RANK.json, ASTRA-sim's files of track-local-mem */
    /* Of a SimAI workload (orr_simai_open) that ended. */
    ORR_OUTPUT_SIMAI_CSV,         /* SimAI's EndToEnd.csv */
    ORR_OUTPUT_SIMAI_UTILIZATION, /* SimAI's test1_dimension_utilization_0.csv */
    ORR_OUTPUT_SIMAI_LOG,         /* what SimAI prints of a run, without dates and thread numbers */
    ORR_OUTPUT_SIMAI_FILES,       /* `path` is a folder: the files that SimAI leaves in one */
    ORR_OUTPUT_COLUMNS,           /* the timeline for a page (orrery/report.h), in columns: needs keep_intervals */
    ORR_OUTPUT_MACHINE,           /* the machine drawn with what its links carried, for a page; nothing where there is
                                   * one rank or too many links */
};

/* Where the network configuration of a PACKET run wants FCT, PFC or QLEN written, and the system file's track-local-mem
 * LOCAL_MEM; `ORR_OUTPUT_TEXT`: the topology file that a network configuration names. NULL where there is none. Valid
 * until orr_run_close. */
const char *orr_run_named_file(const struct orr_run *run, enum orr_output output);

/* Writes one output to `path` (a temporary renamed when complete), or to `stream` where `path` is NULL (not what is a
 * folder or several files: CSV, LOCAL_MEM, SIMAI_FILES). */
ORR_MUST_CHECK enum orr_status orr_run_write(const struct orr_run *run, enum orr_output output, const char *path,
                                             FILE *stream, struct orr_error *err);

/* ---- configuration reference ---------------------------------------------------------------------------------- */

/* The tables the readers use, as Markdown or as JSON schema: what docs/config.md is made of. */
ORR_MUST_CHECK enum orr_status orr_config_reference(bool json_schema, FILE *stream, struct orr_error *err);

ORR_END

#endif
