/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AICB's scripts and SimAI's topology script under their own names. A script is a row: which generator it calls, what
 * it sets before it looks at its options, and which spellings it takes; a model (-m) is a row of such settings. What
 * was typed goes last, so that it holds: AICB's own scripts let -m overwrite it.
 *
 * Scripts that start a job on GPUs write here what that job would run. Where a script would measure compute times on a
 * GPU, there are none, and a warning says so; DeepSeek, on which AICB ends without such times, is then written by our
 * own rules and not in AICB's bytes.
 */
#include "cli/aicb_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/topo.h"

enum { SETTINGS_MAX = 96, VALUE_SIZE = 32 };

struct setting {
    const char *name, *value; /* NULL: a flag */
};

/* Another spelling of an option, or, without `ours`, one that has no meaning where no job is started. */
struct spelling {
    const char *theirs, *ours;
    bool flag;
};

struct script {
    const char *name;
    const struct setting *defaults;   /* ends with a NULL name */
    const struct spelling *spellings; /* the same */
    const struct aicb_model *models;  /* NULL: no -m */
    const char *model;                /* the one taken without -m */
    enum orr_aicb_kind kind;
    uint32_t micro_batches; /* a step, where --global_batch is not given; 0: as the generator has it */
};

struct aicb_model {
    const char *size;
    struct setting settings[16];
};

#define SHAPE(layers, hidden, heads)                                                                                   \
    {"num_layers", layers}, {"hidden_size", hidden},                                                                   \
    {                                                                                                                  \
        "num_attention_heads", heads                                                                                   \
    }
#define LATENT(q)                                                                                                      \
    {"q_lora_rank", q}, {"kv_lora_rank", "512"}, {"qk_nope_dim", "128"}, {"qk_rope_dim", "64"},                        \
    {                                                                                                                  \
        "v_head_dim", "128"                                                                                            \
    }

static const struct aicb_model megatron_models[] = {
    {"7", {{"model_name", "gpt_7B"}, SHAPE("36", "4096", "32")}},
    {"13", {{"model_name", "gpt_13B"}, SHAPE("40", "5120", "40")}},
    {"22", {{"model_name", "gpt_22B"}, SHAPE("48", "6144", "64")}},
    {"175", {{"model_name", "gpt_175B"}, SHAPE("96", "12288", "96")}},
    {"65", {{"model_name", "llama_65B"}, SHAPE("80", "8192", "64"), {"ffn_hidden_size", "28672"}}},
    {"405", {{"model_name", "llama_405B"}, SHAPE("128", "16384", "128"), {"ffn_hidden_size", "53248"}}},
    {"moe",
     {{"model_name", "Mixtral_8*7B"},
      SHAPE("32", "4096", "32"),
      {"ffn_hidden_size", "14336"},
      {"moe_enable", NULL},
      {"moe_grouped_gemm", NULL}}},
    {"deepseek16",
     {{"frame", "DeepSeek"}, {"model_name", "DeepSeek_16B"}, {"model", "deepseek-16b"}, {"moe_enable", NULL}}},
    {"deepseek236",
     {{"frame", "DeepSeek"}, {"model_name", "DeepSeek_236B"}, {"model", "deepseek-v2"}, {"moe_enable", NULL}}},
    {"deepseek671",
     {{"frame", "DeepSeek"}, {"model_name", "DeepSeek_671B"}, {"model", "deepseek-v3"}, {"moe_enable", NULL}}},
    {NULL, {{NULL, NULL}}},
};

static const struct aicb_model llama_models[] = {
    {"7", {{"model_name", "llama_7b"}, SHAPE("32", "4096", "32"), {"ffn_hidden_size", "11008"}}},
    {"13", {{"model_name", "llama_13b"}, SHAPE("40", "5120", "40"), {"ffn_hidden_size", "13824"}}},
    {"30", {{"model_name", "llama_30b"}, SHAPE("60", "6656", "52"), {"ffn_hidden_size", "17920"}}},
    {"65", {{"model_name", "llama_65b"}, SHAPE("80", "8192", "64"), {"ffn_hidden_size", "22016"}}},
    {NULL, {{NULL, NULL}}},
};

static const struct aicb_model inference_models[] = {
    {"deepseek-671B", {{"model_name", "DeepSeek-671B"}}},
    {"qwen3-235B", {{"model_name", "Qwen3-Moe-235B"}}},
    {"qwen3-next-80B", {{"model_name", "Qwen3-Next-80B"}}},
    {NULL, {{NULL, NULL}}},
};

