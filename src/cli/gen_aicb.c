/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `orrery gen aicb`: AICB's workload generators. Their options are the library's list (orr_aicb_option), so that the
 * command line, the help and the manual never name one that does nothing; the rows are made from that list when a
 * command runs or its help is asked for. AICB's spellings are taken as they are: '_' or '-', cut short where only one
 * option begins so, values behind '=' or as the next word.
 */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 128 };

struct aicb_input {
    enum orr_aicb_kind kind;
    const char *output;
    bool compat, strict, quiet, list;
    unsigned words; /* positional ones so far */
    unsigned count; /* what was set, in order */
    const char *names[OPTIONS_MAX * 2];
    const char *values[OPTIONS_MAX * 2];
};

#define AT(field) .place = offsetof(struct aicb_input, field)

static const char *const originals[] = {"none", "aicb", NULL};

static const struct param own_rows[] = {
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "FILE", AT(output),
     .help = "Where to write; FOLDER/ gives the file AICB's own name in it"},
    {"compat", .kind = PARAM_CHOICE, .group = PARAM_OTHER, .value = "NAME", AT(compat), .words = originals,
     .unwritten = "none", .help = "aicb: its bytes, counting errors included; what it fails at is an error"},
    {"list-models", .kind = PARAM_FLAG, .group = PARAM_OTHER, AT(list),
     .help = "Print the models that --model knows and exit"},
    CLI_ROW_STRICT(struct aicb_input, strict),
    CLI_ROW_QUIET(struct aicb_input, quiet),
    {0},
};

/* ---- the table -------------------------------------------------------------------------------------------------- */

/* What the library lists, as rows; they point into `texts`. */
struct option_rows {
    struct param rows[OPTIONS_MAX];
    struct param_table tables[3];
    struct {
        char help[320];
        char fallback[sizeof((struct orr_aicb_option *)NULL)->fallback];
    } texts[OPTIONS_MAX];
};

static const char *const headings[PARAM_GROUPS] = {
    [PARAM_WHAT] = "AICB's options:", [PARAM_COMPUTE] = "Of our own:", [PARAM_OUTPUT] = "What to write:"};

