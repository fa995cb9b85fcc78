/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd-smi's JSON is a list of GPUs, or such a list under "gpu_data", with clocks as {"value": 132, "unit": "MHz"};
 * rocm-smi's is a map of cards with texts such as "(1500Mhz)". Keys have changed their spelling over the versions, so
 * a clock is accepted as a text, a number, or a map that has one of the words for "now".
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "api/doctor/smi.h"
#include "base/scan.h"
#include "io/json.h"

static const struct io_value *member(const struct io_value *map, const char *key)
{
    for (const struct io_value *at = map->kind == IO_MAP ? map->first : NULL; at != NULL; at = at->next) {
        if (strcasecmp(at->key, key) == 0) {
            return at;
        }
    }
    return NULL;
}

static uint32_t whole_mhz(double value)
{
    return value >= 0 && value < 1e9 ? (uint32_t)value : DOCTOR_UNKNOWN;
}

static uint32_t mhz_of(const struct io_value *value)
{
    static const char *const now[] = {"value", "current", "avg", "max"};
    if (value == NULL) {
        return DOCTOR_UNKNOWN;
    }
    switch (value->kind) {
    case IO_INTEGER:
        return whole_mhz((double)value->integer);
    case IO_REAL:
        return whole_mhz(value->real);
    case IO_TEXT:
        return doctor_smi_mhz(value->text);
    case IO_MAP:
        for (size_t i = 0; i < sizeof now / sizeof now[0]; i++) {
            const struct io_value *inner = member(value, now[i]);
            if (inner != NULL && inner->kind != IO_MAP) {
                return mhz_of(inner);
            }
        }
        return DOCTOR_UNKNOWN;
    default:
        return DOCTOR_UNKNOWN;
    }
}

static void doctor_smi_json_set_clock(uint32_t *clock, uint32_t mhz)
{
    if (*clock == DOCTOR_UNKNOWN) {
        *clock = mhz;
    }
}

/* Texts of JSON hold any character; names and versions are shown to people. */
static const char *doctor_smi_json_shown(const struct io_value *value, struct arena *arena)
{
    if (value == NULL || value->kind != IO_TEXT) {
        return "";
    }
    size_t room = strlen(value->text) + 1;
    char *copy = arena_alloc(arena, room);
    return copy == NULL ? "" : io_text_printable(value->text, copy, room);
}

static const char *doctor_smi_json_said(const char *before, const struct io_value *value, struct arena *arena)
{
    const char *text = doctor_smi_json_shown(value, arena);
    return text[0] == '\0' ? before : text;
}

/* ---- amd-smi ---- */

static void read_amd_clock(const struct io_value *value, struct doctor_clock *clock)
{
    const struct io_value *now = member(value, "clk");
    doctor_smi_json_set_clock(&clock->now, mhz_of(now != NULL || value->kind != IO_MAP ? (now != NULL ? now : value)
                                                                                       : member(value, "cur_clk")));
    doctor_smi_json_set_clock(&clock->min, mhz_of(member(value, "min_clk")));
    doctor_smi_json_set_clock(&clock->max, mhz_of(member(value, "max_clk")));
}

/* False when the list is of other things. */
static bool doctor_smi_json_read_amd_gpu(const struct io_value *value, struct doctor_smi *smi, struct arena *arena,
                                         bool *refused)
{
    const struct io_value *index = member(value, "gpu");
    struct doctor_tool *tool = &smi->tool;
    if (member(value, "amdsmi_library_version") != NULL) {
        tool->version = doctor_smi_json_said(tool->version, member(value, "version"), arena);
        tool->library = doctor_smi_json_said(tool->library, member(value, "amdsmi_library_version"), arena);
        tool->rocm = doctor_smi_json_said(tool->rocm, member(value, "rocm_version"), arena);
        tool->driver = doctor_smi_json_said(tool->driver, member(value, "amdgpu_version"), arena);
        return true;
    }
    if (index == NULL || index->kind != IO_INTEGER || index->integer < 0 || index->integer >= INT32_MAX) {
        return false;
    }
    struct doctor_gpu *gpu = doctor_smi_gpu(smi, (uint32_t)index->integer, arena);
    if (gpu == NULL) {
        *refused = true;
        return true;
    }
    for (const struct io_value *at = value->first; at != NULL; at = at->next) {
        enum doctor_clock_kind kind = DOCTOR_CLOCK_KINDS;
        if (doctor_smi_column(at->key, strlen(at->key), &kind) && kind != DOCTOR_CLOCK_KINDS) {
            doctor_smi_json_set_clock(&gpu->clocks[kind].now, mhz_of(at)); /* amd-smi monitor's */
        }
    }
    const struct io_value *clocks = member(value, "clock");
    const struct io_value *asic = member(value, "asic");
    gpu->name = doctor_smi_json_said(gpu->name, asic == NULL ? NULL : member(asic, "market_name"), arena);
    for (const struct io_value *at = clocks != NULL && clocks->kind == IO_MAP ? clocks->first : NULL; at != NULL;
         at = at->next) {
        enum doctor_clock_kind kind = doctor_smi_section(at->key, strlen(at->key));
        if (kind != DOCTOR_CLOCK_KINDS) {
            read_amd_clock(at, &gpu->clocks[kind]);
        }
    }
    return true;
}

