/* SPDX-License-Identifier: Apache-2.0 */
/* What a system file may say, what it means, and how it is refused. */
#include "config/table.h"
#include "tests/config/reading.h"

static enum orr_status parse(struct reading *reading, const char *text, double scale, struct sim_system *system,
                             struct config_custom *custom)
{
    return config_parse_system("s.json", text, strlen(text), scale, &reading->arena, &reading->notes, system, custom,
                               &reading->err);
}

static void every_key_reaches_its_place(void **state)
{
    (void)state;
    static const char text[] =
        "{\"scheduling-policy\": \"EXPLICIT\", \"collective-optimization\": \"baseline\",\n"
        "\"endpoint-delay\": 137, \"active-chunks-per-dimension\": 3,\n"
        "\"preferred-dataset-splits\": 16, \"local-mem-bw\": 333.3, \"peak-perf\": 1.7,\n"
        "\"roofline-enabled\": 1, \"replay-only\": true, \"model-shared-bus\": 1,\n"
        "\"local-reduction-delay\": 3, \"L\": 100, \"o\": 10, \"g\": 5, \"G\": 0.0038,\n"
        "\"all-reduce-implementation\": [\"ring\", \"direct3\"],\n"
        "\"all-to-all-implementation\": \"oneDirect2\",\n"
        "\"all-gather-implementation-custom\": [\"dir/ag\"],\n"
        "\"per-node-custom-implementation\": \"nodes.yml\", \"boost-mode\": 0,\n"
        "\"intra-dimension-scheduling\": \"FIFO\", \"trace-enabled\": 1, \"track-local-mem\": 1,\n"
        "\"local-mem-trace-filename\": \"held\", \"local-mem-capacity\": \"80GiB\", \"host-mem-capacity\": 1000,\n"
        "\"pool-mem-capacity\": \"2TB\"}";
    struct reading reading;
    reading_begin(&reading, true);
    struct sim_system system;
    struct config_custom custom;
    CHECK_OK(parse(&reading, text, 1.0, &system, &custom), &reading.err);
    CHECK_U64(system.scheduling, SIM_EXPLICIT, "scheduling-policy");
    CHECK_U64(system.optimization, SIM_BASELINE, "collective-optimization");
    CHECK_U64(system.endpoint_delay_ns, 137, "endpoint-delay");
    CHECK_U64(system.active_chunks_per_dimension, 3, "active-chunks-per-dimension");
    CHECK_U64(system.preferred_dataset_splits, 16, "preferred-dataset-splits");
    CHECK(system.local_mem_bw_gbps == 333.3 && system.peak_perf_tflops == 1.7, "rates are kept exactly");
    CHECK(system.roofline_enabled && system.replay_only && system.shared_bus, "switches are on");
    CHECK_U64(system.local_reduction_delay_ns, 3, "local-reduction-delay");
    CHECK_U64(system.bus_L_ns, 100, "L");
    CHECK(system.track_local_mem, "track-local-mem");
    CHECK_TEXT(system.local_mem_trace, "held");
    CHECK_U64(system.capacity.local, UINT64_C(80) << 30, "local-mem-capacity");
    CHECK_U64(system.capacity.host, 1000, "a bare number is bytes");
    CHECK_U64(system.capacity.pool, UINT64_C(2000000000000), "pool-mem-capacity");
    CHECK_U64(system.bus_o_ns, 10, "o");
    CHECK_U64(system.bus_g_ns, 5, "g");
    CHECK(system.bus_G_ns_per_byte == (double)0.0038f, "G is single precision widened");
    CHECK_U64(system.implementation[SIM_ALL_REDUCE].count, 2, "two dimensions");
    CHECK_U64(system.implementation[SIM_ALL_REDUCE].list[1].window, 3, "direct3");
    CHECK_U64(system.implementation[SIM_ALL_TO_ALL].count, 1, "a single name is a list of one");
    CHECK(system.implementation[SIM_ALL_TO_ALL].list[0].one, "oneDirect2");
    CHECK_U64(system.implementation[SIM_REDUCE_SCATTER].count, 0, "none given");
    CHECK_TEXT(custom.native[SIM_ALL_GATHER], "dir/ag");
    CHECK(custom.native[SIM_ALL_REDUCE] == NULL, "none given");
    CHECK_TEXT(custom.per_node_file, "nodes.yml");
    reading_end(&reading);
}

