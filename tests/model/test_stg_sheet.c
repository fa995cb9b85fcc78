/* SPDX-License-Identifier: Apache-2.0 */
/* The language of sheets: expressions, their one form and their text, rows, and what is said of a row that is wrong. */
#include <stdlib.h>
#include <unistd.h>

#include "model/stg/expr_text.h"
#include "model/stg/sheet.h"
#include "tests/check.h"
#include "tests/folder.h"

static const struct {
    const char *text, *printed;
} expressions[] = {
    {"Batch/dp", "Batch/dp"},
    {"(Seq/cp)/tp", "Seq/(cp*tp)"},
    {"Dmodel/1", "Dmodel"},
    {"(Head+2*Head)/tp", "3*Head/tp"},
    {"(2*KVHead+Head)/tp", "(Head + 2*KVHead)/tp"},
    {"2*(Head+KVHead)", "2*Head + 2*KVHead"},
    {"Dmodel*Dmodel*(Head+2*KVHead)/(Head*tp) + Dmodel*Dmodel/tp + 4*Dff*Dmodel/tp",
     "4*Dff*Dmodel/tp + Dmodel**2/tp + Dmodel**2*(Head + 2*KVHead)/(Head*tp)"},
    {"1/(dp*cp)", "1/(cp*dp)"},
    {"0.5*Seq", "Seq/2"},
    {"Seq-Seq", "0"},
    {"-Seq**2/-3", "Seq**2/3"},
    {"Dmodel - 2*Seq", "Dmodel - 2*Seq"},
    {"Dmodel**-1", "1/Dmodel"},
    {"(Seq+1)**2/(Seq+1)", "Seq + 1"},
};

static void an_expression_has_one_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(expressions); i++) {
        struct mem mem = {0};
        struct stg_exprs exprs;
        struct stg_text text;
        struct orr_error err = {0};
        uint32_t expr = 0;
        uint32_t again = 0;
        const char *source = expressions[i].text;
        stg_exprs_init(&exprs, &mem);
        stg_text_init(&text, &mem);
        CHECK_OK(stg_expr_parse(&exprs, "t:1", 1, source, strlen(source), &expr, &err), &err);
        stg_expr_print(&exprs, expr, &text);
        stg_text_bytes(&text, "", 1);
        CHECK(strcmp(text.bytes, expressions[i].printed) == 0, "%s is printed %s", source, text.bytes);
        CHECK_OK(stg_expr_parse(&exprs, "t:1", 1, text.bytes, text.size - 1, &again, &err), &err);
        CHECK_U64(again, expr, "%s reads back the same", text.bytes);
        stg_text_free(&text);
        stg_exprs_free(&exprs);
        CHECK_U64(mem.used, 0, "nothing stays");
    }
}

static const struct {
    const char *text, *message;
} wrong[] = {
    {"Bacth/dp", "t:3:7: unknown symbol (did you mean Batch?) in \"Bacth/dp\""},
    {"Seq/", "a number, a symbol or \"(\" is missing before \"\""},
    {"(Seq", "\")\" is missing"},
    {"Seq Seq", "t:3:11: \"+\", \"-\", \"*\" or \"/\" is missing before \"Seq\""},
    {"Seq/0", "a division by 0"},
    {"99999999999999999999", "too large a number"},
    {"Seq**99", "too large"},
    {"Seq**Seq", "a whole number is missing"},
    {"((((((((((((((((((((((((((((((((((1", "nest too deep"},
    {"9000000000000000000*9", "too large"},
};

static void a_wrong_expression_names_its_column(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct mem mem = {0};
        struct stg_exprs exprs;
        struct orr_error err = {0};
        uint32_t expr = 7;
        stg_exprs_init(&exprs, &mem);
        enum orr_status status = stg_expr_parse(&exprs, "t:3", 7, wrong[i].text, strlen(wrong[i].text), &expr, &err);
        CHECK(status != ORR_OK, "%s is refused", wrong[i].text);
        CHECK_CONTAINS(err.text, wrong[i].message);
        CHECK_U64(expr, 7, "the result is written only on success");
        stg_exprs_free(&exprs);
    }
}

/* ---- sheets ---- */

#define HEADER "id,require_grads,x1,x2,op_type,op_attr,x1_shape,x1_hidden,x2_shape,x2_hidden,grad_of,extra_attr\n"
#define PORTS  "{\"symbols\": [\"Batch\", \"Seq\"], \"in_tensors\": [\"x\"], \"out_tensors\": [\"y\"]}"

