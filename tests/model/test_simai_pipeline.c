/* SPDX-License-Identifier: Apache-2.0 */
/* How long pipelines take by their schedules: against the closed forms where there are any, and over random shapes what
 * must hold of every schedule. */
#include <math.h>

#include "model/simai/pipeline.h"
#include "tests/check.h"

enum { CELLS_MAX = 4096 };

static double works[2][CELLS_MAX];

/* Equal micro-batches of `forward` and `backward` a chunk. */
static double span(uint32_t stages, uint32_t batches, uint32_t chunks, double forward, double backward, double message)
{
    struct mem mem = {0};
    struct orr_error err = {0};
    struct simai_pipeline pipeline = {.shape = {.stages = stages, .batches = batches, .chunks = chunks},
                                      .forward = works[0],
                                      .backward = works[1],
                                      .message = message};
    double us = 0;
    for (uint32_t i = 0; i < batches * chunks; i++) {
        works[0][i] = forward;
        works[1][i] = backward;
    }
    CHECK_OK(simai_pipeline_span(&pipeline, &mem, &us, &err), &err);
    CHECK_U64(mem.used, 0, "nothing is left");
    return us;
}

static void one_forward_one_backward_waits_for_the_stages_before_it(void **state)
{
    (void)state;
    for (uint32_t stages = 2; stages <= 8; stages++) {
        for (uint32_t batches = 1; batches <= 12; batches++) {
            double want = (batches + stages - 1) * 30.0;
            CHECK(fabs(span(stages, batches, 1, 10, 20, 0) - want) < 1e-6, "%u stages, %u batches", stages, batches);
        }
    }
}

/* With as many micro-batches as a multiple of the stages, chunks divide the bubble. */
static void interleaving_divides_the_bubble_by_the_chunks(void **state)
{
    (void)state;
    for (uint32_t stages = 2; stages <= 6; stages++) {
        for (uint32_t chunks = 2; chunks <= 5; chunks++) {
            uint32_t batches = 2 * stages;
            double want = batches * 30.0 * chunks + (stages - 1) * 30.0;
            CHECK(fabs(span(stages, batches, chunks, 10, 20, 0) - want) < 1e-6, "%u stages, %u chunks: %f, not %f",
                  stages, chunks, span(stages, batches, chunks, 10, 20, 0), want);
        }
    }
}

static void a_message_shows_when_the_pipeline_fills_and_drains(void **state)
{
    (void)state;
    CHECK(fabs(span(4, 1, 1, 10, 20, 3) - (4 * 30 + 6 * 3)) < 1e-6, "three hops ahead and three back");
    CHECK(fabs(span(2, 1, 3, 10, 20, 3) - (6 * 30 + 10 * 3)) < 1e-6, "five hops ahead and five back");
}

/* No order of any shape waits for ever, does anything twice or leaves it out. */
static void every_stage_does_every_chunk_of_every_batch_once_in_each_direction(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (unsigned trial = 0; trial < 400; trial++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        struct pipeline_shape shape = {.stages = 2 + (uint32_t)(seed >> 33) % 9,
                                       .batches = 1 + (uint32_t)(seed >> 40) % 23,
                                       .chunks = 1 + (uint32_t)(seed >> 50) % 7};
        double alone = shape.batches * shape.chunks * 3.0;
        double all = span(shape.stages, shape.batches, shape.chunks, 1, 2, 0.5);
        CHECK(all >= alone && all < alone * shape.stages * 2, "%u stages, %u batches, %u chunks: %f", shape.stages,
              shape.batches, shape.chunks, all);
        for (uint32_t stage = 0; stage < shape.stages; stage++) {
            uint8_t seen[2][CELLS_MAX] = {{0}};
            uint64_t done = 0;
            for (uint64_t turn = 0; turn < pipeline_turns(&shape); turn++) {
                struct pipeline_turn now;
                if (pipeline_turn_of(&shape, stage, turn, &now)) {
                    uint32_t cell = now.batch * shape.chunks + now.chunk;
                    CHECK(seen[now.forward][cell]++ == 0, "twice");
                    CHECK(now.forward || seen[1][cell] == 1, "forward comes first");
                    done++;
                }
            }
            CHECK_U64(done, 2 * (uint64_t)shape.batches * shape.chunks, "all of it");
        }
    }
}

static void chunks_deal_out_all_rows(void **state)
{
    (void)state;
    CHECK_U64(pipeline_chunk_start(10, 19, 0, 2), 10, "the embedding and four");
    CHECK_U64(pipeline_chunk_start(10, 19, 1, 2), 15, "four");
    CHECK_U64(pipeline_chunk_start(10, 19, 2, 2), 19, "the end");
    CHECK_U64(pipeline_chunk_start(0, 3, 1, 3), 1, "a row each");
}

TEST_MAIN(one_forward_one_backward_waits_for_the_stages_before_it, interleaving_divides_the_bubble_by_the_chunks,
          a_message_shows_when_the_pipeline_fills_and_drains,
          every_stage_does_every_chunk_of_every_batch_once_in_each_direction, chunks_deal_out_all_rows)
