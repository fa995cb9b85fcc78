/* SPDX-License-Identifier: Apache-2.0 */
/* What machines there are, and what a name means: its devices, its dimensions, its wires. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/plain.h"
#include "base/words.h"
#include "config/devices.h"
#include "presets.h"
#include "run/machine_files.h"

static const struct machine_row {
    const char *name, *synonyms, *summary, *device, *source;
} rows[] = {
#define SERVER_X(name, synonyms, summary, defaults, type, device, gpus, fabric, rate, delay, nic, every, rails, pcie,  \
                 pairs, pair_count, source)                                                                            \
    {name, synonyms, summary, device, source},
    PRESET_SERVERS(SERVER_X)
#undef SERVER_X
#define GRID_X(name, synonyms, summary, device, kind, ranks, rate, latency, source)                                    \
    {name, synonyms, summary, device, source},
        PRESET_GRIDS(GRID_X)
#undef GRID_X
};

static const struct {
    const char *name, *about;
} kinds[] = {
#define KIND_X(name, word, dims, join, wires, wired, about) {word, about},
    LAB_MACHINES(KIND_X)
#undef KIND_X
};

enum orr_status orr_machine_list(FILE *stream, struct orr_error *err)
{
    (void)fprintf(stream, "Machines with rates of their own; :N behind a name is how many servers there are:\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        (void)fprintf(stream, "  %-14s %s%s%s%s\n", rows[i].name, rows[i].summary,
                      rows[i].synonyms[0] != '\0' ? " (also " : "", rows[i].synonyms,
                      rows[i].synonyms[0] != '\0' ? ")" : "");
    }
    (void)fprintf(stream, "Kinds of any size and rate, as in ring, 64gpu_torus3d_16, torus:4x4x8:\n");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        (void)fprintf(stream, "  %-14s %s\n", kinds[i].name, kinds[i].about);
    }
    (void)fprintf(stream, "Lines, from the servers up: 'dgx-h100:16 > rail:400Gbps > spine:8'. Files: a network.yml, a "
                          "physical topology.\n");
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

static void print_device(const struct lab_machine *machine, FILE *stream)
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

static void print_dims(const struct lab_machine *machine, const struct lab_quantities *rates,
                       const struct lab_quantities *times, FILE *stream)
{
    (void)fprintf(stream, "  ranks       %" PRIu32 "\n  dimensions  what unaware and aware see, and collectives:\n",
                  machine->ranks);
    for (uint32_t i = 0; i < machine->dim_count; i++) {
        uint32_t rate = i < rates->count ? i : rates->count - 1;
        uint32_t time = i < times->count ? i : times->count - 1;
        (void)fprintf(stream, "              %" PRIu32 ": %s of %" PRIu32 ", links of %s and %s\n", i,
                      topo_kind_name(lab_machine_join(machine, i)), machine->dims[i], rates->text[rate],
                      times->text[time]);
    }
}

static enum orr_status print_wires(const struct lab_machine_request *request, struct mem *mem, FILE *stream,
                                   struct orr_error *err)
{
    struct topo_made made = {0};
    enum orr_status status = lab_machine_topology(request, mem, &made, err);
    if (status == ORR_OK) {
        (void)fprintf(stream,
                      "  wires       what flow and packet see: %" PRIu32 " GPUs, %" PRIu32 " NVSwitches, %" PRIu32
                      " switches, %" PRIu32 " links\n",
                      made.hosts, made.nvswitches, made.switches, made.link_count);
        topo_made_free(&made);
    }
    return status;
}

static enum orr_status api_machine_settle(const char *name, uint32_t ranks, struct lab_machine *machine,
                                          struct arena *arena, struct lab_quantities *rates,
                                          struct lab_quantities *times, struct orr_error *err)
{
    enum { FEW = 8 };
    const struct orr_run_options nothing_said = {0};
    enum orr_status status = lab_machine_read(name, &nothing_said, arena, machine, rates, times, err);
    if (status != ORR_OK) {
        return status;
    }
    if (machine->kind == LAB_MACHINE_FILE) {
        return error_set(err, ORR_EINVAL, "%.80s is a file; orrery topo stat tells of a physical topology", name);
    }
    uint32_t told = lab_machine_told(machine);
    uint32_t few = machine->server != NULL ? machine->server->gpus : machine->usual != 0 ? machine->usual : FEW;
    return lab_machine_lay_out(machine,
                               ranks != 0  ? ranks
                               : told != 0 ? told
                               : few < 2   ? 2
                                           : few,
                               arena, rates, times, err);
}

enum orr_status orr_machine_show(const char *name, uint32_t ranks, FILE *stream, struct orr_error *err)
{
    struct mem mem = {0};
    struct arena arena;
    struct lab_machine machine = {0};
    struct lab_quantities rates = {0};
    struct lab_quantities times = {0};
    const struct machine_row *row = api_machine_find_row(name);
    arena_init(&arena, &mem);
    enum orr_status status = api_machine_settle(name, ranks, &machine, &arena, &rates, &times, err);
    if (status == ORR_OK) {
        (void)fprintf(stream, "%s%s%s\n", name, row != NULL ? ": " : "", row != NULL ? row->summary : "");
        if (row != NULL) {
            (void)fprintf(stream, "  source      %s\n", row->source);
        }
        print_device(&machine, stream);
        print_dims(&machine, &rates, &times, stream);
        const struct lab_machine_request request = {.machine = &machine, .rates = &rates, .times = &times};
        status = print_wires(&request, &mem, stream, err);
    }
    arena_free(&arena);
    return status == ORR_OK ? error_of_stream(stream, "the machine", err) : status;
}
