/*
 * Orrery's public interface: simulate a training job on a machine that exists as configuration files, and read what
 * came out. Everything the `orrery` program does goes through the functions declared here.
 *
 * Objects are opaque; whoever gets one from an `_open` call gives it back with the matching `_close`. No function
 * keeps a pointer it was passed unless its comment says so, nothing is global, and separate objects may be used from
 * separate threads at once.
 *
 * A function that can fail returns `enum orr_status`; on failure it fills `struct orr_error` once, with a sentence
 * that names the file, the place, what was found and what would have been accepted. Outputs are written on success
 * only.
 */
#ifndef ORRERY_H
#define ORRERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__)
#define ORR_MUST_CHECK        __attribute__((warn_unused_result))
#define ORR_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define ORR_MUST_CHECK
#define ORR_PRINTF(fmt, args)
#endif

/* What is declared from here on is all that the shared library exports. */
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC visibility push(default)
#endif

/* name, exit code of the program, meaning. Exit codes: 0 done, 1 the run failed, 2 bad usage or input, 3 resource
 * limit, 4 stall. */
#define ORR_STATUSES(X)                                                                                                \
    X(OK, 0, "done")                                                                                                   \
    X(EFAIL, 1, "the run failed")                                                                                      \
    X(EINTR, 1, "interrupted")                                                                                         \
    X(EINVAL, 2, "bad input")                                                                                          \
    X(ERANGE, 2, "value out of range")                                                                                 \
    X(EIO, 2, "a file cannot be read or written")                                                                      \
    X(ENOMEM, 3, "resource limit")                                                                                     \
    X(ESTALL, 4, "the run stalled")

enum orr_status {
#define ORR_X(name, exit_code, text) ORR_##name,
    ORR_STATUSES(ORR_X)
#undef ORR_X
};

/* One line, without a trailing newline; starts with "file:line: " or "file: byte N: " where a file is at fault. */
struct orr_error {
    enum orr_status status;
    char text[1024];
};

const char *orr_version(void);
const char *orr_status_text(enum orr_status status);
int orr_status_exit_code(enum orr_status status);

/* ---- running a simulation ------------------------------------------------------------------------------------- */

/* PACKET and FLOW run on a wired topology; what is said of PACKET below holds for FLOW too where it names no packets.
 */
