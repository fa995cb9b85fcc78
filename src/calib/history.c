/* SPDX-License-Identifier: Apache-2.0 */
/* A line a calibration: the history grows by a few a day, and what one wants to see is whether alpha drifts. */
#include "calib/history.h"

#include <inttypes.h>
#include <math.h>

#include "io/json_write.h"
#include "lab/store/read.h"
#include "report/number.h"
#include "report/store_text.h"

struct listing {
    FILE *stream;
    struct json_writer writer;
    uint64_t count;
};

static struct report_number calib_history_known(double value, int decimals)
{
    struct report_number none = {"-"};
    return isnan(value) ? none : report_fixed(value, decimals);
}

static enum orr_status calib_history_put_line(void *context, const struct store_calibration *row, struct orr_error *err)
{
    struct listing *l = context;
    char run[24] = "-";
    (void)err;
    if (l->count++ == 0) {
        (void)fprintf(l->stream, "%3s  %-20s  %4s  %-9s %11s %11s %10s %10s %11s  %s\n", "id", "made", "run", "verdict",
                      "real ms", "sim ms", "alpha", "alpha comm", "alpha gpu", "source");
    }
    if (row->run != 0) {
        (void)snprintf(run, sizeof run, "%" PRId64, row->run);
    }
    (void)fprintf(l->stream, "%3" PRId64 "  %-20s  %4s  %-9s %11s %11s %10s %10s %11s  ", row->id, row->made, run,
                  row->accepted ? "accepted" : "refused", calib_history_known(row->real_step_ms, 3).text,
                  calib_history_known(row->sim_step_ms, 3).text, calib_history_known(row->alpha_us * 1e3, 4).text,
                  calib_history_known(row->alpha_comm_us * 1e3, 4).text,
                  calib_history_known(row->alpha_gpu_us * 1e3, 4).text);
    store_text_put(row->source, l->stream);
    (void)fputc('\n', l->stream);
    return ORR_OK;
}

static enum orr_status calib_history_put_object(void *context, const struct store_calibration *row,
                                                struct orr_error *err)
{
    struct listing *l = context;
    (void)err;
    store_json_calibration(&l->writer, row);
    return ORR_OK;
}

enum orr_status calib_history_put(struct lab_store *store, enum orr_store_form form, FILE *stream,
                                  struct orr_error *err)
{
    struct listing l = {.stream = stream};
    if (form == ORR_STORE_TEXT) {
        enum orr_status status = store_read_calibrations(store, 0, calib_history_put_line, &l, err);
        if (status == ORR_OK && l.count == 0) {
            (void)fputs("No calibrations yet: orrery calib fit makes one.\n", stream);
        }
        return status;
    }
    json_write_begin(&l.writer, stream);
    json_write_array(&l.writer, false);
    enum orr_status status = store_read_calibrations(store, 0, calib_history_put_object, &l, err);
    json_write_array_end(&l.writer);
    json_write_end(&l.writer);
    return status;
}
