/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SimAI's arithmetic depends on which intermediate is a float, a double or an integer, so its way of counting is
 * written out with those types and every conversion that C leaves to the machine made explicit (simai_ticks,
 * simai_quotient).
 */
#include "compat/simai/analytical.h"

static const double GIB = 1024.0 * 1024.0 * 1024.0;
static const double NS_PER_US = 1000.0;
enum { LEAST_FORWARD_BYTES = 4096 };

/* ---- one collective ---- */

unsigned simai_original_ratio_column(int64_t servers)
{
    for (unsigned column = 1; column < SIMAI_RATIO_MULTI; column++) {
        if (servers == (int64_t)1 << (column - 1)) {
            return column;
        }
    }
    return servers == 9 ? SIMAI_RATIO_MULTI : 5;
}

/* What of the machine a group uses: servers, GPUs of it on each, NICs of a server for it. */
struct span {
    int32_t servers, gpus;
    double nics;
};

static struct span original_span(const struct simai_machine *machine, const struct simai_collective *collective)
{
    int32_t per_server = machine->gpus_per_server;
    int32_t nics = machine->nics_per_server;
    int32_t tp = collective->tp;
    int32_t ranks = collective->ranks;
    int64_t expert = (int64_t)tp * collective->ep;
    switch (collective->group) {
    case SIMAI_GROUP_TP:
        return tp <= per_server ? (struct span){1, tp, nics}
                                : (struct span){simai_quotient(tp, per_server), per_server, nics};
    case SIMAI_GROUP_EP:
        if ((int64_t)tp * ranks <= per_server) {
            return (struct span){1, simai_quotient(per_server, tp), nics};
        }
        return (struct span){per_server == 0 ? 0 : (int32_t)((int64_t)tp * ranks / per_server),
                             simai_quotient(per_server, tp) > 1 ? simai_quotient(per_server, tp) : 1,
                             simai_quotient(nics, tp > per_server ? per_server : tp)};
    case SIMAI_GROUP_DP:
        return tp <= per_server ? (struct span){ranks, simai_quotient(per_server, tp), simai_quotient(nics, tp)}
                                : (struct span){ranks, 1, simai_quotient(nics, per_server)};
    default:
        return expert <= per_server ? (struct span){ranks, simai_quotient(per_server, (int32_t)expert),
                                                    simai_quotient(nics, (int32_t)expert)}
                                    : (struct span){ranks, 1, simai_quotient(nics, per_server)};
    }
}

/* Of a ring, or of an all-to-all; `*by_nvlink` says whether NVLink is what limits a ring over servers. */
static float original_bandwidth(const struct simai_machine *machine, enum simai_op op, struct span span,
                                bool *by_nvlink)
{
    float nics = (float)span.nics;
    float outward = machine->nic * nics;
    *by_nvlink = false;
    if (span.servers < 1 || (int64_t)span.servers * span.gpus == 1) {
        return 0;
    }
    if (machine->nvlink <= 0 || machine->nic <= 0 || span.gpus < 1 || span.nics < 1) {
        return -1;
    }
    if (span.servers == 1) {
        return machine->nvlink;
    }
    if (op == SIMAI_OP_ALLTOALL) {
        int64_t ranks = (int64_t)span.servers * span.gpus;
        return outward / (float)span.gpus * (float)(ranks - 1) / (float)((int64_t)(span.servers - 1) * span.gpus);
    }
    if (span.gpus == 1) {
        return outward;
    }
    bool over_nics = outward > machine->nvlink;
    float inward = over_nics ? machine->nvlink * (float)span.gpus / (float)(span.gpus - 1) : machine->nvlink;
    *by_nvlink = inward < outward;
    return *by_nvlink ? inward : outward;
}

static uint64_t original_small_time(int32_t ranks)
{
    for (unsigned i = 0; i < SIMAI_SMALL_TIMES; i++) {
        if (ranks == simai_small_times[i].ranks) {
            return simai_small_times[i].ns;
        }
    }
    return 0;
}

