/* SPDX-License-Identifier: Apache-2.0 */
/* The graphs of Chakra's Text converter (spec chakra §9), rule by rule, with the same order of nodes and dependencies.
 * What its Python keeps in a layer object and forgets to clear is `struct compat_layer`. Where Python runs into None,
 * after half a file, there is an error here, before any. */
#include "compat/chakra/text.h"

#include <inttypes.h>
#include <string.h>

/* Places of a layer's latest nodes; they outlive the pass. */
struct compat_layer {
    uint32_t fwd, fwd_comm, ig, ig_comm, wg, wg_comm;
};

struct compat {
    const struct text_workload *workload;
    struct work *work;
    struct compat_layer *state;
    struct orr_error *err;
    uint32_t deps[4]; /* of the next node */
    uint32_t dep_count;
};

/* Numbers of spec chakra §9: anything that is no other type is an all-reduce, NONE too. */
static int32_t comm_type(struct et_text word)
{
    static const struct {
        const char *word;
        int32_t type;
    } known[] = {{"ALLTOALL", 6}, {"ALLGATHER", 2}, {"REDUCESCATTER", 7}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (text_word_is(word, known[i].word)) {
            return known[i].type;
        }
    }
    return 0;
}

static void chakra_text_depend(struct compat *compat, uint32_t place)
{
    if (place != WORK_NONE) {
        compat->deps[compat->dep_count++] = place;
    }
}

/* The same where Python needs a node to be there. */
static enum orr_status depend_surely(struct compat *compat, uint32_t place, const struct text_layer *layer,
                                     const char *what)
{
    if (place == WORK_NONE) {
        return error_set(compat->err, ORR_EINVAL,
                         "%s:%" PRIu64 ": layer %.*s waits for %s, which Chakra's converter does not make (the number "
                         "of layers in line 2, or the last bottom layer, does not fit the layers)",
                         compat->workload->path, layer->line, (int)layer->name.length, layer->name.text, what);
    }
    chakra_text_depend(compat, place);
    return ORR_OK;
}

static enum orr_status chakra_text_add(struct compat *compat, struct work_node *node, uint32_t *place)
{
    if (node->name == NULL) {
        return mem_error(compat->work->mem, "a node's name", compat->err);
    }
    node->dims = WORK_ALL_DIMS;
    enum orr_status status = work_add(compat->work, node, compat->deps, compat->dep_count, place, compat->err);
    compat->dep_count = 0;
    return status;
}

static enum orr_status chakra_text_add_compute(struct compat *compat, const struct text_layer *layer,
                                               enum text_phase phase, uint32_t *place)
{
    static const char *const suffixes[TEXT_PHASES] = {"FWD", "BWD_IG", "BWD_WG"};
    int64_t time = layer->cells[phase].time;
    if (time < 0) {
        return error_set(compat->err, ORR_ERANGE, "%s:%" PRIu64 ": a negative time: %" PRId64, compat->workload->path,
                         layer->line, time);
    }
    struct work_node node = {.type = TRACE_COMP, .duration_us = (uint64_t)time};
    node.name = arena_printf(&compat->work->arena, "COMP_NODE_%.*s_%s", (int)layer->name.length, layer->name.text,
                             suffixes[phase]);
    return chakra_text_add(compat, &node, place);
}

static enum orr_status chakra_text_add_comm(struct compat *compat, const struct text_layer *layer,
                                            enum text_phase phase, uint32_t *place)
{
    const struct text_cell *cell = &layer->cells[phase];
    bool marked = compat->workload->strategy == TEXT_HYBRID_DATA_MODEL && phase == TEXT_IG;
    struct work_node node = {.type = TRACE_COLL, .comm_type = comm_type(cell->comm), .comm_bytes = cell->bytes};
    node.name = arena_printf(&compat->work->arena, "COMM_COLL_NODE_%.*s%s_%.*s", (int)layer->name.length,
                             layer->name.text, marked ? "_IG_COMM_" : "", (int)cell->comm.length, cell->comm.text);
    return chakra_text_add(compat, &node, place);
}

/* ---- strategies: one pass each ---- */

static enum orr_status chakra_text_pass_micro(struct compat *compat)
{
    enum orr_status status = ORR_OK;
    uint32_t place;
    for (uint32_t i = 0; i < compat->workload->layer_count && status == ORR_OK; i++) {
        status = chakra_text_add_comm(compat, &compat->workload->layers[i], TEXT_WG, &place);
    }
    return status;
}

