/* SPDX-License-Identifier: Apache-2.0 */
/* Measured runs near a job: what they may do to its prediction, and what they must not. */
#include "tests/check.h"
#include "tests/folder.h"

#include <stdlib.h>

static struct orr_error err;

/* A row of vtrain-single as data/runs has it: 1.8 billion parameters on eight A100. */
static struct orr_train_options job(const char *framework)
{
    struct orr_train_options options;
    orr_train_options_init(&options);
    options.gpu = "a100";
    options.framework = framework;
    options.shape = (struct orr_train_model){.layers = 24, .hidden = 2304, .heads = 24, .vocab = 50257};
    options.tied = 1;
    options.plan = (struct orr_train_plan){.gpus = 8,
                                           .tp = 2,
                                           .seq = 2048,
                                           .micro_batch = 4,
                                           .global_batch = 32,
                                           .recompute = ORR_TRAIN_RECOMPUTE_FULL,
                                           .dtype = ORR_TRAIN_DTYPE_FP16};
    return options;
}

static struct orr_train_result answered(const struct orr_train_options *options)
{
    struct orr_train_result result;
    CHECK_OK(orr_train_step(options, &result, &err), &err);
    return result;
}

static void a_moved_prediction_still_adds_up(void **state)
{
    (void)state;
    struct orr_train_options options = job("megatron-deepspeed");
    struct orr_train_result near = answered(&options);
    options.without_neighbours = true;
    struct orr_train_result alone = answered(&options);
    CHECK(near.nearest_count == 8 && near.error > 0 && near.error < 0.3, "error %g", near.error);
    CHECK_U64(near.step_ns,
              near.forward_ns + near.backward_ns + near.exposed_comm_ns + near.bubble_ns + near.launch_ns +
                  near.optimizer_ns,
              "parts");
    CHECK_NEAR((double)near.step_ns, near.moved * (double)alone.step_ns, 1e-6);
    CHECK_NEAR(near.mfu * near.moved, alone.mfu, 1e-6);
    CHECK_U64(near.memory.total,
              near.memory.weights + near.memory.gradients + near.memory.optimizer + near.memory.activations +
                  near.memory.buffers + near.memory.fragmentation,
              "memory");
    CHECK_U64(near.memory.weights, alone.memory.weights, "weights are counted");
    CHECK(alone.nearest_count == 0 && alone.error == 0, "nobody was asked");
}

static void runs_of_another_framework_say_nothing(void **state)
{
    (void)state;
    struct orr_train_options options = job("torchtitan");
    struct orr_train_result result = answered(&options);
    CHECK_U64(result.nearest_count, 0, "no run of it is at hand");
    CHECK_NEAR(result.moved, 1, 1e-12);
}

/* Of the rows of a table, those that the library carries are told by their id. */
static double table_error(const char *id, const char *step)
{
    const char *path = folder_path("one.csv");
    FILE *file = fopen(path, "w");
    struct orr_train_options defaults;
    struct orr_train_table_result sum;
    CHECK(file != NULL, "%s", path);
    (void)fprintf(file,
                  "id,source,framework,gpu,gpus_per_node,gpus,model,family,layers,hidden,heads,vocab,seq,tied,dtype,"
                  "micro_batch,global_batch,tp,recompute,step_s\n"
                  "%s,mine,nanotron,H100,8,64,mine,llama,36,4096,32,131072,4096,0,bf16,2,256,4,none,%s\n",
                  id, step);
    (void)fclose(file);
    orr_train_options_init(&defaults);
    FILE *out = tmpfile();
    CHECK(out != NULL, "a temporary file");
    struct orr_train_table table = {.input = path, .defaults = &defaults, .threads = 1};
    CHECK_OK(orr_train_predict_table(&table, out, NULL, &sum, &err), &err);
    (void)fclose(out);
    CHECK_U64(sum.measured, 1, "one row");
    return sum.bias;
}

static void what_a_row_measured_does_not_move_its_prediction(void **state)
{
    (void)state;
    double once = table_error("mine-1", "3.0"), twice = table_error("mine-1", "6.0");
    CHECK_NEAR(1 + once, 2 * (1 + twice), 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_moved_prediction_still_adds_up),
        cmocka_unit_test(runs_of_another_framework_say_nothing),
        cmocka_unit_test(what_a_row_measured_does_not_move_its_prediction),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
