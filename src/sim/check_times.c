/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a node can end within what a clock can be advanced by (TICKS_MAX_STEP). Where times come out of floating
 * point they are kept within that bound, so a node that would take longer must be refused before the run: it would
 * count as two years, and nobody would know. What a message or a collective can take at most is estimated from above.
 */
#include "compute/roofline.h"
#include "sim/engine.h"

static const double most_ns = (double)TICKS_MAX_STEP;

/* Whole messages at the lowest rate and the longest latency that the machine has. */
static double network_ns(const struct sim_config *config, double bytes)
{
    double slowest = 0.0;
    double latency = 0.0;
    double least = 1.0;
    double most = 1.0;
    topo_link_factor_range(&config->dims, &least, &most);
    for (uint32_t d = 0; d < config->dims.count; d++) {
        const struct topo_dim *dim = &config->dims.dim[d];
        double ns = dim->bytes_per_ns > 0.0 ? bytes / dim->bytes_per_ns : 0.0;
        slowest = ns > slowest ? ns : slowest;
        latency += dim->latency_ns * dim->size;
    }
    return slowest / least + latency;
}

/* What a rank does with the bytes of a collective beside sending them: spec analytical §8. */
static double endpoint_ns(const struct sim_system *system, double bytes)
{
    double ns = (double)system->endpoint_delay_ns;
    if (system->local_mem_bw_gbps > 0.0) {
        ns += 3.0 * bytes / system->local_mem_bw_gbps;
    }
    if (system->shared_bus) {
        ns += (double)system->bus_L_ns + 2.0 * (double)system->bus_o_ns + (double)system->bus_g_ns +
              bytes * system->bus_G_ns_per_byte + bytes / 100.0 * (double)system->local_reduction_delay_ns;
    }
    return ns;
}

static double communication_ns(const struct sim *sim, const struct trace_node *node)
{
    bool collective = node->type == TRACE_COLL;
    bool gathers = collective && node->comm_type == COLL_ALL_GATHER; /* comm_size is what one rank gives */
    double bytes = (double)node->comm_bytes * (gathers ? sim->rank_count : 1.0);
    return network_ns(sim->config, bytes) + (collective ? endpoint_ns(&sim->config->system, bytes) : 0.0);
}

static double memory_ns(const struct sim_memory *memory, const struct trace_node *node)
{
    return (double)memory->latency_ns +
           (memory->bandwidth_gbps == 0 ? 0.0 : (double)node->tensor_bytes / (double)memory->bandwidth_gbps);
}

static double device_ns(const struct sim_config *config, const struct sim_device *device, const struct trace_node *node)
{
    if (!sim_uses_roofline(config)) {
        return (double)sim_compute_ns(config, device, node);
    }
    struct roofline roofline = sim_device_roofline(config, device);
    if (node->tensor_bytes == 0 || roofline.peak_flops == 0.0 || roofline.memory_bytes_rate == 0.0) {
        return 0.0; /* without rates no rank has it: sim_compute_check */
    }
    uint64_t ns = roofline_estimate(&roofline, node->num_ops, node->tensor_bytes).duration_ns;
    return (double)sim_compute_scaled(config, device, ns);
}

/* On the slowest of the devices: a graph is looked at once, whichever of them its ranks have. */
static double compute_ns(const struct sim_config *config, const struct trace_node *node)
{
    const struct sim_devices *devices = &config->devices;
    if (node->is_cpu_op) {
        return (double)sim_host_ns(config, node);
    }
    double longest = devices->kinds == NULL ? device_ns(config, sim_device_of(config, 0), node) : 0.0;
    for (uint32_t kind = 0; kind < devices->kind_count; kind++) {
        double ns = device_ns(config, &devices->kinds[kind], node);
        longest = ns > longest ? ns : longest;
    }
    return longest;
}

static double largest_factor(const struct sim_config *config)
{
    const struct orr_tuning *tuning = &config->tuning;
    double device = 1.0;
    for (uint32_t kind = 0; kind < config->devices.kind_count; kind++) {
        device = config->devices.kinds[kind].scale > device ? config->devices.kinds[kind].scale : device;
    }
    double run = tuning->compute_scale > tuning->host_scale ? tuning->compute_scale : tuning->host_scale;
    return (run > 1.0 ? run : 1.0) * device;
}

bool sim_time_fits(const struct sim *sim, const struct trace_node *node)
{
    switch ((enum trace_node_type)node->type) {
    case TRACE_SEND:
    case TRACE_RECV:
    case TRACE_COLL:
        return communication_ns(sim, node) < most_ns;
    case TRACE_MEM_LOAD:
    case TRACE_MEM_STORE:
        return memory_ns(&sim->config->memory, node) < most_ns;
    case TRACE_COMP:
        return compute_ns(sim->config, node) < most_ns;
    default:
        return true;
    }
}

bool sim_compute_times_may_not_fit(const struct sim_config *config, const struct trace_graph *graph)
{
    const struct orr_tuning *tuning = &config->tuning;
    double scale = largest_factor(config);
    double longest = (double)graph->longest_us * 1000.0 * scale;
    return longest >= most_ns || (tuning->source == ORR_COMPUTE_CYCLES && graph->cycles_count > 0) ||
           (tuning->source == ORR_COMPUTE_FORCED && (double)tuning->forced_ns * scale >= most_ns);
}
