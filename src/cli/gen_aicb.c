/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `orrery gen aicb`: AICB's workload generators. Their options are the library's list (orr_aicb_option), so that the
 * command line, the help and the manual never name one that does nothing; argp's table is made from that list when a
 * command runs or its help is asked for. AICB's spellings are taken as they are: '_' or '-', cut short where only one
 * option begins so, values behind '=' or as the next word.
 */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_COMPAT = 256, KEY_STRICT, KEY_LIST, KEY_FIRST = 1000, OPTIONS_MAX = 128 };

struct aicb_input {
    struct cli_input input;
    enum orr_aicb_kind kind;
    const char *output;
    bool compat, strict, quiet, list;
    unsigned words; /* positional ones so far */
    unsigned count; /* what was set, in order */
    const char *names[OPTIONS_MAX * 2];
    const char *values[OPTIONS_MAX * 2];
};

static const struct argp_option own_options[] = {
    {"output", 'o', "FILE", 0, "Where to write; FOLDER/ gives the file AICB's own name in it", 0},
    {"compat", KEY_COMPAT, "aicb", 0, "AICB's bytes, counting errors included; what it fails at is an error", 0},
    {"strict", KEY_STRICT, NULL, 0, CLI_STRICT_HELP, 0},
    {"quiet", 'q', NULL, 0, "No warnings", 0},
    {"list-models", KEY_LIST, NULL, 0, "Print the models that --model knows and exit", 0},
    CLI_HELP_OPTION,
};
enum { OWN_OPTIONS = sizeof own_options / sizeof own_options[0] };

/* ---- the table -------------------------------------------------------------------------------------------------- */

/* A table that argp can read, with what it points to. */
struct option_table {
    struct argp_option rows[OPTIONS_MAX];
    char help[OPTIONS_MAX][320];
};

static void describe(const struct orr_aicb_option *option, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", option->help);
    for (size_t i = 0; option->choices != NULL && option->choices[i] != NULL && used < size; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s%s", i == 0 ? ": " : ", ", option->choices[i]);
    }
    if (option->fallback[0] != '\0' && used < size) {
        (void)snprintf(text + used, size - used, ". Default: %s", option->fallback);
    }
}

static bool takes_words(enum orr_aicb_kind kind)
{
    return kind == ORR_AICB_INFERENCE || kind == ORR_AICB_VIDUR;
}

static bool is_positional(enum orr_aicb_kind kind, const char *name)
{
    return takes_words(kind) && (strcmp(name, "model_name") == 0 || strcmp(name, "config_file") == 0);
}

