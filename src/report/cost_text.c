/* SPDX-License-Identifier: Apache-2.0 */
/* A bill each, then all machines beside the first: that is the order in which the question is asked. Money is printed
 * with the decimals it has; what is divided is rounded to six significant digits. */
#include "report/cost_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/plain.h"
#include "io/json_write.h"
#include "report/number.h"
#include "report/table.h"

enum { MILLION = 1000000, DECIMALS = 6, SECONDS_OF_DAY = 86400, ROWS_SHOWN = REPORT_TABLE_ROWS - 4 };

/* Decimals that the amount needs, at most six. */
static int decimals_of(uint64_t millionths)
{
    int decimals = DECIMALS;
    for (; decimals > 0 && millionths % 10 == 0; decimals--) {
        millionths /= 10;
    }
    return decimals;
}

static struct report_number money(uint64_t millionths, int decimals)
{
    struct report_number number;
    int used =
        snprintf(number.text, sizeof number.text, "%" PRIu64 ".%06" PRIu64, millionths / MILLION, millionths % MILLION);
    number.text[used - DECIMALS + decimals - (decimals == 0)] = '\0'; /* without decimals, without the point */
    return number;
}

/* Six significant digits and no exponent where it can be helped; C's own format, whose point is that of the C locale.
 */
static struct report_number six(double value)
{
    struct report_number number;
    (void)plain_snprintf(number.text, sizeof number.text, "%.6g", value);
    return number;
}

double cost_of_step(const struct cost_bill *bill)
{
    double hour = bill->hour_price + bill->hour_power;
    return bill->step_ns == 0 ? (double)NAN : hour / 3600.0 * ((double)bill->step_ns / 1e9);
}

/* ---- text ---- */

static void put_counts(const struct cost_bill *bill, FILE *stream)
{
    const struct {
        uint64_t count;
        const char *one, *many;
    } counts[] = {{bill->gpus, "GPU", "GPUs"},
                  {bill->servers, "server", "servers"},
                  {bill->nics, "NIC", "NICs"},
                  {bill->nvswitches, "NVSwitch", "NVSwitches"},
                  {bill->switches, "switch", "switches"},
                  {bill->cables, "cable", "cables"}};
    (void)fprintf(stream, "%s: ", bill->machine);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        if (counts[i].count > 0 || i == 0) {
            (void)fprintf(stream, "%s%" PRIu64 " %s", i == 0 ? "" : ", ", counts[i].count,
                          counts[i].count == 1 ? counts[i].one : counts[i].many);
        }
    }
    (void)fputc('\n', stream);
    if (bill->own_switches > 0) {
        (void)fputs("  Each GPU's own switch stands for its NICs passing messages on, and is not bought.\n", stream);
    }
}

static void report_cost_text_put_row(struct report_table *table, const struct cost_row *row, uint64_t total,
                                     int decimals)
{
    char price[REPORT_TABLE_CELL];
    struct report_number each = money(row->price, decimals_of(row->price));
    if (row->pack == 1) {
        (void)snprintf(price, sizeof price, "%s", each.text);
    } else {
        (void)snprintf(price, sizeof price, "%.24s for %" PRIu64, each.text, row->pack);
    }
    report_table_row(table);
    report_table_cell(table, row->name);
    report_table_cell(table, report_count(row->count).text);
    report_table_cell(table, price);
    report_table_cell(table, money(row->cost, decimals).text);
    report_table_cell(table, report_share((double)row->cost, (double)total).text);
}

