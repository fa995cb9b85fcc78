/* SPDX-License-Identifier: Apache-2.0 */
/* What the doctor says of a set-up: the clock to simulate with, what is missing and what it is good for. */
#include "report/doctor_text.h"

#include "tests/report/printed.h"

static const struct doctor_library libraries[] = {{"SQLite", "3.40.1"}, {"zlib", "1.2.13"}};
static const struct doctor_part parts[] = {{"gzip", "reads packed traces", "/usr/bin/gzip"},
                                           {"rocm-smi", "reads the clocks of GPUs", NULL}};
static const struct doctor_check checks[] = {{"ring", "all-reduce", "2 3 8", 3, 42, NULL},
                                             {"tree", "broadcast", "2", 1, 7, "rank 1 has 3 and not 4"}};

static struct doctor_gpu gpu_at(uint32_t now, uint32_t max)
{
    struct doctor_gpu gpu = {.source = "card0", .name = "A \"GPU\"", .index = 0, .memory_bytes = 16ull << 30};
    for (int i = 0; i < DOCTOR_CLOCK_KINDS; i++) {
        gpu.clocks[i] = (struct doctor_clock){DOCTOR_UNKNOWN, DOCTOR_UNKNOWN, DOCTOR_UNKNOWN};
    }
    gpu.clocks[DOCTOR_SCLK] = (struct doctor_clock){now, 500, max};
    return gpu;
}

static struct doctor_report report_of(const struct doctor_gpu *gpu)
{
    return (struct doctor_report){.version = "0.1.0",
                                  .libraries = libraries,
                                  .library_count = COUNT_OF(libraries),
                                  .system = "Linux 6.1",
                                  .architecture = "aarch64",
                                  .processor = "",
                                  .processors = 8,
                                  .usable = 2,
                                  .memory_bytes = 32ull << 30,
                                  .available_bytes = 16ull << 30,
                                  .limit_bytes = 4ull << 30,
                                  .rocm = "",
                                  .amdgpu = "",
                                  .nvidia = "",
                                  .parts = parts,
                                  .part_count = COUNT_OF(parts),
                                  .gpus = gpu,
                                  .gpu_count = 1,
                                  .checks = checks,
                                  .check_count = COUNT_OF(checks)};
}

static void an_idle_gpu_is_simulated_with_its_highest_clock_and_a_working_one_with_its_own(void **state)
{
    (void)state;
    static const struct {
        uint32_t now, max, use;
    } cases[] = {{1700, 2100, 1700},
                 {132, 2100, 2100},
                 {500, 2100, 2100},
                 {501, 2100, 501},
                 {DOCTOR_UNKNOWN, 2100, 2100},
                 {1700, DOCTOR_UNKNOWN, 1700},
                 {132, DOCTOR_UNKNOWN, DOCTOR_UNKNOWN}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct doctor_gpu gpu = gpu_at(cases[i].now, cases[i].max);
        CHECK_U64(doctor_clock_to_use(&gpu), cases[i].use, "%" PRIu32 " of %" PRIu32, cases[i].now, cases[i].max);
    }
}

static void what_is_missing_says_what_it_is_good_for(void **state)
{
    (void)state;
    struct doctor_gpu gpu = gpu_at(1700, 2100);
    struct doctor_report report = report_of(&gpu);
    doctor_text_put(&report, printed_begin());
    const char *text = printed_end();
    CHECK_CONTAINS(text, "rocm-smi");
    CHECK_CONTAINS(text, "reads the clocks of GPUs");
    CHECK_CONTAINS(text, "1700");
}

static void a_collective_that_came_out_wrong_is_told_and_a_right_one_is_not_called_wrong(void **state)
{
    (void)state;
    struct doctor_gpu gpu = gpu_at(1700, 2100);
    struct doctor_report report = report_of(&gpu);
    doctor_text_put(&report, printed_begin());
    CHECK_CONTAINS(printed_end(), "rank 1 has 3 and not 4");
    report.check_count = 1;
    doctor_text_put(&report, printed_begin());
    CHECK(strstr(printed_end(), "rank 1 has 3") == NULL, "the right one only");
}

static void the_document_has_null_for_an_unknown_clock(void **state)
{
    (void)state;
    struct doctor_gpu gpu = gpu_at(DOCTOR_UNKNOWN, 2100);
    struct doctor_report report = report_of(&gpu);
    doctor_json_put(&report, printed_begin());
    json_t *document = printed_json();
    CHECK(strstr(printed.text, "4294967295") == NULL, "no clock of 4294967295 MHz");
    CHECK_CONTAINS(printed.text, "A \\\"GPU\\\"");
    json_decref(document);
}

TEST_MAIN(an_idle_gpu_is_simulated_with_its_highest_clock_and_a_working_one_with_its_own,
          what_is_missing_says_what_it_is_good_for,
          a_collective_that_came_out_wrong_is_told_and_a_right_one_is_not_called_wrong,
          the_document_has_null_for_an_unknown_clock)
