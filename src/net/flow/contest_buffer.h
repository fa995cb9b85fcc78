/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A switch's buffer account in a contest: what each way in holds, when its peer must pause and when it may go on. The
 * rules are net/packet/buffer.h's, on a contest's own sums. Only contest.c includes this.
 */
#ifndef ORR_NET_FLOW_CONTEST_BUFFER_H
#define ORR_NET_FLOW_CONTEST_BUFFER_H

#include "net/flow/contest.h"

enum { CONTEST_RESERVE = 4096, CONTEST_RESUME_OFFSET = 3072 };

static inline uint32_t contest_threshold(const struct contest_node *node, const struct contest_ingress *ingress)
{
    return (node->room - node->used) >> ingress->shift;
}

static inline uint64_t contest_shared(const struct contest_ingress *ingress)
{
    return ingress->bytes > CONTEST_RESERVE ? ingress->bytes - CONTEST_RESERVE : 0;
}

static inline void contest_buffer_add(struct contest_node *node, struct contest_ingress *ingress, uint64_t size)
{
    uint64_t held = ingress->bytes + size;
    if (held <= CONTEST_RESERVE) {
        ingress->bytes = held;
        return;
    }
    uint64_t over = held - CONTEST_RESERVE;
    if (over > contest_threshold(node, ingress)) {
        ingress->over_bytes += size;
        return;
    }
    ingress->bytes = held;
    node->used += (uint32_t)(size < over ? size : over);
}

static inline void contest_buffer_remove(struct contest_node *node, struct contest_ingress *ingress, uint64_t size)
{
    uint64_t from_over = size < ingress->over_bytes ? size : ingress->over_bytes;
    uint64_t rest = size - from_over;
    uint64_t shared = contest_shared(ingress);
    node->used -= (uint32_t)(rest < shared ? rest : shared);
    ingress->over_bytes -= from_over;
    ingress->bytes -= rest;
}

static inline bool contest_must_pause(const struct contest_node *node, const struct contest_ingress *ingress)
{
    return !ingress->asked && (ingress->over_bytes > 0 || contest_shared(ingress) >= contest_threshold(node, ingress));
}

static inline bool contest_may_resume(const struct contest_node *node, const struct contest_ingress *ingress)
{
    uint64_t shared = contest_shared(ingress);
    return ingress->asked && ingress->over_bytes == 0 &&
           (shared == 0 || shared + CONTEST_RESUME_OFFSET <= contest_threshold(node, ingress));
}

#endif
