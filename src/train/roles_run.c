/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels lie on an axis of compute time, and a collective among them has two places on it: where it starts and where
 * its result must be there. What shows of it follows. Where nothing overlaps both are one place; where a share of it
 * does, compute of as long lies between them: behind a gather, whose first parts are worked on while the others come;
 * before a sum, whose first parts go while the others are worked on. Kernels are cut where such a place falls into one.
 */
#include "train/roles_build.h"

#include "coll/impl.h"

/* ---- the order of a pass ---- */

static void role_run_put(struct role_builder *builder, const struct work_item *item, const struct role_piece *piece,
                         bool backward, double share)
{
    if (!mem_reserve(builder->work->mem, (void **)&builder->run, &builder->run_capacity,
                     (uint64_t)builder->run_count + 1, sizeof *builder->run)) {
        builder->status = mem_error(builder->work->mem, "a pass", builder->err);
        return;
    }
    builder->run[builder->run_count++] = (struct role_entry){item, piece, backward, share};
}

/* Backward lists are in the order of the forward pass: they are gone through from the end, but a product's gradients
 * stay in their order, and what sequence parallelism gathers for them again comes before both. */
static void role_run_backward(struct role_builder *builder, const struct role_piece *piece,
                              const struct work_list *list, bool with_weights, bool with_rest)
{
    for (uint32_t i = list->count; i-- > 0 && builder->status == ORR_OK;) {
        const struct work_item *at = &list->items[i];
        if (!work_is_weight(list, i)) {
            if (with_rest) {
                role_run_put(builder, at, piece, true, 1);
            }
            continue;
        }
        bool enters = i >= 3 && at[-3].comm == WORK_TP_GATHER && at[-2].comm == WORK_TP_SCATTER;
        if (with_rest && enters) {
            role_run_put(builder, at - 3, piece, true, 1);
        }
        if (with_rest) {
            role_run_put(builder, at - 1, piece, true, 1);
        }
        if (with_weights) {
            role_run_put(builder, at, piece, true, 1);
        }
        if (with_rest && enters) {
            role_run_put(builder, at - 2, piece, true, 1);
        }
        i -= enters ? 3 : 1;
    }
}

static double role_run_launch(const struct role_builder *builder, const struct role_piece *piece)
{
    const struct step_layout *layout = builder->request->layout;
    const struct role_chunk *chunk = &builder->chunks[builder->pass.chunk];
    bool is_layer = piece->kind == STEP_DENSE || piece->kind == STEP_SPARSE;
    if (chunk->layers > 0 && !is_layer) {
        return 0;
    }
    double back = builder->request->job->framework->host_backward + layout->piece[piece->kind].again;
    double share = builder->pass.kind == SCHEDULE_FORWARD ? 1 / (1 + back) : back / (1 + back);
    return layout->launch[builder->pass.order] * share / (chunk->layers > 0 ? chunk->layers : chunk->count);
}

void role_run_add(struct role_builder *builder, const struct role_piece *piece, bool weights_alone)
{
    const struct work_piece *work = &builder->request->layout->piece[piece->kind];
    if (weights_alone) {
        role_run_backward(builder, piece, &work->backward, true, false);
        return;
    }
    builder->run_launch += role_run_launch(builder, piece);
    bool backward = builder->pass.kind == SCHEDULE_BACKWARD;
    double share = backward ? work->again : 1;
    uint32_t items = backward && work->again_items > 0 ? work->again_items : work->forward.count;
    for (uint32_t i = 0; share > 0 && i < items && builder->status == ORR_OK; i++) {
        role_run_put(builder, &work->forward.items[i], piece, backward, share);
    }
    if (builder->pass.kind == SCHEDULE_BACKWARD && builder->again[piece->kind].us > 0) {
        role_run_put(builder, &builder->again[piece->kind], piece, true, 1);
    }
    if (builder->pass.kind == SCHEDULE_BACKWARD) {
        role_run_backward(builder, piece, &work->backward, !builder->pass.without_weights, true);
    }
}

double role_weights_us(const struct role_builder *builder, const struct role_piece *piece)
{
    return builder->request->layout->cost[piece->kind].backward.weight;
}

/* ---- places on the axis ---- */

static const struct {
    int32_t type;
    enum work_group group;
    enum role_stream stream;
    enum role_part part;
    bool before; /* its result is for what follows; else it is of what came before */
} run_comms[WORK_COMMS] = {
    [WORK_TP_GATHER] = {COLL_ALL_GATHER, WORK_TP, ROLE_ON_TP, ROLE_TP, true},
    [WORK_TP_SCATTER] = {COLL_REDUCE_SCATTER, WORK_TP, ROLE_ON_TP, ROLE_TP, false},
    [WORK_TP_REDUCE] = {COLL_ALL_REDUCE, WORK_TP, ROLE_ON_TP, ROLE_TP, false},
    [WORK_CP_SHIFT] = {COLL_ALL_GATHER, WORK_CP, ROLE_ON_CP, ROLE_CP, true},
    [WORK_EP_DISPATCH] = {COLL_ALL_TO_ALL, WORK_EP, ROLE_ON_EP, ROLE_EP, true},
    [WORK_DP_EXCHANGE] = {COLL_ALL_TO_ALL, WORK_DP, ROLE_ON_EP, ROLE_EP, false},
    [WORK_EP_COMBINE] = {COLL_ALL_TO_ALL, WORK_EP, ROLE_ON_EP, ROLE_EP, false},
};

/* Where a collective starts, and where it is waited for. */
struct role_cut {
    double start, join;
};

