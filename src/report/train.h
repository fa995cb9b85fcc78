/* SPDX-License-Identifier: Apache-2.0 */
/* A predicted step as a person reads it, as JSON, and as a chart. */
#ifndef ORR_REPORT_TRAIN_H
#define ORR_REPORT_TRAIN_H

#include <stdio.h>

#include "orrery/train.h"

/* name in JSON, name for people, field: the parts that add up to a step, of struct orr_train_result and
 * struct orr_train_simulated */
#define REPORT_TRAIN_PARTS(X)                                                                                          \
    X("forward_ns", "forward", forward_ns)                                                                             \
    X("backward_ns", "backward", backward_ns)                                                                          \
    X("exposed_tp_ns", "tensor-parallel communication", exposed_tp_ns)                                                 \
    X("exposed_cp_ns", "context-parallel communication", exposed_cp_ns)                                                \
    X("exposed_ep_ns", "expert-parallel communication", exposed_ep_ns)                                                 \
    X("exposed_pp_ns", "pipeline sends", exposed_pp_ns)                                                                \
    X("exposed_dp_ns", "data-parallel communication", exposed_dp_ns)                                                   \
    X("bubble_ns", "pipeline bubble", bubble_ns)                                                                       \
    X("launch_ns", "waiting for the host", launch_ns)                                                                  \
    X("optimizer_ns", "optimizer", optimizer_ns)

struct json_writer;

/* How it is divided, as members of an object. */
void report_train_plan_json(const struct orr_train_plan *plan, struct json_writer *writer);
void report_train_text(const struct orr_train_result *result, FILE *stream);
void report_train_json(const struct orr_train_result *result, FILE *stream);
/* The parts as steps of a stair, the whole below them (SVG). */
void report_train_chart(const struct orr_train_result *result, FILE *stream);

/* "tp inside a server; dp over 4 servers, 2 in each": what has more than one rank. */
void report_train_places(const struct orr_train_result *result, FILE *stream);

#endif
