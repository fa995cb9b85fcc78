/* SPDX-License-Identifier: Apache-2.0 */
/* Traces go through trace_graph_parse, so that a graph here is a graph as the reader makes it, whatever it comes to
 * hold. */
#include "tests/sim/bench_top.h"

#include <stdlib.h>
#include <string.h>

#include "tests/golden/et_bytes.h"

enum { NODE_ID = 1, NODE_NAME = 2, NODE_TYPE = 3, NODE_DATA_DEPS = 5, NODE_DURATION = 7 };

/* ---- nodes ---------------------------------------------------------------------------------------------------- */

struct work_node *work_add(struct work *work, uint32_t rank, uint64_t id, enum trace_node_type type)
{
    CHECK(work->set.ranks == NULL, "nodes are added before the first run");
    CHECK(
        mem_reserve(&work->mem, (void **)&work->nodes, &work->capacity, (uint64_t)work->count + 1, sizeof *work->nodes),
        "memory is given");
    struct work_node *node = &work->nodes[work->count++];
    *node = (struct work_node){.rank = rank, .id = id, .type = type};
    return node;
}

struct work_node *work_compute(struct work *work, uint32_t rank, uint64_t id, uint64_t duration_us)
{
    struct work_node *node = work_add(work, rank, id, TRACE_COMP);
    node->duration_us = duration_us;
    return node;
}

struct work_node *work_collective(struct work *work, uint32_t rank, uint64_t id, int32_t type, uint64_t bytes)
{
    struct work_node *node = work_add(work, rank, id, TRACE_COLL);
    node->comm_type = type;
    node->bytes = bytes;
    return node;
}

static struct work_node *add_message(struct work *work, uint32_t rank, uint64_t id, enum trace_node_type type,
                                     uint32_t peer, uint64_t bytes, int32_t tag)
{
    struct work_node *node = work_add(work, rank, id, type);
    node->peer = peer;
    node->bytes = bytes;
    node->tag = tag;
    return node;
}

struct work_node *work_send(struct work *work, uint32_t rank, uint64_t id, uint32_t to, uint64_t bytes, int32_t tag)
{
    return add_message(work, rank, id, TRACE_SEND, to, bytes, tag);
}

struct work_node *work_recv(struct work *work, uint32_t rank, uint64_t id, uint32_t from, uint64_t bytes, int32_t tag)
{
    return add_message(work, rank, id, TRACE_RECV, from, bytes, tag);
}

void work_after(struct work *work, uint64_t parent)
{
    CHECK(work->count > 0, "a node has been added");
    struct work_node *node = &work->nodes[work->count - 1];
    CHECK(node->parent_count < NODE_MOST_PARENTS, "a node has few parents");
    node->parents[node->parent_count++] = parent;
}

/* ---- from nodes to traces ------------------------------------------------------------------------------------- */

static void put_communication(struct et_bytes *bytes, const struct work_node *node)
{
    et_put_number_attribute(bytes, "comm_size", ET_INT64, node->bytes);
    if (node->type == TRACE_COLL) {
        et_put_number_attribute(bytes, "comm_type", ET_INT64, (uint64_t)node->comm_type);
    } else {
        et_put_number_attribute(bytes, node->type == TRACE_SEND ? "comm_dst" : "comm_src", ET_INT32, node->peer);
        et_put_number_attribute(bytes, "comm_tag", ET_INT32, (uint64_t)node->tag);
    }
    if (node->has_root) {
        et_put_number_attribute(bytes, "root_rank", ET_INT32, node->root);
    }
    if (node->dims != NULL) {
        et_put_flags_attribute(bytes, "involved_dim", node->dims, strlen(node->dims));
    }
    if (node->group != 0) {
        char text[16];
        int length = snprintf(text, sizeof text, "%d", (int)node->group);
        et_put_string_attribute(bytes, "pg_name", text, (size_t)length);
    }
}

