/* SPDX-License-Identifier: Apache-2.0 */
/* What the shipped data answers: measured shapes as they were measured, others by who is nearest, and always a time. */
#include "compute/device.h"
#include "tests/check.h"

static struct orr_op_data *data;

static int open_data(void **state)
{
    struct orr_error err = {0};
    (void)state;
    return orr_op_data_open(NULL, 0, &data, &err) == ORR_OK ? 0 : -1;
}

static int close_data(void **state)
{
    (void)state;
    orr_op_data_close(data);
    return 0;
}

static uint32_t device(const char *name)
{
    struct orr_error err = {0};
    uint32_t found = 0;
    CHECK_STATUS(orr_op_device_find(name, &found, &err), ORR_OK);
    return found;
}

static struct orr_op_prediction ask(const char *name, enum orr_op_stack stack, struct orr_op op)
{
    struct orr_op_prediction p;
    orr_op_predict(data, device(name), stack, &op, &p);
    return p;
}

static void a_measured_shape_takes_what_was_measured(void **state)
{
    (void)state;
    /* Rows of ai-dynamo/aiconfigurator 095f58a. */
    static const struct {
        const char *device;
        struct orr_op op;
        double us;
    } rows[] = {
        {"h100_sxm", {.kind = ORR_OP_GEMM, .dims = {2048, 4096, 4096}}, 86.69},
        {"h100", {.kind = ORR_OP_GEMM, .dims = {33, 4096, 4096}}, 15.25},
        {"a100_sxm", {.kind = ORR_OP_GEMM, .dims = {16, 32, 2048}}, 6.315},
        {"a100", {.kind = ORR_OP_ATTENTION, .dims = {1, 256, 8, 1, 128}}, 15.26},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct orr_op_prediction p = ask(rows[i].device, ORR_OP_SERVING, rows[i].op);
        CHECK_NEAR(p.us, rows[i].us, 0.002);
        CHECK(p.method == ORR_OP_BY_MEASURED, "row %zu is known as measured", i);
        CHECK(memcmp(p.nearest, rows[i].op.dims, sizeof p.nearest) == 0, "row %zu is its own neighbour", i);
    }
}

static void a_shape_between_measured_ones_takes_a_time_between_theirs(void **state)
{
    (void)state;
    for (uint64_t m = 1024; m < 8192; m += 100) {
        struct orr_op_prediction p =
            ask("h100", ORR_OP_SERVING, (struct orr_op){.kind = ORR_OP_GEMM, .dims = {m, 4096, 4096}});
        double tflops = p.flops / p.us / 1e6;
        CHECK(tflops > 350 && tflops < 900, "m=%" PRIu64 " runs at %.0f TFLOP/s", m, tflops);
    }
}

static void a_device_without_measurements_says_whose_it_takes(void **state)
{
    (void)state;
    const struct orr_op op = {.kind = ORR_OP_GEMM, .dims = {4096, 4096, 4096}};
    struct orr_op_prediction gb300 = ask("gb300", ORR_OP_SERVING, op);
    struct orr_op_prediction mi300x = ask("mi300x", ORR_OP_SERVING, op);
    CHECK(gb300.method == ORR_OP_BY_RELATIVE, "gb300 has a relative");
    CHECK_TEXT(gb300.device, "b300");
    CHECK(mi300x.method == ORR_OP_BY_DATASHEET, "mi300x has none");
    CHECK(mi300x.device != NULL, "and names who answers for it");
}

static void a_slower_memory_makes_what_is_bound_by_it_slower_by_as_much(void **state)
{
    (void)state;
    const struct orr_op op = {.kind = ORR_OP_ADD, .dims = {65536, 16384}};
    double h200 = ask("h200", ORR_OP_KERNEL, op).us;
    double h100 = ask("h100", ORR_OP_KERNEL, op).us;
    CHECK_NEAR(h100 / h200, 4800.0 / 3350, 0.03);
}

