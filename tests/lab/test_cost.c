/* SPDX-License-Identifier: Apache-2.0 */
/* What machines cost: price lists as people write them, counting what is bought of a wiring, bills that add up to the
 * last digit, and the price of a step. */
#include "tests/check.h"
#include "tests/folder.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "lab/cost/cost.h"
#include "lab/store/store.h"

static struct mem mem;
static struct arena arena;
static struct notes notes;
static struct orr_error err;

static void begin(void)
{
    mem = (struct mem){0};
    arena_init(&arena, &mem);
    notes_init(&notes, &mem, false);
}

static void end(void)
{
    notes_free(&notes);
    arena_free(&arena);
    CHECK_U64(mem.used, 0, "all memory given back");
}

static const char *put_file(const char *name, const char *text)
{
    const char *path = folder_path(name);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, "%s is written", path);
    return path;
}

/* ---- price lists ---- */

static void amounts_of_money_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool good;
        uint64_t want;
    } amounts[] = {
        {"0.027", true, 27000},
        {"5.756", true, 5756000},
        {"25000", true, 25000000000},
        {"0", true, 0},
        {".5", true, 500000},
        {"1.", true, 1000000},
        {"0.0000001", false, 0},
        {"-1", false, 0},
        {"1e3", false, 0},
        {"", false, 0},
        {".", false, 0},
        {"1.2.3", false, 0},
        {"99999999999", true, 99999999999000000},
        {"99999999999999999999", false, 0},
    };
    for (size_t i = 0; i < COUNT_OF(amounts); i++) {
        uint64_t got = 0;
        CHECK(cost_money_parse(amounts[i].text, &got) == amounts[i].good, "\"%s\"", amounts[i].text);
        CHECK(!amounts[i].good || got == amounts[i].want, "\"%s\" is %" PRIu64, amounts[i].text, got);
    }
}

static void the_example_list_is_one(void **state)
{
    (void)state;
    struct cost_prices prices;
    begin();
    CHECK_OK(
        cost_prices_parse("example", cost_prices_example, strlen(cost_prices_example), &arena, &notes, &prices, &err),
        &err);
    CHECK_U64(notes.count, 0, "it has no key that is not known");
    CHECK(prices.item_count > 5 && prices.lifetime_years > 0, "%u items", prices.item_count);
    end();
}

static void a_mistake_in_a_list_is_told_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } lists[] = {
        {"[1]", "list:1: not a map; orrery cost parameter 'template' prints"},
        {"currency: USD\n", "list:1: \"items\" must be a list"},
        {"items: []\n", "\"items\" must be a list of 1 to"},
        {"items: [3]\n", "list:1: \"entry\" is 3; expected a map with name, each and price"},
        {"items:\n  - {name: a, each: gpu}\n", "list:2: an item without \"price\""},
        {"items:\n  - {name: a, each: gup, price: 1}\n", "list:2: \"each\" is \"gup\""},
        {"items:\n  - {name: a, each: gup, price: 1}\n", "did you mean \"gpu\"?"},
        {"items:\n  - {name: a, each: gpu, price: -1}\n", "list:2: \"price\" is -1; expected an amount"},
        {"items:\n  - {name: a, each: gpu, price: cheap}\n", "expected an amount"},
        {"items:\n  - {name: a, each: gpu, price: 1, for: 0}\n", "\"for\" is 0; expected a whole number from 1"},
        {"items:\n  - {name: a, each: gpu, price: 1, ports: 8}\n", "\"ports\" is for each: switch, leaf or spine"},
        {"items:\n  - {name: a, each: gpu, price: 1, rate: 8}\n", "\"rate\" is for each: link"},
        {"items:\n  - {name: a, each: link, price: 1, rate: 8Gpbs}\n", "expected a rate such as 400Gbps"},
        {"pue: 0.5\nitems:\n  - {name: a, each: gpu, price: 1}\n", "list:1: \"pue\" is 0.5; expected a number from 1"},
        {"gpus-per-server: 1.5\n", "expected a whole number from 1"},
        {"pue: 1\npue: 2\n", "list:2: a second \"pue\""},
    };
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        struct cost_prices prices;
        begin();
        enum orr_status status =
            cost_prices_parse("list", lists[i].text, strlen(lists[i].text), &arena, &notes, &prices, &err);
        CHECK(status != ORR_OK, "list %zu is refused", i);
        CHECK_CONTAINS(err.text, lists[i].says);
        end();
    }
}

