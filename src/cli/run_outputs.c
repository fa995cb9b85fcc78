/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be known of a run's outputs before the work: an hour of simulation should not end with a folder that is not
 * there, nor with a result that has replaced the file it came from or another result.
 *
 * Files are the same when their device and inode are; one that does not exist yet is known by its canonical path. What
 * is neither (a pipe, /dev/null, a terminal) may be named as often as one likes.
 */
#include "cli/run.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INPUTS = 7, OUTPUTS = 13 }; /* --csv is its folder and the five files in it */

struct place {
    const char *option;
    char *path;   /* canonical; NULL when there is none to compare */
    bool is_file; /* it exists and is a regular file: `at` says which */
    struct stat at;
};

static char *canonical(const char *path);

/* The last name of a path behind its canonical folder; a link of that name is not followed. The caller frees it. */
static char *canonical_in_folder(const char *path, size_t length)
{
    size_t name = length;
    while (name > 0 && path[name - 1] != '/') {
        name--;
    }
    char *above = name == 0 ? strdup(".") : strndup(path, name);
    char *folder = above == NULL || length == 0 ? NULL : canonical(above);
    free(above);
    char *whole = NULL;
    if (folder != NULL &&
        asprintf(&whole, "%s/%.*s", strcmp(folder, "/") == 0 ? "" : folder, (int)(length - name), path + name) < 0) {
        whole = NULL;
    }
    free(folder);
    return whole;
}

/* The canonical form of a path that may not exist yet, from the nearest folder above that does. NULL when there is no
 * memory or a folder cannot be searched. The caller frees it. */
static char *canonical(const char *path)
{
    char *found = realpath(path, NULL);
    if (found != NULL || errno != ENOENT) {
        return found;
    }
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    return canonical_in_folder(path, length);
}

static struct place place_of(const char *option, const char *path)
{
    struct place place = {.option = option};
    if (path == NULL || path[0] == '\0') {
        return place;
    }
    bool exists = stat(path, &place.at) == 0;
    place.is_file = exists && S_ISREG(place.at.st_mode);
    place.path = exists && !place.is_file ? NULL : canonical(path);
    return place;
}

