/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace recipe`: a script that records a job, ready to be run. */
#include "cli/trace.h"

#include <stdlib.h>
#include <string.h>

struct recipe_options {
    struct orr_recipe_options recipe;
    bool has_framework;
    const char *output;
};

static const char *const frameworks[] = {"pytorch", "tensorflow", "horovod", NULL};
static const char *const vendors[] = {"nvidia", "amd", NULL};

#define AT(field)          .place = offsetof(struct recipe_options, recipe.field)
#define COUNT(field, from) .kind = PARAM_COUNT32, .value = "N", AT(field), .least = (from), .most = 1000000

static const struct param rows[] = {
    {"framework", .kind = PARAM_WORD, .value = "NAME", AT(framework),
     .given = offsetof(struct recipe_options, has_framework), .words = frameworks, .first = ORR_FRAMEWORK_PYTORCH,
     .help = "Required: what the job is written in: pytorch, tensorflow or horovod"},
    {"vendor", .kind = PARAM_WORD, .value = "NAME", AT(vendor), .words = vendors, .first = ORR_VENDOR_NVIDIA,
     .initial = "nvidia", .help = "Whose GPUs: nvidia or amd"},
    {"model", .kind = PARAM_TEXT, .value = "NAME", AT(model),
     .help = "What the PyTorch script trains: cifar10, resnet18, resnet50, bert, qwen05b or llama1b",
     .unwritten = "cifar10"},
    {"dataset", .kind = PARAM_TEXT, .value = "NAME", AT(dataset),
     .help = "Shape and classes of its data, which are random: mnist, cifar10, cifar100, tiny-imagenet or imagenet; "
             "tokens for language models",
     .unwritten = "cifar10 or tokens"},
    {"epochs", COUNT(epochs, 1), .help = "Epochs to train", .unwritten = "3"},
    {"batch-size", COUNT(batch_size, 1), .help = "Samples a rank and step", .unwritten = "128"},
    {"profile-epoch", COUNT(profile_epoch, 1), .help = "The epoch to trace, from 1", .unwritten = "2"},
    {"trace-wait", COUNT(trace_wait, 0), .help = "Steps of that epoch before tracing", .unwritten = "32"},
    {"trace-steps", COUNT(trace_steps, 1), .help = "Steps to trace; a warning says when the traces get large",
     .unwritten = "4"},
    {"inject-sync-hack", .kind = PARAM_FLAG, AT(inject_sync_hack),
     .help = "AMD: one event record, stream wait and synchronise call a step"},
    {"output", .letter = 'o', .kind = PARAM_PATH, .value = "OUT", .place = offsetof(struct recipe_options, output),
     .help = "The file to write", .unwritten = "standard output"},
    {0},
};

static const struct param_table tables[] = {{rows, 0, 0}, {0}};

static const struct cli_usage usage = {
    .tables = tables,
    .forms = "--framework NAME",
    .about = "Print a script that records a training job: what the host did, what the devices did, how long a step "
             "took. Run it where the GPUs are, then import what it wrote.",
    .examples = "  orrery trace recipe --framework pytorch -o record_pytorch.py\n"
                "  orrery trace recipe --framework pytorch --vendor amd > record_pytorch.py\n"
                "  orrery trace recipe --framework pytorch --model resnet18 \\\n"
                "      --dataset imagenet --batch-size 256 -o record_resnet18.py\n"
                "  torchrun --nproc-per-node 2 record_pytorch.py --model resnet50 \\\n"
                "      --output-dir recording\n"
                "  orrery trace import recording -o traces/resnet50\n",
};

static enum orr_status cli_trace_recipe_write_file(const struct recipe_options *options,
                                                   const struct orr_notices *notices, struct orr_error *err)
{
    struct cli_text made;
    enum orr_status status = cli_check_writable("-o", options->output, err);
    status = status != ORR_OK ? status : cli_text_open(&made, err);
    if (status == ORR_OK) {
        status = orr_recipe(&options->recipe, notices, made.stream, err);
        status = cli_text_close(&made, status, options->output, err);
    }
    return status;
}

static int run_recipe(const struct cli_command *self, int argc, char **argv)
{
    struct recipe_options options = {0};
    orr_recipe_options_init(&options.recipe);
    struct cli_warnings warnings = {0};
    struct orr_notices notices = cli_notices(&warnings, false);
    struct orr_error err = {0};
    int exit_code = 0;
    if (!cli_begin(self, argc, argv, &options, &exit_code)) {
        return exit_code;
    }
    if (!options.has_framework) {
        (void)error_set(&err, ORR_EINVAL, "missing --framework pytorch, tensorflow or horovod");
        return cli_fail(&err);
    }
    if (options.output != NULL && strcmp(options.output, "-") != 0) {
        if (cli_trace_recipe_write_file(&options, &notices, &err) != ORR_OK) {
            return cli_fail(&err);
        }
        (void)printf("Wrote %s.\n", options.output);
        return 0;
    }
    enum orr_status status = orr_recipe(&options.recipe, &notices, stdout, &err);
    return status == ORR_EIO ? cli_stdout_failed(err.text) : cli_end(status, &err);
}

const struct cli_command cli_trace_recipe = {
    .name = "recipe",
    .summary = "print a script that records a job",
    .usage = &usage,
    .run = run_recipe,
};
