/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public functions that make a page of results. Every document goes by way of the text that --json writes, so that
 * a page made in one call and one made from files later are the same. What a path holds is told by its first bytes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/report_times.h"
#include "base/text_stream.h"
#include "io/json.h"
#include "io/outfile.h"
#include "io/stream.h"
#include "orrery.h"
#include "report/machine.h"
#include "report/page.h"
#include "run/workload_find.h"

struct orr_report {
    struct page page;
};

enum orr_status orr_report_open(const char *language, uint64_t memory_limit, struct orr_report **report,
                                struct orr_error *err)
{
    struct orr_report *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory for a report");
    }
    enum orr_status status = page_init(&opened->page, language, memory_limit, err);
    if (status != ORR_OK) {
        orr_report_close(opened);
        return status;
    }
    *report = opened;
    return ORR_OK;
}

void orr_report_close(struct orr_report *report)
{
    if (report != NULL) {
        page_free(&report->page);
        free(report);
    }
}

enum orr_status orr_report_command(struct orr_report *report, const char *command, struct orr_error *err)
{
    struct page *page = &report->page;
    page->command = command == NULL ? NULL : arena_strndup(&page->arena, command, strlen(command));
    return command != NULL && page->command == NULL ? mem_error(&page->mem, "the command of a report", err) : ORR_OK;
}

size_t orr_report_count(const struct orr_report *report)
{
    return report->page.count;
}

/* ---- documents that a function of ours prints ---- */

struct report_made {
    FILE *stream;
    char *text;
    size_t size;
};

static enum orr_status report_made_open(struct report_made *made, struct orr_error *err)
{
    *made = (struct report_made){0};
    made->stream = text_stream_open(&made->text, &made->size);
    return made->stream == NULL ? error_set(err, ORR_ENOMEM, "out of memory making the report") : ORR_OK;
}

/* Ends it, whatever came of printing, and adds what was printed, if anything. */
static enum orr_status report_made_add(struct orr_report *report, struct report_made *made, enum orr_status status,
                                       enum page_kind kind, const char *name, struct orr_error *err)
{
    bool failed = fclose(made->stream) != 0;
    if (status == ORR_OK && (failed || made->size > 0)) {
        status = failed ? error_set(err, ORR_ENOMEM, "out of memory making the report")
                        : page_add_made(&report->page, kind, name, made->text, made->size, err);
    }
    free(made->text);
    return status;
}

/* The machine of a run's document, drawn from it. */
static enum orr_status report_add_kept_machine(struct orr_report *report, const char *name, const char *json,
                                               size_t size, struct orr_error *err)
{
    struct report_made made;
    enum orr_status status = report_made_open(&made, err);
    if (status == ORR_OK) {
        status = report_machine_kept(json, size, &report->page.mem, made.stream, err);
        status = report_made_add(report, &made, status, PAGE_MACHINE, name, err);
    }
    return status;
}

enum orr_status orr_report_add(struct orr_report *report, const char *name, const char *json, size_t size,
                               struct orr_error *err)
{
    enum orr_status status = page_add(&report->page, name, json, size, err);
    return status == ORR_OK && report->page.last->kind == PAGE_RUN
               ? report_add_kept_machine(report, name, json, size, err)
               : status;
}

static enum orr_status report_add_output(struct orr_report *report, const char *name, const struct orr_run *run,
                                         enum orr_output output, enum page_kind kind, struct orr_error *err)
{
    struct report_made made;
    enum orr_status status = report_made_open(&made, err);
    if (status == ORR_OK) {
        status = orr_run_write(run, output, NULL, made.stream, err);
        status = report_made_add(report, &made, status, kind, name, err);
    }
    return status;
}

/* What belongs to the run follows it. */
enum orr_status orr_report_add_run(struct orr_report *report, const char *name, const struct orr_run *run,
                                   struct orr_error *err)
{
    enum orr_status status = report_add_output(report, name, run, ORR_OUTPUT_JSON, PAGE_RUN, err);
    if (status == ORR_OK) {
        status = report_add_output(report, name, run, ORR_OUTPUT_MACHINE, PAGE_MACHINE, err);
    }
    struct report_made made;
    status = status == ORR_OK ? report_made_open(&made, err) : status;
    if (status == ORR_OK) {
        status = api_report_times(run, made.stream, err);
        status = report_made_add(report, &made, status, PAGE_TIMES, name, err);
    }
    if (status == ORR_OK && orr_run_interval_count(run) > 0) {
        status = report_add_output(report, name, run, ORR_OUTPUT_COLUMNS, PAGE_TIMELINE, err);
    }
    return status;
}

/* ---- files ---- */

struct report_bytes {
    void *bytes;
    size_t size, capacity;
};

