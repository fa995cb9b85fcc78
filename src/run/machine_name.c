/* SPDX-License-Identifier: Apache-2.0 */
/* Read from front to back without a copy: a word starts with what it is ("file:", "auto:", a number and "gpu_", a
 * kind), so each part knows what may follow it and can say so. */
#include "run/machine_name.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "presets.h"
#include "topo/make/make.h"

const struct run_machine_row run_machine_rows[] = {
#define RUN_X(name, word, dims, join, wires, wired, about) {word, wires, dims, TOPO_##join, wired},
    RUN_MACHINES(RUN_X)
#undef RUN_X
};

enum { KIND_COUNT = sizeof run_machine_rows / sizeof run_machine_rows[0] };

/* Other words for the same: those of topo/make/make.h and of people. */
static const struct {
    const char *word;
    enum run_machine_kind kind;
} synonyms[] = {
    {"fat-tree", RUN_MACHINE_FATTREE},
    {"single-switch", RUN_MACHINE_SWITCH},
    {"twisted-torus", RUN_MACHINE_TTORUS3D},
    {"fully-connected", RUN_MACHINE_FC},
    {"torus", RUN_MACHINE_AUTO3D},
    {"mesh", RUN_MACHINE_MESH2D},
    {"twisted-torus3d", RUN_MACHINE_TTORUS3D},
};

static const struct grid_row {
    const char *name, *synonyms, *device, *kind, *rate, *latency;
    uint32_t ranks;
} grids[] = {
#define GRID_X(name, synonyms, summary, device, kind, ranks, rate, latency, source)                                    \
    {name, synonyms, device, kind, rate, latency, ranks},
    PRESET_GRIDS(GRID_X)
#undef GRID_X
};

const char *run_machine_word(enum run_machine_kind kind)
{
    return kind == RUN_MACHINE_FILE ? "file" : kind == RUN_MACHINE_MADE ? "made" : run_machine_rows[kind].word;
}

enum topo_kind run_machine_join(const struct run_machine *machine, uint32_t dim)
{
    if (machine->kind == RUN_MACHINE_MADE) {
        bool pairs = machine->server != NULL && dim == 0 && machine->dims[0] == machine->server->gpus &&
                     (machine->server->fabric == TOPO_FABRIC_MESH || machine->server->fabric == TOPO_FABRIC_PAIRS);
        return pairs ? TOPO_FULLY_CONNECTED : TOPO_SWITCH;
    }
    return machine->kind == RUN_MACHINE_FILE ? TOPO_RING : run_machine_rows[machine->kind].join;
}

bool run_machine_is_grid(const struct run_machine *machine)
{
    return machine->kind < RUN_MACHINE_MADE && run_machine_rows[machine->kind].join == TOPO_RING;
}

const char *run_machine_wires(enum run_machine_kind kind)
{
    return run_machine_rows[kind].wires;
}

bool run_machine_is_wired(enum run_machine_kind kind)
{
    return kind == RUN_MACHINE_MADE || (kind != RUN_MACHINE_FILE && run_machine_rows[kind].wired);
}

/* ---- reading ---- */

/* Digits at `*at`, at least 1; false without any, or when they pass 31 bits (`*large`). */
static bool run_machine_name_read_number(const char **at, uint32_t *value, bool *large)
{
    uint64_t number = 0;
    size_t digits = scan_number(*at, &number);
    *large = number > INT32_MAX;
    if (*large || number == 0) {
        return false;
    }
    *at += digits;
    *value = (uint32_t)number;
    return true;
}

static enum orr_status fail_number(const char *text, const char *at, bool large, struct orr_error *err)
{
    if (large) {
        return error_set(err, ORR_ERANGE, "parameter 'machine': \"%.80s\" has a number above %d", text, INT32_MAX);
    }
    return error_set(
        err, ORR_EINVAL,
        "parameter 'machine': \"%.80s\": expected a number from 1 at \"%.20s\", as in 4x4x8 (sizes) or 16 (groups)",
        text, at);
}

/* "4x4x8" to the end of the text. One number alone is how many ranks there are, or where those have been told (in
 * 8gpu_ring2d_4) how many scale-out groups. */
