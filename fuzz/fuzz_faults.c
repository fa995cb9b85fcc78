/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of faults. Besides not crashing: a refusal is one line, and faults that are taken begin before they end,
 * change something, and do not overlap on a link. */
#include "config/faults.h"
#include "fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    struct config_fault *faults = NULL;
    uint32_t count = 0;
    fuzz_reading_begin(&reading);
    enum orr_status status =
        config_parse_faults("fuzz", (const char *)data, size, &reading.arena, &faults, &count, &reading.err);
    fuzz_check_status(&reading, status);
    for (uint32_t i = 0; status == ORR_OK && i < count; i++) {
        const struct config_fault *fault = &faults[i];
        if (fault->from_ns >= fault->until_ns || !(fault->factor >= 0) || fault->factor == 1.0) {
            abort();
        }
    }
    fuzz_reading_end(&reading);
    return 0;
}
