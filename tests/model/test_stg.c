/* SPDX-License-Identifier: Apache-2.0 */
/* Traces from symbolic tensor graphs, with our own sheets: every model runs to its end on a network, and what is sent
 * is what the architecture says, worked out by hand. The original's graphs are compared in tests/golden. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/folder.h"
#include "trace/graph.h"

enum { D = 256, FFN = 512, HEADS = 8, KV = 4, SEQ = 64, VOCABULARY = 512, LAYERS = 4, WIDTH = 4 };
enum { ALL_REDUCE = 0, ALL_GATHER = 2, ALL_TO_ALL = 6, REDUCE_SCATTER = 7 };

static struct orr_stg_options small(enum orr_stg_model model)
{
    struct orr_stg_options options;
    orr_stg_options_init(&options);
    options.output_dir = folder;
    options.output_name = "t";
    options.model = model;
    options.hidden = D;
    options.ffn = FFN;
    options.heads = HEADS;
    options.kv_heads = KV;
    options.seq = SEQ;
    options.vocabulary = VOCABULARY;
    options.layers = LAYERS;
    options.batch = 8;
    options.micro_batch = 4;
    options.experts = 4;
    options.top_k = 2;
    return options;
}

static struct orr_stg_result generate(const struct orr_stg_options *options)
{
    struct orr_error err = {0};
    struct orr_stg_result result = {0};
    CHECK_OK(orr_gen_stg(options, NULL, &result, &err), &err);
    return result;
}

struct totals {
    uint64_t bytes[16]; /* by collective type */
    uint64_t count[16];
    uint64_t ops, sends, receives;
};

/* What rank `rank` does, over the group `group` or, where that is 0, all. */
static struct totals add_up(uint32_t rank, unsigned group)
{
    struct totals totals = {0};
    struct mem mem = {0};
    struct notes notes;
    struct trace_set *set = NULL;
    struct orr_error err = {0};
    char prefix[80];
    char wanted[16];
    (void)snprintf(prefix, sizeof prefix, "%s/t", folder);
    (void)snprintf(wanted, sizeof wanted, "%u", group);
    notes_init(&notes, &mem, false);
    CHECK_OK(trace_set_load(prefix, UINT32_MAX, true, &mem, &notes, &set, &err), &err);
    const struct trace_graph *graph = set->ranks[rank].graph;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct trace_node *node = &graph->nodes[i];
        totals.ops += node->type == TRACE_COMP ? node->num_ops : 0;
        totals.sends += node->type == TRACE_SEND ? node->comm_bytes : 0;
        totals.receives += node->type == TRACE_RECV ? node->comm_bytes : 0;
        if (node->type == TRACE_COLL && (group == 0 || strcmp(graph->strings + node->group, wanted) == 0)) {
            totals.bytes[node->comm_type & 15] += node->comm_bytes;
            totals.count[node->comm_type & 15]++;
        }
    }
    trace_set_free(set);
    notes_free(&notes);
    return totals;
}

static void clear(void)
{
    char command[80];
    (void)snprintf(command, sizeof command, "rm -f %s/t.*", folder);
    assert_int_equal(system(command), 0);
}

