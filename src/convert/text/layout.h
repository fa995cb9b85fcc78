/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communicator groups as digits of a rank's number: which ranks are together follows by arithmetic, so that no list of
 * them is held for a job of any size. Owns nothing; knows no parallelism and no machine.
 */
#ifndef ORR_CONVERT_TEXT_LAYOUT_H
#define ORR_CONVERT_TEXT_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/* A group's ranks differ in one digit of their number, of `count` values `stride` apart, or in a second one besides, of
 * `outer_count` values `outer_stride` apart, which is at least stride x count. count 0: there is no such group;
 * outer_count 0 or 1: there is no second digit. */
struct work_layout {
    uint32_t stride, count;
    uint32_t outer_stride, outer_count;
};

/* Ranks of a group. */
uint32_t work_layout_size(const struct work_layout *layout);
/* Whether the layout's groups differ from "all ranks" and from "each rank alone". */
bool work_layout_is_proper(const struct work_layout *layout, uint32_t ranks);
/* The group a rank is in, from 0, counted over the groups of this layout. */
uint32_t work_layout_group(const struct work_layout *layout, uint32_t rank);
/* A group's member by its place: ascending; place 0 is the lowest rank. */
uint64_t work_layout_member(const struct work_layout *layout, uint32_t group, uint32_t place);

#endif
