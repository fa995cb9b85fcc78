/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two passes over the levels: the first works out how many switches each has and at which rate, so that all nodes can
 * be numbered and what is impossible is said before anything is made; the second wires.
 */
#include "topo/make/levels.h"

#include <inttypes.h>

/* A level with everything worked out. */
struct worked {
    uint64_t groups, in_group; /* switches: groups * in_group */
    uint64_t share;            /* UPPER: switches of the level below in a group (the last may have fewer) */
    uint64_t planes;           /* UPPER: below in a group's part that tells planes apart; 1: none */
    uint64_t first;            /* node */
    uint64_t parallel;
    uint64_t down_bps; /* into a switch from below */
    struct topo_quantity rate, delay;
};

struct build {
    const struct topo_levels *levels;
    const struct topo_server *server;
    uint64_t gpus, hosts, nvswitches, nics, rails;
    bool routed; /* a switch for each GPU */
    uint64_t first_router, first_pcie, first_slot;
    uint64_t switches, links;
    struct topo_quantity rate, delay;           /* inside */
    struct topo_quantity slot_rate, slot_delay; /* of PCIe up to a NIC */
    struct worked worked[TOPO_LEVELS_MOST];
};

static uint64_t or_one(uint64_t count)
{
    return count == 0 ? 1 : count;
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return (a + b - 1) / or_one(b);
}

/* a * b / c in 128 bits; UINT64_MAX where it does not fit. */
static uint64_t topo_levels_scale(uint64_t a, uint64_t b, uint64_t c, bool up)
{
    unsigned __int128 product = (unsigned __int128)a * b + (up ? c - 1 : 0);
    return product / c > UINT64_MAX ? UINT64_MAX : (uint64_t)(product / c);
}

/* The nodes of PCIe: of a PCIE server the switch that its GPUs are on; where NICs are said to be behind PCIe, a slot
 * for each NIC, which stands for the switch where the server has none. A real switch has the NICs and GPUs of two or
 * four: each has 16 lanes of its own to it, so nothing is shared on the way to the NIC, and the way between its GPUs is
 * one that nobody takes who has NVLink, while routes go by the number of links and would take both. */
static enum orr_status size_pcie(struct build *build, struct orr_error *err)
{
    const struct topo_levels *levels = build->levels;
    bool inside = build->server->fabric == TOPO_FABRIC_PCIE;
    build->first_pcie = build->first_router + build->switches;
    build->switches += inside ? levels->servers : 0;
    build->links += inside ? build->hosts : 0;
    build->first_slot = build->first_router + build->switches;
    if (levels->pcie == 0) {
        return ORR_OK;
    }
    if (levels->level_count == 0) {
        return error_set(err, ORR_EINVAL,
                         "pcie is between GPUs and NICs, and there is no level that NICs are on: add one, as in "
                         "\"> rail\"");
    }
    build->switches += levels->servers * build->nics;
    build->links += levels->servers * build->nics;
    build->slot_delay = topo_time(1); /* the switch has been counted */
    enum orr_status status = topo_rate_read("pcie", topo_pcie_rate(levels->pcie), &build->slot_rate, err);
    return status == ORR_OK && !inside ? topo_time_read("pcie", TOPO_PCIE_DELAY, &build->slot_delay, err) : status;
}

/* The rate inside a server that nobody has set. */
static const char *own_rate(const struct topo_levels *levels)
{
    bool told = levels->pcie != 0 && levels->server->fabric == TOPO_FABRIC_PCIE;
    return told ? topo_pcie_rate(levels->pcie) : levels->server->rate;
}

