/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the files of the compatible linker: link_ops.c orders the operators of the device trace and what they
 * wait for (spec chakra §6.2 to §6.4), link_parent.c attaches kernels to them (§6.6, §6.7), link.c
 * matches host nodes and gives ids (§6.8), link_sync.c finds who waits for which kernel (§6.5),
 * link_write.c writes (§6.9). Not for anyone else.
 *
 * An operator is named by its position in `ops`, which is the order of time; a kernel or copy by its position in
 * `gpus`.
 */
#ifndef ORR_COMPAT_CHAKRA_LINK_PARTS_H
#define ORR_COMPAT_CHAKRA_LINK_PARTS_H

#include "base/number_map.h"
#include "compat/chakra/hta.h"
#include "compat/chakra/link.h"

#define COMPAT_NONE UINT32_MAX

/* What a name says, looked up once for each. */
enum compat_name {
    COMPAT_LAUNCH = 1 << 0,        /* in Chakra's list of launches */
    COMPAT_PROFILER_STEP = 1 << 1, /* contains "ProfilerStep" */
    COMPAT_COALESCED = 1 << 2,     /* is "nccl:coalesced" */
    COMPAT_NCCL = 1 << 3,          /* contains "nccl", in whatever case */
    COMPAT_NCCL_KERNEL = 1 << 4,   /* contains "ncclDevKernel" */
};

struct compat_op {
    double exclusive_us;
    int64_t dep_rf; /* inter-thread dependency; 0 = none, as 0 counts as none there */
    uint64_t host;  /* id of the host node it is matched to; only with has_host */
    uint32_t event;
    bool exclusive_is_int;
    bool has_host;
};

struct compat_gpu {
    uint32_t event;
    uint32_t next; /* in its group, or COMPAT_NONE */
};

struct compat {
    struct host_trace *host;
    const struct kineto_trace *device;
    struct mem *mem;
    struct notes *notes;
    struct orr_error *err;
    uint8_t *names; /* enum compat_name, by number */
    struct compat_op *ops;
    uint32_t op_count;
    struct compat_gpu *gpus; /* of one group after the other through `next` */
    uint32_t gpu_count;
    uint32_t *by_thread;         /* operators, thread by thread, by time in each */
    uint32_t *thread_starts;     /* in by_thread; one more than there are threads */
    struct number_map rf_ops;    /* record function id → the last operator that has it */
    struct number_map launchers; /* correlation → event */
    struct number_map groups;    /* external id of an operator → its first kernel */
    uint64_t orphans;
};

ORR_MUST_CHECK bool link_compat_event_is_gpu(const struct kineto_event *event);

/* -1 = none; "external id" is none to the original. */
int64_t link_compat_external_id(const struct kineto_event *event);

/* The position of the first operator that starts at or after (`after`: strictly after) `ts_us`. */
uint32_t link_compat_find_op(const struct compat *compat, double ts_us, bool after);

ORR_MUST_CHECK enum orr_status link_compat_order_ops(struct compat *compat);
ORR_MUST_CHECK enum orr_status link_compat_attach_gpus(struct compat *compat);

/* The error of a refused allocation. */
enum orr_status link_compat_no_memory(const struct compat *compat);

/* A host node in the order of ids. */
struct compat_place {
    uint64_t id;
    uint64_t dep;       /* host id of the inter-thread dependency; only with has_dep */
    uint32_t node;      /* in the host trace */
    uint32_t new_id;    /* in the output */
    uint32_t op;        /* matched operator, or COMPAT_NONE */
    uint32_t first_gpu; /* id of its first kernel in the output; the others follow */
    bool has_dep;
    bool reachable; /* from the process node */
};

/* The kernels a node waits for. */
struct compat_target {
    uint32_t first, count; /* in ids */
};

struct compat_sync {
    uint32_t op;   /* that waits */
    uint32_t next; /* of the same kernel, or COMPAT_NONE */
};

struct compat_plan {
    struct compat compat;
    struct compat_place *places;
    struct number_map by_id; /* host id → place */
    uint32_t next_id;
    struct number_map fresh;       /* parents that are no node → the id they get */
    uint32_t null_fresh;           /* the same for a parent that is null; 0 = none yet */
    struct number_map sync_firsts; /* event of a kernel → its first sync_link */
    struct compat_sync *syncs;
    uint32_t sync_count, sync_capacity;
    struct number_map target_of; /* id in the output → target */
    struct compat_target *targets;
    uint32_t target_count, target_capacity;
    uint32_t *ids;
    uint32_t id_count;
    struct link_compat_summary summary;
};

/* The first kernel of a host node, or COMPAT_NONE. */
uint32_t link_compat_first_gpu(const struct compat_plan *plan, const struct compat_place *place);

/* The new id of a host id; the id itself when it is none (what the original's look-up does). */
uint64_t link_compat_renamed(const struct compat_plan *plan, uint64_t id);
/* The same at the moment when the node `now` is being renamed: what comes after it has no new id yet. */
uint64_t link_compat_renamed_so_far(const struct compat_plan *plan, uint64_t id, uint64_t now);

/* Fills what the plan knows of sync dependencies. Needs the new ids. */
ORR_MUST_CHECK enum orr_status link_compat_find_syncs(struct compat_plan *plan);

ORR_MUST_CHECK enum orr_status link_compat_write(struct compat_plan *plan, const char *path, enum io_outfile_form form);

#endif