static const struct setting megatron_defaults[] = {{"frame", "Megatron"},
                                                   {"world_size", "8"},
                                                   {"tensor_model_parallel_size", "8"},
                                                   {"seq_length", "2048"},
                                                   {"vocab_size", "50257"},
                                                   {"use-distributed-optimizer", NULL},
                                                   {"workload_only", NULL},
                                                   {NULL, NULL}};
static const struct setting workload_defaults[] = {{"frame", "Megatron"},
                                                   {"world_size", "32"},
                                                   {"tensor_model_parallel_size", "8"},
                                                   {"global_batch", "1024"},
                                                   {"seq_length", "4096"},
                                                   {"vocab_size", "50257"},
                                                   {NULL, NULL}};
static const struct setting inference_defaults[] = {{"phase", "decode"},
                                                    {"seq_length", "1024"},
                                                    {"micro_batch", "32"},
                                                    {"world_size", "8"},
                                                    {"expert_model_parallel_size", "8"},
                                                    {NULL, NULL}};
static const struct setting deepspeed_defaults[] = {
    {"frame", "DeepSpeed"}, {"stage", "3"},         {"epoch_num", "10"}, {"micro_batch", "4"},
    {"world_size", "8"},    {"seq_length", "2048"}, {NULL, NULL}};
static const struct setting collective_defaults[] = {{"frame", "collective_test"}, {"begin_size", "4096"},
                                                     {"end_size", "8589934592"},   {"iter_num", "500"},
                                                     {"world_size", "8"},          {NULL, NULL}};
static const struct setting no_defaults[] = {{NULL, NULL}};
static const struct setting zero_defaults[] = {{"frame", "DeepSpeed"}, {NULL, NULL}};
static const struct setting zero3_defaults[] = {{"frame", "DeepSpeed"}, {"stage", "3"}, {NULL, NULL}};
static const struct setting test_defaults[] = {{"frame", "collective_test"}, {NULL, NULL}};

static const struct spelling megatron_spellings[] = {
    {"--tp", "tensor_model_parallel_size", false},
    {"--tp_num", "tensor_model_parallel_size", false},
    {"--pp", "pipeline_model_parallel", false},
    {"--pp_num", "pipeline_model_parallel", false},
    {"--pipeline_model_parallel_size", "pipeline_model_parallel", false},
    {"--cp", "context-parallel-size", false},
    {"--context_parallel_size", "context-parallel-size", false},
    {"--ep", "expert_model_parallel_size", false},
    {"--topk", "moe_router_topk", false},
    {"--experts", "num_experts", false},
    {"--comm_frame", "frame", false},
    {"--sp", "enable_sequence_parallel", true},
    {"--sp-enable", "enable_sequence_parallel", true},
    {"--grouped_gemm", "moe_grouped_gemm", true},
    {"--aiob", "aiob_enable", true},
    {"--flash_attn", "use_flash_attn", true},
    {"--recompute", "recompute_activations", true},
    {"--nnodes", NULL, false},
    {"--node_rank", NULL, false},
    {"--nproc_per_node", NULL, false},
    {"--master_addr", NULL, false},
    {"--master_port", NULL, false},
    {NULL, NULL, false},
};
static const struct spelling inference_spellings[] = {
    {"-c", "config_file", false},
    {"--config", "config_file", false},
    {"-p", "phase", false},
    {"-s", "seq_length", false},
    {"-b", "micro_batch", false},
    {"-w", "world_size", false},
    {"-t", "tensor_model_parallel_size", false},
    {"--tp-size", "tensor_model_parallel_size", false},
    {"-e", "expert_model_parallel_size", false},
    {"--ep-size", "expert_model_parallel_size", false},
    {"-l", "pipeline_model_parallel", false},
    {"--pp-size", "pipeline_model_parallel", false},
    {"-M", "moe_enable", true},
    {"-r", "result_dir", false},
    {"-a", "aiob_enable", true},
    {"-f", NULL, false},
    {"--aiob_forward_loops", NULL, false},
    {"--aiob-loops", NULL, false},
    {NULL, NULL, false},
};
static const struct spelling deepspeed_spellings[] = {
    {"--zero_stage", "stage", false},
    {"--zero-stage", "stage", false},
    {"--batch-size", "micro_batch", false},
    {"--batch_size", "micro_batch", false},
    {"--seq-len", "seq_length", false},
    {"--seq_len", "seq_length", false},
    {NULL, NULL, false},
};
static const struct spelling no_spellings[] = {{NULL, NULL, false}};

