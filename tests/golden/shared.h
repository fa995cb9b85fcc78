/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests of the reference archives have in common: finding an archive, running programs on what is in it, and
 * going through its cases. An archive lies in $ORRERY_SHARED, else in `shared` beside the source tree; a test program
 * that does not find it ends with GOLDEN_SKIPPED.
 */
#ifndef ORR_TESTS_GOLDEN_SHARED_H
#define ORR_TESTS_GOLDEN_SHARED_H

#include <stdbool.h>
#include <stddef.h>

enum { GOLDEN_SKIPPED = 77 };

/* The folder that has the archives, whether or not it is there. */
void golden_shared_folder(const char *source, char *path, size_t size);
/* The path of golden/NAME in it; false, having said so, when it cannot be read. */
bool golden_shared_find(const char *source, const char *name, char *path, size_t size);

/* Runs a program in `folder` with its standard output in the file `output` and its errors nowhere; the exit code, or
 * -signal. Nobody's output (NULL): both are this program's own. */
int golden_spawn(char *const argv[], const char *path, const char *folder, const char *output);

/* Tries every folder in `path`, by name; how many there were, those that went wrong counted in `*wrong`. */
size_t golden_each_case(const char *path, const char *program, size_t *wrong,
                        bool (*try_case)(const char *program, const char *folder, const char *name));

#endif
