/* SPDX-License-Identifier: Apache-2.0 */
/* The laws of congestion control by themselves: what the table promises of each, and that a law which is told the same
 * does the same, wherever in time it is. */
#include "net/cc/cc.h"
#include "orrery.h"
#include "tests/check.h"
#include "tests/prng.h"

static void every_law_has_a_name_a_number_and_what_its_row_promises(void **state)
{
    (void)state;
    for (size_t i = 0; cc_law_at(i) != NULL; i++) {
        const struct cc_law *law = cc_law_at(i);
        CHECK(cc_law_called(law->name) == law && cc_law_of(law->number) == law, "%s is found", law->name);
        CHECK(law->state_bytes <= CC_STATE_MOST, "%s: its numbers fit", law->name);
        CHECK((law->state_bytes != 0) == (law->start != NULL) && (law->start != NULL) == (law->acked != NULL),
              "%s starts and is acknowledged, or has no numbers", law->name);
        CHECK((law->timer == NULL) == (law->rest == NULL), "%s: timers can be stopped", law->name);
        CHECK((law->drift == NULL) || law->move != NULL, "%s: what drifts is moved", law->name);
        CHECK(law->needs != 0 || law->state_bytes == 0, "%s is told by something", law->name);
        CHECK(cc_is_in_files(law->number) == (law->number < 1000), "%s", law->name);
    }
    CHECK(cc_law_called("reno") == NULL, "there is no such law");
    CHECK(cc_law_of(2) == cc_law_called("none"), "any other number is a fixed window");
    CHECK(!cc_is_in_files(2), "which is worth a word");
}

static void every_congestion_control_of_the_library_is_a_law(void **state)
{
    (void)state;
#define NAME(id, name) name,
    static const char *const names[] = {ORR_CONGESTIONS(NAME)};
#undef NAME
    size_t laws = 0;
    while (cc_law_at(laws) != NULL) {
        laws++;
    }
    CHECK_U64(COUNT_OF(names), laws, "as many names as laws");
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        CHECK(cc_law_called(names[i]) != NULL, "%s", names[i]);
    }
}

struct cc_run {
    const struct cc_law *law;
    struct packet_config config;
    struct cc_sender sender;
    struct prng prng;
    uint64_t state[CC_STATE_MOST / 8];
    uint64_t now_ns, acked;
    uint32_t hop_sent;
};

static void begin(struct cc_run *run, const struct cc_law *law, uint64_t seed, uint64_t now_ns, uint64_t acked,
                  bool no_window)
{
    *run = (struct cc_run){.law = law, .config = PACKET_CONFIG_DEFAULT, .now_ns = now_ns, .acked = acked};
    run->prng = (struct prng){seed};
    run->config.cc_mode = law->number;
    run->config.ewma_gain = 1.0 / 16;
    run->sender = (struct cc_sender){.base_rtt_ns = 4000,
                                     .line_bps = UINT64_C(100000000000),
                                     .rate_bps = UINT64_C(100000000000),
                                     .window = no_window ? 0 : 50000,
                                     .sent = acked + 50000};
    law->start(run->state, &run->config, &run->sender);
}

/* One acknowledgement, and whatever timer has been set. */
static void one_ack(struct cc_run *run)
{
    uint64_t rtt = 4000 + prng_below(&run->prng, 100000);
    uint32_t marks = prng_below(&run->prng, 3) == 0 ? 1 : 0;
    run->now_ns += 80 + prng_below(&run->prng, 100);
    run->acked += 1000;
    run->sender.sent = run->acked + 50000;
    run->hop_sent = (run->hop_sent + 128 * prng_below(&run->prng, 10)) & CC_HOP_SENT;
    const struct cc_hop hop = {.time_ns = (uint32_t)run->now_ns & CC_HOP_TIME,
                               .sent_bytes = run->hop_sent,
                               .queued_bytes = 80 * prng_below(&run->prng, 2000),
                               .rate_bps = UINT64_C(100000000000)};
    const struct cc_ack ack = {.now_ns = run->now_ns,
                               .rtt_ns = rtt,
                               .acked = run->acked,
                               .marks = marks,
                               .hop_count = 1,
                               .hops = &hop,
                               .use = (1 + prng_below(&run->prng, 200)) / 100.0};
    run->sender.paces_anew = false;
    run->law->acked(run->state, &run->config, &run->sender, &ack);
    for (uint32_t i = 0; i < CC_TIMERS && run->law->timer != NULL; i++) {
        if (run->sender.timer_ns[i] != 0 && prng_below(&run->prng, 4) == 0) {
            run->sender.timer_ns[i] = 0;
            run->law->timer(run->state, &run->config, &run->sender, i);
        }
    }
}

static void a_rate_stays_between_the_least_and_the_line(void **state)
{
    (void)state;
    for (size_t i = 0; cc_law_at(i) != NULL; i++) {
        for (uint64_t seed = 1; seed <= 20 && cc_law_at(i)->state_bytes != 0; seed++) {
            struct cc_run run;
            begin(&run, cc_law_at(i), seed, 5000, 0, seed % 2 == 0);
            uint64_t lowest = run.sender.rate_bps;
            for (uint32_t n = 0; n < 2000; n++) {
                one_ack(&run);
                lowest = run.sender.rate_bps < lowest ? run.sender.rate_bps : lowest;
                CHECK(run.sender.rate_bps >= run.config.min_rate_bps && run.sender.rate_bps <= run.sender.line_bps,
                      "%s, seed %" PRIu64 ": %" PRIu64, run.law->name, seed, run.sender.rate_bps);
            }
            CHECK(lowest < run.sender.line_bps, "%s does something", run.law->name);
        }
    }
}

/* Moved by some time and some bytes, a law goes on as it would have where it was: what fast-forward relies on. */
static void a_law_that_is_moved_goes_on_as_before(void **state)
{
    (void)state;
    enum { BY_NS = 123456, BYTES = 77000 };
    for (size_t i = 0; cc_law_at(i) != NULL; i++) {
        for (uint64_t seed = 1; seed <= 20 && cc_law_at(i)->move != NULL; seed++) {
            struct cc_run stays;
            begin(&stays, cc_law_at(i), seed, 2000000, 0, seed % 2 == 0);
            for (uint32_t n = 0; n < 200 + seed; n++) {
                one_ack(&stays);
            }
            struct cc_run moves = stays;
            const uint32_t hop_bytes[CC_HOPS] = {128 * 55};
            const struct cc_move move = {.times = 1,
                                         .by_ns = BY_NS,
                                         .bytes = BYTES,
                                         .now_ns = stays.now_ns,
                                         .hop_bytes = hop_bytes,
                                         .drift = stays.law->drift == NULL ? 0 : stays.law->drift(stays.state)};
            stays.law->move(moves.state, &moves.config, &move);
            moves.now_ns += BY_NS;
            moves.acked += BYTES;
            moves.hop_sent = (moves.hop_sent + hop_bytes[0]) & CC_HOP_SENT;
            for (uint32_t n = 0; n < 500; n++) {
                one_ack(&stays);
                one_ack(&moves);
                CHECK_U64(moves.sender.rate_bps, stays.sender.rate_bps, "%s, seed %" PRIu64 ", step %" PRIu32,
                          moves.law->name, seed, n);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK_MAP(
        every_law_has_a_name_a_number_and_what_its_row_promises, every_congestion_control_of_the_library_is_a_law,
        a_rate_stays_between_the_least_and_the_line, a_law_that_is_moved_goes_on_as_before)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
