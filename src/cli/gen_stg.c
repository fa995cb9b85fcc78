/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `orrery gen stg`: traces from symbolic tensor graphs, with the options of STG's main.py in their own spelling
 * (`--weight_sharded true`) and its environment variables. Numbers are one table: name, field, help. Words for true and
 * false are read once all options are known, since under --compat stg every other word means false, as there.
 */
#include "cli/cli.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    KEY_DIR = 256,
    KEY_NAME,
    KEY_SHEETS,
    KEY_SHEET,
    KEY_COMPAT,
    KEY_MODEL,
    KEY_SCHEMA,
    KEY_STRICT,
    KEY_LIMIT,
    KEY_FOLD,
    KEY_MERGE,
    KEY_LEGACY,
    KEY_BOOL = 300,
    KEY_NUMBER = 400,
};

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
    struct cli_input input;
    struct orr_stg_options stg;
    const char *bools[BOOL_COUNT]; /* as written; NULL: not given */
    const char *schema;
    const char *own_sheets[OWN_SHEETS_MAX];
    bool strict, quiet;
};

struct number_row {
    const char *name;
    size_t offset;
    uint64_t least, most;
};

#define NUMBER(name, field, least, most)                                                                               \
    {                                                                                                                  \
        name, offsetof(struct orr_stg_options, field), least, most                                                     \
    }

static const struct number_row numbers[] = {
    NUMBER("--dp", dp, 1, 1u << 20),
    NUMBER("--tp", tp, 1, 1u << 20),
    NUMBER("--pp", pp, 1, 1u << 20),
    NUMBER("--sp", sp, 1, 1u << 20),
    NUMBER("--ep", ep, 1, 1u << 20),
    NUMBER("--dvocal", vocabulary, 1, 1u << 30),
    NUMBER("--dmodel", hidden, 1, 1u << 30),
    NUMBER("--dff", ffn, 1, 1u << 30),
    NUMBER("--batch", batch, 1, 1u << 30),
    NUMBER("--micro_batch", micro_batch, 1, 1u << 30),
    NUMBER("--seq", seq, 1, 1u << 30),
    NUMBER("--head", heads, 1, 1u << 30),
    NUMBER("--kvhead", kv_heads, 1, 1u << 30),
    NUMBER("--num_stacks", layers, 1, 1u << 20),
    NUMBER("--experts", experts, 1, 1u << 20),
    NUMBER("--kexperts", top_k, 1, 1u << 20),
    NUMBER("--element_bytes", element_bytes, 1, 16),
    NUMBER("--tag_base", tag_base, 0, 1u << 30),
};

