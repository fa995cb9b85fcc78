/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every strategy as what its program does (spec formats §9): one row of facts, one forward and one backward pass that
 * read the row. The forward pass of a layer waits for that layer's parameters from the pass before; a collective the
 * strategy sends nowhere is left out and counted; what a size of 0 or NONE would move is nothing, so no node is made.
 */
#include <inttypes.h>
#include <string.h>

#include "convert/text/simai.h"
#include "convert/text/text.h"
#include "trace/pipeline.h"

enum { COMM_ALL_GATHER = 2 }; /* Chakra's number */

struct strategy_row {
    enum text_span forward, weights;
    bool weights_first;  /* backward: weight gradient, then input gradient */
    bool first_layer_ig; /* the first layer's input gradient is communicated too */
    bool ig_blocks;      /* the weight gradient waits for the input gradient's collective */
};

static const struct strategy_row rows[] = {
#define TEXT_X(name, forward, weights) [TEXT_##name] = {TEXT_##forward, TEXT_##weights, false, false, false},
    TEXT_STRATEGIES(TEXT_X)
#undef TEXT_X
};

static struct strategy_row text_graph_row_of(enum text_strategy strategy)
{
    struct strategy_row row = rows[strategy];
    row.weights_first = strategy == TEXT_DATA;
    row.first_layer_ig = strategy == TEXT_HYBRID_TRANSFORMER || strategy == TEXT_HYBRID_TRANSFORMER_FWD_IN_BCKWD;
    row.ig_blocks = strategy == TEXT_HYBRID_TRANSFORMER_FWD_IN_BCKWD;
    return row;
}

struct graph {
    const struct text_workload *workload;
    struct text_build build;
    struct strategy_row row;
    uint32_t *ready; /* by layer: its parameters are up to date after this node */
    uint32_t ranks;
    struct orr_error *err;
};

static const char *const phase_words[TEXT_PHASES] = {"FWD", "IG", "WG"};

/* Where a layer's collective goes; TEXT_NOWHERE where it has no node. */
static enum text_span text_graph_span_of(const struct graph *graph, const struct text_layer *layer,
                                         enum text_phase phase)
{
    const struct strategy_row *row = &rows[layer->strategy];
    bool dlrm = layer->strategy == TEXT_HYBRID_DLRM || layer->strategy == TEXT_HYBRID_DLRM_ENHANCED;
    if (dlrm && phase != TEXT_WG && layer != graph->workload->layers) {
        return TEXT_NOWHERE;
    }
    return phase == TEXT_WG ? row->weights : row->forward;
}

/* False when the group has one member only. */
static bool place_comm(const struct graph *graph, enum text_span span, struct text_comm *comm)
{
    comm->dims = WORK_ALL_DIMS;
    switch (span) {
    case TEXT_DIM_0:
        comm->dims = 1;
        return true;
    case TEXT_OTHER_DIMS:
        comm->dims = (uint8_t)(WORK_ALL_DIMS & ~1);
        return true;
    case TEXT_MODEL_GROUP:
    case TEXT_DATA_GROUP:
        comm->group = span == TEXT_MODEL_GROUP ? WORK_TP : WORK_DP;
        return graph->build.work->layouts[comm->group].count > 1;
    case TEXT_NAMED_GROUP:
        return graph->build.work->layouts[comm->group].count > 1;
    default:
        return true;
    }
}

/* SimAI's words end with the group's name; the operation before it is left in `word`. */
static enum text_span take_suffix(enum text_span span, struct et_text *word, struct text_comm *comm)
{
    static const struct {
        const char *suffix;
        enum work_group group;
    } known[] = {{"_DP_EP", WORK_DP_EP}, {"_EP", WORK_EP}, {"_CP", WORK_CP}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t length = strlen(known[i].suffix);
        if (word->length > length && memcmp(word->text + word->length - length, known[i].suffix, length) == 0) {
            word->length -= length;
            comm->group = known[i].group;
            return span == TEXT_NOWHERE ? TEXT_NOWHERE : TEXT_NAMED_GROUP;
        }
    }
    return span;
}

