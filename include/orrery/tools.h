/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tools on traces: changing, comparing, composing, exporting and drawing them; Chakra's own small tools.
 * Included by orrery.h.
 */
#ifndef ORRERY_TOOLS_H
#define ORRERY_TOOLS_H

#include "orrery/run.h"
#include "orrery/trace.h"

ORR_BEGIN

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
    uint64_t memory_limit; /* bytes; 0 = 80 % of the machine */
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
    uint64_t memory_limit; /* bytes; 0 = 80 % of the machine */
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
    uint64_t memory_limit; /* bytes; 0 = 80 % of the machine */
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

/* ---- archives: all traces of a job in one file, NAME.etz (docs/formats.md) ---- */

/* An archive is a prefix like any other: the trace of rank R in it has the path NAME.etz.R.et, for every function that
 * reads traces, and functions that write a prefix make an archive where that ends in ".etz". */
struct orr_pack_result {
    uint32_t ranks;
    uint32_t different; /* traces that are kept; the others are one of them with other ids or other partners */
    uint32_t told;      /* of these, kept as what differs from another */
    uint64_t bytes;     /* of all traces as files */
    uint64_t packed;    /* of the archive */
};

/* Makes an archive of PREFIX.0.et, PREFIX.1.et … (or of the only such traces of a folder) and of their groups file. */
ORR_MUST_CHECK enum orr_status orr_trace_pack(const char *workload, const char *archive, uint64_t memory_limit,
                                              struct orr_pack_result *result, struct orr_error *err);
/* The same files again, byte for byte, under another prefix. */
ORR_MUST_CHECK enum orr_status orr_trace_unpack(const char *archive, const char *prefix, uint64_t memory_limit,
                                                uint32_t *ranks, struct orr_error *err);
/* How many ranks an archive has; 0: there is none at `path`. */
uint32_t orr_trace_archived(const char *path);

struct orr_diff_options {
    bool by_name;          /* nodes are the same by name and order instead of by id */
    double tolerance;      /* share by which durations may differ */
    uint64_t limit;        /* differences to write out; 0 = all. All are counted */
    bool json;             /* one JSON object instead of text */
    uint64_t memory_limit; /* bytes; 0 = 80 % of the machine */
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
    uint64_t memory_limit; /* bytes; 0 = 80 % of the machine */
};

ORR_MUST_CHECK enum orr_status orr_trace_export(const struct orr_export_options *options,
                                                const struct orr_notices *notices, FILE *stream, struct orr_error *err);

/* ---- composing a job of several traces ---------------------------------------------------------------------------
 */

/*
 * A data-parallel job made of the traces of one tensor-parallel group: every rank reduces the gradients of its shard,
 * in buckets, with the ranks of its place in the other replicas (docs/trace-tools.md). Texts are borrowed for the call.
 * Start from orr_compose_options_init.
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
    uint64_t memory_limit;       /* bytes; 0 = 80 % of the machine */
};
void orr_compose_options_init(struct orr_compose_options *options); /* the defaults */

/* Without write_all the traces are those of the first replica, and groups of one rank stand for the data-parallel ones:
 * a run that grows "tp:TP,dp:1" makes the rest in memory. A report for people goes to `stream`, which may be NULL;
 * `notices` may be NULL. */
ORR_MUST_CHECK enum orr_status orr_trace_compose(const struct orr_compose_options *options,
                                                 const struct orr_notices *notices, FILE *stream,
                                                 struct orr_error *err);

/* ---- pictures of traces ----------------------------------------------------------------------------------------- */

struct orr_view_options {
    uint32_t limit;                        /* boxes to draw at most (.svg, .html, .pdf); 0 = all */
    bool unfolded;                         /* one box a node, instead of one for a chain of compute nodes */
    const struct orr_trace_filter *filter; /* which nodes, or NULL: all; not for .dot and .graphml */
};
void orr_view_options_init(struct orr_view_options *options); /* the defaults */

/* Draws the Chakra ET file `trace` into `path`, whose ending says what is made: .svg, .html, .pdf, .dot, .graphml. */
ORR_MUST_CHECK enum orr_status orr_trace_view(const char *trace, const struct orr_view_options *options,
                                              const char *path, struct orr_error *err);

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
void orr_chakra_generator_init(struct orr_chakra_generator *options); /* the defaults */

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

ORR_END

#endif
