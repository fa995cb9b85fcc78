/* SPDX-License-Identifier: Apache-2.0 */
/* Machines by name: what each word means, and what is said of those that mean nothing. */
#include "tests/check.h"

#include "run/machine_name.h"

static struct orr_error err;

/* A word, the ranks it is settled for, and the machine in its canonical name. */
static const struct meaning {
    const char *word;
    uint32_t ranks;
    const char *dims, *name;
} meanings[] = {
    {"2gpu_auto1d_2", 2, "2", "2gpu_auto1d_2"},
    {"8gpu_ring2d_4", 8, "4x2", "8gpu_ring2d_4x2"},
    {"128gpu_torus3d_16", 128, "4x4x8", "128gpu_torus3d_4x4x8"},
    {"128gpu_torus3d_4x4x8", 128, "4x4x8", "128gpu_torus3d_4x4x8"},
    {"64gpu_torus3d_8", 64, "2x4x8", "64gpu_torus3d_2x4x8"},
    {"128gpu_ttorus3d_16", 128, "4x4x8", "128gpu_ttorus3d_4x4x8"},
    {"16gpu_mesh2d_8x2", 16, "8x2", "16gpu_mesh2d_8x2"},
    {"12gpu_torus2d_3", 12, "3x4", "12gpu_torus2d_3x4"},
    {"8gpu_ring", 8, "8", "8gpu_ring_8"},
    {"8gpu_ring_8", 8, "8", "8gpu_ring_8"},
    {"8gpu_switch", 8, "8", "8gpu_switch_8"},
    {"8gpu_fc_8", 8, "8", "8gpu_fc_8"},
    {"128gpu_fattree_16", 128, "128", "128gpu_fattree_16"},
    {"128gpu_fattree", 128, "128", "128gpu_fattree"},
    {"24gpu_dims_2x3x4", 24, "2x3x4", "24gpu_dims_2x3x4"},
    {"dims:4x4x8", 128, "4x4x8", "128gpu_dims_4x4x8"},
    {"dims:5", 5, "5", "5gpu_dims_5"},
    {"auto:1d", 6, "6", "6gpu_auto1d_6"},
    {"auto:2d", 8, "2x4", "8gpu_auto2d_2x4"},
    {"auto:2d", 128, "8x16", "128gpu_auto2d_8x16"},
    {"auto:2d", 7, "7", "7gpu_auto2d_7"}, /* 1x7: a dimension of 1 is none */
    {"auto:3d", 8, "2x2x2", "8gpu_auto3d_2x2x2"},
    {"auto:3d", 16, "2x2x4", "16gpu_auto3d_2x2x4"},
    {"auto:3d", 32, "2x4x4", "32gpu_auto3d_2x4x4"},
    {"auto:3d", 64, "4x4x4", "64gpu_auto3d_4x4x4"},
    {"auto:3d", 128, "4x4x8", "128gpu_auto3d_4x4x8"},
    {"auto:3d", 1024, "8x8x16", "1024gpu_auto3d_8x8x16"},
    {"auto:3d", 13, "13", "13gpu_auto3d_13"},
    {"torus3d", 8, "2x2x2", "8gpu_torus3d_2x2x2"},
    {"torus3d:2x2x4", 16, "2x2x4", "16gpu_torus3d_2x2x4"},
    {"ring2d:16", 16, "4x4", "16gpu_ring2d_4x4"},
    {"fat-tree:16", 16, "16", "16gpu_fattree"},
    {"dragonfly:72", 72, "8x9", "72gpu_dragonfly_8x9"},
    {"72gpu_dragonfly_9", 72, "8x9", "72gpu_dragonfly_8x9"},
    {"dragonfly:16", 16, "4x4", "16gpu_dragonfly_4x4"},
    {"dragonfly:8x4", 32, "8x4", "32gpu_dragonfly_8x4"},
    {"rail-only:32", 32, "8x4", "32gpu_rail-only_8x4"},
    {"rail-only:20", 20, "5x4", "20gpu_rail-only_5x4"},
    {"rail-only:8", 8, "4x2", "8gpu_rail-only_4x2"},
};

