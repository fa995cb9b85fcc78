/* SPDX-License-Identifier: Apache-2.0 */
/* The network with contention (spec analytical §11.2): worked examples, and agreement with plain_network.h. */
#include <stdarg.h>

#include "net/net.h"
#include "tests/check.h"
#include "tests/net/plain_network.h"
#include "tests/prng.h"

enum { USER_SEND = NET_EVENT_KINDS };

struct road {
    struct topo_dims dims;
    struct mem mem;
    struct event_queue queue;
    struct net net;
};

/* 50 GB/s and 500 ns everywhere: 32768 bytes take 610 ns to serialise and arrive after 1110. */
static void open_road(struct road *road, enum topo_kind kind, uint32_t count, const uint32_t *sizes)
{
    struct orr_error err = {0};
    *road = (struct road){.dims = {.count = count}};
    for (uint32_t d = 0; d < count; d++) {
        road->dims.dim[d] = (struct topo_dim){.kind = kind, .size = sizes[d], .bandwidth_gibps = 50, .latency_ns = 500};
    }
    CHECK(topo_dims_finish(&road->dims), "the machine is small enough");
    CHECK(event_queue_init(&road->queue, &road->mem), "memory is given");
    CHECK_OK(net_init(&road->net, &net_aware, &road->dims, &road->queue, &road->mem, &err), &err);
}

static void close_road(struct road *road)
{
    net_free(&road->net);
    event_queue_free(&road->queue);
    CHECK_U64(road->mem.used, 0, "all memory is given back");
}

/* Sends each at its time and fills in when it arrives. */
static void drive(struct road *road, struct plain_message *messages, uint32_t count, double stretch)
{
    struct event event;
    for (uint32_t i = 0; i < count; i++) {
        messages[i].arrival = UINT64_MAX;
        CHECK(event_queue_push(&road->queue, messages[i].at, USER_SEND, i, 0) != 0, "memory is given");
    }
    while (event_queue_pop(&road->queue, &event)) {
        if (event.kind == USER_SEND) {
            const struct plain_message *m = &messages[event.a];
            net_send(&road->net, event.a, m->src, m->dst, m->bytes, stretch);
            continue;
        }
        uint32_t arrived = net_handle(&road->net, &event);
        if (arrived != NET_NO_MESSAGE) {
            CHECK_U64(messages[arrived].arrival, UINT64_MAX, "message %u arrives once", arrived);
            messages[arrived].arrival = road->queue.now;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        CHECK(messages[i].arrival != UINT64_MAX, "message %u arrives", i);
    }
}

static void messages_on_one_link_go_one_after_the_other(void **state)
{
    (void)state;
    static const enum topo_kind kinds[] = {TOPO_RING, TOPO_FULLY_CONNECTED};
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        struct road road;
        struct plain_message m[] = {
            {0, 0, 1, 32768, 0}, {0, 0, 1, 32768, 0}, {0, 1, 0, 32768, 0}, {700, 0, 1, 1, 0}, {9000, 0, 1, 1, 0}};
        open_road(&road, kinds[k], 1, (uint32_t[]){8});
        drive(&road, m, COUNT_OF(m), 1.0);
        CHECK_U64(m[0].arrival, 1110, "the first");
        CHECK_U64(m[1].arrival, 610 + 1110, "the second, when the link is free");
        CHECK_U64(m[2].arrival, 1110, "the link the other way is another link");
        CHECK_U64(m[3].arrival, 1220 + 500, "the third stands in line behind the second");
        CHECK_U64(m[4].arrival, 9500, "a free link does not remember");
        CHECK_U64(road.net.stats[0].queued, 2, "messages that had to wait");
        CHECK_U64(road.net.stats[0].messages, 5, "messages");
        CHECK_U64(road.net.stats[0].bytes, 3 * 32768 + 2, "bytes");
        CHECK_U64(road.net.stats[0].busy_ns, 3 * 610, "time that links were busy");
        close_road(&road);
    }
}

