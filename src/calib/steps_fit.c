/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why the job and not the rank: collectives tie the ranks of a job together, so that in a loop every rank's step takes
 * what the slowest rank's does. Measured steps of all ranks are therefore held against the simulated step of the job,
 * and not each against the end of its own rank, which in a single simulated step may come earlier.
 *
 * Why one term for the profiler: it notes each operator, range and runtime call, and each costs about the same; the
 * number of launches is nearly proportional to that of operators in every recording, so that two terms could not be
 * told apart.
 */
#include "calib/steps_fit.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/plain.h"

static const double SPREAD_LIMIT = 0.10; /* spec rocm §1.9: acceptance */
static const double ERROR_LIMIT = 0.05;
enum { SAMPLES_LEAST = 3 };

struct calib_sim calib_sim_none(void)
{
    return (struct calib_sim){.tag = "",
                              .topology = "",
                              .wall_ns = NAN,
                              .comm_ns = NAN,
                              .exposed_ns = NAN,
                              .gpu_ns = NAN,
                              .bus_bytes = NAN,
                              .collectives = NAN,
                              .bandwidth_gbps = NAN,
                              .launch_us = NAN,
                              .compute_factor = 1};
}

/* ---- the measured side ---- */

struct gathering {
    const struct calib_question *question;
    struct arena *arena;
    struct calib *calib;
    struct orr_error *err;
};

static bool is_fitted(const struct calib_question *question, const struct calib_measured *file)
{
    return question->rank < 0 || file->rank == question->rank;
}

/* The median of a figure over the files that the fit uses; `at` is its offset. */
static double middle(const struct gathering *g, double *values, size_t at)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->question->file_count; i++) {
        const struct calib_measured *file = &g->question->files[i];
        double value = 0;
        memcpy(&value, (const char *)file + at, sizeof value);
        if (is_fitted(g->question, file) && !isnan(value)) {
            values[count++] = value;
        }
    }
    return calib_spread_of(values, count).median;
}

/* Of the rank with most, as simulated runs tell it; communication also of the rank with least, which waited least for
 * the others: what its links achieved is what they can do. */
static void find_parts(const struct gathering *g)
{
    struct calib *calib = g->calib;
    for (uint32_t i = 0; i < g->question->file_count; i++) {
        const struct calib_measured *file = &g->question->files[i];
        if (!is_fitted(g->question, file) || isnan(file->comm_ms)) {
            continue;
        }
        if (!(calib->real.gpu_ms >= file->device_ms)) {
            calib->real.gpu_ms = file->device_ms;
        }
        if (!(calib->real.comm_ms >= file->comm_ms)) {
            calib->real.comm_ms = file->comm_ms;
            calib->real.exposed_ms = file->exposed_ms;
        }
        if (!(calib->least_comm_ms <= file->comm_ms)) {
            calib->least_comm_ms = file->comm_ms;
        }
    }
}

/* Steps in one recording: 0 when no device trace says it, ORR_EINVAL when they differ. */
static enum orr_status recorded_steps(struct gathering *g)
{
    const struct calib_measured *first = NULL;
    for (uint32_t i = 0; i < g->question->file_count; i++) {
        const struct calib_measured *file = &g->question->files[i];
        if (!file->traced || !is_fitted(g->question, file)) {
            continue;
        }
        first = first == NULL ? file : first;
        if (file->samples != first->samples && g->question->steps == 0) {
            return error_set(
                g->err, ORR_EINVAL,
                "%s holds %" PRIu64 " steps and %s %" PRIu64
                ": recordings of one job hold the same; parameter 'steps' N says how many the simulated traces have",
                first->path, first->samples, file->path, file->samples);
        }
    }
    g->calib->real_steps = first == NULL ? 0 : first->samples;
    return ORR_OK;
}

