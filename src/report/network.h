/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run on the packet network says of its links and messages: the busiest links and the percentiles for people,
 * every direction of every link as records. Nothing at all for networks without such figures.
 */
#ifndef ORR_REPORT_NETWORK_H
#define ORR_REPORT_NETWORK_H

#include <stdio.h>

#include "io/json_write.h"
#include "sim/result.h"

bool report_network_has(const struct sim_result *result);
/* A table of the busiest links, and a line on the messages. */
void report_network_text(const struct sim_result *result, FILE *stream);
/* The member "network" of the document; null without figures. */
void report_network_json(struct json_writer *json, const struct sim_result *result);

#endif
