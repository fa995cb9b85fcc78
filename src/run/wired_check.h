/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a wired machine's settings fit together and fit its wires, once all of them are known: files and options.
 * What the reference makes of a contradiction is kept where its results are asked for, with a note; elsewhere it is an
 * error. Changes nothing.
 */
#ifndef ORR_RUN_WIRED_CHECK_H
#define ORR_RUN_WIRED_CHECK_H

#include "base/notes.h"
#include "run/wired.h"

/* `name` is the configuration's, for messages. */
ORR_MUST_CHECK enum orr_status run_wired_check(const struct run_wired *wired, const char *name, bool compat,
                                               struct notes *notes, struct orr_error *err);

/* Mebibytes that the largest switch sets aside for its ports, rounded up; a buffer must have at least as many. */
uint64_t run_wired_reserved_mib(const struct topo_graph *graph, uint32_t headroom_factor);

#endif
