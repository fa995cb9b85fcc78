/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which way of dividing a training job is best: all that are legal are predicted (orrery/train.h) and ranked. Included
 * by orrery.h.
 */
#ifndef ORRERY_PLAN_H
#define ORRERY_PLAN_H

#include "orrery/cluster.h"
#include "orrery/train.h"

ORR_BEGIN

#define ORR_PLAN_OBJECTIVES(X)                                                                                         \
    X(STEP, "step")                                                                                                    \
    X(COST, "cost")                                                                                                    \
    X(JOULES, "tokens-per-joule")                                                                                      \
    X(MEMORY, "memory")
enum orr_plan_objective {
#define ORR_X(symbol, word) ORR_PLAN_##symbol,
    ORR_PLAN_OBJECTIVES(ORR_X)
#undef ORR_X
        ORR_PLAN_OBJECTIVE_COUNT
};

/* Start from orr_plan_options_init. Texts are borrowed. */
struct orr_plan_options {
    size_t size;
    /* The job: model, machine, GPUs, global batch (0: 4 Mi tokens), sequence, framework. Degrees, micro-batch, ZeRO,
     * recompute and order are the caller's own plan, which the found ones are compared with; none of them said: there
     * is none. */
    struct orr_train_options job;
    const char *fix; /* what is not to be searched: "tp=8,recompute=none,order=tp-cp-ep-dp-pp"; or NULL */
    enum orr_plan_objective objective;
    double max_memory_gb; /* that a plan may need; 0: the device's */
    double seconds;       /* to search at most; 0: until all are predicted */
    uint32_t top;         /* plans to tell of, at most ORR_PLAN_TOP */
    uint32_t threads;     /* 0: all processors */
    /* Many times a second while plans are predicted, on the calling thread; a false return ends that, and what was
     * found is told. May be NULL. */
    bool (*progress)(void *context, uint64_t predicted, uint64_t plans);
    void *progress_context;
    struct orr_cluster *cluster; /* the processes that predict, each with so many threads; NULL: this one */
};

enum { ORR_PLAN_TOP = 64 };

struct orr_plan_row {
    struct orr_train_result result;
    bool on_front; /* none of those told is both faster and smaller */
};

struct orr_plan_result {
    uint64_t plans;     /* that can be made of the degrees */
    uint64_t predicted; /* of them; fewer: the time was over, or the search was ended */
    uint64_t refused;   /* of those predicted: not legal */
    uint64_t too_large; /* legal, and need more memory than there is */
    uint64_t orders;    /* of ranks that were predicted beside the usual one, of all plans */
    bool interrupted;   /* the callback ended it before all were predicted */
    double bound_s;     /* no plan is faster: all products at the device's peak, nothing else */
    uint32_t count;     /* plans told, the best first; 0: none fits, and `smallest` needs least */
    struct orr_plan_row rows[ORR_PLAN_TOP];
    struct orr_train_result smallest;
    bool has_own;
    struct orr_train_result own;   /* the caller's plan */
    bool has_other;                /* the first plan's ranks could lie otherwise */
    struct orr_train_result other; /* it in the usual order, or, where that is the best, in the best of the others */
};

void orr_plan_options_init(struct orr_plan_options *options);
/* As those of orrery/train.h: by the names that `orrery plan` has. */
struct orr_plan_options *orr_plan_options_new(void);
void orr_plan_options_delete(struct orr_plan_options *options); /* NULL is fine */
ORR_MUST_CHECK enum orr_status orr_plan_set(struct orr_plan_options *options, const char *name, const char *value,
                                            struct orr_error *err);
/* The fields progress and progress_context. */
void orr_plan_watch(struct orr_plan_options *options,
                    bool (*progress)(void *context, uint64_t predicted, uint64_t plans), void *context);

/* ORR_EINVAL where the job cannot be, or `fix` names what is not searched. ORR_EINTR: ended by the callback; `*result`
 * is given then too, unless nothing was predicted. In a worker of a cluster it is NULL. The caller frees `result` with
 * free(). */
ORR_MUST_CHECK enum orr_status orr_plan_search(const struct orr_plan_options *options, struct orr_plan_result **result,
                                               struct orr_error *err);

/* The same, told at once as TEXT or JSON. */
ORR_MUST_CHECK enum orr_status orr_plan_tell(const struct orr_plan_options *options, enum orr_form form, FILE *stream,
                                             struct orr_error *err);

/* For people; as JSON; time against memory as a picture (SVG). */
ORR_MUST_CHECK enum orr_status orr_plan_print(const struct orr_plan_result *result, FILE *stream,
                                              struct orr_error *err);
ORR_MUST_CHECK enum orr_status orr_plan_json(const struct orr_plan_result *result, FILE *stream, struct orr_error *err);
ORR_MUST_CHECK enum orr_status orr_plan_chart(const struct orr_plan_result *result, FILE *stream,
                                              struct orr_error *err);

ORR_END

#endif
