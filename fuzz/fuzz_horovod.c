/* SPDX-License-Identifier: Apache-2.0 */
/* Horovod timelines: what must hold is in fuzz/converting.h. */
#include "convert/horovod.h"
#include "fuzz/converting.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_convert(data, size, NULL, horovod_read);
    return 0;
}
