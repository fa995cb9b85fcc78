/* SPDX-License-Identifier: Apache-2.0 */
/* A text workload is a program that computes one thing after the other, starts collectives beside that, and waits for
 * them at certain places. So the graph is built by running it: `waits` is what the program has to have behind it before
 * it can do the next thing. A graph made this way has no cycle and no node without its reason. */
#include <inttypes.h>
#include <string.h>

#include "convert/text/text.h"

/* So many things to wait for are joined in a node that takes no time: or layers without compute would let the list,
 * and with it the number of dependencies, grow with the square of the layers. */
enum { WAITS_MAX = 16 };

void text_build_free(struct text_build *build)
{
    mem_free(build->work->mem, build->waits, build->wait_capacity * sizeof *build->waits);
}

enum orr_status text_build_wait(struct text_build *build, uint32_t place, struct orr_error *err)
{
    for (uint32_t i = 0; i < build->wait_count && place != WORK_NONE; i++) {
        if (build->waits[i] == place) {
            return ORR_OK;
        }
    }
    if (place == WORK_NONE) {
        return ORR_OK;
    }
    if (!MEM_GROW(build->work->mem, build->waits, build->wait_capacity, build->wait_count)) {
        return mem_error(build->work->mem, "a workload's dependencies", err);
    }
    build->waits[build->wait_count++] = place;
    return ORR_OK;
}

enum orr_status text_build_block(struct text_build *build, uint32_t place, struct orr_error *err)
{
    if (place != WORK_NONE) {
        build->wait_count = 0;
    }
    return text_build_wait(build, place, err);
}

/* Whole microseconds of the sum so far, rounded to the nearest: the error stays below one for the whole sum. */
static enum orr_status text_build_advance(struct text_build *build, const struct text_layer *layer, uint64_t *sum_ns,
                                          int64_t ns, uint64_t *duration_us, struct orr_error *err)
{
    uint64_t after;
    if (__builtin_add_overflow(*sum_ns, (uint64_t)ns, &after) || after > UINT64_MAX - 500) {
        return error_set(err, ORR_ERANGE, "%s:%" PRIu64 ": the compute times add up to more than 64 bits hold",
                         build->path, layer->line);
    }
    *duration_us = (after + 500) / 1000 - (*sum_ns + 500) / 1000;
    *sum_ns = after;
    return ORR_OK;
}

static enum orr_status add_named(struct text_build *build, struct work_node *node, const uint32_t *deps,
                                 uint32_t dep_count, uint32_t *place, struct orr_error *err)
{
    if (node->name == NULL) {
        return mem_error(build->work->mem, "a node's name", err);
    }
    return work_add(build->work, node, deps, dep_count, place, err);
}

enum orr_status text_build_compute(struct text_build *build, const struct text_layer *layer, const char *what,
                                   int64_t ns, struct orr_error *err)
{
    struct work_node node = {.type = TRACE_COMP, .dims = WORK_ALL_DIMS};
    uint32_t place = WORK_NONE;
    if (ns == 0 && build->wait_count < WAITS_MAX) {
        return ORR_OK;
    }
    enum orr_status status = text_build_advance(build, layer, &build->compute_ns, ns, &node.duration_us, err);
    if (status == ORR_OK) {
        node.name =
            arena_printf(&build->work->arena, "COMP_NODE_%.*s_%s", (int)layer->name.length, layer->name.text, what);
        status = add_named(build, &node, build->waits, build->wait_count, &place, err);
    }
    return status == ORR_OK ? text_build_block(build, place, err) : status;
}

