/* SPDX-License-Identifier: Apache-2.0 */
/* What a machine is, from its name, its file or its wires: first what does not depend on the job, then the rest. Values
 * that come from options are spelled with their unit at once, so that nobody has to know whose bare numbers mean what.
 */
#include "run/machine_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/notices.h"
#include "base/units.h"
#include "config/config.h"
#include "config/wired.h"
#include "io/file.h"
#include "io/kind.h"
#include "run/wired_check.h"
#include "topo/make/grammar.h"
#include "topo/make/make.h"

/* ---- quantities ---- */

/* `value` in units of `scale`, exactly: the scale is a power of ten. */
static const char *run_machine_read_spell(struct arena *arena, uint64_t value, uint64_t scale, int digits,
                                          const char *suffix)
{
    char part[24] = "";
    if (value % scale != 0) {
        int used = snprintf(part, sizeof part, ".%0*" PRIu64, digits, value % scale);
        while (part[used - 1] == '0') {
            part[--used] = '\0';
        }
    }
    return arena_printf(arena, "%" PRIu64 "%s%s", value / scale, part, suffix);
}

static enum orr_status run_machine_read_read_one(const char *option, const char *word, enum units_kind kind,
                                                 struct arena *arena, struct run_quantities *list,
                                                 struct orr_error *err)
{
    bool rate = kind == UNITS_RATE;
    struct orr_error reason = {0};
    uint64_t value = 0;
    enum orr_status status = units_parse(word, kind, rate ? "Gbps" : "us", &value, &reason);
    if (status != ORR_OK) {
        return error_set(err, status, "%s: %s", option, reason.text);
    }
    if (rate && value == 0) {
        return error_set(err, ORR_ERANGE, "%s: a rate of 0 moves nothing", option);
    }
    if (list->count == TOPO_MAX_DIMS) {
        return error_set(err, ORR_EINVAL, "%s has more than %d values", option, TOPO_MAX_DIMS);
    }
    const char *text = rate ? run_machine_read_spell(arena, value, 1000000000, 9, "Gbps")
                            : run_machine_read_spell(arena, value, 1000, 3, "us");
    list->list = list->count == 0 ? text : arena_printf(arena, "%s,%s", list->list, text == NULL ? "" : text);
    list->value[list->count] = value;
    list->text[list->count++] = text;
    return text != NULL && list->list != NULL ? ORR_OK : mem_error(arena->mem, "a list of quantities", err);
}

static enum orr_status run_machine_read_read_list(const char *option, const char *text, enum units_kind kind,
                                                  struct arena *arena, struct run_quantities *list,
                                                  struct orr_error *err)
{
    struct run_quantities made = {0};
    enum orr_status status = ORR_OK;
    for (const char *at = text; status == ORR_OK; at++) {
        size_t length = strcspn(at, ",");
        const char *word = arena_strndup(arena, at, length);
        status = word == NULL ? mem_error(arena->mem, "a list of quantities", err)
                              : run_machine_read_read_one(option, word, kind, arena, &made, err);
        at += length;
        if (*at == '\0') {
            break;
        }
    }
    if (status == ORR_OK) {
        *list = made;
    }
    return status;
}

enum orr_status run_rates_read(const char *option, const char *text, struct arena *arena, struct run_quantities *rates,
                               struct orr_error *err)
{
    return run_machine_read_read_list(option, text, UNITS_RATE, arena, rates, err);
}

enum orr_status run_times_read(const char *option, const char *text, struct arena *arena, struct run_quantities *times,
                               struct orr_error *err)
{
    return run_machine_read_read_list(option, text, UNITS_TIME, arena, times, err);
}

/* Of the servers of rail-only machines: a DGX H100's. */
#define RAIL_NVLINK         "3600Gbps"
#define RAIL_NVLINK_LATENCY "25ns"

