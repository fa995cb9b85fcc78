/* SPDX-License-Identifier: Apache-2.0 */
/* What a generator was asked for, and the machine it fills: values, limits, and one sentence for each mistake. */
#include "tests/check.h"
#include "topo/make/make.h"

static struct topo_settings with(enum topo_setting id, const char *value)
{
    struct topo_settings settings = {.what = "a machine"};
    settings.value[id] = value;
    return settings;
}

static void a_setting_is_taken_by_its_name_and_an_unknown_one_names_the_nearest(void **state)
{
    (void)state;
    struct topo_settings settings = {.what = "a machine"};
    struct orr_error err = {0};
    CHECK_OK(topo_settings_take(&settings, "per-leaf", "8", &err), &err);
    CHECK_TEXT(settings.value[TOPO_SET_PER_LEAF], "8");
    assert_true(topo_settings_has(&settings, TOPO_SET_PER_LEAF) && !topo_settings_has(&settings, TOPO_SET_HOSTS));
    CHECK_STATUS(topo_settings_take(&settings, "per-laef", "8", &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "unknown setting \"per-laef\" of a topology; did you mean \"per-leaf\"?");
    CHECK_STATUS(topo_settings_take(&settings, "zzzzzzzzzzzz", "8", &err), ORR_EINVAL);
    CHECK_TEXT(err.text, "unknown setting \"zzzzzzzzzzzz\" of a topology");
}

static void a_count_is_a_whole_number_within_its_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum orr_status status;
        uint64_t value;
    } cases[] = {
        {NULL, ORR_OK, 12},   {"2", ORR_OK, 2},       {"100", ORR_OK, 100},  {"0100", ORR_OK, 100},
        {"1", ORR_ERANGE, 7}, {"101", ORR_ERANGE, 7}, {"4k", ORR_EINVAL, 7}, {"-4", ORR_EINVAL, 7},
        {"", ORR_EINVAL, 7},  {"1.0", ORR_EINVAL, 7}, {" 4", ORR_EINVAL, 7}, {"18446744073709551618", ORR_ERANGE, 7},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_settings settings = with(TOPO_SET_HOSTS, cases[i].text);
        struct orr_error err = {0};
        uint64_t value = 7;
        CHECK_STATUS(topo_settings_count(&settings, TOPO_SET_HOSTS, 12, 2, 100, &value, &err), cases[i].status);
        CHECK_U64(value, cases[i].value, "\"%s\"", cases[i].text == NULL ? "nothing" : cases[i].text);
    }
}

static void of_a_list_the_last_item_holds_for_all_that_follow(void **state)
{
    (void)state;
    struct topo_settings settings = with(TOPO_SET_BANDWIDTH, "400Gbps,200Gbps,1GB/s");
    static const uint64_t gbps[] = {400, 200, 8, 8, 8};
    struct orr_error err = {0};
    struct topo_quantity rate;
    for (unsigned i = 0; i < COUNT_OF(gbps); i++) {
        CHECK_OK(topo_settings_rate(&settings, TOPO_SET_BANDWIDTH, i, "1Gbps", &rate, &err), &err);
        CHECK_U64(rate.value, gbps[i] * 1000000000, "item %u", i);
    }
    CHECK_OK(topo_settings_rate(&settings, TOPO_SET_HOST_BANDWIDTH, 3, "25Gbps", &rate, &err), &err);
    CHECK_U64(rate.value, 25000000000, "what holds where nothing is said");
}

