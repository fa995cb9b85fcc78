/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of a collective, one formula a way of doing it: from launch to the first byte, the steps of its longest
 * chain (those inside a node and those over the network), and the bytes over the narrowest place. Which bytes cross
 * where follows from the algorithm: a ring carries (n-1)/n of the buffer over every link once (an all-reduce twice), a
 * double binary tree carries it up and down, which between two nodes is once each way and among more twice.
 *
 * NVLink and network overlap, so the narrower of the two decides, with a little of the other where they are near: the
 * eighth power of both.
 */
#include <math.h>

#include "coll/timing/timing.h"

static double both(double a, double b)
{
    double large = a > b ? a : b;
    double small = a > b ? b : a;
    if (!(small > 0)) {
        return large; /* as always inside one node */
    }
    double share = small / large;
    double fourth = share * share * share * share;
    return large * sqrt(sqrt(sqrt(1 + fourth * fourth)));
}

/* Steps and bytes together. Between nodes Simple's large pieces are on their way while the next are made ready, so that
 * the longer of the two decides, with a little of the other where they are near: the third power of both. */
static double overlapped(unsigned proto, uint32_t nodes, double latency, double transfer)
{
    if (proto != TIMING_SIMPLE || nodes == 1) {
        return latency + transfer;
    }
    return cbrt(latency * latency * latency + transfer * transfer * transfer);
}

static double levels(uint32_t nodes)
{
    return nodes > 1 ? log2((double)nodes) : 0;
}

struct way {
    const struct timing_machine *machine;
    const struct timing_shape *shape;
    unsigned proto; /* TIMING_LL … */
};

static bool is_torus(const struct way *way)
{
    return way->machine->gpu->link == TIMING_LINK_TORUS;
}

/* How many axes of a torus a group of this size spans, four ranks on each at least: it has the links of these alone. */
static double torus_axes(const struct way *way)
{
    double all = way->machine->gpu->links / 2.0;
    return fmin(fmax(round(log2((double)way->shape->gpus) / 2), 1), all);
}

/* Steps to the farthest of them, both ways round each axis. */
static double torus_steps(const struct way *way)
{
    double axes = torus_axes(way);
    return axes * pow(way->shape->gpus, 1 / axes) / 2;
}

/* GB/s of a GPU's links that a group has: through a host's bridges the fewer the more GPUs share them. */
static double links_gbytes(const struct way *way)
{
    const struct timing_gpu *gpu = way->machine->gpu;
    double all = way->machine->link_gbytes;
    if (gpu->crowd > 0 && way->shape->gpus > 2) {
        return all * pow(way->shape->gpus / 2.0, -gpu->crowd);
    }
    return is_torus(way) ? all * 2 * torus_axes(way) / gpu->links : all;
}

/* Microseconds for a byte through a GPU's links, and through a node's NICs. */
static double link_cost(const struct way *way)
{
    return 1e-3 / (links_gbytes(way) * way->machine->gpu->share[way->proto]);
}

static double net_cost(const struct way *way)
{
    return way->shape->nodes > 1 ? 1e-3 / (way->shape->net_gbytes * way->machine->fabric->share[way->proto]) : 0;
}

/* From launch to the first byte: between nodes the network's own threads have to wake as well, which takes as long
 * whatever the GPU. */
static double start_us(const struct way *way)
{
    double base = way->machine->gpu->base_us[way->proto];
    return way->shape->nodes > 1 ? fmax(base, way->machine->fabric->start_us[way->proto]) : base;
}

/* `turns` of a ring: 2 of an all-reduce, else 1. */
static double ring_us(const struct way *way, double turns)
{
    const struct timing_shape *shape = way->shape;
    const struct timing_gpu *gpu = way->machine->gpu;
    double ranks = shape->ranks;
    double crossings = shape->nodes > 1 ? shape->nodes : 0;
    double steps = is_torus(way) ? torus_steps(way) : fmax(ranks - 1 - crossings, 0);
    double latency = steps * gpu->step_us[way->proto] + crossings * way->machine->fabric->hop_us[way->proto];
    double inside = shape->gpus > 1 ? link_cost(way) : 0;
    double bytes = turns * shape->bytes * (ranks - 1) / ranks;
    return start_us(way) + overlapped(way->proto, shape->nodes, turns * latency, bytes * both(inside, net_cost(way)));
}