static enum orr_status run_machine_read_rates(const struct run_machine *machine, const struct orr_run_options *options,
                                              struct arena *arena, struct run_quantities *rates,
                                              struct run_quantities *times, struct orr_error *err)
{
    bool file = machine->kind == RUN_MACHINE_FILE;
    if (machine->kind >= RUN_MACHINE_MADE && (options->bandwidth != NULL || options->latency != NULL)) {
        return error_set(err, ORR_EINVAL, "parameter '%s': %s says it; change it there%s",
                         options->bandwidth != NULL ? "bandwidth" : "latency", file ? machine->path : options->machine,
                         file ? "" : ", in a line such as dgx-h100:2 > rail:200Gbps");
    }
    const char *rate = options->bandwidth != NULL ? options->bandwidth : machine->rate;
    const char *latency = options->latency != NULL ? options->latency : machine->latency;
    rate = rate != NULL ? rate : "25Gbps";
    latency = latency != NULL ? latency : "1us";
    if (machine->kind == RUN_MACHINE_RAIL_ONLY) { /* one value is the rails' */
        rate = strchr(rate, ',') != NULL ? rate : arena_printf(arena, RAIL_NVLINK ",%s", rate);
        latency = strchr(latency, ',') != NULL ? latency : arena_printf(arena, RAIL_NVLINK_LATENCY ",%s", latency);
    }
    if (rate == NULL || latency == NULL) {
        return mem_error(arena->mem, "a list of quantities", err);
    }
    enum orr_status status = run_rates_read("parameter 'bandwidth'", rate, arena, rates, err);
    return status != ORR_OK ? status : run_times_read("parameter 'latency'", latency, arena, times, err);
}

/* ---- wires ---- */

void run_rates_of(const struct topo_graph *graph, struct run_quantities *rates)
{
    *rates = (struct run_quantities){0};
    for (uint32_t i = 0; i < graph->link_count && rates->count < TOPO_MAX_DIMS; i++) {
        uint32_t at = 0;
        while (at < rates->count && rates->value[at] != graph->links[i].rate_bps) {
            at++;
        }
        if (at == rates->count) {
            rates->value[rates->count++] = graph->links[i].rate_bps;
        }
    }
}

enum orr_status run_machine_make(const char *what, struct topo_settings *settings, const struct run_machine *machine,
                                 const struct orr_notices *notices, struct mem *mem, struct topo_made *made,
                                 struct orr_error *err)
{
    struct run_machine_wiring wiring;
    struct notes notes;
    enum orr_status status = ORR_OK;
    settings->what = what;
    run_machine_wire(machine, &wiring);
    for (size_t i = 0; i < wiring.count && status == ORR_OK; i++) {
        status = topo_settings_take(settings, wiring.settings[i].name, wiring.settings[i].value, err);
    }
    notices_begin(&notes, mem, notices);
    status = status == ORR_OK ? topo_make(what, settings, &notes, made, mem, err) : status;
    notices_end(&notes, notices);
    return status;
}

/* ---- files of the user ---- */

static enum orr_status network_dims(struct run_machine *machine, struct mem *mem, struct orr_error *err)
{
    struct notes notes;
    struct topo_dims dims = {0};
    notes_init(&notes, mem, false); /* the run reads the file again, and tells what is odd about it */
    enum orr_status status = config_read_network(machine->path, &notes, &dims, err);
    notes_free(&notes);
    if (status == ORR_OK) {
        for (uint32_t i = 0; i < dims.count; i++) {
            machine->dims[i] = dims.dim[i].size;
        }
        machine->dim_count = dims.count;
        machine->ranks = dims.ranks;
    }
    return status;
}

