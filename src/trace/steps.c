/* SPDX-License-Identifier: Apache-2.0 */
/* Start times are kept for all nodes, because marks may come behind the nodes they cover. */
#include "trace/steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/scan.h"

void steps_init(struct steps *steps, struct mem *mem)
{
    *steps = (struct steps){.mem = mem};
}

void steps_free(struct steps *steps)
{
    mem_free(steps->mem, steps->step, (size_t)steps->step_capacity * sizeof *steps->step);
    mem_free(steps->mem, steps->start_us, (size_t)steps->start_capacity * sizeof *steps->start_us);
    mem_free(steps->mem, steps->marks, (size_t)steps->mark_capacity * sizeof *steps->marks);
    steps_init(steps, steps->mem);
}

/* "ProfilerStep#7": 7. False for any other name. */
static bool mark_number(struct record_text name, int64_t *step)
{
    static const char prefix[] = "ProfilerStep#";
    size_t length = sizeof prefix - 1;
    if (name.length <= length || name.length > length + 15 || memcmp(name.text, prefix, length) != 0) {
        return false;
    }
    uint64_t number = 0;
    bool is_number = scan_whole(name.text + length, name.length - length, INT64_MAX, &number);
    *step = (int64_t)number;
    return is_number;
}

static bool trace_steps_add_mark(struct steps *steps, const struct record_facts *facts, int64_t step)
{
    if (!MEM_GROW(steps->mem, steps->marks, steps->mark_capacity, steps->mark_count)) {
        return false;
    }
    uint64_t end = 0;
    if (__builtin_add_overflow(facts->start_us, facts->duration_us, &end)) {
        end = UINT64_MAX;
    }
    steps->marks[steps->mark_count++] = (struct steps_mark){facts->start_us, end, step};
    return true;
}

enum orr_status steps_add(struct steps *steps, const struct record_facts *facts, struct orr_error *err)
{
    uint64_t need = (uint64_t)steps->node_count + 1;
    int64_t number = 0;
    bool fine = MEM_RESERVE(steps->mem, steps->step, steps->step_capacity, need) &&
                MEM_RESERVE(steps->mem, steps->start_us, steps->start_capacity, need) &&
                (!mark_number(facts->name, &number) || trace_steps_add_mark(steps, facts, number));
    if (!fine) {
        return mem_error(steps->mem, "the steps of a trace", err);
    }
    steps->step[steps->node_count] = facts->has_step ? facts->step : STEPS_NONE;
    steps->start_us[steps->node_count++] = facts->start_us;
    steps->by_attribute = steps->by_attribute || facts->has_step;
    return ORR_OK;
}

static int compare_marks(const void *a, const void *b)
{
    const struct steps_mark *x = a;
    const struct steps_mark *y = b;
    if (x->start_us != y->start_us) {
        return x->start_us < y->start_us ? -1 : 1;
    }
    return x->step < y->step ? -1 : x->step > y->step;
}

/* The last mark that starts not after `time` and has not ended; marks do not overlap but by rounding. */
static int64_t trace_steps_step_at(const struct steps *steps, uint64_t time)
{
    uint32_t low = 0;
    uint32_t high = steps->mark_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (steps->marks[middle].start_us <= time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && time < steps->marks[low - 1].end_us ? steps->marks[low - 1].step : STEPS_NONE;
}

bool steps_settle(struct steps *steps)
{
    if (steps->by_attribute || steps->mark_count == 0) {
        return steps->by_attribute;
    }
    qsort(steps->marks, steps->mark_count, sizeof *steps->marks, compare_marks);
    for (uint32_t node = 0; node < steps->node_count; node++) {
        steps->step[node] = trace_steps_step_at(steps, steps->start_us[node]);
    }
    return true;
}
