/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bills of machines and what a step on each of them costs, as people and programs read them. Plain rows come in, text
 * or JSON goes out to the caller's stream. Amounts are whole millionths of the currency; lab/cost/cost.h makes the
 * rows.
 */
#ifndef ORR_REPORT_COST_TEXT_H
#define ORR_REPORT_COST_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct cost_row {
    const char *name;
    uint64_t count;
    uint64_t price, pack; /* the price of `pack` of them */
    uint64_t cost;
    double watts; /* of all of them */
};

struct cost_bill {
    const char *machine;
    uint64_t gpus, servers, nics, nvswitches, switches, own_switches, cables;
    const struct cost_row *rows;
    uint32_t row_count;
    uint64_t total;
    double watts;
    /* Of an hour: the price over the lifetime, and power. NaN where the list does not say the lifetime. */
    double hour_price, hour_power;
    uint64_t step_ns; /* 0: not known */
    int64_t run;      /* whose step it is; 0: of none in the store */
};

struct cost_report {
    const char *currency;
    const char *prices; /* where they are from */
    double lifetime_years, utilisation, electricity, pue;
    uint64_t samples; /* of a step; 0: not said */
    const struct cost_bill *bills;
    uint32_t bill_count;
};

/* What one step costs; NaN where that is not known. */
double cost_of_step(const struct cost_bill *bill);

void cost_text_put(const struct cost_report *report, FILE *stream);
void cost_json_put(const struct cost_report *report, FILE *stream);

#endif
