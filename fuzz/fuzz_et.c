/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a Chakra ET file: both readers, the checks, the statistics and the writer must neither crash nor
 * disagree (tests/trace/agree.h says on what). */
#include <stdio.h>
#include <stdlib.h>

#include "tests/trace/agree.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *complaint = agree(bytes, size);
    if (complaint != NULL) {
        (void)fprintf(stderr, "%s\n", complaint);
        abort();
    }
    return 0;
}
