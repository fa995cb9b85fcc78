/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every value is written with its unit, so that nobody has to know whose bare numbers mean what. The settings that a
 * topology's name does not say (chunks, scheduling, packets) are those of the published runs on such machines (spec
 * rocm §1.8, §1.12): one place to look them up is the file itself.
 */
#include "run/machine_files.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_stream.h"
#include "config/devices.h"
#include "config/topology_write.h"
#include "io/file.h"
#include "run/wired_check.h"
#include "topo/make/make.h"

static const char *run_machine_files_text_of(const struct run_quantities *list, uint32_t dim)
{
    return list->text[dim < list->count ? dim : list->count - 1];
}

/* ---- texts ---- */

/* "[ a, b, c ]" with one entry for each dimension. */
static const char *spread(struct arena *arena, const struct run_machine *machine, const struct run_quantities *list,
                          const char *word)
{
    const char *text = "";
    for (uint32_t i = 0; i < machine->dim_count && text != NULL; i++) {
        text = arena_printf(arena, "%s%s%s", text, i == 0 ? "" : ", ",
                            list != NULL ? run_machine_files_text_of(list, i) : word);
    }
    return text == NULL ? NULL : arena_printf(arena, "[%s]", text);
}

static const char *sizes_text(struct arena *arena, const struct run_machine *machine, const char *quote)
{
    const char *text = "";
    for (uint32_t i = 0; i < machine->dim_count && text != NULL; i++) {
        text = arena_printf(arena, "%s%s%s%" PRIu32 "%s", text, i == 0 ? "" : ", ", quote, machine->dims[i], quote);
    }
    return text == NULL ? NULL : arena_printf(arena, "[%s]", text);
}

static const char *kinds_text(struct arena *arena, const struct run_machine *machine)
{
    const char *text = "";
    for (uint32_t i = 0; i < machine->dim_count && text != NULL; i++) {
        text = arena_printf(arena, "%s%s%s", text, i == 0 ? "" : ", ", topo_kind_name(run_machine_join(machine, i)));
    }
    return text == NULL ? NULL : arena_printf(arena, "[%s]", text);
}

static const char *network_text(const struct run_machine_request *request, struct arena *arena)
{
    const struct run_machine *machine = request->machine;
    const char *kinds = kinds_text(arena, machine);
    const char *sizes = sizes_text(arena, machine, "");
    const char *rates = spread(arena, machine, request->rates, NULL);
    const char *times = spread(arena, machine, request->times, NULL);
    return kinds == NULL || sizes == NULL || rates == NULL || times == NULL
               ? NULL
               : arena_printf(arena, "topology: %s\nnpus_count: %s\nbandwidth: %s\nlatency: %s\n", kinds, sizes, rates,
                              times);
}

/* What fits how the ranks of a dimension are joined; halving and doubling needs a power of two. */
static const char *algorithm_of(const struct run_machine *machine, uint32_t dim)
{
    uint32_t size = machine->dims[dim];
    switch (run_machine_join(machine, dim)) {
    case TOPO_SWITCH:
        return (size & (size - 1)) == 0 ? "\"halvingDoubling\"" : "\"ring\"";
    case TOPO_FULLY_CONNECTED:
        return "\"direct\"";
    default:
        return "\"ring\"";
    }
}

static const char *algorithms_text(struct arena *arena, const struct run_machine *machine)
{
    const char *text = "";
    for (uint32_t i = 0; i < machine->dim_count && text != NULL; i++) {
        text = arena_printf(arena, "%s%s%s", text, i == 0 ? "" : ", ", algorithm_of(machine, i));
    }
    return text == NULL ? NULL : arena_printf(arena, "[%s]", text);
}

/* On the wires of servers collectives are NCCL's; where only dimensions are seen those have no meaning, and each
 * dimension has what fits it. */
