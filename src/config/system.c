/* SPDX-License-Identifier: Apache-2.0 */
/* The keys ASTRA-sim leaves uninitialised (scheduling-policy, collective-optimization) or divides by when absent
 * (preferred-dataset-splits) have the defaults its examples use, and using one is noted: a result that hangs on what
 * the file does not say should not look like one that does not. */
#include <inttypes.h>
#include <string.h>

#include "config/config.h"
#include "config/table.h"
#include "io/json.h"

/* What the rows' offsets point into. */
struct system_target {
    struct sim_system system;
    struct config_custom custom;
};

#define AT(field) offsetof(struct system_target, field)

/* In the order of the enumerations of sim/config.h. */
static const char *const scheduling_names[] = {"LIFO", "FIFO", "EXPLICIT", NULL};
static const char *const optimization_names[] = {"baseline", "localBWAware", NULL};
static const char *const protocol_names[] = {"wires", "LL", "LL128", "Simple", NULL};

#define ALGORITHMS(name, index)                                                                                        \
    {                                                                                                                  \
        .key = name "-implementation", .type = CONFIG_ALGORITHMS, .offset = AT(system.implementation[index]),          \
        .help = "algorithm of " name " in each dimension, dimension 0 first; a single name stands for a list of one"   \
    }
#define CUSTOM(name, index)                                                                                            \
    {                                                                                                                  \
        .key = name "-implementation-custom", .type = CONFIG_CUSTOM, .offset = AT(custom.native[index]),               \
        .help = name " is carried out as the traces PREFIX.RANK.et say; goes before the list of algorithms"            \
    }
#define IGNORED(name, why)                                                                                             \
    {                                                                                                                  \
        .key = (name), .type = CONFIG_IGNORED, .help = (why)                                                           \
    }

#define CAPACITY(which, what)                                                                                          \
    {                                                                                                                  \
        .key = #which "-mem-capacity", .type = CONFIG_SIZE, .fallback = "0", .min = 0, .max = 9e15,                    \
        .offset = AT(system.capacity.which), .help = (what)                                                            \
    }

enum { ROW_POLICY, ROW_OPTIMIZATION, ROW_DELAY, ROW_MEM_BW, ROW_PEAK, ROW_ROOFLINE, ROW_NAMED };

