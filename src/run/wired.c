/* SPDX-License-Identifier: Apache-2.0 */
/* Reading goes from what names the next file to what is named: configuration, topology, logical dimensions. */
#include "run/wired.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "config/faults.h"
#include "io/outfile.h"
#include "net/cc/cc.h"
#include "run/files.h"
#include "run/wired_check.h"

static void keep_flow(void *context, const struct packet_flow *flow)
{
    struct run_wired *wired = context;
    if (!MEM_GROW(wired->mem, wired->flows, wired->flow_capacity, wired->flow_count)) {
        wired->refused = true;
        return;
    }
    wired->flows[wired->flow_count++] = *flow;
}

static void keep_pause(void *context, uint64_t time_ns, uint32_t node, bool is_switch, uint32_t port_index, bool pause)
{
    struct run_wired *wired = context;
    if (!MEM_GROW(wired->mem, wired->pauses, wired->pause_capacity, wired->pause_count)) {
        wired->refused = true;
        return;
    }
    wired->pauses[wired->pause_count++] = (struct run_pause){time_ns, node, port_index, is_switch, pause};
}

static bool keep_queue(void *context, uint64_t time_ns, uint32_t node, uint32_t port_index, uint64_t bytes, bool last)
{
    struct run_wired *wired = context;
    if (wired->queue_count == RUN_QUEUES_MOST) {
        return false;
    }
    if (!MEM_GROW(wired->mem, wired->queues, wired->queue_capacity, wired->queue_count)) {
        wired->refused = true;
        return false;
    }
    wired->queues[wired->queue_count++] = (struct run_queue){time_ns, bytes, node, port_index, last};
    return true;
}

static void forget_all(void *context)
{
    struct run_wired *wired = context;
    wired->flow_count = 0;
    wired->pause_count = 0;
    wired->queue_count = 0;
}

static uint32_t run_wired_count_hosts(const struct topo_graph *graph)
{
    uint32_t hosts = 0;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        hosts += graph->kinds[node] == TOPO_NODE_HOST ? 1 : 0;
    }
    return hosts;
}

/* Ranks are the nodes 0, 1, 2 …, so those must be hosts (spec packet A1). */
static enum orr_status run_wired_check_ranks(const struct run_wired *wired, const struct topo_dims *dims,
                                             struct orr_error *err)
{
    uint32_t hosts = run_wired_count_hosts(&wired->graph);
    if (dims->ranks > hosts) {
        return error_set(err, ORR_EINVAL,
                         "%s: the machine has %" PRIu32 " hosts, and the logical topology asks for %" PRIu32 " ranks",
                         wired->files.topology, hosts, dims->ranks);
    }
    for (uint32_t rank = 0; rank < dims->ranks; rank++) {
        if (wired->graph.kinds[rank] != TOPO_NODE_HOST) {
            return error_set(err, ORR_EINVAL,
                             "%s: node %" PRIu32 " is a switch; ranks are nodes 0 to %" PRIu32 ", which must be hosts",
                             wired->files.topology, rank, dims->ranks - 1);
        }
    }
    return ORR_OK;
}

static bool has_marks(const struct packet_config *config, uint64_t rate_bps)
{
    for (uint32_t i = 0; i < config->mark_count; i++) {
        if (config->marks[i].rate_bps == rate_bps) {
            return true;
        }
    }
    return false;
}

/* A switch port of a rate that the marking maps lack marks whatever waits: hardly what was meant. */
static enum orr_status note_marks(const struct run_wired *wired, struct notes *notes, struct orr_error *err)
{
    const struct topo_graph *graph = &wired->graph;
    uint64_t told = 0;
    for (uint32_t i = 0; wired->config.enable_qcn && i < graph->link_count; i++) {
        const struct topo_link *link = &graph->links[i];
        bool at_switch = graph->kinds[link->a] == TOPO_NODE_SWITCH || graph->kinds[link->b] == TOPO_NODE_SWITCH;
        if (!at_switch || link->rate_bps == told || has_marks(&wired->config, link->rate_bps)) {
            continue;
        }
        told = link->rate_bps;
        enum orr_status status =
            notes_add(notes, err,
                      "%s: links of %" PRIu64 " b/s are in none of KMIN_MAP, KMAX_MAP and PMAX_MAP: "
                      "every packet that waits for one is marked",
                      wired->files.topology, told);
        if (status != ORR_OK) {
            return status;
        }
    }
    return ORR_OK;
}

