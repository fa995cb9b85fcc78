/* SPDX-License-Identifier: Apache-2.0 */
/* What a physical topology file may say, in both forms, and how each kind of contradiction is refused or told. */
#include "config/wired.h"
#include "tests/config/reading.h"

static enum orr_status parse(struct reading *reading, const char *text, struct topo_graph *graph,
                             struct config_wired_extra *extra)
{
    return config_parse_topology("t.txt", text, strlen(text), &reading->arena, &reading->notes, graph, extra,
                                 &reading->err);
}

static void hosts_switches_and_links_are_read_in_order(void **state)
{
    (void)state;
    struct reading reading;
    struct topo_graph graph;
    struct config_wired_extra extra;
    reading_begin(&reading, true);
    CHECK_OK(parse(&reading,
                   "5 2 4\n3 4\n0 3 400Gbps 0.0005ms 0\n1 3 50Mb/s 1us 0.01\n2 4 12.5GBps 500ns 0\n3 4 1Tbps 2ns 0\n",
                   &graph, &extra),
             &reading.err);
    CHECK_U64(graph.node_count, 5, "nodes");
    CHECK_U64(graph.kinds[2], TOPO_NODE_HOST, "node 2 is a host");
    CHECK_U64(graph.kinds[3], TOPO_NODE_SWITCH, "node 3 is a switch");
    CHECK_U64(graph.links[0].rate_bps, 400000000000, "Gbps");
    CHECK_U64(graph.links[0].delay_ns, 500, "0.0005ms");
    CHECK_U64(graph.links[1].rate_bps, 50000000, "Mb/s");
    CHECK(graph.links[1].error_rate == 0.01, "a link's own losses");
    CHECK_U64(graph.links[2].rate_bps, 100000000000, "bytes a second");
    CHECK_U64(graph.port_start[4] - graph.port_start[3], 3, "ports of node 3");
    CHECK_U64(graph.ports[graph.port_start[3] + 1].index, 2, "ports are numbered from 1 in the order of the links");
    CHECK_U64(graph.ports[graph.ports[graph.port_start[3] + 2].peer].node, 4, "the third leads to node 4");
    CHECK_U64(extra.gpus_per_server, 0, "not SimAI's form");
    topo_graph_free(&graph);
    reading_end(&reading);
}

static void a_header_of_six_words_is_simai_s(void **state)
{
    (void)state;
    struct reading reading;
    struct topo_graph graph;
    struct config_wired_extra extra;
    reading_begin(&reading, true);
    CHECK_OK(parse(&reading,
                   "5 2 1 2 4 H100\n2 3 4\n0 2 2880Gbps 0.000025ms 0\n1 2 2880Gbps 0.000025ms 0\n"
                   "0 3 400Gbps 0.0005ms 0\n1 4 400Gbps 0.0005ms 0\n",
                   &graph, &extra),
             &reading.err);
    CHECK_U64(graph.kinds[2], TOPO_NODE_NVSWITCH, "the first ids are NVSwitches");
    CHECK_U64(graph.kinds[4], TOPO_NODE_SWITCH, "then switches");
    CHECK_U64(extra.gpus_per_server, 2, "GPUs of a server");
    CHECK_TEXT(extra.gpu_type, "H100");
    topo_graph_free(&graph);
    reading_end(&reading);
}

static void a_machine_without_switches_has_an_empty_line(void **state)
{
    (void)state;
    struct reading reading;
    struct topo_graph graph;
    struct config_wired_extra extra;
    reading_begin(&reading, true);
    CHECK_OK(parse(&reading, "2 0 1\n\n0 1 100Gbps 0.001ms 0\n", &graph, &extra), &reading.err);
    CHECK_U64(graph.link_count, 1, "links");
    topo_graph_free(&graph);
    reading_end(&reading);
}

