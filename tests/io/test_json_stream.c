/* SPDX-License-Identifier: Apache-2.0 */
/* Documents part by part. Each case is a document and the parts it must give, written as text: see parts_of. */
#include "io/json_stream.h"

#include <math.h>
#include <stdlib.h>

#include "io/outfile.h"
#include "tests/check.h"
#include "tests/folder.h"

static const char *const named[] = {"events", "nodes", "", NULL};

static void put_item(FILE *out, const struct json_item *item)
{
    static const char kinds[] = "nftibrsAO";
    (void)fputc(kinds[item->kind], out);
    switch (item->kind) {
    case JSON_ITEM_INT:
        (void)fprintf(out, "%" PRId64, item->value.integer);
        break;
    case JSON_ITEM_BIG:
        (void)fprintf(out, "%.*s", (int)item->length, item->text);
        break;
    case JSON_ITEM_REAL:
        (void)fprintf(out, "%.17g", item->value.real);
        break;
    case JSON_ITEM_STRING:
        (void)fprintf(out, "'%.*s'", (int)item->length, item->text);
        break;
    case JSON_ITEM_ARRAY:
    case JSON_ITEM_OBJECT:
        (void)fprintf(out, "%" PRIu32, item->span);
        break;
    case JSON_ITEM_NULL:
    case JSON_ITEM_FALSE:
    case JSON_ITEM_TRUE:
        break;
    }
}

/* "key=items;" for a whole value, "key[i]=items;" for an element, "key[];" for an empty array. The error's text follows
 * "!" when reading fails; "~" is added when something was forgiven. */
static void put_parts(FILE *out, struct json_stream *stream)
{
    struct orr_error err = {0};
    struct json_part part = {0};
    bool more = true;
    enum orr_status status = ORR_OK;
    while ((status = json_stream_next(stream, &part, &more, &err)) == ORR_OK && more) {
        (void)fputs(part.key, out);
        if (part.is_empty) {
            (void)fputs("[];", out);
            continue;
        }
        if (part.is_element) {
            (void)fprintf(out, "[%" PRIu64 "]", part.index);
        }
        for (uint32_t i = 0; i < part.item->span; i++) {
            (void)fputc(i == 0 ? '=' : ' ', out);
            put_item(out, &part.item[i]);
        }
        (void)fputc(';', out);
    }
    if (status != ORR_OK) {
        (void)fprintf(out, "!%s", err.text);
    }
    if (json_stream_was_cut(stream)) {
        (void)fputc('~', out);
    }
}

/* The parts of a document as text, to be freed. */
static char *parts_of(const char *bytes, size_t size, unsigned flags)
{
    struct mem mem = {0};
    struct orr_error err = {0};
    struct json_stream *stream = NULL;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    CHECK_OK(json_stream_open_bytes(bytes, size, "doc", named, flags, &mem, &stream, &err), &err);
    put_parts(out, stream);
    json_stream_close(stream);
    CHECK_U64(mem.used, 0, "everything is given back");
    (void)fclose(out);
    return text;
}

/* The same whether the document is at hand whole or comes in small pieces. */
static void check_parts(const char *document, unsigned flags, const char *want)
{
    for (unsigned window = 0; window < 2; window++) {
        char *got = parts_of(document, strlen(document), flags | (window == 0 ? 0u : JSON_STREAM_SMALL_WINDOW));
        CHECK(strcmp(got, want) == 0, "%s gives, window %u,\n  %s, not\n  %s", document, window, got, want);
        free(got);
    }
}

