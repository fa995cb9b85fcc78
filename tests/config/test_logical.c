/* SPDX-License-Identifier: Apache-2.0 */
/* The logical topology: the dimensions that collectives see. */
#include "config/wired.h"
#include "tests/config/reading.h"

static enum orr_status parse(struct reading *reading, const char *text, struct topo_dims *dims)
{
    return config_parse_logical("l.json", text, strlen(text), &reading->notes, dims, &reading->err);
}

static void sizes_are_texts_or_numbers(void **state)
{
    (void)state;
    struct reading reading;
    struct topo_dims dims;
    reading_begin(&reading, true);
    CHECK_OK(parse(&reading, "{\"logical-dims\": [\"8\", 2]}", &dims), &reading.err);
    CHECK_U64(dims.count, 2, "dimensions");
    CHECK_U64(dims.dim[0].size, 8, "dimension 0");
    CHECK_U64(dims.dim[1].size, 2, "dimension 1");
    reading_end(&reading);
}

static void an_unknown_key_is_told(void **state)
{
    (void)state;
    struct reading reading;
    struct topo_dims dims;
    reading_begin(&reading, false);
    CHECK_OK(parse(&reading, "{\n\"logical-dim\": 3,\n\"logical-dims\": [\"4\"]}", &dims), &reading.err);
    check_noted(&reading, "l.json:2: unknown key \"logical-dim\" is ignored");
    reading_end(&reading);
}

static void what_is_not_a_list_of_sizes_is_refused(void **state)
{
    (void)state;
    static const struct bad_text bad[] = {
        {"", "l.json:1: "},
        {"[]", "l.json: \"logical-dims\" is missing"},
        {"{}", "l.json: \"logical-dims\" is missing, as in {\"logical-dims\": [\"8\", \"2\"]}"},
        {"{\"logical-dims\": 8}", "l.json:1: logical-dims is 8; it must be a list of 1 to"},
        {"{\"logical-dims\": []}", "it must be a list of 1 to"},
        {"{\"logical-dims\": [\"x\"]}", "l.json:1: a logical dimension is \"x\", not a whole number"},
        {"{\"logical-dims\": [1.5]}", "not a whole number"},
        {"{\"logical-dims\":\n[0]}", "l.json:2: a logical dimension is 0; it must be at least 1"},
        {"{\"logical-dims\": [\"-4\"]}", "a logical dimension is -4; it must be at least 1"},
        {"{\"logical-dims\": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}", "it must be a list of 1 to"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct reading reading;
        struct topo_dims dims;
        reading_begin(&reading, false);
        check_refusal(&reading, parse(&reading, bad[i].text, &dims), &bad[i]);
        reading_end(&reading);
    }
}

TEST_MAIN(sizes_are_texts_or_numbers, an_unknown_key_is_told, what_is_not_a_list_of_sizes_is_refused)
