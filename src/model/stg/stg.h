/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces from symbolic tensor graphs: model, parallel degrees and sheets in, one Chakra trace a rank and the file of
 * communicator groups out. This is what `orrery gen stg` calls; the steps are in the headers beside this one: sheets
 * (sheet.h), the model (model.h), layers and stages (stage.h), nodes (nodes.h), bytes (image.h).
 */
#ifndef ORR_MODEL_STG_STG_H
#define ORR_MODEL_STG_STG_H

#include "base/notes.h"
#include "orrery/gen.h"

/* As orr_gen_stg, which documents the options; `result`'s list is the caller's to stg_result_free. */
ORR_MUST_CHECK enum orr_status stg_generate(const struct orr_stg_options *options, struct mem *mem, struct notes *notes,
                                            struct orr_stg_result *result, struct orr_error *err);

#endif
