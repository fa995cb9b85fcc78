/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two jobs are alike by a kernel that falls with their distance in logarithms of what they are, and with where their
 * time goes. The weights and spreads below were chosen by leaving whole cells, and whole sources, out of data/runs
 * (docs/train.md); they are the same for all frameworks. Of all runs the `NEIGHBOURS_ASKED` most alike are asked, so
 * that an answer costs one small system of equations.
 */
#include "train/neighbours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/train.h"
#include "train/framework.h"
#include "train/runs.h"

enum { NEIGHBOURS_ASKED = 64 };

/* ---- jobs ---- */

/* What a job is, as numbers: name, weight of its squared difference, value */
#define NEIGHBOURS_FEATURES(X)                                                                                         \
    X(SIZE, 0.285, 0.5 * job_log2((double)model->layers * model->hidden * model->hidden))                              \
    X(HIDDEN, 0.1155, job_log2(model->hidden))                                                                         \
    X(GPUS, 0.18, job_log2(plan->gpus))                                                                                \
    X(TP, 0.006, job_log2(plan->tp))                                                                                   \
    X(PP, 1.5, job_log2(plan->pp))                                                                                     \
    X(CP, 0.93, job_log2(plan->cp))                                                                                    \
    X(EP, 0.123, job_log2(plan->ep))                                                                                   \
    X(DP, 0.0003, job_log2(plan->dp))                                                                                  \
    X(MICRO_BATCH, 0.24, job_log2(plan->micro_batch))                                                                  \
    X(SEQ, 3, job_log2(plan->seq))                                                                                     \
    X(GLOBAL_BATCH, 0.00075, job_log2(plan->global_batch))                                                             \
    X(ZERO, 0.0048, plan->zero < 2 ? plan->zero : 2)                                                                   \
    X(RECOMPUTE, 0.015, (double)plan->recompute)                                                                       \
    X(CHUNKS, 0.0435, job_log2(plan->vpp))                                                                             \
    X(EXPERTS, 0.0018, job_log2(model->experts + 1.0))                                                                 \
    X(COMM, 0.0015, job_share(result, result->exposed_comm_ns))                                                        \
    X(BUBBLE, 0.0018, job_share(result, result->bubble_ns))                                                            \
    X(LAUNCH, 10.05, job_share(result, result->launch_ns))                                                             \
    X(GRAPHS, 6, plan->cuda_graphs)

enum job_feature {
#define FEATURE_X(name, weight, value) JOB_##name,
    NEIGHBOURS_FEATURES(FEATURE_X)
#undef FEATURE_X
        JOB_FEATURES
};

/* Standard deviations, in ln: of what a device and dtype share, of what a network shares, of the rest; of a run
 * measured again, and of one of quality C: those are small jobs that wait for the host, on machines that are inferred,
 * and equal ones differ by that much. And how alike jobs are on different devices, on different networks. */
static const double spread_device = 0.0045, spread_network = 0.002, spread_job = 0.15, spread_again = 0.03;
static const double spread_again_c = 0.15;
static const double alike_devices = 0.8, alike_networks = 0.6;
/* How many runs the spreads above are worth against what the runs asked say of their own spread, each as much as it is
 * alike; and how many variances one of them may be off. */
static const double spread_trust = 16, spread_most = 9;

struct job {
    double at[JOB_FEATURES];
    const char *framework, *device, *interconnect;
    enum orr_train_dtype dtype;
};

static double job_log2(double value)
{
    return value > 1 ? log2(value) : 0;
}

static double job_share(const struct orr_train_result *result, uint64_t part)
{
    return result->step_ns > 0 ? 4.0 * (double)part / (double)result->step_ns : 0;
}

static struct job job_of(const struct orr_train_result *result, const char *interconnect)
{
    const struct orr_train_model *model = &result->model;
    const struct orr_train_plan *plan = &result->plan;
    struct job job = {.framework = result->framework,
                      .device = result->device,
                      .interconnect = interconnect != NULL ? interconnect : "",
                      .dtype = plan->dtype};
#define FEATURE_X(name, weight, value) job.at[JOB_##name] = (value);
    NEIGHBOURS_FEATURES(FEATURE_X)
#undef FEATURE_X
    return job;
}

