/* SPDX-License-Identifier: Apache-2.0 */
/* Programs do what their collective promises, acted out for every number of members, every member and every root. */
#include "coll/program.h"
#include "tests/check.h"
#include "tests/coll/exchange.h"

enum { MOST = 40 };

static struct exchange exchange;

/* Acts the collective out and counts what is reduced on the way. */
static void act(enum coll_type type, uint32_t size, uint32_t root, uint64_t bytes)
{
    struct coll_op ops[COLL_PROGRAM_MAX_OPS];
    exchange_begin(&exchange, size);
    for (uint32_t member = 0; member < size; member++) {
        uint32_t count = coll_program_build(type, size, member, root, bytes, ops);
        CHECK(count <= COLL_PROGRAM_MAX_OPS, "%u steps of member %u of %u", count, member, size);
        for (uint32_t i = 0; i < count; i++) {
            CHECK(ops[i].bytes > 0, "no message is empty");
            exchange_add(&exchange, member, ops[i].kind == COLL_OP_SEND, ops[i].peer, ops[i].bytes);
        }
    }
    exchange_run(&exchange, coll_type_name((int32_t)type));
}

static uint64_t everyone(uint32_t size)
{
    return size == 64 ? UINT64_MAX : (UINT64_C(1) << size) - 1;
}

static void after_these_every_member_knows_all_contributions(void **state)
{
    (void)state;
    static const enum coll_type types[] = {COLL_ALL_REDUCE, COLL_REDUCE_SCATTER, COLL_ALL_GATHER, COLL_BARRIER};
    for (size_t t = 0; t < COUNT_OF(types); t++) {
        for (uint32_t size = 2; size <= MOST; size++) {
            act(types[t], size, 0, (uint64_t)size * 1024);
            for (uint32_t member = 0; member < size; member++) {
                CHECK_U64(exchange.members[member].known, everyone(size), "%s: member %u of %u",
                          coll_type_name((int32_t)types[t]), member, size);
            }
        }
    }
}

static void a_root_that_collects_knows_all_contributions(void **state)
{
    (void)state;
    static const enum coll_type types[] = {COLL_REDUCE, COLL_GATHER};
    for (size_t t = 0; t < COUNT_OF(types); t++) {
        for (uint32_t size = 2; size <= MOST; size++) {
            for (uint32_t root = 0; root < size; root++) {
                act(types[t], size, root, (uint64_t)size * 1024);
                CHECK_U64(exchange.members[root].known, everyone(size), "%s to %u of %u",
                          coll_type_name((int32_t)types[t]), root, size);
            }
        }
    }
}

static void what_a_root_hands_out_reaches_everyone(void **state)
{
    (void)state;
    static const enum coll_type types[] = {COLL_BROADCAST, COLL_SCATTER};
    for (size_t t = 0; t < COUNT_OF(types); t++) {
        for (uint32_t size = 2; size <= MOST; size++) {
            for (uint32_t root = 0; root < size; root++) {
                act(types[t], size, root, (uint64_t)size * 1024);
                for (uint32_t member = 0; member < size; member++) {
                    CHECK((exchange.members[member].known >> root & 1) != 0, "%s from %u of %u: member %u",
                          coll_type_name((int32_t)types[t]), root, size, member);
                }
            }
        }
    }
}

/* A share is what one member has at the end of a scatter; each edge of the tree carries the shares below it. */
static void every_share_is_scattered_and_gathered_once(void **state)
{
    (void)state;
    const uint64_t share = 1000;
    for (uint32_t size = 2; size <= MOST; size++) {
        for (uint32_t root = 0; root < size; root++) {
            act(COLL_SCATTER, size, root, size * share);
            CHECK_U64(exchange.members[root].sent, (size - 1) * share, "scattered by %u of %u", root, size);
            for (uint32_t member = 0; member < size; member++) {
                uint64_t kept = exchange.members[member].received - exchange.members[member].sent;
                CHECK(member == root || kept == share, "member %u of %u keeps its share", member, size);
            }
            act(COLL_GATHER, size, root, size * share);
            CHECK_U64(exchange.members[root].received, (size - 1) * share, "gathered by %u of %u", root, size);
        }
    }
}

static void a_tree_sends_the_whole_once_over_each_of_its_edges(void **state)
{
    (void)state;
    for (uint32_t size = 2; size <= MOST; size++) {
        for (uint32_t type = COLL_REDUCE; type <= COLL_BROADCAST; type += COLL_BROADCAST - COLL_REDUCE) {
            act((enum coll_type)type, size, size / 3, 4096);
            uint64_t sent = 0;
            for (uint32_t member = 0; member < size; member++) {
                sent += exchange.members[member].sent;
            }
            CHECK_U64(sent, (uint64_t)(size - 1) * 4096, "%s among %u", coll_type_name((int32_t)type), size);
        }
    }
}

