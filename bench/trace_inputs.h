/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A large recording for the benchmark of the trace import: one recorded pair (host execution trace and Kineto trace)
 * repeated as if training had gone on. Each copy gets fresh ids (host nodes, record functions, external ids,
 * correlations, sequence numbers, arrows) and later times; the process and thread nodes of the host trace stay single,
 * so that the copies hang from one root. The pair is small and comes from tests/data.
 */
#ifndef ORR_BENCH_TRACE_INPUTS_H
#define ORR_BENCH_TRACE_INPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "orrery.h"

struct bench_recording {
    uint64_t device_bytes, host_bytes;
    uint64_t copies;
    uint64_t kernels; /* events of category "kernel" in the device trace */
};

/* Writes FOLDER/device_0.json of at least `megabytes` and FOLDER/host_0.json with as many copies, from
 * DATA/device_0.json.gz and DATA/host_0.json.gz. False with `err` set when that fails. */
bool bench_write_recording(const char *data, const char *folder, uint64_t megabytes, struct bench_recording *recording,
                           struct orr_error *err);

/* Removes both files, and the folder when it is then empty. */
void bench_remove_recording(const char *folder);

#endif
