/* SPDX-License-Identifier: Apache-2.0 */
/* One line a difference; the node is named once, above its differences. */
#include <inttypes.h>

#include "io/json_write.h"
#include "report/edit_text.h"
#include "report/number.h"

static const char *const kind_words[] = {"removed", "added", "changed", "metadata"};

/* The writer of JSON has no state beyond one item: each is a flat object of its own. */
static void json_item(struct diff_text *text, const struct diff_item *item)
{
    struct json_writer writer;
    (void)fputs(text->told == 0 ? "\n    " : ",\n    ", text->stream);
    json_write_begin(&writer, text->stream);
    json_write_object(&writer, true);
    json_write_member_string(&writer, "difference", kind_words[item->kind]);
    if (item->kind != DIFF_METADATA) {
        json_write_member_u64(&writer, "id", item->id);
        json_write_member_string(&writer, "name", item->name);
    }
    if (item->what[0] != '\0') {
        json_write_member_string(&writer, "what", item->what);
    }
    json_write_member_string(&writer, "before", item->before);
    json_write_member_string(&writer, "after", item->after);
    json_write_object_end(&writer);
}

/* Texts come from files: what would move the cursor is shown as '?'. */
static void put_plain(FILE *stream, const char *text)
{
    for (; *text != '\0'; text++) {
        (void)fputc((unsigned char)*text < ' ' ? '?' : *text, stream);
    }
}

static void plain_item(struct diff_text *text, const struct diff_item *item)
{
    FILE *stream = text->stream;
    if (item->kind == DIFF_ADDED || item->kind == DIFF_REMOVED) {
        bool added = item->kind == DIFF_ADDED;
        (void)fprintf(stream, "%c node %" PRIu64 " \"", added ? '+' : '-', item->id);
        put_plain(stream, item->name);
        (void)fprintf(stream, "\" %s\n", added ? item->after : item->before);
        return;
    }
    if (!text->any || text->last_kind != item->kind || text->last_id != item->id) {
        if (item->kind == DIFF_METADATA) {
            (void)fputs("~ metadata\n", stream);
        } else {
            (void)fprintf(stream, "~ node %" PRIu64 " \"", item->id);
            put_plain(stream, item->name);
            (void)fputs("\"\n", stream);
        }
    }
    (void)fputs("    ", stream);
    put_plain(stream, item->what);
    (void)fputs(": ", stream);
    put_plain(stream, item->before);
    (void)fputs(" -> ", stream);
    put_plain(stream, item->after);
    (void)fputc('\n', stream);
}

void diff_text_begin(struct diff_text *text, const char *before, const char *after)
{
    if (!text->json) {
        return;
    }
    struct json_writer writer;
    (void)fputs("{\n  \"before\": ", text->stream);
    json_write_begin(&writer, text->stream);
    json_write_string(&writer, before);
    (void)fputs(",\n  \"after\": ", text->stream);
    json_write_begin(&writer, text->stream);
    json_write_string(&writer, after);
    (void)fputs(",\n  \"differences\": [", text->stream);
}

void diff_text_item(void *context, const struct diff_item *item)
{
    struct diff_text *text = context;
    if (text->limit != 0 && text->told >= text->limit) {
        text->told++;
        return;
    }
    if (text->json) {
        json_item(text, item);
    } else {
        plain_item(text, item);
    }
    text->told++;
    text->any = true;
    text->last_id = item->id;
    text->last_kind = item->kind;
}

static void json_end(const struct diff_text *text, const struct diff_counts *counts)
{
    const struct {
        const char *key;
        uint64_t value;
    } members[] = {
        {"nodes_before", counts->nodes_a},
        {"nodes_after", counts->nodes_b},
        {"added", counts->added},
        {"removed", counts->removed},
        {"changed", counts->changed},
        {"durations", counts->durations},
        {"sizes", counts->sizes},
        {"types", counts->types},
        {"dependencies", counts->dependencies},
        {"other", counts->others},
        {"duration_us_before", counts->duration_us_a},
        {"duration_us_after", counts->duration_us_b},
        {"comm_bytes_before", counts->bytes_a},
        {"comm_bytes_after", counts->bytes_b},
    };
    (void)fprintf(text->stream, "%s],\n", text->any ? "\n  " : "");
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        (void)fprintf(text->stream, "  \"%s\": %" PRIu64 ",\n", members[i].key, members[i].value);
    }
    (void)fprintf(text->stream, "  \"same\": %s\n}\n", diff_any(counts) ? "false" : "true");
}

void diff_text_end(struct diff_text *text, const struct diff_counts *counts)
{
    FILE *stream = text->stream;
    if (text->json) {
        json_end(text, counts);
        return;
    }
    if (text->limit != 0 && text->told > text->limit) {
        (void)fprintf(stream, "and %" PRIu64 " more differences\n", text->told - text->limit);
    }
    if (!diff_any(counts)) {
        (void)fprintf(stream, "The same: %" PRIu64 " nodes.\n", counts->nodes_a);
        return;
    }
    (void)fprintf(stream,
                  "%" PRIu64 " nodes -> %" PRIu64 ": %" PRIu64 " added, %" PRIu64 " removed, %" PRIu64 " changed\n",
                  counts->nodes_a, counts->nodes_b, counts->added, counts->removed, counts->changed);
    (void)fprintf(stream,
                  "changes: %" PRIu64 " durations, %" PRIu64 " sizes, %" PRIu64 " types, %" PRIu64
                  " dependencies, %" PRIu64 " other\n",
                  counts->durations, counts->sizes, counts->types, counts->dependencies, counts->others);
    (void)fprintf(stream,
                  "durations %" PRIu64 " us -> %" PRIu64 " us, communication %" PRIu64 " bytes -> %" PRIu64 " bytes\n",
                  counts->duration_us_a, counts->duration_us_b, counts->bytes_a, counts->bytes_b);
}
