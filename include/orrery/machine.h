/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines as they are wired, collectives as NCCL builds them, and the sums one does before a job.
 * Included by orrery.h.
 */
#ifndef ORRERY_MACHINE_H
#define ORRERY_MACHINE_H

#include "orrery/base.h"

ORR_BEGIN

/* ---- machines as they are wired ------------------------------------------------------------------------------- */

/* What can be set of a generated machine: name, value, meaning. Which of them a machine takes, and what they are where
 * nothing is said, orr_topo_list tells. Lists name one value a level or dimension, from the GPUs up; the last one holds
 * for the rest. */
#define ORR_TOPO_SETTINGS(X)                                                                                           \
    X(HOSTS, "hosts", "N", "GPUs")                                                                                     \
    X(NODES, "nodes", "N", "Servers or racks")                                                                         \
    X(DIMS, "dims", "AxBxC", "GPUs along each dimension; the first varies fastest")                                    \
    X(TWIST, "twist", "D:E:S",                                                                                         \
      "The link that closes dimension D also moves S along dimension E; a comma between more")                         \
    X(DIRECT, "direct", NULL, "GPUs are joined without a switch each; on packet networks only neighbours then talk")   \
    X(LEVELS, "levels", "N", "Levels of switches")                                                                     \
    X(ARITY, "arity", "K", "Ports of a switch")                                                                        \
    X(LEAVES, "leaves", "N", "Switches of the first level")                                                            \
    X(PER_LEAF, "per-leaf", "N", "GPUs (NICs) on one switch of the first level")                                       \
    X(SPINES, "spines", "N", "Switches of the second level")                                                           \
    X(LEAVES_PER_SPINE, "leaves-per-spine", "N", "Ports of a switch of the second level")                              \
    X(OVERSUBSCRIPTION, "oversubscription", "R:1", "Bandwidth below the first level over that above it")               \
    X(GROUPS, "router-groups", "N", "Groups of routers")                                                               \
    X(ROUTERS, "routers", "N", "Routers in a group")                                                                   \
    X(PER_ROUTER, "per-router", "N", "GPUs on a router")                                                               \
    X(GLOBAL_LINKS, "global-links", "N", "Links of a router to other groups")                                          \
    X(GPUS_PER_NODE, "gpus-per-node", "N", "GPUs in a server")                                                         \
    X(NVSWITCHES, "nvswitches", "N", "NVSwitch nodes in a server")                                                     \
    X(GPU_TYPE, "gpu-type", "NAME", "What SimAI's form of the file says the GPUs are")                                 \
    X(BANDWIDTH, "bandwidth", "RATE,...", "Of the network's links: 400Gbps, 50GB/s; bare: Gbps")                       \
    X(LATENCY, "latency", "TIME,...", "Of the network's links: 500ns, 1us; bare: us")                                  \
    X(SPINE_BANDWIDTH, "spine-bandwidth", "RATE", "Of links between switches")                                         \
    X(HOST_BANDWIDTH, "host-bandwidth", "RATE", "Of a GPU's link to its own switch")                                   \
    X(HOST_LATENCY, "host-latency", "TIME", "Of a GPU's link to its own switch")                                       \
    X(NVLINK_BANDWIDTH, "nvlink-bandwidth", "RATE", "Of links in a server, one direction: NVLink, xGMI, PCIe")         \
    X(NVLINK_LATENCY, "nvlink-latency", "TIME", "Of links in a server")                                                \
    X(LOSS, "loss", "SHARE", "Of packets lost on every link, 0 to 1")                                                  \
    X(RAIL_OPTIMIZED, "rail-optimized", NULL, "GPU k of every server is on the k-th switch of its segment")            \
    X(DUAL_TOR, "dual-tor", NULL, "Two NIC ports a GPU, each on a switch of its own")                                  \
    X(DUAL_PLANE, "dual-plane", NULL, "The two switches of dual-tor have spines of their own")

/* ---- machines by name: orr_run_options.machine (docs/machines.md) ---- */

