/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long one operator takes on one device: a GEMM, an attention, a norm, an optimizer's pass. Asked by shape,
 * answered from what was measured on that device where there is such, else from a relative of it, else from its data
 * sheet; the answer says which. Included by orrery.h.
 *
 * A prediction allocates nothing, costs about a microsecond and changes nothing: one opened set of data may be asked
 * from many threads at once.
 */
#ifndef ORRERY_OP_H
#define ORRERY_OP_H

#include "orrery/base.h"

ORR_BEGIN

/* name, what bounds its kernels (family), number of dimensions, their names as tables have them, older names. A
 * backward pass has the dimensions of its forward pass and makes all gradients; a convolution's picture is square. */
#define ORR_OPS(X)                                                                                                     \
    X(GEMM, "gemm", GEMM, 3, "m n k", "matmul linear")                                                                 \
    X(BATCHED_GEMM, "batched-gemm", GEMM, 4, "batch m n k", "bmm")                                                     \
    X(GROUPED_GEMM, "grouped-gemm", GEMM, 4, "groups m n k", "moe-gemm")                                               \
    X(CONV2D, "conv2d", GEMM, 6, "batch channels filters size kernel stride", "conv conv2d-forward conv2d_fwd")        \
    X(CONV2D_BACKWARD, "conv2d-backward", GEMM, 6, "batch channels filters size kernel stride", "conv2d_bwd")          \
    X(ATTENTION, "attention-forward", ATTENTION, 5, "batch seq heads kv_heads head_dim",                               \
      "attention attn_fwd sdpa attention_fwd_causal")                                                                  \
    X(ATTENTION_BACKWARD, "attention-backward", ATTENTION, 5, "batch seq heads kv_heads head_dim", "attn_bwd")         \
    X(ATTENTION_FULL, "attention-full-forward", ATTENTION, 5, "batch seq heads kv_heads head_dim", "")                 \
    X(ATTENTION_FULL_BACKWARD, "attention-full-backward", ATTENTION, 5, "batch seq heads kv_heads head_dim", "")       \
    X(LAYERNORM, "layernorm-forward", STREAM, 2, "rows cols", "layernorm layernorm_fwd")                               \
    X(LAYERNORM_BACKWARD, "layernorm-backward", STREAM, 2, "rows cols", "layernorm_bwd")                               \
    X(RMSNORM, "rmsnorm-forward", STREAM, 2, "rows cols", "rmsnorm rmsnorm_fwd")                                       \
    X(RMSNORM_BACKWARD, "rmsnorm-backward", STREAM, 2, "rows cols", "rmsnorm_bwd")                                     \
    X(GELU, "gelu-forward", STREAM, 2, "rows cols", "gelu gelu_fwd")                                                   \
    X(GELU_BACKWARD, "gelu-backward", STREAM, 2, "rows cols", "gelu_bwd")                                              \
    X(SILU, "silu-forward", STREAM, 2, "rows cols", "silu silu_fwd")                                                   \
    X(SILU_BACKWARD, "silu-backward", STREAM, 2, "rows cols", "silu_bwd")                                              \
    X(RELU, "relu-forward", STREAM, 2, "rows cols", "relu relu_fwd")                                                   \
    X(RELU_BACKWARD, "relu-backward", STREAM, 2, "rows cols", "relu_bwd")                                              \
    X(DROPOUT, "dropout-forward", STREAM, 2, "rows cols", "dropout dropout_fwd")                                       \
    X(DROPOUT_BACKWARD, "dropout-backward", STREAM, 2, "rows cols", "dropout_bwd")                                     \
    X(ROPE, "rope", STREAM, 2, "rows cols", "rotary")                                                                  \
    X(MAXPOOL, "maxpool-forward", STREAM, 2, "rows cols", "maxpool")                                                   \
    X(MAXPOOL_BACKWARD, "maxpool-backward", STREAM, 2, "rows cols", "")                                                \
    X(SWIGLU, "swiglu-forward", STREAM, 2, "rows cols", "swiglu swiglu_fwd")                                           \
    X(SWIGLU_BACKWARD, "swiglu-backward", STREAM, 2, "rows cols", "swiglu_bwd")                                        \
    X(SOFTMAX, "softmax-forward", STREAM, 2, "rows cols", "softmax softmax_fwd")                                       \
    X(SOFTMAX_BACKWARD, "softmax-backward", STREAM, 2, "rows cols", "softmax_bwd")                                     \
    X(CROSS_ENTROPY, "cross-entropy-forward", STREAM, 2, "rows cols", "cross-entropy cross_entropy_fwd")               \
    X(CROSS_ENTROPY_BACKWARD, "cross-entropy-backward", STREAM, 2, "rows cols", "cross_entropy_bwd")                   \
    X(EMBEDDING, "embedding-forward", STREAM, 3, "rows vocab cols", "embedding embedding_fwd")                         \
    X(EMBEDDING_BACKWARD, "embedding-backward", STREAM, 3, "rows vocab cols", "embedding_bwd")                         \
    X(BATCHNORM, "batchnorm-forward", STREAM, 2, "rows cols", "batchnorm batchnorm_fwd")                               \
    X(BATCHNORM_BACKWARD, "batchnorm-backward", STREAM, 2, "rows cols", "batchnorm_bwd")                               \
    X(ADD, "add", STREAM, 2, "rows cols", "residual")                                                                  \
    X(MUL, "mul", STREAM, 2, "rows cols", "")                                                                          \
    X(BIAS_ADD, "bias-add", STREAM, 2, "rows cols", "bias")                                                            \
    X(SUM_ROWS, "sum-rows", STREAM, 2, "rows cols", "")                                                                \
    X(TRANSPOSE, "transpose", STREAM, 2, "rows cols", "")                                                              \
    X(CAST, "cast", STREAM, 2, "rows cols", "cast-fp32")                                                               \
    X(ZERO, "zero", STREAM, 1, "elements", "")                                                                         \
    X(COPY, "copy", STREAM, 1, "elements", "copy_d2d copy-d2d")                                                        \
    X(COPY_FROM_HOST, "copy-h2d", STREAM, 1, "elements", "copy_h2d h2d")                                               \
    X(COPY_TO_HOST, "copy-d2h", STREAM, 1, "elements", "copy_d2h d2h")                                                 \
    X(ADAMW, "adamw", STREAM, 1, "elements", "adamw_fused adam adamw-fused")                                           \
    X(SGD, "sgd", STREAM, 1, "elements", "sgd_fused sgd_momentum sgd-fused")

