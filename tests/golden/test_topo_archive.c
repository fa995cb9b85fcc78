/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Topologies as others' generators wrote them, against ours through the program, byte for byte: SimAI's templates
 * (golden/simai.tar.xz, topos/MANIFEST.tsv has the commands) and ROCm-ASTRAsim's torus, twisted torus and fat tree
 * (public/inputs.tar.xz). The archives are looked for in $ORRERY_SHARED, else in `shared` beside the source tree;
 * without them the test ends as skipped (exit 77).
 *
 * Usage: test_topo_archive PROGRAM SOURCE-FOLDER
 */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIPPED = 77, PATH_SIZE = 1024, LINE_SIZE = 2048 };

struct tally {
    unsigned equal, refused, without_file, wrong;
};

/* A shell line; its exit code. */
static int shell(const char *line)
{
    int status = system(line); // NOLINT(cert-env33-c): the lines are our own
    return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}

/* The program and the folder of the archives are $PROGRAM and $SHARED; we are in a folder of our own. */
static bool unpack(const char *archive, const char *part)
{
    char line[LINE_SIZE];
    snprintf(line, sizeof line, "tar -xJf \"$SHARED/%s\" --wildcards '%s' 2>/dev/null", archive, part);
    return shell(line) == 0;
}

/* Makes a topology with `options` and holds it against the file `want`. */
static bool same(const char *options, const char *want)
{
    char line[LINE_SIZE * 2];
    snprintf(line, sizeof line, "\"$PROGRAM\" topo make %s -o ours >/dev/null 2>&1 && cmp -s ours '%s'", options, want);
    return shell(line) == 0;
}

/* case, exit code, sha256, bytes, lines, header, name, command */
static void try_row(char *row, struct tally *tally)
{
    char *field[8];
    char path[PATH_SIZE];
    char line[LINE_SIZE * 2];
    size_t count = 0;
    for (char *at = strtok(row, "\n"); at != NULL && count < 8; count++) {
        char *tab = strchr(at, '\t');
        field[count] = at;
        if (tab != NULL)
            *tab = '\0';
        at = tab == NULL ? NULL : tab + 1;
    }
    char *options = count == 8 ? strchr(field[7], ' ') : NULL;
    if (options == NULL)
        return;
    snprintf(path, sizeof path, "topos/files/%.200s.topo", field[0]);
    if (strcmp(field[1], "0") != 0) {
        snprintf(line, sizeof line, "rm -f ours && \"$PROGRAM\" topo make %s -o ours >/dev/null 2>&1", options);
        bool refused = shell(line) == 2 && access("ours", F_OK) != 0;
        tally->refused += refused;
        tally->wrong += !refused;
    } else if (access(path, R_OK) != 0) {
        tally->without_file++;
    } else if (same(options, path)) {
        tally->equal++;
    } else {
        tally->wrong++;
        printf("%s: differs\n", field[0]);
    }
}

static bool try_templates(struct tally *tally)
{
    char row[LINE_SIZE];
    FILE *stream = fopen("topos/MANIFEST.tsv", "r");
    if (stream == NULL || fgets(row, sizeof row, stream) == NULL)
        return false;
    while (fgets(row, sizeof row, stream) != NULL)
        try_row(row, tally);
    fclose(stream);
    return true;
}

static void try_public(struct tally *tally)
{
    static const struct {
        const char *file, *options;
    } cases[] = {
        {"128nodes_Torus_4x4x8.txt", "torus --dims 4x4x8 --bandwidth 25Gbps,25Gbps,65Gbps "
                                     "--latency 0.005ms,0.005ms,0.014ms --both-directions"},
        {"128nodes_TwistedTorus_4x4x8.txt", "twisted-torus --dims 4x4x8 --bandwidth 25Gbps,25Gbps,65Gbps "
                                            "--latency 0.005ms,0.005ms,0.014ms --both-directions"},
        {"128nodes_FatTree_L16_S8.txt", "fat-tree --hosts 128 --per-leaf 8 --spines 8 --bandwidth 65Gbps "
                                        "--latency 0.014ms,0.005ms --both-directions"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[PATH_SIZE];
        snprintf(path, sizeof path, "rocm/configs/astra-sim/topos/%s", cases[i].file);
        bool equal = same(cases[i].options, path);
        tally->equal += equal;
        tally->wrong += !equal;
        if (!equal)
            printf("%s: differs\n", cases[i].file);
    }
}

int main(int argc, char **argv)
{
    char program[PATH_MAX];
    char source[PATH_MAX];
    char folder[PATH_SIZE];
    char line[PATH_SIZE + 32];
    const char *temporary = getenv("TMPDIR");
    struct tally tally = {0};
    const char *set = getenv("ORRERY_SHARED");
    if (argc != 3 || realpath(argv[1], program) == NULL || realpath(argv[2], source) == NULL) {
        fprintf(stderr, "usage: %s PROGRAM SOURCE-FOLDER\n", argv[0]);
        return 2;
    }
    setenv("PROGRAM", program, 1);
    if (set != NULL && set[0] != '\0' && realpath(set, source) != NULL)
        setenv("SHARED", source, 1);
    else if (chdir(source) == 0 && realpath("../shared", source) != NULL)
        setenv("SHARED", source, 1);
    if (getenv("SHARED") == NULL || shell("test -r \"$SHARED/golden/simai.tar.xz\"") != 0) {
        printf("skipped: no golden/simai.tar.xz in shared\n");
        return SKIPPED;
    }
    snprintf(folder, sizeof folder, "%s/orrery-topo-XXXXXX",
             temporary != NULL && temporary[0] != '\0' ? temporary : "/tmp");
    if (mkdtemp(folder) == NULL || chdir(folder) != 0)
        return 1;
    bool tried = unpack("golden/simai.tar.xz", "*topos/*") && try_templates(&tally);
    if (tried && unpack("public/inputs.tar.xz", "*rocm/configs/astra-sim/topos/*"))
        try_public(&tally);
    printf("%u equal, %u refused, %u whose file is not in the archive, %u wrong\n", tally.equal, tally.refused,
           tally.without_file, tally.wrong);
    snprintf(line, sizeof line, "cd .. && rm -r '%s'", folder);
    bool removed = shell(line) == 0;
    return tried && removed && tally.equal > 0 && tally.wrong == 0 ? 0 : 1;
}
