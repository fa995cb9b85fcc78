/* SPDX-License-Identifier: Apache-2.0 */
/* SimAI's workload texts through the analytical mode in both ways of counting, and tables of achieved bandwidth (an
 * input that begins with "Size"). Besides not crashing: a refusal is one printable line, nothing stays in the account,
 * and where it is counted rightly the sums are numbers. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compat/simai/analytical.h"
#include "fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum orr_status count(const char *path, bool compat, struct fuzz_reading *reading)
{
    static const struct simai_ratios no_ratios;
    const struct simai_machine machine = {.gpus = 64,
                                          .gpus_per_server = 8,
                                          .nics_per_server = 4,
                                          .nvlink = 360,
                                          .nic = 48.5F,
                                          .overlap = {0.5F},
                                          .pp_overlap = 0.5F,
                                          .ratios = &no_ratios,
                                          .original = compat ? &simai_original : NULL};
    struct simai_text text;
    struct simai_analysis analysis;
    enum orr_status status = simai_text_read(path, &reading->mem, true, &text, &reading->err);
    if (status != ORR_OK) {
        return status;
    }
    status = simai_analysis_make(&machine, &text, &reading->mem, &reading->notes, &analysis, &reading->err);
    if (status == ORR_OK) {
        if (!compat && !isfinite(analysis.sums.total)) {
            abort();
        }
        simai_analysis_free(&analysis);
    }
    text_free(&text.workload);
    return status;
}

static enum orr_status tabulate(const char *path, struct fuzz_reading *reading)
{
    struct simai_ratios ratios = {.mem = &reading->mem};
    enum orr_status status = simai_ratio_read(path, &reading->mem, &ratios.tables[0], &reading->err);
    for (unsigned column = 1; status == ORR_OK && column < SIMAI_RATIO_COLUMNS; column++) {
        (void)simai_ratio_value(&ratios.tables[0], 1e8, column);
    }
    simai_ratios_free(&ratios);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[32];
    int descriptor = memfd_create("workload", MFD_CLOEXEC);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    if (descriptor < 0 || write(descriptor, data, size) != (ssize_t)size) {
        abort();
    }
    bool table = size > 4 && memcmp(data, "Size", 4) == 0;
    for (unsigned way = 0; way < 2; way++) {
        struct fuzz_reading reading;
        fuzz_reading_begin(&reading);
        fuzz_check_status(&reading, table ? tabulate(path, &reading) : count(path, way == 1, &reading));
        fuzz_reading_end(&reading);
    }
    (void)close(descriptor);
    return 0;
}
