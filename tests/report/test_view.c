/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of traces: what is folded, where boxes stand, that every form is whole. */
#include <stdlib.h>
#include <unistd.h>

#include "report/view.h"
#include "tests/check.h"
#include "tests/folder.h"
#include "trace/et_write.h"

struct node {
    uint64_t id;
    const char *name;
    enum trace_node_type type;
    bool host;
    uint64_t deps[3];
    size_t dep_count;
};

static uint64_t apart_us; /* from one node's start to the next's */

static struct trace_document *document_of(const struct node *nodes, size_t count, struct mem *mem)
{
    char path[64];
    struct orr_error err = {0};
    struct et_writer *writer = NULL;
    (void)snprintf(path, sizeof path, "%s/view.et", folder);
    CHECK_OK(et_writer_open(path, mem, &writer, &err), &err);
    et_metadata_begin(writer, et_text(""));
    CHECK_OK(et_record_end(writer, &err), &err);
    for (size_t i = 0; i < count; i++) {
        et_node_begin(writer, nodes[i].id, et_text(nodes[i].name), nodes[i].type);
        et_node_data_deps(writer, nodes[i].deps, nodes[i].dep_count);
        et_node_times(writer, apart_us > 0 ? 1000 + i * apart_us : 0, 10);
        et_attr_bool(writer, "is_cpu_op", nodes[i].host);
        if (nodes[i].type == TRACE_COLL) {
            et_attr_int64(writer, "comm_type", 0);
            et_attr_int64(writer, "comm_size", 1 << 20);
        }
        CHECK_OK(et_record_end(writer, &err), &err);
    }
    CHECK_OK(et_writer_commit(writer, &err), &err);
    struct trace_document *document = NULL;
    CHECK_OK(trace_document_read(path, mem, &document, &err), &err);
    return document;
}

/* A chain of four, a collective hanging on its end, then two more. */
static const struct node sample[] = {
    {1, "a", TRACE_COMP, false, {0}, 0},      {2, "b", TRACE_COMP, false, {1}, 1},
    {3, "c", TRACE_COMP, false, {2}, 1},      {4, "d <&\"> end", TRACE_COMP, false, {3}, 1},
    {5, "reduce", TRACE_COLL, false, {4}, 1}, {6, "e", TRACE_COMP, false, {4}, 1},
    {7, "f", TRACE_COMP, false, {5, 6}, 2},
};

static struct view view_of(const struct trace_document *document, struct view_options options, struct mem *mem)
{
    struct view view;
    struct orr_error err = {0};
    CHECK_OK(view_make(document, &options, mem, &view, &err), &err);
    return view;
}

static void a_chain_becomes_one_box_and_nothing_else_does(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct trace_document *document = document_of(sample, COUNT_OF(sample), &mem);
    struct view view = view_of(document, (struct view_options){0}, &mem);
    CHECK_U64(view.box_count, 4, "chain, collective, e, f");
    CHECK_U64(view.boxes[0].node_count, 4, "nodes folded");
    CHECK_U64(view.boxes[0].duration_us, 40, "their time");
    CHECK_U64(view.edge_count, 4, "edges between boxes");
    view_free(&view);
    view = view_of(document, (struct view_options){.unfolded = true}, &mem);
    CHECK_U64(view.box_count, 7, "one box a node");
    CHECK_U64(view.edge_count, 7, "every edge");
    view_free(&view);
    trace_document_free(document);
    CHECK_U64(mem.used, 0, "memory given back");
}

static void a_box_stands_below_what_it_waits_for_and_over_no_other(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct trace_document *document = document_of(sample, COUNT_OF(sample), &mem);
    struct view view = view_of(document, (struct view_options){.unfolded = true}, &mem);
    for (uint32_t i = 0; i < view.edge_count; i++) {
        const struct view_box *from = &view.boxes[view.edges[i].from], *to = &view.boxes[view.edges[i].to];
        CHECK(from->y + VIEW_BOX_HEIGHT < to->y, "edge %" PRIu32 " goes up", i);
    }
    for (uint32_t i = 0; i < view.box_count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            const struct view_box *a = &view.boxes[i], *b = &view.boxes[j];
            bool apart = a->y != b->y || a->x + a->width <= b->x || b->x + b->width <= a->x;
            CHECK(apart, "boxes %" PRIu32 " and %" PRIu32 " overlap", i, j);
        }
        CHECK(view.boxes[i].x >= 0 && view.boxes[i].x + view.boxes[i].width <= view.width, "box %" PRIu32, i);
    }
    view_free(&view);
    trace_document_free(document);
}

