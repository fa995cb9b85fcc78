/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of operators: every form of a shape, and what is refused with its place. */
#include <stdlib.h>

#include "compute/op_table.h"
#include "tests/check.h"
#include "tests/folder.h"

static const char *write_table(const char *text)
{
    const char *path = folder_path("table.csv");
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, "%s is written", path);
    return path;
}

/* The first row, or the error. */
static enum orr_status read_first(const char *text, struct op_row *row, struct orr_error *err)
{
    struct mem mem = {.limit = 0};
    struct op_table table;
    struct csv_row csv;
    bool more = false;
    const struct orr_op_table_options options = {.input = write_table(text), .device = "h200"};
    enum orr_status status = op_table_open(&options, &mem, &table, err);
    status = status != ORR_OK ? status : op_table_next(&table, row, &csv, &more, err);
    op_table_close(&table);
    return status;
}

static void shapes_come_in_columns_in_numbers_and_in_one_text(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum orr_op_kind kind;
        enum orr_op_stack stack;
        uint64_t dims[ORR_OP_DIMS];
    } cases[] = {
        {"op,device,m,n,k\ngemm,h100_sxm,1,2,3\n", ORR_OP_GEMM, ORR_OP_SERVING, {1, 2, 3}},
        {"op,m,n,k\ngemm,1,2,3\n", ORR_OP_GEMM, ORR_OP_TORCH, {1, 2, 3}},
        {"op,stack,m,n,k\ngemm,kernel,1,2,3\n", ORR_OP_GEMM, ORR_OP_KERNEL, {1, 2, 3}},
        {"op,p0,p1,p2,p3\nattn_fwd,1,8,1024,64\n", ORR_OP_ATTENTION_FULL, ORR_OP_TORCH, {1, 1024, 8, 8, 64}},
        {"op,shape\nbmm,16x128x2560x1536\n", ORR_OP_BATCHED_GEMM, ORR_OP_TORCH, {16, 128, 2560, 1536}},
        {"op,shape\nconv2d,B8 C3 K64 H224 W224 R7 stride2\n", ORR_OP_CONV2D, ORR_OP_TORCH, {8, 3, 64, 224, 7, 2}},
        {"op,device,batch,seq,heads,kv_heads,head_dim\nattention-forward,gb300,2,512,32,8,128\n",
         ORR_OP_ATTENTION,
         ORR_OP_SERVING,
         {2, 512, 32, 8, 128}},
        {"op,batch,seq,heads,head_dim,causal\nattention-backward,2,512,32,128,0\n",
         ORR_OP_ATTENTION_FULL_BACKWARD,
         ORR_OP_TORCH,
         {2, 512, 32, 32, 128}},
        {"op,m,n\nlayernorm-forward,4096,1024\n", ORR_OP_LAYERNORM, ORR_OP_TORCH, {4096, 1024}},
        {"op,m,n,k\nembedding-forward,4096,50304,1024\n", ORR_OP_EMBEDDING, ORR_OP_TORCH, {4096, 50304, 1024}},
        {"op,batch,channels,height,width\nbatchnorm-forward,32,256,14,14\n",
         ORR_OP_BATCHNORM,
         ORR_OP_TORCH,
         {32 * 14 * 14, 256}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct orr_error err = {0};
        struct op_row row;
        enum orr_status status = read_first(cases[i].text, &row, &err);
        CHECK(status == ORR_OK, "case %zu: %s", i, err.text);
        CHECK(row.op.kind == cases[i].kind && row.stack == cases[i].stack, "case %zu: operator and stack", i);
        CHECK(memcmp(row.op.dims, cases[i].dims, sizeof row.op.dims) == 0, "case %zu: its shape", i);
    }
}

