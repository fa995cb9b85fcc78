/* SPDX-License-Identifier: Apache-2.0 */
/* Times of collectives: names, the choice of the library, what is measured, carried over and modelled. */
#include <math.h>
#include <string.h>

#include "coll/timing/fit.h"
#include "compute/device.h"
#include "tests/check.h"

static struct timing_machine machine_of(const char *gpu, const char *fabric, const char *nccl)
{
    struct timing_machine machine = {.gpu = timing_gpu_find(gpu)};
    assert_non_null(machine.gpu);
    assert_true(timing_version_parse(nccl, &machine.version));
    machine.fabric = timing_fabric_find(fabric, 8, machine.gpu);
    timing_machine_settle(&machine);
    return machine;
}

static struct orr_coll_answer ask(const struct timing_machine *machine, enum orr_coll_op op, uint32_t nodes,
                                  uint32_t gpus, uint64_t bytes)
{
    struct orr_coll_question question = {.op = op, .bytes = bytes, .nodes = nodes, .gpus = gpus};
    struct orr_coll_answer answer;
    struct orr_error err;
    assert_int_equal(timing_estimate(machine, &question, &answer, &err), ORR_OK);
    return answer;
}

static void a_gpu_is_found_by_the_names_logs_and_tables_give_it(void **state)
{
    (void)state;
    static const struct {
        const char *word, *name;
    } cases[] = {{"h100", "h100"},
                 {"NVIDIA H100 80GB HBM3", "h100"},
                 {"h200_sxm", "h200"},
                 {"NVIDIA A100-SXM4-40GB", "a100"},
                 {"NVIDIA B300 SXM6 AC", "b300"},
                 {"gb300", "gb300"},
                 {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000"},
                 {"AMD Instinct MI300X", "mi300x"},
                 {"MI355X", "mi355x"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct timing_gpu *gpu = timing_gpu_find(cases[i].word);
        assert_non_null(gpu);
        assert_string_equal(gpu->name, cases[i].name);
    }
    assert_null(timing_gpu_find("h1000"));
    assert_null(timing_gpu_find(""));
}

static void a_release_is_three_numbers(void **state)
{
    (void)state;
    uint32_t version = 0;
    assert_true(timing_version_parse("2.29.2", &version));
    assert_int_equal(version, 22902);
    assert_true(timing_version_parse("v2.28.9-1", &version));
    assert_int_equal(version, 22809);
    assert_true(timing_version_parse("", &version));
    assert_int_equal(version, 0);
    assert_false(timing_version_parse("new", &version));
    assert_false(timing_version_parse("2.29x", &version));
}

static void a_measured_size_has_the_measured_time(void **state)
{
    (void)state;
    struct timing_machine machine = machine_of("h100", "", "2.29.2");
    struct orr_coll_answer answer = ask(&machine, ORR_COLL_OP_ALL_REDUCE, 1, 8, 512 << 20);
    assert_int_equal(answer.method, ORR_COLL_METHOD_MEASURED);
    assert_true(fabs(answer.us / 2111 - 1) < 1e-3);
    assert_true(fabs(answer.busbw_gbytes / (536.870912 / 2.111 * 1.75) - 1) < 1e-3);
    assert_string_equal(answer.nearest[0].source, "aiconfigurator");
}

static void a_gpu_without_measurements_has_its_relatives_time(void **state)
{
    (void)state;
    struct timing_machine h100 = machine_of("h100", "", "2.29.2");
    struct timing_machine h200 = machine_of("h200", "", "2.29.2");
    struct timing_machine h800 = machine_of("h800", "", "2.29.2");
    double us = ask(&h100, ORR_COLL_OP_ALL_GATHER, 1, 8, 256 << 20).us;
    struct orr_coll_answer relative = ask(&h200, ORR_COLL_OP_ALL_GATHER, 1, 8, 256 << 20);
    assert_true(relative.us == us);
    assert_int_equal(relative.method, ORR_COLL_METHOD_RELATIVE);
    /* Less than half of the NVLinks. */
    assert_true(ask(&h800, ORR_COLL_OP_ALL_GATHER, 1, 8, 256 << 20).us > 1.8 * us);
}

static void more_bytes_never_take_less_time(void **state)
{
    (void)state;
    static const uint32_t shapes[][2] = {{1, 2}, {1, 3}, {1, 8}, {2, 8}, {16, 8}, {4, 1}, {540, 4}};
    for (size_t g = 0; timing_gpu_at(g) != NULL; g++) {
        struct timing_machine machine = machine_of(timing_gpu_at(g)->name, "ib", "");
        for (unsigned op = 0; op < ORR_COLL_OP_COUNT; op++) {
            for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
                double before = 0;
                for (uint64_t half = 16; half <= (uint64_t)1 << 29; half++) { /* 8, 12, 16, 24 bytes and so on */
                    double us = ask(&machine, (enum orr_coll_op)op, shapes[s][0], shapes[s][1], half / 2).us;
                    assert_true(us > 0 && isfinite(us));
                    CHECK(us >= before * (1 - 1e-12), "%s %u, %u x %u, %" PRIu64 " bytes: %g us after %g",
                          machine.gpu->name, op, shapes[s][0], shapes[s][1], half / 2, us, before);
                    before = us;
                    half = (half & (half - 1)) == 0 ? half * 3 / 2 - 1 : half / 3 * 4 - 1;
                }
            }
        }
    }
}

/* Polaris: 45 us from 8 to 64 KiB, sixteen channels of 4 KiB, and twice as much of each channel above. */
static void a_tree_with_ll_opens_channels_before_it_takes_longer(void **state)
{
    (void)state;
    struct timing_machine machine = machine_of("a100", "ib", "2.27.3");
    double first = ask(&machine, ORR_COLL_OP_ALL_REDUCE, 2, 8, 512).us;
    double one = ask(&machine, ORR_COLL_OP_ALL_REDUCE, 2, 8, 4 << 10).us;
    double all = ask(&machine, ORR_COLL_OP_ALL_REDUCE, 2, 8, 64 << 10).us;
    assert_true(one > first * 1.1);
    assert_true(fabs(all / one - 1) < 0.01);
    assert_true(ask(&machine, ORR_COLL_OP_ALL_REDUCE, 2, 8, 128 << 10).us > all * 1.1);
}

static void gpus_that_share_a_hosts_bridges_each_have_less_of_them(void **state)
{
    (void)state;
    struct timing_machine machine = machine_of("l40s", "", "");
    struct timing_curves none = {.curves = machine.shipped.curves};
    machine.shipped = none;
    double two = ask(&machine, ORR_COLL_OP_ALL_GATHER, 1, 2, 64 << 20).busbw_gbytes;
    double four = ask(&machine, ORR_COLL_OP_ALL_GATHER, 1, 4, 64 << 20).busbw_gbytes;
    double eight = ask(&machine, ORR_COLL_OP_ALL_GATHER, 1, 8, 64 << 20).busbw_gbytes;
    assert_true(fabs(two / 19.2 - 1) < 0.1); /* as measured */
    assert_true(fabs(four / 4.8 - 1) < 0.15);
    assert_true(fabs(eight / 1.3 - 1) < 0.25);
}

/* A pair of nodes sends a tree's buffer once each way, and each GPU of a chain passes it on but its ends. */
static void large_trees_of_two_nodes_reach_the_rate_of_their_nics(void **state)
{
    (void)state;
    struct timing_machine machine = machine_of("a100", "roce", "");
    struct orr_coll_answer answer = ask(&machine, ORR_COLL_OP_ALL_REDUCE, 2, 2, (uint64_t)1 << 33);
    assert_true(fabs(answer.algbw_gbytes / 100 - 1) < 0.05); /* two GPUs, two NICs of 25 GB/s beside each */
}

static void more_ranks_never_take_less_than_the_fewer_that_were_measured(void **state)
{
    (void)state;
    static const char *const gpus[] = {"gb200", "gb300", "gh200", "mi355x", "h100"};
    for (size_t g = 0; g < sizeof gpus / sizeof gpus[0]; g++) {
        struct timing_machine machine = machine_of(gpus[g], "aws", "2.28.9");
        for (uint64_t bytes = 8; bytes <= (uint64_t)1 << 32; bytes *= 4) {
            double before = 0;
            for (uint32_t nodes = 2; nodes <= 16; nodes *= 2) {
                double us = ask(&machine, ORR_COLL_OP_ALL_REDUCE, nodes, 8, bytes).us;
                CHECK(us >= before * (1 - 1e-12), "%s, %u x 8, %" PRIu64 " bytes: %g us after %g", gpus[g], nodes,
                      bytes, us, before);
                before = us;
            }
        }
    }
}

static void the_tuner_takes_trees_for_little_and_rings_or_the_switch_for_much(void **state)
{
    (void)state;
    struct timing_machine h100 = machine_of("h100", "ib", "2.29.2");
    struct timing_machine a100 = machine_of("a100", "ib", "2.27.3");
    struct orr_coll_answer little = ask(&h100, ORR_COLL_OP_ALL_REDUCE, 2, 8, 8);
    assert_int_equal(little.algo, ORR_COLL_ALGO_TREE);
    assert_int_equal(little.proto, ORR_COLL_PROTO_LL);
    struct orr_coll_answer much = ask(&h100, ORR_COLL_OP_ALL_REDUCE, 2, 8, (uint64_t)1 << 30);
    assert_int_equal(much.algo, ORR_COLL_ALGO_NVLS_TREE);
    assert_int_equal(much.proto, ORR_COLL_PROTO_SIMPLE);
    struct orr_coll_answer ring = ask(&a100, ORR_COLL_OP_ALL_GATHER, 2, 8, (uint64_t)1 << 30);
    assert_int_equal(ring.algo, ORR_COLL_ALGO_RING);
    assert_int_equal(ring.proto, ORR_COLL_PROTO_SIMPLE);
    assert_int_equal(ask(&a100, ORR_COLL_OP_ALL_TO_ALL, 2, 8, 1 << 20).algo, ORR_COLL_ALGO_P2P);
}

static void a_way_that_is_named_is_never_quicker_than_the_best(void **state)
{
    (void)state;
    struct timing_machine machine = machine_of("h100", "ib", "2.29.2");
    for (uint64_t bytes = 64; bytes <= (uint64_t)1 << 30; bytes *= 8) {
        struct orr_coll_question question = {.op = ORR_COLL_OP_ALL_REDUCE, .bytes = bytes, .nodes = 2, .gpus = 8};
        struct orr_coll_answer best;
        struct orr_coll_answer forced;
        struct orr_error err;
        assert_int_equal(timing_estimate(&machine, &question, &best, &err), ORR_OK);
        question.algo = ORR_COLL_ALGO_RING;
        question.proto = ORR_COLL_PROTO_SIMPLE;
        assert_int_equal(timing_estimate(&machine, &question, &forced, &err), ORR_OK);
        assert_int_equal(forced.algo, ORR_COLL_ALGO_RING);
        assert_int_equal(forced.proto, ORR_COLL_PROTO_SIMPLE);
        assert_true(forced.us >= best.us);
    }
}

static void a_way_that_the_machine_does_not_have_is_refused(void **state)
{
    (void)state;
    struct timing_machine machine = machine_of("a100", "ib", "");
    struct orr_coll_question question = {
        .op = ORR_COLL_OP_ALL_REDUCE, .bytes = 1 << 20, .nodes = 1, .gpus = 8, .algo = ORR_COLL_ALGO_NVLS};
    struct orr_coll_answer answer;
    struct orr_error err;
    assert_int_equal(timing_estimate(&machine, &question, &answer, &err), ORR_EINVAL);
    assert_non_null(strstr(err.text, "nvls"));
    question.algo = ORR_COLL_ALGO_AUTO;
    question.nodes = 0;
    assert_int_equal(timing_estimate(&machine, &question, &answer, &err), ORR_ERANGE);
}

/* Each node sends its buffer up once, however many there are, where a ring sends it nearly twice. */
static void switches_that_reduce_take_no_longer_for_more_nodes(void **state)
{
    (void)state;
    struct timing_machine machine = machine_of("a100", "ib", "");
    struct orr_coll_question question = {.op = ORR_COLL_OP_ALL_REDUCE,
                                         .bytes = (uint64_t)1 << 30,
                                         .nodes = 4,
                                         .gpus = 8,
                                         .algo = ORR_COLL_ALGO_COLLNET_DIRECT};
    struct orr_coll_answer few;
    struct orr_coll_answer many;
    assert_int_equal(timing_estimate(&machine, &question, &few, NULL), ORR_OK);
    question.nodes = 64;
    assert_int_equal(timing_estimate(&machine, &question, &many, NULL), ORR_OK);
    assert_int_equal(many.algo, ORR_COLL_ALGO_COLLNET_DIRECT);
    assert_true(many.us == few.us);
    assert_true(ask(&machine, ORR_COLL_OP_ALL_REDUCE, 64, 8, (uint64_t)1 << 30).us > 1.1 * many.us);
    assert_int_not_equal(ask(&machine, ORR_COLL_OP_ALL_REDUCE, 64, 8, 1 << 20).algo, ORR_COLL_ALGO_COLLNET_DIRECT);
    question.nodes = 1;
    assert_int_equal(timing_estimate(&machine, &question, &few, &(struct orr_error){0}), ORR_EINVAL);
}

static void groups_that_share_nics_take_longer(void **state)
{
    (void)state;
    struct timing_machine machine = machine_of("h100", "ib", "");
    struct orr_coll_question question = {
        .op = ORR_COLL_OP_ALL_GATHER, .bytes = (uint64_t)1 << 30, .nodes = 4, .gpus = 8, .groups = 1};
    struct orr_coll_answer alone;
    struct orr_coll_answer shared;
    struct orr_error err;
    assert_int_equal(timing_estimate(&machine, &question, &alone, &err), ORR_OK);
    question.groups = 2;
    assert_int_equal(timing_estimate(&machine, &question, &shared, &err), ORR_OK);
    assert_true(shared.us > 1.5 * alone.us);
}

static void a_rack_of_one_nvlink_domain_has_no_network_between_its_nodes(void **state)
{
    (void)state;
    struct timing_machine machine = machine_of("gb200", "ib", "2.29.2");
    double rack = ask(&machine, ORR_COLL_OP_ALL_REDUCE, 2, 4, 256 << 20).us;
    double node = ask(&machine, ORR_COLL_OP_ALL_REDUCE, 1, 8, 256 << 20).us;
    assert_true(rack == node);
}

static void own_measurements_go_before_the_shipped_ones(void **state)
{
    (void)state;
    static const float values[] = {100, 100, 200};
    static const struct timing_curve curve = {"mine", "", 0, 1, 8, ORR_COLL_OP_ALL_REDUCE, 22, 3, 0, 0, 0};
    struct timing_machine machine = machine_of("h100", "", "2.29.2");
    machine.own = (struct timing_curves){.curves = &curve, .count = 1, .values = values};
    assert_true(fabs(ask(&machine, ORR_COLL_OP_ALL_REDUCE, 1, 8, 16 << 20).us - 200) < 1e-3);
    assert_string_equal(ask(&machine, ORR_COLL_OP_ALL_REDUCE, 1, 8, 16 << 20).nearest[0].source, "mine");
    /* Beyond the last size at the rate of the last two. */
    assert_true(fabs(ask(&machine, ORR_COLL_OP_ALL_REDUCE, 1, 8, 32 << 20).us - 400) < 1e-3);
}

/* A log of small sizes alone says nothing of the rate of large ones, nor one of large ones of the start. */
static void a_short_curve_is_carried_on_by_the_model(void **state)
{
    (void)state;
    static const float small[] = {50, 52, 90};
    static const float large[] = {3000, 5900};
    static const struct timing_curve up = {"mine", "", 0, 16, 8, ORR_COLL_OP_ALL_REDUCE, 3, 3, 0, 0, 0};
    static const struct timing_curve down = {"mine", "", 0, 16, 8, ORR_COLL_OP_ALL_REDUCE, 29, 2, 0, 0, 0};
    struct timing_machine machine = machine_of("h100", "roce", "");
    double model = ask(&machine, ORR_COLL_OP_ALL_REDUCE, 16, 8, 1 << 30).us;
    double start = ask(&machine, ORR_COLL_OP_ALL_REDUCE, 16, 8, 8).us;
    machine.own = (struct timing_curves){.curves = &up, .count = 1, .values = small};
    double carried = ask(&machine, ORR_COLL_OP_ALL_REDUCE, 16, 8, 1 << 30).us;
    assert_true(carried > model * 0.8 && carried < model * 1.2);
    machine.own = (struct timing_curves){.curves = &down, .count = 1, .values = large};
    double first = ask(&machine, ORR_COLL_OP_ALL_REDUCE, 16, 8, 8).us;
    assert_true(first > start * 0.7 && first < start * 1.4);
}

static void nothing_is_quicker_between_nodes_than_inside_one(void **state)
{
    (void)state;
    static const char *const gpus[] = {"l40s", "rtx-pro-6000", "h100", "a100", "mi300x"};
    for (size_t g = 0; g < sizeof gpus / sizeof gpus[0]; g++) {
        struct timing_machine machine = machine_of(gpus[g], "ib", "");
        for (unsigned op = 0; op < ORR_COLL_OP_COUNT; op++) {
            for (uint64_t bytes = 8; bytes <= (uint64_t)1 << 32 && op != ORR_COLL_OP_ALL_TO_ALL; bytes *= 2) {
                double one = ask(&machine, (enum orr_coll_op)op, 1, 8, bytes).us;
                assert_true(ask(&machine, (enum orr_coll_op)op, 4, 8, bytes).us >= one);
            }
        }
    }
}

/* 1440 GPUs in racks of 72 have 20 racks and the NICs of all between them, not 360 nodes of 4. */
static void racks_take_the_place_of_nodes(void **state)
{
    (void)state;
    struct timing_machine machine = machine_of("gb200", "ib", "");
    struct timing_shape shape;
    const struct orr_coll_question all = {.op = ORR_COLL_OP_ALL_GATHER, .bytes = 1 << 30, .nodes = 360, .gpus = 4};
    timing_shape_of(&machine, &all, &shape);
    assert_int_equal(shape.nodes, 20);
    assert_int_equal(shape.gpus, 72);
    assert_int_equal(shape.hosts, 18);
    assert_true(shape.net_gbytes == 72 * machine.nic_gbytes);
    machine.node_gpus = 4;
    const struct orr_coll_question one = {
        .op = ORR_COLL_OP_ALL_GATHER, .bytes = 1, .nodes = 72, .gpus = 1, .groups = 4};
    timing_shape_of(&machine, &one, &shape);
    assert_int_equal(shape.nodes, 4);
    assert_int_equal(shape.gpus, 18);
    assert_true(shape.net_gbytes == 18 * machine.nic_gbytes);
}

static void every_device_has_collectives(void **state)
{
    (void)state;
    for (size_t i = 0; device_names[i] != NULL; i++) {
        struct timing_machine machine = machine_of(device_names[i], "ib", "");
        for (unsigned op = 0; op < ORR_COLL_OP_COUNT; op++) {
            double us = ask(&machine, (enum orr_coll_op)op, 4, 4, 1 << 20).us;
            assert_true(us > 1 && us < 1e5);
        }
    }
    assert_string_equal(timing_gpu_find("TPU7x (Ironwood)")->name, "tpu7x");
    assert_string_equal(timing_gpu_find("h100-pcie")->name, "h100-pcie");
}

/* 64 chips in a cube have all six links, 4 on one axis two of them; steps go by the axes and not by the ranks. */
static void a_torus_has_the_links_of_the_axes_that_a_group_spans(void **state)
{
    (void)state;
    struct timing_machine machine = machine_of("tpu-v5p", "gcp", "");
    struct orr_coll_answer cube = ask(&machine, ORR_COLL_OP_ALL_GATHER, 16, 4, (uint64_t)1 << 30);
    struct orr_coll_answer line = ask(&machine, ORR_COLL_OP_ALL_GATHER, 1, 4, (uint64_t)1 << 30);
    assert_true(cube.busbw_gbytes > 0.8 * 600 && cube.busbw_gbytes < 600);
    assert_true(line.busbw_gbytes > 0.8 * 200 && line.busbw_gbytes < 200);
    assert_true(ask(&machine, ORR_COLL_OP_ALL_GATHER, 1024, 4, 8).us < 40);
    assert_true(ask(&machine, ORR_COLL_OP_ALL_TO_ALL, 1024, 4, (uint64_t)1 << 30).us > 3 * cube.us);
    struct orr_coll_question tree = {
        .op = ORR_COLL_OP_ALL_REDUCE, .bytes = 8, .nodes = 2, .gpus = 4, .algo = ORR_COLL_ALGO_TREE};
    struct orr_coll_answer answer;
    struct orr_error err;
    assert_int_equal(timing_estimate(&machine, &tree, &answer, &err), ORR_EINVAL);
    assert_non_null(strstr(err.text, "the library does not use tree"));
}

/* Rows made by constants, fitted from others: the descent finds what made them. */
static void a_fit_finds_the_constants_that_made_its_rows(void **state)
{
    (void)state;
    struct timing_row rows[200];
    struct timing_fabric made = *timing_fabric_find("ib", 8, NULL);
    made.hop_us[TIMING_LL] = 11;
    made.share[TIMING_SIMPLE] = 0.8;
    size_t count = 0;
    struct timing_machine machine = machine_of("h100", "ib", "");
    machine.fabric = &made;
    for (uint32_t nodes = 2; nodes <= 16; nodes *= 2) {
        for (unsigned op = 0; op < 2; op++) {
            for (uint64_t bytes = 64; bytes <= (uint64_t)1 << 32; bytes *= 4) {
                struct orr_coll_question question = {
                    .op = (enum orr_coll_op)op, .bytes = bytes, .nodes = nodes, .gpus = 8};
                struct orr_coll_answer answer;
                assert_int_equal(timing_estimate(&machine, &question, &answer, NULL), ORR_OK);
                rows[count++] = (struct timing_row){machine, question, answer.model_us};
            }
        }
    }
    struct timing_fabric fitted = made;
    struct timing_constant constants[TIMING_CONSTANTS_MOST];
    for (size_t i = 0; i < count; i++) {
        rows[i].machine.fabric = &fitted;
    }
    /* The starts, which are the first four, are held: of few sizes a start and its hops make one sum. */
    size_t all = timing_fabric_constants(&fitted, constants);
    assert_true(timing_fit(constants + 4, all - 4, rows, count) < 0.03);
    assert_true(fabs(fitted.hop_us[TIMING_LL] / 11 - 1) < 0.05);
    assert_true(fabs(fitted.share[TIMING_SIMPLE] / 0.8 - 1) < 0.05);
}

static void the_switch_is_chosen_for_much_on_one_node(void **state)
{
    (void)state;
    static const char *const gpus[] = {"h100", "h200", "b200"};
    for (size_t i = 0; i < 3; i++) {
        struct timing_machine machine = machine_of(gpus[i], "ib", "2.29.2");
        struct orr_coll_answer much = ask(&machine, ORR_COLL_OP_ALL_REDUCE, 1, 8, (uint64_t)1 << 30);
        assert_int_equal(much.algo, ORR_COLL_ALGO_NVLS);
        struct orr_coll_question question = {.op = ORR_COLL_OP_ALL_REDUCE,
                                             .bytes = (uint64_t)1 << 30,
                                             .nodes = 1,
                                             .gpus = 8,
                                             .algo = ORR_COLL_ALGO_NVLS};
        struct orr_coll_answer answer;
        assert_int_equal(timing_estimate(&machine, &question, &answer, NULL), ORR_OK);
        assert_true(answer.us == much.us);
    }
}

static void a_time_of_the_model_is_that_of_the_way_it_tells(void **state)
{
    (void)state;
    static const uint32_t shapes[][2] = {{3, 8}, {16, 8}, {100, 4}, {5, 1}};
    for (size_t g = 0; timing_gpu_at(g) != NULL; g++) {
        struct timing_machine machine = machine_of(timing_gpu_at(g)->name, "ib", "");
        for (unsigned op = 0; op < ORR_COLL_OP_COUNT; op++) {
            for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
                for (uint64_t bytes = 8; bytes <= (uint64_t)1 << 30; bytes *= 8) {
                    struct orr_coll_answer answer =
                        ask(&machine, (enum orr_coll_op)op, shapes[s][0], shapes[s][1], bytes);
                    struct orr_coll_question question = {
                        .op = (enum orr_coll_op)op, .bytes = bytes, .nodes = shapes[s][0], .gpus = shapes[s][1]};
                    struct timing_shape shape;
                    timing_shape_of(&machine, &question, &shape);
                    assert_true(answer.method != ORR_COLL_METHOD_MODEL ||
                                answer.us == timing_model_us(&machine, &shape, answer.algo, answer.proto));
                }
            }
        }
    }
}