/* SimAI's size of an all-gather is what a rank has afterwards, as NCCL counts; a trace holds what a rank gives. Where
 * the ranks are those of network dimensions, how many they are is the network's, and the size stays. */
static void share_gathered(const struct graph *graph, struct text_comm *comm)
{
    const struct work_layout *layout = &graph->build.work->layouts[comm->group];
    int64_t ranks = comm->group == WORK_ALL ? graph->ranks : layout->count;
    bool gathers = comm->type_count > 0 && comm->types[0] == COMM_ALL_GATHER;
    if (graph->workload->by_suffix && gathers && comm->dims == WORK_ALL_DIMS && ranks > 1) {
        comm->bytes = comm->bytes / ranks + (comm->bytes % ranks != 0);
    }
}

/* A layer's collective, begun here; WORK_NONE when there is none. */
static enum orr_status text_graph_begin(struct graph *graph, const struct text_layer *layer, enum text_phase phase,
                                        uint32_t *place)
{
    const struct text_cell *cell = &layer->cells[phase];
    struct text_comm comm = {.phase = phase_words[phase], .bytes = cell->bytes};
    struct et_text word = cell->comm;
    enum text_span span = text_graph_span_of(graph, layer, phase);
    if (graph->workload->by_suffix) {
        span = take_suffix(span, &word, &comm);
    }
    *place = WORK_NONE;
    enum orr_status status = text_comm_types(graph->workload->path, layer->line, word, &comm, graph->err);
    if (status != ORR_OK) {
        return status;
    }
    if ((span == TEXT_NOWHERE || !place_comm(graph, span, &comm)) && comm.type_count > 0 && cell->bytes > 0) {
        graph->build.left_out++;
        graph->build.left_out_line = graph->build.left_out_line == 0 ? layer->line : graph->build.left_out_line;
        return ORR_OK;
    }
    share_gathered(graph, &comm);
    return text_build_comm(&graph->build, layer, &comm, place, graph->err);
}

static enum orr_status begin_and_wait(struct graph *graph, const struct text_layer *layer, enum text_phase phase)
{
    uint32_t place;
    enum orr_status status = text_graph_begin(graph, layer, phase, &place);
    return status == ORR_OK ? text_build_block(&graph->build, place, graph->err) : status;
}

static enum orr_status text_graph_compute(struct graph *graph, const struct text_layer *layer, enum text_phase phase)
{
    static const char *const words[TEXT_PHASES] = {"FWD", "BWD_IG", "BWD_WG"};
    return text_build_compute(&graph->build, layer, words[phase], layer->cells[phase].time, graph->err);
}

/* Weight gradient, its collective and the update of the parameters: beside the program but for the compute. */
static enum orr_status weights(struct graph *graph, uint32_t i)
{
    const struct text_layer *layer = &graph->workload->layers[i];
    uint32_t place = WORK_NONE;
    enum orr_status status = text_graph_compute(graph, layer, TEXT_WG);
    status = status == ORR_OK ? text_graph_begin(graph, layer, TEXT_WG, &place) : status;
    if (status == ORR_OK && place == WORK_NONE && layer->cells[TEXT_WG].time > 0) {
        place = graph->build.waits[0]; /* the compute */
    }
    return status == ORR_OK ? text_build_update(&graph->build, layer, place, &graph->ready[i], graph->err) : status;
}

/* ---- forward and backward ---- */

static enum orr_status text_graph_forward(struct graph *graph, uint32_t i)
{
    const struct text_layer *layer = &graph->workload->layers[i];
    enum orr_status status = text_build_wait(&graph->build, graph->ready[i], graph->err);
    status = status == ORR_OK ? text_graph_compute(graph, layer, TEXT_FWD) : status;
    return status == ORR_OK ? begin_and_wait(graph, layer, TEXT_FWD) : status;
}

