/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions of orrery/colltime.h that ask for times: one, a range of sizes, a table. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/colltime_machine.h"
#include "base/plain.h"
#include "calib/coll_table.h"
#include "io/outfile.h"
#include "orrery.h"
#include "report/colltime.h"

enum orr_status orr_coll_timer_open(const struct orr_coll_machine *machine, struct orr_coll_timer **timer,
                                    struct orr_error *err)
{
    struct orr_coll_timer *made = malloc(sizeof *made);
    if (made == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory for a machine");
    }
    enum orr_status status = colltime_machine_read(machine, made, err);
    /* The arena counts in the account beside it, which has just been made in place. */
    if (status == ORR_OK && made->machine.gpu == NULL) {
        status = error_set(err, ORR_EINVAL, "neither a machine nor a GPU is named");
    }
    if (status != ORR_OK) {
        orr_coll_timer_close(made);
        return status;
    }
    timing_machine_settle(&made->machine);
    *timer = made;
    return ORR_OK;
}

void orr_coll_timer_close(struct orr_coll_timer *timer)
{
    if (timer != NULL) {
        arena_free(&timer->arena);
        free(timer);
    }
}

enum orr_status orr_coll_time(const struct orr_coll_timer *timer, const struct orr_coll_question *question,
                              struct orr_coll_answer *answer, struct orr_error *err)
{
    return timing_estimate(&timer->machine, question, answer, err);
}

/* ---- a range of sizes ---- */

enum { SWEEP_MOST = 64, NODE_MOST = 16 };

/* What no node of this GPU has is a slip of the keyboard. */
static enum orr_status check_sweep(const struct timing_machine *machine, const struct orr_coll_question *question,
                                   struct orr_error *err)
{
    uint32_t most = machine->gpu->domain > NODE_MOST ? machine->gpu->domain : NODE_MOST;
    most = machine->node_gpus > most ? machine->node_gpus : most;
    if (question->gpus > most) {
        return error_set(err, ORR_ERANGE, "parameter 'gpus-per-node': %u of %s; a node has at most %u", question->gpus,
                         machine->gpu->name, most);
    }
    uint32_t whole = machine->node_gpus > question->gpus ? machine->node_gpus : question->gpus;
    whole = machine->node_gpus == 0 && whole < 8 ? 8 : whole;
    if (question->groups > whole) {
        return error_set(err, ORR_ERANGE, "parameter 'groups': %u in a node of %u GPUs", question->groups, whole);
    }
    return ORR_OK;
}

/* Whether one of the user's curves is of this operation and these nodes: else the shipped ones speak, which is told. */
static bool is_unused(const struct timing_machine *machine, const struct orr_coll_question *question)
{
    struct timing_shape shape;
    timing_shape_of(machine, question, &shape);
    for (size_t i = 0; i < machine->own.count; i++) {
        const struct timing_curve *curve = &machine->own.curves[i];
        if (curve->op == (uint32_t)question->op && curve->nodes == shape.nodes &&
            (shape.nodes == 1 || curve->gpus == shape.gpus)) {
            return false;
        }
    }
    return machine->own.count > 0;
}

