/* SPDX-License-Identifier: Apache-2.0 */
/* Times of collectives as text: a range of sizes of one machine. Reads answers; asks nothing. */
#ifndef ORR_REPORT_COLLTIME_H
#define ORR_REPORT_COLLTIME_H

#include <stdio.h>

#include "orrery/colltime.h"

struct report_colltime {
    const char *gpu, *fabric;
    const struct orr_coll_question *question;
    const struct orr_coll_answer *answers; /* the first of `question->bytes`, each of twice the one before */
    uint32_t count;
    bool own_unused; /* there are measurements of the user, and none is of this operation and machine */
};

void report_colltime_text(const struct report_colltime *times, FILE *stream);
void report_colltime_json(const struct report_colltime *times, FILE *stream);

#endif
