/* SPDX-License-Identifier: Apache-2.0 */
/* Measured steps in all the forms they come in, and what is made of them: an alpha is of one step on both sides, the
 * bound is 2(N-1)/N B / bandwidth, and each rule of acceptance can say no. The numbers are those of spec rocm §2.2. */
#include "tests/check.h"
#include "tests/folder.h"

#include <math.h>

#include "calib/file.h"
#include "calib/report.h"
#include "calib/steps.h"
#include "calib/steps_fit.h"

static struct mem mem;
static struct arena arena;
static struct notes notes;
static struct orr_error err;

static void begin(void)
{
    mem = (struct mem){0};
    err = (struct orr_error){0};
    arena_init(&arena, &mem);
    notes_init(&notes, &mem, false);
}

static void end(void)
{
    notes_free(&notes);
    arena_free(&arena);
    CHECK_U64(mem.used, 0, "all memory is given back");
}

static const char *put(const char *name, const char *text)
{
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, "%s", path);
    return path;
}

static bool near(double got, double want)
{
    return fabs(got - want) <= 1e-9 * fabs(want);
}

/* ---- forms ---- */

static const struct {
    const char *name, *text;
    enum calib_step_form form;
    double median_ms;
    uint64_t samples;
    uint32_t listed;
    int64_t rank;
} forms[] = {
    {"training_0.json", "{\"model\": \"x\", \"rank\": 1, \"step_ms_median\": 4.25, \"params\": 5}", CALIB_STEP_TRAINING,
     4.25, 1, 1, 1},
    {"training_3.json", "{\"step_ms_median\": 4.25, \"steps\": 20}", CALIB_STEP_TRAINING, 4.25, 20, 1, 3},
    {"training_2.json", "{\"step_ms_median\": 9, \"step_times_ms\": [1, 5, 2], \"steps\": 3}", CALIB_STEP_TRAINING, 2,
     3, 3, 2},
    {"training.json", "{\"step_times_us\": [1000, 3000, 2000]}", CALIB_STEP_TRAINING, 2, 3, 3, -1},
    {"t_7_resnet.json", "{\"step_times_s\": [0.5]}", CALIB_STEP_TRAINING, 500, 1, 1, 7},
    {"ns.json", "{\"step_ns_median\": 1500000}", CALIB_STEP_TRAINING, 1.5, 1, 1, -1},
    {"list.json", "[10, 12.5, 11]", CALIB_STEP_LIST, 11, 3, 3, -1},
    {"gpu_metrics_1_cifar10.json",
     "{\"epoch\": 2, \"rank\": 1, \"epoch_duration_seconds\": 9, \"step_count\": 90, \"step_times_ms\": {\"mean\": 11, "
     "\"median\": 10, \"min\": 9, \"max\": 40, \"samples\": 88}, \"gpu_frequency_stats\": {\"sclk_mhz\": {\"median\": "
     "2400, \"max\": 2900}}}",
     CALIB_STEP_GPU_METRICS, 10, 88, 1, 1},
    {"gpu_metrics_0.json",
     "{\"rank\": 0, \"epoch_duration_seconds\": 9, \"step_count\": 90, \"sclk_median_mhz\": 100, \"sclk_max_mhz\": "
     "2935}",
     CALIB_STEP_GPU_METRICS, 100, 90, 1, 0},
    {"summary.json", "{\"step_times_ms\": {\"samples\": [3, 1, 2]}}", CALIB_STEP_TRAINING, 2, 3, 3, -1},
};

static void step_times_are_read_in_every_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        struct calib_measured got;
        begin();
        CHECK_OK(calib_measured_read(put(forms[i].name, forms[i].text), &arena, &notes, &got, &err), &err);
        CHECK(got.form == forms[i].form, "%s: form %d", forms[i].name, (int)got.form);
        CHECK(near(got.median_ms, forms[i].median_ms), "%s: %g", forms[i].name, got.median_ms);
        CHECK_U64(got.samples, forms[i].samples, "%s", forms[i].name);
        CHECK_U64(got.step_count, forms[i].listed, "%s", forms[i].name);
        CHECK(got.rank == forms[i].rank, "%s: rank %" PRId64, forms[i].name, got.rank);
        CHECK(!got.traced, "%s was recorded without a profiler", forms[i].name);
        end();
    }
}

static void a_clock_alone_is_no_step_but_is_kept(void **state)
{
    (void)state;
    struct calib_measured got;
    begin();
    const char *path = put("gpu_metrics_0.json", "{\"rank\": 0, \"sclk_avg_mhz\": 1900, \"sclk_median_mhz\": 1980, "
                                                 "\"sclk_max_mhz\": 2000, \"samples_count\": 9}");
    CHECK_OK(calib_measured_read(path, &arena, &notes, &got, &err), &err);
    CHECK(got.samples == 0 && isnan(got.median_ms) && got.gpu_mhz == 1980, "%g MHz", got.gpu_mhz);
    end();
}

