/* SPDX-License-Identifier: Apache-2.0 */
/* Plans that were searched, as a person reads them, and as JSON. */
#ifndef ORR_REPORT_PLAN_H
#define ORR_REPORT_PLAN_H

#include <stdio.h>

#include "orrery/plan.h"

void report_plan_text(const struct orr_plan_result *result, FILE *stream);
/* Time against memory (SVG), the front joined. */
void report_plan_chart(const struct orr_plan_result *result, FILE *stream);
void report_plan_json(const struct orr_plan_result *result, FILE *stream);

#endif
