/* SPDX-License-Identifier: Apache-2.0 */
/* SimAI's loop over the layers is a state machine that is called again and again; unrolled it is a list, and the list
 * says at once what waits for what. A stage of a pipeline has the same states in another order. */
#include "sim/simai/ops.h"

#include "trace/pipeline.h"

const char *const simai_phase_names[SIMAI_PHASES] = {"forward", "input gradient", "weight gradient"};

struct op_builder {
    const struct simai_program *program;
    struct simai_ops *ops;
    struct mem *mem;
    bool refused;
};

static uint32_t simai_ops_add(struct op_builder *builder, enum simai_op_kind kind, uint32_t row, enum simai_phase phase)
{
    struct simai_ops *ops = builder->ops;
    if (!mem_reserve(builder->mem, (void **)&ops->at, &ops->capacity, (uint64_t)ops->count + 1, sizeof *ops->at)) {
        builder->refused = true;
        return 0;
    }
    ops->at[ops->count] = (struct simai_op){.row = row, .kind = (uint8_t)kind, .phase = (uint8_t)phase};
    return ops->count++;
}

/* Compute and then the collective, if the cell has them. */
static void work(struct op_builder *builder, uint32_t row, enum simai_phase phase, enum simai_op_kind comm)
{
    const struct simai_cell *cell = &builder->program->rows[row].cells[phase];
    if (cell->compute_ns > 0) {
        (void)simai_ops_add(builder, SIMAI_OP_COMPUTE, row, phase);
    }
    if (cell->type != SIMAI_NO_COMM && cell->bytes > 0) {
        (void)simai_ops_add(builder, comm, row, phase);
    }
}

static void simai_ops_step(struct op_builder *builder)
{
    (void)simai_ops_add(builder, SIMAI_OP_STEP, 0, SIMAI_FWD);
}

static void forward(struct op_builder *builder, uint32_t first, uint32_t end)
{
    for (uint32_t row = first; row < end; row++) {
        work(builder, row, SIMAI_FWD, SIMAI_OP_COMM);
        simai_ops_step(builder);
    }
}

/* The rows from the nearest checkpoint at or before this one are run forward once more. */
static void repeat_forward(struct op_builder *builder, uint32_t first, uint32_t row)
{
    uint32_t from = row;
    while (from > first && !builder->program->rows[from].is_checkpoint) {
        from--;
    }
    simai_ops_step(builder);
    forward(builder, from, row);
}

static void backward(struct op_builder *builder, uint32_t first, uint32_t end)
{
    for (uint32_t row = end; row-- > first;) {
        if (builder->program->rows[row].is_initiate) {
            repeat_forward(builder, first, row);
        }
        work(builder, row, SIMAI_IG, SIMAI_OP_COMM);
        simai_ops_step(builder);
        work(builder, row, SIMAI_WG, SIMAI_OP_START);
        if (row > first) {
            simai_ops_step(builder);
        }
    }
}

static void transformer(struct op_builder *builder)
{
    forward(builder, 0, builder->program->row_count);
    backward(builder, 0, builder->program->row_count);
}

static void turn_of_stage(struct op_builder *builder, const struct pipeline_shape *shape, uint32_t stage,
                          struct pipeline_turn now)
{
    const uint32_t *start = &builder->program->batch_start[now.batch];
    uint32_t first = pipeline_chunk_start(start[0], start[1], now.chunk, shape->chunks);
    uint32_t end = pipeline_chunk_start(start[0], start[1], now.chunk + 1, shape->chunks);
    if (pipeline_receives(shape, stage, now)) {
        (void)simai_ops_add(builder, now.forward ? SIMAI_OP_RECV_BACK : SIMAI_OP_RECV_AHEAD, 0, SIMAI_FWD);
    }
    (now.forward ? forward : backward)(builder, first, end);
    if (pipeline_sends(shape, stage, now)) {
        (void)simai_ops_add(builder, now.forward ? SIMAI_OP_SEND_AHEAD : SIMAI_OP_SEND_BACK, 0, SIMAI_FWD);
    }
    simai_ops_step(builder);
}

