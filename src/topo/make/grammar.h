/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine in one line, from the servers up: "dgx-h100:16 > rail:400Gbps > spine:8".
 *
 *     machine  = servers, { ">", level } ;
 *     servers  = make, [ ":", argument, { ",", argument } ] ;
 *     level    = kind, [ ":", argument, { ",", argument } ] ;
 *     make     = "gpu" | "dgx-a100" | "dgx-h100" | "dgx-b200" | "nvl72" | "nvl36" | "mi250x" | "mi300x" | "pcie-pair" ;
 *     kind     = "rail" | "leaf" | "tor" | "switch" | "spine" | "agg" | "core" ;
 *     argument = count | count, "*", groups | rate | delay | down, ":", up | "x", links | "planes" | "forward" ;
 *
 * Blanks may stand between any two of these. What each argument means where is in docs/topologies.md; what the levels
 * become is topo/make/levels.h. Errors name the column, from 1.
 */
#ifndef ORR_TOPO_MAKE_GRAMMAR_H
#define ORR_TOPO_MAKE_GRAMMAR_H

#include "topo/make/levels.h"

/* Whether a text is meant as such a line rather than as a name: it has a ">" or a ":" in it. */
bool topo_grammar_is_line(const char *text);

ORR_MUST_CHECK enum orr_status topo_grammar_read(const char *line, struct topo_levels *levels, struct orr_error *err);

#endif
