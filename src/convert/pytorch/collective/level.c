/* SPDX-License-Identifier: Apache-2.0 */
/* Every collective becomes an entry (group, place in the group's order on its rank, rank); sorted, the entries of one
 * collective stand together. The first group entry that does not fit ends the matching of its group: everything behind
 * it would be shifted. */
#include "convert/pytorch/collective/level.h"

#include <inttypes.h>
#include <stdlib.h>

struct entry {
    uint32_t group; /* the id */
    uint32_t place;
    uint32_t rank; /* index in ranks */
    struct comm_fact *fact;
};

static int collective_level_by_place(const void *a, const void *b)
{
    const struct entry *x = a;
    const struct entry *y = b;
    if (x->group != y->group) {
        return x->group < y->group ? -1 : 1;
    }
    if (x->place != y->place) {
        return x->place < y->place ? -1 : 1;
    }
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int collective_level_by_rank(const void *a, const void *b)
{
    const struct entry *x = a;
    const struct entry *y = b;
    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    if (x->group != y->group) {
        return x->group < y->group ? -1 : 1;
    }
    return (x->place > y->place) - (x->place < y->place);
}

static uint32_t collective_level_id_of(const struct comm_groups *groups, const struct comm_fact *fact)
{
    return fact->group == COMM_GROUP_NONE ? 0 : groups->groups[fact->group].id;
}

/* The entries of all ranks, numbered within each rank and group. */
static uint64_t list_entries(const struct comm_level_rank *ranks, uint32_t rank_count, const struct comm_groups *groups,
                             struct entry *entries)
{
    uint64_t count = 0;
    for (uint32_t r = 0; r < rank_count; r++) {
        for (uint32_t i = 0; i < ranks[r].count; i++) {
            struct comm_fact *fact = ranks[r].facts[i];
            if (comm_kind_is_collective(fact->kind)) {
                entries[count++] = (struct entry){collective_level_id_of(groups, fact), i, r, fact};
            }
        }
    }
    qsort(entries, count, sizeof *entries, collective_level_by_rank);
    uint32_t place = 0;
    for (uint64_t i = 0; i < count; i++) {
        bool same = i > 0 && entries[i].rank == entries[i - 1].rank && entries[i].group == entries[i - 1].group;
        place = same ? place + 1 : 0;
        entries[i].place = place;
    }
    qsort(entries, count, sizeof *entries, collective_level_by_place);
    return count;
}

struct level {
    const struct comm_level_rank *ranks;
    struct notes *notes;
    struct orr_error *err;
    uint64_t levelled;
};

static enum orr_status collective_level_tell(const struct level *level, const struct entry *a, const struct entry *b)
{
    return notes_add(level->notes, level->err,
                     "group %" PRIu32 ", collective %" PRIu32 ": %s of %" PRIu64 " B on rank %" PRId64
                     ", %s of %" PRIu64 " B on rank %" PRId64
                     ": the recordings do not fit together, and a simulation would stall",
                     a->group, a->place + 1, comm_kind_text(a->fact->kind), a->fact->bytes, level->ranks[a->rank].rank,
                     comm_kind_text(b->fact->kind), b->fact->bytes, level->ranks[b->rank].rank);
}

/* One collective's entries: `*fits` false when they are not one. */
static enum orr_status level_one(struct level *level, const struct entry *entries, uint64_t count, bool *fits)
{
    uint64_t largest = 0;
    *fits = true;
    for (uint64_t i = 0; i < count && *fits; i++) {
        const struct comm_fact *fact = entries[i].fact;
        largest = fact->bytes > largest ? fact->bytes : largest;
        *fits = fact->kind == entries[0].fact->kind &&
                (fact->bytes == entries[0].fact->bytes || fact->kind == COMM_ALL_TO_ALL);
        if (!*fits) {
            return collective_level_tell(level, &entries[0], &entries[i]);
        }
    }
    for (uint64_t i = 0; i < count; i++) {
        level->levelled += entries[i].fact->bytes < largest;
        entries[i].fact->bytes = largest;
    }
    return ORR_OK;
}

/* All collectives of one group. Members that were not imported take no part; those that were must all. */
static enum orr_status level_group(struct level *level, const struct entry *entries, uint64_t count)
{
    uint64_t members = 0;
    for (; members < count && entries[members].place == 0;) {
        members++;
    }
    for (uint64_t first = 0; first < count; first += members) {
        uint64_t next = first;
        for (; next < count && entries[next].place == entries[first].place;) {
            next++;
        }
        if (next - first != members) {
            return notes_add(level->notes, level->err,
                             "group %" PRIu32 ": rank %" PRId64 " records collective %" PRIu32
                             ", but not every rank of the group does: the recordings end at different places",
                             entries[first].group, level->ranks[entries[first].rank].rank, entries[first].place + 1);
        }
        bool fits;
        enum orr_status status = level_one(level, entries + first, members, &fits);
        if (status != ORR_OK || !fits) {
            return status;
        }
    }
    return ORR_OK;
}

enum orr_status comm_level(const struct comm_level_rank *ranks, uint32_t rank_count, const struct comm_groups *groups,
                           struct mem *mem, struct notes *notes, uint64_t *levelled, struct orr_error *err)
{
    uint64_t room = 0;
    for (uint32_t r = 0; r < rank_count; r++) {
        room += ranks[r].count;
    }
    struct entry *entries = mem_alloc(mem, room * sizeof *entries);
    if (entries == NULL) {
        return mem_error(mem, "the collectives of a job", err);
    }
    uint64_t count = list_entries(ranks, rank_count, groups, entries);
    struct level level = {.ranks = ranks, .notes = notes, .err = err};
    enum orr_status status = ORR_OK;
    for (uint64_t first = 0, next = 0; first < count && status == ORR_OK; first = next) {
        for (next = first; next < count && entries[next].group == entries[first].group;) {
            next++;
        }
        status = level_group(&level, entries + first, next - first);
    }
    mem_free(mem, entries, room * sizeof *entries);
    if (status == ORR_OK && levelled != NULL) {
        *levelled = level.levelled;
    }
    return status;
}