/* What most jobs say; the rest is told in the long help. */
static bool is_common(const char *name)
{
    static const char *const names[] = {"model",
                                        "frame",
                                        "world_size",
                                        "tensor_model_parallel_size",
                                        "pipeline_model_parallel",
                                        "expert_model_parallel_size",
                                        "enable_sequence_parallel",
                                        "global_batch",
                                        "micro_batch",
                                        "seq_length",
                                        "num_layers",
                                        "hidden_size",
                                        "num_attention_heads",
                                        "num_experts",
                                        "phase",
                                        "stage",
                                        "test_comm",
                                        "begin_size",
                                        "end_size",
                                        "result_dir"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void cli_gen_aicb_describe(const struct orr_aicb_option *option, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", option->help);
    for (size_t i = 0; option->choices != NULL && option->choices[i] != NULL && used < size; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s%s", i == 0 ? ": " : ", ", option->choices[i]);
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

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static enum orr_status remember(struct aicb_input *in, const char *name, const char *value, struct orr_error *err)
{
    if (in->count == OPTIONS_MAX * 2) {
        return error_set(err, ORR_EINVAL, "more than %d options", OPTIONS_MAX * 2);
    }
    in->names[in->count] = name;
    in->values[in->count++] = value;
    return ORR_OK;
}

static enum orr_status read_option(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    return remember(into, row->name, text, err);
}

static enum orr_status cli_gen_aicb_take_word(void *into, const char *word, struct orr_error *err)
{
    static const char *const names[] = {"model_name", "config_file"};
    struct aicb_input *in = into;
    return !takes_words(in->kind) || in->words >= 2 ? ORR_EINVAL : remember(in, names[in->words++], word, err);
}

/* What changes nothing in this file is taken, but not shown. */
static void fill_rows(struct option_rows *made, enum orr_aicb_kind kind)
{
    struct orr_aicb_option option;
    unsigned count = 0;
    for (unsigned i = 0; count + 1 < OPTIONS_MAX && orr_aicb_option(kind, i, &option); i++) {
        if (is_positional(kind, option.name)) {
            continue;
        }
        char *fallback = made->texts[count].fallback;
        cli_gen_aicb_describe(&option, made->texts[count].help, sizeof made->texts[count].help);
        (void)snprintf(fallback, sizeof made->texts[count].fallback, "%s", option.fallback);
        made->rows[count] = (struct param){.name = option.name,
                                           .kind = PARAM_READ,
                                           .group = option.ours ? PARAM_COMPUTE : PARAM_WHAT,
                                           .flags = !option.affects          ? PARAM_HIDDEN
                                                    : is_common(option.name) ? 0
                                                                             : PARAM_RARE,
                                           .value = option.value,
                                           .read = read_option,
                                           .unwritten = fallback[0] != '\0' ? fallback : NULL,
                                           .help = made->texts[count].help};
        count++;
    }
    made->rows[count] = (struct param){0};
    made->tables[0] = (struct param_table){made->rows, 0, 0};
    made->tables[1] = (struct param_table){own_rows, 0, 0};
    made->tables[2] = (struct param_table){0};
}

/* AICB's option names in their own spelling, so that our reader, which takes no other, finds them. The words that had
 * to be made are in `made`, for the caller to free. */
static enum orr_status spell_out(enum orr_aicb_kind kind, int argc, char **argv, char **made, struct orr_error *err)
{
    struct orr_aicb_option option;
    for (int i = 1; i < argc; i++) {
        size_t length = strcspn(argv[i], "=");
        bool ours = false;
        for (const struct param *row = own_rows; row->name != NULL && length > 2; row++) {
            ours |= strlen(row->name) == length - 2 && memcmp(row->name, argv[i] + 2, length - 2) == 0;
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

/* SimAI's arithmetic reads what was made for it; servers of eight are the usual ones. */
static void print_next(const struct aicb_input *in, const char *path)
{
    const char *gpus = "1";
    for (unsigned i = 0; i < in->count; i++) {
        gpus = strcmp(in->names[i], "world_size") == 0 ? in->values[i] : gpus;
    }
    if (in->kind == ORR_AICB_TRAINING || in->kind == ORR_AICB_INFERENCE) {
        cli_print_next((char *[]){"orrery simai analytical", "--workload", (char *)(uintptr_t)path, "--gpus",
                                  (char *)(uintptr_t)gpus, "--gpus-per-server", "8", "--nics-per-server", "8",
                                  "--gpu-type", "H100", NULL});
    }
}

static enum orr_status cli_gen_aicb_generate(const struct aicb_input *in, const struct orr_notices *notices,
                                             struct orr_error *err)
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
        print_next(in, orr_aicb_path(aicb));
    }
    orr_aicb_close(aicb);
    return status;
}

/* The command as it is with the options of its generator. */
static struct cli_command with_rows(const struct cli_command *self, enum orr_aicb_kind kind, struct option_rows *made,
                                    struct cli_usage *usage)
{
    struct cli_command command = *self;
    fill_rows(made, kind);
    *usage = *self->usage;
    usage->tables = made->tables;
    usage->headings = headings;
    usage->argument = cli_gen_aicb_take_word;
    command.usage = usage;
    return command;
}

static int run_rows(const struct cli_command *command, int argc, char **argv, struct aicb_input *in)
{
    struct orr_error err = {0};
    int code = 0;
    if (!cli_begin(command, argc, argv, in, &code)) {
        return code;
    }
    if (in->list) {
        orr_aicb_models(stdout);
        return 0;
    }
    struct cli_warnings warnings = {.quiet = in->quiet};
    struct orr_notices notices = cli_notices(&warnings, in->strict);
    enum orr_status status = cli_gen_aicb_generate(in, &notices, &err);
    cli_warnings_end(&warnings);
    return status == ORR_OK ? 0 : cli_fail(&err);
}

static int run_kind(const struct cli_command *self, int argc, char **argv, enum orr_aicb_kind kind)
{
    struct aicb_input in = {.kind = kind};
    struct option_rows *made = calloc(1, sizeof *made);
    char **words = calloc((size_t)argc + 1, sizeof *words);
    struct orr_error err = {0};
    int exit_code = 0;
    if (made == NULL || words == NULL) {
        (void)error_set(&err, ORR_ENOMEM, "out of memory for the command line");
        exit_code = cli_fail(&err);
    } else if (spell_out(kind, argc, argv, words, &err) != ORR_OK) {
        exit_code = cli_fail(&err);
    } else {
        struct cli_usage usage;
        struct cli_command command = with_rows(self, kind, made, &usage);
        exit_code = run_rows(&command, argc, argv, &in);
    }
    for (int i = 0; words != NULL && i < argc; i++) {
        free(words[i]);
    }
    free(words);
    free(made);
    return exit_code;
}

#define AICB_COMMAND(word, KIND)                                                                                       \
    static int run_##word(const struct cli_command *self, int argc, char **argv)                                       \
    {                                                                                                                  \
        return run_kind(self, argc, argv, KIND);                                                                       \
    }

/* The kind is the command's, by its name. */
static void cli_gen_aicb_whole(const struct cli_command *command,
                               void (*use)(const struct cli_command *whole, void *context), void *context)
{
    static const char *const names[] = {[ORR_AICB_TRAINING] = "training",
                                        [ORR_AICB_INFERENCE] = "inference",
                                        [ORR_AICB_VIDUR] = "vidur",
                                        [ORR_AICB_PHYSICAL] = "physical"};
    struct option_rows *made = calloc(1, sizeof *made);
    for (size_t kind = 0; made != NULL && kind < sizeof names / sizeof names[0]; kind++) {
        if (strcmp(names[kind], command->name) == 0) {
            struct cli_usage usage;
            const struct cli_command whole = with_rows(command, (enum orr_aicb_kind)kind, made, &usage);
            use(&whole, context);
        }
    }
    free(made);
}

AICB_COMMAND(training, ORR_AICB_TRAINING)
AICB_COMMAND(inference, ORR_AICB_INFERENCE)
AICB_COMMAND(vidur, ORR_AICB_VIDUR)
AICB_COMMAND(physical, ORR_AICB_PHYSICAL)

static const struct param_table own_tables[] = {{own_rows, 0, 0}, {0}};

static const struct cli_usage training_usage = {
    .tables = own_tables,
    .whole = cli_gen_aicb_whole,
    .about = "Write the workload of a training step in SimAI's text format, as AICB's training generator does: sizes "
             "in bytes, times in ns; 1 ns where no time is known. Options are AICB's; those of AICB that change "
             "nothing in this file are taken too. An option wins over --model, wherever it stands.",
    .examples = "  orrery gen aicb training --model llama-7b --world_size 64 \\\n"
                "      --tensor_model_parallel_size 8 --enable_sequence_parallel \\\n"
                "      --global_batch 64 -o llama7b.txt\n"
                "  orrery gen aicb training --compat aicb --frame Megatron \\\n"
                "      --world_size 16 --tensor_model_parallel_size 4 \\\n"
                "      --hidden_size 4096 --num_layers 32 -o workloads/\n",
};

static const struct cli_usage inference_usage = {
    .tables = own_tables,
    .whole = cli_gen_aicb_whole,
    .forms = "MODEL [CONFIG.json]",
    .about = "Write the workload of one forward pass in SimAI's text format, as AICB's inference generator does. MODEL "
             "names a family (DeepSeek, Qwen3-Moe, Qwen3-Next) or a preset of one; without a configuration the "
             "preset's shape is taken.",
    .examples = "  orrery gen aicb inference DeepSeek --phase prefill --seq_length 4096 \\\n"
                "      --world_size 32 --expert_model_parallel_size 32 -o prefill.txt\n",
};

static const struct cli_usage vidur_usage = {
    .tables = own_tables,
    .whole = cli_gen_aicb_whole,
    .forms = "MODEL [CONFIG.json]",
    .about = "Write the layers of one forward pass as a table for Vidur: compute time (ns) and bytes of attention and "
             "of the MLP or the experts. MODEL and options as of gen aicb inference.",
    .examples = "  orrery gen aicb vidur Qwen3-Moe --micro_batch 32 --world_size 16 \\\n"
                "      --expert_model_parallel_size 16 -o qwen3.csv\n",
};

static const struct cli_usage physical_usage = {
    .tables = own_tables,
    .whole = cli_gen_aicb_whole,
    .about = "Write every collective, message and matrix product of a job as a table (CSV), one rank's view, as AICB's "
             "generators for physical runs do: --frame Megatron or DeepSeek; --frame DeepSpeed with --stage 1, 2 or 3 "
             "of ZeRO; --frame collective_test for a sweep of one collective. Sizes in bytes.",
    .examples = "  orrery gen aicb physical --model gpt-7b --world_size 32 \\\n"
                "      --tensor_model_parallel_size 4 --global_batch 32 -o gpt7b.csv\n"
                "  orrery gen aicb physical --frame DeepSpeed --stage 3 --world_size 16 \\\n"
                "      --hidden_size 4096 --num_layers 32 --global_batch 16 -o zero3.csv\n"
                "  orrery gen aicb physical --frame collective_test --world_size 16 \\\n"
                "      --begin_size 1048576 --end_size 16777216 --iter_num 3 -o sweep.csv\n",
};

static const struct cli_command aicb_training = {
    .name = "training", .summary = "a training step, for SimAI", .usage = &training_usage, .run = run_training};
static const struct cli_command aicb_inference = {
    .name = "inference", .summary = "a forward pass, for SimAI", .usage = &inference_usage, .run = run_inference};
static const struct cli_command aicb_vidur = {
    .name = "vidur", .summary = "a forward pass, for Vidur", .usage = &vidur_usage, .run = run_vidur};

static const struct cli_command aicb_physical = {.name = "physical",
                                                 .summary = "every collective of a job, to be run on a cluster",
                                                 .usage = &physical_usage,
                                                 .run = run_physical};

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
