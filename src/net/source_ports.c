/* SPDX-License-Identifier: Apache-2.0 */
/* Tables are at most three quarters full and double; one that would be larger than an array of all ranks becomes that
 * array. */
#include "net/source_ports.h"

enum { FIRST_CAPACITY = 8 };

static uint32_t source_hash(uint32_t to)
{
    return to * UINT32_C(2654435769);
}

static uint32_t source_hash_of(const void *context, const struct source_entry *entry)
{
    (void)context;
    return source_hash(entry->to - 1);
}

#define SOURCE_IS(context, entry, key) ((entry)->to == (key) + 1)
#define SOURCE_IS_FREE(entry)          ((entry)->to == 0)
MAP_DEFINE(source_table, struct source_entry, uint32_t, const void *, source_hash_of, SOURCE_IS, SOURCE_IS_FREE);

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
            source_table_free(&row->as.few, ports->mem);
        }
    }
    if (ports->mem != NULL) {
        mem_free(ports->mem, ports->rows, ports->ranks * sizeof *ports->rows);
    }
    *ports = (struct source_ports){0};
}

static bool make_array(struct source_ports *ports, struct source_row *row)
{
    uint16_t *many = mem_zalloc(ports->mem, ports->ranks * sizeof *many);
    if (many == NULL) {
        return false;
    }
    const struct source_table *few = &row->as.few;
    for (uint32_t i = 0; i < few->size; i++) {
        if (few->at[i].to != 0) {
            many[few->at[i].to - 1] = few->at[i].count;
        }
    }
    source_table_free(&row->as.few, ports->mem);
    *row = (struct source_row){.as.many = many, .is_many = true};
    return true;
}

static bool source_ports_grow(struct source_ports *ports, struct source_row *row)
{
    uint32_t size = row->as.few.size == 0 ? FIRST_CAPACITY : 2 * row->as.few.size;
    return size * sizeof *row->as.few.at >= ports->ranks * sizeof *row->as.many
               ? make_array(ports, row)
               : source_table_widen(NULL, &row->as.few, ports->mem, size);
}

uint16_t *source_ports_of(struct source_ports *ports, uint32_t from, uint32_t to)
{
    struct source_row *row = &ports->rows[from];
    if (!row->is_many && row->as.few.count >= row->as.few.size - row->as.few.size / 4 &&
        !source_ports_grow(ports, row)) {
        return NULL;
    }
    if (row->is_many) {
        return &row->as.many[to];
    }
    struct source_entry *entry = source_table_place(NULL, &row->as.few, source_hash(to), to);
    if (entry->to == 0) {
        entry->to = to + 1;
        row->as.few.count++;
    }
    return &entry->count;
}