static const struct argp_option options[] = {
    {"output", 'o', "DIR/NAME", 0, "Both of the next two", 0},
    {"output_dir", KEY_DIR, "DIR", 0, "Where to write; made if missing. Required", 0},
    {"output_name", KEY_NAME, "NAME", 0,
     "Name of the traces: %d in it is the rank, without one .%d.et is appended. The groups' file is NAME without .%d, "
     "with .json for .et. Required",
     0},
    {"model_type", KEY_MODEL, "NAME", 0,
     "dense (default) or llama: grouped queries, gated MLP; gpt: two-matrix MLP; moe: gated experts", 0},
    {"dp", KEY_NUMBER + 0, "N", 0, "Data parallel degree. Default: 1", 1},
    {"tp", KEY_NUMBER + 1, "N", 0, "Tensor parallel degree. Default: 1", 1},
    {"pp", KEY_NUMBER + 2, "N", 0, "Pipeline parallel degree, at most the layers. Default: 1", 1},
    {"sp", KEY_NUMBER + 3, "N", 0, "Context parallel degree: splits the sequence. Default: 1", 1},
    {"ep", KEY_NUMBER + 4, "N", 0, "Expert parallel degree; without experts it multiplies tp. Default: 1", 1},
    {"weight_sharded", KEY_BOOL + BOOL_WEIGHT_SHARDED, "BOOL", 0, "FSDP over dp. Default: false", 1},
    {"tpsp", KEY_BOOL + BOOL_TPSP, "BOOL", 0,
     "tp splits the sequence between attention and MLP (all-gather and reduce-scatter in place of all-reduce). "
     "Default: true",
     1},
    {"activation_recompute", KEY_BOOL + BOOL_RECOMPUTE, "BOOL", 0,
     "Compute each block again in its backward pass. Default: false", 1},
    {"dvocal", KEY_NUMBER + 5, "N", 0, "Vocabulary. Default: 32000", 2},
    {"dmodel", KEY_NUMBER + 6, "N", 0, "Hidden size. Default: 8192", 2},
    {"dff", KEY_NUMBER + 7, "N", 0, "Size of the MLP's middle. Default: 28672", 2},
    {"batch", KEY_NUMBER + 8, "N", 0, "Sequences in a step, all ranks together. Default: 64", 2},
    {"micro_batch", KEY_NUMBER + 9, "N", 0, "Sequences in a micro-batch; -1 or none: the batch", 2},
    {"seq", KEY_NUMBER + 10, "N", 0, "Tokens of a sequence. Default: 1024", 2},
    {"head", KEY_NUMBER + 11, "N", 0, "Attention heads. Default: 64", 2},
    {"kvhead", KEY_NUMBER + 12, "N", 0, "Heads of keys and values; not in gpt. Default: 8", 2},
    {"num_stacks", KEY_NUMBER + 13, "N", 0, "Layers. Default: 80", 2},
    {"experts", KEY_NUMBER + 14, "N", 0, "Experts of a layer (moe). Default: 8", 2},
    {"kexperts", KEY_NUMBER + 15, "N", 0, "Experts that a token goes to (moe). Default: 2", 2},
    {"mixed_precision", KEY_BOOL + BOOL_MIXED, "BOOL", 0,
     "Elements of 2 bytes, with a master copy of the weights. Default: false", 2},
    {"element_bytes", KEY_NUMBER + 16, "N", 0, "Bytes of an element. Default: 4, or 2 with --mixed_precision", 2},
    {"sheets", KEY_SHEETS, "DIR", 0, "STG's sharding_spreadsheets, in place of our own sheets", 3},
    {"sheet", KEY_SHEET, "NAME=FILE.csv", 0,
     "A sheet of your own, with FILE.json beside it, in place of the sheet NAME; may be given several times", 3},
    {"compat", KEY_COMPAT, "stg", 0,
     "The original's graph, node by node, with its errors (docs/differences.md); needs --sheets", 3},
    {"print_gpu_vram", KEY_BOOL + BOOL_VRAM, "BOOL", 0, "Print what each rank keeps in memory. Default: false", 3},
    {"chakra_schema_version", KEY_SCHEMA, "WORD", 0, "v0.0.4, the only one there is", 3},
    {"tag_base", KEY_NUMBER + 17, "N", 0, "Tag of the first message between stages. Default: 0", 3},
    {"fold-micro-batches", KEY_FOLD, NULL, 0,
     "Micro-batches are copies of the nodes of one, and share no gradients (STAGE_MICROBATCH_OPTIMIZE=1)", 3},
    {"legacy-attr", KEY_LEGACY, NULL, 0, "Write comm_group in place of pg_name (STAGE_LEGACY_ATTR=1)", 3},
    {"merge-comms", KEY_MERGE, NULL, 0,
     "Leave out a collective that feeds another of its own type; only with --compat stg (STAGE_MERGE_COMMS=1)", 3},
    {"memory-limit", KEY_LIMIT, "SIZE", 0, CLI_LIMIT_HELP, 4},
    {"strict", KEY_STRICT, NULL, 0, CLI_STRICT_HELP, 4},
    {"quiet", 'q', NULL, 0, "No warnings", 4},
    CLI_HELP_OPTION,
    {0},
};

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static enum orr_status parse_number(struct stg_input *in, const struct number_row *row, const char *text)
{
    uint32_t *field = (uint32_t *)(void *)((char *)&in->stg + row->offset);
    uint64_t value = 0;
    if (field == &in->stg.micro_batch && strcmp(text, "-1") == 0) {
        *field = 0;
        return ORR_OK;
    }
    enum orr_status status = param_parse_count(row->name, text, row->least, row->most, &value, &in->input.error);
    if (status == ORR_OK) {
        *field = (uint32_t)value;
    }
    return status;
}

