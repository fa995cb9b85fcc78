/* SPDX-License-Identifier: Apache-2.0 */
/* One simulation on the inputs of packet_inputs.h, measured in a child process. */
#ifndef ORR_BENCH_PACKET_RUN_H
#define ORR_BENCH_PACKET_RUN_H

#include <stdint.h>

#include "bench/child.h"
#include "orrery.h"

struct packet_run {
    bool good;
    uint64_t cycles, transmissions, skipped, events, in_flight;
    char error[512];
};

/* `forward`: with fast-forward. False when the child failed; `out->good` says whether the simulation did. */
bool bench_packet_run_once(const char *folder, enum orr_backend backend, bool forward, struct packet_run *out,
                           struct bench_usage *usage);

#endif