static void put_bill(const struct cost_report *report, const struct cost_bill *bill, FILE *stream)
{
    struct report_table table;
    int decimals = 0;
    for (uint32_t i = 0; i < bill->row_count; i++) {
        int needed = decimals_of(bill->rows[i].cost);
        decimals = needed > decimals ? needed : decimals;
    }
    put_counts(bill, stream);
    report_table_begin(&table, 1);
    report_table_row(&table);
    report_table_cell(&table, "  item");
    report_table_cell(&table, "count");
    report_table_cell(&table, "price");
    report_table_cell(&table, "cost");
    report_table_cell(&table, "share");
    for (uint32_t i = 0; i < bill->row_count && i < ROWS_SHOWN; i++) {
        struct cost_row row = bill->rows[i];
        char name[REPORT_TABLE_CELL];
        (void)snprintf(name, sizeof name, "  %.40s", row.name);
        row.name = name;
        report_cost_text_put_row(&table, &row, bill->total, decimals);
    }
    if (bill->row_count > ROWS_SHOWN) {
        char more[64];
        (void)snprintf(more, sizeof more, "  and %" PRIu32 " more, in the total", bill->row_count - ROWS_SHOWN);
        report_table_remark(&table, more);
    }
    report_table_row(&table);
    report_table_cell(&table, "  total");
    report_table_cell(&table, "");
    report_table_cell(&table, report->currency);
    report_table_cell(&table, money(bill->total, decimals).text);
    report_table_print(&table, stream);
    if (bill->gpus > 0) {
        (void)fprintf(stream, "  %s %s a GPU", six((double)bill->total / MILLION / (double)bill->gpus).text,
                      report->currency);
        if (bill->watts > 0) {
            (void)fprintf(stream, "; %s kW", six(bill->watts / 1000).text);
        }
        (void)fputc('\n', stream);
    }
}

/* Steps a second for a unit of the price. */
static double speed_for_price(const struct cost_bill *bill)
{
    double price = (double)bill->total / MILLION;
    return bill->step_ns == 0 || bill->total == 0 ? (double)NAN : 1e9 / (double)bill->step_ns / price;
}

static void put_running(const struct cost_report *report, const struct cost_bill *bill, FILE *stream)
{
    if (!isnan(bill->hour_price)) {
        (void)fprintf(stream, "  an hour: %s %s (%s for the machine, %s for power)\n",
                      six(bill->hour_price + bill->hour_power).text, report->currency, six(bill->hour_price).text,
                      six(bill->hour_power).text);
    }
    if (bill->step_ns == 0) {
        return;
    }
    double step = cost_of_step(bill);
    (void)fprintf(stream, "  a step of %s", report_time_long(bill->step_ns).text);
    if (bill->run != 0) {
        (void)fprintf(stream, " (run %" PRId64 ")", bill->run);
    }
    if (!isnan(step)) {
        (void)fprintf(stream, ": %s %s", six(step).text, report->currency);
    }
    if (step > 0) {
        (void)fprintf(stream, "; for 1 %s: %s steps", report->currency, six(1 / step).text);
    }
    if (step > 0 && report->samples > 0) {
        (void)fprintf(stream, ", %s samples", six((double)report->samples / step).text);
    }
    if (bill->total > 0) {
        (void)fprintf(stream, "\n  for 1 %s of the price: %s steps a day", report->currency,
                      six(speed_for_price(bill) * SECONDS_OF_DAY).text);
    }
    (void)fputc('\n', stream);
}

static struct report_number of_first(double value, double first)
{
    struct report_number number = report_share(value, first);
    if (isnan(value) || isnan(first)) {
        (void)snprintf(number.text, sizeof number.text, "-");
    }
    return number;
}

static void put_comparison(const struct cost_report *report, FILE *stream)
{
    static const char *const heads[] = {"  machine", "price",        "of first", "step",
                                        "of first",  "a step costs", "of first", "speed for the price"};
    struct report_table table;
    const struct cost_bill *first = &report->bills[0];
    report_table_begin(&table, 1);
    report_table_row(&table);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        report_table_cell(&table, heads[i]);
    }
    for (uint32_t i = 0; i < report->bill_count && i < ROWS_SHOWN; i++) {
        const struct cost_bill *bill = &report->bills[i];
        char name[REPORT_TABLE_CELL];
        double step = bill->step_ns == 0 ? (double)NAN : (double)bill->step_ns;
        double first_step = first->step_ns == 0 ? (double)NAN : (double)first->step_ns;
        (void)snprintf(name, sizeof name, "  %.40s", bill->machine);
        report_table_row(&table);
        report_table_cell(&table, name);
        report_table_cell(&table, money(bill->total, decimals_of(bill->total)).text);
        report_table_cell(&table, of_first((double)bill->total, (double)first->total).text);
        report_table_cell(&table, bill->step_ns == 0 ? "-" : report_time_long(bill->step_ns).text);
        report_table_cell(&table, of_first(step, first_step).text);
        report_table_cell(&table, isnan(cost_of_step(bill)) ? "-" : six(cost_of_step(bill)).text);
        report_table_cell(&table, of_first(cost_of_step(bill), cost_of_step(first)).text);
        report_table_cell(&table, of_first(speed_for_price(bill), speed_for_price(first)).text);
    }
    if (report->bill_count > ROWS_SHOWN) {
        report_table_remark(&table, "  more machines than rows here; the JSON has all");
    }
    (void)fprintf(stream, "Beside the first, in %s; the last column is steps a second for a unit of the price\n",
                  report->currency);
    report_table_print(&table, stream);
}

