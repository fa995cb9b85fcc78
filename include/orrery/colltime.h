/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a collective takes as NCCL or RCCL would do it, in closed form: the library's own choice of algorithm and
 * protocol, and the time beside what was measured on such machines (docs/collective-times.md). Included by orrery.h.
 */
#ifndef ORRERY_COLLTIME_H
#define ORRERY_COLLTIME_H

#include <stdio.h>

#include "orrery/base.h"

ORR_BEGIN

/* Bytes as nccl-tests counts them: all-gather the gathered whole, reduce-scatter the whole input, all-to-all a rank's
 * whole buffer, send-recv one message of every rank to the next. */
#define ORR_COLL_OPS(X)                                                                                                \
    X(ALL_REDUCE, "all-reduce")                                                                                        \
    X(ALL_GATHER, "all-gather")                                                                                        \
    X(REDUCE_SCATTER, "reduce-scatter")                                                                                \
    X(ALL_TO_ALL, "all-to-all")                                                                                        \
    X(SEND_RECV, "send-recv")                                                                                          \
    X(BROADCAST, "broadcast")                                                                                          \
    X(REDUCE, "reduce")

/* AUTO: as the library's tuner chooses. The order after it is that of NCCL's tables. */
#define ORR_COLL_ALGOS(X)                                                                                              \
    X(AUTO, "auto")                                                                                                    \
    X(TREE, "tree")                                                                                                    \
    X(RING, "ring")                                                                                                    \
    X(COLLNET_DIRECT, "collnet-direct")                                                                                \
    X(COLLNET_CHAIN, "collnet-chain")                                                                                  \
    X(NVLS, "nvls")                                                                                                    \
    X(NVLS_TREE, "nvls-tree")                                                                                          \
    X(PAT, "pat")                                                                                                      \
    X(P2P, "p2p")

#define ORR_COLL_PROTOS(X)                                                                                             \
    X(AUTO, "auto")                                                                                                    \
    X(LL, "ll")                                                                                                        \
    X(LL128, "ll128")                                                                                                  \
    X(SIMPLE, "simple")

/* Where a time comes from. */
#define ORR_COLL_METHODS(X)                                                                                            \
    X(MEASURED, "measured") /* between two measured sizes of this GPU, release and number of ranks */                  \
    X(RELATIVE, "relative") /* the same of its nearest relative or another release, carried over by the model */       \
    X(EXTENDED, "extended") /* other sizes or numbers of ranks than were measured, carried over by the model */        \
    X(MODEL, "model")       /* the model alone */

#define ORR_COLL_X(name, word) ORR_COLL_OP_##name,
enum orr_coll_op { ORR_COLL_OPS(ORR_COLL_X) ORR_COLL_OP_COUNT };
#undef ORR_COLL_X
#define ORR_COLL_X(name, word) ORR_COLL_ALGO_##name,
enum orr_coll_algo { ORR_COLL_ALGOS(ORR_COLL_X) ORR_COLL_ALGO_COUNT };
#undef ORR_COLL_X
#define ORR_COLL_X(name, word) ORR_COLL_PROTO_##name,
enum orr_coll_proto { ORR_COLL_PROTOS(ORR_COLL_X) ORR_COLL_PROTO_COUNT };
#undef ORR_COLL_X
#define ORR_COLL_X(name, word) ORR_COLL_METHOD_##name,
enum orr_coll_method { ORR_COLL_METHODS(ORR_COLL_X) ORR_COLL_METHOD_COUNT };
#undef ORR_COLL_X

/* "?" for what is not of the lists. */
const char *orr_coll_op_name(enum orr_coll_op op);
const char *orr_coll_algo_name(enum orr_coll_algo algo);
const char *orr_coll_proto_name(enum orr_coll_proto proto);
const char *orr_coll_method_name(enum orr_coll_method method);

/* Which machine. Texts are borrowed for the call; NULL and 0: by the machine, the GPU or the library's newest release.
 */
struct orr_coll_machine {
    const char *machine; /* a preset: "dgx-h100", "dgx-h100:2"; NULL: as `gpu` says */
    const char *gpu;     /* "h100", "NVIDIA H100 80GB HBM3", "gb200", "mi300x" */
    const char *fabric;  /* what joins the nodes: ib, roce, efa, gcp, slingshot; or words that contain one of them */
    const char *nccl;    /* release of NCCL: "2.29.2" */
    double link_gbytes;  /* GB/s of a GPU inside its node, one direction */
    double nic_gbytes;   /* GB/s of a NIC */
    uint32_t nic_every;  /* one NIC for so many GPUs */
    uint32_t node_gpus;  /* GPUs of a whole node; 0: as many as a question says */
    const char *const *measured; /* logs of nccl-tests or rccl-tests, tables: go before what is shipped */
    size_t measured_count;
};

/* What is asked: `nodes` x `gpus` ranks, so many of them in each node. */
struct orr_coll_question {
    enum orr_coll_op op;
    uint64_t bytes;
    uint32_t nodes, gpus;
    uint32_t groups; /* groups of a node that communicate at once and share its NICs; 0: 1 */
    enum orr_coll_algo algo;
    enum orr_coll_proto proto;
    uint32_t channels; /* 0: the tuner's */
};

struct orr_coll_point {
    const char *source; /* NULL: none; valid while the timer is */
    uint64_t bytes;
    double us;
};

