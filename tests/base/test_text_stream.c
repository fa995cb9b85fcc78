/* SPDX-License-Identifier: Apache-2.0 */
/* A stream into memory, whole or seen to have failed. */
#include "tests/check.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/error.h"
#include "base/text_stream.h"

static void what_was_written_is_there_when_it_is_closed(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 1;
    FILE *stream = text_stream_open(&text, &size);
    assert_non_null(stream);
    for (int i = 0; i < 5000; i++) {
        assert_int_equal(fprintf(stream, "%04d\n", i), 5);
    }
    assert_int_equal(fclose(stream), 0);
    CHECK_U64(size, 25000, "all of it");
    CHECK(strncmp(text, "0000\n0001\n", 10) == 0 && strcmp(text + 24995, "4999\n") == 0, "in order, with a last NUL");
    free(text);
    stream = text_stream_open(&text, &size);
    assert_non_null(stream);
    assert_int_equal(fclose(stream), 0);
    CHECK_U64(size, 0, "an empty text is a text");
    CHECK_TEXT(text, "");
    free(text);
}

static void a_text_that_found_no_memory_is_seen_to_have_failed(void **state)
{
    (void)state;
#if defined(UNDER_ASAN) || defined(UNDER_TSAN)
    print_message("sanitizers need more address space than this test leaves; not tried\n");
#else
    char *text = NULL;
    size_t size = 1;
    static char block[1 << 20];
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    const struct rlimit small = {256 << 20, before.rlim_max};
    FILE *stream = text_stream_open(&text, &size);
    assert_non_null(stream);
    if (setrlimit(RLIMIT_AS, &small) != 0) {
        print_message("the address space cannot be limited here; not tried\n");
        (void)fclose(stream);
        free(text);
        return;
    }
    for (int i = 0; i < 512; i++) {
        (void)fwrite(block, 1, sizeof block, stream);
    }
    struct orr_error err = {0};
    CHECK_STATUS(error_of_stream(stream, "the text", &err), ORR_ENOMEM);
    CHECK_TEXT(err.text, "the text cannot be written: out of memory");
    CHECK(fclose(stream) != 0, "and the closing says it too");
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_null(text);
#endif
}

static void a_refusal_of_the_system_has_the_status_of_whose_fault_it_is(void **state)
{
    (void)state;
    static const struct {
        int reason;
        enum orr_status status;
        const char *text;
    } cases[] = {{ENOENT, ORR_EIO, "f: cannot be opened: No such file or directory"},
                 {EACCES, ORR_EIO, "f: cannot be opened: Permission denied"},
                 {ENOSPC, ORR_EFAIL, "f: cannot be opened: No space left on device"},
                 {ENOMEM, ORR_ENOMEM, "f: cannot be opened: out of memory"},
                 {EMFILE, ORR_ENOMEM, "f: cannot be opened: Too many open files"},
                 {0, ORR_EFAIL, "f: cannot be opened: Input/output error"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct orr_error err = {0};
        CHECK_STATUS(error_system(&err, cases[i].reason, "%s: cannot be opened", "f"), cases[i].status);
        CHECK_TEXT(err.text, cases[i].text);
    }
}

TEST_MAIN(what_was_written_is_there_when_it_is_closed, a_text_that_found_no_memory_is_seen_to_have_failed,
          a_refusal_of_the_system_has_the_status_of_whose_fault_it_is)
