/* SPDX-License-Identifier: Apache-2.0 */
/* A check a function; each says what was found, what comes of it and what is accepted. */
#include "run/wired_check.h"

#include <inttypes.h>

#include "net/cc/cc.h"
#include "net/packet/wire.h"

/* ---- buffers ---- */

static uint64_t reserved_bytes(const struct topo_graph *graph, uint32_t node, uint32_t headroom_factor)
{
    uint64_t bytes = 0;
    for (uint32_t port = graph->port_start[node]; port < graph->port_start[node + 1]; port++) {
        const struct topo_link *link = &graph->links[graph->ports[port].link];
        bytes += WIRE_PORT_RESERVE + wire_headroom_bytes(link->rate_bps, link->delay_ns, headroom_factor);
    }
    return bytes;
}

/* The switch that sets most aside; UINT32_MAX where there is none. */
static uint32_t neediest(const struct topo_graph *graph, uint32_t headroom_factor, uint64_t *bytes)
{
    uint32_t found = UINT32_MAX;
    *bytes = 0;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        uint64_t here = graph->kinds[node] == TOPO_NODE_HOST ? 0 : reserved_bytes(graph, node, headroom_factor);
        if (here > *bytes) {
            *bytes = here;
            found = node;
        }
    }
    return found;
}

static uint64_t whole_mib(uint64_t bytes)
{
    return (bytes + (UINT64_C(1) << 20) - 1) >> 20;
}

uint64_t run_wired_reserved_mib(const struct topo_graph *graph, uint32_t headroom_factor)
{
    uint64_t bytes = 0;
    (void)neediest(graph, headroom_factor, &bytes);
    return whole_mib(bytes);
}

static enum orr_status check_buffer(const struct run_wired *wired, const char *name, bool compat, struct notes *notes,
                                    struct orr_error *err)
{
    const struct packet_config *config = &wired->config;
    const struct topo_graph *graph = &wired->graph;
    uint64_t bytes = 0;
    uint32_t node = neediest(graph, config->headroom_factor, &bytes);
    if (node == UINT32_MAX || config->buffer_bytes >= bytes) {
        return ORR_OK;
    }
    uint32_t ports = graph->port_start[node + 1] - graph->port_start[node];
    if (compat) {
        return notes_add(notes, err,
                         "%s: BUFFER_SIZE %" PRIu64 " (MiB) is less than the %" PRIu64 " B that switch %" PRIu32
                         " sets aside for its %" PRIu32 " ports: as in the original its free room wraps round to "
                         "nearly 4 GiB, so that it neither pauses nor drops",
                         name, config->buffer_bytes >> 20, bytes, node, ports);
    }
    return error_set(err, ORR_EINVAL,
                     "%s: BUFFER_SIZE is %" PRIu64 " (MiB); switch %" PRIu32 " sets aside %" PRIu64
                     " B for its %" PRIu32
                     " ports (4096 B each, and HEADROOM_FACTOR times what is on the wire), so it needs %" PRIu64
                     " or more, or a smaller HEADROOM_FACTOR",
                     name, config->buffer_bytes >> 20, node, bytes, ports, whole_mib(bytes));
}

/* Packets in any order are kept as they come; there is no chunk to go back to the beginning of. */
static enum orr_status check_going_back(const struct packet_config *config, const char *name, struct orr_error *err)
{
    if (!config->back_to_zero || config->routing == PACKET_ROUTING_ECMP) {
        return ORR_OK;
    }
    return error_set(
        err, ORR_EINVAL,
        "%s: L2_BACK_TO_ZERO 1 needs packets in order, and %s lets them overtake each other; set it to 0, or "
        "use parameter 'routing' ecmp",
        name, config->routing == PACKET_ROUTING_SPRAY ? "parameter 'routing' spray" : "parameter 'routing' adaptive");
}

enum orr_status run_wired_check(const struct run_wired *wired, const char *name, bool compat, struct notes *notes,
                                struct orr_error *err)
{
    const struct cc_law *law = cc_law_of(wired->config.cc_mode);
    enum orr_status status = check_buffer(wired, name, compat, notes, err);
    if (status == ORR_OK) {
        status = check_going_back(&wired->config, name, err);
    }
    return status == ORR_OK && law->check != NULL ? law->check(&wired->config, name, notes, err) : status;
}