enum orr_backend { ORR_BACKEND_UNAWARE, ORR_BACKEND_AWARE, ORR_BACKEND_PACKET, ORR_BACKEND_FLOW, ORR_BACKEND_AUTO };
enum orr_policy { ORR_POLICY_ASTRA, ORR_POLICY_SAFE };
enum orr_broadcast { ORR_BROADCAST_REPLAY, ORR_BROADCAST_SIMULATE };
enum orr_compat { ORR_COMPAT_NONE, ORR_COMPAT_ASTRA };
/* Which of several equal ways packets take: that of their message's hash, in turn, the one with the shortest queue. */
enum orr_routing { ORR_ROUTING_ECMP, ORR_ROUTING_SPRAY, ORR_ROUTING_ADAPTIVE };
/* Congestion control; FILE: as the network configuration's CC_MODE says. */
enum orr_congestion {
    ORR_CONGESTION_FILE,
    ORR_CONGESTION_NONE,
    ORR_CONGESTION_DCQCN,
    ORR_CONGESTION_HPCC,
    ORR_CONGESTION_TIMELY,
    ORR_CONGESTION_DCTCP,
    ORR_CONGESTION_PINT,
    ORR_CONGESTION_SWIFT,
    ORR_CONGESTION_CREDIT
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
    const char *parallel; /* how the traced job is split, fastest role first: "tp:2,pp:2,dp:4"; NULL: all of it is dp */
    const char *role;     /* the one that grows; NULL: "dp" */
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

/* What to run. Paths are borrowed until orr_run_open returns. Start from ORR_RUN_OPTIONS_DEFAULT. */
struct orr_run_options {
    const char *workload; /* prefix P: rank R's trace is P.R.et */
    const char *system;   /* system JSON */
    const char *network;  /* network YAML; PACKET: network configuration (KEY value) */
    const char *logical;  /* PACKET: logical topology JSON, or NULL: one dimension of all hosts */
    const char *memory;   /* remote memory JSON, or NULL: no remote memory */
    const char *groups;   /* communicator groups JSON, or NULL */
    enum orr_backend backend;
    enum orr_policy policy;
    enum orr_broadcast broadcast;
    bool missing_is_cpu;     /* nodes without is_cpu_op belong to the CPU, as to ASTRA-sim of HOTI 2024 */
    uint32_t queues_per_dim; /* at least 1 */
    double injection_scale;  /* multiplies the endpoint delay */
    bool rendezvous;
    double jitter;         /* J: each message's delay is multiplied by 1 + J*u, u in [0,1) */
    uint64_t seed;         /* of the jitter */
    uint64_t memory_limit; /* bytes; 0 = none */
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
    const struct orr_growth *growth;      /* or NULL: one trace a rank; borrowed until orr_run_open returns */
    const struct orr_override *overrides; /* borrowed until orr_run_open returns */
    size_t override_count;
    const struct orr_text *texts; /* borrowed until orr_run_open returns */
    size_t text_count;
    /* The traces of `workload`, opened with the same missing_is_cpu; must stay open until orr_run_close. NULL: the run
     * reads its own. */
    const struct orr_workload *loaded;
    struct orr_tuning tuning;
    uint64_t rto_ns;      /* PACKET: after how long what was lost is sent again; 0 = four round trips and 1 ms */
    bool no_fast_forward; /* PACKET: send every packet, even where traffic repeats itself; the results are the same */
    /* Called every so many events, several times a second; a false return ends the run with ORR_EINTR. Called once more
     * at the end, whatever it was, with the final figures; the answer then does not matter. May be NULL. */
    bool (*progress)(void *context, const struct orr_progress *now);
    void *progress_context;
};
#define ORR_RUN_OPTIONS_DEFAULT                                                                                        \
    {                                                                                                                  \
        .queues_per_dim = 1, .injection_scale = 1.0                                                                    \
    }

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

struct orr_rank_result {
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
};

/* All operations of one kind: a collective of one type and size in groups of one size, or sends or receives. */
struct orr_collective_result {
    const char *type; /* "all-reduce", …, "send", "receive"; valid until orr_run_close */
    uint32_t group_size;
    uint64_t bytes; /* of one operation, as the trace says */
    uint64_t count; /* each rank's participation counted */
    uint64_t total_ns, min_ns, max_ns;
};

uint32_t orr_run_rank_count(const struct orr_run *run);
uint32_t orr_run_source_count(const struct orr_run *run); /* traces read; fewer than ranks where the job was grown */
uint64_t orr_run_time_ns(const struct orr_run *run);      /* the last rank's finish */
uint64_t orr_run_event_count(const struct orr_run *run);  /* events the engine handled */
uint64_t orr_run_message_count(const struct orr_run *run);
uint64_t orr_run_transmission_count(const struct orr_run *run); /* PACKET: one packet over one link; else 0 */
uint64_t orr_run_in_flight_most(const struct orr_run *run);     /* PACKET: packets in the network at one time */
uint64_t orr_run_skipped_count(const struct orr_run *run);      /* PACKET: of these, what fast-forward skipped */
uint64_t orr_run_peak_bytes(const struct orr_run *run);         /* most memory the run had at once */
void orr_run_rank(const struct orr_run *run, uint32_t rank, struct orr_rank_result *result);
uint32_t orr_run_collective_count(const struct orr_run *run);
void orr_run_collective(const struct orr_run *run, uint32_t index, struct orr_collective_result *result);

enum orr_output {
    ORR_OUTPUT_TEXT,           /* for people */
    ORR_OUTPUT_ASTRA,          /* ASTRA-sim's lines, without dates */
    ORR_OUTPUT_JSON,           /* one document */
    ORR_OUTPUT_CSV,            /* `path` is a folder: ranks.csv, collectives.csv, dimensions.csv; PACKET: links.csv */
    ORR_OUTPUT_TIMELINE,       /* Chrome trace events; compressed when path ends in .gz */
    ORR_OUTPUT_FCT,            /* PACKET: one line a message, as ns-3's fct.txt */
    ORR_OUTPUT_PFC,            /* PACKET: one line a pause or resume received, as ns-3's pfc.txt */
    ORR_OUTPUT_QLEN,           /* PACKET: queues of 1000 B and more, every 100 ns, as ns-3's qlen.txt */
    ORR_OUTPUT_STALL,          /* the diagnosis of a stalled run, for people; nothing when it did not stall */
    ORR_OUTPUT_COMM_INTERVALS, /* CSV: when each communication of each rank was in flight */
};

/* Where the network configuration of a PACKET run wants FCT, PFC or QLEN written, and `ORR_OUTPUT_TEXT` for the
 * topology file it names; NULL where it names none. Valid until orr_run_close. */
const char *orr_run_named_file(const struct orr_run *run, enum orr_output output);

/* Writes one output to `path` (a temporary renamed when complete), or to `stream` where `path` is NULL (not for CSV and
 * TIMELINE). */
ORR_MUST_CHECK enum orr_status orr_run_write(const struct orr_run *run, enum orr_output output, const char *path,
                                             FILE *stream, struct orr_error *err);

/* ---- warnings --------------------------------------------------------------------------------------------------- */

/* Where a function that repairs, infers, drops or defaults something says so, one line each without a newline. With
 * `strict` the first such line is the error instead. `warn` may be NULL: the lines are then lost. */
struct orr_notices {
    void (*warn)(void *context, const char *line);
    void *context;
    bool strict;
};

/* ---- traces --------------------------------------------------------------------------------------------------- */

struct orr_trace;

/* Reads one Chakra ET file whole, with everything in it. */
ORR_MUST_CHECK enum orr_status orr_trace_open(const char *path, struct orr_trace **trace, struct orr_error *err);
void orr_trace_close(struct orr_trace *trace);

/* One block a node, every attribute with its type. `limit` 0 means all nodes. */
ORR_MUST_CHECK enum orr_status orr_trace_show(const struct orr_trace *trace, uint64_t limit, FILE *stream,
                                              struct orr_error *err);
/* What orr_trace_stat writes, or-ed. */
enum orr_stat {
    ORR_STAT_JSON = 1,       /* one JSON object instead of text */
    ORR_STAT_PROVENANCE = 2, /* also how the types and sizes of communication were known, and its bytes by step */
};

/* Counts, bytes per collective, critical path; `what` is of enum orr_stat. */
ORR_MUST_CHECK enum orr_status orr_trace_stat(const struct orr_trace *trace, unsigned what, FILE *stream,
                                              struct orr_error *err);
/* Writes one line per finding, naming node ids, and stores how many there were. */
ORR_MUST_CHECK enum orr_status orr_trace_check(const struct orr_trace *trace, FILE *stream, uint64_t *findings,
                                               struct orr_error *err);
/* Writes the trace back, unknown fields included. */
ORR_MUST_CHECK enum orr_status orr_trace_write(const struct orr_trace *trace, const char *path, struct orr_error *err);

/* ---- looking at recordings --------------------------------------------------------------------------------------- */

/* Paths and lists are borrowed for the call. All zero but the folder is fine. */
struct orr_ready_options {
    const char *folder;      /* as of struct orr_import_options */
    const char *const *tags; /* which runs; count 0 = all of the folder */
    size_t tag_count;
    const uint32_t *ranks; /* which ranks; count 0 = all that are there */
    uint32_t rank_count;
    bool compare;          /* runs side by side */
    bool brief;            /* findings and verdict alone */
    bool json;             /* one JSON object instead of text */
    const char *writes;    /* where the caller will put the report: refused when it is a file that is read; or NULL */
    uint64_t memory_limit; /* bytes; 0 = none. What is needed does not grow with the files */
};

/* Whether recordings can be imported and simulated, what is missing in them, and with what to record again
 * (docs/import.md). The report goes to `stream`, which may be NULL. `*usable`: no run has a fault. */
ORR_MUST_CHECK enum orr_status orr_trace_ready(const struct orr_ready_options *options, FILE *stream, bool *usable,
                                               struct orr_error *err);

/* ---- linking PyTorch traces ------------------------------------------------------------------------------------- */

/* Paths are borrowed for the call. Start from ORR_LINK_OPTIONS_DEFAULT. */
struct orr_link_options {
    const char *host;      /* execution trace; may be NULL without compat_chakra */
    const char *device;    /* Kineto trace; may be NULL without compat_chakra. Both plain, gzip or zstd */
    const char *output;    /* linked trace, JSON; packed when the name ends in .gz or .zst */
    int64_t rank;          /* of the recording; -1: as the device trace says. Chakra's linker does not use it */
    uint64_t memory_limit; /* bytes; 0 = none */
    bool compat_chakra;    /* the bytes Chakra's own linker writes */
};
#define ORR_LINK_OPTIONS_DEFAULT                                                                                       \
    {                                                                                                                  \
        .rank = -1                                                                                                     \
    }

struct orr_link_summary {
    uint64_t host_nodes;        /* in the host trace */
    uint64_t matched;           /* of these: found in the device trace */
    uint64_t device_nodes;      /* kernels and copies (and sets, without compat_chakra) in the linked trace */
    uint64_t unlinked;          /* without a launching call: dropped with compat_chakra, else kept in stream order */
    uint64_t sync_dependencies; /* nodes that wait for kernels (compat_chakra), else waits recorded and inferred */
};

/* Makes one trace of a host and a device trace of the same run. The output is complete or not touched. `notices` may be
 * NULL. */
ORR_MUST_CHECK enum orr_status orr_trace_link(const struct orr_link_options *options, const struct orr_notices *notices,
                                              struct orr_link_summary *summary, struct orr_error *err);

/* ---- converting traces ------------------------------------------------------------------------------------------ */

/* name, word on the command line, what it is. */
#define ORR_FORMATS(X)                                                                                                 \
    X(PYTORCH, "pytorch", "linked trace (orrery trace link, Chakra's HDT) or host execution trace")                    \
    X(TENSORFLOW, "tensorflow", "TensorBoard or JAX profiler trace")                                                   \
    X(HOROVOD, "horovod", "Horovod timeline")                                                                          \
    X(TEXT, "text", "ASTRA-sim 1.0 workload text")                                                                     \
    X(SIMAI, "simai", "SimAI workload text, as AICB writes it")                                                        \
    X(GOAL, "goal", "LogGOPSim GOAL text")                                                                             \
    X(JSON, "json", "Chakra graph as JSON")                                                                            \
    X(CSV, "csv", "table of operations of your own")
#define ORR_FORMAT_LIST "pytorch, tensorflow, horovod, text, simai, goal, json, csv"

enum orr_format {
    ORR_FORMAT_AUTO, /* by the file's content */
#define ORR_X(name, word, text) ORR_FORMAT_##name,
    ORR_FORMATS(ORR_X)
#undef ORR_X
};

/* Paths and texts are borrowed for the call. Start from ORR_CONVERT_OPTIONS_DEFAULT. */
struct orr_convert_options {
    enum orr_format format;
    const char *input;     /* plain, gzip or zstd */
    const char *output;    /* an ET file; of formats that make several ranks, PREFIX of PREFIX.R.et */
    const char *map;       /* csv: "id=COLUMN,name=COLUMN,…"; NULL = by the header's names */
    uint64_t unknown_size; /* bytes for a communication whose size is not known; only with has_unknown_size */
    uint64_t memory_limit; /* bytes; 0 = none */
    uint32_t ranks;        /* 0 = as the input says */
    uint32_t passes;       /* text, simai: how often the workload is repeated; at least 1 */
    bool has_unknown_size; /* without it an unknown size is an error */
    bool compat_chakra;    /* pytorch, text: the bytes Chakra's own converter writes */
    FILE *replay;          /* pytorch with compat_chakra: what Chakra's --simulate logs goes here; or NULL */
};
#define ORR_CONVERT_OPTIONS_DEFAULT                                                                                    \
    {                                                                                                                  \
        .passes = 1                                                                                                    \
    }

struct orr_convert_summary {
    enum orr_format format; /* what the input was read as */
    uint32_t files;
    uint64_t nodes; /* over all files */
    uint64_t compute, collectives, sends, recvs;
    uint64_t comm_bytes;
};

/* Writes Chakra ET files, complete or not at all. `notices` may be NULL. Options that the
 * format does not know are errors. */
ORR_MUST_CHECK enum orr_status orr_trace_convert(const struct orr_convert_options *options,
                                                 const struct orr_notices *notices, struct orr_convert_summary *summary,
                                                 struct orr_error *err);

const char *orr_format_name(enum orr_format format); /* the word on the command line; "auto" */

/* The name of the file that a conversion wrote for `rank`, cut to `size` bytes with its end. */
void orr_convert_path(const struct orr_convert_options *options, const struct orr_convert_summary *summary,
                      uint32_t rank, char *path, size_t size);

/* ---- importing recordings ---------------------------------------------------------------------------------------- */

/* Paths and lists are borrowed for the call. Start from ORR_IMPORT_OPTIONS_DEFAULT. */
struct orr_import_options {
    const char *folder;    /* with host_R.json, device_R.json …, R a rank */
    const char *prefix;    /* files are PREFIX.R.et, and PREFIX.groups.json where there are process groups */
    const char *tag;       /* of host_R_TAG.json, where the folder has several runs; or NULL */
    const uint32_t *ranks; /* which ranks; count 0 = all that are there */
    const int64_t *steps;  /* pairs of first and last step to keep; count 0 = everything */
    uint64_t unknown_size; /* bytes for a communication whose size is not known; only with has_unknown_size */
    uint64_t memory_limit; /* bytes; 0 = none */
    uint32_t rank_count;
    uint32_t step_pair_count;
    uint32_t jobs;         /* ranks worked on at once; 0 = one a processor */
    bool has_unknown_size; /* without it an unknown size is an error */
    bool drop_gaps;        /* leave out host time between ops */
    bool drop_cpu;         /* leave out host ops; order between what is left survives, host time does not */
};
#define ORR_IMPORT_OPTIONS_DEFAULT                                                                                     \
    {                                                                                                                  \
        .folder = NULL                                                                                                 \
    }

/* Links and converts every rank's PyTorch recording; writes all files or none, and a report for people to `stream`,
 * which may be NULL. `notices` may be NULL. */
ORR_MUST_CHECK enum orr_status orr_trace_import(const struct orr_import_options *options,
                                                const struct orr_notices *notices, FILE *stream, struct orr_error *err);

/* ---- tools on traces ----------------------------------------------------------------------------------------------
 */

/* One trace to read and one to write. A tool writes all of its outputs or none. `output` NULL: nothing is written, only
 * counted; it may be the input itself. Inputs are plain, gzip or zstd; an output is packed when its name ends in .gz or
 * .zst. What a tool does not change comes out as it was, byte for byte. `notices` may be NULL in all of them; `stream`
 * gets a report for people. */
struct orr_edit {
    const char *input;
    const char *output;
};

enum orr_fix_cpu {
    ORR_FIX_CPU_KEEP,
    ORR_FIX_CPU_DROP,  /* CPU compute nodes go; who waited for them waits for what they waited for */
    ORR_FIX_CPU_MERGE, /* rows of them become one node each that lasts as long */
};

struct orr_fix_options {
    enum orr_fix_cpu cpu;
    bool has_unknown_size; /* without it a missing size is an error */
    uint64_t unknown_size; /* bytes */
    bool renumber;         /* an id used twice gets a new one; without it that is an error */
    uint64_t memory_limit; /* bytes; 0 = none */
};

/* Repairs traces until orr_trace_check finds nothing: docs/trace-tools.md says how. In strict notices the first finding
 * is the error. */
ORR_MUST_CHECK enum orr_status orr_trace_fix(const struct orr_edit *edits, size_t count,
                                             const struct orr_fix_options *options, const struct orr_notices *notices,
                                             FILE *stream, struct orr_error *err);

enum orr_simplify {
    ORR_SIMPLIFY_COMM,  /* communication only */
    ORR_SIMPLIFY_STEP,  /* one node for each kind of work in each step */
    ORR_SIMPLIFY_MERGE, /* rows of compute become one node each */
};

ORR_MUST_CHECK enum orr_status orr_trace_simplify(const struct orr_edit *edits, size_t count, enum orr_simplify level,
                                                  uint64_t memory_limit, const struct orr_notices *notices,
                                                  FILE *stream, struct orr_error *err);

/* Runs two workloads (prefixes) on the machine that `machine` describes, whose own workload is not looked at, and
 * reports both times and the difference. */
ORR_MUST_CHECK enum orr_status orr_trace_measure(const char *before, const char *after,
                                                 const struct orr_run_options *machine,
                                                 const struct orr_notices *notices, FILE *stream,
                                                 struct orr_error *err);

/* Patterns match names: a shell pattern for all of a name, or between slashes a POSIX extended regular expression for
 * some part of it. NULL: every name. */
struct orr_scale_options {
    const char *compute;   /* factor: "2", "1.5", "127/64"; NULL = 1 */
    const char *comm;      /* the same for the bytes of communication */
    const char *match;     /* only nodes of such names */
    uint64_t memory_limit; /* bytes; 0 = none */
};

ORR_MUST_CHECK enum orr_status orr_trace_scale(const struct orr_edit *edits, size_t count,
                                               const struct orr_scale_options *options,
                                               const struct orr_notices *notices, FILE *stream, struct orr_error *err);

struct orr_rewrite_options {
    const char *match;     /* only communication nodes of such names */
    const char *from_type; /* only collectives of this type; NULL = all, and sends and receives */
    const char *type;      /* the type they get; NULL = as it is */
    const char *group;     /* the pg_name they get, "" for none; NULL = as it is */
    bool set_bytes;
    uint64_t bytes;        /* the comm_size they get */
    uint64_t memory_limit; /* bytes; 0 = none */
};

ORR_MUST_CHECK enum orr_status orr_trace_rewrite(const struct orr_edit *edits, size_t count,
                                                 const struct orr_rewrite_options *options,
                                                 const struct orr_notices *notices, FILE *stream,
                                                 struct orr_error *err);

/* Keeps the nodes of steps `first` to `last`. */
ORR_MUST_CHECK enum orr_status orr_trace_cut(const struct orr_edit *edits, size_t count, int64_t first, int64_t last,
                                             uint64_t memory_limit, const struct orr_notices *notices, FILE *stream,
                                             struct orr_error *err);

/* Traces of one rank made into one: one after the other, or side by side. */
ORR_MUST_CHECK enum orr_status orr_trace_merge(const char *const *inputs, size_t count, const char *output,
                                               bool parallel, uint64_t memory_limit, const struct orr_notices *notices,
                                               FILE *stream, struct orr_error *err);

struct orr_diff_options {
    bool by_name;          /* nodes are the same by name and order instead of by id */
    double tolerance;      /* share by which durations may differ */
    uint64_t limit;        /* differences to write out; 0 = all. All are counted */
    bool json;             /* one JSON object instead of text */
    uint64_t memory_limit; /* bytes; 0 = none */
};

/* Writes how two traces differ and stores whether they do not. */
ORR_MUST_CHECK enum orr_status orr_trace_diff(const char *before, const char *after,
                                              const struct orr_diff_options *options, FILE *stream, bool *same,
                                              struct orr_error *err);

enum orr_export { ORR_EXPORT_JSON, ORR_EXPORT_DOT, ORR_EXPORT_GRAPHML, ORR_EXPORT_GOAL };

struct orr_export_options {
    const char *input; /* a trace; for GOAL the prefix of all ranks' traces */
    enum orr_export format;
    const char *groups;    /* GOAL: communicator groups JSON, or NULL */
    const char *output;    /* packed when the name ends in .gz or .zst; NULL: to `stream` */
    uint64_t memory_limit; /* bytes; 0 = none */
};

ORR_MUST_CHECK enum orr_status orr_trace_export(const struct orr_export_options *options,
                                                const struct orr_notices *notices, FILE *stream, struct orr_error *err);

/* ---- composing a job of several traces ---------------------------------------------------------------------------
 */

/*
 * A data-parallel job made of the traces of one tensor-parallel group: every rank reduces the gradients of its shard,
 * in buckets, with the ranks of its place in the other replicas (docs/trace-tools.md). Texts are borrowed for the call.
 * Start from ORR_COMPOSE_OPTIONS_DEFAULT.
 */
struct orr_compose_options {
    const char *input;           /* prefix of the traces, or a folder with those of one job */
    const char *output;          /* prefix; PREFIX.R.et and PREFIX.groups.json. NULL: nothing is written, only told */
    uint32_t tp, dp;             /* degrees of the job that is made */
    uint32_t trace_tp;           /* degree of the traced one; 0: as many as there are traces */
    uint64_t params;             /* of the whole model; or: */
    uint64_t gradient_bytes;     /* of one rank; without either, as model_info_TAG.json beside the traces says */
    const char *dtype;           /* of a gradient: "fp32", "bf16", …; NULL: fp32 with params, bytes without */
    uint64_t bucket_bytes;       /* 0: 25 MiB */
    uint64_t first_bucket_bytes; /* 0: as the others */
    uint32_t buckets;            /* so many equal ones, in place of a size */
    const char *backward;        /* pattern, as in orr_scale_options, of the names of backward work; NULL: by rule */
    bool no_overlap;             /* all buckets after the last compute */
    bool write_all;              /* the traces of all ranks, not those of one replica alone */
    uint64_t memory_limit;       /* bytes; 0 = none */
};
#define ORR_COMPOSE_OPTIONS_DEFAULT                                                                                    \
    {                                                                                                                  \
        .dp = 1                                                                                                        \
    }

/* Without write_all the traces are those of the first replica, and groups of one rank stand for the data-parallel ones:
 * a run that grows "tp:TP,dp:1" makes the rest in memory. A report for people goes to `stream`, which may be NULL;
 * `notices` may be NULL. */
ORR_MUST_CHECK enum orr_status orr_trace_compose(const struct orr_compose_options *options,
                                                 const struct orr_notices *notices, FILE *stream,
                                                 struct orr_error *err);

/* ---- making traces -------------------------------------------------------------------------------------------- */

enum orr_pattern {
    ORR_PATTERN_COLLECTIVE, /* one collective on every rank */
    ORR_PATTERN_THREE_NODE, /* an all-reduce, then an all-gather of twice the size and beside it a compute node */
};

struct orr_gen_options {
    enum orr_pattern pattern;
    const char *type;    /* "all-reduce", "all-gather", "reduce-scatter", "all-to-all", … (COLLECTIVE) */
    uint64_t bytes;      /* of the (first) collective */
    uint64_t compute_us; /* of the compute node (THREE_NODE) */
    uint32_t npus;       /* ranks to write */
    const char *prefix;  /* files are PREFIX.RANK.et; missing folders are made */
};

ORR_MUST_CHECK enum orr_status orr_gen(const struct orr_gen_options *options, struct orr_error *err);

/* Data-parallel training steps; docs/gen.md. */
struct orr_ddp_options {
    const char *model;           /* one of orr_ddp_models, or NULL: `params` of which no more is known */
    uint64_t params;             /* elements of the gradient; 0 with a model */
    uint64_t element_bytes;      /* 4: single precision */
    uint64_t first_bucket_bytes; /* a bucket is closed by the gradient that brings it to its limit */
    uint64_t bucket_bytes;
    uint64_t forward_us, backward_us, optimizer_us;
    uint64_t steps; /* at least 1 */
    uint32_t npus;
    const char *prefix; /* files are PREFIX.RANK.et; missing folders are made */
};

struct orr_ddp_summary {
    uint64_t bytes; /* of the gradient: of one step's all-reduces together */
    uint64_t first_bytes;
    uint32_t buckets;
};

const char *const *orr_ddp_models(void); /* NULL after the last */
const char *orr_ddp_model_text(const char *model);
ORR_MUST_CHECK enum orr_status orr_gen_ddp(const struct orr_ddp_options *options, struct orr_ddp_summary *summary,
                                           struct orr_error *err);

/* ---- AICB's workloads -------------------------------------------------------------------------------------------- */

enum orr_aicb_kind {
    ORR_AICB_TRAINING,  /* SimAI's text of a training step: Megatron, DeepSeek */
    ORR_AICB_INFERENCE, /* SimAI's text of a forward pass: DeepSeek, Qwen3 */
    ORR_AICB_VIDUR,     /* the same as a table for Vidur */
    ORR_AICB_PHYSICAL,  /* a table of every collective and product: Megatron, DeepSeek, DeepSpeed, a sweep */
};

/* One option of a generator, for a command line or a form. */
struct orr_aicb_option {
    const char *name;           /* "world_size"; '-' and '_' are the same everywhere */
    const char *value;          /* what a value is: "N", "WORD", "TEXT", "FILE", "DIR"; NULL for a flag */
    const char *const *choices; /* of a WORD, NULL-terminated */
    const char *help;           /* one sentence, without a full stop */
    char fallback[24];          /* the value when it is not set; empty where there is none */
    bool affects;               /* changes this generator's file */
    bool ours;                  /* not an option of AICB */
};

/* Option `index` of a generator; false behind the last. */
bool orr_aicb_option(enum orr_aicb_kind kind, unsigned index, struct orr_aicb_option *option);
/* The option that the first `length` bytes of `word` name, whole or by a beginning that only one name has. */
bool orr_aicb_option_find(enum orr_aicb_kind kind, const char *word, size_t length, struct orr_aicb_option *option);

/* One line a model that "model" accepts. */
void orr_aicb_models(FILE *stream);

struct orr_aicb;

/* With `compat` the file has AICB's bytes, counting errors included, and what AICB fails at is an error. */
ORR_MUST_CHECK enum orr_status orr_aicb_open(enum orr_aicb_kind kind, bool compat, struct orr_aicb **aicb,
                                             struct orr_error *err);
void orr_aicb_close(struct orr_aicb *aicb); /* NULL is fine */

/* `value` is NULL for a flag. Both are copied. */
ORR_MUST_CHECK enum orr_status orr_aicb_set(struct orr_aicb *aicb, const char *name, const char *value,
                                            struct orr_error *err);

/* Writes the workload to `path`, or under AICB's own name into it where it is a folder or ends in '/'; missing folders
 * are made. `path` NULL: into the folder that the option result_dir names, with `compat` else results/workload.
 * `notices` may be NULL. */
ORR_MUST_CHECK enum orr_status orr_aicb_write(struct orr_aicb *aicb, const char *path,
                                              const struct orr_notices *notices, struct orr_error *err);
/* Where the last call wrote; NULL before that. */
const char *orr_aicb_path(const struct orr_aicb *aicb);

/* ---- symbolic tensor graphs ----------------------------------------------------------------------------------- */

/* Traces of a training step from sheets of symbolic tensors (docs/stg.md). DENSE is LLAMA, except as the original has
 * it. */
enum orr_stg_model { ORR_STG_DENSE, ORR_STG_LLAMA, ORR_STG_GPT, ORR_STG_MOE };

struct orr_stg_options {
    const char *output_dir;  /* made where missing */
    const char *output_name; /* "%d" in it is the rank; without one, ".%d.et" is appended */
    const char *sheets;      /* folder of STG's spreadsheets; NULL: our own */
    enum orr_stg_model model;
    bool compat;               /* the original's graph, with its errors: sizes in elements, and more */
    uint32_t dp, tp, pp;       /* degrees of data, tensor and pipeline parallelism */
    uint32_t sp, ep;           /* of context (sequence) and expert parallelism; without experts ep multiplies tp */
    bool weight_sharded;       /* FSDP: weights and gradients are split over dp */
    bool activation_recompute; /* blocks are computed again in the backward pass */
    bool tpsp;                 /* tp splits the sequence between attention and MLP */
    bool mixed_precision;
    uint32_t vocabulary, hidden, ffn, seq, heads, kv_heads, layers, experts, top_k;
    uint32_t batch;
    uint32_t micro_batch;    /* 0: the batch */
    uint32_t element_bytes;  /* 0: 4, or 2 with mixed precision */
    uint32_t tag_base;       /* tag of the first message */
    bool fold_micro_batches; /* micro-batches are copies of nodes that share nothing, not even gradients */
    bool merge_comms;        /* a collective that feeds another of its type is left out (compat only) */
    bool legacy_attr;        /* comm_group in place of pg_name */
    uint64_t memory_limit;   /* bytes; 0 = none */
};
#define ORR_STG_OPTIONS_DEFAULT                                                                                        \
    {                                                                                                                  \
        .dp = 1, .tp = 1, .pp = 1, .sp = 1, .ep = 1, .tpsp = true, .vocabulary = 32000, .hidden = 8192, .ffn = 28672,  \
        .seq = 1024, .heads = 64, .kv_heads = 8, .layers = 80, .experts = 8, .top_k = 2, .batch = 64                   \
    }

/* What a rank of one stage keeps in memory, in bytes. */
struct orr_stg_memory {
    double weights, optimizer, activations, gradients;
};

struct orr_stg_result {
    uint32_t ranks, stages, groups;
    uint64_t nodes, bytes;         /* of all traces */
    struct orr_stg_memory *memory; /* by stage */
};

/* Writes a trace for each rank and the file of communicator groups: output_name without ".%d", ".et" as ".json". */
ORR_MUST_CHECK enum orr_status orr_gen_stg(const struct orr_stg_options *options, const struct orr_notices *notices,
                                           struct orr_stg_result *result, struct orr_error *err);
void orr_stg_result_free(struct orr_stg_result *result);

/* ---- pictures of traces ----------------------------------------------------------------------------------------- */

struct orr_view_options {
    uint32_t limit; /* boxes to draw at most (.svg, .html, .pdf); 0 = all */
    bool unfolded;  /* one box a node, instead of one for a chain of compute nodes */
};
#define ORR_VIEW_OPTIONS_DEFAULT                                                                                       \
    {                                                                                                                  \
        .limit = 4000                                                                                                  \
    }

/* Draws the Chakra ET file `trace` into `path`, whose ending says what is made: .svg, .html, .pdf, .dot, .graphml. */
ORR_MUST_CHECK enum orr_status orr_trace_view(const char *trace, const struct orr_view_options *options,
                                              const char *path, struct orr_error *err);

/* ---- recording scripts ---------------------------------------------------------------------------------------- */

enum orr_framework { ORR_FRAMEWORK_PYTORCH, ORR_FRAMEWORK_TENSORFLOW, ORR_FRAMEWORK_HOROVOD };
enum orr_vendor { ORR_VENDOR_NVIDIA, ORR_VENDOR_AMD };

/* A Python script that records a job of this framework on this vendor's devices. */
ORR_MUST_CHECK enum orr_status orr_recipe(enum orr_framework framework, enum orr_vendor vendor, FILE *stream,
                                          struct orr_error *err);

/* ---- Chakra's small tools, with the originals' outputs -------------------------------------------------------- */

/* Every record of an ET file as protobuf's JSON, one right behind the other. `notices` may be NULL, here and below. */
ORR_MUST_CHECK enum orr_status orr_chakra_jsonize(const char *input, const char *output,
                                                  const struct orr_notices *notices, struct orr_error *err);

/* The graph of an ET file, by the suffix of `output`: .graphml; .dot and .pdf, laid out by Graphviz's program dot. With
 * `source`, a .dot is Graphviz source and needs no Graphviz. */
ORR_MUST_CHECK enum orr_status orr_chakra_visualize(const char *input, const char *output, bool source,
                                                    const struct orr_notices *notices, struct orr_error *err);

struct orr_chakra_generator {
    const char *folder;    /* NULL = the working folder */
    uint32_t npus;         /* ranks to write */
    uint64_t runtime_us;   /* of compute nodes */
    uint64_t tensor_bytes; /* of memory, send and receive nodes */
    uint64_t comm_bytes;   /* of collectives */
};
#define ORR_CHAKRA_GENERATOR_DEFAULT                                                                                   \
    {                                                                                                                  \
        .npus = 64, .runtime_us = 5, .tensor_bytes = 1024, .comm_bytes = 65536                                         \
    }

/* Fourteen families of tiny traces, FOLDER/FAMILY.RANK.et. */
ORR_MUST_CHECK enum orr_status orr_chakra_generate(const struct orr_chakra_generator *options, struct orr_error *err);

struct orr_chakra_timeline {
    const char *input;      /* lines "issue,…" and "callback,…" */
    const char *output;     /* JSON for Chrome's viewer */
    uint32_t npus;          /* ranks of the system */
    uint64_t frequency_mhz; /* of the clock the log counts in */
};

ORR_MUST_CHECK enum orr_status orr_chakra_timeline(const struct orr_chakra_timeline *options, struct orr_error *err);

/* ---- recorded timelines --------------------------------------------------------------------------------------- */

/*
 * When what ran, as recorded in `count` traces (the start times and durations of their nodes): Chrome trace events, one
 * process a trace, compressed when `path` ends in .gz. ORR_EINVAL when a trace has no times.
 */
ORR_MUST_CHECK enum orr_status orr_trace_timeline(const char *const *traces, size_t count, const char *path,
                                                  struct orr_error *err);

/* ---- machines as they are wired ------------------------------------------------------------------------------- */

/* What can be set of a generated machine: name, value, meaning. Which of them a machine takes, and what they are where
 * nothing is said, orr_topo_list tells. Lists name one value a level or dimension, from the GPUs up; the last one holds
 * for the rest. */
#define ORR_TOPO_SETTINGS(X)                                                                                           \
    X(HOSTS, "hosts", "N", "GPUs")                                                                                     \
    X(NODES, "nodes", "N", "Servers or racks")                                                                         \
    X(DIMS, "dims", "AxBxC", "GPUs along each dimension; the first varies fastest")                                    \
    X(TWIST, "twist", "D:E:S",                                                                                         \
      "The link that closes dimension D also moves S along dimension E; a comma between more")                         \
    X(DIRECT, "direct", NULL, "GPUs are joined without a switch each; on packet networks only neighbours then talk")   \
    X(LEVELS, "levels", "N", "Levels of switches")                                                                     \
    X(ARITY, "arity", "K", "Ports of a switch")                                                                        \
    X(LEAVES, "leaves", "N", "Switches of the first level")                                                            \
    X(PER_LEAF, "per-leaf", "N", "GPUs (NICs) on one switch of the first level")                                       \
    X(SPINES, "spines", "N", "Switches of the second level")                                                           \
    X(LEAVES_PER_SPINE, "leaves-per-spine", "N", "Ports of a switch of the second level")                              \
    X(OVERSUBSCRIPTION, "oversubscription", "R:1", "Bandwidth below the first level over that above it")               \
    X(GROUPS, "groups", "N", "Groups of routers")                                                                      \
    X(ROUTERS, "routers", "N", "Routers in a group")                                                                   \
    X(PER_ROUTER, "per-router", "N", "GPUs on a router")                                                               \
    X(GLOBAL_LINKS, "global-links", "N", "Links of a router to other groups")                                          \
    X(GPUS_PER_NODE, "gpus-per-node", "N", "GPUs in a server")                                                         \
    X(NVSWITCHES, "nvswitches", "N", "NVSwitch nodes in a server")                                                     \
    X(GPU_TYPE, "gpu-type", "NAME", "What SimAI's form of the file says the GPUs are")                                 \
    X(BANDWIDTH, "bandwidth", "RATE,...", "Of the network's links: 400Gbps, 50GB/s; bare: Gbps")                       \
    X(LATENCY, "latency", "TIME,...", "Of the network's links: 500ns, 1us; bare: us")                                  \
    X(SPINE_BANDWIDTH, "spine-bandwidth", "RATE", "Of links between switches")                                         \
    X(HOST_BANDWIDTH, "host-bandwidth", "RATE", "Of a GPU's link to its own switch")                                   \
    X(HOST_LATENCY, "host-latency", "TIME", "Of a GPU's link to its own switch")                                       \
    X(NVLINK_BANDWIDTH, "nvlink-bandwidth", "RATE", "Of links in a server, one direction: NVLink, xGMI, PCIe")         \
    X(NVLINK_LATENCY, "nvlink-latency", "TIME", "Of links in a server")                                                \
    X(LOSS, "loss", "SHARE", "Of packets lost on every link, 0 to 1")                                                  \
    X(RAIL_OPTIMIZED, "rail-optimized", NULL, "GPU k of every server is on the k-th switch of its segment")            \
    X(DUAL_TOR, "dual-tor", NULL, "Two NIC ports a GPU, each on a switch of its own")                                  \
    X(DUAL_PLANE, "dual-plane", NULL, "The two switches of dual-tor have spines of their own")

struct orr_topo_setting {
    const char *name;  /* of ORR_TOPO_SETTINGS */
    const char *value; /* "" for one that takes none */
};

/* A wired machine: hosts (the GPUs), switches, links. */
struct orr_topo;

/* `what` is a machine's name (orr_topo_list) or a line such as "dgx-h100:16 > rail:400Gbps > spine:8"
 * (docs/topologies.md). A setting the machine does not take is an error. `notices` may be NULL. */
ORR_MUST_CHECK enum orr_status orr_topo_make(const char *what, const struct orr_topo_setting *settings, size_t count,
                                             const struct orr_notices *notices, struct orr_topo **topo,
                                             struct orr_error *err);
/* Reads a physical topology file of either form. */
ORR_MUST_CHECK enum orr_status orr_topo_open(const char *path, const struct orr_notices *notices,
                                             struct orr_topo **topo, struct orr_error *err);
void orr_topo_close(struct orr_topo *topo); /* NULL is fine */

/* The machines that can be made by name, with what each of them takes; `name` NULL: a line each. */
ORR_MUST_CHECK enum orr_status orr_topo_list(const char *name, FILE *stream, struct orr_error *err);

struct orr_topo_counts {
    uint32_t hosts, nvswitches, switches, links;
    uint32_t leaves, spines, segments; /* of SimAI's templates; else 0 */
};
void orr_topo_count(const struct orr_topo *topo, struct orr_topo_counts *counts);
/* The file name that SimAI's generator gives one of its templates; "" for all other machines. */
const char *orr_topo_name(const struct orr_topo *topo);

/* The two forms of a physical topology file; DEFAULT: SimAI's for its own templates, else ASTRA-sim's. */
enum orr_topo_form { ORR_TOPO_DEFAULT, ORR_TOPO_ASTRA, ORR_TOPO_SIMAI };

struct orr_topo_write_options {
    enum orr_topo_form form;
    bool both_directions; /* each link a second time, the other way round, as some generators have it */
    const char *logical;  /* also the logical topology, JSON; NULL: no */
    FILE *stream;         /* where to write it when `path` is NULL */
};
/* Only of a machine that was made: ORR_EINVAL for one that was read. */
ORR_MUST_CHECK enum orr_status orr_topo_write(const struct orr_topo *topo, const char *path,
                                              const struct orr_topo_write_options *options, struct orr_error *err);

/* Counts, degrees, distances, ways, bisection; how each is computed is in docs/topologies.md. */
ORR_MUST_CHECK enum orr_status orr_topo_stat(struct orr_topo *topo, bool json, FILE *stream, struct orr_error *err);
/* One line a finding, naming lines of the file and nodes; stores how many there were. */
ORR_MUST_CHECK enum orr_status orr_topo_check(const char *path, FILE *stream, uint64_t *findings,
                                              struct orr_error *err);
/* A picture (SVG) to `path`, or where it is NULL a text, level by level, to `stream`. `dims` ("4x4x8", or NULL) says
 * the dimensions of a grid that cannot be told from its links. */
ORR_MUST_CHECK enum orr_status orr_topo_show(struct orr_topo *topo, const char *dims, const char *path, FILE *stream,
                                             struct orr_error *err);

/* ---- SimAI's analytical mode ----------------------------------------------------------------------------------- */

/*
 * An iteration of a SimAI workload text by arithmetic alone: size over bandwidth for every collective. Bandwidths are
 * in GB/s with GB = 2^30 bytes, overlaps shares from 0 to 1. 0 and NULL: not given. Start from
 * ORR_SIMAI_ANALYTICAL_DEFAULT. Texts are borrowed for the call.
 */
struct orr_simai_analytical {
    const char *workload;
    uint32_t gpus, gpus_per_server, nics_per_server;
    double nvlink, nic;       /* of a GPU, of a NIC */
    const char *gpu_type;     /* A100, A800, H100, H800, H20: NVLink's bandwidth, where it is not given */
    const char *nic_type;     /* cx6, cx7, bf3: the NIC's, where it is not given; NULL: cx7 */
    const char *busbw;        /* file of measured bus bandwidths, which go before all of these; or NULL */
    const char *ratio_folder; /* with SimAI's tables of achieved bandwidth; NULL: where SimAI looks, else without */
    double tp_overlap, dp_overlap, ep_overlap, pp_overlap;
    const char *csv[2];    /* where to write SimAI's table; NULL: not */
    const char *chart;     /* where to write a page with a chart; NULL: not */
    const char *label;     /* of table and page; NULL: the workload */
    bool japanese;         /* labels of the chart */
    bool compat;           /* SimAI's numbers, slips included */
    uint64_t memory_limit; /* bytes; 0 = none */
};
#define ORR_SIMAI_ANALYTICAL_DEFAULT                                                                                   \
    {                                                                                                                  \
        .pp_overlap = 1.0                                                                                              \
    }

/* Counts, writes the files, and a report for people to `stream` unless that is NULL. Warnings: tables that are missing,
 * rows that are missing, collectives that are not counted. */
ORR_MUST_CHECK enum orr_status orr_simai_analytical(const struct orr_simai_analytical *options,
                                                    const struct orr_notices *notices, FILE *stream,
                                                    struct orr_error *err);

/* ---- SimAI's simulation ----------------------------------------------------------------------------------------- */

/*
 * A SimAI workload text on a wired machine, every message of every collective. Start from ORR_SIMAI_SIMULATION_DEFAULT.
 * Paths are borrowed until orr_simai_open returns.
 */
struct orr_simai_simulation {
    const char *workload;     /* as AICB writes it */
    const char *topology;     /* SimAI's form of the file */
    const char *config;       /* SimAI.conf */
    enum orr_backend backend; /* PACKET, FLOW or AUTO */
    uint64_t send_latency_ns; /* before a message starts: AS_SEND_LAT; only with has_send_latency */
    bool has_send_latency;    /* without it: 6 us, and 6 ms with compat */
    bool nvls, pxn;           /* AS_NVLS_ENABLE, AS_PXN_ENABLE */
    bool compat;              /* as SimAI 1.6: no pipeline, no expert groups without tensor parallelism … */
    bool strict;              /* warnings become errors */
    bool keep_flows;          /* needed for ORR_SIMAI_FCT and ORR_SIMAI_PFC */
    bool keep_intervals;      /* needed for ORR_SIMAI_TIMELINE */
    bool no_fast_forward;     /* as in orr_run_options */
    uint64_t memory_limit;    /* bytes; 0 = none */
    bool (*progress)(void *context, const struct orr_progress *now); /* as in orr_run_options; may be NULL */
    void *progress_context;
};
#define ORR_SIMAI_SIMULATION_DEFAULT                                                                                   \
    {                                                                                                                  \
        .backend = ORR_BACKEND_PACKET                                                                                  \
    }

struct orr_simai;

ORR_MUST_CHECK enum orr_status orr_simai_open(const struct orr_simai_simulation *options, struct orr_simai **simai,
                                              struct orr_error *err);
/* To the end, once. ORR_ESTALL and ORR_EINTR as orr_run_execute. */
ORR_MUST_CHECK enum orr_status orr_simai_execute(struct orr_simai *simai, struct orr_error *err);
void orr_simai_close(struct orr_simai *simai); /* NULL is fine */

size_t orr_simai_warning_count(const struct orr_simai *simai);
const char *orr_simai_warning(const struct orr_simai *simai, size_t index); /* valid until orr_simai_close */

uint32_t orr_simai_rank_count(const struct orr_simai *simai);
uint64_t orr_simai_time_ns(const struct orr_simai *simai);                /* the last rank's end */
uint64_t orr_simai_rank_ns(const struct orr_simai *simai, uint32_t rank); /* UINT64_MAX: it never ended */
uint64_t orr_simai_last_flow_ns(const struct orr_simai *simai);           /* the last message's arrival */
uint64_t orr_simai_flow_count(const struct orr_simai *simai);
uint64_t orr_simai_event_count(const struct orr_simai *simai);

enum orr_simai_output {
    ORR_SIMAI_TEXT,        /* for people */
    ORR_SIMAI_LOG,         /* what SimAI prints of a run, without dates and thread numbers */
    ORR_SIMAI_JSON,        /* one document */
    ORR_SIMAI_CSV,         /* SimAI's EndToEnd.csv */
    ORR_SIMAI_UTILIZATION, /* SimAI's test1_dimension_utilization_0.csv */
    ORR_SIMAI_TIMELINE,    /* Chrome trace events; compressed when path ends in .gz */
    ORR_SIMAI_FCT,         /* one line a message, as ns-3's fct.txt */
    ORR_SIMAI_PFC,         /* one line a pause or resume received, as ns-3's pfc.txt */
    ORR_SIMAI_STALL,       /* the diagnosis of a stalled run, for people; nothing when it did not stall */
};

/* Where the configuration wants FCT or PFC written; NULL where it does not say, and for all others. */
const char *orr_simai_named_file(const struct orr_simai *simai, enum orr_simai_output output);
/* GPUs and NVSwitches, which is what SimAI numbers its result files by. */
uint32_t orr_simai_node_count(const struct orr_simai *simai);

/* To `path` (a temporary renamed when complete), or to `stream` where `path` is NULL. */
ORR_MUST_CHECK enum orr_status orr_simai_write(const struct orr_simai *simai, enum orr_simai_output output,
                                               const char *path, FILE *stream, struct orr_error *err);

/* ---- collectives as NCCL builds them ----------------------------------------------------------------------------- */

struct orr_coll_pair {
    uint32_t src, dst; /* ranks */
};

/* Which collective of which group to lay out. Strings are borrowed. Start from ORR_COLL_OPTIONS_DEFAULT. */
struct orr_coll_options {
    uint32_t gpus, gpus_per_server, switches_per_server; /* NVLink switches */
    uint32_t tp, ep;                                     /* dp = gpus / tp */
    const char *gpu_type;                                /* A100, A800, H100, H800, H20, H200, B200, GB200 */
    const char *group;                                   /* tp, dp, ep or dp-ep: that of `rank` */
    uint32_t rank;
    const char *type;                  /* all-reduce, ...; unused with pairs */
    uint64_t bytes;                    /* of the whole buffer; of each pair */
    uint32_t root;                     /* rank; UINT32_MAX: the group's first */
    const struct orr_coll_pair *pairs; /* sends and receives instead of a collective */
    size_t pair_count;
    const char *algo;     /* auto, ring, tree, nvls or nvls-tree */
    uint32_t channels;    /* 0: by rule */
    uint64_t chunk_bytes; /* 0: by rule */
    bool nvls, pxn;
    bool compat;     /* as SimAI 1.6, with its holes */
    bool dump;       /* all groups, channels and flows, a line each, instead of a table and a drawing */
    const char *svg; /* also a picture; or NULL */
    uint64_t memory_limit;
};

#define ORR_COLL_OPTIONS_DEFAULT                                                                                       \
    {                                                                                                                  \
        .gpus = 8, .gpus_per_server = 8, .switches_per_server = 1, .tp = 8, .ep = 1, .gpu_type = "H100",               \
        .group = "tp", .type = "all-reduce", .bytes = 1u << 20, .root = UINT32_MAX, .algo = "auto"                     \
    }

ORR_MUST_CHECK enum orr_status orr_coll_show(const struct orr_coll_options *options, FILE *stream,
                                             struct orr_error *err);

/* ---- calculators ------------------------------------------------------------------------------------------------ */

/* Degrees of parallelism; 0: not given. Of world and dp one may be missing, the others are then 1. */
struct orr_calc_degrees {
    uint64_t world; /* ranks */
    uint64_t tp, cp, ep, dp, pp;
    uint64_t experts; /* of a layer */
};

/* Where expert parallelism lies: inside data parallelism (world = dp x pp x cp x tp, as Megatron-LM and AICB have it),
 * or as a level of its own (world = dp x pp x ep x cp x tp). */
enum orr_calc_nesting { ORR_CALC_FOLDED, ORR_CALC_OWN };

/* The groups of one kind: `degree` ranks each, rank r, r + stride, r + 2 stride …; `block`: how many neighbouring ranks
 * a group and all inside it take up. */
struct orr_calc_level {
    const char *name; /* "TP", "CP", "EP", "DP_EP", "DP", "PP" */
    uint64_t degree, stride, block, groups;
};

struct orr_calc_groups {
    struct orr_calc_degrees degrees; /* all settled */
    struct orr_calc_level levels[6];
    uint32_t level_count;
};

/* ORR_EINVAL names the rule that does not divide and the nearest values that do. */
ORR_MUST_CHECK enum orr_status orr_calc_groups(const struct orr_calc_degrees *degrees, enum orr_calc_nesting nesting,
                                               struct orr_calc_groups *groups, struct orr_error *err);

/* batch = dp x micro_batches x micro_batch. Of the last three one may be 0, which is then found; dp 0 is 1. */
struct orr_calc_batch {
    uint64_t dp, batch, micro_batch, micro_batches;
    uint64_t dataset;            /* samples; 0: not given */
    uint64_t batches, left_over; /* found: whole batches in the dataset, and samples behind them */
};
ORR_MUST_CHECK enum orr_status orr_calc_batch(const struct orr_calc_batch *given, struct orr_calc_batch *whole,
                                              struct orr_error *err);

/* What a rank of one pipeline stage sends the next for one micro-batch. */
struct orr_calc_pp_comm {
    uint64_t micro_batch, seq, hidden;
    uint64_t tp;          /* 0: 1 */
    uint64_t value_bytes; /* 0: 2 */
    bool sequence_parallel;
};
ORR_MUST_CHECK enum orr_status orr_calc_pp_comm(const struct orr_calc_pp_comm *given, uint64_t *bytes,
                                                struct orr_error *err);

/* ---- the lab: runs that are kept ----------------------------------------------------------------------------------
 */

/*
 * A workload on a machine that is made of a name, grown to its size, run, and kept: files in a folder of its own, an
 * entry in the result store. Texts are borrowed for the call; NULL and 0: not given. Start from
 * ORR_LAB_OPTIONS_DEFAULT.
 */
struct orr_lab_options {
    const char *workload;      /* folder or prefix of traces, or a folder of recordings, which are imported */
    const char *prefix;        /* which traces of a folder, where there are several */
    const char *recording_tag; /* which recordings of a folder: host_R_TAG.json */
    const char *topology;      /* docs/lab.md; NULL: auto:1d */
    const char *bandwidth;     /* one for all dimensions or a list, bare: Gbps; NULL: 25Gbps */
    const char *latency;       /* the same, bare: us; NULL: 1us */
    const char *system;        /* system JSON; NULL: one is made that fits the topology */
    const char *output_folder; /* NULL: "runs" */
    const char *store;         /* result store; NULL: orrery.db in the output folder */
    const char *tag;           /* the user's name for the run */
    const char *command;       /* what the store keeps as the command; NULL: nothing */
    const char *calibration;   /* calibration file: what it fitted is used where nothing else is said */
    const char *trace_folder;  /* auto_calibrate: the measured steps; NULL: beside the traces */
    bool auto_calibrate;       /* run the traced world first, fit it to the measured steps, and use that */
    struct orr_tuning tuning;
    struct orr_growth growth;
    uint32_t virtual_scale, world_size; /* ranks for each trace; ranks. At most one of them */
    enum orr_backend backend;           /* only with has_backend; else what the topology needs */
    bool has_backend;
    enum orr_policy policy;
    double jitter;
    uint64_t seed;
    uint64_t memory_limit;                                           /* bytes; 0 = none */
    bool timeline;                                                   /* also timeline.json.gz */
    bool (*progress)(void *context, const struct orr_progress *now); /* as in orr_run_options; may be NULL */
    void *progress_context;
};
#define ORR_LAB_OPTIONS_DEFAULT                                                                                        \
    {                                                                                                                  \
        .policy = ORR_POLICY_SAFE                                                                                      \
    }

struct orr_lab_result {
    int64_t run; /* its number in the store; 0: it did not come to that */
    uint64_t time_ns;
    uint64_t steps; /* training steps in the traces; 0: not known */
    uint32_t world, source_world;
    char folder[1024];
};

/* Runs it and writes a summary to `stream` unless that is NULL. A run that stalls or is interrupted has its files and
 * its entry all the same; `result` is then filled too. `notices` may be NULL. */
ORR_MUST_CHECK enum orr_status orr_lab_run(const struct orr_lab_options *options, const struct orr_notices *notices,
                                           FILE *stream, struct orr_lab_result *result, struct orr_error *err);

/* ---- sweeps: many runs that differ in a few values ------------------------------------------------------------- */

/* What varies in a sweep, and what its points share (docs/sweeps.md). */
struct orr_sweep_plan;

/* Texts are borrowed for the call. */
struct orr_sweep_plan_options {
    const char *file;        /* YAML, or NULL */
    const char *const *vary; /* "key=a,b,c" each; behind those of the file */
    size_t vary_count;
    bool zip; /* the first values of all keys make a point, then the second ones; else every combination does */
};

/* ORR_EINVAL with the place and the nearest key. */
ORR_MUST_CHECK enum orr_status orr_sweep_plan_open(const struct orr_sweep_plan_options *options,
                                                   struct orr_sweep_plan **plan, struct orr_error *err);
void orr_sweep_plan_close(struct orr_sweep_plan *plan); /* NULL is fine */

/* What is returned is valid until the plan is closed. */
const char *orr_sweep_plan_name(const struct orr_sweep_plan *plan); /* NULL: the file gives none */
bool orr_sweep_plan_is_lab(const struct orr_sweep_plan *plan);      /* points are `orrery lab run`, not `orrery run` */
/* The options that the file has for all points, as words of a command line; returns how many. */
size_t orr_sweep_plan_words(const struct orr_sweep_plan *plan, const char *const **words);
/* Where one of them is said, for messages. */
void orr_sweep_plan_word_place(const struct orr_sweep_plan *plan, size_t word, const char **file, uint32_t *line);

struct orr_sweep_key {
    const char *name;
    const char *origin; /* where it was said: the file's name, or "--vary" */
    uint32_t line;      /* there, from 1 */
};

size_t orr_sweep_plan_key_count(const struct orr_sweep_plan *plan);
void orr_sweep_plan_key(const struct orr_sweep_plan *plan, size_t key, struct orr_sweep_key *found);
/* Points count from 0 here, and from 1 wherever people see them. The last key changes first. */
uint64_t orr_sweep_plan_point_count(const struct orr_sweep_plan *plan);
const char *orr_sweep_plan_value(const struct orr_sweep_plan *plan, uint64_t point, size_t key);

/* Which configuration file a key belongs to: "system.endpoint-delay", or "endpoint-delay" where one file alone has it.
 * `*file` is the option that names that file, `*key` a part of `text`. `wired`: the network file is a packet
 * configuration. `options` (NULL-terminated) are other names that may have been meant, for the proposal. */
ORR_MUST_CHECK enum orr_status orr_config_key(const struct orr_sweep_key *text, bool wired, const char *const *options,
                                              const char **file, const char **key, struct orr_error *err);

/* A point: what `orrery run` or `orrery lab run` would do, with keys of its configuration files replaced. */
struct orr_sweep_job {
    const struct orr_run_options *run; /* or NULL */
    const struct orr_lab_options *lab; /* where run is NULL */
    const struct orr_override *overrides;
    size_t override_count;
    const char *calibration; /* the file that run->tuning was read from: an input like the others; or NULL */
    bool strict;             /* the point's warnings are errors */
};

struct orr_sweep_progress {
    uint64_t points;                /* of the sweep */
    uint64_t kept;                  /* that were in the store already */
    uint64_t left;                  /* that this call runs and that have not ended */
    uint64_t done, failed, stalled; /* those included */
    double running;                 /* points' worth of work in those that run now */
};

/* All is borrowed until orr_sweep_close. */
struct orr_sweep_options {
    const struct orr_sweep_plan *plan;
    const struct orr_sweep_job *jobs; /* one for each point of the plan */
    const char *base;                 /* what the points share, as text: another one is another sweep */
    const char *store;                /* NULL: runs/orrery.db */
    const char *command;              /* begins with "orrery sweep", quoted for a shell; or NULL */
    const char *tag;                  /* of the runs; NULL: the plan's name */
    uint32_t threads;                 /* 0: one for each processor */
    bool fresh;                       /* points that are in the store are run again */
    const uint64_t *only;             /* these points, even where they are in the store, and no others; or NULL */
    size_t only_count;
    /* Several times a second, on the calling thread; a false return ends the sweep. May be NULL. */
    bool (*progress)(void *context, const struct orr_sweep_progress *now);
    void *progress_context;
};

struct orr_sweep;

/* Runs every point that the store does not have yet, and keeps each as a run when it ends. Points that fail or stall
 * are results, not errors. ORR_EINTR: ended by the callback; what has ended is kept and can be written. `*sweep` is
 * given on ORR_OK and ORR_EINTR. Warnings of the points are told once each. */
ORR_MUST_CHECK enum orr_status orr_sweep_run(const struct orr_sweep_options *options, const struct orr_notices *notices,
                                             struct orr_sweep **sweep, struct orr_error *err);
void orr_sweep_close(struct orr_sweep *sweep); /* NULL is fine */

enum orr_sweep_state { ORR_SWEEP_MISSING, ORR_SWEEP_DONE, ORR_SWEEP_STALLED, ORR_SWEEP_FAILED };

struct orr_sweep_result {
    enum orr_sweep_state state;                    /* MISSING: it was not run */
    int64_t run;                                   /* its number in the store */
    const char *error;                             /* of a failed or stalled point; valid until orr_sweep_close */
    uint64_t time_ns;                              /* simulated; so far, of a stalled one */
    uint64_t steps;                                /* training steps in the traces; 0: not known */
    uint64_t comm_ns, compute_ns, exposed_comm_ns; /* of the rank with most, in each */
    uint32_t world;
};

void orr_sweep_progress(const struct orr_sweep *sweep, struct orr_sweep_progress *end);
void orr_sweep_result(const struct orr_sweep *sweep, uint64_t point, struct orr_sweep_result *result);

enum orr_sweep_form { ORR_SWEEP_TEXT, ORR_SWEEP_CSV, ORR_SWEEP_JSON };
enum orr_sweep_rank { ORR_SWEEP_BY_TIME, ORR_SWEEP_BY_EXPOSED, ORR_SWEEP_BY_COMM, ORR_SWEEP_BY_COMPUTE };

/* TEXT: the points, best first, at most `best` (0: all), and those that failed or stalled with the reason. CSV and
 * JSON: all points in their own order, each with its rank. To `path`, or to `stream` where that is NULL. */
ORR_MUST_CHECK enum orr_status orr_sweep_write(const struct orr_sweep *sweep, enum orr_sweep_form form,
                                               enum orr_sweep_rank by, uint64_t best, const char *path, FILE *stream,
                                               struct orr_error *err);

/* ---- the result store -------------------------------------------------------------------------------------------- */

/* Readers of the SQLite file that keeps every run (docs/store.md). Texts are borrowed for the call. */

enum orr_store_form { ORR_STORE_TEXT, ORR_STORE_JSON };

/* NULL: any. Runs are told newest last. */
struct orr_store_filter {
    const char *tag, *state, *backend, *kind;
    uint64_t newest; /* only so many of those that fit; 0: all */
};

/* A line a run. A state or backend that does not exist is refused with the nearest name. */
ORR_MUST_CHECK enum orr_status orr_store_list(const char *store, const struct orr_store_filter *filter,
                                              enum orr_store_form form, FILE *stream, struct orr_error *err);
/* Everything about one run: its inputs and whether they are still the same, settings, results, calibrations. `run` 0:
 * the newest. */
ORR_MUST_CHECK enum orr_status orr_store_show(const char *store, int64_t run, enum orr_store_form form, FILE *stream,
                                              struct orr_error *err);
/* What differs between two runs: settings, inputs, results with percent. `*same`: the results do not. */
ORR_MUST_CHECK enum orr_status orr_store_diff(const char *store, int64_t before, int64_t after,
                                              enum orr_store_form form, FILE *stream, bool *same,
                                              struct orr_error *err);

/* How to do a run again. Owned by the caller, who gives it back. */
struct orr_store_command {
    int64_t run;        /* which one: what 0 became */
    int64_t last;       /* the newest run of the store now */
    char *folder;       /* to start it in; NULL: not known */
    char **words;       /* argv, NULL-terminated; words[0] is "orrery" */
    uint64_t different; /* inputs that changed or are gone */
};

/* ORR_EINVAL when the run has no command of ours, or, without `force`, when an input changed or is gone; the error
 * names the first. Warnings: each such input with `force`, another version of Orrery. */
ORR_MUST_CHECK enum orr_status orr_store_command(const char *store, int64_t run, bool force,
                                                 const struct orr_notices *notices, struct orr_store_command *command,
                                                 struct orr_error *err);
void orr_store_command_free(struct orr_store_command *command);
/* The run that the command became: the first behind command->last with the same command; 0: there is none. */
ORR_MUST_CHECK enum orr_status orr_store_again(const char *store, const struct orr_store_command *command,
                                               int64_t *again, struct orr_error *err);

enum orr_store_table {
    ORR_STORE_RUNS_CSV,    /* a row a run, every column of the table `run` */
    ORR_STORE_RUNS_JSON,   /* all runs with all that belongs to them, and all calibrations */
    ORR_STORE_METRICS,     /* metrics.csv: a row a run that is done */
    ORR_STORE_CALIBRATIONS /* calibration_all.csv: a row a calibration */
};

/* To `path` (a temporary renamed when complete), or to `stream` where `path` is NULL; `*rows` counts them. */
ORR_MUST_CHECK enum orr_status orr_store_export(const char *store, enum orr_store_table table, const char *path,
                                                FILE *stream, uint64_t *rows, struct orr_error *err);

struct orr_store_imported {
    uint64_t rows, runs, calibrations; /* read, entered, entered */
    uint64_t known, bad;               /* rows that were there already, rows that could not be used */
};

/* Enters the rows of a metrics.csv or calibration_all.csv, of today's or of an older header: all that can be used, in
 * one transaction. Warnings: columns that are not known, rows left out, with file and line. */
ORR_MUST_CHECK enum orr_status orr_store_import(const char *store, const char *path, const struct orr_notices *notices,
                                                struct orr_store_imported *imported, struct orr_error *err);

/* ---- calibration ------------------------------------------------------------------------------------------------- */

/*
 * Measured steps held against a simulated one, and measured collectives turned into a link (docs/calibration.md). Texts
 * and lists are borrowed for the call; NULL and 0: not given. Start from ORR_CALIB_OPTIONS_DEFAULT.
 */
struct orr_calib_options {
    const char *const *measured; /* step times: device traces, training_R.json, gpu_metrics_*.json, lists */
    size_t measured_count;
    double real_step_ms, real_comm_ms, real_kernel_ms; /* of one step; go before what the files say */
    int64_t rank;                                      /* fit on this rank and hold the others out; -1: on all */
    bool untraced;                                     /* alpha against the steps without a profiler */
    const char *profiler; /* its cost for each event, from another recording: "13us"; NULL: fitted where it can be */