/* A link that is slower marks at queues as much shorter. */
static enum orr_status scale_marks(struct packet_config *config, uint64_t before_bps, uint64_t now_bps,
                                   struct orr_error *err)
{
    if (has_marks(config, now_bps) || !has_marks(config, before_bps)) {
        return ORR_OK;
    }
    if (config->mark_count == PACKET_MARKS_MOST) {
        return error_set(err, ORR_ERANGE, "devices: links have more than %d different rates", PACKET_MARKS_MOST);
    }
    uint32_t like = 0;
    while (config->marks[like].rate_bps != before_bps) {
        like++;
    }
    double factor = (double)now_bps / (double)before_bps;
    struct packet_mark mark = config->marks[like];
    config->marks[config->mark_count++] = (struct packet_mark){.rate_bps = now_bps,
                                                               .kmin_bytes = mark.kmin_bytes * factor,
                                                               .kmax_bytes = mark.kmax_bytes * factor,
                                                               .pmax = mark.pmax};
    return ORR_OK;
}

/* The links of ranks that have a factor of their own. */
static enum orr_status scale_rates(struct run_wired *wired, const struct topo_dims *dims, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < wired->graph.link_count && status == ORR_OK; i++) {
        struct topo_link *link = &wired->graph.links[i];
        double factor = link->a < dims->ranks || link->b < dims->ranks ? topo_link_factor(dims, link->a, link->b) : 1.0;
        uint64_t before = link->rate_bps;
        double scaled = (double)before * factor + 0.5;
        if (!(scaled >= 1.0 && scaled < 1e18)) {
            return error_set(err, ORR_ERANGE,
                             "devices: a link of %" PRIu64 " b/s at node %" PRIu32 " cannot be %g times as fast",
                             before, link->a, factor);
        }
        link->rate_bps = factor == 1.0 ? before : (uint64_t)scaled;
        status = link->rate_bps != before ? scale_marks(&wired->config, before, link->rate_bps, err) : ORR_OK;
    }
    return status;
}

static bool add_change(struct run_wired *wired, uint64_t time_ns, uint32_t link, double factor)
{
    if (!MEM_GROW(wired->mem, wired->changes, wired->change_capacity, wired->change_count)) {
        return false;
    }
    wired->changes[wired->change_count++] = (struct packet_link_change){time_ns, link, factor == 0.0, factor};
    return true;
}

/* Changes of all links between two nodes; tells how many there are. False: no memory. */
static bool change_between(struct run_wired *wired, const struct config_fault *fault, uint32_t *found)
{
    const struct topo_graph *graph = &wired->graph;
    bool room = true;
    *found = 0;
    for (uint32_t link = 0; link < graph->link_count && room; link++) {
        uint32_t a = graph->links[link].a;
        uint32_t b = graph->links[link].b;
        if ((a == fault->a && b == fault->b) || (a == fault->b && b == fault->a)) {
            (*found)++;
            room = add_change(wired, fault->from_ns, link, fault->factor) &&
                   (fault->until_ns == UINT64_MAX || add_change(wired, fault->until_ns, link, 1.0));
        }
    }
    return room;
}

static enum orr_status take_fault(struct run_wired *wired, const struct config_fault *fault, struct orr_error *err)
{
    uint32_t found = 0;
    if (fault->switch_dim >= 0) {
        return error_set(err, ORR_EINVAL, "%s: a switch is a node with a number in %s", fault->where,
                         wired->files.topology);
    }
    if (!change_between(wired, fault, &found)) {
        return mem_error(wired->mem, "the links that change", err);
    }
    return found > 0
               ? ORR_OK
               : error_set(err, ORR_EINVAL, "%s: no link joins nodes %" PRIu32 " and %" PRIu32 ", so none can go down",
                           fault->where, fault->a, fault->b);
}

