/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With failures at rate r, a segment of work t and its checkpoint d is done after (e^(r(t+d)) - 1) e^(rR) / r in the
 * mean, failures while restarting (R) included. What is best for t is where that, divided by t, is least: (1 - rt)
 * e^(rt) = e^(-rd), which one number solves. Of that time the share 1 - e^(-rR) is restarts, whatever the interval.
 *
 * Broken nodes are repaired side by side; with s spares the job waits when s + 1 are broken, and nothing breaks
 * meanwhile. That is the queue whose blocking Erlang worked out, with s + 1 lines and a load of rate times repair.
 */
#include <inttypes.h>
#include <math.h>

#include "base/error.h"
#include "orrery.h"

void orr_goodput_options_init(struct orr_goodput_options *options)
{
    *options = (struct orr_goodput_options){.gpus_per_node = 8, .bytes_per_parameter = 14};
}

/* Failures a nanosecond. */
static double failure_rate(const struct orr_goodput_options *options)
{
    double nodes = ceil((double)options->gpus / (double)options->gpus_per_node);
    double rate = options->gpu_mtbf_ns > 0 ? (double)options->gpus / (double)options->gpu_mtbf_ns : 0.0;
    return rate + (options->node_mtbf_ns > 0 ? nodes / (double)options->node_mtbf_ns : 0.0);
}

static double erlang_blocking(uint64_t lines, double load)
{
    double blocked = 1.0;
    for (uint64_t n = 1; n <= lines; n++) {
        blocked = load * blocked / ((double)n + load * blocked);
    }
    return blocked;
}

struct goodput_job {
    double rate;  /* of failures, 1/ns */
    double write; /* of a checkpoint, ns */
    double restart;
    double waiting; /* share of time */
};

static struct orr_goodput_shares shares_at(const struct goodput_job *job, double interval)
{
    double more = expm1(job->rate * (interval + job->write)) * exp(job->rate * job->restart);
    double segment = more / job->rate; /* not counting waits */
    double running = 1.0 - job->waiting;
    double restarts = -expm1(-job->rate * job->restart);
    struct orr_goodput_shares shares = {.interval_ns = (uint64_t)(interval + 0.5),
                                        .goodput = running * interval / segment,
                                        .checkpoints = running * job->write / segment,
                                        .restarts = running * restarts,
                                        .repairs = job->waiting};
    double rest = 1.0 - shares.goodput - shares.checkpoints - shares.restarts - shares.repairs;
    shares.lost_work = rest > 0.0 ? rest : 0.0; /* but for rounding it is never less */
    return shares;
}

/* -ln((1 - x) e^x), by its series where the two logarithms would cancel. */
static double best_measure(double x)
{
    double sum = 0.0;
    double power = x;
    if (x > 0.1) {
        return -(log1p(-x) + x);
    }
    for (int k = 2; k <= 20; k++) {
        power *= x;
        sum += power / k;
    }
    return sum;
}

/* x with (1 - x) e^x = e^(-rate * write): the left side falls from 1 to 0 between 0 and 1. */
static double best_interval(const struct goodput_job *job)
{
    double low = 0.0;
    double high = 1.0;
    double want = job->rate * job->write;
    for (int i = 0; i < 200 && low < high; i++) {
        double x = (low + high) / 2.0;
        bool below = best_measure(x) < want;
        if (x <= low || x >= high) {
            break;
        }
        *(below ? &low : &high) = x;
    }
    return high / job->rate;
}

/* Whole steps: the better of the two beside it, for the share has one summit. */
static struct orr_goodput_shares best_shares(const struct goodput_job *job, uint64_t step_ns)
{
    double best = best_interval(job);
    if (step_ns == 0) {
        return shares_at(job, best);
    }
    double step = (double)step_ns;
    double below = floor(best / step) * step;
    struct orr_goodput_shares longer = shares_at(job, below + step);
    if (below <= 0.0) {
        return longer;
    }
    struct orr_goodput_shares shorter = shares_at(job, below);
    return shorter.goodput >= longer.goodput ? shorter : longer;
}

static double daly_interval(const struct goodput_job *job)
{
    double mean = 1.0 / job->rate;
    double part = job->write / (2.0 * mean);
    return part < 1.0 ? sqrt(2.0 * job->write * mean) * (1.0 + sqrt(part) / 3.0 + part / 9.0) - job->write : mean;
}

