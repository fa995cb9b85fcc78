/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A link's numbers are medians over the groups that show them: a group whose smallest message is already all bytes
 * shows no latency, one whose largest message is all latency no bandwidth, and a group that the rules refuse is heard
 * only where no accepted one speaks; the number then says so.
 *
 * Launching a collective costs the same however many ranks take part, its steps do not: with groups of different
 * numbers of steps, overhead is where the line through (steps, latency) meets zero steps.
 */
#include "calib/network.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coll/impl.h"

/* Bus bandwidths of groups on one kind of link agree to this; beyond, they are not of one kind. */
static const double same_link = 1.25;

const char *calib_overhead_text(enum calib_overhead overhead)
{
    static const char *const texts[] = {
        [CALIB_OVERHEAD_NONE] = "no latency was measured",
        [CALIB_OVERHEAD_GIVEN] = "the launch overhead is the one given",
        [CALIB_OVERHEAD_FITTED] = "launch overhead and latency were told apart by collectives of different numbers of "
                                  "steps",
        [CALIB_OVERHEAD_UNKNOWN] = "launch overhead and latency cannot be told apart by one number of ranks: all of it "
                                   "is taken for latency; measure on another number of ranks, or give the overhead",
    };
    return texts[overhead];
}

/* ---- what a collective does to links ---- */

uint32_t calib_step_count(enum calib_steps steps, int32_t type, uint32_t ranks)
{
    uint32_t once = ranks - 1;
    if (steps == CALIB_STEPS_ONE || ranks < 2) {
        return 1;
    }
    if (steps == CALIB_STEPS_TREE) {
        once = 0;
        for (uint32_t reach = ranks - 1; reach > 0; reach /= 2) {
            once++;
        }
    }
    bool twice = type == COLL_ALL_REDUCE || type == COLL_BARRIER;
    return twice && once <= UINT32_MAX / 2 ? 2 * once : once;
}

/* ---- groups ---- */

struct fitting {
    const struct calib_network_options *options;
    struct arena *arena;
    struct notes *notes;
    struct calib_group *groups;
    uint32_t count;
    bool accepted[2]; /* by enum shows: a group that shows it is accepted, and only such are heard */
};

static int point_compare(const void *a, const void *b)
{
    const struct calib_point *x = a;
    const struct calib_point *y = b;
    if (x->type != y->type) {
        return x->type < y->type ? -1 : 1;
    }
    return (x->ranks > y->ranks) - (x->ranks < y->ranks);
}

static double best_of(const struct calib_sample *samples, uint32_t count, double factor)
{
    double best = 0;
    for (uint32_t i = 0; i < count; i++) {
        double rate = factor * (double)samples[i].bytes / samples[i].time_us / 1e3;
        best = rate > best ? rate : best;
    }
    return best;
}

/* Microseconds a byte in the last range, above the latency of the first; 0: none. The last range's own line has its own
 * latency, which a link with one latency cannot have. `samples` are sorted by size. */
static double pair_slope(const struct calib_fit *fit, const struct calib_sample *samples, uint32_t count,
                         double *scratch)
{
    const struct calib_range *last = &fit->ranges[fit->range_count - 1];
    uint32_t used = 0;
    if (fit->range_count == 1) {
        return last->us_per_byte;
    }
    for (uint32_t i = 0; i < count; i++) {
        double above = samples[i].time_us - fit->ranges[0].latency_us;
        if (samples[i].bytes >= last->from_bytes) {
            scratch[used++] = above > 0 ? above / (double)samples[i].bytes : 0;
        }
    }
    return used > 0 ? calib_middle_of(scratch, used).median : 0;
}

static void pair_judge(struct calib_group *group, double slope, const struct calib_sample *samples, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        double time = group->latency_us + slope * (double)samples[i].bytes;
        double error = time > 0 ? samples[i].time_us / time - 1.0 : 0;
        error = error < 0 ? -error : error;
        group->pair_mean_error += error / (double)count;
        group->pair_worst_error = error > group->pair_worst_error ? error : group->pair_worst_error;
    }
}

