/* SPDX-License-Identifier: Apache-2.0 */
/* The doctor: collectives whose numbers add up and whose mistakes are seen; clocks in what the vendors' tools print, in
 * every form they have; GPUs of a sysfs that is a copy. */
#include "tests/check.h"
#include "tests/folder.h"

#include <stdlib.h>

#include "api/doctor/collectives.h"
#include "api/doctor/flows.h"
#include "api/doctor/machine.h"
#include "api/doctor/steps.h"
#include "io/outfile.h"

static struct mem mem;
static struct arena arena;
static struct orr_error err;

static void begin(void)
{
    mem = (struct mem){0};
    arena_init(&arena, &mem);
}

static void end(void)
{
    arena_free(&arena);
    CHECK_U64(mem.used, 0, "all memory given back");
}

/* ---- collectives ---- */

static void every_collective_of_every_algorithm_comes_out_right(void **state)
{
    (void)state;
    const struct doctor_check *checks = NULL;
    uint32_t count = 0;
    begin();
    CHECK_OK(doctor_collectives_run(0, &arena, &checks, &count, &err), &err);
    CHECK(count > 20, "%u rows", count);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(checks[i].wrong == NULL, "%s %s: %s", checks[i].algorithm, checks[i].collective, checks[i].wrong);
        CHECK(checks[i].acts > 0 && checks[i].messages > 0, "%s %s was acted out", checks[i].algorithm,
              checks[i].collective);
    }
    end();
}

static void a_row_with_a_falsified_message_is_wrong(void **state)
{
    (void)state;
    const struct doctor_check *checks = NULL;
    uint32_t count = 0;
    begin();
    CHECK_OK(doctor_collectives_run(2, &arena, &checks, &count, &err), &err);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(checks[i].wrong != NULL, "%s %s", checks[i].algorithm, checks[i].collective);
    }
    end();
}

static const struct doctor_act acts[] = {
    {.algo = COLL_RING, .type = COLL_ALL_REDUCE, .dims = {5}, .dim_count = 1},
    {.algo = COLL_RING, .type = COLL_REDUCE_SCATTER, .dims = {6}, .dim_count = 1, .backwards = true},
    {.algo = COLL_RING, .type = COLL_ALL_GATHER, .dims = {7}, .dim_count = 1},
    {.algo = COLL_RING, .type = COLL_ALL_TO_ALL, .dims = {6}, .dim_count = 1},
    {.algo = COLL_RING, .type = COLL_ALL_REDUCE, .dims = {3, 2, 2}, .dim_count = 3},
    {.algo = COLL_RING, .type = COLL_ALL_REDUCE, .dims = {2, 4}, .dim_count = 2, .dim_by_dim = true},
    {.algo = COLL_DIRECT, .type = COLL_ALL_REDUCE, .dims = {6}, .dim_count = 1},
    {.algo = COLL_DIRECT, .type = COLL_ALL_TO_ALL, .dims = {5}, .dim_count = 1},
    {.algo = COLL_HALVING_DOUBLING, .type = COLL_ALL_REDUCE, .dims = {8}, .dim_count = 1},
    {.algo = COLL_HALVING_DOUBLING, .type = COLL_ALL_REDUCE, .dims = {11}, .dim_count = 1},
    {.algo = COLL_HALVING_DOUBLING, .type = COLL_REDUCE_SCATTER, .dims = {6}, .dim_count = 1},
    {.algo = COLL_DOUBLE_BINARY_TREE, .type = COLL_ALL_REDUCE, .dims = {9}, .dim_count = 1},
    {.type = COLL_BROADCAST, .dims = {7}, .dim_count = 1, .root = 3},
    {.type = COLL_REDUCE, .dims = {6}, .dim_count = 1, .root = 5},
    {.type = COLL_GATHER, .dims = {9}, .dim_count = 1, .root = 1},
    {.type = COLL_SCATTER, .dims = {9}, .dim_count = 1, .root = 8},
};

