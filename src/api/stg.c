/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions of symbolic tensor graphs; model/stg/ does the work. */
#include <stdlib.h>

#include "base/notices.h"
#include "model/stg/stg.h"

void orr_stg_options_init(struct orr_stg_options *options)
{
    *options = (struct orr_stg_options){.dp = 1,
                                        .tp = 1,
                                        .pp = 1,
                                        .sp = 1,
                                        .ep = 1,
                                        .tpsp = true,
                                        .vocabulary = 32000,
                                        .hidden = 8192,
                                        .ffn = 28672,
                                        .seq = 1024,
                                        .heads = 64,
                                        .kv_heads = 8,
                                        .layers = 80,
                                        .experts = 8,
                                        .top_k = 2,
                                        .batch = 64};
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
    enum orr_status status = stg_generate(options, &mem, &notes, result, err);
    notices_end(&notes, notices);
    return status;
}

void orr_stg_result_free(struct orr_stg_result *result)
{
    free(result->memory);
    *result = (struct orr_stg_result){0};
}