static void absent_keys_have_their_defaults_and_the_doubtful_ones_are_noted(void **state)
{
    (void)state;
    struct reading reading;
    reading_begin(&reading, false);
    struct sim_system system;
    struct config_custom custom;
    CHECK_OK(parse(&reading, "{}", 3.0, &system, &custom), &reading.err);
    CHECK_U64(system.scheduling, SIM_LIFO, "scheduling-policy");
    CHECK_U64(system.optimization, SIM_LOCAL_BW_AWARE, "collective-optimization");
    CHECK_U64(system.endpoint_delay_ns, 10, "the injection scale does not touch the default");
    CHECK_U64(system.active_chunks_per_dimension, 1, "active-chunks-per-dimension");
    CHECK_U64(system.preferred_dataset_splits, 1, "preferred-dataset-splits");
    CHECK_U64(system.local_reduction_delay_ns, 1, "local-reduction-delay");
    CHECK(!system.roofline_enabled && !system.replay_only && !system.shared_bus, "switches are off");
    check_noted(&reading, "s.json: no \"scheduling-policy\"; LIFO is used");
    check_noted(&reading, "s.json: no \"collective-optimization\"; localBWAware is used");
    check_noted(&reading, "s.json: no \"active-chunks-per-dimension\"; 1 is used");
    check_noted(&reading, "s.json: no \"preferred-dataset-splits\"; 1 is used");
    check_noted(&reading, "s.json: \"local-mem-bw\" is 0 or missing; reductions are taken to cost no memory time");
    CHECK_U64(reading.notes.count, 5, "and nothing else is noted");
    reading_end(&reading);
}

static void the_injection_scale_cuts_a_given_delay(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double scale;
        uint64_t want;
    } cases[] = {
        {"{\"endpoint-delay\": 10}", 1.0, 10},   {"{\"endpoint-delay\": 10}", 0.55, 5},
        {"{\"endpoint-delay\": 10.9}", 2.0, 20}, {"{\"endpoint-delay\": 0}", 5.0, 0},
        {"{\"endpoint-delay\": 10}", 0.0, 0},    {"{\"endpoint-delay\": \"1us\"}", 1.5, 1500},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct reading reading;
        reading_begin(&reading, false);
        struct sim_system system;
        struct config_custom custom;
        CHECK_OK(parse(&reading, cases[i].text, cases[i].scale, &system, &custom), &reading.err);
        CHECK_U64(system.endpoint_delay_ns, cases[i].want, "%s times %g", cases[i].text, cases[i].scale);
        reading_end(&reading);
    }
    struct reading reading;
    reading_begin(&reading, false);
    struct sim_system system;
    struct config_custom custom;
    CHECK_STATUS(parse(&reading, "{\"endpoint-delay\": 10}", -1.0, &system, &custom), ORR_ERANGE);
    CHECK_CONTAINS(reading.err.text, "s.json:1: \"endpoint-delay\" 10 times the injection scale -1");
    reading_end(&reading);
}

static void bus_times_pass_through_single_precision(void **state)
{
    (void)state;
    struct reading reading;
    reading_begin(&reading, false);
    struct sim_system system;
    struct config_custom custom;
    CHECK_OK(parse(&reading, "{\"L\": 16777217, \"o\": 2.99999999999, \"g\": 7.9}", 1.0, &system, &custom),
             &reading.err);
    CHECK_U64(system.bus_L_ns, 16777216, "2^24 + 1 is no single-precision number");
    CHECK_U64(system.bus_o_ns, 3, "rounds up to 3 in single precision, then is cut");
    CHECK_U64(system.bus_g_ns, 7, "cut");
    check_noted(&reading, "s.json:1: \"g\" is 7.9; the fraction is dropped, as in ASTRA-sim: 7 is used");
    reading_end(&reading);
}

static void a_text_with_a_unit_is_a_quantity(void **state)
{
    (void)state;
    struct reading reading;
    reading_begin(&reading, false);
    struct sim_system system;
    struct config_custom custom;
    CHECK_OK(parse(&reading, "{\"local-mem-bw\": \"400Gbps\", \"endpoint-delay\": \"2 us\"}", 1.0, &system, &custom),
             &reading.err);
    CHECK(system.local_mem_bw_gbps == 50.0, "400 Gbit/s are 50 GB/s");
    CHECK_U64(system.endpoint_delay_ns, 2000, "2 us");
    CHECK_OK(parse(&reading, "{\"local-mem-bw\": \"33.3\"}", 1.0, &system, &custom), &reading.err);
    CHECK(system.local_mem_bw_gbps == 33.3, "a text without one is a bare number");
    reading_end(&reading);
}

