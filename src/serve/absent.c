/* SPDX-License-Identifier: Apache-2.0 */
/* In place of serve/http.c where there was no libmicrohttpd to build it with. */
#include "base/error.h"
#include "orrery.h"

enum orr_status orr_serve_open(const struct orr_serve_options *options, struct orr_serve **serve, struct orr_error *err)
{
    (void)options, (void)serve;
    return error_set(err, ORR_EINVAL, "this Orrery was built without libmicrohttpd, which its server needs");
}

const char *orr_serve_url(const struct orr_serve *serve)
{
    (void)serve;
    return "";
}

void orr_serve_close(struct orr_serve *serve)
{
    (void)serve;
}
