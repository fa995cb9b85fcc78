/* SPDX-License-Identifier: Apache-2.0 */
/* Machines as text, document and picture: what is found in the wires, and that every node drawn lies in the drawing. */
#include "report/topo_drawing.h"
#include "report/topo_text.h"
#include "tests/report/printed.h"
#include "tests/topo/drawn.h"
#include "topo/make/make.h"

struct bench {
    struct mem mem;
    struct orr_error err;
    struct topo_graph graph;
    struct topo_drawing drawing;
};

/* "torus dims=4x4x8": a name, and at most one setting. */
static void bench_make(struct bench *bench, const char *line)
{
    char name[32] = "";
    char key[32] = "";
    char value[32] = "";
    struct topo_settings settings = {.what = name};
    struct topo_made made;
    struct notes notes;
    *bench = (struct bench){0};
    if (sscanf(line, "%31s %31[^=]=%31s", name, key, value) == 3) {
        CHECK_OK(topo_settings_take(&settings, key, value, &bench->err), &bench->err);
    }
    notes_init(&notes, &bench->mem, false);
    CHECK_OK(topo_make(name, &settings, &notes, &made, &bench->mem, &bench->err), &bench->err);
    CHECK_OK(topo_made_graph(&made, &bench->mem, &bench->graph, &bench->err), &bench->err);
    topo_made_free(&made);
    notes_free(&notes);
}

static enum orr_status bench_draw(struct bench *bench, const char *dims, bool boxes)
{
    return topo_drawing_make(&bench->graph, dims, boxes, &bench->mem, &bench->drawing, &bench->err);
}

static void bench_close(struct bench *bench)
{
    topo_drawing_free(&bench->drawing);
    topo_graph_free(&bench->graph);
    CHECK_U64(bench->mem.used, 0, "everything is given back");
}

static const char *const lines[] = {
    "torus dims=4x4x8", "torus dims=3x5", "mesh dims=2x7", "ring hosts=9", "fat-tree hosts=16",
    "dgx-h100 nodes=2", "nvl72",          "mi300x",        "dragonfly",    "Spectrum-X hosts=32",
};

static const char *const large[] = {"torus dims=16x16x12", "ring hosts=3000",    "fat-tree arity=16",
                                    "dragonfly routers=8", "dgx-h100 nodes=512", "torus dims=3x3x3x3x9"};

static void the_dimensions_of_a_grid_are_found_from_its_links(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        uint32_t dims[4]; /* up to 0 */
    } grids[] = {{"torus dims=4x4x8", {4, 4, 8}},
                 {"torus dims=3x5", {3, 5}},
                 {"torus dims=6x2x3", {6, 2, 3}},
                 {"ring hosts=9", {9}}};
    for (size_t i = 0; i < COUNT_OF(grids); i++) {
        struct bench bench;
        bench_make(&bench, grids[i].line);
        CHECK_OK(bench_draw(&bench, NULL, false), &bench.err);
        CHECK(bench.drawing.shape != TOPO_SHAPE_TREE, "%s is a grid or a ring", grids[i].line);
        for (uint32_t d = 0; bench.drawing.shape == TOPO_SHAPE_GRID && grids[i].dims[d] > 0; d++) {
            CHECK_U64(bench.drawing.dims[d], grids[i].dims[d], "dimension %" PRIu32 " of %s", d, grids[i].line);
        }
        bench_close(&bench);
    }
}

static void dimensions_that_are_not_the_machines_are_refused(void **state)
{
    (void)state;
    struct bench bench;
    bench_make(&bench, "torus dims=3x5");
    CHECK_OK(bench_draw(&bench, "5x3", true), &bench.err);
    topo_drawing_free(&bench.drawing);
    CHECK_STATUS(bench_draw(&bench, "4x4", true), ORR_EINVAL);
    CHECK_CONTAINS(bench.err.text, "4x4 is not the machine's 15 GPUs");
    topo_graph_free(&bench.graph);
    bench_make(&bench, "fat-tree hosts=16");
    CHECK_STATUS(bench_draw(&bench, "4x4", true), ORR_EINVAL);
    CHECK_CONTAINS(bench.err.text, "the machine is no grid");
    topo_graph_free(&bench.graph);
}

static void a_switch_is_as_high_as_its_way_to_a_host(void **state)
{
    (void)state;
    struct bench bench = {0};
    static const uint8_t levels[] = {0, 0, 1, 1, 2, 3};
    bench.graph = drawn("hhssss 0-2 1-3 2-4 3-4 4-5", &bench.mem);
    CHECK_OK(bench_draw(&bench, NULL, true), &bench.err);
    for (uint32_t node = 0; node < 6; node++) {
        CHECK_U64(bench.drawing.level[node], levels[node], "node %" PRIu32, node);
    }
    bench_close(&bench);
}

/* In a grid a GPU and the switch of its own are one box. */
static void check_drawn(const char *line)
{
    struct bench bench;
    uint32_t shown = 0;
    bench_make(&bench, line);
    CHECK_OK(bench_draw(&bench, NULL, true), &bench.err);
    for (uint32_t b = 0; b < bench.drawing.box_count; b++) {
        const struct topo_box *box = &bench.drawing.boxes[b];
        CHECK(box->x >= 0 && box->x <= bench.drawing.width && box->y >= 0 && box->y <= bench.drawing.height,
              "%s: box %" PRIu32 " at %" PRId32 ", %" PRId32, line, b, box->x, box->y);
        shown += box->count;
    }
    bool own = (bench.drawing.shape == TOPO_SHAPE_GRID || bench.drawing.shape == TOPO_SHAPE_CIRCLE) &&
               bench.graph.kinds[bench.graph.node_count - 1] == TOPO_NODE_SWITCH;
    CHECK_U64(shown, bench.graph.node_count / (own ? 2 : 1), "nodes of %s", line);
    bench_close(&bench);
}