static enum orr_status data_forward(struct compat *compat, uint32_t i)
{
    struct compat_layer *own = &compat->state[i];
    if (i > 0) {
        chakra_text_depend(compat, compat->state[i - 1].fwd);
    }
    chakra_text_depend(compat, own->wg_comm);
    return chakra_text_add_compute(compat, &compat->workload->layers[i], TEXT_FWD, &own->fwd);
}

static enum orr_status data_backward(struct compat *compat, uint32_t i)
{
    const struct text_layer *layer = &compat->workload->layers[i];
    struct compat_layer *own = &compat->state[i];
    bool first = i + 1 == compat->workload->layer_count;
    chakra_text_depend(compat, first ? own->fwd : compat->state[i + 1].ig);
    enum orr_status status = chakra_text_add_compute(compat, layer, TEXT_WG, &own->wg);
    if (status == ORR_OK) {
        chakra_text_depend(compat, own->wg);
        status = chakra_text_add_comm(compat, layer, TEXT_WG, &own->wg_comm);
    }
    if (status == ORR_OK && i != 0) {
        chakra_text_depend(compat, own->wg);
        status = chakra_text_add_compute(compat, layer, TEXT_IG, &own->ig);
    }
    return status;
}

/* MODEL and both HYBRID_x_y; they differ in what the forward pass waits for, and MODEL has no WG collective. */
static enum orr_status chakra_text_model_forward(struct compat *compat, uint32_t i)
{
    const struct text_layer *layer = &compat->workload->layers[i];
    struct compat_layer *own = &compat->state[i];
    uint32_t before = i > 0 ? compat->state[i - 1].fwd_comm : WORK_NONE;
    bool model = compat->workload->strategy == TEXT_MODEL;
    chakra_text_depend(compat, model ? before : own->wg_comm);
    chakra_text_depend(compat, model ? own->wg : before);
    enum orr_status status = chakra_text_add_compute(compat, layer, TEXT_FWD, &own->fwd);
    if (status == ORR_OK) {
        chakra_text_depend(compat, own->fwd);
        status = chakra_text_add_comm(compat, layer, TEXT_FWD, &own->fwd_comm);
    }
    return status;
}

static enum orr_status chakra_text_model_backward(struct compat *compat, uint32_t i)
{
    const struct text_layer *layer = &compat->workload->layers[i];
    uint32_t from_last = compat->workload->layer_count - 1 - i;
    struct compat_layer *own = &compat->state[i];
    enum orr_status status = ORR_OK;
    if (from_last == 0) {
        chakra_text_depend(compat, own->fwd_comm);
    } else {
        chakra_text_depend(compat, compat->state[i + 1].wg);
        status = depend_surely(compat, compat->state[i + 1].ig_comm, layer, "the input gradient's communication");
    }
    status = status == ORR_OK ? chakra_text_add_compute(compat, layer, TEXT_IG, &own->ig) : status;
    if (status == ORR_OK && (int64_t)from_last != compat->workload->written_count - 1) {
        chakra_text_depend(compat, own->ig);
        status = chakra_text_add_comm(compat, layer, TEXT_IG, &own->ig_comm);
    }
    if (status == ORR_OK) {
        chakra_text_depend(compat, own->ig);
        status = chakra_text_add_compute(compat, layer, TEXT_WG, &own->wg);
    }
    if (status == ORR_OK && compat->workload->strategy != TEXT_MODEL) {
        chakra_text_depend(compat, own->wg);
        status = chakra_text_add_comm(compat, layer, TEXT_WG, &own->wg_comm);
    }
    return status;
}

static enum orr_status dlrm_forward(struct compat *compat, uint32_t i)
{
    const struct text_layer *layer = &compat->workload->layers[i];
    struct compat_layer *own = &compat->state[i];
    enum orr_status status = ORR_OK;
    chakra_text_depend(compat, own->wg_comm != WORK_NONE ? own->wg_comm : own->wg);
    if (i > 0) {
        chakra_text_depend(compat, compat->state[i - 1].fwd);
    }
    if ((int64_t)i == compat->workload->last_bottom_layer) {
        status = depend_surely(compat, compat->state[0].fwd_comm, layer, "the first layer's all-to-all");
    }
    status = status == ORR_OK ? chakra_text_add_compute(compat, layer, TEXT_FWD, &own->fwd) : status;
    if (status == ORR_OK && text_word_is(layer->cells[TEXT_FWD].comm, "ALLTOALL")) {
        chakra_text_depend(compat, own->fwd);
        status = chakra_text_add_comm(compat, layer, TEXT_FWD, &own->fwd_comm);
    }
    return status;
}

