/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The endpoint in detail: a shared bus by the LogGP rules between the NPU and its memory agent (spec analytical §8.1).
 * Each rank has an outer bus whose NPU side hides a second, inner bus of the same kind: what enters or leaves that side
 * passes the inner bus first. Four sides a rank; a request that waits for the inner bus is named by the inner request.
 */
#include "sim/engine.h"

enum bus_state { BUS_FREE, BUS_SENDING, BUS_RECEIVING };

enum bus_event {
    BUS_SEND_DONE,
    BUS_RECEIVE_DONE,
    BUS_PROCESS_DONE,
    BUS_INNER_SEND,    /* the inner bus is done with a request that is to be sent */
    BUS_INNER_PROCESS, /* … to be processed */
    BUS_INNER_RETIRE,  /* … to be handed over */
    BUS_NUDGE,         /* nothing happened, but look again */
};

enum { SIDE_OUTER_NPU, SIDE_OUTER_MA, SIDE_INNER_NPU, SIDE_INNER_MA, SIDES_PER_RANK };
enum { TURNS_BEFORE_YIELD = 8 };

static const double inner_G_ns_per_byte = 0.0038;

struct bus_request {
    uint32_t next;
    uint64_t size;
    bool process, send_back;
    uint32_t stream;      /* outer requests */
    uint32_t memory_code; /* outer requests */
    uint32_t outer;       /* inner requests: whom it carries, 0 = this is an outer request */
    uint32_t outer_event; /* and what to tell the outer side then */
};
POOL_DEFINE(bus_requests, struct bus_request, next);

struct bus_line {
    uint32_t head, tail, count;
};

struct bus_side {
    uint64_t last_ns;
    uint32_t turns; /* sends in a row */
    uint8_t state, state_before;
    bool processing_busy;
    struct bus_line sends, receives, processing;
};

struct sim_buses {
    struct bus_side *sides;
    struct bus_requests requests;
};

enum orr_status sim_buses_create(struct sim *sim, struct orr_error *err)
{
    struct sim_buses *buses = arena_zalloc(&sim->arena, sizeof *buses);
    if (buses == NULL) {
        return mem_error(sim->mem, "the shared buses", err);
    }
    buses->sides = arena_zalloc(&sim->arena, (size_t)sim->rank_count * SIDES_PER_RANK * sizeof *buses->sides);
    if (buses->sides == NULL || !bus_requests_init(&buses->requests, sim->mem)) {
        return mem_error(sim->mem, "the shared buses", err);
    }
    sim->buses = buses;
    return ORR_OK;
}

void sim_buses_free(struct sim *sim)
{
    if (sim->buses != NULL) {
        bus_requests_free(&sim->buses->requests, sim->mem);
    }
}

static void append(struct sim_buses *buses, struct bus_line *line, uint32_t request)
{
    buses->requests.at[request].next = 0;
    if (line->count++ == 0) {
        line->head = request;
    } else {
        buses->requests.at[line->tail].next = request;
    }
    line->tail = request;
}

static uint32_t remove_first(struct sim_buses *buses, struct bus_line *line)
{
    uint32_t request = line->head;
    line->head = buses->requests.at[request].next;
    line->count--;
    return request;
}

static uint32_t partner_of(uint32_t side)
{
    return side ^ 1;
}

static uint32_t sim_bus_kind_of(uint32_t side)
{
    return side % SIDES_PER_RANK;
}

static void sim_bus_handle(struct sim *sim, uint32_t side_index, enum bus_event event, uint32_t request);