static enum orr_status report_read(const char *path, struct mem *mem, struct report_bytes *into, struct orr_error *err)
{
    struct io_stream *stream = NULL;
    size_t got = 1;
    enum orr_status status = io_stream_open(path, mem, &stream, err);
    while (status == ORR_OK && got > 0) {
        if (!mem_reserve_bytes(mem, &into->bytes, &into->capacity, into->size, 1 << 16)) {
            status = mem_error(mem, "a document of the report", err);
            break;
        }
        status = io_stream_read(stream, (char *)into->bytes + into->size, into->capacity - into->size, &got, err);
        into->size += status == ORR_OK ? got : 0;
    }
    io_stream_close(stream);
    return status;
}

/* ---- stores ---- */

/* Where the folder of a lab run is still there with the result that the store has, its machine is drawn too. */
static enum orr_status report_add_stored_machine(struct orr_report *report, const char *name, const char *stored,
                                                 size_t stored_size, struct orr_error *err)
{
    struct mem *mem = &report->page.mem;
    struct io_value *root = NULL;
    struct report_bytes read = {0};
    struct orr_error unsaid = {0};
    enum orr_status status = io_json_parse(name, stored, stored_size, &report->page.arena, &root, err);
    const struct io_value *folder = io_value_member(root, "folder");
    const struct io_value *total = io_value_member(root, "total_ns");
    const struct io_value *setting = io_value_member(root, "settings");
    const char *path = NULL;
    for (setting = setting == NULL ? NULL : setting->first; setting != NULL; setting = setting->next) {
        const struct io_value *value = io_value_member(setting, "value");
        if (folder != NULL && folder->kind == IO_TEXT && value != NULL && value->kind == IO_TEXT &&
            strcmp(io_value_member(setting, "key")->text, "run_dir") == 0) {
            path = arena_printf(&report->page.arena, "%s%s%s/result.json", value->text[0] == '/' ? "" : folder->text,
                                value->text[0] == '/' ? "" : "/", value->text);
        }
    }
    if (status == ORR_OK && path != NULL && report_read(path, mem, &read, &unsaid) == ORR_OK &&
        io_json_parse(path, read.bytes, read.size, &report->page.arena, &root, &unsaid) == ORR_OK) {
        const struct io_value *time = io_value_member(root, "time_ns");
        if (time != NULL && total != NULL && time->kind == IO_INTEGER && time->integer == total->integer) {
            status = report_add_kept_machine(report, name, read.bytes, read.size, err);
        }
    }
    mem_free(mem, read.bytes, read.capacity);
    return status;
}

static enum orr_status report_add_stored(struct orr_report *report, const char *store, int64_t run,
                                         struct orr_error *err)
{
    struct report_made made;
    char name[64];
    if (run == 0) {
        (void)snprintf(name, sizeof name, "the newest run");
    } else {
        (void)snprintf(name, sizeof name, "run %lld", (long long)run);
    }
    enum orr_status status = report_made_open(&made, err);
    if (status == ORR_OK) {
        status = orr_store_show(store, run, ORR_STORE_JSON, made.stream, err);
        status = report_made_add(report, &made, status, PAGE_STORED, name, err);
    }
    if (status == ORR_OK) { /* the page's own copy, which stays */
        const struct page_document *stored = report->page.last;
        status = report_add_stored_machine(report, name, stored->json, stored->size, err);
    }
    return status;
}

static enum orr_status report_add_difference(struct orr_report *report, const char *store, int64_t before,
                                             int64_t after, struct orr_error *err)
{
    struct report_made made;
    char name[80];
    bool same = false;
    (void)snprintf(name, sizeof name, "run %lld against run %lld", (long long)after, (long long)before);
    enum orr_status status = report_made_open(&made, err);
    if (status == ORR_OK) {
        status = orr_store_diff(store, before, after, ORR_STORE_JSON, made.stream, &same, err);
        status = report_made_add(report, &made, status, PAGE_DIFFERENCE, name, err);
    }
    return status;
}

static enum orr_status report_add_store(struct orr_report *report, const char *store, struct orr_error *err)
{
    const struct orr_store_filter all = {0};
    struct report_made made;
    enum orr_status status = report_made_open(&made, err);
    if (status == ORR_OK) {
        status = orr_store_list(store, &all, ORR_STORE_JSON, made.stream, err);
        status = report_made_add(report, &made, status, PAGE_STORE, store, err);
    }
    return status == ORR_OK ? report_add_stored(report, store, 0, err) : status;
}