static const struct {
    const char *document, *want;
} good[] = {
    {"{}", ""},
    {" \n{ }\t", ""},
    {"[]", "[];"},
    {"[ ]\n", "[];"},
    {"[1,-2]", "[0]=i1;[1]=i-2;"},
    {"3", "=i3;"},
    {"\"x\"", "=s'x';"},
    {"null", "=n;"},
    {"{\"a\":1,\"b\":[1,2]}", "a=i1;b=A3 i1 i2;"},
    {"{\"events\":[{\"a\":1},{\"b\":[]}],\"z\":{}}", "events[0]=O3 s'a' i1;events[1]=O3 s'b' A1;z=O1;"},
    {"{\"events\":[],\"nodes\":[ 5 ]}", "events[];nodes[0]=i5;"},
    {"{\"events\":{\"a\":[1]}}", "events=O4 s'a' A2 i1;"},
    {"{\"events\":[[]],\"events\":[true]}", "events[0]=A1;events[0]=t;"},
    {"[{\"a\":1,\"a\":2}]", "[0]=O5 s'a' i1 s'a' i2;"},
    {"[true,false,null]", "[0]=t;[1]=f;[2]=n;"},
    {"[0,-0,9223372036854775807,-9223372036854775808]", "[0]=i0;[1]=i0;[2]=i9223372036854775807;"
                                                        "[3]=i-9223372036854775808;"},
    {"[9223372036854775808,-9223372036854775809]", "[0]=b9223372036854775808;[1]=b-9223372036854775809;"},
    {"[123456789012345678901234567890]", "[0]=b123456789012345678901234567890;"},
    {"[0.5,1e3,-2.5E-1,1E+2,0.0]", "[0]=r0.5;[1]=r1000;[2]=r-0.25;[3]=r100;[4]=r0;"},
    {"[3843922307137.410,0.1,1e400,-1e400,1e-400]",
     "[0]=r3843922307137.4102;[1]=r0.10000000000000001;[2]=rinf;[3]=r-inf;[4]=r0;"},
    {"[NaN,Infinity,-Infinity]", "[0]=rnan;[1]=rinf;[2]=r-inf;"},
    {"[\"\",\"a b\",\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]", "[0]=s'';[1]=s'a b';[2]=s'\"\\/\b\f\n\r\t';"},
    {"[\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"]", "[0]=s'A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80';"},
    {"[\"\\\\\", \"x\\\\\" , \"\xc3\xa9\"]", "[0]=s'\\';[1]=s'x\\';[2]=s'\xc3\xa9';"},
    {"{\"a\\u0062\":1,\"\":2}", "ab=i1;=i2;"},
    {"[\"{[,:\", {\"}\":\"]\"}]", "[0]=s'{[,:';[1]=O3 s'}' s']';"},
};

static void a_document_gives_its_parts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        check_parts(good[i].document, 0, good[i].want);
        check_parts(good[i].document, JSON_STREAM_MAY_BE_CUT | JSON_STREAM_REREAD, good[i].want);
    }
}

