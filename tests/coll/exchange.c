/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds over all members, each going as far as it can, until nobody moves: slow and plain. Messages under way between
 * a pair are found by counting: the k-th send to a peer meets the k-th receive from it. */
#include "tests/coll/exchange.h"

#include "tests/check.h"

void exchange_begin(struct exchange *exchange, uint32_t size)
{
    CHECK(size <= EXCHANGE_MEMBERS, "%u members can be acted out", size);
    exchange->size = size;
    for (uint32_t i = 0; i < size; i++) {
        exchange->members[i].count = 0;
        exchange->members[i].known = UINT64_C(1) << i;
        exchange->members[i].received = 0;
        exchange->members[i].sent = 0;
    }
}

void exchange_add(struct exchange *exchange, uint32_t member, bool sends, uint32_t peer, uint64_t bytes)
{
    struct exchange_member *who = &exchange->members[member];
    CHECK(who->count < EXCHANGE_STEPS, "member %u has at most %u steps", member, EXCHANGE_STEPS);
    CHECK(peer < exchange->size && peer != member, "member %u talks to member %u of %u", member, peer, exchange->size);
    who->steps[who->count++] = (struct exchange_step){.sends = sends, .peer = peer, .bytes = bytes};
}

/* What was sent and not received yet: a line for each ordered pair. */
struct under_way {
    uint32_t from, to;
    uint64_t bytes, known;
    bool taken;
};

static struct under_way lines[EXCHANGE_MEMBERS * EXCHANGE_STEPS];

static struct under_way *oldest(uint32_t count, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!lines[i].taken && lines[i].from == from && lines[i].to == to) {
            return &lines[i];
        }
    }
    return NULL;
}

/* Drops what has been received, so that lines stay short. */
static uint32_t sweep(uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!lines[i].taken) {
            lines[kept++] = lines[i];
        }
    }
    return kept;
}

static bool go_on(struct exchange *exchange, uint32_t member, uint32_t *at, uint32_t *count, const char *what)
{
    struct exchange_member *who = &exchange->members[member];
    const struct exchange_step *step = &who->steps[*at];
    if (step->sends) {
        lines[(*count)++] =
            (struct under_way){.from = member, .to = step->peer, .bytes = step->bytes, .known = who->known};
        who->sent += step->bytes;
    } else {
        struct under_way *message = oldest(*count, step->peer, member);
        if (message == NULL) {
            return false;
        }
        CHECK_U64(message->bytes, step->bytes, "%s: %u to %u of %u members", what, step->peer, member, exchange->size);
        message->taken = true;
        who->known |= message->known;
        who->received += step->bytes;
    }
    (*at)++;
    return true;
}

void exchange_run(struct exchange *exchange, const char *what)
{
    uint32_t at[EXCHANGE_MEMBERS] = {0};
    uint32_t count = 0;
    bool moved = true;
    while (moved) {
        moved = false;
        for (uint32_t member = 0; member < exchange->size; member++) {
            while (at[member] < exchange->members[member].count && go_on(exchange, member, &at[member], &count, what)) {
                moved = true;
            }
        }
        count = sweep(count);
    }
    for (uint32_t member = 0; member < exchange->size; member++) {
        CHECK_U64(at[member], exchange->members[member].count, "%s: steps done by member %u of %u", what, member,
                  exchange->size);
    }
    CHECK_U64(count, 0, "%s: messages nobody received, %u members", what, exchange->size);
}
