/* SPDX-License-Identifier: Apache-2.0 */
/* What ranks hold in memory over time (sim/usage.h), from tensors that the nodes of a bench name. */
#include <inttypes.h>

#include "tests/prng.h"
#include "tests/sim/bench_top.h"
#include "tests/trace/tensor_lists.h"
#include "trace/tensors.h"

struct node {
    uint64_t id, parent; /* 0: none */
    uint64_t us;
    const char *inputs, *outputs;
};

/* Each rank has the nodes, one after the other, and the tensors. */
struct rig {
    struct bench bench;
    struct mem mem;
    struct trace_tensors *tensors;
    const struct trace_tensors *of_rank[8];
};

static void rig_open(struct rig *rig, const char *machine, uint32_t ranks, const struct node *nodes, size_t count)
{
    static struct bytes file;
    struct orr_error err = {0};
    *rig = (struct rig){.mem = {0}};
    bench_open(&rig->bench, machine);
    bytes_begin(&file);
    for (size_t i = 0; i < count; i++) {
        work_compute(&rig->bench.work, EVERY_RANK, nodes[i].id, nodes[i].us);
        if (nodes[i].parent != 0) {
            work_after(&rig->bench.work, nodes[i].parent);
        }
        tensor_node(&file, nodes[i].id, nodes[i].inputs, nodes[i].outputs);
    }
    CHECK_OK(trace_tensors_parse(file.at, file.size, "t.et", &rig->mem, &rig->tensors, &err), &err);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        rig->of_rank[rank] = rig->tensors;
    }
    rig->bench.config.tensors = rig->of_rank;
    rig->bench.config.keep_intervals = true;
}

static void rig_close(struct rig *rig)
{
    bench_close(&rig->bench);
    trace_tensors_free(rig->tensors);
}

static const struct sim_usage_rank *usage_of(struct rig *rig)
{
    (void)bench_completes(&rig->bench);
    return &rig->bench.result->usage.ranks[0];
}

static void check_steps(const struct sim_usage_rank *row, const struct sim_usage_step *want, size_t count)
{
    CHECK_U64(row->step_count, count, "steps");
    for (size_t i = 0; i < count; i++) {
        CHECK_U64(row->steps[i].time_ns, want[i].time_ns, "time of step %zu", i);
        CHECK_U64(row->steps[i].bytes, want[i].bytes, "bytes of step %zu", i);
    }
}

static void a_tensor_is_held_from_its_writing_to_its_last_reading(void **state)
{
    (void)state;
    /* w is there from the beginning; a is made by 1 and read by 2 and 3; out is never read. */
    static const struct node nodes[] = {
        {1, 0, 10, "w 100", "a 40"}, {2, 1, 10, "a 40", "b 8"}, {3, 2, 10, "a 40 b 8 w 100", "out 1"}};
    static const struct sim_usage_step want[] = {{0, 140}, {10000, 148}, {20000, 149}, {30000, 1}};
    struct rig rig;
    rig_open(&rig, "ring:2", 2, nodes, COUNT_OF(nodes));
    const struct sim_usage_rank *row = usage_of(&rig);
    check_steps(row, want, COUNT_OF(want));
    CHECK_U64(row->peak_bytes, 149, "while node 3 runs");
    CHECK_U64(row->peak_ns, 20000, "from its issue on");
    CHECK_U64(row->initial_bytes, 100, "w");
    CHECK_U64(row->held, 4, "w, a, b, out");
    CHECK_U64(row->tensors, 4, "the same");
    CHECK_TEXT(row->spans[row->holders[0]].name, "w");
    CHECK_TEXT(row->spans[row->holders[1]].name, "a");
    CHECK_U64(row->spans[row->holders[3]].since_ns, 20000, "the last of the four is out");
    CHECK_U64(row->over_bytes, 0, "no capacity is told");
    rig_close(&rig);
}

