/* SPDX-License-Identifier: Apache-2.0 */
/* Chakra's jsonizer, visualizer and timeline on any bytes. Besides not crashing: a refusal is one printable line, and
 * nothing stays in the account. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compat/chakra/jsonizer.h"
#include "compat/chakra/timeline.h"
#include "compat/chakra/visualizer.h"
#include "fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TOOLS = 4 };

static enum orr_status run(unsigned tool, const char *path, struct fuzz_reading *reading, FILE *nothing)
{
    struct timeline timeline = {path, "/dev/null", 4, 1500};
    switch (tool) {
    case 0:
        return jsonizer_write(path, "/dev/null", &reading->mem, &reading->notes, &reading->err);
    case 1:
        return visualizer_dot(path, nothing, &reading->mem, &reading->err);
    case 2:
        return visualizer_graphml(path, nothing, &reading->mem, &reading->err);
    default:
        return timeline_write(&timeline, &reading->mem, &reading->err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[32];
    FILE *nothing = fopen("/dev/null", "we");
    int descriptor = memfd_create("input", MFD_CLOEXEC);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    if (nothing == NULL || descriptor < 0 || write(descriptor, data, size) != (ssize_t)size) {
        abort();
    }
    for (unsigned tool = 0; tool < TOOLS; tool++) {
        struct fuzz_reading reading;
        fuzz_reading_begin(&reading);
        fuzz_check_status(&reading, run(tool, path, &reading, nothing));
        fuzz_reading_end(&reading);
    }
    (void)close(descriptor);
    (void)fclose(nothing);
    return 0;
}
