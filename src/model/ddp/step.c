/* SPDX-License-Identifier: Apache-2.0 */
/* What the next step waits for is what ended this one: the optimizer where there is one, else every all-reduce. */
#include "model/ddp/step.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/et_write.h"
#include "trace/provenance.h"

enum { ALL_REDUCE = 0 }; /* spec analytical §4.1 */

struct writing {
    const struct ddp_step *step;
    struct et_writer *writer;
    uint64_t next_id;
    uint64_t at;       /* which step */
    uint64_t *reduces; /* ids of this step's all-reduces */
    uint64_t *before;  /* what the step waits for */
    uint32_t before_count;
    struct orr_error *err;
};

static enum orr_status ddp_step_compute(struct writing *writing, const char *name, uint64_t us, const uint64_t *deps,
                                        uint32_t dep_count, uint64_t *id)
{
    uint64_t own = writing->next_id++;
    et_node_begin(writing->writer, own, et_text(name), TRACE_COMP);
    et_node_data_deps(writing->writer, deps, dep_count);
    et_node_times(writing->writer, 0, us);
    et_attr_bool(writing->writer, "is_cpu_op", false);
    et_attr_int64(writing->writer, TRACE_STEP_NAME, (int64_t)writing->at);
    *id = own; /* only now: it may be what `deps` points to */
    return et_record_end(writing->writer, writing->err);
}

static enum orr_status all_reduce(struct writing *writing, uint32_t bucket, const uint64_t *deps, uint32_t dep_count)
{
    char name[40];
    (void)snprintf(name, sizeof name, "all-reduce of bucket %" PRIu32, bucket);
    uint64_t id = writing->next_id++;
    writing->reduces[bucket] = id;
    et_node_begin(writing->writer, id, et_text(name), TRACE_COLL);
    et_node_data_deps(writing->writer, deps, dep_count);
    et_attr_bool(writing->writer, "is_cpu_op", false);
    et_attr_int64(writing->writer, "comm_type", ALL_REDUCE);
    et_attr_int64(writing->writer, "comm_size", (int64_t)writing->step->buckets->items[bucket]);
    et_attr_int64(writing->writer, TRACE_STEP_NAME, (int64_t)writing->at);
    return et_record_end(writing->writer, writing->err);
}

/* The pass's time up to the end of `done` of `all` bytes. */
static uint64_t ddp_step_share(uint64_t us, uint64_t done, uint64_t all)
{
    return (uint64_t)((unsigned __int128)us * done / all);
}

/* A backward node for each bucket, each after the one before, and its all-reduce. `deps` is what the first waits for.
 */
static enum orr_status write_backward(struct writing *writing, const uint64_t *deps, uint32_t dep_count)
{
    const struct ddp_step *step = writing->step;
    uint64_t all = 0;
    for (uint32_t i = 0; i < step->buckets->count; i++) {
        all += step->buckets->items[i];
    }
    uint64_t done = 0;
    uint64_t last = 0;
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; status == ORR_OK && i < step->buckets->count; i++) {
        uint64_t before_us = ddp_step_share(step->backward_us, done, all);
        done += step->buckets->items[i];
        if (step->backward_us > 0) {
            char name[40];
            (void)snprintf(name, sizeof name, "backward to bucket %" PRIu32, i);
            status = ddp_step_compute(writing, name, ddp_step_share(step->backward_us, done, all) - before_us,
                                      i == 0 ? deps : &last, i == 0 ? dep_count : 1, &last);
            status = status == ORR_OK ? all_reduce(writing, i, &last, 1) : status;
        } else {
            status = all_reduce(writing, i, deps, dep_count);
        }
    }
    return status;
}

static enum orr_status write_step(struct writing *writing)
{
    const struct ddp_step *step = writing->step;
    const uint64_t *deps = writing->before;
    uint32_t dep_count = writing->before_count;
    uint64_t id = 0;
    enum orr_status status = ORR_OK;
    if (step->forward_us > 0) {
        status = ddp_step_compute(writing, "forward", step->forward_us, deps, dep_count, &id);
        deps = &id;
        dep_count = 1;
    }
    if (status == ORR_OK) {
        status = write_backward(writing, deps, dep_count);
    }
    uint32_t count = step->buckets->count;
    if (status == ORR_OK && step->optimizer_us > 0) {
        status =
            ddp_step_compute(writing, "optimizer", step->optimizer_us, writing->reduces, count, &writing->before[0]);
        count = 1;
    } else {
        for (uint32_t i = 0; i < count; i++) {
            writing->before[i] = writing->reduces[i];
        }
    }
    writing->before_count = count;
    writing->at++;
    return status;
}

static enum orr_status ddp_step_write_rank(struct writing *writing)
{
    et_metadata_begin(writing->writer, et_text("0.0.4"));
    enum orr_status status = et_record_end(writing->writer, writing->err);
    writing->next_id = 1;
    writing->before_count = 0;
    for (uint64_t i = 0; status == ORR_OK && i < writing->step->steps; i++) {
        status = write_step(writing);
    }
    return status;
}

static enum orr_status ddp_step_write_file(struct writing *writing, const char *prefix, uint32_t rank, struct mem *mem)
{
    char *path = NULL;
    if (asprintf(&path, "%s.%" PRIu32 ".et", prefix, rank) < 0) {
        return error_set(writing->err, ORR_ENOMEM, "%s: out of memory", prefix);
    }
    enum orr_status status = et_writer_open(path, mem, &writing->writer, writing->err);
    if (status == ORR_OK) {
        status = ddp_step_write_rank(writing);
        if (status == ORR_OK) {
            status = et_writer_commit(writing->writer, writing->err);
        } else {
            et_writer_abort(writing->writer);
        }
    }
    free(path);
    return status;
}

enum orr_status ddp_step_write(const struct ddp_step *step, const char *prefix, uint32_t ranks, struct mem *mem,
                               struct orr_error *err)
{
    struct arena arena;
    arena_init(&arena, mem);
    struct writing writing = {.step = step, .err = err};
    writing.reduces = arena_alloc(&arena, step->buckets->count * sizeof *writing.reduces);
    writing.before = arena_alloc(&arena, step->buckets->count * sizeof *writing.before);
    enum orr_status status = ORR_OK;
    if (writing.reduces == NULL || writing.before == NULL) {
        status = mem_error(mem, "the ids of a step", err);
    }
    for (uint32_t rank = 0; rank < ranks && status == ORR_OK; rank++) {
        status = ddp_step_write_file(&writing, prefix, rank, mem);
    }
    arena_free(&arena);
    return status;
}
