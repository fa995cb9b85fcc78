/* SPDX-License-Identifier: Apache-2.0 */
/* What `orrery coll show` prints: SimAI's own flow lists byte for byte (here by the hash of their text), and what a
 * person gets instead of them. */
#include <stdlib.h>

#include <xxhash.h>

#include "tests/check.h"
#include "tests/report/nccl_case.h"

static const struct {
    const char *name;
    uint64_t hash; /* XXH64 of the dump that SimAI 1.6 gave */
} dumps[] = {
    {"AS_NVLS_ENABLE_1n16-gps8-tp16-ep1-H100-TP-A2A-1000003", 0x4a9417752759ea7a},
    {"AS_NVLS_ENABLE_1n16-gps8-tp16-ep1-H100-TP-A2A-1048576", 0x463066a098a3be7e},
    {"AS_NVLS_ENABLE_1n16-gps8-tp16-ep1-H100-TP-AG-1000003", 0xde452a35930a4fda},
    {"AS_NVLS_ENABLE_1n16-gps8-tp16-ep1-H100-TP-AG-1048576", 0xfc01fca2fa51c732},
    {"AS_NVLS_ENABLE_1n16-gps8-tp16-ep1-H100-TP-AR-1000003", 0x9bc5dfa6c7934a76},
    {"AS_NVLS_ENABLE_1n16-gps8-tp16-ep1-H100-TP-AR-1048576", 0x9bc5dfa6c7934a76},
    {"AS_NVLS_ENABLE_1n16-gps8-tp16-ep1-H100-TP-RS-1000003", 0xde452a35930a4fda},
    {"AS_NVLS_ENABLE_1n16-gps8-tp16-ep1-H100-TP-RS-1048576", 0xfc01fca2fa51c732},
    {"AS_NVLS_ENABLE_1n8-gps8-tp8-ep1-A100-TP-A2A-1000003", 0x8f9eaa415ec49879},
    {"AS_NVLS_ENABLE_1n8-gps8-tp8-ep1-A100-TP-A2A-1048576", 0xb04f615e9387280a},
    {"AS_NVLS_ENABLE_1n8-gps8-tp8-ep1-A100-TP-AG-1000003", 0x14cd868198a3bbee},
    {"AS_NVLS_ENABLE_1n8-gps8-tp8-ep1-A100-TP-AG-1048576", 0x550a1cc955725060},
    {"AS_NVLS_ENABLE_1n8-gps8-tp8-ep1-A100-TP-AR-1000003", 0x73ef9f9767980d0a},
    {"AS_NVLS_ENABLE_1n8-gps8-tp8-ep1-A100-TP-AR-1048576", 0x59e2a1f8fab4656d},
    {"AS_NVLS_ENABLE_1n8-gps8-tp8-ep1-A100-TP-RS-1000003", 0x14cd868198a3bbee},
    {"AS_NVLS_ENABLE_1n8-gps8-tp8-ep1-A100-TP-RS-1048576", 0x550a1cc955725060},
    {"AS_NVLS_ENABLE_1n8-gps8-tp8-ep1-H100-TP-A2A-1000003", 0x8f9eaa415ec49879},
    {"AS_NVLS_ENABLE_1n8-gps8-tp8-ep1-H100-TP-A2A-1048576", 0xb04f615e9387280a},
    {"AS_NVLS_ENABLE_1n8-gps8-tp8-ep1-H100-TP-AG-1000003", 0x14cd868198a3bbee},
    {"AS_NVLS_ENABLE_1n8-gps8-tp8-ep1-H100-TP-AG-1048576", 0x550a1cc955725060},
    {"AS_NVLS_ENABLE_1n8-gps8-tp8-ep1-H100-TP-AR-1000003", 0x7b9e844ceccce066},
    {"AS_NVLS_ENABLE_1n8-gps8-tp8-ep1-H100-TP-AR-1048576", 0x75e874a6392c0b38},
    {"AS_NVLS_ENABLE_1n8-gps8-tp8-ep1-H100-TP-RS-1000003", 0x14cd868198a3bbee},
    {"AS_NVLS_ENABLE_1n8-gps8-tp8-ep1-H100-TP-RS-1048576", 0x550a1cc955725060},
    {"AS_NVLS_ENABLE_1n8-gps8-tp8-ep1-H20-TP-A2A-1000003", 0x8f9eaa415ec49879},
    {"AS_NVLS_ENABLE_1n8-gps8-tp8-ep1-H20-TP-A2A-1048576", 0xb04f615e9387280a},
    {"AS_NVLS_ENABLE_1n8-gps8-tp8-ep1-H20-TP-AG-1000003", 0x14cd868198a3bbee},
    {"AS_NVLS_ENABLE_1n8-gps8-tp8-ep1-H20-TP-AG-1048576", 0x550a1cc955725060},
    {"AS_NVLS_ENABLE_1n8-gps8-tp8-ep1-H20-TP-AR-1000003", 0x73ef9f9767980d0a},
    {"AS_NVLS_ENABLE_1n8-gps8-tp8-ep1-H20-TP-AR-1048576", 0x59e2a1f8fab4656d},
    {"AS_NVLS_ENABLE_1n8-gps8-tp8-ep1-H20-TP-RS-1000003", 0x14cd868198a3bbee},
    {"AS_NVLS_ENABLE_1n8-gps8-tp8-ep1-H20-TP-RS-1048576", 0x550a1cc955725060},
    {"AS_PXN_ENABLE_1n16-gps8-tp16-ep1-A100-TP-A2A-1000003", 0x4a9417752759ea7a},
    {"AS_PXN_ENABLE_1n16-gps8-tp16-ep1-A100-TP-A2A-1048576", 0x463066a098a3be7e},
    {"AS_PXN_ENABLE_1n16-gps8-tp16-ep1-A100-TP-AG-1000003", 0xde452a35930a4fda},
    {"AS_PXN_ENABLE_1n16-gps8-tp16-ep1-A100-TP-AG-1048576", 0xfc01fca2fa51c732},
    {"AS_PXN_ENABLE_1n16-gps8-tp16-ep1-A100-TP-AR-1000003", 0x2db415a241ca37ec},
    {"AS_PXN_ENABLE_1n16-gps8-tp16-ep1-A100-TP-AR-1048576", 0xb1b119298c3f8e9c},
    {"AS_PXN_ENABLE_1n16-gps8-tp16-ep1-A100-TP-RS-1000003", 0xdf88339b29cc9cb1},
    {"AS_PXN_ENABLE_1n16-gps8-tp16-ep1-A100-TP-RS-1048576", 0xa04b46c7d0974e72},
    {"AS_PXN_ENABLE_1n32-gps8-tp4-ep1-A100-DP-A2A-1000003", 0xf59ee3b5bba8951b},
    {"AS_PXN_ENABLE_1n32-gps8-tp4-ep1-A100-DP-A2A-1048576", 0x26ea44c9535bde9a},
    {"AS_PXN_ENABLE_1n32-gps8-tp4-ep1-A100-DP-AG-1000003", 0x32b58c4f7e497426},
    {"AS_PXN_ENABLE_1n32-gps8-tp4-ep1-A100-DP-AG-1048576", 0xccafda56676e39b7},
    {"AS_PXN_ENABLE_1n32-gps8-tp4-ep1-A100-DP-AR-1000003", 0xc91c335d3a3fe8f3},
    {"AS_PXN_ENABLE_1n32-gps8-tp4-ep1-A100-DP-AR-1048576", 0xa32d955dc420db4e},
    {"AS_PXN_ENABLE_1n32-gps8-tp4-ep1-A100-DP-RS-1000003", 0xda7dba4e0e7e5111},
    {"AS_PXN_ENABLE_1n32-gps8-tp4-ep1-A100-DP-RS-1048576", 0x6d813381003fc1b8},
    {"X_0n16-gps8-tp1-ep1-A100-DP-A2A-1000003", 0xb3347c9130646ce9},
    {"X_0n16-gps8-tp1-ep1-A100-DP-A2A-1048576", 0x8fa6a86a85f3911f},
    {"X_0n16-gps8-tp1-ep1-A100-DP-AG-1000003", 0x31302426610f85d6},
    {"X_0n16-gps8-tp1-ep1-A100-DP-AG-1048576", 0x58c1d5cccd235b3b},
    {"X_0n16-gps8-tp1-ep1-A100-DP-AR-1000003", 0x44f50d387de42e7e},
    {"X_0n16-gps8-tp1-ep1-A100-DP-AR-1048576", 0x3e68bbc227615dc2},
    {"X_0n16-gps8-tp1-ep1-A100-DP-RS-1000003", 0x31302426610f85d6},
    {"X_0n16-gps8-tp1-ep1-A100-DP-RS-1048576", 0x58c1d5cccd235b3b},
    {"X_0n16-gps8-tp1-ep4-A100-EP-A2A-1000003", 0xdd2c8a12317193c8},
    {"X_0n16-gps8-tp1-ep4-A100-EP-A2A-1048576", 0xdd2c8a12317193c8},
    {"X_0n16-gps8-tp1-ep4-A100-EP-AG-1000003", 0xdd2c8a12317193c8},
    {"X_0n16-gps8-tp1-ep4-A100-EP-AG-1048576", 0xdd2c8a12317193c8},
    {"X_0n16-gps8-tp1-ep4-A100-EP-AR-1000003", 0xdd2c8a12317193c8},
    {"X_0n16-gps8-tp1-ep4-A100-EP-AR-1048576", 0xdd2c8a12317193c8},
    {"X_0n16-gps8-tp1-ep4-A100-EP-RS-1000003", 0xdd2c8a12317193c8},
    {"X_0n16-gps8-tp1-ep4-A100-EP-RS-1048576", 0xdd2c8a12317193c8},
    {"X_0n16-gps8-tp16-ep1-A100-TP-A2A-1000003", 0x4a9417752759ea7a},
    {"X_0n16-gps8-tp16-ep1-A100-TP-A2A-1048576", 0x463066a098a3be7e},
    {"X_0n16-gps8-tp16-ep1-A100-TP-AG-1000003", 0xde452a35930a4fda},
    {"X_0n16-gps8-tp16-ep1-A100-TP-AG-1048576", 0xfc01fca2fa51c732},
    {"X_0n16-gps8-tp16-ep1-A100-TP-AR-1000003", 0x86669fe037f84de5},
    {"X_0n16-gps8-tp16-ep1-A100-TP-AR-1048576", 0xd9f8d546463f24e5},
    {"X_0n16-gps8-tp16-ep1-A100-TP-RS-1000003", 0xde452a35930a4fda},
    {"X_0n16-gps8-tp16-ep1-A100-TP-RS-1048576", 0xfc01fca2fa51c732},
    {"X_0n16-gps8-tp2-ep2-A100-DP_EP-A2A-1000003", 0x308059ab65327029},
    {"X_0n16-gps8-tp2-ep2-A100-DP_EP-A2A-1048576", 0xe888166405603f5c},
    {"X_0n16-gps8-tp2-ep2-A100-DP_EP-AG-1000003", 0x46061752fdcc6cb5},
    {"X_0n16-gps8-tp2-ep2-A100-DP_EP-AG-1048576", 0xd31c970191951dad},
    {"X_0n16-gps8-tp2-ep2-A100-DP_EP-AR-1000003", 0x1b751360960caf5d},
    {"X_0n16-gps8-tp2-ep2-A100-DP_EP-AR-1048576", 0x452d50ce4c960ea7},
    {"X_0n16-gps8-tp2-ep2-A100-DP_EP-RS-1000003", 0x46061752fdcc6cb5},
    {"X_0n16-gps8-tp2-ep2-A100-DP_EP-RS-1048576", 0xd31c970191951dad},
    {"X_0n16-gps8-tp2-ep2-A100-EP-A2A-1000003", 0x7305d01cc6c93c7e},
    {"X_0n16-gps8-tp2-ep2-A100-EP-A2A-1048576", 0x4d73c73ed400d7cb},
    {"X_0n16-gps8-tp2-ep2-A100-EP-AG-1000003", 0x3e663f48079a76bc},
    {"X_0n16-gps8-tp2-ep2-A100-EP-AG-1048576", 0x2ff3341f611847e0},
    {"X_0n16-gps8-tp2-ep2-A100-EP-AR-1000003", 0x2429e220d9f8a486},
    {"X_0n16-gps8-tp2-ep2-A100-EP-AR-1048576", 0x82aa69cca9d136e4},
    {"X_0n16-gps8-tp2-ep2-A100-EP-RS-1000003", 0x3e663f48079a76bc},
    {"X_0n16-gps8-tp2-ep2-A100-EP-RS-1048576", 0x2ff3341f611847e0},
    {"X_0n16-gps8-tp8-ep1-H100-DP-A2A-1000003", 0x26d12c33ee538bbc},
    {"X_0n16-gps8-tp8-ep1-H100-DP-A2A-1048576", 0x6ca9ad58ecf09c9c},
    {"X_0n16-gps8-tp8-ep1-H100-DP-AG-1000003", 0x26d12c33ee538bbc},
    {"X_0n16-gps8-tp8-ep1-H100-DP-AG-1048576", 0x6ca9ad58ecf09c9c},
    {"X_0n16-gps8-tp8-ep1-H100-DP-AR-1000003", 0x5eb7884455f1bbea},
    {"X_0n16-gps8-tp8-ep1-H100-DP-AR-1048576", 0x1a2a4dd9a5a26d82},
    {"X_0n16-gps8-tp8-ep1-H100-DP-RS-1000003", 0x26d12c33ee538bbc},
    {"X_0n16-gps8-tp8-ep1-H100-DP-RS-1048576", 0x6ca9ad58ecf09c9c},
    {"X_0n24-gps8-tp24-ep1-A100-TP-A2A-1000003", 0x39c2b601796a8af0},
    {"X_0n24-gps8-tp24-ep1-A100-TP-A2A-1048576", 0xf2a139187c84cf83},
    {"X_0n24-gps8-tp24-ep1-A100-TP-AG-1000003", 0x8feb794aa8c0dff7},
    {"X_0n24-gps8-tp24-ep1-A100-TP-AG-1048576", 0x678c5ec8fa1b23fd},
    {"X_0n24-gps8-tp24-ep1-A100-TP-AR-1000003", 0x6696b00fe939f1e9},
    {"X_0n24-gps8-tp24-ep1-A100-TP-AR-1048576", 0x70841e2d8183082c},
    {"X_0n24-gps8-tp24-ep1-A100-TP-RS-1000003", 0x8feb794aa8c0dff7},
    {"X_0n24-gps8-tp24-ep1-A100-TP-RS-1048576", 0x678c5ec8fa1b23fd},
    {"X_0n32-gps8-tp2-ep4-H100-DP-A2A-1000003", 0xd1040a80295d637d},
    {"X_0n32-gps8-tp2-ep4-H100-DP-A2A-1048576", 0x40bd68881f4fa7b4},
    {"X_0n32-gps8-tp2-ep4-H100-DP-AG-1000003", 0x48807f5a63d48ce7},
    {"X_0n32-gps8-tp2-ep4-H100-DP-AG-1048576", 0x7cc17f521f1edfaf},
    {"X_0n32-gps8-tp2-ep4-H100-DP-AR-1000003", 0x66aa1b487d0212c8},
    {"X_0n32-gps8-tp2-ep4-H100-DP-AR-1048576", 0xf7a0f27d00cac926},
    {"X_0n32-gps8-tp2-ep4-H100-DP-RS-1000003", 0x48807f5a63d48ce7},
    {"X_0n32-gps8-tp2-ep4-H100-DP-RS-1048576", 0x7cc17f521f1edfaf},
    {"X_0n72-gps72-tp72-ep1-H100-TP-A2A-1048576", 0xa3248999a0c1fa1c},
    {"X_0n72-gps72-tp72-ep1-H100-TP-AG-1048576", 0xd4e7ece85325a559},
    {"X_0n72-gps72-tp72-ep1-H100-TP-AR-1048576", 0xb6d95f42128f9662},
    {"X_0n72-gps72-tp72-ep1-H100-TP-RS-1048576", 0xd4e7ece85325a559},
    {"X_0n8-gps8-tp4-ep1-A100-DP-A2A-1000003", 0xc754fed89813755e},
    {"X_0n8-gps8-tp4-ep1-A100-DP-A2A-1048576", 0x5fc5231888e5809a},
    {"X_0n8-gps8-tp4-ep1-A100-DP-AG-1000003", 0x4ca15586b943c0c9},
    {"X_0n8-gps8-tp4-ep1-A100-DP-AG-1048576", 0xa155aaf77fc48a7d},
    {"X_0n8-gps8-tp4-ep1-A100-DP-AR-1000003", 0xd01fe5dbd048a250},
    {"X_0n8-gps8-tp4-ep1-A100-DP-AR-1048576", 0x11dda170c5a9f4b2},
    {"X_0n8-gps8-tp4-ep1-A100-DP-RS-1000003", 0x4ca15586b943c0c9},
    {"X_0n8-gps8-tp4-ep1-A100-DP-RS-1048576", 0xa155aaf77fc48a7d},
    {"X_0n8-gps8-tp4-ep1-A100-TP-A2A-1000003", 0x6e2a5808517224fb},
    {"X_0n8-gps8-tp4-ep1-A100-TP-A2A-1048576", 0xfc8b13fb79188bf7},
    {"X_0n8-gps8-tp4-ep1-A100-TP-AG-1000003", 0xac1e45cb93f5cdb6},
    {"X_0n8-gps8-tp4-ep1-A100-TP-AG-1048576", 0x75425130743d2e1a},
    {"X_0n8-gps8-tp4-ep1-A100-TP-AR-1000003", 0xe6dbcdb05f87e08f},
    {"X_0n8-gps8-tp4-ep1-A100-TP-AR-1048576", 0xceebef62c534b320},
    {"X_0n8-gps8-tp4-ep1-A100-TP-RS-1000003", 0xac1e45cb93f5cdb6},
    {"X_0n8-gps8-tp4-ep1-A100-TP-RS-1048576", 0x75425130743d2e1a},
    {"X_0n8-gps8-tp8-ep1-A100-TP-A2A-1000003", 0x8f9eaa415ec49879},
    {"X_0n8-gps8-tp8-ep1-A100-TP-A2A-1048576", 0xb04f615e9387280a},
    {"X_0n8-gps8-tp8-ep1-A100-TP-AG-1000003", 0x14cd868198a3bbee},
    {"X_0n8-gps8-tp8-ep1-A100-TP-AG-1048576", 0x550a1cc955725060},
    {"X_0n8-gps8-tp8-ep1-A100-TP-AR-1000003", 0x73ef9f9767980d0a},
    {"X_0n8-gps8-tp8-ep1-A100-TP-AR-1048576", 0x59e2a1f8fab4656d},
    {"X_0n8-gps8-tp8-ep1-A100-TP-RS-1000003", 0x14cd868198a3bbee},
    {"X_0n8-gps8-tp8-ep1-A100-TP-RS-1048576", 0x550a1cc955725060},
};

