/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions as text, in the original's manner. */
#ifndef ORR_MODEL_STG_EXPR_TEXT_H
#define ORR_MODEL_STG_EXPR_TEXT_H

#include "model/stg/expr.h"
#include "model/stg/text.h"

void stg_expr_print(const struct stg_exprs *exprs, uint32_t expr, struct stg_text *text);

#endif
