/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GPU is fitted on all rows of one node that name it, a network on all rows of several nodes that it was found for
 * (NCCL's: RCCL's steps over the network are others); first the GPUs, since a network's hops come on top of a GPU's
 * steps. What has no rows of its own takes the constants of the row it is `like`; of a network like another its few
 * rows settle its rates.
 */
#include "calib/coll_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "calib/coll_curve.h"
#include "io/csv.h"
#include "io/outfile.h"

enum { ROWS_LEAST = 20, PATH_MOST = 4096, LARGE_BYTES = 128 << 20 };

static void copy_rows(struct coll_fit *fit)
{
    for (size_t i = 0; timing_gpu_at(i) != NULL && i < COLL_FIT_MOST; i++) {
        fit->gpus[fit->gpu_count++] = *timing_gpu_at(i);
        fit->gpu_errors[i] = NAN;
    }
    for (size_t i = 0; timing_fabric_at(i) != NULL && i < COLL_FIT_MOST; i++) {
        fit->fabrics[fit->fabric_count++] = *timing_fabric_at(i);
        fit->fabric_errors[i] = NAN;
    }
}

static void point_at_copies(struct coll_rows *rows, struct coll_fit *fit)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        struct timing_machine *machine = &rows->items[i].row.machine;
        machine->gpu = &fit->gpus[machine->gpu - timing_gpu_at(0)];
        machine->fabric = &fit->fabrics[machine->fabric - timing_fabric_at(0)];
    }
}

/* Rows of one node that name the GPU, or of several in the network. */
static uint32_t pick(const struct coll_rows *rows, const struct timing_gpu *gpu, const struct timing_fabric *fabric,
                     struct timing_row *picked)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct timing_row *row = &rows->items[i].row;
        bool is_of = gpu != NULL
                         ? row->question.nodes == 1 && row->machine.gpu == gpu
                         : row->question.nodes > 1 && row->machine.fabric == fabric && !row->machine.gpu->is_rccl;
        if (is_of) {
            picked[count++] = *row;
        }
    }
    return count;
}

static void take_gpu(struct timing_gpu *gpu, const struct timing_gpu *from)
{
    struct timing_constant to[TIMING_CONSTANTS_MOST];
    struct timing_constant of[TIMING_CONSTANTS_MOST];
    struct timing_gpu source = *from;
    size_t count = timing_gpu_constants(gpu, to);
    (void)timing_gpu_constants(&source, of);
    for (size_t i = 0; i < count; i++) {
        *to[i].value = *of[i].value;
    }
}

/* Times of a network that is slower than the one it is like are so many times its times. */
static void take_fabric(struct timing_fabric *fabric, const struct timing_fabric *from)
{
    struct timing_constant to[TIMING_CONSTANTS_MOST];
    struct timing_constant of[TIMING_CONSTANTS_MOST];
    struct timing_fabric source = *from;
    size_t count = timing_fabric_constants(fabric, to);
    (void)timing_fabric_constants(&source, of);
    for (size_t i = 0; i < count; i++) {
        *to[i].value = *of[i].value * (strstr(to[i].name, "_us") != NULL ? fabric->slower : 1);
    }
    fabric->ll_channels = from->ll_channels;
}

/* Whether one of the list's words is this one, or begins it with a '*' behind. */
static bool is_listed(const char *list, char separator, const char *word)
{
    const char ends[] = {separator, '\0'};
    while (*list != '\0') {
        size_t length = strcspn(list, ends);
        bool begins = length > 0 && list[length - 1] == '*';
        if (begins ? strncmp(list, word, length - 1) == 0
                   : strlen(word) == length && strncmp(list, word, length) == 0) {
            return true;
        }
        list += length + (list[length] == separator);
    }
    return false;
}

/* Those constants that are on the list, or that are not. */
static size_t choose(struct timing_constant *constants, size_t count, const char *list, bool listed)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_listed(list, ' ', constants[i].name) == listed) {
            constants[kept++] = constants[i];
        }
    }
    return kept;
}