/* What changes nothing in this file is taken, but not shown. */
static void fill_table(struct option_table *table, enum orr_aicb_kind kind)
{
    struct orr_aicb_option option;
    unsigned count = OWN_OPTIONS;
    memcpy(table->rows, own_options, sizeof own_options);
    for (unsigned i = 0; count + 1 < OPTIONS_MAX && orr_aicb_option(kind, i, &option); i++) {
        if (is_positional(kind, option.name)) {
            continue;
        }
        describe(&option, table->help[count], sizeof table->help[count]);
        table->rows[count] = (struct argp_option){.name = option.name,
                                                  .key = KEY_FIRST + (int)i,
                                                  .arg = option.value,
                                                  .flags = option.affects ? 0 : OPTION_HIDDEN,
                                                  .doc = table->help[count],
                                                  .group = option.ours ? 2 : 1};
        count++;
    }
    table->rows[count] = (struct argp_option){0};
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static error_t remember(struct aicb_input *in, const char *name, const char *value)
{
    if (in->count == OPTIONS_MAX * 2) {
        return cli_options_status(error_set(&in->input.error, ORR_EINVAL, "more than %d options", OPTIONS_MAX * 2));
    }
    in->names[in->count] = name;
    in->values[in->count++] = value;
    return 0;
}

static error_t parse_word(struct aicb_input *in, char *arg, struct argp_state *state)
{
    static const char *const names[] = {"model_name", "config_file"};
    if (!takes_words(in->kind) || in->words >= 2) {
        return cli_options_default(ARGP_KEY_ARG, arg, state);
    }
    return remember(in, names[in->words++], arg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const compats[] = {"aicb", NULL};
    struct aicb_input *in = state->input;
    unsigned index = 0;
    struct orr_aicb_option option;
    switch (key) {
    case 'o':
        in->output = arg;
        return 0;
    case KEY_COMPAT:
        in->compat = true;
        return cli_options_status(param_parse_word("--compat", arg, compats, &index, &in->input.error));
    case KEY_STRICT:
        in->strict = true;
        return 0;
    case 'q':
        in->quiet = true;
        return 0;
    case KEY_LIST:
        in->list = true;
        return 0;
    case ARGP_KEY_ARG:
        return parse_word(in, arg, state);
    default:
        if (key >= KEY_FIRST && orr_aicb_option(in->kind, (unsigned)(key - KEY_FIRST), &option)) {
            return remember(in, option.name, arg);
        }
        return cli_options_default(key, arg, state);
    }
}

/* AICB's option names in their own spelling, so that our reader, which takes no other, finds them. The words that had
 * to be made are in `made`, for the caller to free. */
static enum orr_status spell_out(enum orr_aicb_kind kind, int argc, char **argv, char **made, struct orr_error *err)
{
    struct orr_aicb_option option;
    for (int i = 1; i < argc; i++) {
        size_t length = strcspn(argv[i], "=");
        bool ours = false;
        for (size_t k = 0; k < OWN_OPTIONS && length > 2; k++) {
            ours |=
                strlen(own_options[k].name) == length - 2 && memcmp(own_options[k].name, argv[i] + 2, length - 2) == 0;
        }
        if (strncmp(argv[i], "--", 2) != 0 || length == 2 || ours ||
            !orr_aicb_option_find(kind, argv[i] + 2, length - 2, &option)) {
            continue;
        }
        size_t size = strlen(option.name) + strlen(argv[i] + length) + 3;
        made[i] = malloc(size);
        if (made[i] == NULL) {
            return error_set(err, ORR_ENOMEM, "out of memory for the command line");
        }
        (void)snprintf(made[i], size, "--%s%s", option.name, argv[i] + length);
        argv[i] = made[i];
    }
    return ORR_OK;
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

static enum orr_status generate(const struct aicb_input *in, const struct orr_notices *notices, struct orr_error *err)
{
    struct orr_aicb *aicb = NULL;
    enum orr_status status = orr_aicb_open(in->kind, in->compat, &aicb, err);
    for (unsigned i = 0; status == ORR_OK && i < in->count; i++) {
        status = orr_aicb_set(aicb, in->names[i], in->values[i], err);
    }
    if (status == ORR_OK) {
        status = orr_aicb_write(aicb, in->output, notices, err);
    }
    if (status == ORR_OK) {
        (void)printf("Wrote %s.\n", orr_aicb_path(aicb));
    }
    orr_aicb_close(aicb);
    return status;
}

static int run_table(const struct cli_command *self, int argc, char **argv, struct aicb_input *in,
                     const struct option_table *table)
{
    struct argp argp = *self->argp;
    struct cli_command command = *self;
    struct orr_error err = {0};
    argp.options = table->rows;
    command.argp = &argp;
    if (cli_options_parse(&command, argc, argv, &in->input, &err) != ORR_OK) {
        return cli_fail(&err);
    }
    if (in->input.help) {
        cli_print_help(self, argv[0], stdout);
        return 0;
    }
    if (in->list) {
        orr_aicb_models(stdout);
        return 0;
    }
    struct cli_warnings warnings = {.quiet = in->quiet};
    struct orr_notices notices = cli_notices(&warnings, in->strict);
    enum orr_status status = generate(in, &notices, &err);
    cli_warnings_end(&warnings);
    return status == ORR_OK ? 0 : cli_fail(&err);
}

static int run_kind(const struct cli_command *self, int argc, char **argv, enum orr_aicb_kind kind)
{
    struct aicb_input in = {.kind = kind};
    struct option_table *table = calloc(1, sizeof *table);
    char **made = calloc((size_t)argc + 1, sizeof *made);
    struct orr_error err = {0};
    int exit_code = 0;
    if (table == NULL || made == NULL) {
        (void)error_set(&err, ORR_ENOMEM, "out of memory for the command line");
        exit_code = cli_fail(&err);
    } else if (spell_out(kind, argc, argv, made, &err) != ORR_OK) {
        exit_code = cli_fail(&err);
    } else {
        fill_table(table, kind);
        exit_code = run_table(self, argc, argv, &in, table);
    }
    for (int i = 0; made != NULL && i < argc; i++) {
        free(made[i]);
    }
    free(made);
    free(table);
    return exit_code;
}

static void print_kind_help(const struct cli_command *self, const char *path, FILE *stream, enum orr_aicb_kind kind)
{
    struct option_table *table = calloc(1, sizeof *table);
    if (table == NULL) {
        return;
    }
    fill_table(table, kind);
    struct argp argp = *self->argp;
    argp.options = table->rows;
    char name[80];
    (void)snprintf(name, sizeof name, "%s", path);
    argp_help(&argp, stream, ARGP_HELP_STD_HELP, name);
    free(table);
}

#define AICB_COMMAND(word, KIND)                                                                                       \
    static int run_##word(const struct cli_command *self, int argc, char **argv)                                       \
    {                                                                                                                  \
        return run_kind(self, argc, argv, KIND);                                                                       \
    }                                                                                                                  \
    static void help_##word(const struct cli_command *self, const char *path, FILE *stream)                            \
    {                                                                                                                  \
        print_kind_help(self, path, stream, KIND);                                                                     \
    }

AICB_COMMAND(training, ORR_AICB_TRAINING)
AICB_COMMAND(inference, ORR_AICB_INFERENCE)
AICB_COMMAND(vidur, ORR_AICB_VIDUR)
AICB_COMMAND(physical, ORR_AICB_PHYSICAL)

static const struct argp training_argp = {
    .options = own_options,
    .parser = parse,
    .doc = "Write the workload of a training step in SimAI's text format, as AICB's training generator does: sizes in "
           "bytes, times in ns; 1 ns where no time is known. Options are AICB's; those of AICB that change nothing in "
           "this file are taken too. An option wins over --model, wherever it stands.\v"
           "Examples:\n"
           "  orrery gen aicb training --model llama-7b --world_size 64 \\\n"
           "      --tensor_model_parallel_size 8 --enable_sequence_parallel \\\n"
           "      --global_batch 64 -o llama7b.txt\n"
           "  orrery gen aicb training --compat aicb --frame Megatron \\\n"
           "      --world_size 16 --tensor_model_parallel_size 4 \\\n"
           "      --hidden_size 4096 --num_layers 32 -o workloads/\n",
};

static const struct argp inference_argp = {
    .options = own_options,
    .parser = parse,
    .args_doc = "MODEL [CONFIG.json]",
    .doc = "Write the workload of one forward pass in SimAI's text format, as AICB's inference generator does. MODEL "
           "names a family (DeepSeek, Qwen3-Moe, Qwen3-Next) or a preset of one; without a configuration the preset's "
           "shape is taken.\v"
           "Examples:\n"
           "  orrery gen aicb inference DeepSeek --phase prefill --seq_length 4096 \\\n"
           "      --world_size 32 --expert_model_parallel_size 32 -o prefill.txt\n",
};

static const struct argp vidur_argp = {
    .options = own_options,
    .parser = parse,
    .args_doc = "MODEL [CONFIG.json]",
    .doc = "Write the layers of one forward pass as a table for Vidur: compute time (ns) and bytes of attention and of "
           "the MLP or the experts. MODEL and options as of gen aicb inference.\v"
           "Examples:\n"
           "  orrery gen aicb vidur Qwen3-Moe --micro_batch 32 --world_size 16 \\\n"
           "      --expert_model_parallel_size 16 -o qwen3.csv\n",
};

static const struct argp physical_argp = {
    .options = own_options,
    .parser = parse,
    .doc = "Write every collective, message and matrix product of a job as a table (CSV), one rank's view, as AICB's "
           "generators for physical runs do: --frame Megatron or DeepSeek; --frame DeepSpeed with --stage 1, 2 or 3 of "
           "ZeRO; --frame collective_test for a sweep of one collective. Sizes in bytes.\v"
           "Examples:\n"
           "  orrery gen aicb physical --model gpt-7b --world_size 32 \\\n"
           "      --tensor_model_parallel_size 4 --global_batch 32 -o gpt7b.csv\n"
           "  orrery gen aicb physical --frame DeepSpeed --stage 3 --world_size 16 \\\n"
           "      --hidden_size 4096 --num_layers 32 --global_batch 16 -o zero3.csv\n"
           "  orrery gen aicb physical --frame collective_test --world_size 16 \\\n"
           "      --begin_size 1048576 --end_size 16777216 --iter_num 3 -o sweep.csv\n",
};

static const struct cli_command aicb_training = {.name = "training",
                                                 .summary = "a training step, for SimAI",
                                                 .argp = &training_argp,
                                                 .run = run_training,
                                                 .print_help = help_training};
static const struct cli_command aicb_inference = {.name = "inference",
                                                  .summary = "a forward pass, for SimAI",
                                                  .argp = &inference_argp,
                                                  .run = run_inference,
                                                  .print_help = help_inference};
static const struct cli_command aicb_vidur = {.name = "vidur",
                                              .summary = "a forward pass, for Vidur",
                                              .argp = &vidur_argp,
                                              .run = run_vidur,
                                              .print_help = help_vidur};

static const struct cli_command aicb_physical = {.name = "physical",
                                                 .summary = "every collective of a job, to be run on a cluster",
                                                 .argp = &physical_argp,
                                                 .run = run_physical,
                                                 .print_help = help_physical};

static const struct cli_command *const generators[] = {&aicb_training, &aicb_inference, &aicb_vidur, &aicb_physical,
                                                       NULL};

static int run_aicb(const struct cli_command *self, int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list-models") == 0) {
        orr_aicb_models(stdout);
        return 0;
    }
    return cli_dispatch(self, argc, argv);
}

const struct cli_command cli_gen_aicb = {
    .name = "aicb",
    .summary = "write AICB's workloads for SimAI and Vidur",
    .subcommands = generators,
    .about = "Example:\n"
             "  orrery gen aicb training --model gpt-7b --world_size 32 \\\n"
             "      --tensor_model_parallel_size 4 --enable_sequence_parallel \\\n"
             "      --global_batch 16 -o gpt7b.txt\n"
             "\n"
             "orrery gen aicb --list-models prints the models that --model knows.\n",
    .run = run_aicb,
};
