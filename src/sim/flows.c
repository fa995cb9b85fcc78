/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream that carries out its part of NCCL's list of flows (coll/nccl.h). The list is laid out once per kind of
 * collective and shared by all ranks and chunks; a stream only has counters: how many parents each of its sends still
 * waits for, and which of its receives have come.
 *
 * A receive passes the endpoint, and memory where the data is added up, before the sends that wait for it may go; the
 * first sends pass the endpoint once. Receives are posted in the order of the list, one at a time in each channel, as
 * NCCL's kernels work through a channel. So a stall shows the message that is missing and not all that follow it.
 * That order cannot lock: of the flows not yet received, the one with the lowest number has been sent, because its
 * parents have lower numbers, and is the next to be received in its line. What a rank only hands on to another server
 * stands in a line of its own, as proxies do that for it; and in an all-to-all, where kernels serve their peers side by
 * side, there is a line for each of them. (In one line a rank would hand on what it has when all before it have sent to
 * it, and servers would take turns.)
 *
 * What is sent to a switch is received, and what the switch sends is sent, on behalf of the switch by a member, on an
 * NVLink switch's behalf by the lowest on its server: the message goes to and from the switch in the network, and the
 * member's stream keeps the count. A switch's receives stand in no line with its member's own, which come later than
 * the next chunks at the switch.
 *
 * Channels may send messages of one size between the same two ranks, and those meet receives in the order of posting,
 * whoever's they are. Hence a receive hears which flow came; when that one had no receive of its own yet, the one that
 * it took is posted again.
 */
#include <string.h>

#include "coll/nccl.h"
#include "sim/engine.h"
#include "sim/flow_plan.h"

/* 40 bytes of memory each, and the lists: more would be a machine that the ring serves better. */
enum { MOST_FLOWS = 1 << 28 };

enum { FLOW_POSTED = 1, FLOW_CAME = 2 };

struct sim_flow_run {
    size_t bytes; /* of this block */
    uint32_t member;
    uint32_t sends_left, recvs_left;
    uint32_t *parents_left; /* by own send */
    uint8_t *state;         /* by own receive: FLOW_… */
};

/* ---- before the run ------------------------------------------------------------------------------------------- */

static enum coll_nccl wanted(const struct sim *sim, enum coll_type type)
{
    return sim->logical[sim_native_of((int32_t)type)][0].impl.nccl;
}

/* Whether the node leaves out a dimension that has more than one rank. */
static bool leaves_out(const struct sim *sim, const struct trace_node *node)
{
    for (uint32_t d = 0; d < sim->config->dims.count; d++) {
        if (sim->config->dims.dim[d].size > 1 && (node->involved_dims >> d & 1) == 0) {
            return true;
        }
    }
    return false;
}

const char *sim_flows_leave_out(const struct sim *sim, const struct trace_node *node, uint32_t group)
{
    bool some = group == SIM_NONE && (node->has & TRACE_HAS_INVOLVED_DIM) != 0 && leaves_out(sim, node);
    return some ? "involved_dim leaves out a dimension, and NCCL's collectives are over all ranks or those of a "
                  "communicator group; give it a pg_name"
                : NULL;
}

const char *sim_flows_refuse(const struct sim *sim, const struct trace_node *node, uint32_t group)
{
    enum coll_type type = (enum coll_type)node->comm_type;
    uint32_t members = group == SIM_NONE ? sim->rank_count : sim->groups[group].group->count;
    const char *why = sim_flows_leave_out(sim, node, group);
    if (why != NULL) {
        return why;
    }
    if (wanted(sim, type) == COLL_NCCL_TREE && type != COLL_ALL_REDUCE) {
        return "NCCL has trees for all-reduce only; use nccl or ncclRing";
    }
    if (wanted(sim, type) == COLL_NCCL_COLLNET && type != COLL_ALL_REDUCE) {
        return "the network's switches add up all-reduces only; use nccl or ncclRing";
    }
    uint32_t each = sim->nccl_servers.ranks_each;
    uint64_t local = each < NCCL_MAX_CHANNELS ? each : NCCL_MAX_CHANNELS;
    uint64_t flows = type == COLL_ALL_TO_ALL ? (uint64_t)members * members : 2 * local * members * members;
    if (wanted(sim, type) == COLL_NCCL_COLLNET && sim->config->packet != NULL) {
        flows = 4 * 64 * local * members; /* four a member, in so many chunks */
    }
    flows /= sim->alike != NULL ? topo_alike_members(sim->alike) : 1;
    if (flows > MOST_FLOWS) {
        return "NCCL's list of flows for so many ranks and channels has more than 2^28 entries; use ring, or give "
               "nccl-gpus-per-server";
    }
    return node->comm_bytes > (UINT64_C(1) << 50) / members ? "a collective of more than 2^50 bytes in all" : NULL;
}

