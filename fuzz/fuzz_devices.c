/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of devices, and files of them. Besides not crashing: a refusal is one line, and what is taken gives each of the
 * ranks a device that has its factors. */
#include <string.h>

#include "config/devices.h"
#include "fuzz/reading.h"

enum { RANKS = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_taken(const struct sim_devices *devices)
{
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        if (devices->of_rank[rank] >= devices->kind_count) {
            abort();
        }
        const struct sim_device *device = &devices->kinds[devices->of_rank[rank]];
        if (!(device->scale > 0) || !(device->link_factor > 0) ||
            (device->peak_flops > 0 && device->memory_rate == 0)) {
            abort();
        }
    }
}

/* A refusal quotes the word, which may hold anything; the program shows it with '?' for what is not printable. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    struct sim_devices devices;
    fuzz_reading_begin(&reading);
    char *text = arena_strndup(&reading.arena, (const char *)data, size);
    for (char *at = text; at != NULL && *at != '\0'; at++) {
        *at = (unsigned char)*at < 0x20 ? '?' : *at;
    }
    enum orr_status read =
        config_parse_devices_file("fuzz", (const char *)data, size, RANKS, &reading.arena, &devices, &reading.err);
    fuzz_check_status(&reading, read);
    if (read == ORR_OK) {
        check_taken(&devices);
    }
    if (text != NULL) {
        enum orr_status status = config_parse_devices(text, RANKS, &reading.arena, &devices, &reading.err);
        fuzz_check_status(&reading, status);
        if (status == ORR_OK) {
            check_taken(&devices);
        }
    }
    fuzz_reading_end(&reading);
    return 0;
}
