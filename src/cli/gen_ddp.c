/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery gen ddp`: data-parallel training steps without a recording. */
#include "cli/cli.h"

#include <inttypes.h>

enum {
    KEY_MODEL = 256,
    KEY_PARAMS,
    KEY_DTYPE,
    KEY_BUCKET,
    KEY_FIRST_BUCKET,
    KEY_FORWARD,
    KEY_BACKWARD,
    KEY_OPTIMIZER,
    KEY_STEPS,
    KEY_NPUS,
    KEY_LIST,
};

struct ddp_options {
    struct cli_input input;
    struct orr_ddp_options ddp;
    bool list;
};

static const struct argp_option table[] = {
    {"model", KEY_MODEL, "NAME", 0, "A model whose layers are known; --list-models shows them", 0},
    {"params", KEY_PARAMS, "N", 0, "In place of a model: a number of parameters, in buckets of equal size", 0},
    {"dtype", KEY_DTYPE, "NAME", 0, "Elements of gradients: fp32 (default), fp16 or bf16", 0},
    {"bucket-size", KEY_BUCKET, "SIZE", 0, "A bucket is closed when it has so much. Default: 25MiB, as in PyTorch", 0},
    {"first-bucket", KEY_FIRST_BUCKET, "SIZE", 0, "The same of the first bucket. Default: 1MiB, as in PyTorch", 0},
    {"forward", KEY_FORWARD, "TIME", 0, "Length of the forward pass: 20ms, 500us; bare: us. Default: 0", 0},
    {"backward", KEY_BACKWARD, "TIME", 0,
     "Length of the backward pass; buckets become ready in it by their bytes. Default: 0: all are ready at once", 0},
    {"optimizer", KEY_OPTIMIZER, "TIME", 0, "Length of the update after the last all-reduce. Default: 0", 0},
    {"steps", KEY_STEPS, "N", 0, "Steps, one after the other. Default: 1", 0},
    {"npus", KEY_NPUS, "N", 0, "Ranks to write. Default: 8", 0},
    {"output", 'o', "PREFIX", 0, "Files are PREFIX.RANK.et; missing folders are made. Required", 0},
    {"list-models", KEY_LIST, NULL, 0, "Name the models and exit", 0},
    CLI_HELP_OPTION,
    {0},
};

static error_t parse_count(int key, const char *arg, struct ddp_options *options)
{
    struct orr_ddp_options *ddp = &options->ddp;
    struct orr_error *err = &options->input.error;
    uint64_t count = 0;
    switch (key) {
    case KEY_PARAMS:
        return cli_options_status(param_parse_count("--params", arg, 1, UINT64_MAX, &ddp->params, err));
    case KEY_STEPS:
        return cli_options_status(param_parse_count("--steps", arg, 1, 1u << 20, &ddp->steps, err));
    case KEY_NPUS: {
        enum orr_status status = param_parse_count("--npus", arg, 1, 1u << 20, &count, err);
        ddp->npus = (uint32_t)count;
        return cli_options_status(status);
    }
    case KEY_BUCKET:
        return cli_options_status(param_parse_size("--bucket-size", arg, &ddp->bucket_bytes, err));
    default:
        return cli_options_status(param_parse_size("--first-bucket", arg, &ddp->first_bucket_bytes, err));
    }
}

static error_t parse_dtype(const char *arg, struct ddp_options *options)
{
    static const char *const words[] = {"fp32", "fp16", "bf16", NULL};
    unsigned index = 0;
    enum orr_status status = param_parse_word("--dtype", arg, words, &index, &options->input.error);
    options->ddp.element_bytes = index == 0 ? 4 : 2;
    return cli_options_status(status);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct ddp_options *options = state->input;
    struct orr_error *err = &options->input.error;
    switch (key) {
    case KEY_MODEL:
        options->ddp.model = arg;
        return 0;
    case 'o':
        options->ddp.prefix = arg;
        return 0;
    case KEY_LIST:
        options->list = true;
        return 0;
    case KEY_DTYPE:
        return parse_dtype(arg, options);
    case KEY_FORWARD:
        return cli_options_status(cli_parse_trace_time("--forward", arg, &options->ddp.forward_us, err));
    case KEY_BACKWARD:
        return cli_options_status(cli_parse_trace_time("--backward", arg, &options->ddp.backward_us, err));
    case KEY_OPTIMIZER:
        return cli_options_status(cli_parse_trace_time("--optimizer", arg, &options->ddp.optimizer_us, err));
    case KEY_PARAMS:
    case KEY_STEPS:
    case KEY_NPUS:
    case KEY_BUCKET:
    case KEY_FIRST_BUCKET:
        return parse_count(key, arg, options);
    default:
        return cli_options_default(key, arg, state);
    }
}

static int list_models(void)
{
    for (const char *const *name = orr_ddp_models(); *name != NULL; name++) {
        (void)printf("%-16s %s\n", *name, orr_ddp_model_text(*name));
    }
    return 0;
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct ddp_options options = {
        .ddp = {.element_bytes = 4, .bucket_bytes = 25u << 20, .first_bucket_bytes = 1u << 20, .steps = 1, .npus = 8}};
    struct orr_ddp_summary summary = {0};
    struct orr_error err = {0};
    enum orr_status status = cli_options_parse(self, argc, argv, &options.input, &err);
    if (status == ORR_OK && options.input.help) {
        cli_print_help(self, argv[0], stdout);
        return 0;
    }
    if (status == ORR_OK && options.list) {
        return list_models();
    }
    if (status == ORR_OK && options.ddp.model == NULL && options.ddp.params == 0) {
        status = error_set(&err, ORR_EINVAL, "missing --model NAME (--list-models shows them) or --params N");
    }
    if (status == ORR_OK && (options.ddp.prefix == NULL || options.ddp.prefix[0] == '\0')) {
        status = error_set(&err, ORR_EINVAL, "missing -o PREFIX (where to write; files are PREFIX.RANK.et)");
    }
    if (status == ORR_OK) {
        status = orr_gen_ddp(&options.ddp, &summary, &err);
    }
    if (status != ORR_OK) {
        return cli_fail(&err);
    }
    (void)printf("Wrote %" PRIu32 " trace%s, %s.0.et%s: %" PRIu64 " step%s of %" PRIu64 " bytes in %" PRIu32
                 " bucket%s, the first of %" PRIu64 ".\n",
                 options.ddp.npus, options.ddp.npus == 1 ? "" : "s", options.ddp.prefix,
                 options.ddp.npus == 1 ? "" : " and so on", options.ddp.steps, options.ddp.steps == 1 ? "" : "s",
                 summary.bytes, summary.buckets, summary.buckets == 1 ? "" : "s", summary.first_bytes);
    return 0;
}

static const struct argp argp = {
    .options = table,
    .parser = parse,
    .doc = "Write traces of data-parallel training steps: a forward pass, a backward pass, an all-reduce of each "
           "bucket of "
           "gradients as soon as it is full, as PyTorch's DistributedDataParallel does it, and an update.\v"
           "Examples:\n"
           "  orrery gen ddp --list-models\n"
           "  orrery gen ddp --model resnet50 --forward 30ms --backward 60ms -o traces/ddp\n"
           "  orrery gen ddp --params 7000000000 --dtype bf16 --npus 2 -o traces/seven\n",
};

const struct cli_command cli_gen_ddp = {
    .name = "ddp", .summary = "data-parallel training steps of a model", .argp = &argp, .run = run};