enum orr_status sim_flows_check(const struct sim *sim, struct orr_error *err)
{
    const struct sim_system *system = &sim->config->system;
    for (uint32_t i = 0; i < SIM_NATIVE_COUNT; i++) {
        if (system->implementation[i].count == 0 || system->implementation[i].list[0].algo != COLL_NCCL) {
            continue;
        }
        if (system->shared_bus) {
            return error_set(err, ORR_EINVAL,
                             "the algorithms nccl... do not model the shared bus: remove model-shared-bus or use ring");
        }
        if (system->implementation[i].list[0].nccl == COLL_NCCL_NVLS && sim->nccl_servers.switches_each == 0) {
            enum orr_status status = notes_add(sim->notes, err,
                                               "ncclNvls: the machine has no switches that exactly the %u ranks of a "
                                               "server are on; NCCL's ring is used instead",
                                               sim->nccl_servers.ranks_each);
            if (status != ORR_OK) {
                return status;
            }
        }
        if (system->implementation[i].list[0].nccl == COLL_NCCL_COLLNET && !sim_flows_has_trees(sim)) {
            bool wires = sim->config->packet != NULL;
            enum orr_status status =
                notes_add(sim->notes, err, "ncclCollnet: %s; NCCL's ring is used %s",
                          wires ? "no switches outside the servers join all ranks"
                                : "this network has no switches that could add up, flow and packet have",
                          wires ? "for groups that they do not join" : "instead");
            if (status != ORR_OK) {
                return status;
            }
        }
    }
    return ORR_OK;
}

/* ---- the run -------------------------------------------------------------------------------------------------- */

static void send_flow(struct sim *sim, uint32_t index, const struct sim_flow_plan *plan, uint32_t flow)
{
    const struct sim_stream *stream = &sim->streams.at[index];
    stream->of.flows->sends_left--;
    /* The sender hears of its arrival where something stands in line behind it; the receiver asks for the number. */
    bool heard = plan->flows[flow].next_in_line != SIM_NONE;
    struct sim_party sender = {.kind = heard ? SIM_PARTY_FLOW_SENT : SIM_PARTY_NOBODY, .a = index, .b = flow};
    sim->net.connection = plan->flows[flow].connection;
    sim_send(sim, plan->flows[flow].src, plan->flows[flow].dst, stream->tag, plan->flows[flow].bytes, sender);
    sim->net.connection = 0;
}

static void post(struct sim *sim, uint32_t index, const struct sim_flow_plan *plan, uint32_t flow)
{
    struct sim_stream *stream = &sim->streams.at[index];
    stream->of.flows->state[plan->flows[flow].recv_at] |= FLOW_POSTED;
    struct sim_party receiver = {.kind = SIM_PARTY_FLOW, .a = index, .b = flow};
    sim_recv(sim, plan->flows[flow].src, plan->flows[flow].dst, stream->tag, plan->flows[flow].bytes, receiver);
}

/* Posts the next receive of a line from place `at` on that has not come yet. */
static void post_from(struct sim *sim, uint32_t index, const struct sim_flow_plan *plan, uint32_t at, uint32_t line)
{
    const struct sim_flow_run *run = sim->streams.at[index].of.flows;
    uint32_t first = plan->recv_first[run->member];
    uint32_t count = plan->recv_first[run->member + 1] - first;
    while (at < count && plan->flows[plan->recvs[first + at]].line == line) {
        if (run->state[at] == 0) {
            post(sim, index, plan, plan->recvs[first + at]);
            return;
        }
        if (run->state[at] == FLOW_POSTED) {
            return; /* one at a time */
        }
        at++;
    }
}

void sim_flows_end(struct sim *sim, struct sim_stream *stream)
{
    struct sim_flow_run *run = stream->of.flows;
    stream->of.flows = NULL;
    if (run != NULL) {
        mem_free(sim->mem, run, run->bytes);
    }
}

static void sim_flows_end_if_done(struct sim *sim, uint32_t index)
{
    struct sim_stream *stream = &sim->streams.at[index];
    if (stream->of.flows->sends_left == 0 && stream->of.flows->recvs_left == 0) {
        sim_flows_end(sim, stream);
        sim_stream_proceed(sim, index);
    }
}

