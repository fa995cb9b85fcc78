/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a TensorFlow, TensorBoard or JAX trace that a graph is made of, in compact form: kernels on devices'
 * streams, operations on their "XLA Ops" lines, the sizes those operations tell, and the steps. Everything else (host
 * threads, derived lines) is passed over. Arrays are in the order of the file; texts are numbers in one table.
 */
#ifndef ORR_CONVERT_TENSORFLOW_EVENTS_H
#define ORR_CONVERT_TENSORFLOW_EVENTS_H

#include "base/intern.h"
#include "base/mem.h"

enum tf_line_kind {
    TF_LINE_OTHER,   /* hosts, and derived lines that tell nothing more */
    TF_LINE_STREAM,  /* of a GPU */
    TF_LINE_OPS,     /* "XLA Ops" */
    TF_LINE_DERIVED, /* of a device; its operations may tell sizes */
    TF_LINE_STEPS,   /* "Steps" */
    TF_LINE_HOST,    /* may tell the number of a step */
};

struct tf_device {
    uint32_t name;   /* "/device:GPU:0", maybe with a host before it */
    uint32_t number; /* behind the last ':' */
    bool is_gpu;
    bool has_streams; /* a kernel was seen on a stream: its XLA Ops line says the same again */
    uint32_t kernels; /* events of it, of either kind */
};

struct tf_line {
    uint32_t device; /* UINT32_MAX for a host's */
    enum tf_line_kind kind;
    int64_t stream; /* "Stream #13" -> 13, else the tid */
};

enum tf_has {
    TF_HAS_STEP = 1 << 0,
    TF_HAS_GROUP = 1 << 1,
    TF_HAS_COPIED = 1 << 2,
};

struct tf_event {
    uint64_t start_ns, duration_ns;
    uint64_t copied; /* bytes of a memory copy */
    int64_t step;
    int64_t group;
    uint32_t line;
    uint32_t name;
    uint32_t op;     /* hlo_op; 0 = none */
    uint32_t module; /* hlo_module; 0 = none */
    uint8_t has;     /* enum tf_has */
};

/* What an operation says of its size; found by "MODULE OP" and by "OP". */
struct tf_size {
    uint64_t shape_bytes; /* of the output; of the first member of the tuple for a start */
    uint64_t accessed;    /* read and written */
    bool has_shape, has_accessed;
};

struct tf_step {
    uint64_t start_ns, end_ns;
    int64_t number;
    uint32_t device;
};

struct tf_trace {
    struct mem *mem;
    struct intern texts;
    struct intern keys;   /* of sizes */
    struct intern groups; /* group ids */
    struct tf_device *devices;
    struct tf_line *lines;
    struct tf_event *events;
    struct tf_size *sizes; /* by key */
    struct tf_step *steps;
    int64_t *step_of_group; /* by group id; INT64_MIN = none */
    uint32_t device_count, device_capacity;
    uint32_t line_count, line_capacity;
    uint32_t event_count, event_capacity;
    uint32_t size_capacity;
    uint32_t step_count, step_capacity;
    uint32_t group_capacity;
};

/* On success the caller frees it; on failure it is freed. ORR_EINVAL when it is no such trace. */
ORR_MUST_CHECK enum orr_status tf_trace_read(const char *path, struct mem *mem, struct tf_trace *trace,
                                             struct orr_error *err);
void tf_trace_free(struct tf_trace *trace);

/* The size of an operation, or NULL. */
const struct tf_size *tf_trace_size(const struct tf_trace *trace, uint32_t module, uint32_t op);
/* The step of a group, or INT64_MIN. */
int64_t tf_trace_group_step(const struct tf_trace *trace, int64_t group);

#endif
