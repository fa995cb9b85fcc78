/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole archive of packet cases, through the program itself under the name of ASTRA-sim's ns-3 program: every
 * case's own command line and files as they are. What the program writes where the configuration says (fct.txt,
 * pfc.txt, qlen.txt) is compared byte for byte, its exit code with how the original ended: 0, or 4 where that hung or
 * crashed. Skipped (exit 77) where the archive is not there: it is looked for in $ORRERY_SHARED, else in `shared`
 * beside the source tree.
 *
 * Usage: test_packet_archive PROGRAM SOURCE-FOLDER
 */
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/check.h"
#include "tests/golden/golden_run.h"
#include "tests/golden/shared.h"

enum { ARGUMENTS_MAX = 32, PATH_SIZE = 1024, STALLED = 4 };

static const char *const outputs[] = {"fct.txt", "pfc.txt", "qlen.txt"};

/* The whole file, unpacked if only the packed one is there; empty when neither is. */
static struct et_bytes read_whole(const char *folder, const char *name)
{
    struct et_bytes bytes = {0};
    char path[PATH_SIZE];
    char part[65536];
    int got = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (access(path, R_OK) != 0)
        snprintf(path, sizeof path, "%s/%s.gz", folder, name);
    gzFile file = gzopen(path, "rb"); /* reads plain files too */
    while (file != NULL && (got = gzread(file, part, sizeof part)) > 0)
        et_bytes_append(&bytes, part, (size_t)got);
    if (file != NULL)
        gzclose(file);
    return bytes;
}

/* The words of cmd.sh after the program's own. */
static int run_case(const char *program, const char *folder)
{
    struct et_bytes text = read_whole(folder, "cmd.sh");
    char *argv[ARGUMENTS_MAX] = {"AstraSimNetwork"};
    int count = 1;
    char *rest = NULL;
    et_bytes_append(&text, "", 1);
    char *word = strtok_r((char *)text.data, " \n", &rest);
    while (word != NULL && (word = strtok_r(NULL, " \n", &rest)) != NULL && count < ARGUMENTS_MAX - 1)
        argv[count++] = word;
    int code = golden_spawn(argv, program, folder, "/dev/null");
    et_bytes_free(&text);
    return code;
}

static bool ended_well(const char *folder)
{
    struct et_bytes text = read_whole(folder, "result.json");
    et_bytes_append(&text, "", 1);
    bool well = strstr((const char *)text.data, "\"rc\": 0,") != NULL;
    et_bytes_free(&text);
    return well;
}

static bool try_case(const char *program, const char *folder, const char *name)
{
    struct et_bytes want[3];
    bool well = ended_well(folder);
    bool good = true;
    char path[3 * PATH_SIZE];
    for (int i = 0; i < 3; i++) {
        want[i] = read_whole(folder, outputs[i]);
        snprintf(path, sizeof path, "%s/%s", folder, outputs[i]);
        (void)remove(path);
        snprintf(path, sizeof path, "%s/%s.gz", folder, outputs[i]);
        (void)remove(path);
    }
    int code = run_case(program, folder);
    if (code != (well ? 0 : STALLED)) {
        printf("WRONG %s: exit code %d\n", name, code);
        good = false;
    }
    for (int i = 0; i < 3; i++) {
        struct et_bytes got = read_whole(folder, outputs[i]);
        /* A program that was killed had not written all its lines out. */
        size_t length = well ? want[i].length : i == 0 ? want[i].length : 0;
        bool crashed = !well && want[i].length == 0;
        bool same = crashed || (got.length >= length && (!well || got.length == length) &&
                                (length == 0 || memcmp(got.data, want[i].data, length) == 0));
        if (!same) {
            printf("WRONG %s: %s differs\n", name, outputs[i]);
            good = false;
        }
        et_bytes_free(&got);
        et_bytes_free(&want[i]);
    }
    fflush(stdout);
    return good;
}

static int try_all(const char *folder, const char *program)
{
    char path[PATH_SIZE];
    size_t wrong = 0;
    snprintf(path, sizeof path, "%s/cases", folder);
    size_t tried = golden_each_case(path, program, &wrong, try_case);
    printf("%zu cases through the program: %zu equal, %zu wrong\n", tried, tried - wrong, wrong);
    return tried > 0 && wrong == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    char tarball[PATH_SIZE];
    char folder[512];
    char program[PATH_SIZE];
    char orrery[PATH_MAX];
    if (argc != 3 || realpath(argv[1], orrery) == NULL) {
        fprintf(stderr, "usage: %s PROGRAM SOURCE-FOLDER\n", argv[0]);
        return 2;
    }
    if (!golden_shared_find(argv[2], "packet.tar.xz", tarball, sizeof tarball))
        return GOLDEN_SKIPPED;
    golden_folder_make(folder, sizeof folder);
    char *unpack[] = {"tar", "-xJf", tarball, "-C", folder, NULL};
    snprintf(program, sizeof program, "%s/AstraSimNetwork", folder);
    int code = 1;
    if (golden_spawn(unpack, "tar", ".", "/dev/null") == 0 && symlink(orrery, program) == 0)
        code = try_all(folder, program);
    golden_folder_remove(folder);
    return code;
}
