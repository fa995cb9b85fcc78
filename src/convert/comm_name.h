/* SPDX-License-Identifier: Apache-2.0 */
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

/* The collective that occurs most, as a word for file names ("allreduce"); "workload" where none does or two are level.
 * Barriers are no pattern, and reduce-scatters of both kinds are one. */
const char *comm_kind_dominant(const uint64_t counts[COMM_KIND_COUNT]);

/* A word that is meant to name a collective ("allreduce", "_allgather_base", "reduce_scatter_tensor_coalesced",
 * "NCCL_BCAST"): COMM_NONE for "wait", "init" and what is no such word. */
enum comm_kind comm_name_word(const char *word);

/* A host op or annotation by its whole name: only names that begin as communication's do (c10d::, _c10d_functional::,
 * nccl:, rccl:, gloo:, xccl:, mpi:, ucc:, horovod …) speak; "aten::gather" is no communication. record_param_comms is
 * COMM_UNKNOWN: it says so, but not which. */
enum comm_kind comm_name_op(const char *name);

/* A device kernel: NCCL, RCCL (ncclDevKernel_Generic…), MSCCL, oneCCL, and of the families those that are sized.
 * COMM_NONE for every other kernel. */
enum comm_kind comm_name_kernel(const char *name);

/* Kernels that communicate without a collective library's call around them: identifier, name for people, whether the op
 * that launches one tells its bytes. Of the others nobody does: they are simulated as long as they were recorded. */
#define COMM_FAMILIES(X)                                                                                               \
    X(LIBRARY, "collective library", false)      /* NCCL, RCCL, MSCCL, oneCCL; and all that is none */                 \
    X(SYMMETRIC, "symmetric memory", true)       /* symm_mem::one_shot_all_reduce, multimem_all_reduce_ … */         \
    X(CUSTOM, "custom all-reduce", true)         /* vLLM, SGLang, aiter: cross_device_reduce; quick reduce */          \
    X(FUSED, "fused all-reduce and norm", true)  /* TensorRT-LLM, FlashInfer, aiter */                                 \
    X(EXPERT, "expert-parallel dispatch", false) /* DeepEP, mori, pplx: dispatch, combine, notify */                   \
    X(ONE_SIDED, "one-sided (NVSHMEM, ROCSHMEM)", false)                                                               \
    X(USERBUFFERS, "userbuffers", false) /* Transformer Engine */

enum comm_family {
#define COMM_X(id, text, by_op) COMM_FAMILY_##id,
    COMM_FAMILIES(COMM_X)
#undef COMM_X
        COMM_FAMILY_COUNT
};

const char *comm_family_text(enum comm_family family);
/* Whether the op that launches such a kernel tells its bytes. */
bool comm_family_is_sized(enum comm_family family);
/* Of a kernel, by its name. */
enum comm_family comm_name_family(const char *name);

/* Bytes of one element: "Float", "float", "c10::Half", "BFloat16", "Long", "long int", "torch.int64", "f32", "Byte",
 * "Float8_e4m3fn" …; 0 when unknown. */
uint32_t comm_dtype_bytes(const char *dtype);

#endif
