/* SPDX-License-Identifier: Apache-2.0 */
/* Groups are counted by what is left of a rank's number when its group's digits are taken out; a member's number is
 * what is left with the digits put in again. */
#include "convert/text/layout.h"

static uint32_t layout_outer_count(const struct work_layout *layout)
{
    return layout->outer_count > 1 ? layout->outer_count : 1;
}

uint32_t work_layout_size(const struct work_layout *layout)
{
    return layout->count * layout_outer_count(layout);
}

bool work_layout_is_proper(const struct work_layout *layout, uint32_t ranks)
{
    uint32_t size = work_layout_size(layout);
    return size > 1 && size < ranks;
}

static uint32_t layout_take_out(uint32_t number, uint32_t stride, uint32_t count)
{
    uint64_t block = (uint64_t)stride * count;
    return (uint32_t)(number / block * stride + number % stride);
}

static uint64_t layout_put_in(uint64_t number, uint32_t stride, uint32_t count, uint32_t digit)
{
    return number / stride * stride * count + number % stride + (uint64_t)digit * stride;
}

uint32_t work_layout_group(const struct work_layout *layout, uint32_t rank)
{
    if (layout->outer_count > 1) {
        rank = layout_take_out(rank, layout->outer_stride, layout->outer_count);
    }
    return layout_take_out(rank, layout->stride, layout->count);
}

uint64_t work_layout_member(const struct work_layout *layout, uint32_t group, uint32_t place)
{
    uint64_t rank = layout_put_in(group, layout->stride, layout->count, place % layout->count);
    if (layout->outer_count > 1) {
        rank = layout_put_in(rank, layout->outer_stride, layout->outer_count, place / layout->count);
    }
    return rank;
}
