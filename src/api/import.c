/* SPDX-License-Identifier: Apache-2.0 */
/* Importing a folder of recordings: finds, runs, and writes the report that says what was linked, inferred and left
 * out. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "api/import_one.h"
#include "base/error.h"
#include "io/etz.h"
#include "report/table.h"

void orr_import_options_init(struct orr_import_options *options)
{
    *options = (struct orr_import_options){0};
}

/* ---- the report ---- */

enum { RANKS_BESIDE = 8 }; /* a table's columns; more ranks are further tables */

struct ranks_part {
    const struct import_rank *ranks;
    uint32_t count;
};

static void add_number(struct report_table *table, uint64_t number)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%" PRIu64, number);
    report_table_cell(table, text);
}

static void add_ms(struct report_table *table, int64_t ns)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%" PRId64 ".%03d ms", ns / 1000000, (int)(ns / 1000 % 1000));
    report_table_cell(table, text);
}

static void add_head(struct report_table *table, const char *title, const struct ranks_part *part)
{
    report_table_begin(table, 1);
    report_table_row(table);
    report_table_cell(table, title);
    for (uint32_t i = 0; i < part->count; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "rank %u", part->ranks[i].pair->rank);
        report_table_cell(table, text);
    }
}

/* Counts that every rank has, by their place in struct import_rank. `rare`: only shown where one is not 0. */
static const struct count_row {
    const char *text;
    size_t offset;
    bool rare;
} count_rows[] = {
    {"Nodes written", offsetof(struct import_rank, written.summary.nodes), false},
    {"Events recorded", offsetof(struct import_rank, linked.events), false},
    {"Host ops with times", offsetof(struct import_rank, linked.host_ops), false},
    {"  of them in the host trace", offsetof(struct import_rank, linked.matched), false},
    {"  in the host trace only, dropped", offsetof(struct import_rank, linked.without_times), false},
    {"  cut to fit into the op around", offsetof(struct import_rank, linked.overlapping), true},
    {"Work with impossible times, dropped", offsetof(struct import_rank, linked.untimed), true},
    {"Kernels", offsetof(struct import_rank, linked.kernels), false},
    {"Copies", offsetof(struct import_rank, linked.copies), false},
    {"Sets", offsetof(struct import_rank, linked.sets), false},
    {"  written of all three", offsetof(struct import_rank, written.device_out), false},
    {"  launched, by correlation", offsetof(struct import_rank, linked.launched), false},
    {"  launched, by External id", offsetof(struct import_rank, linked.by_external_id), true},
    {"  launch not found, stream order kept", offsetof(struct import_rank, linked.unlaunched), true},
    {"Waits for the device, recorded", offsetof(struct import_rank, linked.waits_recorded), false},
    {"Waits for the device, inferred", offsetof(struct import_rank, linked.waits_inferred), false},
    {"Handovers between threads", offsetof(struct import_rank, linked.handovers), false},
    {"Dependencies against time, dropped", offsetof(struct import_rank, linked.against_time), true},
    {"Waits between streams, by the times", offsetof(struct import_rank, written.released), true},
    {"  contradicted by the times, dropped", offsetof(struct import_rank, written.contradicted), true},
    {"Gaps of the host unexplained", offsetof(struct import_rank, written.gap_count[EMIT_GAP_HOST]), true},
    {"Gaps before launched work", offsetof(struct import_rank, written.gap_count[EMIT_GAP_LAUNCH]), true},
    {"Gaps between kernels of a stream", offsetof(struct import_rank, written.gap_count[EMIT_GAP_DEVICE]), true},
    {"Host gaps", offsetof(struct import_rank, linked.gaps), false},
};

static uint64_t api_import_count_at(const struct import_rank *rank, size_t offset)
{
    uint64_t value = 0;
    memcpy(&value, (const char *)rank + offset, sizeof value);
    return value;
}

static void api_import_add_counts(struct report_table *table, const struct ranks_part *part)
{
    for (size_t r = 0; r < sizeof count_rows / sizeof count_rows[0]; r++) {
        bool shown = !count_rows[r].rare;
        for (uint32_t i = 0; i < part->count && !shown; i++) {
            shown = api_import_count_at(&part->ranks[i], count_rows[r].offset) != 0;
        }
        if (!shown) {
            continue;
        }
        report_table_row(table);
        report_table_cell(table, count_rows[r].text);
        for (uint32_t i = 0; i < part->count; i++) {
            add_number(table, api_import_count_at(&part->ranks[i], count_rows[r].offset));
        }
    }
}

