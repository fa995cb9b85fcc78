/* SPDX-License-Identifier: Apache-2.0 */
/* Figures are added up by line, so that the document is as small as the drawing, whatever the machine: a line of many
 * links tells their mean and the busiest of them. */
#include "report/machine.h"

#include "io/json_write.h"
#include "report/rows.h"
#include "report/topo_drawing.h"

enum { MACHINE_LINKS_MOST = 4000000 };

/* What the links of a line carried, both directions. */
struct machine_traffic {
    uint64_t bytes;
    double busy, busy_most; /* sum and largest, as shares of the run */
    uint32_t ways;          /* directions of links */
    uint32_t from, to;      /* of the busiest */
};

struct machine_writer {
    const struct report_carried *carried;
    struct mem mem;
    struct topo_graph dims; /* made of the logical dimensions, where there are no wires */
    const struct topo_graph *graph;
    uint8_t *dim_of; /* by link of `dims` */
    struct topo_drawing drawing;
    struct topo_lines lines;
    struct machine_traffic *traffic; /* by line */
};

/* ---- logical dimensions as wires ---- */

static uint64_t machine_links_of(const struct topo_dim *dim, uint32_t ranks)
{
    uint64_t groups = ranks / dim->size;
    switch (dim->kind) {
    case TOPO_RING:
        return groups * (dim->size == 2 ? 1 : dim->size);
    case TOPO_FULLY_CONNECTED:
        return groups * dim->size * (dim->size - 1) / 2;
    case TOPO_SWITCH:
        break;
    }
    return ranks;
}

static void machine_join(struct machine_writer *writer, uint32_t *count, uint32_t a, uint32_t b, uint32_t index)
{
    const struct topo_dim *dim = &writer->carried->dims->dim[index];
    writer->dim_of[*count] = (uint8_t)index;
    writer->dims.links[(*count)++] = (struct topo_link){
        .a = a, .b = b, .rate_bps = (uint64_t)(dim->bytes_per_ns * 8e9), .delay_ns = (uint64_t)dim->latency_ns};
}

/* The links of one dimension; `hub`: its first switch, and after it the next free node. */
static void machine_join_dim(struct machine_writer *writer, uint32_t index, uint32_t *count, uint32_t *hub)
{
    const struct topo_dims *dims = writer->carried->dims;
    const struct topo_dim *dim = &dims->dim[index];
    for (uint32_t rank = 0; rank < dims->ranks; rank++) {
        uint32_t place = topo_coordinate(dim, rank);
        uint32_t group = rank / (dim->stride * dim->size) * dim->stride + rank % dim->stride;
        if (dim->kind == TOPO_SWITCH) {
            machine_join(writer, count, rank, *hub + group, index);
        } else if (dim->kind == TOPO_RING && (dim->size > 2 || place == 0)) {
            uint32_t next = place + 1 < dim->size ? rank + dim->stride : rank - place * dim->stride;
            machine_join(writer, count, rank, next, index);
        }
        for (uint32_t other = place + 1; dim->kind == TOPO_FULLY_CONNECTED && other < dim->size; other++) {
            machine_join(writer, count, rank, rank + (other - place) * dim->stride, index);
        }
    }
    *hub += dim->kind == TOPO_SWITCH ? dims->ranks / dim->size : 0;
}

static enum orr_status machine_make_dims(struct machine_writer *writer, uint64_t links, struct orr_error *err)
{
    const struct topo_dims *dims = writer->carried->dims;
    uint32_t nodes = dims->ranks;
    for (uint32_t i = 0; i < dims->count; i++) {
        nodes += dims->dim[i].kind == TOPO_SWITCH ? dims->ranks / dims->dim[i].size : 0;
    }
    enum orr_status status = topo_graph_init(&writer->dims, nodes, (uint32_t)links, &writer->mem, err);
    writer->dim_of = status == ORR_OK ? mem_alloc(&writer->mem, links) : NULL;
    if (status != ORR_OK || writer->dim_of == NULL) {
        return status != ORR_OK ? status : mem_error(&writer->mem, "the drawing", err);
    }
    for (uint32_t node = dims->ranks; node < nodes; node++) {
        writer->dims.kinds[node] = TOPO_NODE_SWITCH;
    }
    uint32_t count = 0;
    uint32_t hub = dims->ranks;
    for (uint32_t i = 0; i < dims->count; i++) {
        machine_join_dim(writer, i, &count, &hub);
    }
    writer->graph = &writer->dims;
    return topo_graph_finish(&writer->dims, err);
}

