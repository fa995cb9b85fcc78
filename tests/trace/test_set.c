/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of rank files: who shares a graph with whom, and what is said about the files that cannot be read. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file.h"
#include "tests/check.h"
#include "tests/folder.h"
#include "tests/trace/bytes.h"
#include "trace/graph.h"

static const char *prefix_of(const char *name)
{
    static char prefix[128];
    (void)snprintf(prefix, sizeof prefix, "%s/%s", folder, name);
    return prefix;
}

static void write_rank(const char *name, unsigned rank, const struct bytes *file)
{
    char path[160];
    struct orr_error err = {0};
    (void)snprintf(path, sizeof path, "%s.%u.et", prefix_of(name), rank);
    CHECK_OK(file_write(path, file->at, file->size, &err), &err);
}

/* Two nodes, the second behind the first; ids from `first` on. */
static void make_pair(struct bytes *file, uint64_t first, uint32_t type)
{
    bytes_begin(file);
    bytes_node(file, first, TRACE_COMP, NULL, 0);
    bytes_node(file, first + 1, type, &first, 1);
}

static struct trace_set *load(const char *name, uint32_t ranks, bool as_many, struct mem *mem, struct notes *notes)
{
    struct orr_error err = {0};
    struct trace_set *set = NULL;
    CHECK_OK(trace_set_load(prefix_of(name), ranks, as_many, mem, notes, &set, &err), &err);
    return set;
}

static void equal_files_and_files_shifted_by_a_constant_share_a_graph(void **state)
{
    (void)state;
    static const struct {
        uint64_t first;
        uint32_t type;
    } ranks[] = {{5, TRACE_COMP},    {5, TRACE_COMP}, {1000, TRACE_COMP},
                 {5, TRACE_INVALID}, {2, TRACE_COMP}, {UINT64_MAX - 1, TRACE_COMP},
                 {1000, TRACE_COMP}};
    for (unsigned r = 0; r < COUNT_OF(ranks); r++) {
        struct bytes file;
        make_pair(&file, ranks[r].first, ranks[r].type);
        write_rank("share", r, &file);
    }
    struct mem mem = {0};
    struct notes notes;
    notes_init(&notes, &mem, false);
    struct trace_set *set = load("share", COUNT_OF(ranks), false, &mem, &notes);
    CHECK_U64(set->rank_count, COUNT_OF(ranks), "ranks");
    CHECK_U64(set->graph_count, 2, "graphs");
    for (unsigned r = 0; r < COUNT_OF(ranks); r++) {
        CHECK(set->ranks[r].graph == set->graphs[ranks[r].type == TRACE_COMP ? 0 : 1], "rank %u has its graph", r);
        CHECK_U64(trace_rank_node_id(&set->ranks[r], 0), ranks[r].first, "first id of rank %u", r);
        CHECK_U64(trace_rank_node_id(&set->ranks[r], 1), ranks[r].first + 1, "second id of rank %u", r);
    }
    trace_set_free(set);
    notes_free(&notes);
    CHECK_U64(mem.used, 0, "all memory is given back");
}

static void files_that_differ_in_anything_else_do_not_share(void **state)
{
    (void)state;
    struct bytes files[6];
    for (unsigned r = 0; r < COUNT_OF(files); r++) {
        struct bytes node = {.size = 0};
        bytes_begin(&files[r]);
        bytes_node(&files[r], 1, TRACE_COMP, NULL, 0);
        bytes_node(&files[r], 2, TRACE_COMP, NULL, 0);
        bytes_number(&node, 1, r == 1 ? 4 : 3);
        bytes_text(&node, 2, r == 2 ? "b" : "a");
        bytes_numbers(&node, r == 3 ? 4 : 5, r == 4 ? (uint64_t[]){2, 1} : (uint64_t[]){1, 2}, 2);
        bytes_number(&node, 7, r == 5 ? 8 : 9);
        bytes_record(&files[r], &node);
        write_rank("differ", r, &files[r]);
    }
    struct mem mem = {0};
    struct notes notes;
    notes_init(&notes, &mem, false);
    struct trace_set *set = load("differ", COUNT_OF(files), false, &mem, &notes);
    CHECK_U64(set->graph_count, 5, "graphs: only whether a dependency is data or control is not kept");
    CHECK(set->ranks[3].graph == set->ranks[0].graph, "rank 3 differs in the kind of dependency only");
    trace_set_free(set);
    notes_free(&notes);
}

