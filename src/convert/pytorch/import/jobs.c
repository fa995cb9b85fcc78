/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device traces first: they say how large their job is, mostly which rank they are, sometimes which job. Those of one
 * job of several ranks belong together whatever they are called, as long as no rank comes twice; all others are told
 * apart by their names. A rank that was recorded several times, which names with a time in them tell, makes as many
 * jobs: the first recording of every rank, the second, and so on.
 *
 * An execution trace knows its process, and nothing of ranks: it goes with the device trace of the same process, else
 * with that of the same rank by name.
 */
#include "convert/pytorch/import/jobs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct maker {
    struct found *files;
    uint32_t count;
    uint32_t job_count;
    struct arena *arena;
};

static const uint32_t NO_JOB = UINT32_MAX;

static bool is_device(const struct found *file)
{
    return recording_is_device(file->about.kind);
}

/* ---- partitions ---- */

/* Whether two device traces may be of one job by what they contain. */
static bool same_class(const struct found *a, const struct found *b)
{
    return a->name.is_ours == b->name.is_ours && a->about.world_size == b->about.world_size &&
           strcmp(a->about.job, b->about.job) == 0;
}

static bool same_part(const struct found *a, const struct found *b, bool by_name)
{
    if (a->name.is_ours != b->name.is_ours) {
        return false;
    }
    if (a->name.is_ours) {
        return strcmp(a->name.tag, b->name.tag) == 0; /* our own recorders' tags are exact */
    }
    return same_class(a, b) && (!by_name || strcmp(a->name.tag, b->name.tag) == 0);
}

enum rank_source { BY_CONTENT, BY_NAME, BY_NUMBER };

static int64_t rank_by(const struct found *file, enum rank_source source)
{
    return source == BY_CONTENT   ? file->about.rank
           : source == BY_NAME    ? file->name.rank
           : file->name.rank >= 0 ? file->name.rank
                                  : file->name.number;
}

/* Whether all device traces of a job have a rank of their own by this source. */
static bool tells_apart(const struct maker *maker, uint32_t job, enum rank_source source)
{
    for (uint32_t i = 0; i < maker->count; i++) {
        const struct found *file = &maker->files[i];
        if (!is_device(file) || file->job != job) {
            continue;
        }
        if (rank_by(file, source) < 0) {
            return false;
        }
        for (uint32_t k = 0; k < i; k++) {
            const struct found *other = &maker->files[k];
            if (is_device(other) && other->job == job && rank_by(other, source) == rank_by(file, source)) {
                return false;
            }
        }
    }
    return true;
}

static void import_jobs_set_ranks(struct maker *maker, uint32_t job, enum rank_source source)
{
    for (uint32_t i = 0; i < maker->count; i++) {
        if (is_device(&maker->files[i]) && maker->files[i].job == job) {
            maker->files[i].rank = rank_by(&maker->files[i], source);
        }
    }
}

static uint32_t members(const struct maker *maker, uint32_t job)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < maker->count; i++) {
        count += is_device(&maker->files[i]) && maker->files[i].job == job;
    }
    return count;
}

/* The device traces that go with file `first`, as a new job. */
static uint32_t import_jobs_gather(struct maker *maker, uint32_t first, bool by_name)
{
    uint32_t job = maker->job_count++;
    for (uint32_t i = first; i < maker->count; i++) {
        struct found *file = &maker->files[i];
        if (is_device(file) && file->job == NO_JOB && same_part(&maker->files[first], file, by_name)) {
            file->job = job;
        }
    }
    return job;
}

static void scatter(struct maker *maker, uint32_t job)
{
    for (uint32_t i = 0; i < maker->count; i++) {
        maker->files[i].job = maker->files[i].job == job ? NO_JOB : maker->files[i].job;
    }
    maker->job_count--;
}

