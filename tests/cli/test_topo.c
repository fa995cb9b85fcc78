/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery topo` through the program: every named machine made, read back, checked and run. SimAI's templates are in
 * tests/references/topo.ref. */
#include <inttypes.h>
#include <stdlib.h>

#include "tests/cli/program.h"

static const struct {
    const char *options, *says;
} mistakes[] = {
    {"--dp -g 32", "needs --rail-optimized (--ro) and --dual-tor (--dt)"},
    {"--ro --dp -g 32", "needs --rail-optimized (--ro) and --dual-tor (--dt)"},
    {"-topo DCN+ -g 4096", "4096 GPUs need 64 segments and one pod holds 8"},
    {"-topo Spectrum-X -g 65536", "65536 GPUs need 128 segments and one pod holds 8"},
    {"--ro -g 12 -psn 2", "12 GPUs do not fill servers of 8"},
    {"-topo Spectrumx", "did you mean \"Spectrum-X\"?"},
    {"-topo Spectrum-X -bw 100Gpbs", "unknown unit \"Gpbs\"; did you mean \"Gbps\"?"},
    {"-topo Spectrum-X -g many", "--hosts: \"many\" is not a whole number"},
    {"-topo Spectrum-X -er 2", "--loss: 2 is not a share"},
    {"-topo Spectrum-X torus", "only one machine can be made"},
    {"torus", "missing -o FILE"},
    {"torus --spines 4 -o out.topo", "torus has no --spines; it takes --dims"},
    {"torus --dims 4x0 -o out.topo", "\"4x0\" is not a list of 1 to 16 sizes"},
    {"torus --dims 4096x4096x4096 -o out.topo", "are more than 16777216 GPUs"},
    {"twisted-torus --twist 0:3:1 -o out.topo", "is not D:E:S"},
    {"fat-tree --arity 7 -o out.topo", "7 ports do not divide"},
    {"fat-tree --arity 8 --spines 2 -o out.topo", "use one of them"},
    {"dragonfly --groups 10 -o out.topo", "10 is not between 2 and 9"},
    {"dgx-h100 --compat simai -o out.topo", "is for SimAI's templates"},
    {"dgx-h100 --format yaml -o out.topo", "\"yaml\" is not one of astra, simai"},
    {"dgx-h100 -o out.topo --logical out.topo", "name the same file"},
};

static void a_machine_that_cannot_be_is_one_line_and_no_file(void **state)
{
    (void)state;
    program_enter();
    for (size_t i = 0; i < COUNT_OF(mistakes); i++) {
        char line[400];
        (void)snprintf(line, sizeof line, "topo make %s", mistakes[i].options);
        const struct program_result *result = program_run(line);
        CHECK_EXIT(result, 2);
        CHECK_CONTAINS(result->err, mistakes[i].says);
        CHECK(!program_exists("out.topo") && !program_exists("DCN+SingleToR_4096g_8gps_400Gbps_H100") &&
                  !program_exists("Rail_Opti_SingleToR_12g_8gps_400Gbps_H100"),
              "%s leaves no file", line);
    }
}

static void a_corrected_count_of_switches_is_a_warning_or_with_strict_an_error(void **state)
{
    (void)state;
    program_enter();
    const struct program_result *result = program_run("topo make -topo Spectrum-X -g 1024 -o sx.topo");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->err, "warning: 1024 GPUs need 16 switches of the first level");
    CHECK_EXIT(program_run("topo make -topo Spectrum-X -g 1024 -o strict.topo --strict"), 2);
    CHECK(!program_exists("strict.topo"), "no file");
}

/* Every machine there is, at a few sizes: GPUs, and the links between two of them at most. */
static const struct {
    const char *machine;
    unsigned gpus, diameter;
} machines[] = {
    {"dgx-a100", 8, 2},
    {"dgx-h100 --nodes 4", 32, 4},
    {"dgx-b200 --nodes 2 --nvswitches 2", 16, 4},
    {"nvl72", 72, 2},
    {"nvl36 --nodes 2", 72, 4},
    {"mi300x", 8, 1},
    {"mi300x --nodes 2", 16, 4},
    {"mi250x", 8, 4},
    {"mi250x --nodes 2", 16, 7},
    {"pcie-pair", 2, 2},
    {"pcie-pair --nodes 2", 4, 4},
    {"single-switch --hosts 16", 16, 2},
    {"ring", 8, 6},
    {"ring --hosts 2", 2, 3},
    {"mesh --dims 3x3", 9, 6},
    {"torus --dims 4x4", 16, 6},
    {"torus --dims 2x2x2", 8, 5},
    {"twisted-torus --dims 4x4x4", 64, 7},
    {"fat-tree --arity 4", 16, 6},
    {"fat-tree --arity 4 --levels 1", 4, 2},
    {"fat-tree --arity 8 --levels 2 --oversubscription 3:1", 48, 4},
    {"fat-tree --arity 4 --levels 4 --hosts 20", 20, 8},
    {"fat-tree --hosts 20 --per-leaf 8", 20, 4},
    {"dragonfly", 72, 5},
    {"dragonfly --router-groups 3", 24, 4},
    {"rail-only --nodes 2", 16, 6},
    {"fully-connected --hosts 6", 6, 1},
    {"Spectrum-X --hosts 16 --spines 2", 16, 4},
    {"AlibabaHPN --hosts 16 --spines 2", 16, 4},
    {"DCN+ --hosts 16 --per-leaf 8", 16, 4},
    {"custom --hosts 16 --spines 1 --per-leaf 8", 16, 4},
    {"dgx-a100:2,pcie>rail>spine", 16, 6},
    {"mi250x:2,pcie>leaf", 16, 8},
    {"pcie-pair:2,pcie>leaf", 4, 6},
    {"gpu:4,pcie>leaf", 4, 4},
};

static void every_machine_is_read_back_sound_and_as_wide_as_it_should_be(void **state)
{
    (void)state;
    program_enter();
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        static const char *const forms[] = {"astra", "simai"};
        for (size_t form = 0; form < 2; form++) {
            char line[400];
            char part[64];
            (void)snprintf(line, sizeof line, "topo make %s --format %s -o m.topo", machines[i].machine, forms[form]);
            CHECK_EXIT(program_run(line), 0);
            const struct program_result *result = program_run("topo stat m.topo --json -");
            CHECK_EXIT(result, 0);
            (void)snprintf(part, sizeof part, "\"hosts\": %u,", machines[i].gpus);
            CHECK_CONTAINS(result->out, part);
            (void)snprintf(part, sizeof part, "\"diameter\": %u,", machines[i].diameter);
            CHECK(strstr(result->out, part) != NULL, "%s: %s not in %s", machines[i].machine, part, result->out);
            CHECK_CONTAINS(result->out, "\"unreached_pairs\": 0,");
            CHECK_CONTAINS(result->out, "\"hosts_forward\": false,");
        }
    }
}

static void measures_go_to_a_file_but_never_over_the_machine(void **state)
{
    (void)state;
    program_enter();
    CHECK_EXIT(program_run("topo make ring --hosts 4 -o m.topo"), 0);
    char *shown = strdup(program_run("topo stat m.topo --json -")->out);
    CHECK_EXIT(program_run("topo stat m.topo --json m.json"), 0);
    CHECK(shown != NULL && strcmp(shown, program_read("m.json", NULL)) == 0, "the same document");
    free(shown);
    const struct program_result *result = program_run("topo stat m.topo --json m.topo");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--json would replace the input m.topo");
}

/* A rail of the mi250x has the NIC of every second die; leaves that are not full differ; ends of a mesh too. */
static bool is_uneven(const char *machine)
{
    return strstr(machine, "mi250x --nodes") != NULL || strstr(machine, "mi250x:2") != NULL ||
           strstr(machine, "--hosts 20") != NULL;
}

static void what_is_made_has_no_findings(void **state)
{
    (void)state;
    program_enter();
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        char line[400];
        (void)snprintf(line, sizeof line, "topo make %s -o m.topo", machines[i].machine);
        CHECK_EXIT(program_run(line), 0);
        const struct program_result *result = program_run("topo check m.topo");
        CHECK(result->exit_code == 0 || is_uneven(machines[i].machine), "%s: %s", machines[i].machine, result->out);
    }
}

static void every_machine_runs_an_all_reduce_on_both_wired_networks(void **state)
{
    (void)state;
    program_enter();
    program_write_machine(2, 1);
    program_write_text("config.txt", "TOPOLOGY_FILE m.topo CC_MODE 12 ENABLE_QCN 0 L2_ACK_INTERVAL 1 "
                                     "L2_CHUNK_SIZE 4000\n");
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        static const char *const backends[] = {"packet", "flow"};
        char line[400];
        (void)snprintf(line, sizeof line, "topo make %s --format astra -o m.topo --logical m.json",
                       machines[i].machine);
        CHECK_EXIT(program_run(line), 0);
        (void)snprintf(line, sizeof line, "gen collective --bytes 64KiB --ranks %u -o w%u/ar", machines[i].gpus,
                       machines[i].gpus);
        CHECK_EXIT(program_run(line), 0);
        for (size_t backend = 0; backend < 2; backend++) {
            (void)snprintf(line, sizeof line,
                           "run --backend %s --no-progress -w w%u/ar -s system.json -n config.txt "
                           "--logical-topology-configuration m.json",
                           backends[backend], machines[i].gpus);
            const struct program_result *result = program_run(line);
            CHECK(result->exit_code == 0, "%s on %s: %s", machines[i].machine, backends[backend], result->err);
        }
    }
}

/* Of an all-gather of two GPUs on a network. */
static uint64_t step_ns(const char *machine, const char *backend)
{
    char line[400];
    (void)snprintf(line, sizeof line, "topo make %s --format astra -o m.topo", machine);
    CHECK_EXIT(program_run(line), 0);
    (void)snprintf(line, sizeof line, "run --backend %s --no-progress -w w/ar -s system.json -n config.txt", backend);
    const struct program_result *result = program_run(line);
    CHECK_EXIT(result, 0);
    const char *told = strstr(result->out, "  (");
    return told == NULL ? 0 : strtoull(told + 3, NULL, 10);
}

static void a_nic_faster_than_its_pcie_is_held_to_the_rate_of_pcie(void **state)
{
    (void)state;
    program_enter();
    program_write_machine(2, 1);
    program_write_text("config.txt", "TOPOLOGY_FILE m.topo CC_MODE 12 ENABLE_QCN 0 L2_ACK_INTERVAL 1 "
                                     "L2_CHUNK_SIZE 4000 PACKET_PAYLOAD_SIZE 4096 HAS_WIN 0\n");
    CHECK_EXIT(program_run("gen collective --type all-gather --bytes 16MiB --npus 2 -o w/ar"), 0);
    static const char *const backends[] = {"packet", "flow"};
    for (size_t i = 0; i < COUNT_OF(backends); i++) {
        uint64_t bare = step_ns("gpu:2>leaf:400Gbps", backends[i]);
        uint64_t held = step_ns("gpu:2,pcie4>leaf:400Gbps", backends[i]);
        uint64_t slow = step_ns("gpu:2>leaf:252Gbps", backends[i]);
        uint64_t wide = step_ns("gpu:2,pcie5>leaf:400Gbps", backends[i]);
        CHECK(held > bare + bare / 2, "%s: %" PRIu64 " against %" PRIu64, backends[i], held, bare);
        CHECK(held > slow && held < slow + slow / 20,
              "%s: as a NIC of 252 Gbps, and the switch on the way: %" PRIu64 " and %" PRIu64, backends[i], held, slow);
        CHECK(wide > bare && wide < bare + bare / 20, "%s: PCIe 5.0 holds up nothing: %" PRIu64 " and %" PRIu64,
              backends[i], wide, bare);
    }
}

static void a_check_finds_every_bad_line(void **state)
{
    (void)state;
    program_enter();
    program_write_text("bad.topo", "4 1 4\n3\n0 3 1Gbps 1us 0\n0 0 1Gbps 1us 0\n1 9 1Gbps 1us 0\n2 3 1Gpbs 1us\n");
    const struct program_result *result = program_run("topo check bad.topo");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->out, "bad.topo:4: a link joins node 0 to itself");
    CHECK_CONTAINS(result->out, "bad.topo:5: a link ends at node 9");
    CHECK_CONTAINS(result->out, "bad.topo:6: 4 words, and a link has five");
    CHECK_CONTAINS(result->out, "bad.topo: 3 findings");
}

static void a_check_finds_what_a_reader_lets_pass(void **state)
{
    (void)state;
    program_enter();
    program_write_text("odd.topo", "7 2 6\n3 6\n0 3 4Gbps 1us 0\n1 3 1Gbps 1us 0\n3 1 1Gbps 1us 0\n2 4 1Gbps 1us 0\n"
                                   "4 5 1Gbps 1us 0\n5 2 1Gbps 1us 0\nrest\n");
    const struct program_result *result = program_run("topo check odd.topo");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->out, "\"rest\" and what follows is ignored");
    CHECK_CONTAINS(result->out, "node 3 is a switch and node 5 a host");
    CHECK_CONTAINS(result->out, "hosts do not have the same bandwidth");
    CHECK_CONTAINS(result->out, "1 switch has fewer than two links");
    CHECK_CONTAINS(result->out, "1 link is also there the other way round");
    CHECK_CONTAINS(result->out, "host 0 has no way to 3 of the hosts, such as host 2");
}

static void a_picture_is_drawn_of_every_machine(void **state)
{
    (void)state;
    program_enter();
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        char line[400];
        size_t size = 0;
        (void)snprintf(line, sizeof line, "topo make %s -o m.topo", machines[i].machine);
        CHECK_EXIT(program_run(line), 0);
        CHECK_EXIT(program_run("topo show m.topo -o m.svg"), 0);
        const char *picture = program_read("m.svg", &size);
        CHECK(size > 500 && strcmp(picture + size - 7, "</svg>\n") == 0, "%s", machines[i].machine);
        const struct program_result *result = program_run("topo show m.topo --text");
        CHECK_EXIT(result, 0);
        CHECK_CONTAINS(result->out, "GPUs (0-");
    }
    CHECK_EXIT(program_run("topo make twisted-torus --dims 4x4x2 -o m.topo"), 0);
    CHECK_EXIT(program_run("topo show m.topo --dims 4x4x2 -o m.svg"), 0);
    CHECK_EXIT(program_run("topo show m.topo --dims 4x4x4 -o m.svg"), 2);
    CHECK_EXIT(program_run("topo show m.topo -o m.topo"), 2);
    CHECK_EXIT(program_run("topo show m.topo -o m.png"), 2);
    CHECK_CONTAINS(program_run("topo show m.topo -o ./m.png")->err, "as SVG, not png; name it ./m.svg");
    CHECK_EXIT(program_run("topo show m.topo"), 2);
}

static void machines_are_listed_with_what_they_take(void **state)
{
    (void)state;
    program_enter();
    CHECK_CONTAINS(program_run("topo list")->out, "\ntwisted-torus    a torus whose closing links");
    CHECK_CONTAINS(program_run("topo list dgx-h100")->out, "NVLink 3600Gbps 25ns, NICs 400Gbps");
    CHECK_CONTAINS(program_run("topo list torsu")->err, "did you mean \"torus\"?");
}

TEST_MAIN(a_machine_that_cannot_be_is_one_line_and_no_file,
          a_corrected_count_of_switches_is_a_warning_or_with_strict_an_error,
          every_machine_is_read_back_sound_and_as_wide_as_it_should_be,
          measures_go_to_a_file_but_never_over_the_machine, what_is_made_has_no_findings,
          every_machine_runs_an_all_reduce_on_both_wired_networks,
          a_nic_faster_than_its_pcie_is_held_to_the_rate_of_pcie, a_check_finds_every_bad_line,
          a_check_finds_what_a_reader_lets_pass, a_picture_is_drawn_of_every_machine,
          machines_are_listed_with_what_they_take)
