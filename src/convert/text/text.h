/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ASTRA-sim 1.0's text workloads (spec formats §9): a parallelisation strategy, a number of layers, and for each layer
 * its compute times and collectives in the forward pass, for the input gradient and for the weight gradient. One text
 * is the program of every rank; converting unrolls it into a graph.
 *
 * Two readers and two graphs. As Chakra's converter does it (spec chakra §9), byte for byte: lines, seven strategies,
 * times taken for microseconds. And as the text means it: a stream of words, all eleven strategies, cycles at 1 GHz.
 * docs/text.md sets them side by side. Knows nothing of networks: how many dimensions there are is not in the text.
 */
#ifndef ORR_CONVERT_TEXT_TEXT_H
#define ORR_CONVERT_TEXT_TEXT_H

#include "convert/text/work.h"
#include "io/file.h"

/* Where a collective goes: nowhere (the strategy does not carry it out), to all dimensions, to the first, to all but
 * the first, to the model-parallel group, to the ranks at the same place of all such groups, to the group its word
 * names. */
enum text_span {
    TEXT_NOWHERE,
    TEXT_EVERYWHERE,
    TEXT_DIM_0,
    TEXT_OTHER_DIMS,
    TEXT_MODEL_GROUP,
    TEXT_DATA_GROUP,
    TEXT_NAMED_GROUP,
};

/* name, span of forward and input-gradient collectives, span of weight-gradient collectives. */
#define TEXT_STRATEGIES(X)                                                                                             \
    X(MICRO, NOWHERE, EVERYWHERE)                                                                                      \
    X(DATA, NOWHERE, EVERYWHERE)                                                                                       \
    X(MODEL, EVERYWHERE, NOWHERE)                                                                                      \
    X(HYBRID_DATA_MODEL, DIM_0, OTHER_DIMS)                                                                            \
    X(HYBRID_MODEL_DATA, OTHER_DIMS, DIM_0)                                                                            \
    X(HYBRID_DLRM, EVERYWHERE, EVERYWHERE)                                                                             \
    X(HYBRID_DLRM_ENHANCED, EVERYWHERE, EVERYWHERE)                                                                    \
    X(HYBRID_TRANSFORMER, MODEL_GROUP, DATA_GROUP)                                                                     \
    X(HYBRID_TRANSFORMER_FWD_IN_BCKWD, MODEL_GROUP, DATA_GROUP)                                                        \
    X(HYBRID_CUSTOMIZED, NOWHERE, NOWHERE)                                                                             \
    X(DISTRIBUTED_INFERENCE, EVERYWHERE, NOWHERE)

enum text_strategy {
#define TEXT_X(name, forward, weights) TEXT_##name,
    TEXT_STRATEGIES(TEXT_X)
#undef TEXT_X
        TEXT_STRATEGY_COUNT
};

/* Terminated by NULL, in the order of the enum. */
extern const char *const text_strategy_names[];

enum text_phase { TEXT_FWD, TEXT_IG, TEXT_WG, TEXT_PHASES };

/* One phase of a layer, as written. */
struct text_cell {
    int64_t time; /* cycles */
    int64_t bytes;
    struct et_text comm; /* the word */
};

struct text_layer {
    struct et_text name;
    struct text_cell cells[TEXT_PHASES];
    int64_t update;                  /* cycles; only in our own reading */
    uint64_t line;                   /* in the file, from 1 */
    uint8_t strategy;                /* of this layer; the file's but for HYBRID_CUSTOMIZED */
    bool is_checkpoint, is_initiate; /* HYBRID_TRANSFORMER_FWD_IN_BCKWD */
};

/* One stage of a pipeline: the same rows in another order, and messages to and from the ranks `stride` before and after
 * (trace/pipeline.h). Rows outside the micro-batches open and close the step. */
struct text_pipeline {
    const uint32_t *batch_start; /* rows; batch_count + 1 entries */
    uint32_t batch_count, stage, stages;
    uint32_t stride;
    int64_t bytes; /* of a message */
};

struct text_workload {
    const char *path;        /* for messages; borrowed */
    struct file_buffer file; /* what the words point into */
    struct mem *mem;
    struct text_layer *layers;
    uint32_t layer_count, layer_capacity;
    int64_t written_count;     /* the number of layers as the file says it */
    int64_t last_bottom_layer; /* HYBRID_DLRM* */
    uint32_t model_group;      /* HYBRID_TRANSFORMER*: ranks; else 0 */
    bool by_suffix;            /* a collective's word names its group (SimAI); the layouts of the work are set */
    enum text_strategy strategy;
    const struct text_pipeline *pipeline; /* or NULL */
};

/* As Chakra's converter reads it, and as the format means it. Fail with ORR_EIO, ORR_EINVAL, ORR_ERANGE ("file:line:"),
 * ORR_ENOMEM; what was read must be freed on success only. */
ORR_MUST_CHECK enum orr_status text_read_compat(const char *path, struct mem *mem, struct text_workload *workload,
                                                struct orr_error *err);