static const struct {
    const char *text, *says;
} bad[] = {
    {"{\"loss\": 3}", "has no step times"},
    {"{\n\"step_ms_median\": -1}", ":2: \"step_ms_median\" has the time of a step that cannot be"},
    {"{\"step_ms_median\": \"4\"}", "a number is expected"},
    {"{\"step_times_ms\": [1, 0]}", "above 0"},
    {"{\"step_times_ms\": [1, 1e300]}", "up to a year"},
    {"{\"step_times_ms\": [1, 2],\n\"step_ms\": 1}", ":2: \"step_ms\" lists steps, which another member has"},
    {"{\"steps\": [4, 5]}", "\"step_times_ms\": [...]"},
    {"[1, {}]", "a number is expected"},
    {"[]", "has no step times"},
    {"{\"rank\": -1, \"step_ms_median\": 1}", "is not a rank"},
    {"{\"step_ms_median\": 1", ""},
    {"{\"traceEvents\": []}", "no ProfilerStep marks"},
};

static void what_is_no_step_time_is_refused_with_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct calib_measured got;
        begin();
        CHECK_STATUS(calib_measured_read(put("bad.json", bad[i].text), &arena, &notes, &got, &err), ORR_EINVAL);
        CHECK_CONTAINS(err.text, bad[i].says);
        end();
    }
}

/* Two steps, each marked by host and device; one mark of the second in nanoseconds. Microseconds throughout:
 *   kernels 100..200, 150..250 (one union of 150), 1100..1200; communication 200..300, of which 250..300 is exposed. */
static const char device[] =
    "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 3, \"world_size\": 4}, \"traceEvents\": [\n"
    "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#5\", \"ts\": 0, \"dur\": 1000, \"tid\": "
    "1},\n"
    "{\"ph\": \"X\", \"cat\": \"gpu_user_annotation\", \"name\": \"ProfilerStep#5\", \"ts\": 100, \"dur\": 200},\n"
    "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#6\", \"ts\": 1000, \"dur\": 2000},\n"
    "{\"ph\": \"X\", \"cat\": \"gpu_user_annotation\", \"name\": \"ProfilerStep#6\", \"ts\": 1100, \"dur\": 100},\n"
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"ts\": 10, \"dur\": 5},\n"
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"ts\": 5000, \"dur\": 5},\n"
    "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"ts\": 12, \"dur\": 2},\n"
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"ts\": 100, \"dur\": 100, \"args\": {\"stream\": 7}},\n"
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"ts\": 150, \"dur\": 100, \"args\": {\"stream\": 8}},\n"
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_AllReduce_Sum_f32_RING_LL\", \"ts\": 200, \"dur\": "
    "100},\n"
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"ts\": 1100, \"dur\": 100}\n"
    "]}\n";

static void a_device_trace_gives_steps_once_and_their_parts(void **state)
{
    (void)state;
    struct calib_measured got;
    begin();
    CHECK_OK(calib_measured_read(put("device_9.json", device), &arena, &notes, &got, &err), &err);
    CHECK(got.traced && got.form == CALIB_STEP_KINETO, "the profiler ran");
    CHECK(got.rank == 3, "the file's word goes before its name's: %" PRId64, got.rank);
    CHECK_U64(got.samples, 2, "the device's marks are the host's again");
    CHECK(near(got.median_ms, 1.5), "%g", got.median_ms);
    CHECK(near(got.device_ms, 0.125), "(150 + 100) / 2 us: %g", got.device_ms);
    CHECK(near(got.kernel_ms, 0.15), "(100 + 100 + 100) / 2 us: %g", got.kernel_ms);
    CHECK(near(got.comm_ms, 0.05) && near(got.exposed_ms, 0.025), "%g, %g", got.comm_ms, got.exposed_ms);
    CHECK(near(got.host_events, 2), "two marks, one op, one call inside of two steps: %g", got.host_events);
    CHECK(near(got.collectives, 0.5), "%g", got.collectives);
    end();
}

