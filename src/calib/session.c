/* SPDX-License-Identifier: Apache-2.0 */
/* Options that contradict each other are refused before a file is opened: a device trace may take seconds to read. */
#include "calib/session.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/notices.h"
#include "base/units.h"
#include "calib/bench.h"
#include "calib/report.h"
#include "calib/sim.h"
#include "calib/steps_fit.h"
#include "coll/impl.h"
#include "run/machine_read.h"

void calib_session_init(struct calib_session *session, uint64_t memory_limit, const struct orr_notices *notices)
{
    *session = (struct calib_session){.mem = {.limit = memory_limit}, .notices = notices};
    arena_init(&session->arena, &session->mem);
    notices_begin(&session->notes, &session->mem, notices);
}

void calib_session_free(struct calib_session *session)
{
    notices_end(&session->notes, session->notices);
    arena_free(&session->arena);
}

/* ---- options ---- */

struct fitting {
    struct calib_session *session;
    const struct orr_calib_options *options;
    struct calib_question question;
    double launch_us; /* NaN: not given */
    struct orr_error *err;
};

static double given(double value)
{
    return value > 0 ? value : (double)NAN;
}

static double given_ns(uint64_t value)
{
    return value > 0 ? (double)value : (double)NAN;
}

/* A quantity with its unit; NaN when it was not given. */
static enum orr_status quantity(struct fitting *f, const char *option, const char *text, enum units_kind kind,
                                double per_unit, double *value)
{
    struct orr_error reason = {0};
    uint64_t base = 0;
    *value = NAN;
    if (text == NULL) {
        return ORR_OK;
    }
    enum orr_status status = units_parse(text, kind, kind == UNITS_RATE ? "Gbps" : "us", &base, &reason);
    if (status == ORR_OK && kind == UNITS_RATE && base == 0) {
        status = error_set(&reason, ORR_ERANGE, "a rate of 0 moves nothing");
    }
    *value = (double)base / per_unit;
    return status == ORR_OK ? ORR_OK : error_set(f->err, status, "%s: %s", option, reason.text);
}

static bool has_steps(const struct orr_calib_options *options)
{
    return options->measured_count > 0 || options->real_step_ms > 0;
}

/* An option that nothing would be made of is a mistake and not passed over. */
static enum orr_status check_used(const struct fitting *f)
{
    const struct orr_calib_options *o = f->options;
    static const char *const needed[] = {"a measured step (parameter 'measured', parameter 'real-step-ms')",
                                         "parameter 'measured' FILE", "parameter 'sim-wall' NS",
                                         "parameter 'bench' FILE"};
    enum { A_STEP, A_FILE, A_WALL, A_BENCH };
    const bool there[] = {has_steps(o), o->measured_count > 0, o->sim_wall_ns != 0, o->bench_count > 0};
    const struct {
        const char *option;
        bool given;
        int needs;
    } rows[] = {{"parameter 'run'", o->has_run, A_STEP},
                {"parameter 'sim-wall'", o->sim_wall_ns != 0, A_STEP},
                {"parameter 'store'", o->store != NULL, A_STEP},
                {"parameter 'real-comm-ms'", o->real_comm_ms != 0, A_STEP},
                {"parameter 'real-kernel-ms'", o->real_kernel_ms != 0, A_STEP},
                {"parameter 'sim-steps'", o->sim_steps != 0, A_STEP},
                {"parameter 'steps'", o->steps != 0, A_STEP},
                {"parameter 'comm-bytes'", o->comm_bytes != 0, A_STEP},
                {"parameter 'collectives'", o->collectives != 0, A_STEP},
                {"parameter 'bandwidth'", o->bandwidth != NULL, A_STEP},
                {"parameter 'rank'", o->rank >= 0, A_FILE},
                {"parameter 'untraced'", o->untraced, A_FILE},
                {"parameter 'profiler-overhead'", o->profiler != NULL, A_FILE},
                {"parameter 'sim-comm'", o->sim_comm_ns != 0, A_WALL},
                {"parameter 'sim-gpu'", o->sim_gpu_ns != 0, A_WALL},
                {"parameter 'hops'", o->hops != 0, A_BENCH},
                {"parameter 'form'", o->bench_form != NULL, A_BENCH},
                {"parameter 'collective'", o->bench_collective != NULL, A_BENCH},
                {"parameter 'place'", o->bench_place != NULL, A_BENCH},
                {"parameter 'latency-steps'", o->bench_steps != NULL, A_BENCH},
                {"parameter 'ranges'", o->bench_ranges != 0, A_BENCH},
                {"parameter 'split'", o->bench_split_count != 0, A_BENCH}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].given && !there[rows[i].needs]) {
            return error_set(f->err, ORR_EINVAL, "%s says nothing without %s", rows[i].option, needed[rows[i].needs]);
        }
    }
    return ORR_OK;
}