static enum orr_status backward_weights_first(struct graph *graph, uint32_t i)
{
    uint32_t place;
    enum orr_status status = weights(graph, i);
    if (status == ORR_OK && i > 0) {
        status = text_graph_compute(graph, &graph->workload->layers[i], TEXT_IG);
        status = status == ORR_OK ? text_graph_begin(graph, &graph->workload->layers[i], TEXT_IG, &place) : status;
    }
    return status;
}

/* From the nearest checkpoint up to, and without, the layer that needs its input again. */
static enum orr_status text_graph_repeat_forward(struct graph *graph, uint32_t initiate)
{
    enum orr_status status = ORR_OK;
    uint32_t from = initiate;
    while (!graph->workload->layers[from].is_checkpoint) {
        from--; /* the reader has seen to it that there is one */
    }
    for (uint32_t i = from; i < initiate && status == ORR_OK; i++) {
        const struct text_layer *layer = &graph->workload->layers[i];
        status = text_build_compute(&graph->build, layer, "FWD_IN_BWD", layer->cells[TEXT_FWD].time, graph->err);
        status = status == ORR_OK ? begin_and_wait(graph, layer, TEXT_FWD) : status;
    }
    return status;
}

static enum orr_status text_graph_backward(struct graph *graph, uint32_t i)
{
    const struct text_layer *layer = &graph->workload->layers[i];
    uint32_t place = WORK_NONE;
    enum orr_status status = ORR_OK;
    if (graph->row.weights_first) {
        return backward_weights_first(graph, i);
    }
    if (layer->is_initiate) {
        status = text_graph_repeat_forward(graph, i);
    }
    status = status == ORR_OK ? text_graph_compute(graph, layer, TEXT_IG) : status;
    if (status == ORR_OK && (i > 0 || graph->row.first_layer_ig)) {
        status = text_graph_begin(graph, layer, TEXT_IG, &place);
    }
    if (status == ORR_OK && graph->row.ig_blocks) {
        status = text_build_block(&graph->build, place, graph->err);
        place = WORK_NONE; /* waited for already */
    }
    status = status == ORR_OK ? weights(graph, i) : status;
    return status == ORR_OK ? text_build_wait(&graph->build, place, graph->err) : status;
}

static enum orr_status text_graph_pass(struct graph *graph)
{
    enum orr_status status = ORR_OK;
    uint32_t layers = graph->workload->layer_count;
    for (uint32_t i = 0; i < layers && status == ORR_OK; i++) {
        status = text_graph_forward(graph, i);
    }
    bool back = graph->workload->strategy != TEXT_DISTRIBUTED_INFERENCE;
    for (uint32_t i = layers; back && i-- > 0 && status == ORR_OK;) {
        status = text_graph_backward(graph, i);
    }
    return status;
}

/* ---- a stage of a pipeline ---- */

static enum orr_status text_graph_message(struct graph *graph, bool sends, bool ahead, uint32_t batch, bool is_forward)
{
    const struct text_pipeline *pipeline = graph->workload->pipeline;
    int64_t peer = ahead ? (int64_t)pipeline->stride : -(int64_t)pipeline->stride;
    return text_build_message(&graph->build, sends, peer, 2 * batch + (is_forward ? 0 : 1), pipeline->bytes,
                              graph->err);
}

static enum orr_status rows_forward(struct graph *graph, uint32_t first, uint32_t end)
{
    enum orr_status status = ORR_OK;
    for (uint32_t i = first; i < end && status == ORR_OK; i++) {
        status = text_graph_forward(graph, i);
    }
    return status;
}

static enum orr_status rows_backward(struct graph *graph, uint32_t first, uint32_t end)
{
    enum orr_status status = ORR_OK;
    for (uint32_t i = end; i-- > first && status == ORR_OK;) {
        status = text_graph_backward(graph, i);
    }
    return status;
}

