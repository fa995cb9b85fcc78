/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bus bandwidths measured on a machine, as SimAI's tutorial writes them down (spec simai §15): sections TP, DP, EP, PP
 * and, ours, DP_EP; one bandwidth an operation, in GB/s with GB = 2^30 bytes. The shipped file is no YAML (its first
 * line is a bare name, its keys end in commas), so it is read line by line here; indented, real YAML reads the same.
 *
 * In section EP all-gather, reduce-scatter and all-reduce mean the DP_EP group, as the tutorial says; DP_EP wins.
 */
#ifndef ORR_MODEL_SIMAI_BUSBW_H
#define ORR_MODEL_SIMAI_BUSBW_H

#include "base/mem.h"
#include "model/simai/collective.h"

struct simai_busbw {
    double value[SIMAI_GROUPS][SIMAI_OPS]; /* 0 where not given */
    double pp;                             /* 0 where not given */
};

/* `name` is the file's, for messages. Fails with ORR_EINVAL or ORR_ERANGE, "name:line: …". */
ORR_MUST_CHECK enum orr_status simai_busbw_parse(const char *name, const char *text, size_t size,
                                                 struct simai_busbw *busbw, struct orr_error *err);
/* Fails with ORR_EIO and ORR_ENOMEM too. */
ORR_MUST_CHECK enum orr_status simai_busbw_read(const char *path, struct mem *mem, struct simai_busbw *busbw,
                                                struct orr_error *err);

#endif
