/* SPDX-License-Identifier: Apache-2.0 */
/* The best points of a sweep as bars: what they are ranked by, and of the time how much of it is exposed
 * communication. */
#include <string.h>

#include "report/chart.h"
#include "report/number.h"
#include "report/sweep_text.h"

enum { SWEEP_BARS = 64, SWEEP_LABEL = 160 };

/* "bandwidth 100, latency 1" */
static void sweep_chart_label(const struct report_sweep *sweep, const struct report_sweep_row *row,
                              char label[SWEEP_LABEL])
{
    size_t used = 0;
    label[0] = '\0';
    for (uint32_t key = 0; key < sweep->key_count && used < SWEEP_LABEL; key++) {
        int more = snprintf(label + used, SWEEP_LABEL - used, "%s%s %s", key == 0 ? "" : ", ", sweep->keys[key],
                            row->values[key]);
        used += more > 0 ? (size_t)more : 0;
    }
}

void report_sweep_chart(const struct report_sweep *sweep, uint64_t best, FILE *stream)
{
    static const char *const titles[] = {[ORR_SWEEP_BY_TIME] = "simulated time",
                                         [ORR_SWEEP_BY_EXPOSED] = "exposed communication",
                                         [ORR_SWEEP_BY_COMM] = "communication",
                                         [ORR_SWEEP_BY_COMPUTE] = "compute"};
    char labels[SWEEP_BARS][SWEEP_LABEL];
    struct report_number values[SWEEP_BARS];
    struct chart_bar bars[SWEEP_BARS] = {{0}};
    char title[200];
    struct chart_bars chart = {.title = title, .bars = bars};
    bool by_time = sweep->by == ORR_SWEEP_BY_TIME;
    uint64_t most = best == 0 || best > SWEEP_BARS ? SWEEP_BARS : best;
    for (uint64_t i = 0; i < sweep->ranked_count && chart.count < most; i++) {
        const struct report_sweep_row *row = sweep->ranked[i];
        struct chart_bar *bar = &bars[chart.count];
        double figure = (double)report_sweep_figure(&row->result, sweep->by);
        double exposed = (double)row->result.exposed_comm_ns;
        sweep_chart_label(sweep, row, labels[chart.count]);
        values[chart.count] = report_time(figure);
        bar->label = labels[chart.count];
        bar->value = values[chart.count].text;
        bar->parts[0] = by_time && exposed < figure ? figure - exposed : by_time ? 0 : figure;
        bar->parts[1] = by_time ? figure - bar->parts[0] : 0;
        chart.count++;
    }
    if (by_time) {
        chart.parts[0] = "compute, and what it hides";
        chart.parts[1] = "exposed communication";
    }
    (void)snprintf(title, sizeof title, "%.80s%s%s: the best %u of %llu points", sweep->name != NULL ? sweep->name : "",
                   sweep->name != NULL ? ", " : "", titles[sweep->by], chart.count,
                   (unsigned long long)sweep->row_count);
    chart_bars_put(&chart, stream);
}
