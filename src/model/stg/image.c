/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records are built in one scratch text and copied behind each other. Names are put together here and nowhere else:
 * [shadow_][mb<i>.][<layer prefix><l>.]<name>@<revision>. An input that is an identity is named after what it is the
 * identity of, as the original has it.
 */
#include "model/stg/image.h"

#include <string.h>

#include "io/wire.h"
#include "trace/graph.h"

/* Field numbers (spec chakra §1.1). */
enum { NODE_ID = 1, NODE_NAME = 2, NODE_TYPE = 3, NODE_DATA_DEPS = 5, NODE_ATTR = 10, METADATA_ATTR = 2 };
enum { VALUE_INT32 = 7, VALUE_INT64 = 9, VALUE_UINT64 = 13, VALUE_STRING = 29, VALUE_STRINGS = 30 };

enum { COPY_OFFSET = 1000000000 }; /* between the ids of folded micro-batches */

struct drawing {
    const struct stg_nodes *nodes;
    const struct stg_model *model;
    const struct stg_form *form;
    struct stg_image *image;
    struct stg_text record, part, name; /* scratch */
    uint32_t *ids;                      /* of one node's dependencies */
    uint32_t id_capacity;
};

static const struct stg_item *item_at(const struct drawing *drawing, uint32_t item)
{
    return &drawing->nodes->stages->list[drawing->nodes->stage].items[item];
}

/* ---- names ---- */

static void add_name(const struct drawing *drawing, const struct stg_item *item, struct stg_text *text)
{
    const struct stg_tensor *tensor = &drawing->model->graph.tensors[item->tensor];
    if (item->shadow) {
        stg_text_add(text, "shadow_");
    }
    if (item->batch != STG_NONE && !drawing->nodes->stages->folded) {
        stg_text_add(text, "mb");
        stg_text_number(text, item->batch);
        stg_text_add(text, ".");
    }
    if (item->layer != STG_NONE) {
        stg_text_add(text, drawing->model->layer_prefix);
        stg_text_number(text, item->layer);
        stg_text_add(text, ".");
    }
    stg_text_add(text, stg_space_name(&drawing->model->space, tensor->name));
    stg_text_add(text, "@");
    stg_text_number(text, tensor->revision);
}

static void stg_image_add_string(struct stg_text *text, unsigned field, const char *bytes, size_t size)
{
    stg_text_varint(text, WIRE_TAG(field, WIRE_BYTES));
    stg_text_varint(text, size);
    stg_text_bytes(text, bytes, size);
}

/* Name with shape, and size: two strings of a list. */
static void add_io(struct drawing *drawing, uint32_t index, struct stg_text *list)
{
    const struct stg_item *item = item_at(drawing, index);
    if (!item->shadow && drawing->model->graph.tensors[item->tensor].op == STG_OP_IDENTITY && item->x[0] != STG_NONE) {
        item = item_at(drawing, item->x[0]);
    }
    const struct stg_fact *fact = &drawing->nodes->facts->list[item->tensor];
    const char *texts = drawing->nodes->facts->texts.bytes;
    drawing->name.size = 0;
    add_name(drawing, item, &drawing->name);
    stg_text_bytes(&drawing->name, texts + fact->shape, fact->shape_length);
    stg_image_add_string(list, 1, drawing->name.bytes, drawing->name.size);
    stg_image_add_string(list, 1, texts + fact->io_size, fact->io_size_length);
}

/* ---- attributes ---- */

static void attr_begin(struct stg_text *text, unsigned field, const char *name, size_t value_size)
{
    size_t length = strlen(name);
    stg_text_varint(text, WIRE_TAG(field, WIRE_BYTES));
    stg_text_varint(text, 1 + wire_varint_size(length) + length + value_size);
    stg_image_add_string(text, 1, name, length);
}

static void attr_number(struct stg_text *text, const char *name, unsigned field, uint64_t value)
{
    attr_begin(text, NODE_ATTR, name, wire_varint_size(WIRE_TAG(field, WIRE_VARINT)) + wire_varint_size(value));
    stg_text_varint(text, WIRE_TAG(field, WIRE_VARINT));
    stg_text_varint(text, value);
}

