/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An output file that is either complete or not there: everything is written to a temporary beside the target, and
 * committing renames it. Whoever opens one must end it with exactly one commit or abort; both free it. Where the file
 * system allows, the temporary has no name until it is complete, so that even a killed program leaves none behind.
 *
 * A target that exists and is no regular file (a pipe, a terminal, /dev/stdout) is written directly, since renaming
 * over it would replace the device. A symbolic link is followed, so that the link stays. Knows nothing of what is
 * written.
 */
#ifndef ORR_IO_OUTFILE_H
#define ORR_IO_OUTFILE_H

#include <stdio.h>

#include "base/error.h"

struct io_outfile;

enum io_outfile_form { IO_OUTFILE_PLAIN, IO_OUTFILE_GZIP, IO_OUTFILE_ZSTD };

/* The form that the path's ending asks for: ".gz", ".zst", else plain. */
enum io_outfile_form io_outfile_form_of(const char *path);

/* Fails with ORR_EIO, naming `path` and the reason, or ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status io_outfile_open(const char *path, enum io_outfile_form form, struct io_outfile **file,
                                               struct orr_error *err);

/* Where to write; errors may be left to io_outfile_commit, which sees them all. Buffered, owned by the file. */
FILE *io_outfile_stream(struct io_outfile *file);

/*
 * Brings everything out and checks it, without yet giving the file its name; a commit after this can fail only in the
 * rename. For folders of files that should change together. On failure the file must still be aborted.
 */
ORR_MUST_CHECK enum orr_status io_outfile_finish(struct io_outfile *file, struct orr_error *err);

/* Finishes if that has not been done, and renames. On ORR_EIO the temporary is gone and the target is as it was. */
ORR_MUST_CHECK enum orr_status io_outfile_commit(struct io_outfile *file, struct orr_error *err);
void io_outfile_abort(struct io_outfile *file); /* NULL is fine */
/* Commits where all went well so far (`status` is ORR_OK), else aborts and gives `status` back. Without a file it only
 * gives `status` back. */
ORR_MUST_CHECK enum orr_status io_outfile_end(struct io_outfile *file, enum orr_status status, struct orr_error *err);

/* Makes the folder `path` and those above it where missing; ORR_EIO when one cannot be made or is a file. */
ORR_MUST_CHECK enum orr_status io_make_folder(const char *path, struct orr_error *err);
/* The same for the folder that the file `path` lies in. */
ORR_MUST_CHECK enum orr_status io_make_folder_above(const char *path, struct orr_error *err);

#endif