static void an_unknown_key_is_a_warning_with_the_nearest(void **state)
{
    (void)state;
    static const char text[] = "curency: X\nitems:\n  - {name: a, each: gpu, price: 1, wats: 3}\n";
    struct cost_prices prices;
    begin();
    CHECK_OK(cost_prices_parse("list", text, strlen(text), &arena, &notes, &prices, &err), &err);
    CHECK_U64(notes.count, 2, "warnings");
    CHECK_CONTAINS(notes.lines[0], "list:1: unknown key \"curency\" is ignored; did you mean \"currency\"?");
    CHECK_CONTAINS(notes.lines[1], "list:3: unknown key \"wats\" is ignored; did you mean \"watts\"?");
    end();
}

/* ---- counting ---- */

static const struct {
    uint32_t nodes, hosts; /* the rest are switches */
    struct topo_link links[8];
    uint32_t link_count;
    uint64_t leaves, spines, own, cables;
} wirings[] = {
    /* Two GPUs on a switch. */
    {3, 2, {{0, 2, 100, 0, 0}, {1, 2, 100, 0, 0}}, 2, 1, 0, 0, 2},
    /* A leaf each for two pairs, and a spine. */
    {7,
     4,
     {{0, 4, 100, 0, 0}, {1, 4, 100, 0, 0}, {2, 5, 100, 0, 0}, {3, 5, 100, 0, 0}, {4, 6, 100, 0, 0}, {5, 6, 100, 0, 0}},
     6,
     2,
     1,
     0,
     6},
    /* A ring of three, a switch for each GPU. */
    {6,
     3,
     {{0, 3, 100, 0, 0}, {1, 4, 100, 0, 0}, {2, 5, 100, 0, 0}, {3, 4, 25, 0, 0}, {4, 5, 25, 0, 0}, {5, 3, 25, 0, 0}},
     6,
     0,
     0,
     3,
     3},
    /* Each link in both directions is one cable; twice the same way are two. */
    {3, 2, {{0, 2, 100, 0, 0}, {2, 0, 100, 0, 0}, {1, 2, 100, 0, 0}, {1, 2, 100, 0, 0}}, 4, 1, 0, 0, 3},
    /* Joined without a switch. */
    {2, 2, {{0, 1, 100, 0, 0}}, 1, 0, 0, 0, 1},
};

static void what_is_bought_of_a_wiring_is_counted(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(wirings); i++) {
        struct topo_graph graph;
        struct cost_count count;
        uint64_t leaves = 0;
        uint64_t spines = 0;
        uint64_t cables = 0;
        begin();
        CHECK_OK(topo_graph_init(&graph, wirings[i].nodes, wirings[i].link_count, &mem, &err), &err);
        for (uint32_t node = wirings[i].hosts; node < wirings[i].nodes; node++) {
            graph.kinds[node] = TOPO_NODE_SWITCH;
        }
        memcpy(graph.links, wirings[i].links, wirings[i].link_count * sizeof graph.links[0]);
        CHECK_OK(topo_graph_finish(&graph, &err), &err);
        CHECK_OK(cost_count_graph(&graph, &arena, &count, &err), &err);
        for (uint32_t b = 0; b < count.box_count; b++) {
            leaves += count.boxes[b].leaf ? count.boxes[b].count : 0;
            spines += count.boxes[b].leaf ? 0 : count.boxes[b].count;
        }
        for (uint32_t c = 0; c < count.cable_count; c++) {
            cables += count.cables[c].count;
        }
        CHECK_U64(count.gpus, wirings[i].hosts, "wiring %zu", i);
        CHECK_U64(leaves, wirings[i].leaves, "wiring %zu", i);
        CHECK_U64(spines, wirings[i].spines, "wiring %zu", i);
        CHECK_U64(count.own_switches, wirings[i].own, "wiring %zu", i);
        CHECK_U64(cables, wirings[i].cables, "wiring %zu", i);
        topo_graph_free(&graph);
        end();
    }
}

