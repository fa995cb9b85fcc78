/* SPDX-License-Identifier: Apache-2.0 */
/* The result has intervals in order of their end; those of communication are sorted apart, through an index. */
#include "report/comm_intervals.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/summary.h"

static const struct trace_node *node_of(const struct sim_result *result, const struct sim_interval *interval)
{
    return &result->config->traces->ranks[interval->rank].graph->nodes[interval->node];
}

static bool communicates(const struct trace_node *node)
{
    return node->type == TRACE_COLL || node->type == TRACE_SEND || node->type == TRACE_RECV;
}

/* By rank, start, end and node. */
static int report_comm_intervals_compare(const void *one, const void *other)
{
    const struct sim_interval *a = *(const struct sim_interval *const *)one;
    const struct sim_interval *b = *(const struct sim_interval *const *)other;
    if (a->rank != b->rank) {
        return a->rank < b->rank ? -1 : 1;
    }
    if (a->start_ns != b->start_ns) {
        return a->start_ns < b->start_ns ? -1 : 1;
    }
    if (a->end_ns != b->end_ns) {
        return a->end_ns < b->end_ns ? -1 : 1;
    }
    return a->node < b->node ? -1 : a->node > b->node;
}

static uint64_t report_comm_intervals_collect(const struct sim_result *result, const struct sim_interval **list)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < result->interval_count; i++) {
        if (communicates(node_of(result, &result->intervals[i]))) {
            if (list != NULL) {
                list[count] = &result->intervals[i];
            }
            count++;
        }
    }
    return count;
}

/* Names come from files and may hold anything: quoted, quotes doubled, control characters as spaces. */
static void report_comm_intervals_put_name(const char *name, FILE *stream)
{
    (void)fputc('"', stream);
    for (; *name != '\0'; name++) {
        unsigned char byte = (unsigned char)*name;
        if (byte == '"') {
            (void)fputc('"', stream);
        }
        (void)fputc(byte < ' ' || byte == 127 ? ' ' : byte, stream);
    }
    (void)fputc('"', stream);
}

static void put_interval(const struct sim_result *result, const struct sim_interval *interval, FILE *stream)
{
    const struct trace_rank *rank = &result->config->traces->ranks[interval->rank];
    const struct trace_node *node = node_of(result, interval);
    char kind[32];
    (void)fprintf(stream, "%" PRIu32 ",%" PRIu64 ",", interval->rank, trace_rank_node_id(rank, interval->node));
    report_comm_intervals_put_name(trace_graph_name(rank->graph, interval->node), stream);
    int32_t type = node->type == TRACE_SEND   ? SIM_TYPE_SEND
                   : node->type == TRACE_RECV ? SIM_TYPE_RECV
                                              : node->comm_type;
    (void)fprintf(stream, ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", report_kind_name(type, kind),
                  node->comm_bytes, interval->start_ns, interval->end_ns, interval->end_ns - interval->start_ns);
}

struct rank_sum {
    uint64_t count, raw_ns, merged_ns, covered_to_ns;
};

static void add_up(struct rank_sum *sum, const struct sim_interval *interval)
{
    uint64_t from = interval->start_ns > sum->covered_to_ns ? interval->start_ns : sum->covered_to_ns;
    sum->count++;
    sum->raw_ns += interval->end_ns - interval->start_ns;
    if (interval->end_ns > from) {
        sum->merged_ns += interval->end_ns - from;
        sum->covered_to_ns = interval->end_ns;
    }
}

static void put_all(const struct sim_result *result, const struct sim_interval *const *list, uint64_t count,
                    FILE *stream)
{
    (void)fputs("rank,node,name,type,bytes,start_ns,end_ns,duration_ns\n", stream);
    struct rank_sum sum = {0};
    for (uint64_t i = 0; i < count; i++) {
        put_interval(result, list[i], stream);
        add_up(&sum, list[i]);
        if (i + 1 == count || list[i + 1]->rank != list[i]->rank) {
            (void)fprintf(stream,
                          "# rank %" PRIu32 ": %" PRIu64 " intervals, %" PRIu64 " ns in all, %" PRIu64
                          " ns with at least one\n",
                          list[i]->rank, sum.count, sum.raw_ns, sum.merged_ns);
            sum = (struct rank_sum){0};
        }
    }
}

enum orr_status report_comm_intervals_write(const struct sim_result *result, FILE *stream, struct orr_error *err)
{
    if (!result->config->keep_intervals) {
        return error_set(err, ORR_EINVAL, "intervals of communication need a run that keeps intervals");
    }
    struct mem *mem = result->config->traces->mem;
    uint64_t count = report_comm_intervals_collect(result, NULL);
    size_t bytes = (count + 1) * sizeof(struct sim_interval *);
    const struct sim_interval **list = mem_alloc(mem, bytes);
    if (list == NULL) {
        return mem_error(mem, "the intervals of communication", err);
    }
    (void)report_comm_intervals_collect(result, list);
    qsort(list, count, sizeof *list, report_comm_intervals_compare);
    put_all(result, list, count, stream);
    mem_free(mem, list, bytes);
    return ORR_OK;
}
