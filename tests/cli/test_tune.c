/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery tune collectives`: the written file gives the time that was promised, and nothing in the space is better. */
#include "tests/cli/program.h"

#include <stdlib.h>

/* The whole number behind `"key": ` in a document. */
static uint64_t number_of(const char *document, const char *key)
{
    char name[64];
    (void)snprintf(name, sizeof name, "\"%s\": ", key);
    const char *found = strstr(document, name);
    CHECK(found != NULL, "no %s in %s", key, document);
    return strtoull(found + strlen(name), NULL, 10);
}

static uint64_t time_of_run(const char *line)
{
    char command[4096];
    (void)snprintf(command, sizeof command, "'%s' %s --json - 2>/dev/null", getenv("ORRERY"), line);
    static char out[1 << 18];
    FILE *pipe = popen(command, "r");
    CHECK(pipe != NULL, "no shell");
    out[fread(out, 1, sizeof out - 1, pipe)] = '\0';
    CHECK(pclose(pipe) == 0, "%s", command);
    return number_of(out, "time_ns");
}

/* Tunes, repeats with the written file; what was promised. */
static uint64_t tuned(const char *job, const char **document)
{
    static char kept[1 << 18];
    char line[2048], repeat[4096];
    (void)snprintf(line, sizeof line, "tune collectives %s --quiet -o tuned.json --json -", job);
    const struct program_result *result = program_run(line);
    CHECK_EXIT(result, 0);
    (void)snprintf(kept, sizeof kept, "%s", result->out);
    CHECK_CONTAINS(kept, "\"kind\": \"tuning\"");
    const char *at = strstr(kept, "\"repeat\": \"orrery ");
    CHECK(at != NULL, "%s", kept);
    (void)snprintf(repeat, sizeof repeat, "%s", at + strlen("\"repeat\": \"orrery "));
    repeat[strcspn(repeat, "\"")] = '\0';
    uint64_t promised = number_of(kept, "after_ns");
    uint64_t got = time_of_run(repeat);
    CHECK(got == promised, "%s: %" PRIu64 " ns, promised %" PRIu64, repeat, got, promised);
    CHECK(promised <= number_of(kept, "before_ns"), "never slower");
    *document = kept;
    return promised;
}

static void make(const char *line)
{
    CHECK_EXIT(program_run(line), 0);
}

static void the_written_file_gives_the_time_that_was_promised(void **state)
{
    (void)state;
    const char *document = NULL;
    program_enter();
    program_write_machine(8, 4);
    make("gen collective --type all-reduce --bytes 1MiB --npus 8 -o ar");
    make("gen three-node --bytes 1MiB --compute 50us --npus 8 -o three");
    (void)tuned("-w ar -s system.json -n network.yml", &document);
    CHECK_CONTAINS(document, "\"network\": \"aware\"");
    CHECK_CONTAINS(document, "\"whole\": true");
    (void)tuned("-w three -s system.json -n network.yml --tries 60", &document);
    CHECK_CONTAINS(document, "\"whole\": false");
    (void)tuned("-w ar -s system.json -n network.yml --backend unaware", &document);
    CHECK_CONTAINS(document, "\"network\": \"unaware\"");
    /* What the command overrides is in the file, tuned or as it was said. */
    (void)tuned("-w ar -s system.json -n network.yml --set endpoint-delay=20 --set system.preferred-dataset-splits=2 "
                "--set network.latency=700",
                &document);
    CHECK_CONTAINS(program_read("tuned.json", NULL), "\"endpoint-delay\": 20");
    CHECK_CONTAINS(document, "--set network.latency=700");
}

static void machines_by_name_are_tuned_too(void **state)
{
    (void)state;
    const char *document = NULL;
    program_enter();
    make("gen collective --type all-gather --bytes 256KiB --npus 8 -o ag");
    (void)tuned("-w ag --machine 8gpu_torus2d_4 --tries 80", &document);
    (void)tuned("-w ag --machine dgx-h100:1 --tries 12", &document);
    CHECK_CONTAINS(document, "\"ran_out\": true");
}

static void switches_that_add_up_are_found_where_the_system_has_them(void **state)
{
    (void)state;
    const char *document = NULL;
    program_enter();
    make("gen collective --type all-reduce --bytes 4MiB --npus 8 -o ar");
    make("topo make single-switch --hosts 8 --bandwidth 400Gbps --latency 500ns -o one.topo");
    uint64_t without = tuned("-w ar --machine one.topo --tries 20", &document);
    uint64_t with = tuned("-w ar --machine one.topo --tries 20 --set system.nccl-collnet-enable=1", &document);
    CHECK(3 * with < 2 * without, "%" PRIu64 " ns, without them %" PRIu64, with, without);
    CHECK_CONTAINS(program_read("tuned.json", NULL), "\"all-reduce-implementation\": [\"nccl\"]");
}

static void nothing_in_a_small_space_is_better(void **state)
{
    (void)state;
    static const char *const algorithms[] = {"ring", "direct", "halvingDoubling", "doubleBinaryTree", "ncclTree"};
    static const char *const chunks[] = {"1", "4", "64"};
    const char *document = NULL;
    char line[512];
    program_enter();
    program_write_machine(4, 4);
    make("gen collective --type all-reduce --bytes 256KiB --npus 4 -o few");
    uint64_t best = tuned("-w few -s system.json -n network.yml", &document);
    for (size_t i = 0; i < COUNT_OF(algorithms); i++) {
        for (size_t k = 0; k < COUNT_OF(chunks); k++) {
            (void)snprintf(line, sizeof line,
                           "run -w few -s system.json -n network.yml --backend aware --set "
                           "system.all-reduce-implementation=%s --set system.preferred-dataset-splits=%s",
                           algorithms[i], chunks[k]);
            CHECK(time_of_run(line) >= best, "%s", line);
        }
    }
}

/* Groups of neighbours along the slow dimension are better off along the fast one. */
static void the_order_of_dimensions_is_found(void **state)
{
    (void)state;
    const char *document = NULL;
    program_enter();
    program_write_text("dims.yml", "topology: [Ring, Ring]\nnpus_count: [2, 4]\nbandwidth: [1, 400]\n"
                                   "latency: [500, 500]\n");
    program_write_text("dims.json", "{\"local-mem-bw\": 3000, \"all-reduce-implementation\": [\"ring\", \"ring\"]}");
    make("gen collective --type all-reduce --bytes 16MiB --npus 8 -o wide");
    (void)tuned("-w wide -s dims.json -n dims.yml --tries 40", &document);
    CHECK_CONTAINS(document, "\"key\": \"order of dimensions\", \"before\": \"0, 1\", \"after\": \"1, 0\"");
}

static void a_job_without_collectives_has_nothing_to_tune(void **state)
{
    (void)state;
    program_enter();
    program_write_machine(2, 1);
    make("train --model gpt2 --machine dgx-h100:1 --gpus 2 --pp 2 --global-batch 2 --merge-kernels -o pipe");
    const struct program_result *result = program_run("tune collectives -w pipe -s system.json -n network.yml -q");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "none is better than what the job has");
}

static void nccl_is_told_what_its_tuner_would_not_choose(void **state)
{
    (void)state;
    program_enter();
    make("gen collective --type all-reduce --bytes 4MiB --npus 16 -o servers");
    const struct program_result *result =
        program_run("tune collectives -w servers --machine dgx-h100:2 --tries 2 --nccl nccl.env");
    CHECK_EXIT(result, 0);
    const char *text = program_read("nccl.env", NULL);
    CHECK_CONTAINS(text, "# Collectives of the job on h100, 8 GPUs a server.\n# allreduce: ");
    CHECK_CONTAINS(result->out, text);
}

static void what_cannot_be_is_refused_in_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *line, *said;
    } cases[] = {
        {"tune collectives -w ar -s system.json -n network.yml -o network.yml", "the job reads that file"},
        {"tune collectives -w ar -s system.json -n network.yml --nccl ar.0.et", "it is a trace of the job"},
        {"tune collectives -w ar -s system.json -n network.yml --nccl x.env --tries 1 -q", "--collective-gpu"},
        {"tune collectives -w none -s system.json -n network.yml", "none"},
    };
    program_enter();
    program_write_machine(8, 4);
    make("gen collective --type all-reduce --bytes 1KiB --npus 8 -o ar");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct program_result *result = program_run(cases[i].line);
        CHECK_EXIT(result, 2);
        CHECK_ONE_LINE(result);
        CHECK_CONTAINS(result->err, cases[i].said);
    }
}

TEST_MAIN(the_written_file_gives_the_time_that_was_promised, machines_by_name_are_tuned_too,
          switches_that_add_up_are_found_where_the_system_has_them, nothing_in_a_small_space_is_better,
          the_order_of_dimensions_is_found, a_job_without_collectives_has_nothing_to_tune,
          nccl_is_told_what_its_tuner_would_not_choose, what_cannot_be_is_refused_in_one_line)
