/* SPDX-License-Identifier: Apache-2.0 */
/* What recordings say of process groups, read from the strongest evidence to the weakest, so that the weakest (a first
 * rank and a stride) is only asked where nothing better was said. The thousands of communications of a trace name a
 * handful of groups: the pairs of name and list are sorted first and each is read once. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "convert/pytorch/groups/internal.h"
#include "io/json.h"

/* A list under construction: both orders, in memory of its own. */
struct list_room {
    struct mem *mem;
    uint32_t *ranks, *sorted;
    uint32_t count, capacity, sorted_capacity;
};

static void list_free(struct list_room *room)
{
    mem_free(room->mem, room->ranks, room->capacity * sizeof *room->ranks);
    mem_free(room->mem, room->sorted, room->sorted_capacity * sizeof *room->sorted);
}

static bool groups_read_list_add(struct list_room *room, uint32_t rank)
{
    if (!MEM_GROW(room->mem, room->ranks, room->capacity, room->count)) {
        return false;
    }
    room->ranks[room->count++] = rank;
    return true;
}

/* Sorts, and puts the list to the set. */
static enum orr_status list_say(struct comm_groups *groups, int64_t rank, const struct groups_said *said,
                                struct list_room *room, bool is_all, struct orr_error *err)
{
    char name[GROUPS_NAME_ROOM];
    if (!MEM_RESERVE(room->mem, room->sorted, room->sorted_capacity, room->count)) {
        return groups_no_memory(groups, err);
    }
    if (room->count > 0) {
        memcpy(room->sorted, room->ranks, room->count * sizeof *room->sorted);
        qsort(room->sorted, room->count, sizeof *room->sorted, groups_by_number);
    }
    for (uint32_t i = 1; i < room->count; i++) {
        if (room->sorted[i] == room->sorted[i - 1]) {
            return error_set(err, ORR_EINVAL, "%s: process group \"%s\" names rank %" PRIu32 " twice", said->source,
                             groups_printable(said->name, name), room->sorted[i]);
        }
    }
    struct groups_list list = {
        .ranks = room->ranks, .sorted = room->sorted, .count = room->count, .is_all = is_all && room->count == 0};
    return groups_say(groups, rank, said, &list, err);
}

static enum orr_status say_integers(struct comm_groups *groups, int64_t rank, const struct groups_said *said,
                                    const int64_t *ranks, uint32_t count, struct orr_error *err)
{
    struct list_room room = {.mem = groups->mem};
    enum orr_status status = ORR_OK;
    char name[GROUPS_NAME_ROOM];
    for (uint32_t i = 0; i < count && status == ORR_OK; i++) {
        if (ranks[i] < 0 || ranks[i] >= GROUPS_MAX_RANKS) {
            status = error_set(err, ORR_EINVAL, "%s: process group \"%s\" names rank %" PRId64 "; accepted: 0 to %d",
                               said->source, groups_printable(said->name, name), ranks[i], GROUPS_MAX_RANKS - 1);
        } else if (!groups_read_list_add(&room, (uint32_t)ranks[i])) {
            status = groups_no_memory(groups, err);
        }
    }
    if (status == ORR_OK) {
        status = list_say(groups, rank, said, &room, true, err);
    }
    list_free(&room);
    return status;
}

enum orr_status comm_groups_add_list(struct comm_groups *groups, int64_t rank, const char *name, const char *text,
                                     const int64_t *ranks, uint32_t count, const char *source, struct orr_error *err)
{
    struct groups_said said = {.name = name, .text = text == NULL ? "" : text, .source = source};
    return say_integers(groups, rank, &said, ranks, count, err);
}

/* "[0, 1]". False when it is no complete list: PyTorch cuts long ones with "...". */
static bool read_ranks_text(const char *text, struct list_room *room, bool *refused)
{
    *refused = false;
    text += strspn(text, " ");
    if (*text++ != '[') {
        return false;
    }
    for (;;) {
        text += strspn(text, " ,");
        if (*text == ']') {
            return true;
        }
        uint64_t value = 0;
        size_t digits = scan_number(text, &value);
        if (digits == 0 || value >= GROUPS_MAX_RANKS) {
            return false;
        }
        text += digits;
        if (!groups_read_list_add(room, (uint32_t)value)) {
            *refused = true;
            return false;
        }
    }
}

/* An empty or cut list leaves only the name. */
static enum orr_status say_text(struct comm_groups *groups, int64_t rank, const struct groups_said *said,
                                const char *text, struct orr_error *err)
{
    struct list_room room = {.mem = groups->mem};
    bool refused;
    if (!read_ranks_text(text, &room, &refused)) {
        room.count = 0;
    }
    enum orr_status status = refused ? groups_no_memory(groups, err) : list_say(groups, rank, said, &room, false, err);
    list_free(&room);
    return status;
}

/* ---- the device trace ---- */

