/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Size / bandwidth * (n-1)/n, twice for an all-reduce, as SimAI's documentation means it. How SimAI itself counts
 * shares only the shape of the formulas and is compat/simai's.
 */
#include "model/simai/collective.h"

#include <math.h>
#include <string.h>

#include "model/simai/busbw.h"
#include "model/simai/original.h"

const char *const simai_op_names[SIMAI_OPS] = {"none", "allreduce", "allgather", "reducescatter", "alltoall"};
const char *const simai_group_names[SIMAI_GROUPS] = {"TP", "DP", "EP", "DP_EP", "CP"};

static const double GIB = 1024.0 * 1024.0 * 1024.0;

const struct simai_small_time simai_small_times[SIMAI_SMALL_TIMES] = {
    {2, 10000}, {4, 12000}, {8, 15000}, {16, 66000}, {32, 135000}, {64, 200000}, {128, 320000}};

void simai_word_read(const char *word, size_t length, enum simai_group plain, enum simai_op *op,
                     enum simai_group *group)
{
    static const char *const words[SIMAI_OPS] = {"", "ALLREDUCE", "ALLGATHER", "REDUCESCATTER", "ALLTOALL"};
    *op = SIMAI_OP_NONE;
    *group = SIMAI_GROUP_NONE;
    for (unsigned i = SIMAI_OP_ALLREDUCE; i < SIMAI_OPS; i++) {
        size_t begin = strlen(words[i]);
        if (length < begin || memcmp(word, words[i], begin) != 0) {
            continue;
        }
        const char *suffix = word + begin;
        size_t rest = length - begin;
        *op = (enum simai_op)i;
        *group = rest == 0                                       ? plain
                 : rest == 3 && memcmp(suffix, "_EP", 3) == 0    ? SIMAI_GROUP_EP
                 : rest == 6 && memcmp(suffix, "_DP_EP", 6) == 0 ? SIMAI_GROUP_DP_EP
                 : rest == 3 && memcmp(suffix, "_CP", 3) == 0    ? SIMAI_GROUP_CP
                                                                 : SIMAI_GROUP_NONE;
        return;
    }
}

uint64_t simai_ticks(double value)
{
    if (!(value > 0)) {
        return 0;
    }
    return value >= 18446744073709551616.0 ? UINT64_MAX : (uint64_t)value;
}

/* What of the machine a group uses: servers, GPUs of it on each, NICs of a server for it. */
struct span {
    int32_t servers, gpus;
    double nics;
};

const struct simai_ratio_table *simai_ratio_find(const struct simai_machine *machine,
                                                 const struct simai_collective *collective, bool by_nvlink,
                                                 unsigned (*choose)(int64_t), unsigned *column)
{
    int32_t per_server = machine->gpus_per_server;
    int32_t tp = collective->tp;
    const struct simai_ratio_table *tables = machine->ratios->tables;
    int64_t over = (int64_t)tp * collective->ranks;
    switch (collective->op) {
    case SIMAI_OP_ALLGATHER:
    case SIMAI_OP_REDUCESCATTER:
        *column = choose(tp < per_server ? 1 : simai_quotient(tp, per_server));
        return collective->group == SIMAI_GROUP_TP ? &tables[by_nvlink ? SIMAI_RATIO_NVLINK : SIMAI_RATIO_NIC] : NULL;
    case SIMAI_OP_ALLTOALL:
        if (collective->group == SIMAI_GROUP_TP) {
            *column = choose(tp <= per_server ? 1 : simai_quotient(tp, per_server));
            return &tables[SIMAI_RATIO_ALLTOALL];
        }
        *column = over <= per_server                    ? 1
                  : tp >= per_server || per_server == 0 ? SIMAI_RATIO_MULTI
                                                        : choose(over / per_server);
        return collective->group == SIMAI_GROUP_EP ? &tables[SIMAI_RATIO_ALLTOALL] : NULL;
    default:
        return NULL;
    }
}

static int32_t ceiling(int64_t whole, int32_t part)
{
    return (int32_t)((whole + part - 1) / part);
}

/* Ranks of a group lie `stride` apart and fill servers from the first on; the groups beside it share its servers and
 * their NICs. */
static struct span span_of(const struct simai_machine *machine, int32_t ranks, int64_t stride)
{
    int32_t per_server = machine->gpus_per_server;
    int32_t together = stride >= per_server ? 1 : (int32_t)(per_server / stride);
    together = together < ranks ? together : ranks;
    return (struct span){.servers = ceiling(ranks, together),
                         .gpus = together,
                         .nics = (double)machine->nics_per_server *
                                 (stride >= per_server ? 1.0 / per_server : 1.0 / (double)stride)};
}

