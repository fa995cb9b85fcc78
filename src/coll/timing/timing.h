/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a collective costs as NCCL or RCCL carries it out, in closed form. Two questions, kept apart: the tuner
 * (tuner.c) says what the library would choose, from the constants its releases publish; the model (model.c) says how
 * long that takes, from a handful of constants a GPU and a network have; what was measured (curves.c) corrects the
 * model where there is a measurement near. estimate.c puts the three together.
 *
 * All rows are constants of the program, made from presets/collectives/; a fit works on copies of them. Nothing here
 * allocates, reads a file or knows a network that is simulated.
 */
#ifndef ORR_COLL_TIMING_TIMING_H
#define ORR_COLL_TIMING_TIMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "orrery/colltime.h"

enum { TIMING_LL, TIMING_LL128, TIMING_SIMPLE, TIMING_PROTOS };

/* TORUS: chips that are their own switches, two links an axis; the library is their maker's and has no tuner here. */
enum timing_link { TIMING_LINK_NVLINK, TIMING_LINK_PCIE, TIMING_LINK_XGMI, TIMING_LINK_TORUS };

/* presets/collectives/gpus.csv says what each field is. */
struct timing_gpu {
    const char *name, *words, *like, *source, *held;
    bool is_rccl;
    uint32_t sm;
    enum timing_link link;
    uint32_t links, domain, nic_every;
    double link_gbytes, nic_gbytes;
    double nic_reach; /* of its own NICs that a GPU finds beside it where its neighbours do not take part */
    double base_us[TIMING_PROTOS], step_us[TIMING_PROTOS], share[TIMING_PROTOS];
    double nvls_us, nvls_share;
    double p2p_us, p2p_share;
    double crowd; /* power of the pairs of GPUs by which the rate of each falls where they share a host's bridges */
};

/* presets/collectives/fabrics.csv says what each field is. */
struct timing_fabric {
    const char *name, *words, *gpus, *like, *source, *held;
    uint32_t node_gpus, nic_every;
    double slower, nic_gbytes;
    double start_us[TIMING_PROTOS], start_nvls_us; /* least from launch to the first byte between nodes */
    double hop_us[TIMING_PROTOS], share[TIMING_PROTOS];
    double tree_share[TIMING_PROTOS];
    double p2p_start_us, p2p_share[2], peer_us[2]; /* LL, Simple */
    double small_bytes, small_peer_us;
    double ll_channels; /* of a tree with LL for each NIC; 0: its bytes alone count */
    double p2p_fade;    /* power of the pairs of nodes by which an all-to-all's share falls */
};

/* One curve: microseconds at powers of two, `count` of them from 2^first. */
struct timing_curve {
    const char *source, *gpu;
    uint32_t version; /* 22902 is 2.29.2; 0: not told */
    uint32_t nodes, gpus;
    uint32_t op; /* enum orr_coll_op */
    uint32_t first, count;
    uint32_t values; /* place of the first */
    uint32_t row;    /* of the GPU, and of the network; a user's own: of none that there is */
    uint32_t fabric;
};

/* Curves and the values they point into; a user's own go before the shipped ones. */
struct timing_curves {
    const struct timing_curve *curves;
    size_t count;
    const float *values;
    const uint32_t *kinds; /* the first of each operation on one node and on more, one past the last; NULL: any order */
};

#define TIMING_TUNING_TABLES(X)                                                                                        \
    X(BASE)                                                                                                            \
    X(HARDWARE)                                                                                                        \
    X(LL_MOST)                                                                                                         \
    X(RING_LL128)                                                                                                      \
    X(TREE_LL128)                                                                                                      \
    X(TREE)                                                                                                            \
    X(NVLS_TREE)                                                                                                       \
    X(TREE_CORRECTION)                                                                                                 \
    X(NVLS_SHARE)                                                                                                      \
    X(RATIO)                                                                                                           \
    X(RING_CORRECTION)
#define TIMING_X(name) TIMING_TABLE_##name,
enum timing_tuning_table { TIMING_TUNING_TABLES(TIMING_X) TIMING_TABLES };
#undef TIMING_X

struct timing_tuning_row {
    uint32_t table;   /* enum timing_tuning_table */
    uint32_t version; /* NCCL: the first that has it; RCCL: its model, 255: all */
    uint32_t count, values;
};

/* The tables of one release. */
struct timing_tuning {
    struct {
        const float *values; /* NULL: the release has none */
        uint32_t count;
    } tables[TIMING_TABLES];
    uint32_t version;
};

enum { TIMING_RELATIVES = 4 };

/* A settled machine; the rows are borrowed. */
struct timing_machine {
    const struct timing_gpu *gpu;
    const struct timing_fabric *fabric;
    double link_gbytes, nic_gbytes;
    uint32_t nic_every; /* one NIC for so many GPUs */
    uint32_t node_gpus; /* of a whole node; 0: as many as a question says */
    uint32_t version;   /* as asked for; 0: not told */
    struct timing_tuning tuning;
    struct timing_curves own, shipped;
    const struct timing_gpu *relatives[TIMING_RELATIVES]; /* whose curves speak for it, nearest first; itself is one */
    uint32_t relative_count;
    const struct timing_curve *left_out; /* shipped curves of its source, GPU and release are not looked at; or NULL */
};

