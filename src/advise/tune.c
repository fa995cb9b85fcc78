/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A point of the space is a choice for every setting, 0 being what the job has. Where the space is small every point is
 * simulated; where it is not, one setting after the other is chosen among all of its values with the others held, until
 * none of them can be bettered. A point is given up once it takes longer than the best so far, so that most cost a part
 * of a run. What is promised is the time of a run that reads the written file.
 */
#include "advise/tune.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "advise/machine.h"
#include "base/thread_pool.h"
#include "param/param.h"
#include "report/rows.h"
#include "report/summary.h"
#include "report/tuned.h"

enum { TUNE_WAYS = 64, TUNE_CHUNKS = 32, TUNE_BATCH = 32 };

/* The settings, kinds of collectives first. */
enum { TUNE_CHUNK = SIM_NATIVE_COUNT, TUNE_OPTIMIZATION, TUNE_ORDER, TUNE_SETTINGS };

struct tune_chunk {
    uint32_t splits, active;
};

struct tune_space {
    uint32_t sizes[TUNE_SETTINGS]; /* values of each setting */
    struct advise_way now[SIM_NATIVE_COUNT];
    struct advise_ways others[SIM_NATIVE_COUNT]; /* value n + 1 */
    struct tune_chunk chunks[TUNE_CHUNKS];
    uint8_t orders[ADVISE_ORDERS][TOPO_MAX_DIMS];
};

struct tune_point {
    uint32_t value[TUNE_SETTINGS];
};

/* What the caller gets, and what it lies in. */
struct tune_made {
    struct orr_tuned shown;
    struct advise_document *document;
};

struct tune {
    struct tune_made *made;
    struct advise_job job;
    const struct sim_config *config;
    struct tune_space space;
    struct advise_changes changes;
    struct tune_point best;
    uint64_t best_ns;
};

/* ---- the space ---- */

static void tune_list_chunks(struct tune_space *space, const struct sim_system *system)
{
    static const uint32_t splits[] = {1, 2, 4, 8, 16, 32, 64};
    static const uint32_t active[] = {1, 2, 4};
    uint32_t count = 0;
    space->chunks[count++] = (struct tune_chunk){system->preferred_dataset_splits, system->active_chunks_per_dimension};
    for (size_t i = 0; i < sizeof splits / sizeof splits[0]; i++) {
        for (size_t k = 0; k < sizeof active / sizeof active[0]; k++) {
            bool now = splits[i] == space->chunks[0].splits && active[k] == space->chunks[0].active;
            if (!now && active[k] <= splits[i]) {
                space->chunks[count++] = (struct tune_chunk){splits[i], active[k]};
            }
        }
    }
    space->sizes[TUNE_CHUNK] = count;
}

static void tune_list(struct tune *tune, const struct sim_result *result)
{
    struct tune_space *space = &tune->space;
    struct advise_document *document = tune->made->document;
    unsigned kinds = advise_kinds_of(result);
    for (uint32_t native = 0; native < SIM_NATIVE_COUNT; native++) {
        space->now[native] = advise_way_now(document, tune->config, (enum sim_native)native);
        space->sizes[native] = 1;
        if ((kinds & 1U << native) != 0) {
            space->others[native] = advise_ways_of(document, tune->config, (enum sim_native)native, TUNE_WAYS);
            space->sizes[native] += space->others[native].count;
        }
    }
    bool several = tune->config->dims.count > 1 && (kinds & 1U << SIM_ALL_REDUCE) != 0;
    space->sizes[TUNE_CHUNK] = space->sizes[TUNE_ORDER] = 1;
    space->sizes[TUNE_OPTIMIZATION] = several ? 2 : 1;
    if (kinds != 0) {
        tune_list_chunks(space, &tune->config->system);
        space->sizes[TUNE_ORDER] = advise_orders_of(tune->config, space->orders);
    }
}

