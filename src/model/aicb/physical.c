/* SPDX-License-Identifier: Apache-2.0 */
/* What all families share (spec simai §5.2): the iterations, the micro-batches, and the two runs over the rows. The
 * sweep of one collective is small enough to live here too. */
#include "model/aicb/physical.h"

#include <inttypes.h>
#include <string.h>

#include "model/aicb/physical_parts.h"
#include "model/aicb/physical_rows.h"
#include "model/aicb/physical_zero.h"

static const char header[] =
    "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,busbw,count\n";

/* ---- one collective, from size to size (§5.7) ---- */

static const char *const test_words[] = {
    "all_reduce",
    "isend",
    "irecv",
    "broadcast",
    "all_gather",
    "reduce",
    "barrier",
    "all_to_all",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "computation",
    "epoch_end",
    "all_gather_into_tensor",
    NULL,
};

static void test_init(struct physical *p, void *state)
{
    (void)state;
    for (int64_t i = 0; i < p->o->iter_num && physical_good(p); i++) {
        physical_collective(p, p->o->test_comm, PHYSICAL_DP, p->shape.dp, p->o->begin_size, "warmup");
    }
}

static void test_step(struct physical *p, void *state)
{
    bool pipeline = p->o->multi_all_reduce_enable != 0;
    (void)state;
    for (int64_t size = p->o->begin_size; size <= p->o->end_size && physical_good(p); size *= 2) {
        for (int64_t i = 0; i < p->o->iter_num && physical_good(p); i++) {
            physical_collective(p, p->o->test_comm, pipeline ? PHYSICAL_PP : PHYSICAL_DP,
                                pipeline ? p->o->pp : p->shape.dp, size, "test_step");
        }
        if (size > INT64_MAX / 2) {
            break;
        }
    }
}

static void nothing(struct physical *p, void *state)
{
    (void)p;
    (void)state;
}

const struct physical_family physical_test = {test_init, nothing, nothing, test_step, NULL};

static enum orr_status check_test(const struct aicb_options *o, struct orr_error *err)
{
    for (unsigned i = 0; test_words[i] != NULL; i++) {
        if (strcmp(test_words[i], o->test_comm) == 0) {
            return o->begin_size > 0
                       ? ORR_OK
                       : error_set(err, ORR_ERANGE,
                                   "parameter 'begin_size' 0 never grows to parameter 'end_size' %" PRId64,
                                   o->end_size);
        }
    }
    const char *nearest = error_nearest(o->test_comm, test_words);
    return error_set(err, ORR_EINVAL, "parameter 'test_comm': \"%.40s\" is no collective of AICB's; %s%s%s",
                     o->test_comm,
                     nearest != NULL ? "did you mean \"" : "all_reduce, all_gather, reduce_scatter, all_to_all … are",
                     nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : "");
}

/* ---- which family ---- */

enum aicb_generator aicb_physical_family(const struct aicb_options *o)
{
    return o->frame == AICB_FRAME_DEEPSPEED         ? AICB_ZERO
           : o->frame == AICB_FRAME_COLLECTIVE_TEST ? AICB_COLLECTIVE
                                                    : AICB_MEGATRON;
}

void aicb_physical_name(const struct aicb_options *o, char *name, size_t size)
{
    char whole[512];
    char lead[32] = "megatron_";
    if (o->frame == AICB_FRAME_DEEPSPEED) {
        (void)snprintf(lead, sizeof lead, "deepspeed_stage%" PRId64 "_", o->stage);
    }
    (void)snprintf(whole, sizeof whole, "%s%s_sp_%s_iteration_%" PRId64 "_computationEnable_%s_%" PRId64 "n", lead,
                   o->model_name != NULL ? o->model_name : "None", o->enable_sequence_parallel ? "True" : "False",
                   o->epoch_num, o->computation_enable || o->aiob_enable ? "True" : "False", o->world_size);
    if (o->frame == AICB_FRAME_COLLECTIVE_TEST) {
        (void)snprintf(whole, sizeof whole, "multi_all_reduce");
    }
    whole[strcspn(whole, ".")] = '\0'; /* AICB drops what it takes for a suffix */
    (void)snprintf(name, size, "%s_workload.csv", whole);
}

/* ---- the iterations (§5.2) ---- */

