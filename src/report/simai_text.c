/* SPDX-License-Identifier: Apache-2.0 */
/* A person asks three things: how long, where the time goes, what to change. The advice is arithmetic on the same sums:
 * what the iteration would take without one of its parts, and the option or degree that moves that part. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "param/param.h"
#include "report/number.h"
#include "report/simai.h"
#include "report/table.h"

enum { DEAREST = 8, NAME_SHOWN = 40 };
static const double WORTH_SAYING = 0.05; /* of the total */
static const double NS_PER_US = 1000;

static const char *const phase_words[REPORT_SIMAI_PHASES] = {"forward", "input grad", "weight grad"};

struct part {
    const char *name;
    double us;
};

static void report_simai_text_print_parts(const struct report_simai *report, FILE *stream)
{
    enum { CP_PART = 1 }; /* shown where there is such a group: SimAI has none */
    const struct part shown[] = {
        {"compute", report->compute},
        {"CP communication, exposed", report->exposed[REPORT_SIMAI_CP]},
        {"TP communication, exposed", report->exposed[REPORT_SIMAI_TP]},
        {"EP communication, exposed", report->exposed[REPORT_SIMAI_EP]},
        {"DP communication, exposed", report->exposed[REPORT_SIMAI_DP]},
        {"DP_EP communication, exposed", report->exposed[REPORT_SIMAI_DP_EP]},
        {"PP communication, exposed", report->pipeline},
        {"pipeline bubble", report->bubble},
    };
    struct report_table table;
    report_table_begin(&table, 1);
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        if (i == CP_PART && report->cp <= 1) {
            continue;
        }
        report_table_row(&table);
        report_table_cell(&table, shown[i].name);
        report_table_cell(&table, report_time(shown[i].us * 1000).text);
        report_table_cell(&table, report_share(shown[i].us, report->total).text);
    }
    report_table_print(&table, stream);
}

/* ---- the dearest rows ---- */

/* Rows repeat for every layer and micro-batch: those of one name, phase and operation are one line. */
struct dear {
    const struct report_simai_row *row;
    unsigned phase;
    double us; /* compute and exposed communication */
    double compute;
    uint64_t times;
};

static bool report_simai_text_same_kind(const struct dear *dear, const struct report_simai_row *row, unsigned phase)
{
    const struct report_simai_cell *cell = &row->cells[phase];
    const struct report_simai_cell *first = &dear->row->cells[dear->phase];
    return dear->phase == phase && dear->row->name_length == row->name_length &&
           memcmp(dear->row->name, row->name, row->name_length) == 0 && cell->comm == first->comm &&
           cell->compute == first->compute && cell->op == first->op;
}

enum { KINDS = 256 };

/* The first KINDS kinds are told apart; a workload has some tens. */
static size_t find_kinds(const struct report_simai *report, struct dear kinds[KINDS])
{
    size_t count = 0;
    for (uint32_t i = 0; i < report->row_count; i++) {
        for (unsigned phase = 0; phase < REPORT_SIMAI_PHASES; phase++) {
            const struct report_simai_row *row = &report->rows[i];
            double us = row->cells[phase].compute + row->cells[phase].exposed;
            size_t at = 0;
            while (at < count && !report_simai_text_same_kind(&kinds[at], row, phase)) {
                at++;
            }
            if (us > 0 && at == count && count < KINDS) {
                kinds[count++] = (struct dear){.row = row, .phase = phase};
            }
            if (us > 0 && at < count) {
                kinds[at].us += us;
                kinds[at].compute += row->cells[phase].compute;
                kinds[at].times++;
            }
        }
    }
    return count;
}

static void print_dearest(const struct report_simai *report, FILE *stream)
{
    struct dear kinds[KINDS];
    struct report_table table;
    size_t count = find_kinds(report, kinds);
    static const char *const heads[] = {"row",        "phase",    "times",   "compute",
                                        "collective", "bus GB/s", "exposed", "share"};
    report_table_begin(&table, 1u | 2u | 16u);
    report_table_row(&table);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        report_table_cell(&table, heads[i]);
    }
    for (unsigned line = 0; line < DEAREST; line++) {
        size_t best = count;
        for (size_t i = 0; i < count; i++) {
            best = kinds[i].us > 0 && (best == count || kinds[i].us > kinds[best].us) ? i : best;
        }
        if (best == count) {
            break;
        }
        const struct dear *dear = &kinds[best];
        const struct report_simai_cell *cell = &dear->row->cells[dear->phase];
        char text[NAME_SHOWN + 8];
        size_t length = dear->row->name_length < NAME_SHOWN ? dear->row->name_length : NAME_SHOWN;
        (void)snprintf(text, sizeof text, "%.*s", (int)length, dear->row->name);
        report_table_row(&table);
        report_table_cell(&table, text);
        report_table_cell(&table, phase_words[dear->phase]);
        report_table_cell(&table, report_count(dear->times).text);
        report_table_cell(&table, report_time(dear->compute * 1000).text);
        (void)snprintf(text, sizeof text, "%s%s%s", cell->op != NULL ? cell->op : "-", cell->op != NULL ? " " : "",
                       cell->op != NULL ? cell->group : "");
        report_table_cell(&table, text);
        report_table_cell(&table, cell->bus_rate > 0 ? report_fixed(cell->bus_rate, 1).text : "-");
        report_table_cell(&table, report_time((dear->us - dear->compute) * 1000).text);
        report_table_cell(&table, report_share(dear->us, report->total).text);
        kinds[best].us = 0;
    }
    report_table_print(&table, stream);
}

