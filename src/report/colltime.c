/* SPDX-License-Identifier: Apache-2.0 */
/* A measured point is shown where one lies at the very size: beside a time that was read off between two there is none.
 */
#include "report/colltime.h"

#include <inttypes.h>

#include "base/plain.h"

static const struct orr_coll_point *point_at(const struct orr_coll_answer *answer, uint64_t bytes)
{
    for (unsigned i = 0; i < 2; i++) {
        if (answer->nearest[i].source != NULL && answer->nearest[i].bytes == bytes) {
            return &answer->nearest[i];
        }
    }
    return NULL;
}

void report_colltime_text(const struct report_colltime *times, FILE *stream)
{
    const struct orr_coll_question *question = times->question;
    (void)fprintf(stream, "%s on %u x %u %s", orr_coll_op_name(question->op), question->nodes, question->gpus,
                  times->gpu);
    (void)fprintf(stream, question->nodes > 1 ? " over %s\n\n" : "\n\n", times->fabric);
    if (times->own_unused) {
        (void)fprintf(stream, "warning: no measurement that was given is of %s on %u x %u\n\n",
                      orr_coll_op_name(question->op), question->nodes, question->gpus);
    }
    (void)fprintf(stream, "%14s %12s %10s %10s  %-9s %-7s %-9s %12s  %s\n", "bytes", "us", "alg GB/s", "bus GB/s",
                  "algorithm", "proto", "method", "measured us", "source");
    for (uint32_t i = 0; i < times->count; i++) {
        const struct orr_coll_answer *answer = &times->answers[i];
        uint64_t bytes = question->bytes << i;
        plain_fprintf(stream, "%14" PRIu64 " %12.2f %10.2f %10.2f  %-9s %-7s %-9s", bytes, answer->us,
                      answer->algbw_gbytes, answer->busbw_gbytes, orr_coll_algo_name(answer->algo),
                      orr_coll_proto_name(answer->proto), orr_coll_method_name(answer->method));
        const struct orr_coll_point *point = point_at(answer, bytes);
        if (point != NULL) {
            plain_fprintf(stream, " %12.2f  %s", point->us, point->source);
        }
        (void)fputc('\n', stream);
    }
}

void report_colltime_json(const struct report_colltime *times, FILE *stream)
{
    const struct orr_coll_question *question = times->question;
    (void)fprintf(stream,
                  "{\"op\": \"%s\", \"gpu\": \"%s\", \"fabric\": \"%s\", \"nodes\": %u, \"gpus_per_node\": %u,\n",
                  orr_coll_op_name(question->op), times->gpu, times->fabric, question->nodes, question->gpus);
    if (times->own_unused) {
        (void)fputs(" \"warning\": \"no measurement that was given is of this\",\n", stream);
    }
    (void)fputs(" \"times\": [", stream);
    for (uint32_t i = 0; i < times->count; i++) {
        const struct orr_coll_answer *answer = &times->answers[i];
        uint64_t bytes = question->bytes << i;
        const struct orr_coll_point *point = point_at(answer, bytes);
        plain_fprintf(stream,
                      "%s\n  {\"bytes\": %" PRIu64 ", \"us\": %.6g, \"algbw_GBps\": %.6g, \"busbw_GBps\": %.6g, "
                      "\"algorithm\": \"%s\", \"protocol\": \"%s\", \"channels\": %u, \"method\": \"%s\", "
                      "\"model_us\": %.6g, \"tuner_us\": %.6g",
                      i > 0 ? "," : "", bytes, answer->us, answer->algbw_gbytes, answer->busbw_gbytes,
                      orr_coll_algo_name(answer->algo), orr_coll_proto_name(answer->proto), answer->channels,
                      orr_coll_method_name(answer->method), answer->model_us, answer->tuner_us);
        if (point != NULL) {
            plain_fprintf(stream, ", \"measured_us\": %.6g, \"source\": \"%s\"", point->us, point->source);
        }
        (void)fputc('}', stream);
    }
    (void)fputs("\n]}\n", stream);
}
