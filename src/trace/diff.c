/* SPDX-License-Identifier: Apache-2.0 */
/* A fingerprint is the hash of a node's bytes without its id, dependencies and duration, which are compared by
 * themselves: ids may be what differs, dependencies are compared as nodes, durations with a tolerance. Records whose
 * fingerprints differ are kept in memory from the second reading, both sides, and compared in the end. */
#include "trace/diff.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/arena.h"
#include "base/numbers.h"
#include "trace/diff_record.h"
#include "trace/edit.h"

struct node_mark {
    uint64_t print;    /* fingerprint */
    uint64_t name;     /* hash of the name */
    uint64_t duration; /* us */
};

struct side {
    struct record_reader reader;
    bool open;
    struct edit_graph graph;
    struct node_mark *marks;
    uint32_t mark_count, mark_capacity;
    uint32_t *match;      /* by node: its counterpart, or EDIT_MISSING */
    struct record **kept; /* by node: its record, where it is to be looked into */
    uint64_t duration_us, bytes;
    struct record metadata;
};

struct diff {
    const struct diff_options *options;
    struct diff_counts counts;
    struct mem *mem;
    struct arena arena;
    struct side a, b;
    struct record current; /* being read */
    uint32_t *words;       /* two lists being compared */
    uint32_t word_capacity;
    bool no_memory;
};

/* ---- reading ---- */

/* All fields but id, dependencies and duration. */
static uint64_t fingerprint(const struct record *record)
{
    XXH3_state_t state;
    struct wire_walk walk = wire_walk(record->bytes, record->size);
    struct wire_field field;
    (void)XXH3_64bits_reset(&state);
    while (wire_next(&walk, &field)) {
        uint32_t number = wire_field_number(&field);
        if (number != RECORD_ID && number != RECORD_CTRL && number != RECORD_DATA && number != RECORD_DURATION) {
            (void)XXH3_64bits_update(&state, walk.from, (size_t)(walk.at - walk.from));
        }
    }
    return XXH3_64bits_digest(&state);
}

static bool trace_diff_add_mark(struct side *side, const struct record *record, const struct record_facts *facts,
                                struct mem *mem)
{
    if (!MEM_GROW(mem, side->marks, side->mark_capacity, side->mark_count)) {
        return false;
    }
    side->marks[side->mark_count++] = (struct node_mark){.print = fingerprint(record),
                                                         .name = XXH3_64bits(facts->name.text, facts->name.length),
                                                         .duration = facts->duration_us};
    side->duration_us += facts->duration_us;
    side->bytes += facts->value[TRACE_ATTR_COMM_SIZE];
    return true;
}

static enum orr_status trace_diff_keep(struct diff *diff, const struct record *record, struct record *copy,
                                       struct orr_error *err)
{
    uint8_t *bytes = arena_alloc(&diff->arena, record->size + 1);
    if (bytes == NULL) {
        return mem_error(diff->mem, "the differences of two traces", err);
    }
    memcpy(bytes, record->bytes, record->size);
    *copy = *record;
    copy->bytes = bytes;
    return ORR_OK;
}

static enum orr_status read_marks(struct diff *diff, struct side *side, struct orr_error *err)
{
    struct record_pass pass;
    struct record metadata;
    bool more = false;
    enum orr_status status = record_reader_next(&side->reader, &metadata, &more, err);
    status = status != ORR_OK ? status : trace_diff_keep(diff, &metadata, &side->metadata, err);
    if (status != ORR_OK) {
        return status;
    }
    status = record_pass_open(&pass, &side->reader, NULL, diff->mem, err);
    while (status == ORR_OK && pass.more) {
        status = trace_diff_add_mark(side, &pass.record, &pass.facts, diff->mem)
                     ? record_pass_next(&pass, err)
                     : mem_error(diff->mem, "the nodes of a trace", err);
    }
    record_pass_close(&pass);
    return status;
}

