/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/space.h"

#include <string.h>

#include "param/param.h"

enum { SPACE_TP_MOST = 64, SPACE_CP_MOST = 64, SPACE_MICRO_MOST = 64, SPACE_CHUNKS_MOST = 12, SPACE_SEQ_LEAST = 2048 };

/* ---- what is fixed ---- */

static enum orr_status space_fix_one(const char *text, size_t length, struct space_fixed *fixed, struct orr_error *err)
{
#define SPACE_X(symbol, name, field) name,
    static const char *const names[] = {SPACE_DEGREES(SPACE_X) NULL};
#undef SPACE_X
    static const struct param_table tables[] = {{param_train, 0, 0}, {0}};
    char word[32], value[32];
    size_t name = strcspn(text, "=");
    unsigned degree = 0;
    if (name >= length || name >= sizeof word || length - name > sizeof value) {
        return error_set(err, ORR_EINVAL, "parameter 'fix': \"%.*s\" is no NAME=VALUE", (int)length, text);
    }
    (void)snprintf(word, sizeof word, "%.*s", (int)name, text);
    (void)snprintf(value, sizeof value, "%.*s", (int)(length - name - 1), text + name + 1);
    enum orr_status status = param_parse_word("parameter 'fix'", word, names, &degree, err);
    struct orr_train_options options;
    orr_train_options_init(&options);
    options.plan = fixed->plan;
    if (status == ORR_OK) {
        status = param_read(param_find(tables, word, strlen(word)).row, word, value, &options, err);
    }
    if (status == ORR_OK) {
        fixed->plan = options.plan;
        fixed->bits |= 1U << degree;
    }
    return status;
}

enum orr_status space_fix(const char *text, struct space_fixed *fixed, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    *fixed = (struct space_fixed){0};
    while (text != NULL && *text != '\0' && status == ORR_OK) {
        size_t length = strcspn(text, ",");
        status = space_fix_one(text, length, fixed, err);
        text += length + (text[length] == ',');
    }
    return status;
}

/* ---- what there is ---- */

/* Being filled: the degrees are chosen one after the other, outermost first. */
struct space_walk {
    const struct orr_train_model *model;
    const struct space_fixed *fixed;
    struct mem *mem;
    struct space *space;
    struct orr_train_plan plan;
    bool is_full; /* no memory for more */
};

static void walk_add(struct space_walk *walk)
{
    struct space *space = walk->space;
    void *plans = space->plans;
    if (!mem_reserve(walk->mem, &plans, &space->capacity, (uint64_t)space->count + 1, sizeof *space->plans)) {
        walk->is_full = true;
        return;
    }
    space->plans = plans;
    space->plans[space->count++] = walk->plan;
}

static bool walk_is_fixed(const struct space_walk *walk, enum space_degree degree)
{
    return (walk->fixed->bits >> degree & 1) != 0;
}

static void walk_recompute(struct space_walk *walk)
{
    for (int i = 0; i < ORR_TRAIN_RECOMPUTE_COUNT; i++) {
        if (!walk_is_fixed(walk, SPACE_RECOMPUTE) || walk->fixed->plan.recompute == (enum orr_train_recompute)i) {
            walk->plan.recompute = (enum orr_train_recompute)i;
            walk_add(walk);
        }
    }
}

/* States sharded, or weights too; ZeRO 2 is as fast as 1 and needs no more than it with one micro-batch. */
static void walk_zero(struct space_walk *walk)
{
    for (uint32_t zero = 0; zero <= 3; zero++) {
        bool useful =
            zero == 0 || (walk->plan.dp * walk->plan.cp > 1 && (zero == 1 || (zero == 3 && walk->plan.pp == 1)));
        if (walk_is_fixed(walk, SPACE_ZERO) ? walk->fixed->plan.zero == zero : useful) {
            walk->plan.zero = zero;
            walk_recompute(walk);
        }
    }
}

