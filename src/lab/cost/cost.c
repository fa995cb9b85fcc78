/* SPDX-License-Identifier: Apache-2.0 */
/* Counts go to items first, then items become rows in the order of the list, so that bills of different machines with
 * the same list read alike. Items nobody needs are left out. */
#include "lab/cost/cost.h"

#include <inttypes.h>
#include <math.h>

#include "topo/make/settings.h"

enum { MILLION = 1000000 };

static const double HOURS_OF_YEAR = 8760;

struct buying {
    const struct cost_prices *prices;
    const struct cost_count *count;
    uint64_t *counts; /* by item */
    const char *machine;
    struct arena *arena;
    struct notes *notes;
    struct orr_error *err;
};

/* The best of the items that `each` names: the fewest ports that are enough, or for cables the rate itself; item_count
 * when there is none. */
static uint32_t item_for(const struct cost_prices *prices, enum cost_each each, uint64_t ports, uint64_t rate_bps)
{
    uint32_t best = prices->item_count;
    for (uint32_t i = 0; i < prices->item_count; i++) {
        const struct cost_item *item = &prices->items[i];
        bool fits = item->each == each && (item->ports == 0 || item->ports >= ports) &&
                    (item->rate_bps == 0 || item->rate_bps == rate_bps);
        const struct cost_item *other = best == prices->item_count ? NULL : &prices->items[best];
        bool better = other == NULL || (item->ports != 0 && (other->ports == 0 || item->ports < other->ports)) ||
                      (item->rate_bps != 0 && other->rate_bps == 0);
        best = fits && better ? i : best;
    }
    return best;
}

static bool has_item(const struct cost_prices *prices, enum cost_each each)
{
    for (uint32_t i = 0; i < prices->item_count; i++) {
        if (prices->items[i].each == each) {
            return true;
        }
    }
    return false;
}

static enum orr_status buy_boxes(struct buying *b, const struct cost_boxes *boxes, const char *word, bool any_level)
{
    const struct cost_prices *prices = b->prices;
    enum cost_each level = boxes->leaf ? COST_LEAF : COST_SPINE;
    uint32_t item = any_level ? prices->item_count : item_for(prices, level, boxes->ports, 0);
    item = item < prices->item_count ? item : item_for(prices, COST_SWITCH, boxes->ports, 0);
    if (item < prices->item_count) {
        b->counts[item] += boxes->count;
        return ORR_OK;
    }
    if (has_item(prices, level) || has_item(prices, COST_SWITCH)) {
        return error_set(b->err, ORR_EINVAL,
                         "%s: no item of the price list is for a %s with %" PRIu64 " ports; add one with more ports",
                         b->machine, word, boxes->ports);
    }
    return notes_add(b->notes, b->err, "%s: the price list has no switches, and %" PRIu64 " are left out", b->machine,
                     boxes->count);
}

/* A list without cables is one of whoever has them already; one that has only others forgets some. */
static enum orr_status buy_cables(struct buying *b, const struct cost_cables *cables)
{
    uint32_t item = item_for(b->prices, COST_LINK, 0, cables->rate_bps);
    if (item < b->prices->item_count) {
        b->counts[item] += cables->count;
        return ORR_OK;
    }
    return !has_item(b->prices, COST_LINK)
               ? ORR_OK
               : notes_add(b->notes, b->err,
                           "%s: the price list has cables, but none of %s, and %" PRIu64 " are left out", b->machine,
                           cables->rate_bps == 0 ? "any rate" : topo_rate(cables->rate_bps).text, cables->count);
}

static uint64_t servers_of(const struct cost_prices *prices, const struct cost_count *count)
{
    uint64_t of_one = count->gpus_per_server != 0 ? count->gpus_per_server : prices->gpus_per_server;
    return count->servers != 0 ? count->servers : (count->gpus + of_one - 1) / of_one;
}

