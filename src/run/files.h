/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration files of a run as their readers get them: from disk, or from the texts that the options bring
 * (orrery.h, struct orr_text), with the overrides that belong to each. A file is open from run_file_open to
 * run_file_close; what is read from it must not point into it.
 */
#ifndef ORR_RUN_FILES_H
#define ORR_RUN_FILES_H

#include "base/arena.h"
#include "config/override.h"
#include "io/file.h"
#include "orrery.h"

struct run_file {
    struct file_buffer buffer;
    struct config_text text;
};

/* The text that stands for `path`, or NULL: it is a file on disk, if anything. */
const struct orr_text *run_text_find(const struct orr_run_options *options, const char *path);

/* Whether anything is there under this name, on disk or among the texts. */
bool run_file_exists(const struct orr_run_options *options, const char *path);

/* `option` names the file's kind ("system"), and NULL one that takes no overrides. `path` must outlive it; memory comes
 * from the arena's account. ORR_EIO as io/file.h. */
ORR_MUST_CHECK enum orr_status run_file_open(const struct orr_run_options *options, const char *option,
                                             const char *path, struct arena *arena, struct run_file *file,
                                             struct orr_error *err);
void run_file_close(struct run_file *file);

/* Overrides that name no file get the one their key belongs to; of two for one key the last counts. */
ORR_MUST_CHECK enum orr_status run_overrides_resolve(struct orr_override *list, size_t *count, bool wired,
                                                     struct orr_error *err);

/* ORR_EINVAL when an override is of a file that this run does not have. */
ORR_MUST_CHECK enum orr_status run_overrides_check(const struct orr_run_options *options, struct orr_error *err);

#endif
