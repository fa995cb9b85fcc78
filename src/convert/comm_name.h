/*
 * What names say about communication: the words profilers use for a collective, the names of the libraries' kernels,
 * the names of data types. Tables and string matching only; which name to believe when several speak is for
 * pytorch/collective.h. Shared by all converters.
 */
#ifndef ORR_CONVERT_COMM_NAME_H
#define ORR_CONVERT_COMM_NAME_H

#include <stdbool.h>
#include <stdint.h>

/* Chakra's numbers for collectives (comm_type), for people's messages a name; what has no number there behind them. */
#define COMM_KINDS(X)                                                                                                  \
    X(ALL_REDUCE, "all-reduce")                                                                                        \
    X(REDUCE, "reduce")                                                                                                \
    X(ALL_GATHER, "all-gather")                                                                                        \
    X(GATHER, "gather")                                                                                                \
    X(SCATTER, "scatter")                                                                                              \
    X(BROADCAST, "broadcast")                                                                                          \
    X(ALL_TO_ALL, "all-to-all")                                                                                        \
    X(REDUCE_SCATTER, "reduce-scatter")                                                                                \
    X(REDUCE_SCATTER_BLOCK, "reduce-scatter-block")                                                                    \
    X(BARRIER, "barrier")                                                                                              \
    X(SEND, "send")                                                                                                    \
    X(RECV, "receive")                                                                                                 \
    X(UNKNOWN, "communication of unknown type") /* certainly communication: SendRecv, Generic, coalesced */            \
    X(NONE, "no communication")

enum comm_kind {
#define COMM_X(id, text) COMM_##id,
    COMM_KINDS(COMM_X)
#undef COMM_X
        COMM_KIND_COUNT
};

static inline bool comm_kind_is_collective(enum comm_kind kind)
{
    return kind <= COMM_BARRIER;
}

static inline bool comm_kind_is_rooted(enum comm_kind kind)
{
    return kind == COMM_REDUCE || kind == COMM_GATHER || kind == COMM_SCATTER || kind == COMM_BROADCAST;
}

const char *comm_kind_text(enum comm_kind kind);

/* A word that is meant to name a collective ("allreduce", "_allgather_base", "reduce_scatter_tensor_coalesced",
 * "NCCL_BCAST"): COMM_NONE for "wait", "init" and what is no such word. */
enum comm_kind comm_name_word(const char *word);

/* A host op or annotation by its whole name: only names that begin as communication's do (c10d::, _c10d_functional::,
 * nccl:, rccl:, gloo:, xccl:, mpi:, ucc:, horovod …) speak; "aten::gather" is no communication. record_param_comms is
 * COMM_UNKNOWN: it says so, but not which. */
enum comm_kind comm_name_op(const char *name);

/* A device kernel: NCCL, RCCL (ncclDevKernel_Generic…), MSCCL, oneCCL, symmetric memory, the usual custom all-reduces.
 * COMM_NONE for every other kernel. */
enum comm_kind comm_name_kernel(const char *name);

/* Bytes of one element: "Float", "float", "c10::Half", "BFloat16", "Long", "long int", "torch.int64", "f32", "Byte",
 * "Float8_e4m3fn" …; 0 when unknown. */
uint32_t comm_dtype_bytes(const char *dtype);

#endif
