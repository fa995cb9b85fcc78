/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chakra's --simulate: ticks of 1 us, one host node at a time, one device node a stream; a node's children become ready
 * when it is issued and not when it ends (bug C16). Only the log shows it.
 *
 * Ticks in which nothing can happen are jumped over, so that the cost goes with the nodes and not with the time. Within
 * a tick the original issues one host node, then device nodes in the order in which they became ready, then ends the
 * host node, then the device nodes in the order of their issue.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/heap.h"
#include "compat/chakra/convert_parts.h"

/* A binary heap of nodes by (key, sequence). */
struct heap_entry {
    uint64_t key;
    uint32_t sequence;
    uint32_t node;
};

struct heap {
    struct heap_entry *entries;
    uint32_t count;
};

struct stream {
    bool is_none; /* null in the trace */
    bool busy;
    int64_t number;
    uint32_t first, last; /* nodes that are ready, in that order */
};

struct replay {
    const struct compat *compat;
    FILE *out;
    uint32_t *waits;       /* by node: dependencies not yet issued */
    uint32_t *first_child; /* by node: in children */
    uint32_t *children;
    uint32_t *next_ready; /* by node: behind it in its queue */
    uint32_t *stream_of;  /* by device node: in streams */
    uint32_t *ready_at;   /* by node: when it became ready, as a sequence number */
    struct stream *streams;
    uint32_t stream_count;
    struct heap issuable; /* heads of streams that are free, by when they became ready */
    struct heap running;  /* device nodes, by end and then issue */
    uint32_t *issued;     /* in this tick */
    uint32_t issued_count;
    uint32_t cpu_first, cpu_last; /* ready host nodes */
    uint32_t cpu_node;            /* running, or COMPAT_NONE */
    uint64_t cpu_end;
    uint32_t sequence, issues;
    uint64_t now;
    void *block;
    size_t block_size;
};

/* ---- heap ---- */

static bool replay_is_before(const void *context, const struct heap_entry *a, const struct heap_entry *b)
{
    (void)context;
    return a->key != b->key ? a->key < b->key : a->sequence < b->sequence;
}

HEAP_DEFINE(replay_heap, struct heap_entry, const void *, replay_is_before, HEAP_PUT);

static void heap_push(struct heap *heap, struct heap_entry entry)
{
    replay_heap_push(NULL, heap->entries, &heap->count, entry);
}

static uint32_t heap_pop(struct heap *heap)
{
    return replay_heap_pop(NULL, heap->entries, &heap->count).node;
}

/* ---- ready nodes ---- */

static void offer_stream(struct replay *replay, uint32_t stream)
{
    const struct stream *at = &replay->streams[stream];
    if (!at->busy && at->first != COMPAT_NONE) {
        heap_push(&replay->issuable, (struct heap_entry){replay->ready_at[at->first], 0, at->first});
    }
}

static void make_ready(struct replay *replay, uint32_t node)
{
    uint32_t *first = &replay->cpu_first;
    uint32_t *last = &replay->cpu_last;
    bool is_gpu = replay->compat->nodes[node].kind == COMPAT_GPU;
    if (is_gpu) {
        first = &replay->streams[replay->stream_of[node]].first;
        last = &replay->streams[replay->stream_of[node]].last;
    }
    replay->ready_at[node] = replay->sequence++;
    replay->next_ready[node] = COMPAT_NONE;
    bool was_empty = *first == COMPAT_NONE;
    if (was_empty) {
        *first = node;
    } else {
        replay->next_ready[*last] = node;
    }
    *last = node;
    if (is_gpu && was_empty) {
        offer_stream(replay, replay->stream_of[node]);
    }
}

/* ---- a tick ---- */

static void print_stream(const struct replay *replay, uint32_t stream)
{
    if (replay->streams[stream].is_none) {
        (void)fputs("None", replay->out);
    } else {
        (void)fprintf(replay->out, "%" PRId64, replay->streams[stream].number);
    }
}

/* At least one tick later. */
static uint64_t convert_replay_end_of(const struct replay *replay, const struct compat_node *node)
{
    uint64_t duration = node->duration_us == 0 ? 1 : node->duration_us;
    return duration > UINT64_MAX - replay->now ? UINT64_MAX : replay->now + duration;
}

