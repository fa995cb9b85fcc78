/* SPDX-License-Identifier: Apache-2.0 */
/* What a collective costs before any network is known: messages one after another, bytes by kind of link and by rank.
 * Below it the channels, a server a bracket or a line; a person sees eight of them at most. */
#include <inttypes.h>
#include <string.h>

#include "report/coll.h"
#include "report/number.h"

enum { CHANNELS_SHOWN = 8, RANKS_SHOWN = 16, SERVERS_SHOWN = 16, DEPTH_SHOWN = 32 };

struct costs {
    uint64_t nvlink, network;
    uint32_t nvlink_flows, network_flows;
    uint32_t steps, channels;
    uint64_t *sent, *received, *network_sent; /* by rank */
};

static bool crosses(const struct nccl_job *job, const struct nccl_flow *flow)
{
    uint32_t of_network = nccl_first_tree_switch(job);
    return flow->src >= of_network || flow->dst >= of_network ||
           (flow->src < job->gpus && flow->dst < job->gpus &&
            flow->src / job->gpus_per_server != flow->dst / job->gpus_per_server);
}

static void add_flow(const struct nccl_job *job, const struct nccl_flow *flow, struct costs *costs)
{
    bool across = crosses(job, flow);
    *(across ? &costs->network : &costs->nvlink) += flow->bytes;
    *(across ? &costs->network_flows : &costs->nvlink_flows) += 1;
    if (flow->src < job->gpus) {
        costs->sent[flow->src] += flow->bytes;
        costs->network_sent[flow->src] += across ? flow->bytes : 0;
    }
    if (flow->dst < job->gpus) {
        costs->received[flow->dst] += flow->bytes;
    }
    costs->channels = flow->channel + 1 > costs->channels ? flow->channel + 1 : costs->channels;
}

static enum orr_status report_coll_text_sum_up(const struct report_coll *coll, struct arena *arena, struct costs *costs,
                                               struct orr_error *err)
{
    size_t ranks = coll->job->gpus;
    const struct nccl_flows *flows = coll->flows;
    uint64_t *by_rank = arena_zalloc(arena, 3 * ranks * sizeof *by_rank);
    uint32_t *depth = arena_alloc(arena, (size_t)flows->count * sizeof *depth);
    if (by_rank == NULL || depth == NULL) {
        return mem_error(arena->mem, "the costs of a collective", err);
    }
    *costs = (struct costs){.sent = by_rank, .received = by_rank + ranks, .network_sent = by_rank + 2 * ranks};
    for (uint32_t i = 0; i < flows->count; i++) {
        const struct nccl_flow *flow = &flows->flows[i];
        add_flow(coll->job, flow, costs);
        depth[i] = 1;
        for (uint32_t k = 0; k < flow->parent_count; k++) { /* a parent's id is always the lower one */
            uint32_t after = depth[flows->links[flow->parents + k]] + 1;
            depth[i] = after > depth[i] ? after : depth[i];
        }
        costs->steps = depth[i] > costs->steps ? depth[i] : costs->steps;
    }
    return ORR_OK;
}

static void report_coll_text_put_row(const char *name, const char *text, FILE *stream)
{
    (void)fprintf(stream, "%-15s %s\n", name, text);
}

static void put_count(const char *name, uint64_t value, FILE *stream)
{
    report_coll_text_put_row(name, report_count(value).text, stream);
}

static void put_link_class(const char *name, uint64_t bytes, uint32_t flows, FILE *stream)
{
    char text[96];
    (void)snprintf(text, sizeof text, "%s in %s flows", report_bytes((double)bytes).text, report_count(flows).text);
    report_coll_text_put_row(name, text, stream);
}

/* Least and most over the ranks that take part, and who has most. */
static void put_spread(const struct report_coll *coll, const char *name, const uint64_t *by_rank, FILE *stream)
{
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    uint32_t busiest = 0;
    uint32_t count = coll->group != NULL ? coll->group->rank_count : coll->job->gpus;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rank = coll->group != NULL ? coll->group->ranks[i] : i;
        least = by_rank[rank] < least ? by_rank[rank] : least;
        if (by_rank[rank] > most) {
            most = by_rank[rank];
            busiest = rank;
        }
    }
    char text[160];
    if (least == most) {
        (void)snprintf(text, sizeof text, "%s each", report_bytes((double)most).text);
    } else {
        (void)snprintf(text, sizeof text, "%s to %s (most: rank %" PRIu32 ")", report_bytes((double)least).text,
                       report_bytes((double)most).text, busiest);
    }
    report_coll_text_put_row(name, text, stream);
}

static const char *algo_name(const struct nccl_choice *choice)
{
    switch (choice->algo) {
    case NCCL_TREE:
        return "tree";
    case NCCL_NVLS:
        return "nvls";
    case NCCL_NVLS_TREE:
        return "nvls-tree";
    case NCCL_COLLNET:
        return "collnet";
    case NCCL_RING:
    default:
        return "ring";
    }
}

