/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters are swept: every communication is an edge up and an edge down, sorted by time, and a value is told once all
 * edges of a moment are counted. Values are whole numbers, so that what goes up comes down to 0 again.
 */
#include "report/events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows.h"
#include "report/simai_run.h"

/* ---- slices ---- */

/* Members of the group a node names; the name is the id as text, all of it, and "" and "0" are all ranks (spec
 * analytical §13). A run refuses names that are neither, so none gets here. */
uint32_t report_group_size(const struct sim_result *result, const struct trace_graph *graph, uint32_t node)
{
    const struct sim_config *config = result->config;
    if (result->simai != NULL) {
        uint32_t cell = node / 2;
        return report_simai_run_ranks(result->simai, cell / SIMAI_PHASES, (enum simai_phase)(cell % SIMAI_PHASES));
    }
    const char *name = graph->strings + graph->nodes[node].group;
    char *end = NULL;
    errno = 0;
    long id = strtol(name, &end, 10);
    bool whole = errno == 0 && end != name && *end == '\0' && id != 0;
    for (uint32_t i = 0; whole && i < config->group_count; i++) {
        if (config->groups[i].id == id) {
            return config->groups[i].count;
        }
    }
    return config->dims.ranks;
}

/* Kineto's categories. */
static const char *events_category(const struct trace_node *node)
{
    if (node->is_cpu_op) {
        return "cpu_op";
    }
    return node->type == TRACE_MEM_LOAD || node->type == TRACE_MEM_STORE ? "gpu_memcpy" : "kernel";
}

static void events_number(struct report_slice *slice, const char *name, uint64_t number)
{
    slice->arguments[slice->argument_count++] = (struct report_argument){.name = name, .number = number};
}

static void events_signed(struct report_slice *slice, const char *name, int64_t number)
{
    slice->arguments[slice->argument_count++] =
        (struct report_argument){.name = name, .number = (uint64_t)number, .is_signed = true};
}

static void events_text(struct report_slice *slice, const char *name, const char *text)
{
    slice->arguments[slice->argument_count++] = (struct report_argument){.name = name, .text = text};
}

void report_slice_of(const struct sim_result *result, const struct sim_interval *interval, uint32_t thread,
                     struct report_slice *slice)
{
    const struct trace_rank *rank = &result->config->traces->ranks[interval->rank];
    const struct trace_graph *graph = rank->graph;
    const struct trace_node *node = &graph->nodes[interval->node];
    const char *name = trace_graph_name(graph, interval->node);
    const char *group = graph->strings + node->group;
    bool sends = node->type == TRACE_SEND;
    *slice = (struct report_slice){.name = name[0] != '\0' ? name : report_node_word(node),
                                   .category = events_category(node)};
    events_number(slice, "node_id", trace_rank_node_id(rank, interval->node));
    events_number(slice, "stream", thread);
    switch (node->type) {
    case TRACE_COLL:
        events_text(slice, "Collective name", report_node_word(node));
        events_number(slice, "bytes", node->comm_bytes);
        events_text(slice, "Process Group Name", group[0] != '\0' ? group : "0");
        events_number(slice, "Group size", report_group_size(result, graph, interval->node));
        break;
    case TRACE_SEND:
    case TRACE_RECV:
        events_text(slice, "Collective name", report_node_word(node));
        events_number(slice, "bytes", node->comm_bytes);
        events_signed(slice, sends ? "dst" : "src", sends ? node->comm_dst : node->comm_src);
        events_signed(slice, "tag", node->comm_tag);
        break;
    case TRACE_MEM_LOAD:
    case TRACE_MEM_STORE:
        events_number(slice, "bytes", node->tensor_bytes);
        break;
    default:
        break;
    }
}

/* ---- arrows ---- */

const char *const report_flow_names[REPORT_FLOWS] = {
    [REPORT_FLOW_MESSAGE] = "message", [REPORT_FLOW_ARRIVAL] = "last to come", [REPORT_FLOW_LAUNCH] = "launch"};

