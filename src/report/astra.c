/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ASTRA-sim prints while it runs; the engine keeps what it would have printed, and in which order, as a log of a few
 * words per line. Where ASTRA-sim itself aborts (statistics of a rank whose last event came from the network, spec
 * analytical §5.7) the line it prints in the survivable case stands here too, and the report goes on.
 */
#include "report/astra.h"

#include <inttypes.h>
#include <string.h>

#include "report/memory.h"
#include "report/number.h"

/* §16.1: one line per ring dimension; a double binary tree has no ring, a "one…" ring spans all ranks and ends the
 * list. A custom implementation has no list and therefore no line. */
static void print_rings(const struct sim_config *config, const struct sim_implementation *implementation, FILE *stream)
{
    const struct topo_dims *dims = &config->dims;
    for (uint32_t d = 0; d < implementation->count && d < dims->count; d++) {
        const struct coll_impl *impl = &implementation->list[d];
        uint32_t size = impl->one ? dims->ranks : dims->dim[d].size;
        uint32_t offset = impl->one ? 1 : dims->dim[d].stride;
        if (impl->algo != COLL_DOUBLE_BINARY_TREE) {
            (void)fprintf(stream,
                          "[system::topology::RingTopology] [info] ring of node 0, id: 0 dimension: local total nodes "
                          "in ring: %u index in ring: 0 offset: %u total nodes in ring: %u\n",
                          size, offset, size);
        }
        if (impl->one) {
            return;
        }
    }
}

static void print_group_ring(const struct sim_log_entry *entry, FILE *stream)
{
    (void)fprintf(stream,
                  "[system::topology::RingTopology] [info] custom ring, id: %u, dimension: local total nodes in ring: "
                  "%u index in ring: %u total nodes in ring %u\n",
                  entry->rank, entry->ring_size, entry->ring_index, entry->ring_size);
}

/* The order in which the operator types of a rank are printed; returns how many there are. */
static uint32_t kind_order(const struct sim_rank_result *row, uint8_t order[SIM_OP_KINDS])
{
    if (row->kind_order_count > 0) {
        memcpy(order, row->kind_order, SIM_OP_KINDS);
        return row->kind_order_count;
    }
    uint32_t count = 0;
    for (uint32_t kind = 0; kind < SIM_OP_KINDS; kind++) {
        if (row->nodes_of[kind] > 0) {
            order[count++] = (uint8_t)kind;
        }
    }
    return count;
}

static void print_roofline(const struct sim_rank_result *row, uint32_t rank, FILE *stream)
{
    const struct {
        const char *label;
        double sum, scale;
        const char *unit;
    } lines[] = {
        {"Compute bound percentage", row->compute_bound, 100, "%"},
        {"Average compute utilization", row->compute_utilization, 100, "%"},
        {"Average memory utilization", row->memory_utilization, 100, "%"},
        {"Average operation intensity", row->operation_intensity, 1, ""},
    };
    double weight = row->roofline_weight > 0 ? row->roofline_weight : 1;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        (void)fprintf(stream, "[statistics] [info] sys[%u], %s: %s%s\n", rank, lines[i].label,
                      report_fixed(lines[i].sum / weight * lines[i].scale, 3).text, lines[i].unit);
    }
}

static void print_statistics(const struct sim_result *result, uint32_t rank, FILE *stream)
{
    static const char *const labels[SIM_OP_KINDS] = {
        [SIM_OP_CPU] = "CPU time",       [SIM_OP_GPU] = "GPU time",
        [SIM_OP_COMM] = "Comm time",     [SIM_OP_REMOTE_MEM] = "Remote mem time",
        [SIM_OP_REPLAY] = "Replay time", [SIM_OP_INVALID] = "Invalid time",
    };
    const struct sim_rank_result *row = sim_result_rank(result, rank);
    uint8_t order[SIM_OP_KINDS] = {0};
    uint32_t count = kind_order(row, order);
    (void)fprintf(stream, "[statistics] [info] sys[%u]. Post statistics processing end.\n", rank);
    (void)fprintf(stream, "[statistics] [info] sys[%u], Wall time: %" PRIu64 "\n", rank, row->last_end_ns);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t kind = order[i];
        (void)fprintf(stream, "[statistics] [info] sys[%u], %s: %" PRIu64 "\n", rank, labels[kind],
                      row->union_ns[kind]);
    }
    uint64_t busy = row->union_ns[SIM_OP_GPU] + row->union_ns[SIM_OP_COMM];
    if (busy > row->last_end_ns) {
        (void)fprintf(stream, "[statistics] [info] sys[%u], Total compute-communication overlap: %" PRIu64 "\n", rank,
                      busy - row->last_end_ns);
    }
    if (sim_uses_roofline(result->config)) {
        print_roofline(row, rank, stream);
    }
}

static void print_finish(const struct sim_result *result, uint32_t rank, FILE *stream)
{
    const struct sim_rank_result *row = sim_result_rank(result, rank);
    (void)fprintf(stream,
                  "[workload] [info] sys[%u] finished, %" PRIu64 " cycles, exposed communication %" PRIu64 " cycles.\n",
                  rank, row->finish_ns, row->finish_ns - row->gpu_busy_ns);
    (void)fprintf(stream, "[statistics] [info] sys[%u]. Post statistics processing start.\n", rank);
    if (row->statistics_failed) {
        (void)fputs("[system] [critical] warning! a callable is removed before call Only GPU and COMM types are "
                    "supported for overlap extraction\n",
                    stream);
        return; /* and nothing follows */
    }
    print_statistics(result, rank, stream);
    if (result->usage.tracked && result->config->system.track_local_mem) {
        char peak[REPORT_MEMORY_PEAK];
        report_memory_astra_peak(result->usage.ranks[rank].peak_bytes, peak);
        (void)fprintf(stream, "[workload] [info] sys[%u] peak memory usage: %s\n", rank, peak);
    }
}

/* §16.3: slots still occupied at the end; pending receives hold none and are not listed. */
static void print_unreleased(const struct sim_result *result, uint32_t rank, FILE *stream)
{
    static const char *const labels[] = {"CPU node", "GPU comp node", "GPU comm node"};
    const struct sim_rank_result *row = sim_result_rank(result, rank);
    bool titled = false;
    for (size_t slot = 0; slot < sizeof labels / sizeof labels[0]; slot++) {
        if (row->unreleased[slot] == UINT32_MAX) {
            continue;
        }
        if (!titled) {
            (void)fprintf(
                stream, "[HardwareResource] [critical] !!!Hardware Resource sys.id=%u has unreleased nodes!!!\n", rank);
            titled = true;
        }
        (void)fprintf(stream, "[HardwareResource] [critical] %s id: %" PRIu64 "\n", labels[slot],
                      trace_rank_node_id(&result->config->traces->ranks[rank], row->unreleased[slot]));
    }
}

void report_astra_write(const struct sim_result *result, FILE *stream)
{
    for (int native = 0; native < SIM_NATIVE_COUNT; native++) {
        print_rings(result->config, &result->config->system.implementation[native], stream);
    }
    for (uint32_t i = 0; i < result->log_count; i++) {
        const struct sim_log_entry *entry = &result->log[i];
        if (entry->kind == SIM_LOG_GROUP_RING) {
            print_group_ring(entry, stream);
        } else {
            print_finish(result, entry->rank, stream);
        }
    }
    for (uint32_t rank = 0; rank < result->rank_count; rank++) {
        print_unreleased(result, rank, stream);
    }
    (void)fputs("[system] [warning] Exiting\n", stream);
}
