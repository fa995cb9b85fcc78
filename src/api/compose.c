/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public function behind `trace compose`: settles degrees and sizes before anything is read, composes rank by rank,
 * and gives the files their names together. Ranks are numbered with the tensor-parallel place fastest, which is what
 * growth by "tp:TP,dp:1" means too; so the traces of the first replica are a whole job of TP ranks by themselves.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/model_info.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/notices.h"
#include "io/file.h"
#include "io/json_write.h"
#include "io/outfile.h"
#include "orrery.h"
#include "param/param.h"
#include "report/number.h"
#include "report/table.h"
#include "run/workload_find.h"
#include "trace/compose.h"

void orr_compose_options_init(struct orr_compose_options *options)
{
    *options = (struct orr_compose_options){.dp = 1};
}

enum {
    HELD_MOST = 512, /* files that wait for their names together: each is an open file */
    RANKS_MOST = 1 << 20,
    BUCKET_BYTES = 25 << 20,
};

static const struct {
    const char *name;
    uint32_t bytes;
} dtypes[] = {{"fp32", 4},     {"float32", 4}, {"fp16", 2},    {"float16", 2}, {"bf16", 2},
              {"bfloat16", 2}, {"fp64", 8},    {"float64", 8}, {"fp8", 1}};

struct composing {
    const struct orr_compose_options *options;
    struct run_workload found;
    struct compose_options compose;
    struct compose_cut cut;
    struct pattern backward;
    struct model_info model; /* only with told_by_file */
    bool told_by_file;       /* the size of the model was not given and stands beside the traces */
    uint64_t params;         /* 0 with gradient_bytes */
    uint32_t element_bytes;
    uint32_t trace_tp;
    uint32_t ranks;               /* to write */
    struct compose_counts counts; /* of the last file; of all: */
    uint64_t nodes_in, nodes_out, compute_us, compute_us_before, least_bytes, most_bytes;
    struct io_outfile *held[HELD_MOST];
    uint32_t held_count;
    struct arena arena;
    struct mem mem;
    struct notes notes;
};

/* ---- what was asked for ---- */

static enum orr_status find_dtype(const struct orr_compose_options *options, uint32_t *bytes, struct orr_error *err)
{
    enum { DTYPES = sizeof dtypes / sizeof dtypes[0] };
    const char *word = options->dtype != NULL ? options->dtype : "fp32";
    const char *known[DTYPES + 1] = {NULL};
    if (options->dtype == NULL && options->gradient_bytes > 0) {
        *bytes = 1;
        return ORR_OK;
    }
    for (size_t i = 0; i < DTYPES; i++) {
        known[i] = dtypes[i].name;
        if (strcmp(word, dtypes[i].name) == 0) {
            *bytes = dtypes[i].bytes;
            return ORR_OK;
        }
    }
    const char *nearest = error_nearest(word, known);
    return error_set(err, ORR_EINVAL,
                     "unknown type of gradients \"%.40s\"%s%s; fp32, fp16, bf16, fp64 and fp8 are known", word,
                     nearest == NULL ? "" : "; did you mean ", nearest == NULL ? "" : nearest);
}

static enum orr_status check_degrees(const struct orr_compose_options *options, struct orr_error *err)
{
    uint64_t ranks = (uint64_t)options->tp * options->dp;
    if (ranks == 0 || ranks > RANKS_MOST) {
        return error_set(err, ORR_ERANGE,
                         "a job of tensor-parallel degree %" PRIu32 " and data-parallel degree %" PRIu32
                         " is none of 1 to %d ranks",
                         options->tp, options->dp, RANKS_MOST);
    }
    if (options->params > 0 && options->gradient_bytes > 0) {
        return error_set(
            err, ORR_EINVAL,
            "both are given: the gradients' size comes of the model's parameters (parameter 'params' N) or is given "
            "for one rank (parameter 'gradient-bytes' SIZE)");
    }
    if (options->buckets > 0 && (options->bucket_bytes > 0 || options->first_bucket_bytes > 0)) {
        return error_set(err, ORR_EINVAL, "a number of buckets and a size both say how to cut the gradients; give one");
    }
    return ORR_OK;
}

