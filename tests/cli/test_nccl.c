/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's lists of flows carried out on every network, and what the program says where they cannot be. */
#include <stdlib.h>

#include "coll/nccl.h"
#include "tests/cli/program.h"

enum { RANKS = 8 };

static const struct {
    const char *name;
    enum coll_type type;
} types[] = {{"all-reduce", COLL_ALL_REDUCE},
             {"all-gather", COLL_ALL_GATHER},
             {"reduce-scatter", COLL_REDUCE_SCATTER},
             {"all-to-all", COLL_ALL_TO_ALL}};

static void write_system(const char *all_reduce, const char *others, const char *more)
{
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "{\"scheduling-policy\": \"LIFO\", \"collective-optimization\": \"localBWAware\","
                   " \"endpoint-delay\": 10, \"active-chunks-per-dimension\": 1, \"preferred-dataset-splits\": 2,"
                   " \"local-mem-bw\": 2000, \"all-reduce-implementation\": %s, \"all-gather-implementation\": %s,"
                   " \"reduce-scatter-implementation\": %s, \"all-to-all-implementation\": %s%s}\n",
                   all_reduce, others, others, others, more);
    program_write_text("system.json", text);
}

/* Eight ranks, for each kind of network. */
static void write_machines(void)
{
    char text[1024] = "9 1 8\n8\n";
    program_write_text("network.yml", "topology: [FullyConnected]\nnpus_count: [8]\nbandwidth: [50]\nlatency: [500]\n");
    for (int i = 0; i < RANKS; i++) {
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, "%d 8 100Gbps 1us 0\n", i);
    }
    program_write_text("topology.txt", text);
    program_write_text("config.txt",
                       "TOPOLOGY_FILE topology.txt CC_MODE 12 L2_ACK_INTERVAL 1 L2_CHUNK_SIZE 4000 GLOBAL_T 0\n"
                       "KMIN_MAP 1 100000000000 400 KMAX_MAP 1 100000000000 1600 PMAX_MAP 1 100000000000 0.2\n");
}

static void write_traces(const char *type, uint64_t bytes)
{
    struct orr_error err = {0};
    struct orr_gen_options options = {
        .pattern = ORR_PATTERN_COLLECTIVE, .type = type, .bytes = bytes, .npus = RANKS, .prefix = "w/c"};
    CHECK_OK(orr_gen(&options, &err), &err);
}

/* What the list of one chunk holds, for the whole machine. */
static void expected(enum coll_type type, enum nccl_algo algo, uint32_t per_server, uint64_t bytes, uint64_t *flows,
                     uint64_t *total)
{
    struct mem mem = {0};
    struct arena arena;
    struct orr_error err = {0};
    struct nccl_job job = {.gpus = RANKS, .gpus_per_server = per_server, .tp = RANKS, .ep = 1};
    struct nccl_group group = {.type = NCCL_GROUP_TP};
    struct nccl_channels channels;
    struct nccl_flows list;
    uint32_t ranks[RANKS] = {0, 1, 2, 3, 4, 5, 6, 7};
    arena_init(&arena, &mem);
    CHECK_OK(nccl_group_build(&job, ranks, RANKS, &arena, &group, &err), &err);
    CHECK_OK(nccl_channels_build(&job, &group, &arena, &channels, &err), &err);
    struct nccl_choice choice = nccl_choose(&job, &group, type, bytes);
    choice.algo = algo;
    bytes = type == COLL_ALL_GATHER ? bytes * RANKS : bytes;
    CHECK_OK(nccl_flows_build(&job, &group, &channels, &choice, type, bytes, &arena, &list, &err), &err);
    *flows = list.count;
    *total = list.total_bytes;
    arena_free(&arena);
}

/* The number after `key` in the JSON report; 0 when it is not there. */
static uint64_t number_of(const char *key)
{
    size_t size = 0;
    const char *at = strstr(program_read("r.json", &size), key);
    return at == NULL ? 0 : strtoull(at + strlen(key), NULL, 10);
}

