/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where one range ends and the next begins. The samples are sorted by size; a split lies between two sizes. All pairs
 * of candidate splits are tried, and the number of ranges is the one with the lowest Bayesian information criterion of
 * a Laplace distribution: 2 n ln(mean |relative error|) + k ln n, which an outlier moves by its share only. A finely
 * sampled table has too many splits to try all pairs: at most 32 candidates, even in the logarithm of the size, are
 * tried, and the best are then moved to the best size near them. Of a table of many thousand rows every so many are
 * looked at for that, and all of them once it is known where the ranges end.
 */
#include "calib/fit.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "calib/fit_line.h"

enum { FIT_CANDIDATES = 32, FIT_RANGE_SIZES = 4, FIT_SEARCHED = 4096 };

/* What the tools' printed digits and a quiet machine still differ by: an error below it is no reason for a range. */
static const double fit_noise = 1e-3;
static const double fit_time_min = 1e-6; /* us; far from where squares of reciprocals would overflow */
static const double fit_time_max = 1e15;

struct fitting {
    const struct calib_sample *samples;
    uint32_t count;
    uint32_t *starts; /* of each size in samples, and count behind the last */
    uint32_t sizes;
    double *inverse; /* 1 / time of each sample */
    double *scratch;
    uint32_t candidates[FIT_CANDIDATES + 2]; /* as places in starts; the first is 0, the last `sizes` */
    uint32_t candidate_count;
    double known[FIT_CANDIDATES + 2][FIT_CANDIDATES + 2]; /* losses between candidates; below 0: not yet */
};

/* ---- texts ---- */

const char *calib_rule_text(enum calib_rule rule)
{
    static const char *const texts[] = {"accepted",
#define CALIB_X(name, limit, text) text,
                                        CALIB_RULES(CALIB_X)
#undef CALIB_X
    };
    return texts[rule];
}

double calib_rule_limit(enum calib_rule rule)
{
    static const double limits[] = {0,
#define CALIB_X(name, limit, text) limit,
                                    CALIB_RULES(CALIB_X)
#undef CALIB_X
    };
    return limits[rule];
}

/* ---- what a fit is worth ---- */

static enum calib_rule calib_fit_judge(const struct calib_quality *quality)
{
    if (quality->samples < calib_rule_limit(CALIB_REFUSED_SAMPLES)) {
        return CALIB_REFUSED_SAMPLES;
    }
    if (quality->sizes < calib_rule_limit(CALIB_REFUSED_SIZES)) {
        return CALIB_REFUSED_SIZES;
    }
    if (!(quality->spread < calib_rule_limit(CALIB_REFUSED_SPREAD))) {
        return CALIB_REFUSED_SPREAD;
    }
    return quality->median_error < calib_rule_limit(CALIB_REFUSED_ERROR) ? CALIB_ACCEPTED : CALIB_REFUSED_ERROR;
}

static double r2_of(const struct calib_fit *fit, const struct calib_sample *samples, uint32_t count)
{
    double mean = 0;
    double left = 0;
    double all = 0;
    for (uint32_t i = 0; i < count; i++) {
        mean += log(samples[i].time_us) / (double)count;
    }
    for (uint32_t i = 0; i < count; i++) {
        double time = log(samples[i].time_us);
        double away = time - log(calib_fit_time(fit, samples[i].bytes));
        left += away * away;
        all += (time - mean) * (time - mean);
    }
    return all > 0 ? 1.0 - left / all : 0;
}

/* Of samples that all lie in ranges of `fit`. */
static struct calib_quality quality_of(const struct calib_fit *fit, const struct calib_sample *samples, uint32_t count,
                                       double *scratch)
{
    struct calib_quality quality = {.samples = count, .r2 = r2_of(fit, samples, count)};
    for (uint32_t i = 0; i < count; i++) {
        scratch[i] = samples[i].time_us / calib_fit_time(fit, samples[i].bytes);
        double error = fabs(scratch[i] - 1.0);
        quality.mean_error += error / (double)count;
        quality.sizes += i == 0 || samples[i].bytes != samples[i - 1].bytes;
        if (i == 0 || error > quality.worst_error) {
            quality.worst_error = error;
            quality.worst_bytes = samples[i].bytes;
        }
    }
    numbers_sort(scratch, count);
    quality.spread = (numbers_quantile(scratch, count, 0.75) - numbers_quantile(scratch, count, 0.25)) /
                     numbers_quantile(scratch, count, 0.5);
    for (uint32_t i = 0; i < count; i++) {
        scratch[i] = fabs(scratch[i] - 1.0);
    }
    numbers_sort(scratch, count);
    quality.median_error = numbers_quantile(scratch, count, 0.5);
    quality.rule = calib_fit_judge(&quality);
    return quality;
}

