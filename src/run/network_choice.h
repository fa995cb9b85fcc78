/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which network a job runs on where nobody chose one. A machine that only wires can tell needs flow; NCCL's algorithms,
 * whose channels send at once, need one on which messages share links; everything else goes without contention. And the
 * one network for all points of a comparison: times of different networks are not to be ranked against each other.
 *
 * Reads machine names and system files; writes and prints nothing.
 */
#ifndef ORR_RUN_NETWORK_CHOICE_H
#define ORR_RUN_NETWORK_CHOICE_H

#include "base/notes.h"
#include "orrery.h"
#include "run/machine_files.h"

/* Said where NCCL's algorithms are the reason for a network nobody asked for. */
#define RUN_WHY_AWARE                                                                                                  \
    "no parameter 'backend' was given: aware, because the channels of NCCL's algorithms send at once, and on unaware " \
    "messages "                                                                                                        \
    "do not share a link's bandwidth"

/* Whether only wires can tell what the machine is; false too for a network.yml. */
bool run_machine_needs_wires(const struct run_machine *machine);

/* The network that a run on `machine` takes: the one asked for, else by the rules above. ORR_EINVAL where a FILE is not
 * what it reads. Notes: a choice nobody asked for, and a network that does not see what the machine is. */
ORR_MUST_CHECK enum orr_status run_network_settle(const struct run_machine *machine,
                                                  const struct orr_run_options *options, struct notes *notes,
                                                  enum orr_backend *backend, struct orr_error *err);

/* The network for the points that leave it open, in `*network`. ORR_EINVAL, naming two points: no network runs both
 * machines, or the one that was asked for sees one of them and not the other. */
ORR_MUST_CHECK enum orr_status run_network_for_all(const struct orr_sweep_job *jobs, uint64_t count,
                                                   enum orr_backend *network, struct orr_error *err);

/* The word for it in the store and in commands. */
const char *run_backend_word(enum orr_backend backend);

#endif