/* Words of other parts of the field, presets, and servers, whose names are no words of the lab's. */
static const struct {
    const char *word;
    uint32_t ranks;
    const char *dims;
    enum run_machine_kind kind;
} others[] = {
    {"fat-tree", 16, "16", RUN_MACHINE_FATTREE},
    {"single-switch", 8, "8", RUN_MACHINE_SWITCH},
    {"twisted-torus", 8, "2x2x2", RUN_MACHINE_TTORUS3D},
    {"fully-connected", 4, "4", RUN_MACHINE_FC},
    {"torus", 128, "4x4x8", RUN_MACHINE_AUTO3D},
    {"torus:4x4", 16, "4x4", RUN_MACHINE_DIMS},
    {"torus:4", 4, "2x2", RUN_MACHINE_AUTO3D},
    {"mesh:16", 16, "4x4", RUN_MACHINE_MESH2D},
    {"mesh:4x2", 8, "4x2", RUN_MACHINE_MESH2D},
    {"tpu-v4", 64, "4x4x4", RUN_MACHINE_TORUS3D},
    {"tpu-v5p:4x4x8", 128, "4x4x8", RUN_MACHINE_TORUS3D},
    {"ring8", 8, "8", RUN_MACHINE_RING},
    {"dgx-h100", 16, "8x2", RUN_MACHINE_MADE},
    {"dgx-h100:4", 32, "8x4", RUN_MACHINE_MADE},
    {"dgx-h100", 4, "4", RUN_MACHINE_MADE}, /* a part of one */
    {"gb200-nvl72:2", 144, "72x2", RUN_MACHINE_MADE},
    {"mi300x-8", 8, "8", RUN_MACHINE_MADE},
};

static void other_words_and_makes_are_machines_too(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        struct run_machine machine;
        char text[RUN_MACHINE_NAME];
        CHECK_OK(run_machine_parse(others[i].word, &machine, &err), &err);
        CHECK(machine.kind == others[i].kind, "%s is a %s", others[i].word, run_machine_word(machine.kind));
        CHECK_OK(run_machine_settle(&machine, others[i].ranks, &err), &err);
        run_machine_dims_text(&machine, text);
        CHECK(strcmp(text, others[i].dims) == 0, "%s has the dimensions %s", others[i].word, text);
    }
    struct run_machine machine;
    CHECK_OK(run_machine_parse("dgx-h100", &machine, &err), &err);
    CHECK_STATUS(run_machine_settle(&machine, 12, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "dgx-h100 has 8 GPUs a server, and 12 ranks do not fill whole servers; 8 or 16 would");
    CHECK_OK(run_machine_parse("dgx-h100:2 > rail:400Gbps", &machine, &err), &err);
    CHECK(machine.kind == RUN_MACHINE_MADE && machine.line != NULL, "a line");
}

static void each_word_means_its_dimensions(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(meanings); i++) {
        struct run_machine machine;
        char text[RUN_MACHINE_NAME];
        CHECK_OK(run_machine_parse(meanings[i].word, &machine, &err), &err);
        CHECK_OK(run_machine_settle(&machine, meanings[i].ranks, &err), &err);
        run_machine_dims_text(&machine, text);
        CHECK(strcmp(text, meanings[i].dims) == 0, "%s has the dimensions %s", meanings[i].word, text);
        run_machine_name(&machine, text);
        CHECK(strcmp(text, meanings[i].name) == 0, "%s is called %s", meanings[i].word, text);
    }
}

static void a_canonical_name_means_the_machine_it_was_made_of(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(meanings); i++) {
        struct run_machine machine;
        char text[RUN_MACHINE_NAME];
        CHECK_OK(run_machine_parse(meanings[i].name, &machine, &err), &err);
        CHECK_OK(run_machine_settle(&machine, meanings[i].ranks, &err), &err);
        run_machine_dims_text(&machine, text);
        CHECK(strcmp(text, meanings[i].dims) == 0, "%s has the dimensions %s", meanings[i].name, text);
    }
}

static void one_number_behind_a_kind_is_how_many_ranks_it_has(void **state)
{
    (void)state;
    static const char *const words[] = {"ring:8",    "switch:8", "fc:8",        "tpu-v4:8",    "torus3d:8", "torus:8",
                                        "fattree:8", "mesh2d:8", "dragonfly:8", "rail-only:8", "ttorus3d:8"};
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        struct run_machine machine;
        CHECK_OK(run_machine_parse(words[i], &machine, &err), &err);
        CHECK_U64(run_machine_told(&machine), 8, "%s: ranks", words[i]);
        CHECK_OK(run_machine_settle(&machine, 8, &err), &err);
    }
}

