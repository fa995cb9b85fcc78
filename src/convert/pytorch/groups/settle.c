/* SPDX-License-Identifier: Apache-2.0 */
/* Ids are given last, when the set is complete, so that they follow from the set alone: the same for every rank's file
 * and in whatever order the recordings were read. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "base/text_stream.h"
#include "convert/pytorch/groups/internal.h"
#include "io/json_write.h"
#include "io/outfile.h"

static const char *groups_settle_name_of(const struct comm_groups *groups, const struct comm_group *group)
{
    return intern_text(&groups->names, group->name);
}

/* The world is as large as somebody says, else as what is seen of it. */
static enum orr_status groups_settle_world(struct comm_groups *groups, uint32_t ranks_at_least, struct orr_error *err)
{
    uint32_t largest = 0;
    uint32_t largest_in = 0;
    char name[GROUPS_NAME_ROOM];
    for (uint32_t i = 0; i < groups->count; i++) {
        const struct comm_group *group = &groups->groups[i];
        if (group->count > 0 && groups->sorted[group->first + group->count - 1] >= largest) {
            largest = groups->sorted[group->first + group->count - 1];
            largest_in = i;
        }
    }
    if (groups->world_size == 0) {
        groups->world_size = ranks_at_least > largest + 1 ? ranks_at_least : largest + 1;
        return ORR_OK;
    }
    if (groups->rank_count > 0 && largest >= groups->world_size) {
        return error_set(err, ORR_EINVAL,
                         "%s: process group \"%s\" names rank %" PRIu32 ", but the job has %" PRIu32 " ranks (%.300s)",
                         intern_text(&groups->names, groups->groups[largest_in].source),
                         groups_printable(groups_settle_name_of(groups, &groups->groups[largest_in]), name), largest,
                         groups->world_size, intern_text(&groups->names, groups->world_source));
    }
    return ORR_OK;
}

static enum orr_status fill_all(struct comm_groups *groups, struct comm_group *group, struct orr_error *err)
{
    uint32_t *ranks = mem_alloc(groups->mem, groups->world_size * sizeof *ranks);
    if (ranks == NULL) {
        return groups_no_memory(groups, err);
    }
    for (uint32_t i = 0; i < groups->world_size; i++) {
        ranks[i] = i;
    }
    bool ok = groups_set_members(groups, group, ranks, ranks, groups->world_size);
    mem_free(groups->mem, ranks, groups->world_size * sizeof *ranks);
    return ok ? ORR_OK : groups_no_memory(groups, err);
}

static enum orr_status settle_members(struct comm_groups *groups, struct orr_error *err)
{
    char name[GROUPS_NAME_ROOM];
    for (uint32_t i = 0; i < groups->count; i++) {
        struct comm_group *group = &groups->groups[i];
        if (group->count > 0) {
            continue;
        }
        if (group->is_all || strcmp(groups_settle_name_of(groups, group), "0") == 0) {
            group->is_all = true;
            enum orr_status status = fill_all(groups, group, err);
            if (status != ORR_OK) {
                return status;
            }
        } else if (group->is_used) {
            return error_set(
                err, ORR_EINVAL,
                "%s: communication in process group \"%s\", whose ranks are not known: a recording "
                "with distributedInfo (device trace, PyTorch 2.3 or later), a \"## process_group:init ##\" "
                "node (host trace) or \"Process Group Ranks\" would tell",
                intern_text(&groups->names, group->source),
                groups_printable(groups_settle_name_of(groups, group), name));
        }
    }
    return ORR_OK;
}

/* The group that needs no entry: all ranks in their own order, under a name that means all. */
static bool is_world(const struct comm_groups *groups, const struct comm_group *group)
{
    if (group->count != groups->world_size ||
        !(group->is_all || strcmp(groups_settle_name_of(groups, group), "0") == 0 ||
          strcmp(intern_text(&groups->names, group->text), "default_pg") == 0)) {
        return false;
    }
    for (uint32_t i = 0; i < group->count; i++) {
        if (groups->ranks[group->first + i] != i) {
            return false;
        }
    }
    return true;
}

/* A whole number above 0, written as one would. */
static uint32_t groups_settle_number_of(const char *name)
{
    uint64_t value = 0;
    return *name != '0' && scan_whole(name, strlen(name), INT32_MAX, &value) ? (uint32_t)value : 0;
}