static void write_text(const char *name, const char *text)
{
    char path[80];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* ---- running ---- */

static void run_to_the_end(uint32_t ranks)
{
    char paths[4][80];
    char network[160];
    struct orr_error err = {0};
    struct orr_run *run = NULL;
    write_text("system.json",
               "{\"scheduling-policy\": \"LIFO\", \"endpoint-delay\": 10, \"active-chunks-per-dimension\": 1,\n"
               " \"preferred-dataset-splits\": 1, \"collective-optimization\": \"localBWAware\",\n"
               " \"all-reduce-implementation\": [\"ring\"], \"all-gather-implementation\": [\"ring\"],\n"
               " \"reduce-scatter-implementation\": [\"ring\"], \"all-to-all-implementation\": [\"ring\"],\n"
               " \"local-mem-bw\": 50, \"roofline-enabled\": 1, \"peak-perf\": 100}\n");
    (void)snprintf(network, sizeof network,
                   "topology: [ Switch ]\nnpus_count: [ %u ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n", ranks);
    write_text("network.yml", network);
    static const char *const names[] = {"t", "system.json", "network.yml", "t.json"};
    for (size_t i = 0; i < 4; i++)
        (void)snprintf(paths[i], sizeof paths[i], "%s/%s", folder, names[i]);
    struct orr_run_options options;
    orr_run_options_init(&options);
    options.workload = paths[0];
    options.system = paths[1];
    options.network = paths[2];
    options.groups = paths[3];
    CHECK_OK(orr_run_open(&options, &run, &err), &err);
    CHECK_OK(orr_run_execute(run, &err), &err);
    orr_run_close(run);
}

static void every_model_runs_to_its_end_on_a_network(void **state)
{
    (void)state;
    static const struct {
        enum orr_stg_model model;
        uint32_t sp, ep;
        bool tpsp, sharded, recompute, folded;
    } cases[] = {
        {ORR_STG_GPT, 1, 1, true, false, false, false},  {ORR_STG_GPT, 1, 1, false, true, false, false},
        {ORR_STG_LLAMA, 1, 1, true, true, true, false},  {ORR_STG_LLAMA, 2, 1, true, false, false, false},
        {ORR_STG_DENSE, 1, 2, false, false, true, true}, {ORR_STG_MOE, 1, 2, true, false, false, false},
        {ORR_STG_MOE, 1, 2, false, true, true, false},   {ORR_STG_MOE, 2, 1, true, true, false, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct orr_stg_options options = small(cases[i].model);
        options.dp = options.tp = options.pp = 2;
        options.sp = cases[i].sp;
        options.ep = cases[i].ep;
        options.tpsp = cases[i].tpsp;
        options.weight_sharded = cases[i].sharded;
        options.activation_recompute = cases[i].recompute;
        options.fold_micro_batches = cases[i].folded;
        clear();
        struct orr_stg_result result = generate(&options);
        CHECK_U64(result.ranks, 8 * cases[i].sp * cases[i].ep, "case %zu", i);
        run_to_the_end(result.ranks);
        orr_stg_result_free(&result);
    }
}

/* ---- bytes ---- */

static uint64_t parameters(enum orr_stg_model model, uint64_t experts)
{
    uint64_t kv = model == ORR_STG_GPT ? HEADS : KV;
    uint64_t attention = 2 * D * D + 2 * (uint64_t)D * D * kv / HEADS;
    uint64_t mlp = model == ORR_STG_GPT   ? 2 * D * FFN
                   : model == ORR_STG_MOE ? experts * 3 * D * FFN + D * 4
                                          : 3 * D * FFN;
    return LAYERS * (attention + mlp + 2 * D) + 2 * (uint64_t)VOCABULARY * D + D;
}

static void data_parallel_gradients_are_the_parameters_once_a_step(void **state)
{
    (void)state;
    static const enum orr_stg_model models[] = {ORR_STG_GPT, ORR_STG_LLAMA, ORR_STG_MOE};
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        struct orr_stg_options options = small(models[i]);
        options.dp = 2;
        clear();
        struct orr_stg_result result = generate(&options);
        struct totals totals = add_up(0, 0);
        CHECK_U64(totals.bytes[ALL_REDUCE], parameters(models[i], 4) * WIDTH, "model %zu", i);
        CHECK_U64(totals.bytes[ALL_GATHER] + totals.bytes[REDUCE_SCATTER], 0, "nothing else");
        orr_stg_result_free(&result);
    }
}

static void tensor_parallelism_reduces_four_activations_a_layer_and_micro_batch(void **state)
{
    (void)state;
    struct orr_stg_options options = small(ORR_STG_GPT);
    options.tp = 2;
    options.tpsp = false;
    clear();
    struct orr_stg_result result = generate(&options);
    uint64_t tokens = 4 * SEQ;
    uint64_t batch = LAYERS * 4 * tokens * D + 2 * tokens * D + tokens; /* blocks; embedding and head; loss */
    struct totals totals = add_up(0, 0);
    CHECK_U64(totals.bytes[ALL_REDUCE], 2 * batch * WIDTH, "two micro-batches");
    CHECK_U64(totals.bytes[ALL_GATHER] + totals.bytes[REDUCE_SCATTER], 0, "nothing else");
    orr_stg_result_free(&result);
}

static void sequence_parallelism_gathers_and_scatters_instead(void **state)
{
    (void)state;
    struct orr_stg_options options = small(ORR_STG_GPT);
    options.tp = 2;
    clear();
    struct orr_stg_result result = generate(&options);
    struct totals totals = add_up(0, 0);
    uint64_t tokens = 4 * SEQ;
    /* Forward and backward: attention and MLP give partial sums, 2 + 2 a layer; embedding and head one each. */
    CHECK_U64(totals.bytes[REDUCE_SCATTER], 2 * (LAYERS * 4 + 2) * tokens * D * WIDTH, "whole sequences");
    /* Gathered halves: inputs of attention and MLP forward, again backward, and their gradients; head and embedding. */
    CHECK_U64(totals.bytes[ALL_GATHER], 2 * (LAYERS * 6 + 3) * tokens / 2 * D * WIDTH, "half sequences");
    orr_stg_result_free(&result);
}

static void experts_cost_four_all_to_alls_a_layer_and_micro_batch(void **state)
{
    (void)state;
    struct orr_stg_options options = small(ORR_STG_MOE);
    options.ep = 2;
    clear();
    struct orr_stg_result result = generate(&options);
    struct totals totals = add_up(0, 0);
    uint64_t routed = 4 / 2 * SEQ * 2 * D; /* half the sequences, two experts a token */
    CHECK_U64(totals.count[ALL_TO_ALL], 2 * LAYERS * 4, "there and back, forward and backward");
    CHECK_U64(totals.bytes[ALL_TO_ALL], 2 * LAYERS * 4 * routed * WIDTH, "their bytes");
    /* ep lies inside data parallelism: all gradients but the experts' are summed over it. */
    CHECK_U64(totals.bytes[ALL_REDUCE], parameters(ORR_STG_MOE, 0) * WIDTH, "gradients");
    orr_stg_result_free(&result);
}

static void sharded_weights_are_gathered_twice_and_scattered_once_a_micro_batch(void **state)
{
    (void)state;
    struct orr_stg_options options = small(ORR_STG_LLAMA);
    options.dp = 4;
    options.weight_sharded = true;
    clear();
    struct orr_stg_result result = generate(&options);
    struct totals totals = add_up(0, 0);
    uint64_t all = parameters(ORR_STG_LLAMA, 0) * WIDTH;
    uint64_t embedding = (uint64_t)VOCABULARY * D * WIDTH; /* its backward pass does not look at it */
    CHECK_U64(totals.bytes[REDUCE_SCATTER], 2 * all, "gradients of two micro-batches");
    CHECK_U64(totals.bytes[ALL_GATHER], 2 * (2 * all - embedding) / 4, "a quarter each");
    orr_stg_result_free(&result);
}

static void stages_pass_on_activations_and_gradients(void **state)
{
    (void)state;
    struct orr_stg_options options = small(ORR_STG_GPT);
    options.pp = 2;
    clear();
    struct orr_stg_result result = generate(&options);
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct totals totals = add_up(rank, 0);
        CHECK_U64(totals.sends, 2 * 4 * SEQ * D * WIDTH, "rank %u, two micro-batches", rank);
        CHECK_U64(totals.receives, totals.sends, "rank %u", rank);
    }
    orr_stg_result_free(&result);
}

