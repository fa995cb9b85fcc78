/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training step from a description: a model, how it is divided, a machine. Included by orrery.h.
 */
#ifndef ORRERY_TRAIN_H
#define ORRERY_TRAIN_H

#include "orrery/base.h"
#include "orrery/run.h"

ORR_BEGIN

/* ---- models ------------------------------------------------------------------------------------------------------ */

/* name, word, what it is */
#define ORR_TRAIN_FAMILIES(X)                                                                                          \
    X(GPT, "gpt", "decoder with layer norms, GELU, biases and learned positions")                                      \
    X(LLAMA, "llama", "decoder with RMS norms, a gated activation and rotary positions")                               \
    X(BERT, "bert", "encoder, norms behind the sums, attention both ways")                                             \
    X(T5, "t5", "encoder and decoder with cross attention")                                                            \
    X(VIT, "vit", "pictures in patches through an encoder")                                                            \
    X(RESNET, "resnet", "convolutions in residual blocks")                                                             \
    X(VGG, "vgg", "convolutions in five stages, three large layers behind them")                                       \
    X(DLRM, "dlrm", "tables of embeddings, their interaction, small layers on both sides")                             \
    X(MLP, "mlp", "linear layers with an activation between them")

enum orr_train_family {
#define ORR_X(symbol, word, text) ORR_TRAIN_##symbol,
    ORR_TRAIN_FAMILIES(ORR_X)
#undef ORR_X
        ORR_TRAIN_FAMILY_COUNT
};

enum { ORR_TRAIN_STAGES = 5 };

/* The shape of a model. What a family does not have is 0. */
struct orr_train_model {
    char name[64];
    enum orr_train_family family;
    uint32_t layers; /* of T5: of the encoder, and as many of the decoder */
    uint32_t hidden, ffn, heads, kv_heads, head_dim, vocab, seq;
    uint32_t positions; /* learned ones */
    bool gated;         /* the first product of the MLP is two, one of which gates the other */
    bool tied;          /* the head is the embedding */
    bool bias;          /* on every linear layer */
    bool qkv_bias;      /* on queries, keys and values, where there are no others */
    /* Latent attention: keys and values through `kv_rank`, queries through `q_rank` (0: directly), of head_dim the last
     * `rope_dim` carry positions; values have v_head_dim. kv_rank 0: ordinary attention. */
    uint32_t kv_rank, q_rank, rope_dim, v_head_dim;
    /* Attention over the last `window` tokens (0: over all), but in every `window_every`-th layer (0: in all layers).
     */
    uint32_t window, window_every;
    /* Experts in all layers but the first `dense_layers`; 0: none. */
    uint32_t experts, topk, expert_ffn, shared_experts, dense_layers;
    uint32_t image, patch, classes;    /* pictures: pixels of a side */
    uint32_t blocks[ORR_TRAIN_STAGES]; /* convolutions: blocks of each stage */
    bool bottleneck;
    uint32_t tables; /* of embeddings */
    const char *source;
};

/* Parameters by what they are. */
struct orr_train_parameters {
    uint64_t embedding;      /* tokens and positions, or tables */
    uint64_t head;           /* 0 where it is tied */
    uint64_t attention, mlp; /* of one dense layer, norms in `norms` */
    uint64_t norms;          /* of one layer */
    uint64_t router, expert; /* of one layer with experts: the router; one expert */
    uint64_t total;
    uint64_t active; /* of one token: of the experts those it goes to */
};

/* By the name of a preset (`orr_train_model_list`) or the path of a config.json as Hugging Face has it. ORR_EINVAL
 * names the nearest preset, or the key of the file that is missing or not understood. */
ORR_MUST_CHECK enum orr_status orr_train_model_find(const char *what, struct orr_train_model *model,
                                                    struct orr_error *err);
/* Whether the numbers can be a model; fills in what follows from others (head_dim, kv_heads, ffn). */
ORR_MUST_CHECK enum orr_status orr_train_model_settle(struct orr_train_model *model, struct orr_error *err);
void orr_train_model_count(const struct orr_train_model *model, struct orr_train_parameters *parameters);
/* Whether `what` is the path of a file, and no preset's name. */
bool orr_train_model_is_file(const char *what);
/* Presets, a line each; with `name`, one of them with its shape, parameters and source. As TEXT or JSON. */
ORR_MUST_CHECK enum orr_status orr_train_model_list(const char *name, enum orr_form form, FILE *stream,
                                                    struct orr_error *err);
