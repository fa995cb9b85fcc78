/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The synchronisations that Chakra learns from HTA (spec chakra §7): those on the critical path through the first
 * ProfilerStep of a device trace. A graph of starts and ends of operators, calls and kernels is built as HTA's
 * critical-path analysis builds it, its longest path is found, and of the path only the sync edges are kept, as pairs
 * of external ids. Needs the recorder's cuda_sync events; without them there is nothing to find.
 *
 * HTA gives up on many traces (no ProfilerStep, no cuda_runtime events, streams that are no numbers, negative times);
 * that is no error here: `failed` says why, and there are no pairs.
 */
#ifndef ORR_COMPAT_CHAKRA_HTA_H
#define ORR_COMPAT_CHAKRA_HTA_H

#include "convert/pytorch/kineto/kineto.h"

struct hta_pair {
    int64_t start; /* external id of what is waited for */
    int64_t end;   /* external id of what waits */
};

struct hta_result {
    struct hta_pair *pairs; /* along the path */
    uint32_t count, capacity;
    const char *failed; /* a constant text, or NULL */
};

/* ORR_OK or ORR_ENOMEM. Freed with hta_free in any case. */
ORR_MUST_CHECK enum orr_status hta_sync(const struct kineto_trace *trace, struct hta_result *result,
                                        struct orr_error *err);
void hta_free(struct hta_result *result, struct mem *mem);

#endif
