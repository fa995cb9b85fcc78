/* SPDX-License-Identifier: Apache-2.0 */
/* What varies: every combination or row by row, from the command line or a file, and what is refused where. */
#include "lab/sweep/plan.h"
#include "tests/check.h"

static struct orr_error err;

static struct orr_sweep_plan *open_plan(const char *file, bool zip, const char *first, const char *second)
{
    const char *vary[] = {first, second};
    const struct orr_sweep_plan_options options = {
        .file = file, .vary = vary, .vary_count = (size_t)(first != NULL) + (size_t)(second != NULL), .zip = zip};
    struct orr_sweep_plan *plan = NULL;
    CHECK_OK(orr_sweep_plan_open(&options, &plan, &err), &err);
    return plan;
}

/* "a=1 b=2" for each point, a line each. */
static const char *points_of(const struct orr_sweep_plan *plan)
{
    static char text[4096];
    size_t used = 0;
    for (uint64_t point = 0; point < orr_sweep_plan_point_count(plan); point++) {
        for (size_t key = 0; key < orr_sweep_plan_key_count(plan); key++) {
            struct orr_sweep_key said;
            orr_sweep_plan_key(plan, key, &said);
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s", key == 0 ? "" : " ", said.name,
                                     orr_sweep_plan_value(plan, point, key));
        }
        used += (size_t)snprintf(text + used, sizeof text - used, "\n");
    }
    return text;
}

static const struct {
    const char *first, *second;
    bool zip;
    const char *points;
} texts[] = {
    {"a=1,2", "b=x,y", false, "a=1 b=x\na=1 b=y\na=2 b=x\na=2 b=y\n"},
    {"a=1,2", "b=x,y", true, "a=1 b=x\na=2 b=y\n"},
    {"a=1", NULL, false, "a=1\n"},
    {"n=2..4", NULL, false, "n=2\nn=3\nn=4\n"},
    {"n=0..100..50,7", NULL, false, "n=0\nn=50\nn=100\nn=7\n"},
    {"bw=[50,25],100", NULL, false, "bw=[50,25]\nbw=100\n"},
    {"a=x=y", NULL, false, "a=x=y\n"},
    {"t=1..x,..2,1...3", NULL, false, "t=1..x\nt=..2\nt=1...3\n"},
};

static void values_are_combined_or_taken_row_by_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct orr_sweep_plan *plan = open_plan(NULL, texts[i].zip, texts[i].first, texts[i].second);
        CHECK_TEXT(points_of(plan), texts[i].points);
        orr_sweep_plan_close(plan);
    }
}

static const struct {
    const char *first, *second;
    bool zip;
    const char *reason;
} refused[] = {
    {"a", NULL, false, "parameter 'vary':1: \"a\" is not KEY=VALUE"},
    {"=1", NULL, false, "parameter 'vary':1: \"=1\" is not KEY=VALUE"},
    {"a=1,,2", NULL, false, "parameter 'vary':1: a has an empty value"},
    {"a=1", "a=2", false, "parameter 'vary':2: \"a\" varies already, by parameter 'vary':1"},
    {"a=1,2", "b=1,2,3", true, "parameter 'vary':2: zip: b has 3 values and a has 2"},
    {"a=9..1", NULL, false, "\"9..1\" has no values"},
    {"a=1..4..0", NULL, false, "\"1..4..0\" has no values"},
    {"a=0..999999", NULL, false, "more than 100000"},
    {"b=1", "a=2,[50,25", false, "parameter 'vary':2: a: \"[50,25\" lacks a closing bracket"},
    {"a=1..100000,7", NULL, false, "parameter 'vary':1: a has more than 100000 values"},
    {"a=1..1000", "b=1..1000", false, "parameter 'vary':2: with the values of b the sweep has more than 100000 points"},
    {NULL, NULL, false, "nothing varies"},
};

