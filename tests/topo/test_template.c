/* SPDX-License-Identifier: Apache-2.0 */
/* SimAI's templates by what they promise, on machines drawn at random: who hangs on which switch, and how many do. The
 * bytes of its files are in tests/references/topo.ref. */
#include "topo/make/template.h"

#include <stdlib.h>

#include "tests/check.h"
#include "tests/prng.h"

enum { TRIES = 200, NUMBER = 24 };

/* A machine that was asked for. */
struct asked {
    enum topo_template template;
    uint32_t gpus, per_server, nvswitches, per_leaf, spines;
    bool rails, dual_tor, dual_plane;
};

struct bench {
    struct mem mem;
    struct notes notes;
    struct orr_error err;
    struct topo_made made;
    char numbers[TOPO_SET_COUNT][NUMBER];
};

static enum orr_status bench_make(struct bench *bench, const struct asked *asked, bool strict)
{
    struct topo_settings settings = {.what = "a template"};
    const struct {
        enum topo_setting id;
        uint32_t value;
    } counts[] = {{TOPO_SET_HOSTS, asked->gpus},
                  {TOPO_SET_GPUS_PER_NODE, asked->per_server},
                  {TOPO_SET_NVSWITCHES, asked->nvswitches},
                  {TOPO_SET_PER_LEAF, asked->per_leaf},
                  {TOPO_SET_SPINES, asked->spines},
                  {TOPO_SET_LEAVES_PER_SPINE, 1000}};
    const struct {
        enum topo_setting id;
        bool asked;
    } flags[] = {{TOPO_SET_RAIL_OPTIMIZED, asked->rails},
                 {TOPO_SET_DUAL_TOR, asked->dual_tor},
                 {TOPO_SET_DUAL_PLANE, asked->dual_plane}};
    memset(bench, 0, sizeof *bench);
    notes_init(&bench->notes, &bench->mem, strict);
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        (void)snprintf(bench->numbers[i], NUMBER, "%" PRIu32, counts[i].value);
        settings.value[counts[i].id] = bench->numbers[i];
    }
    for (size_t i = 0; i < COUNT_OF(flags); i++) {
        settings.value[flags[i].id] = flags[i].asked ? "" : NULL;
    }
    return topo_template_make(asked->template, &settings, &bench->notes, &bench->made, &bench->mem, &bench->err);
}

static void bench_close(struct bench *bench)
{
    topo_made_free(&bench->made);
    notes_free(&bench->notes);
    CHECK_U64(bench->mem.used, 0, "everything is given back");
}

static struct asked draw(struct prng *prng)
{
    struct asked asked = {.template = TOPO_TEMPLATE_CUSTOM,
                          .per_server = 1 + prng_below(prng, 9),
                          .nvswitches = prng_below(prng, 3),
                          .per_leaf = 1 + prng_below(prng, 12),
                          .spines = 2 + prng_below(prng, 6),
                          .rails = prng_below(prng, 2) == 1,
                          .dual_tor = prng_below(prng, 2) == 1};
    asked.gpus = asked.per_server * (1 + prng_below(prng, 9));
    asked.dual_plane = asked.rails && asked.dual_tor && prng_below(prng, 2) == 1;
    return asked;
}

/* How many links a GPU has to nodes of [first, first + count), and the first of those nodes. */
static uint32_t links_of(const struct topo_made *made, uint32_t node, uint32_t first, uint32_t count, uint32_t *lowest)
{
    uint32_t found = 0;
    *lowest = UINT32_MAX;
    for (uint32_t i = 0; i < made->link_count; i++) {
        const struct topo_made_link *link = &made->links[i];
        uint32_t other = link->a == node ? link->b : link->b == node ? link->a : UINT32_MAX;
        if (other >= first && other < first + count) {
            found++;
            *lowest = other < *lowest ? other : *lowest;
        }
    }
    return found;
}

