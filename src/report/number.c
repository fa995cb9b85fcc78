/* SPDX-License-Identifier: Apache-2.0 */
/* printf does the rounding (it is exact); only the locale's decimal point is put right afterwards. */
#include "report/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/plain.h"

struct report_number report_fixed(double value, int decimals)
{
    struct report_number number = {{0}};
    if (isnan(value) || isinf(value)) {
        (void)snprintf(number.text, sizeof number.text, "%s", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return number;
    }
    char raw[400]; /* DBL_MAX has 309 digits before the point */
    (void)plain_snprintf(raw, sizeof raw, "%.*f", decimals, value);
    size_t to = 0;
    for (size_t from = 0; raw[from] != '\0' && to + 1 < sizeof number.text; from++) {
        char c = raw[from];
        bool kept = c == '-' || (c >= '0' && c <= '9');
        if (kept) {
            number.text[to++] = c;
        } else if (from > 0 && raw[from - 1] >= '0' && raw[from - 1] <= '9') {
            number.text[to++] = '.';
        }
    }
    return number;
}

struct report_number report_count(uint64_t value)
{
    struct report_number number = {{0}};
    (void)snprintf(number.text, sizeof number.text, "%" PRIu64, value);
    return number;
}

static struct report_number with_unit(struct report_number number, const char *unit)
{
    size_t length = strlen(number.text);
    (void)snprintf(number.text + length, sizeof number.text - length, "%s", unit);
    return number;
}

struct report_number report_time(double ns)
{
    static const char *const units[] = {" ns", " us", " ms", " s"};
    size_t unit = 0;
    double value = ns;
    /* 999.95 would print as 1000.0: the next unit takes over where rounding reaches it. */
    while (unit + 1 < sizeof units / sizeof units[0] && value >= 999.95) {
        value /= 1000;
        unit++;
    }
    bool whole_ns = unit == 0 && value == floor(value);
    int decimals = whole_ns ? 0 : unit == 0 ? 1 : value < 9.9995 ? 3 : value < 99.995 ? 2 : value < 999.95 ? 1 : 0;
    return with_unit(report_fixed(value, decimals), units[unit]);
}

struct report_number report_time_long(uint64_t ns)
{
    struct report_number number = {{0}};
    if (ns < 1000) {
        (void)snprintf(number.text, sizeof number.text, "%" PRIu64 " ns", ns);
    } else if (ns < 1000000) {
        (void)snprintf(number.text, sizeof number.text, "%" PRIu64 ".%03" PRIu64 " us", ns / 1000, ns % 1000);
    } else if (ns < 1000000000) {
        (void)snprintf(number.text, sizeof number.text, "%" PRIu64 ".%06" PRIu64 " ms", ns / 1000000, ns % 1000000);
    } else {
        (void)snprintf(number.text, sizeof number.text, "%" PRIu64 ".%06" PRIu64 " s", ns / 1000000000,
                       ns % 1000000000 / 1000);
    }
    return number;
}

struct report_number report_bytes(double bytes)
{
    static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    size_t unit = 0;
    double value = bytes;
    while (unit + 1 < sizeof units / sizeof units[0] && value >= 1024) {
        value /= 1024;
        unit++;
    }
    bool whole = unit == 0 || value == floor(value);
    return with_unit(report_fixed(value, whole ? 0 : value < 99.995 ? 2 : 1), units[unit]);
}

struct report_number report_short(double value)
{
    struct report_number number = report_fixed(value, 3);
    if (strchr(number.text, '.') != NULL) {
        size_t length = strlen(number.text);
        while (number.text[length - 1] == '0') {
            number.text[--length] = '\0';
        }
        if (number.text[length - 1] == '.') {
            number.text[length - 1] = '\0';
        }
    }
    return number;
}

struct report_number report_share(double part, double whole)
{
    if (!(whole > 0)) {
        return (struct report_number){"-"};
    }
    return with_unit(report_fixed(100 * part / whole, 1), "%");
}
