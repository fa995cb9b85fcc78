/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a report prints, as a text to look into: `FILE *stream = printed_begin(); …; const char *text = printed_end();`.
 * The text is valid until the next one begins. printed_json looks at it as a document, so that a test need not say how
 * it is laid out.
 */
#ifndef ORR_TESTS_REPORT_PRINTED_H
#define ORR_TESTS_REPORT_PRINTED_H

#include <jansson.h>
#include <stdlib.h>

#include "tests/check.h"

static struct {
    char *text;
    size_t size;
    FILE *stream;
} printed;

static inline FILE *printed_begin(void)
{
    free(printed.text);
    printed.text = NULL;
    printed.stream = open_memstream(&printed.text, &printed.size);
    assert_non_null(printed.stream);
    return printed.stream;
}

static inline const char *printed_end(void)
{
    assert_int_equal(fclose(printed.stream), 0);
    return printed.text;
}

/* The document printed, to be given back with json_decref. */
static inline json_t *printed_json(void)
{
    json_error_t error;
    const char *text = printed_end();
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    CHECK(document != NULL, "no JSON: line %d: %s in\n%s", error.line, error.text, text);
    return document;
}

/* A value inside: "rows.1.time_ns"; numbers are places of arrays. */
static inline json_t *printed_at(json_t *document, const char *path)
{
    json_t *at = document;
    for (const char *word = path; *word != '\0' && at != NULL; word += word[0] == '.') {
        char key[64];
        size_t length = strcspn(word, ".");
        (void)snprintf(key, sizeof key, "%.*s", (int)length, word);
        at = json_is_array(at) ? json_array_get(at, strtoul(key, NULL, 10)) : json_object_get(at, key);
        word += length;
    }
    CHECK(at != NULL, "the document has no %s", path);
    return at;
}

static inline void printed_free(void)
{
    free(printed.text);
    printed.text = NULL;
}

#endif