void cost_text_put(const struct cost_report *report, FILE *stream)
{
    (void)fprintf(stream, "Prices: %s, in %s\n", report->prices, report->currency);
    if (report->lifetime_years > 0) {
        (void)fprintf(stream, "Paid over %s years at %s%% use; a kWh is %s, and the building draws %s W a watt\n",
                      six(report->lifetime_years).text, six(report->utilisation * 100).text,
                      six(report->electricity).text, six(report->pue).text);
    }
    for (uint32_t i = 0; i < report->bill_count; i++) {
        (void)fputc('\n', stream);
        put_bill(report, &report->bills[i], stream);
        put_running(report, &report->bills[i], stream);
    }
    if (report->bill_count > 1) {
        (void)fputc('\n', stream);
        put_comparison(report, stream);
    }
}

/* ---- JSON ---- */

static void write_money(struct json_writer *writer, const char *key, uint64_t millionths)
{
    json_write_member_fixed(writer, key, (double)millionths / MILLION, 6);
}

static void write_bill(struct json_writer *writer, const struct cost_report *report, const struct cost_bill *bill)
{
    json_write_object(writer, false);
    json_write_member_string(writer, "machine", bill->machine);
    json_write_member_u64(writer, "gpus", bill->gpus);
    json_write_member_u64(writer, "servers", bill->servers);
    json_write_member_u64(writer, "nics", bill->nics);
    json_write_member_u64(writer, "nvswitches", bill->nvswitches);
    json_write_member_u64(writer, "switches", bill->switches);
    json_write_member_u64(writer, "own_switches", bill->own_switches);
    json_write_member_u64(writer, "cables", bill->cables);
    json_write_member_array(writer, "items", false);
    for (uint32_t i = 0; i < bill->row_count; i++) {
        const struct cost_row *row = &bill->rows[i];
        json_write_object(writer, true);
        json_write_member_string(writer, "name", row->name);
        json_write_member_u64(writer, "count", row->count);
        write_money(writer, "price", row->price);
        json_write_member_u64(writer, "for", row->pack);
        write_money(writer, "cost", row->cost);
        json_write_member_fixed(writer, "watts", row->watts, 3);
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
    write_money(writer, "total", bill->total);
    json_write_member_fixed(writer, "watts", bill->watts, 3);
    json_write_member_fixed(writer, "hour_price", bill->hour_price, 9);
    json_write_member_fixed(writer, "hour_power", bill->hour_power, 9);
    json_write_key(writer, "step_ns");
    if (bill->step_ns == 0) {
        json_write_null(writer);
    } else {
        json_write_u64(writer, bill->step_ns);
    }
    double step = cost_of_step(bill);
    json_write_member_fixed(writer, "step_cost", step, 12);
    json_write_member_fixed(writer, "steps_per_unit", 1 / step, 9);
    double samples = report->samples == 0 ? (double)NAN : (double)report->samples / step;
    json_write_member_fixed(writer, "samples_per_unit", samples, 9);
    json_write_member_fixed(writer, "steps_per_second_per_price", speed_for_price(bill), 15);
    json_write_object_end(writer);
}

void cost_json_put(const struct cost_report *report, FILE *stream)
{
    struct json_writer writer;
    json_write_document(&writer, stream);
    json_write_member_string(&writer, "currency", report->currency);
    json_write_member_string(&writer, "prices", report->prices);
    json_write_member_array(&writer, "machines", false);
    for (uint32_t i = 0; i < report->bill_count; i++) {
        write_bill(&writer, report, &report->bills[i]);
    }
    json_write_array_end(&writer);
    json_write_document_end(&writer);
}
