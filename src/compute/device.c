/* SPDX-License-Identifier: Apache-2.0 */
/* The rows are made from presets/devices at build time (tools/presets), so that adding a device is adding a file. */
#include "compute/device.h"

#include <string.h>
#include <strings.h>

#include "base/words.h"
#include "io/value.h"
#include "presets.h"

const struct device device_rows[] = {
#define DEVICE_X(name, synonyms, bf16, fp16, fp8, fp4, tf32, fp32, rate, memory, architecture, units, l2, power,       \
                 sustained, matrix, relatives, source)                                                                 \
    {name,      synonyms, {bf16, fp16, fp8, fp4, tf32, fp32},                                                          \
     rate,      memory,   architecture,                                                                                \
     units,     l2,       power,                                                                                       \
     sustained, matrix,   relatives,                                                                                   \
     source},
    PRESET_DEVICES(DEVICE_X)
#undef DEVICE_X
};
const uint32_t device_count = sizeof device_rows / sizeof device_rows[0];

const char *const device_names[] = {
#define DEVICE_X(name, ...) name,
    PRESET_DEVICES(DEVICE_X)
#undef DEVICE_X
        NULL};

uint32_t device_find(const char *name)
{
    for (uint32_t i = 0; i < device_count; i++) {
        if (strcasecmp(device_rows[i].name, name) == 0 ||
            words_have(device_rows[i].synonyms, name, strlen(name), true)) {
            return i;
        }
    }
    return device_count;
}

enum orr_status device_named(const char *name, uint32_t *device, struct orr_error *err)
{
    uint32_t found = device_find(name);
    if (found == device_count) {
        const char *near = error_nearest(name, device_names);
        char shown[64];
        return error_set(err, ORR_EINVAL, "unknown device \"%s\"%s%s%s; orrery op list prints all",
                         io_text_printable(name, shown, sizeof shown), near != NULL ? " (did you mean \"" : "",
                         near != NULL ? near : "", near != NULL ? "\"?)" : "");
    }
    *device = found;
    return ORR_OK;
}

double device_peak_of(const struct device *device, enum device_peak peak)
{
    static const enum device_peak wider[DEVICE_PEAKS] = {
        [DEVICE_FP4] = DEVICE_FP8,   [DEVICE_FP8] = DEVICE_BF16,  [DEVICE_BF16] = DEVICE_FP16,
        [DEVICE_FP16] = DEVICE_FP32, [DEVICE_TF32] = DEVICE_FP32, [DEVICE_FP32] = DEVICE_FP32,
    };
    while (device->peaks[peak] <= 0 && peak != DEVICE_FP32) {
        peak = wider[peak];
    }
    /* A TPU's maker gives one figure, that of bf16. */
    return device->peaks[peak] > 0 ? device->peaks[peak] : device->peaks[DEVICE_BF16] / 4;
}

bool device_is_kin(const struct device *a, const struct device *b)
{
    size_t length = strcspn(a->architecture, "-");
    return strncmp(a->architecture, b->architecture, length) == 0 &&
           (b->architecture[length] == '\0' || b->architecture[length] == '-');
}