static void as_many_as_exist_stops_before_the_first_gap(void **state)
{
    (void)state;
    struct bytes file;
    make_pair(&file, 1, TRACE_COMP);
    write_rank("gap", 0, &file);
    write_rank("gap", 1, &file);
    write_rank("gap", 3, &file);
    struct mem mem = {0};
    struct notes notes;
    struct orr_error err = {0};
    notes_init(&notes, &mem, false);
    struct trace_set *set = load("gap", UINT32_MAX, true, &mem, &notes);
    CHECK_U64(set->rank_count, 2, "ranks");
    trace_set_free(set);
    set = NULL;
    CHECK_STATUS(trace_set_load(prefix_of("gap"), 4, false, &mem, &notes, &set, &err), ORR_EIO);
    CHECK_CONTAINS(err.text, "gap.2.et: cannot be opened: No such file or directory (4 ranks are expected)");
    CHECK_STATUS(trace_set_load(prefix_of("none"), 4, true, &mem, &notes, &set, &err), ORR_EIO);
    CHECK_CONTAINS(err.text, "none.0.et: cannot be opened");
    CHECK(strstr(err.text, "expected") == NULL, "no number is expected of as many as exist: %s", err.text);
    CHECK_STATUS(trace_set_load(prefix_of("none"), 1, false, &mem, &notes, &set, NULL), ORR_EIO);
    CHECK_U64(notes.count, 0, "notes");
    CHECK(set == NULL, "an output is written only on success");
    notes_free(&notes);
    CHECK_U64(mem.used, 0, "all memory is given back");
}

static void a_rank_file_behind_the_last_rank_is_a_note(void **state)
{
    (void)state;
    struct bytes file;
    make_pair(&file, 1, TRACE_COMP);
    for (unsigned rank = 0; rank < 3; rank++) {
        write_rank("more", rank, &file);
    }
    static const char *const want[] = {NULL, "more.1.et exists, but the network has 1 rank: it is not read",
                                       "more.2.et exists, but the network has 2 ranks: it is not read", NULL};
    for (uint32_t ranks = 1; ranks <= 3; ranks++) {
        struct mem mem = {0};
        struct notes notes;
        notes_init(&notes, &mem, false);
        struct trace_set *set = load("more", ranks, false, &mem, &notes);
        CHECK_U64(notes.count, want[ranks] != NULL, "notes with %u ranks", ranks);
        if (notes.count == 1) {
            CHECK_CONTAINS(notes.lines[0], want[ranks]);
        }
        trace_set_free(set);
        notes_free(&notes);
        CHECK_U64(mem.used, 0, "all memory is given back");
    }
}

static void a_trace_without_nodes_is_a_note_and_an_error_when_strict(void **state)
{
    (void)state;
    struct bytes file;
    bytes_begin(&file);
    write_rank("empty", 0, &file);
    write_rank("empty", 1, &file);
    write_rank("alone", 1, &file);
    make_pair(&file, 1, TRACE_COMP);
    write_rank("alone", 0, &file);
    struct mem mem = {0};
    struct notes notes;
    notes_init(&notes, &mem, false);
    struct trace_set *set = load("empty", 2, false, &mem, &notes);
    CHECK_U64(notes.count, 1, "said once for equal files");
    CHECK_CONTAINS(notes.lines[0], "empty.0.et: the trace has no nodes; 2 of 2 ranks have such a trace and do nothing");
    trace_set_free(set);
    set = load("alone", 2, false, &mem, &notes);
    CHECK_U64(notes.count, 2, "notes");
    CHECK_CONTAINS(notes.lines[1], "alone.1.et: the trace has no nodes; its rank does nothing");
    trace_set_free(set);
    notes_free(&notes);
    struct orr_error err = {0};
    notes_init(&notes, &mem, true);
    CHECK_STATUS(trace_set_load(prefix_of("empty"), 2, false, &mem, &notes, &set, &err), ORR_EINVAL);
    notes_free(&notes);
    CHECK_U64(mem.used, 0, "all memory is given back");
}

