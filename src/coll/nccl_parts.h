/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the files of coll/nccl add flows: a builder with room for as many as the caller said, parents given with each
 * flow, children found at the end by turning the parents round. Only files of coll/nccl include this.
 */
#ifndef ORR_COLL_NCCL_PARTS_H
#define ORR_COLL_NCCL_PARTS_H

#include "coll/nccl.h"

enum { NCCL_NO_FLOW = UINT32_MAX };

struct nccl_builder {
    const struct nccl_job *job;
    const struct nccl_group *group;
    const struct nccl_channels *channels;
    const struct nccl_choice *choice;
    struct arena *arena;
    struct nccl_flows *flows;
    uint32_t link_count, prev_count;
    uint64_t flow_room, link_room, prev_room;
};

/* Room for so many flows, parents and entries of prev lists, all told. */
ORR_MUST_CHECK enum orr_status nccl_builder_reserve(struct nccl_builder *builder, uint64_t flows, uint64_t parents,
                                                    uint64_t prevs, struct orr_error *err);

/* Room for the working arrays of an algorithm, in the same arena. */
ORR_MUST_CHECK enum orr_status nccl_builder_work(struct nccl_builder *builder, uint64_t count, size_t item_bytes,
                                                 void *array, struct orr_error *err);

/* Starts a run of prev ranks; returns its first entry. */
uint32_t nccl_builder_prev(struct nccl_builder *builder, uint32_t rank);

/* Adds a flow of the given fields without parents; returns its id. */
uint32_t nccl_builder_add(struct nccl_builder *builder, struct nccl_flow flow);

/* One more parent of the flow added last; NCCL_NO_FLOW is nobody. */
void nccl_builder_parent(struct nccl_builder *builder, uint32_t parent);

/* The flow added last has the same parents as `other`. */
void nccl_builder_parents_of(struct nccl_builder *builder, uint32_t other);

/* Finds the children and the total. */
ORR_MUST_CHECK enum orr_status nccl_builder_finish(struct nccl_builder *builder, struct orr_error *err);

/* The `index`-th of `parts` (at least 1) shares of `bytes`: they differ by at most one byte and add up. */
static inline uint64_t nccl_share(uint64_t bytes, uint64_t parts, uint64_t index)
{
    return bytes / parts + (index < bytes % parts ? 1 : 0);
}

/* What all flows of piece `k` of `pieces` of `bytes` have in common. */
static inline struct nccl_flow nccl_piece(uint64_t bytes, uint64_t pieces, uint64_t k, uint32_t channel,
                                          enum nccl_connection connection)
{
    return (struct nccl_flow){.bytes = nccl_share(bytes, pieces, k),
                              .channel = channel,
                              .chunk = (uint32_t)k,
                              .chunk_count = (uint32_t)pieces,
                              .connection = (uint8_t)connection};
}

/* The product, or UINT32_MAX where it is as large: more than can be numbered. */
static inline uint64_t nccl_times(uint64_t a, uint64_t b)
{
    return b != 0 && a > UINT32_MAX / b ? UINT32_MAX : a * b;
}

static inline uint32_t nccl_server_of(const struct nccl_job *job, uint32_t rank)
{
    return rank / job->gpus_per_server;
}

/* Place of `rank` in the ascending array `ranks`, or `count` when it is not there. */
uint32_t nccl_rank_place(const uint32_t *ranks, uint32_t count, uint32_t rank);

/* PXN: the rank of the group (without one, of the job) that is on the server of `src` and on the rail of `dst`; `src`
 * itself when both are on one server, when it is on that rail, or when there is no such rank. */
uint32_t nccl_relay_of(const struct nccl_builder *builder, uint32_t src, uint32_t dst);

/* In how many messages `bytes` are sent when one may have `chunk` at most. */
static inline uint64_t nccl_chunk_count(uint64_t bytes, uint64_t chunk)
{
    return bytes == 0 ? 0 : (bytes - 1) / chunk + 1;
}

/* Trees of the servers 0..count-1 (nccl_trees.c). */
enum { NCCL_NO_SERVER = UINT32_MAX };

