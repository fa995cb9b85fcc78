/* SPDX-License-Identifier: Apache-2.0 */
/* A running job followed: each fault that can be put into recordings is named, what is as expected raises no alarm, and
 * a file is read when it is whole. */
#include "tests/check.h"
#include "tests/folder.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "orrery.h"

enum { RANKS = 3 };

static char place[128]; /* a folder of its own for each test */

static void begin(const char *name)
{
    (void)snprintf(place, sizeof place, "%s/%s", folder, name);
    CHECK(mkdir(place, 0700) == 0, "%s", place);
}

/* Two steps of a rank: compute, then an all-reduce. Old enough to be whole, unless `is_new`. */
static void record(int window, int rank, int compute_us, int comm_us, bool is_new)
{
    char path[200];
    (void)snprintf(path, sizeof path, "%s/rank%d.%d.pt.trace.json", place, rank, window);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL, "%s", path);
    (void)fprintf(
        file, "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": %d, \"world_size\": %d}, \"traceEvents\": [\n",
        rank, RANKS);
    for (int step = 0; step < 2; step++) {
        int at = window * 1000000 + step * (compute_us + comm_us);
        (void)fprintf(
            file,
            "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#%d\", \"ts\": %d, \"dur\": %d,"
            " \"tid\": 1},\n"
            "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"ts\": %d, \"dur\": %d, \"tid\": 7},\n"
            "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_AllReduce_Sum_bf16_RING_LL\", "
            "\"ts\": %d, \"dur\": %d, \"tid\": 20}%s\n",
            step, at, compute_us + comm_us, at, compute_us, at + compute_us, comm_us, step == 0 ? "," : "]}");
    }
    CHECK(fclose(file) == 0, "%s", path);
    const struct timespec old[2] = {{1700000000, 0}, {1700000000, 0}};
    CHECK(is_new || utimensat(AT_FDCWD, path, old, 0) == 0, "%s", path);
}

static void record_all(int window, int compute_us, int comm_us)
{
    for (int rank = 0; rank < RANKS; rank++) {
        record(window, rank, compute_us, comm_us, false);
    }
}

/* What a look at all of it says. */
static const char *look_once(const struct orr_watch_options *options, struct orr_watch_seen *seen)
{
    static char text[8192];
    struct orr_error err = {0};
    struct orr_watch *watch = NULL;
    FILE *stream = fmemopen(text, sizeof text, "w");
    CHECK_OK(orr_watch_open(options, &watch, &err), &err);
    CHECK_OK(orr_watch_look(watch, true, NULL, stream, seen, &err), &err);
    orr_watch_close(watch);
    (void)fclose(stream);
    return text;
}

static struct orr_watch_options here(void)
{
    struct orr_watch_options options;
    orr_watch_options_init(&options);
    options.folder = place;
    return options;
}

static void what_is_as_before_raises_no_alarm(void **state)
{
    (void)state;
    begin("fine");
    for (int window = 0; window < 3; window++) {
        record_all(window, 1000 + 20 * window, 200);
    }
    struct orr_watch_options options = here();
    struct orr_watch_seen seen;
    const char *text = look_once(&options, &seen);
    CHECK_U64(seen.windows, 3, "windows: %s", text);
    CHECK_U64(seen.ranks, RANKS, "ranks");
    CHECK_U64(seen.files, 3 * RANKS, "files");
    CHECK_U64(seen.alarms, 0, "alarms: %s", text);
    CHECK_CONTAINS(text, "window 1: 3 ranks, 2 steps: 1.200 ms a step, which is the measure");
}

static void a_slow_rank_slow_links_and_slow_steps_are_told_apart(void **state)
{
    (void)state;
    begin("faults");
    record_all(0, 1000, 200);
    for (int rank = 0; rank < RANKS; rank++) { /* the others wait for rank 1 */
        record(1, rank, rank == 1 ? 1300 : 1000, rank == 1 ? 200 : 500, false);
    }
    record_all(2, 1000, 500);
    record_all(3, 1300, 200);
    struct orr_watch_options options = here();
    struct orr_watch_seen seen;
    const char *text = look_once(&options, &seen);
    const char *windows[4];
    for (int i = 0; i < 4; i++) {
        char head[16];
        (void)snprintf(head, sizeof head, "window %d:", i + 1);
        windows[i] = strstr(text, head);
        CHECK(windows[i] != NULL, "%s in %s", head, text);
    }
    const char *straggler = strstr(text, "ALARM straggler: rank 1 computes longer than the others: 1.300 ms, +30.0 %");
    const char *links = strstr(text, "ALARM links: ");
    CHECK(straggler > windows[1] && straggler < windows[2], "%s", text);
    CHECK(links > windows[2] && links < windows[3], "%s", text);
    CHECK(strstr(straggler + 1, "ALARM straggler") == NULL && strstr(links + 1, "ALARM links") == NULL, "%s", text);
    CHECK_CONTAINS(windows[3], "ALARM drift: ");
    CHECK_U64(seen.alarms, 5, "drift three times, and the two: %s", text);
}