static enum orr_status calib_session_check_times(const struct fitting *f)
{
    const double least = 1e-6;               /* ms: a nanosecond */
    const double most = 366.0 * 86400 * 1e3; /* a year */
    const struct {
        const char *option;
        double ms;
    } rows[] = {{"parameter 'real-step-ms'", f->options->real_step_ms},
                {"parameter 'real-comm-ms'", f->options->real_comm_ms},
                {"parameter 'real-kernel-ms'", f->options->real_kernel_ms}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].ms != 0 && !(rows[i].ms >= least && rows[i].ms <= most)) {
            return error_set(f->err, ORR_ERANGE, "%s: %g ms is no time of a step: from 0.000001 to a year is",
                             rows[i].option, rows[i].ms);
        }
    }
    return ORR_OK;
}

/* A file counted twice would pass for more samples than there are. */
static enum orr_status check_once(const struct fitting *f, const char *const *paths, size_t count)
{
    struct stat *at = arena_zalloc(&f->session->arena, (count + 1) * sizeof *at);
    if (at == NULL) {
        return mem_error(&f->session->mem, "a list of files", f->err);
    }
    for (size_t i = 0; i < count; i++) {
        if (stat(paths[i], &at[i]) != 0) {
            at[i] = (struct stat){0}; /* its reader says what is wrong with it */
        }
        for (size_t k = 0; k < i && at[i].st_ino != 0; k++) {
            if (at[k].st_ino == at[i].st_ino && at[k].st_dev == at[i].st_dev) {
                return error_set(f->err, ORR_EINVAL, "%s is given twice (%s): its measurements would count twice",
                                 paths[i], paths[k]);
            }
        }
    }
    return ORR_OK;
}

static enum orr_status calib_session_check_options(const struct fitting *f)
{
    const struct orr_calib_options *options = f->options;
    bool sim = options->sim_wall_ns != 0;
    if (!has_steps(options) && options->bench_count == 0) {
        return error_set(f->err, ORR_EINVAL,
                         "nothing to fit: parameter 'measured' FILE or parameter 'real-step-ms' says how long a step "
                         "took, parameter 'bench' FILE how "
                         "fast the network is");
    }
    if (options->has_run && sim) {
        return error_set(f->err, ORR_EINVAL,
                         "parameter 'run' and parameter 'sim-wall' both say what was simulated; give one");
    }
    if (options->has_run && options->store == NULL) {
        return error_set(f->err, ORR_EINVAL, "parameter 'run' needs a store");
    }
    if (has_steps(options) && !options->has_run && !sim) {
        return error_set(
            f->err, ORR_EINVAL,
            "no simulated time: parameter 'run' N (a number of orrery lab list) or parameter 'sim-wall' NS is needed");
    }
    enum orr_status status = check_used(f);
    status = status != ORR_OK ? status : calib_session_check_times(f);
    status = status != ORR_OK ? status : check_once(f, options->measured, options->measured_count);
    return status != ORR_OK ? status : check_once(f, options->bench, options->bench_count);
}

static enum orr_status calib_session_read_options(struct fitting *f)
{
    const struct orr_calib_options *options = f->options;
    struct calib_question *question = &f->question;
    *question = (struct calib_question){
        .sim = calib_sim_none(),
        .rank = options->rank,
        .untraced = options->untraced,
        .steps = options->steps,
        .real_ms = {given(options->real_step_ms), given(options->real_comm_ms), given(options->real_kernel_ms)}};
    enum orr_status status =
        quantity(f, "parameter 'profiler-overhead'", options->profiler, UNITS_TIME, 1e3, &question->profiler_us);
    return status != ORR_OK
               ? status
               : quantity(f, "parameter 'launch-overhead'", options->launch, UNITS_TIME, 1e3, &f->launch_us);
}

/* ---- the simulated side ---- */

