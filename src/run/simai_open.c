/* SPDX-License-Identifier: Apache-2.0 */
/* A SimAI workload opened as a run: files into plain structs, and the executor of rows (sim/simai/). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "convert/text/simai_read.h"
#include "net/flow/flow.h"
#include "param/param.h"
#include "run/files.h"
#include "run/session.h"
#include "run/wired_check.h"

enum { SEND_LATENCY_NS = 6000, SEND_LATENCY_COMPAT_NS = 6000000, LINK_HEADER_BYTES = 14, LONG_SEQ_BYTES = 4 };

/* Pipelines of fewer ranks are done in seconds without recalling what was done before (sim/simai/recall.h). */
enum { RECALL_RANKS = 512 };

/* ---- the machine ---- */

/* NVLink switches that reduce: of SimAI 1.6's types two count, by default all since. */
static bool has_nvls(const char *gpu_type, bool compat)
{
    return compat ? strcmp(gpu_type, "H100") == 0 || strcmp(gpu_type, "H800") == 0 : nccl_gpu_has_nvls(gpu_type);
}

/* GPUs are 0, 1, 2 …, NVSwitches follow server by server, and only then other switches (spec packet B2). */
static enum orr_status check_order(const struct orr_run *run, const char *path, uint32_t gpus, uint32_t nvswitches,
                                   struct orr_error *err)
{
    for (uint32_t node = 0; node < run->wired.graph.node_count; node++) {
        enum topo_node_kind kind = node < gpus                ? TOPO_NODE_HOST
                                   : node < gpus + nvswitches ? TOPO_NODE_NVSWITCH
                                                              : TOPO_NODE_SWITCH;
        if (run->wired.graph.kinds[node] != kind) {
            return error_set(err, ORR_EINVAL,
                             "%s: node %" PRIu32 " is out of order: GPUs come first, then NVSwitches, then switches",
                             path, node);
        }
    }
    return ORR_OK;
}

/* How many GPUs the workload is for, by its header; 0: it does not say. */
static enum orr_status count_gpus(struct orr_run *run, const struct orr_simai_simulation *options, uint32_t *gpus,
                                  struct orr_error *err)
{
    struct simai_text text;
    enum orr_status status = simai_text_read(options->run.workload, &run->mem, options->compat, &text, err);
    if (status == ORR_OK) {
        int64_t written = text.values[SIMAI_GPUS];
        *gpus = written > 0 && written <= INT32_MAX ? (uint32_t)written : 0;
        text_free(&text.workload);
    }
    return status;
}

/* The files of a machine that is named, in memory: `options` then names them. */
static enum orr_status name_machine(struct orr_run *run, struct orr_simai_simulation *options, struct orr_error *err)
{
    uint32_t gpus = 0;
    enum orr_status status = count_gpus(run, options, &gpus, err);
    if (status == ORR_OK) {
        status = run_machine_take_wires(&options->run, gpus, &run->machine, &run->arena, &options->topology, err);
    }
    if (status == ORR_OK && options->config == NULL) {
        options->config = options->run.network;
    }
    return status;
}

static enum orr_status read_files(struct orr_run *run, const struct orr_simai_simulation *options,
                                  struct config_wired_extra *extra, struct orr_error *err)
{
    struct run_wired *wired = &run->wired;
    struct run_file file;
    enum orr_status status = run_file_open(&options->run, "config", options->config, &run->arena, &file, err);
    if (status != ORR_OK) {
        return status;
    }
    status = config_take_packet(&file.text, &run->arena, &run->notes, &wired->config, &wired->files, err);
    run_file_close(&file);
    if (status == ORR_OK) {
        status = run_file_open(&options->run, NULL, options->topology, &run->arena, &file, err);
    }
    if (status == ORR_OK) {
        status = config_parse_topology(file.text.name, file.text.text, file.text.size, &run->arena, &run->notes,
                                       &wired->graph, extra, err);
        run_file_close(&file);
    }
    return status;
}