/* The step's own rows stand around the micro-batches: what opens the forward pass ends the backward pass. */
static void pipeline(struct op_builder *builder, uint32_t stage)
{
    const struct simai_program *program = builder->program;
    const struct pipeline_shape shape = {
        .stages = program->stages, .batches = program->batch_count, .chunks = program->chunks};
    const uint32_t *start = program->batch_start;
    uint32_t batches = program->batch_count;
    forward(builder, 0, start[0]);
    for (uint64_t turn = 0; turn < pipeline_turns(&shape); turn++) {
        struct pipeline_turn now;
        if (pipeline_turn_of(&shape, stage, turn, &now)) {
            turn_of_stage(builder, &shape, stage, now);
        }
    }
    forward(builder, start[batches], program->row_count);
    backward(builder, start[batches], program->row_count);
    if (start[0] > 0) {
        simai_ops_step(builder);
        backward(builder, 0, start[0]);
    }
}

static void micro(struct op_builder *builder)
{
    if (builder->program->row_count > 0 && builder->program->rows[0].cells[SIMAI_WG].type != SIMAI_NO_COMM) {
        (void)simai_ops_add(builder, SIMAI_OP_START, 0, SIMAI_WG);
    }
}

static void data_parallel(struct op_builder *builder)
{
    const struct simai_program *program = builder->program;
    for (uint32_t row = 0; row < program->row_count; row++) {
        if (program->rows[row].cells[SIMAI_FWD].compute_ns > 0) {
            (void)simai_ops_add(builder, SIMAI_OP_COMPUTE, row, SIMAI_FWD);
        }
        simai_ops_step(builder);
    }
    for (uint32_t row = program->row_count; row-- > 0;) {
        work(builder, row, SIMAI_WG, SIMAI_OP_START);
        if (row > 0) {
            simai_ops_step(builder);
            if (program->rows[row].cells[SIMAI_IG].compute_ns > 0) {
                (void)simai_ops_add(builder, SIMAI_OP_COMPUTE, row, SIMAI_IG);
            }
            simai_ops_step(builder);
        }
    }
}

/* The input gradient's collective runs beside the weight gradient's compute and must be over before the next row. */
static void model_parallel(struct op_builder *builder)
{
    const struct simai_program *program = builder->program;
    forward(builder, 0, program->row_count);
    for (uint32_t row = program->row_count; row-- > 0;) {
        const struct simai_cell *input = &program->rows[row].cells[SIMAI_IG];
        if (input->compute_ns > 0) {
            (void)simai_ops_add(builder, SIMAI_OP_COMPUTE, row, SIMAI_IG);
        }
        bool has_comm = row > 0 && input->type != SIMAI_NO_COMM && input->bytes > 0;
        uint32_t started = has_comm ? simai_ops_add(builder, SIMAI_OP_START, row, SIMAI_IG) : 0;
        simai_ops_step(builder);
        if (program->rows[row].cells[SIMAI_WG].compute_ns > 0) {
            (void)simai_ops_add(builder, SIMAI_OP_COMPUTE, row, SIMAI_WG);
        }
        if (has_comm) {
            (void)simai_ops_add(builder, SIMAI_OP_WAIT, started, SIMAI_IG);
        }
        if (row > 0) {
            simai_ops_step(builder);
        }
    }
}

enum orr_status simai_ops_make(const struct simai_program *program, uint32_t stage, struct mem *mem,
                               struct simai_ops *ops, struct orr_error *err)
{
    struct op_builder builder = {.program = program, .ops = ops, .mem = mem};
    *ops = (struct simai_ops){0};
    switch (program->order) {
    case SIMAI_ORDER_TRANSFORMER:
        if (program->stages > 1) {
            pipeline(&builder, stage);
        } else {
            transformer(&builder);
        }
        break;
    case SIMAI_ORDER_MICRO:
        micro(&builder);
        break;
    case SIMAI_ORDER_DATA:
        data_parallel(&builder);
        break;
    case SIMAI_ORDER_MODEL:
        model_parallel(&builder);
        break;
    case SIMAI_ORDER_INFERENCE:
        forward(&builder, 0, program->row_count);
        break;
    }
    (void)simai_ops_add(&builder, SIMAI_OP_PASS_ENDS, 0, SIMAI_FWD);
    if (program->order != SIMAI_ORDER_MICRO) {
        simai_ops_step(&builder);
    }
    (void)simai_ops_add(&builder, SIMAI_OP_END, 0, SIMAI_FWD);
    if (builder.refused) {
        simai_ops_free(ops, mem);
        return mem_error(mem, "a workload's operations", err);
    }
    return ORR_OK;
}

void simai_ops_free(struct simai_ops *ops, struct mem *mem)
{
    mem_free(mem, ops->at, (size_t)ops->capacity * sizeof *ops->at);
    *ops = (struct simai_ops){0};
}
