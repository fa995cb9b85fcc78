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

static const struct kind_row {
    const char *word, *wires;
    uint32_t dims;
    enum topo_kind join;
    bool wired;
} kinds[] = {
#define RUN_X(name, word, dims, join, wires, wired, about) {word, wires, dims, TOPO_##join, wired},
    RUN_MACHINES(RUN_X)
#undef RUN_X
};

enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

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
    return kind == RUN_MACHINE_FILE ? "file" : kind == RUN_MACHINE_MADE ? "made" : kinds[kind].word;
}

enum topo_kind run_machine_join(const struct run_machine *machine, uint32_t dim)
{
    if (machine->kind == RUN_MACHINE_MADE) {
        bool pairs = machine->server != NULL && dim == 0 && machine->dims[0] == machine->server->gpus &&
                     (machine->server->fabric == TOPO_FABRIC_MESH || machine->server->fabric == TOPO_FABRIC_PAIRS);
        return pairs ? TOPO_FULLY_CONNECTED : TOPO_SWITCH;
    }
    return machine->kind == RUN_MACHINE_FILE ? TOPO_RING : kinds[machine->kind].join;
}

bool run_machine_is_grid(const struct run_machine *machine)
{
    return machine->kind < RUN_MACHINE_MADE && kinds[machine->kind].join == TOPO_RING;
}

const char *run_machine_wires(enum run_machine_kind kind)
{
    return kinds[kind].wires;
}

bool run_machine_is_wired(enum run_machine_kind kind)
{
    return kind == RUN_MACHINE_MADE || (kind != RUN_MACHINE_FILE && kinds[kind].wired);
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

/* "4x4x8", or the one number of scale-out groups, to the end of the text. */
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
    bool size = kinds[machine->kind].dims == 1 && machine->kind != RUN_MACHINE_FATTREE && machine->ranks == 0;
    if (machine->size_count == 1 && machine->kind != RUN_MACHINE_DIMS && !size) { /* ring:8 has 8 ranks */
        machine->groups = machine->sizes[0];
        machine->size_count = 0;
    }
    return ORR_OK;
}

static bool find_kind(const char *word, size_t length, enum run_machine_kind *kind)
{
    for (unsigned i = 0; i < KIND_COUNT; i++) {
        if (strlen(kinds[i].word) == length && memcmp(kinds[i].word, word, length) == 0) {
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
        known[count++] = kinds[i].word;
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
            if (machine->size_count == 0) { /* a number alone is how many chips the slice has */
                machine->ranks = machine->groups;
                machine->groups = 0;
            }
            return true;
        }
    }
    return false;
}

