/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rank goes through its operations until one of them makes it stand still: compute and steps until a time, a
 * collective until its part in it is over, a message of another stage, and at the end everything it has started. What
 * SimAI reports are rank 0's times; they are added up where they come about.
 */
#include "sim/simai/engine.h"

uint32_t simai_stage_of(const struct simai *simai, uint32_t rank)
{
    uint32_t stages = simai->config->program->stages;
    return stages <= 1 ? 0 : rank / (simai->rank_count / stages);
}

static const struct simai_op *op_at(const struct simai *simai, uint32_t rank, uint32_t op)
{
    return &simai->ops[simai_stage_of(simai, rank)].at[op];
}

static struct simai_phase_result *record(struct simai *simai, uint32_t rank, const struct simai_op *op)
{
    return rank == 0 ? &simai->result.rows[op->row][op->phase] : NULL;
}

/* ---- what is told of a rank ---- */

static void op_starts(struct simai *simai, uint32_t rank, enum sim_op_kind kind)
{
    sim_clock_start(&simai->ranks[rank].clock, &simai->run.rows[rank], kind, false, simai->queue.now);
}

static void op_ends(struct simai *simai, uint32_t rank, uint32_t node, enum simai_lane lane, uint64_t start_ns)
{
    enum sim_op_kind kind = lane == SIMAI_LANE_COMPUTE ? SIM_OP_GPU : SIM_OP_COMM;
    uint64_t now = simai->queue.now;
    sim_clock_end(&simai->ranks[rank].clock, &simai->run.rows[rank], kind, now);
    if (simai->config->run->keep_intervals && start_ns < now &&
        !sim_tally_interval(&simai->tally, &simai->run, simai->mem,
                            (struct sim_interval){.rank = rank,
                                                  .node = node,
                                                  .start_ns = start_ns,
                                                  .end_ns = now,
                                                  .slot = kind == SIM_OP_GPU ? SIM_SLOT_COMP : SIM_SLOT_COMM,
                                                  .lane = lane})) {
        simai->queue.failed = true;
    }
}

static void communicated(struct simai *simai, int32_t type, uint32_t group_size, uint64_t bytes, uint64_t start_ns)
{
    if (!sim_tally_communication(&simai->tally, &simai->run, simai->mem, type, group_size, bytes, start_ns,
                                 simai->queue.now)) {
        simai->queue.failed = true;
    }
}

/* For SimAI's table of how busy the lines were. */
static void keep_busy(struct simai *simai, const struct simai_part *part)
{
    struct simai_result *result = &simai->result;
    if (part->rank != 0) {
        return;
    }
    if (!mem_reserve(simai->mem, (void **)&simai->busy, &simai->busy_capacity, (uint64_t)result->busy_count + 1,
                     sizeof *simai->busy)) {
        simai->queue.failed = true;
        return;
    }
    simai->busy[result->busy_count++] = (struct simai_busy){part->started_ns, simai->queue.now, part->line};
}

/* ---- collectives in line ---- */

/* SimAI lets the newest of those that wait go first; we keep the order in which they were issued, as NCCL does. */
static uint32_t simai_rank_next_part(const struct simai *simai, const struct simai_rank *rank, enum simai_line line)
{
    uint32_t found = 0;
    for (uint32_t part = rank->parts; part != 0; part = simai->parts.at[part].next) {
        const struct simai_part *one = &simai->parts.at[part];
        if (one->line == line && one->state == SIMAI_PART_WAITS && (found == 0 || simai->config->compat)) {
            found = part;
        }
    }
    return found;
}

static void start_next(struct simai *simai, uint32_t rank_index, enum simai_line line)
{
    struct simai_rank *rank = &simai->ranks[rank_index];
    uint32_t part = 0;
    rank->is_starting = true;
    while (rank->running[line] == 0 && (part = simai_rank_next_part(simai, rank, line)) != 0) {
        rank->running[line] = part;
        simai->parts.at[part].state = SIMAI_PART_RUNS;
        simai->parts.at[part].started_ns = simai->queue.now;
        simai_coll_start(simai, simai->parts.at[part].coll, rank_index);
    }
    rank->is_starting = false;
}

void simai_part_done(struct simai *simai, uint32_t index)
{
    struct simai_part *part = &simai->parts.at[index];
    uint32_t rank = part->rank;
    enum simai_line line = (enum simai_line)part->line;
    const struct simai_op *op = op_at(simai, rank, part->op);
    uint64_t update = simai->config->program->rows[op->row].update_ns;
    part->state = SIMAI_PART_UPDATES;
    keep_busy(simai, part);
    simai->ranks[rank].running[line] = 0;
    (void)event_queue_push(&simai->queue, simai->queue.now + update, SIMAI_EVENT_UPDATED, index, 0);
    if (!simai->ranks[rank].is_starting) {
        start_next(simai, rank, line);
    }
}

