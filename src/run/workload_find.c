/* SPDX-License-Identifier: Apache-2.0 */
/* One look at the folder collects the prefixes that have a rank's file; ranks are then counted by asking for each file,
 * since a hole in the row is an error that must name the file that is missing. */
#include "run/workload_find.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/pytorch/import/import.h"
#include "io/etz.h"
#include "io/file.h"
#include "io/kind.h"
#include "trace/record_edit.h"
#include "trace/steps.h"

enum { PREFIXES_MOST = 8, RANKS_MOST = 1 << 24 };

struct finder {
    const char *folder;
    struct arena *arena;
    const char *prefixes[PREFIXES_MOST]; /* in the order of the alphabet */
    uint32_t count;
    bool more; /* than there is room for */
    bool refused;
};

/* Bytes of `name` before ".R.et"; 0 when it is no such name. `*rank` past 31 bits is none of ours. */
static size_t prefix_length(const char *name, uint64_t *rank)
{
    size_t length = strlen(name);
    if (length < 6 || strcmp(name + length - 3, ".et") != 0) {
        return 0;
    }
    size_t at = length - 3;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') {
        at--;
    }
    if (at == length - 3 || length - 3 - at > 9 || at < 2 || name[at - 1] != '.') {
        return 0;
    }
    *rank = strtoull(name + at, NULL, 10);
    return at - 1;
}

/* An archive is the prefix of what is in it (io/etz.h). */
static bool is_archive_name(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".etz") == 0;
}

static void add_prefix(struct finder *finder, const char *name, size_t length)
{
    uint32_t at = 0;
    while (at < finder->count && strncmp(finder->prefixes[at], name, length) < 0) {
        at++;
    }
    for (uint32_t i = 0; i < finder->count; i++) {
        if (strlen(finder->prefixes[i]) == length && memcmp(finder->prefixes[i], name, length) == 0) {
            return;
        }
    }
    if (finder->count == PREFIXES_MOST) { /* the first by the alphabet stay, in whatever order the folder has them */
        finder->more = true;
        if (at == PREFIXES_MOST) {
            return;
        }
        finder->count--;
    }
    const char *made = arena_strndup(finder->arena, name, length);
    finder->refused = finder->refused || made == NULL;
    if (made != NULL) {
        memmove(finder->prefixes + at + 1, finder->prefixes + at, (finder->count - at) * sizeof finder->prefixes[0]);
        finder->prefixes[at] = made;
        finder->count++;
    }
}

static enum orr_status look_through(struct finder *finder, struct orr_error *err)
{
    DIR *folder = opendir(finder->folder);
    if (folder == NULL) {
        return error_system(err, errno, "%s: cannot be read", finder->folder);
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        uint64_t rank = 0;
        size_t length = prefix_length(entry->d_name, &rank);
        length = length == 0 && is_archive_name(entry->d_name) ? strlen(entry->d_name) : length;
        if (length > 0) {
            add_prefix(finder, entry->d_name, length);
        }
    }
    (void)closedir(folder);
    return finder->refused ? mem_error(finder->arena->mem, "a list of traces", err) : ORR_OK;
}

static bool run_workload_find_is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static enum orr_status run_workload_find_count_ranks(struct run_workload *found, struct arena *arena,
                                                     struct orr_error *err)
{
    size_t room = strlen(found->prefix) + sizeof ".4294967295.et";
    char *path = arena_alloc(arena, room);
    if (path == NULL) {
        return mem_error(arena->mem, "a path", err);
    }
    if (etz_is_archive(found->prefix)) {
        struct etz_reader archive;
        enum orr_status status = etz_open(found->prefix, &archive, err);
        found->ranks = archive.ranks;
        etz_close(&archive);
        return status != ORR_OK || found->ranks > 0
                   ? status
                   : error_set(err, ORR_EINVAL, "%.300s: the archive has no traces", found->prefix);
    }
    for (found->ranks = 0; found->ranks < RANKS_MOST; found->ranks++) {
        (void)snprintf(path, room, "%s.%" PRIu32 ".et", found->prefix, found->ranks);
        if (!file_exists(path)) {
            break;
        }
    }
    if (found->ranks == 0) {
        return error_set(err, ORR_EIO, "%s: no such file; the traces are those of ranks 0, 1, ...", path);
    }
    return ORR_OK;
}

