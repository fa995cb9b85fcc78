/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, the loop, closing. All of a run lives in one structure; what grows with it goes through its account. */
#include <inttypes.h>
#include <math.h>

#include "base/ticks.h"
#include "sim/simai/engine.h"

enum { PROGRESS_EVERY = 1 << 16 };

static void departed(void *context, uint32_t message, uint64_t at_ns)
{
    simai_message_departed(context, message, at_ns);
}

/* ---- opening ---- */

static enum orr_status simai_run_check(const struct simai_config *config, struct orr_error *err)
{
    const struct simai_program *program = config->program;
    uint32_t gpus = config->job.gpus;
    if (program->stages == 0 || gpus % program->stages != 0) {
        return error_set(err, ORR_EINVAL, "%" PRIu32 " ranks do not divide into %" PRIu32 " pipeline stages", gpus,
                         program->stages);
    }
    if (program->stages > 1 && program->chunks == 0) {
        return error_set(err, ORR_EINVAL, "a pipeline of no chunks");
    }
    return ORR_OK;
}

static bool simai_run_make_arrays(struct simai *simai)
{
    const struct simai_program *program = simai->config->program;
    uint32_t ranks = simai->rank_count;
    simai->ranks = arena_zalloc(&simai->arena, (size_t)ranks * sizeof *simai->ranks);
    simai->ops = arena_zalloc(&simai->arena, (size_t)program->stages * sizeof *simai->ops);
    simai->result.rows = arena_zalloc(&simai->arena, ((size_t)program->row_count + 1) * sizeof *simai->result.rows);
    simai->run.rows = arena_zalloc(&simai->arena, (size_t)ranks * sizeof *simai->run.rows);
    return simai->ranks != NULL && simai->ops != NULL && simai->result.rows != NULL && simai->run.rows != NULL &&
           event_queue_init(&simai->queue, simai->mem) && simai_colls_init(&simai->colls, simai->mem) &&
           simai_parts_init(&simai->parts, simai->mem) && simai_messages_init(&simai->messages, simai->mem);
}

static enum orr_status simai_run_fill(struct simai *simai, struct orr_error *err)
{
    const struct simai_config *config = simai->config;
    if (!simai_run_make_arrays(simai)) {
        return mem_error(simai->mem, "the run", err);
    }
    enum orr_status status = ORR_OK;
    for (uint32_t stage = 0; stage < config->program->stages && status == ORR_OK; stage++) {
        status = simai_ops_make(config->program, stage, simai->mem, &simai->ops[stage], err);
    }
    if (status == ORR_OK) {
        status = simai_groups_make(simai, err);
    }
    simai->dims = (struct topo_dims){.count = 1, .ranks = config->nodes};
    simai->dims.dim[0] = (struct topo_dim){.kind = TOPO_SWITCH, .size = config->nodes, .stride = 1};
    simai->machine = *config->machine;
    const struct net_ops *network = simai->carrier != NULL ? simai->carrier : config->network;
    simai->gathers = network != &net_packet && !config->compat;
    if (network == &net_packet) { /* others carry messages under numbers of their own */
        simai->machine.departed = departed;
        simai->machine.departed_context = simai;
    }
    return status != ORR_OK ? status
                            : net_init_machine(&simai->net, network, &simai->dims, &simai->machine,
                                               simai_message_arrived, simai, &simai->queue, simai->mem, err);
}

/* From what is given, and nothing else. */
static enum orr_status simai_run_begin(struct simai *simai, struct orr_error *err)
{
    const struct simai_config *config = simai->config;
    simai->rank_count = config->job.gpus;
    simai->plans.mem = simai->mem;
    simai->plans.merged = config->merge_channels && !config->compat && simai->carrier != &net_packet;
    simai->result.program = config->program;
    simai->result.job = config->job;
    simai->result.nodes = config->nodes;
    simai->result.compat = config->compat;
    simai->run.config = config->run;
    simai->run.simai = &simai->result;
    simai->run.rank_count = config->job.gpus;
    simai->run.by_packets = simai->carrier == &net_packet;
    arena_init(&simai->arena, simai->mem);
    return simai_run_fill(simai, err);
}