static void write_text(const char *name, const char *text)
{
    char path[64];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static enum orr_status read_sheet(const char *table, const char *ports, struct orr_error *err)
{
    struct mem mem = {0};
    struct stg_space space;
    struct stg_graph sheet;
    write_text("s.csv", table);
    write_text("s.json", ports);
    stg_space_init(&space, &mem);
    stg_graph_init(&sheet, &space);
    char paths[2][64];
    (void)snprintf(paths[0], sizeof paths[0], "%s/s.csv", folder);
    (void)snprintf(paths[1], sizeof paths[1], "%s/s.json", folder);
    enum orr_status status = stg_sheet_read(paths[0], paths[1], &sheet, err);
    stg_graph_free(&sheet);
    stg_space_free(&space);
    CHECK_U64(mem.used, 0, "nothing stays");
    return status;
}

static void a_sheet_is_read_with_its_ports(void **state)
{
    (void)state;
    struct orr_error err = {0};
    CHECK_OK(read_sheet(HEADER "x,N,,,T,,\"Batch, Seq\",1,,,,\ny,N,x,,E,2,\"Batch, Seq\",1,,,,\n", PORTS, &err), &err);
}

static const struct {
    const char *rows, *ports, *message;
} sheets[] = {
    {"x,N,,,T,,\"Batch, Seq\",1,,,,\ny,N,z,,I,,Batch,1,,,,\n", PORTS, "s.csv:3: x1 \"z\" is not in the sheet"},
    {"x,N,,,T,,\"Batch, Sqe\",1,,,,\n", PORTS, "unknown symbol (did you mean Seq?)"},
    {"x,maybe,,,T,,Batch,1,,,,\n", PORTS, "s.csv:2:3: require_grads: \"maybe\" is neither Y nor N"},
    {"x,N,,,TT,,Batch,1,,,,\n", PORTS, "is not one of T, I, A"},
    {"x,N,,,T,,Batch,1,,,,\nx,N,,,T,,Batch,1,,,,\n", PORTS, "stands twice in the sheet"},
    {"x,N,,,T,,\"Batch, Seq\",1,,,,\ny,N,x,,SLICE,5:Seq,\"Batch, Seq\",1,,,,\n", PORTS, "is not \"axis:size\""},
    {"x,N,,,T,,Batch,1,,,,\ny,N,x,x,M,\"ab,b->a\",Batch,1,Batch,1,,\n", PORTS, "a letter for each dimension"},
    {"x,N,,,T,,Batch,1,,,,\ny,N,x,x,M,\"a,a->b\",Batch,1,Batch,1,,\n", PORTS, "a letter that neither operand has"},
    {"x,N,,,T,,Batch,1,,,,\ny,N,x,x,A,,Batch,1,Seq,1,,\n", PORTS, "must be the same"},
    {"x,N,,,T,,Batch,1,,,,\ny,N,x,,CUSTOM,5,Batch,1,,,,\n", PORTS, "say the shape of the result"},
    {"x,N,,,T,,Batch,1,,,,\ny,N,x,,E,2,Batch,1,,,,\"{\"\"data_deps\"\": [\"\"w\"\"]}\"\n", PORTS,
     "data_deps \"w\" is not in the sheet"},
    {"x,N,,,T,,\"Batch, Seq\",1,,,,\n", PORTS, "out_tensors: \"y\" is not in the sheet"},
    {"x,N,,,T,,Batch,1,,,,\ny,N,x,,I,,Batch,1,,,,\n", PORTS, "symbols: \"Seq\" is listed but not in any shape"},
    {"x,N,,,T,,\"Batch, Seq\",1,,,,\ny,N,x,,I,,Batch,1,,,,\n", "{\"symbol\": []}",
     "unknown key \"symbol\"; did you mean \"symbols\"?"},
    {"x,N,,,T,,\"Batch, Seq\",1,,,,\ny,N,x,,I,,Batch,1,,,,\n",
     "{\"symbols\": [\"Batch\", \"Seq\"], \"in_tensors\": [\"y\"], \"out_tensors\": []}", "inputs are placeholders"},
};

static void a_wrong_sheet_names_file_and_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sheets); i++) {
        struct orr_error err = {0};
        char table[1000];
        (void)snprintf(table, sizeof table, "%s%s", HEADER, sheets[i].rows);
        CHECK_STATUS(read_sheet(table, sheets[i].ports, &err), ORR_EINVAL);
        CHECK_CONTAINS(err.text, sheets[i].message);
        CHECK_CONTAINS(err.text, "/s.");
    }
    struct orr_error err = {0};
    CHECK_STATUS(read_sheet("id,x1\nx,\n", PORTS, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "2 columns; a sheet has id, require_grads");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_expression_has_one_form),
        cmocka_unit_test(a_wrong_expression_names_its_column),
        cmocka_unit_test(a_sheet_is_read_with_its_ports),
        cmocka_unit_test(a_wrong_sheet_names_file_and_line),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
