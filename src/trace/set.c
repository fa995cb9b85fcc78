/* SPDX-License-Identifier: Apache-2.0 */
/* Thousands of rank files usually say the same thing, so sameness is looked for before work is done: equal bytes are
 * recognised by a 128-bit hash before parsing; files that differ only by a constant in their node ids are parsed, found
 * by hashes that leave the constant out, compared in full and dropped again. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/map.h"
#include "io/etz.h"
#include "io/file.h"
#include "trace/graph_build.h"

/* ---- digests already met ---- */

struct digest {
    XXH128_hash_t hash;
    uint64_t size; /* of what was hashed */
};

struct digest_entry {
    struct digest digest;
    uint32_t value_plus_1; /* 0 = free */
};

MAP_STRUCT(digest_map, struct digest_entry);

static uint32_t digest_hash_of(const void *context, const struct digest_entry *entry)
{
    (void)context;
    return (uint32_t)entry->digest.hash.low64;
}

static bool digest_is(const void *context, const struct digest_entry *entry, const struct digest *digest)
{
    (void)context;
    return XXH128_isEqual(entry->digest.hash, digest->hash) && entry->digest.size == digest->size;
}

#define DIGEST_IS_FREE(entry) ((entry)->value_plus_1 == 0)
MAP_DEFINE(digest_map, struct digest_entry, const struct digest *, const void *, digest_hash_of, digest_is,
           DIGEST_IS_FREE);

/* UINT32_MAX when it was not met. */
static uint32_t digest_find(const struct digest_map *map, struct digest digest)
{
    const struct digest_entry *entry = digest_map_find(NULL, map, (uint32_t)digest.hash.low64, &digest);
    return entry == NULL ? UINT32_MAX : entry->value_plus_1 - 1;
}

static bool digest_add(struct digest_map *map, struct mem *mem, struct digest digest, uint32_t value)
{
    if (!digest_map_room(NULL, map, mem)) {
        return false;
    }
    *digest_map_place(NULL, map, (uint32_t)digest.hash.low64, &digest) =
        (struct digest_entry){.digest = digest, .value_plus_1 = value + 1};
    map->count++;
    return true;
}

static void hash_nodes(XXH3_state_t *state, const struct trace_graph *graph, uint32_t from, uint32_t count)
{
    enum { AT_ONCE = 16 };
    struct trace_node block[AT_ONCE];
    for (uint32_t i = 0; i < count; i += AT_ONCE) {
        uint32_t part = count - i < AT_ONCE ? count - i : AT_ONCE;
        memcpy(block, &graph->nodes[from + i], part * sizeof *block);
        for (uint32_t j = 0; j < part; j++) {
            block[j].id -= graph->nodes[0].id; /* ids as distances from the first */
        }
        (void)XXH3_128bits_update(state, block, part * sizeof *block);
    }
}

/* Tells most different graphs apart by their sizes and a few nodes; equal graphs have equal ones. */
static struct digest graph_sample(const struct trace_graph *graph)
{
    enum { SAMPLES = 64 };
    const uint32_t sizes[] = {graph->child_total, graph->parent_total, graph->string_bytes};
    uint32_t step = graph->node_count / SAMPLES + 1;
    XXH3_state_t state;
    (void)XXH3_128bits_reset(&state);
    (void)XXH3_128bits_update(&state, sizes, sizeof sizes);
    for (uint32_t i = 0; i < graph->node_count; i += step) {
        hash_nodes(&state, graph, i, 1);
    }
    return (struct digest){.hash = XXH3_128bits_digest(&state), .size = graph->node_count};
}

/* Of everything trace_graph_equal compares. */
static struct digest graph_digest(const struct trace_graph *graph)
{
    XXH3_state_t state;
    (void)XXH3_128bits_reset(&state);
    hash_nodes(&state, graph, 0, graph->node_count);
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
    struct file_window file;
    struct etz_reader archive; /* that the prefix is; closed: they are files */
    uint32_t *of_content;      /* of the archive: the first rank that has it, plus 1 */
    struct digest_map bytes; /* of a file in full → a rank that has it; of a large one only if its start came twice */
    struct digest_map starts;  /* of a large file's first bytes and size → the first rank that has them */
    struct digest_map twice;   /* the same, once that rank's file has been hashed in full */
    struct digest_map samples; /* of a graph → the index of the first such in the set */
    struct digest_map graphs; /* of a graph in full → its index; of those that differ from the first of their sample */
    uint32_t rank_capacity;
    uint32_t graph_capacity;
    size_t path_bytes; /* room for the longest path of the set */
};

