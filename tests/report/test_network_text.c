/* SPDX-License-Identifier: Apache-2.0 */
/* What a network with packets counted: which links are shown, and that the document has them all. */
#include "report/network.h"

#include <inttypes.h>

#include "tests/prng.h"
#include "tests/report/fixture.h"
#include "tests/report/printed.h"

enum { LINKS_MOST = 40, SHOWN = 8 };

struct bench {
    struct fixture fixture;
    struct net_link links[LINKS_MOST];
};

static void bench_fill(struct bench *bench, uint32_t count)
{
    fixture_make(&bench->fixture);
    for (uint32_t i = 0; i < count; i++) {
        bench->links[i] = (struct net_link){
            .from = i, .to = 100 + i, .from_switch = i % 2 == 1, .rate_bps = 100000000000, .bytes = 1000};
    }
    bench->fixture.result.end_ns = 1000;
    bench->fixture.result.network =
        (struct net_figures){.links = bench->links, .link_count = count, .transmissions = 9};
}

static const char *text_of(const struct bench *bench)
{
    report_network_text(&bench->fixture.result, printed_begin());
    return printed_end();
}

/* Place of the row of link `i`; NULL where it is not shown. */
static const char *row_of(const char *text, uint32_t i)
{
    char label[32];
    (void)snprintf(label, sizeof label, "\n  %" PRIu32 " > %" PRIu32 " ", i, 100 + i);
    return strstr(text, label);
}

static void the_busiest_links_are_shown_busiest_first(void **state)
{
    (void)state;
    struct prng prng = {.state = 5};
    for (int round = 0; round < 100; round++) {
        static struct bench bench;
        uint32_t order[LINKS_MOST];
        bench_fill(&bench, LINKS_MOST);
        prng_shuffle(&prng, order, LINKS_MOST);
        for (uint32_t place = 0; place < LINKS_MOST; place++) {
            bench.links[order[place]].busy_ns = 1000 - place;
        }
        const char *text = text_of(&bench);
        const char *last = text;
        for (uint32_t place = 0; place < LINKS_MOST; place++) {
            const char *row = row_of(text, order[place]);
            CHECK(place < SHOWN ? row != NULL && row > last : row == NULL, "the link at place %" PRIu32 ":\n%s", place,
                  text);
            last = row != NULL ? row : last;
        }
        CHECK_CONTAINS(text, "and 32 more in use");
    }
}

static void of_links_as_busy_the_one_with_the_longer_queue_comes_first(void **state)
{
    (void)state;
    static struct bench bench;
    bench_fill(&bench, 3);
    for (uint32_t i = 0; i < 3; i++) {
        bench.links[i].busy_ns = 500;
        bench.links[i].queue_most = i == 2 ? 10 : 5;
    }
    const char *text = text_of(&bench);
    CHECK(row_of(text, 2) < row_of(text, 0) && row_of(text, 0) < row_of(text, 1), "%s", text);
}

static void a_link_nothing_went_over_is_not_shown(void **state)
{
    (void)state;
    static struct bench bench;
    bench_fill(&bench, 3);
    bench.links[1].bytes = 0;
    const char *text = text_of(&bench);
    CHECK(row_of(text, 0) != NULL && row_of(text, 1) == NULL && row_of(text, 2) != NULL, "%s", text);
}

static void busy_is_a_share_of_the_whole_run(void **state)
{
    (void)state;
    static struct bench bench;
    bench_fill(&bench, 1);
    bench.links[0].busy_ns = 250;
    CHECK_CONTAINS(text_of(&bench), "25.0%");
    bench.fixture.result.end_ns = 0;
    CHECK_CONTAINS(text_of(&bench), "0.0%");
}

static void messages_are_compared_with_an_empty_network(void **state)
{
    (void)state;
    static struct bench bench;
    bench_fill(&bench, 1);
    CHECK(strstr(text_of(&bench), "Messages") == NULL, "none arrived");
    bench.fixture.result.network.flows = 7;
    bench.fixture.result.network.slowdown_permille = (struct net_spread){1000, 1500, 2500, 9990};
    CHECK_CONTAINS(text_of(&bench), "7 arrived");
    CHECK_CONTAINS(text_of(&bench), "against an empty network p50 1.00, p99 2.50, max 9.99 times\n");
}

static void the_document_has_every_link_and_null_where_the_network_has_none(void **state)
{
    (void)state;
    static struct bench bench;
    struct json_writer json;
    bench_fill(&bench, LINKS_MOST);
    bench.links[3].busy_ns = 125;
    for (int has = 1; has >= 0; has--) {
        bench.fixture.result.network.links = has == 1 ? bench.links : NULL;
        json_write_begin(&json, printed_begin());
        json_write_object(&json, false);
        report_network_json(&json, &bench.fixture.result);
        json_write_object_end(&json);
        json_write_end(&json);
        json_t *document = printed_json();
        if (has == 1) {
            CHECK_U64(json_array_size(printed_at(document, "network.links")), LINKS_MOST, "links");
            CHECK_NEAR(json_number_value(printed_at(document, "network.links.3.utilisation")), 0.125, 1e-9);
        } else {
            assert_true(json_is_null(printed_at(document, "network")));
        }
        json_decref(document);
    }
}

TEST_MAIN(the_busiest_links_are_shown_busiest_first, of_links_as_busy_the_one_with_the_longer_queue_comes_first,
          a_link_nothing_went_over_is_not_shown, busy_is_a_share_of_the_whole_run,
          messages_are_compared_with_an_empty_network, the_document_has_every_link_and_null_where_the_network_has_none)