enum orr_status orr_coll_sweep(const struct orr_coll_sweep *sweep, FILE *stream, struct orr_error *err)
{
    struct orr_coll_timer *timer = NULL;
    enum orr_status status = orr_coll_timer_open(&sweep->machine, &timer, err);
    if (status != ORR_OK || timer == NULL) {
        return status;
    }
    struct orr_coll_question question = sweep->question;
    uint32_t whole = timer->machine.node_gpus > 0 ? timer->machine.node_gpus : 8;
    question.nodes = question.nodes > 0 ? question.nodes : timer->nodes > 0 ? timer->nodes : 1;
    question.gpus = question.gpus > 0 ? question.gpus : timer->gpus > 0 ? timer->gpus : whole;
    status = check_sweep(&timer->machine, &question, err);
    struct orr_coll_answer answers[SWEEP_MOST];
    uint32_t count = 0;
    uint64_t last = sweep->last_bytes > question.bytes ? sweep->last_bytes : question.bytes;
    struct orr_coll_question each = question;
    for (; status == ORR_OK && count < SWEEP_MOST && each.bytes <= last; each.bytes *= 2) {
        status = timing_estimate(&timer->machine, &each, &answers[count], err);
        count += status == ORR_OK;
        if (each.bytes == 0 || each.bytes > UINT64_MAX / 2) {
            break;
        }
    }
    if (status == ORR_OK) {
        struct report_colltime times = {timer->machine.gpu->name,
                                        timer->machine.fabric->name,
                                        &question,
                                        answers,
                                        count,
                                        is_unused(&timer->machine, &question)};
        (sweep->json ? report_colltime_json : report_colltime_text)(&times, stream);
    }
    orr_coll_timer_close(timer);
    return status;
}

/* ---- a table ---- */

/* Errors of one source so far. */
struct tally {
    char source[64];
    uint64_t rows, refused;
    double sum, sum_large; /* of |ln(predicted / measured)| */
    uint64_t timed, timed_large;
};

enum { TALLIES_MOST = 256, LARGE_BYTES = 16 << 20 };

struct tabling {
    const struct orr_coll_table *options;
    struct orr_coll_timer *timer;
    FILE *out;
    struct tally *tallies;
    size_t tally_count;
};

static struct tally *tally_of(struct tabling *tabling, const char *source)
{
    for (size_t i = 0; i < tabling->tally_count; i++) {
        if (strncmp(tabling->tallies[i].source, source, sizeof tabling->tallies[i].source - 1) == 0) {
            return &tabling->tallies[i];
        }
    }
    if (tabling->tally_count == TALLIES_MOST) {
        return &tabling->tallies[TALLIES_MOST - 1];
    }
    struct tally *tally = &tabling->tallies[tabling->tally_count++];
    (void)snprintf(tally->source, sizeof tally->source, "%s", source);
    return tally;
}

static void count_error(struct tally *tally, const struct timing_row *row, double us)
{
    if (!(row->us > 0)) {
        return;
    }
    double error = fabs(log(us / row->us));
    tally->sum += error;
    tally->timed++;
    if (row->question.bytes > LARGE_BYTES) {
        tally->sum_large += error;
        tally->timed_large++;
    }
}

static const char *const colltime_added[] = {"predicted_us", "algorithm", "protocol", "method", "status", NULL};

static void api_colltime_put_row(struct tabling *tabling, const struct coll_table *table, const struct csv_row *row)
{
    char separator = csv_reader_separator(table->reader);
    struct orr_error reason = {0};
    struct timing_row settled;
    struct orr_coll_answer answer;
    enum orr_status status = coll_row_settle(table, row, &tabling->timer->machine, &settled, &reason);
    uint32_t columns = csv_reader_header(table->reader)->count;
    if (row->count != columns) {
        status = error_set(&reason, ORR_EINVAL, "%u fields, where the header has %u", row->count, columns);
    }
    if (status == ORR_OK) {
        settled.question.algo = tabling->options->algo;
        settled.question.proto = tabling->options->proto;
        status = timing_estimate(&settled.machine, &settled.question, &answer, &reason);
    }
    struct tally *tally = tally_of(tabling, coll_table_field(table, row, COLL_COLUMN_SOURCE));
    tally->rows++;
    csv_write_kept(csv_reader_header(table->reader), row, colltime_added, separator, tabling->out);
    if (status != ORR_OK) {
        tally->refused++;
        (void)fprintf(tabling->out, "%c%c%c%c", separator, separator, separator, separator);
        csv_write_field(reason.text, tabling->out);
        (void)fputc('\n', tabling->out);
        return;
    }
    count_error(tally, &settled, answer.us);
    plain_fprintf(tabling->out, "%.6g%c%s%c%s%c%s%cok\n", answer.us, separator, orr_coll_algo_name(answer.algo),
                  separator, orr_coll_proto_name(answer.proto), separator, orr_coll_method_name(answer.method),
                  separator);
}

