/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations of a Horovod timeline as its events tell them: for each tensor, when rank 0 had it ready, when its
 * bytes moved and how many they were. Nested begin and end events are followed for each tensor; what is cut off at the
 * end of the file, or began before it, is counted and left out. What the operations mean together is for horovod.c.
 */
#ifndef ORR_CONVERT_HOROVOD_OPS_H
#define ORR_CONVERT_HOROVOD_OPS_H

#include "base/intern.h"
#include "convert/comm_name.h"
#include "convert/convert.h"

struct horovod_op {
    uint64_t ready_ns;         /* rank 0 handed the tensor over */
    uint64_t start_ns, end_ns; /* of what moved its bytes (NCCL_…, MPI_…); of the whole operation if nothing is told */
    uint64_t bytes;            /* of the output tensor; only with has_size */
    uint32_t tensor;           /* a number below tensor_count */
    uint32_t name;             /* of the tensor, in names */
    enum comm_kind kind;
    bool has_size;
};

struct horovod_ops {
    struct mem *mem;
    struct intern names;
    struct horovod_op *items; /* in the order of their ends in the file */
    uint32_t count, capacity;
    uint32_t tensor_count;
    uint32_t ranks; /* 1 + the largest rank that was seen ready; 0 when none was */
};

/* On success the caller frees it; on failure it is freed. */
ORR_MUST_CHECK enum orr_status horovod_ops_read(const char *path, struct mem *mem, struct notes *notes,
                                                struct horovod_ops *ops, struct orr_error *err);
void horovod_ops_free(struct horovod_ops *ops);

#endif