/* What one channel of LL sends before the next is opened: 512 threads of eight bytes. */
static const double ll_filled = 4096;

/* The bytes whose time a tree takes. With LL the first channel fills up, then further ones are opened side by side, for
 * which the time stays, and only once all are in use it grows again. */
static double tree_bytes(const struct way *way)
{
    double bytes = way->shape->bytes;
    double channels = way->machine->fabric->ll_channels * way->shape->net_gbytes / way->machine->nic_gbytes;
    bool fills = way->proto == TIMING_LL && way->shape->nodes > 1 && channels > 1;
    return fills ? fmax(bytes, fmin(bytes, ll_filled) * channels) : bytes;
}

/* Microseconds for a byte of a tree through a node's NICs; of what LL and LL128 send, flags are a half and a sixteenth.
 */
static double tree_cost(const struct way *way)
{
    static const double most[TIMING_PROTOS] = {0.5, 120.0 / 128.0, 1};
    const struct timing_fabric *fabric = way->machine->fabric;
    double share = fmin(fabric->share[way->proto] * fabric->tree_share[way->proto], most[way->proto]);
    return way->shape->nodes > 1 ? 1e-3 / (way->shape->net_gbytes * share) : 0;
}

/* A chain in each host, a binary tree over the hosts of a domain and one over the nodes, up and down. */
static double tree_us(const struct way *way)
{
    const struct timing_shape *shape = way->shape;
    const struct timing_gpu *gpu = way->machine->gpu;
    double chain = (double)shape->gpus / shape->hosts - 1 + levels(shape->hosts);
    double latency =
        2 * chain * gpu->step_us[way->proto] + 2.0 * levels(shape->nodes) * way->machine->fabric->hop_us[way->proto];
    /* Up and down through each GPU of a chain but its ends, which lie elsewhere in every channel. */
    double inside = shape->gpus > 1 ? 2 * (1 - 1.0 / shape->gpus) * shape->bytes * link_cost(way) : 0;
    double between = (shape->nodes == 2 ? 1 : 2) * tree_bytes(way) * tree_cost(way);
    return start_us(way) + overlapped(way->proto, shape->nodes, latency, both(inside, between));
}

/* Between nodes the switch waits for the network's chunks: oci's 2 x 8 H100 reach this share of one node's rate. */
static const double nvls_between = 0.92;

/* The switch reduces, each GPU's part in its turn; over the nodes a tree where there are several. */
static double nvls_us(const struct way *way)
{
    const struct timing_shape *shape = way->shape;
    const struct timing_gpu *gpu = way->machine->gpu;
    if (!(gpu->nvls_share > 0) || shape->gpus < 2) {
        return INFINITY;
    }
    double share = gpu->nvls_share * (shape->nodes > 1 ? nvls_between : 1);
    double inside = shape->bytes * 1e-3 / (way->machine->link_gbytes * share);
    double between = (shape->nodes == 2 ? 1 : 2) * shape->bytes * net_cost(way);
    double start = gpu->base_us[TIMING_LL] + gpu->nvls_us * shape->gpus;
    if (shape->nodes > 1) {
        start = fmax(start, way->machine->fabric->start_nvls_us);
    }
    double latency = 2 * levels(shape->nodes) * way->machine->fabric->hop_us[way->proto];
    return start + latency + both(inside, between);
}

/* The network's switches reduce (SHARP): each node sends the buffer up and takes the result, its GPUs side by side
 * through their NICs or in a chain. Nothing was measured; the steps are Simple's to the switch and back. */
static double collnet_us(const struct way *way, bool is_chain)
{
    const struct timing_shape *shape = way->shape;
    double steps = 2.0 * (is_chain ? shape->gpus - 1 : shape->gpus > 1);
    double latency = steps * way->machine->gpu->step_us[way->proto] + 2 * way->machine->fabric->hop_us[way->proto];
    double inside = shape->gpus > 1 ? 2 * (1 - 1.0 / shape->gpus) * shape->bytes * link_cost(way) : 0;
    return start_us(way) + overlapped(way->proto, shape->nodes, latency, both(inside, shape->bytes * net_cost(way)));
}

