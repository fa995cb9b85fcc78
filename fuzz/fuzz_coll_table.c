/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of measured collectives: rows settled and predicted, series made and compared. Besides fuzz/reading.h's: a
 * prediction is a finite time above 0, and errors are numbers. */
#include <math.h>

#include "calib/coll_compare.h"
#include "fuzz/converting.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_row(const struct coll_item *item)
{
    struct orr_coll_answer answer;
    struct orr_error err;
    if (timing_estimate(&item->row.machine, &item->row.question, &answer, &err) != ORR_OK) {
        fuzz_check_line(err.text);
    } else if (!(answer.us > 0) || !isfinite(answer.us)) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    struct coll_rows rows;
    struct coll_compared compared;
    char path[64];
    int file = fuzz_file(data, size, path);
    const char *const paths[] = {path};
    fuzz_reading_begin(&reading);
    enum orr_status status = coll_rows_read(paths, 1, &reading.arena, &reading.mem, &rows, &reading.err);
    fuzz_check_status(&reading, status);
    if (status == ORR_OK) {
        for (uint32_t i = 0; i < rows.count; i++) {
            check_row(&rows.items[i]);
        }
        status = coll_compare(&rows, &reading.arena, &compared, &reading.err);
        fuzz_check_status(&reading, status);
        for (uint32_t i = 0; status == ORR_OK && i < compared.machine_count; i++) {
            if (isnan(compared.machines[i].all.mean)) {
                abort();
            }
        }
        coll_rows_free(&rows, &reading.mem);
    }
    fuzz_reading_end(&reading);
    (void)close(file);
    return 0;
}
