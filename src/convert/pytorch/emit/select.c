/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes come in an order in which all they depend on comes before them, so one pass settles everything. */
#include "convert/pytorch/emit/select.h"

#include "convert/pytorch/link/work.h"

/* Without times a gap is nothing. */
static bool drops_gaps(const struct linked_trace *linked, const struct emit_options *options)
{
    return options->drop_gaps || !linked->has_times;
}

static bool is_kept(const struct linked_trace *linked, const struct emit_options *options,
                    const struct linked_node *node)
{
    if ((options->drop_cpu && linked_kind_is_host(node->kind)) ||
        (drops_gaps(linked, options) && node->kind == LINKED_GAP)) {
        return false;
    }
    bool in_range = options->step_pair_count == 0;
    for (uint32_t i = 0; i < options->step_pair_count && node->step >= 0 && !in_range; i++) {
        int64_t number = linked->steps[node->step].number;
        in_range = number >= options->steps[2 * (size_t)i] && number <= options->steps[2 * (size_t)i + 1];
    }
    return in_range;
}

/* Adds a written node to the list that begins at `begin`, of each lane the last only. */
static bool emit_select_add(struct emit_selection *selection, const struct linked_trace *linked, uint32_t node,
                            uint32_t begin, uint32_t from)
{
    uint32_t lane = linked->nodes[from].lane;
    if (selection->contracts && selection->lane_seen[lane] == node + 1) {
        uint32_t *at = &selection->deps[begin + selection->lane_at[lane]];
        *at = *at > from ? *at : from;
        return true;
    }
    if (!MEM_GROW(selection->mem, selection->deps, selection->dep_capacity, selection->dep_count)) {
        return false;
    }
    selection->lane_seen[lane] = node + 1;
    selection->lane_at[lane] = selection->dep_count - begin;
    selection->deps[selection->dep_count++] = from;
    return true;
}

static bool emit_select_list_deps(struct emit_selection *selection, const struct linked_trace *linked, uint32_t node)
{
    const struct linked_node *at = &linked->nodes[node];
    const uint32_t *deps = at->dep_count > 0 ? linked->deps + at->first_dep : NULL;
    uint32_t begin = selection->dep_count;
    /* A left-out node behind one other hands on what that one hands on: no new list. */
    if (selection->ids[node] == LINKED_NONE && at->dep_count == 1 && selection->ids[deps[0]] == LINKED_NONE) {
        selection->first[node] = selection->first[deps[0]];
        selection->counts[node] = selection->counts[deps[0]];
        return true;
    }
    for (uint32_t i = 0; i < at->dep_count; i++) {
        if (selection->ids[deps[i]] != LINKED_NONE) {
            if (!emit_select_add(selection, linked, node, begin, deps[i])) {
                return false;
            }
            continue;
        }
        for (uint32_t k = 0; k < selection->counts[deps[i]]; k++) {
            if (!emit_select_add(selection, linked, node, begin, selection->deps[selection->first[deps[i]] + k])) {
                return false;
            }
        }
    }
    link_numbers_sort(selection->deps + begin, selection->dep_count - begin);
    selection->first[node] = begin;
    selection->counts[node] = selection->dep_count - begin;
    return true;
}

bool emit_select(struct emit_selection *selection, const struct linked_trace *linked,
                 const struct emit_options *options, uint32_t first_id)
{
    struct mem *mem = linked->mem;
    uint32_t next = first_id;
    *selection = (struct emit_selection){
        .mem = mem, .node_total = (uint64_t)linked->node_count + 1, .lane_total = linked->lane_count + 1};
    size_t bytes = (size_t)selection->node_total * sizeof(uint32_t);
    size_t lane_bytes = (size_t)selection->lane_total * sizeof(uint32_t);
    selection->ids = mem_zalloc(mem, bytes);
    selection->first = mem_zalloc(mem, bytes);
    selection->counts = mem_zalloc(mem, bytes);
    selection->lane_seen = mem_zalloc(mem, lane_bytes);
    selection->lane_at = mem_zalloc(mem, lane_bytes);
    if (selection->ids == NULL || selection->first == NULL || selection->counts == NULL ||
        selection->lane_seen == NULL || selection->lane_at == NULL) {
        return false;
    }
    /* A list without an item has a place too: nobody asks before adding its start to `deps`. */
    if (!MEM_RESERVE(mem, selection->deps, selection->dep_capacity, 1)) {
        return false;
    }
    selection->contracts = options->drop_cpu || drops_gaps(linked, options) || options->step_pair_count > 0;
    for (uint32_t i = 0; i < linked->node_count; i++) {
        selection->ids[i] = is_kept(linked, options, &linked->nodes[i]) ? next++ : LINKED_NONE;
        if (!emit_select_list_deps(selection, linked, i)) {
            return false;
        }
    }
    return true;
}

void emit_selection_free(struct emit_selection *selection)
{
    struct mem *mem = selection->mem;
    size_t bytes = (size_t)selection->node_total * sizeof(uint32_t);
    size_t lane_bytes = (size_t)selection->lane_total * sizeof(uint32_t);
    mem_free(mem, selection->ids, bytes);
    mem_free(mem, selection->first, bytes);
    mem_free(mem, selection->counts, bytes);
    mem_free(mem, selection->lane_seen, lane_bytes);
    mem_free(mem, selection->lane_at, lane_bytes);
    mem_free(mem, selection->deps, (size_t)selection->dep_capacity * sizeof *selection->deps);
    *selection = (struct emit_selection){0};
}
