/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of runs. Besides not crashing: a refusal, of the table or of a row, is one printable line; a row has as many
 * fields as the header, and what it says was measured is a number above 0 or nothing. */
#include "fuzz/reading.h"
#include "train/runs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_row(struct fuzz_reading *reading, const struct runs *runs, const struct runs_row *row)
{
    struct orr_train_options defaults, options;
    orr_train_options_init(&defaults);
    if (row->is_ragged) {
        fuzz_check_line(row->status);
        return;
    }
    if (row->measured_s < 0 || row->measured_gb < 0) {
        abort();
    }
    for (uint32_t i = 0; i < runs->column_count; i++) {
        if (row->fields[i] == NULL) {
            abort();
        }
    }
    fuzz_check_status(reading, runs_row_options(runs, row, &defaults, &options, &reading->err));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    struct runs runs;
    fuzz_reading_begin(&reading);
    runs_init(&runs, &reading.mem);
    fuzz_check_status(&reading, runs_read_text(&runs, "input", (const char *)data, size, &reading.err));
    for (uint32_t i = 0; i < runs.row_count; i++) {
        check_row(&reading, &runs, &runs.rows[i]);
    }
    runs_free(&runs);
    fuzz_reading_end(&reading);
    return 0;
}
