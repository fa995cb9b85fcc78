/* SPDX-License-Identifier: Apache-2.0 */
/* Rows are kept in a list that doubles in the arena, then sorted, so that what follows another at one time comes behind
 * its end. */
#include "config/faults.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "base/scan.h"
#include "base/units.h"
#include "config/rows.h"

enum column { A, B, FROM, UNTIL, RATE };
enum { FAULTS_MOST = 100000 };

struct faults_reading {
    struct config_fault *list;
    uint32_t count, capacity;
    struct arena *arena;
};

static enum orr_status fault_wrong(const char *where, const char *what, const char *found, const char *accepted,
                                   struct orr_error *err)
{
    char shown[60];
    (void)snprintf(shown, sizeof shown, "%s", found != NULL ? found : "");
    for (char *at = shown; *at != '\0'; at++) {
        *at = (unsigned char)*at < 0x20 ? '?' : *at;
    }
    return error_set(err, ORR_EINVAL, "%s: %s \"%s\" is not %s", where, what, shown, accepted);
}

static bool read_end(const char *text, struct config_fault *fault)
{
    static const char word[] = "switch";
    uint64_t number = 0;
    if (text == NULL) {
        return false;
    }
    if (strncmp(text, word, sizeof word - 1) != 0) {
        bool whole = scan_whole(text, strlen(text), UINT32_MAX, &number);
        fault->b = (uint32_t)number;
        return whole;
    }
    const char *rest = text + sizeof word - 1;
    fault->switch_dim = CONFIG_FAULT_ANY;
    if (*rest != '\0') {
        bool whole = scan_whole(rest, strlen(rest), CONFIG_FAULT_ANY - 1, &number);
        fault->switch_dim = (int32_t)number;
        return whole;
    }
    return true;
}

/* "0.5", "x0.5", "down". */
static bool read_fault_rate(const char *text, double *factor)
{
    char *end = NULL;
    if (text == NULL || strcmp(text, "down") == 0) {
        *factor = 0.0;
        return true;
    }
    text += *text == 'x' ? 1 : 0;
    if (!scan_is_digit(*text) && *text != '.') {
        return false;
    }
    *factor = plain_strtod(text, &end);
    return *end == '\0' && *factor >= 0.0 && *factor <= 1000.0 && (*factor == 0.0 || *factor >= 1e-6);
}

static enum orr_status read_fault_time(const char *where, const char *what, const char *text, uint64_t *ns,
                                       struct orr_error *err)
{
    struct orr_error reason;
    return text != NULL && units_parse(text, UNITS_TIME, "us", ns, &reason) == ORR_OK && *ns < UINT64_C(1) << 60
               ? ORR_OK
               : fault_wrong(where, what, text, "a time, as in 20us or 3ms", err);
}

static enum orr_status keep_fault(struct faults_reading *reading, const struct config_fault *fault,
                                  struct orr_error *err)
{
    if (fault->factor == 1.0) {
        return ORR_OK;
    }
    if (reading->count == FAULTS_MOST) {
        return error_set(err, ORR_ERANGE, "%s: more than %d faults", fault->where, FAULTS_MOST);
    }
    if (reading->count == reading->capacity) {
        uint32_t capacity = reading->capacity == 0 ? 16 : reading->capacity * 2;
        struct config_fault *larger = arena_alloc(reading->arena, capacity * sizeof *larger);
        if (larger == NULL) {
            return mem_error(reading->arena->mem, "the faults", err);
        }
        if (reading->count > 0) {
            memcpy(larger, reading->list, reading->count * sizeof *larger);
        }
        reading->list = larger;
        reading->capacity = capacity;
    }
    reading->list[reading->count++] = *fault;
    return ORR_OK;
}

