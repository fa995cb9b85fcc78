/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block is named after the member that ends with it (reduce-scatter) or began with it (all-gather), so that every
 * algorithm moves sets of members' blocks. In several dimensions a phase deals in parts: the blocks of all members with
 * one coordinate in the phase's dimension, less those that phases before have left to others.
 *
 * Of what coll/ says, only peers and sizes are used. That the sets below have just these sizes, and that everything
 * ends where it should, is what is tested.
 */
#include "api/doctor/steps.h"

#include <inttypes.h>

#include "coll/plan.h"
#include "coll/program.h"
#include "coll/tree.h"

enum { NEVER = -7 }; /* what a block holds that nobody has filled yet; no number begins as this */

static uint32_t doctor_steps_member_count(const struct doctor_act *act)
{
    uint32_t n = 1;
    for (uint32_t d = 0; d < act->dim_count; d++) {
        n *= act->dims[d];
    }
    return n;
}

static uint32_t stride_of(const struct doctor_act *act, uint32_t dim)
{
    uint32_t stride = 1;
    for (uint32_t d = 0; d < dim; d++) {
        stride *= act->dims[d];
    }
    return stride;
}

static uint32_t coordinate(const struct doctor_act *act, uint32_t member, uint32_t dim)
{
    return member / stride_of(act, dim) % act->dims[dim];
}

static uint64_t bit(uint32_t block)
{
    return UINT64_C(1) << block;
}

/* ---- ring, direct, halving-doubling ---- */

/* A phase while its moves are written. */
struct turn {
    const struct doctor_act *act;
    const struct coll_phase *phase;
    const struct coll_halving_step *steps; /* halving */
    uint32_t narrowed;                     /* bit d: a member has blocks of its own coordinate in dimension d only */
};

/* Rings that turn the other way are the same with all members counted backwards. */
static uint32_t mirrored(const struct turn *turn, uint32_t index)
{
    uint32_t n = turn->phase->ring.size;
    return turn->act->backwards ? (n - index) % n : index;
}

/* All-to-all round a ring: in round r everybody passes on what began r-1 places back, farthest last. */
static uint64_t carried_round(const struct turn *turn, uint32_t index, uint32_t step)
{
    uint32_t n = turn->phase->ring.size;
    uint32_t round = 1;
    while (step >= n - round) {
        step -= n - round;
        round++;
    }
    uint32_t origin = (mirrored(turn, index) + n - (round - 1)) % n;
    uint32_t destination = (origin + round + step) % n;
    return bit(mirrored(turn, origin) * n + mirrored(turn, destination));
}

/* Parts whose coordinate has the low bits of `index` below `span`. */
static uint64_t alike(uint32_t n, uint32_t index, uint32_t span)
{
    uint64_t parts = 0;
    for (uint32_t x = 0; x < n; x++) {
        if ((x ^ index) % span == 0) {
            parts |= bit(x);
        }
    }
    return parts;
}

static bool reduces(const struct coll_phase *phase, uint32_t step)
{
    return phase->type == COLL_REDUCE_SCATTER || (phase->type == COLL_ALL_REDUCE && step < phase->sends / 2);
}

/* The parts that member `index` of the phase sends in its `step`-th message to `to`. */
static uint64_t parts_sent(const struct turn *turn, uint32_t index, uint32_t to, uint32_t step)
{
    const struct coll_phase *phase = turn->phase;
    uint32_t n = phase->ring.size;
    switch (phase->method) {
    case COLL_BY_DIRECT:
        return reduces(phase, step) ? bit(to) : bit(index);
    case COLL_BY_HALVING: {
        uint32_t offset = turn->steps[step].offset;
        return reduces(phase, step) ? alike(n, to, 2 * offset) : alike(n, index, 2 * offset);
    }
    default: {
        uint32_t began = phase->type == COLL_ALL_GATHER ? 0 : 1; /* reduce-scatter begins one place on */
        uint32_t place = (mirrored(turn, index) + 2 * n - (began + step) % n) % n;
        return bit(mirrored(turn, place));
    }
    }
}

/* The blocks of `parts` that `member` still answers for. */
static uint64_t blocks_of(const struct turn *turn, uint32_t member, uint64_t parts)
{
    const struct doctor_act *act = turn->act;
    uint32_t dim = turn->phase->dim;
    uint64_t blocks = 0;
    for (uint32_t b = 0; b < doctor_steps_member_count(act); b++) {
        bool own = (parts >> coordinate(act, b, dim) & 1) != 0;
        for (uint32_t d = 0; d < act->dim_count && own; d++) {
            bool free = d == dim || (turn->narrowed >> d & 1) == 0;
            own = free || coordinate(act, b, d) == coordinate(act, member, d);
        }
        blocks |= own ? bit(b) : 0;
    }
    return blocks;
}

