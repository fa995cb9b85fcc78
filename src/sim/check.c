/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do the configuration and the traces fit together? Everything a node will need is asked for here, once, so that the
 * run can trust its input. Facts that are the same for all ranks are checked once per graph; what names ranks, once per
 * rank.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "sim/engine.h"

/* As the system file spells them. */
static const char *const native_names[SIM_NATIVE_COUNT] = {"all-reduce", "reduce-scatter", "all-gather", "all-to-all"};

/* Where a complaint points. */
struct place {
    struct sim *sim;
    uint32_t rank;
    uint32_t node;
    struct orr_error *err;
};

static const struct trace_node *sim_check_node_at(const struct place *place)
{
    return &place->sim->config->traces->ranks[place->rank].graph->nodes[place->node];
}

ORR_PRINTF(2, 3)
static enum orr_status sim_check_complain(const struct place *place, const char *fmt, ...)
{
    const struct trace_set *traces = place->sim->config->traces;
    const struct trace_rank *rank = &traces->ranks[place->rank];
    char what[512];
    va_list args;
    va_start(args, fmt);
    (void)plain_vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    return error_set(place->err, ORR_EINVAL, "%s.%u.et: node %" PRIu64 " \"%.80s\": %s", traces->prefix, rank->file,
                     trace_rank_node_id(rank, place->node), trace_graph_name(rank->graph, place->node), what);
}

static enum orr_status sim_check_need(const struct place *place, uint32_t attribute, const char *name, const char *why)
{
    if ((sim_check_node_at(place)->has & attribute) != 0) {
        return ORR_OK;
    }
    return sim_check_complain(place, "attribute %s is missing; %s needs it", name, why);
}

/* ---- groups --------------------------------------------------------------------------------------------------- */

static uint32_t find_group(const struct sim *sim, const char *name, bool *known)
{
    char *end = NULL;
    errno = 0;
    long id = strtol(name, &end, 10);
    *known = true;
    if (errno == 0 && end != name && *end == '\0') {
        if (id == 0) {
            return SIM_NONE;
        }
        for (uint32_t i = 0; i < sim->config->group_count; i++) {
            if (sim->config->groups[i].id == id) {
                return i;
            }
        }
    }
    *known = false;
    return SIM_NONE;
}

static enum orr_status set_group(const struct place *place, struct sim_graph_info *info, uint32_t group)
{
    if (info->group == NULL) {
        size_t bytes = (size_t)info->graph->node_count * sizeof *info->group;
        info->group = arena_alloc(&place->sim->arena, bytes);
        if (info->group == NULL) {
            return mem_error(place->sim->mem, "the table of groups", place->err);
        }
        memset(info->group, 0xff, bytes); /* SIM_NONE */
    }
    info->group[place->node] = group;
    return ORR_OK;
}

static enum orr_status check_group(const struct place *place, struct sim_graph_info *info)
{
    const struct trace_node *node = sim_check_node_at(place);
    if (node->type != TRACE_COLL || node->group == 0) {
        return ORR_OK;
    }
    const char *name = info->graph->strings + node->group;
    bool known = false;
    uint32_t group = find_group(place->sim, name, &known);
    if (known) {
        return group == SIM_NONE ? ORR_OK : set_group(place, info, group);
    }
    if (place->sim->config->system.replay_only) {
        return ORR_OK; /* who takes part does not matter where nothing is sent */
    }
    return sim_check_complain(place, "pg_name \"%.60s\" is not a communicator group; %s", name,
                              place->sim->config->group_count == 0 ? "no groups were given (parameter 'groups')"
                                                                   : "the groups file has no such id");
}

/* ---- collectives ---------------------------------------------------------------------------------------------- */

static bool uses_halving(const struct sim *sim, enum sim_native native)
{
    for (uint32_t d = 0; d < sim->logical_count[native]; d++) {
        if (sim->logical[native][d].impl.algo == COLL_HALVING_DOUBLING) {
            return true;
        }
    }
    return false;
}

