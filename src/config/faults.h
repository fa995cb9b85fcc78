/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults of links while a run goes on, as users write them down: a table (config/rows.h) of which link is how fast from
 * when until when. Knows neither networks nor whether there is such a link.
 */
#ifndef ORR_CONFIG_FAULTS_H
#define ORR_CONFIG_FAULTS_H

#include "base/arena.h"
#include "base/error.h"

/* Both directions of the link or links between two nodes. */
struct config_fault {
    const char *where;          /* "FILE:LINE" */
    uint32_t a, b;              /* nodes; `b` is not used where the other end is a switch of a dimension */
    int32_t switch_dim;         /* -1: none; else which dimension's, or CONFIG_FAULT_ANY where that is not said */
    uint64_t from_ns, until_ns; /* UINT64_MAX: for good */
    double factor;              /* of the rate; 0: it is down */
};

enum { CONFIG_FAULT_ANY = 1000 };

/* Columns a, b, from, until, rate. `b` may be "switch", or "switch1" for that of dimension 1. Times have units, a bare
 * number is in us; until may be left out. `rate` is a factor, "down" (also where it is left out) is 0. Ordered by time;
 * faults of one link do not overlap. Faults of rate 1 are left out. All in the arena. */
ORR_MUST_CHECK enum orr_status config_parse_faults(const char *name, const char *text, size_t size, struct arena *arena,
                                                   struct config_fault **faults, uint32_t *count,
                                                   struct orr_error *err);

#endif
