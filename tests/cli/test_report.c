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
    CHECK_EXIT(program_run("lab run --workload w/ar --topology ring -o runs -q --bandwidth 50Gbps"), 0);
    CHECK_EXIT(program_run("report runs/orrery.db:1,2 -o a.html"), 0);
    CHECK_CONTAINS(program_read("a.html", NULL), "{\"kind\": \"difference\", \"name\": \"run 2 against run 1\"");
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
        {"report system.json", "system.json: no result of Orrery: it begins with the key"},
        {"report network.yml", "network.yml:1:"},
        {"report missing.json", "missing.json: cannot be opened"},
        {"report w", "w: a folder without result.json"},
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

TEST_MAIN(a_page_of_files_holds_their_very_text, every_command_with_results_writes_a_page,
          measured_collectives_stand_beside_those_of_machines_that_have_them, what_cannot_be_a_page_is_one_line)
