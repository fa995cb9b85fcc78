/* SPDX-License-Identifier: Apache-2.0 */
/* The wires of a machine by name or line, for whoever draws and measures them. */
#ifndef ORR_API_MACHINE_WIRES_H
#define ORR_API_MACHINE_WIRES_H

#include <stdbool.h>

#include "base/error.h"
#include "topo/make/make.h"

/* Whether the text is meant as a file: it is one, or its name is like one. */
bool api_machine_is_file(const char *text);
/* `made` is the caller's, to topo_made_free. */
ORR_MUST_CHECK enum orr_status api_machine_wires(const char *name, struct mem *mem, struct topo_made *made,
                                                 struct orr_error *err);

#endif
