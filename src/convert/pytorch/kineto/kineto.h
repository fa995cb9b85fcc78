/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Kineto device trace (spec chakra §5) as what linking needs of it: one compact struct an event, names kept once,
 * arguments that few events carry in side tables. Read event by event, so that memory goes with what is kept and not
 * with the file. Both linkers use it: the compatible one (compat/chakra/link.h) and our own (link/link.h); it decides
 * nothing about dependencies and does not know host traces.
 *
 * Flow arrows (ac2g, fwdbwd), counters, metadata and Python stack events are not kept; what is said about the whole
 * recording (ranks, process groups, devices) is in `info`.
 */
#ifndef ORR_CONVERT_PYTORCH_KINETO_KINETO_H
#define ORR_CONVERT_PYTORCH_KINETO_KINETO_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/notes.h"

enum kineto_cat {
    KINETO_OTHER,           /* any other category that carries an "External id" */
    KINETO_CPU_OP,          /* cpu_op */
    KINETO_USER_ANNOTATION, /* user_annotation: record_function blocks, ProfilerStep#N, nccl:… */
    KINETO_RUNTIME,         /* cuda_runtime, hip_runtime: API calls */
    KINETO_DRIVER,          /* cuda_driver */
    KINETO_KERNEL,          /* kernel */
    KINETO_MEMCPY,          /* gpu_memcpy */
    KINETO_MEMSET,          /* gpu_memset */
    KINETO_SYNC,            /* cuda_sync: Context Sync, Stream Sync, Event Sync, Stream Wait Event */
    KINETO_GPU_ANNOTATION,  /* gpu_user_annotation */
    KINETO_CATS
};

enum kineto_has {
    KINETO_HAS_DUR = 1 << 0,
    KINETO_HAS_EXTERNAL_ID = 1 << 1,
    KINETO_HAS_RF_ID = 1 << 2,
    KINETO_HAS_CORRELATION = 1 << 3,
    KINETO_HAS_STREAM = 1 << 4,     /* any value but null */
    KINETO_TS_IS_INT = 1 << 5,      /* written without point or exponent */
    KINETO_DUR_IS_INT = 1 << 6,     /* the same */
    KINETO_STREAM_IS_TEXT = 1 << 7, /* such as "0x0": `stream` is its number, stream_text what was written */
    KINETO_HAS_TID = 1 << 8,
    KINETO_STREAM_IS_NULL = 1 << 9,
    KINETO_IS_ALIAS = 1 << 10,             /* category spelt otherwise than NVIDIA's PyTorch of today does */
    KINETO_HAS_PG_NAME = 1 << 11,          /* also when it is "" */
    KINETO_EXTERNAL_ID_IS_ALIAS = 1 << 12, /* written "external id", as before 2023 */
};

#define KINETO_NONE UINT32_MAX

struct kineto_event {
    double ts_us; /* as written */
    double dur_us;
    int64_t external_id;  /* -1 = none */
    int64_t rf_id;        /* "Record function id"; -1 = none */
    int64_t correlation;  /* -1 = none */
    int64_t stream;       /* -1 = none */
    uint32_t index;       /* position in traceEvents */
    uint32_t name;        /* in names */
    uint32_t tid;         /* in threads: number in order of first appearance in the file */
    uint32_t pid;         /* in names: as written */
    uint32_t comm;        /* in comms, or KINETO_NONE */
    uint32_t extra;       /* in syncs (KINETO_SYNC, and runtime calls that say what they wait for) or copies */
    uint32_t pg_name;     /* in names: args "Process Group Name"; 0 = none or "" */
    uint32_t stream_text; /* in names; only with KINETO_STREAM_IS_TEXT */
    uint16_t has;         /* enum kineto_has */
    uint8_t cat;          /* enum kineto_cat */
    char ph;              /* 'X' … */
};

/* What a collective's event says of itself (spec chakra §5, PyTorch 2.4 and later). Texts are numbers in names, 0 =
 * not said; sizes are UINT64_MAX when not said. */
struct kineto_comm {
    uint32_t collective;   /* "Collective name" */
    uint32_t dtype;        /* "dtype" */
    uint64_t in_elements;  /* "In msg nelems" */
    uint64_t out_elements; /* "Out msg nelems" */
    uint64_t group_size;   /* "Group size" */
    uint32_t group_name;   /* "Process Group Name" */
    uint32_t group_text;   /* "Process Group Description" */
    uint32_t group_ranks;  /* "Process Group Ranks", as written: "[0, 1]" */
    uint32_t in_split;     /* "In split size", as written */
    uint32_t out_split;    /* "Out split size" */
    int64_t src_rank;      /* "Src Rank", else -1 */
    int64_t dst_rank;      /* "Dst Rank", else -1 */
    uint64_t input_bytes;  /* product of "Input Dims" times the widths of "Input type", summed; UINT64_MAX unknown */
    uint64_t first_bytes;  /* of the first tensor among them; UINT64_MAX unknown */
};

