/* SPDX-License-Identifier: Apache-2.0 */
/* No field of a table can hold a comma or a quote (names are ours, the rest are numbers), so nothing is escaped. */
#include "report/rows.h"

#include <inttypes.h>
#include <stddef.h>

#include "io/csv.h"
#include "report/number.h"
#include "report/summary.h"

enum { SHARE_DECIMALS = 6, TIME_DECIMALS = 3 };

/* ---- rows ---- */

bool report_rank_row(const struct sim_result *result, uint32_t rank, struct orr_rank_result *row)
{
    *row = (struct orr_rank_result){.rank = rank};
    if (rank >= result->rank_count) {
        return false;
    }
    const struct sim_rank_result *one = sim_result_rank(result, rank);
    const char *devices = result->config->devices.text;
    *row = (struct orr_rank_result){
        .rank = rank,
        .device = devices == NULL ? NULL : sim_device_of(result->config, rank)->name,
        .finished = one->finished,
        .finish_ns = one->finish_ns,
        .exposed_ns = one->finished ? one->finish_ns - one->gpu_busy_ns : 0,
        .compute_ns = one->compute_ns,
        .exposed_comm_ns = one->exposed_comm_ns,
        .exposed_other_ns = one->exposed_other_ns,
        .idle_ns = one->idle_ns,
        .busy_comm_ns = one->union_ns[SIM_OP_COMM],
        .busy_gpu_ns = one->union_ns[SIM_OP_GPU],
        .sum_gpu_ns = one->gpu_busy_ns,
        .nodes_done = one->nodes_done,
    };
    return true;
}

static const char *kind_word(int32_t type)
{
    const char *word = coll_type_name(type);
    return type == SIM_TYPE_SEND   ? "send"
           : type == SIM_TYPE_RECV ? "receive"
           : word != NULL          ? word
                                   : "other"; /* no number that is no type gets past the checks */
}

bool report_collective_row(const struct sim_result *result, uint32_t index, struct orr_collective_result *row)
{
    *row = (struct orr_collective_result){0};
    if (index >= result->collective_count) {
        return false;
    }
    const struct sim_collective_result *one = &result->collectives[index];
    struct report_kind kind = report_kind_of_row(result, index);
    *row = (struct orr_collective_result){
        .type = kind_word(one->type),
        .group_size = one->group_size,
        .bytes = one->bytes,
        .count = one->count,
        .operations = kind.operations,
        .total_ns = report_kind_total_ns(&kind),
        .mean_ns = kind.mean_ns,
        .min_ns = kind.min_ns,
        .max_ns = kind.max_ns,
        .first_start_ns = one->first_start_ns,
        .last_end_ns = one->last_end_ns,
        .algorithm_gbytes_per_s = kind.has_bandwidth ? kind.algorithm_gbps : 0,
        .bus_gbytes_per_s = kind.has_bandwidth ? kind.bus_gbps : 0,
    };
    return true;
}

bool report_dimension_row(const struct sim_result *result, uint32_t index, struct orr_dimension_result *row)
{
    *row = (struct orr_dimension_result){0};
    if (index >= result->config->dims.count) {
        return false;
    }
    const struct topo_dim *dim = &result->config->dims.dim[index];
    const struct sim_dim_result *one = &result->dims[index];
    *row = (struct orr_dimension_result){
        .dimension = index,
        .kind = topo_kind_name(dim->kind),
        .size = dim->size,
        .bandwidth_gibytes_per_s = dim->bandwidth_gibps,
        .latency_ns = dim->latency_ns,
        .links = one->links,
        .messages = one->messages,
        .bytes = one->bytes,
        .busy_ns = one->busy_ns,
        .utilisation = report_utilisation(result, index),
        .queued_messages = one->queued,
    };
    return true;
}

bool report_link_row(const struct sim_result *result, uint32_t index, struct orr_link_result *row)
{
    *row = (struct orr_link_result){0};
    if (index >= result->network.link_count) {
        return false;
    }
    const struct net_link *one = &result->network.links[index];
    *row = (struct orr_link_result){
        .from = one->from,
        .to = one->to,
        .from_switch = one->from_switch,
        .rate_bps = one->rate_bps,
        .bytes = one->bytes,
        .busy_ns = one->busy_ns,
        .utilisation = result->end_ns == 0 ? 0 : (double)one->busy_ns / (double)result->end_ns,
        .ecn_marks = one->marks,
        .pauses = one->pauses,
        .drops = one->drops,
        .losses = one->losses,
        .queue_p50_bytes = one->queue_p50,
        .queue_p95_bytes = one->queue_p95,
        .queue_p99_bytes = one->queue_p99,
        .queue_max_bytes = one->queue_most,
    };
    return true;
}

