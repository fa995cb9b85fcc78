/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace compose`: a tensor-parallel trace as one replica of a data-parallel job. */
#include "cli/trace.h"

enum {
    KEY_TP = 256,
    KEY_DP,
    KEY_TRACE_TP,
    KEY_PARAMS,
    KEY_DTYPE,
    KEY_GRADIENT_BYTES,
    KEY_BUCKET_SIZE,
    KEY_FIRST_BUCKET,
    KEY_BUCKETS,
    KEY_BACKWARD,
    KEY_NO_OVERLAP,
    KEY_WRITE_ALL,
    KEY_DRY_RUN,
    KEY_STRICT,
    KEY_LIMIT
};

struct compose_options {
    struct cli_input input;
    struct orr_compose_options compose;
    bool dry_run, strict;
};

static const struct argp_option table[] = {
    {"tp", KEY_TP, "N", 0, "Tensor-parallel degree of the job: ranks of a replica. Required", 0},
    {"dp", KEY_DP, "N", 0, "Data-parallel degree: replicas. Required", 0},
    {"trace-tp", KEY_TRACE_TP, "N", 0,
     "Tensor-parallel degree of the traced job. With another --tp, compute on the device is multiplied by "
     "traced/wanted. Default: as many as there are traces",
     0},
    {"params", KEY_PARAMS, "N", 0,
     "Parameters of the whole model; a rank's gradients are those of its shard. Without it and --gradient-bytes, "
     "model_info_TAG.json beside the traces says them, their type and --trace-tp, where these are not given",
     0},
    {"dtype", KEY_DTYPE, "TYPE", 0, "Type of a gradient: fp32, fp16, bf16, fp64 or fp8. Default: fp32", 0},
    {"gradient-bytes", KEY_GRADIENT_BYTES, "SIZE", 0, "Gradients of one rank, in place of --params: 64MiB, bytes", 0},
    {"bucket-size", KEY_BUCKET_SIZE, "SIZE", 0, "Size of a gradient bucket; the rest is the last. Default: 25MiB", 0},
    {"first-bucket", KEY_FIRST_BUCKET, "SIZE", 0, "Another size for the first; PyTorch has 1MiB. Default: as all", 0},
    {"buckets", KEY_BUCKETS, "N", 0, "So many equal buckets, in place of a size", 0},
    {"backward", KEY_BACKWARD, "PATTERN", 0,
     "Names of backward work, of nodes or of the ops around them: a shell pattern (*bwd*), or /REGEX/ found anywhere "
     "in it. Default: as PyTorch and text workloads name it",
     0},
    {"no-overlap", KEY_NO_OVERLAP, NULL, 0, "All buckets after the last compute of their step", 0},
    {"output", 'o', "PREFIX", 0, "Write PREFIX.R.et and PREFIX.groups.json. Missing folders are made", 0},
    {"write-all", KEY_WRITE_ALL, NULL, 0, "Write the traces of all ranks, not those of one replica alone", 0},
    {"dry-run", KEY_DRY_RUN, NULL, 0, "Write nothing; only report", 0},
    {"strict", KEY_STRICT, NULL, 0, CLI_STRICT_HELP, 0},
    {"memory-limit", KEY_LIMIT, "SIZE", 0, CLI_LIMIT_HELP, 0},
    CLI_HELP_OPTION,
    {0},
};

/* Options that are whole numbers of 1 and more. */
static error_t parse_count(int key, const char *arg, struct compose_options *options)
{
    struct orr_compose_options *compose = &options->compose;
    const struct {
        int key;
        const char *name;
        uint32_t *count;
    } counts[] = {
        {KEY_TP, "--tp", &compose->tp},
        {KEY_DP, "--dp", &compose->dp},
        {KEY_TRACE_TP, "--trace-tp", &compose->trace_tp},
        {KEY_BUCKETS, "--buckets", &compose->buckets},
    };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        if (counts[i].key == key) {
            uint64_t value = 0;
            enum orr_status status = param_parse_count(counts[i].name, arg, 1, 1u << 20, &value, &options->input.error);
            *counts[i].count = (uint32_t)value;
            return cli_options_status(status);
        }
    }
    return ARGP_ERR_UNKNOWN;
}

static error_t parse_size(const char *option, const char *arg, uint64_t *bytes, struct orr_error *err)
{
    enum orr_status status = param_parse_size(option, arg, bytes, err);
    if (status == ORR_OK && *bytes == 0) {
        status = error_set(err, ORR_ERANGE, "%s: 0 bytes; at least 1", option);
    }
    return cli_options_status(status);
}

static error_t parse_input(const char *arg, struct compose_options *options)
{
    if (options->compose.input != NULL) {
        return cli_options_status(error_set(&options->input.error, ORR_EINVAL,
                                            "a second prefix \"%.200s\"; the traces of one group have one", arg));
    }
    options->compose.input = arg;
    return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct compose_options *options = state->input;
    struct orr_compose_options *compose = &options->compose;
    struct orr_error *err = &options->input.error;
    switch (key) {
    case KEY_TP:
    case KEY_DP:
    case KEY_TRACE_TP:
    case KEY_BUCKETS:
        return parse_count(key, arg, options);
    case KEY_PARAMS:
        return cli_options_status(param_parse_count("--params", arg, 1, UINT64_MAX, &compose->params, err));
    case KEY_DTYPE:
        compose->dtype = arg;
        return 0;
    case KEY_GRADIENT_BYTES:
        return parse_size("--gradient-bytes", arg, &compose->gradient_bytes, err);
    case KEY_BUCKET_SIZE:
        return parse_size("--bucket-size", arg, &compose->bucket_bytes, err);
    case KEY_FIRST_BUCKET:
        return parse_size("--first-bucket", arg, &compose->first_bucket_bytes, err);
    case KEY_BACKWARD:
        compose->backward = arg;
        return 0;
    case KEY_NO_OVERLAP:
        compose->no_overlap = true;
        return 0;
    case 'o':
        compose->output = arg;
        return 0;
    case KEY_WRITE_ALL:
        compose->write_all = true;
        return 0;
    case KEY_DRY_RUN:
        options->dry_run = true;
        return 0;
    case KEY_STRICT:
        options->strict = true;
        return 0;
    case KEY_LIMIT:
        return cli_options_status(cli_parse_limit("--memory-limit", arg, &compose->memory_limit, err));
    case ARGP_KEY_ARG:
        return parse_input(arg, options);
    default:
        return cli_options_default(key, arg, state);
    }
}

static enum orr_status check(struct compose_options *options, struct orr_error *err)
{
    struct orr_compose_options *compose = &options->compose;
    if (compose->input == NULL) {
        return error_set(err, ORR_EINVAL, "no input given; name PREFIX of the traces PREFIX.0.et, PREFIX.1.et …");
    }
    if (compose->tp == 0 || compose->dp == 0) {
        return error_set(err, ORR_EINVAL, "missing %s N: the %s-parallel degree of the job",
                         compose->tp == 0 ? "--tp" : "--dp", compose->tp == 0 ? "tensor" : "data");
    }
    if (compose->output == NULL && !options->dry_run) {
        return error_set(err, ORR_EINVAL, "missing -o PREFIX (where to write) or --dry-run");
    }
    if (options->dry_run) {
        compose->output = NULL;
    }
    return cli_limit_default(&compose->memory_limit, err);
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct compose_options options = {.compose = {.tp = 0}};
    struct cli_warnings warnings = {0};
    struct orr_error err = {0};
    enum orr_status status = cli_options_parse(self, argc, argv, &options.input, &err);
    if (status == ORR_OK && options.input.help) {
        cli_print_help(self, argv[0], stdout);
        return 0;
    }
    status = status != ORR_OK ? status : check(&options, &err);
    if (status == ORR_OK) {
        struct orr_notices notices = cli_notices(&warnings, options.strict);
        status = orr_trace_compose(&options.compose, &notices, stdout, &err);
        cli_warnings_end(&warnings);
    }
    return cli_end(status, &err);
}

static const struct argp argp = {
    .options = table,
    .parser = parse,
    .args_doc = "PREFIX --tp N --dp N --params N -o OUT\nPREFIX --tp N --dp N --gradient-bytes SIZE -o OUT",
    .doc = "Make a data-parallel job of the traces PREFIX.0.et, PREFIX.1.et ... of one tensor-parallel group. Their "
           "collectives become those of the tensor-parallel group; each rank's gradients, of its shard of the model, "
           "are reduced over the data-parallel group in buckets that start as the backward pass goes on; what comes "
           "after it on the device waits for the last. Written are the traces of one replica and the groups, which "
           "lab run --parallel tp:N,dp:1 --world-size W and run --grow=tp:N,dp:1 grow to all ranks in memory, or with "
           "--write-all the traces of all ranks.\v"
           "Examples:\n"
           "  orrery trace compose traces/job --tp 2 --dp 4 --params 545098 \\\n"
           "      -o composed/job\n"
           "  orrery trace compose traces/job --tp 8 --dp 16 --gradient-bytes 256MiB \\\n"
           "      --backward '*Backward*' --dry-run\n"
           "  orrery lab run --workload composed/job --parallel tp:2,dp:1 --world-size 8\n",
};

const struct cli_command cli_trace_compose = {
    .name = "compose", .summary = "make a data-parallel job of a tensor-parallel trace", .argp = &argp, .run = run};
