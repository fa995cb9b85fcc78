/* SPDX-License-Identifier: Apache-2.0 */
/* Max-min fair shares: known ones on small graphs, and random graphs against filling by the book. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "net/flow/share.h"
#include "tests/check.h"

enum { LINKS_MOST = 256, ROOM = 6, FLOWS_MOST = 4096 };

struct bench {
    struct mem mem;
    struct share share;
};

static void set_up(struct bench *bench, uint32_t links)
{
    *bench = (struct bench){0};
    CHECK(share_init(&bench->share, links, ROOM, 1e-9, &bench->mem), "links");
}

static void tear_down(struct bench *bench)
{
    share_free(&bench->share);
    CHECK_U64(bench->mem.used, 0, "everything is given back");
}

/* Links are named by a text of digits; every use costs 1. */
static void add(struct bench *bench, uint32_t flow, const char *links, double ceiling)
{
    share_flow_start(&bench->share, flow, ceiling);
    uint32_t count = (uint32_t)strlen(links);
    for (uint32_t i = 0; i < count; i++) {
        share_set(&bench->share, flow, i, (uint32_t)(links[i] - '0'), 1);
    }
    share_join(&bench->share, flow, 0, count);
}

static const struct {
    const char *what;
    const char *flows[6]; /* links each uses */
    double ceilings[6];   /* 0 = none */
    double want[6];
} known[] = {
    {"alone", {"012"}, {0}, {1}},
    {"incast of four", {"04", "14", "24", "34"}, {0}, {.25, .25, .25, .25}},
    {"a long flow and two short ones", {"01", "0", "1"}, {0}, {.5, .5, .5}},
    {"parking lot", {"012", "0", "1", "2"}, {0}, {.5, .5, .5, .5}},
    {"what one cannot use others get", {"01", "0", "1", "1", "1"}, {0}, {.25, .75, .25, .25, .25}},
    {"a ceiling leaves the rest", {"0", "0", "0"}, {.1}, {.1, .45, .45}},
    {"a ceiling that is not reached", {"0", "0"}, {.9}, {.5, .5}},
    {"strangers", {"0", "1", "2"}, {0}, {1, 1, 1}},
};

static void shares_of_small_graphs_are_the_known_ones(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT_OF(known); k++) {
        struct bench bench;
        set_up(&bench, 10);
        uint32_t count = 0;
        for (; count < 6 && known[k].flows[count] != NULL; count++) {
            add(&bench, count, known[k].flows[count],
                known[k].ceilings[count] > 0 ? known[k].ceilings[count] : INFINITY);
        }
        share_settle(&bench.share);
        for (uint32_t f = 0; f < count; f++) {
            CHECK(fabs(bench.share.flows[f].rate - known[k].want[f]) < 1e-9, "%s: flow %u has %g", known[k].what, f,
                  bench.share.flows[f].rate);
        }
        tear_down(&bench);
    }
}

static void one_after_the_other_gives_what_together_gives(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT_OF(known); k++) {
        struct bench bench;
        set_up(&bench, 10);
        for (uint32_t f = 0; f < 6 && known[k].flows[f] != NULL; f++) {
            add(&bench, f, known[k].flows[f], known[k].ceilings[f] > 0 ? known[k].ceilings[f] : INFINITY);
            share_settle(&bench.share);
        }
        for (uint32_t f = 0; f < 6 && known[k].flows[f] != NULL; f++) {
            CHECK(fabs(bench.share.flows[f].rate - known[k].want[f]) < 1e-9, "%s: flow %u has %g", known[k].what, f,
                  bench.share.flows[f].rate);
        }
        tear_down(&bench);
    }
}

static void a_flow_that_leaves_gives_its_share_back(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, 10);
    add(&bench, 0, "01", INFINITY);
    add(&bench, 1, "0", INFINITY);
    add(&bench, 2, "1", INFINITY);
    share_settle(&bench.share);
    share_leave(&bench.share, 1, 0, 1);
    share_leave(&bench.share, 2, 0, 1);
    share_settle(&bench.share);
    CHECK(fabs(bench.share.flows[0].rate - 1) < 1e-9, "%g", bench.share.flows[0].rate);
    CHECK(fabs(bench.share.flows[0].before - .5) < 1e-9, "%g", bench.share.flows[0].before);
    tear_down(&bench);
}

static void a_change_elsewhere_is_not_looked_at(void **state)
{
    (void)state;
    struct bench bench;
    set_up(&bench, 10);
    add(&bench, 0, "0", INFINITY);
    add(&bench, 1, "0", INFINITY);
    add(&bench, 2, "12", .2);
    share_settle(&bench.share);
    add(&bench, 3, "2", .3);
    share_settle(&bench.share);
    CHECK_U64(bench.share.found.count, 1, "link 2 has room for both, so nobody else is asked");
    tear_down(&bench);
}

/* ---- against the book ---- */

static uint32_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*seed >> 33);
}

