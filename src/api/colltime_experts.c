/* SPDX-License-Identifier: Apache-2.0 */
/* DeepEP's kernels in closed form: what every token costs on so many nodes, between those that were measured by the
 * logarithm of their number. A GPU without measurements has its nearest relative's. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "coll/timing/timing.h"
#include "orrery.h"

struct between {
    const struct timing_expert *fewer, *more; /* nodes; NULL: none */
};

static struct between experts_find(size_t gpu, bool combines, uint32_t nodes)
{
    struct between found = {NULL, NULL};
    for (size_t i = 0; timing_expert_at(i) != NULL; i++) {
        const struct timing_expert *row = timing_expert_at(i);
        if (row->row != gpu || row->combines != combines) {
            continue;
        }
        if (row->nodes <= nodes && (found.fewer == NULL || row->nodes > found.fewer->nodes)) {
            found.fewer = row;
        }
        if (row->nodes >= nodes && (found.more == NULL || row->nodes < found.more->nodes)) {
            found.more = row;
        }
    }
    found.fewer = found.fewer != NULL ? found.fewer : found.more;
    found.more = found.more != NULL ? found.more : found.fewer;
    return found;
}

static double experts_row_us(const struct timing_expert *row, const struct orr_coll_experts *experts)
{
    double sent = (double)experts->tokens * experts->topk;
    return row->base_us + sent * experts->hidden * 1e-6 * row->us_per_mb + sent * 1e-3 * row->us_per_thousand;
}

static double experts_us(const struct between *rows, const struct orr_coll_experts *experts)
{
    double fewer = experts_row_us(rows->fewer, experts);
    if (rows->fewer == rows->more) {
        return fewer;
    }
    double part =
        log2((double)experts->nodes / rows->fewer->nodes) / log2((double)rows->more->nodes / rows->fewer->nodes);
    return fewer * pow(experts_row_us(rows->more, experts) / fewer, part);
}

/* GB/s a rank's normal kernels reach, of its NVLink on one node and of its NIC on several. */
static double normal_gbytes(const struct timing_gpu *gpu, uint32_t nodes, unsigned way)
{
    uint32_t sm = nodes == 1 && gpu->sm >= 100 ? 100 : 90; /* between nodes the NIC decides, whatever the GPU */
    const struct timing_expert_rate *fewer = NULL;
    const struct timing_expert_rate *more = NULL;
    for (size_t i = 0; timing_expert_rate_at(i) != NULL; i++) {
        const struct timing_expert_rate *row = timing_expert_rate_at(i);
        bool is_of = row->sm == sm && (row->nodes == 1) == (nodes == 1);
        fewer = is_of && (fewer == NULL || row->nodes <= nodes) ? row : fewer;
        more = is_of && row->nodes >= nodes && more == NULL ? row : more;
    }
    more = more != NULL ? more : fewer;
    double share = fewer->shares[way];
    if (more != fewer) {
        double part = log2((double)nodes / fewer->nodes) / log2((double)more->nodes / fewer->nodes);
        share *= pow(more->shares[way] / share, part);
    }
    return share * (nodes == 1 ? gpu->link_gbytes : gpu->nic_gbytes / gpu->nic_every);
}

/* Each token goes once to every rank of one node, or to every node of several, that has one of its experts, which lie
 * at random: one byte a number and a scale of four for each 128 to them, two bytes back. */
static double normal_us(const struct timing_gpu *gpu, const struct orr_coll_experts *experts, unsigned way)
{
    static const double bytes[] = {1 + 4.0 / 128, 2};
    double places = experts->nodes == 1 ? (gpu->domain > 16 ? 4 : 8) : experts->nodes;
    double reached = places * (1 - pow(1 - 1 / places, experts->topk));
    double moved = (double)experts->tokens * reached * experts->hidden * bytes[way];
    return gpu->base_us[TIMING_SIMPLE] + moved * 1e-3 / normal_gbytes(gpu, experts->nodes, way);
}

static enum orr_status normal_time(const struct timing_gpu *gpu, const struct orr_coll_experts *experts,
                                   struct orr_coll_experts_time *time, struct orr_error *err)
{
    if (gpu == NULL || gpu->is_rccl || gpu->link != TIMING_LINK_NVLINK || gpu->sm < 90) {
        return error_set(err, ORR_EINVAL,
                         "GPU \"%.60s\": DeepEP's normal kernels are for NVIDIA's from Hopper on, with NVLink",
                         experts->gpu != NULL ? experts->gpu : "");
    }
    *time = (struct orr_coll_experts_time){
        .dispatch_us = normal_us(gpu, experts, 0), .combine_us = normal_us(gpu, experts, 1), .gpu = gpu->name};
    return ORR_OK;
}

enum orr_status orr_coll_experts_time(const struct orr_coll_experts *experts, struct orr_coll_experts_time *time,
                                      struct orr_error *err)
{
    if (experts->nodes == 0 || experts->tokens == 0 || experts->topk == 0 || experts->hidden == 0) {
        return error_set(err, ORR_ERANGE, "nodes, tokens, experts of a token and hidden size must be above 0");
    }
    const struct timing_gpu *gpu = experts->gpu != NULL ? timing_gpu_find(experts->gpu) : NULL;
    if (experts->kernel == ORR_COLL_EXPERTS_NORMAL) {
        return normal_time(gpu, experts, time, err);
    }
    while (gpu != NULL) {
        size_t index = (size_t)(gpu - timing_gpu_at(0));
        struct between dispatch = experts_find(index, false, experts->nodes);
        struct between combine = experts_find(index, true, experts->nodes);
        if (dispatch.fewer != NULL && combine.fewer != NULL) {
            *time = (struct orr_coll_experts_time){.dispatch_us = experts_us(&dispatch, experts),
                                                   .combine_us = experts_us(&combine, experts),
                                                   .gpu = gpu->name,
                                                   .rows = dispatch.fewer->rows,
                                                   .dispatch_error = dispatch.fewer->error,
                                                   .combine_error = combine.fewer->error};
            return ORR_OK;
        }
        gpu = *gpu->like != '\0' ? timing_gpu_find(gpu->like) : NULL;
    }
    return error_set(err, ORR_EINVAL,
                     "no dispatch and combine are known of GPU \"%.60s\"; of h100, h200, b200, b300, gb200 and gb300 "
                     "are",
                     experts->gpu != NULL ? experts->gpu : "");
}