static const struct script scripts[] = {
    {"megatron_gpt", megatron_defaults, megatron_spellings, megatron_models, "13", ORR_AICB_PHYSICAL, 2},
    {"megatron_workload_with_aiob", workload_defaults, megatron_spellings, megatron_models, "13", ORR_AICB_TRAINING, 0},
    {"inference_workload_with_aiob", inference_defaults, inference_spellings, inference_models, "deepseek-671B",
     ORR_AICB_INFERENCE, 0},
    {"deepspeed_llama", deepspeed_defaults, deepspeed_spellings, llama_models, "7", ORR_AICB_PHYSICAL, 1},
    {"coll_comm_check", collective_defaults, no_spellings, NULL, NULL, ORR_AICB_PHYSICAL, 0},
    {"SimAI_training_workload_generator", no_defaults, no_spellings, NULL, NULL, ORR_AICB_TRAINING, 0},
    {"AIOB_simAI_workload_generator", no_defaults, no_spellings, NULL, NULL, ORR_AICB_TRAINING, 0},
    {"SimAI_inference_workload_generator", no_defaults, no_spellings, NULL, NULL, ORR_AICB_INFERENCE, 0},
    {"Vidur_workload_generator", no_defaults, no_spellings, NULL, NULL, ORR_AICB_VIDUR, 0},
    {"generate_megatron_workload", no_defaults, no_spellings, NULL, NULL, ORR_AICB_PHYSICAL, 0},
    {"generate_deepspeed_stage1_2_workload", zero_defaults, no_spellings, NULL, NULL, ORR_AICB_PHYSICAL, 0},
    {"generate_deepspeed_stage3_workload", zero3_defaults, no_spellings, NULL, NULL, ORR_AICB_PHYSICAL, 0},
    {"generate_collective_test", test_defaults, no_spellings, NULL, NULL, ORR_AICB_PHYSICAL, 0},
};

/* ---- one call ---- */

struct call {
    const struct script *script;
    const struct aicb_model *model;
    struct setting settings[SETTINGS_MAX]; /* the script's, the model's, the words': later ones hold */
    unsigned count;
    const char *output;
    unsigned words;
    struct cli_warnings warnings;
    char spelled[VALUE_SIZE]; /* of the global batch */
};

static enum orr_status cli_aicb_names_put(struct call *call, const char *name, const char *value, struct orr_error *err)
{
    if (call->count == SETTINGS_MAX) {
        return error_set(err, ORR_EINVAL, "more than %d options", SETTINGS_MAX);
    }
    call->settings[call->count++] = (struct setting){name, value};
    return ORR_OK;
}

/* The value that holds; NULL where it is not set. */
static const char *value_of(const struct call *call, const char *name, bool *is_set)
{
    const char *value = NULL;
    bool found = false;
    for (unsigned i = 0; i < call->count; i++) {
        if (strcmp(call->settings[i].name, name) == 0) {
            value = call->settings[i].value;
            found = true;
        }
    }
    if (is_set != NULL) {
        *is_set = found;
    }
    return value;
}

static enum orr_status find_model(struct call *call, const char *size, struct orr_error *err)
{
    char names[160] = "";
    for (const struct aicb_model *model = call->script->models; model->size != NULL; model++) {
        if (strcasecmp(model->size, size) == 0) {
            call->model = model;
            return ORR_OK;
        }
        size_t used = strlen(names);
        (void)snprintf(names + used, sizeof names - used, "%s%s", used == 0 ? "" : ", ", model->size);
    }
    return error_set(err, ORR_EINVAL, "-m: \"%.40s\" is none of %s", size, names);
}

static const struct spelling *find_spelling(const struct script *script, const char *word, size_t length)
{
    for (const struct spelling *row = script->spellings; row->theirs != NULL; row++) {
        if (strlen(row->theirs) == length && memcmp(row->theirs, word, length) == 0) {
            return row;
        }
    }
    return NULL;
}

