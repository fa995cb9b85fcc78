/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine as dimensions: ranks are points of a grid, dimension 0 varies fastest, and each dimension is a ring, a full
 * mesh or a switch with one bandwidth and one latency. Plain facts and arithmetic; no simulation here.
 */
#ifndef ORR_TOPO_DIMS_H
#define ORR_TOPO_DIMS_H

#include <stdint.h>

enum { TOPO_MAX_DIMS = 16 };

#define TOPO_KINDS(X)                                                                                                  \
    X(RING, "Ring")                                                                                                    \
    X(FULLY_CONNECTED, "FullyConnected")                                                                               \
    X(SWITCH, "Switch")

enum topo_kind {
#define TOPO_X(name, text) TOPO_##name,
    TOPO_KINDS(TOPO_X)
#undef TOPO_X
};

const char *topo_kind_name(enum topo_kind kind);

struct topo_dim {
    enum topo_kind kind;
    uint32_t size;          /* ranks along this dimension, at least 2 */
    uint32_t stride;        /* product of the sizes below */
    double bandwidth_gibps; /* 2^30 bytes a second, as the network file gives it */
    double bytes_per_ns;    /* the same: bandwidth_gibps * 2^30 / 1e9, multiplied first (spec analytical §1) */
    double latency_ns;
};

struct topo_dims {
    uint32_t count;
    uint32_t ranks; /* product of the sizes */
    struct topo_dim dim[TOPO_MAX_DIMS];
    const double *link_factors; /* by rank: of the rate of its links; NULL: 1 everywhere. Borrowed */
};

/* Fills strides, rank count and bytes_per_ns from the kinds, sizes and bandwidths. False when the product of the sizes
 * does not fit 31 bits. */
int topo_dims_finish(struct topo_dims *dims);

/* Of the rate of what joins two nodes, either of which may be a switch (a number from `ranks` on): as fast as the
 * slower end. */
double topo_link_factor(const struct topo_dims *dims, uint32_t a, uint32_t b);
/* The least and the largest of all ranks' factors. */
void topo_link_factor_range(const struct topo_dims *dims, double *least, double *most);

/* Where `rank` gets by as many places on in each dimension as `offset` has there, round and round. */
uint32_t topo_rank_moved(const struct topo_dims *dims, uint32_t rank, uint32_t offset);
/* The offset that moves `from` to `to`. */
uint32_t topo_rank_offset(const struct topo_dims *dims, uint32_t from, uint32_t to);

static inline uint32_t topo_coordinate(const struct topo_dim *dim, uint32_t rank)
{
    return rank / dim->stride % dim->size;
}

#endif
