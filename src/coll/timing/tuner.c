/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What NCCL and RCCL choose. The library reckons a time for every algorithm and protocol, latency plus bytes over
 * bandwidth, from constants that its releases publish (presets/collectives/nccl-tuning.csv), and takes the least. The
 * arithmetic here is that rule; its bandwidths are what the search of rings and trees finds on machines of this kind:
 * the links of a GPU at the rate NCCL ascribes to one, or a node's NICs where these are narrower.
 *
 * The times are the tuner's own, good for choosing and often far from what is measured.
 */
#include <math.h>

#include "coll/timing/timing.h"

enum { HW_NVLINK, HW_PCI, HW_NET };

/* Place of an algorithm in NCCL's tables. */
static unsigned place(enum orr_coll_algo algo)
{
    return (unsigned)algo - ORR_COLL_ALGO_TREE;
}

static double table_at(const struct timing_machine *machine, enum timing_tuning_table table, uint32_t index,
                       double missing)
{
    const float *values = machine->tuning.tables[table].values;
    return values != NULL && index < machine->tuning.tables[table].count ? (double)values[index] : missing;
}

/* Row of the tables that go by GPU: Volta, Ampere, Hopper, Blackwell. */
static uint32_t generation(const struct timing_gpu *gpu)
{
    return gpu->sm >= 100 ? 3 : gpu->sm >= 90 ? 2 : gpu->sm >= 80 ? 1 : 0;
}

static uint32_t tuner_scale(const struct timing_shape *shape)
{
    return shape->nodes <= 2 ? shape->nodes - 1 : 2;
}

static double generation_at(const struct timing_machine *machine, const struct timing_shape *shape,
                            enum timing_tuning_table table)
{
    uint32_t row = generation(machine->gpu);
    uint32_t count = machine->tuning.tables[table].count;
    if (count > 0 && (row + 1) * 3 > count) {
        row = count / 3 - 1;
    }
    return table_at(machine, table, row * 3 + tuner_scale(shape), INFINITY);
}

/* GB/s that the search finds inside a node: what NCCL ascribes to one NVLink times their number. */
static double graph_inside(const struct timing_machine *machine)
{
    const struct timing_gpu *gpu = machine->gpu;
    if (gpu->link != TIMING_LINK_NVLINK) {
        return gpu->link == TIMING_LINK_PCIE ? machine->link_gbytes * 0.75 : machine->link_gbytes * 0.7;
    }
    double each = gpu->sm >= 100 ? 40.1 : gpu->sm >= 90 ? (machine->tuning.version >= 22003 ? 20.6 : 20.0) : 20.0;
    return each * gpu->links * machine->link_gbytes / gpu->link_gbytes;
}

/* Between two nodes a tree sends the buffer once each way, so that its links inside may be twice as fast as its NICs.
 */
static double graph_gbytes(const struct timing_machine *machine, const struct timing_shape *shape,
                           enum orr_coll_algo algo)
{
    double inside = shape->gpus > 1 ? graph_inside(machine) : INFINITY;
    bool is_tree = algo == ORR_COLL_ALGO_TREE || algo == ORR_COLL_ALGO_NVLS_TREE;
    double between = shape->net_gbytes * (shape->nodes == 2 && is_tree ? 2 : 1);
    return shape->nodes > 1 ? fmin(inside, between * 0.97) : inside;
}

uint32_t timing_tuner_channels(const struct timing_machine *machine, const struct timing_shape *shape,
                               enum orr_coll_algo algo)
{
    const struct timing_gpu *gpu = machine->gpu;
    if (gpu->is_rccl) {
        return shape->nodes > 1 ? 64 : 56;
    }
    if (gpu->link == TIMING_LINK_PCIE) {
        return 4;
    }
    if (algo == ORR_COLL_ALGO_NVLS || algo == ORR_COLL_ALGO_NVLS_TREE) {
        return gpu->sm >= 100 ? 24 : 16;
    }
    return gpu->sm >= 100 ? 32 : gpu->sm >= 80 ? 24 : 12;
}