/* All presets as one JSON document; and all frameworks (presets/frameworks). */
ORR_MUST_CHECK enum orr_status orr_train_models_json(FILE *stream, struct orr_error *err);
ORR_MUST_CHECK enum orr_status orr_train_frameworks_json(FILE *stream, struct orr_error *err);

/* ---- how it is divided and carried out --------------------------------------------------------------------------- */

#define ORR_TRAIN_RECOMPUTES(X)                                                                                        \
    X(NONE, "none")                                                                                                    \
    X(SELECTIVE, "selective")                                                                                          \
    X(FULL, "full")
#define ORR_TRAIN_SHARDINGS(X)                                                                                         \
    X(NONE, "none")                                                                                                    \
    X(FULL, "full")                                                                                                    \
    X(HYBRID, "hybrid")
#define ORR_TRAIN_SCHEDULES(X)                                                                                         \
    X(ONE_F_ONE_B, "1f1b")                                                                                             \
    X(GPIPE, "gpipe")                                                                                                  \
    X(INTERLEAVED, "interleaved")                                                                                      \
    X(ZERO_BUBBLE, "zero-bubble")                                                                                      \
    X(DUALPIPE, "dualpipe")
#define ORR_TRAIN_DTYPES(X)                                                                                            \
    X(BF16, "bf16")                                                                                                    \
    X(FP16, "fp16")                                                                                                    \
    X(FP8, "fp8")                                                                                                      \
    X(MXFP8, "mxfp8")                                                                                                  \
    X(NVFP4, "nvfp4")                                                                                                  \
    X(FP32, "fp32")
#define ORR_TRAIN_OPTIMIZERS(X)                                                                                        \
    X(ADAMW, "adamw")                                                                                                  \
    X(SGD, "sgd")
#define ORR_X(symbol, word) ORR_TRAIN_RECOMPUTE_##symbol,
enum orr_train_recompute { ORR_TRAIN_RECOMPUTES(ORR_X) ORR_TRAIN_RECOMPUTE_COUNT };
#undef ORR_X
#define ORR_X(symbol, word) ORR_TRAIN_SHARDING_##symbol,
enum orr_train_sharding { ORR_TRAIN_SHARDINGS(ORR_X) ORR_TRAIN_SHARDING_COUNT };
#undef ORR_X
#define ORR_X(symbol, word) ORR_TRAIN_SCHEDULE_##symbol,
enum orr_train_schedule { ORR_TRAIN_SCHEDULES(ORR_X) ORR_TRAIN_SCHEDULE_COUNT };
#undef ORR_X
#define ORR_X(symbol, word) ORR_TRAIN_DTYPE_##symbol,
enum orr_train_dtype { ORR_TRAIN_DTYPES(ORR_X) ORR_TRAIN_DTYPE_COUNT };
#undef ORR_X
#define ORR_X(symbol, word) ORR_TRAIN_OPTIMIZER_##symbol,
enum orr_train_optimizer { ORR_TRAIN_OPTIMIZERS(ORR_X) ORR_TRAIN_OPTIMIZER_COUNT }; /* sgd: with momentum */
#undef ORR_X

/* What ranks are numbered by: a rank's number has a digit for each. The usual order is this one, Megatron-LM's. */
#define ORR_TRAIN_AXES(X)                                                                                              \
    X(TP, "tp")                                                                                                        \
    X(CP, "cp")                                                                                                        \
    X(EP, "ep")                                                                                                        \
    X(DP, "dp")                                                                                                        \
    X(PP, "pp")
#define ORR_X(symbol, word) ORR_TRAIN_AXIS_##symbol,
enum orr_train_axis { ORR_TRAIN_AXIS_NONE, ORR_TRAIN_AXES(ORR_X) ORR_TRAIN_AXIS_END };
#undef ORR_X
enum { ORR_TRAIN_AXIS_COUNT = ORR_TRAIN_AXIS_END - 1, ORR_TRAIN_ORDER_ROOM = 24 };

