/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs are named by the code that writes them; the whole tree is removed, so that none can be forgotten. */
#include "bench/folder.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

bool bench_folder_make(char folder[BENCH_FOLDER_ROOM])
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, BENCH_FOLDER_ROOM, "%s/orrery-bench-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        return false;
    }
    return true;
}

static int drop(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st;
    (void)kind;
    (void)where;
    return remove(path);
}

bool bench_folder_remove(const char *folder)
{
    return nftw(folder, drop, 16, FTW_DEPTH | FTW_PHYS) == 0;
}
