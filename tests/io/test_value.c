/* SPDX-License-Identifier: Apache-2.0 */
/* JSON and YAML as trees: every value knows its line, whatever the layout. */
#include "io/json.h"
#include "io/yaml.h"
#include "tests/check.h"

struct tree {
    struct mem mem;
    struct arena arena;
    struct orr_error err;
    struct io_value *root;
};

static void tree_begin(struct tree *tree)
{
    *tree = (struct tree){.mem = {0}};
    arena_init(&tree->arena, &tree->mem);
}

static void tree_end(struct tree *tree)
{
    arena_free(&tree->arena);
    CHECK_U64(tree->mem.used, 0, "the account is square");
}

static void check_line(const struct io_value *value, uint32_t key_line, uint32_t line)
{
    CHECK_U64(value->key_line, key_line, "key %s", value->key != NULL ? value->key : "none");
    CHECK_U64(value->line, line, "value of %s", value->key != NULL ? value->key : "none");
}

static void json_values_know_their_lines(void **state)
{
    (void)state;
    static const char text[] =
        "\n{ \"a\": 1, \"b\\\"}:\"\n:\n\"x\\\\\",\r\n\"c\": [1.5,\n{\"d\":{}},[\n]\n, null], \"e\": -3}\n";
    struct tree tree;
    tree_begin(&tree);
    CHECK_OK(io_json_parse("t", text, strlen(text), &tree.arena, &tree.root, &tree.err), &tree.err);
    check_line(tree.root, 0, 2);
    CHECK_U64(tree.root->count, 4, "members");
    const struct io_value *value = tree.root->first;
    check_line(value, 2, 2);
    value = value->next;
    check_line(value, 2, 4);
    CHECK_TEXT(value->text, "x\\");
    value = value->next;
    check_line(value, 5, 5);
    CHECK_U64(value->count, 4, "items");
    check_line(value->first, 0, 5);
    check_line(value->first->next, 0, 6);
    check_line(value->first->next->first, 6, 6);
    check_line(value->last, 0, 8);
    CHECK(value->last->kind == IO_NULL, "null");
    check_line(value->next, 8, 8);
    CHECK(value->next->integer == -3, "-3");
    tree_end(&tree);
}

static void yaml_values_know_their_lines_and_kinds(void **state)
{
    (void)state;
    static const char text[] = "a: 1\nb:\n  - 2.5\n  - true\n  - [x,\n     'y z']\nc: ~\n";
    struct tree tree;
    tree_begin(&tree);
    CHECK_OK(io_yaml_parse("t", text, strlen(text), &tree.arena, &tree.root, &tree.err), &tree.err);
    const struct io_value *value = tree.root->first;
    check_line(value, 1, 1);
    CHECK(value->kind == IO_INTEGER && value->integer == 1, "a whole number");
    value = value->next;
    check_line(value, 2, 3);
    CHECK(value->first->kind == IO_REAL && value->first->real == 2.5, "a real number");
    CHECK(value->first->next->kind == IO_BOOL && value->first->next->boolean, "a truth value");
    check_line(value->last->last, 0, 6);
    CHECK_TEXT(value->last->last->text, "y z");
    CHECK(value->next->kind == IO_NULL, "nothing");
    check_line(value->next, 7, 7);
    tree_end(&tree);
}

static void numbers_are_decimal_finite_and_whole_where_they_can_be(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum io_kind kind;
        double value;
    } good[] = {
        {"0", IO_INTEGER, 0},
        {"-17", IO_INTEGER, -17},
        {"+5", IO_INTEGER, 5},
        {"1.0", IO_REAL, 1},
        {".5", IO_REAL, 0.5},
        {"5.", IO_REAL, 5},
        {"1e3", IO_REAL, 1000},
        {"1E-3", IO_REAL, 0.001},
        {"0.1", IO_REAL, 0.1},
        {"9223372036854775807", IO_INTEGER, 9223372036854775807.0},
        {"9223372036854775808", IO_REAL, 9223372036854775808.0},
    };
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        struct io_value number = {0};
        CHECK(io_number_parse(good[i].text, &number), "%s", good[i].text);
        CHECK_U64(number.kind, good[i].kind, "%s", good[i].text);
        CHECK((number.kind == IO_INTEGER ? (double)number.integer : number.real) == good[i].value, "%s", good[i].text);
    }
    static const char *const bad[] = {"",   "-",  ".",   "e5",  "1e",  "1e+",   "0x10", "010",
                                      "1 ", " 1", "1,5", "inf", "nan", "1e999", "1_0"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct io_value number = {0};
        CHECK(!io_number_parse(bad[i], &number), "\"%s\"", bad[i]);
    }
}

static void a_text_is_shown_printable_and_cut_between_characters(void **state)
{
    (void)state;
    char buffer[80];
    CHECK_TEXT(io_text_printable("a\tb\x7f", buffer, sizeof buffer), "a?b?");
    CHECK_TEXT(io_text_printable("äöü äöü", buffer, 12), "äöü …");
    CHECK_TEXT(io_text_printable("", buffer, sizeof buffer), "");
    struct io_value value = {.kind = IO_TEXT, .text = "x"};
    CHECK_TEXT(io_value_describe(&value, buffer, sizeof buffer), "\"x\"");
}

TEST_MAIN(json_values_know_their_lines, yaml_values_know_their_lines_and_kinds,
          numbers_are_decimal_finite_and_whole_where_they_can_be, a_text_is_shown_printable_and_cut_between_characters)
