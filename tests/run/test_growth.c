/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small job grown in memory against the same job written out for every rank of the large machine: the oracle writes
 * traces and groups for any sizes, so that growing its small job must give what its large one gives, on every rank.
 */
#include "tests/check.h"
#include "tests/folder.h"

#include <stdlib.h>

#include "trace/et_write.h"

static struct orr_error err;

/* A job of three roles in a given order of numbering; role 2 is data parallel. */
struct job {
    uint32_t size[3];  /* tp, pp, dp */
    uint32_t order[3]; /* roles, fastest first */
    bool sends;        /* between pipeline neighbours */
    bool gathers;      /* an all-gather along dp, which states a share of 3 MiB */
    bool alike;        /* every rank computes as long as the others */
};

static uint32_t ranks_of(const struct job *job)
{
    return job->size[0] * job->size[1] * job->size[2];
}

static void digits_of(const struct job *job, uint32_t rank, uint32_t *digit)
{
    for (uint32_t i = 0; i < 3; i++) {
        digit[job->order[i]] = rank % job->size[job->order[i]];
        rank /= job->size[job->order[i]];
    }
}

static uint32_t rank_of(const struct job *job, const uint32_t *digit)
{
    uint32_t rank = 0;
    for (uint32_t i = 3; i-- > 0;) {
        rank = rank * job->size[job->order[i]] + digit[job->order[i]];
    }
    return rank;
}

/* Ids: one for each combination of the other two digits, role by role. */
static uint32_t group_id(const struct job *job, uint32_t role, const uint32_t *digit)
{
    uint32_t id = 1;
    for (uint32_t r = 0; r < role; r++) {
        id += ranks_of(job) / job->size[r];
    }
    uint32_t a = role == 0 ? 1 : 0;
    uint32_t b = role == 2 ? 1 : 2;
    return id + digit[a] * job->size[b] + digit[b];
}

static void write_groups(const struct job *job, const char *path)
{
    FILE *file = fopen(path, "w");
    CHECK(file != NULL, "%s", path);
    const char *comma = "{";
    for (uint32_t role = 0; role < 3; role++) {
        for (uint32_t rank = 0; rank < ranks_of(job); rank++) {
            uint32_t digit[3];
            digits_of(job, rank, digit);
            if (digit[role] != 0) {
                continue;
            }
            (void)fprintf(file, "%s\"%u\": [", comma, group_id(job, role, digit));
            comma = ", ";
            for (digit[role] = 0; digit[role] < job->size[role]; digit[role]++) {
                (void)fprintf(file, "%s%u", digit[role] == 0 ? "" : ", ", rank_of(job, digit));
            }
            (void)fprintf(file, "]");
        }
    }
    CHECK(fprintf(file, "}\n") > 0 && fclose(file) == 0, "%s", path);
}

struct writing {
    struct et_writer *writer;
    uint64_t last;
};

static void begin_node(struct writing *w, const char *name, enum trace_node_type type)
{
    et_node_begin(w->writer, w->last + 1, et_text(name), type);
    et_node_data_deps(w->writer, &w->last, w->last == 0 ? 0 : 1);
    w->last++;
}

static void collective(struct writing *w, int64_t type, uint64_t bytes, uint32_t group)
{
    begin_node(w, "collective", TRACE_COLL);
    et_attr_bool(w->writer, "is_cpu_op", false);
    et_attr_int64(w->writer, "comm_type", type);
    et_attr_uint64(w->writer, "comm_size", bytes);
    if (group != 0) {
        char text[16];
        (void)snprintf(text, sizeof text, "%u", group);
        et_attr_string(w->writer, "pg_name", et_text(text));
    }
    CHECK_OK(et_record_end(w->writer, &err), &err);
}

static void compute(struct writing *w, uint64_t us)
{
    begin_node(w, "compute", TRACE_COMP);
    et_node_times(w->writer, 0, us);
    et_attr_bool(w->writer, "is_cpu_op", false);
    CHECK_OK(et_record_end(w->writer, &err), &err);
}

static void pair(struct writing *w, enum trace_node_type type, uint32_t rank, uint32_t peer)
{
    begin_node(w, type == TRACE_SEND ? "send" : "receive", type);
    et_attr_bool(w->writer, "is_cpu_op", false);
    et_attr_int32(w->writer, "comm_src", (int32_t)(type == TRACE_SEND ? rank : peer));
    et_attr_int32(w->writer, "comm_dst", (int32_t)(type == TRACE_SEND ? peer : rank));
    et_attr_int32(w->writer, "comm_tag", 7);
    et_attr_uint64(w->writer, "comm_size", 300000);
    CHECK_OK(et_record_end(w->writer, &err), &err);
}