static void put_node(struct et_bytes *file, const struct work_node *node)
{
    struct et_bytes bytes = {0};
    struct et_bytes parents = {0};
    char name[32];
    int length = snprintf(name, sizeof name, "n%" PRIu64, node->id);
    et_put_number(&bytes, NODE_ID, node->id);
    et_put_block(&bytes, NODE_NAME, name, (size_t)length);
    et_put_number(&bytes, NODE_TYPE, node->type);
    for (uint32_t i = 0; i < node->parent_count; i++) {
        et_put_varint(&parents, node->parents[i]);
    }
    if (node->parent_count > 0) {
        et_put_block(&bytes, NODE_DATA_DEPS, parents.data, parents.length);
    }
    et_put_number(&bytes, NODE_DURATION, node->duration_us);
    et_put_number_attribute(&bytes, "is_cpu_op", ET_BOOL, node->cpu);
    if (node->ops > 0) {
        et_put_number_attribute(&bytes, "num_ops", ET_UINT64, node->ops);
        et_put_number_attribute(&bytes, "tensor_size", ET_UINT64, node->bytes);
    }
    if (node->thread != 0) {
        et_put_number_attribute(&bytes, node->cpu ? "tid" : "stream", ET_INT64, (uint64_t)node->thread);
    }
    if (node->part != 0) {
        et_put_number_attribute(&bytes, "lane", ET_INT64, (uint64_t)node->part);
    }
    if (node->cycles_name != NULL) {
        et_put_number_attribute(&bytes, node->cycles_name, ET_INT64, node->cycles);
    }
    if (node->type >= TRACE_SEND) {
        put_communication(&bytes, node);
    } else if (node->type == TRACE_MEM_LOAD || node->type == TRACE_MEM_STORE) {
        et_put_number_attribute(&bytes, "tensor_size", ET_UINT64, node->bytes);
    }
    et_put_varint(file, bytes.length);
    et_bytes_append(file, bytes.data, bytes.length);
    et_bytes_free(&parents);
    et_bytes_free(&bytes);
}

static void put_rank(struct et_bytes *file, const struct work *work, uint32_t rank)
{
    struct et_bytes metadata = {0};
    et_put_block(&metadata, 1, "0.0.4", 5);
    et_put_varint(file, metadata.length);
    et_bytes_append(file, metadata.data, metadata.length);
    et_bytes_free(&metadata);
    for (uint32_t i = 0; i < work->count; i++) {
        if (work->nodes[i].rank == rank || work->nodes[i].rank == EVERY_RANK) {
            put_node(file, &work->nodes[i]);
        }
    }
}

/* The graph of a rank: an earlier one that is the same, or its own. */
static const struct trace_graph *rank_graph(struct work *work, uint32_t rank)
{
    struct et_bytes file = {0};
    struct trace_graph *graph = NULL;
    struct orr_error err = {0};
    put_rank(&file, work, rank);
    CHECK_OK(trace_graph_parse(file.data, file.length, "bench", &work->mem, &graph, &err), &err);
    et_bytes_free(&file);
    struct trace_set *set = &work->set;
    for (uint32_t i = set->graph_count; i > 0; i--) {
        const struct trace_graph *known = set->graphs[i - 1];
        bool same_ids = graph->node_count == 0 || known->node_count == 0 || known->nodes[0].id == graph->nodes[0].id;
        if (same_ids && trace_graph_equal(known, graph)) {
            trace_graph_free(graph);
            return known;
        }
    }
    set->graphs[set->graph_count++] = graph;
    return graph;
}

static void work_finish(struct work *work, uint32_t ranks, const char *prefix)
{
    struct trace_set *set = &work->set;
    if (set->ranks != NULL) {
        return;
    }
    set->mem = &work->mem;
    set->prefix = strdup(prefix);
    set->ranks = calloc(ranks, sizeof *set->ranks);
    set->graphs = calloc(ranks, sizeof *set->graphs);
    CHECK(set->prefix != NULL && set->ranks != NULL && set->graphs != NULL, "memory is given");
    set->rank_count = ranks;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        set->ranks[rank].graph = rank_graph(work, rank);
        set->ranks[rank].file = rank;
    }
}

static void work_free(struct work *work)
{
    struct trace_set *set = &work->set;
    for (uint32_t i = 0; i < set->graph_count; i++) {
        trace_graph_free(set->graphs[i]);
    }
    free(set->ranks);
    free(set->graphs);
    free(set->prefix);
    mem_free(&work->mem, work->nodes, work->capacity * sizeof *work->nodes);
    CHECK_U64(work->mem.used, 0, "the traces' memory has come back");
    *work = (struct work){0};
}

/* ---- the machine ---------------------------------------------------------------------------------------------- */

