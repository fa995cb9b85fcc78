/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calibrating run is an ordinary one, on a ring of as many ranks as there are traces, with the rates that were
 * asked for; it has no command in the store, since `rerun` of the run that was asked for makes it again. What was given
 * on the command line goes before what was fitted.
 */
#include "calib/lab.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/plain.h"
#include "calib/holdout.h"
#include "calib/host.h"
#include "calib/report.h"
#include "calib/session.h"
#include "calib/steps_fit.h"
#include "convert/pytorch/import/import.h"
#include "io/file.h"
#include "lab/lab_run.h"
#include "lab/store/metrics_store.h"

/* ---- measured steps beside the traces ---- */

struct listing {
    const char *folder, *tag;
    struct arena *arena;
    const char **paths;
    uint32_t count;
};

/* KIND_R[_TAG].json, packed or not, where it is there; false when there is no memory. */
static bool add_beside(struct listing *l, const char *kind, uint32_t rank)
{
    static const char *const packings[] = {"", ".gz", ".zst"};
    for (size_t i = 0; i < sizeof packings / sizeof packings[0]; i++) {
        const char *path = arena_printf(l->arena, "%s/%s_%" PRIu32 "%s%s.json%s", l->folder, kind, rank,
                                        l->tag[0] != '\0' ? "_" : "", l->tag, packings[i]);
        if (path == NULL) {
            return false;
        }
        if (file_exists(path)) {
            l->paths[l->count++] = path;
            return true;
        }
    }
    return true;
}

/* The files of measured steps in a folder of recordings: device traces by the importer's names, and training_R.json and
 * gpu_metrics_R.json of the same ranks and tag. ORR_EINVAL when there are none. */
