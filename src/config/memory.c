/* SPDX-License-Identifier: Apache-2.0 */
/* ASTRA-sim reads latency and bandwidth as unsigned integers (spec analytical §12): the rows say "whole". */
#include <inttypes.h>
#include <string.h>

#include "config/config.h"
#include "config/table.h"
#include "io/json.h"

/* In the order of enum sim_memory_kind. */
static const char *const kind_names[] = {"NO_MEMORY_EXPANSION", "PER_NODE_MEMORY_EXPANSION", "PER_NPU_MEMORY_EXPANSION",
                                         "MEMORY_POOL", NULL};

enum { ROW_KIND, ROW_LATENCY, ROW_BANDWIDTH, ROW_NODES, ROW_NPUS };

static const struct config_row memory_rows[] = {
    [ROW_KIND] = {.key = "memory-type",
                  .type = CONFIG_CHOICE,
                  .flags = CONFIG_NOTE_DEFAULT,
                  .fallback = "NO_MEMORY_EXPANSION",
                  .choices = kind_names,
                  .offset = offsetof(struct sim_memory, kind),
                  .help =
                      "who shares a remote memory: nobody has one, the ranks of a node share one, each rank has its "
                      "own, or all share one"},
    [ROW_LATENCY] = {.key = "remote-mem-latency",
                     .type = CONFIG_TIME,
                     .fallback = "0",
                     .min = 0,
                     .max = 1e15,
                     .offset = offsetof(struct sim_memory, latency_ns),
                     .help = "of one access"},
    [ROW_BANDWIDTH] = {.key = "remote-mem-bw",
                       .type = CONFIG_RATE_GB_WHOLE,
                       .fallback = "0",
                       .min = 0,
                       .max = 1e15,
                       .offset = offsetof(struct sim_memory, bandwidth_gbps),
                       .help = "10^9 bytes a second; at least 1 where there is a remote memory"},
    [ROW_NODES] = {.key = "num-nodes",
                   .type = CONFIG_COUNT64,
                   .fallback = "0",
                   .min = 0,
                   .max = INT32_MAX,
                   .offset = offsetof(struct sim_memory, nodes),
                   .help = "nodes; at least 1 with PER_NODE_MEMORY_EXPANSION"},
    [ROW_NPUS] = {.key = "num-npus-per-node",
                  .type = CONFIG_COUNT64,
                  .fallback = "0",
                  .min = 0,
                  .max = INT32_MAX,
                  .offset = offsetof(struct sim_memory, npus_per_node),
                  .help = "ranks of a node; at least 1 with PER_NODE_MEMORY_EXPANSION"},
};

const struct config_format config_format_memory = {
    .id = "memory",
    .title = "Remote memory",
    .option = "memory",
    .syntax = "json",
    .summary = "What serves the memory nodes of a trace. Without the file there is no remote memory.",
    .example = "{\n"
               "  \"memory-type\": \"PER_NPU_MEMORY_EXPANSION\",\n"
               "  \"remote-mem-latency\": \"1us\",\n"
               "  \"remote-mem-bw\": 50\n"
               "}\n",
    .rows = memory_rows,
    .row_count = sizeof memory_rows / sizeof memory_rows[0],
};

/* A server without bandwidth would take for ever, a machine without nodes has no server. */
static enum orr_status config_memory_check_kind(const char *name, const struct sim_memory *memory,
                                                const struct config_seen *seen, struct orr_error *err)
{
    uint32_t bad = 0;
    if (memory->kind != SIM_MEMORY_NONE && memory->bandwidth_gbps == 0) {
        bad = ROW_BANDWIDTH;
    } else if (memory->kind == SIM_MEMORY_PER_NODE && memory->nodes == 0) {
        bad = ROW_NODES;
    } else if (memory->kind == SIM_MEMORY_PER_NODE && memory->npus_per_node == 0) {
        bad = ROW_NPUS;
    }
    if (bad == 0) {
        return ORR_OK;
    }
    uint32_t line = seen->line[bad] != 0 ? seen->line[bad] : seen->line[ROW_KIND];
    return error_set(err, ORR_EINVAL, "%s:%" PRIu32 ": \"%s\" is %s; %s needs at least 1", name, line,
                     memory_rows[bad].key, seen->line[bad] != 0 ? "0" : "missing", kind_names[memory->kind]);
}

enum orr_status config_take_memory(const struct config_text *text, struct notes *notes, struct sim_memory *memory,
                                   struct orr_error *err)
{
    const char *name = text->name;
    struct arena scratch;
    arena_init(&scratch, notes->arena.mem);
    struct io_value *root = NULL;
    struct sim_memory made;
    memset(&made, 0, sizeof made);
    struct config_seen seen;
    enum orr_status status = io_json_parse(name, text->text, text->size, &scratch, &root, err);
    if (status == ORR_OK) {
        struct config_reader reader = {.name = name,
                                       .notes = notes,
                                       .err = err,
                                       .overrides = text->overrides,
                                       .override_count = text->override_count};
        status = config_table_read(&reader, &config_format_memory, root, &made, &seen);
    }
    arena_free(&scratch);
    if (status == ORR_OK) {
        status = config_memory_check_kind(name, &made, &seen, err);
    }
    if (status == ORR_OK) {
        *memory = made;
    }
    return status;
}

enum orr_status config_parse_memory(const char *name, const char *text, size_t size, struct notes *notes,
                                    struct sim_memory *memory, struct orr_error *err)
{
    const struct config_text plain = {.name = name, .text = text, .size = size};
    return config_take_memory(&plain, notes, memory, err);
}