/* What the report says of the only dimension, whose links are one hop each. */
static uint64_t bytes_of_dimension(void)
{
    size_t size = 0;
    uint64_t bytes = 0;
    const char *links = strstr(program_read("r.json", &size), "\"links\": 56");
    const char *at = links == NULL ? NULL : strstr(links, "\"bytes\": ");
    CHECK(at != NULL && sscanf(at, "\"bytes\": %" SCNu64, &bytes) == 1, "the report names the dimension's bytes");
    return bytes;
}

/* The sum of the sizes of all messages that arrived. */
static uint64_t bytes_of_messages(void)
{
    size_t size = 0;
    uint64_t total = 0;
    for (const char *line = program_read("fct.txt", &size); *line != '\0'; line = strchr(line, '\n') + 1) {
        unsigned long bytes = 0;
        CHECK(sscanf(line, "%*s %*s %*u %*u %lu", &bytes) == 1, "a line of fct.txt: %.60s", line);
        total += bytes;
    }
    return total;
}

static void what_travels_is_the_list_on_every_network(void **state)
{
    (void)state;
    static const struct {
        const char *all_reduce, *key;
        enum nccl_algo algo;
        uint32_t per_server;
    } ways[] = {{"[\"nccl\"]", "", NCCL_RING, 8},
                {"[\"ncclRing\"]", ", \"nccl-gpus-per-server\": 4", NCCL_RING, 4},
                {"[\"ncclTree\"]", ", \"nccl-gpus-per-server\": 2", NCCL_TREE, 2},
                {"\"nccl\"", ", \"nccl-gpus-per-server\": 3", NCCL_RING, 3}};
    static const char *const networks[] = {"unaware -n network.yml", "aware -n network.yml",
                                           "packet -n config.txt --fct fct.txt", "flow -n config.txt --fct fct.txt"};
    static const uint64_t sizes[] = {262144, 100003};
    program_enter();
    write_machines();
    for (size_t w = 0; w < COUNT_OF(ways); w++) {
        write_system(ways[w].all_reduce, "[\"nccl\"]", ways[w].key);
        for (size_t t = 0; t < COUNT_OF(types) * COUNT_OF(sizes); t++) {
            enum coll_type type = types[t / 2].type;
            uint64_t bytes = sizes[t % 2];
            uint64_t flows = 0;
            uint64_t total = 0;
            uint64_t chunks = 2; /* both rounded up */
            expected(type, type == COLL_ALL_REDUCE ? ways[w].algo : NCCL_RING, ways[w].per_server, (bytes + 1) / 2,
                     &flows, &total);
            write_traces(types[t / 2].name, bytes);
            for (size_t n = 0; n < COUNT_OF(networks); n++) {
                char line[256];
                (void)snprintf(line, sizeof line,
                               "run -q --no-progress -w w/c -s system.json --json r.json --backend %s", networks[n]);
                CHECK_EXIT(program_run(line), 0);
                CHECK_U64(number_of("\"messages\": "), chunks * flows, "%s %s %s", types[t / 2].name,
                          ways[w].all_reduce, networks[n]);
                uint64_t moved = n < 2 ? bytes_of_dimension() : bytes_of_messages();
                uint64_t evened = n < 2 ? 0 : flows; /* on wires a ring's slices are all as large as the largest */
                CHECK(moved >= chunks * total && moved <= chunks * (total + evened),
                      "%s %s on %s: %" PRIu64 " B, the list's are %" PRIu64, types[t / 2].name, ways[w].all_reduce,
                      networks[n], moved, chunks * total);
            }
        }
    }
}

