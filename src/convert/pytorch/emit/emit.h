/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A linked trace written as a Chakra ET file that any feeder accepts: ids count up from 0 in the order of start, all
 * dependencies are data dependencies on nodes of the file with lower ids, communications are device nodes with type,
 * size, group and peers. What the user leaves out (host ops, gaps, steps) is contracted: what depended on it depends on
 * what it depended on.
 *
 * Attributes: is_cpu_op; stream of device nodes and tid of host nodes where they are numbers; rf_id; parent (the op
 * around, or the launching op; informative); step; those of communications (comm_type, comm_size, pg_name, comm_src,
 * comm_dst, comm_tag, root_rank) and how their type and size were known (convert.h).
 */
#ifndef ORR_CONVERT_PYTORCH_EMIT_EMIT_H
#define ORR_CONVERT_PYTORCH_EMIT_EMIT_H

#include "convert/convert.h"
#include "convert/pytorch/link/linked.h"
#include "trace/et_write.h"

struct emit_options {
    uint64_t unknown_size;
    bool has_unknown_size;
    bool drop_gaps;
    bool drop_cpu;            /* all host nodes; communication stays */
    const int64_t *steps;     /* pairs: first and last of a range; only these steps are written */
    uint32_t step_pair_count; /* 0 = everything */
};

/* Time that no dependency explains (retime.h), by where it was spent: between what the host did, on the way of a
 * launch to the device, on a stream between two kernels. */
enum emit_gap_kind { EMIT_GAP_HOST, EMIT_GAP_LAUNCH, EMIT_GAP_DEVICE, EMIT_GAP_KINDS };

/* Bytes and number by kind of communication, all nodes and per step. */
struct emit_counts {
    struct convert_summary summary;
    uint64_t kind_count[COMM_KIND_COUNT];
    uint64_t kind_bytes[COMM_KIND_COUNT];
    uint64_t device_out; /* kernels, copies and sets written, those that communicate included */
    uint64_t host_out;
    uint64_t type_from[PROVENANCE_COUNT], size_from[PROVENANCE_COUNT], peer_from[PROVENANCE_COUNT];
    uint64_t steps; /* distinct steps among the written nodes */
    uint64_t gap_count[EMIT_GAP_KINDS], gap_ns[EMIT_GAP_KINDS];
    uint64_t released;              /* waits for another stream that only the times tell */
    uint64_t contradicted;          /* dependencies that the recorded times contradict: left out */
    int64_t recorded_ns, played_ns; /* from first start to last end, as recorded and as the graph plays */
};

/* Writes all records; the writer is the caller's, to commit or abort. `name` starts messages. Fails with ORR_EINVAL
 * when a size is not known and none is given. */
ORR_MUST_CHECK enum orr_status emit_write(const struct linked_trace *linked, const struct comm_groups *groups,
                                          const struct emit_options *options, const char *name,
                                          struct et_writer *writer, struct emit_counts *counts, struct orr_error *err);

/* `orrery trace convert` from pytorch: a linked trace of ours, a Chakra HDT or a bare host trace. */
ORR_MUST_CHECK enum orr_status pytorch_convert(const struct convert_request *request, struct convert_summary *summary,
                                               struct orr_error *err);

#endif
