/* SPDX-License-Identifier: Apache-2.0 */
/* A run that stands still has collectives that began and did not end. Why is asked in this order: does SimAI itself
 * never end them (compat), does the network hold messages, and who waits for what. */
#include <inttypes.h>

#include "sim/simai/engine.h"

enum { FINDINGS_MOST = 16, WAITS_MOST = 200, NETWORK_MOST = 8 };

struct stall_report {
    struct simai *simai;
    struct sim_stall_finding *findings;
    uint32_t finding_count;
    struct sim_stall_wait *waits;
    uint32_t wait_count, wait_total;
    bool refused;
};

static const struct simai_row *simai_stall_row_of(const struct simai *simai, uint32_t rank, uint32_t op,
                                                  enum simai_phase *phase)
{
    const struct simai_op *one = &simai->ops[simai_stage_of(simai, rank)].at[op];
    *phase = (enum simai_phase)one->phase;
    return &simai->config->program->rows[one->row];
}

static void simai_stall_add(struct stall_report *report, enum sim_stall_kind kind, const char *text, const char *fix,
                            uint32_t rank)
{
    uint32_t *ranks = arena_alloc(&report->simai->arena, sizeof *ranks);
    if (text == NULL || ranks == NULL) {
        report->refused = true;
        return;
    }
    *ranks = rank;
    if (report->finding_count < FINDINGS_MOST) {
        report->findings[report->finding_count++] =
            (struct sim_stall_finding){.kind = kind, .text = text, .fix = fix, .ranks = ranks, .rank_count = 1};
    }
}

/* What the original never counts as sent, or never ends because nothing is in it. */
static void find_compat(struct stall_report *report, const struct simai_coll *coll)
{
    struct simai *simai = report->simai;
    const struct nccl_group *group = &simai->groups[coll->group].nccl;
    enum simai_phase phase = SIMAI_FWD;
    const struct simai_row *row = simai_stall_row_of(simai, group->ranks[0], coll->op, &phase);
    const struct simai_plan *plan = coll->plan;
    if (plan->flows.count == 0) {
        simai_stall_add(report, SIM_STALL_WAITS,
                        arena_printf(&simai->arena,
                                     "row \"%s\", %s: the collective of %" PRIu64
                                     " B has no flows, and SimAI waits for them",
                                     row->name, simai_phase_names[phase], plan->bytes),
                        "leave parameter 'compat' out: a collective without flows is over at once", group->ranks[0]);
    }
    for (uint32_t i = 0; i < plan->flows.count; i++) {
        const struct nccl_flow *flow = &plan->flows.flows[i];
        if (!simai_is_counted_sent(simai->config, flow->bytes)) {
            simai_stall_add(
                report, SIM_STALL_WAITS,
                arena_printf(&simai->arena,
                             "row \"%s\", %s: SimAI counts a message as sent when a packet of 61 to 8999 B leaves; a "
                             "message of %" PRIu64 " B has none, so rank %" PRIu32 " is never done",
                             row->name, simai_phase_names[phase], flow->bytes, flow->src),
                "leave parameter 'compat' out: every message then counts when its last byte has left", flow->src);
            return;
        }
    }
}

static void find_network(struct stall_report *report)
{
    struct simai *simai = report->simai;
    struct net_stuck stuck[NETWORK_MOST];
    uint32_t count =
        simai->net.ops->explain == NULL ? 0 : simai->net.ops->explain(&simai->net, &simai->arena, stuck, NETWORK_MOST);
    for (uint32_t i = 0; i < count; i++) {
        simai_stall_add(report, SIM_STALL_NETWORK, stuck[i].text, stuck[i].fix,
                        stuck[i].rank_count > 0 ? stuck[i].ranks[0] : 0);
    }
}

static void add_wait(struct stall_report *report, struct sim_stall_wait wait)
{
    report->wait_total++;
    report->refused = report->refused || wait.text == NULL;
    if (wait.text != NULL && report->wait_count < WAITS_MOST) {
        report->waits[report->wait_count++] = wait;
    }
}

