/* SPDX-License-Identifier: Apache-2.0 */
/* What scale, rewrite, simplify, cut, merge and diff promise, a fact each. */
#include "tests/folder.h"
#include "tests/trace/edited.h"
#include "trace/cut.h"
#include "trace/diff.h"
#include "trace/merge.h"
#include "trace/rewrite.h"
#include "trace/scale.h"
#include "trace/simplify.h"

static const struct {
    const char *text;
    uint64_t over, under;
} factors[] = {
    {"2", 2, 1},    {"1.5", 3, 2}, {"127/64", 127, 64},   {"0.5/2", 1, 4},
    {"10/4", 5, 2}, {"0", 0, 1},   {"1.984375", 127, 64},
};

static void factors_are_exact_fractions(void **state)
{
    (void)state;
    struct orr_error err = {0};
    for (size_t i = 0; i < COUNT_OF(factors); i++) {
        struct scale_factor factor = {0, 0};
        CHECK_OK(scale_factor_parse("--comm", factors[i].text, &factor, &err), &err);
        CHECK_U64(factor.over, factors[i].over, "%s", factors[i].text);
        CHECK_U64(factor.under, factors[i].under, "%s", factors[i].text);
    }
    const char *const bad[] = {"", "x", "1/0", "-1", "1.2.3", "1e3", "99999999999999999999"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct scale_factor factor = {7, 7};
        CHECK(scale_factor_parse("--comm", bad[i], &factor, &err) != ORR_OK, "\"%s\" is no factor", bad[i]);
        CHECK_U64(factor.over, 7, "an output is written only on success");
    }
}

static void scaled_durations_add_up_to_a_microsecond(void **state)
{
    (void)state;
    struct bytes file;
    struct edited edited;
    struct orr_error err = {0};
    struct pattern all = {0};
    struct scale_counts counts = {0};
    struct scale_options options = {.compute = {1, 3}, .comm = {1, 1}, .match = &all};
    bytes_begin(&file);
    for (uint64_t i = 1; i <= 30; i++) {
        edited_add(&file, &(struct edited_node){.id = i, .type = TRACE_COMP, .duration_us = 1}, NULL);
    }
    edited_begin(&edited, &file);
    CHECK_OK(scale_trace(&edited.reader, &options, edited.stream, &edited.notes, &counts, &edited.mem, &err), &err);
    edited_read(&edited);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < edited.document->node_count; i++) {
        sum += edited.document->nodes[i]->duration_micros;
    }
    CHECK_U64(sum, 10, "30 us thirded");
    edited_end(&edited);
}

/* value kind, what it becomes for 127/64 of 640 */
static const struct {
    uint32_t kind;
    uint64_t written; /* as the wire holds 640 */
} integer_kinds[] = {{7, 640}, {9, 640}, {11, 640}, {13, 640}, {15, 1280}, {17, 1280}};

static void a_scaled_size_keeps_its_kind(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(integer_kinds); i++) {
        struct bytes file;
        struct bytes more = {.size = 0};
        struct edited edited;
        struct orr_error err = {0};
        struct pattern all = {0};
        struct scale_counts counts = {0};
        struct scale_options options = {.compute = {1, 1}, .comm = {127, 64}, .match = &all};
        bytes_integer(&more, "comm_size", integer_kinds[i].kind, integer_kinds[i].written);
        bytes_begin(&file);
        edited_add(&file, &(struct edited_node){.id = 1, .type = TRACE_COLL}, &more);
        edited_begin(&edited, &file);
        CHECK_OK(scale_trace(&edited.reader, &options, edited.stream, &edited.notes, &counts, &edited.mem, &err), &err);
        edited_read(&edited);
        const Chakra__Attribute *size = edited_attribute(edited_node(&edited, 1), "comm_size");
        uint64_t bits = 0;
        bool negative = false;
        CHECK_U64(size->value_case, integer_kinds[i].kind, "kind");
        CHECK(trace_document_integer(size, &bits, &negative), "an integer");
        CHECK_U64(bits, 1270, "kind %u", integer_kinds[i].kind);
        CHECK_U64(counts.inexact, 0, "640 is divisible by 64");
        edited_end(&edited);
    }
}