/* Which communication runs beside compute: bits of struct orr_train_plan.overlap. */
enum { ORR_TRAIN_OVERLAP_DP = 1, ORR_TRAIN_OVERLAP_TP = 2, ORR_TRAIN_OVERLAP_PP = 4, ORR_TRAIN_OVERLAP_EP = 8 };

/* gpus = tp x cp x pp x dp; ep divides dp x cp (experts lie across data-parallel ranks, as in Megatron-LM). */
struct orr_train_plan {
    uint32_t gpus, tp, pp, dp, cp, ep, etp, vpp;
    bool sp;                          /* activations between the products divided over tp too */
    uint32_t zero;                    /* 0 to 3 */
    bool zero_said;                   /* 0 is meant: else FSDP's frameworks divide the weights over all ranks */
    enum orr_train_sharding sharding; /* FSDP: over all data-parallel ranks, or over groups of them */
    uint32_t fsdp_group;              /* of hybrid sharding: ranks that divide weights; 0: those of a server */
    uint32_t micro_batch, global_batch, seq;
    enum orr_train_recompute recompute;
    enum orr_train_dtype dtype;
    enum orr_train_schedule schedule;
    uint32_t overlap; /* ORR_TRAIN_OVERLAP_* */
    bool compile;
    bool cuda_graphs; /* kernels of a whole step are launched by one graph, so that the host needs no time for each */
    enum orr_train_optimizer optimizer;
    /* Of enum orr_train_axis: whose ranks have neighbouring numbers first. 0: not said; those behind are the usual. */
    uint8_t order[ORR_TRAIN_AXIS_COUNT];
    uint32_t bucket; /* of a simulated step and of traces: weights of a bucket of gradients; 0: as Megatron-LM has it */
};

/* Settles what follows from the rest (0: not said) and checks that the model can be divided so: ORR_EINVAL names the
 * rule and the nearest values that obey it. */
ORR_MUST_CHECK enum orr_status orr_train_plan_settle(const struct orr_train_model *model, struct orr_train_plan *plan,
                                                     struct orr_error *err);

/* "tp-cp-ep-dp-pp" of a settled plan, or of `whole` false the axes alone that have more than one rank ("-": none); into
 * `text`, or a constant. Whether it is the usual order. */
const char *orr_train_order_text(const struct orr_train_plan *plan, bool whole, char text[ORR_TRAIN_ORDER_ROOM]);
bool orr_train_order_is_usual(const struct orr_train_plan *plan);

/* ---- a step ------------------------------------------------------------------------------------------------------ */

/* What is asked for. Texts are borrowed; NULL and 0: not given. Start from orr_train_options_init. */
struct orr_train_options {
    size_t size;                     /* of this struct, as the caller knows it */
    const char *model;               /* a preset's name or the path of a config.json; NULL: `shape` says all */
    struct orr_train_model shape;    /* what is not 0 goes before the model's own */
    int gated, tied, bias, qkv_bias; /* -1: as the model has it */
    bool latent;                     /* attention is latent; ranks that nobody says are DeepSeek-V3's */
    const char *machine;             /* a name or line (docs/machines.md); NULL: `gpu` and its usual server */
    const char *gpu;                 /* a device (`orrery op list`); NULL: the machine's */
    const char *interconnect;        /* words about the network between servers, as tables have them; or NULL */
    uint32_t gpus_per_node;          /* 0: the machine's */
    struct orr_train_plan plan;
    const char *framework;     /* NULL: megatron, for one GPU torch */
    const char *release;       /* of the framework, "26.04"; NULL: the newest that is known */
    const char *framework_set; /* changes of its numbers: "gemm=1.1,host_layer=500"; or NULL */
    double ep_imbalance;       /* tokens of the busiest expert's rank over the mean; 0: 1 */
    double power_watts;        /* that the GPU may take; 0: its own limit */
    double gpu_hour;           /* price of one GPU for an hour; 0: not told */
    bool without_neighbours;   /* by pieces alone: measured runs near it are not asked */
    uint64_t memory_limit;     /* bytes of this computation; 0 = 80 % of the machine */
    bool simulates;            /* besides, the step is simulated: its workload runs on `backend` */
    enum orr_backend backend;
    enum orr_collective_times collective_times; /* of that run */
    bool merge_kernels;                         /* orr_train_write: kernels between two communications are one node */
    /* Of the simulated step: as orr_run_options has them. */
    bool (*progress)(void *context, const struct orr_progress *now);
    void *progress_context;
};

