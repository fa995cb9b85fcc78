/* SPDX-License-Identifier: Apache-2.0 */
/* What machines there are, and what a name means: its devices, its dimensions, its wires. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "api/machine_wires.h"
#include "base/error.h"
#include "base/plain.h"
#include "base/words.h"
#include "config/devices.h"
#include "presets.h"
#include "report/rows.h"
#include "run/machine_files.h"

static const struct machine_row {
    const char *name, *synonyms, *summary, *device, *source;
    uint32_t gpus; /* of a server; 0: not one of servers */
} rows[] = {
#define SERVER_X(name, synonyms, summary, defaults, type, device, gpus, fabric, rate, delay, nic, every, rails, pcie,  \
                 pairs, pair_count, source)                                                                            \
    {name, synonyms, summary, device, source, gpus},
    PRESET_SERVERS(SERVER_X)
#undef SERVER_X
#define GRID_X(name, synonyms, summary, device, kind, ranks, rate, latency, source)                                    \
    {name, synonyms, summary, device, source, 0},
        PRESET_GRIDS(GRID_X)
#undef GRID_X
};

static const struct machine_row kinds[] = {
#define KIND_X(name, word, dims, join, wires, wired, about) {word, "", about, "", "", 0},
    RUN_MACHINES(KIND_X)
#undef KIND_X
};

#define COLUMN(...) REPORT_COLUMN(machine_row, __VA_ARGS__)
static const struct report_column columns[] = {COLUMN("name", TEXT, 0, name),
                                               COLUMN("synonyms", TEXT, 0, synonyms),
                                               COLUMN("summary", TEXT, 0, summary),
                                               COLUMN("device", TEXT, 0, device),
                                               COLUMN("source", TEXT, 0, source),
                                               COLUMN("gpus_per_server", U32, 0, gpus),
                                               {0}};

enum { ROWS = sizeof rows / sizeof rows[0], KINDS = sizeof kinds / sizeof kinds[0] };

static void list_text(FILE *stream)
{
    (void)fprintf(stream, "Machines with rates of their own; :N behind a name is how many servers there are:\n");
    for (size_t i = 0; i < ROWS; i++) {
        (void)fprintf(stream, "  %-14s %s%s%s%s\n", rows[i].name, rows[i].summary,
                      rows[i].synonyms[0] != '\0' ? " (also " : "", rows[i].synonyms,
                      rows[i].synonyms[0] != '\0' ? ")" : "");
    }
    (void)fprintf(stream, "Kinds of any size and rate, as in ring, 64gpu_torus3d_16, torus:4x4x8:\n");
    for (size_t i = 0; i < KINDS; i++) {
        (void)fprintf(stream, "  %-14s %s\n", kinds[i].name, kinds[i].summary);
    }
    (void)fprintf(stream, "Lines, from the servers up: 'dgx-h100:16 > rail:400Gbps > spine:8'. Files: a network.yml, a "
                          "physical topology, a logical topology.\n");
}

enum orr_status orr_machine_list(enum orr_form form, FILE *stream, struct orr_error *err)
{
    struct json_writer json;
    if (form == ORR_FORM_CSV) {
        report_rows_csv(columns, rows, ROWS, sizeof rows[0], stream);
        for (size_t i = 0; i < KINDS; i++) {
            report_row_csv(columns, &kinds[i], stream);
        }
    } else if (form == ORR_FORM_JSON) {
        json_write_document(&json, stream);
        json_write_key(&json, "machines");
        report_rows_json(columns, rows, ROWS, sizeof rows[0], &json);
        json_write_key(&json, "kinds");
        report_rows_json(columns, kinds, KINDS, sizeof kinds[0], &json);
        json_write_document_end(&json);
    } else {
        list_text(stream);
    }
    return error_of_stream(stream, "the list", err);
}

static const struct machine_row *api_machine_find_row(const char *name)
{
    size_t length = strcspn(name, " :>");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if ((strlen(rows[i].name) == length && memcmp(rows[i].name, name, length) == 0) ||
            words_have(rows[i].synonyms, name, length, false)) {
            return &rows[i];
        }
    }
    return NULL;
}

