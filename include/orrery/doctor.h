/* SPDX-License-Identifier: Apache-2.0 */
/* What is on this machine and whether collectives add up; what machines cost. Included by orrery.h. */
#ifndef ORRERY_DOCTOR_H
#define ORRERY_DOCTOR_H

#include "orrery/base.h"

ORR_BEGIN

/* ---- what machines cost ------------------------------------------------------------------------------------------
 */

enum { ORR_COST_NO_RUN = -1 };

/* Numbers given by hand; 0: none, of servers and NICs: as many as the price list says. */
struct orr_cost_counts {
    uint64_t gpus, servers, nics, nvswitches, leaves, spines, switches, links;
};

struct orr_cost_machine {
    const char *what;              /* a topology file, or a machine as for orr_topo_make; NULL: by `run` or `counts` */
    struct orr_cost_counts counts; /* without `what` and `run` */
    int64_t run;                   /* of the store, whose step is costed; 0: the newest; or ORR_COST_NO_RUN */
    uint64_t step_ns;              /* 0: that of the run, else not known */
};

/* Texts are borrowed for the call; NULL and 0: not given. */
struct orr_cost_options {
    const char *prices; /* price list, YAML (docs/cost.md); NULL: the examples */
    const char *store;  /* result store; NULL: runs/orrery.db */
    const struct orr_cost_machine *machines;
    size_t machine_count; /* at least 1 */
    uint64_t samples;     /* of a step */
};

/* A bill for each machine, what an hour and a step on it cost, and all of them beside the first; text or JSON to
 * `stream`. Warnings: example prices, unknown keys, what has no price. `notices` may be NULL. */
ORR_MUST_CHECK enum orr_status orr_cost(const struct orr_cost_options *options, bool json,
                                        const struct orr_notices *notices, FILE *stream, struct orr_error *err);
/* What one GPU of the first machine costs in an hour, its share of everything that the bill counts, and in what
 * currency. ORR_EINVAL where the list does not say over how many years it is paid. */
enum { ORR_COST_CURRENCY = 32 };
ORR_MUST_CHECK enum orr_status orr_cost_gpu_hour(const struct orr_cost_options *options,
                                                 const struct orr_notices *notices, double *price,
                                                 char currency[ORR_COST_CURRENCY], struct orr_error *err);
/* A price list to begin with. */
ORR_MUST_CHECK enum orr_status orr_cost_template(FILE *stream, struct orr_error *err);

/* ---- the doctor ---------------------------------------------------------------------------------------------------
 */

/* Paths are borrowed for the call; NULL and 0: not given. */
struct orr_doctor_options {
    const char *const *smi; /* saved outputs of amd-smi and rocm-smi: their GPUs instead of this machine's */
    size_t smi_count;
    const char *sysfs;   /* where this machine's GPUs are looked for; NULL: /sys */
    bool no_collectives; /* leave the numeric test out */
};

struct orr_doctor_result {
    uint32_t gpus;
    uint32_t checks, wrong; /* rows of the numeric test, and those that came out wrong */
};

/* Versions, the machine, programs that could be of use, GPUs with their clocks; and a numeric test of the collectives:
 * whole numbers moved as the algorithms say, every result compared with what was promised. Text or JSON to `stream`. */
ORR_MUST_CHECK enum orr_status orr_doctor(const struct orr_doctor_options *options, bool json, FILE *stream,
                                          struct orr_doctor_result *result, struct orr_error *err);

ORR_END

#endif
