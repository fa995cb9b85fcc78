/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of AICB's physical workloads, by hash, for every line of tests/data/aicb/physical.cases, with --compat
 * aicb.
 *
 * Usage: test_physical_cases FOLDER
 */
#include <xxhash.h>

#include "tests/folder.h"
#include "tests/model/aicb_line.h"

static char cases_path[1024];

static bool is_right(const char *line, const char *want)
{
    struct orr_error err = {0};
    char path[64];
    char got[24] = "refused";
    size_t size = 0;
    (void)snprintf(path, sizeof path, "%s/made.csv", folder);
    if (aicb_line_write(ORR_AICB_PHYSICAL, true, line, path, &err) == ORR_OK) {
        char *text = aicb_line_read(path, &size);
        (void)snprintf(got, sizeof got, "%016llx", (unsigned long long)XXH64(text, size, 0));
        free(text);
    }
    bool right = strcmp(got, want) == 0;
    if (!right) {
        print_error("%s is %s, not %s: %s\n", line, got, want, err.text);
    }
    return right;
}

static void every_case_has_the_bytes_that_aicb_writes(void **state)
{
    (void)state;
    char line[2048];
    unsigned tried = 0;
    unsigned right = 0;
    FILE *cases = fopen(cases_path, "r");
    CHECK(cases != NULL, "%s is there", cases_path);
    while (fgets(line, sizeof line, cases) != NULL) {
        char want[24];
        int options = 0;
        line[strcspn(line, "\n")] = '\0';
        if (line[0] != '#' && sscanf(line, "%23s %n", want, &options) == 1) {
            tried++;
            right += is_right(line + options, want);
        }
    }
    (void)fclose(cases);
    print_message("%u of %u cases equal\n", right, tried);
    CHECK(tried > 40 && right == tried, "%u of %u cases are right", right, tried);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_case_has_the_bytes_that_aicb_writes)};
    (void)snprintf(cases_path, sizeof cases_path, "%s/physical.cases", argc > 1 ? argv[1] : ".");
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
