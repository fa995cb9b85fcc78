/* SPDX-License-Identifier: Apache-2.0 */
/* A group is named by where its ranks stand on the other axes: pp first, then the axes in order, the last one running
 * fastest. Both directions, from rank to group and from group to ranks, are arithmetic over these digits. */
#include "model/stg/groups.h"

#include <string.h>

static const enum stg_symbol axis_symbols[STG_AXES] = {STG_DP, STG_TP, STG_CP, STG_EP};

static uint32_t group_count(const struct stg_mapping *mapping, uint32_t axis)
{
    return mapping->stages * (mapping->stage_size / mapping->degree[axis]);
}

void stg_mapping_init(struct stg_mapping *mapping, const struct stg_config *config)
{
    *mapping = (struct stg_mapping){
        .axes = config->kind == STG_KIND_MOE ? 4 : 3, .stages = stg_degree(config, STG_PP), .stage_size = 1};
    for (uint32_t axis = 0; axis < STG_AXES; axis++) {
        mapping->degree[axis] = axis < mapping->axes ? stg_degree(config, axis_symbols[axis]) : 1;
        mapping->stage_size *= mapping->degree[axis];
    }
    uint32_t next = 1;
    for (uint32_t axis = 0; axis < mapping->axes; axis++) {
        if (config->compat || mapping->degree[axis] > 1) {
            mapping->first[axis] = next;
            next += group_count(mapping, axis);
        }
    }
}

static void stg_groups_digits_of(const struct stg_mapping *mapping, uint32_t rank, uint32_t digit[STG_AXES],
                                 uint32_t *stage)
{
    for (uint32_t axis = 0; axis < STG_AXES; axis++) {
        digit[axis] = rank % mapping->degree[axis];
        rank /= mapping->degree[axis];
    }
    *stage = rank;
}

void stg_mapping_rank(const struct stg_mapping *mapping, uint32_t rank, struct stg_rank *own)
{
    uint32_t digit[STG_AXES];
    uint32_t stage = 0;
    stg_groups_digits_of(mapping, rank, digit, &stage);
    *own = (struct stg_rank){.number = rank, .stage_size = mapping->stage_size};
    for (uint32_t axis = 0; axis < mapping->axes; axis++) {
        uint32_t index = stage;
        for (uint32_t other = 0; other < mapping->axes; other++) {
            index = other == axis ? index : index * mapping->degree[other] + digit[other];
        }
        own->groups[axis_symbols[axis]] = mapping->first[axis] + index;
    }
}

/* The rank at `at` along the axis, in the group numbered `index` along it. */
static uint32_t stg_groups_member(const struct stg_mapping *mapping, uint32_t axis, uint32_t index, uint32_t at)
{
    uint32_t digit[STG_AXES] = {0};
    for (uint32_t other = mapping->axes; other > 0; other--) {
        if (other - 1 != axis) {
            digit[other - 1] = index % mapping->degree[other - 1];
            index /= mapping->degree[other - 1];
        }
    }
    digit[axis] = at;
    uint32_t rank = index; /* what is left is the stage */
    for (uint32_t other = STG_AXES; other > 0; other--) {
        rank = rank * mapping->degree[other - 1] + digit[other - 1];
    }
    return rank;
}

uint32_t stg_mapping_print(const struct stg_mapping *mapping, struct stg_text *text)
{
    uint32_t printed = 0;
    stg_text_add(text, "{");
    for (uint32_t axis = 0; axis < mapping->axes; axis++) {
        for (uint32_t i = 0; mapping->first[axis] > 0 && i < group_count(mapping, axis); i++) {
            stg_text_add(text, printed++ == 0 ? "\"" : ", \"");
            stg_text_number(text, mapping->first[axis] + i);
            stg_text_add(text, "\": [");
            for (uint32_t at = 0; at < mapping->degree[axis]; at++) {
                stg_text_add(text, at == 0 ? "" : ", ");
                stg_text_number(text, stg_groups_member(mapping, axis, i, at));
            }
            stg_text_add(text, "]");
        }
    }
    stg_text_add(text, "}");
    return printed;
}