static enum orr_status read_machine(struct orr_run *run, const struct orr_simai_simulation *options,
                                    struct orr_error *err)
{
    struct run_wired *wired = &run->wired;
    struct config_wired_extra extra = {0};
    wired->mem = &run->mem;
    enum orr_status status = read_files(run, options, &extra, err);
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
    status = status == ORR_OK ? check_order(run, options->topology, gpus, nvswitches, err) : status;
    if (status != ORR_OK) {
        return status;
    }
    status = session_settle_times(run, &options->run, extra.gpu_type, err);
    if (status != ORR_OK) {
        return status;
    }
    uint32_t per_server = extra.gpus_per_server > 0 ? extra.gpus_per_server : 1; /* checked above */
    uint32_t servers = gpus > per_server ? (gpus - 1) / per_server + 1 : 1;
    run->rows.config.nodes = gpus + nvswitches;
    run->rows.config.job = (struct nccl_job){
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
static enum orr_status set_network(struct orr_run *run, const struct orr_simai_simulation *options,
                                   struct orr_error *err)
{
    struct packet_config *config = &run->wired.config;
    if (config->has_window && !config->global_t) {
        enum orr_status status =
            notes_add(&run->notes, err, "%s: GLOBAL_T 0 is ignored: in SimAI every window is that of the longest way",
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
    config->only_shares = options->run.no_packets;
    run_wired_listen(&run->wired, options->run.keep_flows, false);
    return run_wired_check(&run->wired, options->config, options->compat, &run->notes, err);
}

/* ---- opening ---- */

static enum orr_status run_simai_open_read_rows(struct orr_run *run, const struct orr_simai_simulation *options,
                                                const struct aicb_part_times *times, struct orr_error *err)
{
    static const struct net_ops *const networks[] = {
        [ORR_BACKEND_PACKET] = &net_packet, [ORR_BACKEND_FLOW] = &net_flow, [ORR_BACKEND_AUTO] = &net_auto};
    struct session_rows *rows = &run->rows;
    uint32_t gpus = rows->config.job.gpus;
    const struct run_simai_reading reading = {.path = options->run.workload,
                                              .gpus = gpus,
                                              .compat = options->compat,
                                              .interleaved = options->schedule == ORR_SIMAI_INTERLEAVED,
                                              .times = times};
    enum orr_status status = run_simai_program_read(&reading, &run->arena, &run->notes, &rows->program, err);
    if (status == ORR_OK) {
        status =
            run_simai_nodes_make(&rows->program.program, options->run.workload, gpus, &run->arena, &run->shared, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    run->config.machine = run->machine.words;
    run->config.traces = &run->shared;
    run->config.dims.ranks = gpus;
    run->config.packet = &run->wired.machine;
    run->config.gpus_per_server = rows->config.job.gpus_per_server;
    rows->config.run = &run->config;
    rows->config.job.tp = rows->program.tp;
    rows->config.job.ep = rows->program.ep;
    rows->config.job.cp = rows->program.cp;
    rows->config.program = &rows->program.program;
    rows->config.machine = &run->wired.machine;
    rows->config.network = networks[options->run.backend];
    rows->config.compat = options->compat;
    rows->config.recall_ranks = RECALL_RANKS;
    rows->config.merge_channels = options->run.backend == ORR_BACKEND_FLOW && !options->run.no_fast_forward;
    return simai_open(&rows->config, &run->mem, &run->notes, &rows->simai, err);
}

enum orr_status session_simai_open(const struct orr_simai_simulation *options, const struct aicb_part_times *times,
                                   struct orr_run **run, struct orr_error *err)
{
    struct orr_run *opened = session_new(&options->run, err);
    if (opened == NULL) {
        return ORR_ENOMEM;
    }
    struct orr_simai_simulation own = *options;
    enum orr_status status = own.run.machine != NULL ? name_machine(opened, &own, err) : ORR_OK;
    status = status == ORR_OK ? read_machine(opened, &own, err) : status;
    status = status == ORR_OK ? set_network(opened, &own, err) : status;
    status = status == ORR_OK ? run_simai_open_read_rows(opened, &own, times, err) : status;
    if (status != ORR_OK) {
        orr_run_close(opened);
        return status;
    }
    *run = opened;
    return ORR_OK;
}