static void a_gpu_is_joined_to_the_nvswitches_of_its_server_and_to_no_others(void **state)
{
    (void)state;
    struct prng prng = {.state = 1};
    for (int i = 0; i < TRIES; i++) {
        struct asked asked = draw(&prng);
        struct bench bench;
        CHECK_OK(bench_make(&bench, &asked, false), &bench.err);
        CHECK_U64(bench.made.nvswitches, asked.gpus / asked.per_server * asked.nvswitches, "NVSwitches");
        for (uint32_t gpu = 0; gpu < asked.gpus; gpu++) {
            uint32_t lowest = 0;
            uint32_t all = links_of(&bench.made, gpu, asked.gpus, bench.made.nvswitches, &lowest);
            CHECK_U64(all, asked.nvswitches, "NVLinks of GPU %" PRIu32, gpu);
            CHECK(all == 0 || lowest == asked.gpus + gpu / asked.per_server * asked.nvswitches,
                  "GPU %" PRIu32 " begins at NVSwitch %" PRIu32, gpu, lowest);
        }
        bench_close(&bench);
    }
}

/* Rail-optimised: the GPUs of a leaf have one place in their servers. Else: they follow each other. */
static void a_leaf_holds_one_rail_of_a_segment_and_never_more_than_its_ports(void **state)
{
    (void)state;
    struct prng prng = {.state = 2};
    for (int i = 0; i < TRIES; i++) {
        struct asked asked = draw(&prng);
        struct bench bench;
        CHECK_OK(bench_make(&bench, &asked, false), &bench.err);
        uint32_t first = asked.gpus + bench.made.nvswitches;
        uint32_t *held = calloc(bench.made.leaves, sizeof *held);
        uint32_t *one = calloc(bench.made.leaves, sizeof *one);
        assert_true(held != NULL && one != NULL);
        for (uint32_t gpu = 0; gpu < asked.gpus; gpu++) {
            uint32_t leaf = 0;
            uint32_t nics = links_of(&bench.made, gpu, first, bench.made.leaves, &leaf);
            CHECK_U64(nics, asked.dual_tor ? 2 : 1, "NICs of GPU %" PRIu32, gpu);
            leaf -= first;
            CHECK(held[leaf] == 0 || !asked.rails || one[leaf] % asked.per_server == gpu % asked.per_server,
                  "GPUs %" PRIu32 " and %" PRIu32 " are on one leaf and on two rails", one[leaf], gpu);
            CHECK(held[leaf] == 0 || asked.rails || one[leaf] + held[leaf] == gpu,
                  "GPU %" PRIu32 " is on the leaf of %" PRIu32, gpu, one[leaf]);
            one[leaf] = held[leaf] == 0 ? gpu : one[leaf];
            held[leaf]++;
            CHECK(held[leaf] <= asked.per_leaf, "leaf %" PRIu32 " holds %" PRIu32, leaf, held[leaf]);
        }
        free(held);
        free(one);
        bench_close(&bench);
    }
}

static void every_leaf_reaches_every_spine_of_its_plane_once(void **state)
{
    (void)state;
    struct prng prng = {.state = 3};
    for (int i = 0; i < TRIES; i++) {
        struct asked asked = draw(&prng);
        struct bench bench;
        CHECK_OK(bench_make(&bench, &asked, false), &bench.err);
        uint32_t first = asked.gpus + bench.made.nvswitches;
        uint32_t spines = first + bench.made.leaves;
        uint32_t half = (asked.spines + 1) / 2;
        CHECK_U64(bench.made.spines, asked.spines, "spines");
        for (uint32_t leaf = 0; leaf < bench.made.leaves; leaf++) {
            bool second = asked.dual_plane && leaf >= bench.made.leaves / 2;
            uint32_t lowest = 0;
            uint32_t up = links_of(&bench.made, first + leaf, spines, asked.spines, &lowest);
            CHECK_U64(up,
                      !asked.dual_plane ? asked.spines
                      : second          ? asked.spines - half
                                        : half,
                      "leaf %" PRIu32, leaf);
            CHECK_U64(lowest, spines + (second ? half : 0), "the first spine of leaf %" PRIu32, leaf);
        }
        bench_close(&bench);
    }
}

