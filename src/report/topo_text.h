/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured of a wired machine (topo/measure.h), for people and for programs. Errors are the stream's. */
#ifndef ORR_REPORT_TOPO_TEXT_H
#define ORR_REPORT_TOPO_TEXT_H

#include <stdio.h>

#include "topo/measure.h"

void topo_text_put(const struct topo_measure *measure, const char *title, FILE *stream);
void topo_json_put(const struct topo_measure *measure, const char *title, FILE *stream);

#endif
