/* SPDX-License-Identifier: Apache-2.0 */
/* Compute times of workload rows from the operator model: the same job's kernels, told by row. */
#include "convert/text/simai_read.h"
#include "tests/check.h"
#include "tests/folder.h"

static struct orr_error err;

/* Sets "name=value name" and writes. */
static enum orr_status written_as(enum orr_aicb_kind kind, const char *line, const char *path)
{
    struct orr_aicb *aicb = NULL;
    char words[512];
    (void)snprintf(words, sizeof words, "%s", line);
    CHECK_OK(orr_aicb_open(kind, false, &aicb, &err), &err);
    char *rest = NULL;
    for (char *word = strtok_r(words, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        if (value != NULL) {
            *value++ = '\0';
        }
        CHECK_OK(orr_aicb_set(aicb, word, value, &err), &err);
    }
    enum orr_status status = orr_aicb_write(aicb, path, NULL, &err);
    orr_aicb_close(aicb);
    return status;
}

static enum orr_status written(const char *line, const char *path)
{
    return written_as(ORR_AICB_TRAINING, line, path);
}

static double compute_ns(const char *path)
{
    struct mem mem = {0};
    struct simai_text text;
    double sum = 0;
    CHECK_OK(simai_text_read(path, &mem, false, &text, &err), &err);
    for (uint32_t i = 0; i < text.workload.layer_count; i++) {
        for (unsigned phase = 0; phase < TEXT_PHASES; phase++) {
            sum += (double)text.workload.layers[i].cells[phase].time;
        }
    }
    text_free(&text.workload);
    return sum;
}

static const struct {
    const char *line;
    struct orr_train_plan plan;
    const char *model, *machine;
} jobs[] = {
    {"model=llama2-70b world_size=64 tensor_model_parallel_size=8 enable_sequence_parallel global_batch=64",
     {.gpus = 64, .tp = 8, .sp = true, .micro_batch = 1, .global_batch = 64, .seq = 4096},
     "llama2-70b",
     "dgx-h100:8"},
    {"model=llama3-8b world_size=8 global_batch=32 micro_batch=2 seq_length=8192 context-parallel-size=2",
     {.gpus = 8, .cp = 2, .micro_batch = 2, .global_batch = 32, .seq = 8192},
     "llama3-8b",
     "dgx-a100:1"},
    {"model=llama3-8b world_size=8 global_batch=32 tensor_model_parallel_size=2 seq_length=2048 recompute_activations",
     {.gpus = 8,
      .tp = 2,
      .micro_batch = 1,
      .global_batch = 32,
      .seq = 2048,
      .recompute = ORR_TRAIN_RECOMPUTE_SELECTIVE},
     "llama3-8b",
     "dgx-a100:1"},
    {"model=mixtral-8x7b world_size=64 tensor_model_parallel_size=2 enable_sequence_parallel global_batch=64 "
     "seq_length=4096 expert_model_parallel_size=8",
     {.gpus = 64, .tp = 2, .etp = 2, .ep = 8, .sp = true, .micro_batch = 1, .global_batch = 64, .seq = 4096},
     "mixtral-8x7b",
     "dgx-h100:8"},
    {"model=deepseek-v3 world_size=256 global_batch=512 expert_model_parallel_size=64 seq_length=4096",
     {.gpus = 256, .ep = 64, .etp = 1, .micro_batch = 1, .global_batch = 512, .seq = 4096},
     "deepseek-v3",
     "dgx-h100:32"},
};

static void rows_add_up_to_the_kernels_of_the_same_step(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(jobs); i++) {
        char path[512], line[400];
        const char *device = strstr(jobs[i].machine, "h100") != NULL ? "h100" : "a100";
        (void)snprintf(path, sizeof path, "%s", folder_path("job.txt"));
        (void)snprintf(line, sizeof line, "%s compute-times=model device=%s", jobs[i].line, device);
        CHECK_OK(written(line, path), &err);
        struct orr_train_options options;
        struct orr_train_result result;
        orr_train_options_init(&options);
        options.model = jobs[i].model;
        options.machine = jobs[i].machine;
        options.framework = "megatron";
        options.without_neighbours = true;
        options.plan = jobs[i].plan;
        options.plan.zero = 1;
        CHECK_OK(orr_train_step(&options, &result, &err), &err);
        double kernels = (double)(result.forward_ns + result.backward_ns + result.optimizer_ns);
        double ratio = compute_ns(path) / kernels;
        /* The vocabulary is padded in the rows, and a row of a collective alone has 1 ns. */
        CHECK(ratio > 0.997 && ratio < 1.003, "%s: rows over kernels %g", jobs[i].line, ratio);
    }
}

