/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one folder that may be read over the network. Names are walked component by component from its descriptor, and a
 * symbolic link is never followed, so that no name, and no file put there meanwhile, leads outside. Owns descriptors;
 * knows nothing of requests.
 */
#ifndef ORR_SERVE_FOLDER_H
#define ORR_SERVE_FOLDER_H

#include "base/error.h"

/* A descriptor of the folder, which the caller closes. */
ORR_MUST_CHECK enum orr_status serve_folder_open(const char *path, int *folder, struct orr_error *err);

/* A regular file below it, for reading: "runs/1/report.html". The caller closes it. ORR_EINVAL: a name with empty, "."
 * or ".." components, or of a hidden file; ORR_EIO: no such file, or not a regular one, or behind a link. */
ORR_MUST_CHECK enum orr_status serve_folder_file(int folder, const char *name, int *file, uint64_t *bytes,
                                                 struct orr_error *err);

/* What a browser is to take it for, by the ending of its name; NULL: no kind that is handed out. */
const char *serve_folder_type(const char *name);

/* The files that are handed out, as a JSON array of names and sizes in the order of the names; some thousand at most.
 */
ORR_MUST_CHECK enum orr_status serve_folder_list(int folder, FILE *stream, struct orr_error *err);

#endif
