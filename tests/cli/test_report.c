/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of results as their users make them: with --report of the commands, or of files, folders and stores later. */
#include "tests/cli/program.h"

#include <stdlib.h>

#define ON_RING " --workload w/ar --system system.json --network network.yml"

static void prepare(void)
{
    program_enter();
    if (!program_exists("w/ar.0.et")) {
        program_write_machine(8, 4);
        CHECK_EXIT(program_run("gen collective --npus 8 -o w/ar"), 0);
        CHECK_EXIT(program_run("run" ON_RING " --json run.json"), 0);
    }
}

static void a_page_of_files_holds_their_very_text(void **state)
{
    (void)state;
    prepare();
    CHECK_EXIT(program_run("report run.json -o page.html"), 0);
    char *document = strdup(program_read("run.json", NULL));
    CHECK_CONTAINS(program_read("page.html", NULL), document);
    free(document);
    CHECK_CONTAINS(program_read("page.html", NULL), "<!doctype html>");
}

static void every_command_with_results_writes_a_page(void **state)
{
    (void)state;
    prepare();
    static const struct {
        const char *line, *kind;
    } commands[] = {
        {"run" ON_RING " --report a.html", "run"},
        {"train --model llama3-8b --machine dgx-h100:1 --global-batch 8 --report a.html", "train"},
        {"plan --model llama3-8b --machine dgx-h100:1 --global-batch 8 --fix pp=1,cp=1 --report a.html", "plan"},
        {"sweep --store s.db --vary network.bandwidth=50,100 --report a.html -- " ON_RING, "sweep"},
        {"lab run --workload w/ar --topology ring -o runs -q --report a.html", "run"},
    };
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        char want[160];
        CHECK_EXIT(program_run(commands[i].line), 0);
        (void)snprintf(want, sizeof want, "{\"kind\": \"%s\", \"name\": ", commands[i].kind);
        CHECK_CONTAINS(program_read("a.html", NULL), want);
        (void)snprintf(want, sizeof want, "\"command\": \"orrery %.30s", commands[i].line);
        CHECK_CONTAINS(program_read("a.html", NULL), want);
    }
    CHECK_CONTAINS(program_read("a.html", NULL), "{\"kind\": \"timeline\", \"name\": ");
    CHECK_EXIT(program_run("lab run --workload w/ar --topology ring -o kept -q --timeline"), 0);
    CHECK_EXIT(program_run("report kept/0001_8gpu_ring_8 -o a.html"), 0);
    CHECK_CONTAINS(program_read("a.html", NULL), "{\"kind\": \"chrome\", \"name\": \"kept/0001_8gpu_ring_8/timeline");
    CHECK_EXIT(program_run("report runs/orrery.db -o a.html"), 0);
    CHECK_CONTAINS(program_read("a.html", NULL), "{\"kind\": \"store\", \"name\": \"runs/orrery.db\"");
    CHECK_CONTAINS(program_read("a.html", NULL), "{\"kind\": \"machine\", \"name\": \"the newest run\"");
    CHECK_EXIT(program_run("lab run --workload w/ar --topology ring -o runs -q --bandwidth 50Gbps"), 0);
    CHECK_EXIT(program_run("report runs/orrery.db:1,2 -o a.html"), 0);
    CHECK_CONTAINS(program_read("a.html", NULL), "{\"kind\": \"difference\", \"name\": \"run 2 against run 1\"");
}

static void advice_stands_on_the_page_of_its_job(void **state)
{
    (void)state;
    prepare();
    static const char *const lines[] = {
        "advise run" ON_RING " --tries 3 --report a.html",
        "advise train llama3-8b --machine dgx-h100:1 --tp 2 --global-batch 8 --tries 1 --report a.html",
    };
    static const char *const kinds[] = {"run", "train"};
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        char want[80];
        CHECK_EXIT(program_run(lines[i]), 0);
        const char *page = program_read("a.html", NULL);
        (void)snprintf(want, sizeof want, "{\"kind\": \"%s\", \"name\": \"orrery %s ", kinds[i], kinds[i]);
        CHECK_CONTAINS(page, want);
        CHECK_CONTAINS(page, "{\"kind\": \"advice\", \"name\": ");
    }
}

static void a_kept_result_draws_its_machine(void **state)
{
    (void)state;
    prepare();
    CHECK_EXIT(program_run("run --workload w/ar --machine dgx-h100:1 --backend flow --json flow.json"), 0);
    CHECK_CONTAINS(program_read("flow.json", NULL), "\"machine\": \"dgx-h100:1\"");
    CHECK_EXIT(program_run("report flow.json run.json -o a.html"), 0);
    CHECK_CONTAINS(program_read("a.html", NULL), "{\"kind\": \"machine\", \"name\": \"flow.json\"");
    CHECK_CONTAINS(program_read("a.html", NULL), "{\"kind\": \"machine\", \"name\": \"run.json\"");
    CHECK_CONTAINS(program_read("a.html", NULL), "\"nvswitches\": 1,");
}

