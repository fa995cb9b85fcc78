/* SPDX-License-Identifier: Apache-2.0 */
/* Machines in one line. Besides not crashing: a refusal is one printable line, what is accepted has links between nodes
 * that exist, and nothing stays in the account. */
#include <string.h>

#include "fuzz/reading.h"
#include "topo/make/make.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_made(const struct topo_made *made)
{
    uint64_t nodes = (uint64_t)made->hosts + made->nvswitches + made->switches;
    for (uint32_t i = 0; i < made->link_count; i++) {
        const struct topo_made_link *link = &made->links[i];
        if (link->a >= nodes || link->b >= nodes || link->a == link->b || link->class >= made->class_count) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    struct topo_settings settings = {.what = "input"};
    struct topo_made made;
    fuzz_reading_begin(&reading);
    reading.mem.limit = 4u << 20; /* no machine of a million links for each input */
    char *line = arena_strndup(&reading.arena, (const char *)data, size);
    if (line != NULL) {
        enum orr_status status = topo_make(line, &settings, &reading.notes, &made, &reading.mem, &reading.err);
        fuzz_check_status(&reading, status);
        if (status == ORR_OK) {
            check_made(&made);
            topo_made_free(&made);
        }
    }
    fuzz_reading_end(&reading);
    return 0;
}
