/* SPDX-License-Identifier: Apache-2.0 */
/* Every document written parses, and says what was put in. */
#include "io/json_write.h"
#include "tests/check.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

static void containers_nest_and_flat_ones_stay_on_a_line(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    struct json_writer json;
    json_write_begin(&json, stream);
    json_write_object(&json, false);
    json_write_key(&json, "a");
    json_write_array(&json, true);
    json_write_u64(&json, UINT64_MAX);
    json_write_i64(&json, INT64_MIN);
    json_write_object(&json, false);
    json_write_key(&json, "b");
    json_write_bool(&json, true);
    json_write_object_end(&json);
    json_write_array_end(&json);
    json_write_key(&json, "c");
    json_write_array(&json, false);
    json_write_array_end(&json);
    json_write_key(&json, "d");
    json_write_ns_as_us(&json, 1002003);
    json_write_key(&json, "e");
    json_write_fixed(&json, -2.5, 2);
    json_write_key(&json, "f");
    json_write_fixed(&json, NAN, 2);
    json_write_member_u64(&json, "g", 7);
    json_write_member_i64(&json, "h", -7);
    json_write_member_bool(&json, "i", false);
    json_write_member_fixed(&json, "j", 0.5, 1);
    json_write_member_string(&json, "k", "text");
    json_write_member_string(&json, "l", NULL);
    json_write_object_end(&json);
    json_write_end(&json);
    (void)fclose(stream);
    CHECK_TEXT(text, "{\n \"a\": [18446744073709551615, -9223372036854775808, {\"b\": true}],\n \"c\": [],\n"
                     " \"d\": 1002.003,\n \"e\": -2.50,\n \"f\": null,\n \"g\": 7,\n \"h\": -7,\n \"i\": false,\n"
                     " \"j\": 0.5,\n \"k\": \"text\",\n \"l\": null\n}\n");
    free(text);
}

static const struct {
    const char *bytes, *want; /* want: what a reader gets back */
} strings[] = {
    {"plain", "plain"},
    {"\"\\/\b\f\n\r\t\x01\x7f", "\"\\/\b\f\n\r\t\x01\x7f"},
    {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
    {"\xff", "\xef\xbf\xbd"},
    {"a\xc3", "a\xef\xbf\xbd"},                                               /* cut in the middle */
    {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                                 /* overlong */
    {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},                 /* a surrogate */
    {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* beyond U+10FFFF */
};

static void any_bytes_come_back_as_valid_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(strings); i++) {
        char *text = NULL;
        size_t size = 0;
        FILE *stream = open_memstream(&text, &size);
        struct json_writer json;
        json_write_begin(&json, stream);
        json_write_array(&json, true);
        json_write_string(&json, strings[i].bytes);
        json_write_array_end(&json);
        json_write_end(&json);
        (void)fclose(stream);
        json_error_t error;
        json_t *root = json_loads(text, 0, &error);
        CHECK(root != NULL, "row %zu: %s", i, error.text);
        CHECK_TEXT(json_string_value(json_array_get(root, 0)), strings[i].want);
        json_decref(root);
        free(text);
    }
}

TEST_MAIN(containers_nest_and_flat_ones_stay_on_a_line, any_bytes_come_back_as_valid_text)