/* A rank beyond the row says that one in between is missing. */
static enum orr_status check_row(const char *folder, const char *name, const struct run_workload *found,
                                 struct orr_error *err)
{
    DIR *entries = opendir(folder);
    uint64_t last = 0;
    for (const struct dirent *entry = entries == NULL ? NULL : readdir(entries); entry != NULL;
         entry = readdir(entries)) {
        uint64_t rank = 0;
        size_t length = prefix_length(entry->d_name, &rank);
        if (length == strlen(name) && length > 0 && memcmp(entry->d_name, name, length) == 0 && rank > last) {
            last = rank;
        }
    }
    if (entries != NULL) {
        (void)closedir(entries);
    }
    return last < found->ranks ? ORR_OK
                               : error_set(err, ORR_EINVAL,
                                           "%s.%" PRIu32 ".et: no such file, but there is a trace of rank %" PRIu64
                                           "; the ranks must be a row from 0",
                                           found->prefix, found->ranks, last);
}

enum orr_status run_workload_groups(const char *prefix, struct arena *arena, const char **groups, struct orr_error *err)
{
    static const char *const endings[] = {".groups.json", ".json"};
    *groups = NULL;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0] && *groups == NULL; i++) {
        const char *path = arena_printf(arena, "%s%s", prefix, endings[i]);
        if (path == NULL) {
            return mem_error(arena->mem, "a path", err);
        }
        *groups = i == 0 ? (file_exists(path) ? path : NULL) : file_kind_read(path) == FILE_KIND_GROUPS ? path : NULL;
    }
    return ORR_OK;
}

enum orr_status run_workload_hint(const char *workload, struct arena *arena, struct orr_error *err)
{
    const char *first = arena_printf(arena, "%s.0.et", workload);
    struct run_workload inside = {0};
    struct orr_error unsaid = {0};
    uint64_t rank = 0;
    if (first == NULL) {
        return mem_error(arena->mem, "a path", err);
    }
    if (file_exists(first)) {
        return ORR_OK;
    }
    const char *slash = strrchr(workload, '/');
    const char *name = slash != NULL ? slash + 1 : workload;
    size_t length = prefix_length(name, &rank);
    if (length > 0 && file_exists(workload)) {
        return error_set(err, ORR_EINVAL,
                         "%.300s: this is the trace of one rank; parameter 'workload' wants the prefix of all: %.*s",
                         workload, (int)((size_t)(name - workload) + length), workload);
    }
    if (run_workload_find_is_folder(workload) &&
        run_workload_find(workload, NULL, NULL, arena, &inside, &unsaid) == ORR_OK) {
        return inside.prefix != NULL
                   ? error_set(
                         err, ORR_EINVAL,
                         "%.300s: this is a folder; parameter 'workload' wants the prefix of the traces in it: %.300s",
                         workload, inside.prefix)
                   : error_set(err, ORR_EINVAL,
                               "%.300s: this is a folder of recordings, which are imported first: orrery trace import "
                               "%.300s -o PREFIX",
                               workload, workload);
    }
    enum file_kind kind = file_kind_read(workload);
    return kind == FILE_KIND_UNKNOWN || kind == FILE_KIND_TRACE
               ? ORR_OK
               : error_set(err, ORR_EINVAL,
                           "%.300s: this is %s; parameter 'workload' wants the prefix of traces, PREFIX.RANK.et",
                           workload, file_kind_name(kind));
}

enum orr_status run_workload_surplus(const char *prefix, uint32_t ranks, struct arena *arena, struct orr_error *err)
{
    struct run_workload found = {.prefix = prefix};
    const char *path = arena_printf(arena, "%s.%" PRIu32 ".et", prefix, ranks);
    if (path == NULL) {
        return mem_error(arena->mem, "a path", err);
    }
    enum orr_status status = file_exists(path) ? run_workload_find_count_ranks(&found, arena, err) : ORR_OK;
    return status != ORR_OK || found.ranks <= ranks
               ? status
               : error_set(err, ORR_EINVAL,
                           "%.300s: there are traces of %" PRIu32 " ranks, and the machine has %" PRIu32
                           "; take a machine of %" PRIu32
                           " ranks, or leave the other traces out as ASTRA-sim does (parameter 'compat' astra)",
                           path, found.ranks, ranks, found.ranks);
}

static enum orr_status take_prefix(const char *folder, const char *name, struct arena *arena,
                                   struct run_workload *found, struct orr_error *err)
{
    size_t length = strlen(folder);
    found->prefix = arena_printf(arena, "%s%s%s", folder, length > 0 && folder[length - 1] == '/' ? "" : "/", name);
    if (found->prefix == NULL) {
        return mem_error(arena->mem, "a path", err);
    }
    enum orr_status status = run_workload_find_count_ranks(found, arena, err);
    if (status == ORR_OK) {
        status = check_row(folder, name, found, err);
    }
    return status == ORR_OK ? run_workload_groups(found->prefix, arena, &found->groups, err) : status;
}