/* With n = p + e, p the power of two below: the p that are left exchange all blocks but their own, the e even ones of
 * the pairs hand in and get back. */
static void folded_halving_moves_what_its_blocks_weigh(void **state)
{
    (void)state;
    const uint64_t block = 60;
    for (uint32_t size = 3; size <= MOST; size++) {
        uint32_t power = 1;
        while (power * 2 <= size) {
            power *= 2;
        }
        uint32_t pairs = size - power;
        act(COLL_ALL_GATHER, size, 0, block);
        for (uint32_t member = 0; member < size; member++) {
            bool even_of_pair = member < 2 * pairs && member % 2 == 0;
            uint64_t want = even_of_pair ? block * size : block * (size - 1);
            CHECK_U64(exchange.members[member].received, want, "all-gather: member %u of %u", member, size);
        }
        act(COLL_REDUCE_SCATTER, size, 0, block * size);
        for (uint32_t member = 0; member < size; member++) {
            bool paired = member < 2 * pairs;
            /* Down to its own block, or to its own and its partner's. */
            uint64_t halving = 0;
            uint32_t folded = paired ? member / 2 : member - pairs;
            for (uint32_t half = power / 2; half >= 1; half /= 2) {
                uint32_t lo = folded / half * half;
                for (uint32_t i = lo; i < lo + half; i++) {
                    halving += i < pairs ? 2 * block : block;
                }
            }
            uint64_t want = !paired ? halving : member % 2 == 0 ? block : halving + block * size;
            CHECK_U64(exchange.members[member].received, want, "reduce-scatter: member %u of %u", member, size);
        }
    }
}

/* Which receives cost memory time. */
static void only_reductions_reduce(void **state)
{
    (void)state;
    struct coll_op ops[COLL_PROGRAM_MAX_OPS];
    for (uint32_t size = 3; size <= MOST; size++) {
        uint32_t reductions[COLL_TYPE_COUNT] = {0};
        for (uint32_t type = 0; type < COLL_TYPE_COUNT; type++) {
            for (uint32_t member = 0; member < size; member++) {
                uint32_t count = coll_program_build((enum coll_type)type, size, member, 1, size * 64, ops);
                for (uint32_t i = 0; i < count; i++) {
                    reductions[type] += ops[i].kind == COLL_OP_RECV_REDUCE;
                }
            }
        }
        CHECK_U64(reductions[COLL_REDUCE], size - 1, "each member but the root is added once, %u members", size);
        CHECK(reductions[COLL_ALL_REDUCE] >= size - 1, "all-reduce of %u", size);
        CHECK_U64(reductions[COLL_ALL_REDUCE], reductions[COLL_REDUCE_SCATTER], "the gathering half adds nothing");
        CHECK_U64(reductions[COLL_ALL_GATHER] + reductions[COLL_GATHER] + reductions[COLL_SCATTER] +
                      reductions[COLL_BROADCAST] + reductions[COLL_BARRIER],
                  0, "nothing else adds, %u members", size);
    }
}

static void a_collective_smaller_than_its_members_still_works(void **state)
{
    (void)state;
    static const enum coll_type types[] = {COLL_ALL_REDUCE, COLL_REDUCE_SCATTER, COLL_ALL_GATHER, COLL_REDUCE,
                                           COLL_GATHER,     COLL_SCATTER,        COLL_BROADCAST,  COLL_BARRIER};
    for (size_t t = 0; t < COUNT_OF(types); t++) {
        for (uint64_t bytes = 0; bytes < 5; bytes++) {
            for (uint32_t size = 2; size <= 17; size++) {
                act(types[t], size, size - 1, bytes);
            }
        }
    }
}

static void the_largest_program_fits_its_room(void **state)
{
    (void)state;
    struct coll_op ops[COLL_PROGRAM_MAX_OPS];
    static const uint32_t sizes[] = {65535, 65537, (1u << 30) - 1, (1u << 30) + 1, INT32_MAX};
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        for (uint32_t type = 0; type < COLL_TYPE_COUNT; type++) {
            for (uint32_t i = 0; i < 64; i++) {
                uint32_t member = i % 2 == 0 ? i / 2 : sizes[s] - 1 - i / 2;
                uint32_t count = coll_program_build((enum coll_type)type, sizes[s], member, 5, UINT64_C(1) << 40, ops);
                CHECK(count > 0 && count <= COLL_PROGRAM_MAX_OPS, "%u steps", count);
            }
        }
    }
}

TEST_MAIN(after_these_every_member_knows_all_contributions, a_root_that_collects_knows_all_contributions,
          what_a_root_hands_out_reaches_everyone, every_share_is_scattered_and_gathered_once,
          a_tree_sends_the_whole_once_over_each_of_its_edges, folded_halving_moves_what_its_blocks_weigh,
          only_reductions_reduce, a_collective_smaller_than_its_members_still_works, the_largest_program_fits_its_room)
