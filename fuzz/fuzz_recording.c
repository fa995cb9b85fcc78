/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a file that someone took for a recording: recognised for what it is or not, read as rocprofv3's where it
 * may be that, some steps of it read as Kineto's; refused in one printable line, and nothing stays in the account. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "convert/pytorch/kineto/rocprof.h"
#include "convert/pytorch/link/link.h"
#include "convert/recording.h"
#include "fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void link_it(struct fuzz_reading *reading, struct kineto_trace *trace)
{
    struct linked_trace linked;
    enum orr_status status = link_build(trace, NULL, &reading->mem, &reading->notes, &linked, &reading->err);
    fuzz_check_status(reading, status);
    if (status == ORR_OK) {
        linked_free(&linked);
    }
    kineto_free(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t steps[] = {1, 2};
    char path[64];
    struct fuzz_reading reading;
    struct recording_about about;
    struct kineto_trace *trace = NULL;
    int file = memfd_create("trace", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size) {
        abort();
    }
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    fuzz_reading_begin(&reading);
    enum orr_status status = recording_identify(path, &reading.mem, &about, &reading.err);
    fuzz_check_status(&reading, status);
    if (status == ORR_OK && about.kind == RECORDING_ROCPROF) {
        status = rocprof_read(path, &reading.mem, &reading.notes, &trace, &reading.err);
        fuzz_check_status(&reading, status);
    } else if (status == ORR_OK && about.kind == RECORDING_KINETO) {
        status = kineto_read_steps(path, steps, 1, &reading.mem, &reading.notes, &trace, &reading.err);
        fuzz_check_status(&reading, status);
    } else {
        status = ORR_EINVAL;
    }
    if (status == ORR_OK) {
        link_it(&reading, trace);
    }
    fuzz_reading_end(&reading);
    (void)close(file);
    return 0;
}