/* "3,5" behind the store's name. */
static enum orr_status report_add_runs(struct orr_report *report, const char *store, const char *list,
                                       struct orr_error *err)
{
    int64_t first = 0;
    enum orr_status status = ORR_OK;
    for (const char *at = list; status == ORR_OK && *at != '\0';) {
        char *end = NULL;
        errno = 0;
        long long run = strtoll(at, &end, 10);
        if (errno != 0 || end == at || run < 1 || (*end != '\0' && *end != ',') || (*end == ',' && end[1] == '\0')) {
            return error_set(err, ORR_EINVAL, "%s:%s: the runs of a store are numbers from 1, with commas between them",
                             store, list);
        }
        status = report_add_stored(report, store, run, err);
        if (status == ORR_OK && first != 0) {
            status = report_add_difference(report, store, first, run, err);
        }
        first = first == 0 ? run : first;
        at = *end == ',' ? end + 1 : end;
    }
    return status;
}

/* ---- paths ---- */

static enum orr_status report_add_text(struct orr_report *report, const char *path, struct orr_error *err)
{
    static const char magic[] = "SQLite format 3";
    struct mem *mem = &report->page.mem;
    struct report_bytes read = {0};
    enum orr_status status = report_read(path, mem, &read, err);
    bool store = status == ORR_OK && read.size > sizeof magic && memcmp(read.bytes, magic, sizeof magic) == 0;
    if (status == ORR_OK && !store && page_is_script(read.bytes, read.size)) {
        status = page_add_script(&report->page, path, read.bytes, read.size, err);
    } else if (status == ORR_OK && !store) {
        status = orr_report_add(report, path, read.bytes, read.size, err);
    }
    mem_free(mem, read.bytes, read.capacity);
    return store ? report_add_store(report, path, err) : status;
}

/* Traces and recordings are no results yet: what makes them one. */
static enum orr_status report_refuse_folder(struct orr_report *report, const char *folder, struct orr_error *err)
{
    struct run_workload found = {0};
    struct orr_error unsaid = {0};
    if (run_workload_find(folder, NULL, NULL, &report->page.arena, &found, &unsaid) != ORR_OK) {
        return error_set(err, ORR_EINVAL, "%.300s: a folder without result.json; accepted: the folder of a lab run",
                         folder);
    }
    return found.prefix != NULL
               ? error_set(err, ORR_EINVAL,
                           "%.300s: traces of %u ranks, which are run first: orrery run parameter 'workload' %.300s "
                           "parameter 'machine' NAME parameter 'report' FILE.html (orrery machine list has the names)",
                           folder, found.ranks, found.prefix)
               : error_set(err, ORR_EINVAL,
                           "%.300s: recordings of %u ranks, which are imported and run first: orrery trace import "
                           "%.300s -o job && orrery run parameter 'workload' job parameter 'machine' NAME parameter "
                           "'report' FILE.html (orrery machine list has the names)",
                           folder, found.ranks, folder);
}

static enum orr_status report_add_folder(struct orr_report *report, const char *folder, struct orr_error *err)
{
    struct stat found;
    char *path = arena_printf(&report->page.arena, "%s/result.json", folder);
    if (path == NULL) {
        return mem_error(&report->page.mem, "a path", err);
    }
    if (stat(path, &found) != 0) {
        return report_refuse_folder(report, folder, err);
    }
    enum orr_status status = report_add_text(report, path, err);
    path = status == ORR_OK ? arena_printf(&report->page.arena, "%s/timeline.json.gz", folder) : NULL;
    if (status == ORR_OK && path == NULL) {
        return mem_error(&report->page.mem, "a path", err);
    }
    return status == ORR_OK && stat(path, &found) == 0 ? report_add_text(report, path, err) : status;
}

enum orr_status orr_report_add_file(struct orr_report *report, const char *path, struct orr_error *err)
{
    struct stat found;
    const char *colon = strrchr(path, ':');
    bool exists = stat(path, &found) == 0;
    if (exists && S_ISDIR(found.st_mode)) {
        return report_add_folder(report, path, err);
    }
    if (!exists && colon != NULL && colon > path) {
        char *store = arena_strndup(&report->page.arena, path, (size_t)(colon - path));
        return store == NULL              ? mem_error(&report->page.mem, "a path", err)
               : stat(store, &found) == 0 ? report_add_runs(report, store, colon + 1, err)
                                          : report_add_text(report, path, err);
    }
    return report_add_text(report, path, err);
}

/* ---- the page ---- */

enum orr_status orr_report_write(const struct orr_report *report, const char *path, FILE *stream, struct orr_error *err)
{
    struct io_outfile *file = NULL;
    if (path == NULL) {
        enum orr_status status = page_write(&report->page, stream, err);
        return status != ORR_OK ? status : error_of_stream(stream, "the report", err);
    }
    enum orr_status status = io_outfile_open(path, IO_OUTFILE_PLAIN, &file, err);
    if (status != ORR_OK) {
        return status;
    }
    status = page_write(&report->page, io_outfile_stream(file), err);
    return io_outfile_end(file, status, err);
}