static enum orr_status trace_set_no_memory(struct load *load)
{
    return mem_error(load->mem, "the set of traces", load->err);
}

static enum orr_status trace_set_keep_graph(struct load *load, struct trace_graph *graph)
{
    struct trace_set *set = load->set;
    if (!mem_reserve(load->mem, (void **)&set->graphs, &load->graph_capacity, (uint64_t)set->graph_count + 1,
                     sizeof(struct trace_graph *))) {
        trace_graph_free(graph);
        return trace_set_no_memory(load);
    }
    set->graphs[set->graph_count++] = graph;
    return ORR_OK;
}

/* The graph already there that this one equals, by index, or UINT32_MAX after noting this one as the next. A graph is
 * hashed in full only when a different one has the same sample. */
static bool find_equal(struct load *load, const struct trace_graph *graph, uint32_t *equal)
{
    struct trace_set *set = load->set;
    struct digest sample = graph_sample(graph);
    *equal = digest_find(&load->samples, sample);
    if (*equal == UINT32_MAX) {
        return digest_add(&load->samples, load->mem, sample, set->graph_count);
    }
    if (trace_graph_equal(set->graphs[*equal], graph)) {
        return true;
    }
    struct digest digest = graph_digest(graph);
    *equal = digest_find(&load->graphs, digest);
    if (*equal != UINT32_MAX && trace_graph_equal(set->graphs[*equal], graph)) {
        return true;
    }
    *equal = UINT32_MAX;
    return digest_add(&load->graphs, load->mem, digest, set->graph_count);
}

/* Parses the open file; `rank` gets a graph that was there already, or the new one. */
static enum orr_status load_new(struct load *load, struct trace_rank *rank)
{
    struct trace_graph *graph;
    uint32_t equal = UINT32_MAX;
    enum orr_status status = graph_load(&load->file, load->mem, &graph, load->err);
    if (status != ORR_OK) {
        return status;
    }
    if (!find_equal(load, graph, &equal)) {
        status = trace_set_no_memory(load);
    }
    if (status == ORR_OK && equal == UINT32_MAX) {
        *rank = (struct trace_rank){.graph = graph};
        return trace_set_keep_graph(load, graph);
    }
    if (status == ORR_OK) {
        rank->graph = load->set->graphs[equal];
        rank->id_offset = graph->node_count == 0 ? 0 : graph->nodes[0].id - rank->graph->nodes[0].id;
    }
    trace_graph_free(graph);
    return status;
}

static enum orr_status load_unless_known(struct load *load, struct digest digest)
{
    struct trace_set *set = load->set;
    uint32_t twin = digest_find(&load->bytes, digest);
    if (twin != UINT32_MAX) {
        set->ranks[set->rank_count++] = set->ranks[twin];
        return ORR_OK;
    }
    enum orr_status status = load_new(load, &set->ranks[set->rank_count]);
    if (status != ORR_OK) {
        return status;
    }
    set->rank_count++;
    return digest_add(&load->bytes, load->mem, digest, set->rank_count - 1) ? ORR_OK : trace_set_no_memory(load);
}

static void hash_seen(void *context, const uint8_t *bytes, size_t size)
{
    (void)XXH3_128bits_update(context, bytes, size);
}

/* Reads a file to its end for its digest alone; the window is then open at its beginning. */
static enum orr_status trace_set_hash_file(struct load *load, const char *path, struct digest *digest)
{
    XXH3_state_t state;
    struct file_window *file = &load->file;
    (void)XXH3_128bits_reset(&state);
    file->seen = hash_seen;
    file->seen_context = &state;
    enum orr_status status = file_window_open(file, path, load->err);
    while (status == ORR_OK && !file->at_end) {
        status = file_window_move(file, file->size, load->err);
    }
    file->seen = NULL;
    if (status != ORR_OK) {
        return status;
    }
    *digest = (struct digest){.hash = XXH3_128bits_digest(&state), .size = file->offset + file->size};
    return file_window_rewind(file, load->err);
}