const char *report_node_word(const struct trace_node *node)
{
    static const char *const words[TRACE_NODE_TYPES] = {
        [TRACE_INVALID] = "invalid",        [TRACE_METADATA] = "metadata", [TRACE_MEM_LOAD] = "memory load",
        [TRACE_MEM_STORE] = "memory store", [TRACE_COMP] = "compute",      [TRACE_SEND] = "send",
        [TRACE_RECV] = "receive",           [TRACE_COLL] = "collective"};
    const char *collective = node->type == TRACE_COLL ? coll_type_name(node->comm_type) : NULL;
    return collective != NULL ? collective : node->type < TRACE_NODE_TYPES ? words[node->type] : "node";
}

bool report_interval_row(const struct sim_result *result, uint32_t index, struct orr_interval_result *row)
{
    *row = (struct orr_interval_result){0};
    if (index >= result->interval_count) {
        return false;
    }
    const struct sim_interval *one = &result->intervals[index];
    const struct trace_rank *rank = &result->config->traces->ranks[one->rank];
    const struct trace_node *node = &rank->graph->nodes[one->node];
    bool communicates = node->type >= TRACE_SEND;
    *row = (struct orr_interval_result){
        .rank = one->rank,
        .node = trace_rank_node_id(rank, one->node),
        .name = trace_graph_name(rank->graph, one->node),
        .type = report_node_word(node),
        .is_cpu = node->is_cpu_op != 0,
        .is_communication = communicates,
        .bytes = communicates ? node->comm_bytes : 0,
        .start_ns = one->start_ns,
        .end_ns = one->end_ns,
    };
    return true;
}

bool report_wait_row(const struct sim_result *result, uint32_t index, struct orr_wait *row)
{
    *row = (struct orr_wait){0};
    if (index >= result->stall.wait_count) {
        return false;
    }
    const struct sim_stall_wait *one = &result->stall.waits[index];
    *row = (struct orr_wait){.rank = one->rank,
                             .node = one->node,
                             .what = sim_stall_what_name(one->what),
                             .peer = one->peer,
                             .bytes = one->bytes,
                             .since_ns = one->since_ns,
                             .text = one->text};
    return true;
}

/* ---- columns ---- */

#define AT(field) offsetof(struct orr_rank_result, field)
const struct report_column report_rank_columns[] = {
    {"rank", REPORT_COLUMN_U32, REPORT_IN_BOTH, 0, AT(rank)},
    {"device", REPORT_COLUMN_TEXT, REPORT_IN_JSON, 0, AT(device)},
    {"finished", REPORT_COLUMN_FLAG, REPORT_IN_BOTH, 0, AT(finished)},
    {"finish_ns", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(finish_ns)},
    {"compute_ns", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(compute_ns)},
    {"exposed_comm_ns", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(exposed_comm_ns)},
    {"exposed_other_ns", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(exposed_other_ns)},
    {"idle_ns", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(idle_ns)},
    {"gpu_busy_ns", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(sum_gpu_ns)},
    /* Signed, though ASTRA-sim prints it modulo 2^64: overlapping compute can make it negative. */
    {"astra_exposed_comm_ns", REPORT_COLUMN_I64, REPORT_IN_JSON, 0, AT(exposed_ns)},
    {"astra_exposed_comm_ns", REPORT_COLUMN_U64, REPORT_IN_CSV, 0, AT(exposed_ns)},
    {"nodes_done", REPORT_COLUMN_U32, REPORT_IN_BOTH, 0, AT(nodes_done)},
    {0},
};
#undef AT

