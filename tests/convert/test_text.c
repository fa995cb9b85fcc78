/* SPDX-License-Identifier: Apache-2.0 */
/* Text workloads as they are meant: the graph of each strategy, units, groups, SimAI's header, and what is refused. */
#include "convert/text/simai.h"
#include "tests/convert/graph_line.h"
#include "tests/folder.h"

struct result {
    enum orr_status status;
    struct orr_error err;
    struct convert_summary summary;
    char note[256]; /* the first */
};

static struct result convert(const char *text, uint32_t ranks, uint32_t passes)
{
    struct result result = {0};
    struct mem mem = {0};
    struct notes notes;
    char input[64];
    char output[64];
    snprintf(input, sizeof input, "%s/in.txt", folder);
    snprintf(output, sizeof output, "%s/out", folder);
    CHECK_OK(file_write(input, text, strlen(text), &result.err), &result.err);
    notes_init(&notes, &mem, false);
    struct convert_request request = {
        .input = input, .output = output, .ranks = ranks, .passes = passes, .mem = &mem, .notes = &notes};
    result.status = text_convert(&request, &result.summary, &result.err);
    snprintf(result.note, sizeof result.note, "%s", notes.count > 0 ? notes.lines[0] : "");
    notes_free(&notes);
    CHECK_U64(mem.used, 0, "nothing is left");
    return result;
}

static char *line_of(uint32_t rank)
{
    char path[64];
    snprintf(path, sizeof path, "%s/out.%u.et", folder, rank);
    return graph_line(path);
}

static const char *groups(void)
{
    static char text[512];
    char path[64];
    snprintf(path, sizeof path, "%s/out.groups.json", folder);
    FILE *stream = fopen(path, "r");
    size_t size = stream == NULL ? 0 : fread(text, 1, sizeof text - 1, stream);
    if (stream != NULL)
        fclose(stream);
    text[size] = '\0';
    return text;
}

/* Two layers: times in whole microseconds so that nothing is rounded, every communication there. */
#define TWO_LAYERS                                                                                                     \
    "a -1 1000 ALLGATHER 100 2000 REDUCESCATTER 200 3000 ALLREDUCE 300 4000\n"                                         \
    "b -1 5000 ALLGATHER 500 6000 ALLTOALL 600 7000 ALLREDUCE 700 0\n"

