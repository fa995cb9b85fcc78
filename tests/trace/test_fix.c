/* SPDX-License-Identifier: Apache-2.0 */
/* Each repair planted once; then random graphs, whose reachability is worked out a second, slower way. */
#include "tests/prng.h"
#include "tests/trace/edited.h"
#include "trace/fix.h"

static void fix_file(struct edited *edited, const struct bytes *file, struct fix_options options,
                     struct fix_counts *counts)
{
    struct orr_error err = {0};
    *counts = (struct fix_counts){0};
    edited_begin(edited, file);
    CHECK_OK(fix_trace(&edited->reader, &options, edited->stream, &edited->notes, counts, &edited->mem, &err), &err);
    edited_read(edited);
    edited_is_sound(edited);
}

static void a_sound_trace_comes_out_as_it_was(void **state)
{
    (void)state;
    struct bytes file;
    struct edited edited;
    struct fix_counts counts;
    struct bytes unknown = {.size = 0};
    bytes_number(&unknown, 77, 5); /* a field nobody knows */
    bytes_begin(&file);
    edited_add(&file, &(struct edited_node){.id = 4, .type = TRACE_COMP, .name = "a", .duration_us = 7}, NULL);
    edited_add(&file, &(struct edited_node){.id = 2, .type = TRACE_COMP, .data = {4}, .ctrl = {4}}, &unknown);
    fix_file(&edited, &file, (struct fix_options){0}, &counts);
    CHECK_U64(edited.size, file.size, "bytes");
    CHECK(memcmp(edited.bytes, file.at, file.size) == 0, "the same bytes");
    edited_end(&edited);
}

static void each_planted_fault_is_repaired_and_counted(void **state)
{
    (void)state;
    struct bytes file;
    struct edited edited;
    struct fix_counts counts;
    bytes_begin(&file);
    edited_add(&file, &(struct edited_node){.id = 1, .type = TRACE_COMP, .data = {1}}, NULL);
    edited_add(&file, &(struct edited_node){.id = 2, .type = TRACE_COMP, .data = {1, 99}, .ctrl = {1}}, NULL);
    edited_add(&file, &(struct edited_node){.id = 3, .type = TRACE_COMP, .data = {2, 2}}, NULL);
    edited_add(&file, &(struct edited_node){.id = 4, .type = TRACE_INVALID, .data = {3}}, NULL);
    edited_add(&file, &(struct edited_node){.id = 5, .type = 12, .data = {4}}, NULL);
    edited_add(&file, &(struct edited_node){.id = 6, .type = TRACE_COMP, .data = {5}, .ctrl = {7}, .cpu = -1}, NULL);
    edited_add(&file, &(struct edited_node){.id = 7, .type = TRACE_COMP, .data = {6}}, NULL);
    fix_file(&edited, &file, (struct fix_options){0}, &counts);
    CHECK_U64(counts.repairs[FIX_SELF], 1, "self dependencies");
    CHECK_U64(counts.repairs[FIX_MISSING], 1, "missing dependencies");
    CHECK_U64(counts.repairs[FIX_TWICE], 1, "doubles");
    CHECK_U64(counts.repairs[FIX_TYPE], 2, "types");
    CHECK_U64(counts.repairs[FIX_CYCLE_CTRL], 1, "a control dependency is preferred");
    CHECK_U64(counts.repairs[FIX_CYCLE_DATA], 0, "a data dependency stays");
    CHECK_U64(counts.repairs[FIX_CPU_FLAG], 1, "is_cpu_op");
    CHECK_U64(edited.document->node_count, 5, "nodes left");
    const Chakra__Node *six = edited_node(&edited, 6);
    CHECK_U64(six->n_data_deps, 1, "one parent");
    CHECK_U64(six->data_deps[0], 3, "what the removed nodes waited for");
    CHECK_U64(six->n_ctrl_deps, 0, "the cycle is broken here");
    CHECK(edited_attribute(six, "is_cpu_op") != NULL, "the attribute was added");
    edited_end(&edited);
}