static void every_flow_list_of_simai_is_the_same_to_the_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(dumps); i++) {
        size_t size = 0;
        char *text = nccl_case_dump(dumps[i].name, &size);
        CHECK(text != NULL, "%s", dumps[i].name);
        CHECK(XXH64(text, size, 0) == dumps[i].hash, "%s differs", dumps[i].name);
        free(text);
    }
}

/* What is printed, in a buffer that the next call reuses. */
static const char *show(const struct orr_coll_options *options)
{
    static char kept[1 << 16];
    struct orr_error err = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    CHECK(stream != NULL, "memory");
    enum orr_status status = orr_coll_show(options, stream, &err);
    CHECK(fclose(stream) == 0, "memory");
    (void)snprintf(kept, sizeof kept, "%s", status == ORR_OK ? text : err.text);
    free(text);
    return kept;
}

static void the_table_says_what_moves_and_the_drawing_how(void **state)
{
    (void)state;
    struct orr_coll_options options;
    orr_coll_options_init(&options);
    options.gpus = 16;
    options.tp = 16;
    CHECK_TEXT(show(&options), "all-reduce of 1 MiB over 16 ranks on 2 servers\n"
                               "\n"
                               "algorithm       ring\n"
                               "protocol        Simple\n"
                               "channels        8\n"
                               "steps           30\n"
                               "flows           3840\n"
                               "bytes moved     30 MiB\n"
                               "  NVLink        26.25 MiB in 3360 flows\n"
                               "  network       3.75 MiB in 480 flows\n"
                               "rank sends      1.88 MiB each\n"
                               "  to network    240 KiB each\n"
                               "rank receives   1.88 MiB each\n"
                               "\n"
                               "  ring 0   [0 1 2 3 4 5 6 7] > [15 14 13 12 11 10 9 8] > back\n"
                               "  ring 1   [1 2 3 4 5 6 7 0] > [8 15 14 13 12 11 10 9] > back\n"
                               "  ring 2   [2 3 4 5 6 7 0 1] > [9 8 15 14 13 12 11 10] > back\n"
                               "  ring 3   [3 4 5 6 7 0 1 2] > [10 9 8 15 14 13 12 11] > back\n"
                               "  ring 4   [4 5 6 7 0 1 2 3] > [11 10 9 8 15 14 13 12] > back\n"
                               "  ring 5   [5 6 7 0 1 2 3 4] > [12 11 10 9 8 15 14 13] > back\n"
                               "  ring 6   [6 7 0 1 2 3 4 5] > [13 12 11 10 9 8 15 14] > back\n"
                               "  ring 7   [7 0 1 2 3 4 5 6] > [14 13 12 11 10 9 8 15] > back\n");
}