/* What one group's points are put into. */
struct workplace {
    struct calib_sample *samples;
    double *scratch;
    struct mem *mem;
};

/* `points` are of one group; those in the wanted place become samples. */
static enum orr_status group_fit(const struct calib_network_options *options, const struct calib_point *points,
                                 uint32_t count, const struct workplace *place, struct calib_group *group,
                                 struct orr_error *err)
{
    struct calib_sample *samples = place->samples;
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (options->place == CALIB_PLACE_ANY || points[i].in_place == (options->place == CALIB_PLACE_IN)) {
            samples[used++] = (struct calib_sample){points[i].bytes, points[i].time_us};
        }
    }
    *group = (struct calib_group){.type = points[0].type,
                                  .ranks = points[0].ranks,
                                  .steps = calib_step_count(options->steps, points[0].type, points[0].ranks),
                                  .bus_factor = coll_bus_factor(points[0].type, points[0].ranks)};
    if (used == 0) {
        return error_set(err, ORR_EINVAL, "%s over %" PRIu32 " ranks was measured %s place only",
                         coll_type_name(group->type), group->ranks, options->place == CALIB_PLACE_IN ? "out of" : "in");
    }
    enum orr_status status = calib_fit_make(samples, used, &options->fit, place->mem, &group->fit, err);
    if (status != ORR_OK) {
        return status;
    }
    double slope = pair_slope(&group->fit, samples, used, place->scratch);
    group->latency_us = group->fit.ranges[0].latency_us;
    group->bus_gbytes_per_s = slope > 0 ? group->bus_factor / slope / 1e3 : 0;
    pair_judge(group, slope, samples, used);
    group->best_bus_gbytes_per_s = best_of(samples, used, group->bus_factor);
    return ORR_OK;
}

static enum orr_status group_notes(const struct calib_group *group, struct notes *notes, struct orr_error *err)
{
    const struct calib_fit *fit = &group->fit;
    const char *name = coll_type_name(group->type);
    enum orr_status status = ORR_OK;
    for (uint32_t r = 0; r < fit->range_count && status == ORR_OK; r++) {
        const struct calib_range *range = &fit->ranges[r];
        if (range->quality.rule != CALIB_ACCEPTED) {
            status = notes_add(
                notes, err, "%s over %" PRIu32 " ranks, %" PRIu64 " to %" PRIu64 " bytes: the fit is refused: %s", name,
                group->ranks, range->from_bytes, range->to_bytes, calib_rule_text(range->quality.rule));
        }
    }
    if (status == ORR_OK && !fit->latency_seen) {
        status = notes_add(notes, err,
                           "%s over %" PRIu32 " ranks: no message below %" PRIu64
                           " bytes was measured, which does not show a latency",
                           name, group->ranks, fit->ranges[0].from_bytes);
    }
    if (status == ORR_OK && !fit->bandwidth_seen) {
        status = notes_add(notes, err,
                           "%s over %" PRIu32 " ranks: no message above %" PRIu64
                           " bytes was measured, which does not show a bandwidth",
                           name, group->ranks, fit->ranges[fit->range_count - 1].to_bytes);
    }
    return status;
}

static uint32_t group_length(const struct calib_point *points, uint32_t count)
{
    uint32_t length = 1;
    while (length < count && point_compare(&points[0], &points[length]) == 0) {
        length++;
    }
    return length;
}