/* "torus:4x4" has as many dimensions as it has sizes. */
static void read_torus(const char *text, struct run_machine *machine)
{
    if (strncmp(text, "torus:", 6) == 0 && machine->size_count != 3) {
        machine->kind = RUN_MACHINE_DIMS;
        if (machine->size_count == 0) {
            machine->sizes[machine->size_count++] = machine->groups;
            machine->groups = 0;
        }
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

/* ---- laying out ---- */

uint32_t run_machine_told(const struct run_machine *machine)
{
    uint64_t product = machine->size_count > 0 ? 1 : 0;
    for (uint32_t i = 0; i < machine->size_count && product <= INT32_MAX; i++) {
        product *= machine->sizes[i];
    }
    return machine->ranks != 0 ? machine->ranks : product <= INT32_MAX ? (uint32_t)product : UINT32_MAX;
}

/* The largest divisor of `n` that is at most its square root. */
static uint32_t square_side(uint32_t n)
{
    uint32_t side = 1;
    for (uint32_t a = 1; (uint64_t)a * a <= n; a++) {
        side = n % a == 0 ? a : side;
    }
    return side;
}

static void lay_square(uint32_t n, uint32_t sizes[2])
{
    sizes[0] = square_side(n);
    sizes[1] = n / sizes[0];
}

/* Three ascending factors whose largest and smallest differ least. */
static void lay_cube(uint32_t n, uint32_t sizes[3])
{
    uint32_t best = UINT32_MAX;
    for (uint32_t a = 1; (uint64_t)a * a * a <= n; a++) {
        uint32_t rest[2];
        if (n % a != 0) {
            continue;
        }
        lay_square(n / a, rest);
        if (rest[0] >= a && rest[1] - a < best) {
            best = rest[1] - a;
            sizes[0] = a;
            sizes[1] = rest[0];
            sizes[2] = rest[1];
        }
    }
}

/* The divisors of `ranks` nearest to `groups` from below and above: what would have fitted. They come in pairs, so that
 * the smaller of each pair is all that is looked for. */
static enum orr_status fail_groups(const struct run_machine *machine, uint32_t ranks, struct orr_error *err)
{
    uint32_t below = 1;
    uint32_t above = ranks;
    for (uint32_t a = 1; (uint64_t)a * a <= ranks; a++) {
        const uint32_t pair[2] = {a, ranks / a};
        for (int i = 0; i < 2 && ranks % a == 0; i++) {
            below = pair[i] < machine->groups && pair[i] > below ? pair[i] : below;
            above = pair[i] > machine->groups && pair[i] < above ? pair[i] : above;
        }
    }
    char or_above[24] = "";
    if (above != below) {
        (void)snprintf(or_above, sizeof or_above, " or %" PRIu32, above);
    }
    return error_set(err, ORR_EINVAL,
                     "parameter 'machine': %" PRIu32 " groups do not divide %" PRIu32 " ranks of %s; %" PRIu32
                     "%s would",
                     machine->groups, ranks, run_machine_word(machine->kind), below, or_above);
}

static enum orr_status lay_groups(struct run_machine *machine, uint32_t ranks, struct orr_error *err)
{
    uint32_t dims = kinds[machine->kind].dims;
    if (ranks % machine->groups != 0) {
        return fail_groups(machine, ranks, err);
    }
    if (dims == 1) {
        machine->sizes[0] = ranks;
        if (machine->groups != ranks && machine->kind != RUN_MACHINE_FATTREE) {
            return error_set(err, ORR_EINVAL,
                             "parameter 'machine': %s has one dimension, of all %" PRIu32
                             " ranks, and no groups of %" PRIu32 "; ring2d and torus3d have",
                             run_machine_word(machine->kind), ranks, ranks / machine->groups);
        }
    } else if (dims == 2) {
        machine->sizes[0] = machine->groups;
        machine->sizes[1] = ranks / machine->groups;
    } else {
        lay_square(machine->groups, machine->sizes);
        machine->sizes[2] = ranks / machine->groups;
    }
    machine->size_count = dims;
    return ORR_OK;
}

static enum orr_status check_sizes(const struct run_machine *machine, uint32_t ranks, struct orr_error *err)
{
    uint32_t dims = kinds[machine->kind].dims;
    uint64_t product = 1;
    if (dims != 0 && machine->size_count != dims) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'machine': %s has %" PRIu32 " dimension%s; %" PRIu32 " sizes are given",
                         run_machine_word(machine->kind), dims, dims == 1 ? "" : "s", machine->size_count);
    }
    for (uint32_t i = 0; i < machine->size_count && product <= INT32_MAX; i++) {
        product *= machine->sizes[i];
    }
    return product == ranks
               ? ORR_OK
               : error_set(err, ORR_EINVAL,
                           "parameter 'machine': the sizes make %s%" PRIu64 " ranks, where %" PRIu32 " are needed",
                           product > INT32_MAX ? "at least " : "", product, ranks);
}

static void lay_freely(struct run_machine *machine, uint32_t ranks)
{
    machine->size_count = kinds[machine->kind].dims;
    machine->sizes[0] = ranks;
    if (machine->size_count == 2) {
        lay_square(ranks, machine->sizes);
    } else if (machine->size_count == 3) {
        lay_cube(ranks, machine->sizes);
    }
}

/* Whole servers, or a part of one. */
static enum orr_status lay_servers(struct run_machine *machine, uint32_t ranks, struct orr_error *err)
{
    uint32_t gpus = machine->server->gpus;
    bool part = ranks < gpus && machine->server->fabric == TOPO_FABRIC_NVSWITCH;
    if (ranks % gpus != 0 && !part) {
        char below[24] = "";
        if (ranks > gpus) {
            (void)snprintf(below, sizeof below, "%" PRIu32 " or ", ranks / gpus * gpus);
        }
        return error_set(err, ORR_EINVAL,
                         "parameter 'machine': %s has %" PRIu32 " GPUs a server, and %" PRIu32
                         " ranks do not fill whole servers; %s%" PRIu32 " would",
                         machine->server->name, gpus, ranks, below, (ranks / gpus + 1) * gpus);
    }
    machine->sizes[0] = part ? ranks : gpus;
    machine->sizes[1] = part ? 1 : ranks / gpus;
    machine->size_count = 2;
    return ORR_OK;
}