static void traces_and_recordings_say_what_makes_them_results(void **state)
{
    (void)state;
    prepare();
    char line[4200];
    const struct program_result *result = program_run("report w -o a.html");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "w: traces of 8 ranks, which are run first: orrery run --workload w/ar --machine NAME");
    (void)snprintf(line, sizeof line, "report %s/cifar10_gloo -o a.html", getenv("ORRERY_DATA"));
    result = program_run(line);
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "recordings of 2 ranks, which are imported and run first: orrery trace import ");
    (void)snprintf(line, sizeof line, "run -w %s/cifar10_gloo --machine ring", getenv("ORRERY_DATA"));
    result = program_run(line);
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "a folder of recordings, which are imported first: orrery trace import ");
}

/* 8 GPUs of one server gather 16 MiB, twice: rows have the whole, nccl-tests and the columns of run one rank's part. */
static void rows_without_times_and_their_all_gathers_are_told_as_of_a_run(void **state)
{
    (void)state;
    program_enter();
    program_write_text("u.txt", "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 1 ga: 1 "
                                "all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0\n2\n"
                                "layer -1 1 ALLGATHER 16777216 1 ALLGATHER 16777216 1 NONE 0 1\n"
                                "grad -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n");
    const struct program_result *result =
        program_run("simai simulate --backend flow -w u.txt --machine dgx-h100:1 --json u.json --report u.html");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "Compute    none: no row has a time, the step time is communication alone\n");
    CHECK_CONTAINS(program_read("u.json", NULL), "\"compute_nodes_without_time\": 6,");
    CHECK_CONTAINS(program_read("u.json", NULL), "\"machine\": \"dgx-h100:1\"");
    CHECK_CONTAINS(program_read("u.json", NULL), "\"type\": \"all-gather\", \"group_size\": 8, \"bytes\": 2097152,");
    const char *found = strstr(program_read("u.json", NULL), "\"bus_bandwidth_gbytes_per_s\": ");
    double bus = found == NULL ? 0 : strtod(strchr(found, ':') + 1, NULL);
    CHECK(bus > 50 && bus < 450, "%g GB/s on NVLinks of 450", bus);
    /* both all-gathers are on the path to the end, whatever threads rows are shown on */
    const char *path = strstr(program_read("u.html", NULL), "\"critical\": {");
    CHECK(path != NULL, "a critical path");
}

static void measured_collectives_stand_beside_those_of_machines_that_have_them(void **state)
{
    (void)state;
    prepare();
    static const struct {
        const char *line;
        bool measured;
    } runs[] = {
        {"run --workload w/ar --machine dgx-h100:1 --backend flow --report a.html", true},
        {"run --workload w/ar --machine dgx-h100:1 --backend unaware --report a.html", true},
        {"run" ON_RING " --report a.html", false},
    };
    for (size_t i = 0; i < COUNT_OF(runs); i++) {
        CHECK_EXIT(program_run(runs[i].line), 0);
        const char *page = program_read("a.html", NULL);
        CHECK_CONTAINS(page, "{\"kind\": \"machine\", \"name\": ");
        CHECK((strstr(page, "{\"kind\": \"times\", \"name\": ") != NULL) == runs[i].measured, "%s", runs[i].line);
        CHECK((strstr(page, "\"own\": [{\"op\": \"all-reduce\"") != NULL) == runs[i].measured, "%s", runs[i].line);
    }
}

static void what_cannot_be_a_page_is_one_line(void **state)
{
    (void)state;
    prepare();
    static const struct {
        const char *line, *said;
    } bad[] = {
        {"report system.json", "system.json: this is a system file (JSON); expected a result of Orrery"},
        {"report network.yml", "network.yml: this is a network file (YAML)"},
        {"report missing.json", "missing.json: cannot be opened"},
        {"report runs", "runs: a folder without result.json"},
        {"report run.json -o run.json", "--output would replace the input run.json"},
        {"report run.json -o nowhere/x.html", "nowhere/x.html: cannot be written"},
        {"report run.json --lang de", "accepted: en, zh-TW"},
        {"run" ON_RING " --report system.json", "system.json"},
        {"run" ON_RING " --report -", "--report"},
        {"train --model llama3-8b --machine dgx-h100:1 --report -", "--report"},
        {"train --model llama3-8b --machine dgx-h100:1 --json x --report x", "--json and --report both want x"},
        {"sweep --store s.db --vary network.bandwidth=50 --report system.json -- " ON_RING, "is an input"},
        {"lab run --workload w/ar --topology ring --report nowhere/x", "nowhere/x: cannot be written"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        const struct program_result *result = program_run(bad[i].line);
        CHECK_EXIT(result, 2);
        CHECK_ONE_LINE(result);
        CHECK_CONTAINS(result->err, bad[i].said);
    }
}

TEST_MAIN(rows_without_times_and_their_all_gathers_are_told_as_of_a_run, advice_stands_on_the_page_of_its_job,
          a_kept_result_draws_its_machine, traces_and_recordings_say_what_makes_them_results,
          a_page_of_files_holds_their_very_text, every_command_with_results_writes_a_page,
          measured_collectives_stand_beside_those_of_machines_that_have_them, what_cannot_be_a_page_is_one_line)
