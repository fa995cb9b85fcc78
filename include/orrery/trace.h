/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces: looking at them, recordings and foreign formats turned into them, scripts that record.
 * Included by orrery.h.
 */
#ifndef ORRERY_TRACE_H
#define ORRERY_TRACE_H

#include "orrery/base.h"

ORR_BEGIN

/* ---- traces --------------------------------------------------------------------------------------------------- */

struct orr_trace;

/* Reads one Chakra ET file whole, with everything in it. */
ORR_MUST_CHECK enum orr_status orr_trace_open(const char *path, struct orr_trace **trace, struct orr_error *err);
void orr_trace_close(struct orr_trace *trace);

/* ---- traces made node by node ---- */

enum orr_node_kind { ORR_NODE_COMPUTE, ORR_NODE_COLLECTIVE, ORR_NODE_SEND, ORR_NODE_RECEIVE };

/* One operation of a rank. Start from {0}; texts and lists are borrowed for the call. */
struct orr_node {
    uint64_t id; /* of this rank, another for each node */
    const char *name;
    enum orr_node_kind kind;
    const uint64_t *after; /* ids of nodes that must be done first; these are written before it */
    size_t after_count;
    bool on_cpu;
    uint64_t duration_us;  /* COMPUTE: how long; 0 where operations say it */
    uint64_t operations;   /* COMPUTE: floating-point ones, for the roofline; 0: not said */
    uint64_t tensor_bytes; /* COMPUTE: that they touch */
    const char *type;      /* COLLECTIVE: "all-reduce", "all-gather", "reduce-scatter", "all-to-all", … */
    uint64_t bytes;        /* all but COMPUTE */
    const char *group;     /* COLLECTIVE: its name in the groups file; NULL: all ranks */
    uint32_t peer, tag;    /* SEND, RECEIVE: the other rank, and which message */
};

struct orr_trace_maker;

/* A Chakra ET file that is made as nodes are added, in constant memory; it appears when it is ended. `rank` is whose it
 * is. */
ORR_MUST_CHECK enum orr_status orr_trace_make(const char *path, uint32_t rank, struct orr_trace_maker **maker,
                                              struct orr_error *err);
/* ORR_EINVAL for a type that does not exist, with the nearest, and for a message without bytes. */
ORR_MUST_CHECK enum orr_status orr_trace_add(struct orr_trace_maker *maker, const struct orr_node *node,
                                             struct orr_error *err);
/* Ends it; `keep` false, or a failure: no file appears. Frees the maker in any case. */
ORR_MUST_CHECK enum orr_status orr_trace_end(struct orr_trace_maker *maker, bool keep, struct orr_error *err);

/* Which nodes to look at; all zero: every node. Texts are borrowed for the call. */
struct orr_trace_filter {
    const char *name; /* a shell pattern for the whole name, or between slashes a regular expression for a part of it */
    const char *types; /* a list: compute, cpu, gpu, memory, communication, collective, send, receive, other, or a
                          collective's type such as all-reduce */
    uint64_t from_us;  /* started no earlier than this after the trace's first start */
    uint64_t to_us;    /* and before this; 0: no end */
};

/* Cuts an open trace down to these nodes, for what is shown, counted or checked after: a node that waited for one that
 * is gone waits for the nearest that are left. `kept` gets how many stay. ORR_EINVAL for a word that is no type, a
 * pattern that is none, or times of which none is after the other. */