/* Of the link's rate, what the last bytes of large collectives of the most GPUs take: `op` between its two largest
 * sizes. The descent, which weighs all sizes alike, would give some of that away for a better middle. */
static double last_share(const struct coll_rows *rows, const struct timing_gpu *gpu, enum orr_coll_op op)
{
    uint32_t most = 0;
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < rows->series_count; i++) {
        const struct coll_series *series = &rows->series[i];
        const struct timing_row *last = &rows->items[series->first + series->count - 1].row;
        if (series->count < 2 || last->machine.gpu != gpu || last->question.nodes != 1 || last->question.op != op ||
            last->question.bytes < LARGE_BYTES || last->question.gpus < most) {
            continue;
        }
        const struct timing_row *before = &rows->items[series->first + series->count - 2].row;
        if (last->question.gpus > most) {
            most = last->question.gpus;
            sum = 0;
            count = 0;
        }
        double bytes = (double)(last->question.bytes - before->question.bytes);
        double part = op == ORR_COLL_OP_ALL_REDUCE ? 1 : 1 - 1.0 / last->question.gpus; /* of the buffer, over a link */
        sum += part * bytes * 1e-3 / (last->us - before->us) / gpu->link_gbytes;
        count++;
    }
    return count > 0 ? sum / count : 0;
}

static void hold_constant(struct timing_constant *constants, size_t count, const char *name, double held)
{
    for (size_t i = 0; i < count && held > 0; i++) {
        if (strcmp(constants[i].name, name) == 0) {
            constants[i].start = constants[i].least = constants[i].most = held;
        }
    }
}

static void hold_large(const struct coll_rows *rows, const struct timing_gpu *gpu, struct timing_constant *constants,
                       size_t count)
{
    double gathers = last_share(rows, gpu, ORR_COLL_OP_ALL_GATHER);
    if (gpu->link == TIMING_LINK_NVLINK) {
        hold_constant(constants, count, "share_simple", gathers);
        hold_constant(constants, count, "nvls_share", last_share(rows, gpu, ORR_COLL_OP_ALL_REDUCE));
    }
}

static void fit_gpus(const struct coll_rows *rows, struct coll_fit *fit, struct timing_row *picked)
{
    struct timing_constant constants[TIMING_CONSTANTS_MOST];
    for (size_t i = 0; i < fit->gpu_count; i++) {
        fit->gpu_rows[i] = pick(rows, &fit->gpus[i], NULL, picked);
        if (fit->gpu_rows[i] >= ROWS_LEAST) {
            size_t count = timing_gpu_constants(&fit->gpus[i], constants);
            hold_large(rows, &fit->gpus[i], constants, count);
            count = choose(constants, count, fit->gpus[i].held, false); /* from rows that cannot be restated */
            fit->gpu_errors[i] = timing_fit(constants, count, picked, fit->gpu_rows[i]);
        }
    }
    for (size_t i = 0; i < fit->gpu_count; i++) {
        const struct timing_gpu *like = &fit->gpus[i];
        for (unsigned turn = 0; turn < 4 && isnan(fit->gpu_errors[like - fit->gpus]) && *like->like != '\0'; turn++) {
            like = &fit->gpus[timing_gpu_find(like->like) - timing_gpu_at(0)];
        }
        if (like != &fit->gpus[i] && !isnan(fit->gpu_errors[like - fit->gpus])) {
            take_gpu(&fit->gpus[i], like);
        }
    }
}

/* Rows that are no exchange of pairs say nothing of the constants of one, which are the last of them. */
static size_t moved_by(const struct timing_row *rows, uint32_t count, size_t constants)
{
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i].question.op == ORR_COLL_OP_ALL_TO_ALL || rows[i].question.op == ORR_COLL_OP_SEND_RECV) {
            return constants;
        }
    }
    return constants - TIMING_FABRIC_PAIRS;
}

