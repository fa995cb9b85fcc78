/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our own linker (the compatible one is compat/chakra/link.h): a host execution trace and a device trace of one rank
 * made one graph, in which every edge is one that the recording shows.
 *
 * Host: each op depends on what its thread did before it. Where a thread was idle and another fell silent meanwhile, or
 * created the work, it depends on that one; the rest of the time between ops is a node of its own ("host gap"). An
 * annotation around ops is a mark without time of its own.
 * Device: each kernel, copy and set depends on what its launching thread did before the launch, on its predecessor on
 * the stream, and on what its stream was told to wait for. A host op after a synchronising call depends on what the
 * call waited for.
 *
 * Waits are taken from synchronisation events where the profiler recorded them, else inferred from the calls; every
 * inferred dependency agrees with the recorded times.
 */
#ifndef ORR_CONVERT_PYTORCH_LINK_LINK_H
#define ORR_CONVERT_PYTORCH_LINK_LINK_H

#include "convert/convert.h"
#include "convert/pytorch/host/host.h"
#include "convert/pytorch/kineto/kineto.h"
#include "convert/pytorch/link/linked.h"

/*
 * Builds the graph, all but the communications' facts. `host` may be NULL. Notes say what is odd. Nothing of the two
 * traces is kept, but link_resolve needs their names and comms.
 */
ORR_MUST_CHECK enum orr_status link_build(const struct kineto_trace *kineto, const struct host_trace *host,
                                          struct mem *mem, struct notes *notes, struct linked_trace *linked,
                                          struct orr_error *err);

/*
 * The same from a host trace alone: one that another linker gave times and device nodes (an HDT), or a bare one, of
 * which only the order of ops and the communications are known.
 */
ORR_MUST_CHECK enum orr_status link_build_host(struct host_trace *host, struct mem *mem, struct notes *notes,
                                               struct linked_trace *linked, struct orr_error *err);

/* After link_resolve: kernels of families whose size nobody told become work of the time they took, unless the user
 * gives a size to all such nodes. */
void link_time_unsized(struct linked_trace *linked);
/* The one warning about those and about the families that never tell: how many of which, their share of the time. */
ORR_MUST_CHECK enum orr_status link_note_timed(const struct linked_trace *linked, struct notes *notes,
                                               struct orr_error *err);

/* Settles what each communication is. `groups` must be settled; `name` starts messages. A size that is not known is
 * left open (PROVENANCE_GIVEN) for emit/emit.h to refuse or fill. */
ORR_MUST_CHECK enum orr_status link_resolve(struct linked_trace *linked, const struct kineto_trace *kineto,
                                            const struct host_trace *host, const struct comm_groups *groups,
                                            const char *name, struct orr_error *err);

/* `orrery trace link`: reads both files, links, writes a linked trace (hdt/ours.h) to `output`, packed when its name
 * ends in .gz or .zst. `host` or `device` may be NULL, not both. `rank` -1: as the device trace says. */
struct link_request {
    const char *host, *device, *output;
    int64_t rank;
    struct mem *mem;
    struct notes *notes;
};

ORR_MUST_CHECK enum orr_status link_run(const struct link_request *request, struct linked_counts *counts,
                                        struct orr_error *err);

#endif
