/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated length of a step falls as links get faster, though in steps and not everywhere: halving in the
 * logarithm of the rate finds the one at which the fitted step is right. The traces are read once for all runs. */
#include "calib/holdout.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "report/number.h"
#include "run/session.h"
#include "trace/record_edit.h"
#include "trace/steps.h"

/* A node's step by its place in the list of the rank's steps, from 0. */
struct rank_steps {
    uint32_t *place;
    uint32_t node_count;
    uint32_t step_count;
};

struct holding {
    struct orr_run_options run;
    struct rank_steps *ranks;
    uint32_t rank_count;
    struct calib_holdout *holdout;
    struct arena *arena;
    struct orr_error *err;
};

#define NO_STEP UINT32_MAX

/* ---- which node belongs to which step ---- */

static int calib_holdout_by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static enum orr_status read_nodes(struct record_reader *reader, struct steps *steps, uint64_t **ids, uint32_t *capacity,
                                  struct mem *mem, struct orr_error *err)
{
    struct record_pass pass;
    enum orr_status status = record_pass_open(&pass, reader, NULL, mem, err);
    while (status == ORR_OK && pass.more) {
        if (!mem_reserve(mem, (void **)ids, capacity, (uint64_t)steps->node_count + 1, sizeof **ids)) {
            status = mem_error(mem, "the nodes of a trace", err);
            break;
        }
        (*ids)[steps->node_count] = pass.facts.id;
        status = steps_add(steps, &pass.facts, err);
        status = status != ORR_OK ? status : record_pass_next(&pass, err);
    }
    record_pass_close(&pass);
    return status;
}

/* Distinct steps, ascending, at the front of `numbers`. */
static uint32_t calib_holdout_list_steps(const struct steps *steps, int64_t *numbers)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < steps->node_count; i++) {
        if (steps->step[i] != STEPS_NONE) {
            numbers[count++] = steps->step[i];
        }
    }
    qsort(numbers, count, sizeof *numbers, calib_holdout_by_number);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (kept == 0 || numbers[kept - 1] != numbers[i]) {
            numbers[kept++] = numbers[i];
        }
    }
    return kept;
}

struct id_step {
    uint64_t id;
    uint32_t place;
};