static void print_device(const struct run_machine *machine, FILE *stream)
{
    double tflops = 0;
    double gbytes = 0;
    if (machine->device != NULL && config_device_find(machine->device, &tflops, &gbytes)) {
        (void)plain_fprintf(stream, "  device      %s: %g TFLOPS of dense BF16, memory %g GB/s\n", machine->device,
                            tflops, gbytes);
    } else {
        (void)fprintf(stream, "  device      not said: compute takes the times of the traces\n");
    }
}

static void print_dims(const struct run_machine *machine, const struct run_quantities *rates,
                       const struct run_quantities *times, FILE *stream)
{
    (void)fprintf(stream, "  ranks       %" PRIu32 "\n  dimensions  what unaware and aware see, and collectives:\n",
                  machine->ranks);
    for (uint32_t i = 0; i < machine->dim_count; i++) {
        uint32_t rate = i < rates->count ? i : rates->count - 1;
        uint32_t time = i < times->count ? i : times->count - 1;
        (void)fprintf(stream, "              %" PRIu32 ": %s of %" PRIu32 ", links of %s and %s\n", i,
                      topo_kind_name(run_machine_join(machine, i)), machine->dims[i], rates->text[rate],
                      times->text[time]);
    }
}

static void print_wires(const struct topo_made *made, FILE *stream)
{
    (void)fprintf(stream,
                  "  wires       what flow and packet see: %" PRIu32 " GPUs, %" PRIu32 " NVSwitches, %" PRIu32
                  " switches, %" PRIu32 " links\n",
                  made->hosts, made->nvswitches, made->switches, made->link_count);
}

static enum orr_status api_machine_settle(const char *name, uint32_t ranks, struct run_machine *machine,
                                          struct arena *arena, struct run_quantities *rates,
                                          struct run_quantities *times, struct orr_error *err)
{
    enum { FEW = 8 };
    const struct orr_run_options nothing_said = {0};
    enum orr_status status = run_machine_read(name, &nothing_said, arena, machine, rates, times, err);
    if (status != ORR_OK) {
        return status;
    }
    if (machine->kind == RUN_MACHINE_FILE) {
        return error_set(err, ORR_EINVAL, "%.80s is a file; orrery topo stat tells of a physical topology", name);
    }
    uint32_t told = run_machine_told(machine);
    uint32_t few = machine->server != NULL ? machine->server->gpus : machine->usual != 0 ? machine->usual : FEW;
    return run_machine_lay_out(machine,
                               ranks != 0  ? ranks
                               : told != 0 ? told
                               : few < 2   ? 2
                                           : few,
                               arena, rates, times, err);
}

enum orr_status orr_machine_ranks(const char *name, uint32_t asked, uint32_t *ranks, struct orr_error *err)
{
    struct run_machine machine = {0};
    struct run_quantities rates, times;
    struct mem mem = {0};
    struct arena arena;
    arena_init(&arena, &mem);
    enum orr_status status = api_machine_settle(name, asked, &machine, &arena, &rates, &times, err);
    if (status == ORR_OK) {
        *ranks = machine.ranks;
    }
    arena_free(&arena);
    return status;
}

/* A machine and all that is known of it. */
struct shown {
    const char *name;
    const struct machine_row *row; /* NULL: of no preset */
    struct run_machine machine;
    struct run_quantities rates, times;
    struct topo_made wires;
};

static void show_text(const struct shown *shown, FILE *stream)
{
    const struct machine_row *row = shown->row;
    (void)fprintf(stream, "%s%s%s\n", shown->name, row != NULL ? ": " : "", row != NULL ? row->summary : "");
    if (row != NULL) {
        (void)fprintf(stream, "  source      %s\n", row->source);
    }
    print_device(&shown->machine, stream);
    print_dims(&shown->machine, &shown->rates, &shown->times, stream);
    print_wires(&shown->wires, stream);
}

