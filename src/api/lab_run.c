/* SPDX-License-Identifier: Apache-2.0 */
/* The public function of a lab run. */
#include "lab/lab_run.h"
#include "calib/lab.h"
#include "param/param.h"

enum orr_status orr_lab_run(const struct orr_lab_options *options, const struct orr_notices *notices, FILE *stream,
                            struct orr_lab_result *result, struct orr_error *err)
{
    struct orr_lab_options own = *options;
    enum orr_status status = param_tuning_settle(&own.run.tuning, own.run.source_given, err);
    if (status != ORR_OK) {
        return status;
    }
    options = &own;
    return options->calibration != NULL || options->auto_calibrate
               ? calib_lab_run(options, notices, stream, result, err)
               : lab_run(options, notices, stream, result, err);
}