/* What a synchronisation waits for; -1 = not said. */
struct kineto_sync {
    int64_t wait_stream;      /* "wait_on_stream" */
    int64_t wait_record_corr; /* "wait_on_cuda_event_record_corr_id" */
    int64_t wait_event;       /* "wait_on_cuda_event_id" */
};

/* A thread, or a stream's row of the picture: its first event of all, kept or not. */
struct kineto_thread {
    double first_ts_us;
    uint32_t first_index; /* position in traceEvents */
};

struct kineto_copy {
    uint64_t bytes;
};

/* A process group named in the file's distributedInfo. */
struct kineto_group {
    uint32_t name;       /* "pg_name", in names */
    uint32_t text;       /* "pg_desc" */
    uint32_t backend;    /* "backend_config" */
    uint32_t first;      /* in ranks */
    uint32_t rank_count; /* 0 = all of the world */
};

struct kineto_info {
    int64_t rank;         /* -1 = not said */
    int64_t world_size;   /* -1 = not said */
    int64_t base_time_ns; /* what the times are counted from; 0 = not said */
    uint32_t backend;     /* in names; 0 = not said */
    uint32_t device;      /* name of the first device; 0 = not said */
    struct kineto_group *groups;
    uint32_t group_count;
    int64_t *ranks; /* of all groups, one after the other */
    uint32_t rank_count;
};

struct kineto_trace {
    struct kineto_event *events; /* by ts, equal ones in file order */
    uint32_t event_count;
    uint32_t event_capacity;
    uint64_t event_total; /* in the file, kept or not */
    struct kineto_comm *comms;
    uint32_t comm_count, comm_capacity;
    struct kineto_sync *syncs;
    uint32_t sync_count, sync_capacity;
    struct kineto_copy *copies;
    uint32_t copy_count, copy_capacity;
    struct kineto_thread *thread_firsts; /* by kineto_event.tid */
    uint32_t thread_count, thread_capacity;
    struct intern names;
    struct intern threads; /* text of a tid, by number + 1 (0 is intern's empty text) */
    struct kineto_info info;
    double first_ts_us, last_end_us; /* over all events with a time, kept or not */
    double origin_us;                /* only with has_origin: the first start of work, kept or not */
    bool has_origin;
    bool marks_only;     /* steps were asked for of which none is there */
    uint64_t byte_count; /* of the unpacked file */
    struct mem *mem;
    struct arena arena; /* info */
};

/*
 * Reads a device trace, packed or not. Warnings (events that cannot be used, a cut-off end) go to `notes`.
 * Fails with ORR_EIO, ORR_EINVAL (no JSON, no traceEvents), ORR_ENOMEM.
 */
ORR_MUST_CHECK enum orr_status kineto_read(const char *path, struct mem *mem, struct notes *notes,
                                           struct kineto_trace **trace, struct orr_error *err);
/* The same of some steps (ProfilerStep#N; pairs of first and last), without holding the others (window.h). All
 * marks of steps are kept, and nothing else where none of the steps is there. */
ORR_MUST_CHECK enum orr_status kineto_read_steps(const char *path, const int64_t *steps, uint32_t pair_count,
                                                 struct mem *mem, struct notes *notes, struct kineto_trace **trace,
                                                 struct orr_error *err);
void kineto_free(struct kineto_trace *trace); /* NULL is fine */

/* Times in whole nanoseconds, rounded to the nearest. */
int64_t kineto_start_ns(const struct kineto_event *event);
int64_t kineto_end_ns(const struct kineto_event *event);

/* Whether the call starts work on the device: every launch, copy, set and graph launch name of CUDA and HIP, runtime
 * and driver (the compatible linker has its own, shorter list: spec §5). */
bool kineto_is_launch(const char *name);
/* Whether it is a name of CUDA's or HIP's interface. */
bool kineto_is_call(const char *name);

enum kineto_call {
    KINETO_CALL_OTHER,
    KINETO_CALL_LAUNCH,
    KINETO_CALL_EVENT_RECORD, /* cudaEventRecord, cudaEventRecordWithFlags, hipEventRecord, cuEventRecord … */
    KINETO_CALL_STREAM_WAIT,  /* cudaStreamWaitEvent, hipStreamWaitEvent … */
    KINETO_CALL_EVENT_SYNC,   /* cudaEventSynchronize, hipEventSynchronize */
    KINETO_CALL_STREAM_SYNC,  /* cudaStreamSynchronize, hipStreamSynchronize */
    KINETO_CALL_DEVICE_SYNC,  /* cudaDeviceSynchronize, hipDeviceSynchronize, cuCtxSynchronize */
};

/* What a runtime or driver call does, by its name. */
enum kineto_call kineto_call_of(const char *name);

#endif