static enum orr_status side_open(struct diff *diff, struct side *side, const char *path, struct orr_error *err)
{
    enum orr_status status = record_reader_open(&side->reader, path, diff->mem, err);
    side->open = status == ORR_OK;
    status = status != ORR_OK ? status : read_marks(diff, side, err);
    status = status != ORR_OK ? status : edit_graph_open(&side->graph, &side->reader, NULL, NULL, diff->mem, err);
    if (status != ORR_OK) {
        return status;
    }
    if (side->graph.node_count != side->mark_count) {
        return error_set(err, ORR_EIO, "%s: the file changed while it was read", path);
    }
    side->match = arena_alloc(&diff->arena, (size_t)side->graph.node_count * sizeof *side->match + 1);
    side->kept = arena_zalloc(&diff->arena, (size_t)side->graph.node_count * sizeof *side->kept + 1);
    if (side->match == NULL || side->kept == NULL) {
        return mem_error(diff->mem, "the nodes of a trace", err);
    }
    memset(side->match, 0xff, (size_t)side->graph.node_count * sizeof *side->match);
    return ORR_OK;
}

static void side_close(struct diff *diff, struct side *side)
{
    if (side->graph.mem != NULL) {
        edit_graph_close(&side->graph);
    }
    mem_free(diff->mem, side->marks, (size_t)side->mark_capacity * sizeof *side->marks);
    if (side->open) {
        record_reader_close(&side->reader);
    }
}

/* ---- matching ---- */

enum { UNMATCHED = UINT32_MAX };

static void pair_up(struct diff *diff, uint32_t a, uint32_t b)
{
    if (diff->a.match[a] == UNMATCHED && diff->b.match[b] == UNMATCHED) {
        diff->a.match[a] = b;
        diff->b.match[b] = a;
    }
}

static void match_ids(struct diff *diff)
{
    uint32_t near = 0;
    for (uint32_t b = 0; b < diff->b.graph.node_count; b++) {
        uint32_t a = edit_graph_find(&diff->a.graph, diff->b.graph.ids[b], near);
        if (a != EDIT_MISSING) {
            pair_up(diff, a, b);
            near = a;
        }
    }
}

struct named {
    uint64_t name;
    uint32_t node;
};

static int compare_named(const void *a, const void *b)
{
    const struct named *x = a;
    const struct named *y = b;
    if (x->name != y->name) {
        return x->name < y->name ? -1 : 1;
    }
    return x->node < y->node ? -1 : x->node > y->node;
}

static struct named *sort_names(struct diff *diff, const struct side *side)
{
    struct named *list = mem_alloc(diff->mem, (size_t)side->mark_count * sizeof *list);
    for (uint32_t i = 0; list != NULL && i < side->mark_count; i++) {
        list[i] = (struct named){side->marks[i].name, i};
    }
    if (list != NULL) {
        qsort(list, side->mark_count, sizeof *list, compare_named);
    }
    return list;
}

/* The k-th node of a name is the k-th of that name. */
static bool match_names(struct diff *diff)
{
    struct named *a = sort_names(diff, &diff->a);
    struct named *b = sort_names(diff, &diff->b);
    bool fine = a != NULL && b != NULL;
    uint32_t i = 0;
    uint32_t j = 0;
    while (fine && i < diff->a.mark_count && j < diff->b.mark_count) {
        if (a[i].name == b[j].name) {
            pair_up(diff, a[i++].node, b[j++].node);
        } else if (a[i].name < b[j].name) {
            i++;
        } else {
            j++;
        }
    }
    mem_free(diff->mem, a, a == NULL ? 0 : (size_t)diff->a.mark_count * sizeof *a);
    mem_free(diff->mem, b, b == NULL ? 0 : (size_t)diff->b.mark_count * sizeof *b);
    return fine;
}

/* ---- dependencies ---- */