void orr_train_options_init(struct orr_train_options *options);

/* For programs that do not know the struct (other languages): options on the heap with the defaults, or NULL; set by
 * the names that `orrery train` has, as orr_run_set does it; `value` is borrowed as long as the options are used. */
struct orr_train_options *orr_train_options_new(void);
void orr_train_options_delete(struct orr_train_options *options); /* NULL is fine */
ORR_MUST_CHECK enum orr_status orr_train_set(struct orr_train_options *options, const char *name, const char *value,
                                             struct orr_error *err);

/* Bytes of one GPU, of the stage that needs most, as an allocator of tensors counts at its peak. `fragmentation` is
 * what it holds without need; `device`, what tensors can have of a device's memory. */
struct orr_train_memory {
    uint64_t weights, gradients, optimizer, activations, buffers, fragmentation, total, device;
    bool fits;
};

/* The step as simulated: where the time of the busiest stage's first rank goes. The parts add up to step_ns. */
struct orr_train_simulated {
    uint64_t step_ns; /* 0: not simulated */
    uint64_t forward_ns, backward_ns;
    uint64_t exposed_tp_ns, exposed_cp_ns, exposed_ep_ns, exposed_pp_ns, exposed_dp_ns, exposed_comm_ns;
    uint64_t bubble_ns, launch_ns, optimizer_ns;
    uint64_t nodes, messages; /* of all ranks */
    uint32_t rank;            /* whose parts these are */
    uint32_t idle;            /* ranks of the machine that the job does not use */
    enum orr_backend backend; /* that ran it */
    char machine[96];
};

/* How the groups of one axis lie in servers: of `ranks` ranks so many in each of so many servers. */
struct orr_train_place {
    uint32_t ranks, inside, servers;
};

/* Where the time of a step goes: the parts add up to step_ns. */
struct orr_train_result {
    uint64_t step_ns;
    uint64_t forward_ns, backward_ns; /* kernels of the busiest stage */
    uint64_t exposed_tp_ns, exposed_cp_ns, exposed_ep_ns, exposed_pp_ns, exposed_dp_ns;
    uint64_t exposed_comm_ns; /* of all five */
    uint64_t bubble_ns, launch_ns, optimizer_ns;
    double tokens_per_s, tokens_per_s_per_gpu; /* samples, where a model has no tokens */
    double model_flops; /* of a step on all GPUs: products of the model, forwards and backwards once */
    double tflops_per_gpu, hardware_tflops_per_gpu, mfu, hfu;
    struct orr_train_memory memory;
    char bound_by[24];
    struct orr_train_model model; /* as settled */
    struct orr_train_plan plan;
    struct orr_train_place places[ORR_TRAIN_AXIS_COUNT]; /* in the usual order of axes; that of dp is with cp */
    struct orr_train_parameters parameters;
    const char *device, *framework;
    /* What measured runs near it say (data/runs): times above are those predicted by pieces times `moved`; `error` is
     * the share by which it may be off, either way, in two of three cases. 0: not asked, or none is near. */
    double moved, error;
    uint32_t nearest_count;
    struct {
        char id[48];
        double error; /* of that run, as predicted by pieces */
    } nearest[8];
    double watts, joules;                 /* that a GPU draws in the mean; of a step, all GPUs (docs/train.md) */
    double gpu_hour, cost;                /* as asked; of a step. 0: not told */
    struct orr_train_simulated simulated; /* where it was asked for */
};

ORR_MUST_CHECK enum orr_status orr_train_step(const struct orr_train_options *options, struct orr_train_result *result,
                                              struct orr_error *err);

/* For who asks many times: the data that predictions are made of, opened once; asked by any number of threads at once.
 * The answers are those of orr_train_step, which spends nearly all of its time on opening them. */
