/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The side run is the executor itself with a queue and a network of its own, one group's collective in it and no ranks
 * that go on: where a rank would be told that it is done, its time is written down. It is left to run dry each time, so
 * that the next one finds an idle network.
 */
#include "sim/simai/recall.h"

#include <stdlib.h>
#include <string.h>

#include "sim/simai/engine.h"

/* What is asked: the kind of group, what it does, and when its members come after the first of them. */
struct recall_key {
    uint32_t kind, members;
    int32_t type;
    bool data; /* of the weight gradients */
    uint64_t bytes;
    const uint64_t *times; /* by member */
    uint32_t hash;
};

/* A member in the order of coming. */
struct simai_comer {
    uint64_t came_ns;
    uint32_t member;
};

struct simai_known {
    struct simai_known *next;
    uint32_t hash, kind, members;
    int32_t type;
    bool data;
    uint64_t bytes;
    uint64_t messages, flow_bytes;
    uint64_t last_ns; /* of its messages, as the ends: after the last member has come */
    struct flow_record record;
    struct simai_done *done; /* members in the order in which they are */
    uint64_t times[];        /* by member: when it comes */
};

static size_t known_bytes(uint32_t members)
{
    return sizeof(struct simai_known) + members * (sizeof(uint64_t) + sizeof(struct simai_done));
}

static uint32_t known_hash(const void *context, struct simai_known *const *entry)
{
    (void)context;
    return (*entry)->hash;
}

static bool known_is(const void *context, struct simai_known *const *entry, const struct recall_key *key)
{
    (void)context;
    const struct simai_known *known = *entry;
    bool same = known->hash == key->hash && known->kind == key->kind && known->members == key->members &&
                known->type == key->type && known->data == key->data && known->bytes == key->bytes;
    return same && memcmp(known->times, key->times, known->members * sizeof *key->times) == 0;
}

#define KNOWN_IS_FREE(entry) (*(entry) == NULL)

MAP_DEFINE(simai_known_table, struct simai_known *, const struct recall_key *, const void *, known_hash, known_is,
           KNOWN_IS_FREE);

static struct recall_key simai_recall_key(const struct simai *simai, const struct simai_coll *coll,
                                          const uint64_t *times)
{
    const struct simai_cell *cell = simai_coll_cell(simai, coll);
    struct recall_key key = {.kind = simai->twins.kin[coll->group].kind,
                             .members = simai->groups[coll->group].nccl.rank_count,
                             .type = cell->type,
                             .data = simai_coll_op(simai, coll)->phase == SIMAI_WG,
                             .bytes = cell->bytes,
                             .times = times};
    uint64_t mixed = map_mix((uint64_t)key.kind << 8 | (uint64_t)key.type << 1 | (key.data ? 1 : 0)) ^ key.bytes;
    for (uint32_t i = 0; i < key.members; i++) {
        mixed = map_mix(mixed ^ times[i]);
    }
    key.hash = (uint32_t)mixed;
    return key;
}

/* ---- the side run ---- */

static struct simai_known *known_make(struct simai *simai, const struct recall_key *key)
{
    struct simai_known *known = mem_zalloc(simai->mem, known_bytes(key->members));
    if (known == NULL) {
        return NULL;
    }
    known->done = (struct simai_done *)(void *)(known->times + key->members);
    known->hash = key->hash;
    known->kind = key->kind;
    known->members = key->members;
    known->type = key->type;
    known->data = key->data;
    known->bytes = key->bytes;
    for (uint32_t i = 0; i < key->members; i++) {
        known->times[i] = key->times[i];
    }
    known->next = simai->recall.first;
    simai->recall.first = known;
    return known;
}

void simai_recall_comes(struct simai *side, uint32_t coll, uint32_t member, bool begins)
{
    if (begins) {
        simai_coll_begin(side, coll, member, side->queue.now - 1);
    } else {
        side->colls.at[coll].members[member].started = true;
        (void)event_queue_push(&side->queue, side->queue.now + 1, SIMAI_EVENT_COMES, coll, member << 1 | 1);
    }
}

/* Ends after the last member's coming; false when somebody was done before. */
static bool count_from_last(struct simai_known *known)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < known->members; i++) {
        last = known->times[i] > last ? known->times[i] : last;
    }
    bool whole = known->last_ns > last;
    for (uint32_t i = 0; i < known->members; i++) {
        whole = whole && known->done[i].at_ns > last;
        known->done[i].at_ns -= last;
    }
    known->last_ns -= last;
    return whole;
}