static const char *system_text(const struct run_machine_request *request, struct arena *arena)
{
    const struct run_machine *machine = request->machine;
    bool nccl = machine->kind == RUN_MACHINE_MADE && request->backend >= ORR_BACKEND_PACKET;
    const char *most = nccl ? "[\"nccl\"]" : algorithms_text(arena, machine);
    const char *all_to_all = nccl ? most : spread(arena, machine, NULL, "\"direct\"");
    const char *device = "  \"local-mem-bw\": 540,\n";
    double tflops = 0;
    double gbytes = 0;
    if (machine->device != NULL && config_device_find(machine->device, &tflops, &gbytes)) {
        device = arena_printf(arena, "  \"local-mem-bw\": %.0f,\n  \"peak-perf\": %.0f,\n", gbytes, tflops);
    }
    return most == NULL || all_to_all == NULL || device == NULL
               ? NULL
               : arena_printf(arena,
                              "{\n"
                              "  \"scheduling-policy\": \"LIFO\",\n"
                              "  \"endpoint-delay\": 10,\n"
                              "  \"active-chunks-per-dimension\": 1,\n"
                              "  \"preferred-dataset-splits\": 4,\n"
                              "  \"all-reduce-implementation\": %s,\n"
                              "  \"all-gather-implementation\": %s,\n"
                              "  \"reduce-scatter-implementation\": %s,\n"
                              "  \"all-to-all-implementation\": %s,\n"
                              "  \"collective-optimization\": \"localBWAware\",\n"
                              "%s"
                              "  \"boost-mode\": 0\n"
                              "}\n",
                              most, most, most, all_to_all, device);
}

/* A GPU of a grid has all links of its dimensions itself: the switch that passes on for it is a part of it, joined to
 * it by a link that holds nothing up. */
static uint64_t port_rate(const struct run_machine_request *request)
{
    const struct run_machine *machine = request->machine;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < machine->dim_count; i++) {
        uint64_t rate = request->rates->value[i < request->rates->count ? i : request->rates->count - 1];
        sum += machine->dims[i] > 2 ? 2 * rate : rate;
    }
    return sum;
}

/* Marking begins at 4 KB for each Gbps, between 20 and 800 KB, and is certain at four times that: what the public
 * configurations have for 25, 100 and more Gbps. */
static const char *marks_text(const struct run_machine_request *request, const struct run_quantities *wires,
                              struct arena *arena)
{
    uint64_t rates[TOPO_MAX_DIMS + 1];
    const struct run_quantities *list = request->machine->kind == RUN_MACHINE_MADE ? wires : request->rates;
    uint32_t rate_count = list->count;
    memcpy(rates, list->value, rate_count * sizeof *rates);
    if (run_machine_is_grid(request->machine)) {
        rates[rate_count++] = port_rate(request);
    }
    const char *most = "";
    const char *least = "";
    const char *share = "";
    uint32_t count = 0;
    for (uint32_t i = 0; i < rate_count; i++) {
        bool met = false;
        for (uint32_t k = 0; k < i; k++) {
            met = met || rates[k] == rates[i];
        }
        uint64_t kilobytes = rates[i] / 250000000;
        kilobytes = kilobytes < 20 ? 20 : kilobytes > 800 ? 800 : kilobytes;
        if (!met) {
            count++;
            most = arena_printf(arena, "%s %" PRIu64 " %" PRIu64, most, rates[i], 4 * kilobytes);
            least = arena_printf(arena, "%s %" PRIu64 " %" PRIu64, least, rates[i], kilobytes);
            share = arena_printf(arena, "%s %" PRIu64 " 0.2", share, rates[i]);
        }
        if (most == NULL || least == NULL || share == NULL) {
            return NULL;
        }
    }
    return arena_printf(arena, "KMAX_MAP %" PRIu32 "%s\nKMIN_MAP %" PRIu32 "%s\nPMAX_MAP %" PRIu32 "%s\n", count, most,
                        count, least, count, share);
}

enum { BUFFER_MIB = 32, BUFFER_MIB_MOST = 4095 };

/* Switches of many ports need more for what they set aside alone. */
static uint64_t buffer_mib(uint64_t reserved)
{
    uint64_t wanted = reserved <= BUFFER_MIB ? BUFFER_MIB : reserved + BUFFER_MIB;
    return wanted < BUFFER_MIB_MOST ? wanted : BUFFER_MIB_MOST;
}

