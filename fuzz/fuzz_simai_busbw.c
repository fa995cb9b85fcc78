/* SPDX-License-Identifier: Apache-2.0 */
/* Files of measured bus bandwidths. Besides not crashing: a refusal is one printable line, and what is read is above 0
 * or not given. */
#include <math.h>

#include "fuzz/reading.h"
#include "model/simai/busbw.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    struct simai_busbw busbw = {0};
    fuzz_reading_begin(&reading);
    fuzz_check_status(&reading, simai_busbw_parse("input", (const char *)data, size, &busbw, &reading.err));
    for (unsigned group = 0; group < SIMAI_GROUPS; group++) {
        for (unsigned op = 0; op < SIMAI_OPS; op++) {
            if (!(busbw.value[group][op] >= 0) || !isfinite(busbw.value[group][op])) {
                abort();
            }
        }
    }
    fuzz_reading_end(&reading);
    return 0;
}
