/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TensorFlow, TensorBoard or JAX profiler trace (trace.json, plain or packed; spec formats §1) turned into ET files:
 * one rank for each device in it. A device's streams, or its "XLA Ops" line where it has no streams, become chains of
 * compute nodes and collectives; derived lines, which tell the same time again, give only what the streams do not
 * know: the size of a collective (the HLO operator's shape) and the steps. What the trace says nothing about and is
 * inferred (order between streams) is told in the notes. Reads the file twice, keeping one struct a kernel.
 */
#ifndef ORR_CONVERT_TENSORFLOW_H
#define ORR_CONVERT_TENSORFLOW_H

#include "convert/convert.h"
#include "convert/workload.h"

/* Fills a workload that was initialised. */
ORR_MUST_CHECK enum orr_status tensorflow_read(const struct convert_request *request, struct workload *workload,
                                               struct orr_error *err);

#endif