static double job_covariance(const struct job *a, const struct job *b)
{
    static const double weights[] = {
#define FEATURE_X(name, weight, value) weight,
        NEIGHBOURS_FEATURES(FEATURE_X)
#undef FEATURE_X
    };
    double distance = 0;
    for (int i = 0; i < JOB_FEATURES; i++) {
        double apart = a->at[i] - b->at[i];
        distance += weights[i] * apart * apart;
    }
    bool device = strcmp(a->device, b->device) == 0 && a->dtype == b->dtype;
    bool network = strcmp(a->interconnect, b->interconnect) == 0;
    double near = spread_job * spread_job * exp(-sqrt(distance));
    return (device ? spread_device * spread_device : 0) + (network ? spread_network * spread_network : 0) +
           near * (device ? 1 : alike_devices) * (network ? 1 : alike_networks);
}

/* ---- runs ---- */

struct neighbour {
    struct job job;
    double time, memory; /* ln(measured / predicted); memory NAN: not measured */
    double again;        /* variance of the same measured again */
    struct neighbours_self self;
};

enum { NEIGHBOURS_FILES = 4 };

struct neighbours {
    struct mem mem;
    struct runs files[NEIGHBOURS_FILES]; /* of runs_shipped; those that did not run stay empty */
    struct neighbour *known;
    uint32_t count, capacity;
};

static bool neighbour_is_of(const struct runs *runs, const struct runs_row *row, const void *framework)
{
    const struct framework *found = NULL;
    const char *name = runs_text(runs, row, "framework");
    return framework_find(name, &found, NULL) == ORR_OK && (framework == NULL || strcmp(found->name, framework) == 0);
}

/* What is off by more than this factor has a cause that is no matter of degree. */
static double neighbour_off(double measured, double predicted)
{
    double off = log(measured / predicted);
    return off > 0.9 ? 0.9 : off < -0.9 ? -0.9 : off;
}

static struct neighbour neighbour_of(const struct runs *runs, const struct runs_row *row)
{
    double memory = (double)row->result.memory.total * 1e-9;
    double again = strcmp(runs_field(runs, row, RUNS_QUALITY), "C") == 0 ? spread_again_c : spread_again;
    return (struct neighbour){.job = job_of(&row->result, runs_text(runs, row, "interconnect")),
                              .time = neighbour_off(row->measured_s, (double)row->result.step_ns * 1e-9),
                              .memory = row->measured_gb > 0 ? neighbour_off(row->measured_gb, memory) : NAN,
                              .again = again * again,
                              .self = runs_self(runs, row)};
}

static enum orr_status neighbours_take(struct neighbours *made, const struct runs *runs, struct orr_error *err)
{
    void *known = made->known;
    if (!mem_reserve(&made->mem, &known, &made->capacity, (uint64_t)made->count + runs->row_count,
                     sizeof *made->known)) {
        return mem_error(&made->mem, "the measured runs", err);
    }
    made->known = known;
    for (uint32_t i = 0; i < runs->row_count; i++) {
        const struct runs_row *row = &runs->rows[i];
        if (row->is_predicted && row->measured_s > 0 && row->result.step_ns > 0) {
            made->known[made->count++] = neighbour_of(runs, row);
        }
    }
    return ORR_OK;
}

static enum orr_status neighbours_fill(struct neighbours *made, struct predict_data *data, const char *framework,
                                       uint32_t threads, struct orr_error *err)
{
    struct orr_train_options defaults;
    struct runs_request request = {
        .defaults = &defaults, .data = data, .threads = threads, .want = neighbour_is_of, .context = framework};
    enum orr_status status = ORR_OK;
    orr_train_options_init(&defaults);
    for (uint32_t i = 0; i < runs_shipped_count && i < NEIGHBOURS_FILES && status == ORR_OK; i++) {
        const struct runs_shipped *file = &runs_shipped[i];
        if (strstr(file->name, "failed") != NULL) {
            continue;
        }
        status = runs_read_text(&made->files[i], file->name, file->bytes, (size_t)(file->end - file->bytes), err);
        if (status == ORR_OK) {
            status = runs_predict(&made->files[i], &request, err);
        }
        if (status == ORR_OK) {
            status = neighbours_take(made, &made->files[i], err);
        }
    }
    return status;
}

enum orr_status neighbours_open(struct predict_data *data, const char *framework, uint32_t threads,
                                struct neighbours **neighbours, struct orr_error *err)
{
    struct neighbours *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return error_set(err, ORR_ENOMEM, "no memory for the measured runs");
    }
    for (int i = 0; i < NEIGHBOURS_FILES; i++) {
        runs_init(&made->files[i], &made->mem);
    }
    enum orr_status status = neighbours_fill(made, data, framework, threads, err);
    if (status != ORR_OK) {
        neighbours_close(made);
        return status;
    }
    *neighbours = made;
    return ORR_OK;
}

