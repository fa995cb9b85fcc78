/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The benchmark's inputs: the machine's three files and one trace a rank, written below a folder of the caller. The
 * latency is 500 ns in every dimension; the other values are those the comparison figures were taken with.
 */
#ifndef ORR_BENCH_INPUTS_H
#define ORR_BENCH_INPUTS_H

#include <stdbool.h>
#include <stdint.h>

enum bench_workload {
    BENCH_ALL_REDUCE, /* one all-reduce of 2^30 bytes */
    BENCH_CHAIN,      /* 36 collectives, all-gather and all-reduce in turn, compute between them */
    BENCH_MLP,        /* a six-layer perceptron, model-parallel: 6 all-gathers, 5 all-reduces, compute beside them */
    BENCH_OPERATORS,  /* profiler-like compute nodes, different on every rank: for reading only */
};

struct bench_machine {
    uint32_t ring[4];      /* sizes, dimension 0 first; 0 ends the list */
    const char *bandwidth; /* of every link, as the network file spells it: GB/s, GB = 2^30 bytes */
};

uint32_t bench_machine_ranks(const struct bench_machine *machine);

/* Writes FOLDER/{network.yml,system.json,memory.json} and FOLDER/trace.RANK.et, of `traces` ranks, 0: of all.
 * `megabytes` is the size of all traces together (BENCH_OPERATORS only). `*bytes` is what the traces take. False, with
 * errno set, when a file cannot be written. */
bool bench_write_inputs(const char *folder, const struct bench_machine *machine, uint32_t traces,
                        enum bench_workload workload, uint64_t megabytes, uint64_t *bytes);

/* Removes what bench_write_inputs wrote and the folder. */
void bench_remove_inputs(const char *folder, const struct bench_machine *machine);

#endif
