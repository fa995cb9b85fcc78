/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of devices as users write them (config/devices.h). */
#include "config/devices.h"
#include "tests/check.h"

enum { RANKS = 12 };

static struct mem mem;
static struct arena arena;
static struct orr_error err;

static enum orr_status read_list(const char *text, struct sim_devices *devices)
{
    err = (struct orr_error){0};
    arena_init(&arena, &mem);
    return config_parse_devices(text, RANKS, &arena, devices, &err);
}

static const struct sim_device *device_of(const struct sim_devices *devices, uint32_t rank)
{
    return &devices->kinds[devices->of_rank[rank]];
}

static void each_rank_has_the_device_it_was_given_and_the_others_the_system_files(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t rank;
        double tflops, gbytes, scale;
    } cases[] = {
        {"0-3=h100,4-7=mi300x", 3, 989.4, 3350, 1},
        {"0-3=h100,4-7=mi300x", 4, 1307.4, 5300, 1},
        {"0-3=h100,4-7=mi300x", 8, 0, 0, 1},
        {"0-1+10-11=x1.25", 10, 0, 0, 1.25},
        {"0-1+10-11=x1.25", 9, 0, 0, 1},
        {"5=1307.5@5300", 5, 1307.5, 5300, 1},
        {"5=1307TFLOPS@5300GB/s:x2", 5, 1307, 5300, 2},
        {"5=x2:a100", 5, 312, 2039, 2},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct sim_devices devices = {0};
        CHECK_OK(read_list(cases[i].text, &devices), &err);
        const struct sim_device *device = device_of(&devices, cases[i].rank);
        CHECK(device->peak_flops == cases[i].tflops * 1e12, "%s: %g", cases[i].text, device->peak_flops);
        CHECK(device->memory_rate == cases[i].gbytes * 1e9, "%s: %g", cases[i].text, device->memory_rate);
        CHECK(device->scale == cases[i].scale, "%s: %g", cases[i].text, device->scale);
        arena_free(&arena);
    }
}

static void a_list_that_is_wrong_is_refused_by_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "\"\" is not RANKS=DEVICE"},
        {"h100", "\"h100\" is not RANKS=DEVICE, as in 4-7=mi300x"},
        {"0-3=h100,", "\"\" is not RANKS=DEVICE"},
        {"0-3=h10", "did you mean \"h100\"?"},
        {"0-3=h101", "devices are a100-40g, a100, a800, b200"},
        {"0-3=", "a part that is empty"},
        {"0-3=h100:", "a part that is empty"},
        {"=h100", "is not a list of ranks"},
        {"3-0=h100", "\"3-0\" is not a list of ranks such as 0-3+8-11"},
        {"0-3,4=h100", "\"0-3\" is not RANKS=DEVICE"},
        {"0x1=h100", "is not a list of ranks"},
        {"12=h100", "there is no rank 12; the machine has ranks 0 to 11"},
        {"0-4294967295=h100", "is not a list of ranks"},
        {"0-3=h100,3=a100", "rank 3 is given two devices"},
        {"0=h100:a100", "\"a100\" says again"},
        {"0=x2:x2", "\"x2\" says again"},
        {"0=x0", "nor a factor"},
        {"0=x-1", "nor a factor"},
        {"0=xinf", "nor a factor"},
        {"0=x1e400", "nor a factor"},
        {"0=0@5300", "nor TFLOPS@GB/s"},
        {"0=1307@", "nor TFLOPS@GB/s"},
        {"0=1307@5300TB/s", "nor TFLOPS@GB/s"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct sim_devices devices = {0};
        CHECK(read_list(cases[i].text, &devices) != ORR_OK, "\"%s\" is refused", cases[i].text);
        CHECK_CONTAINS(err.text, cases[i].says);
        CHECK(devices.kinds == NULL, "an output is written only on success");
        arena_free(&arena);
    }
}

TEST_MAIN(each_rank_has_the_device_it_was_given_and_the_others_the_system_files,
          a_list_that_is_wrong_is_refused_by_what_is_wrong)
