/* SPDX-License-Identifier: Apache-2.0 */
/* Measured collectives and copies on paper. A range is a line, because where the protocols change is what one wants to
 * see; its error is how far its own measurements lie from it. */
#include <inttypes.h>

#include "calib/report.h"
#include "coll/impl.h"
#include "report/number.h"
#include "report/table.h"

enum { LABEL = 28 };

static void put_range(struct report_table *table, const struct calib_group *group, const struct calib_range *range)
{
    char text[64];
    double rate = range->us_per_byte > 0 ? group->bus_factor / range->us_per_byte / 1e3 : 0;
    report_table_row(table);
    (void)snprintf(text, sizeof text, "%s x%" PRIu32, coll_type_name(group->type), group->ranks);
    report_table_cell(table, text);
    report_table_cell(table, report_bytes((double)range->from_bytes).text);
    report_table_cell(table, report_bytes((double)range->to_bytes).text);
    report_table_cell(table, report_fixed(range->latency_us, 2).text);
    report_table_cell(table, rate > 0 ? report_fixed(rate, 3).text : "-");
    report_table_cell(table, report_count(range->quality.samples).text);
    report_table_cell(table, report_share(range->quality.median_error, 1).text);
    report_table_cell(table, calib_rule_text(range->quality.rule));
}

static void calib_report_network_put_number(const char *name, const struct calib_number *number, double factor,
                                            const char *unit, FILE *stream)
{
    if (!number->known) {
        return;
    }
    (void)fprintf(stream, "%-*s%s %s", LABEL, name, report_fixed(number->value * factor, 3).text, unit);
    if (number->sources > 1) {
        (void)fprintf(stream, ", from %s to %s in %" PRIu32, report_fixed(number->low * factor, 3).text,
                      report_fixed(number->high * factor, 3).text, number->sources);
    }
    (void)fprintf(stream, "%s%s\n", number->accepted ? "; accepted" : "; refused: ",
                  number->accepted         ? ""
                  : number->reason != NULL ? number->reason
                                           : "no reason");
}

/* Of the collectives that fare worst with them. */
static void put_pair(const struct calib_network *network, FILE *stream)
{
    const struct calib_group *worst = NULL;
    for (uint32_t i = 0; i < network->group_count; i++) {
        const struct calib_group *group = &network->groups[i];
        if (group->latency_us > 0 && group->bus_gbytes_per_s > 0 &&
            (worst == NULL || group->pair_mean_error > worst->pair_mean_error)) {
            worst = group;
        }
    }
    if (worst != NULL) {
        (void)fprintf(stream,
                      "%-*s%s off on average, %s at worst (%s x%" PRIu32 "): links of one latency and one bandwidth "
                      "reach no more\n",
                      LABEL, "With one of each", report_share(worst->pair_mean_error, 1).text,
                      report_share(worst->pair_worst_error, 1).text, coll_type_name(worst->type), worst->ranks);
    }
}

void calib_report_network(const struct calib_network *network, FILE *stream)
{
    static const char *const heads[] = {"collective", "from", "to", "latency us", "bus GB/s", "points", "error", ""};
    struct report_table table;
    uint32_t left_out = 0;
    report_table_begin(&table, 1u | 1u << 7);
    report_table_row(&table);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        report_table_cell(&table, heads[i]);
    }
    for (uint32_t i = 0; i < network->group_count; i++) {
        const struct calib_group *group = &network->groups[i];
        for (uint32_t k = 0; k < group->fit.range_count; k++) {
            if (table.rows < REPORT_TABLE_ROWS) {
                put_range(&table, group, &group->fit.ranges[k]);
            } else {
                left_out++;
            }
        }
    }
    if (network->group_count > 0) {
        report_table_print(&table, stream);
        (void)fputc('\n', stream);
    }
    if (left_out > 0) {
        (void)fprintf(stream, "%" PRIu32 " more ranges are not shown.\n", left_out);
    }
    calib_report_network_put_number("Link bandwidth", &network->link_gbytes_per_s, 8, "Gbps", stream);
    calib_report_network_put_number("Link latency", &network->link_latency_us, 1, "us", stream);
    calib_report_network_put_number("Latency by messages", &network->message_link_us, 1, "us", stream);
    put_pair(network, stream);
    calib_report_network_put_number("Launch overhead", &network->overhead_us, 1, "us", stream);
    calib_report_network_put_number("Copies between devices", &network->peer_gbytes_per_s, 8, "Gbps", stream);
    calib_report_network_put_number("Local memory", &network->memory_gbytes_per_s, 1, "GB/s", stream);
    calib_report_network_put_number("Copies from and to the host", &network->host_gbytes_per_s, 8, "Gbps", stream);
    if (network->overhead != CALIB_OVERHEAD_NONE) {
        (void)fprintf(stream, "%-*s%s\n", LABEL, "Launching", calib_overhead_text(network->overhead));
    }
}
