/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why ranks spend time in communication that compute does not cover. A collective begins when its last member is there:
 * what the others spend in it until then is waiting (ranks arrive apart), what follows is moving bytes. A receive waits
 * until its send begins. Every nanosecond of a rank is counted once: bytes that move before waiting, and neither while
 * a kernel runs.
 *
 * Read from the intervals of a finished run; knows of collectives only which rank was in which when.
 */
#ifndef ORR_ADVISE_CAUSES_H
#define ORR_ADVISE_CAUSES_H

#include "sim/result.h"

/* By row of result->collectives: sums over all ranks. */
struct advise_cause {
    double late_ns;   /* waiting for a member, or for the send */
    double moving_ns; /* behind that */
    uint64_t count;   /* participations */
};

struct advise_causes {
    struct advise_cause *rows; /* result->collective_count */
    double late_ns, moving_ns; /* of collectives and sends, sums over all ranks */
    double receive_ns;         /* receives that wait for their send */
    double *kept_waiting_ns;   /* by rank: what others waited for it in collectives */
    uint32_t *last;            /* by rank: in how many collectives it was last, alone */
    uint64_t collectives;      /* that ranks did not all reach at the same time */
};

/* False where memory is refused. Freed with the arena. */
ORR_MUST_CHECK bool advise_causes_of(const struct sim_result *result, struct arena *arena,
                                     struct advise_causes *causes);

#endif