int64_t report_flow_into(const struct report_events *events, uint32_t place, bool launch, enum report_flow *flow)
{
    const struct report_waits *waits = &events->waits;
    if (launch) {
        *flow = REPORT_FLOW_LAUNCH;
        return waits->launch[place];
    }
    *flow = waits->send[place] != REPORT_NO_WAIT ? REPORT_FLOW_MESSAGE : REPORT_FLOW_ARRIVAL;
    return waits->send[place] != REPORT_NO_WAIT ? waits->send[place] : waits->late[place];
}

/* Arrows by where they begin, counted and then laid one behind the other. */
static enum orr_status events_sort_flows(struct report_events *events, struct orr_error *err)
{
    struct report_waits *waits = &events->waits;
    enum report_flow flow;
    events->first_leaving = arena_zalloc(&waits->arena, ((size_t)waits->count + 2) * sizeof *events->first_leaving);
    if (events->first_leaving == NULL) {
        return mem_error(waits->arena.mem, "the arrows of the timeline", err);
    }
    uint32_t *ends =
        events->first_leaving + 1; /* behind the arrows of a place, which is where those of the next begin */
    uint32_t total = 0;
    for (uint64_t i = 0; i < 2 * (uint64_t)waits->count; i++) {
        int64_t from = report_flow_into(events, (uint32_t)(i / 2), i % 2 == 1, &flow);
        if (from != REPORT_NO_WAIT) {
            ends[from + 1]++;
            total++;
        }
    }
    events->leaving = arena_alloc(&waits->arena, ((size_t)total + 1) * sizeof *events->leaving);
    if (events->leaving == NULL) {
        return mem_error(waits->arena.mem, "the arrows of the timeline", err);
    }
    for (uint32_t place = 1; place <= waits->count; place++) {
        ends[place] += ends[place - 1];
    }
    for (uint64_t i = 0; i < 2 * (uint64_t)waits->count; i++) {
        int64_t from = report_flow_into(events, (uint32_t)(i / 2), i % 2 == 1, &flow);
        if (from != REPORT_NO_WAIT) {
            events->leaving[ends[from]++] = report_flow_number((uint32_t)(i / 2), i % 2 == 1);
        }
    }
    return ORR_OK;
}

enum orr_status report_events_make(const struct sim_result *result, struct report_events *events, struct orr_error *err)
{
    *events = (struct report_events){.first_leaving = NULL};
    if (!result->config->keep_intervals) {
        return error_set(err, ORR_EINVAL,
                         "a timeline needs a run that keeps its intervals (keep_intervals); this one "
                         "did not");
    }
    enum orr_status status = report_lanes_make(result, &events->lanes, err);
    if (status != ORR_OK) {
        return status;
    }
    status = report_waits_make(result, &events->lanes, &events->waits, err);
    if (status != ORR_OK) {
        arena_free(&events->lanes.arena);
        return status;
    }
    status = events_sort_flows(events, err);
    if (status != ORR_OK) {
        report_events_free(events);
    }
    return status;
}

void report_events_free(struct report_events *events)
{
    arena_free(&events->waits.arena);
    arena_free(&events->lanes.arena);
}

/* ---- counters ---- */

const struct report_counter_words report_counter_words[REPORT_COUNTERS] = {
    [REPORT_COUNTER_ACTIVE] = {"communications in flight", ""},
    [REPORT_COUNTER_BYTES] = {"bytes in flight", "bytes"},
    [REPORT_COUNTER_RATE] = {"communication rate", "MB/s"},
    [REPORT_COUNTER_MEMORY] = {"memory", "bytes"},
};

struct counter_edge {
    uint64_t time_ns;
    uint32_t place;
    bool begins;
};

struct counter_walk {
    const struct sim_result *result;
    const struct report_events *events;
    void (*tell)(void *context, uint32_t rank, enum report_counter counter, uint64_t time_ns, uint64_t value);
    void *context;
};

