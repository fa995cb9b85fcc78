/* SPDX-License-Identifier: Apache-2.0 */
/* Failures and checkpoints, for people and as JSON. */
#include <inttypes.h>

#include "base/error.h"
#include "io/json_write.h"
#include "orrery/faults.h"
#include "report/number.h"

/* Hours are what these times are told in. */
static struct report_number long_time(uint64_t ns)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{86400e9, "d"}, {3600e9, "h"}, {60e9, "min"}};
    struct report_number number;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if ((double)ns >= 2 * units[i].ns) {
            (void)snprintf(number.text, sizeof number.text, "%.30s %s", report_short((double)ns / units[i].ns).text,
                           units[i].unit);
            return number;
        }
    }
    return report_time((double)ns);
}

static struct report_number percent(double share)
{
    struct report_number number;
    (void)snprintf(number.text, sizeof number.text, "%.30s %%", report_fixed(share * 100.0, 2).text);
    return number;
}

static void put_shares(const char *name, const struct orr_goodput_shares *shares, FILE *stream)
{
    (void)fprintf(stream, "%-11s%12s %10s %12s %10s %9s %8s\n", name, long_time(shares->interval_ns).text,
                  percent(shares->goodput).text, percent(shares->checkpoints).text, percent(shares->lost_work).text,
                  percent(shares->restarts).text, percent(shares->repairs).text);
}

static void put_goodput_text(const struct orr_goodput_options *options, const struct orr_goodput *result, FILE *stream)
{
    (void)fprintf(stream, "%-11severy %s, on %" PRIu64 " GPUs", "Failures", long_time(result->failure_ns).text,
                  options->gpus);
    if (options->repair_ns > 0) {
        (void)fprintf(stream, "; %" PRIu64 " spare node%s, repaired after %s", options->spares,
                      options->spares == 1 ? "" : "s", long_time(options->repair_ns).text);
    }
    (void)fprintf(stream, "\n%-11s%s", "Checkpoint", long_time(result->checkpoint_ns).text);
    if (result->checkpoint_bytes > 0) {
        (void)fprintf(stream, ", %s at %s GB/s", report_bytes((double)result->checkpoint_bytes).text,
                      report_short(options->checkpoint_gbytes_per_s).text);
    }
    (void)fprintf(stream, "; restart %s\n", long_time(options->restart_ns).text);
    (void)fprintf(stream, "%-11s%s of the time makes progress, with a checkpoint every %s\n\n", "Goodput",
                  percent(result->given.goodput > 0 ? result->given.goodput : result->best.goodput).text,
                  long_time(result->given.goodput > 0 ? result->given.interval_ns : result->best.interval_ns).text);
    (void)fprintf(stream, "%-11s%12s %10s %12s %10s %9s %8s\n", "Interval", "", "goodput", "checkpoints", "work again",
                  "restarts", "repairs");
    if (result->given.goodput > 0) {
        put_shares("  given", &result->given, stream);
    }
    put_shares("  best", &result->best, stream);
    put_shares("  Young", &result->young, stream);
    put_shares("  Daly", &result->daly, stream);
}

static void write_shares(struct json_writer *json, const char *key, const struct orr_goodput_shares *shares)
{
    enum { DECIMALS = 9 };
    json_write_member_object(json, key, true);
    json_write_member_u64(json, "interval_ns", shares->interval_ns);
    json_write_member_fixed(json, "goodput", shares->goodput, DECIMALS);
    json_write_member_fixed(json, "checkpoints", shares->checkpoints, DECIMALS);
    json_write_member_fixed(json, "lost_work", shares->lost_work, DECIMALS);
    json_write_member_fixed(json, "restarts", shares->restarts, DECIMALS);
    json_write_member_fixed(json, "repairs", shares->repairs, DECIMALS);
    json_write_object_end(json);
}

static void put_goodput_json(const struct orr_goodput_options *options, const struct orr_goodput *result, FILE *stream)
{
    struct json_writer json;
    json_write_document(&json, stream);
    json_write_member_u64(&json, "gpus", options->gpus);
    json_write_member_u64(&json, "failure_ns", result->failure_ns);
    json_write_member_u64(&json, "checkpoint_bytes", result->checkpoint_bytes);
    json_write_member_u64(&json, "checkpoint_ns", result->checkpoint_ns);
    json_write_member_u64(&json, "restart_ns", options->restart_ns);
    json_write_member_u64(&json, "spares", options->spares);
    json_write_member_u64(&json, "repair_ns", options->repair_ns);
    write_shares(&json, "best", &result->best);
    write_shares(&json, "young", &result->young);
    write_shares(&json, "daly", &result->daly);
    if (result->given.goodput > 0) {
        write_shares(&json, "given", &result->given);
    }
    json_write_document_end(&json);
}

enum orr_status orr_goodput_write(const struct orr_goodput_options *options, const struct orr_goodput *result,
                                  enum orr_form form, FILE *stream, struct orr_error *err)
{
    if (form == ORR_FORM_JSON) {
        put_goodput_json(options, result, stream);
    } else {
        put_goodput_text(options, result, stream);
    }
    return ferror(stream) == 0 ? ORR_OK : error_set(err, ORR_EIO, "the answer cannot be written");
}