static void whichever_message_is_falsified_the_result_is_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(acts); i++) {
        uint64_t messages = 0;
        begin();
        CHECK_OK(doctor_act_run(&acts[i], 0, &arena, &messages, &err), &err);
        uint64_t most = messages;
        for (uint64_t spoiled = 1; spoiled <= most; spoiled++) {
            enum orr_status status = doctor_act_run(&acts[i], spoiled, &arena, &messages, &err);
            CHECK(status == ORR_EFAIL, "act %zu, message %" PRIu64 " of %" PRIu64, i, spoiled, most);
        }
        end();
    }
}

static void whichever_flow_is_falsified_the_result_is_wrong(void **state)
{
    (void)state;
    static const struct doctor_flow_act flow_acts[] = {
        {.algo = NCCL_RING, .type = COLL_ALL_REDUCE, .gpus = 4, .gpus_per_server = 2},
        {.algo = NCCL_RING, .type = COLL_REDUCE_SCATTER, .gpus = 4, .gpus_per_server = 4},
        {.algo = NCCL_RING, .type = COLL_ALL_GATHER, .gpus = 6, .gpus_per_server = 3},
        {.algo = NCCL_RING, .type = COLL_BROADCAST, .gpus = 4, .gpus_per_server = 2, .root = 3},
        {.algo = NCCL_RING, .type = COLL_REDUCE, .gpus = 4, .gpus_per_server = 4, .root = 1},
        {.algo = NCCL_TREE, .type = COLL_ALL_REDUCE, .gpus = 4, .gpus_per_server = 2},
        {.algo = NCCL_NVLS, .type = COLL_ALL_REDUCE, .gpus = 4, .gpus_per_server = 4},
        {.algo = NCCL_COLLNET,
         .type = COLL_ALL_REDUCE,
         .gpus = 8,
         .gpus_per_server = 4,
         .members = 0xd7,
         .heads_on_switch = 1},
        {.algo = NCCL_COLLNET, .type = COLL_ALL_REDUCE, .gpus = 6, .gpus_per_server = 2, .is_meshed = true},
    };
    for (size_t i = 0; i < COUNT_OF(flow_acts); i++) {
        uint64_t messages = 0;
        begin();
        CHECK_OK(doctor_flow_act_run(&flow_acts[i], 0, &arena, &messages, &err), &err);
        uint64_t most = messages;
        CHECK(most > 0, "act %zu has messages", i);
        for (uint64_t spoiled = 1; spoiled <= most; spoiled++) {
            enum orr_status status = doctor_flow_act_run(&flow_acts[i], spoiled, &arena, &messages, &err);
            CHECK(status == ORR_EFAIL, "act %zu, message %" PRIu64 " of %" PRIu64, i, spoiled, most);
        }
        end();
    }
}

/* What the moves of api/doctor/stage.h are held to, one wrong list each. */
static void a_list_of_moves_that_does_not_fit_is_told(void **state)
{
    (void)state;
    static const struct {
        uint64_t sent, received;
        bool receives;
        const char *says;
    } lists[] = {
        {24, 24, false, "is never received"},
        {24, 48, true, "expects 48 bytes from member 0 and gets 24"},
        {23, 23, true, "in a message of 23 bytes"},
        {0, 24, true, "waits for ever for a message from member 0"},
    };
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        struct doctor_stage stage;
        begin();
        CHECK_OK(doctor_stage_begin(&stage, 2, 1, &arena, &err), &err);
        if (lists[i].sent > 0) {
            doctor_stage_send(&stage, 0, 1, 1, lists[i].sent);
        }
        if (lists[i].receives) {
            doctor_stage_receive(&stage, 1, 0, DOCTOR_ADDS, lists[i].received);
        }
        CHECK_STATUS(doctor_stage_run(&stage, &err), ORR_EFAIL);
        CHECK_CONTAINS(err.text, lists[i].says);
        end();
    }
}