/* ---- rocm-smi ---- */

static bool card_index(const char *key, uint32_t *index)
{
    uint64_t value = 0;
    if (strncasecmp(key, "card", 4) != 0) {
        return false;
    }
    size_t digits = scan_digits(key + 4, 8, &value);
    *index = (uint32_t)value;
    return digits > 0 && key[4 + digits] == '\0';
}

/* "sclk clock speed:", "sclk clock level", "sclk", and the two words of one version for it. */
static enum doctor_clock_kind rocm_kind(const char *key)
{
    static const struct {
        const char *key;
        enum doctor_clock_kind kind;
    } others[] = {{"gfx_clock", DOCTOR_SCLK}, {"mem_clock", DOCTOR_MCLK}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcasecmp(key, others[i].key) == 0) {
            return others[i].kind;
        }
    }
    size_t stem = strcspn(key, " :");
    const char *rest = key + stem;
    bool clock = *rest == '\0' || strncasecmp(rest, " clock speed", 12) == 0 || strcasecmp(rest, " clock level") == 0;
    return clock ? doctor_smi_key(key, stem) : DOCTOR_CLOCK_KINDS;
}

/* "sclk clock level": "1", where others say "1: (800Mhz)": the number of a level is no clock. */
static bool is_level_alone(const struct io_value *value)
{
    return strcasestr(value->key, "level") != NULL &&
           (value->kind != IO_TEXT || strcasestr(value->text, "mhz") == NULL);
}

static bool read_card(const struct io_value *card, struct doctor_smi *smi, struct arena *arena, bool *refused)
{
    uint32_t index = 0;
    if (card->kind != IO_MAP || !card_index(card->key, &index)) {
        return false;
    }
    struct doctor_gpu *gpu = doctor_smi_gpu(smi, index, arena);
    if (gpu == NULL) {
        *refused = true;
        return true;
    }
    for (const struct io_value *at = card->first; at != NULL; at = at->next) {
        enum doctor_clock_kind kind = rocm_kind(at->key);
        if (kind != DOCTOR_CLOCK_KINDS && is_level_alone(at)) {
            continue;
        }
        if (kind != DOCTOR_CLOCK_KINDS) {
            doctor_smi_json_set_clock(&gpu->clocks[kind].now, mhz_of(at));
        } else if (strcasecmp(at->key, "Card Series") == 0) {
            gpu->name = doctor_smi_json_said(gpu->name, at, arena);
        }
    }
    return true;
}

static bool read_cards(const struct io_value *root, struct doctor_smi *smi, struct arena *arena, bool *refused)
{
    bool any = false;
    for (const struct io_value *at = root->first; at != NULL; at = at->next) {
        any = read_card(at, smi, arena, refused) || any;
        if (strcasecmp(at->key, "system") == 0) {
            smi->tool.driver = doctor_smi_json_said(smi->tool.driver, member(at, "Driver version"), arena);
        }
    }
    return any;
}

/* What stands before the JSON (warnings) is blanked, so that lines keep their numbers. */
static char *only_json(const char *text, size_t size, struct arena *arena)
{
    char *copy = arena_strndup(arena, text, size);
    bool line_start = true;
    for (size_t i = 0; copy != NULL && i < size; i++) {
        if (line_start && (copy[i] == '{' || copy[i] == '[')) {
            break;
        }
        line_start = copy[i] == '\n';
        copy[i] = line_start ? '\n' : ' ';
    }
    return copy;
}

enum orr_status doctor_smi_json(const char *name, const char *text, size_t size, struct arena *arena,
                                struct doctor_smi *smi, struct orr_error *err)
{
    struct io_value *root = NULL;
    bool refused = false;
    bool any = false;
    char *copy = only_json(text, size, arena);
    if (copy == NULL) {
        return mem_error(arena->mem, "the clocks of GPUs", err);
    }
    enum orr_status status = io_json_parse(name, copy, size, arena, &root, err);
    if (status != ORR_OK) {
        return status;
    }
    const struct io_value *list = root->kind == IO_MAP ? member(root, "gpu_data") : root;
    if (list != NULL && list->kind == IO_LIST) {
        smi->tool.name = "amd-smi";
        for (const struct io_value *at = list->first; at != NULL; at = at->next) {
            any = doctor_smi_json_read_amd_gpu(at, smi, arena, &refused) || any;
        }
    } else if (root->kind == IO_MAP) {
        smi->tool.name = "rocm-smi";
        any = read_cards(root, smi, arena, &refused);
    }
    if (refused) {
        return smi->count == DOCTOR_GPUS_MOST
                   ? error_set(err, ORR_ERANGE, "%s: more than %d GPUs", name, DOCTOR_GPUS_MOST)
                   : mem_error(arena->mem, "the clocks of GPUs", err);
    }
    return any ? ORR_OK
               : error_set(err, ORR_EINVAL,
                           "%s:%" PRIu32 ": neither amd-smi's list of GPUs nor rocm-smi's \"card0\", \"card1\", ...",
                           name, root->line);
}
