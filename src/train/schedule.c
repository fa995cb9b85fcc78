/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stage's passes are not stored: pass number i of a stage is computed from the schedule's rule. What is stored is
 * when each pass of each chunk ended. A stage that cannot go on is left, and taken up again when its neighbour has gone
 * on; every round at least one stage goes on, because the rules below are those of real pipelines, which do not lock
 * up.
 */
#include "train/schedule.h"

#include <math.h>
#include <string.h>

struct schedule_stage {
    double free;   /* when it has nothing to do */
    double later;  /* weights' gradients that wait for a gap */
    uint64_t next; /* number of its next pass */
};

struct schedule_state {
    const struct schedule_request *request;
    struct schedule_stage *stages;
    double *ended[2]; /* by pass: when the result is at the next chunk; NAN: not yet */
    uint64_t passes;  /* of a stage */
    bool split;       /* backward passes leave weights' gradients for later */
};

static uint64_t schedule_virtual(const struct schedule_request *request)
{
    return (uint64_t)request->micro_batches * request->chunks;
}

/* Which micro-batch and chunk the i-th forward or backward pass of a stage is: groups of as many micro-batches as there
 * are stages go through all chunks of a stage before the next group does. */
static struct schedule_step schedule_in_groups(const struct schedule_request *request, enum schedule_kind kind,
                                               uint64_t i)
{
    uint64_t stages = request->stages, chunks = request->chunks, group = i / (stages * chunks);
    uint64_t begin = group * stages, many = request->micro_batches - begin;
    many = many < stages ? many : stages;
    uint64_t inside = i - group * stages * chunks;
    uint32_t chunk = (uint32_t)(inside / many);
    return (struct schedule_step){kind, (uint32_t)(begin + inside % many),
                                  kind == SCHEDULE_FORWARD ? chunk : (uint32_t)chunks - 1 - chunk};
}

static uint64_t schedule_warm_up(const struct schedule_request *request, uint32_t stage)
{
    uint64_t all = schedule_virtual(request), behind = request->stages - 1 - stage, warm;
    if (request->schedule == ORR_TRAIN_SCHEDULE_GPIPE) {
        return all;
    }
    warm = request->chunks == 1 ? behind : 2 * behind + (uint64_t)(request->chunks - 1) * request->stages;
    return warm < all ? warm : all;
}

uint64_t schedule_passes(const struct schedule_request *request)
{
    return 2 * schedule_virtual(request);
}

struct schedule_step schedule_step_of(const struct schedule_request *request, uint32_t stage, uint64_t i)
{
    uint64_t all = schedule_virtual(request), warm = schedule_warm_up(request, stage);
    if (i < warm) {
        return schedule_in_groups(request, SCHEDULE_FORWARD, i);
    }
    uint64_t behind = i - warm, pairs = all - warm;
    if (behind < 2 * pairs) {
        return behind % 2 == 0 ? schedule_in_groups(request, SCHEDULE_FORWARD, warm + behind / 2)
                               : schedule_in_groups(request, SCHEDULE_BACKWARD, behind / 2);
    }
    return schedule_in_groups(request, SCHEDULE_BACKWARD, pairs + (behind - 2 * pairs));
}

static size_t schedule_place(const struct schedule_request *request, uint32_t order, uint32_t micro_batch)
{
    return (size_t)order * request->micro_batches + micro_batch;
}

/* When what the pass needs is there; NAN: not yet. `order` is its chunk's place in the model. */
static double schedule_ready(const struct schedule_state *state, const struct schedule_step *step, uint32_t order)
{
    const struct schedule_request *request = state->request;
    uint32_t last = request->stages * request->chunks - 1;
    if (step->kind == SCHEDULE_FORWARD) {
        return order == 0 ? 0 : state->ended[SCHEDULE_FORWARD][schedule_place(request, order - 1, step->micro_batch)];
    }
    double forward = state->ended[SCHEDULE_FORWARD][schedule_place(request, order, step->micro_batch)];
    double behind = order == last
                        ? forward
                        : state->ended[SCHEDULE_BACKWARD][schedule_place(request, order + 1, step->micro_batch)];
    return isnan(forward) || isnan(behind) ? NAN : (forward > behind ? forward : behind);
}

/* A gap before `start` is filled with weights' gradients that were left; tells for how long. */
static double schedule_fill_gap(struct schedule_stage *stage, double start)
{
    double gap = start - stage->free;
    double done = gap < stage->later ? gap : stage->later;
    done = done > 0 ? done : 0;
    stage->later -= done;
    stage->free += done;
    return done;
}

