/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that is wrong with a topology file, not only the first thing: a reader stops where it must, a check goes on.
 * Every finding is a note that begins with the file and, where one is at fault, the line.
 */
#ifndef ORR_CONFIG_TOPOLOGY_CHECK_H
#define ORR_CONFIG_TOPOLOGY_CHECK_H

#include "base/notes.h"

/* Adds the findings to `notes` (which must not be strict). Fails only where the file cannot be read or memory is
 * refused. */
ORR_MUST_CHECK enum orr_status config_check_topology(const char *path, struct notes *notes, struct mem *mem,
                                                     struct orr_error *err);

/* The same of a text in memory. */
ORR_MUST_CHECK enum orr_status config_check_topology_text(const char *name, const char *text, size_t size,
                                                          struct notes *notes, struct mem *mem, struct orr_error *err);

#endif