struct place {
    const struct comm_groups *groups;
    uint32_t group;
};

static int groups_settle_by_place(const void *a, const void *b)
{
    const struct place *x = a;
    const struct place *y = b;
    const struct comm_group *g = &x->groups->groups[x->group];
    const struct comm_group *h = &y->groups->groups[y->group];
    uint32_t first = g->count == 0 ? UINT32_MAX : x->groups->sorted[g->first];
    uint32_t other = h->count == 0 ? UINT32_MAX : y->groups->sorted[h->first];
    if (first != other) {
        return first < other ? -1 : 1;
    }
    int names = strcmp(groups_settle_name_of(x->groups, g), groups_settle_name_of(y->groups, h));
    return names != 0 ? names : (x->group > y->group) - (x->group < y->group);
}

/* Walks the taken numbers upwards beside the counter: `taken` is ascending. */
static void number_rest(struct comm_groups *groups, const struct place *places, const uint32_t *taken,
                        uint32_t taken_count)
{
    uint32_t next = 1;
    uint32_t at = 0;
    for (uint32_t i = 0; i < groups->count; i++) {
        struct comm_group *group = &groups->groups[places[i].group];
        if (group->id != UINT32_MAX) {
            continue;
        }
        while (at < taken_count && taken[at] <= next) {
            next += taken[at] == next ? 1 : 0;
            at++;
        }
        group->id = next++;
    }
}

static void give_ids(struct comm_groups *groups, struct place *places, uint32_t *taken)
{
    uint32_t taken_count = 0;
    for (uint32_t i = 0; i < groups->count; i++) {
        struct comm_group *group = &groups->groups[i];
        bool alone = group->next == 0 && groups->by_name[group->name] == i + 1;
        uint32_t number = alone ? groups_settle_number_of(groups_settle_name_of(groups, group)) : 0;
        places[i] = (struct place){groups, i};
        group->id = is_world(groups, group) ? 0 : number != 0 ? number : UINT32_MAX;
        if (group->id != 0 && group->id != UINT32_MAX) {
            taken[taken_count++] = group->id;
        }
    }
    qsort(taken, taken_count, sizeof *taken, groups_by_number);
    qsort(places, groups->count, sizeof *places, groups_settle_by_place);
    number_rest(groups, places, taken, taken_count);
}

static enum orr_status settle_ids(struct comm_groups *groups, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    struct place *places = mem_alloc(groups->mem, groups->count * sizeof *places);
    uint32_t *taken = mem_alloc(groups->mem, groups->count * sizeof *taken);
    if (places != NULL && taken != NULL) {
        give_ids(groups, places, taken);
    } else {
        status = groups_no_memory(groups, err);
    }
    mem_free(groups->mem, places, places == NULL ? 0 : groups->count * sizeof *places);
    mem_free(groups->mem, taken, taken == NULL ? 0 : groups->count * sizeof *taken);
    return status;
}

enum orr_status comm_groups_settle(struct comm_groups *groups, uint32_t ranks_at_least, struct orr_error *err)
{
    enum orr_status status = groups_settle_world(groups, ranks_at_least, err);
    if (status == ORR_OK) {
        status = settle_members(groups, err);
    }
    if (status == ORR_OK) {
        status = settle_ids(groups, err);
    }
    groups->settled = status == ORR_OK;
    return status;
}

/* ---- files ---- */

static int groups_settle_by_id(const void *a, const void *b)
{
    const struct place *x = a;
    const struct place *y = b;
    uint32_t i = x->groups->groups[x->group].id;
    uint32_t j = y->groups->groups[y->group].id;
    return i != j ? (i < j ? -1 : 1) : (x->group > y->group) - (x->group < y->group);
}

/* Group indices by id, those without members left out. The caller frees groups->count entries; the account is his own,
 * since ranks are written side by side. */
static struct place *sorted_by_id(const struct comm_groups *groups, struct mem *mem, uint32_t *count)
{
    struct place *places = mem_alloc(mem, groups->count * sizeof *places);
    *count = 0;
    for (uint32_t i = 0; i < groups->count && places != NULL; i++) {
        if (groups->groups[i].count > 0) {
            places[(*count)++] = (struct place){groups, i};
        }
    }
    if (places != NULL) {
        qsort(places, *count, sizeof *places, groups_settle_by_id);
    }
    return places;
}