static void add_times(struct report_table *table, const struct ranks_part *part)
{
    report_table_row(table);
    report_table_cell(table, "  their time");
    for (uint32_t i = 0; i < part->count; i++) {
        add_ms(table, part->ranks[i].linked.gap_ns);
    }
    report_table_row(table);
    report_table_cell(table, "Steps recorded");
    for (uint32_t i = 0; i < part->count; i++) {
        add_number(table, part->ranks[i].step_count);
    }
    report_table_row(table);
    report_table_cell(table, "  mean length");
    for (uint32_t i = 0; i < part->count; i++) {
        add_ms(table, part->ranks[i].step_ns);
    }
}

static void add_comms(struct report_table *table, const struct ranks_part *part)
{
    for (int kind = 0; kind < COMM_KIND_COUNT; kind++) {
        uint64_t total = 0;
        for (uint32_t i = 0; i < part->count; i++) {
            total += part->ranks[i].written.kind_count[kind];
        }
        if (total == 0) {
            continue;
        }
        report_table_row(table);
        report_table_cell(table, comm_kind_text((enum comm_kind)kind));
        for (uint32_t i = 0; i < part->count; i++) {
            add_number(table, part->ranks[i].written.kind_count[kind]);
        }
        report_table_row(table);
        report_table_cell(table, "  bytes a step");
        for (uint32_t i = 0; i < part->count; i++) {
            const struct emit_counts *written = &part->ranks[i].written;
            add_number(table, written->kind_bytes[kind] / (written->steps > 0 ? written->steps : 1));
        }
    }
}

/* "Type known from: kineto-args 4, op-name 2". */
static void write_provenance(const struct import_result *result, const char *what, size_t offset, FILE *stream)
{
    bool first = true;
    for (int from = PROVENANCE_NONE + 1; from < PROVENANCE_COUNT; from++) {
        uint64_t total = 0;
        for (uint32_t i = 0; i < result->rank_count; i++) {
            total += api_import_count_at(&result->ranks[i], offset + (size_t)from * sizeof(uint64_t));
        }
        if (total > 0) {
            (void)fprintf(stream, "%s%s %" PRIu64, first ? what : ", ", provenance_name((enum provenance)from), total);
            first = false;
        }
    }
    (void)fputs(first ? "" : "\n", stream);
}

static void api_import_write_report(const struct import_result *result, FILE *stream)
{
    struct report_table table;
    for (uint32_t first = 0; first < result->rank_count; first += RANKS_BESIDE) {
        uint32_t left = result->rank_count - first;
        struct ranks_part part = {result->ranks + first, left < RANKS_BESIDE ? left : RANKS_BESIDE};
        add_head(&table, "Recording", &part);
        api_import_add_counts(&table, &part);
        add_times(&table, &part);
        report_table_print(&table, stream);
        (void)fputc('\n', stream);
        add_head(&table, "Communication", &part);
        add_comms(&table, &part);
        report_table_print(&table, stream);
        (void)fputc('\n', stream);
    }
    write_provenance(result, "Type known from: ", offsetof(struct import_rank, written.type_from), stream);
    write_provenance(result, "Size known from: ", offsetof(struct import_rank, written.size_from), stream);
    write_provenance(result, "Peer known from: ", offsetof(struct import_rank, written.peer_from), stream);
    if (result->rank_count == 1) {
        (void)fprintf(stream, "Wrote %s.%u.et", result->prefix, result->ranks[0].pair->rank);
    } else {
        (void)fprintf(stream, "Wrote %u traces, %s.%u.et to %s.%u.et", result->rank_count, result->prefix,
                      result->ranks[0].pair->rank, result->prefix, result->ranks[result->rank_count - 1].pair->rank);
    }
    if (result->wrote_groups) {
        (void)fprintf(stream, ", and %s.groups.json", result->prefix);
    }
    (void)fputs(".\n", stream);
}

/* ---- the call ---- */

/* What is odd in several ranks is said once a rank, so that each is known by its number. */
static void api_import_pass_on(const struct import_result *result, const struct orr_notices *notices)
{
    for (uint32_t i = 0; i < result->rank_count; i++) {
        for (uint32_t n = 0; n < result->ranks[i].note_count && notices != NULL && notices->warn != NULL; n++) {
            char line[1100];
            (void)snprintf(line, sizeof line, "rank %u: %s", result->ranks[i].pair->rank, result->ranks[i].notes[n]);
            notices->warn(notices->context, line);
        }
    }
}

