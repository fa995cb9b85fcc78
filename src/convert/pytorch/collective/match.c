/* SPDX-License-Identifier: Apache-2.0 */
/* Candidates are looked for around each send's end, nearest first and a bounded number of them, so that work grows with
 * the messages and not with their square. The cheapest pairs are taken first; what remains to be shown is that no two
 * of them could have been exchanged. */
#include "convert/pytorch/collective/match.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SLACK_NS = 100000, /* by so much may a receive be posted after its send has ended: clocks and rounded times */
    NEAR_NS = 20000,   /* differences of ends that tell nothing */
    TRIED = 128        /* receives looked at on each side of a send's end */
};

#define NOBODY UINT32_MAX

struct end {
    struct comm_fact *fact;
    int64_t start_ns, end_ns;
    uint32_t group; /* the id */
    uint32_t rank;  /* index in ranks */
    uint32_t node;
    uint32_t mate; /* in the other list, or NOBODY */
};

struct pair {
    uint64_t cost_ns; /* between the two ends */
    uint32_t send, recv;
};

struct matching {
    const struct comm_match_rank *ranks;
    const struct comm_groups *groups;
    struct mem *mem;
    struct end *sends, *recvs;
    uint32_t send_count, recv_count;
    struct pair *pairs; /* by send until they are sorted by cost */
    uint32_t pair_count, pair_capacity;
};

static uint32_t collective_match_id_of(const struct comm_groups *groups, const struct comm_fact *fact)
{
    return groups == NULL || fact->group == COMM_GROUP_NONE ? 0 : groups->groups[fact->group].id;
}

/* By group, size and end. */
static int by_bucket(const void *a, const void *b)
{
    const struct end *x = a;
    const struct end *y = b;
    if (x->group != y->group) {
        return x->group < y->group ? -1 : 1;
    }
    if (x->fact->bytes != y->fact->bytes) {
        return x->fact->bytes < y->fact->bytes ? -1 : 1;
    }
    if (x->end_ns != y->end_ns) {
        return x->end_ns < y->end_ns ? -1 : 1;
    }
    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    return (x->node > y->node) - (x->node < y->node);
}

static int by_cost(const void *a, const void *b)
{
    const struct pair *x = a;
    const struct pair *y = b;
    if (x->cost_ns != y->cost_ns) {
        return x->cost_ns < y->cost_ns ? -1 : 1;
    }
    if (x->send != y->send) {
        return x->send < y->send ? -1 : 1;
    }
    return (x->recv > y->recv) - (x->recv < y->recv);
}

static bool same_bucket(const struct end *a, const struct end *b)
{
    return a->group == b->group && a->fact->bytes == b->fact->bytes;
}

/* Whether the two could be one message; if so, how far apart they end. Where a recording has no times, no order of two
 * ranks can be told, and all that fit cost the same. */
static bool may_pair(const struct matching *m, const struct end *send, const struct end *recv, uint64_t *cost_ns)
{
    const struct comm_match_rank *from = &m->ranks[send->rank];
    const struct comm_match_rank *to = &m->ranks[recv->rank];
    if (send->rank == recv->rank || !same_bucket(send, recv) || (send->fact->dst >= 0 && send->fact->dst != to->rank) ||
        (recv->fact->src >= 0 && recv->fact->src != from->rank)) {
        return false;
    }
    if (!from->timed || !to->timed) {
        *cost_ns = 0;
        return true;
    }
    *cost_ns = send->end_ns > recv->end_ns ? (uint64_t)send->end_ns - (uint64_t)recv->end_ns
                                           : (uint64_t)recv->end_ns - (uint64_t)send->end_ns;
    return recv->end_ns >= send->start_ns - SLACK_NS && send->end_ns >= recv->start_ns - SLACK_NS;
}

static bool collective_match_add_pair(struct matching *m, uint32_t send, uint32_t recv)
{
    uint64_t cost = 0;
    if (!may_pair(m, &m->sends[send], &m->recvs[recv], &cost)) {
        return true;
    }
    if (!MEM_GROW(m->mem, m->pairs, m->pair_capacity, m->pair_count)) {
        return false;
    }
    m->pairs[m->pair_count++] = (struct pair){cost, send, recv};
    return true;
}

