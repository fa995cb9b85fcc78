/* SPDX-License-Identifier: Apache-2.0 */
/* Values that go before a file's: taken like the file's own, whole or one entry, and refused where they were said. */
#include "config/config.h"
#include "config/wired.h"
#include "tests/check.h"

static struct orr_error err;

static const char network[] =
    "topology: [Ring, Switch]\nnpus_count: [4, 2]\nbandwidth: [50, 25]\nlatency: [100, 200]\n";

struct reading {
    struct mem mem;
    struct arena arena;
    struct notes notes;
};

static void begin(struct reading *reading)
{
    *reading = (struct reading){0};
    arena_init(&reading->arena, &reading->mem);
    notes_init(&reading->notes, &reading->mem, false);
}

static void end(struct reading *reading)
{
    notes_free(&reading->notes);
    arena_free(&reading->arena);
    CHECK_U64(reading->mem.used, 0, "nothing is left");
}

static enum orr_status take_network(const char *key, const char *value, struct topo_dims *dims)
{
    struct reading reading;
    const struct config_override override = {key, value, "sweep.yml", 7};
    const struct config_text text = {"network.yml", network, sizeof network - 1, &override, 1};
    begin(&reading);
    enum orr_status status = config_take_network(&text, &reading.notes, dims, &err);
    end(&reading);
    return status;
}

static const struct {
    const char *key, *value;
    double bandwidth[2];
    uint32_t sizes[2];
} good[] = {
    {"bandwidth", "[10, 20]", {10, 20}, {4, 2}}, {"bandwidth", "10", {10, 10}, {4, 2}},
    {"bandwidth[0]", "10", {10, 25}, {4, 2}},    {"bandwidth[1]", "8589934592bps", {50, 1}, {4, 2}},
    {"npus_count", "[8, 8]", {50, 25}, {8, 8}},  {"npus_count[1]", "16", {50, 25}, {4, 16}},
};

static void a_value_replaces_the_list_all_entries_or_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        struct topo_dims dims;
        CHECK_OK(take_network(good[i].key, good[i].value, &dims), &err);
        for (uint32_t d = 0; d < 2; d++) {
            CHECK(dims.dim[d].bandwidth_gibps == good[i].bandwidth[d], "%s=%s: bandwidth of %" PRIu32, good[i].key,
                  good[i].value, d);
            CHECK_U64(dims.dim[d].size, good[i].sizes[d], "%s=%s", good[i].key, good[i].value);
        }
    }
}

static void the_eleventh_dimension_has_two_digits(void **state)
{
    (void)state;
    static const char many[] = "topology: [Ring, Ring, Ring, Ring, Ring, Ring, Ring, Ring, Ring, Ring, Ring]\n"
                               "npus_count: [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]\n"
                               "bandwidth: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
                               "latency: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
    struct reading reading;
    struct topo_dims dims;
    const struct config_override override = {"bandwidth[10]", "7", "--set", 1};
    const struct config_text text = {"network.yml", many, sizeof many - 1, &override, 1};
    begin(&reading);
    CHECK_OK(config_take_network(&text, &reading.notes, &dims, &err), &err);
    CHECK(dims.dim[10].bandwidth_gibps == 7 && dims.dim[1].bandwidth_gibps == 1, "the last, and no other");
    end(&reading);
}

static const struct {
    const char *key, *value, *reason;
} bad[] = {
    {"bandwith", "10", "sweep.yml:7: \"bandwith\" is no key of a network file; did you mean \"bandwidth\"?"},
    {"bandwidth", "fast", "sweep.yml:7: \"bandwidth\": \"fast\" is not a number with a unit"},
    {"bandwidth", "-1", "sweep.yml:7: "},
    {"bandwidth[2]", "10", "sweep.yml:7: \"bandwidth[2]\": the file has 2 entries, and they count from 0"},
    {"bandwidth[x]", "10", "sweep.yml:7: \"bandwidth[x]\" is no key"},
    {"bandwidth", "[1, 2, 3]", "has 3 entries but"},
    {"topology", "Rings", "did you mean \"Ring\"?"},
    {"bandwidth", "[1", "sweep.yml:"},
    {"bandwidth", "", "sweep.yml:7: \"bandwidth\" has no value"},
    {"bandwidth", " # 5", "sweep.yml:7: \"bandwidth\" has no value"},
    {"bandwidth[15]", "10", "sweep.yml:7: \"bandwidth[15]\": the file has 2 entries"},
    {"bandwidth[]", "10", "sweep.yml:7: \"bandwidth[]\" is no key"},
    {"bandwidth[001]", "10", "sweep.yml:7: \"bandwidth[001]\" is no key"},
};

static void a_wrong_value_is_refused_where_it_was_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct topo_dims dims;
        CHECK(take_network(bad[i].key, bad[i].value, &dims) != ORR_OK, "%s=%s", bad[i].key, bad[i].value);
        CHECK_CONTAINS(err.text, bad[i].reason);
    }
}

