/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a search over plans, beside those of the job (param/train.c). */
#include "param/param.h"

#define WORD_X(symbol, word) word,
static const char *const plan_objectives[] = {ORR_PLAN_OBJECTIVES(WORD_X) NULL};
#undef WORD_X

#define AT(field) .place = offsetof(struct orr_plan_options, field)

const struct param param_plan[] = {
    {"fix", .kind = PARAM_TEXT, .group = PARAM_GROWTH, .value = "NAME=VALUE,...", AT(fix),
     .help = "Degrees to fix instead of searching: tp, pp, cp, ep, vpp, zero, micro-batch, recompute, order"},
    {"objective", .kind = PARAM_WORD, .group = PARAM_WHAT, .value = "NAME", AT(objective), .words = plan_objectives,
     .initial = "step", .help = "What to optimise: step time, cost, energy or memory"},
    {"max-memory", .kind = PARAM_REAL, .group = PARAM_MACHINE, .value = "GB", AT(max_memory_gb), .real_most = 1e6,
     .unwritten = "the device's", .help = "Limit on the memory of a GPU"},
    {"seconds", .kind = PARAM_REAL, .group = PARAM_OTHER, .value = "S", AT(seconds), .real_most = 1e9,
     .unwritten = "until all plans are predicted", .help = "Time limit of the search"},
    {"top", .kind = PARAM_COUNT32, .group = PARAM_OUTPUT, .value = "N", AT(top), .least = 1, .most = ORR_PLAN_TOP,
     .initial = "10", .help = "Number of plans to show"},
    {"threads", .letter = 'j', .kind = PARAM_COUNT32, .group = PARAM_OTHER, .value = "N", AT(threads), .most = 1024,
     .unwritten = "all processors", .help = "Number of threads"},
    {0},
};
