/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small machine from a line of text, so that a test's machine can be seen in the test: a letter for each node (h a
 * host, s a switch, n an NVSwitch), then its links, "hhs 0-2 1-2@50". A link without a rate has 100 b/s.
 */
#ifndef ORR_TESTS_TOPO_DRAWN_H
#define ORR_TESTS_TOPO_DRAWN_H

#include <string.h>

#include "tests/check.h"
#include "topo/graph.h"

enum { DRAWN_LINKS_MOST = 64, DRAWN_RATE = 100 };

/* Given back with topo_graph_free. */
static inline struct topo_graph drawn(const char *line, struct mem *mem)
{
    static const struct {
        char letter;
        enum topo_node_kind kind;
    } kinds[] = {{'h', TOPO_NODE_HOST}, {'s', TOPO_NODE_SWITCH}, {'n', TOPO_NODE_NVSWITCH}};
    struct topo_graph graph;
    struct orr_error err = {0};
    struct topo_link links[DRAWN_LINKS_MOST];
    uint32_t link_count = 0;
    size_t nodes = strcspn(line, " ");
    int used = 0;
    for (const char *at = line + nodes;; at += used) {
        struct topo_link link = {.rate_bps = DRAWN_RATE, .delay_ns = 1};
        if (sscanf(at, " %" SCNu32 "-%" SCNu32 "%n", &link.a, &link.b, &used) != 2) {
            break;
        }
        int rate = 0;
        if (sscanf(at + used, "@%" SCNu64 "%n", &link.rate_bps, &rate) == 1) {
            used += rate;
        }
        assert_true(link_count < DRAWN_LINKS_MOST && link.a < nodes && link.b < nodes);
        links[link_count++] = link;
    }
    CHECK_OK(topo_graph_init(&graph, (uint32_t)nodes, link_count, mem, &err), &err);
    for (size_t i = 0; i < nodes; i++) {
        for (size_t k = 0; k < COUNT_OF(kinds); k++) {
            if (line[i] == kinds[k].letter) {
                graph.kinds[i] = (uint8_t)kinds[k].kind;
            }
        }
    }
    for (uint32_t i = 0; i < link_count; i++) {
        graph.links[i] = links[i];
    }
    CHECK_OK(topo_graph_finish(&graph, &err), &err);
    return graph;
}

#endif
