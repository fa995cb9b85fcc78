/* SPDX-License-Identifier: Apache-2.0 */
/* Files of sets: what is written comes back, and what is damaged is refused in one line. */
#include <stdlib.h>

#include "compute/op_set.h"
#include "tests/check.h"
#include "tests/folder.h"

static struct op_set small_set(void)
{
    struct op_set set = {.kind = ORR_OP_ADD,
                         .device = device_find("h100"),
                         .stack = ORR_OP_KERNEL,
                         .rows = 3,
                         .median = 0.01,
                         .p90 = 0.02,
                         .axis_count = 2,
                         .source = "a test"};
    const double rows[] = {16, 64, 256};
    const double cols[] = {1024, 4096};
    for (uint32_t i = 0; i < 4; i++) {
        set.constants[i] = op_families[OP_FAMILY_STREAM].constants[i].initial;
    }
    memcpy(set.axes[0].levels, rows, sizeof rows);
    memcpy(set.axes[1].levels, cols, sizeof cols);
    set.axes[0].count = 3;
    set.axes[1].count = 2;
    CHECK(op_set_lay(&set), "a small grid");
    return set;
}

static void a_file_comes_back_as_it_was_written(void **state)
{
    (void)state;
    struct orr_error err = {0};
    struct op_sets sets = {.count = 0};
    struct op_sets back = {.count = 0};
    struct op_set head = small_set();
    struct op_set *set = op_sets_add(&sets, &head);
    for (uint32_t i = 0; i < set->cell_count; i++) {
        set->cells[i] = (int16_t)((int)i * 999 - 2500);
    }
    CHECK_STATUS(op_sets_write(&sets, 0, device_count, folder_path("x.ops.zst"), &err), ORR_OK);
    CHECK_STATUS(op_sets_read(&back, folder_path("x.ops.zst"), &err), ORR_OK);
    CHECK(back.count == 1 && back.list[0]->cell_count == 6, "one set of six cells");
    CHECK(memcmp(back.list[0]->cells, set->cells, 6 * sizeof *set->cells) == 0, "with their values");
    CHECK(memcmp(back.list[0]->constants, set->constants, sizeof set->constants) == 0, "and constants");
    CHECK_TEXT(back.list[0]->source, "a test");
    op_sets_free(&sets);
    op_sets_free(&back);
}

static void between_levels_the_field_is_linear_and_beyond_them_it_stays(void **state)
{
    (void)state;
    struct op_sets sets = {.count = 0};
    struct op_set head = small_set();
    struct op_set *set = op_sets_add(&sets, &head);
    for (uint32_t i = 0; i < set->cell_count; i++) {
        set->cells[i] = (int16_t)(2048 * (int)(i / 2)); /* 0, 1, 2 along the first axis */
    }
    set->cells[2] |= 1;
    struct op_place place = op_set_place(set, (double[OP_AXES]){6, 10});
    CHECK_NEAR(place.residual, 1, 1e-12);
    CHECK(place.is_measured && place.is_inside, "64 x 1024 is a measured level");
    place = op_set_place(set, (double[OP_AXES]){7, 11});
    CHECK_NEAR(place.residual, 1.5, 1e-12);
    CHECK(!place.is_measured, "between levels nothing is");
    place = op_set_place(set, (double[OP_AXES]){20, 11});
    CHECK_NEAR(place.residual, 2, 1e-12);
    CHECK(!place.is_inside, "far beyond the last level");
    op_sets_free(&sets);
}

static void damaged_files_are_refused_in_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"", "does not begin with \"orrery-ops 1\""},
        {"orrery-ops 2\n", "does not begin"},
        {"orrery-ops 1\n", "accepted: \"end\""},
        {"orrery-ops 1\nset add bf16 kernel h100\n", "source"},
        {"orrery-ops 1\nset add bf16 kernel h1000\n", "x:2: unknown device \"h1000\""},
        {"orrery-ops 1\nset add bf16 kernel h100\nsource s\nrows 3 median 0.1 p90 0.2\nconstants launch=3 memory=99\n",
         "constant memory is outside of"},
        {"orrery-ops 1\nset zero fp32 kernel h100\nsource s\nrows 3 median 0.1 p90 0.2\nconstants launch=3 memory=0.8 "
         "cache=0.5 cache_share=1\naxis 4 2\n",
         "ascending levels"},
        {"orrery-ops 1\nset zero fp32 kernel h100\nsource s\nrows 3 median 0.1 p90 0.2\nconstants launch=3 memory=0.8 "
         "cache=0.5 cache_share=1\naxis 2 4\nend\nab",
         "ends inside the cells of set 1"},
        {"orrery-ops 1\nend\nabc", "goes on behind its cells"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct op_sets sets = {.count = 0};
        struct orr_error err = {0};
        CHECK_STATUS(op_sets_parse(&sets, "x", cases[i].text, strlen(cases[i].text), &err), ORR_EINVAL);
        CHECK_CONTAINS(err.text, cases[i].said);
        op_sets_free(&sets);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_comes_back_as_it_was_written),
        cmocka_unit_test(between_levels_the_field_is_linear_and_beyond_them_it_stays),
        cmocka_unit_test(damaged_files_are_refused_in_one_line),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