enum orr_op_kind {
#define ORR_X(symbol, name, family, count, dims, synonyms) ORR_OP_##symbol,
    ORR_OPS(ORR_X)
#undef ORR_X
        ORR_OP_KINDS
};

/* name, bytes of a value in GEMM inputs, which of a device's peaks, older names. fp8_block has a scale for each 1x128
 * block, nvfp4 one for each 16 values. */
#define ORR_OP_DTYPES(X)                                                                                               \
    X(BF16, "bf16", 2.0, BF16, "bfloat16")                                                                             \
    X(FP16, "fp16", 2.0, FP16, "float16 half")                                                                         \
    X(FP8, "fp8", 1.0, FP8, "float8 fp8_e4m3 mxfp8")                                                                   \
    X(FP8_BLOCK, "fp8_block", 1.0, FP8, "fp8-block")                                                                   \
    X(NVFP4, "nvfp4", 0.5625, FP4, "fp4 mxfp4")                                                                        \
    X(TF32, "tf32", 4.0, TF32, "")                                                                                     \
    X(FP32, "fp32", 4.0, FP32, "float32 float")

enum orr_op_dtype {
#define ORR_X(symbol, name, bytes, peak, synonyms) ORR_OP_##symbol,
    ORR_OP_DTYPES(ORR_X)
#undef ORR_X
        ORR_OP_DTYPE_COUNT
};

/* Whose kernels, and what was measured: a library's choice moves a time by tens of percent. */
#define ORR_OP_STACKS(X)                                                                                               \
    X(SERVING, "serving", "the best of TensorRT-LLM, vLLM and SGLang, kernel after kernel; quantising included")       \
    X(TORCH, "torch", "one call of PyTorch between two events: never less than what the host takes to launch it")      \
    X(KERNEL, "kernel", "the same call's time on the device alone")

enum orr_op_stack {
#define ORR_X(symbol, name, text) ORR_OP_##symbol,
    ORR_OP_STACKS(ORR_X)
#undef ORR_X
        ORR_OP_STACK_COUNT
};

enum { ORR_OP_DIMS = 6 };

struct orr_op {
    enum orr_op_kind kind;
    enum orr_op_dtype dtype;
    uint64_t dims[ORR_OP_DIMS]; /* as the kind names them; those behind are 0 */
    bool full;                  /* attention over all keys, as the kinds "full" are; else causal */
    uint64_t kv_seq;            /* attention: keys, where there are others than `seq`; 0: seq */
    uint32_t v_head_dim;        /* attention: of the values, where it differs (MLA); 0: head_dim */
    uint32_t state_bytes;       /* optimizers: bytes of parameter, gradient and states together; 0: by the dtype */
};