#define AT(field) offsetof(struct orr_collective_result, field)
const struct report_column report_collective_columns[] = {
    {"type", REPORT_COLUMN_TEXT, REPORT_IN_BOTH, 0, AT(type)},
    {"group_size", REPORT_COLUMN_U32, REPORT_IN_BOTH, 0, AT(group_size)},
    {"bytes", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(bytes)},
    {"participations", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(count)},
    {"operations", REPORT_COLUMN_SHORT, REPORT_IN_BOTH, TIME_DECIMALS, AT(operations)},
    {"total_ns", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(total_ns)},
    {"mean_ns", REPORT_COLUMN_REAL, REPORT_IN_BOTH, TIME_DECIMALS, AT(mean_ns)},
    {"min_ns", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(min_ns)},
    {"max_ns", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(max_ns)},
    {"first_start_ns", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(first_start_ns)},
    {"last_end_ns", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(last_end_ns)},
    {"algorithm_bandwidth_gbytes_per_s", REPORT_COLUMN_RATE, REPORT_IN_BOTH, SHARE_DECIMALS,
     AT(algorithm_gbytes_per_s)},
    {"bus_bandwidth_gbytes_per_s", REPORT_COLUMN_RATE, REPORT_IN_BOTH, SHARE_DECIMALS, AT(bus_gbytes_per_s)},
    {0},
};
#undef AT

#define AT(field) offsetof(struct orr_dimension_result, field)
const struct report_column report_dimension_columns[] = {
    {"dimension", REPORT_COLUMN_U32, REPORT_IN_CSV, 0, AT(dimension)},
    {"kind", REPORT_COLUMN_TEXT, REPORT_IN_BOTH, 0, AT(kind)},
    {"size", REPORT_COLUMN_U32, REPORT_IN_BOTH, 0, AT(size)},
    {"bandwidth_gibytes_per_s", REPORT_COLUMN_SHORT, REPORT_IN_BOTH, SHARE_DECIMALS, AT(bandwidth_gibytes_per_s)},
    {"latency_ns", REPORT_COLUMN_SHORT, REPORT_IN_BOTH, SHARE_DECIMALS, AT(latency_ns)},
    {"links", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(links)},
    {"messages", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(messages)},
    {"bytes", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(bytes)},
    {"busy_ns", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(busy_ns)},
    {"utilisation", REPORT_COLUMN_REAL, REPORT_IN_BOTH, SHARE_DECIMALS, AT(utilisation)},
    {"queued_messages", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(queued_messages)},
    {0},
};
#undef AT

#define AT(field) offsetof(struct orr_link_result, field)
const struct report_column report_link_columns[] = {
    {"from", REPORT_COLUMN_U32, REPORT_IN_BOTH, 0, AT(from)},
    {"to", REPORT_COLUMN_U32, REPORT_IN_BOTH, 0, AT(to)},
    {"rate_bps", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(rate_bps)},
    {"bytes", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(bytes)},
    {"busy_ns", REPORT_COLUMN_U64, REPORT_IN_CSV, 0, AT(busy_ns)},
    {"utilisation", REPORT_COLUMN_REAL, REPORT_IN_BOTH, SHARE_DECIMALS, AT(utilisation)},
    {"ecn_marks", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(ecn_marks)},
    {"pauses", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(pauses)},
    {"drops", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(drops)},
    {"losses", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(losses)},
    {"queue_p50_bytes", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(queue_p50_bytes)},
    {"queue_p95_bytes", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(queue_p95_bytes)},
    {"queue_p99_bytes", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(queue_p99_bytes)},
    {"queue_max_bytes", REPORT_COLUMN_U64, REPORT_IN_BOTH, 0, AT(queue_max_bytes)},
    {0},
};
#undef AT

#define AT(field) offsetof(struct orr_wait, field)
const struct report_column report_wait_columns[] = {
    {"rank", REPORT_COLUMN_U32, REPORT_IN_JSON, 0, AT(rank)},
    {"node", REPORT_COLUMN_U64, REPORT_IN_JSON, 0, AT(node)},
    {"what", REPORT_COLUMN_TEXT, REPORT_IN_JSON, 0, AT(what)},
    {"peer", REPORT_COLUMN_RANK, REPORT_IN_JSON, 0, AT(peer)},
    {"bytes", REPORT_COLUMN_U64, REPORT_IN_JSON, 0, AT(bytes)},
    {"since_ns", REPORT_COLUMN_U64, REPORT_IN_JSON, 0, AT(since_ns)},
    {"text", REPORT_COLUMN_TEXT, REPORT_IN_JSON, 0, AT(text)},
    {0},
};
#undef AT

/* ---- writing them ---- */