static void write_rank(const struct job *job, const char *prefix, uint32_t rank)
{
    struct mem mem = {0};
    struct writing w = {0};
    char path[160];
    uint32_t digit[3];
    digits_of(job, rank, digit);
    (void)snprintf(path, sizeof path, "%s.%u.et", prefix, rank);
    CHECK_OK(et_writer_open(path, &mem, &w.writer, &err), &err);
    et_metadata_begin(w.writer, et_text("0.0.4"));
    CHECK_OK(et_record_end(w.writer, &err), &err);
    compute(&w, 40 + (job->alike ? 0 : 7 * digit[0]));
    if (job->sends && digit[1] > 0) {
        digit[1]--;
        pair(&w, TRACE_RECV, rank, rank_of(job, digit));
        digit[1]++;
    }
    if (job->size[0] > 1) { /* a group of one would be taken for one of the role that grows */
        collective(&w, 0, 1 << 20, group_id(job, 0, digit));
    }
    if (job->sends && digit[1] + 1 < job->size[1]) {
        digit[1]++;
        pair(&w, TRACE_SEND, rank, rank_of(job, digit));
        digit[1]--;
    }
    compute(&w, 100);
    collective(&w, 0, 5000000, group_id(job, 2, digit));
    if (job->gathers) {
        collective(&w, 2, (UINT64_C(3) << 20) / job->size[2], group_id(job, 2, digit));
    }
    collective(&w, 0, 4096, 0);
    CHECK_OK(et_writer_commit(w.writer, &err), &err);
}