enum orr_status run_machine_settle(struct run_machine *machine, uint32_t ranks, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    if (ranks < 1) {
        return error_set(err, ORR_EINVAL, "parameter 'machine': a machine has at least 1 rank");
    }
    if (ranks == 1 && machine->line == NULL) { /* one of its GPUs, whatever joins them: no link is used */
        machine->ranks = machine->dims[0] = machine->dim_count = 1;
        return ORR_OK;
    }
    if (machine->kind == RUN_MACHINE_MADE) {
        status = machine->line == NULL ? lay_servers(machine, ranks, err) : ORR_OK; /* a line: sizes are those made */
    } else if (machine->groups != 0) {
        status = lay_groups(machine, ranks, err);
    } else if (machine->size_count != 0) {
        status = check_sizes(machine, ranks, err);
    } else {
        lay_freely(machine, ranks);
    }
    if (status != ORR_OK) {
        return status;
    }
    machine->ranks = ranks;
    machine->dim_count = 0;
    for (uint32_t i = 0; i < machine->size_count; i++) {
        if (machine->sizes[i] > 1) {
            machine->dims[machine->dim_count++] = machine->sizes[i];
        }
    }
    return ORR_OK;
}

static void wire(struct run_machine_wiring *wiring, const char *name, uint32_t number)
{
    char *text = wiring->texts[wiring->count];
    (void)snprintf(text, RUN_MACHINE_NAME, "%" PRIu32, number);
    wiring->settings[wiring->count++] = (struct orr_topo_setting){name, text};
}

void run_machine_wire(const struct run_machine *machine, struct run_machine_wiring *wiring)
{
    uint32_t ranks = machine->ranks;
    wiring->count = 0;
    if (machine->kind == RUN_MACHINE_FATTREE) {
        uint32_t leaves = machine->groups != 0 ? machine->groups : ranks / 8 + (ranks % 8 != 0);
        wire(wiring, "hosts", ranks);
        wire(wiring, "per-leaf", ranks / leaves + (ranks % leaves != 0));
        wire(wiring, "spines", leaves < 4 ? 1 : leaves / 2);
    } else if (machine->kind == RUN_MACHINE_MADE) {
        if (machine->line == NULL) {
            wire(wiring, "nodes", machine->sizes[1]);
        }
        if (machine->line == NULL && machine->sizes[0] < machine->server->gpus) {
            wire(wiring, "gpus-per-node", machine->sizes[0]);
        }
    } else if (run_machine_join(machine, 0) != TOPO_RING) {
        wire(wiring, "hosts", ranks);
    } else {
        run_machine_dims_text(machine, wiring->texts[0]);
        wiring->settings[wiring->count++] = (struct orr_topo_setting){"dims", wiring->texts[0]};
    }
}

void run_machine_dims_text(const struct run_machine *machine, char text[RUN_MACHINE_NAME])
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < machine->dim_count && used < RUN_MACHINE_NAME; i++) {
        used +=
            (size_t)snprintf(text + used, RUN_MACHINE_NAME - used, "%s%" PRIu32, i == 0 ? "" : "x", machine->dims[i]);
    }
}

void run_machine_name(const struct run_machine *machine, char text[RUN_MACHINE_NAME])
{
    char dims[RUN_MACHINE_NAME];
    const char *word = machine->kind != RUN_MACHINE_MADE ? run_machine_word(machine->kind)
                       : machine->server != NULL         ? machine->server->name
                                                         : "made";
    run_machine_dims_text(machine, dims);
    if (machine->kind != RUN_MACHINE_FATTREE) {
        (void)snprintf(text, RUN_MACHINE_NAME, "%" PRIu32 "gpu_%s_%.64s", machine->ranks, word, dims);
    } else if (machine->groups != 0) {
        (void)snprintf(text, RUN_MACHINE_NAME, "%" PRIu32 "gpu_%s_%" PRIu32, machine->ranks, word, machine->groups);
    } else {
        (void)snprintf(text, RUN_MACHINE_NAME, "%" PRIu32 "gpu_%s", machine->ranks, word);
    }
}