enum orr_status simai_open(const struct simai_config *config, struct mem *mem, struct notes *notes,
                           struct simai **simai, struct orr_error *err)
{
    enum orr_status status = simai_run_check(config, err);
    if (status != ORR_OK) {
        return status;
    }
    struct simai *made = mem_zalloc(mem, sizeof *made);
    if (made == NULL) {
        return mem_error(mem, "the run", err);
    }
    made->config = config;
    made->mem = mem;
    made->notes = notes;
    status = simai_run_begin(made, err);
    if (status != ORR_OK) {
        simai_close(made);
        return status;
    }
    *simai = made;
    return ORR_OK;
}

/* Everything but the run itself. */
void simai_clear(struct simai *simai)
{
    struct mem *mem = simai->mem;
    simai_recall_close(simai);
    net_free(&simai->net);
    for (uint32_t group = 0; group < simai->group_count; group++) {
        while (simai->groups[group].colls != 0) {
            simai_coll_free(simai, simai->groups[group].colls);
        }
    }
    simai_plans_free(&simai->plans);
    for (uint32_t stage = 0; simai->ops != NULL && stage < simai->config->program->stages; stage++) {
        simai_ops_free(&simai->ops[stage], mem);
    }
    simai_colls_free(&simai->colls, mem);
    simai_parts_free(&simai->parts, mem);
    simai_messages_free(&simai->messages, mem);
    event_queue_free(&simai->queue);
    sim_tally_free(&simai->tally, &simai->run, mem);
    mem_free(mem, simai->busy, (size_t)simai->busy_capacity * sizeof *simai->busy);
    mem_free(mem, simai->starts, (size_t)simai->start_capacity * sizeof *simai->starts);
    mem_free(mem, simai->gathered, (size_t)simai->gathered_capacity * sizeof *simai->gathered);
    arena_free(&simai->arena);
}

void simai_close(struct simai *simai)
{
    if (simai != NULL) {
        struct mem *mem = simai->mem;
        simai_clear(simai);
        mem_free(mem, simai, sizeof *simai);
    }
}

/* As it was when opened, on another network. */
static enum orr_status start_over(struct simai *simai, const struct net_ops *carrier, struct orr_error *err)
{
    bool contended = simai->net.parted;
    uint8_t together = simai->together;
    if (simai->parted) {
        together = contended || together == SIMAI_APART ? SIMAI_APART : (uint8_t)(together - 1);
    }
    simai_clear(simai);
    *simai = (struct simai){
        .config = simai->config, .mem = simai->mem, .notes = simai->notes, .carrier = carrier, .together = together};
    const struct packet_machine *machine = simai->config->machine;
    if (machine->started_over != NULL) {
        machine->started_over(machine->context);
    }
    enum orr_status status = simai_run_begin(simai, err);
    if (status != ORR_OK) {
        net_free(&simai->net);
        simai->run.rank_count = 0; /* nothing of it can be read */
    }
    return status;
}

const struct sim_result *simai_result(const struct simai *simai)
{
    return &simai->run;
}

/* ---- the loop ---- */

void simai_handle(struct simai *simai, const struct event *event)
{
    if (event->kind < NET_EVENT_KINDS) {
        uint32_t message = net_handle(&simai->net, event);
        if (message != NET_NO_MESSAGE) {
            simai_message_arrived(simai, message);
        }
        return;
    }
    switch ((enum simai_event)event->kind) {
    case SIMAI_EVENT_STEP:
        simai_rank_go(simai, event->a);
        break;
    case SIMAI_EVENT_READY:
        simai_message_ready(simai, event->a);
        break;
    case SIMAI_EVENT_SENT:
        simai_message_sent(simai, event->a);
        break;
    case SIMAI_EVENT_UPDATED:
        simai_part_updated(simai, event->a);
        break;
    case SIMAI_EVENT_TIMED:
        simai_timed_end(simai, event->a);
        break;
    case SIMAI_EVENT_GATHER:
        simai_gather(simai);
        break;
    case SIMAI_EVENT_RECALLED:
        simai_recall_end(simai, event->a, event->b);
        break;
    case SIMAI_EVENT_COMES:
        simai_recall_comes(simai, event->a, event->b >> 1, (event->b & 1) != 0);
        break;
    }
}