static void transmit(struct sim *sim, uint32_t side_index)
{
    struct sim_buses *buses = sim->buses;
    const struct sim_system *system = &sim->config->system;
    struct bus_side *side = &buses->sides[side_index];
    struct bus_side *partner = &buses->sides[partner_of(side_index)];
    uint32_t rank = side_index / SIDES_PER_RANK;
    uint64_t now = sim->queue.now;
    double G = sim_bus_kind_of(side_index) >= SIDE_INNER_NPU ? inner_G_ns_per_byte : system->bus_G_ns_per_byte;
    uint64_t offset = system->bus_o_ns;
    if (side->state_before == BUS_SENDING) {
        uint64_t since = now - side->last_ns;
        offset = system->bus_o_ns + since > system->bus_g_ns ? system->bus_o_ns : system->bus_g_ns - since;
    }
    uint32_t request = remove_first(buses, &side->sends);
    double bytes_ns = ((double)buses->requests.at[request].size - 1.0) * G;
    append(buses, &partner->receives, request);
    partner->state_before = partner->state;
    partner->state = BUS_RECEIVING;
    partner->turns = 0;
    uint64_t receive =
        ticks_from_double((double)offset + bytes_ns + (double)system->bus_L_ns + (double)system->bus_o_ns);
    sim_call_after(sim, rank, receive, SIM_CALL_BUS, partner_of(side_index), BUS_RECEIVE_DONE);
    side->state = BUS_SENDING;
    sim_call_after(sim, rank, ticks_from_double((double)offset + bytes_ns), SIM_CALL_BUS, side_index, BUS_SEND_DONE);
}

/* A side that has sent many times in a row lets its partner go first. */
static void arbitrate(struct sim *sim, uint32_t side_index)
{
    struct bus_side *side = &sim->buses->sides[side_index];
    struct bus_side *partner = &sim->buses->sides[partner_of(side_index)];
    if (side->turns > TURNS_BEFORE_YIELD && partner->sends.count > 0 && partner->turns <= TURNS_BEFORE_YIELD) {
        if (partner->state == BUS_FREE) {
            sim_bus_handle(sim, partner_of(side_index), BUS_NUDGE, 0);
        }
        return;
    }
    transmit(sim, side_index);
}

static void sim_bus_enter(struct sim *sim, uint32_t side_index, uint32_t request);

/* Sends `request` of an outer NPU side through the inner bus; `event` follows. */
static void through_inner(struct sim *sim, uint32_t side_index, uint32_t request, enum bus_event event,
                          bool towards_npu, bool send_back)
{
    struct sim_buses *buses = sim->buses;
    uint32_t inner = bus_requests_take(&buses->requests, sim->mem, &sim->queue.failed);
    buses->requests.at[inner] = (struct bus_request){
        .size = buses->requests.at[request].size, .send_back = send_back, .outer = request, .outer_event = event};
    uint32_t rank_base = side_index - sim_bus_kind_of(side_index);
    sim_bus_enter(sim, rank_base + (towards_npu ? SIDE_INNER_MA : SIDE_INNER_NPU), inner);
}

static void sim_bus_enter(struct sim *sim, uint32_t side_index, uint32_t request)
{
    if (sim_bus_kind_of(side_index) == SIDE_OUTER_NPU) {
        through_inner(sim, side_index, request, BUS_INNER_SEND, true, false);
        return;
    }
    struct bus_side *side = &sim->buses->sides[side_index];
    append(sim->buses, &side->sends, request);
    if (side->state == BUS_FREE) {
        arbitrate(sim, side_index);
    }
}

static void sim_bus_complete(struct sim *sim, uint32_t side_index, uint32_t request)
{
    struct bus_request done = sim->buses->requests.at[request];
    bus_requests_give(&sim->buses->requests, request);
    if (done.outer != 0) {
        uint32_t rank_base = side_index - sim_bus_kind_of(side_index);
        sim_bus_handle(sim, rank_base + SIDE_OUTER_NPU, (enum bus_event)done.outer_event, done.outer);
    } else {
        sim_endpoint_passed(sim, done.stream, done.memory_code);
    }
}

static void start_processing(struct sim *sim, uint32_t side_index)
{
    struct bus_side *side = &sim->buses->sides[side_index];
    if (side->processing_busy || side->processing.count == 0) {
        return;
    }
    side->processing_busy = true;
    uint64_t hundreds = sim->buses->requests.at[side->processing.head].size / 100;
    uint64_t duration = hundreds * sim->config->system.local_reduction_delay_ns + 50;
    sim_call_after(sim, side_index / SIDES_PER_RANK, duration < TICKS_MAX_STEP ? duration : TICKS_MAX_STEP,
                   SIM_CALL_BUS, side_index, BUS_PROCESS_DONE);
}

