/* SPDX-License-Identifier: Apache-2.0 */
/* What a Kineto file says of the whole recording. All of it is optional and comes in several spellings: ranks as a list
 * or as text, groups under "pg_config" as objects or, in later files, as a list in text form. What cannot be read is as
 * if it were not there: the linkers have other evidence. */
#include <stdlib.h>

#include "base/scan.h"
#include "convert/pytorch/kineto/parts.h"

static bool kineto_info_add_text(struct kineto_trace *trace, const struct json_item *object, const char *key,
                                 uint32_t *number)
{
    const struct json_item *item = json_item_member(object, key);
    if (item == NULL || item->text == NULL || item->length == 0) {
        return true;
    }
    return intern_add(&trace->names, item->text, item->length, number);
}

static void kineto_info_find_integer(const struct json_item *object, const char *key, int64_t *value)
{
    const struct json_item *item = json_item_member(object, key);
    if (item != NULL) {
        (void)kineto_integer(item, value);
    }
}

/* Numbers of a list, or of a text such as "[0, 1]"; returns how many, storing them where `into` is not NULL. */
static uint32_t kineto_info_read_ranks(const struct json_item *item, int64_t *into)
{
    uint32_t count = 0;
    if (item == NULL) {
        return 0;
    }
    if (item->kind == JSON_ITEM_ARRAY) {
        for (const struct json_item *e = json_item_first(item); e != json_item_end(item); e = json_item_next(e)) {
            int64_t rank;
            if (kineto_integer(e, &rank)) {
                if (into != NULL) {
                    into[count] = rank;
                }
                count++;
            }
        }
        return count;
    }
    for (uint32_t at = 0; item->kind == JSON_ITEM_STRING && at < item->length;) {
        uint64_t rank = 0;
        uint32_t left = item->length - at;
        size_t digits = scan_digits(item->text + at, left < 18 ? left : 18, &rank);
        at += (uint32_t)digits;
        if (digits == 0) {
            at++;
            continue;
        }
        if (into != NULL) {
            into[count] = (int64_t)rank;
        }
        count++;
    }
    return count;
}

static bool kineto_info_read_groups(struct kineto_trace *trace, const struct json_item *list)
{
    uint32_t groups = 0;
    uint32_t ranks = 0;
    struct kineto_info *info = &trace->info;
    if (list == NULL || list->kind != JSON_ITEM_ARRAY || info->groups != NULL) {
        return true;
    }
    for (const struct json_item *g = json_item_first(list); g != json_item_end(list); g = json_item_next(g)) {
        groups += g->kind == JSON_ITEM_OBJECT;
        ranks += kineto_info_read_ranks(json_item_member(g, "ranks"), NULL);
    }
    info->groups = arena_zalloc(&trace->arena, groups * sizeof *info->groups);
    info->ranks = arena_zalloc(&trace->arena, ranks * sizeof *info->ranks);
    if (info->groups == NULL || info->ranks == NULL) {
        return false;
    }
    for (const struct json_item *g = json_item_first(list); g != json_item_end(list); g = json_item_next(g)) {
        if (g->kind != JSON_ITEM_OBJECT) {
            continue;
        }
        struct kineto_group *group = &info->groups[info->group_count++];
        group->first = info->rank_count;
        group->rank_count = kineto_info_read_ranks(json_item_member(g, "ranks"), info->ranks + info->rank_count);
        info->rank_count += group->rank_count;
        if (!kineto_info_add_text(trace, g, "pg_name", &group->name) ||
            !kineto_info_add_text(trace, g, "pg_desc", &group->text) ||
            !kineto_info_add_text(trace, g, "backend_config", &group->backend)) {
            return false;
        }
    }
    return true;
}

bool kineto_info_add(struct kineto_trace *trace, const char *key, const struct json_item *item)
{
    struct kineto_info *info = &trace->info;
    if (strcmp(key, "distributedInfo") == 0 && item->kind == JSON_ITEM_OBJECT) {
        kineto_info_find_integer(item, "rank", &info->rank);
        kineto_info_find_integer(item, "world_size", &info->world_size);
        return kineto_info_add_text(trace, item, "backend", &info->backend) &&
               kineto_info_read_groups(trace, json_item_member(item, "pg_config"));
    }
    if (strcmp(key, "baseTimeNanoseconds") == 0) {
        (void)kineto_integer(item, &info->base_time_ns);
        return true;
    }
    if (strcmp(key, "deviceProperties") == 0 && item->kind == JSON_ITEM_ARRAY && item->span > 1) {
        return kineto_info_add_text(trace, json_item_first(item), "name", &info->device);
    }
    return true;
}