static enum orr_status take_faults(struct run_wired *wired, const struct orr_run_options *options,
                                   struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (size_t i = 0; i < options->link_down_count && status == ORR_OK; i++) {
        const struct orr_link_down *one = &options->link_downs[i];
        const struct config_fault fault = {.where = wired->files.topology,
                                           .a = one->a,
                                           .b = one->b,
                                           .switch_dim = -1,
                                           .from_ns = one->down_ns,
                                           .until_ns = one->up_ns};
        status = take_fault(wired, &fault, err);
    }
    for (uint32_t i = 0; i < wired->fault_count && status == ORR_OK; i++) {
        status = take_fault(wired, &wired->faults[i], err);
    }
    wired->config.link_changes = wired->changes;
    wired->config.link_change_count = wired->change_count;
    return status;
}

/* What the options say beyond the files. */
static enum orr_status take_options(struct run_wired *wired, const struct orr_run_options *options,
                                    struct orr_error *err)
{
#define NAME(id, name) [ORR_CONGESTION_##id] = name,
    static const char *const controls[] = {ORR_CONGESTIONS(NAME)};
#undef NAME
    static const enum packet_routing routings[] = {[ORR_ROUTING_ECMP] = PACKET_ROUTING_ECMP,
                                                   [ORR_ROUTING_SPRAY] = PACKET_ROUTING_SPRAY,
                                                   [ORR_ROUTING_ADAPTIVE] = PACKET_ROUTING_ADAPTIVE};
    struct packet_config *config = &wired->config;
    config->pfc_enabled = !options->no_pfc;
    config->timeouts = options->compat != ORR_COMPAT_ASTRA || options->rto_ns > 0;
    config->timeout_ns = options->rto_ns;
    config->no_fast_forward = options->no_fast_forward;
    config->only_shares = options->no_packets;
    config->int_sizes = options->compat == ORR_COMPAT_ASTRA;
    config->own_losses = options->compat != ORR_COMPAT_ASTRA;
    config->loss_seed = options->seed;
    config->routing = routings[options->routing];
    config->parallel_links = options->parallel_links;
    if (options->congestion != ORR_CONGESTION_FILE) {
        config->cc_mode = cc_law_called(controls[options->congestion])->number;
    }
    return take_faults(wired, options, err);
}

static enum orr_status finish_dims(const struct run_wired *wired, struct topo_dims *dims, struct orr_error *err)
{
    const struct topo_link *first = &wired->graph.links[wired->graph.ports[wired->graph.port_start[0]].link];
    for (uint32_t d = 0; d < dims->count; d++) {
        dims->dim[d].kind = TOPO_SWITCH;
        dims->dim[d].bandwidth_gibps = (double)first->rate_bps / 8 / 0x1p30;
        dims->dim[d].latency_ns = (double)first->delay_ns;
    }
    return topo_dims_finish(dims) ? ORR_OK
                                  : error_set(err, ORR_ERANGE, "the logical topology has more than 2^31 - 1 ranks");
}

void run_wired_listen(struct run_wired *wired, bool flows, bool queues)
{
    wired->keep = flows;
    wired->machine = (struct packet_machine){.graph = &wired->graph, .config = &wired->config, .context = wired};
    if (flows) {
        wired->machine.flow_done = keep_flow;
        wired->machine.pause_seen = keep_pause;
    }
    wired->machine.queue_seen = queues ? keep_queue : NULL;
    wired->machine.sample_start_ns = wired->config.sample_start_ns;
    wired->machine.started_over = forget_all;
}

/* ---- the three files ---- */

static enum orr_status run_wired_read_configuration(const struct orr_run_options *options, struct arena *arena,
                                                    struct notes *notes, struct run_wired *wired, struct orr_error *err)
{
    struct run_file file;
    enum orr_status status = run_file_open(options, "network", options->network, arena, &file, err);
    if (status == ORR_OK) {
        status = config_take_packet(&file.text, arena, notes, &wired->config, &wired->files, err);
        run_file_close(&file);
    }
    if (status == ORR_OK && wired->files.topology == NULL) {
        status = error_set(err, ORR_EINVAL, "%s: TOPOLOGY_FILE is missing", options->network);
    }
    return status;
}