static const struct {
    const char *document, *want;
} bad[] = {
    {"", "!doc:1: the file is empty; a JSON document is needed"},
    {" \n\n ", "!doc:3: the file is empty; a JSON document is needed"},
    {"{", "!doc:1: no JSON: the document is cut off, it ends before its last bracket"},
    {"\n[1,\n2", "[0]=i1;[1]=i2;!doc:3: no JSON: the document is cut off, it ends before its last bracket"},
    {"[\"abc", "!doc:1: no JSON: the document is cut off, it ends before its last bracket"},
    {"[\"abc\\", "!doc:1: no JSON: the document is cut off, it ends before its last bracket"},
    {"{\"a\"", "!doc:1: no JSON: the document is cut off, it ends before its last bracket"},
    {"[1,]", "[0]=i1;!doc:1: no JSON: expected a value, found \"]\""},
    {"{\"a\":1,}", "a=i1;!doc:1: no JSON: expected a key in quotes, found \"}\""},
    {"[1 2]", "[0]=i1;!doc:1: no JSON: expected a comma or \"]\", found \"2]\""},
    {"{\"a\":1 \"b\":2}", "a=i1;!doc:1: no JSON: expected a comma or \"}\", found \"\"b\":2}\""},
    {"{\"a\" 1}", "!doc:1: no JSON: expected a colon behind a key, found \"1}\""},
    {"{a:1}", "!doc:1: no JSON: expected a key in quotes, found \"a:1}\""},
    {"[{\"a\":1\n\"b\":2}]", "!doc:2: no JSON: expected a comma or \"}\", found \"\"b\":2}]\""},
    {"[[1}]", "!doc:1: no JSON: expected a comma or \"]\", found \"}]\""},
    {"[}", "!doc:1: no JSON: expected a value, found \"}\""},
    {"]", "!doc:1: no JSON: expected a value, found \"]\""},
    {"[1]\n{}", "[0]=i1;!doc:2: no JSON: expected nothing behind the document's end, found \"{}\""},
    {"[] \"", "[];!doc:1: no JSON: expected nothing behind the document's end, found \"\"\""},
    {"{} x", "!doc:1: no JSON: expected nothing behind the document's end, found \"x\""},
    {"[01]", "!doc:1: no JSON: expected a number without leading zeros, found \"01]\""},
    {"[-]", "!doc:1: no JSON: expected a value, found \"-]\""},
    {"[+1]", "!doc:1: no JSON: expected a value, found \"+1]\""},
    {"[1.]", "!doc:1: no JSON: expected a number with digits behind its point and in its exponent, found \"1.]\""},
    {"[1e]", "!doc:1: no JSON: expected a number with digits behind its point and in its exponent, found \"1e]\""},
    {"[.5]", "!doc:1: no JSON: expected a value, found \".5]\""},
    {"[1x]", "!doc:1: no JSON: expected a value, found \"1x]\""},
    {"[1\"a\"]", "!doc:1: no JSON: expected a value, found \"1\"a\"]\""},
    {"[tru]", "!doc:1: no JSON: expected a value, found \"tru]\""},
    {"[nulll]", "!doc:1: no JSON: expected a value, found \"nulll]\""},
    {"[-NaN]", "!doc:1: no JSON: expected a value, found \"-NaN]\""},
    {"['a']", "!doc:1: no JSON: expected a value, found \"'a']\""},
    {"[1]\xff", "[0]=i1;!doc:1: no JSON: expected nothing behind the document's end, found \"?\""},
    {"[\"\\x\"]", "!doc:1: no JSON: an unknown escape in a string (known: \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX), "
                  "at \"\\x\"]\""},
    {"[\"\\u12g4\"]", "!doc:1: no JSON: \\u without four hexadecimal digits in a string, at \"\\u12g4\"]\""},
    {"[\"\\ud800\"]", "!doc:1: no JSON: half of a surrogate pair in a string, at \"\\ud800\"]\""},
    {"[\"\\udc00\\ud800\"]", "!doc:1: no JSON: half of a surrogate pair in a string, at \"\\udc00\\ud800\"]\""},
    {"[1,\"a\nb\"]", "[0]=i1;!doc:1: no JSON: a control character in a string (write it escaped, as \\n), at \"\""},
    {"[\"\xff\"]", "!doc:1: no JSON: invalid UTF-8 in a string, at \"?\"]\""},
    {"[\"\xc0\xaf\"]", "!doc:1: no JSON: invalid UTF-8 in a string, at \"??\"]\""},
    {"[\"\xed\xa0\x80\"]", "!doc:1: no JSON: invalid UTF-8 in a string, at \"???\"]\""},
    {"[1 x, \"\xff\"]", "[0]=i1;!doc:1: no JSON: expected a comma or \"]\", found \"x, \"?\"]\""},
    {"\xef\xbb\xbf{}", "!doc:1: no JSON: the file begins with a byte order mark; remove its first three bytes"},
    {"[\"a long text that does not end here at all\" 1]",
     "[0]=s'a long text that does not end here at all';!doc:1: no JSON: expected a comma or \"]\", found \"1]\""},
};

static void what_is_no_json_is_refused_with_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        check_parts(bad[i].document, 0, bad[i].want);
    }
}

