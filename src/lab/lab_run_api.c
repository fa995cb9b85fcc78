/* The public function of a lab run. */
#include "lab/lab_run.h"

enum orr_status orr_lab_run(const struct orr_lab_options *options, const struct orr_notices *notices, FILE *stream,
                            struct orr_lab_result *result, struct orr_error *err)
{
    return lab_run(options, notices, stream, result, err);
}