static enum orr_status config_take_fault(void *context, const char *where, const char *const *cells,
                                         struct orr_error *err)
{
    struct faults_reading *reading = context;
    struct config_fault fault = {.switch_dim = -1, .until_ns = UINT64_MAX};
    uint64_t a = 0;
    if (cells[A] == NULL || !scan_whole(cells[A], strlen(cells[A]), UINT32_MAX, &a)) {
        return fault_wrong(where, "a", cells[A], "the number of a node", err);
    }
    fault.a = (uint32_t)a;
    if (!read_end(cells[B], &fault) || (fault.switch_dim < 0 && fault.a == fault.b)) {
        return fault_wrong(where, "b", cells[B], "the number of another node, nor switch", err);
    }
    if (!read_fault_rate(cells[RATE], &fault.factor)) {
        return fault_wrong(where, "rate", cells[RATE], "down or a factor from 0 to 1000, as in 0.5", err);
    }
    enum orr_status status = read_fault_time(where, "from", cells[FROM], &fault.from_ns, err);
    if (status == ORR_OK && cells[UNTIL] != NULL) {
        status = read_fault_time(where, "until", cells[UNTIL], &fault.until_ns, err);
    }
    if (status == ORR_OK && fault.until_ns <= fault.from_ns) {
        status = error_set(err, ORR_EINVAL, "%s: it is over before it begins", where);
    }
    fault.where = arena_strndup(reading->arena, where, strlen(where));
    if (status == ORR_OK && fault.where == NULL) {
        status = mem_error(reading->arena->mem, "the faults", err);
    }
    return status == ORR_OK ? keep_fault(reading, &fault, err) : status;
}

static int fault_compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* By link, then by time. */
static int compare_faults(const void *left, const void *right)
{
    const struct config_fault *a = left;
    const struct config_fault *b = right;
    uint32_t low_a = a->switch_dim < 0 && a->b < a->a ? a->b : a->a;
    uint32_t low_b = b->switch_dim < 0 && b->b < b->a ? b->b : b->a;
    uint64_t high_a = a->switch_dim >= 0 ? UINT32_MAX + UINT64_C(1) + (uint32_t)a->switch_dim : a->a + a->b - low_a;
    uint64_t high_b = b->switch_dim >= 0 ? UINT32_MAX + UINT64_C(1) + (uint32_t)b->switch_dim : b->a + b->b - low_b;
    int order = fault_compare_numbers(low_a, low_b);
    order = order != 0 ? order : fault_compare_numbers(high_a, high_b);
    return order != 0 ? order : fault_compare_numbers(a->from_ns, b->from_ns);
}

static bool is_same_link(const struct config_fault *a, const struct config_fault *b)
{
    bool straight = a->a == b->a && a->b == b->b;
    bool crossed = a->a == b->b && a->b == b->a;
    return a->switch_dim == b->switch_dim && (a->switch_dim >= 0 ? a->a == b->a : straight || crossed);
}

enum orr_status config_parse_faults(const char *name, const char *text, size_t size, struct arena *arena,
                                    struct config_fault **faults, uint32_t *count, struct orr_error *err)
{
    static const char *const columns[] = {
        [A] = "a", [B] = "b", [FROM] = "from", [UNTIL] = "until", [RATE] = "rate", NULL};
    struct faults_reading reading = {.arena = arena};
    const struct config_rows rows = {
        .columns = columns, .key = "faults", .take = config_take_fault, .context = &reading};
    enum orr_status status = config_rows_read(name, text, size, arena, &rows, err);
    if (status != ORR_OK) {
        return status;
    }
    if (reading.count > 0) {
        qsort(reading.list, reading.count, sizeof *reading.list, compare_faults);
    }
    for (uint32_t i = 1; i < reading.count; i++) {
        const struct config_fault *before = &reading.list[i - 1];
        const struct config_fault *fault = &reading.list[i];
        if (is_same_link(before, fault) && fault->from_ns < before->until_ns) {
            return error_set(err, ORR_EINVAL, "%s: the link has another fault at that time (%s)", fault->where,
                             before->where);
        }
    }
    *faults = reading.list;
    *count = reading.count;
    return ORR_OK;
}
