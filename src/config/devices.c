/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which device each rank computes on, as the user lists it: "0-3=h100,4-7=mi300x:x1.1" (struct orr_run_options,
 * devices). The names stand for what their makers publish, so that a list of names needs no data sheets at hand.
 */
#include "config/devices.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "compute/device.h"
#include "presets.h"

enum { KINDS_MOST = 256, PART_MOST = 64 };

struct list {
    const char *text; /* all of it, for messages */
    uint32_t ranks;
    struct sim_device *kinds;
    uint32_t kind_count;
    uint16_t *of_rank;
    struct arena *arena;
    struct orr_error *err;
};

static enum orr_status config_devices_complain(const struct list *list, const char *at, size_t length, const char *what)
{
    return error_set(list->err, ORR_EINVAL, "devices: \"%.*s\" %s", (int)(length < 80 ? length : 80), at, what);
}

/* A number above 0 and what follows it, or NULL. Digits are wanted first: strtod would take "inf" and "0x1" too. */
static const char *read_positive(const char *at, double *value)
{
    char *end = NULL;
    if (strspn(at, "0123456789.") == 0 || (at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))) {
        return NULL;
    }
    *value = strtod(at, &end);
    return isfinite(*value) && *value > 0 ? end : NULL;
}

static const char *skip_word(const char *at, const char *word)
{
    size_t length = strlen(word);
    return strncmp(at, word, length) == 0 ? at + length : at;
}

/* "1307TFLOPS@5300GB/s"; both units may be left out. */
static bool read_rates(const char *part, struct sim_device *device)
{
    double tflops = 0;
    double gbytes = 0;
    const char *end = read_positive(part, &tflops);
    end = end == NULL ? NULL : skip_word(end, "TFLOPS");
    end = end == NULL || *end != '@' ? NULL : read_positive(end + 1, &gbytes);
    end = end == NULL ? NULL : skip_word(end, "GB/s");
    if (end == NULL || *end != '\0' || tflops > 1e9 || gbytes > 1e9) {
        return false;
    }
    device->peak_flops = tflops * 1e12;
    device->memory_rate = gbytes * 1e9;
    return true;
}

/* The peak of dense BF16 matrix products, of FP16 where there is none. */
static bool config_devices_read_name(const char *part, struct sim_device *device)
{
    for (uint32_t i = 0; i < device_count; i++) {
        const struct device *row = &device_rows[i];
        if (strcmp(row->name, part) == 0 || words_have(row->synonyms, part, strlen(part), false)) {
            double tflops = row->peaks[DEVICE_BF16] > 0 ? row->peaks[DEVICE_BF16] : row->peaks[DEVICE_FP16];
            device->peak_flops = tflops * 1e12;
            device->memory_rate = row->memory_rate * 1e9;
            return true;
        }
    }
    return false;
}

static bool read_factor(const char *part, struct sim_device *device)
{
    const char *end = part[0] == 'x' ? read_positive(part + 1, &device->scale) : NULL;
    return end != NULL && *end == '\0' && device->scale >= 1e-6 && device->scale <= 1e6;
}

static enum orr_status config_devices_read_part(const struct list *list, const char *part, struct sim_device *device)
{
    bool rated = device->peak_flops > 0;
    bool scaled = device->scale > 0;
    if ((!scaled && read_factor(part, device)) ||
        (!rated && (config_devices_read_name(part, device) || read_rates(part, device)))) {
        return ORR_OK;
    }
    struct sim_device again = {0};
    if ((scaled && read_factor(part, &again)) ||
        (rated && (config_devices_read_name(part, &again) || read_rates(part, &again)))) {
        return config_devices_complain(list, part, strlen(part), "says again what the device has been given already");
    }
    const char *near = error_nearest(part, device_names);
    return error_set(list->err, ORR_EINVAL,
                     "devices: \"%s\" is neither a device%s%s%s nor TFLOPS@GB/s (1307@5300) nor a factor of compute "
                     "times (x1.25); devices are %s",
                     part, near != NULL ? " (did you mean \"" : "", near != NULL ? near : "",
                     near != NULL ? "\"?)" : "", config_device_names());
}