static void what_is_no_quantity_is_refused_with_its_setting(void **state)
{
    (void)state;
    static const struct {
        enum topo_setting id;
        const char *text;
        enum orr_status status;
        const char *says;
    } cases[] = {
        {TOPO_SET_BANDWIDTH, "400Gbps,,1", ORR_EINVAL, "is not a list of quantities, such as 400Gbps,200Gbps"},
        {TOPO_SET_BANDWIDTH, "400Gpbs", ORR_EINVAL, "did you mean \"Gbps\"?"},
        {TOPO_SET_BANDWIDTH, "0", ORR_ERANGE, "a link of rate 0 carries nothing"},
        {TOPO_SET_BANDWIDTH, "1000000000000000000000000000000000Gbps", ORR_EINVAL, "is not a rate"},
        {TOPO_SET_LATENCY, "1us,", ORR_EINVAL, "such as 1us,500ns"},
        {TOPO_SET_LATENCY, "1000000000000000000000000000000000us", ORR_EINVAL, "is not a time"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_settings settings = with(cases[i].id, cases[i].text);
        struct orr_error err = {0};
        struct topo_quantity quantity;
        bool rate = cases[i].id == TOPO_SET_BANDWIDTH;
        unsigned index = 1; /* of a list of one item that is the first */
        CHECK_STATUS(rate ? topo_settings_rate(&settings, cases[i].id, index, "1", &quantity, &err)
                          : topo_settings_time(&settings, cases[i].id, index, "1", &quantity, &err),
                     cases[i].status);
        CHECK_CONTAINS(err.text, cases[i].says);
    }
}

static void a_loss_is_a_share_and_a_ratio_two_numbers_above_0(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum orr_status status;
    } losses[] = {{"0", ORR_OK},         {"1", ORR_OK},
                  {"1e-6", ORR_OK},      {"1.01", ORR_ERANGE},
                  {"-0.1", ORR_ERANGE},  {"", ORR_EINVAL},
                  {"0.1x", ORR_EINVAL},  {"nan", ORR_EINVAL},
                  {"1e999", ORR_EINVAL}, {"0.0000000000000000000000001", ORR_ERANGE}};
    static const struct {
        const char *text;
        uint64_t down, up; /* 0: refused */
    } ratios[] = {{"3:1", 3, 1}, {"3", 3, 1},  {"7:4", 7, 4}, {"0:1", 0, 0},   {"1:0", 0, 0},
                  {":1", 0, 0},  {"3:", 0, 0}, {"", 0, 0},    {"3:1:1", 0, 0}, {"10000:1", 0, 0}};
    for (size_t i = 0; i < COUNT_OF(losses); i++) {
        struct topo_settings settings = with(TOPO_SET_LOSS, losses[i].text);
        struct orr_error err = {0};
        const char *text = NULL;
        double loss = 0;
        CHECK_STATUS(topo_settings_loss(&settings, &loss, &text, &err), losses[i].status);
        CHECK(losses[i].status != ORR_OK || text == losses[i].text, "the file will say it as the user did");
    }
    for (size_t i = 0; i < COUNT_OF(ratios); i++) {
        struct topo_settings settings = with(TOPO_SET_OVERSUBSCRIPTION, ratios[i].text);
        struct orr_error err = {0};
        uint64_t down = 0;
        uint64_t up = 0;
        CHECK_STATUS(topo_settings_ratio(&settings, TOPO_SET_OVERSUBSCRIPTION, &down, &up, &err),
                     ratios[i].down > 0 ? ORR_OK : ORR_EINVAL);
        CHECK(down == ratios[i].down && up == ratios[i].up, "\"%s\" is %" PRIu64 ":%" PRIu64, ratios[i].text, down, up);
    }
}

static void rates_and_times_of_ours_are_spelled_in_the_largest_unit_that_is_exact(void **state)
{
    (void)state;
    CHECK_TEXT(topo_rate(400000000000).text, "400Gbps");
    CHECK_TEXT(topo_rate(2500000000).text, "2500Mbps");
    CHECK_TEXT(topo_rate(1234000).text, "1234Kbps");
    CHECK_TEXT(topo_rate(7).text, "7bps");
    CHECK_TEXT(topo_time(2000).text, "2us");
    CHECK_TEXT(topo_time(1500).text, "1500ns");
    CHECK_TEXT(topo_time(0).text, "0ns");
}

static void links_of_equal_rate_and_delay_are_one_class(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct orr_error err = {0};
    struct topo_made made;
    struct topo_settings none = {.what = "a machine"};
    CHECK_OK(topo_made_init(&made, &none, "H100", &mem, &err), &err);
    struct topo_quantity fast = topo_rate(400), slow = topo_rate(25), near = topo_time(5), far = topo_time(500);
    CHECK_U64(topo_made_class(&made, &fast, &near), 0, "the first");
    CHECK_U64(topo_made_class(&made, &slow, &near), 1, "another rate");
    CHECK_U64(topo_made_class(&made, &fast, &far), 2, "another delay");
    CHECK_U64(topo_made_class(&made, &fast, &near), 0, "the first again");
    CHECK_OK(topo_made_end(&made, &err), &err);
    for (uint64_t rate = 1000; rate < 1100; rate++) {
        struct topo_quantity own = topo_rate(rate);
        (void)topo_made_class(&made, &own, &near);
    }
    CHECK_STATUS(topo_made_end(&made, &err), ORR_ERANGE);
    CHECK_CONTAINS(err.text, "of more than 64 kinds");
    topo_made_free(&made);
}