/* What was not given comes from the model's file beside the traces. */
static enum orr_status settle_model(struct composing *c, struct orr_error *err)
{
    const struct orr_compose_options *options = c->options;
    c->params = options->params;
    if (options->params > 0 || options->gradient_bytes > 0) {
        return ORR_OK;
    }
    enum orr_status status = model_info_find(c->found.prefix, &c->arena, &c->model, &c->told_by_file, err);
    if (status == ORR_OK && !c->told_by_file) {
        status = error_set(err, ORR_EINVAL,
                           "neither is given: the gradients' size comes of the model's parameters (parameter 'params' "
                           "N, or model_info_TAG.json "
                           "beside the traces) or is given for one rank (parameter 'gradient-bytes' SIZE)");
    }
    if (status == ORR_OK) {
        c->params = c->model.params;
        c->element_bytes = options->dtype == NULL && c->model.param_bytes > 0 ? c->model.param_bytes : c->element_bytes;
    }
    return status;
}

static enum orr_status settle_traces(struct composing *c, struct orr_error *err)
{
    const struct orr_compose_options *options = c->options;
    c->trace_tp = options->trace_tp > 0 ? options->trace_tp : c->model.tp > 0 ? c->model.tp : c->found.ranks;
    if (c->found.ranks > c->trace_tp) {
        return error_set(err, ORR_EINVAL,
                         "%s: there are traces of %" PRIu32 " ranks, more than a tensor-parallel group of %" PRIu32
                         " has",
                         c->found.prefix, c->found.ranks, c->trace_tp);
    }
    c->compose.alone = options->tp == 1;
    c->compose.same_ranks = options->tp == c->trace_tp && c->found.ranks == c->trace_tp;
    c->compose.shard = (struct scale_factor){c->trace_tp, options->tp};
    c->compose.ranks = options->tp;
    c->compose.overlap = !options->no_overlap;
    c->ranks = options->write_all ? options->tp * options->dp : options->tp;
    c->cut = (struct compose_cut){.bucket_bytes = options->bucket_bytes > 0 ? options->bucket_bytes : BUCKET_BYTES,
                                  .first_bytes = options->first_bucket_bytes,
                                  .count = options->buckets};
    return ORR_OK;
}

static enum orr_status api_compose_settle(struct composing *c, struct orr_error *err)
{
    const struct orr_compose_options *options = c->options;
    enum orr_status status = check_degrees(options, err);
    status = status != ORR_OK ? status : find_dtype(options, &c->element_bytes, err);
    if (status == ORR_OK && options->gradient_bytes % c->element_bytes != 0) {
        status = error_set(err, ORR_EINVAL, "%" PRIu64 " bytes of gradients are no whole number of %s elements",
                           options->gradient_bytes, options->dtype);
    }
    if (status == ORR_OK) {
        status = run_workload_find(options->input, NULL, NULL, &c->arena, &c->found, err);
    }
    if (status == ORR_OK && c->found.prefix == NULL) {
        status = error_set(err, ORR_EINVAL, "%s: recordings, not traces; orrery trace import makes traces of them",
                           options->input);
    }
    status = status != ORR_OK ? status : settle_model(c, err);
    return status != ORR_OK ? status : settle_traces(c, err);
}

/* ---- one rank ---- */

/* Where all ranks are written, each replica has its tensor-parallel group, then come the data-parallel ones by place;
 * else there is one of the first kind. */
static uint32_t replica_count(const struct composing *c)
{
    return c->options->write_all ? c->options->dp : 1;
}

