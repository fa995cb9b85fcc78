/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SimAI's arithmetic depends on which intermediate is a float, a double or an integer, so its way of counting is
 * written out with those types and every conversion that C leaves to the machine made explicit (simai_ticks, quotient).
 * Ours shares only the shape of the formulas: size / bandwidth * (n-1)/n, twice for an all-reduce.
 */
#include "model/simai/collective.h"

#include <math.h>
#include <string.h>

#include "model/simai/busbw.h"

const char *const simai_op_names[SIMAI_OPS] = {"none", "allreduce", "allgather", "reducescatter", "alltoall"};
const char *const simai_group_names[SIMAI_GROUPS] = {"TP", "DP", "EP", "DP_EP", "CP"};

static const double GIB = 1024.0 * 1024.0 * 1024.0;
enum { SMALL_BYTES = 1 << 20 };

/* Measured latencies of collectives below 1 MiB. */
static const struct {
    int32_t ranks;
    uint32_t ns;
} small_times[] = {{2, 10000}, {4, 12000}, {8, 15000}, {16, 66000}, {32, 135000}, {64, 200000}, {128, 320000}};
enum { SMALL_TIMES = sizeof small_times / sizeof small_times[0] };

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

/* Division by zero is 0, as on aarch64. */
static int32_t simai_collective_quotient(int32_t whole, int32_t part)
{
    return part == 0 ? 0 : whole / part;
}

/* What of the machine a group uses: servers, GPUs of it on each, NICs of a server for it. */
struct span {
    int32_t servers, gpus;
    double nics;
};

/* ---- as SimAI counts ---- */

static struct span span_compat(const struct simai_machine *machine, const struct simai_collective *collective)
{
    int32_t per_server = machine->gpus_per_server;
    int32_t nics = machine->nics_per_server;
    int32_t tp = collective->tp;
    int32_t ranks = collective->ranks;
    int64_t expert = (int64_t)tp * collective->ep;
    switch (collective->group) {
    case SIMAI_GROUP_TP:
        return tp <= per_server ? (struct span){1, tp, nics}
                                : (struct span){simai_collective_quotient(tp, per_server), per_server, nics};
    case SIMAI_GROUP_EP:
        if ((int64_t)tp * ranks <= per_server) {
            return (struct span){1, simai_collective_quotient(per_server, tp), nics};
        }
        return (struct span){per_server == 0 ? 0 : (int32_t)((int64_t)tp * ranks / per_server),
                             simai_collective_quotient(per_server, tp) > 1 ? simai_collective_quotient(per_server, tp)
                                                                           : 1,
                             simai_collective_quotient(nics, tp > per_server ? per_server : tp)};
    case SIMAI_GROUP_DP:
        return tp <= per_server ? (struct span){ranks, simai_collective_quotient(per_server, tp),
                                                simai_collective_quotient(nics, tp)}
                                : (struct span){ranks, 1, simai_collective_quotient(nics, per_server)};
    default:
        return expert <= per_server ? (struct span){ranks, simai_collective_quotient(per_server, (int32_t)expert),
                                                    simai_collective_quotient(nics, (int32_t)expert)}
                                    : (struct span){ranks, 1, simai_collective_quotient(nics, per_server)};
    }
}

/* Of a ring, or of an all-to-all; `*by_nvlink` says whether NVLink is what limits a ring over servers. */
static float bandwidth_compat(const struct simai_machine *machine, enum simai_op op, struct span span, bool *by_nvlink)
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

/* Which table and column the achieved share is looked up in; NULL for none. */
static const struct simai_ratio_table *find_ratio(const struct simai_machine *machine,
                                                  const struct simai_collective *collective, bool by_nvlink,
                                                  unsigned *column)
{
    int32_t per_server = machine->gpus_per_server;
    int32_t tp = collective->tp;
    unsigned (*choose)(int64_t) = machine->compat ? simai_ratio_column_compat : simai_ratio_column;
    const struct simai_ratio_table *tables = machine->ratios->tables;
    int64_t over = (int64_t)tp * collective->ranks;
    switch (collective->op) {
    case SIMAI_OP_ALLGATHER:
    case SIMAI_OP_REDUCESCATTER:
        *column = choose(tp < per_server ? 1 : simai_collective_quotient(tp, per_server));
        return collective->group == SIMAI_GROUP_TP ? &tables[by_nvlink ? SIMAI_RATIO_NVLINK : SIMAI_RATIO_NIC] : NULL;
    case SIMAI_OP_ALLTOALL:
        if (collective->group == SIMAI_GROUP_TP) {
            *column = choose(tp <= per_server ? 1 : simai_collective_quotient(tp, per_server));
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

static uint64_t small_time_compat(int32_t ranks)
{
    for (unsigned i = 0; i < SMALL_TIMES; i++) {
        if (ranks == small_times[i].ranks) {
            return small_times[i].ns;
        }
    }
    return 0;
}

static enum simai_trouble time_compat(const struct simai_machine *machine, const struct simai_collective *collective,
                                      uint64_t *ns)
{
    bool by_nvlink = false;
    unsigned column = 0;
    float share = 1;
    *ns = 0;
    if (collective->bytes > 1 && collective->bytes < SMALL_BYTES) {
        *ns = small_time_compat(collective->ranks);
        return SIMAI_FINE;
    }
    if (collective->group >= SIMAI_GROUPS || (collective->group != SIMAI_GROUP_TP && collective->ranks <= 1)) {
        return SIMAI_FINE;
    }
    float bandwidth = bandwidth_compat(machine, collective->op, span_compat(machine, collective), &by_nvlink);
    const struct simai_ratio_table *table = find_ratio(machine, collective, by_nvlink, &column);
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

/* ---- as it is meant ---- */

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
    while (i + 1 < SMALL_TIMES && ranks > small_times[i].ranks) {
        i++;
    }
    double low = small_times[i - 1].ns;
    double slope = ((double)small_times[i].ns - low) / (small_times[i].ranks - small_times[i - 1].ranks);
    return simai_ticks(low + slope * (ranks - small_times[i - 1].ranks));
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
            return collective->bytes < SMALL_BYTES ? SIMAI_FINE : SIMAI_NO_BANDWIDTH;
        }
        bandwidth = bandwidth_meant(machine, collective->op, span_meant(machine, collective), &by_nvlink);
        const struct simai_ratio_table *table = find_ratio(machine, collective, by_nvlink, &column);
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
    return machine->compat ? time_compat(machine, collective, ns) : time_meant(machine, collective, ns);
}

void simai_collective_rates(const struct simai_machine *machine, const struct simai_collective *collective, uint64_t ns,
                            float *algorithm, float *bus)
{
    *bus = 0;
    if (!machine->compat && (ns == 0 || collective->op == SIMAI_OP_NONE)) {
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