static void a_file_with_a_step_above_a_thousand_seconds_is_in_nanoseconds(void **state)
{
    (void)state;
    struct calib_measured got;
    begin();
    const char *path = put("device_0.json", "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"gpu_user_annotation\", "
                                            "\"name\": \"ProfilerStep#1\", \"ts\": 0, \"dur\": 2000000000},\n"
                                            "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"ts\": "
                                            "1900000000, \"dur\": 5000},\n"
                                            "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"ts\": "
                                            "1900000000, \"dur\": 50000000}]}");
    CHECK_OK(calib_measured_read(path, &arena, &notes, &got, &err), &err);
    CHECK(near(got.median_ms, 2000), "%g", got.median_ms);
    CHECK(near(got.kernel_ms, 50) && near(got.device_ms, 50), "a kernel too: %g, %g", got.kernel_ms, got.device_ms);
    CHECK(near(got.host_events, 1), "and the op is inside of the step: %g", got.host_events);
    CHECK(got.rank == 0, "by its name");
    end();
}

static void quartiles_lie_between_neighbours(void **state)
{
    (void)state;
    double values[] = {4, 1, 3, 2};
    struct calib_spread spread = calib_spread_of(values, 4);
    CHECK(near(spread.median, 2.5) && near(spread.iqr, 1.5), "%g, %g", spread.median, spread.iqr);
    CHECK(isnan(calib_spread_of(values, 1).iqr) && isnan(calib_spread_of(values, 0).median), "too few");
}

/* ---- alpha ---- */

/* ResNet-50 of spec rocm §2.2: two traced steps, 94,083,368 bytes a step between two ranks at 65 Gbps. */
static struct calib_question published(void)
{
    struct calib_question question = {
        .sim = calib_sim_none(), .rank = -1, .real_ms = {662.92, 7.54, NAN}, .profiler_us = NAN};
    question.sim.wall_ns = 274982000;
    question.sim.comm_ns = 15060000;
    question.sim.steps = 2;
    question.sim.ranks = 2;
    question.sim.bus_bytes = 2.0 * 94083368;
    question.sim.bandwidth_gbps = 65;
    return question;
}

static void an_alpha_is_of_one_step_on_both_sides(void **state)
{
    (void)state;
    struct calib calib;
    begin();
    const struct calib_question question = published();
    CHECK_OK(calib_steps_fit(&question, &arena, &calib, &err), &err);
    CHECK(fabs(calib.alpha / 1e3 - 2 * 0.0024108) < 1e-7, "alpha %.7f us a cycle", calib.alpha / 1e3);
    CHECK(near(calib.sim.step_ms, 137.491), "%g ms", calib.sim.step_ms);
    CHECK(near(calib.alpha_comm, 7.54 / 7.53), "%g", calib.alpha_comm);
    end();
}

static void the_lower_bound_shows_a_bandwidth_that_is_too_low(void **state)
{
    (void)state;
    struct calib calib;
    char *text = NULL;
    size_t size = 0;
    begin();
    const struct calib_question question = published();
    CHECK_OK(calib_steps_fit(&question, &arena, &calib, &err), &err);
    CHECK(fabs(calib.lower_bound_ms - 11.58) < 0.005, "%g ms", calib.lower_bound_ms);
    CHECK(fabs(calib.achieved_gbps - 99.82) < 0.01, "%g Gbps", calib.achieved_gbps);
    CHECK(calib.bandwidth_too_low && !calib.accepted, "the verdict");
    FILE *stream = open_memstream(&text, &size);
    CHECK(stream != NULL, "memory");
    calib_report_put(&calib, stream);
    (void)fclose(stream);
    CHECK_CONTAINS(text, "configured bandwidth is lower than the bandwidth the trace achieved");
    CHECK_CONTAINS(text, "53.6% more than measured");
    CHECK_CONTAINS(text, "alpha would be 2.410776, 2 times too small");
    CHECK_CONTAINS(text, "is below its lower bound");
    free(text);
    end();
}

static struct calib_measured traced(int64_t rank, const double *steps, uint32_t count, double events)
{
    struct calib_measured file = calib_measured_none("device.json");
    double copy[8];
    memcpy(copy, steps, count * sizeof *steps);
    file.form = CALIB_STEP_KINETO;
    file.traced = true;
    file.rank = rank;
    file.steps_ms = steps;
    file.step_count = count;
    file.samples = count;
    file.median_ms = calib_spread_of(copy, count).median;
    file.host_events = events;
    return file;
}

static struct calib_measured bare(int64_t rank, const double *step)
{
    struct calib_measured file = calib_measured_none("training.json");
    file.form = CALIB_STEP_TRAINING;
    file.rank = rank;
    file.steps_ms = step;
    file.step_count = 1;
    file.samples = 20;
    file.median_ms = *step;
    return file;
}

