/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dragonfly's global links are laid in turns ("palm tree"): port k of a group goes to the group k + 1 further on,
 * counted round, so that with A * H + 1 groups each pair has one link, and with fewer groups the turns begin again.
 */
#include "topo/make/shapes.h"

#include <inttypes.h>

struct dragonfly {
    uint64_t routers, per_router, global_links, groups;
    uint32_t host, local, global; /* classes */
};

/* The class of level `at` of the lists. */
static enum orr_status take_class(const struct topo_settings *settings, unsigned at, const char *rate_otherwise,
                                  const char *delay_otherwise, struct topo_made *made, uint32_t *class,
                                  struct orr_error *err)
{
    struct topo_quantity rate;
    struct topo_quantity delay;
    enum orr_status status = topo_settings_rate(settings, TOPO_SET_BANDWIDTH, at, rate_otherwise, &rate, err);
    if (status == ORR_OK) {
        status = topo_settings_time(settings, TOPO_SET_LATENCY, at, delay_otherwise, &delay, err);
    }
    if (status == ORR_OK) {
        *class = topo_made_class(made, &rate, &delay);
    }
    return status;
}

enum orr_status topo_fully_connected_make(const struct topo_settings *settings, struct topo_made *made, struct mem *mem,
                                          struct orr_error *err)
{
    uint64_t hosts = 0;
    uint32_t class = 0;
    enum orr_status status = topo_made_init(made, settings, "H100", mem, err);
    if (status == ORR_OK) {
        status = topo_settings_count(settings, TOPO_SET_HOSTS, 8, 2, 1 << 13, &hosts, err);
    }
    if (status == ORR_OK) {
        status = take_class(settings, 0, "400Gbps", "500ns", made, &class, err);
    }
    if (status == ORR_OK) {
        status = topo_made_nodes(made, hosts, 0, 0, err);
    }
    if (status == ORR_OK) {
        status = topo_made_expect(made, hosts * (hosts - 1) / 2, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    topo_made_dim(made, hosts);
    for (uint32_t a = 0; a < hosts; a++) {
        for (uint32_t b = a + 1; b < hosts; b++) {
            topo_made_link(made, a, b, class);
        }
    }
    return topo_made_end(made, err);
}

static enum orr_status read_dragonfly(const struct topo_settings *settings, struct dragonfly *fly,
                                      struct topo_made *made, struct orr_error *err)
{
    enum orr_status status = topo_settings_count(settings, TOPO_SET_ROUTERS, 4, 1, 4096, &fly->routers, err);
    uint64_t half = fly->routers > 1 ? fly->routers / 2 : 1;
    if (status == ORR_OK) {
        status = topo_settings_count(settings, TOPO_SET_PER_ROUTER, half, 1, 4096, &fly->per_router, err);
    }
    if (status == ORR_OK) {
        status = topo_settings_count(settings, TOPO_SET_GLOBAL_LINKS, half, 1, 4096, &fly->global_links, err);
    }
    uint64_t most = fly->routers * fly->global_links + 1;
    if (status == ORR_OK) {
        status = topo_settings_count(settings, TOPO_SET_GROUPS, most, 2, most, &fly->groups, err);
    }
    if (status == ORR_OK) {
        status = take_class(settings, 0, "400Gbps", "500ns", made, &fly->host, err);
    }
    if (status == ORR_OK) {
        status = take_class(settings, 1, "400Gbps", "500ns", made, &fly->local, err);
    }
    return status == ORR_OK ? take_class(settings, 2, "400Gbps", "500ns", made, &fly->global, err) : status;
}

/* Links to other groups that begin at router `router` of group `group`; each is laid by its lower group. */
static void wire_global(const struct dragonfly *fly, struct topo_made *made, uint64_t group, uint64_t router)
{
    uint64_t ports = fly->routers * fly->global_links;
    uint64_t turn = fly->groups - 1;
    for (uint64_t link = 0; link < fly->global_links; link++) {
        uint64_t port = router * fly->global_links + link;
        uint64_t other = (group + port % turn + 1) % fly->groups;
        uint64_t back = port / turn * turn + (turn - 1 - port % turn); /* the port that goes the same way back */
        if (back < ports && other > group) {
            uint64_t far = other * fly->routers + back / fly->global_links;
            topo_made_link(made, (uint32_t)(made->hosts + group * fly->routers + router), (uint32_t)(made->hosts + far),
                           fly->global);
        }
    }
}

static void wire_dragonfly(const struct dragonfly *fly, struct topo_made *made)
{
    for (uint64_t host = 0; host < made->hosts; host++) {
        topo_made_link(made, (uint32_t)host, (uint32_t)(made->hosts + host / fly->per_router), fly->host);
    }
    for (uint64_t group = 0; group < fly->groups; group++) {
        uint64_t first = made->hosts + group * fly->routers;
        for (uint64_t a = 0; a < fly->routers; a++) {
            for (uint64_t b = a + 1; b < fly->routers; b++) {
                topo_made_link(made, (uint32_t)(first + a), (uint32_t)(first + b), fly->local);
            }
            wire_global(fly, made, group, a);
        }
    }
}

enum orr_status topo_dragonfly_make(const struct topo_settings *settings, struct topo_made *made, struct mem *mem,
                                    struct orr_error *err)
{
    struct dragonfly fly = {0};
    enum orr_status status = topo_made_init(made, settings, "H100", mem, err);
    if (status == ORR_OK) {
        status = read_dragonfly(settings, &fly, made, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    uint64_t routers = fly.routers * fly.groups;
    uint64_t hosts = routers * fly.per_router;
    status = topo_made_nodes(made, hosts, 0, routers, err);
    if (status == ORR_OK) {
        status = topo_made_expect(made, hosts + routers * (fly.routers - 1) / 2 + routers * fly.global_links / 2, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    topo_made_dim(made, fly.per_router * fly.routers);
    topo_made_dim(made, fly.groups);
    wire_dragonfly(&fly, made);
    return topo_made_end(made, err);
}