static uint64_t tune_combinations(const struct tune_space *space)
{
    uint64_t total = 1;
    for (uint32_t i = 0; i < TUNE_SETTINGS; i++) {
        total = total > UINT64_MAX / space->sizes[i] ? UINT64_MAX : total * space->sizes[i];
    }
    return total;
}

static struct tune_point tune_point_of(const struct tune_space *space, uint64_t number)
{
    struct tune_point point;
    for (uint32_t i = TUNE_SETTINGS; i-- > 0;) {
        point.value[i] = (uint32_t)(number % space->sizes[i]);
        number /= space->sizes[i];
    }
    return point;
}

/* ---- a point as a change ---- */

static const struct advise_way *tune_way(const struct tune_space *space, uint32_t native, uint32_t value)
{
    return value == 0 ? &space->now[native] : &space->others[native].list[value - 1];
}

static const char *tune_optimization(const struct tune *tune, uint32_t value)
{
    bool local = (tune->config->system.optimization == SIM_LOCAL_BW_AWARE) == (value == 0);
    return local ? "localBWAware" : "baseline";
}

static void tune_change(const struct tune *tune, const struct tune_point *point, struct advise_change *change)
{
    const struct tune_space *space = &tune->space;
    struct advise_document *document = tune->made->document;
    const struct advise_way *ways[SIM_NATIVE_COUNT] = {NULL};
    for (uint32_t native = 0; native < SIM_NATIVE_COUNT; native++) {
        const struct advise_way *way = tune_way(space, native, point->value[native]);
        ways[native] = point->value[native] == 0 ? NULL : way;
        if (ways[native] != NULL && point->value[TUNE_ORDER] == 0) {
            advise_set(change, advise_native_keys[native], advise_words_text(document, way->words, way->count));
        }
    }
    if (point->value[TUNE_ORDER] != 0) {
        advise_set_order(document, tune->config, space->orders[point->value[TUNE_ORDER]], ways, change);
    }
    if (point->value[TUNE_CHUNK] != 0) {
        const struct tune_chunk *chunk = &space->chunks[point->value[TUNE_CHUNK]];
        advise_set(change, "system.preferred-dataset-splits", advise_text(document, "%u", chunk->splits));
        advise_set(change, "system.active-chunks-per-dimension", advise_text(document, "%u", chunk->active));
    }
    if (point->value[TUNE_OPTIMIZATION] != 0) {
        advise_set(change, "system.collective-optimization", tune_optimization(tune, point->value[TUNE_OPTIMIZATION]));
    }
}

/* ---- the search ---- */

/* Some points at once; the first of the best is taken where it is better than what there is. */
static enum orr_status tune_try(struct tune *tune, const struct tune_point *points, uint32_t count, bool *better,
                                struct orr_error *err)
{
    tune->changes.count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct advise_change change = {.family = "", .title = "", .kind = "setting"};
        tune_change(tune, &points[i], &change);
        *advise_change(tune->made->document, &tune->changes, "", "setting", "") = change;
    }
    tune->job.before_ns = tune->best_ns;
    uint64_t left = tune->job.tries > tune->job.simulations ? tune->job.tries - tune->job.simulations : 0;
    tune->made->shown.ran_out = tune->made->shown.ran_out || count > left;
    enum orr_status status = tune->made->document->failed ? mem_error(&tune->made->document->mem, "trials", err)
                                                          : advise_try(&tune->job, &tune->changes, 0, err);
    for (uint32_t i = 0; i < count && status == ORR_OK; i++) {
        const struct advise_change *one = &tune->changes.list[i];
        if (one->because == NULL && one->after_ns > 0 && one->after_ns < tune->best_ns) {
            tune->best_ns = one->after_ns;
            tune->best = points[i];
            *better = true;
        }
    }
    return status;
}

