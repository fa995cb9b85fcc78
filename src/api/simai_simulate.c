/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions of SimAI's simulation: files into plain structs, the executor (sim/simai/), its result to
 * report/. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/simai_inside.h"
#include "api/simai_program.h"
#include "io/outfile.h"
#include "net/flow/flow.h"
#include "param/param.h"
#include "report/simai_run.h"
#include "run/wired.h"
#include "run/wired_check.h"

enum { SEND_LATENCY_NS = 6000, SEND_LATENCY_COMPAT_NS = 6000000, LINK_HEADER_BYTES = 14, LONG_SEQ_BYTES = 4 };

struct orr_simai {
    struct mem mem;
    struct arena arena;
    struct notes notes;
    struct lab_wired wired;
    struct lab_simai_program program;
    struct simai_config config;
    struct simai *simai;
    const char *workload;
    enum orr_backend backend;
    bool (*progress)(void *context, const struct orr_progress *now);
    void *progress_context;
};

/* ---- the machine ---- */

/* NVLink switches that reduce: of SimAI 1.6's types two count, by default all since. */
static bool has_nvls(const char *gpu_type, bool compat)
{
    return compat ? strcmp(gpu_type, "H100") == 0 || strcmp(gpu_type, "H800") == 0 : nccl_gpu_has_nvls(gpu_type);
}

/* GPUs are 0, 1, 2 …, NVSwitches follow server by server, and only then other switches (spec packet B2). */
static enum orr_status check_order(const struct orr_simai *simai, const char *path, uint32_t gpus, uint32_t nvswitches,
                                   struct orr_error *err)
{
    for (uint32_t node = 0; node < simai->wired.graph.node_count; node++) {
        enum topo_node_kind kind = node < gpus                ? TOPO_NODE_HOST
                                   : node < gpus + nvswitches ? TOPO_NODE_NVSWITCH
                                                              : TOPO_NODE_SWITCH;
        if (simai->wired.graph.kinds[node] != kind) {
            return error_set(err, ORR_EINVAL,
                             "%s: node %" PRIu32 " is out of order: GPUs come first, then NVSwitches, then switches",
                             path, node);
        }
    }
    return ORR_OK;
}

static enum orr_status read_machine(struct orr_simai *simai, const struct orr_simai_simulation *options,
                                    struct orr_error *err)
{
    struct lab_wired *wired = &simai->wired;
    struct config_wired_extra extra = {0};
    wired->mem = &simai->mem;
    enum orr_status status =
        config_read_packet(options->config, &simai->arena, &simai->notes, &wired->config, &wired->files, err);
    if (status == ORR_OK) {
        status = config_read_topology(options->topology, &simai->arena, &simai->notes, &wired->graph, &extra, err);
    }
    if (status == ORR_OK && extra.gpus_per_server == 0) {
        status = error_set(
            err, ORR_EINVAL,
            "%s:1: this is not SimAI's form of a topology, which begins with nodes, GPUs of a server, "
            "NVSwitches, switches, links and GPU type (orrery topo make writes it with parameter 'format' simai)",
            options->topology);
    }
    uint32_t gpus = 0;
    uint32_t nvswitches = 0;
    for (uint32_t node = 0; status == ORR_OK && node < wired->graph.node_count; node++) {
        gpus += wired->graph.kinds[node] == TOPO_NODE_HOST ? 1 : 0;
        nvswitches += wired->graph.kinds[node] == TOPO_NODE_NVSWITCH ? 1 : 0;
    }
    status = status == ORR_OK ? check_order(simai, options->topology, gpus, nvswitches, err) : status;
    if (status != ORR_OK) {
        return status;
    }
    uint32_t per_server = extra.gpus_per_server > 0 ? extra.gpus_per_server : 1; /* checked above */
    uint32_t servers = gpus > per_server ? (gpus - 1) / per_server + 1 : 1;
    simai->config.nodes = gpus + nvswitches;
    simai->config.job = (struct nccl_job){
        .gpus = gpus,
        .gpus_per_server = per_server,
        .switches_per_server = nvswitches / servers,
        .tp = 1,
        .ep = 1,
        .has_nvls = nvswitches >= servers && has_nvls(extra.gpu_type, options->compat),
        .nvls = options->nvls,
        .nvls_tree = options->nvls_tree,
        .pxn = options->pxn,
        .compat = options->compat,
    };
    return ORR_OK;
}

/* What differs from ASTRA-sim's network, whose file has the same keys (spec packet B3, B4, B6). */
static enum orr_status set_network(struct orr_simai *simai, const struct orr_simai_simulation *options,
                                   struct orr_error *err)
{
    struct packet_config *config = &simai->wired.config;
    if (config->has_window && !config->global_t) {
        enum orr_status status =
            notes_add(&simai->notes, err, "%s: GLOBAL_T 0 is ignored: in SimAI every window is that of the longest way",
                      options->config);
        if (status != ORR_OK) {
            return status;
        }
    }
    uint64_t unset = options->compat ? SEND_LATENCY_COMPAT_NS : SEND_LATENCY_NS;
    config->link_header_bytes = LINK_HEADER_BYTES;
    config->long_seq_bytes = LONG_SEQ_BYTES;
    config->round_down = true;
    config->newest_first = true;
    config->start_latency_ns = options->has_send_latency ? options->send_latency_ns : unset;
    config->nic_total_pause = 0;
    config->global_t = true; /* whatever the file says */
    config->timeouts = !options->compat;
    config->int_sizes = false;
    config->own_losses = !options->compat;
    config->no_fast_forward = options->run.no_fast_forward;
    lab_wired_listen(&simai->wired, options->run.keep_flows, false);
    return lab_wired_check(&simai->wired, options->config, options->compat, &simai->notes, err);
}

