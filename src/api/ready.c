/* SPDX-License-Identifier: Apache-2.0 */
/* The public function behind `trace ready`: which runs of the folder, each looked at by itself, then one report. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/import_one.h"
#include "api/ready_measure.h"
#include "base/error.h"
#include "io/file.h"
#include "report/ready_text.h"

struct looking {
    const struct orr_ready_options *options;
    const char *place;  /* the first that was named */
    struct arena arena; /* names of files and tags */
    struct mem mem;
    struct ready_run *runs;
    uint32_t run_count, run_capacity;
    const char **refusals; /* why a place could not be looked at, where there are others */
    uint32_t refusal_count, refusal_capacity;
};

/* Told before anything is read, which may take long. */
static enum orr_status check_output(const struct orr_ready_options *options, const struct import_pair *pairs,
                                    uint32_t count, struct orr_error *err)
{
    for (uint32_t i = 0; options->writes != NULL && i < count; i++) {
        const char *files[] = {pairs[i].host, pairs[i].device};
        for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
            if (files[k] != NULL && file_is_same(options->writes, files[k])) {
                return error_set(err, ORR_EINVAL, "the report would replace the recording %s", files[k]);
            }
        }
    }
    return ORR_OK;
}

/* Whether a run is one of those asked for; all are where none is named. */
static bool api_ready_is_wanted(const struct orr_ready_options *options, const char *tag)
{
    bool wanted = options->tag_count == 0;
    for (size_t i = 0; i < options->tag_count && !wanted; i++) {
        wanted = strcmp(options->tags[i], tag) == 0;
    }
    return wanted;
}

static enum orr_status look_at_job(struct looking *looking, const char *place, const struct import_job *job,
                                   struct orr_error *err)
{
    const struct orr_ready_options *options = looking->options;
    struct ready_request request = {.place = place,
                                    .tag = job->tag,
                                    .pairs = job->pairs,
                                    .pair_count = job->pair_count,
                                    .chosen = options->rank_count > 0,
                                    .has_unknown_size = options->has_unknown_size,
                                    .unknown_size = options->unknown_size};
    enum orr_status status =
        import_job_pick_ranks(place, options->ranks, options->rank_count, job->pairs, &request.pair_count, err);
    status = status != ORR_OK ? status : check_output(options, request.pairs, request.pair_count, err);
    if (status == ORR_OK && !MEM_GROW(&looking->mem, looking->runs, looking->run_capacity, looking->run_count)) {
        status = mem_error(&looking->mem, "the runs of a folder", err);
    }
    if (status == ORR_OK) {
        struct ready_run *run = &looking->runs[looking->run_count];
        status = ready_check(&request, &looking->mem, run, err);
        looking->run_count += status == ORR_OK;
        if (status == ORR_OK && options->measure && run->usable) {
            status = ready_measure(&request, run, err);
        }
    }
    return status;
}

/* Files and folders as one place: every job found there. */
static enum orr_status look_at(struct looking *looking, const char *const *paths, uint32_t count, struct orr_error *err)
{
    struct import_job *jobs = NULL;
    uint32_t job_count = 0;
    uint32_t wanted = 0;
    const char *place = count == 1 ? paths[0] : arena_printf(&looking->arena, "%" PRIu32 " files", count);
    if (place == NULL) {
        return mem_error(&looking->mem, "file names", err);
    }
    enum orr_status status = import_jobs(paths, count, &looking->arena, &jobs, &job_count, err);
    for (uint32_t i = 0; i < job_count && status == ORR_OK; i++) {
        if (api_ready_is_wanted(looking->options, jobs[i].tag)) {
            wanted++;
            status = look_at_job(looking, place, &jobs[i], err);
        }
    }
    if (status == ORR_OK && wanted < looking->options->tag_count) {
        for (size_t t = 0; t < looking->options->tag_count; t++) {
            const char *tag = looking->options->tags[t];
            struct import_pair *none = NULL;
            uint32_t pairs = 0;
            status = import_find_in(paths, count, tag, NULL, 0, &looking->arena, &none, &pairs, err);
            if (status != ORR_OK) {
                return status; /* which says what tags there are */
            }
        }
    }
    return status;
}

