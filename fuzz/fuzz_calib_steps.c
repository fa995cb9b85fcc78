/* SPDX-License-Identifier: Apache-2.0 */
/* Files of measured steps (small JSON documents and device traces), and calibration files. Besides fuzz/reading.h's:
 * times that come out are above 0 and finite, and a calibration that was read can be reported. */
#include "calib/file.h"
#include "calib/report.h"
#include "calib/steps.h"
#include "fuzz/converting.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_measured(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    struct calib_measured measured;
    char path[64];
    fuzz_reading_begin(&reading);
    int file = fuzz_file(data, size, path);
    enum orr_status status = calib_measured_read(path, &reading.arena, &reading.notes, &measured, &reading.err);
    fuzz_check_status(&reading, status);
    if (status == ORR_OK && measured.samples > 0 &&
        (!(measured.median_ms > 0) || !isfinite(measured.median_ms) || measured.step_count == 0)) {
        abort();
    }
    (void)close(file);
    fuzz_reading_end(&reading);
}

static void read_calibration(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    struct calib calib;
    char *text = NULL;
    size_t length = 0;
    fuzz_reading_begin(&reading);
    enum orr_status status = calib_file_parse("calib", (const char *)data, size, &reading.arena, &calib, &reading.err);
    fuzz_check_status(&reading, status);
    FILE *stream = status == ORR_OK ? open_memstream(&text, &length) : NULL;
    if (stream != NULL) {
        calib_report_put(&calib, stream);
        calib_report_prediction(&calib, 10, stream);
        (void)fclose(stream);
        free(text);
    }
    fuzz_reading_end(&reading);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_measured(data, size);
    read_calibration(data, size);
    return 0;
}
