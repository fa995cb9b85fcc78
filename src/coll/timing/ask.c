/* SPDX-License-Identifier: Apache-2.0 */
/* Questions as simulated jobs have them: ranks in servers, collectives of traces, nanoseconds. */
#include "coll/impl.h"
#include "coll/timing/timing.h"

void timing_ask(int type, uint64_t bytes, uint32_t members, struct orr_coll_question *question)
{
    question->bytes = bytes;
    switch (type) {
    case COLL_ALL_GATHER:
    case COLL_GATHER:
        question->op = ORR_COLL_OP_ALL_GATHER;
        question->bytes *= members;
        break;
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK:
    case COLL_SCATTER:
        question->op = ORR_COLL_OP_REDUCE_SCATTER;
        break;
    case COLL_ALL_TO_ALL:
        question->op = ORR_COLL_OP_ALL_TO_ALL;
        break;
    case COLL_BROADCAST:
        question->op = ORR_COLL_OP_BROADCAST;
        break;
    case COLL_REDUCE:
        question->op = ORR_COLL_OP_REDUCE;
        break;
    case COLL_BARRIER:
        question->op = ORR_COLL_OP_ALL_REDUCE;
        question->bytes = 4;
        break;
    default:
        question->op = ORR_COLL_OP_ALL_REDUCE;
        break;
    }
}

void timing_place_ranks(const uint32_t *ranks, uint32_t count, uint32_t each, struct orr_coll_question *question)
{
    uint32_t inside = 0;
    uint32_t last = UINT32_MAX;
    question->nodes = 0;
    question->gpus = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t server = (ranks != NULL ? ranks[i] : i) / each;
        inside = server == last ? inside + 1 : 1;
        question->nodes += server != last;
        question->gpus = inside > question->gpus ? inside : question->gpus;
        last = server;
    }
    question->groups = question->gpus > 0 && each > question->gpus ? each / question->gpus : 1;
}

bool timing_place_whole(uint32_t members, uint32_t all, uint32_t each, struct orr_coll_question *question)
{
    bool is_one = all <= each;
    if (members < 2 || (!is_one && (each == 0 || members != all || all % each != 0))) {
        return false;
    }
    question->nodes = is_one ? 1 : all / each;
    question->gpus = is_one ? members : each;
    return true;
}

uint64_t timing_ns(const struct timing_machine *machine, const struct orr_coll_question *question)
{
    struct orr_coll_answer answer;
    if (timing_estimate(machine, question, &answer, NULL) != ORR_OK) {
        return 0; /* more ranks than there are machines of: checked before the run */
    }
    double ns = answer.us * 1e3;
    return ns < 9e18 ? (uint64_t)(ns + 0.5) : UINT64_C(9000000000000000000);
}
