/* SPDX-License-Identifier: Apache-2.0 */
/* A request: its target up to the first line break, its form behind that. Besides not crashing: a refusal is one
 * printable line; what is taken has no control characters; a route that takes it reads it into its options. */
#include <string.h>

#include "fuzz/reading.h"
#include "serve/room.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_serve_check(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char target[1 << 16];
    struct fuzz_reading reading;
    struct serve_request request = {0};
    const uint8_t *end = memchr(data, '\n', size);
    size_t length = end != NULL ? (size_t)(end - data) : size;
    union { /* of the largest that a route fills */
        struct orr_plan_options plan;
        char room[1 << 14];
    } options;
    if (length >= sizeof target) {
        return 0;
    }
    memcpy(target, data, length);
    target[length] = '\0';
    fuzz_reading_begin(&reading);
    enum orr_status status = serve_request_target(&request, target, &reading.err);
    if (status == ORR_OK && end != NULL) {
        status = serve_request_form(&request, (const char *)end + 1, size - length - 1, &reading.err);
    }
    fuzz_check_status(&reading, status);
    if (status == ORR_OK) {
        fuzz_serve_check(request.path);
        for (size_t i = 0; i < request.pair_count; i++) {
            fuzz_serve_check(request.pairs[i].name);
            fuzz_serve_check(request.pairs[i].value);
        }
        (void)serve_request_value(&request, "token");
        (void)serve_route_find(&request, SERVE_GET);
        if (request.route == NULL) {
            (void)serve_route_find(&request, SERVE_POST);
        }
    }
    /* A run's options keep lists of their own, which only its own answer gives back. */
    if (request.route != NULL && request.route->takes == NULL) {
        memset(&options, 0, sizeof options);
        fuzz_check_status(&reading, serve_request_read(&request, &options, &reading.err));
    }
    (void)serve_host_is_local(target);
    (void)serve_cookie_has(target, "orrery_1", "0123456789abcdef0123456789abcdef");
    serve_request_free(&request);
    fuzz_reading_end(&reading);
    return 0;
}
