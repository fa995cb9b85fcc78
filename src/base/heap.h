/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A binary heap over a plain array, what comes first on top: the one of all rooms. The array, its room and its count
 * are the caller's; nothing is allocated here. The functions are made for one type of entry, so that comparing and
 * moving cost no call, as in a loop written out.
 *
 * The order in which entries of no order among themselves come out is that of this code and of what was pushed; whose
 * results must not depend on it compares by something unique last.
 */
#ifndef ORR_BASE_HEAP_H
#define ORR_BASE_HEAP_H

#include <stdint.h>

#define HEAP_USED __attribute__((unused)) static inline

/* An entry put where it belongs, for who need not know where it is. */
#define HEAP_PUT(context, at, place, entry) ((at)[place] = (entry))

/*
 * Defines for entries of `TYPE`, of which `BEFORE(context, const TYPE *a, const TYPE *b)` says whether a comes before
 * b, strictly: NAME_push, NAME_pop   one more (the array must have room for it), and the first one out (there must be
 * one) NAME_move             the entry of this place is this one from now on, before or behind what was there NAME_make
 * a heap of whatever the array holds NAME_rise, NAME_sink  the two ways an entry can go from a place `PUT(context, at,
 * place, entry)` stores an entry: HEAP_PUT, or what remembers its place besides.
 */
#define HEAP_DEFINE(NAME, TYPE, CONTEXT, BEFORE, PUT)                                                                  \
    HEAP_USED void NAME##_rise(CONTEXT context, TYPE *at, uint32_t place, TYPE entry)                                  \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        while (place > 0 && BEFORE(context, &entry, &at[(place - 1) / 2])) {                                           \
            PUT(context, at, place, at[(place - 1) / 2]);                                                              \
            place = (place - 1) / 2;                                                                                   \
        }                                                                                                              \
        PUT(context, at, place, entry);                                                                                \
    }                                                                                                                  \
    HEAP_USED void NAME##_sink(CONTEXT context, TYPE *at, uint32_t count, uint32_t place, TYPE entry)                  \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        for (uint32_t child = 2 * place + 1; child < count; child = 2 * place + 1) {                                   \
            child += child + 1 < count && BEFORE(context, &at[child + 1], &at[child]) ? 1 : 0;                         \
            if (!BEFORE(context, &at[child], &entry)) {                                                                \
                break;                                                                                                 \
            }                                                                                                          \
            PUT(context, at, place, at[child]);                                                                        \
            place = child;                                                                                             \
        }                                                                                                              \
        PUT(context, at, place, entry);                                                                                \
    }                                                                                                                  \
    HEAP_USED void NAME##_push(CONTEXT context, TYPE *at, uint32_t *count, TYPE entry)                                 \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        uint32_t place = (*count)++;                                                                                   \
        NAME##_rise(context, at, place, entry);                                                                        \
    }                                                                                                                  \
    HEAP_USED TYPE NAME##_pop(CONTEXT context, TYPE *at, uint32_t *count)                                              \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        TYPE first = at[0];                                                                                            \
        uint32_t left = --(*count);                                                                                    \
        NAME##_sink(context, at, left, 0, at[left]);                                                                   \
        return first;                                                                                                  \
    }                                                                                                                  \
    HEAP_USED void NAME##_move(CONTEXT context, TYPE *at, uint32_t count, uint32_t place, TYPE entry)                  \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        if (place > 0 && BEFORE(context, &entry, &at[(place - 1) / 2])) {                                              \
            NAME##_rise(context, at, place, entry);                                                                    \
        } else {                                                                                                       \
            NAME##_sink(context, at, count, place, entry);                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    HEAP_USED void NAME##_make(CONTEXT context, TYPE *at, uint32_t count)                                              \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        for (uint32_t i = count / 2; i-- > 0;) {                                                                       \
            NAME##_sink(context, at, count, i, at[i]);                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
    enum { NAME##_is_defined }

#endif
