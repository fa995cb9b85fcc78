/* SPDX-License-Identifier: Apache-2.0 */
/* What the measure of a recording reads like: one line a rank, and under it why where the two differ. */
#include <inttypes.h>

#include "report/number.h"
#include "report/ready_text.h"
#include "report/table.h"

/* Above this share the difference is explained. */
#define WORTH_A_WORD 0.035

static double difference(const struct ready_measure *measure)
{
    return measure->recorded_ns > 0
               ? (double)(measure->simulated_ns - measure->recorded_ns) / (double)measure->recorded_ns
               : 0.0;
}

static double share(int64_t part_ns, int64_t whole_ns)
{
    return whole_ns > 0 ? 100.0 * (double)part_ns / (double)whole_ns : 0.0;
}

static void add_signed(struct report_table *table, double value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%+.2f%%", 100.0 * value);
    report_table_cell(table, text);
}

static void add_share(struct report_table *table, int64_t part_ns, int64_t whole_ns)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%.1f%%", share(part_ns, whole_ns));
    report_table_cell(table, text);
}

static void explain(const struct ready_rank *rank, FILE *stream)
{
    const struct ready_measure *measure = &rank->measure;
    double off = difference(measure);
    if (off > -WORTH_A_WORD && off < WORTH_A_WORD) {
        return;
    }
    int64_t missing = measure->recorded_ns - measure->simulated_ns;
    (void)fprintf(stream, "WARNING rank %" PRIu32 ": simulated %.1f%% %s than recorded: ", rank->pair->rank,
                  off < 0 ? -100.0 * off : 100.0 * off, off < 0 ? "shorter" : "longer");
    if (off < 0 && measure->outside_ns * 2 > missing) {
        (void)fprintf(stream,
                      "%s at its end were spent in calls of threads that ran no op and launched nothing, which are not "
                      "in the trace\n",
                      report_time((double)measure->outside_ns).text);
    } else if (off < 0) {
        (void)fputs("work whose times cannot be, or that was cut to fit the op around it, was left out (trace import "
                    "counts it)\n",
                    stream);
    } else {
        (void)fputs("kernels were recorded before their launch or before the end of what their stream had to do first: "
                    "the clocks of host and device differ, and the order of launches and streams is kept\n",
                    stream);
    }
}

static void report_ready_measure_text_begin(struct report_table *table)
{
    static const char *const heads[] = {"Measured",  "recorded",    "simulated",  "difference",
                                        "host gaps", "launch gaps", "device gaps"};
    report_table_begin(table, 1);
    report_table_row(table);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        report_table_cell(table, heads[i]);
    }
}

static void add_rank(struct report_table *table, const struct ready_rank *rank)
{
    const struct ready_measure *measure = &rank->measure;
    char name[32];
    (void)snprintf(name, sizeof name, "rank %" PRIu32, rank->pair->rank);
    report_table_row(table);
    report_table_cell(table, name);
    report_table_cell(table, report_time((double)measure->recorded_ns).text);
    report_table_cell(table, report_time((double)measure->simulated_ns).text);
    add_signed(table, difference(measure));
    for (int kind = 0; kind < EMIT_GAP_KINDS; kind++) {
        add_share(table, measure->gap_ns[kind], measure->recorded_ns);
    }
}

void ready_text_measure(const struct ready_run *run, FILE *stream)
{
    enum { ROWS = REPORT_TABLE_ROWS - 2 };
    struct report_table table;
    uint32_t added = 0;
    for (uint32_t i = 0; i < run->rank_count; i++) {
        if (!run->ranks[i].measure.done) {
            continue;
        }
        if (added % ROWS == 0) {
            if (added > 0) {
                report_table_print(&table, stream);
            }
            (void)fputc('\n', stream);
            report_ready_measure_text_begin(&table);
        }
        add_rank(&table, &run->ranks[i]);
        added++;
    }
    if (added == 0) {
        return;
    }
    report_table_print(&table, stream);
    (void)fputs(
        "Each rank alone, communications as long as recorded. Gaps: time that nothing recorded explains, kept as it "
        "was, of the recorded time; those of different streams may overlap.\n",
        stream);
    for (uint32_t i = 0; i < run->rank_count; i++) {
        if (run->ranks[i].measure.done) {
            explain(&run->ranks[i], stream);
        }
    }
}
