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
#include "base/units.h"
#include "config/config.h"
#include "config/devices.h"
#include "config/wired.h"
#include "io/file.h"
#include "run/wired_check.h"
#include "topo/make/make.h"

/* ---- quantities ---- */

/* `value` in units of `scale`, exactly: the scale is a power of ten. */
static const char *run_machine_files_spell(struct arena *arena, uint64_t value, uint64_t scale, int digits,
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

static enum orr_status run_machine_files_read_one(const char *option, const char *word, enum units_kind kind,
                                                  struct arena *arena, struct lab_quantities *list,
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
    const char *text = rate ? run_machine_files_spell(arena, value, 1000000000, 9, "Gbps")
                            : run_machine_files_spell(arena, value, 1000, 3, "us");
    list->list = list->count == 0 ? text : arena_printf(arena, "%s,%s", list->list, text == NULL ? "" : text);
    list->value[list->count] = value;
    list->text[list->count++] = text;
    return text != NULL && list->list != NULL ? ORR_OK : mem_error(arena->mem, "a list of quantities", err);
}

static enum orr_status run_machine_files_read_list(const char *option, const char *text, enum units_kind kind,
                                                   struct arena *arena, struct lab_quantities *list,
                                                   struct orr_error *err)
{
    struct lab_quantities made = {0};
    enum orr_status status = ORR_OK;
    for (const char *at = text; status == ORR_OK; at++) {
        size_t length = strcspn(at, ",");
        const char *word = arena_strndup(arena, at, length);
        status = word == NULL ? mem_error(arena->mem, "a list of quantities", err)
                              : run_machine_files_read_one(option, word, kind, arena, &made, err);
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

enum orr_status lab_rates_read(const char *option, const char *text, struct arena *arena, struct lab_quantities *rates,
                               struct orr_error *err)
{
    return run_machine_files_read_list(option, text, UNITS_RATE, arena, rates, err);
}

enum orr_status lab_times_read(const char *option, const char *text, struct arena *arena, struct lab_quantities *times,
                               struct orr_error *err)
{
    return run_machine_files_read_list(option, text, UNITS_TIME, arena, times, err);
}

enum orr_status lab_machine_rates(const struct lab_machine *machine, const struct orr_run_options *options,
                                  struct arena *arena, struct lab_quantities *rates, struct lab_quantities *times,
                                  struct orr_error *err)
{
    bool file = machine->kind == LAB_MACHINE_FILE;
    if (machine->kind >= LAB_MACHINE_MADE && (options->bandwidth != NULL || options->latency != NULL)) {
        return error_set(err, ORR_EINVAL, "parameter '%s': %s says it; change it there%s",
                         options->bandwidth != NULL ? "bandwidth" : "latency", file ? machine->path : options->machine,
                         file ? "" : ", in a line such as dgx-h100:2 > rail:200Gbps");
    }
    const char *rate = machine->rate != NULL ? machine->rate : "25Gbps";
    const char *latency = machine->latency != NULL ? machine->latency : "1us";
    enum orr_status status = lab_rates_read("parameter 'bandwidth'",
                                            options->bandwidth != NULL ? options->bandwidth : rate, arena, rates, err);
    return status != ORR_OK ? status
                            : lab_times_read("parameter 'latency'",
                                             options->latency != NULL ? options->latency : latency, arena, times, err);
}

static const char *run_machine_files_text_of(const struct lab_quantities *list, uint32_t dim)
{
    return list->text[dim < list->count ? dim : list->count - 1];
}

/* ---- texts ---- */

/* "[ a, b, c ]" with one entry for each dimension. */
static const char *spread(struct arena *arena, const struct lab_machine *machine, const struct lab_quantities *list,
                          const char *word)
{
    const char *text = "";
    for (uint32_t i = 0; i < machine->dim_count && text != NULL; i++) {
        text = arena_printf(arena, "%s%s%s", text, i == 0 ? "" : ", ",
                            list != NULL ? run_machine_files_text_of(list, i) : word);
    }
    return text == NULL ? NULL : arena_printf(arena, "[%s]", text);
}

static const char *sizes_text(struct arena *arena, const struct lab_machine *machine, const char *quote)
{
    const char *text = "";
    for (uint32_t i = 0; i < machine->dim_count && text != NULL; i++) {
        text = arena_printf(arena, "%s%s%s%" PRIu32 "%s", text, i == 0 ? "" : ", ", quote, machine->dims[i], quote);
    }
    return text == NULL ? NULL : arena_printf(arena, "[%s]", text);
}

static const char *kinds_text(struct arena *arena, const struct lab_machine *machine)
{
    const char *text = "";
    for (uint32_t i = 0; i < machine->dim_count && text != NULL; i++) {
        text = arena_printf(arena, "%s%s%s", text, i == 0 ? "" : ", ", topo_kind_name(lab_machine_join(machine, i)));
    }
    return text == NULL ? NULL : arena_printf(arena, "[%s]", text);
}

static const char *network_text(const struct lab_machine_request *request, struct arena *arena)
{
    const struct lab_machine *machine = request->machine;
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
static const char *algorithm_of(const struct lab_machine *machine, uint32_t dim)
{
    uint32_t size = machine->dims[dim];
    switch (lab_machine_join(machine, dim)) {
    case TOPO_SWITCH:
        return (size & (size - 1)) == 0 ? "\"halvingDoubling\"" : "\"ring\"";
    case TOPO_FULLY_CONNECTED:
        return "\"direct\"";
    default:
        return "\"ring\"";
    }
}

static const char *algorithms_text(struct arena *arena, const struct lab_machine *machine)
{
    const char *text = "";
    for (uint32_t i = 0; i < machine->dim_count && text != NULL; i++) {
        text = arena_printf(arena, "%s%s%s", text, i == 0 ? "" : ", ", algorithm_of(machine, i));
    }
    return text == NULL ? NULL : arena_printf(arena, "[%s]", text);
}

/* On the wires of servers collectives are NCCL's; where only dimensions are seen those have no meaning, and each
 * dimension has what fits it. */
static const char *system_text(const struct lab_machine_request *request, struct arena *arena)
{
    const struct lab_machine *machine = request->machine;
    bool nccl = machine->kind == LAB_MACHINE_MADE && request->backend >= ORR_BACKEND_PACKET;
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
static uint64_t port_rate(const struct lab_machine_request *request)
{
    const struct lab_machine *machine = request->machine;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < machine->dim_count; i++) {
        uint64_t rate = request->rates->value[i < request->rates->count ? i : request->rates->count - 1];
        sum += machine->dims[i] > 2 ? 2 * rate : rate;
    }
    return sum;
}

/* Marking begins at 4 KB for each Gbps, between 20 and 800 KB, and is certain at four times that: what the public
 * configurations have for 25, 100 and more Gbps. */
static const char *marks_text(const struct lab_machine_request *request, const struct lab_quantities *wires,
                              struct arena *arena)
{
    uint64_t rates[TOPO_MAX_DIMS + 1];
    const struct lab_quantities *list = request->machine->kind == LAB_MACHINE_MADE ? wires : request->rates;
    uint32_t rate_count = list->count;
    memcpy(rates, list->value, rate_count * sizeof *rates);
    if (lab_machine_is_grid(request->machine)) {
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

enum { BUFFER_MIB = 32, BUFFER_MIB_MOST = 4095, HEADROOM_FACTOR = 3 };

static void collect_rates(const struct topo_graph *graph, struct lab_quantities *rates);

/* Switches of many ports need more for what they set aside alone. What cannot be read is for the run to tell. `rates`:
 * those of the links. */
static uint64_t buffer_mib(const struct lab_machine_request *request, const char *topology, struct arena *arena,
                           struct lab_quantities *rates)
{
    const struct orr_text *text = NULL;
    for (size_t i = 0; request->texts != NULL && i < request->texts->count; i++) {
        text = strcmp(request->texts->text[i].path, topology) == 0 ? &request->texts->text[i] : text;
    }
    struct orr_error unsaid = {0};
    struct notes notes;
    struct topo_graph graph = {0};
    struct config_wired_extra extra;
    uint64_t reserved = 0;
    notes_init(&notes, arena->mem, false);
    enum orr_status status =
        text != NULL ? config_parse_topology(topology, text->text, text->size, arena, &notes, &graph, &extra, &unsaid)
                     : config_read_topology(topology, arena, &notes, &graph, &extra, &unsaid);
    if (status == ORR_OK) {
        reserved = lab_wired_reserved_mib(&graph, HEADROOM_FACTOR);
        collect_rates(&graph, rates);
        topo_graph_free(&graph);
    }
    notes_free(&notes);
    uint64_t wanted = reserved <= BUFFER_MIB ? BUFFER_MIB : reserved + BUFFER_MIB;
    return wanted < BUFFER_MIB_MOST ? wanted : BUFFER_MIB_MOST;
}

/* A window of one round trip at line rate, and pause frames behind it; 4 KiB of data a packet, as RoCE has. */
static const char *config_text(const struct lab_machine_request *request, const char *topology,
                               const struct lab_quantities *wires, uint64_t buffer, struct arena *arena)
{
    const char *marks = marks_text(request, wires, arena);
    return marks == NULL ? NULL
                         : arena_printf(arena,
                                        "TOPOLOGY_FILE %s\nPACKET_PAYLOAD_SIZE 4096\nCC_MODE 12\nENABLE_QCN 1\n"
                                        "HAS_WIN 1\nL2_CHUNK_SIZE 4000\nL2_ACK_INTERVAL 1\nBUFFER_SIZE %" PRIu64 "\n%s",
                                        topology, buffer, marks);
}

/* ---- files ---- */

static enum orr_status run_machine_files_put(const struct lab_machine_request *request, struct arena *arena,
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

static enum orr_status keep_wires(struct lab_texts *texts, const struct orr_topo *topo, enum orr_topo_form form,
                                  const char *path, struct arena *arena, struct orr_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = text_stream_open(&text, &size);
    if (stream == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory for a topology");
    }
    const struct orr_topo_write_options options = {.form = form, .stream = stream};
    enum orr_status status = orr_topo_write(topo, NULL, &options, err);
    if (fclose(stream) != 0 && status == ORR_OK) {
        status = error_set(err, ORR_ENOMEM, "out of memory for a topology");
    }
    const char *copy = status == ORR_OK ? arena_strndup(arena, text, size) : NULL;
    free(text);
    if (status == ORR_OK && copy == NULL) {
        return mem_error(arena->mem, "a topology", err);
    }
    if (status == ORR_OK) {
        texts->text[texts->count++] = (struct orr_text){path, copy, size};
    }
    return status;
}

enum orr_status lab_machine_topology(const struct lab_machine_request *request, struct orr_topo **topo,
                                     struct orr_error *err)
{
    const struct lab_machine *machine = request->machine;
    struct lab_machine_wiring wiring;
    bool made = machine->kind == LAB_MACHINE_MADE;
    struct orr_topo_setting settings[8] = {{"bandwidth", request->rates->list}, {"latency", request->times->list}};
    size_t count = made ? 0 : 2; /* servers have their own */
    char port[40];
    (void)snprintf(port, sizeof port, "%" PRIu64 "bps", port_rate(request));
    if (lab_machine_is_grid(machine)) {
        settings[count++] = (struct orr_topo_setting){"host-bandwidth", port};
        settings[count++] = (struct orr_topo_setting){"host-latency", "0ns"};
    }
    lab_machine_wire(machine, &wiring);
    for (size_t i = 0; i < wiring.count; i++) {
        settings[count++] = wiring.settings[i];
    }
    const char *what = made ? lab_machine_made_of(machine) : lab_machine_wires(machine->kind);
    return orr_topo_make(what, settings, count, request->notices, topo, err);
}

/* Only SimAI's form tells NVSwitches and servers apart. */
static enum orr_status make_wires(const struct lab_machine_request *request, struct arena *arena, const char *path,
                                  struct orr_error *err)
{
    struct orr_topo *topo = NULL;
    const enum orr_topo_form form = request->machine->kind == LAB_MACHINE_MADE ? ORR_TOPO_SIMAI : ORR_TOPO_ASTRA;
    const struct orr_topo_write_options options = {.form = form};
    enum orr_status status = lab_machine_topology(request, &topo, err);
    if (status == ORR_OK) {
        status = request->texts == NULL ? orr_topo_write(topo, path, &options, err)
                                        : keep_wires(request->texts, topo, form, path, arena, err);
    }
    orr_topo_close(topo);
    return status;
}

static enum orr_status write_wired(const struct lab_machine_request *request, struct arena *arena,
                                   struct lab_machine_files *files, struct orr_error *err)
{
    const struct lab_machine *machine = request->machine;
    bool own = machine->kind == LAB_MACHINE_FILE;
    const char *topology = own ? machine->path : arena_printf(arena, "%s/topology.txt", request->folder);
    const char *sizes = machine->kind == LAB_MACHINE_MADE ? arena_printf(arena, "[\"%" PRIu32 "\"]", machine->ranks)
                                                          : sizes_text(arena, machine, "\"");
    if (topology == NULL || sizes == NULL) {
        return mem_error(arena->mem, "a machine's files", err);
    }
    enum orr_status status = own ? ORR_OK : make_wires(request, arena, topology, err);
    if (status == ORR_OK) {
        status = run_machine_files_put(request, arena, "logical.json",
                                       arena_printf(arena, "{\"logical-dims\": %s}\n", sizes), &files->logical, err);
    }
    if (status == ORR_OK) {
        /* Named without the folder, so that equal machines have equal files wherever they lie. */
        const char *named = own ? machine->path : "topology.txt";
        struct lab_quantities wires = {0};
        uint64_t buffer = buffer_mib(request, topology, arena, &wires);
        const char *text = config_text(request, named, &wires, buffer, arena);
        status = run_machine_files_put(request, arena, "config.txt", text, &files->network, err);
        files->topology = own ? NULL : topology;
    }
    return status;
}

enum orr_status lab_machine_check(const struct lab_machine_request *request, struct orr_error *err)
{
    const struct lab_machine *machine = request->machine;
    bool tree = machine->kind == LAB_MACHINE_FATTREE && request->backend >= ORR_BACKEND_PACKET;
    uint32_t most = tree ? 2 : machine->dim_count; /* a tree's levels */
    const struct {
        const char *option;
        const struct lab_quantities *list;
    } lists[] = {{"parameter 'bandwidth'", request->rates}, {"parameter 'latency'", request->times}};
    for (size_t i = 0; i < 2 && machine->kind < LAB_MACHINE_MADE; i++) {
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

enum orr_status lab_machine_write(const struct lab_machine_request *request, struct arena *arena,
                                  struct lab_machine_files *files, struct orr_error *err)
{
    const struct lab_machine *machine = request->machine;
    struct lab_machine_files made = {.system = request->system};
    enum orr_status status = ORR_OK;
    if (request->backend >= ORR_BACKEND_PACKET) {
        status = write_wired(request, arena, &made, err);
    } else if (machine->kind == LAB_MACHINE_FILE) {
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

/* ---- files of the user ---- */

bool lab_machine_is_network(const struct lab_machine *machine)
{
    const char *end = strrchr(machine->path, '.');
    return end != NULL && (strcmp(end, ".yml") == 0 || strcmp(end, ".yaml") == 0);
}

static enum orr_status network_dims(struct lab_machine *machine, struct mem *mem, struct orr_error *err)
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

static void collect_rates(const struct topo_graph *graph, struct lab_quantities *rates)
{
    *rates = (struct lab_quantities){0};
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

static enum orr_status wired_dims(struct lab_machine *machine, struct mem *mem, struct lab_quantities *rates,
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
        collect_rates(&graph, rates);
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

static enum orr_status add_quantity(struct lab_quantities *list, uint64_t value, uint64_t scale, int digits,
                                    const char *suffix, struct arena *arena, struct orr_error *err)
{
    const char *text = run_machine_files_spell(arena, value, scale, digits, suffix);
    list->list = list->count == 0 ? text : arena_printf(arena, "%s,%s", list->list, text == NULL ? "" : text);
    list->value[list->count] = value;
    list->text[list->count++] = text;
    return text != NULL && list->list != NULL ? ORR_OK : mem_error(arena->mem, "a list of quantities", err);
}

const char *lab_machine_made_of(const struct lab_machine *machine)
{
    return machine->line != NULL ? machine->line : machine->server->name;
}

enum orr_status lab_machine_made_dims(struct lab_machine *machine, struct arena *arena, struct lab_quantities *rates,
                                      struct lab_quantities *times, struct orr_error *err)
{
    struct topo_settings settings = {.what = lab_machine_made_of(machine)};
    struct lab_machine_wiring wiring;
    struct topo_made made;
    struct notes notes;
    uint64_t rate[2] = {0, 0};
    uint64_t delay[2] = {0, 0};
    enum orr_status status = ORR_OK;
    lab_machine_wire(machine, &wiring);
    for (size_t i = 0; i < wiring.count && status == ORR_OK; i++) {
        status = topo_settings_take(&settings, wiring.settings[i].name, wiring.settings[i].value, err);
    }
    notes_init(&notes, arena->mem, false);
    status = status == ORR_OK ? topo_make(settings.what, &settings, &notes, &made, arena->mem, err) : status;
    notes_free(&notes);
    if (status != ORR_OK) {
        return status;
    }
    made_rates(&made, rate, delay);
    machine->ranks = made.hosts;
    machine->dim_count = 0;
    *rates = (struct lab_quantities){0};
    *times = (struct lab_quantities){0};
    for (uint32_t i = 0; i < made.dim_count && status == ORR_OK; i++) {
        bool inside = i == 0 && made.dim_count > 1 ? rate[0] > 0 : rate[1] == 0;
        if (made.dims[i] > 1) {
            machine->dims[machine->dim_count++] = made.dims[i];
            status = add_quantity(rates, rate[!inside], 1000000000, 9, "Gbps", arena, err);
            status = status == ORR_OK ? add_quantity(times, delay[!inside], 1000, 3, "us", arena, err) : status;
        }
    }
    topo_made_free(&made);
    return status;
}

enum orr_status lab_machine_file_dims(struct lab_machine *machine, struct mem *mem, struct lab_quantities *rates,
                                      struct orr_error *err)
{
    return lab_machine_is_network(machine) ? network_dims(machine, mem, err) : wired_dims(machine, mem, rates, err);
}
