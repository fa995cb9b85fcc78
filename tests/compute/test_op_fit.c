/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fit on a thinned set of measurements (H100 bf16 GEMMs, B300 bf16 attention): shapes held out of it must come out
 * within the bars that docs/operators.md states, else the build fails.
 *
 * Usage: test_op_fit TABLE
 */
#include <stdlib.h>

#include "compute/op_data.h"
#include "compute/op_table.h"
#include "tests/check.h"

static const char *table_path;

enum { FOLDS = 5 };

static void read_rows(struct op_rows *rows)
{
    struct orr_error err = {0};
    struct op_table table;
    const struct orr_op_table_options options = {.input = table_path};
    CHECK_STATUS(op_table_open(&options, rows->mem, &table, &err), ORR_OK);
    for (bool more = true;;) {
        struct op_row row;
        struct csv_row csv;
        CHECK_STATUS(op_table_next(&table, &row, &csv, &more, &err), ORR_OK);
        if (!more) {
            break;
        }
        CHECK_STATUS(op_rows_add(rows, &row, &err), ORR_OK);
    }
    op_table_close(&table);
    op_rows_sort(rows);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Fits four fifths of the set and asks for the last fifth. */
static void check_held_out(enum orr_op_kind kind, double median, double p90)
{
    struct mem mem = {.limit = 0};
    struct op_rows all = {.mem = &mem};
    struct op_rows used = {.mem = &mem};
    struct op_rows held = {.mem = &mem};
    struct op_sets sets = {.count = 0};
    struct orr_op_data *data = NULL;
    struct orr_error err = {0};
    read_rows(&all);
    for (uint32_t i = 0; i < all.count; i++) {
        struct op_rows *to = op_fold_of(&all.list[i].op, FOLDS) == 0 ? &held : &used;
        if (all.list[i].op.kind == kind) {
            CHECK_STATUS(op_rows_add(to, &all.list[i], &err), ORR_OK);
        }
    }
    CHECK(held.count > 50, "%u rows are held out", held.count);
    CHECK_STATUS(op_fit_set(used.list, used.count, "thin", NULL, NULL, &sets, &err), ORR_OK);
    CHECK_STATUS(op_data_make(&sets, NULL, &data, &err), ORR_OK);
    double *errors = calloc(held.count, sizeof *errors);
    for (uint32_t i = 0; i < held.count; i++) {
        struct orr_op_prediction p;
        orr_op_predict(data, held.list[i].device, ORR_OP_SERVING, &held.list[i].op, &p);
        errors[i] = fabs(p.us / held.list[i].us - 1);
    }
    qsort(errors, held.count, sizeof *errors, compare);
    double got_median = errors[held.count / 2];
    double got_p90 = errors[held.count * 9 / 10];
    CHECK(got_median < median && got_p90 < p90, "%u held out: median %.2f %%, 90th percentile %.2f %%", held.count,
          100 * got_median, 100 * got_p90);
    free(errors);
    orr_op_data_close(data);
    op_rows_free(&all);
    op_rows_free(&used);
    op_rows_free(&held);
    CHECK(mem.used == 0, "all memory came back");
}

static void gemms_held_out_are_within_the_bars(void **state)
{
    (void)state;
    check_held_out(ORR_OP_GEMM, 0.03, 0.12);
}

static void attentions_held_out_are_within_the_bars(void **state)
{
    (void)state;
    check_held_out(ORR_OP_ATTENTION, 0.04, 0.15);
}

static void the_same_rows_give_the_same_set(void **state)
{
    (void)state;
    struct mem mem = {.limit = 0};
    struct op_rows rows = {.mem = &mem};
    struct op_sets sets = {.count = 0};
    struct orr_error err = {0};
    read_rows(&rows);
    CHECK_STATUS(op_fit_set(rows.list, 200, "thin", NULL, NULL, &sets, &err), ORR_OK);
    struct op_sets again = {.count = 0};
    CHECK_STATUS(op_fit_set(rows.list, 200, "thin", NULL, NULL, &again, &err), ORR_OK);
    const struct op_set *a = sets.list[0];
    const struct op_set *b = again.list[0];
    CHECK(a->cell_count == b->cell_count, "as many cells");
    CHECK(memcmp(a->constants, b->constants, sizeof a->constants) == 0, "the same constants");
    CHECK(memcmp(a->cells, b->cells, a->cell_count * sizeof *a->cells) == 0, "the same cells");
    op_sets_free(&sets);
    op_sets_free(&again);
    op_rows_free(&rows);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemms_held_out_are_within_the_bars),
        cmocka_unit_test(attentions_held_out_are_within_the_bars),
        cmocka_unit_test(the_same_rows_give_the_same_set),
    };
    if (argc != 2) {
        return 2;
    }
    table_path = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