static struct span span_meant(const struct simai_machine *machine, const struct simai_collective *collective)
{
    switch (collective->group) {
    case SIMAI_GROUP_TP:
        return span_of(machine, collective->ranks, 1);
    case SIMAI_GROUP_DP_EP:
        return span_of(machine, collective->ranks, (int64_t)collective->tp * collective->ep);
    default: {
        /* Expert groups as large as all GPUs take in the tensor-parallel ranks. */
        int64_t reach = (int64_t)collective->tp * collective->ranks;
        return span_of(machine, collective->ranks, reach > machine->gpus ? 1 : collective->tp);
    }
    }
}

static double bandwidth_meant(const struct simai_machine *machine, enum simai_op op, struct span span, bool *by_nvlink)
{
    double nvlink = (double)machine->nvlink;
    double outward = (double)machine->nic * span.nics;
    *by_nvlink = span.servers == 1;
    if (span.servers == 1) {
        return nvlink;
    }
    if (op == SIMAI_OP_ALLTOALL) {
        double ranks = (double)span.servers * span.gpus;
        return outward / span.gpus * (ranks - 1) / ((double)(span.servers - 1) * span.gpus);
    }
    if (span.gpus == 1) {
        return outward;
    }
    double inward = outward > nvlink ? nvlink * span.gpus / (span.gpus - 1) : nvlink;
    *by_nvlink = inward < outward;
    return *by_nvlink ? inward : outward;
}

/* Between the measured numbers of ranks on a line, above them on the last one's. */
static uint64_t small_time_meant(int32_t ranks)
{
    unsigned i = 1;
    while (i + 1 < SIMAI_SMALL_TIMES && ranks > simai_small_times[i].ranks) {
        i++;
    }
    double low = simai_small_times[i - 1].ns;
    double slope =
        ((double)simai_small_times[i].ns - low) / (simai_small_times[i].ranks - simai_small_times[i - 1].ranks);
    return simai_ticks(low + slope * (ranks - simai_small_times[i - 1].ranks));
}

/* Whatever is longer: what the bytes take, or the latency of a small collective. SimAI takes the latter up to 1 MiB and
 * the former from there on, so that 1 MiB on 16 ranks takes a tenth of a byte less; so it would jump. */
static enum simai_trouble time_meant(const struct simai_machine *machine, const struct simai_collective *collective,
                                     uint64_t *ns)
{
    *ns = 0;
    if (collective->group >= SIMAI_GROUPS || collective->ranks <= 1 || collective->bytes == 0) {
        return SIMAI_FINE;
    }
    uint64_t least = small_time_meant(collective->ranks);
    double bandwidth = machine->busbw == NULL ? 0 : machine->busbw->value[collective->group][collective->op];
    if (bandwidth == 0) {
        bool by_nvlink = false;
        unsigned column = 0;
        if (machine->nvlink <= 0 || machine->nic <= 0 || machine->gpus_per_server < 1 || machine->nics_per_server < 1) {
            *ns = least;
            return collective->bytes < SIMAI_SMALL_BYTES ? SIMAI_FINE : SIMAI_NO_BANDWIDTH;
        }
        bandwidth = bandwidth_meant(machine, collective->op, span_meant(machine, collective), &by_nvlink);
        const struct simai_ratio_table *table =
            simai_ratio_find(machine, collective, by_nvlink, simai_ratio_column, &column);
        bandwidth *= table == NULL ? 1 : simai_ratio_value(table, (double)collective->bytes, column);
    }
    double time = (double)collective->bytes / GIB / bandwidth * 1e9;
    time = collective->op == SIMAI_OP_ALLREDUCE ? time * 2 : time;
    uint64_t carried = simai_ticks(time * (collective->ranks - 1) / collective->ranks);
    *ns = carried > least ? carried : least;
    return SIMAI_FINE;
}

enum simai_trouble simai_collective_time(const struct simai_machine *machine, const struct simai_collective *collective,
                                         uint64_t *ns)
{
    *ns = 0;
    if (collective->op == SIMAI_OP_NONE) {
        return SIMAI_FINE;
    }
    return machine->original != NULL ? machine->original->time(machine, collective, ns)
                                     : time_meant(machine, collective, ns);
}

void simai_collective_rates(const struct simai_machine *machine, const struct simai_collective *collective, uint64_t ns,
                            float *algorithm, float *bus)
{
    *bus = 0;
    if (machine->original == NULL && (ns == 0 || collective->op == SIMAI_OP_NONE)) {
        *algorithm = 0;
        return;
    }
    *algorithm = (float)((double)collective->bytes / ((double)ns / 1000) * 1000000 / GIB);
    if (collective->op != SIMAI_OP_NONE) {
        float passes = collective->op == SIMAI_OP_ALLREDUCE ? 2 : 1;
        float moved = *algorithm * passes * (float)(collective->ranks - 1);
        *bus = (float)((double)moved / (double)collective->ranks);
    }
}
