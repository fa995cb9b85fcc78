/* SPDX-License-Identifier: Apache-2.0 */
/* Each fault planted once and found by the ids it names; then random ones, counted by a second, slower way. */
#include <stdlib.h>

#include "tests/check.h"
#include "tests/trace/bytes.h"
#include "tests/trace/random_document.h"
#include "trace/check.h"
#include "trace/graph.h"

struct checked {
    struct mem mem;
    struct trace_document *document;
    struct trace_findings findings;
};

static void check_file(struct checked *checked, const struct bytes *file)
{
    struct orr_error err = {0};
    *checked = (struct checked){0};
    CHECK_OK(trace_document_parse(file->at, file->size, "f.et", &checked->mem, &checked->document, &err), &err);
    CHECK_OK(trace_check(checked->document, &checked->mem, &checked->findings, &err), &err);
}

static void checked_free(struct checked *checked)
{
    trace_findings_free(&checked->findings);
    trace_document_free(checked->document);
    CHECK_U64(checked->mem.used, 0, "all memory is given back");
}

/* Finding `at` is of this kind and names exactly these ids. */
static void expect(const struct checked *checked, uint32_t at, enum trace_finding_kind kind, const uint64_t *ids,
                   uint32_t count)
{
    CHECK(at < checked->findings.count, "there are only %u findings", checked->findings.count);
    const struct trace_finding *finding = &checked->findings.items[at];
    CHECK(finding->kind == kind, "\"%s\" is a %s", finding->text, trace_finding_kind_name(finding->kind));
    CHECK_U64(finding->id_count, count, "%s", finding->text);
    for (uint32_t i = 0; i < count; i++) {
        CHECK_U64(finding->ids[i], ids[i], "%s", finding->text);
    }
}

static void a_sound_trace_has_no_findings(void **state)
{
    (void)state;
    struct bytes file;
    struct checked checked;
    bytes_begin(&file);
    bytes_node(&file, 9, TRACE_COMP, NULL, 0);
    bytes_node(&file, 4, TRACE_COMP, (uint64_t[]){9, 9}, 2);
    check_file(&checked, &file);
    CHECK_U64(checked.findings.count, 0, "findings");
    checked_free(&checked);
}

static void a_trace_without_nodes_has_that_one_finding(void **state)
{
    (void)state;
    struct bytes file;
    struct checked checked;
    bytes_begin(&file);
    check_file(&checked, &file);
    CHECK_U64(checked.findings.count, 1, "findings");
    expect(&checked, 0, TRACE_FINDING_NO_NODE, NULL, 0);
    CHECK_CONTAINS(checked.findings.items[0].text, "the trace has no nodes");
    checked_free(&checked);
}

static void each_planted_fault_is_named_by_its_ids(void **state)
{
    (void)state;
    struct bytes file;
    struct checked checked;
    bytes_begin(&file);
    bytes_node(&file, 1, TRACE_COMP, NULL, 0);
    bytes_node(&file, 2, TRACE_COMP, (uint64_t[]){2}, 1);     /* itself */
    bytes_node(&file, 3, TRACE_COMP, (uint64_t[]){1, 77}, 2); /* missing */
    bytes_node(&file, 1, 12, NULL, 0);                        /* again, of unknown type */
    bytes_node(&file, 4, TRACE_COMP, (uint64_t[]){6}, 1);
    bytes_node(&file, 5, TRACE_COMP, (uint64_t[]){4}, 1);
    bytes_node(&file, 6, TRACE_COMP, (uint64_t[]){5, 1}, 2); /* 4 -> 6 -> 5 -> 4 */
    bytes_node(&file, 8, TRACE_COMP, (uint64_t[]){6}, 1);    /* behind the cycle */
    bytes_node(&file, 9, TRACE_COMP, (uint64_t[]){3}, 1);    /* behind the missing one */
    bytes_node(&file, 10, TRACE_COMP, (uint64_t[]){1}, 1);
    check_file(&checked, &file);
    CHECK_U64(checked.findings.count, 6, "findings");
    expect(&checked, 0, TRACE_FINDING_SELF_DEPENDENCY, (uint64_t[]){2}, 1);
    expect(&checked, 1, TRACE_FINDING_MISSING_DEPENDENCY, (uint64_t[]){3, 77}, 2);
    expect(&checked, 2, TRACE_FINDING_DUPLICATE_ID, (uint64_t[]){1}, 1);
    expect(&checked, 3, TRACE_FINDING_UNKNOWN_TYPE, (uint64_t[]){1}, 1);
    expect(&checked, 4, TRACE_FINDING_CYCLE, (uint64_t[]){4, 6, 5}, 3);
    expect(&checked, 5, TRACE_FINDING_UNREACHABLE, (uint64_t[]){8, 9}, 2);
    CHECK_CONTAINS(checked.findings.items[4].text, "4 -> 6 -> 5 -> 4");
    checked_free(&checked);
}