static void a_switch_is_two_hops_and_its_down_link_is_shared(void **state)
{
    (void)state;
    struct road road;
    struct plain_message m[] = {{0, 0, 3, 32768, 0}, {0, 1, 3, 32768, 0}, {0, 2, 4, 32768, 0}};
    open_road(&road, TOPO_SWITCH, 1, (uint32_t[]){8});
    drive(&road, m, COUNT_OF(m), 1.0);
    CHECK_U64(m[0].arrival, 2220, "up and down, stored in between");
    CHECK_U64(m[1].arrival, 2220 + 610, "two for one port: the second waits there");
    CHECK_U64(m[2].arrival, 2220, "another port is free");
    close_road(&road);
}

static void half_way_round_a_ring_is_clockwise(void **state)
{
    (void)state;
    struct road road;
    /* 0 to 4 of 8 passes 1; were it to go the other way, the message from 1 to 2 would not meet it. */
    struct plain_message m[] = {{0, 0, 4, 32768, 0}, {1110, 1, 2, 32768, 0}, {1110, 7, 6, 32768, 0}};
    open_road(&road, TOPO_RING, 1, (uint32_t[]){8});
    drive(&road, m, COUNT_OF(m), 1.0);
    CHECK_U64(m[1].arrival, 2220, "the link from 1 to 2 was free when this one came");
    CHECK_U64(m[0].arrival, 4 * 1110 + 610, "so the one on its way round had to wait at 1");
    CHECK_U64(m[2].arrival, 2220, "nobody went the other way");
    close_road(&road);
}

static void a_ring_of_two_has_one_link_each_way(void **state)
{
    (void)state;
    struct road road;
    struct plain_message m[] = {{0, 0, 1, 32768, 0}, {0, 1, 0, 32768, 0}, {0, 0, 1, 32768, 0}, {0, 1, 0, 32768, 0}};
    open_road(&road, TOPO_RING, 1, (uint32_t[]){2});
    CHECK_U64(road.net.stats[0].links, 2, "links");
    drive(&road, m, COUNT_OF(m), 1.0);
    CHECK_U64(m[0].arrival, 1110, "there");
    CHECK_U64(m[1].arrival, 1110, "and back at the same time");
    CHECK_U64(m[2].arrival, 1720, "there, second");
    CHECK_U64(m[3].arrival, 1720, "back, second");
    close_road(&road);
}

static void a_message_pays_every_dimension_it_crosses(void **state)
{
    (void)state;
    struct road road;
    struct orr_error err = {0};
    struct plain_message m[] = {{0, 0, 9, 32768, 0}, {1110, 1, 9, 32768, 0}};
    open_road(&road, TOPO_RING, 2, (uint32_t[]){4, 4});
    net_free(&road.net);
    road.dims.dim[1].latency_ns = 700;
    road.dims.dim[1].kind = TOPO_SWITCH;
    CHECK_OK(net_init(&road.net, &net_aware, &road.dims, &road.queue, &road.mem, &err), &err);
    drive(&road, m, COUNT_OF(m), 1.0);
    CHECK_U64(m[1].arrival, 1110 + 2 * 1310, "from 1 up and down dimension 1");
    CHECK_U64(m[0].arrival, 1110 + 610 + 2 * 1310, "first along dimension 0 to rank 1, then behind the other one");
    CHECK_U64(road.net.stats[0].bytes, 32768, "bytes in dimension 0");
    CHECK_U64(road.net.stats[1].bytes, 4 * 32768, "bytes in dimension 1, each hop counted");
    CHECK_U64(road.net.stats[0].messages, 1, "messages in dimension 0");
    CHECK_U64(road.net.stats[1].messages, 2, "messages in dimension 1, however many links they took");
    close_road(&road);
}

