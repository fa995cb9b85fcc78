/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files and folders taken apart into jobs, and each job into ranks. Which kind a file is and which rank it is of is
 * told by its content; names come in where that is silent, and for the run a file belongs to (name.h). Device
 * traces make the jobs, execution traces are then laid beside them. Whatever two files claim alike and nothing tells
 * apart is an error: a guess would pair the wrong recordings.
 */
#include "convert/pytorch/import/import.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "convert/pytorch/import/jobs.h"

/* ---- which files ---- */

struct finder {
    struct arena *arena;
    struct found *files;
    uint32_t count, capacity;
    const char *place;            /* for messages: the only folder, or "these files" */
    struct recording_about other; /* the first file that is of a known, useless kind */
    const char *other_path;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* A file that nobody named and that is no recording: remembered where its kind is known, for the message when there is
 * nothing else. */
static void pass_over(struct finder *finder, const char *path, const struct recording_about *about)
{
    if (about->kind == RECORDING_OTHER && finder->other_path == NULL) {
        finder->other = *about;
        finder->other_path = path;
    }
}

static enum orr_status add_file(struct finder *finder, const char *path, bool was_named, struct orr_error *err)
{
    struct found found = {.path = path};
    enum orr_status status = recording_identify(path, finder->arena->mem, &found.about, err);
    import_name_read(base_name(path), &found.name);
    /* What is called as our recorders do and is broken is theirs all the same: its reader says what is wrong. */
    bool is_broken =
        found.name.is_ours && (status == ORR_OK ? found.about.kind == RECORDING_UNKNOWN : status == ORR_EINVAL);
    if (is_broken && !was_named) {
        bool host = strncmp(found.name.stem, "host", 4) == 0 || strncmp(found.name.stem, "pytorch_et", 10) == 0;
        found.about = (struct recording_about){.kind = host ? RECORDING_HOST : RECORDING_KINETO,
                                               .what = "",
                                               .advice = "",
                                               .rank = -1,
                                               .world_size = -1,
                                               .pid = -1};
        status = ORR_OK;
    }
    if (status != ORR_OK) {
        return status;
    }
    if (found.about.kind == RECORDING_UNKNOWN || found.about.kind == RECORDING_OTHER) {
        if (was_named) {
            return recording_refuse(path, &found.about, err);
        }
        pass_over(finder, path, &found.about);
        return ORR_OK;
    }
    if (!MEM_GROW(finder->arena->mem, finder->files, finder->capacity, finder->count)) {
        return mem_error(finder->arena->mem, "file names", err);
    }
    finder->files[finder->count++] = found;
    return ORR_OK;
}

static enum orr_status add_folder(struct finder *finder, const char *path, struct orr_error *err)
{
    DIR *folder = opendir(path);
    if (folder == NULL) {
        return error_system(err, errno, "%s: cannot be opened", path);
    }
    enum orr_status status = ORR_OK;
    for (const struct dirent *entry = readdir(folder); entry != NULL && status == ORR_OK; entry = readdir(folder)) {
        struct stat about;
        if (!import_name_is_candidate(entry->d_name)) {
            continue;
        }
        const char *file = arena_printf(finder->arena, "%s/%s", path, entry->d_name);
        if (file == NULL) {
            status = mem_error(finder->arena->mem, "file names", err);
        } else if (stat(file, &about) == 0 && S_ISREG(about.st_mode)) {
            status = add_file(finder, file, false, err);
        }
    }
    (void)closedir(folder);
    return status;
}

static int compare_found(const void *left, const void *right)
{
    return strcmp(((const struct found *)left)->path, ((const struct found *)right)->path);
}

static enum orr_status list_files(struct finder *finder, const char *const *paths, uint32_t count,
                                  struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    finder->place = count == 1 ? paths[0] : "the files named";
    for (uint32_t i = 0; i < count && status == ORR_OK; i++) {
        struct stat about;
        bool is_folder = stat(paths[i], &about) == 0 && S_ISDIR(about.st_mode);
        const char *path = arena_strndup(finder->arena, paths[i], strlen(paths[i]));
        status = path == NULL ? mem_error(finder->arena->mem, "file names", err)
                 : is_folder  ? add_folder(finder, path, err)
                              : add_file(finder, path, true, err);
    }
    if (finder->count > 1) { /* the order of a folder is anybody's */
        qsort(finder->files, finder->count, sizeof *finder->files, compare_found);
    }
    if (status == ORR_OK && finder->count == 0 && finder->other_path != NULL) {
        return recording_refuse(finder->other_path, &finder->other, err);
    }
    if (status == ORR_OK && finder->count == 0) {
        status = error_set(err, ORR_EINVAL,
                           "%s: no recording here; wanted are traces of PyTorch's profiler (device_R.json, "
                           "rank-R….pt.trace.json, any name) and execution traces (host_R.json), R the rank, also with "
                           ".gz or .zst where packed",
                           finder->place);
    }
    return status;
}

enum orr_status import_jobs(const char *const *paths, uint32_t path_count, struct arena *arena,
                            struct import_job **jobs, uint32_t *count, struct orr_error *err)
{
    struct finder finder = {.arena = arena};
    enum orr_status status = list_files(&finder, paths, path_count, err);
    if (status == ORR_OK) {
        status = import_jobs_make(finder.files, finder.count, arena, jobs, count, err);
    }
    mem_free(arena->mem, finder.files, (size_t)finder.capacity * sizeof *finder.files);
    return status;
}

/* ---- one of them ---- */

/* "a, b, "" (none)", cut to fit. */
static void list_tags(const struct import_job *jobs, uint32_t count, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        int more = snprintf(text + used, room - used, "%s%s", i == 0 ? "" : ", ",
                            jobs[i].tag[0] == '\0' ? "\"\" (none)" : jobs[i].tag);
        used = more > 0 && used + (size_t)more < room ? used + (size_t)more : room - 1;
    }
}

