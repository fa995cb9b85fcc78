/* SPDX-License-Identifier: Apache-2.0 */
/* Links by the boxes they join. Between rows lines are straight; in a row, or over boxes, they bend to the side. */
#include <stdlib.h>

#include "report/topo_drawing.h"

static int64_t topo_lines_key(uint32_t a, uint32_t b)
{
    return (int64_t)(a < b ? a : b) << 32 | (a < b ? b : a);
}

static void topo_lines_bend(const struct topo_drawing *drawing, struct topo_line *line)
{
    int32_t dx = drawing->boxes[line->b].x - drawing->boxes[line->a].x;
    int32_t dy = drawing->boxes[line->b].y - drawing->boxes[line->a].y;
    bool in_row = dx == 0 || dy == 0 || drawing->shape == TOPO_SHAPE_GRID;
    int32_t bend = 24 + abs(dx + dy) / 12;
    bend = bend > 60 ? 60 : bend;
    line->bent = in_row && (drawing->shape == TOPO_SHAPE_GRID || drawing->shape == TOPO_SHAPE_TREE) &&
                 (abs(dx) > drawing->near_x || abs(dy) > drawing->near_y ||
                  (dx != 0 && dy != 0 && abs(dx) > drawing->near_deep));
    line->mid_x = dx / 2 + (dy != 0 ? bend : 0);
    line->mid_y = dy / 2 - (dx != 0 ? bend : 0);
}

static bool topo_lines_add(const struct topo_drawing *drawing, uint32_t link, struct topo_lines *lines)
{
    const struct topo_link *one = &drawing->graph->links[link];
    uint32_t a = drawing->box_of[one->a];
    uint32_t b = drawing->box_of[one->b];
    uint32_t at = lines->count;
    if (a == b) {
        return true;
    }
    if (!number_map_add(&lines->known, topo_lines_key(a, b), &at) ||
        !MEM_GROW(drawing->mem, lines->line, lines->room, lines->count)) {
        return false;
    }
    struct topo_line *line = &lines->line[at];
    if (at == lines->count) {
        *line = (struct topo_line){.a = a, .b = b, .first = link, .alike = true};
        topo_lines_bend(drawing, line);
        lines->count++;
    }
    const struct topo_link *first = &drawing->graph->links[line->first];
    line->links++;
    line->alike = line->alike && first->rate_bps == one->rate_bps && first->delay_ns == one->delay_ns;
    return true;
}

enum orr_status topo_lines_make(const struct topo_drawing *drawing, struct topo_lines *lines, struct orr_error *err)
{
    *lines = (struct topo_lines){0};
    number_map_init(&lines->known, drawing->mem);
    for (uint32_t i = 0; i < drawing->graph->link_count; i++) {
        if (!topo_lines_add(drawing, i, lines)) {
            topo_lines_free(drawing, lines);
            return mem_error(drawing->mem, "the drawing", err);
        }
    }
    return ORR_OK;
}

struct topo_line *topo_lines_between(const struct topo_drawing *drawing, const struct topo_lines *lines, uint32_t from,
                                     uint32_t to)
{
    uint32_t at = 0;
    int64_t key = topo_lines_key(drawing->box_of[from], drawing->box_of[to]);
    return number_map_get(&lines->known, key, &at) ? &lines->line[at] : NULL;
}

void topo_lines_free(const struct topo_drawing *drawing, struct topo_lines *lines)
{
    number_map_free(&lines->known);
    mem_free(drawing->mem, lines->line, lines->room * sizeof *lines->line);
    *lines = (struct topo_lines){0};
}