static enum orr_status size_servers(struct build *build, struct topo_made *made, struct orr_error *err)
{
    const struct topo_levels *levels = build->levels;
    const struct topo_server *server = build->server;
    enum orr_status status = ORR_OK;
    build->gpus = levels->gpus != 0 ? levels->gpus : server->gpus;
    build->hosts = build->gpus * levels->servers;
    build->nics = build->gpus / server->nic_every;
    build->rails = server->rails != 0 && server->rails < build->nics ? server->rails : build->nics;
    build->routed = levels->forward || server->fabric == TOPO_FABRIC_PAIRS;
    build->nvswitches = server->fabric == TOPO_FABRIC_NVSWITCH ? or_one(levels->switches) : 0;
    if (build->hosts > TOPO_NODES_MOST || build->nvswitches > TOPO_NODES_MOST) {
        return error_set(err, ORR_ERANGE, "%" PRIu64 " servers of %" PRIu64 " GPUs are more than %d nodes",
                         levels->servers, build->gpus, TOPO_NODES_MOST);
    }
    if (levels->gpus != 0 && levels->gpus != server->gpus && server->fabric == TOPO_FABRIC_PAIRS) {
        return error_set(err, ORR_EINVAL, "a node of %s has %" PRIu32 " GPUs, wired pair by pair; not %" PRIu64,
                         server->name, server->gpus, levels->gpus);
    }
    build->rate = levels->rate;
    build->delay = levels->delay;
    if (!levels->has_rate) {
        status = topo_rate_read("the server's links", own_rate(levels), &build->rate, err);
    }
    if (status == ORR_OK && !levels->has_delay) {
        status = topo_time_read("the server's links", server->delay, &build->delay, err);
    }
    if (status == ORR_OK && build->nvswitches > 1) {
        build->rate = topo_rate(build->rate.value / build->nvswitches);
        status =
            build->rate.value == 0 ? error_set(err, ORR_ERANGE, "so many NVSwitches leave no rate for a link") : ORR_OK;
    }
    uint64_t pairs = server->fabric == TOPO_FABRIC_MESH ? build->gpus * (build->gpus - 1) / 2 : server->pair_count;
    build->links = build->hosts * (build->nvswitches + (build->routed ? 1 : 0)) + pairs * levels->servers;
    build->nvswitches *= levels->servers;
    build->switches = build->routed ? build->hosts : 0;
    build->first_router = build->hosts + build->nvswitches;
    made->gpus_per_server = (uint32_t)build->gpus;
    return status == ORR_OK ? size_pcie(build, err) : status;
}

static enum orr_status take_quantities(const struct topo_level *level, const char *rate, const char *delay,
                                       struct worked *worked, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    worked->parallel = or_one(level->parallel);
    worked->rate = level->rate;
    worked->delay = level->delay;
    if (!level->has_rate) {
        status = topo_rate_read(level->name, rate, &worked->rate, err);
    }
    return status == ORR_OK && !level->has_delay ? topo_time_read(level->name, delay, &worked->delay, err) : status;
}

/* The level that the NICs are on. */
static enum orr_status size_first(struct build *build, struct orr_error *err)
{
    const struct topo_level *level = &build->levels->level[0];
    struct worked *worked = &build->worked[0];
    uint64_t servers = build->levels->servers;
    enum orr_status status = take_quantities(level, build->server->nic, TOPO_NIC_DELAY, worked, err);
    if (status != ORR_OK) {
        return status;
    }
    if (level->kind == TOPO_LEVEL_UPPER || level->has_ratio || level->groups != 0 || level->planes) {
        return error_set(
            err, ORR_EINVAL,
            "%s is what the NICs are on: a count, a rate and a delay can be said of it; groups, planes and "
            "oversubscription are of the levels above",
            level->name);
    }
    worked->groups = or_one(level->count);
    worked->in_group = level->kind == TOPO_LEVEL_RAIL ? build->rails : 1;
    worked->planes = 1;
    worked->share = level->share != 0 ? level->share : divide_up(servers, worked->groups);
    if (worked->groups > servers || divide_up(servers, worked->share) != worked->groups) {
        return error_set(err, ORR_EINVAL,
                         "%s: %" PRIu64 " servers cannot be shared among %" PRIu64 " %s; %" PRIu64
                         " would hold %" PRIu64 " servers each",
                         level->name, servers, worked->groups, level->kind == TOPO_LEVEL_RAIL ? "segments" : "switches",
                         divide_up(servers, or_one(worked->share)), worked->share);
    }
    uint64_t nics = divide_up(worked->share * build->nics, worked->in_group);
    worked->down_bps = topo_levels_scale(nics * worked->parallel, worked->rate.value, 1, false);
    build->links += servers * build->nics * worked->parallel;
    return ORR_OK;
}

