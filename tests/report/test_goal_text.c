/* SPDX-License-Identifier: Apache-2.0 */
/* Traces as GOAL schedules, read back line by line: every label is known before it is used, every message has its other
 * half, and a collective moves as many bytes as it must. */
#include "report/goal.h"

#include "tests/report/fixture.h"
#include "tests/report/printed.h"

enum { MESSAGES_MOST = 4096, LABELS_MOST = 4096 };

struct message {
    uint32_t from, to, tag;
    uint64_t bytes;
};

struct schedule {
    struct message sent[MESSAGES_MOST], received[MESSAGES_MOST];
    uint32_t sent_count, received_count;
    uint64_t calc_ns;
    uint32_t ranks, rank;
    uint64_t labels; /* of the rank so far */
};

/* The fixture with what a schedule wants besides: edges both ways. */
static void make_traces(struct fixture *f)
{
    static uint32_t order[] = {0, 1, 2}, children[] = {2}, parents[] = {0}, start[3], written[] = {0, 0, 1};
    fixture_make(f);
    f->graph.file_order = order;
    f->graph.children = children;
    f->graph.parents = parents;
    f->graph.parent_start = start;
    f->graph.parent_written = written;
    f->nodes[0].child_count = 1;
    for (int i = 0; i < FIXTURE_NODES; i++) {
        f->nodes[i].has = TRACE_HAS_COMM_TYPE | TRACE_HAS_COMM_SIZE;
    }
}

static void read_line(struct schedule *schedule, const char *line)
{
    uint64_t label = 0;
    uint64_t other = 0;
    struct message message = {0};
    uint64_t ns = 0;
    if (sscanf(line, "num_ranks %" SCNu32, &schedule->ranks) == 1) {
        return;
    }
    if (sscanf(line, "rank %" SCNu32 " {", &schedule->rank) == 1) {
        schedule->labels = 0;
    } else if (sscanf(line, "l%" SCNu64 " requires l%" SCNu64, &label, &other) == 2) {
        CHECK(label <= schedule->labels && other <= schedule->labels && label != other, "unknown label in: %s", line);
    } else if (sscanf(line, "l%" SCNu64 ": calc %" SCNu64, &label, &ns) == 2) {
        CHECK_U64(label, ++schedule->labels, "%s", line);
        schedule->calc_ns += ns;
    } else if (sscanf(line, "l%" SCNu64 ": send %" SCNu64 "b to %" SCNu32 " tag %" SCNu32, &label, &message.bytes,
                      &message.to, &message.tag) >= 3) {
        CHECK_U64(label, ++schedule->labels, "%s", line);
        message.from = schedule->rank;
        assert_true(schedule->sent_count < MESSAGES_MOST);
        schedule->sent[schedule->sent_count++] = message;
    } else if (sscanf(line, "l%" SCNu64 ": recv %" SCNu64 "b from %" SCNu32 " tag %" SCNu32, &label, &message.bytes,
                      &message.from, &message.tag) >= 3) {
        CHECK_U64(label, ++schedule->labels, "%s", line);
        message.to = schedule->rank;
        assert_true(schedule->received_count < MESSAGES_MOST);
        schedule->received[schedule->received_count++] = message;
    } else {
        CHECK(line[0] == '}' || line[0] == '\0' || line[0] == '\n' || line[0] == '/', "not a line of GOAL: %s", line);
    }
}

static struct schedule *schedule_of(const struct fixture *f, const struct goal_group *groups, uint32_t group_count)
{
    static struct schedule schedule;
    static char line[256];
    struct mem mem = {0};
    struct orr_error err = {0};
    schedule = (struct schedule){0};
    CHECK_OK(goal_write(&f->traces, groups, group_count, printed_begin(), &mem, &err), &err);
    for (const char *at = printed_end(); *at != '\0';) {
        size_t length = strcspn(at, "\n");
        (void)snprintf(line, sizeof line, "%.*s", (int)length, at);
        read_line(&schedule, line);
        at += length + (at[length] == '\n');
    }
    CHECK_U64(mem.used, 0, "everything is given back");
    return &schedule;
}

static int order(const void *a, const void *b)
{
    const struct message *x = a;
    const struct message *y = b;
    const uint64_t keys[4][2] = {{x->from, y->from}, {x->to, y->to}, {x->tag, y->tag}, {x->bytes, y->bytes}};
    for (int i = 0; i < 4; i++) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return 0;
}

