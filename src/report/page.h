/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page of results: the template that web/ builds and a list of JSON documents put into it, each in a script element
 * that holds no script. A document is recognised by the keys it must have, so that files written before documents named
 * their kind are known too. What is in a document is the page's business; here it is bytes, checked to be JSON.
 *
 * Owns the bytes of its documents, on one account of memory. Knows neither runs nor stores.
 */
#ifndef ORR_REPORT_PAGE_H
#define ORR_REPORT_PAGE_H

#include <stdio.h>

#include "base/arena.h"

/* What the page can draw: its word, and a key or two that every such document has. A list of runs has none. */
#define PAGE_KINDS(X)                                                                                                  \
    X(RUN, "run", "rank_time", "per_rank")                                                                             \
    X(TRAIN, "train", "step_time_ns", "framework")                                                                     \
    X(PLAN, "plan", "plans", "best")                                                                                   \
    X(SWEEP, "sweep", "keys", "results")                                                                               \
    X(STORED, "stored", "fingerprint", "inputs")                                                                       \
    X(DIFFERENCE, "difference", "before", "results")                                                                   \
    X(ADVICE, "advice", "findings", "suggestions")                                                                     \
    X(TIMELINE, "timeline", "columns", "tracks")                                                                       \
    X(MACHINE, "machine", "boxes", "lines")                                                                            \
    X(TIMES, "times", "series", "machine")                                                                             \
    X(CHROME, "chrome", "traceEvents", "traceEvents")                                                                  \
    X(STORE, "store", NULL, NULL)

enum page_kind {
#define PAGE_X(symbol, word, key, other) PAGE_##symbol,
    PAGE_KINDS(PAGE_X)
#undef PAGE_X
        PAGE_KIND_COUNT
};

struct page_document {
    enum page_kind kind;
    const char *name, *command; /* command: NULL where not told */
    const char *json;
    size_t size;
    struct page_document *next;
};

struct page {
    struct mem mem;
    struct arena arena;
    const char *language; /* "en", "zh-TW" */
    const char *command;  /* of what is added next */
    const char *script;   /* that predicts steps in the page (tools/wasm), or NULL */
    struct page_document *first, *last;
    size_t count;
};

/* `language` NULL: "en"; ORR_EINVAL names those there are. */
ORR_MUST_CHECK enum orr_status page_init(struct page *page, const char *language, uint64_t memory_limit,
                                         struct orr_error *err);
void page_free(struct page *page);

/* The bytes are copied. ORR_EINVAL: no JSON, or nothing that the page draws; the line begins with `name`. */
ORR_MUST_CHECK enum orr_status page_add(struct page *page, const char *name, const char *json, size_t size,
                                        struct orr_error *err);
/* The same for what our own writers made: neither checked nor recognised. */
ORR_MUST_CHECK enum orr_status page_add_made(struct page *page, enum page_kind kind, const char *name, const char *json,
                                             size_t size, struct orr_error *err);

/* Whether the bytes are such a script, by their beginning. */
bool page_is_script(const char *text, size_t size);
/* The bytes are copied. ORR_EINVAL: they would end the element they stand in. */
ORR_MUST_CHECK enum orr_status page_add_script(struct page *page, const char *name, const char *text, size_t size,
                                               struct orr_error *err);

/* Write errors stay with the stream; ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status page_write(const struct page *page, FILE *stream, struct orr_error *err);

#endif