/* ---- clocks ---- */

enum { NO = DOCTOR_UNKNOWN };

static const char amd_text[] = "AMDSMI Tool: 24.6.2+2b02a07 | AMDSMI Library version: 24.6.2.0 | ROCm version: 6.2.2\n"
                               "GPU: 0\n"
                               "    ASIC:\n"
                               "        MARKET_NAME: A card\n"
                               "    CLOCK:\n"
                               "        GFX_0:\n"
                               "            CLK: 1700 MHz\n"
                               "            MIN_CLK: 500 MHz\n"
                               "            MAX_CLK: 2935 MHz\n"
                               "            CLK_LOCKED: DISABLED\n"
                               "        GFX_1:\n"
                               "            CLK: 99 MHz\n"
                               "        MEM_0:\n"
                               "            CLK: 96 MHz\n"
                               "        VCLK_0:\n"
                               "            CLK: 25 MHz\n";

static const struct {
    const char *what, *text, *tool;
    uint32_t gpus;
    uint32_t sclk, min, max, mclk; /* of GPU 0 */
} outputs[] = {
    {"amd-smi metric", amd_text, "amd-smi", 1, 1700, 500, 2935, 96},
    {"a GPU that sleeps has its lowest clock", "GPU: 0\nGFX_0:\nCLK: 0 MHz\nMIN_CLK: 500 MHz\n", "amd-smi", 1, 500, 500,
     NO, NO},
    {"one that sleeps and does not say its lowest has 0", "GPU: 0\nGFX_0:\nCLK: 0 MHz\n", "amd-smi", 1, 0, NO, NO, NO},
    {"a clock that is not there is not known", "GPU: 0\nGFX_0:\nCLK: N/A\nMEM_0:\nCLK: 900 MHz\n", "amd-smi", 1, NO, NO,
     NO, 900},
    {"sections without a number", "GPU: 0\nCLOCK:\nGFX:\nCLK: 1700 MHz\nMEM:\nCLK: 900 MHz\n", "amd-smi", 1, 1700, NO,
     NO, 900},
    {"a section ends after ten lines", "GPU: 0\nGFX_0:\na\nb\nc\nd\ne\nf\ng\nh\ni\nj\nCLK: 1 MHz\n", "amd-smi", 1, NO,
     NO, NO, NO},
    {"amd-smi monitor",
     "GPU  POWER  GPU_TEMP  GFX_UTIL  GFX_CLOCK  MEM_UTIL  MEM_CLOCK\n"
     "  0  126 W     40 C       1 %    182 MHz       0 %    900 MHz\n",
     "amd-smi", 1, 182, NO, NO, 900},
    {"a row of the table that has a clock missing says none",
     "GPU  GFX_CLK  MEM_CLOCK\n  0  N/A  900 MHz\n  1  182 MHz  900 MHz\n", "amd-smi", 2, NO, NO, NO, NO},
    {"rocm-smi --showclocks",
     "==== Current clock frequencies ====\nGPU[0]\t\t: mclk clock level: 3: (1600Mhz)\n"
     "GPU[0]\t\t: sclk clock level: 1: (800Mhz)\nGPU[1]\t\t: sclk clock level: 1 (930Mhz)\n",
     "rocm-smi", 2, 800, NO, NO, 1600},
    {"rocm-smi",
     "Device  Node  Temp    Power  SCLK    MCLK   Fan\n====\n0       1     45.0C  15.0W  132Mhz  96Mhz  0%\n",
     "rocm-smi", 1, 132, NO, NO, 96},
    {"rocm-smi --json, behind a warning",
     "WARNING: low power\n{\"card0\": {\"sclk clock speed:\": \"(2270Mhz)\", \"sclk clock level:\": \"1\", \"mclk "
     "clock "
     "speed:\": \"96MHz\"}}",
     "rocm-smi", 1, 2270, NO, NO, 96},
    {"rocm-smi with numbers and maps",
     "{\"card0\": {\"sclk\": {\"current\": 2400, \"max\": 2900}, \"mclk clock speed:\": 1250.5}}", "rocm-smi", 1, 2400,
     NO, NO, 1250},
    {"amd-smi metric --json",
     "[{\"gpu\": 0, \"clock\": {\"gfx_0\": {\"clk\": {\"value\": 132, \"unit\": \"MHz\"}, \"min_clk\": {\"value\": "
     "500}, "
     "\"max_clk\": {\"value\": 2100}}, \"gfx_1\": {\"clk\": \"N/A\"}, \"mem_0\": {\"clk\": \"900 MHz\"}}}]",
     "amd-smi", 1, 132, 500, 2100, 900},
    {"the same of later versions", "{\"gpu_data\": [{\"gpu\": 0, \"clock\": {\"GFX_0\": {\"clk\": {\"value\": 7}}}}]}",
     "amd-smi", 1, 7, NO, NO, NO},
    {"nvidia-smi -q",
     "GPU 00000000:07:00.0\n    Product Name : A card\n    Clocks\n        Graphics : 1980 MHz\n        Memory : 2619 "
     "MHz\n"
     "    Applications Clocks\n        Graphics : 1 MHz\n    Max Clocks\n        Graphics : 1990 MHz\n",
     "nvidia-smi", 1, 1980, NO, 1990, 2619},
    {"amd-smi behind nvidia-smi",
     "GPU 00000000:07:00.0\n    Clocks\n        Graphics : 1980 MHz\nGPU: 7\nGFX_0:\nCLK: 5 MHz\n", "amd-smi", 2, 1980,
     NO, NO, NO},
    {"nvidia-smi behind amd-smi",
     "GPU: 1\nGFX_0:\nCLK: 5 MHz\nGPU 00000000:07:00.0\n    Clocks\n        Graphics : 1980 MHz\n", "nvidia-smi", 2, 5,
     NO, NO, NO},
    {"amd-smi monitor --json",
     "[{\"gpu\": 0, \"gfx_clk\": {\"value\": 1400, \"unit\": \"MHz\"}, \"mem_clock\": \"900 MHz\", \"enc_clock\": 3}]",
     "amd-smi", 1, 1400, NO, NO, 900},
    {"the number of a level is no clock",
     "{\"card0\": {\"sclk clock level\": \"1\", \"mclk clock level\": \"3: (1600Mhz)\"}}", "rocm-smi", 1, NO, NO, NO,
     1600},
};