ORR_MUST_CHECK enum orr_status orr_trace_keep(struct orr_trace *trace, const struct orr_trace_filter *filter,
                                              uint64_t *kept, struct orr_error *err);

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
    const char *folder;       /* as of struct orr_import_options */
    const char *const *paths; /* the same */
    size_t path_count;
    const char *const *tags; /* which runs; count 0 = all of the folder */
    size_t tag_count;
    const uint32_t *ranks; /* which ranks; count 0 = all that are there */
    uint32_t rank_count;
    bool has_unknown_size; /* as of struct orr_import_options */
    uint64_t unknown_size;
    bool compare;    /* runs side by side */
    bool measure;    /* import each run in a temporary folder, simulate each rank, and hold it against the recording */
    bool brief;      /* findings and verdict alone */
    bool json;       /* one JSON object instead of text */
    FILE *also_json; /* that object too, to this stream; or NULL */
    const char *writes;    /* where the caller will put the report: refused when it is a file that is read; or NULL */
    uint64_t memory_limit; /* bytes; 0 = 80 % of the machine. What is needed does not grow with the files */
};

/* Whether recordings can be imported and simulated, what is missing in them, and with what to record again
 * (docs/import.md). The report goes to `stream`, which may be NULL. `*usable`: no run has a fault. */
ORR_MUST_CHECK enum orr_status orr_trace_ready(const struct orr_ready_options *options, FILE *stream, bool *usable,
                                               struct orr_error *err);

/* ---- linking PyTorch traces ------------------------------------------------------------------------------------- */

/* Paths are borrowed for the call. Start from orr_link_options_init. */
struct orr_link_options {
    const char *host;      /* execution trace; may be NULL without compat_chakra */
    const char *device;    /* Kineto trace; may be NULL without compat_chakra. Both plain, gzip or zstd */
    const char *output;    /* linked trace, JSON; packed when the name ends in .gz or .zst */
    int64_t rank;          /* of the recording; -1: as the device trace says. Chakra's linker does not use it */
    uint64_t memory_limit; /* bytes; 0 = 80 % of the machine */
    bool compat_chakra;    /* the bytes Chakra's own linker writes */
};
void orr_link_options_init(struct orr_link_options *options); /* the defaults */

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
    X(PYTORCH, pytorch, "linked trace (orrery trace link, Chakra's HDT) or host execution trace")                      \
    X(TENSORFLOW, tensorflow, "TensorBoard or JAX profiler trace")                                                     \
    X(HOROVOD, horovod, "Horovod timeline")                                                                            \
    X(TEXT, text, "ASTRA-sim 1.0 workload text")                                                                       \
    X(SIMAI, simai, "SimAI workload text, as AICB writes it")                                                          \
    X(GOAL, goal, "LogGOPSim GOAL text")                                                                               \
    X(JSON, json, "Chakra graph as JSON")                                                                              \
    X(CSV, csv, "table of operations of your own")
#define ORR_FORMAT_LIST "pytorch, tensorflow, horovod, text, simai, goal, json, csv"

enum orr_format {
    ORR_FORMAT_AUTO, /* by the file's content */
#define ORR_X(name, word, text) ORR_FORMAT_##name,
    ORR_FORMATS(ORR_X)
#undef ORR_X
};

/* Paths and texts are borrowed for the call. Start from orr_convert_options_init. */
struct orr_convert_options {
    enum orr_format format;
    const char *input;     /* plain, gzip or zstd */
    const char *output;    /* an ET file; of formats that make several ranks, PREFIX of PREFIX.R.et */
    const char *map;       /* csv: "id=COLUMN,name=COLUMN,…"; NULL = by the header's names */
    uint64_t unknown_size; /* bytes for a communication whose size is not known; only with has_unknown_size */
    uint64_t memory_limit; /* bytes; 0 = 80 % of the machine */
    uint32_t ranks;        /* 0 = as the input says */
    uint32_t passes;       /* text, simai: how often the workload is repeated; at least 1 */
    bool has_unknown_size; /* without it an unknown size is an error */
    bool compat_chakra;    /* pytorch, text: the bytes Chakra's own converter writes */
    FILE *replay;          /* pytorch with compat_chakra: what Chakra's --simulate logs goes here; or NULL */
};
void orr_convert_options_init(struct orr_convert_options *options); /* the defaults */

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