static uint64_t whole_of(const struct report_column *column, const char *at)
{
    return column->kind == REPORT_COLUMN_U64 || column->kind == REPORT_COLUMN_I64 ? *(const uint64_t *)(const void *)at
           : column->kind == REPORT_COLUMN_FLAG ? (uint64_t) * (const bool *)(const void *)at
                                                : *(const uint32_t *)(const void *)at;
}

static void put_json(const struct report_column *column, const char *at, struct json_writer *json)
{
    const char *text = column->kind == REPORT_COLUMN_TEXT ? *(const char *const *)(const void *)at : NULL;
    if (column->kind == REPORT_COLUMN_TEXT && text == NULL) {
        return;
    }
    json_write_key(json, column->name);
    switch (column->kind) {
    case REPORT_COLUMN_TEXT:
        json_write_string(json, text);
        break;
    case REPORT_COLUMN_FLAG:
        json_write_bool(json, whole_of(column, at) != 0);
        break;
    case REPORT_COLUMN_I64:
        json_write_i64(json, (int64_t)whole_of(column, at));
        break;
    case REPORT_COLUMN_REAL:
    case REPORT_COLUMN_SHORT:
    case REPORT_COLUMN_RATE: {
        double value = *(const double *)(const void *)at;
        if (column->kind == REPORT_COLUMN_RATE && !(value > 0)) {
            json_write_null(json);
        } else {
            json_write_fixed(json, value, column->decimals);
        }
        break;
    }
    case REPORT_COLUMN_U32:
    case REPORT_COLUMN_U64:
    case REPORT_COLUMN_RANK:
        if (column->kind == REPORT_COLUMN_RANK && whole_of(column, at) == UINT32_MAX) {
            json_write_null(json);
        } else {
            json_write_u64(json, whole_of(column, at));
        }
        break;
    }
}

void report_row_json(const struct report_column *columns, const void *row, struct json_writer *json)
{
    json_write_object(json, true);
    for (const struct report_column *column = columns; column->name != NULL; column++) {
        if ((column->in & REPORT_IN_JSON) != 0) {
            put_json(column, (const char *)row + column->at, json);
        }
    }
    json_write_object_end(json);
}

void report_row_csv_head(const struct report_column *columns, FILE *stream)
{
    const char *between = "";
    for (const struct report_column *column = columns; column->name != NULL; column++) {
        if ((column->in & REPORT_IN_CSV) != 0) {
            (void)fprintf(stream, "%s%s", between, column->name);
            between = ",";
        }
    }
    (void)fputc('\n', stream);
}

static void put_csv(const struct report_column *column, const char *at, FILE *stream)
{
    bool real = column->kind >= REPORT_COLUMN_REAL && column->kind <= REPORT_COLUMN_RATE;
    double value = real ? *(const double *)(const void *)at : 0;
    if (column->kind == REPORT_COLUMN_TEXT) {
        csv_write_field(*(const char *const *)(const void *)at, stream);
    } else if (column->kind == REPORT_COLUMN_SHORT) {
        (void)fputs(report_short(value).text, stream);
    } else if (real) {
        bool none = column->kind == REPORT_COLUMN_RATE && !(value > 0);
        (void)fputs(none ? "" : report_fixed(value, column->decimals).text, stream);
    } else {
        (void)fprintf(stream, "%" PRIu64, whole_of(column, at));
    }
}

void report_row_csv(const struct report_column *columns, const void *row, FILE *stream)
{
    const char *between = "";
    for (const struct report_column *column = columns; column->name != NULL; column++) {
        if ((column->in & REPORT_IN_CSV) != 0) {
            (void)fputs(between, stream);
            put_csv(column, (const char *)row + column->at, stream);
            between = ",";
        }
    }
    (void)fputc('\n', stream);
}

void report_rows_json(const struct report_column *columns, const void *rows, size_t count, size_t size,
                      struct json_writer *json)
{
    json_write_array(json, false);
    for (size_t i = 0; i < count; i++) {
        report_row_json(columns, (const char *)rows + i * size, json);
    }
    json_write_array_end(json);
}

void report_rows_csv(const struct report_column *columns, const void *rows, size_t count, size_t size, FILE *stream)
{
    report_row_csv_head(columns, stream);
    for (size_t i = 0; i < count; i++) {
        report_row_csv(columns, (const char *)rows + i * size, stream);
    }
}