/* ---- bills ---- */

static void make_bill(const char *list, const struct cost_count *count, struct cost_bill *bill, enum orr_status want)
{
    struct cost_prices prices;
    CHECK_OK(cost_prices_parse("list", list, strlen(list), &arena, &notes, &prices, &err), &err);
    CHECK_STATUS(cost_bill_make(&prices, count, "machine", &arena, &notes, bill, &err), want);
}

static const struct cost_row *row_of(const struct cost_bill *bill, const char *name)
{
    for (uint32_t i = 0; i < bill->row_count; i++) {
        if (strcmp(bill->rows[i].name, name) == 0) {
            return &bill->rows[i];
        }
    }
    return NULL;
}

static void a_switch_is_bought_with_the_fewest_ports_that_are_enough(void **state)
{
    (void)state;
    static const char list[] = "items:\n"
                               "  - {name: large, each: switch, price: 9}\n"
                               "  - {name: sixty-four, each: switch, price: 3, ports: 64}\n"
                               "  - {name: thirty-two, each: switch, price: 1, ports: 32}\n"
                               "  - {name: spine, each: spine, price: 7, ports: 100}\n";
    struct cost_boxes boxes[] = {{true, 16, 1}, {true, 32, 2},    {true, 33, 4},
                                 {true, 65, 8}, {false, 100, 16}, {false, 101, 32}};
    const struct cost_count count = {.gpus = 1, .boxes = boxes, .box_count = COUNT_OF(boxes)};
    struct cost_bill bill;
    begin();
    make_bill(list, &count, &bill, ORR_OK);
    CHECK_U64(row_of(&bill, "thirty-two")->count, 3, "at most 32 ports");
    CHECK_U64(row_of(&bill, "sixty-four")->count, 4, "33 ports");
    CHECK_U64(row_of(&bill, "spine")->count, 16, "a level's own item goes first");
    CHECK_U64(row_of(&bill, "large")->count, 40, "what is left");
    CHECK_U64(bill.switches, 63, "all of them");
    end();
}

static void a_switch_that_no_item_is_for_is_an_error_or_a_warning(void **state)
{
    (void)state;
    struct cost_boxes boxes[] = {{true, 72, 3}};
    const struct cost_count count = {.gpus = 1, .boxes = boxes, .box_count = 1};
    struct cost_bill bill;
    begin();
    make_bill("items: [{name: a, each: switch, price: 1, ports: 64}]", &count, &bill, ORR_EINVAL);
    CHECK_CONTAINS(err.text, "no item of the price list is for a leaf with 72 ports");
    make_bill("items: [{name: a, each: gpu, price: 1}]", &count, &bill, ORR_OK);
    CHECK_U64(notes.count, 1, "warnings");
    CHECK_CONTAINS(notes.lines[0], "the price list has no switches, and 3 are left out");
    end();
}

static void a_cable_is_bought_by_its_rate_first(void **state)
{
    (void)state;
    static const char list[] = "items:\n"
                               "  - {name: any, each: link, price: 1}\n"
                               "  - {name: fast, each: link, price: 5, rate: 400Gbps}\n";
    struct cost_cables cables[] = {{25000000000, 7}, {400000000000, 3}};
    const struct cost_count count = {.gpus = 1, .cables = cables, .cable_count = 2};
    struct cost_bill bill;
    begin();
    make_bill(list, &count, &bill, ORR_OK);
    CHECK_U64(row_of(&bill, "any")->count, 7, "25 Gbps");
    CHECK_U64(row_of(&bill, "fast")->count, 3, "400 Gbps");
    CHECK_U64(bill.total, 22000000, "7 x 1 + 3 x 5");
    make_bill("items: [{name: a, each: gpu, price: 1}]", &count, &bill, ORR_OK);
    CHECK_U64(notes.count, 0, "who lists no cables has them");
    make_bill("items: [{name: fast, each: link, price: 5, rate: 400Gbps}]", &count, &bill, ORR_OK);
    CHECK_U64(notes.count, 1, "warnings");
    CHECK_CONTAINS(notes.lines[0], "the price list has cables, but none of 25Gbps, and 7 are left out");
    end();
}

