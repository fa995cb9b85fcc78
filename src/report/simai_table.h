/* SPDX-License-Identifier: Apache-2.0 */
/* What was counted of AICB's table, for people. Times in microseconds; whoever counted fills it in. */
#ifndef ORR_REPORT_SIMAI_TABLE_H
#define ORR_REPORT_SIMAI_TABLE_H

#include <stdint.h>
#include <stdio.h>

enum { REPORT_SIMAI_TABLE_PARTS = 5 }; /* TP, DP, EP, DP_EP, messages of pipeline stages */

struct report_simai_table {
    const char *workload;
    uint64_t rows, collectives, products;
    uint32_t iterations;
    int32_t gpus, tp, dp, ep;
    double init_us, part_us[REPORT_SIMAI_TABLE_PARTS];
};

void report_simai_table_text(const struct report_simai_table *table, FILE *stream);

#endif
