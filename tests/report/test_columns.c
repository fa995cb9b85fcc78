/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of a page: what is packed comes out again, and the path that the end waited for adds up to the run. */
#include "report/columns.h"
#include "report/waits.h"
#include "tests/report/fixture.h"

#include <jansson.h>

enum { EVENTS = FIXTURE_NODES * FIXTURE_RANKS };

static json_t *columns_of(const struct fixture *f, uint32_t most)
{
    struct orr_error err = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    CHECK_OK(report_columns_write(&f->result, most, stream, &err), &err);
    (void)fclose(stream);
    json_t *root = json_loads(text, 0, NULL);
    CHECK(root != NULL, "a document");
    CHECK_U64(f->mem.used, 0, "all memory is given back");
    free(text);
    return root;
}

/* The numbers of a column, at most `room`; how many there are. */
static size_t unpacked(const json_t *object, const char *key, uint64_t *into, size_t room)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *text = json_string_value(json_object_get(object, key));
    size_t count = 0;
    uint32_t bits = 0;
    int have = 0, shift = 0;
    uint64_t value = 0;
    CHECK(text != NULL, "there is a column %s", key);
    for (; *text != '\0' && *text != '='; text++) {
        bits = bits << 6 | (uint32_t)(strchr(digits, *text) - digits);
        have += 6;
        if (have < 8) {
            continue;
        }
        have -= 8;
        uint32_t byte = bits >> have & 255;
        value |= (uint64_t)(byte & 127) << shift;
        shift += 7;
        if (byte < 128) {
            CHECK(count < room, "%s has no more than %zu", key, room);
            into[count++] = value;
            value = 0;
            shift = 0;
        }
    }
    return count;
}

static int64_t turned(uint64_t value)
{
    return (value & 1) != 0 ? -(int64_t)(value >> 1) - 1 : (int64_t)(value >> 1);
}

static void columns_give_the_intervals_back(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    json_t *root = columns_of(&f, REPORT_COLUMNS_EVENTS);
    const json_t *columns = json_object_get(root, "columns");
    const json_t *tracks = json_object_get(root, "tracks");
    uint64_t start[EVENTS], duration[EVENTS], bytes[EVENTS], node[EVENTS], waits[EVENTS];
    CHECK_U64(unpacked(columns, "start", start, EVENTS), EVENTS, "one an event");
    CHECK_U64(unpacked(columns, "duration", duration, EVENTS), EVENTS, "one an event");
    CHECK_U64(unpacked(columns, "bytes", bytes, EVENTS), EVENTS, "one an event");
    CHECK_U64(unpacked(columns, "node", node, EVENTS), EVENTS, "one an event");
    CHECK_U64(unpacked(columns, "waits", waits, EVENTS), EVENTS, "one an event");
    CHECK_U64(json_array_size(tracks), 2 * FIXTURE_RANKS, "compute and communication");
    CHECK_TEXT(json_string_value(json_object_get(json_array_get(tracks, 1), "name")), "communication");
    for (size_t rank = 0; rank < FIXTURE_RANKS; rank++) {
        const size_t at = rank * FIXTURE_NODES;
        CHECK_U64(start[at], 0, "compute");
        CHECK_U64(duration[at], 50000, "compute");
        CHECK_U64(start[at + 2], 117780, "from the all-reduce's start");
        CHECK_U64(duration[at + 2], 287740, "the all-gather");
        CHECK_U64(bytes[at + 2], 2 << 20, "the all-gather");
        CHECK(turned(node[at]) == (int64_t)(100 * rank + 2), "a track's first node is its id");
        CHECK(turned(waits[at + 2]) == -1 && waits[at] == 0, "the all-gather waited for the all-reduce before it");
    }
    json_decref(root);
}

static void the_critical_path_passes_through_the_rank_that_came_last(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    struct report_lanes lanes;
    struct report_waits waits;
    struct orr_error err = {0};
    uint32_t parents[] = {1}, starts[] = {0, 0, 0}, written[] = {0, 0, 1};
    f.graph.parents = parents;
    f.graph.parent_start = starts;
    f.graph.parent_written = written;
    f.intervals[FIXTURE_NODES * 3] = (struct sim_interval){3, 0, 0, 117780, SIM_SLOT_COMM, 0};
    f.intervals[FIXTURE_NODES * 3 + 1] = (struct sim_interval){3, 1, 0, 150000, SIM_SLOT_COMP, 0};
    f.intervals[FIXTURE_NODES * 3 + 2].start_ns = 150010; /* behind compute that took longer here */
    CHECK_OK(report_lanes_make(&f.result, &lanes, &err), &err);
    CHECK_OK(report_waits_make(&f.result, &lanes, &waits, &err), &err);
    CHECK_U64(waits.path_count, 2, "the all-gather, and the compute of rank 3");
    CHECK_U64(waits.path[0].from_ns, 150010, "not before the last has come");
    CHECK_U64(waits.path[0].to_ns, 405520, "the end");
    const struct sim_interval *compute = &f.intervals[waits.order[waits.path[1].event]];
    CHECK(compute->rank == 3 && compute->node == 1, "rank %u, node %u", compute->rank, compute->node);
    CHECK(waits.path[1].from_ns == 0 && waits.path[1].to_ns == 150000, "all of it");
    CHECK(waits.late[2] == 3 * FIXTURE_NODES + 2, "rank 0 waits for rank 3, not for %d", (int)waits.late[2]);
    CHECK(waits.late[3 * FIXTURE_NODES + 2] == REPORT_NO_WAIT, "who comes last waits for nobody");
    arena_free(&waits.arena);
    arena_free(&lanes.arena);
}

static void ranks_are_left_out_evenly_but_for_the_last_to_finish(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f);
    f.ranks[5].finish_ns++;
    json_t *root = columns_of(&f, 6);
    const json_t *tracks = json_object_get(root, "tracks");
    CHECK_U64(json_integer_value(json_object_get(root, "left_out")), 6, "of 8");
    CHECK_U64(json_integer_value(json_object_get(json_array_get(tracks, 0), "rank")), 0, "every fifth");
    CHECK_U64(json_integer_value(json_object_get(json_array_get(tracks, 2), "rank")), 5, "the last");
    CHECK(json_object_get(root, "critical") == NULL, "a path with holes is none");
    json_decref(root);
}

static void a_run_without_events_has_empty_columns(void **state)
{
    (void)state;
    struct fixture f;
    struct orr_error err = {0};
    fixture_make(&f);
    f.result.interval_count = 0;
    json_t *root = columns_of(&f, REPORT_COLUMNS_EVENTS);
    CHECK_U64(json_integer_value(json_object_get(root, "events")), 0, "none");
    json_decref(root);
    f.config.keep_intervals = false;
    CHECK_STATUS(report_columns_write(&f.result, 1, stdout, &err), ORR_EINVAL);
}

TEST_MAIN(columns_give_the_intervals_back, the_critical_path_passes_through_the_rank_that_came_last,
          ranks_are_left_out_evenly_but_for_the_last_to_finish, a_run_without_events_has_empty_columns)