static double role_entry_us(const struct role_entry *entry)
{
    return entry->item->comm == WORK_COMPUTE ? entry->item->us * entry->item->times * entry->share : 0;
}

/* The cut of collective `index`, behind one that is waited for at `after`; kernels before it end at `at`. */
static struct role_cut role_cut_of(const struct role_builder *builder, uint32_t index, double at, double after)
{
    const struct role_entry *entry = &builder->run[index];
    double hidden = step_hidden_share(builder->request->job, entry->item->comm, entry->backward);
    hidden *= (entry->item->us - entry->item->stall) * entry->share;
    bool before = run_comms[entry->item->comm].before && !(entry->item->comm == WORK_CP_SHIFT && entry->backward);
    struct role_cut cut = {at, at};
    if (before) {
        double room = 0;
        for (uint32_t i = index + 1; i < builder->run_count && builder->run[i].item->comm == WORK_COMPUTE; i++) {
            room += role_entry_us(&builder->run[i]);
        }
        cut.join += hidden < room ? hidden : room;
    } else {
        cut.start = at - hidden > after ? at - hidden : after;
    }
    return cut;
}

/* ---- nodes ---- */

/* Where the kernels of a run have got to. */
struct role_axis {
    uint32_t index; /* of the entry */
    double done;    /* of it */
    double at;
};

static const char *role_kernel_name(struct role_builder *builder, const struct role_entry *entry, const char *what)
{
    const struct role_pass *pass = &builder->pass;
    bool is_layer = entry->piece->kind == STEP_DENSE || entry->piece->kind == STEP_SPARSE;
    if (is_layer) {
        return role_name(builder, "%c%u layer %u %s", pass->letter, pass->micro_batch, entry->piece->layer, what);
    }
    return role_name(builder, "%c%u %s %s", pass->letter, pass->micro_batch,
                     builder->request->layout->piece[entry->piece->kind].name, what);
}

/* Kernels up to `until` on the axis. */
static void role_run_kernels(struct role_builder *builder, struct role_axis *axis, double until)
{
    const double least = 1e-6; /* us: less is what adding up left over */
    enum role_part part = builder->pass.kind == SCHEDULE_FORWARD ? ROLE_FORWARD : ROLE_BACKWARD;
    const struct role_entry *first = NULL;
    double us = 0, flops = 0, moved = 0;
    for (; axis->index < builder->run_count; axis->index++, axis->done = 0) {
        const struct role_entry *entry = &builder->run[axis->index];
        if (entry->item->comm != WORK_COMPUTE) {
            continue;
        }
        double whole = role_entry_us(entry), rest = whole - axis->done, part_us = until - axis->at;
        if (part_us < least && rest >= least) {
            break;
        }
        part_us = part_us > rest - least ? rest : part_us;
        double share = entry->item->times * entry->share * (whole > 0 ? part_us / whole : 1);
        axis->at += part_us;
        axis->done += part_us;
        if (builder->request->merged) {
            first = first != NULL ? first : entry;
            us += part_us, flops += entry->item->flops * share, moved += entry->item->moved * share;
        } else {
            role_compute(builder, role_kernel_name(builder, entry, entry->item->name), part_us,
                         entry->item->flops * share, entry->item->moved * share, part);
        }
        if (axis->done < whole - least) {
            break;
        }
    }
    if (first != NULL) {
        role_compute(builder, role_kernel_name(builder, first, "and on"), us, flops, moved, part);
    }
}

/* The same, and on the way what was delayed starts at `start`. */
static void role_run_to(struct role_builder *builder, struct role_axis *axis, double until, double start)
{
    bool waits = builder->gather.what != NULL || builder->sum.what != NULL;
    if (waits && start <= until) {
        role_run_kernels(builder, axis, start);
        role_data_start(builder);
    }
    role_run_kernels(builder, axis, until);
}

static uint32_t role_run_collective(struct role_builder *builder, const struct role_entry *entry)
{
    enum work_comm comm = entry->item->comm;
    double bytes = entry->item->bytes * entry->share * (comm == WORK_CP_SHIFT ? builder->plan->cp : 1);
    return role_collective(builder, role_kernel_name(builder, entry, entry->item->name), run_comms[comm].type,
                           run_comms[comm].group, bytes, run_comms[comm].stream, run_comms[comm].part, &builder->front);
}

void role_run_flush(struct role_builder *builder)
{
    struct role_axis axis = {0};
    double at = 0, after = 0, start = 0;
    if (builder->run_launch > 0 && builder->run_count > 0) {
        role_host(builder, role_name(builder, "%c%u host", builder->pass.letter, builder->pass.micro_batch),
                  builder->run_launch);
    }
    builder->run_launch = 0;
    for (uint32_t i = 0; i < builder->run_count; i++) {
        start += role_entry_us(&builder->run[i]) * (1 - builder->request->job->framework->overlap_dp);
    }
    for (uint32_t i = 0; i < builder->run_count && builder->status == ORR_OK; i++) {
        if (builder->run[i].item->comm == WORK_COMPUTE) {
            at += role_entry_us(&builder->run[i]);
            continue;
        }
        struct role_cut cut = role_cut_of(builder, i, at, after);
        role_run_to(builder, &axis, cut.start, start);
        uint32_t node = role_run_collective(builder, &builder->run[i]);
        if (cut.join > cut.start) {
            role_run_to(builder, &axis, cut.join, start);
            role_front_join(&builder->front, node);
        } else if (node != WORK_NONE) {
            builder->front = (struct role_front){{node}, 1};
        }
        after = cut.join;
    }
    if (builder->run_count > 0) {
        role_run_to(builder, &axis, at + 1, start);
    }
    builder->run_count = 0;
}
