/* SPDX-License-Identifier: Apache-2.0 */
/* Files as they go wrong in practice. Whatever is wrong with whichever file: one line that names it, exit code 2,
 * nothing on standard output, nothing written. */
#include "tests/cli/program.h"

#include <sys/stat.h>
#include <unistd.h>

enum role { SYSTEM, NETWORK, MEMORY, GROUPS, TRACE };

/* The file that plays the part; the rest of the command line is sound. */
static const char *const names[] = {"bad.json", "bad.yml", "bad.json", "bad.json", "w/bad.0.et"};
static const char *const lines[] = {
    "run -w w/ar -s bad.json -n network.yml --json result.json",
    "run -w w/ar -s system.json -n bad.yml --json result.json",
    "run -w w/ar -s system.json -n network.yml --memory bad.json --json result.json",
    "run -w w/ar -s system.json -n network.yml --groups bad.json --json result.json",
    "run -w w/bad -s system.json -n network.yml --json result.json",
};

static void prepare(void)
{
    program_enter();
    program_write_machine(2, 4);
    CHECK_EXIT(program_run("gen collective --type all-reduce --bytes 64KiB --npus 2 -o w/ar"), 0);
    CHECK_EXIT(program_run("gen collective --type all-reduce --bytes 64KiB --npus 2 -o w/bad"), 0);
}

static void check_refused(enum role role, const char *how)
{
    const struct program_result *result = program_run(lines[role]);
    CHECK(result->exit_code == 2, "%s, %s: exit code %d: %s", names[role], how, result->exit_code, result->err);
    CHECK_ONE_LINE(result);
    CHECK_CONTAINS(result->err, names[role]);
    CHECK(result->out[0] == '\0', "%s, %s: printed %s", names[role], how, result->out);
    CHECK(!program_exists("result.json"), "%s, %s: a result was written", names[role], how);
}

static void a_file_that_is_not_there_is_named(void **state)
{
    (void)state;
    prepare();
    for (enum role role = SYSTEM; role <= TRACE; role++) {
        (void)unlink(names[role]);
        check_refused(role, "missing");
    }
}

static void a_folder_in_place_of_a_file_is_refused(void **state)
{
    (void)state;
    prepare();
    for (enum role role = SYSTEM; role <= TRACE; role++) {
        (void)unlink(names[role]);
        assert_int_equal(mkdir(names[role], 0700), 0);
        check_refused(role, "a folder");
        assert_int_equal(rmdir(names[role]), 0);
    }
}

static void an_endless_device_is_refused(void **state)
{
    (void)state;
    prepare();
    for (enum role role = SYSTEM; role <= TRACE; role++) {
        (void)unlink(names[role]);
        assert_int_equal(symlink("/dev/zero", names[role]), 0);
        check_refused(role, "/dev/zero");
        assert_int_equal(unlink(names[role]), 0);
    }
}

static const struct {
    enum role role;
    const char *how, *text;
} texts[] = {
    {SYSTEM, "empty", ""},
    {SYSTEM, "truncated", "{\"scheduling-policy\": \"LI"},
    {SYSTEM, "not UTF-8", "{\"scheduling-policy\": \"\xff\xfe\"}"},
    {SYSTEM, "a list", "[1, 2]"},
    {SYSTEM, "wrong type", "{\"preferred-dataset-splits\": [4]}"},
    {SYSTEM, "unknown word", "{\"scheduling-policy\": \"RANDOM\"}"},
    {NETWORK, "empty", ""},
    {NETWORK, "truncated", "topology: [ Ring\n"},
    {NETWORK, "not UTF-8", "topology: [ \xff\xfe ]\n"},
    {NETWORK, "wrong type", "topology: [ Ring ]\nnpus_count: [ two ]\nbandwidth: [ 50 ]\nlatency: [ 500 ]\n"},
    {NETWORK, "lengths differ", "topology: [ Ring ]\nnpus_count: [ 2, 2 ]\nbandwidth: [ 50 ]\nlatency: [ 500 ]\n"},
    {NETWORK, "unknown word", "topology: [ Rnig ]\nnpus_count: [ 2 ]\nbandwidth: [ 50 ]\nlatency: [ 500 ]\n"},
    {MEMORY, "empty", ""},
    {MEMORY, "unknown word", "{\"memory-type\": \"INFINITE\"}"},
    {GROUPS, "truncated", "{\"1\": [0, 1"},
    {GROUPS, "no such rank", "{\"1\": [0, 9]}"},
    {TRACE, "text", "this is no trace at all, and it is longer than a header\n"},
    {TRACE, "not UTF-8", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"},
};

static void bytes_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    prepare();
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        program_write_text(names[texts[i].role], texts[i].text);
        check_refused(texts[i].role, texts[i].how);
    }
}