/* Rank 0 stands still at its end: SimAI counts that for the first row alone, we for whatever it waits for. */
static void record_end(struct simai *simai, struct simai_rank *rank, const struct simai_op *op)
{
    if (simai->config->compat && (op->row != 0 || op->phase != SIMAI_WG)) {
        return;
    }
    simai->result.rows[op->row][op->phase].exposed_ns += simai->queue.now - rank->since_ns;
    if (!simai->config->compat) {
        rank->since_ns = simai->queue.now;
    }
}

static void unlink_part(struct simai *simai, struct simai_rank *rank, uint32_t index)
{
    uint32_t *at = &rank->parts;
    while (*at != index) {
        at = &simai->parts.at[*at].next;
    }
    *at = simai->parts.at[index].next;
    simai_parts_give(&simai->parts, index);
}

void simai_part_updated(struct simai *simai, uint32_t index)
{
    const struct simai_part part = simai->parts.at[index];
    struct simai_rank *rank = &simai->ranks[part.rank];
    const struct simai_op *op = op_at(simai, part.rank, part.op);
    struct simai_phase_result *row = record(simai, part.rank, op);
    uint64_t now = simai->queue.now;
    const struct simai_cell *cell = &simai->config->program->rows[op->row].cells[op->phase];
    op_ends(simai, part.rank, simai_node_of(op->row, (enum simai_phase)op->phase, true),
            part.line == SIMAI_LINE_DATA ? SIMAI_LANE_DATA : SIMAI_LANE_MODEL, part.created_ns);
    uint32_t members = simai->groups[simai->group_of[cell->group][part.rank]].nccl.rank_count;
    /* rows have the whole of an all-gather, results one rank's part */
    communicated(simai, cell->type, members, cell->type == COLL_ALL_GATHER ? cell->bytes / members : cell->bytes,
                 part.created_ns);
    if (row != NULL) {
        row->comm_ns += now - part.created_ns;
        row->collectives++;
        if (part.is_waited) {
            row->exposed_ns += now - rank->since_ns;
        } else if (rank->wait == SIMAI_WAITS_END) {
            record_end(simai, rank, op);
        }
    }
    unlink_part(simai, rank, index);
    if (part.is_waited || (rank->wait == SIMAI_WAITS_END && rank->parts == 0)) {
        simai_rank_go(simai, part.rank);
    }
}

/* A group of one, or none at all, has nothing to do. In SimAI tensor parallelism of 1 means that the forward and
 * input-gradient columns have no dimension to run in (spec packet B1). */
static bool has_comm(const struct simai *simai, uint32_t rank, const struct simai_op *op)
{
    const struct simai_cell *cell = &simai->config->program->rows[op->row].cells[op->phase];
    uint32_t group = simai->group_of[cell->group][rank];
    bool no_dimension = simai->config->compat && simai->config->job.tp == 1 && op->phase != SIMAI_WG;
    return group != UINT32_MAX && simai->groups[group].nccl.rank_count > 1 && !no_dimension;
}

static bool simai_rank_issue(struct simai *simai, uint32_t rank_index, uint32_t op_index, bool is_waited)
{
    struct simai_rank *rank = &simai->ranks[rank_index];
    const struct simai_op *op = op_at(simai, rank_index, op_index);
    if (!has_comm(simai, rank_index, op)) {
        return false;
    }
    enum simai_line line = op->phase == SIMAI_WG ? SIMAI_LINE_DATA : SIMAI_LINE_MODEL;
    uint32_t index = simai_parts_take(&simai->parts, simai->mem, &simai->queue.failed);
    simai->parts.at[index] = (struct simai_part){
        .created_ns = simai->queue.now,
        .rank = rank_index,
        .op = op_index,
        .line = (uint8_t)line,
        .is_waited = is_waited,
    };
    uint32_t *at = &rank->parts;
    while (*at != 0) {
        at = &simai->parts.at[*at].next;
    }
    *at = index;
    rank->wait = is_waited ? SIMAI_WAITS_PART : rank->wait;
    rank->since_ns = simai->queue.now;
    op_starts(simai, rank_index, SIM_OP_COMM);
    uint32_t coll = simai_coll_join(simai, rank_index, op_index, index);
    simai->parts.at[index].coll = coll;
    if (coll != 0 && !rank->is_starting) {
        start_next(simai, rank_index, line);
    }
    return is_waited;
}

/* ---- the operations ---- */

static bool wait_for(struct simai *simai, struct simai_rank *rank, uint32_t op)
{
    for (uint32_t part = rank->parts; part != 0; part = simai->parts.at[part].next) {
        if (simai->parts.at[part].op == op) {
            simai->parts.at[part].is_waited = true;
            rank->wait = SIMAI_WAITS_PART;
            rank->since_ns = simai->queue.now;
            return true;
        }
    }
    return false;
}

static void sleep_for(struct simai *simai, uint32_t rank, uint64_t ns)
{
    (void)event_queue_push(&simai->queue, simai->queue.now + ns, SIMAI_EVENT_STEP, rank, 0);
}

