/* SPDX-License-Identifier: Apache-2.0 */
/* What a run left behind, behind the orr_run_* functions of orrery.h: figures one by one, and whole reports. */
#include "report/report.h"
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

uint64_t orr_run_skipped_count(const struct orr_run *run)
{
    return session_result(run)->network.skipped;
}

uint64_t orr_run_in_flight_most(const struct orr_run *run)
{
    return session_result(run)->network.in_flight_most;
}

uint64_t orr_run_transmission_count(const struct orr_run *run)
{
    return session_result(run)->network.transmissions;
}

void orr_run_rank(const struct orr_run *run, uint32_t rank, struct orr_rank_result *result)
{
    *result = (struct orr_rank_result){0};
    const struct sim_result *all = session_result(run);
    if (!run->executed || rank >= all->rank_count) {
        return;
    }
    const struct sim_rank_result *one = &all->ranks[rank];
    *result = (struct orr_rank_result){
        .finished = one->finished,
        .finish_ns = one->finish_ns,
        .exposed_ns = one->finished ? one->finish_ns - one->gpu_busy_ns : 0,
        .compute_ns = one->compute_ns,
        .exposed_comm_ns = one->exposed_comm_ns,
        .exposed_other_ns = one->exposed_other_ns,
        .idle_ns = one->idle_ns,
        .busy_comm_ns = one->union_ns[SIM_OP_COMM],
        .busy_gpu_ns = one->union_ns[SIM_OP_GPU],
    };
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

uint32_t orr_run_collective_count(const struct orr_run *run)
{
    return run->executed ? session_result(run)->collective_count : 0;
}

void orr_run_collective(const struct orr_run *run, uint32_t index, struct orr_collective_result *result)
{
    *result = (struct orr_collective_result){0};
    if (index >= orr_run_collective_count(run)) {
        return;
    }
    const struct sim_collective_result *row = &session_result(run)->collectives[index];
    const char *type = coll_type_name(row->type);
    if (row->type == SIM_TYPE_SEND || row->type == SIM_TYPE_RECV) {
        type = row->type == SIM_TYPE_SEND ? "send" : "receive";
    }
    *result = (struct orr_collective_result){
        .type = type != NULL ? type : "other", /* no number that is no type gets past the checks */
        .group_size = row->group_size,
        .bytes = row->bytes,
        .count = row->count,
        .total_ns = row->total_ns,
        .min_ns = row->min_ns,
        .max_ns = row->max_ns,
    };
}

const char *orr_run_named_file(const struct orr_run *run, enum orr_output output)
{
    const struct config_packet_files *files = &run->wired.files;
    switch (output) {
    case ORR_OUTPUT_TEXT: /* of a machine that was named it exists in memory only, unless it is the name itself */
        return run->machine.texts.count > 0 && run->machine.machine.kind != LAB_MACHINE_FILE ? NULL : files->topology;
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
                   : lab_wired_write(&run->wired, output, path, stream, err);
    }
    return report_write(session_result(run), output, path, stream, err);
}