static enum simai_trouble original_time(const struct simai_machine *machine, const struct simai_collective *collective,
                                        uint64_t *ns)
{
    bool by_nvlink = false;
    unsigned column = 0;
    float share = 1;
    *ns = 0;
    if (collective->bytes > 1 && collective->bytes < SIMAI_SMALL_BYTES) {
        *ns = original_small_time(collective->ranks);
        return SIMAI_FINE;
    }
    if (collective->group >= SIMAI_GROUPS || (collective->group != SIMAI_GROUP_TP && collective->ranks <= 1)) {
        return SIMAI_FINE;
    }
    float bandwidth = original_bandwidth(machine, collective->op, original_span(machine, collective), &by_nvlink);
    const struct simai_ratio_table *table =
        simai_ratio_find(machine, collective, by_nvlink, simai_original_ratio_column, &column);
    if (table != NULL) {
        if ((double)collective->bytes > simai_ratio_limit(table)) {
            return SIMAI_BEYOND_TABLE;
        }
        share = (float)simai_ratio_value(table, (double)collective->bytes, column);
    }
    double time = (double)collective->bytes / GIB / (double)(share * bandwidth) * 1e9;
    time = collective->op == SIMAI_OP_ALLREDUCE ? time * 2 : time;
    *ns = simai_ticks(time * (collective->ranks - 1) / collective->ranks);
    return SIMAI_FINE;
}

/* ---- rows ---- */

/* What is read is multiplied by a 32-bit 1.0. */
static uint64_t original_number(int64_t written)
{
    return simai_ticks((double)(float)written);
}

static uint64_t original_bytes(enum text_strategy strategy, enum text_phase phase, int64_t written)
{
    uint64_t bytes = original_number(written);
    bool raised = phase == TEXT_FWD && strategy == TEXT_HYBRID_TRANSFORMER_FWD_IN_BCKWD && bytes > 0;
    return raised && bytes < LEAST_FORWARD_BYTES ? LEAST_FORWARD_BYTES : bytes;
}

static int32_t original_group_ranks(const struct simai_analysis *analysis, enum text_phase phase,
                                    enum simai_group group)
{
    return phase == TEXT_WG ? (group == SIMAI_GROUP_DP_EP ? simai_quotient(analysis->dp, analysis->ep) : analysis->dp)
                            : (group == SIMAI_GROUP_EP ? analysis->ep : analysis->tp);
}

static enum simai_group original_booked(const struct simai_row *row, enum text_phase phase)
{
    if (phase == TEXT_WG) {
        return row->costs[phase].collective.group == SIMAI_GROUP_DP_EP ? SIMAI_GROUP_DP_EP : SIMAI_GROUP_DP;
    }
    return row->costs[TEXT_FWD].collective.group == SIMAI_GROUP_EP ? SIMAI_GROUP_EP : SIMAI_GROUP_TP;
}

static uint64_t original_expose(uint64_t ns, float overlap)
{
    return simai_ticks((double)((float)ns * (1 - overlap)));
}

/* The bytes are divided by the share that overlaps, where a bandwidth was meant; the bubble is that of vpp: chunks, of
 * all rows but the embedding's. */
static void original_pipeline(const struct simai_machine *machine, const struct simai_text *text,
                              struct simai_analysis *analysis)
{
    float overlap = machine->pp_overlap < 0 ? 1 : machine->pp_overlap;
    int32_t hops = (int32_t)(2 * (int64_t)analysis->vpp * analysis->ga);
    int64_t bytes = simai_is_transformer(text->workload.strategy) ? text->values[SIMAI_PP_COMM] : 0;
    double us = hops * ((double)bytes / GIB / (double)overlap * 1e9) / NS_PER_US;
    analysis->sums.pipeline = (double)original_expose(simai_ticks(us), overlap);
    analysis->sums.bubble *= (double)(analysis->pp - 1) / (double)((int64_t)analysis->ga * analysis->vpp);
    analysis->messages_hide = overlap >= 1;
}

/* The times and sizes that were read last, without a name and without collectives (spec simai §9, last paragraph). */
static struct text_layer original_missing_row(const struct text_workload *workload)
{
    struct text_layer layer = {.name = {.text = ""}};
    if (workload->layer_count > 0) {
        layer = workload->layers[workload->layer_count - 1];
        layer.name = (struct et_text){.text = ""};
        for (unsigned phase = 0; phase < TEXT_PHASES; phase++) {
            layer.cells[phase].comm = (struct et_text){.text = ""};
        }
    }
    return layer;
}

const struct simai_original simai_original = {
    .time = original_time,
    .number = original_number,
    .bytes = original_bytes,
    .group_ranks = original_group_ranks,
    .booked = original_booked,
    .expose = original_expose,
    .pipeline = original_pipeline,
    .missing_row = original_missing_row,
};