/* What each event cost the ranks that have steps of both kinds: the median of them. */
static double fit_profiler(const struct gathering *g, double *values)
{
    const struct calib_question *question = g->question;
    uint32_t count = 0;
    for (uint32_t i = 0; i < question->file_count; i++) {
        const struct calib_measured *traced = &question->files[i];
        for (uint32_t k = 0; k < question->file_count && traced->traced && is_fitted(question, traced); k++) {
            const struct calib_measured *bare = &question->files[k];
            if (!bare->traced && bare->samples > 0 && bare->rank == traced->rank && traced->host_events > 0) {
                values[count++] = (traced->median_ms - bare->median_ms) * 1e3 / traced->host_events;
                break;
            }
        }
    }
    return isnan(question->profiler_us) ? calib_spread_of(values, count).median : question->profiler_us;
}

static enum orr_status calib_steps_fit_gather(struct gathering *g)
{
    const struct calib_question *question = g->question;
    struct calib *calib = g->calib;
    struct calib_spread traced = {0};
    struct calib_spread bare = {0};
    double *values = arena_alloc(g->arena, ((size_t)question->file_count + 1) * sizeof *values);
    if (values == NULL) {
        return mem_error(g->arena->mem, "measured steps", g->err);
    }
    enum orr_status status =
        calib_steps_pool(question->files, question->file_count, true, question->rank, g->arena, &traced, g->err);
    if (status == ORR_OK) {
        status =
            calib_steps_pool(question->files, question->file_count, false, question->rank, g->arena, &bare, g->err);
    }
    if (status == ORR_OK) {
        status = recorded_steps(g);
    }
    if (status != ORR_OK) {
        return status;
    }
    calib->traced = traced.samples > 0 && !question->untraced && isnan(question->real_ms[0]);
    const struct calib_spread *step = calib->traced ? &traced : &bare;
    calib->real.step_ms = step->median;
    calib->iqr_ms = step->iqr;
    calib->samples = step->samples;
    calib->untraced_ms = bare.median;
    calib->untraced_iqr_ms = bare.iqr;
    calib->untraced_steps = bare.samples;
    find_parts(g);
    calib->kernel_ms = middle(g, values, offsetof(struct calib_measured, kernel_ms));
    calib->collectives = middle(g, values, offsetof(struct calib_measured, collectives));
    calib->host_events = middle(g, values, offsetof(struct calib_measured, host_events));
    calib->gpu_mhz = middle(g, values, offsetof(struct calib_measured, gpu_mhz));
    calib->profiler_us = fit_profiler(g, values);
    return ORR_OK;
}

/* Numbers from the command line go before those of files. */
static enum orr_status take_given(struct gathering *g)
{
    const double *given = g->question->real_ms;
    struct calib *calib = g->calib;
    if (!isnan(given[0])) {
        calib->real.step_ms = given[0];
        calib->iqr_ms = NAN;
        calib->samples = 1;
    }
    calib->real.comm_ms = isnan(given[1]) ? calib->real.comm_ms : given[1];
    calib->least_comm_ms = isnan(given[1]) ? calib->least_comm_ms : given[1];
    if (!isnan(given[2])) {
        calib->kernel_ms = given[2];
        calib->real.gpu_ms = given[2];
    }
    return calib->samples > 0 ? ORR_OK
                              : error_set(g->err, ORR_EINVAL,
                                          "no measured step%s: a device trace, training_R.json, a list of step times "
                                          "or parameter 'real-step-ms' is needed",
                                          g->question->rank >= 0 ? " of that rank" : "");
}

/* ---- the simulated side ---- */

