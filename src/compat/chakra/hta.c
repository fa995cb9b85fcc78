/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph of HTA's critical-path analysis (spec chakra §7, 4 and 5): first the calls of every host thread as they
 * nest, then kernels and synchronisations by time. What the original joins with data frames is found here with sorted
 * lists.
 */
#include "compat/chakra/hta.h"

#include <stdlib.h>
#include <string.h>

#include "compat/chakra/hta_parts.h"

static uint32_t start_of(uint32_t row)
{
    return row * 2;
}

static uint32_t chakra_hta_end_of(uint32_t row)
{
    return row * 2 + 1;
}

static bool add_timed(struct hta *hta, uint32_t from, uint32_t to)
{
    return hta_add_edge(hta, from, to, hta_node_ts(hta, to) - hta_node_ts(hta, from), false);
}

/* ---- host threads ---- */

struct mark {
    int64_t time, dur;
    uint32_t row;
    bool is_end;
};

/* Nesting order: at the same moment ends come before starts, the longer starts first, the shorter ends first. */
static int chakra_hta_compare_marks(const void *left, const void *right)
{
    const struct mark *a = left;
    const struct mark *b = right;
    if (a->row == b->row) {
        return a->is_end ? 1 : -1;
    }
    if (a->time != b->time) {
        return a->time < b->time ? -1 : 1;
    }
    if (a->is_end != b->is_end) {
        return a->is_end ? -1 : 1;
    }
    int order = a->dur != b->dur ? (a->dur > b->dur ? -1 : 1) : (a->row < b->row ? -1 : 1);
    return a->is_end ? -order : order;
}

/* The walk through one thread. */
struct walk {
    uint32_t last;       /* node, or HTA_NONE */
    uint32_t last_outer; /* end of the last operator that lies in no other, or HTA_NONE */
    uint32_t depth;
};

static bool chakra_hta_enter(struct hta *hta, struct walk *walk, uint32_t row)
{
    if (!hta->rows[row].has_nodes || hta_event(hta, row)->index == 0) {
        return true;
    }
    if (walk->depth == 0 && walk->last_outer != HTA_NONE &&
        !hta_add_edge(hta, walk->last_outer, start_of(row), 0, false)) {
        return false;
    }
    walk->depth++;
    bool done = walk->last == HTA_NONE || add_timed(hta, walk->last, start_of(row));
    walk->last = start_of(row);
    return done;
}

static bool chakra_hta_leave(struct hta *hta, struct walk *walk, uint32_t row)
{
    if (!hta->rows[row].has_nodes || hta_event(hta, row)->index == 0) {
        return true;
    }
    walk->depth--;
    bool done = true;
    if (walk->last != HTA_NONE) {
        bool blocking = (hta->rows[row].name & HTA_BLOCKING) != 0;
        done = blocking ? hta_add_edge(hta, walk->last, chakra_hta_end_of(row), 0, false)
                        : add_timed(hta, walk->last, chakra_hta_end_of(row));
    }
    walk->last = walk->depth == 0 ? HTA_NONE : chakra_hta_end_of(row);
    walk->last_outer = walk->depth == 0 ? chakra_hta_end_of(row) : walk->last_outer;
    return done;
}

/* An end closes whatever was opened last, whoever it belongs to: that is how HTA makes a tree of overlapping events. */
static bool walk_marks(struct hta *hta, const struct mark *marks, uint32_t count, uint32_t *stack)
{
    struct walk walk = {.last = HTA_NONE, .last_outer = HTA_NONE};
    uint32_t height = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!marks[i].is_end) {
            stack[height++] = marks[i].row;
            if (!chakra_hta_enter(hta, &walk, marks[i].row)) {
                return false;
            }
        } else if (height > 0 && !chakra_hta_leave(hta, &walk, stack[--height])) {
            return false;
        }
    }
    while (height > 0) {
        if (!chakra_hta_leave(hta, &walk, stack[--height])) {
            return false;
        }
    }
    return true;
}

/* Threads by number of process and thread, numbers before texts. */
static int chakra_hta_compare_texts(const char *a, const char *b)
{
    char *a_end = NULL;
    char *b_end = NULL;
    long long x = strtoll(a, &a_end, 10);
    long long y = strtoll(b, &b_end, 10);
    bool a_text = *a_end != '\0' || a_end == a;
    bool b_text = *b_end != '\0' || b_end == b;
    if (a_text || b_text) {
        return a_text && b_text ? strcmp(a, b) : a_text - b_text;
    }
    return x < y ? -1 : x > y;
}

