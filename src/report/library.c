/* SPDX-License-Identifier: Apache-2.0 */
#include "report/library.h"

#include "coll/timing/timing.h"
#include "report/number.h"
#include "report/summary.h"
#include "report/text.h"

/* What is nearer than this, or less than this share of the run, is not worth a line. */
static const double library_near = 1.25, library_least = 0.01;

static const char *library_name(const struct timing_gpu *gpu)
{
    return gpu->is_rccl ? "RCCL" : gpu->link == TIMING_LINK_TORUS ? "the maker's library" : "NCCL";
}

void report_library(const struct sim_result *result, FILE *stream)
{
    const struct timing_machine *library = result->config->library;
    const struct sim_collective_result *worst = NULL;
    uint64_t worst_ns = 0;
    double most = 0;
    if (library == NULL || result->config->timing != NULL || result->config->system.replay_only) {
        return;
    }
    for (uint32_t i = 0; i < result->collective_count; i++) {
        const struct sim_collective_result *row = &result->collectives[i];
        struct orr_coll_question question = {.groups = 1};
        if (row->type < 0 || row->count == 0 || row->bytes == 0 ||
            !timing_place_whole(row->group_size, result->config->dims.ranks, library->node_gpus, &question)) {
            continue;
        }
        timing_ask(row->type, row->bytes, row->group_size, &question);
        uint64_t ns = timing_ns(library, &question);
        double missing = ((double)ns - (double)row->min_ns) * (double)row->count / row->group_size;
        if ((double)ns > library_near * (double)row->min_ns && missing > most) {
            worst = row;
            worst_ns = ns;
            most = missing;
        }
    }
    if (worst == NULL || most < library_least * (double)result->end_ns) {
        return;
    }
    char words[320];
    char name[32];
    (void)snprintf(words, sizeof words,
                   "%s, %s: %s takes %s for it on these GPUs, where its messages alone take %s. parameter "
                   "'collective-times' model counts what the library itself takes.",
                   report_kind_name(worst->type, name), report_bytes((double)worst->bytes).text,
                   library_name(library->gpu), report_time((double)worst_ns).text,
                   report_time((double)worst->min_ns).text);
    (void)report_text_wrapped("", words, 2, stream);
}