static void a_price_for_many_is_shared_and_rounded_once(void **state)
{
    (void)state;
    const struct cost_count count = {.gpus = 10};
    struct cost_bill bill;
    begin();
    make_bill("items: [{name: a, each: gpu, price: 1, for: 3}]", &count, &bill, ORR_OK);
    CHECK_U64(bill.total, 3333333, "10 / 3");
    make_bill("items: [{name: a, each: gpu, price: 99999999999, for: 1}]",
              &(struct cost_count){.gpus = UINT64_C(1) << 40}, &bill, ORR_ERANGE);
    CHECK_CONTAINS(err.text, "is beyond");
    end();
}

static void an_hour_is_a_share_of_the_lifetime_and_power(void **state)
{
    (void)state;
    static const char list[] = "lifetime: 2\nutilisation: 0.5\nelectricity: 0.1\npue: 1.5\n"
                               "items: [{name: a, each: gpu, price: 8760, watts: 2000}]\n";
    const struct cost_count count = {.gpus = 4};
    struct cost_bill bill;
    begin();
    make_bill(list, &count, &bill, ORR_OK);
    CHECK(fabs(bill.hour_price - 4.0) < 1e-12, "4 x 8760 over 8760 hours of work");
    CHECK(fabs(bill.hour_power - 1.2) < 1e-12, "8 kW x 1.5 x 0.1");
    bill.step_ns = 1800000000000;
    CHECK(fabs(cost_of_step(&bill) - 2.6) < 1e-12, "half an hour");
    bill.step_ns = 0;
    CHECK(isnan(cost_of_step(&bill)), "no step, no price");
    end();
}

/* ---- the published example (spec rocm §2.5) ---- */

static const char published[] = "currency: NT$ M\n"
                                "gpus-per-server: 8\n"
                                "nics-per-server: 3\n"
                                "items:\n"
                                "  - {name: GPU, each: gpu, price: 0.023}\n"
                                "  - {name: server, each: server, price: 0.225}\n"
                                "  - {name: NIC, each: nic, price: 0.027}\n"
                                "  - {name: switch, each: switch, price: 5.756, for: 24}\n";

static const char *make_topology(const char *name, const char *what, const struct orr_topo_setting *settings,
                                 size_t count)
{
    struct orr_topo *topo = NULL;
    const struct orr_topo_write_options options = {.both_directions = true};
    const char *path = folder_path(name);
    CHECK_OK(orr_topo_make(what, settings, count, NULL, &topo, &err), &err);
    CHECK_OK(orr_topo_write(topo, path, &options, &err), &err);
    orr_topo_close(topo);
    return path;
}

static char *cost_of(const struct orr_cost_options *options, bool json)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    CHECK_OK(orr_cost(options, json, NULL, stream, &err), &err);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static void the_published_fat_tree_and_torus_cost_what_was_published(void **state)
{
    (void)state;
    static const struct orr_topo_setting tree[] = {{"hosts", "128"}, {"per-leaf", "8"}, {"spines", "8"}};
    static const struct orr_topo_setting torus[] = {{"dims", "4x4x8"}};
    char tree_path[128];
    char torus_path[128];
    (void)snprintf(tree_path, sizeof tree_path, "%s", make_topology("tree.topo", "fat-tree", tree, COUNT_OF(tree)));
    (void)snprintf(torus_path, sizeof torus_path, "%s", make_topology("torus.topo", "torus", torus, COUNT_OF(torus)));
    const struct orr_cost_machine machines[] = {{.what = tree_path, .run = ORR_COST_NO_RUN, .step_ns = 1886210767},
                                                {.what = torus_path, .run = ORR_COST_NO_RUN, .step_ns = 3051005526}};
    const struct orr_cost_options options = {
        .prices = put_file("published.yml", published), .machines = machines, .machine_count = 2};
    static const char *const text_has[] = {"128 GPUs, 16 servers, 48 NICs, 24 switches, 256 cables",
                                           "0.023   2.944  21.7%",
                                           "0.225   3.600  26.5%",
                                           "0.027   1.296   9.5%",
                                           "5.756 for 24   5.756  42.3%",
                                           "NT$ M  13.596",
                                           "NT$ M  7.840",
                                           "57.7%",
                                           "161.8%"};
    static const char *const json_has[] = {"\"total\": 13.596000", "\"total\": 7.840000", "\"own_switches\": 128",
                                           "\"step_cost\": null"};
    char *text = cost_of(&options, false);
    for (size_t i = 0; i < COUNT_OF(text_has); i++) {
        CHECK_CONTAINS(text, text_has[i]);
    }
    free(text);
    text = cost_of(&options, true);
    for (size_t i = 0; i < COUNT_OF(json_has); i++) {
        CHECK_CONTAINS(text, json_has[i]);
    }
    free(text);
}

