/* SPDX-License-Identifier: Apache-2.0 */
/* A finding is a share of the step with what shows it. Whether links are held up by bandwidth or by latency is not
 * reasoned about: the job was run with each of them changed, and the larger difference is the answer. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "advise/machine.h"
#include "advise/run.h"
#include "base/numbers.h"
#include "report/bound.h"
#include "report/number.h"
#include "report/rows.h"
#include "report/summary.h"

/* ---- what is known ---- */

static uint64_t findings_work(const struct sim_rank_result *rank)
{
    return rank->compute_ns + rank->exposed_other_ns;
}

/* Ranks whose work is nearer to the longest than to the median, where those are far apart. */
static void find_ahead(const struct sim_result *result, struct advise_balance *balance)
{
    double limit = (balance->median_ns + (double)balance->most_ns) / 2;
    if ((double)balance->most_ns - balance->median_ns < 0.02 * (double)result->end_ns) {
        return;
    }
    for (uint32_t rank = 0; rank < result->rank_count; rank++) {
        if ((double)findings_work(sim_result_rank(result, rank)) > limit) {
            balance->ahead_total++;
            if (balance->ahead_count < sizeof balance->ahead / sizeof balance->ahead[0]) {
                balance->ahead[balance->ahead_count++] = rank;
            }
        }
    }
}

bool advise_view_fill(struct advise_view *view, struct arena *arena)
{
    const struct sim_result *result = view->result;
    struct advise_balance *balance = &view->balance;
    uint32_t ranks = result->rank_count;
    double all = (double)result->end_ns * ranks;
    uint64_t *work = arena_alloc(arena, (ranks + (size_t)1) * sizeof *work);
    if (work == NULL || ranks == 0 || all <= 0) {
        return work != NULL;
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const struct sim_rank_result *one = sim_result_rank(result, rank);
        view->shares.compute += (double)one->compute_ns / all;
        view->shares.comm += (double)one->exposed_comm_ns / all;
        view->shares.other += (double)one->exposed_other_ns / all;
        view->shares.idle += (double)one->idle_ns / all;
        work[rank] = findings_work(one);
        balance->mean_ns += (double)work[rank] / ranks;
        balance->most_rank = work[rank] > work[balance->most_rank] ? rank : balance->most_rank;
        balance->least_rank = work[rank] < work[balance->least_rank] ? rank : balance->least_rank;
    }
    balance->most_ns = work[balance->most_rank];
    balance->least_ns = work[balance->least_rank];
    qsort(work, ranks, sizeof *work, numbers_order_u64);
    uint32_t middle = (ranks - 1) / 2;
    balance->median_ns = (double)work[middle];
    find_ahead(result, balance);
    if (view->has_causes) {
        view->shares.late = view->causes.late_ns / all;
        view->shares.moving = view->causes.moving_ns / all;
        view->shares.receives = view->causes.receive_ns / all;
    }
    return true;
}

/* ---- ranks ---- */

static void find_imbalance(const struct advise_view *view)
{
    struct advise_document *document = view->job->document;
    const struct advise_balance *balance = &view->balance;
    double step = (double)view->result->end_ns;
    double share = ((double)balance->most_ns - balance->mean_ns) / step;
    uint32_t few = view->result->rank_count / 8 > 1 ? view->result->rank_count / 8 : 1;
    if (share < ADVISE_LEAST) {
        return;
    }
    bool straggler = balance->ahead_total > 0 && balance->ahead_total <= few;
    if (straggler) {
        advise_find(document, "straggler", share,
                    balance->ahead_total == 1
                        ? advise_text(document, "Rank %u is slower than the others", balance->most_rank)
                        : advise_text(document, "%u ranks are slower than the others", balance->ahead_total));
    } else {
        advise_find(document, "imbalance", share, "Ranks have different amounts of work");
    }
    for (uint32_t i = 0; straggler && i < balance->ahead_count; i++) {
        uint64_t ns = findings_work(sim_result_rank(view->result, balance->ahead[i]));
        advise_evidence(document, "rank %u works %s, the median rank %s (%.2f times as long)", balance->ahead[i],
                        report_time((double)ns).text, report_time(balance->median_ns).text,
                        (double)ns / (balance->median_ns > 0 ? balance->median_ns : 1));
    }
    advise_evidence(document, "work of ranks: least %s (rank %u), mean %s, most %s (rank %u)",
                    report_time((double)balance->least_ns).text, balance->least_rank,
                    report_time(balance->mean_ns).text, report_time((double)balance->most_ns).text, balance->most_rank);
    advise_number(document, "rank", balance->most_rank);
    advise_number(document, "most_ns", (double)balance->most_ns);
    advise_number(document, "mean_ns", balance->mean_ns);
    advise_number(document, "median_ns", balance->median_ns);
    advise_number(document, "ranks_behind", balance->ahead_total);
}

