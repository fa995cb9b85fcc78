/* SPDX-License-Identifier: Apache-2.0 */
/* What composing promises: gradients cut into buckets that add up, collectives in their groups, buckets beside the
 * backward pass and never in a circle, whatever the trace looks like. */
#include "tests/prng.h"
#include "tests/trace/edited.h"
#include "trace/compose.h"

#define MIB UINT64_C(1048576)

/* ---- sizes ---- */

static const struct {
    uint64_t bytes, element;
    struct compose_cut cut;
    uint64_t count, first, last;
} cuts[] = {
    /* ResNet-50 for small pictures in fp32, and half of it; Qwen2.5-0.5B in bf16 over 8 ranks */
    {94083368, 4, {.bucket_bytes = 25 * MIB}, 4, 25 * MIB, 94083368 - 75 * MIB},
    {47041684, 4, {.bucket_bytes = 25 * MIB}, 2, 25 * MIB, 47041684 - 25 * MIB},
    {123508192, 2, {.bucket_bytes = 25 * MIB}, 5, 25 * MIB, 123508192 - 100 * MIB},
    {50 * MIB, 4, {.bucket_bytes = 25 * MIB}, 2, 25 * MIB, 25 * MIB},
    {94083368, 4, {.bucket_bytes = 25 * MIB, .first_bytes = MIB}, 5, MIB, 94083368 - MIB - 75 * MIB},
    {100, 4, {.bucket_bytes = 25 * MIB}, 1, 100, 100},
    {100, 4, {.bucket_bytes = 25 * MIB, .first_bytes = MIB}, 1, 100, 100},
    {100, 4, {.bucket_bytes = 42}, 3, 40, 20}, /* a size in the middle of an element is rounded down */
    {100, 4, {.count = 3}, 3, 32, 36},
    {12, 4, {.count = 3}, 3, 4, 4},
    {7, 1, {.count = 1}, 1, 7, 7},
};

static void gradients_are_cut_into_buckets_that_add_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cuts); i++) {
        struct compose_buckets buckets;
        struct orr_error err = {0};
        CHECK_OK(compose_buckets_cut(cuts[i].bytes, (uint32_t)cuts[i].element, &cuts[i].cut, &buckets, &err), &err);
        CHECK_U64(buckets.count, cuts[i].count, "cut %zu", i);
        CHECK_U64(compose_buckets_before(&buckets, 1), cuts[i].first, "the first of cut %zu", i);
        CHECK_U64(compose_buckets_before(&buckets, buckets.count), cuts[i].bytes, "all of cut %zu", i);
        CHECK_U64(cuts[i].bytes - compose_buckets_before(&buckets, buckets.count - 1), cuts[i].last,
                  "the last of cut %zu", i);
        for (uint32_t b = 0; b < buckets.count; b++) {
            uint64_t size = compose_buckets_before(&buckets, b + 1) - compose_buckets_before(&buckets, b);
            CHECK(size > 0 && size % cuts[i].element == 0, "bucket %u of cut %zu", b, i);
        }
    }
}

static void what_cannot_be_cut_is_refused(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        uint32_t element;
        struct compose_cut cut;
    } bad[] = {
        {0, 4, {.bucket_bytes = 100}},
        {100, 4, {.bucket_bytes = 3}},
        {100, 4, {.bucket_bytes = 40, .first_bytes = 3}},
        {100, 4, {.count = 26}},
        {UINT64_C(1) << 40, 4, {.bucket_bytes = 4}},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct compose_buckets buckets = {.count = 7};
        struct orr_error err = {0};
        CHECK_STATUS(compose_buckets_cut(bad[i].bytes, bad[i].element, &bad[i].cut, &buckets, &err), ORR_ERANGE);
        CHECK_U64(buckets.count, 7, "an output is written only on success");
    }
}