static void rewriting_changes_what_matches_and_nothing_else(void **state)
{
    (void)state;
    struct bytes file;
    struct bytes more = {.size = 0};
    struct edited edited;
    struct orr_error err = {0};
    struct pattern match;
    struct rewrite_counts counts = {0};
    bytes_integer(&more, "comm_type", 7, 0);
    bytes_integer(&more, "comm_size", 7, 100);
    bytes_integer(&more, "mystery", 9, 3);
    bytes_begin(&file);
    edited_add(&file, &(struct edited_node){.id = 1, .type = TRACE_COLL, .name = "nccl:all_reduce"}, &more);
    edited_add(&file, &(struct edited_node){.id = 2, .type = TRACE_COLL, .name = "other"}, &more);
    CHECK_OK(pattern_open(&match, "--match", "/all_?reduce$/", &err), &err);
    struct rewrite_options options = {
        .match = &match, .from_type = 0, .to_type = 6, .set_bytes = true, .bytes = UINT64_C(1) << 33, .group = "tp"};
    edited_begin(&edited, &file);
    CHECK_OK(rewrite_trace(&edited.reader, &options, edited.stream, &counts, &edited.mem, &err), &err);
    edited_read(&edited);
    const Chakra__Node *one = edited_node(&edited, 1);
    CHECK_U64(edited_attribute(one, "comm_type")->int32_val, 6, "type, in its kind");
    CHECK_U64(edited_attribute(one, "comm_size")->int64_val, UINT64_C(1) << 33, "wider where 32 bits are too few");
    CHECK_TEXT(edited_attribute(one, "pg_name")->string_val, "tp");
    CHECK_U64(edited_attribute(one, "mystery")->int64_val, 3, "kept");
    CHECK_U64(edited_attribute(edited_node(&edited, 2), "comm_size")->int32_val, 100, "the other is as it was");
    CHECK_U64(counts.matched, 1, "matches");
    pattern_close(&match);
    edited_end(&edited);
}

static void simplify(struct edited *edited, const struct bytes *file, enum simplify_level level)
{
    struct orr_error err = {0};
    struct simplify_counts counts = {0};
    edited_begin(edited, file);
    CHECK_OK(simplify_trace(&edited->reader, level, edited->stream, &edited->notes, &counts, &edited->mem, &err), &err);
    edited_read(edited);
    edited_is_sound(edited);
    CHECK_U64(counts.nodes_out, edited->document->node_count, "counted as written");
}

static void small_job(struct bytes *file)
{
    struct bytes comm[2] = {{.size = 0}, {.size = 0}};
    struct bytes step[2] = {{.size = 0}, {.size = 0}};
    for (uint64_t i = 0; i < 2; i++) {
        bytes_integer(&step[i], "step", 9, i + 3);
        bytes_integer(&comm[i], "comm_type", 9, 0);
        bytes_integer(&comm[i], "comm_size", 9, 1000);
        bytes_integer(&comm[i], "step", 9, i + 3);
    }
    bytes_begin(file);
    edited_add(file, &(struct edited_node){.id = 1, .type = TRACE_COMP, .duration_us = 5, .start_us = 100}, &step[0]);
    edited_add(file, &(struct edited_node){.id = 2, .type = TRACE_COMP, .data = {1}, .duration_us = 6, .start_us = 105},
               &step[0]);
    edited_add(file, &(struct edited_node){.id = 3, .type = TRACE_COLL, .data = {2}, .start_us = 111}, &comm[0]);
    edited_add(file, &(struct edited_node){.id = 4, .type = TRACE_COMP, .data = {3}, .duration_us = 7, .start_us = 200},
               &step[1]);
    edited_add(file, &(struct edited_node){.id = 5, .type = TRACE_COLL, .ctrl = {4}, .start_us = 207}, &comm[1]);
    edited_add(file, &(struct edited_node){.id = 6, .type = TRACE_COLL, .ctrl = {5}, .start_us = 208}, &comm[1]);
}