static bool api_ready_is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* One of several places; that it holds nothing to look at is said and does not stop the others. */
static enum orr_status look_at_one_of(struct looking *looking, const char *const *paths, uint32_t count, bool alone,
                                      struct orr_error *err)
{
    struct orr_error why = {0};
    enum orr_status status = look_at(looking, paths, count, &why);
    if ((status != ORR_EINVAL && status != ORR_EIO) || alone) {
        *err = why;
        return status;
    }
    if (!MEM_GROW(&looking->mem, looking->refusals, looking->refusal_capacity, looking->refusal_count)) {
        return mem_error(&looking->mem, "findings", err);
    }
    const char *text = arena_strndup(&looking->arena, why.text, strlen(why.text));
    if (text == NULL) {
        return mem_error(&looking->mem, "findings", err);
    }
    looking->refusals[looking->refusal_count++] = text;
    return ORR_OK;
}

/* Each folder is a place of its own; files named one by one are taken together, and one by one where that fails. */
static enum orr_status api_ready_look(struct looking *looking, const char *const *paths, uint32_t count,
                                      struct orr_error *err)
{
    const char **files = arena_zalloc(&looking->arena, ((size_t)count + 1) * sizeof *files);
    uint32_t file_count = 0;
    enum orr_status status = files == NULL ? mem_error(&looking->mem, "file names", err) : ORR_OK;
    for (uint32_t i = 0; i < count && status == ORR_OK && files != NULL; i++) {
        if (api_ready_is_folder(paths[i])) {
            status = look_at_one_of(looking, &paths[i], 1, count == 1, err);
        } else {
            files[file_count++] = paths[i];
        }
    }
    if (status != ORR_OK || file_count == 0) {
        return status;
    }
    if (file_count == 1) {
        return look_at_one_of(looking, files, 1, count == 1, err);
    }
    struct orr_error why = {0};
    status = look_at(looking, files, file_count, &why);
    if (status != ORR_EINVAL && status != ORR_EIO) {
        *err = why;
        return status;
    }
    status = ORR_OK;
    for (uint32_t i = 0; i < file_count && status == ORR_OK && files != NULL; i++) {
        status = look_at_one_of(looking, &files[i], 1, false, err);
    }
    return status;
}

static void report(const struct looking *looking, FILE *stream)
{
    const struct orr_ready_options *options = looking->options;
    if (options->compare) {
        ready_text_compare(looking->runs, looking->run_count, stream);
        (void)fputc('\n', stream);
    }
    for (uint32_t i = 0; i < looking->run_count; i++) {
        (void)fputs(i > 0 ? "\n" : "", stream);
        ready_text_run(&looking->runs[i], options->brief || options->compare, stream);
        ready_text_measure(&looking->runs[i], stream);
    }
    for (uint32_t i = 0; i < looking->refusal_count; i++) {
        (void)fprintf(stream, "%sFAULT   %s\nUsable  no\n", looking->run_count + i > 0 ? "\n" : "",
                      looking->refusals[i]);
    }
}

enum orr_status orr_trace_ready(const struct orr_ready_options *options, FILE *stream, bool *usable,
                                struct orr_error *err)
{
    struct looking looking = {.options = options, .mem = {.limit = options->memory_limit}};
    const char *const *paths = NULL;
    uint32_t count = 0;
    arena_init(&looking.arena, &looking.mem);
    enum orr_status status =
        import_paths(options->folder, options->paths, options->path_count, &looking.arena, &paths, &count, err);
    if (status == ORR_OK) {
        looking.place = paths[0];
        status = api_ready_look(&looking, paths, count, err);
    }
    FILE *json = options->json ? stream : options->also_json;
    if (status == ORR_OK && json != NULL) {
        ready_text_json(looking.place, looking.runs, looking.run_count, looking.refusals, looking.refusal_count, json);
        status = error_of_stream(json, "the report", err);
    }
    if (status == ORR_OK && stream != NULL && !options->json) {
        report(&looking, stream);
        status = error_of_stream(stream, "the report", err);
    }
    if (status == ORR_OK) {
        *usable = looking.refusal_count == 0;
        for (uint32_t i = 0; i < looking.run_count; i++) {
            *usable = *usable && looking.runs[i].usable;
        }
    }
    for (uint32_t i = 0; i < looking.run_count; i++) {
        ready_run_free(&looking.runs[i]);
    }
    mem_free(&looking.mem, looking.runs, (size_t)looking.run_capacity * sizeof *looking.runs);
    mem_free(&looking.mem, looking.refusals, (size_t)looking.refusal_capacity * sizeof *looking.refusals);
    arena_free(&looking.arena);
    return status;
}