static void issue_cpu(struct replay *replay)
{
    uint32_t node = replay->cpu_first;
    const struct compat_node *at = &replay->compat->nodes[node];
    replay->cpu_first = replay->next_ready[node];
    replay->cpu_node = node;
    replay->cpu_end = convert_replay_end_of(replay, at);
    replay->issued[replay->issued_count++] = node;
    (void)fprintf(
        replay->out,
        "Issuing CPU Node ID %" PRIu64 " (%s) at %" PRIu64 "us with duration %" PRIu64 "us, tid: %" PRId64 "\n", at->id,
        compat_name(replay->compat, node), replay->now, at->duration_us, compat_host(replay->compat, node)->tid);
}

static void issue_gpu(struct replay *replay, uint32_t node)
{
    const struct compat_node *at = &replay->compat->nodes[node];
    uint32_t stream = replay->stream_of[node];
    replay->streams[stream].first = replay->next_ready[node];
    replay->streams[stream].busy = true;
    heap_push(&replay->running, (struct heap_entry){convert_replay_end_of(replay, at), replay->issues++, node});
    replay->issued[replay->issued_count++] = node;
    (void)fprintf(replay->out, "Issuing GPU Node ID %" PRIu64 " (%s) at %" PRIu64 "us on stream ", at->id,
                  compat_name(replay->compat, node), replay->now);
    print_stream(replay, stream);
    (void)fprintf(replay->out, " with duration %" PRIu64 "us, tid: stream ", at->duration_us);
    print_stream(replay, stream);
    (void)fputc('\n', replay->out);
}

static void end_nodes(struct replay *replay)
{
    if (replay->cpu_node != COMPAT_NONE && replay->cpu_end <= replay->now) {
        (void)fprintf(replay->out, "CPU Node ID %" PRIu64 " completed at %" PRIu64 "us, tid: %" PRId64 "\n",
                      replay->compat->nodes[replay->cpu_node].id, replay->now,
                      compat_host(replay->compat, replay->cpu_node)->tid);
        replay->cpu_node = COMPAT_NONE;
    }
    while (replay->running.count > 0 && replay->running.entries[0].key <= replay->now) {
        uint32_t node = heap_pop(&replay->running);
        uint32_t stream = replay->stream_of[node];
        (void)fprintf(replay->out, "GPU Node ID %" PRIu64 " on stream ", replay->compat->nodes[node].id);
        print_stream(replay, stream);
        (void)fprintf(replay->out, " completed at %" PRIu64 "us, tid: stream ", replay->now);
        print_stream(replay, stream);
        (void)fputc('\n', replay->out);
        replay->streams[stream].busy = false;
        offer_stream(replay, stream);
    }
}

static void release_children(struct replay *replay)
{
    for (uint32_t i = 0; i < replay->issued_count; i++) {
        uint32_t node = replay->issued[i];
        for (uint32_t at = replay->first_child[node]; at < replay->first_child[node + 1]; at++) {
            uint32_t child = replay->children[at];
            if (--replay->waits[child] == 0) {
                make_ready(replay, child);
            }
        }
    }
    replay->issued_count = 0;
}

/* The next tick, or the next one in which something ends. */
static uint64_t next_time(const struct replay *replay)
{
    uint64_t next = replay->now + 1;
    if (replay->issued_count > 0) {
        return next;
    }
    uint64_t end = replay->cpu_node != COMPAT_NONE ? replay->cpu_end : UINT64_MAX;
    if (replay->running.count > 0 && replay->running.entries[0].key < end) {
        end = replay->running.entries[0].key;
    }
    return end > next ? end : next;
}

static void convert_replay_run(struct replay *replay)
{
    while (replay->cpu_first != COMPAT_NONE || replay->cpu_node != COMPAT_NONE || replay->issuable.count > 0 ||
           replay->running.count > 0) {
        if (replay->cpu_first != COMPAT_NONE && replay->cpu_node == COMPAT_NONE) {
            issue_cpu(replay);
        }
        while (replay->issuable.count > 0) {
            issue_gpu(replay, heap_pop(&replay->issuable));
        }
        replay->now = next_time(replay);
        end_nodes(replay);
        release_children(replay);
    }
}

/* ---- setting up ---- */

static void *part(char **at, size_t count, size_t size)
{
    void *here = *at;
    *at += (count * size + 15) / 16 * 16;
    return here;
}

