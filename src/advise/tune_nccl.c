/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL chooses an algorithm and a protocol for each collective by what its tuner reckons; environment variables narrow
 * that choice, for each function apart. Every narrowing is tried on all collectives of a step: the tuner chooses of
 * what is left, and the model of collective times says how long that takes. The one that is shortest in all is told,
 * where it gains.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advise/tune.h"
#include "base/numbers.h"
#include "coll/timing/timing.h"
#include "report/number.h"

enum { NCCL_ROWS = 1024, NCCL_GAIN_LEAST = 200 };

/* Collectives of one kind, size and place in a step. */
struct nccl_row {
    struct orr_coll_question question;
    uint64_t count;
};

struct nccl_rows {
    struct nccl_row *list;
    uint32_t count;
};

/* Functions whose algorithm can be said, and how NCCL spells them. */
static const struct {
    enum orr_coll_op op;
    int32_t type;
    const char *word;
} nccl_functions[] = {{ORR_COLL_OP_ALL_REDUCE, COLL_ALL_REDUCE, "allreduce"},
                      {ORR_COLL_OP_ALL_GATHER, COLL_ALL_GATHER, "allgather"},
                      {ORR_COLL_OP_REDUCE_SCATTER, COLL_REDUCE_SCATTER, "reducescatter"},
                      {ORR_COLL_OP_BROADCAST, COLL_BROADCAST, "broadcast"},
                      {ORR_COLL_OP_REDUCE, COLL_REDUCE, "reduce"}};
enum { NCCL_FUNCTIONS = sizeof nccl_functions / sizeof nccl_functions[0] };

static const struct {
    enum orr_coll_algo algo;
    const char *word;
} nccl_algos[] = {{ORR_COLL_ALGO_AUTO, NULL},   {ORR_COLL_ALGO_RING, "ring"},          {ORR_COLL_ALGO_TREE, "tree"},
                  {ORR_COLL_ALGO_NVLS, "nvls"}, {ORR_COLL_ALGO_NVLS_TREE, "nvlstree"}, {ORR_COLL_ALGO_PAT, "pat"}};
static const struct {
    enum orr_coll_proto proto;
    const char *word;
} nccl_protos[] = {{ORR_COLL_PROTO_AUTO, NULL},
                   {ORR_COLL_PROTO_SIMPLE, "Simple"},
                   {ORR_COLL_PROTO_LL, "LL"},
                   {ORR_COLL_PROTO_LL128, "LL128"}};

/* ---- the collectives of a step ---- */

static void nccl_add(struct nccl_rows *rows, const struct orr_coll_question *question)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct orr_coll_question *one = &rows->list[i].question;
        if (one->op == question->op && one->bytes == question->bytes && one->nodes == question->nodes &&
            one->gpus == question->gpus && one->groups == question->groups) {
            rows->list[i].count++;
            return;
        }
    }
    if (rows->count < NCCL_ROWS) {
        rows->list[rows->count++] = (struct nccl_row){*question, 1};
    }
}

/* The members of a group in ascending order, in `room`; NULL: all ranks. */
static const uint32_t *nccl_members(const struct sim_config *config, uint64_t id, uint32_t *room, uint32_t *count)
{
    *count = config->dims.ranks;
    for (uint32_t i = 0; id != 0 && i < config->group_count; i++) {
        if ((uint64_t)config->groups[i].id == id) {
            *count = config->groups[i].count;
            memcpy(room, config->groups[i].ranks, *count * sizeof *room);
            qsort(room, *count, sizeof *room, numbers_order_u32);
            return room;
        }
    }
    return NULL;
}

/* Every collective is counted by its first member. */
static void nccl_gather(const struct sim_config *config, uint32_t server, uint32_t *room, struct nccl_rows *rows)
{
    for (uint32_t rank = 0; rank < config->dims.ranks; rank++) {
        const struct trace_graph *graph = config->traces->ranks[rank].graph;
        for (uint32_t i = 0; i < graph->other_count; i++) {
            const struct trace_node *node = &graph->nodes[graph->others[i]];
            uint32_t function = 0, count = 0;
            while (function < NCCL_FUNCTIONS && nccl_functions[function].type != node->comm_type) {
                function++;
            }
            if (node->type != TRACE_COLL || function == NCCL_FUNCTIONS) {
                continue;
            }
            uint64_t id = node->group == 0 ? 0 : strtoull(graph->strings + node->group, NULL, 10);
            const uint32_t *members = nccl_members(config, id, room, &count);
            if (count < 2 || rank != (members != NULL ? members[0] : 0)) {
                continue;
            }
            struct orr_coll_question question = {.op = nccl_functions[function].op, .bytes = node->comm_bytes};
            question.bytes *= node->comm_type == COLL_ALL_GATHER ? count : 1;
            timing_place_ranks(members, count, server > 0 ? server : 1, &question);
            nccl_add(rows, &question);
        }
    }
}