/* The first receive that does not come before the send, by bucket and end. */
static uint32_t collective_match_place_of(const struct matching *m, const struct end *send)
{
    uint32_t low = 0;
    uint32_t high = m->recv_count;
    struct end probe = *send;
    probe.rank = probe.node = 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (by_bucket(&m->recvs[middle], &probe) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool list_pairs(struct matching *m)
{
    bool fine = true;
    for (uint32_t i = 0; i < m->send_count && fine; i++) {
        uint32_t at = collective_match_place_of(m, &m->sends[i]);
        for (uint32_t k = at; k < m->recv_count && k - at < TRIED && same_bucket(&m->recvs[k], &m->sends[i]) && fine;
             k++) {
            fine = collective_match_add_pair(m, i, k);
        }
        for (uint32_t k = at; k > 0 && at - k < TRIED && same_bucket(&m->recvs[k - 1], &m->sends[i]) && fine; k--) {
            fine = collective_match_add_pair(m, i, k - 1);
        }
    }
    return fine;
}

static void take_cheapest(struct matching *m)
{
    for (uint32_t i = 0; i < m->pair_count; i++) {
        struct end *send = &m->sends[m->pairs[i].send];
        struct end *recv = &m->recvs[m->pairs[i].recv];
        if (send->mate == NOBODY && recv->mate == NOBODY) {
            send->mate = m->pairs[i].recv;
            recv->mate = m->pairs[i].send;
        }
    }
}

/* ---- what is left open ---- */

enum { PLACE_ROOM = 320 };

static void collective_match_place(const struct matching *m, const struct end *end, char text[PLACE_ROOM])
{
    (void)snprintf(text, PLACE_ROOM, "%.260s: node %" PRIu32, m->ranks[end->rank].name, end->node);
}

enum orr_status comm_match_refuse(const char *where, enum comm_kind kind, struct orr_error *err)
{
    return error_set(err, ORR_EINVAL,
                     "%.320s: %s with nothing known as its peer: \"Src Rank\" or \"Dst Rank\" (device trace), the rank "
                     "that record_param_comms carries, a name like \"nccl:send 0->1\" or the other ranks' recordings, "
                     "imported together with it, would tell",
                     where, comm_kind_text(kind));
}

static bool is_open(const struct comm_fact *fact)
{
    return fact->src < 0 || fact->dst < 0;
}

static enum orr_status refuse_lone(const struct matching *m, const struct end *end, struct orr_error *err)
{
    char where[PLACE_ROOM];
    collective_match_place(m, end, where);
    return comm_match_refuse(where, end->fact->kind, err);
}

static enum orr_status refuse_two(const struct matching *m, const struct end *send, const struct end *one,
                                  const struct end *other, struct orr_error *err)
{
    char where[PLACE_ROOM];
    collective_match_place(m, send, where);
    return error_set(err, ORR_EINVAL,
                     "%s: send of %" PRIu64 " B in group %" PRIu32 " may have gone to rank %" PRId64 " (node %" PRIu32
                     ") or to rank %" PRId64 " (node %" PRIu32
                     "): group, order, size and time fit both; \"Dst Rank\" (device trace), the rank that "
                     "record_param_comms carries or a name like \"nccl:send 0->1\" would tell",
                     where, send->fact->bytes, send->group, m->ranks[one->rank].rank, one->node,
                     m->ranks[other->rank].rank, other->node);
}

/* Whether it would do nearly as well if this send had gone to another rank, and the message it takes the place of to
 * where this one went. */
static bool may_exchange(const struct matching *m, const struct pair *other)
{
    const struct end *send = &m->sends[other->send];
    const struct end *recv = &m->recvs[other->recv];
    const struct end *mine = &m->recvs[send->mate];
    uint64_t now = 0;
    uint64_t then = other->cost_ns;
    if (send->mate == other->recv || recv->rank == mine->rank || !may_pair(m, send, mine, &now)) {
        return false;
    }
    if (recv->mate != NOBODY) {
        const struct end *displaced = &m->sends[recv->mate];
        uint64_t cost = 0;
        if (!may_pair(m, displaced, mine, &cost)) {
            return false;
        }
        then += cost;
        (void)may_pair(m, displaced, recv, &cost);
        now += cost;
    }
    return then <= 2 * now + NEAR_NS;
}

static enum orr_status check_open(const struct matching *m, struct orr_error *err)
{
    for (uint32_t i = 0; i < m->send_count; i++) {
        if (m->sends[i].mate == NOBODY && is_open(m->sends[i].fact)) {
            return refuse_lone(m, &m->sends[i], err);
        }
    }
    for (uint32_t i = 0; i < m->recv_count; i++) {
        if (m->recvs[i].mate == NOBODY && is_open(m->recvs[i].fact)) {
            return refuse_lone(m, &m->recvs[i], err);
        }
    }
    for (uint32_t i = 0; i < m->pair_count; i++) {
        const struct end *send = &m->sends[m->pairs[i].send];
        if (send->mate != NOBODY && (is_open(send->fact) || is_open(m->recvs[send->mate].fact)) &&
            may_exchange(m, &m->pairs[i])) {
            return refuse_two(m, send, &m->recvs[send->mate], &m->recvs[m->pairs[i].recv], err);
        }
    }
    return ORR_OK;
}

/* ---- the whole ---- */

static uint64_t collective_match_settle(struct matching *m)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < m->send_count; i++) {
        if (m->sends[i].mate == NOBODY) {
            continue;
        }
        struct end *ends[2] = {&m->sends[i], &m->recvs[m->sends[i].mate]};
        for (int k = 0; k < 2; k++) {
            if (is_open(ends[k]->fact)) {
                ends[k]->fact->src = m->ranks[ends[0]->rank].rank;
                ends[k]->fact->dst = m->ranks[ends[1]->rank].rank;
                ends[k]->fact->peer_from = PROVENANCE_MATCHED;
                count++;
            }
        }
    }
    return count;
}

