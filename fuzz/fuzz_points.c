/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a point of a sweep that another process has sent: it is refused, or written again as it was read. */
#include <stdlib.h>
#include <string.h>

#include "lab/sweep/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct mem mem = {0};
    struct etz_bytes again = {.mem = &mem};
    struct etz_bytes third = {.mem = &mem};
    struct sweep_made *made = sweep_wire_take(bytes, size);
    if (made != NULL) {
        if (!sweep_wire_put(made, &again)) {
            abort();
        }
        struct sweep_made *second = sweep_wire_take(again.at, again.size);
        if (second == NULL || !sweep_wire_put(second, &third) || third.size != again.size ||
            memcmp(third.at, again.at, again.size) != 0) {
            abort();
        }
        sweep_made_free(second);
    }
    sweep_made_free(made);
    etz_bytes_free(&again);
    etz_bytes_free(&third);
    return 0;
}
