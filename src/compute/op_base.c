/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GEMM is tiles dealt to units in waves; the kernel is the one that a library would choose: the best of a few tile
 * shapes and of a few cuts along k. How sharp the steps between waves are is itself fitted, since libraries have more
 * shapes than these. Attention is blocks of 128 or 64 queries over all keys before them. All else is bytes. Times add
 * up smoothly between the compute and the memory bound: the two overlap, but never wholly.
 */
#include "compute/op_base.h"

#include <math.h>

enum {
    G_LAUNCH,
    G_PEAK,
    G_MEMORY,
    G_NORM,
    G_T128,
    G_T64,
    G_T64X64,
    G_EPILOGUE,
    G_SPLIT,
    G_WAVES,
    G_REQUANT,
    G_CACHE,
    G_CACHE_SHARE
};
enum { A_LAUNCH, A_PEAK, A_MEMORY, A_NORM, A_D64, A_D192, A_D256, A_D512, A_KEYS, A_WAVES, A_SMALL };
enum { S_LAUNCH, S_MEMORY, S_CACHE, S_CACHE_SHARE };
enum { C_EXTRA, C_SCALE, C_NORM, C_FLOOR };

const struct op_family_row op_families[OP_FAMILIES] = {
    [OP_FAMILY_GEMM] = {"gemm",
                        13,
                        {
                            {"launch", 2.5, 0.05, 400, "us that every call takes"},
                            {"peak", 0.8, 0.02, 1.5, "share of the data sheet's peak that a full unit reaches"},
                            {"memory", 0.8, 0.02, 4, "share of the data sheet's memory rate"},
                            {"norm", 3, 1, 10, "how sharply the larger of compute and memory wins"},
                            {"tile_128x128", 0.85, 0, 1.2, "rate of a 128x128 tile against that of 256x128"},
                            {"tile_128x64", 0.7, 0, 1.2, "of 128x64"},
                            {"tile_64x64", 0.5, 0, 1.2, "of 64x64"},
                            {"epilogue", 0.5, 0, 50, "us to write a tile of 256x128"},
                            {"split", 1, 0, 50, "us that cutting k and adding up costs"},
                            {"waves", 0.7, 0, 1, "how much of an unfilled last wave is waited for"},
                            {"requantise", 4, 0, 40, "bytes moved for each value of the left side to make it narrow"},
                            {"cache", 0.5, 0, 1, "time of a byte from the shared cache against one from memory"},
                            {"cache_share", 1, 0.1, 4, "how much of the cache such a call has"},
                        }},
    [OP_FAMILY_ATTENTION] = {"attention",
                             11,
                             {
                                 {"launch", 8, 0.05, 400, "us that every call takes"},
                                 {"peak", 0.6, 0.02, 1.5, "share of the data sheet's peak with heads of 128"},
                                 {"memory", 0.8, 0.02, 4, "share of the data sheet's memory rate"},
                                 {"norm", 3, 1, 10, "how sharply the larger of compute and memory wins"},
                                 {"head_64", 0.85, 0, 1.3, "rate with heads of 64 against that with 128"},
                                 {"head_192", 0.9, 0, 1.3, "of 192"},
                                 {"head_256", 0.9, 0, 1.3, "of 256"},
                                 {"head_512", 0.7, 0, 1.3, "of 512"},
                                 {"keys", 0.1, 0, 50, "us for each 128 keys of the longest row"},
                                 {"waves", 0.7, 0, 1, "how much of an unfilled last wave is waited for"},
                                 {"small", 0.9, 0, 4, "rate of blocks of 64 queries against 128"},
                             }},
    [OP_FAMILY_STREAM] = {"stream",
                          4,
                          {
                              {"launch", 3, 0, 400, "us that every kernel takes"},
                              {"memory", 0.8, 0.001, 4, "share of the data sheet's memory rate"},
                              {"cache", 0.5, 0, 1, "time of a byte from the shared cache against one from memory"},
                              {"cache_share", 1, 0.1, 4, "how much of the cache such a call has"},
                          }},
    [OP_FAMILY_CALL] = {"call",
                        4,
                        {
                            {"extra", 8, 0, 400, "us between the events beside the kernel"},
                            {"scale", 1, 0.5, 2, "time of a lone kernel against one of many in a row"},
                            {"norm", 4, 1, 20, "how sharply the larger of kernel and floor wins"},
                            {"floor", 25, 0, 900, "us that the host takes to launch the call"},
                        }},
};

/* (a^p + b^p)^(1/p), without overflow. */
static double compute_op_base_larger(double a, double b, double p)
{
    double most = a > b ? a : b;
    double least = a > b ? b : a;
    if (least <= 0 || most <= 0) {
        return most;
    }
    return most * pow(1 + pow(least / most, p), 1 / p);
}

static double memory_time(double bytes, const struct op_machine *machine, double rate, double cache, double share)
{
    double filled = bytes / (share * machine->l2);
    double hit = 1 / (1 + filled * filled);
    return bytes / (machine->memory * rate) * (1 - hit + hit * cache);
}

static double waves_of(double tiles, double units, double sharp)
{
    double filled = tiles / units;
    double smooth = filled > 1 ? filled : 1;
    return sharp * ceil(filled) + (1 - sharp) * smooth;
}

/* Of an array of multipliers the share that a side of `width` values fills. */
static double filled_share(double width, const struct op_machine *machine)
{
    return machine->matrix > 0 ? width / (ceil(width / machine->matrix) * machine->matrix) : 1;
}

