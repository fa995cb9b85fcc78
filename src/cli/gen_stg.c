/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `orrery gen stg`: traces from symbolic tensor graphs, with the options of STG's main.py in their own spelling
 * (`--weight_sharded true`) and its environment variables. Words for true and false are read once all options are
 * known, since under --compat stg every other word means false, as there.
 */
#include "cli/cli.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum stg_bool {
    BOOL_WEIGHT_SHARDED,
    BOOL_RECOMPUTE,
    BOOL_TPSP,
    BOOL_MIXED,
    BOOL_VRAM,
    BOOL_COUNT,
};

enum { OWN_SHEETS_MAX = 32 };

struct stg_input {
    struct orr_stg_options stg;
    const char *output;            /* DIR/NAME */
    char *folder;                  /* DIR of it */
    const char *bools[BOOL_COUNT]; /* as written; NULL: not given */
    const char *schema;
    const char *own_sheets[OWN_SHEETS_MAX];
    bool strict, quiet;
};

/* ---- options ---------------------------------------------------------------------------------------------------- */

static enum orr_status read_micro_batch(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct stg_input *in = into;
    uint64_t count = 0;
    (void)row;
    enum orr_status status =
        strcmp(text, "-1") == 0 ? ORR_OK : param_parse_count("parameter 'micro_batch'", text, 1, 1u << 30, &count, err);
    if (status == ORR_OK) {
        in->stg.micro_batch = (uint32_t)count;
    }
    return status;
}

static enum orr_status read_sheet(const struct param *row, const char *text, void *into, struct orr_error *err)
{
    struct stg_input *in = into;
    (void)row;
    if (in->stg.own_sheet_count == OWN_SHEETS_MAX) {
        return error_set(err, ORR_EINVAL, "parameter 'sheet': at most %d sheets", OWN_SHEETS_MAX);
    }
    in->own_sheets[in->stg.own_sheet_count++] = text;
    in->stg.own_sheets = in->own_sheets;
    return ORR_OK;
}

#define MODEL           PARAM_WHAT
#define SPLIT           PARAM_GROWTH
#define AT(field)       .place = offsetof(struct stg_input, field)
#define BOOL(which, in) .kind = PARAM_TEXT, .group = (in), .value = "BOOL", AT(bools[which])

static const struct param rows[] = {
    {"output", .letter = 'o', .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "DIR/NAME", AT(output),
     .help = "Required: --output_dir and --output_name in one"},
    {"weight_sharded", BOOL(BOOL_WEIGHT_SHARDED, SPLIT), .unwritten = "false", .help = "FSDP over dp"},
    {"tpsp", BOOL(BOOL_TPSP, SPLIT), .unwritten = "true",
     .help = "tp splits the sequence between attention and MLP (all-gather and reduce-scatter in place of all-reduce)"},
    {"activation_recompute", BOOL(BOOL_RECOMPUTE, SPLIT), .flags = PARAM_RARE, .unwritten = "false",
     .help = "Compute each block again in its backward pass"},
    {"micro_batch", .kind = PARAM_READ, .group = MODEL, .value = "N", .read = read_micro_batch,
     .help = "Sequences in a micro-batch; -1 or none: the batch"},
    {"mixed_precision", BOOL(BOOL_MIXED, MODEL), .flags = PARAM_RARE, .unwritten = "false",
     .help = "Elements of 2 bytes, with a master copy of the weights"},
    {"sheet", .kind = PARAM_READ, .group = PARAM_OTHER, .flags = PARAM_MANY | PARAM_RARE, .value = "NAME=FILE.csv",
     .read = read_sheet,
     .help = "A sheet of your own, with FILE.json beside it, in place of the sheet NAME; may be given several times"},
    {"print_gpu_vram", BOOL(BOOL_VRAM, PARAM_OUTPUT), .unwritten = "false",
     .help = "Print what each rank keeps in memory"},
    {"chakra_schema_version", .kind = PARAM_TEXT, .group = PARAM_OTHER, .flags = PARAM_RARE, .value = "WORD",
     AT(schema), .help = "v0.0.4, the only one there is"},
    CLI_ROW_LIMIT(struct stg_input, stg.memory_limit),
    CLI_ROW_STRICT(struct stg_input, strict),
    CLI_ROW_QUIET(struct stg_input, quiet),
    {0},
};

static const struct param_table tables[] = {{param_stg, 0, offsetof(struct stg_input, stg)}, {rows, 0, 0}, {0}};

static const char *const headings[PARAM_GROUPS] = {[MODEL] = "The model:", [SPLIT] = "How it is split:"};

/* ---- what they mean --------------------------------------------------------------------------------------------- */