static void a_cycle_whose_way_back_is_data_loses_control(void **state)
{
    (void)state;
    struct bytes file;
    struct edited edited;
    struct fix_counts counts;
    bytes_begin(&file);
    /* Walked from 1: 1 -(control)-> 2 -(data)-> 1 leads back by data. */
    edited_add(&file, &(struct edited_node){.id = 1, .type = TRACE_COMP, .ctrl = {2}}, NULL);
    edited_add(&file, &(struct edited_node){.id = 2, .type = TRACE_COMP, .data = {1}}, NULL);
    /* Data alone. */
    edited_add(&file, &(struct edited_node){.id = 3, .type = TRACE_COMP, .data = {4}}, NULL);
    edited_add(&file, &(struct edited_node){.id = 4, .type = TRACE_COMP, .data = {3}}, NULL);
    fix_file(&edited, &file, (struct fix_options){0}, &counts);
    CHECK_U64(counts.repairs[FIX_CYCLE_CTRL], 1, "control removed");
    CHECK_U64(counts.repairs[FIX_CYCLE_DATA], 1, "data removed");
    CHECK_U64(edited_node(&edited, 2)->n_data_deps, 1, "data stays");
    CHECK_U64(edited_node(&edited, 1)->n_ctrl_deps, 0, "control goes");
    edited_end(&edited);
}

static void an_unknown_size_is_an_error_unless_given(void **state)
{
    (void)state;
    struct bytes file;
    struct bytes type = {.size = 0};
    struct edited edited;
    struct fix_counts counts = {0};
    struct orr_error err = {0};
    struct fix_options options = {0};
    bytes_integer(&type, "comm_type", 9, 0);
    bytes_begin(&file);
    edited_add(&file, &(struct edited_node){.id = 1, .type = TRACE_COLL, .name = "ar", .cpu = 1}, &type);
    edited_begin(&edited, &file);
    CHECK_STATUS(fix_trace(&edited.reader, &options, edited.stream, &edited.notes, &counts, &edited.mem, &err),
                 ORR_EINVAL);
    CHECK_CONTAINS(err.text, "comm_size is missing");
    edited_end(&edited);
    fix_file(&edited, &file, (struct fix_options){.has_unknown_size = true, .unknown_size = 4096}, &counts);
    const Chakra__Node *node = edited_node(&edited, 1);
    CHECK_U64(edited_attribute(node, "comm_size")->int64_val, 4096, "the size given");
    CHECK_U64(edited_attribute(node, "is_cpu_op")->bool_val, 0, "communication is no CPU operator");
    edited_end(&edited);
}

static void attributes_of_the_wrong_kind_are_replaced_or_removed(void **state)
{
    (void)state;
    struct bytes file;
    struct bytes more = {.size = 0};
    struct bytes text = {.size = 0};
    struct edited edited;
    struct fix_counts counts;
    bytes_text(&text, 29, "1024");
    bytes_attribute(&more, "comm_size", &text);
    bytes_attribute(&more, "comm_priority", &text);
    bytes_integer(&more, "comm_dst", 7, 1);
    bytes_begin(&file);
    edited_add(&file, &(struct edited_node){.id = 1, .type = TRACE_SEND}, &more);
    fix_file(&edited, &file, (struct fix_options){.has_unknown_size = true, .unknown_size = 8}, &counts);
    const Chakra__Node *node = edited_node(&edited, 1);
    CHECK_U64(counts.repairs[FIX_ATTRIBUTE], 2, "wrong ones");
    CHECK_U64(counts.repairs[FIX_TAG], 1, "tag");
    CHECK_U64(edited_attribute(node, "comm_size")->int64_val, 8, "replaced");
    CHECK(edited_attribute(node, "comm_priority") == NULL, "removed");
    CHECK_U64(edited_attribute(node, "comm_tag")->int32_val, 0, "added");
    edited_end(&edited);
}

