/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything is computed from the member's own index, so that no rank holds a table of the whole collective. A message
 * of no bytes is never sent: each size is at least 1, which is also what a barrier carries.
 */
#include "coll/program.h"

struct builder {
    struct coll_op *ops;
    uint32_t count;
};

static void program_add(struct builder *builder, enum coll_op_kind kind, uint32_t peer, uint64_t bytes)
{
    builder->ops[builder->count++] =
        (struct coll_op){.kind = (uint8_t)kind, .peer = peer, .bytes = bytes > 0 ? bytes : 1};
}

static uint32_t power_below(uint32_t n)
{
    uint32_t power = 1;
    while (power <= n / 2) {
        power *= 2;
    }
    return power;
}

/* Members in the binomial subtree that hangs off virtual member `v` by an edge of span `span`. */
static uint64_t program_subtree(uint32_t size, uint32_t v, uint32_t span)
{
    return span < size - v ? span : size - v;
}

/* Binomial tree on indices relative to the root: the parent of v clears v's lowest set bit; children set lower bits. */
static void rooted(struct builder *builder, enum coll_type type, uint32_t size, uint32_t index, uint32_t root,
                   uint64_t bytes)
{
    uint32_t v = index >= root ? index - root : index + size - root;
    bool towards_root = type == COLL_REDUCE || type == COLL_GATHER;
    bool whole = type == COLL_REDUCE || type == COLL_BROADCAST;
    uint32_t top = power_below(size);
    uint32_t lowest = v == 0 ? top * (top < size ? 2 : 1) : v & (~v + 1);
    uint32_t parent = v == 0 ? 0 : (v - lowest + root) % size;
    uint64_t up_bytes = whole ? bytes : bytes / size * program_subtree(size, v, lowest);
    if (v != 0 && !towards_root) {
        program_add(builder, COLL_OP_RECV, parent, up_bytes);
    }
    for (uint32_t i = 0; (lowest >> i) > 1; i++) {
        /* Data flows down through the largest subtree first, and up from the smallest. */
        uint32_t span = towards_root ? UINT32_C(1) << i : lowest >> (i + 1);
        if (v + span >= size) {
            continue;
        }
        uint32_t child = (v + span + root) % size;
        uint64_t edge_bytes = whole ? bytes : bytes / size * program_subtree(size, v + span, span);
        enum coll_op_kind receive = type == COLL_REDUCE ? COLL_OP_RECV_REDUCE : COLL_OP_RECV;
        program_add(builder, towards_root ? receive : COLL_OP_SEND, child, edge_bytes);
    }
    if (v != 0 && towards_root) {
        program_add(builder, COLL_OP_SEND, parent, up_bytes);
    }
}

static void barrier(struct builder *builder, uint32_t size, uint32_t index)
{
    for (uint64_t distance = 1; distance < size; distance *= 2) {
        program_add(builder, COLL_OP_SEND, (uint32_t)((index + distance) % size), 1);
        program_add(builder, COLL_OP_RECV, (uint32_t)((index + size - distance) % size), 1);
    }
}

/* Blocks held by the folded members lo..hi-1, of which those below `pairs` stand for two members each. */
static uint64_t blocks(uint32_t lo, uint32_t hi, uint32_t pairs)
{
    uint32_t doubled = hi < pairs ? hi : pairs;
    return (uint64_t)(hi - lo) + (doubled > lo ? doubled - lo : 0);
}

struct fold {
    uint32_t pairs; /* n - p */
    uint32_t power; /* p */
    uint32_t size;  /* n */
};

static uint32_t unfold(const struct fold *fold, uint32_t folded)
{
    return folded < fold->pairs ? 2 * folded + 1 : folded + fold->pairs;
}

static void exchange(struct builder *builder, const struct fold *fold, uint32_t peer, uint64_t send_bytes,
                     uint64_t recv_bytes, bool reduce)
{
    program_add(builder, COLL_OP_SEND, unfold(fold, peer), send_bytes);
    program_add(builder, reduce ? COLL_OP_RECV_REDUCE : COLL_OP_RECV, unfold(fold, peer), recv_bytes);
}

/* Recursive halving: at each level the half that the partner keeps is sent away. */
static void halve(struct builder *builder, const struct fold *fold, uint32_t me, uint64_t bytes)
{
    for (uint32_t half = fold->power / 2; half >= 1; half /= 2) {
        uint32_t mine = me / half * half;
        uint32_t theirs = mine ^ half;
        uint64_t send_blocks = blocks(theirs, theirs + half, fold->pairs);
        uint64_t recv_blocks = blocks(mine, mine + half, fold->pairs);
        exchange(builder, fold, me ^ half, bytes / fold->size * send_blocks, bytes / fold->size * recv_blocks, true);
    }
}

/* Recursive doubling: at each level everything gathered so far is exchanged. `block` is one member's share. */
static void double_up(struct builder *builder, const struct fold *fold, uint32_t me, uint64_t block)
{
    for (uint32_t half = 1; half < fold->power; half *= 2) {
        uint32_t mine = me / half * half;
        uint32_t theirs = mine ^ half;
        exchange(builder, fold, me ^ half, block * blocks(mine, mine + half, fold->pairs),
                 block * blocks(theirs, theirs + half, fold->pairs), false);
    }
}

static void folded_halving(struct builder *builder, enum coll_type type, uint32_t size, uint32_t index, uint64_t bytes)
{
    struct fold fold = {.power = power_below(size), .size = size};
    fold.pairs = size - fold.power;
    bool paired = index < 2 * fold.pairs;
    bool gathers = type == COLL_ALL_GATHER;
    uint64_t back = type == COLL_ALL_REDUCE ? bytes : gathers ? bytes * size : bytes / size;
    if (paired && index % 2 == 0) {
        program_add(builder, COLL_OP_SEND, index + 1, bytes);
        program_add(builder, COLL_OP_RECV, index + 1, back);
        return;
    }
    if (paired) {
        program_add(builder, gathers ? COLL_OP_RECV : COLL_OP_RECV_REDUCE, index - 1, bytes);
    }
    uint32_t me = paired ? index / 2 : index - fold.pairs;
    if (!gathers) {
        halve(builder, &fold, me, bytes);
    }
    if (type != COLL_REDUCE_SCATTER) {
        double_up(builder, &fold, me, gathers ? bytes : bytes / size);
    }
    if (paired) {
        program_add(builder, COLL_OP_SEND, index - 1, back);
    }
}

uint32_t coll_program_build(enum coll_type type, uint32_t size, uint32_t index, uint32_t root, uint64_t bytes,
                            struct coll_op *ops)
{
    struct builder builder = {.ops = ops};
    switch (type) {
    case COLL_REDUCE:
    case COLL_GATHER:
    case COLL_SCATTER:
    case COLL_BROADCAST:
        rooted(&builder, type, size, index, root, bytes);
        break;
    case COLL_BARRIER:
        barrier(&builder, size, index);
        break;
    default:
        folded_halving(&builder, type, size, index, bytes);
        break;
    }
    return builder.count;
}