static const struct {
    const char *document, *want;
} cut[] = {
    {"[", "[];~"},
    {"[1,2,", "[0]=i1;[1]=i2;~"},
    {"[1,2,]", "[0]=i1;[1]=i2;~"},
    {"[1,2", "[0]=i1;~"}, /* perhaps it was 23 */
    {"[1,tru", "[0]=i1;~"},
    {"[{\"a\":1},{\"b\":", "[0]=O3 s'a' i1;~"},
    {"[{\"a\":1},{\"b\":\"x\xe2\x82", "[0]=O3 s'a' i1;~"},
    {"[{\"a\":1},{\"b\":\"x\\", "[0]=O3 s'a' i1;~"},
    {"[{\"a\":1}\n", "[0]=O3 s'a' i1;~"},
    {"[{\"a\":1", "[];~"},
    {"{\"x\":1,\"events\":[{},{}]", "x=i1;events[0]=O1;events[1]=O1;~"},
    {"{\"x\":1,\"y", "x=i1;~"},
    {"{\"x\":1,\"y\"", "x=i1;~"},
    {"{\"x\":1,\"y\":", "x=i1;~"},
    {"{\"x\":1,}", "x=i1;~"},
    {"{\"x\":1,\"events\":[", "x=i1;events[];~"},
    {"[null\f\\\\\\\\\\\\\\\\\\l",
     "!doc:1: no JSON: expected a value, found \"null?\\\\\\\\\\\\\\\\\\l\""}, /* no beginning of a word */
    {"[1 2", "[0]=i1;!doc:1: no JSON: expected a comma or \"]\", found \"2\""},
    {"[1,\"\xff\"", "[0]=i1;!doc:1: no JSON: invalid UTF-8 in a string, at \"?\"\""},
    {"", "!doc:1: the file is empty; a JSON document is needed"},
    {"[1] x", "[0]=i1;!doc:1: no JSON: expected nothing behind the document's end, found \"x\""},
};

static void a_cut_file_gives_what_is_whole_where_that_is_allowed(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cut); i++) {
        check_parts(cut[i].document, JSON_STREAM_MAY_BE_CUT, cut[i].want);
    }
}

static void five_hundred_and_twelve_brackets_are_the_limit(void **state)
{
    (void)state;
    static const char *const fronts[] = {"", "[", "{\"a\":", "{\"events\":["};
    static const size_t around[] = {0, 1, 1, 2};
    static const char *const backs[] = {"", "]", "}", "]}"};
    for (size_t i = 0; i < COUNT_OF(fronts); i++) {
        for (size_t more = 0; more < 2; more++) {
            size_t depth = 512 - around[i] + more;
            char document[2048];
            size_t size = (size_t)snprintf(document, sizeof document, "%s", fronts[i]);
            memset(document + size, '[', depth);
            memset(document + size + depth, ']', depth);
            (void)snprintf(document + size + 2 * depth, 8, "%s", backs[i]);
            struct mem mem = {0};
            struct orr_error err = {0};
            struct json_stream *stream = NULL;
            struct json_part part = {0};
            static const char *const events[] = {"events", NULL};
            static const char *const root[] = {"", NULL};
            bool there = false;
            CHECK_OK(json_stream_open_bytes(document, strlen(document), "deep", i == 1 ? root : events, 0, &mem,
                                            &stream, &err),
                     &err);
            enum orr_status status = json_stream_next(stream, &part, &there, &err);
            CHECK(status == (more == 0 ? ORR_OK : ORR_EINVAL), "front %zu, %zu more: %s", i, more, err.text);
            if (more != 0) {
                CHECK_CONTAINS(err.text, "deep:1: no JSON: more than 512 brackets inside each other");
            }
            json_stream_close(stream);
        }
    }
}