/* From the current folder, as the reference has it; where nothing is there, from the folder of the configuration that
 * names it, so that a machine's files can be moved together. */
static enum orr_status find_topology(const struct orr_run_options *options, struct arena *arena, struct notes *notes,
                                     struct run_wired *wired, struct orr_error *err)
{
    const char *named = wired->files.topology;
    const char *slash = strrchr(options->network, '/');
    if (named[0] == '/' || slash == NULL) {
        return ORR_OK;
    }
    const char *beside = arena_printf(arena, "%.*s/%s", (int)(slash - options->network), options->network, named);
    if (beside == NULL) {
        return mem_error(arena->mem, "a path", err);
    }
    bool there = run_file_exists(options, named);
    if (!run_file_exists(options, beside)) {
        return ORR_OK;
    }
    if (there) {
        return notes_add(notes, err, "%s: TOPOLOGY_FILE %s is taken from the current folder; %s is another",
                         options->network, named, beside);
    }
    wired->files.topology = beside;
    return ORR_OK;
}

static enum orr_status run_wired_read_topology(const struct orr_run_options *options, struct arena *arena,
                                               struct notes *notes, struct run_wired *wired, struct orr_error *err)
{
    struct run_file file;
    enum orr_status status = run_file_open(options, NULL, wired->files.topology, arena, &file, err);
    if (status == ORR_OK) {
        status = config_parse_topology(file.text.name, file.text.text, file.text.size, arena, notes, &wired->graph,
                                       &wired->extra, err);
        run_file_close(&file);
    }
    return status;
}

static enum orr_status read_logical(const struct orr_run_options *options, struct arena *arena, struct notes *notes,
                                    struct topo_dims *dims, struct orr_error *err)
{
    struct run_file file;
    enum orr_status status = run_file_open(options, "logical", options->logical, arena, &file, err);
    if (status == ORR_OK) {
        status = config_take_logical(&file.text, notes, dims, err);
        run_file_close(&file);
    }
    return status;
}

enum orr_status run_wired_read(const struct orr_run_options *options, struct arena *arena, struct notes *notes,
                               struct run_wired *wired, struct topo_dims *dims, struct orr_error *err)
{
    wired->mem = arena->mem;
    enum orr_status status = run_wired_read_configuration(options, arena, notes, wired, err);
    if (status == ORR_OK) {
        status = find_topology(options, arena, notes, wired, err);
    }
    if (status == ORR_OK) {
        status = run_wired_read_topology(options, arena, notes, wired, err);
    }
    if (status == ORR_OK && options->logical != NULL) {
        status = read_logical(options, arena, notes, dims, err);
    } else if (status == ORR_OK) {
        dims->count = 1;
        dims->dim[0].size = run_wired_count_hosts(&wired->graph);
    }
    if (status == ORR_OK) {
        status = finish_dims(wired, dims, err);
    }
    if (status == ORR_OK) {
        status = run_wired_check_ranks(wired, dims, err);
    }
    return status;
}

enum orr_status run_wired_settle(const struct orr_run_options *options, const struct topo_dims *dims,
                                 struct notes *notes, struct run_wired *wired, struct orr_error *err)
{
    enum orr_status status = note_marks(wired, notes, err);
    if (status == ORR_OK && dims->link_factors != NULL) {
        status = scale_rates(wired, dims, err);
    }
    if (status == ORR_OK) {
        status = take_options(wired, options, err);
    }
    if (status == ORR_OK) {
        status = run_wired_check(wired, options->network, options->compat == ORR_COMPAT_ASTRA, notes, err);
    }
    if (status == ORR_OK) {
        run_wired_listen(wired, options->keep_flows, options->keep_queues);
    }
    return status;
}

