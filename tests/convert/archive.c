/* SPDX-License-Identifier: Apache-2.0 */
/* zlib's gzread takes packed and plain files alike, so that callers need not know which of the archive's files passed
 * the size at which it packs them. */
#include "tests/convert/archive.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zlib.h>

enum { SKIPPED = 77 };

static int run(char *const argv[])
{
    int status = 0;
    (void)fflush(NULL); /* or the child would write our buffered lines again */
    pid_t child = fork();
    if (child == 0) {
        (void)execvp(argv[0], argv);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status)) {
        return -1;
    }
    return WEXITSTATUS(status);
}

static void find_tarball(char path[ARCHIVE_PATH])
{
    const char *shared = getenv("ORRERY_SHARED");
    if (shared != NULL && shared[0] != '\0') {
        (void)snprintf(path, ARCHIVE_PATH, "%s/golden/chakra.tar.xz", shared);
    } else {
        (void)snprintf(path, ARCHIVE_PATH, "%s/../shared/golden/chakra.tar.xz", ARCHIVE_SOURCE_FOLDER);
    }
}

int archive_open(void **state)
{
    char tarball[ARCHIVE_PATH];
    find_tarball(tarball);
    if (access(tarball, R_OK) != 0) {
        (void)printf("skipped: no %s\n", tarball);
        exit(SKIPPED);
    }
    struct archive *archive = calloc(1, sizeof *archive);
    if (archive == NULL) {
        return -1;
    }
    const char *temporary = getenv("TMPDIR");
    (void)snprintf(archive->folder, sizeof archive->folder, "%s/orrery-chakra-XXXXXX",
                   temporary == NULL || temporary[0] == '\0' ? "/tmp" : temporary);
    if (mkdtemp(archive->folder) == NULL) {
        free(archive);
        return -1;
    }
    *state = archive;
    char *const argv[] = {"tar", "-xJf", tarball, "-C", archive->folder, NULL};
    if (run(argv) != 0) {
        (void)printf("%s cannot be unpacked\n", tarball);
        (void)archive_close(state);
        return -1;
    }
    return 0;
}

int archive_close(void **state)
{
    struct archive *archive = *state;
    if (archive == NULL) {
        return 0;
    }
    char *const argv[] = {"rm", "-rf", archive->folder, NULL};
    int code = run(argv);
    free(archive);
    *state = NULL;
    return code;
}

bool archive_path(const struct archive *archive, const char *name, char path[ARCHIVE_PATH])
{
    if (name[0] == '/') {
        (void)snprintf(path, ARCHIVE_PATH, "%s", name);
    } else {
        (void)snprintf(path, ARCHIVE_PATH, "%s/%s", archive->folder, name);
    }
    if (access(path, R_OK) == 0) {
        return true;
    }
    size_t length = strlen(path);
    (void)snprintf(path + length, ARCHIVE_PATH - length, ".gz");
    if (access(path, R_OK) == 0) {
        return true;
    }
    path[length] = '\0';
    return false;
}

char *archive_read(const struct archive *archive, const char *name, size_t *size)
{
    char path[ARCHIVE_PATH];
    if (!archive_path(archive, name, path)) {
        return NULL;
    }
    gzFile file = gzopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    size_t used = 0;
    size_t room = 1u << 16;
    char *text = malloc(room);
    for (;;) {
        int got = text == NULL ? -1 : gzread(file, text + used, (unsigned)(room - used - 1));
        if (got <= 0) {
            (void)gzclose(file);
            if (got < 0) {
                free(text);
                return NULL;
            }
            text[used] = '\0';
            if (size != NULL) {
                *size = used;
            }
            return text;
        }
        used += (size_t)got;
        if (room - used < room / 4) {
            char *larger = realloc(text, room * 2);
            if (larger == NULL) {
                free(text);
            }
            text = larger;
            room *= 2;
        }
    }
}

char **archive_names(const struct archive *archive, const char *folder, const char *start)
{
    char path[ARCHIVE_PATH];
    struct dirent **entries = NULL;
    size_t kept = 0;
    (void)snprintf(path, sizeof path, "%s/%s", archive->folder, folder);
    int count = scandir(path, &entries, NULL, alphasort);
    char **names = calloc((size_t)(count < 0 ? 0 : count) + 1, sizeof *names);
    for (int i = 0; i < count; i++) {
        if (names != NULL && entries[i]->d_name[0] != '.' && strncmp(entries[i]->d_name, start, strlen(start)) == 0) {
            names[kept++] = strdup(entries[i]->d_name);
        }
        free(entries[i]);
    }
    free(entries);
    return names;
}

void archive_names_free(char **names)
{
    for (size_t i = 0; names != NULL && names[i] != NULL; i++) {
        free(names[i]);
    }
    free(names);
}

int archive_number(const struct archive *archive, const char *name)
{
    char *text = archive_read(archive, name, NULL);
    int number = text == NULL ? -1 : atoi(text);
    free(text);
    return number;
}

void archive_output(const struct archive *archive, const char *name, char path[ARCHIVE_PATH])
{
    (void)snprintf(path, ARCHIVE_PATH, "%s/result-%s", archive->folder, name);
}

static int excerpt_length(size_t at, size_t size)
{
    return (int)(size - at < 80 ? size - at : 80);
}

bool archive_same(const char *what, const char *got, size_t got_size, const char *want, size_t want_size)
{
    size_t shorter = got_size < want_size ? got_size : want_size;
    size_t at = 0;
    size_t line = 1;
    while (at < shorter && got[at] == want[at]) {
        line += got[at] == '\n';
        at++;
    }
    if (at == got_size && at == want_size) {
        return true;
    }
    size_t from = at < 20 ? 0 : at - 20;
    (void)printf("%s: differs at byte %zu, line %zu: got \"%.*s\", want \"%.*s\"\n", what, at, line,
                 excerpt_length(from, got_size), got + from, excerpt_length(from, want_size), want + from);
    return false;
}