static void find_late(const struct advise_view *view)
{
    struct advise_document *document = view->job->document;
    const struct advise_causes *causes = &view->causes;
    uint32_t last = 0, row = UINT32_MAX;
    if (view->shares.late < ADVISE_LEAST) {
        return;
    }
    for (uint32_t rank = 1; rank < view->result->rank_count; rank++) {
        last = causes->kept_waiting_ns[rank] > causes->kept_waiting_ns[last] ? rank : last;
    }
    for (uint32_t i = 0; i < view->result->collective_count; i++) {
        bool collective = view->result->collectives[i].type >= 0;
        row = collective && (row == UINT32_MAX || causes->rows[i].late_ns > causes->rows[row].late_ns) ? i : row;
    }
    double ranks = view->result->rank_count;
    advise_find(document, "late-ranks", view->shares.late, "Ranks arrive at collectives at different times");
    advise_evidence(document, "a mean rank waits %s in collectives for the last member to come, %s of the step",
                    report_time(causes->late_ns / ranks).text, report_share(view->shares.late, 1).text);
    if (causes->last[last] > 0) {
        advise_evidence(document,
                        "rank %u comes last in %u of %" PRIu64 " collectives that wait; others wait %s for it", last,
                        causes->last[last], causes->collectives, report_time(causes->kept_waiting_ns[last]).text);
        advise_number(document, "rank", last);
        advise_number(document, "times_last", causes->last[last]);
    }
    if (row != UINT32_MAX) {
        char name[32];
        const struct sim_collective_result *kind = &view->result->collectives[row];
        advise_evidence(document, "most of it in %s of %s among %u ranks", report_kind_name(kind->type, name),
                        report_bytes((double)kind->bytes).text, kind->group_size);
    }
    advise_number(document, "wait_ns", causes->late_ns / ranks);
}

static void find_bubble(const struct advise_view *view)
{
    struct advise_document *document = view->job->document;
    if (view->shares.receives < ADVISE_LEAST) {
        return;
    }
    double ranks = view->result->rank_count;
    advise_find(document, "bubble", view->shares.receives, "Ranks wait for others to send as in a pipeline's bubble");
    advise_evidence(document, "a mean rank waits %s for messages that have not been sent yet, %s of the step",
                    report_time(view->causes.receive_ns / ranks).text, report_share(view->shares.receives, 1).text);
    struct report_spread idle = report_spread_of(view->result, REPORT_PART_COMM);
    advise_evidence(document, "rank %u has most exposed communication, %s; rank %u least, %s", idle.max_rank,
                    report_time((double)idle.max_ns).text, idle.min_rank, report_time((double)idle.min_ns).text);
    advise_number(document, "wait_ns", view->causes.receive_ns / ranks);
}

/* ---- links ---- */

static double gain_of(const struct advise_view *view, const struct advise_changes *changes, const char *family)
{
    uint64_t before = view->job->before_ns;
    for (uint32_t i = 0; i < changes->count; i++) {
        const struct advise_change *one = &changes->list[i];
        if (strcmp(one->family, family) == 0) {
            return one->after_ns > 0 && one->after_ns < before ? (double)(before - one->after_ns) : 0;
        }
    }
    return 0;
}

