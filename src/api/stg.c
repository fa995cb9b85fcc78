/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions of symbolic tensor graphs; model/stg/ does the work. */
#include <stdio.h>
#include <stdlib.h>

#include "base/notices.h"
#include "io/etz.h"
#include "model/stg/stg.h"

static enum orr_status stg_archive(const struct orr_stg_options *options, struct mem *mem, struct notes *notes,
                                   struct orr_stg_result *result, struct orr_error *err)
{
    struct orr_stg_options inside = *options;
    struct etz_output out;
    char *output = NULL;
    if (asprintf(&output, "%s/%s", options->output_dir, options->output_name) < 0) {
        return error_set(err, ORR_ENOMEM, "out of memory for a path");
    }
    enum orr_status status = etz_output_begin(output, &out, err);
    if (status == ORR_OK) {
        inside.output_dir = out.folder;
        inside.output_name = "t"; /* as in out.prefix */
        status = stg_generate(&inside, mem, notes, result, err);
        status = etz_output_end(&out, status, mem, err);
    }
    free(output);
    return status;
}

enum orr_status orr_gen_stg(const struct orr_stg_options *options, const struct orr_notices *notices,
                            struct orr_stg_result *result, struct orr_error *err)
{
    struct mem mem = {.limit = options->memory_limit};
    struct notes notes;
    if (options->output_dir == NULL || options->output_name == NULL) {
        return error_set(err, ORR_EINVAL, "missing output_dir or output_name: where to write");
    }
    notices_begin(&notes, &mem, notices);
    enum orr_status status = etz_is_output(options->output_name) ? stg_archive(options, &mem, &notes, result, err)
                                                                 : stg_generate(options, &mem, &notes, result, err);
    notices_end(&notes, notices);
    return status;
}

void orr_stg_result_free(struct orr_stg_result *result)
{
    free(result->memory);
    *result = (struct orr_stg_result){0};
}