static uint64_t ops_in_all(const struct simai *simai)
{
    uint64_t all = 0;
    uint32_t stages = simai->config->program->stages;
    for (uint32_t stage = 0; stage < stages; stage++) {
        all += (uint64_t)simai->ops[stage].count * (simai->rank_count / stages);
    }
    return all;
}

static struct orr_progress simai_run_progress_now(const struct simai *simai)
{
    struct orr_progress now = {
        .time_ns = simai->queue.now,
        .events = simai->queue.handled,
        .messages = simai->run.messages,
        .ranks_finished = simai->run.ranks_finished,
        .ranks = simai->rank_count,
        .nodes = ops_in_all(simai),
    };
    for (uint32_t rank = 0; rank < simai->rank_count; rank++) {
        now.nodes_done += simai->ranks[rank].op;
    }
    now.done = fmax((double)now.nodes_done / (double)(now.nodes == 0 ? 1 : now.nodes), net_share_moved(&simai->net));
    return now;
}

static enum orr_status simai_run_loop(struct simai *simai, bool (*progress)(void *, const struct orr_progress *),
                                      void *context, struct orr_error *err)
{
    struct event event;
    uint32_t until_progress = PROGRESS_EVERY;
    while (!simai->queue.failed && simai->run.ranks_finished < simai->rank_count &&
           event_queue_pop(&simai->queue, &event)) {
        if (simai->queue.now > TICKS_MAX_NOW) {
            return error_set(err, ORR_EFAIL, "simulated time has passed 2^62 ns; a compute time is out of range");
        }
        simai_handle(simai, &event);
        if (--until_progress == 0) {
            until_progress = PROGRESS_EVERY;
            struct orr_progress now = simai_run_progress_now(simai);
            if (progress != NULL && !progress(context, &now)) {
                return error_set(err, ORR_EINTR, "interrupted at %" PRIu64 " ns of simulated time", simai->queue.now);
            }
        }
    }
    if (simai->broken) {
        *err = simai->failure;
        return simai->failure.status;
    }
    simai->parted = simai->parted || simai->net.parted;
    return simai->queue.failed && !simai->net.gave_up && !simai->parted
               ? mem_error(simai->mem, "the running simulation", err)
               : ORR_OK;
}

/* Computations, where none has a time: AICB writes 1 ns each without a GPU. */
static uint64_t simai_run_untimed(const struct simai_program *program)
{
    uint64_t untimed = 0;
    for (uint32_t i = 0; i < program->row_count * SIMAI_PHASES; i++) {
        uint64_t compute_ns = program->rows[i / SIMAI_PHASES].cells[i % SIMAI_PHASES].compute_ns;
        if (compute_ns > 1 || program->order == SIMAI_ORDER_MICRO) {
            return 0;
        }
        untimed += compute_ns;
    }
    return untimed;
}

static enum orr_status simai_run_finish(struct simai *simai, struct orr_error *err)
{
    struct sim_result *result = &simai->run;
    result->end_ns = simai->queue.now;
    result->events = simai->queue.handled;
    result->nodes = ops_in_all(simai);
    result->untimed = simai_run_untimed(simai->config->program);
    for (uint32_t rank = 0; rank < simai->rank_count; rank++) {
        struct sim_rank_result *one = &result->rows[rank];
        sim_clock_close(&simai->ranks[rank].clock, one, false, result->end_ns);
        one->nodes_done = simai->ranks[rank].op;
        result->nodes_done += one->nodes_done;
    }
    sim_tally_close(result);
    simai->result.busy = simai->busy;
    if (simai->net.ops->figures != NULL && !simai->net.ops->figures(&simai->net, &simai->arena, &result->network)) {
        return mem_error(simai->mem, "the network's figures", err);
    }
    return ORR_OK;
}