/* The kind of collective that moves bytes longest. */
static void tell_kinds(const struct advise_view *view)
{
    struct advise_document *document = view->job->document;
    for (uint32_t told = 0, before = UINT32_MAX; told < 3; told++) {
        uint32_t row = UINT32_MAX;
        for (uint32_t i = 0; i < view->result->collective_count; i++) {
            double ns = view->causes.rows[i].moving_ns;
            bool next = before == UINT32_MAX || ns < view->causes.rows[before].moving_ns;
            row = next && ns > 0 && (row == UINT32_MAX || ns > view->causes.rows[row].moving_ns) ? i : row;
        }
        if (row == UINT32_MAX) {
            return;
        }
        char name[32];
        const struct sim_collective_result *kind = &view->result->collectives[row];
        struct orr_collective_result told_row;
        (void)report_collective_row(view->result, row, &told_row);
        advise_evidence(document, "%s of %s among %u ranks: exposed for %s on a mean rank%s%s",
                        report_kind_name(kind->type, name), report_bytes((double)kind->bytes).text, kind->group_size,
                        report_time(view->causes.rows[row].moving_ns / view->result->rank_count).text,
                        told_row.bus_gbytes_per_s > 0 ? ", GB/s on the bus: " : "",
                        told_row.bus_gbytes_per_s > 0 ? report_short(told_row.bus_gbytes_per_s).text : "");
        before = row;
    }
}

static void tell_messages(const struct advise_view *view, uint32_t dimension)
{
    const struct topo_dim *dim = &view->result->config->dims.dim[dimension];
    const struct sim_dim_result *carried = &view->result->dims[dimension];
    if (carried->messages == 0) {
        return;
    }
    double bytes = (double)carried->bytes / (double)carried->messages;
    advise_evidence(view->job->document,
                    "dimension %u (%s %u): a mean message of %s takes %s to send and %s on the way", dimension,
                    topo_kind_name(dim->kind), dim->size, report_bytes(bytes).text,
                    report_time(bytes / dim->bytes_per_ns).text, report_time(dim->latency_ns).text);
}

static uint32_t slowest_dimension(const struct advise_view *view, const struct advise_changes *changes, double all)
{
    const struct topo_dims *dims = &view->result->config->dims;
    for (uint32_t d = 0; d < dims->count && dims->count > 1; d++) {
        char family[32];
        (void)snprintf(family, sizeof family, ADVISE_RATE "%u", d);
        bool slower = false;
        for (uint32_t k = 0; k < dims->count; k++) {
            slower = slower || dims->dim[k].bandwidth_gibps >= 2 * dims->dim[d].bandwidth_gibps;
        }
        if (slower && gain_of(view, changes, family) > 0.7 * all) {
            return d;
        }
    }
    return UINT32_MAX;
}

static void find_transfer(const struct advise_view *view, const struct advise_changes *changes)
{
    struct advise_document *document = view->job->document;
    double step = (double)view->result->end_ns;
    double share = view->has_causes ? view->shares.moving : view->shares.comm;
    double rates = gain_of(view, changes, ADVISE_ALL_RATES);
    double latencies = gain_of(view, changes, ADVISE_ALL_LATENCIES);
    double endpoints = gain_of(view, changes, ADVISE_ENDPOINTS);
    if (share < ADVISE_LEAST || view->result->config->backend >= ORR_BACKEND_PACKET ||
        view->result->config->system.replay_only || rates + latencies + endpoints <= 0) {
        return;
    }
    const struct topo_dims *dims = &view->result->config->dims;
    uint32_t slow = slowest_dimension(view, changes, rates);
    if (rates >= latencies && rates >= endpoints && slow != UINT32_MAX) {
        advise_find(document, "slow-link", share,
                    advise_text(document, "The links of dimension %u hold collectives up", slow));
        advise_evidence(document, "dimension %u (%s %u) has %s GB/s a link, dimension %u has %s", slow,
                        topo_kind_name(dims->dim[slow].kind), dims->dim[slow].size,
                        report_short(dims->dim[slow].bytes_per_ns).text, slow == 0 ? 1 : 0,
                        report_short(dims->dim[slow == 0 ? 1 : 0].bytes_per_ns).text);
        advise_number(document, "dimension", slow);
    } else if (rates >= latencies && rates >= endpoints) {
        advise_find(document, "bandwidth-bound", share, "Exposed communication is bound by bandwidth");
    } else if (latencies >= endpoints) {
        advise_find(document, "small-messages", share, "Exposed communication is bound by latency: messages are small");
    } else {
        advise_find(document, "endpoint-bound", share,
                    "Exposed communication is bound by the endpoints: delays, and adding up what arrives");
    }
    advise_evidence(document,
                    "simulated: twice the bandwidth takes %s off the step, half the latency %s, half the time at "
                    "the endpoints %s",
                    report_share(rates, step).text, report_share(latencies, step).text,
                    report_share(endpoints, step).text);
    for (uint32_t d = 0; d < dims->count; d++) {
        tell_messages(view, d);
    }
    if (view->has_causes) {
        tell_kinds(view);
    }
    advise_number(document, "moving_ns", share * step);
    advise_number(document, "twice_bandwidth_gain_ns", rates);
    advise_number(document, "half_latency_gain_ns", latencies);
    advise_number(document, "half_endpoint_gain_ns", endpoints);
}