/* How far the answer stands from a measurement, nearest first. */
#define ORR_OP_METHODS(X)                                                                                              \
    X(MEASURED, "measured")     /* this very shape on this device */                                                   \
    X(NEIGHBOURS, "neighbours") /* between shapes measured on this device */                                           \
    X(MODEL, "model")           /* outside of what was measured on it: by the fitted model alone */                    \
    X(RELATIVE, "relative")     /* carried from measurements of a related device by what bounds it */                  \
    X(DATASHEET, "datasheet")   /* carried across architectures: by peaks and memory rate */

enum orr_op_method {
#define ORR_X(symbol, name) ORR_OP_BY_##symbol,
    ORR_OP_METHODS(ORR_X)
#undef ORR_X
};

enum orr_op_bound { ORR_OP_BOUND_LAUNCH, ORR_OP_BOUND_COMPUTE, ORR_OP_BOUND_MEMORY };

struct orr_op_prediction {
    double us;        /* as the stack measures it */
    double kernel_us; /* of it on the device */
    double launch_us; /* of it to launch, whatever the shape: under which no call of this kind goes */
    double flops, bytes;
    double spread; /* 90 % of the shapes held out when this was fitted were within this share; for the methods relative
                    * and datasheet: of the shapes of devices that were taken for never measured */
    enum orr_op_bound bound;
    enum orr_op_method method;
    enum orr_op_stack stack;       /* that answered */
    const char *device;            /* whose measurements; lives as long as the data */
    uint64_t nearest[ORR_OP_DIMS]; /* measured shape nearest to it; zeros: there is none */
};

/* ---- data -------------------------------------------------------------------------------------------------------- */

struct orr_op_data;

/* Opens what is shipped with the library and, before it, the files that `orrery op fit` or `op import` wrote: a later
 * file goes before an earlier one. Fails with ORR_EIO, ORR_EINVAL (a file that is no such data) or ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status orr_op_data_open(const char *const *files, size_t count, struct orr_op_data **data,
                                                struct orr_error *err);
/* The same as if nothing had been measured on some devices ("gb300", "b200,b300,gb200"): for judging how well they are
 * known from others. */
ORR_MUST_CHECK enum orr_status orr_op_data_open_without(const char *const *files, size_t count, const char *without,
                                                        struct orr_op_data **data, struct orr_error *err);
void orr_op_data_close(struct orr_op_data *data); /* NULL is fine */

/* By name or synonym ("h100", "h100_sxm"). ORR_EINVAL names the nearest. */
ORR_MUST_CHECK enum orr_status orr_op_device_find(const char *name, uint32_t *device, struct orr_error *err);
ORR_MUST_CHECK enum orr_status orr_op_kind_find(const char *name, enum orr_op_kind *kind, struct orr_error *err);
ORR_MUST_CHECK enum orr_status orr_op_dtype_find(const char *name, enum orr_op_dtype *dtype, struct orr_error *err);
ORR_MUST_CHECK enum orr_status orr_op_stack_find(const char *name, enum orr_op_stack *stack, struct orr_error *err);

/* Reads the dimensions of op->kind: numbers with an x between them in the order of ORR_OPS (4096x14336x4096), attention
 * also as BATCHxHEADSxSEQxHEAD_DIM, a convolution also as "B32 C256 K64 H14 W14 R3 stride1". */
ORR_MUST_CHECK enum orr_status orr_op_shape(const char *text, struct orr_op *op, struct orr_error *err);
/* Writes them so, and returns what snprintf would. */
size_t orr_op_shape_text(const struct orr_op *op, char *text, size_t room);

/* The stack that is meant where nobody says (docs/operators.md): serving for the GEMMs and attention that inference
 * stacks were measured with, torch for the rest and for h200, where PyTorch was. */
enum orr_op_stack orr_op_stack_meant(enum orr_op_kind kind, const char *device);

/* One operator asked for in words, answered as TEXT or JSON. `stack` may be NULL: as above. */
ORR_MUST_CHECK enum orr_status orr_op_tell(const struct orr_op_data *data, const char *device, const char *stack,
                                           const struct orr_op *op, enum orr_form form, FILE *stream,
                                           struct orr_error *err);

/* `device` as orr_op_device_find gave it. An operator with a dimension of 0 takes no time. Nothing fails: what was
 * never measured anywhere is answered from the data sheet, and a device, stack, kind or dtype that does not exist gets
 * numbers that are NaN and no device's name. */