static void fit_fabrics(const struct coll_rows *rows, struct coll_fit *fit, struct timing_row *picked)
{
    struct timing_constant constants[TIMING_CONSTANTS_MOST];
    for (size_t i = 0; i < fit->fabric_count; i++) {
        struct timing_fabric *fabric = &fit->fabrics[i];
        fit->fabric_rows[i] = pick(rows, NULL, fabric, picked);
        if (*fabric->like != '\0') {
            take_fabric(fabric, &fit->fabrics[timing_fabric_find(fabric->like, 0, NULL) - timing_fabric_at(0)]);
            if (fit->fabric_rows[i] > 0) {
                size_t count = timing_fabric_constants(fabric, constants);
                count = choose(constants, count, "share_simple tree_share", true); /* its rows are large */
                fit->fabric_errors[i] = timing_fit(constants, count, picked, fit->fabric_rows[i]);
            }
        } else if (fit->fabric_rows[i] >= ROWS_LEAST) {
            size_t count = moved_by(picked, fit->fabric_rows[i], timing_fabric_constants(fabric, constants));
            count = choose(constants, count, fabric->held, false);
            fit->fabric_errors[i] = timing_fit(constants, count, picked, fit->fabric_rows[i]);
        }
    }
}

enum orr_status coll_fit_constants(struct coll_rows *rows, struct mem *mem, struct coll_fit *fit, struct orr_error *err)
{
    struct timing_row *picked = mem_alloc(mem, (rows->count + 1) * sizeof *picked);
    if (picked == NULL) {
        return mem_error(mem, "the fit", err);
    }
    *fit = (struct coll_fit){0};
    copy_rows(fit);
    point_at_copies(rows, fit);
    fit_gpus(rows, fit, picked);
    fit_fabrics(rows, fit, picked);
    mem_free(mem, picked, (rows->count + 1) * sizeof *picked);
    return ORR_OK;
}

/* ---- writing ---- */

typedef void write_fn(const struct coll_fit *fit, const struct coll_rows *rows, const char *ship, FILE *out);

static void put_names(FILE *out, const struct timing_constant *constants, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(out, ",%s", constants[i].name);
    }
    (void)fputs(",held,source\n", out);
}

static void put_constants(FILE *out, const struct timing_constant *constants, size_t count, const char *held,
                          const char *source)
{
    for (size_t i = 0; i < count; i++) {
        plain_fprintf(out, ",%.4g", *constants[i].value);
    }
    (void)fprintf(out, ",%s,", held);
    csv_write_field(source, out);
    (void)fputc('\n', out);
}

static void write_gpus(const struct coll_fit *fit, const struct coll_rows *rows, const char *ship, FILE *out)
{
    static const char *const links[] = {"nvlink", "pcie", "xgmi", "torus"};
    struct timing_constant constants[TIMING_CONSTANTS_MOST];
    (void)rows;
    (void)ship;
    (void)fputs("name,words,like,library,sm,link,link_GBps,links,domain,nic_GBps,nic_every,nic_reach", out);
    for (size_t i = 0; i < fit->gpu_count; i++) {
        struct timing_gpu gpu = fit->gpus[i];
        size_t count = timing_gpu_constants(&gpu, constants);
        if (i == 0) {
            put_names(out, constants, count);
        }
        plain_fprintf(out, "%s,%s,%s,%s,%u,%s,%g,%u,%u,%g,%u,%g", gpu.name, gpu.words, gpu.like,
                      gpu.is_rccl                     ? "rccl"
                      : gpu.link == TIMING_LINK_TORUS ? "other"
                                                      : "nccl",
                      gpu.sm, links[gpu.link], gpu.link_gbytes, gpu.links, gpu.domain, gpu.nic_gbytes, gpu.nic_every,
                      gpu.nic_reach);
        put_constants(out, constants, count, gpu.held, gpu.source);
    }
}