static bool carry_out(struct simai *side, uint32_t group, uint32_t op, struct simai_known *known)
{
    const uint32_t *ranks = side->groups[group].nccl.ranks;
    struct event event;
    uint32_t coll = 0;
    side->recall.done = known->done;
    side->recall.done_count = 0;
    side->recall.began_ns = side->queue.now;
    side->run.messages = 0;
    side->result.flow_bytes = 0;
    for (uint32_t i = 0; i < known->members; i++) {
        coll = simai_coll_join(side, ranks[i], op, 1);
        (void)event_queue_push(&side->queue, side->queue.now + known->times[i], SIMAI_EVENT_COMES, coll, i << 1);
    }
    while (!side->queue.failed && event_queue_pop(&side->queue, &event)) {
        simai_handle(side, &event);
    }
    known->messages = side->run.messages;
    known->flow_bytes = side->result.flow_bytes;
    known->last_ns = side->result.last_flow_ns - side->recall.began_ns;
    return !side->queue.failed && side->groups[group].colls == 0 && count_from_last(known);
}

/* NULL: it is not to be had, and the run is over. */
static const struct simai_known *known_of(struct simai *simai, const struct simai_coll *coll, const uint64_t *times)
{
    struct simai_recall *recall = &simai->recall;
    struct simai *side = recall->side;
    struct recall_key key = simai_recall_key(simai, coll, times);
    if (!simai_known_table_room(NULL, &recall->table, simai->mem)) {
        simai->queue.failed = true;
        return NULL;
    }
    struct simai_known **entry = simai_known_table_place(NULL, &recall->table, key.hash, &key);
    if (*entry != NULL) {
        return *entry;
    }
    struct simai_known *known = known_make(simai, &key);
    if (known == NULL) {
        simai->queue.failed = true;
        return NULL;
    }
    uint32_t group = recall->group_of_kind[key.kind];
    const struct simai_kin *kin = &simai->twins.kin[group];
    side->only_op = simai_coll_op(simai, coll);
    bool done = carry_out(side, group, coll->op, known);
    if (!flow_record_take(&side->net, kin->ports, kin->port_count, &known->record) || !done) {
        simai->failure = side->failure;
        simai->broken = side->broken;
        simai->queue.failed = true;
        simai->net.parted = simai->mem->refused == 0 && !side->broken; /* every group by itself, then */
        return NULL;
    }
    flow_record_doubt(&simai->net, &side->net);
    *entry = known;
    recall->table.count++;
    recall->carried_out++;
    return known;
}

static int in_order_of_coming(const void *a, const void *b)
{
    const struct simai_comer *x = a;
    const struct simai_comer *y = b;
    if (x->came_ns != y->came_ns) {
        return x->came_ns < y->came_ns ? -1 : 1;
    }
    return x->member < y->member ? -1 : x->member > y->member;
}

/*
 * What those who are there can do without the others is done after a while, of less than all together take when they
 * come at once. So it is all the same how much later than that the next one comes.
 */
static void normalise(struct simai_recall *recall, const struct simai_coll *coll, uint32_t members, uint64_t while_ns)
{
    uint64_t time = 0;
    for (uint32_t i = 0; i < members; i++) {
        recall->comers[i] = (struct simai_comer){coll->members[i].came_ns, i};
    }
    qsort(recall->comers, members, sizeof *recall->comers, in_order_of_coming);
    for (uint32_t i = 0; i < members; i++) {
        uint64_t gap = i == 0 ? 0 : recall->comers[i].came_ns - recall->comers[i - 1].came_ns;
        time += gap < while_ns ? gap : while_ns;
        recall->times[recall->comers[i].member] = time;
    }
}

static const struct simai_known *recall(struct simai *simai, const struct simai_coll *coll)
{
    uint32_t members = simai->groups[coll->group].nccl.rank_count;
    uint64_t before = simai->recall.carried_out;
    memset(simai->recall.times, 0, members * sizeof *simai->recall.times);
    const struct simai_known *known = known_of(simai, coll, simai->recall.times);
    if (known != NULL) {
        normalise(&simai->recall, coll, members, 2 * known->last_ns);
        known = known_of(simai, coll, simai->recall.times);
    }
    simai->result.followed += simai->recall.carried_out == before ? 1 : 0;
    return known;
}

/* ---- in the run ---- */

bool simai_recall_takes(const struct simai *simai, uint32_t coll)
{
    return simai->recall.on && simai->twins.kin[simai->colls.at[coll].group].kind != SIMAI_NO_KIND;
}

