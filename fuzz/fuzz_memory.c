/* SPDX-License-Identifier: Apache-2.0 */
/* Remote memory files. Besides not crashing: a refusal is one printable line, and nothing stays in the account. */
#include "config/config.h"
#include "fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    fuzz_reading_begin(&reading);
    struct sim_memory memory;
    fuzz_check_status(&reading,
                      config_parse_memory("input", (const char *)data, size, &reading.notes, &memory, &reading.err));
    fuzz_reading_end(&reading);
    return 0;
}
