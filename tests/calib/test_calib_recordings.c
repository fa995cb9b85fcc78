/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calibration on real recordings of two ranks: import, simulate, calibrate on rank 0's traced step, and predict what
 * rank 1 measured: its ProfilerStep to 2 %, its step without the profiler to 10 %. Ends with 77 where the recordings
 * (data/pytorch of $ORRERY_SHARED, else of `shared` beside the source tree) are not there.
 *
 * Usage: test_calib_recordings SOURCE-FOLDER
 */
#include "tests/check.h"
#include "tests/folder.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static char shared[1024];

struct recording {
    const char *name;
    char files[4][1400];
    const char *paths[4];
};

static void find_files(struct recording *recording)
{
    static const char *const names[] = {"device_0.json.gz", "device_1.json.gz", "training_0.json", "training_1.json"};
    for (int i = 0; i < 4; i++) {
        (void)snprintf(recording->files[i], sizeof recording->files[i], "%s/%s/%s", shared, recording->name, names[i]);
        recording->paths[i] = recording->files[i];
    }
}

/* Rank 0 is fitted on, rank 1 held out. */
static void calibrate(struct recording *recording, const char *profiler, struct orr_calib_result *result)
{
    struct orr_error err = {0};
    struct orr_lab_options lab;
    orr_lab_options_init(&lab);
    struct orr_lab_result ran;
    char workload[1200];
    char store[64];
    find_files(recording);
    (void)snprintf(workload, sizeof workload, "%s/%s", shared, recording->name);
    (void)snprintf(store, sizeof store, "%s/orrery.db", folder);
    lab.run.workload = workload;
    lab.run.machine = "2gpu_auto1d_2";
    lab.output_folder = folder;
    CHECK_OK(orr_lab_run(&lab, NULL, NULL, &ran, &err), &err);
    struct orr_calib_options options;
    orr_calib_options_init(&options);
    options.measured = recording->paths;
    options.measured_count = 4;
    options.rank = 0;
    options.store = store;
    options.has_run = true;
    options.run = ran.run;
    options.profiler = profiler;
    CHECK_OK(orr_calib_fit(&options, NULL, NULL, result, &err), &err);
}

static struct recording recordings[] = {{.name = "resnet50_gloo"}, {.name = "cifar10_gloo"}};

static void rank_0_tells_how_long_rank_1_took(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(recordings); i++) {
        struct orr_calib_result result;
        calibrate(&recordings[i], NULL, &result);
        CHECK(fabs(result.alpha - 1) < 0.05, "%s: alpha %g", recordings[i].name, result.alpha);
        CHECK(result.held_out < 0.02, "%s: rank 1's ProfilerStep to %g", recordings[i].name, result.held_out);
        CHECK(result.untraced_error < 0.10, "%s: rank 1's step without the profiler to %g", recordings[i].name,
              result.untraced_error);
        (void)printf("%s: alpha %.6f; rank 1 traced %.2f %%, untraced %.2f %%; %.3f us an event\n", recordings[i].name,
                     result.alpha, 100 * result.held_out, 100 * result.untraced_error, result.profiler_us);
    }
}

static void the_cost_of_an_event_is_nearly_that_of_the_other_model(void **state)
{
    (void)state;
    double cost[2];
    for (size_t i = 0; i < 2; i++) {
        struct orr_calib_result result;
        calibrate(&recordings[i], NULL, &result);
        cost[i] = result.profiler_us;
    }
    CHECK(fabs(cost[0] / cost[1] - 1) < 0.20, "%g and %g us", cost[0], cost[1]);
}

int main(int argc, char **argv)
{
    const char *set = getenv("ORRERY_SHARED");
    char probe[1200];
    if (argc != 2) {
        return 1;
    }
    if (set != NULL) {
        (void)snprintf(shared, sizeof shared, "%s/data/pytorch", set);
    } else {
        (void)snprintf(shared, sizeof shared, "%.900s/../shared/data/pytorch", argv[1]);
    }
    (void)snprintf(probe, sizeof probe, "%s/resnet50_gloo/device_0.json.gz", shared);
    if (access(probe, R_OK) != 0) {
        (void)printf("%s is not there: skipped\n", probe);
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(rank_0_tells_how_long_rank_1_took),
                                       cmocka_unit_test(the_cost_of_an_event_is_nearly_that_of_the_other_model)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