/* Two servers of four GPUs, each on a switch of its own and each GPU on a rail, in SimAI's form. */
static void write_servers(const char *gpu_type)
{
    char text[1024];
    int used = snprintf(text, sizeof text, "14 4 2 4 16 %s\n8 9 10 11 12 13\n", gpu_type);
    for (int i = 0; i < RANKS; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used, "%d %d 400Gbps 25ns 0\n%d %d 100Gbps 500ns 0\n", i,
                         8 + i / 4, i, 10 + i % 4);
    }
    program_write_text("topology.txt", text);
    program_write_text("network.yml", "topology: [Switch, Switch]\nnpus_count: [4, 2]\nbandwidth: [50, 12.5]\n"
                                      "latency: [25, 500]\n");
}

static const char *const all_networks[] = {"unaware -n network.yml", "aware -n network.yml", "packet -n config.txt",
                                           "flow -n config.txt"};

/* Messages of the all-reduce; -1 when the run says anything. */
static int64_t messages_of_run(const char *network)
{
    char line[256];
    (void)snprintf(line, sizeof line, "run -q --strict -w w/c -s system.json --json r.json --backend %s", network);
    const struct program_result *result = program_run(line);
    CHECK_EXIT(result, 0);
    return result->err[0] == '\0' ? (int64_t)number_of("\"messages\": ") : -1;
}

static void nvls_goes_through_the_switches_on_every_network(void **state)
{
    (void)state;
    /* In each of two chunks and of twice four channels, for each of two servers: all ranks to the switch, the switch to
     * the head, the head to the switch, the switch to all; and once up and down between the heads. */
    enum { TREE = 2 * 8 * (2 * (4 + 1 + 1 + 4) + 2), STAR = 2 * 8 * (8 + 1 + 1 + 8) };
    program_enter();
    write_machines();
    write_servers("H100");
    write_system("[\"ncclNvls\"]", "[\"ncclNvls\"]", "");
    write_traces("all-reduce", 65536);
    for (size_t n = 0; n < COUNT_OF(all_networks); n++) {
        CHECK_U64((uint64_t)messages_of_run(all_networks[n]), TREE, "%s", all_networks[n]);
    }
    program_write_text("network.yml", "topology: [Switch]\nnpus_count: [8]\nbandwidth: [50]\nlatency: [25]\n");
    CHECK_U64((uint64_t)messages_of_run("unaware -n network.yml"), STAR, "one server");
    uint64_t slow = number_of("\"time_ns\": ");
    write_system("[\"ncclNvls\"]", "[\"ncclNvls\"]", ", \"nccl-nvls-efficiency\": 1");
    CHECK_U64((uint64_t)messages_of_run("unaware -n network.yml"), STAR, "one server");
    CHECK(number_of("\"time_ns\": ") < slow, "%" PRIu64 " ns when all of a link is used", slow);
    for (size_t t = 1; t < COUNT_OF(types); t++) {
        write_traces(types[t].name, 100003);
        CHECK(messages_of_run("aware -n network.yml") > 0, "%s", types[t].name);
    }
}

