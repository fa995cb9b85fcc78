/* SPDX-License-Identifier: Apache-2.0 */
/* Shares are of the whole step and of mean ranks, so that the numbers in the sentence are those of the table above it.
 */
#include "report/bound.h"

#include <stdio.h>
#include <string.h>

#include "report/number.h"
#include "report/rows.h"

const char *report_bound_name(enum report_bound_kind kind)
{
    static const char *const names[] = {
#define REPORT_X(name, words) words,
        REPORT_BOUNDS(REPORT_X)
#undef REPORT_X
    };
    return names[kind];
}

/* Compute, remote memory and CPU time of the ranks. */
struct work {
    double mean_ns;
    uint64_t least_ns;
    uint64_t most_ns;
    uint32_t most_rank;
};

static struct work work_of(const struct sim_result *result)
{
    struct work work = {0};
    for (uint32_t rank = 0; rank < result->rank_count; rank++) {
        const struct sim_rank_result *row = sim_result_rank(result, rank);
        uint64_t ns = row->compute_ns + row->exposed_other_ns;
        work.mean_ns += (double)ns / result->rank_count;
        if (ns > work.most_ns) {
            work.most_ns = ns;
            work.most_rank = rank;
        }
        if (rank == 0 || ns < work.least_ns) {
            work.least_ns = ns;
        }
    }
    return work;
}

/* Whether kernels waited for the device's memory rather than for its arithmetic, where the roofline gave their times.
 */
static bool waits_for_memory(const struct sim_result *result)
{
    double weight = 0;
    double arithmetic = 0;
    for (uint32_t rank = 0; rank < result->rank_count; rank++) {
        weight += sim_result_rank(result, rank)->roofline_weight;
        arithmetic += sim_result_rank(result, rank)->compute_bound;
    }
    return weight > 2.0 * result->rank_count && arithmetic < weight / 2;
}

bool report_host_is_profiled(const struct sim_result *result)
{
    double scale = result->config->tuning.host_scale;
    return result->config->policy == ORR_POLICY_STREAMS && (scale == 0.0 || scale == 1.0);
}

/* What work it was, in a word and in a sentence. */
static enum report_bound_kind kind_of_work(const struct sim_result *result, bool is_compute, const char **words)
{
    double host = 0;
    double remote = 0;
    for (uint32_t rank = 0; rank < result->rank_count; rank++) {
        host += (double)sim_result_rank(result, rank)->union_ns[SIM_OP_CPU];
        remote += (double)sim_result_rank(result, rank)->union_ns[SIM_OP_REMOTE_MEM];
    }
    if (is_compute) {
        bool memory = waits_for_memory(result);
        *words = memory ? "the device's memory, which most kernels wait for" : "compute";
        return memory ? REPORT_BOUND_MEMORY : REPORT_BOUND_COMPUTE;
    }
    *words = host >= remote ? "the host (CPU operators)" : "remote memory";
    return host >= remote ? REPORT_BOUND_HOST : REPORT_BOUND_MEMORY;
}

static void say_work(const struct sim_result *result, const struct work *work, struct report_bound *bound)
{
    const char *words = "";
    double step = (double)result->end_ns;
    double compute = report_spread_of(result, REPORT_PART_COMPUTE).mean_ns;
    double other = report_spread_of(result, REPORT_PART_OTHER).mean_ns;
    double comm = report_spread_of(result, REPORT_PART_COMM).mean_ns;
    bool is_compute = compute >= other;
    bound->kind = kind_of_work(result, is_compute, &words);
    bound->share = (is_compute ? compute : other) / step;
    bound->rank = work->most_rank;
    char spread[160] = "every rank";
    if (work->least_ns != work->most_ns) {
        (void)snprintf(spread, sizeof spread, "a mean rank (rank %u works longest, %s of %s)", work->most_rank,
                       report_time((double)work->most_ns).text, report_time(step).text);
    }
    bool recorded = bound->kind == REPORT_BOUND_HOST && report_host_is_profiled(result);
    (void)snprintf(bound->sentence, sizeof bound->sentence,
                   "Bound by %s: %s of the step on %s; exposed communication takes %s%s%s.", words,
                   report_share(bound->share, 1).text, spread, report_share(comm, step).text, recorded ? "; " : "",
                   recorded ? REPORT_PROFILED_HOST : "");
}

static void say_imbalance(const struct sim_result *result, const struct work *work, struct report_bound *bound)
{
    double step = (double)result->end_ns;
    bound->kind = REPORT_BOUND_IMBALANCE;
    bound->share = ((double)work->most_ns - work->mean_ns) / step;
    bound->rank = work->most_rank;
    (void)snprintf(bound->sentence, sizeof bound->sentence,
                   "Bound by imbalance: rank %u works %s, a mean rank %s; that difference is %s of the step, which the "
                   "others spend waiting.",
                   work->most_rank, report_time((double)work->most_ns).text, report_time(work->mean_ns).text,
                   report_share(bound->share, 1).text);
}

