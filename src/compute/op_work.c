/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operator has to do and where its shape lies. Bytes are those of PyTorch's kernels in training: what must be
 * read once and written once, activations in the operator's type.
 */
#include <math.h>

#include "compute/op_base.h"

static double dtype_bytes(enum orr_op_dtype dtype)
{
    static const double bytes[] = {
#define OP_X(symbol, name, bytes, peak, synonyms) bytes,
        ORR_OP_DTYPES(OP_X)
#undef OP_X
    };
    return bytes[dtype];
}

static const enum device_peak peaks[] = {
#define OP_X(symbol, name, bytes, peak, synonyms) DEVICE_##peak,
    ORR_OP_DTYPES(OP_X)
#undef OP_X
};

bool op_has_type(const struct device *device, enum orr_op_dtype dtype)
{
    return device->peaks[peaks[dtype]] > 0;
}

struct op_machine op_machine_of(const struct device *device, enum orr_op_dtype dtype)
{
    return (struct op_machine){.flops = device_peak_of(device, peaks[dtype]) * 1e6,
                               .memory = device->memory_rate * 1e3,
                               .units = device->units,
                               .l2 = device->l2 * 1e6,
                               .slower = 1,
                               .matrix = device->matrix};
}

/* The product that a kind's matrix units do: `count` of them. */
struct product {
    double count, m, n, k;
    double bytes;
};

static struct product product_of(const struct orr_op *op)
{
    const uint64_t *d = op->dims;
    double in = dtype_bytes(op->dtype);
    double out = in < 2 ? 2 : in; /* what comes out of narrow types is bf16 */
    struct product p = {.count = 1, .m = (double)d[0], .n = (double)d[1], .k = (double)d[2]};
    if (op->kind == ORR_OP_BATCHED_GEMM || op->kind == ORR_OP_GROUPED_GEMM) {
        p = (struct product){.count = (double)d[0], .m = (double)d[1], .n = (double)d[2], .k = (double)d[3]};
    } else if (op->kind == ORR_OP_CONV2D || op->kind == ORR_OP_CONV2D_BACKWARD) {
        double stride = d[5] > 0 ? (double)d[5] : 1;
        double side = ceil((double)d[3] / stride);
        p.m = (double)d[0] * side * side;
        p.n = (double)d[2];
        p.k = (double)d[1] * (double)d[4] * (double)d[4];
        double pixels = (double)d[0] * (double)d[1] * (double)d[3] * (double)d[3];
        p.bytes = in * (pixels + p.n * p.k) + out * p.m * p.n;
        return p;
    }
    p.bytes = p.count * (in * (p.m * p.k + p.k * p.n) + out * p.m * p.n);
    return p;
}

static struct op_work attention_work(const struct orr_op *op)
{
    double batch = (double)op->dims[0];
    double seq = (double)op->dims[1];
    double heads = (double)op->dims[2];
    double kv_heads = (double)op->dims[3];
    double dim = (double)op->dims[4];
    double v_dim = op->v_head_dim > 0 ? op->v_head_dim : dim;
    double keys = op->kv_seq > 0 ? (double)op->kv_seq : seq;
    double in = dtype_bytes(op->dtype);
    bool is_full = op->full || op->kind == ORR_OP_ATTENTION_FULL || op->kind == ORR_OP_ATTENTION_FULL_BACKWARD;
    double pairs = is_full ? seq * keys : seq * (keys - seq / 2);
    pairs = pairs > 0 ? pairs : seq * keys / 2;
    struct op_work work = {.flops = 2 * batch * heads * pairs * (dim + v_dim),
                           .bytes =
                               batch * (heads * seq * (dim * in + v_dim * 2) + kv_heads * keys * (dim + v_dim) * in)};
    if (op->kind == ORR_OP_ATTENTION_BACKWARD || op->kind == ORR_OP_ATTENTION_FULL_BACKWARD) {
        work.flops *= 2.5; /* five products where the forward pass has two */
        work.bytes *= 2;
    }
    return work;
}

/* Bytes moved for each value of a row operator, in sizes of its type. */
static double stream_passes(enum orr_op_kind kind)
{
    switch (kind) {
    case ORR_OP_LAYERNORM:
    case ORR_OP_RMSNORM:
    case ORR_OP_GELU:
    case ORR_OP_SILU:
    case ORR_OP_SOFTMAX:
    case ORR_OP_EMBEDDING:
    case ORR_OP_RELU:
    case ORR_OP_ROPE:
    case ORR_OP_MAXPOOL:
    case ORR_OP_BIAS_ADD:
    case ORR_OP_TRANSPOSE:
    case ORR_OP_COPY:
        return 2;
    case ORR_OP_DROPOUT:
    case ORR_OP_DROPOUT_BACKWARD:
        return 2.5; /* and a byte of the mask */
    case ORR_OP_SWIGLU_BACKWARD:
    case ORR_OP_BATCHNORM_BACKWARD:
    case ORR_OP_SGD:
        return 5;
    case ORR_OP_CROSS_ENTROPY:
    case ORR_OP_CROSS_ENTROPY_BACKWARD:
        return 6; /* the logits once more in float32 */
    case ORR_OP_ADAMW:
        return 7;
    case ORR_OP_SUM_ROWS:
    case ORR_OP_ZERO:
    case ORR_OP_COPY_FROM_HOST:
    case ORR_OP_COPY_TO_HOST:
        return 1;
    default:
        return 3;
    }
}

