/* SPDX-License-Identifier: Apache-2.0 */
/* Generators against what is known of the machines they make: the figures of spec rocm §2.5, link counts of formulas,
 * and the line grammar with its errors. */
#include <math.h>

#include "tests/check.h"
#include "topo/make/grammar.h"
#include "topo/make/make.h"
#include "topo/measure.h"

/* Makes a machine of "name=value name=value" settings and measures it. */
static enum orr_status make(const char *what, const char *settings, struct topo_made *made, struct mem *mem,
                            struct orr_error *err)
{
    static char texts[16][40];
    struct topo_settings taken = {.what = what};
    struct notes notes;
    unsigned count = 0;
    int used = 0;
    for (const char *at = settings; sscanf(at, " %39[^ ]%n", texts[count], &used) == 1; at += used) {
        char *equals = strchr(texts[count], '=');
        *equals = '\0';
        CHECK_OK(topo_settings_take(&taken, texts[count], equals + 1, err), err);
        count++;
    }
    notes_init(&notes, mem, false);
    enum orr_status status = topo_make(what, &taken, &notes, made, mem, err);
    notes_free(&notes);
    return status;
}

static void measure(const char *what, const char *settings, struct topo_measure *measured)
{
    struct mem mem = {0};
    struct orr_error err = {0};
    struct topo_made made;
    struct topo_graph graph;
    CHECK_OK(make(what, settings, &made, &mem, &err), &err);
    CHECK_OK(topo_made_graph(&made, &mem, &graph, &err), &err);
    CHECK_OK(topo_measure(&graph, &mem, measured, &err), &err);
    topo_graph_free(&graph);
    topo_made_free(&made);
    CHECK_U64(mem.used, 0, "everything is given back");
}

static const struct {
    const char *what, *settings;
    double average, switch_average;             /* between GPUs, between switches */
    unsigned diameter, switch_diameter, degree; /* degree of a switch */
} facts[] = {
    {"torus", "dims=4x4x8", 6.0315, 4.0315, 10, 8, 7},
    {"twisted-torus", "dims=4x4x8", 5.9055, 3.9055, 9, 7, 7},
    {"fat-tree", "hosts=128 per-leaf=8 spines=8", 3.8898, 1.5362, 4, 2, 16},
    {"torus", "dims=2x2x2", 3.7143, 1.7143, 5, 3, 4},
    {"ring", "hosts=8", 4.2857, 2.2857, 6, 4, 3},
};

static void distances_are_those_of_the_known_machines(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(facts); i++) {
        struct topo_measure got;
        measure(facts[i].what, facts[i].settings, &got);
        CHECK_U64(got.between_hosts.diameter, facts[i].diameter, "%s", facts[i].what);
        CHECK(fabs(got.between_hosts.average - facts[i].average) < 5e-5, "%s: %f", facts[i].what,
              got.between_hosts.average);
        CHECK_U64(got.between_switches.diameter, facts[i].switch_diameter, "%s", facts[i].what);
        CHECK(fabs(got.between_switches.average - facts[i].switch_average) < 5e-5, "%s: %f", facts[i].what,
              got.between_switches.average);
        CHECK_U64(got.switch_degree_most, facts[i].degree, "%s", facts[i].what);
        CHECK(got.switches_joined && !got.forwarding, "%s", facts[i].what);
    }
}

static void a_ring_without_switches_is_measured_with_its_gpus_forwarding(void **state)
{
    (void)state;
    struct topo_measure got;
    measure("ring", "hosts=8 direct=", &got);
    CHECK(got.forwarding, "only neighbours reach each other else");
    CHECK_U64(got.between_hosts.diameter, 4, "half the ring");
    CHECK(fabs(got.between_hosts.average - 16.0 / 7) < 1e-9, "%f", got.between_hosts.average);
}

static const struct {
    const char *what, *settings;
    uint64_t gbps;
} bisections[] = {
    {"torus", "dims=4x4x8 bandwidth=100Gbps", 3200}, /* two planes of 16 links */
    {"torus", "dims=4x4x8 bandwidth=25Gbps,25Gbps,65Gbps", 2080},
    {"mesh", "dims=4x4 bandwidth=100Gbps", 400},
    {"ring", "hosts=8 bandwidth=100Gbps", 200},
    {"fully-connected", "hosts=8 bandwidth=100Gbps", 1600},
    {"fat-tree", "arity=8 bandwidth=100Gbps", 6400}, /* none of 64 GPUs is held up */
    {"fat-tree", "hosts=64 per-leaf=8 oversubscription=4:1 bandwidth=100Gbps", 800},
    {"single-switch", "hosts=9 bandwidth=100Gbps", 400},
};