/* ---- what links carried ---- */

static void machine_add(struct machine_writer *writer, uint32_t from, uint32_t to, uint64_t bytes, double busy,
                        uint32_t ways)
{
    const struct topo_line *line = topo_lines_between(&writer->drawing, &writer->lines, from, to);
    if (line == NULL) {
        return; /* both ends are in one box */
    }
    struct machine_traffic *traffic = &writer->traffic[line - writer->lines.line];
    if (traffic->ways == 0 || busy > traffic->busy_most) {
        traffic->busy_most = busy;
        traffic->from = from;
        traffic->to = to;
    }
    traffic->bytes += bytes;
    traffic->busy += busy * ways;
    traffic->ways += ways;
}

static void machine_add_all(struct machine_writer *writer)
{
    const struct report_carried *carried = writer->carried;
    struct orr_link_result link;
    struct orr_dimension_result dim;
    for (uint32_t i = 0; writer->graph == carried->wires && carried->link(carried->rows, i, &link); i++) {
        machine_add(writer, link.from, link.to, link.bytes, link.utilisation, 1);
    }
    for (uint32_t i = 0; writer->graph == &writer->dims && i < writer->dims.link_count; i++) {
        (void)carried->dimension(carried->rows, writer->dim_of[i], &dim);
        uint64_t each = dim.links == 0 ? 0 : dim.bytes / dim.links;
        machine_add(writer, writer->dims.links[i].a, writer->dims.links[i].b, 2 * each, dim.utilisation, 2);
    }
}

/* ---- the document ---- */

static void machine_write_boxes(const struct topo_drawing *drawing, struct json_writer *json)
{
    json_write_member_array(json, "boxes", false);
    for (uint32_t i = 0; i < drawing->box_count; i++) {
        const struct topo_box *box = &drawing->boxes[i];
        json_write_array(json, true);
        json_write_u64(json, box->first);
        json_write_u64(json, box->count);
        json_write_i64(json, box->x);
        json_write_i64(json, box->y);
        json_write_u64(json, box->kind);
        json_write_array_end(json);
    }
    json_write_array_end(json);
}

