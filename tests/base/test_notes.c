/* SPDX-License-Identifier: Apache-2.0 */
/* Notes keep order, drop repeats, and turn into errors when asked to be strict. */
#include "base/notes.h"
#include "tests/check.h"

static void lines_keep_their_order_and_repeats_are_dropped(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct notes notes;
    struct orr_error err = {0};
    notes_init(&notes, &mem, false);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 40; i++) {
            CHECK_OK(notes_add(&notes, &err, "rank %d", i), &err);
        }
    }
    CHECK_U64(notes.count, 40, "each line once");
    CHECK_TEXT(notes.lines[0], "rank 0");
    CHECK_TEXT(notes.lines[39], "rank 39");
    notes_free(&notes);
    CHECK_U64(notes.count, 0, "freed notes are empty");
    CHECK_U64(mem.used, 0, "and cost nothing");
}

static void the_first_note_is_the_error_when_strict(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct notes notes;
    struct orr_error err = {0};
    notes_init(&notes, &mem, true);
    CHECK_STATUS(notes_add(&notes, &err, "file:3: odd"), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "file:3: odd");
    CHECK_CONTAINS(err.text, "parameter 'strict'");
    CHECK_U64(notes.count, 0, "nothing is kept");
    notes_free(&notes);
}

static void a_note_that_finds_no_memory_is_an_error(void **state)
{
    (void)state;
    struct mem mem = {.limit = 10};
    struct notes notes;
    struct orr_error err = {0};
    notes_init(&notes, &mem, false);
    CHECK_STATUS(notes_add(&notes, &err, "file:3: odd"), ORR_ENOMEM);
    CHECK_CONTAINS(err.text, "the list of warnings");
    notes_free(&notes);
}

TEST_MAIN(lines_keep_their_order_and_repeats_are_dropped, the_first_note_is_the_error_when_strict,
          a_note_that_finds_no_memory_is_an_error)
