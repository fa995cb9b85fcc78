/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of groups.h share: how one statement about a group is put to the set. Not for anybody else. */
#ifndef ORR_CONVERT_PYTORCH_GROUPS_INTERNAL_H
#define ORR_CONVERT_PYTORCH_GROUPS_INTERNAL_H

#include "convert/pytorch/groups/groups.h"

/* A job of more ranks is a broken file: lists that stand for "all ranks" are made as long as the job says it is. */
enum { GROUPS_MAX_RANKS = 1 << 22, GROUPS_NAME_ROOM = 80 };

/* Members as said; both lists are the caller's. No members and not is_all: only the name is known. */
struct groups_list {
    const uint32_t *ranks;
    const uint32_t *sorted;
    uint32_t count;
    bool is_all;
};

struct groups_said {
    const char *name;
    const char *text;
    const char *source;
    bool is_used;
};

enum orr_status groups_no_memory(const struct comm_groups *groups, struct orr_error *err);
/* A name for a message: cut, on one line. */
const char *groups_printable(const char *name, char text[GROUPS_NAME_ROOM]);
int groups_by_number(const void *a, const void *b); /* for qsort and bsearch over uint32_t */

ORR_MUST_CHECK enum orr_status groups_say(struct comm_groups *groups, int64_t rank, const struct groups_said *said,
                                          const struct groups_list *list, struct orr_error *err);
ORR_MUST_CHECK bool groups_set_members(struct comm_groups *groups, struct comm_group *group, const uint32_t *ranks,
                                       const uint32_t *sorted, uint32_t count);

/* Whether the members of the group of this name that `rank` is in are known. */
bool groups_is_placed(const struct comm_groups *groups, int64_t rank, const char *name);

#endif