static void what_cannot_be_meant_is_refused_where_it_was_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        const char *vary[] = {refused[i].first, refused[i].second};
        const struct orr_sweep_plan_options options = {.vary = vary,
                                                       .vary_count = (size_t)(refused[i].first != NULL) +
                                                                     (size_t)(refused[i].second != NULL),
                                                       .zip = refused[i].zip};
        struct orr_sweep_plan *plan = NULL;
        CHECK(orr_sweep_plan_open(&options, &plan, &err) != ORR_OK && plan == NULL, "%s", refused[i].reason);
        CHECK_CONTAINS(err.text, refused[i].reason);
    }
}

/* A file's text read as one; NULL when it is refused. */
static const char *read_text(const char *text, struct orr_sweep_plan *plan)
{
    sweep_plan_init(plan);
    enum orr_status status = sweep_file_read(plan, "sweep.yml", text, strlen(text), &err);
    if (status == ORR_OK) {
        status = sweep_plan_finish(plan, &err);
    }
    return status == ORR_OK ? points_of(plan) : NULL;
}

static const struct {
    const char *text, *points;
} files[] = {
    {"vary: {a: [1, 2], b: [x, y]}", "a=1 b=x\na=1 b=y\na=2 b=x\na=2 b=y\n"},
    {"vary: {a: 1..3}", "a=1\na=2\na=3\n"},
    {"vary: {a: [0.50, [50, 25], true, 1.0e3]}", "a=0.50\na=[50, 25]\na=true\na=1.0e3\n"},
    {"zip: true\nvary: {a: [1, 2], b: [x, y]}", "a=1 b=x\na=2 b=y\n"},
    {"list:\n  - {a: 1, b: x}\n  - {b: y, a: 2}\n", "a=1 b=x\na=2 b=y\n"},
    {"list: [{a: 1, b: x}, {a: 2, b: y}]\nvary: {c: [5, 6]}", "a=1 b=x c=5\na=1 b=x c=6\na=2 b=y c=5\na=2 b=y c=6\n"},
};

static void a_file_says_the_same_as_the_command_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        struct orr_sweep_plan plan;
        const char *points = read_text(files[i].text, &plan);
        CHECK(points != NULL, "%s: %s", files[i].text, err.text);
        CHECK_TEXT(points, files[i].points);
        sweep_plan_free(&plan);
    }
}

static void a_file_has_the_options_that_all_points_share(void **state)
{
    (void)state;
    struct orr_sweep_plan plan;
    CHECK(read_text("name: my sweep\ncommand: lab run\nvary: {a: 1}\n"
                    "options:\n  workload: traces/job\n  strict: true\n  quiet: false\n  seed: 7\n  grow:\n"
                    "  link-down: [0-1@2us, 1-2@3us]\n",
                    &plan) != NULL,
          "%s", err.text);
    static const char *const words[] = {"--workload=traces/job", "--strict",           "--seed=7", "--grow",
                                        "--link-down=0-1@2us",   "--link-down=1-2@3us"};
    const char *const *found = NULL;
    CHECK_U64(orr_sweep_plan_words(&plan, &found), COUNT_OF(words), "words");
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        CHECK_TEXT(found[i], words[i]);
    }
    CHECK_TEXT(orr_sweep_plan_name(&plan), "my sweep");
    CHECK(orr_sweep_plan_is_lab(&plan), "points of lab run");
    sweep_plan_free(&plan);
}

