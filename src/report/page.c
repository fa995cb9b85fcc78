/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The template has one place for documents, a comment. Each goes into a script element of a type that browsers do not
 * run, whose text ends at the first "</script": so every '<' of a document, which JSON has in strings only, is written
 * as its escape, and a name that looks like a tag stays a name. The first element says what the others are.
 */
#include "report/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/text_stream.h"
#include "io/json.h"
#include "io/json_write.h"
#include "io/kind.h"
#include "page_template.h"

static const char page_place[] = "<!-- orrery documents -->";

static const struct {
    const char *word, *key, *other;
} page_kinds[] = {
#define PAGE_X(symbol, word, key, other) {word, key, other},
    PAGE_KINDS(PAGE_X)
#undef PAGE_X
};

enum orr_status page_init(struct page *page, const char *language, uint64_t memory_limit, struct orr_error *err)
{
    static const char *const languages[] = {"en", "zh-TW"};
    *page = (struct page){.mem.limit = memory_limit};
    arena_init(&page->arena, &page->mem);
    for (size_t i = 0; i < sizeof languages / sizeof languages[0]; i++) {
        if (strcmp(language != NULL ? language : "en", languages[i]) == 0) {
            page->language = languages[i];
            return ORR_OK;
        }
    }
    return error_set(err, ORR_EINVAL, "the page is not written in \"%.20s\"; accepted: en, zh-TW", language);
}

void page_free(struct page *page)
{
    arena_free(&page->arena);
    *page = (struct page){0};
}

enum orr_status page_add_made(struct page *page, enum page_kind kind, const char *name, const char *json, size_t size,
                              struct orr_error *err)
{
    struct page_document *document = arena_zalloc(&page->arena, sizeof *document);
    char *kept_name = arena_strndup(&page->arena, name, strlen(name));
    char *kept = arena_strndup(&page->arena, json, size);
    if (document == NULL || kept_name == NULL || kept == NULL) {
        return mem_error(&page->mem, "a document of the report", err);
    }
    *document =
        (struct page_document){.kind = kind, .name = kept_name, .command = page->command, .json = kept, .size = size};
    if (page->last == NULL) {
        page->first = document;
    } else {
        page->last->next = document;
    }
    page->last = document;
    page->count++;
    return ORR_OK;
}

/* PAGE_KIND_COUNT: none. */
static enum page_kind page_recognise(const struct io_value *root)
{
    if (root->kind == IO_LIST) {
        bool runs =
            root->count == 0 || (root->first->kind == IO_MAP && io_value_member(root->first, "fingerprint") != NULL);
        return runs ? PAGE_STORE : PAGE_KIND_COUNT;
    }
    for (int kind = 0; root->kind == IO_MAP && kind < PAGE_STORE; kind++) {
        if (io_value_member(root, page_kinds[kind].key) != NULL &&
            io_value_member(root, page_kinds[kind].other) != NULL) {
            return (enum page_kind)kind;
        }
    }
    return PAGE_KIND_COUNT;
}

enum orr_status page_add(struct page *page, const char *name, const char *json, size_t size, struct orr_error *err)
{
    struct arena arena;
    struct io_value *root = NULL;
    arena_init(&arena, &page->mem);
    enum orr_status status = io_json_parse(name, json, size, &arena, &root, err);
    enum page_kind kind = status == ORR_OK ? page_recognise(root) : PAGE_KIND_COUNT;
    enum file_kind other = file_kind_of(json, size);
    if (kind == PAGE_KIND_COUNT && other != FILE_KIND_UNKNOWN) {
        status = error_set(err, ORR_EINVAL, "%s: this is %s; expected a result of Orrery (JSON)", name,
                           file_kind_name(other));
    } else if (status == ORR_OK && kind == PAGE_KIND_COUNT) {
        char first[80];
        char found[40];
        if (root->kind == IO_MAP && root->first != NULL) {
            (void)snprintf(first, sizeof first, "it begins with the key \"%s\"",
                           io_text_printable(root->first->key, found, sizeof found));
        } else {
            (void)snprintf(first, sizeof first, "it is %s", io_value_describe(root, found, sizeof found));
        }
        status = error_set(err, ORR_EINVAL,
                           "%s: no result of Orrery: %s; accepted: what run, simai, train, plan, sweep, advise "
                           "or lab write as JSON, a timeline, the folder of a lab run, a result store",
                           name, first);
    }
    arena_free(&arena);
    return status == ORR_OK ? page_add_made(page, kind, name, json, size, err) : status;
}

