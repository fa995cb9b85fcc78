/* SPDX-License-Identifier: Apache-2.0 */
/* Names are compared first and only the chosen file is opened: a folder may hold the traces of many models. Two names
 * of equal rank are told in alphabetical order, because a folder has none. */
#include "api/model_info.h"

#include <dirent.h>
#include <inttypes.h>
#include <string.h>

#include "io/file.h"
#include "io/json.h"

enum { DEGREE_MOST = 1 << 20 };

/* ---- one file ---- */

static enum orr_status read_whole(const char *name, const struct io_value *value, uint64_t most, uint64_t *number,
                                  struct orr_error *err)
{
    char found[96];
    if (value->kind != IO_INTEGER || value->integer < 1 || (uint64_t)value->integer > most) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": \"%s\" is %s; expected a whole number from 1 to %" PRIu64,
                         name, value->line, value->key, io_value_describe(value, found, sizeof found), most);
    }
    *number = (uint64_t)value->integer;
    return ORR_OK;
}

enum orr_status model_info_parse(const char *name, const char *text, size_t size, struct arena *arena,
                                 struct model_info *info, struct orr_error *err)
{
    struct io_value *root = NULL;
    uint64_t params = 0;
    uint64_t bytes = 0;
    uint64_t tp = 0;
    const struct {
        const char *key;
        uint64_t *value, most;
    } keys[] = {{"n_params", &params, INT64_MAX}, {"param_dtype_bytes", &bytes, 8}, {"tp_degree", &tp, DEGREE_MOST}};
    enum orr_status status = io_json_parse(name, text, size, arena, &root, err);
    if (status == ORR_OK && root->kind != IO_MAP) {
        status = error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": not an object with \"n_params\"", name, root->line);
    }
    for (const struct io_value *at = status == ORR_OK ? root->first : NULL; at != NULL && status == ORR_OK;
         at = at->next) {
        for (size_t i = 0; i < sizeof keys / sizeof keys[0] && status == ORR_OK; i++) {
            if (strcmp(at->key, keys[i].key) == 0) {
                status = read_whole(name, at, keys[i].most, keys[i].value, err);
            }
        }
    }
    if (status == ORR_OK && params == 0) {
        status =
            error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": no \"n_params\", the model's parameters", name, root->line);
    }
    if (status == ORR_OK && (bytes & (bytes - 1)) != 0) {
        status =
            error_set(err, ORR_EINVAL, "%s: \"param_dtype_bytes\" is %" PRIu64 "; expected 1, 2, 4 or 8", name, bytes);
    }
    if (status == ORR_OK) {
        *info = (struct model_info){.path = name, .params = params, .param_bytes = (uint32_t)bytes, .tp = (uint32_t)tp};
    }
    return status;
}

/* ---- which file ---- */

/* What stands between "model_info" and ".json", without the stroke before it; false: another file. */
static bool tag_of(const char *name, const char **tag, size_t *length)
{
    static const char front[] = "model_info";
    static const char back[] = ".json";
    size_t whole = strlen(name);
    if (whole < strlen(front) + strlen(back) || strncmp(name, front, strlen(front)) != 0 ||
        strcmp(name + whole - strlen(back), back) != 0) {
        return false;
    }
    *tag = name + strlen(front);
    *length = whole - strlen(front) - strlen(back);
    if (*length > 0 && **tag != '_') {
        return false;
    }
    *tag += *length > 0;
    *length -= *length > 0;
    return true;
}

struct choosing {
    const char *job; /* the prefix's name, without its folder */
    struct arena *arena;
    const char *best, *other; /* names; the second is as good as the first, or NULL */
    size_t length;            /* of the tag that fits; 0: none does */
    bool refused;             /* memory */
};

static void weigh(struct choosing *choosing, const char *name)
{
    const char *tag = NULL;
    size_t length = 0;
    if (!tag_of(name, &tag, &length)) {
        return;
    }
    length = memmem(choosing->job, strlen(choosing->job), tag, length) != NULL ? length : 0;
    if (choosing->best != NULL && length < choosing->length) {
        return;
    }
    const char *copy = arena_strndup(choosing->arena, name, strlen(name));
    choosing->refused = choosing->refused || copy == NULL;
    if (choosing->best == NULL || length > choosing->length) {
        choosing->best = copy;
        choosing->other = NULL;
        choosing->length = length;
    } else if (copy != NULL && strcmp(copy, choosing->best) < 0) {
        choosing->other = choosing->best;
        choosing->best = copy;
    } else if (choosing->other == NULL || (copy != NULL && strcmp(copy, choosing->other) < 0)) {
        choosing->other = copy;
    }
}

static enum orr_status api_model_info_choose(struct choosing *choosing, const char *folder, struct orr_error *err)
{
    DIR *entries = opendir(folder);
    if (entries == NULL) {
        return ORR_OK; /* traces that can be read where the folder cannot be listed */
    }
    for (const struct dirent *entry = readdir(entries); entry != NULL && !choosing->refused; entry = readdir(entries)) {
        weigh(choosing, entry->d_name);
    }
    (void)closedir(entries);
    if (choosing->refused) {
        return mem_error(choosing->arena->mem, "the name of a file", err);
    }
    return choosing->other == NULL ? ORR_OK
                                   : error_set(err, ORR_EINVAL,
                                               "%s: both %.100s and %.100s could be of the model; give parameter "
                                               "'params' N, and parameter 'dtype' and "
                                               "parameter 'trace-tp' where they differ from their defaults",
                                               folder, choosing->best, choosing->other);
}

static enum orr_status read_file(const char *path, struct arena *arena, struct model_info *info, struct orr_error *err)
{
    struct file_buffer buffer;
    file_buffer_init(&buffer, arena->mem);
    enum orr_status status = file_buffer_read(&buffer, path, err);
    if (status == ORR_OK) {
        status = model_info_parse(path, (const char *)buffer.bytes, buffer.size, arena, info, err);
    }
    file_buffer_free(&buffer);
    return status;
}

enum orr_status model_info_find(const char *prefix, struct arena *arena, struct model_info *info, bool *found,
                                struct orr_error *err)
{
    const char *slash = strrchr(prefix, '/');
    struct choosing choosing = {.job = slash == NULL ? prefix : slash + 1, .arena = arena};
    const char *folder = slash == NULL     ? "."
                         : slash == prefix ? "/"
                                           : arena_strndup(arena, prefix, (size_t)(slash - prefix));
    if (folder == NULL) {
        return mem_error(arena->mem, "the name of a folder", err);
    }
    enum orr_status status = api_model_info_choose(&choosing, folder, err);
    if (status != ORR_OK || choosing.best == NULL) {
        *found = false;
        return status;
    }
    const char *path =
        slash == NULL ? choosing.best : arena_printf(arena, "%.*s%s", (int)(slash + 1 - prefix), prefix, choosing.best);
    if (path == NULL) {
        return mem_error(arena->mem, "the name of a file", err);
    }
    status = read_file(path, arena, info, err);
    *found = status == ORR_OK;
    return status;
}
