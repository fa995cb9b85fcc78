/* SPDX-License-Identifier: Apache-2.0 */
/* Long rows in pictures: their beginning and their end are shown, and between them one place for all that is not. */
#ifndef ORR_REPORT_SLOTS_H
#define ORR_REPORT_SLOTS_H

#include <stdint.h>

/* Of `size` things with `room` places (3 or more), the place of thing `index`. The last place but one is for all that
 * are left out, where there are any. */
static inline uint32_t report_slot(uint32_t index, uint32_t size, uint32_t room)
{
    if (size <= room || index < room - 2) {
        return index;
    }
    return index == size - 1 ? room - 1 : room - 2;
}

static inline uint32_t report_slots(uint32_t size, uint32_t room)
{
    return size < room ? size : room;
}

#endif
