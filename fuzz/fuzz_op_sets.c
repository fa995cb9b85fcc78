/* SPDX-License-Identifier: Apache-2.0 */
/* Files of operator data, unpacked. Besides not crashing: a refusal is one printable line, and every shape has
 * its place in what was read. */
#include <math.h>

#include "compute/op_set.h"
#include "fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct fuzz_reading reading;
    struct op_sets sets = {.mem = {.limit = 64U << 20}};
    fuzz_reading_begin(&reading);
    enum orr_status status = op_sets_parse(&sets, "input", (const char *)bytes, size, &reading.err);
    fuzz_check_status(&reading, status);
    for (uint32_t i = 0; status == ORR_OK && i < sets.count; i++) {
        const struct op_set *set = sets.list[i];
        const struct orr_op op = {.kind = set->kind, .dtype = set->dtype, .dims = {64, 512, 16, 8, 3, 1}};
        double at[OP_AXES] = {0};
        struct orr_op near;
        (void)op_coordinates(&op, at);
        struct op_place place = op_set_place(set, at);
        if (!isfinite(place.residual) || place.cell >= set->cell_count) {
            abort();
        }
        (void)op_set_nearest(set, place.cell, &near);
    }
    op_sets_free(&sets);
    fuzz_reading_end(&reading);
    return 0;
}