static void read_machine(const char *machine, struct topo_dims *dims)
{
    static const struct {
        const char *name;
        enum topo_kind kind;
    } kinds[] = {{"ring:", TOPO_RING}, {"full:", TOPO_FULLY_CONNECTED}, {"switch:", TOPO_SWITCH}};
    *dims = (struct topo_dims){0};
    for (const char *at = machine; *at != '\0';) {
        struct topo_dim *dim = &dims->dim[dims->count++];
        size_t k = 0;
        while (k < COUNT_OF(kinds) && strncmp(at, kinds[k].name, strlen(kinds[k].name)) != 0) {
            k++;
        }
        CHECK(k < COUNT_OF(kinds), "\"%s\" is a machine", machine);
        char *end = NULL;
        dim->kind = kinds[k].kind;
        dim->size = (uint32_t)strtoul(at + strlen(kinds[k].name), &end, 10);
        dim->bandwidth_gibps = 50.0;
        dim->latency_ns = 500.0;
        at = *end == ' ' ? end + 1 : end;
    }
    CHECK(topo_dims_finish(dims), "\"%s\" is small enough", machine);
}

void bench_use_algorithm(struct bench *bench, enum coll_algo algo, uint32_t window)
{
    for (uint32_t native = 0; native < SIM_NATIVE_COUNT; native++) {
        struct sim_implementation *implementation = &bench->config.system.implementation[native];
        bool cannot = native == SIM_ALL_TO_ALL && algo == COLL_HALVING_DOUBLING;
        implementation->count = bench->config.dims.count;
        for (uint32_t d = 0; d < implementation->count; d++) {
            implementation->list[d] = (struct coll_impl){.algo = cannot ? COLL_RING : algo, .window = window};
        }
    }
}

static void use_natural_algorithms(struct bench *bench)
{
    static const enum coll_algo natural[] = {
        [TOPO_RING] = COLL_RING, [TOPO_FULLY_CONNECTED] = COLL_DIRECT, [TOPO_SWITCH] = COLL_HALVING_DOUBLING};
    bench_use_algorithm(bench, COLL_RING, 0);
    for (uint32_t native = 0; native < SIM_ALL_TO_ALL; native++) {
        for (uint32_t d = 0; d < bench->config.dims.count; d++) {
            bench->config.system.implementation[native].list[d].algo = natural[bench->config.dims.dim[d].kind];
        }
    }
}

void bench_open(struct bench *bench, const char *machine)
{
    *bench = (struct bench){0};
    read_machine(machine, &bench->config.dims);
    bench->config.system = (struct sim_system){.scheduling = SIM_LIFO,
                                               .optimization = SIM_LOCAL_BW_AWARE,
                                               .endpoint_delay_ns = 10,
                                               .active_chunks_per_dimension = 1,
                                               .preferred_dataset_splits = 1,
                                               .local_mem_bw_gbps = 50.0,
                                               .peak_perf_tflops = 900.0,
                                               .local_reduction_delay_ns = 1};
    bench->config.queues_per_dim = 1;
    bench->config.groups = bench->groups;
    bench->config.traces = &bench->work.set;
    use_natural_algorithms(bench);
    notes_init(&bench->notes, &bench->mem, false);
}

void bench_add_group(struct bench *bench, int32_t id, uint32_t count, const uint32_t *ranks)
{
    CHECK(bench->config.group_count < BENCH_MOST_GROUPS, "there are few groups");
    bench->groups[bench->config.group_count++] = (struct sim_group){.id = id, .count = count, .ranks = ranks};
}

void bench_use_custom(struct bench *bench, uint32_t files)
{
    work_finish(&bench->custom, files, "custom");
    bench->config.system.implementation[SIM_ALL_REDUCE].custom = &bench->custom.set;
}

void bench_close(struct bench *bench)
{
    sim_free(bench->sim);
    notes_free(&bench->notes);
    CHECK_U64(bench->mem.used, 0, "the simulation's memory has come back");
    work_free(&bench->work);
    work_free(&bench->custom);
}

/* ---- running -------------------------------------------------------------------------------------------------- */

enum orr_status bench_create(struct bench *bench)
{
    work_finish(&bench->work, bench->config.dims.ranks, "bench");
    sim_free(bench->sim);
    notes_free(&bench->notes);
    bench->sim = NULL;
    bench->result = NULL;
    bench->err = (struct orr_error){0};
    enum orr_status status = sim_create(&bench->config, &bench->mem, &bench->notes, &bench->sim, &bench->err);
    if (status == ORR_OK) {
        bench->result = sim_result(bench->sim);
    }
    return status;
}