static enum orr_status tune_whole(struct tune *tune, uint64_t total, struct orr_error *err)
{
    struct tune_point points[TUNE_BATCH];
    enum orr_status status = ORR_OK;
    bool better = false;
    for (uint64_t first = 1; first < total && status == ORR_OK; first += TUNE_BATCH) {
        uint32_t count = 0;
        for (; count < TUNE_BATCH && first + count < total; count++) {
            points[count] = tune_point_of(&tune->space, first + count);
        }
        status = tune_try(tune, points, count, &better, err);
    }
    return status;
}

/* Every value of one setting, the others as they are best. */
static enum orr_status tune_along(struct tune *tune, uint32_t setting, bool *better, struct orr_error *err)
{
    struct tune_point points[TUNE_BATCH];
    struct tune_point from = tune->best;
    enum orr_status status = ORR_OK;
    for (uint32_t value = 0; value < tune->space.sizes[setting] && status == ORR_OK;) {
        uint32_t count = 0;
        for (; count < TUNE_BATCH && value < tune->space.sizes[setting]; value++) {
            if (value != from.value[setting]) {
                points[count] = from;
                points[count++].value[setting] = value;
            }
        }
        status = count > 0 ? tune_try(tune, points, count, better, err) : ORR_OK;
    }
    return status;
}

static enum orr_status tune_search(struct tune *tune, struct orr_error *err)
{
    struct orr_tuned *shown = &tune->made->shown;
    enum orr_status status = ORR_OK;
    shown->combinations = tune_combinations(&tune->space);
    shown->is_whole = shown->combinations + tune->job.simulations <= tune->job.tries + 1;
    if (shown->is_whole) {
        return tune_whole(tune, shown->combinations, err);
    }
    for (bool better = true; better && status == ORR_OK;) {
        better = false;
        for (uint32_t i = 0; i < TUNE_SETTINGS && status == ORR_OK; i++) {
            status = tune->space.sizes[i] > 1 ? tune_along(tune, i, &better, err) : ORR_OK;
        }
    }
    return status;
}

/* ---- what is told ---- */

static const char *tune_value_text(const struct tune *tune, uint32_t setting, uint32_t value)
{
    struct advise_document *document = tune->made->document;
    if (setting < SIM_NATIVE_COUNT) {
        const struct advise_way *way = tune_way(&tune->space, setting, value);
        return advise_words_text(document, way->words, way->count);
    }
    if (setting == TUNE_CHUNK) {
        const struct tune_chunk *chunk = &tune->space.chunks[value];
        return advise_text(document, "%u, %u in flight", chunk->splits, chunk->active);
    }
    return setting == TUNE_OPTIMIZATION ? tune_optimization(tune, value)
                                        : advise_order_text(document, tune->config, tune->space.orders[value]);
}

static enum orr_status tune_tell_settings(struct tune *tune, struct orr_error *err)
{
    static const char *const names[TUNE_SETTINGS] = {"all-reduce-implementation",
                                                     "reduce-scatter-implementation",
                                                     "all-gather-implementation",
                                                     "all-to-all-implementation",
                                                     "chunks",
                                                     "collective-optimization",
                                                     "order of dimensions"};
    struct orr_tuned *shown = &tune->made->shown;
    struct orr_tuned_setting *list = arena_zalloc(&tune->made->document->arena, TUNE_SETTINGS * sizeof *list);
    if (list == NULL) {
        return mem_error(&tune->made->document->mem, "settings", err);
    }
    for (uint32_t i = 0; i < TUNE_SETTINGS; i++) {
        if (tune->best.value[i] == 0) {
            continue;
        }
        struct orr_error unsaid = {0};
        struct tune_point alone = {{0}};
        struct advise_change change = {.family = ""};
        alone.value[i] = tune->best.value[i];
        tune_change(tune, &alone, &change);
        struct orr_tuned_setting *one = &list[shown->setting_count++];
        *one = (struct orr_tuned_setting){.key = names[i],
                                          .before = tune_value_text(tune, i, 0),
                                          .after = tune_value_text(tune, i, tune->best.value[i])};
        tune->job.simulations++;
        if (advise_simulate(&tune->job, &change, tune->job.options.backend, UINT64_MAX, &one->alone_ns, &unsaid) !=
            ORR_OK) {
            one->alone_ns = 0;
        }
    }
    shown->settings = list;
    return ORR_OK;
}

