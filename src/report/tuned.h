/* SPDX-License-Identifier: Apache-2.0 */
/* Tuned collectives (orrery/advise.h) for people and as JSON. */
#ifndef ORR_REPORT_TUNED_H
#define ORR_REPORT_TUNED_H

#include <stdio.h>

#include "orrery/advise.h"

void report_tuned_text(const struct orr_tuned *tuned, FILE *stream);
void report_tuned_json(const struct orr_tuned *tuned, FILE *stream);

#endif