double calib_fit_time(const struct calib_fit *fit, uint64_t bytes)
{
    uint32_t at = fit->range_count - 1;
    while (at > 0 && bytes < fit->ranges[at].from_bytes) {
        at--;
    }
    return fit->ranges[at].latency_us + fit->ranges[at].us_per_byte * (double)bytes;
}

/* ---- ranges ---- */

/* A way to cut the sizes: range i is the sizes bounds[i] up to bounds[i + 1]. */
struct cut {
    uint32_t bounds[CALIB_RANGES_MAX + 1];
    uint32_t ranges;
    double loss;
};

static struct calib_line line_of(const struct fitting *fitting, uint32_t from, uint32_t to)
{
    uint32_t first = fitting->starts[from];
    return calib_line_fit(fitting->samples + first, fitting->inverse + first, fitting->starts[to] - first,
                          fitting->scratch);
}

static double calib_fit_loss_of(const struct fitting *fitting, uint32_t from, uint32_t to)
{
    return line_of(fitting, from, to).loss;
}

/* Three unknowns a range: latency, bandwidth, where it ends; the last one ends nowhere. */
static double bic_of(const struct fitting *fitting, const struct cut *cut)
{
    double n = (double)fitting->count;
    double error = cut->loss / n;
    return 2.0 * n * log(error > fit_noise ? error : fit_noise) + (3.0 * (double)cut->ranges - 1.0) * log(n);
}

static void candidates_pick(struct fitting *fitting)
{
    const struct calib_sample *samples = fitting->samples;
    double low = log((double)samples[0].bytes);
    double apart = (log((double)samples[fitting->count - 1].bytes) - low) / FIT_CANDIDATES;
    double next = low;
    fitting->candidates[fitting->candidate_count++] = 0;
    for (uint32_t i = FIT_RANGE_SIZES; i + FIT_RANGE_SIZES <= fitting->sizes; i++) {
        double place = log((double)samples[fitting->starts[i]].bytes);
        if (place >= next && fitting->candidate_count <= FIT_CANDIDATES) {
            fitting->candidates[fitting->candidate_count++] = i;
            next = place + apart;
        }
    }
    fitting->candidates[fitting->candidate_count++] = fitting->sizes;
    for (uint32_t i = 0; i < fitting->candidate_count; i++) {
        for (uint32_t k = 0; k < fitting->candidate_count; k++) {
            fitting->known[i][k] = -1;
        }
    }
}

static double loss_between(struct fitting *fitting, uint32_t first, uint32_t second)
{
    double *known = &fitting->known[first][second];
    if (*known < 0) {
        *known = calib_fit_loss_of(fitting, fitting->candidates[first], fitting->candidates[second]);
    }
    return *known;
}

/* The best cut into two or three ranges at candidates. False when there are too few sizes for so many. */
static bool cut_search(struct fitting *fitting, uint32_t ranges, struct cut *best)
{
    uint32_t last = fitting->candidate_count - 1;
    const uint32_t *at = fitting->candidates;
    bool found = false;
    for (uint32_t first = 1; first < last; first++) {
        double head = loss_between(fitting, 0, first);
        for (uint32_t second = ranges == 2 ? last : first + 1; second < last + (ranges == 2); second++) {
            if (at[second] - at[first] < FIT_RANGE_SIZES || (found && head >= best->loss)) {
                continue;
            }
            double loss = head + loss_between(fitting, first, second);
            if (second < last && (!found || loss < best->loss)) {
                loss += loss_between(fitting, second, last);
            }
            if (!found || loss < best->loss) {
                *best = (struct cut){{0, at[first], at[second], fitting->sizes}, ranges, loss};
                found = true;
            }
        }
    }
    return found;
}

/* Moves each split to the best size between the candidates beside it. */
static void cut_refine(const struct fitting *fitting, struct cut *cut)
{
    for (uint32_t s = 1; s < cut->ranges; s++) {
        uint32_t c = 1;
        while (fitting->candidates[c] != cut->bounds[s]) {
            c++;
        }
        uint32_t before = cut->bounds[s - 1];
        uint32_t after = cut->bounds[s + 1];
        uint32_t old = cut->bounds[s];
        double rest = cut->loss - calib_fit_loss_of(fitting, before, old) - calib_fit_loss_of(fitting, old, after);
        for (uint32_t at = fitting->candidates[c - 1] + 1; at < fitting->candidates[c + 1]; at++) {
            if (at < before + FIT_RANGE_SIZES || at + FIT_RANGE_SIZES > after) {
                continue;
            }
            double loss = rest + calib_fit_loss_of(fitting, before, at) + calib_fit_loss_of(fitting, at, after);
            if (loss < cut->loss) {
                cut->loss = loss;
                cut->bounds[s] = at;
            }
        }
    }
}

