/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What SimAI's analytical mode and AICB's generators of physical workloads wrote, as golden/simai.tar.xz has it,
 * against the program with the original's own command line: every CSV that the archive holds, byte for byte. Tables and
 * public workloads come from public/inputs.tar.xz. Both are looked for in $ORRERY_SHARED, else in `shared` beside the
 * source tree; without them the test ends as skipped (exit 77).
 *
 * Usage: test_simai_archive PROGRAM SOURCE-FOLDER
 */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/golden/shared.h"

enum { PATH_SIZE = 1024, ARGUMENTS_MAX = 128, LINE_SIZE = 8192 };

static const char *const workload_folders[] = {
    "golden/workloads/train",
    "golden/workloads/inference",
    "public/simai/example",
    "public/aicb/workload/simAI/micro_test",
    "public/aicb/workload/simAI/model_workload",
};

static char *read_all(const char *path, size_t *size)
{
    FILE *stream = fopen(path, "rb");
    char *text = NULL;
    *size = 0;
    if (stream == NULL) {
        return NULL;
    }
    for (size_t got = 1; got > 0; *size += got) {
        text = realloc(text, *size + (1 << 20) + 1);
        if (text == NULL) {
            abort();
        }
        got = fread(text + *size, 1, 1 << 20, stream);
    }
    (void)fclose(stream);
    return text;
}

static bool same(const char *made, const char *wanted)
{
    size_t sizes[2] = {0, 0};
    char *texts[2] = {read_all(made, &sizes[0]), read_all(wanted, &sizes[1])};
    bool equal =
        texts[0] != NULL && texts[1] != NULL && sizes[0] == sizes[1] && memcmp(texts[0], texts[1], sizes[0]) == 0;
    free(texts[0]);
    free(texts[1]);
    return equal;
}

/* The words behind those there; cut in place. */
static int add_words(char *words, int count, char **argv)
{
    char *rest = NULL;
    for (char *word = strtok_r(words, " ", &rest); word != NULL && count < ARGUMENTS_MAX;
         word = strtok_r(NULL, " ", &rest)) {
        argv[count++] = word;
    }
    argv[count] = NULL;
    return count;
}

static bool find_workload(const char *name, char path[PATH_SIZE])
{
    const char *slash = strrchr(name, '/');
    for (size_t i = 0; i < sizeof workload_folders / sizeof workload_folders[0]; i++) {
        (void)snprintf(path, PATH_SIZE, "%s/%s", workload_folders[i], slash != NULL ? slash + 1 : name);
        if (access(path, R_OK) == 0) {
            return true;
        }
    }
    return false;
}

struct tally {
    unsigned equal, wrong, elsewhere;
};

static void count(struct tally *tally, bool equal, const char *what, const char *name)
{
    tally->equal += equal;
    tally->wrong += !equal;
    if (!equal) {
        (void)printf("%s %s differs\n", what, name);
    }
}

/* Columns: options' letter, workload, exit code, hash, size, summary, command. */
static void try_analytical(char *line, const char *program, struct tally *tally)
{
    char *columns[8] = {NULL};
    char *rest = line;
    char wanted[PATH_SIZE];
    char workload[PATH_SIZE];
    char *argv[ARGUMENTS_MAX + 1] = {(char *)program, "simai",       "analytical",        "--compat",
                                     "simai",         "--ratio-dir", "public/simai/ratio"};
    for (unsigned i = 0; i < 7; i++) {
        columns[i] = strsep(&rest, "\t");
    }
    if (columns[6] == NULL || strcmp(columns[0], "cfg") == 0) {
        return;
    }
    (void)snprintf(wanted, sizeof wanted, "golden/analytical/%s/%s.csv", columns[0], columns[1]);
    char *words = strchr(columns[6], ' ');
    if (access(wanted, R_OK) != 0 || words == NULL) {
        tally->elsewhere++;
        return;
    }
    int total = add_words(words, 7, argv);
    bool found = false;
    for (int i = 7; i + 1 < total; i++) {
        if (strcmp(argv[i], "-w") == 0 && find_workload(argv[i + 1], workload)) {
            argv[i + 1] = workload;
            found = true;
        }
    }
    (void)unlink("results/gold-EndToEnd.csv");
    count(tally,
          found && golden_spawn(argv, argv[0], ".", "/dev/null") == 0 && same("results/gold-EndToEnd.csv", wanted),
          columns[0], columns[1]);
}

