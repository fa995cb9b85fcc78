/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where SimAI's analytical mode counts otherwise than its documentation means, one function each: compat/simai has
 * them, whoever wants SimAI's bytes hands them over in `struct simai_machine`, and what counts here knows no more of
 * them.
 */
#ifndef ORR_MODEL_SIMAI_ORIGINAL_H
#define ORR_MODEL_SIMAI_ORIGINAL_H

#include "model/simai/analytical.h"

struct simai_original {
    /* What a collective takes by itself; its operation is not NONE. */
    enum simai_trouble (*time)(const struct simai_machine *machine, const struct simai_collective *collective,
                               uint64_t *ns);
    uint64_t (*number)(int64_t written); /* of a row, as it is read */
    uint64_t (*bytes)(enum text_strategy strategy, enum text_phase phase, int64_t written);
    int32_t (*group_ranks)(const struct simai_analysis *analysis, enum text_phase phase, enum simai_group group);
    enum simai_group (*booked)(const struct simai_row *row, enum text_phase phase);
    uint64_t (*expose)(uint64_t ns, float overlap);
    /* Messages between stages, and the bubble, of which the sums have the rows' part. */
    void (*pipeline)(const struct simai_machine *machine, const struct simai_text *text,
                     struct simai_analysis *analysis);
    /* What stands for a row that the file declares and does not have. */
    struct text_layer (*missing_row)(const struct text_workload *workload);
};

#endif
