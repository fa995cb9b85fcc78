/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What other files of lab/ may know of an open run beyond orrery.h: the values its files came to.
 */
#ifndef ORR_RUN_SESSION_H
#define ORR_RUN_SESSION_H

#include "orrery.h"
#include "sim/config.h"

/* Valid until orr_run_close. */
const struct sim_config *session_config(const struct orr_run *run);

#endif
