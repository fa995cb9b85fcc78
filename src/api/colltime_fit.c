/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions of orrery/colltime.h that work on many measurements: the comparison and the fit. */
#include <math.h>
#include <string.h>

#include "base/plain.h"
#include "calib/coll_fit.h"
#include "calib/coll_report.h"
#include "io/outfile.h"
#include "orrery.h"

struct gathered {
    struct mem mem;
    struct arena arena;
    struct coll_rows rows;
};

static enum orr_status gather(const char *const *paths, size_t count, uint64_t limit, struct gathered *gathered,
                              struct orr_error *err)
{
    *gathered = (struct gathered){.mem = {.limit = limit}};
    arena_init(&gathered->arena, &gathered->mem);
    enum orr_status status = coll_rows_read(paths, count, &gathered->arena, &gathered->mem, &gathered->rows, err);
    if (status == ORR_OK && gathered->rows.count == 0) {
        status = error_set(err, ORR_EINVAL, "%s: no row with a time", count > 0 ? paths[0] : "no table");
    }
    return status;
}

static void drop(struct gathered *gathered)
{
    coll_rows_free(&gathered->rows, &gathered->mem);
    arena_free(&gathered->arena);
}

static const char *file_name(const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    return slash != NULL ? slash + 1 : path;
}

static enum orr_status write_page(const struct orr_coll_compare *compare, const struct coll_compared *compared,
                                  struct orr_error *err)
{
    struct io_outfile *file = NULL;
    enum orr_status status = io_outfile_open(compare->page, IO_OUTFILE_PLAIN, &file, err);
    if (status == ORR_OK) {
        coll_report_page(compared, file_name(compare->picture), io_outfile_stream(file));
        status = io_outfile_commit(file, err);
    }
    return status;
}

static enum orr_status api_colltime_fit_write_picture(const char *path, const struct coll_rows *rows,
                                                      const struct coll_compared *compared, struct orr_error *err)
{
    struct io_outfile *file = NULL;
    enum orr_status status = io_outfile_open(path, IO_OUTFILE_PLAIN, &file, err);
    if (status == ORR_OK) {
        coll_report_picture(rows, compared, io_outfile_stream(file));
        status = io_outfile_commit(file, err);
    }
    return status;
}

/* Whether each machine whose curves are shipped is within the bar. */
static enum orr_status hold_to(const struct coll_compared *compared, double worst, struct orr_error *err)
{
    for (uint32_t i = 0; i < compared->machine_count; i++) {
        const struct coll_machine_errors *machine = &compared->machines[i];
        if (machine->left_out.count > 0 && machine->all.mean > worst) {
            const struct orr_coll_question *question = &machine->item->row.question;
            return error_set(err, ORR_EFAIL, "%s, %u x %u %s: off by %.1f %%, more than %.1f %%", machine->item->source,
                             question->nodes, question->gpus, machine->item->row.machine.gpu->name,
                             100 * machine->all.mean, 100 * worst);
        }
    }
    return ORR_OK;
}

/* JSON or CSV to its file, where it has one. */
static enum orr_status colltime_fit_write_rows(const char *path, enum orr_form form,
                                               const struct coll_compared *compared, struct orr_error *err)
{
    struct io_outfile *file = NULL;
    if (path == NULL || strcmp(path, "-") == 0) {
        return ORR_OK;
    }
    enum orr_status status = io_outfile_open(path, IO_OUTFILE_PLAIN, &file, err);
    if (status == ORR_OK) {
        coll_report_rows(compared, form, io_outfile_stream(file));
        status = io_outfile_commit(file, err);
    }
    return status;
}

/* The text, or what takes its place. */
static void put_answer(const struct orr_coll_compare *compare, const struct coll_compared *compared, FILE *stream)
{
    if (compare->page != NULL && strcmp(compare->page, "-") == 0) {
        coll_report_page(compared, file_name(compare->picture), stream);
    } else if (compare->json != NULL && strcmp(compare->json, "-") == 0) {
        coll_report_rows(compared, ORR_FORM_JSON, stream);
    } else if (compare->csv != NULL && strcmp(compare->csv, "-") == 0) {
        coll_report_rows(compared, ORR_FORM_CSV, stream);
    } else {
        coll_report_text(compared, stream);
    }
}

enum orr_status orr_coll_compare(const struct orr_coll_compare *compare, FILE *stream, struct orr_error *err)
{
    struct gathered gathered;
    struct coll_compared compared;
    enum orr_status status = gather(compare->paths, compare->count, compare->memory_limit, &gathered, err);
    if (status == ORR_OK) {
        status = coll_compare(&gathered.rows, &gathered.arena, &compared, err);
    }
    bool is_page = compare->page != NULL && strcmp(compare->page, "-") == 0;
    if (status == ORR_OK && stream != NULL) {
        put_answer(compare, &compared, stream);
    }
    status = status == ORR_OK ? colltime_fit_write_rows(compare->json, ORR_FORM_JSON, &compared, err) : status;
    status = status == ORR_OK ? colltime_fit_write_rows(compare->csv, ORR_FORM_CSV, &compared, err) : status;
    if (status == ORR_OK && compare->picture != NULL) {
        status = api_colltime_fit_write_picture(compare->picture, &gathered.rows, &compared, err);
    }
    if (status == ORR_OK && compare->page != NULL && !is_page) {
        status = write_page(compare, &compared, err);
    }
    if (status == ORR_OK && compare->worst > 0) {
        status = hold_to(&compared, compare->worst, err);
    }
    drop(&gathered);
    return status;
}

static double put_fits(const struct coll_fit *fit, FILE *stream)
{
    double worst = 0;
    for (size_t i = 0; i < fit->gpu_count + fit->fabric_count; i++) {
        bool is_gpu = i < fit->gpu_count;
        size_t at = is_gpu ? i : i - fit->gpu_count;
        double error = is_gpu ? fit->gpu_errors[at] : fit->fabric_errors[at];
        if (isnan(error)) {
            continue;
        }
        worst = fmax(worst, expm1(error));
        if (stream != NULL) {
            plain_fprintf(stream, "%-8s %-12s %5u rows, model alone %.1f %%\n", is_gpu ? "GPU" : "network",
                          is_gpu ? fit->gpus[at].name : fit->fabrics[at].name,
                          is_gpu ? fit->gpu_rows[at] : fit->fabric_rows[at], 100 * expm1(error));
        }
    }
    return worst;
}

enum orr_status orr_coll_fit(const struct orr_coll_fit *fit, FILE *stream, struct orr_error *err)
{
    struct gathered gathered;
    struct coll_fit fitted;
    enum orr_status status = gather(fit->paths, fit->count, fit->memory_limit, &gathered, err);
    if (status == ORR_OK) {
        status = coll_fit_constants(&gathered.rows, &gathered.mem, &fitted, err);
    }
    if (status == ORR_OK && fit->folder != NULL) {
        status = coll_fit_write(&fitted, &gathered.rows, fit->ship != NULL ? fit->ship : "", fit->folder, err);
    }
    if (status == ORR_OK) {
        double worst = put_fits(&fitted, stream);
        if (fit->worst > 0 && worst > fit->worst) {
            status = error_set(err, ORR_EFAIL, "the worst fit is off by %.1f %%, more than %.1f %%", 100 * worst,
                               100 * fit->worst);
        }
    }
    drop(&gathered);
    return status;
}