static void trees_and_switches_are_drawn_by_server(void **state)
{
    (void)state;
    struct orr_coll_options options;
    orr_coll_options_init(&options);
    options.gpus = 12;
    options.gpus_per_server = 2;
    options.tp = 12;
    options.algo = "tree";
    CHECK_CONTAINS(show(&options), "  tree 0\n"
                                   "            6 > 7\n"
                                   "              2 > 3\n"
                                   "                0 > 1\n"
                                   "                4 > 5\n"
                                   "              10 > 11\n"
                                   "                8 > 9\n"
                                   "  tree 1\n"
                                   "            8 > 9\n");
    options.algo = "auto";
    options.nvls = true;
    CHECK_CONTAINS(show(&options), "algorithm       nvls-tree\n");
    CHECK_CONTAINS(show(&options), "  server 5   switch 17 <> 10 11\n");
}

static void holes_of_simai_are_filled_by_default(void **state)
{
    (void)state;
    struct orr_coll_options options;
    orr_coll_options_init(&options);
    options.gpus = 16;
    options.tp = 1;
    options.ep = 4;
    options.group = "ep";
    options.type = "all-to-all";
    options.bytes = 1000003;
    CHECK_CONTAINS(show(&options), "all-to-all of 976.6 KiB over 4 ranks on 1 server\n");
    options.compat = true;
    CHECK_CONTAINS(show(&options), "rank 0 has no ep group of two or more among 16 GPUs with TP 1 and EP 4");
    options.dump = true;
    CHECK_CONTAINS(show(&options), "\nNOGROUP\n");
}

static void a_wrong_word_names_the_nearest(void **state)
{
    (void)state;
    static const struct {
        size_t field;
        const char *word, *says;
    } bad[] = {
        {offsetof(struct orr_coll_options, algo), "rinf", "unknown algorithm \"rinf\"; did you mean \"ring\"?"},
        {offsetof(struct orr_coll_options, group), "dp-pe", "unknown group \"dp-pe\"; did you mean \"dp-ep\"?"},
        {offsetof(struct orr_coll_options, gpu_type), "H101", "unknown GPU type \"H101\"; did you mean \"H100\"?"},
        {offsetof(struct orr_coll_options, type), "all-redce", "unknown collective \"all-redce\""},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct orr_coll_options options;
        orr_coll_options_init(&options);
        memcpy((char *)&options + bad[i].field, &bad[i].word, sizeof bad[i].word);
        CHECK_CONTAINS(show(&options), bad[i].says);
    }
}

TEST_MAIN(every_flow_list_of_simai_is_the_same_to_the_byte, the_table_says_what_moves_and_the_drawing_how,
          trees_and_switches_are_drawn_by_server, holes_of_simai_are_filled_by_default, a_wrong_word_names_the_nearest)
