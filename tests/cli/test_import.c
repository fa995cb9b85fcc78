/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace import` from the shell's side, on a recording of the repository. */
#include "tests/cli/program.h"

#include <stdlib.h>

static const char *import_line(const char *rest)
{
    static char line[4096];
    const char *data = getenv("ORRERY_DATA");
    CHECK(data != NULL, "ORRERY_DATA is set");
    program_enter();
    (void)snprintf(line, sizeof line, "trace import %s/cifar10_sync %s", data, rest);
    return line;
}

static void two_commands_lead_from_a_recording_to_a_simulation(void **state)
{
    (void)state;
    const struct program_result *result = program_run(import_line("-o traces/cifar"));
    CHECK_EXIT(result, 0);
    CHECK_TEXT(result->err, "");
    CHECK_CONTAINS(result->out, "68637224"); /* bytes of all-reduces a step: 17,159,306 parameters of four bytes */
    CHECK_CONTAINS(result->out, "kineto-args");
    CHECK(program_exists("traces/cifar.0.et"), "the trace is there");
    CHECK_EXIT(program_run("trace check traces/cifar.0.et"), 0);
    CHECK_EXIT(program_run(import_line("--step 6 -o traces/one")), 0);
}

static void files_of_a_folder_are_named_after_the_dominant_collective(void **state)
{
    (void)state;
    CHECK_EXIT(program_run(import_line("--out-dir named --et-prefix auto")), 0);
    CHECK(program_exists("named/allreduce.0.et"), "data parallel training is all-reduces");
    CHECK_EXIT(program_run(import_line("--out-dir named --et-prefix et")), 0);
    CHECK(program_exists("named/et.0.et"), "a name of one's own");
}

static void a_step_that_was_not_recorded_is_an_error_and_writes_nothing(void **state)
{
    (void)state;
    const struct program_result *result = program_run(import_line("--step 99 -o none/x"));
    CHECK_EXIT(result, 2);
    CHECK_ONE_LINE(result);
    CHECK_CONTAINS(result->err, "none of the steps asked for was recorded; there are 5 to 6");
    CHECK(!program_exists("none/x.0.et"), "nothing was written");
}

TEST_MAIN(two_commands_lead_from_a_recording_to_a_simulation, files_of_a_folder_are_named_after_the_dominant_collective,
          a_step_that_was_not_recorded_is_an_error_and_writes_nothing)