void sim_flows_start(struct sim *sim, uint32_t index)
{
    struct sim_stream *stream = &sim->streams.at[index];
    const struct sim_flow_plan *plan = stream->phase->flows;
    uint32_t member = sim_flows_member_of(plan, stream->rank);
    uint32_t sends = plan->send_first[member + 1] - plan->send_first[member];
    uint32_t recvs = plan->recv_first[member + 1] - plan->recv_first[member];
    size_t bytes = sizeof(struct sim_flow_run) + sends * sizeof(uint32_t) + recvs;
    struct sim_flow_run *run = mem_zalloc(sim->mem, bytes);
    stream->of.flows = run;
    if (run == NULL) {
        sim_fail_memory(sim);
        return;
    }
    *run = (struct sim_flow_run){.bytes = bytes, .member = member, .sends_left = sends, .recvs_left = recvs};
    run->parents_left = (uint32_t *)(run + 1);
    run->state = (uint8_t *)(run->parents_left + sends);
    memcpy(run->parents_left, plan->parents + plan->send_first[member], sends * sizeof *run->parents_left);
    sim_call_after(sim, stream->rank, sim_endpoint_delay(sim, stream) + plan->start_ns, SIM_CALL_FLOW, index, SIM_NONE);
}

static void sim_flows_begin(struct sim *sim, uint32_t index, const struct sim_flow_plan *plan)
{
    const struct sim_flow_run *run = sim->streams.at[index].of.flows;
    for (uint32_t i = plan->send_first[run->member]; i < plan->send_first[run->member + 1]; i++) {
        if (plan->parents[i] == 0) {
            send_flow(sim, index, plan, plan->sends[i]);
        }
    }
    uint32_t first = plan->recv_first[run->member];
    uint32_t count = plan->recv_first[run->member + 1] - first;
    for (uint32_t at = 0; at < count; at++) {
        uint32_t line = plan->flows[plan->recvs[first + at]].line;
        if (at == 0 || line != plan->flows[plan->recvs[first + at - 1]].line) {
            post_from(sim, index, plan, at, line);
        }
    }
}

void sim_flows_call(struct sim *sim, uint32_t index, uint32_t flow)
{
    struct sim_stream *stream = &sim->streams.at[index];
    const struct sim_flow_plan *plan = stream->phase->flows;
    if (flow == SIM_NONE) {
        sim_flows_begin(sim, index, plan);
    } else {
        stream->of.flows->recvs_left--;
        const struct sim_flow *came = &plan->flows[flow];
        for (uint32_t i = 0; i < came->child_count; i++) {
            uint32_t child = plan->children[came->first_child + i];
            if (--stream->of.flows->parents_left[plan->flows[child].send_at] == 0) {
                send_flow(sim, index, plan, child);
            }
        }
    }
    sim_flows_end_if_done(sim, index);
}

void sim_flows_arrived(struct sim *sim, uint32_t index, uint32_t flow)
{
    const struct sim_stream *stream = &sim->streams.at[index];
    const struct sim_flow_plan *plan = stream->phase->flows;
    uint32_t next = plan->flows[flow].next_in_line;
    if (--stream->of.flows->parents_left[plan->flows[next].send_at] == 0) {
        send_flow(sim, index, plan, next);
        sim_flows_end_if_done(sim, index);
    }
}

void sim_flows_received(struct sim *sim, uint32_t index, uint32_t posted, uint32_t came)
{
    struct sim_stream *stream = &sim->streams.at[index];
    const struct sim_flow_plan *plan = stream->phase->flows;
    const struct sim_flow *flow = &plan->flows[came];
    uint8_t *state = &stream->of.flows->state[flow->recv_at];
    bool had_own = (*state & FLOW_POSTED) != 0;
    *state |= FLOW_CAME;
    if (posted != came && !had_own) {
        post(sim, index, plan, posted);
    }
    if (had_own) {
        post_from(sim, index, plan, flow->recv_at + 1, flow->line);
    }
    bool at_rank = flow->dst < sim->rank_count; /* a switch has neither endpoint nor memory */
    uint64_t endpoint_ns = at_rank ? sim_endpoint_delay(sim, stream) : 0;
    uint64_t memory_ns = at_rank && flow->reduces ? sim_memory_pass_ns(sim, flow->bytes) : 0;
    sim_call_after(sim, stream->rank, endpoint_ns + memory_ns + flow->step_ns, SIM_CALL_FLOW, index, came);
}

uint32_t sim_flows_sender(const struct sim *sim, uint32_t index, uint32_t flow)
{
    return sim->streams.at[index].phase->flows->flows[flow].from;
}