/* What stands behind '=': parts with ':' between them. */
static enum orr_status config_devices_read_kind(struct list *list, const char *at, size_t length,
                                                struct sim_device *device)
{
    *device = (struct sim_device){.name = arena_strndup(list->arena, at, length)};
    if (device->name == NULL) {
        return error_set(list->err, ORR_ENOMEM, "out of memory reading the list of devices");
    }
    for (const char *end = at + length;; at++) {
        const char *colon = memchr(at, ':', (size_t)(end - at));
        size_t size = (size_t)((colon != NULL ? colon : end) - at);
        char part[PART_MOST];
        if (size == 0 || size >= sizeof part) {
            return config_devices_complain(list, device->name, length, "has a part that is empty or too long");
        }
        memcpy(part, at, size);
        part[size] = '\0';
        enum orr_status status = config_devices_read_part(list, part, device);
        if (status != ORR_OK || colon == NULL) {
            device->scale = device->scale > 0 ? device->scale : 1.0;
            return status;
        }
        at = colon;
    }
}

static const char *config_devices_read_rank(const char *at, uint32_t *rank)
{
    size_t digits = strspn(at, "0123456789");
    unsigned long long number = digits > 0 && digits <= 10 ? strtoull(at, NULL, 10) : UINT64_MAX;
    *rank = (uint32_t)number;
    return number < UINT32_MAX ? at + digits : NULL;
}

/* "0-3", "5", "0-3+8-11", up to '='. */
static enum orr_status take_ranks(struct list *list, const char *at, const char *equals)
{
    const char *whole = at;
    for (;;) {
        uint32_t first = 0;
        uint32_t last = 0;
        const char *end = config_devices_read_rank(at, &first);
        last = first;
        end = end != NULL && *end == '-' ? config_devices_read_rank(end + 1, &last) : end;
        if (end == NULL || end > equals || (end < equals && *end != '+') || last < first) {
            return config_devices_complain(list, whole, (size_t)(equals - whole),
                                           "is not a list of ranks such as 0-3+8-11");
        }
        if (last >= list->ranks) {
            return error_set(list->err, ORR_ERANGE,
                             "devices: there is no rank %" PRIu32 "; the machine has ranks 0 to %" PRIu32, last,
                             list->ranks - 1);
        }
        for (uint32_t rank = first; rank <= last; rank++) {
            if (list->of_rank[rank] != 0) {
                return error_set(list->err, ORR_EINVAL, "devices: rank %" PRIu32 " is given two devices", rank);
            }
            list->of_rank[rank] = (uint16_t)list->kind_count;
        }
        if (end == equals) {
            return ORR_OK;
        }
        at = end + 1;
    }
}

static enum orr_status take_entry(struct list *list, const char *at, size_t length)
{
    const char *equals = memchr(at, '=', length);
    if (equals == NULL) {
        return config_devices_complain(list, at, length, "is not RANKS=DEVICE, as in 4-7=mi300x");
    }
    if (list->kind_count == KINDS_MOST) {
        return error_set(list->err, ORR_ERANGE, "devices: more than %d entries", KINDS_MOST - 1);
    }
    enum orr_status status =
        config_devices_read_kind(list, equals + 1, length - (size_t)(equals + 1 - at), &list->kinds[list->kind_count]);
    if (status == ORR_OK) {
        status = take_ranks(list, at, equals);
    }
    list->kind_count++;
    return status;
}

bool config_device_find(const char *name, double *tflops, double *gbytes)
{
    struct sim_device device = {0};
    bool found = config_devices_read_name(name, &device);
    *tflops = device.peak_flops / 1e12;
    *gbytes = device.memory_rate / 1e9;
    return found;
}

const char *config_device_names(void)
{
#define DEVICES_X(name, ...) ", " name
    static const char all[] = PRESET_DEVICES(DEVICES_X);
#undef DEVICES_X
    return all + 2;
}

enum orr_status config_parse_devices(const char *text, uint32_t ranks, struct arena *arena, struct sim_devices *devices,
                                     struct orr_error *err)
{
    struct list list = {.text = text, .ranks = ranks, .arena = arena, .err = err, .kind_count = 1};
    list.kinds = arena_zalloc(arena, KINDS_MOST * sizeof *list.kinds);
    list.of_rank = arena_zalloc(arena, ranks * sizeof *list.of_rank);
    char *copy = arena_strndup(arena, text, strlen(text));
    if (list.kinds == NULL || list.of_rank == NULL || copy == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory reading the list of devices");
    }
    list.kinds[0].scale = 1.0;
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        enum orr_status status = take_entry(&list, at, length);
        if (status != ORR_OK) {
            return status;
        }
        at += length;
        if (*at == '\0') {
            break;
        }
    }
    *devices =
        (struct sim_devices){.text = copy, .kinds = list.kinds, .kind_count = list.kind_count, .of_rank = list.of_rank};
    return ORR_OK;
}
