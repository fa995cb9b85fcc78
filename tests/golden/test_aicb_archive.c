/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AICB's workloads of the golden archive, through the program itself: every training, inference and Vidur case of
 * workloads/MANIFEST.tsv by its own command line, the file compared by its SHA-256 and its name; cases that AICB
 * refuses or crashes on must end with exit code 2 and no file. Skipped (exit 77) where the archive is not there: it is
 * looked for in $ORRERY_SHARED, else in `shared` beside the source tree.
 *
 * Usage: test_aicb_archive PROGRAM SOURCE-FOLDER
 */
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/golden/golden_run.h"
#include "tests/golden/shared.h"

enum { PATH_SIZE = 1024, LINE_SIZE = 1 << 13, WORDS_MAX = 80, FIELDS = 8 };

struct tally {
    unsigned equal, refused, wrong;
};

static bool shell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static bool shell(const char *fmt, ...)
{
    char line[3 * PATH_SIZE];
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    (void)fflush(NULL);
    return length < (int)sizeof line && system(line) == 0;
}

/* The folder has what AICB's has: aiob_inputs under both names, the profiles of inference, the configurations. */
static bool unpack(const char *shared)
{
    return shell("tar -xJf '%s/golden/simai.tar.xz' workloads && tar -xJf '%s/public/inputs.tar.xz'", shared, shared) &&
           shell("mkdir -p workload simai results/aiob_outputs scripts && ln -s ../workloads simai/workloads && "
                 "ln -s ../workloads/aiob_inputs workload/aiob_inputs && "
                 "cp workloads/aiob_inputs/*-decode.txt results/aiob_outputs/ && "
                 "folder=$(find . -type d -name inference_configs | head -n 1) && ln -s \"../$folder\" "
                 "scripts/inference_configs");
}

/* Runs `orrery gen aicb GENERATOR --compat aicb` with the words of AICB's command; the exit code. */
static int generate(const char *program, const char *generator, char *command)
{
    char *argv[WORDS_MAX + 10] = {(char *)program, "gen", "aicb", (char *)generator, "--compat", "aicb", "-o", "out/"};
    size_t count = 8;
    char *rest = NULL;
    unsigned skipped = 0; /* python3 -m MODULE */
    for (char *word = strtok_r(command, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        if (skipped < 3) {
            skipped++;
        } else if (count < WORDS_MAX + 8) {
            argv[count++] = word;
        }
    }
    int status = 0;
    (void)fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stdout) == NULL || freopen("err.txt", "w", stderr) == NULL)
            _exit(126);
        execv(program, argv);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return 126;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}

/* The fields of a line of the manifest: group, case, status, sha256, bytes, lines, name, command. */
static bool split(char *line, char *fields[FIELDS])
{
    for (size_t i = 0; i < FIELDS; i++) {
        fields[i] = line;
        line += strcspn(line, i + 1 < FIELDS ? "\t" : "\n");
        if (*line == '\0' && i + 1 < FIELDS)
            return false;
        if (*line != '\0')
            *line++ = '\0';
    }
    return true;
}

static void try_case(const char *program, char *fields[FIELDS], struct tally *tally)
{
    const char *generator = strcmp(fields[0], "train") == 0 ? "training" : fields[0];
    bool works = strcmp(fields[2], "ok") == 0;
    (void)shell("rm -rf out");
    int exit_code = generate(program, generator, fields[7]);
    if (works && exit_code == 0 && shell("echo '%s  out/%s' | sha256sum --check --status", fields[3], fields[6])) {
        tally->equal++;
    } else if (!works && exit_code == 2 && shell("test ! -e out || test -z \"$(ls out)\"")) {
        tally->refused++;
    } else {
        tally->wrong++;
        printf("WRONG %s %s: exit %d\n", fields[0], fields[1], exit_code);
    }
}

static bool try_all(const char *program, struct tally *tally)
{
    static char line[LINE_SIZE];
    FILE *manifest = fopen("workloads/MANIFEST.tsv", "r");
    while (manifest != NULL && fgets(line, sizeof line, manifest) != NULL) {
        char *fields[FIELDS];
        bool ours = strncmp(line, "train\t", 6) == 0 || strncmp(line, "inference\t", 10) == 0 ||
                    strncmp(line, "vidur\t", 6) == 0;
        if (ours && split(line, fields))
            try_case(program, fields, tally);
    }
    if (manifest != NULL)
        (void)fclose(manifest);
    return manifest != NULL;
}

int main(int argc, char **argv)
{
    char program[PATH_MAX];
    char root[PATH_MAX];
    char shared[PATH_MAX + 16];
    char folder[PATH_SIZE];
    char tarball[PATH_MAX + 64];
    struct tally tally = {0};
    if (argc != 3 || realpath(argv[1], program) == NULL || realpath(argv[2], root) == NULL) {
        fprintf(stderr, "usage: %s PROGRAM SOURCE-FOLDER\n", argv[0]);
        return 2;
    }
    golden_shared_folder(root, shared, sizeof shared);
    if (!golden_shared_find(root, "simai.tar.xz", tarball, sizeof tarball))
        return GOLDEN_SKIPPED;
    golden_folder_make(folder, sizeof folder);
    bool good = chdir(folder) == 0 && unpack(shared) && try_all(program, &tally);
    printf("%u workloads equal, %u refused as AICB does, %u wrong\n", tally.equal, tally.refused, tally.wrong);
    (void)chdir("/");
    golden_folder_remove(folder);
    return good && tally.equal > 0 && tally.wrong == 0 ? 0 : 1;
}
