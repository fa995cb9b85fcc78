/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A collective acted out: each member has a list of sends and receives, carried out in order; a receive waits for the
 * oldest message from its peer, a send does not wait. What a member knows is a set of contributions, one bit a member
 * (at most 64): a message carries what its sender knows when it sends. Knows no time and no network.
 */
#ifndef ORR_TESTS_COLL_EXCHANGE_H
#define ORR_TESTS_COLL_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

enum { EXCHANGE_MEMBERS = 64, EXCHANGE_STEPS = 2100 };

struct exchange_step {
    bool sends;
    uint32_t peer;
    uint64_t bytes;
};

struct exchange_member {
    struct exchange_step steps[EXCHANGE_STEPS];
    uint32_t count;
    uint64_t known;    /* the start, and what it has become */
    uint64_t received; /* bytes */
    uint64_t sent;     /* bytes */
};

struct exchange {
    uint32_t size;
    struct exchange_member members[EXCHANGE_MEMBERS];
};

/* `size` members without steps, each knowing its own contribution. */
void exchange_begin(struct exchange *exchange, uint32_t size);
void exchange_add(struct exchange *exchange, uint32_t member, bool sends, uint32_t peer, uint64_t bytes);

/* Carries everything out. Fails the test, naming `what`, when a member waits for ever, a message has not the size that
 * its receiver expects, or one is left over. */
void exchange_run(struct exchange *exchange, const char *what);

#endif