/* How many files of the same rank come before this one in its job; the order is by when they were written. */
static uint32_t turn_of(const struct maker *maker, uint32_t index, bool *clear)
{
    const struct found *file = &maker->files[index];
    uint32_t before = 0;
    for (uint32_t i = 0; i < maker->count; i++) {
        const struct found *other = &maker->files[i];
        if (i == index || !is_device(other) || other->job != file->job || other->rank != file->rank) {
            continue;
        }
        int order = import_stamp_compare(other->name.stamp, file->name.stamp);
        before += order < 0;
        *clear = *clear && order != 0 && strpbrk(file->name.stamp, "0123456789") != NULL;
    }
    return before;
}

static enum orr_status split_turns(struct maker *maker, uint32_t job, struct orr_error *err)
{
    uint32_t *turns = arena_zalloc(maker->arena, (size_t)maker->count * sizeof *turns);
    uint32_t most = 0;
    if (turns == NULL) {
        return mem_error(maker->arena->mem, "file names", err);
    }
    for (uint32_t i = 0; i < maker->count; i++) {
        bool clear = true;
        if (!is_device(&maker->files[i]) || maker->files[i].job != job) {
            continue;
        }
        turns[i] = turn_of(maker, i, &clear);
        most = turns[i] > most ? turns[i] : most;
        for (uint32_t k = 0; k < i && !clear; k++) {
            if (is_device(&maker->files[k]) && maker->files[k].job == job &&
                maker->files[k].rank == maker->files[i].rank) {
                return error_set(err, ORR_EINVAL,
                                 "%s: %s is a device trace of rank %" PRId64 " too; one of them must go",
                                 maker->files[i].path, maker->files[k].path, maker->files[i].rank);
            }
        }
    }
    for (uint32_t i = 0; i < maker->count; i++) {
        if (is_device(&maker->files[i]) && maker->files[i].job == job && turns[i] > 0) {
            maker->files[i].job = maker->job_count + turns[i] - 1;
        }
    }
    maker->job_count += most;
    return ORR_OK;
}

/* Nothing tells the ranks: each file is a job of one rank. */
static void split_all(struct maker *maker, uint32_t job)
{
    bool first = true;
    for (uint32_t i = 0; i < maker->count; i++) {
        struct found *file = &maker->files[i];
        if (is_device(file) && file->job == job) {
            file->rank = 0;
            file->job = first ? job : maker->job_count++;
            first = false;
        }
    }
}

static enum orr_status settle_ranks(struct maker *maker, uint32_t job, struct orr_error *err)
{
    static const enum rank_source sources[] = {BY_CONTENT, BY_NAME, BY_NUMBER};
    uint32_t count = members(maker, job);
    /* A number at the end of a lone file's name is anything. */
    for (size_t i = 0; i < (count == 1 ? 2 : sizeof sources / sizeof sources[0]); i++) {
        if (tells_apart(maker, job, sources[i])) {
            import_jobs_set_ranks(maker, job, sources[i]);
            return ORR_OK;
        }
    }
    bool all_told = true;
    for (uint32_t i = 0; i < maker->count; i++) {
        struct found *file = &maker->files[i];
        if (is_device(file) && file->job == job) {
            file->rank = file->about.rank >= 0 ? file->about.rank : file->name.rank;
            all_told = all_told && file->rank >= 0;
        }
    }
    if (!all_told) {
        split_all(maker, job);
        return ORR_OK;
    }
    return split_turns(maker, job, err);
}

static enum orr_status place_devices(struct maker *maker, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < maker->count && status == ORR_OK; i++) {
        if (!is_device(&maker->files[i]) || maker->files[i].job != NO_JOB) {
            continue;
        }
        uint32_t job = import_jobs_gather(maker, i, false);
        bool several = maker->files[i].about.world_size > 1 || maker->files[i].name.is_ours;
        if (!several || !tells_apart(maker, job, BY_CONTENT)) {
            scatter(maker, job);
            job = import_jobs_gather(maker, i, true);
        }
        status = settle_ranks(maker, job, err);
    }
    return status;
}

/* ---- execution traces ---- */

