/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library inside a program that has chosen a locale which writes 1,5: the same numbers are read and written. The
 * locale is the system's, or one made for the test where the system can make it; without either there is nothing to
 * try.
 */
#include "tests/check.h"
#include "tests/folder.h"

#include <locale.h>
#include <stdlib.h>

#include "base/plain.h"
#include "base/units.h"

static bool choose_comma(void)
{
    if (setlocale(LC_ALL, "de_DE.UTF-8") != NULL || setlocale(LC_ALL, "fr_FR.UTF-8") != NULL) {
        return true;
    }
    char command[256];
    (void)snprintf(command, sizeof command, "localedef --no-archive -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/out.txt 2>&1",
                   folder, folder);
    char path[128];
    (void)snprintf(path, sizeof path, "./%s", folder);
    return system(command) == 0 && setenv("LOCPATH", path, 1) == 0 && setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
}

static void write_text(const char *name, const char *text)
{
    struct orr_error err = {0};
    CHECK_OK(orr_file_write(folder_path(name), text, strlen(text), &err), &err);
}

/* The numbers of a run whose files are full of fractions. */
static char *numbers_of_a_run(void)
{
    struct orr_error err = {0};
    const char *prefix = folder_path("ar");
    struct orr_run_options options;
    orr_run_options_init(&options);
    char workload[128];
    char system_file[128];
    char network[128];
    (void)snprintf(workload, sizeof workload, "%s", prefix);
    (void)snprintf(system_file, sizeof system_file, "%s", folder_path("system.json"));
    (void)snprintf(network, sizeof network, "%s", folder_path("network.yml"));
    options.workload = workload;
    options.system = system_file;
    options.network = network;
    struct orr_run *run = NULL;
    CHECK_OK(orr_run_open(&options, &run, &err), &err);
    CHECK_OK(orr_run_execute(run, &err), &err);
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    CHECK_OK(orr_run_write(run, ORR_OUTPUT_JSON, NULL, stream, &err), &err);
    CHECK_OK(orr_run_write(run, ORR_OUTPUT_TEXT, NULL, stream, &err), &err);
    assert_int_equal(fclose(stream), 0);
    orr_run_close(run);
    return text;
}

static void a_run_gives_the_same_text_where_fractions_have_a_comma(void **state)
{
    (void)state;
    struct orr_error err = {0};
    const struct orr_gen_options collective = {.pattern = ORR_PATTERN_COLLECTIVE,
                                               .type = "all-reduce",
                                               .bytes = 1 << 20,
                                               .npus = 4,
                                               .prefix = folder_path("ar")};
    CHECK_OK(orr_gen(&collective, &err), &err);
    write_text("system.json", "{\"preferred-dataset-splits\": 4, \"all-reduce-implementation\": [\"ring\"],\n"
                              " \"local-mem-bw\": 50.5, \"endpoint-delay\": 10}\n");
    write_text("network.yml", "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 50.25 ]\nlatency: [ 500.5 ]\n");
    char *usual = numbers_of_a_run();
    if (!choose_comma()) {
        print_message("no locale with a decimal comma here, and none can be made; not tried\n");
        free(usual);
        return;
    }
    char text[16];
    (void)snprintf(text, sizeof text, "%.1f", 1.5);
    CHECK_TEXT(text, "1,5");
    char *here = numbers_of_a_run();
    CHECK(strcmp(usual, here) == 0, "the texts differ:\n%s\n%s", usual, here);
    uint64_t value = 0;
    CHECK_OK(units_parse("0.5us", UNITS_TIME, "us", &value, &err), &err);
    CHECK_U64(value, 500, "units");
    CHECK(plain_strtod("1.5", NULL) == 1.5, "a fraction is read");
    (void)snprintf(text, sizeof text, "%.1f", 1.5);
    CHECK_TEXT(text, "1,5"); /* the program around keeps its locale */
    (void)setlocale(LC_ALL, "C");
    free(usual);
    free(here);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_run_gives_the_same_text_where_fractions_have_a_comma)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