static void nccl_reduces_in_the_switch_where_the_gpus_can(void **state)
{
    (void)state;
    uint64_t messages[3] = {0};
    program_enter();
    write_machines();
    write_traces("all-reduce", 65536);
    static const struct {
        const char *gpu, *algo;
    } cases[] = {{"H100", "[\"ncclNvls\"]"}, {"H100", "[\"nccl\"]"}, {"A100", "[\"nccl\"]"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        write_servers(cases[i].gpu);
        write_system(cases[i].algo, "[\"nccl\"]", "");
        messages[i] = (uint64_t)messages_of_run("flow -n config.txt");
    }
    CHECK_U64(messages[1], messages[0], "H100");
    CHECK_U64(messages[2], 2 * 4 * 14 * 8, "A100: two chunks, four rings, 14 steps, 8 ranks");
}

static void the_networks_switches_add_up_on_flow_and_packet(void **state)
{
    (void)state;
    /* In each of two chunks and four channels: in both servers all ranks to the switch, the switch to the head, the
     * head to the rail's switch, and back the same way. */
    enum { SWITCHES = 2 * 4 * 2 * (4 + 1 + 1 + 1 + 1 + 4), RING = 2 * 4 * 14 * 8 };
    static const struct {
        const char *algo, *key;
    } ways[] = {{"[\"ncclCollnet\"]", ""}, {"[\"nccl\"]", ", \"nccl-collnet-enable\": 1"}};
    program_enter();
    write_machines();
    write_servers("A100");
    write_traces("all-reduce", 65536);
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        write_system(ways[i].algo, "[\"nccl\"]", ways[i].key);
        CHECK_U64((uint64_t)messages_of_run("flow -n config.txt"), SWITCHES, "%s", ways[i].algo);
        CHECK_U64((uint64_t)messages_of_run("packet -n config.txt"), SWITCHES, "%s", ways[i].algo);
    }
    CHECK_U64((uint64_t)messages_of_run("aware -n network.yml"), RING, "NCCL has no such switches there");
    write_system("[\"ncclCollnet\"]", "[\"nccl\"]", "");
    const struct program_result *result = program_run("run -w w/c -s system.json -n network.yml --json r.json");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->err, "ncclCollnet: this network has no switches that could add up");
    CHECK_U64(number_of("\"messages\": "), RING, "and the ring is used");
    CHECK_CONTAINS(program_run("coll show --gpus 16 --algo collnet")->out, "channel 7  network switch 25 <> 7 15\n");
    CHECK_CONTAINS(program_run("coll show --gpus 16 --algo collnet --dump")->out, " COLLNET\n");
    CHECK_CONTAINS(program_run("coll show --gpus 16 --algo collnet --compat simai")->err, "SimAI has no reductions");
    CHECK_CONTAINS(program_run("coll show --gpus 16 --algo collnet --svg x.svg")->err, "--svg draws rings and trees");
}

static void the_same_is_carried_out_with_jitter_and_rendezvous(void **state)
{
    (void)state;
    program_enter();
    write_machines();
    write_system("[\"ncclTree\"]", "[\"nccl\"]", ", \"nccl-gpus-per-server\": 4");
    for (size_t t = 0; t < COUNT_OF(types); t++) {
        write_traces(types[t].name, 100003);
        CHECK_EXIT(program_run("run -q -w w/c -s system.json -n network.yml --jitter 0.5 --seed 3"), 0);
        CHECK_EXIT(program_run("run -q -w w/c -s system.json -n network.yml --rendezvous"), 0);
        CHECK_EXIT(program_run("run -q -w w/c -s system.json -n network.yml --backend aware --policy safe"), 0);
    }
}

static void a_rank_that_never_comes_is_named(void **state)
{
    (void)state;
    program_enter();
    write_machines();
    write_system("[\"nccl\"]", "[\"nccl\"]", "");
    write_traces("all-reduce", 65536);
    size_t size = 0;
    struct orr_error err = {0};
    struct orr_gen_options other = {
        .pattern = ORR_PATTERN_COLLECTIVE, .type = "all-gather", .bytes = 65536, .npus = RANKS, .prefix = "w/o"};
    CHECK_OK(orr_gen(&other, &err), &err);
    const char *bytes = program_read("w/o.3.et", &size);
    program_write("w/c.3.et", bytes, size);
    const struct program_result *result = program_run("run -q -w w/c -s system.json -n network.yml");
    CHECK_EXIT(result, 4);
    CHECK_CONTAINS(result->err, "rank 3");
    CHECK_CONTAINS(result->err, "all-gather");
}