static const struct {
    uint32_t type;
    const char *given[4];
    const char *missing[4];
} needs[] = {
    {TRACE_SEND, {"comm_size"}, {"comm_dst", "comm_tag"}},
    {TRACE_RECV, {"comm_tag"}, {"comm_size", "comm_src"}},
    {TRACE_COLL, {NULL}, {"comm_type", "comm_size"}},
    {TRACE_MEM_LOAD, {NULL}, {"tensor_size"}},
    {TRACE_MEM_STORE, {"tensor_size"}, {NULL}},
    {TRACE_COMP, {NULL}, {NULL}},
};

static void each_type_misses_what_it_needs(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(needs); i++) {
        struct bytes file, node = {.size = 0};
        struct checked checked;
        bytes_begin(&file);
        bytes_number(&node, 1, 5);
        bytes_number(&node, 3, needs[i].type);
        for (size_t a = 0; needs[i].given[a] != NULL; a++) {
            bytes_integer(&node, needs[i].given[a], 13, 1);
        }
        bytes_record(&file, &node);
        check_file(&checked, &file);
        uint32_t missing = 0;
        for (; needs[i].missing[missing] != NULL; missing++) {
            expect(&checked, missing, TRACE_FINDING_MISSING_ATTRIBUTE, (uint64_t[]){5}, 1);
            CHECK_CONTAINS(checked.findings.items[missing].text, needs[i].missing[missing]);
        }
        CHECK_U64(checked.findings.count, missing, "case %zu", i);
        checked_free(&checked);
    }
}

static void a_barrier_needs_no_size_and_a_size_is_not_negative(void **state)
{
    (void)state;
    struct bytes file, node = {.size = 0};
    struct checked checked;
    bytes_begin(&file);
    bytes_number(&node, 1, 5);
    bytes_number(&node, 3, TRACE_COLL);
    bytes_integer(&node, "comm_type", 9, 9);
    bytes_record(&file, &node);
    node.size = 0;
    bytes_number(&node, 1, 6);
    bytes_integer(&node, "num_ops", 9, (uint64_t)-1);
    bytes_record(&file, &node);
    check_file(&checked, &file);
    CHECK_U64(checked.findings.count, 1, "findings");
    expect(&checked, 0, TRACE_FINDING_WRONG_ATTRIBUTE, (uint64_t[]){6}, 1);
    checked_free(&checked);
}