static void each_level_of_simplification_keeps_what_it_says(void **state)
{
    (void)state;
    struct bytes file;
    struct edited edited;
    small_job(&file);
    simplify(&edited, &file, SIMPLIFY_COMM);
    CHECK_U64(edited.document->node_count, 3, "communication");
    CHECK_U64(edited_node(&edited, 5)->data_deps == NULL ? edited_node(&edited, 5)->ctrl_deps[0] : 0, 3, "in order");
    edited_end(&edited);
    simplify(&edited, &file, SIMPLIFY_MERGE);
    CHECK_U64(edited.document->node_count, 5, "one row of two");
    CHECK_U64(edited_node(&edited, 1)->duration_micros, 11, "both times");
    CHECK_U64(edited_attribute(edited_node(&edited, 1), "merged")->int64_val, 2, "says so");
    CHECK_U64(edited_node(&edited, 3)->data_deps[0], 1, "waits for the row");
    edited_end(&edited);
    simplify(&edited, &file, SIMPLIFY_STEP);
    CHECK_U64(edited.document->node_count, 4, "compute and one collective type a step");
    CHECK_U64(edited_node(&edited, 1)->duration_micros, 11, "compute of the first step");
    CHECK_U64(edited_attribute(edited_node(&edited, 4), "comm_size")->int64_val, 2000, "bytes of the second");
    CHECK_U64(edited_node(&edited, 3)->n_data_deps, 2, "a step waits for all of the step before");
    edited_end(&edited);
}