static error_t parse_model(struct stg_input *in, const char *word)
{
    static const char *const models[] = {"dense", "llama", "gpt", "moe", NULL}; /* in the order of enum orr_stg_model */
    unsigned index = 0;
    enum orr_status status = param_parse_word("--model_type", word, models, &index, &in->input.error);
    in->stg.model = (enum orr_stg_model)index;
    return cli_options_status(status);
}

/* DIR/NAME cut in two where it stands, in the vector of arguments. */
static void split_output(struct stg_input *in, char *path)
{
    char *slash = strrchr(path, '/');
    in->stg.output_dir = slash == NULL ? "." : slash == path ? "/" : path;
    in->stg.output_name = slash == NULL ? path : slash + 1;
    if (slash != NULL && slash != path) {
        *slash = '\0';
    }
}

static error_t parse_flag(struct stg_input *in, int key)
{
    switch (key) {
    case KEY_FOLD:
        in->stg.fold_micro_batches = true;
        return 0;
    case KEY_MERGE:
        in->stg.merge_comms = true;
        return 0;
    case KEY_LEGACY:
        in->stg.legacy_attr = true;
        return 0;
    case KEY_STRICT:
        in->strict = true;
        return 0;
    case 'q':
        in->quiet = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const compats[] = {"stg", NULL};
    struct stg_input *in = state->input;
    unsigned index = 0;
    if (key >= KEY_NUMBER && key < KEY_NUMBER + (int)(sizeof numbers / sizeof numbers[0])) {
        return cli_options_status(parse_number(in, &numbers[key - KEY_NUMBER], arg));
    }
    if (key >= KEY_BOOL && key < KEY_BOOL + BOOL_COUNT) {
        in->bools[key - KEY_BOOL] = arg;
        return 0;
    }
    switch (key) {
    case KEY_DIR:
        in->stg.output_dir = arg;
        return 0;
    case KEY_NAME:
        in->stg.output_name = arg;
        return 0;
    case 'o':
        split_output(in, arg);
        return 0;
    case KEY_SHEETS:
        in->stg.sheets = arg;
        return 0;
    case KEY_SHEET:
        if (in->stg.own_sheet_count == OWN_SHEETS_MAX) {
            return cli_options_status(
                error_set(&in->input.error, ORR_EINVAL, "--sheet: at most %d sheets", OWN_SHEETS_MAX));
        }
        in->own_sheets[in->stg.own_sheet_count++] = arg;
        in->stg.own_sheets = in->own_sheets;
        return 0;
    case KEY_COMPAT:
        in->stg.compat = true;
        return cli_options_status(param_parse_word("--compat", arg, compats, &index, &in->input.error));
    case KEY_MODEL:
        return parse_model(in, arg);
    case KEY_SCHEMA:
        in->schema = arg;
        return 0;
    case KEY_LIMIT:
        return cli_options_status(cli_parse_limit("--memory-limit", arg, &in->stg.memory_limit, &in->input.error));
    default:
        return parse_flag(in, key) == 0 ? 0 : cli_options_default(key, arg, state);
    }
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

static enum orr_status read_environment(struct stg_input *in, struct orr_error *err)
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

static enum orr_status check(struct stg_input *in, bool *vram, struct orr_error *err)
{
    if (in->stg.output_dir == NULL || in->stg.output_name == NULL || in->stg.output_name[0] == '\0') {
        return error_set(err, ORR_EINVAL,
                         "missing -o DIR/NAME, or --output_dir DIR and --output_name NAME (where to write)");
    }
    if (in->schema != NULL && strcmp(in->schema, "v0.0.4") != 0 && !in->stg.compat) {
        return error_set(err, ORR_EINVAL, "--chakra_schema_version: \"%s\" cannot be written; only v0.0.4 can",
                         in->schema);
    }
    enum orr_status status = read_bool(in, BOOL_WEIGHT_SHARDED, "--weight_sharded", &in->stg.weight_sharded, err);
    status = status == ORR_OK
                 ? read_bool(in, BOOL_RECOMPUTE, "--activation_recompute", &in->stg.activation_recompute, err)
                 : status;
    status = status == ORR_OK ? read_bool(in, BOOL_TPSP, "--tpsp", &in->stg.tpsp, err) : status;
    status = status == ORR_OK ? read_bool(in, BOOL_MIXED, "--mixed_precision", &in->stg.mixed_precision, err) : status;
    status = status == ORR_OK ? read_bool(in, BOOL_VRAM, "--print_gpu_vram", vram, err) : status;
    return status == ORR_OK ? read_environment(in, err) : status;
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

static void print_written(const struct orr_stg_options *stg, const struct orr_stg_result *result)
{
    (void)printf("Wrote %" PRIu32 " trace%s of %" PRIu64 " nodes in all (%" PRIu64 " bytes) and %" PRIu32
                 " groups to %s.\n",
                 result->ranks, result->ranks == 1 ? "" : "s", result->nodes, result->bytes, result->groups,
                 strcmp(stg->output_dir, ".") == 0 ? "this folder" : stg->output_dir);
}

static int run_stg(const struct cli_command *self, int argc, char **argv)
{
    struct stg_input in = {0};
    orr_stg_options_init(&in.stg);
    struct orr_error err = {0};
    bool vram = false;
    enum orr_status status = cli_options_parse(self, argc, argv, &in.input, &err);
    if (status == ORR_OK && in.input.help) {
        cli_print_help(self, argv[0], stdout);
        return 0;
    }
    struct orr_stg_result result = {0};
    struct cli_warnings warnings = {.quiet = in.quiet};
    struct orr_notices notices = cli_notices(&warnings, in.strict);
    status = status == ORR_OK ? check(&in, &vram, &err) : status;
    status = status == ORR_OK ? orr_gen_stg(&in.stg, &notices, &result, &err) : status;
    cli_warnings_end(&warnings);
    if (status != ORR_OK) {
        return cli_fail(&err);
    }
    if (in.schema != NULL && strcmp(in.schema, "v0.0.4") != 0) {
        cli_warn(&warnings, "--chakra_schema_version has no effect under --compat stg, as in the original");
    }
    if (vram && in.stg.compat) {
        print_vram_compat(&in.stg, &result);
    } else if (vram) {
        print_vram(&result);
    }
    print_written(&in.stg, &result);
    orr_stg_result_free(&result);
    return 0;
}

static const struct argp stg_argp = {
    .options = options,
    .parser = parse,
    .doc = "Write the traces of a training step from a model, parallel degrees and sheets of symbolic tensors (STG).\v"
           "Examples:\n"
           "  orrery gen stg --output_dir traces/gpt --output_name gpt.%d.et \\\n"
           "    --model_type gpt --num_stacks 4 --dmodel 1024 --dff 4096 --head 16 \\\n"
           "    --dp 2 --tp 2 --pp 2 --batch 16 --micro_batch 4\n"
           "  orrery gen stg --output_dir traces/moe --output_name moe.%d.et \\\n"
           "    --model_type moe --num_stacks 2 --dmodel 1024 --dff 2048 --head 16 \\\n"
           "    --experts 8 --kexperts 2 --ep 4 --dp 2 --print_gpu_vram true\n",
};

const struct cli_command cli_gen_stg = {.name = "stg",
                                        .summary = "a training step from symbolic tensor graphs",
                                        .argp = &stg_argp,
                                        .takes_prefixes = true,
                                        .run = run_stg};
