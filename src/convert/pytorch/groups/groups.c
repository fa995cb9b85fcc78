/* SPDX-License-Identifier: Apache-2.0 */
/* Each rank tells only of the groups it is in, so the set grows rank by rank, and a list is compared with those under
 * the same name as it comes: groups of one name are chained, and every group keeps its members sorted beside their own
 * order, so that equality, overlap and membership are walks and searches. Reading what recordings say is in
 * read.c; ids and files come after all of it, in settle.c. */
#include "convert/pytorch/groups/groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/pytorch/groups/internal.h"
#include "io/value.h"

void comm_groups_init(struct comm_groups *groups, struct mem *mem)
{
    *groups = (struct comm_groups){.mem = mem};
    intern_init(&groups->names, mem);
}

void comm_groups_free(struct comm_groups *groups)
{
    mem_free(groups->mem, groups->groups, groups->capacity * sizeof *groups->groups);
    mem_free(groups->mem, groups->ranks, groups->rank_capacity * sizeof *groups->ranks);
    mem_free(groups->mem, groups->sorted, groups->sorted_capacity * sizeof *groups->sorted);
    mem_free(groups->mem, groups->by_name, groups->by_name_capacity * sizeof *groups->by_name);
    intern_free(&groups->names);
    *groups = (struct comm_groups){.mem = groups->mem};
}

enum orr_status groups_no_memory(const struct comm_groups *groups, struct orr_error *err)
{
    return mem_error(groups->mem, "the process groups of a job", err);
}

const char *groups_printable(const char *name, char text[GROUPS_NAME_ROOM])
{
    return io_text_printable(name, text, GROUPS_NAME_ROOM);
}

int groups_by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* "[0, 1, 2]", cut where it gets long. */
static const char *groups_describe(const uint32_t *ranks, uint32_t count, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "[");
    for (uint32_t i = 0; i < count; i++) {
        if (used + 24 > size) {
            (void)snprintf(text + used, size - used, ", …");
            used = strlen(text);
            break;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%" PRIu32, i == 0 ? "" : ", ", ranks[i]);
    }
    (void)snprintf(text + used, size - used, "]");
    return text;
}

static bool groups_contains(const struct comm_groups *groups, const struct comm_group *group, int64_t rank)
{
    uint32_t wanted = (uint32_t)rank;
    return rank >= 0 && rank < UINT32_MAX && group->count > 0 &&
           bsearch(&wanted, groups->sorted + group->first, group->count, sizeof wanted, groups_by_number) != NULL;
}

static bool equal(const struct comm_groups *groups, const struct comm_group *group, const uint32_t *sorted,
                  uint32_t count)
{
    return group->count == count && memcmp(groups->sorted + group->first, sorted, count * sizeof *sorted) == 0;
}

static bool groups_overlap(const struct comm_groups *groups, const struct comm_group *group, const uint32_t *sorted,
                           uint32_t count)
{
    const uint32_t *own = groups->sorted + group->first;
    for (uint32_t i = 0, j = 0; i < group->count && j < count;) {
        if (own[i] == sorted[j]) {
            return true;
        }
        *(own[i] < sorted[j] ? &i : &j) += 1;
    }
    return false;
}

static enum orr_status groups_refuse(const struct comm_groups *groups, const struct comm_group *group,
                                     const uint32_t *ranks, uint32_t count, const char *source, struct orr_error *err)
{
    char ours[160];
    char theirs[160];
    char name[GROUPS_NAME_ROOM];
    return error_set(err, ORR_EINVAL,
                     "%s: process group \"%s\" has the ranks %s here but %s in %.300s; the recordings are not of one "
                     "run, or one of them is cut",
                     source, groups_printable(intern_text(&groups->names, group->name), name),
                     groups_describe(ranks, count, ours, sizeof ours),
                     groups_describe(groups->ranks + group->first, group->count, theirs, sizeof theirs),
                     intern_text(&groups->names, group->source));
}

/* Appends a list to both pools; the caller has checked it. */
static bool groups_append(struct comm_groups *groups, const uint32_t *ranks, const uint32_t *sorted, uint32_t count,
                          uint32_t *first)
{
    uint64_t need = (uint64_t)groups->rank_count + count;
    if (!MEM_RESERVE(groups->mem, groups->ranks, groups->rank_capacity, need) ||
        !MEM_RESERVE(groups->mem, groups->sorted, groups->sorted_capacity, need)) {
        return false;
    }
    if (count > 0) {
        memcpy(groups->ranks + groups->rank_count, ranks, count * sizeof *ranks);
        memcpy(groups->sorted + groups->rank_count, sorted, count * sizeof *sorted);
    }
    *first = groups->rank_count;
    groups->rank_count += count;
    return true;
}

bool groups_set_members(struct comm_groups *groups, struct comm_group *group, const uint32_t *ranks,
                        const uint32_t *sorted, uint32_t count)
{
    uint32_t first;
    if (!groups_append(groups, ranks, sorted, count, &first)) {
        return false;
    }
    group->first = first;
    group->count = count;
    return true;
}

