/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery gen ddp`: data-parallel training steps without a recording. */
#include "cli/cli.h"

#include <inttypes.h>

struct ddp_command {
    struct orr_ddp_options ddp;
    bool list;
};

/* The elements of gradients by what they are called; `element_bytes` is all the library wants of them. */
static enum orr_status read_dtype(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    static const char *const words[] = {"fp32", "fp16", "bf16", NULL};
    struct ddp_command *command = into;
    unsigned index = 0;
    (void)row;
    enum orr_status status = param_parse_word("parameter 'dtype'", text, words, &index, err);
    if (status == ORR_OK) {
        command->ddp.element_bytes = index == 0 ? 4 : 2;
    }
    return status;
}

#define AT(field) .place = offsetof(struct ddp_command, field)

static const struct param rows[] = {
    {"model", .kind = PARAM_TEXT, .group = PARAM_WHAT, .value = "NAME", AT(ddp.model),
     .help = "A model whose layers are known; --list-models shows them"},
    {"params", .kind = PARAM_COUNT, .group = PARAM_WHAT, .value = "N", AT(ddp.params), .least = 1,
     .help = "In place of a model: a number of parameters, in buckets of equal size"},
    {"dtype", .kind = PARAM_READ, .group = PARAM_WHAT, .value = "NAME", .read = read_dtype, .initial = "fp32",
     .help = "Elements of gradients: fp32, fp16 or bf16"},
    {"bucket-size", .kind = PARAM_SIZE, .group = PARAM_WHAT, .value = "SIZE", AT(ddp.bucket_bytes), .initial = "25MiB",
     .unwritten = "25MiB, as in PyTorch", .help = "A bucket is closed when it has so much"},
    {"first-bucket", .kind = PARAM_SIZE, .group = PARAM_WHAT, .value = "SIZE", AT(ddp.first_bucket_bytes),
     .initial = "1MiB", .unwritten = "1MiB, as in PyTorch", .help = "The same of the first bucket"},
    {"forward", .kind = PARAM_MICROSECONDS, .group = PARAM_COMPUTE, .value = "TIME", AT(ddp.forward_us), .initial = "0",
     .help = "Length of the forward pass: 20ms, 500us; bare: us"},
    {"backward", .kind = PARAM_MICROSECONDS, .group = PARAM_COMPUTE, .value = "TIME", AT(ddp.backward_us),
     .initial = "0", .unwritten = "0: all are ready at once",
     .help = "Length of the backward pass; buckets become ready in it by their bytes"},
    {"optimizer", .kind = PARAM_MICROSECONDS, .group = PARAM_COMPUTE, .value = "TIME", AT(ddp.optimizer_us),
     .initial = "0", .help = "Length of the update after the last all-reduce"},
    {"steps", .kind = PARAM_COUNT, .group = PARAM_WHAT, .value = "N", AT(ddp.steps), .least = 1, .most = 1u << 20,
     .initial = "1", .help = "Steps, one after the other"},
    {"ranks", "npus", .kind = PARAM_COUNT32, .group = PARAM_OUTPUT, .value = "N", AT(ddp.npus), .least = 1,
     .most = 1u << 20, .initial = "8", .help = "Ranks to write"},
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "PREFIX", AT(ddp.prefix),
     .help = "Required: files are PREFIX.RANK.et; missing folders are made"},
    {"list-models", .kind = PARAM_FLAG, .group = PARAM_OTHER, AT(list), .help = "Name the models and exit"},
    {0},
};

static const char *const headings[PARAM_GROUPS] = {[PARAM_WHAT] = "What is trained:"};

static const struct param_table tables[] = {{rows, 0, 0}, {0}};

static int list_models(void)
{
    for (const char *const *name = orr_ddp_models(); *name != NULL; name++) {
        (void)printf("%-16s %s\n", *name, orr_ddp_model_text(*name));
    }
    return 0;
}

static enum orr_status cli_gen_ddp_check(const struct orr_ddp_options *ddp, struct orr_error *err)
{
    if (ddp->model == NULL && ddp->params == 0) {
        return error_set(err, ORR_EINVAL, "missing --model NAME (--list-models shows them) or --params N");
    }
    if (ddp->prefix == NULL || ddp->prefix[0] == '\0') {
        return error_set(err, ORR_EINVAL, "missing -o PREFIX (where to write; files are PREFIX.RANK.et)");
    }
    return ORR_OK;
}

static int cli_gen_ddp_run(const struct cli_command *self, int argc, char **argv)
{
    struct ddp_command command = {0};
    const struct orr_ddp_options *ddp = &command.ddp;
    struct orr_ddp_summary summary = {0};
    struct orr_error err = {0};
    int code = 0;
    param_defaults(tables, &command);
    if (!cli_begin(self, argc, argv, &command, &code)) {
        return code;
    }
    if (command.list) {
        return list_models();
    }
    enum orr_status status = cli_gen_ddp_check(ddp, &err);
    status = status == ORR_OK ? orr_gen_ddp(ddp, &summary, &err) : status;
    if (status != ORR_OK) {
        return cli_fail(&err);
    }
    if (cli_is_archive(ddp->prefix)) {
        cli_print_traces(ddp->prefix, ddp->npus);
    } else {
        (void)printf("Wrote %" PRIu32 " trace%s, %s.0.et%s", ddp->npus, ddp->npus == 1 ? "" : "s", ddp->prefix,
                     ddp->npus == 1 ? "" : " and so on");
    }
    (void)printf(": %" PRIu64 " step%s of %" PRIu64 " bytes in %" PRIu32 " bucket%s, the first of %" PRIu64 ".\n",
                 ddp->steps, ddp->steps == 1 ? "" : "s", summary.bytes, summary.buckets,
                 summary.buckets == 1 ? "" : "s", summary.first_bytes);
    cli_print_next_run(ddp->prefix, ddp->npus);
    return 0;
}

static const struct cli_usage usage = {
    .tables = tables,
    .headings = headings,
    .about = "Write traces of data-parallel training steps: a forward pass, a backward pass, an all-reduce of each "
             "bucket of gradients as soon as it is full, as PyTorch's DistributedDataParallel does it, and an update.",
    .examples = "  orrery gen ddp --list-models\n"
                "  orrery gen ddp --model resnet50 --forward 30ms --backward 60ms -o traces/ddp\n"
                "  orrery gen ddp --params 7000000000 --dtype bf16 --ranks 2 -o traces/seven\n",
};

const struct cli_command cli_gen_ddp = {
    .name = "ddp", .summary = "data-parallel training steps of a model", .usage = &usage, .run = cli_gen_ddp_run};
