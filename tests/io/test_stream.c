/* SPDX-License-Identifier: Apache-2.0 */
/* Files come out unpacked, whatever they are packed in, and damage is told from a cut. */
#include "io/stream.h"

#include <stdlib.h>
#include <unistd.h>

#include "io/file.h"
#include "io/outfile.h"
#include "io/spool.h"
#include "tests/check.h"
#include "tests/folder.h"

enum { TEXT_BYTES = 700000 };

static char text[TEXT_BYTES]; /* long enough for several buffers */
static char path[128];

static void fill_text(void)
{
    for (unsigned i = 0; i < TEXT_BYTES; i++) {
        text[i] = (char)('a' + (i * 2654435761u >> 27));
    }
}

static void write_file(enum io_outfile_form form, const char *bytes, size_t size)
{
    struct orr_error err = {0};
    struct io_outfile *file = NULL;
    (void)snprintf(path, sizeof path, "%s/file", folder);
    CHECK_OK(io_outfile_open(path, form, &file, &err), &err);
    (void)fwrite(bytes, 1, size, io_outfile_stream(file));
    CHECK_OK(io_outfile_commit(file, &err), &err);
}

/* Reads all in uneven steps; the status of the first read that fails. */
static enum orr_status read_all(char *into, size_t room, size_t *size, enum io_packing *packing, struct orr_error *err)
{
    struct mem mem = {0};
    struct io_stream *stream = NULL;
    CHECK_OK(io_stream_open(path, &mem, &stream, err), err);
    *packing = io_stream_packing(stream);
    *size = 0;
    size_t got = 1;
    enum orr_status status = ORR_OK;
    for (size_t step = 1; got > 0 && status == ORR_OK; step = step * 3 + 1) {
        size_t left = room - *size;
        status = io_stream_read(stream, into + *size, step < left ? step : left, &got, err);
        *size += status == ORR_OK ? got : 0;
    }
    if (status == ORR_OK) {
        CHECK_U64(io_stream_file_offset(stream), io_stream_file_size(stream), "the whole file was read");
    }
    CHECK_TEXT(io_stream_path(stream), path);
    io_stream_close(stream);
    CHECK_U64(mem.used, 0, "everything is given back");
    return status;
}

static char unpacked[2 * TEXT_BYTES + 1];

static void every_packing_gives_the_same_bytes(void **state)
{
    (void)state;
    static const struct {
        enum io_outfile_form form;
        enum io_packing packing;
    } cases[] = {
        {IO_OUTFILE_PLAIN, IO_PACKING_NONE}, {IO_OUTFILE_GZIP, IO_PACKING_GZIP}, {IO_OUTFILE_ZSTD, IO_PACKING_ZSTD}};
    fill_text();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        static const size_t sizes[] = {0, 1, 3, TEXT_BYTES};
        for (size_t s = 0; s < COUNT_OF(sizes); s++) {
            struct orr_error err = {0};
            size_t size = 0;
            enum io_packing packing;
            write_file(cases[i].form, text, sizes[s]);
            CHECK_OK(read_all(unpacked, sizeof unpacked, &size, &packing, &err), &err);
            CHECK_U64(packing, cases[i].packing, "told by the first bytes");
            CHECK_U64(size, sizes[s], "form %zu", i);
            CHECK(memcmp(unpacked, text, size) == 0, "the bytes differ, form %zu", i);
        }
    }
}

static void an_ending_names_the_form(void **state)
{
    (void)state;
    CHECK_U64(io_outfile_form_of("a/x.json.gz"), IO_OUTFILE_GZIP, "gz");
    CHECK_U64(io_outfile_form_of("x.zst"), IO_OUTFILE_ZSTD, "zst");
    CHECK_U64(io_outfile_form_of("x.gz.json"), IO_OUTFILE_PLAIN, "only at the end");
    CHECK_U64(io_outfile_form_of(".gz"), IO_OUTFILE_PLAIN, "a name, not an ending");
}

/* The packed form of `bytes`, in a buffer of its own. */
static struct file_buffer packed_form(struct mem *mem, enum io_outfile_form form, const char *bytes, size_t size)
{
    struct orr_error err = {0};
    struct file_buffer buffer;
    write_file(form, bytes, size);
    file_buffer_init(&buffer, mem);
    CHECK_OK(file_buffer_read(&buffer, path, &err), &err);
    return buffer;
}