static const struct {
    const char *text;
    uint32_t ranks, passes;
    const char *want; /* rank 1's file */
} graphs[] = {
    {"MICRO 2 " TWO_LAYERS, 2, 2,
     "0: *a_WG_ALLREDUCE:0:300 *b_WG_ALLREDUCE:0:700 *a_WG_ALLREDUCE:0:300<0 *b_WG_ALLREDUCE:0:700<1"},
    {"DATA 2 " TWO_LAYERS, 2, 2,
     "0: a_FWD/1 b_FWD/5<0 b_BWD_WG/7<1 *b_WG_ALLREDUCE:0:700<2 b_BWD_IG/6<2 a_BWD_WG/3<4 *a_WG_ALLREDUCE:0:300<5 "
     "a_UPDATE/4<6 a_FWD/1<5,7 b_FWD/5<8,3 b_BWD_WG/7<9 *b_WG_ALLREDUCE:0:700<10 b_BWD_IG/6<10 a_BWD_WG/3<12 "
     "*a_WG_ALLREDUCE:0:300<13 a_UPDATE/4<14"},
    {"MODEL 2 " TWO_LAYERS, 2, 1,
     "0: a_FWD/1 *a_FWD_ALLGATHER:2:100<0 b_FWD/5<1 *b_FWD_ALLGATHER:2:500<2 b_BWD_IG/6<3 *b_IG_ALLTOALL:6:600<4 "
     "b_BWD_WG/7<4 a_BWD_IG/2<6,5 a_BWD_WG/3<7 a_UPDATE/4<8"},
    {"HYBRID_DATA_MODEL 2 " TWO_LAYERS, 2, 1,
     "0: a_FWD/1 *a_FWD_ALLGATHER:2:100#10000000<0 b_FWD/5<1 *b_FWD_ALLGATHER:2:500#10000000<2 b_BWD_IG/6<3 "
     "*b_IG_ALLTOALL:6:600#10000000<4 b_BWD_WG/7<4 *b_WG_ALLREDUCE:0:700#01111111<6 a_BWD_IG/2<6,5 a_BWD_WG/3<8 "
     "*a_WG_ALLREDUCE:0:300#01111111<9 a_UPDATE/4<10"},
    {"HYBRID_MODEL_DATA 2 " TWO_LAYERS, 2, 1,
     "0: a_FWD/1 *a_FWD_ALLGATHER:2:100#01111111<0 b_FWD/5<1 *b_FWD_ALLGATHER:2:500#01111111<2 b_BWD_IG/6<3 "
     "*b_IG_ALLTOALL:6:600#01111111<4 b_BWD_WG/7<4 *b_WG_ALLREDUCE:0:700#10000000<6 a_BWD_IG/2<6,5 a_BWD_WG/3<8 "
     "*a_WG_ALLREDUCE:0:300#10000000<9 a_UPDATE/4<10"},
    {"HYBRID_TRANSFORMER model_parallel_NPU_group: 2 2 " TWO_LAYERS, 4, 1,
     "0: a_FWD/1 *a_FWD_ALLGATHER:2:100@1<0 b_FWD/5<1 *b_FWD_ALLGATHER:2:500@1<2 b_BWD_IG/6<3 *b_IG_ALLTOALL:6:600@1<4 "
     "b_BWD_WG/7<4 *b_WG_ALLREDUCE:0:700@4<6 a_BWD_IG/2<6,5 *a_IG_REDUCESCATTER:7:200@1<8 a_BWD_WG/3<8 "
     "*a_WG_ALLREDUCE:0:300@4<10 a_UPDATE/4<11"},
    {"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 checkpoints: 1 0 checkpoint_initiates: 1 1\n"
     "2 " TWO_LAYERS,
     4, 1,
     "0: a_FWD/1 *a_FWD_ALLGATHER:2:100<0 b_FWD/5<1 *b_FWD_ALLGATHER:2:500<2 a_FWD_IN_BWD/1<3 "
     "*a_FWD_ALLGATHER:2:100<4 b_BWD_IG/6<5 *b_IG_ALLTOALL:6:600<6 b_BWD_WG/7<7 a_BWD_IG/2<8 "
     "*a_IG_REDUCESCATTER:7:200<9 a_BWD_WG/3<10 a_UPDATE/4<11"},
    {"HYBRID_CUSTOMIZED 2 a -1 1000 ALLGATHER 1 2000 NONE 0 3000 ALLREDUCE 2 0 MODEL "
     "b -1 1000 NONE 0 2000 ALLREDUCE 3 3000 ALLREDUCE 4 0 HYBRID_MODEL_DATA",
     2, 1,
     "0: a_FWD/1 *a_FWD_ALLGATHER:2:1<0 b_FWD/1<1 b_BWD_IG/2<2 *b_IG_ALLREDUCE:0:3#01111111<3 b_BWD_WG/3<3 "
     "*b_WG_ALLREDUCE:0:4#10000000<5 a_BWD_IG/2<5,4 a_BWD_WG/3<7"},
    {"DISTRIBUTED_INFERENCE 2 " TWO_LAYERS, 2, 2,
     "0: a_FWD/1 *a_FWD_ALLGATHER:2:100<0 b_FWD/5<1 *b_FWD_ALLGATHER:2:500<2 a_FWD/1<3 *a_FWD_ALLGATHER:2:100<4 "
     "b_FWD/5<5 *b_FWD_ALLGATHER:2:500<6"},
    {"HYBRID_DLRM 1 3 e -1 1000 ALLTOALL 10 2000 ALLTOALL 20 3000 NONE 0 0 "
     "b -1 1000 NONE 0 2000 NONE 0 3000 ALLREDUCE 30 0 t -1 1000 NONE 0 2000 NONE 0 3000 ALLREDUCE 40 0",
     2, 1,
     "0: e_FWD/1 *e_FWD_ALLTOALL:6:10<0 b_FWD/1<0 t_FWD/1<2,1 t_BWD_WG/3<3 *t_WG_ALLREDUCE:0:40<4 t_BWD_IG/2<4 "
     "*e_IG_ALLTOALL:6:20<6 b_BWD_WG/3<6 *b_WG_ALLREDUCE:0:30<8 b_BWD_IG/2<8 e_BWD_WG/3<10,7"},
    {"DATA 1 a -1 1000 NONE 0 0 NONE 0 0 ALLREDUCEALLTOALL 8 0", 1, 1,
     "0: a_FWD/1 *a_WG_ALLREDUCEALLTOALL:0:8<0 *a_WG_ALLREDUCEALLTOALL:6:8<1"},
    {"DATA\n\n0\n\n", 2, 1, "0:"},
};

