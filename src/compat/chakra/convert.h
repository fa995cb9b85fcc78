/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PyTorch traces to Chakra ET exactly as Chakra's own converter does it (spec chakra §8), its bugs included: for people
 * who must compare with, or feed, what they have. Reads a linked trace (HDT) or a bare host trace; the right converter
 * is emit/emit.h. docs/convert.md lists what differs.
 *
 * Two passes: the first keeps a compact struct a node and finds the dependencies, the second reads each node again in
 * the order of ids and writes it. Memory goes with the number of nodes, not with the size of the file.
 */
#ifndef ORR_COMPAT_CHAKRA_CONVERT_H
#define ORR_COMPAT_CHAKRA_CONVERT_H

#include "convert/convert.h"

/* Fails with ORR_EINVAL where the original raises: a schema it does not take, a missing attribute, a collective kernel
 * it does not know, a cycle, a dependency on a missing node. With `request->replay` the order in which Chakra's
 * --simulate would issue the nodes is written there once the file is complete. */
ORR_MUST_CHECK enum orr_status pytorch_convert_compat(const struct convert_request *request,
                                                      struct convert_summary *summary, struct orr_error *err);

#endif
