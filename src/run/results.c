/* SPDX-License-Identifier: Apache-2.0 */
/* What a run left behind, behind the orr_run_* functions of orrery.h: figures one by one, and whole reports. */
#include "report/report.h"
#include "report/rows.h"
#include "run/session.h"

size_t orr_run_warning_count(const struct orr_run *run)
{
    return run->notes.count;
}

const char *orr_run_warning(const struct orr_run *run, size_t index)
{
    return index < run->notes.count ? run->notes.lines[index] : NULL;
}

enum orr_backend orr_run_backend(const struct orr_run *run)
{
    return run->config.backend;
}

uint32_t orr_run_rank_count(const struct orr_run *run)
{
    return run->config.dims.ranks;
}

uint32_t orr_run_source_count(const struct orr_run *run)
{
    return session_traces(run)->rank_count;
}

uint64_t orr_run_time_ns(const struct orr_run *run)
{
    return session_result(run)->end_ns;
}

uint64_t orr_run_event_count(const struct orr_run *run)
{
    return session_result(run)->events;
}

uint64_t orr_run_message_count(const struct orr_run *run)
{
    return session_result(run)->messages;
}

uint64_t orr_run_peak_bytes(const struct orr_run *run)
{
    return run->mem.peak;
}

void orr_run_optimum(const struct orr_run *run, struct orr_optimum *optimum)
{
    struct sim_optimum best = run->executed ? session_result(run)->optimum : (struct sim_optimum){0};
    *optimum = (struct orr_optimum){.all_ns = best.all_ns,
                                    .compute_ns = best.compute_ns,
                                    .bandwidth_ns = best.bandwidth_ns,
                                    .latency_ns = best.latency_ns};
}

void orr_run_symmetry(const struct orr_run *run, struct orr_symmetry *symmetry)
{
    const struct sim_result *result = session_result(run);
    *symmetry = (struct orr_symmetry){
        .classes = result->ranks_played,
        .carried_out = result->ranks_played,
        .rings_at_once = result->rings_at_once,
        .because = result->plain_because,
    };
}

/* ---- rows ---- */

/* What a run that was not executed left behind: nothing. */
static const struct sim_result *rows_of(const struct orr_run *run)
{
    static const struct sim_config no_config;
    static const struct sim_result nothing = {.config = &no_config};
    return run->executed ? session_result(run) : &nothing;
}

bool orr_run_rank(const struct orr_run *run, uint32_t rank, struct orr_rank_result *result)
{
    return report_rank_row(rows_of(run), rank, result);
}

uint32_t orr_run_collective_count(const struct orr_run *run)
{
    return rows_of(run)->collective_count;
}

bool orr_run_collective(const struct orr_run *run, uint32_t index, struct orr_collective_result *result)
{
    return report_collective_row(rows_of(run), index, result);
}

uint32_t orr_run_dimension_count(const struct orr_run *run)
{
    return rows_of(run)->config->dims.count;
}

bool orr_run_dimension(const struct orr_run *run, uint32_t index, struct orr_dimension_result *result)
{
    return report_dimension_row(rows_of(run), index, result);
}

static struct orr_spread spread_of(const struct net_spread *spread)
{
    return (struct orr_spread){.p50 = spread->p50, .p95 = spread->p95, .p99 = spread->p99, .max = spread->most};
}

bool orr_run_network(const struct orr_run *run, struct orr_network_result *result)
{
    const struct net_figures *figures = &rows_of(run)->network;
    *result = (struct orr_network_result){
        .transmissions = figures->transmissions,
        .data_packets = figures->data_packets,
        .in_flight_most = figures->in_flight_most,
        .forward_jumps = figures->jumps,
        .skipped = figures->skipped,
        .ecn_marks = figures->marks,
        .pauses = figures->pauses,
        .drops = figures->drops,
        .losses = figures->losses,
        .timeouts = figures->timeouts,
        .messages = figures->flows,
        .message_time_ns = spread_of(&figures->duration_ns),
        .message_slowdown_permille = spread_of(&figures->slowdown_permille),
    };
    return figures->links != NULL;
}