static void every_operator_has_a_time_on_every_device(void **state)
{
    (void)state;
    const char *const *names = device_names;
    for (size_t i = 0; names[i] != NULL; i++) {
        for (int kind = 0; kind < ORR_OP_KINDS; kind++) {
            for (int cell = 0; cell < ORR_OP_STACK_COUNT * ORR_OP_DTYPE_COUNT; cell++) {
                const struct orr_op op = {.kind = (enum orr_op_kind)kind,
                                          .dtype = (enum orr_op_dtype)(cell / ORR_OP_STACK_COUNT),
                                          .dims = {64, 512, 16, 8, 3, 1}};
                struct orr_op_prediction p = ask(names[i], (enum orr_op_stack)(cell % ORR_OP_STACK_COUNT), op);
                CHECK(isfinite(p.us) && p.us > 0.1 && p.us < 1e6, "%s kind %d cell %d: %g us", names[i], kind, cell,
                      p.us);
                CHECK(p.launch_us <= p.us, "%s kind %d cell %d: %g us, launched in %g", names[i], kind, cell, p.us,
                      p.launch_us);
                CHECK(p.kernel_us > 0 && p.kernel_us <= p.us, "%s kind %d cell %d: kernel %g of %g", names[i], kind,
                      cell, p.kernel_us, p.us);
            }
        }
    }
}

/* MI300X: the best product that was published takes 51 % of the peak. */
static void a_device_of_another_maker_does_not_take_nvidias_share_of_its_peak(void **state)
{
    (void)state;
    const struct orr_op op = {.kind = ORR_OP_GEMM, .dims = {8192, 8192, 8192}};
    double tflops = 2.0 * 8192 * 8192 * 8192 / ask("mi300x", ORR_OP_SERVING, op).us * 1e-6;
    CHECK(tflops > 0.45 * 1307 && tflops < 0.58 * 1307, "%g TFLOP/s", tflops);
}

/* A chip of one large unit and a GPU of 132 small ones write a tile in the same share of the time they compute it in.
 */
static void large_products_take_alike_shares_of_the_peak_of_few_units_and_of_many(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double peak;
    } devices[] = {{"tpu-v4", 275}, {"tpu-v5e", 197}, {"tpu-v5p", 459}, {"tpu-v6e", 918}, {"tpu7x", 2307}};
    const struct orr_op op = {.kind = ORR_OP_GEMM, .dims = {8192, 8192, 8192}};
    for (size_t i = 0; i < COUNT_OF(devices); i++) {
        double tflops = 2.0 * 8192 * 8192 * 8192 / ask(devices[i].name, ORR_OP_KERNEL, op).us * 1e-6;
        CHECK(tflops > 0.6 * devices[i].peak && tflops < 0.85 * devices[i].peak, "%s: %g TFLOP/s", devices[i].name,
              tflops);
    }
}

/* TPU v6e multiplies 256 x 256 at a time: heads of 128 leave half of that idle, heads of 256 none. */
static void heads_narrower_than_the_array_that_multiplies_take_as_long_as_those_that_fill_it(void **state)
{
    (void)state;
    struct orr_op narrow = {.kind = ORR_OP_ATTENTION, .dims = {4, 8192, 32, 32, 128}}, wide = narrow;
    wide.dims[4] = 256;
    double v6e = ask("tpu-v6e", ORR_OP_KERNEL, wide).us / ask("tpu-v6e", ORR_OP_KERNEL, narrow).us;
    double v5p = ask("tpu-v5p", ORR_OP_KERNEL, wide).us / ask("tpu-v5p", ORR_OP_KERNEL, narrow).us;
    CHECK(v6e < 0.6 * v5p, "heads of 256 take %g times those of 128 on v6e, %g on v5p", v6e, v5p);
}

