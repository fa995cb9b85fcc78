/* SPDX-License-Identifier: Apache-2.0 */
/* A line a group, ring place, tree place and flow, in the order and with the blanks of spec simai §14; the comment
 * lines are part of the format. A dump may have a million lines, so numbers are put together here and not by printf. */
#include <inttypes.h>

#include "report/coll.h"

static const char *const group_types[NCCL_GROUP_TYPES] = {"TP", "DP", "EP", "DP_EP", "CP"};
static const char *const connections[] = {"RING", "PXN_INIT", "NVLS", "TREE", "PAIR", "COLLNET"};

enum { NUMBER = 24 };

static void report_coll_dump_put_number(uint64_t value, char after, FILE *stream)
{
    char text[NUMBER];
    size_t at = sizeof text;
    text[--at] = after;
    do {
        text[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    (void)fwrite(text + at, 1, sizeof text - at, stream);
}

static void put_list(const uint32_t *items, uint32_t count, char after, FILE *stream)
{
    (void)fputc('[', stream);
    for (uint32_t i = 0; i < count; i++) {
        report_coll_dump_put_number(items[i], i + 1 < count ? ',' : ']', stream);
    }
    if (count == 0) {
        (void)fputc(']', stream);
    }
    (void)fputc(after, stream);
}

static void put_groups(const struct report_coll *coll, FILE *stream)
{
    (void)fputs("# groups: index type nNodes nRanks ranks nvswitches\n", stream);
    for (uint32_t i = 0; i < coll->group_count; i++) {
        const struct nccl_group *group = &coll->groups[i];
        (void)fprintf(stream, "G %" PRIu32 " %s %" PRIu32 " %" PRIu32 " ", group->index, group_types[group->type],
                      group->node_count, group->rank_count);
        put_list(group->ranks, group->rank_count, ' ', stream);
        put_list(group->switches, group->switch_count, '\n', stream);
    }
}

static void put_rings(const struct nccl_channels *channels, FILE *stream)
{
    (void)fputs("# rings: channel rank prev next node_recv node_send\n", stream);
    for (uint32_t c = 0; c < channels->ring_count; c++) {
        for (uint32_t i = 0; i < channels->ring_size; i++) {
            const struct nccl_ring_place *place = &channels->rings[(size_t)c * channels->ring_size + i];
            (void)fputs("R ", stream);
            report_coll_dump_put_number(c, ' ', stream);
            report_coll_dump_put_number(place->rank, ' ', stream);
            report_coll_dump_put_number(place->prev, ' ', stream);
            report_coll_dump_put_number(place->next, ' ', stream);
            report_coll_dump_put_number(place->node_recv, ' ', stream);
            report_coll_dump_put_number(place->node_send, '\n', stream);
        }
    }
}

static void put_trees(const struct nccl_channels *channels, FILE *stream)
{
    (void)fputs("# trees: channel rank up down\n", stream);
    for (uint32_t c = 0; c < channels->tree_count; c++) {
        for (uint32_t i = 0; i < channels->rank_count; i++) {
            const struct nccl_tree_place *place = &channels->trees[(size_t)c * channels->rank_count + i];
            (void)fprintf(stream, "T %" PRIu32 " %" PRIu32 " %" PRId64 " ", c, place->rank, place->up);
            put_list(place->down, place->down_count, '\n', stream);
        }
    }
}

static void put_flows(const struct nccl_flows *flows, FILE *stream)
{
    (void)fprintf(stream, "# algo %d proto %d\n", (int)flows->choice.algo, (int)flows->choice.protocol);
    (void)fputs("# flows: channel flow_id src dst size prev parents children chunk_id chunk_count conn\n", stream);
    for (uint32_t i = 0; i < flows->count; i++) {
        const struct nccl_flow *flow = &flows->flows[i];
        (void)fputs("F ", stream);
        report_coll_dump_put_number(flow->channel, ' ', stream);
        report_coll_dump_put_number(i, ' ', stream);
        report_coll_dump_put_number(flow->src, ' ', stream);
        report_coll_dump_put_number(flow->dst, ' ', stream);
        report_coll_dump_put_number(flow->bytes, ' ', stream);
        put_list(flows->prevs + flow->prev, flow->prev_count, ' ', stream);
        put_list(flows->links + flow->parents, flow->parent_count, ' ', stream);
        put_list(flows->links + flow->children, flow->child_count, ' ', stream);
        report_coll_dump_put_number(flow->chunk, ' ', stream);
        report_coll_dump_put_number(flow->chunk_count, ' ', stream);
        (void)fputs(connections[flow->connection], stream);
        (void)fputc('\n', stream);
    }
    (void)fprintf(stream, "# nflows %" PRIu32 "\n", flows->count);
}

void report_coll_dump(const struct report_coll *coll, FILE *stream)
{
    if (coll->groups != NULL) {
        put_groups(coll, stream);
        if (coll->group == NULL) {
            (void)fputs("NOGROUP\n", stream);
            return;
        }
        (void)fprintf(stream, "# rank%" PRIu32 " group index %" PRIu32 "\n", coll->rank, coll->group->index);
        put_rings(coll->channels, stream);
        put_trees(coll->channels, stream);
    }
    put_flows(coll->flows, stream);
}
