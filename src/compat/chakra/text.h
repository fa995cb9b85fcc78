/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ASTRA-sim 1.0 workload texts to Chakra ET exactly as Chakra's own Text converter does it (spec chakra §9); the right
 * converter is convert/text/text.h, which reads for both.
 */
#ifndef ORR_COMPAT_CHAKRA_TEXT_H
#define ORR_COMPAT_CHAKRA_TEXT_H

#include "convert/text/text.h"

/* The graph of one rank; the workload is of text_read_compat. */
ORR_MUST_CHECK enum orr_status text_graph_compat(const struct text_workload *workload, uint32_t passes,
                                                 struct work *work, struct orr_error *err);

/* As text_convert. */
ORR_MUST_CHECK enum orr_status text_convert_compat(const struct convert_request *request,
                                                   struct convert_summary *summary, struct orr_error *err);

#endif
