/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes what a packet case needs in a folder of its own: topology, configuration, system and logical files and traces.
 * The caller makes the folder; bench_packet_inputs_remove takes it away with all that is in it.
 */
#ifndef ORR_BENCH_PACKET_INPUTS_H
#define ORR_BENCH_PACKET_INPUTS_H

#include <stdbool.h>
#include <stdint.h>

enum packet_shape { ONE_SWITCH, LEAF_SPINE, TORUS };

struct packet_inputs {
    enum packet_shape shape;
    uint32_t hosts;
    uint32_t dims[3];        /* logical; 0 ends */
    uint32_t leaves, spines; /* LEAF_SPINE */
    uint32_t spare;          /* LEAF_SPINE: further switches, each joined with each, that carry nothing */
    const char *type;
    uint64_t bytes;
    const char *algorithm; /* of the collective, per dimension */
    bool unbounded;        /* no windows, and buffers that hold whatever comes */
};

bool bench_packet_inputs_write(const struct packet_inputs *inputs, const char *folder);
void bench_packet_inputs_remove(const struct packet_inputs *inputs, const char *folder);

#endif