static void everything_that_is_drawn_lies_in_the_drawing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        check_drawn(lines[i]);
    }
    for (size_t i = 0; i < COUNT_OF(large); i++) {
        check_drawn(large[i]);
    }
}

static uint32_t boxes_of(const char *line, uint32_t *links, int32_t *width)
{
    struct bench bench;
    bench_make(&bench, line);
    CHECK_OK(bench_draw(&bench, NULL, true), &bench.err);
    uint32_t boxes = bench.drawing.box_count;
    *links = bench.graph.link_count;
    *width = bench.drawing.width;
    bench_close(&bench);
    return boxes;
}

/* A page holds them: what is alike is counted. */
static void a_large_machine_is_drawn_like_a_small_one_of_its_kind(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(large); i++) {
        uint32_t links = 0;
        int32_t width = 0;
        uint32_t boxes = boxes_of(large[i], &links, &width);
        CHECK(boxes <= 350 && links > 1000, "%s: %" PRIu32 " boxes", large[i], boxes);
        CHECK(width <= 1500, "%s is %" PRId32 " wide", large[i], width);
    }
}

static void servers_have_frames_that_say_how_many_there_are(void **state)
{
    (void)state;
    struct bench bench;
    bench_make(&bench, "dgx-h100 nodes=512");
    CHECK_OK(bench_draw(&bench, NULL, true), &bench.err);
    bool found = false;
    for (uint32_t i = 0; i < bench.drawing.frame_count; i++) {
        found = found || strstr(bench.drawing.frames[i].label, "server (1 of ") != NULL;
    }
    CHECK(found, "none of %" PRIu32 " frames is a server", bench.drawing.frame_count);
    bench_close(&bench);
}

/* Tags that are opened are closed in turn. */
static void check_tags(const char *text, const char *name)
{
    char open[16][24];
    unsigned depth = 0;
    for (const char *at = strchr(text, '<'); at != NULL; at = strchr(at + 1, '<')) {
        const char *end = strchr(at, '>');
        char tag[24] = "";
        CHECK(end != NULL, "%s: a tag has no end", name);
        bool closing = at[1] == '/';
        (void)sscanf(at + 1 + closing, "%23[a-z]", tag);
        if (closing) {
            CHECK(depth > 0 && strcmp(open[depth - 1], tag) == 0, "%s: </%s> closes nothing", name, tag);
            depth--;
        } else if (end[-1] != '/' && at[1] != '?' && at[1] != '!') {
            assert_true(depth < COUNT_OF(open));
            (void)snprintf(open[depth++], sizeof open[0], "%s", tag);
        }
    }
    CHECK_U64(depth, 0, "%s: tags left open", name);
}

static void a_picture_is_well_formed_and_escapes_its_title(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct bench bench;
        bench_make(&bench, lines[i]);
        CHECK_OK(bench_draw(&bench, NULL, true), &bench.err);
        CHECK_OK(topo_drawing_svg(&bench.drawing, "a <b> & \"c\"", printed_begin(), &bench.err), &bench.err);
        const char *text = printed_end();
        CHECK(strstr(text, "<svg") != NULL && strstr(text, "nan") == NULL, "%s", lines[i]);
        CHECK_CONTAINS(text, "a &lt;b&gt; &amp; ");
        check_tags(text, lines[i]);
        bench_close(&bench);
    }
}

static void the_text_names_levels_from_the_top(void **state)
{
    (void)state;
    struct bench bench;
    bench_make(&bench, "fat-tree hosts=16");
    CHECK_OK(bench_draw(&bench, NULL, false), &bench.err);
    CHECK_OK(topo_drawing_text(&bench.drawing, "sixteen", printed_begin(), &bench.err), &bench.err);
    const char *text = printed_end();
    const char *title = strstr(text, "sixteen");
    const char *hosts = strstr(text, "GPU");
    CHECK(title != NULL && hosts != NULL && title < hosts, "%s", text);
    bench_close(&bench);
}

static void text_and_document_have_the_same_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct bench bench;
        struct topo_measure measure;
        bench_make(&bench, lines[i]);
        CHECK_OK(topo_measure(&bench.graph, &bench.mem, &measure, &bench.err), &bench.err);
        topo_json_put(&measure, "say \"x\"", printed_begin());
        json_t *document = printed_json();
        CHECK_U64(json_integer_value(printed_at(document, "hosts")), measure.hosts, "GPUs of %s", lines[i]);
        CHECK_U64(json_integer_value(printed_at(document, "links")), measure.links, "links of %s", lines[i]);
        json_decref(document);
        char counted[32];
        topo_text_put(&measure, lines[i], printed_begin());
        (void)snprintf(counted, sizeof counted, "%" PRIu32 " GPUs", measure.hosts);
        CHECK_CONTAINS(printed_end(), counted);
        bench_close(&bench);
    }
}

TEST_MAIN(the_dimensions_of_a_grid_are_found_from_its_links, dimensions_that_are_not_the_machines_are_refused,
          a_switch_is_as_high_as_its_way_to_a_host, everything_that_is_drawn_lies_in_the_drawing,
          a_large_machine_is_drawn_like_a_small_one_of_its_kind, servers_have_frames_that_say_how_many_there_are,
          a_picture_is_well_formed_and_escapes_its_title, the_text_names_levels_from_the_top,
          text_and_document_have_the_same_counts)