void neighbours_close(struct neighbours *neighbours)
{
    if (neighbours != NULL) {
        mem_free(&neighbours->mem, neighbours->known, neighbours->capacity * sizeof *neighbours->known);
        for (int i = 0; i < NEIGHBOURS_FILES; i++) {
            runs_free(&neighbours->files[i]);
        }
        free(neighbours);
    }
}

/* ---- asking ---- */

/* The runs asked, most alike first; and room for the equations. */
struct circle {
    const struct neighbour *runs[NEIGHBOURS_ASKED];
    double alike[NEIGHBOURS_ASKED];
    uint32_t count;
    double factor[NEIGHBOURS_ASKED][NEIGHBOURS_ASKED]; /* lower triangle */
    double solved[NEIGHBOURS_ASKED], values[NEIGHBOURS_ASKED];
};

/* Whatever its source: one job is published more than once, and its twin would give the answer away. */
static bool neighbour_is_in_cell(const struct neighbour *run, const struct neighbours_self *self)
{
    return self != NULL && ((strcmp(run->self.model, self->model) == 0 && strcmp(run->self.gpus, self->gpus) == 0) ||
                            (self->whole_source && strcmp(run->self.source, self->source) == 0));
}

/* `self`, where it is one of the runs; else NULL. */
static const struct neighbours_self *neighbours_known(const struct neighbours *neighbours,
                                                      const struct neighbours_self *self)
{
    for (uint32_t i = 0; self != NULL && self->id[0] != '\0' && i < neighbours->count; i++) {
        if (strcmp(neighbours->known[i].self.id, self->id) == 0) {
            return self;
        }
    }
    return NULL;
}

static void circle_add(struct circle *circle, const struct neighbour *run, double alike)
{
    uint32_t at = circle->count < NEIGHBOURS_ASKED ? circle->count++ : NEIGHBOURS_ASKED - 1;
    for (; at > 0 && circle->alike[at - 1] < alike; at--) {
        circle->alike[at] = circle->alike[at - 1];
        circle->runs[at] = circle->runs[at - 1];
    }
    circle->alike[at] = alike;
    circle->runs[at] = run;
}

static void circle_find(struct circle *circle, const struct neighbours *neighbours, const struct job *job,
                        const struct neighbours_self *left_out, bool with_memory)
{
    circle->count = 0;
    for (uint32_t i = 0; i < neighbours->count; i++) {
        const struct neighbour *run = &neighbours->known[i];
        if (strcmp(run->job.framework, job->framework) != 0 || neighbour_is_in_cell(run, left_out) ||
            (with_memory && isnan(run->memory))) {
            continue;
        }
        double alike = job_covariance(job, &run->job);
        if (circle->count < NEIGHBOURS_ASKED || alike > circle->alike[NEIGHBOURS_ASKED - 1]) {
            circle_add(circle, run, alike);
        }
    }
}

/* Cholesky's factor of the runs' covariances; they are never singular, since each run has its own spread besides. */
static void circle_factor(struct circle *circle)
{
    for (uint32_t i = 0; i < circle->count; i++) {
        for (uint32_t j = 0; j <= i; j++) {
            double sum = job_covariance(&circle->runs[i]->job, &circle->runs[j]->job);
            sum += i == j ? circle->runs[i]->again : 0;
            for (uint32_t k = 0; k < j; k++) {
                sum -= circle->factor[i][k] * circle->factor[j][k];
            }
            circle->factor[i][j] = i == j ? sqrt(sum) : sum / circle->factor[j][j];
        }
    }
}

/* What is to be added to ln(predicted), and its variance left; the factor is made. */
static double circle_answer(struct circle *circle, const struct job *job, double *variance)
{
    double *rest = circle->solved, answer = 0, known = 0, again = 0, all = 0;
    double self = job_covariance(job, job), off = spread_trust, count = spread_trust;
    for (uint32_t i = 0; i < circle->count; i++) { /* what measures it will spread as those did that are like it */
        again += circle->alike[i] * circle->runs[i]->again;
        all += circle->alike[i];
    }
    for (uint32_t i = 0; i < circle->count; i++) { /* both sides through the factor once: their product is the answer */
        double alike = circle->alike[i], value = circle->values[i], share = alike / self;
        for (uint32_t k = 0; k < i; k++) {
            alike -= circle->factor[i][k] * rest[k];
            value -= circle->factor[i][k] * circle->values[k];
        }
        rest[i] = alike / circle->factor[i][i];
        value = circle->values[i] = value / circle->factor[i][i];
        answer += rest[i] * value;
        known += rest[i] * rest[i];
        off += share * fmin(value * value, spread_most); /* 1 in the mean, where runs spread as they are thought to */
        count += share;
    }
    *variance = (fmax(self - known, 0) + (all > 0 ? again / all : 0)) * off / count;
    return answer;
}

