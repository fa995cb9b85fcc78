/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration file is known by its content, or left to the reader that was asked. */
#include "config/kind.h"
#include "tests/check.h"

#include <stdlib.h>

static const struct {
    enum config_kind kind;
    const char *text;
} files[] = {
    {CONFIG_KIND_SYSTEM, "{\n  \"endpoint-delay\": 10, \"scheduling-policy\": \"LIFO\"}"},
    {CONFIG_KIND_NETWORK, "# a ring\ntopology: [ Ring ]\nnpus_count: [ 8 ]\n"},
    {CONFIG_KIND_NETWORK, "npus_count: [ 8 ]"},
    {CONFIG_KIND_MEMORY, "{\"memory-type\": \"NO_MEMORY_EXPANSION\"}"},
    {CONFIG_KIND_GROUPS, " { \"1\" : [0, 1], \"2\": [2]}"},
    {CONFIG_KIND_LOGICAL, "{\"logical-dims\": [\"8\"]}"},
    {CONFIG_KIND_PACKET, "ENABLE_QCN 1\nCC_MODE 12\n"},
    {CONFIG_KIND_PACKET, "TOPOLOGY_FILE m.topo CC_MODE 12"},
    {CONFIG_KIND_WIRES, "9 1 8\n8\n0 8 400Gbps 0.0005ms 0\n"},
    {CONFIG_KIND_WIRES, "10 8 1 1 16 H100\n8 9\n"},
    {CONFIG_KIND_RECORDING, "{\"schemaVersion\": 1, \"traceEvents\": []}"},
    {CONFIG_KIND_CALIBRATION, "{\"format\": \"orrery-calibration-1\", \"link_gbps\": 65}"},
    {CONFIG_KIND_PRICES, "# prices\ncurrency: USD\n"},
    {CONFIG_KIND_WORKLOAD, "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8\n12\n"},
    {CONFIG_KIND_WORKLOAD, "MICRO\n1\n"},
    {CONFIG_KIND_STORE, "SQLite format 3"},
    {CONFIG_KIND_UNKNOWN, ""},
    {CONFIG_KIND_UNKNOWN, "{"},
    {CONFIG_KIND_UNKNOWN, "{\"7\""},
    {CONFIG_KIND_UNKNOWN, "{\"7\": 1}"},
    {CONFIG_KIND_UNKNOWN, "9 1"},
    {CONFIG_KIND_UNKNOWN, "bandwidth of a network: npus_count: 8"},
};

static void a_file_is_known_by_its_content(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        enum config_kind kind = config_kind_of(files[i].text, strlen(files[i].text));
        CHECK(kind == files[i].kind, "%s: kind %d, not %d", files[i].text, (int)kind, (int)files[i].kind);
    }
    static const char trace[] = "\007\n\0050.0.4\0\020\0";
    CHECK(config_kind_of(trace, sizeof trace) == CONFIG_KIND_TRACE, "a trace");
}

static void a_text_that_ends_early_is_not_read_beyond_its_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        for (size_t size = 0; size < strlen(files[i].text); size++) {
            char *part = malloc(size + 1); /* so that a sanitizer sees the end */
            CHECK(part != NULL, "memory");
            memcpy(part, files[i].text, size);
            part = realloc(part, size > 0 ? size : 1);
            enum config_kind kind = config_kind_of(part, size);
            CHECK(kind == CONFIG_KIND_UNKNOWN || kind == files[i].kind, "%.*s", (int)size, files[i].text);
            free(part);
        }
    }
}

static void the_wrong_kind_is_named_with_the_wanted_one(void **state)
{
    (void)state;
    struct orr_error err = {0};
    CHECK_STATUS(config_kind_check("n.yml", files[1].text, strlen(files[1].text), CONFIG_KIND_SYSTEM,
                                   "parameter 'system'", &err),
                 ORR_EINVAL);
    CHECK_CONTAINS(err.text, "n.yml: this is a network file (YAML)");
    CHECK_CONTAINS(err.text, "parameter 'system' wants a system file (JSON)");
    CHECK_OK(config_kind_check("x", "what?", 5, CONFIG_KIND_SYSTEM, "parameter 'system'", &err), &err);
}

TEST_MAIN(a_file_is_known_by_its_content, a_text_that_ends_early_is_not_read_beyond_its_end,
          the_wrong_kind_is_named_with_the_wanted_one)
