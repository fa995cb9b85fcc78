/* SPDX-License-Identifier: Apache-2.0 */
/* Process groups from what several ranks' recordings say of them. The traces are made by hand: only what groups.h reads
 * of them is filled in. */
#include <stdlib.h>

#include "convert/pytorch/groups/groups.h"
#include "io/file.h"
#include "tests/check.h"
#include "tests/folder.h"

static struct mem mem;
static struct orr_error err;

static void add(struct comm_groups *groups, int64_t rank, const char *name, uint32_t count, const int64_t *ranks)
{
    CHECK_OK(comm_groups_add_list(groups, rank, name, "", ranks, count, "a.json", &err), &err);
}

#define ADD(groups, rank, name, ...)                                                                                   \
    add(groups, rank, name, COUNT_OF(((const int64_t[]){__VA_ARGS__})), (const int64_t[]){__VA_ARGS__})

static uint32_t id_of(const struct comm_groups *groups, int64_t rank, const char *name)
{
    uint32_t group = comm_groups_find(groups, rank, name);
    CHECK(group != COMM_GROUP_NONE, "no group \"%s\" with rank %" PRId64, name, rank);
    return groups->groups[group].id;
}

static void settle(struct comm_groups *groups, uint32_t ranks)
{
    CHECK_OK(comm_groups_settle(groups, ranks, &err), &err);
}

static void whole_numbers_stay_and_other_names_get_the_smallest_free_ones(void **state)
{
    (void)state;
    struct comm_groups groups;
    comm_groups_init(&groups, &mem);
    add(&groups, 0, "0", 0, NULL);
    ADD(&groups, 0, "2", 0, 1);
    ADD(&groups, 2, "tp", 2, 3);
    ADD(&groups, 0, "mesh_dp", 0, 2);
    settle(&groups, 4);
    CHECK_U64(id_of(&groups, 3, "0"), 0, "all ranks");
    CHECK_U64(id_of(&groups, 1, "2"), 2, "its own number");
    CHECK_U64(id_of(&groups, 2, "mesh_dp"), 1, "by first rank");
    CHECK_U64(id_of(&groups, 3, "tp"), 3, "2 is taken");
    char text[COMM_GROUP_ROOM];
    CHECK_TEXT(comm_groups_pg_name(&groups, comm_groups_find(&groups, 0, "0"), text), "");
    CHECK_TEXT(comm_groups_pg_name(&groups, comm_groups_find(&groups, 0, "2"), text), "2");
    CHECK_U64(comm_groups_member(&groups, comm_groups_find(&groups, 2, "tp"), 1), 3, "second member");
    CHECK(comm_groups_member(&groups, comm_groups_find(&groups, 2, "tp"), 2) == -1, "no third member");
    CHECK_U64(comm_groups_size(&groups, COMM_GROUP_NONE), 4, "the world");
    comm_groups_free(&groups);
    CHECK_U64(mem.used, 0, "all memory is given back");
}

static void the_order_of_recordings_does_not_change_ids(void **state)
{
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        struct comm_groups groups;
        comm_groups_init(&groups, &mem);
        for (int i = 0; i < 3; i++) {
            switch (turn == 0 ? i : 2 - i) {
            case 0:
                ADD(&groups, 0, "x", 0, 1);
                break;
            case 1:
                ADD(&groups, 2, "x", 2, 3);
                break;
            default:
                ADD(&groups, 0, "7", 0, 3);
                break;
            }
        }
        settle(&groups, 4);
        CHECK_U64(id_of(&groups, 1, "x"), 1, "turn %d", turn);
        CHECK_U64(id_of(&groups, 3, "x"), 2, "turn %d: one name, two groups without a common rank", turn);
        CHECK_U64(id_of(&groups, 3, "7"), 7, "turn %d", turn);
        comm_groups_free(&groups);
    }
}

