/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AICB's options (spec simai §13.1, §13.2) as one table, and what follows from them: the degrees of parallelism, the
 * padded vocabulary, the layers of a pipeline stage (§2.1). Every generator of AICB's files starts here; the command
 * line, the help and docs/aicb.md come from the same rows.
 *
 * The options are a plain struct of values. Texts are borrowed: whoever sets one keeps it until the options are done
 * with. Knows no generator, opens no file.
 */
#ifndef ORR_MODEL_AICB_OPTIONS_H
#define ORR_MODEL_AICB_OPTIONS_H

#include "base/notes.h"
#include "model/aicb/fixes.h"
#include "model/aicb/part_times.h"

enum { AICB_OPTIONS_MAX = 96 };

enum aicb_frame { AICB_FRAME_MEGATRON, AICB_FRAME_DEEPSPEED, AICB_FRAME_COLLECTIVE_TEST, AICB_FRAME_DEEPSEEK };
enum aicb_phase { AICB_PHASE_DECODE, AICB_PHASE_PREFILL };
enum aicb_routing { AICB_ROUTING_ROUND_ROBIN, AICB_ROUTING_UNIFORM_RANDOM };
enum aicb_time_source { AICB_TIMES_GIVEN, AICB_TIMES_MODEL };
enum aicb_norm { AICB_NORM_LAYER, AICB_NORM_RMS };
enum aicb_position { AICB_POSITION_LEARNED, AICB_POSITION_ROPE };

/* What a generator is, for the table's masks. MEGATRON (also DeepSeek's model), ZERO and COLLECTIVE are the three
 * families of "physical" CSVs. */
enum aicb_generator {
    AICB_TRAINING = 1 << 0,
    AICB_INFERENCE = 1 << 1,
    AICB_VIDUR = 1 << 2,
    AICB_MEGATRON = 1 << 3,
    AICB_ZERO = 1 << 4,
    AICB_COLLECTIVE = 1 << 5,
};

/* Field names are the options' own, without what only lengthens them; comments say where a value is not what it seems.
 * 0 in a field whose option has no default means: not given. */
struct aicb_options {
    const char *model;      /* ours: a preset's name */
    const char *model_name; /* NULL prints as None, as does the next; in inference the family */
    const char *gpu_type;
    const char *dtype;
    const char *comp_filepath;
    const char *device; /* ours: whose times the operator model tells */
    const char *config_file, *result_dir;
    const char *test_comm;
    const char *gated_linear_unit, *activation_func;

    int64_t world_size;
    int64_t tp, pp, cp, ep;
    int64_t pp_rank;
    int64_t global_batch, micro_batch, epoch_num;

    int64_t hidden_size, num_layers, seq_length;
    int64_t ffn_hidden_size;     /* no default */
    int64_t num_attention_heads; /* no default */
    int64_t vocab_size, max_position_embeddings, make_vocab_size_divisible_by;
    int64_t num_experts, moe_router_topk;
    int64_t n_dense_layers, n_shared_expert;
    int64_t qk_rope_dim, qk_nope_dim, q_lora_rank, kv_lora_rank, v_head_dim;
    /* Ours, by Megatron-LM's names: what AICB's counts leave out. */
    int64_t num_query_groups;    /* no default: as many as heads */
    int64_t kv_channels;         /* no default: hidden_size / heads */
    int64_t moe_ffn_hidden_size; /* no default: as ffn_hidden_size */

    int64_t stage;
    int64_t reduce_bucket_size, allgather_bucket_size;
    int64_t param_persistence_threshold, model_persistence_threshold;
    int64_t max_live_parameters, prefetch_bucket_size;
    int64_t begin_size, end_size, iter_num, multi_all_reduce_enable;
    int64_t aiob_forward_loops;

    enum aicb_frame frame;
    enum aicb_phase phase;
    enum aicb_routing moe_routing_strategy;
    enum aicb_time_source compute_times;        /* ours */
    enum aicb_norm normalization;               /* ours */
    enum aicb_position position_embedding_type; /* ours */