static enum orr_status check_native(const struct place *place, uint32_t group)
{
    const struct sim *sim = place->sim;
    enum sim_native native = sim_native_of(sim_check_node_at(place)->comm_type);
    if (sim->config->timing != NULL) {
        const char *why = sim_flows_leave_out(sim, sim_check_node_at(place), group);
        return why != NULL ? sim_check_complain(place, "%s", why) : ORR_OK;
    }
    if (sim->config->system.implementation[native].count == 0) {
        return sim_check_complain(place, "the system file has no %s-implementation", native_names[native]);
    }
    if (sim->logical[native][0].impl.algo == COLL_NCCL) {
        const char *why = sim_flows_refuse(sim, sim_check_node_at(place), group);
        if (why != NULL) {
            return sim_check_complain(place, "%s", why);
        }
    }
    bool one_ring =
        group != SIM_NONE && !sim->groups[group].whole && sim->config->system.implementation[native].count > 1;
    if (native == SIM_ALL_TO_ALL && !one_ring && uses_halving(sim, native)) {
        return sim_check_complain(
            place, "halvingDoubling cannot do an all-to-all; use ring or direct in all-to-all-implementation");
    }
    return ORR_OK;
}

static enum orr_status check_collective(const struct place *place, uint32_t group)
{
    const struct trace_node *node = sim_check_node_at(place);
    const struct sim_config *config = place->sim->config;
    enum orr_status status = sim_check_need(place, TRACE_HAS_COMM_TYPE, "comm_type", "a collective");
    if (status != ORR_OK) {
        return status;
    }
    const char *name = coll_type_name(node->comm_type);
    if (name == NULL) {
        return sim_check_complain(place, "comm_type %d is not a collective; 0 to 9 are", (int)node->comm_type);
    }
    bool simulate = config->broadcast == ORR_BROADCAST_SIMULATE;
    if (node->comm_type == COLL_BROADCAST && !simulate) {
        place->sim->has_untimed_broadcast = place->sim->has_untimed_broadcast || node->duration_us == 0;
        return ORR_OK;
    }
    bool native = coll_type_is_configurable(node->comm_type);
    if (!native && !simulate) {
        return sim_check_complain(place, "%s is simulated only with parameter 'broadcast' simulate", name);
    }
    status = node->comm_type == COLL_BARRIER ? ORR_OK
                                             : sim_check_need(place, TRACE_HAS_COMM_SIZE, "comm_size", "a collective");
    if (status != ORR_OK || sim_custom_of(place->sim, place->rank, place->node) != NULL) {
        return status;
    }
    return coll_type_is_rooted(node->comm_type) ? ORR_OK : check_native(place, group);
}

static enum orr_status check_custom_node(const struct place *place, const struct trace_set *custom, uint32_t position,
                                         uint32_t index, uint32_t members, uint32_t self)
{
    const struct trace_rank *trace = &custom->ranks[position];
    const struct trace_node *node = &trace->graph->nodes[index];
    uint64_t id = trace_rank_node_id(trace, index);
    bool sends = node->type == TRACE_SEND;
    uint32_t wanted = TRACE_HAS_COMM_SIZE | TRACE_HAS_COMM_TAG | (sends ? TRACE_HAS_COMM_DST : TRACE_HAS_COMM_SRC);
    switch ((enum trace_node_type)node->type) {
    case TRACE_SEND:
    case TRACE_RECV: {
        int32_t peer = sends ? node->comm_dst : node->comm_src;
        if ((node->has & wanted) != wanted || node->comm_bytes == 0) {
            return sim_check_complain(place,
                                      "its custom collective %s.%u.et: node %" PRIu64 " lacks a peer, a tag or a size",
                                      custom->prefix, position, id);
        }
        if (peer < 0 || (uint32_t)peer >= members || (uint32_t)peer == self) {
            return sim_check_complain(place,
                                      "its custom collective %s.%u.et: node %" PRIu64
                                      " has rank %d as its peer; another one of 0 to %u is needed",
                                      custom->prefix, position, id, (int)peer, members - 1);
        }
        return ORR_OK;
    }
    case TRACE_COMP:
        if (node->duration_us > TICKS_MAX_STEP / 1000) {
            return sim_check_complain(
                place, "its custom collective %s.%u.et: node %" PRIu64 " lasts %" PRIu64 " us: out of range",
                custom->prefix, position, id, node->duration_us);
        }
        return ORR_OK;
    case TRACE_METADATA:
    case TRACE_INVALID:
        return ORR_OK;
    default:
        return sim_check_complain(place,
                                  "its custom collective %s.%u.et: node %" PRIu64
                                  " is neither a send, a receive nor compute; nothing else can be in one",
                                  custom->prefix, position, id);
    }
}