/* A document of about 3 MB whose elements grow, so that windows end everywhere. */
static char *large_document(const char *separator, size_t *size, unsigned *count)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    assert_non_null(out);
    (void)fprintf(out, "{\"before\":1,%s\"events\":[%s", separator, separator);
    *count = 0;
    for (unsigned i = 0; i < 9000; i++) {
        (void)fprintf(out, "%s{\"name\":\"k\\u00e9rnel\xe2\x82\xac%u\\\\\",%s\"dur\":%u.%03u,\"args\":[",
                      i == 0 ? "" : ",", i, separator, i, i % 1000);
        for (unsigned k = 0; k < i % 97; k++) {
            (void)fprintf(out, "%s%u", k == 0 ? "" : ", ", k);
        }
        (void)fprintf(out, "]}%s", separator);
        (*count)++;
    }
    (void)fprintf(out, "],\"after\":\"%0400000d\"}%s", 0, separator);
    (void)fclose(out);
    return text;
}

static void check_large(struct json_stream *stream, unsigned count)
{
    struct orr_error err = {0};
    struct json_part part = {0};
    bool more = true;
    CHECK_OK(json_stream_next(stream, &part, &more, &err), &err);
    CHECK_TEXT(part.key, "before");
    for (unsigned i = 0; i < count; i++) {
        char name[64];
        CHECK_OK(json_stream_next(stream, &part, &more, &err), &err);
        CHECK(part.is_element && part.index == i, "element %u", i);
        (void)snprintf(name, sizeof name, "k\xc3\xa9rnel\xe2\x82\xac%u\\", i);
        CHECK(json_item_is(json_item_member(part.item, "name"), name), "name of %u", i);
        CHECK_U64(json_item_member(part.item, "args")->span, 1 + i % 97, "args of %u", i);
        CHECK(json_item_member(part.item, "dur")->value.real == (double)(i * 1000u + i % 1000) / 1000, "dur of %u", i);
    }
    CHECK_OK(json_stream_next(stream, &part, &more, &err), &err);
    CHECK_TEXT(part.key, "after");
    CHECK_U64(part.item->length, 400000, "longer than the window");
    CHECK_OK(json_stream_next(stream, &part, &more, &err), &err);
    CHECK(!more, "that is all");
}

static void write_file(const char *path, enum io_outfile_form form, const char *bytes, size_t size)
{
    struct orr_error err = {0};
    struct io_outfile *file = NULL;
    CHECK_OK(io_outfile_open(path, form, &file, &err), &err);
    (void)fwrite(bytes, 1, size, io_outfile_stream(file));
    CHECK_OK(io_outfile_commit(file, &err), &err);
}

static void a_document_larger_than_the_window_is_read_in_every_packing(void **state)
{
    (void)state;
    static const char *const separators[] = {"", "\n", "   "};
    for (size_t s = 0; s < COUNT_OF(separators); s++) {
        size_t size = 0;
        unsigned count = 0;
        char *document = large_document(separators[s], &size, &count);
        for (int form = IO_OUTFILE_PLAIN; form <= IO_OUTFILE_ZSTD; form++) {
            struct mem mem = {0};
            struct orr_error err = {0};
            struct json_stream *stream = NULL;
            char path[64];
            (void)snprintf(path, sizeof path, "%s/large", folder);
            write_file(path, (enum io_outfile_form)form, document, size);
            CHECK_OK(json_stream_open(path, named, 0, &mem, &stream, &err), &err);
            check_large(stream, count);
            CHECK_U64(json_stream_unpacked_size(stream), size, "all of it");
            CHECK(mem.peak < 12 << 20, "memory is bounded by the largest part, not %" PRIu64, mem.peak);
            CHECK_OK(json_stream_restart(stream, 0, UINT64_MAX, &err), &err);
            check_large(stream, count);
            json_stream_close(stream);
            CHECK_U64(mem.used, 0, "everything is given back");
        }
        free(document);
    }
}

