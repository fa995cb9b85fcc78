/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes as numbers one after the other, in text (orr_op_shape) or in columns p0 to p3. */
#ifndef ORR_COMPUTE_OP_SHAPE_H
#define ORR_COMPUTE_OP_SHAPE_H

#include "compute/op_base.h"

/* Numbers in the order of our H200 tables: attention is batch, heads, seq, head_dim there. */
void op_shape_place(const uint64_t values[ORR_OP_DIMS], struct orr_op *op);

#endif