static void what_it_cannot_do_is_a_named_error(void **state)
{
    (void)state;
    static const struct {
        const char *all_reduce, *others, *more, *says;
    } bad[] = {
        {"[\"nccl\", \"ring\"]", "[\"nccl\"]", "", "it must be the only one"},
        {"[\"nccl\"]", "[\"nccl\"]", ", \"model-shared-bus\": 1", "do not model the shared bus"},
        {"[\"ncclTree\"]", "[\"ncclTree\"]", "", "NCCL has trees for all-reduce only"},
        {"[\"ncclCollnet\"]", "[\"ncclCollnet\"]", "", "the network's switches add up all-reduces only"},
        {"[\"ncl\"]", "[\"nccl\"]", "", "did you mean \"nccl\"?"},
    };
    program_enter();
    write_machines();
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        write_system(bad[i].all_reduce, bad[i].others, bad[i].more);
        write_traces(i == 2 || i == 3 ? "all-gather" : "all-reduce", 65536);
        const struct program_result *result = program_run("run -q -w w/c -s system.json -n network.yml");
        CHECK_EXIT(result, 2);
        CHECK_CONTAINS(result->err, bad[i].says);
    }
    write_system("[\"ncclNvls\"]", "[\"nccl\"]", "");
    write_traces("all-reduce", 65536);
    const struct program_result *result = program_run("run -w w/c -s system.json -n network.yml");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->err, "NCCL's ring is used instead");
    CHECK_EXIT(program_run("run -q --strict -w w/c -s system.json -n network.yml"), 2);
}

static void a_job_of_nccl_has_a_network_whose_links_are_shared(void **state)
{
    (void)state;
    program_enter();
    write_machines();
    write_system("[\"nccl\"]", "[\"nccl\"]", "");
    write_traces("all-reduce", 8388608);
    const struct program_result *result = program_run("run --no-progress -w w/c -s system.json -n network.yml");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "congestion-aware network");
    CHECK_CONTAINS(result->err, "no --backend was given: aware, because");
    result = program_run("run --no-progress -w w/c -s system.json -n network.yml --backend unaware");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "congestion-unaware network");
    CHECK(strstr(result->out, "links of a rank carry") == NULL, "seven links of 50 GB/s are enough for eight channels");
    program_write_text("network.yml", "topology: [Switch]\nnpus_count: [8]\nbandwidth: [50]\nlatency: [500]\n");
    result = program_run("run --no-progress -w w/c -s system.json -n network.yml --backend unaware");
    CHECK_CONTAINS(result->out, "is more than the 53.69 GB/s that all links of a rank");
    write_system("[\"ring\"]", "[\"ring\"]", "");
    result = program_run("run --no-progress -w w/c -s system.json -n network.yml");
    CHECK_CONTAINS(result->out, "congestion-unaware network");
    CHECK_TEXT(result->err, "");
}

static void environment_variables_of_simai_count_under_compat(void **state)
{
    (void)state;
    program_enter();
    const char *orrery = getenv("ORRERY");
    static const char show[] = "coll show --compat simai --gpus 8 --gpu-type H100 --dump";
    CHECK_CONTAINS(program_run_as(orrery, show, "AS_NVLS_ENABLE=1", NULL)->out, "# algo 4 proto -1\n");
    CHECK_CONTAINS(program_run_as(orrery, show, "AS_NVLS_ENABLE=0", NULL)->out, "# algo 1 proto -1\n");
    CHECK_CONTAINS(program_run_as(orrery, "coll show --gpus 8 --dump", "AS_NVLS_ENABLE=1", NULL)->out,
                   "# algo 1 proto 2\n");
    CHECK_CONTAINS(program_run_as(orrery, "coll show --compat simai --gpus 16 --dump", "AS_PXN_ENABLE=1", NULL)->out,
                   "PXN_INIT");
}