static void the_bisection_is_the_flow_between_the_halves(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bisections); i++) {
        struct topo_measure got;
        measure(bisections[i].what, bisections[i].settings, &got);
        CHECK(got.has_bisection, "%s", bisections[i].what);
        CHECK_U64(got.bisection_bps, bisections[i].gbps * 1000000000, "%s %s", bisections[i].what,
                  bisections[i].settings);
    }
}

static const struct {
    const char *what, *settings;
    uint32_t hosts, nvswitches, switches, links;
} counts[] = {
    {"fat-tree", "arity=8 levels=3", 128, 0, 80, 384}, /* k^3/4, 5k^2/4, 3k^3/4 */
    {"fat-tree", "arity=64 hosts=16384", 16384, 0, 2048, 49152},
    {"fat-tree", "arity=6 levels=2", 18, 0, 9, 36},
    {"fat-tree", "arity=4 levels=4", 32, 0, 56, 128},
    {"dragonfly", "routers=8 per-router=4 global-links=4", 1056, 0, 264, 1056 + 924 + 528},
    {"torus", "dims=5", 5, 0, 5, 10},
    {"mesh", "dims=3x4x5", 60, 0, 60, 60 + 40 + 45 + 48},
    {"mi250x", "", 8, 0, 8, 8 + 12},
    {"mi300x", "", 8, 0, 0, 28},
    {"nvl72", "nvswitches=18", 72, 18, 0, 72 * 18},
    {"dgx-h100", "nodes=16 spines=8", 128, 16, 16, 128 * 2 + 64},
};

static void counts_follow_their_formulas(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        struct mem mem = {0};
        struct orr_error err = {0};
        struct topo_made made;
        CHECK_OK(make(counts[i].what, counts[i].settings, &made, &mem, &err), &err);
        CHECK_U64(made.hosts, counts[i].hosts, "GPUs of %s %s", counts[i].what, counts[i].settings);
        CHECK_U64(made.nvswitches, counts[i].nvswitches, "NVSwitches of %s %s", counts[i].what, counts[i].settings);
        CHECK_U64(made.switches, counts[i].switches, "switches of %s %s", counts[i].what, counts[i].settings);
        CHECK_U64(made.link_count, counts[i].links, "links of %s %s", counts[i].what, counts[i].settings);
        topo_made_free(&made);
    }
}

/* The dies of an MI250X have eight links each: one to the processor, one of the odd ones' to the NIC, the rest here. */
static void a_die_of_the_mi250x_has_six_or_seven_xgmi_links(void **state)
{
    (void)state;
    const struct topo_server *server = topo_server_find("mi250x");
    for (unsigned die = 0; die < server->gpus; die++) {
        unsigned links = 0;
        for (uint32_t i = 0; i < server->pair_count; i++) {
            links += server->pairs[i].a == die || server->pairs[i].b == die ? server->pairs[i].links : 0;
        }
        CHECK_U64(links, die % 2 == 0 ? 7 : 6, "die %u", die);
    }
}

static const struct {
    const char *line;
    uint32_t hosts, switches, links;
} lines[] = {
    {"dgx-h100:16 > rail:400Gbps > spine:8", 128, 16, 128 * 2 + 64},
    {"dgx-h100:16>rail:400Gbps>spine", 128, 24, 128 * 2 + 128}, /* as many spines as keep 6.4 Tbps a rail flowing */
    {"dgx-h100:16 > rail > spine:2:1", 128, 16, 128 * 2 + 64},
    {"dgx-h100:16 > rail:2,400Gbps > spine:4,1:1", 128, 20, 128 * 2 + 64}, /* rates follow: 8 x 400 / 4 */
    {"gpu:128 > leaf:16 > spine:8", 128, 24, 128 + 128},
    {"gpu:128 > leaf:16,x2 > spine:8,x3", 128, 24, 256 + 384},
    {"gpu:16 > leaf:8 > spine:2*4 > core:4,planes", 16, 20, 48},
    {"nvl72:2 , 7200Gbps , 25ns > rail > spine:1", 144, 5, 144 * 2 + 4},
    {"mi300x:2 > leaf", 16, 1, 56 + 16},
    {"dgx-h100:4,forward > rail", 32, 40, 96},
    {"pcie-pair:1", 2, 1, 2},
    {"dgx-h100:16,pcie > rail > spine:2:1", 128, 128 + 16, 128 * 3 + 64}, /* a PCIe switch a NIC */
    {"mi250x:2,pcie > rail", 16, 16 + 8 + 4, 16 + 24 + 2 * 8},            /* a router a die; 4 NICs a server */
    {"pcie-pair:2,pcie > leaf", 4, 2 + 4 + 1, 4 + 8},                     /* slots of the switch that is there */
    {"gpu:4,pcie4,forward > leaf", 4, 4 + 4 + 1, 12},
};

