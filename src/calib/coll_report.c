/* SPDX-License-Identifier: Apache-2.0 */
/* One table for the terminal and for the page: which rows a number was fitted on stands beside it, so that nothing
 * fitted is taken for a prediction. */
#include "calib/coll_report.h"

#include <math.h>
#include <string.h>

#include "base/plain.h"
#include "report/rows.h"
#include "report/scatter.h"

static void machine_name(const struct coll_item *item, char name[128])
{
    (void)snprintf(name, 128, "%s %s%s%s", item->source, item->row.machine.gpu->name, *item->nccl != '\0' ? " " : "",
                   item->nccl);
}

/* Nothing where there are no rows. */
static void put_share(const struct coll_errors *errors, double value, int width, FILE *stream)
{
    if (errors->count == 0) {
        (void)fprintf(stream, "%*s", width, "");
    } else {
        plain_fprintf(stream, "%*.1f", width, 100 * value);
    }
}

void coll_report_text(const struct coll_compared *compared, FILE *stream)
{
    (void)fprintf(stream, "%-42s %7s %5s %8s %8s %8s %8s %8s %8s %8s  %s\n", "machine", "ranks", "rows", "mean %",
                  "median", "90th", "worst", "bias", "large", "unseen", "fitted");
    for (uint32_t i = 0; i < compared->machine_count; i++) {
        const struct coll_machine_errors *machine = &compared->machines[i];
        const struct orr_coll_question *question = &machine->item->row.question;
        char name[128];
        machine_name(machine->item, name);
        (void)fprintf(stream, "%-42s %4ux%-2u %5u", name, question->nodes, question->gpus, machine->all.count);
        const double values[] = {machine->all.mean, machine->all.median, machine->all.ninetieth, machine->all.worst,
                                 machine->all.bias};
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            put_share(&machine->all, values[v], 9, stream);
        }
        put_share(&machine->large, machine->large.mean, 9, stream);
        put_share(&machine->left_out, machine->left_out.mean, 9, stream);
        (void)fprintf(stream, "  %s\n", compared->fitted[i]);
    }
    for (unsigned op = 0; op < ORR_COLL_OP_COUNT; op++) {
        const struct coll_errors *errors = &compared->ops[op];
        if (errors->count > 0) {
            plain_fprintf(stream, "%-42s %7s %5u %8.1f %8.1f %8.1f %8.1f %8.1f\n",
                          orr_coll_op_name((enum orr_coll_op)op), "", errors->count, 100 * errors->mean,
                          100 * errors->median, 100 * errors->ninetieth, 100 * errors->worst, 100 * errors->bias);
        }
    }
}

/* Shares; what was not measured is 0, which a column of rates leaves empty. */
struct compared_row {
    const char *source, *gpu, *nccl, *op, *fitted;
    uint32_t nodes, gpus, rows;
    double mean, median, p90, worst, bias, large, unseen;
};

#define COLUMN(...) REPORT_COLUMN(compared_row, __VA_ARGS__)
static const struct report_column compared_columns[] = {COLUMN("source", TEXT, 0, source),
                                                        COLUMN("gpu", TEXT, 0, gpu),
                                                        COLUMN("nccl", TEXT, 0, nccl),
                                                        COLUMN("nodes", U32, 0, nodes),
                                                        COLUMN("gpus_per_node", U32, 0, gpus),
                                                        COLUMN("op", TEXT, 0, op),
                                                        COLUMN("rows", U32, 0, rows),
                                                        COLUMN("mean_error", REAL, 4, mean),
                                                        COLUMN("median_error", REAL, 4, median),
                                                        COLUMN("p90_error", REAL, 4, p90),
                                                        COLUMN("worst_error", REAL, 4, worst),
                                                        COLUMN("bias", REAL, 4, bias),
                                                        COLUMN("large_error", RATE, 4, large),
                                                        COLUMN("unseen_error", RATE, 4, unseen),
                                                        COLUMN("fitted", TEXT, 0, fitted),
                                                        {0}};

static void put_row(const struct compared_row *row, struct json_writer *json, FILE *stream)
{
    if (json != NULL) {
        report_row_json(compared_columns, row, json);
    } else {
        report_row_csv(compared_columns, row, stream);
    }
}