static void a_part_can_be_read_again_by_its_place(void **state)
{
    (void)state;
    size_t size = 0;
    unsigned count = 0;
    char *document = large_document("\n", &size, &count);
    for (int form = IO_OUTFILE_PLAIN; form <= IO_OUTFILE_ZSTD; form++) {
        struct mem mem = {0};
        struct orr_error err = {0};
        struct json_stream *stream = NULL;
        struct json_part part = {0};
        const struct json_item *item = NULL;
        bool more = true;
        char path[64];
        (void)snprintf(path, sizeof path, "%s/again", folder);
        write_file(path, (enum io_outfile_form)form, document, size);
        CHECK_OK(json_stream_open(path, named, JSON_STREAM_REREAD, &mem, &stream, &err), &err);
        uint64_t offset = 0;
        uint64_t length = 0;
        while (json_stream_next(stream, &part, &more, &err) == ORR_OK && more) {
            if (part.is_element && part.index == 4711) {
                offset = part.offset;
                length = part.length;
            }
            if (part.is_element && part.index > 4711 && part.index % 100 == 0) {
                uint64_t index = part.index;
                CHECK_OK(json_stream_reread(stream, offset, length, &item, &err), &err);
                CHECK(json_item_is(json_item_member(item, "name"), "k\xc3\xa9rnel\xe2\x82\xac"
                                                                   "4711\\"),
                      "behind %" PRIu64, index);
            }
        }
        CHECK(!more, "%s", err.text);
        CHECK_STATUS(json_stream_reread(stream, offset + 1, length - 1, &item, &err), ORR_EINVAL);
        CHECK_CONTAINS(err.text, "again:");
        json_stream_close(stream);
    }
    free(document);
}

static void documents_one_after_the_other_are_read_by_restarting(void **state)
{
    (void)state;
    const char *document = "{\"nodes\":[1,2]}\n{\"nodes\":[3]}";
    struct mem mem = {0};
    struct orr_error err = {0};
    struct json_stream *stream = NULL;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    CHECK_OK(json_stream_open_bytes(document, strlen(document), "doc", named, 0, &mem, &stream, &err), &err);
    CHECK_U64(json_stream_document_end(stream), UINT64_MAX, "not known yet");
    put_parts(out, stream);
    uint64_t end = json_stream_document_end(stream);
    CHECK_U64(end, 15, "behind the first");
    (void)fputs(" / ", out);
    CHECK_OK(json_stream_restart(stream, end, UINT64_MAX, &err), &err);
    put_parts(out, stream);
    (void)fputs(" / ", out);
    CHECK_OK(json_stream_restart(stream, 0, end, &err), &err);
    put_parts(out, stream);
    json_stream_close(stream);
    (void)fclose(out);
    CHECK_TEXT(text, "nodes[0]=i1;nodes[1]=i2;!doc:2: no JSON: expected nothing behind the document's end, found "
                     "\"{\"nodes\":[3]}\" / nodes[0]=i3; / nodes[0]=i1;nodes[1]=i2;");
    free(text);
}

static void lines_are_counted_over_the_whole_file(void **state)
{
    (void)state;
    size_t size = 0;
    unsigned count = 0;
    char *document = large_document("\n", &size, &count);
    uint64_t lines = 1;
    for (size_t i = 0; i < size - 3; i++) {
        lines += document[i] == '\n';
    }
    document[size - 2] = ']'; /* the last brace */
    static const enum io_outfile_form forms[] = {IO_OUTFILE_PLAIN, IO_OUTFILE_GZIP};
    for (size_t f = 0; f < COUNT_OF(forms); f++) {
        struct mem mem = {0};
        struct orr_error err = {0};
        struct json_stream *stream = NULL;
        struct json_part part = {0};
        bool more = true;
        char path[64];
        char want[64];
        (void)snprintf(path, sizeof path, "%s/lines", folder);
        write_file(path, forms[f], document, size);
        CHECK_OK(json_stream_open(path, named, 0, &mem, &stream, &err), &err);
        while (json_stream_next(stream, &part, &more, &err) == ORR_OK && more) {
        }
        (void)snprintf(want, sizeof want, "lines:%" PRIu64 ": no JSON: expected a comma", lines);
        CHECK_CONTAINS(err.text, want);
        json_stream_close(stream);
        CHECK_U64(mem.used, 0, "everything is given back");
    }
    free(document);
}

