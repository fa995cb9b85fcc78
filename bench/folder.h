/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder of its own for a benchmark's inputs and outputs, in TMPDIR or /tmp.
 */
#ifndef ORR_BENCH_FOLDER_H
#define ORR_BENCH_FOLDER_H

#include <stdbool.h>

enum { BENCH_FOLDER_ROOM = 2048 };

/* Makes it and stores its name; says why and gives false when it cannot be made. */
bool bench_folder_make(char folder[BENCH_FOLDER_ROOM]);

/* Removes it with everything in it. */
bool bench_folder_remove(const char *folder);

#endif