static void words_are_taken_in_simais_spelling_too(void **state)
{
    (void)state;
    program_enter();
    CHECK_CONTAINS(program_run("coll show --gpus 16 --tp 2 --ep 2 --group DP_EP --gpu-type h100 --dump")->out,
                   "# rank0 group index ");
    CHECK_CONTAINS(program_run("coll show --gpus 16 --group TP --algo NVLS_TREE --nvls --dump")->out, "\nG 0 TP 2 16 ");
    CHECK_CONTAINS(program_run("coll show --gpus 16")->out, "over 16 ranks on 2 servers"); /* tp is all of them */
    CHECK_EXIT(program_run("coll show --gpus 16 --group dp_e"), 2);
    CHECK_EXIT(program_run("coll show --gpus 16 --group dp_epp"), 2);
}

static void a_picture_is_written_whole_or_not_at_all(void **state)
{
    (void)state;
    program_enter();
    size_t size = 0;
    CHECK_EXIT(program_run("coll show --gpus 16 --svg ring.svg"), 0);
    CHECK_CONTAINS(program_read("ring.svg", &size), "</svg>\n");
    CHECK_EXIT(program_run("coll show --gpus 16 --algo tree --svg tree.svg"), 0);
    CHECK_CONTAINS(program_read("tree.svg", &size), ">tree 15</text>");
    CHECK_EXIT(program_run("coll show --gpus 16 --type all-to-all --svg pairs.svg"), 2);
    CHECK(!program_exists("pairs.svg"), "nothing to draw");
    CHECK_EXIT(program_run("coll show --gpus 16 --svg no/such/folder.svg"), 2);
    CHECK_EXIT(program_run("coll show --type send-recv"), 2);
    CHECK_EXIT(program_run("coll show --pairs 1;2"), 2);
    CHECK_EXIT(program_run("coll show --gpus 16 --pairs 1:2,3:9 --bytes 10"), 0);
}

/* A ring of 8 ranks on one server, of two parts one after the other: each has a start and fourteen steps, as NCCL's
 * tuner counts them; LL and LL128 have flags among the data besides. */
static void a_protocol_costs_a_start_and_every_step(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t start_ns, step_ns, flags_ns;
    } protocols[] = {{"LL", 6600, 600, 400}, {"LL128", 14000, 1900, 100}, {"Simple", 8400, 3400, 0}};
    program_enter();
    program_write_text("network.yml", "topology: [Switch]\nnpus_count: [8]\nbandwidth: [50]\nlatency: [25]\n");
    write_traces("all-reduce", 65536);
    write_system("[\"ncclRing\"]", "[\"ncclRing\"]", "");
    CHECK(messages_of_run("unaware -n network.yml") > 0, "it runs");
    uint64_t wires = number_of("\"time_ns\": ");
    for (size_t i = 0; i < COUNT_OF(protocols); i++) {
        char more[64];
        (void)snprintf(more, sizeof more, ", \"nccl-protocol\": \"%s\"", protocols[i].name);
        write_system("[\"ncclRing\"]", "[\"ncclRing\"]", more);
        CHECK(messages_of_run("unaware -n network.yml") > 0, "it runs");
        uint64_t costs = number_of("\"time_ns\": ") - wires;
        uint64_t steps = 2 * (protocols[i].start_ns + 14 * protocols[i].step_ns);
        CHECK(costs >= steps && costs <= steps + protocols[i].flags_ns, "%s: %" PRIu64 " ns, not %" PRIu64,
              protocols[i].name, costs, steps);
    }
}

TEST_MAIN(a_protocol_costs_a_start_and_every_step, what_travels_is_the_list_on_every_network,
          nvls_goes_through_the_switches_on_every_network, the_networks_switches_add_up_on_flow_and_packet,
          nccl_reduces_in_the_switch_where_the_gpus_can, the_same_is_carried_out_with_jitter_and_rendezvous,
          a_job_of_nccl_has_a_network_whose_links_are_shared, a_rank_that_never_comes_is_named,
          what_it_cannot_do_is_a_named_error, environment_variables_of_simai_count_under_compat,
          words_are_taken_in_simais_spelling_too, a_picture_is_written_whole_or_not_at_all)