static void members_and_frames_follow_each_other(void **state)
{
    (void)state;
    static const enum io_outfile_form forms[] = {IO_OUTFILE_GZIP, IO_OUTFILE_ZSTD};
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        struct mem mem = {0};
        struct orr_error err = {0};
        struct file_buffer one = packed_form(&mem, forms[i], text, TEXT_BYTES);
        char *twice = malloc(2 * one.size + 16);
        assert_non_null(twice);
        memcpy(twice, one.bytes, one.size);
        memcpy(twice + one.size, one.bytes, one.size);
        memset(twice + 2 * one.size, 0, 16);
        size_t padded = 2 * one.size + (forms[i] == IO_OUTFILE_GZIP ? 16 : 0);
        write_file(IO_OUTFILE_PLAIN, twice, padded);
        size_t size = 0;
        enum io_packing packing;
        CHECK_OK(read_all(unpacked, sizeof unpacked, &size, &packing, &err), &err);
        CHECK_U64(size, 2 * TEXT_BYTES, "both, and no more");
        CHECK(memcmp(unpacked + TEXT_BYTES, text, TEXT_BYTES) == 0, "the second differs");
        free(twice);
        file_buffer_free(&one);
    }
}

/* `path` becomes `times` copies of a member of `bytes` spaces. */
static void write_spaces(enum io_outfile_form form, size_t bytes, unsigned times)
{
    struct mem mem = {0};
    char *spaces = malloc(bytes);
    assert_non_null(spaces);
    memset(spaces, ' ', bytes);
    struct file_buffer one = packed_form(&mem, form, spaces, bytes);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (unsigned i = 0; i < times; i++) {
        assert_int_equal(fwrite(one.bytes, 1, one.size, file), one.size);
    }
    assert_int_equal(fclose(file), 0);
    file_buffer_free(&one);
    free(spaces);
}

/* Reads to the end or to a refusal, keeping nothing. */
static enum orr_status read_away(uint64_t *total, struct orr_error *err)
{
    struct mem mem = {0};
    struct io_stream *stream = NULL;
    CHECK_OK(io_stream_open(path, &mem, &stream, err), err);
    size_t got = 1;
    enum orr_status status = ORR_OK;
    for (*total = 0; got > 0 && status == ORR_OK; *total += status == ORR_OK ? got : 0) {
        status = io_stream_read(stream, unpacked, sizeof unpacked, &got, err);
    }
    io_stream_close(stream);
    CHECK_U64(mem.used, 0, "everything is given back");
    return status;
}

static void a_file_that_grows_out_of_all_proportion_is_refused(void **state)
{
    (void)state;
    static const enum io_outfile_form forms[] = {IO_OUTFILE_GZIP, IO_OUTFILE_ZSTD};
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        struct orr_error err = {0};
        uint64_t total = 0;
        write_spaces(forms[i], 1 << 20, 64);
        CHECK_OK(read_away(&total, &err), &err);
        CHECK_U64(total, 64 << 20, "what is small may grow as it likes");
        write_spaces(forms[i], 8 << 20, 16 << 7);
        CHECK_STATUS(read_away(&total, &err), ORR_ENOMEM);
        CHECK_CONTAINS(err.text, "unpacks to over 250 times its size");
        CHECK(total < (uint64_t)2 << 30, "of 16 GiB %" PRIu64 " bytes were made before the refusal", total);
    }
}

static void damage_and_cuts_are_told_apart(void **state)
{
    (void)state;
    static const enum io_outfile_form forms[] = {IO_OUTFILE_GZIP, IO_OUTFILE_ZSTD};
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        struct mem mem = {0};
        struct file_buffer one = packed_form(&mem, forms[i], text, TEXT_BYTES);
        size_t size = 0;
        enum io_packing packing;
        for (size_t length = 5; length < one.size; length += length < 40 ? 1 : one.size / 7) {
            struct orr_error err = {0};
            write_file(IO_OUTFILE_PLAIN, (const char *)one.bytes, length);
            CHECK_STATUS(read_all(unpacked, sizeof unpacked, &size, &packing, &err), ORR_EINVAL);
            CHECK_CONTAINS(err.text, "are cut off");
        }
        struct orr_error err = {0};
        one.bytes[one.size - 4] ^= 0x5a; /* in the check value at the end */
        write_file(IO_OUTFILE_PLAIN, (const char *)one.bytes, one.size);
        CHECK_STATUS(read_all(unpacked, sizeof unpacked, &size, &packing, &err), ORR_EINVAL);
        CHECK_CONTAINS(err.text, "data are damaged");
        file_buffer_free(&one);
    }
}

