/* SPDX-License-Identifier: Apache-2.0 */
/* Advice (orrery/advise.h) for people and as JSON. Reads a finished document and knows nothing of how it was made. */
#ifndef ORR_REPORT_ADVICE_H
#define ORR_REPORT_ADVICE_H

#include <stdio.h>

#include "orrery/advise.h"

void report_advice_text(const struct orr_advice *advice, FILE *stream);
void report_advice_json(const struct orr_advice *advice, FILE *stream);

#endif