/* The device trace an execution trace goes with, by one of the rules; maker->count when there is none, or several. */
static uint32_t find_partner(const struct maker *maker, const struct found *host, unsigned rule)
{
    uint32_t partner = maker->count;
    for (uint32_t i = 0; i < maker->count; i++) {
        const struct found *device = &maker->files[i];
        if (!is_device(device)) {
            continue;
        }
        bool same_tag = device->name.is_ours == host->name.is_ours && strcmp(device->name.tag, host->name.tag) == 0;
        bool same_rank =
            host->name.rank >= 0 && (host->name.rank == device->name.rank || host->name.rank == device->rank);
        bool fits = rule == 0   ? same_tag && host->name.is_ours && host->name.rank == device->name.rank
                    : rule == 1 ? host->about.pid >= 0 && host->about.pid == device->about.pid
                    : rule == 2 ? same_tag && same_rank
                    : rule == 3 ? same_rank && !host->name.is_ours == !device->name.is_ours
                                : same_rank;
        if (fits && partner != maker->count) {
            return maker->count;
        }
        partner = fits ? i : partner;
    }
    return partner;
}

static uint32_t count_kind(const struct maker *maker, bool device)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < maker->count; i++) {
        count += is_device(&maker->files[i]) == device;
    }
    return count;
}

static enum orr_status place_host(struct maker *maker, struct found *host, struct orr_error *err)
{
    uint32_t partner = maker->count;
    for (unsigned rule = 0; rule < 5 && partner == maker->count; rule++) {
        partner = find_partner(maker, host, rule);
    }
    for (uint32_t i = 0; i < maker->count && partner == maker->count; i++) {
        if (is_device(&maker->files[i]) && count_kind(maker, true) == 1 && count_kind(maker, false) == 1) {
            partner = i; /* one of each */
        }
    }
    if (partner != maker->count) {
        host->job = maker->files[partner].job;
        host->rank = maker->files[partner].rank;
        return ORR_OK;
    }
    if (!host->name.is_ours && count_kind(maker, true) > 0) {
        return error_set(err, ORR_EINVAL,
                         "%s: an execution trace, and nothing tells which device trace it goes with; call them "
                         "host_R.json and device_R.json, R the rank",
                         host->path);
    }
    host->rank = host->name.rank >= 0                                     ? host->name.rank
                 : host->name.number >= 0 && count_kind(maker, false) > 1 ? host->name.number
                                                                          : 0;
    for (uint32_t i = 0; i < maker->count; i++) { /* beside others of its name's job, or a job of its own */
        const struct found *other = &maker->files[i];
        if (other->job != NO_JOB && other->name.is_ours == host->name.is_ours &&
            strcmp(other->name.tag, host->name.tag) == 0) {
            host->job = other->job;
            return ORR_OK;
        }
    }
    host->job = maker->job_count++;
    return ORR_OK;
}

/* ---- what they are called ---- */

/* What may tell jobs apart, the shortest first. */
enum { LABELS = 5 };

static const char *import_jobs_label(const struct maker *maker, const struct found *file, unsigned which)
{
    const struct import_name *name = &file->name;
    switch (name->is_ours ? 0 : which) {
    case 0:
        return name->tag;
    case 1:
        return arena_printf(maker->arena, "%s%s%" PRId64 "-ranks", name->tag, name->tag[0] == '\0' ? "" : "-",
                            file->about.world_size < 0 ? 1 : file->about.world_size);
    case 2:
        return file->about.job[0] == '\0' ? name->tag : file->about.job;
    case 3:
        return name->stamp;
    default:
        return name->stem;
    }
}

static enum orr_status name_jobs(const struct maker *maker, struct import_job *jobs, struct orr_error *err)
{
    for (unsigned which = 0; which < LABELS; which++) {
        bool unique = true;
        for (uint32_t i = 0; i < maker->job_count; i++) {
            const struct found *first = NULL;
            for (uint32_t f = 0; f < maker->count && first == NULL; f++) {
                first = maker->files[f].job == i ? &maker->files[f] : NULL;
            }
            bool alone = maker->job_count == 1 && first != NULL && !first->name.is_ours;
            const char *text = alone || first == NULL ? "" : import_jobs_label(maker, first, which);
            jobs[i].tag = text == NULL ? NULL : arena_strndup(maker->arena, text, strlen(text));
            if (jobs[i].tag == NULL) {
                return mem_error(maker->arena->mem, "file names", err);
            }
            unique = unique && (alone || first == NULL || first->name.is_ours || text[0] != '\0');
            for (uint32_t k = 0; k < i && unique; k++) {
                unique = strcmp(jobs[k].tag, jobs[i].tag) != 0;
            }
        }
        if (unique) {
            break;
        }
    }
    return ORR_OK;
}

