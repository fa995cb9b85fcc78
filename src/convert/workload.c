/* SPDX-License-Identifier: Apache-2.0 */
/* The collecting half: arrays that grow by doubling, and the questions every reader asks alike. */
#include "convert/workload.h"

#include <inttypes.h>

#include "convert/workload_order.h"
#include "io/value.h"

void workload_init(struct workload *workload, struct mem *mem)
{
    *workload = (struct workload){.mem = mem, .ranks = 1};
    intern_init(&workload->texts, mem);
}

void workload_free(struct workload *workload)
{
    mem_free(workload->mem, workload->nodes, workload->node_capacity * sizeof *workload->nodes);
    mem_free(workload->mem, workload->edges, workload->edge_capacity * sizeof *workload->edges);
    intern_free(&workload->texts);
    *workload = (struct workload){.mem = workload->mem};
}

bool workload_add(struct workload *workload, const struct workload_node *node, uint32_t *index)
{
    if (!MEM_GROW(workload->mem, workload->nodes, workload->node_capacity, workload->node_count)) {
        return false;
    }
    *index = workload->node_count++;
    workload->nodes[*index] = *node;
    return true;
}

bool workload_depend(struct workload *workload, uint32_t child, uint32_t parent)
{
    if (!MEM_GROW(workload->mem, workload->edges, workload->edge_capacity, workload->edge_count)) {
        return false;
    }
    workload->edges[workload->edge_count++] = (struct workload_edge){child, parent};
    return true;
}

bool workload_text(struct workload *workload, const char *text, size_t length, uint32_t *number)
{
    return intern_add(&workload->texts, text, length, number);
}

const char *workload_node_printable(const struct workload *workload, const struct workload_node *node,
                                    char name[WORKLOAD_NAME_ROOM])
{
    return io_text_printable(intern_text(&workload->texts, node->name), name, WORKLOAD_NAME_ROOM);
}

bool workload_input_bytes(enum comm_kind kind, uint64_t output_bytes, uint32_t ranks, uint64_t *input_bytes)
{
    uint64_t bytes = output_bytes;
    if (kind == COMM_ALL_GATHER || kind == COMM_GATHER) {
        bytes = bytes / ranks + (bytes % ranks != 0);
    } else if (kind == COMM_REDUCE_SCATTER || kind == COMM_REDUCE_SCATTER_BLOCK || kind == COMM_SCATTER) {
        if (__builtin_mul_overflow(bytes, (uint64_t)ranks, &bytes)) {
            return false;
        }
    }
    if (bytes > INT64_MAX) {
        return false;
    }
    *input_bytes = bytes;
    return true;
}

enum orr_status workload_unknown_size(const struct workload *workload, const struct convert_request *request,
                                      const char *reason, struct workload_node *node, struct orr_error *err)
{
    char name[WORKLOAD_NAME_ROOM];
    char line[32] = "";
    if (node->line != 0) {
        (void)snprintf(line, sizeof line, "%" PRIu64 ":", node->line);
    }
    if (!request->has_unknown_size) {
        return error_set(err, ORR_EINVAL,
                         "%s:%s the size of \"%s\" is not in %s; give the bytes to take with parameter 'unknown-size'",
                         request->input, line, workload_node_printable(workload, node, name), reason);
    }
    if (request->unknown_size > INT64_MAX) {
        return error_set(err, ORR_ERANGE, "parameter 'unknown-size' is %" PRIu64 "; Chakra's sizes end at 2^63-1",
                         request->unknown_size);
    }
    node->bytes = request->unknown_size;
    node->size_from = PROVENANCE_GIVEN;
    node->has |= WORKLOAD_HAS_COMM_SIZE;
    return ORR_OK;
}

enum orr_status workload_set_ranks(struct workload *workload, const struct convert_request *request, uint32_t found,
                                   struct orr_error *err)
{
    workload->ranks = request->ranks == 0 ? found : request->ranks;
    workload->copies = found == 1 && workload->ranks > 1;
    if (workload->ranks > WORKLOAD_RANKS_MAX) {
        return error_set(err, ORR_EINVAL, "%s: %" PRIu32 " ranks; at most %d are accepted", request->input,
                         workload->ranks, WORKLOAD_RANKS_MAX);
    }
    if (workload->ranks != found && !workload->copies) {
        return error_set(err, ORR_EINVAL, "%s: %" PRIu32 " ranks were asked for, and there are %" PRIu32 " in it",
                         request->input, workload->ranks, found);
    }
    for (uint32_t i = 0; workload->copies && i < workload->node_count; i++) {
        if (workload->nodes[i].type == TRACE_SEND || workload->nodes[i].type == TRACE_RECV) {
            return error_set(err, ORR_EINVAL,
                             "%s: one rank that sends or receives by rank number cannot be copied to %" PRIu32 " ranks",
                             request->input, workload->ranks);
        }
    }
    return ORR_OK;
}