/* DIR/NAME cut in two, for what is not given by an option of its own. */
static enum orr_status split_output(struct stg_input *in, struct orr_error *err)
{
    const char *slash = in->output == NULL ? NULL : strrchr(in->output, '/');
    if (in->output == NULL) {
        return ORR_OK;
    }
    in->folder =
        slash == NULL ? strdup(".") : strndup(in->output, slash == in->output ? 1 : (size_t)(slash - in->output));
    if (in->folder == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory");
    }
    in->stg.output_dir = in->stg.output_dir != NULL ? in->stg.output_dir : in->folder;
    in->stg.output_name = in->stg.output_name != NULL ? in->stg.output_name : slash == NULL ? in->output : slash + 1;
    return ORR_OK;
}

static enum orr_status read_bool(const struct stg_input *in, enum stg_bool which, const char *name, bool *value,
                                 struct orr_error *err)
{
    static const char *const words[] = {"true", "t", "1", "yes", "y", "false", "f", "0", "no", "n"};
    const char *text = in->bools[which];
    if (text == NULL) {
        return ORR_OK;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *value = i < 5;
            return ORR_OK;
        }
    }
    *value = false;
    return in->stg.compat ? ORR_OK : error_set(err, ORR_EINVAL, "%s: \"%s\" is neither true nor false", name, text);
}

static bool variable_is(const char *name, const char *value, bool unset)
{
    const char *text = getenv(name);
    return text == NULL ? unset : strcmp(text, value) == 0;
}

static enum orr_status cli_gen_stg_read_environment(struct stg_input *in, struct orr_error *err)
{
    if (!variable_is("STAGE_OPTIMIZED", "1", true)) {
        return error_set(err, ORR_EINVAL,
                         "STAGE_OPTIMIZED=%s: the original ends in an error with it, and there is nothing else to "
                         "choose here; unset it",
                         getenv("STAGE_OPTIMIZED"));
    }
    in->stg.fold_micro_batches |= !variable_is("STAGE_MICROBATCH_OPTIMIZE", "0", true);
    in->stg.merge_comms |= variable_is("STAGE_MERGE_COMMS", "1", false);
    in->stg.legacy_attr |= variable_is("STAGE_LEGACY_ATTR", "1", false);
    return cli_limit_default(&in->stg.memory_limit, err);
}

static enum orr_status cli_gen_stg_check(struct stg_input *in, bool *vram, struct orr_error *err)
{
    enum orr_status status = split_output(in, err);
    if (status != ORR_OK) {
        return status;
    }
    if (in->stg.output_dir == NULL || in->stg.output_name == NULL || in->stg.output_name[0] == '\0') {
        return error_set(err, ORR_EINVAL,
                         "missing -o DIR/NAME, or --output_dir DIR and --output_name NAME (where to write)");
    }
    if (in->schema != NULL && strcmp(in->schema, "v0.0.4") != 0 && !in->stg.compat) {
        return error_set(err, ORR_EINVAL, "--chakra_schema_version: \"%s\" cannot be written; only v0.0.4 can",
                         in->schema);
    }
    status = read_bool(in, BOOL_WEIGHT_SHARDED, "--weight_sharded", &in->stg.weight_sharded, err);
    status = status == ORR_OK
                 ? read_bool(in, BOOL_RECOMPUTE, "--activation_recompute", &in->stg.activation_recompute, err)
                 : status;
    status = status == ORR_OK ? read_bool(in, BOOL_TPSP, "--tpsp", &in->stg.tpsp, err) : status;
    status = status == ORR_OK ? read_bool(in, BOOL_MIXED, "--mixed_precision", &in->stg.mixed_precision, err) : status;
    status = status == ORR_OK ? read_bool(in, BOOL_VRAM, "--print_gpu_vram", vram, err) : status;
    return status == ORR_OK ? cli_gen_stg_read_environment(in, err) : status;
}

/* ---- results ---------------------------------------------------------------------------------------------------- */

static const double GIB = 1024.0 * 1024.0 * 1024.0;

/* As the original prints it: a line for every rank. */
static void print_vram_compat(const struct orr_stg_options *stg, const struct orr_stg_result *result)
{
    bool moe = stg->model == ORR_STG_MOE;
    const char *header = moe ? "[MoE]" : stg->model == ORR_STG_GPT ? "[GPT]" : "[Dense]";
    uint32_t tp = moe ? stg->tp : stg->tp * stg->ep;
    for (uint32_t rank = 0; rank < result->ranks; rank++) {
        uint32_t stage = rank / (result->ranks / result->stages);
        const struct orr_stg_memory *memory = &result->memory[stage];
        (void)printf("%s [GPU pp=%" PRIu32, header, stage);
        if (moe) {
            (void)printf(",ep=%" PRIu32, rank / (stg->dp * tp * stg->sp) % stg->ep);
        }
        (void)printf(",cp=%" PRIu32 ",tp=%" PRIu32 ",dp=%" PRIu32 "] ", rank / (stg->dp * tp) % stg->sp,
                     rank / stg->dp % tp, rank % stg->dp);
        (void)printf("total=%.3f GiB | weights=%.3f | opt=%.3f | acts=%.3f | grads=%.3f\n",
                     (memory->weights + memory->optimizer + memory->activations + memory->gradients) / GIB,
                     memory->weights / GIB, memory->optimizer / GIB, memory->activations / GIB,
                     memory->gradients / GIB);
    }
}

