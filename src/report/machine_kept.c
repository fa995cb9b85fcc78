/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run's document has what a drawing needs: the nodes that are switches and the rate of every link, or the dimensions.
 * Only the delays of wires are not in it. What a document written by hand leaves out or gets wrong is not drawn.
 */
#include <string.h>

#include "io/json.h"
#include "report/machine.h"
#include "topo/graph.h"

struct kept {
    struct mem *mem;
    struct arena arena;
    struct topo_dims dims;
    struct orr_dimension_result dim[TOPO_MAX_DIMS];
    struct topo_graph wires;
    struct orr_link_result *links;
    uint32_t link_count;
};

static double kept_real(const struct io_value *map, const char *key)
{
    const struct io_value *found = io_value_member(map, key);
    return found == NULL               ? 0
           : found->kind == IO_REAL    ? found->real
           : found->kind == IO_INTEGER ? (double)found->integer
                                       : 0;
}

static uint64_t kept_count(const struct io_value *map, const char *key)
{
    const struct io_value *found = io_value_member(map, key);
    return found != NULL && found->kind == IO_INTEGER && found->integer > 0 ? (uint64_t)found->integer : 0;
}

static uint32_t kept_u32(const struct io_value *map, const char *key)
{
    uint64_t value = kept_count(map, key);
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static const struct io_value *kept_first(const struct io_value *map, const char *key)
{
    const struct io_value *list = io_value_member(map, key);
    return list != NULL && list->kind == IO_LIST ? list->first : NULL;
}

/* ---- dimensions ---- */

static bool kept_kind(const struct io_value *row, enum topo_kind *kind)
{
    static const enum topo_kind kinds[] = {TOPO_RING, TOPO_FULLY_CONNECTED, TOPO_SWITCH};
    const struct io_value *word = io_value_member(row, "kind");
    for (size_t i = 0; word != NULL && word->kind == IO_TEXT && i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(word->text, topo_kind_name(kinds[i])) == 0) {
            *kind = kinds[i];
            return true;
        }
    }
    return false;
}

static bool kept_dims(struct kept *kept, const struct io_value *root)
{
    for (const struct io_value *row = kept_first(root, "dimensions"); row != NULL; row = row->next) {
        uint32_t i = kept->dims.count;
        if (i == TOPO_MAX_DIMS || !kept_kind(row, &kept->dims.dim[i].kind) || kept_u32(row, "size") < 2) {
            return false;
        }
        kept->dims.dim[i].size = kept_u32(row, "size");
        kept->dims.dim[i].bandwidth_gibps = kept_real(row, "bandwidth_gibytes_per_s");
        kept->dims.dim[i].latency_ns = kept_real(row, "latency_ns");
        kept->dim[i] = (struct orr_dimension_result){.links = kept_count(row, "links"),
                                                     .bytes = kept_count(row, "bytes"),
                                                     .utilisation = kept_real(row, "utilisation")};
        kept->dims.count++;
    }
    return kept->dims.count > 0 && topo_dims_finish(&kept->dims) != 0;
}

static bool kept_dimension_row(const void *rows, uint32_t index, struct orr_dimension_result *row)
{
    const struct kept *kept = rows;
    *row = index < kept->dims.count ? kept->dim[index] : (struct orr_dimension_result){0};
    return index < kept->dims.count;
}

/* ---- wires ---- */

static bool kept_link_row(const void *rows, uint32_t index, struct orr_link_result *row)
{
    const struct kept *kept = rows;
    *row = index < kept->link_count ? kept->links[index] : (struct orr_link_result){0};
    return index < kept->link_count;
}

static void kept_mark(struct kept *kept, const struct io_value *network, const char *key, enum topo_node_kind kind)
{
    for (const struct io_value *node = kept_first(network, key); node != NULL; node = node->next) {
        if (node->kind == IO_INTEGER && node->integer >= 0 && node->integer < kept->wires.node_count) {
            kept->wires.kinds[node->integer] = (uint8_t)kind;
        }
    }
}

/* Both directions of every link are in the list, one behind the other or not: a link is where `from` is the smaller. */
static enum orr_status kept_wires(struct kept *kept, const struct io_value *network, bool *whole, struct orr_error *err)
{
    const struct io_value *first = kept_first(network, "links");
    uint32_t nodes = 0, links = 0, rows = 0;
    for (const struct io_value *row = first; row != NULL; row = row->next, rows++) {
        uint32_t from = kept_u32(row, "from"), to = kept_u32(row, "to");
        uint32_t most = from > to ? from : to;
        nodes = most >= nodes ? most + 1 : nodes;
        links += from < to ? 1 : 0;
    }
    *whole = links > 0 && nodes > 0 && nodes <= 2 * rows + 1 && 2 * (uint64_t)links == rows;
    if (!*whole) {
        return ORR_OK;
    }
    enum orr_status status = topo_graph_init(&kept->wires, nodes, links, kept->mem, err);
    kept->links = status == ORR_OK ? arena_zalloc(&kept->arena, rows * sizeof *kept->links) : NULL;
    if (status != ORR_OK || kept->links == NULL) {
        return status != ORR_OK ? status : mem_error(kept->mem, "the links of a kept run", err);
    }
    uint32_t made = 0;
    for (const struct io_value *row = first; row != NULL; row = row->next) {
        struct orr_link_result *link = &kept->links[kept->link_count++];
        *link = (struct orr_link_result){.from = kept_u32(row, "from"),
                                         .to = kept_u32(row, "to"),
                                         .rate_bps = kept_count(row, "rate_bps"),
                                         .bytes = kept_count(row, "bytes"),
                                         .utilisation = kept_real(row, "utilisation")};
        if (link->from < link->to) {
            kept->wires.links[made++] = (struct topo_link){.a = link->from, .b = link->to, .rate_bps = link->rate_bps};
        }
    }
    kept_mark(kept, network, "switches", TOPO_NODE_SWITCH);
    kept_mark(kept, network, "nvswitches", TOPO_NODE_NVSWITCH);
    return topo_graph_finish(&kept->wires, err);
}

enum orr_status report_machine_kept(const char *json, size_t size, struct mem *mem, FILE *stream, struct orr_error *err)
{
    struct kept kept = {.mem = mem};
    struct io_value *root = NULL;
    bool whole = false;
    arena_init(&kept.arena, mem);
    enum orr_status status = io_json_parse("a kept run", json, size, &kept.arena, &root, err);
    const struct io_value *network = io_value_member(root, "network");
    bool wired = network != NULL && network->kind == IO_MAP;
    if (status == ORR_OK && wired) {
        kept.dims.ranks = kept_u32(root, "ranks");
        status = kept_wires(&kept, network, &whole, err);
    } else if (status == ORR_OK) {
        whole = kept_dims(&kept, root);
    }
    if (status == ORR_OK && whole) {
        const struct report_carried carried = {.wires = wired ? &kept.wires : NULL,
                                               .dims = &kept.dims,
                                               .no_delays = wired,
                                               .rows = &kept,
                                               .link = kept_link_row,
                                               .dimension = kept_dimension_row};
        status = report_machine_draw(&carried, stream, err);
    }
    topo_graph_free(&kept.wires);
    arena_free(&kept.arena);
    return status;
}