static void clocks_are_read_from_every_form_of_output(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(outputs); i++) {
        struct doctor_smi smi;
        begin();
        CHECK_OK(doctor_smi_parse("file", outputs[i].text, strlen(outputs[i].text), &arena, &smi, &err), &err);
        CHECK_U64(smi.count, outputs[i].gpus, "%s", outputs[i].what);
        const struct doctor_clock *clocks = smi.gpus[0].clocks;
        CHECK_U64(clocks[DOCTOR_SCLK].now, outputs[i].sclk, "%s", outputs[i].what);
        CHECK_U64(clocks[DOCTOR_SCLK].min, outputs[i].min, "%s", outputs[i].what);
        CHECK_U64(clocks[DOCTOR_SCLK].max, outputs[i].max, "%s", outputs[i].what);
        CHECK_U64(clocks[DOCTOR_MCLK].now, outputs[i].mclk, "%s", outputs[i].what);
        CHECK_TEXT(smi.tool.name, outputs[i].tool);
        end();
    }
}

static void versions_and_names_are_read(void **state)
{
    (void)state;
    struct doctor_smi smi;
    begin();
    CHECK_OK(doctor_smi_parse("file", amd_text, strlen(amd_text), &arena, &smi, &err), &err);
    CHECK_TEXT(smi.tool.version, "24.6.2+2b02a07");
    CHECK_TEXT(smi.tool.library, "24.6.2.0");
    CHECK_TEXT(smi.tool.rocm, "6.2.2");
    CHECK_TEXT(smi.gpus[0].name, "A card");
    static const char version[] = "[{\"tool\": \"AMDSMI Tool\", \"version\": \"25.1\", \"amdsmi_library_version\": "
                                  "\"25.1.0\", \"rocm_version\": \"6.3.3\"}]";
    CHECK_OK(doctor_smi_parse("file", version, strlen(version), &arena, &smi, &err), &err);
    CHECK_TEXT(smi.tool.rocm, "6.3.3");
    CHECK_U64(smi.count, 0, "a version names no GPU");
    static const char nvidia[] = "Driver Version                                         : 550.54.14\n";
    CHECK_OK(doctor_smi_parse("file", nvidia, strlen(nvidia), &arena, &smi, &err), &err);
    CHECK_TEXT(smi.tool.driver, "550.54.14");
    end();
}

