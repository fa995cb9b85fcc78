/* SPDX-License-Identifier: Apache-2.0 */
/* What is tried is chosen by where the time goes: a job whose communication is hidden has no use for another algorithm,
 * and one whose ranks are alike none for a faster rank. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advise/machine.h"
#include "advise/run.h"
#include "report/number.h"
#include "sim/result.h"

enum { WAYS_MOST = 16 };

#define WORTH 0.01 /* of the step: parts below it are left alone */

/* ---- collectives ---- */

static void change_algorithms(struct advise_document *document, const struct sim_result *result,
                              struct advise_changes *changes)
{
    unsigned kinds = advise_kinds_of(result);
    for (uint32_t native = 0; native < SIM_NATIVE_COUNT; native++) {
        if ((kinds & 1U << native) == 0) {
            continue;
        }
        struct advise_ways ways = advise_ways_of(document, result->config, (enum sim_native)native, WAYS_MOST);
        const char *family = advise_text(document, "algorithm of %s", advise_native_names[native]);
        for (uint32_t i = 0; i < ways.count; i++) {
            const char *text = advise_words_text(document, ways.list[i].words, ways.list[i].count);
            struct advise_change *change =
                advise_change(document, changes, family, "setting",
                              advise_text(document, "Carry out %s by %s", advise_native_names[native], text));
            advise_set(change, advise_native_keys[native], text);
            change->contends = true;
        }
    }
}

static void change_chunks(struct advise_document *document, const struct sim_config *config,
                          struct advise_changes *changes)
{
    static const uint32_t splits[] = {1, 2, 4, 8, 16, 32, 64};
    static const uint32_t active[] = {1, 2, 4};
    uint32_t now = config->system.preferred_dataset_splits, at_once = config->system.active_chunks_per_dimension;
    for (size_t i = 0; i < sizeof splits / sizeof splits[0]; i++) {
        for (size_t k = 0; k < sizeof active / sizeof active[0]; k++) {
            if ((splits[i] == now && active[k] == at_once) || active[k] > splits[i]) {
                continue;
            }
            struct advise_change *change =
                advise_change(document, changes, "chunks", "setting",
                              advise_text(document, "Cut collectives into %u chunk%s, %u in flight in a dimension",
                                          splits[i], splits[i] == 1 ? "" : "s", active[k]));
            change->contends = true;
            advise_set(change, "system.preferred-dataset-splits", advise_text(document, "%u", splits[i]));
            advise_set(change, "system.active-chunks-per-dimension", advise_text(document, "%u", active[k]));
        }
    }
}

static void change_order(struct advise_document *document, const struct sim_config *config,
                         struct advise_changes *changes)
{
    uint8_t orders[ADVISE_ORDERS][TOPO_MAX_DIMS];
    uint32_t count = advise_orders_of(config, orders);
    for (uint32_t i = 1; i < count; i++) {
        struct advise_change *change =
            advise_change(document, changes, "order of dimensions", "setting",
                          advise_text(document, "Order the dimensions %s (neighbouring ranks along dimension %u)",
                                      advise_order_text(document, config, orders[i]), orders[i][0]));
        change->contends = true;
        advise_set_order(document, config, orders[i], NULL, change);
    }
}

static void change_optimization(struct advise_document *document, const struct sim_result *result,
                                struct advise_changes *changes)
{
    bool aware = result->config->system.optimization == SIM_LOCAL_BW_AWARE;
    if (result->config->dims.count < 2 || (advise_kinds_of(result) & 1U << SIM_ALL_REDUCE) == 0) {
        return;
    }
    struct advise_change *change =
        advise_change(document, changes, "all-reduce over dimensions", "setting",
                      aware ? "All-reduce dimension by dimension"
                            : "All-reduce as reduce-scatter inwards and all-gather outwards over the dimensions");
    change->contends = true;
    advise_set(change, "system.collective-optimization", aware ? "baseline" : "localBWAware");
}

/* ---- links ---- */

/* Before a message leaves, after it arrived, and adding it up, which goes by the rank's own memory; where kernels go by
 * that too, it is not touched here. */
static void change_endpoints(struct advise_document *document, const struct sim_config *config,
                             struct advise_changes *changes)
{
    const struct sim_system *system = &config->system;
    bool adds = system->local_mem_bw_gbps > 0 && !sim_uses_roofline(config);
    if (system->endpoint_delay_ns < 2 && !adds) {
        return;
    }
    struct advise_change *change =
        advise_change(document, changes, ADVISE_ENDPOINTS, "machine",
                      adds ? "Half the time at the endpoints (delay, and the memory that reductions go through)"
                           : "Half the delay at the endpoints");
    if (system->endpoint_delay_ns > 1) {
        advise_set(change, "system.endpoint-delay",
                   advise_text(document, "%llu", (unsigned long long)system->endpoint_delay_ns / 2));
    }
    if (adds) {
        advise_set(change, "system.local-mem-bw", advise_text(document, "%.17g", 2 * system->local_mem_bw_gbps));
    }
}

