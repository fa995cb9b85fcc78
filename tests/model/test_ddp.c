/* SPDX-License-Identifier: Apache-2.0 */
/* Data-parallel steps: counts of parameters, PyTorch's buckets, and the shape of the traces. */
#include "model/ddp/gradients.h"
#include "tests/check.h"
#include "tests/folder.h"
#include "trace/graph.h"

static uint64_t sum(const struct ddp_list *list)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        sum += list->items[i];
    }
    return sum;
}

/* Published counts, and the buckets that recordings show (spec rocm §1.1, §2.2, §5, §6.3); 0 where none is known. */
static void models_have_their_parameters_and_buckets(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        uint64_t params;
        uint32_t buckets;
        uint64_t first;
    } rows[] = {
        {"qwen05b", 494032768, 37, 17436160}, {"qwen15b", 1543714304, 0, 0}, {"llama1b", 1235814400, 0, 0},
        {"resnet18", 11689512, 0, 0},         {"resnet50", 25557032, 5, 0},  {"resnet50-cifar", 23520842, 5, 0},
        {"cnn-cifar", 17159306, 0, 0},
    };
    size_t known = 0;
    for (const char *const *name = orr_ddp_models(); *name != NULL; name++) {
        known++;
    }
    CHECK_U64(known, COUNT_OF(rows), "a row for each model");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct mem mem = {0};
        struct orr_error err = {0};
        struct ddp_list gradients = {0};
        struct ddp_list buckets = {0};
        CHECK_OK(ddp_gradients(rows[i].model, &mem, &gradients, &err), &err);
        CHECK_U64(sum(&gradients), rows[i].params, "parameters of %s", rows[i].model);
        CHECK_OK(ddp_buckets(&gradients, 4, 1 << 20, 25 << 20, &mem, &buckets, &err), &err);
        CHECK_U64(sum(&buckets), 4 * rows[i].params, "bytes of %s", rows[i].model);
        if (rows[i].buckets > 0) {
            CHECK_U64(buckets.count, rows[i].buckets, "buckets of %s", rows[i].model);
        }
        if (rows[i].first > 0) {
            CHECK_U64(buckets.items[0], rows[i].first, "the first of %s", rows[i].model);
        }
        ddp_list_free(&gradients, &mem);
        ddp_list_free(&buckets, &mem);
        CHECK_U64(mem.used, 0, "all memory has come back");
    }
}

static void a_bucket_is_closed_by_what_fills_it(void **state)
{
    (void)state;
    uint64_t elements[] = {1, 2, 7, 1, 20, 3, 3, 3, 1};
    const struct ddp_list gradients = {.items = elements, .count = COUNT_OF(elements)};
    static const uint64_t want[] = {12, 32, 80, 36, 4};
    struct mem mem = {0};
    struct orr_error err = {0};
    struct ddp_list buckets = {0};
    /* 4 bytes an element: 4+8 reaches 10; 28+4 reaches 30; 80; 12+12+12; 4 is left. */
    CHECK_OK(ddp_buckets(&gradients, 4, 10, 30, &mem, &buckets, &err), &err);
    CHECK_U64(buckets.count, COUNT_OF(want), "buckets");
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        CHECK_U64(buckets.items[i], want[i], "bucket %zu", i);
    }
    ddp_list_free(&buckets, &mem);
    CHECK_OK(ddp_buckets_even(100, 30, &mem, &buckets, &err), &err);
    CHECK_U64(buckets.count, 4, "three full and a rest");
    CHECK_U64(buckets.items[3], 10, "the rest");
    ddp_list_free(&buckets, &mem);
    CHECK_OK(ddp_buckets_even(90, 30, &mem, &buckets, &err), &err);
    CHECK_U64(buckets.count, 3, "no empty one");
    ddp_list_free(&buckets, &mem);
}

/* Every node can run, and nothing that a run needs is missing. */
static void expect_sound(const char *prefix)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s.0.et", prefix);
    struct orr_trace *trace = NULL;
    struct orr_error err = {0};
    uint64_t findings = UINT64_MAX;
    CHECK_OK(orr_trace_open(path, &trace, &err), &err);
    CHECK_OK(orr_trace_check(trace, stdout, &findings, &err), &err);
    CHECK_U64(findings, 0, "findings in %s", path);
    orr_trace_close(trace);
}

static struct trace_set *load(const char *prefix, struct mem *mem, struct notes *notes)
{
    struct orr_error err = {0};
    struct trace_set *set = NULL;
    CHECK_OK(trace_set_load(prefix, UINT32_MAX, true, mem, notes, &set, &err), &err);
    return set;
}

