/* SPDX-License-Identifier: Apache-2.0 */
/* The wire format's own rules, without any message: what a varint, a field and a text are, and what they are not. */
#include "io/wire.h"
#include "tests/check.h"

static const struct {
    const char *bytes;
    size_t size;
    uint64_t want;
} varints[] = {
    {"\x00", 1, 0},
    {"\x7f", 1, 127},
    {"\x80\x01", 2, 128},
    {"\xff\x7f", 2, 16383},
    {"\x80\x80\x01", 3, 16384},
    {"\xff\xff\xff\x7f", 4, 268435455},
    {"\x80\x80\x80\x80\x10", 5, UINT64_C(1) << 32},
    {"\xff\xff\xff\xff\xff\xff\xff\x7f", 8, (UINT64_C(1) << 56) - 1},
    {"\x80\x80\x80\x80\x80\x80\x80\x80\x01", 9, UINT64_C(1) << 56},
    {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, UINT64_MAX},
    {"\x81\x00", 2, 1}, /* longer than it need be, as protobuf allows */
};

static void a_varint_is_read_the_same_with_and_without_bytes_behind_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(varints); i++) {
        uint8_t buffer[32];
        memset(buffer, 0xff, sizeof buffer);
        memcpy(buffer, varints[i].bytes, varints[i].size);
        for (size_t behind = 0; behind <= 12; behind++) {
            uint64_t got = 7;
            const uint8_t *next = wire_varint(buffer, buffer + varints[i].size + behind, &got);
            CHECK(next == buffer + varints[i].size, "case %zu ends elsewhere", i);
            CHECK_U64(got, varints[i].want, "case %zu with %zu bytes behind", i, behind);
        }
    }
}

static void a_varint_is_written_in_the_fewest_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(varints); i++) {
        uint8_t buffer[WIRE_VARINT_MAX];
        size_t size = wire_varint_put(buffer, varints[i].want);
        CHECK_U64(size, wire_varint_size(varints[i].want), "case %zu as counted", i);
        CHECK(size <= varints[i].size, "case %zu is longer than it need be", i);
        uint64_t got = 7;
        CHECK(wire_varint(buffer, buffer + size, &got) == buffer + size, "case %zu ends elsewhere", i);
        CHECK_U64(got, varints[i].want, "case %zu read again", i);
    }
}

static void a_varint_that_does_not_end_is_refused(void **state)
{
    (void)state;
    uint8_t endless[16];
    memset(endless, 0x80, sizeof endless);
    uint64_t value;
    for (size_t size = 0; size <= sizeof endless; size++) {
        CHECK(wire_varint(endless, endless + size, &value) == NULL, "%zu bytes without an end", size);
    }
}

static const struct {
    const char *bytes;
    size_t size;
    const char *fault;
} bad_fields[] = {
    {"\x00\x00", 2, "numbered 0"},
    {"\x03", 1, "numbered 0"},
    {"\x80\x80\x80\x80\x80\x01", 6, "tag that does not end"},
    {"\x08", 1, "number that does not end"},
    {"\x08\x80", 2, "number that does not end"},
    {"\x0a\x02\x41", 3, "runs past the end"},
    {"\x0a\xff\xff\xff\xff\xff\x01", 7, "length that does not end"},
    {"\x09\x00\x00\x00", 4, "cut short"},
    {"\x0d\x00\x00", 3, "cut short"},
    {"\x0b", 1, "wire type"},
    {"\x0c", 1, "wire type"},
    {"\x0e\x00", 2, "wire type"},
    {"\x0f\x00", 2, "wire type"},
};

static void a_damaged_field_is_refused_with_the_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad_fields); i++) {
        const uint8_t *at = (const uint8_t *)bad_fields[i].bytes;
        struct wire_field field;
        CHECK(wire_field_read(at, at + bad_fields[i].size, &field) == NULL, "case %zu is read", i);
        CHECK_CONTAINS(wire_field_fault(at, at + bad_fields[i].size), bad_fields[i].fault);
    }
}

static void a_field_carries_its_value_and_where_it_ends(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0x08, 0x96, 0x01, 0xd8, 0x01, 0x01, 0x12, 0x02, 'h',  'i',
                                    0x1d, 1,    0,    0,    0x80, 0x21, 2,    0,    0,    0,
                                    0,    0,    0,    0x80, 0xf8, 0xff, 0xff, 0xff, 0x0f, 5};
    static const struct {
        uint32_t tag;
        uint64_t value;
    } want[] = {{WIRE_TAG(1, WIRE_VARINT), 150},
                {WIRE_TAG(27, WIRE_VARINT), 1},
                {WIRE_TAG(2, WIRE_BYTES), 2},
                {WIRE_TAG(3, WIRE_FIXED32), 0x80000001u},
                {WIRE_TAG(4, WIRE_FIXED64), UINT64_C(0x8000000000000002)},
                {WIRE_TAG(536870911, WIRE_VARINT), 5}};
    const uint8_t *at = bytes;
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        struct wire_field field;
        at = wire_field_read(at, bytes + sizeof bytes, &field);
        CHECK(at != NULL, "field %zu is refused", i);
        CHECK_U64(field.tag, want[i].tag, "field %zu", i);
        CHECK_U64(field.value, want[i].value, "field %zu", i);
    }
    CHECK(at == bytes + sizeof bytes, "bytes are left");
}

static void zigzag_alternates_between_the_signs(void **state)
{
    (void)state;
    CHECK_U64(wire_zigzag(0), 0, "0");
    CHECK_U64(wire_zigzag(1), (uint64_t)-1, "1");
    CHECK_U64(wire_zigzag(2), 1, "2");
    CHECK_U64(wire_zigzag(UINT64_MAX), (uint64_t)INT64_MIN, "the largest");
    CHECK_U64(wire_zigzag(UINT32_MAX), (uint64_t)INT32_MIN, "the largest of 32 bits");
}

static const struct {
    const char *text;
    bool valid;
} texts[] = {
    {"", true},
    {"plain ASCII of some length", true},
    {"\xc3\xa9", true},
    {"caf\xc3\xa9 au lait", true},
    {"\xe2\x82\xac\xf0\x9f\x98\x80", true},
    {"\xff", false},
    {"\x80", false},
    {"\xc3", false},
    {"12345678\xc3", false},
    {"\xc0\xaf", false},             /* overlong */
    {"\xe0\x9f\xbf", false},         /* overlong */
    {"\xed\xa0\x80", false},         /* a surrogate */
    {"\xf4\x90\x80\x80", false},     /* above U+10FFFF */
    {"12345678\xe2\x82 345", false}, /* cut in the middle */
};

static void a_text_is_utf8_or_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        bool valid = wire_utf8_valid((const uint8_t *)texts[i].text, strlen(texts[i].text));
        CHECK(valid == texts[i].valid, "case %zu", i);
    }
}

TEST_MAIN(a_varint_is_read_the_same_with_and_without_bytes_behind_it, a_varint_is_written_in_the_fewest_bytes,
          a_varint_that_does_not_end_is_refused, a_damaged_field_is_refused_with_the_reason,
          a_field_carries_its_value_and_where_it_ends, zigzag_alternates_between_the_signs,
          a_text_is_utf8_or_is_refused)
