/* SPDX-License-Identifier: Apache-2.0 */
#include "advise/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "sim/result.h"

const char *const advise_native_names[SIM_NATIVE_COUNT] = {"all-reduce", "reduce-scatter", "all-gather", "all-to-all"};
const char *const advise_native_keys[SIM_NATIVE_COUNT] = {
    "system.all-reduce-implementation", "system.reduce-scatter-implementation", "system.all-gather-implementation",
    "system.all-to-all-implementation"};

unsigned advise_kinds_of(const struct sim_result *result)
{
    static const int32_t types[SIM_NATIVE_COUNT] = {COLL_ALL_REDUCE, COLL_REDUCE_SCATTER, COLL_ALL_GATHER,
                                                    COLL_ALL_TO_ALL};
    unsigned kinds = 0;
    for (uint32_t i = 0; i < result->collective_count; i++) {
        for (uint32_t native = 0; native < SIM_NATIVE_COUNT; native++) {
            const struct sim_implementation *used = &result->config->system.implementation[native];
            bool same = result->collectives[i].type == types[native] && result->collectives[i].group_size > 1;
            kinds |= same && used->custom == NULL && used->count > 0 ? 1U << native : 0;
        }
    }
    return result->config->timing != NULL || result->config->system.replay_only ? 0 : kinds;
}

/* ---- algorithms ---- */

static const char *advise_algorithm_name(const struct coll_impl *impl, char room[32])
{
    static const char *const nccl[] = {"nccl", "ncclRing", "ncclTree", "ncclNvls"};
    static const char *const plain[] = {"ring", "direct", "halvingDoubling", "doubleBinaryTree"};
    static const char *const one[] = {"oneRing", "oneDirect", "oneHalvingDoubling", "doubleBinaryTree"};
    if (impl->algo == COLL_NCCL) {
        return nccl[impl->nccl];
    }
    const char *name = (impl->one ? one : plain)[impl->algo];
    if (impl->window == 0) {
        return name;
    }
    (void)snprintf(room, 32, "%s%u", name, impl->window);
    return room;
}

/* "a" or "[a, b]". */
static const char *advise_list_text(struct advise_document *document, const char *const *words, uint32_t count)
{
    const char *text = "";
    for (uint32_t i = 0; i < count; i++) {
        text = advise_text(document, "%s%s%s", text, i == 0 ? "" : ", ", words[i]);
    }
    return count == 1 ? text : advise_text(document, "[%s]", text);
}

const char *advise_way_text(struct advise_document *document, const struct sim_config *config, enum sim_native native)
{
    const struct sim_implementation *used = &config->system.implementation[native];
    const char *words[TOPO_MAX_DIMS];
    char room[TOPO_MAX_DIMS][32];
    for (uint32_t i = 0; i < used->count; i++) {
        words[i] = advise_algorithm_name(&used->list[i], room[i]);
    }
    return used->count == 0 ? NULL : advise_list_text(document, words, used->count);
}

/* What a dimension can do; the kinds that the engine refuses are left out. */
static uint32_t advise_algorithms_of(const struct topo_dim *dim, enum sim_native native, const char *words[4])
{
    uint32_t count = 0;
    words[count++] = "ring";
    words[count++] = "direct";
    if (native != SIM_ALL_TO_ALL && (dim->size & (dim->size - 1)) == 0) {
        words[count++] = "halvingDoubling";
    }
    if (native == SIM_ALL_REDUCE) {
        words[count++] = "doubleBinaryTree";
    }
    return count;
}

struct advise_listing {
    struct advise_document *document;
    struct advise_ways *ways;
    const char *present;
};

static void advise_way_add(const struct advise_listing *listing, const char *const *words, uint32_t count)
{
    const char *text = advise_list_text(listing->document, words, count);
    if (listing->present == NULL || strcmp(text, listing->present) != 0) {
        listing->ways->texts[listing->ways->count++] = text;
    }
}

static void advise_list_whole(const struct advise_listing *listing, const struct topo_dims *dims,
                              enum sim_native native, uint32_t total)
{
    for (uint32_t number = 0; number < total; number++) {
        const char *chosen[TOPO_MAX_DIMS];
        uint32_t left = number;
        for (uint32_t d = dims->count; d-- > 0;) {
            const char *words[4];
            uint32_t each = advise_algorithms_of(&dims->dim[d], native, words);
            chosen[d] = words[left % each];
            left /= each;
        }
        advise_way_add(listing, chosen, dims->count);
    }
}