static void jitter_stretches_the_delay_and_not_the_link(void **state)
{
    (void)state;
    struct road road;
    struct plain_message m[] = {{0, 0, 1, 32768, 0}, {0, 0, 1, 32768, 0}};
    open_road(&road, TOPO_RING, 1, (uint32_t[]){8});
    drive(&road, m, COUNT_OF(m), 1.5);
    CHECK_U64(m[0].arrival, 1665, "one and a half times 1110");
    CHECK_U64(m[1].arrival, 610 + 1665, "the link is free after 610 all the same");
    close_road(&road);
}

/* Messages at random times between random ranks; with few sizes, so that ties are common. */
static void draw_traffic(struct prng *prng, struct plain_message *messages, uint32_t count, uint32_t ranks)
{
    uint64_t now = 0;
    for (uint32_t i = 0; i < count; i++) {
        now += prng_below(prng, 3) == 0 ? prng_below(prng, 1500) : 0;
        uint32_t src = prng_below(prng, ranks);
        uint32_t dst = (src + 1 + prng_below(prng, ranks - 1)) % ranks;
        uint64_t bytes = prng_below(prng, 2) == 0 ? 32768 : 1 + prng_below(prng, 200000);
        messages[i] = (struct plain_message){.at = now, .src = src, .dst = dst, .bytes = bytes};
    }
}

static void draw_machine(struct prng *prng, struct topo_dims *dims)
{
    *dims = (struct topo_dims){.count = 1 + prng_below(prng, 3)};
    for (uint32_t d = 0; d < dims->count; d++) {
        dims->dim[d] = (struct topo_dim){.kind = (enum topo_kind)prng_below(prng, 3),
                                         .size = 2 + prng_below(prng, dims->count == 1 ? 9 : 4),
                                         .bandwidth_gibps = 10.0 * (1 + prng_below(prng, 9)),
                                         .latency_ns = 100.5 * prng_below(prng, 12)};
    }
    CHECK(topo_dims_finish(dims), "the machine is small enough");
}

static void any_traffic_arrives_when_the_plain_network_says(void **state)
{
    (void)state;
    enum { TRIALS = 60, MESSAGES = 150, MOST_RANKS = 125 };
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        struct prng prng = {seed};
        struct road road = {0};
        struct orr_error err = {0};
        struct plain_message want[MESSAGES];
        struct plain_message got[MESSAGES];
        double factors[MOST_RANKS];
        draw_machine(&prng, &road.dims);
        for (uint32_t rank = 0; rank < road.dims.ranks; rank++) {
            factors[rank] = prng_below(&prng, 3) == 0 ? 0.25 * (1 + prng_below(&prng, 8)) : 1.0;
        }
        road.dims.link_factors = seed % 2 == 0 ? factors : NULL;
        draw_traffic(&prng, want, MESSAGES, road.dims.ranks);
        memcpy(got, want, sizeof got);
        CHECK(event_queue_init(&road.queue, &road.mem), "memory is given");
        CHECK_OK(net_init(&road.net, &net_aware, &road.dims, &road.queue, &road.mem, &err), &err);
        plain_network_run(&road.dims, want, MESSAGES);
        drive(&road, got, MESSAGES, 1.0);
        for (uint32_t i = 0; i < MESSAGES; i++) {
            CHECK_U64(got[i].arrival, want[i].arrival, "seed %" PRIu64 ", message %u", seed, i);
        }
        close_road(&road);
    }
}