/* What a run refuses whatever the machine is (sim/check.c) is found without one. */
static void values_that_a_run_refuses_are_found(void **state)
{
    (void)state;
    enum { INT64_FIELD = 9 };
    static const struct {
        const char *name;
        uint32_t type;
        uint64_t duration, comm_type, size, source, target, cpu;
        const char *says;
    } cases[] = {
        {"f.et", TRACE_COMP, 72057594037928, 0, 1, 1, 2, 0, "a duration of 72057594037928 us is out of range"},
        {"f.et", TRACE_COLL, 0, 10, 1, 1, 2, 0, "comm_type 10 is not a collective; 0 to 9 are"},
        {"f.et", TRACE_COLL, 0, UINT64_MAX, 1, 1, 2, 0, "comm_type -1 is not a collective"},
        {"f.et", TRACE_COLL, 0, 0, 1, 1, 2, 1, "is_cpu_op set"},
        {"f.et", TRACE_SEND, 0, 0, 0, 1, 2, 0, "comm_size is 0"},
        {"f.et", TRACE_SEND, 0, 0, 1, 3, 3, 0, "comm_dst is 3, the rank itself"},
        {"f.et", TRACE_RECV, 0, 0, 1, 3, 3, 0, "comm_src is 3, the rank itself"},
        {"f.et", TRACE_RECV, 0, 0, 1, UINT64_MAX, 3, 0, "comm_src is -1, which is no rank"},
        {"t/job.12.et", TRACE_SEND, 0, 0, 1, 99, 12, 0, "comm_dst is 12, the rank itself"},
        {"t/job.12.et", TRACE_SEND, 0, 0, 1, 99, 11, 0, NULL},
        {"f.et", TRACE_COLL, 0, 9, 1, 1, 2, 0, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bytes file;
        struct bytes node = {.size = 0};
        struct orr_error err = {0};
        struct checked checked = {0};
        bytes_begin(&file);
        bytes_number(&node, 1, 6);
        bytes_number(&node, 3, cases[i].type);
        bytes_number(&node, 7, cases[i].duration);
        bytes_integer(&node, "comm_type", INT64_FIELD, cases[i].comm_type);
        bytes_integer(&node, "comm_size", INT64_FIELD, cases[i].size);
        bytes_integer(&node, "comm_tag", INT64_FIELD, 1);
        if (cases[i].source != 99) { /* else the file's name alone says whose it is */
            bytes_integer(&node, "comm_src", INT64_FIELD, cases[i].source);
        }
        bytes_integer(&node, "comm_dst", INT64_FIELD, cases[i].target);
        bytes_integer(&node, "is_cpu_op", INT64_FIELD, cases[i].cpu);
        bytes_record(&file, &node);
        CHECK_OK(trace_document_parse(file.at, file.size, cases[i].name, &checked.mem, &checked.document, &err), &err);
        CHECK_OK(trace_check(checked.document, &checked.mem, &checked.findings, &err), &err);
        CHECK_U64(checked.findings.count, cases[i].says == NULL ? 0 : 1, "case %zu", i);
        if (cases[i].says != NULL) {
            expect(&checked, 0, TRACE_FINDING_OUT_OF_RANGE, (uint64_t[]){6}, 1);
            CHECK_CONTAINS(checked.findings.items[0].text, cases[i].says);
        }
        checked_free(&checked);
    }
}

/* Whether `to` can be reached from `from` over parents, by walking everything. */
static bool reaches(const struct trace_document *document, uint64_t from, uint64_t to, uint64_t *seen, size_t *count)
{
    for (uint32_t i = 0; i < document->node_count; i++) {
        const Chakra__Node *node = document->nodes[i];
        for (size_t d = 0; node->id == from && d < node->n_data_deps; d++) {
            uint64_t parent = node->data_deps[d];
            bool known = false;
            for (size_t s = 0; s < *count; s++) {
                known = known || seen[s] == parent;
            }
            if (parent == to) {
                return true;
            }
            if (!known) {
                seen[(*count)++] = parent;
                if (reaches(document, parent, to, seen, count)) {
                    return true;
                }
            }
        }
    }
    return false;
}

static void random_graphs_have_a_cycle_shown_for_each_node_on_one(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int round = 0; round < 300; round++) {
        struct bytes file;
        struct checked checked;
        uint64_t count = 2 + random_next(&seed) % 12;
        bytes_begin(&file);
        for (uint64_t id = 0; id < count; id++) {
            uint64_t parents[3] = {random_next(&seed) % count, random_next(&seed) % count, random_next(&seed) % count};
            bytes_node(&file, id, TRACE_COMP, parents, random_next(&seed) % 3);
        }
        check_file(&checked, &file);
        uint64_t on_cycles = 0;
        uint64_t components = 0;
        for (uint64_t id = 0; id < count; id++) {
            bool first = true, on_cycle = false;
            for (uint64_t other = 0; other < count; other++) {
                uint64_t seen[32];
                size_t n = 0, m = 0;
                bool both = other != id && reaches(checked.document, id, other, seen, &n) &&
                            reaches(checked.document, other, id, seen, &m);
                on_cycle = on_cycle || both;
                first = first && !(both && other < id);
            }
            on_cycles += on_cycle;
            components += on_cycle && first;
        }
        uint64_t shown = 0;
        for (uint32_t i = 0; i < checked.findings.count; i++) {
            const struct trace_finding *finding = &checked.findings.items[i];
            if (finding->kind != TRACE_FINDING_CYCLE) {
                continue;
            }
            shown++;
            for (uint32_t k = 0; k < finding->id_count; k++) {
                const Chakra__Node *node = checked.document->nodes[finding->ids[k]];
                uint64_t next = finding->ids[(k + 1) % finding->id_count];
                bool edge = false;
                for (size_t d = 0; d < node->n_data_deps; d++) {
                    edge = edge || node->data_deps[d] == next;
                }
                CHECK(edge, "round %d: %s: no edge to %" PRIu64, round, finding->text, next);
            }
        }
        CHECK_U64(shown, components, "round %d, %" PRIu64 " nodes on cycles", round, on_cycles);
        checked_free(&checked);
    }
}

static void a_chain_of_a_hundred_thousand_nodes_closed_to_a_ring_is_one_cycle(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    struct mem mem = {0};
    struct orr_error err = {0};
    struct arena arena;
    arena_init(&arena, &mem);
    Chakra__Node *nodes = arena_alloc(&arena, COUNT * sizeof *nodes);
    Chakra__Node **list = arena_alloc(&arena, COUNT * sizeof(Chakra__Node *));
    uint64_t *parents = arena_alloc(&arena, COUNT * sizeof *parents);
    assert_true(nodes != NULL && list != NULL && parents != NULL);
    for (uint32_t i = 0; i < COUNT; i++) {
        chakra__node__init(&nodes[i]);
        nodes[i].id = i;
        parents[i] = (i + 1) % COUNT;
        nodes[i].data_deps = &parents[i];
        nodes[i].n_data_deps = 1;
        list[i] = &nodes[i];
    }
    struct trace_document document = {.name = "ring", .nodes = list, .node_count = COUNT};
    struct trace_findings findings;
    CHECK_OK(trace_check(&document, &mem, &findings, &err), &err);
    CHECK_U64(findings.count, 1, "findings");
    CHECK_U64(findings.items[0].id_count, COUNT, "nodes of the cycle");
    CHECK_U64(findings.items[0].ids[COUNT - 1], COUNT - 1, "its last");
    trace_findings_free(&findings);
    arena_free(&arena);
}

TEST_MAIN(a_sound_trace_has_no_findings, a_trace_without_nodes_has_that_one_finding,
          each_planted_fault_is_named_by_its_ids, each_type_misses_what_it_needs,
          a_barrier_needs_no_size_and_a_size_is_not_negative, values_that_a_run_refuses_are_found,
          random_graphs_have_a_cycle_shown_for_each_node_on_one,
          a_chain_of_a_hundred_thousand_nodes_closed_to_a_ring_is_one_cycle)
