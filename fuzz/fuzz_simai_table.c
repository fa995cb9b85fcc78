/* SPDX-License-Identifier: Apache-2.0 */
/* AICB's tables read back. Besides not crashing: a refusal is one printable line, and times are finite and not below 0.
 */
#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/reading.h"
#include "model/simai/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct simai_ratios none;
    const struct simai_machine machine = {
        .gpus = 64, .gpus_per_server = 8, .nics_per_server = 8, .nvlink = 360, .nic = 48, .ratios = &none};
    struct fuzz_reading reading;
    struct simai_table_sums sums;
    bool is_table = false;
    char path[32];
    int descriptor = memfd_create("table", MFD_CLOEXEC);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    if (descriptor < 0 || write(descriptor, data, size) != (ssize_t)size) {
        abort();
    }
    fuzz_reading_begin(&reading);
    FILE *filled = fopen("/dev/null", "w");
    fuzz_check_status(&reading, simai_table_detect(path, &reading.mem, &is_table, &reading.err));
    enum orr_status status = simai_table_time(&machine, path, &reading.mem, filled, &sums, &reading.err);
    fuzz_check_status(&reading, status);
    if (status == ORR_OK && (!is_table || !(sums.init_us >= 0) || !isfinite(sums.init_us))) {
        abort();
    }
    if (filled != NULL) {
        (void)fclose(filled);
    }
    fuzz_reading_end(&reading);
    (void)close(descriptor);
    return 0;
}