/* Traffic that keeps to one dimension of a larger machine is as on that dimension alone. */
static void other_dimensions_do_not_disturb(void **state)
{
    (void)state;
    enum { MESSAGES = 120 };
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct prng prng = {seed};
        struct topo_dims dims;
        struct road alone = {0};
        struct road within = {0};
        struct orr_error err = {0};
        struct plain_message a[MESSAGES];
        struct plain_message b[MESSAGES];
        draw_machine(&prng, &dims);
        uint32_t d = prng_below(&prng, dims.count);
        within.dims = dims;
        alone.dims = (struct topo_dims){.count = 1, .dim = {dims.dim[d]}};
        CHECK(topo_dims_finish(&alone.dims), "one dimension of it");
        draw_traffic(&prng, a, MESSAGES, alone.dims.ranks);
        uint32_t elsewhere = prng_below(&prng, dims.ranks);
        uint32_t line = elsewhere - topo_coordinate(&dims.dim[d], elsewhere) * dims.dim[d].stride;
        for (uint32_t i = 0; i < MESSAGES; i++) {
            b[i] = a[i];
            b[i].src = line + a[i].src * dims.dim[d].stride;
            b[i].dst = line + a[i].dst * dims.dim[d].stride;
        }
        CHECK(event_queue_init(&alone.queue, &alone.mem), "memory is given");
        CHECK_OK(net_init(&alone.net, &net_aware, &alone.dims, &alone.queue, &alone.mem, &err), &err);
        CHECK(event_queue_init(&within.queue, &within.mem), "memory is given");
        CHECK_OK(net_init(&within.net, &net_aware, &within.dims, &within.queue, &within.mem, &err), &err);
        drive(&alone, a, MESSAGES, 1.0);
        drive(&within, b, MESSAGES, 1.0);
        for (uint32_t i = 0; i < MESSAGES; i++) {
            CHECK_U64(b[i].arrival, a[i].arrival, "seed %" PRIu64 ", message %u", seed, i);
        }
        CHECK_U64(within.net.stats[d].messages, alone.net.stats[0].messages, "messages in dimension %u", d);
        CHECK_U64(within.net.stats[d].queued, alone.net.stats[0].queued, "messages that waited in dimension %u", d);
        close_road(&alone);
        close_road(&within);
    }
}

static void links_are_counted_as_they_are_laid(void **state)
{
    (void)state;
    static const struct {
        enum topo_kind kind;
        uint32_t size;
        uint64_t links;
    } rows[] = {{TOPO_RING, 8, 16},           {TOPO_RING, 3, 6},   {TOPO_RING, 2, 2}, {TOPO_FULLY_CONNECTED, 5, 20},
                {TOPO_FULLY_CONNECTED, 2, 2}, {TOPO_SWITCH, 6, 12}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct road road;
        open_road(&road, rows[i].kind, 1, &rows[i].size);
        CHECK_U64(road.net.stats[0].links, rows[i].links, "%s of %u", topo_kind_name(rows[i].kind), rows[i].size);
        close_road(&road);
        open_road(&road, rows[i].kind, 2, (uint32_t[]){3, rows[i].size});
        CHECK_U64(road.net.stats[1].links, 3 * rows[i].links, "three of them");
        close_road(&road);
    }
}

static void a_refused_message_is_dropped_and_remembered(void **state)
{
    (void)state;
    struct road road;
    open_road(&road, TOPO_RING, 1, (uint32_t[]){4});
    road.mem.limit = road.mem.used + 3000;
    for (uint32_t i = 0; i < 1000 && !road.queue.failed; i++) {
        net_send(&road.net, i, 0, 1, 1000, 1.0);
    }
    CHECK(road.queue.failed, "a refusal is remembered");
    close_road(&road);

    struct mem none = {.limit = 10};
    struct net net;
    struct orr_error err = {0};
    struct topo_dims dims = {.count = 1, .dim = {{.kind = TOPO_RING, .size = 4, .bandwidth_gibps = 1}}};
    CHECK(topo_dims_finish(&dims), "the machine is small enough");
    CHECK_STATUS(net_init(&net, &net_aware, &dims, NULL, &none, &err), ORR_ENOMEM);
    net_free(&net);
    CHECK_U64(none.used, 0, "nothing is left behind");
}

TEST_MAIN(messages_on_one_link_go_one_after_the_other, a_switch_is_two_hops_and_its_down_link_is_shared,
          half_way_round_a_ring_is_clockwise, a_ring_of_two_has_one_link_each_way,
          a_message_pays_every_dimension_it_crosses, jitter_stretches_the_delay_and_not_the_link,
          any_traffic_arrives_when_the_plain_network_says, other_dimensions_do_not_disturb,
          links_are_counted_as_they_are_laid, a_refused_message_is_dropped_and_remembered)