static void recomputation_adds_the_forward_pass_of_the_blocks(void **state)
{
    (void)state;
    struct orr_stg_options options = small(ORR_STG_GPT);
    clear();
    struct orr_stg_result plain = generate(&options);
    struct totals before = add_up(0, 0);
    options.activation_recompute = true;
    struct orr_stg_result result = generate(&options);
    struct totals after = add_up(0, 0);
    uint64_t tokens = 8 * SEQ;
    uint64_t matrices = 2 * tokens * (4 * D * D + 2 * D * FFN); /* a multiply-add is two operations */
    uint64_t attention = 4 * tokens * SEQ * D;
    uint64_t elements = tokens * (2 * 5 * D + 8 * FFN + 2 * D); /* norms, activation, additions */
    CHECK_U64(after.ops - before.ops, LAYERS * (matrices + attention + elements), "forward operations");
    CHECK(result.memory[0].activations < plain.memory[0].activations / 2, "less is kept");
    orr_stg_result_free(&plain);
    orr_stg_result_free(&result);
}

/* ---- refusals ---- */

static void what_does_not_divide_is_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        size_t field;
        uint32_t value;
        const char *message;
    } cases[] = {
        {offsetof(struct orr_stg_options, micro_batch), 3, "micro_batch 3 does not divide batch 8"},
        {offsetof(struct orr_stg_options, tp), 3, "not a whole number"},
        {offsetof(struct orr_stg_options, heads), 7, "head 7 does not divide dmodel 256"},
        {offsetof(struct orr_stg_options, kv_heads), 3, "kvhead 3 does not divide head 8"},
        {offsetof(struct orr_stg_options, pp), 5, "pp 5 is more than num_stacks 4"},
        {offsetof(struct orr_stg_options, ep), 3, "ep 3 does not divide experts 4"},
        {offsetof(struct orr_stg_options, top_k), 5, "kexperts 5 is more than experts 4"},
        {offsetof(struct orr_stg_options, dp), 1u << 21, "more than 1048576 ranks"},
        {offsetof(struct orr_stg_options, seq), 0, "seq is 0"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct orr_stg_options options = small(ORR_STG_MOE);
        struct orr_stg_result result = {0};
        struct orr_error err = {0};
        memcpy((char *)&options + cases[i].field, &cases[i].value, sizeof cases[i].value);
        CHECK_STATUS(orr_gen_stg(&options, NULL, &result, &err) == ORR_OK ? ORR_OK : ORR_EINVAL, ORR_EINVAL);
        CHECK_CONTAINS(err.text, cases[i].message);
        CHECK(result.memory == NULL, "nothing is given back");
    }
}

