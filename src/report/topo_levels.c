/* SPDX-License-Identifier: Apache-2.0 */
/* The machine in words, level by level from the top: nodes of a level that have the same links are one line. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/number.h"
#include "report/topo_drawing.h"

/* A node's links towards one level, of one rate and delay. */
struct bundle {
    uint64_t rate_bps, delay_ns;
    uint32_t links;
    uint8_t kind, level;
};

enum { BUNDLES_MOST = 8, KINDS_MOST = 64 };

/* Nodes that are alike, as far as this text goes. */
struct likeness {
    uint8_t kind, level;
    uint32_t first, last, count;
    uint32_t bundle_count;
    struct bundle bundles[BUNDLES_MOST];
};

static void add_to_bundles(struct likeness *like, const struct topo_link *link, uint8_t kind, uint8_t level)
{
    uint32_t at = 0;
    while (at < like->bundle_count &&
           (like->bundles[at].rate_bps != link->rate_bps || like->bundles[at].delay_ns != link->delay_ns ||
            like->bundles[at].level != level || like->bundles[at].kind != kind)) {
        at++;
    }
    if (at == BUNDLES_MOST) {
        at--; /* a node of more kinds of links is summed up with the last */
    } else if (at == like->bundle_count) {
        like->bundles[like->bundle_count++] = (struct bundle){link->rate_bps, link->delay_ns, 0, kind, level};
    }
    like->bundles[at].links++;
}

static int compare_bundles(const void *a, const void *b)
{
    const struct bundle *x = a;
    const struct bundle *y = b;
    if (x->level != y->level) {
        return x->level < y->level ? -1 : 1;
    }
    if (x->kind != y->kind) {
        return x->kind < y->kind ? -1 : 1;
    }
    if (x->rate_bps != y->rate_bps) {
        return x->rate_bps < y->rate_bps ? -1 : 1;
    }
    return x->delay_ns < y->delay_ns ? -1 : x->delay_ns > y->delay_ns;
}

static void report_topo_levels_describe(const struct topo_drawing *drawing, uint32_t node, struct likeness *like)
{
    const struct topo_graph *graph = drawing->graph;
    *like = (struct likeness){
        .kind = graph->kinds[node], .level = drawing->level[node], .first = node, .last = node, .count = 1};
    for (uint32_t port = graph->port_start[node]; port < graph->port_start[node + 1]; port++) {
        uint32_t other = graph->ports[graph->ports[port].peer].node;
        add_to_bundles(like, &graph->links[graph->ports[port].link], graph->kinds[other], drawing->level[other]);
    }
    qsort(like->bundles, like->bundle_count, sizeof like->bundles[0], compare_bundles);
}

static bool is_alike(const struct likeness *a, const struct likeness *b)
{
    bool same = a->kind == b->kind && a->level == b->level && a->bundle_count == b->bundle_count;
    for (uint32_t i = 0; same && i < a->bundle_count; i++) {
        same = compare_bundles(&a->bundles[i], &b->bundles[i]) == 0 && a->bundles[i].links == b->bundles[i].links;
    }
    return same;
}

static void report_topo_levels_put_name(uint8_t kind, uint8_t level, bool many, FILE *stream)
{
    if (kind == TOPO_NODE_SWITCH) {
        (void)fprintf(stream, "switch%s of level %u", many ? "es" : "", level);
    } else {
        (void)fprintf(stream, "%s%s", kind == TOPO_NODE_HOST ? "GPU" : "NVSwitch",
                      !many                    ? ""
                      : kind == TOPO_NODE_HOST ? "s"
                                               : "es");
    }
}

static void put_likeness(const struct likeness *like, FILE *stream)
{
    (void)fprintf(stream, "%8" PRIu32 " ", like->count);
    report_topo_levels_put_name(like->kind, like->level, like->count != 1, stream);
    if (like->count == 1) {
        (void)fprintf(stream, " (%" PRIu32 ")\n", like->first);
    } else {
        (void)fprintf(stream, " (%" PRIu32 "%s%" PRIu32 ")\n", like->first,
                      like->last - like->first + 1 == like->count ? "-" : " to ", like->last);
    }
    for (uint32_t i = 0; i < like->bundle_count; i++) {
        const struct bundle *bundle = &like->bundles[i];
        (void)fprintf(stream, "           %" PRIu32 " link%s of %s Gbps and %s to ", bundle->links,
                      bundle->links == 1 ? "" : "s", report_short((double)bundle->rate_bps / 1e9).text,
                      report_time((double)bundle->delay_ns).text);
        if (bundle->links == 1) {
            (void)fputs(bundle->kind == TOPO_NODE_NVSWITCH ? "an " : "a ", stream);
        }
        report_topo_levels_put_name(bundle->kind, bundle->level, bundle->links != 1, stream);
        (void)fputc('\n', stream);
    }
}

/* Collects the likenesses of the machine; the rest beyond KINDS_MOST is counted. */
static uint32_t report_topo_levels_collect(const struct topo_drawing *drawing, struct likeness *likes, uint32_t *rest)
{
    uint32_t count = 0;
    *rest = 0;
    for (uint32_t node = 0; node < drawing->graph->node_count; node++) {
        struct likeness like;
        uint32_t at = count;
        report_topo_levels_describe(drawing, node, &like);
        while (at > 0 && !is_alike(&likes[at - 1], &like)) {
            at--;
        }
        if (at > 0) {
            likes[at - 1].count++;
            likes[at - 1].last = node;
        } else if (count < KINDS_MOST) {
            likes[count++] = like;
        } else {
            (*rest)++;
        }
    }
    return count;
}

enum orr_status topo_drawing_text(const struct topo_drawing *drawing, const char *title, FILE *stream,
                                  struct orr_error *err)
{
    struct likeness *likes = mem_alloc(drawing->mem, KINDS_MOST * sizeof *likes);
    uint32_t rest = 0;
    if (likes == NULL) {
        return mem_error(drawing->mem, "the drawing", err);
    }
    uint32_t count = report_topo_levels_collect(drawing, likes, &rest);
    (void)fprintf(stream, "%s: %" PRIu32 " nodes, %" PRIu32 " links", title, drawing->graph->node_count,
                  drawing->graph->link_count);
    for (uint32_t i = 0;
         i < drawing->dim_count && (drawing->shape == TOPO_SHAPE_GRID || drawing->shape == TOPO_SHAPE_CIRCLE); i++) {
        (void)fprintf(stream, "%s%" PRIu32, i == 0 ? "; a grid of " : " x ", drawing->dims[i]);
    }
    (void)fputc('\n', stream);
    for (unsigned level = UINT8_MAX + 1; level-- > 0;) {
        for (uint32_t i = 0; i < count; i++) {
            if (likes[i].level == level) {
                put_likeness(&likes[i], stream);
            }
        }
    }
    if (rest > 0) {
        (void)fprintf(stream, "%8" PRIu32 " other nodes, none like those above\n", rest);
    }
    mem_free(drawing->mem, likes, KINDS_MOST * sizeof *likes);
    return ORR_OK;
}
