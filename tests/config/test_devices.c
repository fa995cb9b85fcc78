/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of devices as users write them (config/devices.h). */
#include "config/devices.h"

#include <string.h>

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
        {"5=a100:@1500", 5, 312, 1500, 1},
        {"5=@1500GB/s:a100", 5, 312, 1500, 1},
        {"5=@1500", 5, 0, 1500, 1},
        {"5=linkx0.5", 5, 0, 0, 1},
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
        {"h100", "\"h100\" is not RANKS=DEVICE, as in 4-7=mi300x, nor a file"},
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
        {"0=linkx0", "or of link rates"},
        {"0=linkx0.5:linkx2", "\"linkx2\" says again"},
        {"0=link0.5", "or of link rates (linkx0.5)"},
        {"0=@", "nor TFLOPS@GB/s"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct sim_devices devices = {0};
        CHECK(read_list(cases[i].text, &devices) != ORR_OK, "\"%s\" is refused", cases[i].text);
        CHECK_CONTAINS(err.text, cases[i].says);
        CHECK(devices.kinds == NULL, "an output is written only on success");
        arena_free(&arena);
    }
}

static enum orr_status read_text(const char *text, struct sim_devices *devices)
{
    err = (struct orr_error){0};
    arena_init(&arena, &mem);
    return config_parse_devices_file("d.csv", text, strlen(text), RANKS, &arena, devices, &err);
}

static void a_file_says_what_a_list_says(void **state)
{
    (void)state;
    static const char list[] = "0-3=h100,4-7+9=mi300x:x1.25:linkx0.5,8=600@2000,10=a100:@1500,11=x1.5";
    static const char *const files[] = {
        "# two generations\n"
        "ranks,device,compute_factor,link_factor,tflops,memory\n"
        "0-3,h100,,,,\n4-7+9,mi300x,1.25,0.5,,\n8,,,,600,2000\n10,a100,,,,1500\n11,,1.5,,,\n",
        "[{\"ranks\": \"0-3\", \"device\": \"h100\"},\n"
        " {\"ranks\": \"4-7+9\", \"device\": \"mi300x\", \"compute_factor\": 1.25, \"link_factor\": 0.5},\n"
        " {\"ranks\": 8, \"tflops\": 600, \"memory\": 2000},\n"
        " {\"ranks\": 10, \"device\": \"a100\", \"memory\": 1500.0}, {\"ranks\": 11, \"compute_factor\": \"1.5\"}]",
        "{\"devices\": [{\"ranks\": \"0-3\", \"device\": \"h100\"}, {\"ranks\": \"4-7+9\", \"device\": "
        "\"mi300x:x1.25:linkx0.5\"}, {\"ranks\": 8, \"device\": \"600@2000\"},"
        "{\"ranks\": 10, \"device\": \"a100:@1500\"}, {\"ranks\": 11, \"device\": \"x1.5\"}]}",
    };
    struct sim_devices listed = {0};
    CHECK_OK(read_list(list, &listed), &err);
    struct arena listed_arena = arena;
    CHECK(device_of(&listed, 9)->link_factor == 0.5, "of the list");
    CHECK(device_of(&listed, 0)->link_factor == 1.0, "links are as they are where nothing is said");
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        struct sim_devices devices = {0};
        CHECK_OK(read_text(files[i], &devices), &err);
        CHECK(strcmp(devices.text, "d.csv") == 0, "reports show the file's name");
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            const struct sim_device *a = device_of(&listed, rank);
            const struct sim_device *b = device_of(&devices, rank);
            CHECK(a->peak_flops == b->peak_flops && a->memory_rate == b->memory_rate && a->scale == b->scale &&
                      a->link_factor == b->link_factor,
                  "file %zu, rank %u", i, rank);
        }
        arena_free(&arena);
    }
    arena_free(&listed_arena);
}

static void a_file_that_is_wrong_is_refused_by_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "d.csv"},
        {"ranks,device\n", "d.csv: no device in it"},
        {"ranks,devise\n0,h100\n", "d.csv:1: no column \"devise\" (did you mean \"device\"?)"},
        {"ranks,device\n0,h100\n1,h10\n", "d.csv:3: \"h10\" is neither a device (did you mean \"h100\"?)"},
        {"ranks,device\n0,h100\n0,a100\n", "d.csv:3: rank 0 is given two devices"},
        {"ranks,device\n,h100\n", "d.csv:2: no ranks"},
        {"ranks,device\n3,\n", "d.csv:2: the row says nothing of its ranks"},
        {"ranks,link_factor\n3,-1\n", "d.csv:2: \"linkx-1\" is neither"},
        {"ranks,compute_factor\n3,1:linkx4\n", "d.csv:2: compute_factor \"1:linkx4\" is not a number above 0"},
        {"ranks,tflops\n3,100\n", "d.csv:2: tflops needs memory (GB/s) beside it"},
        {"ranks,device\n12,h100\n", "d.csv:2: there is no rank 12"},
        {"[1]", "d.csv:1: not an object"},
        {"{\"a\": 1}", "d.csv:1: not a list"},
        {"[{\"ranks\": 0, \"device\": null}]", "d.csv:1: \"device\" is neither a number nor a text"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct sim_devices devices = {0};
        CHECK(read_text(cases[i].text, &devices) != ORR_OK, "\"%s\" is refused", cases[i].text);
        CHECK_CONTAINS(err.text, cases[i].says);
        CHECK(devices.kinds == NULL, "an output is written only on success");
        arena_free(&arena);
    }
    CHECK_U64(mem.used, 0, "all memory is given back");
}

TEST_MAIN(each_rank_has_the_device_it_was_given_and_the_others_the_system_files,
          a_list_that_is_wrong_is_refused_by_what_is_wrong, a_file_says_what_a_list_says,
          a_file_that_is_wrong_is_refused_by_its_line)