enum orr_status bench_run(struct bench *bench)
{
    enum orr_status status = bench_create(bench);
    return status == ORR_OK ? sim_run(bench->sim, NULL, NULL, &bench->err) : status;
}

uint64_t bench_completes(struct bench *bench)
{
    CHECK_OK(bench_run(bench), &bench->err);
    CHECK_U64(bench->result->ranks_finished, bench->config.dims.ranks, "ranks finished");
    CHECK_U64(bench->result->nodes_done, bench->result->nodes, "nodes done");
    CHECK_U64(bench->result->stall.kind, SIM_STALL_NONE, "the kind of stall");
    return bench->result->end_ns;
}

const struct sim_stall *bench_stalls(struct bench *bench)
{
    CHECK_STATUS(bench_run(bench), ORR_ESTALL);
    CHECK(bench->result->stall.kind != SIM_STALL_NONE, "a stall has a kind");
    CHECK(bench->result->stall.finding_count > 0, "a stall has a finding: %s", bench->err.text);
    CHECK_U64(bench->result->stall.findings[0].kind, bench->result->stall.kind, "the first finding gives the kind");
    return &bench->result->stall;
}

static void add_number(uint64_t *hash, uint64_t number)
{
    *hash = (*hash ^ number) * UINT64_C(0x9E3779B97F4A7C15);
    *hash ^= *hash >> 29;
}

uint64_t bench_fingerprint(const struct bench *bench)
{
    const struct sim_result *result = bench->result;
    uint64_t hash = result->end_ns;
    for (uint32_t i = 0; i < result->rank_count; i++) {
        const struct sim_rank_result *rank = sim_result_rank(result, i);
        add_number(&hash, rank->finish_ns);
        add_number(&hash, rank->gpu_busy_ns);
        add_number(&hash, rank->compute_ns);
        add_number(&hash, rank->exposed_comm_ns);
        add_number(&hash, rank->exposed_other_ns);
        add_number(&hash, rank->idle_ns);
        add_number(&hash, rank->nodes_done);
        add_number(&hash, rank->last_end_ns);
        add_number(&hash,
                   (rank->finished ? 1U : 0U) | (rank->statistics_failed ? 2U : 0U) | (rank->network_finish ? 4U : 0U));
        for (uint32_t kind = 0; kind < SIM_OP_KINDS; kind++) {
            add_number(&hash, rank->union_ns[kind]);
            add_number(&hash, rank->nodes_of[kind]);
            add_number(&hash, kind < rank->kind_order_count ? rank->kind_order[kind] : SIM_OP_KINDS);
        }
    }
    for (uint32_t i = 0; i < result->collective_count; i++) {
        add_number(&hash, result->collectives[i].count);
        add_number(&hash, result->collectives[i].total_ns);
        add_number(&hash, result->collectives[i].min_ns);
        add_number(&hash, result->collectives[i].max_ns);
        add_number(&hash, result->collectives[i].first_start_ns);
        add_number(&hash, result->collectives[i].last_end_ns);
    }
    for (uint32_t d = 0; d < bench->config.dims.count; d++) {
        add_number(&hash, result->dims[d].messages);
        add_number(&hash, result->dims[d].bytes);
        add_number(&hash, result->dims[d].busy_ns);
        add_number(&hash, result->dims[d].queued);
    }
    for (uint32_t i = 0; i < result->log_count && result->config->keep_issue_order; i++) {
        add_number(&hash, result->log[i].rank);
    }
    add_number(&hash, result->messages);
    add_number(&hash, result->nodes_done);
    add_number(&hash, result->ranks_finished);
    add_number(&hash, (uint64_t)result->stall.kind);
    return hash;
}

const struct sim_stall_finding *stall_finding(const struct sim_stall *stall, enum sim_stall_kind kind)
{
    for (uint32_t i = 0; i < stall->finding_count; i++) {
        if (stall->findings[i].kind == kind) {
            return &stall->findings[i];
        }
    }
    for (uint32_t i = 0; i < stall->finding_count; i++) {
        print_error("found: %s: %s\n", sim_stall_kind_name(stall->findings[i].kind), stall->findings[i].text);
    }
    CHECK(false, "there is a finding of kind \"%s\"", sim_stall_kind_name(kind));
    return NULL;
}
