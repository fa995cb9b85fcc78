/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery trace recipe`: a script that records a job, ready to be run. */
#include "cli/trace.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEY_FRAMEWORK = 256,
    KEY_VENDOR,
    KEY_MODEL,
    KEY_DATASET,
    KEY_EPOCHS,
    KEY_BATCH,
    KEY_PROFILE_EPOCH,
    KEY_WAIT,
    KEY_STEPS,
    KEY_SYNC
};

struct recipe_options {
    struct cli_input input;
    struct orr_recipe_options recipe;
    bool has_framework;
    const char *output;
};

static const char *const frameworks[] = {"pytorch", "tensorflow", "horovod", NULL};
static const char *const vendors[] = {"nvidia", "amd", NULL};

static const struct argp_option table[] = {
    {"framework", KEY_FRAMEWORK, "NAME", 0, "What the job is written in: pytorch, tensorflow or horovod. Required", 0},
    {"vendor", KEY_VENDOR, "NAME", 0, "Whose GPUs: nvidia or amd. Default: nvidia", 0},
    {"model", KEY_MODEL, "NAME", 0,
     "What the PyTorch script trains: cifar10, resnet18, resnet50, bert, qwen05b or llama1b. Default: cifar10", 0},
    {"dataset", KEY_DATASET, "NAME", 0,
     "Shape and classes of its data, which are random: mnist, cifar10, cifar100, tiny-imagenet or imagenet; tokens for "
     "language models. Default: cifar10 or tokens",
     0},
    {"epochs", KEY_EPOCHS, "N", 0, "Default: 3", 0},
    {"batch-size", KEY_BATCH, "N", 0, "Samples a rank and step. Default: 128", 0},
    {"profile-epoch", KEY_PROFILE_EPOCH, "N", 0, "The epoch to trace, from 1. Default: 2", 0},
    {"trace-wait", KEY_WAIT, "N", 0, "Steps of that epoch before tracing. Default: 32", 0},
    {"trace-steps", KEY_STEPS, "N", 0, "Steps to trace; a warning says when the traces get large. Default: 4", 0},
    {"inject-sync-hack", KEY_SYNC, NULL, 0, "AMD: one event record, stream wait and synchronise call a step", 0},
    {"output", 'o', "OUT", 0, "The file to write. Default: standard output", 0},
    CLI_HELP_OPTION,
    {0},
};

enum { COUNT_MOST = 1000000 };

static error_t parse_positive(const char *option, const char *arg, uint32_t *value, struct orr_error *err)
{
    uint64_t count = 0;
    enum orr_status status = param_parse_count(option, arg, 1, COUNT_MOST, &count, err);
    *value = (uint32_t)count;
    return cli_options_status(status);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct recipe_options *options = state->input;
    struct orr_recipe_options *recipe = &options->recipe;
    struct orr_error *err = &options->input.error;
    unsigned word = 0;
    uint64_t count = 0;
    enum orr_status status = ORR_OK;
    switch (key) {
    case KEY_FRAMEWORK:
        options->has_framework = true;
        status = param_parse_word("--framework", arg, frameworks, &word, err);
        recipe->framework = (enum orr_framework)word;
        return cli_options_status(status);
    case KEY_VENDOR:
        status = param_parse_word("--vendor", arg, vendors, &word, err);
        recipe->vendor = (enum orr_vendor)word;
        return cli_options_status(status);
    case KEY_MODEL:
        recipe->model = arg;
        return 0;
    case KEY_DATASET:
        recipe->dataset = arg;
        return 0;
    case KEY_EPOCHS:
        return parse_positive("--epochs", arg, &recipe->epochs, err);
    case KEY_BATCH:
        return parse_positive("--batch-size", arg, &recipe->batch_size, err);
    case KEY_PROFILE_EPOCH:
        return parse_positive("--profile-epoch", arg, &recipe->profile_epoch, err);
    case KEY_WAIT:
        status = param_parse_count("--trace-wait", arg, 0, COUNT_MOST, &count, err);
        recipe->trace_wait = (int32_t)count;
        return cli_options_status(status);
    case KEY_STEPS:
        return parse_positive("--trace-steps", arg, &recipe->trace_steps, err);
    case KEY_SYNC:
        recipe->inject_sync_hack = true;
        return 0;
    case 'o':
        options->output = arg;
        return 0;
    default:
        return cli_options_default(key, arg, state);
    }
}

static const struct argp recipe_argp = {
    .options = table,
    .parser = parse,
    .args_doc = "--framework NAME",
    .doc = "Print a script that records a training job: what the host did, what the devices did, how long a step took. "
           "Run it where the GPUs are, then import what it wrote.\v"
           "Examples:\n  orrery trace recipe --framework pytorch -o record_pytorch.py\n"
           "  orrery trace recipe --framework pytorch --vendor amd > record_pytorch.py\n"
           "  orrery trace recipe --framework pytorch --model resnet18 \\\n"
           "      --dataset imagenet --batch-size 256 -o record_resnet18.py\n"
           "  torchrun --nproc-per-node 2 record_pytorch.py --model resnet50 \\\n"
           "      --output-dir recording\n"
           "  orrery trace import recording -o traces/resnet50\n",
};

static enum orr_status write_file(const struct recipe_options *options, const struct orr_notices *notices,
                                  struct orr_error *err)
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
    if (cli_options_parse(self, argc, argv, &options.input, &err) != ORR_OK) {
        return cli_fail(&err);
    }
    if (options.input.help) {
        cli_print_help(self, argv[0], stdout);
        return 0;
    }
    if (!options.has_framework) {
        (void)error_set(&err, ORR_EINVAL, "missing --framework pytorch, tensorflow or horovod");
        return cli_fail(&err);
    }
    if (options.output != NULL && strcmp(options.output, "-") != 0) {
        if (write_file(&options, &notices, &err) != ORR_OK) {
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
    .argp = &recipe_argp,
    .run = run_recipe,
};
