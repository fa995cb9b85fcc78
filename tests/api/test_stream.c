/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that end in a function or in memory, wherever a function takes a FILE *. */
#include "tests/check.h"

#include <stdlib.h>

struct taken {
    char text[4096];
    size_t size, room;
    unsigned calls;
};

/* Takes what there is room for, and then nothing. */
static bool take(void *context, const char *bytes, size_t size)
{
    struct taken *taken = context;
    taken->calls++;
    if (size > taken->room - taken->size) {
        return false;
    }
    memcpy(taken->text + taken->size, bytes, size);
    taken->size += size;
    return true;
}

static void a_function_gets_the_bytes_that_a_file_would(void **state)
{
    (void)state;
    struct orr_error err = {0};
    struct taken taken = {.room = sizeof taken.text};
    FILE *stream = NULL;
    CHECK_OK(orr_stream_to(take, &taken, &stream, &err), &err);
    CHECK_OK(orr_cost_template(stream, &err), &err);
    CHECK(taken.size > 0, "what was printed is there before the stream is closed");
    CHECK_OK(orr_stream_close(stream, &err), &err);
    char *text = NULL;
    size_t size = 0;
    CHECK_OK(orr_stream_text(&text, &size, &stream, &err), &err);
    CHECK_OK(orr_cost_template(stream, &err), &err);
    CHECK_OK(orr_stream_close(stream, &err), &err);
    CHECK_U64(size, taken.size, "as much in memory");
    CHECK(memcmp(text, taken.text, size) == 0 && text[size] == '\0', "and the same");
    orr_free(text);
}

static void whoever_prints_is_told_that_it_was_not_taken(void **state)
{
    (void)state;
    for (size_t room = 0; room < 2; room++) {
        struct orr_error err = {0};
        struct taken taken = {.room = room};
        FILE *stream = NULL;
        CHECK_OK(orr_stream_to(take, &taken, &stream, &err), &err);
        CHECK_STATUS(orr_cost_template(stream, &err), ORR_EFAIL);
        CHECK_CONTAINS(err.text, "who was to take it did not");
        CHECK_STATUS(orr_topo_list(NULL, stream, &err), ORR_EFAIL);
        CHECK_STATUS(orr_stream_close(stream, &err), ORR_EFAIL);
        CHECK_U64(taken.calls, 1, "it is not asked again");
    }
}

/* More than stdio's buffer, so that the first pieces are refused long before the end. */
static void a_refusal_in_the_middle_is_an_error_at_the_end(void **state)
{
    (void)state;
    struct orr_error err = {0};
    struct taken taken = {.room = 4096};
    FILE *stream = NULL;
    CHECK_OK(orr_stream_to(take, &taken, &stream, &err), &err);
    CHECK_STATUS(orr_config_reference(true, stream, &err), ORR_EFAIL);
    CHECK_CONTAINS(err.text, "who was to take it did not");
    CHECK_STATUS(orr_stream_close(stream, &err), ORR_EFAIL);
}

TEST_MAIN(a_function_gets_the_bytes_that_a_file_would, whoever_prints_is_told_that_it_was_not_taken,
          a_refusal_in_the_middle_is_an_error_at_the_end)