static void measured_points_are_of_this_gpu_and_number_of_ranks(void **state)
{
    (void)state;
    struct timing_machine gb200 = machine_of("gb200", "ib", "");
    struct timing_machine h200 = machine_of("h200", "ib", "2.29.2");
    assert_null(ask(&gb200, ORR_COLL_OP_ALL_REDUCE, 9, 4, 1 << 20).nearest[0].source);
    assert_non_null(ask(&gb200, ORR_COLL_OP_ALL_REDUCE, 1, 4, 1 << 20).nearest[0].source);
    struct orr_coll_answer relative = ask(&h200, ORR_COLL_OP_ALL_GATHER, 1, 8, 1 << 20);
    assert_int_equal(relative.method, ORR_COLL_METHOD_RELATIVE);
    assert_null(relative.nearest[0].source);
}

static void what_is_not_of_the_lists_has_a_name_too(void **state)
{
    (void)state;
    assert_string_equal(orr_coll_op_name((enum orr_coll_op)99), "?");
    assert_string_equal(orr_coll_algo_name((enum orr_coll_algo) - 1), "?");
    assert_string_equal(orr_coll_proto_name((enum orr_coll_proto)4), "?");
    assert_string_equal(orr_coll_method_name(ORR_COLL_METHOD_COUNT), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_switch_is_chosen_for_much_on_one_node),
        cmocka_unit_test(a_time_of_the_model_is_that_of_the_way_it_tells),
        cmocka_unit_test(measured_points_are_of_this_gpu_and_number_of_ranks),
        cmocka_unit_test(what_is_not_of_the_lists_has_a_name_too),
        cmocka_unit_test(a_gpu_is_found_by_the_names_logs_and_tables_give_it),
        cmocka_unit_test(a_release_is_three_numbers),
        cmocka_unit_test(a_measured_size_has_the_measured_time),
        cmocka_unit_test(a_gpu_without_measurements_has_its_relatives_time),
        cmocka_unit_test(more_bytes_never_take_less_time),
        cmocka_unit_test(a_tree_with_ll_opens_channels_before_it_takes_longer),
        cmocka_unit_test(gpus_that_share_a_hosts_bridges_each_have_less_of_them),
        cmocka_unit_test(large_trees_of_two_nodes_reach_the_rate_of_their_nics),
        cmocka_unit_test(more_ranks_never_take_less_than_the_fewer_that_were_measured),
        cmocka_unit_test(the_tuner_takes_trees_for_little_and_rings_or_the_switch_for_much),
        cmocka_unit_test(a_way_that_is_named_is_never_quicker_than_the_best),
        cmocka_unit_test(a_way_that_the_machine_does_not_have_is_refused),
        cmocka_unit_test(switches_that_reduce_take_no_longer_for_more_nodes),
        cmocka_unit_test(groups_that_share_nics_take_longer),
        cmocka_unit_test(a_rack_of_one_nvlink_domain_has_no_network_between_its_nodes),
        cmocka_unit_test(own_measurements_go_before_the_shipped_ones),
        cmocka_unit_test(a_short_curve_is_carried_on_by_the_model),
        cmocka_unit_test(nothing_is_quicker_between_nodes_than_inside_one),
        cmocka_unit_test(racks_take_the_place_of_nodes),
        cmocka_unit_test(every_device_has_collectives),
        cmocka_unit_test(a_torus_has_the_links_of_the_axes_that_a_group_spans),
        cmocka_unit_test(a_fit_finds_the_constants_that_made_its_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