static void a_line_says_a_machine(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct mem mem = {0};
        struct orr_error err = {0};
        struct topo_made made;
        CHECK_OK(make(lines[i].line, "", &made, &mem, &err), &err);
        CHECK_U64(made.hosts, lines[i].hosts, "GPUs of %s", lines[i].line);
        CHECK_U64(made.switches, lines[i].switches, "switches of %s", lines[i].line);
        CHECK_U64(made.link_count, lines[i].links, "links of %s", lines[i].line);
        topo_made_free(&made);
    }
}

static void a_ratio_sets_the_rate_of_counted_spines(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct orr_error err = {0};
    struct topo_made made;
    CHECK_OK(make("dgx-h100:16 > rail:2,400Gbps > spine:4,2:1", "", &made, &mem, &err), &err);
    CHECK_TEXT(made.classes[made.links[made.link_count - 1].class].rate.text, "400Gbps");
    topo_made_free(&made);
}

static const struct {
    const char *line;
    uint64_t gbps; /* of a GPU's link to the PCIe switch that its NIC is on */
} generations[] = {
    {"dgx-a100:2,pcie > rail", 252},   {"dgx-h100:2,pcie > rail", 504}, {"dgx-b200:2,pcie > rail", 504},
    {"dgx-h100:2,pcie3 > rail", 126},  {"mi300x:2,pcie4 > leaf", 252},  {"dgx-h100:2,pcie6 > rail", 968},
    {"pcie-pair:2,pcie5 > leaf", 504},
};

static void pcie_has_the_rate_of_its_generation(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(generations); i++) {
        struct mem mem = {0};
        struct orr_error err = {0};
        struct topo_made made;
        CHECK_OK(make(generations[i].line, "", &made, &mem, &err), &err);
        uint32_t nics = 0;
        for (uint32_t link = 0; link < made.link_count; link++) {
            const struct topo_made_link *at = &made.links[link];
            bool leaves = at->a < made.hosts && at->b >= made.hosts + made.nvswitches;
            const struct topo_class *class = &made.classes[at->class];
            CHECK(!leaves || class->rate.value == generations[i].gbps * 1000000000, "%s: %s", generations[i].line,
                  class->rate.text);
            CHECK(!leaves || strcmp(class->delay.text, "110ns") == 0, "%s: %s", generations[i].line, class->delay.text);
            nics += leaves;
        }
        CHECK_U64(nics, made.hosts, "%s: no GPU is on the network but through PCIe", generations[i].line);
        topo_made_free(&made);
    }
}