static void an_id_used_twice_is_refused_or_renumbered(void **state)
{
    (void)state;
    struct bytes file;
    struct edited edited;
    struct fix_counts counts = {0};
    struct orr_error err = {0};
    struct fix_options options = {0};
    bytes_begin(&file);
    edited_add(&file, &(struct edited_node){.id = 5, .type = TRACE_COMP, .name = "a"}, NULL);
    edited_add(&file, &(struct edited_node){.id = 5, .type = TRACE_COMP, .name = "b"}, NULL);
    edited_add(&file, &(struct edited_node){.id = 6, .type = TRACE_COMP, .data = {5}}, NULL);
    edited_begin(&edited, &file);
    CHECK_STATUS(fix_trace(&edited.reader, &options, edited.stream, &edited.notes, &counts, &edited.mem, &err),
                 ORR_EINVAL);
    CHECK_CONTAINS(err.text, "node 5: the id is used by more than one node");
    edited_end(&edited);
    fix_file(&edited, &file, (struct fix_options){.renumber = true}, &counts);
    CHECK_TEXT(edited_node(&edited, 5)->name, "a");
    CHECK_TEXT(edited_node(&edited, 7)->name, "b");
    edited_end(&edited);
}

static void metadata_of_process_groups_stays_and_is_passed_by(void **state)
{
    (void)state;
    struct bytes file;
    struct edited edited;
    struct fix_counts counts;
    bytes_begin(&file);
    edited_add(&file, &(struct edited_node){.id = 1, .type = TRACE_COMP}, NULL);
    edited_add(&file,
               &(struct edited_node){.id = 2, .type = TRACE_METADATA, .name = "## process_group:init ##", .data = {1}},
               NULL);
    edited_add(&file, &(struct edited_node){.id = 3, .type = TRACE_COMP, .data = {2}}, NULL);
    edited_add(&file, &(struct edited_node){.id = 4, .type = TRACE_METADATA, .name = "other"}, NULL);
    fix_file(&edited, &file, (struct fix_options){0}, &counts);
    CHECK_U64(edited.document->node_count, 3, "the other one goes");
    CHECK_U64(edited_node(&edited, 3)->data_deps[0], 1, "past the metadata");
    CHECK_U64(counts.repairs[FIX_PASSED], 1, "counted");
    edited_end(&edited);
}

static void cpu_rows_can_be_dropped_or_merged_with_their_time(void **state)
{
    (void)state;
    struct bytes file;
    struct edited edited;
    struct fix_counts counts;
    bytes_begin(&file);
    edited_add(&file, &(struct edited_node){.id = 1, .type = TRACE_COMP, .duration_us = 1}, NULL);
    edited_add(&file, &(struct edited_node){.id = 2, .type = TRACE_COMP, .data = {1}, .duration_us = 10, .cpu = 1},
               NULL);
    edited_add(&file, &(struct edited_node){.id = 3, .type = TRACE_COMP, .data = {2}, .duration_us = 20, .cpu = 1},
               NULL);
    edited_add(&file, &(struct edited_node){.id = 4, .type = TRACE_COMP, .data = {3}, .duration_us = 1}, NULL);
    fix_file(&edited, &file, (struct fix_options){.cpu = FIX_CPU_DROP}, &counts);
    CHECK_U64(edited.document->node_count, 2, "CPU nodes gone");
    CHECK_U64(edited_node(&edited, 4)->data_deps[0], 1, "order stays");
    edited_end(&edited);
    fix_file(&edited, &file, (struct fix_options){.cpu = FIX_CPU_MERGE}, &counts);
    CHECK_U64(edited.document->node_count, 3, "two became one");
    CHECK_U64(edited_node(&edited, 2)->duration_micros, 30, "with both times");
    CHECK_U64(edited_node(&edited, 4)->data_deps[0], 2, "who waited for the last waits for the first");
    edited_end(&edited);
}

