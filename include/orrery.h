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

enum orr_backend { ORR_BACKEND_UNAWARE, ORR_BACKEND_AWARE };
enum orr_policy { ORR_POLICY_ASTRA, ORR_POLICY_SAFE };
enum orr_broadcast { ORR_BROADCAST_REPLAY, ORR_BROADCAST_SIMULATE };

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
    const char *network;  /* network YAML */
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
void orr_run_rank(const struct orr_run *run, uint32_t rank, struct orr_rank_result *result);

enum orr_output {
    ORR_OUTPUT_TEXT,     /* for people */
    ORR_OUTPUT_ASTRA,    /* ASTRA-sim's lines, without dates */
    ORR_OUTPUT_JSON,     /* one document */
    ORR_OUTPUT_CSV,      /* `path` is a folder: ranks.csv, collectives.csv, dimensions.csv */
    ORR_OUTPUT_TIMELINE, /* Chrome trace events; compressed when path ends in .gz */
    ORR_OUTPUT_STALL,    /* the diagnosis of a stalled run, for people; nothing when it did not stall */
};

/* Writes one output to `path` (a temporary renamed when complete), or to `stream` where `path` is NULL (not for CSV and
 * TIMELINE). */
ORR_MUST_CHECK enum orr_status orr_run_write(const struct orr_run *run, enum orr_output output, const char *path,
                                             FILE *stream, struct orr_error *err);

/* ---- traces --------------------------------------------------------------------------------------------------- */

struct orr_trace;

/* Reads one Chakra ET file whole, with everything in it. */
ORR_MUST_CHECK enum orr_status orr_trace_open(const char *path, struct orr_trace **trace, struct orr_error *err);
void orr_trace_close(struct orr_trace *trace);

/* One block a node, every attribute with its type. `limit` 0 means all nodes. */
ORR_MUST_CHECK enum orr_status orr_trace_show(const struct orr_trace *trace, uint64_t limit, FILE *stream,
                                              struct orr_error *err);
/* Counts, bytes per collective, critical path; as text or as one JSON object. */
ORR_MUST_CHECK enum orr_status orr_trace_stat(const struct orr_trace *trace, bool json, FILE *stream,
                                              struct orr_error *err);
/* Writes one line per finding, naming node ids, and stores how many there were. */
ORR_MUST_CHECK enum orr_status orr_trace_check(const struct orr_trace *trace, FILE *stream, uint64_t *findings,
                                               struct orr_error *err);
/* Writes the trace back, unknown fields included. */
ORR_MUST_CHECK enum orr_status orr_trace_write(const struct orr_trace *trace, const char *path, struct orr_error *err);

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