/* Every round scans everything for the lowest bound. */
static void fill_by_the_book(const struct share *share, uint32_t flows, double *rates)
{
    bool settled[FLOWS_MOST] = {false};
    for (;;) {
        double room[LINKS_MOST];
        double cost[LINKS_MOST] = {0};
        for (uint32_t l = 0; l < share->link_count; l++) {
            room[l] = 1;
        }
        bool done = true;
        for (uint32_t f = 0; f < flows; f++) {
            for (uint32_t i = 0; i < ROOM; i++) {
                const struct share_use *use = &share_uses(share, f)[i];
                if (use->place == SHARE_NONE) {
                    continue;
                }
                done &= settled[f];
                *(settled[f] ? &room[use->link] : &cost[use->link]) += settled[f] ? -rates[f] * use->cost : use->cost;
            }
        }
        if (done) {
            return;
        }
        double level = INFINITY;
        for (uint32_t l = 0; l < share->link_count; l++) {
            level = cost[l] > 1e-12 ? fmin(level, fmax(0, room[l] / cost[l])) : level;
        }
        for (uint32_t f = 0; f < flows; f++) {
            level = settled[f] ? level : fmin(level, share->flows[f].ceiling);
        }
        for (uint32_t f = 0; f < flows; f++) {
            bool held = share->flows[f].ceiling <= level * (1 + 1e-12);
            for (uint32_t i = 0; i < ROOM && !settled[f]; i++) {
                const struct share_use *use = &share_uses(share, f)[i];
                held |= use->place != SHARE_NONE && room[use->link] <= level * cost[use->link] * (1 + 1e-12) + 1e-13;
            }
            if (!settled[f] && held) {
                rates[f] = level;
            }
        }
        for (uint32_t f = 0; f < flows; f++) {
            bool held = share->flows[f].ceiling <= level * (1 + 1e-12);
            for (uint32_t i = 0; i < ROOM; i++) {
                const struct share_use *use = &share_uses(share, f)[i];
                held |= use->place != SHARE_NONE && room[use->link] <= level * cost[use->link] * (1 + 1e-12) + 1e-13;
            }
            settled[f] |= held;
        }
    }
}

static void check_by_the_book(const struct share *share, uint32_t flows, uint64_t seed, uint32_t round)
{
    static double rates[FLOWS_MOST];
    memset(rates, 0, sizeof rates);
    fill_by_the_book(share, flows, rates);
    for (uint32_t f = 0; f < flows; f++) {
        bool uses = false;
        for (uint32_t i = 0; i < ROOM; i++) {
            uses |= share_uses(share, f)[i].place != SHARE_NONE;
        }
        CHECK(!uses || fabs(share->flows[f].rate - rates[f]) <= 1e-6 * rates[f] + 1e-12,
              "seed %llu round %u flow %u: %.12g, by the book %.12g", (unsigned long long)seed, round, f,
              share->flows[f].rate, rates[f]);
    }
}

/* A random flow: distinct links, costs as of packets and acknowledgements, a ceiling now and then. */
static void join_random(struct share *share, uint32_t flow, uint64_t *seed)
{
    double ceiling = next_random(seed) % 4 == 0 ? (1 + next_random(seed) % 100) * 0.003 : INFINITY;
    share_flow_start(share, flow, ceiling);
    uint32_t uses = 1 + next_random(seed) % ROOM;
    uint32_t first = next_random(seed) % share->link_count;
    for (uint32_t i = 0; i < uses; i++) {
        uint32_t link = (first + i * (1 + next_random(seed) % 3)) % share->link_count;
        for (uint32_t j = 0; j < i; j++) {
            link = share_uses(share, flow)[j].link == link ? (link + 1) % share->link_count : link;
            j = share_uses(share, flow)[j].link == link ? UINT32_MAX : j;
        }
        share_set(share, flow, i, link, next_random(seed) % 3 == 0 ? 0.05 : 0.5 + next_random(seed) % 8 * 0.25);
    }
    share_join(share, flow, 0, uses);
}

static void random_comings_and_goings_match_the_book(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct bench bench;
        uint64_t random = seed;
        set_up(&bench, 8 + (uint32_t)(seed * 3));
        bool in[64] = {false};
        uint32_t flows = 8 + (uint32_t)seed;
        for (uint32_t f = 0; f < flows; f++) {
            share_flow_start(&bench.share, f, INFINITY);
        }
        for (uint32_t round = 0; round < 60; round++) {
            for (uint32_t change = next_random(&random) % 4; change-- > 0;) {
                uint32_t f = next_random(&random) % flows;
                if (in[f]) {
                    share_leave(&bench.share, f, 0, ROOM);
                } else {
                    join_random(&bench.share, f, &random);
                }
                in[f] = !in[f];
            }
            share_settle(&bench.share);
            check_by_the_book(&bench.share, flows, seed, round);
        }
        tear_down(&bench);
    }
}

static void thousands_of_flows_match_the_book(void **state)
{
    (void)state;
    struct bench bench;
    uint64_t random = 7;
    set_up(&bench, LINKS_MOST);
    for (uint32_t f = 0; f < FLOWS_MOST; f++) {
        join_random(&bench.share, f, &random);
    }
    share_settle(&bench.share);
    check_by_the_book(&bench.share, FLOWS_MOST, 7, 0);
    for (uint32_t f = 0; f < 16; f++) {
        share_leave(&bench.share, f * 97, 0, ROOM);
        share_settle(&bench.share);
    }
    check_by_the_book(&bench.share, FLOWS_MOST, 7, 1);
    tear_down(&bench);
}

TEST_MAIN(shares_of_small_graphs_are_the_known_ones, one_after_the_other_gives_what_together_gives,
          a_flow_that_leaves_gives_its_share_back, a_change_elsewhere_is_not_looked_at,
          random_comings_and_goings_match_the_book, thousands_of_flows_match_the_book)
