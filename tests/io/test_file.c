/* SPDX-License-Identifier: Apache-2.0 */
/* Reading files whole: what is read, and the one line that is said when it cannot be. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file.h"
#include "tests/check.h"
#include "tests/folder.h"

static const char *in_folder(const char *name)
{
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void what_is_written_is_read_again_and_folders_are_made(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct orr_error err = {0};
    struct file_buffer buffer;
    file_buffer_init(&buffer, &mem);
    CHECK_OK(file_write(in_folder("a/b/c.bin"), "one\0two", 7, &err), &err);
    CHECK_OK(file_buffer_read(&buffer, in_folder("a/b/c.bin"), &err), &err);
    CHECK_U64(buffer.size, 7, "bytes read");
    CHECK(memcmp(buffer.bytes, "one\0two", 8) == 0, "the bytes, and a NUL behind them");
    CHECK_OK(file_write(in_folder("a/b/c.bin"), "", 0, &err), &err);
    CHECK_OK(file_buffer_read(&buffer, in_folder("a/b/c.bin"), &err), &err);
    CHECK_U64(buffer.size, 0, "an empty file");
    file_buffer_free(&buffer);
    CHECK_U64(mem.used, 0, "all memory is given back");
}

static void what_cannot_be_read_is_named_in_one_line(void **state)
{
    (void)state;
    CHECK(mkfifo(in_folder("pipe"), 0600) == 0, "a pipe is made");
    char pipe_path[128];
    (void)snprintf(pipe_path, sizeof pipe_path, "%s", in_folder("pipe"));
    const struct {
        const char *path, *says;
    } cases[] = {{"no/such/file", "no/such/file: cannot be opened: No such file"},
                 {folder, "is a directory; a regular file is needed"},
                 {"/dev/zero", "/dev/zero: is a character device"},
                 {pipe_path, "is a pipe"}};
    struct mem mem = {0};
    struct file_buffer buffer;
    file_buffer_init(&buffer, &mem);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct orr_error err = {0};
        CHECK_STATUS(file_buffer_read(&buffer, cases[i].path, &err), ORR_EIO);
        CHECK_CONTAINS(err.text, cases[i].says);
        CHECK(strchr(err.text, '\n') == NULL, "one line");
    }
    file_buffer_free(&buffer);
}

static void a_file_without_permission_is_refused(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct orr_error err = {0};
    struct file_buffer buffer;
    file_buffer_init(&buffer, &mem);
    CHECK_OK(file_write(in_folder("secret"), "x", 1, &err), &err);
    CHECK(chmod(in_folder("secret"), 0) == 0, "chmod");
    if (geteuid() == 0) {
        skip(); /* root reads everything */
    }
    CHECK_STATUS(file_buffer_read(&buffer, in_folder("secret"), &err), ORR_EIO);
    CHECK_CONTAINS(err.text, "Permission denied");
    file_buffer_free(&buffer);
}

static void a_file_above_the_memory_limit_is_refused_with_figures(void **state)
{
    (void)state;
    struct mem mem = {.limit = 1000};
    struct orr_error err = {0};
    struct file_buffer buffer;
    char text[2000];
    memset(text, 'x', sizeof text);
    file_buffer_init(&buffer, &mem);
    CHECK_OK(file_write(in_folder("large"), text, sizeof text, &err), &err);
    CHECK_STATUS(file_buffer_read(&buffer, in_folder("large"), &err), ORR_ENOMEM);
    CHECK_CONTAINS(err.text, "large (2000 bytes)");
    CHECK_CONTAINS(err.text, "limit is 1000");
    CHECK_OK(file_write(in_folder("small"), text, 500, &err), &err);
    CHECK_OK(file_buffer_read(&buffer, in_folder("small"), &err), &err);
    file_buffer_free(&buffer);
}

static void writing_where_a_file_is_in_the_way_fails(void **state)
{
    (void)state;
    struct orr_error err = {0};
    CHECK_OK(file_write(in_folder("plain"), "x", 1, &err), &err);
    CHECK_STATUS(file_write(in_folder("plain/below"), "y", 1, &err), ORR_EIO);
    CHECK(file_exists(in_folder("plain")), "what was there stays");
    CHECK(!file_exists(in_folder("plain/below")), "nothing is made");
}

static void a_window_moves_over_a_file_and_grows_when_nothing_is_used(void **state)
{
    (void)state;
    enum { BYTES = 3 * FILE_WINDOW_BYTES + 1001 };
    static uint8_t content[BYTES];
    for (size_t i = 0; i < BYTES; i++) {
        content[i] = (uint8_t)(i * 7 + i / 251);
    }
    struct mem mem = {0};
    struct orr_error err = {0};
    struct file_window window;
    file_window_init(&window, &mem);
    CHECK_OK(file_write(in_folder("wide"), content, BYTES, &err), &err);
    CHECK_OK(file_window_open(&window, in_folder("wide"), &err), &err);
    CHECK_U64(window.size, FILE_WINDOW_BYTES, "at hand at first");
    for (size_t used = 1; !window.at_end; used = used * 3 + 1) {
        CHECK_OK(file_window_move(&window, used < window.size ? used : window.size, &err), &err);
        CHECK(memcmp(window.bytes, content + window.offset, window.size) == 0, "bytes at %" PRIu64, window.offset);
    }
    CHECK_U64(window.offset + window.size, BYTES, "the end");
    CHECK_OK(file_window_rewind(&window, &err), &err);
    while (!window.at_end) {
        CHECK_OK(file_window_move(&window, 0, &err), &err);
    }
    CHECK_U64(window.size, BYTES, "all of it, with nothing used");
    CHECK(memcmp(window.bytes, content, BYTES) == 0, "the bytes");
    CHECK_STATUS(file_window_open(&window, "/dev/zero", &err), ORR_EIO);
    CHECK_STATUS(file_window_open(&window, "no/such", &err), ORR_EIO);
    file_window_free(&window);
    CHECK_U64(mem.used, 0, "all memory is given back");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_MAP(what_is_written_is_read_again_and_folders_are_made, what_cannot_be_read_is_named_in_one_line,
                  a_file_without_permission_is_refused, a_file_above_the_memory_limit_is_refused_with_figures,
                  writing_where_a_file_is_in_the_way_fails, a_window_moves_over_a_file_and_grows_when_nothing_is_used)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
