/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lookup is one hash, mostly one line of the table and one comparison. The entry keeps 32 bits of the hash, so that
 * growing the table touches no text and a different text is told apart without reading it.
 */
#include "base/intern.h"

#include <string.h>
#include <xxhash.h>

struct intern_entry {
    uint32_t offset; /* in bytes[] */
    uint32_t length;
    uint32_t hash;
};

struct intern_key {
    const char *text;
    size_t length;
    uint32_t hash;
};

static uint32_t intern_hash_of(const struct intern *intern, const uint32_t *number)
{
    return intern->entries[*number].hash;
}

static bool intern_is(const struct intern *intern, const uint32_t *number, const struct intern_key *key)
{
    const struct intern_entry *entry = &intern->entries[*number];
    return entry->hash == key->hash && entry->length == key->length &&
           memcmp(intern->bytes + entry->offset, key->text, key->length) == 0;
}

MAP_DEFINE(intern_table, uint32_t, const struct intern_key *, const struct intern *, intern_hash_of, intern_is,
           MAP_NO_NUMBER);

void intern_init(struct intern *intern, struct mem *mem)
{
    *intern = (struct intern){.mem = mem};
}

void intern_free(struct intern *intern)
{
    if (intern->mem != NULL) {
        mem_free(intern->mem, intern->bytes, intern->byte_capacity);
        mem_free(intern->mem, intern->entries, (size_t)intern->entry_capacity * sizeof *intern->entries);
        intern_table_free(&intern->table, intern->mem);
    }
    *intern = (struct intern){.mem = intern->mem};
}

static struct intern_key intern_key_of(const char *text, size_t length)
{
    return (struct intern_key){text, length, (uint32_t)XXH3_64bits(text, length)};
}

/* Room for one more text of this length: nothing can fail after it. */
static bool intern_make_room(struct intern *intern, size_t length)
{
    if (!MEM_RESERVE(intern->mem, intern->entries, intern->entry_capacity, (uint64_t)intern->entry_count + 2) ||
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
    return intern_table_room(intern, &intern->table, intern->mem);
}

bool intern_add(struct intern *intern, const char *text, size_t length, uint32_t *number)
{
    length = length == 0 ? 0 : strnlen(text, length);
    if (length == 0) {
        *number = 0;
        return true;
    }
    struct intern_key key = intern_key_of(text, length);
    const uint32_t *found = intern_table_find(intern, &intern->table, key.hash, &key);
    if (found != NULL) {
        *number = *found;
        return true;
    }
    if (!intern_make_room(intern, length)) {
        return false;
    }
    struct intern_entry *entry = &intern->entries[intern->entry_count];
    *entry = (struct intern_entry){.offset = intern->byte_count, .length = (uint32_t)length, .hash = key.hash};
    memcpy(intern->bytes + entry->offset, text, length);
    intern->bytes[entry->offset + length] = '\0';
    *intern_table_place(intern, &intern->table, key.hash, &key) = intern->entry_count;
    intern->table.count++;
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
    struct intern_key key = intern_key_of(text, length);
    const uint32_t *found = intern_table_find(intern, &intern->table, key.hash, &key);
    return found == NULL ? UINT32_MAX : *found;
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
