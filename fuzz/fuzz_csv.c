/* SPDX-License-Identifier: Apache-2.0 */
/* Users' tables, with the columns the header names: what must hold is in fuzz/converting.h. */
#include "convert/csv.h"
#include "fuzz/converting.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_convert(data, size, NULL, csv_read);
    return 0;
}
