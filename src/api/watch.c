/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder looked at again and again. The n-th recording of a rank belongs to its n-th window, in the order in which
 * their first steps began; a window is judged when every rank that is known has one, or when another window has begun
 * and nobody will fill it. What was expected comes from a document of a simulation, or from the first window.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/error.h"
#include "base/intern.h"
#include "base/notices.h"
#include "base/number_map.h"
#include "base/plain.h"
#include "calib/watch.h"
#include "io/file.h"
#include "io/json.h"
#include "io/json_write.h"
#include "orrery.h"
#include "report/number.h"

/* One file of the folder, by its name's number. */
struct watched {
    const char *path;
    uint64_t size;
    int64_t changed_ns;
    bool is_read, is_refused; /* refused: it cannot be read, and has not changed since */
    uint32_t window;
    struct calib_measured measured;
};

struct judged {
    struct calib_window window;
    struct calib_alarm *alarms;
    uint32_t number, alarm_count;
};

struct orr_watch {
    struct orr_watch_options options;
    struct mem mem;
    struct arena arena;
    struct intern names;
    struct watched *files;
    uint32_t file_count, file_room;
    struct number_map windows_of; /* a rank's recordings so far */
    uint32_t ranks;
    struct calib_expected expected;
    bool is_expected; /* said by the caller, else by the first window */
    struct judged *judged;
    uint32_t judged_count, judged_room;
    uint64_t alarms;
};

void orr_watch_options_init(struct orr_watch_options *options)
{
    *options = (struct orr_watch_options){.size = sizeof *options, .tolerance = 0.1};
}

void orr_watch_close(struct orr_watch *watch)
{
    if (watch != NULL) {
        mem_free(&watch->mem, watch->files, watch->file_room * sizeof *watch->files);
        mem_free(&watch->mem, watch->judged, watch->judged_room * sizeof *watch->judged);
        number_map_free(&watch->windows_of);
        intern_free(&watch->names);
        arena_free(&watch->arena);
        free(watch);
    }
}

/* ---- what is expected ---- */

static double watch_number(const struct io_value *map, const char *key)
{
    const struct io_value *value = io_value_member(map, key);
    return value == NULL               ? (double)NAN
           : value->kind == IO_INTEGER ? (double)value->integer
           : value->kind == IO_REAL    ? value->real
                                       : (double)NAN;
}

/* Of a step, in ms: train says it so; a run by its number of steps, and of the ranks' mean. */
static struct calib_expected watch_expected_of(const struct io_value *root)
{
    const struct io_value *times = io_value_member(root, "rank_time");
    double steps = watch_number(root, "steps");
    double each = (steps >= 1 ? steps : 1) * 1e6;
    if (!isnan(watch_number(root, "step_time_ns"))) {
        double device =
            watch_number(root, "forward_ns") + watch_number(root, "backward_ns") + watch_number(root, "optimizer_ns");
        return (struct calib_expected){watch_number(root, "step_time_ns") / 1e6, device / 1e6, (double)NAN,
                                       watch_number(root, "exposed_comm_ns") / 1e6};
    }
    return (struct calib_expected){watch_number(root, "time_ns") / each,
                                   watch_number(io_value_member(times, "compute_ns"), "mean") / each, (double)NAN,
                                   watch_number(io_value_member(times, "exposed_comm_ns"), "mean") / each};
}

static enum orr_status watch_read_tree(const char *path, struct mem *mem, struct arena *arena, struct io_value **root,
                                       struct orr_error *err)
{
    struct file_buffer text;
    file_buffer_init(&text, mem);
    enum orr_status status = file_buffer_read(&text, path, err);
    if (status == ORR_OK) {
        status = io_json_parse(path, (const char *)text.bytes, text.size, arena, root, err);
    }
    file_buffer_free(&text);
    return status;
}