static void write_fabrics(const struct coll_fit *fit, const struct coll_rows *rows, const char *ship, FILE *out)
{
    struct timing_constant constants[TIMING_CONSTANTS_MOST];
    (void)rows;
    (void)ship;
    (void)fputs("name,words,gpus,like,slower,node_gpus,nic_GBps,nic_every,small_bytes,ll_channels", out);
    for (size_t i = 0; i < fit->fabric_count; i++) {
        struct timing_fabric fabric = fit->fabrics[i];
        size_t count = timing_fabric_constants(&fabric, constants);
        if (i == 0) {
            put_names(out, constants, count);
        }
        plain_fprintf(out, "%s,%s,%s,%s,%g,%u,%g,%u,%g,%g", fabric.name, fabric.words, fabric.gpus, fabric.like,
                      fabric.slower, fabric.node_gpus, fabric.nic_gbytes, fabric.nic_every, fabric.small_bytes,
                      fabric.ll_channels);
        put_constants(out, constants, count, fabric.held, fabric.source);
    }
}

static void calib_coll_fit_write_curve(const struct coll_rows *rows, const struct coll_series *series, FILE *out)
{
    struct coll_measured points[COLL_CURVE_MOST * 4];
    float values[COLL_CURVE_MOST];
    uint32_t first = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < series->count && count < COLL_CURVE_MOST * 4; i++) {
        const struct timing_row *row = &rows->items[series->first + i].row;
        if (count == 0 || points[count - 1].bytes != row->question.bytes) {
            points[count++] = (struct coll_measured){row->question.bytes, row->us};
        }
    }
    uint32_t made = coll_curve_make(points, count, &first, values);
    const struct coll_item *item = &rows->items[series->first];
    if (made == 0) {
        return;
    }
    csv_write_field(item->source, out);
    (void)fprintf(out, ",%s,%s,%u,%u,%s,%u,", item->row.machine.gpu->name, item->nccl, item->row.question.nodes,
                  item->row.question.gpus, orr_coll_op_name(item->row.question.op), first);
    for (uint32_t i = 0; i < made; i++) {
        plain_fprintf(out, "%s%.5g", i > 0 ? " " : "", (double)values[i]);
    }
    (void)fputc('\n', out);
}

static void write_curves(const struct coll_fit *fit, const struct coll_rows *rows, const char *ship, FILE *out)
{
    (void)fit;
    (void)fputs("source,gpu,nccl,nodes,gpus_per_node,op,first_log2,us\n", out);
    for (uint32_t i = 0; i < rows->series_count; i++) {
        if (is_listed(ship, ',', rows->items[rows->series[i].first].source)) {
            calib_coll_fit_write_curve(rows, &rows->series[i], out);
        }
    }
}

enum orr_status coll_fit_write(const struct coll_fit *fit, const struct coll_rows *rows, const char *ship,
                               const char *folder, struct orr_error *err)
{
    static const struct {
        const char *name;
        write_fn *write;
    } files[] = {{"gpus.csv", write_gpus}, {"fabrics.csv", write_fabrics}, {"curves.csv", write_curves}};
    enum orr_status status = io_make_folder(folder, err);
    for (size_t i = 0; i < sizeof files / sizeof files[0] && status == ORR_OK; i++) {
        char path[PATH_MOST];
        struct io_outfile *file = NULL;
        if (snprintf(path, sizeof path, "%s/%s", folder, files[i].name) >= (int)sizeof path) {
            return error_set(err, ORR_EINVAL, "%.80s...: the name is too long", folder);
        }
        status = io_outfile_open(path, IO_OUTFILE_PLAIN, &file, err);
        if (status == ORR_OK) {
            files[i].write(fit, rows, ship, io_outfile_stream(file));
            status = io_outfile_commit(file, err);
        }
    }
    return status;
}