void orr_op_predict(const struct orr_op_data *data, uint32_t device, enum orr_op_stack stack, const struct orr_op *op,
                    struct orr_op_prediction *prediction);

/* ---- tables ------------------------------------------------------------------------------------------------------ */

struct orr_op_table_options {
    const char *input;        /* CSV, plain or packed */
    const char *output;       /* CSV; NULL: to `stream` */
    const char *op;           /* for rows without a column `op`; or NULL */
    const char *device;       /* for rows without a column `device`; or NULL */
    const char *dtype;        /* for rows without a column `dtype`; NULL: bf16 */
    const char *stack;        /* NULL: by column `stack`, else by the table's columns and device (docs/operators.md) */
    const char *without;      /* devices taken for never measured, commas between them; or NULL */
    const char *const *files; /* of orr_op_data_open */
    size_t file_count;
    uint64_t memory_limit; /* bytes; 0 = 80 % of the machine */
};

struct orr_op_table_result {
    uint64_t rows;
    uint64_t measured;                     /* of them had a time to hold the prediction against */
    double mean, median, p90, worst, bias; /* of |predicted / measured - 1|; of predicted / measured - 1 */
    uint64_t refused;                      /* rows that could not be understood */
};

/* Adds predicted_us, kernel_us, bound_by, method, from and spread to every row, and error where the row has a time
 * (us, us_best or latency_us); by_stack, whose kernels were meant; and status: "ok", or why the row cannot be
 * understood, which leaves the others blank. Fails where no row can be. */
ORR_MUST_CHECK enum orr_status orr_op_predict_table(const struct orr_op_table_options *options, FILE *stream,
                                                    struct orr_op_table_result *result, struct orr_error *err);

/* What there is: devices with their data; or with `device`, its sets, in the text with constants and sources. */
ORR_MUST_CHECK enum orr_status orr_op_list(const struct orr_op_data *data, const char *device, enum orr_form form,
                                           FILE *stream, struct orr_error *err);

/* ---- fitting ----------------------------------------------------------------------------------------------------- */

struct orr_op_fit_options {
    const char *const *inputs; /* tables of measurements, CSV; all their devices */
    size_t input_count;
    const char *output; /* folder: a file DEVICE.ops.zst each; NULL: nothing is written */
    const char *only;   /* "device", "device:op" or "device:op:dtype": fit those alone; NULL: all */
    const char *source; /* a line for the file: where the measurements come from; NULL: the input's name */
    const char *op, *device, *dtype, *stack; /* as in a table */
    bool import;           /* `output` is one file, of all devices, and what the library has already is corrected */
    uint64_t memory_limit; /* bytes; 0 = 80 % of the machine */
};

/* Says on `stream`, which may be NULL, how well each set's rows are known from one another. */
ORR_MUST_CHECK enum orr_status orr_op_fit(const struct orr_op_fit_options *options, FILE *stream,
                                          struct orr_error *err);

struct orr_op_bench_options {
    const char *device;    /* what this machine's GPU is called here */
    const char *table;     /* CSV to write; kept */
    const char *output;    /* data file made of it, as by import; or NULL */
    const char *python;    /* the interpreter with PyTorch; NULL: python3 */
    const char *only;      /* operators, commas between them; NULL: all */
    uint32_t seconds;      /* stop after so long; 0: 600 */
    uint64_t memory_limit; /* bytes; 0 = 80 % of the machine */
};

/* Measures the operators of a training step on this machine with collect/bench_ops.py, which the library carries
 * (PyTorch with CUDA or ROCm), and imports the table. ORR_EFAIL when the program ends badly; it says why itself. */
ORR_MUST_CHECK enum orr_status orr_op_bench(const struct orr_op_bench_options *options, FILE *stream,
                                            struct orr_error *err);

struct orr_op_compare_options {
    struct orr_op_fit_options fit; /* tables; its output is not looked at */
    uint32_t folds;                /* one shape in so many is held out of the fits and asked for */
    const char *output;            /* page (Markdown) with drawings beside it; or NULL */
    const char *json, *csv;        /* files for the same as a document and as a table; "-": to `stream`, in place of the
                                    * text; or NULL */
};

/* Predicted against measured on shapes that no fit has seen, by stack, operator, device and size. */
ORR_MUST_CHECK enum orr_status orr_op_compare(const struct orr_op_compare_options *options, FILE *stream,
                                              struct orr_error *err);

ORR_END

#endif