static enum orr_status tune_tell_collectives(struct tune *tune, const struct orr_run *before,
                                             const struct orr_run *after, struct orr_error *err)
{
    struct orr_tuned *shown = &tune->made->shown;
    uint32_t count = orr_run_collective_count(before);
    struct orr_tuned_collective *list = arena_zalloc(&tune->made->document->arena, ((size_t)count + 1) * sizeof *list);
    if (list == NULL) {
        return mem_error(&tune->made->document->mem, "collectives", err);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct orr_collective_result old, new;
        if (orr_run_collective(before, i, &old) && orr_run_collective(after, i, &new) && old.group_size > 1) {
            list[shown->collective_count++] =
                (struct orr_tuned_collective){.type = advise_text(tune->made->document, "%s", old.type),
                                              .group_size = old.group_size,
                                              .bytes = old.bytes,
                                              .count = old.count,
                                              .before_ns = old.mean_ns,
                                              .after_ns = new.mean_ns};
        }
    }
    shown->collectives = list;
    return ORR_OK;
}

/* What is left of a job's overrides with the system file written, and the order of dimensions. */
static enum orr_status tune_rest(const struct tune *tune, const struct advise_change *change,
                                 struct orr_override **list, size_t *count, struct orr_error *err)
{
    const struct orr_run_options *options = &tune->job.options;
    struct orr_override *rest =
        arena_alloc(&tune->made->document->arena, (options->override_count + ADVISE_SETTINGS) * sizeof *rest);
    if (rest == NULL) {
        return mem_error(&tune->made->document->mem, "overrides", err);
    }
    *count = 0;
    for (size_t i = 0; i < options->override_count; i++) {
        if (tune_system_key(&options->overrides[i], options->backend >= ORR_BACKEND_PACKET) == NULL) {
            rest[(*count)++] = options->overrides[i];
        }
    }
    for (uint32_t i = 0; i < change->setting_count; i++) {
        if (strncmp(change->settings[i].key, "system.", 7) != 0) {
            rest[(*count)++] = (struct orr_override){.key = change->settings[i].key,
                                                     .value = change->settings[i].value,
                                                     .origin = "parameter 'set'",
                                                     .line = i + 1};
        }
    }
    *list = rest;
    return ORR_OK;
}

/* The command that reads the written file. */
static enum orr_status tune_tell_repeat(struct tune *tune, const struct orr_run_options *options, struct orr_error *err)
{
    struct advise_document *document = tune->made->document;
    struct orr_run_options initial, told = *options;
    orr_run_options_init(&initial);
    initial.backend = (enum orr_backend)(-1);
    told.lists = NULL;
    enum orr_status status = advise_command(document, "orrery run", param_run, PARAM_OF_RUN, &told, &initial, err);
    const char *line = document->shown.command;
    for (size_t i = 0; i < options->override_count && status == ORR_OK; i++) {
        const struct orr_override *one = &options->overrides[i];
        struct advise_change set = {.setting_count = 1};
        set.settings[0] = (struct advise_setting){
            "set",
            advise_text(document, "%s%s%s", one->file != NULL ? one->file : "", one->file != NULL ? "." : "", one->key),
            one->value};
        line = advise_text(document, "%s %s", line, advise_change_text(document, &set));
    }
    tune->made->shown.repeat = line;
    return status;
}

