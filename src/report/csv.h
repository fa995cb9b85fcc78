/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three tables in a folder (ORR_OUTPUT_CSV): ranks.csv, collectives.csv, dimensions.csv. RFC 4180 with line feeds, a
 * header line, units in the column names, a point as decimal sign whatever the locale. The folder is made where it is
 * missing; the three files appear together, after all were written.
 */
#ifndef ORR_REPORT_CSV_H
#define ORR_REPORT_CSV_H

#include "sim/result.h"

/* ORR_EIO names the folder or file and the reason; files that were there before are then as they were. */
ORR_MUST_CHECK enum orr_status report_csv_write(const struct sim_result *result, const char *folder,
                                                struct orr_error *err);

#endif
