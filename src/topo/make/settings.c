/* SPDX-License-Identifier: Apache-2.0 */
/* A quantity keeps the user's spelling where the readers of topology files (ns-3's, SimAI's, ours) know its unit, and
 * is spelled anew in bits a second or nanoseconds where only we do (GiB/s, Tbps). */
#include "topo/make/settings.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "base/scan.h"
#include "base/units.h"

static const char *const names[TOPO_SET_COUNT + 1] = {
#define TOPO_X(id, name, arg, text) [TOPO_SET_##id] = "parameter '" name "'",
    ORR_TOPO_SETTINGS(TOPO_X)
#undef TOPO_X
};

static const char *const bare_names[TOPO_SET_COUNT + 1] = {
#define TOPO_X(id, name, arg, text) [TOPO_SET_##id] = name,
    ORR_TOPO_SETTINGS(TOPO_X)
#undef TOPO_X
};

const char *topo_setting_name(enum topo_setting id)
{
    return names[id];
}

enum orr_status topo_settings_take(struct topo_settings *settings, const char *name, const char *value,
                                   struct orr_error *err)
{
    for (unsigned id = 0; id < TOPO_SET_COUNT; id++) {
        bool older = id == TOPO_SET_GROUPS && strcmp(name, "groups") == 0; /* which are communicators elsewhere */
        if (strcmp(bare_names[id], name) == 0 || older) {
            settings->value[id] = value;
            return ORR_OK;
        }
    }
    struct error_proposal near = error_propose(name, bare_names);
    return error_set(err, ORR_EINVAL, "unknown setting \"%.60s\" of a topology%s", name, near.text);
}

enum orr_status topo_settings_count(const struct topo_settings *settings, enum topo_setting id, uint64_t otherwise,
                                    uint64_t least, uint64_t most, uint64_t *value, struct orr_error *err)
{
    const char *text = settings->value[id];
    if (text == NULL) {
        *value = otherwise;
        return ORR_OK;
    }
    uint64_t read = 0;
    size_t length = scan_number(text, &read);
    if (length == 0 || text[length] != '\0') {
        return error_set(err, ORR_EINVAL, "%s: \"%.60s\" is not a whole number", names[id], text);
    }
    if (read < least || read > most) {
        return error_set(err, ORR_ERANGE, "%s: %.60s is not between %" PRIu64 " and %" PRIu64, names[id], text, least,
                         most);
    }
    *value = read;
    return ORR_OK;
}

/* The item of a list; false when it is empty or longer than any quantity. */
static bool pick_item(const char *list, unsigned index, char *item, size_t room)
{
    const char *comma = strchr(list, ',');
    for (; index > 0 && comma != NULL; index--) {
        list = comma + 1;
        comma = strchr(list, ',');
    }
    size_t length = comma != NULL ? (size_t)(comma - list) : strlen(list);
    if (length == 0 || length >= room) {
        return false;
    }
    memcpy(item, list, length);
    item[length] = '\0';
    return true;
}

/* Whether a reader of topology files knows the unit: what stands behind the digits, point and exponent. */
static bool topo_settings_is_common(const char *text)
{
    static const char *const units[] = {"bps",  "Kbps", "Mbps", "Gbps", "b/s", "Kb/s", "Mb/s",
                                        "Gb/s", "MB/s", "GB/s", "ns",   "us",  "ms",   "s"};
    const char *unit = text + strspn(text, "0123456789.");
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(unit, units[i]) == 0) {
            return true;
        }
    }
    return false;
}

struct topo_quantity topo_rate(uint64_t bps)
{
    static const struct {
        uint64_t factor;
        const char *unit;
    } units[] = {{1000000000, "Gbps"}, {1000000, "Mbps"}, {1000, "Kbps"}, {1, "bps"}};
    struct topo_quantity rate = {.value = bps};
    unsigned at = 0;
    while (bps % units[at].factor != 0) {
        at++;
    }
    (void)snprintf(rate.text, sizeof rate.text, "%" PRIu64 "%s", bps / units[at].factor, units[at].unit);
    return rate;
}

struct topo_quantity topo_time(uint64_t ns)
{
    struct topo_quantity time = {.value = ns};
    bool micro = ns >= 1000 && ns % 1000 == 0;
    (void)snprintf(time.text, sizeof time.text, "%" PRIu64 "%s", micro ? ns / 1000 : ns, micro ? "us" : "ns");
    return time;
}

/* Parts of a nanosecond and of a bit a second are nothing a packet could see: rounded, while the file keeps the text.
 */
static bool read_rounded(const char *text, enum units_kind kind, uint64_t *value)
{
    char *end = NULL;
    double number = plain_strtod(text, &end);
    uint64_t unit = 0;
    char one[40];
    (void)snprintf(one, sizeof one, "1%s", end);
    if (units_parse(one, kind, kind == UNITS_RATE ? "Gbps" : "us", &unit, NULL) != ORR_OK ||
        !(number * (double)unit < 1e18)) {
        return false;
    }
    *value = (uint64_t)(number * (double)unit + 0.5);
    return true;
}