/* The ranks of the machine that was simulated, and what a GPU of it sends in all dimensions together. */
static enum orr_status calib_session_take_machine(struct calib_session *session, struct orr_calib_options *options,
                                                  struct orr_error *err)
{
    const struct orr_run_options said = {.machine = options->machine, .bandwidth = options->bandwidth};
    struct run_machine machine;
    struct run_quantities rates;
    struct run_quantities times;
    enum orr_status status = run_machine_read(options->machine, &said, &session->arena, &machine, &rates, &times, err);
    uint32_t told = status == ORR_OK ? run_machine_told(&machine) : 0;
    if (status == ORR_OK && told == 0 && options->ranks == 0) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'machine': %.80s leaves open how many ranks it has; parameter 'ranks' N says it",
                         options->machine);
    }
    if (status == ORR_OK && told != 0 && options->ranks != 0 && told != options->ranks) {
        return error_set(err, ORR_EINVAL, "parameter 'ranks' %" PRIu32 ": %.80s has %" PRIu32, options->ranks,
                         options->machine, told);
    }
    if (status == ORR_OK) {
        options->ranks = told != 0 ? told : options->ranks;
        status = run_machine_lay_out(&machine, options->ranks, &session->arena, &rates, &times, err);
    }
    if (status != ORR_OK || machine.kind == RUN_MACHINE_FILE || !has_steps(options)) {
        return status;
    }
    uint64_t bps = 0;
    for (uint32_t i = 0; i < rates.count; i++) {
        bps += rates.value[i];
    }
    options->bandwidth = arena_printf(&session->arena, "%" PRIu64 "bps", bps);
    return options->bandwidth != NULL ? ORR_OK : mem_error(&session->mem, "a calibration", err);
}

/* What the options say goes before what the run says. */
static enum orr_status take_sim_options(struct fitting *f)
{
    const struct orr_calib_options *options = f->options;
    struct calib_sim *sim = &f->question.sim;
    double rate = NAN;
    enum orr_status status = quantity(f, "parameter 'bandwidth'", options->bandwidth, UNITS_RATE, 1e9, &rate);
    uint64_t steps = options->steps != 0 ? options->steps : options->sim_steps != 0 ? options->sim_steps : sim->steps;
    sim->steps = options->sim_steps != 0 ? options->sim_steps : sim->steps;
    sim->bandwidth_gbps = isnan(rate) ? sim->bandwidth_gbps : rate;
    sim->ranks = options->ranks != 0 ? options->ranks : sim->ranks;
    if (options->sim_wall_ns != 0) {
        sim->wall_ns = (double)options->sim_wall_ns;
        sim->comm_ns = given_ns(options->sim_comm_ns);
        sim->gpu_ns = given_ns(options->sim_gpu_ns);
    }
    if (options->collectives != 0) {
        sim->collectives = (double)options->collectives * (double)steps;
    }
    if (status == ORR_OK && options->comm_bytes != 0) {
        if (sim->ranks < 2) {
            return error_set(f->err, ORR_EINVAL,
                             "parameter 'comm-bytes' needs parameter 'ranks' N, at least 2: how many share them");
        }
        sim->bus_bytes = coll_bus_factor(COLL_ALL_REDUCE, sim->ranks) * (double)options->comm_bytes * (double)steps;
    }
    return status;
}

static enum orr_status read_sim(struct fitting *f)
{
    const struct orr_calib_options *options = f->options;
    struct lab_store *store = NULL;
    enum orr_status status = ORR_OK;
    if (options->has_run) {
        status = lab_store_open(options->store, IO_DATABASE_READ, &store, f->err);
        if (status == ORR_OK) {
            status = calib_sim_read(store, options->run, &f->session->arena, &f->question.sim, f->err);
        }
        lab_store_close(store);
    }
    return status == ORR_OK ? take_sim_options(f) : status;
}

/* ---- the measured side ---- */

static enum orr_status calib_session_read_measured(struct fitting *f)
{
    const struct orr_calib_options *options = f->options;
    struct arena *arena = &f->session->arena;
    size_t count = options->measured_count;
    struct calib_measured *files = arena_alloc(arena, (count + 1) * sizeof *files);
    enum orr_status status = files == NULL ? mem_error(arena->mem, "measured steps", f->err)
                             : count > INT32_MAX
                                 ? error_set(f->err, ORR_ERANGE, "%zu files of measured steps are too many", count)
                                 : ORR_OK;
    for (size_t i = 0; status == ORR_OK && i < count; i++) {
        status = calib_measured_read(options->measured[i], arena, &f->session->notes, &files[i], f->err);
    }
    f->question.files = files;
    f->question.file_count = (uint32_t)count;
    return status;
}

