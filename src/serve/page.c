/* SPDX-License-Identifier: Apache-2.0 */
/* The page of web/ (src/live/), as web/build.mjs makes it and the build embeds it: three files, because a page that may
 * run no script but the server's own cannot have one inside. */
#include <string.h>

#include "live_page.h"
#include "serve/room.h"

enum orr_status serve_page(struct serve_room *room, struct serve_request *request, struct serve_answer *answer,
                           struct orr_error *err)
{
    static const struct {
        const char *path, *bytes;
        size_t size;
    } files[] = {{"/", live_html, sizeof live_html - 1},
                 {"/live.js", live_js, sizeof live_js - 1},
                 {"/live.css", live_css, sizeof live_css - 1}};
    (void)room;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (strcmp(request->path, files[i].path) == 0) {
            answer->bytes = files[i].bytes;
            answer->size = files[i].size;
            return ORR_OK;
        }
    }
    return error_set(err, ORR_EIO, "no such page");
}
