/* SPDX-License-Identifier: Apache-2.0 */
/* The hot part: a binary search an axis, then the corners of one cell. */
#include "compute/op_set.h"

#include <math.h>
#include <string.h>

enum op_family op_set_family(enum orr_op_stack stack, enum orr_op_kind kind)
{
    return stack == ORR_OP_TORCH ? OP_FAMILY_CALL : op_family_of(kind);
}

struct op_position {
    uint32_t low;  /* level below */
    double beyond; /* share of the way to the next one */
    bool is_inside, is_level;
};

static struct op_position find_level(const struct op_axis *axis, double at)
{
    const double near = 1e-9;
    uint32_t last = axis->count - 1;
    if (at <= axis->at[0] + near) {
        return (struct op_position){0, 0, at >= axis->at[0] - 1, fabs(at - axis->at[0]) <= near};
    }
    if (at >= axis->at[last] - near) {
        return (struct op_position){last, 0, at <= axis->at[last] + 1, fabs(at - axis->at[last]) <= near};
    }
    uint32_t low = 0;
    uint32_t high = last;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (axis->at[middle] <= at + near) {
            low = middle;
        } else {
            high = middle;
        }
    }
    double beyond = (at - axis->at[low]) / (axis->at[high] - axis->at[low]);
    beyond = beyond > near ? beyond : 0;
    return (struct op_position){low, beyond, true, beyond <= 0};
}

struct op_place op_set_place(const struct op_set *set, const double at[OP_AXES])
{
    struct op_place place = {.is_measured = true, .is_inside = true};
    struct op_position positions[OP_AXES];
    uint32_t strides[OP_AXES];
    uint32_t stride = 1;
    uint32_t cell = 0;
    for (uint32_t i = set->axis_count; i-- > 0;) {
        positions[i] = find_level(&set->axes[i], at[i]);
        strides[i] = stride;
        stride *= set->axes[i].count;
        cell += positions[i].low * strides[i];
        place.is_inside = place.is_inside && positions[i].is_inside;
        place.is_measured = place.is_measured && positions[i].is_level;
        place.cell += (positions[i].low + (positions[i].beyond > 0.5)) * strides[i];
    }
    double sum = 0;
    for (uint32_t corner = 0; corner < 1U << set->axis_count; corner++) {
        double weight = 1;
        uint32_t index = cell;
        for (uint32_t i = 0; i < set->axis_count && weight > 0; i++) {
            bool is_high = (corner >> i & 1) != 0;
            weight *= is_high ? positions[i].beyond : 1 - positions[i].beyond;
            index += is_high && weight > 0 ? strides[i] : 0;
        }
        if (weight > 0) {
            sum += weight * (double)(set->cells[index] >> 1);
        }
    }
    place.residual = sum / OP_CELL_STEP;
    place.is_measured = place.is_measured && (set->cells[cell] & 1) != 0;
    return place;
}

bool op_set_nearest(const struct op_set *set, uint32_t cell, struct orr_op *op)
{
    enum { STEPS = 3 };
    double best = (set->cells[cell] & 1) != 0 ? 0 : INFINITY;
    uint32_t found = cell;
    uint32_t stride = 1;
    for (uint32_t i = set->axis_count; i-- > 0 && best > 0;) {
        const struct op_axis *axis = &set->axes[i];
        uint32_t here = cell / stride % axis->count;
        for (uint32_t step = 1; step <= STEPS; step++) {
            uint32_t below = cell - step * stride;
            uint32_t above = cell + step * stride;
            if (here >= step && (set->cells[below] & 1) != 0 && axis->at[here] - axis->at[here - step] < best) {
                best = axis->at[here] - axis->at[here - step];
                found = below;
            }
            if (here + step < axis->count && (set->cells[above] & 1) != 0 &&
                axis->at[here + step] - axis->at[here] < best) {
                best = axis->at[here + step] - axis->at[here];
                found = above;
            }
        }
        stride *= axis->count;
    }
    double levels[OP_AXES];
    op_set_levels(set, found, levels);
    *op = op_at(&(struct orr_op){.kind = set->kind, .dtype = set->dtype}, levels);
    return best < INFINITY;
}

void op_set_levels(const struct op_set *set, uint32_t cell, double levels[OP_AXES])
{
    memset(levels, 0, OP_AXES * sizeof *levels);
    for (uint32_t i = set->axis_count; i-- > 0;) {
        levels[i] = set->axes[i].levels[cell % set->axes[i].count];
        cell /= set->axes[i].count;
    }
}

bool op_set_lay(struct op_set *set)
{
    bool is_attention = op_family_of(set->kind) == OP_FAMILY_ATTENTION;
    uint64_t cells = 1;
    for (uint32_t i = 0; i < set->axis_count; i++) {
        struct op_axis *axis = &set->axes[i];
        cells *= axis->count;
        for (uint32_t level = 0; level < axis->count; level++) {
            bool is_linear = is_attention && i == OP_KV_AXIS;
            axis->at[level] = is_linear ? axis->levels[level] : log2(axis->levels[level]);
        }
        if (cells == 0 || cells > OP_CELLS_MOST) {
            return false;
        }
    }
    set->cell_count = (uint32_t)cells;
    return true;
}

struct op_set *op_sets_add(struct op_sets *sets, const struct op_set *like)
{
    if (!mem_reserve(&sets->mem, (void **)&sets->list, &sets->capacity, (uint64_t)sets->count + 1,
                     sizeof *sets->list)) {
        return NULL;
    }
    struct op_set *set = mem_alloc(&sets->mem, sizeof *set);
    int16_t *cells = mem_zalloc(&sets->mem, like->cell_count * sizeof *cells);
    if (set == NULL || cells == NULL) {
        mem_free(&sets->mem, set, sizeof *set);
        mem_free(&sets->mem, cells, like->cell_count * sizeof *cells);
        return NULL;
    }
    *set = *like;
    set->cells = cells;
    sets->list[sets->count++] = set;
    return set;
}

void op_sets_free(struct op_sets *sets)
{
    for (uint32_t i = 0; i < sets->count; i++) {
        mem_free(&sets->mem, sets->list[i]->cells, sets->list[i]->cell_count * sizeof(int16_t));
        mem_free(&sets->mem, sets->list[i], sizeof *sets->list[i]);
    }
    mem_free(&sets->mem, sets->list, sets->capacity * sizeof *sets->list);
    sets->list = NULL;
    sets->count = sets->capacity = 0;
}