/* Switches in a group and the rate of their links, of which one or the other may be said, or neither. */
static enum orr_status size_uplinks(const struct topo_level *level, const struct worked *below, struct worked *worked,
                                    struct orr_error *err)
{
    uint64_t down = level->has_ratio ? level->down : 1;
    uint64_t up = level->has_ratio ? level->up : 1;
    uint64_t need = topo_levels_scale(below->down_bps, up, down, true); /* above each switch below */
    uint64_t count = level->count;
    if (count != 0 && count % worked->planes != 0) {
        return error_set(err, ORR_EINVAL, "%s: %" PRIu64 " switches do not divide into %" PRIu64 " planes", level->name,
                         count, worked->planes);
    }
    if (count != 0 && level->has_rate && level->has_ratio) {
        return error_set(err, ORR_EINVAL, "%s: count, rate and oversubscription together are one too many",
                         level->name);
    }
    if (count == 0) {
        count = worked->planes * divide_up(need, topo_levels_scale(worked->rate.value, worked->parallel, 1, false));
    } else if (level->has_ratio) {
        worked->rate = topo_rate(need / (count / worked->planes) / worked->parallel);
    }
    if (count > TOPO_NODES_MOST || worked->rate.value == 0) {
        return error_set(err, ORR_ERANGE, "%s: the oversubscription asks for %" PRIu64 " switches of %" PRIu64 " b/s",
                         level->name, count, worked->rate.value);
    }
    worked->in_group = count;
    return ORR_OK;
}

static enum orr_status size_upper(struct build *build, unsigned at, struct orr_error *err)
{
    const struct topo_level *level = &build->levels->level[at];
    const struct worked *below = &build->worked[at - 1];
    struct worked *worked = &build->worked[at];
    uint64_t switches = below->groups * below->in_group;
    enum orr_status status = take_quantities(level, below->rate.text, below->delay.text, worked, err);
    if (status != ORR_OK) {
        return status;
    }
    if (level->kind != TOPO_LEVEL_UPPER) {
        return error_set(err, ORR_EINVAL, "%s: NICs are on the first level only; levels above are spine or core",
                         level->name);
    }
    worked->share = level->share != 0 ? level->share : divide_up(switches, or_one(level->groups));
    worked->groups = divide_up(switches, worked->share);
    if (level->share == 0 && (worked->groups != or_one(level->groups) || switches % worked->groups != 0)) {
        return error_set(err, ORR_EINVAL, "%s: %" PRIu64 " switches below do not divide into %" PRIu64 " groups",
                         level->name, switches, or_one(level->groups));
    }
    worked->planes = level->planes ? below->in_group : 1;
    if (worked->share % worked->planes != 0) {
        return error_set(err, ORR_EINVAL,
                         "%s: groups below are %" PRIu64 " switches, and %" PRIu64 " are taken at a time", level->name,
                         below->in_group, worked->share);
    }
    status = size_uplinks(level, below, worked, err);
    uint64_t joined = worked->in_group / worked->planes; /* to a switch below */
    uint64_t from = worked->share / worked->planes;      /* to a switch of this level */
    worked->down_bps = topo_levels_scale(from * worked->parallel, worked->rate.value, 1, false);
    if (status == ORR_OK && switches > 0 && joined > TOPO_LINKS_MOST / switches / worked->parallel) {
        status =
            error_set(err, ORR_ERANGE, "%s: the machine would have more than %d links", level->name, TOPO_LINKS_MOST);
    }
    build->links += switches * joined * worked->parallel;
    return status;
}

