/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace compose`: a tensor-parallel trace as one replica of a data-parallel job. */
#include "cli/trace.h"

struct compose_options {
    struct orr_compose_options compose;
    bool dry_run, strict;
};

#define AT(field)    .place = offsetof(struct compose_options, compose.field)
#define COUNT(field) .kind = PARAM_COUNT32, .value = "N", AT(field), .least = 1, .most = UINT32_C(1) << 20
#define SIZE(field)  .kind = PARAM_SIZE, .value = "SIZE", AT(field), .least = 1

static const struct param rows[] = {
    {"tp", COUNT(tp), .help = "Required: tensor-parallel degree of the job, ranks of a replica"},
    {"dp", COUNT(dp), .help = "Required: data-parallel degree, replicas"},
    {"trace-tp", COUNT(trace_tp),
     .help = "Tensor-parallel degree of the traced job. With another parameter 'tp', compute on the device is "
             "multiplied by traced/wanted",
     .unwritten = "as many as there are traces"},
    {"params", .kind = PARAM_COUNT, .group = PARAM_COMPUTE, .value = "N", AT(params), .least = 1,
     .help = "Parameters of the whole model; a rank's gradients are those of its shard. Without it and parameter "
             "'gradient-bytes', model_info_TAG.json beside the traces says them, their type and parameter 'trace-tp', "
             "where these are not given"},
    {"dtype", .kind = PARAM_TEXT, .group = PARAM_COMPUTE, .value = "TYPE", AT(dtype),
     .help = "Type of a gradient: fp32, fp16, bf16, fp64 or fp8", .unwritten = "fp32"},
    {"gradient-bytes", SIZE(gradient_bytes), .group = PARAM_COMPUTE,
     .help = "Gradients of one rank, in place of parameter 'params': 64MiB, bytes"},
    {"bucket-size", SIZE(bucket_bytes), .group = PARAM_COMPUTE,
     .help = "Size of a gradient bucket; the rest is the last", .unwritten = "25MiB"},
    {"first-bucket", SIZE(first_bucket_bytes), .group = PARAM_COMPUTE, .flags = PARAM_RARE,
     .help = "Another size for the first; PyTorch has 1MiB", .unwritten = "as all"},
    {"buckets", COUNT(buckets), .group = PARAM_COMPUTE, .flags = PARAM_RARE,
     .help = "So many equal buckets, in place of a size"},
    {"backward", .kind = PARAM_TEXT, .group = PARAM_COMPUTE, .flags = PARAM_RARE, .value = "PATTERN", AT(backward),
     .help = "Names of backward work, of nodes or of the ops around them: a shell pattern (*bwd*), or /REGEX/ found "
             "anywhere in it",
     .unwritten = "as PyTorch and text workloads name it"},
    {"no-overlap", .kind = PARAM_FLAG, .group = PARAM_COMPUTE, AT(no_overlap),
     .help = "All buckets after the last compute of their step"},
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "PREFIX", AT(output),
     .help = "Write PREFIX.R.et and PREFIX.groups.json. Missing folders are made"},
    {"write-all", .kind = PARAM_FLAG, .group = PARAM_OUTPUT, AT(write_all),
     .help = "Write the traces of all ranks, not those of one replica alone"},
    {"dry-run", .kind = PARAM_FLAG, .group = PARAM_OUTPUT, .place = offsetof(struct compose_options, dry_run),
     .help = "Write nothing; only report"},
    CLI_ROW_STRICT(struct compose_options, strict),
    CLI_ROW_LIMIT(struct compose_options, compose.memory_limit),
    {0},
};

static const struct param_table tables[] = {{rows, 0, 0}, {0}};

static enum orr_status cli_trace_compose_take_input(void *into, const char *word, struct orr_error *err)
{
    struct compose_options *options = into;
    if (options->compose.input != NULL) {
        return error_set(err, ORR_EINVAL, "a second prefix \"%.200s\"; the traces of one group have one", word);
    }
    options->compose.input = word;
    return ORR_OK;
}

static enum orr_status cli_trace_compose_check(struct compose_options *options, struct orr_error *err)
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

static int run_compose(const struct cli_command *self, int argc, char **argv)
{
    struct compose_options options = {0};
    struct cli_warnings warnings = {0};
    struct orr_error err = {0};
    int exit_code = 0;
    if (!cli_begin(self, argc, argv, &options, &exit_code)) {
        return exit_code;
    }
    enum orr_status status = cli_trace_compose_check(&options, &err);
    if (status == ORR_OK) {
        struct orr_notices notices = cli_notices(&warnings, options.strict);
        status = orr_trace_compose(&options.compose, &notices, stdout, &err);
        cli_warnings_end(&warnings);
    }
    return cli_end(status, &err);
}

static const char *const headings[PARAM_GROUPS] = {[PARAM_WHAT] = "The job:", [PARAM_COMPUTE] = "Its gradients:"};

static const struct cli_usage usage = {
    .tables = tables,
    .forms = "PREFIX --tp N --dp N --params N -o OUT\nPREFIX --tp N --dp N --gradient-bytes SIZE -o OUT",
    .about = "Make a data-parallel job of the traces PREFIX.0.et, PREFIX.1.et ... of one tensor-parallel group. Their "
             "collectives become those of the tensor-parallel group; each rank's gradients, of its shard of the model, "
             "are reduced over the data-parallel group in buckets that start as the backward pass goes on; what comes "
             "after it on the device waits for the last. Written are the traces of one replica and the groups, which "
             "lab run --parallel tp:N,dp:1 --world-size W and run --grow=tp:N,dp:1 grow to all ranks in memory, or "
             "with --write-all the traces of all ranks.",
    .examples = "  orrery trace compose traces/job --tp 2 --dp 4 --params 545098 \\\n"
                "      -o composed/job\n"
                "  orrery trace compose traces/job --tp 8 --dp 16 --gradient-bytes 256MiB \\\n"
                "      --backward '*Backward*' --dry-run\n"
                "  orrery lab run --workload composed/job --parallel tp:2,dp:1 --world-size 8\n",
    .headings = headings,
    .argument = cli_trace_compose_take_input,
};

const struct cli_command cli_trace_compose = {.name = "compose",
                                              .summary = "make a data-parallel job of a tensor-parallel trace",
                                              .usage = &usage,
                                              .run = run_compose};