static void each_strategy_is_the_program_it_stands_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(graphs); i++) {
        struct result result = convert(graphs[i].text, graphs[i].ranks, graphs[i].passes);
        CHECK_OK(result.status, &result.err);
        char *got = line_of(graphs[i].ranks - 1 < 1 ? 0 : 1);
        CHECK(strcmp(got, graphs[i].want) == 0, "%.30s: %s", graphs[i].text, got);
        free(got);
        CHECK_U64(result.summary.files, graphs[i].ranks, "files");
    }
}

static void no_microsecond_is_lost_to_rounding(void **state)
{
    (void)state;
    struct result result = convert("MODEL 3 a -1 400 NONE 0 0 NONE 0 0 NONE 0 0 b -1 400 NONE 0 0 NONE 0 0 NONE 0 0 "
                                   "c -1 400 NONE 0 300 NONE 0 0 NONE 0 0",
                                   1, 2);
    CHECK_OK(result.status, &result.err);
    char *got = line_of(0); /* 3,000 ns in all */
    CHECK_TEXT(got, "0: a_FWD/0 b_FWD/1<0 c_FWD/0<1 c_BWD_IG/1<2 a_FWD/0<3 b_FWD/0<4 c_FWD/1<5 c_BWD_IG/0<6");
    free(got);
}

static void layers_without_compute_do_not_square_the_dependencies(void **state)
{
    (void)state;
    enum { LAYERS = 400 };
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    fprintf(stream, "HYBRID_DATA_MODEL %d\n", LAYERS);
    for (int i = 0; i < LAYERS; i++)
        fprintf(stream, "l%d -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 8 0\n", i);
    fclose(stream);
    struct result result = convert(text, 1, 3);
    CHECK_OK(result.status, &result.err);
    CHECK_U64(result.summary.collectives, 3 * LAYERS, "one a layer and pass");
    char *got = line_of(0);
    CHECK(strlen(got) < 200000, "%zu bytes", strlen(got));
    free(got);
    free(text);
}

static void groups_go_into_a_file_beside_the_traces(void **state)
{
    (void)state;
    struct result result = convert("HYBRID_TRANSFORMER model_parallel_NPU_group: 2 2 " TWO_LAYERS, 4, 1);
    CHECK_OK(result.status, &result.err);
    CHECK_TEXT(groups(), "{\n \"1\": [0, 1],\n \"2\": [2, 3],\n \"3\": [0, 2],\n \"4\": [1, 3]\n}\n");
}

static void what_a_strategy_does_not_carry_out_is_said(void **state)
{
    (void)state;
    struct result result = convert("DATA 2 " TWO_LAYERS, 1, 1);
    CHECK_CONTAINS(result.note, "in.txt:1: 3 collectives left out, this one first: strategy DATA does not carry");
}

/* ---- SimAI ---- */

#define SIMAI_ROWS                                                                                                     \
    "\n2\nemb\t-1\t1000\tALLREDUCE\t64\t1000\tNONE\t0\t1000\tREDUCESCATTER\t32\t0\n"                                   \
    "moe\t-1\t2000\tALLTOALL_EP\t16\t3000\tALLTOALL_EP\t16\t4000\tALLREDUCE_DP_EP\t8\t0\n"

static void simais_words_name_the_group(void **state)
{
    (void)state;
    struct result result =
        convert("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 2 ga: 1 "
                "all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0" SIMAI_ROWS,
                0, 1);
    CHECK_OK(result.status, &result.err);
    CHECK_U64(result.summary.files, 8, "all_gpus");
    char *got = line_of(5);
    CHECK_TEXT(got, "0: emb_FWD/1 *emb_FWD_ALLREDUCE:0:64@3<0 moe_FWD/2<1 *moe_FWD_ALLTOALL:6:16@10<2 moe_BWD_IG/3<3 "
                    "*moe_IG_ALLTOALL:6:16@10<4 moe_BWD_WG/4<5 *moe_WG_ALLREDUCE:0:8@12<6 emb_BWD_IG/1<6 "
                    "emb_BWD_WG/1<8 *emb_WG_REDUCESCATTER:7:32@6<9");
    free(got);
    CHECK_CONTAINS(groups(), "\"3\": [4, 5]");
    CHECK_CONTAINS(groups(), "\"6\": [1, 3, 5, 7]");
    CHECK_CONTAINS(groups(), "\"10\": [5, 7]");
    CHECK_CONTAINS(groups(), "\"12\": [1, 5]");
}

