/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine as a generator makes it: hosts, NVSwitches and switches numbered in this order, links of a few classes
 * (rate, delay, loss) that keep the spelling they will have in the file, and what a file can say besides: GPUs of a
 * server, their type, the logical dimensions. From it come the files (config/topology_write.h) and the graph that
 * everything else works on.
 *
 * Nodes are made before links. Owned by the caller; a machine whose memory was refused says so in topo_made_end.
 */
#ifndef ORR_TOPO_MAKE_MADE_H
#define ORR_TOPO_MAKE_MADE_H

#include "base/notes.h"
#include "topo/dims.h"
#include "topo/graph.h"
#include "topo/make/settings.h"

enum { TOPO_NODES_MOST = 1 << 24, TOPO_LINKS_MOST = 1 << 26, TOPO_CLASSES_MOST = 64 };

struct topo_class {
    struct topo_quantity rate, delay;
};

struct topo_made_link {
    uint32_t a, b;
    uint32_t class;
};

struct topo_made {
    struct mem *mem;
    uint32_t hosts, nvswitches, switches;
    struct topo_class classes[TOPO_CLASSES_MOST];
    uint32_t class_count;
    struct topo_made_link *links;
    uint32_t link_count, link_capacity;
    double loss;
    char loss_text[32];
    uint32_t gpus_per_server;
    char gpu_type[32];
    uint32_t dims[TOPO_MAX_DIMS]; /* logical, dimension 0 first */
    uint32_t dim_count;
    bool simai;     /* SimAI's form is the machine's own */
    char name[192]; /* of SimAI's file, or "" */
    uint32_t leaves, spines, segments;
    bool too_many, refused; /* said by topo_made_end */
};

/* Takes loss and gpu-type; `gpu_type` is the one where nothing is said. */
ORR_MUST_CHECK enum orr_status topo_made_init(struct topo_made *made, const struct topo_settings *settings,
                                              const char *gpu_type, struct mem *mem, struct orr_error *err);
void topo_made_free(struct topo_made *made);

/* Nodes of all kinds at once, since each kind's numbers follow the last's. */
ORR_MUST_CHECK enum orr_status topo_made_nodes(struct topo_made *made, uint64_t hosts, uint64_t nvswitches,
                                               uint64_t switches, struct orr_error *err);

/* How many links will come: ORR_ERANGE before any of them is made where they are too many. */
ORR_MUST_CHECK enum orr_status topo_made_expect(struct topo_made *made, uint64_t links, struct orr_error *err);

/* The class of these quantities, made when it is new. */
uint32_t topo_made_class(struct topo_made *made, const struct topo_quantity *rate, const struct topo_quantity *delay);
void topo_made_link(struct topo_made *made, uint32_t a, uint32_t b, uint32_t class);

static inline void topo_made_dim(struct topo_made *made, uint64_t size)
{
    made->dims[made->dim_count++] = (uint32_t)size;
}

/* ORR_ERANGE or ORR_ENOMEM when links were left out. */
ORR_MUST_CHECK enum orr_status topo_made_end(const struct topo_made *made, struct orr_error *err);

/* `graph` is the caller's, to topo_graph_free. */
ORR_MUST_CHECK enum orr_status topo_made_graph(const struct topo_made *made, struct mem *mem, struct topo_graph *graph,
                                               struct orr_error *err);

#endif