static int by_id(const void *a, const void *b)
{
    const struct id_step *x = a;
    const struct id_step *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static bool take_nodes(struct holding *h, const struct steps *steps, const uint64_t *ids, struct rank_steps *into)
{
    uint32_t count = steps->node_count;
    int64_t *numbers = arena_alloc(h->arena, ((size_t)count + 1) * sizeof *numbers);
    struct id_step *sorted = arena_alloc(h->arena, ((size_t)count + 1) * sizeof *sorted);
    into->place = arena_alloc(h->arena, ((size_t)count + 1) * sizeof *into->place);
    if (numbers == NULL || sorted == NULL || into->place == NULL) {
        return false;
    }
    into->step_count = calib_holdout_list_steps(steps, numbers);
    into->node_count = count;
    for (uint32_t i = 0; i < count && ids != NULL; i++) {
        const int64_t *found = steps->step[i] == STEPS_NONE ? NULL
                                                            : bsearch(&steps->step[i], numbers, into->step_count,
                                                                      sizeof *numbers, calib_holdout_by_number);
        sorted[i] = (struct id_step){ids[i], found == NULL ? NO_STEP : (uint32_t)(found - numbers)};
    }
    qsort(sorted, count, sizeof *sorted, by_id); /* as a graph's nodes are numbered */
    for (uint32_t i = 0; i < count; i++) {
        into->place[i] = sorted[i].place;
    }
    return true;
}

static enum orr_status read_rank(struct holding *h, uint32_t rank)
{
    struct record_reader reader;
    struct steps steps;
    struct mem *mem = h->arena->mem;
    uint64_t *ids = NULL;
    uint32_t capacity = 0;
    const char *path = arena_printf(h->arena, "%s.%" PRIu32 ".et", h->run.workload, rank);
    if (path == NULL) {
        return mem_error(mem, "a path", h->err);
    }
    enum orr_status status = record_reader_open(&reader, path, mem, h->err);
    if (status != ORR_OK) {
        return status;
    }
    steps_init(&steps, mem);
    status = read_nodes(&reader, &steps, &ids, &capacity, mem, h->err);
    if (status == ORR_OK) {
        (void)steps_settle(&steps);
        status = take_nodes(h, &steps, ids, &h->ranks[rank]) ? ORR_OK : mem_error(mem, "steps", h->err);
    }
    mem_free(mem, ids, (size_t)capacity * sizeof *ids);
    steps_free(&steps);
    record_reader_close(&reader);
    return status;
}

/* ---- simulated steps ---- */

/* Ends of the steps of all ranks, one after the other as in `steps`; a step without a node ends with the one before. */
static void find_lengths(const struct holding *h, const struct sim_result *result, double *ends)
{
    uint32_t most = 0;
    for (uint32_t r = 0; r < h->rank_count; r++) {
        most = h->ranks[r].step_count > most ? h->ranks[r].step_count : most;
    }
    for (uint32_t i = 0; i < h->rank_count * most; i++) {
        ends[i] = 0;
    }
    for (uint32_t i = 0; i < result->interval_count; i++) {
        const struct sim_interval *at = &result->intervals[i];
        const struct rank_steps *rank = at->rank < h->rank_count ? &h->ranks[at->rank] : NULL;
        uint32_t place = rank == NULL || at->node >= rank->node_count ? NO_STEP : rank->place[at->node];
        if (place != NO_STEP && (double)at->end_ns > ends[at->rank * most + place]) {
            ends[at->rank * most + place] = (double)at->end_ns;
        }
    }
    for (uint32_t i = 0; i < h->holdout->count; i++) {
        struct calib_step *step = &h->holdout->steps[i];
        const struct rank_steps *rank = &h->ranks[step->rank];
        double before = 0;
        step->sim_ms = NAN;
        if (step->place > rank->step_count) {
            continue;
        }
        for (uint32_t k = 0; k + 1 < step->place; k++) {
            before = ends[step->rank * most + k] > before ? ends[step->rank * most + k] : before;
        }
        double length = ends[step->rank * most + step->place - 1] - before;
        step->sim_ms = length > 0 ? length / 1e6 : (double)NAN;
    }
}

static enum orr_status calib_holdout_simulate(struct holding *h, double gbps, double *step_ms)
{
    struct orr_run *run = NULL;
    struct orr_run_options options = h->run;
    char value[48];
    const struct orr_override rate = {
        .file = "network", .key = "bandwidth", .value = value, .origin = "calibration", .line = 1};
    options.keep_intervals = true;
    if (!isnan(gbps)) {
        (void)plain_snprintf(value, sizeof value, "[%.6fGbps]", gbps);
        options.overrides = &rate;
        options.override_count = 1;
    }
    enum orr_status status = orr_run_open(&options, &run, h->err);
    status = status != ORR_OK ? status : orr_run_execute(run, h->err);
    if (status == ORR_OK) {
        uint32_t most = 1;
        for (uint32_t r = 0; r < h->rank_count; r++) {
            most = h->ranks[r].step_count > most ? h->ranks[r].step_count : most;
        }
        double *ends = mem_alloc(h->arena->mem, (size_t)h->rank_count * most * sizeof *ends);
        if (ends == NULL) {
            status = mem_error(h->arena->mem, "the ends of steps", h->err);
        } else {
            find_lengths(h, session_result(run), ends);
            mem_free(h->arena->mem, ends, (size_t)h->rank_count * most * sizeof *ends);
            *step_ms = h->holdout->steps[0].sim_ms;
        }
    }
    orr_run_close(run);
    return status;
}

/* Within a factor of 64 of where it begins: whatever lies beyond is no rate of links. */
static enum orr_status calib_holdout_search(struct holding *h, double start_gbps)
{
    enum { TRIES = 14 };
    const double near = 5e-4;
    double target = h->holdout->steps[0].real_ms;
    double low = start_gbps / 64;
    double high = start_gbps * 64;
    double best = start_gbps;
    double best_ms = NAN;
    enum orr_status status = ORR_OK;
    for (int i = 0; status == ORR_OK && i < TRIES && !(fabs(best_ms / target - 1) < near); i++) {
        double middle = i == 0 ? start_gbps : sqrt(low * high);
        double step_ms = NAN;
        status = calib_holdout_simulate(h, middle, &step_ms);
        if (status == ORR_OK && (isnan(best_ms) || fabs(step_ms - target) < fabs(best_ms - target))) {
            best_ms = step_ms;
            best = middle;
        }
        low = step_ms > target ? middle : low;
        high = step_ms > target ? high : middle;
    }
    h->holdout->link_gbps = best;
    double again = NAN;
    return status == ORR_OK ? calib_holdout_simulate(h, best, &again) : status;
}

/* ---- the whole ---- */

static const struct calib_measured *recorded(const struct calib_measured *files, uint32_t count, uint32_t rank)
{
    for (uint32_t i = 0; i < count; i++) {
        if (files[i].traced && files[i].rank == (int64_t)rank && files[i].step_count > 0) {
            return &files[i];
        }
    }
    return NULL;
}

static bool list_measured(struct holding *h, const struct calib_measured *files, uint32_t file_count)
{
    uint64_t room = 1;
    for (uint32_t i = 0; i < file_count; i++) {
        room += files[i].step_count;
    }
    h->holdout->steps = room > UINT32_MAX ? NULL : arena_alloc(h->arena, (size_t)room * sizeof *h->holdout->steps);
    double clock_ms = NAN; /* of the fitted step */
    for (uint32_t r = 0; r < h->rank_count && h->holdout->steps != NULL; r++) {
        const struct calib_measured *file = recorded(files, file_count, r);
        clock_ms = file != NULL && h->holdout->count == 0 ? file->first_ms : clock_ms;
        for (uint32_t k = 0; file != NULL && k < file->step_count; k++) {
            h->holdout->steps[h->holdout->count++] =
                (struct calib_step){.rank = r, .place = k + 1, .real_ms = file->steps_ms[k], .sim_ms = NAN};
            if (k == 0) {
                struct calib_step *step = &h->holdout->steps[h->holdout->count - 1];
                double ahead = clock_ms - file->first_ms;
                step->ahead_ms = fabs(ahead) < file->steps_ms[0] / 2 ? ahead : 0; /* else no clock is shared */
            }
        }
    }
    return h->holdout->steps != NULL;
}

static double calib_holdout_error_of(const struct calib_holdout *holdout, const struct calib_step *step)
{
    return (holdout->alpha * step->sim_ms + step->ahead_ms) / step->real_ms - 1;
}

static enum orr_status calib_holdout_judge(struct holding *h)
{
    struct calib_holdout *holdout = h->holdout;
    double *errors = arena_alloc(h->arena, ((size_t)holdout->count + 1) * sizeof *errors);
    uint32_t count = 0;
    if (errors == NULL) {
        return mem_error(h->arena->mem, "errors", h->err);
    }
    holdout->alpha = holdout->count == 0 ? (double)NAN : holdout->steps[0].real_ms / holdout->steps[0].sim_ms;
    for (uint32_t i = 1; i < holdout->count; i++) {
        double error = fabs(calib_holdout_error_of(holdout, &holdout->steps[i]));
        if (!isnan(error)) {
            holdout->worst = isnan(holdout->worst) || error > holdout->worst ? error : holdout->worst;
            errors[count++] = error;
        }
    }
    holdout->median = calib_spread_of(errors, count).median;
    return ORR_OK;
}

enum orr_status calib_holdout_make(const struct orr_run_options *run, const struct calib_measured *files,
                                   uint32_t file_count, double start_gbps, struct arena *arena,
                                   struct calib_holdout *holdout, struct orr_error *err)
{
    struct orr_workload *loaded = NULL;
    struct calib_holdout made = {.link_gbps = NAN, .alpha = NAN, .worst = NAN, .median = NAN};
    struct holding h = {.run = *run, .holdout = &made, .arena = arena, .err = err};
    enum orr_status status = orr_workload_open(run->workload, run->missing_is_cpu, run->memory_limit, &loaded, err);
    h.run.loaded = loaded;
    h.run.progress = NULL;
    h.rank_count = status == ORR_OK ? orr_workload_ranks(loaded) : 0;
    h.ranks = arena_zalloc(arena, ((size_t)h.rank_count + 1) * sizeof *h.ranks);
    if (status == ORR_OK && (h.ranks == NULL || !list_measured(&h, files, file_count))) {
        status = mem_error(arena->mem, "measured steps", err);
    }
    for (uint32_t r = 0; r < h.rank_count && status == ORR_OK && made.count > 0; r++) {
        status = read_rank(&h, r);
    }
    if (status == ORR_OK && made.count > 0) {
        double ignored = NAN;
        status = isnan(start_gbps) ? calib_holdout_simulate(&h, NAN, &ignored) : calib_holdout_search(&h, start_gbps);
    }
    orr_workload_close(loaded);
    status = status != ORR_OK ? status : calib_holdout_judge(&h);
    if (status == ORR_OK) {
        *holdout = made;
    }
    return status;
}

/* ---- in words ---- */

static void put_step(const struct calib_holdout *holdout, const struct calib_step *step, FILE *stream)
{
    char name[48];
    (void)snprintf(name, sizeof name, "rank %" PRId64 ", step %" PRIu32, step->rank, step->place);
    (void)plain_fprintf(stream, "  %-28s%12s%12s%+11.1f%%\n", name, report_time(step->real_ms * 1e6).text,
                        report_time((holdout->alpha * step->sim_ms + step->ahead_ms) * 1e6).text,
                        100 * calib_holdout_error_of(holdout, step));
}

void calib_holdout_put(const struct calib_holdout *holdout, FILE *stream)
{
    enum { SHOWN = 8 };
    if (holdout->count == 0 || isnan(holdout->alpha)) {
        (void)fprintf(stream, "%-12s%s\n", "Held out", "nothing: no step of a rank is both recorded and in its trace");
        return;
    }
    const struct calib_step *first = &holdout->steps[0];
    (void)fprintf(stream, "%-12srank %" PRId64 ", step %" PRIu32 ": %s measured, %s simulated", "Fitted on",
                  first->rank, first->place, report_time(first->real_ms * 1e6).text,
                  report_time(first->sim_ms * 1e6).text);
    if (!isnan(holdout->link_gbps)) {
        (void)fprintf(stream, " with links of %s Gbps", report_short(holdout->link_gbps).text);
    }
    (void)fputc('\n', stream);
    if (isnan(holdout->worst)) {
        (void)fprintf(stream, "%-12s%s\n", "Held out",
                      "nothing: there is no other step, so nothing is known of how well this predicts");
        return;
    }
    (void)fprintf(stream, "%-30s%12s%12s%12s\n", "Held out, never fitted on", "measured", "predicted", "error");
    uint32_t shown = 0;
    for (uint32_t i = 1; i < holdout->count; i++) {
        bool worst = fabs(calib_holdout_error_of(holdout, &holdout->steps[i])) >= holdout->worst;
        if (!isnan(calib_holdout_error_of(holdout, &holdout->steps[i])) && (shown < SHOWN || worst)) {
            put_step(holdout, &holdout->steps[i], stream);
            shown++;
        }
    }
    if (shown < holdout->count - 1) {
        (void)fprintf(stream, "  and %" PRIu32 " more\n", holdout->count - 1 - shown);
    }
    (void)plain_fprintf(stream, "  %-28s%36.1f%%, %.1f%% at the median\n", "at worst", 100 * holdout->worst,
                        100 * holdout->median);
}
