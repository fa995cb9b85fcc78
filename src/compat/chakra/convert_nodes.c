/* SPDX-License-Identifier: Apache-2.0 */
/* The original keeps nodes in a Python dict, so an id that occurs twice stays in its first place with its last content;
 * and it makes output nodes by walking that dict, each host node followed by the device nodes that hang on it, which
 * decides who finds its parent made already. Both orders show in the output, so both are kept. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "compat/chakra/convert_parts.h"

/* ---- collecting ---- */

struct id_index {
    uint64_t id;
    uint32_t index;
};

static int convert_nodes_compare_ids(const void *a, const void *b)
{
    const struct id_index *x = a;
    const struct id_index *y = b;
    if (x->id != y->id) {
        return x->id < y->id ? -1 : 1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

uint32_t compat_find(const struct compat *compat, uint64_t id)
{
    uint32_t low = 0;
    uint32_t high = compat->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint64_t at = compat->nodes[compat->by_id[middle]].id;
        if (at == id) {
            return compat->by_id[middle];
        }
        if (at < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return COMPAT_NONE;
}

static enum compat_kind convert_nodes_kind_of(const struct compat *compat, const struct host_node *host)
{
    if (strstr(intern_text(&compat->trace->names, host->name), "process_group:init") != NULL) {
        return COMPAT_METADATA;
    }
    return (host->has & HOST_HAS_CAT) != 0 ? COMPAT_GPU : COMPAT_CPU;
}

/* `sorted` has the file's nodes by id and place; `last` gives each node that is the first of its id the last one. */
static void fill_nodes(struct compat *compat, const struct id_index *sorted, uint32_t *last)
{
    const struct host_trace *trace = compat->trace;
    for (uint32_t i = 0; i < trace->node_count;) {
        uint32_t end = i + 1;
        while (end < trace->node_count && sorted[end].id == sorted[i].id) {
            last[sorted[end++].index] = COMPAT_NONE;
        }
        last[sorted[i].index] = sorted[end - 1].index;
        i = end;
    }
    for (uint32_t i = 0; i < trace->node_count; i++) {
        if (last[i] == COMPAT_NONE) {
            continue;
        }
        const struct host_node *host = &trace->nodes[last[i]];
        compat->nodes[compat->count] = (struct compat_node){
            .id = host->id,
            .host = last[i],
            .parent = COMPAT_NONE,
            .first_child = COMPAT_NONE,
            .next_sibling = COMPAT_NONE,
            .first_gpu = COMPAT_NONE,
            .next_gpu = COMPAT_NONE,
            .before = COMPAT_NONE,
            .kind = (uint8_t)convert_nodes_kind_of(compat, host),
        };
        last[i] = compat->count++; /* from here on: where the node went */
    }
    for (uint32_t i = 0, unique = 0; i < trace->node_count; i++) {
        if (last[sorted[i].index] != COMPAT_NONE) {
            compat->by_id[unique++] = last[sorted[i].index];
        }
    }
}

static enum orr_status convert_nodes_order_nodes(struct compat *compat, struct orr_error *err)
{
    const struct host_trace *trace = compat->trace;
    size_t count = trace->node_count;
    struct id_index *sorted = mem_alloc(compat->mem, count * sizeof *sorted);
    uint32_t *last = mem_alloc(compat->mem, count * sizeof *last);
    bool good = sorted != NULL && last != NULL;
    if (good) {
        for (uint32_t i = 0; i < count; i++) {
            sorted[i] = (struct id_index){trace->nodes[i].id, i};
        }
        qsort(sorted, count, sizeof *sorted, convert_nodes_compare_ids);
        fill_nodes(compat, sorted, last);
    }
    mem_free(compat->mem, sorted, sorted == NULL ? 0 : count * sizeof *sorted);
    mem_free(compat->mem, last, last == NULL ? 0 : count * sizeof *last);
    return good ? ORR_OK : mem_error(compat->mem, "the nodes to convert", err);
}

enum orr_status compat_nodes_collect(struct compat *compat, struct orr_error *err)
{
    enum orr_status status = convert_nodes_order_nodes(compat, err);
    if (status != ORR_OK) {
        return status;
    }
    for (uint32_t i = 0; i < compat->count; i++) {
        const struct host_node *host = compat_host(compat, i);
        compat->nodes[i].parent = (host->has & HOST_HAS_PARENT) != 0 ? compat_find(compat, host->parent) : COMPAT_NONE;
    }
    for (uint32_t i = compat->count; i-- > 0;) {
        struct compat_node *node = &compat->nodes[compat->by_id[i]];
        if (node->parent != COMPAT_NONE) {
            node->next_sibling = compat->nodes[node->parent].first_child;
            compat->nodes[node->parent].first_child = compat->by_id[i];
        }
    }
    for (uint32_t i = compat->count; i-- > 0;) {
        struct compat_node *node = &compat->nodes[i];
        if (node->parent != COMPAT_NONE && node->kind == COMPAT_GPU) {
            node->next_gpu = compat->nodes[node->parent].first_gpu;
            compat->nodes[node->parent].first_gpu = i;
        }
    }
    return ORR_OK;
}

/* ---- types ---- */

/* Whether `name` without '_' and '-', in lower case, contains `word`. */
static bool contains_letters(const char *name, const char *word)
{
    for (; *name != '\0'; name++) {
        const char *at = name;
        const char *want = word;
        while (*want != '\0' && (*at == '_' || *at == '-' || tolower((unsigned char)*at) == *want)) {
            want += *at != '_' && *at != '-';
            at++;
        }
        if (*want == '\0') {
            return true;
        }
    }
    return false;
}

/* First hit wins (§8.6). Numbers are those of CollectiveCommType. */
static enum orr_status find_collective(struct compat *compat, uint32_t node, struct orr_error *err)
{
    static const struct {
        const char *word;
        uint8_t type;
    } rows[] = {{"allreduce", 0}, {"alltoall", 6}, {"allgather", 2}, {"reducescatter", 7}, {"broadcast", 5}};
    const char *name = compat_name(compat, node);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (contains_letters(name, rows[i].word)) {
            compat->nodes[node].comm_type = rows[i].type;
            return ORR_OK;
        }
    }
    if (strstr(name, "ncclDevKernel_SendRecv") != NULL) {
        compat->nodes[node].comm_type = 6;
        return ORR_OK;
    }
    return compat_fail(
        compat, node, err,
        "Chakra's converter knows no collective by this name (all-reduce, all-to-all, all-gather, "
        "reduce-scatter and broadcast only); orrery trace convert without parameter 'compat' chakra resolves it "
        "from its launching op");
}

/* §8.5. The node hangs on a host node, so it has a parent. */
static enum orr_status find_gpu_type(struct compat *compat, uint32_t node, struct orr_error *err)
{
    struct compat_node *at = &compat->nodes[node];
    const char *name = compat_name(compat, node);
    at->type = TRACE_COMP;
    if (strstr(name, "ncclDevKernel_SendRecv") != NULL) {
        uint32_t speaker = at->parent;
        if (strcmp(compat_name(compat, speaker), "record_param_comms") == 0) {
            speaker = compat->nodes[speaker].parent;
        }
        if (speaker == COMPAT_NONE) {
            return compat_fail(compat, node, err,
                               "a send or receive whose record_param_comms has no parent in the file to say which");
        }
        const char *word = compat_name(compat, speaker);
        if (strstr(word, "send") != NULL || strstr(word, "recv") != NULL) {
            at->type = strstr(word, "send") != NULL ? TRACE_SEND : TRACE_RECV;
            return ORR_OK;
        }
    }
    if (strstr(name, "ncclKernel") != NULL || strstr(name, "ncclDevKernel") != NULL) {
        at->type = TRACE_COLL;
        return find_collective(compat, node, err);
    }
    return ORR_OK;
}

/* ---- making ---- */

/* Every node of the output has these (§8.4); the original stops at the first that is missing. */
static enum orr_status convert_nodes_check_attributes(const struct compat *compat, uint32_t node, struct orr_error *err)
{
    static const struct {
        enum host_has flag;
        const char *key;
    } rows[] = {
        {HOST_HAS_RF_ID, "rf_id"},
        {HOST_HAS_FW_PARENT, "fw_parent"},
        {HOST_HAS_SEQ_ID, "seq_id"},
        {HOST_HAS_SCOPE, "scope"},
        {HOST_HAS_TID, "tid"},
        {HOST_HAS_FW_TID, "fw_tid"},
        {HOST_HAS_OP_SCHEMA, "op_schema"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if ((compat_host(compat, node)->has & rows[i].flag) == 0) {
            return compat_fail(compat, node, err, "no attribute \"%s\" of the right type in \"attrs\"", rows[i].key);
        }
    }
    return ORR_OK;
}

static enum orr_status convert_nodes_make(struct compat *compat, uint32_t node, struct orr_error *err)
{
    struct compat_node *at = &compat->nodes[node];
    enum orr_status status = convert_nodes_check_attributes(compat, node, err);
    if (status != ORR_OK) {
        return status;
    }
    at->follows_parent = at->parent != COMPAT_NONE && compat->nodes[at->parent].made;
    at->made = true;
    compat->order[compat->made_count++] = node;
    if (at->kind == COMPAT_GPU) {
        return find_gpu_type(compat, node, err);
    }
    at->type = at->kind == COMPAT_METADATA ? TRACE_METADATA : TRACE_COMP;
    return ORR_OK;
}

enum orr_status compat_nodes_make(struct compat *compat, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; status == ORR_OK && i < compat->count; i++) {
        if (compat->nodes[i].kind == COMPAT_GPU) {
            continue;
        }
        status = convert_nodes_make(compat, i, err);
        for (uint32_t gpu = compat->nodes[i].first_gpu; status == ORR_OK && gpu != COMPAT_NONE;
             gpu = compat->nodes[gpu].next_gpu) {
            status = convert_nodes_make(compat, gpu, err);
        }
    }
    return status;
}
