/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents nobody wrote: random nodes with every kind of attribute, dependencies in both kinds, inputs, outputs and
 * doc strings, in an arena. The same seed gives the same document everywhere.
 */
#ifndef ORR_TESTS_TRACE_RANDOM_DOCUMENT_H
#define ORR_TESTS_TRACE_RANDOM_DOCUMENT_H

#include "trace/document.h"

struct random_document {
    Chakra__GlobalMetadata *metadata;
    Chakra__Node **nodes;
    uint32_t node_count;
};

uint64_t random_next(uint64_t *seed);

/* Sound, or with `faults` also self dependencies, cycles, missing dependencies, ids used twice, unknown types and
 * attributes of the wrong kind. */
struct random_document random_document_make(struct arena *arena, uint64_t *seed, bool faults);

#endif
