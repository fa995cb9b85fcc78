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

static const char *advise_algorithm_name(struct advise_document *document, const struct coll_impl *impl)
{
    static const char *const nccl[] = {"nccl", "ncclRing", "ncclTree", "ncclNvls", "ncclCollnet"};
    static const char *const plain[] = {"ring", "direct", "halvingDoubling", "doubleBinaryTree"};
    static const char *const one[] = {"oneRing", "oneDirect", "oneHalvingDoubling", "doubleBinaryTree"};
    if (impl->algo == COLL_NCCL) {
        return nccl[impl->nccl];
    }
    const char *name = (impl->one ? one : plain)[impl->algo];
    return impl->window == 0 ? name : advise_text(document, "%s%u", name, impl->window);
}

const char *advise_words_text(struct advise_document *document, const char *const *words, uint32_t count)
{
    const char *text = "";
    for (uint32_t i = 0; i < count; i++) {
        text = advise_text(document, "%s%s%s", text, i == 0 ? "" : ", ", words[i]);
    }
    return count == 1 ? text : advise_text(document, "[%s]", text);
}

struct advise_way advise_way_now(struct advise_document *document, const struct sim_config *config,
                                 enum sim_native native)
{
    const struct sim_implementation *used = &config->system.implementation[native];
    struct advise_way way = {.count = used->count};
    for (uint32_t i = 0; i < used->count; i++) {
        way.words[i] = advise_algorithm_name(document, &used->list[i]);
    }
    return way;
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
    struct advise_ways *ways;
    struct advise_way now;
};

static bool advise_way_same(const struct advise_way *a, const struct advise_way *b)
{
    bool same = a->count == b->count;
    for (uint32_t i = 0; same && i < a->count; i++) {
        same = strcmp(a->words[i], b->words[i]) == 0;
    }
    return same;
}

static void advise_way_add(const struct advise_listing *listing, const struct advise_way *way)
{
    bool met = advise_way_same(way, &listing->now);
    for (uint32_t i = 0; i < listing->ways->count && !met; i++) {
        met = advise_way_same(way, &listing->ways->list[i]);
    }
    if (!met) {
        listing->ways->list[listing->ways->count++] = *way;
    }
}

static void advise_list_whole(const struct advise_listing *listing, const struct topo_dims *dims,
                              enum sim_native native, uint32_t total)
{
    for (uint32_t number = 0; number < total; number++) {
        struct advise_way chosen = {.count = dims->count};
        uint32_t left = number;
        for (uint32_t d = dims->count; d-- > 0;) {
            const char *words[4];
            uint32_t each = advise_algorithms_of(&dims->dim[d], native, words);
            chosen.words[d] = words[left % each];
            left /= each;
        }
        advise_way_add(listing, &chosen);
    }
}

/* Where there are too many: one algorithm everywhere, or another in one dimension of the present list. */
static void advise_list_near(const struct advise_listing *listing, const struct topo_dims *dims, enum sim_native native)
{
    static const char *const everywhere[] = {"ring", "direct"};
    for (uint32_t i = 0; i < 2; i++) {
        struct advise_way chosen = {.count = dims->count};
        for (uint32_t d = 0; d < dims->count; d++) {
            chosen.words[d] = everywhere[i];
        }
        advise_way_add(listing, &chosen);
    }
    for (uint32_t d = 0; listing->now.count == dims->count && d < dims->count; d++) {
        const char *words[4];
        uint32_t each = advise_algorithms_of(&dims->dim[d], native, words);
        for (uint32_t i = 0; i < each; i++) {
            struct advise_way chosen = listing->now;
            chosen.words[d] = words[i];
            advise_way_add(listing, &chosen);
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
    struct advise_ways ways = {0};
    size_t room = (total <= most ? (size_t)total : 2 + 4 * (size_t)dims->count) + 3;
    ways.list = arena_alloc(&document->arena, room * sizeof *ways.list);
    if (ways.list == NULL) {
        document->failed = true;
        return ways;
    }
    struct advise_listing listing = {&ways, advise_way_now(document, config, native)};
    if (total <= most) {
        advise_list_whole(&listing, dims, native, (uint32_t)total);
    } else {
        advise_list_near(&listing, dims, native);
    }
    /* NCCL's channels send at once: without contention each would have the link to itself. */
    for (uint32_t i = 0; config->backend != ORR_BACKEND_UNAWARE && i < (native == SIM_ALL_REDUCE ? 3 : 2); i++) {
        advise_way_add(&listing, &(struct advise_way){.words = {nccl[i]}, .count = 1});
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
    return advise_words_text(document, words, dims->count);
}

const char *advise_latencies_text(struct advise_document *document, const struct topo_dims *dims, uint32_t dim,
                                  double factor)
{
    const char *words[TOPO_MAX_DIMS];
    for (uint32_t d = 0; d < dims->count; d++) {
        bool changed = dim == d || dim == UINT32_MAX;
        words[d] = advise_number_text(document, dims->dim[d].latency_ns * (changed ? factor : 1), "");
    }
    return advise_words_text(document, words, dims->count);
}

void advise_set_order(struct advise_document *document, const struct sim_config *config, const uint8_t *order,
                      const struct advise_way *const ways[SIM_NATIVE_COUNT], struct advise_change *change)
{
    const char *kinds[TOPO_MAX_DIMS], *sizes[TOPO_MAX_DIMS];
    struct topo_dims turned = config->dims;
    for (uint32_t d = 0; d < turned.count; d++) {
        turned.dim[d] = config->dims.dim[order[d]];
        kinds[d] = topo_kind_name(turned.dim[d].kind);
        sizes[d] = advise_text(document, "%u", turned.dim[d].size);
    }
    advise_set(change, "network.topology", advise_words_text(document, kinds, turned.count));
    advise_set(change, "network.npus_count", advise_words_text(document, sizes, turned.count));
    advise_set(change, "network.bandwidth", advise_rates_text(document, &turned, UINT32_MAX, 1));
    advise_set(change, "network.latency", advise_latencies_text(document, &turned, UINT32_MAX, 1));
    for (uint32_t native = 0; native < SIM_NATIVE_COUNT; native++) {
        struct advise_way now = advise_way_now(document, config, (enum sim_native)native);
        const struct advise_way *way = ways != NULL && ways[native] != NULL ? ways[native] : &now;
        struct advise_way turned_way = *way;
        for (uint32_t d = 0; way->count == turned.count && d < turned.count; d++) {
            turned_way.words[d] = way->words[order[d]];
        }
        if (way->count == turned.count || way != &now) {
            advise_set(change, advise_native_keys[native],
                       advise_words_text(document, turned_way.words, turned_way.count));
        }
    }
}