static uint32_t last_rank(const struct sim_result *result)
{
    uint32_t last = 0;
    for (uint32_t rank = 1; rank < result->rank_count; rank++) {
        if (sim_result_rank(result, rank)->finish_ns > sim_result_rank(result, last)->finish_ns) {
            last = rank;
        }
    }
    return last;
}

static void say_idle(const struct sim_result *result, double idle, struct report_bound *bound)
{
    double step = (double)result->end_ns;
    struct report_spread spread = report_spread_of(result, REPORT_PART_IDLE);
    bound->kind = REPORT_BOUND_IDLE;
    bound->share = idle / step;
    bound->rank = last_rank(result);
    (void)snprintf(bound->sentence, sizeof bound->sentence,
                   "Bound by idling: a mean rank has nothing in flight for %s of the step, rank %u for %s; rank %u "
                   "finishes last.",
                   report_share(bound->share, 1).text, spread.max_rank, report_share((double)spread.max_ns, step).text,
                   bound->rank);
}

/* The dimension with the highest utilisation, or UINT32_MAX when no message was sent. */
static uint32_t busiest_dimension(const struct sim_result *result)
{
    uint32_t busiest = UINT32_MAX;
    for (uint32_t dim = 0; dim < result->config->dims.count; dim++) {
        if (result->dims[dim].messages > 0 &&
            (busiest == UINT32_MAX || report_utilisation(result, dim) > report_utilisation(result, busiest))) {
            busiest = dim;
        }
    }
    return busiest;
}

static void say_receives(const struct report_kind *kind, const struct report_spread *spread, double total,
                         struct report_bound *bound)
{
    bound->kind = REPORT_BOUND_RECEIVES;
    bound->collective = kind->type;
    (void)snprintf(bound->sentence, sizeof bound->sentence,
                   "Bound by waiting for receives: %s of the step is exposed communication, and receives are %s of the "
                   "time in communication; rank %u has most of it, %s.",
                   report_share(bound->share, 1).text, report_share((double)kind->total_ns, total).text,
                   spread->max_rank, report_time((double)spread->max_ns).text);
}

/* What a message of mean size spends longest on in the busiest dimension: being sent, getting there, or being added up
 * where it arrives (of an all-reduce, half of the messages are). */
static enum report_bound_kind kind_of_communication(const struct sim_result *result, const struct report_bound *bound,
                                                    char *why, size_t room)
{
    static const enum report_bound_kind kinds[] = {REPORT_BOUND_BANDWIDTH, REPORT_BOUND_LATENCY,
                                                   REPORT_BOUND_ENDPOINTS};
    const struct sim_system *system = &result->config->system;
    const struct topo_dim *dim = &result->config->dims.dim[bound->dimension != UINT32_MAX ? bound->dimension : 0];
    bool known = bound->dimension != UINT32_MAX && dim->bytes_per_ns > 0;
    if (!known || result->config->backend >= ORR_BACKEND_PACKET) {
        return REPORT_BOUND_COMMUNICATION;
    }
    const struct sim_dim_result *carried = &result->dims[bound->dimension];
    double bytes = (double)carried->bytes / (double)carried->messages;
    double added = bound->collective == COLL_ALL_REDUCE ? 0.5 : bound->collective == COLL_REDUCE_SCATTER ? 1 : 0;
    double memory = system->local_mem_bw_gbps > 0 ? 3 * bytes / system->local_mem_bw_gbps : 0;
    double parts[] = {bytes / dim->bytes_per_ns, dim->latency_ns, (double)system->endpoint_delay_ns + added * memory};
    (void)snprintf(why, room, "; its mean message (%.20s) takes %.20s to send, %.20s on the way, %.20s at the endpoint",
                   report_bytes(bytes).text, report_time(parts[0]).text, report_time(parts[1]).text,
                   report_time(parts[2]).text);
    size_t most = parts[1] > parts[0] ? 1 : 0;
    return kinds[parts[2] > parts[most] ? 2 : most];
}

/* On wires: the link that is busy longest, and whether that is most of the time that ranks wait. */
static bool find_busiest_link(const struct sim_result *result, struct orr_link_result *busiest)
{
    struct orr_link_result row;
    *busiest = (struct orr_link_result){0};
    for (uint32_t i = 0; report_link_row(result, i, &row); i++) {
        *busiest = row.busy_ns > busiest->busy_ns ? row : *busiest;
    }
    return busiest->busy_ns > 0;
}

static enum report_bound_kind kind_on_wires(const struct sim_result *result, const struct orr_link_result *link,
                                            const struct report_bound *bound, char *where, size_t room)
{
    (void)snprintf(where, room, "; link %u > %u (%s Gbit/s) is busiest, at %s of what it can carry", link->from,
                   link->to, report_short((double)link->rate_bps / 1e9).text, report_share(link->utilisation, 1).text);
    return (double)link->busy_ns > bound->share * (double)result->end_ns / 2 ? REPORT_BOUND_BANDWIDTH
                                                                             : REPORT_BOUND_COMMUNICATION;
}

