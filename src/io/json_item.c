/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to flattened values. */
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
    uint64_t sum = 0;
    for (uint32_t i = 0; i < item->length; i++) {
        unsigned digit = (unsigned)(item->text[i] - '0');
        if (sum > (UINT64_MAX - digit) / 10) {
            return false;
        }
        sum = sum * 10 + digit;
    }
    *value = sum;
    return true;
}