static void put_tallies(const struct tabling *tabling, FILE *stream)
{
    for (size_t i = 0; stream != NULL && i < tabling->tally_count; i++) {
        const struct tally *tally = &tabling->tallies[i];
        (void)fprintf(stream, "%s: %" PRIu64 " rows", *tally->source != '\0' ? tally->source : "(no source)",
                      tally->rows);
        if (tally->refused > 0) {
            (void)fprintf(stream, ", %" PRIu64 " not predicted (column status)", tally->refused);
        }
        if (tally->timed > 0) {
            plain_fprintf(stream, ", error %.1f %%", 100 * expm1(tally->sum / (double)tally->timed));
        }
        if (tally->timed_large > 0) {
            plain_fprintf(stream, ", above 16 MiB %.1f %%", 100 * expm1(tally->sum_large / (double)tally->timed_large));
        }
        (void)fputc('\n', stream);
    }
}

static enum orr_status api_colltime_put_table(struct tabling *tabling, struct coll_table *table, struct orr_error *err)
{
    const struct csv_row *header = csv_reader_header(table->reader);
    char separator = csv_reader_separator(table->reader);
    csv_write_kept(header, header, colltime_added, separator, tabling->out);
    csv_write_added(colltime_added, separator, tabling->out);
    struct csv_row row;
    bool more = true;
    enum orr_status status = ORR_OK;
    while (more && status == ORR_OK) {
        row.count = 0;
        status = csv_reader_next(table->reader, &row, &more, err);
        if (status == ORR_EINVAL && row.count > 0) {
            status = ORR_OK; /* a row of another number of fields: it gets its status */
        }
        if (status == ORR_OK && more) {
            api_colltime_put_row(tabling, table, &row);
        }
    }
    return status;
}

static enum orr_status api_colltime_write_table(struct tabling *tabling, struct orr_error *err)
{
    const struct orr_coll_table *options = tabling->options;
    struct coll_table table;
    struct io_outfile *file = NULL;
    bool has_gpu = tabling->timer->machine.gpu != NULL;
    enum orr_status status = coll_table_open(options->path, has_gpu, &tabling->timer->mem, &table, err);
    if (status != ORR_OK) {
        return status;
    }
    if (options->output == NULL) {
        status = api_colltime_put_table(tabling, &table, err);
        coll_table_close(&table);
        return status == ORR_OK ? error_of_stream(tabling->out, "the table", err) : status;
    }
    status = io_outfile_open(options->output, io_outfile_form_of(options->output), &file, err);
    if (status == ORR_OK) {
        tabling->out = io_outfile_stream(file);
        status = api_colltime_put_table(tabling, &table, err);
        status = io_outfile_end(file, status, err);
    }
    coll_table_close(&table);
    return status;
}

enum orr_status orr_coll_table(const struct orr_coll_table *table, FILE *stream, struct orr_error *err)
{
    struct orr_coll_timer timer;
    struct tally tallies[TALLIES_MOST] = {{{0}, 0, 0, 0, 0, 0, 0}};
    struct tabling tabling = {.options = table, .timer = &timer, .out = stream, .tallies = tallies};
    if (table->output == NULL && stream == NULL) {
        return error_set(err, ORR_EINVAL, "a table of times needs a file or a stream to be written to");
    }
    enum orr_status status = colltime_machine_read(&table->machine, &timer, err);
    if (status == ORR_OK) {
        timer.mem.limit = table->memory_limit;
        status = api_colltime_write_table(&tabling, err);
    }
    if (status == ORR_OK && table->output != NULL) {
        put_tallies(&tabling, stream);
    }
    arena_free(&timer.arena);
    return status;
}
