/* SPDX-License-Identifier: Apache-2.0 */
/* Several jobs on one machine, for people and as JSON. */
#include <inttypes.h>

#include "base/error.h"
#include "io/json_write.h"
#include "orrery/faults.h"
#include "report/number.h"

static double slowdown_of(const struct orr_job_row *row)
{
    return row->alone_ns > 0 ? (double)row->together_ns / (double)row->alone_ns : 1.0;
}

static void jobs_put_text(const struct orr_jobs *result, FILE *stream)
{
    (void)fprintf(stream, "%-16s%8s %16s %16s %10s\n", "Job", "ranks", "together", "alone", "slow-down");
    for (uint32_t i = 0; i < result->count; i++) {
        const struct orr_job_row *row = &result->rows[i];
        (void)fprintf(stream, "%-16s%8" PRIu32 " %16s %16s %9sx\n", row->name, row->ranks,
                      report_time_long(row->together_ns).text, report_time_long(row->alone_ns).text,
                      report_fixed(slowdown_of(row), 3).text);
    }
    if (result->queued_together > 0) {
        (void)fprintf(stream, "\n%" PRIu64 " messages found their link busy, %" PRIu64 " with each job alone\n",
                      result->queued_together, result->queued_alone);
    }
    if (result->shared_links > 0) {
        (void)fprintf(stream, "\nLinks of several jobs: %" PRIu32 "\n%-16s%8s %16s %16s\n", result->shared_links,
                      "  nodes", "jobs", "bytes", "busy");
    }
    for (uint32_t i = 0; i < result->link_count; i++) {
        const struct orr_job_link *link = &result->links[i];
        char ends[40];
        (void)snprintf(ends, sizeof ends, "%" PRIu32 " > %" PRIu32, link->from, link->to);
        (void)fprintf(stream, "  %-14s%8" PRIu32 " %16s %16s\n", ends, link->jobs,
                      report_bytes((double)link->bytes).text, report_share(link->utilisation, 1.0).text);
    }
}

static void jobs_put_json(const struct orr_jobs *result, FILE *stream)
{
    struct json_writer json;
    json_write_document(&json, stream);
    json_write_member_array(&json, "jobs", false);
    for (uint32_t i = 0; i < result->count; i++) {
        const struct orr_job_row *row = &result->rows[i];
        json_write_object(&json, true);
        json_write_member_string(&json, "name", row->name);
        json_write_member_u64(&json, "ranks", row->ranks);
        json_write_member_u64(&json, "together_ns", row->together_ns);
        json_write_member_u64(&json, "alone_ns", row->alone_ns);
        json_write_member_fixed(&json, "slowdown", slowdown_of(row), 6);
        json_write_object_end(&json);
    }
    json_write_array_end(&json);
    json_write_member_u64(&json, "queued_messages_together", result->queued_together);
    json_write_member_u64(&json, "queued_messages_alone", result->queued_alone);
    json_write_member_u64(&json, "shared_links", result->shared_links);
    json_write_member_array(&json, "links", false);
    for (uint32_t i = 0; i < result->link_count; i++) {
        const struct orr_job_link *link = &result->links[i];
        json_write_object(&json, true);
        json_write_member_u64(&json, "from", link->from);
        json_write_member_u64(&json, "to", link->to);
        json_write_member_u64(&json, "jobs", link->jobs);
        json_write_member_u64(&json, "bytes", link->bytes);
        json_write_member_fixed(&json, "utilisation", link->utilisation, 6);
        json_write_object_end(&json);
    }
    json_write_array_end(&json);
    json_write_document_end(&json);
}

enum orr_status orr_jobs_write(const struct orr_jobs *result, enum orr_form form, FILE *stream, struct orr_error *err)
{
    if (form == ORR_FORM_JSON) {
        jobs_put_json(result, stream);
    } else {
        jobs_put_text(result, stream);
    }
    return ferror(stream) == 0 ? ORR_OK : error_set(err, ORR_EIO, "the answer cannot be written");
}