/* A node's dependencies as nodes of the second trace, sorted, each once; gives how many. */
static uint32_t sorted_deps(const struct edit_graph *graph, const uint32_t *match, uint32_t node, uint32_t *list)
{
    uint32_t count = 0;
    for (uint32_t d = graph->dep_start[node]; d < graph->dep_start[node + 1]; d++) {
        uint32_t place = graph->deps[d] & EDIT_INDEX;
        uint32_t partner = place == EDIT_MISSING || match == NULL ? place : match[place];
        list[count++] = partner == UNMATCHED ? UNMATCHED : partner | (graph->deps[d] & EDIT_CTRL);
    }
    qsort(list, count, sizeof *list, numbers_order_u32);
    uint32_t distinct = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || list[i] != list[i - 1]) {
            list[distinct++] = list[i];
        }
    }
    return distinct;
}

/* The usual case: the same nodes at the same places. */
static bool equal_deps(const struct diff *diff, uint32_t a, uint32_t b)
{
    const struct edit_graph *left = &diff->a.graph;
    const struct edit_graph *right = &diff->b.graph;
    uint32_t count = left->dep_start[a + 1] - left->dep_start[a];
    if (count != right->dep_start[b + 1] - right->dep_start[b]) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t x = left->deps[left->dep_start[a] + i];
        uint32_t y = right->deps[right->dep_start[b] + i];
        uint32_t place = x & EDIT_INDEX;
        uint32_t partner = place == EDIT_MISSING ? EDIT_MISSING : diff->a.match[place];
        if (partner == UNMATCHED || (partner | (x & EDIT_CTRL)) != y) {
            return false;
        }
    }
    return true;
}

/* Whether the lists name the same nodes; as sets, since neither order nor doubles mean anything. */
static bool same_deps(struct diff *diff, uint32_t a, uint32_t b)
{
    const struct edit_graph *left = &diff->a.graph;
    const struct edit_graph *right = &diff->b.graph;
    if (equal_deps(diff, a, b)) {
        return true;
    }
    uint32_t mine = left->dep_start[a + 1] - left->dep_start[a];
    uint32_t theirs = right->dep_start[b + 1] - right->dep_start[b];
    if (!MEM_RESERVE(diff->mem, diff->words, diff->word_capacity, (uint64_t)mine + theirs + 1)) {
        diff->no_memory = true;
        return true;
    }
    uint32_t x = sorted_deps(left, diff->a.match, a, diff->words);
    uint32_t y = sorted_deps(right, NULL, b, diff->words + mine);
    bool unmatched = x > 0 && diff->words[x - 1] == UNMATCHED;
    return x == y && !unmatched && memcmp(diff->words, diff->words + mine, x * sizeof *diff->words) == 0;
}