/* Paths and lists are borrowed for the call. Start from orr_import_options_init. */
struct orr_import_options {
    const char *folder;       /* with recordings, or one of them; any names (docs/import.md) */
    const char *const *paths; /* files and folders instead, or beside it: all of one run */
    size_t path_count;
    const char *prefix; /* files are PREFIX.R.et, and PREFIX.groups.json where there are process groups */
    const char
        *et_prefix;  /* batches only: the first word of the files' names; "auto": the dominant collective's; or NULL */
    const char *tag; /* which run, where there are several; or NULL */
    const uint32_t *ranks; /* which ranks; count 0 = all that are there */
    const int64_t *steps;  /* pairs of first and last step to keep; count 0 = everything */
    uint64_t unknown_size; /* bytes for a communication whose size is not known; only with has_unknown_size */
    uint64_t memory_limit; /* bytes; 0 = 80 % of the machine */
    uint32_t rank_count;
    uint32_t step_pair_count;
    uint32_t jobs;         /* ranks worked on at once; 0 = one a processor */
    bool has_unknown_size; /* without it an unknown size is an error */
    bool drop_gaps;        /* leave out host time between ops */
    bool drop_cpu;         /* leave out host ops; order between what is left survives, host time does not */
};
void orr_import_options_init(struct orr_import_options *options); /* the defaults */

/* Links and converts every rank's PyTorch recording; writes all files or none, and a report for people to `stream`,
 * which may be NULL. `notices` may be NULL. */
ORR_MUST_CHECK enum orr_status orr_trace_import(const struct orr_import_options *options,
                                                const struct orr_notices *notices, FILE *stream, struct orr_error *err);

/*
 * Many recordings in one call: each path is judged and imported by itself, every run in a folder too, into
 * OUT_DIR/NAME.R.et, NAME made of the path's and the run's; with et_prefix OUT_DIR/ET_PREFIX.R.et for a single run and
 * OUT_DIR/ET_PREFIX.NAME.R.et for several, "auto" being allreduce, allgather and so on by which collective each has
 * most, workload for none or a tie. `folder`, `prefix` and `tag` of the options are not used. One that fails does not
 * stop the others: `*failed` counts them, and a table at the end of the report says why. Errors are those that stop
 * all: no memory, nothing that can be written.
 */
ORR_MUST_CHECK enum orr_status orr_trace_import_batch(const struct orr_import_options *options, const char *out_dir,
                                                      const struct orr_notices *notices, FILE *stream, uint32_t *failed,
                                                      struct orr_error *err);

/* ---- recording scripts ---------------------------------------------------------------------------------------- */

enum orr_framework { ORR_FRAMEWORK_PYTORCH, ORR_FRAMEWORK_TENSORFLOW, ORR_FRAMEWORK_HOROVOD };
enum orr_vendor { ORR_VENDOR_NVIDIA, ORR_VENDOR_AMD };

/* What to record. Fields other than the first two are for PyTorch alone, become the defaults of the script, and are
 * NULL, 0 (trace_wait: -1) or false where the script's own default is to hold. Start from orr_recipe_options_init.
 */
struct orr_recipe_options {
    enum orr_framework framework;
    enum orr_vendor vendor;
    const char *model; /* cifar10, resnet18, resnet50, bert, qwen05b, llama1b */
    const char
        *dataset; /* shape and classes of the random data: mnist, cifar10, cifar100, tiny-imagenet, imagenet; tokens */
    uint32_t epochs, batch_size;
    uint32_t profile_epoch; /* the one to trace, from 1 */
    int32_t trace_wait;     /* steps of it before tracing */
    uint32_t trace_steps;
    bool inject_sync_hack;
};
void orr_recipe_options_init(struct orr_recipe_options *options); /* the defaults */

/* A Python script that records a job. A trace that would be large is a warning; `notices` may be NULL. */
ORR_MUST_CHECK enum orr_status orr_recipe(const struct orr_recipe_options *options, const struct orr_notices *notices,
                                          FILE *stream, struct orr_error *err);

ORR_END

#endif