ORR_MUST_CHECK enum orr_status text_read(const char *path, struct mem *mem, struct text_workload *workload,
                                         struct orr_error *err);
void text_free(struct text_workload *workload);

/* The graph of one rank. `ranks` decides which groups there are; what the strategy leaves out is said in `notes`. */
ORR_MUST_CHECK enum orr_status text_graph(const struct text_workload *workload, uint32_t ranks, uint32_t passes,
                                          struct work *work, struct notes *notes, struct orr_error *err);

/*
 * Reads request->input and writes PREFIX.0.et … for request->ranks ranks, which must be given. A text with SimAI's
 * header keys (ep:, pp:, ga: …) is read by SimAI's rules (simai.h).
 */
ORR_MUST_CHECK enum orr_status text_convert(const struct convert_request *request, struct convert_summary *summary,
                                            struct orr_error *err);

/* The same with another reading of the text: `builder` makes the graph that every rank gets. */
typedef enum orr_status text_builder(const struct convert_request *request, struct work *work, struct orr_error *err);
ORR_MUST_CHECK enum orr_status text_convert_by(const struct convert_request *request, text_builder *builder,
                                               struct convert_summary *summary, struct orr_error *err);

/* ---- shared by the readers of workload texts ---- */

/* Blank-separated words with their line; carriage returns are blank. */
struct text_words {
    const char *path;
    const char *at, *end;
    uint64_t line;
};

/* False at the end; `word->length` is then 0. */
bool text_word_next(struct text_words *words, struct et_text *word);
bool text_word_is(struct et_text word, const char *text);
/* A decimal number, whole, at least 0. ORR_EINVAL or ORR_ERANGE, saying `what` it should have been. */
ORR_MUST_CHECK enum orr_status text_word_count(const struct text_words *words, struct et_text word, const char *what,
                                               int64_t *value, struct orr_error *err);

/* Reads the file, packed or not, which must be UTF-8 without control characters. `file` must be empty. */
ORR_MUST_CHECK enum orr_status text_load(const char *path, struct file_buffer *file, struct orr_error *err);

/* Twelve words: name, dependency, three times (time, communication, bytes), update time. The dependency is not used and
 * may be anything. */
ORR_MUST_CHECK enum orr_status text_layer_read(struct text_words *words, struct text_layer *layer,
                                               struct orr_error *err);

/* Every layer that repeats the forward pass needs a checkpoint at or before it. */
ORR_MUST_CHECK enum orr_status text_check_initiates(const struct text_workload *workload, struct orr_error *err);

/* ---- building a graph as a program runs: compute in order, collectives beside it ---- */

struct text_build {
    struct work *work;
    const char *path;
    uint32_t *waits; /* what the next node waits for */
    uint32_t wait_count, wait_capacity;
    uint64_t compute_ns; /* so far: durations are cut at whole microseconds of this sum, so that none is lost */
    uint64_t update_ns;
    uint64_t left_out; /* collectives the strategy or the size of the group leaves out */
    uint64_t left_out_line;
};

void text_build_free(struct text_build *build);

/* The next node also waits for `place`, unless that is WORK_NONE. */
ORR_MUST_CHECK enum orr_status text_build_wait(struct text_build *build, uint32_t place, struct orr_error *err);
/* Compute of `ns` that the program waits for; nothing when it takes no time. */
ORR_MUST_CHECK enum orr_status text_build_compute(struct text_build *build, const struct text_layer *layer,
                                                  const char *what, int64_t ns, struct orr_error *err);
/* The parameters' update after `parent`: beside the program. `*place` is WORK_NONE when there is nothing to do. */
ORR_MUST_CHECK enum orr_status text_build_update(struct text_build *build, const struct text_layer *layer,
                                                 uint32_t parent, uint32_t *place, struct orr_error *err);

struct text_comm {
    const char *phase; /* for the name */
    const char *word;  /* the operation, as written */
    int32_t types[2];  /* Chakra's numbers; carried out one after the other */
    unsigned type_count;
    int64_t bytes;
    enum work_group group;
    uint8_t dims;
};

/* A collective beside the program, after all it has done so far; `*place` is the last node made. */
ORR_MUST_CHECK enum orr_status text_build_comm(struct text_build *build, const struct text_layer *layer,
                                               const struct text_comm *comm, uint32_t *place, struct orr_error *err);
/* A message to the rank `peer` ranks further (before, where negative), beside the program, or from it, which the
 * program waits for. */
ORR_MUST_CHECK enum orr_status text_build_message(struct text_build *build, bool sends, int64_t peer, uint32_t tag,
                                                  int64_t bytes, struct orr_error *err);
/* The program goes on only after `place`, if that is a node. */
ORR_MUST_CHECK enum orr_status text_build_block(struct text_build *build, uint32_t place, struct orr_error *err);

/* Chakra's numbers for an operation's word: ALLREDUCE …, none for NONE. ORR_EINVAL names the nearest known word. */
ORR_MUST_CHECK enum orr_status text_comm_types(const char *path, uint64_t line, struct et_text word,
                                               struct text_comm *comm, struct orr_error *err);

#endif
