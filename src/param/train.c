/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a training step: options of `orrery train` and columns of its tables (a column's name has _ for -).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "param/param.h"

#define WORD_X(symbol, word) word,
static const char *const train_recomputes[] = {ORR_TRAIN_RECOMPUTES(WORD_X) NULL};
static const char *const train_shardings[] = {ORR_TRAIN_SHARDINGS(WORD_X) NULL};
static const char *const train_schedules[] = {ORR_TRAIN_SCHEDULES(WORD_X) NULL};
static const char *const train_optimizers[] = {ORR_TRAIN_OPTIMIZERS(WORD_X) NULL};
static const char *const train_dtypes[] = {ORR_TRAIN_DTYPES(WORD_X) NULL};
static const char *const train_axes[] = {"", ORR_TRAIN_AXES(WORD_X) NULL};
#undef WORD_X
static const char *const train_collective_times[] = {"simulated", "model", NULL};
#define WORD_X(symbol, word, text) word,
static const char *const train_families[] = {ORR_TRAIN_FAMILIES(WORD_X) NULL};
#undef WORD_X

static const struct {
    const char *word;
    uint32_t bit;
} train_overlaps[] = {{"dp", ORR_TRAIN_OVERLAP_DP},
                      {"tp", ORR_TRAIN_OVERLAP_TP},
                      {"pp", ORR_TRAIN_OVERLAP_PP},
                      {"ep", ORR_TRAIN_OVERLAP_EP}};

static enum orr_status train_read_overlap(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct orr_train_options *options = into;
    uint32_t bits = 0;
    if (strcmp(text, "none") == 0) {
        options->plan.overlap = 0;
        return ORR_OK;
    }
    for (const char *at = text; *at != '\0';) {
        size_t length = strcspn(at, ","), i = 0;
        while (i < 4 && (strlen(train_overlaps[i].word) != length || memcmp(train_overlaps[i].word, at, length) != 0)) {
            i++;
        }
        if (i == 4) {
            return error_set(err, ORR_EINVAL, "parameter '%s': \"%.*s\" is none of dp, tp, pp, ep; or none at all",
                             row->name, (int)length, at);
        }
        bits |= train_overlaps[i].bit;
        at += length + (at[length] == ',');
    }
    options->plan.overlap = bits;
    return ORR_OK;
}

static bool train_write_overlap(const struct param *row, const void *from, size_t index, FILE *stream)
{
    uint32_t bits = ((const struct orr_train_options *)from)->plan.overlap;
    (void)row;
    for (size_t i = 0; index == 0 && i < 4; i++) {
        bool first = (bits & (train_overlaps[i].bit - 1)) == 0;
        (void)((bits & train_overlaps[i].bit) != 0 ? fprintf(stream, "%s%s", first ? "" : ",", train_overlaps[i].word)
                                                   : 0);
    }
    return index == 0 && bits != 0;
}

/* "tp-cp-ep-dp-pp", as Megatron-LM has it; axes of one rank may be left out. */
static enum orr_status train_read_order(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    uint8_t order[ORR_TRAIN_AXIS_COUNT] = {0};
    size_t count = 0;
    for (const char *at = text; *at != '\0' || count == 0;) {
        size_t length = strcspn(at, "-");
        uint8_t axis = 1;
        while (axis < ORR_TRAIN_AXIS_END &&
               (strlen(train_axes[axis]) != length || memcmp(train_axes[axis], at, length) != 0)) {
            axis++;
        }
        if (axis == ORR_TRAIN_AXIS_END || memchr(order, axis, count) != NULL) {
            return error_set(err, ORR_EINVAL,
                             "parameter '%s': \"%.*s\" %s; an order is tp, cp, ep, dp and pp with - between, what is "
                             "nearest first: tp-cp-ep-dp-pp, tp-cp-ep-pp-dp",
                             row->name, (int)length, at,
                             axis == ORR_TRAIN_AXIS_END ? "is none of tp, cp, ep, dp, pp" : "stands in it twice");
        }
        order[count++] = axis;
        at += length + (at[length] == '-');
    }
    memcpy(((struct orr_train_options *)into)->plan.order, order, sizeof order);
    return ORR_OK;
}

static bool train_write_order(const struct param *row, const void *from, size_t index, FILE *stream)
{
    const uint8_t *order = ((const struct orr_train_options *)from)->plan.order;
    (void)row;
    for (size_t i = 0; index == 0 && i < ORR_TRAIN_AXIS_COUNT && order[i] != 0 && order[i] < ORR_TRAIN_AXIS_END; i++) {
        (void)fprintf(stream, "%s%s", i > 0 ? "-" : "", train_axes[order[i]]);
    }
    return index == 0 && order[0] != 0;
}

static enum orr_status train_read_open(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    char where[40];
    bool value = false;
    (void)snprintf(where, sizeof where, "parameter '%s'", row->name);
    enum orr_status status = param_parse_bool(where, text, &value, err);
    if (status == ORR_OK) {
        *(int *)(void *)((char *)into + row->place) = value;
    }
    return status;
}

static bool train_write_open(const struct param *row, const void *from, size_t index, FILE *stream)
{
    int value = *(const int *)(const void *)((const char *)from + row->place);
    (void)(index == 0 && value >= 0 ? fputs(value != 0 ? "true" : "false", stream) : 0);
    return index == 0 && value >= 0;
}

static enum orr_status train_read_zero(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct orr_train_plan *plan = &((struct orr_train_options *)into)->plan;
    char where[40];
    uint64_t stage = 0;
    (void)snprintf(where, sizeof where, "parameter '%s'", row->name);
    enum orr_status status = param_parse_count(where, text, 0, 3, &stage, err);
    if (status == ORR_OK) {
        plan->zero = (uint32_t)stage;
        plan->zero_said = true;
    }
    return status;
}

static bool train_write_zero(const struct param *row, const void *from, size_t index, FILE *stream)
{
    (void)row;
    const struct orr_train_plan *plan = &((const struct orr_train_options *)from)->plan;
    bool told = index == 0 && (plan->zero > 0 || plan->zero_said);
    if (told) {
        (void)fprintf(stream, "%" PRIu32, plan->zero);
    }
    return told;
}

/* How many heads share keys and values follows from their numbers; only latent attention is another thing. */
static enum orr_status train_read_attention(const struct param *row, const char *text, void *into,
                                            struct orr_error *err)
{
    static const char *const kinds[] = {"mha", "gqa", "mqa", "mla", NULL};
    struct orr_train_options *options = into;
    char where[40];
    unsigned index = 0;
    (void)snprintf(where, sizeof where, "parameter '%s'", row->name);
    enum orr_status status = param_parse_word(where, text, kinds, &index, err);
    options->latent = status == ORR_OK && index == 3;
    return status;
}

static bool train_write_attention(const struct param *row, const void *from, size_t index, FILE *stream)
{
    (void)row;
    bool told = index == 0 && ((const struct orr_train_options *)from)->latent;
    (void)(told ? fputs("mla", stream) : 0);
    return told;
}

/* "3,4,6,3", also in brackets. */
static enum orr_status train_read_blocks(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct orr_train_options *options = into;
    const char *at = text + strspn(text, "[ ");
    memset(options->shape.blocks, 0, sizeof options->shape.blocks);
    for (int i = 0; i < ORR_TRAIN_STAGES; i++) {
        char *end = NULL;
        unsigned long blocks = strtoul(at, &end, 10);
        if (end == at || *at == '-' || blocks == 0 || blocks > 1000) {
            break;
        }
        options->shape.blocks[i] = (uint32_t)blocks;
        at = end + strspn(end, ", ]");
        if (*at == '\0') {
            return ORR_OK;
        }
    }
    return error_set(err, ORR_EINVAL,
                     "parameter '%s': '%s' is no list of up to %d numbers from 1 to 1000, such as 3,4,6,3", row->name,
                     text, ORR_TRAIN_STAGES);
}

static bool train_write_blocks(const struct param *row, const void *from, size_t index, FILE *stream)
{
    const uint32_t *blocks = ((const struct orr_train_options *)from)->shape.blocks;
    (void)row;
    for (int i = 0; index == 0 && i < ORR_TRAIN_STAGES && blocks[i] != 0; i++) {
        (void)fprintf(stream, "%s%u", i == 0 ? "" : ",", blocks[i]);
    }
    return index == 0 && blocks[0] != 0;
}

/* Tables of runs also say "moe" and "cnn". */
static enum orr_status train_read_family(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct orr_train_options *options = into;
    unsigned index = 0;
    char where[40];
    (void)snprintf(where, sizeof where, "parameter '%s'", row->name);
    const char *word = strcmp(text, "moe") == 0 || strcmp(text, "mla-moe") == 0 ? "llama"
                       : strcmp(text, "cnn") == 0                               ? "resnet"
                                                                                : text;
    enum orr_status status = param_parse_word(where, word, train_families, &index, err);
    if (status == ORR_OK) {
        options->shape.family = (enum orr_train_family)index;
    }
    return status;
}

static bool train_write_family(const struct param *row, const void *from, size_t index, FILE *stream)
{
    enum orr_train_family family = ((const struct orr_train_options *)from)->shape.family;
    (void)row;
    (void)(index == 0 && family != 0 ? fputs(train_families[family], stream) : 0);
    return index == 0 && family != 0;
}

#define AT(field) .place = offsetof(struct orr_train_options, field)
#define SHAPE(at)                                                                                                      \
    .kind = PARAM_COUNT32, .group = PARAM_WHAT, .flags = PARAM_RARE, .value = "N", AT(shape.at), .most = INT32_MAX
#define DEGREE(at)                                                                                                     \
    .kind = PARAM_COUNT32, .group = PARAM_GROWTH, .value = "N", AT(plan.at), .least = 1, .most = INT32_MAX
#define WORDS(at, list) .kind = PARAM_WORD, .value = "NAME", AT(plan.at), .words = list

const struct param param_train[] = {
    {"model", .letter = 'm', .kind = PARAM_TEXT, .group = PARAM_WHAT, .value = "NAME|FILE", AT(model),
     .help = "A preset (parameter 'list') or a Hugging Face config.json"},
    {"family", .synonyms = "kind", .kind = PARAM_READ, .group = PARAM_WHAT, .flags = PARAM_RARE, .value = "NAME",
     .read = train_read_family, .write = train_write_family, .help = "Without parameter 'model': what kind it is"},
    {"layers", SHAPE(layers), .help = "Layers"},
    {"hidden", SHAPE(hidden), .help = "Width of the hidden state"},
    {"ffn", SHAPE(ffn), .help = "Width inside the MLP"},
    {"heads", SHAPE(heads), .help = "Attention heads"},
    {"kv-heads", SHAPE(kv_heads), .help = "Heads of keys and values"},
    {"head-dim", SHAPE(head_dim), .help = "Width of a head"},
    {"attention", .kind = PARAM_READ, .group = PARAM_WHAT, .flags = PARAM_RARE, .value = "mha|gqa|mla",
     .read = train_read_attention, .write = train_write_attention,
     .help = "mla: keys and values through a latent state, by default DeepSeek's"},
    {"kv-rank", SHAPE(kv_rank), .help = "Width of the latent state of keys and values"},
    {"q-rank", SHAPE(q_rank), .help = "Width of the latent state of queries"},
    {"rope-dim", SHAPE(rope_dim), .help = "Part of a head's width that carries positions, with mla"},
    {"v-head-dim", SHAPE(v_head_dim), .help = "Width of a head of values, with mla"},
    {"window", SHAPE(window), .help = "Tokens that attention looks back at; 0: all of them"},
    {"window-every", SHAPE(window_every),
     .help = "With a window: every so many layers one looks at all tokens; 0: none"},
    {"vocab", SHAPE(vocab), .help = "Vocabulary"},
    {"experts", SHAPE(experts), .help = "Experts of a layer"},
    {"topk", SHAPE(topk), .help = "Experts per token"},
    {"expert-ffn", SHAPE(expert_ffn), .help = "Width inside an expert"},
    {"shared-experts", SHAPE(shared_experts), .help = "Shared experts that every token goes to"},
    {"dense-layers", SHAPE(dense_layers), .help = "First layers without experts"},
    {"image", SHAPE(image), .unwritten = "224", .help = "Side of an image in pixels"},
    {"patch", SHAPE(patch), .unwritten = "16", .help = "Side of a patch (one token of a ViT) in pixels"},
    {"classes", SHAPE(classes), .unwritten = "1000", .help = "Number of classes of images"},
    {"blocks", .kind = PARAM_READ, .group = PARAM_WHAT, .flags = PARAM_RARE, .value = "LIST", .read = train_read_blocks,
     .write = train_write_blocks, .help = "Of a ResNet or VGG: blocks of each stage"},
    {"gated", .kind = PARAM_READ, .group = PARAM_WHAT, .flags = PARAM_RARE, .value = "BOOL", AT(gated),
     .read = train_read_open, .write = train_write_open, .help = "Whether the MLP is gated"},
    {"tied", .kind = PARAM_READ, .group = PARAM_WHAT, .flags = PARAM_RARE, .value = "BOOL", AT(tied),
     .read = train_read_open, .write = train_write_open, .help = "Whether the head is the embedding"},
    {"bias", .kind = PARAM_READ, .group = PARAM_WHAT, .flags = PARAM_RARE, .value = "BOOL", AT(bias),
     .read = train_read_open, .write = train_write_open, .help = "Whether linear layers have biases"},
    {"qkv-bias", .kind = PARAM_READ, .group = PARAM_WHAT, .flags = PARAM_RARE, .value = "BOOL", AT(qkv_bias),
     .read = train_read_open, .write = train_write_open,
     .help = "Whether queries, keys and values have biases where other layers have none"},
    {"positions", SHAPE(positions), .help = "Learned positions; 0: none"},
    {"tables", SHAPE(tables), .help = "Of a DLRM: tables of embeddings, of as many rows as the vocabulary"},
    {"seq", DEGREE(seq), .unwritten = "the model's", .help = "Sequence length: tokens per sample"},
    {"machine", .synonyms = "topology", .kind = PARAM_TEXT, .group = PARAM_MACHINE, .value = "NAME|LINE", AT(machine),
     .help = "The machine: a name or a line (orrery machine list)"},
    {"gpu", .synonyms = "device", .kind = PARAM_TEXT, .group = PARAM_MACHINE, .value = "NAME", AT(gpu),
     .unwritten = "the machine's", .help = "The device"},
    {"interconnect", .kind = PARAM_TEXT, .group = PARAM_MACHINE, .flags = PARAM_RARE, .value = "TEXT", AT(interconnect),
     .help = "The network between servers, in words, as tables of runs have it"},
    {"gpus-per-node", .kind = PARAM_COUNT32, .group = PARAM_MACHINE, .flags = PARAM_RARE, .value = "N",
     AT(gpus_per_node), .most = INT32_MAX, .unwritten = "the machine's", .help = "GPUs of a server"},
    {"gpus", DEGREE(gpus), .unwritten = "tp x cp x pp x dp", .help = "GPUs of the job"},
    {"tp", DEGREE(tp), .help = "Tensor parallelism"},
    {"pp", DEGREE(pp), .help = "Pipeline stages"},
    {"dp", DEGREE(dp), .unwritten = "the remaining factor of the GPUs", .help = "Data parallelism"},
    {"cp", DEGREE(cp), .help = "Context parallelism"},
    {"ep", DEGREE(ep), .help = "Expert parallelism, across data-parallel ranks"},
    {"etp", DEGREE(etp), .help = "Tensor parallelism inside experts"},
    {"vpp", DEGREE(vpp), .help = "Chunks of layers on each pipeline stage"},
    {"order", .kind = PARAM_READ, .group = PARAM_GROWTH, .value = "LIST", .read = train_read_order,
     .write = train_write_order, .unwritten = "tp-cp-ep-dp-pp",
     .help = "How ranks are numbered, the axis with adjacent ranks first: tp, cp, ep, dp, pp with - between"},
    {"sp", .kind = PARAM_FLAG, .group = PARAM_GROWTH, .value = "BOOL", .flags = PARAM_OPTIONAL, AT(plan.sp),
     .help = "Sequence parallelism: shard activations between matrix products over tp"},
    {"zero", .kind = PARAM_READ, .group = PARAM_GROWTH, .value = "N", .most = 3, .read = train_read_zero,
     .write = train_write_zero, .unwritten = "0; fsdp, torchtitan and maxtext 3",
     .help = "ZeRO stage, 0 to 3: what is sharded over data-parallel ranks"},
    {"sharding", .synonyms = "fsdp", .group = PARAM_GROWTH, WORDS(sharding, train_shardings), .initial = "none",
     .help = "FSDP: shard weights over all data-parallel ranks, or within groups of them"},
    {"fsdp-group", DEGREE(fsdp_group), .unwritten = "those of a server; of a TPU all",
     .help = "With hybrid sharding: ranks that weights are sharded over"},
    {"micro-batch", DEGREE(micro_batch), .unwritten = "1", .help = "Samples per micro-batch"},
    {"global-batch", DEGREE(global_batch), .unwritten = "one micro-batch per rank, with pipelines four per stage",
     .help = "Samples per step"},
    {"recompute", .group = PARAM_COMPUTE, WORDS(recompute, train_recomputes), .initial = "none",
     .help = "Activations to recompute in the backward pass"},
    {"dtype", .group = PARAM_COMPUTE, WORDS(dtype, train_dtypes), .initial = "bf16",
     .help = "Data type of matrix products"},
    {"optimizer", .group = PARAM_COMPUTE, WORDS(optimizer, train_optimizers), .initial = "adamw",
     .help = "Optimizer; sgd has momentum"},
    {"schedule", .group = PARAM_COMPUTE, WORDS(schedule, train_schedules), .initial = "1f1b",
     .help = "Pipeline schedule"},
    {"overlap", .kind = PARAM_READ, .group = PARAM_COMPUTE, .value = "LIST", .read = train_read_overlap,
     .write = train_write_overlap, .help = "Communication to overlap with compute: dp,tp,pp,ep or none"},
    {"bucket-size", .kind = PARAM_COUNT32, .group = PARAM_COMPUTE, .flags = PARAM_RARE, .value = "N", AT(plan.bucket),
     .most = INT32_MAX, .unwritten = "40 million, or a million for each data-parallel rank, as in Megatron-LM",
     .help = "Of a simulated step and of written traces: weights in a bucket of gradients, which are summed as it is "
             "full"},
    {"framework", .kind = PARAM_TEXT, .group = PARAM_COMPUTE, .value = "NAME", AT(framework),
     .unwritten = "megatron; on one GPU torch",
     .help = "Software that runs the training: megatron, nemo, deepspeed, nanotron, fsdp, "
             "torchtitan, llm-foundry, torch"},
    {"release", .kind = PARAM_TEXT, .group = PARAM_COMPUTE, .flags = PARAM_RARE, .value = "YY.MM", AT(release),
     .unwritten = "the newest that is known",
     .help = "The framework's software release (NVIDIA's containers: 25.11), where measured runs show a difference"},
    {"framework-set", .kind = PARAM_TEXT, .group = PARAM_COMPUTE, .flags = PARAM_RARE, .value = "NAME=NUMBER,...",
     AT(framework_set), .help = "Change numbers of the framework (docs/train.md)"},
    {"cuda-graphs", .kind = PARAM_FLAG, .group = PARAM_COMPUTE, .value = "BOOL", .flags = PARAM_OPTIONAL,
     AT(plan.cuda_graphs),
     .help = "Capture each step in one CUDA graph, so that the host does not launch every kernel"},
    {"compile", .kind = PARAM_FLAG, .group = PARAM_COMPUTE, .value = "BOOL", .flags = PARAM_OPTIONAL, AT(plan.compile),
     .help = "Fuse kernels with torch.compile"},
    {"ep-imbalance", .kind = PARAM_REAL, .group = PARAM_COMPUTE, .flags = PARAM_RARE, .value = "FACTOR",
     AT(ep_imbalance), .real_least = 1, .real_most = 1000, .bounds = "must be at least 1", .initial = "1",
     .help = "Load of the busiest rank's experts relative to the mean"},
    {"no-neighbours", .kind = PARAM_FLAG, .group = PARAM_COMPUTE, .flags = PARAM_RARE, AT(without_neighbours),
     .help = "Do not correct the prediction by nearby measured runs"},
    {"power-limit", .kind = PARAM_REAL, .group = PARAM_MACHINE, .flags = PARAM_RARE, .value = "WATTS", AT(power_watts),
     .real_most = 1e6, .unwritten = "the device's", .help = "Power limit of a GPU"},
    {"gpu-hour", .kind = PARAM_REAL, .group = PARAM_MACHINE, .flags = PARAM_RARE, .value = "PRICE", AT(gpu_hour),
     .real_most = 1e9, .help = "Price of a GPU hour: adds the cost of a step and of a trillion tokens"},
    {"backend", .kind = PARAM_WORD, .group = PARAM_SIMULATION, .value = "NAME", AT(backend),
     .given = offsetof(struct orr_train_options, simulates), .words = param_backends, .first = ORR_BACKEND_UNAWARE,
     .unwritten = "none: only predict the step",
     .help = "Also simulate the step on the machine's network: unaware, aware, packet, flow or auto, as for 'run'"},
    {"collective-times", .kind = PARAM_WORD, .group = PARAM_SIMULATION, .value = "NAME", AT(collective_times),
     .words = train_collective_times, .first = ORR_COLLECTIVES_SIMULATED, .initial = "simulated",
     .help = "In a simulated step: simulate the messages of collectives on the network (simulated), or take the time "
             "of NCCL or RCCL (model)"},
    {"merge-kernels", .kind = PARAM_FLAG, .group = PARAM_OUTPUT, .value = "BOOL", .flags = PARAM_OPTIONAL,
     AT(merge_kernels), .help = "In written traces, merge the kernels between two communications into one node"},
    {0},
};