/* A window of one round trip at line rate, and pause frames behind it; 4 KiB of data a packet, as RoCE has. */
static const char *config_text(const struct run_machine_request *request, const char *topology,
                               const struct run_quantities *wires, uint64_t buffer, struct arena *arena)
{
    const char *marks = marks_text(request, wires, arena);
    return marks == NULL ? NULL
                         : arena_printf(arena,
                                        "TOPOLOGY_FILE %s\nPACKET_PAYLOAD_SIZE 4096\nCC_MODE 12\nENABLE_QCN 1\n"
                                        "HAS_WIN 1\nL2_CHUNK_SIZE 4000\nL2_ACK_INTERVAL 1\nBUFFER_SIZE %" PRIu64 "\n%s",
                                        topology, buffer, marks);
}

/* ---- files ---- */

static enum orr_status run_machine_files_put(const struct run_machine_request *request, struct arena *arena,
                                             const char *name, const char *text, const char **path,
                                             struct orr_error *err)
{
    const char *made = arena_printf(arena, "%s/%s", request->folder, name);
    if (made == NULL || text == NULL) {
        return mem_error(arena->mem, "a machine's files", err);
    }
    enum orr_status status = ORR_OK;
    if (request->texts == NULL) {
        status = file_write(made, text, strlen(text), err);
    } else {
        request->texts->text[request->texts->count++] = (struct orr_text){made, text, strlen(text)};
    }
    if (status == ORR_OK && path != NULL) {
        *path = made;
    }
    return status;
}

enum orr_status run_machine_topology(const struct run_machine_request *request, struct mem *mem, struct topo_made *made,
                                     struct orr_error *err)
{
    const struct run_machine *machine = request->machine;
    struct topo_settings settings = {0};
    if (machine->kind == RUN_MACHINE_MADE) { /* servers have rates of their own */
        return run_machine_make(run_machine_made_of(machine), &settings, machine, request->notices, mem, made, err);
    }
    char port[40];
    (void)snprintf(port, sizeof port, "%" PRIu64 "bps", port_rate(request));
    const struct run_quantities *rates = request->rates;
    const struct run_quantities *times = request->times;
    bool grid = run_machine_is_grid(machine);
    bool rails = machine->kind == RUN_MACHINE_RAIL_ONLY;
    const struct orr_topo_setting said[] = {
        {"bandwidth", rails ? run_machine_files_text_of(rates, 1) : rates->list},
        {"latency", rails ? run_machine_files_text_of(times, 1) : times->list},
        {grid ? "host-bandwidth" : "nvlink-bandwidth", grid ? port : rates->text[0]},
        {grid ? "host-latency" : "nvlink-latency", grid ? "0ns" : times->text[0]}};
    enum orr_status status = ORR_OK;
    for (size_t i = 0; i < (grid || rails ? 4 : 2) && status == ORR_OK; i++) {
        status = topo_settings_take(&settings, said[i].name, said[i].value, err);
    }
    return status == ORR_OK ? run_machine_make(run_machine_wires(machine->kind), &settings, machine, request->notices,
                                               mem, made, err)
                            : status;
}

/* Only SimAI's form tells NVSwitches and servers apart. */
static enum orr_status put_wires(const struct run_machine_request *request, const struct topo_made *made,
                                 const char *path, struct arena *arena, struct orr_error *err)
{
    bool simai =
        request->simai || request->machine->kind == RUN_MACHINE_MADE || request->machine->kind == RUN_MACHINE_RAIL_ONLY;
    if (request->texts == NULL) {
        return config_write_topology(made, path, simai, false, err);
    }
    char *text = NULL;
    size_t size = 0;
    FILE *stream = text_stream_open(&text, &size);
    if (stream == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory for a topology");
    }
    config_put_topology(made, simai, false, stream);
    enum orr_status status = error_of_stream(stream, "the topology", err);
    if (fclose(stream) != 0 && status == ORR_OK) {
        status = error_set(err, ORR_ENOMEM, "out of memory for a topology");
    }
    const char *copy = status == ORR_OK ? arena_strndup(arena, text, size) : NULL;
    free(text);
    if (status == ORR_OK && copy == NULL) {
        return mem_error(arena->mem, "a topology", err);
    }
    if (status == ORR_OK) {
        request->texts->text[request->texts->count++] = (struct orr_text){path, copy, size};
    }
    return status;
}