static struct compared_row row_of(const struct coll_errors *errors)
{
    return (struct compared_row){"",
                                 "",
                                 "",
                                 "",
                                 "",
                                 0,
                                 0,
                                 errors->count,
                                 errors->mean,
                                 errors->median,
                                 errors->ninetieth,
                                 errors->worst,
                                 errors->bias,
                                 0,
                                 0};
}

void coll_report_rows(const struct coll_compared *compared, enum orr_form form, FILE *stream)
{
    struct json_writer writer;
    struct json_writer *json = form == ORR_FORM_JSON ? &writer : NULL;
    if (json != NULL) {
        json_write_begin(json, stream);
        json_write_array(json, false);
    } else {
        report_row_csv_head(compared_columns, stream);
    }
    for (uint32_t i = 0; i < compared->machine_count; i++) {
        const struct coll_machine_errors *machine = &compared->machines[i];
        struct compared_row row = row_of(&machine->all);
        row.source = machine->item->source;
        row.gpu = machine->item->row.machine.gpu->name;
        row.nccl = machine->item->nccl;
        row.nodes = machine->item->row.question.nodes;
        row.gpus = machine->item->row.question.gpus;
        row.large = machine->large.count > 0 ? machine->large.mean : 0;
        row.unseen = machine->left_out.count > 0 ? machine->left_out.mean : 0;
        row.fitted = compared->fitted[i];
        put_row(&row, json, stream);
    }
    for (unsigned op = 0; op < ORR_COLL_OP_COUNT; op++) {
        struct compared_row row = row_of(&compared->ops[op]);
        row.op = orr_coll_op_name((enum orr_coll_op)op);
        if (row.rows > 0) {
            put_row(&row, json, stream);
        }
    }
    if (json != NULL) {
        json_write_array_end(json);
        json_write_end(json);
    }
}

void coll_report_page(const struct coll_compared *compared, const char *picture, FILE *stream)
{
    (void)fputs(
        "# How right the times of collectives are\n\n"
        "Made by `orrery coll compare` from the tables that [collective-times.md](collective-times.md) names. The\n"
        "error of a machine is exp(mean of |ln(predicted / measured)|) - 1 over all its operations and sizes,\n"
        "in percent; *large* is above 16 MiB; *unseen* is the same with every curve of that source, GPU and\n"
        "release left out, so that relatives, other releases or the model alone speak; the model's constants stay\n"
        "fitted on all rows, these too. *Fitted* says what of the\n"
        "machine's own rows was used: its curves are shipped, or its rows went into constants, and then its\n"
        "error is no prediction.\n\n",
        stream);
    if (picture != NULL) {
        (void)fprintf(stream, "![predicted against measured](%s)\n\n", picture);
    }
    (void)fputs("| machine | ranks | rows | mean | median | 90th | worst | bias | large | unseen | fitted |\n"
                "|---|---|---|---|---|---|---|---|---|---|---|\n",
                stream);
    for (uint32_t i = 0; i < compared->machine_count; i++) {
        const struct coll_machine_errors *machine = &compared->machines[i];
        const struct orr_coll_question *question = &machine->item->row.question;
        const struct coll_errors *all = &machine->all;
        char name[128];
        machine_name(machine->item, name);
        plain_fprintf(stream, "| %s | %ux%u | %u | %.1f | %.1f | %.1f | %.1f | %.1f |", name, question->nodes,
                      question->gpus, all->count, 100 * all->mean, 100 * all->median, 100 * all->ninetieth,
                      100 * all->worst, 100 * all->bias);
        put_share(&machine->large, machine->large.mean, 5, stream);
        (void)fputs(" |", stream);
        put_share(&machine->left_out, machine->left_out.mean, 5, stream);
        (void)fprintf(stream, " | %s |\n", compared->fitted[i]);
    }
}

void coll_report_picture(const struct coll_rows *rows, const struct coll_compared *compared, FILE *stream)
{
    const struct scatter scatter = {.first = 0, .last = 6, .unit = "us"};
    uint32_t colour = 0;
    scatter_begin(&scatter, stream);
    for (uint32_t i = 0; i < rows->count; i++) {
        bool is_new = i == 0 || strcmp(rows->items[i].source, rows->items[i - 1].source) != 0;
        colour += is_new && i > 0;
        if (is_new) {
            scatter_name(colour, rows->items[i].source, stream);
        }
        if (!isnan(compared->predicted[i])) {
            scatter_dot(&scatter, colour, rows->items[i].row.us, compared->predicted[i], stream);
        }
    }
    scatter_end(stream);
}
