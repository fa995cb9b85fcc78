/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SimAI's flow lists as its archive has them (golden/simai.tar.xz, mocknccl), every one against our dump of the same
 * case, byte for byte. The archive is looked for in $ORRERY_SHARED, else in `shared` beside the source tree; without it
 * the test ends as skipped (exit 77).
 *
 * Usage: test_nccl_archive SOURCE-FOLDER
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/golden/shared.h"
#include "tests/report/nccl_case.h"

enum { PATH_SIZE = 1024 };

/* The case's text, packed or not; NULL when it is not there. */
static char *read_case(const char *folder, const char *name, size_t *size)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/mocknccl/%s.txt", folder, name);
    gzFile file = gzopen(path, "rb");
    if (file == NULL) {
        snprintf(path, sizeof path, "%s/mocknccl/%s.txt.gz", folder, name);
        file = gzopen(path, "rb");
    }
    if (file == NULL)
        return NULL;
    char *text = NULL;
    size_t room = 0;
    int got = 0;
    *size = 0;
    do {
        if (room - *size < 1 << 16) {
            room = room * 2 + (1 << 17);
            text = realloc(text, room);
            if (text == NULL)
                abort();
        }
        got = gzread(file, text + *size, 1 << 16);
        *size += got > 0 ? (size_t)got : 0;
    } while (got > 0);
    gzclose(file);
    return text;
}

static bool same(const char *folder, const char *name)
{
    size_t got_size = 0;
    size_t want_size = 0;
    char *want = read_case(folder, name, &want_size);
    char *got = want == NULL ? NULL : nccl_case_dump(name, &got_size);
    bool equal = got != NULL && got_size == want_size && memcmp(got, want, want_size) == 0;
    if (!equal)
        printf("%s: %s\n", name, want == NULL ? "not in the archive" : "differs");
    free(got);
    free(want);
    return equal;
}

static int compare_all(const char *folder)
{
    char path[PATH_SIZE];
    char line[512];
    size_t equal = 0;
    size_t wrong = 0;
    snprintf(path, sizeof path, "%s/mocknccl/MANIFEST.tsv", folder);
    FILE *manifest = fopen(path, "r");
    while (manifest != NULL && fgets(line, sizeof line, manifest) != NULL) {
        line[strcspn(line, "\t\n")] = '\0';
        char *text = NULL;
        size_t size = 0;
        text = read_case(folder, line, &size); /* the manifest lists cases that are kept elsewhere too */
        if (text != NULL)
            *(same(folder, line) ? &equal : &wrong) += 1;
        free(text);
    }
    if (manifest != NULL)
        fclose(manifest);
    printf("%zu flow lists equal, %zu not\n", equal, wrong);
    return equal > 0 && wrong == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    char tarball[PATH_SIZE];
    char folder[] = "/tmp/orrery-nccl-XXXXXX";
    if (argc < 2)
        return 2;
    if (!golden_shared_find(argv[1], "simai.tar.xz", tarball, sizeof tarball))
        return GOLDEN_SKIPPED;
    if (mkdtemp(folder) == NULL)
        return 1;
    char *const unpack[] = {"tar", "-xJf", tarball, "-C", folder, "--wildcards", "*mocknccl/*", NULL};
    int result = golden_spawn(unpack, "tar", ".", NULL) == 0 ? compare_all(folder) : 1;
    char *const clean[] = {"rm", "-rf", folder, NULL};
    return golden_spawn(clean, "rm", ".", NULL) == 0 ? result : 1;
}