static enum orr_status say_world(struct comm_groups *groups, int64_t size, const char *source, struct orr_error *err)
{
    if (size <= 0) {
        return ORR_OK;
    }
    if (size > GROUPS_MAX_RANKS) {
        return error_set(err, ORR_EINVAL, "%s: a job of %" PRId64 " ranks; accepted: up to %d", source, size,
                         GROUPS_MAX_RANKS);
    }
    if (groups->world_size != 0 && groups->world_size != (uint32_t)size) {
        return error_set(err, ORR_EINVAL,
                         "%s: the job has %" PRId64 " ranks here but %" PRIu32
                         " in %.300s; the recordings are not of one run",
                         source, size, groups->world_size, intern_text(&groups->names, groups->world_source));
    }
    groups->world_size = (uint32_t)size;
    return intern_add(&groups->names, source, strlen(source), &groups->world_source) ? ORR_OK
                                                                                     : groups_no_memory(groups, err);
}

struct pair {
    uint32_t name;
    uint32_t ranks;
    uint32_t text;
    uint32_t place; /* of the host_comm, where that is what is sorted */
};

static int groups_read_by_pair(const void *a, const void *b)
{
    const struct pair *x = a;
    const struct pair *y = b;
    if (x->name != y->name) {
        return x->name < y->name ? -1 : 1;
    }
    if (x->ranks != y->ranks) {
        return x->ranks < y->ranks ? -1 : 1;
    }
    return (x->place > y->place) - (x->place < y->place);
}

static bool same_pair(const struct pair *a, const struct pair *b)
{
    return a->name == b->name && a->ranks == b->ranks;
}

static enum orr_status add_kineto_comms(struct comm_groups *groups, int64_t rank, const struct kineto_trace *kineto,
                                        const char *source, struct orr_error *err)
{
    struct pair *pairs = mem_alloc(groups->mem, kineto->comm_count * sizeof *pairs);
    if (pairs == NULL) {
        return groups_no_memory(groups, err);
    }
    for (uint32_t i = 0; i < kineto->comm_count; i++) {
        const struct kineto_comm *comm = &kineto->comms[i];
        pairs[i] = (struct pair){comm->group_name, comm->group_ranks, comm->group_text, i};
    }
    qsort(pairs, kineto->comm_count, sizeof *pairs, groups_read_by_pair);
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < kineto->comm_count && status == ORR_OK; i++) {
        if (pairs[i].name == 0 || (i > 0 && same_pair(&pairs[i], &pairs[i - 1]))) {
            continue;
        }
        struct groups_said said = {.name = intern_text(&kineto->names, pairs[i].name),
                                   .text = intern_text(&kineto->names, pairs[i].text),
                                   .source = source,
                                   .is_used = true};
        status = say_text(groups, rank, &said, intern_text(&kineto->names, pairs[i].ranks), err);
    }
    mem_free(groups->mem, pairs, kineto->comm_count * sizeof *pairs);
    return status;
}

static enum orr_status add_kineto(struct comm_groups *groups, int64_t rank, const struct kineto_trace *kineto,
                                  const char *source, struct orr_error *err)
{
    const struct kineto_info *info = &kineto->info;
    enum orr_status status = say_world(groups, info->world_size, source, err);
    for (uint32_t i = 0; i < info->group_count && status == ORR_OK; i++) {
        const struct kineto_group *group = &info->groups[i];
        struct groups_said said = {.name = intern_text(&kineto->names, group->name),
                                   .text = intern_text(&kineto->names, group->text),
                                   .source = source};
        status = say_integers(groups, rank, &said, info->ranks + group->first, group->rank_count, err);
    }
    return status == ORR_OK ? add_kineto_comms(groups, rank, kineto, source, err) : status;
}

/* ---- the host trace ---- */

static const char *groups_read_text_of(const struct io_value *value, char room[32])
{
    if (value != NULL && value->kind == IO_TEXT) {
        return value->text;
    }
    if (value != NULL && value->kind == IO_INTEGER) {
        (void)snprintf(room, 32, "%" PRId64, value->integer);
        return room;
    }
    return "";
}

