/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces and workloads that no recording is needed for: patterns, data-parallel steps, AICB, symbolic tensor graphs.
 * Included by orrery.h.
 */
#ifndef ORRERY_GEN_H
#define ORRERY_GEN_H

#include "orrery/base.h"

ORR_BEGIN

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
/* The same without files, for runs that have it as `loaded`, and `prefix` as their workload (orrery/run.h, which has
 * orr_workload_close too). */
struct orr_workload;
ORR_MUST_CHECK enum orr_status orr_gen_workload(const struct orr_gen_options *options, struct orr_workload **workload,
                                                struct orr_error *err);

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
    const char *output_dir;        /* made where missing */
    const char *output_name;       /* "%d" in it is the rank; without one, ".%d.et" is appended */
    const char *sheets;            /* folder of STG's spreadsheets; NULL: our own */
    const char *const *own_sheets; /* "NAME=FILE.csv", FILE.json beside it: in place of the sheet NAME of either */
    size_t own_sheet_count;
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
    uint64_t memory_limit;   /* bytes; 0 = 80 % of the machine */
};
void orr_stg_options_init(struct orr_stg_options *options); /* the defaults */

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

ORR_END

#endif
