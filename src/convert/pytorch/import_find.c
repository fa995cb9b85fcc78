/* The names that recorders give their files, taken apart: kind, rank, tag, packing. Files of other names are none of
 * our business and are passed over in silence. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "convert/pytorch/import.h"

enum kind { KIND_HOST, KIND_DEVICE };

struct found {
    const char *path;
    const char *tag;
    uint32_t rank;
    enum kind kind;
};

struct finder {
    const char *folder;
    struct arena *arena;
    struct found *files;
    uint32_t count, capacity;
};

static bool ends_with(const char *text, size_t length, const char *end)
{
    size_t size = strlen(end);
    return length > size && memcmp(text + length - size, end, size) == 0;
}

/* The rank and tag behind the prefix: "0", "12_resnet50". False when it is something else. */
static bool parse_rank(const char *text, size_t length, uint32_t *rank, const char **tag, size_t *tag_length)
{
    uint64_t value = 0;
    size_t at = 0;
    for (; at < length && text[at] >= '0' && text[at] <= '9' && value < UINT32_MAX; at++) {
        value = value * 10 + (uint64_t)(text[at] - '0');
    }
    if (at == 0 || value >= UINT32_MAX || (at < length && text[at] != '_') || at + 1 == length) {
        return false;
    }
    *rank = (uint32_t)value;
    *tag = at < length ? text + at + 1 : "";
    *tag_length = at < length ? length - at - 1 : 0;
    return true;
}

static bool parse_name(const char *name, struct found *found, size_t *tag_length)
{
    static const struct {
        const char *prefix;
        enum kind kind;
    } kinds[] = {
        {"host_rank_", KIND_HOST},     {"host_", KIND_HOST},     {"pytorch_et_", KIND_HOST},
        {"device_rank_", KIND_DEVICE}, {"device_", KIND_DEVICE}, {"kineto_", KIND_DEVICE},
        {"trace_rank_", KIND_DEVICE}, /* trace_rank_R_epoch_E.json: the tag is epoch_E */
    };
    size_t length = strlen(name);
    length -= ends_with(name, length, ".gz") ? 3 : ends_with(name, length, ".zst") ? 4 : 0;
    if (!ends_with(name, length, ".json")) {
        return false;
    }
    length -= 5;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t prefix = strlen(kinds[i].prefix);
        if (length > prefix && memcmp(name, kinds[i].prefix, prefix) == 0) {
            found->kind = kinds[i].kind;
            return parse_rank(name + prefix, length - prefix, &found->rank, &found->tag, tag_length);
        }
    }
    return false;
}

static bool add_file(struct finder *finder, const char *name)
{
    struct found found = {0};
    size_t tag_length = 0;
    if (!parse_name(name, &found, &tag_length)) {
        return true;
    }
    found.path = arena_printf(finder->arena, "%s/%s", finder->folder, name);
    found.tag = arena_strndup(finder->arena, found.tag, tag_length);
    if (found.path == NULL || found.tag == NULL ||
        !mem_reserve(finder->arena->mem, (void **)&finder->files, &finder->capacity, (uint64_t)finder->count + 1,
                     sizeof *finder->files)) {
        return false;
    }
    finder->files[finder->count++] = found;
    return true;
}

/* By tag, rank, kind, name: the order of a folder is anybody's. */
static int compare_found(const void *left, const void *right)
{
    const struct found *a = left;
    const struct found *b = right;
    int tags = strcmp(a->tag, b->tag);
    if (tags != 0) {
        return tags;
    }
    if (a->rank != b->rank) {
        return a->rank < b->rank ? -1 : 1;
    }
    return a->kind != b->kind ? (a->kind < b->kind ? -1 : 1) : strcmp(a->path, b->path);
}

static enum orr_status list_folder(struct finder *finder, struct orr_error *err)
{
    DIR *folder = opendir(finder->folder);
    if (folder == NULL) {
        return error_set(err, ORR_EIO, "%s: cannot be opened: %s", finder->folder, strerror(errno));
    }
    enum orr_status status = ORR_OK;
    for (const struct dirent *entry = readdir(folder); entry != NULL && status == ORR_OK; entry = readdir(folder)) {
        if (!add_file(finder, entry->d_name)) {
            status = mem_error(finder->arena->mem, "file names", err);
        }
    }
    (void)closedir(folder);
    if (finder->count > 1) {
        qsort(finder->files, finder->count, sizeof *finder->files, compare_found);
    }
    if (status == ORR_OK && finder->count == 0) {
        status = error_set(err, ORR_EINVAL,
                           "%s: no recording here; files are named host_R.json or pytorch_et_R.json and device_R.json "
                           "or kineto_R.json, R the rank, with _TAG behind it where there are several runs, "
                           "and .gz or .zst where packed",
                           finder->folder);
    }
    return status;
}

