/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long GPU compute takes where a run does not leave it to the traces and the system file (struct orr_tuning).
 * Applied while simulating rather than to the traces, which runs may share.
 */
#include "compute/roofline.h"
#include "sim/engine.h"

#include <inttypes.h>

bool sim_uses_roofline(const struct sim_config *config)
{
    enum orr_compute_source source = config->tuning.source;
    return source == ORR_COMPUTE_ROOFLINE || (source == ORR_COMPUTE_AUTO && config->system.roofline_enabled);
}

const struct sim_device *sim_device_of(const struct sim_config *config, uint32_t rank)
{
    static const struct sim_device same = {.scale = 1.0, .link_factor = 1.0};
    const struct sim_devices *devices = &config->devices;
    return devices->kinds == NULL ? &same : &devices->kinds[devices->of_rank[rank]];
}

struct roofline sim_device_roofline(const struct sim_config *config, const struct sim_device *device)
{
    const struct sim_system *system = &config->system;
    return (struct roofline){
        .peak_flops = device->peak_flops > 0 ? device->peak_flops : system->peak_perf_tflops * 1e12,
        .memory_bytes_rate = device->memory_rate > 0 ? device->memory_rate : system->local_mem_bw_gbps * 1e9};
}

uint64_t sim_compute_scaled(const struct sim_config *config, const struct sim_device *device, uint64_t ns)
{
    double run = config->tuning.compute_scale;
    double scale = run == 0.0 ? device->scale : run * device->scale;
    return scale == 1.0 ? ns : ticks_from_double((double)ns * scale + 0.5);
}

uint64_t sim_host_ns(const struct sim_config *config, const struct trace_node *node)
{
    double scale = config->tuning.host_scale;
    uint64_t ns = sim_replay_ns(node);
    return scale == 0.0 || scale == 1.0 ? ns : ticks_from_double((double)ns * scale + 0.5);
}

static bool has_cycles(const struct trace_node *node)
{
    return (node->has & TRACE_HAS_CYCLES) != 0;
}

uint64_t sim_compute_ns(const struct sim_config *config, const struct sim_device *device, const struct trace_node *node)
{
    uint64_t ns = sim_replay_ns(node);
    if (config->tuning.source == ORR_COMPUTE_FORCED) {
        ns = config->tuning.forced_ns;
    } else if (config->tuning.source == ORR_COMPUTE_CYCLES && has_cycles(node)) {
        ns = ticks_from_double((double)node->cycles * 1000.0 / config->tuning.gpu_mhz + 0.5);
    }
    return sim_compute_scaled(config, device, ns);
}

struct tally {
    uint64_t compute; /* GPU compute nodes */
    uint64_t cycles;  /* of these, with cycles */
    uint64_t wasted;  /* with cycles and without a duration */
};

/* Most traces have no cycles at all, and need not be walked to know it. */
static bool any_cycles(const struct trace_set *traces)
{
    for (uint32_t g = 0; g < traces->graph_count; g++) {
        if (traces->graphs[g]->cycles_count > 0) {
            return true;
        }
    }
    return false;
}

static struct tally count_nodes(const struct trace_set *traces)
{
    struct tally tally = {0};
    for (uint32_t g = 0; g < traces->graph_count; g++) {
        const struct trace_graph *graph = traces->graphs[g];
        for (uint32_t i = 0; i < graph->node_count; i++) {
            const struct trace_node *node = &graph->nodes[i];
            if (node->type == TRACE_COMP && !node->is_cpu_op) {
                tally.compute++;
                tally.cycles += has_cycles(node);
                tally.wasted += node->duration_us == 0 && has_cycles(node);
            }
        }
    }
    return tally;
}

/* GPU compute nodes where not one of them says how long it takes, and whether they say what they do; 0: one does.
 * Recorded traces are left at their first kernel. */
static uint64_t count_untimed(const struct trace_set *traces, bool *have_work)
{
    uint64_t count = 0;
    *have_work = false;
    for (uint32_t g = 0; g < traces->graph_count; g++) {
        const struct trace_graph *graph = traces->graphs[g];
        for (uint32_t i = 0; i < graph->node_count; i++) {
            const struct trace_node *node = &graph->nodes[i];
            if (node->type != TRACE_COMP || node->is_cpu_op) {
                continue;
            }
            if (node->duration_us > 0) {
                return 0;
            }
            count++;
            *have_work = *have_work || (node->num_ops > 0 && node->tensor_bytes > 0);
        }
    }
    return count;
}

