/* SPDX-License-Identifier: Apache-2.0 */
/* Archives of traces: what is put in comes out, byte for byte; what is the same but for ids, partners and names of
 * groups is held once; and no damage is taken for a trace. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/etz.h"
#include "io/file.h"
#include "io/outfile.h"
#include "io/wire.h"
#include "tests/check.h"
#include "tests/folder.h"

static struct orr_error err;
static struct mem mem;

/* ---- traces, written as protobuf would ---- */

static void put_field(struct etz_bytes *into, uint32_t tag, const void *bytes, size_t size)
{
    etz_bytes_number(into, tag);
    etz_bytes_number(into, size);
    etz_bytes_put(into, bytes, size);
}

/* An attribute with a varint, or with a text. */
static void put_attribute(struct etz_bytes *node, const char *name, uint64_t value, const char *text)
{
    struct etz_bytes attribute = {.mem = &mem};
    put_field(&attribute, WIRE_TAG(1, WIRE_BYTES), name, strlen(name));
    if (text == NULL) {
        etz_bytes_number(&attribute, WIRE_TAG(6, WIRE_VARINT));
        etz_bytes_number(&attribute, value);
    } else {
        put_field(&attribute, WIRE_TAG(13, WIRE_BYTES), text, strlen(text));
    }
    put_field(node, WIRE_TAG(10, WIRE_BYTES), attribute.at, attribute.size);
    etz_bytes_free(&attribute);
}

struct made_trace {
    uint64_t first_id;
    uint32_t nodes, rank;
    const char *group;  /* NULL: none */
    bool partners;      /* sends to the next rank */
    const char *ending; /* of the last name */
};

static struct etz_bytes make_trace(struct made_trace wanted)
{
    struct etz_bytes file = {.mem = &mem};
    etz_bytes_number(&file, 7);
    etz_bytes_put(&file,
                  "\x0a\x05"
                  "0.0.4",
                  7);
    for (uint32_t i = 0; i < wanted.nodes; i++) {
        struct etz_bytes node = {.mem = &mem};
        struct etz_bytes deps = {.mem = &mem};
        char name[64];
        uint64_t id = wanted.first_id + i;
        if (id != 0) {
            etz_bytes_number(&node, WIRE_TAG(1, WIRE_VARINT));
            etz_bytes_number(&node, id);
        }
        (void)snprintf(name, sizeof name, "node %u%s", i, i + 1 == wanted.nodes && wanted.ending ? wanted.ending : "");
        put_field(&node, WIRE_TAG(2, WIRE_BYTES), name, strlen(name));
        for (uint32_t k = 1; k <= 3 && k <= i; k++) {
            etz_bytes_number(&deps, id - k);
        }
        if (deps.size > 0) {
            put_field(&node, WIRE_TAG(5, WIRE_BYTES), deps.at, deps.size);
        }
        if (wanted.partners) {
            put_attribute(&node, "comm_dst", wanted.rank + 1, NULL);
        }
        if (wanted.group != NULL) {
            put_attribute(&node, "pg_name", 0, wanted.group);
        }
        put_attribute(&node, "comm_size", 1000 + i, NULL);
        etz_bytes_number(&file, node.size);
        etz_bytes_put(&file, node.at, node.size);
        etz_bytes_free(&node);
        etz_bytes_free(&deps);
    }
    return file;
}

/* Packs, and looks whether every rank comes out as it went in. */
static struct etz_counts pack(const struct etz_bytes *traces, uint32_t count)
{
    struct etz_writer *writer = NULL;
    struct etz_reader reader;
    struct etz_counts counts;
    struct etz_bytes back = {.mem = &mem};
    CHECK_OK(etz_writer_open(folder_path("a.etz"), &mem, &writer, &err), &err);
    for (uint32_t i = 0; i < count; i++) {
        CHECK_OK(etz_writer_add(writer, traces[i].at, traces[i].size, &err), &err);
    }
    CHECK_OK(etz_writer_commit(writer, &counts, &err), &err);
    CHECK_OK(etz_open(folder_path("a.etz"), &reader, &err), &err);
    CHECK_U64(reader.ranks, count, "ranks");
    for (uint32_t i = count; i-- > 0;) { /* in any order: none needs another to be read before */
        CHECK_OK(etz_read_rank(&reader, i, &back, &err), &err);
        CHECK(back.size == traces[i].size && memcmp(back.at, traces[i].at, back.size) == 0, "rank %u", i);
    }
    etz_close(&reader);
    etz_bytes_free(&back);
    return counts;
}

