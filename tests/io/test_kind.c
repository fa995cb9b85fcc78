/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration file is known by its content, or left to the reader that was asked. */
#include "io/kind.h"
#include "tests/check.h"

#include <stdlib.h>

static const struct {
    enum file_kind kind;
    const char *text;
} files[] = {
    {FILE_KIND_SYSTEM, "{\n  \"endpoint-delay\": 10, \"scheduling-policy\": \"LIFO\"}"},
    {FILE_KIND_NETWORK, "# a ring\ntopology: [ Ring ]\nnpus_count: [ 8 ]\n"},
    {FILE_KIND_NETWORK, "npus_count: [ 8 ]"},
    {FILE_KIND_MEMORY, "{\"memory-type\": \"NO_MEMORY_EXPANSION\"}"},
    {FILE_KIND_GROUPS, " { \"1\" : [0, 1], \"2\": [2]}"},
    {FILE_KIND_LOGICAL, "{\"logical-dims\": [\"8\"]}"},
    {FILE_KIND_PACKET, "ENABLE_QCN 1\nCC_MODE 12\n"},
    {FILE_KIND_PACKET, "TOPOLOGY_FILE m.topo CC_MODE 12"},
    {FILE_KIND_WIRES, "9 1 8\n8\n0 8 400Gbps 0.0005ms 0\n"},
    {FILE_KIND_WIRES, "10 8 1 1 16 H100\n8 9\n"},
    {FILE_KIND_RECORDING, "{\"schemaVersion\": 1, \"traceEvents\": []}"},
    {FILE_KIND_CALIBRATION, "{\"format\": \"orrery-calibration-1\", \"link_gbps\": 65}"},
    {FILE_KIND_PRICES, "# prices\ncurrency: USD\n"},
    {FILE_KIND_WORKLOAD, "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8\n12\n"},
    {FILE_KIND_WORKLOAD, "MICRO\n1\n"},
    {FILE_KIND_STORE, "SQLite format 3"},
    {FILE_KIND_UNKNOWN, ""},
    {FILE_KIND_UNKNOWN, "{"},
    {FILE_KIND_UNKNOWN, "{\"7\""},
    {FILE_KIND_UNKNOWN, "{\"7\": 1}"},
    {FILE_KIND_UNKNOWN, "9 1"},
    {FILE_KIND_UNKNOWN, "bandwidth of a network: npus_count: 8"},
};

static void a_file_is_known_by_its_content(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        enum file_kind kind = file_kind_of(files[i].text, strlen(files[i].text));
        CHECK(kind == files[i].kind, "%s: kind %d, not %d", files[i].text, (int)kind, (int)files[i].kind);
    }
    static const char trace[] = "\007\n\0050.0.4\0\020\0";
    CHECK(file_kind_of(trace, sizeof trace) == FILE_KIND_TRACE, "a trace");
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
            enum file_kind kind = file_kind_of(part, size);
            CHECK(kind == FILE_KIND_UNKNOWN || kind == files[i].kind, "%.*s", (int)size, files[i].text);
            free(part);
        }
    }
}

static void the_wrong_kind_is_named_with_the_wanted_one(void **state)
{
    (void)state;
    struct orr_error err = {0};
    CHECK_STATUS(
        file_kind_check("n.yml", files[1].text, strlen(files[1].text), FILE_KIND_SYSTEM, "parameter 'system'", &err),
        ORR_EINVAL);
    CHECK_CONTAINS(err.text, "n.yml: this is a network file (YAML)");
    CHECK_CONTAINS(err.text, "parameter 'system' wants a system file (JSON)");
    CHECK_OK(file_kind_check("x", "what?", 5, FILE_KIND_SYSTEM, "parameter 'system'", &err), &err);
}

TEST_MAIN(a_file_is_known_by_its_content, a_text_that_ends_early_is_not_read_beyond_its_end,
          the_wrong_kind_is_named_with_the_wanted_one)
