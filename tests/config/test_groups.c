/* SPDX-License-Identifier: Apache-2.0 */
/* Communicator groups and custom collectives by node: the two formats whose keys are numbers. */
#include "config/table.h"
#include "tests/config/reading.h"

static enum orr_status parse(struct reading *reading, const char *text, struct sim_group **groups, uint32_t *count)
{
    return config_parse_groups("g.json", text, strlen(text), 8, &reading->arena, &reading->notes, groups, count,
                               &reading->err);
}

static enum orr_status parse_nodes(struct reading *reading, const char *text, struct config_custom_node **nodes,
                                   uint32_t *count)
{
    return config_parse_custom_nodes("p.yml", text, strlen(text), &reading->arena, &reading->notes, nodes, count,
                                     &reading->err);
}

static void groups_come_in_ascending_id_and_keep_the_files_order_of_ranks(void **state)
{
    (void)state;
    struct reading reading;
    reading_begin(&reading, true);
    struct sim_group *groups = NULL;
    uint32_t count = 0;
    CHECK_OK(parse(&reading, "{\"12\": [7, 0, 3], \"2\": [5],\n\"3\": [3, 4]}", &groups, &count), &reading.err);
    CHECK_U64(count, 3, "groups");
    CHECK_U64(groups[0].id, 2, "the lowest id comes first");
    CHECK_U64(groups[2].id, 12, "the highest id comes last");
    CHECK_U64(groups[2].count, 3, "ranks of group 12");
    CHECK(groups[2].ranks[0] == 7 && groups[2].ranks[1] == 0 && groups[2].ranks[2] == 3, "not sorted");
    CHECK_U64(groups[1].ranks[0], 3, "a rank may be in several groups");
    CHECK_OK(parse(&reading, config_format_groups.example, &groups, &count), &reading.err);
    CHECK_OK(parse(&reading, "{}", &groups, &count), &reading.err);
    CHECK_U64(count, 0, "a file may have no group");
    reading_end(&reading);
}

static const struct bad_text bad[] = {
    {"", "g.json:1: the file is empty"},
    {"[]", "g.json:1: found a list of 0; a map of group ids to lists of ranks is expected"},
    {"{\n\"0\": [1]}", "g.json:2: group 0 means all ranks and cannot be redefined"},
    {"{\"-1\": [1]}", "g.json:1: the key \"-1\" is not a group id; accepted: a whole number, 1 to 2147483647"},
    {"{\"2147483648\": [1]}", "is not a group id"},
    {"{\"99999999999999999999999\": [1]}", "is not a group id"},
    {"{\"\": [1]}", "the key \"\" is not a group id"},
    {"{\"tp\\n\": [1]}", "the key \"tp?\" is not a group id"},
    {"{\"1\": [\n0,\n8]}", "g.json:3: group 1 names rank 8; accepted: 0 to 7, the ranks of the network"},
    {"{\"1\": [-1]}", "group 1 names rank -1; accepted"},
    {"{\"1\": [1.5]}", "group 1 names rank 1.5; accepted"},
    {"{\"1\": [\"x\"]}", "group 1 names rank \"x\"; accepted"},
    {"{\"1\": [0, 3,\n3]}", "g.json:2: group 1 names rank 3 twice"},
    {"{\n\"5\": []}", "g.json:2: group 5 is a list of 0; accepted: a list of ranks, not empty"},
    {"{\"5\": 3}", "group 5 is 3; accepted: a list of ranks"},
    {"{\"1\": [0], \"01\": [1]}", "g.json:1: group 1 is there twice"},
    {"{\"1\": [0],\n\"1\": [1]}", "g.json:2: column 3: duplicate object key"},
};

static void a_bad_group_is_refused_with_its_line_and_what_is_accepted(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct reading reading;
        reading_begin(&reading, false);
        struct sim_group *groups = NULL;
        uint32_t count = 77;
        check_refusal(&reading, parse(&reading, bad[i].text, &groups, &count), &bad[i]);
        CHECK_U64(count, 77, "outputs are written on success only");
        reading_end(&reading);
    }
}

static void a_name_with_empty_means_no_groups(void **state)
{
    (void)state;
    struct reading reading;
    reading_begin(&reading, true);
    struct sim_group *groups = NULL;
    uint32_t count = 5;
    CHECK_OK(config_read_groups("empty", 8, &reading.arena, &reading.notes, &groups, &count, &reading.err),
             &reading.err);
    CHECK_U64(count, 0, "no groups");
    CHECK_STATUS(
        config_read_groups("/nonexistent.json", 8, &reading.arena, &reading.notes, &groups, &count, &reading.err),
        ORR_EIO);
    reading_end(&reading);
}

static void custom_nodes_come_in_ascending_id(void **state)
{
    (void)state;
    struct reading reading;
    reading_begin(&reading, true);
    struct config_custom_node *nodes = NULL;
    uint32_t count = 0;
    CHECK_OK(parse_nodes(&reading, "18446744073709551615: dir/a\n2: custom/all_reduce\n3: 17\n", &nodes, &count),
             &reading.err);
    CHECK_U64(count, 3, "nodes");
    CHECK_U64(nodes[0].node_id, 2, "the lowest id comes first");
    CHECK_TEXT(nodes[0].path, "custom/all_reduce");
    CHECK_TEXT(nodes[1].path, "17");
    CHECK_U64(nodes[2].node_id, UINT64_MAX, "ids have 64 bits");
    CHECK_OK(parse_nodes(&reading, config_format_custom_nodes.example, &nodes, &count), &reading.err);
    reading_end(&reading);
}

static const struct bad_text bad_nodes[] = {
    {"", "p.yml:1: the file is empty"},
    {"- a\n", "p.yml:1: found a list of 1; a map of node ids to paths is expected"},
    {"1: a\nx: b\n", "p.yml:2: the key \"x\" is not a node id"},
    {"18446744073709551616: b\n", "is not a node id"},
    {"1: a\n2: b\n1: c\n", "p.yml:1: node 1 is there twice"},
    {"1: a\n2:\n", "p.yml:2: \"<node id>\" is empty; accepted: path"},
    {"1: [a]\n", "p.yml:1: \"<node id>\" is a list of 1; accepted: path"},
};

static void a_bad_node_is_refused_with_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad_nodes); i++) {
        struct reading reading;
        reading_begin(&reading, false);
        struct config_custom_node *nodes = NULL;
        uint32_t count = 77;
        check_refusal(&reading, parse_nodes(&reading, bad_nodes[i].text, &nodes, &count), &bad_nodes[i]);
        CHECK_U64(count, 77, "outputs are written on success only");
        reading_end(&reading);
    }
}

TEST_MAIN(groups_come_in_ascending_id_and_keep_the_files_order_of_ranks,
          a_bad_group_is_refused_with_its_line_and_what_is_accepted, a_name_with_empty_means_no_groups,
          custom_nodes_come_in_ascending_id, a_bad_node_is_refused_with_its_line)