/* The rows; NULL where there is none. `words` of fabrics are looked for inside `text`, of those that are of nodes of
 * `node_gpus` (0: any) and of `gpu` (NULL: any) the first; a GPU's name is whole, but for the maker's and what stands
 * behind it. */
const struct timing_gpu *timing_gpu_find(const char *text);
const struct timing_gpu *timing_gpu_at(size_t index);
const struct timing_fabric *timing_fabric_find(const char *text, uint32_t node_gpus, const struct timing_gpu *gpu);
const struct timing_fabric *timing_fabric_at(size_t index);
struct timing_curves timing_curves_shipped(void);

/* One of DeepEP's low-latency kernels on so many nodes: presets/collectives/experts.csv. */
struct timing_expert {
    uint32_t row; /* of the GPU */
    uint32_t nodes;
    bool combines;
    uint32_t rows; /* fitted on */
    double base_us, us_per_mb, us_per_thousand, error;
};
const struct timing_expert *timing_expert_at(size_t index); /* NULL past the last */

/* What DeepEP's normal kernels reach of a link's rate, dispatch and combine: presets/collectives/experts-normal.csv. */
struct timing_expert_rate {
    uint32_t sm, nodes;
    double shares[2];
};
const struct timing_expert_rate *timing_expert_rate_at(size_t index); /* NULL past the last; nodes of one sm ascend */

/* "2.29.2" as 22902, false where it is no release; an empty text is 0. */
bool timing_version_parse(const char *text, uint32_t *version);

/* Fills what is 0 from the rows, and the tuner's tables of `version`. */
void timing_machine_settle(struct timing_machine *machine);
void timing_tuning_find(const struct timing_gpu *gpu, uint32_t version, struct timing_tuning *tuning);

/* What is communicated, with the ranks in NVLink domains instead of nodes. */
struct timing_shape {
    enum orr_coll_op op;
    double bytes;
    uint32_t nodes, gpus, ranks;
    uint32_t hosts;      /* that the GPUs of a domain lie in */
    double net_gbytes;   /* of a node's NICs for this group */
    double nic_gbytes;   /* of one flow through them */
    double alone_gbytes; /* of a node's NICs were it alone */
};
void timing_shape_of(const struct timing_machine *machine, const struct orr_coll_question *question,
                     struct timing_shape *shape);

/* How `count` ranks in ascending order (NULL: 0, 1, …) lie in servers of `each`: nodes, GPUs in the fullest, and how
 * many such groups share its NICs, as those of a training step do. */
void timing_place_ranks(const uint32_t *ranks, uint32_t count, uint32_t each, struct orr_coll_question *question);
/* The same for `members` of `all` ranks of which no more is known: all of whole servers, or some of the only server.
 * False: where they lie cannot be told. */
bool timing_place_whole(uint32_t members, uint32_t all, uint32_t each, struct orr_coll_question *question);
/* What a trace's collective (enum coll_type) of `members` asks for: operation and bytes. An all-gather's are one rank's
 * in traces, the whole here. */
void timing_ask(int type, uint64_t bytes, uint32_t members, struct orr_coll_question *question);
/* Nanoseconds of a question that has been checked. */
uint64_t timing_ns(const struct timing_machine *machine, const struct orr_coll_question *question);

/* What one message costs beside the wires, by the constants of NCCL's newest tuner: from launch to the first, each step
 * inside a server and between two, and bytes on the wire for one of data. */
struct timing_message {
    double start_us, inside_us, between_us, bytes;
};
struct timing_message timing_message_cost(bool is_tree, unsigned proto);

uint32_t timing_tuner_channels(const struct timing_machine *machine, const struct timing_shape *shape,
                               enum orr_coll_algo algo);
/* The best by the tuner of those that `algo` and `proto` leave; its own time, infinite where there is none. */
double timing_tuner_choose(const struct timing_machine *machine, const struct timing_shape *shape,
                           enum orr_coll_algo *algo, enum orr_coll_proto *proto);

/* The time of one way; infinite where it cannot be. */
double timing_model_us(const struct timing_machine *machine, const struct timing_shape *shape, enum orr_coll_algo algo,
                       enum orr_coll_proto proto);
/* The fastest way by the model of those that `algo` and `proto` leave. */
double timing_model_best(const struct timing_machine *machine, const struct timing_shape *shape,
                         enum orr_coll_algo *algo, enum orr_coll_proto *proto);

ORR_MUST_CHECK enum orr_status timing_estimate(const struct timing_machine *machine,
                                               const struct orr_coll_question *question, struct orr_coll_answer *answer,
                                               struct orr_error *err);

#endif