static void many_to_many_goes_through_a_joint(void **state)
{
    (void)state;
    struct bytes file;
    struct edited edited;
    struct fix_counts counts;
    enum { MANY = 20 };
    uint64_t parents[MANY];
    bytes_begin(&file);
    for (uint64_t i = 0; i < MANY; i++) {
        parents[i] = 100 + i;
        bytes_node(&file, 100 + i, TRACE_COMP, NULL, 0);
    }
    bytes_node(&file, 1, TRACE_INVALID, parents, MANY);
    for (uint64_t i = 0; i < MANY; i++) {
        bytes_node(&file, 200 + i, TRACE_COMP, (uint64_t[]){1}, 1);
    }
    fix_file(&edited, &file, (struct fix_options){0}, &counts);
    CHECK_U64(counts.repairs[FIX_JOINT], 1, "joints");
    CHECK_U64(counts.deps_out, 2 * MANY, "no more edges than before");
    const Chakra__Node *joint = edited_node(&edited, 1);
    CHECK_U64(joint->type, TRACE_COMP, "compute");
    CHECK_U64(joint->duration_micros, 0, "of no duration");
    CHECK_U64(edited_attribute(joint, "is_cpu_op")->bool_val, 1, "that does not wait for the GPU");
    edited_end(&edited);
}

static void strict_fails_on_the_first_finding(void **state)
{
    (void)state;
    struct bytes file;
    struct edited edited;
    struct fix_counts counts = {0};
    struct orr_error err = {0};
    struct fix_options options = {0};
    bytes_begin(&file);
    edited_add(&file, &(struct edited_node){.id = 1, .type = TRACE_COMP, .data = {1}}, NULL);
    edited_begin(&edited, &file);
    edited.notes.strict = true;
    CHECK_STATUS(fix_trace(&edited.reader, &options, edited.stream, &edited.notes, &counts, &edited.mem, &err),
                 ORR_EINVAL);
    CHECK_CONTAINS(err.text, "node 1: it depends on itself");
    edited_end(&edited);
}

/* ---- random graphs ---- */

enum { NODES = 40 };

struct closure {
    bool way[NODES][NODES]; /* way[a][b]: a waits for b, directly or not */
};

static void close_over(struct closure *closure)
{
    for (int k = 0; k < NODES; k++) {
        for (int a = 0; a < NODES; a++) {
            for (int b = 0; b < NODES; b++) {
                closure->way[a][b] = closure->way[a][b] || (closure->way[a][k] && closure->way[k][b]);
            }
        }
    }
}

/* Ids are 1 to NODES in a random order of the file. */
static void random_file(struct prng *prng, bool cyclic, struct bytes *file, struct closure *in)
{
    uint32_t order[NODES];
    memset(in, 0, sizeof *in);
    prng_shuffle(prng, order, NODES);
    bytes_begin(file);
    for (int place = 0; place < NODES; place++) {
        uint32_t self = order[place];
        struct edited_node node = {.id = self + 1, .type = TRACE_COMP, .cpu = (int)prng_below(prng, 2)};
        node.type = prng_below(prng, 3) == 0 ? TRACE_INVALID : TRACE_COMP;
        for (int kind = 0; kind < 2; kind++) {
            uint32_t count = prng_below(prng, 4);
            for (uint32_t i = 0, used = 0; i < count; i++) {
                uint32_t parent = cyclic ? prng_below(prng, NODES) : self == 0 ? NODES : prng_below(prng, self);
                if (parent < NODES) {
                    (kind == 0 ? node.data : node.ctrl)[used++] = parent + 1;
                    in->way[self][parent] = in->way[self][parent] || parent != self;
                }
            }
        }
        edited_add(file, &node, NULL);
    }
    close_over(in);
}