static enum orr_status take_sim(struct gathering *g)
{
    const struct calib_sim *sim = &g->question->sim;
    struct calib *calib = g->calib;
    uint64_t steps = g->question->steps != 0 ? g->question->steps : sim->steps;
    if (isnan(sim->wall_ns) || !(sim->wall_ns > 0)) {
        return error_set(g->err, ORR_EINVAL,
                         "no simulated time: parameter 'run' N of a store, or parameter 'sim-wall' NS, is needed");
    }
    if (steps == 0) {
        return error_set(
            g->err, ORR_EINVAL,
            "how many steps the simulated traces hold is not known, and an alpha is of one step: parameter 'steps' N "
            "says it");
    }
    if (g->question->steps == 0 && calib->real_steps != 0 && calib->real_steps != steps) {
        return error_set(g->err, ORR_EINVAL,
                         "the recordings hold %" PRIu64 " step%s and the simulated traces %" PRIu64
                         ": they are not of one job; parameter 'steps' N says how many the simulated traces hold",
                         calib->real_steps, calib->real_steps == 1 ? "" : "s", steps);
    }
    double per_step_ms = 1e-6 / (double)steps;
    if (sim->wall_ns * per_step_ms < 1e-6) {
        return error_set(g->err, ORR_ERANGE,
                         "%.0f ns simulated for %" PRIu64 " steps: a step of less than a nanosecond is none",
                         sim->wall_ns, steps);
    }
    calib->run = sim->run;
    calib->tag = sim->tag;
    calib->topology = sim->topology;
    calib->ranks = sim->ranks;
    calib->sim_steps = steps;
    calib->sim.step_ms = sim->wall_ns * per_step_ms;
    calib->sim.comm_ms = sim->comm_ns * per_step_ms;
    calib->sim.exposed_ms = sim->exposed_ns * per_step_ms;
    calib->sim.gpu_ms = sim->gpu_ns * per_step_ms;
    calib->bus_bytes = sim->bus_bytes / (double)steps;
    calib->collectives = isnan(sim->collectives) ? calib->collectives : sim->collectives / (double)steps;
    calib->bandwidth_gbps = sim->bandwidth_gbps;
    calib->launch_us = sim->launch_us;
    calib->compute_scale = sim->compute_factor;
    calib->tuned = sim->launch_us > 0 || sim->compute_factor != 1;
    return ORR_OK;
}

static double quotient(double a, double b)
{
    return b > 0 ? a / b : (double)NAN;
}

static void find_alphas(struct calib *calib)
{
    calib->alpha = quotient(calib->real.step_ms, calib->sim.step_ms);
    calib->alpha_iqr = quotient(calib->iqr_ms, calib->sim.step_ms);
    calib->alpha_comm = quotient(calib->real.comm_ms, calib->sim.comm_ms);
    calib->alpha_gpu = quotient(calib->real.gpu_ms, calib->sim.gpu_ms);
    calib->compute_scale = calib->alpha_gpu > 0 ? calib->alpha_gpu * calib->compute_scale : (double)NAN;
    calib->lower_bound_ms = quotient(calib->bus_bytes * 8e-6, calib->bandwidth_gbps);
    calib->achieved_gbps = quotient(calib->bus_bytes * 8e-6, calib->least_comm_ms);
    calib->bandwidth_too_low = calib->achieved_gbps > calib->bandwidth_gbps;
}

/* ---- steps that were held out ---- */

/* A run that uses the calibration has its compute right already, and with a host factor the profiler's cost is out of
 * it: only the rest of the difference is still missing. */
struct calib_prediction calib_predict(const struct calib *calib, double sim_step_ms)
{
    bool bare = !isnan(calib->host_factor) && !isnan(calib->sim_untraced_ms) && !isnan(calib->untraced_ms);
    double compute_ms = calib->real.gpu_ms - calib->sim.gpu_ms;
    double real_ms =
        bare ? calib->untraced_ms : calib->real.step_ms - (calib->tuned || isnan(compute_ms) ? 0 : compute_ms);
    double then_ms = bare ? calib->sim_untraced_ms : calib->sim.step_ms;
    double profiler_ms = calib->traced && !bare ? calib->profiler_us * calib->host_events / 1e3 : 0;
    double added_ms = sim_step_ms + real_ms - then_ms;
    return (struct calib_prediction){.scaled_ms = sim_step_ms * quotient(real_ms, then_ms),
                                     .added_ms = added_ms,
                                     .untraced_ms = added_ms - profiler_ms,
                                     .is_untraced = bare};
}

