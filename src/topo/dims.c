/* SPDX-License-Identifier: Apache-2.0 */
/* The bandwidth is multiplied before it is divided because ASTRA-sim does: the last bit of bytes_per_ns decides where
 * a transfer time is truncated (spec analytical §1). */
#include "topo/dims.h"

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
