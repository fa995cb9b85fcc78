/* SPDX-License-Identifier: Apache-2.0 */
/* What is taken of a request's bytes, and what is not. */
#include "serve/request.h"
#include "serve/room.h"
#include "tests/check.h"

static struct orr_error err;

static void an_address_is_decoded_once(void **state)
{
    (void)state;
    struct serve_request request = {0};
    CHECK_OK(serve_request_target(&request, "/a%20b+c?x=1%2B1&y=a+b&z&&w=%E4%BD%A0%253f", &err), &err);
    CHECK_TEXT(request.path, "/a b+c");
    CHECK_TEXT(serve_request_value(&request, "x"), "1+1");
    CHECK_TEXT(serve_request_value(&request, "y"), "a b");
    CHECK_TEXT(serve_request_value(&request, "z"), "");
    CHECK_TEXT(serve_request_value(&request, "w"), "\xE4\xBD\xA0%3f");
    CHECK(serve_request_value(&request, "v") == NULL && request.pair_count == 4, "no others");
    CHECK_OK(serve_request_form(&request, "v=2&u=3", 7, &err), &err);
    CHECK_TEXT(serve_request_value(&request, "u"), "3");
    CHECK(serve_request_form(&request, "x=2", 3, &err) == ORR_EINVAL, "x is in the address");
    CHECK_CONTAINS(err.text, "parameter 'x' is given twice");
    serve_request_free(&request);
}

static void what_is_not_well_formed_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",          "a",       "*",      "http://host/", "/%",     "/%2",
                                      "/%zz",      "/%00",    "/a%00b", "/?a=%00",      "/a\x01", "/%0d%0a",
                                      "/?a=1&a=2", "/%c0%ae", "/\xff",  "/%7f"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct serve_request request = {0};
        CHECK(serve_request_target(&request, bad[i], &err) == ORR_EINVAL, "\"%s\"", bad[i]);
        serve_request_free(&request);
    }
    struct serve_request request = {0};
    static char target[SERVE_TARGET_MOST + 2], body[SERVE_BODY_MOST + 1];
    memset(target, 'a', sizeof target - 1);
    target[0] = '/';
    CHECK(serve_request_target(&request, target, &err) == ORR_ERANGE, "too long");
    memset(body, 'b', sizeof body);
    CHECK(serve_request_form(&request, body, sizeof body, &err) == ORR_ERANGE, "too long");
    CHECK(serve_request_form(&request, "a=\0b", 4, &err) == ORR_EINVAL, "a NUL");
    size_t length = 1;
    for (unsigned i = 0; i <= SERVE_PAIRS_MOST; i++) {
        length += (size_t)snprintf(target + length, sizeof target - length, "%sp%u=", i == 0 ? "?" : "&", i);
    }
    CHECK(serve_request_target(&request, target, &err) == ORR_ERANGE, "too many");
    serve_request_free(&request);
}

static void only_names_of_this_machine_are_hosts(void **state)
{
    (void)state;
    static const char *const ours[] = {"127.0.0.1", "127.0.0.1:80", "localhost", "localhost:65535", "[::1]:1"};
    static const char *const others[] = {
        "",           "evil.example",  "127.0.0.1.evil.example", "localhost.evil.example",
        "127.0.0.1:", "127.0.0.1:80x", "localhost:80@evil",      "127.0.0.2"};
    for (size_t i = 0; i < COUNT_OF(ours); i++) {
        CHECK(serve_host_is_local(ours[i]), "%s", ours[i]);
    }
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        CHECK(!serve_host_is_local(others[i]), "%s", others[i]);
    }
    CHECK(!serve_host_is_local(NULL), "no header");
    CHECK(serve_origin_is_host("http://localhost:8080", "localhost:8080"), "the same");
    CHECK(!serve_origin_is_host("http://localhost:8081", "localhost:8080"), "another port");
    CHECK(!serve_origin_is_host("null", "localhost:8080") && !serve_origin_is_host("http://x", NULL), "nobody's");
}

static void a_token_is_whole_or_wrong(void **state)
{
    (void)state;
    char token[SERVE_TOKEN + 1], other[SERVE_TOKEN + 1], header[128];
    CHECK_OK(serve_token_make(token, &err), &err);
    CHECK_OK(serve_token_make(other, &err), &err);
    CHECK(strlen(token) == SERVE_TOKEN && strcmp(token, other) != 0, "%s, %s", token, other);
    CHECK(serve_token_is(token, token) && !serve_token_is(token, other) && !serve_token_is(token, NULL),
          "itself alone");
    char cut[SERVE_TOKEN + 2];
    (void)snprintf(cut, sizeof cut, "%.*s", SERVE_TOKEN - 1, token);
    CHECK(!serve_token_is(token, cut), "cut short");
    (void)snprintf(cut, sizeof cut, "%sx", token);
    CHECK(!serve_token_is(token, cut), "with more behind it");
    (void)snprintf(header, sizeof header, "a=b; orrery_1=%s; c=d", token);
    CHECK(serve_cookie_has(header, "orrery_1", token), "%s", header);
    CHECK(!serve_cookie_has(header, "orrery_2", token) && !serve_cookie_has(header, "orrery", token), "other names");
    CHECK(!serve_cookie_has(NULL, "orrery_1", token) && !serve_cookie_has("orrery_1", "orrery_1", token), "none");
}

static void a_path_finds_its_route_and_what_it_names(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        unsigned method, answer;
        const char *path, *word;
    } cases[] = {{"/api/jobs/7/events", SERVE_GET, SERVE_GET, "/api/jobs/{id}/events", "7"},
                 {"/api/jobs/7", SERVE_DELETE, SERVE_DELETE, "/api/jobs/{id}", "7"},
                 {"/files/a/b%20c.json", SERVE_GET, SERVE_GET, "/files/{path}", "a/b c.json"},
                 {"/api/plan", SERVE_GET, SERVE_POST, NULL, ""},
                 {"/api/jobs/7/8", SERVE_GET, 0, NULL, ""},
                 {"/api/jobs/", SERVE_GET, 0, NULL, ""},
                 {"/files/", SERVE_GET, 0, NULL, ""},
                 {"/api/train/", SERVE_GET, 0, NULL, ""}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct serve_request request = {0};
        CHECK_OK(serve_request_target(&request, cases[i].target, &err), &err);
        CHECK(serve_route_find(&request, cases[i].method) == cases[i].answer, "%s", cases[i].target);
        CHECK((request.route == NULL) == (cases[i].path == NULL), "%s", cases[i].target);
        if (cases[i].path != NULL) {
            CHECK_TEXT(request.route->path, cases[i].path);
        }
        CHECK_TEXT(request.word, cases[i].word);
        serve_request_free(&request);
    }
}

static void no_route_takes_a_parameter_that_names_a_file(void **state)
{
    (void)state;
    for (size_t i = 0; serve_route_at(i) != NULL; i++) {
        const struct serve_route *route = serve_route_at(i);
        for (const struct param_table *table = route->tables; table != NULL && table->rows != NULL; table++) {
            for (const struct param *row = table->rows; row->name != NULL; row++) {
                CHECK(row->kind != PARAM_PATH || !serve_route_has(route, table, row), "%s of %s", row->name,
                      route->path);
            }
        }
    }
}

TEST_MAIN(an_address_is_decoded_once, what_is_not_well_formed_is_refused, only_names_of_this_machine_are_hosts,
          a_token_is_whole_or_wrong, a_path_finds_its_route_and_what_it_names,
          no_route_takes_a_parameter_that_names_a_file)
