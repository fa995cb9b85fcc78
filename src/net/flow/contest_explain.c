/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a contest cannot go on, read off its links once nothing of it is due. Nothing is ever lost here, so only pauses
 * can hold it: a paused link waits for room that only other paused links could make, and that comes round to where it
 * began. Told in the packet network's words (net/packet/explain.c), since it is the same finding.
 */
#include <inttypes.h>

#include "base/arena.h"
#include "net/flow/contest.h"

enum { CYCLE_TOLD = 12 };

struct explainer {
    const struct contest *contest;
    struct arena *arena;
    struct net_stuck *stuck;
    uint32_t count, room;
};

static bool contest_explain_is_held(const struct contest *contest, uint32_t link)
{
    if (!contest->links[link].gate.paused) {
        return false;
    }
    bool waits = contest->links[link].head != 0;
    for (uint32_t i = 0; contest->links[link].is_host && !waits && i < contest->sender_count; i++) {
        const struct contest_sender *sender = &contest->senders[i];
        waits = sender->active && sender->link == link && sender->control.sent < sender->control.size;
    }
    return waits;
}

static bool holds_from(const struct contest *contest, uint32_t link, uint32_t ingress)
{
    for (uint32_t p = contest->links[link].head; p != 0; p = contest->packets.at[p].next) {
        const struct contest_packet *packet = &contest->packets.at[p];
        if (contest_legs(contest, packet->sender)[packet->leg].ingress == ingress) {
            return true;
        }
    }
    return false;
}

/* A held link whose queue has packets that came over this one; CONTEST_NONE when there is none. */
static uint32_t contest_explain_held_by(const struct contest *contest, uint32_t link)
{
    for (uint32_t i = 0; i < contest->ingress_count; i++) {
        if (contest->ingresses[i].link != link) {
            continue;
        }
        for (uint32_t next = 0; next < contest->link_count; next++) {
            if (!contest->links[next].is_host && contest->links[next].node == contest->ingresses[i].node &&
                contest_explain_is_held(contest, next) && holds_from(contest, next, i)) {
                return next;
            }
        }
    }
    return CONTEST_NONE;
}

static void contest_explain_tell(struct explainer *e, const char *text, const char *fix)
{
    if (e->count < e->room && text != NULL) {
        e->stuck[e->count++] = (struct net_stuck){.text = text, .fix = fix};
    }
}

static uint32_t from_node(const struct contest *contest, uint32_t link)
{
    return contest->graph->ports[contest->links[link].port].node;
}

static uint32_t to_node(const struct contest *contest, uint32_t link)
{
    return contest->graph->ports[contest->graph->ports[contest->links[link].port].peer].node;
}

static void contest_explain_tell_cycle(struct explainer *e, uint32_t first)
{
    uint32_t length = 0;
    const char *text = "";
    uint32_t at = first;
    do {
        if (length < CYCLE_TOLD) {
            text = arena_printf(e->arena, "%s%snode %" PRIu32 " may not send to node %" PRIu32, text,
                                length == 0 ? "" : ", ", from_node(e->contest, at), to_node(e->contest, at));
        }
        length++;
        at = contest_explain_held_by(e->contest, at);
    } while (at != first && at != CONTEST_NONE && text != NULL);
    contest_explain_tell(
        e,
        text == NULL ? NULL
                     : arena_printf(e->arena,
                                    "a cycle of %" PRIu32 " pauses: %s%s; each has a full buffer that only the next "
                                    "could empty",
                                    length, text, length > CYCLE_TOLD ? " …" : ""),
        "break the cycle: routes that cannot loop (up and down a tree), a larger BUFFER_SIZE, or parameter 'no-pfc'");
}

uint32_t contest_explain(const struct contest *contest, struct arena *arena, struct net_stuck *stuck, uint32_t room)
{
    struct explainer e = {.contest = contest, .arena = arena, .stuck = stuck, .room = room};
    uint32_t *walk = arena_zalloc(arena, ((size_t)contest->link_count + 1) * sizeof *walk);
    uint32_t alone = CONTEST_NONE;
    bool cycles = false;
    for (uint32_t i = 0; walk != NULL && i < contest->link_count && e.count < room; i++) {
        uint32_t at = i;
        while (at != CONTEST_NONE && contest_explain_is_held(contest, at) && walk[at] == 0) {
            walk[at] = i + 1;
            uint32_t next = contest_explain_held_by(contest, at);
            alone = next == CONTEST_NONE ? at : alone;
            at = next;
        }
        if (at != CONTEST_NONE && contest_explain_is_held(contest, at) && walk[at] == i + 1) {
            contest_explain_tell_cycle(&e, at);
            cycles = true;
        }
    }
    if (!cycles && alone != CONTEST_NONE) {
        contest_explain_tell(&e,
                             arena_printf(arena,
                                          "node %" PRIu32 " is paused for ever towards node %" PRIu32
                                          ": that node never has room again",
                                          from_node(contest, alone), to_node(contest, alone)),
                             "give the switch a larger BUFFER_SIZE");
    }
    return e.count;
}