static void cycles_and_missing_nodes_are_drawn_as_such(void **state)
{
    (void)state;
    static const struct node faulty[] = {
        {1, "x", TRACE_COMP, false, {2}, 1},
        {2, "y", TRACE_COMP, false, {1, 99}, 2},
        {3, "self", TRACE_COMP, false, {3}, 1},
    };
    struct mem mem = {0};
    struct trace_document *document = document_of(faulty, COUNT_OF(faulty), &mem);
    struct view view = view_of(document, (struct view_options){0}, &mem);
    unsigned backward = 0;
    for (uint32_t i = 0; i < view.edge_count; i++) {
        backward += view.edges[i].backward ? 1 : 0;
    }
    CHECK_U64(view.box_count, 3, "all nodes are drawn");
    CHECK_U64(backward, 2, "one edge of the cycle and the self dependency");
    CHECK_U64(view.missing_edges, 1, "node 99");
    view_free(&view);
    trace_document_free(document);
}

static void what_exceeds_the_limit_is_counted(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct trace_document *document = document_of(sample, COUNT_OF(sample), &mem);
    struct view view = view_of(document, (struct view_options){.limit = 2, .unfolded = true}, &mem);
    CHECK_U64(view.box_count, 2, "boxes");
    CHECK_U64(view.hidden_nodes, 5, "nodes not drawn");
    view_free(&view);
    view = view_of(document, (struct view_options){.limit = 1}, &mem);
    CHECK_U64(view.hidden_nodes, 3, "the chain is one box");
    view_free(&view);
    trace_document_free(document);
}

static void every_form_is_whole_and_escapes_names(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct orr_error err = {0};
    struct trace_document *document = document_of(sample, COUNT_OF(sample), &mem);
    struct view view = view_of(document, (struct view_options){.unfolded = true}, &mem);
    for (unsigned form = 0; form < 3; form++) {
        static const char *const last[] = {"</svg>\n", "</html>\n", "%%EOF\n"};
        char *text = NULL;
        size_t size = 0;
        FILE *stream = open_memstream(&text, &size);
        if (form == 2) {
            CHECK_OK(view_write_pdf(&view, stream, &err), &err);
        } else {
            (form == 0 ? view_write_svg : view_write_html)(&view, stream);
        }
        (void)fclose(stream);
        CHECK_TEXT(text + size - strlen(last[form]), last[form]);
        CHECK_CONTAINS(text, form == 2 ? "(d <&\"> end) Tj" : "d &lt;&amp;&quot;&gt; end");
        CHECK_CONTAINS(text, "all-reduce, 1 MiB");
        if (form == 2) {
            /* The table of objects is where the file says. */
            unsigned long at = strtoul(strstr(text, "startxref\n") + 10, NULL, 10);
            CHECK(strncmp(text + at, "xref\n", 5) == 0, "no table at byte %lu", at);
        }
        free(text);
    }
    view_free(&view);
    trace_document_free(document);
}

static void layers_of_a_recorded_trace_say_when_they_began(void **state)
{
    (void)state;
    struct mem mem = {0};
    for (unsigned recorded = 0; recorded < 2; recorded++) {
        char *text = NULL;
        size_t size = 0;
        apart_us = recorded * 1500;
        struct trace_document *document = document_of(sample, COUNT_OF(sample), &mem);
        struct view view = view_of(document, (struct view_options){.unfolded = true}, &mem);
        FILE *stream = open_memstream(&text, &size);
        view_write_svg(&view, stream);
        (void)fclose(stream);
        bool told = strstr(text, ">1.500 ms</text>") != NULL && strstr(text, ">9.000 ms</text>") != NULL;
        CHECK(told == (recorded == 1), "recorded %u", recorded);
        free(text);
        view_free(&view);
        trace_document_free(document);
    }
    apart_us = 0;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_becomes_one_box_and_nothing_else_does),
        cmocka_unit_test(a_box_stands_below_what_it_waits_for_and_over_no_other),
        cmocka_unit_test(cycles_and_missing_nodes_are_drawn_as_such),
        cmocka_unit_test(what_exceeds_the_limit_is_counted),
        cmocka_unit_test(every_form_is_whole_and_escapes_names),
        cmocka_unit_test(layers_of_a_recorded_trace_say_when_they_began),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