static struct cut cut_find(struct fitting *fitting, uint32_t ranges_max)
{
    struct cut best = {{0, fitting->sizes}, 1, calib_fit_loss_of(fitting, 0, fitting->sizes)};
    if (ranges_max > 1) {
        candidates_pick(fitting);
    }
    for (uint32_t ranges = 2; ranges <= ranges_max; ranges++) {
        struct cut cut = {{0}, 0, 0};
        if (!cut_search(fitting, ranges, &cut)) {
            break;
        }
        cut_refine(fitting, &cut);
        if (bic_of(fitting, &cut) < bic_of(fitting, &best)) {
            best = cut;
        }
    }
    return best;
}

static enum orr_status cut_given(const struct fitting *fitting, const struct calib_fit_options *options,
                                 struct cut *cut, struct orr_error *err)
{
    *cut = (struct cut){{0}, options->split_count + 1, 0};
    for (uint32_t s = 0; s <= options->split_count; s++) {
        uint32_t to = cut->bounds[s];
        while (to < fitting->sizes &&
               (s == options->split_count || fitting->samples[fitting->starts[to]].bytes <= options->splits[s])) {
            to++;
        }
        if (s < options->split_count && to == cut->bounds[s]) {
            return error_set(err, ORR_EINVAL, "no measurement in the range of sizes up to %" PRIu64 " bytes",
                             options->splits[s]);
        }
        if (to == cut->bounds[s]) {
            return error_set(err, ORR_EINVAL, "no measurement in the range of sizes above %" PRIu64 " bytes",
                             options->splits[s - 1]);
        }
        cut->bounds[s + 1] = to;
        cut->loss += calib_fit_loss_of(fitting, cut->bounds[s], to);
    }
    return ORR_OK;
}

/* ---- the whole ---- */

static int sample_compare(const void *a, const void *b)
{
    const struct calib_sample *x = a;
    const struct calib_sample *y = b;
    if (x->bytes != y->bytes) {
        return x->bytes < y->bytes ? -1 : 1;
    }
    return (x->time_us > y->time_us) - (x->time_us < y->time_us);
}