static void shards_differ_by_one_element_and_make_the_whole_model(void **state)
{
    (void)state;
    static const uint64_t models[] = {17159306, 23520842, 494032768, 1543714304, 7, UINT64_MAX / 8};
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        for (uint32_t tp = 1; tp <= 17; tp++) {
            uint64_t sum = 0;
            for (uint32_t place = 0; place < tp; place++) {
                uint64_t shard = compose_shard(models[i], tp, place);
                CHECK(shard == models[i] / tp || shard == models[i] / tp + 1, "%" PRIu64 " over %u", models[i], tp);
                CHECK(models[i] % tp != 0 || shard == models[i] / tp, "params / tp where that is whole");
                sum += shard;
            }
            CHECK_U64(sum, models[i], "over %u", tp);
        }
    }
}

/* ---- traces ---- */

static struct compose_options options_of(uint64_t bytes, uint32_t buckets)
{
    struct compose_options options = {
        .shard = {1, 1}, .tp_group = 1, .dp_group = 2, .same_ranks = true, .overlap = true};
    struct orr_error err = {0};
    CHECK_OK(compose_buckets_cut(bytes, 4, &(struct compose_cut){.count = buckets}, &options.buckets, &err), &err);
    return options;
}

static void compose(struct edited *edited, const struct bytes *file, const struct compose_options *options,
                    struct compose_counts *counts)
{
    struct orr_error err = {0};
    edited_begin(edited, file);
    CHECK_OK(compose_trace(&edited->reader, options, edited->stream, &edited->notes, counts, &edited->mem, &err), &err);
    edited_read(edited);
    edited_is_sound(edited);
    CHECK_U64(edited->document->node_count, counts->nodes_out, "counted as written");
}

static bool depends(const Chakra__Node *node, uint64_t on)
{
    for (size_t i = 0; i < node->n_data_deps; i++) {
        if (node->data_deps[i] == on) {
            return true;
        }
    }
    return false;
}

static uint64_t integer_of(const Chakra__Node *node, const char *name)
{
    uint64_t bits = 0;
    bool negative = false;
    const Chakra__Attribute *attr = edited_attribute(node, name);
    CHECK(attr != NULL && trace_document_integer(attr, &bits, &negative), "%s of node %" PRIu64, name, node->id);
    return bits;
}

static void text_attribute(struct bytes *node, const char *name, const char *text)
{
    struct bytes value = {.size = 0};
    bytes_text(&value, 29, text);
    bytes_attribute(node, name, &value);
}

static void collective(struct bytes *more, uint64_t type, uint64_t bytes, const char *group)
{
    more->size = 0;
    bytes_integer(more, "comm_type", 9, type);
    bytes_integer(more, "comm_size", 13, bytes);
    if (group != NULL) {
        text_attribute(more, "pg_name", group);
    }
}

/* Forward 1, its all-reduce 2, backward 3 to 6 of 10 us each, the optimizer 7. */
static void add_step(struct bytes *file, uint64_t first, uint64_t after, const struct bytes *more)
{
    struct bytes comm = {.size = 0};
    static const char *const names[] = {"layer_bwd_3", "layer_bwd_2", "layer_bwd_1", "layer_bwd_0"};
    collective(&comm, 0, 4096, "7");
    if (more != NULL) {
        bytes_add(&comm, more->at, more->size);
    }
    edited_add(
        file,
        &(struct edited_node){.id = first, .type = TRACE_COMP, .name = "forward", .data = {after}, .duration_us = 20},
        more);
    edited_add(file, &(struct edited_node){.id = first + 1, .type = TRACE_COLL, .name = "tp", .data = {first}}, &comm);
    for (uint64_t i = 0; i < 4; i++) {
        edited_add(
            file,
            &(struct edited_node){
                .id = first + 2 + i, .type = TRACE_COMP, .name = names[i], .data = {first + 1 + i}, .duration_us = 10},
            more);
    }
    edited_add(file,
               &(struct edited_node){
                   .id = first + 6, .type = TRACE_COMP, .name = "optimizer", .data = {first + 5}, .duration_us = 5},
               more);
}

