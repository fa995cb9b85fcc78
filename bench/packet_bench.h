/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packet network's speed: transmissions (one packet over one link, acknowledgements counted) a second of CPU time,
 * on the cases ns-3 was timed with and on a torus. The topology, configuration and traces are made here.
 */
#ifndef ORR_BENCH_PACKET_BENCH_H
#define ORR_BENCH_PACKET_BENCH_H

#include <stdbool.h>

/* Case number `index` from 0; NULL when there is none. */
const char *bench_packet_name(int index);
const char *bench_packet_title(int index);
bool bench_packet_is_quick(int index);

/* Runs the case `repeat` times in child processes and prints the quickest; false when it failed or its time is wrong.
 */
bool bench_packet_run(int index, unsigned repeat);

#endif