/* ---- what would help ---- */

static bool advise(const struct report_simai *report, double us, const char *what, const char *how, FILE *stream)
{
    if (!(us > report->total * WORTH_SAYING)) {
        return false;
    }
    param_print(stream, "  %s: %s without, %s less. %s\n", what, report_time((report->total - us) * 1000).text,
                report_share(us, report->total).text, how);
    return true;
}

static void print_advice(const struct report_simai *report, FILE *stream)
{
    char how[240];
    bool can_interleave = report->chunks == 1 && report->vpp > 1;
    (void)fputs("\nWhat would help:\n", stream);
    (void)snprintf(how, sizeof how, "More micro-batches (ga %" PRId32 ") or fewer stages (pp %" PRId32 ") shrink it%s.",
                   report->ga, report->pp,
                   can_interleave ? "; parameter 'schedule' interleaved divides it by up to vpp, and sends as much more"
                                  : "");
    bool said = advise(report, report->bubble, "the pipeline bubble", how, stream);
    bool crosses = report->gpus_per_server > 0 && report->tp > report->gpus_per_server;
    said |= advise(report, report->exposed[REPORT_SIMAI_TP], "tensor-parallel communication",
                   crosses ? "TP groups reach over servers: a TP of at most -g_p_s stays on NVLink."
                           : "A smaller TP, faster NVLink (-nv), or overlap (-tp_o).",
                   stream);
    said |= advise(report, report->exposed[REPORT_SIMAI_CP], "the exchange of keys and values",
                   "Fewer key/value heads, a smaller CP, or one that stays on a server.", stream);
    said |= advise(report, report->exposed[REPORT_SIMAI_EP], "expert all-to-alls",
                   "More NIC bandwidth (-nic, -n_p_s), an EP that stays on a server, or overlap (-ep_o).", stream);
    said |= advise(report, report->exposed[REPORT_SIMAI_DP] + report->exposed[REPORT_SIMAI_DP_EP],
                   "the exchange of gradients and weights",
                   "Overlap with the backward pass (-dp_o), or more NIC bandwidth (-nic, -n_p_s).", stream);
    said |= advise(report, report->pipeline, "what pipeline stages send",
                   "Overlap (-pp_o), or sequence parallelism, which divides it by TP.", stream);
    if (!said) {
        (void)fputs("  no part but compute takes 5% of the time: faster GPUs or a better kernel.\n", stream);
    }
    if (report->pp > 1 && report->pp_bytes > 0 && report->messages_hide) {
        (void)fputs("  (What pipeline stages send is taken to hide behind compute; -pp_o 0 counts it in full.)\n",
                    stream);
    }
}

void report_simai_text(const struct report_simai *report, FILE *stream)
{
    char cp[32] = "";
    if (report->cp > 1) {
        (void)snprintf(cp, sizeof cp, ", CP %" PRId32, report->cp);
    }
    (void)fprintf(stream,
                  "%s: one iteration on %" PRId32 " GPUs (TP %" PRId32 ", PP %" PRId32 ", DP %" PRId32 ", EP %" PRId32
                  "%s; %" PRId32 " micro-batches)\n\n",
                  report->workload, report->gpus, report->tp, report->pp, report->dp, report->ep, cp, report->ga);
    if (!isfinite(report->total)) {
        (void)fputs("The total is no number, as in SimAI: the header lacks degrees (pp:, ga:, vpp:).\n", stream);
        return;
    }
    bool is_bare = report->compute * NS_PER_US <= 2.0 * REPORT_SIMAI_PHASES * report->row_count;
    (void)fprintf(stream, "Total: %s%s\n\n", report_time(report->total * 1000).text,
                  is_bare
                      ? "\nNO STEP TIME: the workload has no compute times, only 1 ns a row. This is communication by "
                        "itself."
                      : "");
    report_simai_text_print_parts(report, stream);
    (void)fputs("\nDearest rows (same name, size and phase added up):\n", stream);
    print_dearest(report, stream);
    print_advice(report, stream);
}