static const struct config_row system_rows[] = {
    [ROW_POLICY] = {.key = "scheduling-policy",
                    .type = CONFIG_CHOICE,
                    .flags = CONFIG_NOTE_DEFAULT,
                    .fallback = "LIFO",
                    .choices = scheduling_names,
                    .offset = AT(system.scheduling),
                    .help =
                        "no effect, as in ASTRA-sim: a rank has one collective in flight at a time, in the order in "
                        "which they can start, so that there are never two to choose from; EXPLICIT is noted"},
    [ROW_OPTIMIZATION] = {.key = "collective-optimization",
                          .type = CONFIG_CHOICE,
                          .flags = CONFIG_NOTE_DEFAULT,
                          .fallback = "localBWAware",
                          .choices = optimization_names,
                          .offset = AT(system.optimization),
                          .help =
                              "all-reduce over several dimensions: one after the other, or reduce-scatter inwards and "
                              "all-gather outwards"},
    [ROW_DELAY] = {.key = "endpoint-delay",
                   .type = CONFIG_TIME,
                   .fallback = "10",
                   .min = 0,
                   .max = INT32_MAX,
                   .offset = AT(system.endpoint_delay_ns),
                   .help = "before a message leaves and after it arrived; multiplied by the injection scale when given "
                           "here"},
    [ROW_MEM_BW] = {.key = "local-mem-bw",
                    .type = CONFIG_RATE_GB,
                    .fallback = "0",
                    .min = 0,
                    .max = 1e12,
                    .offset = AT(system.local_mem_bw_gbps),
                    .help =
                        "of a rank's own memory, 10^9 bytes a second: reductions and roofline; 0 means that reductions "
                        "cost no memory time"},
    [ROW_PEAK] = {.key = "peak-perf",
                  .type = CONFIG_REAL,
                  .fallback = "0",
                  .min = 0,
                  .max = 1e12,
                  .offset = AT(system.peak_perf_tflops),
                  .help = "of a rank, TFLOPS (10^12 operations a second), for roofline"},
    [ROW_ROOFLINE] = {.key = "roofline-enabled",
                      .type = CONFIG_SWITCH,
                      .fallback = "0",
                      .offset = AT(system.roofline_enabled),
                      .help =
                          "compute times come from num_ops and tensor_size instead of the recorded durations; needs "
                          "peak-perf and local-mem-bw"},
    [ROW_NAMED] = {.key = "active-chunks-per-dimension",
                   .type = CONFIG_COUNT,
                   .flags = CONFIG_NOTE_DEFAULT,
                   .fallback = "1",
                   .min = 1,
                   .max = INT32_MAX,
                   .offset = AT(system.active_chunks_per_dimension),
                   .help = "chunks a rank works on at once in a dimension, shared by its queues"},
    {.key = "preferred-dataset-splits",
     .type = CONFIG_COUNT,
     .flags = CONFIG_NOTE_DEFAULT,
     .fallback = "1",
     .min = 1,
     .max = INT32_MAX,
     .offset = AT(system.preferred_dataset_splits),
     .help = "chunks a collective is cut into"},
    ALGORITHMS("all-reduce", SIM_ALL_REDUCE),
    ALGORITHMS("reduce-scatter", SIM_REDUCE_SCATTER),
    ALGORITHMS("all-gather", SIM_ALL_GATHER),
    ALGORITHMS("all-to-all", SIM_ALL_TO_ALL),
    CUSTOM("all-reduce", SIM_ALL_REDUCE),
    CUSTOM("reduce-scatter", SIM_REDUCE_SCATTER),
    CUSTOM("all-gather", SIM_ALL_GATHER),
    CUSTOM("all-to-all", SIM_ALL_TO_ALL),
    {.key = "per-node-custom-implementation",
     .type = CONFIG_PATH,
     .offset = AT(custom.per_node_file),
     .help = "a file of custom collectives by node id (below); goes before everything else"},
    {.key = "replay-only",
     .type = CONFIG_SWITCH,
     .fallback = "0",
     .offset = AT(system.replay_only),
     .help = "every node, communication too, takes its recorded duration"},
    {.key = "nccl-gpus-per-server",
     .type = CONFIG_COUNT,
     .fallback = "0",
     .min = 0,
     .max = INT32_MAX,
     .offset = AT(system.nccl_gpus_per_server),
     .help =
         "ranks that the algorithms nccl... take for one server; 0: as a topology file in SimAI's form says, else the "
         "size of dimension 0"},
    {.key = "nccl-protocol",
     .type = CONFIG_CHOICE,
     .fallback = "wires",
     .choices = protocol_names,
     .offset = AT(system.nccl_protocol),
     .help =
         "what messages of the algorithms nccl... cost beside the wires: nothing, or a start, a step and flags in the "
         "data as NCCL's tuner counts them for that protocol"},
    {.key = "nccl-nvls-efficiency",
     .type = CONFIG_REAL,
     .fallback = "0.7",
     .min = 0.01,
     .max = 1,
     .offset = AT(system.nccl_nvls_efficiency),
     .help = "share of a link's rate that reductions in the NVLink switch reach"},
    {.key = "nccl-collnet-enable",
     .type = CONFIG_SWITCH,
     .fallback = "0",
     .offset = AT(system.nccl_collnet),
     .help = "the network's switches can reduce (SHARP): on flow and packet, nccl has them do so for an all-reduce "
             "over several servers, as ncclCollnet does anyway"},
    {.key = "model-shared-bus",
     .type = CONFIG_SWITCH,
     .fallback = "0",
     .offset = AT(system.shared_bus),
     .help = "messages cross a LogGP bus between rank and network instead of endpoint-delay"},
    {.key = "local-reduction-delay",
     .type = CONFIG_TIME,
     .fallback = "1",
     .min = 0,
     .max = INT32_MAX,
     .offset = AT(system.local_reduction_delay_ns),
     .help = "per 100 bytes reduced; only with model-shared-bus"},
    {.key = "L",
     .type = CONFIG_TIME_SINGLE,
     .fallback = "0",
     .min = 0,
     .max = INT32_MAX,
     .offset = AT(system.bus_L_ns),
     .help = "latency of the shared bus, through single precision"},
    {.key = "o",
     .type = CONFIG_TIME_SINGLE,
     .fallback = "0",
     .min = 0,
     .max = INT32_MAX,
     .offset = AT(system.bus_o_ns),
     .help = "overhead of the shared bus, through single precision"},
    {.key = "g",
     .type = CONFIG_TIME_SINGLE,
     .fallback = "0",
     .min = 0,
     .max = INT32_MAX,
     .offset = AT(system.bus_g_ns),
     .help = "gap between messages on the shared bus, through single precision"},
    {.key = "G",
     .type = CONFIG_REAL_SINGLE,
     .fallback = "0",
     .min = 0,
     .max = 1e9,
     .offset = AT(system.bus_G_ns_per_byte),
     .help = "ns per byte on the shared bus, in single precision"},
    {.key = "track-local-mem",
     .type = CONFIG_SWITCH,
     .fallback = "0",
     .offset = AT(system.track_local_mem),
     .help = "what each rank holds in its memory over time, from the tensors that nodes name (docs/memory.md), in the "
             "report and a file a rank"},
    {.key = "local-mem-trace-filename",
     .type = CONFIG_PATH,
     .fallback = "local_mem_trace",
     .offset = AT(system.local_mem_trace),
     .help = "beginning of these files' names, NAME.RANK.json; only with track-local-mem"},
    CAPACITY(local, "memory of a rank's device; what exceeds it spills to the host. Above 0 it turns tracking on"),
    CAPACITY(host, "memory of a server's host, shared by its ranks (nccl-gpus-per-server); what exceeds it goes to "
                   "the pool"),
    CAPACITY(pool, "the memory that all servers share"),
    IGNORED("trace-enabled", "debug lines in ASTRA-sim's log"),
    IGNORED("boost-mode", "ASTRA-sim no longer reads it either"),
    IGNORED("intra-dimension-scheduling", "as in ASTRA-sim, chunks of a dimension go first in, first out"),
    IGNORED("inter-dimension-scheduling", "as in ASTRA-sim, dimensions go in ascending order"),
};