static void write_job(const struct job *job, const char *name)
{
    char groups[128];
    (void)snprintf(groups, sizeof groups, "%s.json", folder_path(name));
    write_groups(job, groups);
    for (uint32_t rank = 0; rank < ranks_of(job); rank++) {
        write_rank(job, folder_path(name), rank);
    }
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(folder_path(name), "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, "%s", name);
}

static void write_machine(uint32_t ranks)
{
    char text[256];
    (void)snprintf(text, sizeof text,
                   "topology: [ Ring ]\nnpus_count: [ %u ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n", ranks);
    write_file("network.yml", text);
    write_file("system.json",
               "{\"scheduling-policy\": \"LIFO\", \"endpoint-delay\": 10, \"active-chunks-per-dimension\": "
               "1, \"preferred-dataset-splits\": 2, \"all-reduce-implementation\": [\"ring\"], "
               "\"all-gather-implementation\": [\"ring\"], \"reduce-scatter-implementation\": "
               "[\"ring\"], \"all-to-all-implementation\": [\"ring\"], \"collective-optimization\": "
               "\"localBWAware\", \"local-mem-bw\": 50, \"boost-mode\": 0}");
}

static enum orr_status open_run(const char *name, const struct orr_growth *growth, enum orr_policy policy,
                                struct orr_run **run)
{
    char groups[128];
    (void)snprintf(groups, sizeof groups, "%s.json", folder_path(name));
    struct orr_run_options options;
    orr_run_options_init(&options);
    options.workload = folder_path(name);
    options.groups = groups;
    options.system = folder_path("system.json");
    options.network = folder_path("network.yml");
    options.backend = ORR_BACKEND_AWARE;
    options.policy = policy;
    options.grow = growth != NULL;
    options.growth = growth != NULL ? *growth : (struct orr_growth){0};
    return orr_run_open(&options, run, &err);
}

static struct orr_run *execute(const char *name, const struct orr_growth *growth)
{
    struct orr_run *run = NULL;
    CHECK_OK(open_run(name, growth, ORR_POLICY_SAFE, &run), &err);
    CHECK_OK(orr_run_execute(run, &err), &err);
    return run;
}

static void check_same(const char *what, const struct orr_run *grown, const struct orr_run *written)
{
    CHECK_U64(orr_run_rank_count(grown), orr_run_rank_count(written), "%s", what);
    for (uint32_t rank = 0; rank < orr_run_rank_count(written); rank++) {
        struct orr_rank_result a;
        struct orr_rank_result b;
        orr_run_rank(grown, rank, &a);
        orr_run_rank(written, rank, &b);
        CHECK(b.finish_ns > 0, "%s: rank %u does something", what, rank);
        CHECK_U64(a.finish_ns, b.finish_ns, "%s: rank %u", what, rank);
        CHECK_U64(a.compute_ns, b.compute_ns, "%s: rank %u", what, rank);
    }
}

static void a_grown_job_runs_as_if_written_out(void **state)
{
    (void)state;
    static const struct {
        const char *what, *parallel;
        struct job small;
        uint32_t dp;
    } cases[] = {
        {"data parallel", NULL, {{1, 1, 2}, {0, 1, 2}, false, false, false}, 8},
        {"one rank", NULL, {{1, 1, 1}, {0, 1, 2}, false, true, false}, 6},
        {"not a multiple", NULL, {{1, 1, 3}, {0, 1, 2}, false, false, false}, 8},
        {"fewer", NULL, {{1, 1, 4}, {0, 1, 2}, false, false, false}, 2},
        {"shares of an all-gather", NULL, {{1, 1, 2}, {0, 1, 2}, false, true, false}, 16},
        {"tensor fastest", "tp:2,dp:2", {{2, 1, 2}, {0, 1, 2}, false, true, false}, 8},
        {"data fastest", "dp:2,tp:2", {{2, 1, 2}, {2, 1, 0}, false, true, false}, 4},
        {"pipeline", "tp:2,pp:2,dp:2", {{2, 2, 2}, {0, 1, 2}, true, false, false}, 6},
        {"pipeline slowest", "tp:2,dp:2,pp:3", {{2, 3, 2}, {0, 2, 1}, true, true, false}, 4},
        {"a role of one", "tp:2,pp:2,dp:1", {{2, 2, 1}, {0, 1, 2}, true, false, false}, 3},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char small[32];
        char large[32];
        (void)snprintf(small, sizeof small, "small%zu", i);
        (void)snprintf(large, sizeof large, "large%zu", i);
        struct job job = cases[i].small;
        write_job(&job, small);
        job.size[2] = cases[i].dp;
        write_job(&job, large);
        write_machine(ranks_of(&job));
        const struct orr_growth growth = {.parallel = cases[i].parallel};
        struct orr_run *grown = execute(small, &growth);
        struct orr_run *written = execute(large, NULL);
        check_same(cases[i].what, grown, written);
        CHECK_U64(orr_run_source_count(grown), ranks_of(&cases[i].small), "%s", cases[i].what);
        orr_run_close(grown);
        orr_run_close(written);
    }
}

/* The groups that rank 0 is in, and that of all ranks, as an import of its recording writes them. */
static void write_groups_of_first(const struct job *job, const char *path)
{
    FILE *file = fopen(path, "w");
    CHECK(file != NULL, "%s", path);
    (void)fprintf(file, "{");
    for (uint32_t role = 0; role < 3; role++) {
        uint32_t digit[3] = {0, 0, 0};
        if (job->size[role] == 1) {
            continue;
        }
        (void)fprintf(file, "\"%u\": [", group_id(job, role, digit));
        for (; digit[role] < job->size[role]; digit[role]++) {
            (void)fprintf(file, "%s%u", digit[role] == 0 ? "" : ", ", rank_of(job, digit));
        }
        (void)fprintf(file, "], ");
    }
    (void)fprintf(file, "\"1000\": [");
    for (uint32_t rank = 0; rank < ranks_of(job); rank++) {
        (void)fprintf(file, "%s%u", rank == 0 ? "" : ", ", rank);
    }
    CHECK(fprintf(file, "]}\n") > 0 && fclose(file) == 0, "%s", path);
}

static void one_rank_of_a_job_becomes_the_whole_of_it(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        struct job job;
        uint32_t dp; /* of the larger one */
    } cases[] = {
        {"tensor and data", {{2, 1, 2}, {0, 1, 2}, .gathers = true, .alike = true}, 2},
        {"four by two", {{4, 1, 2}, {0, 1, 2}, .alike = true}, 2},
        {"and larger", {{2, 1, 2}, {0, 1, 2}, .gathers = true, .alike = true}, 6},
        {"data only", {{1, 1, 4}, {0, 1, 2}, .gathers = true, .alike = true}, 4},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char one[32];
        char all[32];
        char groups[128];
        (void)snprintf(one, sizeof one, "one%zu", i);
        (void)snprintf(all, sizeof all, "all%zu", i);
        struct job job = cases[i].job;
        (void)snprintf(groups, sizeof groups, "%s.json", folder_path(one));
        write_groups_of_first(&job, groups);
        write_rank(&job, folder_path(one), 0);
        job.size[2] = cases[i].dp;
        write_job(&job, all);
        write_machine(ranks_of(&job));
        const struct orr_growth growth = {.parallel = NULL};
        struct orr_run *whole = execute(one, &growth);
        struct orr_run *written = execute(all, NULL);
        check_same(cases[i].what, whole, written);
        orr_run_close(whole);
        orr_run_close(written);
    }
}

