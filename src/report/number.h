/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as reports print them: fixed decimals that no locale changes, and times, sizes and shares in the unit a
 * person would choose. Each fills a small struct by value, so that a cell of a table is one expression.
 */
#ifndef ORR_REPORT_NUMBER_H
#define ORR_REPORT_NUMBER_H

#include <stdint.h>

struct report_number {
    char text[40];
};

/* `decimals` digits after the point, correctly rounded; "nan", "inf", "-inf". */
struct report_number report_fixed(double value, int decimals);
/* At most three decimals, without trailing zeros: "50", "12.5". */
struct report_number report_short(double value);
struct report_number report_count(uint64_t value);
/* Four significant digits in ns, us, ms or s: "518 ns", "117.8 us". */
struct report_number report_time(double ns);
/* Nanosecond-exact in the fitting unit: "405.520 us"; above a second to the microsecond: "1.234567 s". */
struct report_number report_time_long(uint64_t ns);
/* Powers of 1024; exact where that is short ("1 MiB", "1000 B"), else two decimals. */
struct report_number report_bytes(double bytes);
/* "87.7%"; "-" where `whole` is 0. */
struct report_number report_share(double part, double whole);

#endif