/* A step time without compute is easily taken for one with it. */
static enum orr_status note_untimed(struct sim *sim, struct orr_error *err)
{
    bool have_work = false;
    const struct trace_set *traces = sim->config->traces;
    uint64_t untimed = count_untimed(traces, &have_work);
    sim->result.untimed = untimed;
    if (untimed == 0) {
        return ORR_OK;
    }
    static const char alone[] = "no compute node has a time, each takes 1 ns: the step time is communication alone";
    return have_work ? notes_add(sim->notes, err,
                                 "%s: %s; parameter 'comp-source' roofline works times out from operations and bytes, "
                                 "with peak-perf and local-mem-bw of the system file or parameter 'devices' 0-%u=h100",
                                 traces->prefix, alone, traces->rank_count - 1)
                     : notes_add(sim->notes, err,
                                 "%s: %s; recordings (trace import), train and gen ddp write traces with times",
                                 traces->prefix, alone);
}

static enum orr_status check_cycles(const struct sim *sim, const struct tally *tally, struct orr_error *err)
{
    const char *prefix = sim->config->traces->prefix;
    if (tally->compute > 0 && tally->cycles == 0) {
        return error_set(
            err, ORR_EINVAL,
            "%s: parameter 'comp-source' cycles, but no compute node has compute_cycles, exec_cycles or cycles; "
            "parameter 'comp-source' duration takes the recorded times",
            prefix);
    }
    if (tally->cycles < tally->compute) {
        return notes_add(sim->notes, err,
                         "%s: %" PRIu64 " of %" PRIu64 " compute nodes have no cycles and take their "
                         "duration",
                         prefix, tally->compute - tally->cycles, tally->compute);
    }
    return ORR_OK;
}

/* Rates of a device are for the roofline, factors for whatever is computed: what would change nothing is a mistake. */
static enum orr_status check_device(const struct sim_config *config, const struct sim_device *device,
                                    struct orr_error *err)
{
    if (device->link_factor != 1.0 && config->timing != NULL) {
        return error_set(err, ORR_EINVAL,
                         "devices: \"%s\" changes the rates of links, and with parameter 'collective-times' model "
                         "collectives do not go over links",
                         device->name);
    }
    if (device->name != NULL && config->system.replay_only) {
        return error_set(err, ORR_EINVAL,
                         "devices: \"%s\" changes nothing where the system file says replay-only: nodes take the time "
                         "they carry",
                         device->name);
    }
    if ((device->peak_flops > 0 || device->memory_rate > 0) && !sim_uses_roofline(config)) {
        return error_set(err, ORR_EINVAL,
                         "devices: the rates of \"%s\" are for the roofline, and this run does not take compute times "
                         "from it; parameter 'comp-source' roofline does, and a factor (x1.25) holds for any source",
                         device->name);
    }
    struct roofline roofline = sim_device_roofline(config, device);
    if (sim_uses_roofline(config) && (roofline.peak_flops == 0.0 || roofline.memory_bytes_rate == 0.0)) {
        return error_set(err, ORR_EINVAL, "parameter 'comp-source' roofline needs \"%s\" above 0 in the system file",
                         roofline.peak_flops == 0.0 ? "peak-perf" : "local-mem-bw");
    }
    return ORR_OK;
}

static enum orr_status check_devices(const struct sim_config *config, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    const struct sim_device *before = NULL;
    for (uint32_t rank = 0; rank < config->dims.ranks && status == ORR_OK; rank++) {
        const struct sim_device *device = sim_device_of(config, rank);
        status = device != before ? check_device(config, device, err) : ORR_OK;
        before = device;
    }
    return status;
}

enum orr_status sim_compute_check(struct sim *sim, struct orr_error *err)
{
    const struct sim_config *config = sim->config;
    enum orr_compute_source source = config->tuning.source;
    enum orr_status status = check_devices(config, err);
    if (status != ORR_OK) {
        return status;
    }
    if (source == ORR_COMPUTE_FORCED || sim_uses_roofline(config)) {
        return ORR_OK;
    }
    if (source != ORR_COMPUTE_CYCLES && !any_cycles(config->traces)) {
        return note_untimed(sim, err);
    }
    struct tally tally = count_nodes(config->traces);
    if (source == ORR_COMPUTE_CYCLES) {
        return check_cycles(sim, &tally, err);
    }
    if (tally.wasted > 0) {
        return notes_add(sim->notes, err,
                         "%s: %" PRIu64 " of %" PRIu64
                         " compute nodes have cycles and no duration, and take 1 ns each; "
                         "parameter 'comp-source' cycles goes by the cycles",
                         config->traces->prefix, tally.wasted, tally.compute);
    }
    return ORR_OK;
}