static void list_deps(const struct edit_graph *graph, uint32_t node, bool ctrl, char *text, size_t size)
{
    size_t used = 0;
    uint32_t shown = 0;
    uint32_t left_out = 0;
    text[0] = '\0';
    for (uint32_t d = graph->dep_start[node]; d < graph->dep_start[node + 1]; d++) {
        uint32_t place = graph->deps[d] & EDIT_INDEX;
        if (((graph->deps[d] & EDIT_CTRL) != 0) != ctrl) {
            continue;
        }
        if (shown == 6) {
            left_out++;
            continue;
        }
        shown++;
        int wrote = place == EDIT_MISSING
                        ? snprintf(text + used, size - used, "%smissing", shown > 1 ? ", " : "")
                        : snprintf(text + used, size - used, "%s%" PRIu64, shown > 1 ? ", " : "", graph->ids[place]);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    if (left_out > 0) {
        (void)snprintf(text + used, size - used, " and %" PRIu32 " more", left_out);
    } else if (shown == 0) {
        (void)snprintf(text, size, "-");
    }
}

static void tell_deps(struct diff *diff, struct diff_pair *pair, uint32_t a, uint32_t b)
{
    char before[192];
    char after[192];
    for (int ctrl = 0; ctrl < 2; ctrl++) {
        list_deps(&diff->a.graph, a, ctrl == 1, before, sizeof before);
        list_deps(&diff->b.graph, b, ctrl == 1, after, sizeof after);
        /* By name, ids may differ where nodes do not: the list that has any is then shown. */
        if (strcmp(before, after) != 0 || (diff->options->by == DIFF_BY_NAME && ctrl == 0)) {
            diff_tell(pair, ctrl == 1 ? "ctrl_deps" : "data_deps", before, after);
        }
    }
    diff->counts.dependencies++;
    pair->any = true;
}

/* ---- comparing ---- */

/* Whether a pair has to be looked into. */
static bool suspicious(struct diff *diff, uint32_t a, uint32_t b)
{
    const struct node_mark *x = &diff->a.marks[a];
    const struct node_mark *y = &diff->b.marks[b];
    return x->print != y->print || diff_duration(diff->options, x->duration, y->duration) || !same_deps(diff, a, b);
}

/* Marks what is to be looked into: any pointer does until the record is there. */
static void trace_diff_choose(struct diff *diff)
{
    for (uint32_t a = 0; a < diff->a.graph.node_count; a++) {
        uint32_t b = diff->a.match[a];
        bool wanted = b == UNMATCHED || suspicious(diff, a, b);
        diff->a.kept[a] = wanted ? &diff->current : NULL;
        if (wanted && b != UNMATCHED) {
            diff->b.kept[b] = &diff->current;
        }
    }
    for (uint32_t b = 0; b < diff->b.graph.node_count; b++) {
        diff->b.kept[b] = diff->b.match[b] == UNMATCHED ? &diff->current : diff->b.kept[b];
    }
}

static enum orr_status keep_chosen(struct diff *diff, struct side *side, struct orr_error *err)
{
    bool more = false;
    enum orr_status status = record_reader_rewind(&side->reader, err);
    status = status != ORR_OK ? status : record_reader_next(&side->reader, &diff->current, &more, err);
    for (uint32_t node = 0; status == ORR_OK && node < side->graph.node_count; node++) {
        status = record_reader_next(&side->reader, &diff->current, &more, err);
        if (status == ORR_OK && !more) {
            status = error_set(err, ORR_EIO, "%s: the file changed while it was read", side->reader.path);
        }
        if (status == ORR_OK && side->kept[node] != NULL) {
            side->kept[node] = arena_alloc(&diff->arena, sizeof **side->kept);
            status = side->kept[node] == NULL ? mem_error(diff->mem, "the differences of two traces", err)
                                              : trace_diff_keep(diff, &diff->current, side->kept[node], err);
        }
    }
    return status;
}

static const char *trace_diff_name_of(const struct record_facts *facts, char *text, size_t size)
{
    int length = facts->name.length > size - 1 ? (int)size - 1 : (int)facts->name.length;
    (void)snprintf(text, size, "%.*s", length, facts->name.text);
    return text;
}

static enum orr_status tell_alone(struct diff *diff, struct diff_pair *pair, bool added, const struct record *record,
                                  struct orr_error *err)
{
    char name[256];
    struct record_facts *facts = added ? &pair->facts_b : &pair->facts_a;
    enum orr_status status = record_scan(added ? &diff->b.reader : &diff->a.reader, record, facts, err);
    if (status != ORR_OK) {
        return status;
    }
    ++*(added ? &diff->counts.added : &diff->counts.removed);
    pair->item = (struct diff_item){.kind = added ? DIFF_ADDED : DIFF_REMOVED, .id = facts->id};
    pair->item.name = trace_diff_name_of(facts, name, sizeof name);
    const char *type = trace_node_type_name((uint32_t)facts->type);
    diff_tell(pair, "", added ? "-" : type, added ? type : "-");
    return ORR_OK;
}

static enum orr_status trace_diff_tell_pair(struct diff *diff, struct diff_pair *pair, uint32_t a, uint32_t b,
                                            struct orr_error *err)
{
    char name[256];
    pair->a = *diff->a.kept[a];
    pair->b = *diff->b.kept[b];
    enum orr_status status = record_scan(&diff->a.reader, &pair->a, &pair->facts_a, err);
    status = status != ORR_OK ? status : record_scan(&diff->b.reader, &pair->b, &pair->facts_b, err);
    if (status != ORR_OK) {
        return status;
    }
    pair->item = (struct diff_item){.kind = DIFF_CHANGED, .id = pair->facts_b.id};
    pair->item.name = trace_diff_name_of(&pair->facts_b, name, sizeof name);
    pair->any = false;
    diff_records(pair);
    if (!same_deps(diff, a, b)) {
        tell_deps(diff, pair, a, b);
    }
    diff->counts.changed += pair->any;
    return ORR_OK;
}

static void tell_metadata(struct diff *diff, struct diff_pair *pair)
{
    pair->a = diff->a.metadata;
    pair->b = diff->b.metadata;
    if (pair->a.size == pair->b.size && memcmp(pair->a.bytes, pair->b.bytes, pair->a.size) == 0) {
        return;
    }
    pair->item = (struct diff_item){.kind = DIFF_METADATA, .name = ""};
    pair->any = false;
    diff_records(pair);
    diff->counts.metadata = pair->any;
}

static enum orr_status trace_diff_tell_all(struct diff *diff, struct orr_error *err)
{
    struct diff_pair pair = {
        .reader_a = &diff->a.reader, .reader_b = &diff->b.reader, .options = diff->options, .counts = &diff->counts};
    enum orr_status status = ORR_OK;
    record_facts_init(&pair.facts_a);
    record_facts_init(&pair.facts_b);
    tell_metadata(diff, &pair);
    for (uint32_t a = 0; status == ORR_OK && a < diff->a.graph.node_count; a++) {
        if (diff->a.match[a] == UNMATCHED) {
            status = tell_alone(diff, &pair, false, diff->a.kept[a], err);
        }
    }
    for (uint32_t b = 0; status == ORR_OK && b < diff->b.graph.node_count; b++) {
        if (diff->b.match[b] == UNMATCHED) {
            status = tell_alone(diff, &pair, true, diff->b.kept[b], err);
        } else if (diff->b.kept[b] != NULL) {
            status = trace_diff_tell_pair(diff, &pair, diff->b.match[b], b, err);
        }
    }
    record_facts_free(&pair.facts_a, diff->mem);
    record_facts_free(&pair.facts_b, diff->mem);
    return status;
}

static enum orr_status trace_diff_compare(struct diff *diff, const char *path_a, const char *path_b,
                                          struct orr_error *err)
{
    enum orr_status status = side_open(diff, &diff->a, path_a, err);
    status = status != ORR_OK ? status : side_open(diff, &diff->b, path_b, err);
    if (status != ORR_OK) {
        return status;
    }
    if (diff->options->by == DIFF_BY_ID) {
        match_ids(diff);
    } else if (!match_names(diff)) {
        return mem_error(diff->mem, "the names of a trace", err);
    }
    trace_diff_choose(diff);
    status = diff->no_memory ? mem_error(diff->mem, "the dependencies of a trace", err) : ORR_OK;
    status = status != ORR_OK ? status : keep_chosen(diff, &diff->a, err);
    status = status != ORR_OK ? status : keep_chosen(diff, &diff->b, err);
    status = status != ORR_OK ? status : trace_diff_tell_all(diff, err);
    diff->counts.nodes_a = diff->a.graph.node_count;
    diff->counts.nodes_b = diff->b.graph.node_count;
    diff->counts.duration_us_a = diff->a.duration_us;
    diff->counts.duration_us_b = diff->b.duration_us;
    diff->counts.bytes_a = diff->a.bytes;
    diff->counts.bytes_b = diff->b.bytes;
    return status;
}

enum orr_status diff_traces(const char *path_a, const char *path_b, const struct diff_options *options,
                            struct diff_counts *counts, struct mem *mem, struct orr_error *err)
{
    struct diff diff = {.options = options, .mem = mem};
    arena_init(&diff.arena, mem);
    enum orr_status status = trace_diff_compare(&diff, path_a, path_b, err);
    if (status == ORR_OK) {
        *counts = diff.counts;
    }
    side_close(&diff, &diff.a);
    side_close(&diff, &diff.b);
    mem_free(mem, diff.words, (size_t)diff.word_capacity * sizeof *diff.words);
    arena_free(&diff.arena);
    return status;
}