static void a_machine_is_named_after_what_it_is(void **state)
{
    (void)state;
    static const struct {
        struct asked asked;
        const char *name;
    } cases[] = {
        {{TOPO_TEMPLATE_SPECTRUM_X, 16, 8, 1, 8, 4, false, false, false}, "Spectrum-X_16g_8gps_400Gbps_H100"},
        {{TOPO_TEMPLATE_HPN, 16, 8, 1, 8, 4, false, false, true}, "AlibabaHPN_16g_8gps_DualToR_DualPlane_200Gbps_H100"},
        {{TOPO_TEMPLATE_DCN, 16, 4, 1, 8, 4, false, true, false}, "DCN+DualToR_16g_4gps_200Gbps_H100"},
        {{TOPO_TEMPLATE_CUSTOM, 16, 8, 1, 8, 4, true, true, true}, "Rail_Opti_16g_8gps_DualToR_DualPlane_400Gbps_H100"},
        {{TOPO_TEMPLATE_CUSTOM, 16, 8, 1, 8, 4, true, false, false}, "Rail_Opti_SingleToR_16g_8gps_400Gbps_H100"},
        {{TOPO_TEMPLATE_CUSTOM, 16, 8, 1, 8, 4, false, true, false}, "No_Rail_Opti_16g_8gps_DualToR_400Gbps_H100"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bench bench;
        CHECK_OK(bench_make(&bench, &cases[i].asked, false), &bench.err);
        CHECK_TEXT(bench.made.name, cases[i].name);
        CHECK_U64(bench.made.dims[0], cases[i].asked.per_server, "%s", cases[i].name);
        CHECK_U64(bench.made.dims[1], 16 / cases[i].asked.per_server, "%s", cases[i].name);
        bench_close(&bench);
    }
}

/* What the template decides by itself, and what contradicts itself. */
static void what_was_asked_for_in_vain_is_told_and_what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const struct {
        struct asked asked;
        bool strict;
        enum orr_status status;
        const char *says;
    } cases[] = {
        {{TOPO_TEMPLATE_SPECTRUM_X, 16, 8, 1, 8, 4, false, true, false}, true, ORR_EINVAL, "has no effect"},
        {{TOPO_TEMPLATE_DCN, 16, 8, 1, 8, 4, true, false, false}, true, ORR_EINVAL, "not rail-optimized"},
        {{TOPO_TEMPLATE_HPN, 16, 8, 1, 8, 4, false, false, false}, true, ORR_EINVAL, "16 GPUs need 16 switches"},
        {{TOPO_TEMPLATE_CUSTOM, 16, 8, 1, 8, 4, false, false, true}, false, ORR_EINVAL, "two planes are told apart"},
        {{TOPO_TEMPLATE_CUSTOM, 15, 8, 1, 8, 4, false, false, false}, false, ORR_EINVAL, "do not fill servers of 8"},
        {{TOPO_TEMPLATE_CUSTOM, 1200, 1, 0, 1, 4, false, false, false}, false, ORR_EINVAL, "1200 segments"},
        {{TOPO_TEMPLATE_CUSTOM, 16, 0, 1, 8, 4, false, false, false}, false, ORR_ERANGE, "0 is not between 1"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bench bench;
        CHECK_STATUS(bench_make(&bench, &cases[i].asked, cases[i].strict), cases[i].status);
        CHECK_CONTAINS(bench.err.text, cases[i].says);
        bench_close(&bench);
    }
}

static void servers_without_nvswitches_need_not_be_full(void **state)
{
    (void)state;
    static const struct asked asked = {TOPO_TEMPLATE_CUSTOM, 15, 8, 0, 8, 4, false, false, false};
    struct bench bench;
    CHECK_OK(bench_make(&bench, &asked, false), &bench.err);
    CHECK_U64(bench.made.dim_count, 1, "no two dimensions of 15");
    CHECK_U64(bench.made.dims[0], 15, "GPUs");
    bench_close(&bench);
}

TEST_MAIN(a_gpu_is_joined_to_the_nvswitches_of_its_server_and_to_no_others,
          a_leaf_holds_one_rail_of_a_segment_and_never_more_than_its_ports,
          every_leaf_reaches_every_spine_of_its_plane_once, a_machine_is_named_after_what_it_is,
          what_was_asked_for_in_vain_is_told_and_what_cannot_be_is_refused, servers_without_nvswitches_need_not_be_full)
