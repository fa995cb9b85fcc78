/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/room.h"

enum orr_status serve_page(struct serve_room *room, struct serve_request *request, struct serve_answer *answer,
                           struct orr_error *err)
{
    static const char page[] = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Orrery</title>"
                               "<p>Orrery answers here: <a href=\"/openapi.json\">/openapi.json</a></p></html>\n";
    (void)room, (void)request, (void)err;
    answer->bytes = page;
    answer->size = sizeof page - 1;
    return ORR_OK;
}
