/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One simulation through the public interface, with everything a test compares kept: the status, each rank's result and
 * ASTRA-sim's lines. Also the temporary folders golden cases are written to. Owns what it hands out until the matching
 * free.
 */
#ifndef ORR_TESTS_GOLDEN_GOLDEN_RUN_H
#define ORR_TESTS_GOLDEN_GOLDEN_RUN_H

#include "tests/golden/case_file.h"

struct golden_answer {
    enum orr_status status;
    struct orr_error err;
    uint32_t rank_count; /* 0 when the input was refused */
    struct orr_rank_result *ranks;
    struct orr_optimum optimum;
    uint64_t time_ns;
    char *lines; /* ORR_OUTPUT_ASTRA; NULL when the input was refused */
    size_t line_bytes;
};

/* Runs the case whose files are in the working directory. */
void golden_run(const struct case_file *file, const struct golden_case *one, enum orr_backend backend,
                struct golden_answer *answer);
void golden_answer_free(struct golden_answer *answer);

/* A fresh folder for files that last as long as a test; its path goes to `path`. Ends the test on failure. */
void golden_folder_make(char *path, size_t size);
/* The folder and all below it. */
void golden_folder_remove(const char *path);

#endif
