/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SimAI's workload text (spec simai §1), as AICB writes it: the layers of text.h behind a header of keys that say how
 * the ranks are divided (tensor, expert, data and pipeline parallelism), and operations with a suffix that names the
 * group: none (TP in the forward and input-gradient columns, DP in the weight-gradient column), _EP or _DP_EP, and ours
 * _CP.
 *
 * simai_read.h reads the file; program and files are those of text.h and work.h. Times are nanoseconds.
 */
#ifndef ORR_CONVERT_TEXT_SIMAI_H
#define ORR_CONVERT_TEXT_SIMAI_H

#include "convert/text/simai_read.h"

/* The graph of every rank, with pipeline stages of those of the first, and the groups; `*ranks` is all_gpus, unless it
 * was given (not 0). */
ORR_MUST_CHECK enum orr_status simai_graph(const struct convert_request *request, struct work *work, uint32_t *ranks,
                                           struct orr_error *err);

#endif