static uint32_t job_count(uint32_t asked)
{
    enum { JOBS_MOST = 256 };
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t jobs = asked != 0 ? asked : processors > 0 ? (uint32_t)processors : 1;
    return jobs < JOBS_MOST ? jobs : JOBS_MOST;
}

enum orr_status import_paths(const char *folder, const char *const *paths, size_t path_count, struct arena *arena,
                             const char *const **all, uint32_t *count, struct orr_error *err)
{
    size_t total = path_count + (folder != NULL ? 1 : 0);
    const char **made = arena_zalloc(arena, (total + 1) * sizeof *made);
    if (made == NULL) {
        return mem_error(arena->mem, "file names", err);
    }
    uint32_t used = 0;
    if (folder != NULL) {
        made[used++] = folder;
    }
    for (size_t i = 0; i < path_count; i++) {
        made[used++] = paths[i];
    }
    for (uint32_t i = 0; i < used; i++) {
        if (made[i][0] == '\0') {
            return error_set(err, ORR_EINVAL, "a name of a recording is empty");
        }
    }
    if (used == 0) {
        return error_set(err, ORR_EINVAL, "a recording is needed: a folder or files");
    }
    *all = made;
    *count = used;
    return ORR_OK;
}

static enum orr_status api_import_check(const struct orr_import_options *options, struct orr_error *err)
{
    const char *prefix = options->prefix == NULL ? "" : options->prefix;
    if (prefix[0] == '\0' || prefix[strlen(prefix) - 1] == '/') {
        return error_set(err, ORR_EINVAL, "\"%.200s\" names no file; a prefix such as DIR/resnet50 is needed", prefix);
    }
    if (options->et_prefix != NULL) {
        return error_set(
            err, ORR_EINVAL,
            "parameter 'et-prefix' names the files of a folder: parameter 'out-dir' DIR instead of a prefix");
    }
    return ORR_OK;
}

enum orr_status import_pairs(const struct orr_import_options *options, const char *pattern_rest,
                             const struct import_pair *pairs, uint32_t count, const struct orr_notices *notices,
                             struct mem *mem, FILE *stream, struct import_sum *sum, struct orr_error *err)
{
    struct import_result result = {0};
    struct etz_output out;
    enum orr_status status = etz_output_begin(options->prefix, &out, err);
    if (status != ORR_OK) {
        return status;
    }
    struct import_request request = {.prefix = out.prefix,
                                     .pattern_rest = pattern_rest,
                                     .pairs = pairs,
                                     .pair_count = count,
                                     .emit = {.unknown_size = options->unknown_size,
                                              .has_unknown_size = options->has_unknown_size,
                                              .drop_gaps = options->drop_gaps,
                                              .drop_cpu = options->drop_cpu,
                                              .steps = options->steps,
                                              .step_pair_count = options->step_pair_count},
                                     .jobs = job_count(options->jobs),
                                     .memory_limit = options->memory_limit,
                                     .strict = notices != NULL && notices->strict};
    status = import_run(&request, mem, &result, err);
    result.prefix = out.folder != NULL ? options->prefix : result.prefix; /* the traces' names in the archive */
    status = etz_output_end(&out, status, mem, err);
    api_import_pass_on(&result, notices);
    if (status == ORR_OK && stream != NULL) {
        api_import_write_report(&result, stream);
        status = error_of_stream(stream, "the report", err);
    }
    for (uint32_t i = 0; i < result.rank_count && sum != NULL; i++) {
        sum->nodes += result.ranks[i].written.summary.nodes;
        sum->step_ns += result.ranks[i].step_ns / result.rank_count;
    }
    import_result_free(&result);
    return status;
}

enum orr_status orr_trace_import(const struct orr_import_options *options, const struct orr_notices *notices,
                                 FILE *stream, struct orr_error *err)
{
    struct mem mem = {.limit = options->memory_limit};
    struct arena arena;
    struct import_pair *pairs = NULL;
    const char *const *paths = NULL;
    uint32_t path_count = 0;
    uint32_t count = 0;
    arena_init(&arena, &mem);
    enum orr_status status =
        import_paths(options->folder, options->paths, options->path_count, &arena, &paths, &path_count, err);
    status = status != ORR_OK ? status : api_import_check(options, err);
    if (status == ORR_OK) {
        status = import_find_in(paths, path_count, options->tag, options->ranks, options->rank_count, &arena, &pairs,
                                &count, err);
    }
    if (status == ORR_OK) {
        status = import_pairs(options, NULL, pairs, count, notices, &mem, stream, NULL, err);
    }
    arena_free(&arena);
    return status;
}
