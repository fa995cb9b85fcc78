/* SPDX-License-Identifier: Apache-2.0 */
/* Sweep files, and the texts of --vary. Besides not crashing: a refusal is one printable line, every point of what is
 * accepted has a value for every key, and nothing stays in the account. */
#include <string.h>

#include "fuzz/reading.h"
#include "lab/sweep/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct orr_sweep_plan *plan, enum orr_status status, struct orr_error *err)
{
    if (status == ORR_OK) {
        status = sweep_plan_finish(plan, err);
    }
    if (status != ORR_OK) {
        fuzz_check_line(err->text);
    }
    uint64_t points = status == ORR_OK ? orr_sweep_plan_point_count(plan) : 0;
    for (uint64_t point = 0; point < points; point += points / 7 + 1) {
        for (size_t key = 0; key < orr_sweep_plan_key_count(plan); key++) {
            fuzz_check_line(orr_sweep_plan_value(plan, point, key));
        }
    }
    sweep_plan_free(plan);
    if (plan->mem.used != 0) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct orr_sweep_plan plan;
    struct orr_error err = {0};
    sweep_plan_init(&plan);
    check(&plan, sweep_file_read(&plan, "input", (const char *)data, size, &err), &err);
    char *text = malloc(size + 1);
    if (text != NULL) {
        if (size > 0) {
            memcpy(text, data, size);
        }
        text[size] = '\0';
        sweep_plan_init(&plan);
        enum orr_status status = sweep_vary_read(&plan, text, 1, &err);
        plan.zip = size % 2 == 0;
        check(&plan, status, &err);
    }
    free(text);
    return 0;
}