const struct config_format config_format_system = {
    .id = "system",
    .title = "System",
    .option = "system",
    .syntax = "json",
    .summary = "What a rank is, and how it carries out collectives.",
    .example = "{\n"
               "  \"scheduling-policy\": \"LIFO\",\n"
               "  \"collective-optimization\": \"localBWAware\",\n"
               "  \"endpoint-delay\": 10,\n"
               "  \"active-chunks-per-dimension\": 1,\n"
               "  \"preferred-dataset-splits\": 4,\n"
               "  \"all-reduce-implementation\": [\"ring\", \"halvingDoubling\"],\n"
               "  \"reduce-scatter-implementation\": [\"ring\", \"halvingDoubling\"],\n"
               "  \"all-gather-implementation\": [\"ring\", \"halvingDoubling\"],\n"
               "  \"all-to-all-implementation\": [\"direct4\", \"direct\"],\n"
               "  \"local-mem-bw\": \"3350GB/s\"\n"
               "}\n",
    .rows = system_rows,
    .row_count = sizeof system_rows / sizeof system_rows[0],
};
_Static_assert(sizeof system_rows / sizeof system_rows[0] <= CONFIG_MAX_ROWS, "config_seen has a place for each row");

/* trunc(int(endpoint-delay) * injection-scale); the scale does not touch the default (spec analytical §8). */
static enum orr_status scale_delay(const char *name, uint32_t line, double scale, uint64_t *delay_ns,
                                   struct orr_error *err)
{
    double scaled = (double)*delay_ns * scale;
    if (!(scaled >= 0.0 && scaled <= 1e15)) {
        return error_set(err, ORR_ERANGE,
                         "%s:%" PRIu32 ": \"endpoint-delay\" %" PRIu64
                         " times the injection scale %g is out of range; accepted: 0 to 1e15 ns",
                         name, line, *delay_ns, scale);
    }
    *delay_ns = (uint64_t)scaled;
    return ORR_OK;
}