bool comm_groups_any(const struct comm_groups *groups)
{
    for (uint32_t i = 0; i < groups->count; i++) {
        if (groups->groups[i].id != 0 && groups->groups[i].count > 0) {
            return true;
        }
    }
    return false;
}

static void groups_settle_write_groups(const struct comm_groups *groups, const struct place *places, uint32_t count,
                                       bool with_all, FILE *stream)
{
    struct json_writer json;
    uint32_t last = 0;
    json_write_document(&json, stream);
    for (uint32_t i = 0; i < count; i++) {
        const struct comm_group *group = &groups->groups[places[i].group];
        char key[16];
        if (group->id == 0) {
            continue;
        }
        last = group->id;
        (void)snprintf(key, sizeof key, "%" PRIu32, group->id);
        json_write_member_array(&json, key, true);
        for (uint32_t m = 0; m < group->count; m++) {
            json_write_u64(&json, groups->ranks[group->first + m]);
        }
        json_write_array_end(&json);
    }
    if (with_all) {
        char key[16];
        (void)snprintf(key, sizeof key, "%" PRIu32, last + 1);
        json_write_member_array(&json, key, true);
        for (uint32_t rank = 0; rank < groups->world_size; rank++) {
            json_write_u64(&json, rank);
        }
        json_write_array_end(&json);
    }
    json_write_document_end(&json);
}

enum orr_status comm_groups_write(const struct comm_groups *groups, bool with_all, const char *path,
                                  struct orr_error *err)
{
    uint32_t count;
    struct io_outfile *file = NULL;
    struct place *places = sorted_by_id(groups, groups->mem, &count);
    if (places == NULL) {
        return groups_no_memory(groups, err);
    }
    enum orr_status status = io_outfile_open(path, IO_OUTFILE_PLAIN, &file, err);
    if (status == ORR_OK) {
        groups_settle_write_groups(groups, places, count, with_all, io_outfile_stream(file));
        status = io_outfile_commit(file, err);
    }
    mem_free(groups->mem, places, groups->count * sizeof *places);
    return status;
}

/* ASTRA-sim cuts the outer brackets and quotes off and reads the rest as JSON: nothing in between may need an escape
 * of either kind, so a description keeps only what needs none. */
static void print_plain(const char *text, FILE *stream)
{
    for (; *text != '\0'; text++) {
        bool plain = *text >= ' ' && *text < 0x7f && strchr("\"'\\", *text) == NULL;
        (void)fputc(plain ? *text : '_', stream);
    }
}

static void print_metadata(const struct comm_groups *groups, const struct place *places, uint32_t count, FILE *stream)
{
    (void)fputs("['[", stream);
    for (uint32_t i = 0; i < count; i++) {
        const struct comm_group *group = &groups->groups[places[i].group];
        (void)fprintf(stream, "%s{\"pg_name\": \"%" PRIu32 "\", \"pg_desc\": \"", i == 0 ? "" : ", ", group->id);
        print_plain(intern_text(&groups->names, group->text), stream);
        (void)fputs("\", \"ranks\": [", stream);
        for (uint32_t m = 0; m < group->count; m++) {
            (void)fprintf(stream, "%s%" PRIu32, m == 0 ? "" : ", ", groups->ranks[group->first + m]);
        }
        (void)fprintf(stream, "], \"group_size\": %" PRIu32 ", \"group_count\": %" PRIu32 "}", group->count, count);
    }
    (void)fputs("]']", stream);
}

const char *comm_groups_metadata(const struct comm_groups *groups, struct arena *arena)
{
    uint32_t count;
    char *text = NULL;
    size_t size = 0;
    const char *kept = NULL;
    struct place *places = sorted_by_id(groups, arena->mem, &count);
    FILE *stream = places == NULL ? NULL : text_stream_open(&text, &size);
    if (stream != NULL) {
        print_metadata(groups, places, count, stream);
        kept = fclose(stream) == 0 ? arena_strndup(arena, text, size) : NULL;
        free(text);
    }
    mem_free(arena->mem, places, places == NULL ? 0 : groups->count * sizeof *places);
    return kept;
}
