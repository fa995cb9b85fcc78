/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profiler marks steps: an annotation "ProfilerStep#N" on the thread that drives. What starts in one, on whatever
 * thread, is of that step; device work is of the step in which it was launched, though it may run in the next.
 */
#include <stdlib.h>

#include "convert/pytorch/link/work.h"

static bool step_number(const char *name, int64_t *number)
{
    static const char mark[] = "ProfilerStep#";
    if (strncmp(name, mark, sizeof mark - 1) != 0) {
        return false;
    }
    char *end = NULL;
    const char *digits = name + sizeof mark - 1;
    long long value = strtoll(digits, &end, 10);
    *number = value;
    return end != digits && *end == '\0' && value >= 0;
}

static void link_steps_add_step(struct link_work *work, const struct linked_step *step)
{
    struct linked_trace *out = work->out;
    if (out->step_count > 0 && out->steps[out->step_count - 1].number == step->number) {
        struct linked_step *last = &out->steps[out->step_count - 1];
        last->end_ns = step->end_ns > last->end_ns ? step->end_ns : last->end_ns;
        return;
    }
    if (!MEM_GROW(work->mem, out->steps, out->step_capacity, out->step_count)) {
        work->refused = true;
        return;
    }
    out->steps[out->step_count++] = *step;
}

static int32_t link_steps_step_at(const struct linked_trace *out, int64_t time_ns)
{
    uint32_t low = 0;
    uint32_t high = out->step_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (out->steps[middle].start_ns <= time_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && time_ns < out->steps[low - 1].end_ns ? (int32_t)(low - 1) : -1;
}

static int64_t link_steps_time_of(const struct link_work *work, uint32_t node)
{
    const struct linked_node *at = &work->out->nodes[node];
    if (at->kind == LINKED_COMM_BARE) {
        return work->out->nodes[at->parent].start_ns;
    }
    if (at->kind != LINKED_DEVICE) {
        return at->start_ns;
    }
    uint32_t call = work->call_of[node - work->op_total];
    if (call != LINKED_NONE) {
        return work->calls[call].start_ns;
    }
    return at->parent != LINKED_NONE ? work->out->nodes[at->parent].start_ns : at->start_ns;
}

void link_steps(struct link_work *work)
{
    const struct kineto_trace *kineto = work->kineto;
    for (uint32_t i = 0; i < kineto->event_count && !work->refused; i++) {
        const struct kineto_event *event = &kineto->events[i];
        int64_t number = 0;
        if ((event->cat == KINETO_USER_ANNOTATION || event->cat == KINETO_CPU_OP) && link_is_timed(work, event) &&
            step_number(link_event_name(work, i), &number)) {
            link_steps_add_step(work, &(struct linked_step){.number = number,
                                                            .start_ns = kineto_start_ns(event) - work->base_ns,
                                                            .end_ns = kineto_end_ns(event) - work->base_ns});
        }
    }
    for (uint32_t i = 0; i < work->out->node_count && !work->refused && work->out->step_count > 0; i++) {
        work->out->nodes[i].step = link_steps_step_at(work->out, link_steps_time_of(work, i));
    }
}