static const char page_script_head[] = "// orrery predictor";

bool page_is_script(const char *text, size_t size)
{
    return size > sizeof page_script_head && memcmp(text, page_script_head, sizeof page_script_head - 1) == 0;
}

enum orr_status page_add_script(struct page *page, const char *name, const char *text, size_t size,
                                struct orr_error *err)
{
    char *copy = arena_strndup(&page->arena, text, size);
    if (copy == NULL) {
        return mem_error(&page->mem, "a document of the report", err);
    }
    if (strlen(copy) != size || strcasestr(copy, "</script") != NULL || strstr(copy, "<!--") != NULL) {
        return error_set(err, ORR_EINVAL, "%s: a predictor that no page can hold; make wasm makes one that it can",
                         name);
    }
    page->script = copy;
    return ORR_OK;
}

static void page_put_escaped(const char *text, size_t size, FILE *stream)
{
    while (size > 0) {
        const char *at = memchr(text, '<', size);
        size_t plain = at == NULL ? size : (size_t)(at - text);
        (void)fwrite(text, 1, plain, stream);
        if (at != NULL) {
            (void)fputs("\\u003c", stream);
            plain++;
        }
        text += plain;
        size -= plain;
    }
}

/* What the other elements are. Names are the user's: escaped like everything else, by way of memory. */
static enum orr_status page_write_list(const struct page *page, FILE *stream, struct orr_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *made = text_stream_open(&text, &size);
    struct json_writer json;
    if (made == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory making the report");
    }
    json_write_document(&json, made);
    json_write_member_string(&json, "generator", "orrery " ORR_VERSION);
    json_write_member_string(&json, "language", page->language);
    json_write_member_array(&json, "documents", false);
    for (const struct page_document *document = page->first; document != NULL; document = document->next) {
        json_write_object(&json, true);
        json_write_member_string(&json, "kind", page_kinds[document->kind].word);
        json_write_member_string(&json, "name", document->name);
        json_write_member_string(&json, "command", document->command);
        json_write_object_end(&json);
    }
    json_write_array_end(&json);
    json_write_document_end(&json);
    if (fclose(made) != 0) {
        return error_set(err, ORR_ENOMEM, "out of memory making the report");
    }
    (void)fputs("<script type=\"application/json\" id=\"orrery-report\">\n", stream);
    page_put_escaped(text, size, stream);
    (void)fputs("</script>\n", stream);
    free(text);
    return ORR_OK;
}

enum orr_status page_write(const struct page *page, FILE *stream, struct orr_error *err)
{
    const char *place = strstr(page_template, page_place);
    size_t before = place == NULL ? strlen(page_template) : (size_t)(place - page_template);
    (void)fwrite(page_template, 1, before, stream);
    enum orr_status status = page_write_list(page, stream, err);
    for (const struct page_document *document = page->first; document != NULL; document = document->next) {
        (void)fputs("<script type=\"application/json\" class=\"orrery-document\">\n", stream);
        page_put_escaped(document->json, document->size, stream);
        (void)fputs("</script>\n", stream);
    }
    if (page->script != NULL) {
        (void)fprintf(stream, "<script>\n%s</script>\n", page->script);
    }
    (void)fputs(place == NULL ? "" : place + sizeof page_place - 1, stream);
    return status;
}