static enum orr_status turn(struct graph *graph, struct pipeline_turn now)
{
    const struct text_pipeline *pipeline = graph->workload->pipeline;
    const uint32_t *start = pipeline->batch_start;
    bool has_next = pipeline->stage + 1 < pipeline->stages;
    bool has_previous = pipeline->stage > 0;
    enum orr_status status = ORR_OK;
    if (now.forward ? has_previous : has_next) {
        status = text_graph_message(graph, false, !now.forward, now.batch, now.forward);
    }
    if (status == ORR_OK) {
        status = (now.forward ? rows_forward : rows_backward)(graph, start[now.batch], start[now.batch + 1]);
    }
    if (status == ORR_OK && (now.forward ? has_next : has_previous)) {
        status = text_graph_message(graph, true, now.forward, now.batch, now.forward);
    }
    return status;
}

static enum orr_status pass_pipeline(struct graph *graph)
{
    const struct text_pipeline *pipeline = graph->workload->pipeline;
    uint32_t layers = graph->workload->layer_count;
    uint32_t first = pipeline->batch_start[0];
    uint32_t end = pipeline->batch_start[pipeline->batch_count];
    enum orr_status status = rows_forward(graph, 0, first);
    for (uint64_t i = 0; i < 2 * (uint64_t)pipeline->batch_count && status == ORR_OK; i++) {
        status = turn(graph, pipeline_turn_at(pipeline->stage, pipeline->stages, pipeline->batch_count, i));
    }
    status = status == ORR_OK ? rows_forward(graph, end, layers) : status;
    status = status == ORR_OK ? rows_backward(graph, end, layers) : status;
    return status == ORR_OK ? rows_backward(graph, 0, first) : status;
}

/* ---- the two programs that go their own way ---- */

/* Collectives alone; those of a layer follow each other from pass to pass. */
static enum orr_status text_graph_pass_micro(struct graph *graph)
{
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < graph->workload->layer_count && status == ORR_OK; i++) {
        graph->build.wait_count = 0;
        status = text_build_wait(&graph->build, graph->ready[i], graph->err);
        status =
            status == ORR_OK ? text_graph_begin(graph, &graph->workload->layers[i], TEXT_WG, &graph->ready[i]) : status;
    }
    return status;
}

/* The embedding's (layer 0) exchange runs beside the bottom layers, and its gradient's beside theirs. */
static enum orr_status pass_dlrm(struct graph *graph)
{
    const struct text_workload *workload = graph->workload;
    uint32_t layers = workload->layer_count;
    uint32_t bottom = (uint32_t)workload->last_bottom_layer;
    uint32_t exchange = WORK_NONE;
    uint32_t ignored;
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < layers && status == ORR_OK; i++) {
        status = text_build_wait(&graph->build, graph->ready[i], graph->err);
        status = status == ORR_OK ? text_graph_compute(graph, &workload->layers[i], TEXT_FWD) : status;
        status = status == ORR_OK
                     ? text_graph_begin(graph, &workload->layers[i], TEXT_FWD, i == 0 ? &exchange : &ignored)
                     : status;
        if (status == ORR_OK && i == bottom) {
            status = text_build_wait(&graph->build, exchange, graph->err);
        }
    }
    exchange = WORK_NONE;
    for (uint32_t i = layers; i-- > 0 && status == ORR_OK;) {
        if (i == bottom) {
            status = text_graph_begin(graph, &workload->layers[0], TEXT_IG, &exchange);
        }
        if (status == ORR_OK && i == 0) {
            status = text_build_wait(&graph->build, exchange, graph->err);
        }
        status = status == ORR_OK ? weights(graph, i) : status;
        if (status == ORR_OK && i > 0) {
            status = text_graph_compute(graph, &workload->layers[i], TEXT_IG);
        }
    }
    return status;
}

/* ---- all passes ---- */

static enum orr_status all_passes(struct graph *graph, uint32_t passes)
{
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < passes && status == ORR_OK; i++) {
        switch (graph->workload->strategy) {
        case TEXT_MICRO:
            status = text_graph_pass_micro(graph);
            break;
        case TEXT_HYBRID_DLRM:
        case TEXT_HYBRID_DLRM_ENHANCED:
            status = pass_dlrm(graph);
            break;
        default:
            status = graph->workload->pipeline != NULL ? pass_pipeline(graph) : text_graph_pass(graph);
            break;
        }
    }
    return status;
}