static void compute(struct simai *simai, uint32_t rank, const struct simai_op *op)
{
    uint64_t ns = simai->config->program->rows[op->row].cells[op->phase].compute_ns;
    struct simai_phase_result *row = record(simai, rank, op);
    if (row != NULL) {
        row->compute_ns += ns;
    }
    simai->ranks[rank].wait = SIMAI_COMPUTES;
    simai->ranks[rank].since_ns = simai->queue.now;
    simai->run.rows[rank].gpu_busy_ns += ns;
    op_starts(simai, rank, SIM_OP_GPU);
    sleep_for(simai, rank, ns);
}

static void stage_message_taken(struct simai *simai, uint32_t index, unsigned from)
{
    struct simai_rank *rank = &simai->ranks[index];
    uint64_t now = simai->queue.now;
    rank->came[from]--;
    op_ends(simai, index, simai_node_of_stage(simai->config->program, from), SIMAI_LANE_MODEL, rank->since_ns);
    communicated(simai, SIM_TYPE_RECV, 2, simai->config->program->stage_bytes, rank->since_ns);
    if (index == 0) {
        uint64_t sent = rank->sent_ns[from];
        simai->result.stage_wait_ns += now - rank->since_ns;
        simai->result.stage_transfer_ns += now - (sent > rank->since_ns ? sent : rank->since_ns);
    }
}

/* Whether the rank has to stand still for it. */
static bool receive_stage(struct simai *simai, uint32_t index, unsigned from)
{
    struct simai_rank *rank = &simai->ranks[index];
    rank->since_ns = simai->queue.now;
    op_starts(simai, index, SIM_OP_COMM);
    if (rank->came[from] == 0) {
        rank->wait = SIMAI_WAITS_STAGE;
        rank->wait_from = (uint8_t)from;
        return true;
    }
    stage_message_taken(simai, index, from);
    return false;
}

static void send_stage(struct simai *simai, uint32_t rank, bool ahead)
{
    uint32_t stride = simai->rank_count / simai->config->program->stages;
    uint32_t to = (rank + (ahead ? stride : simai->rank_count - stride)) % simai->rank_count; /* stages are a ring */
    simai->ranks[to].sent_ns[ahead ? 0 : 1] = simai->queue.now;
    simai_stage_send(simai, rank, to, ahead);
}

void simai_stage_arrived(struct simai *simai, uint32_t index, bool from_behind)
{
    struct simai_rank *rank = &simai->ranks[index];
    unsigned from = from_behind ? 0 : 1;
    rank->came[from]++;
    if (rank->wait == SIMAI_WAITS_STAGE && rank->wait_from == from) {
        stage_message_taken(simai, index, from);
        simai_rank_go(simai, index);
    }
}

static void simai_rank_finish(struct simai *simai, uint32_t index)
{
    simai->ranks[index].wait = SIMAI_FINISHED;
    simai->run.rows[index].finished = true;
    simai->run.rows[index].finish_ns = simai->queue.now;
    simai->run.ranks_finished++;
}

/* False when the rank stands still or has finished. */
static bool perform(struct simai *simai, uint32_t index, uint32_t op_index)
{
    struct simai_rank *rank = &simai->ranks[index];
    const struct simai_op *op = op_at(simai, index, op_index);
    switch ((enum simai_op_kind)op->kind) {
    case SIMAI_OP_COMPUTE:
        compute(simai, index, op);
        return false;
    case SIMAI_OP_STEP:
        sleep_for(simai, index, 1);
        return false;
    case SIMAI_OP_COMM:
    case SIMAI_OP_START:
        return !simai_rank_issue(simai, index, op_index, op->kind == SIMAI_OP_COMM);
    case SIMAI_OP_WAIT:
        return !wait_for(simai, rank, op->row);
    case SIMAI_OP_RECV_BACK:
    case SIMAI_OP_RECV_AHEAD:
        return !receive_stage(simai, index, op->kind == SIMAI_OP_RECV_BACK ? 0 : 1);
    case SIMAI_OP_SEND_AHEAD:
    case SIMAI_OP_SEND_BACK:
        send_stage(simai, index, op->kind == SIMAI_OP_SEND_AHEAD);
        return true;
    case SIMAI_OP_PASS_ENDS:
        simai->result.pass_ns = index == 0 ? simai->queue.now : simai->result.pass_ns;
        return true;
    case SIMAI_OP_END:
        break;
    }
    if (rank->parts != 0) {
        rank->wait = SIMAI_WAITS_END;
        rank->since_ns = simai->queue.now;
    } else {
        simai_rank_finish(simai, index);
    }
    return false;
}

void simai_rank_go(struct simai *simai, uint32_t index)
{
    struct simai_rank *rank = &simai->ranks[index];
    if (rank->wait == SIMAI_WAITS_END) {
        simai_rank_finish(simai, index);
        return;
    }
    if (rank->wait == SIMAI_COMPUTES) {
        const struct simai_op *op = op_at(simai, index, rank->op - 1);
        op_ends(simai, index, simai_node_of(op->row, (enum simai_phase)op->phase, false), SIMAI_LANE_COMPUTE,
                rank->since_ns);
    }
    rank->wait = SIMAI_RUNS;
    while (!simai->queue.failed && perform(simai, index, rank->op++)) {
    }
}