/* The time of `count` products by the best of a few tilings. */
static double tiled_time(double count, double m, double n, double k, const struct op_machine *machine, const double *c)
{
    static const double sides[][2] = {{256, 128}, {128, 256}, {128, 128}, {128, 64}, {64, 128}, {64, 64}};
    const double rates[] = {1, 1, c[G_T128], c[G_T64], c[G_T64], c[G_T64X64]};
    double unit = machine->units / (machine->flops * c[G_PEAK] * filled_share(n, machine) * filled_share(k, machine));
    double best = INFINITY;
    for (int t = 0; t < 6; t++) {
        double area = sides[t][0] * sides[t][1];
        double tiles = count * ceil(m / sides[t][0]) * ceil(n / sides[t][1]);
        double rate = unit / rates[t];
        for (double cuts = 1; cuts <= 8; cuts *= 2) {
            if (cuts > 1 && (tiles * cuts > 2 * machine->units || k / cuts < 128)) {
                break;
            }
            double depth = ceil(k / cuts / 64) * 64;
            double one = depth * area * 2 * rate + c[G_EPILOGUE] * machine->slower * area / 32768;
            double all = waves_of(tiles * cuts, machine->units, c[G_WAVES]) * one + (cuts > 1 ? c[G_SPLIT] : 0);
            best = all < best ? all : best;
        }
    }
    return best;
}

static struct op_base finish(double launch, double compute, double memory, double extra, double norm)
{
    double work = compute_op_base_larger(compute, memory, norm) + extra;
    enum orr_op_bound bound = compute > memory ? ORR_OP_BOUND_COMPUTE : ORR_OP_BOUND_MEMORY;
    return (struct op_base){launch + work, launch, launch > work ? ORR_OP_BOUND_LAUNCH : bound};
}

double op_call_of(double kernel_us, const double constants[OP_CONSTANTS])
{
    return compute_op_base_larger(constants[C_FLOOR], constants[C_EXTRA] + constants[C_SCALE] * kernel_us,
                                  constants[C_NORM]);
}

static struct op_base gemm_base(const struct orr_op *op, const struct op_machine *machine, const double *c)
{
    double at[OP_AXES] = {0};
    bool is_conv = op->kind == ORR_OP_CONV2D || op->kind == ORR_OP_CONV2D_BACKWARD;
    bool is_many = op->kind == ORR_OP_BATCHED_GEMM || op->kind == ORR_OP_GROUPED_GEMM;
    const uint64_t *d = op->dims;
    double count = is_many ? (double)d[0] : 1;
    double m = (double)d[is_many], n = (double)d[is_many + 1], k = (double)d[is_many + 2];
    if (is_conv) {
        (void)op_coordinates(op, at);
        m = exp2(at[0]);
        n = exp2(at[1]);
        k = exp2(at[2]);
    }
    double compute = tiled_time(count, m, n, k, machine, c);
    if (op->kind == ORR_OP_CONV2D_BACKWARD) {
        compute += tiled_time(count, n, k, m, machine, c);
    }
    double memory = memory_time(op_work_of(op).bytes, machine, c[G_MEMORY], c[G_CACHE], c[G_CACHE_SHARE]);
    bool is_narrow = op->dtype == ORR_OP_FP8 || op->dtype == ORR_OP_FP8_BLOCK || op->dtype == ORR_OP_NVFP4;
    double extra = is_narrow ? count * m * k * c[G_REQUANT] / machine->memory : 0;
    return finish(c[G_LAUNCH], compute, memory, extra, c[G_NORM]);
}

static struct op_base attention_base(const struct orr_op *op, const struct op_machine *machine, const double *c)
{
    double batch_heads = (double)op->dims[0] * (double)op->dims[2];
    double seq = (double)op->dims[1];
    double keys = op->kv_seq > 0 ? (double)op->kv_seq : seq;
    double dim = (double)op->dims[4];
    bool is_full = op->full || op->kind == ORR_OP_ATTENTION_FULL || op->kind == ORR_OP_ATTENTION_FULL_BACKWARD;
    struct op_work work = op_work_of(op);
    double head = dim <= 64 ? c[A_D64] : dim <= 128 ? 1 : dim <= 192 ? c[A_D192] : dim <= 256 ? c[A_D256] : c[A_D512];
    double unit = machine->flops * c[A_PEAK] / machine->units * head * filled_share(dim, machine);
    double best = INFINITY;
    for (double side = 128; side >= 64; side /= 2) {
        double blocks = batch_heads * ceil(seq / side);
        double each = work.flops * (is_full ? 1 : 1 + side / seq) / blocks; /* causal: the diagonal is done whole */
        double longest = work.flops / (batch_heads * seq * keys * (is_full ? 1 : 0.5)) * keys * side;
        double all = waves_of(blocks, machine->units, c[A_WAVES]) * each;
        all = (all > longest ? all : longest) / (unit * (side < 128 ? c[A_SMALL] : 1));
        best = all < best ? all : best;
    }
    double memory = work.bytes / (machine->memory * c[A_MEMORY]);
    return finish(c[A_LAUNCH], best, memory, c[A_KEYS] * ceil(keys / 128) * 0.1, c[A_NORM]);
}

static struct op_base stream_base(const struct orr_op *op, const struct op_machine *machine, const double *c)
{
    double memory = memory_time(op_work_of(op).bytes, machine, c[S_MEMORY], c[S_CACHE], c[S_CACHE_SHARE]);
    return finish(c[S_LAUNCH], 0, memory, 0, 1);
}

struct op_base op_base_of(const struct orr_op *op, const struct op_machine *machine,
                          const double constants[OP_CONSTANTS])
{
    switch (op_family_of(op->kind)) {
    case OP_FAMILY_GEMM:
        return gemm_base(op, machine, constants);
    case OP_FAMILY_ATTENTION:
        return attention_base(op, machine, constants);
    default:
        return stream_base(op, machine, constants);
    }
}
