/* Thousands of rank files usually say the same thing, so sameness is looked for before work is done: equal bytes are
 * recognised by a 128-bit hash before parsing; files that differ only by a constant in their node ids are parsed, found
 * by a hash that leaves the constant out, compared in full and dropped again. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "io/file.h"
#include "trace/graph.h"

/* ---- digests already met ---- */

struct digest {
    XXH128_hash_t hash;
    uint64_t size; /* of what was hashed */
};

struct digest_entry {
    struct digest digest;
    uint32_t value_plus_1; /* 0 = free */
};

struct digest_map {
    struct digest_entry *entries;
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t count;
};

static struct digest_entry *map_slot(struct digest_entry *entries, uint32_t capacity, struct digest digest)
{
    uint32_t at = (uint32_t)digest.hash.low64 & (capacity - 1);
    while (entries[at].value_plus_1 != 0 &&
           (!XXH128_isEqual(entries[at].digest.hash, digest.hash) || entries[at].digest.size != digest.size)) {
        at = (at + 1) & (capacity - 1);
    }
    return &entries[at];
}

/* UINT32_MAX when it was not met. */
static uint32_t map_find(const struct digest_map *map, struct digest digest)
{
    return map->capacity == 0 ? UINT32_MAX : map_slot(map->entries, map->capacity, digest)->value_plus_1 - 1;
}

static bool map_add(struct digest_map *map, struct mem *mem, struct digest digest, uint32_t value)
{
    if (map->count * 2 >= map->capacity) {
        uint32_t wider = map->capacity == 0 ? 16 : map->capacity * 2;
        struct digest_entry *entries = mem_zalloc(mem, wider * sizeof *entries);
        if (entries == NULL) {
            return false;
        }
        for (uint32_t i = 0; i < map->capacity; i++) {
            if (map->entries[i].value_plus_1 != 0) {
                *map_slot(entries, wider, map->entries[i].digest) = map->entries[i];
            }
        }
        mem_free(mem, map->entries, map->capacity * sizeof *entries);
        map->entries = entries;
        map->capacity = wider;
    }
    *map_slot(map->entries, map->capacity, digest) = (struct digest_entry){.digest = digest, .value_plus_1 = value + 1};
    map->count++;
    return true;
}

static void map_free(struct digest_map *map, struct mem *mem)
{
    mem_free(mem, map->entries, map->capacity * sizeof *map->entries);
}

/* Of everything trace_graph_equal compares, ids as distances from the first. */
static struct digest graph_digest(const struct trace_graph *graph)
{
    XXH3_state_t state;
    (void)XXH3_128bits_reset(&state);
    enum { NODES_AT_ONCE = 16 };
    struct trace_node block[NODES_AT_ONCE];
    for (uint32_t i = 0; i < graph->node_count; i += NODES_AT_ONCE) {
        uint32_t count = graph->node_count - i < NODES_AT_ONCE ? graph->node_count - i : NODES_AT_ONCE;
        memcpy(block, &graph->nodes[i], count * sizeof *block);
        for (uint32_t j = 0; j < count; j++) {
            block[j].id -= graph->nodes[0].id;
        }
        (void)XXH3_128bits_update(&state, block, count * sizeof *block);
    }
    (void)XXH3_128bits_update(&state, graph->parents, graph->parent_total * sizeof *graph->parents);
    (void)XXH3_128bits_update(&state, graph->file_order, graph->node_count * sizeof *graph->file_order);
    (void)XXH3_128bits_update(&state, graph->strings, graph->string_bytes);
    return (struct digest){.hash = XXH3_128bits_digest(&state), .size = graph->node_count};
}

/* ---- loading ---- */

struct load {
    struct trace_set *set;
    struct mem *mem;
    struct notes *notes;
    struct orr_error *err;
    struct file_buffer file;
    bool alone;               /* one rank asked for: nobody to share with */
    struct digest_map bytes;  /* of a file → a rank that has it */
    struct digest_map graphs; /* of a graph → its index in the set */
    uint32_t rank_capacity;
    uint32_t graph_capacity;
};

static enum orr_status no_memory(struct load *load)
{
    return mem_error(load->mem, "the set of traces", load->err);
}

static enum orr_status keep_graph(struct load *load, struct trace_graph *graph, struct digest digest)
{
    struct trace_set *set = load->set;
    if (!mem_reserve(load->mem, (void **)&set->graphs, &load->graph_capacity, (uint64_t)set->graph_count + 1,
                     sizeof(struct trace_graph *)) ||
        !map_add(&load->graphs, load->mem, digest, set->graph_count)) {
        trace_graph_free(graph);
        return no_memory(load);
    }
    set->graphs[set->graph_count++] = graph;
    return ORR_OK;
}

/* Parses the file in the buffer; `rank` gets a graph that was there already, or the new one. */
static enum orr_status load_new(struct load *load, const char *path, struct trace_rank *rank)
{
    struct trace_graph *graph;
    enum orr_status status = trace_graph_parse(load->file.bytes, load->file.size, path, load->mem, &graph, load->err);
    if (status != ORR_OK) {
        return status;
    }
    if (graph->node_count == 0) {
        status = notes_add(load->notes, load->err, "%s: the trace has no nodes; its rank does nothing", path);
        if (status != ORR_OK) {
            trace_graph_free(graph);
            return status;
        }
    }
    struct digest digest = {0};
    if (!load->alone) {
        digest = graph_digest(graph);
    }
    uint32_t known = map_find(&load->graphs, digest);
    if (known != UINT32_MAX && trace_graph_equal(load->set->graphs[known], graph)) {
        rank->graph = load->set->graphs[known];
        rank->id_offset = graph->node_count == 0 ? 0 : graph->nodes[0].id - rank->graph->nodes[0].id;
        trace_graph_free(graph);
        return ORR_OK;
    }
    *rank = (struct trace_rank){.graph = graph};
    return keep_graph(load, graph, digest);
}

