/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between find.c, which lists files, and jobs.c, which makes jobs of them: a file with what its content
 * and its name say.
 */
#ifndef ORR_CONVERT_PYTORCH_IMPORT_JOBS_H
#define ORR_CONVERT_PYTORCH_IMPORT_JOBS_H

#include "convert/pytorch/import/import.h"
#include "convert/pytorch/import/name.h"
#include "convert/recording.h"

struct found {
    const char *path;
    struct recording_about about;
    struct import_name name;
    int64_t rank; /* settled; -1 before */
    uint32_t job; /* its number while jobs are made */
};

/* Jobs by tag in the order of the alphabet, their pairs by rank, all in `arena`; `files` by path. Fails with ORR_EINVAL
 * (two files that nothing tells apart, an execution trace that belongs nowhere) or ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status import_jobs_make(struct found *files, uint32_t count, struct arena *arena,
                                                struct import_job **jobs, uint32_t *job_count, struct orr_error *err);

#endif