static void a_bad_rank_is_named_and_nothing_leaks(void **state)
{
    (void)state;
    struct bytes file;
    make_pair(&file, 1, TRACE_COMP);
    write_rank("bad", 0, &file);
    file.size--;
    write_rank("bad", 1, &file);
    char path[160];
    (void)snprintf(path, sizeof path, "%s.1.et", prefix_of("folder"));
    make_pair(&file, 1, TRACE_COMP);
    write_rank("folder", 0, &file);
    CHECK(mkdir(path, 0700) == 0, "a folder in the way");
    struct mem mem = {0};
    struct notes notes;
    struct orr_error err = {0};
    struct trace_set *set = NULL;
    notes_init(&notes, &mem, false);
    CHECK_STATUS(trace_set_load(prefix_of("bad"), 2, false, &mem, &notes, &set, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "bad.1.et: byte ");
    CHECK_STATUS(trace_set_load(prefix_of("folder"), 2, false, &mem, &notes, &set, &err), ORR_EIO);
    CHECK_CONTAINS(err.text, "folder.1.et: is a directory");
    mem.limit = 4000;
    CHECK_STATUS(trace_set_load(prefix_of("share"), 2, false, &mem, &notes, &set, &err), ORR_ENOMEM);
    notes_free(&notes);
    CHECK_U64(mem.used, 0, "all memory is given back");
}

/* ---- files larger than the reader's window ---- */

enum { LARGE_NODES = 60000 };

struct large {
    uint8_t *at;
    size_t size, capacity;
};

static void large_add(struct large *large, const struct bytes *more)
{
    if (large->capacity - large->size < more->size) {
        large->capacity = large->capacity * 2 + sizeof more->at;
        large->at = realloc(large->at, large->capacity);
        assert_non_null(large->at);
    }
    memcpy(large->at + large->size, more->at, more->size);
    large->size += more->size;
}

/* A chain whose records lie across every boundary of the window, with one record larger than the window in it. */
static struct large make_large(uint64_t last_duration, uint64_t last_id)
{
    struct large large = {0};
    struct bytes part;
    bytes_begin(&part);
    large_add(&large, &part);
    for (uint64_t id = 1; id <= LARGE_NODES; id++) {
        part.size = 0;
        if (id == LARGE_NODES) {
            struct bytes node = {.size = 0};
            bytes_number(&node, 1, last_id);
            bytes_number(&node, 7, last_duration);
            bytes_record(&part, &node);
        } else {
            bytes_node(&part, id, TRACE_COMP, (uint64_t[]){id - 1, id / 2}, id > 1 ? 1 + id % 2 : 0);
        }
        large_add(&large, &part);
        if (id == LARGE_NODES / 2) { /* a node with an unknown field of 600 kB */
            enum { PADDING = 600000 };
            struct bytes record = {.size = 0};
            struct bytes rest = {.size = 0};
            bytes_number(&rest, 1, LARGE_NODES * 4 + 12345);
            bytes_varint(&rest, 40 << 3 | 2);
            bytes_varint(&rest, PADDING);
            bytes_varint(&record, rest.size + PADDING);
            bytes_add(&record, rest.at, rest.size);
            large_add(&large, &record);
            struct bytes zeros = {.size = 6000};
            memset(zeros.at, 0, sizeof zeros.at);
            for (int i = 0; i < PADDING / 6000; i++) {
                large_add(&large, &zeros);
            }
        }
    }
    return large;
}

static void write_large(const char *name, unsigned rank, const struct large *large, size_t size)
{
    char path[160];
    struct orr_error err = {0};
    (void)snprintf(path, sizeof path, "%s.%u.et", prefix_of(name), rank);
    CHECK_OK(file_write(path, large->at, size, &err), &err);
}

static void a_large_file_read_through_the_window_is_the_same_as_from_memory(void **state)
{
    (void)state;
    struct large one = make_large(5, LARGE_NODES);
    struct large other = make_large(6, LARGE_NODES);
    CHECK_U64(one.size, other.size, "they differ in the last byte only");
    write_large("large", 0, &one, one.size);
    write_large("large", 1, &other, other.size);
    write_large("large", 2, &one, one.size);
    write_large("large", 3, &other, other.size);
    write_large("large", 4, &one, one.size);
    struct mem mem = {0};
    struct notes notes;
    struct orr_error err = {0};
    struct trace_graph *graph = NULL;
    notes_init(&notes, &mem, false);
    struct trace_set *set = load("large", 5, false, &mem, &notes);
    CHECK_U64(set->graph_count, 2, "graphs");
    CHECK(set->ranks[2].graph == set->ranks[0].graph && set->ranks[4].graph == set->ranks[0].graph, "twins share");
    CHECK(set->ranks[3].graph == set->ranks[1].graph && set->ranks[1].graph != set->ranks[0].graph, "twins share");
    CHECK_OK(trace_graph_parse(one.at, one.size, "memory", &mem, &graph, &err), &err);
    CHECK_U64(graph->node_count, LARGE_NODES + 1, "nodes");
    CHECK(trace_graph_equal(graph, set->ranks[0].graph), "the graphs differ");
    CHECK_U64(graph->nodes[0].id, set->ranks[0].graph->nodes[0].id, "first id");
    trace_graph_free(graph);
    trace_set_free(set);
    notes_free(&notes);
    CHECK_U64(mem.used, 0, "all memory is given back");
    free(one.at);
    free(other.at);
}

static void faults_of_a_large_file_are_placed_as_in_memory(void **state)
{
    (void)state;
    struct large cut = make_large(5, LARGE_NODES);
    struct large twice = make_large(5, 77);
    const struct {
        const struct large *large;
        size_t size;
    } cases[] = {{&cut, cut.size - 1}, {&cut, cut.size / 2 + 300000}, {&twice, twice.size}};
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        char path[160];
        struct mem mem = {0};
        struct notes notes;
        struct orr_error from_file = {0}, from_memory = {0};
        struct trace_set *set = NULL;
        struct trace_graph *graph = NULL;
        notes_init(&notes, &mem, false);
        write_large("fault", 0, cases[i].large, cases[i].size);
        (void)snprintf(path, sizeof path, "%s.0.et", prefix_of("fault"));
        CHECK_STATUS(trace_graph_parse(cases[i].large->at, cases[i].size, path, &mem, &graph, &from_memory),
                     ORR_EINVAL);
        CHECK_STATUS(trace_set_load(prefix_of("fault"), 1, false, &mem, &notes, &set, &from_file), ORR_EINVAL);
        CHECK_TEXT(from_file.text, from_memory.text);
        notes_free(&notes);
        CHECK_U64(mem.used, 0, "all memory is given back");
    }
    free(cut.at);
    free(twice.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_MAP(a_rank_file_behind_the_last_rank_is_a_note, equal_files_and_files_shifted_by_a_constant_share_a_graph,
                  files_that_differ_in_anything_else_do_not_share, as_many_as_exist_stops_before_the_first_gap,
                  a_trace_without_nodes_is_a_note_and_an_error_when_strict, a_bad_rank_is_named_and_nothing_leaks,
                  a_large_file_read_through_the_window_is_the_same_as_from_memory,
                  faults_of_a_large_file_are_placed_as_in_memory)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
