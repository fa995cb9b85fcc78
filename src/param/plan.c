/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a search over plans, beside those of the job (param/train.c). */
#include "param/param.h"

#define WORD_X(symbol, word) word,
static const char *const plan_objectives[] = {ORR_PLAN_OBJECTIVES(WORD_X) NULL};
#undef WORD_X

#define AT(field) .place = offsetof(struct orr_plan_options, field)

const struct param param_plan[] = {
    {"fix", .kind = PARAM_TEXT, .group = PARAM_GROWTH, .value = "NAME=VALUE,...", AT(fix),
     .help = "What is not to be searched: tp, pp, cp, ep, vpp, zero, micro-batch, recompute"},
    {"objective", .kind = PARAM_WORD, .group = PARAM_WHAT, .value = "NAME", AT(objective), .words = plan_objectives,
     .initial = "step", .help = "What is to be best: the time of a step, its cost, its energy, or memory"},
    {"max-memory", .kind = PARAM_REAL, .group = PARAM_MACHINE, .value = "GB", AT(max_memory_gb), .real_most = 1e6,
     .unwritten = "the device's", .help = "What a plan may need of a GPU's memory"},
    {"seconds", .kind = PARAM_REAL, .group = PARAM_OTHER, .value = "S", AT(seconds), .real_most = 1e9,
     .unwritten = "until all are predicted", .help = "Search no longer than that"},
    {"top", .kind = PARAM_COUNT32, .group = PARAM_OUTPUT, .value = "N", AT(top), .least = 1, .most = ORR_PLAN_TOP,
     .initial = "10", .help = "Plans to tell of"},
    {"threads", .letter = 'j', .kind = PARAM_COUNT32, .group = PARAM_OTHER, .value = "N", AT(threads), .most = 1024,
     .unwritten = "all processors", .help = "Plans at once"},
    {0},
};