/* 64 bytes on two ranks are 32 of each, 33 on four are 9; a reduce-scatter's size is what a rank gives in both. */
static void simais_all_gathers_become_what_each_rank_gives(void **state)
{
    (void)state;
    struct result result =
        convert("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 8 "
                "checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0\n1\n"
                "col -1 0 ALLGATHER 64 0 REDUCESCATTER 64 0 ALLGATHER 33 0\n",
                0, 1);
    CHECK_OK(result.status, &result.err);
    char *got = line_of(0);
    CHECK_TEXT(got, "0: *col_FWD_ALLGATHER:2:32@1 *col_IG_REDUCESCATTER:7:64@1<0 *col_WG_ALLGATHER:2:9@5<1");
    free(got);
    result = convert("MICRO ep: 1 all_gpus: 4\n1\ncol -1 0 NONE 0 0 NONE 0 0 ALLGATHER 64 0\n", 0, 1);
    CHECK_OK(result.status, &result.err);
    got = line_of(3);
    CHECK_TEXT(got, "0: *col_WG_ALLGATHER:2:16");
    free(got);
}

/* Two stages of two ranks, two micro-batches of one row, one row before them and one behind. */
#define PIPELINE                                                                                                       \
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 2 vpp: 1 ga: 2 all_gpus: 4 checkpoints: 0 " \
    "checkpoint_initiates: 0 pp_comm: 512.0\n4\n"                                                                      \
    "grad_gather -1 0 NONE 0 0 NONE 0 1000 NONE 0 0\n"                                                                 \
    "embedding_layer -1 2000 NONE 0 3000 NONE 0 0 NONE 0 0\n"                                                          \
    "embedding_layer -1 2000 NONE 0 3000 NONE 0 0 NONE 0 0\n"                                                          \
    "optimizer1 -1 4000 NONE 0 0 NONE 0 0 NONE 0 0\n"

static void a_stage_of_a_pipeline_runs_one_forward_and_one_backward_in_turn(void **state)
{
    (void)state;
    struct result result = convert(PIPELINE, 0, 1);
    CHECK_OK(result.status, &result.err);
    CHECK_TEXT(result.note, "");
    CHECK_U64(result.summary.sends, 8, "each rank sends twice");
    CHECK_U64(result.summary.recvs, 8, "and receives twice");
    char *first = line_of(1);
    CHECK_TEXT(first, "0: embedding_layer_FWD/2 to3:512#0<0 embedding_layer_FWD/2<0 to3:512#2<2 from3:512#1<2 "
                      "embedding_layer_BWD_IG/3<4 from3:512#3<5 embedding_layer_BWD_IG/3<6 optimizer1_FWD/4<7 "
                      "grad_gather_BWD_WG/1<8");
    free(first);
    char *second = line_of(3);
    CHECK_TEXT(second, "0: from1:512#0 embedding_layer_FWD/2<0 embedding_layer_BWD_IG/3<1 to1:512#1<2 from1:512#2<2 "
                       "embedding_layer_FWD/2<4 embedding_layer_BWD_IG/3<5 to1:512#3<6 optimizer1_FWD/4<6 "
                       "grad_gather_BWD_WG/1<8");
    free(second);
}

static void a_pipeline_keeps_its_groups_within_a_stage(void **state)
{
    (void)state;
    struct result result =
        convert("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 2 vpp: 1 ga: 1 "
                "all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 8388608.0" SIMAI_ROWS,
                0, 1);
    CHECK_OK(result.status, &result.err);
    CHECK_CONTAINS(groups(), "\"5\": [0, 2],\n \"6\": [1, 3],\n \"7\": [4, 6]");
}

/* ---- what is refused ---- */

#define SIMAI "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: "

