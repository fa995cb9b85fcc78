/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tuned.h"

#include <inttypes.h>

#include "io/json_write.h"
#include "report/number.h"

static void tuned_text_settings(const struct orr_tuned *tuned, FILE *stream)
{
    (void)fprintf(stream, "\nSettings\n");
    if (tuned->setting_count == 0) {
        (void)fprintf(stream, "  none is better than what the job has\n");
    }
    for (size_t i = 0; i < tuned->setting_count; i++) {
        const struct orr_tuned_setting *one = &tuned->settings[i];
        double change = ((double)one->alone_ns - (double)tuned->before_ns) / (double)tuned->before_ns;
        (void)fprintf(stream, "  %-30s %s -> %s", one->key, one->before, one->after);
        if (one->alone_ns == 0) {
            (void)fprintf(stream, "  (alone: the job does not run)\n");
        } else {
            (void)fprintf(stream, "  (alone: %s%s)\n", change > 0 ? "+" : "", report_share(change, 1).text);
        }
    }
}

static void tuned_text_collectives(const struct orr_tuned *tuned, FILE *stream)
{
    enum { ROWS_TOLD = 20 };
    (void)fprintf(stream, "\nCollectives, in the mean\n");
    for (size_t i = 0; i < tuned->collective_count && i < ROWS_TOLD; i++) {
        const struct orr_tuned_collective *one = &tuned->collectives[i];
        (void)fprintf(stream, "  %-16s %12s among %6" PRIu32 " ranks, %8" PRIu64 " participations: %s -> %s\n",
                      one->type, report_bytes((double)one->bytes).text, one->group_size, one->count,
                      report_time(one->before_ns).text, report_time(one->after_ns).text);
    }
    if (tuned->collective_count > ROWS_TOLD) {
        (void)fprintf(stream, "  and %zu more kinds\n", tuned->collective_count - ROWS_TOLD);
    }
}

void report_tuned_text(const struct orr_tuned *tuned, FILE *stream)
{
    double gain = ((double)tuned->before_ns - (double)tuned->after_ns) / (double)tuned->before_ns;
    (void)fprintf(stream, "Job           %s\n", tuned->command);
    (void)fprintf(stream, "Step          %s -> %s (-%s), simulated on %s\n", report_time_long(tuned->before_ns).text,
                  report_time_long(tuned->after_ns).text, report_share(gain, 1).text, tuned->network);
    (void)fprintf(stream, "Searched      %" PRIu64 " combinations, %s; %" PRIu64 " simulations\n", tuned->combinations,
                  tuned->is_whole  ? "all of them: none is better"
                  : tuned->ran_out ? "some of them, until the tries ran out"
                                   : "setting by setting: no other value of any one setting is better",
                  tuned->simulations);
    tuned_text_settings(tuned, stream);
    tuned_text_collectives(tuned, stream);
    if (tuned->nccl != NULL) {
        (void)fprintf(stream, "\nNCCL\n%s", tuned->nccl);
    }
    (void)fprintf(stream, "\nRepeat: %s\n", tuned->repeat);
}

void report_tuned_json(const struct orr_tuned *tuned, FILE *stream)
{
    struct json_writer writer;
    json_write_document(&writer, stream);
    json_write_member_string(&writer, "kind", "tuning");
    json_write_member_string(&writer, "command", tuned->command);
    json_write_member_string(&writer, "network", tuned->network);
    json_write_member_u64(&writer, "before_ns", tuned->before_ns);
    json_write_member_u64(&writer, "after_ns", tuned->after_ns);
    json_write_member_u64(&writer, "combinations", tuned->combinations);
    json_write_member_u64(&writer, "simulations", tuned->simulations);
    json_write_member_bool(&writer, "whole", tuned->is_whole);
    json_write_member_bool(&writer, "ran_out", tuned->ran_out);
    json_write_member_array(&writer, "settings", false);
    for (size_t i = 0; i < tuned->setting_count; i++) {
        json_write_object(&writer, true);
        json_write_member_string(&writer, "key", tuned->settings[i].key);
        json_write_member_string(&writer, "before", tuned->settings[i].before);
        json_write_member_string(&writer, "after", tuned->settings[i].after);
        json_write_member_u64(&writer, "alone_ns", tuned->settings[i].alone_ns);
        json_write_object_end(&writer);
    }
    json_write_array_end(&writer);
    json_write_member_array(&writer, "collectives", false);
    for (size_t i = 0; i < tuned->collective_count; i++) {
        const struct orr_tuned_collective *one = &tuned->collectives[i];
        json_write_object(&writer, true);
        json_write_member_string(&writer, "type", one->type);
        json_write_member_u64(&writer, "group_size", one->group_size);
        json_write_member_u64(&writer, "bytes", one->bytes);
        json_write_member_u64(&writer, "participations", one->count);
        json_write_member_fixed(&writer, "before_ns", one->before_ns, 3);
        json_write_member_fixed(&writer, "after_ns", one->after_ns, 3);
        json_write_object_end(&writer);
    }
    json_write_array_end(&writer);
    json_write_member_string(&writer, "system", tuned->file);
    json_write_member_string(&writer, "nccl", tuned->nccl);
    json_write_member_string(&writer, "repeat", tuned->repeat);
    json_write_document_end(&writer);
}
