/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose turn it is at a host's port (spec packet A6). A host may have thousands of queue pairs, nearly all of them held
 * up by their windows; so a pair that was found to have nothing to send is not looked at again until something about it
 * has changed. That is a bit a pair, and the search for the next in turn a search for a bit. The turn, and what happens
 * to it when finished pairs are swept out of the list, are the reference's, because they decide who sends next among
 * flows that started together.
 */
#include "net/packet/engine.h"

enum { WORD = 64, SETS = 2 };

static bool packet_turns_is_set(const uint64_t *bits, uint32_t place)
{
    return (bits[place / WORD] >> place % WORD & 1) != 0;
}

static size_t words_of(uint32_t places)
{
    return ((size_t)places + WORD - 1) / WORD;
}

static void packet_turns_set(uint64_t *bits, uint32_t place, bool value)
{
    uint64_t bit = UINT64_C(1) << place % WORD;
    bits[place / WORD] = value ? bits[place / WORD] | bit : bits[place / WORD] & ~bit;
}

/* The first place of [from, to) that is set in `bits` and not in `except` (may be NULL); `to` when there is none. */
static uint32_t first_set(const uint64_t *bits, const uint64_t *except, uint32_t from, uint32_t to)
{
    for (uint32_t word = from / WORD; word * WORD < to; word++) {
        uint64_t found = bits[word] & (except == NULL ? UINT64_MAX : ~except[word]);
        found &= word == from / WORD ? UINT64_MAX << from % WORD : UINT64_MAX;
        if (found != 0) {
            uint32_t place = word * WORD + (uint32_t)__builtin_ctzll(found);
            return place < to ? place : to;
        }
    }
    return to;
}

/* All of it or nothing, so that what is freed in the end is what was taken. */
static bool packet_turns_grow(struct packet_net *network, struct packet_turns *turns)
{
    struct mem *mem = network->net->mem;
    uint32_t before = turns->capacity;
    uint32_t capacity = before == 0 ? 16 : before > UINT32_MAX / 2 ? UINT32_MAX : 2 * before;
    size_t old_words = words_of(before);
    size_t words = words_of(capacity);
    uint32_t *pairs = mem_alloc(mem, (size_t)capacity * sizeof *pairs);
    uint64_t *bits = mem_zalloc(mem, SETS * words * sizeof *bits);
    if (pairs == NULL || bits == NULL) {
        mem_free(mem, pairs, (size_t)capacity * sizeof *pairs);
        mem_free(mem, bits, SETS * words * sizeof *bits);
        return false;
    }
    for (uint32_t i = 0; i < turns->count; i++) {
        pairs[i] = turns->pairs[i];
    }
    for (size_t i = 0; i < old_words; i++) {
        bits[i] = turns->open[i];
        bits[words + i] = turns->over[i];
    }
    mem_free(mem, turns->pairs, (size_t)before * sizeof *pairs);
    mem_free(mem, turns->open, SETS * old_words * sizeof *bits);
    turns->pairs = pairs;
    turns->open = bits;
    turns->over = bits + words;
    turns->capacity = capacity;
    return true;
}

bool packet_turns_add(struct packet_net *network, uint32_t pair_index)
{
    struct packet_pair *pair = &network->pairs.at[pair_index];
    struct packet_turns *turns = &network->ports[pair->port].turns;
    if (turns->count == turns->capacity && !packet_turns_grow(network, turns)) {
        network->net->queue->failed = true;
        return false;
    }
    pair->place = turns->count++;
    turns->pairs[pair->place] = pair_index;
    packet_turns_set(turns->open, pair->place, true);
    packet_turns_set(turns->over, pair->place, false);
    return true;
}

/* Moves the pair at one place to another before it. */
static void move(struct packet_net *network, struct packet_turns *turns, uint32_t from, uint32_t to)
{
    turns->pairs[to] = turns->pairs[from];
    network->pairs.at[turns->pairs[to]].place = to;
    packet_turns_set(turns->open, to, packet_turns_is_set(turns->open, from));
    packet_turns_set(turns->over, to, packet_turns_is_set(turns->over, from));
}

void packet_turns_remove(struct packet_net *network, uint32_t pair)
{
    struct packet_turns *turns = &network->ports[network->pairs.at[pair].port].turns;
    uint32_t place = network->pairs.at[pair].place;
    turns->over_count -= packet_turns_is_set(turns->over, place) ? 1 : 0;
    turns->count--;
    for (uint32_t i = place; i < turns->count; i++) {
        move(network, turns, i + 1, i);
    }
    turns->last = 0;
}

void packet_turns_free(struct packet_net *network, struct packet_turns *turns)
{
    size_t words = words_of(turns->capacity);
    mem_free(network->net->mem, turns->pairs, (size_t)turns->capacity * sizeof *turns->pairs);
    mem_free(network->net->mem, turns->open, SETS * words * sizeof *turns->open);
    *turns = (struct packet_turns){0};
}