static enum orr_status set_rank(struct composing *c, uint32_t rank, struct orr_error *err)
{
    const struct orr_compose_options *options = c->options;
    uint32_t place = rank % options->tp;
    uint32_t replica = rank / options->tp;
    uint64_t bytes = options->gradient_bytes;
    c->compose.tp_group = (int32_t)(1 + replica);
    c->compose.dp_group = (int32_t)(1 + replica_count(c) + place);
    c->compose.peer_shift = replica * options->tp;
    if (bytes == 0 && __builtin_mul_overflow(compose_shard(c->params, options->tp, place), c->element_bytes, &bytes)) {
        return error_set(err, ORR_ERANGE, "the gradients of %" PRIu64 " parameters do not fit 64 bits of bytes",
                         c->params);
    }
    return compose_buckets_cut(bytes, c->element_bytes, &c->cut, &c->compose.buckets, err);
}

static enum orr_status commit_held(struct composing *c, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < c->held_count; i++) {
        status = io_outfile_end(c->held[i], status, err);
    }
    c->held_count = 0;
    return status;
}

/* Opens an output and keeps it; whoever fills it finishes it. */
static enum orr_status hold_output(struct composing *c, const char *path, FILE **stream, struct orr_error *err)
{
    enum orr_status status = c->held_count == HELD_MOST ? commit_held(c, err) : ORR_OK;
    status = status != ORR_OK ? status : io_make_folder_above(path, err);
    status = status != ORR_OK ? status : io_outfile_open(path, IO_OUTFILE_PLAIN, &c->held[c->held_count], err);
    if (status == ORR_OK) {
        *stream = io_outfile_stream(c->held[c->held_count++]);
    }
    return status;
}

static void api_compose_add_counts(struct composing *c, uint32_t rank)
{
    c->nodes_in += c->counts.nodes_in;
    c->nodes_out += c->counts.nodes_out;
    c->compute_us += c->counts.compute_us;
    c->compute_us_before += c->counts.compute_us_before;
    c->least_bytes = rank == 0 || c->counts.bytes < c->least_bytes ? c->counts.bytes : c->least_bytes;
    c->most_bytes = c->counts.bytes > c->most_bytes ? c->counts.bytes : c->most_bytes;
}

static enum orr_status compose_rank(struct composing *c, uint32_t rank, struct orr_error *err)
{
    struct record_reader reader;
    FILE *stream = NULL;
    const char *input =
        arena_printf(&c->arena, "%s.%" PRIu32 ".et", c->found.prefix, rank % c->options->tp % c->found.ranks);
    const char *output =
        c->options->output == NULL ? "" : arena_printf(&c->arena, "%s.%" PRIu32 ".et", c->options->output, rank);
    if (input == NULL || output == NULL) {
        return mem_error(&c->mem, "a path", err);
    }
    if (file_is_same(input, output)) {
        return error_set(err, ORR_EINVAL, "the output would replace the input %s; give another prefix", input);
    }
    enum orr_status status = set_rank(c, rank, err);
    status = status != ORR_OK ? status : record_reader_open(&reader, input, &c->mem, err);
    if (status != ORR_OK) {
        return status;
    }
    if (c->options->output != NULL) {
        status = hold_output(c, output, &stream, err);
    }
    status =
        status != ORR_OK ? status : compose_trace(&reader, &c->compose, stream, &c->notes, &c->counts, &c->mem, err);
    if (status == ORR_OK && stream != NULL) {
        status = io_outfile_finish(c->held[c->held_count - 1], err);
    }
    record_reader_close(&reader);
    api_compose_add_counts(c, rank);
    return status;
}

/* ---- groups ---- */

static void write_group(struct json_writer *writer, uint32_t id, uint32_t first, uint32_t stride, uint32_t count)
{
    char key[16];
    (void)snprintf(key, sizeof key, "%" PRIu32, id);
    json_write_member_array(writer, key, true);
    for (uint32_t i = 0; i < count; i++) {
        json_write_u64(writer, first + i * stride);
    }
    json_write_array_end(writer);
}