static void different_numbers_of_steps_are_refused_unless_told(void **state)
{
    (void)state;
    static const double steps[] = {10, 10.1, 10.2, 10};
    const struct calib_measured files[] = {traced(0, steps, 4, 100)};
    struct calib_question question = {.files = files,
                                      .file_count = 1,
                                      .sim = calib_sim_none(),
                                      .rank = -1,
                                      .real_ms = {NAN, NAN, NAN},
                                      .profiler_us = NAN};
    struct calib calib;
    begin();
    question.sim.wall_ns = 20e6;
    CHECK_STATUS(calib_steps_fit(&question, &arena, &calib, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "how many steps the simulated traces hold is not known");
    question.sim.steps = 2;
    CHECK_STATUS(calib_steps_fit(&question, &arena, &calib, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "the recordings hold 4 steps and the simulated traces 2");
    CHECK_CONTAINS(err.text, "parameter 'steps' N");
    question.steps = 2;
    CHECK_OK(calib_steps_fit(&question, &arena, &calib, &err), &err);
    CHECK(near(calib.alpha, 10.05 / 10), "%g", calib.alpha);
    CHECK(near(calib.alpha_iqr, 0.125 / 10), "(10.125 - 10.0) / 10: %g", calib.alpha_iqr);
    CHECK(calib.accepted, "four close samples are believed");
    end();
}

static void the_profiler_costs_so_much_an_event(void **state)
{
    (void)state;
    static const double steps[] = {30, 31, 10, 11.2};
    const struct calib_measured files[] = {traced(0, &steps[0], 1, 1000), traced(1, &steps[1], 1, 1000),
                                           bare(0, &steps[2]), bare(1, &steps[3])};
    struct calib_question question = {.files = files,
                                      .file_count = 4,
                                      .sim = calib_sim_none(),
                                      .rank = 0,
                                      .real_ms = {NAN, NAN, NAN},
                                      .profiler_us = NAN};
    struct calib calib;
    begin();
    question.sim.wall_ns = 25e6;
    question.sim.steps = 1;
    CHECK_OK(calib_steps_fit(&question, &arena, &calib, &err), &err);
    CHECK(calib.traced && near(calib.real.step_ms, 30), "alpha is against the traced step");
    CHECK(near(calib.profiler_us, 20), "(30 - 10) ms / 1000: %g us", calib.profiler_us);
    CHECK(near(calib.held_out, 1.0 / 31), "30 predicted of 31: %g", calib.held_out);
    CHECK(near(calib.untraced_error, 1.2 / 11.2), "10 predicted of 11.2: %g", calib.untraced_error);
    struct calib_prediction p = calib_predict(&calib, 50);
    CHECK(near(p.scaled_ms, 60) && near(p.added_ms, 55) && near(p.untraced_ms, 35), "%g %g %g", p.scaled_ms, p.added_ms,
          p.untraced_ms);
    question.profiler_us = 19;
    CHECK_OK(calib_steps_fit(&question, &arena, &calib, &err), &err);
    CHECK(near(calib.untraced_error, 0.1), "11 of 10 is worse than 11 of 11.2: %g", calib.untraced_error);
    question.profiler_us = NAN;
    question.untraced = true;
    CHECK_OK(calib_steps_fit(&question, &arena, &calib, &err), &err);
    CHECK(near(calib.alpha, 0.4), "against 10 ms: %g", calib.alpha);
    end();
}

static void every_rule_can_refuse(void **state)
{
    (void)state;
    static const double wild[] = {10, 10, 14, 20};
    static const struct {
        const char *rule;
        uint32_t count;
        double comm_ns, bus_bytes;
    } rows[] = {{"samples", 2, 1e6, 0},
                {"IQR / median", 4, 1e6, 0},
                {"error of a step", 4, 1e6, 0},
                {"not all is communication", 4, 25e6, 0},
                {"bandwidth", 4, 1e6, 1e9}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct calib_measured file = traced(0, wild, rows[i].count, 100);
        file.comm_ms = 10;
        struct calib_question question = {.files = &file,
                                          .file_count = 1,
                                          .sim = calib_sim_none(),
                                          .rank = -1,
                                          .steps = 1,
                                          .real_ms = {NAN, NAN, NAN},
                                          .profiler_us = NAN};
        struct calib calib;
        begin();
        question.sim.wall_ns = 25e6;
        question.sim.comm_ns = rows[i].comm_ns;
        question.sim.bus_bytes = rows[i].bus_bytes;
        question.sim.bandwidth_gbps = 100;
        CHECK_OK(calib_steps_fit(&question, &arena, &calib, &err), &err);
        bool found = false;
        for (uint32_t k = 0; k < calib.check_count; k++) {
            found = found || (strcmp(calib.checks[k].rule, rows[i].rule) == 0 && !calib.checks[k].holds);
        }
        CHECK(found && !calib.accepted, "%s says no", rows[i].rule);
        end();
    }
}

/* ---- the file ---- */

static void a_calibration_file_says_again_what_was_found(void **state)
{
    (void)state;
    struct calib calib;
    struct calib again;
    char path[128];
    begin();
    const struct calib_question question = published();
    CHECK_OK(calib_steps_fit(&question, &arena, &calib, &err), &err);
    calib.launch_us = 25;
    (void)snprintf(path, sizeof path, "%s/made/calib.json", folder);
    CHECK_OK(calib_file_write(path, &calib, &err), &err);
    CHECK_OK(calib_file_read(path, &arena, &again, &err), &err);
    CHECK(fabs(again.alpha - calib.alpha) < 1e-9 && fabs(again.lower_bound_ms - calib.lower_bound_ms) < 1e-9, "%.9f",
          again.alpha);
    CHECK(again.launch_us == 25 && isnan(again.link_gbps) && again.bandwidth_too_low && !again.accepted, "fields");
    CHECK_U64(again.check_count, calib.check_count, "rules");
    CHECK_TEXT(again.checks[0].value, "1");
    end();
}

/* From a step of a nanosecond against centuries of simulation, to the opposite. */
static void the_smallest_and_largest_numbers_are_read_as_they_were_written(void **state)
{
    (void)state;
    static const double numbers[] = {1.25e-19, 3.5e-7, 1.5, 3.2e16, 1.8e19};
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        struct calib calib = calib_none();
        struct calib again;
        char path[128];
        begin();
        calib.alpha = calib.compute_scale = calib.link_gbps = calib.bus_bytes = numbers[i];
        calib.profiler_us = -numbers[i];
        (void)snprintf(path, sizeof path, "%s/extreme.json", folder);
        CHECK_OK(calib_file_write(path, &calib, &err), &err);
        CHECK_OK(calib_file_read(path, &arena, &again, &err), &err);
        CHECK(near(again.alpha, numbers[i]) && near(again.compute_scale, numbers[i]), "%g", again.alpha);
        CHECK(near(again.bus_bytes, numbers[i]) && near(again.profiler_us, -numbers[i]), "%g", again.bus_bytes);
        end();
    }
}

static const struct {
    const char *text, *says;
} bad_files[] = {
    {"{}", "is no calibration"},
    {"{\"format\": \"orrery-calibration-1\",\n\"lunch_us\": 3}", ":2: unknown member \"lunch_us\"; did you mean "
                                                                 "\"launch_us\"?"},
    {"{\"format\": \"orrery-calibration-1\", \"launch_us\": \"3\"}", "not a number from 0"},
    {"{\"format\": \"orrery-calibration-1\", \"compute_scale\": 0}", "not a number above 0"},
    {"{\"format\": \"orrery-calibration-1\", \"accepted\": 1}", "not true or false"},
    {"{\"format\": \"orrery-calibration-1\", \"samples\": 1.5}", "not a whole number"},
    {"{\"format\": \"orrery-calibration-1\", \"rules\": [3]}", "is a list of up to"},
    {"[", "calib:1"},
};

static void what_is_no_calibration_is_refused_with_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad_files); i++) {
        struct calib calib;
        begin();
        CHECK_STATUS(calib_file_parse("calib", bad_files[i].text, strlen(bad_files[i].text), &arena, &calib, &err),
                     ORR_EINVAL);
        CHECK_CONTAINS(err.text, bad_files[i].says);
        end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(step_times_are_read_in_every_form),
        cmocka_unit_test(a_clock_alone_is_no_step_but_is_kept),
        cmocka_unit_test(what_is_no_step_time_is_refused_with_its_place),
        cmocka_unit_test(a_device_trace_gives_steps_once_and_their_parts),
        cmocka_unit_test(a_file_with_a_step_above_a_thousand_seconds_is_in_nanoseconds),
        cmocka_unit_test(quartiles_lie_between_neighbours),
        cmocka_unit_test(an_alpha_is_of_one_step_on_both_sides),
        cmocka_unit_test(the_lower_bound_shows_a_bandwidth_that_is_too_low),
        cmocka_unit_test(different_numbers_of_steps_are_refused_unless_told),
        cmocka_unit_test(the_profiler_costs_so_much_an_event),
        cmocka_unit_test(every_rule_can_refuse),
        cmocka_unit_test(a_calibration_file_says_again_what_was_found),
        cmocka_unit_test(the_smallest_and_largest_numbers_are_read_as_they_were_written),
        cmocka_unit_test(what_is_no_calibration_is_refused_with_its_line),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