static enum orr_status find_checkpoint(const struct orr_goodput_options *options, struct orr_goodput *result,
                                       struct orr_error *err)
{
    uint64_t bytes = options->checkpoint_bytes;
    if (options->model != NULL && bytes > 0) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'model' and parameter 'checkpoint-bytes' both say how large a "
                         "checkpoint is");
    }
    if (options->model != NULL) {
        struct orr_train_model model;
        struct orr_train_parameters parameters;
        enum orr_status status = orr_train_model_find(options->model, &model, err);
        if (status != ORR_OK) {
            return status;
        }
        orr_train_model_count(&model, &parameters);
        bytes = (uint64_t)((double)parameters.total * options->bytes_per_parameter);
    }
    bool rated = options->checkpoint_gbytes_per_s > 0;
    if (options->checkpoint_ns > 0 && (bytes > 0 || rated)) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'checkpoint-time' goes without bytes and rate, which say the same");
    }
    if (options->checkpoint_ns == 0 && (bytes == 0 || !rated)) {
        return error_set(err, ORR_EINVAL,
                         "how long does a checkpoint take? parameter 'checkpoint-time', or parameter '%s' too",
                         rated ? "model' or 'checkpoint-bytes" : "checkpoint-rate");
    }
    double ns =
        options->checkpoint_ns > 0 ? (double)options->checkpoint_ns : (double)bytes / options->checkpoint_gbytes_per_s;
    if (!(ns >= 1.0 && ns < 1e18)) {
        return error_set(err, ORR_ERANGE, "a checkpoint of %" PRIu64 " bytes would take %g s", bytes, ns / 1e9);
    }
    result->checkpoint_bytes = bytes;
    result->checkpoint_ns = (uint64_t)(ns + 0.5);
    return ORR_OK;
}

static enum orr_status goodput_check(const struct orr_goodput_options *options, const struct goodput_job *job,
                                     struct orr_error *err)
{
    if (options->spares > 0 && options->repair_ns == 0) {
        return error_set(err, ORR_EINVAL, "parameter 'spares' needs parameter 'repair', the time a node is away");
    }
    if (options->step_ns > 0 && options->interval_ns > 0 && options->interval_ns % options->step_ns != 0) {
        return error_set(err, ORR_EINVAL, "parameter 'interval' is not a whole number of steps of parameter 'step'");
    }
    if (job->rate * (job->write + job->restart) > 100.0) {
        return error_set(err, ORR_ERANGE,
                         "the job fails every %.3g s, and a checkpoint and a restart take %.3g: it makes no progress",
                         1e-9 / job->rate, (job->write + job->restart) / 1e9);
    }
    return ORR_OK;
}

enum orr_status orr_goodput_find(const struct orr_goodput_options *options, struct orr_goodput *result,
                                 struct orr_error *err)
{
    if (options->gpus == 0 || options->gpus_per_node == 0) {
        return error_set(err, ORR_EINVAL, "missing parameter 'gpus' N (GPUs of the job)");
    }
    struct goodput_job job = {.rate = failure_rate(options), .restart = (double)options->restart_ns};
    if (job.rate <= 0.0) {
        return error_set(err, ORR_EINVAL,
                         "nothing fails: give parameter 'gpu-mtbf' or parameter 'node-mtbf', the mean time between "
                         "failures of one GPU or node");
    }
    struct orr_goodput found = {.failure_ns = (uint64_t)(1.0 / job.rate + 0.5)};
    enum orr_status status = find_checkpoint(options, &found, err);
    job.write = (double)found.checkpoint_ns;
    status = status == ORR_OK ? goodput_check(options, &job, err) : status;
    if (status != ORR_OK) {
        return status;
    }
    if (options->repair_ns > 0) {
        uint64_t lines = options->spares < 1000000 ? options->spares + 1 : 1000000;
        job.waiting = erlang_blocking(lines, job.rate * (double)options->repair_ns);
    }
    found.best = best_shares(&job, options->step_ns);
    found.young = shares_at(&job, sqrt(2.0 * job.write / job.rate));
    found.daly = shares_at(&job, daly_interval(&job));
    if (options->interval_ns > 0) {
        if ((double)options->interval_ns * job.rate > 600.0) {
            return error_set(err, ORR_ERANGE,
                             "parameter 'interval' is %.3g times what passes between two failures: no work is ever "
                             "saved",
                             (double)options->interval_ns * job.rate);
        }
        found.given = shares_at(&job, (double)options->interval_ns);
    }
    *result = found;
    return ORR_OK;
}