static void buckets_start_as_the_backward_pass_goes_on(void **state)
{
    (void)state;
    struct bytes file;
    struct edited edited;
    struct compose_counts counts;
    struct compose_options options = options_of(1600, 4);
    bytes_begin(&file);
    add_step(&file, 1, 0, NULL);
    compose(&edited, &file, &options, &counts);
    CHECK_U64(counts.buckets, 4, "buckets");
    CHECK_U64(counts.overlapped, 1, "backward told apart");
    for (uint64_t i = 0; i < 4; i++) {
        const Chakra__Node *bucket = edited_node(&edited, 8 + i);
        CHECK(depends(bucket, 3 + i), "a quarter of the gradients after a quarter of the pass: bucket %" PRIu64, i);
        CHECK(i == 0 || depends(bucket, 7 + i), "after the bucket before");
        CHECK_U64(bucket->n_data_deps, i == 0 ? 1 : 2, "and after nothing else");
        CHECK_U64(integer_of(bucket, "comm_size"), 400, "bytes");
        CHECK_U64(integer_of(bucket, "comm_type"), 0, "an all-reduce");
        CHECK_TEXT(edited_attribute(bucket, "pg_name")->string_val, "2");
    }
    CHECK(depends(edited_node(&edited, 7), 11), "the optimizer waits for the last bucket");
    CHECK_U64(counts.gates, 1, "and nobody else");
    CHECK_TEXT(edited_attribute(edited_node(&edited, 2), "pg_name")->string_val, "1");
    CHECK_U64(integer_of(edited_node(&edited, 2), "comm_size"), 4096, "tensor-parallel sizes stay");
    CHECK_U64(edited.notes.count, 0, "nothing to warn of");
    edited_end(&edited);
}

static void every_step_reduces_its_gradients_before_the_next(void **state)
{
    (void)state;
    struct bytes file;
    struct bytes steps[2] = {{.size = 0}, {.size = 0}};
    struct edited edited;
    struct compose_counts counts;
    struct compose_options options = options_of(800, 2);
    bytes_integer(&steps[0], "step", 9, 3);
    bytes_integer(&steps[1], "step", 9, 4);
    bytes_begin(&file);
    add_step(&file, 1, 0, &steps[0]);
    add_step(&file, 8, 6, &steps[1]); /* beside the optimizer of the step before, as on another stream */
    compose(&edited, &file, &options, &counts);
    CHECK_U64(counts.steps, 2, "steps");
    CHECK_U64(edited.document->node_count, 18, "two buckets a step");
    CHECK_U64(integer_of(edited_node(&edited, 15), "step"), 3, "of the first step");
    CHECK_U64(integer_of(edited_node(&edited, 18), "step"), 4, "of the second");
    CHECK(depends(edited_node(&edited, 7), 16), "the first optimizer waits for the first step's");
    CHECK(depends(edited_node(&edited, 8), 16), "so does the second step's forward");
    CHECK(depends(edited_node(&edited, 14), 18), "the second optimizer for the second's");
    CHECK_U64(counts.gates, 3, "and nobody else");
    edited_end(&edited);
}

static void without_names_buckets_come_after_the_last_compute(void **state)
{
    (void)state;
    struct bytes file;
    struct edited edited;
    struct compose_counts counts;
    struct compose_options options = options_of(800, 2);
    struct bytes stream = {.size = 0};
    bytes_integer(&stream, "stream", 9, 20);
    bytes_begin(&file);
    edited_add(&file, &(struct edited_node){.id = 1, .type = TRACE_COMP, .name = "a", .duration_us = 5}, NULL);
    edited_add(&file, &(struct edited_node){.id = 2, .type = TRACE_COMP, .name = "b", .duration_us = 5}, &stream);
    edited_add(&file, &(struct edited_node){.id = 3, .type = TRACE_COMP, .name = "c", .data = {1}, .duration_us = 5},
               NULL);
    edited_add(&file, &(struct edited_node){.id = 4, .type = TRACE_COMP, .name = "host", .cpu = 1, .duration_us = 5},
               NULL);
    compose(&edited, &file, &options, &counts);
    CHECK_U64(counts.overlapped, 0, "nothing told apart");
    CHECK(depends(edited_node(&edited, 5), 3) && depends(edited_node(&edited, 5), 2), "the last of both streams");
    CHECK_U64(edited_node(&edited, 5)->n_data_deps, 2, "not the host");
    CHECK_U64(edited_node(&edited, 6)->n_data_deps, 1, "then one after the other");
    CHECK_U64(edited.notes.count, 1, "and it is said");
    CHECK_CONTAINS(edited.notes.lines[0], "tells no backward work");
    edited_end(&edited);
}