static enum orr_status wired_dims(struct run_machine *machine, struct mem *mem, struct run_quantities *rates,
                                  struct orr_error *err)
{
    struct notes notes;
    struct arena arena;
    struct topo_graph graph;
    struct config_wired_extra extra = {0};
    notes_init(&notes, mem, false);
    arena_init(&arena, mem);
    enum orr_status status = config_read_topology(machine->path, &arena, &notes, &graph, &extra, err);
    if (status == ORR_OK) {
        uint32_t hosts = 0;
        for (uint32_t i = 0; i < graph.node_count; i++) {
            hosts += graph.kinds[i] == TOPO_NODE_HOST;
        }
        machine->ranks = machine->dims[0] = hosts;
        machine->dim_count = 1;
        machine->reserved_mib = run_wired_reserved_mib(&graph, RUN_HEADROOM_FACTOR);
        run_rates_of(&graph, rates);
        topo_graph_free(&graph);
    }
    arena_free(&arena);
    notes_free(&notes);
    return status;
}

/* Of a GPU inside its server, and of its share of the NICs: the first links of each kind that are met. */
static void made_rates(const struct topo_made *made, uint64_t rate[2], uint64_t delay[2])
{
    uint32_t nics = 0;
    for (uint32_t i = 0; i < made->link_count; i++) {
        const struct topo_made_link *link = &made->links[i];
        if (link->a >= made->hosts && link->b >= made->hosts) {
            continue;
        }
        uint32_t other = link->a < made->hosts ? link->b : link->a;
        bool outside = other >= made->hosts + made->nvswitches;
        nics += outside ? 1 : 0;
        if (rate[outside] == 0) {
            rate[outside] = made->classes[link->class].rate.value;
            delay[outside] = made->classes[link->class].delay.value;
        }
    }
    if (nics > 0 && nics < made->hosts) {
        rate[1] = rate[1] * nics / made->hosts;
    }
}

static enum orr_status add_quantity(struct run_quantities *list, uint64_t value, uint64_t scale, int digits,
                                    const char *suffix, struct arena *arena, struct orr_error *err)
{
    const char *text = run_machine_read_spell(arena, value, scale, digits, suffix);
    list->list = list->count == 0 ? text : arena_printf(arena, "%s,%s", list->list, text == NULL ? "" : text);
    list->value[list->count] = value;
    list->text[list->count++] = text;
    return text != NULL && list->list != NULL ? ORR_OK : mem_error(arena->mem, "a list of quantities", err);
}

enum orr_status run_line_network_read(const char *line, struct run_line_network *network, struct orr_error *err)
{
    struct topo_levels levels;
    double share = 1;
    enum orr_status status = topo_grammar_read(line, &levels, err);
    if (status != ORR_OK) {
        return status;
    }
    for (unsigned i = 0; i < levels.level_count; i++) {
        const struct topo_level *level = &levels.level[i];
        share = level->has_ratio && level->down > level->up ? share * (double)level->up / (double)level->down : share;
    }
    *network = (struct run_line_network){.gpus = levels.gpus != 0 ? levels.gpus : levels.server->gpus,
                                         .servers = levels.servers};
    if (levels.level_count > 0 && (levels.level[0].has_rate || share < 1)) {
        struct topo_quantity rate = levels.level[0].rate;
        if (!levels.level[0].has_rate) {
            status = topo_rate_read(levels.level[0].name, levels.server->nic, &rate, err);
        }
        network->nic_gbytes = share * (double)rate.value / 8e9;
    }
    return status;
}

const char *run_machine_made_of(const struct run_machine *machine)
{
    return machine->line != NULL ? machine->line : machine->server->name;
}

enum orr_status run_machine_made_dims(struct run_machine *machine, struct arena *arena, struct run_quantities *rates,
                                      struct run_quantities *times, struct orr_error *err)
{
    struct topo_settings settings = {0};
    struct topo_made made;
    uint64_t rate[2] = {0, 0};
    uint64_t delay[2] = {0, 0};
    enum orr_status status =
        run_machine_make(run_machine_made_of(machine), &settings, machine, NULL, arena->mem, &made, err);
    if (status != ORR_OK) {
        return status;
    }
    made_rates(&made, rate, delay);
    machine->ranks = made.hosts;
    machine->dim_count = 0;
    *rates = (struct run_quantities){0};
    *times = (struct run_quantities){0};
    for (uint32_t i = 0; i < made.dim_count && status == ORR_OK; i++) {
        bool inside = i == 0 && made.dim_count > 1 ? rate[0] > 0 : rate[1] == 0;
        if (made.dims[i] > 1 || (made.hosts == 1 && i == 0)) {
            machine->dims[machine->dim_count++] = made.dims[i];
            status = add_quantity(rates, rate[!inside], 1000000000, 9, "Gbps", arena, err);
            status = status == ORR_OK ? add_quantity(times, delay[!inside], 1000, 3, "us", arena, err) : status;
        }
    }
    topo_made_free(&made);
    return status;
}