static void a_backward_pass_takes_longer_than_its_forward_pass(void **state)
{
    (void)state;
    static const struct {
        enum orr_op_kind forward, backward;
        uint64_t dims[ORR_OP_DIMS];
    } pairs[] = {
        {ORR_OP_ATTENTION, ORR_OP_ATTENTION_BACKWARD, {4, 4096, 32, 8, 128}},
        {ORR_OP_LAYERNORM, ORR_OP_LAYERNORM_BACKWARD, {16384, 8192}},
        {ORR_OP_GELU, ORR_OP_GELU_BACKWARD, {16384, 8192}},
        {ORR_OP_CONV2D, ORR_OP_CONV2D_BACKWARD, {64, 256, 256, 28, 3, 1}},
    };
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        struct orr_op op = {.kind = pairs[i].forward};
        memcpy(op.dims, pairs[i].dims, sizeof op.dims);
        double forward = ask("h100", ORR_OP_KERNEL, op).us;
        op.kind = pairs[i].backward;
        double backward = ask("h100", ORR_OP_KERNEL, op).us;
        CHECK(backward > 1.2 * forward && backward < 6 * forward, "pair %zu: %g and %g us", i, forward, backward);
    }
}

static void a_call_never_takes_less_than_its_launch(void **state)
{
    (void)state;
    struct orr_op_prediction p = ask("h200", ORR_OP_TORCH, (struct orr_op){.kind = ORR_OP_ADD, .dims = {128, 128}});
    CHECK(p.bound == ORR_OP_BOUND_LAUNCH, "a tiny addition is bound by its launch");
    CHECK(p.us >= p.launch_us, "%g us, launched in %g", p.us, p.launch_us);
    CHECK(p.kernel_us < p.us, "the kernel takes less than the call");
    p = ask("h100", ORR_OP_SERVING,
            (struct orr_op){.kind = ORR_OP_GEMM, .dtype = ORR_OP_FP8_BLOCK, .dims = {1, 4096, 128}});
    CHECK(p.launch_us <= p.us, "%g us, launched in %g", p.us, p.launch_us);
}

static void a_device_without_measurements_is_trusted_as_little_as_those_left_out(void **state)
{
    (void)state;
    const struct orr_op op = {.kind = ORR_OP_GEMM, .dims = {4096, 14336, 4096}};
    CHECK(ask("h100", ORR_OP_SERVING, op).spread < 0.1, "h100 was measured");
    CHECK(ask("gb300", ORR_OP_SERVING, op).spread > 0.16, "gb300 is answered by a relative");
    CHECK(ask("mi300x", ORR_OP_SERVING, op).spread > 0.35, "mi300x by its data sheet");
}

static void what_does_not_exist_has_no_time_and_an_empty_operator_takes_none(void **state)
{
    (void)state;
    struct orr_op op = {.kind = ORR_OP_GEMM, .dims = {1024, 1024, 1024}};
    struct orr_op_prediction p;
    orr_op_predict(data, 9999, ORR_OP_SERVING, &op, &p);
    CHECK(isnan(p.us) && p.device == NULL, "no such device");
    op.kind = (enum orr_op_kind)1000;
    orr_op_predict(data, 0, ORR_OP_SERVING, &op, &p);
    CHECK(isnan(p.us), "no such operator");
    for (int i = 0; i < 3; i++) {
        op = (struct orr_op){.kind = ORR_OP_GEMM, .dims = {1024, 1024, 1024}};
        op.dims[i] = 0;
        p = ask("h100", ORR_OP_SERVING, op);
        CHECK(p.us <= 0 && p.us >= 0 && p.kernel_us <= 0, "dimension %d is 0: %g us", i, p.us);
    }
}

