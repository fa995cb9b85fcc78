/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions of symbolic tensor graphs; model/stg/ does the work. */
#include <stdlib.h>

#include "base/notices.h"
#include "model/stg/stg.h"

enum orr_status orr_gen_stg(const struct orr_stg_options *options, const struct orr_notices *notices,
                            struct orr_stg_result *result, struct orr_error *err)
{
    struct mem mem = {.limit = options->memory_limit};
    struct notes notes;
    if (options->output_dir == NULL || options->output_name == NULL) {
        return error_set(err, ORR_EINVAL, "missing output_dir or output_name: where to write");
    }
    notices_begin(&notes, &mem, notices);
    enum orr_status status = stg_generate(options, &mem, &notes, result, err);
    notices_end(&notes, notices);
    return status;
}

void orr_stg_result_free(struct orr_stg_result *result)
{
    free(result->memory);
    *result = (struct orr_stg_result){0};
}
