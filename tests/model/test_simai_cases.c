/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SimAI's analytical report, by hash, for every line of tests/data/simai/analytical.cases, with compat: a machine, and
 * the options that make the workload.
 *
 * Usage: test_simai_cases FOLDER-OF-CASES FOLDER-OF-AICB
 */
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

#include "tests/folder.h"
#include "tests/model/aicb_line.h"

static char cases_path[1024];
static char start[1024]; /* working folder */

/* "-g 128 -nv 360 …", as SimAI has it. */
static void set_machine(char *words, struct orr_simai_analytical *run)
{
    char *rest = NULL;
    for (char *word = strtok_r(words, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char *value = strtok_r(NULL, " ", &rest);
        CHECK(value != NULL, "%s has a value", word);
        const struct {
            const char *word;
            uint32_t *number;
            double *real;
            const char **text;
        } options[] = {
            {"-g", &run->gpus, NULL, NULL},
            {"-g_p_s", &run->gpus_per_server, NULL, NULL},
            {"-n_p_s", &run->nics_per_server, NULL, NULL},
            {"-nv", NULL, &run->nvlink, NULL},
            {"-nic", NULL, &run->nic, NULL},
            {"-dp_o", NULL, &run->dp_overlap, NULL},
            {"-tp_o", NULL, &run->tp_overlap, NULL},
            {"-ep_o", NULL, &run->ep_overlap, NULL},
            {"-pp_o", NULL, &run->pp_overlap, NULL},
            {"-nic_t", NULL, NULL, &run->nic_type},
            {"-g_type", NULL, NULL, &run->gpu_type},
        };
        size_t i = 0;
        while (i < COUNT_OF(options) && strcmp(options[i].word, word) != 0) {
            i++;
        }
        CHECK(i < COUNT_OF(options), "%s is an option", word);
        if (options[i].number != NULL) {
            *options[i].number = (uint32_t)strtoul(value, NULL, 10);
        } else if (options[i].real != NULL) {
            *options[i].real = strtod(value, NULL);
        } else {
            *options[i].text = value;
        }
    }
}

static bool is_right(char *machine, const char *line, const char *want)
{
    struct orr_simai_analytical run;
    struct orr_error err = {0};
    char workload[1200];
    char csv[1200];
    char got[24] = "refused";
    size_t size = 0;
    orr_simai_analytical_init(&run);
    (void)snprintf(workload, sizeof workload, "%s/%s/workload.txt", start, folder);
    (void)snprintf(csv, sizeof csv, "%s/%s/rows.csv", start, folder);
    set_machine(machine, &run);
    run.workload = workload;
    run.csv[0] = csv;
    run.label = "gold-";
    run.compat = true;
    CHECK_OK(aicb_line_write(ORR_AICB_TRAINING, true, line, workload, &err), &err);
    if (orr_simai_analytical(&run, NULL, NULL, &err) == ORR_OK) {
        char *text = aicb_line_read(csv, &size);
        (void)snprintf(got, sizeof got, "%016llx", (unsigned long long)XXH64(text, size, 0));
        free(text);
    }
    bool right = strcmp(got, want) == 0;
    if (!right) {
        print_error("%s is %s, not %s: %s\n", line, got, want, err.text);
    }
    return right;
}

static void every_case_has_the_bytes_that_simai_reports(void **state)
{
    (void)state;
    char line[2048];
    unsigned tried = 0;
    unsigned right = 0;
    FILE *cases = fopen(cases_path, "r");
    CHECK(cases != NULL, "%s is there", cases_path);
    while (fgets(line, sizeof line, cases) != NULL) {
        char want[24];
        int machine = 0;
        line[strcspn(line, "\n")] = '\0';
        char *bar = strchr(line, '|');
        if (line[0] == '#' || bar == NULL || sscanf(line, "%23s %n", want, &machine) != 1) {
            continue;
        }
        *bar = '\0';
        tried++;
        right += is_right(line + machine, bar + 2, want);
    }
    (void)fclose(cases);
    print_message("%u of %u cases equal\n", right, tried);
    CHECK(tried > 200 && right == tried, "%u of %u cases are right", right, tried);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_case_has_the_bytes_that_simai_reports)};
    (void)snprintf(cases_path, sizeof cases_path, "%s/analytical.cases", argc > 1 ? argv[1] : ".");
    if (argc < 3 || getcwd(start, sizeof start) == NULL || make_folder(NULL) != 0 || chdir(argv[2]) != 0) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return chdir(start) != 0 || remove_folder(NULL) != 0 ? 1 : failed;
}
