/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The templates of SimAI's topology generator (spec simai §8): Spectrum-X, AlibabaHPN, DCN+ and custom ones. Servers of
 * GPUs behind NVSwitches, NICs on switches of a first level (ASW) in segments, all of these on the switches of a second
 * level (PSW). The same files, byte for byte; what the original answers with a Python trace is an error here.
 */
#ifndef ORR_TOPO_MAKE_TEMPLATE_H
#define ORR_TOPO_MAKE_TEMPLATE_H

#include "topo/make/made.h"

enum topo_template { TOPO_TEMPLATE_CUSTOM, TOPO_TEMPLATE_SPECTRUM_X, TOPO_TEMPLATE_HPN, TOPO_TEMPLATE_DCN };

/* Notes say where the count of ASWs was put right and which switches of the template's own were asked for in vain. */
ORR_MUST_CHECK enum orr_status topo_template_make(enum topo_template template, const struct topo_settings *settings,
                                                  struct notes *notes, struct topo_made *made, struct mem *mem,
                                                  struct orr_error *err);

#endif