/* ---- wires ---- */

/* Of a switch: what its hosts can send into it, and what it can send to other switches. */
struct wires_switch {
    double hosts_bps, up_bps;
    double host_busy, up_busy; /* the busiest */
    uint32_t from, to;         /* that one upwards */
};

static void find_oversubscription(const struct advise_view *view, struct wires_switch *switches, uint32_t nodes)
{
    struct advise_document *document = view->job->document;
    uint32_t worst = UINT32_MAX, found = 0;
    for (uint32_t i = 0; i < nodes; i++) {
        const struct wires_switch *one = &switches[i];
        bool over = one->up_bps > 0 && one->hosts_bps > 1.01 * one->up_bps && one->up_busy > 0.5 &&
                    one->up_busy > one->host_busy;
        found += over ? 1 : 0;
        worst = over && (worst == UINT32_MAX || one->up_busy > switches[worst].up_busy) ? i : worst;
    }
    if (worst == UINT32_MAX) {
        return;
    }
    const struct wires_switch *one = &switches[worst];
    advise_find(document, "oversubscribed", view->shares.comm,
                advise_text(document, "%u switch%s less bandwidth upwards than to the hosts", found,
                            found == 1 ? " has" : "es have"));
    advise_evidence(document, "switch %u: hosts can send %s Gbit/s into it, it can send %s Gbit/s on (%.2f : 1)", worst,
                    report_short(one->hosts_bps / 1e9).text, report_short(one->up_bps / 1e9).text,
                    one->hosts_bps / one->up_bps);
    advise_evidence(document, "its busiest link upwards, %u > %u, is busy %s of the step; its busiest host link %s",
                    one->from, one->to, report_share(one->up_busy, 1).text, report_share(one->host_busy, 1).text);
    advise_number(document, "switch", worst);
    advise_number(document, "ratio", one->hosts_bps / one->up_bps);
    advise_number(document, "utilisation", one->up_busy);
}

/* A link that is slower than the others between such nodes, and busier. Where many are as slow it is a level of the
 * machine (NICs beside NVLink), not a link. */
static void find_slow_wire(const struct advise_view *view)
{
    struct orr_link_result row, busiest = {0};
    double rates = 0, busy = 0;
    uint32_t links = 0, as_slow = 0;
    for (uint32_t i = 0; report_link_row(view->result, i, &row); i++) {
        busiest = row.busy_ns > busiest.busy_ns ? row : busiest;
    }
    for (uint32_t i = 0; report_link_row(view->result, i, &row); i++) {
        bool alike = row.from_switch == busiest.from_switch && row.bytes > 0 &&
                     !(row.from == busiest.from && row.to == busiest.to) &&
                     !(row.from == busiest.to && row.to == busiest.from);
        links += alike ? 1 : 0;
        as_slow += alike && row.rate_bps <= busiest.rate_bps ? 1 : 0;
        rates += alike ? (double)row.rate_bps : 0;
        busy += alike ? row.utilisation : 0;
    }
    if (links == 0 || as_slow > links / 8 || (double)busiest.rate_bps > 0.75 * rates / links ||
        busiest.utilisation < 1.2 * busy / links) {
        return;
    }
    struct advise_document *document = view->job->document;
    advise_find(document, "slow-link", view->shares.comm,
                advise_text(document, "Link %u > %u is slower than the others", busiest.from, busiest.to));
    advise_evidence(document, "link %u > %u has %s Gbit/s, the other links that carry traffic like it %s in the mean",
                    busiest.from, busiest.to, report_short((double)busiest.rate_bps / 1e9).text,
                    report_short(rates / links / 1e9).text);
    advise_evidence(document, "it is busy %s of the step, the others %s", report_share(busiest.utilisation, 1).text,
                    report_share(busy / links, 1).text);
    advise_number(document, "from", busiest.from);
    advise_number(document, "to", busiest.to);
    advise_number(document, "rate_bps", (double)busiest.rate_bps);
    advise_number(document, "utilisation", busiest.utilisation);
}