static void unknown_keys_are_noted_with_their_line(void **state)
{
    (void)state;
    struct reading reading;
    reading_begin(&reading, false);
    struct sim_system system;
    struct config_custom custom;
    CHECK_OK(parse(&reading,
                   "{\n\n\"endpoint-dealy\":\n 5,\n\"zzz\": {\"endpoint-delay\": [1,\n2]},\n\"trace-enabled\": 1,\n"
                   "\"all-reduce-implementation\": [\"oneRing\",\n\"ring\"]}",
                   1.0, &system, &custom),
             &reading.err);
    check_noted(&reading, "s.json:3: unknown key \"endpoint-dealy\"; did you mean \"endpoint-delay\"? (ignored)");
    check_noted(&reading, "s.json:5: unknown key \"zzz\" (ignored)");
    check_noted(&reading,
                "s.json:9: \"all-reduce-implementation\" entry 2 has no effect: the entry before it spans all "
                "ranks");
    CHECK_U64(system.endpoint_delay_ns, 10, "an unknown key changes nothing");
    reading_end(&reading);

    reading_begin(&reading, true);
    CHECK_STATUS(parse(&reading, "{\n\"nonsense\": 1}", 1.0, &system, &custom), ORR_EINVAL);
    CHECK_CONTAINS(reading.err.text,
                   "s.json:2: unknown key \"nonsense\" (ignored) (an error because of parameter 'strict')");
    reading_end(&reading);
}

static void a_file_of_another_kind_gives_few_notes(void **state)
{
    (void)state;
    char text[4096] = "{";
    for (int i = 0; i < 200; i++) {
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s\"k%d\":0", i == 0 ? "" : ",\n", i);
    }
    strcat(text, "}");
    struct reading reading;
    reading_begin(&reading, false);
    struct sim_system system;
    struct config_custom custom;
    CHECK_OK(parse(&reading, text, 1.0, &system, &custom), &reading.err);
    check_noted(&reading, "s.json:9: more unknown keys follow; is this a system file?");
    CHECK(reading.notes.count < 20, "%u notes", reading.notes.count);
    reading_end(&reading);
}