static void nothing_is_sent_before_the_backward_pass(void **state)
{
    (void)state;
    char prefix[96];
    (void)snprintf(prefix, sizeof prefix, "%s/made/step", folder);
    struct orr_ddp_options options = {.model = "resnet50-cifar",
                                      .element_bytes = 4,
                                      .first_bucket_bytes = 1 << 20,
                                      .bucket_bytes = 25 << 20,
                                      .forward_us = 1000,
                                      .backward_us = 2001,
                                      .optimizer_us = 300,
                                      .steps = 2,
                                      .npus = 3,
                                      .prefix = prefix};
    struct orr_ddp_summary summary = {0};
    struct orr_error err = {0};
    CHECK_OK(orr_gen_ddp(&options, &summary, &err), &err);
    CHECK_U64(summary.bytes, 94083368, "bytes of a step");
    CHECK_U64(summary.buckets, 5, "buckets");
    expect_sound(prefix);
    struct mem mem = {0};
    struct notes notes;
    notes_init(&notes, &mem, true);
    struct trace_set *set = load(prefix, &mem, &notes);
    CHECK_U64(set->rank_count, 3, "files");
    CHECK_U64(set->graph_count, 1, "all the same");
    const struct trace_graph *graph = set->graphs[0];
    CHECK_U64(graph->node_count, 2 * (1 + 5 + 5 + 1), "nodes");
    CHECK_U64(graph->nodes[0].type, TRACE_COMP, "the forward pass comes first");
    uint64_t backward_us = 0;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct trace_node *node = &graph->nodes[i];
        bool backward = strncmp(trace_graph_name(graph, i), "backward", 8) == 0;
        backward_us += backward ? node->duration_us : 0;
        bytes += node->type == TRACE_COLL ? node->comm_bytes : 0;
        if (node->type == TRACE_COLL) {
            CHECK_U64(node->parent_count, 1, "a bucket waits for its gradients alone");
            CHECK(strncmp(trace_graph_name(graph, graph->parents[graph->parent_start[i]]), "backward", 8) == 0,
                  "which are of the backward pass");
        }
        if (strcmp(trace_graph_name(graph, i), "optimizer") == 0) {
            CHECK_U64(node->parent_count, 5, "the update waits for every bucket");
        }
    }
    CHECK_U64(backward_us, 2 * 2001, "no microsecond of the backward pass is lost");
    CHECK_U64(bytes, 2 * UINT64_C(94083368), "all bytes of both steps");
    trace_set_free(set);
    notes_free(&notes);
    CHECK_U64(mem.used, 0, "all memory has come back");
}

static void without_compute_there_are_all_reduces_alone(void **state)
{
    (void)state;
    char prefix[96];
    (void)snprintf(prefix, sizeof prefix, "%s/bare", folder);
    struct orr_ddp_options options = {
        .params = 1000, .element_bytes = 2, .bucket_bytes = 600, .steps = 2, .npus = 1, .prefix = prefix};
    struct orr_ddp_summary summary = {0};
    struct orr_error err = {0};
    CHECK_OK(orr_gen_ddp(&options, &summary, &err), &err);
    expect_sound(prefix);
    struct mem mem = {0};
    struct notes notes;
    notes_init(&notes, &mem, true);
    struct trace_set *set = load(prefix, &mem, &notes);
    const struct trace_graph *graph = set->graphs[0];
    CHECK_U64(graph->node_count, 8, "four buckets twice");
    CHECK_U64(graph->nodes[3].comm_bytes, 200, "the rest");
    CHECK_U64(graph->nodes[3].parent_count, 0, "ready at once");
    CHECK_U64(graph->nodes[4].parent_count, 4, "the second step waits for the first");
    trace_set_free(set);
    notes_free(&notes);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    const struct orr_ddp_options fine = {
        .params = 10, .element_bytes = 4, .bucket_bytes = 8, .steps = 1, .npus = 1, .prefix = "never/made"};
    struct orr_ddp_options rows[6];
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        rows[i] = fine;
    }
    rows[0].model = "qwen05b";
    rows[1].params = 0;
    rows[2].npus = 0;
    rows[3].steps = 0;
    rows[4].prefix = "folder/";
    rows[5].params = 0;
    rows[5].model = "qwen5b";
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct orr_ddp_summary summary = {0};
        struct orr_error err = {0};
        CHECK(orr_gen_ddp(&rows[i], &summary, &err) == ORR_EINVAL, "row %zu is refused", i);
        CHECK(err.text[0] != '\0', "with a reason");
        if (i == 5) {
            CHECK(strstr(err.text, "qwen05b") != NULL, "the nearest model is named: %s", err.text);
        }
    }
    struct orr_ddp_options huge = fine;
    huge.params = UINT64_MAX / 2;
    struct orr_ddp_summary summary = {0};
    struct orr_error err = {0};
    CHECK_STATUS(orr_gen_ddp(&huge, &summary, &err), ORR_ERANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_MAP(models_have_their_parameters_and_buckets, a_bucket_is_closed_by_what_fills_it,
                  nothing_is_sent_before_the_backward_pass, without_compute_there_are_all_reduces_alone,
                  what_makes_no_sense_is_refused)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