/* The job with the written file, which is what is promised. */
static enum orr_status tune_check(struct tune *tune, const struct orr_tune_options *asked, const struct orr_run *before,
                                  struct orr_error *err)
{
    struct advise_change change = {.family = ""};
    struct advise_document *document = tune->made->document;
    struct orr_run_options options = tune->job.options;
    struct orr_tuned *shown = &tune->made->shown;
    struct orr_override *rest = NULL;
    struct orr_run *after = NULL;
    tune_change(tune, &tune->best, &change);
    enum orr_status status = tune_system_text(document, &tune->job.options, before, &change, &shown->file, err);
    status = status == ORR_OK ? tune_rest(tune, &change, &rest, &options.override_count, err) : status;
    struct orr_text *texts = arena_alloc(&document->arena, (options.text_count + 1) * sizeof *texts);
    if (status != ORR_OK || texts == NULL) {
        return status != ORR_OK ? status : mem_error(&document->mem, "a system file", err);
    }
    options.system = asked->system != NULL ? asked->system : "system.json";
    texts[0] = (struct orr_text){options.system, shown->file, strlen(shown->file)};
    if (options.text_count > 0) {
        memcpy(texts + 1, options.texts, options.text_count * sizeof *texts);
    }
    options.overrides = rest;
    options.texts = texts;
    options.text_count++;
    status = orr_run_open(&options, &after, err);
    status = status == ORR_OK ? orr_run_execute(after, err) : status;
    tune->job.simulations++;
    if (status == ORR_OK) {
        shown->after_ns = orr_run_time_ns(after);
        status = shown->after_ns != tune->best_ns
                     ? error_set(err, ORR_EFAIL,
                                 "the tuned file gives %" PRIu64 " ns, and the settings by themselves %" PRIu64
                                 " ns: this is an error of the program",
                                 shown->after_ns, tune->best_ns)
                     : tune_tell_collectives(tune, before, after, err);
    }
    orr_run_close(after);
    return status == ORR_OK ? tune_tell_repeat(tune, &options, err) : status;
}

/* ---- NCCL ---- */

static enum orr_status tune_nccl(struct tune *tune, struct orr_error *err)
{
    struct orr_run_options options = tune->job.options;
    struct orr_run *run = NULL;
    options.collective_times = ORR_COLLECTIVES_MODEL;
    enum orr_status status = orr_run_open(&options, &run, err);
    if (status == ORR_OK) {
        const struct topo_server *server = options.machine != NULL ? run->machine.machine.server : NULL;
        const struct sim_config *config = session_config(run);
        uint32_t each = server != NULL                            ? server->gpus
                        : config->system.nccl_gpus_per_server > 0 ? config->system.nccl_gpus_per_server
                                                                  : config->dims.dim[0].size;
        status = tune_nccl_text(tune->made->document, config, each, &tune->made->shown.nccl, err);
    }
    orr_run_close(run);
    return status;
}

/* ---- all of it ---- */

static enum orr_status tune_run_once(struct tune *tune, struct orr_run **run, struct orr_error *err)
{
    tune->job.simulations++;
    enum orr_status status = orr_run_open(&tune->job.options, run, err);
    return status == ORR_OK ? orr_run_execute(*run, err) : status;
}

/* Nobody named a network: one that lets messages pass through each other would find all of them at once best. */
static enum orr_status tune_begin(struct tune *tune, const struct orr_notices *notices, struct orr_run **run,
                                  struct orr_error *err)
{
    struct orr_run_options *options = &tune->job.options;
    bool open = options->backend_open;
    enum orr_status status = tune_run_once(tune, run, err);
    for (size_t i = 0; *run != NULL && notices != NULL && notices->warn != NULL && i < orr_run_warning_count(*run);
         i++) {
        notices->warn(notices->context, orr_run_warning(*run, i));
    }
    if (status != ORR_OK) {
        return status;
    }
    options->backend = orr_run_backend(*run);
    options->backend_open = false;
    if (open && options->backend == ORR_BACKEND_UNAWARE) {
        options->backend = ORR_BACKEND_AWARE;
        orr_run_close(*run);
        *run = NULL;
        status = tune_run_once(tune, run, err);
    }
    return status;
}