static void what_contradicts_itself_is_refused_with_its_line(void **state)
{
    (void)state;
    static const struct bad_text bad[] = {
        {"", "t.txt:1: the file ends where the number of nodes is expected"},
        {"x 1 1\n", "t.txt:1: the number of nodes is \"x\", not a number"},
        {"-3 1 1\n", "t.txt:1: the number of nodes is -3; it must lie between 0 and"},
        {"2.5 1 1\n", "t.txt:1: the number of nodes is 2.5, not a whole number"},
        {"3 1\n", "t.txt:2: the file ends where the number of links is expected"},
        {"1 1 1\n0\n0 0 1Gbps 1us 0\n", "t.txt:1: 1 nodes of which 1 are switches leave no host"},
        {"99999999999 1 1\n", "the number of nodes is 99999999999; it must lie between"},
        {"3 1 4000000\n2\n0 2 1Gbps 1us 0\n", "t.txt:1: the header says 4000000 links, more than the file can hold"},
        {"3 1 2\n7\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n", "t.txt:2: switch 7 is not one of the nodes 0 to 2"},
        {"4 2 2\n3 3\n0 3 1Gbps 1us 0\n1 3 1Gbps 1us 0\n", "t.txt:2: switch 3 is named twice"},
        {"3 1 2\n2\n0 9 1Gbps 1us 0\n1 2 1Gbps 1us 0\n", "t.txt:3: a link ends at node 9; the nodes are 0 to 2"},
        {"3 1 2\n2\n0 2 1Gbps 1us 0\n1 1 1Gbps 1us 0\n", "t.txt:4: a link joins node 1 to itself"},
        {"3 1 2\n2\n0 2 1Gpbs 1us 0\n1 2 1Gbps 1us 0\n", "t.txt:3: a link's rate is \"1Gpbs\"; accepted is a number"},
        {"3 1 2\n2\n0 2 0Gbps 1us 0\n1 2 1Gbps 1us 0\n", "t.txt:3: a link's rate is 0"},
        {"3 1 2\n2\n0 2 -1Gbps 1us 0\n1 2 1Gbps 1us 0\n", "t.txt:3: a link's rate is \"-1Gbps\""},
        {"3 1 2\n2\n0 2 1Gbps 1parsec 0\n1 2 1Gbps 1us 0\n", "t.txt:3: a link's delay is \"1parsec\""},
        {"3 1 2\n2\n0 2 1Gbps 1us 1.5\n1 2 1Gbps 1us 0\n",
         "t.txt:3: a link's share of lost packets is 1.5; it must lie between 0 and 1"},
        {"3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us\n",
         "the file ends where a link's share of lost packets is expected"},
        {"3 1 2\n2\n0 2 100Gbps 1us 0\n", "the file ends where a link (source, destination, rate, delay, loss)"},
        {"4 1 2\n3\n0 3 1Gbps 1us 0\n1 3 1Gbps 1us 0\n", "t.txt: host 2 has no link"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct reading reading;
        struct topo_graph graph = {0};
        struct config_wired_extra extra;
        reading_begin(&reading, false);
        enum orr_status status = parse(&reading, bad[i].text, &graph, &extra);
        check_refusal(&reading, status, &bad[i]);
        CHECK(graph.mem == NULL, "nothing is handed out for: %s", bad[i].text);
        reading_end(&reading);
    }
}

static void what_has_no_effect_is_told_and_counted(void **state)
{
    (void)state;
    static const struct {
        const char *text, *note;
    } cases[] = {
        {"3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n0 2 1Gbps 1us 0\n",
         "t.txt:5: \"0\" and what follows is ignored: the header says 2 links"},
        {"3 1 4\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n0 2 1Gbps 1us 0\n2 0 1Gbps 1us 0\n",
         "t.txt: 2 links are between nodes that a later link joins again: only the last of parallel links carries "
         "traffic (parameter 'parallel-links' uses all)"},
        {"5 2 3\n2 4\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n3 4 1Gbps 1us 0\n",
         "t.txt: 1 host has no way to host 0, such as host 3: messages between them never arrive"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct reading reading;
        struct topo_graph graph;
        struct config_wired_extra extra;
        reading_begin(&reading, false);
        CHECK_OK(parse(&reading, cases[i].text, &graph, &extra), &reading.err);
        check_noted(&reading, cases[i].note);
        topo_graph_free(&graph);
        reading_end(&reading);
        reading_begin(&reading, true);
        CHECK_STATUS(parse(&reading, cases[i].text, &graph, &extra), ORR_EINVAL);
        reading_end(&reading);
    }
}

TEST_MAIN(hosts_switches_and_links_are_read_in_order, a_header_of_six_words_is_simai_s,
          a_machine_without_switches_has_an_empty_line, what_contradicts_itself_is_refused_with_its_line,
          what_has_no_effect_is_told_and_counted)