/* Where there are too many: one algorithm everywhere, or another in one dimension of the present list. */
static void advise_list_near(const struct advise_listing *listing, const struct sim_config *config,
                             enum sim_native native)
{
    static const char *const everywhere[] = {"ring", "direct"};
    const struct sim_implementation *used = &config->system.implementation[native];
    const struct topo_dims *dims = &config->dims;
    const char *chosen[TOPO_MAX_DIMS];
    char room[TOPO_MAX_DIMS][32];
    for (uint32_t i = 0; i < 2; i++) {
        for (uint32_t d = 0; d < dims->count; d++) {
            chosen[d] = everywhere[i];
        }
        advise_way_add(listing, chosen, dims->count);
    }
    for (uint32_t d = 0; used->count == dims->count && d < dims->count; d++) {
        const char *words[4];
        uint32_t each = advise_algorithms_of(&dims->dim[d], native, words);
        for (uint32_t i = 0; i < each; i++) {
            for (uint32_t k = 0; k < dims->count; k++) {
                chosen[k] = k == d ? words[i] : advise_algorithm_name(&used->list[k], room[k]);
            }
            advise_way_add(listing, chosen, dims->count);
        }
    }
}

struct advise_ways advise_ways_of(struct advise_document *document, const struct sim_config *config,
                                  enum sim_native native, uint32_t most)
{
    static const char *const nccl[] = {"nccl", "ncclRing", "ncclTree"};
    const struct topo_dims *dims = &config->dims;
    uint64_t total = 1;
    for (uint32_t d = 0; d < dims->count; d++) {
        const char *words[4];
        total = total > most ? total : total * advise_algorithms_of(&dims->dim[d], native, words);
    }
    struct advise_ways ways = {.whole = total <= most};
    size_t room = (ways.whole ? (size_t)total : 2 + 4 * (size_t)dims->count) + 3;
    ways.texts = arena_alloc(&document->arena, room * sizeof *ways.texts);
    if (ways.texts == NULL) {
        document->failed = true;
        return ways;
    }
    struct advise_listing listing = {document, &ways, advise_way_text(document, config, native)};
    if (ways.whole) {
        advise_list_whole(&listing, dims, native, (uint32_t)total);
    } else {
        advise_list_near(&listing, config, native);
    }
    /* NCCL's channels send at once: without contention each would have the link to itself. */
    for (uint32_t i = 0; config->backend != ORR_BACKEND_UNAWARE && i < (native == SIM_ALL_REDUCE ? 3 : 2); i++) {
        advise_way_add(&listing, &nccl[i], 1);
    }
    return ways;
}

/* ---- the order of dimensions ---- */

static bool advise_has_involved(const struct sim_config *config)
{
    for (uint32_t i = 0; i < config->traces->graph_count; i++) {
        const struct trace_graph *graph = config->traces->graphs[i];
        for (uint32_t k = 0; k < graph->other_count; k++) {
            if ((graph->nodes[graph->others[k]].has & TRACE_HAS_INVOLVED_DIM) != 0) {
                return true;
            }
        }
    }
    return false;
}

/* The next arrangement in the order of dictionaries; false after the last. */
static bool advise_next_order(uint8_t *order, uint32_t count)
{
    uint32_t i = count - 1;
    while (i > 0 && order[i - 1] >= order[i]) {
        i--;
    }
    if (i == 0) {
        return false;
    }
    uint32_t k = count - 1;
    while (order[k] <= order[i - 1]) {
        k--;
    }
    uint8_t kept = order[i - 1];
    order[i - 1] = order[k];
    order[k] = kept;
    for (uint32_t a = i, b = count - 1; a < b; a++, b--) {
        kept = order[a];
        order[a] = order[b];
        order[b] = kept;
    }
    return true;
}

