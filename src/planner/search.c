/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All plans are predicted by pieces, which takes a tenth of a millisecond each; then the best few hundred are asked of
 * measured runs near them, which takes ten times as long, and ranked again.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread_pool.h"
#include "io/crew.h"
#include "orrery/plan.h"
#include "planner/orders.h"
#include "planner/space.h"
#include "report/plan.h"
#include "train/energy.h"
#include "train/neighbours.h"
#include "train/predict.h"

enum { SEARCH_BLOCK = 64, SEARCH_FINALISTS = 384, SEARCH_BATCH_TOKENS = 4 << 20 };

/* Of the time there is, for predicting; the rest is for measured runs near the best. */
static const double SEARCH_SHARE = 0.8;

/* What is kept of a plan that was predicted. */
struct search_seen {
    double value;  /* of the objective: less is better; INFINITY: not legal, or not predicted */
    double memory; /* bytes */
    bool is_predicted, fits;
    uint8_t order[ORR_TRAIN_AXIS_COUNT]; /* of ranks: the best */
    uint32_t orders;                     /* predicted beside the usual one */
};

struct search {
    const struct orr_plan_options *options;
    struct orr_train_options job; /* with what follows settled */
    struct mem mem;
    struct space space;
    struct predict_data *data;
    struct neighbours *neighbours; /* NULL: not asked */
    struct search_seen *seen;      /* of space.plans */
    double room;                   /* bytes that a plan may need */
    uint32_t server;               /* its ranks */
    bool is_ordered;               /* the order of ranks is fixed */
    uint64_t until_ns;             /* to predict; 0: no end */
    uint64_t finals_until_ns;      /* and to ask measured runs */
    uint64_t taken;                /* plans predicted so far */
    atomic_bool is_ended;          /* the callback did it, or the leader is gone */
    bool is_telling;               /* the finalists' turn: the callback does not end it */
    uint32_t *finalists, finalist_count;
    struct orr_train_result *finals;
};

/* ---- one plan ---- */

static enum orr_status search_predict(const struct search *search, const struct orr_train_plan *plan,
                                      struct orr_train_result *result, struct orr_error *err)
{
    struct orr_train_options options = search->job;
    struct mem mem = {0};
    options.plan = *plan;
    enum orr_status status = predict_step(search->data, &options, &mem, result, err);
    if (status == ORR_OK) {
        energy_of_step(&options, result);
    }
    return status;
}

static double search_value(const struct search *search, const struct orr_train_result *result)
{
    switch (search->options->objective) {
    case ORR_PLAN_MEMORY:
        return (double)result->memory.total;
    case ORR_PLAN_JOULES: /* all plans have the same tokens */
        return result->joules;
    default: /* and the same GPUs, so that the fastest is the cheapest */
        return (double)result->step_ns;
    }
}

/* The ranks of a plan that fits in other orders; `settled` is it in the usual one. */
static void search_orders(const struct search *search, const struct orr_train_plan *settled, struct search_seen *seen)
{
    uint8_t orders[ORDERS_MOST][ORR_TRAIN_AXIS_COUNT];
    struct orr_train_plan plan = *settled;
    plan.fsdp_group = search->job.plan.fsdp_group; /* by the order, where nobody says it */
    uint32_t count = orders_list(&plan, search->server, orders);
    struct orr_train_result result;
    struct orr_error err;
    for (uint32_t i = 1; i < count; i++) {
        memcpy(plan.order, orders[i], sizeof plan.order);
        if (search_predict(search, &plan, &result, &err) == ORR_OK && (double)result.memory.total <= search->room &&
            search_value(search, &result) < seen->value) {
            seen->value = search_value(search, &result);
            seen->memory = (double)result.memory.total;
            memcpy(seen->order, plan.order, sizeof seen->order);
        }
    }
    seen->orders = count - 1;
}

static void *search_plan(void *context, uint64_t piece)
{
    struct search *search = context;
    struct search_seen *seen = &search->seen[piece];
    struct orr_train_result result;
    struct orr_error err;
    seen->is_predicted = true;
    seen->value = INFINITY;
    if (search_predict(search, &search->space.plans[piece], &result, &err) == ORR_OK) {
        seen->value = search_value(search, &result);
        seen->memory = (double)result.memory.total;
        seen->fits = seen->memory <= search->room;
        memcpy(seen->order, result.plan.order, sizeof seen->order);
        if (seen->fits && !search->is_ordered) {
            search_orders(search, &result.plan, seen);
        }
    }
    return NULL;
}

