/* SPDX-License-Identifier: Apache-2.0 */
/* TensorFlow and JAX profiles: what must hold is in fuzz/converting.h. */
#include "convert/tensorflow.h"
#include "fuzz/converting.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_convert(data, size, NULL, tensorflow_read);
    return 0;
}