static enum orr_status topo_levels_size_up(struct build *build, struct topo_made *made, struct orr_error *err)
{
    enum orr_status status = size_servers(build, made, err);
    for (unsigned at = 0; at < build->levels->level_count && status == ORR_OK; at++) {
        struct worked *worked = &build->worked[at];
        status = at == 0 ? size_first(build, err) : size_upper(build, at, err);
        if (status == ORR_OK && worked->groups * worked->in_group > TOPO_NODES_MOST) {
            status =
                error_set(err, ORR_ERANGE, "%s: more than %d switches", build->levels->level[at].name, TOPO_NODES_MOST);
        }
        worked->first = build->hosts + build->nvswitches + build->switches;
        build->switches += worked->groups * worked->in_group;
    }
    if (status == ORR_OK && build->levels->level_count == 0 &&
        (build->levels->servers > 1 || (build->server->fabric == TOPO_FABRIC_NONE && build->gpus > 1))) {
        status =
            error_set(err, ORR_EINVAL, "nothing joins the %" PRIu64 " servers: add a level, as in \"> rail > spine\"",
                      build->levels->servers);
    }
    if (status == ORR_OK && build->links == 0) {
        status = error_set(err, ORR_EINVAL, "a machine without a link is no network: add a level, as in \"> leaf\"");
    }
    return status;
}

/* Where a GPU's links to others begin: at itself, or at its switch. */
static uint32_t port_of(const struct build *build, uint64_t gpu)
{
    return (uint32_t)(build->routed ? build->first_router + gpu : gpu);
}

static void wire_pairs(const struct build *build, struct topo_made *made, uint64_t server)
{
    const struct topo_server *make = build->server;
    uint64_t first = server * build->gpus;
    for (uint32_t i = 0; make->fabric == TOPO_FABRIC_PAIRS && i < make->pair_count; i++) {
        const struct topo_pair_links *pair = &make->pairs[i];
        struct topo_quantity rate = topo_rate(build->rate.value * pair->links);
        topo_made_link(made, port_of(build, first + pair->a), port_of(build, first + pair->b),
                       topo_made_class(made, pair->links == 1 ? &build->rate : &rate, &build->delay));
    }
    uint32_t class = topo_made_class(made, &build->rate, &build->delay);
    for (uint64_t a = 0; make->fabric == TOPO_FABRIC_MESH && a < build->gpus; a++) {
        for (uint64_t b = a + 1; b < build->gpus; b++) {
            topo_made_link(made, port_of(build, first + a), port_of(build, first + b), class);
        }
    }
}

/* A GPU's own switch takes in all it can send: the rate inside, or that of its NIC where it is higher. For a die of
 * several links it is their sum. */
static struct topo_quantity router_rate(const struct build *build)
{
    uint64_t links = 1;
    if (build->server->fabric == TOPO_FABRIC_MESH) {
        links = build->gpus - 1;
    }
    for (uint32_t gpu = 0; build->server->fabric == TOPO_FABRIC_PAIRS && gpu < build->server->gpus; gpu++) {
        uint64_t own = 0;
        for (uint32_t i = 0; i < build->server->pair_count; i++) {
            const struct topo_pair_links *pair = &build->server->pairs[i];
            own += pair->a == gpu || pair->b == gpu ? pair->links : 0;
        }
        links = own > links ? own : links;
    }
    uint64_t inside = topo_levels_scale(build->rate.value, links, 1, false);
    uint64_t nic = build->levels->level_count > 0 ? build->worked[0].rate.value : 0;
    bool alone = build->server->fabric == TOPO_FABRIC_NONE;
    return topo_rate(alone || nic > inside ? (nic != 0 ? nic : inside) : inside);
}