/* Where neither one link nor a level of them stands out. */
static void find_transfer_on_wires(const struct advise_view *view)
{
    struct advise_document *document = view->job->document;
    struct orr_link_result row, busiest = {0};
    struct orr_network_result network;
    double step = (double)view->result->end_ns;
    double share = view->has_causes ? view->shares.moving : view->shares.comm;
    for (uint32_t i = 0; report_link_row(view->result, i, &row); i++) {
        busiest = row.busy_ns > busiest.busy_ns ? row : busiest;
    }
    if (share < ADVISE_LEAST || busiest.busy_ns == 0 || !orr_run_network(view->run, &network)) {
        return;
    }
    bool bandwidth = (double)busiest.busy_ns > 0.5 * share * step;
    advise_find(document, bandwidth ? "bandwidth-bound" : "small-messages", share,
                bandwidth ? "Exposed communication is bound by bandwidth"
                          : "Exposed communication leaves links idle: messages are small or wait for each other");
    advise_evidence(document, "link %u > %u (%s Gbit/s) is busiest, %s of the step", busiest.from, busiest.to,
                    report_short((double)busiest.rate_bps / 1e9).text, report_share(busiest.utilisation, 1).text);
    if (network.messages > 0) {
        advise_evidence(document, "half of %" PRIu64 " messages take more than %s; the slowest %s", network.messages,
                        report_time((double)network.message_time_ns.p50).text,
                        report_time((double)network.message_time_ns.max).text);
    }
    if (view->has_causes) {
        tell_kinds(view);
    }
    advise_number(document, "moving_ns", share * step);
    advise_number(document, "utilisation", busiest.utilisation);
}

static void find_on_wires(const struct advise_view *view)
{
    struct orr_link_result row;
    uint32_t nodes = 0;
    size_t before = view->job->document->shown.finding_count;
    if (view->shares.comm < ADVISE_LEAST) {
        return;
    }
    for (uint32_t i = 0; report_link_row(view->result, i, &row); i++) {
        nodes = row.from >= nodes ? row.from + 1 : nodes;
        nodes = row.to >= nodes ? row.to + 1 : nodes;
    }
    struct wires_switch *switches = arena_zalloc(&view->job->document->arena, ((size_t)nodes + 1) * sizeof *switches);
    bool *is_switch = arena_zalloc(&view->job->document->arena, (size_t)nodes + 1);
    if (switches == NULL || is_switch == NULL) {
        view->job->document->failed = true;
        return;
    }
    for (uint32_t i = 0; report_link_row(view->result, i, &row); i++) {
        is_switch[row.from] = is_switch[row.from] || row.from_switch;
    }
    for (uint32_t i = 0; report_link_row(view->result, i, &row); i++) {
        if (!row.from_switch && is_switch[row.to]) {
            struct wires_switch *one = &switches[row.to];
            one->hosts_bps += (double)row.rate_bps;
            one->host_busy = row.utilisation > one->host_busy ? row.utilisation : one->host_busy;
        } else if (row.from_switch && is_switch[row.to]) {
            struct wires_switch *one = &switches[row.from];
            one->up_bps += (double)row.rate_bps;
            if (row.utilisation > one->up_busy) {
                *one = (struct wires_switch){one->hosts_bps,  one->up_bps, one->host_busy,
                                             row.utilisation, row.from,    row.to};
            }
        }
    }
    find_oversubscription(view, switches, nodes);
    find_slow_wire(view);
    if (view->job->document->shown.finding_count == before) {
        find_transfer_on_wires(view);
    }
}

/* ---- host, memory ---- */

