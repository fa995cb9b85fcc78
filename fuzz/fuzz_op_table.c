/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of operators. Besides not crashing: a refusal is one printable line, and whatever shape was read has a finite
 * time of at least nothing. */
#include <math.h>
#include <unistd.h>

#include "compute/op_data.h"
#include "compute/op_table.h"
#include "fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(struct fuzz_reading *reading, const char *path)
{
    const struct orr_op_table_options options = {.input = path, .op = "gemm", .device = "h100"};
    static struct orr_op_data *known;
    struct op_table table;
    if (known == NULL) {
        struct op_sets none = {.count = 0};
        if (op_data_make(&none, NULL, &known, &reading->err) != ORR_OK) {
            abort();
        }
    }
    enum orr_status status = op_table_open(&options, &reading->mem, &table, &reading->err);
    fuzz_check_status(reading, status);
    for (bool more = true; status == ORR_OK;) {
        struct op_row row;
        struct csv_row csv;
        struct orr_op_prediction p;
        status = op_table_next(&table, &row, &csv, &more, &reading->err);
        fuzz_check_status(reading, status);
        if (status != ORR_OK || !more) {
            break;
        }
        orr_op_predict(known, row.device, row.stack, &row.op, &p);
        if (!isfinite(p.us) || p.us < 0) {
            abort();
        }
    }
    op_table_close(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    char path[] = "/tmp/fuzz-op-table-XXXXXX";
    fuzz_reading_begin(&reading);
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd) != 0) {
        abort();
    }
    read_all(&reading, path);
    (void)unlink(path);
    fuzz_reading_end(&reading);
    return 0;
}