static void a_cut_file_gives_what_stands_before_the_cut_where_that_is_allowed(void **state)
{
    (void)state;
    static const enum io_outfile_form forms[] = {IO_OUTFILE_GZIP, IO_OUTFILE_ZSTD};
    fill_text();
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        struct orr_error err = {0};
        struct mem mem = {0};
        struct io_stream *stream = NULL;
        size_t size = 0;
        write_file(forms[i], text, TEXT_BYTES);
        CHECK_OK(io_stream_open(path, &mem, &stream, &err), &err);
        uint64_t whole = io_stream_file_size(stream);
        io_stream_close(stream);
        CHECK(truncate(path, (off_t)(whole / 2)) == 0, "cut");
        CHECK_OK(io_stream_open(path, &mem, &stream, &err), &err);
        io_stream_allow_cut(stream);
        CHECK(!io_stream_was_cut(stream), "nothing is known yet");
        CHECK_OK(io_stream_read(stream, unpacked, sizeof unpacked, &size, &err), &err);
        CHECK(size > TEXT_BYTES / 8 && size < TEXT_BYTES && memcmp(unpacked, text, size) == 0, "form %zu: %zu bytes", i,
              size);
        CHECK_OK(io_stream_read(stream, unpacked, sizeof unpacked, &size, &err), &err);
        CHECK(size == 0 && io_stream_was_cut(stream), "the end, and that it is a cut");
        io_stream_close(stream);
        CHECK_U64(mem.used, 0, "everything is given back");
    }
}

static void what_follows_a_gzip_member_must_be_one(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct orr_error err = {0};
    struct file_buffer one = packed_form(&mem, IO_OUTFILE_GZIP, "abc", 3);
    char bytes[128];
    CHECK(one.size + 4 < sizeof bytes, "a few bytes");
    memcpy(bytes, one.bytes, one.size);
    memcpy(bytes + one.size, "tail", 4);
    write_file(IO_OUTFILE_PLAIN, bytes, one.size + 4);
    size_t size = 0;
    enum io_packing packing;
    CHECK_STATUS(read_all(unpacked, sizeof unpacked, &size, &packing, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "what follows the last member is no gzip");
    file_buffer_free(&one);
}

static void a_rewound_stream_begins_again(void **state)
{
    (void)state;
    static const enum io_outfile_form forms[] = {IO_OUTFILE_PLAIN, IO_OUTFILE_GZIP, IO_OUTFILE_ZSTD};
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        struct mem mem = {0};
        struct orr_error err = {0};
        struct io_stream *stream = NULL;
        size_t got = 0;
        write_file(forms[i], text, TEXT_BYTES);
        CHECK_OK(io_stream_open(path, &mem, &stream, &err), &err);
        for (size_t room = 1000; room <= TEXT_BYTES; room += TEXT_BYTES - 1000) {
            CHECK_OK(io_stream_read(stream, unpacked, room, &got, &err), &err);
            CHECK_U64(got, room, "as much as asked for");
            CHECK(memcmp(unpacked, text, got) == 0, "from the front");
            CHECK_OK(io_stream_rewind(stream, &err), &err);
        }
        io_stream_close(stream);
    }
}

static void what_is_no_regular_file_is_refused(void **state)
{
    (void)state;
    static const char *const paths[] = {"no such file", ".", "/dev/null"};
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        struct mem mem = {0};
        struct orr_error err = {0};
        struct io_stream *stream = NULL;
        CHECK_STATUS(io_stream_open(paths[i], &mem, &stream, &err), ORR_EIO);
        CHECK_CONTAINS(err.text, paths[i]);
        CHECK(stream == NULL, "an output is written only on success");
        CHECK_U64(mem.used, 0, "nothing is kept");
    }
}

static void a_spool_is_read_where_it_was_written(void **state)
{
    (void)state;
    struct orr_error err = {0};
    struct io_spool spool = IO_SPOOL_NONE;
    char got[8] = "";
    size_t size = 0;
    CHECK_OK(io_spool_open(&spool, &err), &err);
    CHECK_OK(io_spool_append(&spool, "hello ", 6, &err), &err);
    CHECK_OK(io_spool_append(&spool, "there", 5, &err), &err);
    CHECK_OK(io_spool_read_at(&spool, 4, got, 4, &size, &err), &err);
    CHECK_TEXT(got, "o th");
    CHECK_OK(io_spool_read_at(&spool, 9, got, 8, &size, &err), &err);
    CHECK_U64(size, 2, "where it ends");
    io_spool_close(&spool);
    io_spool_close(&spool);
    CHECK(setenv("TMPDIR", "/nowhere at all", 1) == 0, "the environment can be set");
    CHECK_STATUS(io_spool_open(&spool, &err), ORR_EIO);
    CHECK_CONTAINS(err.text, "/nowhere at all");
    (void)unsetenv("TMPDIR");
}

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK_MAP(
        every_packing_gives_the_same_bytes, an_ending_names_the_form, members_and_frames_follow_each_other,
        a_file_that_grows_out_of_all_proportion_is_refused, damage_and_cuts_are_told_apart,
        a_cut_file_gives_what_stands_before_the_cut_where_that_is_allowed, what_follows_a_gzip_member_must_be_one,
        a_rewound_stream_begins_again, what_is_no_regular_file_is_refused, a_spool_is_read_where_it_was_written)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
