/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the nodes for what can be summed, one over the order of the dependencies for the chains. */
#include "trace/stat.h"

#include "trace/document_graph.h"

static bool trace_stat_integer_of(const Chakra__Node *node, enum trace_attr which, uint64_t *bits)
{
    bool negative;
    const Chakra__Attribute *attr = trace_document_attribute(node, which);
    return attr != NULL && trace_document_integer(attr, bits, &negative);
}

static void trace_stat_add_traffic(struct trace_stat_traffic *traffic, const Chakra__Node *node)
{
    uint64_t bytes = 0;
    (void)trace_stat_integer_of(node, TRACE_ATTR_COMM_SIZE, &bytes);
    traffic->count++;
    traffic->bytes += bytes;
}

static void trace_stat_add_node(struct trace_stat *stat, const Chakra__Node *node)
{
    uint64_t is_cpu = 0;
    uint64_t type = UINT64_MAX;
    (void)trace_stat_integer_of(node, TRACE_ATTR_IS_CPU_OP, &is_cpu);
    *(is_cpu != 0 ? &stat->cpu_nodes : &stat->gpu_nodes) += 1;
    *((uint32_t)node->type < TRACE_NODE_TYPES ? &stat->nodes_of[node->type] : &stat->nodes_unknown) += 1;
    stat->duration_us += node->duration_micros;
    switch ((uint32_t)node->type) {
    case TRACE_COMP:
        *(is_cpu != 0 ? &stat->compute_cpu_us : &stat->compute_us) += node->duration_micros;
        break;
    case TRACE_SEND:
        trace_stat_add_traffic(&stat->sends, node);
        break;
    case TRACE_RECV:
        trace_stat_add_traffic(&stat->recvs, node);
        break;
    case TRACE_COLL:
        (void)trace_stat_integer_of(node, TRACE_ATTR_COMM_TYPE, &type);
        trace_stat_add_traffic(type < TRACE_STAT_COLLECTIVES ? &stat->collectives[type] : &stat->other_collectives,
                               node);
        break;
    default:
        break;
    }
}

/* The best chain that ends in a node. */
struct chain {
    uint64_t us;
    uint32_t nodes;
    uint32_t longest;
};

static bool better(const struct chain *a, const struct chain *b)
{
    return a->us > b->us || (a->us == b->us && a->nodes > b->nodes);
}

static void follow_chains(struct trace_stat *stat, const struct trace_document *document,
                          const struct document_graph *graph, struct chain *chains)
{
    struct chain best = {0};
    for (uint32_t i = 0; i < graph->ordered_count; i++) {
        uint32_t place = graph->order[i];
        struct chain chain = {0};
        for (uint32_t p = graph->parent_start[place]; p < graph->parent_start[place + 1]; p++) {
            const struct chain *parent = &chains[graph->parents[p]];
            uint32_t longest = parent->longest > chain.longest ? parent->longest : chain.longest;
            if (better(parent, &chain)) {
                chain = *parent;
            }
            chain.longest = longest;
        }
        chain.us += document->nodes[place]->duration_micros;
        chain.nodes++;
        chain.longest++;
        chains[place] = chain;
        stat->longest_chain = chain.longest > stat->longest_chain ? chain.longest : stat->longest_chain;
        if (better(&chain, &best)) {
            best = chain;
            stat->critical_end_id = document->nodes[place]->id;
        }
    }
    stat->critical_us = best.us;
    stat->critical_nodes = best.nodes;
}

enum orr_status trace_stat(const struct trace_document *document, struct mem *mem, struct trace_stat *stat,
                           struct orr_error *err)
{
    struct document_graph graph;
    enum orr_status status = document_graph_open(&graph, document, mem, err);
    if (status != ORR_OK) {
        return status;
    }
    struct chain *chains = mem_alloc(mem, document->node_count * sizeof *chains);
    if (chains == NULL) {
        document_graph_close(&graph);
        return mem_error(mem, "the chains of a trace", err);
    }
    struct trace_stat made = {
        .nodes = document->node_count,
        .data_edges = graph.data_edges,
        .ctrl_edges = graph.ctrl_edges,
        .edges = graph.parent_start[graph.node_count],
        .missing_edges = graph.missing_edges,
        .unordered_nodes = graph.node_count - graph.ordered_count,
    };
    for (uint32_t i = 0; i < document->node_count; i++) {
        trace_stat_add_node(&made, document->nodes[i]);
        made.roots += document->nodes[i]->n_data_deps + document->nodes[i]->n_ctrl_deps == 0;
    }
    follow_chains(&made, document, &graph, chains);
    mem_free(mem, chains, document->node_count * sizeof *chains);
    document_graph_close(&graph);
    *stat = made;
    return ORR_OK;
}