static enum orr_status groups_fit(struct fitting *fitting, const struct calib_points *points, struct orr_error *err)
{
    uint32_t count = points->count;
    struct calib_point *sorted = arena_alloc(fitting->arena, count * sizeof *sorted);
    struct workplace place = {.samples = arena_alloc(fitting->arena, count * sizeof *place.samples),
                              .scratch = arena_alloc(fitting->arena, count * sizeof *place.scratch),
                              .mem = fitting->arena->mem};
    if (sorted == NULL || place.samples == NULL || place.scratch == NULL) {
        return mem_error(fitting->arena->mem, "fitting measurements", err);
    }
    memcpy(sorted, points->items, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, point_compare);
    uint32_t groups = 0;
    for (uint32_t i = 0; i < count; i += group_length(sorted + i, count - i)) {
        groups++;
    }
    fitting->groups = arena_alloc(fitting->arena, groups * sizeof *fitting->groups);
    if (fitting->groups == NULL) {
        return mem_error(fitting->arena->mem, "fitting measurements", err);
    }
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < count && status == ORR_OK;) {
        uint32_t length = group_length(sorted + i, count - i);
        struct calib_group *group = &fitting->groups[fitting->count++];
        status = group_fit(fitting->options, sorted + i, length, &place, group, err);
        if (status == ORR_OK) {
            status = group_notes(group, fitting->notes, err);
        }
        i += length;
    }
    return status;
}

/* ---- numbers over groups ---- */

enum shows { SHOWS_LATENCY, SHOWS_BANDWIDTH };

static bool group_shows(const struct calib_group *group, enum shows what)
{
    return what == SHOWS_LATENCY ? group->fit.latency_seen && group->latency_us > 0
                                 : group->fit.bandwidth_seen && group->bus_gbytes_per_s > 0;
}

static enum calib_rule group_rule(const struct calib_group *group, enum shows what)
{
    return group->fit.ranges[what == SHOWS_LATENCY ? 0 : group->fit.range_count - 1].quality.rule;
}

static void hearing_decide(struct fitting *fitting, enum shows what)
{
    for (uint32_t i = 0; i < fitting->count; i++) {
        const struct calib_group *group = &fitting->groups[i];
        fitting->accepted[what] |= group_shows(group, what) && group_rule(group, what) == CALIB_ACCEPTED;
    }
}

static bool is_heard(const struct fitting *fitting, const struct calib_group *group, enum shows what)
{
    return group_shows(group, what) && (group_rule(group, what) == CALIB_ACCEPTED || !fitting->accepted[what]);
}

/* The median of `count` values, or nothing known when there are none. */
static struct calib_number calib_network_number_of(double *values, uint32_t count, enum calib_rule rule)
{
    if (count == 0) {
        return (struct calib_number){.known = false};
    }
    struct calib_middle middle = calib_middle_of(values, count);
    return (struct calib_number){.value = middle.median,
                                 .known = true,
                                 .sources = count,
                                 .low = middle.low,
                                 .high = middle.high,
                                 .accepted = rule == CALIB_ACCEPTED,
                                 .reason = rule == CALIB_ACCEPTED ? NULL : calib_rule_text(rule)};
}

/* What each heard group says of `what`; the worst standing among them. */
static uint32_t values_of(const struct fitting *fitting, enum shows what,
                          double (*value)(const struct fitting *fitting, const struct calib_group *group, double over),
                          double over, double *values, enum calib_rule *rule)
{
    uint32_t count = 0;
    *rule = CALIB_ACCEPTED;
    for (uint32_t i = 0; i < fitting->count; i++) {
        const struct calib_group *group = &fitting->groups[i];
        if (is_heard(fitting, group, what)) {
            values[count++] = value(fitting, group, over);
            *rule = *rule == CALIB_ACCEPTED ? group_rule(group, what) : *rule;
        }
    }
    return count;
}

static uint32_t hops_of(const struct fitting *fitting)
{
    return fitting->options->hops > 0 ? fitting->options->hops : 1;
}

static double path_latency(const struct calib_group *group, double overhead)
{
    return group->latency_us > overhead ? group->latency_us - overhead : 0;
}