/* ---- pairs ---- */

static enum orr_status import_jobs_put(struct import_job *job, const struct found *file, struct orr_error *err)
{
    struct import_pair *pair = NULL;
    if (file->rank < 0 || file->rank >= UINT32_MAX) {
        return error_set(err, ORR_EINVAL, "%s: rank %" PRId64 " is none", file->path, file->rank);
    }
    for (uint32_t i = 0; i < job->pair_count && pair == NULL; i++) {
        pair = job->pairs[i].rank == file->rank ? &job->pairs[i] : NULL;
    }
    if (pair == NULL) {
        pair = &job->pairs[job->pair_count++];
        *pair = (struct import_pair){.rank = (uint32_t)file->rank};
    }
    const char **place = is_device(file) ? &pair->device : &pair->host;
    if (*place != NULL) {
        return error_set(err, ORR_EINVAL, "%s: %s is a %s trace of rank %u too; one of them must go", file->path,
                         *place, is_device(file) ? "device" : "host", pair->rank);
    }
    *place = file->path;
    pair->is_rocprof = pair->is_rocprof || file->about.kind == RECORDING_ROCPROF;
    return ORR_OK;
}

static int compare_pairs(const void *left, const void *right)
{
    const struct import_pair *a = left;
    const struct import_pair *b = right;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static int compare_jobs(const void *left, const void *right)
{
    return strcmp(((const struct import_job *)left)->tag, ((const struct import_job *)right)->tag);
}

static enum orr_status make_pairs(const struct maker *maker, struct import_job *jobs, struct orr_error *err)
{
    for (uint32_t i = 0; i < maker->job_count; i++) {
        uint32_t files = 0;
        for (uint32_t f = 0; f < maker->count; f++) {
            files += maker->files[f].job == i;
        }
        jobs[i].pairs = arena_zalloc(maker->arena, ((size_t)files + 1) * sizeof *jobs[i].pairs);
        if (jobs[i].pairs == NULL) {
            return mem_error(maker->arena->mem, "file names", err);
        }
        for (uint32_t f = 0; f < maker->count; f++) {
            enum orr_status status =
                maker->files[f].job == i ? import_jobs_put(&jobs[i], &maker->files[f], err) : ORR_OK;
            if (status != ORR_OK) {
                return status;
            }
        }
        qsort(jobs[i].pairs, jobs[i].pair_count, sizeof *jobs[i].pairs, compare_pairs);
    }
    return ORR_OK;
}

enum orr_status import_jobs_make(struct found *files, uint32_t count, struct arena *arena, struct import_job **jobs,
                                 uint32_t *job_count, struct orr_error *err)
{
    struct maker maker = {.files = files, .count = count, .arena = arena};
    for (uint32_t i = 0; i < count; i++) {
        files[i].job = NO_JOB;
        files[i].rank = -1;
    }
    enum orr_status status = place_devices(&maker, err);
    for (uint32_t i = 0; i < count && status == ORR_OK; i++) {
        status = is_device(&files[i]) ? ORR_OK : place_host(&maker, &files[i], err);
    }
    struct import_job *made = NULL;
    if (status == ORR_OK) {
        made = arena_zalloc(arena, ((size_t)maker.job_count + 1) * sizeof *made);
        status = made == NULL ? mem_error(arena->mem, "file names", err) : name_jobs(&maker, made, err);
    }
    if (status == ORR_OK && made != NULL) {
        status = make_pairs(&maker, made, err);
    }
    if (status == ORR_OK && made != NULL) {
        qsort(made, maker.job_count, sizeof *made, compare_jobs);
        *jobs = made;
        *job_count = maker.job_count;
    }
    return status;
}