static void add_step(struct doctor_stage *stage, const struct turn *turn, uint32_t member, uint32_t step)
{
    const struct coll_phase *phase = turn->phase;
    const struct coll_ring *ring = &phase->ring;
    uint32_t index = coll_ring_grid_index(ring, member);
    uint32_t distance = phase->method == COLL_BY_DIRECT ? coll_direct_distance(ring->size, step) : 1;
    uint32_t to = coll_ring_walk(ring, index, distance, !turn->act->backwards);
    uint32_t from = coll_ring_walk(ring, index, distance, turn->act->backwards);
    uint64_t bytes = phase->message_bytes;
    if (phase->method == COLL_BY_HALVING) {
        to = coll_halving_partner(ring, index, turn->steps[step].offset);
        from = to;
        bytes = turn->steps[step].bytes;
    }
    uint64_t blocks;
    if (phase->type == COLL_ALL_TO_ALL) {
        blocks = phase->method == COLL_BY_DIRECT ? bit(index * ring->size + to) : carried_round(turn, index, step);
    } else {
        blocks = blocks_of(turn, member, parts_sent(turn, index, to, step));
    }
    doctor_stage_send(stage, member, coll_ring_rank(ring, member, index, to), blocks, bytes);
    doctor_stage_receive(stage, member, coll_ring_rank(ring, member, index, from),
                         reduces(phase, step) ? DOCTOR_ADDS : DOCTOR_TAKES, bytes);
}

/* ---- programs: rooted collectives, halving of numbers that are no powers of two ---- */

/* The blocks of the `bytes` that go up or down an edge of the tree above `below`: its own and those below it. */
static uint64_t subtree(const struct doctor_act *act, uint32_t below, uint64_t bytes)
{
    uint32_t n = act->dims[0];
    uint64_t blocks = 0;
    for (uint32_t i = 0; i < n && i < bytes / DOCTOR_BLOCK_BYTES; i++) {
        blocks |= bit((below + i) % n);
    }
    return blocks;
}

static void add_rooted(struct doctor_stage *stage, const struct doctor_act *act, uint32_t member,
                       const struct coll_op *op)
{
    uint64_t all = doctor_stage_all(stage);
    if (op->kind != COLL_OP_SEND) {
        doctor_stage_receive(stage, member, op->peer, op->kind == COLL_OP_RECV_REDUCE ? DOCTOR_ADDS : DOCTOR_TAKES,
                             op->bytes);
    } else if (act->type == COLL_SCATTER || act->type == COLL_GATHER) {
        uint32_t below = act->type == COLL_SCATTER ? op->peer : member;
        doctor_stage_send(stage, member, op->peer, subtree(act, below, op->bytes), op->bytes);
    } else {
        doctor_stage_send(stage, member, op->peer, all, op->bytes);
    }
}

/* The first 2 x pairs members stand together two by two; coll/program.h. */
static uint32_t folded(uint32_t pairs, uint32_t member)
{
    return member < 2 * pairs ? member / 2 : member - pairs;
}

/* Blocks whose folded member is the same as `other`'s once the bits below `span` are cut off. */
static uint64_t folded_group(uint32_t n, uint32_t pairs, uint32_t other, uint32_t span)
{
    uint64_t blocks = 0;
    for (uint32_t b = 0; b < n; b++) {
        if (folded(pairs, b) / span == other / span) {
            blocks |= bit(b);
        }
    }
    return blocks;
}

/* What a message of folded halving carries: to and from the even one of a pair, or between two of those left. */
static uint64_t folded_sent(const struct doctor_act *act, uint32_t pairs, uint32_t member, const struct coll_op *op,
                            bool first, bool adds)
{
    uint32_t n = act->dims[0];
    uint64_t all = UINT64_MAX >> (DOCTOR_BLOCKS_MOST - n);
    bool in_pair = member < 2 * pairs && op->peer / 2 == member / 2 && op->peer < 2 * pairs;
    if (in_pair && first) {
        return act->type == COLL_ALL_GATHER ? bit(member) : all;
    }
    if (in_pair) {
        return act->type == COLL_REDUCE_SCATTER ? bit(op->peer) : all;
    }
    uint32_t me = folded(pairs, member);
    uint32_t other = folded(pairs, op->peer);
    uint32_t half = me ^ other;
    return folded_group(n, pairs, adds ? other : me, half);
}

