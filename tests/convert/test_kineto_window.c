/* SPDX-License-Identifier: Apache-2.0 */
/* Some steps of a recording read alone: what is held is theirs, and the graph of them is that of the whole recording.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "convert/pytorch/link/link.h"
#include "tests/check.h"
#include "tests/convert/make_recording.h"
#include "tests/folder.h"

enum { STEPS = 6 };

static struct orr_error err;

static const int64_t ranges[][2] = {{1, 1}, {2, 3}, {STEPS, STEPS}};

static void make(const char *name, bool hip)
{
    struct made_recording made;
    struct make_recording options = {.folder = name, .ranks = 2, .steps = STEPS, .kernels = 9, .hip = hip};
    (void)mkdir(name, 0777);
    CHECK(make_recording(&options, &made), "%s", name);
}

/* The next node of the steps. */
static const struct linked_node *next(const struct linked_trace *linked, const int64_t range[2], uint32_t *at)
{
    while (*at < linked->node_count) {
        const struct linked_node *node = &linked->nodes[(*at)++];
        int64_t number = node->step < 0 ? -1 : linked->steps[node->step].number;
        if (number >= range[0] && number <= range[1]) {
            return node;
        }
    }
    return NULL;
}

static void check_same(const struct linked_trace *some, const struct linked_trace *all, const int64_t range[2])
{
    uint32_t at[2] = {0, 0};
    uint32_t compared = 0;
    for (;; compared++) {
        const struct linked_node *a = next(some, range, &at[0]);
        const struct linked_node *b = next(all, range, &at[1]);
        if (a == NULL || b == NULL) {
            CHECK(a == NULL && b == NULL, "one has more nodes than the other after %u", compared);
            break;
        }
        CHECK_TEXT(intern_text(&some->names, a->name), intern_text(&all->names, b->name));
        CHECK(a->start_ns == b->start_ns && a->duration_ns == b->duration_ns && a->kind == b->kind, "node %u: %s",
              compared, intern_text(&some->names, a->name));
    }
    CHECK(compared > 20, "%u nodes", compared);
}

static void some_steps_alone_make_the_graph_that_the_whole_recording_makes(void **state)
{
    (void)state;
    for (int hip = 0; hip < 2; hip++) {
        const char *name = folder_path(hip == 0 ? "nvidia" : "amd");
        char path[256];
        make(name, hip == 1);
        (void)snprintf(path, sizeof path, "%s/device_0.json", name);
        for (size_t i = 0; i < COUNT_OF(ranges); i++) {
            struct mem mem = {0};
            struct notes notes;
            struct kineto_trace *some = NULL;
            struct kineto_trace *all = NULL;
            struct linked_trace linked[2];
            notes_init(&notes, &mem, false);
            CHECK_OK(kineto_read_steps(path, ranges[i], 1, &mem, &notes, &some, &err), &err);
            CHECK_OK(kineto_read(path, &mem, &notes, &all, &err), &err);
            uint64_t wanted = (uint64_t)(ranges[i][1] - ranges[i][0]) + 1;
            CHECK(some->event_count * (uint64_t)STEPS < all->event_count * (wanted + 1), "%u of %u events are held",
                  some->event_count, all->event_count);
            CHECK_U64(some->event_total, all->event_total, "but all were seen");
            CHECK_OK(link_build(some, NULL, &mem, &notes, &linked[0], &err), &err);
            CHECK_OK(link_build(all, NULL, &mem, &notes, &linked[1], &err), &err);
            CHECK_U64(linked[0].step_count, linked[1].step_count, "all steps are known");
            check_same(&linked[0], &linked[1], ranges[i]);
            linked_free(&linked[0]);
            linked_free(&linked[1]);
            kineto_free(some);
            kineto_free(all);
            notes_free(&notes);
            CHECK_U64(mem.used, 0, "everything is given back");
        }
    }
}

static void a_step_that_is_not_there_leaves_the_marks(void **state)
{
    (void)state;
    static const int64_t none[] = {90, 99};
    struct mem mem = {0};
    struct notes notes;
    struct kineto_trace *trace = NULL;
    char path[256];
    const char *name = folder_path("marks");
    make(name, false);
    (void)snprintf(path, sizeof path, "%s/device_0.json", name);
    notes_init(&notes, &mem, false);
    CHECK_OK(kineto_read_steps(path, none, 1, &mem, &notes, &trace, &err), &err);
    CHECK_U64(trace->event_count, STEPS, "one mark a step");
    kineto_free(trace);
    notes_free(&notes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK_MAP(some_steps_alone_make_the_graph_that_the_whole_recording_makes,
                                                 a_step_that_is_not_there_leaves_the_marks)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