static void show_dimensions(const struct shown *shown, struct json_writer *json)
{
    json_write_member_array(json, "dimensions", false);
    for (uint32_t i = 0; i < shown->machine.dim_count; i++) {
        json_write_object(json, true);
        json_write_member_string(json, "kind", topo_kind_name(run_machine_join(&shown->machine, i)));
        json_write_member_u64(json, "size", shown->machine.dims[i]);
        json_write_member_u64(json, "rate_bps",
                              shown->rates.value[i < shown->rates.count ? i : shown->rates.count - 1]);
        json_write_member_u64(json, "latency_ns",
                              shown->times.value[i < shown->times.count ? i : shown->times.count - 1]);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void show_json(const struct shown *shown, FILE *stream)
{
    struct json_writer json;
    double tflops = NAN;
    double gbytes = NAN;
    const char *device = shown->machine.device;
    (void)(device != NULL && config_device_find(device, &tflops, &gbytes));
    json_write_document(&json, stream);
    json_write_member_string(&json, "name", shown->name);
    json_write_member_string(&json, "summary", shown->row != NULL ? shown->row->summary : NULL);
    json_write_member_string(&json, "source", shown->row != NULL ? shown->row->source : NULL);
    json_write_member_string(&json, "device", device);
    json_write_member_fixed(&json, "device_bf16_tflops", tflops, 3);
    json_write_member_fixed(&json, "device_memory_gbytes_per_s", gbytes, 3);
    json_write_member_u64(&json, "ranks", shown->machine.ranks);
    show_dimensions(shown, &json);
    json_write_member_object(&json, "wires", true);
    json_write_member_u64(&json, "gpus", shown->wires.hosts);
    json_write_member_u64(&json, "nvswitches", shown->wires.nvswitches);
    json_write_member_u64(&json, "switches", shown->wires.switches);
    json_write_member_u64(&json, "links", shown->wires.link_count);
    json_write_object_end(&json);
    json_write_document_end(&json);
}

enum orr_status orr_machine_show(const char *name, uint32_t ranks, enum orr_form form, FILE *stream,
                                 struct orr_error *err)
{
    struct mem mem = {0};
    struct arena arena;
    struct shown shown = {.name = name, .row = api_machine_find_row(name)};
    if (form == ORR_FORM_CSV) {
        return error_set(err, ORR_EINVAL, "one machine is no table: as text or as JSON");
    }
    arena_init(&arena, &mem);
    enum orr_status status = api_machine_settle(name, ranks, &shown.machine, &arena, &shown.rates, &shown.times, err);
    if (status == ORR_OK) {
        const struct run_machine_request request = {
            .machine = &shown.machine, .rates = &shown.rates, .times = &shown.times};
        status = run_machine_topology(&request, &mem, &shown.wires, err);
    }
    if (status == ORR_OK) {
        (form == ORR_FORM_JSON ? show_json : show_text)(&shown, stream);
        status = error_of_stream(stream, "the machine", err);
        topo_made_free(&shown.wires);
    }
    arena_free(&arena);
    return status;
}

bool api_machine_is_file(const char *text)
{
    struct run_machine machine;
    struct orr_error ignored = {0};
    return run_machine_parse(text, &machine, &ignored) == ORR_OK ? machine.kind == RUN_MACHINE_FILE
                                                                 : access(text, F_OK) == 0;
}

enum orr_status api_machine_wires(const char *name, struct mem *mem, struct topo_made *made, struct orr_error *err)
{
    struct run_machine machine = {0};
    struct run_quantities rates = {0};
    struct run_quantities times = {0};
    struct arena arena;
    arena_init(&arena, mem);
    enum orr_status status = api_machine_settle(name, 0, &machine, &arena, &rates, &times, err);
    if (status == ORR_OK) {
        const struct run_machine_request request = {.machine = &machine, .rates = &rates, .times = &times};
        status = run_machine_topology(&request, mem, made, err);
    }
    arena_free(&arena);
    return status;
}
