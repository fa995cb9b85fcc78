/* SPDX-License-Identifier: Apache-2.0 */
/* One iteration is the mean of all. */
#include "report/simai_table.h"

#include <inttypes.h>

#include "report/number.h"

void report_simai_table_text(const struct report_simai_table *table, FILE *stream)
{
    static const char *const names[REPORT_SIMAI_TABLE_PARTS] = {"TP", "DP", "EP", "DP_EP", "pipeline messages"};
    double iterations = table->iterations > 0 ? table->iterations : 1;
    double total = 0;
    for (unsigned i = 0; i < REPORT_SIMAI_TABLE_PARTS; i++) {
        total += table->part_us[i] / iterations;
    }
    (void)fprintf(stream,
                  "%s: communication of one iteration on %" PRId32 " GPUs (TP %" PRId32 ", DP %" PRId32 ", EP %" PRId32
                  "; %" PRIu64 " rows, %" PRIu64 " collectives)\n\nTotal: %s, and %s to set up\n\n",
                  table->workload, table->gpus, table->tp, table->dp, table->ep, table->rows, table->collectives,
                  report_time(total * 1000).text, report_time(table->init_us * 1000).text);
    for (unsigned i = 0; i < REPORT_SIMAI_TABLE_PARTS; i++) {
        double us = table->part_us[i] / iterations;
        (void)fprintf(stream, "%-18s %10s %6s\n", names[i], report_time(us * 1000).text, report_share(us, total).text);
    }
    if (table->products > 0) {
        (void)fprintf(stream, "\n(%" PRIu64 " products have shapes and no time: they are not counted.)\n",
                      table->products);
    }
}
