/* SPDX-License-Identifier: Apache-2.0 */
/* Documents in a page: whatever their names and texts, they come out of it as they went in. */
#include "base/text_stream.h"
#include "report/page.h"
#include "tests/check.h"

#include <jansson.h>
#include <stdlib.h>

static const char plan_text[] = "{\"plans\": 3, \"best\": []}";

static char *page_written(const struct page *page)
{
    char *text = NULL;
    size_t size = 0;
    struct orr_error err = {0};
    FILE *stream = text_stream_open(&text, &size);
    CHECK_OK(page_write(page, stream, &err), &err);
    assert_int_equal(fclose(stream), 0);
    return text;
}

/* The text of the script element that begins with `opening`; its end is cut off in place. */
static char *element(char *html, const char *opening)
{
    char *at = strstr(html, opening);
    CHECK(at != NULL, "%s is there", opening);
    at = strchr(at, '>') + 1;
    char *end = strstr(at, "</script>");
    CHECK(end != NULL, "%s ends", opening);
    *end = '\0';
    return at;
}

static void a_document_comes_out_as_it_went_in(void **state)
{
    (void)state;
    static const char hostile[] = "{\"plans\": \"</script><script>alert(1)</script><!--<script>\", \"best\": "
                                  "\"\\u003c \xe4\xb8\xad\xe6\x96\x87 \\\" &amp; \"}";
    struct page page;
    struct orr_error err = {0};
    CHECK_OK(page_init(&page, NULL, 0, &err), &err);
    CHECK_OK(page_add(&page, "</script><b>\"name\"", hostile, strlen(hostile), &err), &err);
    char *html = page_written(&page);
    CHECK(strstr(html, "alert(1)</script>") == NULL, "nothing of a document ends its element");
    json_t *got = json_loads(element(html, "class=\"orrery-document\">"), 0, NULL);
    json_t *want = json_loads(hostile, 0, NULL);
    CHECK(got != NULL && json_equal(got, want), "the document is the same");
    json_decref(got);
    json_decref(want);
    json_t *list = json_loads(element(html, "id=\"orrery-report\">"), 0, NULL);
    json_t *first = json_array_get(json_object_get(list, "documents"), 0);
    CHECK_TEXT(json_string_value(json_object_get(first, "name")), "</script><b>\"name\"");
    CHECK_TEXT(json_string_value(json_object_get(first, "kind")), "plan");
    json_decref(list);
    free(html);
    page_free(&page);
}

static void a_document_without_tags_is_the_same_bytes(void **state)
{
    (void)state;
    struct page page;
    struct orr_error err = {0};
    CHECK_OK(page_init(&page, "zh-TW", 0, &err), &err);
    CHECK_OK(page_add(&page, "p.json", plan_text, strlen(plan_text), &err), &err);
    char *html = page_written(&page);
    char *again = page_written(&page);
    CHECK_TEXT(html, again);
    CHECK_CONTAINS(html, "\"language\": \"zh-TW\"");
    CHECK_CONTAINS(element(html, "class=\"orrery-document\">"), plan_text);
    free(again);
    free(html);
    page_free(&page);
}

static const struct {
    const char *text, *kind;
} known[] = {
    {"{\"rank_time\": {}, \"per_rank\": []}", "run"},
    {"{\"step_time_ns\": 1, \"framework\": \"megatron\"}", "train"},
    {"{\"keys\": [], \"results\": []}", "sweep"},
    {"{\"kind\": \"lab\", \"fingerprint\": \"\", \"inputs\": []}", "stored"},
    {"[{\"run\": 1, \"fingerprint\": \"\"}]", "store"},
    {"[]", "store"},
    {"{\"kind\": \"advice\", \"findings\": [], \"suggestions\": []}", "advice"},
    {"{\"traceEvents\": []}", "chrome"},
};

static void documents_are_told_apart_by_what_is_in_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        struct page page;
        struct orr_error err = {0};
        char want[40];
        CHECK_OK(page_init(&page, NULL, 0, &err), &err);
        CHECK_OK(page_add(&page, "x.json", known[i].text, strlen(known[i].text), &err), &err);
        char *html = page_written(&page);
        (void)snprintf(want, sizeof want, "{\"kind\": \"%s\"", known[i].kind);
        CHECK_CONTAINS(html, want);
        free(html);
        page_free(&page);
    }
}

static void what_is_no_result_is_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said;
    } bad[] = {
        {"{\"a\": 1}", "x.json: no result of Orrery: it begins with the key \"a\"; accepted: what run, simai"},
        {"[1]", "x.json: no result of Orrery: it is a list of 1"},
        {"{", "x.json:1:"},
        {"", "x.json"},
    };
    struct page page;
    struct orr_error err = {0};
    CHECK_OK(page_init(&page, NULL, 0, &err), &err);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        CHECK_STATUS(page_add(&page, "x.json", bad[i].text, strlen(bad[i].text), &err), ORR_EINVAL);
        CHECK_CONTAINS(err.text, bad[i].said);
    }
    CHECK_U64(page.count, 0, "nothing was added");
    page_free(&page);
    CHECK_STATUS(page_init(&page, "fr", 0, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "accepted: en, zh-TW");
}

static void a_predictor_is_a_script_that_stays_in_its_element(void **state)
{
    (void)state;
    static const char good[] = "// orrery predictor: x\nwindow.one = '<\\/script>';\n";
    static const char bad[] = "// orrery predictor: x\nwindow.one = '</SCRIPT>';\n";
    struct page page;
    struct orr_error err = {0};
    CHECK_OK(page_init(&page, NULL, 0, &err), &err);
    CHECK(page_is_script(good, strlen(good)) && !page_is_script(plan_text, strlen(plan_text)), "known by its head");
    CHECK_OK(page_add_script(&page, "p.js", good, strlen(good), &err), &err);
    char *html = page_written(&page);
    CHECK_CONTAINS(html, "<script>\n// orrery predictor: x\nwindow.one = '<\\/script>';\n</script>\n");
    free(html);
    CHECK_STATUS(page_add_script(&page, "p.js", bad, strlen(bad), &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "p.js: a predictor that no page can hold");
    page_free(&page);
}

TEST_MAIN(a_predictor_is_a_script_that_stays_in_its_element, a_document_comes_out_as_it_went_in,
          a_document_without_tags_is_the_same_bytes, documents_are_told_apart_by_what_is_in_them,
          what_is_no_result_is_refused_by_name)
