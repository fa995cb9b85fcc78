/* SPDX-License-Identifier: Apache-2.0 */
/* A run by many seeds, for people and as JSON. */
#include <inttypes.h>

#include "base/error.h"
#include "io/json_write.h"
#include "orrery/faults.h"
#include "report/number.h"

static void repeat_put_line(const struct orr_repeat *result, const char *name, double ns, FILE *stream)
{
    double more = result->plain_ns > 0 ? (ns / (double)result->plain_ns - 1.0) * 100.0 : 0.0;
    (void)fprintf(stream, "%-11s%s, %s%s %%\n", name, report_time_long((uint64_t)(ns + 0.5)).text, more < 0 ? "" : "+",
                  report_fixed(more, 2).text);
}

static void repeat_put_text(const struct orr_repeat *result, FILE *stream)
{
    (void)fprintf(stream, "%-11s%s without chance\n", "Step time", report_time_long(result->plain_ns).text);
    (void)fprintf(stream, "%-11s%" PRIu64 ", seeds %" PRIu64 " to %" PRIu64 "\n", "Runs", result->count,
                  result->first_seed, result->first_seed + result->count - 1);
    repeat_put_line(result, "Mean", result->mean_ns, stream);
    repeat_put_line(result, "p50", result->p50_ns, stream);
    repeat_put_line(result, "p90", result->p90_ns, stream);
    repeat_put_line(result, "p99", result->p99_ns, stream);
    repeat_put_line(result, "Worst", (double)result->worst_ns, stream);
    (void)fprintf(stream, "%-11sworst with seed %" PRIu64 ", best %s with seed %" PRIu64 "; standard deviation %s\n",
                  "Seeds", result->worst_seed, report_time_long(result->best_ns).text, result->best_seed,
                  report_time(result->deviation_ns).text);
}

static void repeat_put_json(const struct orr_repeat *result, FILE *stream)
{
    struct json_writer json;
    json_write_document(&json, stream);
    json_write_member_u64(&json, "runs", result->count);
    json_write_member_u64(&json, "first_seed", result->first_seed);
    json_write_member_u64(&json, "plain_ns", result->plain_ns);
    json_write_member_fixed(&json, "mean_ns", result->mean_ns, 3);
    json_write_member_fixed(&json, "standard_deviation_ns", result->deviation_ns, 3);
    json_write_member_fixed(&json, "p50_ns", result->p50_ns, 3);
    json_write_member_fixed(&json, "p90_ns", result->p90_ns, 3);
    json_write_member_fixed(&json, "p99_ns", result->p99_ns, 3);
    json_write_member_u64(&json, "best_ns", result->best_ns);
    json_write_member_u64(&json, "best_seed", result->best_seed);
    json_write_member_u64(&json, "worst_ns", result->worst_ns);
    json_write_member_u64(&json, "worst_seed", result->worst_seed);
    json_write_member_array(&json, "times_ns", true);
    for (uint64_t i = 0; i < result->count; i++) {
        json_write_u64(&json, result->times_ns[i]);
    }
    json_write_array_end(&json);
    json_write_document_end(&json);
}

enum orr_status orr_repeat_write(const struct orr_repeat *result, enum orr_form form, FILE *stream,
                                 struct orr_error *err)
{
    if (form == ORR_FORM_JSON) {
        repeat_put_json(result, stream);
    } else {
        repeat_put_text(result, stream);
    }
    return ferror(stream) == 0 ? ORR_OK : error_set(err, ORR_EIO, "the answer cannot be written");
}