/* "device_0.json.gz, training_0.json", cut where it grows long. */
static const char *name_sources(struct fitting *f)
{
    enum { SHOWN = 8 };
    const struct orr_calib_options *options = f->options;
    size_t count = options->measured_count + options->bench_count;
    const char *text = count == 0 ? "given" : "";
    for (size_t i = 0; i < count && i < SHOWN && text != NULL; i++) {
        const char *path =
            i < options->measured_count ? options->measured[i] : options->bench[i - options->measured_count];
        const char *slash = strrchr(path, '/');
        text = arena_printf(&f->session->arena, "%s%s%s", text, i == 0 ? "" : ", ", slash != NULL ? slash + 1 : path);
    }
    return count > SHOWN && text != NULL ? arena_printf(&f->session->arena, "%s and %zu more", text, count - SHOWN)
                                         : text;
}

/* ---- the network ---- */

static double calib_session_known(const struct calib_number *number)
{
    return number->known && number->value > 0 ? number->value : (double)NAN;
}

static enum orr_status refuse_number(struct fitting *f, const char *what, const struct calib_number *number)
{
    return !number->known || number->accepted || number->reason == NULL
               ? ORR_OK
               : notes_add(&f->session->notes, f->err, "%s is fitted but not believed: %s", what, number->reason);
}

static enum orr_status fit_network(struct fitting *f, struct calib *calib)
{
    const struct orr_calib_options *options = f->options;
    struct mem *mem = &f->session->mem;
    struct calib_points points = {0};
    struct calib_network *network = arena_zalloc(&f->session->arena, sizeof *network);
    struct calib_read_options reading;
    struct calib_network_options how;
    if (network == NULL) {
        return mem_error(mem, "a calibration", f->err);
    }
    enum orr_status status = calib_bench_options(options, &reading, &how, f->err);
    for (size_t i = 0; status == ORR_OK && i < options->bench_count; i++) {
        struct calib_read_result got;
        status = calib_read(options->bench[i], &reading, mem, &f->session->notes, &points, &got, f->err);
    }
    if (status == ORR_OK) {
        how.overhead_given = !isnan(f->launch_us);
        how.overhead_us = isnan(f->launch_us) ? 0 : f->launch_us;
        status = calib_network_fit(&points, &how, &f->session->arena, &f->session->notes, network, f->err);
    }
    calib_points_free(&points, mem);
    status = status != ORR_OK ? status : refuse_number(f, "the bandwidth of a link", &network->link_gbytes_per_s);
    status = status != ORR_OK ? status : refuse_number(f, "the latency of a link", &network->link_latency_us);
    if (status == ORR_OK) {
        double rate = calib_session_known(&network->link_gbytes_per_s);
        calib->link_gbps = 8 * (isnan(rate) ? calib_session_known(&network->peer_gbytes_per_s) : rate);
        calib->link_latency_us = calib_session_known(&network->link_latency_us);
        calib->launch_us = isnan(f->launch_us) ? calib_session_known(&network->overhead_us) : f->launch_us;
        calib->memory_gbytes_ps = calib_session_known(&network->memory_gbytes_per_s);
        f->session->network = network;
    }
    return status;
}

/* ---- all of it ---- */

/* Of a calibration without steps: whether what it has for a link is to be believed. */
static bool is_believed(const struct calib_network *network)
{
    const struct calib_number *numbers[] = {&network->link_gbytes_per_s, &network->link_latency_us,
                                            &network->peer_gbytes_per_s, &network->memory_gbytes_per_s};
    bool fine = true;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        fine = fine && (!numbers[i]->known || numbers[i]->accepted);
    }
    return fine;
}