struct orr_coll_answer {
    double us;
    double algbw_gbytes, busbw_gbytes; /* GB/s, as nccl-tests defines them */
    enum orr_coll_algo algo; /* whose time it is: the model's where that speaks alone, else the tuner's choice */
    enum orr_coll_proto proto;
    uint32_t channels;
    enum orr_coll_method method;
    double model_us;                  /* of the model alone */
    double tuner_us;                  /* what the library itself reckons with */
    struct orr_coll_point nearest[2]; /* measured on this GPU and number of ranks, below and above; or no source */
};

struct orr_coll_timer;

/* ORR_EINVAL names what is not known and the nearest that is. The caller closes what it gets. */
ORR_MUST_CHECK enum orr_status orr_coll_timer_open(const struct orr_coll_machine *machine,
                                                   struct orr_coll_timer **timer, struct orr_error *err);
void orr_coll_timer_close(struct orr_coll_timer *timer); /* NULL is fine */

/* About three microseconds, allocates nothing, may be called from many threads at once. ORR_EINVAL: an algorithm or
 * protocol that cannot do it there; ORR_ERANGE: no ranks, or more than 2^24. */
ORR_MUST_CHECK enum orr_status orr_coll_time(const struct orr_coll_timer *timer,
                                             const struct orr_coll_question *question, struct orr_coll_answer *answer,
                                             struct orr_error *err);

/* Experts of a mixture on all ranks: what DeepEP's kernels take to send `tokens` of a rank to `topk` experts each
 * (dispatch) and to bring what these made of them back (combine). The low-latency ones are those of decoding, fitted on
 * measurements; the normal ones, of training and prefill, move the bytes at the rate that DeepEP tells. */
#define ORR_COLL_EXPERT_KERNELS(X)                                                                                     \
    X(LOW_LATENCY, "low-latency")                                                                                      \
    X(NORMAL, "normal")
#define ORR_COLL_X(name, word) ORR_COLL_EXPERTS_##name,
enum orr_coll_expert_kernel { ORR_COLL_EXPERT_KERNELS(ORR_COLL_X) ORR_COLL_EXPERTS_COUNT };
#undef ORR_COLL_X
struct orr_coll_experts {
    const char *gpu;
    uint32_t nodes;  /* of 8 ranks; 4 on GB200 and GB300 */
    uint64_t tokens; /* of one rank */
    uint32_t topk, hidden;
    enum orr_coll_expert_kernel kernel;
};

struct orr_coll_experts_time {
    double dispatch_us, combine_us;
    const char *gpu;                      /* whose measurements they are */
    uint32_t rows;                        /* fitted on, and their mean error; 0: none, the normal kernels */
    double dispatch_error, combine_error; /* as a share */
};

/* ORR_EINVAL: a GPU of which none are known; ORR_ERANGE: nothing to send. */
ORR_MUST_CHECK enum orr_status orr_coll_experts_time(const struct orr_coll_experts *experts,
                                                     struct orr_coll_experts_time *time, struct orr_error *err);

/* A range of sizes, doubling, as a table: time, bus bandwidth, algorithm, protocol, and the measured points beside it.
 */
struct orr_coll_sweep {
    struct orr_coll_machine machine;
    struct orr_coll_question question; /* nodes and gpus 0: as the machine's name says, else 1 and a whole node */
    uint64_t last_bytes;               /* 0: `question.bytes` alone */
    bool json;
};
ORR_MUST_CHECK enum orr_status orr_coll_sweep(const struct orr_coll_sweep *sweep, FILE *stream, struct orr_error *err);

/* Every row of a table (docs/collective-times.md) with predicted_us, algorithm, protocol, method and status behind it;
 * what `machine` and `forced` say goes before the row. `stream` (or NULL): what the errors are where rows have times;
 * without `output` the table itself.
 */
struct orr_coll_table {
    const char *path, *output;
    struct orr_coll_machine machine;
    enum orr_coll_algo algo;
    enum orr_coll_proto proto;
    uint64_t memory_limit;
};
ORR_MUST_CHECK enum orr_status orr_coll_table(const struct orr_coll_table *table, FILE *stream, struct orr_error *err);

/* Predicted against measured for every machine of the tables; `page` and `picture` (or NULL) are written as Markdown
 * and SVG; page "-": in place of the text. Series whose own curve is shipped are also predicted without it. */
struct orr_coll_compare {
    const char *const *paths;
    size_t count;
    const char *page, *picture;
    const char *json, *csv; /* the same as a document and as a table; "-": to `stream`, in place of the text; or NULL */
    double worst; /* 0: any; ORR_EFAIL, with all written, where a machine whose curves are shipped is further off */
    uint64_t memory_limit;
};
ORR_MUST_CHECK enum orr_status orr_coll_compare(const struct orr_coll_compare *compare, FILE *stream,
                                                struct orr_error *err);

/* Makes gpus.csv, fabrics.csv and curves.csv in `folder` from the tables (presets/collectives/README.md). `ship`: the
 * sources whose curves may be written, a comma between two, "name*" for all that begin so. ORR_EFAIL, with the files
 * written, where a fit is worse than `worst` (0: any) as the mean error of its own rows. */
struct orr_coll_fit {
    const char *const *paths;
    size_t count;
    const char *folder, *ship;
    double worst;
    uint64_t memory_limit;
};
ORR_MUST_CHECK enum orr_status orr_coll_fit(const struct orr_coll_fit *fit, FILE *stream, struct orr_error *err);

ORR_END

#endif
