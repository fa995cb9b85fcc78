/* SPDX-License-Identifier: Apache-2.0 */
/* A word is one of the kinds below, or a collective's type in any spelling that is taken elsewhere. */
#include "api/trace_filter.h"

#include <inttypes.h>
#include <string.h>

#include "coll/impl.h"
#include "run/type_word.h"

enum { WORD_MOST = 40 };

#define KIND(name) (1u << TRACE_KIND_##name)

static const struct {
    const char *word;
    uint32_t kinds;
} words[] = {
    {"compute", KIND(CPU) | KIND(GPU)},
    {"cpu", KIND(CPU)},
    {"gpu", KIND(GPU)},
    {"memory", KIND(MEMORY)},
    {"communication", KIND(COLLECTIVE) | KIND(SEND) | KIND(RECV)},
    {"collective", KIND(COLLECTIVE)},
    {"send", KIND(SEND)},
    {"receive", KIND(RECV)},
    {"other", KIND(OTHER)},
};

static enum orr_status add_word(const char *word, struct trace_filter *filter, struct orr_error *err)
{
    const char *known[sizeof words / sizeof words[0] + 1] = {NULL};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        known[i] = words[i].word;
        if (strcmp(words[i].word, word) == 0) {
            filter->kinds |= words[i].kinds;
            return ORR_OK;
        }
    }
    int32_t type = 0;
    if (type_word_parse(word, &type, NULL) == ORR_OK) {
        filter->collectives |= 1u << type;
        return ORR_OK;
    }
    const char *nearest = error_nearest(word, known);
    return error_set(
        err, ORR_EINVAL,
        "type: \"%s\" is none%s%s%s; accepted: compute, cpu, gpu, memory, communication, collective, send, "
        "receive, other, or a collective such as all-reduce",
        word, nearest == NULL ? "" : ", perhaps \"", nearest == NULL ? "" : nearest,
        nearest == NULL ? "" : "\" is meant");
}

static enum orr_status read_types(const char *types, struct trace_filter *filter, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (const char *at = types; status == ORR_OK && at != NULL;) {
        size_t length = strcspn(at, ",");
        char word[WORD_MOST];
        (void)snprintf(word, sizeof word, "%.*s", (int)(length < WORD_MOST ? length : WORD_MOST - 1), at);
        status = add_word(word, filter, err);
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return status;
}

enum orr_status lab_trace_filter(struct trace_document *document, const struct orr_trace_filter *filter,
                                 struct mem *mem, uint64_t *kept, struct orr_error *err)
{
    struct trace_filter asked = {
        .name = filter->name, .from_us = filter->from_us, .to_us = filter->to_us == 0 ? UINT64_MAX : filter->to_us};
    struct trace_filtered filtered = {0};
    if (asked.to_us <= asked.from_us) {
        return error_set(err, ORR_EINVAL, "from %" PRIu64 " us to %" PRIu64 " us is no time at all", asked.from_us,
                         asked.to_us);
    }
    enum orr_status status = read_types(filter->types, &asked, err);
    status = status != ORR_OK ? status : trace_filter(document, &asked, mem, &filtered, err);
    if (status == ORR_OK && kept != NULL) {
        *kept = filtered.kept;
    }
    return status;
}
