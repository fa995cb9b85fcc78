/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which device each rank computes on, as the user lists it: "0-3=h100,4-7=mi300x:x1.1" (struct orr_run_options,
 * devices). The names stand for what their makers publish, so that a list of names needs no data sheets at hand. A row
 * of a file is put together as an entry of the list, so that both mean the same.
 */
#include "config/devices.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "base/words.h"
#include "compute/device.h"
#include "config/rows.h"
#include "io/value.h"
#include "presets.h"

enum { KINDS_MOST = UINT16_MAX, PART_MOST = 64, PLACE_MOST = 300, ENTRY_MOST = 600 };

struct list {
    char where[PLACE_MOST]; /* before a message: "devices", or a file and its line */
    uint32_t ranks;
    struct sim_device *kinds;
    uint32_t kind_count, kind_capacity;
    uint16_t *of_rank;
    struct arena *arena;
    struct orr_error *err;
};

static enum orr_status config_devices_complain(const struct list *list, const char *at, size_t length, const char *what)
{
    return error_set(list->err, ORR_EINVAL, "%s: \"%.*s\" %s", list->where, (int)(length < 80 ? length : 80), at, what);
}

/* A number above 0 and what follows it, or NULL. Digits are wanted first: strtod would take "inf" and "0x1" too. */
static const char *read_positive(const char *at, double *value)
{
    char *end = NULL;
    if (strspn(at, "0123456789.") == 0 || (at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))) {
        return NULL;
    }
    *value = plain_strtod(at, &end);
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

/* "x1.25", "linkx0.5". */
static bool read_factor(const char *part, const char *word, double *factor)
{
    const char *at = skip_word(part, word);
    const char *end = at > part ? read_positive(at, factor) : NULL;
    return end != NULL && *end == '\0' && *factor >= 1e-6 && *factor <= 1e6;
}

/* "@5300GB/s": of the memory alone. */
static bool read_memory_rate(const char *part, struct sim_device *device)
{
    double gbytes = 0;
    const char *end = part[0] == '@' ? read_positive(part + 1, &gbytes) : NULL;
    end = end == NULL ? NULL : skip_word(end, "GB/s");
    device->memory_rate = end != NULL ? gbytes * 1e9 : device->memory_rate;
    return end != NULL && *end == '\0' && gbytes <= 1e9;
}

/* What a part says of a device that has nothing of it yet; false: nothing that is known. */
static bool read_part_alone(const char *part, struct sim_device *said)
{
    *said = (struct sim_device){0};
    return read_factor(part, "x", &said->scale) || read_factor(part, "linkx", &said->link_factor) ||
           read_memory_rate(part, said) || config_devices_read_name(part, said) || read_rates(part, said);
}

