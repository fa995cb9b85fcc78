/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ASTRA-sim's configuration files turned into the plain structs of sim/config.h: system JSON, network YAML, remote
 * memory JSON, communicator groups JSON, per-node custom implementation YAML.
 *
 * Each format is one table of rows (key, type, default, range, help, offset): the reader, the reference page and the
 * JSON schema come from the same rows. An unknown key is a note with the nearest known key; a wrong type or value is an
 * error with file and line. Nothing is opened but the file named; custom collective *traces* are only named here
 * (struct config_custom), the caller loads them.
 */
#ifndef ORR_CONFIG_CONFIG_H
#define ORR_CONFIG_CONFIG_H

#include "base/arena.h"
#include "base/notes.h"
#include "config/override.h"
#include "sim/config.h"

/* Where custom collectives come from, by path prefix; NULL where none is configured. Strings live in the arena. */
struct config_custom {
    const char *native[SIM_NATIVE_COUNT]; /* "<type>-implementation-custom" */
    const char *per_node_file;            /* "per-node-custom-implementation" */
};

struct config_custom_node {
    uint64_t node_id;
    const char *path;
};

/*
 * Each format has a reader of a file and one of a text in memory, which takes the name to use in messages. Both fail
 * with ORR_EINVAL or ORR_ERANGE (the text), ORR_ENOMEM, or ORR_EIO (the file), and write their outputs on success only.
 * Those that a run takes overrides for have a third, `take`, of a text with its overrides, which the others are made
 * of.
 */
ORR_MUST_CHECK enum orr_status config_read_network(const char *path, struct notes *notes, struct topo_dims *dims,
                                                   struct orr_error *err);
ORR_MUST_CHECK enum orr_status config_parse_network(const char *name, const char *text, size_t size,
                                                    struct notes *notes, struct topo_dims *dims, struct orr_error *err);
ORR_MUST_CHECK enum orr_status config_take_network(const struct config_text *text, struct notes *notes,
                                                   struct topo_dims *dims, struct orr_error *err);

/* `injection_scale` multiplies an endpoint-delay that the file gives, not the default one (spec analytical §8). Lists
 * of algorithms are kept as written: whether they fit the network is for whoever has both. */
ORR_MUST_CHECK enum orr_status config_read_system(const char *path, double injection_scale, struct arena *arena,
                                                  struct notes *notes, struct sim_system *system,
                                                  struct config_custom *custom, struct orr_error *err);
ORR_MUST_CHECK enum orr_status config_parse_system(const char *name, const char *text, size_t size,
                                                   double injection_scale, struct arena *arena, struct notes *notes,
                                                   struct sim_system *system, struct config_custom *custom,
                                                   struct orr_error *err);
ORR_MUST_CHECK enum orr_status config_take_system(const struct config_text *text, double injection_scale,
                                                  struct arena *arena, struct notes *notes, struct sim_system *system,
                                                  struct config_custom *custom, struct orr_error *err);

ORR_MUST_CHECK enum orr_status config_parse_memory(const char *name, const char *text, size_t size, struct notes *notes,
                                                   struct sim_memory *memory, struct orr_error *err);
ORR_MUST_CHECK enum orr_status config_take_memory(const struct config_text *text, struct notes *notes,
                                                  struct sim_memory *memory, struct orr_error *err);

/* Groups in ascending id. A file name containing "empty" means no groups, as in ASTRA-sim. */
ORR_MUST_CHECK enum orr_status config_read_groups(const char *path, uint32_t ranks, struct arena *arena,
                                                  struct notes *notes, struct sim_group **groups, uint32_t *count,
                                                  struct orr_error *err);
ORR_MUST_CHECK enum orr_status config_parse_groups(const char *name, const char *text, size_t size, uint32_t ranks,
                                                   struct arena *arena, struct notes *notes, struct sim_group **groups,
                                                   uint32_t *count, struct orr_error *err);

/* In ascending node id. */
ORR_MUST_CHECK enum orr_status config_read_custom_nodes(const char *path, struct arena *arena, struct notes *notes,
                                                        struct config_custom_node **nodes, uint32_t *count,
                                                        struct orr_error *err);
ORR_MUST_CHECK enum orr_status config_parse_custom_nodes(const char *name, const char *text, size_t size,
                                                         struct arena *arena, struct notes *notes,
                                                         struct config_custom_node **nodes, uint32_t *count,
                                                         struct orr_error *err);

/* The reference of all tables. */
ORR_MUST_CHECK enum orr_status config_write_reference(bool json_schema, FILE *stream, struct orr_error *err);

#endif