static void collective_match_list_ends(struct matching *m, uint32_t rank_count)
{
    for (uint32_t r = 0; r < rank_count; r++) {
        for (uint32_t i = 0; i < m->ranks[r].count; i++) {
            const struct comm_match_end *from = &m->ranks[r].ends[i];
            bool sends = from->fact->kind == COMM_SEND;
            struct end *end = sends ? &m->sends[m->send_count++] : &m->recvs[m->recv_count++];
            *end = (struct end){.fact = from->fact,
                                .start_ns = from->start_ns,
                                .end_ns = from->end_ns,
                                .group = collective_match_id_of(m->groups, from->fact),
                                .rank = r,
                                .node = from->node,
                                .mate = NOBODY};
        }
    }
    qsort(m->sends, m->send_count, sizeof *m->sends, by_bucket);
    qsort(m->recvs, m->recv_count, sizeof *m->recvs, by_bucket);
}

enum orr_status comm_match(const struct comm_match_rank *ranks, uint32_t rank_count, const struct comm_groups *groups,
                           struct mem *mem, uint64_t *matched, struct orr_error *err)
{
    struct matching m = {.ranks = ranks, .groups = groups, .mem = mem};
    uint64_t total = 0;
    uint64_t open = 0;
    for (uint32_t r = 0; r < rank_count; r++) {
        total += ranks[r].count;
        for (uint32_t i = 0; i < ranks[r].count; i++) {
            open += is_open(ranks[r].ends[i].fact);
        }
    }
    *matched = 0;
    if (open == 0) {
        return ORR_OK;
    }
    size_t bytes = (size_t)total * sizeof *m.sends;
    m.sends = mem_alloc(mem, bytes);
    m.recvs = mem_alloc(mem, bytes);
    enum orr_status status = ORR_OK;
    bool fine = total < NOBODY && m.sends != NULL && m.recvs != NULL;
    if (fine) {
        collective_match_list_ends(&m, rank_count);
        fine = list_pairs(&m);
    }
    if (!fine) {
        status = mem_error(mem, "messages between ranks", err);
    } else {
        if (m.pair_count > 1) {
            qsort(m.pairs, m.pair_count, sizeof *m.pairs, by_cost);
        }
        take_cheapest(&m);
        status = check_open(&m, err);
    }
    *matched = status == ORR_OK ? collective_match_settle(&m) : 0;
    mem_free(mem, m.sends, m.sends == NULL ? 0 : bytes);
    mem_free(mem, m.recvs, m.recvs == NULL ? 0 : bytes);
    mem_free(mem, m.pairs, (size_t)m.pair_capacity * sizeof *m.pairs);
    return status;
}