/* Columns: group, case, status, hash, size, lines, name, command. */
static void try_physical(char *line, const char *program, struct tally *tally)
{
    char *columns[8] = {NULL};
    char *rest = line;
    char wanted[PATH_SIZE];
    char *argv[ARGUMENTS_MAX + 1] = {(char *)program, "gen", "aicb", "physical", "--compat", "aicb", "-o", "made.csv"};
    for (unsigned i = 0; i < 8; i++) {
        columns[i] = strsep(&rest, "\t");
    }
    if (columns[7] == NULL || strcmp(columns[0], "physical") != 0) {
        return;
    }
    (void)snprintf(wanted, sizeof wanted, "golden/workloads/physical/%s.csv", columns[1]);
    char *words = strstr(columns[7], " --");
    if (words == NULL || (strcmp(columns[2], "ok") == 0 && access(wanted, R_OK) != 0)) {
        tally->elsewhere++;
        return;
    }
    (void)add_words(words, 8, argv);
    (void)unlink("made.csv");
    int exit_code = golden_spawn(argv, argv[0], ".", "/dev/null");
    bool right = strcmp(columns[2], "ok") == 0 ? exit_code == 0 && same("made.csv", wanted)
                                               : exit_code == 2 && access("made.csv", F_OK) != 0;
    count(tally, right, "physical", columns[1]);
}

static struct tally try_all(const char *manifest, const char *program,
                            void (*attempt)(char *line, const char *program, struct tally *tally))
{
    struct tally tally = {0};
    static char line[LINE_SIZE];
    FILE *stream = fopen(manifest, "r");
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        attempt(line, program, &tally);
    }
    if (stream != NULL) {
        (void)fclose(stream);
    }
    (void)printf("%s: %u equal, %u not, %u not in the archive\n", manifest, tally.equal, tally.wrong, tally.elsewhere);
    return tally;
}

static bool unpack(const char *shared, const char *name, const char *folder)
{
    char tarball[PATH_SIZE];
    (void)snprintf(tarball, sizeof tarball, "%s/%s", shared, name);
    char *const argv[] = {"tar", "-xJf", tarball, "-C", (char *)folder, NULL};
    return mkdir(folder, 0700) == 0 && golden_spawn(argv, argv[0], ".", NULL) == 0;
}

int main(int argc, char **argv)
{
    char shared[PATH_SIZE];
    char program[PATH_MAX];
    char golden[PATH_SIZE + 32];
    char folder[] = "/tmp/orrery-simai-XXXXXX";
    if (argc != 3 || realpath(argv[1], program) == NULL) {
        (void)fprintf(stderr, "usage: %s PROGRAM SOURCE-FOLDER\n", argv[0]);
        return 2;
    }
    if (!golden_shared_find(argv[2], "simai.tar.xz", golden, sizeof golden)) {
        return GOLDEN_SKIPPED;
    }
    golden_shared_folder(argv[2], shared, sizeof shared);
    if (mkdtemp(folder) == NULL || chdir(folder) != 0) {
        return 1;
    }
    int failed = 1;
    if (unpack(shared, "golden/simai.tar.xz", "golden") && unpack(shared, "public/inputs.tar.xz", "public")) {
        struct tally counted = try_all("golden/analytical/MANIFEST.tsv", program, try_analytical);
        struct tally written = try_all("golden/workloads/MANIFEST.tsv", program, try_physical);
        failed = counted.equal == 0 || written.equal == 0 || counted.wrong + written.wrong > 0;
    }
    char *const clean[] = {"rm", "-rf", folder, NULL};
    return chdir("/") == 0 && golden_spawn(clean, "rm", ".", NULL) == 0 ? failed : 1;
}
