/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The archive of what Chakra's own tools answered (golden/chakra.tar.xz), unpacked once a test program into a temporary
 * folder that goes with it. It is looked for in $ORRERY_SHARED, else in `shared` beside the source tree; a program that
 * does not find it ends as skipped (exit 77) with a message.
 *
 * A test program: cmocka_run_group_tests(tests, archive_open, archive_close); a test: struct archive *archive = *state.
 * Large files lie in the archive as NAME.gz; everything here takes NAME and finds either.
 */
#ifndef ORR_TESTS_CONVERT_ARCHIVE_H
#define ORR_TESTS_CONVERT_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>

enum { ARCHIVE_PATH = 1024 };

struct archive {
    char folder[512];
};

int archive_open(void **state);
int archive_close(void **state);

/* Where a file of the archive lies, "link/linear/host.json": the name itself or the name with .gz. False when neither
 * is there; `path` is then the plain name's. */
bool archive_path(const struct archive *archive, const char *name, char path[ARCHIVE_PATH]);

/* The file's bytes, unpacked and terminated, to be freed; NULL when it is not there. Also reads files beside the
 * archive by their full path. `size` may be NULL. */
char *archive_read(const struct archive *archive, const char *name, size_t *size);

/* Names in a folder of the archive that begin with `start`, sorted; a NULL-terminated list freed by archive_names_free.
 * An empty list when the folder is not there. */
char **archive_names(const struct archive *archive, const char *folder, const char *start);
void archive_names_free(char **names);

/* The number in a file such as "link/linear/link.rc"; -1 when it is not there. */
int archive_number(const struct archive *archive, const char *name);

/* A path for a result in the temporary folder, outside of what was unpacked. */
void archive_output(const struct archive *archive, const char *name, char path[ARCHIVE_PATH]);

/* Whether both texts are equal; else the first place where they differ is printed, with what stands there. */
bool archive_same(const char *what, const char *got, size_t got_size, const char *want, size_t want_size);

#endif
