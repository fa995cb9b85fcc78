/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery advise`: suggestions are true to the nanosecond when their line is repeated; what is known to be wrong with a
 * job is found, and where nothing is wrong nothing is. */
#include "tests/cli/program.h"

#include <stdlib.h>

/* ---- reading the document ---- */

/* The text behind the next `"key": ` from `at` on, up to the end of the line; NULL where there is none. */
static const char *next_member(const char *at, const char *key, char *value, size_t room)
{
    char name[64];
    (void)snprintf(name, sizeof name, "\"%s\": ", key);
    const char *found = strstr(at, name);
    if (found == NULL) {
        return NULL;
    }
    found += strlen(name);
    size_t length = strcspn(found, "\n");
    bool text = found[0] == '"';
    size_t from = text ? 1 : 0;
    size_t end = length - (length > 0 && found[length - 1] == ',' ? 1 : 0) - (text ? 1 : 0);
    CHECK(end - from < room, "%s is too long", key);
    memcpy(value, found + from, end - from);
    value[end - from] = '\0';
    return found + length;
}

/* The whole line of a shell, with the program's own path for its name; what it prints. */
static const char *shell(const char *line)
{
    static char out[1 << 18];
    char command[16384];
    CHECK(strncmp(line, "orrery ", 7) == 0, "%s", line);
    (void)snprintf(command, sizeof command, "'%s' %s --json - 2>/dev/null", getenv("ORRERY"), line + 7);
    FILE *pipe = popen(command, "r");
    CHECK(pipe != NULL, "no shell");
    size_t size = fread(out, 1, sizeof out - 1, pipe);
    out[size] = '\0';
    CHECK(pclose(pipe) == 0, "%s", command);
    return out;
}

/* Every suggestion's line gives what it promises. Returns how many there are. */
static unsigned check_repeats(const char *document, const char *time_key)
{
    unsigned count = 0;
    char repeat[8192], after[64], got[64], gain[64];
    const char *at = strstr(document, "\"suggestions\": [");
    CHECK(at != NULL, "no suggestions in %s", document);
    double least = 1;
    while ((at = next_member(at, "repeat", repeat, sizeof repeat)) != NULL) {
        at = next_member(at, "after_ns", after, sizeof after);
        at = next_member(at, "gain", gain, sizeof gain);
        const char *answer = shell(repeat), *simulated = strstr(answer, "\"simulated\": {");
        CHECK(next_member(simulated != NULL ? simulated : answer, time_key, got, sizeof got) != NULL, "%s", repeat);
        CHECK(strcmp(after, got) == 0, "%s: %s ns, promised %s", repeat, got, after);
        CHECK(atof(gain) <= least && atof(gain) > 0, "gains are sorted: %s after %f", gain, least);
        least = atof(gain);
        count++;
    }
    return count;
}

/* The document of a job; valid until the next one. */
static const char *advice(const char *line)
{
    static char kept[1 << 18];
    char full[2048];
    (void)snprintf(full, sizeof full, "advise %s --json -", line);
    const struct program_result *result = program_run(full);
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "\"kind\": \"advice\"");
    (void)snprintf(kept, sizeof kept, "%s", result->out);
    return kept;
}

static bool finds(const char *document, const char *id)
{
    char name[64];
    (void)snprintf(name, sizeof name, "\"id\": \"%s\"", id);
    return strstr(document, name) != NULL;
}

#define CHECK_FINDS(document, id) CHECK(finds(document, id), "not found: %s in %s", id, document)

static void make(const char *line)
{
    CHECK_EXIT(program_run(line), 0);
}

/* ---- the demo ---- */

static void suggestions_for_the_demo_are_true_to_the_nanosecond(void **state)
{
    (void)state;
    program_enter();
    program_write_machine(8, 4);
    make("gen collective --type all-reduce --bytes 1MiB --npus 8 -o ar");
    make("gen three-node --bytes 1MiB --compute 50us --npus 8 -o three");
    CHECK(check_repeats(advice("run -w ar -s system.json -n network.yml"), "time_ns") >= 3, "some help");
    CHECK(check_repeats(advice("run -w three -s system.json -n network.yml"), "time_ns") >= 3, "some help");
    char line[1024];
    (void)snprintf(line, sizeof line, "trace import %s/cifar10_gloo -o cifar", getenv("ORRERY_DATA"));
    make(line);
    program_write_machine(2, 4);
    const char *document = advice("run -w cifar -s system.json -n network.yml");
    CHECK_FINDS(document, "launch-bound");
    CHECK(check_repeats(document, "time_ns") >= 1, "the host helps");
}

static void suggestions_on_every_kind_of_machine_are_true(void **state)
{
    (void)state;
    program_enter();
    make("gen collective --type all-reduce --bytes 4MiB --npus 16 -o big");
    CHECK(check_repeats(advice("run -w big --machine 16gpu_torus2d_4 --bandwidth 100"), "time_ns") > 0, "torus");
    CHECK(check_repeats(advice("run -w big --machine dgx-h100:2"), "time_ns") > 0, "wires of servers");
    (void)check_repeats(advice("run -w big --machine dgx-h100:2 --collective-times model"), "time_ns");
}

/* ---- what is known to be wrong ---- */

static void a_slow_rank_is_named(void **state)
{
    (void)state;
    program_enter();
    program_write_machine(8, 4);
    make("gen three-node --bytes 64KiB --compute 100us --npus 8 -o slow");
    make("gen three-node --bytes 64KiB --compute 300us --npus 8 -o other");
    size_t size = 0;
    const char *bytes = program_read("other.3.et", &size);
    program_write("slow.3.et", bytes, size);
    const char *document = advice("run -w slow -s system.json -n network.yml");
    CHECK_FINDS(document, "straggler");
    CHECK_CONTAINS(document, "Rank 3 is slower than the others");
    CHECK_CONTAINS(document, "--devices 3=x0.3333");
    (void)check_repeats(document, "time_ns");
}

static void ranks_that_arrive_late_are_told_from_bytes_that_move(void **state)
{
    (void)state;
    program_enter();
    make("train --model gpt2 --machine dgx-h100:1 --gpus 4 --global-batch 16 --merge-kernels -o late");
    const char *document = advice("run -w late --machine ring --backend unaware");
    CHECK(!finds(document, "late-ranks") && !finds(document, "straggler"), "all come together: %s", document);
    make("trace scale --compute 3 --in-place late.2.et");
    document = advice("run -w late --machine ring --backend unaware");
    CHECK_FINDS(document, "late-ranks");
    CHECK_CONTAINS(document, "rank 2 comes last in 1 of 1 collectives that wait");
    CHECK_FINDS(document, "bandwidth-bound");
    (void)check_repeats(document, "time_ns");
}

static void a_slow_dimension_is_named(void **state)
{
    (void)state;
    program_enter();
    program_write_text("dims.yml", "topology: [Ring, Switch]\nnpus_count: [4, 2]\nbandwidth: [400, 4]\n"
                                   "latency: [500, 500]\n");
    program_write_text("dims.json", "{\"local-mem-bw\": 3000, \"all-reduce-implementation\": [\"ring\", \"ring\"]}");
    make("gen collective --type all-reduce --bytes 64MiB --npus 8 -o wide");
    const char *document = advice("run -w wide -s dims.json -n dims.yml --quiet");
    CHECK_FINDS(document, "slow-link");
    CHECK_CONTAINS(document, "The links of dimension 1 hold collectives up");
    (void)check_repeats(document, "time_ns");
    document = advice("run -w wide -s dims.json -n dims.yml --quiet --set network.bandwidth=[4,4]");
    CHECK(!finds(document, "slow-link"), "both are as slow: %s", document);
    CHECK_FINDS(document, "bandwidth-bound");
}

static void small_messages_are_told_from_narrow_links(void **state)
{
    (void)state;
    program_enter();
    program_write_machine(8, 1);
    make("gen collective --type all-reduce --bytes 1KiB --npus 8 -o tiny");
    const char *document = advice("run -w tiny -s system.json -n network.yml --set network.latency=20us");
    CHECK_FINDS(document, "small-messages");
    CHECK(!finds(document, "bandwidth-bound"), "%s", document);
    (void)check_repeats(document, "time_ns");
}

static void a_pipeline_of_one_micro_batch_is_all_bubble(void **state)
{
    (void)state;
    program_enter();
    make("train --model llama3-8b --machine dgx-h100:1 --gpus 8 --pp 8 --global-batch 1 --merge-kernels -o pipe");
    const char *document = advice("run -w pipe --machine dgx-h100:1 --backend unaware");
    CHECK_FINDS(document, "bubble");
    document = advice("train --model llama3-8b --machine dgx-h100:1 --gpus 8 --pp 8 --global-batch 1 --no-neighbours");
    CHECK_FINDS(document, "bubble");
    CHECK_CONTAINS(document, "8 stages and 1 micro-batches");
    CHECK(check_repeats(document, "step_time_ns") >= 1, "another plan is better");
}

static void a_tree_with_too_few_spines_is_oversubscribed(void **state)
{
    (void)state;
    program_enter();
    make("gen collective --type all-to-all --bytes 1MiB --npus 16 -o a2a");
    make("topo make fat-tree --hosts 16 --leaves 4 --spines 1 --bandwidth 100Gbps -o thin.txt");
    make("topo make fat-tree --hosts 16 --leaves 4 --spines 4 --bandwidth 100Gbps -o full.txt");
    const char *document = advice("run -w a2a --machine thin.txt --backend flow --tries 3");
    CHECK_FINDS(document, "oversubscribed");
    CHECK_CONTAINS(document, "(4.00 : 1)");
    document = advice("run -w a2a --machine full.txt --backend flow --tries 3");
    CHECK(!finds(document, "oversubscribed"), "%s", document);
}

/* ---- what is not wrong ---- */

static void where_nothing_is_wrong_nothing_is_found(void **state)
{
    (void)state;
    program_enter();
    program_write_machine(8, 4);
    make("gen three-node --bytes 1KiB --compute 50ms --npus 8 -o fine");
    const char *document = advice("run -w fine -s system.json -n network.yml");
    CHECK_CONTAINS(document, "\"findings\": []");
    CHECK_CONTAINS(document, "\"suggestions\": []");
    const struct program_result *result = program_run("advise run -w fine -s system.json -n network.yml");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "none: nothing that can be told apart takes 5 % of the step");
}

static void a_training_step_is_advised_and_repeats(void **state)
{
    (void)state;
    program_enter();
    const char *document =
        advice("train --model llama3-8b --machine dgx-h100:1 --tp 8 --recompute full --global-batch 32");
    CHECK_FINDS(document, "exposed-tp");
    CHECK(check_repeats(document, "step_time_ns") >= 2, "recompute and plan");
    document = advice("train --model llama3-8b --machine dgx-h100:1 --tp 2 --global-batch 32 --no-neighbours");
    CHECK_FINDS(document, "memory-full");
    const char *full = strstr(document, "memory-full");
    CHECK(full != NULL && strstr(full, "\"high\"") != NULL && strstr(full, "\"high\"") - full < 200, "%s", document);
}

static void threads_and_tries_change_nothing_but_what_is_tried(void **state)
{
    (void)state;
    static char first[1 << 18];
    program_enter();
    program_write_machine(8, 4);
    make("gen three-node --bytes 1MiB --compute 50us --npus 8 -o three");
    (void)snprintf(first, sizeof first, "%s", advice("run -w three -s system.json -n network.yml -j 1"));
    CHECK(strcmp(first, advice("run -w three -s system.json -n network.yml -j 3")) == 0, "threads");
    const char *document = advice("run -w three -s system.json -n network.yml --tries 5");
    CHECK_CONTAINS(document, "not tried: no tries were left (parameter 'tries')");
}

static void the_size_of_buckets_is_tried_where_messages_are_sent(void **state)
{
    (void)state;
    program_enter();
    const char *job = "train --model gpt2 --machine dgx-h100:2>rail:25Gbps --dp 16 --global-batch 64 --overlap dp ";
    char line[256];
    (void)snprintf(line, sizeof line, "%s--backend unaware", job);
    const char *document = advice(line);
    CHECK_CONTAINS(document, "--bucket-size ");
    (void)check_repeats(document, "step_time_ns");
    CHECK(strstr(advice(job), "--bucket-size") == NULL, "a predicted step has no buckets");
}

static void a_simai_workload_is_advised_and_repeats(void **state)
{
    (void)state;
    program_enter();
    program_write_text("rows.txt",
                       "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 1 ga: 1 "
                       "all_gpus: 16 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0\n2\n"
                       "mlp -1 80000 ALLREDUCE 8388608 80000 ALLREDUCE 8388608 80000 NONE 0 100\n"
                       "grad -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 16777216 100\n");
    program_write_text("piped.txt",
                       "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 2 vpp: 1 ga: 2 "
                       "all_gpus: 16 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 1048576\n2\n"
                       "mlp -1 80000 NONE 0 80000 NONE 0 80000 NONE 0 100\n"
                       "mlp -1 80000 NONE 0 80000 NONE 0 80000 NONE 0 100\n");
    const char *document = advice("simai -w rows.txt --machine dgx-h100:2>rail:400Gbps --backend flow");
    CHECK_FINDS(document, "exposed-tp");
    CHECK_FINDS(document, "exposed-dp");
    CHECK(!finds(document, "slow-link"), "NICs are a level of the machine, not a slow link: %s", document);
    CHECK(check_repeats(document, "time_ns") >= 2, "rates and NVLS at least: %s", document);
    document = advice("simai -w piped.txt --machine dgx-h100:2>rail:400Gbps --backend flow --send-latency 3us");
    CHECK_FINDS(document, "bubble");
    (void)check_repeats(document, "time_ns");
    CHECK_CONTAINS(advice("simai -w rows.txt --machine dgx-h100:2 --backend flow --tries 2"),
                   "not tried: no tries were left (parameter 'tries')");
    CHECK_EXIT(program_run("advise simai -w nowhere.txt --machine dgx-h100:2"), 2);
}

static void what_cannot_be_advised_is_refused_in_one_line(void **state)
{
    (void)state;
    program_enter();
    const struct program_result *result = program_run("advise run -w nowhere --machine ring");
    CHECK_EXIT(result, 2);
    CHECK_ONE_LINE(result);
    result = program_run("advise train --model llama9 --machine dgx-h100:2");
    CHECK_EXIT(result, 2);
    CHECK_ONE_LINE(result);
    result = program_run("advise --json x");
    CHECK_EXIT(result, 2);
}

TEST_MAIN(suggestions_for_the_demo_are_true_to_the_nanosecond, suggestions_on_every_kind_of_machine_are_true,
          a_slow_rank_is_named, ranks_that_arrive_late_are_told_from_bytes_that_move, a_slow_dimension_is_named,
          small_messages_are_told_from_narrow_links, a_pipeline_of_one_micro_batch_is_all_bubble,
          a_tree_with_too_few_spines_is_oversubscribed, where_nothing_is_wrong_nothing_is_found,
          a_training_step_is_advised_and_repeats, the_size_of_buckets_is_tried_where_messages_are_sent,
          a_simai_workload_is_advised_and_repeats, threads_and_tries_change_nothing_but_what_is_tried,
          what_cannot_be_advised_is_refused_in_one_line)
