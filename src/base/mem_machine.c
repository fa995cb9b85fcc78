/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control groups' limits count because a container is killed at its own, however large the machine is. Both forms
 * of the interface are read: one tree with memory.max (version 2), or the memory controller's own (version 1). A
 * process sees its path below the tree's root; every folder from there up to the root may hold a limit, and the
 * smallest counts.
 */
#include "base/mem.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

struct tree {
    const char *folder; /* where the tree is mounted */
    const char *file;   /* that holds a group's limit */
};

/* UINT64_MAX where the file is missing or says "max". */
static uint64_t limit_in(const char *path)
{
    uint64_t bytes = UINT64_MAX;
    FILE *stream = fopen(path, "re");
    if (stream != NULL) {
        if (fscanf(stream, "%" SCNu64, &bytes) != 1) {
            bytes = UINT64_MAX;
        }
        (void)fclose(stream);
    }
    return bytes;
}

/* The smallest limit from the group `path` up to the tree's root. */
static uint64_t smallest_up(const char *root, const struct tree *tree, const char *path)
{
    char group[PATH_MAX];
    char file[PATH_MAX * 2];
    uint64_t smallest = UINT64_MAX;
    (void)snprintf(group, sizeof group, "%s", path);
    for (;;) {
        (void)snprintf(file, sizeof file, "%s%s%s/%s", root, tree->folder, group, tree->file);
        uint64_t bytes = limit_in(file);
        smallest = bytes < smallest ? bytes : smallest;
        char *slash = strrchr(group, '/');
        if (slash == NULL) {
            return smallest;
        }
        *slash = '\0';
    }
}

/* Lines are "NUMBER:CONTROLLERS:PATH"; in version 2 there are no controllers. */
static uint64_t limit_of_line(const char *root, char *line)
{
    static const struct tree one = {"/sys/fs/cgroup", "memory.max"};
    static const struct tree memory = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes"};
    char *controllers = strchr(line, ':');
    char *path = controllers == NULL ? NULL : strchr(controllers + 1, ':');
    if (path == NULL) {
        return UINT64_MAX;
    }
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    if (controllers[1] == '\0') {
        return smallest_up(root, &one, path);
    }
    return strstr(controllers, "memory") != NULL ? smallest_up(root, &memory, path) : UINT64_MAX;
}

uint64_t mem_machine_share(const char *root, uint64_t physical)
{
    char line[PATH_MAX];
    uint64_t smallest = physical;
    (void)snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
    FILE *stream = fopen(line, "re");
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL) {
        uint64_t bytes = limit_of_line(root, line);
        smallest = bytes < smallest ? bytes : smallest;
    }
    if (stream != NULL) {
        (void)fclose(stream);
    }
    return smallest / 5 * 4;
}