static void read_closure(const struct edited *edited, struct closure *out, bool *kept)
{
    memset(out, 0, sizeof *out);
    memset(kept, 0, NODES);
    for (uint32_t i = 0; i < edited->document->node_count; i++) {
        const Chakra__Node *node = edited->document->nodes[i];
        kept[node->id - 1] = true;
        for (size_t d = 0; d < node->n_data_deps; d++) {
            out->way[node->id - 1][node->data_deps[d] - 1] = true;
        }
        for (size_t d = 0; d < node->n_ctrl_deps; d++) {
            out->way[node->id - 1][node->ctrl_deps[d] - 1] = true;
        }
    }
    close_over(out);
}

static void order_survives_repair_in_random_graphs(void **state)
{
    (void)state;
    static struct closure in;
    static struct closure out;
    static struct bytes file;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct prng prng = {seed};
        struct edited edited;
        struct fix_counts counts;
        bool kept[NODES];
        bool cyclic = seed % 2 == 0;
        random_file(&prng, cyclic, &file, &in);
        fix_file(&edited, &file, (struct fix_options){.cpu = seed % 3 == 0 ? FIX_CPU_DROP : FIX_CPU_KEEP}, &counts);
        read_closure(&edited, &out, kept);
        bool broken = counts.repairs[FIX_CYCLE_CTRL] + counts.repairs[FIX_CYCLE_DATA] > 0;
        for (int a = 0; a < NODES; a++) {
            for (int b = 0; b < NODES; b++) {
                bool same = in.way[a][b] == out.way[a][b];
                bool fine = !kept[a] || !kept[b] || same || (broken && in.way[a][b]);
                CHECK(fine, "seed %" PRIu64 ": node %d waits for %d: %d before, %d after", seed, a + 1, b + 1,
                      in.way[a][b], out.way[a][b]);
            }
            CHECK(!out.way[a][a], "seed %" PRIu64 ": node %d waits for itself", seed, a + 1);
        }
        CHECK(cyclic || !broken, "seed %" PRIu64 ": a graph without cycles loses nothing", seed);
        edited_end(&edited);
    }
}

static void a_long_chain_needs_no_stack(void **state)
{
    (void)state;
    enum { LONG = 200000 };
    struct mem mem = {0};
    struct orr_error err = {0};
    struct notes notes;
    struct fix_counts counts = {0};
    struct fix_options options = {.cpu = FIX_CPU_DROP};
    struct record_reader reader;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    static struct bytes one;
    bytes_begin(&one);
    (void)fwrite(one.at, 1, one.size, stream);
    for (uint64_t i = 1; i <= LONG; i++) { /* each waits for the next: a chain against the file's order, and a ring */
        one.size = 0;
        edited_add(&one, &(struct edited_node){.id = i, .type = TRACE_COMP, .ctrl = {i % LONG + 1}, .cpu = i % 2 == 0},
                   NULL);
        (void)fwrite(one.at, 1, one.size, stream);
    }
    (void)fclose(stream);
    notes_init(&notes, &mem, false);
    CHECK_OK(record_reader_open_bytes(&reader, (uint8_t *)text, size, "f.et", &mem, &err), &err);
    CHECK_OK(fix_trace(&reader, &options, NULL, &notes, &counts, &mem, &err), &err);
    CHECK_U64(counts.repairs[FIX_CYCLE_CTRL], 1, "one dependency closes the ring");
    CHECK_U64(counts.nodes_out, LONG / 2, "nodes");
    CHECK_U64(counts.deps_out, LONG / 2 - 1, "still one chain");
    record_reader_close(&reader);
    notes_free(&notes);
    free(text);
}

TEST_MAIN(a_sound_trace_comes_out_as_it_was, each_planted_fault_is_repaired_and_counted,
          a_cycle_whose_way_back_is_data_loses_control, an_unknown_size_is_an_error_unless_given,
          attributes_of_the_wrong_kind_are_replaced_or_removed, an_id_used_twice_is_refused_or_renumbered,
          metadata_of_process_groups_stays_and_is_passed_by, cpu_rows_can_be_dropped_or_merged_with_their_time,
          many_to_many_goes_through_a_joint, strict_fails_on_the_first_finding, order_survives_repair_in_random_graphs,
          a_long_chain_needs_no_stack)
