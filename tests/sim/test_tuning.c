/* SPDX-License-Identifier: Apache-2.0 */
/* What a calibration changes in a run (struct orr_tuning): where compute times come from, their factor, and what comes
 * before a communication. */
#include "tests/sim/bench_top.h"

static void forced_times_hold_for_every_gpu_node(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:2");
    for (uint64_t id = 1; id <= 64; id++) {
        work_compute(&bench.work, EVERY_RANK, id, id % 3);
    }
    work_compute(&bench.work, EVERY_RANK, 65, 7)->cpu = true;
    work_after(&bench.work, 64);
    bench.config.tuning = (struct orr_tuning){.source = ORR_COMPUTE_FORCED, .forced_ns = 609000};
    CHECK_U64(bench_completes(&bench), 64 * UINT64_C(609000) + 7000, "64 forced, and the CPU's own");
    CHECK_U64(sim_result_rank(bench.result, 0)->gpu_busy_ns, 64 * UINT64_C(609000), "GPU time");
    bench_close(&bench);
}

static void cycles_are_times_at_the_clock(void **state)
{
    (void)state;
    /* spec rocm §6.3: 609000 ns at 2.935 GHz are 1,787,415 cycles. */
    static const char *const names[] = {"compute_cycles", "exec_cycles", "cycles"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct bench bench;
        bench_open(&bench, "ring:2");
        struct work_node *node = work_compute(&bench.work, EVERY_RANK, 1, 0);
        node->cycles_name = names[i];
        node->cycles = 1787415;
        CHECK_U64(bench_completes(&bench), 1, "ASTRA-sim's reading of %s: one tick", names[i]);
        CHECK_U64(bench.notes.count, 1, "which is warned about");
        bench.config.tuning = (struct orr_tuning){.source = ORR_COMPUTE_CYCLES, .gpu_mhz = 2935};
        CHECK_U64(bench_completes(&bench), 609000, "%s at 2935 MHz", names[i]);
        bench.config.tuning.gpu_mhz = 1467.5;
        CHECK_U64(bench_completes(&bench), 1218000, "%s at half of it", names[i]);
        bench_close(&bench);
    }
}

static void a_node_without_cycles_takes_its_duration_and_all_without_are_refused(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:2");
    struct work_node *node = work_compute(&bench.work, EVERY_RANK, 1, 0);
    node->cycles_name = "cycles";
    node->cycles = 2400;
    work_compute(&bench.work, EVERY_RANK, 2, 5);
    bench.config.tuning = (struct orr_tuning){.source = ORR_COMPUTE_CYCLES, .gpu_mhz = 2400};
    CHECK_U64(bench_completes(&bench), 6000, "1 us of cycles and 5 us of duration");
    CHECK_U64(bench.notes.count, 1, "one warning");
    bench_close(&bench);

    bench_open(&bench, "ring:2");
    work_compute(&bench.work, EVERY_RANK, 1, 5);
    bench.config.tuning = (struct orr_tuning){.source = ORR_COMPUTE_CYCLES, .gpu_mhz = 2400};
    CHECK_STATUS(bench_create(&bench), ORR_EINVAL);
    bench_close(&bench);
}

static void the_roofline_can_be_asked_for_and_turned_off(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:2");
    struct work_node *node = work_compute(&bench.work, EVERY_RANK, 1, 3);
    node->ops = 2000000;
    node->bytes = 1000;
    bench.config.system.peak_perf_tflops = 1;
    bench.config.system.roofline_enabled = true;
    CHECK_U64(bench_completes(&bench), 2000, "2e6 operations at 1e12 a second");
    bench.config.tuning.source = ORR_COMPUTE_DURATION;
    CHECK_U64(bench_completes(&bench), 3000, "the recorded time");
    bench.config.system.roofline_enabled = false;
    bench.config.tuning.source = ORR_COMPUTE_ROOFLINE;
    CHECK_U64(bench_completes(&bench), 2000, "the roofline, though the system file does not enable it");
    bench.config.tuning.compute_scale = 1.5;
    CHECK_U64(bench_completes(&bench), 3000, "and its factor");
    bench.config.system.peak_perf_tflops = 0;
    CHECK_STATUS(bench_create(&bench), ORR_EINVAL);
    bench_close(&bench);
}

static void the_factor_scales_gpu_compute_alone(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:2");
    work_compute(&bench.work, EVERY_RANK, 1, 10);
    work_compute(&bench.work, EVERY_RANK, 2, 10)->cpu = true;
    work_after(&bench.work, 1);
    work_collective(&bench.work, EVERY_RANK, 3, COLL_ALL_REDUCE, 1 << 20);
    work_after(&bench.work, 2);
    uint64_t before = bench_completes(&bench);
    bench.config.tuning.compute_scale = 0.25;
    CHECK_U64(bench_completes(&bench), before - 7500, "a quarter of 10 us");
    bench_close(&bench);
}

