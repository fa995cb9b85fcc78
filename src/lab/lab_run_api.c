/* The public function of a lab run. */
#include "lab/calib/lab.h"
#include "lab/lab_run.h"

enum orr_status orr_lab_run(const struct orr_lab_options *options, const struct orr_notices *notices, FILE *stream,
                            struct orr_lab_result *result, struct orr_error *err)
{
    return options->calibration != NULL || options->auto_calibrate
               ? calib_lab_run(options, notices, stream, result, err)
               : lab_run(options, notices, stream, result, err);
}
