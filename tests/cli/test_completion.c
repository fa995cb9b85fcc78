/* SPDX-License-Identifier: Apache-2.0 */
/* What shells are told is what the program takes. */
#include "tests/cli/program.h"

#include <ctype.h>
#include <stdlib.h>

static void every_option_of_a_run_is_completed_in_every_shell(void **state)
{
    (void)state;
    program_enter();
    static const struct {
        const char *line, *mark;
    } shells[] = {{"completion bash", " --"}, {"completion zsh", "--"}, {"completion fish", " -l "}};
    char *help = strdup(program_run("run --help-all")->out);
    for (size_t i = 0; i < COUNT_OF(shells); i++) {
        const struct program_result *result = program_run(shells[i].line);
        CHECK_EXIT(result, 0);
        size_t count = 0;
        for (const char *at = strstr(help, "\n      --"); at != NULL; at = strstr(at + 1, "\n      --")) {
            char wanted[64];
            size_t length = strcspn(at + 9, "=[ \n");
            if (strncmp(at + 9, "help", 4) != 0) {
                (void)snprintf(wanted, sizeof wanted, "%s%.*s", shells[i].mark, (int)length, at + 9);
                CHECK(strstr(result->out, wanted) != NULL, "%s lacks %s", shells[i].line, wanted);
                count++;
            }
        }
        CHECK(count > 30, "%zu options", count);
    }
    free(help);
}

static void options_that_are_made_when_a_command_runs_are_completed_too(void **state)
{
    (void)state;
    program_enter();
    static const char *const shells[] = {"completion bash", "completion zsh", "completion fish"};
    for (size_t i = 0; i < COUNT_OF(shells); i++) {
        const struct program_result *result = program_run(shells[i]);
        CHECK_CONTAINS(result->out, "tensor_model_parallel_size");
        CHECK_CONTAINS(result->out, "expert_model_parallel_size");
    }
}

/* A text in quotes that holds a quote would end early, and what follows would be run. */
static void quotes_of_a_line_are_even(void **state)
{
    (void)state;
    program_enter();
    const char *text = program_run("completion fish")->out;
    size_t quotes = 0;
    for (size_t line = 1; *text != '\0'; text++) {
        quotes += *text == '\'' ? 1 : 0;
        if (*text == '\n') {
            CHECK(quotes % 2 == 0, "line %zu of the completion for fish", line);
            quotes = 0;
            line++;
        }
    }
}

static void a_shell_that_is_not_known_is_refused(void **state)
{
    (void)state;
    program_enter();
    const struct program_result *result = program_run("completion fihs");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "\"fihs\" is not one of bash, zsh, fish; did you mean \"fish\"?");
}

TEST_MAIN(options_that_are_made_when_a_command_runs_are_completed_too,
          every_option_of_a_run_is_completed_in_every_shell, quotes_of_a_line_are_even,
          a_shell_that_is_not_known_is_refused)
