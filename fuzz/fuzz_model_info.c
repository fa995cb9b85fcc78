/* SPDX-License-Identifier: Apache-2.0 */
/* What a recorder says of its model. Besides not crashing: a refusal is one printable line, and what was read is in the
 * range that composing counts on. */
#include "api/model_info.h"
#include "fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    struct model_info info = {0};
    fuzz_reading_begin(&reading);
    enum orr_status status = model_info_parse("input", (const char *)data, size, &reading.arena, &info, &reading.err);
    fuzz_check_status(&reading, status);
    if (status == ORR_OK &&
        (info.params == 0 || info.params > INT64_MAX || info.param_bytes > 8 || info.tp > 1 << 20)) {
        abort();
    }
    fuzz_reading_end(&reading);
    return 0;
}