/* On one stream and in the file's order, but nothing makes the simulator keep it. */
static void a_bucket_waits_for_all_its_work_and_not_for_the_last_of_a_stream(void **state)
{
    (void)state;
    struct bytes file;
    struct edited edited;
    struct compose_counts counts;
    struct compose_options options = options_of(800, 1);
    bytes_begin(&file);
    for (uint64_t id = 1; id <= 40; id++) {
        struct bytes stream = {.size = 0};
        bytes_integer(&stream, "stream", 9, id % 7);
        edited_add(&file, &(struct edited_node){.id = id, .type = TRACE_COMP, .name = "a_bwd", .duration_us = 5},
                   &stream);
    }
    edited_add(&file, &(struct edited_node){.id = 41, .type = TRACE_COMP, .name = "host", .cpu = 1, .data = {39}},
               NULL);
    edited_add(&file,
               &(struct edited_node){.id = 42, .type = TRACE_COMP, .name = "b_bwd", .data = {40, 41}, .duration_us = 5},
               NULL);
    compose(&edited, &file, &options, &counts);
    const Chakra__Node *bucket = edited_node(&edited, 43);
    CHECK_U64(bucket->n_data_deps, 39, "38 and the one that waits for the other two");
    CHECK(depends(bucket, 1) && depends(bucket, 38) && depends(bucket, 42), "all of them");
    CHECK(!depends(bucket, 39) && !depends(bucket, 40), "also through the host");
    edited_end(&edited);
}

static void a_kernel_is_backward_work_by_the_op_that_launched_it(void **state)
{
    (void)state;
    struct bytes file;
    struct bytes inside = {.size = 0};
    struct bytes launched = {.size = 0};
    struct edited edited;
    struct compose_counts counts;
    struct compose_options options = options_of(400, 1);
    bytes_integer(&inside, "parent", 9, 1);
    bytes_integer(&launched, "parent", 9, 2);
    bytes_begin(&file);
    edited_add(&file,
               &(struct edited_node){
                   .id = 1, .type = TRACE_COMP, .name = "autograd::engine::evaluate_function: MmBackward0", .cpu = 1},
               NULL);
    edited_add(&file, &(struct edited_node){.id = 2, .type = TRACE_COMP, .name = "aten::mm", .cpu = 1, .data = {1}},
               &inside);
    edited_add(&file, &(struct edited_node){.id = 3, .type = TRACE_COMP, .name = "gemm", .data = {2}, .duration_us = 3},
               &launched);
    edited_add(&file, &(struct edited_node){.id = 4, .type = TRACE_COMP, .name = "gemm", .data = {3}, .duration_us = 3},
               NULL);
    compose(&edited, &file, &options, &counts);
    CHECK(depends(edited_node(&edited, 5), 3), "the bucket waits for the kernel");
    CHECK(depends(edited_node(&edited, 4), 5), "the one after it waits for the bucket");
    edited_end(&edited);
}

