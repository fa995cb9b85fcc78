/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.csv and calibration_all.csv. Besides fuzz/reading.h's: what was read and written is read as the same again.
 */
#include "fuzz/converting.h"
#include "lab/store/metrics_csv.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct table {
    struct metrics_row *rows;
    uint32_t count;
};

static enum orr_status read_table(const uint8_t *data, size_t size, struct fuzz_reading *reading, struct table *table)
{
    char path[64];
    uint64_t bad = 0;
    int file = fuzz_file(data, size, path);
    enum orr_status status =
        metrics_read(path, &reading->arena, &reading->notes, &table->rows, &table->count, &bad, &reading->err);
    fuzz_check_status(reading, status);
    (void)close(file);
    return status;
}

static void check_written(const struct table *table, enum metrics_order order, struct fuzz_reading *reading)
{
    char *text = NULL;
    size_t size = 0;
    struct table again = {NULL, 0};
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL) {
        abort();
    }
    metrics_write_header(order, "flow", stream);
    for (uint32_t i = 0; i < table->count; i++) {
        metrics_write_row(&table->rows[i], order, stream);
    }
    if (fclose(stream) != 0 || read_table((const uint8_t *)text, size, reading, &again) != ORR_OK ||
        again.count != table->count) {
        abort();
    }
    for (uint32_t i = 0; i < table->count; i++) {
        for (unsigned k = 0; k < METRICS_COLUMN_COUNT; k++) {
            if (strcmp(table->rows[i].cells[k], again.rows[i].cells[k]) != 0) {
                abort();
            }
        }
        if (!metrics_same_numbers(&table->rows[i], &again.rows[i])) {
            abort();
        }
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    struct table table = {NULL, 0};
    fuzz_reading_begin(&reading);
    reading.mem.limit = 0; /* rows are small multiples of the input; the check below must not run out */
    if (read_table(data, size, &reading, &table) == ORR_OK) {
        check_written(&table, METRICS_ORDER_CALIBRATION, &reading);
        check_written(&table, METRICS_ORDER_METRICS, &reading);
    }
    fuzz_reading_end(&reading);
    return 0;
}