static enum orr_status check_memory_rate(const struct config_reader *reader, const struct sim_system *system,
                                         const struct config_seen *seen)
{
    if (system->roofline_enabled && (system->local_mem_bw_gbps == 0.0 || system->peak_perf_tflops == 0.0)) {
        return error_set(reader->err, ORR_EINVAL, "%s:%" PRIu32 ": \"roofline-enabled\" needs \"%s\" above 0",
                         reader->name, seen->line[ROW_ROOFLINE],
                         system->local_mem_bw_gbps == 0.0 ? "local-mem-bw" : "peak-perf");
    }
    if (system->local_mem_bw_gbps == 0.0) {
        return notes_add(reader->notes, reader->err,
                         "%s: \"local-mem-bw\" is 0 or missing; reductions are taken to cost no memory time",
                         reader->name);
    }
    return ORR_OK;
}

static enum orr_status check_capacities(const struct config_reader *reader, const struct sim_system *system)
{
    if (system->capacity.local > 0 || (system->capacity.host == 0 && system->capacity.pool == 0)) {
        return ORR_OK;
    }
    return notes_add(reader->notes, reader->err,
                     "%s: \"%s-mem-capacity\" has no effect without \"local-mem-capacity\": nothing spills",
                     reader->name, system->capacity.host > 0 ? "host" : "pool");
}

enum orr_status config_take_system(const struct config_text *text, double injection_scale, struct arena *arena,
                                   struct notes *notes, struct sim_system *system, struct config_custom *custom,
                                   struct orr_error *err)
{
    const char *name = text->name;
    struct arena scratch;
    arena_init(&scratch, notes->arena.mem);
    struct io_value *root = NULL;
    struct system_target made;
    memset(&made, 0, sizeof made);
    struct config_seen seen;
    struct config_reader reader = {.name = name,
                                   .arena = arena,
                                   .notes = notes,
                                   .err = err,
                                   .overrides = text->overrides,
                                   .override_count = text->override_count};
    enum orr_status status = io_json_parse(name, text->text, text->size, &scratch, &root, err);
    if (status == ORR_OK) {
        status = config_table_read(&reader, &config_format_system, root, &made, &seen);
    }
    arena_free(&scratch);
    if (status == ORR_OK && seen.line[ROW_DELAY] != 0) {
        status = scale_delay(name, seen.line[ROW_DELAY], injection_scale, &made.system.endpoint_delay_ns, err);
    }
    if (status == ORR_OK) {
        status = check_memory_rate(&reader, &made.system, &seen);
    }
    if (status == ORR_OK) {
        status = check_capacities(&reader, &made.system);
    }
    if (status == ORR_OK) {
        *system = made.system;
        *custom = made.custom;
    }
    return status;
}

enum orr_status config_parse_system(const char *name, const char *text, size_t size, double injection_scale,
                                    struct arena *arena, struct notes *notes, struct sim_system *system,
                                    struct config_custom *custom, struct orr_error *err)
{
    const struct config_text plain = {.name = name, .text = text, .size = size};
    return config_take_system(&plain, injection_scale, arena, notes, system, custom, err);
}