static void find_host(const struct advise_view *view)
{
    struct advise_document *document = view->job->document;
    double host = 0, remote = 0;
    uint64_t launch = view->result->config->tuning.launch_ns;
    for (uint32_t rank = 0; rank < view->result->rank_count; rank++) {
        host += (double)sim_result_rank(view->result, rank)->union_ns[SIM_OP_CPU] / view->result->rank_count;
        remote += (double)sim_result_rank(view->result, rank)->union_ns[SIM_OP_REMOTE_MEM] / view->result->rank_count;
    }
    if (view->shares.other >= ADVISE_LEAST) {
        bool is_host = host >= remote;
        advise_find(document, is_host ? "launch-bound" : "remote-memory", view->shares.other,
                    is_host ? "The device waits for the host" : "The device waits for remote memory");
        advise_evidence(document, "a mean rank has nothing on the device but %s in flight for %s of the step",
                        is_host ? "operators of the CPU" : "accesses to remote memory",
                        report_share(view->shares.other, 1).text);
        advise_number(document, is_host ? "host_ns" : "remote_ns", is_host ? host : remote);
        if (is_host && report_host_is_profiled(view->result)) {
            advise_evidence(document, "%s", REPORT_PROFILED_HOST);
        }
        if (launch > 0) {
            advise_evidence(document, "every communication waits %s to be launched", report_time((double)launch).text);
        }
    }
}

static void find_idle(const struct advise_view *view)
{
    struct advise_document *document = view->job->document;
    struct report_spread idle = report_spread_of(view->result, REPORT_PART_IDLE);
    if (view->shares.idle < ADVISE_LEAST) {
        return;
    }
    double after = 0;
    for (uint32_t rank = 0; rank < view->result->rank_count; rank++) {
        after +=
            (double)(view->result->end_ns - sim_result_rank(view->result, rank)->finish_ns) / view->result->rank_count;
    }
    advise_find(document, "idle", view->shares.idle, "Ranks have nothing in flight");
    advise_evidence(document, "a mean rank is idle %s of the step, rank %u longest: %s",
                    report_share(view->shares.idle, 1).text, idle.max_rank, report_time((double)idle.max_ns).text);
    advise_evidence(document, "%s of it after a rank's last node, while others still work",
                    report_share(after, idle.mean_ns).text);
    advise_number(document, "idle_ns", idle.mean_ns);
    advise_number(document, "after_end_ns", after);
    advise_number(document, "rank", idle.max_rank);
}

static void find_memory(const struct advise_view *view)
{
    struct advise_document *document = view->job->document;
    double weight = 0, arithmetic = 0, intensity = 0;
    for (uint32_t rank = 0; rank < view->result->rank_count; rank++) {
        const struct sim_rank_result *one = sim_result_rank(view->result, rank);
        weight += one->roofline_weight;
        arithmetic += one->compute_bound;
        intensity += one->operation_intensity;
    }
    if (!sim_uses_roofline(view->result->config) || weight <= 2.0 * view->result->rank_count ||
        arithmetic >= weight / 2 || view->shares.compute < ADVISE_LEAST) {
        return;
    }
    double share = view->shares.compute * (1 - arithmetic / weight);
    const struct sim_system *system = &view->result->config->system;
    advise_find(document, "memory-bound", share, "Kernels wait for the device's memory");
    advise_evidence(document, "%s of the compute time is in kernels that memory bounds by the roofline",
                    report_share(weight - arithmetic, weight).text);
    advise_evidence(
        document, "%s operations a byte in the mean; the device needs %s to be bound by arithmetic",
        report_short(intensity / weight).text,
        report_short(system->local_mem_bw_gbps > 0 ? system->peak_perf_tflops * 1e3 / system->local_mem_bw_gbps : 0)
            .text);
    advise_number(document, "operations_per_byte", intensity / weight);
}

static void find_spill(const struct advise_view *view)
{
    struct orr_memory_spill spill;
    if (!orr_run_memory_spill(view->run, &spill) || spill.ranks == 0) {
        return;
    }
    struct advise_document *document = view->job->document;
    advise_find(document, "memory-full", 0,
                advise_text(document, "%u rank%s not fit into the device's memory", spill.ranks,
                            spill.ranks == 1 ? " does" : "s do"));
    advise_evidence(document, "rank %u is over by most; %s of all ranks go elsewhere, from %s on", spill.worst_rank,
                    report_bytes((double)spill.bytes).text, report_time((double)spill.since_ns).text);
    advise_number(document, "rank", spill.worst_rank);
    advise_number(document, "bytes", (double)spill.bytes);
}

void advise_run_findings(const struct advise_view *view, const struct advise_changes *changes)
{
    find_imbalance(view);
    if (view->has_causes) {
        find_late(view);
        find_bubble(view);
    }
    find_transfer(view, changes);
    if (view->result->config->backend >= ORR_BACKEND_PACKET) {
        find_on_wires(view);
    }
    find_host(view);
    find_idle(view);
    find_memory(view);
    find_spill(view);
}
