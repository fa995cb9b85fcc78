/* SPDX-License-Identifier: Apache-2.0 */
/* The machine of a run drawn for a page: nothing is lost by folding, and lines are as busy as the links behind them. */
#include "report/json.h"
#include "report/machine.h"
#include "tests/prng.h"
#include "tests/report/fixture.h"
#include "topo/graph.h"

#include <jansson.h>

/* NULL where nothing was written. */
static json_t *drawn(const struct sim_result *result)
{
    struct orr_error err = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    CHECK_OK(report_machine_write(result, stream, &err), &err);
    (void)fclose(stream);
    json_t *root = size == 0 ? NULL : json_loads(text, 0, NULL);
    CHECK(size == 0 || root != NULL, "a document:\n%s", text);
    free(text);
    return root;
}

/* The same of the run's document alone, as it is kept in a file. */
static json_t *drawn_from_document(const struct sim_result *result)
{
    struct orr_error err = {0};
    struct mem mem = {0};
    char *kept = NULL, *text = NULL;
    size_t kept_size = 0, size = 0;
    FILE *stream = open_memstream(&kept, &kept_size);
    report_json_write(result, stream);
    (void)fclose(stream);
    stream = open_memstream(&text, &size);
    CHECK_OK(report_machine_kept(kept, kept_size, &mem, stream, &err), &err);
    (void)fclose(stream);
    json_t *root = size == 0 ? NULL : json_loads(text, 0, NULL);
    free(kept);
    free(text);
    return root;
}

static void check_drawn_alike(const struct sim_result *result)
{
    static const char *const shares[] = {"busy_mean", "busy_most"};
    json_t *made = drawn(result), *kept = drawn_from_document(result);
    CHECK(made != NULL && kept != NULL, "both are drawn");
    const json_t *same = json_object_get(kept, "lines");
    size_t i;
    json_t *line;
    json_array_foreach(json_object_get(made, "lines"), i, line)
    {
        for (size_t k = 0; k < COUNT_OF(shares); k++) { /* documents have them to the millionth */
            const json_t *share = json_object_get(json_array_get(same, i), shares[k]);
            double difference = json_number_value(json_object_get(line, shares[k])) - json_number_value(share);
            CHECK(difference > -2e-6 && difference < 2e-6, "line %zu", i);
            (void)json_object_del(line, shares[k]);
            (void)json_object_del(json_array_get(same, i), shares[k]);
        }
        if (json_is_true(json_object_get(made, "wired"))) { /* nor do they tell the delays of wires */
            (void)json_object_del(line, "delay_ns");
        }
    }
    CHECK(json_equal(made, kept), "the document draws what the run does");
    json_decref(made);
    json_decref(kept);
}

static uint64_t number_of(const json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

static double share_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* Every node is in one box, and every line joins two of them. */
static void check_whole(const json_t *root)
{
    const json_t *boxes = json_object_get(root, "boxes");
    uint64_t nodes = number_of(root, "gpus") + number_of(root, "switches") + number_of(root, "nvswitches");
    uint64_t counted = 0;
    uint64_t links = 0;
    size_t i;
    json_t *one;
    json_array_foreach(boxes, i, one)
    {
        counted += (uint64_t)json_integer_value(json_array_get(one, 1));
    }
    CHECK_U64(counted, nodes, "nodes in boxes");
    json_array_foreach(json_object_get(root, "lines"), i, one)
    {
        CHECK(number_of(one, "a") < json_array_size(boxes) && number_of(one, "b") < json_array_size(boxes) &&
                  number_of(one, "a") != number_of(one, "b"),
              "line %zu joins two boxes", i);
        links += number_of(one, "links");
    }
    CHECK(links <= number_of(root, "links"), "%llu links in lines", (unsigned long long)links);
}

static void a_ring_is_as_busy_as_its_dimension(void **state)
{
    (void)state;
    static struct fixture f;
    fixture_make(&f);
    f.result.end_ns = 1000;
    f.result.dims[0] = (struct sim_dim_result){.bytes = 1600, .busy_ns = 4000, .links = 16};
    json_t *root = drawn(&f.result);
    const json_t *lines = json_object_get(root, "lines");
    check_whole(root);
    CHECK(!json_is_true(json_object_get(root, "wired")), "dimensions are no wires");
    CHECK_U64(json_array_size(lines), FIXTURE_RANKS, "lines of a ring");
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *line = json_array_get(lines, i);
        CHECK(share_of(line, "busy_mean") == 0.25 && share_of(line, "busy_most") == 0.25, "line %zu", i);
        CHECK_U64(number_of(line, "bytes"), 200, "both directions");
    }
    json_decref(root);
}

