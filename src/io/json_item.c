/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to flattened values. */
#include "base/scan.h"
#include "io/json_stream.h"

const struct json_item *json_item_member(const struct json_item *object, const char *key)
{
    const struct json_item *found = NULL;
    if (object == NULL || object->kind != JSON_ITEM_OBJECT) {
        return NULL;
    }
    size_t length = strlen(key);
    for (const struct json_item *at = json_item_first(object); at != json_item_end(object);
         at = json_item_next(at + 1)) {
        if (at->length == length && memcmp(at->text, key, length) == 0) {
            found = at + 1;
        }
    }
    return found;
}

bool json_item_u64(const struct json_item *item, uint64_t *value)
{
    if (item->kind == JSON_ITEM_INT && item->value.integer >= 0) {
        *value = (uint64_t)item->value.integer;
        return true;
    }
    if (item->kind != JSON_ITEM_BIG || item->text[0] == '-' || item->length > 20) {
        return false;
    }
    return scan_whole(item->text, item->length, UINT64_MAX, value);
}
