/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open addressing with linear steps over 32-bit numbers, at most half full: a lookup is one hash, mostly one line of
 * the table and one comparison. The entry keeps 32 bits of the hash, so that growing the table touches no text and a
 * different text is told apart without reading it. The empty text is entry 0 and is never in the table, which is why a
 * table slot of 0 can mean "free".
 */
#include "base/intern.h"

#include <string.h>
#include <xxhash.h>

struct intern_entry {
    uint32_t offset; /* in bytes[] */
    uint32_t length;
    uint32_t hash;
};

void intern_init(struct intern *intern, struct mem *mem)
{
    *intern = (struct intern){.mem = mem};
}

void intern_free(struct intern *intern)
{
    if (intern->mem != NULL) {
        mem_free(intern->mem, intern->bytes, intern->byte_capacity);
        mem_free(intern->mem, intern->entries, (size_t)intern->entry_capacity * sizeof *intern->entries);
        mem_free(intern->mem, intern->table, (size_t)intern->table_size * sizeof *intern->table);
    }
    *intern = (struct intern){.mem = intern->mem};
}

static uint32_t hash_of(const char *text, size_t length)
{
    return (uint32_t)XXH3_64bits(text, length);
}

/* The slot that holds this text, or the free one where it would go. The table must have a free slot. */
static uint32_t slot_of(const struct intern *intern, const char *text, size_t length, uint32_t hash)
{
    uint32_t mask = intern->table_size - 1;
    uint32_t slot = hash & mask;
    while (intern->table[slot] != 0) {
        const struct intern_entry *entry = &intern->entries[intern->table[slot]];
        if (entry->hash == hash && entry->length == length &&
            memcmp(intern->bytes + entry->offset, text, length) == 0) {
            break;
        }
        slot = (slot + 1) & mask;
    }
    return slot;
}

static bool table_grow(struct intern *intern)
{
    uint64_t wider = intern->table_size == 0 ? 64 : (uint64_t)intern->table_size * 2;
    if (wider > UINT32_MAX) {
        intern->mem->refused = wider * sizeof *intern->table;
        return false;
    }
    uint32_t *table = mem_zalloc(intern->mem, (size_t)wider * sizeof *table);
    if (table == NULL) {
        return false;
    }
    mem_free(intern->mem, intern->table, (size_t)intern->table_size * sizeof *table);
    intern->table = table;
    intern->table_size = (uint32_t)wider;
    uint32_t mask = intern->table_size - 1;
    for (uint32_t i = 1; i < intern->entry_count; i++) {
        uint32_t slot = intern->entries[i].hash & mask;
        while (table[slot] != 0) {
            slot = (slot + 1) & mask;
        }
        table[slot] = i;
    }
    return true;
}

/* Room for one more text of this length: nothing can fail after it. */
static bool make_room(struct intern *intern, size_t length)
{
    if (!mem_reserve(intern->mem, (void **)&intern->entries, &intern->entry_capacity, (uint64_t)intern->entry_count + 2,
                     sizeof *intern->entries) ||
        !mem_reserve(intern->mem, (void **)&intern->bytes, &intern->byte_capacity,
                     (uint64_t)intern->byte_count + length + 2, 1)) {
        return false;
    }
    if (intern->entry_count == 0) {
        intern->entries[0] = (struct intern_entry){0};
        intern->entry_count = 1;
        intern->bytes[0] = '\0';
        intern->byte_count = 1;
    }
    return (uint64_t)intern->entry_count * 2 < intern->table_size || table_grow(intern);
}

bool intern_add(struct intern *intern, const char *text, size_t length, uint32_t *number)
{
    length = length == 0 ? 0 : strnlen(text, length);
    if (length == 0) {
        *number = 0;
        return true;
    }
    uint32_t hash = hash_of(text, length);
    if (intern->table_size != 0) {
        uint32_t found = intern->table[slot_of(intern, text, length, hash)];
        if (found != 0) {
            *number = found;
            return true;
        }
    }
    if (!make_room(intern, length)) {
        return false;
    }
    struct intern_entry *entry = &intern->entries[intern->entry_count];
    *entry = (struct intern_entry){.offset = intern->byte_count, .length = (uint32_t)length, .hash = hash};
    memcpy(intern->bytes + entry->offset, text, length);
    intern->bytes[entry->offset + length] = '\0';
    intern->table[slot_of(intern, text, length, hash)] = intern->entry_count;
    intern->byte_count += (uint32_t)length + 1;
    *number = intern->entry_count++;
    return true;
}

uint32_t intern_find(const struct intern *intern, const char *text, size_t length)
{
    length = length == 0 ? 0 : strnlen(text, length);
    if (length == 0) {
        return 0;
    }
    uint32_t found = 0;
    if (intern->table_size != 0) {
        found = intern->table[slot_of(intern, text, length, hash_of(text, length))];
    }
    return found == 0 ? UINT32_MAX : found;
}

const char *intern_text(const struct intern *intern, uint32_t number)
{
    return number == 0 ? "" : intern->bytes + intern->entries[number].offset;
}

uint32_t intern_length(const struct intern *intern, uint32_t number)
{
    return number == 0 ? 0 : intern->entries[number].length;
}

uint32_t intern_count(const struct intern *intern)
{
    return intern->entry_count == 0 ? 1 : intern->entry_count;
}