static void a_memory_limit_is_an_error(void **state)
{
    (void)state;
    size_t size = 0;
    unsigned count = 0;
    char *document = large_document("", &size, &count);
    for (uint64_t limit = 1000; limit < 2400000; limit += 200003) {
        struct mem mem = {.limit = limit};
        struct orr_error err = {0};
        struct json_stream *stream = NULL;
        struct json_part part = {0};
        bool more = true;
        enum orr_status status = json_stream_open_bytes(document, size, "doc", named, 0, &mem, &stream, &err);
        while (status == ORR_OK && more) {
            status = json_stream_next(stream, &part, &more, &err);
        }
        CHECK(status == ORR_ENOMEM, "%" PRIu64 " bytes: %s", limit, err.text);
        json_stream_close(stream);
        CHECK_U64(mem.used, 0, "everything is given back");
    }
    free(document);
}

static const struct {
    double value;
    const char *text;
} reals[] = {
    {0.0, "0.0"},
    {-0.0, "-0.0"},
    {1.0, "1.0"},
    {-2.5, "-2.5"},
    {0.1, "0.1"},
    {100.0, "100.0"},
    {123456.789, "123456.789"},
    {3843922307137.41, "3843922307137.41"},
    {1e15, "1000000000000000.0"},
    {9999999999999998.0, "9999999999999998.0"},
    {1e16, "1e+16"},
    {1.5e16, "1.5e+16"},
    {1e22, "1e+22"},
    {1e100, "1e+100"},
    {0.0001, "0.0001"},
    {0.00012345, "0.00012345"},
    {0.00001, "1e-05"},
    {1e-7, "1e-07"},
    {1.25e-10, "1.25e-10"},
    {5e-324, "5e-324"},
    {-1.7976931348623157e308, "-1.7976931348623157e+308"},
    {9007199254740993.0, "9007199254740992.0"},
};

static void reals_are_written_as_python_does(void **state)
{
    (void)state;
    char text[JSON_REAL_ROOM];
    for (size_t i = 0; i < COUNT_OF(reals); i++) {
        CHECK_U64(json_real_repr(reals[i].value, text), strlen(reals[i].text), "%s, not %s", text, reals[i].text);
        CHECK_TEXT(text, reals[i].text);
    }
    (void)json_real_repr((double)INFINITY, text);
    CHECK_TEXT(text, "inf");
    (void)json_real_repr(-(double)INFINITY, text);
    CHECK_TEXT(text, "-inf");
    (void)json_real_repr((double)NAN, text);
    CHECK_TEXT(text, "nan");
}

static void unsigned_numbers_reach_sixty_four_bits(void **state)
{
    (void)state;
    const char *document = "[5,-1,18446744073709551615,18446744073709551616,1.0]";
    static const bool fits[] = {true, false, true, false, false};
    static const uint64_t values[] = {5, 0, UINT64_MAX, 0, 0};
    struct mem mem = {0};
    struct orr_error err = {0};
    struct json_stream *stream = NULL;
    CHECK_OK(json_stream_open_bytes(document, strlen(document), "doc", named, 0, &mem, &stream, &err), &err);
    for (size_t i = 0; i < COUNT_OF(fits); i++) {
        struct json_part part = {0};
        bool more = false;
        uint64_t value = 0;
        CHECK_OK(json_stream_next(stream, &part, &more, &err), &err);
        CHECK(json_item_u64(part.item, &value) == fits[i], "number %zu", i);
        CHECK_U64(value, values[i], "number %zu", i);
    }
    json_stream_close(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK_MAP(
        a_document_gives_its_parts, what_is_no_json_is_refused_with_its_line,
        a_cut_file_gives_what_is_whole_where_that_is_allowed, five_hundred_and_twelve_brackets_are_the_limit,
        a_document_larger_than_the_window_is_read_in_every_packing, a_part_can_be_read_again_by_its_place,
        documents_one_after_the_other_are_read_by_restarting, lines_are_counted_over_the_whole_file,
        a_memory_limit_is_an_error, reals_are_written_as_python_does, unsigned_numbers_reach_sixty_four_bits)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