struct orr_trainer;
ORR_MUST_CHECK enum orr_status orr_trainer_open(struct orr_trainer **trainer, struct orr_error *err);
void orr_trainer_close(struct orr_trainer *trainer); /* when nobody asks it any more; NULL is fine */
ORR_MUST_CHECK enum orr_status orr_trainer_step(struct orr_trainer *trainer, const struct orr_train_options *options,
                                                struct orr_train_result *result, struct orr_error *err);

struct orr_train_written {
    uint64_t files, nodes; /* nodes of all files */
    uint64_t collectives, messages;
    uint32_t roles; /* ranks that differ in more than groups and peers: pipeline stages */
};

/* Writes the step as a workload: PREFIX.0.et, PREFIX.1.et … (Chakra ET) and PREFIX.groups.json, for `orrery run` and
 * ASTRA-sim (docs/train.md). ORR_EINVAL names what has no such form; ORR_ERANGE: more bytes than are written. */
ORR_MUST_CHECK enum orr_status orr_train_write(const struct orr_train_options *options, const char *prefix,
                                               struct orr_train_written *written, struct orr_error *err);

/* The same, told at once as TEXT or JSON. */
ORR_MUST_CHECK enum orr_status orr_train_tell(const struct orr_train_options *options, enum orr_form form, FILE *stream,
                                              struct orr_error *err);

/* For people; as JSON. */
ORR_MUST_CHECK enum orr_status orr_train_print(const struct orr_train_result *result, FILE *stream,
                                               struct orr_error *err);
ORR_MUST_CHECK enum orr_status orr_train_json(const struct orr_train_result *result, FILE *stream,
                                              struct orr_error *err);
/* What the step's time is made of, as a picture (SVG). */
ORR_MUST_CHECK enum orr_status orr_train_chart(const struct orr_train_result *result, FILE *stream,
                                               struct orr_error *err);

/* ---- tables ------------------------------------------------------------------------------------------------------ */

struct orr_train_table {
    const char *input, *output;               /* CSV; output NULL: to `stream` */
    const struct orr_train_options *defaults; /* for what a row leaves open */
    uint32_t threads;                         /* 0: all processors */
};

struct orr_train_table_result {
    uint64_t rows, predicted, measured; /* measured: of those predicted, with step_s */
    double mean, median, p90, worst, bias;
};

/* One run a row, a column a parameter (docs/train.md); columns that are none are carried along. Adds predicted_step_s,
 * predicted_memory_gb, fits, bound_by, error (where step_s is given) and status: "ok", or why a row could not be
 * predicted; the others go on. `summary` (or NULL): errors by source. */
ORR_MUST_CHECK enum orr_status orr_train_predict_table(const struct orr_train_table *table, FILE *stream, FILE *summary,
                                                       struct orr_train_table_result *result, struct orr_error *err);

/* ---- measured runs ----------------------------------------------------------------------------------------------- */

/* Whether constants may be fitted on a measured run; the others are what they are judged by. A whole cell (a source, a
 * model and a number of GPUs) goes one way: bit 0 of FNV-1a, 64 bits, of "source|model|gpus" is 0 where it is fitted.
 */
bool orr_train_run_is_fitted(const char *source, const char *model, uint32_t gpus);

/* Predictions held against measured runs: those that come with the library, and those of folders. */
struct orr_train_validation {
    const char *const *folders; /* each with runs.csv, and failed.csv where there is one; or in runs/ below it */
    size_t folder_count;
    const char *quality; /* letters of the column `quality` that count; NULL: "AB" */
    bool unseen;         /* also predict with all runs of a row's own source left out: twice the time */
    const char *output;  /* a page in Markdown, with pictures in pictures/ beside it; NULL: none */
    uint32_t threads;    /* 0: all processors */
    uint64_t memory_limit;
};

/* By source: how far off steps, memory and whether it fits are, beside what one constant MFU gives; how well settings
 * of one job are ordered, and what the best of them by prediction loses. A run that a constant was fitted on is told
 * apart from those it is judged by. Text to `stream`. */
ORR_MUST_CHECK enum orr_status orr_train_validate(const struct orr_train_validation *validation, FILE *stream,
                                                  struct orr_error *err);

ORR_END

#endif