/* One GPU a node: as many rounds as a binary tree has levels. */
static double pat_us(const struct way *way)
{
    const struct timing_shape *shape = way->shape;
    if (shape->gpus != 1) {
        return INFINITY;
    }
    return start_us(way) + levels(shape->nodes) * way->machine->fabric->hop_us[way->proto] +
           shape->bytes * (shape->nodes - 1) / shape->nodes * net_cost(way);
}

/* Beyond so many pairs of nodes an all-to-all meets no more others on its ways than before. */
enum { FADE_MOST = 32 };

/* Every rank sends to every other, those of other nodes one after the other through its NIC. */
static double all_to_all_us(const struct way *way)
{
    const struct timing_shape *shape = way->shape;
    const struct timing_gpu *gpu = way->machine->gpu;
    const struct timing_fabric *fabric = way->machine->fabric;
    double remote = shape->ranks - shape->gpus;
    double peer = shape->bytes / shape->ranks;
    unsigned kind = way->proto == TIMING_LL ? 0 : 1;
    double each = fabric->peer_us[kind];
    if (fabric->small_bytes > 0 && peer < fabric->small_bytes) {
        each = fabric->small_peer_us;
    }
    double hops = is_torus(way) ? fmax(torus_steps(way) / 2, 1) : 1; /* over which a byte goes in the mean */
    double inside = hops * peer * (shape->gpus - 1) * 1e-3 / (links_gbytes(way) * gpu->p2p_share);
    double pairs = fmin(shape->nodes / 2.0, FADE_MOST);
    double share = fabric->p2p_share[kind] * (pairs > 1 ? pow(pairs, -fabric->p2p_fade) : 1);
    double between = remote > 0 ? peer * remote * shape->gpus * 1e-3 / (shape->net_gbytes * share) : 0;
    double start = remote > 0 ? fmax(gpu->base_us[TIMING_LL], fabric->p2p_start_us) : gpu->base_us[TIMING_LL];
    return start + (shape->gpus - 1) * gpu->p2p_us + remote * each + both(inside, between);
}

/* To the next rank: the last of a node crosses to the next node, through one NIC. */
static double send_us(const struct way *way)
{
    const struct timing_shape *shape = way->shape;
    const struct timing_fabric *fabric = way->machine->fabric;
    bool crosses = shape->nodes > 1;
    double link = way->machine->link_gbytes / (is_torus(way) ? way->machine->gpu->links : 1);
    double inside = shape->gpus > 1 ? 1 / (link * way->machine->gpu->p2p_share) : 0;
    double between = crosses ? 1 / (shape->nic_gbytes * fabric->p2p_share[1]) : 0;
    return way->machine->gpu->base_us[way->proto] +
           (crosses ? way->machine->fabric->hop_us[way->proto] : way->machine->gpu->step_us[way->proto]) +
           shape->bytes * 1e-3 * both(inside, between);
}

/* From one to all or back, in pipeline along a ring. */
static double chain_us(const struct way *way)
{
    const struct timing_shape *shape = way->shape;
    double crossings = shape->nodes > 1 ? shape->nodes - 1 : 0;
    double latency = (shape->ranks - 1 - crossings) * way->machine->gpu->step_us[way->proto] +
                     crossings * way->machine->fabric->hop_us[way->proto];
    double inside = shape->gpus > 1 ? link_cost(way) : 0;
    return start_us(way) + latency + shape->bytes * both(inside, net_cost(way));
}