/* The wires written, what their largest switch sets aside, and their different rates. */
static enum orr_status make_wires(const struct run_machine_request *request, struct arena *arena, const char *path,
                                  uint64_t *reserved, struct run_quantities *rates, struct orr_error *err)
{
    struct topo_made made = {0};
    struct topo_graph graph = {0};
    enum orr_status status = run_machine_topology(request, arena->mem, &made, err);
    if (status != ORR_OK) {
        return status;
    }
    status = topo_made_graph(&made, arena->mem, &graph, err);
    if (status == ORR_OK) {
        *reserved = run_wired_reserved_mib(&graph, RUN_HEADROOM_FACTOR);
        run_rates_of(&graph, rates);
        topo_graph_free(&graph);
        status = put_wires(request, &made, path, arena, err);
    }
    topo_made_free(&made);
    return status;
}

static enum orr_status write_wired(const struct run_machine_request *request, struct arena *arena,
                                   struct run_machine_files *files, struct orr_error *err)
{
    const struct run_machine *machine = request->machine;
    bool own = machine->kind == RUN_MACHINE_FILE;
    const char *topology = own ? machine->path : arena_printf(arena, "%s/topology.txt", request->folder);
    const char *sizes = machine->kind == RUN_MACHINE_MADE ? arena_printf(arena, "[\"%" PRIu32 "\"]", machine->ranks)
                                                          : sizes_text(arena, machine, "\"");
    struct run_quantities wires = *request->rates;
    uint64_t reserved = machine->reserved_mib;
    if (topology == NULL || sizes == NULL) {
        return mem_error(arena->mem, "a machine's files", err);
    }
    enum orr_status status = own ? ORR_OK : make_wires(request, arena, topology, &reserved, &wires, err);
    if (status == ORR_OK) {
        status = run_machine_files_put(request, arena, "logical.json",
                                       arena_printf(arena, "{\"logical-dims\": %s}\n", sizes), &files->logical, err);
    }
    if (status == ORR_OK) {
        /* Named without the folder, so that equal machines have equal files wherever they lie. */
        const char *named = own ? machine->path : "topology.txt";
        const char *text = config_text(request, named, &wires, buffer_mib(reserved), arena);
        status = run_machine_files_put(request, arena, "config.txt", text, &files->network, err);
        files->topology = own ? NULL : topology;
    }
    return status;
}

enum orr_status run_machine_check(const struct run_machine_request *request, struct orr_error *err)
{
    const struct run_machine *machine = request->machine;
    bool tree = machine->kind == RUN_MACHINE_FATTREE && request->backend >= ORR_BACKEND_PACKET;
    uint32_t most = tree ? 2 : machine->dim_count; /* a tree's levels */
    const struct {
        const char *option;
        const struct run_quantities *list;
    } lists[] = {{"parameter 'bandwidth'", request->rates}, {"parameter 'latency'", request->times}};
    for (size_t i = 0; i < 2 && machine->kind < RUN_MACHINE_MADE; i++) {
        uint32_t count = lists[i].list->count;
        if (count != 1 && count != most) {
            return error_set(err, ORR_EINVAL,
                             "%s: %" PRIu32 " values, where the machine has %" PRIu32 " %s%s; give one for all or one "
                             "for each",
                             lists[i].option, count, most, tree ? "level" : "dimension", most == 1 ? "" : "s");
        }
    }
    return ORR_OK;
}

enum orr_status run_machine_write(const struct run_machine_request *request, struct arena *arena,
                                  struct run_machine_files *files, struct orr_error *err)
{
    const struct run_machine *machine = request->machine;
    struct run_machine_files made = {.system = request->system};
    enum orr_status status = ORR_OK;
    if (request->backend >= ORR_BACKEND_PACKET) {
        status = write_wired(request, arena, &made, err);
    } else if (machine->kind == RUN_MACHINE_FILE) {
        made.network = machine->path;
    } else {
        status = run_machine_files_put(request, arena, "network.yml", network_text(request, arena), &made.network, err);
    }
    if (status == ORR_OK && request->system == NULL) {
        status = run_machine_files_put(request, arena, "system.json", system_text(request, arena), &made.system, err);
    }
    if (status == ORR_OK) {
        *files = made;
    }
    return status;
}