static void a_system_file_takes_keys_it_has_and_keys_it_lacks(void **state)
{
    (void)state;
    static const char system[] = "{\"scheduling-policy\": \"LIFO\", \"preferred-dataset-splits\": \"wrong\"}";
    const struct config_override overrides[] = {{"preferred-dataset-splits", "16", "--set", 1},
                                                {"endpoint-delay", "25", "--set", 2},
                                                {"all-reduce-implementation", "[ring, direct4]", "--set", 3}};
    const struct config_text text = {"system.json", system, sizeof system - 1, overrides, COUNT_OF(overrides)};
    struct reading reading;
    struct sim_system read;
    struct config_custom custom;
    begin(&reading);
    CHECK_OK(config_take_system(&text, 2.0, &reading.arena, &reading.notes, &read, &custom, &err), &err);
    CHECK_U64(read.preferred_dataset_splits, 16, "the file's own value is not even read");
    CHECK_U64(read.endpoint_delay_ns, 50, "scaled like one of the file");
    CHECK_U64(read.implementation[SIM_ALL_REDUCE].count, 2, "a list");
    end(&reading);
}

static void a_packet_configuration_takes_words(void **state)
{
    (void)state;
    static const char config[] = "TOPOLOGY_FILE a.txt\nCC_MODE 1\nL2_ACK_INTERVAL 1\n"
                                 "KMAX_MAP 1 25000000000 400\nKMIN_MAP 1 25000000000 100\nPMAX_MAP 1 25000000000 0.2\n";
    const struct config_override overrides[] = {{"CC_MODE", "3", "--set", 1},
                                                {"TOPOLOGY_FILE", "my folder/b.txt", "--set", 2},
                                                {"KMAX_MAP", "1 25Gbps 800", "--set", 3}};
    const struct config_text text = {"config.txt", config, sizeof config - 1, overrides, COUNT_OF(overrides)};
    struct reading reading;
    struct packet_config read;
    struct config_packet_files files;
    begin(&reading);
    CHECK_OK(config_take_packet(&text, &reading.arena, &reading.notes, &read, &files, &err), &err);
    CHECK_U64(read.cc_mode, 3, "replaced");
    CHECK_TEXT(files.topology, "my folder/b.txt");
    CHECK_U64(read.mark_count, 1, "one rate");
    CHECK(read.marks[0].kmax_bytes == 800e3 && read.marks[0].kmin_bytes == 100e3, "one map of three replaced");
    const struct config_override many = {"CC_MODE", "3 4", "--set", 5};
    const struct config_text twice = {"config.txt", config, sizeof config - 1, &many, 1};
    CHECK_STATUS(config_take_packet(&twice, &reading.arena, &reading.notes, &read, &files, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "--set:5: CC_MODE: \"4\" is one word too many");
    end(&reading);
}

static const struct {
    const char *text;
    bool wired;
    const char *file, *key; /* or NULL and the reason */
} keys[] = {
    {"bandwidth", false, "network", "bandwidth"},
    {"bandwidth[1]", false, "network", "bandwidth[1]"},
    {"network.bandwidth", false, "network", "bandwidth"},
    {"endpoint-delay", true, "system", "endpoint-delay"},
    {"CC_MODE", true, "network", "CC_MODE"},
    {"logical.logical-dims", true, "logical", "logical-dims"},
    {"memory.remote-mem-bw", false, "memory", "remote-mem-bw"},
    {"CC_MODE", false, NULL, "no option and no key"},
    {"network.endpoint-delay", false, NULL, "\"endpoint-delay\" is no key of a network file"},
    {"polcy", false, NULL, "did you mean \"policy\"?"},
    {"system.endpoint-dely", false, NULL, "did you mean \"endpoint-delay\"?"},
};

static void a_key_is_found_in_its_file(void **state)
{
    (void)state;
    static const char *const options[] = {"policy", "seed", NULL};
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        const char *file = NULL;
        const char *key = NULL;
        enum orr_status status = config_key_find(keys[i].text, keys[i].wired, options, "--vary", 2, &file, &key, &err);
        if (keys[i].file != NULL) {
            CHECK_OK(status, &err);
            CHECK_TEXT(file, keys[i].file);
            CHECK_TEXT(key, keys[i].key);
        } else {
            CHECK_STATUS(status, ORR_EINVAL);
            CHECK_CONTAINS(err.text, "--vary:2: ");
            CHECK_CONTAINS(err.text, keys[i].key);
        }
    }
}

TEST_MAIN(a_value_replaces_the_list_all_entries_or_one, the_eleventh_dimension_has_two_digits,
          a_wrong_value_is_refused_where_it_was_said, a_system_file_takes_keys_it_has_and_keys_it_lacks,
          a_packet_configuration_takes_words, a_key_is_found_in_its_file)