static void a_machine_by_hand_costs_the_same_as_its_topology(void **state)
{
    (void)state;
    const struct orr_cost_machine machine = {.counts = {.gpus = 128, .servers = 16, .nics = 48, .switches = 24},
                                             .run = ORR_COST_NO_RUN};
    const struct orr_cost_options options = {
        .prices = put_file("published.yml", published), .machines = &machine, .machine_count = 1};
    char *text = cost_of(&options, false);
    CHECK_CONTAINS(text, "NT$ M  13.596");
    free(text);
}

static void a_machine_is_found_by_its_name_in_the_lab(void **state)
{
    (void)state;
    static const struct {
        const char *what, *has;
    } names[] = {
        {"128gpu_torus3d_16", "128gpu_torus3d_16: 128 GPUs, 16 servers, 48 NICs, 384 cables"},
        {"128gpu_fattree_16", "NT$ M  13.596"},
        {"dims:4x4x8", "NT$ M  7.840"},
        {"8gpu_ring2d_4", "8 GPUs, 4 servers, 12 NICs, 12 cables"}, /* 4 groups of 2 */
        {"16gpu_auto1d_16", "16 GPUs, 2 servers"},                  /* one ring has no groups */
        {"tpu-v4", "tpu-v4: 64 GPUs"},
        {"tpu-v4:4x4x8", "tpu-v4:4x4x8: 128 GPUs"},
        {"ring:16", "ring:16: 16 GPUs"},
    };
    static const struct {
        const char *what, *says;
    } wrong[] = {
        {"128gpu_torus3d_15", "15 groups do not divide 128 ranks of torus3d; 8 or 16 would"},
        {"128gpu_toris3d_16", "did you mean \"torus3d\"?"},
        {"dims:99999x99999x9", "more than 2147483647 GPUs"},
        {"1gpu_ring", "one GPU is no network"},
        {"dgx-h101", "did you mean \"dgx-h100\"?"},
        {"auto:2d", "auto:2d leaves open how many GPUs it has; 64gpu_auto2d says it"},
    };
    struct orr_cost_machine machine = {.run = ORR_COST_NO_RUN};
    const struct orr_cost_options options = {
        .prices = put_file("published.yml", published), .machines = &machine, .machine_count = 1};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        machine.what = names[i].what;
        char *text = cost_of(&options, false);
        CHECK_CONTAINS(text, names[i].has);
        free(text);
    }
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        machine.what = wrong[i].what;
        CHECK(orr_cost(&options, false, NULL, stderr, &err) != ORR_OK, "%s", wrong[i].what);
        CHECK_CONTAINS(err.text, wrong[i].says);
        CHECK(strstr(err.text, "parameter 'topology'") == NULL, "cost has no such option: %s", err.text);
    }
}