static double value_link(const struct fitting *fitting, const struct calib_group *group, double overhead)
{
    return path_latency(group, overhead) / ((double)group->steps * (double)hops_of(fitting));
}

static double value_message(const struct fitting *fitting, const struct calib_group *group, double overhead)
{
    return path_latency(group, overhead) / (double)hops_of(fitting);
}

static double value_bus(const struct fitting *fitting, const struct calib_group *group, double unused)
{
    (void)fitting;
    (void)unused;
    return group->bus_gbytes_per_s;
}

/* Whether the line through the groups' latencies describes them, by the rules for any fit. */
static enum calib_rule line_rule(const double *steps, double *latencies, uint32_t count, double foot, double slope)
{
    for (uint32_t i = 0; i < count; i++) {
        latencies[i] /= foot + slope * steps[i];
    }
    struct calib_middle middle = calib_middle_of(latencies, count);
    for (uint32_t i = 0; i < count; i++) {
        latencies[i] = latencies[i] > 1 ? latencies[i] - 1 : 1 - latencies[i];
    }
    double error = calib_middle_of(latencies, count).median;
    if (middle.rule != CALIB_ACCEPTED) {
        return middle.rule;
    }
    return error < calib_rule_limit(CALIB_REFUSED_ERROR) ? CALIB_ACCEPTED : CALIB_REFUSED_ERROR;
}

static enum orr_status overhead_fit(const struct fitting *fitting, double *x, double *y, struct calib_network *network,
                                    struct orr_error *err)
{
    uint32_t count = 0;
    bool found = false;
    double foot = 0;
    double slope = 0;
    for (uint32_t i = 0; i < fitting->count; i++) {
        if (is_heard(fitting, &fitting->groups[i], SHOWS_LATENCY)) {
            x[count] = (double)fitting->groups[i].steps;
            y[count++] = fitting->groups[i].latency_us;
        }
    }
    if (count == 0) {
        network->overhead = CALIB_OVERHEAD_NONE;
        return ORR_OK;
    }
    enum orr_status status = calib_line_through(x, y, count, fitting->arena->mem, &found, &foot, &slope, err);
    network->overhead = found ? CALIB_OVERHEAD_FITTED : CALIB_OVERHEAD_UNKNOWN;
    if (status != ORR_OK || !found) {
        return status;
    }
    enum calib_rule rule = line_rule(x, y, count, foot, slope);
    network->overhead_us = (struct calib_number){.value = foot,
                                                 .known = true,
                                                 .sources = count,
                                                 .low = foot,
                                                 .high = foot,
                                                 .accepted = rule == CALIB_ACCEPTED,
                                                 .reason = rule == CALIB_ACCEPTED ? NULL : calib_rule_text(rule)};
    return ORR_OK;
}

