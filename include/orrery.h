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
    uint32_t queues_per_dim; /* at least 1 */
    double injection_scale;  /* multiplies the endpoint delay */
    bool rendezvous;
    double jitter;         /* J: each message's delay is multiplied by 1 + J*u, u in [0,1) */
    uint64_t seed;         /* of the jitter */
    uint64_t memory_limit; /* bytes; 0 = none */
    bool strict;           /* warnings become errors */
    bool keep_intervals;   /* needed for ORR_OUTPUT_TIMELINE */
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
    uint64_t rto_ns; /* PACKET: after how long what was lost is sent again; 0 = four round trips and 1 ms */
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
};

uint32_t orr_run_rank_count(const struct orr_run *run);
uint64_t orr_run_time_ns(const struct orr_run *run);     /* the last rank's finish */
uint64_t orr_run_event_count(const struct orr_run *run); /* events the engine handled */
uint64_t orr_run_message_count(const struct orr_run *run);
uint64_t orr_run_transmission_count(const struct orr_run *run); /* PACKET: one packet over one link; else 0 */
void orr_run_rank(const struct orr_run *run, uint32_t rank, struct orr_rank_result *result);

enum orr_output {
    ORR_OUTPUT_TEXT,     /* for people */
    ORR_OUTPUT_ASTRA,    /* ASTRA-sim's lines, without dates */
    ORR_OUTPUT_JSON,     /* one document */
    ORR_OUTPUT_CSV,      /* `path` is a folder: ranks.csv, collectives.csv, dimensions.csv; PACKET: links.csv */
    ORR_OUTPUT_TIMELINE, /* Chrome trace events; compressed when path ends in .gz */
    ORR_OUTPUT_FCT,      /* PACKET: one line a message, as ns-3's fct.txt */
    ORR_OUTPUT_PFC,      /* PACKET: one line a pause or resume received, as ns-3's pfc.txt */
    ORR_OUTPUT_QLEN,     /* PACKET: queues of 1000 B and more, every 100 ns, as ns-3's qlen.txt */
    ORR_OUTPUT_STALL,    /* the diagnosis of a stalled run, for people; nothing when it did not stall */
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