static void attr_bytes(struct stg_text *text, unsigned attr, const char *name, unsigned field, const char *bytes,
                       size_t size)
{
    attr_begin(text, attr, name, wire_varint_size(WIRE_TAG(field, WIRE_BYTES)) + wire_varint_size(size) + size);
    stg_image_add_string(text, field, bytes, size);
}

/* An empty list is an attribute without a value. */
static void attr_list(struct drawing *drawing, const char *name)
{
    if (drawing->part.size == 0) {
        attr_begin(&drawing->record, NODE_ATTR, name, 0);
    } else {
        attr_bytes(&drawing->record, NODE_ATTR, name, VALUE_STRINGS, drawing->part.bytes, drawing->part.size);
    }
    drawing->part.size = 0;
}

static void add_attributes_io(struct drawing *drawing, const struct stg_node *node)
{
    const struct stg_item *item = item_at(drawing, node->item);
    if (node->kind == STG_NODE_COLL) {
        add_io(drawing, item->x[node->slot], &drawing->part);
    } else if (node->kind == STG_NODE_SEND) {
        add_io(drawing, node->item, &drawing->part);
    }
    for (int x = 0; x < 2 && node->kind == STG_NODE_COMP; x++) {
        if (item->x[x] != STG_NONE) {
            add_io(drawing, item->x[x], &drawing->part);
        }
    }
    attr_list(drawing, "inputs");
    if (node->kind == STG_NODE_COMP || node->kind == STG_NODE_RECV) {
        add_io(drawing, node->item, &drawing->part);
    }
    attr_list(drawing, "outputs");
}

/* ---- records ---- */

static void add_title(struct drawing *drawing, const struct stg_node *node, uint32_t copy)
{
    static const char *const endings[] = {"_COMP", "", "_Y_SEND", "_Y_RECV"};
    drawing->name.size = 0;
    if (copy > 0) {
        stg_text_add(&drawing->name, "mb");
        stg_text_number(&drawing->name, copy);
        stg_text_add(&drawing->name, ".");
    }
    add_name(drawing, item_at(drawing, node->item), &drawing->name);
    if (node->kind == STG_NODE_COLL) {
        stg_text_add(&drawing->name, node->slot == 0 ? "_X1COMM" : "_X2_COMM");
    } else {
        stg_text_add(&drawing->name, endings[node->kind]);
    }
    stg_image_add_string(&drawing->record, NODE_NAME, drawing->name.bytes, drawing->name.size);
}

/* Each once; the first stays. */
static bool add_deps(struct drawing *drawing, const struct stg_node *node, uint64_t offset)
{
    const struct stg_nodes *nodes = drawing->nodes;
    if (!MEM_GROW(nodes->mem, drawing->ids, drawing->id_capacity, node->dep_count)) {
        return false;
    }
    uint32_t count = 0;
    size_t size = 0;
    for (uint32_t d = 0; d < node->dep_count; d++) {
        uint32_t id = nodes->list[nodes->deps[node->first_dep + d]].id;
        uint32_t seen = 0;
        while (seen < count && drawing->ids[seen] != id) {
            seen++;
        }
        if (seen == count) {
            drawing->ids[count++] = id;
            size += wire_varint_size(id + offset);
        }
    }
    if (count > 0) {
        stg_text_varint(&drawing->record, WIRE_TAG(NODE_DATA_DEPS, WIRE_BYTES));
        stg_text_varint(&drawing->record, size);
    }
    for (uint32_t i = 0; i < count; i++) {
        stg_text_varint(&drawing->record, drawing->ids[i] + offset);
    }
    return true;
}

static bool add_piece(struct drawing *drawing, struct stg_piece piece)
{
    struct stg_image *image = drawing->image;
    struct stg_piece *last = image->count > 0 ? &image->pieces[image->count - 1] : NULL;
    if (last != NULL && last->kind == STG_NODE_COMP && piece.kind == STG_NODE_COMP) {
        last->before += piece.before;
        return true;
    }
    if (!MEM_GROW(drawing->nodes->mem, image->pieces, image->capacity, image->count)) {
        return false;
    }
    image->pieces[image->count++] = piece;
    return true;
}