static const struct bad_text bad[] = {
    {"", "s.json:1: the file is empty"},
    {" \n\t", "s.json:1: the file is empty"},
    {"[]", "s.json:1: found a list of 0; a map of keys to values is expected"},
    {"17", "s.json:1: column 2: '[' or '{' expected near '17'"},
    {"{\"L\": 1\n,}", "s.json:2: column 2: string or '}' expected near '}'"},
    {"{\"L\": 1", "s.json:1: column 7: '}' expected near end of file"},
    {"{\"L\": 1} x", "s.json:1: column 10: end of file expected near 'x'"},
    {"{\"L\": 1,\n\n\"L\": 2}", "s.json:3: column 3: duplicate object key near '\"L\"'"},
    {"{\"L\": NaN}", "invalid token near 'NaN'"},
    {"{\"L\": 1e999}", "real number overflow"},
    {"{\"L\": 99999999999999999999}", "too big integer"},
    {"{\"L\": \"\xff\"}", "s.json:1: column 7: unable to decode byte 0xff"},
    {"{\"L\": \"a\nb\"}", "s.json:1: column 8: unexpected newline"},
    {"{\n\"scheduling-policy\":\n\"LIFFO\"}",
     "s.json:3: \"scheduling-policy\" is \"LIFFO\"; accepted: LIFO, FIFO, EXPLICIT; did you mean \"LIFO\"?"},
    {"{\"scheduling-policy\": 1}", "s.json:1: \"scheduling-policy\" is 1; accepted: LIFO"},
    {"{\"scheduling-policy\": null}", "s.json:1: \"scheduling-policy\" is null; accepted: LIFO"},
    {"{\"endpoint-delay\": -1}", "s.json:1: \"endpoint-delay\" is -1; accepted: time, whole ns, 0 to 2147483647"},
    {"{\"endpoint-delay\": 2147483648}", "\"endpoint-delay\" is 2147483648; accepted"},
    {"{\"endpoint-delay\": true}", "\"endpoint-delay\" is true; accepted"},
    {"{\"endpoint-delay\": [10]}", "\"endpoint-delay\" is a list of 1; accepted"},
    {"{\"endpoint-delay\": \"10Gbps\"}", "\"Gbps\" is the unit of a rate, where a time is wanted"},
    {"{\"endpoint-delay\": \"10uss\"}", "unknown unit \"uss\"; did you mean \"us\"?"},
    {"{\"endpoint-delay\": \"soon\"}", "s.json:1: \"endpoint-delay\": \"soon\" is not a number with a unit, such as "
                                       "\"1.5us\" (accepted: time, whole ns, 0 to"},
    {"{\"active-chunks-per-dimension\": 0}", "\"active-chunks-per-dimension\" is 0; accepted: whole number, 1 to"},
    {"{\"active-chunks-per-dimension\": \"4\"}", "\"active-chunks-per-dimension\" is \"4\"; accepted: whole number"},
    {"{\n\"preferred-dataset-splits\": 0.5}", "s.json:2: \"preferred-dataset-splits\" is 0.5; accepted"},
    {"{\"local-mem-bw\": -3.5}", "\"local-mem-bw\" is -3.5; accepted: rate, GB/s, 0 to 1e+12, or a text"},
    {"{\"roofline-enabled\": 2}", "\"roofline-enabled\" is 2; accepted: 0 or 1"},
    {"{\"roofline-enabled\": \"yes\"}", "\"roofline-enabled\" is \"yes\"; accepted: 0 or 1"},
    {"{\n\"roofline-enabled\": 1, \"local-mem-bw\": 5}", "s.json:2: \"roofline-enabled\" needs \"peak-perf\" above 0"},
    {"{\"roofline-enabled\": 1, \"peak-perf\": 5}", "\"roofline-enabled\" needs \"local-mem-bw\" above 0"},
    {"{\"all-reduce-implementation\": [\n\"ring\",\n\"rnig\"]}",
     "s.json:3: \"all-reduce-implementation\" entry 2 is \"rnig\"; accepted: ring, oneRing, direct"},
    {"{\"all-reduce-implementation\": [\"rnig\"]}", "did you mean \"ring\"?"},
    {"{\"all-reduce-implementation\": \"direct0\"}", "\"all-reduce-implementation\" is \"direct0\"; accepted"},
    {"{\"all-reduce-implementation\": []}", "\"all-reduce-implementation\" is a list of 0; accepted"},
    {"{\"all-reduce-implementation\": [3]}", "\"all-reduce-implementation\" entry 1 is 3; accepted"},
    {"{\"all-reduce-implementation\": "
     "[\"ring\",\"ring\",\"ring\",\"ring\",\"ring\",\"ring\",\"ring\",\"ring\",\"ring\","
     "\"ring\",\"ring\",\"ring\",\"ring\",\"ring\",\"ring\",\"ring\",\n\"ring\"]}",
     "s.json:2: \"all-reduce-implementation\" has more than 16 entries"},
    {"{\"all-reduce-implementation-custom\": []}", "is a list of 0; accepted: list of one path prefix"},
    {"{\"all-reduce-implementation-custom\": [\"a\", \"b\"]}", "is a list of 2; accepted: list of one path prefix"},
    {"{\"all-reduce-implementation-custom\": [\"\"]}", "accepted: list of one path prefix"},
    {"{\"per-node-custom-implementation\": 5}", "\"per-node-custom-implementation\" is 5; accepted: path"},
    {"{\"local-mem-capacity\": \"80Gbps\"}", "\"local-mem-capacity\": "},
    {"{\"local-mem-capacity\": -1}",
     "\"local-mem-capacity\" is -1; accepted: size, bytes, 0 to 9e+15, or a text with a unit"},
    {"{\"track-local-mem\": 5}", "\"track-local-mem\" is 5; accepted: 0 or 1"},
    {"{\"scheduling-policy\": \"a\\nb\\u007f\"}", "\"scheduling-policy\" is \"a?b?\""},
    {"{\"scheduling-policy\": \"0123456789012345678901234567890123456789012345678901234567890123456789\"}",
     "is \"012345678901234567890123456789012345678901234567890123456789…\""},
};