static enum orr_status fill_counts(struct buying *b, struct cost_bill *bill)
{
    const struct cost_count *count = b->count;
    enum orr_status status = ORR_OK;
    uint64_t ports = 0;
    bill->gpus = count->gpus;
    bill->servers = servers_of(b->prices, count);
    if (count->nics == 0 && __builtin_mul_overflow(bill->servers, b->prices->nics_per_server, &bill->nics)) {
        return error_set(b->err, ORR_ERANGE, "%s: the number of NICs does not fit 64 bits", b->machine);
    }
    bill->nics = count->nics != 0 ? count->nics : bill->nics;
    bill->nvswitches = count->nvswitches;
    bill->own_switches = count->own_switches;
    bill->switches = count->plain_switches;
    for (uint32_t i = 0; i < count->box_count && status == ORR_OK; i++) {
        bill->switches += count->boxes[i].count;
        ports += count->boxes[i].ports * count->boxes[i].count;
        status = buy_boxes(b, &count->boxes[i], count->boxes[i].leaf ? "leaf" : "spine", false);
    }
    if (status == ORR_OK && count->plain_switches > 0) {
        status = buy_boxes(b, &(struct cost_boxes){.count = count->plain_switches}, "switch", true);
    }
    for (uint32_t i = 0; i < count->cable_count && status == ORR_OK; i++) {
        bill->cables += count->cables[i].count;
        status = buy_cables(b, &count->cables[i]);
    }
    const uint64_t plain[COST_EACH_COUNT] = {[COST_GPU] = bill->gpus, [COST_SERVER] = bill->servers,
                                             [COST_NIC] = bill->nics, [COST_NVSWITCH] = bill->nvswitches,
                                             [COST_PORT] = ports,     [COST_MACHINE] = 1};
    for (uint32_t i = 0; i < b->prices->item_count; i++) {
        b->counts[i] += plain[b->prices->items[i].each];
    }
    return status;
}

static enum orr_status cost_add_up(struct buying *b, struct cost_bill *bill)
{
    const struct cost_prices *prices = b->prices;
    struct cost_row *rows = arena_alloc(b->arena, prices->item_count * sizeof *rows);
    if (rows == NULL) {
        return mem_error(b->arena->mem, "the bill", b->err);
    }
    for (uint32_t i = 0; i < prices->item_count; i++) {
        const struct cost_item *item = &prices->items[i];
        uint64_t cost = 0;
        if (b->counts[i] == 0) {
            continue;
        }
        if (__builtin_mul_overflow(item->price, b->counts[i], &cost) || cost > UINT64_MAX - item->pack ||
            __builtin_add_overflow(bill->total, (cost + item->pack / 2) / item->pack, &bill->total)) {
            return error_set(b->err, ORR_ERANGE, "%s: the price of %" PRIu64 " times \"%s\" is beyond 10^13",
                             b->machine, b->counts[i], item->name);
        }
        cost = (cost + item->pack / 2) / item->pack;
        rows[bill->row_count++] = (struct cost_row){.name = item->name,
                                                    .count = b->counts[i],
                                                    .price = item->price,
                                                    .pack = item->pack,
                                                    .cost = cost,
                                                    .watts = item->watts * (double)b->counts[i]};
        bill->watts += item->watts * (double)b->counts[i];
    }
    bill->rows = rows;
    return ORR_OK;
}

enum orr_status cost_bill_make(const struct cost_prices *prices, const struct cost_count *count, const char *machine,
                               struct arena *arena, struct notes *notes, struct cost_bill *bill, struct orr_error *err)
{
    struct cost_bill made = {.machine = machine, .hour_price = (double)NAN, .hour_power = (double)NAN};
    struct buying b = {.prices = prices,
                       .count = count,
                       .counts = arena_zalloc(arena, prices->item_count * sizeof *b.counts),
                       .machine = machine,
                       .arena = arena,
                       .notes = notes,
                       .err = err};
    if (b.counts == NULL) {
        return mem_error(arena->mem, "the bill", err);
    }
    enum orr_status status = fill_counts(&b, &made);
    if (status == ORR_OK) {
        status = cost_add_up(&b, &made);
    }
    if (status != ORR_OK) {
        return status;
    }
    if (prices->lifetime_years > 0) {
        made.hour_price = (double)made.total / MILLION / (prices->lifetime_years * HOURS_OF_YEAR * prices->utilisation);
        made.hour_power = made.watts / 1000 * prices->pue * prices->electricity;
    }
    *bill = made;
    return ORR_OK;
}