static void print_vram(const struct orr_stg_result *result)
{
    uint32_t size = result->ranks / result->stages;
    (void)printf("%-8s %-15s %10s %10s %10s %10s %10s\n", "stage", "ranks", "weights", "optimizer", "activations",
                 "gradients", "GiB in all");
    for (uint32_t stage = 0; stage < result->stages; stage++) {
        const struct orr_stg_memory *memory = &result->memory[stage];
        char ranks[40];
        (void)snprintf(ranks, sizeof ranks, "%" PRIu32 "-%" PRIu32, stage * size, (stage + 1) * size - 1);
        (void)printf("%-8" PRIu32 " %-15s %10.3f %10.3f %11.3f %10.3f %10.3f\n", stage, ranks, memory->weights / GIB,
                     memory->optimizer / GIB, memory->activations / GIB, memory->gradients / GIB,
                     (memory->weights + memory->optimizer + memory->activations + memory->gradients) / GIB);
    }
}

static void cli_gen_stg_print_written(const struct orr_stg_options *stg, const struct orr_stg_result *result)
{
    (void)printf("Wrote %" PRIu32 " trace%s of %" PRIu64 " nodes in all (%" PRIu64 " bytes) and %" PRIu32
                 " groups to %s.\n",
                 result->ranks, result->ranks == 1 ? "" : "s", result->nodes, result->bytes, result->groups,
                 strcmp(stg->output_dir, ".") == 0 ? "this folder" : stg->output_dir);
    /* The rank in a name is before its end, as a run looks for it: NAME.%d.et, or no %d at all. */
    const char *rank = strstr(stg->output_name, "%d");
    size_t length = rank == NULL ? strlen(stg->output_name) : (size_t)(rank - stg->output_name);
    char prefix[4096];
    if (rank == NULL || (strcmp(rank, "%d.et") == 0 && length > 1 && rank[-1] == '.')) {
        (void)snprintf(prefix, sizeof prefix, "%s/%.*s", stg->output_dir, (int)(length - (rank != NULL)),
                       stg->output_name);
        cli_print_next_run(prefix, result->ranks);
    }
}

static enum orr_status cli_gen_stg_generate(struct stg_input *in, struct orr_error *err)
{
    struct orr_stg_result result = {0};
    struct cli_warnings warnings = {.quiet = in->quiet};
    struct orr_notices notices = cli_notices(&warnings, in->strict);
    bool vram = false;
    enum orr_status status = cli_gen_stg_check(in, &vram, err);
    status = status == ORR_OK ? orr_gen_stg(&in->stg, &notices, &result, err) : status;
    cli_warnings_end(&warnings);
    if (status != ORR_OK) {
        return status;
    }
    if (in->schema != NULL && strcmp(in->schema, "v0.0.4") != 0) {
        cli_warn(&warnings, "--chakra_schema_version has no effect under --compat stg, as in the original");
    }
    if (vram && in->stg.compat) {
        print_vram_compat(&in->stg, &result);
    } else if (vram) {
        print_vram(&result);
    }
    cli_gen_stg_print_written(&in->stg, &result);
    orr_stg_result_free(&result);
    return ORR_OK;
}

static int run_stg(const struct cli_command *self, int argc, char **argv)
{
    struct stg_input in = {.output = NULL};
    struct orr_error err = {0};
    int code = 0;
    orr_stg_options_init(&in.stg);
    if (cli_begin(self, argc, argv, &in, &code)) {
        code = cli_gen_stg_generate(&in, &err) == ORR_OK ? 0 : cli_fail(&err);
    }
    free(in.folder);
    return code;
}

static const struct cli_usage usage = {
    .tables = tables,
    .headings = headings,
    .about = "Write the traces of a training step from a model, parallel degrees and sheets of symbolic tensors (STG).",
    .examples = "  orrery gen stg --output_dir traces/gpt --output_name gpt.%d.et \\\n"
                "    --model_type gpt --num_stacks 4 --dmodel 1024 --dff 4096 --head 16 \\\n"
                "    --dp 2 --tp 2 --pp 2 --batch 16 --micro_batch 4\n"
                "  orrery gen stg --output_dir traces/moe --output_name moe.%d.et \\\n"
                "    --model_type moe --num_stacks 2 --dmodel 1024 --dff 2048 --head 16 \\\n"
                "    --experts 8 --kexperts 2 --ep 4 --dp 2 --print_gpu_vram true\n",
};

const struct cli_command cli_gen_stg = {.name = "stg",
                                        .summary = "a training step from symbolic tensor graphs",
                                        .usage = &usage,
                                        .takes_prefixes = true,
                                        .run = run_stg};
