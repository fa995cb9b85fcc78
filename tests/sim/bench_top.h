/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine and what runs on it, put together on the bench: no files, no configuration formats. A test says which
 * machine, which nodes on which ranks, turns the knobs it is about in `config`, and runs.
 *
 * Nodes are kept as plain descriptions and become trace graphs at the first run, through the reader that files go
 * through too; ranks with the same nodes share a graph. Everything belongs to the bench until bench_close, which also
 * checks that all memory has come back.
 */
#ifndef ORR_TESTS_SIM_BENCH_TOP_H
#define ORR_TESTS_SIM_BENCH_TOP_H

#include "sim/sim.h"
#include "tests/check.h"

enum { EVERY_RANK = UINT32_MAX, NODE_MOST_PARENTS = 4 };

/* A node as a test writes it down; zero means not given. */
struct work_node {
    uint32_t rank; /* or EVERY_RANK */
    uint64_t id;
    enum trace_node_type type;
    uint64_t duration_us;
    int32_t comm_type;
    uint64_t bytes; /* comm_size, or tensor_size of memory nodes */
    uint32_t peer;  /* of a send or receive */
    int32_t tag;
    int32_t group;    /* pg_name */
    const char *dims; /* involved_dim as a text of 0s and 1s */
    uint32_t root;    /* rank */
    bool has_root;
    bool cpu;
    uint64_t ops;            /* num_ops; `bytes` is then the tensor_size */
    const char *cycles_name; /* the attribute that tells `cycles` */
    uint64_t cycles;
    int64_t thread; /* tid, or stream where the node is not the CPU's; 0: neither */
    int64_t part;   /* lane */
    uint64_t parents[NODE_MOST_PARENTS];
    uint32_t parent_count;
};

/* The traces of all ranks, or of a custom collective. */
struct work {
    struct mem mem;
    struct work_node *nodes;
    uint32_t count, capacity;
    struct trace_set set; /* filled at the first run */
};

enum { BENCH_MOST_GROUPS = 16 };

struct bench {
    struct sim_config config;
    struct work work;
    struct work custom; /* the all-reduce, once bench_use_custom is called */
    struct sim_group groups[BENCH_MOST_GROUPS];
    struct mem mem; /* the simulation's; a limit may be set */
    struct notes notes;
    struct sim *sim; /* of the last run */
    const struct sim_result *result;
    struct orr_error err;
};

/*
 * A machine such as "ring:8" or "ring:2 switch:4 full:3", dimension 0 first; 50 GB/s and 500 ns everywhere. Every
 * collective by the algorithm that suits the dimension (ring, direct for full, halving-doubling for switch);
 * localBWAware, LIFO, 1 chunk, 1 active, endpoint 10 ns, memory 50 GB/s: the setting of spec analytical §18.
 */
void bench_open(struct bench *bench, const char *machine);
void bench_close(struct bench *bench);

/* All four collectives by this algorithm, in every dimension; an all-to-all by ring where it cannot do one. */
void bench_use_algorithm(struct bench *bench, enum coll_algo algo, uint32_t window);
void bench_add_group(struct bench *bench, int32_t id, uint32_t count, const uint32_t *ranks); /* borrows ranks */
/* All-reduces play the traces of `custom`, one for each of `files` positions. */
void bench_use_custom(struct bench *bench, uint32_t files);

/* Nodes of a rank (or of every rank). The description can be completed until the first run, the pointer used until the
 * next node is added. */
struct work_node *work_compute(struct work *work, uint32_t rank, uint64_t id, uint64_t duration_us);
struct work_node *work_collective(struct work *work, uint32_t rank, uint64_t id, int32_t type, uint64_t bytes);
struct work_node *work_send(struct work *work, uint32_t rank, uint64_t id, uint32_t to, uint64_t bytes, int32_t tag);
struct work_node *work_recv(struct work *work, uint32_t rank, uint64_t id, uint32_t from, uint64_t bytes, int32_t tag);
struct work_node *work_add(struct work *work, uint32_t rank, uint64_t id, enum trace_node_type type);
/* Makes the node last added depend on another of its rank. */
void work_after(struct work *work, uint64_t parent);

/* Makes and runs a simulation; any number of times, with knobs turned in between. */
enum orr_status bench_run(struct bench *bench);
/* The same in two steps, for a run of one's own. */
enum orr_status bench_create(struct bench *bench);
/* Runs and expects an end: the time it ended at. */
uint64_t bench_completes(struct bench *bench);
/* Runs and expects a stall. */
const struct sim_stall *bench_stalls(struct bench *bench);

/* A number made of everything a run counted and timed but its events: equal for equal results. */
uint64_t bench_fingerprint(const struct bench *bench);

/* The first finding of this kind; fails the test, telling what was found instead, when there is none. */
const struct sim_stall_finding *stall_finding(const struct sim_stall *stall, enum sim_stall_kind kind);

#endif