/* The record in the scratch text, whole. */
static bool keep_whole(struct drawing *drawing)
{
    struct stg_text *bytes = &drawing->image->bytes;
    size_t offset = bytes->size;
    stg_text_varint(bytes, drawing->record.size);
    stg_text_bytes(bytes, drawing->record.bytes, drawing->record.size);
    return add_piece(drawing, (struct stg_piece){.offset = offset, .before = bytes->size - offset});
}

/* The same with a hole at `hole`; its length is known only when the hole is filled. */
static bool keep_open(struct drawing *drawing, size_t hole, const struct stg_node *node)
{
    struct stg_text *bytes = &drawing->image->bytes;
    struct stg_piece piece = {
        .offset = bytes->size, .before = hole, .after = drawing->record.size - hole, .kind = node->kind};
    piece.symbol = node->symbol;
    if (node->kind != STG_NODE_COLL) {
        const struct stg_pair *pair = &drawing->nodes->stages->pairs[node->pair];
        piece.peer = node->kind == STG_NODE_SEND ? pair->to_stage : pair->from_stage;
    }
    stg_text_bytes(bytes, drawing->record.bytes, drawing->record.size);
    return add_piece(drawing, piece);
}

static bool draw_comp(struct drawing *drawing, const struct stg_node *node)
{
    const struct stg_item *item = item_at(drawing, node->item);
    const struct stg_fact *fact = &drawing->nodes->facts->list[item->tensor];
    const char *word = stg_op_word(drawing->model->graph.tensors[item->tensor].op);
    attr_number(&drawing->record, "num_ops", VALUE_INT64, fact->ops);
    attr_number(&drawing->record, "tensor_size", VALUE_UINT64, fact->moved);
    attr_bytes(&drawing->record, NODE_ATTR, "op_type", VALUE_STRING, word, strlen(word));
    return keep_whole(drawing);
}

static bool draw_comm(struct drawing *drawing, const struct stg_node *node)
{
    struct stg_text *record = &drawing->record;
    attr_number(record, "comm_size", VALUE_INT64, node->size);
    if (node->kind == STG_NODE_COLL) {
        attr_number(record, "comm_type", VALUE_INT64, (uint64_t)node->coll);
    } else {
        attr_number(record, "comm_tag", VALUE_INT32, drawing->form->tag_base + node->pair);
    }
    size_t hole = record->size;
    if (!drawing->form->legacy) {
        attr_number(record, "is_cpu_op", VALUE_INT32, 0);
    }
    return keep_open(drawing, hole, node);
}

static bool stg_image_draw(struct drawing *drawing, const struct stg_node *node, uint32_t copy)
{
    static const uint8_t types[] = {TRACE_COMP, TRACE_COLL, TRACE_SEND, TRACE_RECV};
    uint64_t offset = (uint64_t)copy * COPY_OFFSET;
    drawing->record.size = 0;
    stg_text_varint(&drawing->record, WIRE_TAG(NODE_ID, WIRE_VARINT));
    stg_text_varint(&drawing->record, node->id + offset);
    add_title(drawing, node, copy);
    stg_text_varint(&drawing->record, WIRE_TAG(NODE_TYPE, WIRE_VARINT));
    stg_text_varint(&drawing->record, types[node->kind]);
    if (!add_deps(drawing, node, offset)) {
        return false;
    }
    add_attributes_io(drawing, node);
    drawing->image->nodes++;
    return node->kind == STG_NODE_COMP ? draw_comp(drawing, node) : draw_comm(drawing, node);
}

static bool draw_metadata(struct drawing *drawing)
{
    static const char schema[] = "symbolic_tensor_network";
    drawing->record.size = 0;
    attr_bytes(&drawing->record, METADATA_ATTR, "schema", VALUE_STRING, schema, sizeof schema - 1);
    return keep_whole(drawing);
}

