/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chakra's trace_link (spec chakra §6): a host trace and a device trace of one run become one linked host trace, with
 * every rule and every quirk of the original, byte for byte. Our own linker (link/link.h) is right instead; this one is
 * for those who must compare. Where the original stops because HTA fails, the link is made without sync dependencies,
 * and notes say so.
 *
 * What is quadratic there is not here: operators are found through sorted indices instead of scans.
 */
#ifndef ORR_COMPAT_CHAKRA_LINK_H
#define ORR_COMPAT_CHAKRA_LINK_H

#include "convert/pytorch/host/host.h"
#include "convert/pytorch/kineto/kineto.h"
#include "io/outfile.h"

struct link_compat_summary {
    uint64_t host_nodes;   /* of the host trace */
    uint64_t matched;      /* of these: found in the device trace */
    uint64_t device_nodes; /* written: kernels and copies, as often as they were attached */
    uint64_t orphans;      /* kernels and copies without a launching call or without an operator around it */
    uint64_t sync_nodes;   /* nodes that got a sync_dep */
};

/* Fails with ORR_EINVAL (no process node, two launches of one correlation), ORR_EIO, ORR_ENOMEM; `path` is then as it
 * was. Both traces are only read; `host` must allow host_node_json. */
ORR_MUST_CHECK enum orr_status link_compat(struct host_trace *host, const struct kineto_trace *device, const char *path,
                                           enum io_outfile_form form, struct notes *notes,
                                           struct link_compat_summary *summary, struct orr_error *err);

#endif
