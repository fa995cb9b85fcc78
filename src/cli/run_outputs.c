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

enum { INPUTS_MOST = 8, OUTPUTS = 14 }; /* --csv is its folder and the five files in it */

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

static struct place cli_run_outputs_place_of(const char *option, const char *path)
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

/* Everything that has a place. */
struct places {
    struct place inputs[INPUTS_MOST], outputs[OUTPUTS];
    size_t input_count;
    const char *workload; /* prefix of the traces as given, and canonical or NULL */
    char *prefix;
};

static enum orr_status check_places(const struct places *places, struct orr_error *err)
{
    for (size_t i = 0; i < OUTPUTS; i++) {
        const struct place *output = &places->outputs[i];
        for (size_t j = 0; j < places->input_count; j++) {
            if (same_place(output, &places->inputs[j])) {
                return error_set(err, ORR_EINVAL, "%s would replace the file of %s: %s", output->option,
                                 places->inputs[j].option, output->path);
            }
        }
        for (size_t j = 0; j < i; j++) {
            if (same_place(output, &places->outputs[j])) {
                return error_set(err, ORR_EINVAL, "%s and %s are the same file: %s", places->outputs[j].option,
                                 output->option, output->path);
            }
        }
        enum orr_status status =
            places->workload == NULL ? ORR_OK : check_against_traces(output, places->workload, places->prefix, err);
        if (status != ORR_OK) {
            return status;
        }
    }
    return ORR_OK;
}

/* The system file's local-mem-trace-filename names a file for each rank. */
static enum orr_status check_local_mem(const char *path, const struct places *places, struct orr_error *err)
{
    if (path == NULL) {
        return ORR_OK;
    }
    enum orr_status status = cli_check_writable("local-mem-trace-filename", path, err);
    char *prefix = canonical_in_folder(path, strlen(path));
    for (size_t i = 0; i < places->input_count + OUTPUTS && prefix != NULL && status == ORR_OK; i++) {
        const struct place *place =
            i < places->input_count ? &places->inputs[i] : &places->outputs[i - places->input_count];
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
    struct place place = cli_run_outputs_place_of(option, path);
    free(path);
    return place;
}

static enum orr_status check_conflicts(const struct run_outputs *outputs, const struct run_input *inputs,
                                       const char *prefix, struct orr_error *err)
{
    struct places places = {
        .outputs =
            {
                cli_run_outputs_place_of("--json", outputs->json),
                cli_run_outputs_place_of("--timeline", outputs->timeline),
                cli_run_outputs_place_of("--report", outputs->report),
                cli_run_outputs_place_of("--dump-comm-intervals", outputs->comm_intervals),
                cli_run_outputs_place_of("--status-file", outputs->status_file),
                cli_run_outputs_place_of("--csv", outputs->csv),
                place_in("--csv (ranks.csv)", outputs->csv, "ranks.csv"),
                place_in("--csv (collectives.csv)", outputs->csv, "collectives.csv"),
                place_in("--csv (dimensions.csv)", outputs->csv, "dimensions.csv"),
                place_in("--csv (links.csv)", outputs->csv, "links.csv"),
                place_in("--csv (memory.csv)", outputs->csv, "memory.csv"),
                cli_run_outputs_place_of("--fct", outputs->fct),
                cli_run_outputs_place_of("--pfc", outputs->pfc),
                cli_run_outputs_place_of("--qlen", outputs->qlen),
            },
        .workload = prefix,
        .prefix = prefix == NULL ? NULL : canonical_in_folder(prefix, strlen(prefix)),
    };
    for (; inputs[places.input_count].option != NULL && places.input_count < INPUTS_MOST; places.input_count++) {
        places.inputs[places.input_count] =
            cli_run_outputs_place_of(inputs[places.input_count].option, inputs[places.input_count].path);
    }
    enum orr_status status = check_places(&places, err);
    if (status == ORR_OK) {
        status = check_local_mem(outputs->local_mem, &places, err);
    }
    free(places.prefix);
    for (size_t i = 0; i < places.input_count; i++) {
        free(places.inputs[i].path);
    }
    for (size_t i = 0; i < OUTPUTS; i++) {
        free(places.outputs[i].path);
    }
    return status;
}

/* Elsewhere --csv takes a file, and one of that name is not what people expect to find a folder. */
static enum orr_status check_tables(const char *option, const char *path, struct orr_error *err)
{
    size_t length = strlen(path);
    struct stat found;
    bool exists = stat(path, &found) == 0;
    if ((exists && !S_ISDIR(found.st_mode)) || (!exists && length > 4 && strcmp(path + length - 4, ".csv") == 0)) {
        return error_set(err, ORR_EINVAL,
                         "%s: a run has several tables (ranks.csv, collectives.csv, dimensions.csv …), so it takes a "
                         "folder for them, and %s is %s",
                         option, path, exists ? "a file" : "the name of a file");
    }
    return cli_check_folder(option, path, err);
}

enum orr_status run_outputs_check(const struct run_outputs *outputs, const struct run_input *inputs, const char *prefix,
                                  struct orr_error *err)
{
    const struct {
        const char *option, *path;
        enum orr_status (*check)(const char *option, const char *path, struct orr_error *err);
    } places[] = {
        {"--json", outputs->json, cli_check_writable},
        {"--timeline", outputs->timeline, cli_check_timeline},
        {"--report", outputs->report, cli_check_writable},
        {"--dump-comm-intervals", outputs->comm_intervals, cli_check_writable},
        {"--status-file", outputs->status_file, cli_check_writable},
        {"--fct", outputs->fct, cli_check_writable},
        {"--pfc", outputs->pfc, cli_check_writable},
        {"--qlen", outputs->qlen, cli_check_writable},
        {"--csv", outputs->csv, check_tables},
        {"--output", outputs->simai, cli_check_folder},
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
    return check_conflicts(outputs, inputs, prefix, err);
}