static enum orr_status watch_expect(struct orr_watch *watch, struct orr_error *err)
{
    const struct orr_watch_options *options = &watch->options;
    const double none = NAN;
    watch->expected = (struct calib_expected){none, none, none, none};
    if (options->expected != NULL) {
        struct io_value *root = NULL;
        enum orr_status status = watch_read_tree(options->expected, &watch->mem, &watch->arena, &root, err);
        if (status != ORR_OK) {
            return status;
        }
        watch->expected = watch_expected_of(root);
        if (!(watch->expected.step_ms > 0)) {
            return error_set(err, ORR_EINVAL,
                             "%s: says no time of a step; the JSON of a run or of a training step does",
                             options->expected);
        }
    }
    if (options->step_ms > 0) {
        watch->expected.step_ms = options->step_ms;
    }
    watch->is_expected = watch->expected.step_ms > 0;
    return ORR_OK;
}

enum orr_status orr_watch_open(const struct orr_watch_options *options, struct orr_watch **watch, struct orr_error *err)
{
    struct stat about;
    if (options->size != sizeof *options) {
        return error_set(err, ORR_EINVAL, "the options of a watch were not made by orr_watch_options_init");
    }
    if (options->folder == NULL || stat(options->folder, &about) != 0 || !S_ISDIR(about.st_mode)) {
        return error_set(err, ORR_EINVAL, "%s: is no folder; one is watched that recordings are written to",
                         options->folder != NULL ? options->folder : "(none)");
    }
    if (!(options->tolerance > 0 && options->tolerance <= 10) || !(options->step_ms >= 0)) {
        return error_set(err, ORR_EINVAL, "a watch's tolerance is above 0 and at most 10, and its step no less than 0");
    }
    struct orr_watch *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory for a watch");
    }
    opened->options = *options;
    arena_init(&opened->arena, &opened->mem);
    intern_init(&opened->names, &opened->mem);
    number_map_init(&opened->windows_of, &opened->mem);
    enum orr_status status = watch_expect(opened, err);
    if (status != ORR_OK) {
        orr_watch_close(opened);
        return status;
    }
    *watch = opened;
    return ORR_OK;
}

/* ---- what is in the folder ---- */

