/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding is in place: a decoded text is never longer than what it was written as. */
#include "serve/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static int request_hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* `text` up to its NUL. Controls are refused encoded or not, and so is what cannot be UTF-8. */
static enum orr_status request_decode(char *text, bool plus_is_blank, struct orr_error *err)
{
    char *to = text;
    for (const char *at = text; *at != '\0'; at++) {
        unsigned char byte = (unsigned char)*at;
        if (byte == '%') {
            int high = request_hex(at[1]), low = high < 0 ? -1 : request_hex(at[2]);
            if (low < 0) {
                return error_set(err, ORR_EINVAL, "a %% without two hexadecimal digits behind it");
            }
            byte = (unsigned char)(16 * high + low);
            at += 2;
        } else if (byte == '+' && plus_is_blank) {
            byte = ' ';
        }
        if (byte < 0x20 || byte == 0x7f || byte == 0xc0 || byte == 0xc1 || byte > 0xf4) {
            return error_set(err, ORR_EINVAL, "a byte that no text has: 0x%02x", byte);
        }
        *to++ = (char)byte;
    }
    *to = '\0';
    return ORR_OK;
}

static enum orr_status request_add(struct serve_request *request, char *name, char *value, struct orr_error *err)
{
    enum orr_status status = request_decode(name, true, err);
    if (status == ORR_OK) {
        status = request_decode(value, true, err);
    }
    for (size_t i = 0; status == ORR_OK && i < request->pair_count; i++) {
        if (strcmp(request->pairs[i].name, name) == 0) {
            status = error_set(err, ORR_EINVAL, "parameter '%.60s' is given twice", name);
        }
    }
    if (status == ORR_OK && request->pair_count == SERVE_PAIRS_MOST) {
        status = error_set(err, ORR_ERANGE, "more than %d parameters", SERVE_PAIRS_MOST);
    }
    if (status == ORR_OK) {
        request->pairs[request->pair_count++] = (struct serve_pair){.name = name, .value = value};
    }
    return status;
}

/* "a=1&b=2"; empty pieces are passed over. */
static enum orr_status request_pairs(struct serve_request *request, char *text, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    while (text != NULL && status == ORR_OK) {
        char *next = strchr(text, '&');
        if (next != NULL) {
            *next++ = '\0';
        }
        char *value = strchr(text, '=');
        if (value != NULL) {
            *value++ = '\0';
        } else {
            value = text + strlen(text);
        }
        if (*text != '\0') {
            status = request_add(request, text, value, err);
        }
        text = next;
    }
    return status;
}

static enum orr_status request_keep(struct serve_request *request, unsigned which, const char *bytes, size_t size,
                                    struct orr_error *err)
{
    free(request->texts[which]);
    request->texts[which] = malloc(size + 1);
    if (request->texts[which] == NULL) {
        return error_set(err, ORR_ENOMEM, "no memory for a request of %zu bytes", size);
    }
    memcpy(request->texts[which], bytes, size);
    request->texts[which][size] = '\0';
    return ORR_OK;
}

enum orr_status serve_request_target(struct serve_request *request, const char *target, struct orr_error *err)
{
    size_t size = strlen(target);
    if (size > SERVE_TARGET_MOST) {
        return error_set(err, ORR_ERANGE, "an address of %zu bytes; at most %d are read", size, SERVE_TARGET_MOST);
    }
    if (target[0] != '/') {
        return error_set(err, ORR_EINVAL, "an address that does not begin with /");
    }
    enum orr_status status = request_keep(request, 0, target, size, err);
    if (status != ORR_OK) {
        return status;
    }
    char *query = strchr(request->texts[0], '?');
    if (query != NULL) {
        *query++ = '\0';
    }
    request->path = request->texts[0];
    status = request_decode(request->texts[0], false, err);
    return status == ORR_OK ? request_pairs(request, query, err) : status;
}

enum orr_status serve_request_form(struct serve_request *request, const char *body, size_t size, struct orr_error *err)
{
    if (size > SERVE_BODY_MOST) {
        return error_set(err, ORR_ERANGE, "a body of %zu bytes; at most %d are read", size, SERVE_BODY_MOST);
    }
    if (memchr(body, '\0', size) != NULL) {
        return error_set(err, ORR_EINVAL, "a byte that no text has: 0x00");
    }
    enum orr_status status = request_keep(request, 1, body, size, err);
    return status == ORR_OK ? request_pairs(request, request->texts[1], err) : status;
}

void serve_request_free(struct serve_request *request)
{
    free(request->texts[0]);
    free(request->texts[1]);
    *request = (struct serve_request){0};
}

const char *serve_request_value(struct serve_request *request, const char *name)
{
    for (size_t i = 0; i < request->pair_count; i++) {
        if (strcmp(request->pairs[i].name, name) == 0) {
            request->pairs[i].is_used = true;
            return request->pairs[i].value;
        }
    }
    return NULL;
}

/* ---- who sent it ---- */

bool serve_host_is_local(const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    for (size_t i = 0; host != NULL && i < sizeof names / sizeof names[0]; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(host, names[i], length) == 0 &&
            (host[length] == '\0' || (host[length] == ':' && host[length + 1] != '\0' &&
                                      strspn(host + length + 1, "0123456789") == strlen(host + length + 1)))) {
            return true;
        }
    }
    return false;
}

bool serve_origin_is_host(const char *origin, const char *host)
{
    static const char scheme[] = "http://";
    return host != NULL && strncmp(origin, scheme, sizeof scheme - 1) == 0 &&
           strcmp(origin + sizeof scheme - 1, host) == 0;
}

enum orr_status serve_token_make(char token[SERVE_TOKEN + 1], struct orr_error *err)
{
    static const char letters[] = "0123456789abcdefghijklmnopqrstuv"; /* 5 bits each */
    unsigned char bytes[SERVE_TOKEN];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        return error_system(err, errno, "no random numbers for a token");
    }
    for (size_t i = 0; i < SERVE_TOKEN; i++) {
        token[i] = letters[bytes[i] & 31];
    }
    token[SERVE_TOKEN] = '\0';
    return ORR_OK;
}

bool serve_token_is(const char *token, const char *given)
{
    if (given == NULL || strlen(given) != SERVE_TOKEN) {
        return false;
    }
    volatile unsigned char different = 0;
    for (size_t i = 0; i < SERVE_TOKEN; i++) {
        different = (unsigned char)(different | (token[i] ^ given[i]));
    }
    return different == 0;
}

bool serve_cookie_has(const char *header, const char *name, const char *token)
{
    size_t length = strlen(name);
    for (const char *at = header; at != NULL; at = strchr(at, ';')) {
        at += strspn(at, "; ");
        if (strncmp(at, name, length) == 0 && at[length] == '=') {
            char given[SERVE_TOKEN + 2];
            const char *value = at + length + 1;
            (void)snprintf(given, sizeof given, "%.*s", (int)strcspn(value, "; "), value);
            return serve_token_is(token, given);
        }
    }
    return false;
}