static void change_links(struct advise_document *document, const struct sim_config *config,
                         struct advise_changes *changes)
{
    const struct topo_dims *dims = &config->dims;
    for (uint32_t d = 0; d < dims->count; d++) {
        const char *of = dims->count == 1 ? "all links" : advise_text(document, "the links of dimension %u", d);
        struct advise_change *change = advise_change(
            document, changes, dims->count == 1 ? ADVISE_ALL_RATES : advise_text(document, ADVISE_RATE "%u", d),
            "machine", advise_text(document, "Twice the bandwidth on %s", of));
        advise_set(change, "network.bandwidth", advise_rates_text(document, dims, d, 2));
        change = advise_change(document, changes,
                               dims->count == 1 ? ADVISE_ALL_LATENCIES : advise_text(document, "latency %u", d),
                               "machine", advise_text(document, "Half the latency on %s", of));
        advise_set(change, "network.latency", advise_latencies_text(document, dims, d, 0.5));
    }
    if (dims->count > 1) {
        struct advise_change *change =
            advise_change(document, changes, ADVISE_ALL_RATES, "machine", "Twice the bandwidth on all links");
        advise_set(change, "network.bandwidth", advise_rates_text(document, dims, UINT32_MAX, 2));
        change = advise_change(document, changes, ADVISE_ALL_LATENCIES, "machine", "Half the latency on all links");
        advise_set(change, "network.latency", advise_latencies_text(document, dims, UINT32_MAX, 0.5));
    }
    change_endpoints(document, config, changes);
}

/* Wires are not keys of a file; only a machine's line tells their rates. */
static void change_wires(struct advise_document *document, const struct orr_run_options *options,
                         struct advise_changes *changes)
{
    const char *line = advise_twice(document, options->machine);
    const char *rate = advise_twice(document, options->bandwidth);
    if (line != NULL || rate != NULL) {
        struct advise_change *change = advise_change(document, changes, ADVISE_ALL_RATES, "machine",
                                                     "Twice the rates that the machine's description names");
        advise_option(change, line != NULL ? "machine" : "bandwidth", line != NULL ? line : rate);
    }
}

/* ---- ranks, host, memory ---- */

static void change_ranks(const struct advise_view *view, struct advise_changes *changes)
{
    const struct advise_balance *balance = &view->balance;
    const struct orr_run_options *options = &view->job->options;
    struct advise_document *document = view->job->document;
    const char *list = "";
    if (balance->ahead_total == 0 || balance->ahead_total > balance->ahead_count || options->devices != NULL ||
        options->replay) {
        return;
    }
    for (uint32_t i = 0; i < balance->ahead_count; i++) {
        const struct sim_rank_result *rank = sim_result_rank(view->result, balance->ahead[i]);
        double own = (double)(rank->compute_ns + rank->exposed_other_ns) - balance->median_ns;
        double factor = rank->compute_ns == 0 ? 1 : 1 - own / (double)rank->compute_ns;
        if (factor > 0.01 && factor < 1) {
            list = advise_text(document, "%s%s%u=x%.4f", list, list[0] == '\0' ? "" : ",", balance->ahead[i], factor);
        }
    }
    if (list[0] != '\0') {
        struct advise_change *change = advise_change(
            document, changes, "ranks", "machine",
            balance->ahead_count == 1 ? advise_text(document, "Rank %u as fast as the median rank", balance->ahead[0])
                                      : "The slow ranks as fast as the median rank");
        advise_option(change, "devices", list);
    }
}

static void change_host(const struct advise_view *view, struct advise_changes *changes)
{
    struct advise_document *document = view->job->document;
    const struct orr_tuning *tuning = &view->result->config->tuning;
    const struct sim_system *system = &view->result->config->system;
    if (view->shares.other > WORTH && !view->job->options.replay) {
        double factor = (tuning->host_scale > 0 ? tuning->host_scale : 1) / 2;
        struct advise_change *change =
            advise_change(document, changes, "host", "job",
                          "Half the time of the host (captured graphs, fewer and larger kernels, a faster CPU)");
        advise_option(change, "host-factor", advise_text(document, "%.17g", factor));
    }
    if (tuning->launch_ns > 1 && view->shares.comm > WORTH) {
        struct advise_change *change =
            advise_change(document, changes, "launch", "job", "Half the time to launch a communication");
        advise_option(change, "launch-overhead",
                      advise_text(document, "%lluns", (unsigned long long)tuning->launch_ns / 2));
    }
    if (sim_uses_roofline(view->result->config) && view->shares.compute > WORTH && system->local_mem_bw_gbps > 0) {
        struct advise_change *change =
            advise_change(document, changes, "memory", "machine", "Twice the bandwidth of the device's memory");
        advise_set(change, "system.local-mem-bw", advise_text(document, "%.17g", 2 * system->local_mem_bw_gbps));
    }
}

void advise_run_changes(const struct advise_view *view, struct advise_changes *changes)
{
    struct advise_document *document = view->job->document;
    const struct sim_config *config = view->result->config;
    bool exposed = view->shares.comm > WORTH && !config->system.replay_only;
    change_ranks(view, changes);
    change_host(view, changes);
    if (exposed && config->backend < ORR_BACKEND_PACKET) {
        change_links(document, config, changes);
    } else if (exposed) {
        change_wires(document, &view->job->options, changes);
    }
    if (exposed && advise_kinds_of(view->result) != 0) {
        change_algorithms(document, view->result, changes);
        change_chunks(document, config, changes);
        change_optimization(document, view->result, changes);
        change_order(document, config, changes);
    }
}