static enum orr_status write_groups(struct composing *c, struct orr_error *err)
{
    FILE *stream = NULL;
    struct json_writer writer;
    uint32_t tp = c->options->tp;
    uint32_t replicas = replica_count(c);
    const char *path = arena_printf(&c->arena, "%s.groups.json", c->options->output);
    if (path == NULL) {
        return mem_error(&c->mem, "a path", err);
    }
    if (c->found.groups != NULL && file_is_same(path, c->found.groups)) {
        return error_set(err, ORR_EINVAL, "the output would replace the input %s; give another prefix", path);
    }
    enum orr_status status = hold_output(c, path, &stream, err);
    if (status != ORR_OK) {
        return status;
    }
    json_write_document(&writer, stream);
    /* A group of one tensor-parallel rank has nothing to do, and growth would take it for a data-parallel one. */
    for (uint32_t replica = 0; tp > 1 && replica < replicas; replica++) {
        write_group(&writer, 1 + replica, replica * tp, 1, tp);
    }
    for (uint32_t place = 0; place < tp; place++) {
        write_group(&writer, 1 + replicas + place, place, tp, replicas);
    }
    json_write_document_end(&writer);
    return io_outfile_finish(c->held[c->held_count - 1], err);
}

/* ---- the report ---- */

static void api_compose_row(struct report_table *table, const char *what, const char *value)
{
    report_table_row(table);
    report_table_cell(table, what);
    report_table_cell(table, value);
}

static void write_bytes(const struct composing *c, struct report_table *table)
{
    char text[REPORT_TABLE_CELL];
    const struct compose_buckets *buckets = &c->compose.buckets;
    uint64_t largest = compose_buckets_before(buckets, 1);
    uint64_t last =
        compose_buckets_before(buckets, buckets->count) - compose_buckets_before(buckets, buckets->count - 1);
    if (buckets->count > 1) {
        uint64_t second = compose_buckets_before(buckets, 2) - largest;
        largest = second > largest ? second : largest;
    }
    if (c->least_bytes == c->most_bytes) {
        (void)snprintf(text, sizeof text, "%" PRIu64 " bytes", c->most_bytes);
    } else {
        (void)snprintf(text, sizeof text, "%" PRIu64 " to %" PRIu64 " bytes", c->least_bytes, c->most_bytes);
    }
    api_compose_row(table, "gradients a rank and step", text);
    (void)snprintf(text, sizeof text, "%" PRIu64, c->counts.buckets);
    api_compose_row(table, "buckets a step", text);
    api_compose_row(table, "  the largest", report_bytes((double)largest).text);
    api_compose_row(table, "  the last", report_bytes((double)last).text);
}

static void write_model(const struct composing *c, FILE *stream)
{
    if (!c->told_by_file) {
        return;
    }
    (void)fprintf(stream, "The model is that of %s: %" PRIu64 " parameters", c->model.path, c->params);
    if (c->model.param_bytes > 0) {
        (void)fprintf(stream, " of %" PRIu32 " bytes", c->model.param_bytes);
    }
    if (c->model.tp > 0) {
        (void)fprintf(stream, ", traced with a tensor-parallel degree of %" PRIu32, c->model.tp);
    }
    (void)fputs(".\n", stream);
}

