/* SPDX-License-Identifier: Apache-2.0 */
/* Which ranks are slow (run/stragglers.h). */
#include "run/stragglers.h"

#include "tests/check.h"

enum { RANKS = 32 };

static struct mem mem;
static struct arena arena;
static struct orr_error err;

static enum orr_status read_stragglers(const char *text, uint64_t seed, const double **factors)
{
    err = (struct orr_error){0};
    arena_init(&arena, &mem);
    return run_stragglers_read(text, RANKS, seed, &arena, factors, &err);
}

static uint32_t count_of(const double *factors, double factor)
{
    uint32_t count = 0;
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        count += factors[rank] == factor;
    }
    return count;
}

static void as_many_ranks_are_slow_as_were_asked_for(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double factor;
        uint32_t count;
    } cases[] = {{"3:1.5x", 1.5, 3},         {"0:2x", 2, 0},
                 {"32:x2", 2, 32},           {"2:2,3:3x", 3, 3},
                 {"ranks=3+17-19:2x", 2, 4}, {"30:3,ranks=0-1:2", 3, 30}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const double *factors = NULL;
        CHECK_OK(read_stragglers(cases[i].text, 9, &factors), &err);
        CHECK_U64(count_of(factors, cases[i].factor), cases[i].count, "%s", cases[i].text);
        arena_free(&arena);
    }
    const double *factors = NULL;
    CHECK_OK(read_stragglers("ranks=3+17-19:2x", 9, &factors), &err);
    CHECK(factors[3] == 2 && factors[18] == 2 && factors[4] == 1, "these, and no others");
    arena_free(&arena);
}

static void one_more_straggler_leaves_the_others(void **state)
{
    (void)state;
    bool slow[RANKS] = {false};
    for (uint32_t count = 1; count <= RANKS; count++) {
        char text[32];
        const double *factors = NULL;
        (void)snprintf(text, sizeof text, "%u:2x", count);
        CHECK_OK(read_stragglers(text, 5, &factors), &err);
        uint32_t more = 0;
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            CHECK(!slow[rank] || factors[rank] == 2, "rank %u stays slow", rank);
            more += !slow[rank] && factors[rank] == 2;
            slow[rank] = factors[rank] == 2;
        }
        CHECK_U64(more, 1, "one more");
        arena_free(&arena);
    }
}

static void what_is_no_list_of_stragglers_is_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {"",
                                        "2",
                                        "2:",
                                        "2:y",
                                        "x:2",
                                        ":2",
                                        "2:0x",
                                        "2:1.3xx",
                                        "2:x1.3x",
                                        "ranks=:2x",
                                        "ranks=3-1:2x",
                                        "33:2x",
                                        "2:nan",
                                        "ranks=32:2",
                                        "2:2x,",
                                        "ranks=3+3:2x",
                                        "ranks=3:2x,31:2x,1:2x",
                                        "2:-1.5x",
                                        "ranks3:2x",
                                        "2:1.3x 3:2x"};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const double *factors = NULL;
        CHECK(read_stragglers(cases[i], 1, &factors) != ORR_OK, "\"%s\" is refused", cases[i]);
        CHECK_CONTAINS(err.text, "parameter 'stragglers': ");
        CHECK(factors == NULL, "an output is written only on success");
        arena_free(&arena);
    }
}

TEST_MAIN(as_many_ranks_are_slow_as_were_asked_for, one_more_straggler_leaves_the_others,
          what_is_no_list_of_stragglers_is_refused)