/* All names, one a line, with what each is. */
ORR_MUST_CHECK enum orr_status orr_machine_list(enum orr_form form, FILE *stream, struct orr_error *err);
/* Whether `name` is the path of a file, and neither a name nor a line. */
bool orr_machine_is_file(const char *name);
/* What a name or line means: source, device, dimensions, wires; as TEXT or JSON. `ranks`: of a machine that leaves it
 * open; 0: few. */
ORR_MUST_CHECK enum orr_status orr_machine_show(const char *name, uint32_t ranks, enum orr_form form, FILE *stream,
                                                struct orr_error *err);

/* How many ranks it has: `asked`, which must be those it says; 0: those it says, of one that leaves it open few. */
ORR_MUST_CHECK enum orr_status orr_machine_ranks(const char *name, uint32_t asked, uint32_t *ranks,
                                                 struct orr_error *err);

/* ---- wired machines ---- */

struct orr_topo_setting {
    const char *name;  /* of ORR_TOPO_SETTINGS */
    const char *value; /* "" for one that takes none */
};

/* A wired machine: hosts (the GPUs), switches, links. */
struct orr_topo;

/* `what` is a machine's name (orr_topo_list) or a line such as "dgx-h100:16 > rail:400Gbps > spine:8"
 * (docs/topologies.md). A setting the machine does not take is an error. `notices` may be NULL. */
ORR_MUST_CHECK enum orr_status orr_topo_make(const char *what, const struct orr_topo_setting *settings, size_t count,
                                             const struct orr_notices *notices, struct orr_topo **topo,
                                             struct orr_error *err);
/* Reads a physical topology file of either form, or makes the machine of a name or line as orr_machine_show knows it.
 */
ORR_MUST_CHECK enum orr_status orr_topo_open(const char *machine, const struct orr_notices *notices,
                                             struct orr_topo **topo, struct orr_error *err);
void orr_topo_close(struct orr_topo *topo); /* NULL is fine */

/* The machines that can be made by name, with what each of them takes; `name` NULL: a line each. */
ORR_MUST_CHECK enum orr_status orr_topo_list(const char *name, FILE *stream, struct orr_error *err);

struct orr_topo_counts {
    uint32_t hosts, nvswitches, switches, links;
    uint32_t leaves, spines, segments; /* of SimAI's templates; else 0 */
};
void orr_topo_count(const struct orr_topo *topo, struct orr_topo_counts *counts);
/* The file name that SimAI's generator gives one of its templates; "" for all other machines. */
const char *orr_topo_name(const struct orr_topo *topo);

/* The two forms of a physical topology file; DEFAULT: SimAI's for its own templates, else ASTRA-sim's. */
enum orr_topo_form { ORR_TOPO_DEFAULT, ORR_TOPO_ASTRA, ORR_TOPO_SIMAI };

struct orr_topo_write_options {
    enum orr_topo_form form;
    bool both_directions; /* each link a second time, the other way round, as some generators have it */
    const char *logical;  /* also the logical topology, JSON; NULL: no */
    FILE *stream;         /* where to write it when `path` is NULL */
};
/* Only of a machine that was made: ORR_EINVAL for one that was read. */
ORR_MUST_CHECK enum orr_status orr_topo_write(const struct orr_topo *topo, const char *path,
                                              const struct orr_topo_write_options *options, struct orr_error *err);

/* Counts, degrees, distances, ways, bisection; how each is computed is in docs/topologies.md. */
ORR_MUST_CHECK enum orr_status orr_topo_stat(struct orr_topo *topo, bool json, FILE *stream, struct orr_error *err);
/* One line a finding, naming lines of the file and nodes; stores how many there were. */
ORR_MUST_CHECK enum orr_status orr_topo_check(const char *path, FILE *stream, uint64_t *findings,
                                              struct orr_error *err);
/* A picture (SVG) to `path`, whose ending says so if it has one, or where it is NULL a text, level by level, to
 * `stream`. `dims` ("4x4x8", or NULL) says the dimensions of a grid that cannot be told from its links. */
ORR_MUST_CHECK enum orr_status orr_topo_show(struct orr_topo *topo, const char *dims, const char *path, FILE *stream,
                                             struct orr_error *err);

/* ---- collectives as NCCL builds them ----------------------------------------------------------------------------- */

