/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our linked trace as a file, between `orrery trace link` and `orrery trace convert`. It has the layout of Chakra's
 * (spec chakra §6.9): a host trace whose nodes carry times, with the device nodes below the ops that launched them, ids
 * counting up from 0, the process first, then its threads. Chakra's converter reads it too. What it cannot say there is
 * in keys of ours, from which the very graph comes back:
 *
 *   in the document  "orrery": version, rank, world_size, has_times, schema; lanes [{text, stream}], a host thread's
 *                    without stream; steps [{number, start_ns, end_ns}]; groups [{name, text, ranks}], ranks null for
 *                    all
 *   in a node        orr_kind      op, rest, gap, device, comm-op, comm-bare (link/linked.h)
 *                    orr_start_ns, orr_duration_ns, orr_lane (in lanes), orr_rf_id; orr_step (in steps)
 *                    orr_parent    id of the op around or the launching one; ctrl_deps names the thread where there is
 *                                  none
 *                    orr_deps      ids
 *                    orr_comm      comm_type's number, 10 send, 11 receive; with it orr_bytes (null: not known),
 *                                  orr_group (in groups), orr_root, orr_src, orr_dst, orr_type_from, orr_size_from
 *                                  (provenance.h); orr_peer_from of a send or receive
 */
#ifndef ORR_CONVERT_PYTORCH_HDT_OURS_H
#define ORR_CONVERT_PYTORCH_HDT_OURS_H

#include "convert/pytorch/host/host.h"
#include "convert/pytorch/link/linked.h"

enum { HDT_OURS_VERSION = 1 };

/* Writes a resolved graph. `host` (NULL: none) gives the nodes' inputs, outputs and attributes. The file is complete or
 * not there, packed when the path ends in .gz or .zst. */
ORR_MUST_CHECK enum orr_status hdt_ours_write(const struct linked_trace *linked, const struct comm_groups *groups,
                                              struct host_trace *host, const char *path, struct orr_error *err);

/* Reads a file of ours; `groups` (empty before) are settled afterwards. `*is_ours` false, and nothing read, when the
 * file is something else. */
ORR_MUST_CHECK enum orr_status hdt_ours_read(const char *path, struct mem *mem, struct linked_trace *linked,
                                             struct comm_groups *groups, bool *is_ours, struct orr_error *err);

#endif
