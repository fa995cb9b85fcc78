/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the ranks agree on their collectives: the n-th collective that each member of a group issues is one and the
 * same. The first rank to issue it says what it is; the first that gives it another size is kept beside. A size that
 * differs may stall the job (other messages, another number of chunks) or be lost in rounding: either way this table
 * knows the two nodes at odds. It changes nothing of what is simulated.
 */
#ifndef ORR_SIM_AGREE_H
#define ORR_SIM_AGREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct sim;
struct sim_operation;

struct sim_issued {
    uint32_t rank, node, streams;
};

struct sim_agreement {
    struct sim_issued first;
    struct sim_issued other; /* the first of another size; its rank is SIM_NONE while all agree */
};

/* Of one group, or of all ranks. */
struct sim_agreements {
    struct sim_agreement *at; /* by order of issue */
    uint32_t count, capacity;
    uint32_t first_apart; /* the first whose ranks make another number of chunks of it, or SIM_NONE; from there on the
                             chunks of one collective may meet those of the next */
    uint32_t *issued;     /* by rank (member place): how many it has issued */
};

/* A table for all ranks and one for each group. False: no memory. */
bool sim_agree_make(struct sim *sim);
void sim_agree_free(struct sim *sim);

/* A rank issues a collective: numbers it (operation->order). False: no memory. */
bool sim_agree_issue(struct sim *sim, struct sim_operation *operation);

/* The two nodes of different sizes that keep `rank`'s operation from its end if it waits for `peer`, or NULL. */
const struct sim_agreement *sim_agree_at_odds(const struct sim *sim, const struct sim_operation *operation,
                                              uint32_t peer);

/* A note about collectives of different sizes in a job that ran to its end all the same. */
ORR_MUST_CHECK enum orr_status sim_agree_warn(struct sim *sim, struct orr_error *err);

#endif