static void api_compose_write_report(const struct composing *c, FILE *stream)
{
    const struct orr_compose_options *options = c->options;
    struct report_table table;
    char text[REPORT_TABLE_CELL];
    report_table_begin(&table, 3);
    (void)snprintf(text, sizeof text, "tp %" PRIu32 " x dp %" PRIu32 " = %" PRIu32 " ranks", options->tp, options->dp,
                   options->tp * options->dp);
    api_compose_row(&table, "job", text);
    (void)snprintf(text, sizeof text, "%" PRIu32 " of a group of %" PRIu32, c->found.ranks, c->trace_tp);
    api_compose_row(&table, "traces", text);
    (void)snprintf(text, sizeof text, "%" PRIu64 "%s", c->counts.steps,
                   c->counts.steps_known ? "" : " (not told: one)");
    api_compose_row(&table, "training steps", text);
    (void)snprintf(text, sizeof text, "%" PRIu64, c->counts.overlapped);
    api_compose_row(&table, "  with backward told apart", text);
    write_bytes(c, &table);
    (void)snprintf(text, sizeof text, "%" PRIu64, c->counts.collectives);
    api_compose_row(&table, "tensor-parallel collectives a rank", text);
    (void)snprintf(text, sizeof text, "%" PRIu64, c->counts.gates);
    api_compose_row(&table, "nodes a rank waiting for a last bucket", text);
    (void)snprintf(text, sizeof text, "%" PRIu64 " us -> %" PRIu64 " us", c->compute_us_before, c->compute_us);
    api_compose_row(&table, "device compute of all files", text);
    (void)snprintf(text, sizeof text, "%" PRIu64 " in, %" PRIu64 " out", c->nodes_in, c->nodes_out);
    api_compose_row(&table, "nodes", text);
    report_table_print(&table, stream);
    write_model(c, stream);
    if (options->output == NULL) {
        (void)fputs("Nothing written.\n", stream);
        return;
    }
    (void)fprintf(stream, "Wrote %" PRIu32 " trace%s, %s.0.et to %s.%" PRIu32 ".et, and %s.groups.json.\n", c->ranks,
                  c->ranks == 1 ? "" : "s", options->output, options->output, c->ranks - 1, options->output);
    if (!options->write_all) {
        param_print(stream,
                    "To run all ranks: orrery lab run parameter 'workload' %s parameter 'parallel' tp:%" PRIu32
                    ",dp:1 parameter 'world-size' %" PRIu32 "\n",
                    options->output, options->tp, options->tp * options->dp);
    }
}

/* ---- the call ---- */

static enum orr_status compose_all(struct composing *c, struct orr_error *err)
{
    const struct orr_compose_options *options = c->options;
    enum orr_status status = api_compose_settle(c, err);
    if (status != ORR_OK) {
        return status;
    }
    if (options->backward != NULL) {
        status = pattern_open(&c->backward, "parameter 'backward'", options->backward, err);
        if (status != ORR_OK) {
            return status;
        }
        c->compose.backward = &c->backward;
    }
    for (uint32_t rank = 0; status == ORR_OK && rank < c->ranks; rank++) {
        status = compose_rank(c, rank, err);
    }
    if (status == ORR_OK && options->output != NULL) {
        status = write_groups(c, err);
        status = status != ORR_OK ? status : commit_held(c, err);
    }
    if (options->backward != NULL) {
        pattern_close(&c->backward);
    }
    return status;
}

enum orr_status orr_trace_compose(const struct orr_compose_options *options, const struct orr_notices *notices,
                                  FILE *stream, struct orr_error *err)
{
    size_t output = options->output == NULL ? 0 : strlen(options->output);
    if (options->input == NULL || options->input[0] == '\0') {
        return error_set(err, ORR_EINVAL, "the prefix of a tensor-parallel group's traces is needed");
    }
    if (options->output != NULL && (output == 0 || options->output[output - 1] == '/')) {
        return error_set(err, ORR_EINVAL, "\"%.200s\" names no file; a prefix such as DIR/job is needed",
                         options->output);
    }
    struct composing *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory");
    }
    c->options = options;
    c->mem.limit = options->memory_limit;
    arena_init(&c->arena, &c->mem);
    notices_begin(&c->notes, &c->mem, notices);
    enum orr_status status = compose_all(c, err);
    for (uint32_t i = 0; i < c->held_count; i++) {
        io_outfile_abort(c->held[i]);
    }
    notices_end(&c->notes, notices);
    if (status == ORR_OK && stream != NULL) {
        api_compose_write_report(c, stream);
        status = error_of_stream(stream, "the report", err);
    }
    arena_free(&c->arena);
    free(c);
    return status;
}