static const struct {
    const char *text;
    uint32_t ranks;
    const char *want;
} bad[] = {
    {"DATA 2 " TWO_LAYERS, 0, "in.txt: how many ranks run it is not in the text"},
    {"DATA 3 " TWO_LAYERS, 1, "in.txt:2: the file ends after 2 of 3 layers"},
    {"DATA 1 " TWO_LAYERS, 1, "in.txt:2: \"b\" stands behind the last of 1 layers"},
    {"DATA -1 " TWO_LAYERS, 1, "in.txt:1: the number of layers is negative"},
    {"DATA 1 a -1 1 ALREDUCE 1 1 NONE 0 1 NONE 0 0", 1,
     "unknown communication \"ALREDUCE\"; did you mean \"ALLREDUCE\"?"},
    {"DATA 1 a -1 1 NONE 0 1 NONE 0 1 NONE -1 0", 1, "the weight gradient size is negative: -1"},
    {"DATA 1 a -1 1 NONE 0 1 NONE 0 1", 1, "the layer ends before the weight gradient communication"},
    {"DATA 1 a -1 9223372036854775807 NONE 0 1 NONE 0 9223372036854775807 NONE 0 1", 1,
     "the compute times add up to more than 64 bits hold"},
    {"DAT 1", 1, "in.txt:1: unknown strategy \"DAT\"; did you mean \"DATA\"?"},
    {"", 1, "in.txt:1: the file ends before the strategy's name"},
    {"HYBRID_DLRM 2 2 " TWO_LAYERS, 1, "last bottom layer 2 of 2 layers"},
    {"HYBRID_TRANSFORMER model_parallel_NPU_group: 3 2 " TWO_LAYERS, 4, "4 ranks do not divide into"},
    {"HYBRID_TRANSFORMER model_parallel_NPU_group: 0 2 " TWO_LAYERS, 4, "a model-parallel group of 0 ranks"},
    {SIMAI "2 checkpoints: 1 7 checkpoint_initiates: 0 2 " TWO_LAYERS, 4, "layer 7 of 2"},
    {SIMAI "2 checkpoints: 1 1 checkpoint_initiates: 1 0 2 " TWO_LAYERS, 4, "no checkpoint is at or before it"},
    {"HYBRID_CUSTOMIZED 1 a -1 1 NONE 0 1 NONE 0 1 NONE 0 0 MICRO", 1, "a layer's own strategy is DATA, MODEL"},
    {SIMAI "2 ep: 1 pp: 1 gas: 1 all_gpus: 8" SIMAI_ROWS, 0,
     "unknown word \"gas:\" in the header; did you mean \"ga:\"?"},
    {SIMAI "2 ep: 1 pp: 1 all_gpus:" SIMAI_ROWS, 0, "in.txt:1: all_gpus: has no value"},
    {SIMAI "2 ep: 1 pp: 1" SIMAI_ROWS, 0, "give the number of ranks there or as parameter 'ranks' N"},
    {SIMAI "3 ep: 1 pp: 1 all_gpus: 8" SIMAI_ROWS, 0, "8 ranks do not divide into TP 3"},
    {SIMAI "2 ep: 3 pp: 1 all_gpus: 8" SIMAI_ROWS, 0, "expert parallelism of 3 does not divide data parallelism of 4"},
    {"HYBRID_TRANSFORMR ep: 3 all_gpus: 8" SIMAI_ROWS, 0, "unknown policy \"HYBRID_TRANSFORMR\""},
};

static void bad_workloads_are_refused_with_the_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct result result = convert(bad[i].text, bad[i].ranks, 1);
        CHECK(result.status != ORR_OK, "%s", bad[i].want);
        CHECK_CONTAINS(result.err.text, bad[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK_MAP(
        each_strategy_is_the_program_it_stands_for, no_microsecond_is_lost_to_rounding,
        layers_without_compute_do_not_square_the_dependencies, groups_go_into_a_file_beside_the_traces,
        what_a_strategy_does_not_carry_out_is_said, simais_words_name_the_group,
        simais_all_gathers_become_what_each_rank_gives, a_stage_of_a_pipeline_runs_one_forward_and_one_backward_in_turn,
        a_pipeline_keeps_its_groups_within_a_stage, bad_workloads_are_refused_with_the_place)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