/* A residual that adds twice: the same ports as the model's own, one more operation. */
static const char twice_table[] =
    "id,require_grads,x1,x2,op_type,op_attr,x1_shape,x1_hidden,x2_shape,x2_hidden,grad_of\n"
    "a,N,,,T,,\"Batch/(dp*ep), Seq/(cp*sp), Dmodel\",1,,,\n"
    "b,N,,,T,,\"Batch/(dp*ep), Seq/(cp*sp), Dmodel\",1,,,\n"
    "once,N,a,b,A,,\"Batch/(dp*ep), Seq/(cp*sp), Dmodel\",1,\"Batch/(dp*ep), Seq/(cp*sp), Dmodel\",1,\n"
    "out,N,once,b,A,,\"Batch/(dp*ep), Seq/(cp*sp), Dmodel\",1,\"Batch/(dp*ep), Seq/(cp*sp), Dmodel\",1,\n"
    "dout,N,,,T,,\"Batch/(dp*ep), Seq/(cp*sp), Dmodel\",1,,,out\n"
    "da,N,dout,,I,,\"Batch/(dp*ep), Seq/(cp*sp), Dmodel\",1,,,a\n"
    "db,N,dout,,I,,\"Batch/(dp*ep), Seq/(cp*sp), Dmodel\",1,,,b\n";
static const char twice_ports[] = "{\"symbols\": [\"Batch\", \"Seq\", \"Dmodel\", \"dp\", \"ep\", \"cp\", \"sp\"], "
                                  "\"in_tensors\": [\"a\", \"b\", \"dout\"], "
                                  "\"out_tensors\": [\"out\", \"da\", \"db\"]}\n";