    bool add_bias_linear, use_flash_attn, swiglu;
    bool enable_sequence_parallel, use_distributed_optimizer, overlap_grad_reduce;
    bool recompute_activations;
    bool moe_enable, moe_grouped_gemm;
    bool untie_embeddings_and_output_weights; /* ours */
    bool aiob_enable, computation_enable, enable_visual, workload_only;
    bool bias_gelu_fusion, openai_gelu, onnx_safe, squared_relu, overlap_version;
    bool amp_enabled, contiguous_gradients;

    bool compat;                              /* read files and name outputs as AICB does; fail where it fails */
    struct aicb_fixes fix;                    /* none with compat */
    const struct aicb_part_times *part_times; /* ours: what the operator model says; NULL: not asked */
    const struct aicb_inference_times *inference_times; /* the same, of inference */
    bool given[AICB_OPTIONS_MAX];
};

enum aicb_option_kind { AICB_FLAG, AICB_INT, AICB_TEXT, AICB_CHOICE };

struct aicb_option {
    const char *name; /* as AICB spells it, without dashes in front */
    enum aicb_option_kind kind;
    uint32_t taken_by;   /* generators whose parser knows it (enum aicb_generator, or-ed) */
    uint32_t affects;    /* those whose file it changes */
    bool ours;           /* AICB has no such option */
    bool no_default;     /* INT: 0 means not given */
    size_t offset;       /* of the value in struct aicb_options */
    int64_t fallback;    /* INT, FLAG (0 or 1), CHOICE (index) */
    int64_t least, most; /* INT */
    const char *text;    /* TEXT: the default; NULL is AICB's None */
    const char *const *choices;
    const char *help;
};

/* Row `index`, NULL behind the last. A name can have two rows with different defaults, for different generators. */
const struct aicb_option *aicb_option_row(unsigned index);

/* The defaults of `generator`'s parser. */
void aicb_options_init(struct aicb_options *options, enum aicb_generator generator, bool compat);

/*
 * Sets the option `name` of `generator` ("world_size"; '-' and '_' are the same). `value` is NULL for a flag, and
 * borrowed. Fails with ORR_EINVAL (unknown name, with the nearest; not a number; not one of the choices) or ORR_ERANGE.
 */
ORR_MUST_CHECK enum orr_status aicb_options_set(struct aicb_options *options, enum aicb_generator generator,
                                                const char *name, const char *value, struct orr_error *err);

/* The row that `name` of `length` bytes means, or NULL. With `prefix` a beginning that fits only one name will do;
 * AICB's own names then go before ours. */
const struct aicb_option *aicb_option_find(enum aicb_generator generator, const char *name, size_t length, bool prefix);

/* Whether the option was set, by its field: AICB_GIVEN(options, seq_length). */
bool aicb_options_given(const struct aicb_options *options, size_t offset);
#define AICB_GIVEN(options, field) aicb_options_given((options), offsetof(struct aicb_options, field))

/* One note that names the options that were set and change nothing in this generator's file. */
ORR_MUST_CHECK enum orr_status aicb_options_note_unused(const struct aicb_options *options,
                                                        enum aicb_generator generator, struct notes *notes,
                                                        struct orr_error *err);

/* What follows from the options (§2.1), by the fixes that are on. */
struct aicb_shape {
    int64_t dp;       /* replicas of the model, context parallelism not counted */
    int64_t ga;       /* micro-batches a step; may be 0 without the fix whole_batches */
    int64_t vocab;    /* padded */
    int64_t ffn;      /* of a dense layer */
    int64_t moe_ffn;  /* of an expert */
    int64_t heads;    /* of attention */
    int64_t head_dim; /* values a head */
    int64_t kv_heads; /* key/value heads */
    int64_t layers;   /* of a pipeline stage */
    int64_t tokens;   /* of a micro-batch on one rank, before sequence parallelism divides them */
};

/* Fails with ORR_EINVAL, naming the rule that is broken, or ORR_ERANGE. `notes` says what AICB only prints. */
ORR_MUST_CHECK enum orr_status aicb_options_derive(const struct aicb_options *options, struct aicb_shape *shape,
                                                   struct notes *notes, struct orr_error *err);

/* a * b and a + b that remember an overflow: sums of parameters are long, and checked once at the end. */
int64_t aicb_mul(int64_t a, int64_t b, bool *overflow);
int64_t aicb_add(int64_t a, int64_t b, bool *overflow);

#endif