static enum orr_status cli_aicb_names_next_value(const char *option, int argc, char **argv, int *at, const char **value,
                                                 struct orr_error *err)
{
    const char *equals = strncmp(argv[*at], "--", 2) == 0 ? strchr(argv[*at], '=') : NULL;
    if (equals == NULL && *at + 1 >= argc) {
        return error_set(err, ORR_EINVAL, "%s needs a value", option);
    }
    *value = equals != NULL ? equals + 1 : argv[++*at];
    return ORR_OK;
}

/* An option as the generator itself has it. */
static enum orr_status take_option(struct call *call, int argc, char **argv, int *at, struct orr_error *err)
{
    struct orr_aicb_option option;
    const char *word = argv[*at];
    const char *value = NULL;
    size_t length = strcspn(word, "=");
    bool known = length > 2 && strncmp(word, "--", 2) == 0 &&
                 orr_aicb_option_find(call->script->kind, word + 2, length - 2, &option);
    if (!known) {
        return error_set(err, ORR_EINVAL, "%s: unknown option %.60s", call->script->name, word);
    }
    enum orr_status status =
        option.value == NULL ? ORR_OK : cli_aicb_names_next_value(word, argc, argv, at, &value, err);
    return status == ORR_OK ? cli_aicb_names_put(call, option.name, value, err) : status;
}

static enum orr_status cli_aicb_names_take_word(struct call *call, int argc, char **argv, int *at,
                                                struct orr_error *err)
{
    static const char *const places[] = {"model_name", "config_file"};
    const char *word = argv[*at];
    const char *value = "";
    size_t length = strcspn(word, "=");
    bool is_size =
        strcmp(word, "-m") == 0 || strncmp(word, "--model_size", 12) == 0 || strncmp(word, "--model-size", 12) == 0;
    if (is_size && call->script->models != NULL) {
        enum orr_status status = cli_aicb_names_next_value("-m", argc, argv, at, &value, err);
        return status == ORR_OK ? find_model(call, value, err) : status;
    }
    if (strcmp(word, "-o") == 0) {
        return cli_aicb_names_next_value("-o", argc, argv, at, &call->output, err);
    }
    if (word[0] != '-' && call->script->models == NULL && call->words < 2 &&
        (call->script->kind == ORR_AICB_INFERENCE || call->script->kind == ORR_AICB_VIDUR)) {
        return cli_aicb_names_put(call, places[call->words++], word, err);
    }
    const struct spelling *row = find_spelling(call->script, word, length);
    if (row == NULL) {
        return take_option(call, argc, argv, at, err);
    }
    enum orr_status status = row->flag ? ORR_OK : cli_aicb_names_next_value(word, argc, argv, at, &value, err);
    return status == ORR_OK && row->ours != NULL ? cli_aicb_names_put(call, row->ours, row->flag ? NULL : value, err)
                                                 : status;
}

static enum orr_status cli_aicb_names_put_all(struct call *call, const struct setting *settings, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (; settings->name != NULL && status == ORR_OK; settings++) {
        status = cli_aicb_names_put(call, settings->name, settings->value, err);
    }
    return status;
}

static int64_t number_of(const struct call *call, const char *name, int64_t standard)
{
    const char *text = value_of(call, name, NULL);
    int64_t number = text == NULL ? standard : strtoll(text, NULL, 10);
    return number > 0 ? number : standard;
}

/* So many sequences that every rank has the script's number of micro-batches. */
static enum orr_status put_batch(struct call *call, struct orr_error *err)
{
    bool given = false;
    (void)value_of(call, "global_batch", &given);
    if (given || call->script->micro_batches == 0) {
        return ORR_OK;
    }
    int64_t split = number_of(call, "tensor_model_parallel_size", 1) * number_of(call, "pipeline_model_parallel", 1);
    int64_t dp = number_of(call, "world_size", 1) / (split > 0 ? split : 1);
    (void)snprintf(call->spelled, sizeof call->spelled, "%" PRId64,
                   (dp > 0 ? dp : 1) * call->script->micro_batches * number_of(call, "micro_batch", 1));
    return cli_aicb_names_put(call, "global_batch", call->spelled, err);
}

