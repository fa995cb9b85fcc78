/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AICB's table of a job's collectives (spec simai §5; `orrery gen aicb physical` writes it) read back and timed as the
 * analytical mode times rows: each collective by its size and the bandwidth of its group. AICB fills the columns
 * _elapsed_time, algbw and busbw on a cluster; here they are filled from what was counted. Products have no time.
 *
 * Columns are found by their names; a line before them that begins with '[' (AICB's own files name the ranks so) is
 * kept.
 */
#ifndef ORR_MODEL_SIMAI_TABLE_H
#define ORR_MODEL_SIMAI_TABLE_H

#include <stdio.h>

#include "base/notes.h"
#include "model/simai/busbw.h"

enum { SIMAI_TABLE_MESSAGES = SIMAI_GROUP_CP, SIMAI_TABLE_PARTS }; /* AICB's tables have no such group */

struct simai_table_sums {
    uint64_t rows, collectives, products;
    uint32_t iterations;               /* epoch_end rows behind the first, which ends the set-up */
    int32_t tp, dp, ep;                /* the largest that rows say */
    double init_us;                    /* the set-up */
    double part_us[SIMAI_TABLE_PARTS]; /* of all iterations, by group; and what pipeline stages send */
};

/* Whether a file begins with such a table's heading. Fails as a file that cannot be read. */
ORR_MUST_CHECK enum orr_status simai_table_detect(const char *path, struct mem *mem, bool *is_table,
                                                  struct orr_error *err);

/* Times every row and, where `filled` is not NULL, writes the table with its times. Fails with ORR_EIO, ORR_EINVAL or
 * ORR_ERANGE ("file:line:"), ORR_ENOMEM; what was written then is not whole. */
ORR_MUST_CHECK enum orr_status simai_table_time(const struct simai_machine *machine, const char *path, struct mem *mem,
                                                FILE *filled, struct simai_table_sums *sums, struct orr_error *err);

#endif
