/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Chakra trace written as JSON, turned back into the file: our own export (grammar in convert/export.h), which comes
 * back as the same bytes, and protobuf's JSON as chakra_jsonizer writes it, one text behind the other without a
 * separator (spec chakra §11). Nothing is checked but that each value fits its kind: what the trace means is for
 * trace/check.h.
 */
#ifndef ORR_CONVERT_ET_JSON_H
#define ORR_CONVERT_ET_JSON_H

#include "convert/convert.h"

/* `{"format": "orrery-trace", …}`, read node by node. */
ORR_MUST_CHECK enum orr_status et_json_convert_export(const struct convert_request *request,
                                                      struct convert_summary *summary, struct orr_error *err);
/* `{"version": …}{"id": …}…`, read whole: its parts can be told apart only by their brackets. */
ORR_MUST_CHECK enum orr_status et_json_convert_jsonized(const struct convert_request *request,
                                                        struct convert_summary *summary, struct orr_error *err);

#endif
