/* SPDX-License-Identifier: Apache-2.0 */
/* A job's split, told by the process groups of one rank. */
#include "tests/check.h"
#include "trace/roles.h"

struct told {
    uint32_t ranks[8];
    uint32_t count;
    const char *text;
    uint64_t collectives;
    bool exchanges;
};

static const struct {
    const char *what, *want;
    uint32_t ranks;
    struct told groups[5];
    uint32_t peers[2];
} rows[] = {
    {"no group", "dp:8", 8, {{{0}, 0, NULL, 0, false}}, {0}},
    {"three roles, named",
     "tp:2,dp:2,pp:2",
     8,
     {{{0, 1}, 2, "mesh_tp", 0, false}, {{0, 2}, 2, "mesh_dp", 0, false}, {{0, 4}, 2, "mesh_pp", 0, false}},
     {0}},
    {"three roles, by what is done in them",
     "tp:2,dp:2,pp:2",
     8,
     {{{0, 4}, 2, "", 0, false}, {{0, 1}, 2, "", 80, false}, {{0, 2}, 2, "", 2, false}},
     {4}},
    {"a pipeline between", "tp:2,pp:2,dp:2", 8, {{{0, 1}, 2, NULL, 0, false}, {{0, 4}, 2, NULL, 0, false}}, {2}},
    {"a role that no group tells of", "tp:2,dp:4", 8, {{{0, 1}, 2, "tensor_model_parallel", 0, false}}, {0}},
    {"the fastest that no group tells of",
     "dp:2,pp:4",
     8,
     {{{0, 2, 4, 6}, 4, "PIPELINE_MODEL_PARALLEL_GROUP", 0, false}},
     {0}},
    {"experts", "ep:4,dp:2", 8, {{{0, 1, 2, 3}, 4, NULL, 3, true}}, {0}},
    {"data and context together are no role",
     "tp:2,cp:2,dp:2",
     8,
     {{{0, 1}, 2, "tp", 0, false},
      {{0, 2}, 2, "cp", 0, false},
      {{0, 4}, 2, "dp", 0, false},
      {{0, 2, 4, 6}, 4, "dp_cp", 0, false}},
     {0}},
    {"a group of all ranks names the one role", "tp:4", 4, {{{0, 1, 2, 3}, 4, "mesh_tp", 0, false}}, {0}},
    {"the default group names none", "dp:4", 4, {{{0, 1, 2, 3}, 4, "mesh_default", 0, false}}, {0}},
};

static enum orr_status infer(const struct told *groups, uint32_t ranks, uint32_t peer, struct trace_layout *layout,
                             struct orr_error *err)
{
    struct trace_role_group list[5];
    struct trace_role_clues clues = {.groups = list, .peers = &peer, .peer_count = peer != 0, .ranks = ranks};
    for (; clues.group_count < COUNT_OF(list) && groups[clues.group_count].count > 0; clues.group_count++) {
        const struct told *told = &groups[clues.group_count];
        list[clues.group_count] = (struct trace_role_group){.ranks = told->ranks,
                                                            .count = told->count,
                                                            .text = told->text,
                                                            .collectives = told->collectives,
                                                            .exchanges = told->exchanges};
    }
    return trace_roles_infer(&clues, layout, err);
}

static void roles_follow_from_strides_sizes_and_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct trace_layout layout = {.role_count = 0};
        struct orr_error err = {0};
        char text[TRACE_LAYOUT_TEXT];
        CHECK(infer(rows[i].groups, rows[i].ranks, rows[i].peers[0], &layout, &err) == ORR_OK, "%s: %s", rows[i].what,
              err.text);
        CHECK(strcmp(trace_layout_text(&layout, text), rows[i].want) == 0, "%s: %s, not %s", rows[i].what, text,
              rows[i].want);
    }
}

static void groups_that_do_not_nest_are_refused(void **state)
{
    (void)state;
    const struct told groups[5] = {{{0, 1, 2}, 3, NULL, 0, false}, {{0, 4}, 2, NULL, 0, false}};
    struct trace_layout layout = {.role_count = 7};
    struct orr_error err = {0};
    CHECK_STATUS(infer(groups, 8, 0, &layout, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "do not nest");
    CHECK_U64(layout.role_count, 7, "an output is written only on success");
}

TEST_MAIN(roles_follow_from_strides_sizes_and_words, groups_that_do_not_nest_are_refused)