static bool allocate(struct replay *replay, struct mem *mem)
{
    size_t count = replay->compat->count;
    replay->block_size = (count + 2) * (7 * sizeof(uint32_t) + sizeof(uint32_t) + 2 * sizeof(struct heap_entry) +
                                        sizeof(struct stream)) +
                         (size_t)16 * 16 + 2 * count * sizeof(uint32_t);
    replay->block = mem_zalloc(mem, replay->block_size);
    if (replay->block == NULL) {
        return false;
    }
    char *at = replay->block;
    replay->issuable.entries = part(&at, count, sizeof(struct heap_entry));
    replay->running.entries = part(&at, count, sizeof(struct heap_entry));
    replay->streams = part(&at, count, sizeof(struct stream));
    replay->waits = part(&at, count, sizeof(uint32_t));
    replay->first_child = part(&at, count + 2, sizeof(uint32_t));
    replay->children = part(&at, 2 * count, sizeof(uint32_t));
    replay->next_ready = part(&at, count, sizeof(uint32_t));
    replay->stream_of = part(&at, count, sizeof(uint32_t));
    replay->ready_at = part(&at, count, sizeof(uint32_t));
    replay->issued = part(&at, count, sizeof(uint32_t));
    return true;
}

/* Counts, then places; the children of a node come in the order in which the original made them. */
static void link_children(struct replay *replay)
{
    const struct compat *compat = replay->compat;
    uint64_t ids[2];
    for (uint32_t i = 0; i < compat->made_count; i++) {
        uint32_t node = compat->order[i];
        unsigned count = compat_deps_of(compat, node, ids);
        replay->waits[node] = count;
        while (count-- > 0) {
            replay->first_child[compat_find(compat, ids[count]) + 2]++;
        }
    }
    for (uint32_t i = 0; i < compat->count; i++) {
        replay->first_child[i + 2] += replay->first_child[i + 1];
    }
    for (uint32_t i = 0; i < compat->made_count; i++) {
        uint32_t node = compat->order[i];
        for (unsigned count = compat_deps_of(compat, node, ids); count-- > 0;) {
            replay->children[replay->first_child[compat_find(compat, ids[count]) + 1]++] = node;
        }
    }
}

static int convert_replay_compare_streams(const void *a, const void *b)
{
    return replay_is_before(NULL, a, b) ? -1 : replay_is_before(NULL, b, a) ? 1 : 0;
}

/* Numbers the streams; nodes of one stream lie together once sorted. The heap's entries are not needed yet. */
static void find_streams(struct replay *replay)
{
    const struct compat *compat = replay->compat;
    struct heap_entry *entries = replay->running.entries;
    size_t count = 0;
    for (uint32_t i = 0; i < compat->made_count; i++) {
        const struct host_node *host = compat_host(compat, compat->order[i]);
        if (compat->nodes[compat->order[i]].kind == COMPAT_GPU) {
            entries[count++] = (struct heap_entry){(uint64_t)compat->trace->links[host->linked].stream,
                                                   (host->has & HOST_STREAM_IS_NULL) != 0, compat->order[i]};
        }
    }
    qsort(entries, count, sizeof *entries, convert_replay_compare_streams);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || replay_is_before(NULL, &entries[i - 1], &entries[i])) {
            replay->streams[replay->stream_count++] = (struct stream){.is_none = entries[i].sequence != 0,
                                                                      .number = (int64_t)entries[i].key,
                                                                      .first = COMPAT_NONE,
                                                                      .last = COMPAT_NONE};
        }
        replay->stream_of[entries[i].node] = replay->stream_count - 1;
    }
}

enum orr_status compat_replay(const struct compat *compat, FILE *stream, struct orr_error *err)
{
    struct replay replay = {
        .compat = compat, .out = stream, .cpu_first = COMPAT_NONE, .cpu_last = COMPAT_NONE, .cpu_node = COMPAT_NONE};
    if (!allocate(&replay, compat->mem)) {
        return mem_error(compat->mem, "the replay", err);
    }
    link_children(&replay);
    find_streams(&replay);
    for (uint32_t i = 0; i < compat->count; i++) {
        const struct compat_node *node = &compat->nodes[compat->by_id[i]];
        if (node->made && !node->dangling && replay.waits[compat->by_id[i]] == 0) {
            make_ready(&replay, compat->by_id[i]);
        }
    }
    convert_replay_run(&replay);
    mem_free(compat->mem, replay.block, replay.block_size);
    return ORR_OK;
}
