/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network of dimensions has its servers in dimension 0: where that is a switch, each server has one of its own, whose
 * number comes after the ranks (net/net.h). In a wired machine a server's switch is one that exactly its ranks are on
 * and no other switch: files in ASTRA-sim's form do not say which switches are NVSwitches, so all are looked at.
 */
#include "sim/servers.h"

#include "net/packet/packet.h"

static uint32_t ranks_of_server(const struct sim_config *config, uint32_t ranks_each, uint32_t server)
{
    uint32_t first = server * ranks_each;
    uint32_t left = config->dims.ranks - first;
    return left < ranks_each ? left : ranks_each;
}

static enum orr_status find_in_dims(const struct sim_config *config, struct arena *arena, struct sim_servers *servers)
{
    const struct topo_dims *dims = &config->dims;
    uint32_t count = (dims->ranks - 1) / servers->ranks_each + 1;
    if (servers->ranks_each != dims->dim[0].size) {
        return ORR_OK;
    }
    servers->joined = dims->count > 1 && dims->dim[0].bytes_per_ns > dims->dim[1].bytes_per_ns;
    if (dims->dim[0].kind != TOPO_SWITCH) {
        return ORR_OK;
    }
    uint32_t *switches = arena_alloc(arena, count * sizeof *switches);
    if (switches == NULL) {
        return ORR_ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        switches[i] = dims->ranks + i;
    }
    servers->switches = switches;
    servers->switches_each = 1;
    return ORR_OK;
}

/* The server that all of a switch's neighbours are the ranks of; UINT32_MAX when they are not. */
static uint32_t server_on(const struct sim_config *config, const struct sim_servers *servers, uint32_t node)
{
    const struct topo_graph *graph = config->packet->graph;
    uint32_t server = UINT32_MAX;
    uint32_t hosts = 0;
    uint32_t last = UINT32_MAX;
    for (uint32_t port = graph->port_start[node]; port < graph->port_start[node + 1]; port++) {
        uint32_t other = graph->ports[graph->ports[port].peer].node;
        bool fits = graph->kinds[other] == TOPO_NODE_HOST && other < config->dims.ranks &&
                    (server == UINT32_MAX || other / servers->ranks_each == server);
        if (!fits) {
            return UINT32_MAX;
        }
        server = other / servers->ranks_each;
        hosts += other != last; /* links of one pair follow each other */
        last = other;
    }
    return server != UINT32_MAX && hosts == ranks_of_server(config, servers->ranks_each, server) ? server : UINT32_MAX;
}

/* How many switches of its own each server has; 0 when they do not all have the same number. */
static uint32_t even_count(const uint32_t *found, uint32_t servers)
{
    for (uint32_t i = 1; i < servers; i++) {
        if (found[i] != found[0]) {
            return 0;
        }
    }
    return found[0];
}

static enum orr_status find_in_graph(const struct sim_config *config, struct arena *arena, struct sim_servers *servers)
{
    const struct topo_graph *graph = config->packet->graph;
    uint32_t count = (config->dims.ranks - 1) / servers->ranks_each + 1;
    uint32_t *found = arena_zalloc(arena, count * sizeof *found); /* in each server */
    uint32_t *on = arena_alloc(arena, (size_t)graph->node_count * sizeof *on);
    uint32_t *switches = arena_alloc(arena, (size_t)graph->node_count * sizeof *switches);
    if (found == NULL || on == NULL || switches == NULL) {
        return ORR_ENOMEM;
    }
    for (uint32_t node = 0; node < graph->node_count; node++) {
        on[node] = graph->kinds[node] == TOPO_NODE_HOST ? UINT32_MAX : server_on(config, servers, node);
        if (on[node] != UINT32_MAX) {
            found[on[node]]++;
        }
    }
    uint32_t each = even_count(found, count);
    for (uint32_t node = 0; node < graph->node_count && each > 0; node++) {
        if (on[node] != UINT32_MAX) {
            switches[on[node] * each + each - found[on[node]]--] = node;
        }
    }
    servers->switches = switches;
    servers->switches_each = each;
    servers->joined = each > 0;
    return ORR_OK;
}

/* Whether a host has links to all other ranks of its server. */
static bool is_meshed(const struct sim_config *config, uint32_t ranks_each, uint32_t rank)
{
    const struct topo_graph *graph = config->packet->graph;
    uint32_t server = rank / ranks_each;
    uint32_t others = 0;
    uint32_t last = rank;
    for (uint32_t port = graph->port_start[rank]; port < graph->port_start[rank + 1]; port++) {
        uint32_t other = graph->ports[graph->ports[port].peer].node;
        others += other < config->dims.ranks && other / ranks_each == server && other != last;
        last = other; /* links of one pair follow each other */
    }
    return others + 1 >= ranks_of_server(config, ranks_each, server);
}

static bool all_meshed(const struct sim_config *config, uint32_t ranks_each)
{
    bool meshed = ranks_each > 1;
    for (uint32_t rank = 0; rank < config->dims.ranks && meshed; rank++) {
        meshed = is_meshed(config, ranks_each, rank);
    }
    return meshed;
}

enum orr_status sim_servers_find(const struct sim_config *config, struct arena *arena, struct sim_servers *servers)
{
    uint32_t set = config->system.nccl_gpus_per_server;
    uint32_t told = set != 0 ? set : config->gpus_per_server;
    *servers = (struct sim_servers){.ranks_each = told != 0 ? told : config->dims.dim[0].size, .told = told != 0};
    if (config->packet == NULL) {
        return find_in_dims(config, arena, servers);
    }
    enum orr_status status = find_in_graph(config, arena, servers);
    servers->meshed = servers->switches_each == 0 && all_meshed(config, servers->ranks_each);
    return status;
}