static void a_sheet_of_the_users_takes_the_place_of_one_of_the_models(void **state)
{
    (void)state;
    char sheets[160];
    char path[200];
    char own[240];
    char broken[240];
    (void)snprintf(sheets, sizeof sheets, "%s/sheets", folder);
    (void)mkdir(sheets, 0777);
    (void)snprintf(path, sizeof path, "%s/twice.csv", sheets);
    write_text("sheets/twice.csv", twice_table);
    (void)snprintf(own, sizeof own, "residual=%s", path);
    write_text("sheets/twice.json", twice_ports);
    (void)snprintf(path, sizeof path, "%s/broken.csv", sheets);
    write_text("sheets/broken.csv",
               "id,require_grads,x1,x2,op_type,op_attr,x1_shape,x1_hidden,x2_shape,x2_hidden,grad_of\n"
               "a,N,,,T,,Bach,1,,,\n");
    (void)snprintf(broken, sizeof broken, "residual=%s", path);

    struct orr_stg_options options = small(ORR_STG_GPT);
    struct orr_stg_result plain = generate(&options);
    uint64_t ops = add_up(0, 0).ops;
    const char *list[] = {own};
    options.own_sheets = list;
    options.own_sheet_count = 1;
    struct orr_stg_result result = generate(&options);
    /* Two residuals a layer and micro-batch, each one addition more for every element. */
    CHECK_U64(add_up(0, 0).ops, ops + 2ull * LAYERS * 8 * SEQ * D, "operations");
    orr_stg_result_free(&plain);
    orr_stg_result_free(&result);

    const struct {
        const char *sheet, *says;
    } refused[] = {
        {"residal=x.csv", "did you mean \"residual\"?"},
        {"residual", "is not NAME=FILE.csv"},
        {"residual=nowhere.csv", "nowhere.csv"},
        {broken, "broken.csv:2:10: "},
    };
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct orr_error err = {0};
        list[0] = refused[i].sheet;
        CHECK(orr_gen_stg(&options, NULL, &result, &err) != ORR_OK, "refused: %s", refused[i].sheet);
        CHECK_CONTAINS(err.text, refused[i].says);
    }
    struct orr_error err = {0};
    list[0] = own;
    options.output_dir = sheets;
    CHECK_STATUS(orr_gen_stg(&options, NULL, &result, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "lies among the sheets");
}

static void modes_that_exclude_each_other_are_refused(void **state)
{
    (void)state;
    struct orr_error err = {0};
    struct orr_stg_result result = {0};
    struct orr_stg_options options = small(ORR_STG_GPT);
    options.compat = true;
    CHECK_STATUS(orr_gen_stg(&options, NULL, &result, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "parameter 'compat' stg needs parameter 'sheets'");
    options = small(ORR_STG_GPT);
    options.merge_comms = true;
    CHECK_STATUS(orr_gen_stg(&options, NULL, &result, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "parameter 'compat' stg only");
    options = small(ORR_STG_GPT);
    options.sheets = folder;
    CHECK_STATUS(orr_gen_stg(&options, NULL, &result, &err), ORR_EIO);
    CHECK_CONTAINS(err.text, "there is no folder \"tpsp_gpt\"");
    options = small(ORR_STG_GPT);
    options.output_name = "a%sb";
    CHECK_STATUS(orr_gen_stg(&options, NULL, &result, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "one %d");
    options = small(ORR_STG_GPT);
    options.memory_limit = 20000;
    CHECK_STATUS(orr_gen_stg(&options, NULL, &result, &err), ORR_ENOMEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_runs_to_its_end_on_a_network),
        cmocka_unit_test(a_sheet_of_the_users_takes_the_place_of_one_of_the_models),
        cmocka_unit_test(data_parallel_gradients_are_the_parameters_once_a_step),
        cmocka_unit_test(tensor_parallelism_reduces_four_activations_a_layer_and_micro_batch),
        cmocka_unit_test(sequence_parallelism_gathers_and_scatters_instead),
        cmocka_unit_test(experts_cost_four_all_to_alls_a_layer_and_micro_batch),
        cmocka_unit_test(sharded_weights_are_gathered_twice_and_scattered_once_a_micro_batch),
        cmocka_unit_test(stages_pass_on_activations_and_gradients),
        cmocka_unit_test(recomputation_adds_the_forward_pass_of_the_blocks),
        cmocka_unit_test(what_does_not_divide_is_refused_by_name),
        cmocka_unit_test(modes_that_exclude_each_other_are_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