/* ---- moving a result ---- */

static void result_scale_time(struct orr_train_result *result, double factor)
{
#define PART_X(key, name, field) &result->field,
    uint64_t *const parts[] = {REPORT_TRAIN_PARTS(PART_X)};
#undef PART_X
    uint64_t before = result->step_ns;
    result->step_ns = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        *parts[i] = (uint64_t)llround((double)*parts[i] * factor);
        result->step_ns += *parts[i];
    }
    result->exposed_comm_ns = result->exposed_tp_ns + result->exposed_cp_ns + result->exposed_ep_ns +
                              result->exposed_pp_ns + result->exposed_dp_ns;
    double speed = result->step_ns > 0 ? (double)before / (double)result->step_ns : 1;
    double *const rates[] = {&result->tokens_per_s,
                             &result->tokens_per_s_per_gpu,
                             &result->tflops_per_gpu,
                             &result->hardware_tflops_per_gpu,
                             &result->mfu,
                             &result->hfu};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        *rates[i] *= speed;
    }
}

/* Weights, gradients and states are known by counting; what is off lies in the rest. */
static void result_scale_memory(struct orr_train_memory *memory, double factor)
{
    double sure = (double)(memory->weights + memory->gradients + memory->optimizer);
    double rest = (double)(memory->activations + memory->buffers + memory->fragmentation);
    double wanted = factor * (sure + rest) - sure;
    if (rest <= 0 || wanted < 0.1 * rest) {
        return;
    }
    memory->activations = (uint64_t)((double)memory->activations * wanted / rest);
    memory->buffers = (uint64_t)((double)memory->buffers * wanted / rest);
    memory->fragmentation = (uint64_t)((double)memory->fragmentation * wanted / rest);
    memory->total = memory->weights + memory->gradients + memory->optimizer + memory->activations + memory->buffers +
                    memory->fragmentation;
    memory->fits = memory->total - memory->fragmentation <= memory->device;
}

static void result_name_nearest(struct orr_train_result *result, const struct circle *circle)
{
    uint32_t most = sizeof result->nearest / sizeof result->nearest[0];
    result->nearest_count = circle->count < most ? circle->count : most;
    for (uint32_t i = 0; i < result->nearest_count; i++) {
        (void)snprintf(result->nearest[i].id, sizeof result->nearest[i].id, "%s", circle->runs[i]->self.id);
        result->nearest[i].error = exp(-circle->runs[i]->time) - 1;
    }
}

enum orr_status neighbours_ask(const struct neighbours *neighbours, const char *interconnect,
                               const struct neighbours_self *self, struct orr_train_result *result,
                               struct orr_error *err)
{
    struct job job = job_of(result, interconnect);
    const struct neighbours_self *left_out = neighbours_known(neighbours, self);
    struct circle *circle = malloc(sizeof *circle);
    const struct neighbour *timed[NEIGHBOURS_ASKED] = {NULL};
    double variance = 0;
    if (circle == NULL) {
        return error_set(err, ORR_ENOMEM, "no memory for the nearest runs");
    }
    circle_find(circle, neighbours, &job, left_out, false);
    circle_factor(circle);
    result_name_nearest(result, circle);
    for (uint32_t i = 0; i < circle->count; i++) {
        circle->values[i] = circle->runs[i]->time;
        timed[i] = circle->runs[i];
    }
    uint32_t count = circle->count;
    result->moved = exp(circle_answer(circle, &job, &variance));
    result->error = expm1(sqrt(variance));
    circle_find(circle, neighbours, &job, left_out, true);
    if (circle->count != count || memcmp(timed, circle->runs, count * sizeof(struct neighbour *)) != 0) {
        circle_factor(circle); /* else the same runs, whose factor is there */
    }
    for (uint32_t i = 0; i < circle->count; i++) {
        circle->values[i] = circle->runs[i]->memory;
    }
    double memory = exp(circle_answer(circle, &job, &variance));
    free(circle);
    result_scale_time(result, result->moved);
    result_scale_memory(&result->memory, memory);
    return ORR_OK;
}