    const char *store; /* result store: where `run` is looked up and the calibration is kept; NULL: neither */
    bool has_run;
    int64_t run;                                   /* the simulated side is this run of the store; 0: the newest */
    uint64_t sim_wall_ns, sim_comm_ns, sim_gpu_ns; /* or these, over all steps of the traces */
    uint64_t sim_steps;                            /* in the simulated traces */
    uint64_t steps;                                /* the user's word for it, where the sides disagree */
    uint64_t comm_bytes;                           /* all-reduced in a step */
    uint64_t collectives;                          /* in a step */
    uint32_t ranks;
    const char *bandwidth; /* configured: "65Gbps" */

    const char *const *bench; /* measured collectives and copies: nccl-tests, rccl-tests, rocm-bandwidth-test, tables */
    size_t bench_count;
    uint32_t hops;                /* links between two ranks in them; 0: 1 */
    const char *launch;           /* overhead of a collective, "25us"; NULL: fitted where it can be */
    const char *bench_form;       /* "tests", "bandwidth", "csv", "yaml", "trace"; NULL: by content */
    const char *bench_collective; /* what was measured, "all-reduce"; NULL: as the files say */
    const char *bench_place;      /* "any", "out", "in": measurements in or out of place; NULL: any */
    const char *bench_steps;      /* messages of a small collective: "ring", "tree", "one"; NULL: ring */
    uint32_t bench_ranges;        /* of sizes, at most: 1 to 3; 0: 3 */
    uint64_t bench_splits[2];     /* or given: the last size of each range but the last, ascending */
    uint32_t bench_split_count;