static void machine_write_words(const struct topo_drawing *drawing, struct json_writer *json)
{
    json_write_member_array(json, "frames", false);
    for (uint32_t i = 0; i < drawing->frame_count; i++) {
        json_write_object(json, true);
        json_write_member_i64(json, "x", drawing->frames[i].x);
        json_write_member_i64(json, "y", drawing->frames[i].y);
        json_write_member_i64(json, "width", drawing->frames[i].width);
        json_write_member_i64(json, "height", drawing->frames[i].height);
        json_write_member_string(json, "label", drawing->frames[i].label);
        json_write_object_end(json);
    }
    json_write_array_end(json);
    json_write_member_array(json, "words", false);
    for (uint32_t i = 0; i < drawing->words_count; i++) {
        json_write_object(json, true);
        json_write_member_i64(json, "x", drawing->words[i].x);
        json_write_member_i64(json, "y", drawing->words[i].y);
        json_write_member_string(json, "text", drawing->words[i].text);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void machine_write_line(const struct machine_writer *writer, uint32_t i, struct json_writer *json)
{
    const struct topo_line *line = &writer->lines.line[i];
    const struct topo_link *link = &writer->graph->links[line->first];
    const struct machine_traffic *traffic = &writer->traffic[i];
    json_write_object(json, true);
    json_write_member_u64(json, "a", line->a);
    json_write_member_u64(json, "b", line->b);
    if (line->bent) {
        json_write_member_i64(json, "mid_x", line->mid_x);
        json_write_member_i64(json, "mid_y", line->mid_y);
    }
    json_write_member_u64(json, "links", line->links);
    json_write_member_bool(json, "alike", line->alike);
    json_write_member_u64(json, "rate_bps", link->rate_bps);
    if (!writer->carried->no_delays) {
        json_write_member_u64(json, "delay_ns", link->delay_ns);
    }
    json_write_member_u64(json, "bytes", traffic->bytes);
    json_write_member_fixed(json, "busy_mean", traffic->ways == 0 ? 0 : traffic->busy / traffic->ways, 6);
    json_write_member_fixed(json, "busy_most", traffic->busy_most, 6);
    json_write_member_u64(json, "from", traffic->ways == 0 ? link->a : traffic->from);
    json_write_member_u64(json, "to", traffic->ways == 0 ? link->b : traffic->to);
    json_write_object_end(json);
}

static void machine_write_document(const struct machine_writer *writer, FILE *stream)
{
    static const char *const shapes[] = {[TOPO_SHAPE_TREE] = "tree",
                                         [TOPO_SHAPE_GRID] = "grid",
                                         [TOPO_SHAPE_CIRCLE] = "circle",
                                         [TOPO_SHAPE_GROUPS] = "groups"};
    uint64_t kinds[3] = {0};
    struct json_writer json;
    for (uint32_t node = 0; node < writer->graph->node_count; node++) {
        kinds[writer->graph->kinds[node]]++;
    }
    json_write_document(&json, stream);
    json_write_member_string(&json, "kind", "machine");
    json_write_member_u64(&json, "schema_version", 1);
    json_write_member_bool(&json, "wired", writer->graph != &writer->dims);
    json_write_member_string(&json, "shape", shapes[writer->drawing.shape]);
    json_write_member_u64(&json, "gpus", kinds[TOPO_NODE_HOST]);
    json_write_member_u64(&json, "switches", kinds[TOPO_NODE_SWITCH]);
    json_write_member_u64(&json, "nvswitches", kinds[TOPO_NODE_NVSWITCH]);
    json_write_member_u64(&json, "links", writer->graph->link_count);
    json_write_member_i64(&json, "width", writer->drawing.width);
    json_write_member_i64(&json, "height", writer->drawing.height);
    machine_write_boxes(&writer->drawing, &json);
    machine_write_words(&writer->drawing, &json);
    json_write_member_array(&json, "lines", false);
    for (uint32_t i = 0; i < writer->lines.count; i++) {
        machine_write_line(writer, i, &json);
    }
    json_write_array_end(&json);
    json_write_document_end(&json);
}

static enum orr_status machine_draw(struct machine_writer *writer, FILE *stream, struct orr_error *err)
{
    enum orr_status status = topo_drawing_make(writer->graph, NULL, true, &writer->mem, &writer->drawing, err);
    if (status != ORR_OK) {
        return status;
    }
    status = topo_lines_make(&writer->drawing, &writer->lines, err);
    if (status == ORR_OK) {
        size_t size = writer->lines.count * sizeof *writer->traffic;
        writer->traffic = mem_zalloc(&writer->mem, size);
        if (writer->traffic == NULL && size > 0) {
            status = mem_error(&writer->mem, "the drawing", err);
        } else {
            machine_add_all(writer);
            machine_write_document(writer, stream);
        }
        mem_free(&writer->mem, writer->traffic, size);
        topo_lines_free(&writer->drawing, &writer->lines);
    }
    topo_drawing_free(&writer->drawing);
    return status;
}

enum orr_status report_machine_draw(const struct report_carried *carried, FILE *stream, struct orr_error *err)
{
    const struct topo_dims *dims = carried->dims;
    struct machine_writer writer = {.carried = carried, .graph = carried->wires};
    uint64_t links = writer.graph != NULL ? writer.graph->link_count : 0;
    for (uint32_t i = 0; writer.graph == NULL && i < dims->count; i++) {
        links += machine_links_of(&dims->dim[i], dims->ranks);
    }
    if (dims->ranks < 2 || links == 0 || links > MACHINE_LINKS_MOST) {
        return ORR_OK;
    }
    enum orr_status status = writer.graph != NULL ? ORR_OK : machine_make_dims(&writer, links, err);
    if (status == ORR_OK) {
        status = machine_draw(&writer, stream, err);
    }
    mem_free(&writer.mem, writer.dim_of, writer.dim_of == NULL ? 0 : links);
    topo_graph_free(&writer.dims);
    return status;
}

static bool machine_link_of(const void *rows, uint32_t index, struct orr_link_result *row)
{
    return report_link_row(rows, index, row);
}

static bool machine_dimension_of(const void *rows, uint32_t index, struct orr_dimension_result *row)
{
    return report_dimension_row(rows, index, row);
}

enum orr_status report_machine_write(const struct sim_result *result, FILE *stream, struct orr_error *err)
{
    const struct report_carried carried = {.wires = result->network.graph,
                                           .dims = &result->config->dims,
                                           .rows = result,
                                           .link = machine_link_of,
                                           .dimension = machine_dimension_of};
    return report_machine_draw(&carried, stream, err);
}