static void a_machine_past_the_limits_is_refused_before_it_is_made(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct orr_error err = {0};
    struct topo_made made;
    struct topo_settings none = {.what = "a machine"};
    CHECK_OK(topo_made_init(&made, &none, "H100", &mem, &err), &err);
    CHECK_OK(topo_made_nodes(&made, TOPO_NODES_MOST - 2, 1, 1, &err), &err);
    CHECK_STATUS(topo_made_nodes(&made, TOPO_NODES_MOST - 1, 1, 1, &err), ORR_ERANGE);
    CHECK_STATUS(topo_made_nodes(&made, UINT64_MAX, 1, 1, &err), ORR_ERANGE);
    CHECK_STATUS(topo_made_expect(&made, (uint64_t)TOPO_LINKS_MOST + 1, &err), ORR_ERANGE);
    CHECK_CONTAINS(err.text, "67108865 links; at most 67108864 are made");
    CHECK_U64(mem.used, 0, "nothing was made");
    mem.limit = 64;
    CHECK_STATUS(topo_made_expect(&made, 1000, &err), ORR_ENOMEM);
    for (uint32_t i = 0; i < 100; i++) {
        topo_made_link(&made, i, i + 1, 0);
    }
    CHECK_STATUS(topo_made_end(&made, &err), ORR_ENOMEM);
    topo_made_free(&made);
    CHECK_U64(mem.used, 0, "everything is given back");
}

static void a_gpu_type_is_one_word(void **state)
{
    (void)state;
    static const char *const bad[] = {"",      "two words",   "a/b",
                                      "tab\t", "caf\xc3\xa9", "a_name_of_more_than_31_letters____"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct mem mem = {0};
        struct orr_error err = {0};
        struct topo_made made;
        struct topo_settings settings = with(TOPO_SET_GPU_TYPE, bad[i]);
        CHECK_STATUS(topo_made_init(&made, &settings, "H100", &mem, &err), ORR_EINVAL);
        CHECK_CONTAINS(err.text, "is not one word, such as H100");
    }
}

/* Each of the machines that have a name, as it is where nothing is said. */
static void every_preset_is_found_by_its_name_in_any_case_and_made_as_it_stands(void **state)
{
    (void)state;
    size_t count = 0;
    for (const struct topo_preset *preset; (preset = topo_preset_at(count)) != NULL; count++) {
        char loud[64];
        const struct topo_preset *found = NULL;
        struct orr_error err = {0};
        size_t length = strlen(preset->name);
        for (size_t i = 0; i <= length; i++) {
            loud[i] = preset->name[i] >= 'a' && preset->name[i] <= 'z' ? (char)(preset->name[i] - 32) : preset->name[i];
        }
        CHECK_OK(topo_preset_find(loud, &found, &err), &err);
        CHECK(found == preset, "%s is not %s", loud, found->name);
        CHECK(preset->summary[0] != '\0' && preset->defaults[0] != '\0', "%s says what it is", preset->name);
    }
    CHECK(count > 15, "%zu machines", count);
}

static void a_setting_that_a_machine_does_not_take_is_refused(void **state)
{
    (void)state;
    size_t refused = 0;
    const struct topo_preset *preset;
    for (size_t i = 0; (preset = topo_preset_at(i)) != NULL; i++) {
        for (unsigned id = 0; id < TOPO_SET_COUNT; id++) {
            struct mem mem = {0};
            struct notes notes;
            struct orr_error err = {0};
            struct topo_made made;
            struct topo_settings settings = with((enum topo_setting)id, "2");
            if (topo_preset_takes(preset, (enum topo_setting)id)) {
                continue;
            }
            settings.what = preset->name;
            notes_init(&notes, &mem, false);
            CHECK_STATUS(topo_make(preset->name, &settings, &notes, &made, &mem, &err), ORR_EINVAL);
            CHECK_CONTAINS(err.text, preset->name);
            notes_free(&notes);
            CHECK_U64(mem.used, 0, "nothing is left of %s", preset->name);
            refused++;
        }
    }
    CHECK(refused > 100, "%zu were refused", refused);
}

TEST_MAIN(a_setting_is_taken_by_its_name_and_an_unknown_one_names_the_nearest,
          a_count_is_a_whole_number_within_its_bounds, of_a_list_the_last_item_holds_for_all_that_follow,
          what_is_no_quantity_is_refused_with_its_setting, a_loss_is_a_share_and_a_ratio_two_numbers_above_0,
          rates_and_times_of_ours_are_spelled_in_the_largest_unit_that_is_exact,
          links_of_equal_rate_and_delay_are_one_class, a_machine_past_the_limits_is_refused_before_it_is_made,
          a_gpu_type_is_one_word, every_preset_is_found_by_its_name_in_any_case_and_made_as_it_stands,
          a_setting_that_a_machine_does_not_take_is_refused)
