/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery coll show`: a collective as NCCL builds it, before any network is known. */
#include "cli/coll.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PAIRS = 4096, MOST_GPUS = 1 << 20 };

struct show_options {
    struct orr_coll_options coll;
    struct orr_coll_pair *pairs;
};

/* "0:8,1:9" */
static enum orr_status read_pairs(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct show_options *options = into;
    (void)row;
    struct orr_coll_pair *pairs = calloc(MOST_PAIRS, sizeof *pairs);
    if (pairs == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory for the pairs");
    }
    free(options->pairs);
    options->pairs = pairs;
    options->coll.pairs = pairs;
    options->coll.pair_count = 0;
    const char *at = text;
    for (;;) {
        char *end = NULL;
        unsigned long src = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : 0;
        char *after = NULL;
        bool has_dst = end != NULL && *end == ':' && end[1] >= '0' && end[1] <= '9';
        unsigned long dst = has_dst ? strtoul(end + 1, &after, 10) : 0;
        if (after == NULL || (*after != ',' && *after != '\0') || src >= MOST_GPUS || dst >= MOST_GPUS) {
            return error_set(err, ORR_EINVAL,
                             "parameter 'pairs': \"%.40s\" is not SENDER:RECEIVER,...: two ranks below %d", at,
                             MOST_GPUS);
        }
        if (options->coll.pair_count == MOST_PAIRS) {
            return error_set(err, ORR_ERANGE, "parameter 'pairs': more than %d", MOST_PAIRS);
        }
        pairs[options->coll.pair_count++] = (struct orr_coll_pair){(uint32_t)src, (uint32_t)dst};
        if (*after == '\0') {
            return ORR_OK;
        }
        at = after + 1;
    }
}

static const struct param rows[] = {
    {"pairs", .kind = PARAM_READ, .group = PARAM_WHAT, .flags = PARAM_RARE, .value = "A:B,...", .read = read_pairs,
     .help = "Messages of send-recv, by sender and receiver"},
    CLI_ROW_LIMIT(struct show_options, coll.memory_limit),
    {0},
};

static const struct param_table tables[] = {{param_coll, 0, offsetof(struct show_options, coll)}, {rows, 0, 0}, {0}};

static const char *const headings[PARAM_GROUPS] = {
    [PARAM_WHAT] = "Which collective:", [PARAM_NETWORK] = "How NCCL does it:"};

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && strcmp(value, "1") == 0;
}

static enum orr_status complete(struct show_options *options, struct orr_error *err)
{
    struct orr_coll_options *coll = &options->coll;
    if (coll->compat) {
        coll->nvls = coll->nvls || is_set("AS_NVLS_ENABLE");
        coll->pxn = coll->pxn || is_set("AS_PXN_ENABLE");
    }
    enum orr_status status = cli_limit_default(&coll->memory_limit, err);
    return status == ORR_OK && coll->svg != NULL ? cli_check_writable("--svg", coll->svg, err) : status;
}

static int cli_coll_run_show(const struct cli_command *self, int argc, char **argv)
{
    struct show_options options = {.pairs = NULL};
    struct orr_error err = {0};
    int code = 0;
    orr_coll_options_init(&options.coll);
    if (cli_begin(self, argc, argv, &options, &code)) {
        enum orr_status status = complete(&options, &err);
        code = cli_end(status == ORR_OK ? orr_coll_show(&options.coll, stdout, &err) : status, &err);
    }
    free(options.pairs);
    return code;
}

static const struct cli_usage show_usage = {
    .tables = tables,
    .headings = headings,
    .about = "Lay out a collective as NCCL does: groups of ranks, channels that are rings, double binary trees or "
             "NVLink-switch reductions, and the messages with what each waits for. Prints its cost and structure; "
             "--dump prints every message. See docs/nccl.md.",
    .examples = "  orrery coll show --gpus 16 --bytes 64MiB\n"
                "  orrery coll show --gpus 32 --tp 4 --group dp --type all-gather --pxn\n"
                "  orrery coll show --gpus 64 --algo tree --svg trees.svg\n"
                "  orrery coll show --gpus 16 --nvls --algo nvls-tree\n"
                "  orrery coll show --gpus 16 --type send-recv --pairs 0:8,1:9 --bytes 1MiB\n"
                "  orrery coll show --compat simai --gpus 16 --tp 2 --ep 2 --group ep \\\n"
                "      --type all-to-all --dump\n",
};

static const struct cli_command coll_show = {.name = "show",
                                             .summary = "channels, flows and costs of one collective",
                                             .usage = &show_usage,
                                             .run = cli_coll_run_show};

static const struct cli_command *const commands[] = {&coll_show,    &cli_coll_time,    &cli_coll_compare,
                                                     &cli_coll_fit, &cli_coll_experts, NULL};

const struct cli_command cli_coll = {
    .name = "coll",
    .summary = "how NCCL builds collectives, and how long they take",
    .subcommands = commands,
    .about = "Examples:\n  orrery coll show --gpus 16 --type all-reduce --bytes 64MiB\n"
             "  orrery coll time --machine dgx-h100:2 --op all-reduce\n",
    .run = cli_dispatch,
};