static enum orr_status check_custom(const struct place *place, uint32_t group)
{
    const struct sim *sim = place->sim;
    const struct trace_set *custom = sim_custom_of(sim, place->rank, place->node);
    if (custom == NULL) {
        return ORR_OK;
    }
    uint32_t position = sim_custom_position(sim, group, place->rank);
    if (position >= custom->rank_count) {
        return sim_check_complain(place, "its custom collective has no file %s.%u.et", custom->prefix, position);
    }
    uint32_t members = group == SIM_NONE ? sim->rank_count : sim->groups[group].group->count;
    uint32_t self = group == SIM_NONE ? place->rank : sim_group_place(sim, group, place->rank);
    for (uint32_t i = 0; i < custom->ranks[position].graph->node_count; i++) {
        enum orr_status status = check_custom_node(place, custom, position, i, members, self);
        if (status != ORR_OK) {
            return status;
        }
    }
    return ORR_OK;
}

/* ---- nodes ---------------------------------------------------------------------------------------------------- */

static enum orr_status check_message(const struct place *place, bool sends)
{
    const char *what = sends ? "a send" : "a receive";
    enum orr_status status = sends ? sim_check_need(place, TRACE_HAS_COMM_DST, "comm_dst", what)
                                   : sim_check_need(place, TRACE_HAS_COMM_SRC, "comm_src", what);
    if (status == ORR_OK) {
        status = sim_check_need(place, TRACE_HAS_COMM_SIZE, "comm_size", what);
    }
    if (status == ORR_OK) {
        status = sim_check_need(place, TRACE_HAS_COMM_TAG, "comm_tag", what);
    }
    if (status == ORR_OK && sim_check_node_at(place)->comm_bytes == 0) {
        return sim_check_complain(place, "comm_size is 0; a message has at least one byte");
    }
    return status;
}

static enum orr_status check_memory_node(const struct place *place)
{
    if (place->sim->config->memory.kind == SIM_MEMORY_NONE) {
        return sim_check_complain(place, "a remote memory access, but the memory configuration is NO_MEMORY_EXPANSION");
    }
    return sim_check_need(place, TRACE_HAS_TENSOR_SIZE, "tensor_size", "a memory access");
}

/* What a node of this type and of these attributes needs. */
static enum orr_status sim_check_kind(const struct place *place, const struct sim_graph_info *info)
{
    const struct trace_node *node = sim_check_node_at(place);
    enum orr_status status = ORR_OK;
    switch ((enum trace_node_type)node->type) {
    case TRACE_COMP:
        if (!sim_uses_roofline(place->sim->config) || node->is_cpu_op) {
            return ORR_OK;
        }
        status = sim_check_need(place, TRACE_HAS_NUM_OPS, "num_ops", "the roofline model");
        return status != ORR_OK ? status
                                : sim_check_need(place, TRACE_HAS_TENSOR_SIZE, "tensor_size", "the roofline model");
    case TRACE_MEM_LOAD:
    case TRACE_MEM_STORE:
        return check_memory_node(place);
    case TRACE_SEND:
        return check_message(place, true);
    case TRACE_RECV:
        return check_message(place, false);
    case TRACE_COLL:
        return check_collective(place, sim_graph_group(info, place->node));
    default:
        return ORR_OK;
    }
}

/* A time that does not fit comes from a number of the node, whatever the machine adds to it. */
static enum orr_status check_time(const struct place *place)
{
    const struct trace_node *node = sim_check_node_at(place);
    if (sim_time_fits(place->sim, node)) {
        return ORR_OK;
    }
    const char *late = "it would take more than 2^56 ns (two years) on this machine";
    switch ((enum trace_node_type)node->type) {
    case TRACE_COMP:
        return sim_check_complain(place, "rank %u: with a duration of %" PRIu64 " us and %" PRIu64 " operations %s",
                                  place->rank, node->duration_us, node->num_ops, late);
    case TRACE_MEM_LOAD:
    case TRACE_MEM_STORE:
        return sim_check_complain(place, "rank %u: with a tensor_size of %" PRIu64 " B %s", place->rank,
                                  node->tensor_bytes, late);
    default:
        return sim_check_complain(place, "rank %u: with a comm_size of %" PRIu64 " B %s", place->rank, node->comm_bytes,
                                  late);
    }
}