static void paths_are_files(void **state)
{
    (void)state;
    static const struct {
        const char *word, *path;
    } cases[] = {{"network.yml", "network.yml"}, {"file:machine", "machine"}, {"topos/8gpu_ring", "topos/8gpu_ring"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct run_machine machine;
        CHECK_OK(run_machine_parse(cases[i].word, &machine, &err), &err);
        CHECK(machine.kind == RUN_MACHINE_FILE && strcmp(machine.path, cases[i].path) == 0, "%s", cases[i].word);
    }
}

static void words_without_a_meaning_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *word, *says;
    } cases[] = {
        {"", "\"\" is no server"},
        {"tours", "did you mean \"torus\"?"},
        {"dgx-h100:0", "at least 1 server is wanted"},
        {"dgx-h101", "did you mean \"dgx-h100\"?"},
        {"h100:8", "did you mean \"dgx-h100\"?"},
        {"b200", "did you mean \"dgx-b200\"?"},
        {"zx", "\"zx\" is no server (dgx-h100, mi300x …) and no kind (ring, torus3d, switch, fattree …); orrery"},
        {"tpu-v4:4x", "expected a number from 1"},
        {"8gpu_ring3d_2", "did you mean \"ring2d\"?"},
        {"8gpu", "expected \"gpu_\" and a kind"},
        {"8gpus_ring", "expected \"gpu_\" and a kind"},
        {"8gpu_", "is no server"},
        {"0gpu_ring", "expected a number from 1"},
        {"8gpu_ring2d_", "expected a number from 1"},
        {"8gpu_ring2d_4x", "expected a number from 1"},
        {"8gpu_ring2d_4x0", "expected a number from 1"},
        {"8gpu_ring2d_4y2", "expected a number from 1 at \"y2\""},
        {"auto:4d", "auto:1d, auto:2d, auto:3d"},
        {"dims:", "expected a number from 1"},
        {"dims", "names no dimensions"},
        {"file:", "names no file"},
        {"99999999999gpu_ring", "above 2147483647"},
        {"dims:1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1", "more than 16 dimensions"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct run_machine machine;
        CHECK(run_machine_parse(cases[i].word, &machine, &err) != ORR_OK, "%s is refused", cases[i].word);
        CHECK_CONTAINS(err.text, cases[i].says);
        CHECK_CONTAINS(err.text, "parameter 'machine': ");
    }
}

static void shapes_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        uint32_t ranks;
        const char *says;
    } cases[] = {
        {"8gpu_ring2d_3", 8, "3 groups do not divide 8 ranks of ring2d; 2 or 4 would"},
        {"128gpu_torus3d_200", 128, "200 groups do not divide 128 ranks of torus3d; 128 would"},
        {"8gpu_ring_4", 8, "one dimension, of all 8 ranks, and no groups of 2"},
        {"8gpu_torus3d_4x2", 8, "torus3d has 3 dimensions; 2 sizes are given"},
        {"8gpu_torus2d_4x4", 8, "the sizes make 16 ranks, where 8 are needed"},
        {"dims:65536x65536", 2147483647, "the sizes make at least"},
        {"2147483647gpu_ring2d_2", 2147483647, "1 or 2147483647 would"},
        {"mi300x", 7, "and 7 ranks do not fill whole servers; 8 would"},
        {"ring", 0, "a machine has at least 1 rank"},
        {"dragonfly", 7, "dragonfly of 7 x 1 ranks: at least 2 groups, and at most one more than each has ranks"},
        {"dragonfly:2x4", 8, "dragonfly of 2 x 4 ranks"},
        {"rail-only:8x1", 8, "rail-only of 8 x 1 ranks: at least 2 servers"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct run_machine machine;
        CHECK_OK(run_machine_parse(cases[i].word, &machine, &err), &err);
        CHECK(run_machine_settle(&machine, cases[i].ranks, &err) != ORR_OK, "%s is refused", cases[i].word);
        CHECK_CONTAINS(err.text, cases[i].says);
    }
}

TEST_MAIN(each_word_means_its_dimensions, other_words_and_makes_are_machines_too,
          a_canonical_name_means_the_machine_it_was_made_of, one_number_behind_a_kind_is_how_many_ranks_it_has,
          paths_are_files, words_without_a_meaning_are_refused, shapes_that_do_not_fit_are_refused)
