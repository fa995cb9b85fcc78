/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finished run, written in one of the forms of `enum orr_output`. Reads the result and nothing else: how a run is
 * made is not known here. The same result gives the same bytes, whatever the locale.
 */
#ifndef ORR_REPORT_REPORT_H
#define ORR_REPORT_REPORT_H

#include <stdio.h>

#include "sim/result.h"

/*
 * To `path` (a temporary renamed when complete; a folder for CSV; compressed when a timeline's path ends in ".gz"), or
 * to `stream` where `path` is NULL, which CSV and TIMELINE refuse.
 *
 * Fails with ORR_EIO (cannot be written: names the path and the reason, and leaves no half-written file), ORR_EINVAL
 * (no path for CSV or TIMELINE; a timeline of a run without intervals), ORR_ENOMEM.
 */
ORR_MUST_CHECK enum orr_status report_write(const struct sim_result *result, enum orr_output output, const char *path,
                                            FILE *stream, struct orr_error *err);

#endif