static bool schedule_advance(struct schedule_state *state, uint32_t index)
{
    const struct schedule_request *request = state->request;
    struct schedule_stage *stage = &state->stages[index];
    bool moved = false;
    while (stage->next < state->passes) {
        struct schedule_step step = schedule_step_of(request, index, stage->next);
        uint32_t order = step.chunk * request->stages + index;
        const struct schedule_chunk *chunk = &request->chunk[order];
        double ready = schedule_ready(state, &step, order);
        if (isnan(ready)) {
            break;
        }
        double filled = schedule_fill_gap(stage, ready);
        if (request->filled != NULL) {
            request->filled[index * state->passes + stage->next] = filled;
        }
        double start = ready > stage->free ? ready : stage->free;
        bool backward = step.kind == SCHEDULE_BACKWARD;
        double takes = backward ? chunk->backward - (state->split ? chunk->weight : 0) : chunk->forward;
        stage->later += backward && state->split ? chunk->weight : 0;
        bool at_end = backward ? order == 0 : order == request->stages * request->chunks - 1;
        double sent = at_end ? 0 : request->chunk[backward ? order - 1 : order].send;
        state->ended[step.kind][schedule_place(request, order, step.micro_batch)] = start + takes + sent;
        stage->free = start + takes + (request->hidden_sends ? 0 : sent);
        stage->next++;
        moved = true;
    }
    return moved;
}

/* DualPipe has two streams of micro-batches from both ends and overlaps a forward with a backward pass, so that its
 * idle time is (stages / 2 - 1) x (a forward and backward at once + a backward - 3 weights' gradients). */
static void schedule_dual(const struct schedule_request *request, double busiest, struct schedule_result *result)
{
    double forward = 0, backward = 0, weight = 0, count = request->stages * request->chunks;
    for (uint32_t i = 0; i < request->stages * request->chunks; i++) {
        forward += request->chunk[i].forward / count * request->chunks;
        backward += request->chunk[i].backward / count * request->chunks;
        weight += request->chunk[i].weight / count * request->chunks;
    }
    double idle = (request->stages / 2.0 - 1) * (forward + backward + backward - weight - 3 * weight);
    result->us = busiest + (idle > 0 ? idle : 0);
}

static void schedule_busiest(const struct schedule_request *request, struct schedule_result *result)
{
    for (uint32_t stage = 0; stage < request->stages; stage++) {
        double busy = 0;
        for (uint32_t i = 0; i < request->chunks; i++) {
            const struct schedule_chunk *chunk = &request->chunk[i * request->stages + stage];
            busy += (chunk->forward + chunk->backward) * request->micro_batches;
        }
        if (busy > result->busiest) {
            result->busiest = busy;
            result->bottleneck = stage;
        }
    }
}

static void schedule_play(struct schedule_state *state, struct schedule_result *result)
{
    const struct schedule_request *request = state->request;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t stage = 0; stage < request->stages; stage++) {
            moved |= schedule_advance(state, stage);
        }
    }
    for (uint32_t stage = 0; stage < request->stages; stage++) {
        double end = state->stages[stage].free + state->stages[stage].later;
        result->us = end > result->us ? end : result->us;
    }
}

enum orr_status schedule_run(const struct schedule_request *request, struct mem *mem, struct schedule_result *result,
                             struct orr_error *err)
{
    struct schedule_state state = {.request = request, .passes = schedule_passes(request)};
    size_t places = (size_t)request->stages * request->chunks * request->micro_batches;
    *result = (struct schedule_result){0};
    schedule_busiest(request, result);
    if (request->schedule == ORR_TRAIN_SCHEDULE_DUALPIPE && request->stages > 1) {
        schedule_dual(request, result->busiest, result);
        return ORR_OK;
    }
    state.split = request->schedule == ORR_TRAIN_SCHEDULE_ZERO_BUBBLE;
    state.stages = mem_zalloc(mem, request->stages * sizeof *state.stages);
    state.ended[0] = mem_alloc(mem, 2 * places * sizeof *state.ended[0]);
    if (state.stages != NULL && state.ended[0] != NULL) {
        state.ended[1] = state.ended[0] + places;
        for (size_t i = 0; i < 2 * places; i++) {
            state.ended[0][i] = NAN;
        }
        schedule_play(&state, result);
    }
    enum orr_status status =
        state.stages == NULL || state.ended[0] == NULL ? mem_error(mem, "the schedule", err) : ORR_OK;
    mem_free(mem, state.stages, request->stages * sizeof *state.stages);
    mem_free(mem, state.ended[0], 2 * places * sizeof *state.ended[0]);
    return status;
}