static enum orr_status read_shape(const char *text, const char *at, struct run_machine *machine, struct orr_error *err)
{
    bool large = false;
    for (;; at++) {
        if (machine->size_count == TOPO_MAX_DIMS) {
            return error_set(err, ORR_EINVAL, "parameter 'machine': \"%.80s\" has more than %d dimensions", text,
                             TOPO_MAX_DIMS);
        }
        if (!run_machine_name_read_number(&at, &machine->sizes[machine->size_count], &large)) {
            return fail_number(text, at, large, err);
        }
        machine->size_count++;
        if (*at != 'x') {
            break;
        }
    }
    if (*at != '\0') {
        return fail_number(text, at, false, err);
    }
    if (machine->size_count == 1 && machine->kind != RUN_MACHINE_DIMS) {
        *(machine->ranks == 0 ? &machine->ranks : &machine->groups) = machine->sizes[0];
        machine->size_count = 0;
    }
    return ORR_OK;
}

static bool find_kind(const char *word, size_t length, enum run_machine_kind *kind)
{
    for (unsigned i = 0; i < KIND_COUNT; i++) {
        if (strlen(run_machine_rows[i].word) == length && memcmp(run_machine_rows[i].word, word, length) == 0) {
            *kind = (enum run_machine_kind)i;
            return true;
        }
    }
    for (size_t i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++) {
        if (strlen(synonyms[i].word) == length && memcmp(synonyms[i].word, word, length) == 0) {
            *kind = synonyms[i].kind;
            return true;
        }
    }
    return false;
}

/* The shortest name that the word is a whole part of: people say "h100" where the server is meant. */
static const char *name_with(const char *word, const char *const *known)
{
    enum { PART_LEAST = 3 };
    const char *best = NULL;
    for (; strlen(word) >= PART_LEAST && *known != NULL; known++) {
        if (strstr(*known, word) != NULL && (best == NULL || strlen(*known) < strlen(best))) {
            best = *known;
        }
    }
    return best;
}

static enum orr_status fail_kind(const char *text, const char *word, size_t length, struct orr_error *err)
{
    enum { NAMES_MOST = 64 };
    const char *known[NAMES_MOST + 1] = {NULL};
    char short_word[24];
    size_t count = 0;
    for (unsigned i = 0; i < KIND_COUNT; i++) {
        known[count++] = run_machine_rows[i].word;
    }
    for (size_t i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++) {
        known[count++] = synonyms[i].word;
    }
    for (size_t i = 0; topo_server_at(i) != NULL && count < NAMES_MOST; i++) {
        known[count++] = topo_server_at(i)->name;
    }
    for (size_t i = 0; i < sizeof grids / sizeof grids[0] && count < NAMES_MOST; i++) {
        known[count++] = grids[i].name;
    }
    (void)snprintf(short_word, sizeof short_word, "%.*s", (int)(length < 20 ? length : 20), word);
    size_t name = strcspn(short_word, ":");
    short_word[name] = '\0';
    const char *nearest = error_nearest(short_word, known);
    nearest = nearest != NULL ? nearest : name_with(short_word, known);
    return error_set(err, ORR_EINVAL,
                     "parameter 'machine': \"%.80s\" is neither a file nor a machine: \"%s\" is no server (dgx-h100, "
                     "mi300x …) and no kind (ring, torus3d, switch, fattree …)%s%s%s",
                     text, short_word, nearest == NULL ? "; orrery machine list has all" : "; did you mean \"",
                     nearest == NULL ? "" : nearest, nearest == NULL ? "" : "\"?");
}

/* A kind, and behind `mark` its shape, which "dims" cannot do without. */
static enum orr_status read_kind(const char *text, const char *at, char mark, struct run_machine *machine,
                                 struct orr_error *err)
{
    const char marks[] = {mark, '\0'};
    size_t length = strcspn(at, marks);
    if (!find_kind(at, length, &machine->kind)) {
        return fail_kind(text, at, length, err);
    }
    if (at[length] == mark) {
        return read_shape(text, at + length + 1, machine, err);
    }
    return machine->kind == RUN_MACHINE_DIMS
               ? error_set(err, ORR_EINVAL, "parameter 'machine': \"%.80s\" names no dimensions; as in dims:4x4x8",
                           text)
               : ORR_OK;
}

static enum orr_status read_auto(const char *text, struct run_machine *machine, struct orr_error *err)
{
    static const char *const words[] = {"auto:1d", "auto:2d", "auto:3d"};
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(text, words[i]) == 0) {
            machine->kind = (enum run_machine_kind)(RUN_MACHINE_AUTO1D + i);
            return ORR_OK;
        }
    }
    return error_set(err, ORR_EINVAL, "parameter 'machine': \"%.80s\" is not one of auto:1d, auto:2d, auto:3d", text);
}