static double worse(double a, double b)
{
    return isnan(a) || b > a ? b : a;
}

/* The ranks that were not fitted on: their steps against the prediction for the job, worst rank. What another recording
 * said of the profiler was fitted on none of them. */
static void hold_out_ranks(const struct gathering *g)
{
    const struct calib_question *question = g->question;
    struct calib *calib = g->calib;
    double predicted = calib->alpha * calib->sim.step_ms;
    for (uint32_t i = 0; i < question->file_count; i++) {
        const struct calib_measured *file = &question->files[i];
        bool fitted = is_fitted(question, file);
        if (file->samples == 0 || (fitted && isnan(question->profiler_us))) {
            continue;
        }
        if (file->traced == calib->traced && !fitted) {
            calib->held_out = worse(calib->held_out, fabs(predicted / file->median_ms - 1));
        }
        for (uint32_t k = 0; k < question->file_count && file->traced && calib->traced; k++) {
            const struct calib_measured *bare = &question->files[k];
            if (!bare->traced && bare->samples > 0 && bare->rank == file->rank && !isnan(calib->profiler_us)) {
                double untraced = predicted - calib->profiler_us * file->host_events / 1e3;
                calib->untraced_error = worse(calib->untraced_error, fabs(untraced / bare->median_ms - 1));
            }
        }
    }
}

/* The median of values in order without the one at `out`. */
static double median_without(const double *values, uint32_t count, uint32_t out)
{
    uint32_t left = count - 1;
    uint32_t low = (left - 1) / 2;
    uint32_t high = left / 2;
    low += low >= out;
    high += high >= out;
    return (values[low] + values[high]) / 2;
}

/* Each listed step against the median of all others: the median of the errors. */
static enum orr_status leave_one_out(const struct gathering *g)
{
    const struct calib_question *question = g->question;
    struct calib *calib = g->calib;
    uint64_t total = 0;
    for (uint32_t i = 0; i < question->file_count; i++) {
        total += question->files[i].traced == calib->traced ? question->files[i].step_count : 0;
    }
    if (total < 2 || !isnan(question->real_ms[0])) {
        return ORR_OK;
    }
    double *values = total > UINT32_MAX ? NULL : arena_alloc(g->arena, 2 * (size_t)total * sizeof *values);
    if (values == NULL) {
        return mem_error(g->arena->mem, "measured steps", g->err);
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < question->file_count; i++) {
        const struct calib_measured *file = &question->files[i];
        for (uint32_t k = 0; file->traced == calib->traced && k < file->step_count; k++) {
            values[count++] = file->steps_ms[k];
        }
    }
    (void)calib_spread_of(values, count); /* in order now */
    for (uint32_t i = 0; i < count; i++) {
        values[count + i] = fabs(median_without(values, count, i) / values[i] - 1);
    }
    calib->held_out = calib_spread_of(values + count, count).median;
    return ORR_OK;
}

/* ---- rules ---- */

ORR_PRINTF(6, 7)
static bool calib_steps_fit_check(struct calib *calib, struct arena *arena, const char *rule, const char *limit,
                                  bool holds, const char *fmt, ...)
{
    char text[96];
    va_list args;
    va_start(args, fmt);
    (void)plain_vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    const char *value = arena_strndup(arena, text, strlen(text));
    if (value == NULL || calib->check_count == CALIB_CHECKS_MOST) {
        return value != NULL;
    }
    calib->checks[calib->check_count++] = (struct calib_check){rule, limit, value, holds};
    calib->accepted = calib->accepted && holds;
    return true;
}

