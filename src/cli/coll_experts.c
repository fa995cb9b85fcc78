/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery coll experts`: DeepEP's dispatch and combine. */
#include <inttypes.h>

#include "cli/coll.h"

#define AT(field) .place = offsetof(struct orr_coll_experts, field)

#define ORR_COLL_X(name, word) word,
static const char *const kernels[] = {ORR_COLL_EXPERT_KERNELS(ORR_COLL_X) NULL};
#undef ORR_COLL_X

static const struct param rows[] = {
    {"gpu", .kind = PARAM_TEXT, .group = PARAM_MACHINE, .value = "NAME", AT(gpu), .initial = "h100",
     .help = "h100, h200, b200, b300, gb200, gb300 or a relative of theirs"},
    {"nodes", .kind = PARAM_COUNT32, .group = PARAM_MACHINE, .value = "N", AT(nodes), .least = 1, .most = 1 << 16,
     .initial = "1", .help = "Nodes that the experts are spread over"},
    {"tokens", .kind = PARAM_COUNT, .group = PARAM_WHAT, .value = "N", AT(tokens), .least = 1,
     .most = UINT64_C(1) << 32, .initial = "128", .help = "Tokens of one rank"},
    {"topk", .kind = PARAM_COUNT32, .group = PARAM_WHAT, .value = "N", AT(topk), .least = 1, .most = 1024,
     .initial = "8", .help = "Experts that each token goes to"},
    {"hidden", .kind = PARAM_COUNT32, .group = PARAM_WHAT, .value = "N", AT(hidden), .least = 1, .most = 1 << 20,
     .initial = "7168", .help = "Hidden size"},
    {"kernels", .kind = PARAM_WORD, .group = PARAM_WHAT, .value = "KIND", AT(kernel), .words = kernels,
     .initial = "low-latency", .help = "low-latency: those of decoding; normal: of training and prefill"},
    {0},
};

static const struct param_table tables[] = {{rows, 0, 0}, {0}};

static int run_experts(const struct cli_command *self, int argc, char **argv)
{
    struct orr_coll_experts experts = {.gpu = NULL};
    struct orr_coll_experts_time time;
    struct orr_error err = {0};
    int code = 0;
    param_defaults(tables, &experts);
    if (!cli_begin(self, argc, argv, &experts, &code)) {
        return code;
    }
    enum orr_status status = orr_coll_experts_time(&experts, &time, &err);
    if (status == ORR_OK && time.rows == 0) {
        (void)printf("dispatch %10.2f us\ncombine  %10.2f us\n", time.dispatch_us, time.combine_us);
        (void)printf("at the rates that DeepEP tells of its normal kernels; not fitted on times of %s\n", time.gpu);
    } else if (status == ORR_OK) {
        (void)printf("dispatch %10.2f us  error of its rows %.0f %%\n", time.dispatch_us, 100 * time.dispatch_error);
        (void)printf("combine  %10.2f us  error of its rows %.0f %%\n", time.combine_us, 100 * time.combine_error);
        (void)printf("fitted on %" PRIu32 " rows of %s\n", time.rows, time.gpu);
    }
    return cli_end(status, &err);
}

static const struct cli_usage usage = {
    .tables = tables,
    .about = "How long DeepEP's kernels take to send tokens to their experts (dispatch) and to bring the "
             "results back (combine).",
    .examples = "  orrery coll experts --gpu h100 --nodes 4 --tokens 128 --topk 8 --hidden 7168\n"
                "  orrery coll experts --gpu h100 --nodes 4 --tokens 4096 --kernels normal\n",
};

const struct cli_command cli_coll_experts = {
    .name = "experts", .summary = "DeepEP's dispatch and combine", .usage = &usage, .run = run_experts};