static void what_is_no_output_of_these_tools_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } texts[] = {
        {"", "file: no clocks and no versions in it"},
        {"root:x:0:0\n", "file: no clocks and no versions in it"},
        {"{\"a\": 1}", "file:1: neither amd-smi's list of GPUs nor rocm-smi's \"card0\""},
        {"\n\n[1, 2]", "file:3: neither amd-smi's list"},
        {"[{\"gpu\": -1}]", "neither amd-smi's list"},
        {"x\n{\"card0\": ", "file:2"},
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct doctor_smi smi;
        begin();
        CHECK_STATUS(doctor_smi_parse("file", texts[i].text, strlen(texts[i].text), &arena, &smi, &err), ORR_EINVAL);
        CHECK_CONTAINS(err.text, texts[i].says);
        end();
    }
}

static void levels_of_sysfs_have_the_one_in_use_starred(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool any;
        struct doctor_clock want;
    } texts[] = {
        {"0: 500Mhz\n1: 1200Mhz *\n2: 2935Mhz\n", true, {1200, 500, 2935}},
        {"S: 19Mhz *\n0: 615Mhz\n1: 800Mhz\n2: 888Mhz", true, {19, 615, 888}},
        {"0: 96Mhz\n", true, {NO, 96, 96}},
        {"", false, {0, 0, 0}},
        {"not supported\n", false, {0, 0, 0}},
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct doctor_clock clock = {0, 0, 0};
        CHECK(doctor_dpm_parse(texts[i].text, &clock) == texts[i].any, "text %zu", i);
        CHECK_U64(clock.now, texts[i].want.now, "text %zu", i);
        CHECK_U64(clock.min, texts[i].want.min, "text %zu", i);
        CHECK_U64(clock.max, texts[i].want.max, "text %zu", i);
    }
}

static void the_clock_to_simulate_with_is_one_of_work(void **state)
{
    (void)state;
    static const struct {
        uint32_t now, max, want;
    } clocks[] = {{2870, 2935, 2870}, {500, 2935, 2935}, {132, NO, NO}, {NO, 2935, 2935}, {501, 2935, 501}};
    for (size_t i = 0; i < COUNT_OF(clocks); i++) {
        struct doctor_gpu gpu = {.clocks = {[DOCTOR_SCLK] = {clocks[i].now, NO, clocks[i].max}}};
        CHECK_U64(doctor_clock_to_use(&gpu), clocks[i].want, "row %zu", i);
    }
}

/* ---- a copy of sysfs ---- */

static void put_file(const char *card, const char *name, const char *text)
{
    char path[200];
    (void)snprintf(path, sizeof path, "%s/sys/class/drm/%s/device/%s", folder, card, name);
    CHECK_OK(io_make_folder_above(path, &err), &err);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, "%s is written", path);
}

