/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a PyTorch host or linked trace: read, repaired where it can be, every node read again, and converted as
 * Chakra does it with its replay. Besides not crashing: a refusal is one printable line, and nothing stays in the
 * account. The reader takes a path, so the bytes lie in a nameless file. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compat/chakra/convert.h"
#include "convert/pytorch/host/host.h"
#include "fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_nodes(const char *path, struct fuzz_reading *reading)
{
    struct host_trace *trace = NULL;
    const struct json_item *item = NULL;
    enum orr_status status = host_read(path, &reading->mem, &reading->notes, &trace, &reading->err);
    fuzz_check_status(reading, status);
    for (uint32_t i = 0; status == ORR_OK && i < trace->node_count; i++) {
        if (host_node_json(trace, i, &item, &reading->err) != ORR_OK || item->kind != JSON_ITEM_OBJECT) {
            abort(); /* it was read before */
        }
    }
    host_free(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int file = memfd_create("host", 0);
    FILE *nowhere = fopen("/dev/null", "w");
    if (file < 0 || nowhere == NULL || write(file, data, size) != (ssize_t)size) {
        abort();
    }
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    struct fuzz_reading reading;
    struct convert_summary summary = {0};
    fuzz_reading_begin(&reading);
    read_nodes(path, &reading);
    struct convert_request request = {.input = path,
                                      .output = "/dev/null",
                                      .passes = 1,
                                      .replay = nowhere,
                                      .mem = &reading.mem,
                                      .notes = &reading.notes};
    fuzz_check_status(&reading, pytorch_convert_compat(&request, &summary, &reading.err));
    fuzz_reading_end(&reading);
    (void)fclose(nowhere);
    (void)close(file);
    return 0;
}
