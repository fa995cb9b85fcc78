/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One job's communications side by side: the k-th collective that each member of a group records in that group is one
 * collective, and a simulation needs it to be of one type and one size on all of them. All-to-alls with uneven splits
 * are recorded with what each rank sends; they are given the largest of these, because the busiest rank decides how
 * long they take. Whatever else differs is told, not changed: a simulation of it would stall, and the recordings are
 * then cut at different places or not of one run.
 */
#ifndef ORR_CONVERT_PYTORCH_COLLECTIVE_LEVEL_H
#define ORR_CONVERT_PYTORCH_COLLECTIVE_LEVEL_H

#include "convert/pytorch/collective/collective.h"

struct comm_level_rank {
    int64_t rank;
    struct comm_fact **facts; /* in program order: by start on the device */
    uint32_t count;
};

/* `levelled` may be NULL; it gets how many facts were given more bytes. Fails with ORR_ENOMEM, or ORR_EINVAL in strict
 * mode. */
ORR_MUST_CHECK enum orr_status comm_level(const struct comm_level_rank *ranks, uint32_t rank_count,
                                          const struct comm_groups *groups, struct mem *mem, struct notes *notes,
                                          uint64_t *levelled, struct orr_error *err);

#endif