static bool search_is_over(uint64_t until_ns)
{
    return until_ns != 0 && clock_now_ns() >= until_ns;
}

/* Finalists come the best first, so that those that time does not suffice for are the last. */
static void *search_finalist(void *context, uint64_t piece)
{
    struct search *search = context;
    struct orr_train_result *final = &search->finals[piece];
    struct orr_error err;
    if (piece > 0 && search_is_over(search->finals_until_ns)) {
        final->step_ns = UINT64_MAX;
        return NULL;
    }
    enum orr_status status = search_predict(search, &search->space.plans[search->finalists[piece]], final, &err);
    if (status == ORR_OK && search->neighbours != NULL) {
        status = neighbours_ask(search->neighbours, search->job.interconnect, NULL, final, &err);
        energy_of_step(&search->job, final);
    }
    final->step_ns = status == ORR_OK ? final->step_ns : UINT64_MAX;
    return NULL;
}

static bool search_goes_on(void *context)
{
    struct search *search = context;
    const struct orr_plan_options *options = search->options;
    if (search->is_telling) {
        return true; /* the first of them is told whatever time it takes */
    }
    search->is_ended =
        search->is_ended || (options->progress != NULL &&
                             !options->progress(options->progress_context, search->taken, search->space.count));
    return !search->is_ended && !search_is_over(search->until_ns);
}

static bool search_taken(void *context, uint64_t piece, void *made)
{
    struct search *search = context;
    (void)piece, (void)made;
    search->taken++;
    return true; /* a tick follows */
}

static enum orr_status search_every(struct search *search, uint64_t count, void *(*make)(void *, uint64_t),
                                    struct orr_error *err)
{
    uint32_t threads = search->options->threads != 0 ? search->options->threads : thread_pool_processors();
    struct thread_pool_work work = {.count = count,
                                    .window = 8 * threads,
                                    .make = make,
                                    .take = search_taken,
                                    .tick = search_goes_on,
                                    .context = search,
                                    .tick_ms = 50};
    return thread_pool_run(threads, &work, err);
}

/* ---- by other processes too: plans go by numbers of blocks, what was seen of them comes as bytes ---- */

static uint64_t search_block_plans(const struct search *search, uint64_t block)
{
    uint64_t left = search->space.count - block * SEARCH_BLOCK;
    return left < SEARCH_BLOCK ? left : SEARCH_BLOCK;
}

static bool search_block_make(void *context, uint64_t block, struct etz_bytes *bytes)
{
    struct search *search = context;
    uint64_t plans = search_block_plans(search, block);
    for (uint64_t i = 0; i < plans && !search->is_ended; i++) {
        (void)search_plan(search, block * SEARCH_BLOCK + i);
    }
    etz_bytes_put(bytes, &search->seen[block * SEARCH_BLOCK], plans * sizeof *search->seen);
    return !bytes->refused;
}

static bool search_block_take(void *context, uint64_t block, const uint8_t *bytes, size_t size)
{
    struct search *search = context;
    uint64_t plans = search_block_plans(search, block);
    if (size == plans * sizeof *search->seen) {
        memcpy(&search->seen[block * SEARCH_BLOCK], bytes, size);
        search->taken += plans;
    }
    return true;
}

static void search_block_stop(void *context)
{
    struct search *search = context;
    search->is_ended = true;
}

static bool search_is_worker(const struct search *search)
{
    return search->options->cluster != NULL && search->options->cluster->is_worker;
}

static enum orr_status search_blocks(struct search *search, struct orr_error *err)
{
    struct orr_cluster *cluster = search->options->cluster;
    uint64_t count = (search->space.count + SEARCH_BLOCK - 1) / SEARCH_BLOCK;
    uint32_t threads =
        search->options->threads != 0 ? search->options->threads : 1; /* there is a process a processor */
    uint64_t *pieces = mem_alloc(&search->mem, count * sizeof *pieces);
    if (pieces == NULL) {
        return mem_error(&search->mem, "the plans", err);
    }
    for (uint64_t i = 0; i < count; i++) {
        pieces[i] = i;
    }
    const struct crew_work work = {.pieces = pieces,
                                   .count = count,
                                   .make = search_block_make,
                                   .take = search_block_take,
                                   .tick = search_goes_on,
                                   .stop = search_block_stop,
                                   .context = search};
    enum orr_status status =
        cluster->is_worker ? crew_serve(cluster, threads, &work, err) : crew_lead(cluster, threads, &work, err);
    mem_free(&search->mem, pieces, count * sizeof *pieces);
    return status;
}