uint32_t orr_run_link_count(const struct orr_run *run)
{
    return rows_of(run)->network.link_count;
}

bool orr_run_link(const struct orr_run *run, uint32_t index, struct orr_link_result *result)
{
    return report_link_row(rows_of(run), index, result);
}

uint32_t orr_run_interval_count(const struct orr_run *run)
{
    return rows_of(run)->interval_count;
}

bool orr_run_interval(const struct orr_run *run, uint32_t index, struct orr_interval_result *result)
{
    return report_interval_row(rows_of(run), index, result);
}

uint32_t orr_run_finding_count(const struct orr_run *run)
{
    return rows_of(run)->stall.finding_count;
}

bool orr_run_finding(const struct orr_run *run, uint32_t index, struct orr_finding *finding)
{
    *finding = (struct orr_finding){0};
    if (index >= orr_run_finding_count(run)) {
        return false;
    }
    const struct sim_stall_finding *one = &rows_of(run)->stall.findings[index];
    *finding = (struct orr_finding){.kind = sim_stall_kind_name(one->kind),
                                    .text = one->text,
                                    .fix = one->fix,
                                    .ranks = one->ranks,
                                    .rank_count = one->rank_count,
                                    .nodes = one->nodes,
                                    .node_count = one->node_count};
    return true;
}

uint32_t orr_run_wait_count(const struct orr_run *run)
{
    return rows_of(run)->stall.wait_count;
}

bool orr_run_wait(const struct orr_run *run, uint32_t index, struct orr_wait *wait)
{
    return report_wait_row(rows_of(run), index, wait);
}

/* ---- whole reports ---- */

const char *orr_run_named_file(const struct orr_run *run, enum orr_output output)
{
    const struct config_packet_files *files = &run->wired.files;
    switch (output) {
    case ORR_OUTPUT_TEXT: /* of a machine that was named it exists in memory only, unless it is the name itself */
        return run->machine.texts.count > 0 && run->machine.machine.kind != RUN_MACHINE_FILE ? NULL : files->topology;
    case ORR_OUTPUT_FCT:
        return files->fct;
    case ORR_OUTPUT_PFC:
        return files->pfc;
    case ORR_OUTPUT_QLEN:
        return files->qlen;
    case ORR_OUTPUT_LOCAL_MEM:
        return run->config.system.track_local_mem ? run->config.system.local_mem_trace : NULL;
    default:
        return NULL;
    }
}

enum orr_status orr_run_write(const struct orr_run *run, enum orr_output output, const char *path, FILE *stream,
                              struct orr_error *err)
{
    if (!run->executed) {
        return error_set(err, ORR_EINVAL, "nothing to write: the run was not executed");
    }
    bool has_folder = output == ORR_OUTPUT_CSV || output == ORR_OUTPUT_LOCAL_MEM || output == ORR_OUTPUT_SIMAI_FILES;
    if (path == NULL && (stream == NULL || has_folder)) {
        return error_set(err, ORR_EINVAL, "this output needs a path");
    }
    if (output == ORR_OUTPUT_TIMELINE && !run->config.keep_intervals) {
        return error_set(err, ORR_EINVAL, "a timeline needs the intervals; set keep_intervals before opening the run");
    }
    if (output == ORR_OUTPUT_ASTRA && !run->config.keep_issue_order) {
        return error_set(err, ORR_EINVAL,
                         "ASTRA-sim's output needs the order of issue; set keep_issue_order before opening the run");
    }
    if (output == ORR_OUTPUT_FCT || output == ORR_OUTPUT_PFC || output == ORR_OUTPUT_QLEN) {
        return run->config.backend < ORR_BACKEND_PACKET
                   ? error_set(err, ORR_EINVAL, "only networks on a wired topology have flows to write")
                   : run_wired_write(&run->wired, output, path, stream, err);
    }
    return report_write(session_result(run), output, path, stream, err);
}
