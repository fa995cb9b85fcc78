/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A SimAI workload text made into what the executor runs (sim/simai/program.h): words become collectives and groups,
 * the header's degrees become groups of ranks and stages, rows become micro-batches where there are stages. Says what
 * the header and the machine do not agree on.
 */
#ifndef ORR_RUN_SIMAI_PROGRAM_H
#define ORR_RUN_SIMAI_PROGRAM_H

#include "base/notes.h"
#include "model/aicb/part_times.h"
#include "sim/simai/program.h"
#include "trace/graph.h"

struct run_simai_program {
    struct simai_program program;
    uint32_t tp, ep, cp; /* of the header, at least 1, as its pp, vpp and ga */
};

struct run_simai_reading {
    const char *path;
    uint32_t gpus;                       /* the machine's */
    bool compat;                         /* as SimAI reads, with one pipeline stage */
    bool interleaved;                    /* a stage's rows are cut into as many chunks as the header's vpp: says */
    const struct aicb_part_times *times; /* of rows that have none; or NULL */
};

/* Everything in the arena. */
ORR_MUST_CHECK enum orr_status run_simai_program_read(const struct run_simai_reading *reading, struct arena *arena,
                                                      struct notes *notes, struct run_simai_program *made,
                                                      struct orr_error *err);

/* The rows as the nodes of one trace that all ranks share (simai_node_of), for reports; in the arena, and nothing of it
 * to be freed. `path` is the workload's. */
ORR_MUST_CHECK enum orr_status run_simai_nodes_make(const struct simai_program *program, const char *path,
                                                    uint32_t gpus, struct arena *arena, struct trace_set *set,
                                                    struct orr_error *err);

#endif