/* What holds for a node on whatever rank it runs. */
static enum orr_status check_node(const struct place *place, struct sim_graph_info *info)
{
    const struct trace_node *node = sim_check_node_at(place);
    const struct sim_system *system = &place->sim->config->system;
    enum orr_status status = check_group(place, info);
    if (status != ORR_OK) {
        return status;
    }
    if (node->duration_us > TICKS_MAX_STEP / 1000) {
        return sim_check_complain(place, "a duration of %" PRIu64 " us is out of range", node->duration_us);
    }
    if (system->replay_only) {
        return ORR_OK;
    }
    if (node->type >= TRACE_SEND && node->is_cpu_op) {
        return sim_check_complain(place, "a communication node with is_cpu_op set; only GPU nodes can communicate");
    }
    status = sim_check_kind(place, info);
    return status == ORR_OK ? check_time(place) : status;
}

static enum orr_status check_peer(const struct place *place, int32_t peer, const char *attribute)
{
    if (peer < 0 || (uint32_t)peer >= place->sim->rank_count) {
        return sim_check_complain(place, "%s is %d, but the machine has ranks 0 to %u", attribute, (int)peer,
                                  place->sim->rank_count - 1);
    }
    if ((uint32_t)peer == place->rank) {
        return sim_check_complain(place, "%s is the rank itself; a rank cannot send to itself", attribute);
    }
    return ORR_OK;
}

static enum orr_status sim_check_own(const struct place *place, uint32_t attribute, int32_t value, const char *name)
{
    if ((sim_check_node_at(place)->has & attribute) != 0 && (value < 0 || (uint32_t)value != place->rank)) {
        return sim_check_complain(place, "%s is %d in the trace of rank %u", name, (int)value, place->rank);
    }
    return ORR_OK;
}

/* What depends on the rank a node runs on. */
static enum orr_status check_on_rank(const struct place *place, const struct sim_graph_info *info)
{
    const struct trace_node *node = sim_check_node_at(place);
    uint32_t group = sim_graph_group(info, place->node);
    enum orr_status status = ORR_OK;
    switch ((enum trace_node_type)node->type) {
    case TRACE_SEND:
        status = sim_check_own(place, TRACE_HAS_COMM_SRC, node->comm_src, "comm_src");
        return status != ORR_OK ? status : check_peer(place, node->comm_dst, "comm_dst");
    case TRACE_RECV:
        status = sim_check_own(place, TRACE_HAS_COMM_DST, node->comm_dst, "comm_dst");
        return status != ORR_OK ? status : check_peer(place, node->comm_src, "comm_src");
    case TRACE_COLL:
        break;
    default:
        return ORR_OK;
    }
    if (group != SIM_NONE && sim_group_place(place->sim, group, place->rank) == SIM_NONE) {
        return sim_check_complain(place, "rank %u is not a member of communicator group %d", place->rank,
                                  (int)place->sim->groups[group].group->id);
    }
    if ((node->has & TRACE_HAS_ROOT) != 0) {
        bool in_range = node->root >= 0 && (uint32_t)node->root < place->sim->rank_count;
        if (!in_range || (group != SIM_NONE && sim_group_place(place->sim, group, (uint32_t)node->root) == SIM_NONE)) {
            return sim_check_complain(place, "root rank %d takes no part in the collective", (int)node->root);
        }
    }
    return check_custom(place, group);
}

/* ---- graphs and machine --------------------------------------------------------------------------------------- */

/* What the nodes of a rank's trace say about ranks. */
static enum orr_status check_rank(struct sim *sim, const struct sim_graph_info *info, uint32_t rank,
                                  struct orr_error *err)
{
    struct place place = {.sim = sim, .rank = rank, .err = err};
    uint32_t count = sim->config->system.replay_only ? 0 : info->graph->other_count;
    for (uint32_t i = 0; i < count; i++) {
        place.node = info->graph->others[i];
        enum orr_status status = check_on_rank(&place, info);
        if (status != ORR_OK) {
            return status;
        }
    }
    return ORR_OK;
}

/* Compute nodes need a look only where they can be wrong: with the roofline model, or when some duration is. */
static bool compute_needs_checking(const struct sim *sim, const struct trace_graph *graph)
{
    return sim_uses_roofline(sim->config) || sim_compute_times_may_not_fit(sim->config, graph);
}

/* Checks a graph on the first rank that has it. */
static enum orr_status check_graph(struct sim *sim, struct sim_graph_info *info, uint32_t first_rank,
                                   struct orr_error *err)
{
    const struct trace_graph *graph = info->graph;
    struct place place = {.sim = sim, .rank = first_rank, .err = err};
    bool all = compute_needs_checking(sim, graph);
    uint32_t count = all ? graph->node_count : graph->other_count;
    for (uint32_t i = 0; i < count; i++) {
        place.node = all ? i : graph->others[i];
        enum orr_status status = check_node(&place, info);
        if (status != ORR_OK) {
            return status;
        }
    }
    return check_rank(sim, info, first_rank, err);
}