static void a_cut_keeps_the_step_and_starts_at_zero(void **state)
{
    (void)state;
    struct bytes file;
    struct edited edited;
    struct orr_error err = {0};
    struct cut_counts counts = {0};
    struct cut_options options = {4, 4};
    small_job(&file);
    edited_begin(&edited, &file);
    CHECK_OK(cut_trace(&edited.reader, &options, edited.stream, &counts, &edited.mem, &err), &err);
    edited_read(&edited);
    edited_is_sound(&edited);
    CHECK_U64(edited.document->node_count, 3, "nodes of step 4");
    CHECK_U64(edited_node(&edited, 4)->n_data_deps, 0, "what was before is gone");
    CHECK_U64(edited_node(&edited, 4)->start_time_micros, 0, "the first starts at 0");
    CHECK_U64(edited_node(&edited, 5)->start_time_micros, 7, "the others after it");
    edited_end(&edited);
    options = (struct cut_options){9, 9};
    edited_begin(&edited, &file);
    CHECK_STATUS(cut_trace(&edited.reader, &options, edited.stream, &counts, &edited.mem, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "the trace has steps from 3 to 4");
    edited_end(&edited);
}

static void marks_of_a_profiler_are_steps_too(void **state)
{
    (void)state;
    struct bytes file;
    struct edited edited;
    struct orr_error err = {0};
    struct cut_counts counts = {0};
    struct cut_options options = {8, 8};
    bytes_begin(&file);
    edited_add(&file, &(struct edited_node){.id = 1, .type = TRACE_COMP, .start_us = 12, .duration_us = 1}, NULL);
    edited_add(&file, &(struct edited_node){.id = 2, .type = TRACE_COMP, .start_us = 25, .duration_us = 1}, NULL);
    edited_add(&file,
               &(struct edited_node){
                   .id = 3, .type = TRACE_COMP, .name = "ProfilerStep#7", .start_us = 10, .duration_us = 10, .cpu = 1},
               NULL);
    edited_add(&file,
               &(struct edited_node){
                   .id = 4, .type = TRACE_COMP, .name = "ProfilerStep#8", .start_us = 20, .duration_us = 10, .cpu = 1},
               NULL);
    edited_begin(&edited, &file);
    CHECK_OK(cut_trace(&edited.reader, &options, edited.stream, &counts, &edited.mem, &err), &err);
    edited_read(&edited);
    CHECK_U64(edited.document->node_count, 2, "what starts in step 8, and its mark");
    CHECK_U64(edited_node(&edited, 2)->start_time_micros, 5, "rebased");
    edited_end(&edited);
}

static void write_file(const char *path, const struct bytes *file)
{
    FILE *stream = fopen(path, "wb");
    CHECK(stream != NULL && fwrite(file->at, 1, file->size, stream) == file->size && fclose(stream) == 0, "%s", path);
}

static void merged_traces_follow_each_other(void **state)
{
    (void)state;
    struct bytes file;
    struct edited edited;
    struct orr_error err = {0};
    char path[64];
    (void)snprintf(path, sizeof path, "%s/two.et", folder);
    bytes_begin(&file); /* two roots, two ends */
    edited_add(&file, &(struct edited_node){.id = 1, .type = TRACE_COMP, .start_us = 50, .duration_us = 5}, NULL);
    edited_add(&file, &(struct edited_node){.id = 2, .type = TRACE_COMP, .start_us = 50, .duration_us = 6}, NULL);
    write_file(path, &file);
    const char *paths[] = {path, path, path};
    for (int parallel = 0; parallel < 2; parallel++) {
        struct merge_counts counts = {0};
        edited_begin(&edited, &file);
        CHECK_OK(merge_traces(paths, 3, parallel == 1, edited.stream, &edited.notes, &counts, &edited.mem, &err), &err);
        edited_read(&edited);
        edited_is_sound(&edited);
        CHECK_U64(edited.document->node_count, 6, "nodes");
        CHECK_U64(counts.links, parallel == 1 ? 0 : 8, "two by two, twice");
        if (parallel == 0) {
            CHECK_U64(edited_node(&edited, 4)->n_data_deps, 2, "waits for both");
            CHECK_U64(edited_node(&edited, 4)->start_time_micros, 56, "behind the end of the first");
        }
        edited_end(&edited);
    }
}

struct told {
    char text[2048];
};

static void tell(void *context, const struct diff_item *item)
{
    struct told *told = context;
    size_t used = strlen(told->text);
    (void)snprintf(told->text + used, sizeof told->text - used, "%d %" PRIu64 " %s: %s -> %s\n", (int)item->kind,
                   item->id, item->what, item->before, item->after);
}

static void differences_are_told_one_by_one(void **state)
{
    (void)state;
    struct bytes a;
    struct bytes b;
    struct bytes size = {.size = 0};
    struct mem mem = {0};
    struct orr_error err = {0};
    struct told told = {""};
    struct diff_counts counts = {0};
    char paths[2][64];
    bytes_begin(&a);
    edited_add(&a, &(struct edited_node){.id = 1, .type = TRACE_COMP, .name = "x", .duration_us = 100}, NULL);
    edited_add(&a, &(struct edited_node){.id = 2, .type = TRACE_COMP, .name = "y", .data = {1}}, NULL);
    edited_add(&a, &(struct edited_node){.id = 3, .type = TRACE_COMP, .name = "z"}, NULL);
    bytes_integer(&size, "comm_size", 9, 5);
    bytes_begin(&b);
    edited_add(&b, &(struct edited_node){.id = 1, .type = TRACE_COMP, .name = "x", .duration_us = 104}, NULL);
    edited_add(&b, &(struct edited_node){.id = 2, .type = TRACE_COMP, .name = "y", .ctrl = {1}}, &size);
    edited_add(&b, &(struct edited_node){.id = 9, .type = TRACE_COMP, .name = "z"}, NULL);
    for (int i = 0; i < 2; i++) {
        (void)snprintf(paths[i], sizeof paths[i], "%s/diff%d.et", folder, i);
        write_file(paths[i], i == 0 ? &a : &b);
    }
    struct diff_options options = {.by = DIFF_BY_ID, .item = tell, .context = &told};
    CHECK_OK(diff_traces(paths[0], paths[1], &options, &counts, &mem, &err), &err);
    CHECK_TEXT(told.text, "0 3 : COMP -> -\n"
                          "2 1 duration_us: 100 -> 104\n"
                          "2 2 comm_size: - -> int64 5\n"
                          "2 2 data_deps: 1 -> -\n"
                          "2 2 ctrl_deps: - -> 1\n"
                          "1 9 : - -> COMP\n");
    told.text[0] = '\0';
    options.by = DIFF_BY_NAME;
    options.tolerance = 0.05;
    CHECK_OK(diff_traces(paths[0], paths[1], &options, &counts, &mem, &err), &err);
    CHECK_U64(counts.added + counts.removed, 0, "by name they are the same nodes");
    CHECK_U64(counts.durations, 0, "a twenty-fifth is tolerated");
    CHECK_U64(counts.changed, 1, "node y");
    CHECK_U64(mem.used, 0, "all memory is given back");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_are_exact_fractions),
        cmocka_unit_test(scaled_durations_add_up_to_a_microsecond),
        cmocka_unit_test(a_scaled_size_keeps_its_kind),
        cmocka_unit_test(rewriting_changes_what_matches_and_nothing_else),
        cmocka_unit_test(each_level_of_simplification_keeps_what_it_says),
        cmocka_unit_test(a_cut_keeps_the_step_and_starts_at_zero),
        cmocka_unit_test(marks_of_a_profiler_are_steps_too),
        cmocka_unit_test(merged_traces_follow_each_other),
        cmocka_unit_test(differences_are_told_one_by_one),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