static void another_degree_scales_device_work_and_shares(void **state)
{
    (void)state;
    struct bytes file;
    struct bytes more = {.size = 0};
    struct edited edited;
    struct compose_counts counts;
    struct compose_options options = options_of(400, 1);
    options.shard = (struct scale_factor){2, 8};
    bytes_begin(&file);
    bytes_integer(&more, "num_ops", 9, 4000);
    bytes_integer(&more, "compute_cycles", 9, 1000);
    for (uint64_t i = 1; i <= 6; i++) {
        edited_add(&file, &(struct edited_node){.id = i, .type = TRACE_COMP, .duration_us = 2}, &more);
    }
    edited_add(&file, &(struct edited_node){.id = 7, .type = TRACE_COMP, .duration_us = 9, .cpu = 1}, NULL);
    collective(&more, 2, 1024, NULL);
    edited_add(&file, &(struct edited_node){.id = 8, .type = TRACE_COLL}, &more);
    collective(&more, 7, 1024, NULL);
    edited_add(&file, &(struct edited_node){.id = 9, .type = TRACE_COLL}, &more);
    compose(&edited, &file, &options, &counts);
    uint64_t sum = 0;
    for (uint64_t i = 1; i <= 6; i++) {
        sum += edited_node(&edited, i)->duration_micros;
        CHECK_U64(integer_of(edited_node(&edited, i), "num_ops"), 1000, "operations");
        CHECK_U64(integer_of(edited_node(&edited, i), "compute_cycles"), 250, "cycles");
    }
    CHECK_U64(sum, 3, "12 us over 4");
    CHECK_U64(edited_node(&edited, 7)->duration_micros, 9, "the host's time stays");
    CHECK_U64(integer_of(edited_node(&edited, 8), "comm_size"), 256, "an all-gather's share shrinks");
    CHECK_U64(integer_of(edited_node(&edited, 9), "comm_size"), 1024, "a reduce-scatter's buffer does not");
    edited_end(&edited);
}

static void ranks_that_nodes_name_are_those_of_the_replica(void **state)
{
    (void)state;
    static const char *const roots[] = {"root_rank", "comm_root", "root"};
    struct bytes file;
    struct bytes more = {.size = 0};
    struct edited edited;
    struct compose_counts counts;
    struct compose_options options = options_of(400, 1);
    options.ranks = 4;
    options.peer_shift = 8;
    bytes_begin(&file);
    for (uint64_t i = 0; i < COUNT_OF(roots); i++) {
        collective(&more, 5, 64, NULL);
        bytes_integer(&more, roots[i], 9, i + 2);
        edited_add(&file, &(struct edited_node){.id = i + 1, .type = TRACE_COLL}, &more);
    }
    more.size = 0;
    bytes_integer(&more, "comm_size", 9, 64);
    bytes_integer(&more, "comm_src", 7, 1);
    bytes_integer(&more, "comm_dst", 7, 3);
    bytes_integer(&more, "comm_tag", 7, 5);
    edited_add(&file, &(struct edited_node){.id = 4, .type = TRACE_SEND}, &more);
    compose(&edited, &file, &options, &counts);
    for (uint64_t i = 0; i < COUNT_OF(roots); i++) {
        CHECK_U64(integer_of(edited_node(&edited, i + 1), roots[i]), (i + 2) % 4 + 8, "%s", roots[i]);
    }
    CHECK_U64(integer_of(edited_node(&edited, 4), "comm_src"), 9, "sender");
    CHECK_U64(integer_of(edited_node(&edited, 4), "comm_dst"), 11, "receiver");
    CHECK_U64(integer_of(edited_node(&edited, 4), "comm_tag"), 5, "nothing else");
    edited_end(&edited);
}

static void what_described_the_traced_groups_is_gone(void **state)
{
    (void)state;
    struct bytes file;
    struct edited edited;
    struct compose_counts counts;
    struct compose_options options = options_of(400, 1);
    bytes_begin(&file);
    edited_add(&file, &(struct edited_node){.id = 1, .type = TRACE_METADATA, .name = "## process_group:init ##"}, NULL);
    edited_add(&file, &(struct edited_node){.id = 2, .type = TRACE_COMP, .data = {1}, .duration_us = 1}, NULL);
    compose(&edited, &file, &options, &counts);
    CHECK_U64(edited.document->node_count, 2, "the compute node and the bucket");
    CHECK_U64(edited_node(&edited, 2)->n_data_deps, 0, "which waits for nothing now");
    edited_end(&edited);
}

static void who_cannot_communicate_is_refused(void **state)
{
    (void)state;
    for (int send = 0; send < 2; send++) {
        struct bytes file;
        struct bytes more = {.size = 0};
        struct edited edited;
        struct compose_counts counts;
        struct orr_error err = {0};
        struct compose_options options = options_of(400, 1);
        options.alone = send == 0;
        options.same_ranks = false;
        collective(&more, 0, 64, NULL);
        bytes_begin(&file);
        edited_add(&file, &(struct edited_node){.id = 5, .type = send == 0 ? TRACE_COLL : TRACE_SEND}, &more);
        edited_begin(&edited, &file);
        CHECK_STATUS(compose_trace(&edited.reader, &options, edited.stream, &edited.notes, &counts, &edited.mem, &err),
                     ORR_EINVAL);
        CHECK_CONTAINS(err.text, "f.et: node 5");
        CHECK_CONTAINS(err.text, send == 0 ? "nobody to communicate with" : "give parameter 'tp' as traced");
        edited_end(&edited);
    }
}