static void a_bad_file_is_refused_with_its_line_and_what_is_accepted(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct reading reading;
        reading_begin(&reading, false);
        struct sim_system system = {.endpoint_delay_ns = 77};
        struct config_custom custom;
        check_refusal(&reading, parse(&reading, bad[i].text, 1.0, &system, &custom), &bad[i]);
        CHECK_U64(system.endpoint_delay_ns, 77, "outputs are written on success only");
        reading_end(&reading);
    }
}

static void deep_nesting_is_refused_and_a_long_flat_file_is_not(void **state)
{
    (void)state;
    static char text[200000];
    struct reading reading;
    struct sim_system system;
    struct config_custom custom;
    reading_begin(&reading, false);
    memset(text, '[', sizeof text - 1);
    CHECK_STATUS(parse(&reading, text, 1.0, &system, &custom), ORR_EINVAL);
    CHECK_CONTAINS(reading.err.text, "maximum parsing depth");
    (void)snprintf(text, sizeof text, "{\"boost-mode\":%.*s%.*s}", 40, "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 40,
                   "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]");
    CHECK_STATUS(parse(&reading, text, 1.0, &system, &custom), ORR_EINVAL);
    CHECK_CONTAINS(reading.err.text, "s.json:1: lists and maps are nested deeper than 32");
    strcpy(text, "{\"boost-mode\":[0");
    for (size_t i = 0; i < 50000; i++) {
        memcpy(text + 16 + i * 2, ",0", 2);
    }
    strcpy(text + 16 + 100000, "]}");
    CHECK_OK(parse(&reading, text, 1.0, &system, &custom), &reading.err);
    reading_end(&reading);
}

static void a_memory_limit_is_an_error_of_its_own(void **state)
{
    (void)state;
    const char *text = config_format_system.example;
    for (uint64_t limit = 1; limit < 40000; limit += 97) {
        struct reading reading;
        reading_begin(&reading, false);
        reading.mem.limit = limit;
        struct sim_system system;
        struct config_custom custom;
        enum orr_status status = parse(&reading, text, 1.0, &system, &custom);
        CHECK(status == ORR_OK || status == ORR_ENOMEM, "limit %" PRIu64 ": %s", limit, reading.err.text);
        CHECK(status == ORR_OK || limit < 30000, "30 kB are enough: %s", reading.err.text);
        reading_end(&reading);
    }
}

static void the_example_is_accepted_without_a_note(void **state)
{
    (void)state;
    struct reading reading;
    reading_begin(&reading, true);
    struct sim_system system;
    struct config_custom custom;
    CHECK_OK(parse(&reading, config_format_system.example, 1.0, &system, &custom), &reading.err);
    check_nothing_noted(&reading);
    CHECK_OK(parse(&reading, "\xef\xbb\xbf{}", 1.0, &system, &custom) == ORR_EINVAL ? ORR_OK : ORR_EFAIL, &reading.err);
    CHECK_CONTAINS(reading.err.text, "scheduling-policy"); /* a byte order mark is skipped; strict sees the default */
    reading_end(&reading);
}

static void a_file_that_cannot_be_read_says_why(void **state)
{
    (void)state;
    static const char *const paths[] = {"/nonexistent/system.json", "/", "/dev/zero"};
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        struct reading reading;
        reading_begin(&reading, false);
        struct sim_system system;
        struct config_custom custom;
        CHECK_STATUS(config_read_system(paths[i], 1.0, &reading.arena, &reading.notes, &system, &custom, &reading.err),
                     ORR_EIO);
        CHECK_CONTAINS(reading.err.text, paths[i]);
        reading_end(&reading);
    }
}

TEST_MAIN(every_key_reaches_its_place, absent_keys_have_their_defaults_and_the_doubtful_ones_are_noted,
          the_injection_scale_cuts_a_given_delay, bus_times_pass_through_single_precision,
          a_text_with_a_unit_is_a_quantity, unknown_keys_are_noted_with_their_line,
          a_file_of_another_kind_gives_few_notes, a_bad_file_is_refused_with_its_line_and_what_is_accepted,
          deep_nesting_is_refused_and_a_long_flat_file_is_not, a_memory_limit_is_an_error_of_its_own,
          the_example_is_accepted_without_a_note, a_file_that_cannot_be_read_says_why)