/* What is known of a graph, or a new, empty entry for it. Ranks that share one tend to follow each other. */
static struct sim_graph_info *graph_info(struct sim *sim, uint32_t rank, uint32_t *known)
{
    const struct trace_graph *graph = sim->config->traces->ranks[rank].graph;
    if (rank > 0 && sim->rank_graph[rank - 1]->graph == graph) {
        return sim->rank_graph[rank - 1];
    }
    for (uint32_t i = 0; i < *known; i++) {
        if (sim->graphs[i].graph == graph) {
            return &sim->graphs[i];
        }
    }
    return &sim->graphs[(*known)++];
}

static enum orr_status check_graphs(struct sim *sim, struct orr_error *err)
{
    const struct trace_set *traces = sim->config->traces;
    sim->graphs = arena_zalloc(&sim->arena, traces->graph_count * sizeof *sim->graphs);
    sim->rank_graph = arena_zalloc(&sim->arena, sim->rank_count * sizeof *sim->rank_graph);
    if (sim->graphs == NULL || sim->rank_graph == NULL) {
        return mem_error(sim->mem, "the table of graphs", err);
    }
    uint32_t known = 0;
    for (uint32_t rank = 0; rank < sim->rank_count; rank++) {
        struct sim_graph_info *info = graph_info(sim, rank, &known);
        bool first = info->graph == NULL;
        info->graph = traces->ranks[rank].graph;
        sim->rank_graph[rank] = info;
        /* Where one rank stands for all, no node names a rank, and a group named by all must have all. */
        bool again = sim->played > 1 || sim->config->group_count > 0;
        enum orr_status status = first   ? check_graph(sim, info, rank, err)
                                 : again ? check_rank(sim, info, rank, err)
                                         : ORR_OK;
        if (status != ORR_OK) {
            return status;
        }
    }
    return ORR_OK;
}

enum orr_status sim_check_machine(const struct sim_config *config, struct orr_error *err)
{
    if (config->traces->rank_count != config->dims.ranks) {
        return error_set(err, ORR_EINVAL, "%s: %u traces for a machine of %u ranks", config->traces->prefix,
                         config->traces->rank_count, config->dims.ranks);
    }
    for (uint32_t i = 0; i < SIM_NATIVE_COUNT; i++) {
        const struct sim_implementation *implementation = &config->system.implementation[i];
        for (uint32_t d = 0; d < implementation->count; d++) {
            if (implementation->list[d].algo == COLL_NCCL && implementation->count > 1) {
                return error_set(
                    err, ORR_EINVAL,
                    "the system file's %s-implementation lists %u algorithms, one of them nccl, which lays "
                    "out the collective over the whole machine: it must be the only one",
                    native_names[i], implementation->count);
            }
        }
        if (config->system.implementation[i].count > config->dims.count) {
            return error_set(err, ORR_EINVAL,
                             "the system file's %s-implementation lists %u algorithms, but the network file has %u "
                             "dimension%s",
                             native_names[i], config->system.implementation[i].count, config->dims.count,
                             config->dims.count == 1 ? "" : "s");
        }
    }
    if (config->system.preferred_dataset_splits == 0 || config->system.active_chunks_per_dimension == 0) {
        return error_set(err, ORR_EINVAL,
                         "preferred-dataset-splits and active-chunks-per-dimension must be at least 1");
    }
    if (config->queues_per_dim == 0 || (uint64_t)config->queues_per_dim * config->dims.count * 2 > UINT16_MAX) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'queues-per-dim' (parameter 'num-queues-per-dim') is %u; 1 to %u are possible here",
                         config->queues_per_dim, UINT16_MAX / 2 / config->dims.count);
    }
    const struct sim_memory *memory = &config->memory;
    if (memory->kind == SIM_MEMORY_PER_NODE && memory->npus_per_node == 0) {
        return error_set(err, ORR_EINVAL, "PER_NODE_MEMORY_EXPANSION needs num-npus-per-node, at least 1");
    }
    return ORR_OK;
}

enum orr_status sim_check(struct sim *sim, struct orr_error *err)
{
    enum orr_status status = check_graphs(sim, err);
    if (status == ORR_OK) {
        status = sim_compute_check(sim, err);
    }
    if (status == ORR_OK) {
        status = sim_flows_check(sim, err);
    }
    return status == ORR_OK ? sim_check_warn(sim, err) : status;
}