static void a_trace_cut_anywhere_is_refused_or_sound(void **state)
{
    (void)state;
    prepare();
    size_t size = 0;
    char whole[4096];
    memcpy(whole, program_read("w/ar.0.et", &size), sizeof whole);
    CHECK(size > 20 && size < sizeof whole, "a small trace");
    for (size_t cut = 1; cut < size; cut += 3) {
        program_write("w/bad.0.et", whole, size - cut);
        const struct program_result *result = program_run("run -q -w w/bad -s system.json -n network.yml");
        CHECK(result->exit_code == 2 || result->exit_code == 4, "%zu bytes cut: exit code %d: %s", cut,
              result->exit_code, result->err);
        CHECK_CONTAINS(result->err, "orrery: ");
    }
}

static void a_file_in_the_wrong_place_is_named_for_what_it_is(void **state)
{
    (void)state;
    prepare();
    program_write_text("config.txt", "TOPOLOGY_FILE topology.txt\nCC_MODE 12\n");
    static const struct {
        const char *line, *says;
    } wrong[] = {
        {"run -w w/ar -s network.yml -n network.yml", "network.yml: this is a network file (YAML)"},
        {"run -w w/ar -s system.json -n system.json", "system.json: this is a system file (JSON); --network"},
        {"run -w w/ar -s system.json -n network.yml --backend packet", "--network with --backend packet wants"},
        {"run -w w/ar -s system.json -n config.txt", "config.txt: this is a network configuration (KEY value)"},
        {"run -w w/ar -s system.json -n network.yml --memory system.json", "--memory wants a remote memory file"},
        {"run -w w/ar.0.et -s system.json -n network.yml",
         "w/ar.0.et: this is the trace of one rank; --workload wants the prefix of all: w/ar\n"},
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        const struct program_result *result = program_run(wrong[i].line);
        CHECK(result->exit_code == 2, "%s: exit code %d", wrong[i].line, result->exit_code);
        CHECK_ONE_LINE(result);
        CHECK_CONTAINS(result->err, wrong[i].says);
    }
    CHECK_EXIT(program_run("gen collective --ranks 2 -o alone/ar"), 0);
    CHECK_CONTAINS(program_run("run -w alone -s system.json -n network.yml")->err,
                   "alone: this is a folder; --workload wants the prefix of the traces in it: alone/ar\n");
}

static void more_traces_than_ranks_are_refused_unless_astra_sims_rule_is_asked_for(void **state)
{
    (void)state;
    prepare();
    CHECK_EXIT(program_run("gen collective --ranks 4 -o w/four"), 0);
    const struct program_result *result = program_run("run -w w/four -s system.json -n network.yml");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "there are traces of 4 ranks, and the machine has 2; take a machine of 4 ranks");
    result = program_run("run -w w/four -s system.json -n network.yml --compat astra");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->err, "w/four.2.et exists, but the network has 2 ranks: it is not read");
}

static void groups_that_gen_stg_wrote_are_found_beside_the_traces(void **state)
{
    (void)state;
    program_enter();
    const struct program_result *result =
        program_run("gen stg -o w/x --num_stacks 2 --dp 2 --tp 2 --dmodel 256 --dff 512 --head 8 --batch 4");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "Next: orrery run --workload w/x --machine ring\n");
    CHECK_EXIT(program_run("run -w w/x -m ring:4"), 0);
    program_write_text("w/x.json", "{\"not\": \"groups\"}");
    result = program_run("run -w w/x -m ring:4");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "no groups were given (--groups");
}

TEST_MAIN(a_file_that_is_not_there_is_named, a_folder_in_place_of_a_file_is_refused, an_endless_device_is_refused,
          bytes_that_make_no_sense_are_refused, a_trace_cut_anywhere_is_refused_or_sound,
          a_file_in_the_wrong_place_is_named_for_what_it_is,
          more_traces_than_ranks_are_refused_unless_astra_sims_rule_is_asked_for,
          groups_that_gen_stg_wrote_are_found_beside_the_traces)
