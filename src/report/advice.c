/* SPDX-License-Identifier: Apache-2.0 */
#include "report/advice.h"

#include <inttypes.h>
#include <string.h>

#include "io/json_write.h"
#include "param/param.h"
#include "report/number.h"

static void advice_text_findings(const struct orr_advice *advice, FILE *stream)
{
    (void)fprintf(stream, "\nFindings\n");
    if (advice->finding_count == 0) {
        (void)fprintf(stream, "  none: nothing that can be told apart takes 5 %% of the step\n");
    }
    for (size_t i = 0; i < advice->finding_count; i++) {
        const struct orr_advice_finding *finding = &advice->findings[i];
        (void)fprintf(stream, "  %zu. %s", i + 1, finding->title);
        (void)fprintf(stream, finding->share > 0 ? " (%s, %s of the step)\n" : " (%s)\n", finding->severity,
                      report_share(finding->share, 1).text);
        for (size_t k = 0; k < finding->evidence_count; k++) {
            (void)fprintf(stream, "     - %s\n", finding->evidence[k]);
        }
    }
}

static void advice_text_suggestions(const struct orr_advice *advice, FILE *stream)
{
    (void)fprintf(stream, "\nSuggestions, each %s with the change",
                  advice->network[0] != '\0' ? "simulated" : "predicted");
    if (advice->steps > 1) {
        (void)fprintf(stream, " (times of all %" PRIu64 " steps)", advice->steps);
    }
    (void)fputc('\n', stream);
    if (advice->suggestion_count == 0) {
        (void)fprintf(stream, "  none: nothing that was tried makes the step half a percent shorter\n");
    }
    for (size_t i = 0; i < advice->suggestion_count; i++) {
        const struct orr_advice_suggestion *one = &advice->suggestions[i];
        bool elsewhere = strcmp(one->network, advice->network) != 0;
        (void)fprintf(stream, "  %zu. %s\n     -%s: %s -> %s%s%s\n     %s\n     Repeat: %s\n", i + 1, one->title,
                      report_share(one->gain, 1).text, report_time_long(one->before_ns).text,
                      report_time_long(one->after_ns).text, elsewhere ? " on " : "", elsewhere ? one->network : "",
                      one->change, one->repeat);
    }
}

void report_advice_text(const struct orr_advice *advice, FILE *stream)
{
    (void)fprintf(stream, "Job           %s\n", advice->command);
    uint64_t steps = advice->steps > 1 ? advice->steps : 1;
    (void)fprintf(stream, "Step          %s", report_time_long(advice->before_ns / steps).text);
    if (steps > 1) {
        (void)fprintf(stream, " (%" PRIu64 " steps in %s)", steps, report_time_long(advice->before_ns).text);
    }
    (void)fprintf(stream, "%s%s\n", advice->network[0] != '\0' ? ", simulated on " : ", predicted", advice->network);
    (void)fprintf(stream, "Where it goes %s\n", advice->summary);
    advice_text_findings(advice, stream);
    advice_text_suggestions(advice, stream);
    if (advice->trial_count > 0) {
        (void)fprintf(stream, "\nTried and not suggested\n");
    }
    for (size_t i = 0; i < advice->trial_count; i++) {
        param_print(stream, "  %s: %s\n", advice->trials[i].title, advice->trials[i].because);
    }
    (void)fprintf(stream, "\n%" PRIu64 " %s.\n", advice->simulations,
                  advice->network[0] != '\0' ? "simulations" : "predictions");
}

static void advice_json_finding(struct json_writer *writer, const struct orr_advice_finding *finding)
{
    json_write_object(writer, false);
    json_write_member_string(writer, "id", finding->id);
    json_write_member_string(writer, "title", finding->title);
    json_write_member_string(writer, "severity", finding->severity);
    json_write_member_fixed(writer, "share", finding->share, 6);
    json_write_member_array(writer, "evidence", false);
    for (size_t i = 0; i < finding->evidence_count; i++) {
        json_write_string(writer, finding->evidence[i]);
    }
    json_write_array_end(writer);
    json_write_member_object(writer, "numbers", false);
    for (size_t i = 0; i < finding->number_count; i++) {
        json_write_member_fixed(writer, finding->numbers[i].name, finding->numbers[i].value, 6);
    }
    json_write_object_end(writer);
    json_write_object_end(writer);
}

void report_advice_json(const struct orr_advice *advice, FILE *stream)
{
    struct json_writer writer;
    json_write_document(&writer, stream);
    json_write_member_string(&writer, "kind", "advice");
    json_write_member_string(&writer, "command", advice->command);
    json_write_member_string(&writer, "network", advice->network[0] != '\0' ? advice->network : NULL);
    json_write_member_u64(&writer, "before_ns", advice->before_ns);
    if (advice->steps > 0) {
        json_write_member_u64(&writer, "steps", advice->steps);
    }
    json_write_member_u64(&writer, "simulations", advice->simulations);
    json_write_member_string(&writer, "summary", advice->summary);
    json_write_member_array(&writer, "findings", false);
    for (size_t i = 0; i < advice->finding_count; i++) {
        advice_json_finding(&writer, &advice->findings[i]);
    }
    json_write_array_end(&writer);
    json_write_member_array(&writer, "suggestions", false);
    for (size_t i = 0; i < advice->suggestion_count; i++) {
        const struct orr_advice_suggestion *one = &advice->suggestions[i];
        json_write_object(&writer, false);
        json_write_member_string(&writer, "title", one->title);
        json_write_member_string(&writer, "kind", one->kind);
        json_write_member_string(&writer, "change", one->change);
        json_write_member_string(&writer, "repeat", one->repeat);
        json_write_member_string(&writer, "network", one->network[0] != '\0' ? one->network : NULL);
        json_write_member_u64(&writer, "before_ns", one->before_ns);
        json_write_member_u64(&writer, "after_ns", one->after_ns);
        json_write_member_fixed(&writer, "gain", one->gain, 6);
        json_write_object_end(&writer);
    }
    json_write_array_end(&writer);
    json_write_member_array(&writer, "tried", false);
    for (size_t i = 0; i < advice->trial_count; i++) {
        json_write_object(&writer, true);
        json_write_member_string(&writer, "title", advice->trials[i].title);
        json_write_member_string(&writer, "change", advice->trials[i].change);
        json_write_member_string(&writer, "because", advice->trials[i].because);
        json_write_object_end(&writer);
    }
    json_write_array_end(&writer);
    json_write_document_end(&writer);
}
