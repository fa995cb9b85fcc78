/* SPDX-License-Identifier: Apache-2.0 */
/* Texts as Python 3.11 prints them; each row was asked of Python itself. */
#include "compat/chakra/python_repr.h"
#include "tests/check.h"

static const struct {
    const char *json, *want;
} rows[] = {
    {"[]", "[]"},
    {"[1, -2, 0]", "[1, -2, 0]"},
    {"[true, false, null]", "[True, False, None]"},
    {"[[], [[1], {}], {\"k\": 1, \"l\": [2, \"x\"]}]", "[[], [[1], {}], {'k': 1, 'l': [2, 'x']}]"},
    {"[1.0, 0.1, 1e-7, 1e16, 1e22, 123456789012345680.0, 5e-324, 0.0001, 1e-5]",
     "[1.0, 0.1, 1e-07, 1e+16, 1e+22, 1.2345678901234568e+17, 5e-324, 0.0001, 1e-05]"},
    {"[-0.0, 1.5E3, 18446744073709551615, 123456789012345678901234567890]",
     "[-0.0, 1500.0, 18446744073709551615, 123456789012345678901234567890]"},
    {"[NaN, Infinity, -Infinity]", "[nan, inf, -inf]"},
    {"[\"it's\", \"say \\\"hi\\\"\", \"both ' and \\\"\"]", "[\"it's\", 'say \"hi\"', 'both \\' and \"']"},
    {"[\"a\\nb\\rc\\td\", \"back\\\\slash\", \"\\u0000\\u001f\\u007f\", \"\\b\\f\"]",
     "['a\\nb\\rc\\td', 'back\\\\slash', '\\x00\\x1f\\x7f', '\\x08\\x0c']"},
    {"[\"\\u00e9\\u4e2d\", \"\\ud83d\\ude00\"]", "['\xc3\xa9\xe4\xb8\xad', '\xf0\x9f\x98\x80']"},
    {"[\"\\u00a0\\u00ad\\u200b\\u2028\\ufeff\\ue000\"]", "['\\xa0\\xad\\u200b\\u2028\\ufeff\\ue000']"},
    {"[\"\\u0378\\ud83b\\udfff\\udbff\\udfff\"]", "['\\u0378\\U0001efff\\U0010ffff']"},
    {"\"bare 'text'\"", "bare 'text'"},
    {"7", "7"},
};

/* Parsed as the only part of a document that is `{"v": JSON}`. */
static void print(const char *json, struct python_text *text, struct mem *mem)
{
    static const char *const none[] = {NULL};
    char document[512];
    struct orr_error err = {0};
    struct json_stream *stream = NULL;
    struct json_part part = {0};
    bool more = false;
    int size = snprintf(document, sizeof document, "{\"v\": %s}", json);
    CHECK_OK(json_stream_open_bytes(document, (size_t)size, "test", none, 0, mem, &stream, &err), &err);
    CHECK_OK(json_stream_next(stream, &part, &more, &err), &err);
    CHECK(more && python_text_add(text, part.item), "%s", json);
    json_stream_close(stream);
}

static void values_print_as_python_prints_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct mem mem = {0};
        struct python_text text;
        python_text_init(&text, &mem);
        print(rows[i].json, &text, &mem);
        CHECK(text.size == strlen(rows[i].want) && memcmp(text.bytes, rows[i].want, text.size) == 0,
              "%s gives %.*s, not %s", rows[i].json, (int)text.size, text.bytes, rows[i].want);
        python_text_free(&text);
        CHECK_U64(mem.used, 0, "all memory is given back");
    }
}

static void lists_may_nest_deep(void **state)
{
    enum { DEPTH = 200 };
    (void)state;
    char json[2 * DEPTH + 1] = "";
    struct mem mem = {0};
    struct python_text text;
    memset(json, '[', DEPTH);
    memset(json + DEPTH, ']', DEPTH);
    python_text_init(&text, &mem);
    print(json, &text, &mem);
    CHECK(text.size == sizeof json - 1 && memcmp(text.bytes, json, text.size) == 0, "a list of lists of lists");
    python_text_free(&text);
}

/* Counted with Python 3.11: sum(chr(c).isprintable() for c in range(0x110000)). */
static void as_many_code_points_are_printable_as_in_python(void **state)
{
    (void)state;
    uint32_t count = 0;
    for (uint32_t code = 0; code < 0x110000; code++)
        count += python_is_printable(code);
    CHECK_U64(count, 144516, "Unicode 14");
}

TEST_MAIN(values_print_as_python_prints_them, lists_may_nest_deep, as_many_code_points_are_printable_as_in_python)
