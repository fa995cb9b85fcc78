/* SPDX-License-Identifier: Apache-2.0 */
/* One row a node, sorted, then equal neighbours made one: twice, once by evidence and once by step. */
#include "trace/provenance.h"

#include <stdlib.h>
#include <string.h>

#include "trace/stat.h"

static const Chakra__Attribute *trace_provenance_find(const Chakra__Node *node, const char *name)
{
    for (size_t i = 0; i < node->n_attr; i++) {
        if (strcmp(node->attr[i]->name, name) == 0) {
            return node->attr[i];
        }
    }
    return NULL;
}

static const char *trace_provenance_text_of(const Chakra__Node *node, const char *name)
{
    const Chakra__Attribute *attr = trace_provenance_find(node, name);
    return attr != NULL && (uint32_t)attr->value_case == TRACE_VALUE_STRING ? attr->string_val : "";
}

static bool trace_provenance_integer_of(const Chakra__Attribute *attr, uint64_t *bits)
{
    bool negative;
    return attr != NULL && trace_document_integer(attr, bits, &negative);
}

static bool trace_provenance_communicates(const Chakra__Node *node)
{
    uint32_t type = (uint32_t)node->type;
    return type == TRACE_SEND || type == TRACE_RECV || type == TRACE_COLL;
}

static int32_t collective_of(const Chakra__Node *node)
{
    uint64_t type = UINT64_MAX;
    (void)trace_provenance_integer_of(trace_document_attribute(node, TRACE_ATTR_COMM_TYPE), &type);
    return (uint32_t)node->type == TRACE_COLL && type < TRACE_STAT_COLLECTIVES ? (int32_t)type : -1;
}

/* Collectives by their numbers, then sends, then receives. */
static int by_type(const struct trace_provenance_row *x, const struct trace_provenance_row *y)
{
    if (x->type != y->type) {
        return x->type == TRACE_COLL ? -1 : y->type == TRACE_COLL ? 1 : x->type < y->type ? -1 : 1;
    }
    return (x->comm_type > y->comm_type) - (x->comm_type < y->comm_type);
}

static int by_evidence(const void *a, const void *b)
{
    const struct trace_provenance_row *x = a;
    const struct trace_provenance_row *y = b;
    int order = by_type(x, y);
    order = order != 0 ? order : strcmp(x->type_from, y->type_from);
    return order != 0 ? order : strcmp(x->size_from, y->size_from);
}

static int by_step(const void *a, const void *b)
{
    const struct trace_provenance_row *x = a;
    const struct trace_provenance_row *y = b;
    if (x->step != y->step) {
        return x->step < y->step ? -1 : 1;
    }
    return by_type(x, y);
}

static uint32_t trace_provenance_join(struct trace_provenance_row *rows, uint32_t count,
                                      int (*order)(const void *a, const void *b))
{
    uint32_t kept = 0;
    qsort(rows, count, sizeof *rows, order);
    for (uint32_t i = 0; i < count; i++) {
        if (kept > 0 && order(&rows[kept - 1], &rows[i]) == 0) {
            rows[kept - 1].count += rows[i].count;
            rows[kept - 1].bytes += rows[i].bytes;
        } else {
            rows[kept++] = rows[i];
        }
    }
    return kept;
}

static void trace_provenance_add_node(struct trace_provenance *table, const Chakra__Node *node)
{
    uint64_t bytes = 0;
    uint64_t step = 0;
    if (!trace_provenance_communicates(node)) {
        return;
    }
    (void)trace_provenance_integer_of(trace_document_attribute(node, TRACE_ATTR_COMM_SIZE), &bytes);
    struct trace_provenance_row row = {.type = (uint8_t)node->type,
                                       .comm_type = collective_of(node),
                                       .type_from = trace_provenance_text_of(node, TRACE_TYPE_FROM_NAME),
                                       .size_from = trace_provenance_text_of(node, TRACE_SIZE_FROM_NAME),
                                       .count = 1,
                                       .bytes = bytes};
    table->nodes++;
    table->unsaid += row.type_from[0] == '\0' || row.size_from[0] == '\0';
    table->rows[table->row_count++] = row;
    if (trace_provenance_integer_of(trace_provenance_find(node, TRACE_STEP_NAME), &step)) {
        row.type_from = "";
        row.size_from = "";
        row.step = (int64_t)step;
        table->steps[table->step_count++] = row;
    } else {
        table->outside++;
    }
}

enum orr_status trace_provenance_count(const struct trace_document *document, struct mem *mem,
                                       struct trace_provenance *table, struct orr_error *err)
{
    struct trace_provenance made = {.mem = mem};
    for (uint32_t i = 0; i < document->node_count; i++) {
        made.capacity += trace_provenance_communicates(document->nodes[i]);
    }
    made.rows = mem_alloc(mem, made.capacity * sizeof *made.rows);
    made.steps = mem_alloc(mem, made.capacity * sizeof *made.steps);
    if (made.rows == NULL || made.steps == NULL) {
        trace_provenance_free(&made);
        return mem_error(mem, "the communication of a trace", err);
    }
    for (uint32_t i = 0; i < document->node_count; i++) {
        trace_provenance_add_node(&made, document->nodes[i]);
    }
    made.row_count = trace_provenance_join(made.rows, made.row_count, by_evidence);
    made.step_count = trace_provenance_join(made.steps, made.step_count, by_step);
    *table = made;
    return ORR_OK;
}

void trace_provenance_free(struct trace_provenance *table)
{
    mem_free(table->mem, table->rows, table->rows == NULL ? 0 : table->capacity * sizeof *table->rows);
    mem_free(table->mem, table->steps, table->steps == NULL ? 0 : table->capacity * sizeof *table->steps);
    *table = (struct trace_provenance){.mem = table->mem};
}
