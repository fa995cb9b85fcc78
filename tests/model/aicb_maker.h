/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A workload from one line of options ("--world_size 8 --moe_enable"), in memory: what the tests of AICB's generators
 * share. Inference takes its model as "--model_name NAME".
 */
#ifndef ORR_TESTS_MODEL_AICB_MAKER_H
#define ORR_TESTS_MODEL_AICB_MAKER_H

#include "model/aicb/inference.h"
#include "model/aicb/training.h"
#include "tests/check.h"

struct aicb_made {
    enum orr_status status;
    struct orr_error err;
    char *text; /* terminated; freed by aicb_made_free */
    size_t size;
    uint32_t notes;
};

/* `fix` names the fixes that are on; NULL: all, or none with `compat`. */
void aicb_make(enum aicb_generator generator, bool compat, const struct aicb_fixes *fix, const char *line,
               struct aicb_made *made);
void aicb_made_free(struct aicb_made *made);

/* Sets the options of a line; ends the test when one is refused. `words` (of `size` bytes) keeps the values. */
void aicb_set_line(struct aicb_options *options, enum aicb_generator generator, const char *line, char *words,
                   size_t size);

#endif
