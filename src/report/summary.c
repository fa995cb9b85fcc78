/* SPDX-License-Identifier: Apache-2.0 */
/* One pass per question over plain arrays: a report is made once, and results are small beside the run that made them.
 */
#include "report/summary.h"

#include <inttypes.h>
#include <stdio.h>

const char *const report_part_words[REPORT_PARTS_COUNT] = {
#define REPORT_X(name, member, words) words,
    REPORT_PARTS(REPORT_X)
#undef REPORT_X
};

static uint64_t report_part_ns(const struct sim_rank_result *rank, enum report_part part)
{
    switch (part) {
#define REPORT_X(name, member, words)                                                                                  \
    case REPORT_PART_##name:                                                                                           \
        return rank->member;
        REPORT_PARTS(REPORT_X)
#undef REPORT_X
    case REPORT_PARTS_COUNT:
        break;
    }
    return 0;
}

struct report_spread report_spread_of(const struct sim_result *result, enum report_part part)
{
    struct report_spread spread = {0};
    double sum = 0;
    for (uint32_t rank = 0; rank < result->rank_count; rank++) {
        uint64_t ns = report_part_ns(sim_result_rank(result, rank), part);
        if (rank == 0 || ns < spread.min_ns) {
            spread.min_ns = ns;
            spread.min_rank = rank;
        }
        if (rank == 0 || ns > spread.max_ns) {
            spread.max_ns = ns;
            spread.max_rank = rank;
        }
        sum += (double)ns;
    }
    if (result->rank_count > 0) {
        spread.mean_ns = sum / result->rank_count;
    }
    return spread;
}

/* A point-to-point operation is one rank's; a collective is one of its whole group. */
static double ranks_per_operation(const struct sim_collective_result *row)
{
    return row->type < 0 || row->group_size == 0 ? 1 : row->group_size;
}

static double buffer_bytes(const struct sim_collective_result *row)
{
    return (double)row->bytes * (row->type == COLL_ALL_GATHER ? ranks_per_operation(row) : 1);
}

static double report_summary_bus_factor(const struct sim_collective_result *row)
{
    bool moves = row->type >= 0 && row->type != COLL_BARRIER;
    return moves ? coll_bus_factor(row->type, row->group_size == 0 ? 1 : row->group_size) : 1;
}

/* The row's total is modulo 2^64. The true one is no less than `count` times the minimum: the first such value is it,
 * unless the times also spread so far that their differences alone pass 64 bits. */
static unsigned __int128 row_total(const struct sim_collective_result *row)
{
    unsigned __int128 least = (unsigned __int128)row->count * row->min_ns;
    return least + (uint64_t)(row->total_ns - (uint64_t)least);
}

/* Adds a row to `kind`; the bandwidth members hold bytes until kind_finish divides them by the time. */
static void kind_add(struct report_kind *kind, const struct sim_collective_result *row)
{
    bool first = kind->participations == 0;
    if (kind->rows == 0 || row->group_size < kind->group_min) {
        kind->group_min = row->group_size;
    }
    if (kind->rows == 0 || row->group_size > kind->group_max) {
        kind->group_max = row->group_size;
    }
    kind->rows++;
    if (row->count == 0) {
        return;
    }
    double operations = (double)row->count / ranks_per_operation(row);
    kind->participations += row->count;
    kind->operations += operations;
    kind->bytes += operations * (double)row->bytes;
    kind->total_ns += row_total(row);
    kind->min_ns = first || row->min_ns < kind->min_ns ? row->min_ns : kind->min_ns;
    kind->max_ns = first || row->max_ns > kind->max_ns ? row->max_ns : kind->max_ns;
    kind->algorithm_gbps += (double)row->count * buffer_bytes(row);
    kind->bus_gbps += (double)row->count * buffer_bytes(row) * report_summary_bus_factor(row);
}

static void kind_finish(struct report_kind *kind)
{
    if (kind->participations > 0) {
        kind->mean_ns = (double)kind->total_ns / (double)kind->participations;
    }
    kind->has_bandwidth =
        kind->total_ns > 0 && kind->algorithm_gbps > 0 && kind->type != SIM_TYPE_RECV && kind->type != COLL_BARRIER;
    kind->algorithm_gbps = kind->has_bandwidth ? kind->algorithm_gbps / (double)kind->total_ns : 0;
    kind->bus_gbps = kind->has_bandwidth ? kind->bus_gbps / (double)kind->total_ns : 0;
}

bool report_kind_next(const struct sim_result *result, uint32_t *row, struct report_kind *kind)
{
    if (*row >= result->collective_count) {
        return false;
    }
    *kind = (struct report_kind){.type = result->collectives[*row].type, .first_row = *row};
    while (*row < result->collective_count && result->collectives[*row].type == kind->type) {
        kind_add(kind, &result->collectives[*row]);
        (*row)++;
    }
    kind_finish(kind);
    return true;
}

struct report_kind report_kind_of_row(const struct sim_result *result, uint32_t row)
{
    struct report_kind kind = {.type = result->collectives[row].type, .first_row = row};
    kind_add(&kind, &result->collectives[row]);
    kind_finish(&kind);
    return kind;
}

uint64_t report_kind_total_ns(const struct report_kind *kind)
{
    return kind->total_ns > UINT64_MAX ? UINT64_MAX : (uint64_t)kind->total_ns;
}

const char *report_kind_name(int32_t type, char *buffer)
{
    if (type == SIM_TYPE_SEND) {
        return "send";
    }
    if (type == SIM_TYPE_RECV) {
        return "receive";
    }
    const char *name = coll_type_name(type);
    if (name == NULL) {
        (void)snprintf(buffer, 32, "collective %" PRId32, type);
        name = buffer;
    }
    return name;
}

double report_utilisation(const struct sim_result *result, uint32_t dim)
{
    const struct sim_dim_result *row = &result->dims[dim];
    double available = (double)row->links * (double)result->end_ns;
    return available > 0 ? (double)row->busy_ns / available : 0;
}

enum report_state report_state_of(const struct sim_result *result)
{
    if (result->stall.kind != SIM_STALL_NONE) {
        return REPORT_STALLED;
    }
    return result->ranks_finished < result->rank_count ? REPORT_INTERRUPTED : REPORT_FINISHED;
}

const char *report_state_name(enum report_state state)
{
    static const char *const names[] = {
        [REPORT_FINISHED] = "finished", [REPORT_STALLED] = "stalled", [REPORT_INTERRUPTED] = "interrupted"};
    return names[state];
}

const char *report_policy_name(enum orr_policy policy)
{
    static const char *const names[] = {[ORR_POLICY_ASTRA] = "astra",
                                        [ORR_POLICY_SAFE] = "safe",
                                        [ORR_POLICY_STREAMS] = "streams",
                                        [ORR_POLICY_AUTO] = "auto",
                                        [ORR_POLICY_AUTO_SAFE] = "auto"};
    return names[policy];
}

const char *report_backend_name(enum orr_backend backend)
{
    static const char *const names[] = {[ORR_BACKEND_UNAWARE] = "unaware",
                                        [ORR_BACKEND_AWARE] = "aware",
                                        [ORR_BACKEND_PACKET] = "packet",
                                        [ORR_BACKEND_FLOW] = "flow",
                                        [ORR_BACKEND_AUTO] = "auto"};
    return names[backend];
}
