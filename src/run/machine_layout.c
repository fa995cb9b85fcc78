/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of ranks laid out in dimensions, and what a machine so laid out says to the generator of its wires: as square
 * as the number allows, because that is what people build when nothing else is said. */
#include "run/machine_name.h"

#include <inttypes.h>

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
    uint32_t dims = run_machine_rows[machine->kind].dims;
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
        bool within = run_machine_rows[machine->kind].join == TOPO_SWITCH; /* what lies within a group comes first */
        machine->sizes[within] = machine->groups;
        machine->sizes[!within] = ranks / machine->groups;
    } else {
        lay_square(machine->groups, machine->sizes);
        machine->sizes[2] = ranks / machine->groups;
    }
    machine->size_count = dims;
    return ORR_OK;
}

static enum orr_status check_sizes(const struct run_machine *machine, uint32_t ranks, struct orr_error *err)
{
    uint32_t dims = run_machine_rows[machine->kind].dims;
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

/* Groups as large as there are links to as many others, a router's GPUs as many as its links to other groups. */
static void lay_dragonfly(uint32_t n, uint32_t sizes[2])
{
    uint32_t side = square_side(n);
    sizes[0] = (uint64_t)side * (side + 1) >= n ? side : n / side;
    sizes[1] = n / sizes[0];
}

/* Servers of 8 GPUs, or as many as divide the number and leave more than one server. */
static void lay_rails(uint32_t n, uint32_t sizes[2])
{
    sizes[0] = n < 16 ? n / 2 : 8;
    while (sizes[0] > 1 && n % sizes[0] != 0) {
        sizes[0]--;
    }
    sizes[1] = n / (sizes[0] > 0 ? sizes[0] : 1);
}

static void lay_freely(struct run_machine *machine, uint32_t ranks)
{
    machine->size_count = run_machine_rows[machine->kind].dims;
    machine->sizes[0] = ranks;
    if (machine->kind == RUN_MACHINE_DRAGONFLY) {
        lay_dragonfly(ranks, machine->sizes);
    } else if (machine->kind == RUN_MACHINE_RAIL_ONLY) {
        lay_rails(ranks, machine->sizes);
    } else if (machine->size_count == 2) {
        lay_square(ranks, machine->sizes);
    } else if (machine->size_count == 3) {
        lay_cube(ranks, machine->sizes);
    }
}

/* Dragonflies and rails join groups of ranks: at least two, and of a dragonfly as many as a group has links to. */
static enum orr_status check_joined(const struct run_machine *machine, struct orr_error *err)
{
    bool fly = machine->kind == RUN_MACHINE_DRAGONFLY;
    uint64_t most = fly ? (uint64_t)machine->sizes[0] + 1 : UINT32_MAX;
    bool joined = fly || machine->kind == RUN_MACHINE_RAIL_ONLY;
    return !joined || (machine->sizes[1] >= 2 && machine->sizes[1] <= most)
               ? ORR_OK
               : error_set(err, ORR_EINVAL,
                           "parameter 'machine': %s of %" PRIu32 " x %" PRIu32 " ranks: at least 2%s of %" PRIu32
                           " ranks can be joined, as in %s",
                           run_machine_word(machine->kind), machine->sizes[0], machine->sizes[1],
                           fly ? " groups, and at most one more than each has ranks," : " servers", machine->sizes[0],
                           fly ? "dragonfly:8x9" : "rail-only:8x4");
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
    status = status == ORR_OK ? check_joined(machine, err) : status;
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

/* GPUs of each router in a group of `gpus`: as many as there can be with at least twice as many routers. */
static uint32_t routed(uint32_t gpus)
{
    uint32_t most = 1;
    for (uint32_t p = 2; 2 * (uint64_t)p * p <= gpus; p++) {
        most = gpus % p == 0 ? p : most;
    }
    return most;
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
    } else if (machine->kind == RUN_MACHINE_DRAGONFLY) {
        uint32_t per_router = routed(machine->sizes[0]);
        wire(wiring, "routers", machine->sizes[0] / per_router);
        wire(wiring, "per-router", per_router);
        wire(wiring, "global-links", per_router);
        wire(wiring, "router-groups", machine->sizes[1]);
    } else if (machine->kind == RUN_MACHINE_RAIL_ONLY) {
        wire(wiring, "gpus-per-node", machine->sizes[0]);
        wire(wiring, "nodes", machine->sizes[1]);
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