static enum orr_status lay_out_groups(const struct text_workload *workload, uint32_t ranks, struct work *work,
                                      struct orr_error *err)
{
    uint32_t group = workload->model_group;
    if (group == 0) {
        return ORR_OK;
    }
    if (ranks % group != 0) {
        return error_set(err, ORR_EINVAL,
                         "%s:1: %" PRIu32 " ranks do not divide into model-parallel groups of %" PRIu32, workload->path,
                         ranks, group);
    }
    work->layouts[WORK_TP] = (struct work_layout){.stride = 1, .count = group};
    work->layouts[WORK_DP] = (struct work_layout){.stride = group, .count = ranks / group};
    return ORR_OK;
}

static enum orr_status note_left_out(const struct graph *graph, struct notes *notes)
{
    uint64_t count = graph->build.left_out;
    if (count == 0) {
        return ORR_OK;
    }
    return notes_add(notes, graph->err,
                     "%s:%" PRIu64 ": %" PRIu64 " collective%s left out, this one first: strategy %s does not carry "
                     "%s out, or the group has one rank",
                     graph->workload->path, graph->build.left_out_line, count, count == 1 ? "" : "s",
                     text_strategy_names[graph->workload->strategy], count == 1 ? "it" : "them");
}

enum orr_status text_graph(const struct text_workload *workload, uint32_t ranks, uint32_t passes, struct work *work,
                           struct notes *notes, struct orr_error *err)
{
    size_t bytes = workload->layer_count * sizeof(uint32_t);
    struct graph graph = {
        .workload = workload, .ranks = ranks, .err = err, .row = text_graph_row_of(workload->strategy)};
    graph.build = (struct text_build){.work = work, .path = workload->path};
    enum orr_status status = lay_out_groups(workload, ranks, work, err);
    if (status != ORR_OK) {
        return status;
    }
    graph.ready = mem_alloc(work->mem, bytes);
    if (graph.ready == NULL) {
        return mem_error(work->mem, "a workload's layers", err);
    }
    memset(graph.ready, 0xff, bytes); /* WORK_NONE everywhere */
    work->version = "0.0.4";
    status = all_passes(&graph, passes);
    status = status == ORR_OK ? note_left_out(&graph, notes) : status;
    text_build_free(&graph.build);
    mem_free(work->mem, graph.ready, bytes);
    return status;
}

/* ---- the converter ---- */

static enum orr_status text_graph_build(const struct convert_request *request, struct work *work, struct orr_error *err)
{
    struct text_workload workload;
    enum orr_status status = text_read(request->input, request->mem, &workload, err);
    if (status != ORR_OK) {
        return status;
    }
    status = text_graph(&workload, request->ranks, request->passes, work, request->notes, err);
    text_free(&workload);
    return status;
}

enum orr_status text_convert_by(const struct convert_request *request, text_builder *builder,
                                struct convert_summary *summary, struct orr_error *err)
{
    if (request->ranks == 0) {
        return error_set(err, ORR_EINVAL, "%s: how many ranks run it is not in the text; give parameter 'ranks' N",
                         request->input);
    }
    struct work work;
    work_init(&work, request->mem);
    enum orr_status status = builder(request, &work, err);
    if (status == ORR_OK) {
        status = work_write(&work, request->output, request->ranks, summary, err);
    }
    work_free(&work);
    return status;
}

enum orr_status text_convert(const struct convert_request *request, struct convert_summary *summary,
                             struct orr_error *err)
{
    bool is_simai = false;
    enum orr_status status = simai_detect(request->input, request->mem, &is_simai, err);
    if (status != ORR_OK) {
        return status;
    }
    return is_simai ? simai_converter.write(request, summary, err)
                    : text_convert_by(request, text_graph_build, summary, err);
}

const struct converter text_converter = {.write = text_convert, .knows_ranks = true, .knows_passes = true};