static void report_coll_text_put_head(const struct report_coll *coll, FILE *stream)
{
    if (coll->group == NULL) {
        (void)fprintf(stream, "%s over %" PRIu32 " ranks\n\n", coll->type, coll->job->gpus);
        return;
    }
    (void)fprintf(stream, "%s of %s over %" PRIu32 " ranks on %" PRIu32 " server%s\n\n", coll->type,
                  report_bytes((double)coll->bytes).text, coll->group->rank_count, coll->group->node_count,
                  coll->group->node_count == 1 ? "" : "s");
}

static void put_costs(const struct report_coll *coll, const struct costs *costs, FILE *stream)
{
    const struct nccl_choice *choice = &coll->flows->choice;
    char text[64];
    (void)snprintf(text, sizeof text, "%s%s", algo_name(choice), choice->pxn ? ", PXN" : "");
    report_coll_text_put_row("algorithm", text, stream);
    report_coll_text_put_row("protocol", choice->protocol == NCCL_PROTOCOL_NONE ? "none" : "Simple", stream);
    put_count("channels", costs->channels, stream);
    put_count("steps", costs->steps, stream);
    put_count("flows", coll->flows->count, stream);
    report_coll_text_put_row("bytes moved", report_bytes((double)coll->flows->total_bytes).text, stream);
    put_link_class("  NVLink", costs->nvlink, costs->nvlink_flows, stream);
    put_link_class("  network", costs->network, costs->network_flows, stream);
    put_spread(coll, "rank sends", costs->sent, stream);
    put_spread(coll, "  to network", costs->network_sent, stream);
    put_spread(coll, "rank receives", costs->received, stream);
}

/* ---- the drawing ---------------------------------------------------------------------------------------------- */

static const struct nccl_ring_place *ring_place(const struct report_coll *coll, uint32_t channel, uint32_t rank)
{
    const struct nccl_channels *channels = coll->channels;
    const struct nccl_ring_place *ring = channels->rings + (size_t)channel * channels->ring_size;
    for (uint32_t i = 0; i < channels->ring_size; i++) {
        if (ring[i].rank == rank) {
            return &ring[i];
        }
    }
    return &ring[0];
}

static void report_coll_text_draw_ring(const struct report_coll *coll, uint32_t channel, FILE *stream)
{
    uint32_t size = coll->channels->ring_size;
    const struct nccl_ring_place *place = ring_place(coll, channel, coll->channels->rings->rank);
    place = ring_place(coll, channel, place->node_recv);
    (void)fprintf(stream, "  ring %-4" PRIu32 "", channel);
    uint32_t shown = size < RANKS_SHOWN * 2 ? size : RANKS_SHOWN;
    for (uint32_t i = 0; i < shown; i++) {
        bool opens = place->node_recv == place->rank;
        bool closes = place->node_send == place->rank;
        (void)fprintf(stream, "%s%" PRIu32 "%s", opens ? (i == 0 ? "[" : " > [") : " ", place->rank, closes ? "]" : "");
        place = ring_place(coll, channel, place->next);
    }
    if (shown < size) {
        (void)fprintf(stream, " ... (%" PRIu32 " more)", size - shown);
    }
    (void)fputs(" > back\n", stream);
}

static const struct nccl_tree_place *tree_place(const struct report_coll *coll, uint32_t channel, uint32_t rank)
{
    const struct nccl_channels *channels = coll->channels;
    const struct nccl_tree_place *tree = channels->trees + (size_t)channel * channels->rank_count;
    for (uint32_t i = 0; i < channels->rank_count; i++) {
        if (tree[i].rank == rank) {
            return &tree[i];
        }
    }
    return &tree[0];
}

/* One server's chain on a line; then the servers below it, further in. Kept on a stack of its own. */
struct branch {
    uint32_t rank, depth;
};

static uint32_t draw_chain(const struct report_coll *coll, uint32_t channel, struct branch at, struct branch *stack,
                           uint32_t waiting, FILE *stream)
{
    const struct nccl_tree_place *place = tree_place(coll, channel, at.rank);
    uint32_t server = at.rank / coll->job->gpus_per_server;
    (void)fprintf(stream, "%*s%" PRIu32, (int)(12 + 2 * at.depth), "", at.rank);
    uint32_t below[3];
    uint32_t below_count = 0;
    for (uint32_t shown = 1;; shown++) {
        const struct nccl_tree_place *next = NULL;
        for (uint32_t k = 0; k < place->down_count; k++) {
            if (next == NULL && place->down[k] / coll->job->gpus_per_server == server) {
                next = tree_place(coll, channel, place->down[k]);
            } else if (below_count < 3) {
                below[below_count++] = place->down[k];
            }
        }
        if (next == NULL) {
            break;
        }
        if (coll->flows->choice.algo == NCCL_NVLS_TREE) {
            /* below the head there is the switch, not a chain */
        } else if (shown < RANKS_SHOWN) {
            (void)fprintf(stream, " > %" PRIu32, next->rank);
        } else if (shown == RANKS_SHOWN) {
            (void)fputs(" > ...", stream);
        }
        place = next;
    }
    (void)fputc('\n', stream);
    for (uint32_t k = below_count; k > 0; k--) {
        if (waiting < DEPTH_SHOWN * 2) {
            stack[waiting++] = (struct branch){below[k - 1], at.depth + 1};
        }
    }
    return waiting;
}

