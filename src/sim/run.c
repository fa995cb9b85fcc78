/* The loop. Events carry numbers, so this switch is the whole of the engine's dispatch. */
#include <inttypes.h>

#include "sim/engine.h"

enum { PROGRESS_EVERY = 1 << 16 };

static void handle(struct sim *sim, const struct event *event)
{
    switch (event->kind) {
    case SIM_EVENT_TICK:
        sim_ticks_run(sim, event->a);
        break;
    case SIM_EVENT_ARRIVAL:
        sim->in_network = true;
        sim_message_arrived(sim, event->a);
        sim->in_network = false;
        break;
    case SIM_EVENT_LATE_RECV:
        sim->in_network = true;
        sim_message_late_recv(sim, event->a);
        sim->in_network = false;
        break;
    default: {
        uint32_t message = net_handle(&sim->net, event);
        if (message != NET_NO_MESSAGE) {
            sim->in_network = true;
            sim_message_arrived(sim, message);
            sim->in_network = false;
        }
        break;
    }
    }
}

static struct orr_progress progress_now(const struct sim *sim)
{
    return (struct orr_progress){.time_ns = sim->queue.now,
                                 .events = sim->queue.handled,
                                 .messages = sim->result.messages,
                                 .ranks_finished = sim->result.ranks_finished,
                                 .ranks = sim->rank_count,
                                 .nodes_done = sim->result.nodes_done,
                                 .nodes = sim->result.nodes};
}

static enum orr_status loop(struct sim *sim, bool (*progress)(void *, const struct orr_progress *), void *context,
                            struct orr_error *err)
{
    struct event event;
    uint32_t until_progress = PROGRESS_EVERY;
    while (!sim->queue.failed && event_queue_pop(&sim->queue, &event)) {
        handle(sim, &event);
        if (--until_progress != 0) {
            continue;
        }
        until_progress = PROGRESS_EVERY;
        if (sim->queue.now > TICKS_MAX_NOW) {
            return error_set(err, ORR_EFAIL,
                             "simulated time has passed 2^62 ns; a duration or latency is out of range");
        }
        if (progress != NULL) {
            struct orr_progress now = progress_now(sim);
            if (!progress(context, &now)) {
                return error_set(err, ORR_EINTR, "interrupted at %" PRIu64 " ns of simulated time", sim->queue.now);
            }
        }
    }
    return sim->queue.failed ? mem_error(sim->mem, "the running simulation", err) : ORR_OK;
}

enum orr_status sim_run(struct sim *sim, bool (*progress)(void *, const struct orr_progress *), void *context,
                        struct orr_error *err)
{
    for (uint32_t rank = 0; rank < sim->rank_count && !sim->queue.failed; rank++) {
        sim_workload_start(sim, rank);
    }
    enum orr_status status = loop(sim, progress, context, err);
    sim_account_close(sim);
    if (status != ORR_OK) {
        return status;
    }
    if (sim->result.nodes_done == sim->result.nodes) {
        return ORR_OK;
    }
    sim_stall_diagnose(sim);
    const struct sim_stall *stall = &sim->result.stall;
    return error_set(err, ORR_ESTALL, "stalled at %" PRIu64 " ns with %u of %u ranks unfinished: %s", sim->queue.now,
                     sim->rank_count - sim->result.ranks_finished, sim->rank_count,
                     stall->finding_count > 0 ? stall->findings[0].text : sim_stall_kind_name(stall->kind));
}

const struct sim_result *sim_result(const struct sim *sim)
{
    return &sim->result;
}