/* Where the cable of NIC `nic` of a server begins: at the GPU, whose port is `port`, or behind PCIe. */
static uint32_t nic_slot(const struct build *build, struct topo_made *made, uint64_t server, uint64_t nic,
                         uint32_t port)
{
    if (build->levels->pcie == 0) {
        return port;
    }
    bool inside = build->server->fabric == TOPO_FABRIC_PCIE;
    uint32_t slot = (uint32_t)(build->first_slot + server * build->nics + nic);
    topo_made_link(made, inside ? (uint32_t)(build->first_pcie + server) : port, slot,
                   topo_made_class(made, &build->slot_rate, &build->slot_delay));
    return slot;
}

static void wire_gpu(const struct build *build, struct topo_made *made, uint64_t gpu)
{
    uint64_t server = gpu / build->gpus;
    uint64_t in_server = gpu % build->gpus;
    uint64_t per_server = build->nvswitches / build->levels->servers;
    uint32_t inside = topo_made_class(made, &build->rate, &build->delay);
    uint32_t port = port_of(build, gpu);
    if (build->routed) {
        struct topo_quantity rate = router_rate(build);
        struct topo_quantity none = topo_time(1); /* the switch is a part of the GPU */
        topo_made_link(made, (uint32_t)gpu, port, topo_made_class(made, &rate, &none));
    }
    for (uint64_t i = 0; i < per_server; i++) {
        topo_made_link(made, port, (uint32_t)(build->hosts + server * per_server + i), inside);
    }
    if (build->server->fabric == TOPO_FABRIC_PCIE) {
        topo_made_link(made, port, (uint32_t)(build->first_pcie + server), inside);
    }
    if (in_server == 0) {
        wire_pairs(build, made, server);
    }
    uint64_t every = build->server->nic_every;
    if (build->levels->level_count == 0 || in_server % every != every - 1) {
        return;
    }
    const struct worked *first = &build->worked[0];
    uint64_t place = first->in_group == 1 ? 0 : in_server / every % build->rails;
    uint64_t target = first->first + server / or_one(first->share) * first->in_group + place;
    uint32_t nic = topo_made_class(made, &first->rate, &first->delay);
    uint32_t slot = nic_slot(build, made, server, in_server / every, port);
    for (uint64_t i = 0; i < first->parallel; i++) {
        topo_made_link(made, slot, (uint32_t)target, nic);
    }
}

static void wire_upper(const struct build *build, struct topo_made *made, unsigned at)
{
    const struct worked *below = &build->worked[at - 1];
    const struct worked *worked = &build->worked[at];
    uint32_t class = topo_made_class(made, &worked->rate, &worked->delay);
    uint64_t joined = worked->in_group / or_one(worked->planes);
    for (uint64_t i = 0; i < below->groups * below->in_group; i++) {
        uint64_t plane = worked->planes == 1 ? 0 : i % below->in_group;
        uint64_t first = worked->first + i / or_one(worked->share) * worked->in_group + plane * joined;
        for (uint64_t j = 0; j < joined * worked->parallel; j++) {
            topo_made_link(made, (uint32_t)(below->first + i), (uint32_t)(first + j / worked->parallel), class);
        }
    }
}

enum orr_status topo_levels_make(const struct topo_levels *levels, struct topo_made *made, struct orr_error *err)
{
    struct build build = {.levels = levels, .server = levels->server};
    enum orr_status status = topo_levels_size_up(&build, made, err);
    if (status == ORR_OK) {
        status = topo_made_nodes(made, build.hosts, build.nvswitches, build.switches, err);
    }
    if (status == ORR_OK) {
        status = topo_made_expect(made, build.links, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    if (build.gpus > 1 || levels->servers == 1) {
        topo_made_dim(made, build.gpus);
    }
    if (levels->servers > 1) {
        topo_made_dim(made, levels->servers);
    }
    for (uint64_t gpu = 0; gpu < build.hosts; gpu++) {
        wire_gpu(&build, made, gpu);
    }
    for (unsigned at = 1; at < levels->level_count; at++) {
        wire_upper(&build, made, at);
    }
    return topo_made_end(made, err);
}