static bool same_inode(const struct stat *one, const struct stat *other)
{
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

static bool same_place(const struct place *one, const struct place *other)
{
    if (one->is_file && other->is_file) {
        return same_inode(&one->at, &other->at);
    }
    return one->path != NULL && other->path != NULL && strcmp(one->path, other->path) == 0;
}

/* Whether `path` is PREFIX.<digits><ending>, both canonical. */
static bool is_name_of_rank(const char *path, const char *prefix, const char *ending)
{
    size_t length = strlen(prefix);
    if (strncmp(path, prefix, length) != 0 || path[length] != '.' || !isdigit((unsigned char)path[length + 1])) {
        return false;
    }
    const char *at = path + length + 1;
    while (isdigit((unsigned char)*at)) {
        at++;
    }
    return strcmp(at, ending) == 0;
}

/* A trace may be a link to the file an output would replace, so those that exist are compared themselves too. */
static bool is_trace_file(const struct place *output, const char *prefix)
{
    bool same = false;
    for (uint32_t rank = 0; output->is_file && !same; rank++) {
        char *path = NULL;
        struct stat found;
        bool exists = asprintf(&path, "%s.%" PRIu32 ".et", prefix, rank) >= 0 && stat(path, &found) == 0;
        free(path);
        if (!exists) {
            break;
        }
        same = same_inode(&found, &output->at);
    }
    return same;
}

static enum orr_status check_against_traces(const struct place *output, const char *workload, const char *prefix,
                                            struct orr_error *err)
{
    bool replaces = prefix != NULL && output->path != NULL && is_name_of_rank(output->path, prefix, ".et");
    if (replaces || is_trace_file(output, workload)) {
        return error_set(err, ORR_EINVAL, "%s would replace a trace of --workload %s: %s", output->option, workload,
                         output->path);
    }
    return ORR_OK;
}

static enum orr_status check_places(const struct run_options *options, const struct place *inputs,
                                    const struct place *outputs, const char *prefix, struct orr_error *err)
{
    for (size_t i = 0; i < OUTPUTS; i++) {
        for (size_t j = 0; j < INPUTS; j++) {
            if (same_place(&outputs[i], &inputs[j])) {
                return error_set(err, ORR_EINVAL, "%s would replace the file of %s: %s", outputs[i].option,
                                 inputs[j].option, outputs[i].path);
            }
        }
        for (size_t j = 0; j < i; j++) {
            if (same_place(&outputs[i], &outputs[j])) {
                return error_set(err, ORR_EINVAL, "%s and %s are the same file: %s", outputs[j].option,
                                 outputs[i].option, outputs[i].path);
            }
        }
        enum orr_status status = check_against_traces(&outputs[i], options->run.workload, prefix, err);
        if (status != ORR_OK) {
            return status;
        }
    }
    return ORR_OK;
}

/* The system file's local-mem-trace-filename names a file for each rank. */
static enum orr_status check_local_mem(const struct run_options *options, const struct place *inputs,
                                       const struct place *outputs, struct orr_error *err)
{
    if (options->local_mem == NULL) {
        return ORR_OK;
    }
    enum orr_status status = cli_check_writable("local-mem-trace-filename", options->local_mem, err);
    char *prefix = canonical_in_folder(options->local_mem, strlen(options->local_mem));
    for (size_t i = 0; i < INPUTS + OUTPUTS && prefix != NULL && status == ORR_OK; i++) {
        const struct place *place = i < INPUTS ? &inputs[i] : &outputs[i - INPUTS];
        if (place->path != NULL && is_name_of_rank(place->path, prefix, ".json")) {
            status = error_set(err, ORR_EINVAL,
                               "local-mem-trace-filename of the system file would replace the file of %s: %s",
                               place->option, place->path);
        }
    }
    free(prefix);
    return status;
}

static struct place place_in(const char *option, const char *folder, const char *name)
{
    char *path = NULL;
    if (folder == NULL || asprintf(&path, "%s/%s", folder, name) < 0) {
        return (struct place){.option = option};
    }
    struct place place = place_of(option, path);
    free(path);
    return place;
}

static enum orr_status check_conflicts(const struct run_options *options, struct orr_error *err)
{
    struct place inputs[INPUTS] = {
        place_of("--system", options->run.system),       place_of("--network", options->run.network),
        place_of("--memory", options->run.memory),       place_of("--groups", options->run.groups),
        place_of("--calibration", options->calibration), place_of("--logical", options->run.logical),
        place_of("TOPOLOGY_FILE", options->topology),
    };
    struct place outputs[OUTPUTS] = {
        place_of("--json", options->json),
        place_of("--timeline", options->timeline),
        place_of("--dump-comm-intervals", options->comm_intervals),
        place_of("--status-file", options->status_file),
        place_of("--csv", options->csv),
        place_in("--csv (ranks.csv)", options->csv, "ranks.csv"),
        place_in("--csv (collectives.csv)", options->csv, "collectives.csv"),
        place_in("--csv (dimensions.csv)", options->csv, "dimensions.csv"),
        place_in("--csv (links.csv)", options->csv, "links.csv"),
        place_in("--csv (memory.csv)", options->csv, "memory.csv"),
        place_of("--fct", options->fct),
        place_of("--pfc", options->pfc),
        place_of("--qlen", options->qlen),
    };
    char *prefix = canonical_in_folder(options->run.workload, strlen(options->run.workload));
    enum orr_status status = check_places(options, inputs, outputs, prefix, err);
    if (status == ORR_OK) {
        status = check_local_mem(options, inputs, outputs, err);
    }
    free(prefix);
    for (size_t i = 0; i < INPUTS; i++) {
        free(inputs[i].path);
    }
    for (size_t i = 0; i < OUTPUTS; i++) {
        free(outputs[i].path);
    }
    return status;
}

enum orr_status run_outputs_check(const struct run_options *options, struct orr_error *err)
{
    const struct {
        const char *option, *path;
        enum orr_status (*check)(const char *option, const char *path, struct orr_error *err);
    } places[] = {
        {"--json", options->json, cli_check_writable},
        {"--timeline", options->timeline, cli_check_writable},
        {"--dump-comm-intervals", options->comm_intervals, cli_check_writable},
        {"--status-file", options->status_file, cli_check_writable},
        {"--fct", options->fct, cli_check_writable},
        {"--pfc", options->pfc, cli_check_writable},
        {"--qlen", options->qlen, cli_check_writable},
        {"--csv", options->csv, cli_check_folder},
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const char *path = places[i].path;
        if (path != NULL && strcmp(path, "-") == 0) {
            return error_set(err, ORR_EINVAL, "%s: \"-\" (standard output) is for --json only; write ./- for the name",
                             places[i].option);
        }
        enum orr_status status = path == NULL ? ORR_OK : places[i].check(places[i].option, path, err);
        if (status != ORR_OK) {
            return status;
        }
    }
    return check_conflicts(options, err);
}