static void set_path(const struct load *load, uint32_t rank, char *path)
{
    (void)snprintf(path, load->path_bytes, "%s.%" PRIu32 ".et", load->set->prefix, rank);
}

/* A file larger than the window is hashed in full, which takes reading it twice, only when another began like it. */
static enum orr_status load_large(struct load *load, char *path)
{
    struct trace_set *set = load->set;
    uint32_t rank = set->rank_count;
    struct digest digest;
    struct digest start = {XXH3_128bits(load->file.bytes, load->file.size), load->file.file_size};
    uint32_t first = digest_find(&load->starts, start);
    if (first == UINT32_MAX) {
        enum orr_status status = load_new(load, &set->ranks[rank]);
        if (status == ORR_OK) {
            set->rank_count++;
            status = digest_add(&load->starts, load->mem, start, rank) ? ORR_OK : trace_set_no_memory(load);
        }
        return status;
    }
    enum orr_status status = ORR_OK;
    if (digest_find(&load->twice, start) == UINT32_MAX) {
        set_path(load, first, path);
        status = trace_set_hash_file(load, path, &digest);
        if (status == ORR_OK && (!digest_add(&load->bytes, load->mem, digest, first) ||
                                 !digest_add(&load->twice, load->mem, start, first))) {
            status = trace_set_no_memory(load);
        }
        set_path(load, rank, path);
    }
    if (status == ORR_OK) {
        status = trace_set_hash_file(load, path, &digest);
    }
    return status == ORR_OK ? load_unless_known(load, digest) : status;
}

/* A rank whose trace in the archive is another's but for the ids has its graph, without being unpacked. */
static enum orr_status load_from_archive(struct load *load, bool *known)
{
    struct trace_set *set = load->set;
    struct etz_place place;
    struct etz_place first;
    *known = false;
    enum orr_status status = etz_find(&load->archive, set->rank_count, &place, load->err);
    if (status != ORR_OK || place.by_rank) {
        return status;
    }
    uint32_t *of_content = &load->of_content[place.content];
    if (*of_content == 0) {
        *of_content = set->rank_count + 1;
        return ORR_OK;
    }
    status = etz_find(&load->archive, *of_content - 1, &first, load->err);
    if (status == ORR_OK) {
        struct trace_rank *rank = &set->ranks[set->rank_count++];
        *rank = set->ranks[*of_content - 1];
        rank->id_offset += place.base - first.base;
        *known = true;
    }
    return status;
}

static enum orr_status load_rank(struct load *load, char *path)
{
    struct trace_set *set = load->set;
    bool known = false;
    if (!MEM_GROW(load->mem, set->ranks, load->rank_capacity, set->rank_count)) {
        return trace_set_no_memory(load);
    }
    enum orr_status status = load->of_content != NULL ? load_from_archive(load, &known) : ORR_OK;
    if (status != ORR_OK || known) {
        return status;
    }
    status = file_window_open(&load->file, path, load->err);
    if (status != ORR_OK) {
        return status;
    }
    if (!load->file.at_end) {
        return load_large(load, path);
    }
    struct digest digest = {XXH3_128bits(load->file.bytes, load->file.size), load->file.size};
    return load_unless_known(load, digest);
}

/* A missing file is most often a network of more ranks than the traces are for, so the error says how many it has. */
static enum orr_status trace_set_fail_missing(const struct load *load, uint32_t ranks, enum orr_status status)
{
    if (load->err == NULL) {
        return status;
    }
    struct orr_error why = *load->err;
    return error_set(load->err, status, "%.950s (%" PRIu32 " rank%s expected)", why.text, ranks,
                     ranks == 1 ? " is" : "s are");
}

/* Said once for all ranks that do nothing, after the first of them. */
static enum orr_status note_empty(const struct load *load, char *path)
{
    const struct trace_set *set = load->set;
    uint32_t first = 0;
    uint32_t empty = 0;
    for (uint32_t rank = set->rank_count; rank-- > 0;) {
        if (set->ranks[rank].graph->node_count == 0) {
            first = rank;
            empty++;
        }
    }
    if (empty == 0) {
        return ORR_OK;
    }
    set_path(load, first, path);
    if (empty == 1) {
        return notes_add(load->notes, load->err, "%s: the trace has no nodes; its rank does nothing", path);
    }
    return notes_add(load->notes, load->err,
                     "%s: the trace has no nodes; %" PRIu32 " of %" PRIu32 " ranks have such a trace and do nothing",
                     path, empty, set->rank_count);
}

