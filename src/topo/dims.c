/* SPDX-License-Identifier: Apache-2.0 */
/* The bandwidth is multiplied before it is divided because ASTRA-sim does: the last bit of bytes_per_ns decides where
 * a transfer time is truncated (spec analytical §1). */
#include "topo/dims.h"

#include <math.h>
#include <stddef.h>

const char *topo_kind_name(enum topo_kind kind)
{
    static const char *const names[] = {
#define TOPO_X(name, text) text,
        TOPO_KINDS(TOPO_X)
#undef TOPO_X
    };
    size_t index = (size_t)kind;
    return index < sizeof names / sizeof names[0] ? names[index] : "unknown";
}

int topo_dims_finish(struct topo_dims *dims)
{
    uint64_t ranks = 1;
    for (uint32_t d = 0; d < dims->count; d++) {
        struct topo_dim *dim = &dims->dim[d];
        dim->stride = (uint32_t)ranks;
        dim->bytes_per_ns = dim->bandwidth_gibps * 1073741824.0 / 1000000000.0;
        ranks *= dim->size;
        if (ranks > INT32_MAX) {
            return 0;
        }
    }
    dims->ranks = (uint32_t)ranks;
    return 1;
}

static double factor_at(const struct topo_dims *dims, uint32_t node)
{
    return node < dims->ranks ? dims->link_factors[node] : INFINITY; /* a switch is as fast as what it is joined to */
}

double topo_link_factor(const struct topo_dims *dims, uint32_t a, uint32_t b)
{
    return dims->link_factors == NULL ? 1.0 : fmin(factor_at(dims, a), factor_at(dims, b));
}

void topo_link_factor_range(const struct topo_dims *dims, double *least, double *most)
{
    *least = *most = dims->link_factors == NULL ? 1.0 : dims->link_factors[0];
    for (uint32_t rank = 1; dims->link_factors != NULL && rank < dims->ranks; rank++) {
        *least = fmin(*least, dims->link_factors[rank]);
        *most = fmax(*most, dims->link_factors[rank]);
    }
}

uint32_t topo_rank_moved(const struct topo_dims *dims, uint32_t rank, uint32_t offset)
{
    uint32_t moved = 0;
    for (uint32_t d = 0; d < dims->count; d++) {
        const struct topo_dim *dim = &dims->dim[d];
        uint32_t at = topo_coordinate(dim, rank) + topo_coordinate(dim, offset);
        moved += (at >= dim->size ? at - dim->size : at) * dim->stride;
    }
    return moved;
}

uint32_t topo_rank_offset(const struct topo_dims *dims, uint32_t from, uint32_t to)
{
    uint32_t offset = 0;
    for (uint32_t d = 0; d < dims->count; d++) {
        const struct topo_dim *dim = &dims->dim[d];
        uint32_t at = topo_coordinate(dim, to) + dim->size - topo_coordinate(dim, from);
        offset += (at >= dim->size ? at - dim->size : at) * dim->stride;
    }
    return offset;
}