    const char *tag;       /* for the store */
    const char *output;    /* calibration file, JSON */
    uint64_t memory_limit; /* bytes; 0 = none */
};
#define ORR_CALIB_OPTIONS_DEFAULT                                                                                      \
    {                                                                                                                  \
        .rank = -1                                                                                                     \
    }

/* NaN where not known. */
struct orr_calib_result {
    int64_t id;                          /* in the store; 0: not kept */
    double alpha, alpha_comm, alpha_gpu; /* real / simulated, of one step */
    double real_step_ms, sim_step_ms;
    double lower_bound_ms, achieved_gbps;
    double profiler_us;              /* what the profiler costs for each host event */
    double held_out, untraced_error; /* relative, on ranks or steps that were not fitted on */
    bool bandwidth_too_low;          /* the configured bandwidth is lower than the one the trace achieved */
    bool accepted;
};

/* Fits, and reports to `stream` unless that is NULL. Sides that hold different numbers of steps are refused unless
 * `steps` says how many the simulated traces have. `notices` may be NULL. */
ORR_MUST_CHECK enum orr_status orr_calib_fit(const struct orr_calib_options *options, const struct orr_notices *notices,
                                             FILE *stream, struct orr_calib_result *result, struct orr_error *err);

/* A calibration file, or the history that a store keeps, newest last. */
ORR_MUST_CHECK enum orr_status orr_calib_show(const char *path, FILE *stream, struct orr_error *err);
ORR_MUST_CHECK enum orr_status orr_calib_history(const char *store, enum orr_store_form form, FILE *stream,
                                                 struct orr_error *err);

/* What a calibration file changes in a run: fields of `tuning` that are 0 are filled. A calibration that was refused by
 * its rules is a warning. */
ORR_MUST_CHECK enum orr_status orr_calib_tuning(const char *path, const struct orr_notices *notices,
                                                struct orr_tuning *tuning, struct orr_error *err);

/* Writes copies of a system and a network file with the fitted numbers in them to a folder, made where missing. */
struct orr_calib_apply {
    const char *calibration;
    const char *system, *network; /* system JSON; network YAML or physical topology; NULL: none */
    const char *folder;
    const char *dims; /* which dimensions of a network YAML get the link, "0" or "0,1"; NULL: all */
};
ORR_MUST_CHECK enum orr_status orr_calib_apply(const struct orr_calib_apply *apply, const struct orr_notices *notices,
                                               FILE *stream, struct orr_error *err);

/* ---- what machines cost ------------------------------------------------------------------------------------------
 */

enum { ORR_COST_NO_RUN = -1 };

/* Numbers given by hand; 0: none, of servers and NICs: as many as the price list says. */
struct orr_cost_counts {
    uint64_t gpus, servers, nics, nvswitches, leaves, spines, switches, links;
};

struct orr_cost_machine {
    const char *what;              /* a topology file, or a machine as for orr_topo_make; NULL: by `run` or `counts` */
    struct orr_cost_counts counts; /* without `what` and `run` */
    int64_t run;                   /* of the store, whose step is costed; 0: the newest; or ORR_COST_NO_RUN */
    uint64_t step_ns;              /* 0: that of the run, else not known */
};

/* Texts are borrowed for the call; NULL and 0: not given. */
struct orr_cost_options {
    const char *prices; /* price list, YAML (docs/cost.md); NULL: the examples */
    const char *store;  /* result store; NULL: runs/orrery.db */
    const struct orr_cost_machine *machines;
    size_t machine_count; /* at least 1 */
    uint64_t samples;     /* of a step */
};

/* A bill for each machine, what an hour and a step on it cost, and all of them beside the first; text or JSON to
 * `stream`. Warnings: example prices, unknown keys, what has no price. `notices` may be NULL. */
ORR_MUST_CHECK enum orr_status orr_cost(const struct orr_cost_options *options, bool json,
                                        const struct orr_notices *notices, FILE *stream, struct orr_error *err);
/* A price list to begin with. */
ORR_MUST_CHECK enum orr_status orr_cost_template(FILE *stream, struct orr_error *err);

/* ---- the doctor ---------------------------------------------------------------------------------------------------
 */

/* Paths are borrowed for the call; NULL and 0: not given. */
struct orr_doctor_options {
    const char *const *smi; /* saved outputs of amd-smi and rocm-smi: their GPUs instead of this machine's */
    size_t smi_count;
    const char *sysfs;   /* where this machine's GPUs are looked for; NULL: /sys */
    bool no_collectives; /* leave the numeric test out */
};

struct orr_doctor_result {
    uint32_t gpus;
    uint32_t checks, wrong; /* rows of the numeric test, and those that came out wrong */
};

/* Versions, the machine, programs that could be of use, GPUs with their clocks; and a numeric test of the collectives:
 * whole numbers moved as the algorithms say, every result compared with what was promised. Text or JSON to `stream`. */
ORR_MUST_CHECK enum orr_status orr_doctor(const struct orr_doctor_options *options, bool json, FILE *stream,
                                          struct orr_doctor_result *result, struct orr_error *err);

/* ---- configuration reference ---------------------------------------------------------------------------------- */

/* The tables the readers use, as Markdown or as JSON schema: what docs/config.md is made of. */
ORR_MUST_CHECK enum orr_status orr_config_reference(bool json_schema, FILE *stream, struct orr_error *err);

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
