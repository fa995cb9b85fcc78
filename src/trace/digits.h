/* SPDX-License-Identifier: Apache-2.0 */
/* A rank as a number in a mixed radix, one digit a role, the first role changing fastest: what replicate.c and
 * complete.c reckon with. */
#ifndef ORR_TRACE_DIGITS_H
#define ORR_TRACE_DIGITS_H

#include "trace/replicate.h"

struct digits {
    uint32_t of[TRACE_ROLES_MAX];
};

static inline struct digits digits_of(const struct trace_layout *layout, uint32_t rank)
{
    struct digits digits = {0};
    for (uint32_t i = 0; i < layout->role_count; i++) {
        digits.of[i] = rank % layout->roles[i].size;
        rank /= layout->roles[i].size;
    }
    return digits;
}

static inline uint32_t rank_of(const struct trace_layout *layout, const struct digits *digits)
{
    uint32_t rank = 0;
    for (uint32_t i = layout->role_count; i-- > 0;) {
        rank = rank * layout->roles[i].size + digits->of[i];
    }
    return rank;
}

/* In which digits the members of a group differ. A group lies along roles when it holds every combination of these;
 * false when it does not. */
static inline bool digits_vary(const struct trace_layout *layout, const struct trace_group *group,
                               bool varies[TRACE_ROLES_MAX])
{
    struct digits first = digits_of(layout, group->ranks[0]);
    uint64_t combinations = 1;
    for (uint32_t role = 0; role < TRACE_ROLES_MAX; role++) {
        varies[role] = false;
    }
    for (uint32_t i = 1; i < group->count; i++) {
        struct digits member = digits_of(layout, group->ranks[i]);
        for (uint32_t role = 0; role < layout->role_count; role++) {
            varies[role] = varies[role] || member.of[role] != first.of[role];
        }
    }
    for (uint32_t role = 0; role < layout->role_count; role++) {
        combinations *= varies[role] ? layout->roles[role].size : 1;
    }
    return combinations == group->count;
}

#endif
