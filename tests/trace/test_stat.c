/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of small traces that can be added up by hand. */
#include "tests/check.h"
#include "tests/trace/bytes.h"
#include "trace/stat.h"

static struct trace_stat stat_of(const struct bytes *file)
{
    struct mem mem = {0};
    struct orr_error err = {0};
    struct trace_document *document = NULL;
    struct trace_stat stat;
    CHECK_OK(trace_document_parse(file->at, file->size, "f.et", &mem, &document, &err), &err);
    CHECK_OK(trace_stat(document, &mem, &stat, &err), &err);
    trace_document_free(document);
    CHECK_U64(mem.used, 0, "all memory is given back");
    return stat;
}

static void add_node(struct bytes *file, uint64_t id, uint32_t type, uint64_t duration, uint64_t parent, bool cpu,
                     uint64_t comm_type, uint64_t comm_size)
{
    struct bytes node = {.size = 0};
    bytes_number(&node, 1, id);
    bytes_number(&node, 3, type);
    if (parent != 0) {
        bytes_number(&node, id % 2 == 0 ? 4 : 5, parent);
    }
    bytes_number(&node, 7, duration);
    bytes_integer(&node, "is_cpu_op", 27, cpu);
    if (type >= TRACE_SEND) {
        bytes_integer(&node, "comm_type", 9, comm_type);
        bytes_integer(&node, "comm_size", 9, comm_size);
    }
    bytes_record(file, &node);
}

static void nodes_bytes_and_times_add_up(void **state)
{
    (void)state;
    struct bytes file;
    bytes_begin(&file);
    add_node(&file, 1, TRACE_COMP, 10, 0, false, 0, 0);
    add_node(&file, 2, TRACE_COMP, 5, 1, true, 0, 0);
    add_node(&file, 3, TRACE_COLL, 0, 1, false, 0, 1000);
    add_node(&file, 4, TRACE_COLL, 0, 3, false, 0, 24);
    add_node(&file, 5, TRACE_COLL, 2, 4, false, 6, 7);
    add_node(&file, 6, TRACE_COLL, 0, 0, false, 55, 9);
    add_node(&file, 7, TRACE_SEND, 1, 2, false, 0, 64);
    add_node(&file, 8, TRACE_RECV, 0, 7, false, 0, 32);
    struct trace_stat stat = stat_of(&file);
    CHECK_U64(stat.nodes, 8, "nodes");
    CHECK_U64(stat.cpu_nodes, 1, "CPU nodes");
    CHECK_U64(stat.gpu_nodes, 7, "GPU nodes");
    CHECK_U64(stat.nodes_of[TRACE_COLL], 4, "collectives");
    CHECK_U64(stat.collectives[0].count, 2, "all-reduces");
    CHECK_U64(stat.collectives[0].bytes, 1024, "their bytes");
    CHECK_U64(stat.collectives[6].bytes, 7, "bytes of the all-to-all");
    CHECK_U64(stat.other_collectives.count, 1, "of no known type");
    CHECK_U64(stat.sends.bytes, 64, "sent");
    CHECK_U64(stat.recvs.bytes, 32, "received");
    CHECK_U64(stat.compute_us, 10, "GPU compute");
    CHECK_U64(stat.compute_cpu_us, 5, "CPU compute");
    CHECK_U64(stat.duration_us, 18, "all durations");
    CHECK_U64(stat.data_edges + stat.ctrl_edges, 6, "edges as written");
    CHECK_U64(stat.edges, 6, "edges");
    CHECK_U64(stat.roots, 2, "roots");
}

static void the_critical_path_is_the_longest_in_time_then_in_nodes(void **state)
{
    (void)state;
    struct bytes file;
    bytes_begin(&file);
    add_node(&file, 1, TRACE_COMP, 10, 0, false, 0, 0);
    add_node(&file, 2, TRACE_COMP, 1, 1, false, 0, 0);
    add_node(&file, 3, TRACE_COMP, 1, 2, false, 0, 0);
    add_node(&file, 4, TRACE_COMP, 1, 3, false, 0, 0); /* 13 us in 4 nodes */
    add_node(&file, 5, TRACE_COMP, 4, 1, false, 0, 0); /* 14 us in 2 nodes */
    add_node(&file, 6, TRACE_COMP, 0, 5, false, 0, 0); /* 14 us in 3 nodes */
    struct trace_stat stat = stat_of(&file);
    CHECK_U64(stat.critical_us, 14, "microseconds");
    CHECK_U64(stat.critical_nodes, 3, "nodes");
    CHECK_U64(stat.critical_end_id, 6, "its end");
    CHECK_U64(stat.longest_chain, 4, "the longest chain");
}

static void cycles_and_missing_nodes_are_left_out_and_counted(void **state)
{
    (void)state;
    struct bytes file;
    bytes_begin(&file);
    add_node(&file, 1, TRACE_COMP, 10, 0, false, 0, 0);
    add_node(&file, 2, TRACE_COMP, 100, 3, false, 0, 0);
    add_node(&file, 3, TRACE_COMP, 100, 2, false, 0, 0);
    add_node(&file, 4, TRACE_COMP, 100, 3, false, 0, 0);
    add_node(&file, 5, TRACE_COMP, 7, 99, false, 0, 0);
    struct trace_stat stat = stat_of(&file);
    CHECK_U64(stat.unordered_nodes, 3, "on or behind the cycle");
    CHECK_U64(stat.missing_edges, 1, "missing");
    CHECK_U64(stat.critical_us, 10, "microseconds");
    struct bytes empty;
    bytes_begin(&empty);
    stat = stat_of(&empty);
    CHECK_U64(stat.nodes + stat.critical_nodes, 0, "an empty trace");
}

TEST_MAIN(nodes_bytes_and_times_add_up, the_critical_path_is_the_longest_in_time_then_in_nodes,
          cycles_and_missing_nodes_are_left_out_and_counted)