static void an_optimizer_takes_longer_for_more_elements(void **state)
{
    (void)state;
    static const enum orr_op_kind kinds[] = {ORR_OP_ADAMW, ORR_OP_SGD};
    static const enum orr_op_dtype dtypes[] = {ORR_OP_BF16, ORR_OP_FP32};
    for (int i = 0; i < 4; i++) {
        double before = 0;
        for (uint64_t elements = 65536; elements < (uint64_t)1 << 32; elements *= 2) {
            const struct orr_op op = {.kind = kinds[i / 2], .dtype = dtypes[i % 2], .dims = {elements}};
            double us = ask("h200", ORR_OP_KERNEL, op).us;
            CHECK(us > 0.998 * before, "case %d: %" PRIu64 " elements take %g us, half of them %g", i, elements, us,
                  before);
            before = us;
        }
    }
    /* Measured as one tensor. As many elements in 64 and in 256 tensors took 143.8 and 170.6 us. */
    const struct orr_op op = {.kind = ORR_OP_ADAMW, .dims = {4194304}};
    CHECK_NEAR(ask("h200", ORR_OP_KERNEL, op).us, 76.4, 0.03);
}

static void unknown_names_are_refused_with_the_nearest(void **state)
{
    (void)state;
    struct orr_error err = {0};
    uint32_t found = 7;
    enum orr_op_kind kind = ORR_OP_ADD;
    enum orr_op_dtype dtype = ORR_OP_BF16;
    CHECK_STATUS(orr_op_device_find("h1000", &found, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "did you mean \"h100\"?");
    CHECK(found == 7, "nothing is written");
    CHECK_STATUS(orr_op_kind_find("gem", &kind, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "did you mean \"gemm\"?");
    CHECK_STATUS(orr_op_dtype_find("bf15", &dtype, &err), ORR_EINVAL);
    CHECK_STATUS(orr_op_kind_find("attn_bwd", &kind, &err), ORR_OK);
    CHECK(kind == ORR_OP_ATTENTION_BACKWARD, "older names are known");
}

static void shapes_are_read_as_they_are_written(void **state)
{
    (void)state;
    struct orr_error err = {0};
    struct orr_op op = {.kind = ORR_OP_ATTENTION};
    char text[100];
    CHECK_STATUS(orr_op_shape("2x16x4096x128", &op, &err), ORR_OK);
    (void)orr_op_shape_text(&op, text, sizeof text);
    CHECK_TEXT(text, "2x4096x16x16x128");
    op.kind = ORR_OP_CONV2D;
    CHECK_STATUS(orr_op_shape("B32 C256 K64 H14 W14 R3 stride1", &op, &err), ORR_OK);
    (void)orr_op_shape_text(&op, text, sizeof text);
    CHECK_TEXT(text, "32x256x64x14x3x1");
    static const char *const wrong[] = {"",     "x",     "1x2",    "1x2x3x4",
                                        "1xx3", "0x1x2", "-1x2x3", "1x2x99999999999999999999"};
    op.kind = ORR_OP_GEMM;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        CHECK_STATUS(orr_op_shape(wrong[i], &op, &err), ORR_EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_measured_shape_takes_what_was_measured),
        cmocka_unit_test(a_shape_between_measured_ones_takes_a_time_between_theirs),
        cmocka_unit_test(a_device_without_measurements_says_whose_it_takes),
        cmocka_unit_test(a_slower_memory_makes_what_is_bound_by_it_slower_by_as_much),
        cmocka_unit_test(every_operator_has_a_time_on_every_device),
        cmocka_unit_test(a_device_of_another_maker_does_not_take_nvidias_share_of_its_peak),
        cmocka_unit_test(large_products_take_alike_shares_of_the_peak_of_few_units_and_of_many),
        cmocka_unit_test(heads_narrower_than_the_array_that_multiplies_take_as_long_as_those_that_fill_it),
        cmocka_unit_test(a_backward_pass_takes_longer_than_its_forward_pass),
        cmocka_unit_test(a_call_never_takes_less_than_its_launch),
        cmocka_unit_test(a_device_without_measurements_is_trusted_as_little_as_those_left_out),
        cmocka_unit_test(what_does_not_exist_has_no_time_and_an_empty_operator_takes_none),
        cmocka_unit_test(an_optimizer_takes_longer_for_more_elements),
        cmocka_unit_test(unknown_names_are_refused_with_the_nearest),
        cmocka_unit_test(shapes_are_read_as_they_are_written),
    };
    return cmocka_run_group_tests(tests, open_data, close_data);
}
