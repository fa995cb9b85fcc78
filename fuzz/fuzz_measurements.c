/* SPDX-License-Identifier: Apache-2.0 */
/* Files of network measurements, in all forms by content, and the fits through whatever they hold. Besides
 * fuzz/reading.h's: a refused file adds nothing, and a fit is finite. */
#include "calib/network.h"
#include "fuzz/converting.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_number(const struct calib_number *number)
{
    if (!isfinite(number->value) || number->value < 0 || number->low > number->high ||
        (number->known && !number->accepted && number->reason == NULL)) {
        abort();
    }
}

static void check_group(const struct calib_group *group)
{
    for (uint32_t r = 0; r < group->fit.range_count; r++) {
        const struct calib_range *range = &group->fit.ranges[r];
        if (!isfinite(range->latency_us) || !isfinite(range->us_per_byte) || range->latency_us < 0 ||
            range->us_per_byte < 0 || range->from_bytes > range->to_bytes ||
            !(calib_fit_time(&group->fit, range->from_bytes) > 0) || !isfinite(range->quality.spread)) {
            abort();
        }
    }
}

static void check_fit(const struct calib_points *points, struct fuzz_reading *reading)
{
    struct calib_network network;
    const struct calib_network_options options = {.steps = (enum calib_steps)(points->count % 3)};
    enum orr_status status =
        calib_network_fit(points, &options, &reading->arena, &reading->notes, &network, &reading->err);
    fuzz_check_status(reading, status);
    if (status != ORR_OK) {
        return;
    }
    for (uint32_t i = 0; i < network.group_count; i++) {
        check_group(&network.groups[i]);
    }
    check_number(&network.overhead_us);
    check_number(&network.link_latency_us);
    check_number(&network.message_link_us);
    check_number(&network.link_gbytes_per_s);
    check_number(&network.peer_gbytes_per_s);
    check_number(&network.memory_gbytes_per_s);
    check_number(&network.host_gbytes_per_s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    struct calib_points points = {0};
    struct calib_read_result result;
    struct calib_read_options options = CALIB_READ_OPTIONS_DEFAULT;
    char path[64];
    int file = fuzz_file(data, size, path);
    fuzz_reading_begin(&reading);
    options.ranks = size % 4 == 0 ? 8 : 0;
    options.type = size % 3 == 0 ? 0 : CALIB_TYPE_UNKNOWN;
    options.form = size % 5 == 0 ? (enum calib_form)(1 + size / 5 % 4) : CALIB_FORM_AUTO;
    enum orr_status status = calib_read(path, &options, &reading.mem, &reading.notes, &points, &result, &reading.err);
    fuzz_check_status(&reading, status);
    if (status != ORR_OK && points.count + points.copy_count != 0) {
        abort();
    }
    if (status == ORR_OK) {
        check_fit(&points, &reading);
    }
    calib_points_free(&points, &reading.mem);
    fuzz_reading_end(&reading);
    (void)close(file);
    return 0;
}