enum orr_status calib_check_set(struct calib *calib, struct arena *arena, const char *rule, const char *limit,
                                const char *value, bool holds, struct orr_error *err)
{
    uint32_t at = 0;
    const char *text = arena_strndup(arena, value, strlen(value));
    if (text == NULL) {
        return mem_error(arena->mem, "a calibration", err);
    }
    while (at < calib->check_count && strcmp(calib->checks[at].rule, rule) != 0) {
        at++;
    }
    if (at == CALIB_CHECKS_MOST) {
        return ORR_OK;
    }
    calib->check_count = at == calib->check_count ? at + 1 : calib->check_count;
    calib->checks[at] = (struct calib_check){rule, limit, text, holds};
    calib->accepted = true;
    for (uint32_t i = 0; i < calib->check_count; i++) {
        calib->accepted = calib->accepted && calib->checks[i].holds;
    }
    return ORR_OK;
}

static const char *calib_steps_fit_known(double value, char *text, size_t size)
{
    if (isnan(value)) {
        return "not known";
    }
    (void)plain_snprintf(text, size, "%.4f", value);
    return text;
}

static enum orr_status calib_steps_fit_judge(const struct gathering *g)
{
    struct calib *calib = g->calib;
    struct arena *arena = g->arena;
    char text[2][32];
    double spread = quotient(calib->iqr_ms, calib->real.step_ms);
    bool equals = !isnan(calib->sim.comm_ms) && calib->sim.comm_ms >= calib->sim.step_ms * (1 - 1e-9);
    bool agree = calib->real_steps == 0 || calib->real_steps == calib->sim_steps || g->question->steps != 0;
    calib->accepted = true;
    bool fine = calib_steps_fit_check(calib, arena, "samples", "at least 3", calib->samples >= SAMPLES_LEAST,
                                      "%" PRIu64, calib->samples) &&
                calib_steps_fit_check(calib, arena, "IQR / median", "below 0.10", spread < SPREAD_LIMIT, "%s",
                                      calib_steps_fit_known(spread, text[0], sizeof text[0])) &&
                calib_steps_fit_check(calib, arena, g->question->rank >= 0 ? "error on other ranks" : "error of a step",
                                      "below 0.05", calib->held_out < ERROR_LIMIT, "%s",
                                      calib_steps_fit_known(calib->held_out, text[1], sizeof text[1])) &&
                calib_steps_fit_check(calib, arena, "steps agree", "both sides", agree,
                                      calib->real_steps == 0 ? "%" PRIu64 " simulated"
                                                             : "%" PRIu64 " simulated, %" PRIu64 " recorded",
                                      calib->sim_steps, calib->real_steps) &&
                calib_steps_fit_check(calib, arena, "not all is communication", "comm < wall", !equals, "%s",
                                      isnan(calib->sim.comm_ms) ? "not known"
                                      : equals                  ? "comm = wall"
                                                                : "comm < wall");
    if (fine && !isnan(calib->achieved_gbps) && !isnan(calib->bandwidth_gbps)) {
        fine = calib_steps_fit_check(calib, arena, "bandwidth", "achieved <= configured", !calib->bandwidth_too_low,
                                     "%.2f of %.2f Gbps", calib->achieved_gbps, calib->bandwidth_gbps);
    }
    return fine ? ORR_OK : mem_error(arena->mem, "a calibration", g->err);
}

enum orr_status calib_steps_fit(const struct calib_question *question, struct arena *arena, struct calib *calib,
                                struct orr_error *err)
{
    struct calib made = calib_none();
    struct gathering g = {.question = question, .arena = arena, .calib = &made, .err = err};
    enum orr_status status = calib_steps_fit_gather(&g);
    status = status != ORR_OK ? status : take_given(&g);
    status = status != ORR_OK ? status : take_sim(&g);
    if (status == ORR_OK) {
        find_alphas(&made);
        hold_out_ranks(&g);
        status = question->rank < 0 ? leave_one_out(&g) : ORR_OK;
    }
    status = status != ORR_OK ? status : calib_steps_fit_judge(&g);
    if (status == ORR_OK) {
        *calib = made;
    }
    return status;
}
