/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finished run filled by hand, small enough to check by eye: the three-node trace of spec analytical §18 (an
 * all-reduce of 1 MiB beside 50 us of compute, then an all-gather of 2 MiB) on a ring of 8. Tests change what they are
 * about and leave the rest.
 */
#ifndef ORR_TESTS_REPORT_FIXTURE_H
#define ORR_TESTS_REPORT_FIXTURE_H

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/report.h"
#include "tests/check.h"

enum { FIXTURE_RANKS = 8, FIXTURE_NODES = 3, FIXTURE_COLLECTIVES = 64 };

struct fixture {
    struct trace_node nodes[FIXTURE_NODES];
    struct trace_graph graph;
    struct trace_rank trace_ranks[FIXTURE_RANKS];
    struct mem mem; /* of the run */
    struct trace_set traces;
    struct sim_config config;
    struct sim_rank_result ranks[FIXTURE_RANKS];
    struct sim_collective_result collectives[FIXTURE_COLLECTIVES];
    struct sim_log_entry log[2 * FIXTURE_RANKS];
    struct sim_interval intervals[FIXTURE_NODES * FIXTURE_RANKS];
    struct sim_result result;
};

static inline void fixture_traces(struct fixture *f)
{
    static char strings[] = "\0ar\0work\0ag\0"
                            "1";
    f->nodes[0] = (struct trace_node){.id = 1, .name = 1, .type = TRACE_COLL, .comm_bytes = 1 << 20};
    f->nodes[1] = (struct trace_node){.id = 2, .name = 4, .type = TRACE_COMP, .duration_us = 50};
    f->nodes[2] = (struct trace_node){
        .id = 3, .name = 9, .type = TRACE_COLL, .comm_type = COLL_ALL_GATHER, .comm_bytes = 2 << 20, .parent_count = 1};
    f->graph = (struct trace_graph){.nodes = f->nodes, .strings = strings, .node_count = FIXTURE_NODES};
    for (uint32_t rank = 0; rank < FIXTURE_RANKS; rank++) {
        f->trace_ranks[rank] = (struct trace_rank){&f->graph, 100 * rank, rank};
    }
    f->traces =
        (struct trace_set){.ranks = f->trace_ranks, .rank_count = FIXTURE_RANKS, .mem = &f->mem, .prefix = strings + 1};
}

static inline void fixture_config(struct fixture *f)
{
    f->config = (struct sim_config){.traces = &f->traces, .queues_per_dim = 1, .keep_intervals = true};
    f->config.dims = (struct topo_dims){.count = 1, .ranks = FIXTURE_RANKS};
    f->config.dims.dim[0] = (struct topo_dim){.kind = TOPO_RING,
                                              .size = 8,
                                              .stride = 1,
                                              .bandwidth_gibps = 50,
                                              .bytes_per_ns = 53.6870912,
                                              .latency_ns = 500};
    for (int native = 0; native < SIM_NATIVE_COUNT; native++) {
        f->config.system.implementation[native].count = 1;
        f->config.system.implementation[native].list[0] = (struct coll_impl){.algo = COLL_RING};
    }
}

static inline void fixture_rank(struct fixture *f, uint32_t rank)
{
    f->ranks[rank] = (struct sim_rank_result){
        .finished = true,
        .finish_ns = 405520,
        .gpu_busy_ns = 50000,
        .last_end_ns = 405520,
        .union_ns = {[SIM_OP_GPU] = 50000, [SIM_OP_COMM] = 405520},
        .nodes_of = {[SIM_OP_GPU] = 1, [SIM_OP_COMM] = 2},
        .compute_ns = 50000,
        .exposed_comm_ns = 355520,
        .nodes_done = 3,
        .kind_order = {SIM_OP_GPU, SIM_OP_COMM},
        .kind_order_count = 2,
        .roofline_weight = 1,
        .unreleased = {UINT32_MAX, UINT32_MAX, UINT32_MAX},
    };
    f->log[rank] = (struct sim_log_entry){.kind = SIM_LOG_FINISH, .rank = rank};
    struct sim_interval *interval = &f->intervals[FIXTURE_NODES * rank];
    interval[0] = (struct sim_interval){rank, 1, 0, 50000, SIM_SLOT_COMP, 0};
    interval[1] = (struct sim_interval){rank, 0, 0, 117780, SIM_SLOT_COMM, 0};
    interval[2] = (struct sim_interval){rank, 2, 117780, 405520, SIM_SLOT_COMM, 0};
}

/* `count` participations in groups of 8, each of `ns`. */
static inline struct sim_collective_result fixture_collective(int32_t type, uint64_t bytes, uint64_t count, uint64_t ns)
{
    return (struct sim_collective_result){.type = type,
                                          .group_size = 8,
                                          .bytes = bytes,
                                          .count = count,
                                          .total_ns = count * ns,
                                          .min_ns = ns,
                                          .max_ns = ns,
                                          .last_end_ns = ns};
}

static inline void fixture_make(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    fixture_traces(f);
    fixture_config(f);
    for (uint32_t rank = 0; rank < FIXTURE_RANKS; rank++) {
        fixture_rank(f, rank);
    }
    f->collectives[0] = fixture_collective(COLL_ALL_REDUCE, 1 << 20, 8, 117780);
    f->collectives[1] = fixture_collective(COLL_ALL_GATHER, 2 << 20, 8, 287740);
    f->result = (struct sim_result){
        .config = &f->config,
        .rank_count = FIXTURE_RANKS,
        .rows = f->ranks,
        .end_ns = 405520,
        .events = 5000,
        .messages = 672,
        .nodes_done = 24,
        .nodes = 24,
        .ranks_finished = FIXTURE_RANKS,
        .collectives = f->collectives,
        .collective_count = 2,
        .dims = {{.messages = 672, .bytes = 132120576, .busy_ns = 2460920, .links = 16}},
        .log = f->log,
        .log_count = FIXTURE_RANKS,
        .intervals = f->intervals,
        .interval_count = FIXTURE_NODES * FIXTURE_RANKS,
    };
}

/* What goes to a stream; the caller frees it. */
static inline char *fixture_written(const struct fixture *f, enum orr_output output)
{
    struct orr_error err = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    CHECK_OK(report_write(&f->result, output, NULL, stream, &err), &err);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static inline uint32_t fixture_lines(const char *text)
{
    uint32_t lines = 0;
    for (const char *c = text; *c != '\0'; c++) {
        lines += *c == '\n';
    }
    return lines;
}

static inline int fixture_remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

static inline void fixture_remove(const char *folder)
{
    assert_int_equal(nftw(folder, fixture_remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static char fixture_path[64];

/* A test that failed did not come as far as giving its folder back. */
static inline void fixture_leave(void)
{
    (void)nftw(fixture_path, fixture_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* A folder of its own for a test, wherever the test was started, given back with fixture_remove; the path stays valid
 * until the next call. */
static inline const char *fixture_folder(void)
{
    if (fixture_path[0] == '\0') {
        assert_int_equal(atexit(fixture_leave), 0);
    }
    (void)snprintf(fixture_path, sizeof fixture_path, "/tmp/orrery-report-XXXXXX");
    assert_non_null(mkdtemp(fixture_path));
    return fixture_path;
}

/* Whole content of FOLDER/NAME; the caller frees it. */
static inline char *fixture_read(const char *folder, const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL, "%s is not there", path);
    char *text = NULL;
    size_t room = 0;
    ssize_t length = getdelim(&text, &room, '\0', file);
    CHECK(length > 0, "%s is empty", path);
    (void)fclose(file);
    return text;
}

#endif
