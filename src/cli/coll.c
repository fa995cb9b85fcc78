/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery coll show`: a collective as NCCL builds it, before any network is known. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_PAIRS = 4096, MOST_GPUS = 1 << 20 };

struct show_options {
    struct orr_coll_options coll;
    bool has_type;
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

#define AT(field)       .place = offsetof(struct show_options, coll.field)
#define RANKS(min, max) .kind = PARAM_COUNT32, .least = (min), .most = (max)

static const char *const originals[] = {"none", "simai", NULL};

static const struct param rows[] = {
    {"gpus", RANKS(1, MOST_GPUS), .group = PARAM_MACHINE, .value = "N", AT(gpus), .initial = "8",
     .help = "GPUs of the job"},
    {"gps", RANKS(1, MOST_GPUS), .group = PARAM_MACHINE, .value = "G", AT(gpus_per_server), .initial = "8",
     .help = "GPUs per server"},
    {"switches", RANKS(0, 1024), .group = PARAM_MACHINE, .flags = PARAM_RARE, .value = "N", AT(switches_per_server),
     .initial = "1", .help = "NVLink switches per server"},
    {"gpu-type", .kind = PARAM_TEXT, .group = PARAM_MACHINE, .value = "NAME", AT(gpu_type), .initial = "H100",
     .help = "A100, A800, H100, H800, H20, H200, B200 or GB200"},
    {"tp", RANKS(1, MOST_GPUS), .group = PARAM_WHAT, .value = "T", AT(tp), .unwritten = "N for --group tp, else 1",
     .help = "Tensor-parallel degree; the data-parallel one is N / T"},
    {"ep", RANKS(1, MOST_GPUS), .group = PARAM_WHAT, .value = "E", AT(ep), .initial = "1",
     .help = "Expert-parallel degree, a divisor of N / T"},
    {"group", .kind = PARAM_TEXT, .group = PARAM_WHAT, .value = "NAME", AT(group), .initial = "tp",
     .help = "Whose collective: tp, dp, ep or dp-ep"},
    {"rank", RANKS(0, MOST_GPUS - 1), .group = PARAM_WHAT, .value = "R", AT(rank), .initial = "0",
     .help = "The group of that type which R is in"},
    {"type", .kind = PARAM_TEXT, .group = PARAM_WHAT, .value = "NAME", AT(type), .initial = "all-reduce",
     .given = offsetof(struct show_options, has_type),
     .help = "all-reduce, all-gather, reduce-scatter, all-to-all, broadcast, reduce, gather, scatter, barrier or "
             "send-recv"},
    {"bytes", .kind = PARAM_SIZE, .group = PARAM_WHAT, .value = "SIZE", AT(bytes), .initial = "1MiB",
     .help = "Size of the whole buffer (all-gather: after it), or of each message of send-recv: 1MiB, 64KB, bytes"},
    {"root", RANKS(0, MOST_GPUS - 1), .group = PARAM_WHAT, .flags = PARAM_RARE, .value = "R", AT(root),
     .unwritten = "the group's first rank", .help = "Of broadcast, reduce, gather, scatter"},
    {"pairs", .kind = PARAM_READ, .group = PARAM_WHAT, .flags = PARAM_RARE, .value = "A:B,...", .read = read_pairs,
     .help = "Messages of send-recv, by sender and receiver"},
    {"algo", .kind = PARAM_TEXT, .group = PARAM_NETWORK, .value = "NAME", AT(algo), .initial = "auto",
     .help = "auto, ring, tree, nvls or nvls-tree"},
    {"channels", RANKS(1, 1024), .group = PARAM_NETWORK, .flags = PARAM_RARE, .value = "N", AT(channels),
     .unwritten = "the group's ranks per server", .help = "Rings; trees come in pairs per ring"},
    {"chunk", .kind = PARAM_SIZE, .group = PARAM_NETWORK, .flags = PARAM_RARE, .value = "SIZE", AT(chunk_bytes),
     .unwritten = "rings do not cut; NVLS in 4; trees and chains as NCCL's Simple protocol", .help = "Largest message"},
    {"nvls", .kind = PARAM_FLAG, .group = PARAM_NETWORK, AT(nvls),
     .help = "Reduce in the NVLink switch, where the GPUs can"},
    {"pxn", .kind = PARAM_FLAG, .group = PARAM_NETWORK, AT(pxn),
     .help = "Cross to other servers on the receiver's rail"},
    {"dump", .kind = PARAM_FLAG, .group = PARAM_OUTPUT, AT(dump),
     .help = "Print every group, channel and flow, a line each, instead of table and drawing"},
    {"svg", .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "FILE", AT(svg),
     .help = "Also draw the rings or trees"},
    {"compat", .kind = PARAM_CHOICE, .group = PARAM_OTHER, .flags = PARAM_RARE, .value = "NAME", AT(compat),
     .words = originals, .unwritten = "none",
     .help = "simai: as SimAI 1.6 with its holes; the environment variables AS_NVLS_ENABLE=1 and AS_PXN_ENABLE=1 then "
             "stand for --nvls and --pxn"},
    CLI_ROW_LIMIT(struct show_options, coll.memory_limit),
    {0},
};

static const struct param_table tables[] = {{rows, 0, 0}, {0}};

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
    bool messages = strcmp(coll->type, "send-recv") == 0;
    if (coll->pair_count > 0 && options->has_type && !messages) {
        return error_set(err, ORR_EINVAL, "--pairs is for --type send-recv, not %s", coll->type);
    }
    if (messages && coll->pair_count == 0) {
        return error_set(err, ORR_EINVAL, "--type send-recv needs --pairs SENDER:RECEIVER,...");
    }
    if (coll->tp == 0) {
        coll->tp = strcasecmp(coll->group, "tp") == 0 ? coll->gpus : 1;
    }
    if (coll->compat) {
        coll->nvls = coll->nvls || is_set("AS_NVLS_ENABLE");
        coll->pxn = coll->pxn || is_set("AS_PXN_ENABLE");
    }
    enum orr_status status = cli_limit_default(&coll->memory_limit, err);
    return status == ORR_OK && coll->svg != NULL ? cli_check_writable("--svg", coll->svg, err) : status;
}

static int run_show(const struct cli_command *self, int argc, char **argv)
{
    struct show_options options = {.has_type = false};
    struct orr_error err = {0};
    int code = 0;
    orr_coll_options_init(&options.coll);
    options.coll.tp = 0; /* follows from --group */
    param_defaults(tables, &options);
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
             "NVLink-switch reductions, and the messages with what each waits for. Prints what it costs and how it "
             "looks; --dump prints all of it. See docs/nccl.md.",
    .examples = "  orrery coll show --gpus 16 --bytes 64MiB\n"
                "  orrery coll show --gpus 32 --tp 4 --group dp --type all-gather --pxn\n"
                "  orrery coll show --gpus 64 --algo tree --svg trees.svg\n"
                "  orrery coll show --gpus 16 --nvls --algo nvls-tree\n"
                "  orrery coll show --gpus 16 --type send-recv --pairs 0:8,1:9 --bytes 1MiB\n"
                "  orrery coll show --compat simai --gpus 16 --tp 2 --ep 2 --group ep \\\n"
                "      --type all-to-all --dump\n",
};

static const struct cli_command coll_show = {
    .name = "show", .summary = "channels, flows and costs of one collective", .usage = &show_usage, .run = run_show};

static const struct cli_command *const commands[] = {&coll_show, NULL};

const struct cli_command cli_coll = {
    .name = "coll",
    .summary = "collectives as NCCL builds them",
    .subcommands = commands,
    .about = "Example:\n  orrery coll show --gpus 16 --type all-reduce --bytes 64MiB\n",
    .run = cli_dispatch,
};