void run_wired_free(struct run_wired *wired)
{
    topo_graph_free(&wired->graph);
    if (wired->mem != NULL) {
        mem_free(wired->mem, wired->flows, (size_t)wired->flow_capacity * sizeof *wired->flows);
        mem_free(wired->mem, wired->pauses, (size_t)wired->pause_capacity * sizeof *wired->pauses);
        mem_free(wired->mem, wired->changes, (size_t)wired->change_capacity * sizeof *wired->changes);
        mem_free(wired->mem, wired->queues, (size_t)wired->queue_capacity * sizeof *wired->queues);
    }
}

static uint32_t address(uint32_t node)
{
    return UINT32_C(0x0b000001) + ((node / 256) << 16) + ((node % 256) << 8);
}

static void run_wired_put_flows(const struct run_wired *wired, FILE *stream)
{
    for (uint32_t i = 0; i < wired->flow_count; i++) {
        const struct packet_flow *flow = &wired->flows[i];
        (void)fprintf(stream, "%08x %08x %u 100 %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", address(flow->src),
                      address(flow->dst), flow->port, flow->bytes, flow->start_ns, flow->duration_ns,
                      flow->standalone_ns);
    }
}

static void put_pauses(const struct run_wired *wired, FILE *stream)
{
    for (uint32_t i = 0; i < wired->pause_count; i++) {
        const struct run_pause *pause = &wired->pauses[i];
        (void)fprintf(stream, "%" PRIu64 " %" PRIu32 " %d %" PRIu32 " %d\n", pause->time_ns, pause->node,
                      pause->is_switch ? 1 : 0, pause->port_index, pause->pause ? 1 : 0);
    }
}

/* A line for each switch and time; one that ends with the switch's last port has no blank at its end, which is how the
 * reference happens to print it. */
static void put_queues(const struct run_wired *wired, FILE *stream)
{
    for (uint32_t i = 0; wired->queues != NULL && i < wired->queue_count; i++) {
        const struct run_queue *queue = &wired->queues[i];
        const struct run_queue *before = i == 0 ? NULL : queue - 1;
        const struct run_queue *after = i + 1 == wired->queue_count ? NULL : queue + 1;
        bool first = before == NULL || before->time_ns != queue->time_ns || before->node != queue->node;
        bool ends = after == NULL || after->time_ns != queue->time_ns || after->node != queue->node;
        if (first) {
            (void)fprintf(stream, "time %" PRIu64 " %" PRIu32 " ", queue->time_ns, queue->node);
        }
        (void)fprintf(stream, "j %" PRIu32 " %" PRIu64 "%s%s", queue->port_index, queue->bytes, queue->last ? "" : " ",
                      ends ? "\n" : "");
    }
    if (wired->queue_count == RUN_QUEUES_MOST) {
        (void)fprintf(stream, "# ends here: more than %d queues were sampled\n", RUN_QUEUES_MOST);
    }
}

enum orr_status run_wired_write(const struct run_wired *wired, enum orr_output output, const char *path, FILE *stream,
                                struct orr_error *err)
{
    struct io_outfile *file = NULL;
    bool kept = output == ORR_OUTPUT_QLEN ? wired->machine.queue_seen != NULL : wired->keep;
    if (!kept && output == ORR_OUTPUT_QLEN) {
        return error_set(err, ORR_EINVAL, "the network's queues were not kept; set keep_queues before opening the run");
    }
    if (!kept) {
        return error_set(err, ORR_EINVAL, "the network's flows were not kept; set keep_flows before opening the run");
    }
    if (wired->refused) {
        return error_set(err, ORR_ENOMEM, "the memory limit left no room for all flows of the network");
    }
    if (path != NULL) {
        enum orr_status status = io_outfile_open(path, IO_OUTFILE_PLAIN, &file, err);
        if (status != ORR_OK) {
            return status;
        }
        stream = io_outfile_stream(file);
    }
    (output == ORR_OUTPUT_FCT   ? run_wired_put_flows
     : output == ORR_OUTPUT_PFC ? put_pauses
                                : put_queues)(wired, stream);
    if (file != NULL) {
        return io_outfile_commit(file, err);
    }
    return error_of_stream(stream, "the output", err);
}
