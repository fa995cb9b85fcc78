/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small traces with a known shape: one collective, or the three nodes of the tutorials' first demo. What a first run, a
 * benchmark and a test of the network need when there is no trace at hand.
 *
 * Every rank gets the same bytes. Collective types are Chakra's numbers; their names are for those above.
 */
#ifndef ORR_MODEL_GEN_H
#define ORR_MODEL_GEN_H

#include "base/mem.h"
#include "orrery/gen.h"

struct model_gen {
    enum orr_pattern pattern;
    int32_t comm_type;   /* of the collective (ORR_PATTERN_COLLECTIVE) */
    const char *name;    /* of its node */
    uint64_t bytes;      /* of the (first) collective */
    uint64_t compute_us; /* of the compute node (ORR_PATTERN_THREE_NODE) */
};

/* The file's bytes, the caller's to mem_free with `*size`. Fails with ORR_ERANGE (a size that does not fit Chakra's
 * int64) or ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status model_gen_encode(const struct model_gen *gen, struct mem *mem, uint8_t **bytes,
                                                size_t *size, struct orr_error *err);

/* Writes PREFIX.0.et … PREFIX.(ranks-1).et, making missing folders. Fails with ORR_EIO too. */
ORR_MUST_CHECK enum orr_status model_gen_write(const struct model_gen *gen, const char *prefix, uint32_t ranks,
                                               struct mem *mem, struct orr_error *err);

#endif
