/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands beside the collectives of a run in a report: how long NCCL or RCCL takes for them on such a machine, and
 * what was measured there (docs/collective-times.md), as the document "times" of docs/report.md.
 */
#ifndef ORR_API_REPORT_TIMES_H
#define ORR_API_REPORT_TIMES_H

#include "orrery.h"

/* Nothing is written where the machine is not named, is not of servers whose GPUs are known, or its network is not the
 * servers' own; nor of groups that may lie in the machine in more than one way. ORR_ENOMEM; write errors stay with the
 * stream. */
ORR_MUST_CHECK enum orr_status api_report_times(const struct orr_run *run, FILE *stream, struct orr_error *err);

#endif