static void every_node_of_any_machine_is_in_one_box(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {2, 3, 4, 8, 16};
    struct prng prng = {.state = 17};
    for (int round = 0; round < 60; round++) {
        static struct fixture f;
        fixture_make(&f);
        struct topo_dims *dims = &f.config.dims;
        dims->count = 1 + (uint32_t)(prng_next(&prng) % 3);
        uint64_t links = 0;
        for (uint32_t i = 0; i < dims->count; i++) {
            dims->dim[i] = (struct topo_dim){.kind = (enum topo_kind)(prng_next(&prng) % 3),
                                             .size = sizes[prng_next(&prng) % COUNT_OF(sizes)],
                                             .bandwidth_gibps = 50,
                                             .latency_ns = 500};
        }
        CHECK(topo_dims_finish(dims), "dimensions");
        for (uint32_t i = 0; i < dims->count; i++) {
            uint32_t n = dims->dim[i].size;
            uint32_t each = dims->dim[i].kind == TOPO_SWITCH            ? n
                            : dims->dim[i].kind == TOPO_FULLY_CONNECTED ? n * (n - 1) / 2
                            : n == 2                                    ? 1
                                                                        : n;
            links += (uint64_t)dims->ranks / n * each;
        }
        json_t *root = drawn(&f.result);
        check_whole(root);
        CHECK_U64(number_of(root, "gpus"), dims->ranks, "GPUs");
        CHECK_U64(number_of(root, "links"), links, "links");
        json_decref(root);
        check_drawn_alike(&f.result);
    }
}

static void a_line_tells_the_busiest_of_its_links(void **state)
{
    (void)state;
    enum { HOSTS = 4 };
    static struct fixture f;
    struct topo_graph graph = {0};
    struct mem mem = {0};
    struct orr_error err = {0};
    struct net_link links[2 * HOSTS];
    CHECK_OK(topo_graph_init(&graph, HOSTS + 1, HOSTS, &mem, &err), &err);
    graph.kinds[HOSTS] = TOPO_NODE_SWITCH;
    for (uint32_t i = 0; i < HOSTS; i++) {
        graph.links[i] = (struct topo_link){.a = i, .b = HOSTS, .rate_bps = 100000000000, .delay_ns = 1000};
        links[2 * i] =
            (struct net_link){.from = i, .to = HOSTS, .rate_bps = 100000000000, .bytes = 10, .busy_ns = 100 * i};
        links[2 * i + 1] =
            (struct net_link){.from = HOSTS, .to = i, .rate_bps = 100000000000, .bytes = 5, .busy_ns = 300};
    }
    CHECK_OK(topo_graph_finish(&graph, &err), &err);
    fixture_make(&f);
    f.result.end_ns = 1000;
    f.result.network = (struct net_figures){.links = links, .link_count = 2 * HOSTS, .graph = &graph};
    json_t *root = drawn(&f.result);
    const json_t *lines = json_object_get(root, "lines");
    check_whole(root);
    CHECK(json_is_true(json_object_get(root, "wired")), "wires are drawn");
    CHECK_U64(json_array_size(lines), HOSTS, "lines");
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *line = json_array_get(lines, i);
        CHECK_U64(number_of(line, "bytes"), 15, "line %zu", i);
        CHECK(share_of(line, "busy_most") == 0.3, "line %zu", i);
        CHECK_U64(number_of(line, "from"), i == 3 ? 3 : HOSTS, "the first of the busiest of line %zu", i);
    }
    CHECK(share_of(json_array_get(lines, 1), "busy_mean") == 0.2, "mean of both directions");
    json_decref(root);
    f.config.dims.ranks = f.result.rank_count;
    check_drawn_alike(&f.result);
    topo_graph_free(&graph);
}

static void one_rank_has_nothing_to_draw(void **state)
{
    (void)state;
    static struct fixture f;
    fixture_make(&f);
    f.config.dims = (struct topo_dims){.ranks = 1};
    CHECK(drawn(&f.result) == NULL, "nothing is written");
}

/* Whoever writes such a document by hand gets a page without a drawing. */
static void what_is_not_whole_is_not_drawn(void **state)
{
    (void)state;
    static const char *const documents[] = {
        "{}",
        "[]",
        "{\"ranks\": 4, \"dimensions\": 3}",
        "{\"ranks\": 4, \"dimensions\": [{\"kind\": \"Ring\", \"size\": 1}]}",
        "{\"ranks\": 4, \"dimensions\": [{\"kind\": \"Round\", \"size\": 4}]}",
        "{\"ranks\": 4, \"dimensions\": [{\"kind\": \"Ring\", \"size\": 99999999999}]}",
        "{\"ranks\": 4, \"network\": {\"links\": [{\"from\": 0, \"to\": 1}]}}",
        "{\"ranks\": 4, \"network\": {\"links\": [{\"from\": 0, \"to\": 4000000000}, {\"from\": 9, \"to\": 2}]}}",
        "{\"ranks\": 4, \"network\": {\"links\": [1, 2]}}",
    };
    for (size_t i = 0; i < COUNT_OF(documents); i++) {
        struct orr_error err = {0};
        struct mem mem = {0};
        char *text = NULL;
        size_t size = 0;
        FILE *stream = open_memstream(&text, &size);
        CHECK_OK(report_machine_kept(documents[i], strlen(documents[i]), &mem, stream, &err), &err);
        (void)fclose(stream);
        CHECK(size == 0, "%s", documents[i]);
        free(text);
    }
}

TEST_MAIN(what_is_not_whole_is_not_drawn, a_ring_is_as_busy_as_its_dimension, every_node_of_any_machine_is_in_one_box,
          a_line_tells_the_busiest_of_its_links, one_rank_has_nothing_to_draw)