static enum orr_status pick_job(const char *place, const char *tag, const struct import_job *jobs, uint32_t count,
                                const struct import_job **picked, struct orr_error *err)
{
    char all[256];
    list_tags(jobs, count, all, sizeof all);
    *picked = tag == NULL && count == 1 ? &jobs[0] : NULL;
    if (tag == NULL && count > 1) {
        return error_set(err, ORR_EINVAL,
                         "%s: recordings of %u runs are here, tagged %s; parameter 'tag' TAG picks one", place, count,
                         all);
    }
    for (uint32_t i = 0; i < count && tag != NULL; i++) {
        *picked = strcmp(jobs[i].tag, tag) == 0 ? &jobs[i] : *picked;
    }
    if (*picked == NULL) {
        return error_set(err, ORR_EINVAL, "%s: no recording is tagged \"%.100s\"; the tags here are %s", place,
                         tag == NULL ? "" : tag, all);
    }
    return ORR_OK;
}

enum orr_status import_job_pick_ranks(const char *place, const uint32_t *ranks, uint32_t rank_count,
                                      struct import_pair *pairs, uint32_t *count, struct orr_error *err)
{
    for (uint32_t r = 0; r < rank_count; r++) {
        bool there = false;
        for (uint32_t i = 0; i < *count && !there; i++) {
            there = pairs[i].rank == ranks[r];
        }
        if (!there) {
            return error_set(err, ORR_EINVAL, "%s: no recording of rank %u here; there are %u ranks, %u to %u", place,
                             ranks[r], *count, pairs[0].rank, pairs[*count - 1].rank);
        }
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *count; i++) {
        bool wanted = rank_count == 0;
        for (uint32_t r = 0; r < rank_count && !wanted; r++) {
            wanted = ranks[r] == pairs[i].rank;
        }
        if (wanted) {
            pairs[kept++] = pairs[i];
        }
    }
    *count = kept;
    return ORR_OK;
}

enum orr_status import_find_in(const char *const *paths, uint32_t path_count, const char *tag, const uint32_t *ranks,
                               uint32_t rank_count, struct arena *arena, struct import_pair **pairs, uint32_t *count,
                               struct orr_error *err)
{
    struct import_job *jobs = NULL;
    const struct import_job *job = NULL;
    uint32_t job_count = 0;
    const char *place = path_count == 1 ? paths[0] : "the files named";
    enum orr_status status = import_jobs(paths, path_count, arena, &jobs, &job_count, err);
    if (status == ORR_OK) {
        status = pick_job(place, tag, jobs, job_count, &job, err);
    }
    if (status == ORR_OK) {
        uint32_t kept = job->pair_count;
        status = import_job_pick_ranks(place, ranks, rank_count, job->pairs, &kept, err);
        if (status == ORR_OK) {
            *pairs = job->pairs;
            *count = kept;
        }
    }
    return status;
}

enum orr_status import_find(const char *folder, const char *tag, const uint32_t *ranks, uint32_t rank_count,
                            struct arena *arena, struct import_pair **pairs, uint32_t *count, struct orr_error *err)
{
    return import_find_in(&folder, 1, tag, ranks, rank_count, arena, pairs, count, err);
}

enum orr_status import_tags(const char *folder, struct arena *arena, const char ***tags, uint32_t *count,
                            struct orr_error *err)
{
    struct import_job *jobs = NULL;
    uint32_t job_count = 0;
    enum orr_status status = import_jobs(&folder, 1, arena, &jobs, &job_count, err);
    const char **made = status == ORR_OK ? arena_alloc(arena, (size_t)job_count * sizeof *made) : NULL;
    if (status == ORR_OK && made == NULL) {
        return mem_error(arena->mem, "file names", err);
    }
    for (uint32_t i = 0; i < job_count && made != NULL; i++) {
        made[i] = jobs[i].tag;
    }
    if (status == ORR_OK) {
        *tags = made;
        *count = job_count;
    }
    return status;
}