static void every_message_has_its_other_half(void **state)
{
    (void)state;
    struct fixture f;
    make_traces(&f);
    struct schedule *schedule = schedule_of(&f, NULL, 0);
    CHECK_U64(schedule->ranks, FIXTURE_RANKS, "ranks");
    CHECK_U64(schedule->sent_count, schedule->received_count, "messages");
    qsort(schedule->sent, schedule->sent_count, sizeof schedule->sent[0], order);
    qsort(schedule->received, schedule->received_count, sizeof schedule->received[0], order);
    for (uint32_t i = 0; i < schedule->sent_count; i++) {
        CHECK(order(&schedule->sent[i], &schedule->received[i]) == 0,
              "rank %" PRIu32 " sends %" PRIu64 " bytes to %" PRIu32 ", who does not wait for them",
              schedule->sent[i].from, schedule->sent[i].bytes, schedule->sent[i].to);
    }
}

/* On a ring of 8 an all-reduce of S sends 2 * 7/8 S a rank. */
static void an_all_reduce_moves_what_it_must(void **state)
{
    (void)state;
    struct fixture f;
    make_traces(&f);
    f.graph.node_count = 1; /* the all-reduce alone */
    f.nodes[0].child_count = 0;
    struct schedule *schedule = schedule_of(&f, NULL, 0);
    uint64_t sent = 0;
    for (uint32_t i = 0; i < schedule->sent_count; i++) {
        sent += schedule->sent[i].bytes;
    }
    CHECK_U64(sent, 8 * 2 * (1 << 20) / 8 * 7, "bytes of the all-reduce, all ranks together");
}

static void work_is_there_in_nanoseconds(void **state)
{
    (void)state;
    struct fixture f;
    make_traces(&f);
    CHECK_U64(schedule_of(&f, NULL, 0)->calc_ns, (uint64_t)FIXTURE_RANKS * 50000, "50 us a rank");
}

static void a_group_is_ringed_in_its_own_order_and_the_others_stay_out(void **state)
{
    (void)state;
    static const uint32_t members[] = {5, 0, 3};
    static const struct goal_group groups[] = {{1, members, 3}};
    struct fixture f;
    make_traces(&f);
    f.graph.node_count = 1; /* the all-reduce alone */
    f.nodes[0].child_count = 0;
    f.nodes[0].group = 12; /* "1" */
    struct trace_graph none = f.graph;
    none.node_count = 0;
    for (uint32_t rank = 0; rank < FIXTURE_RANKS; rank++) {
        f.trace_ranks[rank].graph = rank == 0 || rank == 3 || rank == 5 ? &f.graph : &none;
    }
    struct schedule *schedule = schedule_of(&f, groups, 1);
    CHECK(schedule->sent_count > 0, "somebody sends");
    for (uint32_t i = 0; i < schedule->sent_count; i++) {
        const struct message *message = &schedule->sent[i];
        uint32_t next = message->from == 5 ? 0 : message->from == 0 ? 3 : 5;
        CHECK_U64(message->to, next, "the one behind rank %" PRIu32, message->from);
    }
}

static void a_group_nobody_knows_and_a_rank_outside_its_group_are_errors(void **state)
{
    (void)state;
    static const uint32_t members[] = {5, 0, 3};
    static const struct goal_group groups[] = {{1, members, 3}};
    struct mem mem = {0};
    struct orr_error err = {0};
    struct fixture f;
    make_traces(&f);
    f.nodes[0].group = 12;
    CHECK_STATUS(goal_write(&f.traces, NULL, 0, printed_begin(), &mem, &err), ORR_EINVAL);
    (void)printed_end();
    CHECK_CONTAINS(err.text, "ar.0.et: node 1 \"ar\": ");
    CHECK_STATUS(goal_write(&f.traces, groups, 1, printed_begin(), &mem, &err), ORR_EINVAL);
    (void)printed_end();
    CHECK_CONTAINS(err.text, "ar.1.et: node 101 \"ar\": ");
    CHECK_U64(mem.used, 0, "everything is given back");
}

TEST_MAIN(every_message_has_its_other_half, an_all_reduce_moves_what_it_must, work_is_there_in_nanoseconds,
          a_group_is_ringed_in_its_own_order_and_the_others_stay_out,
          a_group_nobody_knows_and_a_rank_outside_its_group_are_errors)
