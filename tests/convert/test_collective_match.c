/* SPDX-License-Identifier: Apache-2.0 */
/* Sends and receives without a peer, put together across ranks: a job is a table of messages with their times. */
#include "convert/pytorch/collective/match.h"
#include "tests/check.h"

enum { RANKS = 4, ENDS = 64 };

struct job {
    struct mem mem;
    struct comm_fact facts[ENDS];
    struct comm_match_end ends[RANKS][ENDS];
    struct comm_match_rank ranks[RANKS];
    uint32_t count;
};

static struct orr_error err;

static void open_job(struct job *job)
{
    *job = (struct job){0};
    for (uint32_t r = 0; r < RANKS; r++) {
        job->ranks[r] = (struct comm_match_rank){.rank = r, .name = "device.json", .ends = job->ends[r], .timed = true};
    }
}

/* Times in microseconds. */
static struct comm_fact *add(struct job *job, uint32_t rank, enum comm_kind kind, uint64_t bytes, int64_t start,
                             int64_t end)
{
    struct comm_fact *fact = &job->facts[job->count++];
    struct comm_match_rank *at = &job->ranks[rank];
    *fact = (struct comm_fact){.kind = kind,
                               .bytes = bytes,
                               .group = COMM_GROUP_NONE,
                               .root = -1,
                               .src = kind == COMM_SEND ? (int64_t)rank : -1,
                               .dst = kind == COMM_RECV ? (int64_t)rank : -1};
    job->ends[rank][at->count] = (struct comm_match_end){
        .fact = fact, .start_ns = start * 1000, .end_ns = end * 1000, .node = 10 * rank + at->count};
    at->count++;
    return fact;
}

static enum orr_status match(struct job *job, uint64_t *matched)
{
    err = (struct orr_error){0};
    return comm_match(job->ranks, RANKS, NULL, &job->mem, matched, &err);
}

/* One micro-batch forward and back through four stages: all messages have one size, and the middle ranks receive from
 * both sides. */
static void a_pipeline_of_four_stages_is_put_together_by_time(void **state)
{
    (void)state;
    static const struct {
        uint32_t from, to;
        int64_t sent, received, posted;
    } messages[] = {
        {0, 1, 1000, 1100, 0},    {1, 2, 2000, 2120, 10},   {2, 3, 3000, 3050, 5},
        {3, 2, 5000, 5200, 3010}, {2, 1, 6500, 6530, 2030}, {1, 0, 8000, 8040, 1010},
    };
    struct job job;
    uint64_t matched = 0;
    struct comm_fact *sends[COUNT_OF(messages)];
    struct comm_fact *recvs[COUNT_OF(messages)];
    open_job(&job);
    for (size_t i = 0; i < COUNT_OF(messages); i++) {
        sends[i] = add(&job, messages[i].from, COMM_SEND, 4096, messages[i].sent - 500, messages[i].sent);
        recvs[i] = add(&job, messages[i].to, COMM_RECV, 4096, messages[i].posted, messages[i].received);
    }
    CHECK_OK(match(&job, &matched), &err);
    CHECK_U64(matched, 2 * COUNT_OF(messages), "both ends of each");
    for (size_t i = 0; i < COUNT_OF(messages); i++) {
        CHECK(sends[i]->dst == messages[i].to, "message %zu goes to %lld", i, (long long)sends[i]->dst);
        CHECK(recvs[i]->src == messages[i].from, "message %zu comes from %lld", i, (long long)recvs[i]->src);
        CHECK(sends[i]->peer_from == PROVENANCE_MATCHED && recvs[i]->peer_from == PROVENANCE_MATCHED, "and says how");
    }
    CHECK_U64(job.mem.used, 0, "nothing is left");
}

static void a_size_that_only_one_other_has_needs_no_time(void **state)
{
    (void)state;
    struct job job;
    uint64_t matched = 0;
    open_job(&job);
    struct comm_fact *first = add(&job, 0, COMM_SEND, 100, 0, 0);
    struct comm_fact *second = add(&job, 0, COMM_SEND, 200, 0, 0);
    (void)add(&job, 2, COMM_RECV, 100, 0, 0);
    (void)add(&job, 3, COMM_RECV, 200, 0, 0);
    for (uint32_t r = 0; r < RANKS; r++) {
        job.ranks[r].timed = false;
    }
    CHECK_OK(match(&job, &matched), &err);
    CHECK(first->dst == 2 && second->dst == 3, "%lld and %lld", (long long)first->dst, (long long)second->dst);
}

static void a_peer_that_is_known_settles_the_other_end(void **state)
{
    (void)state;
    struct job job;
    uint64_t matched = 0;
    open_job(&job);
    struct comm_fact *known = add(&job, 0, COMM_SEND, 100, 0, 1000);
    struct comm_fact *open = add(&job, 1, COMM_SEND, 100, 0, 1000);
    known->dst = 3;
    struct comm_fact *two = add(&job, 2, COMM_RECV, 100, 0, 1000);
    struct comm_fact *three = add(&job, 3, COMM_RECV, 100, 0, 1000);
    CHECK_OK(match(&job, &matched), &err);
    CHECK(open->dst == 2 && two->src == 1 && three->src == 0, "%lld, %lld, %lld", (long long)open->dst,
          (long long)two->src, (long long)three->src);
    CHECK(known->peer_from == PROVENANCE_NONE, "what was known stays as it was known");
    CHECK_U64(matched, 3, "matched");
}

static void two_messages_that_could_be_exchanged_are_refused_naming_both(void **state)
{
    (void)state;
    struct job job;
    uint64_t matched = 7;
    open_job(&job);
    (void)add(&job, 0, COMM_SEND, 100, 0, 1000);
    (void)add(&job, 1, COMM_SEND, 100, 0, 1003);
    (void)add(&job, 2, COMM_RECV, 100, 0, 1001);
    (void)add(&job, 3, COMM_RECV, 100, 0, 1004);
    CHECK_STATUS(match(&job, &matched), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "may have gone to rank 3 (node 30) or to rank 2 (node 20)");
    CHECK(job.facts[0].dst == -1, "nothing is settled");
    CHECK_U64(matched, 0, "matched");
}

/* Ranks that exchange with each other at the same time: whichever of its two receives it is, the peer is the same. */
static void messages_of_one_pair_need_no_order(void **state)
{
    (void)state;
    struct job job;
    uint64_t matched = 0;
    open_job(&job);
    for (int i = 0; i < 3; i++) {
        (void)add(&job, 0, COMM_SEND, 100, 0, 1000);
        (void)add(&job, 1, COMM_RECV, 100, 0, 1000);
    }
    CHECK_OK(match(&job, &matched), &err);
    CHECK_U64(matched, 6, "matched");
}

static void a_send_without_any_partner_is_refused(void **state)
{
    (void)state;
    struct job job;
    uint64_t matched = 0;
    open_job(&job);
    (void)add(&job, 0, COMM_SEND, 100, 0, 1000);
    (void)add(&job, 1, COMM_RECV, 100, 5000, 6000);
    CHECK_STATUS(match(&job, &matched), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "device.json: node 0: send with nothing known as its peer");
}

TEST_MAIN(a_pipeline_of_four_stages_is_put_together_by_time, a_size_that_only_one_other_has_needs_no_time,
          a_peer_that_is_known_settles_the_other_end, two_messages_that_could_be_exchanged_are_refused_naming_both,
          messages_of_one_pair_need_no_order, a_send_without_any_partner_is_refused)
