/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a device trace and as a host trace that someone wants to know the use of: read or refused in one
 * printable line, judged, and nothing stays in the account. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "convert/pytorch/ready/ready.h"
#include "fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct fuzz_reading reading;
    struct ready_run run;
    int file = memfd_create("trace", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size) {
        abort();
    }
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    struct import_pair pairs[] = {{.rank = 0, .host = path, .device = path}, {.rank = 1, .device = path}};
    fuzz_reading_begin(&reading);
    struct ready_request request = {
        .place = "fuzz", .tag = "", .pairs = pairs, .pair_count = 2, .chosen = size % 2 != 0};
    enum orr_status status = ready_check(&request, &reading.mem, &run, &reading.err);
    fuzz_check_status(&reading, status);
    if (status == ORR_OK) {
        for (uint32_t i = 0; i < run.finding_count; i++) {
            fuzz_check_line(run.findings[i].text);
        }
        ready_run_free(&run);
    }
    fuzz_reading_end(&reading);
    (void)close(file);
    return 0;
}