/* What is neither to be processed (any more) goes back or is handed over. */
static void send_back_or_retire(struct sim *sim, uint32_t side_index, uint32_t request)
{
    struct sim_buses *buses = sim->buses;
    bool inner = sim_bus_kind_of(side_index) == SIDE_OUTER_NPU;
    if (buses->requests.at[request].send_back) {
        buses->requests.at[request].send_back = false;
        if (inner) {
            through_inner(sim, side_index, request, BUS_INNER_SEND, false, true);
        } else {
            append(buses, &buses->sides[side_index].sends, request);
        }
    } else if (inner) {
        through_inner(sim, side_index, request, BUS_INNER_RETIRE, false, false);
    } else {
        sim_bus_complete(sim, side_index, request);
    }
}

static void received(struct sim *sim, uint32_t side_index)
{
    struct sim_buses *buses = sim->buses;
    struct bus_side *side = &buses->sides[side_index];
    side->last_ns = sim->queue.now;
    side->state_before = side->state;
    if (side->receives.count < 2) {
        side->state = BUS_FREE;
    }
    uint32_t request = remove_first(buses, &side->receives);
    if (!buses->requests.at[request].process) {
        send_back_or_retire(sim, side_index, request);
        return;
    }
    buses->requests.at[request].process = false;
    if (sim_bus_kind_of(side_index) == SIDE_OUTER_NPU) {
        through_inner(sim, side_index, request, BUS_INNER_PROCESS, false, true);
    } else {
        append(buses, &side->processing, request);
    }
    start_processing(sim, side_index);
}

static void processed(struct sim *sim, uint32_t side_index)
{
    struct bus_side *side = &sim->buses->sides[side_index];
    side->processing_busy = false;
    uint32_t request = remove_first(sim->buses, &side->processing);
    send_back_or_retire(sim, side_index, request);
    start_processing(sim, side_index);
}

static void sim_bus_handle(struct sim *sim, uint32_t side_index, enum bus_event event, uint32_t request)
{
    struct bus_side *side = &sim->buses->sides[side_index];
    switch (event) {
    case BUS_SEND_DONE:
        side->last_ns = sim->queue.now;
        side->state_before = side->state;
        side->state = BUS_FREE;
        side->turns++;
        break;
    case BUS_RECEIVE_DONE:
        received(sim, side_index);
        break;
    case BUS_PROCESS_DONE:
        processed(sim, side_index);
        break;
    case BUS_INNER_SEND:
        append(sim->buses, &side->sends, request);
        break;
    case BUS_INNER_PROCESS:
        append(sim->buses, &side->processing, request);
        start_processing(sim, side_index);
        break;
    case BUS_INNER_RETIRE:
        sim_bus_complete(sim, side_index, request);
        break;
    case BUS_NUDGE:
        break;
    }
    if (side->state == BUS_FREE && side->sends.count > 0) {
        arbitrate(sim, side_index);
    }
}

uint32_t sim_bus_rank(uint32_t side)
{
    return side / SIDES_PER_RANK;
}

void sim_bus_call(struct sim *sim, uint32_t side, uint32_t event)
{
    sim_bus_handle(sim, side, (enum bus_event)event, 0);
}

/* ASTRA-sim's bus counts in 32 bits; where that would come out negative, the size is kept instead. */
static uint64_t bus_size(uint64_t bytes)
{
    uint64_t cut = bytes & UINT32_MAX;
    return cut <= INT32_MAX ? cut : bytes;
}

void sim_bus_request(struct sim *sim, uint32_t stream, struct sim_bundle bundle)
{
    struct sim_buses *buses = sim->buses;
    uint32_t request = bus_requests_take(&buses->requests, sim->mem, &sim->queue.failed);
    buses->requests.at[request] = (struct bus_request){.size = bus_size(bundle.bytes),
                                                       .process = bundle.memory_code != SIM_MEMORY_SKIP,
                                                       .send_back = bundle.send_back,
                                                       .stream = stream,
                                                       .memory_code = bundle.memory_code};
    uint32_t rank_base = sim->streams.at[stream].rank * SIDES_PER_RANK;
    sim_bus_enter(sim, rank_base + (bundle.to_npu ? SIDE_OUTER_MA : SIDE_OUTER_NPU), request);
}