static enum orr_status dlrm_backward(struct compat *compat, uint32_t i)
{
    const struct text_layer *layer = &compat->workload->layers[i];
    struct compat_layer *own = &compat->state[i];
    if (i + 1 == compat->workload->layer_count) {
        chakra_text_depend(compat, own->fwd);
    } else {
        chakra_text_depend(compat, compat->state[i + 1].ig);
        chakra_text_depend(compat, own->ig_comm);
    }
    enum orr_status status = chakra_text_add_compute(compat, layer, TEXT_WG, &own->wg);
    if (status == ORR_OK && !text_word_is(layer->cells[TEXT_WG].comm, "NONE")) {
        chakra_text_depend(compat, own->wg);
        status = chakra_text_add_comm(compat, layer, TEXT_WG, &own->wg_comm);
    }
    if (status == ORR_OK && i != 0) {
        chakra_text_depend(compat, own->wg);
        status = chakra_text_add_compute(compat, layer, TEXT_IG, &own->ig);
    }
    if (status == ORR_OK && (int64_t)i == compat->workload->last_bottom_layer + 1) {
        status = depend_surely(compat, own->ig, layer, "an input gradient");
        status = status == ORR_OK
                     ? chakra_text_add_comm(compat, &compat->workload->layers[0], TEXT_IG, &compat->state[0].ig_comm)
                     : status;
    }
    return status;
}

typedef enum orr_status compat_step(struct compat *compat, uint32_t layer);

static enum orr_status chakra_text_pass(struct compat *compat, compat_step *forward, compat_step *backward)
{
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < compat->workload->layer_count && status == ORR_OK; i++) {
        status = forward(compat, i);
    }
    for (uint32_t i = compat->workload->layer_count; i-- > 0 && status == ORR_OK;) {
        status = backward(compat, i);
    }
    return status;
}

static enum orr_status one_pass(struct compat *compat)
{
    switch (compat->workload->strategy) {
    case TEXT_MICRO:
        return chakra_text_pass_micro(compat);
    case TEXT_DATA:
        return chakra_text_pass(compat, data_forward, data_backward);
    case TEXT_HYBRID_DLRM:
    case TEXT_HYBRID_DLRM_ENHANCED:
        return chakra_text_pass(compat, dlrm_forward, dlrm_backward);
    default:
        return chakra_text_pass(compat, chakra_text_model_forward, chakra_text_model_backward);
    }
}

/* The whole text with its line ends as \n, as Python reads it. */
static bool chakra_text_keep_text(const struct text_workload *workload, struct work *work)
{
    const char *from = (const char *)workload->file.bytes;
    char *text = arena_strndup(&work->arena, from, workload->file.size);
    size_t used = 0;
    for (size_t i = 0; text != NULL && i < workload->file.size; i++) {
        bool pair = from[i] == '\r' && i + 1 < workload->file.size && from[i + 1] == '\n';
        text[used++] = from[i] == '\r' ? '\n' : from[i];
        i += pair;
    }
    work->input_file = (struct et_text){text, used};
    return text != NULL;
}

enum orr_status text_graph_compat(const struct text_workload *workload, uint32_t passes, struct work *work,
                                  struct orr_error *err)
{
    size_t bytes = workload->layer_count * sizeof(struct compat_layer);
    struct compat compat = {.workload = workload, .work = work, .err = err};
    compat.state = mem_alloc(work->mem, bytes);
    if (compat.state == NULL || !chakra_text_keep_text(workload, work)) {
        mem_free(work->mem, compat.state, bytes);
        return mem_error(work->mem, "a workload's layers", err);
    }
    memset(compat.state, 0xff, bytes); /* WORK_NONE everywhere */
    work->version = "";
    work->schema = "1.0.2-chakra.1.0.0";
    work->plain = true;
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < passes && status == ORR_OK; i++) {
        status = one_pass(&compat);
    }
    mem_free(work->mem, compat.state, bytes);
    return status;
}

static enum orr_status chakra_text_build(const struct convert_request *request, struct work *work,
                                         struct orr_error *err)
{
    struct text_workload workload;
    enum orr_status status = text_read_compat(request->input, request->mem, &workload, err);
    if (status != ORR_OK) {
        return status;
    }
    status = text_graph_compat(&workload, request->passes, work, err);
    text_free(&workload);
    return status;
}

enum orr_status text_convert_compat(const struct convert_request *request, struct convert_summary *summary,
                                    struct orr_error *err)
{
    return text_convert_by(request, chakra_text_build, summary, err);
}