static void what_leaves_when_another_comes_adds_to_no_peak(void **state)
{
    (void)state;
    static const struct node nodes[] = {{1, 0, 5, "", "a 50"}, {2, 1, 5, "a 50", ""}, {3, 2, 5, "", "b 50"}};
    static const struct sim_usage_step want[] = {{0, 50}, {10000, 50}};
    struct rig rig;
    rig_open(&rig, "ring:2", 2, nodes, COUNT_OF(nodes));
    const struct sim_usage_rank *row = usage_of(&rig);
    check_steps(row, want, COUNT_OF(want));
    CHECK_U64(row->peak_bytes, 50, "one at a time");
    rig_close(&rig);
}

static void a_tensor_written_again_is_a_new_value(void **state)
{
    (void)state;
    static const struct node nodes[] = {
        {1, 0, 10, "", "a 50"},     /* made, read by 2, gone */
        {2, 1, 10, "a 50", "c 5"},  /* */
        {3, 2, 10, "c 5", ""},      /* */
        {4, 3, 10, "", "a 50"},     /* made again */
        {5, 4, 10, "a 50", "a 50"}, /* in place: it is held all along, and to the end */
    };
    static const struct sim_usage_step want[] = {{0, 50}, {10000, 55}, {20000, 5}, {30000, 50}};
    struct rig rig;
    rig_open(&rig, "ring:2", 2, nodes, COUNT_OF(nodes));
    check_steps(usage_of(&rig), want, COUNT_OF(want));
    rig_close(&rig);
}

static void what_does_not_fit_is_counted_from_when_and_for_how_long(void **state)
{
    (void)state;
    static const struct node nodes[] = {
        {1, 0, 10, "w 100", "a 40"}, {2, 1, 10, "a 40", "b 8"}, {3, 2, 10, "b 8 w 100", ""}};
    struct rig rig;
    rig_open(&rig, "ring:4", 4, nodes, COUNT_OF(nodes));
    rig.bench.config.system.capacity.local = 120;
    rig.bench.config.gpus_per_server = 2;
    const struct sim_usage_rank *row = usage_of(&rig);
    CHECK_U64(row->over_bytes, 28, "148 of 120");
    CHECK_U64(row->over_since_ns, 0, "w and a");
    CHECK_U64(row->over_ns, 20000, "until a is gone");
    const struct sim_spill *spill = &rig.bench.result->usage.spill;
    CHECK_U64(spill->ranks, 4, "all");
    CHECK_U64(spill->total_bytes, 4 * 28, "together");
    CHECK_U64(spill->host_bytes + spill->pool_bytes, 0, "neither is told");
    CHECK_U64(spill->nowhere_bytes, 4 * 28, "so none has a place");

    rig.bench.config.system.capacity.host = 50;
    (void)usage_of(&rig);
    spill = &rig.bench.result->usage.spill;
    CHECK_U64(spill->server_ranks, 2, "two share a host");
    CHECK_U64(spill->host_bytes, 50, "which is full at 56");
    CHECK_U64(spill->nowhere_bytes, 2 * 6, "the rest of both servers");
    CHECK_U64(spill->nowhere_since_ns, 10000, "20 of each rank fitted");

    rig.bench.config.system.capacity.pool = 10;
    (void)usage_of(&rig);
    spill = &rig.bench.result->usage.spill;
    CHECK_U64(spill->pool_bytes, 10, "full");
    CHECK_U64(spill->nowhere_bytes, 2, "what is left");

    rig.bench.config.system.capacity.pool = 1000;
    (void)usage_of(&rig);
    spill = &rig.bench.result->usage.spill;
    CHECK_U64(spill->pool_bytes, 12, "all of it");
    CHECK_U64(spill->nowhere_bytes, 0, "nothing");
    CHECK(spill->nowhere_since_ns == UINT64_MAX, "never");

    rig.bench.config.system.capacity.local = 148;
    (void)usage_of(&rig);
    CHECK_U64(rig.bench.result->usage.spill.ranks, 0, "just fits");
    rig_close(&rig);
}