/* Nodes of one item stand together; with folded micro-batches its copies follow it. */
static bool draw_all(struct drawing *drawing)
{
    const struct stg_nodes *nodes = drawing->nodes;
    bool fine = draw_metadata(drawing);
    for (uint32_t first = 0; first < nodes->count && fine;) {
        uint32_t end = first;
        while (end < nodes->count && nodes->list[end].item == nodes->list[first].item) {
            end++;
        }
        for (uint32_t copy = 0; copy < drawing->form->copies; copy++) {
            for (uint32_t i = first; i < end && fine; i++) {
                fine = nodes->list[i].gone || stg_image_draw(drawing, &nodes->list[i], copy);
            }
        }
        first = end;
    }
    return fine && !drawing->image->bytes.refused && !drawing->record.refused && !drawing->part.refused &&
           !drawing->name.refused;
}

enum orr_status stg_image_build(const struct stg_nodes *nodes, const struct stg_model *model,
                                const struct stg_form *form, struct stg_image *image, struct orr_error *err)
{
    struct drawing drawing = {.nodes = nodes, .model = model, .form = form, .image = image};
    *image = (struct stg_image){.count = 0};
    stg_text_init(&image->bytes, nodes->mem);
    stg_text_init(&drawing.record, nodes->mem);
    stg_text_init(&drawing.part, nodes->mem);
    stg_text_init(&drawing.name, nodes->mem);
    bool fine = draw_all(&drawing);
    stg_text_free(&drawing.record);
    stg_text_free(&drawing.part);
    stg_text_free(&drawing.name);
    mem_free(nodes->mem, drawing.ids, drawing.id_capacity * sizeof *drawing.ids);
    if (!fine) {
        stg_image_free(image);
        return mem_error(nodes->mem, "the trace of a stage", err);
    }
    return ORR_OK;
}

void stg_image_free(struct stg_image *image)
{
    mem_free(image->bytes.mem, image->pieces, image->capacity * sizeof *image->pieces);
    stg_text_free(&image->bytes);
    image->pieces = NULL;
    image->count = image->capacity = 0;
}

/* ---- filling ---- */

static void hole_text(const struct stg_piece *piece, const struct stg_form *form, const struct stg_rank *rank,
                      struct stg_text *text)
{
    uint32_t group = rank->groups[piece->symbol];
    uint32_t peer = piece->peer * rank->stage_size + rank->number % rank->stage_size;
    if (piece->kind == STG_NODE_SEND) {
        attr_number(text, "comm_dst", VALUE_INT32, peer);
    } else if (piece->kind == STG_NODE_RECV) {
        attr_number(text, "comm_src", VALUE_INT32, peer);
    } else if (form->legacy) {
        attr_number(text, "comm_group", VALUE_INT32, group);
    } else {
        char digits[16];
        size_t length = 0;
        for (uint32_t rest = group; rest > 0 || length == 0; rest /= 10) {
            digits[sizeof digits - ++length] = (char)('0' + rest % 10);
        }
        attr_bytes(text, NODE_ATTR, "pg_name", VALUE_STRING, digits + sizeof digits - length, length);
    }
}

/* The length stands before what it counts: the hole is filled beside the file first. */
void stg_image_fill(const struct stg_image *image, const struct stg_form *form, const struct stg_rank *rank,
                    struct stg_text *file)
{
    struct stg_text hole;
    stg_text_init(&hole, file->mem);
    file->size = 0;
    for (uint32_t i = 0; i < image->count; i++) {
        const struct stg_piece *piece = &image->pieces[i];
        const char *bytes = image->bytes.bytes + piece->offset;
        if (piece->kind == STG_NODE_COMP) {
            stg_text_bytes(file, bytes, piece->before);
            continue;
        }
        hole.size = 0;
        hole_text(piece, form, rank, &hole);
        stg_text_varint(file, piece->before + hole.size + piece->after);
        stg_text_bytes(file, bytes, piece->before);
        stg_text_bytes(file, hole.bytes, hole.size);
        stg_text_bytes(file, bytes + piece->before, piece->after);
    }
    file->refused = file->refused || hole.refused;
    stg_text_free(&hole);
}