/* ---- what narrowing does ---- */

/* Microseconds of all collectives of a function with the choice narrowed; infinite where one cannot be done so. */
static double nccl_total(const struct timing_machine *machine, const struct nccl_rows *rows, enum orr_coll_op op,
                         enum orr_coll_algo algo, enum orr_coll_proto proto)
{
    double total = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        struct timing_shape shape;
        enum orr_coll_algo chosen = algo;
        enum orr_coll_proto chosen_proto = proto;
        if (rows->list[i].question.op != op) {
            continue;
        }
        timing_shape_of(machine, &rows->list[i].question, &shape);
        if (!isfinite(timing_tuner_choose(machine, &shape, &chosen, &chosen_proto))) {
            return INFINITY;
        }
        total += (double)rows->list[i].count * timing_model_us(machine, &shape, chosen, chosen_proto);
    }
    return total;
}

struct tune_choice {
    uint32_t algo, proto; /* of the lists; 0: as it is */
    double before_us, after_us;
};

static struct tune_choice nccl_best(const struct timing_machine *machine, const struct nccl_rows *rows,
                                    enum orr_coll_op op)
{
    struct tune_choice best = {0};
    best.before_us = best.after_us = nccl_total(machine, rows, op, ORR_COLL_ALGO_AUTO, ORR_COLL_PROTO_AUTO);
    for (uint32_t a = 0; a < sizeof nccl_algos / sizeof nccl_algos[0]; a++) {
        for (uint32_t p = 0; p < sizeof nccl_protos / sizeof nccl_protos[0]; p++) {
            double us = nccl_total(machine, rows, op, nccl_algos[a].algo, nccl_protos[p].proto);
            if (us < best.after_us && best.before_us - us >= best.before_us / NCCL_GAIN_LEAST) {
                best = (struct tune_choice){a, p, best.before_us, us};
            }
        }
    }
    return best;
}

/* "allreduce:ring;allgather:pat"; one function alone needs no name. */
static const char *nccl_list(struct advise_document *document, const struct tune_choice *choices, bool alone,
                             bool protos)
{
    const char *text = "";
    for (uint32_t i = 0; i < NCCL_FUNCTIONS; i++) {
        const char *word = protos ? nccl_protos[choices[i].proto].word : nccl_algos[choices[i].algo].word;
        if (word != NULL) {
            text = advise_text(document, "%s%s%s%s%s", text, text[0] == '\0' ? "" : ";",
                               alone ? "" : nccl_functions[i].word, alone ? "" : ":", word);
        }
    }
    return text;
}

enum orr_status tune_nccl_text(struct advise_document *document, const struct sim_config *config, uint32_t server,
                               const char **text, struct orr_error *err)
{
    struct nccl_rows rows = {.list = arena_alloc(&document->arena, NCCL_ROWS * sizeof *rows.list)};
    uint32_t *room = arena_alloc(&document->arena, ((size_t)config->dims.ranks + 1) * sizeof *room);
    struct tune_choice choices[NCCL_FUNCTIONS] = {{0}};
    if (rows.list == NULL || room == NULL) {
        return mem_error(&document->mem, "collectives", err);
    }
    nccl_gather(config, server, room, &rows);
    const char *lines = "";
    uint32_t used = 0;
    for (uint32_t i = 0; i < NCCL_FUNCTIONS; i++) {
        choices[i] = nccl_best(config->timing, &rows, nccl_functions[i].op);
        bool changed = choices[i].algo != 0 || choices[i].proto != 0;
        if (choices[i].before_us > 0) {
            used++;
            lines = advise_text(document, "%s# %s: %s a step by the model of collective times%s%s%s\n", lines,
                                nccl_functions[i].word, report_time(choices[i].after_us * 1e3).text,
                                changed ? ", by NCCL's own choice " : "",
                                changed ? report_time(choices[i].before_us * 1e3).text : "",
                                changed ? "" : "; NCCL's own choice is as good");
        }
    }
    const char *algos = nccl_list(document, choices, used == 1, false);
    const char *protos = nccl_list(document, choices, used == 1, true);
    *text = advise_text(document, "# Collectives of the job on %s, %u GPUs a server.\n%s%s%s%s%s%s%s%s",
                        config->timing->gpu->name, server, lines,
                        used > 1 && (algos[0] != '\0' || protos[0] != '\0')
                            ? "# A setting for each function is understood from NCCL 2.24 on.\n"
                            : "",
                        algos[0] != '\0' ? "NCCL_ALGO=\"" : "", algos, algos[0] != '\0' ? "\"\n" : "",
                        protos[0] != '\0' ? "NCCL_PROTO=\"" : "", protos, protos[0] != '\0' ? "\"\n" : "");
    return ORR_OK;
}
