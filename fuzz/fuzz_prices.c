/* SPDX-License-Identifier: Apache-2.0 */
/* Price lists. Besides not crashing: a refusal is one printable line, and what was read makes a bill whose rows add up
 * to its total, or a refusal of the same kind. */
#include "fuzz/reading.h"
#include "lab/cost/cost.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_bill(const struct cost_prices *prices, struct fuzz_reading *reading)
{
    struct cost_boxes boxes[] = {{true, 16, 16}, {false, 32, 8}};
    struct cost_cables cables[] = {{25000000000, 128}, {400000000000, 64}};
    const struct cost_count count = {.gpus = 128,
                                     .nvswitches = 16,
                                     .plain_switches = 2,
                                     .boxes = boxes,
                                     .box_count = 2,
                                     .cables = cables,
                                     .cable_count = 2};
    struct cost_bill bill;
    enum orr_status status =
        cost_bill_make(prices, &count, "machine", &reading->arena, &reading->notes, &bill, &reading->err);
    fuzz_check_status(reading, status);
    uint64_t sum = 0;
    for (uint32_t i = 0; status == ORR_OK && i < bill.row_count; i++) {
        sum += bill.rows[i].cost;
        fuzz_check_line(bill.rows[i].name);
    }
    if (status == ORR_OK && sum != bill.total) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    struct cost_prices prices;
    fuzz_reading_begin(&reading);
    enum orr_status status =
        cost_prices_parse("input", (const char *)data, size, &reading.arena, &reading.notes, &prices, &reading.err);
    fuzz_check_status(&reading, status);
    if (status == ORR_OK) {
        check_bill(&prices, &reading);
    }
    fuzz_reading_end(&reading);
    return 0;
}
