/* SPDX-License-Identifier: Apache-2.0 */
/* Traces made node by node: what is written is what a run finds, and what cannot be meant is refused. */
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

static struct orr_error err;

static void what_cannot_be_meant_is_refused_and_leaves_no_file(void **state)
{
    (void)state;
    char path[] = "/tmp/orrery-make-XXXXXX";
    int held = mkstemp(path);
    CHECK(held >= 0, "a name");
    (void)close(held);
    (void)unlink(path);
    static const struct {
        struct orr_node node;
        const char *says;
    } wrong[] = {
        {{.id = 1, .kind = ORR_NODE_COLLECTIVE, .type = "all-redcue", .bytes = 8}, "all-reduce"},
        {{.id = 2, .kind = ORR_NODE_COLLECTIVE, .bytes = 8}, "node 2: a collective needs a type"},
        {{.id = 3, .kind = ORR_NODE_SEND, .peer = 1}, "node 3: a communication has at least one byte"},
        {{.id = 4, .kind = (enum orr_node_kind)9}, "node 4: 9 is no kind of node"},
    };
    struct orr_trace_maker *maker = NULL;
    CHECK_OK(orr_trace_make(path, 0, &maker, &err), &err);
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        CHECK_STATUS(orr_trace_add(maker, &wrong[i].node, &err), ORR_EINVAL);
        CHECK_CONTAINS(err.text, wrong[i].says);
    }
    CHECK_OK(orr_trace_end(maker, false, &err), &err);
    CHECK(access(path, F_OK) != 0, "nothing is left");
    CHECK_STATUS(orr_trace_make("/dev/null/x", 0, &maker, &err), ORR_EIO);
    CHECK_OK(orr_trace_end(NULL, true, &err), &err);
}

/* Two ranks: each computes, then one sends to the other. */
static void messages_meet_by_rank_and_tag(void **state)
{
    (void)state;
    char folder[] = "/tmp/orrery-make-XXXXXX";
    char prefix[64];
    CHECK(mkdtemp(folder) != NULL, "a folder");
    (void)snprintf(prefix, sizeof prefix, "%s/job", folder);
    static const uint64_t first = 5;
    for (uint32_t rank = 0; rank < 2; rank++) {
        char path[80];
        struct orr_trace_maker *maker = NULL;
        const struct orr_node work = {.id = 5, .name = "work", .kind = ORR_NODE_COMPUTE, .duration_us = 10 + 10 * rank};
        const struct orr_node message = {.id = 6,
                                         .name = "message",
                                         .kind = rank == 0 ? ORR_NODE_SEND : ORR_NODE_RECEIVE,
                                         .after = &first,
                                         .after_count = 1,
                                         .bytes = 1 << 20,
                                         .peer = 1 - rank,
                                         .tag = 7};
        (void)snprintf(path, sizeof path, "%s.%u.et", prefix, (unsigned)rank);
        CHECK_OK(orr_trace_make(path, rank, &maker, &err), &err);
        CHECK_OK(orr_trace_add(maker, &work, &err), &err);
        CHECK_OK(orr_trace_add(maker, &message, &err), &err);
        CHECK_OK(orr_trace_end(maker, true, &err), &err);
    }
    struct orr_run_options options;
    struct orr_run *run = NULL;
    orr_run_options_init(&options);
    options.workload = prefix;
    options.machine = "switch";
    CHECK_OK(orr_run_open(&options, &run, &err), &err);
    CHECK_OK(orr_run_execute(run, &err), &err);
    /* 1 MiB at 25 Gbps is 335.5 us; the receiver is at it from 20 us on, the sender sent at 10. */
    CHECK(orr_run_time_ns(run) > 335000 && orr_run_time_ns(run) < 365000, "%llu ns",
          (unsigned long long)orr_run_time_ns(run));
    orr_run_close(run);
    for (uint32_t rank = 0; rank < 2; rank++) {
        char path[80];
        (void)snprintf(path, sizeof path, "%s.%u.et", prefix, (unsigned)rank);
        (void)unlink(path);
    }
    (void)rmdir(folder);
}

TEST_MAIN(what_cannot_be_meant_is_refused_and_leaves_no_file, messages_meet_by_rank_and_tag)