enum orr_status text_build_update(struct text_build *build, const struct text_layer *layer, uint32_t parent,
                                  uint32_t *place, struct orr_error *err)
{
    struct work_node node = {.type = TRACE_COMP, .dims = WORK_ALL_DIMS};
    *place = parent;
    if (layer->update == 0 || parent == WORK_NONE) {
        return ORR_OK;
    }
    enum orr_status status = text_build_advance(build, layer, &build->update_ns, layer->update, &node.duration_us, err);
    if (status != ORR_OK) {
        return status;
    }
    node.name = arena_printf(&build->work->arena, "COMP_NODE_%.*s_UPDATE", (int)layer->name.length, layer->name.text);
    return add_named(build, &node, &parent, 1, place, err);
}

enum orr_status text_build_comm(struct text_build *build, const struct text_layer *layer, const struct text_comm *comm,
                                uint32_t *place, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    *place = WORK_NONE;
    for (unsigned i = 0; i < comm->type_count && comm->bytes > 0 && status == ORR_OK; i++) {
        struct work_node node = {.type = TRACE_COLL,
                                 .comm_type = comm->types[i],
                                 .comm_bytes = comm->bytes,
                                 .group = (uint8_t)comm->group,
                                 .dims = comm->dims};
        node.name = arena_printf(&build->work->arena, "COMM_COLL_NODE_%.*s_%s_%s", (int)layer->name.length,
                                 layer->name.text, comm->phase, comm->word);
        uint32_t before = *place;
        status = add_named(build, &node, i == 0 ? build->waits : &before, i == 0 ? build->wait_count : 1, place, err);
    }
    return status;
}

enum orr_status text_build_message(struct text_build *build, bool sends, int64_t peer, uint32_t tag, int64_t bytes,
                                   struct orr_error *err)
{
    struct work_node node = {
        .type = sends ? TRACE_SEND : TRACE_RECV, .comm_bytes = bytes, .peer = peer, .tag = tag, .dims = WORK_ALL_DIMS};
    uint32_t place = WORK_NONE;
    node.name = arena_printf(&build->work->arena, "%s_%s_STAGE_%" PRIu32, sends ? "COMM_SEND_NODE" : "COMM_RECV_NODE",
                             sends == (peer > 0) ? "NEXT" : "PREVIOUS", tag);
    enum orr_status status = add_named(build, &node, build->waits, build->wait_count, &place, err);
    return status == ORR_OK && !sends ? text_build_block(build, place, err) : status;
}

static const struct {
    const char *word;
    unsigned count;
    int32_t types[2];
} comm_words[] = {
    {"NONE", 0, {0, 0}},          {"ALLREDUCE", 1, {0, 0}}, {"ALLGATHER", 1, {2, 0}},
    {"REDUCESCATTER", 1, {7, 0}}, {"ALLTOALL", 1, {6, 0}},  {"ALLREDUCEALLTOALL", 2, {0, 6}},
};

enum orr_status text_comm_types(const char *path, uint64_t line, struct et_text word, struct text_comm *comm,
                                struct orr_error *err)
{
    static const size_t count = sizeof comm_words / sizeof comm_words[0];
    const char *known[sizeof comm_words / sizeof comm_words[0] + 1];
    for (size_t i = 0; i < count; i++) {
        known[i] = comm_words[i].word;
        if (text_word_is(word, comm_words[i].word)) {
            comm->word = comm_words[i].word;
            comm->type_count = comm_words[i].count;
            memcpy(comm->types, comm_words[i].types, sizeof comm->types);
            return ORR_OK;
        }
    }
    known[count] = NULL;
    char text[64];
    (void)snprintf(text, sizeof text, "%.*s", (int)(word.length < 63 ? word.length : 63), word.text);
    const char *nearest = error_nearest(text, known);
    if (nearest != NULL) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": unknown communication \"%s\"; did you mean \"%s\"?", path,
                         line, text, nearest);
    }
    return error_set(err, ORR_EINVAL,
                     "%s:%" PRIu64 ": unknown communication \"%s\"; known are NONE, ALLREDUCE, ALLGATHER, "
                     "REDUCESCATTER, ALLTOALL, ALLREDUCEALLTOALL",
                     path, line, text);
}
