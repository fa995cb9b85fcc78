/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of AICB's files, by hash, for every line of tests/data/aicb/workloads.cases, with --compat aicb: what AICB
 * itself wrote, or refused.
 *
 * Usage: test_aicb_cases FOLDER
 */
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

#include "tests/model/aicb_maker.h"

static const struct {
    const char *word;
    enum aicb_generator generator;
} kinds[] = {{"training", AICB_TRAINING}, {"inference", AICB_INFERENCE}, {"vidur", AICB_VIDUR}};

static bool is_right(const char *line, const char *kind, const char *want)
{
    struct aicb_made made;
    char got[24] = "refused";
    size_t index = 0;
    while (index < COUNT_OF(kinds) && strcmp(kinds[index].word, kind) != 0) {
        index++;
    }
    CHECK(index < COUNT_OF(kinds), "a generator: %s", kind);
    aicb_make(kinds[index].generator, true, NULL, line, &made);
    if (made.status == ORR_OK) {
        (void)snprintf(got, sizeof got, "%016llx", (unsigned long long)XXH64(made.text, made.size, 0));
    }
    bool right = strcmp(got, want) == 0;
    if (!right) {
        print_error("%s %s is %s, not %s: %s\n", kind, line, got, want, made.err.text);
    }
    aicb_made_free(&made);
    return right;
}

static void every_case_has_the_bytes_that_aicb_writes(void **state)
{
    (void)state;
    char line[2048];
    unsigned tried = 0;
    unsigned right = 0;
    FILE *cases = fopen("workloads.cases", "r");
    CHECK(cases != NULL, "workloads.cases is there");
    while (fgets(line, sizeof line, cases) != NULL) {
        char kind[16];
        char want[24];
        int options = 0;
        line[strcspn(line, "\n")] = '\0';
        if (line[0] != '#' && sscanf(line, "%15s %23s %n", kind, want, &options) == 2) {
            tried++;
            right += is_right(line + options, kind, want);
        }
    }
    (void)fclose(cases);
    print_message("%u of %u cases equal\n", right, tried);
    CHECK(tried > 150 && right == tried, "%u of %u cases are right", right, tried);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {CHECK_MAP(every_case_has_the_bytes_that_aicb_writes)};
    return argc == 2 && chdir(argv[1]) == 0 ? cmocka_run_group_tests(tests, NULL, NULL) : 2;
}