static void walk_chunks(struct space_walk *walk)
{
    const struct orr_train_plan *plan = &walk->plan;
    uint32_t micro_batches = plan->global_batch / (plan->micro_batch * plan->dp);
    for (uint32_t chunks = 1; chunks <= SPACE_CHUNKS_MOST; chunks++) {
        bool useful = chunks == 1 ||
                      (plan->pp > 1 && micro_batches % plan->pp == 0 && walk->model->layers % (plan->pp * chunks) == 0);
        if (walk_is_fixed(walk, SPACE_VPP) ? walk->fixed->plan.vpp == chunks : useful) {
            walk->plan.vpp = chunks;
            walk_zero(walk);
        }
    }
}

static void walk_micro_batches(struct space_walk *walk)
{
    uint32_t own = walk->plan.global_batch / walk->plan.dp;
    for (uint32_t micro = 1; micro <= SPACE_MICRO_MOST; micro++) {
        bool power = (micro & (micro - 1)) == 0;
        if (own % micro == 0 &&
            (walk_is_fixed(walk, SPACE_MICRO_BATCH) ? walk->fixed->plan.micro_batch == micro : power)) {
            walk->plan.micro_batch = micro;
            walk_chunks(walk);
        }
    }
}

static void walk_experts(struct space_walk *walk)
{
    const struct orr_train_plan *plan = &walk->plan;
    uint64_t room = (uint64_t)plan->dp * plan->cp * plan->tp;
    uint32_t most = walk->model->experts > 0 ? walk->model->experts : 1;
    for (uint32_t ep = 1; ep <= most; ep++) {
        if (most % ep == 0 && room % ep == 0 && (!walk_is_fixed(walk, SPACE_EP) || walk->fixed->plan.ep == ep)) {
            walk->plan.ep = ep;
            walk_micro_batches(walk);
        }
    }
}

/* Stages of equal layers, and powers of two, which leave some with a layer more. */
static void walk_stages(struct space_walk *walk)
{
    struct orr_train_plan *plan = &walk->plan;
    uint32_t inside = plan->tp * plan->cp, rest = plan->gpus / inside;
    for (uint32_t pp = 1; pp <= walk->model->layers && pp <= rest; pp++) {
        bool useful = walk->model->layers % pp == 0 || (pp & (pp - 1)) == 0;
        if (rest % pp != 0 || (walk_is_fixed(walk, SPACE_PP) ? walk->fixed->plan.pp != pp : !useful)) {
            continue;
        }
        plan->pp = pp;
        plan->dp = rest / pp;
        if (plan->global_batch % plan->dp == 0) {
            walk_experts(walk);
        }
    }
}

static void walk_context(struct space_walk *walk)
{
    struct orr_train_plan *plan = &walk->plan;
    for (uint32_t cp = 1; cp <= SPACE_CP_MOST; cp *= 2) {
        bool useful = cp == 1 || (plan->seq % (2 * cp) == 0 && plan->seq / cp >= SPACE_SEQ_LEAST);
        if (plan->gpus / plan->tp % cp == 0 && (walk_is_fixed(walk, SPACE_CP) ? walk->fixed->plan.cp == cp : useful)) {
            plan->cp = cp;
            walk_stages(walk);
        }
    }
}

static void walk_tensor(struct space_walk *walk)
{
    const struct orr_train_model *model = walk->model;
    uint32_t most = model->heads > 0 ? model->heads : 1;
    for (uint32_t tp = 1; tp <= most && tp <= SPACE_TP_MOST; tp++) {
        bool legal = most % tp == 0 && (tp == 1 || model->ffn % tp == 0) && walk->plan.gpus % tp == 0;
        if (legal && (!walk_is_fixed(walk, SPACE_TP) || walk->fixed->plan.tp == tp)) {
            walk->plan.tp = tp;
            walk->plan.sp = tp > 1;
            walk_context(walk);
        }
    }
}

enum orr_status space_list(const struct orr_train_model *model, const struct orr_train_plan *base,
                           const struct space_fixed *fixed, struct mem *mem, struct space *space, struct orr_error *err)
{
    struct space_walk walk = {.model = model, .fixed = fixed, .mem = mem, .space = space, .plan = *base};
    *space = (struct space){0};
    walk_tensor(&walk);
    return walk.is_full ? mem_error(mem, "the plans", err) : ORR_OK;
}

void space_free(struct space *space, struct mem *mem)
{
    mem_free(mem, space->plans, space->capacity * sizeof *space->plans);
    *space = (struct space){0};
}