enum { BATCHES = 4, UNIT_US = 1000 };

/* The first stage of a pipeline: all forward, then all backward, or both by turns. */
static void write_first_stage(const char *name, uint32_t next, bool by_turns)
{
    struct mem mem = {0};
    struct writing w = {0};
    char path[160];
    (void)snprintf(path, sizeof path, "%s.0.et", folder_path(name));
    CHECK_OK(et_writer_open(path, &mem, &w.writer, &err), &err);
    et_metadata_begin(w.writer, et_text("0.0.4"));
    CHECK_OK(et_record_end(w.writer, &err), &err);
    for (uint32_t step = 0; step < 2; step++) {
        for (uint32_t i = 0; i < 2 * BATCHES; i++) {
            bool forward = by_turns ? i % 2 == 0 : i < BATCHES;
            if (!forward) {
                pair(&w, TRACE_RECV, 0, next);
            }
            compute(&w, 1); /* the host's op, as an import has one beside every message */
            compute(&w, UNIT_US);
            compute(&w, 1);
            if (forward) {
                pair(&w, TRACE_SEND, 0, next);
            }
        }
        collective(&w, 0, 1 << 20, 1);
    }
    CHECK_OK(et_writer_commit(w.writer, &err), &err);
}

static void a_pipeline_made_of_its_first_stage_runs_with_its_bubble(void **state)
{
    (void)state;
    for (uint32_t stages = 2; stages <= 4; stages++) {
        for (int by_turns = 0; by_turns < 2; by_turns++) {
            char text[128] = "{\"1\": [0, 1], \"2\": [";
            for (uint32_t i = 0; i < stages; i++) {
                size_t used = strlen(text);
                (void)snprintf(text + used, sizeof text - used, "%s%u", i == 0 ? "" : ", ", 2 * i);
            }
            (void)snprintf(text + strlen(text), sizeof text - strlen(text), "]}");
            write_file("stage.json", text);
            write_first_stage("stage", 2, by_turns == 1);
            write_machine(2 * stages);
            const struct orr_growth growth = {.parallel = NULL};
            struct orr_run *run = execute("stage", &growth);
            uint64_t least = 2 * 2 * BATCHES * UNIT_US;
            uint64_t bubble = by_turns == 1 ? 0 : (uint64_t)2 * 2 * (stages - 2) * UNIT_US;
            CHECK(orr_run_time_ns(run) >= (least + bubble) * 1000, "%u stages%s: %" PRIu64 " ns", stages,
                  by_turns == 1 ? " by turns" : "", orr_run_time_ns(run));
            for (uint32_t rank = 0; rank < 2 * stages; rank++) {
                struct orr_rank_result result;
                orr_run_rank(run, rank, &result);
                CHECK(result.finish_ns > 0, "rank %u of %u stages ends", rank, stages);
            }
            orr_run_close(run);
        }
    }
}

static void what_the_groups_of_one_rank_do_not_say_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *groups, *parallel, *said;
    } cases[] = {
        {"{\"1\": [0, 1, 2], \"2\": [0, 4]}", NULL, "the process groups do not nest"},
        {"{\"1\": [0, 1], \"2\": [0, 2]}", "dp:4", "does not lie along the roles"},
        {"{\"1\": [0, 1], \"2\": [0, 2]}", "tp:2,dp:4", "name 4 ranks, but the roles given make 8"},
    };
    write_first_stage("odd", 2, false);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct orr_run *run = NULL;
        const struct orr_growth growth = {.parallel = cases[i].parallel};
        write_file("odd.json", cases[i].groups);
        write_machine(8);
        CHECK_STATUS(open_run("odd", &growth, ORR_POLICY_SAFE, &run), ORR_EINVAL);
        CHECK_CONTAINS(err.text, cases[i].said);
    }
}

static void strong_scaling_shares_the_compute_out(void **state)
{
    (void)state;
    const struct job job = {{1, 1, 2}, {0, 1, 2}, false, false, false};
    write_job(&job, "strong");
    write_machine(16);
    const struct orr_growth strong = {.strong = true};
    struct orr_run *run = execute("strong", &strong);
    struct orr_rank_result rank;
    orr_run_rank(run, 11, &rank);
    /* 40 and 100 us, an eighth of it: 17.5 us, of which the last half is carried and never comes. */
    CHECK_U64(rank.compute_ns, 17000, "140 us at 2/16");
    orr_run_close(run);
}