enum orr_status import_tags(const char *folder, struct arena *arena, const char ***tags, uint32_t *count,
                            struct orr_error *err)
{
    struct finder finder = {.folder = folder, .arena = arena};
    const char **made = NULL;
    uint32_t made_count = 0;
    enum orr_status status = list_folder(&finder, err);
    if (status == ORR_OK) {
        made = arena_alloc(arena, (size_t)finder.count * sizeof *made);
        status = made == NULL ? mem_error(arena->mem, "file names", err) : ORR_OK;
    }
    for (uint32_t i = 0; made != NULL && i < finder.count; i++) {
        if (i == 0 || strcmp(finder.files[i].tag, finder.files[i - 1].tag) != 0) {
            made[made_count++] = finder.files[i].tag;
        }
    }
    mem_free(arena->mem, finder.files, (size_t)finder.capacity * sizeof *finder.files);
    if (status == ORR_OK) {
        *tags = made;
        *count = made_count;
    }
    return status;
}

/* Keeps the files of one tag. */
static enum orr_status pick_tag(struct finder *finder, const char *tag, struct orr_error *err)
{
    char all[256] = "";
    size_t used = 0;
    uint32_t tags = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < finder->count; i++) {
        const char *name = finder->files[i].tag;
        if (i == 0 || strcmp(name, finder->files[i - 1].tag) != 0) {
            tags++;
            int more = snprintf(all + used, sizeof all - used, "%s%s", tags == 1 ? "" : ", ",
                                name[0] == '\0' ? "\"\" (none)" : name);
            used = used + (size_t)more < sizeof all ? used + (size_t)more : sizeof all - 1;
        }
        if (tag == NULL || strcmp(name, tag) == 0) {
            finder->files[kept++] = finder->files[i];
        }
    }
    if (tag == NULL && tags > 1) {
        return error_set(err, ORR_EINVAL, "%s: recordings of %u runs are here, tagged %s; --tag TAG picks one",
                         finder->folder, tags, all);
    }
    if (kept == 0) {
        return error_set(err, ORR_EINVAL, "%s: no recording is tagged \"%.100s\"; the tags here are %s", finder->folder,
                         tag, all);
    }
    finder->count = kept;
    return ORR_OK;
}

static enum orr_status put(struct import_pair *pair, const struct found *found, struct orr_error *err)
{
    const char **place = found->kind == KIND_HOST ? &pair->host : &pair->device;
    if (*place != NULL) {
        return error_set(err, ORR_EINVAL, "%s: %s is a %s trace of rank %u too; one of them must go", found->path,
                         *place, found->kind == KIND_HOST ? "host" : "device", found->rank);
    }
    *place = found->path;
    pair->rank = found->rank;
    return ORR_OK;
}

static enum orr_status make_pairs(const struct finder *finder, struct import_pair *pairs, uint32_t *count,
                                  struct orr_error *err)
{
    *count = 0;
    for (uint32_t i = 0; i < finder->count; i++) {
        if (i == 0 || finder->files[i].rank != finder->files[i - 1].rank) {
            pairs[(*count)++] = (struct import_pair){0};
        }
        enum orr_status status = put(&pairs[*count - 1], &finder->files[i], err);
        if (status != ORR_OK) {
            return status;
        }
    }
    return ORR_OK;
}

static enum orr_status pick_ranks(const char *folder, const uint32_t *ranks, uint32_t rank_count,
                                  struct import_pair *pairs, uint32_t *count, struct orr_error *err)
{
    for (uint32_t r = 0; r < rank_count; r++) {
        bool there = false;
        for (uint32_t i = 0; i < *count && !there; i++) {
            there = pairs[i].rank == ranks[r];
        }
        if (!there) {
            return error_set(err, ORR_EINVAL, "%s: no recording of rank %u here; there are %u ranks, %u to %u", folder,
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

enum orr_status import_find(const char *folder, const char *tag, const uint32_t *ranks, uint32_t rank_count,
                            struct arena *arena, struct import_pair **pairs, uint32_t *count, struct orr_error *err)
{
    struct finder finder = {.folder = folder, .arena = arena};
    struct import_pair *made = NULL;
    uint32_t made_count = 0;
    enum orr_status status = list_folder(&finder, err);
    if (status == ORR_OK) {
        status = pick_tag(&finder, tag, err);
    }
    if (status == ORR_OK) {
        made = arena_zalloc(arena, (size_t)finder.count * sizeof *made);
        status = made == NULL ? mem_error(arena->mem, "file names", err) : make_pairs(&finder, made, &made_count, err);
    }
    if (status == ORR_OK && made != NULL) {
        status = pick_ranks(folder, ranks, rank_count, made, &made_count, err);
    }
    mem_free(arena->mem, finder.files, (size_t)finder.capacity * sizeof *finder.files);
    if (status == ORR_OK) {
        *pairs = made;
        *count = made_count;
    }
    return status;
}
