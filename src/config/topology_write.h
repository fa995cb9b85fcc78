/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of a generated machine: the physical topology in ASTRA-sim's or SimAI's form (spec packet A2, B2) and the
 * logical one. Each file is complete or not touched.
 */
#ifndef ORR_CONFIG_TOPOLOGY_WRITE_H
#define ORR_CONFIG_TOPOLOGY_WRITE_H

#include "topo/make/made.h"

/* `both_directions` repeats each link the other way round, which means nothing to a reader that takes links for full
 * duplex but is how some generators write them. */
ORR_MUST_CHECK enum orr_status config_write_topology(const struct topo_made *made, const char *path, bool simai,
                                                     bool both_directions, struct orr_error *err);
/* The same to a stream, whose errors are the caller's to look for. */
void config_put_topology(const struct topo_made *made, bool simai, bool both_directions, FILE *stream);
ORR_MUST_CHECK enum orr_status config_write_logical(const struct topo_made *made, const char *path,
                                                    struct orr_error *err);

#endif