static void gpus_are_found_in_sysfs_in_the_order_of_their_numbers(void **state)
{
    (void)state;
    char sysfs[64];
    struct doctor_smi smi = {.tool = {.file = ""}};
    (void)snprintf(sysfs, sizeof sysfs, "%s/sys", folder);
    put_file("card10", "vendor", "0x10de\n");
    put_file("card1", "vendor", "0x1002\n");
    put_file("card1", "device", "0x7550\n");
    put_file("card1", "pp_dpm_sclk", "0: 500Mhz *\n1: 2935Mhz\n");
    put_file("card1", "pp_dpm_mclk", "0: 96Mhz\n1: 1258Mhz *\n");
    put_file("card1", "mem_info_vram_total", "17095983104\n");
    put_file("card1-DP-1", "vendor", "0x1002\n");
    begin();
    CHECK_OK(doctor_sysfs_look(sysfs, &arena, &smi, &err), &err);
    CHECK_U64(smi.count, 2, "connectors are no cards");
    CHECK_TEXT(smi.gpus[0].source, "card1");
    CHECK_TEXT(smi.gpus[0].name, "AMD 0x7550");
    CHECK_U64(smi.gpus[0].memory_bytes, 17095983104, "memory");
    CHECK_U64(smi.gpus[0].clocks[DOCTOR_SCLK].now, 500, "sclk");
    CHECK_U64(smi.gpus[0].clocks[DOCTOR_SCLK].max, 2935, "sclk");
    CHECK_U64(smi.gpus[0].clocks[DOCTOR_MCLK].now, 1258, "mclk");
    CHECK_TEXT(smi.gpus[1].source, "card10");
    CHECK_TEXT(smi.gpus[1].name, "NVIDIA");
    CHECK_U64(smi.gpus[1].clocks[DOCTOR_SCLK].now, NO, "no clock is made up");
    (void)snprintf(sysfs, sizeof sysfs, "%s/nothing", folder);
    CHECK_STATUS(doctor_sysfs_look(sysfs, &arena, &smi, &err), ORR_EIO);
    end();
}

static void the_report_is_text_or_json_of_the_same(void **state)
{
    (void)state;
    char sysfs[64];
    char *text = NULL;
    size_t size = 0;
    struct orr_doctor_result result = {0};
    (void)snprintf(sysfs, sizeof sysfs, "%s/sys", folder);
    const struct orr_doctor_options options = {.sysfs = sysfs, .no_collectives = true};
    for (int json = 0; json <= 1; json++) {
        FILE *stream = open_memstream(&text, &size);
        CHECK_OK(orr_doctor(&options, json != 0, stream, &result, &err), &err);
        assert_int_equal(fclose(stream), 0);
        CHECK_CONTAINS(text, json ? "\"sclk\": {\"now\": 500, \"min\": 500, \"max\": 2935}"
                                  : "sclk      now 500 MHz, 500 to 2935 MHz");
        CHECK_CONTAINS(text, json ? "\"gpu_freq_mhz\": 2935" : "--default-gpu-freq 2935 (the highest");
        CHECK(strstr(text, json ? "\"algorithm\"" : "acted out") == NULL, "no collectives were asked for");
        CHECK_U64(result.gpus, 2, "GPUs");
        CHECK_U64(result.checks, 0, "rows of the test");
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_MAP(every_collective_of_every_algorithm_comes_out_right, a_row_with_a_falsified_message_is_wrong,
                  whichever_message_is_falsified_the_result_is_wrong, whichever_flow_is_falsified_the_result_is_wrong,
                  a_list_of_moves_that_does_not_fit_is_told, clocks_are_read_from_every_form_of_output,
                  versions_and_names_are_read, what_is_no_output_of_these_tools_is_refused,
                  levels_of_sysfs_have_the_one_in_use_starred, the_clock_to_simulate_with_is_one_of_work,
                  gpus_are_found_in_sysfs_in_the_order_of_their_numbers, the_report_is_text_or_json_of_the_same)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