static bool new_group(struct comm_groups *groups, const struct comm_group *made, const struct groups_list *list)
{
    uint32_t old = groups->by_name_capacity;
    if (!MEM_GROW(groups->mem, groups->groups, groups->capacity, groups->count) ||
        !MEM_GROW(groups->mem, groups->by_name, groups->by_name_capacity, made->name)) {
        return false;
    }
    if (groups->by_name_capacity > old) {
        memset(groups->by_name + old, 0, (groups->by_name_capacity - old) * sizeof *groups->by_name);
    }
    struct comm_group *group = &groups->groups[groups->count];
    *group = *made;
    if (!groups_set_members(groups, group, list->ranks, list->sorted, list->count)) {
        return false;
    }
    group->next = groups->by_name[made->name];
    groups->by_name[made->name] = ++groups->count;
    return true;
}

/* Whether `group` and what is said now can be one, and if so, what that adds. A rank that cannot be placed is taken to
 * mean the group at hand: names without lists come from recordings of their own members. */
enum match { MATCH_OTHER, MATCH_SAME, MATCH_CLASH };

static enum match match_list(const struct comm_groups *groups, const struct comm_group *group, int64_t rank,
                             const struct groups_list *list)
{
    if (group->count == 0) {
        return MATCH_SAME;
    }
    if (list->count == 0) {
        bool may_be = list->is_all || group->is_all || rank < 0 || groups_contains(groups, group, rank);
        return may_be ? MATCH_SAME : MATCH_OTHER;
    }
    if (equal(groups, group, list->sorted, list->count)) {
        return MATCH_SAME;
    }
    return groups_overlap(groups, group, list->sorted, list->count) ? MATCH_CLASH : MATCH_OTHER;
}

static uint32_t first_of_name(const struct comm_groups *groups, uint32_t name)
{
    return name < groups->by_name_capacity ? groups->by_name[name] : 0;
}

enum orr_status groups_say(struct comm_groups *groups, int64_t rank, const struct groups_said *said,
                           const struct groups_list *list, struct orr_error *err)
{
    uint32_t name;
    uint32_t text;
    uint32_t source;
    if (!intern_add(&groups->names, said->name, strlen(said->name), &name) ||
        !intern_add(&groups->names, said->text, strlen(said->text), &text) ||
        !intern_add(&groups->names, said->source, strlen(said->source), &source)) {
        return groups_no_memory(groups, err);
    }
    for (uint32_t at = first_of_name(groups, name); at != 0; at = groups->groups[at - 1].next) {
        struct comm_group *group = &groups->groups[at - 1];
        switch (match_list(groups, group, rank, list)) {
        case MATCH_CLASH:
            return groups_refuse(groups, group, list->ranks, list->count, said->source, err);
        case MATCH_SAME:
            group->is_used = group->is_used || said->is_used;
            group->is_all = group->is_all || list->is_all;
            group->text = group->text == 0 ? text : group->text;
            if (group->count == 0 && list->count > 0) {
                group->source = source;
                return groups_set_members(groups, group, list->ranks, list->sorted, list->count)
                           ? ORR_OK
                           : groups_no_memory(groups, err);
            }
            return ORR_OK;
        default:
            break;
        }
    }
    struct comm_group made = {
        .name = name, .text = text, .source = source, .is_all = list->is_all, .is_used = said->is_used};
    return new_group(groups, &made, list) ? ORR_OK : groups_no_memory(groups, err);
}

bool groups_is_placed(const struct comm_groups *groups, int64_t rank, const char *name)
{
    uint32_t number = intern_find(&groups->names, name, strlen(name));
    uint32_t at = number == UINT32_MAX ? 0 : first_of_name(groups, number);
    for (; at != 0; at = groups->groups[at - 1].next) {
        const struct comm_group *group = &groups->groups[at - 1];
        if (group->is_all || (group->count > 0 && (rank < 0 || groups_contains(groups, group, rank)))) {
            return true;
        }
    }
    return false;
}

/* ---- questions ---- */

uint32_t comm_groups_find(const struct comm_groups *groups, int64_t rank, const char *name)
{
    uint32_t number = intern_find(&groups->names, name, strlen(name));
    uint32_t first = number == UINT32_MAX ? 0 : first_of_name(groups, number);
    if (first == 0 || (rank < 0 && groups->groups[first - 1].next != 0)) {
        return COMM_GROUP_NONE;
    }
    for (uint32_t at = first; at != 0; at = groups->groups[at - 1].next) {
        if (rank < 0 || groups_contains(groups, &groups->groups[at - 1], rank)) {
            return at - 1;
        }
    }
    return COMM_GROUP_NONE;
}

uint32_t comm_groups_size(const struct comm_groups *groups, uint32_t group)
{
    return group == COMM_GROUP_NONE ? groups->world_size : groups->groups[group].count;
}

int64_t comm_groups_member(const struct comm_groups *groups, uint32_t group, int64_t index)
{
    if (index < 0 || index >= (int64_t)comm_groups_size(groups, group)) {
        return -1;
    }
    return group == COMM_GROUP_NONE ? index : groups->ranks[groups->groups[group].first + (uint32_t)index];
}

const char *comm_groups_pg_name(const struct comm_groups *groups, uint32_t group, char text[COMM_GROUP_ROOM])
{
    text[0] = '\0';
    if (group != COMM_GROUP_NONE && groups->groups[group].id != 0) {
        (void)snprintf(text, COMM_GROUP_ROOM, "%" PRIu32, groups->groups[group].id);
    }
    return text;
}