struct nccl_server_node {
    uint32_t child[2]; /* NCCL_NO_SERVER: none */
    uint32_t up;
};

/* Which server is under which in tree 0 or 1. */
struct nccl_server_node nccl_server_tree(uint32_t count, uint32_t tree, uint32_t server);

/* Two trees a ring, into 2 x rings x rank_count places; `first` as nccl_servers_of gives it. */
void nccl_trees_fill(const struct nccl_group *group, uint32_t servers, const uint32_t *first, uint32_t rings,
                     struct nccl_tree_place *trees);

/* Where the ranks of each server begin in group.ranks; count + 1 entries. */
ORR_MUST_CHECK enum orr_status nccl_servers_of(const struct nccl_job *job, const struct nccl_group *group,
                                               struct arena *arena, uint32_t **first, uint32_t *count,
                                               struct orr_error *err);

/* What NVLS and COLLNET share (nccl_nvls.c). In how many chunks a channel's bytes are sent. */
uint64_t nccl_nvls_chunks(const struct nccl_builder *builder, uint64_t bytes);

/* Ranks lo..hi-1 of the group to a switch (or a rank), which adds them up; returns the first of the flows. */
uint32_t nccl_nvls_gather(struct nccl_builder *builder, uint32_t lo, uint32_t hi, uint32_t to, struct nccl_flow like);

/* The flow added last waits for `count` flows from `first` on. */
void nccl_nvls_wait_for(struct nccl_builder *builder, uint32_t first, uint32_t count);

/* The switch to ranks lo..hi-1 when `count` flows from `first` on have come in. */
void nccl_nvls_multicast(struct nccl_builder *builder, uint32_t lo, uint32_t hi, uint32_t from, uint32_t first,
                         uint32_t count, struct nccl_flow like);

/* The server's own switch that serves the channel. */
uint32_t nccl_nvls_switch(const struct nccl_builder *builder, uint32_t servers, uint32_t server, uint32_t channel);

/* Room for so many flows, parents and entries of prev lists, so many times. */
ORR_MUST_CHECK enum orr_status nccl_nvls_reserve(struct nccl_builder *builder, uint64_t times, uint64_t flows,
                                                 uint64_t parents, uint64_t prevs, struct orr_error *err);

/* One algorithm each; they reserve, add and leave finishing to the caller. */
ORR_MUST_CHECK enum orr_status nccl_ring_flows(struct nccl_builder *builder, enum coll_type type, uint64_t bytes,
                                               struct orr_error *err);
ORR_MUST_CHECK enum orr_status nccl_chain_flows(struct nccl_builder *builder, enum coll_type type, uint64_t bytes,
                                                struct orr_error *err);
ORR_MUST_CHECK enum orr_status nccl_tree_flows(struct nccl_builder *builder, uint64_t bytes, struct orr_error *err);
ORR_MUST_CHECK enum orr_status nccl_nvls_flows(struct nccl_builder *builder, enum coll_type type, uint64_t bytes,
                                               struct orr_error *err);
ORR_MUST_CHECK enum orr_status nccl_nvls_tree_flows(struct nccl_builder *builder, uint64_t bytes,
                                                    struct orr_error *err);
ORR_MUST_CHECK enum orr_status nccl_collnet_flows(struct nccl_builder *builder, uint64_t bytes, struct orr_error *err);
ORR_MUST_CHECK enum orr_status nccl_exchange_flows(struct nccl_builder *builder, uint64_t bytes, struct orr_error *err);
/* The same where one flow stands for all that are alike (nccl_job.alike). */
ORR_MUST_CHECK enum orr_status nccl_alike_ring_flows(struct nccl_builder *builder, enum coll_type type, uint64_t bytes,
                                                     struct orr_error *err);
ORR_MUST_CHECK enum orr_status nccl_alike_exchange_flows(struct nccl_builder *builder, uint64_t bytes,
                                                         struct orr_error *err);
ORR_MUST_CHECK enum orr_status nccl_star_flows(struct nccl_builder *builder, enum coll_type type, uint64_t bytes,
                                               struct orr_error *err);

#endif