static void what_was_simulated_is_the_measure_where_it_is_said(void **state)
{
    (void)state;
    begin("expected");
    record_all(0, 1000, 200);
    char path[200];
    (void)snprintf(path, sizeof path, "%s/train.txt", place);
    FILE *file = fopen(path, "w");
    (void)fputs("{\"kind\": \"train\", \"step_time_ns\": 1000000, \"forward_ns\": 300000, \"backward_ns\": 500000,"
                " \"optimizer_ns\": 100000, \"exposed_comm_ns\": 100000}",
                file);
    (void)fclose(file);
    struct orr_watch_options options = here();
    struct orr_watch_seen seen;
    options.expected = path;
    const char *text = look_once(&options, &seen);
    CHECK_CONTAINS(text, "1.200 ms a step, +20.0 % of 1.000 ms expected");
    CHECK_CONTAINS(text, "ALARM drift: ");
    CHECK_CONTAINS(text, "ALARM links: "); /* 200 us where 100 were to be exposed */
    options.tolerance = 2;
    (void)look_once(&options, &seen);
    CHECK_U64(seen.alarms, 0, "twice as long is let pass");
    file = fopen(path, "w");
    (void)fputs("{\"kind\": \"plan\"}", file);
    (void)fclose(file);
    struct orr_error err = {0};
    struct orr_watch *watch = NULL;
    CHECK_STATUS(orr_watch_open(&options, &watch, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "says no time of a step");
}

static void a_file_is_read_when_it_no_longer_changes(void **state)
{
    (void)state;
    begin("growing");
    struct orr_watch_options options = here();
    struct orr_watch_seen seen;
    struct orr_error err = {0};
    struct orr_watch *watch = NULL;
    CHECK_OK(orr_watch_open(&options, &watch, &err), &err);
    record(0, 0, 1000, 200, true);
    CHECK_OK(orr_watch_look(watch, false, NULL, stderr, &seen, &err), &err);
    CHECK_U64(seen.files, 0, "it may still be written");
    CHECK_U64(seen.waiting, 1, "and is not forgotten");
    CHECK_OK(orr_watch_look(watch, false, NULL, stderr, &seen, &err), &err);
    CHECK_U64(seen.files, 1, "it did not change");
    CHECK_U64(seen.windows, 0, "other ranks may follow");
    CHECK_OK(orr_watch_look(watch, true, NULL, stderr, &seen, &err), &err);
    CHECK_U64(seen.windows, 1, "now nobody will");
    orr_watch_close(watch);
}

static void count_warning(void *context, const char *text)
{
    (void)text;
    ++*(unsigned *)context;
}

static void what_is_no_recording_is_told_once(void **state)
{
    (void)state;
    begin("other");
    char path[200];
    (void)snprintf(path, sizeof path, "%s/notes.json", place);
    FILE *file = fopen(path, "w");
    (void)fputs("not json", file);
    (void)fclose(file);
    unsigned warned = 0;
    const struct orr_notices notices = {.warn = count_warning, .context = &warned};
    struct orr_watch_options options = here();
    struct orr_watch_seen seen;
    struct orr_error err = {0};
    struct orr_watch *watch = NULL;
    CHECK_OK(orr_watch_open(&options, &watch, &err), &err);
    for (int i = 0; i < 4; i++) {
        CHECK_OK(orr_watch_look(watch, false, &notices, stderr, &seen, &err), &err);
    }
    CHECK_U64(warned, 1, "warnings");
    CHECK_U64(seen.files + seen.waiting, 0, "it is left alone");
    orr_watch_close(watch);
}

static void a_status_file_says_whether_its_process_is_gone(void **state)
{
    (void)state;
    begin("status");
    char path[200];
    (void)snprintf(path, sizeof path, "%s/status.json", place);
    struct orr_status_now now;
    struct orr_error err = {0};
    for (int gone = 0; gone < 2; gone++) {
        FILE *file = fopen(path, "w");
        (void)fprintf(file,
                      "{\"state\": \"running\", \"simulated_ns\": 5, \"nodes_done\": 1, \"nodes\": 4, \"eta_s\": null,"
                      " \"pid\": %ld}",
                      gone == 1 ? 2147483646L : (long)getpid());
        (void)fclose(file);
        CHECK_OK(orr_status_read(path, &now, &err), &err);
        CHECK(now.lost == (gone == 1), "gone: %d", gone);
        CHECK(isnan(now.eta_s) && now.nodes == 4, "what it says");
    }
    FILE *file = fopen(path, "w");
    (void)fputs("{\"kind\": \"run\"}", file);
    (void)fclose(file);
    CHECK_STATUS(orr_status_read(path, &now, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "is no status file");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_as_before_raises_no_alarm),
        cmocka_unit_test(a_slow_rank_slow_links_and_slow_steps_are_told_apart),
        cmocka_unit_test(what_was_simulated_is_the_measure_where_it_is_said),
        cmocka_unit_test(a_file_is_read_when_it_no_longer_changes),
        cmocka_unit_test(what_is_no_recording_is_told_once),
        cmocka_unit_test(a_status_file_says_whether_its_process_is_gone),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
