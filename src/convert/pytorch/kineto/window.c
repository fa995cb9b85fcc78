/* SPDX-License-Identifier: Apache-2.0 */
/* Every decision is about one event with what the passes before have learnt, so none of them depends on the order of
 * the file. */
#include "convert/pytorch/kineto/window.h"

#include <math.h>
#include <stdlib.h>

void kineto_window_init(struct kineto_window *window, const int64_t *steps, uint32_t pair_count, struct mem *mem)
{
    *window = (struct kineto_window){.steps = steps,
                                     .pair_count = pair_count,
                                     .start_us = INFINITY,
                                     .end_us = -INFINITY,
                                     .origin_us = INFINITY,
                                     .mem = mem};
    number_map_init(&window->links, mem);
}

void kineto_window_free(struct kineto_window *window)
{
    number_map_free(&window->links);
    mem_free(window->mem, window->edges, (size_t)window->edge_capacity * sizeof *window->edges);
}

/* The number of "ProfilerStep#N", or -1. */
static int64_t kineto_window_step_of(const struct json_item *name)
{
    static const char mark[] = "ProfilerStep#";
    char digits[24];
    if (name == NULL || name->kind != JSON_ITEM_STRING || name->length < sizeof mark ||
        name->length >= sizeof mark + sizeof digits - 1 || memcmp(name->text, mark, sizeof mark - 1) != 0) {
        return -1;
    }
    size_t length = name->length - (sizeof mark - 1);
    char *end = NULL;
    memcpy(digits, name->text + sizeof mark - 1, length);
    digits[length] = '\0';
    long long number = strtoll(digits, &end, 10);
    return *end == '\0' && number >= 0 ? number : -1;
}

static bool kineto_window_is_wanted(const struct kineto_window *window, int64_t step)
{
    for (uint32_t i = 0; i < window->pair_count; i++) {
        if (step >= window->steps[2 * (size_t)i] && step <= window->steps[2 * (size_t)i + 1]) {
            return true;
        }
    }
    return false;
}

static bool kineto_window_is_call(const struct kineto_event *event)
{
    return event->cat == KINETO_RUNTIME || event->cat == KINETO_DRIVER;
}

static bool is_work(const struct kineto_event *event)
{
    return event->cat == KINETO_KERNEL || event->cat == KINETO_MEMCPY || event->cat == KINETO_MEMSET;
}

static bool kineto_window_is_mark(const struct kineto_event *event, const struct json_item *name)
{
    return (event->cat == KINETO_USER_ANNOTATION || event->cat == KINETO_CPU_OP) && kineto_window_step_of(name) >= 0;
}

static bool is_known_call(const struct json_item *name)
{
    char text[64] = "";
    if (name == NULL || name->kind != JSON_ITEM_STRING) {
        return false;
    }
    memcpy(text, name->text, name->length < sizeof text ? name->length : sizeof text - 1);
    return kineto_is_call(text);
}

static bool kineto_window_is_host(const struct kineto_event *event)
{
    return event->cat == KINETO_CPU_OP || event->cat == KINETO_USER_ANNOTATION;
}

static bool touches(const struct kineto_window *window, const struct kineto_event *event)
{
    return event->ts_us <= window->end_us && event->ts_us + event->dur_us >= window->start_us;
}

static bool correlation_of(const struct json_item *args, int64_t *correlation)
{
    const struct json_item *item = args == NULL ? NULL : json_item_member(args, "correlation");
    return item != NULL && kineto_integer(item, correlation);
}

static void learn_edges(struct kineto_window *window, const struct kineto_event *event)
{
    if (!MEM_GROW(window->mem, window->edges, window->edge_capacity, event->tid)) {
        window->refused = true;
        return;
    }
    while (window->edge_count <= event->tid) {
        window->edges[window->edge_count++] = (struct kineto_window_edge){-INFINITY, INFINITY};
    }
    struct kineto_window_edge *edge = &window->edges[event->tid];
    double end = event->ts_us + event->dur_us;
    edge->before_us = end < window->start_us && end > edge->before_us ? end : edge->before_us;
    edge->after_us = event->ts_us > window->end_us && event->ts_us < edge->after_us ? event->ts_us : edge->after_us;
}

static bool is_edge(const struct kineto_window *window, const struct kineto_event *event)
{
    if (event->tid >= window->edge_count) {
        return false;
    }
    const struct kineto_window_edge *edge = &window->edges[event->tid];
    return event->ts_us == edge->after_us || event->ts_us + event->dur_us == edge->before_us;
}

static void learn_mark(struct kineto_window *window, const struct kineto_event *event, const struct json_item *name)
{
    if ((is_work(event) || kineto_window_is_host(event) || (kineto_window_is_call(event) && is_known_call(name))) &&
        event->ph == 'X' && event->ts_us > -2.2e15 && event->ts_us < 2.2e15) {
        window->origin_us = event->ts_us < window->origin_us ? event->ts_us : window->origin_us;
    }
    if (kineto_window_is_mark(event, name) && event->dur_us >= 0 &&
        kineto_window_is_wanted(window, kineto_window_step_of(name))) {
        double end = event->ts_us + event->dur_us;
        window->start_us = event->ts_us < window->start_us ? event->ts_us : window->start_us;
        window->end_us = end > window->end_us ? end : window->end_us;
    }
}

bool kineto_window_takes(struct kineto_window *window, const struct kineto_event *event, const struct json_item *name,
                         const struct json_item *args)
{
    int64_t correlation = -1;
    uint32_t there = 0;
    switch (window->pass) {
    case KINETO_WINDOW_MARKS:
        learn_mark(window, event, name);
        return false;
    case KINETO_WINDOW_LINKS:
        if ((kineto_window_is_call(event) || is_work(event)) && touches(window, event) &&
            correlation_of(args, &correlation) && !number_map_add(&window->links, correlation, &there)) {
            window->refused = true;
        }
        if (kineto_window_is_host(event) && !kineto_window_is_mark(event, name)) {
            learn_edges(window, event);
        }
        return false;
    case KINETO_WINDOW_EVENTS:
        break;
    }
    if (touches(window, event) || kineto_window_is_mark(event, name) ||
        (kineto_window_is_host(event) && is_edge(window, event))) {
        return true;
    }
    return (kineto_window_is_call(event) || is_work(event) || event->cat == KINETO_SYNC) &&
           correlation_of(args, &correlation) && number_map_get(&window->links, correlation, &there);
}
