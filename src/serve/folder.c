/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/json_write.h"

enum { FOLDER_DEPTH = 6, FOLDER_FILES = 5000, FOLDER_NAME = 1024 };

enum orr_status serve_folder_open(const char *path, int *folder, struct orr_error *err)
{
    int opened = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0) {
        return error_system(err, errno, "%s: cannot be opened", path);
    }
    *folder = opened;
    return ORR_OK;
}

static enum orr_status folder_check_name(const char *name, struct orr_error *err)
{
    size_t length = strlen(name);
    if (length == 0 || length >= FOLDER_NAME) {
        return error_set(err, ORR_EINVAL, "a file's name of %zu bytes", length);
    }
    for (const char *at = name;; at++) {
        size_t part = strcspn(at, "/");
        if (part == 0 || *at == '.') {
            return error_set(err, ORR_EINVAL, "\"%.80s\": names below the folder have no empty or hidden parts", name);
        }
        at += part;
        if (*at == '\0') {
            return ORR_OK;
        }
    }
}

enum orr_status serve_folder_file(int folder, const char *name, int *file, uint64_t *bytes, struct orr_error *err)
{
    struct stat about;
    enum orr_status status = folder_check_name(name, err);
    int at = status == ORR_OK ? fcntl(folder, F_DUPFD_CLOEXEC, 0) : -1;
    for (const char *part = name; status == ORR_OK && part != NULL;) {
        char one[FOLDER_NAME];
        const char *slash = strchr(part, '/');
        size_t length = slash != NULL ? (size_t)(slash - part) : strlen(part);
        memcpy(one, part, length);
        one[length] = '\0';
        int next =
            at < 0
                ? -1
                : openat(at, one,
                         O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (slash != NULL ? O_DIRECTORY : 0));
        if (next < 0) {
            status = error_system(err, errno == ELOOP ? ENOENT : errno, "\"%.80s\"", name);
        }
        if (at >= 0) {
            (void)close(at);
        }
        at = next;
        part = slash != NULL ? slash + 1 : NULL;
    }
    if (status == ORR_OK && (fstat(at, &about) != 0 || !S_ISREG(about.st_mode))) {
        status = error_set(err, ORR_EIO, "\"%.80s\": not a file", name);
    }
    if (status != ORR_OK) {
        if (at >= 0) {
            (void)close(at);
        }
        return status;
    }
    *file = at;
    *bytes = (uint64_t)about.st_size;
    return ORR_OK;
}

const char *serve_folder_type(const char *name)
{
    static const struct {
        const char *ending, *type;
    } types[] = {{".html", "text/html; charset=utf-8"},
                 {".json", "application/json"},
                 {".csv", "text/csv; charset=utf-8"},
                 {".svg", "image/svg+xml"},
                 {".md", "text/plain; charset=utf-8"},
                 {".txt", "text/plain; charset=utf-8"},
                 {".yml", "text/plain; charset=utf-8"},
                 {".yaml", "text/plain; charset=utf-8"},
                 {".png", "image/png"},
                 {".pdf", "application/pdf"},
                 {".gz", "application/gzip"},
                 {".et", "application/octet-stream"}};
    const char *end = strrchr(name, '.');
    for (size_t i = 0; end != NULL && i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(end, types[i].ending) == 0) {
            return types[i].type;
        }
    }
    return NULL;
}

/* ---- the list ---- */

struct folder_entry {
    char *name;
    uint64_t bytes;
};

struct folder_list {
    struct folder_entry *entries;
    size_t count;
};

static int folder_by_name(const void *a, const void *b)
{
    const struct folder_entry *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* Takes `folder`. What cannot be read is not told. */
static void folder_walk(struct folder_list *list, int folder, const char *above, unsigned depth)
{
    DIR *open_folder = fdopendir(folder);
    if (open_folder == NULL) {
        (void)close(folder);
        return;
    }
    for (const struct dirent *entry = readdir(open_folder); entry != NULL && list->count < FOLDER_FILES;
         entry = readdir(open_folder)) {
        struct stat about;
        char name[FOLDER_NAME];
        int length = snprintf(name, sizeof name, "%s%s", above, entry->d_name);
        if (entry->d_name[0] == '.' || length >= (int)sizeof name - 1 ||
            fstatat(folder, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        if (S_ISDIR(about.st_mode) && depth < FOLDER_DEPTH) {
            int below = openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            name[length] = '/';
            name[length + 1] = '\0';
            if (below >= 0) {
                folder_walk(list, below, name, depth + 1);
            }
        } else if (S_ISREG(about.st_mode) && serve_folder_type(name) != NULL) {
            list->entries[list->count] = (struct folder_entry){strdup(name), (uint64_t)about.st_size};
            list->count += list->entries[list->count].name != NULL;
        }
    }
    (void)closedir(open_folder);
}

enum orr_status serve_folder_list(int folder, FILE *stream, struct orr_error *err)
{
    struct folder_list list = {.entries = calloc(FOLDER_FILES, sizeof *list.entries)};
    struct json_writer writer;
    int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* its place in the folder is its own */
    if (list.entries == NULL || own < 0) {
        free(list.entries);
        return list.entries == NULL ? error_set(err, ORR_ENOMEM, "no memory for a list of files")
                                    : error_system(err, errno, "the folder cannot be read");
    }
    folder_walk(&list, own, "", 0);
    qsort(list.entries, list.count, sizeof *list.entries, folder_by_name);
    json_write_document(&writer, stream);
    json_write_member_array(&writer, "files", false);
    for (size_t i = 0; i < list.count; i++) {
        json_write_object(&writer, true);
        json_write_member_string(&writer, "name", list.entries[i].name);
        json_write_member_u64(&writer, "bytes", list.entries[i].bytes);
        json_write_object_end(&writer);
        free(list.entries[i].name);
    }
    json_write_array_end(&writer);
    json_write_document_end(&writer);
    free(list.entries);
    return error_of_stream(stream, "the list of files", err);
}
