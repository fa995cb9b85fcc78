/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thousand points mostly name the same five files, so that each name is looked up in a short list before anything is
 * read. Traces are hashed here once; the points' entries in the store say the same hash again.
 */
#include "lab/sweep/inputs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config/wired.h"
#include "io/file.h"
#include "run/workload_find.h"
#include "run/workload_shared.h"

void sweep_inputs_init(struct sweep_inputs *inputs)
{
    *inputs = (struct sweep_inputs){0};
    arena_init(&inputs->arena, &inputs->mem);
}

void sweep_inputs_free(struct sweep_inputs *inputs)
{
    for (uint32_t i = 0; i < inputs->count; i++) {
        orr_workload_close(inputs->workloads[i]->loaded);
        (void)pthread_mutex_destroy(&inputs->workloads[i]->lock);
    }
    mem_free(&inputs->mem, inputs->calibrations, (size_t)inputs->calibration_capacity * sizeof *inputs->calibrations);
    mem_free(&inputs->mem, inputs->workloads, (size_t)inputs->capacity * sizeof(struct sweep_workload *));
    arena_free(&inputs->arena);
}

static enum orr_status sweep_inputs_no_memory(const struct sweep_inputs *inputs, struct orr_error *err)
{
    return mem_error(&inputs->mem, "the inputs of a sweep", err);
}

/* ---- traces ---- */

/* As many as are there, in the words of lab/experiment_record.c: equal traces have equal hashes in the store. */
static enum orr_status hash_traces(struct sweep_inputs *inputs, struct sweep_workload *workload, struct orr_error *err)
{
    struct io_hash *hash = NULL;
    size_t room = strlen(workload->prefix) + sizeof ".4294967295.et";
    char *path = arena_alloc(&inputs->arena, room);
    enum orr_status status = path == NULL ? sweep_inputs_no_memory(inputs, err) : io_hash_open(&hash, err);
    uint64_t bytes = 0;
    for (workload->traces = 0; status == ORR_OK; workload->traces++) {
        (void)snprintf(path, room, "%s.%" PRIu32 ".et", workload->prefix, workload->traces);
        if (!file_exists(path)) {
            break;
        }
        status = io_hash_file(hash, path, &bytes, err);
    }
    if (status == ORR_EIO) { /* a point that needs it will say so */
        workload->traces = 0;
        status = ORR_OK;
    }
    if (status == ORR_OK) {
        io_hash_result(hash, workload->hash);
        workload->input = (struct lab_input){"workload", workload->prefix, workload->hash, bytes};
    }
    io_hash_close(hash);
    return status;
}

static enum orr_status sweep_inputs_add_workload(struct sweep_inputs *inputs, const char *prefix, bool missing_is_cpu,
                                                 uint32_t *index, struct orr_error *err)
{
    for (uint32_t i = 0; i < inputs->count; i++) {
        if (inputs->workloads[i]->missing_is_cpu == missing_is_cpu &&
            strcmp(inputs->workloads[i]->prefix, prefix) == 0) {
            *index = i;
            return ORR_OK;
        }
    }
    struct sweep_workload *made = arena_zalloc(&inputs->arena, sizeof *made);
    if (made == NULL || !mem_reserve(&inputs->mem, (void **)&inputs->workloads, &inputs->capacity,
                                     (uint64_t)inputs->count + 1, sizeof(struct sweep_workload *))) {
        return sweep_inputs_no_memory(inputs, err);
    }
    made->prefix = prefix;
    made->missing_is_cpu = missing_is_cpu;
    enum orr_status status = hash_traces(inputs, made, err);
    if (status != ORR_OK) {
        return status;
    }
    (void)pthread_mutex_init(&made->lock, NULL);
    *index = inputs->count;
    inputs->workloads[inputs->count++] = made;
    return ORR_OK;
}

