/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a JSON document. Whole or in small pieces, the parts and the error must be the same; and what we accept
 * jansson accepts and the other way round, less what only we read (NaN and Infinity, integers beyond 64 bits, reals
 * beyond a double, a NUL in a key) and what only it reads (more than 512 brackets inside each other, a raw NUL byte).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>
#include <xxhash.h>

#include "io/json_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

struct outcome {
    enum orr_status status;
    uint64_t hash; /* over all parts */
    bool only_ours;
    struct orr_error err;
};

static void item_add(struct outcome *outcome, const struct json_item *item, bool is_key)
{
    outcome->hash =
        XXH3_64bits_withSeed(item->text == NULL ? "" : item->text, item->length, outcome->hash + item->kind);
    if (item->kind == JSON_ITEM_INT || item->kind == JSON_ITEM_REAL) {
        outcome->hash = XXH3_64bits_withSeed(&item->value, sizeof item->value, outcome->hash);
    }
    bool infinite = item->kind == JSON_ITEM_REAL && !isfinite(item->value.real);
    bool nul = is_key && item->text != NULL && memchr(item->text, 0, item->length) != NULL;
    outcome->only_ours = outcome->only_ours || infinite || nul || item->kind == JSON_ITEM_BIG;
}

/* Every item of a part; which strings are keys is told by walking with the containers' ends. */
static void part_add(struct outcome *outcome, const struct json_part *part)
{
    uint64_t place[] = {part->index, part->is_element, part->is_empty, part->offset, part->length};
    outcome->hash = XXH3_64bits_withSeed(place, sizeof place, outcome->hash);
    outcome->hash = XXH3_64bits_withSeed(part->key, strlen(part->key), outcome->hash);
    if (part->item == NULL) {
        return;
    }
    for (uint32_t i = 0; i < part->item->span; i++) {
        const struct json_item *item = &part->item[i];
        if (item->span == 0 || item->span > part->item->span - i) {
            abort();
        }
        item_add(outcome, item, false);
        if (item->kind == JSON_ITEM_OBJECT) {
            for (const struct json_item *key = json_item_first(item); key != json_item_end(item);
                 key = json_item_next(key + 1)) {
                if (key->kind != JSON_ITEM_STRING) {
                    abort();
                }
                item_add(outcome, key, true);
            }
        }
    }
}

static struct outcome read_parts(const uint8_t *bytes, size_t size, unsigned flags)
{
    static const char *const arrays[] = {"traceEvents", "nodes", "", NULL};
    struct mem mem = {.limit = 256u << 20};
    struct outcome outcome = {0};
    struct json_stream *stream = NULL;
    outcome.status = json_stream_open_bytes(bytes, size, "input", arrays, flags, &mem, &stream, &outcome.err);
    bool more = outcome.status == ORR_OK;
    while (more) {
        struct json_part part = {0};
        outcome.status = json_stream_next(stream, &part, &more, &outcome.err);
        more = more && outcome.status == ORR_OK;
        if (more) {
            part_add(&outcome, &part);
        }
    }
    json_stream_close(stream);
    if (mem.used != 0 || (outcome.status != ORR_OK && outcome.err.text[0] == '\0')) {
        abort();
    }
    return outcome;
}

static void compare_with_jansson(const uint8_t *bytes, size_t size, const struct outcome *ours)
{
    json_error_t error;
    json_t *theirs = json_loadb((const char *)bytes, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    bool accepted = ours->status == ORR_OK;
    bool deep = !accepted && strstr(ours->err.text, "512 brackets") != NULL;
    if ((theirs != NULL) != accepted && !ours->only_ours && !deep) {
        bool range = theirs == NULL && (json_error_code(&error) == json_error_numeric_overflow ||
                                        json_error_code(&error) == json_error_null_byte_in_key);
        if (!range) {
            (void)fprintf(stderr, "ours: %s; jansson: %s\n", accepted ? "accepted" : ours->err.text,
                          theirs != NULL ? "accepted" : error.text);
            abort();
        }
    }
    json_decref(theirs);
}

/* The same line and complaint; what is shown of the text behind it ends where the window ended. */
static bool same_error(const char *a, const char *b)
{
    size_t same = 0;
    while (a[same] != '\0' && a[same] == b[same]) {
        same++;
    }
    const char *found = strstr(a, ", found \"");
    const char *at = strstr(a, ", at \"");
    const char *shown = found == NULL || (at != NULL && at < found) ? at : found;
    return a[same] == b[same] || (shown != NULL && same > (size_t)(shown - a));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    for (unsigned flags = 0; flags <= JSON_STREAM_MAY_BE_CUT; flags++) {
        struct outcome whole = read_parts(bytes, size, flags);
        struct outcome pieces = read_parts(bytes, size, flags | JSON_STREAM_SMALL_WINDOW);
        if (whole.status != pieces.status || whole.hash != pieces.hash ||
            (whole.status != ORR_OK && !same_error(whole.err.text, pieces.err.text))) {
            (void)fprintf(stderr, "whole: %s; in pieces: %s\n", whole.status == ORR_OK ? "accepted" : whole.err.text,
                          pieces.status == ORR_OK ? "accepted" : pieces.err.text);
            abort();
        }
        if (flags == 0 && memchr(bytes, 0, size) == NULL) {
            compare_with_jansson(bytes, size, &whole);
        }
    }
    return 0;
}