static struct op_work stream_work(const struct orr_op *op)
{
    const uint64_t *d = op->dims;
    double size = dtype_bytes(op->dtype);
    double values = (double)d[0];
    if (op_dim_count(op->kind) > 1) {
        values *= (double)d[op_dim_count(op->kind) - 1];
    }
    struct op_work work = {.bytes = values * size * stream_passes(op->kind)};
    if (op->kind == ORR_OP_EMBEDDING_BACKWARD) {
        work.bytes += (double)d[1] * (double)d[2] * size; /* the gradient of the whole table is written */
    }
    if (op->state_bytes > 0 && (op->kind == ORR_OP_ADAMW || op->kind == ORR_OP_SGD)) {
        work.bytes = values * op->state_bytes;
    }
    return work;
}

struct op_work op_work_of(const struct orr_op *op)
{
    switch (op_family_of(op->kind)) {
    case OP_FAMILY_GEMM: {
        struct product p = product_of(op);
        double passes = op->kind == ORR_OP_CONV2D_BACKWARD ? 2 : 1; /* gradients of the picture and of the filters */
        return (struct op_work){.flops = passes * 2 * p.count * p.m * p.n * p.k, .bytes = passes * p.bytes};
    }
    case OP_FAMILY_ATTENTION:
        return attention_work(op);
    default:
        return stream_work(op);
    }
}

/* ---- coordinates ------------------------------------------------------------------------------------------------- */

static double log2_of(double value)
{
    return value > 0 ? log2(value) : 0;
}

/* Key heads: 1, 2, 4 and 8 are 0 to 3, as many as heads are 4. */
static double kv_position(double heads, double kv_heads)
{
    if (kv_heads >= heads) {
        return OP_KV_OWN;
    }
    if (kv_heads <= 8) {
        return log2_of(kv_heads);
    }
    return 3 + log2(kv_heads / 8) / log2(heads / 8);
}

uint32_t op_coordinates(const struct orr_op *op, double at[OP_AXES])
{
    const uint64_t *d = op->dims;
    if (op_family_of(op->kind) == OP_FAMILY_GEMM) {
        struct product p = product_of(op);
        at[0] = log2_of(p.m);
        at[1] = log2_of(p.n);
        at[2] = log2_of(p.k);
        if (op->kind == ORR_OP_GEMM) {
            return 3;
        }
        if (op->kind == ORR_OP_BATCHED_GEMM || op->kind == ORR_OP_GROUPED_GEMM) {
            at[3] = log2_of(p.count);
            return 4;
        }
        at[3] = log2_of((double)d[4]);
        at[4] = log2_of((double)d[5]);
        return 5;
    }
    uint32_t count = op_dim_count(op->kind);
    for (uint32_t i = 0; i < count; i++) {
        at[i] = log2_of((double)d[i]);
    }
    if (op_family_of(op->kind) == OP_FAMILY_ATTENTION) {
        at[OP_KV_AXIS] = kv_position((double)d[2], (double)d[3]);
    }
    return count;
}

struct orr_op op_at(const struct orr_op *like, const double levels[OP_AXES])
{
    struct orr_op op = *like;
    uint64_t v[OP_AXES];
    uint32_t count = op_coordinates(like, (double[OP_AXES]){0});
    for (uint32_t i = 0; i < OP_AXES; i++) {
        v[i] = i < count && levels[i] > 0 ? (uint64_t)(levels[i] + 0.5) : 0;
    }
    switch (op.kind) {
    case ORR_OP_BATCHED_GEMM:
    case ORR_OP_GROUPED_GEMM:
        op.dims[0] = v[3];
        op.dims[1] = v[0];
        op.dims[2] = v[1];
        op.dims[3] = v[2];
        break;
    case ORR_OP_CONV2D:
    case ORR_OP_CONV2D_BACKWARD: {
        uint64_t kernel = v[3] > 0 ? v[3] : 1;
        uint64_t channels = v[2] / (kernel * kernel);
        op.dims[0] = v[0]; /* so many pictures of one pixel: the same product */
        op.dims[1] = channels > 0 ? channels : 1;
        op.dims[2] = v[1];
        op.dims[3] = op.dims[5] = v[4] > 0 ? v[4] : 1;
        op.dims[4] = kernel;
        break;
    }
    default:
        for (uint32_t i = 0; i < count; i++) {
            op.dims[i] = v[i];
        }
    }
    if (op_family_of(op.kind) == OP_FAMILY_ATTENTION) {
        uint64_t own = op.dims[2];
        uint64_t shared = (uint64_t)1 << (v[OP_KV_AXIS] < OP_KV_OWN ? v[OP_KV_AXIS] : 0);
        op.dims[3] = v[OP_KV_AXIS] >= OP_KV_OWN || shared > own ? own : shared;
    }
    return op;
}