/* ---- opening ---- */

static enum orr_status read_all(struct orr_simai *simai, const struct orr_simai_simulation *options,
                                struct orr_error *err)
{
    static const struct net_ops *const networks[] = {
        [ORR_BACKEND_PACKET] = &net_packet, [ORR_BACKEND_FLOW] = &net_flow, [ORR_BACKEND_AUTO] = &net_auto};
    enum orr_status status = read_machine(simai, options, err);
    if (status == ORR_OK) {
        status = set_network(simai, options, err);
    }
    if (status == ORR_OK) {
        status = lab_simai_program_read(options->run.workload, simai->config.job.gpus, options->compat,
                                        options->schedule == ORR_SIMAI_INTERLEAVED, &simai->arena, &simai->notes,
                                        &simai->program, err);
    }
    simai->workload = arena_strndup(&simai->arena, options->run.workload, strlen(options->run.workload));
    if (status == ORR_OK && simai->workload == NULL) {
        status = mem_error(&simai->mem, "the run", err);
    }
    if (status != ORR_OK) {
        return status;
    }
    simai->config.job.tp = simai->program.tp;
    simai->config.job.ep = simai->program.ep;
    simai->config.job.cp = simai->program.cp;
    simai->config.program = &simai->program.program;
    simai->config.machine = &simai->wired.machine;
    simai->config.network = networks[options->run.backend];
    simai->config.compat = options->compat;
    simai->config.merge_channels = options->run.backend == ORR_BACKEND_FLOW && !options->run.no_fast_forward;
    simai->config.keep_intervals = options->run.keep_intervals;
    return simai_open(&simai->config, &simai->mem, &simai->notes, &simai->simai, err);
}

enum orr_status orr_simai_open(const struct orr_simai_simulation *options, struct orr_simai **simai,
                               struct orr_error *err)
{
    enum orr_status status = param_simai_simulation_check(options, err);
    if (status != ORR_OK) {
        return status;
    }
    struct orr_simai *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory for a run");
    }
    made->mem.limit = options->run.memory_limit;
    made->backend = options->run.backend;
    made->progress = options->run.progress;
    made->progress_context = options->run.progress_context;
    arena_init(&made->arena, &made->mem);
    notes_init(&made->notes, &made->mem, options->run.strict);
    status = read_all(made, options, err);
    if (status != ORR_OK) {
        orr_simai_close(made);
        return status;
    }
    *simai = made;
    return ORR_OK;
}

void orr_simai_close(struct orr_simai *simai)
{
    if (simai != NULL) {
        simai_close(simai->simai);
        lab_wired_free(&simai->wired);
        notes_free(&simai->notes);
        arena_free(&simai->arena);
        free(simai);
    }
}

enum orr_status orr_simai_execute(struct orr_simai *simai, struct orr_error *err)
{
    return simai_run(simai->simai, simai->progress, simai->progress_context, err);
}

/* ---- what is known ---- */

struct simai_config *lab_simai_config(struct orr_simai *simai)
{
    return &simai->config;
}

const struct simai_result *lab_simai_result(const struct orr_simai *simai)
{
    return simai_result(simai->simai);
}

size_t orr_simai_warning_count(const struct orr_simai *simai)
{
    return simai->notes.count;
}

const char *orr_simai_warning(const struct orr_simai *simai, size_t index)
{
    return index < simai->notes.count ? simai->notes.lines[index] : NULL;
}

uint32_t orr_simai_rank_count(const struct orr_simai *simai)
{
    return simai->config.job.gpus;
}

uint32_t orr_simai_node_count(const struct orr_simai *simai)
{
    return simai->config.nodes;
}

uint64_t orr_simai_time_ns(const struct orr_simai *simai)
{
    return simai_result(simai->simai)->end_ns;
}

uint64_t orr_simai_rank_ns(const struct orr_simai *simai, uint32_t rank)
{
    return rank < simai->config.job.gpus ? simai_result(simai->simai)->finish_ns[rank] : UINT64_MAX;
}

uint64_t orr_simai_last_flow_ns(const struct orr_simai *simai)
{
    return simai_result(simai->simai)->last_flow_ns;
}

uint64_t orr_simai_flow_count(const struct orr_simai *simai)
{
    return simai_result(simai->simai)->flows;
}

uint64_t orr_simai_event_count(const struct orr_simai *simai)
{
    return simai_result(simai->simai)->events;
}

const char *orr_simai_named_file(const struct orr_simai *simai, enum orr_simai_output output)
{
    const struct config_packet_files *files = &simai->wired.files;
    return output == ORR_SIMAI_FCT ? files->fct : output == ORR_SIMAI_PFC ? files->pfc : NULL;
}

/* ---- writing ---- */

enum orr_status orr_simai_write(const struct orr_simai *simai, enum orr_simai_output output, const char *path,
                                FILE *stream, struct orr_error *err)
{
    if (output == ORR_SIMAI_FCT || output == ORR_SIMAI_PFC) {
        return lab_wired_write(&simai->wired, output == ORR_SIMAI_FCT ? ORR_OUTPUT_FCT : ORR_OUTPUT_PFC, path, stream,
                               err);
    }
    if (output == ORR_SIMAI_TIMELINE && !simai->config.keep_intervals) {
        return error_set(err, ORR_EINVAL, "no timeline was kept; set keep_intervals before opening the run");
    }
    const struct report_simai_run report = {.result = simai_result(simai->simai),
                                            .workload = simai->workload,
                                            .network = simai->config.network->name,
                                            .pp = simai->program.pp,
                                            .vpp = simai->program.vpp,
                                            .ga = simai->program.ga};
    return report_simai_run_write(&report, output, path, stream, err);
}