static void add_program(struct doctor_stage *stage, const struct doctor_act *act, uint64_t bytes)
{
    struct coll_op ops[COLL_PROGRAM_MAX_OPS];
    uint32_t n = act->dims[0];
    uint32_t pairs = n - (UINT32_C(1) << coll_log2_floor(n));
    for (uint32_t member = 0; member < n; member++) {
        uint32_t count = coll_program_build(act->type, n, member, act->root, bytes, ops);
        for (uint32_t i = 0; i < count; i++) {
            if (coll_type_is_rooted((int32_t)act->type) || ops[i].kind != COLL_OP_SEND) {
                add_rooted(stage, act, member, &ops[i]);
                continue;
            }
            bool adds = i + 1 < count && ops[i + 1].kind == COLL_OP_RECV_REDUCE;
            uint64_t blocks = folded_sent(act, pairs, member, &ops[i], i == 0, adds);
            doctor_stage_send(stage, member, ops[i].peer, blocks, ops[i].bytes);
        }
    }
}

/* ---- double binary tree: one block for each tree ---- */

static void add_tree(struct doctor_stage *stage, uint32_t n, uint32_t tree)
{
    for (uint32_t member = 0; member < n; member++) {
        struct coll_tree_place place = coll_tree_place(n, tree == 0, member);
        for (uint32_t i = 0; i < place.child_count; i++) {
            doctor_stage_receive(stage, member, place.child[i], DOCTOR_ADDS, DOCTOR_BLOCK_BYTES);
        }
        if (place.parent != COLL_TREE_NONE) {
            doctor_stage_send(stage, member, place.parent, bit(tree), DOCTOR_BLOCK_BYTES);
            doctor_stage_receive(stage, member, place.parent, DOCTOR_TAKES, DOCTOR_BLOCK_BYTES);
        }
        for (uint32_t i = 0; i < place.child_count; i++) {
            doctor_stage_send(stage, member, place.child[i], bit(tree), DOCTOR_BLOCK_BYTES);
        }
    }
}

/* ---- a collective whole ---- */

static void add_phases(struct doctor_stage *stage, const struct doctor_act *act, uint64_t bytes)
{
    struct coll_dim dims[DOCTOR_DIMS_MOST];
    struct coll_plan plan;
    for (uint32_t d = 0; d < act->dim_count; d++) {
        dims[d] = (struct coll_dim){
            .ring = {.size = act->dims[d], .stride = stride_of(act, d)}, .impl = {.algo = act->algo}, .involved = true};
    }
    coll_plan_build(act->type, bytes, dims, act->dim_count, !act->dim_by_dim, false, &plan);
    uint32_t narrowed = act->type == COLL_ALL_GATHER ? UINT32_MAX : 0;
    for (uint32_t p = 0; p < plan.phase_count; p++) {
        const struct coll_phase *phase = &plan.phases[p];
        struct coll_halving_step steps[COLL_HALVING_MAX_STEPS];
        if (phase->method == COLL_BY_HALVING) {
            coll_halving_steps(phase->type, phase->ring.size, phase->bytes, phase->sends, steps);
        } else if (phase->method == COLL_BY_PROGRAM) {
            add_program(stage, act, phase->bytes);
            continue;
        } else if (phase->method == COLL_BY_TREE) {
            add_tree(stage, phase->ring.size, 0);
            add_tree(stage, phase->ring.size, 1);
            continue;
        }
        struct turn turn = {.act = act, .phase = phase, .steps = steps, .narrowed = narrowed};
        for (uint32_t member = 0; member < stage->member_count; member++) {
            for (uint32_t step = 0; step < phase->sends; step++) {
                add_step(stage, &turn, member, step);
            }
        }
        uint32_t own = UINT32_C(1) << phase->dim;
        narrowed = phase->type == COLL_REDUCE_SCATTER ? narrowed | own
                   : phase->type == COLL_ALL_GATHER   ? narrowed & ~own
                                                      : narrowed;
    }
}

/* Whether `member` has something of its own in `block` before the collective. */
static bool doctor_steps_begins_with(const struct doctor_act *act, uint32_t member, uint32_t block)
{
    switch (act->type) {
    case COLL_ALL_GATHER:
    case COLL_GATHER:
        return block == member;
    case COLL_BROADCAST:
    case COLL_SCATTER:
        return member == act->root;
    case COLL_ALL_TO_ALL:
        return block / act->dims[0] == member;
    default:
        return true;
    }
}

