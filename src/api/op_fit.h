/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and fitting whole tables, for the fit and for who judges it. */
#ifndef ORR_API_OP_FIT_H
#define ORR_API_OP_FIT_H

#include "compute/op_fit.h"
#include "orrery/op.h"

/* All measurements of the tables, sorted. ORR_EINVAL where there is none. */
ORR_MUST_CHECK enum orr_status op_fit_read(const struct orr_op_fit_options *options, struct op_rows *rows,
                                           struct orr_error *err);

/* Fits them, kernels first, calls after; `stream` is told of every set and may be NULL. The data has what was fitted
 * and nothing else. */
ORR_MUST_CHECK enum orr_status op_fit_rows(const struct orr_op_fit_options *options, const struct op_rows *rows,
                                           FILE *stream, struct orr_op_data **data, struct orr_error *err);

#endif
