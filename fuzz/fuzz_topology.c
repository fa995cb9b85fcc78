/* SPDX-License-Identifier: Apache-2.0 */
/* Physical topologies, ASTRA-sim's and SimAI's. Besides not crashing: a refusal is one printable line, what is accepted
 * can be routed, and nothing stays in the account. */
#include "config/wired.h"
#include "fuzz/reading.h"
#include "topo/routes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void route(struct fuzz_reading *reading, const struct topo_graph *graph)
{
    struct topo_routes routes;
    uint32_t ports[8];
    if (topo_routes_init(&routes, graph, 1000, true, &reading->mem, &reading->err) == ORR_OK) {
        for (uint32_t node = 0; node < graph->node_count; node++) {
            if (graph->kinds[node] == TOPO_NODE_HOST) {
                (void)topo_routes_next(&routes, graph->node_count - 1 - node, node, ports, 8);
                break;
            }
        }
        topo_routes_free(&routes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    struct topo_graph graph;
    struct config_wired_extra extra;
    fuzz_reading_begin(&reading);
    enum orr_status status = config_parse_topology("input", (const char *)data, size, &reading.arena, &reading.notes,
                                                   &graph, &extra, &reading.err);
    fuzz_check_status(&reading, status);
    if (status == ORR_OK) {
        route(&reading, &graph);
        topo_graph_free(&graph);
    }
    fuzz_reading_end(&reading);
    return 0;
}