static enum orr_status calib_lab_find(const char *folder, const char *tag, struct arena *arena, const char ***paths,
                                      uint32_t *count, struct orr_error *err)
{
    enum { PER_RANK = 3 };
    struct import_pair *pairs = NULL;
    uint32_t pair_count = 0;
    const char **tags = NULL;
    uint32_t tag_count = 0;
    enum orr_status status = import_find(folder, tag, NULL, 0, arena, &pairs, &pair_count, err);
    if (status == ORR_OK && tag == NULL) {
        status = import_tags(folder, arena, &tags, &tag_count, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    struct listing l = {.folder = folder,
                        .tag = tag != NULL     ? tag
                               : tag_count > 0 ? tags[0]
                                               : "",
                        .arena = arena,
                        .paths = arena_alloc(arena, ((size_t)pair_count * PER_RANK + 1) * sizeof *l.paths)};
    bool fine = l.paths != NULL;
    for (uint32_t i = 0; fine && i < pair_count; i++) {
        if (pairs[i].device != NULL) {
            l.paths[l.count++] = pairs[i].device;
        }
        fine = add_beside(&l, "training", pairs[i].rank) && add_beside(&l, "gpu_metrics", pairs[i].rank);
    }
    if (!fine) {
        return mem_error(arena->mem, "a list of recordings", err);
    }
    if (l.count == 0) {
        return error_set(err, ORR_EINVAL, "%s: has no device_R.json and no training_R.json: no step was measured",
                         folder);
    }
    *paths = l.paths;
    *count = l.count;
    return ORR_OK;
}

/* ---- one calibration for one run ---- */

struct calibrating {
    const struct orr_lab_options *options;
    const struct orr_notices *notices;
    struct calib_session session;
    struct calib calib;
    const char **paths; /* of measured steps */
    uint32_t path_count;
    struct calib_measured *files; /* what they say */
    struct calib_holdout holdout;
    uint32_t ranks;
    FILE *stream;
    struct orr_error *err;
};

static bool calib_lab_is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The recording that the workload is, or the folder its traces lie in. */
static const char *default_folder(struct calibrating *c)
{
    const char *workload = c->options->run.workload;
    const char *slash = strrchr(workload, '/');
    return calib_lab_is_folder(workload) ? workload
           : slash == NULL               ? "."
                                         : arena_strndup(&c->session.arena, workload, (size_t)(slash - workload));
}

/* Where recordings lie that are kept apart from their traces: beside the folder, or in it. */
static const char *const beside[] = {"../pytorch_traces", "../recording", "pytorch_traces", "recording"};

static enum orr_status find_measured(struct calibrating *c)
{
    const char *tag = c->options->recording_tag;
    struct arena *arena = &c->session.arena;
    struct orr_error why = {0};
    struct orr_error other = {0};
    const char *folder = c->options->trace_folder != NULL ? c->options->trace_folder : default_folder(c);
    if (folder == NULL) {
        return mem_error(&c->session.mem, "a path", c->err);
    }
    enum orr_status status = calib_lab_find(folder, tag, arena, &c->paths, &c->path_count, &why);
    size_t count = c->options->trace_folder != NULL ? 0 : sizeof beside / sizeof beside[0];
    for (size_t i = 0; status != ORR_OK && i < count; i++) {
        const char *place = arena_printf(arena, "%s/%s", folder, beside[i]);
        if (place == NULL) {
            return mem_error(&c->session.mem, "a path", c->err);
        }
        if (calib_lab_is_folder(place) &&
            calib_lab_find(place, tag, arena, &c->paths, &c->path_count, &other) == ORR_OK) {
            status = ORR_OK;
        }
    }
    return status == ORR_OK
               ? ORR_OK
               : error_set(c->err, status,
                           "parameter 'auto-calibrate': %s; parameter 'trace-dir' DIR says where the recording lies",
                           why.text);
}

/* The world as it was recorded. */
static struct orr_lab_options traced_world(const struct calibrating *c)
{
    struct orr_lab_options options = *c->options;
    options.run.machine = NULL;
    options.virtual_scale = 0;
    options.world_size = 0;
    options.run.growth = (struct orr_growth){0};
    options.run.devices = NULL; /* what was recorded ran on its own */
    options.run.backend_open = c->options->run.backend_open || c->options->run.backend > ORR_BACKEND_AWARE;
    options.command = NULL;
    options.run.system = NULL; /* one for another number of dimensions would not fit */
    options.tag = "calibration";
    options.timeline = false;
    options.auto_calibrate = false;
    /* A list has a value for each dimension of another machine; the first is that of a link of its innermost one. */
    options.run.bandwidth =
        options.run.bandwidth != NULL && strchr(options.run.bandwidth, ',') != NULL ? NULL : options.run.bandwidth;
    options.run.latency =
        options.run.latency != NULL && strchr(options.run.latency, ',') != NULL ? NULL : options.run.latency;
    return options;
}

static const char *store_of(struct calibrating *c)
{
    const char *folder = c->options->output_folder != NULL ? c->options->output_folder : "runs";
    return c->options->store != NULL ? c->options->store : arena_printf(&c->session.arena, "%s/orrery.db", folder);
}

/* Rates of a machine that is a file are the file's. */
static bool is_file(const char *topology)
{
    struct run_machine machine;
    return topology != NULL && run_machine_parse(topology, &machine, NULL) == ORR_OK &&
           machine.kind >= RUN_MACHINE_MADE;
}

static enum orr_status tune(struct calibrating *c, const struct calib *calib, struct orr_lab_options *options)
{
    calib_tune(calib, &options->run.tuning);
    if (is_file(options->run.machine)) {
        return ORR_OK;
    }
    if (options->run.bandwidth == NULL && calib->link_gbps > 0 && calib->link_gbps < 1e9) {
        options->run.bandwidth = arena_printf(&c->session.arena, "%.3fGbps", calib->link_gbps);
        if (options->run.bandwidth == NULL) {
            return mem_error(&c->session.mem, "a rate", c->err);
        }
    }
    if (options->run.latency == NULL && calib->link_latency_us > 0 && calib->link_latency_us < 1e9) {
        options->run.latency = arena_printf(&c->session.arena, "%.3fus", calib->link_latency_us);
        if (options->run.latency == NULL) {
            return mem_error(&c->session.mem, "a time", c->err);
        }
    }
    return ORR_OK;
}

/* The traced world simulated with `options` and held against the measured steps. */
static enum orr_status calib_lab_fit(struct calibrating *c, const struct orr_lab_options *options,
                                     struct orr_lab_result *traced, struct calib *calib)
{
    const char *store = store_of(c);
    struct orr_calib_options how;
    orr_calib_options_init(&how);
    if (store == NULL) {
        return mem_error(&c->session.mem, "a path", c->err);
    }
    enum orr_status status = lab_run(options, c->notices, NULL, traced, c->err);
    how.measured = c->paths;
    how.measured_count = c->path_count;
    how.store = store;
    how.has_run = true;
    how.run = traced->run;
    how.tag = c->options->tag;
    return status == ORR_OK ? calib_session_fit(&c->session, &how, calib, c->err) : status;
}

/* The traced world as a run of the files that the last lab run left. */
static enum orr_status options_of(struct calibrating *c, const struct orr_lab_options *world,
                                  const struct orr_lab_result *traced, struct orr_run_options *run)
{
    struct arena *arena = &c->session.arena;
    struct run_workload found;
    enum orr_status status =
        run_workload_find(world->run.workload, world->prefix, world->recording_tag, arena, &found, c->err);
    if (status == ORR_OK && found.prefix == NULL) {
        found.prefix = arena_printf(arena, "%s/traces/job", traced->folder);
        status = found.prefix == NULL ? mem_error(&c->session.mem, "a path", c->err)
                                      : run_workload_groups(found.prefix, arena, &found.groups, c->err);
    }
    if (status != ORR_OK) {
        return status;
    }
    run->workload = found.prefix;
    run->groups = found.groups;
    run->system = arena_printf(arena, "%s/system.json", traced->folder);
    run->network = arena_printf(arena, "%s/network.yml", traced->folder);
    run->backend = world->run.backend_open ? ORR_BACKEND_UNAWARE : world->run.backend;
    run->policy = world->run.policy;
    run->memory_limit = world->run.memory_limit;
    run->tuning = world->run.tuning;
    return run->system == NULL || run->network == NULL ? mem_error(&c->session.mem, "a path", c->err) : ORR_OK;
}

/* A factor that no profiler makes: something else is wrong with the steps or the traces, and it is not used. */
static enum orr_status check_host(struct calibrating *c)
{
    char value[32];
    double factor = c->calib.host_factor;
    bool plausible = factor >= CALIB_HOST_LEAST && factor <= CALIB_HOST_MOST;
    if (isnan(factor)) {
        return ORR_OK;
    }
    (void)plain_snprintf(value, sizeof value, "%.3f", factor);
    enum orr_status status =
        calib_check_set(&c->calib, &c->session.arena, "host factor", "0.10 to 1", value, plausible, c->err);
    if (status != ORR_OK || plausible) {
        return status;
    }
    c->calib.host_factor = NAN;
    c->calib.sim_untraced_ms = NAN;
    return notes_add(&c->session.notes, c->err,
                     "a host factor of %s would make the simulated step as long as one without the profiler, %.3f ms, "
                     "but none below 0.10 is plausible: it is refused and not used; the steps without the profiler "
                     "are not of the traced job, or the traces hold waits as host time",
                     value, c->calib.untraced_ms);
}

/* The host factor: without steps of both kinds there is none to fit. */
static enum orr_status fit_host(struct calibrating *c, const struct orr_lab_options *world,
                                const struct orr_lab_result *traced)
{
    struct orr_run_options run;
    orr_run_options_init(&run);
    if (!c->calib.traced || isnan(c->calib.untraced_ms) || c->options->run.tuning.host_scale > 0) {
        return ORR_OK;
    }
    enum orr_status status = options_of(c, world, traced, &run);
    status = status != ORR_OK ? status : calib_host_fit(&run, &c->calib, c->err);
    return status == ORR_OK ? check_host(c) : status;
}

/* Reads the measured steps once more, one by one, and holds each against the same step of the simulation. */
static enum orr_status hold_out(struct calibrating *c, const struct orr_lab_options *world,
                                const struct orr_lab_result *traced, double start_gbps)
{
    struct orr_run_options run;
    orr_run_options_init(&run);
    c->files = arena_alloc(&c->session.arena, ((size_t)c->path_count + 1) * sizeof *c->files);
    enum orr_status status =
        c->files == NULL ? mem_error(&c->session.mem, "measured steps", c->err) : options_of(c, world, traced, &run);
    for (uint32_t i = 0; i < c->path_count && status == ORR_OK; i++) {
        status = calib_measured_read(c->paths[i], &c->session.arena, &c->session.notes, &c->files[i], c->err);
    }
    return status != ORR_OK
               ? status
               : calib_holdout_make(&run, c->files, c->path_count, start_gbps, &c->session.arena, &c->holdout, c->err);
}

/* The rules that rest on steps which were not fitted on, in place of those that pool all of them. */
static enum orr_status judge_holdout(struct calibrating *c)
{
    struct calib *calib = &c->calib;
    char value[32] = "none was held out";
    char reached[32] = "not known";
    calib->held_out = c->holdout.worst;
    if (!isnan(calib->held_out)) {
        (void)plain_snprintf(value, sizeof value, "%.4f", calib->held_out);
    }
    if (!isnan(c->holdout.alpha)) {
        (void)plain_snprintf(reached, sizeof reached, "%.4f", c->holdout.alpha);
    }
    enum orr_status status = calib_check_set(calib, &c->session.arena, "error of a step", "held out, below 0.05", value,
                                             calib->held_out < 0.05, c->err);
    return status != ORR_OK ? status
                            : calib_check_set(calib, &c->session.arena, "fitted step", "measured / simulated 0.5 to 2",
                                              reached, c->holdout.alpha >= 0.5 && c->holdout.alpha <= 2, c->err);
}

/* The traced run's tables again, now that its calibration is known. */
static enum orr_status keep_tables(const char *path, const struct orr_lab_result *traced, struct orr_error *err)
{
    struct lab_store *store = NULL;
    enum orr_status status = lab_store_open(path, IO_DATABASE_WRITE, &store, err);
    status = status != ORR_OK ? status : metrics_keep(store, traced->run, traced->folder, err);
    lab_store_close(store);
    return status;
}

/* What was found first goes into the machine, and what is then still missing is what the alpha says: the first report
 * tells why they differ, the second fit is the one that is used and kept. */
static enum orr_status calib_lab_tell(struct calibrating *c, const struct calib *first,
                                      const struct orr_lab_result *traced)
{
    const char *store = store_of(c);
    const char *output = arena_printf(&c->session.arena, "%s/calibration.json", traced->folder);
    int64_t id = 0;
    if (store == NULL || output == NULL) {
        return mem_error(&c->session.mem, "a path", c->err);
    }
    enum orr_status status = calib_file_write(output, &c->calib, c->err);
    status = status != ORR_OK ? status : calib_session_keep(&c->session, store, &c->calib, &id, c->err);
    status = status != ORR_OK ? status : keep_tables(store, traced, c->err);
    if (status == ORR_OK && c->stream != NULL) {
        calib_report_put(first, c->stream);
        calib_holdout_put(&c->holdout, c->stream);
        calib_report_after(&c->calib, c->stream);
        (void)fprintf(c->stream, "%-12s%" PRId64 " of the store, and %s\n\n", "Calibration", id, output);
        status = error_of_stream(c->stream, "the report", c->err);
    }
    return status;
}

/* The machine with what was found, held against the steps again. Where nobody said what the links are, they get the
 * rate at which the first rank's first step is as long as it was; imported traces have the recorded compute already. */
static enum orr_status refine(struct calibrating *c, struct calib *first, struct orr_lab_result *traced)
{
    struct orr_lab_options world = traced_world(c);
    bool fits_links = c->ranks > 1 && isnan(first->link_gbps) && c->options->run.bandwidth == NULL;
    double start = first->achieved_gbps > 0 ? first->achieved_gbps : first->bandwidth_gbps;
    enum orr_status status = hold_out(c, &world, traced, fits_links && start > 0 ? start : (double)NAN);
    if (fits_links) {
        first->link_gbps = isnan(c->holdout.link_gbps) ? first->achieved_gbps : c->holdout.link_gbps;
    }
    if (calib_lab_is_folder(c->options->run.workload)) {
        first->compute_scale = NAN;
    }
    status = status != ORR_OK ? status : tune(c, first, &world);
    status = status != ORR_OK ? status : calib_lab_fit(c, &world, traced, &c->calib);
    c->calib.link_gbps = first->link_gbps;
    c->calib.link_latency_us = first->link_latency_us;
    c->calib.compute_scale = first->compute_scale;
    c->calib.tuned = true;
    status = status != ORR_OK ? status : judge_holdout(c);
    return status == ORR_OK ? fit_host(c, &world, traced) : status;
}

/* One rank sent nothing: there is no traced world to simulate. */
static enum orr_status calib_lab_count_ranks(struct calibrating *c)
{
    struct run_workload found;
    enum orr_status status = run_workload_find(c->options->run.workload, c->options->prefix, c->options->recording_tag,
                                               &c->session.arena, &found, c->err);
    c->ranks = status == ORR_OK ? found.ranks : 0;
    return status != ORR_OK || found.ranks != 1
               ? status
               : error_set(
                     c->err, ORR_EINVAL,
                     "parameter 'auto-calibrate': %s has the trace of one rank, which sent nothing to hold a network "
                     "against; record two ranks or more, or run without it",
                     c->options->run.workload);
}

static enum orr_status calibrate(struct calibrating *c)
{
    struct orr_lab_result traced = {0};
    struct calib first = calib_none();
    const struct orr_lab_options world = traced_world(c);
    enum orr_status status = calib_lab_count_ranks(c);
    status = status != ORR_OK ? status : find_measured(c);
    status = status != ORR_OK ? status : calib_lab_fit(c, &world, &traced, &first);
    status = status != ORR_OK ? status : refine(c, &first, &traced);
    if (status == ORR_OK && !c->calib.accepted) {
        char verdict[160];
        status = notes_add(&c->session.notes, c->err, "the calibration is used although it was %s",
                           calib_report_verdict(&c->calib, verdict, sizeof verdict));
    }
    return status == ORR_OK ? calib_lab_tell(c, &first, &traced) : status;
}

/* ---- the run that was asked for ---- */

static enum orr_status calib_lab_run_one(struct calibrating *c, struct orr_lab_result *result)
{
    struct orr_lab_options options = *c->options;
    enum orr_status status = c->options->auto_calibrate
                                 ? calibrate(c)
                                 : calib_session_read(&c->session, c->options->calibration, &c->calib, c->err);
    options.calibration = NULL;
    options.auto_calibrate = false;
    status = status != ORR_OK ? status : tune(c, &c->calib, &options);
    status = status != ORR_OK ? status : lab_run(&options, c->notices, c->stream, result, c->err);
    if (status == ORR_OK && c->stream != NULL) {
        double steps = result->steps == 0 ? 1 : (double)result->steps;
        calib_report_prediction(&c->calib, (double)result->time_ns / 1e6 / steps, c->stream);
        status = error_of_stream(c->stream, "the summary", c->err);
    }
    return status;
}

enum orr_status calib_lab_run(const struct orr_lab_options *options, const struct orr_notices *notices, FILE *stream,
                              struct orr_lab_result *result, struct orr_error *err)
{
    struct calibrating c = {
        .options = options,
        .notices = notices,
        .calib = calib_none(),
        .holdout = {.link_gbps = NAN, .alpha = NAN, .worst = NAN, .median = NAN},
        .stream = stream,
        .err = err,
    };
    *result = (struct orr_lab_result){0};
    if (options->calibration != NULL && options->auto_calibrate) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'calibration' has one, and parameter 'auto-calibrate' makes one; give one of them");
    }
    if (options->run.workload == NULL || options->run.workload[0] == '\0') {
        return error_set(err, ORR_EINVAL,
                         "missing parameter 'workload': a folder or prefix of traces, or of recordings");
    }
    calib_session_init(&c.session, options->run.memory_limit, notices);
    enum orr_status status = calib_lab_run_one(&c, result);
    calib_session_free(&c.session);
    return status;
}