/* A lab point's prefix, as its plan will find it; NULL when it will not. */
static enum orr_status lab_prefix(struct sweep_inputs *inputs, const struct orr_lab_options *lab, const char **prefix,
                                  struct orr_error *err)
{
    struct run_workload found = {0};
    struct orr_error unsaid = {0};
    *prefix = NULL;
    if (lab->run.workload == NULL || run_workload_find(lab->run.workload, lab->prefix, lab->recording_tag,
                                                       &inputs->arena, &found, &unsaid) != ORR_OK) {
        return ORR_OK;
    }
    if (found.recording != NULL) {
        return error_set(err, ORR_EINVAL,
                         "%s: is a recording, which every point would have to import; do it once before: orrery trace "
                         "import %s -o traces/job",
                         lab->run.workload, lab->run.workload);
    }
    *prefix = found.prefix;
    return ORR_OK;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_lab_workload(const struct orr_lab_options *a, const struct orr_lab_options *b)
{
    return b != NULL && same_text(a->run.workload, b->run.workload) && same_text(a->prefix, b->prefix) &&
           same_text(a->recording_tag, b->recording_tag);
}

enum orr_status sweep_inputs_find(struct sweep_inputs *inputs, const struct orr_sweep_job *jobs, uint64_t count,
                                  struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    const struct orr_lab_options *before = NULL;
    const char *prefix = NULL;
    inputs->of_point = arena_alloc(&inputs->arena, (size_t)count * sizeof *inputs->of_point);
    inputs->points = count;
    if (inputs->of_point == NULL) {
        return sweep_inputs_no_memory(inputs, err);
    }
    for (uint64_t i = 0; status == ORR_OK && i < count; i++) {
        const struct orr_sweep_job *job = &jobs[i];
        uint32_t index = UINT32_MAX;
        if (job->run != NULL) {
            prefix = job->run->workload;
        } else if (!same_lab_workload(job->lab, before)) {
            status = lab_prefix(inputs, job->lab, &prefix, err);
            before = job->lab;
        }
        if (status == ORR_OK && prefix != NULL) {
            status =
                sweep_inputs_add_workload(inputs, prefix, job->run != NULL && job->run->missing_is_cpu, &index, err);
        }
        inputs->of_point[i] = index;
        if (status == ORR_OK && index != UINT32_MAX) {
            inputs->workloads[index]->users++;
        }
    }
    return status;
}

void sweep_inputs_skip(struct sweep_inputs *inputs, uint64_t point)
{
    if (inputs->of_point[point] != UINT32_MAX) {
        inputs->workloads[inputs->of_point[point]]->users--;
    }
}

/* Points may have different limits: one that has more tries again where another failed. With the lock held. */
static void load(struct sweep_workload *workload, uint64_t memory_limit)
{
    struct orr_error unsaid = {0};
    struct mem mem = {0};
    bool more = workload->tried_limit != 0 && (memory_limit == 0 || memory_limit > workload->tried_limit);
    if (workload->loaded != NULL || (workload->tried && !more)) {
        return;
    }
    if (!workload->tried && run_workload_steps(workload->prefix, &mem, &workload->steps, &unsaid) != ORR_OK) {
        workload->steps = 0;
    }
    workload->tried = true;
    workload->tried_limit = memory_limit;
    if (orr_workload_open(workload->prefix, workload->missing_is_cpu, memory_limit, &workload->loaded, &unsaid) !=
        ORR_OK) {
        workload->loaded = NULL;
    }
}

struct sweep_workload *sweep_inputs_take(struct sweep_inputs *inputs, uint64_t point, uint64_t memory_limit)
{
    if (inputs->of_point[point] == UINT32_MAX) {
        return NULL;
    }
    struct sweep_workload *workload = inputs->workloads[inputs->of_point[point]];
    (void)pthread_mutex_lock(&workload->lock);
    load(workload, memory_limit);
    (void)pthread_mutex_unlock(&workload->lock);
    return workload;
}

const struct orr_workload *sweep_workload_loaded(struct sweep_workload *workload, uint64_t memory_limit)
{
    (void)pthread_mutex_lock(&workload->lock);
    const struct orr_workload *loaded = workload->loaded;
    (void)pthread_mutex_unlock(&workload->lock);
    bool fits = loaded != NULL && (memory_limit == 0 || workload_shared_peak(loaded) <= memory_limit);
    return fits ? loaded : NULL;
}

void sweep_inputs_give(struct sweep_workload *workload)
{
    if (workload == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&workload->lock);
    workload->users--;
    if (workload->users == 0) {
        orr_workload_close(workload->loaded);
        workload->loaded = NULL;
    }
    (void)pthread_mutex_unlock(&workload->lock);
}

/* ---- the fingerprint ---- */

struct hashing {
    struct sweep_inputs *inputs;
    struct io_hash *hash;
    const char **paths; /* hashed already */
    uint32_t count, capacity;
    struct orr_error *err;
};

/* A file that cannot be read is told from all that can: its point fails, until there is one. `*known`: it was hashed
 * before. */
static enum orr_status hash_file(struct hashing *hashing, const char *path, bool *known)
{
    struct orr_error unsaid = {0};
    uint64_t bytes = 0;
    *known = path == NULL;
    for (uint32_t i = 0; i < hashing->count && !*known; i++) {
        *known = same_text(hashing->paths[i], path);
    }
    if (*known) {
        return ORR_OK;
    }
    if (!mem_reserve(&hashing->inputs->mem, (void **)&hashing->paths, &hashing->capacity, (uint64_t)hashing->count + 1,
                     sizeof(char *))) {
        return sweep_inputs_no_memory(hashing->inputs, hashing->err);
    }
    hashing->paths[hashing->count++] = path;
    io_hash_text(hashing->hash, path);
    if (!file_exists(path) || io_hash_file(hashing->hash, path, &bytes, &unsaid) != ORR_OK) {
        io_hash_text(hashing->hash, NULL);
    }
    io_hash_number(hashing->hash, bytes);
    return ORR_OK;
}

/* The topology that a packet configuration names, wherever it may lie. */
static enum orr_status hash_named(struct hashing *hashing, const char *network)
{
    struct arena *arena = &hashing->inputs->arena;
    struct orr_error unsaid = {0};
    struct notes notes;
    struct packet_config config;
    struct config_packet_files files = {0};
    bool known = false;
    enum orr_status status = ORR_OK;
    notes_init(&notes, &hashing->inputs->mem, false);
    if (config_read_packet(network, arena, &notes, &config, &files, &unsaid) == ORR_OK && files.topology != NULL) {
        const char *slash = strrchr(network, '/');
        status = hash_file(hashing, files.topology, &known);
        if (status == ORR_OK && slash != NULL && files.topology[0] != '/') {
            const char *beside = arena_printf(arena, "%.*s/%s", (int)(slash - network), network, files.topology);
            status = beside == NULL ? sweep_inputs_no_memory(hashing->inputs, hashing->err)
                                    : hash_file(hashing, beside, &known);
        }
    }
    notes_free(&notes);
    return status;
}

/* The points' entries in the store name it, with its hash. */
static enum orr_status sweep_inputs_keep_calibration(struct hashing *hashing, const char *path)
{
    struct sweep_inputs *inputs = hashing->inputs;
    struct io_hash *hash = NULL;
    struct orr_error unsaid = {0};
    uint64_t bytes = 0;
    char *text = arena_alloc(&inputs->arena, IO_HASH_TEXT);
    bool room = text != NULL &&
                MEM_GROW(&inputs->mem, inputs->calibrations, inputs->calibration_capacity, inputs->calibration_count);
    enum orr_status status = room ? io_hash_open(&hash, hashing->err) : sweep_inputs_no_memory(inputs, hashing->err);
    if (status == ORR_OK && io_hash_file(hash, path, &bytes, &unsaid) == ORR_OK) {
        io_hash_result(hash, text);
        inputs->calibrations[inputs->calibration_count++] = (struct lab_input){"calibration", path, text, bytes};
    }
    io_hash_close(hash);
    return status;
}

const struct lab_input *sweep_inputs_calibration(const struct sweep_inputs *inputs, const char *path)
{
    for (uint32_t i = 0; path != NULL && i < inputs->calibration_count; i++) {
        if (strcmp(inputs->calibrations[i].path, path) == 0) {
            return &inputs->calibrations[i];
        }
    }
    return NULL;
}

static enum orr_status hash_job(struct hashing *hashing, const struct orr_sweep_job *job)
{
    const struct orr_run_options *run = job->run;
    const char *const paths[] = {run != NULL ? run->system : job->lab->run.system,
                                 run == NULL            ? job->lab->run.machine
                                 : run->machine != NULL ? run->machine
                                                        : run->network,
                                 run != NULL ? run->logical : NULL, run != NULL ? run->memory : NULL,
                                 run != NULL ? run->groups : NULL};
    enum orr_status status = ORR_OK;
    for (size_t i = 0; status == ORR_OK && i < sizeof paths / sizeof paths[0]; i++) {
        bool known = false;
        status = hash_file(hashing, paths[i], &known);
        bool names = i == 1 && !known && run != NULL && run->backend >= ORR_BACKEND_PACKET;
        if (status == ORR_OK && names) {
            status = hash_named(hashing, paths[i]);
        }
    }
    bool known = true;
    if (status == ORR_OK) {
        status = hash_file(hashing, job->calibration, &known);
    }
    if (status == ORR_OK && !known) {
        status = sweep_inputs_keep_calibration(hashing, job->calibration);
    }
    return status;
}

static void hash_plan(struct io_hash *hash, const struct orr_sweep_options *sweep, uint64_t count)
{
    size_t keys = orr_sweep_plan_key_count(sweep->plan);
    io_hash_text(hash, orr_version());
    io_hash_text(hash, sweep->base);
    io_hash_number(hash, keys);
    io_hash_number(hash, count);
    for (size_t key = 0; key < keys; key++) {
        struct orr_sweep_key said;
        orr_sweep_plan_key(sweep->plan, key, &said);
        io_hash_text(hash, said.name);
        for (uint64_t point = 0; point < count; point++) {
            io_hash_text(hash, orr_sweep_plan_value(sweep->plan, point, key));
        }
    }
}

enum orr_status sweep_inputs_fingerprint(struct sweep_inputs *inputs, const struct orr_sweep_options *sweep,
                                         uint64_t count, char text[IO_HASH_TEXT], struct orr_error *err)
{
    struct hashing hashing = {.inputs = inputs, .err = err};
    enum orr_status status = io_hash_open(&hashing.hash, err);
    if (status != ORR_OK) {
        return status;
    }
    hash_plan(hashing.hash, sweep, count);
    for (uint32_t i = 0; i < inputs->count; i++) {
        io_hash_text(hashing.hash, inputs->workloads[i]->prefix);
        io_hash_text(hashing.hash, inputs->workloads[i]->hash);
    }
    for (uint64_t i = 0; status == ORR_OK && i < count; i++) {
        status = hash_job(&hashing, &sweep->jobs[i]);
    }
    io_hash_result(hashing.hash, text);
    io_hash_close(hashing.hash);
    mem_free(&inputs->mem, hashing.paths, (size_t)hashing.capacity * sizeof(char *));
    return status;
}