/* `kind` is the one with most time of the `total`; without any, `total` is 0. */
static void say_collective(const struct sim_result *result, const struct report_kind *kind, double total,
                           struct report_bound *bound)
{
    char name[32], most[160] = "", where[160] = "", why[160] = "";
    if (total > 0) {
        bool only = (double)kind->total_ns == total;
        bound->collective = kind->type;
        (void)snprintf(most, sizeof most, ", %s %s", only ? "all of it" : "mostly", report_kind_name(kind->type, name));
        if (!only) {
            size_t length = strlen(most);
            (void)snprintf(most + length, sizeof most - length, " (%s of the time in communication)",
                           report_share((double)kind->total_ns, total).text);
        }
    }
    bound->dimension = busiest_dimension(result);
    if (bound->dimension != UINT32_MAX) {
        const struct topo_dim *dim = &result->config->dims.dim[bound->dimension];
        (void)snprintf(where, sizeof where, "; dimension %u (%s %u) is busiest, at %s of what its links can carry",
                       bound->dimension, topo_kind_name(dim->kind), dim->size,
                       report_share(report_utilisation(result, bound->dimension), 1).text);
    }
    struct orr_link_result link;
    bool wires = result->config->backend >= ORR_BACKEND_PACKET && find_busiest_link(result, &link);
    bound->kind = wires ? kind_on_wires(result, &link, bound, where, sizeof where)
                        : kind_of_communication(result, bound, why, sizeof why);
    (void)snprintf(bound->sentence, sizeof bound->sentence,
                   "Bound by communication%s: %s of the step is exposed communication%s%s%s.",
                   bound->kind == REPORT_BOUND_BANDWIDTH   ? " (bandwidth)"
                   : bound->kind == REPORT_BOUND_LATENCY   ? " (latency)"
                   : bound->kind == REPORT_BOUND_ENDPOINTS ? " (endpoints)"
                                                           : "",
                   report_share(bound->share, 1).text, most, where, why);
}

static void say_communication(const struct sim_result *result, double comm, struct report_bound *bound)
{
    struct report_kind kind, most = {0};
    double total = 0;
    for (uint32_t row = 0; report_kind_next(result, &row, &kind);) {
        total += (double)kind.total_ns;
        if (kind.total_ns > most.total_ns) {
            most = kind;
        }
    }
    struct report_spread spread = report_spread_of(result, REPORT_PART_COMM);
    bound->share = comm / (double)result->end_ns;
    bound->rank = spread.max_rank;
    if (total > 0 && most.type == SIM_TYPE_RECV) {
        say_receives(&most, &spread, total, bound);
    } else {
        say_collective(result, &most, total, bound);
    }
}

/* Launch overhead of the communications of a mean rank; true where it is most of the time that is not work. */
static bool say_launch(const struct sim_result *result, double rest, struct report_bound *bound)
{
    double launches = 0;
    for (uint32_t rank = 0; rank < result->rank_count; rank++) {
        launches += (double)sim_result_rank(result, rank)->nodes_of[SIM_OP_COMM] / result->rank_count;
    }
    double launch_ns = (double)result->config->tuning.launch_ns;
    if (!(launches * launch_ns > rest / 2)) {
        return false;
    }
    bound->kind = REPORT_BOUND_LAUNCH;
    bound->share = launches * launch_ns / (double)result->end_ns;
    bound->share = bound->share < 1 ? bound->share : 1;
    (void)snprintf(bound->sentence, sizeof bound->sentence,
                   "Bound by launching communications: a mean rank launches %.0f, each of which takes %s before it "
                   "starts, %s of the step.",
                   launches, report_time(launch_ns).text, report_share(bound->share, 1).text);
    return true;
}

struct report_bound report_bound_of(const struct sim_result *result)
{
    struct report_bound bound = {.rank = UINT32_MAX, .collective = INT32_MIN, .dimension = UINT32_MAX};
    if (report_state_of(result) != REPORT_FINISHED) {
        bound.kind = REPORT_BOUND_UNFINISHED;
        (void)snprintf(bound.sentence, sizeof bound.sentence,
                       "The run did not end, so what would bound it cannot be said.");
        return bound;
    }
    if (result->end_ns == 0) {
        (void)snprintf(bound.sentence, sizeof bound.sentence, "Nothing bounds the run: it takes no time.");
        return bound;
    }
    struct work work = work_of(result);
    double beyond_mean = (double)work.most_ns - work.mean_ns;
    double rest = (double)result->end_ns - (double)work.most_ns;
    double comm = report_spread_of(result, REPORT_PART_COMM).mean_ns;
    double idle = report_spread_of(result, REPORT_PART_IDLE).mean_ns;
    if (work.mean_ns >= beyond_mean && work.mean_ns >= rest) {
        say_work(result, &work, &bound);
    } else if (beyond_mean >= rest) {
        say_imbalance(result, &work, &bound);
    } else if (say_launch(result, rest, &bound)) {
        return bound;
    } else if (comm >= idle) {
        say_communication(result, comm, &bound);
    } else {
        say_idle(result, idle, &bound);
    }
    return bound;
}