void simai_recall_start(struct simai *simai, uint32_t index, uint32_t member)
{
    struct simai_coll *coll = &simai->colls.at[index];
    coll->members[member].came_ns = simai->queue.now;
    if (++coll->came_count < simai->groups[coll->group].nccl.rank_count) {
        return;
    }
    const struct simai_known *known = recall(simai, coll);
    if (known == NULL) {
        return;
    }
    uint64_t now = simai->queue.now;
    for (uint32_t i = 0; i < known->members; i++) {
        if (i == 0 || known->done[i].at_ns != known->done[i - 1].at_ns) {
            (void)event_queue_push(&simai->queue, now + known->done[i].at_ns, SIMAI_EVENT_RECALLED, index, i);
        }
    }
    coll->known = known;
    simai->run.messages += known->messages;
    simai->result.flow_bytes += known->flow_bytes;
    uint64_t last_ns = now + known->last_ns;
    simai->result.last_flow_ns = last_ns > simai->result.last_flow_ns ? last_ns : simai->result.last_flow_ns;
    flow_record_add(&simai->net, simai->twins.kin[coll->group].ports, &known->record);
}

void simai_recall_end(struct simai *simai, uint32_t index, uint32_t first)
{
    const struct simai_known *known = simai->colls.at[index].known;
    for (uint32_t i = first; i < known->members && known->done[i].at_ns == known->done[first].at_ns; i++) {
        simai_coll_end_member(simai, index, known->done[i].member); /* the last of them frees it */
    }
}

void simai_recall_done(struct simai *side, uint32_t member)
{
    side->recall.done[side->recall.done_count++] =
        (struct simai_done){.at_ns = side->queue.now - side->recall.began_ns, .member = member};
}

/* ---- opening ---- */

bool simai_recall_is_for(const struct simai *simai)
{
    const struct simai_config *config = simai->config;
    return config->program->stages > 1 && config->recall_ranks != 0 && simai->rank_count >= config->recall_ranks &&
           config->run->timing == NULL;
}

static struct simai *side_make(struct simai *simai, struct orr_error *err)
{
    struct simai *side = mem_zalloc(simai->mem, sizeof *side);
    size_t bytes = (size_t)simai->group_count * sizeof *side->groups;
    if (side == NULL) {
        return NULL;
    }
    simai->recall.side = side;
    side->config = simai->config;
    side->mem = simai->mem;
    side->rank_count = simai->rank_count;
    side->dims = simai->dims;
    side->machine = simai->machine;
    side->plans = (struct simai_plans){.mem = simai->mem, .merged = simai->plans.merged};
    memcpy(side->group_of, simai->group_of, sizeof side->group_of);
    memcpy(side->place_of, simai->place_of, sizeof side->place_of);
    arena_init(&side->arena, simai->mem);
    side->groups = arena_alloc(&side->arena, bytes);
    if (side->groups == NULL || !event_queue_init(&side->queue, side->mem) ||
        !simai_colls_init(&side->colls, side->mem) || !simai_messages_init(&side->messages, side->mem) ||
        net_init_machine(&side->net, simai->net.ops, &side->dims, &side->machine, simai_message_arrived, side,
                         &side->queue, side->mem, err) != ORR_OK) {
        return NULL;
    }
    memcpy(side->groups, simai->groups, bytes);
    side->group_count = simai->group_count;
    side->net.expected_bytes = simai->net.expected_bytes;
    return side;
}

enum orr_status simai_recall_open(struct simai *simai, struct orr_error *err)
{
    struct simai_recall *recall = &simai->recall;
    recall->group_of_kind =
        arena_alloc(&simai->arena, ((size_t)simai->twins.kinds + 1) * sizeof *recall->group_of_kind);
    recall->times = arena_alloc(&simai->arena, (size_t)simai->rank_count * sizeof *recall->times);
    recall->comers = arena_alloc(&simai->arena, (size_t)simai->rank_count * sizeof *recall->comers);
    if (recall->group_of_kind == NULL || recall->times == NULL || recall->comers == NULL ||
        side_make(simai, err) == NULL) {
        return mem_error(simai->mem, "collectives that were carried out", err);
    }
    for (uint32_t group = simai->group_count; group-- > 0;) {
        uint32_t kind = simai->twins.kin[group].kind;
        if (kind != SIMAI_NO_KIND) {
            recall->group_of_kind[kind] = group;
        }
    }
    recall->on = true;
    return ORR_OK;
}

void simai_recall_close(struct simai *simai)
{
    struct simai_recall *recall = &simai->recall;
    struct simai *side = recall->side;
    while (recall->first != NULL) {
        struct simai_known *known = recall->first;
        recall->first = known->next;
        flow_record_free(&known->record, simai->mem);
        mem_free(simai->mem, known, known_bytes(known->members));
    }
    simai_known_table_free(&recall->table, simai->mem);
    if (side != NULL) {
        simai_clear(side);
        mem_free(simai->mem, side, sizeof *side);
    }
    *recall = (struct simai_recall){0};
}