/* ---- ranking ---- */

struct search_order {
    double value;
    uint32_t index;
};

/* By value; plans that are equal stand as they were listed. */
static int search_compare(const void *a, const void *b)
{
    const struct search_order *x = a, *y = b;
    return x->value != y->value ? (x->value < y->value ? -1 : 1) : (x->index > y->index) - (x->index < y->index);
}

static enum orr_status search_choose(struct search *search, struct orr_error *err)
{
    size_t bytes = ((size_t)search->space.count + 1) * sizeof(struct search_order);
    struct search_order *order = mem_alloc(&search->mem, bytes);
    uint32_t count = 0;
    if (order == NULL) {
        return mem_error(&search->mem, "the plans", err);
    }
    for (uint32_t i = 0; i < search->space.count; i++) {
        if (search->seen[i].fits && isfinite(search->seen[i].value)) {
            order[count++] = (struct search_order){search->seen[i].value, i};
        }
    }
    qsort(order, count, sizeof *order, search_compare);
    search->finalist_count = count < SEARCH_FINALISTS ? count : SEARCH_FINALISTS;
    for (uint32_t i = 0; i < search->finalist_count; i++) {
        uint32_t plan = order[i].index;
        search->finalists[i] = plan;
        memcpy(search->space.plans[plan].order, search->seen[plan].order, sizeof search->seen[plan].order);
    }
    mem_free(&search->mem, order, bytes);
    return ORR_OK;
}

/* Plans told are different ways to divide: of those with the same degrees the best alone. */
static bool search_is_like(const struct orr_train_plan *a, const struct orr_train_plan *b)
{
    return a->tp == b->tp && a->pp == b->pp && a->cp == b->cp && a->ep == b->ep && a->micro_batch == b->micro_batch &&
           a->vpp == b->vpp && a->recompute == b->recompute;
}

static void search_tell(const struct search *search, struct orr_plan_result *made)
{
    struct search_order order[SEARCH_FINALISTS];
    uint32_t count = 0, most = search->options->top < ORR_PLAN_TOP ? search->options->top : ORR_PLAN_TOP;
    for (uint32_t i = 0; i < search->finalist_count; i++) {
        const struct orr_train_result *final = &search->finals[i];
        if (final->step_ns != UINT64_MAX && (double) final->memory.total <= search->room) {
            order[count++] = (struct search_order){search_value(search, final), i};
        }
    }
    qsort(order, count, sizeof *order, search_compare);
    for (uint32_t i = 0; i < count && made->count < most; i++) {
        const struct orr_train_result *final = &search->finals[order[i].index];
        bool is_new = true;
        for (uint32_t k = 0; k < made->count; k++) {
            is_new = is_new && !search_is_like(&made->rows[k].result.plan, &final->plan);
        }
        if (is_new) {
            made->rows[made->count++].result = *final;
        }
    }
    for (uint32_t i = 0; i < made->count; i++) {
        const struct orr_train_result *one = &made->rows[i].result;
        made->rows[i].on_front = true;
        for (uint32_t k = 0; k < made->count; k++) {
            const struct orr_train_result *other = &made->rows[k].result;
            bool faster = other->step_ns < one->step_ns && other->memory.total <= one->memory.total;
            bool smaller = other->step_ns <= one->step_ns && other->memory.total < one->memory.total;
            made->rows[i].on_front = made->rows[i].on_front && !faster && !smaller;
        }
    }
}

/* What was predicted, and the plan that needs least memory, for the case that none fits. */
static enum orr_status search_count(const struct search *search, struct orr_plan_result *made, struct orr_error *err)
{
    double least = INFINITY;
    uint32_t smallest = 0;
    made->plans = search->space.count;
    for (uint32_t i = 0; i < search->space.count; i++) {
        const struct search_seen *seen = &search->seen[i];
        bool legal = seen->is_predicted && isfinite(seen->value);
        made->predicted += seen->is_predicted;
        made->refused += seen->is_predicted && !legal;
        made->too_large += legal && !seen->fits;
        made->orders += seen->orders;
        if (legal && seen->memory < least) {
            least = seen->memory;
            smallest = i;
        }
    }
    enum orr_status status =
        isfinite(least) ? search_predict(search, &search->space.plans[smallest], &made->smallest, err) : ORR_OK;
    if (status == ORR_OK && isfinite(least)) { /* of what a plan may need, which may be less than the device has */
        made->smallest.memory.device = (uint64_t)search->room;
        made->smallest.memory.fits = least <= search->room;
    }
    return status;
}