static double analytical_ms(const char *workload, const struct orr_simai_compute *compute, enum orr_status expected)
{
    struct orr_simai_analytical options;
    char *text = NULL;
    size_t size = 0;
    double ms = 0;
    FILE *stream = open_memstream(&text, &size);
    CHECK(stream != NULL, "no memory");
    orr_simai_analytical_init(&options);
    options.workload = workload;
    options.gpus = 64;
    options.gpus_per_server = options.nics_per_server = 8;
    options.gpu_type = "H100";
    options.compute = *compute;
    enum orr_status status = orr_simai_analytical(&options, NULL, stream, &err);
    (void)fclose(stream);
    CHECK(status == expected, "status %d: %s", status, err.text);
    const char *total = status == ORR_OK ? strstr(text, "Total: ") : NULL;
    CHECK(status != ORR_OK || total != NULL, "%s", text);
    if (total != NULL) {
        char unit[8] = "";
        CHECK(sscanf(total, "Total: %lf %7s", &ms, unit) == 2, "%.40s", total);
        ms *= strcmp(unit, "s") == 0 ? 1000 : 1;
    }
    free(text);
    return ms;
}

static void a_text_without_times_is_filled_as_if_it_had_been_written_so(void **state)
{
    (void)state;
    static const struct {
        const char *line, *model;
    } cases[] = {
        {"model=llama2-70b world_size=64 tensor_model_parallel_size=8 enable_sequence_parallel global_batch=64",
         "llama2-70b"},
        {"model=gpt-13b world_size=64 tensor_model_parallel_size=4 global_batch=64 seq_length=2048", "gpt-13b"},
        {"model=deepseek-v3 world_size=64 tensor_model_parallel_size=2 enable_sequence_parallel "
         "global_batch=64 seq_length=4096 expert_model_parallel_size=32 pipeline_model_parallel=1",
         "deepseek-v3"}};
    const struct orr_simai_compute given = {0};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char plain[512], timed[512], line[400];
        (void)snprintf(plain, sizeof plain, "%s", folder_path("plain.txt"));
        (void)snprintf(timed, sizeof timed, "%s", folder_path("timed.txt"));
        CHECK_OK(written(cases[i].line, plain), &err);
        (void)snprintf(line, sizeof line, "%s compute-times=model device=h100", cases[i].line);
        CHECK_OK(written(line, timed), &err);
        struct orr_simai_compute asked = {
            .times = ORR_SIMAI_TIMES_MODEL, .model = cases[i].model, .device = "h100", .micro_batch = 1};
        double ratio = analytical_ms(plain, &asked, ORR_OK) / analytical_ms(timed, &given, ORR_OK);
        CHECK(ratio > 0.997 && ratio < 1.003, "%s: filled over written %g", cases[i].model, ratio);
        CHECK(analytical_ms(timed, &asked, ORR_OK) / analytical_ms(timed, &given, ORR_OK) == 1,
              "%s: times that are there stay", cases[i].model);
    }
}

