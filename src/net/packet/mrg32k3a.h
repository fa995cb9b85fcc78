/* SPDX-License-Identifier: Apache-2.0 */
/*
 * L'Ecuyer's combined generator MRG32k3a, with its streams 2^127 steps and sub-streams 2^76 steps apart, as simulators
 * number them: seed, stream, run. Deterministic on every machine: 64-bit integers, and one multiplication by a
 * constant.
 */
#ifndef ORR_NET_PACKET_MRG32K3A_H
#define ORR_NET_PACKET_MRG32K3A_H

#include <stdint.h>

struct mrg32k3a {
    uint64_t s[6]; /* each below its modulus */
};

/* Draws from (0, 1). */
double mrg32k3a_uniform(struct mrg32k3a *generator);

/* Streams one after the other: where the next one starts. */
struct mrg32k3a_streams {
    uint64_t jump[2][3][3];  /* 2^127 steps */
    uint64_t inner[2][3][3]; /* 2^76 steps */
    struct mrg32k3a next;
    uint64_t number; /* of `next` */
};

/* Seed 1 (all six words 1), the next stream being `number`. */
void mrg32k3a_streams_init(struct mrg32k3a_streams *streams, uint64_t number);
/* The next stream, at its run 1. */
struct mrg32k3a mrg32k3a_streams_take(struct mrg32k3a_streams *streams);
/* Goes past one stream. */
void mrg32k3a_streams_skip(struct mrg32k3a_streams *streams);
/* Any stream of seed 1 at run 1. */
struct mrg32k3a mrg32k3a_stream(uint64_t number);

#endif