/* ---- any trace ---- */

static void add_random_node(struct bytes *file, struct prng *prng, uint32_t id, uint32_t count, bool backwards)
{
    static const char *const names[] = {"fwd", "x_bwd_y", "opt", "AddmmBackward0", "IG"};
    struct bytes more = {.size = 0};
    struct edited_node node = {.id = id,
                               .type = prng_below(prng, 4) == 0 ? TRACE_COLL : TRACE_COMP,
                               .name = names[prng_below(prng, COUNT_OF(names))],
                               .duration_us = prng_below(prng, 5),
                               .cpu = (int)prng_below(prng, 3) - 1};
    uint32_t deps = prng_below(prng, 4);
    for (uint32_t i = 0; i < deps; i++) { /* on ids on one side only: no cycle */
        uint32_t choices = backwards ? count - id : id - 1;
        if (choices > 0) {
            node.data[i] = backwards ? id + 1 + prng_below(prng, choices) : 1 + prng_below(prng, choices);
        }
    }
    if (node.type == TRACE_COLL) {
        node.cpu = 0;
        collective(&more, 0, 1 + prng_below(prng, 1000), NULL);
    }
    if (prng_below(prng, 2) == 0) {
        bytes_integer(&more, "step", 9, prng_below(prng, 3));
    }
    if (prng_below(prng, 2) == 0) {
        bytes_integer(&more, "stream", 9, prng_below(prng, 3));
    }
    edited_add(file, &node, &more);
}

static void composing_never_makes_a_circle_and_never_loses_a_byte(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct prng prng = {seed};
        struct bytes file;
        struct edited edited;
        struct compose_counts counts;
        uint32_t count = 1 + prng_below(&prng, 40);
        uint64_t gradients = UINT64_C(4) * (10 + prng_below(&prng, 1000));
        struct compose_options options = options_of(gradients, 1 + prng_below(&prng, 6));
        options.overlap = seed % 5 != 0;
        bytes_begin(&file);
        for (uint32_t id = 1; id <= count; id++) {
            add_random_node(&file, &prng, id, count, seed % 2 == 0);
        }
        compose(&edited, &file, &options, &counts); /* the check finds nothing */
        uint64_t sum = 0;
        for (uint32_t i = 0; i < edited.document->node_count; i++) {
            const Chakra__Node *node = edited.document->nodes[i];
            const Chakra__Attribute *group = edited_attribute(node, "pg_name");
            CHECK((int)node->type != TRACE_COLL || group != NULL, "every collective names its group");
            sum += group != NULL && strcmp(group->string_val, "2") == 0 ? integer_of(node, "comm_size") : 0;
        }
        CHECK_U64(sum, gradients * counts.steps, "seed %" PRIu64, seed);
        CHECK_U64(counts.nodes_out, count + counts.steps * options.buckets.count, "seed %" PRIu64, seed);
        edited_end(&edited);
    }
}

TEST_MAIN(gradients_are_cut_into_buckets_that_add_up, what_cannot_be_cut_is_refused,
          shards_differ_by_one_element_and_make_the_whole_model, buckets_start_as_the_backward_pass_goes_on,
          every_step_reduces_its_gradients_before_the_next, without_names_buckets_come_after_the_last_compute,
          a_bucket_waits_for_all_its_work_and_not_for_the_last_of_a_stream,
          a_kernel_is_backward_work_by_the_op_that_launched_it, another_degree_scales_device_work_and_shares,
          ranks_that_nodes_name_are_those_of_the_replica, what_described_the_traced_groups_is_gone,
          who_cannot_communicate_is_refused, composing_never_makes_a_circle_and_never_loses_a_byte)
