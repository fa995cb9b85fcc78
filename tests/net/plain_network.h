/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The congestion-aware network written down a second time, as plainly as spec analytical §11.2 states it: devices,
 * links named by their two ends, routes made in advance, events in a list that is searched for the earliest. An oracle
 * for small machines and little traffic; owns nothing after it returns.
 */
#ifndef ORR_TESTS_NET_PLAIN_NETWORK_H
#define ORR_TESTS_NET_PLAIN_NETWORK_H

#include <stdint.h>

#include "topo/dims.h"

struct plain_message {
    uint64_t at; /* when it is sent */
    uint32_t src, dst;
    uint64_t bytes;
    uint64_t arrival; /* answer */
};

/* Messages are sent in ascending order of `at`, those of one time in the order of the list. Fills `arrival`. */
void plain_network_run(const struct topo_dims *dims, struct plain_message *messages, uint32_t count);

#endif