static void members_that_disagree_are_an_error_naming_both(void **state)
{
    (void)state;
    struct comm_groups groups;
    comm_groups_init(&groups, &mem);
    ADD(&groups, 0, "1", 0, 1);
    CHECK_OK(comm_groups_add_list(&groups, 1, "1", "", (const int64_t[]){1, 0}, 2, "b.json", &err), &err);
    CHECK_STATUS(comm_groups_add_list(&groups, 1, "1", "", (const int64_t[]){1, 2}, 2, "b.json", &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "b.json: process group \"1\" has the ranks [1, 2] here but [0, 1] in a.json");
    CHECK_STATUS(comm_groups_add_list(&groups, 1, "2", "", (const int64_t[]){1, 1}, 2, "b.json", &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "names rank 1 twice");
    CHECK_STATUS(comm_groups_add_list(&groups, 1, "2", "", (const int64_t[]){-1}, 1, "b.json", &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "names rank -1");
    comm_groups_free(&groups);
}

/* A trace that says nothing, to be filled in. */
static struct kineto_trace *empty_kineto(void)
{
    struct kineto_trace *trace = calloc(1, sizeof *trace);
    intern_init(&trace->names, &mem);
    trace->info.rank = -1;
    trace->info.world_size = -1;
    return trace;
}

static uint32_t text(struct intern *names, const char *word)
{
    uint32_t number = 0;
    CHECK(intern_add(names, word, strlen(word), &number), "%s", word);
    return number;
}

static void the_arguments_of_a_communication_tell_its_group(void **state)
{
    (void)state;
    struct comm_groups groups;
    comm_groups_init(&groups, &mem);
    struct kineto_trace *trace = empty_kineto();
    struct kineto_comm comms[] = {
        {.group_name = text(&trace->names, "3"), .group_ranks = text(&trace->names, "[4, 5]")},
        {.group_name = text(&trace->names, "3"), .group_ranks = text(&trace->names, "[4, 5]")},
        {.group_name = text(&trace->names, "0"), .group_ranks = text(&trace->names, "[0, 1, 2, ..., 63]")},
        {.group_name = 0},
    };
    trace->comms = comms;
    trace->comm_count = COUNT_OF(comms);
    trace->info.world_size = 64;
    CHECK_OK(comm_groups_add(&groups, 4, trace, NULL, "device_4.json", &err), &err);
    settle(&groups, 1);
    CHECK_U64(groups.count, 2, "each once");
    CHECK_U64(id_of(&groups, 4, "3"), 3, "listed");
    CHECK_U64(id_of(&groups, 63, "0"), 0, "a cut list under the name of all ranks");
    intern_free(&trace->names);
    free(trace);
    comm_groups_free(&groups);
}

static void the_host_trace_tells_its_groups_too(void **state)
{
    (void)state;
    struct comm_groups groups;
    comm_groups_init(&groups, &mem);
    struct host_trace host = {
        .process_groups = "[{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"ranks\": [], \"group_size\": 4},"
                          " {\"pg_name\": \"1\", \"pg_desc\": \"tp's\", \"ranks\": [2, 3], \"group_size\": 2}]"};
    intern_init(&host.names, &mem);
    struct host_comm comms[] = {
        {.group_name = text(&host.names, "5"), .rank_start = 0, .rank_stride = 2, .group_size = 2},
        {.group_name = text(&host.names, "1"), .rank_start = UINT64_MAX, .rank_stride = 1, .group_size = 2},
    };
    host.comms = comms;
    host.comm_count = COUNT_OF(comms);
    CHECK_OK(comm_groups_add(&groups, 2, NULL, &host, "host_2.json", &err), &err);
    settle(&groups, 0);
    CHECK_U64(groups.world_size, 4, "group_size of the group of all");
    CHECK_U64(comm_groups_member(&groups, comm_groups_find(&groups, 2, "5"), 1), 2, "by start and stride");
    struct arena arena;
    arena_init(&arena, &mem);
    CHECK_TEXT(comm_groups_metadata(&groups, &arena),
               "['[{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"ranks\": [0, 1, 2, 3], \"group_size\": 4, "
               "\"group_count\": 3}, {\"pg_name\": \"1\", \"pg_desc\": \"tp_s\", \"ranks\": [2, 3], \"group_size\": 2, "
               "\"group_count\": 3}, {\"pg_name\": \"5\", \"pg_desc\": \"\", \"ranks\": [0, 2], \"group_size\": 2, "
               "\"group_count\": 3}]']");
    arena_free(&arena);
    CHECK(comm_groups_any(&groups), "two groups are not of all ranks");
    char path[64];
    (void)snprintf(path, sizeof path, "%s/x.groups.json", folder);
    CHECK_OK(comm_groups_write(&groups, false, path, &err), &err);
    FILE *stream = fopen(path, "r");
    char written[128] = "";
    CHECK(stream != NULL, "%s", path);
    CHECK(fread(written, 1, sizeof written - 1, stream) > 0, "%s", path);
    (void)fclose(stream);
    CHECK_TEXT(written, "{\n \"1\": [2, 3],\n \"5\": [0, 2]\n}\n");
    intern_free(&host.names);
    comm_groups_free(&groups);
    CHECK_U64(mem.used, 0, "all memory is given back");
}

static void what_no_recording_can_mean_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *init;
        const char *want;
    } bad[] = {
        {"{", "process_group:init"},
        {"{\"pg_name\": \"0\"}", "found no list"},
        {"[{\"pg_name\": \"1\", \"ranks\": [\"x\"]}]", "names rank \"x\""},
        {"[{\"pg_name\": \"1\", \"ranks\": [99999999]}]", "names rank 99999999"},
        {"[{\"pg_name\": \"0\", \"ranks\": [], \"group_size\": 2147483647}]", "a job of 2147483647 ranks"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct comm_groups groups;
        struct host_trace host = {.process_groups = bad[i].init};
        intern_init(&host.names, &mem);
        comm_groups_init(&groups, &mem);
        CHECK_STATUS(comm_groups_add(&groups, 0, NULL, &host, "h.json", &err), ORR_EINVAL);
        CHECK_CONTAINS(err.text, bad[i].want);
        comm_groups_free(&groups);
        intern_free(&host.names);
    }
    CHECK_U64(mem.used, 0, "all memory is given back");
}

static void a_group_without_members_is_an_error_only_where_it_is_used(void **state)
{
    (void)state;
    for (int used = 0; used < 2; used++) {
        struct comm_groups groups;
        comm_groups_init(&groups, &mem);
        struct kineto_trace *trace = empty_kineto();
        struct kineto_comm comm = {.group_name = text(&trace->names, "tp")};
        trace->comms = &comm;
        trace->comm_count = used != 0 ? 1 : 0;
        CHECK_OK(comm_groups_add(&groups, 0, trace, NULL, "device_0.json", &err), &err);
        CHECK_STATUS(comm_groups_settle(&groups, 2, &err), used != 0 ? ORR_EINVAL : ORR_OK);
        intern_free(&trace->names);
        free(trace);
        comm_groups_free(&groups);
    }
    CHECK_CONTAINS(err.text, "device_0.json: communication in process group \"tp\", whose ranks are not known");
}

static void worlds_of_different_size_are_not_one_run(void **state)
{
    (void)state;
    struct comm_groups groups;
    comm_groups_init(&groups, &mem);
    struct kineto_trace *trace = empty_kineto();
    trace->info.world_size = 2;
    CHECK_OK(comm_groups_add(&groups, 0, trace, NULL, "device_0.json", &err), &err);
    trace->info.world_size = 4;
    CHECK_STATUS(comm_groups_add(&groups, 1, trace, NULL, "device_1.json", &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "device_1.json: the job has 4 ranks here but 2 in device_0.json");
    ADD(&groups, 0, "1", 0, 5);
    CHECK_STATUS(comm_groups_settle(&groups, 2, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "names rank 5, but the job has 2 ranks");
    intern_free(&trace->names);
    free(trace);
    comm_groups_free(&groups);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_stay_and_other_names_get_the_smallest_free_ones),
        cmocka_unit_test(the_order_of_recordings_does_not_change_ids),
        cmocka_unit_test(members_that_disagree_are_an_error_naming_both),
        cmocka_unit_test(the_arguments_of_a_communication_tell_its_group),
        cmocka_unit_test(the_host_trace_tells_its_groups_too),
        cmocka_unit_test(what_no_recording_can_mean_is_refused),
        cmocka_unit_test(a_group_without_members_is_an_error_only_where_it_is_used),
        cmocka_unit_test(worlds_of_different_size_are_not_one_run),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