static enum orr_status load_rank(struct load *load, const char *path)
{
    struct trace_set *set = load->set;
    enum orr_status status = file_buffer_read(&load->file, path, load->err);
    if (status != ORR_OK) {
        return status;
    }
    set->bytes_read += load->file.size;
    if (!mem_reserve(load->mem, (void **)&set->ranks, &load->rank_capacity, (uint64_t)set->rank_count + 1,
                     sizeof *set->ranks)) {
        return no_memory(load);
    }
    struct digest digest = {.size = load->file.size};
    if (!load->alone) {
        digest.hash = XXH3_128bits(load->file.bytes, load->file.size);
    }
    uint32_t twin = map_find(&load->bytes, digest);
    if (twin != UINT32_MAX) {
        set->ranks[set->rank_count++] = set->ranks[twin];
        return ORR_OK;
    }
    status = load_new(load, path, &set->ranks[set->rank_count]);
    if (status != ORR_OK) {
        return status;
    }
    set->rank_count++;
    return map_add(&load->bytes, load->mem, digest, set->rank_count - 1) ? ORR_OK : no_memory(load);
}

static enum orr_status load_ranks(struct load *load, uint32_t ranks, bool as_many_as_exist)
{
    size_t path_bytes = strlen(load->set->prefix) + sizeof ".4294967295.et";
    char *path = mem_alloc(load->mem, path_bytes);
    if (path == NULL) {
        return no_memory(load);
    }
    enum orr_status status = ORR_OK;
    for (uint32_t rank = 0; rank < ranks && status == ORR_OK; rank++) {
        (void)snprintf(path, path_bytes, "%s.%" PRIu32 ".et", load->set->prefix, rank);
        if (as_many_as_exist && rank > 0 && !file_exists(path)) {
            break;
        }
        status = load_rank(load, path);
    }
    mem_free(load->mem, path, path_bytes);
    return status;
}

/* The arrays doubled while they grew; a set keeps only what it uses, so that its size need not be kept beside it. */
static bool set_trim(struct load *load)
{
    struct trace_set *set = load->set;
    void *ranks = mem_resize(load->mem, set->ranks, load->rank_capacity * sizeof *set->ranks,
                             set->rank_count * sizeof *set->ranks);
    if (ranks == NULL) {
        return false;
    }
    set->ranks = ranks;
    load->rank_capacity = set->rank_count;
    void *graphs = mem_resize(load->mem, (void *)set->graphs, load->graph_capacity * sizeof(struct trace_graph *),
                              set->graph_count * sizeof(struct trace_graph *));
    if (graphs == NULL) {
        return false;
    }
    set->graphs = graphs;
    load->graph_capacity = set->graph_count;
    return true;
}

static void set_release(struct trace_set *set, uint32_t rank_capacity, uint32_t graph_capacity)
{
    for (uint32_t i = 0; i < set->graph_count; i++) {
        trace_graph_free(set->graphs[i]);
    }
    struct mem *mem = set->mem;
    mem_free(mem, set->ranks, rank_capacity * sizeof *set->ranks);
    mem_free(mem, (void *)set->graphs, graph_capacity * sizeof(struct trace_graph *));
    if (set->prefix != NULL) {
        mem_free(mem, set->prefix, strlen(set->prefix) + 1);
    }
    mem_free(mem, set, sizeof *set);
}

void trace_set_free(struct trace_set *set)
{
    if (set != NULL) {
        set_release(set, set->rank_count, set->graph_count);
    }
}

static struct trace_set *set_new(const char *prefix, struct mem *mem)
{
    struct trace_set *set = mem_zalloc(mem, sizeof *set);
    if (set == NULL) {
        return NULL;
    }
    set->mem = mem;
    set->prefix = mem_alloc(mem, strlen(prefix) + 1);
    if (set->prefix == NULL) {
        mem_free(mem, set, sizeof *set);
        return NULL;
    }
    memcpy(set->prefix, prefix, strlen(prefix) + 1);
    return set;
}

enum orr_status trace_set_load(const char *prefix, uint32_t ranks, bool as_many_as_exist, struct mem *mem,
                               struct notes *notes, struct trace_set **set, struct orr_error *err)
{
    struct load load = {.set = set_new(prefix, mem), .mem = mem, .notes = notes, .err = err, .alone = ranks == 1};
    if (load.set == NULL) {
        return no_memory(&load);
    }
    file_buffer_init(&load.file, mem);
    enum orr_status status = load_ranks(&load, ranks, as_many_as_exist);
    if (status == ORR_OK && !set_trim(&load)) {
        status = no_memory(&load);
    }
    file_buffer_free(&load.file);
    map_free(&load.bytes, mem);
    map_free(&load.graphs, mem);
    if (status != ORR_OK) {
        set_release(load.set, load.rank_capacity, load.graph_capacity);
        return status;
    }
    *set = load.set;
    return ORR_OK;
}
