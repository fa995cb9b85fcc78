/* `orrery trace recipe`: a script that records a job, ready to be run. */
#include "cli/trace.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_FRAMEWORK = 256, KEY_VENDOR };

struct recipe_options {
    struct cli_input input;
    unsigned framework, vendor;
    bool has_framework;
    const char *output;
};

static const char *const frameworks[] = {"pytorch", "tensorflow", "horovod", NULL};
static const char *const vendors[] = {"nvidia", "amd", NULL};

static const struct argp_option table[] = {
    {"framework", KEY_FRAMEWORK, "NAME", 0, "What the job is written in: pytorch, tensorflow or horovod. Required", 0},
    {"vendor", KEY_VENDOR, "NAME", 0, "Whose GPUs: nvidia or amd. Default: nvidia", 0},
    {"output", 'o', "OUT", 0, "The file to write. Default: standard output", 0},
    CLI_HELP_OPTION,
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct recipe_options *recipe = state->input;
    switch (key) {
    case KEY_FRAMEWORK:
        recipe->has_framework = true;
        return cli_options_status(
            cli_parse_word("--framework", arg, frameworks, &recipe->framework, &recipe->input.error));
    case KEY_VENDOR:
        return cli_options_status(cli_parse_word("--vendor", arg, vendors, &recipe->vendor, &recipe->input.error));
    case 'o':
        recipe->output = arg;
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
           "  torchrun --nproc-per-node 2 record_pytorch.py --model resnet50 \\\n"
           "      --output-dir recording\n"
           "  orrery trace import recording -o traces/resnet50\n",
};

static enum orr_status write_file(const struct recipe_options *recipe, struct orr_error *err)
{
    struct cli_text made;
    enum orr_status status = cli_text_open(&made, err);
    if (status == ORR_OK) {
        status = orr_recipe((enum orr_framework)recipe->framework, (enum orr_vendor)recipe->vendor, made.stream, err);
        status = cli_text_close(&made, status, recipe->output, err);
    }
    return status;
}

static int run_recipe(const struct cli_command *self, int argc, char **argv)
{
    struct recipe_options recipe = {0};
    struct orr_error err = {0};
    if (cli_options_parse(self, argc, argv, &recipe.input, &err) != ORR_OK) {
        return cli_fail(&err);
    }
    if (recipe.input.help) {
        cli_print_help(self, argv[0], stdout);
        return 0;
    }
    if (!recipe.has_framework) {
        (void)error_set(&err, ORR_EINVAL, "missing --framework pytorch, tensorflow or horovod");
        return cli_fail(&err);
    }
    if (recipe.output != NULL && strcmp(recipe.output, "-") != 0) {
        if (cli_check_writable("-o", recipe.output, &err) != ORR_OK || write_file(&recipe, &err) != ORR_OK) {
            return cli_fail(&err);
        }
        (void)printf("Wrote %s.\n", recipe.output);
        return 0;
    }
    if (orr_recipe((enum orr_framework)recipe.framework, (enum orr_vendor)recipe.vendor, stdout, &err) != ORR_OK) {
        return cli_stdout_failed(err.text);
    }
    return 0;
}

const struct cli_command cli_trace_recipe = {
    .name = "recipe",
    .summary = "print a script that records a job",
    .argp = &recipe_argp,
    .run = run_recipe,
};
