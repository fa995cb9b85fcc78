/* SPDX-License-Identifier: Apache-2.0 */
/* One walk, record by record. A type is changed on collectives only: a send has no collective type to change. */
#include "trace/rewrite.h"

#include <stdlib.h>
#include <string.h>

#include "trace/record_edit.h"

static bool selects(const struct rewrite_options *options, const struct record_facts *facts)
{
    if (!record_is_comm(facts->type)) {
        return false;
    }
    if (options->from_type != REWRITE_ANY_TYPE &&
        (facts->type != TRACE_COLL || (facts->has & 1u << TRACE_ATTR_COMM_TYPE) == 0 ||
         facts->value[TRACE_ATTR_COMM_TYPE] != (uint64_t)options->from_type)) {
        return false;
    }
    return pattern_matches(options->match, facts->name);
}

static void set_type(const struct rewrite_options *options, const struct record_facts *facts,
                     struct record_change *change, struct rewrite_counts *counts)
{
    bool same = (facts->has & 1u << TRACE_ATTR_COMM_TYPE) != 0 &&
                facts->value[TRACE_ATTR_COMM_TYPE] == (uint64_t)options->to_type;
    if (facts->type == TRACE_COLL && options->to_type != REWRITE_ANY_TYPE && !same) {
        record_change_integer(change, "comm_type", TRACE_VALUE_INT64, (uint64_t)options->to_type);
        counts->types++;
    }
}

static void set_bytes(const struct rewrite_options *options, const struct record_facts *facts,
                      struct record_change *change, struct rewrite_counts *counts)
{
    bool known = (facts->has & 1u << TRACE_ATTR_COMM_SIZE) != 0;
    uint64_t before = known ? facts->value[TRACE_ATTR_COMM_SIZE] : 0;
    counts->bytes_before += before;
    counts->bytes += options->set_bytes ? options->bytes : before;
    if (options->set_bytes && (!known || before != options->bytes)) {
        record_change_integer(change, "comm_size", TRACE_VALUE_INT64, options->bytes);
        counts->sizes++;
    }
}

static void trace_rewrite_set_group(const struct rewrite_options *options, const struct record_facts *facts,
                                    struct record_change *change, struct rewrite_counts *counts)
{
    if (options->group == NULL || facts->type != TRACE_COLL || record_text_is(facts->group, options->group)) {
        return;
    }
    counts->groups++;
    if (options->group[0] == '\0') {
        record_change_remove(change, "pg_name");
    } else {
        record_change_text(change, "pg_name", (struct record_text){options->group, strlen(options->group)});
    }
}

enum orr_status rewrite_trace(struct record_reader *reader, const struct rewrite_options *options, FILE *stream,
                              struct rewrite_counts *counts, struct mem *mem, struct orr_error *err)
{
    struct rewrite_counts own = *counts;
    struct record_pass pass;
    enum orr_status status = record_pass_open(&pass, reader, stream, mem, err);
    while (status == ORR_OK && pass.more) {
        own.nodes++;
        if (selects(options, &pass.facts)) {
            own.matched++;
            set_type(options, &pass.facts, &pass.change, &own);
            set_bytes(options, &pass.facts, &pass.change, &own);
            trace_rewrite_set_group(options, &pass.facts, &pass.change, &own);
        }
        status = record_pass_next(&pass, err);
    }
    record_pass_close(&pass);
    if (status == ORR_OK) {
        *counts = own;
    }
    return status;
}