static void tracking_changes_no_time(void **state)
{
    (void)state;
    static const struct node nodes[] = {{1, 0, 10, "w 100", "a 40"}, {2, 1, 10, "a 40", "b 8"}};
    struct rig rig;
    rig_open(&rig, "ring:2", 2, nodes, COUNT_OF(nodes));
    rig.bench.config.system.capacity.local = 1;
    uint64_t tracked = bench_completes(&rig.bench);
    CHECK(rig.bench.result->usage.tracked, "it is");
    rig.bench.config.tensors = NULL;
    CHECK_U64(bench_completes(&rig.bench), tracked, "the same end");
    CHECK(!rig.bench.result->usage.tracked && rig.bench.result->usage.ranks == NULL, "and nothing kept");
    rig_close(&rig);
}

/* ASTRA-sim's rule written down a second time: of tensors that are written once, which are held at a moment. */
static uint64_t held_at(const struct sim_result *result, const struct trace_tensors *tensors, uint64_t time_ns)
{
    uint64_t sum = 0;
    for (uint32_t tensor = 0; tensor < intern_count(&tensors->names); tensor++) {
        uint64_t bytes = 0, written = 0, last_read = UINT64_MAX;
        for (uint32_t i = 0; i < result->interval_count; i++) {
            const struct sim_interval *interval = &result->intervals[i];
            const struct trace_rank *trace = &result->config->traces->ranks[0];
            const struct trace_tensor_node *node =
                interval->rank != 0 ? NULL : trace_tensors_find(tensors, trace_rank_node_id(trace, interval->node));
            for (uint32_t u = 0; node != NULL && u < node->inputs + node->outputs; u++) {
                const struct trace_tensor_use *use = &tensors->uses[node->first + u];
                if (use->tensor == tensor) {
                    bytes = use->bytes;
                    written = u >= node->inputs ? interval->start_ns : written;
                    last_read = u < node->inputs ? interval->end_ns : last_read;
                }
            }
        }
        sum += written <= time_ns && last_read > time_ns ? bytes : 0;
    }
    return sum;
}

static void random_chains_hold_what_the_rule_says_at_every_moment(void **state)
{
    (void)state;
    enum { NODES = 24, TEXT = 200 };
    for (uint64_t seed = 1; seed <= 60; seed++) {
        static char texts[NODES][2][TEXT];
        struct prng prng = {seed};
        struct node nodes[NODES];
        for (uint32_t i = 0; i < NODES; i++) {
            int used = 0;
            texts[i][0][0] = '\0';
            for (uint32_t k = prng_below(&prng, 4); k > 0; k--) { /* what others made, or weights */
                bool weight = i == 0 || prng_below(&prng, 3) == 0;
                uint32_t which = weight ? prng_below(&prng, 5) : prng_below(&prng, i);
                used += snprintf(texts[i][0] + used, TEXT - (size_t)used, "%s%c%u %u", used == 0 ? "" : " ",
                                 weight ? 'w' : 't', which, (weight ? 1000u : 10u) + which);
            }
            (void)snprintf(texts[i][1], TEXT, "t%u %u", i, 10 + i);
            nodes[i] = (struct node){i + 1, i, prng_below(&prng, 5), texts[i][0], texts[i][1]};
        }
        struct rig rig;
        rig_open(&rig, "ring:2", 2, nodes, NODES);
        const struct sim_usage_rank *row = usage_of(&rig);
        uint64_t most = 0;
        for (uint32_t i = 0; i < row->step_count; i++) {
            uint64_t want = held_at(rig.bench.result, rig.tensors, row->steps[i].time_ns);
            CHECK_U64(row->steps[i].bytes, want, "seed %" PRIu64 ", step %u", seed, i);
            most = want > most ? want : most;
        }
        CHECK_U64(row->peak_bytes, most, "seed %" PRIu64, seed);
        rig_close(&rig);
    }
}

TEST_MAIN(a_tensor_is_held_from_its_writing_to_its_last_reading, what_leaves_when_another_comes_adds_to_no_peak,
          a_tensor_written_again_is_a_new_value, what_does_not_fit_is_counted_from_when_and_for_how_long,
          tracking_changes_no_time, random_chains_hold_what_the_rule_says_at_every_moment)
