/* SPDX-License-Identifier: Apache-2.0 */
/* Links are shown by how long they were busy, because that is what a person looks for first; all of them are in the
 * records. */
#include "report/network.h"

#include <inttypes.h>

#include "report/number.h"
#include "report/rows.h"
#include "report/table.h"
#include "topo/graph.h"

enum { MOST_LINKS = 8, SLOWDOWN_DECIMALS = 3 };

bool report_network_has(const struct sim_result *result)
{
    return result->network.links != NULL;
}

static double utilisation(const struct sim_result *result, const struct net_link *link)
{
    return result->end_ns == 0 ? 0 : (double)link->busy_ns / (double)result->end_ns;
}

static bool is_busier(const struct net_link *one, const struct net_link *other)
{
    return one->busy_ns != other->busy_ns ? one->busy_ns > other->busy_ns : one->queue_most > other->queue_most;
}

/* The busiest links, busiest first; of equals the one with the longer queue, then the first in the file. Their number.
 */
static uint32_t busiest(const struct sim_result *result, uint32_t *chosen)
{
    const struct net_figures *network = &result->network;
    uint32_t count = 0;
    for (uint32_t i = 0; i < network->link_count; i++) {
        if (network->links[i].bytes == 0) {
            continue;
        }
        uint32_t place = count < MOST_LINKS ? count : MOST_LINKS;
        while (place > 0 && is_busier(&network->links[i], &network->links[chosen[place - 1]])) {
            if (place < MOST_LINKS) {
                chosen[place] = chosen[place - 1];
            }
            place--;
        }
        if (place < MOST_LINKS) {
            chosen[place] = i;
            count += count < MOST_LINKS ? 1 : 0;
        }
    }
    return count;
}

static void link_row(const struct sim_result *result, const struct net_link *link, struct report_table *table)
{
    char label[REPORT_TABLE_CELL];
    (void)snprintf(label, sizeof label, "  %u > %u", link->from, link->to);
    report_table_row(table);
    report_table_cell(table, label);
    report_table_cell(table, report_short((double)link->rate_bps / 1e9).text);
    report_table_cell(table, report_bytes((double)link->bytes).text);
    report_table_cell(table, report_share(utilisation(result, link), 1).text);
    report_table_cell(table, link->from_switch ? report_bytes((double)link->queue_p50).text : "-");
    report_table_cell(table, link->from_switch ? report_bytes((double)link->queue_p99).text : "-");
    report_table_cell(table, link->from_switch ? report_bytes((double)link->queue_most).text : "-");
    report_table_cell(table, report_count(link->marks).text);
    report_table_cell(table, report_count(link->pauses).text);
    report_table_cell(table, report_count(link->drops + link->losses).text);
}

static double slowdown(uint64_t permille)
{
    return (double)permille / 1000;
}