static enum orr_status tune_all(struct tune *tune, const struct orr_tune_options *asked,
                                const struct orr_notices *notices, struct orr_error *err)
{
    struct orr_tuned *shown = &tune->made->shown;
    struct advise_document *document = tune->made->document;
    struct orr_run_options initial;
    struct orr_run *run = NULL;
    orr_run_options_init(&initial);
    initial.backend = (enum orr_backend)(-1);
    enum orr_status status = tune_begin(tune, notices, &run, err);
    if (status == ORR_OK) {
        status = advise_command(document, "orrery run", param_run, PARAM_OF_RUN, &tune->job.options, &initial, err);
        shown->command = document->shown.command;
    }
    if (status == ORR_OK) {
        shown->network = report_backend_name(tune->job.options.backend);
        shown->before_ns = tune->best_ns = orr_run_time_ns(run);
        tune->config = session_config(run);
        tune_list(tune, session_result(run));
        status = tune_search(tune, err);
    }
    status = status == ORR_OK ? tune_tell_settings(tune, err) : status;
    status = status == ORR_OK ? tune_check(tune, asked, run, err) : status;
    status = status == ORR_OK && asked->nccl ? tune_nccl(tune, err) : status;
    orr_run_close(run);
    shown->simulations = tune->job.simulations;
    return status == ORR_OK && document->failed ? mem_error(&document->mem, "settings", err) : status;
}

void orr_tune_options_init(struct orr_tune_options *options)
{
    *options = (struct orr_tune_options){.size = sizeof *options, .tries = 1000};
}

void orr_tuned_free(struct orr_tuned *tuned)
{
    struct tune_made *made = (struct tune_made *)(void *)tuned;
    if (made != NULL) {
        orr_advice_free(made->document != NULL ? &made->document->shown : NULL);
        free(made);
    }
}

enum orr_status orr_tune_collectives(const struct orr_run_options *job, const struct orr_tune_options *options,
                                     const struct orr_notices *notices, struct orr_tuned **tuned, struct orr_error *err)
{
    struct orr_workload *loaded = NULL;
    struct tune *tune = calloc(1, sizeof *tune);
    struct tune_made *made = calloc(1, sizeof *made);
    if (tune == NULL || made == NULL) {
        free(tune);
        free(made);
        return error_set(err, ORR_ENOMEM, "out of memory for tuning");
    }
    tune->made = made;
    tune->job = (struct advise_job){.options = *job,
                                    .tries = options->tries,
                                    .threads = options->threads != 0 ? options->threads : thread_pool_processors()};
    enum orr_status status = orr_run_settle(&tune->job.options, err);
    if (status == ORR_OK) {
        tune->job.document = made->document = advise_document_new(job->memory_limit, err);
        status = made->document == NULL ? ORR_ENOMEM : ORR_OK;
    }
    if (status == ORR_OK && job->loaded == NULL) {
        status = orr_workload_open(job->workload, job->missing_is_cpu, job->memory_limit, &loaded, err);
        tune->job.options.loaded = loaded;
    }
    status = status == ORR_OK ? tune_all(tune, options, notices, err) : status;
    orr_workload_close(loaded);
    free(tune);
    if (status != ORR_OK) {
        orr_tuned_free(&made->shown);
        return status;
    }
    *tuned = &made->shown;
    return ORR_OK;
}

enum orr_status orr_tuned_print(const struct orr_tuned *tuned, FILE *stream, struct orr_error *err)
{
    report_tuned_text(tuned, stream);
    return error_of_stream(stream, "the settings", err);
}

enum orr_status orr_tuned_json(const struct orr_tuned *tuned, FILE *stream, struct orr_error *err)
{
    report_tuned_json(tuned, stream);
    return error_of_stream(stream, "the settings", err);
}
