/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated time grows with the factor, though in steps and not everywhere: halving finds it. The traces are read
 * once for all runs. Where ranks do not state the order of their collectives, a faster host may bring them out of step:
 * a factor at which the run stalls is too small, and no reason to give up what was fitted before.
 */
#include "calib/host.h"

#include <math.h>

struct searching {
    struct orr_run_options run;
    struct calib *calib;
    double best_factor, best_ms;
    struct orr_error *err;
};

static enum orr_status step_at(struct searching *s, double factor, double *step_ms)
{
    struct orr_run *run = NULL;
    s->run.tuning.host_scale = factor;
    enum orr_status status = orr_run_open(&s->run, &run, s->err);
    status = status != ORR_OK ? status : orr_run_execute(run, s->err);
    if (status == ORR_ESTALL && factor < 1) {
        *step_ms = 0;
        status = ORR_OK;
    } else if (status == ORR_OK) {
        double target = s->calib->untraced_ms;
        *step_ms = (double)orr_run_time_ns(run) / 1e6 / (double)s->calib->sim_steps;
        if (isnan(s->best_ms) || fabs(*step_ms - target) < fabs(s->best_ms - target)) {
            s->best_ms = *step_ms;
            s->best_factor = factor;
        }
    }
    orr_run_close(run);
    return status;
}

static enum orr_status calib_host_search(struct searching *s)
{
    enum { TRIES = 12 };
    const double near = 1e-3; /* of a step: far below what measured ones differ by */
    double target = s->calib->untraced_ms;
    double low = 1.0 / 1024;
    double high = 1;
    double least_ms = 0;
    double most_ms = 0;
    enum orr_status status = step_at(s, low, &least_ms);
    status = status != ORR_OK ? status : step_at(s, high, &most_ms);
    if (status != ORR_OK || least_ms >= target || most_ms <= target) {
        return status; /* it cannot be met, and the nearer of both ends is kept */
    }
    for (int i = 0; status == ORR_OK && i < TRIES && fabs(s->best_ms / target - 1) > near; i++) {
        double middle = (low + high) / 2;
        double step_ms = 0;
        status = step_at(s, middle, &step_ms);
        low = step_ms < target ? middle : low;
        high = step_ms < target ? high : middle;
    }
    return status;
}

enum orr_status calib_host_fit(const struct orr_run_options *run, struct calib *calib, struct orr_error *err)
{
    struct orr_workload *loaded = NULL;
    struct searching s = {.run = *run, .calib = calib, .best_factor = NAN, .best_ms = NAN, .err = err};
    enum orr_status status = orr_workload_open(run->workload, run->missing_is_cpu, run->memory_limit, &loaded, err);
    s.run.loaded = loaded;
    s.run.progress = NULL;
    status = status != ORR_OK ? status : calib_host_search(&s);
    orr_workload_close(loaded);
    if (status == ORR_OK) {
        calib->host_factor = s.best_factor;
        calib->sim_untraced_ms = s.best_ms;
    }
    return status;
}