/* Each of the collectives waits, one after the other; what is computed meanwhile goes on. */
static void a_launch_comes_before_every_communication(void **state)
{
    (void)state;
    static const enum orr_backend backends[] = {ORR_BACKEND_UNAWARE, ORR_BACKEND_AWARE};
    for (size_t b = 0; b < COUNT_OF(backends); b++) {
        struct bench bench;
        bench_open(&bench, "ring:4");
        bench.config.backend = backends[b];
        for (uint64_t id = 1; id <= 37; id++) {
            work_collective(&bench.work, EVERY_RANK, id, COLL_ALL_REDUCE, 1 << 20);
        }
        work_compute(&bench.work, EVERY_RANK, 38, 1);
        uint64_t before = bench_completes(&bench);
        bench.config.tuning.launch_ns = 20000;
        CHECK_U64(bench_completes(&bench), before + UINT64_C(37) * 20000, "37 launches");
        CHECK_U64(sim_result_rank(bench.result, 1)->exposed_comm_ns, before + UINT64_C(37) * 20000 - 1000,
                  "a launch is time of communication");
        bench_close(&bench);
    }
    struct bench bench;
    bench_open(&bench, "ring:2");
    work_send(&bench.work, 0, 1, 1, 32768, 0);
    work_recv(&bench.work, 1, 1, 0, 32768, 0);
    bench.config.tuning.launch_ns = 5000;
    CHECK_U64(bench_completes(&bench), 5000 + 1110, "a message");
    bench_close(&bench);
}

/* Ranks 2 and 3 have the second kind of device, the others that of the system file. */
static void give_devices(struct bench *bench, const struct sim_device *second)
{
    static struct sim_device kinds[2];
    static const uint16_t of_rank[] = {0, 0, 1, 1};
    kinds[0] = (struct sim_device){.scale = 1};
    kinds[1] = *second;
    bench->config.devices = (struct sim_devices){.kinds = kinds, .kind_count = 2, .of_rank = of_rank};
}

static void ranks_compute_at_the_rates_of_their_devices(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:4");
    struct work_node *node = work_compute(&bench.work, EVERY_RANK, 1, 3);
    node->ops = 2000000;
    node->bytes = 1000;
    bench.config.system.peak_perf_tflops = 1;
    bench.config.system.roofline_enabled = true;
    give_devices(&bench, &(struct sim_device){.peak_flops = 4e12, .memory_rate = 50e9, .scale = 1, .name = "quick"});
    CHECK_U64(bench_completes(&bench), 2000, "those of the system file are waited for");
    CHECK_U64(sim_result_rank(bench.result, 1)->gpu_busy_ns, 2000, "2e6 operations at 1e12 a second");
    CHECK_U64(sim_result_rank(bench.result, 2)->gpu_busy_ns, 500, "and at 4e12");
    CHECK_U64(bench.result->optimum.compute_ns, 2000, "the slowest rank bounds the step");
    give_devices(&bench, &(struct sim_device){.peak_flops = 4e12, .memory_rate = 50e9, .scale = 6, .name = "not so"});
    CHECK_U64(bench_completes(&bench), 3000, "rates and factor");
    CHECK_U64(bench.result->optimum.compute_ns, 3000, "on whichever device it is");
    bench_close(&bench);
}

static void the_factor_of_a_device_holds_for_its_ranks_and_any_source(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:4");
    work_compute(&bench.work, EVERY_RANK, 1, 10);
    give_devices(&bench, &(struct sim_device){.scale = 1.5, .name = "x1.5"});
    CHECK_U64(bench_completes(&bench), 15000, "recorded");
    CHECK_U64(sim_result_rank(bench.result, 0)->gpu_busy_ns, 10000, "another rank");
    bench.config.tuning.compute_scale = 2;
    CHECK_U64(bench_completes(&bench), 30000, "on top of the run's own factor");
    CHECK_U64(sim_result_rank(bench.result, 0)->gpu_busy_ns, 20000, "which holds for all");
    bench.config.tuning = (struct orr_tuning){.source = ORR_COMPUTE_FORCED, .forced_ns = 7000};
    CHECK_U64(bench_completes(&bench), 10500, "forced");
    bench_close(&bench);
}

static void a_device_that_would_change_nothing_is_refused(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "ring:4");
    work_compute(&bench.work, EVERY_RANK, 1, 10);
    give_devices(&bench, &(struct sim_device){.peak_flops = 4e12, .memory_rate = 1e9, .scale = 1, .name = "quick"});
    CHECK_STATUS(bench_create(&bench), ORR_EINVAL);
    CHECK_CONTAINS(bench.err.text, "the rates of \"quick\" are for the roofline");
    give_devices(&bench, &(struct sim_device){.scale = 2, .name = "x2"});
    bench.config.system.replay_only = true;
    CHECK_STATUS(bench_create(&bench), ORR_EINVAL);
    CHECK_CONTAINS(bench.err.text, "replay-only");
    bench_close(&bench);
}

TEST_MAIN(forced_times_hold_for_every_gpu_node, cycles_are_times_at_the_clock,
          a_node_without_cycles_takes_its_duration_and_all_without_are_refused,
          the_roofline_can_be_asked_for_and_turned_off, the_factor_scales_gpu_compute_alone,
          a_launch_comes_before_every_communication, ranks_compute_at_the_rates_of_their_devices,
          the_factor_of_a_device_holds_for_its_ranks_and_any_source, a_device_that_would_change_nothing_is_refused)
