/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery coll show`: a collective as NCCL builds it, before any network is known. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    KEY_COMPAT = 256,
    KEY_GPUS,
    KEY_GPS,
    KEY_SWITCHES,
    KEY_TP,
    KEY_EP,
    KEY_GPU_TYPE,
    KEY_GROUP,
    KEY_RANK,
    KEY_TYPE,
    KEY_BYTES,
    KEY_ROOT,
    KEY_PAIRS,
    KEY_ALGO,
    KEY_CHANNELS,
    KEY_CHUNK,
    KEY_NVLS,
    KEY_PXN,
    KEY_DUMP,
    KEY_SVG,
    KEY_LIMIT
};

enum { MOST_PAIRS = 4096, MOST_GPUS = 1 << 20 };

struct show_options {
    struct cli_input input;
    struct orr_coll_options coll;
    bool has_type;
    struct orr_coll_pair *pairs;
};

static const struct argp_option table[] = {
    {"gpus", KEY_GPUS, "N", 0, "GPUs of the job. Default: 8", 0},
    {"gps", KEY_GPS, "G", 0, "GPUs per server. Default: 8", 0},
    {"switches", KEY_SWITCHES, "N", 0, "NVLink switches per server. Default: 1", 0},
    {"tp", KEY_TP, "T", 0, "Tensor-parallel degree; the data-parallel one is N / T. Default: N for --group tp, else 1",
     0},
    {"ep", KEY_EP, "E", 0, "Expert-parallel degree, a divisor of N / T. Default: 1", 0},
    {"gpu-type", KEY_GPU_TYPE, "NAME", 0, "A100, A800, H100 (default), H800, H20, H200, B200 or GB200", 0},
    {"group", KEY_GROUP, "NAME", 0, "Whose collective: tp (default), dp, ep or dp-ep", 0},
    {"rank", KEY_RANK, "R", 0, "The group of that type which R is in. Default: 0", 0},
    {"type", KEY_TYPE, "NAME", 0,
     "all-reduce (default), all-gather, reduce-scatter, all-to-all, broadcast, reduce, gather, scatter, barrier or "
     "send-recv",
     0},
    {"bytes", KEY_BYTES, "SIZE", 0,
     "Size of the whole buffer (all-gather: after it), or of each message of send-recv: 1MiB, 64KB, bytes. "
     "Default: 1MiB",
     0},
    {"root", KEY_ROOT, "R", 0, "Of broadcast, reduce, gather, scatter. Default: the group's first rank", 0},
    {"pairs", KEY_PAIRS, "A:B,...", 0, "Messages of send-recv, by sender and receiver", 0},
    {"algo", KEY_ALGO, "NAME", 0, "auto (default), ring, tree, nvls or nvls-tree", 0},
    {"channels", KEY_CHANNELS, "N", 0, "Rings; trees come in pairs per ring. Default: the group's ranks per server", 0},
    {"chunk", KEY_CHUNK, "SIZE", 0,
     "Largest message. Default: rings do not cut; NVLS in 4; trees and chains as NCCL's Simple protocol", 0},
    {"nvls", KEY_NVLS, NULL, 0, "Reduce in the NVLink switch, where the GPUs can", 0},
    {"pxn", KEY_PXN, NULL, 0, "Cross to other servers on the receiver's rail", 0},
    {"compat", KEY_COMPAT, "NAME", 0,
     "simai: as SimAI 1.6 with its holes; the environment variables AS_NVLS_ENABLE=1 and AS_PXN_ENABLE=1 then stand "
     "for --nvls and --pxn",
     0},
    {"dump", KEY_DUMP, NULL, 0, "Print every group, channel and flow, a line each, instead of table and drawing", 0},
    {"svg", KEY_SVG, "FILE", 0, "Also draw the rings or trees", 0},
    {"memory-limit", KEY_LIMIT, "SIZE", 0, CLI_LIMIT_HELP, 0},
    CLI_HELP_OPTION,
    {0},
};

static enum orr_status parse_u32(const char *option, const char *text, uint64_t least, uint64_t most, uint32_t *value,
                                 struct orr_error *err)
{
    uint64_t count = 0;
    enum orr_status status = param_parse_count(option, text, least, most, &count, err);
    if (status == ORR_OK) {
        *value = (uint32_t)count;
    }
    return status;
}

/* "0:8,1:9" */
static enum orr_status parse_pairs(const char *text, struct show_options *options, struct orr_error *err)
{
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
            return error_set(err, ORR_EINVAL, "--pairs: \"%.40s\" is not SENDER:RECEIVER,...: two ranks below %d", at,
                             MOST_GPUS);
        }
        if (options->coll.pair_count == MOST_PAIRS) {
            return error_set(err, ORR_ERANGE, "--pairs: more than %d", MOST_PAIRS);
        }
        pairs[options->coll.pair_count++] = (struct orr_coll_pair){(uint32_t)src, (uint32_t)dst};
        if (*after == '\0') {
            return ORR_OK;
        }
        at = after + 1;
    }
}

static enum orr_status parse_compat(const char *arg, struct show_options *options, struct orr_error *err)
{
    static const char *const words[] = {"simai", NULL};
    unsigned index = 0;
    enum orr_status status = param_parse_word("--compat", arg, words, &index, err);
    options->coll.compat = status == ORR_OK;
    return status;
}

static enum orr_status parse_number(int key, const char *arg, struct orr_coll_options *coll, struct orr_error *err)
{
    switch (key) {
    case KEY_GPUS:
        return parse_u32("--gpus", arg, 1, MOST_GPUS, &coll->gpus, err);
    case KEY_GPS:
        return parse_u32("--gps", arg, 1, MOST_GPUS, &coll->gpus_per_server, err);
    case KEY_SWITCHES:
        return parse_u32("--switches", arg, 0, 1024, &coll->switches_per_server, err);
    case KEY_TP:
        return parse_u32("--tp", arg, 1, MOST_GPUS, &coll->tp, err);
    case KEY_EP:
        return parse_u32("--ep", arg, 1, MOST_GPUS, &coll->ep, err);
    case KEY_RANK:
        return parse_u32("--rank", arg, 0, MOST_GPUS - 1, &coll->rank, err);
    case KEY_ROOT:
        return parse_u32("--root", arg, 0, MOST_GPUS - 1, &coll->root, err);
    default:
        return parse_u32("--channels", arg, 1, 1024, &coll->channels, err);
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct show_options *options = state->input;
    struct orr_coll_options *coll = &options->coll;
    struct orr_error *err = &options->input.error;
    switch (key) {
    case KEY_COMPAT:
        return cli_options_status(parse_compat(arg, options, err));
    case KEY_GPUS:
    case KEY_GPS:
    case KEY_SWITCHES:
    case KEY_TP:
    case KEY_EP:
    case KEY_RANK:
    case KEY_ROOT:
    case KEY_CHANNELS:
        return cli_options_status(parse_number(key, arg, coll, err));
    case KEY_GPU_TYPE:
        coll->gpu_type = arg;
        return 0;
    case KEY_GROUP:
        coll->group = arg;
        return 0;
    case KEY_TYPE:
        coll->type = arg;
        options->has_type = true;
        return 0;
    case KEY_BYTES:
        return cli_options_status(param_parse_size("--bytes", arg, &coll->bytes, err));
    case KEY_PAIRS:
        return cli_options_status(parse_pairs(arg, options, err));
    case KEY_ALGO:
        coll->algo = arg;
        return 0;
    case KEY_CHUNK:
        return cli_options_status(param_parse_size("--chunk", arg, &coll->chunk_bytes, err));
    case KEY_NVLS:
        coll->nvls = true;
        return 0;
    case KEY_PXN:
        coll->pxn = true;
        return 0;
    case KEY_DUMP:
        coll->dump = true;
        return 0;
    case KEY_SVG:
        coll->svg = arg;
        return 0;
    case KEY_LIMIT:
        return cli_options_status(cli_parse_limit("--memory-limit", arg, &coll->memory_limit, err));
    default:
        return cli_options_default(key, arg, state);
    }
}

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
    struct show_options options = {.coll = ORR_COLL_OPTIONS_DEFAULT};
    struct orr_error err = {0};
    options.coll.tp = 0;
    enum orr_status status = cli_options_parse(self, argc, argv, &options.input, &err);
    if (status == ORR_OK && options.input.help) {
        free(options.pairs);
        cli_print_help(self, argv[0], stdout);
        return 0;
    }
    if (status == ORR_OK) {
        status = complete(&options, &err);
    }
    if (status == ORR_OK) {
        status = orr_coll_show(&options.coll, stdout, &err);
    }
    free(options.pairs);
    return cli_end(status, &err);
}

static const struct argp show_argp = {
    .options = table,
    .parser = parse,
    .doc = "Lay out a collective as NCCL does: groups of ranks, channels that are rings, double binary trees or NVLink-"
           "switch reductions, and the messages with what each waits for. Prints what it costs and how it looks; "
           "--dump prints all of it. See docs/nccl.md.\v"
           "Examples:\n"
           "  orrery coll show --gpus 16 --bytes 64MiB\n"
           "  orrery coll show --gpus 32 --tp 4 --group dp --type all-gather --pxn\n"
           "  orrery coll show --gpus 64 --algo tree --svg trees.svg\n"
           "  orrery coll show --gpus 16 --nvls --algo nvls-tree\n"
           "  orrery coll show --gpus 16 --type send-recv --pairs 0:8,1:9 --bytes 1MiB\n"
           "  orrery coll show --compat simai --gpus 16 --tp 2 --ep 2 --group ep \\\n"
           "      --type all-to-all --dump\n",
};

static const struct cli_command coll_show = {
    .name = "show", .summary = "channels, flows and costs of one collective", .argp = &show_argp, .run = run_show};

static const struct cli_command *const commands[] = {&coll_show, NULL};

const struct cli_command cli_coll = {
    .name = "coll",
    .summary = "collectives as NCCL builds them",
    .subcommands = commands,
    .about = "Example:\n  orrery coll show --gpus 16 --type all-reduce --bytes 64MiB\n",
    .run = cli_dispatch,
};