static enum orr_status config_devices_read_part(const struct list *list, const char *part, struct sim_device *device)
{
    struct sim_device said;
    if (read_part_alone(part, &said)) {
        bool rates = said.peak_flops > 0;
        if ((said.scale > 0 && device->scale > 0) || (said.link_factor > 0 && device->link_factor > 0) ||
            (rates && device->peak_flops > 0)) {
            return config_devices_complain(list, part, strlen(part),
                                           "says again what the device has been given already");
        }
        device->scale = said.scale > 0 ? said.scale : device->scale;
        device->link_factor = said.link_factor > 0 ? said.link_factor : device->link_factor;
        device->peak_flops = rates ? said.peak_flops : device->peak_flops;
        /* The memory's rate alone goes before a name's, whichever comes first. */
        bool own = said.memory_rate > 0 && !(rates && device->memory_rate > 0);
        device->memory_rate = own ? said.memory_rate : device->memory_rate;
        return ORR_OK;
    }
    const char *near = error_nearest(part, device_names);
    return error_set(list->err, ORR_EINVAL,
                     "%s: \"%s\" is neither a device%s%s%s nor TFLOPS@GB/s (1307@5300) nor a factor of compute "
                     "times (x1.25) or of link rates (linkx0.5); devices are %s",
                     list->where, part, near != NULL ? " (did you mean \"" : "", near != NULL ? near : "",
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
            device->link_factor = device->link_factor > 0 ? device->link_factor : 1.0;
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

const char *config_rank_range(const char *at, uint32_t *first, uint32_t *last)
{
    const char *end = config_devices_read_rank(at, first);
    *last = *first;
    end = end != NULL && *end == '-' ? config_devices_read_rank(end + 1, last) : end;
    return *last >= *first ? end : NULL;
}

/* "0-3", "5", "0-3+8-11", up to '='. */
static enum orr_status take_ranks(struct list *list, const char *at, const char *equals)
{
    const char *whole = at;
    for (;;) {
        uint32_t first = 0;
        uint32_t last = 0;
        const char *end = config_rank_range(at, &first, &last);
        if (end == NULL || end > equals || (end < equals && *end != '+')) {
            return config_devices_complain(list, whole, (size_t)(equals - whole),
                                           "is not a list of ranks such as 0-3+8-11");
        }
        if (last >= list->ranks) {
            return error_set(list->err, ORR_ERANGE,
                             "%s: there is no rank %" PRIu32 "; the machine has ranks 0 to %" PRIu32, list->where, last,
                             list->ranks - 1);
        }
        for (uint32_t rank = first; rank <= last; rank++) {
            if (list->of_rank[rank] != 0) {
                return error_set(list->err, ORR_EINVAL, "%s: rank %" PRIu32 " is given two devices", list->where, rank);
            }
            list->of_rank[rank] = (uint16_t)list->kind_count;
        }
        if (end == equals) {
            return ORR_OK;
        }
        at = end + 1;
    }
}

static enum orr_status room_for_kind(struct list *list)
{
    if (list->kind_count == KINDS_MOST) {
        return error_set(list->err, ORR_ERANGE, "%s: more than %d entries", list->where, KINDS_MOST - 1);
    }
    if (list->kind_count < list->kind_capacity) {
        return ORR_OK;
    }
    uint32_t capacity = list->kind_capacity * 2;
    struct sim_device *larger = arena_zalloc(list->arena, capacity * sizeof *larger);
    if (larger == NULL) {
        return error_set(list->err, ORR_ENOMEM, "out of memory reading the list of devices");
    }
    memcpy(larger, list->kinds, list->kind_count * sizeof *larger);
    list->kinds = larger;
    list->kind_capacity = capacity;
    return ORR_OK;
}

static enum orr_status take_entry(struct list *list, const char *at, size_t length)
{
    const char *equals = memchr(at, '=', length);
    if (equals == NULL) {
        return config_devices_complain(list, at, length, "is not RANKS=DEVICE, as in 4-7=mi300x, nor a file");
    }
    enum orr_status status = room_for_kind(list);
    if (status == ORR_OK) {
        status = config_devices_read_kind(list, equals + 1, length - (size_t)(equals + 1 - at),
                                          &list->kinds[list->kind_count]);
    }
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

static enum orr_status list_begin(struct list *list, uint32_t ranks, struct arena *arena, struct orr_error *err)
{
    *list = (struct list){
        .where = "devices", .ranks = ranks, .arena = arena, .err = err, .kind_count = 1, .kind_capacity = 16};
    list->kinds = arena_zalloc(arena, list->kind_capacity * sizeof *list->kinds);
    list->of_rank = arena_zalloc(arena, ranks * sizeof *list->of_rank);
    if (list->kinds == NULL || list->of_rank == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory reading the list of devices");
    }
    list->kinds[0] = (struct sim_device){.scale = 1.0, .link_factor = 1.0};
    return ORR_OK;
}

static enum orr_status list_end(const struct list *list, const char *text, struct sim_devices *devices)
{
    char *copy = arena_strndup(list->arena, text, strlen(text));
    if (copy == NULL) {
        return error_set(list->err, ORR_ENOMEM, "out of memory reading the list of devices");
    }
    *devices = (struct sim_devices){
        .text = copy, .kinds = list->kinds, .kind_count = list->kind_count, .of_rank = list->of_rank};
    return ORR_OK;
}

enum orr_status config_parse_devices(const char *text, uint32_t ranks, struct arena *arena, struct sim_devices *devices,
                                     struct orr_error *err)
{
    struct list list;
    enum orr_status status = list_begin(&list, ranks, arena, err);
    for (const char *at = text; status == ORR_OK; at++) {
        size_t length = strcspn(at, ",");
        status = take_entry(&list, at, length);
        at += length;
        if (*at == '\0') {
            break;
        }
    }
    return status == ORR_OK ? list_end(&list, text, devices) : status;
}

/* ---- a file ---- */

enum column { RANKS, DEVICE, COMPUTE_FACTOR, TFLOPS, MEMORY, LINK_FACTOR, COLUMN_COUNT };

static const char *const columns[] = {"ranks", "device", "compute_factor", "tflops", "memory", "link_factor", NULL};

/* A row as an entry of the list: "0-3+8=h100:x1.1:@4000:linkx0.5". */
static enum orr_status take_cells(void *context, const char *where, const char *const *cells, struct orr_error *err)
{
    struct list *list = context;
    static const char *const before[] = {"", "", "x", "", "@", "linkx"};
    char entry[ENTRY_MOST];
    (void)snprintf(list->where, sizeof list->where, "%s", where);
    if (cells[RANKS] == NULL) {
        return error_set(err, ORR_EINVAL, "%s: no ranks, as in 0-3 or 0-3+8-11", list->where);
    }
    size_t length = (size_t)snprintf(entry, sizeof entry, "%s", cells[RANKS]);
    char between = '=';
    for (uint32_t i = DEVICE; i < COLUMN_COUNT && length < sizeof entry; i++) {
        if (cells[i] == NULL) {
            continue;
        }
        if (strpbrk(cells[i], ":,=") != NULL && i != DEVICE) {
            char shown[PART_MOST];
            return error_set(list->err, ORR_EINVAL, "%s: %s \"%s\" is not a number above 0", list->where, columns[i],
                             io_text_printable(cells[i], shown, sizeof shown));
        }
        bool pair = i == TFLOPS && cells[MEMORY] != NULL;
        if (i == TFLOPS && !pair) {
            return error_set(list->err, ORR_EINVAL, "%s: tflops needs memory (GB/s) beside it", list->where);
        }
        length += (size_t)snprintf(entry + length, sizeof entry - length, "%c%s%s", between, before[i], cells[i]);
        if (pair && length < sizeof entry) {
            length += (size_t)snprintf(entry + length, sizeof entry - length, "@%s", cells[MEMORY]);
            i++;
        }
        between = ':';
    }
    if (length >= sizeof entry) {
        return error_set(list->err, ORR_EINVAL, "%s: the row is longer than %d characters", list->where,
                         ENTRY_MOST - 1);
    }
    for (char *at = entry; *at != '\0'; at++) {
        *at = (unsigned char)*at < 0x20 ? '?' : *at; /* messages quote it */
    }
    return between == ':' ? take_entry(list, entry, length)
                          : error_set(list->err, ORR_EINVAL, "%s: the row says nothing of its ranks", list->where);
}

enum orr_status config_parse_devices_file(const char *name, const char *text, size_t size, uint32_t ranks,
                                          struct arena *arena, struct sim_devices *devices, struct orr_error *err)
{
    struct list list;
    enum orr_status status = list_begin(&list, ranks, arena, err);
    const struct config_rows rows = {.columns = columns, .key = "devices", .take = take_cells, .context = &list};
    if (status == ORR_OK) {
        status = config_rows_read(name, text, size, arena, &rows, err);
    }
    if (status == ORR_OK && list.kind_count == 1) {
        status = error_set(err, ORR_EINVAL, "%s: no device in it", name);
    }
    return status == ORR_OK ? list_end(&list, name, devices) : status;
}
