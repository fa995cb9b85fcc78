/* SPDX-License-Identifier: Apache-2.0 */
/* Which measured runs are fitted on: tools/split-runs answers the same for the same names. */
#include "tests/check.h"
#include "tests/folder.h"

#include <stdlib.h>

static const struct {
    const char *source, *model;
    uint32_t gpus;
    bool is_fitted;
} cells[] = {
    {"", "", 0, false},
    {"ultrascale", "nanotron-llama-1.34B", 8, false},
    {"ultrascale", "nanotron-llama-1.34B", 16, true},
    {"ultrascale", "nanotron-llama-80B", 512, false},
    {"llm-foundry", "mpt-7b", 64, false},
    {"llm-foundry", "mpt-7b", 128, true},
    {"vtrain-single", "gpt-3.6B", 8, false},
    {"caf\xc3\xa9", "x", UINT32_MAX, true},
};

static void a_cell_goes_where_the_rule_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cells); i++) {
        bool is_fitted = orr_train_run_is_fitted(cells[i].source, cells[i].model, cells[i].gpus);
        CHECK(is_fitted == cells[i].is_fitted, "%s|%s|%" PRIu32, cells[i].source, cells[i].model, cells[i].gpus);
    }
}

/* So that what a constant was fitted on never counts as a test of it. */
static void the_tool_for_those_who_fit_splits_alike(void **state)
{
    (void)state;
    char command[4200], line[200];
    size_t printed = 0, wanted = 0;
    const char *path = folder_path("cells.csv");
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs("source,model,gpus\n", file) >= 0, "%s", path);
    for (size_t i = 0; i < COUNT_OF(cells); i++) {
        (void)fprintf(file, "%s,%s,%" PRIu32 "\n", cells[i].source, cells[i].model, cells[i].gpus);
    }
    (void)fclose(file);
    (void)snprintf(command, sizeof command, "%s validation %s", getenv("ORRERY_SPLIT"), path);
    FILE *tool = popen(command, "r");
    CHECK(tool != NULL && fgets(line, sizeof line, tool) != NULL, "%s prints nothing", command);
    for (size_t i = 0; i < COUNT_OF(cells); i++) {
        char want[200];
        if (orr_train_run_is_fitted(cells[i].source, cells[i].model, cells[i].gpus)) {
            continue;
        }
        (void)snprintf(want, sizeof want, "%s,%s,%" PRIu32 "\n", cells[i].source, cells[i].model, cells[i].gpus);
        wanted++;
        printed += fgets(line, sizeof line, tool) != NULL && strcmp(line, want) == 0;
    }
    CHECK_U64(printed, wanted, "lines of %s", command);
    CHECK(fgets(line, sizeof line, tool) == NULL && pclose(tool) == 0, "more of them: %s", line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_goes_where_the_rule_says),
        cmocka_unit_test(the_tool_for_those_who_fit_splits_alike),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