struct orr_coll_pair {
    uint32_t src, dst; /* ranks */
};

/* Which collective of which group to lay out. Strings are borrowed. Start from orr_coll_options_init. */
struct orr_coll_options {
    uint32_t gpus, gpus_per_server, switches_per_server; /* NVLink switches */
    uint32_t tp, ep;      /* tp 0: all of them for the group tp, else 1; dp = gpus / tp */
    const char *gpu_type; /* A100, A800, H100, H800, H20, H200, B200, GB200 */
    const char *group;    /* tp, dp, ep or dp-ep: that of `rank` */
    uint32_t rank;
    const char *type;                  /* all-reduce, ...; NULL: that, or send-recv with pairs */
    uint64_t bytes;                    /* of the whole buffer; of each pair */
    uint32_t root;                     /* rank; UINT32_MAX: the group's first */
    const struct orr_coll_pair *pairs; /* sends and receives instead of a collective */
    size_t pair_count;
    const char *algo;     /* auto, ring, tree, nvls or nvls-tree */
    uint32_t channels;    /* 0: by rule */
    uint64_t chunk_bytes; /* 0: by rule */
    bool nvls, pxn;
    bool compat;     /* as SimAI 1.6, with its holes */
    bool dump;       /* all groups, channels and flows, a line each, instead of a table and a drawing */
    const char *svg; /* also a picture; or NULL */
    uint64_t memory_limit;
};
void orr_coll_options_init(struct orr_coll_options *options); /* the defaults */

ORR_MUST_CHECK enum orr_status orr_coll_show(const struct orr_coll_options *options, FILE *stream,
                                             struct orr_error *err);

/* ---- calculators ------------------------------------------------------------------------------------------------ */

/* Degrees of parallelism; 0: not given. Of world and dp one may be missing, the others are then 1. */
struct orr_calc_degrees {
    uint64_t world; /* ranks */
    uint64_t tp, cp, ep, dp, pp;
    uint64_t experts; /* of a layer */
};

/* Where expert parallelism lies: inside data parallelism (world = dp x pp x cp x tp, as Megatron-LM and AICB have it),
 * or as a level of its own (world = dp x pp x ep x cp x tp). */
enum orr_calc_nesting { ORR_CALC_FOLDED, ORR_CALC_OWN };

/* The groups of one kind: `degree` ranks each, rank r, r + stride, r + 2 stride …; `block`: how many neighbouring ranks
 * a group and all inside it take up. */
struct orr_calc_level {
    const char *name; /* "TP", "CP", "EP", "DP_EP", "DP", "PP" */
    uint64_t degree, stride, block, groups;
};

struct orr_calc_groups {
    struct orr_calc_degrees degrees; /* all settled */
    struct orr_calc_level levels[6];
    uint32_t level_count;
};

/* ORR_EINVAL names the rule that does not divide and the nearest values that do. */
ORR_MUST_CHECK enum orr_status orr_calc_groups(const struct orr_calc_degrees *degrees, enum orr_calc_nesting nesting,
                                               struct orr_calc_groups *groups, struct orr_error *err);

/* batch = dp x micro_batches x micro_batch. Of the last three one may be 0, which is then found; dp 0 is 1. */
struct orr_calc_batch {
    uint64_t dp, batch, micro_batch, micro_batches;
    uint64_t dataset;            /* samples; 0: not given */
    uint64_t batches, left_over; /* found: whole batches in the dataset, and samples behind them */
};
ORR_MUST_CHECK enum orr_status orr_calc_batch(const struct orr_calc_batch *given, struct orr_calc_batch *whole,
                                              struct orr_error *err);

/* What a rank of one pipeline stage sends the next for one micro-batch. */
struct orr_calc_pp_comm {
    uint64_t micro_batch, seq, hidden;
    uint64_t tp;          /* 0: 1 */
    uint64_t value_bytes; /* 0: 2 */
    bool sequence_parallel;
};
ORR_MUST_CHECK enum orr_status orr_calc_pp_comm(const struct orr_calc_pp_comm *given, uint64_t *bytes,
                                                struct orr_error *err);

ORR_END

#endif