static int counter_by_time(const void *a, const void *b)
{
    const struct counter_edge *x = a, *y = b;
    if (x->time_ns != y->time_ns) {
        return x->time_ns < y->time_ns ? -1 : 1;
    }
    return 0; /* the order within a moment does not show */
}

static void counter_add(const struct counter_walk *walk, const struct counter_edge *edge, uint64_t values[3])
{
    const struct sim_interval *one = &walk->result->intervals[walk->events->waits.order[edge->place]];
    const struct trace_node *node = &walk->result->config->traces->ranks[one->rank].graph->nodes[one->node];
    uint64_t lasted = one->end_ns - one->start_ns;
    const uint64_t parts[3] = {1, node->comm_bytes,
                               lasted == 0 ? 0 : (uint64_t)((double)node->comm_bytes * 1000 / (double)lasted)};
    for (uint32_t i = 0; i < 3; i++) {
        values[i] = edge->begins ? values[i] + parts[i] : values[i] - parts[i];
    }
}

static void counter_sweep(const struct counter_walk *walk, uint32_t rank, struct counter_edge *edges, size_t count)
{
    uint64_t values[3] = {0, 0, 0}, told[3] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    qsort(edges, count, sizeof *edges, counter_by_time);
    for (size_t i = 0, end = 0; i < count; i = end) {
        for (end = i; end < count && edges[end].time_ns == edges[i].time_ns; end++) {
            counter_add(walk, &edges[end], values);
        }
        for (uint32_t k = 0; k < 3; k++) {
            if (values[k] != told[k]) {
                walk->tell(walk->context, rank, (enum report_counter)k, edges[i].time_ns, values[k]);
                told[k] = values[k];
            }
        }
    }
}

static void counter_memory(const struct counter_walk *walk, uint32_t rank)
{
    const struct sim_usage *usage = &walk->result->usage;
    for (uint32_t i = 0; usage->ranks != NULL && rank < usage->rank_count && i < usage->ranks[rank].step_count; i++) {
        const struct sim_usage_step *step = &usage->ranks[rank].steps[i];
        walk->tell(walk->context, rank, REPORT_COUNTER_MEMORY, step->time_ns, step->bytes);
    }
}

enum orr_status report_counters_walk(const struct sim_result *result, const struct report_events *events,
                                     void (*tell)(void *context, uint32_t rank, enum report_counter counter,
                                                  uint64_t time_ns, uint64_t value),
                                     void *context, struct orr_error *err)
{
    const struct counter_walk walk = {.result = result, .events = events, .tell = tell, .context = context};
    const struct report_waits *waits = &events->waits;
    struct mem *mem = waits->arena.mem;
    size_t count = 0, room = 2 * (size_t)waits->count + 1;
    struct counter_edge *edges = mem_alloc(mem, room * sizeof *edges);
    if (edges == NULL) {
        return mem_error(mem, "the counters of the timeline", err);
    }
    for (uint32_t place = 0; place < waits->count;) {
        uint32_t rank = result->intervals[waits->order[place]].rank;
        size_t first = count;
        for (; place < waits->count && result->intervals[waits->order[place]].rank == rank; place++) {
            const struct sim_interval *one = &result->intervals[waits->order[place]];
            if (result->config->traces->ranks[rank].graph->nodes[one->node].type >= TRACE_SEND) {
                edges[count++] = (struct counter_edge){.time_ns = one->start_ns, .place = place, .begins = true};
                edges[count++] = (struct counter_edge){.time_ns = one->end_ns, .place = place};
            }
        }
        counter_sweep(&walk, rank, edges + first, count - first);
        counter_memory(&walk, rank);
    }
    counter_sweep(&walk, REPORT_ALL_RANKS, edges, count);
    mem_free(mem, edges, room * sizeof *edges);
    return ORR_OK;
}
