/* SPDX-License-Identifier: Apache-2.0 */
/* Tables are at most three quarters full and double; one that would be larger than an array of all ranks becomes that
 * array. */
#include "net/source_ports.h"

enum { FIRST_CAPACITY = 8 };

bool source_ports_init(struct source_ports *ports, uint32_t ranks, struct mem *mem)
{
    *ports = (struct source_ports){.ranks = ranks, .mem = mem};
    ports->rows = mem_zalloc(mem, ranks * sizeof *ports->rows);
    return ports->rows != NULL;
}

void source_ports_free(struct source_ports *ports)
{
    for (uint32_t i = 0; ports->rows != NULL && i < ports->ranks; i++) {
        struct source_row *row = &ports->rows[i];
        if (row->is_many) {
            mem_free(ports->mem, row->as.many, ports->ranks * sizeof *row->as.many);
        } else {
            mem_free(ports->mem, row->as.few, row->capacity * sizeof *row->as.few);
        }
    }
    if (ports->mem != NULL) {
        mem_free(ports->mem, ports->rows, ports->ranks * sizeof *ports->rows);
    }
    *ports = (struct source_ports){0};
}

/* Where this destination is, or would be. */
static struct source_entry *find(struct source_entry *entries, uint32_t capacity, uint32_t to)
{
    uint32_t place = to * UINT32_C(2654435769) & (capacity - 1);
    while (entries[place].to != 0 && entries[place].to != to + 1) {
        place = (place + 1) & (capacity - 1);
    }
    return &entries[place];
}

static bool make_array(struct source_ports *ports, struct source_row *row)
{
    uint16_t *many = mem_zalloc(ports->mem, ports->ranks * sizeof *many);
    if (many == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < row->capacity; i++) {
        if (row->as.few[i].to != 0) {
            many[row->as.few[i].to - 1] = row->as.few[i].count;
        }
    }
    mem_free(ports->mem, row->as.few, row->capacity * sizeof *row->as.few);
    *row = (struct source_row){.as.many = many, .is_many = true};
    return true;
}

static bool grow(struct source_ports *ports, struct source_row *row)
{
    uint32_t capacity = row->capacity == 0 ? FIRST_CAPACITY : 2 * row->capacity;
    if (capacity * sizeof *row->as.few >= ports->ranks * sizeof *row->as.many) {
        return make_array(ports, row);
    }
    struct source_entry *few = mem_zalloc(ports->mem, capacity * sizeof *few);
    if (few == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < row->capacity; i++) {
        if (row->as.few[i].to != 0) {
            *find(few, capacity, row->as.few[i].to - 1) = row->as.few[i];
        }
    }
    mem_free(ports->mem, row->as.few, row->capacity * sizeof *few);
    row->as.few = few;
    row->capacity = capacity;
    return true;
}

uint16_t *source_ports_of(struct source_ports *ports, uint32_t from, uint32_t to)
{
    struct source_row *row = &ports->rows[from];
    if (!row->is_many && row->count >= row->capacity - row->capacity / 4 && !grow(ports, row)) {
        return NULL;
    }
    if (row->is_many) {
        return &row->as.many[to];
    }
    struct source_entry *entry = find(row->as.few, row->capacity, to);
    if (entry->to == 0) {
        entry->to = to + 1;
        row->count++;
    }
    return &entry->count;
}