static enum orr_status fail_several(const struct finder *finder, struct orr_error *err)
{
    char list[400] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < finder->count && used < sizeof list; i++) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.60s", i == 0 ? "" : ", ", finder->prefixes[i]);
    }
    return error_set(err, ORR_EINVAL, "%s: traces of several jobs are there (%s%s); parameter 'prefix' chooses one",
                     finder->folder, list, finder->more ? ", ..." : "");
}

/* Recordings have their own finder, whose complaint about other folders would not say that traces are taken too. */
static enum orr_status take_recording(const char *folder, const char *tag, struct arena *arena,
                                      struct run_workload *found, struct orr_error *err)
{
    struct import_pair *pairs = NULL;
    struct orr_error reason = {0};
    enum orr_status status = import_find(folder, tag, NULL, 0, arena, &pairs, &found->ranks, &reason);
    if (status != ORR_OK) {
        return error_set(err, status, "no traces (PREFIX.R.et) in %s, and as a recording: %s", folder, reason.text);
    }
    for (uint32_t i = 0; i < found->ranks; i++) {
        if (pairs[i].rank != i) {
            return error_set(err, ORR_EINVAL, "%s: no recording of rank %" PRIu32 "; the ranks must be a row from 0",
                             folder, i);
        }
    }
    found->recording = folder;
    return ORR_OK;
}

static enum orr_status take_folder(const char *folder, const char *prefix, const char *tag, struct arena *arena,
                                   struct run_workload *found, struct orr_error *err)
{
    struct finder finder = {.folder = folder, .arena = arena};
    if (prefix != NULL) {
        return take_prefix(folder, prefix, arena, found, err);
    }
    enum orr_status status = look_through(&finder, err);
    if (status != ORR_OK) {
        return status;
    }
    if (finder.count > 1) {
        return fail_several(&finder, err);
    }
    return finder.count == 1 ? take_prefix(folder, finder.prefixes[0], arena, found, err)
                             : take_recording(folder, tag, arena, found, err);
}

enum orr_status run_workload_find(const char *workload, const char *prefix, const char *tag, struct arena *arena,
                                  struct run_workload *found, struct orr_error *err)
{
    struct run_workload made = {0};
    enum orr_status status = ORR_OK;
    if (run_workload_find_is_folder(workload)) {
        status = take_folder(workload, prefix, tag, arena, &made, err);
    } else if (prefix != NULL) {
        status =
            error_set(err, ORR_EINVAL, "parameter 'prefix' chooses among the traces of a folder; %s is none", workload);
    } else {
        made.prefix = workload;
        status = run_workload_find_count_ranks(&made, arena, err);
        status = status == ORR_OK ? run_workload_groups(workload, arena, &made.groups, err) : status;
    }
    if (status == ORR_OK) {
        *found = made;
    }
    return status;
}

/* ---- steps ---- */

static int compare_steps(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t count_different(struct steps *steps)
{
    uint64_t count = 0;
    qsort(steps->step, steps->node_count, sizeof *steps->step, compare_steps);
    for (uint32_t i = 0; i < steps->node_count; i++) {
        count += steps->step[i] != STEPS_NONE && (i == 0 || steps->step[i] != steps->step[i - 1]);
    }
    return count;
}

static enum orr_status run_workload_find_read_steps(struct record_reader *reader, struct steps *steps, struct mem *mem,
                                                    struct orr_error *err)
{
    struct record_pass pass;
    enum orr_status status = record_pass_open(&pass, reader, NULL, mem, err);
    while (status == ORR_OK && pass.more) {
        status = steps_add(steps, &pass.facts, err);
        status = status != ORR_OK ? status : record_pass_next(&pass, err);
    }
    record_pass_close(&pass);
    return status;
}

enum orr_status run_workload_steps(const char *prefix, struct mem *mem, uint64_t *steps, struct orr_error *err)
{
    struct arena arena;
    struct record_reader reader;
    struct steps found;
    arena_init(&arena, mem);
    const char *path = arena_printf(&arena, "%s.0.et", prefix);
    enum orr_status status = path == NULL ? mem_error(mem, "a path", err) : ORR_OK;
    *steps = 0;
    if (status == ORR_OK && !file_exists(path)) {
        arena_free(&arena);
        return ORR_OK;
    }
    if (status == ORR_OK) {
        status = record_reader_open(&reader, path, mem, err);
    }
    if (status == ORR_OK) {
        steps_init(&found, mem);
        status = run_workload_find_read_steps(&reader, &found, mem, err);
        if (status == ORR_OK) {
            *steps = steps_settle(&found) ? count_different(&found) : 0;
        }
        steps_free(&found);
        record_reader_close(&reader);
    }
    arena_free(&arena);
    return status;
}