static double tuner_bandwidth(const struct timing_machine *machine, const struct timing_shape *shape,
                              enum orr_coll_algo algo, unsigned proto)
{
    double channels = timing_tuner_channels(machine, shape, algo);
    double bus = graph_gbytes(machine, shape, algo);
    bool reduces_all = shape->op == ORR_COLL_OP_ALL_REDUCE;
    if (machine->gpu->is_rccl) {
        bus *= table_at(machine, TIMING_TABLE_RATIO, (shape->nodes > 1 ? 18 : 0) + place(algo) * 3 + proto, 1);
    } else if (algo == ORR_COLL_ALGO_RING && proto != TIMING_SIMPLE) {
        uint32_t row = shape->nodes == 1 ? generation(machine->gpu) : 0; /* over nodes by the CPU: not an AMD one */
        bus = proto == TIMING_LL
                  ? fmin(table_at(machine, TIMING_TABLE_LL_MOST, row * 3 + tuner_scale(shape), INFINITY), bus * 0.5)
                  : fmin(bus * 0.92, channels * generation_at(machine, shape, TIMING_TABLE_RING_LL128));
    } else if (algo == ORR_COLL_ALGO_TREE) {
        bus = reduces_all ? fmin(bus * 0.92, channels * generation_at(machine, shape, TIMING_TABLE_TREE)) : bus;
        if (proto == TIMING_LL) {
            bus = fmin(bus / 3.8, table_at(machine, TIMING_TABLE_LL_MOST, tuner_scale(shape), INFINITY));
        } else if (proto == TIMING_LL128) {
            double share = shape->nodes == 1 ? 7.0 / 9.0 : 120.0 / 128.0;
            bus = fmin(bus * share, channels * generation_at(machine, shape, TIMING_TABLE_TREE_LL128));
        }
    } else if (algo == ORR_COLL_ALGO_NVLS || algo == ORR_COLL_ALGO_NVLS_TREE) {
        bus *= table_at(machine, TIMING_TABLE_NVLS_SHARE, generation(machine->gpu), 0.85);
        if (algo == ORR_COLL_ALGO_NVLS_TREE) { /* the cap of a channel is that of the tree; of one node it is 0 */
            bus = fmin(bus, channels * generation_at(machine, shape, TIMING_TABLE_NVLS_TREE));
        }
    }
    if (algo == ORR_COLL_ALGO_RING) {
        double steps = reduces_all ? 2.0 * (shape->ranks - 1) : shape->ranks - 1;
        return bus * shape->ranks / steps;
    }
    if (algo == ORR_COLL_ALGO_TREE) {
        return bus * 0.5;
    }
    if (algo == ORR_COLL_ALGO_NVLS && !reduces_all) {
        return bus;
    }
    return bus * (algo == ORR_COLL_ALGO_PAT ? 0.75 : 5.0 / 6.0);
}

static double hardware(const struct timing_machine *machine, unsigned hw, enum orr_coll_algo algo, unsigned proto)
{
    uint32_t algos = machine->tuning.tables[TIMING_TABLE_HARDWARE].count / 9;
    return table_at(machine, TIMING_TABLE_HARDWARE, (hw * algos + place(algo)) * 3 + proto, 4);
}

static double latency(const struct timing_machine *machine, const struct timing_shape *shape, enum orr_coll_algo algo,
                      unsigned proto)
{
    unsigned hw = machine->gpu->link == TIMING_LINK_PCIE ? HW_PCI : HW_NVLINK;
    double base = table_at(machine, TIMING_TABLE_BASE, place(algo) * 3 + proto, 8);
    double inside = hardware(machine, hw, algo, proto);
    double between = hardware(machine, HW_NET, shape->gpus == 1 ? ORR_COLL_ALGO_TREE : algo, proto);
    double nodes = shape->nodes;
    double level = nodes > 1 ? floor(log2(nodes)) : 0;
    switch (algo) {
    case ORR_COLL_ALGO_RING: {
        double turns = shape->op == ORR_COLL_OP_ALL_REDUCE ? 2 : 1;
        double crossings = nodes > 1 ? (turns > 1 ? 2 * nodes : nodes - 1) : 0;
        double overhead = nodes > 1 ? (proto == TIMING_SIMPLE ? 3 : 1) : 0;
        return base + (turns * (shape->ranks - 1) - crossings) * fmax(inside, overhead) + crossings * between;
    }
    case ORR_COLL_ALGO_TREE:
        return base + 2 * ((shape->gpus - 1) * inside + level * between);
    case ORR_COLL_ALGO_NVLS:
        return inside + (nodes > 1 ? between : 0);
    case ORR_COLL_ALGO_NVLS_TREE:
        return base + inside + 2 * level * between;
    default:
        return base + ceil(log2(shape->ranks)) * (nodes > 1 ? between : inside);
    }
}

static bool is_known(const struct timing_machine *machine, const struct timing_shape *shape, enum orr_coll_algo algo,
                     unsigned proto)
{
    const struct timing_gpu *gpu = machine->gpu;
    bool reduces_all = shape->op == ORR_COLL_OP_ALL_REDUCE;
    bool shares = shape->op == ORR_COLL_OP_ALL_GATHER || shape->op == ORR_COLL_OP_REDUCE_SCATTER;
    bool nvls = gpu->nvls_share > 0 && proto == TIMING_SIMPLE && shape->gpus > 2;
    if (proto == TIMING_LL128 &&
        (gpu->link == TIMING_LINK_PCIE || machine->tuning.tables[TIMING_TABLE_RING_LL128].count == 0)) {
        return false;
    }
    switch (algo) {
    case ORR_COLL_ALGO_RING:
        return reduces_all || shares || shape->op == ORR_COLL_OP_BROADCAST || shape->op == ORR_COLL_OP_REDUCE;
    case ORR_COLL_ALGO_TREE:
        return reduces_all && (shape->nodes > 1 || !(gpu->sm >= 90 && proto == TIMING_SIMPLE));
    case ORR_COLL_ALGO_NVLS:
        return nvls && shape->nodes == 1 && reduces_all;
    case ORR_COLL_ALGO_NVLS_TREE:
        return nvls && shape->nodes > 1 && reduces_all;
    case ORR_COLL_ALGO_COLLNET_DIRECT:
    case ORR_COLL_ALGO_COLLNET_CHAIN:
        return reduces_all && shape->nodes > 1 && proto == TIMING_SIMPLE && !gpu->is_rccl;
    case ORR_COLL_ALGO_PAT:
        return shares && shape->gpus == 1 && proto == TIMING_SIMPLE && machine->tuning.version >= 22304 &&
               !gpu->is_rccl;
    default:
        return false;
    }
}