/* Traces made for more ranks would give a plausible answer to another question. */
static enum orr_status note_more(const struct load *load, uint32_t ranks, char *path)
{
    set_path(load, ranks, path);
    if (!file_exists(path)) {
        return ORR_OK;
    }
    return notes_add(load->notes, load->err, "%s exists, but the network has %" PRIu32 " rank%s: it is not read", path,
                     ranks, ranks == 1 ? "" : "s");
}

static enum orr_status load_ranks(struct load *load, uint32_t ranks, bool as_many_as_exist)
{
    load->path_bytes = strlen(load->set->prefix) + sizeof ".4294967295.et";
    char *path = mem_alloc(load->mem, load->path_bytes);
    if (path == NULL) {
        return trace_set_no_memory(load);
    }
    enum orr_status status = ORR_OK;
    for (uint32_t rank = 0; rank < ranks && status == ORR_OK; rank++) {
        set_path(load, rank, path);
        if (as_many_as_exist && rank > 0 && !file_exists(path)) {
            break;
        }
        status = load_rank(load, path);
        if (status == ORR_OK) {
            load->set->ranks[rank].file = rank;
        }
    }
    if (status == ORR_EIO && !as_many_as_exist && !file_exists(path)) {
        status = trace_set_fail_missing(load, ranks, status);
    }
    if (status == ORR_OK) {
        status = note_empty(load, path);
    }
    if (status == ORR_OK && !as_many_as_exist) {
        status = note_more(load, ranks, path);
    }
    mem_free(load->mem, path, load->path_bytes);
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
    for (uint32_t i = set->borrowed; i < set->graph_count; i++) {
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

struct trace_set *trace_set_new(const char *prefix, uint32_t ranks, uint32_t graphs, struct mem *mem)
{
    struct trace_set *set = set_new(prefix, mem);
    if (set == NULL) {
        return NULL;
    }
    set->ranks = mem_zalloc(mem, (size_t)ranks * sizeof *set->ranks);
    set->rank_count = set->ranks != NULL ? ranks : 0;
    set->graphs = mem_zalloc(mem, (size_t)graphs * sizeof(struct trace_graph *));
    set->graph_count = set->graphs != NULL ? graphs : 0;
    if (set->ranks == NULL || set->graphs == NULL) {
        trace_set_free(set);
        return NULL;
    }
    return set;
}

static enum orr_status open_archive(struct load *load)
{
    enum orr_status status = etz_open(load->set->prefix, &load->archive, load->err);
    if (status == ORR_OK) {
        load->of_content = mem_zalloc(load->mem, ((size_t)load->archive.contents + 1) * sizeof *load->of_content);
        status = load->of_content != NULL ? ORR_OK : trace_set_no_memory(load);
    }
    return status;
}

static void close_archive(struct load *load)
{
    mem_free(load->mem, load->of_content, ((size_t)load->archive.contents + 1) * sizeof *load->of_content);
    etz_close(&load->archive);
}

enum orr_status trace_set_load(const char *prefix, uint32_t ranks, bool as_many_as_exist, struct mem *mem,
                               struct notes *notes, struct trace_set **set, struct orr_error *err)
{
    struct load load = {.set = set_new(prefix, mem), .mem = mem, .notes = notes, .err = err, .archive = {.fd = -1}};
    if (load.set == NULL) {
        return trace_set_no_memory(&load);
    }
    file_window_init(&load.file, mem);
    enum orr_status status = etz_is_archive(prefix) ? open_archive(&load) : ORR_OK;
    status = status == ORR_OK ? load_ranks(&load, ranks, as_many_as_exist) : status;
    if (status == ORR_OK && !set_trim(&load)) {
        status = trace_set_no_memory(&load);
    }
    file_window_free(&load.file);
    close_archive(&load);
    digest_map_free(&load.bytes, mem);
    digest_map_free(&load.starts, mem);
    digest_map_free(&load.twice, mem);
    digest_map_free(&load.samples, mem);
    digest_map_free(&load.graphs, mem);
    if (status != ORR_OK) {
        set_release(load.set, load.rank_capacity, load.graph_capacity);
        return status;
    }
    *set = load.set;
    return ORR_OK;
}
