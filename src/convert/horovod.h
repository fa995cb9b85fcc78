/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Horovod timeline (spec formats §2) turned into ET files. The timeline is rank 0's diary of tensors: when each was
 * ready, when it was negotiated, when its operation ran. Tensors that were fused become the one collective that really
 * ran, the time in which tensors were being made ready becomes compute, negotiation and queues are waiting and become
 * nothing. All ranks get the same graph, since nothing is known of the others but how many there are.
 */
#ifndef ORR_CONVERT_HOROVOD_H
#define ORR_CONVERT_HOROVOD_H

#include "convert/convert.h"
#include "convert/workload.h"

/* Fills a workload that was initialised. */
ORR_MUST_CHECK enum orr_status horovod_read(const struct convert_request *request, struct workload *workload,
                                            struct orr_error *err);

#endif
