/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulation: create it from a configuration, run it to the end, read the result. Sequential and deterministic;
 * any number may exist at once, each used by one thread at a time.
 */
#ifndef ORR_SIM_SIM_H
#define ORR_SIM_SIM_H

#include "sim/result.h"

struct sim;

/*
 * Checks that the configuration and the traces fit together (every attribute a node will need is there, every group
 * and rank it names exists) so that the run itself needs no checks. Borrows config, mem and notes.
 *
 * Fails with ORR_EINVAL, naming PREFIX.RANK.et and the node, or ORR_ENOMEM.
 */
ORR_MUST_CHECK enum orr_status sim_create(const struct sim_config *config, struct mem *mem, struct notes *notes,
                                          struct sim **sim, struct orr_error *err);
void sim_free(struct sim *sim); /* NULL is fine */

/* `progress` as in struct orr_run_options; may be NULL. */
ORR_MUST_CHECK enum orr_status sim_run(struct sim *sim, bool (*progress)(void *, const struct orr_progress *),
                                       void *progress_context, struct orr_error *err);

/* What is known; complete after sim_run returned ORR_OK or ORR_ESTALL, partial after ORR_EINTR or ORR_ENOMEM. */
const struct sim_result *sim_result(const struct sim *sim);

#endif