void report_network_text(const struct sim_result *result, FILE *stream)
{
    static const char *const head[] = {"Link (nodes)", "Gbit/s", "bytes", "busy",   "queue p50",
                                       "p99",          "most",   "marks", "pauses", "lost"};
    const struct net_figures *network = &result->network;
    uint32_t chosen[MOST_LINKS] = {0};
    uint32_t count = busiest(result, chosen);
    uint32_t used = 0;
    struct report_table table;
    report_table_begin(&table, 1);
    report_table_row(&table);
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++) {
        report_table_cell(&table, head[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        link_row(result, &network->links[chosen[i]], &table);
    }
    for (uint32_t i = 0; i < network->link_count; i++) {
        used += network->links[i].bytes > 0 ? 1 : 0;
    }
    if (used > count) {
        char remark[REPORT_TABLE_CELL];
        (void)snprintf(remark, sizeof remark, "  and %" PRIu32 " more in use", used - count);
        report_table_remark(&table, remark);
    }
    report_table_print(&table, stream);
    (void)fprintf(stream,
                  "%-11s%" PRIu64 " sent over links; %" PRIu64 " marks, %" PRIu64 " pauses, %" PRIu64
                  " dropped, %" PRIu64 " lost, %" PRIu64 " timeouts\n",
                  "Packets", network->transmissions, network->marks, network->pauses, network->drops, network->losses,
                  network->timeouts);
    if (network->jumps > 0) {
        double share = (double)network->skipped / (double)network->transmissions;
        (void)fprintf(stream, "%-11s%" PRIu64 " jumps over %s of the packets, where traffic repeated itself\n",
                      "Forward", network->jumps, report_share(share, 1).text);
    }
    if (network->flows > 0) {
        const struct net_spread *slow = &network->slowdown_permille;
        (void)fprintf(stream,
                      "%-11s%" PRIu64 " arrived; time p50 %s, p95 %s, p99 %s, max %s; against an empty network "
                      "p50 %s, p99 %s, max %s times\n",
                      "Messages", network->flows, report_time((double)network->duration_ns.p50).text,
                      report_time((double)network->duration_ns.p95).text,
                      report_time((double)network->duration_ns.p99).text,
                      report_time((double)network->duration_ns.most).text, report_fixed(slowdown(slow->p50), 2).text,
                      report_fixed(slowdown(slow->p99), 2).text, report_fixed(slowdown(slow->most), 2).text);
    }
}

static void write_spread(struct json_writer *json, const char *key, const struct net_spread *spread, bool permille)
{
    const struct {
        const char *key;
        uint64_t value;
    } parts[] = {{"p50", spread->p50}, {"p95", spread->p95}, {"p99", spread->p99}, {"max", spread->most}};
    json_write_member_object(json, key, true);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (permille) {
            json_write_member_fixed(json, parts[i].key, slowdown(parts[i].value), SLOWDOWN_DECIMALS);
        } else {
            json_write_member_u64(json, parts[i].key, parts[i].value);
        }
    }
    json_write_object_end(json);
}

/* Which nodes are of a kind; all others are GPUs. */
static void write_nodes(struct json_writer *json, const struct topo_graph *graph, const char *key,
                        enum topo_node_kind kind)
{
    json_write_key(json, key);
    json_write_array(json, true);
    for (uint32_t node = 0; graph != NULL && node < graph->node_count; node++) {
        if (graph->kinds[node] == kind) {
            json_write_u64(json, node);
        }
    }
    json_write_array_end(json);
}

void report_network_json(struct json_writer *json, const struct sim_result *result)
{
    const struct net_figures *network = &result->network;
    json_write_key(json, "network");
    if (!report_network_has(result)) {
        json_write_null(json);
        return;
    }
    json_write_object(json, false);
    json_write_member_string(json, "carried_by", network->transmissions > 0 ? "packets" : "shares");
    json_write_member_u64(json, "transmissions", network->transmissions);
    json_write_member_u64(json, "forward_jumps", network->jumps);
    json_write_member_u64(json, "forward_transmissions", network->skipped);
    json_write_member_u64(json, "data_packets", network->data_packets);
    json_write_member_u64(json, "packets_in_flight_most", network->in_flight_most);
    json_write_member_u64(json, "ecn_marks", network->marks);
    json_write_member_u64(json, "pauses", network->pauses);
    json_write_member_u64(json, "drops", network->drops);
    json_write_member_u64(json, "losses", network->losses);
    json_write_member_u64(json, "timeouts", network->timeouts);
    json_write_member_u64(json, "messages_arrived", network->flows);
    write_spread(json, "message_time_ns", &network->duration_ns, false);
    write_spread(json, "message_slowdown", &network->slowdown_permille, true);
    write_nodes(json, network->graph, "switches", TOPO_NODE_SWITCH);
    write_nodes(json, network->graph, "nvswitches", TOPO_NODE_NVSWITCH);
    json_write_member_array(json, "links", false);
    struct orr_link_result row;
    for (uint32_t i = 0; report_link_row(result, i, &row); i++) {
        report_row_json(report_link_columns, &row, json);
    }
    json_write_array_end(json);
    json_write_object_end(json);
}
