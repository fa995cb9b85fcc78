/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One file of a recording, counted as it streams by: a device trace by kinds of events and by collective, a host trace
 * by nodes. Medians come from histograms of fixed size, so that nothing grows with the file but the texts of a few
 * hundred names, and those are forgotten when they become many.
 *
 * Counts only; what they mean is ready.h's.
 */
#ifndef ORR_CONVERT_PYTORCH_READY_SCAN_H
#define ORR_CONVERT_PYTORCH_READY_SCAN_H

#include "base/mem.h"
#include "convert/comm_name.h"
#include "convert/pytorch/kineto/kineto.h"

/* Durations in classes that are at most 1/64 wide, each with its sum: a median is the mean of its class, and exact
 * where all of a class are equal. The classes go when the file has been read: there may be thousands of ranks. */
struct ready_times {
    uint64_t count;
    double sum_us;
    double median_us;            /* 0 where there are none */
    struct ready_class *classes; /* NULL until the first, and again at the end of the file */
};

/* Who tells of a collective, best first: what ran on the device, what PyTorch says of each, an annotation around it,
 * the op of the program. */
enum ready_level { READY_KERNEL, READY_PARAM_COMMS, READY_ANNOTATION, READY_OP, READY_LEVELS };
const char *ready_level_text(enum ready_level level);

struct ready_comm {
    uint64_t count;
    uint64_t sized; /* of these: whose bytes are said */
    uint64_t bytes; /* of those */
    struct ready_times times;
};

enum { READY_STREAMS = 64, READY_NAME = 80 };

struct ready_device {
    bool there;
    bool cut; /* the file ends early */
    uint64_t bytes, events;
    uint64_t unusable; /* events without a time, elements that are no events */
    uint64_t host_ops, annotations, calls, launches;
    uint64_t event_records, stream_waits, synchronises; /* calls, CUDA's or HIP's */
    uint64_t sync_events;                               /* of these: with what they wait for */
    uint64_t kernels, copies, sets;
    uint64_t comm_kernels, unnamed_kernels; /* NCCL's and RCCL's; of these: that do not say which collective */
    uint64_t unlinked;                      /* kernels, copies and sets without a correlation */
    uint64_t python;                        /* events of Python's stack */
    uint64_t param_comms;                   /* record_param_comms */
    double comm_us, compute_us;             /* kernels that communicate; all other */
    double host_comm_us;                    /* annotations of libraries that communicate on the host: gloo, MPI, UCC */
    double first_us, last_us;               /* 0 without events */
    struct ready_comm comms[READY_LEVELS][COMM_KIND_COUNT];
    struct {
        uint64_t count, bytes;
    } imported[COMM_KIND_COUNT]; /* what an import makes of it; only with is_imported */
    bool is_imported;
    bool fsdp;                   /* FSDP:: annotations */
    struct ready_times steps[3]; /* ProfilerStep#N: as annotation, as op, on the device */
    int64_t streams[READY_STREAMS];
    uint32_t stream_count;     /* different streams with work, up to READY_STREAMS */
    int64_t least_rf, most_rf; /* record function ids; -1 = none */
    int64_t rank, world_size;  /* -1 = not said */
    char device[READY_NAME];   /* name of the first device; "" = not said */
    bool amd;                  /* by its name, or by the versions the file states */
};

struct ready_host {
    bool there;
    bool cut;
    bool several; /* the file holds more than one document; only the first was counted */
    uint64_t bytes, nodes, param_comms, comms;
    int64_t least_rf, most_rf; /* -1 = none */
    char schema[READY_NAME];
};

/* The same of a trace of rocprofv3, which is held whole for it. */
ORR_MUST_CHECK enum orr_status ready_scan_rocprof(const char *path, struct mem *mem, struct ready_device *device,
                                                  struct orr_error *err);

/* Both fail with ORR_EINVAL (no JSON, or not such a trace), ORR_EIO or ORR_ENOMEM. What they fill holds no memory. */
ORR_MUST_CHECK enum orr_status ready_scan_device(const char *path, struct mem *mem, struct ready_device *device,
                                                 struct orr_error *err);
ORR_MUST_CHECK enum orr_status ready_scan_host(const char *path, struct mem *mem, struct ready_host *host,
                                               struct orr_error *err);

/* The training steps seen, by the best mark of them. */
const struct ready_times *ready_steps(const struct ready_device *device);

/* How often a collective was seen: as an import has it, where one was tried and went well; else by the best level that
 * knows its type. `*level` tells which that is. Its bytes come from the best level that says them, which need not be
 * the same. */
uint64_t ready_comm_count(const struct ready_device *device, enum comm_kind kind, enum ready_level *level);
bool ready_comm_bytes(const struct ready_device *device, enum comm_kind kind, uint64_t *bytes);

#endif