/* ---- the machine as a whole ---- */

enum orr_status run_machine_look(struct run_machine *machine, struct orr_error *err)
{
    static const enum file_kind taken[] = {FILE_KIND_NETWORK, FILE_KIND_WIRES, FILE_KIND_LOGICAL};
    enum file_kind kind = file_kind_read(machine->path);
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        if (kind == taken[i]) {
            machine->is_network = kind != FILE_KIND_WIRES;
            machine->is_logical = kind == FILE_KIND_LOGICAL;
            return ORR_OK;
        }
    }
    return kind == FILE_KIND_UNKNOWN
               ? ORR_OK
               : error_set(err, ORR_EINVAL,
                           "%.300s: this is %s; parameter 'machine' wants a network file (YAML), a physical topology "
                           "or a logical topology (JSON)",
                           machine->path, file_kind_name(kind));
}

/* {"logical-dims": ["4", "2"]} is dims:4x2. */
static enum orr_status run_machine_read_logical(struct run_machine *machine, struct mem *mem, struct orr_error *err)
{
    struct topo_dims dims = {0};
    struct file_buffer buffer;
    struct notes notes;
    notes_init(&notes, mem, false);
    file_buffer_init(&buffer, mem);
    enum orr_status status = file_buffer_read(&buffer, machine->path, err);
    if (status == ORR_OK) {
        status = config_parse_logical(machine->path, (const char *)buffer.bytes, buffer.size, &notes, &dims, err);
    }
    file_buffer_free(&buffer);
    notes_free(&notes);
    if (status == ORR_OK) {
        *machine = (struct run_machine){.kind = RUN_MACHINE_DIMS, .size_count = dims.count};
        for (uint32_t i = 0; i < dims.count; i++) {
            machine->sizes[i] = dims.dim[i].size;
        }
    }
    return status;
}

enum orr_status run_machine_read(const char *text, const struct orr_run_options *options, struct arena *arena,
                                 struct run_machine *machine, struct run_quantities *rates,
                                 struct run_quantities *times, struct orr_error *err)
{
    enum orr_status status = run_machine_parse(text, machine, err);
    if (status == ORR_OK && machine->kind == RUN_MACHINE_FILE) {
        status = run_machine_look(machine, err);
    }
    if (status == ORR_OK && machine->kind == RUN_MACHINE_FILE && machine->is_logical) {
        status = run_machine_read_logical(machine, arena->mem, err);
    }
    if (status == ORR_OK) {
        status = run_machine_read_rates(machine, options, arena, rates, times, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    if (machine->kind == RUN_MACHINE_FILE) {
        return machine->is_network ? network_dims(machine, arena->mem, err)
                                   : wired_dims(machine, arena->mem, rates, err);
    }
    return machine->kind == RUN_MACHINE_MADE && machine->line != NULL
               ? run_machine_made_dims(machine, arena, rates, times, err)
               : ORR_OK;
}

enum orr_status run_machine_lay_out(struct run_machine *machine, uint32_t ranks, struct arena *arena,
                                    struct run_quantities *rates, struct run_quantities *times, struct orr_error *err)
{
    if (machine->kind == RUN_MACHINE_FILE || machine->line != NULL) {
        return ORR_OK;
    }
    enum orr_status status = run_machine_settle(machine, ranks, err);
    return status == ORR_OK && machine->kind == RUN_MACHINE_MADE && ranks > 1
               ? run_machine_made_dims(machine, arena, rates, times, err)
               : status;
}