static void a_gpu_of_a_machine_has_its_share_of_the_hour(void **state)
{
    (void)state;
    const struct orr_cost_machine machine = {.what = "dgx-h100:2", .run = ORR_COST_NO_RUN};
    struct orr_cost_options options = {
        .prices = put_file("hour.yml", "currency: USD\nlifetime: 1\nitems:\n- {name: GPU, each: gpu, price: 8760}\n"
                                       "- {name: server, each: server, price: 70080}\n"),
        .machines = &machine,
        .machine_count = 1};
    char currency[ORR_COST_CURRENCY];
    double price = 0;
    CHECK_OK(orr_cost_gpu_hour(&options, NULL, &price, currency, &err), &err);
    CHECK_NEAR(price, 2, 1e-9); /* itself, and an eighth of a server that costs as much as eight */
    CHECK_TEXT(currency, "USD");
    options.prices = put_file("hour.yml", "currency: USD\nitems:\n- {name: GPU, each: gpu, price: 8760}\n");
    CHECK_STATUS(orr_cost_gpu_hour(&options, NULL, &price, currency, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "the list has no 'lifetime'");
}

static void a_step_on_what_costs_nothing_has_no_steps_for_a_unit(void **state)
{
    (void)state;
    const struct orr_cost_machine machine = {.counts = {.gpus = 8}, .run = ORR_COST_NO_RUN, .step_ns = 5000000};
    const struct orr_cost_options options = {
        .prices = put_file("free.yml", "lifetime: 3\nitems: [{name: a, each: gpu, price: 0}]\n"),
        .machines = &machine,
        .machine_count = 1};
    char *text = cost_of(&options, false);
    CHECK_CONTAINS(text, "a step of 5.000000 ms: 0 units\n");
    CHECK(strstr(text, "inf") == NULL, "%s", text);
    free(text);
}

/* ---- runs ---- */

static int64_t enter_run(struct lab_store *store, enum lab_run_state state, uint64_t steps)
{
    char cwd[512];
    struct lab_input inputs[] = {{"topology", folder_path("tree.topo"), "00112233445566778899aabbccddeeff", 95}};
    CHECK(getcwd(cwd, sizeof cwd) != NULL, "there is a working folder");
    const struct lab_manifest manifest = {.kind = "lab",
                                          .folder = cwd,
                                          .backend = "flow",
                                          .topology = "the tree",
                                          .fingerprint = "x",
                                          .world = 128,
                                          .inputs = inputs,
                                          .input_count = 1};
    const struct lab_results results = {.state = state, .total_ns = 2000000001, .steps = steps};
    int64_t run = 0;
    CHECK_OK(lab_store_begin(store, &manifest, &run, &err), &err);
    CHECK_OK(lab_store_finish(store, run, &results, &err), &err);
    return run;
}

static void a_run_gives_its_machine_and_its_step(void **state)
{
    (void)state;
    static const struct orr_topo_setting tree[] = {{"hosts", "128"}, {"per-leaf", "8"}, {"spines", "8"}};
    struct lab_store *store = NULL;
    char path[128];
    (void)make_topology("tree.topo", "fat-tree", tree, COUNT_OF(tree));
    (void)snprintf(path, sizeof path, "%s", folder_path("runs.db"));
    CHECK_OK(lab_store_open(path, IO_DATABASE_WRITE, &store, &err), &err);
    int64_t two_steps = enter_run(store, LAB_RUN_DONE, 2);
    int64_t stalled = enter_run(store, LAB_RUN_STALLED, 2);
    lab_store_close(store);
    struct orr_cost_machine machine = {.run = two_steps};
    const struct orr_cost_options options = {
        .prices = put_file("published.yml", published), .store = path, .machines = &machine, .machine_count = 1};
    char *text = cost_of(&options, true);
    CHECK_CONTAINS(text, "\"machine\": \"the tree\"");
    CHECK_CONTAINS(text, "\"total\": 13.596000");
    CHECK_CONTAINS(text, "\"step_ns\": 1000000001"); /* rounded */
    free(text);
    machine.run = stalled;
    CHECK_STATUS(orr_cost(&options, true, NULL, stderr, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "is stalled; only one that is done");
}

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK_MAP(
        amounts_of_money_are_exact, the_example_list_is_one, a_mistake_in_a_list_is_told_with_its_line,
        an_unknown_key_is_a_warning_with_the_nearest, what_is_bought_of_a_wiring_is_counted,
        a_switch_is_bought_with_the_fewest_ports_that_are_enough, a_switch_that_no_item_is_for_is_an_error_or_a_warning,
        a_cable_is_bought_by_its_rate_first, a_price_for_many_is_shared_and_rounded_once,
        an_hour_is_a_share_of_the_lifetime_and_power, the_published_fat_tree_and_torus_cost_what_was_published,
        a_machine_by_hand_costs_the_same_as_its_topology, a_machine_is_found_by_its_name_in_the_lab,
        a_gpu_of_a_machine_has_its_share_of_the_hour, a_step_on_what_costs_nothing_has_no_steps_for_a_unit,
        a_run_gives_its_machine_and_its_step)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