/* ---- together ---- */

static bool search_has_own(const struct orr_train_plan *plan)
{
    return (plan->tp | plan->pp | plan->cp | plan->ep | plan->vpp | plan->micro_batch | plan->zero | plan->order[0]) !=
           0;
}

/* GPUs, sequence and batch, and from them all plans. */
static enum orr_status search_settle(struct search *search, struct orr_error *err)
{
    struct orr_train_plan *plan = &search->job.plan, base;
    struct orr_train_model model;
    struct space_fixed fixed;
    if (search->job.simulates) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'backend': plans are predicted; orrery train simulates one of them");
    }
    enum orr_status status = predict_asked(&search->job, &model, &search->server, err);
    if (status == ORR_OK) {
        status = space_fix(search->options->fix, &fixed, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    if (plan->global_batch == 0) {
        uint64_t samples = SEARCH_BATCH_TOKENS / plan->seq;
        samples = samples > plan->gpus ? samples / plan->gpus * plan->gpus : plan->gpus;
        plan->global_batch = (uint32_t)samples;
    }
    base = *plan;
    base.tp = base.pp = base.cp = base.ep = base.etp = base.vpp = base.dp = base.micro_batch = base.zero = 0;
    base.zero_said = true;
    base.recompute = ORR_TRAIN_RECOMPUTE_NONE;
    search->is_ordered = (fixed.bits >> SPACE_ORDER & 1) != 0;
    memcpy(base.order, fixed.plan.order, sizeof base.order);
    status = space_list(&model, &base, &fixed, &search->mem, &search->space, err);
    if (status == ORR_OK && search->space.count == 0) {
        status =
            error_set(err, ORR_EINVAL, "no plan divides %u GPUs and %u samples so", plan->gpus, plan->global_batch);
    }
    return status;
}

static enum orr_status search_prepare(struct search *search, struct orr_error *err)
{
    struct orr_train_result any;
    uint32_t count = search->space.count;
    enum orr_status status = ORR_EINVAL;
    for (uint32_t i = 0; i < count && status == ORR_EINVAL;
         i++) { /* the first that is legal tells device and framework */
        status = search_predict(search, &search->space.plans[i], &any, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    search->room =
        search->options->max_memory_gb > 0 ? search->options->max_memory_gb * 1e9 : (double)any.memory.device;
    search->seen = mem_zalloc(&search->mem, count * sizeof *search->seen);
    search->finalists = mem_alloc(&search->mem, SEARCH_FINALISTS * sizeof *search->finalists);
    search->finals = mem_zalloc(&search->mem, SEARCH_FINALISTS * sizeof *search->finals);
    if (search->seen == NULL || search->finalists == NULL || search->finals == NULL) {
        return mem_error(&search->mem, "the plans", err);
    }
    if (!search->job.without_neighbours && !search_is_worker(search)) {
        status = neighbours_open(search->data, any.framework, search->options->threads, &search->neighbours, err);
    }
    return status;
}

static void search_free(struct search *search)
{
    neighbours_close(search->neighbours);
    predict_close(search->data);
    mem_free(&search->mem, search->seen, search->space.count * sizeof *search->seen);
    mem_free(&search->mem, search->finalists, SEARCH_FINALISTS * sizeof *search->finalists);
    mem_free(&search->mem, search->finals, SEARCH_FINALISTS * sizeof *search->finals);
    space_free(&search->space, &search->mem);
}

static enum orr_status search_own(const struct search *search, struct orr_plan_result *made, struct orr_error *err)
{
    const struct orr_train_plan *own = &search->options->job.plan;
    if (!search_has_own(own)) {
        return ORR_OK;
    }
    struct orr_train_plan plan = search->job.plan;
    enum orr_status status = search_predict(search, &plan, &made->own, err);
    if (status == ORR_OK && search->neighbours != NULL) {
        status = neighbours_ask(search->neighbours, search->job.interconnect, NULL, &made->own, err);
    }
    made->has_own = status == ORR_OK;
    return status;
}

/* The best plan in the usual order of ranks, or, where it is in that, in the best of the others. */
static enum orr_status search_other(const struct search *search, struct orr_plan_result *made, struct orr_error *err)
{
    uint8_t orders[ORDERS_MOST][ORR_TRAIN_AXIS_COUNT];
    const struct orr_train_result *best = &made->rows[0].result;
    struct orr_train_plan plan = best->plan;
    bool usual = orr_train_order_is_usual(&plan);
    plan.fsdp_group = search->job.plan.fsdp_group;
    bool is_asked = made->count > 0 && !search->is_ordered && !search_is_over(search->finals_until_ns);
    uint32_t count = is_asked ? orders_list(&plan, search->server, orders) : 0;
    enum orr_status status = ORR_OK;
    for (uint32_t i = usual ? 1 : 0; status == ORR_OK && i < (usual ? count : count > 0); i++) {
        struct orr_train_result other;
        memcpy(plan.order, orders[i], sizeof plan.order);
        status = search_predict(search, &plan, &other, err);
        if (status == ORR_OK && search->neighbours != NULL) {
            status = neighbours_ask(search->neighbours, search->job.interconnect, NULL, &other, err);
            energy_of_step(&search->job, &other);
        }
        if (status == ORR_OK &&
            (!made->has_other || search_value(search, &other) < search_value(search, &made->other))) {
            made->other = other;
            made->has_other = true;
        }
    }
    return status;
}

static enum orr_status search_run(struct search *search, struct orr_plan_result *made, struct orr_error *err)
{
    enum orr_status status = search_settle(search, err);
    status = status != ORR_OK ? status : search_prepare(search, err);
    if (status == ORR_OK && search_is_worker(search)) {
        return search_blocks(search, err);
    }
    status = status != ORR_OK ? status : search_own(search, made, err);
    status = status != ORR_OK                   ? status
             : search->options->cluster != NULL ? search_blocks(search, err)
                                                : search_every(search, search->space.count, search_plan, err);
    status = status != ORR_OK ? status : search_choose(search, err);
    search->is_telling = true;
    status = status != ORR_OK ? status : search_every(search, search->finalist_count, search_finalist, err);
    status = status != ORR_OK ? status : search_count(search, made, err);
    if (status == ORR_OK) {
        const struct orr_train_result *any = &made->smallest;
        search_tell(search, made);
        made->bound_s = any->mfu > 0 ? (double)any->step_ns * 1e-9 * any->mfu : 0;
        made->interrupted = search->is_ended && made->predicted < made->plans;
        status = search_other(search, made, err);
    }
    return status;
}

enum orr_status orr_plan_search(const struct orr_plan_options *options, struct orr_plan_result **result,
                                struct orr_error *err)
{
    struct search search = {.options = options, .job = options->job, .mem = {.limit = options->job.memory_limit}};
    struct orr_plan_result *made = calloc(1, sizeof *made);
    if (options->seconds > 0) {
        uint64_t now = clock_now_ns();
        search.until_ns = now + (uint64_t)(SEARCH_SHARE * options->seconds * 1e9);
        search.finals_until_ns = now + (uint64_t)(options->seconds * 1e9);
    }
    enum orr_status status = made == NULL ? error_set(err, ORR_ENOMEM, "no memory for the plans") : ORR_OK;
    status = status != ORR_OK ? status : predict_open(&search.data, err);
    status = status != ORR_OK ? status : search_run(&search, made, err);
    search_free(&search);
    bool interrupted = status == ORR_OK && made->interrupted;
    if (interrupted) {
        status = error_set(err, ORR_EINTR, "interrupted; %llu of %llu plans were predicted",
                           (unsigned long long)made->predicted, (unsigned long long)made->plans);
    }
    bool worker = search_is_worker(&search);
    if ((status == ORR_OK && !worker) || (interrupted && made->predicted > 0)) {
        *result = made;
    } else {
        free(made);
    }
    return status;
}

void orr_plan_options_init(struct orr_plan_options *options)
{
    *options = (struct orr_plan_options){.size = sizeof *options, .top = 10};
    orr_train_options_init(&options->job);
}

enum orr_status orr_plan_print(const struct orr_plan_result *result, FILE *stream, struct orr_error *err)
{
    report_plan_text(result, stream);
    return error_of_stream(stream, "the plans", err);
}

enum orr_status orr_plan_chart(const struct orr_plan_result *result, FILE *stream, struct orr_error *err)
{
    report_plan_chart(result, stream);
    return error_of_stream(stream, "the chart", err);
}

enum orr_status orr_plan_json(const struct orr_plan_result *result, FILE *stream, struct orr_error *err)
{
    report_plan_json(result, stream);
    return error_of_stream(stream, "the plans", err);
}