enum orr_status calib_session_fit(struct calib_session *session, const struct orr_calib_options *options,
                                  struct calib *calib, struct orr_error *err)
{
    struct orr_calib_options own = *options;
    struct fitting f = {.session = session, .options = &own, .launch_us = NAN, .err = err};
    struct calib made = calib_none();
    enum orr_status status = own.machine != NULL ? calib_session_take_machine(session, &own, err) : ORR_OK;
    status = status != ORR_OK ? status : calib_session_check_options(&f);
    status = status != ORR_OK ? status : calib_session_read_options(&f);
    if (status == ORR_OK && has_steps(options)) {
        status = read_sim(&f);
        status = status != ORR_OK ? status : calib_session_read_measured(&f);
        status = status != ORR_OK ? status : calib_steps_fit(&f.question, &session->arena, &made, err);
    }
    made.launch_us = isnan(f.launch_us) ? made.launch_us : f.launch_us;
    if (status == ORR_OK && options->bench_count > 0) {
        status = fit_network(&f, &made);
    }
    if (status == ORR_OK) {
        made.source = name_sources(&f);
        made.tag = options->tag != NULL ? options->tag : made.tag;
        made.accepted = has_steps(options) ? made.accepted : is_believed(session->network);
        status = made.source == NULL ? mem_error(&session->mem, "a calibration", err) : ORR_OK;
    }
    if (status == ORR_OK) {
        *calib = made;
    }
    return status;
}

enum orr_status calib_session_keep(struct calib_session *session, const char *path, const struct calib *calib,
                                   int64_t *id, struct orr_error *err)
{
    char verdict[160];
    struct lab_store *store = NULL;
    (void)session;
    const struct lab_calibration row = {.run = calib->run,
                                        .tag = calib->tag,
                                        .topology = calib->topology,
                                        .source = calib->source,
                                        .flags = calib_report_flags(calib),
                                        .notes = calib_report_verdict(calib, verdict, sizeof verdict),
                                        .alpha_us = calib->alpha / 1e3,
                                        .alpha_comm_us = calib->alpha_comm / 1e3,
                                        .alpha_gpu_us = calib->alpha_gpu / 1e3,
                                        .real_step_ms = calib->real.step_ms,
                                        .real_comm_ms = calib->real.comm_ms,
                                        .real_kernel_ms = calib->kernel_ms,
                                        .sim_step_ms = calib->sim.step_ms,
                                        .sim_comm_ms = calib->sim.comm_ms,
                                        .sim_gpu_ms = calib->sim.gpu_ms,
                                        .lower_bound_ms = calib->lower_bound_ms,
                                        .iqr = calib->iqr_ms / calib->real.step_ms,
                                        .samples = calib->samples,
                                        .steps = calib->sim_steps,
                                        .world = calib->ranks,
                                        .accepted = calib->accepted};
    enum orr_status status = lab_store_open(path, IO_DATABASE_WRITE, &store, err);
    if (status == ORR_OK) {
        status = lab_store_calibrate(store, &row, id, err);
    }
    lab_store_close(store);
    return status;
}

/* A factor that no run should take, whoever wrote it. */
static enum orr_status check_factor(const char *path, const char *name, double factor, double least, double most,
                                    struct orr_error *err)
{
    return isnan(factor) || (factor >= least && factor <= most)
               ? ORR_OK
               : error_set(err, ORR_EINVAL, "%s: \"%s\" is %g; plausible, and accepted, are %g to %g", path, name,
                           factor, least, most);
}

enum orr_status calib_session_read(struct calib_session *session, const char *path, struct calib *calib,
                                   struct orr_error *err)
{
    char verdict[160];
    enum orr_status status = calib_file_read(path, &session->arena, calib, err);
    if (status == ORR_OK) {
        status = check_factor(path, "host_factor", calib->host_factor, CALIB_HOST_LEAST, CALIB_HOST_MOST, err);
    }
    if (status == ORR_OK) {
        status =
            check_factor(path, "compute_scale", calib->compute_scale, CALIB_COMPUTE_LEAST, CALIB_COMPUTE_MOST, err);
    }
    if (status == ORR_OK && !calib->accepted) {
        status = notes_add(&session->notes, err, "%s: the calibration was %s", path,
                           calib_report_verdict(calib, verdict, sizeof verdict));
    }
    return status;
}

void calib_tune(const struct calib *calib, struct orr_tuning *tuning)
{
    if (tuning->compute_scale == 0 && calib->compute_scale > 0) {
        tuning->compute_scale = calib->compute_scale;
    }
    if (tuning->host_scale == 0 && calib->host_factor > 0) {
        tuning->host_scale = calib->host_factor;
    }
    if (tuning->launch_ns == 0 && calib->launch_us > 0 && calib->launch_us < 1e12) {
        tuning->launch_ns = (uint64_t)(calib->launch_us * 1e3 + 0.5);
    }
}