static enum orr_status collectives_judge(struct fitting *fitting, struct calib_network *network, struct orr_error *err)
{
    enum calib_rule rule = CALIB_ACCEPTED;
    enum orr_status status = ORR_OK;
    double *x = arena_alloc(fitting->arena, fitting->count * sizeof *x);
    double *y = arena_alloc(fitting->arena, fitting->count * sizeof *y);
    if (x == NULL || y == NULL) {
        return mem_error(fitting->arena->mem, "fitting measurements", err);
    }
    hearing_decide(fitting, SHOWS_LATENCY);
    hearing_decide(fitting, SHOWS_BANDWIDTH);
    if (fitting->options->overhead_given) {
        double given = fitting->options->overhead_us;
        network->overhead = CALIB_OVERHEAD_GIVEN;
        network->overhead_us = (struct calib_number){
            .value = given, .known = true, .sources = 1, .low = given, .high = given, .accepted = true};
    } else {
        status = overhead_fit(fitting, x, y, network, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    double overhead = network->overhead_us.value;
    uint32_t count = values_of(fitting, SHOWS_LATENCY, value_link, overhead, x, &rule);
    network->link_latency_us = calib_network_number_of(x, count, rule);
    count = values_of(fitting, SHOWS_LATENCY, value_message, overhead, x, &rule);
    network->message_link_us = calib_network_number_of(x, count, rule);
    count = values_of(fitting, SHOWS_BANDWIDTH, value_bus, 0, x, &rule);
    network->link_gbytes_per_s = calib_network_number_of(x, count, rule);
    struct calib_number *rate = &network->link_gbytes_per_s;
    if (rate->known && rate->high > same_link * rate->low) {
        rate->accepted = false;
        rate->reason = "the collectives' bus bandwidths differ by more than a quarter";
        status =
            notes_add(fitting->notes, err,
                      "bus bandwidths from %.4g to %.4g GB/s: one link cannot have both; fit what uses other links "
                      "by itself",
                      rate->low, rate->high);
    }
    return status;
}

/* ---- copies ---- */

enum copy_kind { COPY_PEER, COPY_MEMORY, COPY_HOST };

static enum copy_kind copy_kind_of(const struct calib_copy *copy)
{
    return copy->host ? COPY_HOST : copy->from == copy->to ? COPY_MEMORY : COPY_PEER;
}

/* Each rate is a peak over many sizes by itself, so one is enough; rates of one kind that differ are refused. */
static struct calib_number copies_judge(const struct calib_points *points, enum copy_kind kind, double *values)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < points->copy_count; i++) {
        if (!points->copies[i].both_ways && copy_kind_of(&points->copies[i]) == kind) {
            values[count++] = points->copies[i].gbytes_per_s;
        }
    }
    if (count == 0) {
        return (struct calib_number){.known = false};
    }
    struct calib_middle middle = calib_middle_of(values, count);
    enum calib_rule rule = middle.rule == CALIB_REFUSED_SAMPLES ? CALIB_ACCEPTED : middle.rule;
    if (!(middle.spread < calib_rule_limit(CALIB_REFUSED_SPREAD))) {
        rule = CALIB_REFUSED_SPREAD;
    }
    return calib_network_number_of(values, count, rule);
}

/* ---- the whole ---- */

static enum orr_status calib_network_check(const struct calib_points *points,
                                           const struct calib_network_options *options, struct orr_error *err)
{
    if (points->count == 0 && points->copy_count == 0) {
        return error_set(err, ORR_EINVAL, "no measurement of a network to fit");
    }
    if (options->overhead_given && !(options->overhead_us >= 0 && options->overhead_us <= 1e15)) {
        return error_set(err, ORR_EINVAL, "a launch overhead of %g us; 0 or more is needed", options->overhead_us);
    }
    return ORR_OK;
}

enum orr_status calib_network_fit(const struct calib_points *points, const struct calib_network_options *options,
                                  struct arena *arena, struct notes *notes, struct calib_network *network,
                                  struct orr_error *err)
{
    struct fitting fitting = {.options = options, .arena = arena, .notes = notes};
    struct calib_network made = {0};
    enum orr_status status = calib_network_check(points, options, err);
    if (status == ORR_OK && points->count > 0) {
        status = groups_fit(&fitting, points, err);
        if (status == ORR_OK) {
            status = collectives_judge(&fitting, &made, err);
        }
    }
    if (status != ORR_OK) {
        return status;
    }
    if (points->copy_count > 0) {
        double *values = arena_alloc(arena, points->copy_count * sizeof *values);
        if (values == NULL) {
            return mem_error(arena->mem, "fitting measurements", err);
        }
        made.peer_gbytes_per_s = copies_judge(points, COPY_PEER, values);
        made.memory_gbytes_per_s = copies_judge(points, COPY_MEMORY, values);
        made.host_gbytes_per_s = copies_judge(points, COPY_HOST, values);
    }
    made.groups = fitting.groups;
    made.group_count = fitting.count;
    *network = made;
    return ORR_OK;
}
