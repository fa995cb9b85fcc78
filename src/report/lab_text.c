/* SPDX-License-Identifier: Apache-2.0 */
/* Shares are those of the mean rank: the four parts of every rank's time add up to the whole run, so their means do
 * too, and 128 ranks are no longer to read than two. */
#include "report/lab_text.h"
#include "param/param.h"

#include <inttypes.h>

#include "report/number.h"

enum { LABEL = 12 };

static void label(const char *text, FILE *stream)
{
    (void)fprintf(stream, "%-*s", LABEL, text);
}

static void put_job(const struct report_lab *lab, FILE *stream)
{
    label("Workload", stream);
    (void)fprintf(stream, "%s: %" PRIu32 " trace%s", lab->workload, lab->traces, lab->traces == 1 ? "" : "s");
    if (lab->steps != 0) {
        (void)fprintf(stream, ", %" PRIu64 " step%s", lab->steps, lab->steps == 1 ? "" : "s");
    }
    (void)fputc('\n', stream);
    label("Machine", stream);
    (void)fprintf(stream, "%s: %" PRIu32 " ranks in %s", lab->machine, lab->world, lab->dims);
    if (lab->rates != NULL) {
        (void)fprintf(stream, ", %s, %s", lab->rates, lab->times);
    }
    (void)fprintf(stream, "; %s network\n", lab->backend);
    if (lab->grown) {
        label("Scaling", stream);
        (void)fprintf(stream, "%" PRIu32 " -> %" PRIu32 " ranks (%sx), %s", lab->traces, lab->world,
                      report_short((double)lab->world / lab->traces).text,
                      lab->strong ? "strong: the whole job keeps its batch" : "weak: each rank keeps its batch");
        if (lab->comm_scale != NULL) {
            (void)fprintf(stream, "; collectives times %s", lab->comm_scale);
        }
        (void)fputc('\n', stream);
    }
}

static void put_time(const struct report_lab *lab, FILE *stream)
{
    const struct report_number spelled = report_time_long(lab->total_ns);
    const char *total = spelled.text;
    if (lab->finished < lab->world) {
        label("Stopped", stream);
        (void)fprintf(stream, "at %s with %" PRIu32 " of %" PRIu32 " ranks finished; what follows is what is known\n",
                      total, lab->finished, lab->world);
        return;
    }
    label("Step time", stream);
    if (lab->steps > 1) {
        (void)fprintf(stream, "%s, the mean of %" PRIu64 " steps in %s\n",
                      report_time_long(lab->total_ns / lab->steps).text, lab->steps, total);
    } else {
        (void)fprintf(stream, "%s  (%" PRIu64 " ns)\n", total, lab->total_ns);
    }
}

static void report_lab_text_put_parts(const struct report_lab *lab, FILE *stream)
{
    static const struct {
        const char *name, *about, *dominant;
    } parts[] = {{"Compute", "", "compute"},
                 {"Exposed", "  communication that nothing hides", "communication"},
                 {"Other", "  host and memory operations that nothing hides", "host and memory operations"},
                 {"Idle", "", "waiting for other ranks"}};
    double whole = 0;
    int most = 0;
    for (int i = 0; i < REPORT_LAB_PARTS; i++) {
        whole += lab->parts_ns[i];
        most = lab->parts_ns[i] > lab->parts_ns[most] ? i : most;
    }
    for (int i = 0; i < REPORT_LAB_PARTS; i++) {
        double step = lab->parts_ns[i] / (lab->steps != 0 ? (double)lab->steps : 1);
        label(parts[i].name, stream);
        (void)fprintf(stream, "%-12s%6s%s\n", report_time(step).text, report_share(lab->parts_ns[i], whole).text,
                      parts[i].about);
    }
    label("Dominant", stream);
    (void)fputs(parts[most].dominant, stream);
    if (most == REPORT_LAB_COMM && lab->most.total_ns != 0) {
        (void)fprintf(stream, "; most of it in %s of %s among %" PRIu32, lab->most.type,
                      report_bytes((double)lab->most.bytes).text, lab->most.group_size);
    }
    (void)fputc('\n', stream);
    if (lab->optimum.all_ns != 0) {
        double steps = lab->steps != 0 ? (double)lab->steps : 1;
        label("Optimum", stream);
        (void)fprintf(stream, "%-12s%6s  no schedule on these links is shorter\n",
                      report_time((double)lab->optimum.all_ns / steps).text,
                      report_share((double)lab->optimum.all_ns, (double)lab->total_ns).text);
    }
}

void report_lab_put(const struct report_lab *lab, FILE *stream)
{
    put_job(lab, stream);
    put_time(lab, stream);
    report_lab_text_put_parts(lab, stream);
}

void report_lab_place(const struct report_lab *lab, FILE *stream)
{
    char number[24];
    (void)snprintf(number, sizeof number, "Run %" PRId64, lab->number);
    label(number, stream);
    (void)fprintf(stream, "%s: manifest.json, results and the machine\n", lab->folder);
    label("Repeat", stream);
    (void)fprintf(stream, "%s\n", lab->repeat);
    label("Compare", stream);
    param_print(stream, "orrery lab list parameter 'store' %s\n", lab->store);
}
