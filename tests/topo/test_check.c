/* SPDX-License-Identifier: Apache-2.0 */
/* What is odd about a machine is told in one note each, with the nodes it is about; a sound machine gives none. */
#include "topo/check.h"

#include "tests/topo/drawn.h"

/* The notes of a machine, joined by newlines; good until the next call. */
static const char *notes_of(const char *line)
{
    static char text[2000];
    struct mem mem = {0};
    struct orr_error err = {0};
    struct notes notes;
    struct topo_graph graph = drawn(line, &mem);
    notes_init(&notes, &mem, false);
    CHECK_OK(topo_check(&graph, "m", &notes, &mem, &err), &err);
    text[0] = '\0';
    for (uint32_t i = 0; i < notes.count; i++) {
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, "%s\n", notes.lines[i]);
    }
    notes_free(&notes);
    topo_graph_free(&graph);
    CHECK_U64(mem.used, 0, "everything is given back");
    return text;
}

static void a_sound_machine_has_no_note(void **state)
{
    (void)state;
    static const char *const sound[] = {
        "hh 0-1",                                      /* two hosts, one cable */
        "hhhs 0-3 1-3 2-3",                            /* one switch */
        "hhhhss 0-4 1-4 2-5 3-5 4-5",                  /* two */
        "hhhhss 0-4 1-4 2-5 3-5 4-5 4-5",              /* two links side by side, written the same way */
        "hhhhsss 0-4 1-4 2-5 3-5 4-6 5-6",             /* a spine */
        "hhhhnnss 0-4 1-4 2-5 3-5 0-6 1-6 2-7 3-7 6-7" /* servers with NVSwitches of their own */
    };
    for (size_t i = 0; i < COUNT_OF(sound); i++) {
        CHECK(notes_of(sound[i])[0] == '\0', "%s: %s", sound[i], notes_of(sound[i]));
    }
}

static const struct {
    const char *line, *note;
} odd[] = {
    {"hshs 0-1 2-3 1-3",
     "m: node 1 is a switch and node 2 a host: rank r runs on node r, so that only the hosts below 1 "
     "of the 2 can have ranks\n"},
    {"hhs 0-2 1-2@50", "m: hosts do not have the same bandwidth: host 1 has 50 b/s, host 0 has 100 b/s\n"},
    {"hhs 0-2 1-2 1-2", "m: hosts do not have the same bandwidth: host 0 has 100 b/s, host 1 has 200 b/s\n"},
    {"hhhss 0-3 1-3 2-4 3-4", "m: switches at 100 b/s do not have the same number of hosts: switch 4 has 1, switch 3 "
                              "has 2\n"},
    {"hhss 0-2 1-2 2-3", "m: 1 switch has fewer than two links, so that nothing passes through: switch 3\n"},
    {"hhsss 0-2 1-2 2-4", "m: 2 switches have fewer than two links, so that nothing passes through: switch 3\n"},
    {"hhhhss 0-4 1-4 2-5 3-5 4-5 5-4",
     "m: 1 link is also there the other way round, such as 5 - 4: a link carries both "
     "directions, so that these are two links side by side\n"},
    {"hhhhss 0-4 1-4 2-5 3-5",
     "m: host 0 has no way to 2 of the hosts, such as host 2: hosts do not forward, so that a "
     "message between them never arrives\n"},
    {"hhh 0-1 1-2 2-0", ""},
};

static void what_is_odd_is_told_with_an_example(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(odd); i++) {
        const char *got = notes_of(odd[i].line);
        /* Which end a link written twice is shown from depends on the sort: both are right. */
        if (strstr(odd[i].note, "5 - 4") != NULL && strstr(got, "4 - 5") != NULL) {
            CHECK_CONTAINS(got, "m: 1 link is also there the other way round, such as 4 - 5");
            continue;
        }
        CHECK(strcmp(got, odd[i].note) == 0, "%s\n%snot\n%s", odd[i].line, got, odd[i].note);
    }
}

static void hosts_in_a_chain_do_not_reach_past_each_other(void **state)
{
    (void)state;
    CHECK_CONTAINS(notes_of("hhh 0-1 1-2"), "m: host 0 has no way to 1 of the hosts, such as host 2");
}

static void switches_of_different_rates_are_not_compared(void **state)
{
    (void)state;
    /* Each server's NVSwitch has two hosts, the one switch of the network all four. */
    CHECK_TEXT(notes_of("hhhhnns 0-4@900 1-4@900 2-5@900 3-5@900 0-6 1-6 2-6 3-6"), "");
}

static void in_strict_mode_the_first_note_is_the_error(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct orr_error err = {0};
    struct notes notes;
    struct topo_graph graph = drawn("hhs 0-2 1-2@50", &mem);
    notes_init(&notes, &mem, true);
    CHECK_STATUS(topo_check(&graph, "m", &notes, &mem, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "m: hosts do not have the same bandwidth");
    notes_free(&notes);
    topo_graph_free(&graph);
    CHECK_U64(mem.used, 0, "everything is given back");
}

TEST_MAIN(a_sound_machine_has_no_note, what_is_odd_is_told_with_an_example,
          hosts_in_a_chain_do_not_reach_past_each_other, switches_of_different_rates_are_not_compared,
          in_strict_mode_the_first_note_is_the_error)