static enum orr_status read_words(struct call *call, int argc, char **argv, struct orr_error *err)
{
    struct call typed = {.script = call->script};
    enum orr_status status = call->script->models == NULL ? ORR_OK : find_model(&typed, call->script->model, err);
    for (int at = 1; at < argc && status == ORR_OK; at++) {
        status = cli_aicb_names_take_word(&typed, argc, argv, &at, err);
    }
    status = status == ORR_OK ? cli_aicb_names_put_all(call, call->script->defaults, err) : status;
    status =
        status == ORR_OK && typed.model != NULL ? cli_aicb_names_put_all(call, typed.model->settings, err) : status;
    for (unsigned i = 0; i < typed.count && status == ORR_OK; i++) {
        status = cli_aicb_names_put(call, typed.settings[i].name, typed.settings[i].value, err);
    }
    call->output = typed.output;
    return status == ORR_OK ? put_batch(call, err) : status;
}

/* ---- writing ---- */

static enum orr_status set_all(const struct call *call, bool without_aiob, struct orr_aicb *aicb, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (unsigned i = 0; i < call->count && status == ORR_OK; i++) {
        const struct setting *setting = &call->settings[i];
        if (without_aiob && strcmp(setting->name, "aiob_enable") == 0) {
            continue;
        }
        status = orr_aicb_set(aicb, setting->name, setting->value, err);
    }
    return status;
}

static enum orr_status write_workload(struct call *call, struct orr_error *err)
{
    bool measures = false;
    bool by_preset = false;
    const char *times = value_of(call, "comp_filepath", NULL);
    const char *frame = value_of(call, "frame", NULL);
    (void)value_of(call, "aiob_enable", &measures);
    (void)value_of(call, "model", &by_preset);
    bool deepseek = call->script->kind == ORR_AICB_TRAINING && frame != NULL && strcmp(frame, "DeepSeek") == 0;
    bool infers = call->script->kind == ORR_AICB_INFERENCE || call->script->kind == ORR_AICB_VIDUR;
    bool shaped = !infers || value_of(call, "config_file", NULL) != NULL;
    bool compat = shaped && !by_preset && !(deepseek && times == NULL);
    struct orr_notices notices = cli_notices(&call->warnings, false);
    struct orr_aicb *aicb = NULL;
    bool unmeasured = measures && times == NULL && call->script->kind != ORR_AICB_PHYSICAL;
    if (unmeasured) {
        cli_warn(&call->warnings,
                 "--aiob_enable without --comp_filepath: there is no GPU to measure on, and every compute "
                 "time is 1 ns");
    }
    enum orr_status status = orr_aicb_open(call->script->kind, compat, &aicb, err);
    status = status == ORR_OK ? set_all(call, unmeasured, aicb, err) : status;
    const char *folder = call->script->kind == ORR_AICB_PHYSICAL ? "results/mocked_workload/" : "results/workload/";
    bool has_folder = false;
    (void)value_of(call, "result_dir", &has_folder);
    if (status == ORR_OK) {
        status = orr_aicb_write(aicb, call->output != NULL ? call->output : has_folder ? NULL : folder, &notices, err);
    }
    if (status == ORR_OK) {
        (void)printf("Wrote %s.\n", orr_aicb_path(aicb));
    }
    orr_aicb_close(aicb);
    return status;
}

static void cli_aicb_names_print_help(const struct script *script)
{
    (void)printf(
        "Usage: %s [OPTION...]\n\nAICB's script of this name: writes the workload it makes into results/, or where -o "
        "FILE says.\nOptions are the script's and those of its generator (orrery gen aicb --help).\n",
        script->name);
    for (const struct aicb_model *model = script->models; model != NULL && model->size != NULL; model++) {
        (void)printf("%s%s", model == script->models ? "  -m " : ", ", model->size);
    }
    (void)fputs(script->models != NULL ? "\n" : "", stdout);
}

static int run_script(const struct script *script, int argc, char **argv)
{
    struct orr_error err = {0};
    struct call call = {.script = script};
    if (argc > 1 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0)) {
        cli_aicb_names_print_help(script);
        return 0;
    }
    enum orr_status status = read_words(&call, argc, argv, &err);
    status = status == ORR_OK ? write_workload(&call, &err) : status;
    cli_warnings_end(&call.warnings);
    return status == ORR_OK ? 0 : cli_fail(&err);
}

/* ---- the suite, and the topology script ---- */