/* One entry of process_group:init; "ranks": [] is how PyTorch writes the group of all. */
static enum orr_status say_entry(struct comm_groups *groups, int64_t rank, const struct io_value *entry,
                                 const char *source, struct orr_error *err)
{
    char name_room[32];
    char text_room[32];
    struct groups_said said = {.name = groups_read_text_of(io_value_member(entry, "pg_name"), name_room),
                               .text = groups_read_text_of(io_value_member(entry, "pg_desc"), text_room),
                               .source = source};
    const struct io_value *ranks = io_value_member(entry, "ranks");
    if (said.name[0] == '\0' || ranks == NULL) {
        return ORR_OK;
    }
    if (ranks->kind == IO_TEXT) {
        return say_text(groups, rank, &said, ranks->text, err);
    }
    struct list_room room = {.mem = groups->mem};
    enum orr_status status = ORR_OK;
    for (const struct io_value *item = ranks->kind == IO_LIST ? ranks->first : NULL; item != NULL && status == ORR_OK;
         item = item->next) {
        if (item->kind != IO_INTEGER || item->integer < 0 || item->integer >= GROUPS_MAX_RANKS) {
            char found[96];
            char name[GROUPS_NAME_ROOM];
            status = error_set(err, ORR_EINVAL, "%s: process group \"%s\" names rank %s; accepted: 0 to %d", source,
                               groups_printable(said.name, name), io_value_describe(item, found, sizeof found),
                               GROUPS_MAX_RANKS - 1);
        } else if (!groups_read_list_add(&room, (uint32_t)item->integer)) {
            status = groups_no_memory(groups, err);
        }
    }
    const struct io_value *size = io_value_member(entry, "group_size");
    if (status == ORR_OK && room.count == 0 && size != NULL && size->kind == IO_INTEGER) {
        status = say_world(groups, size->integer, source, err);
    }
    if (status == ORR_OK) {
        status = list_say(groups, rank, &said, &room, ranks->kind == IO_LIST, err);
    }
    list_free(&room);
    return status;
}

static enum orr_status add_init_text(struct comm_groups *groups, int64_t rank, const char *text, const char *source,
                                     struct orr_error *err)
{
    struct arena arena;
    struct io_value *root;
    arena_init(&arena, groups->mem);
    char name[512];
    (void)snprintf(name, sizeof name, "%.400s: process_group:init", source);
    enum orr_status status = io_json_parse(name, text, strlen(text), &arena, &root, err);
    if (status == ORR_OK && root->kind != IO_LIST) {
        status = error_set(err, ORR_EINVAL, "%s: found no list of process groups", name);
    }
    for (const struct io_value *entry = status == ORR_OK ? root->first : NULL; entry != NULL && status == ORR_OK;
         entry = entry->next) {
        status = say_entry(groups, rank, entry, source, err);
    }
    arena_free(&arena);
    return status;
}

/* The members of a group that has its ranks in even steps; a step of "-1" stands for any other. */
static enum orr_status say_stepped(struct comm_groups *groups, int64_t rank, const struct groups_said *said,
                                   const struct host_comm *comm, struct orr_error *err)
{
    struct list_room room = {.mem = groups->mem};
    enum orr_status status = ORR_OK;
    bool known = comm->group_size >= 1 && comm->group_size <= GROUPS_MAX_RANKS && comm->rank_start < GROUPS_MAX_RANKS &&
                 comm->rank_stride >= 1 && comm->rank_stride < GROUPS_MAX_RANKS &&
                 comm->rank_start + comm->rank_stride * (comm->group_size - 1) < GROUPS_MAX_RANKS;
    if (groups_is_placed(groups, rank, said->name)) {
        known = false;
    }
    for (uint64_t i = 0; known && i < comm->group_size && status == ORR_OK; i++) {
        status = groups_read_list_add(&room, (uint32_t)(comm->rank_start + i * comm->rank_stride))
                     ? ORR_OK
                     : groups_no_memory(groups, err);
    }
    if (status == ORR_OK) {
        status = list_say(groups, rank, said, &room, false, err);
    }
    list_free(&room);
    return status;
}

static enum orr_status add_host_comms(struct comm_groups *groups, int64_t rank, const struct host_trace *host,
                                      const char *source, struct orr_error *err)
{
    struct pair *pairs = mem_alloc(groups->mem, host->comm_count * sizeof *pairs);
    if (pairs == NULL) {
        return groups_no_memory(groups, err);
    }
    for (uint32_t i = 0; i < host->comm_count; i++) {
        pairs[i] = (struct pair){.name = host->comms[i].group_name, .place = i};
    }
    qsort(pairs, host->comm_count, sizeof *pairs, groups_read_by_pair);
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < host->comm_count && status == ORR_OK; i++) {
        if (pairs[i].name == 0 || (i > 0 && same_pair(&pairs[i], &pairs[i - 1]))) {
            continue;
        }
        const struct host_comm *comm = &host->comms[pairs[i].place];
        struct groups_said said = {.name = intern_text(&host->names, comm->group_name),
                                   .text = intern_text(&host->names, comm->group_text),
                                   .source = source,
                                   .is_used = true};
        status = say_stepped(groups, rank, &said, comm, err);
    }
    mem_free(groups->mem, pairs, host->comm_count * sizeof *pairs);
    return status;
}

enum orr_status comm_groups_add(struct comm_groups *groups, int64_t rank, const struct kineto_trace *kineto,
                                const struct host_trace *host, const char *source, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    if (kineto != NULL) {
        status = add_kineto(groups, rank, kineto, source, err);
    }
    if (status == ORR_OK && host != NULL && host->process_groups != NULL) {
        status = add_init_text(groups, rank, host->process_groups, source, err);
    }
    if (status == ORR_OK && host != NULL) {
        status = add_host_comms(groups, rank, host, source, err);
    }
    return status;
}
