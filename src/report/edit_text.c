/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of 0 are left out: a table of what was not done helps nobody. */
#include "report/edit_text.h"

#include <inttypes.h>

#include "report/number.h"
#include "report/table.h"

static void report_edit_text_row(struct report_table *table, const char *what, uint64_t count)
{
    report_table_row(table);
    report_table_cell(table, what);
    report_table_cell(table, report_count(count).text);
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void sizes(size_t files, uint64_t nodes_in, uint64_t nodes_out, FILE *stream)
{
    (void)fprintf(stream, "%zu file%s, %" PRIu64 " node%s in, %" PRIu64 " out\n", files, plural(files), nodes_in,
                  plural(nodes_in), nodes_out);
}

void edit_text_fix(const struct fix_counts *counts, size_t files, FILE *stream)
{
    struct report_table table;
    uint64_t total = 0;
    report_table_begin(&table, 1);
    for (unsigned i = 0; i < FIX_REPAIR_COUNT; i++) {
        if (counts->repairs[i] > 0) {
            report_edit_text_row(&table, fix_repair_text(i), counts->repairs[i]);
            total += counts->repairs[i];
        }
    }
    sizes(files, counts->nodes_in, counts->nodes_out, stream);
    (void)fprintf(stream, "%" PRIu64 " dependencies in, %" PRIu64 " out\n", counts->deps_in, counts->deps_out);
    if (total == 0) {
        (void)fputs("Nothing to repair.\n", stream);
    }
    report_table_print(&table, stream);
}

void edit_text_simplify(const struct simplify_counts *counts, size_t files, FILE *stream)
{
    sizes(files, counts->nodes_in, counts->nodes_out, stream);
    (void)fprintf(stream, "%" PRIu64 " dependencies in, %" PRIu64 " out\n", counts->deps_in, counts->deps_out);
    if (counts->joints > 0) {
        (void)fprintf(stream, "%" PRIu64 " node%s kept as a joint of no duration\n", counts->joints,
                      plural(counts->joints));
    }
    if (counts->steps > 0) {
        (void)fprintf(stream, "%" PRIu64 " step%s\n", counts->steps, plural(counts->steps));
    }
}

void edit_text_scale(const struct scale_counts *counts, const struct scale_options *options, FILE *stream)
{
    if (options->compute.over != options->compute.under) {
        (void)fprintf(stream,
                      "compute x %" PRIu64 "/%" PRIu64 ": %" PRIu64 " of %" PRIu64 " nodes, %" PRIu64 " us -> %" PRIu64
                      " us\n",
                      options->compute.over, options->compute.under, counts->compute, counts->nodes,
                      counts->compute_us_before, counts->compute_us);
    }
    if (options->comm.over != options->comm.under) {
        (void)fprintf(stream,
                      "communication x %" PRIu64 "/%" PRIu64 ": %" PRIu64 " of %" PRIu64 " nodes, %" PRIu64
                      " bytes -> %" PRIu64 " bytes\n",
                      options->comm.over, options->comm.under, counts->comm, counts->nodes, counts->bytes_before,
                      counts->bytes);
    }
}

void edit_text_rewrite(const struct rewrite_counts *counts, FILE *stream)
{
    (void)fprintf(stream, "%" PRIu64 " of %" PRIu64 " nodes match\n", counts->matched, counts->nodes);
    (void)fprintf(stream, "%" PRIu64 " type%s, %" PRIu64 " size%s, %" PRIu64 " group%s changed\n", counts->types,
                  plural(counts->types), counts->sizes, plural(counts->sizes), counts->groups, plural(counts->groups));
    (void)fprintf(stream, "%" PRIu64 " bytes -> %" PRIu64 " bytes\n", counts->bytes_before, counts->bytes);
}

void edit_text_cut(const struct cut_counts *counts, size_t files, FILE *stream)
{
    sizes(files, counts->nodes_in, counts->nodes_out, stream);
    if (counts->joints > 0) {
        (void)fprintf(stream, "%" PRIu64 " node%s kept as a joint of no duration\n", counts->joints,
                      plural(counts->joints));
    }
}

void edit_text_merge(const struct merge_counts *counts, FILE *stream)
{
    (void)fprintf(
        stream, "%" PRIu64 " file%s, %" PRIu64 " nodes, %" PRIu64 " dependencies between files, %" PRIu64 " joint%s\n",
        counts->files, plural(counts->files), counts->nodes, counts->links, counts->joints, plural(counts->joints));
}

void edit_text_measure(uint64_t before_ns, uint64_t after_ns, FILE *stream)
{
    double change = before_ns == 0 ? 0.0 : ((double)after_ns - (double)before_ns) / (double)before_ns * 100.0;
    (void)fprintf(stream, "step time before  %s\n", report_time_long(before_ns).text);
    (void)fprintf(stream, "step time after   %s\n", report_time_long(after_ns).text);
    (void)fprintf(stream, "difference        %s%s%%\n", change > 0 ? "+" : "", report_fixed(change, 3).text);
}