/* AICB's benchmark suite (its README), on 128 GPUs, the fewest that all of it divides. */
static const struct {
    const char *script;
    const char *words[18];
} suite[] = {
    {"megatron_gpt", {"-m", "7", "--tp", "1", "--seq_length", "4096"}},
    {"megatron_gpt", {"-m", "13", "--tp", "2", "--sp"}},
    {"megatron_gpt", {"-m", "22", "--tp", "4"}},
    {"megatron_gpt", {"-m", "65", "--tp", "8", "--pp", "2", "--sp", "--seq_length", "4096"}},
    {"megatron_gpt", {"-m", "175", "--tp", "8", "--pp", "8", "--sp"}},
    {"megatron_gpt", {"-m", "175", "--tp", "8", "--pp", "8", "--model_name", "gpt_175B_tp"}},
    {"megatron_gpt", {"-m", "405", "--tp", "8", "--pp", "16", "--sp", "--seq_length", "8192"}},
    {"deepspeed_llama", {"-m", "7", "--stage", "2", "--seq_len", "4096"}},
    {"deepspeed_llama", {"-m", "65", "--stage", "3", "--seq_len", "4096", "--reduce_bucket_size", "1000000000"}},
    {"megatron_gpt", {"-m", "moe", "--tp", "2", "--sp", "--ep", "8", "--num_experts", "8", "--topk", "2"}},
};

static const struct script *find_script(const char *name)
{
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        if (strcmp(scripts[i].name, name) == 0) {
            return &scripts[i];
        }
    }
    return NULL;
}

static int run_suite(int argc, char **argv)
{
    enum { WORDS_MAX = 64 };
    int exit_code = 0;
    if (argc > 16 || (argc > 1 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0))) {
        (void)puts("Usage: run_suites [OPTION...]\n\nWrites the workloads of AICB's benchmark suite into "
                   "results/mocked_workload/, for 128 GPUs or\n--world_size N; other options go to every one of them.");
        return argc > 16 ? 2 : 0;
    }
    for (size_t i = 0; i < sizeof suite / sizeof suite[0] && exit_code == 0; i++) {
        static char size_name[] = "--world_size";
        static char size[] = "128";
        char *words[WORDS_MAX] = {argv[0], size_name, size};
        int count = 3;
        for (size_t k = 0; suite[i].words[k] != NULL; k++) {
            words[count++] = (char *)(uintptr_t)suite[i].words[k];
        }
        for (int k = 1; k < argc; k++) {
            words[count++] = argv[k];
        }
        exit_code = run_script(find_script(suite[i].script), count, words);
    }
    return exit_code;
}

static int run_topology(int argc, char **argv)
{
    static char compat[] = "--compat=simai";
    char **words = calloc((size_t)argc + 2, sizeof *words);
    struct orr_error err = {0};
    if (words == NULL) {
        (void)error_set(&err, ORR_ENOMEM, "out of memory reading the options");
        return cli_fail(&err);
    }
    words[0] = argv[0];
    words[1] = compat;
    memcpy(words + 2, argv + 1, (size_t)(argc - 1) * sizeof *words);
    int exit_code = cli_topo_make.run(&cli_topo_make, argc + 1, words);
    free(words);
    return exit_code;
}

/* A file's or a module's name without what stands around it: scripts/megatron_gpt.sh, workload_generator.NAME. */
static void bare_name(const char *word, char *name, size_t size)
{
    static const char *const endings[] = {".py", ".sh"};
    const char *slash = strrchr(word, '/');
    const char *start = slash != NULL ? slash + 1 : word;
    size_t length = strlen(start);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (length > 3 && strcmp(start + length - 3, endings[i]) == 0) {
            length -= 3;
            break;
        }
    }
    static const char package[] = "workload_generator.";
    if (strncmp(start, package, sizeof package - 1) == 0) {
        start += sizeof package - 1;
        length -= sizeof package - 1;
    }
    (void)snprintf(name, size, "%.*s", (int)length, start);
}

bool cli_aicb_named(const char *word, int argc, char **argv, int *exit_code)
{
    char name[80];
    bare_name(word, name, sizeof name);
    const struct script *script = find_script(name);
    if (script != NULL) {
        *exit_code = run_script(script, argc, argv);
    } else if (strcmp(name, "run_suites") == 0) {
        *exit_code = run_suite(argc, argv);
    } else if (strcmp(name, "gen_Topo_Template") == 0) {
        *exit_code = run_topology(argc, argv);
    } else {
        return false;
    }
    return true;
}