static void what_a_text_does_not_say_is_asked_for(void **state)
{
    (void)state;
    char path[512];
    (void)snprintf(path, sizeof path, "%s", folder_path("asked.txt"));
    CHECK_OK(written("model=llama2-70b world_size=64 tensor_model_parallel_size=8 enable_sequence_parallel "
                     "global_batch=64",
                     path),
             &err);
    static const struct {
        struct orr_simai_compute compute;
        const char *says;
    } cases[] = {
        {{.times = ORR_SIMAI_TIMES_MODEL, .device = "h100"}, "sizes of messages, not the shapes"},
        {{.times = ORR_SIMAI_TIMES_MODEL, .model = "llama2-70b"}, "parameter 'device'"},
        {{.times = ORR_SIMAI_TIMES_MODEL, .model = "llama2-70b", .device = "h100"}, "how long its sequences are"},
        {{.times = ORR_SIMAI_TIMES_MODEL, .model = "llama2-70b", .device = "h100", .seq = 1000}, "4096 tokens"},
        {{.times = ORR_SIMAI_TIMES_MODEL, .model = "llama2-7b", .device = "h100", .seq = 4096}, "which has 32 layers"},
        {{.times = ORR_SIMAI_TIMES_MODEL, .model = "resnet50", .device = "h100", .seq = 4096}, "no decoder"},
        {{.times = ORR_SIMAI_TIMES_MODEL, .model = "llama9", .device = "h100", .seq = 4096}, "llama9"},
        {{.times = ORR_SIMAI_TIMES_MODEL, .model = "llama2-70b", .device = "vic20", .seq = 4096}, "vic20"},
        {{.seq = 4096}, "needs parameter 'compute-times' model"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        (void)analytical_ms(path, &cases[i].compute, ORR_EINVAL);
        CHECK(strstr(err.text, cases[i].says) != NULL, "case %zu: %s", i, err.text);
    }
}

static void what_the_operator_model_cannot_know_of_a_generators_options_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *line, *says;
    } cases[] = {
        {"compute-times=model", "needs parameter 'device'"},
        {"device=h100", "needs parameter 'compute-times' model"},
        {"compute-times=model device=vic20", "vic20"},
        {"compute-times=model device=h100 dtype=int8", "not \"int8\""},
        {"compute-times=model device=h100 comp_filepath=x.txt", "both say compute times"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char line[400];
        (void)snprintf(line, sizeof line, "num_attention_heads=16 %s", cases[i].line);
        CHECK(written(line, folder_path("no.txt")) == ORR_EINVAL, "case %zu", i);
        CHECK(strstr(err.text, cases[i].says) != NULL, "case %zu: %s", i, err.text);
    }
    CHECK_OK(written("num_attention_heads=16 compute-times=model gpu_type=H100", folder_path("yes.txt")), &err);
}

/* ns of the first row of a name; of all rows none may be without a time. */
static double served_ns(const char *line, const char *name)
{
    struct mem mem = {0};
    struct simai_text text;
    double found = 0;
    const char *path = folder_path("served.txt");
    CHECK_OK(written_as(ORR_AICB_INFERENCE, line, path), &err);
    CHECK_OK(simai_text_read(path, &mem, false, &text, &err), &err);
    for (uint32_t i = 0; i < text.workload.layer_count; i++) {
        const struct text_layer *row = &text.workload.layers[i];
        CHECK(row->cells[TEXT_FWD].time > 1000, "row %u has a time", i);
        found = found == 0 && text_word_is(row->name, name) ? (double)row->cells[TEXT_FWD].time : found;
    }
    text_free(&text.workload);
    return found;
}

/* H100: 989 TFLOP/s, 3.35 TB/s. */
static void rows_of_inference_take_what_their_products_and_caches_take(void **state)
{
    (void)state;
    static const char *const models[] = {"deepseek-v3", "qwen3-moe-235b", "qwen3-next-80b"};
    static const double cache[] = {576, 4 * 2 * 128, 2 * 2 * 256}; /* values of a token */
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        char near[256], far[256];
        static const char usual[] =
            "world_size=16 expert_model_parallel_size=16 compute-times=model device=h100 phase=decode";
        (void)snprintf(near, sizeof near, "model=%s %s micro_batch=32 seq_length=1024", models[i], usual);
        (void)snprintf(far, sizeof far, "model=%s %s micro_batch=32 seq_length=16384", models[i], usual);
        double more = served_ns(far, "attention_layer") - served_ns(near, "attention_layer");
        double read = cache[i] * 2 * 32 * (16384 - 1024) / 3350;
        CHECK(more > 0.8 * read && more < 4 * read, "%s: %g ns more, where the cache takes %g", models[i], more, read);
        CHECK(served_ns(far, "moe_expert") == served_ns(near, "moe_expert"), "%s: experts", models[i]);
    }
    double mlp = served_ns("model=deepseek-v3 world_size=8 compute-times=model device=h100 phase=prefill micro_batch=1 "
                           "seq_length=4096",
                           "dense_mlp");
    double least = 2.0 * 4096 * 7168 * 18432 * 3 / 989e3;
    CHECK(mlp > least && mlp < 2 * least, "%g ns of an MLP, no less than %g", mlp, least);
    CHECK(written_as(ORR_AICB_VIDUR, "model=deepseek-v3 compute-times=model", folder_path("no.txt")) == ORR_EINVAL,
          "no device");
    CHECK(strstr(err.text, "needs parameter 'device'") != NULL, "%s", err.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_add_up_to_the_kernels_of_the_same_step),
        cmocka_unit_test(a_text_without_times_is_filled_as_if_it_had_been_written_so),
        cmocka_unit_test(what_a_text_does_not_say_is_asked_for),
        cmocka_unit_test(what_the_operator_model_cannot_know_of_a_generators_options_is_refused),
        cmocka_unit_test(rows_of_inference_take_what_their_products_and_caches_take),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
