/* SPDX-License-Identifier: Apache-2.0 */
/* A predicted step as a person reads it, and as JSON. */
#ifndef ORR_REPORT_TRAIN_H
#define ORR_REPORT_TRAIN_H

#include <stdio.h>

#include "orrery/train.h"

void report_train_text(const struct orr_train_result *result, FILE *stream);
void report_train_json(const struct orr_train_result *result, FILE *stream);

#endif