static bool watch_is_recording(const char *name)
{
    static const char *const endings[] = {".json", ".json.gz", ".json.zst"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t tail = strlen(endings[i]);
        if (length > tail && strcmp(name + length - tail, endings[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Files that are new get a place; numbers of names are places. */
static enum orr_status watch_list(struct orr_watch *watch, struct orr_error *err)
{
    DIR *folder = opendir(watch->options.folder);
    if (folder == NULL) {
        return error_set(err, ORR_EIO, "%s: cannot be opened: %s", watch->options.folder, strerror(errno));
    }
    bool enough = true;
    for (const struct dirent *entry = readdir(folder); enough && entry != NULL; entry = readdir(folder)) {
        uint32_t place = 0;
        if (!watch_is_recording(entry->d_name)) {
            continue;
        }
        enough = intern_add(&watch->names, entry->d_name, strlen(entry->d_name), &place) &&
                 MEM_RESERVE(&watch->mem, watch->files, watch->file_room, (uint64_t)place);
        place--; /* number 0 is the empty text */
        if (enough && place == watch->file_count) {
            watch->files[watch->file_count++] =
                (struct watched){.path = arena_printf(&watch->arena, "%s/%s", watch->options.folder, entry->d_name)};
            enough = watch->files[place].path != NULL;
        }
    }
    (void)closedir(folder);
    return enough ? ORR_OK : mem_error(&watch->mem, "a folder of recordings", err);
}

/* Whether a file is whole, as far as that can be told: it is as it was the last time, or old when it is first seen. A
 * half of one would be read as a shorter recording. */
static bool watch_is_settled(struct watched *file, const struct stat *about)
{
    enum { OLD_S = 10 };
    int64_t changed = (int64_t)about->st_mtim.tv_sec * 1000000000 + about->st_mtim.tv_nsec;
    bool is_first = file->changed_ns == 0;
    bool same = file->size == (uint64_t)about->st_size && file->changed_ns == changed;
    file->size = (uint64_t)about->st_size;
    file->changed_ns = changed;
    file->is_refused = file->is_refused && same;
    return same || (is_first && time(NULL) - about->st_mtim.tv_sec >= OLD_S);
}

static enum orr_status watch_read(struct orr_watch *watch, struct watched *file, bool last, struct notes *notes,
                                  bool *is_new, struct orr_error *err)
{
    struct stat about;
    struct orr_error why = {0};
    if (stat(file->path, &about) != 0 || (!watch_is_settled(file, &about) && !last) || file->is_refused) {
        return ORR_OK; /* gone again, still written, or known to be of no use */
    }
    file->measured = calib_measured_none(file->path);
    enum orr_status status = calib_measured_read(file->path, &watch->arena, notes, &file->measured, &why);
    if (status == ORR_ENOMEM) {
        *err = why;
        return status;
    }
    *is_new = file->is_read = status == ORR_OK;
    file->is_refused = status != ORR_OK;
    return status == ORR_OK ? ORR_OK : notes_add(notes, err, "%s: is no recording of steps: %s", file->path, why.text);
}

/* By when their first steps began; without a clock by name. */
static int watch_order(const void *a, const void *b)
{
    const struct watched *p = *(const struct watched *const *)a;
    const struct watched *q = *(const struct watched *const *)b;
    double x = p->measured.first_ms;
    double y = q->measured.first_ms;
    if (!isnan(x) && !isnan(y) && x != y) {
        return x < y ? -1 : 1;
    }
    return isnan(x) != isnan(y) ? (isnan(x) ? 1 : -1) : strcmp(p->path, q->path);
}

static enum orr_status watch_take_new(struct orr_watch *watch, bool last, struct notes *notes, struct orr_error *err)
{
    struct watched **new = mem_alloc(&watch->mem, (size_t)watch->file_count * sizeof *new);
    uint32_t count = 0;
    enum orr_status status = new != NULL ? ORR_OK : mem_error(&watch->mem, "recordings", err);
    for (uint32_t i = 0; status == ORR_OK && i < watch->file_count; i++) {
        bool is_new = false;
        if (!watch->files[i].is_read) {
            status = watch_read(watch, &watch->files[i], last, notes, &is_new, err);
        }
        if (is_new) {
            new[count++] = &watch->files[i];
        }
    }
    qsort(new, status == ORR_OK ? count : 0, sizeof *new, watch_order);
    for (uint32_t i = 0; status == ORR_OK && i < count; i++) {
        uint32_t *windows = number_map_at(&watch->windows_of, 0, new[i]->measured.rank);
        if (windows == NULL) {
            status = mem_error(&watch->mem, "recordings", err);
            break;
        }
        watch->ranks += *windows == 0 ? 1 : 0;
        new[i]->window = (*windows)++;
    }
    mem_free(&watch->mem, new, (size_t)watch->file_count * sizeof *new);
    return status;
}

/* ---- what it says ---- */

static const struct {
    const char *word, *text;
} watch_alarms[] = {
#define WATCH_X(symbol, word, text) {word, text},
    ORR_WATCH_ALARMS(WATCH_X)
#undef WATCH_X
};

static void watch_put(const struct orr_watch *watch, const struct judged *judged, FILE *stream)
{
    const struct calib_expected *measured = &judged->window.measured;
    (void)fprintf(stream, "window %u: %u rank%s, %llu step%s: %s a step", judged->number + 1, judged->window.ranks,
                  judged->window.ranks == 1 ? "" : "s", (unsigned long long)judged->window.steps,
                  judged->window.steps == 1 ? "" : "s", report_time(measured->step_ms * 1e6).text);
    if (judged->number == 0 && !watch->is_expected) {
        (void)fputs(", which is the measure for those to come", stream);
    } else {
        (void)plain_fprintf(stream, ", %+.1f %% of %s expected",
                            100 * (measured->step_ms / watch->expected.step_ms - 1),
                            report_time(watch->expected.step_ms * 1e6).text);
    }
    if (!isnan(measured->device_ms)) {
        (void)fprintf(stream, "; compute %s", report_time(measured->device_ms * 1e6).text);
    }
    if (!isnan(measured->comm_ms)) {
        (void)fprintf(stream, ", communication %s, exposed %s", report_time(measured->comm_ms * 1e6).text,
                      report_time(measured->exposed_ms * 1e6).text);
    }
    (void)fputc('\n', stream);
    for (uint32_t i = 0; i < judged->alarm_count; i++) {
        const struct calib_alarm *alarm = &judged->alarms[i];
        (void)fprintf(stream, "ALARM %s: ", watch_alarms[alarm->kind].word);
        if (alarm->kind == ORR_WATCH_STRAGGLER && alarm->rank >= 0) {
            (void)fprintf(stream, "rank %lld computes longer than the others", (long long)alarm->rank);
        } else {
            (void)fputs(watch_alarms[alarm->kind].text, stream);
        }
        (void)plain_fprintf(stream, ": %s, %+.1f %% of %s\n", report_time(alarm->measured_ms * 1e6).text,
                            100 * (alarm->measured_ms / alarm->expected_ms - 1),
                            report_time(alarm->expected_ms * 1e6).text);
    }
}

/* ---- windows ---- */

static enum orr_status watch_judge(struct orr_watch *watch, uint32_t number, uint32_t count, FILE *stream,
                                   struct orr_error *err)
{
    struct calib_measured *files = arena_alloc(&watch->arena, count * sizeof *files);
    double *room = arena_alloc(&watch->arena, count * sizeof *room);
    struct judged judged = {.number = number};
    judged.alarms = arena_alloc(&watch->arena, ((size_t)count + 2) * sizeof *judged.alarms);
    if (files == NULL || room == NULL || judged.alarms == NULL ||
        !MEM_GROW(&watch->mem, watch->judged, watch->judged_room, watch->judged_count)) {
        return mem_error(&watch->mem, "a window of recordings", err);
    }
    uint32_t taken = 0;
    for (uint32_t i = 0; i < watch->file_count; i++) {
        if (watch->files[i].is_read && watch->files[i].window == number) {
            files[taken++] = watch->files[i].measured;
        }
    }
    judged.window = calib_window_of(files, taken, room);
    bool is_measure = watch->judged_count == 0 && !watch->is_expected;
    if (is_measure) {
        watch->expected = judged.window.measured;
    }
    judged.alarm_count = calib_window_judge(files, taken, &judged.window, &watch->expected, watch->options.tolerance,
                                            room, judged.alarms);
    watch->alarms += judged.alarm_count;
    watch->judged[watch->judged_count++] = judged;
    watch_put(watch, &judged, stream);
    return ORR_OK;
}

enum orr_status orr_watch_look(struct orr_watch *watch, bool last, const struct orr_notices *notices, FILE *stream,
                               struct orr_watch_seen *seen, struct orr_error *err)
{
    struct notes notes;
    notices_begin(&notes, &watch->mem, notices);
    enum orr_status status = watch_list(watch, err);
    status = status == ORR_OK ? watch_take_new(watch, last, &notes, err) : status;
    notices_end(&notes, notices);
    bool more = status == ORR_OK;
    while (more) {
        uint32_t number = watch->judged_count;
        uint32_t count = 0;
        uint32_t later = 0;
        for (uint32_t i = 0; i < watch->file_count; i++) {
            count += watch->files[i].is_read && watch->files[i].window == number ? 1 : 0;
            later += watch->files[i].is_read && watch->files[i].window > number ? 1 : 0;
        }
        more = count > 0 && (count == watch->ranks ? number > 0 || later > 0 || last : later >= watch->ranks || last);
        if (more) {
            status = watch_judge(watch, number, count, stream, err);
            more = status == ORR_OK;
        }
    }
    if (status != ORR_OK) {
        return status;
    }
    *seen = (struct orr_watch_seen){.windows = watch->judged_count, .ranks = watch->ranks, .alarms = watch->alarms};
    for (uint32_t i = 0; i < watch->file_count; i++) {
        seen->files += watch->files[i].is_read ? 1 : 0;
        seen->waiting += !watch->files[i].is_read && !watch->files[i].is_refused ? 1 : 0;
    }
    return error_of_stream(stream, "what was seen", err);
}

static void watch_json_times(struct json_writer *json, const char *key, const struct calib_expected *times)
{
    json_write_member_object(json, key, true);
    json_write_member_fixed(json, "step_ms", times->step_ms, 6);
    json_write_member_fixed(json, "compute_ms", times->device_ms, 6);
    json_write_member_fixed(json, "comm_ms", times->comm_ms, 6);
    json_write_member_fixed(json, "exposed_comm_ms", times->exposed_ms, 6);
    json_write_object_end(json);
}

static void watch_json_alarm(struct json_writer *json, const struct calib_alarm *alarm)
{
    json_write_object(json, true);
    json_write_member_string(json, "alarm", watch_alarms[alarm->kind].word);
    if (alarm->rank >= 0) {
        json_write_member_i64(json, "rank", alarm->rank);
    }
    json_write_member_fixed(json, "measured_ms", alarm->measured_ms, 6);
    json_write_member_fixed(json, "expected_ms", alarm->expected_ms, 6);
    json_write_object_end(json);
}

enum orr_status orr_watch_json(const struct orr_watch *watch, FILE *stream, struct orr_error *err)
{
    struct json_writer json;
    json_write_document(&json, stream);
    json_write_member_string(&json, "kind", "watch");
    json_write_member_string(&json, "folder", watch->options.folder);
    json_write_member_fixed(&json, "tolerance", watch->options.tolerance, 6);
    json_write_member_bool(&json, "expected_is_first_window", !watch->is_expected);
    watch_json_times(&json, "expected", &watch->expected);
    json_write_member_u64(&json, "alarms", watch->alarms);
    json_write_member_array(&json, "windows", false);
    for (uint32_t i = 0; i < watch->judged_count; i++) {
        const struct judged *judged = &watch->judged[i];
        json_write_object(&json, false);
        json_write_member_u64(&json, "ranks", judged->window.ranks);
        json_write_member_u64(&json, "steps", judged->window.steps);
        watch_json_times(&json, "measured", &judged->window.measured);
        json_write_member_array(&json, "alarms", false);
        for (uint32_t k = 0; k < judged->alarm_count; k++) {
            watch_json_alarm(&json, &judged->alarms[k]);
        }
        json_write_array_end(&json);
        json_write_object_end(&json);
    }
    json_write_array_end(&json);
    json_write_document_end(&json);
    return error_of_stream(stream, "what was seen", err);
}

/* ---- the status of a simulation ---- */

enum orr_status orr_status_read(const char *path, struct orr_status_now *now, struct orr_error *err)
{
    struct mem mem = {0};
    struct arena arena;
    struct io_value *root = NULL;
    arena_init(&arena, &mem);
    enum orr_status status = watch_read_tree(path, &mem, &arena, &root, err);
    const struct io_value *state = status == ORR_OK ? io_value_member(root, "state") : NULL;
    if (status == ORR_OK &&
        (state == NULL || state->kind != IO_TEXT || io_value_member(root, "simulated_ns") == NULL)) {
        status = error_set(err, ORR_EINVAL, "%s: is no status file of a run (parameter 'status-file')", path);
    }
    if (status == ORR_OK) {
        double pid = watch_number(root, "pid");
        struct orr_status_now found = {
            .simulated_ns = (uint64_t)fmax(watch_number(root, "simulated_ns"), 0),
            .events = (uint64_t)fmax(watch_number(root, "events"), 0),
            .nodes_done = (uint64_t)fmax(watch_number(root, "nodes_done"), 0),
            .nodes = (uint64_t)fmax(watch_number(root, "nodes"), 0),
            .elapsed_s = watch_number(root, "elapsed_s"),
            .eta_s = watch_number(root, "eta_s"),
        };
        (void)snprintf(found.state, sizeof found.state, "%s", state->text);
        found.lost = strcmp(found.state, "running") == 0 && pid > 0 && pid < INT32_MAX && kill((pid_t)pid, 0) != 0 &&
                     errno == ESRCH;
        *now = found;
    }
    arena_free(&arena);
    return status;
}
