/* SPDX-License-Identifier: Apache-2.0 */
/* The machine of a run drawn for a page: nothing is lost by folding, and lines are as busy as the links behind them. */
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
        links[2 * i] = (struct net_link){.from = i, .to = HOSTS, .bytes = 10, .busy_ns = 100 * i};
        links[2 * i + 1] = (struct net_link){.from = HOSTS, .to = i, .bytes = 5, .busy_ns = 300};
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

TEST_MAIN(a_ring_is_as_busy_as_its_dimension, every_node_of_any_machine_is_in_one_box,
          a_line_tells_the_busiest_of_its_links, one_rank_has_nothing_to_draw)