/* Names have neither '/' nor '.', paths of files one or the other; lines may have both, in their rates. */
bool orr_machine_is_file(const char *name)
{
    return strncmp(name, "file:", 5) == 0 ||
           (strchr(name, '>') == NULL && (strchr(name, '/') != NULL || strchr(name, '.') != NULL));
}

/* "dgx-h100", "dgx-h100:16", a line, or another name of topo/make/make.h that is no kind of ours; false: none of them.
 */
static bool read_made(const char *text, struct run_machine *machine, enum orr_status *status, struct orr_error *err)
{
    char word[40];
    size_t length = strcspn(text, " :>,");
    const struct topo_preset *preset = NULL;
    struct orr_error unsaid = {0};
    enum run_machine_kind kind;
    (void)snprintf(word, sizeof word, "%.*s", (int)length, text);
    if (length >= sizeof word || find_kind(text, length, &kind)) {
        return false;
    }
    machine->server = topo_server_find(word);
    bool named = machine->server != NULL || topo_preset_find(word, &preset, &unsaid) == ORR_OK;
    if (!named) {
        return false;
    }
    machine->kind = RUN_MACHINE_MADE;
    machine->line = text;
    machine->device = machine->server != NULL && machine->server->device[0] != '\0' ? machine->server->device : NULL;
    size_t digits = text[length] == ':' ? strspn(text + length + 1, "0123456789") : 0;
    bool counted = digits > 0 && digits < 7 && text[length + 1 + digits] == '\0';
    if (machine->server != NULL && (text[length] == '\0' || counted)) {
        machine->line = NULL;
        machine->ranks = counted ? (uint32_t)strtoul(text + length + 1, NULL, 10) * machine->server->gpus : 0;
        if (counted && machine->ranks == 0) {
            *status = error_set(err, ORR_EINVAL, "parameter 'machine': \"%.80s\": at least 1 server is wanted", text);
        }
    }
    return true;
}

/* A grid of presets/machines, with its shape behind a colon as its kind has it. */
static bool read_grid(const char *text, struct run_machine *machine, enum orr_status *status, struct orr_error *err)
{
    size_t length = strcspn(text, ":");
    for (size_t i = 0; i < sizeof grids / sizeof grids[0]; i++) {
        if (strlen(grids[i].name) == length && memcmp(grids[i].name, text, length) == 0) {
            (void)find_kind(grids[i].kind, strlen(grids[i].kind), &machine->kind);
            machine->device = grids[i].device;
            machine->rate = grids[i].rate;
            machine->latency = grids[i].latency;
            machine->usual = grids[i].ranks;
            *status = text[length] == ':' ? read_shape(text, text + length + 1, machine, err) : ORR_OK;
            return true;
        }
    }
    return false;
}

/* "torus:4x4" has as many dimensions as it has sizes. */
static void read_torus(const char *text, struct run_machine *machine)
{
    if (strncmp(text, "torus:", 6) == 0 && machine->size_count != 0) {
        machine->kind = RUN_MACHINE_DIMS;
    }
}

enum orr_status run_machine_parse(const char *text, struct run_machine *machine, struct orr_error *err)
{
    struct run_machine made = {0};
    enum orr_status status = ORR_OK;
    const char *at = text;
    bool large = false;
    if (orr_machine_is_file(text)) {
        made.kind = RUN_MACHINE_FILE;
        made.path = strncmp(text, "file:", 5) == 0 ? text + 5 : text;
        const char *end = strrchr(made.path, '.');
        made.is_network = end != NULL && (strcmp(end, ".yml") == 0 || strcmp(end, ".yaml") == 0);
        status =
            made.path[0] != '\0' ? ORR_OK : error_set(err, ORR_EINVAL, "parameter 'machine': \"file:\" names no file");
    } else if (strncmp(text, "auto:", 5) == 0) {
        status = read_auto(text, &made, err);
    } else if (read_made(text, &made, &status, err) || read_grid(text, &made, &status, err)) {
        /* all is said */
    } else if (*at < '0' || *at > '9') {
        status = read_kind(text, at, ':', &made, err);
        read_torus(text, &made);
    } else if (!run_machine_name_read_number(&at, &made.ranks, &large)) {
        status = fail_number(text, at, large, err);
    } else if (strncmp(at, "gpu_", 4) != 0) {
        status =
            error_set(err, ORR_EINVAL,
                      "parameter 'machine': \"%.80s\": expected \"gpu_\" and a kind behind the number of ranks, as in "
                      "8gpu_ring2d_4",
                      text);
    } else {
        status = read_kind(text, at + 4, '_', &made, err);
    }
    if (status == ORR_OK) {
        *machine = made;
    }
    return status;
}