static int compare_threads(const void *left, const void *right, void *context)
{
    const struct hta *hta = context;
    uint32_t l = *(const uint32_t *)left;
    uint32_t r = *(const uint32_t *)right;
    const struct kineto_event *a = hta_event(hta, l);
    const struct kineto_event *b = hta_event(hta, r);
    int order = a->pid == b->pid ? 0
                                 : chakra_hta_compare_texts(intern_text(&hta->trace->names, a->pid),
                                                            intern_text(&hta->trace->names, b->pid));
    if (order == 0 && a->tid != b->tid) {
        order = chakra_hta_compare_texts(intern_text(&hta->trace->threads, a->tid + 1),
                                         intern_text(&hta->trace->threads, b->tid + 1));
        order = order == 0 ? (a->tid < b->tid ? -1 : 1) : order;
    }
    return order != 0 ? order : l < r ? -1 : l > r;
}

static bool same_thread(const struct hta *hta, uint32_t a, uint32_t b)
{
    return hta_event(hta, a)->pid == hta_event(hta, b)->pid && hta_event(hta, a)->tid == hta_event(hta, b)->tid;
}

/* One thread's rows; a thread that has rows of a stream is no host thread. */
static bool add_thread(struct hta *hta, const uint32_t *rows, uint32_t count, struct mark *marks, uint32_t *stack)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct hta_row *row = &hta->rows[rows[i]];
        if (row->stream >= 0) {
            return true;
        }
        struct mark *pair = &marks[(size_t)i * 2];
        pair[0] = (struct mark){.time = row->ts, .dur = row->end - row->ts, .row = rows[i], .is_end = false};
        pair[1] = (struct mark){.time = row->end, .dur = row->end - row->ts, .row = rows[i], .is_end = true};
    }
    qsort(marks, (size_t)count * 2, sizeof *marks, chakra_hta_compare_marks);
    return walk_marks(hta, marks, count * 2, stack);
}

static bool add_threads(struct hta *hta)
{
    uint32_t count = 0;
    size_t rows_bytes = hta->row_count * sizeof(uint32_t);
    size_t marks_bytes = 2 * (size_t)hta->row_count * sizeof(struct mark);
    uint32_t *rows = mem_alloc(hta->mem, rows_bytes);
    uint32_t *stack = mem_alloc(hta->mem, rows_bytes);
    struct mark *marks = mem_alloc(hta->mem, marks_bytes);
    bool done = rows != NULL && stack != NULL && marks != NULL;
    if (!done) {
        hta->no_memory = true;
    }
    for (uint32_t i = 0; done && i < hta->row_count; i++) {
        if (hta->rows[i].clipped) {
            rows[count++] = i;
        }
    }
    if (done) {
        qsort_r(rows, count, sizeof *rows, compare_threads, hta);
    }
    for (uint32_t i = 0; done && i < count;) {
        uint32_t next = i + 1;
        while (next < count && same_thread(hta, rows[i], rows[next])) {
            next++;
        }
        done = add_thread(hta, rows + i, next - i, marks, stack);
        i = next;
    }
    mem_free(hta->mem, rows, rows_bytes);
    mem_free(hta->mem, stack, rows_bytes);
    mem_free(hta->mem, marks, marks_bytes);
    return done;
}

enum orr_status hta_sync(const struct kineto_trace *trace, struct hta_result *result, struct orr_error *err)
{
    bool any = false;
    for (uint32_t i = 0; i < trace->event_count && !any; i++) {
        any = trace->events[i].cat == KINETO_SYNC && (trace->events[i].has & KINETO_IS_ALIAS) == 0;
    }
    *result = (struct hta_result){0};
    if (!any) {
        return ORR_OK; /* no sync edge could be on the path */
    }
    struct hta hta = {.trace = trace, .mem = trace->mem};
    number_map_init(&hta.graph.by_ends, hta.mem);
    if (!hta_make_rows(&hta) || !add_threads(&hta) || !hta_add_kernels(&hta) || !hta_walk_path(&hta, result)) {
        result->failed = hta.failed;
        result->count = 0;
    }
    number_map_free(&hta.graph.by_ends);
    mem_free(hta.mem, hta.graph.edges, hta.graph.edge_capacity * sizeof *hta.graph.edges);
    mem_free(hta.mem, hta.graph.nodes, hta.graph.node_count * sizeof *hta.graph.nodes);
    mem_free(hta.mem, hta.graph.order, hta.graph.node_count * sizeof *hta.graph.order);
    mem_free(hta.mem, hta.rows, trace->event_count * sizeof *hta.rows);
    mem_free(hta.mem, hta.names, intern_count(&trace->names) * sizeof *hta.names);
    return hta.no_memory ? mem_error(trace->mem, "the critical path", err) : ORR_OK;
}

void hta_free(struct hta_result *result, struct mem *mem)
{
    mem_free(mem, result->pairs, result->capacity * sizeof *result->pairs);
    *result = (struct hta_result){0};
}