static const struct {
    const char *text, *reason;
} bad_files[] = {
    {"varry: {a: 1}", "sweep.yml:1: \"varry\" is no part of a sweep file"},
    {"varry: {a: 1}", "did you mean \"vary\"?"},
    {"name: x\nvary: [a, b]", "sweep.yml:2: vary is a list of 2; a map of keys"},
    {"vary: {a: {b: 1}}", "sweep.yml:1: a is a map of 1; a value, or a list of values is expected"},
    {"vary: {a: []}", "sweep.yml:1: a has no values"},
    {"vary: {a: [1, [2, [3]]]}", "a value, or a list of values"},
    {"vary: {a: 1}\nvary: {b: 1}", "sweep.yml:2: \"vary\" is there twice"},
    {"list: [{a: 1}, {b: 1}]", "sweep.yml:1: \"b\" is not in the first entry of the list"},
    {"list: [{a: 1, b: 2},\n {a: 1}]", "sweep.yml:2: the entry lacks \"b\", which the first has"},
    {"list: []", "a list of points"},
    {"list: [1, 2]", "a map of keys to values"},
    {"vary: {a: 1}\nlist: [{a: 2}]", "sweep.yml:2: \"a\" varies already, by sweep.yml:1"},
    {"command: trace\nvary: {a: 1}", "sweep.yml:1: command is \"trace\"; \"run\" or \"lab run\" is expected"},
    {"zip: 3\nvary: {a: 1}", "true or false"},
    {"options: {a: {b: 1}}\nvary: {a: 1}", "a value is expected"},
    {"name: x", "nothing varies"},
    {"- a", "a map with the parts of a sweep"},
    {"vary: {a: &x 1}", "sweep.yml:1:"},
    {"name: x\nvary:\n  a: [\"b\\u0007\"]", "sweep.yml:3: a: the value \"b?\" has control characters in it"},
    {"list:\n  - {a: 1}\n  - {a: \"\\u0007\"}", "sweep.yml:3: a: the value \"?\" has control characters in it"},
    {"name: \"b\\u0007\"\nvary: {a: 1}", "sweep.yml:1: name is \"b?\"; a name is expected"},
    {"options: {tag: \"b\\u0007\"}\nvary: {a: 1}", "sweep.yml:1: tag is"},
    {"list: [{a: 1}, {a: [1, [2]]}]", "sweep.yml:1: a is a list of 2; one value is expected"},
};

static void a_wrong_file_is_refused_with_the_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad_files); i++) {
        struct orr_sweep_plan plan;
        CHECK(read_text(bad_files[i].text, &plan) == NULL, "%s", bad_files[i].text);
        CHECK_CONTAINS(err.text, bad_files[i].reason);
        sweep_plan_free(&plan);
    }
}

/* A value of ten thousand entries is written once, not once an entry. */
static void a_long_list_as_a_value_takes_memory_like_its_text(void **state)
{
    (void)state;
    enum { ENTRIES = 10000 };
    static char text[32 + 3 * ENTRIES];
    size_t used = (size_t)snprintf(text, sizeof text, "vary: {a: [[");
    for (int i = 0; i < ENTRIES; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, i == 0 ? "1" : ", 1");
    }
    (void)snprintf(text + used, sizeof text - used, "]]}");
    struct orr_sweep_plan plan;
    sweep_plan_init(&plan);
    CHECK_OK(sweep_file_read(&plan, "sweep.yml", text, strlen(text), &err), &err);
    CHECK_OK(sweep_plan_finish(&plan, &err), &err);
    CHECK_U64(strlen(orr_sweep_plan_value(&plan, 0, 0)), 3 * ENTRIES, "as long as it is written");
    CHECK(plan.mem.peak < 16 << 20, "%llu bytes", (unsigned long long)plan.mem.peak);
    sweep_plan_free(&plan);
}

static void a_file_that_is_not_there_is_said_so(void **state)
{
    (void)state;
    const struct orr_sweep_plan_options options = {.file = "no-such.yml"};
    struct orr_sweep_plan *plan = NULL;
    CHECK_STATUS(orr_sweep_plan_open(&options, &plan, &err), ORR_EIO);
    CHECK_CONTAINS(err.text, "no-such.yml");
}

TEST_MAIN(values_are_combined_or_taken_row_by_row, what_cannot_be_meant_is_refused_where_it_was_said,
          a_file_says_the_same_as_the_command_line, a_file_has_the_options_that_all_points_share,
          a_wrong_file_is_refused_with_the_line, a_long_list_as_a_value_takes_memory_like_its_text,
          a_file_that_is_not_there_is_said_so)
