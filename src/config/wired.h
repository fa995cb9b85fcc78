/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of ASTRA-sim's and SimAI's packet networks (spec packet A2, A3, B2): the network configuration (KEY value),
 * the physical topology it names (nodes, switches, links) and the logical topology (dimensions of the ranks).
 *
 * As in config.h each has a reader of a file and one of a text in memory; the same statuses. What contradicts itself is
 * an error with its line, what merely has no effect is a note.
 */
#ifndef ORR_CONFIG_WIRED_H
#define ORR_CONFIG_WIRED_H

#include "base/arena.h"
#include "base/notes.h"
#include "config/override.h"
#include "net/packet_config.h"
#include "topo/dims.h"
#include "topo/graph.h"

/* Paths the configuration names; NULL where it names none. Relative ones are meant from the current folder. */
struct config_packet_files {
    const char *topology;
    const char *fct, *pfc, *qlen;
};

ORR_MUST_CHECK enum orr_status config_read_packet(const char *path, struct arena *arena, struct notes *notes,
                                                  struct packet_config *config, struct config_packet_files *files,
                                                  struct orr_error *err);
ORR_MUST_CHECK enum orr_status config_parse_packet(const char *name, const char *text, size_t size, struct arena *arena,
                                                   struct notes *notes, struct packet_config *config,
                                                   struct config_packet_files *files, struct orr_error *err);
ORR_MUST_CHECK enum orr_status config_take_packet(const struct config_text *text, struct arena *arena,
                                                  struct notes *notes, struct packet_config *config,
                                                  struct config_packet_files *files, struct orr_error *err);
/* The keys of the format, in its order; NULL behind the last. */
const char *config_packet_key(uint32_t index);

/* Facts only SimAI's form of the file has. */
struct config_wired_extra {
    uint32_t gpus_per_server; /* 0 in ASTRA-sim's form */
    const char *gpu_type;     /* "" in ASTRA-sim's form */
};

/* `graph` is the caller's, to topo_graph_free. Of parallel links between two nodes only the last carries traffic in the
 * reference; they are counted in a note. */
ORR_MUST_CHECK enum orr_status config_read_topology(const char *path, struct arena *arena, struct notes *notes,
                                                    struct topo_graph *graph, struct config_wired_extra *extra,
                                                    struct orr_error *err);
ORR_MUST_CHECK enum orr_status config_parse_topology(const char *name, const char *text, size_t size,
                                                     struct arena *arena, struct notes *notes, struct topo_graph *graph,
                                                     struct config_wired_extra *extra, struct orr_error *err);

/* {"logical-dims": ["8", "2"]}: sizes as texts or numbers, dimension 0 first. Kinds and rates are left to the caller.
 */
ORR_MUST_CHECK enum orr_status config_parse_logical(const char *name, const char *text, size_t size,
                                                    struct notes *notes, struct topo_dims *dims, struct orr_error *err);
ORR_MUST_CHECK enum orr_status config_take_logical(const struct config_text *text, struct notes *notes,
                                                   struct topo_dims *dims, struct orr_error *err);
#define CONFIG_LOGICAL_KEY "logical-dims"

#endif
