/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace made fit to run: what trace/check.h would report and the simulator refuse is repaired where one right answer
 * exists, and counted. What has no right answer is asked for (an unknown size) or refused (an id used twice, unless new
 * ids are allowed). Order is never lost: removed nodes are contracted (trace/contract.h), cycles lose the dependencies
 * that trace/cycles.h says. docs/trace-tools.md has the rules for users.
 */
#ifndef ORR_TRACE_FIX_H
#define ORR_TRACE_FIX_H

#include <stdio.h>

#include "base/notes.h"
#include "trace/record.h"

/* identifier, what was done, whether each case is told (up to FIX_TOLD) beside being counted. */
#define FIX_REPAIRS(X)                                                                                                 \
    X(SELF, "self dependencies removed", false)                                                                        \
    X(MISSING, "dependencies on missing nodes removed", true)                                                          \
    X(TWICE, "dependencies listed twice merged", false)                                                                \
    X(CYCLE_CTRL, "control dependencies removed to break cycles", true)                                                \
    X(CYCLE_DATA, "data dependencies removed to break cycles", true)                                                   \
    X(ID, "nodes with an id used before given a new one", true)                                                        \
    X(TYPE, "nodes of invalid or unknown type removed", true)                                                          \
    X(METADATA, "metadata nodes removed", false)                                                                       \
    X(PASSED, "metadata nodes others waited for passed by", false)                                                     \
    X(COLLECTIVE, "collectives of unknown type removed", true)                                                         \
    X(PEER, "sends and receives without a peer removed", true)                                                         \
    X(EMPTY, "sends and receives of 0 bytes removed", true)                                                            \
    X(CPU, "CPU nodes removed", false)                                                                                 \
    X(CPU_MERGED, "CPU nodes merged into the one before", false)                                                       \
    X(JOINT, "removed nodes kept as joints of no duration", false)                                                     \
    X(ATTRIBUTE, "attributes of the wrong kind removed", true)                                                         \
    X(SIZE, "missing sizes set to parameter 'unknown-size'", true)                                                     \
    X(TAG, "missing comm_tag set to 0", false)                                                                         \
    X(CPU_FLAG, "missing is_cpu_op set to false", false)                                                               \
    X(CPU_COMM, "communication nodes marked as CPU operators cleared", false)

enum fix_repair {
#define FIX_X(id, text, told) FIX_##id,
    FIX_REPAIRS(FIX_X)
#undef FIX_X
        FIX_REPAIR_COUNT
};

enum { FIX_TOLD = 5 };

const char *fix_repair_text(enum fix_repair repair);

enum fix_cpu { FIX_CPU_KEEP, FIX_CPU_DROP, FIX_CPU_MERGE };

struct fix_options {
    enum fix_cpu cpu;
    bool has_unknown_size;
    uint64_t unknown_size; /* bytes, at least 1 */
    bool renumber;         /* an id used twice gets a new one instead of an error */
};

struct fix_counts {
    uint64_t nodes_in, nodes_out;
    uint64_t deps_in, deps_out;
    uint64_t repairs[FIX_REPAIR_COUNT];
};

/*
 * Reads the file, and writes the repaired one to `stream` unless that is NULL; write errors stay with the stream. In
 * strict notes the first finding is the error. Fails with ORR_EINVAL (damage; an unknown size; an id used twice),
 * ORR_EIO, ORR_ENOMEM. `*counts` is added to.
 */
ORR_MUST_CHECK enum orr_status fix_trace(struct record_reader *reader, const struct fix_options *options, FILE *stream,
                                         struct notes *notes, struct fix_counts *counts, struct mem *mem,
                                         struct orr_error *err);

#endif