/* ns-3 has "Gb/s" beside "Gbps". */
static enum orr_status topo_settings_read_number(const char *what, const char *text, enum units_kind kind,
                                                 uint64_t *value, struct orr_error *err)
{
    struct orr_error reason = {0};
    char spelled[40];
    size_t length = strlen(text);
    bool slash = kind == UNITS_RATE && length > 3 && strcmp(text + length - 3, "b/s") == 0;
    (void)snprintf(spelled, sizeof spelled, "%.*s%s", (int)(slash ? length - 3 : length), text, slash ? "bps" : "");
    enum orr_status status = units_parse(spelled, kind, kind == UNITS_RATE ? "Gbps" : "us", value, &reason);
    if (status == ORR_OK || (spelled[0] >= '0' && spelled[0] <= '9' && read_rounded(spelled, kind, value))) {
        return ORR_OK;
    }
    return error_set(err, status, "%s: %s", what, reason.text);
}

static enum orr_status read_quantity(const char *what, const char *text, enum units_kind kind,
                                     struct topo_quantity *quantity, struct orr_error *err)
{
    uint64_t value = 0;
    if (strlen(text) >= sizeof quantity->text) {
        return error_set(err, ORR_EINVAL, "%s: \"%.60s\" is not a %s", what, text,
                         kind == UNITS_RATE ? "rate" : "time");
    }
    enum orr_status status = topo_settings_read_number(what, text, kind, &value, err);
    if (status != ORR_OK) {
        return status;
    }
    if (kind == UNITS_RATE && value == 0) {
        return error_set(err, ORR_ERANGE, "%s: a link of rate 0 carries nothing", what);
    }
    *quantity = kind == UNITS_RATE ? topo_rate(value) : topo_time(value);
    if (topo_settings_is_common(text)) {
        (void)snprintf(quantity->text, sizeof quantity->text, "%s", text);
    }
    return ORR_OK;
}

enum orr_status topo_rate_read(const char *what, const char *text, struct topo_quantity *rate, struct orr_error *err)
{
    return read_quantity(what, text, UNITS_RATE, rate, err);
}

enum orr_status topo_time_read(const char *what, const char *text, struct topo_quantity *time, struct orr_error *err)
{
    return read_quantity(what, text, UNITS_TIME, time, err);
}

static enum orr_status pick_quantity(const struct topo_settings *settings, enum topo_setting id, unsigned index,
                                     const char *otherwise, enum units_kind kind, struct topo_quantity *quantity,
                                     struct orr_error *err)
{
    const char *list = settings->value[id] != NULL ? settings->value[id] : otherwise;
    char item[64];
    if (!pick_item(list, index, item, sizeof item)) {
        return error_set(err, ORR_EINVAL, "%s: \"%.60s\" is not a list of quantities, such as %s", names[id], list,
                         kind == UNITS_RATE ? "400Gbps,200Gbps" : "1us,500ns");
    }
    return read_quantity(names[id], item, kind, quantity, err);
}

enum orr_status topo_settings_rate(const struct topo_settings *settings, enum topo_setting id, unsigned index,
                                   const char *otherwise, struct topo_quantity *rate, struct orr_error *err)
{
    return pick_quantity(settings, id, index, otherwise, UNITS_RATE, rate, err);
}

enum orr_status topo_settings_time(const struct topo_settings *settings, enum topo_setting id, unsigned index,
                                   const char *otherwise, struct topo_quantity *time, struct orr_error *err)
{
    return pick_quantity(settings, id, index, otherwise, UNITS_TIME, time, err);
}

enum orr_status topo_settings_loss(const struct topo_settings *settings, double *loss, const char **text,
                                   struct orr_error *err)
{
    const char *given = settings->value[TOPO_SET_LOSS];
    *loss = 0;
    *text = "0";
    if (given == NULL) {
        return ORR_OK;
    }
    char *end = NULL;
    double read = plain_strtod(given, &end);
    bool plain = given[0] != '\0' && strspn(given, "0123456789.eE+-") == strlen(given);
    if (!plain || *end != '\0' || !isfinite(read)) {
        return error_set(err, ORR_EINVAL, "parameter 'loss': \"%.60s\" is not a number", given);
    }
    if (read < 0 || read > 1 || strlen(given) > 24) {
        return error_set(err, ORR_ERANGE, "parameter 'loss': %.60s is not a share of packets, 0 to 1", given);
    }
    *loss = read;
    *text = given;
    return ORR_OK;
}

/* Up to four digits. */
static bool topo_settings_read_part(const char **at, uint64_t *part)
{
    size_t length = scan_number(*at, part);
    *at += length;
    return length <= 4 && *part > 0;
}

enum orr_status topo_settings_ratio(const struct topo_settings *settings, enum topo_setting id, uint64_t *down,
                                    uint64_t *up, struct orr_error *err)
{
    const char *at = settings->value[id] != NULL ? settings->value[id] : "1:1";
    uint64_t parts[2] = {0, 1};
    bool good = topo_settings_read_part(&at, &parts[0]);
    if (good && *at == ':') {
        at++;
        good = topo_settings_read_part(&at, &parts[1]);
    }
    if (!good || *at != '\0') {
        return error_set(err, ORR_EINVAL, "%s: \"%.60s\" is not a ratio, such as 3:1", names[id], settings->value[id]);
    }
    *down = parts[0];
    *up = parts[1];
    return ORR_OK;
}
