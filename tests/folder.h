/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder of its own for a test program, made before its tests and removed after them:
 * cmocka_run_group_tests(tests, make_folder, remove_folder).
 */
#ifndef ORR_TESTS_FOLDER_H
#define ORR_TESTS_FOLDER_H

#include <stdio.h>
#include <stdlib.h>

static char folder[] = "test-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL ? -1 : 0;
}

/* A file in it; the name is good for three more calls. */
static inline const char *folder_path(const char *name)
{
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];
    (void)snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[64];
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

#endif