uint32_t advise_orders_of(const struct sim_config *config, uint8_t orders[ADVISE_ORDERS][TOPO_MAX_DIMS])
{
    uint8_t order[TOPO_MAX_DIMS] = {0};
    uint32_t count = config->dims.count, made = 0;
    bool more = true;
    for (uint32_t d = 0; d < count; d++) {
        order[d] = (uint8_t)d;
    }
    /* Nodes that name dimensions mean those of the file; wires have no order. */
    bool fixed = count < 2 || count > 4 || config->backend >= ORR_BACKEND_PACKET || advise_has_involved(config);
    while (more && made < ADVISE_ORDERS) {
        memcpy(orders[made++], order, sizeof order);
        more = !fixed && advise_next_order(order, count);
    }
    return made;
}

const char *advise_order_text(struct advise_document *document, const struct sim_config *config, const uint8_t *order)
{
    const char *text = "";
    for (uint32_t d = 0; d < config->dims.count; d++) {
        text = advise_text(document, "%s%s%u", text, d == 0 ? "" : ", ", order[d]);
    }
    return text;
}

/* Short where that is exact; the text is what is simulated, so that nothing is lost either way. */
static const char *advise_number_text(struct advise_document *document, double value, const char *unit)
{
    char text[40];
    for (int digits = 6; digits <= 17; digits++) {
        (void)plain_snprintf(text, sizeof text, "%.*g", digits, value);
        if (plain_strtod(text, NULL) == value) {
            break;
        }
    }
    return advise_text(document, "%s%s", text, unit);
}

/* GiB/s as network files have them, or Gbps where those are whole. */
static const char *advise_rate_text(struct advise_document *document, double gibps)
{
    double gbps = gibps * 1073741824.0 * 8 / 1e9;
    bool gibps_short = gibps * 64 == floor(gibps * 64);
    return !gibps_short && fabs(gbps - round(gbps)) < 1e-9 * gbps ? advise_number_text(document, round(gbps), "Gbps")
                                                                  : advise_number_text(document, gibps, "");
}

const char *advise_rates_text(struct advise_document *document, const struct topo_dims *dims, uint32_t dim,
                              double factor)
{
    const char *words[TOPO_MAX_DIMS];
    for (uint32_t d = 0; d < dims->count; d++) {
        bool changed = dim == d || dim == UINT32_MAX;
        words[d] = advise_rate_text(document, dims->dim[d].bandwidth_gibps * (changed ? factor : 1));
    }
    return advise_list_text(document, words, dims->count);
}

const char *advise_latencies_text(struct advise_document *document, const struct topo_dims *dims, uint32_t dim,
                                  double factor)
{
    const char *words[TOPO_MAX_DIMS];
    for (uint32_t d = 0; d < dims->count; d++) {
        bool changed = dim == d || dim == UINT32_MAX;
        words[d] = advise_number_text(document, dims->dim[d].latency_ns * (changed ? factor : 1), "");
    }
    return advise_list_text(document, words, dims->count);
}

void advise_set_order(struct advise_document *document, const struct sim_config *config, const uint8_t *order,
                      struct advise_change *change)
{
    const char *kinds[TOPO_MAX_DIMS], *sizes[TOPO_MAX_DIMS];
    struct topo_dims turned = config->dims;
    for (uint32_t d = 0; d < turned.count; d++) {
        turned.dim[d] = config->dims.dim[order[d]];
        kinds[d] = topo_kind_name(turned.dim[d].kind);
        sizes[d] = advise_text(document, "%u", turned.dim[d].size);
    }
    advise_set(change, "network.topology", advise_list_text(document, kinds, turned.count));
    advise_set(change, "network.npus_count", advise_list_text(document, sizes, turned.count));
    advise_set(change, "network.bandwidth", advise_rates_text(document, &turned, UINT32_MAX, 1));
    advise_set(change, "network.latency", advise_latencies_text(document, &turned, UINT32_MAX, 1));
    for (uint32_t native = 0; native < SIM_NATIVE_COUNT; native++) {
        const struct sim_implementation *used = &config->system.implementation[native];
        const char *words[TOPO_MAX_DIMS];
        char room[TOPO_MAX_DIMS][32];
        for (uint32_t d = 0; used->count == turned.count && d < turned.count; d++) {
            words[d] = advise_algorithm_name(&used->list[order[d]], room[d]);
        }
        if (used->count == turned.count) {
            advise_set(change, advise_native_keys[native], advise_list_text(document, words, turned.count));
        }
    }
}