/* Drops finished pairs from the list, from the first one seen on; gives the new place of the one at `chosen`. */
static uint32_t sweep(struct packet_net *network, struct packet_turns *turns, uint32_t first, uint32_t chosen)
{
    uint32_t kept = first;
    for (uint32_t i = first; i < turns->count; i++) {
        if (packet_turns_is_set(turns->over, i)) {
            turns->over_count--;
            packet_pair_release(network, turns->pairs[i]);
            continue;
        }
        chosen = i == chosen ? kept : chosen;
        if (kept != i) {
            move(network, turns, i, kept);
        }
        kept++;
    }
    turns->count = kept;
    return chosen;
}

static bool is_window_bound(const struct packet_net *network, const struct packet_pair *pair)
{
    uint64_t window = pair->window;
    if (pair->sent >= pair->credit || (pair->limit > 0 && pair->sent - pair->acked >= pair->limit)) {
        return true;
    }
    if (window == 0) {
        return false;
    }
    if (network->config->var_window && pair->rate_bps != pair->max_rate_bps) {
        window = (uint64_t)((unsigned __int128)window * pair->rate_bps / pair->max_rate_bps);
        window = window == 0 ? 1 : window;
    }
    return pair->sent - pair->acked >= window;
}

/* The first place of [from, to) whose pair may send now, or `to`. Those with nothing to send are closed. */
static uint32_t find_ready(struct packet_net *network, struct packet_turns *turns, uint32_t from, uint32_t to)
{
    uint64_t now = network->net->queue->now;
    uint32_t place = first_set(turns->open, NULL, from, to);
    while (place < to) {
        const struct packet_pair *pair = &network->pairs.at[turns->pairs[place]];
        if (packet_bytes_left(pair) == 0 || is_window_bound(network, pair)) {
            packet_turns_set(turns->open, place, false);
        } else if (pair->next_at <= now) {
            return place;
        }
        place = first_set(turns->open, NULL, place + 1, to);
    }
    return to;
}

/* The first place among finished pairs that were passed over on the way from `start` to `chosen`; `count` when none
 * was. One that may still send, if only later, is not taken for finished; in a pause nobody may. */
static uint32_t first_over(const struct packet_turns *turns, uint32_t start, uint32_t chosen, bool paused)
{
    uint32_t count = turns->count;
    const uint64_t *except = paused ? NULL : turns->open;
    if (chosen >= start && chosen < count) {
        uint32_t place = first_set(turns->over, except, start, chosen);
        return place < chosen ? place : count;
    }
    uint32_t end = chosen < count ? chosen : count;
    uint32_t place = first_set(turns->over, except, 0, end);
    return place < end ? place : chosen < count ? first_set(turns->over, except, start, count) : count;
}

uint32_t packet_turns_next(struct packet_net *network, struct packet_port *port)
{
    struct packet_turns *turns = &port->turns;
    uint32_t count = turns->count;
    if (count == 0) {
        return 0;
    }
    bool paused = (port->paused & (1u << PACKET_CLASS)) != 0;
    uint32_t start = turns->last + 1 < count ? turns->last + 1 : (turns->last + 1) % count;
    uint32_t chosen = count;
    if (!paused) {
        chosen = find_ready(network, turns, start, count);
        if (chosen == count) {
            uint32_t wrapped = find_ready(network, turns, 0, start);
            chosen = wrapped < start ? wrapped : count;
        }
    }
    if (turns->over_count > 0) {
        uint32_t finished = first_over(turns, start, chosen, paused);
        if (finished < count) {
            uint32_t moved = sweep(network, turns, finished, chosen);
            chosen = chosen == count ? turns->count : moved;
        }
    }
    if (chosen == turns->count) {
        return 0;
    }
    turns->last = chosen;
    return turns->pairs[chosen];
}

/* Pairs that have sent everything and only wait for acknowledgements count too, as they do in the reference. */
uint64_t packet_turns_wake_ns(struct packet_net *network, struct packet_port *port)
{
    struct packet_turns *turns = &port->turns;
    uint64_t now = network->net->queue->now;
    uint64_t at = UINT64_MAX;
    if (turns->due < turns->count && network->pairs.at[turns->pairs[turns->due]].next_at <= now) {
        return UINT64_MAX;
    }
    for (uint32_t place = 0; place < turns->count; place++) {
        const struct packet_pair *pair = &network->pairs.at[turns->pairs[place]];
        if (pair->next_at <= now) {
            turns->due = place;
            return UINT64_MAX;
        }
        at = pair->next_at < at ? pair->next_at : at;
    }
    return at;
}
