/* SPDX-License-Identifier: Apache-2.0 */
/* Where a run is shorter than the bound, the network was too kind, and that is the more useful thing to say. */
#include "report/optimum.h"

#include <stdio.h>

#include "report/number.h"

enum { RATIO_DECIMALS = 6 };

static bool comparable(const struct sim_result *result)
{
    return report_state_of(result) == REPORT_FINISHED && result->end_ns > 0 && result->optimum.all_ns > 0;
}

bool report_optimum_sentence(const struct sim_result *result, char sentence[REPORT_OPTIMUM_SENTENCE])
{
    const struct sim_optimum *best = &result->optimum;
    if (!comparable(result)) {
        return false;
    }
    char bounds[240];
    (void)snprintf(bounds, sizeof bounds, "%s (compute %s, bandwidth %s, latency %s)",
                   report_time((double)best->all_ns).text, report_time((double)best->compute_ns).text,
                   report_time((double)best->bandwidth_ns).text, report_time((double)best->latency_ns).text);
    double ratio = (double)result->end_ns / (double)best->all_ns;
    if (best->all_ns > result->end_ns) {
        (void)snprintf(sentence, REPORT_OPTIMUM_SENTENCE,
                       "Optimum: %s, and the run is shorter than that: on this network messages pass through each "
                       "other, which links do not let them.",
                       bounds);
    } else {
        (void)snprintf(sentence, REPORT_OPTIMUM_SENTENCE, "Optimum: %s; the run takes %s times that.", bounds,
                       report_fixed(ratio, ratio < 10 ? 2 : 0).text);
    }
    return true;
}

void report_optimum_json(const struct sim_result *result, struct json_writer *json)
{
    const struct sim_optimum *best = &result->optimum;
    json_write_key(json, "optimum");
    if (!comparable(result)) {
        json_write_null(json);
        return;
    }
    json_write_object(json, true);
    json_write_member_u64(json, "ns", best->all_ns);
    json_write_member_u64(json, "compute_ns", best->compute_ns);
    json_write_member_u64(json, "bandwidth_ns", best->bandwidth_ns);
    json_write_member_u64(json, "latency_ns", best->latency_ns);
    json_write_member_fixed(json, "times", (double)result->end_ns / (double)best->all_ns, RATIO_DECIMALS);
    json_write_object_end(json);
}