static void wait_of_part(struct stall_report *report, uint32_t rank, const struct simai_part *part)
{
    struct simai *simai = report->simai;
    enum simai_phase phase = SIMAI_FWD;
    const struct simai_row *row = simai_stall_row_of(simai, rank, part->op, &phase);
    const struct simai_coll *coll = &simai->colls.at[part->coll];
    const struct simai_cell *cell = simai_coll_cell(simai, coll);
    const struct simai_member *member = &coll->members[simai->place_of[simai->groups[coll->group].nccl.type][rank]];
    const char *text = arena_printf(
        &simai->arena,
        "rank %" PRIu32 ": row \"%s\", %s, %s of %" PRIu64 " B: %s%" PRIu32 " messages to send, %" PRIu32 " to receive",
        rank, row->name, simai_phase_names[phase], coll_type_name(cell->type), cell->bytes,
        part->state == SIMAI_PART_WAITS ? "not started, " : "", member->sends_left, member->recvs_left);
    uint32_t index = simai->ops[simai_stage_of(simai, rank)].at[part->op].row;
    add_wait(report, (struct sim_stall_wait){.rank = rank,
                                             .peer = UINT32_MAX,
                                             .node = simai_node_of(index, phase, true),
                                             .bytes = cell->bytes,
                                             .since_ns = part->created_ns,
                                             .what = SIM_STALL_WHAT_COLLECTIVE,
                                             .text = text});
}

static void wait_of_stage(struct stall_report *report, uint32_t rank)
{
    struct simai *simai = report->simai;
    const struct simai_program *program = simai->config->program;
    const struct simai_rank *one = &simai->ranks[rank];
    uint32_t stride = simai->rank_count / program->stages;
    uint32_t back = one->wait_from == 0 ? simai->rank_count - stride : stride;
    add_wait(report,
             (struct sim_stall_wait){
                 .rank = rank,
                 .peer = (rank + back) % simai->rank_count,
                 .node = simai_node_of_stage(program, one->wait_from),
                 .bytes = program->stage_bytes,
                 .since_ns = one->since_ns,
                 .what = SIM_STALL_WHAT_RECV,
                 .text = arena_printf(&simai->arena, "rank %" PRIu32 ": waits for a message of the pipeline stage %s",
                                      rank, one->wait_from == 0 ? "before it" : "after it")});
}

static void find_waits(struct stall_report *report)
{
    struct simai *simai = report->simai;
    for (uint32_t rank = 0; rank < simai->rank_count; rank++) {
        const struct simai_rank *one = &simai->ranks[rank];
        if (one->wait == SIMAI_WAITS_STAGE) {
            wait_of_stage(report, rank);
        }
        for (uint32_t part = one->parts; part != 0; part = simai->parts.at[part].next) {
            wait_of_part(report, rank, &simai->parts.at[part]);
        }
    }
}

enum orr_status simai_explain(struct simai *simai, struct orr_error *err)
{
    struct stall_report report = {.simai = simai};
    report.findings = arena_zalloc(&simai->arena, FINDINGS_MOST * sizeof *report.findings);
    report.waits = arena_zalloc(&simai->arena, WAITS_MOST * sizeof *report.waits);
    if (report.findings == NULL || report.waits == NULL) {
        return mem_error(simai->mem, "the stall report", err);
    }
    for (uint32_t group = 0; simai->config->compat && group < simai->group_count; group++) {
        for (uint32_t coll = simai->groups[group].colls; coll != 0; coll = simai->colls.at[coll].next) {
            find_compat(&report, &simai->colls.at[coll]);
        }
    }
    find_network(&report);
    find_waits(&report);
    if (report.finding_count == 0) {
        simai_stall_add(&report, SIM_STALL_WAITS,
                        arena_printf(&simai->arena,
                                     "%" PRIu32 " of %" PRIu32 " ranks wait for collectives that nothing will end",
                                     simai->rank_count - simai->run.ranks_finished, simai->rank_count),
                        NULL, 0);
    }
    if (report.refused) {
        return mem_error(simai->mem, "the stall report", err);
    }
    simai->run.stall = (struct sim_stall){.kind = report.findings[0].kind,
                                          .findings = report.findings,
                                          .finding_count = report.finding_count,
                                          .waits = report.waits,
                                          .wait_count = report.wait_count,
                                          .wait_total = report.wait_total};
    return error_set(
        err, ORR_ESTALL, "the run stalled at %" PRIu64 " ns with %" PRIu32 " of %" PRIu32 " ranks unfinished: %s",
        simai->queue.now, simai->rank_count - simai->run.ranks_finished, simai->rank_count, report.findings[0].text);
}