double timing_model_us(const struct timing_machine *machine, const struct timing_shape *shape, enum orr_coll_algo algo,
                       enum orr_coll_proto proto)
{
    struct way way = {machine, shape, (unsigned)proto - ORR_COLL_PROTO_LL};
    bool reduces_all = shape->op == ORR_COLL_OP_ALL_REDUCE;
    bool shares = shape->op == ORR_COLL_OP_ALL_GATHER || shape->op == ORR_COLL_OP_REDUCE_SCATTER;
    bool is_simple = proto == ORR_COLL_PROTO_SIMPLE;
    bool is_chain = algo == ORR_COLL_ALGO_RING || algo == ORR_COLL_ALGO_P2P;
    if (is_torus(&way) && !(is_simple && is_chain)) {
        return INFINITY;
    }
    switch (algo) {
    case ORR_COLL_ALGO_RING:
        if (shape->op == ORR_COLL_OP_BROADCAST || shape->op == ORR_COLL_OP_REDUCE) {
            return chain_us(&way);
        }
        return reduces_all ? ring_us(&way, 2) : shares ? ring_us(&way, 1) : INFINITY;
    case ORR_COLL_ALGO_TREE:
        return reduces_all ? tree_us(&way) : INFINITY;
    case ORR_COLL_ALGO_NVLS:
        return reduces_all && is_simple && shape->nodes == 1 ? nvls_us(&way) : INFINITY;
    case ORR_COLL_ALGO_NVLS_TREE:
        return reduces_all && is_simple && shape->nodes > 1 ? nvls_us(&way) : INFINITY;
    case ORR_COLL_ALGO_PAT:
        return shares && is_simple ? pat_us(&way) : INFINITY;
    case ORR_COLL_ALGO_COLLNET_DIRECT:
    case ORR_COLL_ALGO_COLLNET_CHAIN:
        return reduces_all && is_simple && shape->nodes > 1 ? collnet_us(&way, algo == ORR_COLL_ALGO_COLLNET_CHAIN)
                                                            : INFINITY;
    case ORR_COLL_ALGO_P2P:
        if (proto == ORR_COLL_PROTO_LL128) {
            return INFINITY;
        }
        return shape->op == ORR_COLL_OP_ALL_TO_ALL  ? all_to_all_us(&way)
               : shape->op == ORR_COLL_OP_SEND_RECV ? send_us(&way)
                                                    : INFINITY;
    default:
        return INFINITY;
    }
}

/* Which algorithms there are for an operation, a bit each. */
static unsigned algos_of(enum orr_coll_op op)
{
    switch (op) {
    case ORR_COLL_OP_ALL_REDUCE:
        return 1u << ORR_COLL_ALGO_TREE | 1u << ORR_COLL_ALGO_RING | 1u << ORR_COLL_ALGO_NVLS |
               1u << ORR_COLL_ALGO_NVLS_TREE;
    case ORR_COLL_OP_ALL_GATHER:
    case ORR_COLL_OP_REDUCE_SCATTER:
        return 1u << ORR_COLL_ALGO_RING | 1u << ORR_COLL_ALGO_PAT;
    case ORR_COLL_OP_ALL_TO_ALL:
    case ORR_COLL_OP_SEND_RECV:
        return 1u << ORR_COLL_ALGO_P2P;
    default:
        return 1u << ORR_COLL_ALGO_RING;
    }
}

/* Between racks of one NVLink domain each, large all-reduces go by rings: 20 x 72 GB200 take what 1440 steps take. */
static bool model_takes(const struct timing_machine *machine, const struct timing_shape *shape, int algo, int proto)
{
    bool is_tree = algo == ORR_COLL_ALGO_TREE || algo == ORR_COLL_ALGO_NVLS_TREE;
    return machine->gpu->domain <= 16 || shape->nodes == 1 || !is_tree || proto != ORR_COLL_PROTO_SIMPLE;
}

double timing_model_best(const struct timing_machine *machine, const struct timing_shape *shape,
                         enum orr_coll_algo *algo, enum orr_coll_proto *proto)
{
    double best = INFINITY;
    enum orr_coll_algo only = *algo;
    enum orr_coll_proto over = *proto;
    unsigned algos = algos_of(shape->op);
    for (int a = ORR_COLL_ALGO_TREE; a < ORR_COLL_ALGO_COUNT; a++) {
        for (int p = ORR_COLL_PROTO_LL; p < ORR_COLL_PROTO_COUNT && (algos >> a & 1u) != 0; p++) {
            if ((only != ORR_COLL_ALGO_AUTO && (int)only != a) || (over != ORR_COLL_PROTO_AUTO && (int)over != p) ||
                (only == ORR_COLL_ALGO_AUTO && !model_takes(machine, shape, a, p))) {
                continue;
            }
            double us = timing_model_us(machine, shape, (enum orr_coll_algo)a, (enum orr_coll_proto)p);
            if (us < best) {
                best = us;
                *algo = (enum orr_coll_algo)a;
                *proto = (enum orr_coll_proto)p;
            }
        }
    }
    return best;
}