static void run_all(struct physical *p, const struct physical_family *family, void *state)
{
    bool pipeline = p->o->pp > 1 && p->o->frame != AICB_FRAME_COLLECTIVE_TEST;
    family->init(p, state);
    physical_epoch_end(p);
    for (int64_t epoch = 0; epoch < p->o->epoch_num && physical_good(p); epoch++) {
        if (pipeline && family->pipeline != NULL) {
            family->pipeline(p, state);
        }
        for (int64_t i = 0; !pipeline && i < p->shape.ga && physical_good(p); i++) {
            family->forward(p, state);
            family->backward(p, state);
        }
        family->step(p, state);
        if (pipeline && !p->fix.step_once) {
            family->step(p, state);
        }
        physical_epoch_end(p);
    }
}

static enum orr_status outcome(const struct physical *p, struct orr_error *err)
{
    if (p->no_memory) {
        return mem_error(p->mem, "a workload's rows", err);
    }
    if (p->overflow) {
        return error_set(err, ORR_ERANGE, "a size in the workload does not fit 64 bits");
    }
    return p->too_many ? error_set(err, ORR_ERANGE, "the workload would have more than 2^25 rows") : ORR_OK;
}

static enum orr_status run_once(struct physical *p, FILE *stream, struct orr_error *err)
{
    const struct aicb_options *o = p->o;
    enum orr_status status = ORR_OK;
    p->stream = stream;
    p->rows = 0;
    p->left_out = 0;
    if (o->frame == AICB_FRAME_COLLECTIVE_TEST) {
        run_all(p, &physical_test, NULL);
    } else if (o->frame == AICB_FRAME_DEEPSPEED) {
        struct physical_zero zero;
        status = physical_zero_open(p, &zero, err);
        if (status == ORR_OK) {
            run_all(p, o->stage == 3 ? &physical_zero_3 : &physical_zero_12, &zero);
            physical_zero_close(p, &zero);
        }
    } else {
        struct physical_parts parts;
        status = physical_parts_make(p, &parts, err);
        if (status == ORR_OK) {
            run_all(p, &physical_megatron, &parts);
        }
    }
    return status == ORR_OK ? outcome(p, err) : status;
}

/* The sweep knows no batches, so that the check of theirs is not made. */
static enum orr_status derive(struct physical *p, struct notes *notes, struct orr_error *err)
{
    const struct aicb_options *o = p->o;
    if (o->frame != AICB_FRAME_COLLECTIVE_TEST) {
        return aicb_options_derive(o, &p->shape, notes, err);
    }
    int64_t ranks = physical_mul(p, o->tp, o->pp);
    if (p->overflow || o->world_size % ranks != 0) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'world_size' %" PRId64 " is not a multiple of TP x PP = %" PRId64 " x %" PRId64,
                         o->world_size, o->tp, o->pp);
    }
    p->shape = (struct aicb_shape){.dp = o->world_size / ranks};
    return check_test(o, err);
}

/* Layers that have no row (one rank, no products) would be gone through all the same, micro-batch by micro-batch. */
static enum orr_status check_length(struct physical *p, struct orr_error *err)
{
    int64_t layers = physical_mul(p, physical_mul(p, p->shape.ga, p->shape.layers), p->o->epoch_num);
    if (p->overflow || layers > PHYSICAL_ROWS_MAX) {
        return error_set(err, ORR_ERANGE,
                         "%" PRId64 " micro-batches of %" PRId64 " layers, %" PRId64
                         " times: the workload would have more than 2^25 rows",
                         p->shape.ga, p->shape.layers, p->o->epoch_num);
    }
    return ORR_OK;
}

enum orr_status aicb_physical_write(const struct aicb_options *options, struct mem *mem, struct notes *notes,
                                    FILE *stream, struct orr_error *err)
{
    bool on = !options->compat;
    struct physical p = {.o = options,
                         .mem = mem,
                         .fix = {
#define AICB_X(name, aicb, ours) .name = on,
                             AICB_PHYSICAL_FIXES(AICB_X)
#undef AICB_X
                         }};
    enum orr_status status = derive(&p, notes, err);
    status = status == ORR_OK ? check_length(&p, err) : status;
    status = status == ORR_OK ? run_once(&p, NULL, err) : status;
    if (status == ORR_OK) {
        (void)fputs(header, stream);
        status = run_once(&p, stream, err);
    }
    return status;
}
