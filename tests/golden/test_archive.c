/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole archive of golden cases, through the program itself: every case's own command line, its standard output
 * compared byte for byte. This covers what the restated cases cannot: the public examples, the reading of the original
 * files as they are, the option parser and the symlink names. Skipped (exit 77) where the archive is not there: it is
 * looked for in $ORRERY_SHARED, else in `shared` beside the source tree.
 *
 * Usage: test_archive PROGRAM SOURCE-FOLDER
 */
#include <dirent.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/golden/golden_run.h"
#include "tests/golden/shared.h"

enum { ARGUMENTS_MAX = 32, SYMLINK_EVERY = 8, PATH_SIZE = 1024 };

struct archive {
    char folder[512];           /* temporary: the unpacked archive and the symlinks */
    char program[2][PATH_SIZE]; /* by backend: symlinks under ASTRA-sim's names */
    const char *orrery;
    char *unreliable; /* the text of unreliable.txt */
    size_t exact, orderly, wrong;
};

static const char *const backend_names[] = {"unaware", "aware"};

/* The whole file, terminated; NULL when it is not there. */
static char *read_text(const char *path)
{
    struct et_bytes bytes = {0};
    char part[65536];
    size_t got = 0;
    FILE *stream = fopen(path, "rb");
    if (stream == NULL)
        return NULL;
    while ((got = fread(part, 1, sizeof part, stream)) > 0)
        et_bytes_append(&bytes, part, got);
    fclose(stream);
    et_bytes_append(&bytes, "", 1);
    return (char *)bytes.data;
}

static bool unpack(const char *tarball, struct archive *archive)
{
    char path[PATH_SIZE];
    char *argv[] = {"tar", "-xJf", (char *)tarball, "-C", archive->folder, NULL};
    if (golden_spawn(argv, "tar", ".", "/dev/null") != 0) {
        printf("%s cannot be unpacked\n", tarball);
        return false;
    }
    snprintf(path, sizeof path, "%s/unreliable.txt", archive->folder);
    archive->unreliable = read_text(path);
    const char *const names[] = {"AstraSim_Analytical_Congestion_Unaware", "AstraSim_Analytical_Congestion_Aware"};
    for (int backend = 0; backend < 2; backend++) {
        snprintf(archive->program[backend], sizeof archive->program[backend], "%s/%s", archive->folder, names[backend]);
        if (symlink(archive->orrery, archive->program[backend]) != 0)
            return false;
    }
    return archive->unreliable != NULL;
}

/* A line of unreliable.txt starts with the case's name and a space. */
static bool is_unreliable(const struct archive *archive, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strstr(archive->unreliable, name); at != NULL; at = strstr(at + 1, name)) {
        if ((at == archive->unreliable || at[-1] == '\n') && at[length] == ' ')
            return true;
    }
    return false;
}

/* ---- one case on one backend ---- */

struct attempt {
    const char *name;
    char folder[PATH_SIZE];
    int backend;
    bool by_symlink;
    int exit_code;
    char *output;
};

static void attempt_file(const struct attempt *attempt, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", attempt->folder, name);
}

/* The case's arguments after ours; false when case.json is not what it should be. */
static bool run_attempt(const struct archive *archive, struct attempt *attempt)
{
    char path[PATH_SIZE + 64];
    char output[PATH_SIZE];
    char *argv[ARGUMENTS_MAX + 8];
    size_t count = 0;
    attempt_file(attempt, "case.json", path, sizeof path);
    json_t *document = json_load_file(path, 0, NULL);
    const json_t *words = json_object_get(document, "args");
    if (!json_is_array(words) || json_array_size(words) > ARGUMENTS_MAX) {
        json_decref(document);
        return false;
    }
    const char *program = attempt->by_symlink ? archive->program[attempt->backend] : archive->orrery;
    argv[count++] = (char *)program;
    if (!attempt->by_symlink) {
        char *const ours[] = {"run", "--format", "astra", "--backend", (char *)backend_names[attempt->backend]};
        for (size_t i = 0; i < COUNT_OF(ours); i++)
            argv[count++] = ours[i];
    }
    for (size_t i = 0; i < json_array_size(words); i++)
        argv[count++] = (char *)json_string_value(json_array_get(words, i));
    argv[count] = NULL;
    snprintf(output, sizeof output, "%s/output.txt", archive->folder);
    attempt->exit_code = golden_spawn(argv, program, attempt->folder, output);
    attempt->output = read_text(output);
    json_decref(document);
    return attempt->output != NULL;
}