static void report_coll_text_draw_tree(const struct report_coll *coll, uint32_t channel, FILE *stream)
{
    const struct nccl_tree_place *tree = coll->channels->trees + (size_t)channel * coll->channels->rank_count;
    uint32_t root = 0;
    while (root + 1 < coll->channels->rank_count && tree[root].up >= 0) {
        root++;
    }
    struct branch stack[DEPTH_SHOWN * 2 + 4] = {{tree[root].rank, 0}};
    (void)fprintf(stream, "  tree %" PRIu32 "\n", channel);
    uint32_t waiting = 1;
    uint32_t lines = 0;
    while (waiting > 0 && lines < SERVERS_SHOWN) {
        struct branch at = stack[--waiting];
        waiting = draw_chain(coll, channel, at, stack, waiting, stream);
        lines++;
    }
    if (waiting > 0) {
        (void)fprintf(stream, "            ... and the rest of %" PRIu32 " servers\n", coll->group->node_count);
    }
}

static void draw_switches(const struct report_coll *coll, FILE *stream)
{
    const struct nccl_group *group = coll->group;
    uint32_t per_server = group->switch_count / group->node_count;
    uint32_t at = 0;
    for (uint32_t s = 0; s < group->node_count && s < SERVERS_SHOWN; s++) {
        uint32_t server = group->ranks[at] / coll->job->gpus_per_server;
        (void)fprintf(stream, "  server %-4" PRIu32 "switch %" PRIu32 " <>", server,
                      group->switches[(size_t)s * per_server]);
        for (; at < group->rank_count && group->ranks[at] / coll->job->gpus_per_server == server; at++) {
            (void)fprintf(stream, " %" PRIu32, group->ranks[at]);
        }
        (void)fputc('\n', stream);
    }
}

/* The heads that hang on the channel's switch of the network, as its first chunk has them. */
static void draw_network_switch(const struct report_coll *coll, uint32_t channel, FILE *stream)
{
    const struct nccl_flows *flows = coll->flows;
    uint32_t heads = 0;
    (void)fprintf(stream, "  channel %-3" PRIu32 "network switch", channel);
    for (uint32_t i = 0; i < flows->count; i++) {
        const struct nccl_flow *flow = &flows->flows[i];
        if (flow->channel != channel || flow->chunk != 0 || flow->dst < nccl_first_tree_switch(coll->job)) {
            continue;
        }
        if (heads == 0) {
            (void)fprintf(stream, " %" PRIu32 " <>", flow->dst);
        }
        if (heads++ < RANKS_SHOWN) {
            (void)fprintf(stream, " %" PRIu32, flow->src);
        }
    }
    if (heads > RANKS_SHOWN) {
        (void)fprintf(stream, " ... (%" PRIu32 " more)", heads - RANKS_SHOWN);
    }
    (void)fputc('\n', stream);
}

static void draw_channels(const struct report_coll *coll, bool trees, FILE *stream)
{
    uint32_t count = trees ? coll->channels->tree_count : coll->channels->ring_count;
    if (coll->flows->choice.algo == NCCL_NVLS_TREE) {
        count = 2; /* the others are the same with other heads */
    } else if (coll->flows->choice.algo == NCCL_COLLNET) {
        count = coll->flows->choice.channels;
    }
    for (uint32_t c = 0; c < count && c < CHANNELS_SHOWN; c++) {
        if (coll->flows->choice.algo == NCCL_COLLNET) {
            draw_network_switch(coll, c, stream);
        } else if (trees) {
            report_coll_text_draw_tree(coll, c, stream);
        } else {
            report_coll_text_draw_ring(coll, c, stream);
        }
    }
    if (count > CHANNELS_SHOWN) {
        (void)fprintf(stream, "  ... and %" PRIu32 " more\n", count - CHANNELS_SHOWN);
    }
}

static void report_coll_text_draw(const struct report_coll *coll, FILE *stream)
{
    enum nccl_algo algo = coll->flows->choice.algo;
    (void)fputc('\n', stream);
    if (algo == NCCL_NVLS || algo == NCCL_NVLS_TREE || (algo == NCCL_COLLNET && coll->group->switch_count > 0)) {
        draw_switches(coll, stream);
    }
    if (algo != NCCL_NVLS) {
        draw_channels(coll, algo != NCCL_RING, stream);
    }
}

enum orr_status report_coll_text(const struct report_coll *coll, struct arena *arena, FILE *stream,
                                 struct orr_error *err)
{
    struct costs costs = {0};
    enum orr_status status = report_coll_text_sum_up(coll, arena, &costs, err);
    if (status != ORR_OK) {
        return status;
    }
    report_coll_text_put_head(coll, stream);
    put_costs(coll, &costs, stream);
    if (!coll->pairs && coll->flows->count > 0) {
        report_coll_text_draw(coll, stream);
    }
    return ORR_OK;
}
