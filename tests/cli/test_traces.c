/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery gen` and `orrery trace` from the shell's side. */
#include "tests/cli/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void prepare(void)
{
    program_enter();
    CHECK_EXIT(program_run("gen collective --type all-reduce --bytes 1MiB --npus 2 -o deep/er/ar"), 0);
}

static void gen_makes_folders_and_says_what_to_do_next(void **state)
{
    (void)state;
    program_enter();
    const struct program_result *result = program_run("gen three-node --bytes 2MiB --npus 3 -o new/folder/three");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "new/folder/three.0.et to new/folder/three.2.et");
    CHECK_CONTAINS(result->out, "orrery run --workload new/folder/three");
    CHECK(program_exists("new/folder/three.2.et") && !program_exists("new/folder/three.3.et"), "three ranks");
}

static void the_three_nodes_are_those_of_the_tutorial(void **state)
{
    (void)state;
    program_enter();
    program_write_machine(8, 4);
    CHECK_EXIT(program_run("gen three-node -o three"), 0);
    const struct program_result *result =
        program_run("run -w three -s system.json -n network.yml --backend aware --format astra");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "sys[0] finished, 405520 cycles, exposed communication 355520 cycles.");
}

static void show_stat_and_check_take_several_files(void **state)
{
    (void)state;
    prepare();
    const struct program_result *result = program_run("trace show deep/er/ar.0.et deep/er/ar.1.et");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "==> deep/er/ar.1.et <==");
    CHECK_CONTAINS(result->out, "comm_size");
    CHECK_CONTAINS(result->out, "1048576");
    result = program_run("trace stat deep/er/ar.0.et");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "all-reduce");
    result = program_run("trace check deep/er/ar.0.et deep/er/ar.1.et");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "deep/er/ar.1.et: 0 findings");
}

static void one_bad_file_does_not_hide_the_others(void **state)
{
    (void)state;
    prepare();
    const struct program_result *result = program_run("trace show missing.et deep/er/ar.0.et");
    CHECK_EXIT(result, 2);
    CHECK_ONE_LINE(result);
    CHECK_CONTAINS(result->out, "1048576");
}

static void statistics_as_json_go_where_json_says(void **state)
{
    (void)state;
    prepare();
    const struct program_result *result = program_run("trace stat --json - deep/er/ar.0.et");
    CHECK_EXIT(result, 0);
    CHECK(result->out[0] == '{', "one file is one object");
    result = program_run("trace stat --json=- deep/er/ar.0.et deep/er/ar.1.et");
    CHECK_EXIT(result, 0);
    CHECK(result->out[0] == '[', "two files are an array");
    result = program_run("trace stat deep/er/ar.0.et --json stat.json");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "deep/er/ar.0.et\n");
    CHECK(program_read("stat.json", NULL)[0] == '{', "the file has it");
    assert_int_equal(unlink("stat.json"), 0);
    CHECK_EXIT(program_run("trace stat --json stat.json deep/er/ar.0.et missing.et"), 2);
    CHECK(!program_exists("stat.json"), "half a document is not written");
    result = program_run("trace stat --json deep/../deep/er/ar.0.et deep/er/ar.0.et");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--json would replace the input deep/er/ar.0.et");
}

static void a_recipe_has_what_was_picked_as_its_defaults(void **state)
{
    (void)state;
    program_enter();
    const struct program_result *result =
        program_run("trace recipe --framework pytorch --dataset imagenet --model resnet18 --epochs 5 --batch-size 256 "
                    "--profile-epoch 3 --trace-wait 50 --trace-steps 200 --inject-sync-hack");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(
        result->out,
        "\nPICKED = {\"model\": \"resnet18\", \"dataset\": \"imagenet\", \"epochs\": 5, \"batch_size\": 256, "
        "\"profile_epoch\": 3, \"trace_wait\": 50, \"trace_steps\": 200, \"inject_sync_hack\": True}");
    CHECK_CONTAINS(result->err, "--trace-steps 200 of resnet18: about ");
    result = program_run("trace recipe --framework pytorch --model bert --trace-steps 4");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "PICKED = {\"model\": \"bert\", \"trace_steps\": 4}");
    CHECK(result->err[0] == '\0', "four steps are no large trace: %s", result->err);
    static const struct {
        const char *command, *says;
    } refused[] = {
        {"--framework pytorch --model resnet19", "did you mean \"resnet18\"?"},
        {"--framework pytorch --dataset imagnet", "did you mean \"imagenet\"?"},
        {"--framework pytorch --model bert --dataset cifar10", "does not fit --model bert, which takes tokens"},
        {"--framework pytorch --dataset tokens", "does not fit --model cifar10"},
        {"--framework pytorch --profile-epoch 4", "lies after the last of 3 epochs"},
        {"--framework horovod --model bert", "only the script for pytorch"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char command[160];
        (void)snprintf(command, sizeof command, "trace recipe %s", refused[i].command);
        result = program_run(command);
        CHECK_EXIT(result, 2);
        CHECK_ONE_LINE(result);
        CHECK_CONTAINS(result->err, refused[i].says);
    }
}

/* The program warns by a table of its own, which must be the script's. */
static void a_recipe_knows_the_models_of_the_script(void **state)
{
    (void)state;
    program_enter();
    const struct program_result *result = program_run("trace recipe --framework pytorch");
    CHECK_EXIT(result, 0);
    char *script = strdup(result->out);
    assert_non_null(script);
    const char *at = strstr(script, "\nMODELS = {\n");
    assert_non_null(at);
    int count = 0;
    char name[32];
    unsigned step_kb = 0;
    for (at += strlen("\nMODELS = {\n"); sscanf(at, " \"%31[^\"]\": Model(%u,", name, &step_kb) == 2; count++) {
        char command[160];
        char says[160];
        (void)snprintf(command, sizeof command, "trace recipe --framework pytorch --model %s --trace-steps 1000", name);
        (void)snprintf(says, sizeof says, "--trace-steps 1000 of %s: about %u MB", name, step_kb);
        result = program_run(command);
        CHECK_EXIT(result, 0);
        CHECK_CONTAINS(result->err, says);
        at = strchr(at, '\n');
        assert_non_null(at);
        at++;
    }
    free(script);
    assert_int_equal(count, 6);
}

static void a_recipe_is_a_script_for_the_vendor(void **state)
{
    (void)state;
    program_enter();
    const struct program_result *result = program_run("trace recipe --framework pytorch --vendor amd");
    CHECK_EXIT(result, 0);
    CHECK(strncmp(result->out, "#!/usr/bin/env python3\n# AMD: ", 30) == 0, "starts: %.60s", result->out);
    CHECK_CONTAINS(result->out, "ExecutionTraceObserver().register_callback");
    CHECK_EXIT(program_run("trace recipe --framework horovod -o record.py"), 0);
    size_t size = 0;
    CHECK_CONTAINS(program_read("record.py", &size), "hvd.start_timeline");
    result = program_run("trace recipe --framework pytorsh");
    CHECK_EXIT(result, 2);
    CHECK_ONE_LINE(result);
    CHECK_CONTAINS(result->err, "did you mean \"pytorch\"?");
}

static void a_trace_is_drawn_in_the_form_its_ending_says(void **state)
{
    (void)state;
    static const struct {
        const char *ending, *has;
    } forms[] = {
        {"svg", "</svg>"}, {"html", "</html>"}, {"pdf", "%PDF-1.4"}, {"dot", "digraph"}, {"graphml", "<graphml"}};
    size_t size = 0;
    prepare();
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        char line[80];
        (void)snprintf(line, sizeof line, "trace view deep/er/ar.0.et -o picture.%s", forms[i].ending);
        CHECK_EXIT(program_run(line), 0);
        CHECK_CONTAINS(program_read(line + strlen("trace view deep/er/ar.0.et -o "), &size), forms[i].has);
    }
    const struct program_result *result = program_run("trace view deep/er/ar.0.et -o picture.png");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "picture.png: the ending says what is drawn; accepted: .svg");
    CHECK(!program_exists("picture.png"), "a refused picture is not there");
    CHECK_EXIT(program_run("trace view missing.et -o picture.svg"), 2);
    CHECK_CONTAINS(program_read("picture.svg", &size), "</svg>");
}

static void a_finding_gives_exit_code_2(void **state)
{
    (void)state;
    prepare();
    size_t size = 0;
    const char *trace = program_read("deep/er/ar.0.et", &size);
    static char twice[1 << 16];
    /* A file is a list of messages behind their lengths: metadata, then nodes. Repeating the node gives its id twice.
     */
    size_t first = 1 + (size_t)(unsigned char)trace[0];
    CHECK(size > first && size * 2 < sizeof twice, "a small trace with one node");
    memcpy(twice, trace, size);
    memcpy(twice + size, trace + first, size - first);
    program_write("twice.et", twice, size + size - first);
    const struct program_result *result = program_run("trace check twice.et");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->out, "twice.et: 1 finding\n");
}

static void an_archive_is_a_prefix_like_any_other(void **state)
{
    (void)state;
    program_enter();
    program_write_machine(4, 4);
    CHECK_EXIT(program_run("gen three-node --bytes 2MiB --npus 4 -o files/three"), 0);
    const struct program_result *result = program_run("trace pack files -o packed/three.etz");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "Packed 4 traces of ");
    CHECK_CONTAINS(result->out, "packed/three.etz of ");
    CHECK_CONTAINS(result->out, ": 1 different, 0 of them told by another.");
    CHECK_CONTAINS(result->out, "Next: orrery run --workload packed/three.etz");
    result = program_run("gen collective all-gather --ranks 4 -o typed.etz");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "Wrote 4 traces into typed.etz.\n");
    CHECK_CONTAINS(program_run("trace stat typed.etz.0.et")->out, "all-gather");
    CHECK_EXIT(program_run("gen collective all-gather all-reduce --ranks 4 -o twice.etz"), 2);
    CHECK_EXIT(program_run("gen three-node --bytes 2MiB --npus 4 -o made.etz"), 0);
    CHECK_EXIT(program_run("trace unpack made.etz -o again/three"), 0);
    for (int rank = 0; rank < 4; rank++) {
        char path[64];
        char first[1024];
        size_t size = 0;
        (void)snprintf(path, sizeof path, "files/three.%d.et", rank);
        const char *bytes = program_read(path, &size);
        CHECK(size > 0 && size < sizeof first, "a small trace");
        memcpy(first, bytes, size);
        (void)snprintf(path, sizeof path, "again/three.%d.et", rank);
        CHECK(memcmp(first, program_read(path, &size), size) == 0, "rank %d", rank);
    }
    char *astra = strdup(program_run("run -w files/three -s system.json -n network.yml --format astra")->out);
    CHECK_TEXT(program_run("run -w made.etz -s system.json -n network.yml --format astra")->out, astra);
    free(astra);
    result = program_run("lab run --workload packed --topology ring");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, ": 4 traces");
    result = program_run("trace check made.etz");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "made.etz.3.et: 0 findings");
    CHECK_EXIT(program_run("trace diff made.etz.1.et files/three.2.et"), 0);
    CHECK_EXIT(program_run("trace scale made.etz --compute 2 -o twice"), 0);
    CHECK(program_exists("twice.3.et"), "an archive's traces are changed one by one");
}

static void what_is_wrong_with_an_archive_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *line, *says;
    } cases[] = {
        {"trace pack -o a.etz", "missing PREFIX"},
        {"trace pack ar", "missing -o NAME.etz"},
        {"trace pack ar -o a.zip", "\"a.zip\" is no name of an archive, which ends in .etz"},
        {"trace pack nowhere -o a.etz", "nowhere.0.et: no such file"},
        {"trace unpack system.json -o u", "system.json: is no archive of traces"},
        {"trace unpack ar.etz -o u.etz", "\"u.etz\" is the name of an archive"},
        {"trace show ar.etz.7.et", "ar.etz: has no rank 7; its ranks are 0 to 3"},
        {"trace view ar.etz -o v.svg", "the file is an archive of traces"},
        {"trace fix ar.etz --in-place", "is in an archive, which stays as it is"},
        {"trace fix ar.etz -o b.etz", "of which orrery trace pack makes an archive"},
        {"run -w cut.etz -s system.json -n network.yml", "cut.etz: the archive is damaged"},
    };
    program_enter();
    program_write_machine(4, 4);
    CHECK_EXIT(program_run("gen collective --type all-reduce --bytes 1MiB --npus 4 -o ar.etz"), 0);
    size_t size = 0;
    const char *bytes = program_read("ar.etz", &size);
    program_write("cut.etz", bytes, size - 1);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct program_result *result = program_run(cases[i].line);
        CHECK(result->exit_code == 2 || result->exit_code == 1, "%s: %d", cases[i].line, result->exit_code);
        CHECK_ONE_LINE(result);
        CHECK_CONTAINS(result->err, cases[i].says);
    }
}

TEST_MAIN(gen_makes_folders_and_says_what_to_do_next, the_three_nodes_are_those_of_the_tutorial,
          show_stat_and_check_take_several_files, one_bad_file_does_not_hide_the_others,
          statistics_as_json_go_where_json_says, a_recipe_is_a_script_for_the_vendor,
          a_recipe_has_what_was_picked_as_its_defaults, a_recipe_knows_the_models_of_the_script,
          a_trace_is_drawn_in_the_form_its_ending_says, a_finding_gives_exit_code_2,
          an_archive_is_a_prefix_like_any_other, what_is_wrong_with_an_archive_is_said)