/* What the job will send, for a network that weighs its means: collectives send twice their bytes or less. */
static double simai_run_expected_bytes(const struct simai *simai)
{
    const struct simai_program *program = simai->config->program;
    double sum = 0;
    for (uint32_t i = 0; i < program->row_count; i++) {
        for (uint32_t phase = 0; phase < SIMAI_PHASES; phase++) {
            const struct simai_cell *cell = &program->rows[i].cells[phase];
            sum += cell->type == SIMAI_NO_COMM ? 0 : 2.0 * (double)cell->bytes;
        }
    }
    return sum * simai->rank_count / (program->stages == 0 ? 1 : program->stages);
}

static enum orr_status simai_run_play(struct simai *simai, bool (*progress)(void *, const struct orr_progress *),
                                      void *context, struct orr_error *err)
{
    simai->net.expected_bytes = simai_run_expected_bytes(simai);
    simai->mem->refused = 0; /* of what came before: looked at when this run is over */
    bool with_twins = simai->plans.merged && simai->together != SIMAI_APART && simai->net.ops->takes_twins != NULL &&
                      simai->net.ops->takes_twins(&simai->net);
    enum orr_status status = with_twins ? simai_twins_find(simai, err) : ORR_OK;
    if (status == ORR_OK && simai->twins.kinds > 0 && simai_recall_is_for(simai)) {
        status = simai_recall_open(simai, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    for (uint32_t rank = 0; rank < simai->rank_count && !simai->queue.failed; rank++) {
        simai_rank_go(simai, rank);
    }
    return simai_run_loop(simai, progress, context, err);
}

/* With groups that follow others, as long as they do. A stall is for a run without to explain. */
static enum orr_status play_together(struct simai *simai, bool (*progress)(void *, const struct orr_progress *),
                                     void *context, struct orr_error *err)
{
    enum orr_status status = simai_run_play(simai, progress, context, err);
    while (status == ORR_OK && simai->together != SIMAI_APART) {
        bool stands_still = simai->result.followed > 0 && simai->run.ranks_finished < simai->rank_count &&
                            !simai->net.gave_up && simai->mem->refused == 0;
        if (!simai->parted && !stands_still) {
            break;
        }
        simai->parted = true;
        simai->together = stands_still ? SIMAI_APART : simai->together;
        status = start_over(simai, simai->carrier, err);
        status = status == ORR_OK ? simai_run_play(simai, progress, context, err) : status;
    }
    return status;
}

/* Again, on the network that the first one names. */
static enum orr_status simai_run_play_again(struct simai *simai, bool (*progress)(void *, const struct orr_progress *),
                                            void *context, struct orr_error *err)
{
    const struct net_ops *instead = net_instead(&simai->net);
    enum orr_status status = instead == &net_packet ? ORR_OK : net_note_doubt(&simai->net, simai->notes, err);
    if (instead == NULL || status != ORR_OK) {
        return status;
    }
    status = start_over(simai, instead, err);
    return status == ORR_OK ? play_together(simai, progress, context, err) : status;
}

enum orr_status simai_run(struct simai *simai, bool (*progress)(void *, const struct orr_progress *), void *context,
                          struct orr_error *err)
{
    simai->together = simai->config->every_group ? SIMAI_APART : SIMAI_ANY;
    enum orr_status status = play_together(simai, progress, context, err);
    if (status == ORR_OK) {
        status = simai_run_play_again(simai, progress, context, err);
    }
    if (simai->net.ops == NULL) {
        return status; /* it could not be made again */
    }
    enum orr_status finished = simai_run_finish(simai, status == ORR_OK ? err : NULL);
    status = status == ORR_OK ? finished : status;
    if (progress != NULL) {
        struct orr_progress now = simai_run_progress_now(simai);
        (void)progress(context, &now);
    }
    if (status == ORR_OK && simai->run.ranks_finished < simai->rank_count) {
        /* Whoever was refused memory may have left work undone: that is no stall of the job. */
        status =
            simai->mem->refused != 0 ? mem_error(simai->mem, "the running simulation", err) : simai_explain(simai, err);
    }
    return status;
}