/* Whether the collective promises `member` anything in `block`. */
static bool doctor_steps_ends_with(const struct doctor_act *act, uint32_t member, uint32_t block)
{
    switch (act->type) {
    case COLL_REDUCE:
    case COLL_GATHER:
        return member == act->root;
    case COLL_REDUCE_SCATTER:
    case COLL_SCATTER:
        return block == member;
    case COLL_ALL_TO_ALL:
        return block % act->dims[0] == member;
    default:
        return true;
    }
}

static void doctor_steps_fill(struct doctor_stage *stage, const struct doctor_act *act)
{
    for (uint32_t member = 0; member < stage->member_count; member++) {
        for (uint32_t b = 0; b < stage->block_count; b++) {
            for (uint32_t k = 0; k < DOCTOR_VALUES; k++) {
                doctor_stage_values(stage, member, b)[k] =
                    doctor_steps_begins_with(act, member, b) ? doctor_number(stage->member_count, member, b, k) : NEVER;
            }
        }
    }
}

/* The sum over all members that begin with something there: of one, what it began with. */
static int64_t promised(const struct doctor_stage *stage, const struct doctor_act *act, uint32_t block, uint32_t at)
{
    int64_t sum = 0;
    for (uint32_t member = 0; member < stage->member_count; member++) {
        sum += doctor_steps_begins_with(act, member, block) ? doctor_number(stage->member_count, member, block, at) : 0;
    }
    return sum;
}

static enum orr_status doctor_steps_check_values(const struct doctor_stage *stage, const struct doctor_act *act,
                                                 struct orr_error *err)
{
    for (uint32_t b = 0; b < stage->block_count; b++) {
        for (uint32_t k = 0; k < DOCTOR_VALUES; k++) {
            int64_t want = promised(stage, act, b, k);
            for (uint32_t member = 0; member < stage->member_count; member++) {
                int64_t got = doctor_stage_values(stage, member, b)[k];
                if (doctor_steps_ends_with(act, member, b) && got != want) {
                    return error_set(err, ORR_EFAIL,
                                     "value %" PRIu32 " of block %" PRIu32 " is %" PRId64 " at member %" PRIu32
                                     ", not %" PRId64,
                                     k, b, got, member, want);
                }
            }
        }
    }
    return ORR_OK;
}

/* The mean is the sum divided by everyone for himself; all numbers are multiples of the members, so it is whole. */
static enum orr_status check_means(const struct doctor_stage *stage, struct orr_error *err)
{
    int64_t n = (int64_t)stage->member_count;
    for (uint32_t b = 0; b < stage->block_count; b++) {
        int64_t want = 0;
        for (uint32_t member = 0; member < stage->member_count; member++) {
            want += doctor_number(stage->member_count, member, b, 0) / n;
        }
        for (uint32_t member = 0; member < stage->member_count; member++) {
            int64_t sum = doctor_stage_values(stage, member, b)[0];
            if (sum % n != 0 || sum / n != want) {
                return error_set(err, ORR_EFAIL,
                                 "the mean of block %" PRIu32 " is %" PRId64 " / %" PRId64 " at member %" PRIu32
                                 ", not %" PRId64,
                                 b, sum, n, member, want);
            }
        }
    }
    return ORR_OK;
}

enum orr_status doctor_act_run(const struct doctor_act *act, uint64_t spoiled, struct arena *arena, uint64_t *messages,
                               struct orr_error *err)
{
    struct doctor_stage stage;
    uint32_t n = doctor_steps_member_count(act);
    bool tree = act->algo == COLL_DOUBLE_BINARY_TREE && act->type == COLL_ALL_REDUCE;
    uint32_t blocks = act->type == COLL_ALL_TO_ALL ? n * n : tree ? 2 : n;
    uint64_t bytes = act->type == COLL_ALL_GATHER ? DOCTOR_BLOCK_BYTES : (uint64_t)n * DOCTOR_BLOCK_BYTES;
    *messages = 0;
    enum orr_status status = doctor_stage_begin(&stage, n, blocks, arena, err);
    if (status != ORR_OK) {
        return status;
    }
    stage.spoiled = spoiled;
    doctor_steps_fill(&stage, act);
    if (coll_type_is_rooted((int32_t)act->type)) {
        add_program(&stage, act, bytes);
    } else {
        add_phases(&stage, act, bytes);
    }
    *messages = stage.messages;
    status = doctor_stage_run(&stage, err);
    status = status == ORR_OK ? doctor_steps_check_values(&stage, act, err) : status;
    return status == ORR_OK && act->type == COLL_ALL_REDUCE ? check_means(&stage, err) : status;
}