static void what_cannot_be_understood_is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"device,m,n,k\nh100,1,2,3\n", "no column \"op\""},
        {"op,m,n,k\ngem,1,2,3\n", "table.csv:2: unknown operator \"gem\" (did you mean \"gemm\"?)"},
        {"op,device,m,n,k\ngemm,h1o0,1,2,3\n", "table.csv:2: unknown device \"h1o0\""},
        {"op,dtype,m,n,k\ngemm,bf61,1,2,3\n", "unknown type of number"},
        {"op,m,n\ngemm,1,2\n", "gemm needs a column \"k\""},
        {"op,m,n,k\ngemm,1,2,-3\n", "a whole number up to 10^13, found \"-3\""},
        {"op,m,n,k\ngemm,1,2,1e300\n", "a whole number"},
        {"op,m,n,k\ngemm,1,2,0\n", "k of gemm is 0"},
        {"op,m,n,k,us\ngemm,1,2,3,-1\n", "microseconds above 0, found \"-1\""},
        {"op,m,n,k,us\ngemm,1,2,3,nan\n", "microseconds above 0"},
        {"op,shape\nbmm,1x2x3\n", "batched-gemm takes 4 numbers"},
        {"op,shape\ngemm,B1 C2\n", "accepted for a convolution"},
        {"op,stack,m,n,k\ngemm,tosh,1,2,3\n", "unknown stack"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct orr_error err = {0};
        struct op_row row;
        CHECK_STATUS(read_first(cases[i].text, &row, &err), ORR_EINVAL);
        CHECK_CONTAINS(err.text, cases[i].said);
    }
}

static void read_whole(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "r");
    CHECK(file != NULL && fread(text, 1, size - 1, file) > 0, "the table is there");
    (void)fclose(file);
}

static void a_table_of_predictions_keeps_its_columns_and_adds_ours(void **state)
{
    (void)state;
    struct orr_error err = {0};
    struct orr_op_table_result result = {0};
    const struct orr_op_table_options options = {
        .input = write_table("note,device,dtype,m,n,k,us_best\n\"a, b\",h100_sxm,bf16,2048,4096,4096,86.69\n"
                             "c,gb300,bf16,2048,4096,4096,\n"),
        .op = "gemm",
        .output = folder_path("out.csv"),
    };
    char text[2000] = {0};
    CHECK_STATUS(orr_op_predict_table(&options, stdout, &result, &err), ORR_OK);
    read_whole(options.output, text, sizeof text);
    CHECK_CONTAINS(text,
                   "note,device,dtype,m,n,k,us_best,predicted_us,predicted_kernel_us,predicted_launch_us,bound_by,"
                   "method,from,spread,");
    CHECK_CONTAINS(text, "\"a, b\",h100_sxm,bf16,2048,4096,4096,86.69,86.");
    CHECK_CONTAINS(text, ",relative,b300,");
    CHECK(result.rows == 2 && result.measured == 1 && result.worst < 0.002, "two rows, one of them measured");
}

/* What was measured is called kernel_us in tables of collect/bench_ops.py; it must not be taken for an answer. */
static void a_table_that_was_answered_is_answered_again_not_doubled(void **state)
{
    (void)state;
    struct orr_error err = {0};
    struct orr_op_table_result result = {0};
    char once[2000] = {0}, twice[2000] = {0};
    struct orr_op_table_options options = {
        .input = write_table("device,dtype,m,n,k,kernel_us\nh200,bf16,2048,4096,4096,86.69\n"),
        .op = "gemm",
        .output = folder_path("once.csv"),
    };
    CHECK_STATUS(orr_op_predict_table(&options, stdout, &result, &err), ORR_OK);
    read_whole(options.output, once, sizeof once);
    CHECK_CONTAINS(once, "kernel_us,predicted_us,");
    CHECK_CONTAINS(once, ",4096,86.69,");
    options.input = options.output;
    options.output = folder_path("twice.csv");
    CHECK_STATUS(orr_op_predict_table(&options, stdout, &result, &err), ORR_OK);
    read_whole(options.output, twice, sizeof twice);
    assert_string_equal(once, twice);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_come_in_columns_in_numbers_and_in_one_text),
        cmocka_unit_test(what_cannot_be_understood_is_refused_with_its_place),
        cmocka_unit_test(a_table_of_predictions_keeps_its_columns_and_adds_ours),
        cmocka_unit_test(a_table_that_was_answered_is_answered_again_not_doubled),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