static void free_traces(struct etz_bytes *traces, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        etz_bytes_free(&traces[i]);
    }
    CHECK_U64(mem.used, 0, "all memory is given back");
}

enum { RANKS = 9 };

static void traces_that_differ_in_ids_partners_and_groups_are_one(void **state)
{
    (void)state;
    static const char *const groups[RANKS] = {"1", "1", "2", "2", "30", "30", "4", "4", "500"};
    struct etz_bytes traces[RANKS];
    for (uint32_t i = 0; i < RANKS; i++) { /* ids that take one byte, two and three */
        traces[i] = make_trace(
            (struct made_trace){.first_id = i * i * 700, .nodes = 60, .rank = i, .group = groups[i], .partners = true});
    }
    struct etz_counts counts = pack(traces, RANKS);
    CHECK_U64(counts.different, 1, "different traces");
    CHECK_U64(counts.contents, 1 + 5, "and a list of names for each group");
    free_traces(traces, RANKS);
}

static void ids_that_go_up_evenly_take_one_row_of_the_index(void **state)
{
    (void)state;
    struct etz_bytes traces[RANKS];
    for (uint32_t i = 0; i < RANKS; i++) {
        traces[i] = make_trace((struct made_trace){.first_id = 5 + i * 60, .nodes = 60});
    }
    struct etz_counts one = pack(traces, 1);
    struct etz_counts all = pack(traces, RANKS);
    CHECK_U64(all.packed, one.packed, "bytes of nine ranks and of one");
    free_traces(traces, RANKS);
}

static void a_trace_that_is_like_another_is_told_by_it(void **state)
{
    (void)state;
    struct etz_bytes traces[2];
    traces[0] = make_trace((struct made_trace){.nodes = 2000});
    traces[1] = make_trace((struct made_trace){.nodes = 2000, .ending = "another name"});
    struct etz_counts counts = pack(traces, 2);
    CHECK_U64(counts.different, 2, "different");
    CHECK_U64(counts.likened, 1, "told by another");
    free_traces(traces, 2);
}

static void what_is_no_trace_or_written_another_way_comes_back_too(void **state)
{
    (void)state;
    static const char odd[] = "\x02\x08\x00\x05\x08\x81\x00\x12\x00"; /* an id of two bytes that needs one */
    static const char text[] = "no trace at all, by any means: \xff\xff\xff\xff";
    struct etz_bytes traces[3] = {{.mem = &mem}, {.mem = &mem}, {.mem = &mem}};
    etz_bytes_put(&traces[0], odd, sizeof odd - 1);
    etz_bytes_put(&traces[1], text, sizeof text - 1);
    etz_bytes_put(&traces[2], "", 0);
    struct etz_counts counts = pack(traces, 3);
    CHECK_U64(counts.different, 3, "different");
    free_traces(traces, 3);
}

static void a_member_is_read_like_a_file(void **state)
{
    (void)state;
    struct etz_bytes traces[2];
    struct file_buffer buffer;
    char path[160];
    traces[0] = make_trace((struct made_trace){.first_id = 1, .nodes = 10});
    traces[1] = make_trace((struct made_trace){.first_id = 1, .nodes = 11});
    (void)pack(traces, 2);
    file_buffer_init(&buffer, &mem);
    (void)snprintf(path, sizeof path, "%s.1.et", folder_path("a.etz"));
    CHECK_OK(file_buffer_read(&buffer, path, &err), &err);
    CHECK(buffer.size == traces[1].size && memcmp(buffer.bytes, traces[1].at, buffer.size) == 0, "rank 1");
    CHECK(file_exists(path), "it is there");
    CHECK_OK(file_check_regular(path, &err), &err);
    struct io_outfile *file = NULL;
    CHECK_STATUS(io_outfile_open(path, IO_OUTFILE_PLAIN, &file, &err), ORR_EIO);
    CHECK_CONTAINS(err.text, "is in an archive, which stays as it is");
    (void)snprintf(path, sizeof path, "%s.2.et", folder_path("a.etz"));
    CHECK(!file_exists(path), "a rank that it does not have");
    CHECK_STATUS(file_buffer_read(&buffer, path, &err), ORR_EIO);
    CHECK_CONTAINS(err.text, "has no rank 2; its ranks are 0 to 1");
    (void)snprintf(path, sizeof path, "%s.01.et", folder_path("a.etz"));
    CHECK(!file_exists(path), "another writing of a rank");
    file_buffer_free(&buffer);
    free_traces(traces, 2);
}