static const struct {
    const char *line, *says;
} errors[] = {
    {"dgx-h10:16 > rail", "column 1: \"dgx-h10\" is not a make of server"},
    {"dgx-h10:16 > rail", "did you mean \"dgx-h100\"?"},
    {"dgx-h100:16 > rial", "column 15: \"rial\" is not a level"},
    {"dgx-h100:16 > rail:400Gpbs", "column 20: unknown unit \"Gpbs\"; did you mean \"Gbps\"?"},
    {"dgx-h100:16 > rail:400Foo", "column 20: \"400Foo\" is neither a rate (400Gbps, 50GB/s) nor a delay"},
    {"torus:4x4", "torus is not part of a line: it is made by its name alone and takes parameter 'dims'"},
    {"fat-tree > spine", "fat-tree is not part of a line"},
    {"dgx-h100:16 > rail:0", "column 20: \"0\" is not a count of 1 to"},
    {"dgx-h100:16 > rail:", "column 20: an argument is missing"},
    {"dgx-h100:16 > ", "a level is missing"},
    {"> rail", "column 1: a make of server is missing"},
    {"dgx-h100:16 > rail,plane", "did you mean \"planes\"?"},
    {"dgx-h100:16,planes > rail", "are said of levels, not of the servers"},
    {"dgx-h100:16 > rail,forward", "forward is said of the servers"},
    {"dgx-h100:16 > rail,pcie", "pcie is said of the servers"},
    {"dgx-h100:16,pcie", "there is no level that NICs are on"},
    {"dgx-h100:16,pcie7 > rail", "column 13: \"pcie7\" is no argument"},
    {"dgx-h100:16,pci > rail", "did you mean \"pcie\"?"},
    {"dgx-h100:16", "nothing joins the 16 servers"},
    {"gpu:1", "without a link is no network"},
    {"dgx-h100:16 > spine:8", "spine is what the NICs are on"},
    {"dgx-h100:16 > rail > leaf", "NICs are on the first level only"},
    {"dgx-h100:16 > rail > spine:8,400Gbps,2:1", "one too many"},
    {"gpu:16 > leaf:7", "16 servers cannot be shared among 7 switches; 6 would hold 3 servers each"},
    {"gpu:4 > leaf:8", "4 servers cannot be shared among 8 switches"},
    {"gpu:16 > leaf:8 > spine:2*3", "8 switches below do not divide into 3 groups"},
    {"gpu:16 > leaf:8 > spine:2*4 > core:3,planes", "3 switches do not divide into 2 planes"},
    {"dgx-h100:9999999 > rail", "are more than"},
    {"gpu:8 > leaf\n", "column 13: a control character"},
};

static void a_wrong_line_is_answered_with_its_column(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(errors); i++) {
        struct mem mem = {0};
        struct orr_error err = {0};
        struct topo_made made;
        enum orr_status status = make(errors[i].line, "", &made, &mem, &err);
        CHECK(status == ORR_EINVAL || status == ORR_ERANGE, "%s", errors[i].line);
        CHECK_CONTAINS(err.text, errors[i].says);
        CHECK_U64(mem.used, 0, "nothing is left of it");
    }
}

static void a_refused_allocation_is_an_error_and_leaves_nothing(void **state)
{
    (void)state;
    static const char *const names[] = {"torus", "fat-tree", "dragonfly", "Spectrum-X", "fully-connected"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct mem mem = {.limit = 256};
        struct orr_error err = {0};
        struct topo_made made;
        CHECK_STATUS(make(names[i], "", &made, &mem, &err), ORR_ENOMEM);
        CHECK_U64(mem.used, 0, "%s", names[i]);
    }
}

static void a_quantity_keeps_its_spelling_where_readers_know_it(void **state)
{
    (void)state;
    static const struct {
        const char *text, *kept;
        uint64_t bps;
    } rates[] = {
        {"100Gbps", "100Gbps", 100000000000}, {"0.1Tbps", "100Gbps", 100000000000},
        {"100Gb/s", "100Gb/s", 100000000000}, {"50GB/s", "50GB/s", 400000000000},
        {"100", "100Gbps", 100000000000},     {"1GiB/s", "8589934592bps", 8589934592},
    };
    for (size_t i = 0; i < COUNT_OF(rates); i++) {
        struct orr_error err = {0};
        struct topo_quantity rate;
        CHECK_OK(topo_rate_read("rate", rates[i].text, &rate, &err), &err);
        CHECK_U64(rate.value, rates[i].bps, "%s", rates[i].text);
        CHECK_TEXT(rate.text, rates[i].kept);
    }
    struct orr_error err = {0};
    struct topo_quantity time;
    CHECK_OK(topo_time_read("time", "0.0000255ms", &time, &err), &err);
    CHECK_U64(time.value, 26, "rounded");
    CHECK_TEXT(time.text, "0.0000255ms");
    CHECK_STATUS(topo_rate_read("rate", "0Gbps", &time, &err), ORR_ERANGE);
}

TEST_MAIN(distances_are_those_of_the_known_machines, a_ring_without_switches_is_measured_with_its_gpus_forwarding,
          the_bisection_is_the_flow_between_the_halves, counts_follow_their_formulas,
          a_die_of_the_mi250x_has_six_or_seven_xgmi_links, a_line_says_a_machine,
          a_ratio_sets_the_rate_of_counted_spines, pcie_has_the_rate_of_its_generation,
          a_wrong_line_is_answered_with_its_column, a_refused_allocation_is_an_error_and_leaves_nothing,
          a_quantity_keeps_its_spelling_where_readers_know_it)
