/* SPDX-License-Identifier: Apache-2.0 */
/* The one format of parallel lists: every row is a column of struct topo_dim, and the columns must be equally long. */
#include <inttypes.h>
#include <string.h>

#include "config/config.h"
#include "config/table.h"
#include "io/yaml.h"

static const char *const kind_names[] = {
#define TOPO_X(name, text) text,
    TOPO_KINDS(TOPO_X)
#undef TOPO_X
        NULL,
};

/* The bounds of bandwidth and latency keep a transfer time of any real message far inside 64 bits of nanoseconds. */
static const struct config_row network_rows[] = {
    {.key = "topology",
     .type = CONFIG_CHOICE,
     .flags = CONFIG_REQUIRED,
     .choices = kind_names,
     .offset = offsetof(struct topo_dim, kind),
     .help = "how the ranks along this dimension are connected"},
    {.key = "npus_count",
     .type = CONFIG_COUNT,
     .flags = CONFIG_REQUIRED,
     .min = 1,
     .max = INT32_MAX,
     .offset = offsetof(struct topo_dim, size),
     .help = "ranks along this dimension, at least 2; 1 is a machine of one rank, which has one dimension"},
    {.key = "bandwidth",
     .type = CONFIG_RATE_GIB,
     .flags = CONFIG_REQUIRED,
     .min = 1e-6,
     .max = 1e9,
     .offset = offsetof(struct topo_dim, bandwidth_gibps),
     .help = "of a link, one way; a bare number is what ASTRA-sim calls GB/s, 2^30 bytes a second"},
    {.key = "latency",
     .type = CONFIG_TIME_REAL,
     .flags = CONFIG_REQUIRED,
     .min = 0,
     .max = 1e12,
     .offset = offsetof(struct topo_dim, latency_ns),
     .help = "of a link; fractions of a nanosecond count"},
};

const struct config_format config_format_network = {
    .id = "network",
    .title = "Network",
    .option = "network",
    .syntax = "yaml",
    .summary = "The machine as dimensions. Each key is a list with one entry per dimension, dimension 0 (neighbouring "
               "ranks) first; a single value stands for a list of one. The number of ranks is the product of "
               "`npus_count` and fits 31 bits.",
    .example = "topology: [Ring, Switch]\n"
               "npus_count: [8, 4]\n"
               "bandwidth: [450, 400Gbps]\n"
               "latency: [250.5, 1us]\n",
    .rows = network_rows,
    .row_count = sizeof network_rows / sizeof network_rows[0],
    .item_bytes = sizeof(struct topo_dim),
    .max_items = TOPO_MAX_DIMS,
};

static enum orr_status check_lengths(const char *name, const struct config_seen *seen, struct orr_error *err)
{
    for (uint32_t i = 1; i < config_format_network.row_count; i++) {
        if (seen->count[i] != seen->count[0]) {
            return error_set(err, ORR_EINVAL,
                             "%s:%" PRIu32 ": \"%s\" has %" PRIu32 " entries but \"%s\" on line %" PRIu32
                             " has %" PRIu32 "; each needs one per dimension",
                             name, seen->line[i], network_rows[i].key, seen->count[i], network_rows[0].key,
                             seen->line[0], seen->count[0]);
        }
    }
    return ORR_OK;
}

/* One rank is a machine, whose network nobody uses; a dimension of one beside others is a slip of the pen. */
static enum orr_status check_sizes_above_one(const char *name, const struct config_seen *seen,
                                             const struct topo_dims *dims, struct orr_error *err)
{
    for (uint32_t i = 0; i < dims->count && dims->count > 1; i++) {
        if (dims->dim[i].size < 2) {
            return error_set(err, ORR_EINVAL,
                             "%s:%" PRIu32 ": \"npus_count\" entry %" PRIu32
                             " is 1; accepted: whole number, 2 to 2147483647; 1 only where there is one dimension",
                             name, seen->line[1], i + 1);
        }
    }
    return ORR_OK;
}

enum orr_status config_take_network(const struct config_text *text, struct notes *notes, struct topo_dims *dims,
                                    struct orr_error *err)
{
    const char *name = text->name;
    struct arena scratch;
    arena_init(&scratch, notes->arena.mem);
    struct io_value *root = NULL;
    struct topo_dims made;
    memset(&made, 0, sizeof made);
    struct config_seen seen;
    enum orr_status status = io_yaml_parse(name, text->text, text->size, &scratch, &root, err);
    if (status == ORR_OK) {
        struct config_reader reader = {.name = name,
                                       .notes = notes,
                                       .err = err,
                                       .overrides = text->overrides,
                                       .override_count = text->override_count};
        status = config_table_read(&reader, &config_format_network, root, made.dim, &seen);
    }
    arena_free(&scratch);
    if (status == ORR_OK) {
        status = check_lengths(name, &seen, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    made.count = seen.count[0];
    status = check_sizes_above_one(name, &seen, &made, err);
    if (status != ORR_OK) {
        return status;
    }
    if (!topo_dims_finish(&made)) {
        return error_set(err, ORR_ERANGE,
                         "%s:%" PRIu32 ": the product of \"npus_count\" is too large; accepted: up to %d ranks", name,
                         seen.line[1], INT32_MAX);
    }
    *dims = made;
    return ORR_OK;
}

enum orr_status config_parse_network(const char *name, const char *text, size_t size, struct notes *notes,
                                     struct topo_dims *dims, struct orr_error *err)
{
    const struct config_text plain = {.name = name, .text = text, .size = size};
    return config_take_network(&plain, notes, dims, err);
}