static double timing_tuner_us(const struct timing_machine *machine, const struct timing_shape *shape,
                              enum orr_coll_algo algo, enum orr_coll_proto proto)
{
    unsigned p = (unsigned)proto - ORR_COLL_PROTO_LL;
    if (!is_known(machine, shape, algo, p)) {
        return INFINITY;
    }
    double bus = tuner_bandwidth(machine, shape, algo, p);
    double wait = latency(machine, shape, algo, p);
    double size = log2(fmax(shape->bytes, 64) / 64);
    bool has_correction = algo == ORR_COLL_ALGO_TREE || (algo == ORR_COLL_ALGO_RING && machine->gpu->is_rccl);
    enum timing_tuning_table table =
        algo == ORR_COLL_ALGO_TREE ? TIMING_TABLE_TREE_CORRECTION : TIMING_TABLE_RING_CORRECTION;
    uint32_t columns = machine->tuning.tables[table].count / 3;
    if (has_correction && size < columns && (machine->gpu->is_rccl || shape->op == ORR_COLL_OP_ALL_REDUCE)) {
        bus *= table_at(machine, table, p * columns + (uint32_t)size, 1);
    }
    /* A ring of several nodes has its full latency only once every channel has a piece of each rank to send. */
    if (algo == ORR_COLL_ALGO_RING && p == TIMING_SIMPLE && shape->nodes > 1 && shape->op == ORR_COLL_OP_ALL_REDUCE &&
        shape->bytes / (timing_tuner_channels(machine, shape, algo) * (double)shape->ranks) >= 64) {
        wait *= machine->gpu->sm < 80 ? 1.9 : 1.4;
    }
    return bus > 0 ? wait + shape->bytes * 1e-3 / bus : INFINITY;
}

/* Sends and receives have no choice of algorithm; which protocol is the model's word. */
static double choose_p2p(const struct timing_machine *machine, const struct timing_shape *shape,
                         enum orr_coll_algo *algo, enum orr_coll_proto *proto)
{
    if (*algo != ORR_COLL_ALGO_AUTO && *algo != ORR_COLL_ALGO_P2P) {
        return INFINITY;
    }
    return timing_model_best(machine, shape, algo, proto);
}

double timing_tuner_choose(const struct timing_machine *machine, const struct timing_shape *shape,
                           enum orr_coll_algo *algo, enum orr_coll_proto *proto)
{
    if (shape->op == ORR_COLL_OP_ALL_TO_ALL || shape->op == ORR_COLL_OP_SEND_RECV) {
        return choose_p2p(machine, shape, algo, proto);
    }
    double best = INFINITY;
    enum orr_coll_algo only = *algo;
    enum orr_coll_proto over = *proto;
    for (int a = ORR_COLL_ALGO_TREE; a < ORR_COLL_ALGO_P2P; a++) {
        for (int p = ORR_COLL_PROTO_LL; p < ORR_COLL_PROTO_COUNT; p++) {
            bool asks = a == ORR_COLL_ALGO_COLLNET_DIRECT || a == ORR_COLL_ALGO_COLLNET_CHAIN; /* for such switches */
            if ((only != ORR_COLL_ALGO_AUTO && (int)only != a) || (over != ORR_COLL_PROTO_AUTO && (int)over != p) ||
                (asks && only == ORR_COLL_ALGO_AUTO)) {
                continue;
            }
            double us = timing_tuner_us(machine, shape, (enum orr_coll_algo)a, (enum orr_coll_proto)p);
            if (us < best) {
                best = us;
                *algo = (enum orr_coll_algo)a;
                *proto = (enum orr_coll_proto)p;
            }
        }
    }
    return best;
}

struct timing_message timing_message_cost(bool is_tree, unsigned proto)
{
    static const double bytes[TIMING_PROTOS] = {2, 128.0 / 120.0,
                                                1}; /* LL: a flag for each four bytes; LL128: of 16 one */
    struct timing_machine machine = {.gpu = timing_gpu_find("h100")};
    enum orr_coll_algo algo = is_tree ? ORR_COLL_ALGO_TREE : ORR_COLL_ALGO_RING;
    timing_tuning_find(machine.gpu, 0, &machine.tuning);
    return (struct timing_message){.start_us = table_at(&machine, TIMING_TABLE_BASE, place(algo) * 3 + proto, 0),
                                   .inside_us = hardware(&machine, HW_NVLINK, algo, proto),
                                   .between_us = hardware(&machine, HW_NET, algo, proto),
                                   .bytes = bytes[proto]};
}