/* Without a kept output, the numbers of expected.txt must be in ours. */
static bool has_all_numbers(const struct attempt *attempt, const char *expected)
{
    const char *backend = backend_names[attempt->backend];
    for (const char *line = expected; line != NULL && *line != '\0';) {
        unsigned rank = 0;
        uint64_t finish = 0;
        uint64_t exposed = 0;
        char word[16];
        char want[160];
        if (sscanf(line, "%15s %u %" SCNu64 " %" SCNu64, word, &rank, &finish, &exposed) == 4 &&
            strcmp(word, backend) == 0) {
            snprintf(want, sizeof want,
                     "sys[%u] finished, %" PRIu64 " cycles, exposed communication %" PRIu64 " cycles.\n", rank, finish,
                     exposed);
            if (strstr(attempt->output, want) == NULL)
                return false;
        }
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    return true;
}

static bool matches(const struct attempt *attempt, const char *expected)
{
    char path[PATH_SIZE + 64];
    char name[32];
    snprintf(name, sizeof name, "stdout.%s.txt", backend_names[attempt->backend]);
    attempt_file(attempt, name, path, sizeof path);
    char *want = read_text(path);
    bool same = want == NULL ? has_all_numbers(attempt, expected) : strcmp(want, attempt->output) == 0;
    free(want);
    return same && attempt->exit_code == 0;
}

/* Exit codes of ours: done, bad input, resource limit, stall; never a signal. */
static bool is_orderly(int exit_code)
{
    return exit_code == 0 || (exit_code >= 2 && exit_code <= 4);
}

static void judge(struct archive *archive, const struct attempt *attempt, const char *expected)
{
    char line[64];
    snprintf(line, sizeof line, "\n# %s: OK\n", backend_names[attempt->backend]);
    bool compared = strstr(expected, line) != NULL && !is_unreliable(archive, attempt->name);
    if (compared ? matches(attempt, expected) : is_orderly(attempt->exit_code)) {
        archive->exact += compared;
        archive->orderly += !compared;
        return;
    }
    archive->wrong++;
    printf("WRONG %s %s%s: exit %d, %s\n", attempt->name, backend_names[attempt->backend],
           attempt->by_symlink ? " by symlink" : "", attempt->exit_code,
           compared ? "the output differs" : "which is no exit code of ours");
}

static void try_case(struct archive *archive, const char *name, size_t index)
{
    char path[PATH_SIZE + 64];
    struct attempt attempt = {.name = name, .by_symlink = index % SYMLINK_EVERY == 0};
    snprintf(attempt.folder, sizeof attempt.folder, "%s/cases/%s", archive->folder, name);
    attempt_file(&attempt, "expected.txt", path, sizeof path);
    char *expected = read_text(path);
    for (attempt.backend = 0; attempt.backend < 2; attempt.backend++) {
        if (expected != NULL && run_attempt(archive, &attempt)) {
            judge(archive, &attempt, expected);
        } else {
            printf("WRONG %s: not a case\n", name);
            archive->wrong++;
        }
        free(attempt.output);
        attempt.output = NULL;
    }
    fflush(stdout);
    free(expected);
}

static size_t try_all(struct archive *archive)
{
    char path[PATH_SIZE];
    struct dirent **entries = NULL;
    size_t tried = 0;
    snprintf(path, sizeof path, "%s/cases", archive->folder);
    int count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.')
            try_case(archive, entries[i]->d_name, tried++);
        free(entries[i]);
    }
    free(entries);
    return tried;
}

int main(int argc, char **argv)
{
    char tarball[PATH_SIZE];
    char program[PATH_MAX]; /* absolute: the children run elsewhere */
    struct archive archive = {.orrery = program};
    if (argc != 3 || realpath(argv[1], program) == NULL) {
        fprintf(stderr, "usage: %s PROGRAM SOURCE-FOLDER\n", argv[0]);
        return 2;
    }
    if (!golden_shared_find(argv[2], "analytical.tar.xz", tarball, sizeof tarball))
        return GOLDEN_SKIPPED;
    golden_folder_make(archive.folder, sizeof archive.folder);
    bool good = unpack(tarball, &archive);
    size_t tried = good ? try_all(&archive) : 0;
    printf("%zu cases on two backends: %zu equal, %zu ended in an orderly way, %zu wrong\n", tried, archive.exact,
           archive.orderly, archive.wrong);
    free(archive.unreliable);
    golden_folder_remove(archive.folder);
    return tried > 0 && archive.wrong == 0 ? 0 : 1;
}
