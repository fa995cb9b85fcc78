/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON texts that hold a Chakra graph, told apart by their content: the feeder's workload (a document with
 * workload_graph[], spec chakra §13), our own export ("orrery-trace", which comes back as the same bytes) and what
 * chakra_jsonizer writes (protobuf's JSON texts one after the other, spec chakra §11).
 */
#ifndef ORR_CONVERT_JSON_WORKLOAD_H
#define ORR_CONVERT_JSON_WORKLOAD_H

#include "convert/convert.h"

ORR_MUST_CHECK enum orr_status json_convert(const struct convert_request *request, struct convert_summary *summary,
                                            struct orr_error *err);

#endif