static void side_files_keep_their_names(void **state)
{
    (void)state;
    struct etz_counts counts;
    uint32_t ranks = 0;
    struct file_buffer buffer;
    struct etz_bytes trace = make_trace((struct made_trace){.nodes = 3});
    CHECK_OK(file_write(folder_path("job.0.et"), trace.at, trace.size, &err), &err);
    CHECK_OK(file_write(folder_path("job.1.et"), trace.at, trace.size, &err), &err);
    CHECK_OK(file_write(folder_path("job.groups.json"), "{\"1\": [0]}", 10, &err), &err);
    CHECK_OK(etz_pack_files(folder_path("job"), folder_path("b.etz"), &mem, &counts, &err), &err);
    CHECK_OK(etz_unpack_files(folder_path("b.etz"), folder_path("again"), &mem, &ranks, &err), &err);
    CHECK_U64(ranks, 2, "ranks");
    file_buffer_init(&buffer, &mem);
    CHECK_OK(file_buffer_read(&buffer, folder_path("again.groups.json"), &err), &err);
    CHECK(buffer.size == 10 && memcmp(buffer.bytes, "{\"1\": [0]}", 10) == 0, "the groups");
    CHECK_OK(file_buffer_read(&buffer, folder_path("b.etz.groups.json"), &err), &err);
    CHECK_OK(file_buffer_read(&buffer, folder_path("again.1.et"), &err), &err);
    CHECK(buffer.size == trace.size && memcmp(buffer.bytes, trace.at, trace.size) == 0, "rank 1");
    file_buffer_free(&buffer);
    free_traces(&trace, 1);
}

/* Every byte changed, and every length the file may be cut to: an error in one line, or the traces as they were. */
static void damage_is_found(void **state)
{
    (void)state;
    struct etz_bytes traces[2];
    struct file_buffer whole;
    struct etz_bytes back = {.mem = &mem};
    traces[0] = make_trace((struct made_trace){.first_id = 1, .nodes = 5, .group = "1"});
    traces[1] = make_trace((struct made_trace){.first_id = 9, .nodes = 5, .group = "2"});
    (void)pack(traces, 2);
    file_buffer_init(&whole, &mem);
    CHECK_OK(file_buffer_read(&whole, folder_path("a.etz"), &err), &err);
    char path[64];
    int fd = memfd_create("damaged", MFD_CLOEXEC);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    for (size_t at = 0; at < 2 * whole.size; at++) {
        bool cut = at >= whole.size;
        size_t size = cut ? at - whole.size : whole.size;
        struct etz_reader reader;
        whole.bytes[cut ? 0 : at] ^= cut ? 0 : 0x41;
        CHECK(ftruncate(fd, (off_t)size) == 0 && pwrite(fd, whole.bytes, size, 0) == (ssize_t)size, "%zu bytes", size);
        whole.bytes[cut ? 0 : at] ^= cut ? 0 : 0x41;
        enum orr_status status = etz_open(path, &reader, &err);
        CHECK(!cut || status != ORR_OK, "cut to %zu bytes", at - whole.size);
        for (uint32_t i = 0; status == ORR_OK && i < 2; i++) {
            enum orr_status read = etz_read_rank(&reader, i, &back, &err);
            CHECK(read != ORR_OK || (back.size == traces[i].size && memcmp(back.at, traces[i].at, back.size) == 0),
                  "byte %zu: rank %u is another trace", at, i);
        }
        etz_close(&reader);
    }
    (void)close(fd);
    etz_bytes_free(&back);
    file_buffer_free(&whole);
    free_traces(traces, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_that_differ_in_ids_partners_and_groups_are_one),
        cmocka_unit_test(ids_that_go_up_evenly_take_one_row_of_the_index),
        cmocka_unit_test(a_trace_that_is_like_another_is_told_by_it),
        cmocka_unit_test(what_is_no_trace_or_written_another_way_comes_back_too),
        cmocka_unit_test(a_member_is_read_like_a_file),
        cmocka_unit_test(side_files_keep_their_names),
        cmocka_unit_test(damage_is_found),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
