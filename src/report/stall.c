/* SPDX-License-Identifier: Apache-2.0 */
/* Findings come before waits because the sentence with the fix is what a user needs; the waits are its evidence. */
#include "report/stall.h"

#include <inttypes.h>

#include "report/number.h"
#include "report/text.h"

/* Lines, all of them; findings leave at least the last ones to the waits. The first finding is always whole. */
enum { MOST_LINES = 40, FINDING_LINES = 28 };

static uint32_t print_findings(const struct sim_stall *stall, FILE *stream)
{
    uint32_t lines = 0;
    for (uint32_t i = 0; i < stall->finding_count; i++) {
        if (lines >= FINDING_LINES) {
            uint32_t more = stall->finding_count - i;
            (void)fprintf(stream, "  and %u more finding%s\n", more, more == 1 ? "" : "s");
            return lines + 1;
        }
        const struct sim_stall_finding *finding = &stall->findings[i];
        lines += report_text_wrapped("", finding->text, 2, stream);
        if (finding->fix != NULL) {
            lines += report_text_wrapped("Fix: ", finding->fix, 4, stream);
        }
    }
    return lines;
}

static void print_waits(const struct sim_stall *stall, uint32_t lines, FILE *stream)
{
    uint32_t total = stall->wait_total > stall->wait_count ? stall->wait_total : stall->wait_count;
    uint32_t shown = 0;
    (void)fputs("Who waits for what:\n", stream);
    while (shown < stall->wait_count && lines < MOST_LINES) {
        lines += report_text_wrapped("", stall->waits[shown].text, 2, stream);
        shown++;
    }
    if (total > shown) {
        (void)fprintf(stream, "  and %u more wait%s\n", total - shown, total - shown == 1 ? "" : "s");
    }
}

void report_stall_write(const struct sim_result *result, FILE *stream)
{
    const struct sim_stall *stall = &result->stall;
    if (stall->kind == SIM_STALL_NONE) {
        return;
    }
    (void)fprintf(stream, "The run stalled at %s (%" PRIu64 " ns): %u of %u ranks finished",
                  report_time_long(result->end_ns).text, result->end_ns, result->ranks_finished, result->rank_count);
    (void)fprintf(stream, ", %" PRIu64 " of %" PRIu64 " nodes done.\n", result->nodes_done, result->nodes);
    uint32_t lines = 2 + print_findings(stall, stream);
    if (stall->wait_count > 0) {
        print_waits(stall, lines, stream);
    }
}