static void the_factor_of_published_runs_is_exact(void **state)
{
    (void)state;
    /* 17,436,160 * 127/64 = 34,599,880 (spec rocm 2.5), which 1.984 would miss. */
    struct mem mem = {0};
    struct writing w = {0};
    CHECK_OK(et_writer_open(folder_path("exact.0.et"), &mem, &w.writer, &err), &err);
    et_metadata_begin(w.writer, et_text("0.0.4"));
    CHECK_OK(et_record_end(w.writer, &err), &err);
    collective(&w, 0, 17436160, 0);
    CHECK_OK(et_writer_commit(w.writer, &err), &err);
    write_machine(4);
    const struct orr_growth growth = {.comm_scale = "127/64"};
    struct orr_run_options options;
    orr_run_options_init(&options);
    options.workload = folder_path("exact");
    options.system = folder_path("system.json");
    options.network = folder_path("network.yml");
    options.grow = true;
    options.growth = growth;
    struct orr_run *run = NULL;
    CHECK_OK(orr_run_open(&options, &run, &err), &err);
    CHECK_OK(orr_run_execute(run, &err), &err);
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    CHECK_OK(orr_run_write(run, ORR_OUTPUT_JSON, NULL, stream, &err), &err);
    CHECK(fclose(stream) == 0, "written");
    CHECK_CONTAINS(text, "34599880");
    free(text);
    orr_run_close(run);
}

static void the_summary_says_of_how_many_traces_the_job_was_made(void **state)
{
    (void)state;
    const struct job job = {{1, 1, 2}, {0, 1, 2}, false, false, false};
    write_job(&job, "told");
    write_machine(6);
    const struct orr_growth growth = {.parallel = NULL};
    struct orr_run *run = execute("told", &growth);
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    CHECK_OK(orr_run_write(run, ORR_OUTPUT_TEXT, NULL, stream, &err), &err);
    CHECK(fclose(stream) == 0, "written");
    CHECK_CONTAINS(text, "6 ranks, grown from 2 traces, ");
    free(text);
    orr_run_close(run);
}

static void what_cannot_be_grown_is_refused_with_what_can(void **state)
{
    (void)state;
    const struct job split = {{2, 1, 2}, {0, 1, 2}, false, false, false};
    const struct job chain = {{1, 2, 1}, {0, 1, 2}, true, false, false};
    write_job(&split, "split");
    write_job(&chain, "chain");
    static const struct {
        const char *name;
        struct orr_growth growth;
        uint32_t ranks;
        const char *said;
    } cases[] = {
        {"split", {.parallel = NULL}, 16, "does not lie along the roles"},
        {"split", {.parallel = "tp:2,dp:2"}, 15, "so 14 or 16 would fit"},
        {"split", {.parallel = "tp:4,dp:2"}, 16, "has traces of 4 ranks, but the roles given make 8"},
        {"split", {.parallel = "tp:2,pp:2"}, 16, "is not in parameter 'parallel'"},
        {"split", {.parallel = "tp2"}, 16, "is not a list of roles"},
        {"split", {.parallel = "tp:2,tp:2"}, 16, "twice"},
        {"split", {.parallel = "tp:0"}, 16, "is not a list of roles"},
        {"split", {.parallel = ""}, 16, "is not a list of roles"},
        {"split", {.parallel = "tp:2,dp:2", .comm_scale = "two"}, 16, "is not a factor"},
        {"chain", {.parallel = NULL}, 4, "is not in the same replica"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct orr_run *run = NULL;
        write_machine(cases[i].ranks);
        enum orr_status status = open_run(cases[i].name, &cases[i].growth, ORR_POLICY_ASTRA, &run);
        CHECK(status == ORR_EINVAL, "case %zu: %s", i, orr_status_text(status));
        CHECK_CONTAINS(err.text, cases[i].said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grown_job_runs_as_if_written_out),
        cmocka_unit_test(one_rank_of_a_job_becomes_the_whole_of_it),
        cmocka_unit_test(a_pipeline_made_of_its_first_stage_runs_with_its_bubble),
        cmocka_unit_test(what_the_groups_of_one_rank_do_not_say_is_refused),
        cmocka_unit_test(strong_scaling_shares_the_compute_out),
        cmocka_unit_test(the_factor_of_published_runs_is_exact),
        cmocka_unit_test(the_summary_says_of_how_many_traces_the_job_was_made),
        cmocka_unit_test(what_cannot_be_grown_is_refused_with_what_can),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