static enum orr_status calib_fit_check(const struct calib_sample *samples, uint32_t count,
                                       const struct calib_fit_options *options, struct orr_error *err)
{
    if (count == 0) {
        return error_set(err, ORR_EINVAL, "no measurement to fit");
    }
    if (options->ranges_max > CALIB_RANGES_MAX || options->split_count >= CALIB_RANGES_MAX) {
        return error_set(err, ORR_EINVAL, "%u ranges of sizes; 1 to %d are fitted",
                         options->ranges_max > CALIB_RANGES_MAX ? options->ranges_max : options->split_count + 1,
                         CALIB_RANGES_MAX);
    }
    for (uint32_t s = 1; s < options->split_count; s++) {
        if (options->splits[s] <= options->splits[s - 1]) {
            return error_set(err, ORR_EINVAL, "splits at %" PRIu64 " and %" PRIu64 " bytes; they must ascend",
                             options->splits[s - 1], options->splits[s]);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        double time = samples[i].time_us;
        if (samples[i].bytes == 0 || !(time >= fit_time_min && time <= fit_time_max)) {
            return error_set(err, ORR_EINVAL,
                             "a measurement of %" PRIu64 " bytes in %g us; at least 1 byte and %g to %g us are fitted",
                             samples[i].bytes, time, fit_time_min, fit_time_max);
        }
    }
    return ORR_OK;
}

static void calib_fit_fill(const struct fitting *fitting, const struct cut *cut, struct calib_fit *fit)
{
    *fit = (struct calib_fit){.range_count = cut->ranges, .bic = bic_of(fitting, cut)};
    for (uint32_t r = 0; r < cut->ranges; r++) {
        uint32_t first = fitting->starts[cut->bounds[r]];
        uint32_t end = fitting->starts[cut->bounds[r + 1]];
        struct calib_line line = line_of(fitting, cut->bounds[r], cut->bounds[r + 1]);
        fit->ranges[r] = (struct calib_range){.from_bytes = fitting->samples[first].bytes,
                                              .to_bytes = fitting->samples[end - 1].bytes,
                                              .latency_us = line.latency_us,
                                              .us_per_byte = line.us_per_byte};
    }
    for (uint32_t r = 0; r < cut->ranges; r++) {
        uint32_t first = fitting->starts[cut->bounds[r]];
        uint32_t end = fitting->starts[cut->bounds[r + 1]];
        fit->ranges[r].quality = quality_of(fit, fitting->samples + first, end - first, fitting->scratch);
    }
    fit->quality = quality_of(fit, fitting->samples, fitting->count, fitting->scratch);
    const struct calib_range *low = &fit->ranges[0];
    const struct calib_range *high = &fit->ranges[cut->ranges - 1];
    fit->latency_seen = low->us_per_byte * (double)low->from_bytes <= low->latency_us;
    fit->bandwidth_seen = high->latency_us <= high->us_per_byte * (double)high->to_bytes;
}

static enum orr_status fitting_open(struct fitting *fitting, const struct calib_sample *samples, uint32_t count,
                                    struct mem *mem, struct orr_error *err)
{
    size_t bytes = (size_t)count * sizeof(double);
    *fitting = (struct fitting){.samples = samples,
                                .count = count,
                                .starts = mem_alloc(mem, ((size_t)count + 1) * sizeof *fitting->starts),
                                .inverse = mem_alloc(mem, bytes),
                                .scratch = mem_alloc(mem, bytes)};
    if (fitting->starts == NULL || fitting->inverse == NULL || fitting->scratch == NULL) {
        return mem_error(mem, "fitting measurements", err);
    }
    for (uint32_t i = 0; i < count; i++) {
        fitting->inverse[i] = 1.0 / samples[i].time_us;
        if (i == 0 || samples[i].bytes != samples[i - 1].bytes) {
            fitting->starts[fitting->sizes++] = i;
        }
    }
    fitting->starts[fitting->sizes] = count;
    return ORR_OK;
}

static void fitting_close(struct fitting *fitting, struct mem *mem)
{
    size_t bytes = (size_t)fitting->count * sizeof(double);
    mem_free(mem, fitting->starts, ((size_t)fitting->count + 1) * sizeof *fitting->starts);
    mem_free(mem, fitting->inverse, bytes);
    mem_free(mem, fitting->scratch, bytes);
}

/* A cut that was found among some of the samples, among all of them. */
static struct cut cut_among_all(const struct fitting *all, const struct fitting *some, const struct cut *found)
{
    struct cut cut = {{0}, found->ranges, 0};
    uint32_t at = 0;
    for (uint32_t r = 1; r <= found->ranges; r++) {
        bool last = r == found->ranges;
        uint64_t from_bytes = last ? 0 : some->samples[some->starts[found->bounds[r]]].bytes;
        while (at < all->sizes && (last || all->samples[all->starts[at]].bytes < from_bytes)) {
            at++;
        }
        cut.bounds[r] = at;
        cut.loss += calib_fit_loss_of(all, cut.bounds[r - 1], at);
    }
    return cut;
}

static enum orr_status cut_find_thinned(const struct fitting *all, uint32_t ranges_max, struct mem *mem,
                                        struct cut *cut, struct orr_error *err)
{
    uint32_t every = 1 + (all->count - 1) / FIT_SEARCHED;
    uint32_t count = (all->count + every - 1) / every;
    struct fitting some = {0};
    struct calib_sample *samples = mem_alloc(mem, count * sizeof *samples);
    if (samples == NULL) {
        return mem_error(mem, "fitting measurements", err);
    }
    for (uint32_t i = 0; i < count; i++) {
        samples[i] = all->samples[(size_t)i * every];
    }
    enum orr_status status = fitting_open(&some, samples, count, mem, err);
    if (status == ORR_OK) {
        struct cut found = cut_find(&some, ranges_max);
        *cut = cut_among_all(all, &some, &found);
    }
    fitting_close(&some, mem);
    mem_free(mem, samples, count * sizeof *samples);
    return status;
}

enum orr_status calib_fit_make(struct calib_sample *samples, uint32_t count, const struct calib_fit_options *options,
                               struct mem *mem, struct calib_fit *fit, struct orr_error *err)
{
    uint32_t ranges_max = options->ranges_max == 0 ? CALIB_RANGES_MAX : options->ranges_max;
    struct fitting fitting;
    struct cut cut = {{0}, 0, 0};
    enum orr_status status = calib_fit_check(samples, count, options, err);
    if (status != ORR_OK) {
        return status;
    }
    qsort(samples, count, sizeof *samples, sample_compare);
    status = fitting_open(&fitting, samples, count, mem, err);
    if (status == ORR_OK && options->split_count > 0) {
        status = cut_given(&fitting, options, &cut, err);
    } else if (status == ORR_OK && count > FIT_SEARCHED) {
        status = cut_find_thinned(&fitting, ranges_max, mem, &cut, err);
    } else if (status == ORR_OK) {
        cut = cut_find(&fitting, ranges_max);
    }
    if (status == ORR_OK) {
        calib_fit_fill(&fitting, &cut, fit);
    }
    fitting_close(&fitting, mem);
    return status;
}
