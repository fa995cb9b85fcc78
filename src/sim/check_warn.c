/* SPDX-License-Identifier: Apache-2.0 */
/* What can be run and yet is hardly meant: settings that may deadlock, that cost without end, or that do nothing. */
#include <inttypes.h>

#include "sim/engine.h"

static uint32_t used_dims(const struct sim *sim, const struct trace_node *node)
{
    uint32_t used = 0;
    for (uint32_t d = 0; d < sim->logical_count[SIM_ALL_REDUCE]; d++) {
        bool involved = (node->has & TRACE_HAS_INVOLVED_DIM) == 0 || (node->involved_dims >> d & 1) != 0;
        used += involved && sim->logical[SIM_ALL_REDUCE][d].ring.size > 1;
    }
    return used;
}

/* Shared admission, fewer slots than chunks, three or more dimensions: spec analytical §7.5. */
static enum orr_status warn_of_deadlock(struct sim *sim, struct orr_error *err)
{
    const struct sim_config *config = sim->config;
    if (config->policy != ORR_POLICY_ASTRA || config->queues_per_dim > 1 || config->system.replay_only ||
        config->system.optimization != SIM_LOCAL_BW_AWARE ||
        config->system.implementation[SIM_ALL_REDUCE].custom != NULL) {
        return ORR_OK;
    }
    for (uint32_t i = 0; i < config->traces->graph_count; i++) {
        const struct sim_graph_info *info = &sim->graphs[i];
        for (uint32_t k = 0; info->graph != NULL && k < info->graph->other_count; k++) {
            const struct trace_node *node = &info->graph->nodes[info->graph->others[k]];
            uint32_t group = sim_graph_group(info, info->graph->others[k]);
            if (node->type != TRACE_COLL || node->comm_type != COLL_ALL_REDUCE ||
                (group != SIM_NONE && !sim->groups[group].whole) || used_dims(sim, node) < 3) {
                continue;
            }
            uint64_t chunk = 0;
            uint64_t chunks = 0;
            sim_collective_chunks(sim, node->comm_type, node->comm_bytes, &chunk, &chunks);
            if (chunks > sim->threshold) {
                return notes_add(
                    sim->notes, err,
                    "all-reduce over %u dimensions in %" PRIu64
                    " chunks with %u running per dimension: reduce-scatter and all-gather share their "
                    "admission, which can deadlock when ranks are out of step; active-chunks-per-dimension "
                    ">= %" PRIu64 " or parameter 'policy' safe rule it out",
                    used_dims(sim, node), chunks, sim->threshold, chunks);
            }
        }
    }
    return ORR_OK;
}

/* A typing error in preferred-dataset-splits shows first as memory and time without end. */
static enum orr_status warn_of_chunks(struct sim *sim, struct orr_error *err)
{
    enum { MANY = 1 << 20 };
    for (uint32_t i = 0; i < sim->config->traces->graph_count && !sim->config->system.replay_only; i++) {
        const struct trace_graph *graph = sim->graphs[i].graph;
        for (uint32_t k = 0; graph != NULL && k < graph->other_count; k++) {
            const struct trace_node *node = &graph->nodes[graph->others[k]];
            uint64_t chunk = 0;
            uint64_t chunks = 0;
            if (node->type == TRACE_COLL && !coll_type_is_rooted(node->comm_type)) {
                sim_collective_chunks(sim, node->comm_type, node->comm_bytes, &chunk, &chunks);
            }
            if (chunks > MANY) {
                return notes_add(sim->notes, err,
                                 "a collective of %" PRIu64 " B becomes %" PRIu64
                                 " chunks on every rank; preferred-dataset-splits is %u",
                                 node->comm_bytes, chunks, sim->config->system.preferred_dataset_splits);
            }
        }
    }
    return ORR_OK;
}

/* With one collective of a rank (or, with policy streams, of a stream) in flight, chunks of two never stand in line
 * together. To let one overtake another would need ranks to agree on it: they become ready at different times. FIFO is
 * what happens, LIFO is in every file; who writes EXPLICIT expects comm_priority to count. */
static enum orr_status warn_of_priorities(struct sim *sim, struct orr_error *err)
{
    if (sim->config->system.scheduling != SIM_EXPLICIT) {
        return ORR_OK;
    }
    return notes_add(sim->notes, err,
                     "scheduling-policy EXPLICIT has no effect, nor has comm_priority: a rank has one collective in "
                     "flight at a time, in the order in which they can start");
}

/* A broadcast takes the time it was recorded with; one without is easily taken for a fast one. */
static enum orr_status warn_of_broadcasts(struct sim *sim, struct orr_error *err)
{
    return sim->has_untimed_broadcast ? notes_add(sim->notes, err,
                                                  "%s: broadcasts without a recorded time take 1 ns; parameter "
                                                  "'broadcast' simulate sends them over the network",
                                                  sim->config->traces->prefix)
                                      : ORR_OK;
}

enum orr_status sim_check_warn(struct sim *sim, struct orr_error *err)
{
    enum orr_status status = warn_of_broadcasts(sim, err);
    if (status == ORR_OK) {
        status = warn_of_chunks(sim, err);
    }
    if (status == ORR_OK) {
        status = warn_of_priorities(sim, err);
    }
    return status == ORR_OK ? warn_of_deadlock(sim, err) : status;
}
